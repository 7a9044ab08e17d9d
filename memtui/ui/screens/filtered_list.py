"""A list over the screen that a line of text narrows: the help, the commands, the themes."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Resize
from textual.screen import ModalScreen
from textual.widgets import Input
from textual.widgets.option_list import Option

from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.widgets.choice_list import ChoiceInput, ChoiceList


class _FilterInput(ChoiceInput):
    """The filter of the list; while it is empty, the keys of `closing` close the screen."""

    def __init__(self, placeholder: str, closing: str) -> None:
        super().__init__(placeholder)
        self._closing_characters = closing

    def on_key(self, event: Key) -> None:
        if not self.value and event.character and event.character in self._closing_characters:
            event.stop()
            event.prevent_default()
            self.screen.dismiss(None)


class FilteredListScreen(ModalScreen[str | None], DismissOnceScreen[str | None]):
    """Answers with the id of a row, or `None`. A subclass builds the rows."""

    CSS_PATH = "dialogs.tcss"

    TITLE_WORDS: ClassVar[str]
    PLACEHOLDER: ClassVar[str] = "filter"
    CLOSING: ClassVar[str] = ""
    """Characters that close the screen while the filter is empty."""
    NOTHING: ClassVar[str]
    """The row where nothing matches."""

    def compose(self) -> ComposeResult:
        with Vertical(id="keys") as frame:
            frame.border_title = self.TITLE_WORDS
            frame.border_subtitle = self.format_hint()
            yield _FilterInput(self.PLACEHOLDER, self.CLOSING)
            yield ChoiceList(markup=False)

    def format_hint(self) -> str:
        """The keys that do something here."""
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    def build_rows(self, query: str, width: int) -> Sequence[Option]:
        """The rows for what was typed; those without an id are headings."""
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    def on_mount(self) -> None:
        self._show_matches()

    def on_resize(self, event: Resize) -> None:
        del event
        self.call_after_refresh(self._show_matches)

    def on_input_changed(self) -> None:
        self._show_matches()

    def on_input_submitted(self) -> None:
        chosen = self.query_one(ChoiceList).highlighted_option
        if chosen is not None:
            self.dismiss(chosen.id)

    def on_option_list_option_selected(self, event: ChoiceList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def _show_matches(self) -> None:
        options = self.query_one(ChoiceList)
        rows = list(self.build_rows(self.query_one(Input).value, max(options.scrollable_content_region.width - 2, 20)))
        if not rows:
            rows.append(Option(Content(f"  {self.NOTHING}"), disabled=True))
        options.clear_options()
        options.add_options(rows)
        options.highlighted = next((index for index, row in enumerate(rows) if not row.disabled), None)
        options.scroll_home(animate=False)
