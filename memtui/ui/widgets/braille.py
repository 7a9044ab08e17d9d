"""Dots in cells of Braille, two across and four down: lines and marks, each in a role."""

from collections.abc import Iterator
from itertools import groupby

_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of a dot by its row and column in its cell (Unicode 16, chapter 21.1)."""
_CHARACTERS = {dots: chr(0x2800 + dots) if dots else " " for dots in range(256)}


class BrailleCanvas:
    """A rectangle of cells, all empty at first.

    A cell has one role, a number: of what is drawn in it, the highest; 0 for nothing.

    Args:
        columns: Cells across.
        rows: Cells down.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self._dots = bytearray(columns * rows)
        self._roles = bytearray(columns * rows)

    def copy(self) -> "BrailleCanvas":
        """The same, to draw more on."""
        other = BrailleCanvas(0, 0)
        other.columns, other.rows = self.columns, self.rows
        other._dots, other._roles = self._dots[:], self._roles[:]
        return other

    def draw_dot(self, x: int, y: int, role: int) -> None:
        """A dot, counted from the upper left one; outside it is left out."""
        if 0 <= x < self.columns * 2 and 0 <= y < self.rows * 4:
            index = (y >> 2) * self.columns + (x >> 1)
            self._dots[index] |= _BITS[y & 3][x & 1]
            self._roles[index] = max(self._roles[index], role)

    def draw_line(self, x: int, y: int, to_x: int, to_y: int, role: int) -> None:
        """A straight line of dots; what is outside is left out."""
        steps = max(abs(to_x - x), abs(to_y - y), 1)
        across, down = (to_x - x) / steps, (to_y - y) / steps
        first, last = _clip(x, across, self.columns * 2, steps), _clip(y, down, self.rows * 4, steps)
        for step in range(max(first[0], last[0]), min(first[1], last[1]) + 1):
            self.draw_dot(round(x + across * step), round(y + down * step), role)

    def get_role(self, column: int, row: int) -> int:
        """The role of a cell."""
        return self._roles[row * self.columns + column]

    def iter_runs(self, row: int, first: int = 0, last: int | None = None) -> Iterator[tuple[str, int]]:
        """The cells of a row from one column to before another, as texts of one role each."""
        begin = row * self.columns + first
        end = row * self.columns + (self.columns if last is None else last)
        text = self._dots[begin:end].decode("latin-1").translate(_CHARACTERS)
        at = 0
        for role, cells in groupby(self._roles[begin:end]):
            length = sum(1 for _ in cells)
            yield text[at : at + length], role
            at += length


def _clip(start: int, step: float, size: int, steps: int) -> tuple[int, int]:
    """The first and the last step of a line at which it may be inside, in one direction; all for one that stands."""
    if not step:
        return (0, steps) if 0 <= start < size else (1, 0)
    bounds = sorted(((-1 - start) / step, (size - start) / step))
    return max(0, int(bounds[0])), min(steps, int(bounds[1]) + 1)
