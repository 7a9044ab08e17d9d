"""Textual's list of options, legible under the cursor and safe while no row has room, and the line that moves in it."""

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.events import Key
from textual.strip import Strip
from textual.style import Style
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

_MOVES = {
    "up": "cursor_up", "down": "cursor_down", "ctrl+p": "cursor_up", "ctrl+n": "cursor_down", "pageup": "page_up",
    "pagedown": "page_down",
}  # fmt: skip


class ChoiceList(OptionList):
    """A list of options; a page is no move where no row has room: Textual would raise a `KeyError`."""

    def _get_option_render(self, option: Option, style: Style) -> list[Strip]:
        """The row under the cursor has the one colour that can be read on the ground of the cursor."""
        strips = super()._get_option_render(option, style)
        if option is not self.highlighted_option:
            return strips
        color = RichStyle(color=style.rich_style.color)
        return [
            Strip(
                [Segment(text, own + color if own else color, control) for text, own, control in strip],
                strip.cell_length,
            )
            for strip in strips
        ]

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
