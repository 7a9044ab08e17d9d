"""The question before anything outside is opened: the whole address, and the host by itself."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.notes.links import ExternalLink
from memtui.ui.key_names import join_labels, label_key
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.theme import to_content


class ExternalLinkScreen(ModalScreen[str | None], DismissOnceScreen[str | None]):
    """Shows the address of a link, and answers `open`, `copy` or `None`; Enter does nothing, against habit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('open')", "open", id="outside.open", tooltip="Open the link"),
        Binding("c", "answer('copy')", "copy", id="outside.copy", tooltip="Copy the address"),
        Binding("n,escape,q", "answer('')", "no", id="outside.no", tooltip="No, stay here"),
    ]

    DEFAULT_CSS = """
    ExternalLinkScreen { align: center middle; background: $background 60%; }
    ExternalLinkScreen > Vertical {
        width: 76; max-width: 96%; height: auto; max-height: 80%; padding: 0 1; background: $surface;
        border: round $warning; border-title-color: $text-warning; border-title-style: bold;
        border-subtitle-color: $foreground;
    }
    ExternalLinkScreen Static { height: auto; }
    ExternalLinkScreen #host { text-style: bold; }
    ExternalLinkScreen #odd { color: $text-warning; text-style: bold; }
    ExternalLinkScreen VerticalScroll { height: auto; max-height: 10; scrollbar-size-vertical: 1; margin-top: 1; }
    """

    def __init__(self, link: ExternalLink) -> None:
        super().__init__()
        self._link = link

    def compose(self) -> ComposeResult:
        link = self._link
        with Vertical() as frame:
            frame.border_title = "Open in another program?"
            keys = f"{label_key('outside.open')} open   {label_key('outside.copy')} copy"
            frame.border_subtitle = f"{keys}   {join_labels('outside.no', 2)} no"
            what = "mail to" if link.address.casefold().startswith("mailto:") else "opens"
            yield Static(Content.assemble(f"{what}  ", to_content(link.host, "bold")), id="host")
            if link.warning:
                yield Static(to_content(link.warning), id="odd")
            with VerticalScroll():
                yield Static(to_content(link.address))

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_answer(self, answer: str) -> None:
        self.dismiss(answer or None)


def open_external_link(
    address: str, *, environment: Mapping[str, str] | None = None, find: Callable[[str], str | None] = shutil.which,
    start: Callable[[Sequence[str]], bool] | None = None,
) -> bool:  # fmt: skip
    """Hand a checked address to the desktop; False where there is none, or the desktop refuses.

    A browser that runs in the terminal is never started: it would fight for this one.

    Args:
        environment: That of the program if not given.
        find: Finds a program by its name.
        start: Runs a program; False if it failed.
    """
    environment = os.environ if environment is None else environment
    names = ["open"] if sys.platform == "darwin" else []
    if environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"):
        names += ["xdg-open"]
    elif environment.get("WSL_DISTRO_NAME"):
        names += ["wslview"]
    return any((start or _run_opener)((name, address)) for name in names if find(name))


def _run_opener(command: Sequence[str]) -> bool:
    null = subprocess.DEVNULL
    try:
        ran = subprocess.run(
            command, stdin=null, stdout=null, stderr=null, timeout=10, check=False, start_new_session=True
        )
    except subprocess.TimeoutExpired:
        return True  # it runs, and takes its time
    except OSError:
        return False
    return ran.returncode == 0
