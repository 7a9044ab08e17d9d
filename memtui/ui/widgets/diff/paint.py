"""The drawing of the rows of a diff, in either arrangement."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from memtui.ui.theme import truncate
from memtui.ui.widgets.diff.layout import (
    DiffArrangement,
    DiffComparison,
    DiffItem,
    DiffLineKind,
    DiffRow,
    RenderedSide,
    StyledRun,
    measure_hanging_indent,
    split_runs,
)

_UNFINISHED = "no newline at the end"


class DiffPainter:
    """Draws the rows of a comparison.

    Args:
        comparison: The texts.
        arrangement: One text under the other, or side by side.
        width: Cells of a row.
        resolve: The style of a role; `divider` is that of the line between both sides.
    """

    def __init__(
        self, comparison: DiffComparison, arrangement: DiffArrangement, width: int, resolve: Callable[[str], Style]
    ) -> None:
        self._comparison = comparison
        self.arrangement = arrangement
        self.width = width
        self._resolve = resolve
        self.marks_words = True
        """Whether the changed words of a changed line are marked."""
        self._digits = max(2, len(str(max(len(comparison.old), len(comparison.new)))))
        self.left = (width - 1) // 2
        """Cells of the left side; the divider follows."""
        self._right = width - 1 - self.left
        self.widths = (max(8, width - 3),) * 2
        """Cells for the old and for the new text."""
        if arrangement is DiffArrangement.SIDES:
            gutter = self._digits + 4
            self.widths = (max(4, self.left - gutter), max(4, self._right - gutter))

    def draw(self, row: DiffRow | None, *, is_current: bool) -> Strip:
        """A row; `None` is below the last one."""
        sides = self.arrangement is DiffArrangement.SIDES
        if row is None:
            return Strip([Segment(" " * self.left, self._resolve("")), self._draw_divider()] if sides else [])
        bar = Segment("┃" if is_current else " ", self._resolve("current"))
        if row.item.kind is DiffLineKind.FOLD:
            return Strip([bar, *self._draw_fold(row.item)])
        return Strip([bar, *(self._draw_sides(row) if sides else self._draw_unified(row))])

    def _draw_divider(self) -> Segment:
        return Segment("│", self._resolve("divider"))

    def _draw_fold(self, item: DiffItem) -> list[Segment]:
        words = f"... {self._comparison.folds[item.new].size:,} unchanged lines"
        if self.arrangement is DiffArrangement.UNIFIED:
            return [Segment(f"  {words} (x: expand)", self._resolve("fold"))]
        gutter = " " * (self._digits + 3)
        return [
            self._draw_fitted(f"{gutter}{words} (x: expand)", self.left - 1, "fold"),
            self._draw_divider(),
            Segment(f" {gutter}{words}", self._resolve("fold")),
        ]

    def _draw_fitted(self, text: str, width: int, role: str) -> Segment:
        text = truncate(text, width)
        return Segment(text + " " * (width - cell_len(text)), self._resolve(role))

    def _draw_unified(self, row: DiffRow) -> list[Segment]:
        item, comparison = row.item, self._comparison
        if item.kind is DiffLineKind.UNFINISHED:
            return [Segment(f"  {_UNFINISHED}", self._resolve("remark"))]
        old_runs, new_runs = comparison.get_runs(item, words=self.marks_words)
        width = self.widths[0]
        if item.kind is DiffLineKind.CHANGED and item.new < 0:
            return self._draw_line(comparison.old, item.old, old_runs, row.inner, width, "-")
        sign = "+" if item.kind is DiffLineKind.CHANGED else " "
        return self._draw_line(comparison.new, item.new, new_runs, row.inner, width, sign)

    def _draw_sides(self, row: DiffRow) -> list[Segment]:
        item, comparison = row.item, self._comparison
        left, right = self.left - 1, self._right
        if item.kind is DiffLineKind.UNFINISHED:
            gutter = " " * (self._digits + 3)
            old = f"{gutter}{_UNFINISHED}" if item.old >= 0 else ""
            new = f" {gutter}{_UNFINISHED}" if item.new >= 0 else ""
            return [
                self._draw_fitted(old, left, "remark"),
                self._draw_divider(),
                self._draw_fitted(new, right, "remark"),
            ]
        old_runs, new_runs = comparison.get_runs(item, words=self.marks_words)
        minus, plus = "-+" if item.kind is DiffLineKind.CHANGED else "  "
        return [
            *self._draw_half(comparison.old, item.old, old_runs, row.inner, self.widths[0], minus, left),
            self._draw_divider(),
            Segment(" ", self._resolve("" if item.new >= 0 else "nothing")),
            *self._draw_half(comparison.new, item.new, new_runs, row.inner, self.widths[1], plus, right - 1),
        ]

    def _draw_half(
        self, side: RenderedSide, number: int, runs: Sequence[StyledRun], inner: int, width: int, sign: str, cells: int
    ) -> list[Segment]:
        """One side of a row, filled up to so many cells."""
        if number < 0:
            return [Segment(" " * cells, self._resolve("nothing"))]
        gutter = Segment(f"{'' if inner else number + 1:>{self._digits}} ", self._resolve("number"))
        drawn = Strip([gutter, *self._draw_line(side, number, runs, inner, width, sign)])
        return list(drawn.adjust_cell_length(cells, self._resolve("")))

    def _draw_line(
        self, side: RenderedSide, number: int, runs: Sequence[StyledRun], inner: int, width: int, sign: str
    ) -> list[Segment]:
        """The sign and the text of one row of a line."""
        role = {"-": "removed", "+": "added"}.get(sign, "")
        starts = side.get_row_starts(number, width)
        if inner >= len(starts):
            return []
        text = side.shown[number]
        end = starts[inner + 1] if inner + 1 < len(starts) else len(text)
        before = "  " + " " * measure_hanging_indent(width) if inner else f"{sign} "
        segments = [Segment(before, self._resolve(role))]
        for piece, roles in split_runs(text, runs, starts[inner], end):
            segments.append(Segment(piece, self._resolve(f"{role} {roles.replace('word', f'{role}-word')}")))
        return segments
