"""Rows that stand for something: which of them the cursor is on, and what a click and a new list do to it.

What the findings, the changes, the hits of a search, the deleted memories and the versions of a note have in common.
Each says what its rows look like, and what tells one from the others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from memtui.ui.rows import RowsView
from memtui.ui.text import fit


@dataclass(frozen=True, slots=True)
class Words:
    """A row that only says what follows, or why nothing does: the cursor never stands on it."""

    words: str


Item = TypeVar("Item")


class ItemRows(RowsView, Generic[Item]):
    """Rows, most of which can be chosen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"items--cursor"}

    DEFAULT_CSS = """
    ItemRows {
        & > .items--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .items--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """

    class About(Message):
        """Something about the item under the cursor.

        Args:
            rows: Which list says so.
        """

        def __init__(self, rows: "ItemRows[Any]") -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> "ItemRows[Any]":
            """The widget that says so."""
            return self.rows

    class Highlighted(About):
        """The cursor is on another item, or on none."""

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a moving cursor matters."""
            return isinstance(message, ItemRows.Highlighted) and message.rows is self.rows

    class Opened(About):
        """The person asks for the item under the cursor."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[Item | Words] = ()
        self._until: Sequence[int] = ()
        self._notice: Sequence[str] = ()

    @property
    def row_count(self) -> int:
        """How many rows there are, with those that only say something."""
        return len(self._rows)

    @property
    def items(self) -> Sequence[Item]:
        """All that the cursor may stand on."""
        return [row for row in self._rows if not isinstance(row, Words)]

    @property
    def here(self) -> Item | None:
        """What is under the cursor."""
        row = self._rows[self._row] if self._row < len(self._rows) else None
        return None if isinstance(row, Words) else row

    @property
    def position(self) -> tuple[int, int]:
        """The cursor among the items that count, from 1, and how many there are; 0 where it is on none of them."""
        here = self.here
        total = self._until[-1] if self._until else 0
        return (self._until[self._row] if here is not None and self._counts(here) else 0, total)

    def show(self, rows: Sequence[Item | Words], *, keep: bool = True, notice: Sequence[str] = ()) -> None:
        """Show other rows.

        Args:
            rows: All of them.
            keep: Whether the cursor stays on its item if that is among them, with as much in view above it; else it is
                on the first one.
            notice: What is said where there is none.
        """
        here, above = self.here, self._row - self.scroll_offset.y
        self._rows, self._notice = rows, notice
        self._until = list(accumulate(not isinstance(row, Words) and self._counts(row) for row in rows))
        again = self._index_of(here) if keep and here is not None else None
        beside = nearest(rows, self._row if keep and here is not None else 0)
        self._row = again if again is not None else beside or 0
        self._fit_height()
        if again is not None:
            self.scroll_to(y=max(again - above, 0), animate=False)
        elif not keep:
            self.scroll_to(y=0, animate=False)
        self._bring_into_view()
        self.post_message(self.Highlighted(self))
        self.refresh()

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._bring_into_view()

    def on_click(self, event: events.Click) -> None:
        """Select; twice, open."""
        offset = event.get_content_offset(self)
        row = self.scroll_offset.y + offset.y if offset is not None else len(self._rows)
        if row < len(self._rows) and not isinstance(self._rows[row], Words):
            event.stop()
            self._go(row)
            if event.chain == 2:
                self.action_open()

    def action_open(self) -> None:
        """To what is known of it."""
        if self.here is not None:
            self.post_message(self.Opened(self))

    def _go(self, row: int) -> None:
        target = nearest(self._rows, row, 1 if row >= self._row else -1)
        if target is None:
            return
        if target != self._row:
            self._row = target
            self.post_message(self.Highlighted(self))
        if target == nearest(self._rows, 0):  # what stands above the first one is seen as well
            self.scroll_to(y=0, animate=False)
        self._bring_into_view()
        self.refresh()

    def _index_of(self, item: Item) -> int | None:
        key = self._key(item)
        rows = enumerate(self._rows)
        return next((at for at, row in rows if not isinstance(row, Words) and self._key(row) == key), None)

    def _key(self, item: Item) -> object:
        """What tells an item from the others, so that the cursor finds it again in another list."""
        raise NotImplementedError  # each subclass knows its items

    def _counts(self, item: Item) -> bool:
        """Whether an item is one of those that are counted."""
        del item
        return True

    # Paint

    def _drawn(self, item: Item, width: int) -> Iterable[Segment]:
        """An item in a width."""
        raise NotImplementedError  # each subclass says what its rows look like

    def _said(self, words: str, width: int) -> Iterable[Segment]:
        """A row that only says something."""
        return [Segment(fit(f" {words}", width), self._style("words"))]

    def _under_cursor(self, segment: Segment) -> Segment:
        """A part of the row under the cursor."""
        return Segment(segment.text, self._style("cursor"))

    def _style(self, name: str) -> Style:
        if name == "cursor" and name not in self._styles:
            self._styles[name] = self.get_component_rich_style("items--cursor")
        return super()._style(name)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget; see `ScrollView`."""
        width = self.scrollable_content_region.width
        plain = self._style("")
        index = self.scroll_offset.y + y
        if not self._rows and index < len(self._notice):
            return Strip([Segment(fit(f" {self._notice[index]}", width), plain)]).adjust_cell_length(width, plain)
        if index >= len(self._rows):
            return Strip.blank(width, plain)
        row = self._rows[index]
        if isinstance(row, Words):
            return Strip(self._said(row.words, width)).adjust_cell_length(width, plain)
        segments = [Segment(">" if index == self._row else " ", plain), *self._drawn(row, max(width - 1, 0))]
        if index != self._row:
            return Strip(segments).adjust_cell_length(width, plain)
        return Strip(map(self._under_cursor, segments)).adjust_cell_length(width, self._style("cursor"))


def nearest(rows: Sequence[object], row: int, step: int = 1) -> int | None:
    """The row that the cursor may stand on: this one, or the next one in a direction, else in the other.

    Args:
        rows: All rows.
        row: Where it would like to stand.
        step: 1 or -1.
    """
    row = max(0, min(row, len(rows) - 1))
    for way in (step, -step):
        at = row
        while 0 <= at < len(rows):
            if not isinstance(rows[at], Words):
                return at
            at += way
    return None
