"""Lists that draw only the rows in view: `RowsView` has a cursor, keys and mouse, `ItemList` items in columns.

Textual's own lists lay out every row, which takes seconds for 100,000 files.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from memtui.core import wording
from memtui.core.events import format_actor_name, shorten_actor_name
from memtui.core.history import DeletedPath
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.line_view import LineView, make_scroll_bindings


class RowsView(LineView):
    """Rows with a cursor on one of them."""

    BINDINGS: ClassVar[list[BindingType]] = [*make_scroll_bindings("rows", line="row")]

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor"}

    DEFAULT_CSS = """
    RowsView {
        & > .rows--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .rows--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """

    OTHER_STYLES: ClassVar[Mapping[str, str]] = {"cursor": "rows--cursor"}
    PAGE_OVERLAP = 0

    _row = 0
    """The row of the cursor, from 0."""

    @property
    def position(self) -> tuple[int, int]:
        """The cursor's row, from 1, and the number of rows; `(0, 0)` without rows."""
        total = self.row_count
        return (self._row + 1 if total else 0, total)

    def _go_to_row(self, row: int) -> None:
        """Move the cursor to a row, or the nearest one, and bring it into view."""
        if self.row_count:
            self._select_row(max(0, min(row, self.row_count - 1)))
            self._bring_into_view()
            self.repaint()

    def _select_row(self, row: int) -> None:
        self._row = row

    def _bring_into_view(self) -> None:
        top, height = self.scroll_offset.y, self._viewport.height
        if not height:
            return
        if self._row < top:
            self.scroll_to(y=self._row, animate=False)
        elif self._row >= top + height:
            self.scroll_to(y=self._row - height + 1, animate=False)

    def on_resize(self) -> None:
        self._bring_into_view()

    # Keys

    def action_rows(self, rows: int) -> None:
        self._go_to_row(self._row + rows)

    def action_top(self) -> None:
        self._go_to_row(0)

    def action_bottom(self) -> None:
        self._go_to_row(self.row_count - 1)

    def action_open(self) -> None:
        """Open the row under the cursor."""

    # The mouse

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        row = self.row_count if offset is None else self.scroll_offset.y + offset.y
        if offset is not None and row < self.row_count and self._has_item(row):
            event.stop()
            self._go_to_row(row)
            self._handle_click(event, offset.x)

    def _has_item(self, row: int) -> bool:
        """Whether the cursor may be on a row."""
        del row
        return True

    def _handle_click(self, event: events.Click, x: int) -> None:
        """Handle a click on the row under the cursor, in cell `x` of it."""
        del x
        if event.chain == 2:
            self.action_open()

    # Paint

    def repaint(self) -> None:
        """Have the rows painted anew that look different by now, or all."""
        self.refresh()


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A heading or a notice among the items; the cursor skips it."""

    words: str


Item = TypeVar("Item")
Cell = str | Sequence[tuple[str, str]]
"""The text of a cell, visible and on one line; or pieces of it, each with its role."""


@dataclass(frozen=True)
class Column(Generic[Item]):
    """A column of a list.

    Attributes:
        cell: The text of an item for a number of cells, or one text for all items.
        style: The role of the text, or a function that returns it.
        width: Cells, at least.
        share: Whether it takes the cells that the other columns leave.
        align: `<` or `>`; empty where the next column follows the text.
        gap: The text before the cell, in its style.
        tail: The text after the cell, in its style.
    """

    name: str
    cell: Callable[[Item, int], Cell] | str
    style: str | Callable[[Item], str] = ""
    width: int = 0
    share: bool = False
    align: Literal["<", ">", ""] = "<"
    gap: str = ""
    tail: str = ""

    def build(self, item: Item, width: int) -> list[tuple[str, str]]:
        """The cell of an item: texts with their roles."""
        cell = self.cell if isinstance(self.cell, str) else self.cell(item, width)
        style = self.style if isinstance(self.style, str) else self.style(item)
        if isinstance(cell, str):
            pad = " " * (width - cell_len(cell)) if self.align else ""
            return [(self.gap + (pad + cell if self.align == ">" else cell + pad) + self.tail, style)]
        pad = " " * (width - sum(cell_len(text) for text, _ in cell)) if self.align else ""
        before, after = (self.gap + pad, self.tail) if self.align == ">" else (self.gap, pad + self.tail)
        return [(before, style), *cell, (after, style)]


def fill_columns(columns: Sequence[Column[Item]], item: Item, width: int) -> list[tuple[str, str]]:
    """The cells of an item in a width, as texts with their roles."""
    cells = [[] if column.share else column.build(item, column.width) for column in columns]
    for index, column in enumerate(columns):
        if column.share:
            used = sum(cell_len(text) for cell in cells for text, _ in cell)
            cells[index] = column.build(item, max(width - used - len(column.gap + column.tail), column.width))
    return [piece for cell in cells for piece in cell if piece[0]]


class ItemList(RowsView, Generic[Item]):
    """Items in columns, with labels between them; a subclass declares the columns."""

    SHOW_HIGHLIGHTS: ClassVar[bool] = True
    """Whether `show` posts `Highlighted`, and not the cursor alone."""

    class ItemMessage(Message):
        """A message about the item under the cursor."""

        def __init__(self, rows: "ItemList[Any]") -> None:
            super().__init__()
            self.rows = rows
            self.item = rows.cursor_item

        @property
        def control(self) -> "ItemList[Any]":
            return self.rows

    class Highlighted(ItemMessage):
        """The cursor is on another item, or on none."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ItemList.Highlighted) and message.rows is self.rows

    class Opened(ItemMessage):
        """The person asks for the item under the cursor."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[Item | LabelRow] = ()
        self._until: Sequence[int] = ()
        self._empty_notice: Sequence[str] = ()

    @property
    def row_count(self) -> int:
        return len(self._rows)

    @property
    def items(self) -> Sequence[Item]:
        """The rows that are no labels."""
        return [row for row in self._rows if not isinstance(row, LabelRow)]

    @property
    def cursor_item(self) -> Item | None:
        row = self._rows[self._row] if self._row < len(self._rows) else None
        return None if isinstance(row, LabelRow) else row

    @property
    def position(self) -> tuple[int, int]:
        """The cursor among the items that count, from 1, and their number; 0 where it is on none of them."""
        here = self.cursor_item
        total = self._until[-1] if self._until else 0
        count = self._count_item(here) if here is not None else 0
        return (self._until[self._row] - count + 1 if count else 0, total)

    def show(self, rows: Sequence[Item | LabelRow], *, keep: bool = True, notice: Sequence[str] = ()) -> None:
        """Show other rows.

        Args:
            rows: Items and labels.
            keep: Whether the cursor and the scroll position stay on the same item, if it is there; else the cursor
                is on the first one.
            notice: Lines that are shown when there are no rows.
        """
        here, above = self.cursor_item, self._row - self.scroll_offset.y
        self._rows, self._empty_notice = rows, notice
        self._until = list(accumulate(0 if isinstance(row, LabelRow) else self._count_item(row) for row in rows))
        again = self._find_index(here) if keep and here is not None else None
        beside = find_nearest_row(rows, self._row if keep and here is not None else 0)
        self._row = again if again is not None else beside or 0
        self._set_height()
        if again is not None:
            self.scroll_to(y=max(again - above, 0), animate=False)
        elif not keep:
            self.scroll_to(y=0, animate=False)
        self._bring_into_view()
        if self.SHOW_HIGHLIGHTS:
            self.post_message(self.Highlighted(self))
        self.refresh()

    def action_open(self) -> None:
        if self.cursor_item is not None:
            self.post_message(self.Opened(self))

    def _go_to_row(self, row: int) -> None:
        target = find_nearest_row(self._rows, row, 1 if row >= self._row else -1)
        if target is not None:
            if target == find_nearest_row(self._rows, 0):  # the labels above the first item are seen as well
                self.scroll_to(y=0, animate=False)
            super()._go_to_row(target)

    def _select_row(self, row: int) -> None:
        if row != self._row:
            self._row = row
            self.post_message(self.Highlighted(self))

    def _has_item(self, row: int) -> bool:
        return not isinstance(self._rows[row], LabelRow)

    def _find_index(self, item: Item) -> int | None:
        key = self._get_key(item)
        rows = enumerate(self._rows)
        return next((at for at, row in rows if not isinstance(row, LabelRow) and self._get_key(row) == key), None)

    def _get_key(self, item: Item) -> object:
        """The identity of an item, by which the cursor finds it in other rows."""
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    def _count_item(self, item: Item) -> int:
        """For how many the item counts in `position`."""
        del item
        return 1

    # Paint

    def _get_columns(self, item: Item, width: int) -> Sequence[Column[Item]]:
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    def _render_item(self, item: Item, width: int) -> Iterable[Segment]:
        columns = self._get_columns(item, width)
        return [Segment(text, self._resolve_style(role)) for text, role in fill_columns(columns, item, width)]

    def _render_label(self, words: str, width: int) -> Iterable[Segment]:
        return [Segment(truncate(f" {words}", width), self._resolve_style("words"))]

    def _highlight_segment(self, segment: Segment) -> Segment:
        return Segment(segment.text, self._resolve_style("cursor"))

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        plain = self._resolve_style("")
        index = self.scroll_offset.y + y
        segments: Iterable[Segment] = ()
        if not self._rows and index < len(self._empty_notice):
            segments = [Segment(truncate(f" {self._empty_notice[index]}", width), plain)]
        elif index < len(self._rows):
            row = self._rows[index]
            if isinstance(row, LabelRow):
                segments = self._render_label(row.words, width)
            else:
                here = index == self._row
                segments = [Segment(">" if here else " ", plain), *self._render_item(row, max(width - 1, 0))]
                if here:
                    segments, plain = map(self._highlight_segment, segments), self._resolve_style("cursor")
        return Strip(segments).adjust_cell_length(width, plain)


class FoldList(ItemList[Item]):
    """Items of which some unfold into others, which are listed below them."""

    class FoldToggled(ItemList.ItemMessage):
        """The item under the cursor is to be unfolded or folded."""

        def __init__(self, rows: "FoldList[Any]", *, is_open: bool) -> None:
            super().__init__(rows)
            self.key = rows._get_key(self.item)
            self.is_open = is_open

    def action_open(self) -> None:
        """Open an item; unfold or fold one that has others."""
        here = self.cursor_item
        is_open = self._is_open(here) if here is not None else None
        if is_open is None:
            super().action_open()
        else:
            self.post_message(self.FoldToggled(self, is_open=not is_open))

    def action_unfold(self, is_open: bool) -> None:
        """Unfold or fold an item; on one that has no others, open it or go to the one that it is in."""
        here = self.cursor_item
        if here is None:
            return
        was_open = self._is_open(here)
        if was_open is not None:
            if was_open != is_open:
                self.post_message(self.FoldToggled(self, is_open=is_open))
        elif is_open:
            self.action_open()
        elif self._is_inside(here):
            rows = (at for at in range(self._row, -1, -1) if self._has_item(at))
            self._go_to_row(next(at for at in rows if self._is_open(cast("Item", self._rows[at])) is not None))

    def _is_open(self, item: Item) -> bool | None:
        """Whether an item is unfolded; `None` for one that has no others."""
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    def _is_inside(self, item: Item) -> bool:
        """Whether an item is one of those of another."""
        raise NotImplementedError  # as above


def find_nearest_row(rows: Sequence[object], row: int, step: int = 1) -> int | None:
    """The nearest row that the cursor may be on, first in the direction of a step of 1 or -1, then in the other."""
    if not rows:
        return None
    row = max(0, min(row, len(rows) - 1))
    below, above = range(row, len(rows)), range(row, -1, -1)
    candidates = chain(below, above) if step > 0 else chain(above, below)
    return next((at for at in candidates if not isinstance(rows[at], LabelRow)), None)


_ACTOR, _SIZE, _AGE = 8, 5, 4
"""Cells of the columns of the deleted memories."""


class DeletedView(ItemList[DeletedPath]):
    """Deleted memories as rows: mark, path, actor, size, age."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "toggle_selection", "select", id="deleted.mark",
                tooltip="Select or deselect the note"),
        Binding(
            "asterisk", "toggle_all", "select all", id="deleted.mark_all", tooltip="Select all listed notes, or none",
            show=False,
        ),
    ]  # fmt: skip

    STYLES = "deleted--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"deleted--{role}" for role in ("detail", "selected", "lost", "outside")}

    DEFAULT_CSS = """
    DeletedView {
        & > .deleted--detail { color: $foreground-muted; }
        & > .deleted--selected { color: $text-success; text-style: bold; }
        & > .deleted--lost { color: $text-error; text-style: strike; }
        & > .deleted--outside { color: $text-warning; }
    }
    """

    class SelectionChanged(Message):
        """Other memories are selected."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._selected: dict[str, DeletedPath] = {}
        self._columns: tuple[Column[DeletedPath], ...] = (
            Column("mark", self._format_mark, self._get_mark_style, width=2),
            Column("path", _format_deleted_path, width=4, share=True),
            Column("actor", _format_deleting_actor, _get_actor_style, width=_ACTOR, gap="  "),
            Column("size", _format_deleted_size, "detail", width=_SIZE, align=">", gap=" "),
            Column("age", _format_deleted_age, "detail", width=_AGE, align=">", gap=" ", tail=" "),
        )

    @property
    def selected_paths(self) -> Sequence[DeletedPath]:
        """The selected memories, listed or not."""
        return list(self._selected.values())

    def deselect(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._selected.pop(path, None)
        self.post_message(self.SelectionChanged())
        self.refresh()

    def action_toggle_selection(self) -> None:
        """Select or deselect the row, and go to the next."""
        here = self.cursor_item
        if here is None:
            return
        if self._selected.pop(here.path, None) is None:
            self._selected[here.path] = here
        self.post_message(self.SelectionChanged())
        self._go_to_row(self._row + 1)

    def action_toggle_all(self) -> None:
        """Select all that are listed, or deselect them if all are selected."""
        listed = self.items
        if all(each.path in self._selected for each in listed):
            self._selected.clear()
        else:
            self._selected.update((each.path, each) for each in listed)
        self.post_message(self.SelectionChanged())
        self.refresh()

    def _get_key(self, item: DeletedPath) -> object:
        return item.path

    def _get_columns(self, item: DeletedPath, width: int) -> Sequence[Column[DeletedPath]]:
        del item, width
        return self._columns

    def _format_mark(self, item: DeletedPath, width: int) -> str:
        del width
        return "*" if item.path in self._selected else "-" if item.is_stored else "!"

    def _get_mark_style(self, item: DeletedPath) -> str:
        return "selected" if item.path in self._selected else "detail" if item.is_stored else "lost"


def _format_deleted_path(item: DeletedPath, width: int) -> Cell:
    return [(truncate_middle(to_one_line(item.path), width), "" if item.is_stored else "lost")]


def _format_deleting_actor(item: DeletedPath, width: int) -> str:
    return truncate(to_one_line(shorten_actor_name(format_actor_name(item.event.actor))), width)


def _format_deleted_size(item: DeletedPath, width: int) -> str:
    del width
    return wording.format_size(item.version.size).replace(" ", "")


def _format_deleted_age(item: DeletedPath, width: int) -> str:
    del width
    return wording.format_age(time.time() - (item.imported_us or item.event.at_us) / 1e6)


def _get_actor_style(item: DeletedPath) -> str:
    return "outside" if item.event.is_outside else "detail"
