"""Textual's list of options, safe against keys that come before it has a size."""

from textual.widgets import OptionList


class ChoiceList(OptionList, inherit_css=True):
    """A list of options; a page is no move before there is a layout: Textual would raise a `KeyError`."""

    def action_page_up(self) -> None:
        if self.scrollable_content_region.width:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        if self.scrollable_content_region.width:
            super().action_page_down()  # type: ignore[no-untyped-call]
