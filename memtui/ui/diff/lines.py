"""The lines of a text as they are shown in a diff: hidden characters named, broken to fit, changed words known.

Nothing here knows a widget. A line of a megabyte costs what the part of it costs that is on screen.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

from rich.cells import cell_len, get_character_cell_size

from memtui.core.diffs import Difference, LineEnds, Pair, Range, line_ends
from memtui.core.visible import HIDDEN, escape, visible
from memtui.ui.text import TAB

LONG = 20_000
"""Characters from which on a line is shown without styles for its parts: only its text is made visible."""
_KEPT = 2_000
"""Broken lines of which it is remembered where."""
_HANGING = 2
"""Cells by which the second and further rows of a broken line begin later."""
_SPECIAL = re.compile(f"\t|{HIDDEN.pattern}", re.DOTALL)
_TAB_MARKED = "»".ljust(len(TAB))
_NARROW = re.compile("[ -~\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027]*")
"""Characters that are one cell wide wherever they stand."""


class Run(NamedTuple):
    """A part of a shown line in a style of its own."""

    start: int
    end: int
    role: str


class Side:
    """The lines of one of the two texts, as they are shown.

    Args:
        lines: Each with its line feed.
        loud: Numbers of the lines of which a carriage return before the line feed is shown.
    """

    def __init__(self, lines: Sequence[str], loud: Collection[int] = ()) -> None:
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

    def starts(self, number: int, width: int) -> Sequence[int]:
        """Where the rows of a line begin, in characters of what is shown.

        Args:
            number: Of the line, from 0.
            width: Cells of a row.
        """
        if self.cells[number] <= width:
            return (0,)
        found = self._starts.get((number, width))
        if found is None:
            if len(self._starts) >= _KEPT:
                self._starts.clear()
            found = self._starts[number, width] = breaks(self.shown[number], width)
        return found

    def runs(self, number: int, changed: Iterable[Range]) -> list[Run]:
        """The parts of a line that have a style of their own, in order.

        Args:
            number: Of the line, from 0.
            changed: Ranges of what was changed, in characters of the line itself.
        """
        raw = self.raw[number]
        ranges = list(changed)
        if raw == self.shown[number]:
            return [Run(start, end, "word") for start, end in ranges]
        if len(raw) > LONG:
            return []
        positions, shifts, runs = [0], [0], list[Run]()
        shift = 0
        for match in _SPECIAL.finditer(raw):
            at = match.start()
            if match.group() == "\t":
                length, role = len(TAB), "tab"
            else:
                length, role = len(escape(match.group())), "hidden"
                if match.group() == "\r" and match.end() == len(raw):
                    role = "return"
            runs.append(Run(at + shift, at + shift + length, role))
            shift += length - 1
            positions.append(at + 1)
            shifts.append(shift)

        def place(position: int) -> int:
            return position + shifts[bisect_right(positions, position) - 1]

        words = [Run(place(start), place(end), "word") for start, end in ranges]
        return _over(runs, words)


def both_sides(difference: Difference, sides: Iterable[Iterable[Pair]]) -> tuple[Side, Side]:
    """Both texts as they are shown.

    Carriage returns at the ends of lines are shown only where they are, or may be, what differs: on lines that
    changed, unless the line opposite has one too.

    Args:
        difference: What differs.
        sides: The changed lines, side by side.
    """
    old, new = difference.old, difference.new
    if {line_ends(old), line_ends(new)} <= {LineEnds.LF, LineEnds.NONE}:
        return Side(old), Side(new)
    quiet = {line_ends(old), line_ends(new)} <= {LineEnds.CRLF, LineEnds.NONE}
    old_loud: set[int] = set()
    new_loud: set[int] = set()
    for one, other in () if quiet else chain.from_iterable(sides):
        both = one is not None and other is not None and old[one].endswith("\r\n") and new[other].endswith("\r\n")
        if not both:
            old_loud.update(() if one is None else (one,))
            new_loud.update(() if other is None else (other,))
    return Side(old, old_loud), Side(new, new_loud)


def _over(below: Sequence[Run], above: Sequence[Run]) -> list[Run]:
    """Runs of hidden characters and runs of changed words as one row of runs that do not overlap."""
    edges = sorted({edge for run in (*below, *above) for edge in (run.start, run.end)})
    result: list[Run] = []
    i = j = 0
    for start, end in pairwise(edges):
        while i < len(below) and below[i].end <= start:
            i += 1
        while j < len(above) and above[j].end <= start:
            j += 1
        roles = [runs[at].role for runs, at in ((below, i), (above, j)) if at < len(runs) and runs[at].start <= start]
        if roles and roles != ["tab"]:
            result.append(Run(start, end, " ".join(roles)))
    return result


def pieces(text: str, runs: Sequence[Run], start: int, end: int) -> list[tuple[str, str]]:
    """A part of a shown line as texts with their roles.

    Args:
        text: The shown line.
        runs: Its runs, in order.
        start: The first character of the part.
        end: Behind its last character.
    """
    found: list[tuple[str, str]] = []
    at = start
    for run in runs[bisect_right(runs, start, key=lambda run: run.end) :]:
        if run.start >= end:
            break
        left, right = max(run.start, start), min(run.end, end)
        if left > at:
            found.append((text[at:left], ""))
        held = text[left:right]
        if run.role == "tab word":
            held = _TAB_MARKED[left - run.start : right - run.start]
        found.append((held, run.role.removeprefix("tab ")))
        at = right
    if at < end:
        found.append((text[at:end], ""))
    return found


def breaks(text: str, width: int) -> list[int]:
    """Where the rows of a text begin that is broken after spaces; a longer word is broken anywhere.

    Args:
        text: One line, made visible.
        width: Cells of the first row; the others have room for a little less.
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
        room = width - hanging(width)


def hanging(width: int) -> int:
    """Cells by which further rows of a broken line begin later."""
    return _HANGING if width >= 20 else 0
