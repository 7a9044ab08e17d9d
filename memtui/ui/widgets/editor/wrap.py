"""The lines of a text as rows of the screen, and the moves of the cursor in them.

Both replace Textual's own, which count a hidden character as no cell, and count all rows anew at each key.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, islice, pairwise

from rich.cells import cell_len, get_character_cell_size
from textual.geometry import Offset

from memtui.core.lazy_dataclass import dataclass
from memtui.core.lazy_regex import compile_lazily
from memtui.core.unicode import HIDDEN, escape_character
from memtui.ui.widgets.editor.text import TextDocument
from memtui.ui.widgets.editor.textual_document import DocumentNavigator, Location, WrappedDocument

# Cells of a line. A hidden character is written out as an escape, yet it stays one character: the cursor stands before
# or behind it. So columns (characters) and cells (on screen) are two measures, and this is where one becomes the other.
# Most lines are plain: each character fills one cell.

_ONE_CELL = "\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u0384-\u0482\u048a-\u052f\u2010-\u2027\ufffd"
_TWO_CELLS = "\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60"
_PLAIN = re.compile(f"[{_ONE_CELL}]*")
"""Characters that fill one cell each, whatever stands beside them."""
_RUN = compile_lazily(f"(?<=\u200d).|(?P<narrow>[{_ONE_CELL}]+)|(?P<wide>[{_TWO_CELLS}]+)|.", re.DOTALL)
_ODD = compile_lazily(f"[^{_ONE_CELL}{_TWO_CELLS}]")
_CHUNK = compile_lazily(r"[^ \t]+[ \t]*|[ \t]+")
LONG = 20_000
"""Characters from which a line is broken wherever the row ends, not at words, and little of it is cached."""
_FEW = 4
"""Long lines that are cached."""
MOST_ODD = 10_000
"""Characters of a long line that are looked at one by one. Behind them each that is not plain is drawn as U+FFFD."""
_LONGEST_PIECE = 32
"""Characters that are drawn as one; a mark behind so many is written out as an escape."""
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class LineCells:
    """A line that is not plain, as pieces that cannot be divided: the cursor stands between them.

    Attributes:
        columns: The first character of each piece, and behind the last one the length of the line.
        offsets: The first cell of each piece, and behind the last one the width of the line.
        texts: The drawn text of each.
        hidden: The numbers of the pieces that stand for hidden characters.
    """

    columns: Sequence[int]
    offsets: Sequence[int]
    texts: Sequence[str]
    hidden: frozenset[int]


def is_plain(line: str) -> bool:
    """Whether each character of a line fills one cell."""
    return _is_plain(line) if len(line) < LONG else _is_plain_once(line)


def _is_plain(line: str) -> bool:
    return (line.isascii() and line.isprintable()) or _PLAIN.fullmatch(line) is not None


_is_plain_once = lru_cache(maxsize=_FEW)(_is_plain)


def split_cells(line: str, tab: int) -> LineCells:
    """The pieces of a line that is not plain; `tab` is the distance of tab stops in cells."""
    return _cells_of_short(line, tab) if len(line) < LONG else _cells_of_long(line, tab)


def find_undrawn(line: str) -> int:
    """Where a line holds more odd characters than are drawn; mostly its end."""
    last = next(islice(_ODD.finditer(line), MOST_ODD, None), None) if len(line) >= LONG else None
    return last.start() if last else len(line)


def _split_cells(line: str, tab: int) -> LineCells:
    end = find_undrawn(line)
    escapes = {match.start(): escape_character(match.group()) for match in HIDDEN.finditer(line, 0, end)}
    for column in _find_dangling_joiners(line[:end], escapes):
        escapes[column] = escape_character(_JOINER)
    drawn = line[:end] + _ODD.sub("\ufffd", line[end:])
    columns: list[int] = []
    texts: list[str] = []
    widths: list[int] = []
    hidden: set[int] = set()
    at = 0
    is_joined = False
    for run in _RUN.finditer(drawn):
        column, character = run.start(), run.group()
        if run.lastgroup:
            size = 2 if run.lastgroup == "wide" else 1
            columns += range(column, run.end())
            texts += character
            widths += [size] * len(character)
            at += size * len(character)
            continue
        if character == "\t":
            text, width = " " * (tab - at % tab), tab - at % tab
        elif column in escapes:
            text = escapes[column]
            width = len(text)
            hidden.add(len(columns))
        else:
            text, width = character, get_character_cell_size(character)
            if (
                (is_joined or width == 0)
                and columns
                and len(columns) - 1 not in hidden
                and texts[-1] != " "
                and len(texts[-1]) < _LONGEST_PIECE - (character == _JOINER)
            ):
                # It belongs to the character before it: the two are one for the eye, and for the cursor.
                is_joined = character == _JOINER
                texts[-1] += text
                at -= widths[-1]
                widths[-1] = cell_len(texts[-1])
                at += widths[-1]
                continue
            if width == 0:  # nothing is there that it could belong to
                text = escape_character(character)
                width = len(text)
                hidden.add(len(columns))
        is_joined = False
        columns.append(column)
        texts.append(text)
        widths.append(width)
        at += width
    columns.append(len(line))
    return LineCells(columns, [*accumulate(widths, initial=0)], texts, frozenset(hidden))


_cells_of_short = lru_cache(maxsize=2_048)(_split_cells)
_cells_of_long = lru_cache(maxsize=_FEW)(_split_cells)


def _find_dangling_joiners(line: str, escapes: Collection[int]) -> Iterator[int]:
    """Joiners with nothing behind them to join, which would take a cell from the next text."""
    column = line.rfind(_JOINER)
    while column >= 0:  # from the end: what joins one of these joins nothing either
        if column + 1 in escapes or line[column + 1 : column + 2] in ("", "\t", " "):
            yield column
        column = line.rfind(_JOINER, 0, column)


def measure_width(line: str, tab: int) -> int:
    """Cells of a line."""
    return len(line) if is_plain(line) else split_cells(line, tab).offsets[-1]


def column_to_cell(line: str, column: int, tab: int) -> int:
    """The first cell of a character."""
    if is_plain(line):
        return min(column, len(line))
    cells = split_cells(line, tab)
    return cells.offsets[max(bisect_right(cells.columns, column) - 1, 0)]


def cell_to_column(line: str, cell: int, tab: int) -> int:
    """The character in a cell; behind the line its length."""
    if is_plain(line):
        return min(max(cell, 0), len(line))
    cells = split_cells(line, tab)
    return cells.columns[max(bisect_right(cells.offsets, cell) - 1, 0)]


def get_column_before(line: str, column: int, tab: int) -> int:
    """The column one step to the left; characters that look like one are one step."""
    if column <= 0 or is_plain(line):
        return max(column - 1, 0)
    columns = split_cells(line, tab).columns
    return columns[max(bisect_right(columns, column - 1) - 1, 0)]


def get_column_after(line: str, column: int, tab: int) -> int:
    """The column one step to the right."""
    if column >= len(line) or is_plain(line):
        return min(column + 1, len(line))
    columns = split_cells(line, tab).columns
    return columns[bisect_right(columns, column)]


def draw_columns(line: str, start: int, end: int, tab: int) -> str:
    """The drawn text of the characters from one column to another."""
    if is_plain(line):
        return line[start:end]
    cells = split_cells(line, tab)
    first = max(bisect_right(cells.columns, start) - 1, 0)
    last = bisect_right(cells.columns, end - 1) if end > start else first
    return "".join(cells.texts[first:last])


def find_hidden(line: str, start: int, end: int, tab: int) -> list[tuple[int, int]]:
    """The columns of hidden characters from one column to another, each with the one behind it."""
    if is_plain(line):
        return []
    cells = split_cells(line, tab)
    first, last = max(bisect_right(cells.columns, start) - 1, 0), bisect_left(cells.columns, end)
    return [(cells.columns[each], cells.columns[each + 1]) for each in range(first, last) if each in cells.hidden]


def find_breaks(line: str, width: int, tab: int) -> tuple[int, ...]:
    """The columns at which a line continues in another row.

    Words stay whole where they fit, with the spaces behind them, of which the last may stand one cell beyond the width:
    there is room for a cursor. A longer word is broken anywhere.

    Args:
        line: Without its end.
        width: Cells of a row; 0 for no end.
        tab: Cells from one tab stop to the next.
    """
    if not width or (len(line) <= width and is_plain(line)):
        return ()
    if is_plain(line):
        return _find_plain_breaks(line, width)
    cells = split_cells(line, tab)
    if cells.offsets[-1] <= width:
        return ()
    found: list[int] = []
    row = 0  # the cell at which the row begins
    spans = ((0, len(line)),) if len(line) > LONG else (match.span() for match in _CHUNK.finditer(line))
    for start, end in spans:
        first, last = column_to_cell(line, start, tab), column_to_cell(line, end, tab)
        room = width + (line[end - 1] == " ")
        if last - row <= room:
            continue
        if first > row:
            found.append(start)
            row = first
        while last - row > room:
            piece = max(bisect_right(cells.offsets, row + width) - 1, bisect_right(cells.offsets, row))
            if cells.columns[piece] >= len(line):
                break
            found.append(cells.columns[piece])
            row = cells.offsets[piece]
    return tuple(dict.fromkeys(found))


def _find_plain_breaks(line: str, width: int) -> tuple[int, ...]:
    if len(line) > LONG:
        return tuple(range(width, len(line), width))
    found: list[int] = []
    row = 0
    length = len(line)
    while length - row > width + (line[-1] == " "):
        # Behind the last space in reach; where there is none, in the middle of the word.
        space = line.rfind(" ", row, row + width + 1)
        row = space + 1 if space >= 0 else row + width
        found.append(row)
    return tuple(found)


class WrappedRows(WrappedDocument):
    """The line of each row, and its first column.

    Args:
        document: The lines.
        tab_width: Cells from one tab stop to the next.
    """

    document: TextDocument

    def __init__(self, document: TextDocument, *, tab_width: int) -> None:
        self._breaks: list[tuple[int, ...]] = []
        self._widths: list[int] = []
        self._heights: list[int] = []
        self._tops: list[int] | None = None
        super().__init__(document, 0, tab_width)

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        """Wrap all lines to a width in cells (0: a row a line), and with other tab stops if they change too."""
        self._width = width
        self._tab_width = tab_width or self._tab_width
        self._breaks, self._widths = self._wrap_lines(self.document.lines)
        self._heights = _count_rows(self._breaks)
        self._tops = None

    def _wrap_lines(self, lines: list[str]) -> tuple[list[tuple[int, ...]], list[int]]:
        width, tab = self._width, self._tab_width
        if width:
            return [() if len(line) < 1 else find_breaks(line, width, tab) for line in lines], []
        return [()] * len(lines), [measure_width(line, tab) for line in lines]

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        """Wrap the lines of an edit again: from its start to the end of the replaced and of the new text."""
        top, old_bottom = sorted((start[0], old_end[0]))
        bottom = max(top, new_end[0])
        breaks, widths = self._wrap_lines(self.document.lines[top : bottom + 1])
        known, heights = self._heights[top : old_bottom + 1], _count_rows(breaks)
        self._breaks[top : old_bottom + 1] = breaks
        if not self._width:
            self._widths[top : old_bottom + 1] = widths
        if known != heights:
            self._heights[top : old_bottom + 1] = heights
            self._tops = None

    @property
    def tops(self) -> list[int]:
        """The first row of each line, and the number of all rows."""
        if self._tops is None:
            self._tops = list(accumulate(self._heights, initial=0))
        return self._tops

    @property
    def height(self) -> int:
        return self.tops[-1]

    @property
    def widest(self) -> int:
        """Cells of the widest line, where each line is one row."""
        return max(self._widths, default=0)

    @property
    def wrapped(self) -> bool:
        """Whether any line needs more than one row."""
        return self.height > len(self._breaks)

    def get_row(self, y: int) -> tuple[int, int, int, int] | None:
        """A row: its line, its number within the line, its first column, and the one behind its last."""
        if not 0 <= y < self.height:
            return None
        index = bisect_right(self.tops, y) - 1
        section = y - self.tops[index]
        return index, section, *self._get_span(index, section)

    def _get_span(self, index: int, section: int) -> tuple[int, int]:
        breaks = self._breaks[index]
        start = breaks[section - 1] if section else 0
        end = breaks[section] if section < len(breaks) else len(self.document.lines[index])
        return start, end

    def get_offsets(self, line_index: int) -> list[int]:
        """The columns at which a line continues in another row."""
        return list(self._breaks[line_index])

    def get_sections(self, line_index: int) -> list[str]:
        """The text of each row of a line."""
        line = self.document.lines[line_index]
        bounds = (0, *self._breaks[line_index], len(line))
        return [line[start:end] for start, end in pairwise(bounds)]

    def location_to_offset(self, location: Location) -> Offset:
        """The cell and the row of a location."""
        index, column = self.document.clamp(location)
        section = bisect_right(self._breaks[index], column)
        line, (start, _) = self.document.lines[index], self._get_span(index, section)
        x = column_to_cell(line, column, self._tab_width) - column_to_cell(line, start, self._tab_width)
        return Offset(x, self.tops[index] + section)

    def offset_to_location(self, offset: Offset) -> Location:
        """The nearest location to a cell of a row."""
        x, y = offset
        index, section, _, _ = self.get_row(min(max(y, 0), self.height - 1)) or (0, 0, 0, 0)
        return index, self.get_target_document_column(index, x, section)

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        """The column in a cell of a line's row, which is counted from the last one if negative."""
        line, rows = self.document.lines[line_index], len(self._breaks[line_index]) + 1
        section = y_offset % rows
        start, end = self._get_span(line_index, section)
        tab = self._tab_width
        column = cell_to_column(line, column_to_cell(line, start, tab) + max(x_offset, 0), tab)
        # Behind a row's last character is the start of the next row; behind the line's last the cursor can stand.
        last = end if section == rows - 1 else get_column_before(line, end, tab)
        return min(max(column, start), last)


def _count_rows(breaks: Sequence[Sequence[int]]) -> list[int]:
    """The rows of each line."""
    return [len(each) + 1 for each in breaks]


class CursorNavigator(DocumentNavigator):
    """The moves of the cursor, by visible characters and wrapped rows."""

    def __init__(self, rows: WrappedRows) -> None:
        super().__init__(rows)
        self._rows = rows

    @property
    def _tab_size(self) -> int:
        return self._rows._tab_width

    def get_location_left(self, location: Location) -> Location:
        row, column = location
        if column > 0:
            return row, get_column_before(self._rows.document[row], column, self._tab_size)
        return (row - 1, len(self._rows.document[row - 1])) if row > 0 else (0, 0)

    def get_location_right(self, location: Location) -> Location:
        row, column = location
        line = self._rows.document[row]
        if column < len(line):
            return row, get_column_after(line, column, self._tab_size)
        return (row + 1, 0) if row + 1 < self._rows.document.line_count else location

    def get_location_above(self, location: Location) -> Location:
        x, y = self._rows.location_to_offset(location)
        return self._rows.offset_to_location(Offset(max(x, self.last_x_offset), y - 1)) if y > 0 else (0, 0)

    def get_location_below(self, location: Location) -> Location:
        x, y = self._rows.location_to_offset(location)
        if y + 1 >= self._rows.height:
            return self._rows.document.end
        return self._rows.offset_to_location(Offset(max(x, self.last_x_offset), y + 1))

    def get_location_end(self, location: Location) -> Location:
        """The end of the row."""
        _, y = self._rows.location_to_offset(location)
        index, section, _, end = self._rows.get_row(y) or (location[0], 0, 0, location[1])
        line = self._rows.document[index]
        is_last = section == len(self._rows.get_offsets(index))
        return index, end if is_last else get_column_before(line, end, self._tab_size)
