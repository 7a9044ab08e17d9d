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

from memtui.core.visible import one_line
from memtui.places.finding import ENOUGH, Place, find_places
from memtui.ui.empty import place_row
from memtui.ui.frame import Header, KeyLine, MessageLine, Status


class PlacesScreen(Screen[str | None]):
    """Answers with the directory that the person chose, or `None`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", id="places.back", tooltip="Back without choosing"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._places: list[Place] = []

    def compose(self) -> ComposeResult:
        """What was found, and a line for anything else."""
        yield Header()
        with Vertical(id="body"):
            yield Static(id="intro", markup=False)
            yield OptionList(markup=False)
            yield Input(placeholder="Another folder: type its path, Enter opens it", compact=True)
        yield MessageLine()
        yield KeyLine()

    def on_mount(self) -> None:
        """Look for folders in a thread; only names and times are read."""
        self.query_one(Header).status = Status("choose a folder", live="", follow=False)
        self._tell("Looking for memory folders on this machine.")
        self.query_one(MessageLine).say("Nothing has been created or changed on disk.")
        self.query_one(OptionList).focus()
        self._find()

    @work(thread=True, exit_on_error=False)
    def _find(self) -> None:
        places = find_places(limit=None)
        self.app.call_from_thread(self._show, places)

    def _show(self, places: list[Place]) -> None:
        self._places = places
        options = self.query_one(OptionList)
        options.add_options(Option(place_row(number, place)) for number, place in enumerate(places, start=1))
        if places:
            options.highlighted = 0
            more = f" {len(places):,} folders, the one that changed last first" if len(places) > ENOUGH else ""
            self._tell(f"Found on this machine:{more}")
        else:
            self._tell(
                "No memory folder was found in the usual places.\nTo look around in one that is made up: memtui demo"
            )
            self.query_one(Input).focus()

    def _tell(self, words: str) -> None:
        question = "Which memory folder do you want to see?\n\n"
        self.query_one("#intro", Static).update(Content.assemble((question, "bold"), words))

    def on_key(self, event: events.Key) -> None:
        """A number chooses a folder."""
        if not isinstance(self.focused, Input) and event.character and event.character in "123456789":
            index = int(event.character) - 1
            if index < len(self._places):
                event.stop()
                self.dismiss(self._places[index].path)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click chooses a folder."""
        self.dismiss(self._places[event.option_index].path)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """A path that was typed."""
        path = os.path.realpath(os.path.expanduser(event.value.strip()))
        if event.value.strip() and os.path.isdir(path):
            self.dismiss(path)
        else:
            shown = one_line(event.value.strip())
            words = f"No folder at {shown}. Nothing was created." if shown else "Type the path of a folder."
            self.query_one(MessageLine).say(words, warning=True)
