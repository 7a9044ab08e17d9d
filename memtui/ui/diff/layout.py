"""Which rows a diff has, in either arrangement, and where each is.

A diff of 100,000 lines is laid out as numbers: what a row looks like is found out when it is drawn.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, IntEnum
from itertools import accumulate
from typing import NamedTuple

from memtui.core.diffs import Difference, Hunk, Pair, changed_words
from memtui.ui.diff.lines import Run, both_sides

CONTEXT = 3
"""Equal lines that are shown around each change."""
_KEPT = 512
"""Lines whose changed words are remembered."""


class Arrangement(Enum):
    """How the two texts stand."""

    UNIFIED = "unified"
    SIDES = "side by side"


class What(IntEnum):
    """What an item is."""

    EQUAL = 0
    CHANGED = 1
    """A line that was removed, added, or both: opposite each other."""
    FOLD = 2
    """Equal lines that are not shown: `old` is the first of them, `new` the number of the fold."""
    UNFINISHED = 3
    """The line above it has no line feed; `old` or `new` is -1 where that does not hold for that side."""


class Item(NamedTuple):
    """One line, or a pair of lines, or a remark between them. May take several rows."""

    what: What
    old: int
    new: int
    hunk: int


class Row(NamedTuple):
    """One row of the screen."""

    item: Item
    inner: int
    """Which row of the item it is, from 0."""


class Fold(NamedTuple):
    """Equal lines that are not shown unless they are asked for."""

    old: int
    new: int
    size: int


class Comparison:
    """Two texts compared, with all that is worked out before there is a screen to draw it on: make it in a thread.

    Args:
        difference: What differs.
    """

    def __init__(self, difference: Difference) -> None:
        self.difference = difference
        sides = difference.sides()
        self.old, self.new = both_sides(difference, sides)
        self.sides = [(_numbers(old for old, _ in side), _numbers(new for _, new in side)) for side in sides]
        """Of each hunk, the old and the new line of each pair; -1 for none."""
        self.folds = list(_folds(difference))
        self._opposite = _opposites(sides)
        self._words: dict[tuple[int, int], tuple[list[Run], list[Run]]] = {}
        self._plain: dict[tuple[int, int], tuple[list[Run], list[Run]]] = {}

    @property
    def both_unfinished(self) -> bool:
        """Whether neither text ends in a line feed, so that this is no difference."""
        return self.old.is_unfinished and self.new.is_unfinished

    def runs(self, item: Item, *, words: bool) -> tuple[list[Run], list[Run]]:
        """The styled parts of an item's old and new line.

        Args:
            item: With the numbers of its lines.
            words: Whether changed words are marked.
        """
        old, new = item.old, item.new
        if words and item.what is What.CHANGED:
            old = self._opposite[1].get(new, -1) if old < 0 else old
            new = self._opposite[0].get(old, -1) if new < 0 else new
        kept = self._words if words else self._plain
        found = kept.get((old, new))
        if found is None:
            marks: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]] = ((), ())
            if words and item.what is What.CHANGED and old >= 0 and new >= 0:
                marks = changed_words(self.old.raw[old], self.new.raw[new])
            found = (
                self.old.runs(old, marks[0]) if old >= 0 else [],
                self.new.runs(new, marks[1]) if new >= 0 else [],
            )
            if len(kept) >= _KEPT:
                kept.clear()
            kept[old, new] = found
        return found


def _numbers(lines: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(-1 if line is None else line for line in lines)


def _opposites(sides: Sequence[Sequence[Pair]]) -> tuple[dict[int, int], dict[int, int]]:
    """Which new line an old one stands opposite of, and the other way round."""
    pairs = [(old, new) for side in sides for old, new in side if old is not None and new is not None]
    return dict(pairs), {new: old for old, new in pairs}


def _folds(difference: Difference) -> Iterator[Fold]:
    """Runs of equal lines that are longer than what is shown of them."""
    old = new = 0
    last = (len(difference.old), len(difference.old), len(difference.new), len(difference.new))
    for old_start, old_end, new_start, new_end in (*difference.hunks, last):
        before = CONTEXT if old or new else 0
        after = CONTEXT if old_start < len(difference.old) or old_start < old_end or new_start < new_end else 0
        size = old_start - old - before - after
        if size > 1:
            yield Fold(old + before, new + before, size)
        old, new = old_end, new_end


class Layout:
    """The rows of a comparison for one width.

    Args:
        comparison: What is laid out.
        arrangement: One text under the other, or side by side.
        widths: Cells for the old and for the new text.
        open_folds: Numbers of the folds whose lines are shown.
    """

    def __init__(
        self, comparison: Comparison, arrangement: Arrangement, widths: tuple[int, int], open_folds: frozenset[int]
    ) -> None:
        self.comparison = comparison
        self.arrangement = arrangement
        self.widths = widths
        self.open_folds = open_folds
        self._whats = bytearray()  # an item is four numbers: a hundred thousand objects would take their time
        self._olds, self._news, self._numbers = array("i"), array("i"), array("i")
        self._hunks: list[tuple[int, int]] = []
        """Of each hunk, its first item and the one behind its last."""
        self._fill()
        self._tops = self._measure()

    def _fill(self) -> None:
        comparison = self.comparison
        count = len(comparison.difference.old)
        folds = {fold.old: number for number, fold in enumerate(comparison.folds)}
        old = new = 0
        for number, hunk in enumerate(comparison.difference.hunks):
            self._add_equal(old, hunk.old_start, new, folds)
            first = len(self._whats)
            if self.arrangement is Arrangement.SIDES:
                self._add_sides(number, hunk)
            else:
                self._add_changed(number, hunk)
            self._hunks.append((first, len(self._whats)))
            old, new = hunk.old_end, hunk.new_end
        self._add_equal(old, count, new, folds)

    def _add_equal(self, start: int, end: int, new: int, folds: dict[int, int]) -> None:
        shift = new - start
        fold = None
        if end - start > CONTEXT + 1:
            fold = next((folds[line] for line in range(start, min(start + CONTEXT + 1, end)) if line in folds), None)
        if fold is not None and fold not in self.open_folds:
            first, _, size = self.comparison.folds[fold]
            self._add(What.EQUAL, range(start, first), range(start + shift, first + shift), -1)
            self._add(What.FOLD, (first,), (fold,), -1)
            start = first + size
        self._add(What.EQUAL, range(start, end), range(start + shift, end + shift), -1)

    def _add(self, what: What, old: Sequence[int], new: Sequence[int], hunk: int) -> None:
        self._whats += bytes((what,)) * len(old)
        self._olds.extend(old)
        self._news.extend(new)
        self._numbers.extend((hunk,) * len(old))

    def _add_changed(self, number: int, hunk: Hunk) -> None:
        old_start, old_end, new_start, new_end = hunk
        if old_start < old_end:
            self._add(What.CHANGED, range(old_start, old_end), (-1,) * (old_end - old_start), number)
            self._add_unfinished(number, old_end - 1, -1)
        if new_start < new_end:
            self._add(What.CHANGED, (-1,) * (new_end - new_start), range(new_start, new_end), number)
            self._add_unfinished(number, -1, new_end - 1)

    def _add_sides(self, number: int, hunk: Hunk) -> None:
        self._add(What.CHANGED, *self.comparison.sides[number], number)
        old_start, old_end, new_start, new_end = hunk
        old_last = old_end - 1 if old_start < old_end else -1
        self._add_unfinished(number, old_last, new_end - 1 if new_start < new_end else -1)

    def _add_unfinished(self, hunk: int, old: int, new: int) -> None:
        """Say that a text has no last line feed, where that is a difference."""
        comparison = self.comparison
        if comparison.both_unfinished:
            return
        old = old if comparison.old.is_unfinished and old == len(comparison.old) - 1 else -1
        new = new if comparison.new.is_unfinished and new == len(comparison.new) - 1 else -1
        if old >= 0 or new >= 0:
            self._add(What.UNFINISHED, (old,), (new,), hunk)

    def _measure(self) -> Sequence[int]:
        """At which row each item begins, and the number of rows at the end."""
        old, new = self.comparison.old, self.comparison.new
        old_width, new_width = self.widths
        if old.widest <= old_width and new.widest <= new_width:
            return range(len(self._whats) + 1)
        heights = (
            1
            if what > What.CHANGED
            else max(
                1 if old_line < 0 or old.cells[old_line] <= old_width else len(old.starts(old_line, old_width)),
                1 if new_line < 0 or new.cells[new_line] <= new_width else len(new.starts(new_line, new_width)),
            )
            for what, old_line, new_line in zip(self._whats, self._olds, self._news, strict=True)
        )
        return list(accumulate(heights, initial=0))

    @property
    def height(self) -> int:
        """How many rows there are."""
        return self._tops[-1]

    def row(self, y: int) -> Row | None:
        """What stands in a row; `None` below the last one."""
        if not 0 <= y < self.height:
            return None
        index = bisect_right(self._tops, y) - 1
        item = Item(What(self._whats[index]), self._olds[index], self._news[index], self._numbers[index])
        return Row(item, y - self._tops[index])

    def rows_of_hunk(self, number: int) -> tuple[int, int]:
        """The first row of a hunk, and the one behind its last."""
        first, last = self._hunks[number]
        return self._tops[first], self._tops[last]

    def hunks_in(self, top: int, bottom: int) -> range:
        """The numbers of the hunks of which some row is between two."""
        first = bisect_right(self._hunks, top, key=lambda hunk: self._tops[hunk[1]])
        last = bisect_left(self._hunks, bottom, key=lambda hunk: self._tops[hunk[0]])
        return range(first, max(first, last))

    def place_of(self, item: Item) -> int:
        """The row at which stands what an item of another layout of the same comparison shows, or what follows it."""
        at = bisect_left(range(len(self._whats)), self._order(item.old, item.hunk), key=self._order_at)
        return self._tops[at]

    def _order_at(self, index: int) -> int:
        return self._order(self._olds[index], self._numbers[index])

    def _order(self, old: int, hunk: int) -> int:
        """A number that never gets smaller from one item to the next, and is the same in every layout."""
        return 2 * self.comparison.difference.hunks[hunk].old_start - 1 if hunk >= 0 else 2 * old
