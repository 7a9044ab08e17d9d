"""A list that draws only the rows that can be seen, with a cursor: what the files and the activity share.

Textual's own lists lay out every row, which takes seconds for a folder of 100,000 files. A subclass says how many
rows there are, where the cursor may go, and how one row is drawn.
"""

from typing import ClassVar

from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


class RowsView(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows, a cursor on one of them, and the keys that move it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "up", "up", id="rows.up", show=False, tooltip="One row up"),
        Binding("down,j", "down", "down", id="rows.down", show=False, tooltip="One row down"),
        Binding("pageup", "page(-1)", "page up", id="rows.page_up", show=False, tooltip="One page up"),
        Binding("pagedown", "page(1)", "page down", id="rows.page_down", show=False, tooltip="One page down"),
        Binding("ctrl+u", "half(-1)", "half up", id="rows.half_up", show=False, tooltip="Half a page up"),
        Binding("ctrl+d", "half(1)", "half down", id="rows.half_down", show=False, tooltip="Half a page down"),
        Binding("g,home", "top", "top", id="rows.top", show=False, tooltip="To the first row"),
        Binding("G,end", "bottom", "end", id="rows.bottom", show=False, tooltip="To the last row"),
    ]

    DEFAULT_CSS = """
    RowsView { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """

    STYLES: ClassVar[str] = ""
    """What the component classes of a subclass begin with, such as `found--`; empty where it resolves its own."""

    _row = 0
    """Where the cursor is, from 0."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._styles: dict[str, Style] = {}

    def notify_style_update(self) -> None:
        """The theme or the focus changed: resolve the styles again when a row is next drawn."""
        self._styles.clear()
        super().notify_style_update()

    def _style(self, name: str) -> Style:
        """The style of a component class by its last part; of the widget itself for `""`."""
        if name not in self._styles:
            self._styles[name] = self.get_component_rich_style(self.STYLES + name) if name else self.rich_style
        return self._styles[name]

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError  # each subclass knows its rows

    @property
    def position(self) -> tuple[int, int]:
        """The cursor's row, from 1, and the number of rows; `(0, 0)` while there is no row."""
        total = self.row_count
        return (self._row + 1 if total else 0, total)

    def _go(self, row: int) -> None:
        """Put the cursor on a row, as near as there is one, and bring it into view."""
        raise NotImplementedError  # each subclass tells its own story of it

    @property
    def _page(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def _fit_height(self) -> None:
        """Tell Textual how many rows there are.

        Not by assignment: that lays out the whole screen again, for each file that an agent writes.
        """
        if self.virtual_size.height != self.row_count:
            self.set_reactive(Widget.virtual_size, Size(0, self.row_count))
            self._scroll_update(self.virtual_size)

    def _bring_into_view(self) -> None:
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if not height:
            return
        if self._row < top:
            self.scroll_to(y=self._row, animate=False)
        elif self._row >= top + height:
            self.scroll_to(y=self._row - height + 1, animate=False)

    def action_up(self) -> None:
        """One row up."""
        self._go(self._row - 1)

    def action_down(self) -> None:
        """One row down."""
        self._go(self._row + 1)

    def action_page(self, pages: int) -> None:
        """Some pages down, or up if negative."""
        self._go(self._row + pages * self._page)

    def action_half(self, halves: int) -> None:
        """Some half pages down, or up if negative."""
        self._go(self._row + halves * max(1, self._page // 2))

    def action_top(self) -> None:
        """To the first row."""
        self._go(0)

    def action_bottom(self) -> None:
        """To the last row."""
        self._go(self.row_count - 1)
