"""The items of a conversation as pieces, laid out for a width, and the stack of all pieces.

A piece is a text with rows before and behind it. The text may be a megabyte long: a `NoteDocument` makes its rows when
they are needed. The stack makes a piece when a row of it is needed, and drops pieces that were not used for long; the
heights of pieces that are not made are estimates. An item at the end costs the same however long the conversation is.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from memtui.core.lazy_dataclass import dataclass
from memtui.ui.widgets.markdown.document import NoteDocument
from memtui.ui.widgets.markdown.rows import MarkdownRow, TextSpan, indent_row
from memtui.ui.widgets.transcript.items import CallItem, MessageItem, ThoughtItem, TranscriptItem

SMALL = 48
"""Chunks up to which a text is laid out as a whole, so that its height is exact."""
NARROW = 44
"""Columns below which names stand above the text, not beside it."""
WIDEST = 100
"""Cells of text, at most."""


@dataclass(frozen=True, slots=True)
class TranscriptFrame:
    """The columns of the view, without its scrollbar."""

    columns: int
    agent: str = "claude"
    """The name beside what the agent says: at most six cells."""

    @property
    def is_narrow(self) -> bool:
        """Whether names stand above the text."""
        return self.columns < NARROW

    @property
    def gutter(self) -> int:
        """Cells before the text: the cursor, the name, and the fold mark."""
        return 4 if self.is_narrow else 9

    @property
    def width(self) -> int:
        """Cells of text; one stays free at the right."""
        return max(8, min(WIDEST, self.columns - self.gutter - 1))


class TranscriptRow(NamedTuple):
    """One row of the conversation."""

    row: MarkdownRow
    label: str = ""
    """The name in the gutter."""
    fold: str = ""
    """`▸` or `▾` where it can be unfolded."""
    band: str = ""
    """The role below the whole row."""


EMPTY = TranscriptRow(MarkdownRow((), 0, 0))


class RowAnchor(NamedTuple):
    """A row of a piece that can be found again in another layout of it."""

    part: int
    """0: before the text, 1: the text, 2: behind the text."""
    row: int
    line: int = 0
    """The source line of the text."""


ItemAnchor = tuple[TranscriptItem, RowAnchor]


class TranscriptPiece:
    """The rows of one item.

    Args:
        head: Rows before the text.
        text: The text.
        tail: Rows behind the text.
        prefix: Spans before each row of the text.
        label: The name beside the first row.
        fold: The mark beside the first row.
        band: The role below all rows, over the whole width.
        gap: Whether an empty row comes first.
    """

    def __init__(
        self,
        head: Iterable[MarkdownRow] = (),
        text: NoteDocument | None = None,
        tail: Iterable[MarkdownRow] = (),
        *,
        prefix: Sequence[TextSpan] = (),
        label: str = "",
        fold: str = "",
        band: str = "",
        gap: bool = False,
    ) -> None:
        self.text = text
        self._head = ([EMPTY] if gap else []) + [TranscriptRow(row) for row in head]
        self._tail = [TranscriptRow(row) for row in tail]
        self._prefix = prefix
        self._label = label
        self._fold = fold
        self._band = band
        self.first = int(gap)
        """The first row that is not empty."""
        self.append_text("")

    def append_text(self, fragment: str) -> None:
        """Continue the text."""
        if self.text is not None:
            if fragment:
                self.text.append(fragment)
            if len(self.text.chunks) <= SMALL:
                self.text.draw_from(0, 1 << 30)

    @property
    def height(self) -> int:
        """Rows, as far as they are known."""
        return len(self._head) + self._text_height + len(self._tail)

    @property
    def _text_height(self) -> int:
        return self.text.height if self.text is not None else 0

    def draw_from(self, inner: int, count: int) -> None:
        """Make the rows of the text among some rows."""
        if self.text is not None and len(self.text.chunks) > SMALL:
            first = inner - len(self._head)
            self.text.draw_from(max(0, first), count + min(0, first))

    def get_row(self, inner: int) -> TranscriptRow:
        """One row, from 0."""
        drawn = self._get_row(inner)
        if inner == self.first and drawn is not EMPTY:
            drawn = drawn._replace(label=self._label, fold=self._fold)
        return drawn._replace(band=self._band) if self._band and inner >= self.first else drawn

    def _get_row(self, inner: int) -> TranscriptRow:
        if inner < len(self._head):
            return self._head[inner]
        inner -= len(self._head)
        if self.text is not None and inner < self.text.height:
            found = self.text.get_row(inner)
            row = found[2] if found else EMPTY.row
            return TranscriptRow(indent_row(row, self._prefix) if self._prefix else row)
        inner -= self._text_height
        return self._tail[inner] if 0 <= inner < len(self._tail) else EMPTY

    def get_anchor(self, inner: int) -> RowAnchor:
        """A row, to be found again."""
        if inner < len(self._head):
            return RowAnchor(0, inner)
        line, inner = self.get_source_line(inner), inner - len(self._head)
        if line is None or self.text is None:
            return RowAnchor(2, max(0, inner - self._text_height))
        return RowAnchor(1, max(0, inner - self.text.find_row_of_line(line)), line)

    def find_anchor(self, place: RowAnchor) -> int:
        """The row of an anchor of another layout."""
        part, row, line = place
        if part == 1 and self.text is not None:
            row += self.text.find_row_of_line(line) + len(self._head)
        elif part:
            row += len(self._head) + self._text_height
        return max(0, min(row, self.height - 1))

    def get_source_line(self, inner: int) -> int | None:
        """The line of the text in a row, from 0; `None` for rows before and behind the text."""
        inner -= len(self._head)
        found = self.text.get_row(inner) if self.text is not None and 0 <= inner < self.text.height else None
        return found[2].first if found else None


_PIECES_CACHE_SIZE = 200

Make = Callable[[TranscriptItem, TranscriptItem | None, TranscriptFrame], TranscriptPiece]
"""Lays out an item, given the one above it."""


class TranscriptStack:
    """The pieces of a conversation, one above the other.

    Args:
        items: The conversation; call `cut` and `invalidate` when it changes.
        make: Lays out one item.
        frame: The columns.
    """

    def __init__(self, items: Sequence[TranscriptItem], make: Make, frame: TranscriptFrame) -> None:
        self._items = items
        self._make = make
        self.frame = frame
        self._pieces: OrderedDict[TranscriptItem, TranscriptPiece] = OrderedDict()
        self._heights: list[int] = []
        self._tops: list[int] = [0]
        self.cut(0)

    def relayout(self, frame: TranscriptFrame) -> None:
        """Lay out all items for another width."""
        self.frame = frame
        self._pieces.clear()
        self.cut(0)

    def cut(self, index: int) -> None:
        """Drop the items from an index on, and read the present ones."""
        for item in [item for item in self._pieces if item.index >= index]:
            del self._pieces[item]
        del self._heights[index:]
        self._heights += (_estimate_height(item, self.frame.width) for item in self._items[index:])
        del self._tops[index + 1 :]

    def invalidate(self, item: TranscriptItem) -> None:
        """Lay out a changed item anew when a row of it is needed."""
        if self._pieces.pop(item, None) is None:
            self._heights[item.index] = _estimate_height(item, self.frame.width)
        if item.index + 1 < self.count:  # the empty row between the two may come or go
            self._pieces.pop(self._items[item.index + 1], None)
        del self._tops[item.index + 1 :]

    def extend(self, item: MessageItem) -> None:
        """Lay out the last block of a message whose text continues."""
        piece = self._pieces.get(item)
        if piece is None or piece.text is None:
            self.invalidate(item)
        else:
            piece.append_text(item.text[len(piece.text.source) :])
            self._measure(item.index, piece)

    def _measure(self, index: int, piece: TranscriptPiece) -> None:
        if self._heights[index] != piece.height:
            self._heights[index] = piece.height
            del self._tops[index + 1 :]

    @property
    def count(self) -> int:
        """The number of items."""
        return len(self._heights)

    @property
    def height(self) -> int:
        """The number of rows, as far as it is known."""
        return self.get_top(len(self._heights))

    def get_top(self, index: int) -> int:
        """The first row of an item; for `count`, the row behind the last."""
        tops = self._tops
        while len(tops) <= index:
            tops.append(tops[-1] + self._heights[len(tops) - 1])
        return tops[index]

    def locate_row(self, y: int) -> tuple[int, int]:
        """The index of the item of a row, and the row within it; the last row for rows below."""
        if not self._heights:
            return -1, 0
        if y >= self.height:
            return self.count - 1, max(0, self._heights[-1] - 1)
        index = bisect_right(self._tops, max(0, y)) - 1
        return index, max(0, y) - self._tops[index]

    def locate_item(self, y: int) -> tuple[TranscriptItem, int]:
        """The item of a row, and the row within it. There has to be an item."""
        index, inner = self.locate_row(y)
        return self._items[index], inner

    def get_piece(self, index: int) -> TranscriptPiece:
        """An item, laid out; its height is exact from then on."""
        item = self._items[index]
        piece = self._pieces.get(item)
        if piece is None:
            above = self._items[index - 1] if index else None
            piece = self._pieces[item] = self._make(item, above, self.frame)
            if len(self._pieces) > _PIECES_CACHE_SIZE:
                self._pieces.popitem(last=False)
        else:
            self._pieces.move_to_end(item)
        self._measure(index, piece)
        return piece

    def draw_from(self, y: int, count: int) -> None:
        """Make the pieces of `count` rows from row `y` on."""
        index, inner = self.locate_row(y)
        while 0 <= index < self.count and self.get_top(index) < y + count:
            piece = self.get_piece(index)
            piece.draw_from(inner, y + count - self.get_top(index) - inner)
            self._measure(index, piece)
            index, inner = index + 1, 0

    def draw_before(self, index: int, inner: int, count: int) -> None:
        """Make the `count` rows above a row of an item."""
        while index >= 0 and count > 0:
            piece = self.get_piece(index)
            inner = piece.height if inner < 0 else inner
            before = -1
            while piece.height != before:  # estimated heights within a long text become exact
                before = piece.height
                piece.draw_from(max(0, inner - count), min(count, inner))
                inner += piece.height - before
            self._measure(index, piece)
            count -= inner
            index, inner = index - 1, -1

    def get_row(self, y: int) -> TranscriptRow | None:
        """One row; `None` outside of the conversation."""
        if not 0 <= y < self.height:
            return None
        index, inner = self.locate_row(y)
        piece = self.get_piece(index)
        return piece.get_row(inner) if inner < piece.height else None

    def iter_rows(self, first: int, last: int | None) -> Iterator[tuple[int, MarkdownRow]]:
        """Rows with their numbers, also while estimated heights become exact."""
        index, inner = self.locate_row(first)
        y = first
        while 0 <= index < self.count and (last is None or y <= last):
            piece = self.get_piece(index)
            while inner < piece.height and (last is None or y <= last):
                yield y, piece.get_row(inner).row
                inner, y = inner + 1, y + 1
            index, inner = index + 1, 0


def _estimate_height(item: TranscriptItem, width: int) -> int:
    match item:
        case ThoughtItem():
            return 1 + (len(item.text) // width if item.is_open else 0)
        case MessageItem():
            return 2 + max(item.text.count("\n"), len(item.text) * 10 // (width * 9))
        case CallItem():
            return 1
    return 2
