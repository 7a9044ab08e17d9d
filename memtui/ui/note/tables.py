"""Lay out a table in the width that there is.

Cells keep their words whole while the columns fit; wide tables wrap inside their cells; where there are
more columns than fit at all, each row becomes a list of `column value` lines, so that no cell is ever out
of sight.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from memtui.ui.note.lines import Row, Span, indent, merge, prose, width_of, wrap

SEPARATOR = " │ "
NARROWEST = 8
"""Cells below which a column that must wrap is not worth reading."""

Cell = list[Span]


@dataclass(frozen=True, slots=True)
class Columns:
    """How a table is laid out, alike in all its pieces."""

    widths: tuple[int, ...]
    """Cells of each column; empty when rows are shown as lists."""
    aligns: tuple[str, ...]
    """`left`, `right` or `center` for each column."""
    width: int
    """Cells of the whole table, at most."""


def fit_columns(natural: Sequence[int], words: Sequence[int], width: int, aligns: Sequence[str]) -> Columns:
    """Share the width among the columns: narrow ones keep what they need, wide ones share the rest.

    Args:
        natural: Cells that each column needs to stand on one row.
        words: Cells of the longest word of each column.
        width: Cells for the whole table.
        aligns: How each column is aligned.
    """
    room = width - len(SEPARATOR) * (len(natural) - 1)
    widths = [max(1, size) for size in natural]
    if sum(widths) <= room:
        return Columns(tuple(widths), tuple(aligns), width)
    least = [min(size, max(NARROWEST, min(word, 16))) for size, word in zip(widths, words, strict=True)]
    if sum(least) > room:
        least = [min(size, NARROWEST) for size in widths]
        if sum(least) > room:
            return Columns((), tuple(aligns), width)
    spare = room - sum(least)
    given = list(least)
    open_columns = [index for index, size in enumerate(widths) if size > given[index]]
    while spare > 0 and open_columns:
        share = max(1, spare // len(open_columns))
        for index in open_columns:
            more = min(share, widths[index] - given[index], spare)
            given[index] += more
            spare -= more
        open_columns = [index for index in open_columns if widths[index] > given[index]]
    return Columns(tuple(given), tuple(aligns), width)


def header_rows(cells: Sequence[Cell], columns: Columns, line: int) -> list[Row]:
    """The header and the rule under it; nothing for a table shown as lists."""
    if not columns.widths:
        return []
    rule = "─┼─".join("─" * width for width in columns.widths)
    return [*body_rows(cells, columns, line, cells), Row((Span(rule, "rule", line),), line, line + 1)]


def body_rows(cells: Sequence[Cell], columns: Columns, line: int, names: Sequence[Cell]) -> list[Row]:
    """One row of the table, as many rows of the screen as its tallest cell needs.

    Args:
        cells: The cells, as many as there are columns.
        columns: The layout.
        line: Source line.
        names: The cells of the header, for a row shown as a list.
    """
    if not columns.widths:
        return _as_list(cells, columns.width, line, names)
    wrapped = [wrap(cell, width) for cell, width in zip(cells, columns.widths, strict=True)]
    rows = []
    for index in range(max(map(len, wrapped))):
        spans: list[Span] = []
        for column, (parts, width, align) in enumerate(zip(wrapped, columns.widths, columns.aligns, strict=True)):
            if column:
                spans.append(Span(SEPARATOR, "rule", line))
            spans += _pad(parts[index] if index < len(parts) else [], width, align, line)
        rows.append(Row(merge(spans), line, line))
    return rows


def _as_list(cells: Sequence[Cell], width: int, line: int, names: Sequence[Cell]) -> list[Row]:
    rows: list[Row] = []
    left = min(20, max(map(width_of, names), default=0)) + 2
    for index, (name, cell) in enumerate(zip(names, cells, strict=True)):
        head = Span("- " if not index else "  ", "marker", line)
        gap = Span(":" + " " * max(1, left - width_of(name) - 1), "", line)
        if width_of(name) + 1 >= left or width < 2 * left:  # a long name stands before its text as words do
            spans = [*name, Span(": ", "", line), *cell]
            for number, part in enumerate(prose(spans, width - 2, line)):
                rows.append(indent(part, [Span("  ", "indent", line) if number else head]))
            continue
        for number, part in enumerate(prose(cell, width - 2 - left, line)):
            before = [Span(" " * (left + 2), "indent", line)] if number else [head, *name, gap]
            rows.append(indent(part, before))
    return rows


def _pad(cell: Cell, width: int, align: str, line: int) -> Cell:
    cell = list(cell)
    while cell and cell[-1].text.endswith(" "):
        last = cell.pop()
        if last.text.strip(" "):
            cell.append(last._replace(text=last.text.rstrip(" ")))
    free = max(0, width - width_of(cell))
    left = free if align == "right" else free // 2 if align == "center" else 0
    before = [Span(" " * left, "", line)] if left else []
    after = [Span(" " * (free - left), "", line)] if free > left else []
    return [*before, *cell, *after]


def longest_word(text: str) -> int:
    """Cells of the longest word of the text."""
    return max(map(cell_len, text.split()), default=0)
