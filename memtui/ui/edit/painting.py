"""One row of the text that is being edited, as it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from memtui.ui.edit.cells import behind, cell_at, column_at, drawn, hidden_in
from memtui.ui.edit.colours import Run


@dataclass(frozen=True, slots=True)
class Look:
    """The styles of one theme."""

    base: Style
    cursor: Style
    cursor_line: Style
    selection: Style
    bracket: Style
    gutter: Style
    cursor_gutter: Style
    hidden: Style
    match: Style
    current: Style
    roles: dict[str, Style]


class Found(NamedTuple):
    """A match in a line."""

    start: int
    end: int
    is_current: bool


class Painted(NamedTuple):
    """All that a row is drawn from: two that are equal look the same.

    Attributes:
        line: The whole line.
        start: The first column in the row.
        end: The one behind its last.
        number: What the gutter says; `None` for a row that goes on with a line.
        runs: The colours of the line.
        found: What was found in it.
        selected: The columns of the line that are selected.
        cursor: The column of the cursor, where it is in this row.
        bracket: The column of the other bracket of a pair.
        is_cursor_line: Whether the cursor is in this line.
        width: Cells of the row, without its gutter.
        gutter: Cells of the gutter; 0 for none.
        scrolled: Cells that are scrolled out at the left; `None` where lines are wrapped.
        tab: Cells from one tab stop to the next.
    """

    line: str
    start: int
    end: int
    number: int | None
    runs: Sequence[Run]
    found: tuple[Found, ...]
    selected: tuple[int, int] | None
    cursor: int | None
    bracket: int | None
    is_cursor_line: bool
    width: int
    gutter: int
    scrolled: int | None
    tab: int


def paint(row: Painted, look: Look) -> Strip:
    """Draw a row."""
    line, tab = row.line, row.tab
    start, end, skipped = row.start, row.end, 0
    if row.scrolled is not None:
        start = column_at(line, row.scrolled, tab)
        skipped = row.scrolled - cell_at(line, start, tab)
        end = min(column_at(line, row.scrolled + row.width + 1, tab) + 1, len(line))
    base = look.base + look.cursor_line if row.is_cursor_line else look.base
    layers = _layers(row, look, start, end)
    points = {start, end}
    for first, last, _ in layers:
        points.update(point for point in (first, last) if start < point < end)
    segments: list[Segment] = []
    for left, right in pairwise(sorted(points)):
        style = base
        for first, last, layer in layers:
            if first <= left and right <= last:
                style += layer
        segments.append(Segment(drawn(line, left, right, tab), style))
    if end == len(line):
        # A cell behind the line: for the cursor, and so that an empty line that is selected can be seen.
        style = base
        if row.selected is not None and row.selected[0] <= len(line) < row.selected[1]:
            style += look.selection
        if row.cursor == len(line):
            style += look.cursor
        segments.append(Segment(" ", style))
    strip = Strip(segments).crop(skipped, skipped + row.width).adjust_cell_length(row.width, base)
    if not row.gutter:
        return strip
    words = f"{'' if row.number is None else row.number:>{row.gutter - 2}}  "
    style = look.cursor_gutter if row.is_cursor_line else look.gutter
    return Strip.join([Strip([Segment(words, look.base + style)]), strip])


def _layers(row: Painted, look: Look, start: int, end: int) -> list[tuple[int, int, Style]]:
    """The styles of the row from one column to another, each over those before it."""
    layers = [(first, last, look.roles[role]) for first, last, role in row.runs if first < end and last > start]
    hidden = hidden_in(row.line, row.tab)
    layers += [(first, last, look.hidden) for first, last in hidden if first < end and last > start]
    if row.selected is not None:
        layers.append((*row.selected, look.selection))
    layers += [(each.start, each.end, look.current if each.is_current else look.match) for each in row.found]
    if row.bracket is not None:
        layers.append((row.bracket, row.bracket + 1, look.bracket))
    if row.cursor is not None:
        layers.append((row.cursor, behind(row.line, row.cursor, row.tab), look.cursor))
    return layers
