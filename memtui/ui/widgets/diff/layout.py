"""The rows of a diff, in either arrangement, and the lines of its texts as they are shown.

A diff of 100,000 lines is laid out as numbers, and a row is rendered when it is drawn. A line of a megabyte costs as
much as the part of it that is on screen. No widget is loaded.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum, IntEnum
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

from rich.cells import cell_len, get_character_cell_size

from memtui.core.diffs import Hunk, LineEnding, Pair, Range, TextDiff, detect_line_ending, diff_words
from memtui.core.lazy_regex import compile_lazily
from memtui.core.unicode import HIDDEN, escape_character, visible
from memtui.ui.theme import TAB

LONG = 20_000
"""Characters of a line above which its parts have no styles."""
_BREAKS_CACHE_SIZE = 2_000
_SPECIAL = compile_lazily(f"\t|{HIDDEN.pattern}", re.DOTALL)
_TAB_MARKED = "»".ljust(len(TAB))
_NARROW = re.compile("[ -~\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027]*")
"""Characters that are one cell wide wherever they stand."""


class StyledRun(NamedTuple):
    """A part of a shown line in a style of its own."""

    start: int
    end: int
    role: str


class RenderedSide:
    """The lines of one of the two texts, as they are shown.

    Args:
        lines: Each with its line feed.
        loud: Numbers of the lines whose carriage return before the line feed is shown.
    """

    def __init__(self, lines: Sequence[str], loud: Collection[int | None] = ()) -> None:
        self.raw = [line.removesuffix("\n") for line in lines]
        if any(line.endswith("\r") for line in self.raw):
            self.raw = [
                line if number in loud or not lines[number].endswith("\r\n") else line[:-1]
                for number, line in enumerate(self.raw)
            ]
        self.is_unfinished = bool(lines) and not lines[-1].endswith("\n")
        text = "".join(self.raw)
        self._special = _SPECIAL.search(text) is not None
        self._ascii = text.isascii()
        self.shown: list[str] = [visible(line, tab=TAB) for line in self.raw] if self._special else self.raw
        self.cells = [len(line) for line in self.shown] if self._ascii else [cell_len(line) for line in self.shown]
        """The width of each line on screen, unbroken."""
        self.widest = max(self.cells, default=0)
        self._starts: dict[tuple[int, int], Sequence[int]] = {}

    def __len__(self) -> int:
        return len(self.raw)

    def get_row_starts(self, number: int, width: int) -> Sequence[int]:
        """Where the rows of a line (from 0) begin in a width, in characters of the shown text."""
        if self.cells[number] <= width:
            return (0,)
        found = self._starts.get((number, width))
        if found is None:
            if len(self._starts) >= _BREAKS_CACHE_SIZE:
                self._starts.clear()
            found = self._starts[number, width] = find_row_breaks(self.shown[number], width)
        return found

    def get_runs(self, number: int, changed: Iterable[Range]) -> list[StyledRun]:
        """The parts of a line (from 0) that have a style of their own, in order.

        Args:
            number: Of the line.
            changed: Changed ranges, in characters of the line itself.
        """
        raw = self.raw[number]
        if raw == self.shown[number]:
            return [StyledRun(start, end, "word") for start, end in changed]
        if len(raw) > LONG:
            return []
        positions, shifts, runs = [0], [0], list[StyledRun]()
        shift = 0
        for match in _SPECIAL.finditer(raw):
            at = match.start()
            if match.group() == "\t":
                length, role = len(TAB), "tab"
            else:
                length, role = len(escape_character(match.group())), "hidden"
                if match.group() == "\r" and match.end() == len(raw):
                    role = "return"
            runs.append(StyledRun(at + shift, at + shift + length, role))
            shift += length - 1
            positions.append(at + 1)
            shifts.append(shift)

        def place(position: int) -> int:
            return position + shifts[bisect_right(positions, position) - 1]

        return _merge_runs(runs, [StyledRun(place(start), place(end), "word") for start, end in changed])


def build_sides(difference: TextDiff, sides: Iterable[Iterable[Pair]]) -> tuple[RenderedSide, RenderedSide]:
    """Both texts as they are shown.

    Carriage returns at the ends of lines are shown only on changed lines, unless the line opposite has one too.

    Args:
        difference: The texts.
        sides: The changed lines, side by side.
    """
    old, new = difference.old, difference.new
    old_loud: set[int | None] = set()
    new_loud: set[int | None] = set()
    endings = {detect_line_ending(old), detect_line_ending(new)} - {LineEnding.NONE}
    for one, other in () if endings in (set(), {LineEnding.LF}, {LineEnding.CRLF}) else chain.from_iterable(sides):
        both = one is not None and other is not None and old[one].endswith("\r\n") and new[other].endswith("\r\n")
        if not both:
            old_loud.add(one)
            new_loud.add(other)
    return RenderedSide(old, old_loud), RenderedSide(new, new_loud)


def _merge_runs(below: Sequence[StyledRun], above: Sequence[StyledRun]) -> list[StyledRun]:
    """Runs of hidden characters and of changed words as runs that do not overlap."""
    edges = sorted({edge for run in (*below, *above) for edge in (run.start, run.end)})
    result: list[StyledRun] = []
    i = j = 0
    for start, end in pairwise(edges):
        while i < len(below) and below[i].end <= start:
            i += 1
        while j < len(above) and above[j].end <= start:
            j += 1
        roles = [runs[at].role for runs, at in ((below, i), (above, j)) if at < len(runs) and runs[at].start <= start]
        if roles and roles != ["tab"]:
            result.append(StyledRun(start, end, " ".join(roles)))
    return result


def split_runs(text: str, runs: Sequence[StyledRun], start: int, end: int) -> list[tuple[str, str]]:
    """The characters from `start` up to `end` of a shown line, as texts with their roles."""
    found: list[tuple[str, str]] = []
    at = start
    for run in runs[bisect_right(runs, start, key=lambda run: run.end) :]:
        if run.start >= end:
            break
        left, right = max(run.start, start), min(run.end, end)
        if left > at:
            found.append((text[at:left], ""))
        is_tab = run.role == "tab word"
        piece = _TAB_MARKED[left - run.start : right - run.start] if is_tab else text[left:right]
        found.append((piece, run.role.removeprefix("tab ")))
        at = right
    if at < end:
        found.append((text[at:end], ""))
    return found


def find_row_breaks(text: str, width: int) -> list[int]:
    """Where the rows of a text begin that is broken after spaces; a longer word is broken anywhere.

    Args:
        text: One line, made visible.
        width: Cells of the first row; the others have the hanging indent less.
    """
    width = max(width, 4)
    cells = None
    if _NARROW.fullmatch(text) is None:
        cells = list(accumulate(map(get_character_cell_size, text), initial=0))
    starts = [0]
    room, at = width, 0
    while True:
        stop = at + room
        if cells is not None:  # the last place up to which the characters fit, and at least one of them
            stop = max(bisect_right(cells, cells[at] + room) - 1, at + 1)
        if stop >= len(text):
            return starts
        space = text.rfind(" ", at + (stop - at) // 2, stop + 1)
        at = stop if space < 0 else space + 1
        if at >= len(text):
            return starts
        starts.append(at)
        room = width - measure_hanging_indent(width)


def measure_hanging_indent(width: int) -> int:
    """Cells by which the second and further rows of a broken line begin later."""
    return 2 if width >= 20 else 0


CONTEXT = 3
"""Equal lines that are shown around each change."""
_RUNS_CACHE_SIZE = 512


class DiffArrangement(Enum):
    """How the two texts stand."""

    UNIFIED = "unified"
    SIDES = "side by side"


class DiffLineKind(IntEnum):
    EQUAL = 0
    CHANGED = 1
    """A removed line, an added line, or both opposite each other."""
    FOLD = 2
    """Hidden equal lines: `old` is the first of them, `new` the number of the fold."""
    UNFINISHED = 3
    """The line above has no line feed; `old` or `new` is -1 where that does not hold for that side."""


class DiffItem(NamedTuple):
    """One line, or a pair of lines, or a remark between them. May take several rows."""

    kind: DiffLineKind
    old: int
    new: int
    hunk: int


class DiffRow(NamedTuple):
    """One row of the screen."""

    item: DiffItem
    inner: int
    """Which row of the item it is, from 0."""


class DiffFold(NamedTuple):
    """Equal lines that are hidden unless the fold is open."""

    old: int
    new: int
    size: int


class DiffComparison:
    """Two texts compared and prepared for a view. Large texts take time: make it in a thread."""

    def __init__(self, difference: TextDiff) -> None:
        self.difference = difference
        sides = difference.pair_lines()
        self.old, self.new = build_sides(difference, sides)
        self.sides = [
            ([-1 if old is None else old for old, _ in side], [-1 if new is None else new for _, new in side])
            for side in sides
        ]
        """Of each hunk, the old and the new lines of its pairs; -1 for none."""
        self.folds = list(_find_folds(difference))
        pairs = [(old, new) for side in sides for old, new in side if old is not None and new is not None]
        self._new_opposite, self._old_opposite = dict(pairs), {new: old for old, new in pairs}
        self._runs: dict[tuple[int, int, bool], tuple[list[StyledRun], list[StyledRun]]] = {}

    def get_runs(self, item: DiffItem, *, words: bool) -> tuple[list[StyledRun], list[StyledRun]]:
        """The styled parts of an item's old and new line, with the changed words if they are marked."""
        old, new = item.old, item.new
        if words and item.kind is DiffLineKind.CHANGED:
            old = self._old_opposite.get(new, -1) if old < 0 else old
            new = self._new_opposite.get(old, -1) if new < 0 else new
        found = self._runs.get((old, new, words))
        if found is None:
            marks: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]] = ((), ())
            if words and item.kind is DiffLineKind.CHANGED and old >= 0 and new >= 0:
                marks = diff_words(self.old.raw[old], self.new.raw[new])
            found = (
                self.old.get_runs(old, marks[0]) if old >= 0 else [],
                self.new.get_runs(new, marks[1]) if new >= 0 else [],
            )
            if len(self._runs) >= _RUNS_CACHE_SIZE:
                self._runs.clear()
            self._runs[old, new, words] = found
        return found


def _find_folds(difference: TextDiff) -> Iterator[DiffFold]:
    """Runs of equal lines that are longer than the context."""
    old = new = 0
    last = (len(difference.old), len(difference.old), len(difference.new), len(difference.new))
    for old_start, old_end, new_start, new_end in (*difference.hunks, last):
        before = CONTEXT if old or new else 0
        after = CONTEXT if old_start < len(difference.old) or old_start < old_end or new_start < new_end else 0
        size = old_start - old - before - after
        if size > 1:
            yield DiffFold(old + before, new + before, size)
        old, new = old_end, new_end


class DiffLayout:
    """The rows of a comparison in an arrangement.

    Args:
        comparison: The texts.
        arrangement: One text under the other, or side by side.
        widths: Cells for the old and for the new text.
        open_folds: Numbers of the open folds.
    """

    def __init__(
        self,
        comparison: DiffComparison,
        arrangement: DiffArrangement,
        widths: tuple[int, int],
        open_folds: frozenset[int],
    ) -> None:
        self.comparison = comparison
        self.arrangement = arrangement
        self.widths = widths
        self.open_folds = open_folds
        self._kinds = bytearray()  # an item is four numbers: a hundred thousand objects would take their time
        self._old_lines, self._new_lines, self._numbers = array("i"), array("i"), array("i")
        self._hunks: list[tuple[int, int]] = []
        """Of each hunk, its first item and the one behind its last."""
        self._add_items()
        self._tops = self._measure()

    def _add_items(self) -> None:
        comparison = self.comparison
        count = len(comparison.difference.old)
        folds = {fold.old: number for number, fold in enumerate(comparison.folds)}
        old = new = 0
        for number, hunk in enumerate(comparison.difference.hunks):
            self._add_equal(old, hunk.old_start, new, folds)
            first = len(self._kinds)
            if self.arrangement is DiffArrangement.SIDES:
                self._add_sides(number, hunk)
            else:
                self._add_changed(number, hunk)
            self._hunks.append((first, len(self._kinds)))
            old, new = hunk.old_end, hunk.new_end
        self._add_equal(old, count, new, folds)

    def _add_equal(self, start: int, end: int, new: int, folds: dict[int, int]) -> None:
        shift = new - start
        fold = None
        if end - start > CONTEXT + 1:
            fold = next((folds[line] for line in range(start, min(start + CONTEXT + 1, end)) if line in folds), None)
        if fold is not None and fold not in self.open_folds:
            first, _, size = self.comparison.folds[fold]
            self._add(DiffLineKind.EQUAL, range(start, first), range(start + shift, first + shift), -1)
            self._add(DiffLineKind.FOLD, (first,), (fold,), -1)
            start = first + size
        self._add(DiffLineKind.EQUAL, range(start, end), range(start + shift, end + shift), -1)

    def _add(self, kind: DiffLineKind, old: Sequence[int], new: Sequence[int], hunk: int) -> None:
        self._kinds += bytes((kind,)) * len(old)
        self._old_lines.extend(old)
        self._new_lines.extend(new)
        self._numbers.extend((hunk,) * len(old))

    def _add_changed(self, number: int, hunk: Hunk) -> None:
        old_start, old_end, new_start, new_end = hunk
        if old_start < old_end:
            self._add(DiffLineKind.CHANGED, range(old_start, old_end), (-1,) * (old_end - old_start), number)
            self._add_unfinished(number, old_end - 1, -1)
        if new_start < new_end:
            self._add(DiffLineKind.CHANGED, (-1,) * (new_end - new_start), range(new_start, new_end), number)
            self._add_unfinished(number, -1, new_end - 1)

    def _add_sides(self, number: int, hunk: Hunk) -> None:
        self._add(DiffLineKind.CHANGED, *self.comparison.sides[number], number)
        old_start, old_end, new_start, new_end = hunk
        self._add_unfinished(
            number, old_end - 1 if old_start < old_end else -1, new_end - 1 if new_start < new_end else -1
        )

    def _add_unfinished(self, hunk: int, old: int, new: int) -> None:
        """Say that a text has no last line feed, where that is a difference."""
        before, after = self.comparison.old, self.comparison.new
        old = old if before.is_unfinished and old == len(before) - 1 else -1
        new = new if after.is_unfinished and new == len(after) - 1 else -1
        if (old >= 0 or new >= 0) and not (before.is_unfinished and after.is_unfinished):
            self._add(DiffLineKind.UNFINISHED, (old,), (new,), hunk)

    def _measure(self) -> Sequence[int]:
        """At which row each item begins, and the number of rows at the end."""
        old, new = self.comparison.old, self.comparison.new
        old_width, new_width = self.widths
        if old.widest <= old_width and new.widest <= new_width:
            return range(len(self._kinds) + 1)

        def measure(side: RenderedSide, line: int, width: int) -> int:
            return 1 if line < 0 or side.cells[line] <= width else len(side.get_row_starts(line, width))

        heights = (
            1
            if kind > DiffLineKind.CHANGED
            else max(measure(old, old_line, old_width), measure(new, new_line, new_width))
            for kind, old_line, new_line in zip(self._kinds, self._old_lines, self._new_lines, strict=True)
        )
        return list(accumulate(heights, initial=0))

    @property
    def height(self) -> int:
        """The number of rows."""
        return self._tops[-1]

    def get_row(self, y: int) -> DiffRow | None:
        """One row; `None` outside of the layout."""
        if not 0 <= y < self.height:
            return None
        index = bisect_right(self._tops, y) - 1
        item = DiffItem(
            DiffLineKind(self._kinds[index]), self._old_lines[index], self._new_lines[index], self._numbers[index]
        )
        return DiffRow(item, y - self._tops[index])

    def get_hunk_rows(self, number: int) -> tuple[int, int]:
        """The first row of a hunk, and the row behind its last."""
        first, last = self._hunks[number]
        return self._tops[first], self._tops[last]

    def find_hunks_in(self, top: int, bottom: int) -> range:
        """The numbers of the hunks with a row between two rows."""
        first = bisect_right(self._hunks, top, key=lambda hunk: self._tops[hunk[1]])
        last = bisect_left(self._hunks, bottom, key=lambda hunk: self._tops[hunk[0]])
        return range(first, max(first, last))

    def find_row_of(self, item: DiffItem) -> int:
        """The row of the lines of an item of another layout of the same comparison, or of the item behind it."""
        order = self._get_order(item.old, item.hunk)
        items = range(len(self._kinds))
        at = bisect_left(items, order, key=lambda at: self._get_order(self._old_lines[at], self._numbers[at]))
        return self._tops[at]

    def _get_order(self, old: int, hunk: int) -> int:
        """A number that does not decrease from one item to the next, and is the same in every layout."""
        return 2 * self.comparison.difference.hunks[hunk].old_start - 1 if hunk >= 0 else 2 * old
