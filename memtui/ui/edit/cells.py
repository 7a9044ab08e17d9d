"""How a line looks while it is edited: which cells show which of its characters.

A control, bidirectional or zero-width character is written out as an escape, yet it stays one character: the cursor
stands before or behind it, and what is saved is what was there. So columns (characters) and cells (on screen) are two
measures, and this is where one becomes the other. Nothing else counts cells.

Most lines are plain: each character fills one cell, and nothing needs to be computed at all.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len, get_character_cell_size

from memtui.core.visible import HIDDEN, escape

_PLAIN = re.compile("[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u0384-\u0482\u048a-\u052f\u2010-\u2027]*")
"""Characters that fill one cell each, whatever stands beside them."""
_CHUNK = re.compile(r"[^ \t]+[ \t]*|[ \t]+")
LONG = 20_000
"""Characters from which a line is not broken at words any more, but wherever the row ends; and of which little is
remembered."""
_FEW = 4
"""Long lines of which is remembered how they look."""
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Cells:
    """A line that is not plain, as pieces that cannot be divided: the cursor stands between them.

    Attributes:
        columns: The character at which each piece begins, and behind the last one the length of the line.
        offsets: The cell at which each piece begins, and behind the last one the width of the line.
        texts: What is drawn for each.
        hidden: The numbers of the pieces that stand for what could not be seen.
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


def cells_of(line: str, tab: int) -> Cells:
    """The pieces of a line that is not plain.

    Args:
        line: Without its end.
        tab: Cells from one tab stop to the next.
    """
    return _cells_of_short(line, tab) if len(line) < LONG else _cells_of_long(line, tab)


def _cells_of(line: str, tab: int) -> Cells:
    escapes = {match.start(): escape(match.group()) for match in HIDDEN.finditer(line)}
    for column in _joiners_of_nothing(line, escapes):
        escapes[column] = escape(_JOINER)
    columns: list[int] = []
    texts: list[str] = []
    widths: list[int] = []
    hidden: set[int] = set()
    at = 0
    is_joined = False
    for column, character in enumerate(line):
        if character == "\t":
            text, width = " " * (tab - at % tab), tab - at % tab
        elif column in escapes:
            text = escapes[column]
            width = len(text)
            hidden.add(len(columns))
        else:
            text, width = character, get_character_cell_size(character)
            if (is_joined or width == 0) and columns and len(columns) - 1 not in hidden and texts[-1] != " ":
                # It belongs to the character before it: the two are one for the eye, and for the cursor.
                is_joined = character == _JOINER
                texts[-1] += text
                at -= widths[-1]
                widths[-1] = cell_len(texts[-1])
                at += widths[-1]
                continue
            if width == 0:  # nothing is there that it could belong to
                text = escape(character)
                width = len(text)
                hidden.add(len(columns))
        is_joined = False
        columns.append(column)
        texts.append(text)
        widths.append(width)
        at += width
    columns.append(len(line))
    offsets = [0]
    for width in widths:
        offsets.append(offsets[-1] + width)
    return Cells(columns, offsets, texts, frozenset(hidden))


_cells_of_short = lru_cache(maxsize=2_048)(_cells_of)
_cells_of_long = lru_cache(maxsize=_FEW)(_cells_of)


def _joiners_of_nothing(line: str, escapes: Collection[int]) -> Iterator[int]:
    """Where a joiner stands with nothing behind it that it could join: it would take a cell from what follows."""
    column = line.rfind(_JOINER)
    while column >= 0:  # from the end: what joins one of these joins nothing either
        if column + 1 in escapes or line[column + 1 : column + 2] in ("", "\t", " "):
            yield column
        column = line.rfind(_JOINER, 0, column)


def width_of(line: str, tab: int) -> int:
    """Cells that a line fills."""
    return len(line) if is_plain(line) else cells_of(line, tab).offsets[-1]


def cell_at(line: str, column: int, tab: int) -> int:
    """The cell at which a character begins."""
    if is_plain(line):
        return min(column, len(line))
    cells = cells_of(line, tab)
    return cells.offsets[max(bisect_right(cells.columns, column) - 1, 0)]


def column_at(line: str, cell: int, tab: int) -> int:
    """The character that a cell shows; behind the line its length."""
    if is_plain(line):
        return min(max(cell, 0), len(line))
    cells = cells_of(line, tab)
    return cells.columns[max(bisect_right(cells.offsets, cell) - 1, 0)]


def before(line: str, column: int, tab: int) -> int:
    """The column one step to the left: what is one for the eye is one step."""
    if column <= 0 or is_plain(line):
        return max(column - 1, 0)
    columns = cells_of(line, tab).columns
    return columns[max(bisect_right(columns, column - 1) - 1, 0)]


def behind(line: str, column: int, tab: int) -> int:
    """The column one step to the right."""
    if column >= len(line) or is_plain(line):
        return min(column + 1, len(line))
    columns = cells_of(line, tab).columns
    return columns[bisect_right(columns, column)]


def drawn(line: str, start: int, end: int, tab: int) -> str:
    """What is drawn for the characters from one column to another."""
    if is_plain(line):
        return line[start:end]
    cells = cells_of(line, tab)
    first = max(bisect_right(cells.columns, start) - 1, 0)
    last = bisect_right(cells.columns, end - 1) if end > start else first
    return "".join(cells.texts[first:last])


def hidden_in(line: str, tab: int) -> list[tuple[int, int]]:
    """Where the characters stand that are shown as escapes: columns, each with the one behind it."""
    if is_plain(line):
        return []
    cells = cells_of(line, tab)
    return [(cells.columns[each], cells.columns[each + 1]) for each in sorted(cells.hidden)]


def breaks_of(line: str, width: int, tab: int) -> tuple[int, ...]:
    """The columns at which a line goes on in another row.

    Words stay whole where they fit, with the spaces behind them, of which the last may stand one cell beyond the
    width: there is room for a cursor. A longer word is broken anywhere.

    Args:
        line: Without its end.
        width: Cells of a row; 0 for no end.
        tab: Cells from one tab stop to the next.
    """
    if not width or (len(line) <= width and is_plain(line)):
        return ()
    if is_plain(line):
        return _plain_breaks(line, width)
    cells = cells_of(line, tab)
    if cells.offsets[-1] <= width:
        return ()
    found: list[int] = []
    row = 0  # the cell at which the row begins
    spans = ((0, len(line)),) if len(line) > LONG else (match.span() for match in _CHUNK.finditer(line))
    for start, end in spans:
        first, last = cell_at(line, start, tab), cell_at(line, end, tab)
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


def _plain_breaks(line: str, width: int) -> tuple[int, ...]:
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
