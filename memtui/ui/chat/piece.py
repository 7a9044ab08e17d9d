"""One thing of the conversation, laid out for a width: rows of ours before and after, and a text between them.

The text may be a megabyte long: it is a `Document`, which makes the rows that are looked at.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memtui.ui.note.document import Document
from memtui.ui.note.lines import Row, Span, indent

SMALL = 48
"""Chunks of a text that is laid out as a whole, so that its height is known."""
NARROW = 44
"""Columns below which names stand above what was said, not beside it."""
WIDEST = 100
"""Cells of text, at most."""


@dataclass(frozen=True, slots=True)
class Frame:
    """How much room there is."""

    columns: int
    """Of the whole view, without its scrollbar."""

    @property
    def is_narrow(self) -> bool:
        """Whether names stand above what was said."""
        return self.columns < NARROW

    @property
    def gutter(self) -> int:
        """Cells before the text: the cursor, the name, and the mark of what can be unfolded."""
        return 4 if self.is_narrow else 9

    @property
    def width(self) -> int:
        """Cells of text; one stays free at the right."""
        return max(8, min(WIDEST, self.columns - self.gutter - 1))


class Drawn(NamedTuple):
    """One row of the conversation."""

    row: Row
    """The text, which can be selected."""
    label: str = ""
    """What stands in the gutter: a name."""
    fold: str = ""
    """`▸` or `▾` where it can be unfolded."""
    band: str = ""
    """Role that lies under the whole row."""


EMPTY = Drawn(Row((), 0, 0))


class Place(NamedTuple):
    """A row of a piece that can be found again in another layout of it."""

    part: int
    """0: the rows before the text, 1: the text, 2: those after it."""
    row: int
    line: int
    """Of the text: the source line."""


class Piece:
    """What one item looks like.

    Args:
        head: Rows before the text.
        text: The text.
        prefix: What stands before each row of the text.
        tail: Rows after it.
        label: Who says it; stands beside the first row of the text where there is no row before it.
        fold: The mark beside its first row.
        band: Role that lies under its rows, over the whole width.
        gap: Whether an empty row comes first.
    """

    def __init__(
        self,
        head: Iterable[Row] = (),
        text: Document | None = None,
        tail: Iterable[Row] = (),
        *,
        prefix: Sequence[Span] = (),
        label: str = "",
        fold: str = "",
        band: str = "",
        gap: bool = False,
    ) -> None:
        self.text = text
        self._head = ([EMPTY] if gap else []) + [Drawn(row) for row in head]
        self._tail = [Drawn(row) for row in tail]
        self._prefix = prefix
        self._label = label
        self._fold = fold
        self._band = band
        self.first = int(gap)
        """Its first row that is not empty."""
        self._draw_all()

    def _draw_all(self) -> None:
        if self.text is not None and len(self.text.chunks) <= SMALL:
            self.text.draw_from(0, 1 << 30)

    def append(self, fragment: str) -> None:
        """The text goes on."""
        if self.text is not None:
            self.text.append(fragment)
            self._draw_all()

    @property
    def height(self) -> int:
        """Rows, as far as they are known."""
        return len(self._head) + (self.text.height if self.text is not None else 0) + len(self._tail)

    def draw_from(self, inner: int, count: int) -> None:
        """Make the rows of the text that are needed to show some rows."""
        if self.text is not None and len(self.text.chunks) > SMALL:
            first = max(0, inner - len(self._head))
            self.text.draw_from(first, count + min(0, inner - len(self._head)))

    def row(self, inner: int) -> Drawn:
        """One row, from 0."""
        drawn = self._row(inner)
        if inner == self.first and drawn is not EMPTY:
            drawn = drawn._replace(label=self._label, fold=self._fold)
        return drawn._replace(band=self._band) if self._band and inner >= self.first else drawn

    def _row(self, inner: int) -> Drawn:
        if inner < len(self._head):
            return self._head[inner]
        inner -= len(self._head)
        if self.text is not None:
            if inner < (height := self.text.height):
                found = self.text.row(inner)
                row = found[2] if found else EMPTY.row
                return Drawn(indent(row, self._prefix) if self._prefix else row)
            inner -= height
        return self._tail[inner] if 0 <= inner < len(self._tail) else EMPTY

    def place(self, inner: int) -> Place:
        """A row, to be found again."""
        if inner < len(self._head):
            return Place(0, inner, 0)
        inner -= len(self._head)
        if self.text is None:
            return Place(2, inner, 0)
        height = self.text.height
        found = self.text.row(inner) if inner < height else None
        if found is None:
            return Place(2, max(0, inner - height), 0)
        line = found[2].first
        return Place(1, max(0, inner - self.text.row_of_line(line)), line)

    def find(self, place: Place) -> int:
        """Where a row is that was found in another layout."""
        part, row, line = place
        if part == 1 and self.text is not None:
            found = self.text.row_of_line(line) + row + len(self._head)
        else:
            before = 0 if part == 0 else len(self._head) + (self.text.height if self.text is not None else 0)
            found = before + row
        return max(0, min(found, self.height - 1))

    def source_line(self, inner: int) -> int | None:
        """Which line of the text a row shows, from 0; `None` for rows of ours."""
        found = self.text.row(inner - len(self._head)) if self.text is not None and inner >= len(self._head) else None
        return found[2].first if found else None
