"""Textual's list of options, safe against keys while no row of it has room."""

from textual.widgets import OptionList


class ChoiceList(OptionList):
    """A list of options; a page is no move where no row has room: Textual would raise a `KeyError`."""

    def action_page_up(self) -> None:
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]
