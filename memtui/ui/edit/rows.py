"""The lines of a text as rows of the screen, and where the cursor goes in them.

Both stand in for Textual's own, which count a hidden character as no cell, and count all rows anew at each key.
"""

from bisect import bisect_right
from itertools import accumulate, pairwise

from textual.document._document import Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset

from memtui.ui.edit.cells import before, behind, breaks_of, cell_at, column_at, width_of
from memtui.ui.edit.lines import Lines


class Rows(WrappedDocument):
    """Which line each row shows, and from which column.

    Args:
        document: The lines.
        tab_width: Cells from one tab stop to the next.
    """

    document: Lines

    def __init__(self, document: Lines, *, tab_width: int) -> None:
        self._breaks: list[tuple[int, ...]] = []
        self._widths: list[int] = []
        self._tops: list[int] | None = None
        super().__init__(document, 0, tab_width)

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        """Make rows of all lines.

        Args:
            width: Cells of a row; 0 for a row a line.
            tab_width: Cells from one tab stop to the next, if that changes too.
        """
        self._width = width
        self._tab_width = tab_width or self._tab_width
        self._breaks, self._widths = self._rows_of(self.document.lines)
        self._tops = None

    def _rows_of(self, lines: list[str]) -> tuple[list[tuple[int, ...]], list[int]]:
        width, tab = self._width, self._tab_width
        if width:
            return [() if len(line) < 1 else breaks_of(line, width, tab) for line in lines], []
        return [()] * len(lines), [width_of(line, tab) for line in lines]

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        """Make rows anew of the lines that an edit touched.

        Args:
            start: Where it began.
            old_end: Where what it replaced ended.
            new_end: Where what it put there ends.
        """
        top, old_bottom = sorted((start[0], old_end[0]))
        bottom = max(top, new_end[0])
        breaks, widths = self._rows_of(self.document.lines[top : bottom + 1])
        known = self._breaks[top : old_bottom + 1]
        self._breaks[top : old_bottom + 1] = breaks
        if not self._width:
            self._widths[top : old_bottom + 1] = widths
        if [*map(len, known)] != [*map(len, breaks)]:
            self._tops = None

    @property
    def tops(self) -> list[int]:
        """The first row of each line, and behind the last one how many rows there are."""
        if self._tops is None:
            self._tops = list(accumulate((len(breaks) + 1 for breaks in self._breaks), initial=0))
        return self._tops

    @property
    def height(self) -> int:
        """How many rows there are."""
        return self.tops[-1]

    @property
    def widest(self) -> int:
        """Cells of the widest line, where each line is one row."""
        return max(self._widths, default=0)

    @property
    def wrapped(self) -> bool:
        """Whether any line needs more than one row."""
        return self.height > len(self._breaks)

    def row(self, y: int) -> tuple[int, int, int, int] | None:
        """What a row shows: its line, its number within the line, its first column, and the one behind its last."""
        if not 0 <= y < self.height:
            return None
        index = bisect_right(self.tops, y) - 1
        section = y - self.tops[index]
        return index, section, *self._span(index, section)

    def _span(self, index: int, section: int) -> tuple[int, int]:
        breaks = self._breaks[index]
        start = breaks[section - 1] if section else 0
        end = breaks[section] if section < len(breaks) else len(self.document.lines[index])
        return start, end

    def breaks(self, index: int) -> tuple[int, ...]:
        """The columns at which a line goes on in another row."""
        return self._breaks[index]

    def get_offsets(self, line_index: int) -> list[int]:
        """The columns at which a line goes on in another row."""
        return list(self._breaks[line_index])

    def get_sections(self, line_index: int) -> list[str]:
        """The text of each row of a line."""
        line = self.document.lines[line_index]
        bounds = (0, *self._breaks[line_index], len(line))
        return [line[start:end] for start, end in pairwise(bounds)]

    def location_to_offset(self, location: Location) -> Offset:
        """The cell and the row of a location."""
        index, column = self.document.clamped(location)
        section = bisect_right(self._breaks[index], column)
        line, (start, _) = self.document.lines[index], self._span(index, section)
        x = cell_at(line, column, self._tab_width) - cell_at(line, start, self._tab_width)
        return Offset(x, self.tops[index] + section)

    def offset_to_location(self, offset: Offset) -> Location:
        """The location that a cell of a row shows; the nearest one where it shows none."""
        x, y = offset
        index, section, _, _ = self.row(min(max(y, 0), self.height - 1)) or (0, 0, 0, 0)
        return index, self.get_target_document_column(index, x, section)

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        """The column that a cell shows of a line's row, counted from the last one if negative."""
        line, rows = self.document.lines[line_index], len(self._breaks[line_index]) + 1
        section = y_offset % rows
        start, end = self._span(line_index, section)
        tab = self._tab_width
        column = column_at(line, cell_at(line, start, tab) + max(x_offset, 0), tab)
        # Behind a row's last character is the start of the next row; behind the line's last the cursor can stand.
        last = end if section == rows - 1 else before(line, end, tab)
        return min(max(column, start), last)


class Paths(DocumentNavigator):
    """Where the cursor goes: by what is one for the eye, and by rows as they are shown."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self._rows = rows

    @property
    def _tab(self) -> int:
        return self._rows._tab_width

    def get_location_left(self, location: Location) -> Location:
        """One step back, over the end of the line before if need be."""
        row, column = location
        if column > 0:
            return row, before(self._rows.document[row], column, self._tab)
        return (row - 1, len(self._rows.document[row - 1])) if row > 0 else (0, 0)

    def get_location_right(self, location: Location) -> Location:
        """One step forwards, over the end of the line if need be."""
        row, column = location
        line = self._rows.document[row]
        if column < len(line):
            return row, behind(line, column, self._tab)
        return (row + 1, 0) if row + 1 < self._rows.document.line_count else location

    def get_location_above(self, location: Location) -> Location:
        """One row up; from the first one to the start."""
        x, y = self._rows.location_to_offset(location)
        return self._rows.offset_to_location(Offset(max(x, self.last_x_offset), y - 1)) if y > 0 else (0, 0)

    def get_location_below(self, location: Location) -> Location:
        """One row down; from the last one to the end."""
        x, y = self._rows.location_to_offset(location)
        if y + 1 >= self._rows.height:
            return self._rows.document.end
        return self._rows.offset_to_location(Offset(max(x, self.last_x_offset), y + 1))

    def get_location_end(self, location: Location) -> Location:
        """The end of the row."""
        _, y = self._rows.location_to_offset(location)
        index, section, _, end = self._rows.row(y) or (location[0], 0, 0, location[1])
        line = self._rows.document[index]
        is_last = section == len(self._rows.get_offsets(index))
        return index, end if is_last else before(line, end, self._tab)
