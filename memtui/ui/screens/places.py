"""The first screen where no folder is named: what memtui is, the memory folders of this machine, the demo, and a path.

Nothing is made or changed.
"""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from memtui.core.errors import MemtuiError
from memtui.core.unicode import to_one_line
from memtui.places.folders import ENOUGH, MemoryLocation, find_memory_folders, format_project
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import ENTER, label_key
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.theme import to_content, truncate_middle
from memtui.ui.widgets.choice_list import ChoiceInput, ChoiceList
from memtui.ui.widgets.empty import format_folder_rows

_ENDS = {"home": "first", "end": "last"}
"""Keys that move in the list while nothing is typed."""
_INDENT = 5
"""Cells before the names of the folders."""
_ABOUT = (
    "memtui shows the notes of AI agents while they write them.",
    "Every change is kept in a history: see it, undo it, audit it.",
)
DEMO = "\0demo"
"""The answer for the demo: no path holds a zero byte."""
_DEMO_KEY = "d"
_MOST_COUNTED = 30
"""Folders whose journals are asked for unseen changes, the newest first."""
_MOST_ENTRIES = 10_000
"""Entries of a directory that are looked at to complete a path."""


class _PathInput(ChoiceInput):
    """The path, which takes every letter; its list stands above it."""

    def find_move(self, event: events.Key) -> str | None:
        return super().find_move(event) or (None if self.value else _ENDS.get(event.key))


class FolderPickerScreen(DismissOnceScreen[str | None]):
    """Answers with the directory that the person chose, `DEMO`, or `None`.

    Args:
        offers_demo: Whether the demo can be chosen.
    """

    CSS_PATH = "dialogs.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "complete", id="places.complete", tooltip="Complete the path", priority=True),
        Binding("escape", "dismiss", "Back", id="places.back", tooltip="Cancel"),
    ]
    AUTO_FOCUS = "Input"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (28, "-high")]  # noqa: RUF012 - as Textual has it

    def __init__(self, *, offers_demo: bool) -> None:
        super().__init__()
        self._offers_demo = offers_demo
        self._folders: Sequence[MemoryLocation] = ()

    def compose(self) -> ComposeResult:
        yield Header()
        with Vertical(id="body"):
            yield Static(id="intro", markup=False)
            options = ChoiceList(markup=False)
            options.can_focus = False  # each letter is one of the path
            yield options
            yield Static(id="place", markup=False)
            words = f"or type a path: {label_key('places.complete')} completes it, {ENTER} opens it"
            yield _PathInput(words)
            yield Static(Content.from_markup(self._format_others()), id="others")
        yield MessageLine()
        yield KeyLine("places.complete", "places.back")

    def on_mount(self) -> None:
        self.query_one(Header).status = HeaderStatus("choose a folder", live="", follow=False)
        self._show_intro("Searching for memory folders on this machine.")
        self.query_one(MessageLine).show_message("Nothing is created or changed on disk.")
        self._find_folders()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_rows)

    @work(thread=True, exit_on_error=False)
    def _find_folders(self) -> None:
        from memtui.memory import count_unseen_files  # noqa: PLC0415 - start-up: behind the first paint

        places = find_memory_folders(limit=None)
        self.app.call_from_thread(self._show_folders, places)
        for number, place in enumerate(places[:_MOST_COUNTED]):
            with contextlib.suppress(MemtuiError, OSError):
                if not get_current_worker().is_cancelled and (unseen := count_unseen_files(place.path)):
                    places[number] = replace(place, unseen=unseen)
        self.app.call_from_thread(self._show_folders, places)

    def _show_folders(self, places: Sequence[MemoryLocation]) -> None:
        self._folders = places
        if places:
            many = (
                f"{len(places):,} folders, newest first" if len(places) > ENOUGH else "Memory folders on this machine"
            )
            self._show_intro(f"{many}; a number or {ENTER} opens one.")
        else:
            self._show_intro("No memory folder found in the usual places.")
        self._show_rows()

    def _show_rows(self) -> None:
        options = self.query_one(ChoiceList)
        at, width = options.highlighted or 0, options.scrollable_content_region.width - 2
        options.clear_options()
        options.add_options(map(Option, format_folder_rows(self._folders, width)))
        options.highlighted = min(at, len(self._folders) - 1) if self._folders else None

    def _show_intro(self, words: str) -> None:
        first, *others = _ABOUT
        lines = [Content.styled(first, "bold"), *map(Content, others), Content(""), Content(words)]
        self.query_one("#intro", Static).update(Content("\n").join(lines))

    def _format_others(self) -> str:
        """The demo, and how an agent comes to use a folder."""
        key = "[bold $text-accent]"
        demo = f"{key}{_DEMO_KEY}[/]  see a demo: a scripted agent in a temporary folder\n" if self._offers_demo else ""
        return f"{demo}{key}·[/]  to let an agent use a folder: [bold]memtui mcp --help[/], [bold]memtui hook --help[/]"

    @on(ChoiceList.OptionHighlighted)
    def _show_path(self, event: ChoiceList.OptionHighlighted) -> None:
        """The whole path of the folder under the cursor, which its row may shorten or name by its project."""
        if event.option_index < len(self._folders):
            place = self._folders[event.option_index]
            width = self.query_one(ChoiceList).size.width - _INDENT
            lines = [to_content(truncate_middle(line, width)) for line in (place.display_path, format_project(place))]
            self.query_one("#place", Static).update(Content("\n").join(lines))

    @on(ChoiceList.OptionSelected)
    def _choose(self, event: ChoiceList.OptionSelected) -> None:
        self.dismiss(self._folders[event.option_index].path)

    @on(Input.Changed)
    def _choose_by_number(self, event: Input.Changed) -> None:
        """A digit or the demo's letter that is typed first chooses; behind anything else it is one of the path."""
        if len(event.value) == 1 and event.value in "123456789"[: len(self._folders)]:
            self.dismiss(self._folders[int(event.value) - 1].path)
        elif event.value == _DEMO_KEY and self._offers_demo:
            self.dismiss(DEMO)

    @on(Input.Submitted)
    def _open_path(self, event: Input.Submitted) -> None:
        """Open what was typed; without it, the folder under the cursor."""
        typed = event.value.strip()
        here = self.query_one(ChoiceList).highlighted
        path = os.path.realpath(os.path.expanduser(typed))
        if not typed and here is not None:
            self.dismiss(self._folders[here].path)
        elif typed and "\0" not in typed and os.path.isdir(path):
            self.dismiss(path)
        else:
            words = (
                f"No folder at {to_one_line(typed)}. Nothing was created." if typed else "Type the path of a folder."
            )
            self.query_one(MessageLine).show_message(words if typed else "Type the path of a folder.", warning=True)

    def action_complete(self) -> None:
        self._complete(self.query_one(Input).value)

    @work(thread=True, exclusive=True, group="complete", exit_on_error=False)
    def _complete(self, typed: str) -> None:
        completed, names = complete_directory(typed)  # a dead mount may never answer
        self.app.call_from_thread(self._show_completion, typed, completed, names)

    def _show_completion(self, typed: str, completed: str, names: Sequence[str]) -> None:
        field = self.query_one(Input)
        if field.value != typed:
            return  # more was typed meanwhile
        field.value = completed
        field.cursor_position = len(completed)
        words = "  ".join(f"{name}/" for name in names) if len(names) != 1 else ""
        self.query_one(MessageLine).show_message(words or ("" if names else "No directory starts with that."))


def complete_directory(typed: str) -> tuple[str, Sequence[str]]:
    """A path as far as it is unambiguous, and the names of the directories that it may go on with; blocking."""
    if typed == "~":
        return "~/", ["~"]
    above, sep, begun = typed.rpartition("/")
    try:
        with os.scandir(os.path.expanduser(above + sep) or ".") as entries:
            found = [each for _, each in zip(range(_MOST_ENTRIES), entries, strict=False)]
    except (OSError, ValueError):
        return typed, []
    names = sorted(
        each.name
        for each in found
        if each.name.startswith(begun or "") and (begun or not each.name.startswith(".")) and each.is_dir()
        if to_one_line(each.name) == each.name  # a line of text cannot hold the others
    )
    if not names:
        return typed, []
    common = os.path.commonprefix(names)  # noqa: RUF071 - by characters, as a shell does
    return above + sep + common + ("/" if len(names) == 1 else ""), names
