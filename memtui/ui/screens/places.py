"""Choose a memory folder: those found on this machine, or any other by its path. Nothing is made or changed."""

import os
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from memtui.core.unicode import to_one_line
from memtui.places import ENOUGH, MemoryLocation, find_memory_folders
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import ENTER
from memtui.ui.widgets.empty import format_folder_row


class FolderPickerScreen(Screen[str | None]):
    """Answers with the directory that the person chose, or `None`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", id="places.back", tooltip="Back without choosing")
    ]

    def __init__(self) -> None:
        super().__init__()
        self._folders: list[MemoryLocation] = []

    def compose(self) -> ComposeResult:
        yield Header()
        with Vertical(id="body"):
            yield Static(id="intro", markup=False)
            yield OptionList(markup=False)
            yield Input(placeholder=f"Another folder: type its path, {ENTER} opens it", compact=True)
        yield MessageLine()
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(Header).status = HeaderStatus("choose a folder", live="", follow=False)
        self._show_intro("Looking for memory folders on this machine.")
        self.query_one(MessageLine).show_message("Nothing has been created or changed on disk.")
        self.query_one(OptionList).focus()
        self._find_folders()

    @work(thread=True, exit_on_error=False)
    def _find_folders(self) -> None:
        places = find_memory_folders(limit=None)
        self.app.call_from_thread(self._show_folders, places)

    def _show_folders(self, places: list[MemoryLocation]) -> None:
        self._folders = places
        options = self.query_one(OptionList)
        options.add_options(Option(format_folder_row(number, place)) for number, place in enumerate(places, start=1))
        if places:
            options.highlighted = 0
            more = f" {len(places):,} folders, the one that changed last first" if len(places) > ENOUGH else ""
            self._show_intro(f"Found on this machine:{more}")
        else:
            words = "No memory folder was found in the usual places."
            self._show_intro(f"{words}\nTo look around in one that is made up: memtui demo")
            self.query_one(Input).focus()

    def _show_intro(self, words: str) -> None:
        question = "Which memory folder do you want to see?\n\n"
        self.query_one("#intro", Static).update(Content.assemble((question, "bold"), words))

    def on_key(self, event: events.Key) -> None:
        if not isinstance(self.focused, Input) and event.character and event.character in "123456789":
            index = int(event.character) - 1
            if index < len(self._folders):
                event.stop()
                self.dismiss(self._folders[index].path)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._folders[event.option_index].path)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        path = os.path.realpath(os.path.expanduser(event.value.strip()))
        if event.value.strip() and os.path.isdir(path):
            self.dismiss(path)
        else:
            shown = to_one_line(event.value.strip())
            words = f"No folder at {shown}. Nothing was created." if shown else "Type the path of a folder."
            self.query_one(MessageLine).show_message(words, warning=True)
