"""The question before anything outside is opened: the whole address, and the host by itself."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.ui.linking.goals import Outside
from memtui.ui.screens.once import Once
from memtui.ui.text import content


class OutsideScreen(ModalScreen[str | None], Once[str | None]):
    """Shows where a link leads, and answers `open`, `copy` or `None`. Enter does nothing, so that nothing is a habit.

    Args:
        goal: Where it leads.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('open')", "open", id="outside.open", tooltip="Open it"),
        Binding("c", "answer('copy')", "copy", id="outside.copy", tooltip="Copy the address"),
        Binding("n,escape,q", "answer('')", "no", id="outside.no", tooltip="No, stay here"),
    ]

    DEFAULT_CSS = """
    OutsideScreen { align: center middle; background: $background 60%; }
    OutsideScreen > Vertical {
        width: 76; max-width: 96%; height: auto; max-height: 80%; padding: 0 1; background: $surface;
        border: round $warning; border-title-color: $text-warning; border-title-style: bold;
        border-subtitle-color: $foreground;
    }
    OutsideScreen Static { height: auto; }
    OutsideScreen #host { text-style: bold; }
    OutsideScreen #odd { color: $text-warning; text-style: bold; }
    OutsideScreen VerticalScroll { height: auto; max-height: 10; scrollbar-size-vertical: 1; margin-top: 1; }
    """

    def __init__(self, goal: Outside) -> None:
        super().__init__()
        self._goal = goal

    def compose(self) -> ComposeResult:
        """The host, what is odd about it, and all of the address."""
        goal = self._goal
        with Vertical() as frame:
            frame.border_title = "Open outside memtui?"
            frame.border_subtitle = "y open   c copy   n or Esc no"
            what = "mail to" if goal.address.casefold().startswith("mailto:") else "leads to"
            yield Static(Content.assemble(f"{what}  ", content(goal.host, "bold")), id="host")
            if goal.warning:
                yield Static(content(goal.warning), id="odd")
            with VerticalScroll():
                yield Static(content(goal.address))

    def on_mount(self) -> None:
        """A long address can be scrolled."""
        self.query_one(VerticalScroll).focus()

    def action_answer(self, answer: str) -> None:
        """Tell the one who asked."""
        self.dismiss(answer or None)


Start = Callable[[Sequence[str]], bool]


def open_outside(
    address: str,
    *,
    environment: Mapping[str, str] | None = None,
    find: Callable[[str], str | None] = shutil.which,
    start: Start | None = None,
) -> bool:
    """Hand an address to the desktop; False where there is none, or it does not take it.

    A browser that runs in the terminal is never started: it would fight for this one.

    Args:
        address: An address that was judged.
        environment: The environment; that of the program if not given.
        find: Finds a program by its name.
        start: Runs a program, and tells whether it took it.
    """
    environment = os.environ if environment is None else environment
    names = ["open"] if sys.platform == "darwin" else []
    if environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"):
        names += ["xdg-open"]
    elif environment.get("WSL_DISTRO_NAME"):
        names += ["wslview"]
    return any((start or _start)((name, address)) for name in names if find(name))


def _start(command: Sequence[str]) -> bool:
    import subprocess  # deferred: only where somebody opens something

    try:
        ran = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=10,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return True  # it runs, and takes its time
    except OSError:
        return False
    return ran.returncode == 0
