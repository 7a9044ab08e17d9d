"""Textual's list of options, safe against keys while no row of it has room, and the line of text that moves in it."""

from textual.events import Key
from textual.widgets import Input, OptionList

_MOVES = {
    "up": "cursor_up", "down": "cursor_down", "ctrl+p": "cursor_up", "ctrl+n": "cursor_down", "pageup": "page_up",
    "pagedown": "page_down",
}  # fmt: skip


class ChoiceList(OptionList):
    """A list of options; a page is no move where no row has room: Textual would raise a `KeyError`."""

    def action_page_up(self) -> None:
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]


class ChoiceInput(Input):
    """A line of text that keeps the focus while some keys move in the `ChoiceList` of its screen."""

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, compact=True)

    def find_move(self, event: Key) -> str | None:
        """The action of the list that a key stands for."""
        return _MOVES.get(event.key)

    def on_key(self, event: Key) -> None:
        if move := self.find_move(event):
            event.stop()
            event.prevent_default()
            getattr(self.screen.query_one(ChoiceList), f"action_{move}")()
