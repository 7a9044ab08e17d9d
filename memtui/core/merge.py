"""Putting two people's changes to one text together.

Whoever edits a note beside an agent would otherwise have to choose whose work is thrown away. Changes to different
lines go together as everywhere; so do changes to different words of one line. What cannot be decided here is never
guessed: it stands in the result twice, between marks.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from memtui.core import diffs
from memtui.core.diffs import Hunk
from memtui.core.visible import one_line

CLOSE = 0.5
"""From which likeness to the line of the base on the words of a line are merged, and not only the line as a whole."""
PAIRS = 2_000
"""Pairs of lines that are looked at for likeness within one place."""
MARK = 7
"""Signs that a mark begins with, as in every tool that knows such marks."""
_MARKED = re.compile(r"(?m)^(<{7,}|\|{7,}|={7,}|>{7,})(?: .*)?$")

Lines = tuple[str, ...]


class Whose(StrEnum):
    """Who changed a place."""

    MINE = "mine"
    THEIRS = "theirs"
    BOTH = "both"
    """Both did, in the same way or in ways that go together."""
    CONFLICT = "conflict"
    """Both did, and nobody can tell which is right."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place where one of the texts differs from the base.

    Attributes:
        base: The lines there, each with its line feed.
        mine: What one made of them.
        theirs: What the other made of them.
        merged: What stands there in the merged text; of a conflict, `mine`.
        whose: Who changed it.
        first_line: The number, from 1, of its first line in the merged text.
    """

    base: Lines
    mine: Lines
    theirs: Lines
    merged: Lines
    whose: Whose
    first_line: int = 0


@dataclass(frozen=True)
class Merged:
    """What became of two texts.

    Attributes:
        parts: The whole, in order: lines that all three have, and places that differ.
    """

    parts: tuple[Lines | Place, ...] = field(repr=False)

    @cached_property
    def text(self) -> str:
        """The merged text. Where there is a conflict, mine stands; so this is all of both only if there is none."""
        return _joined(line for part in self.parts for line in (part.merged if isinstance(part, Place) else part))

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where the texts differ, in order."""
        return tuple(part for part in self.parts if isinstance(part, Place))

    @property
    def conflicts(self) -> tuple[Place, ...]:
        """The places that nobody but a person can decide."""
        return tuple(place for place in self.places if place.whose is Whose.CONFLICT)

    @property
    def is_clean(self) -> bool:
        """Whether everything went together."""
        return not self.conflicts

    @property
    def taken_mine(self) -> int:
        """How many places hold what only I did, or both."""
        return sum(place.whose in (Whose.MINE, Whose.BOTH) for place in self.places)

    @property
    def taken_theirs(self) -> int:
        """How many places hold what only they did, or both."""
        return sum(place.whose in (Whose.THEIRS, Whose.BOTH) for place in self.places)

    def marked(self, mine_name: str, theirs_name: str) -> str:
        """The merged text, with all three texts between marks where it could not be decided.

        Args:
            mine_name: What stands behind the mark of mine.
            theirs_name: The same of theirs; an agent chooses its own name, so it is made one visible line.
        """
        held = [line for each in self.conflicts for lines in (each.mine, each.base, each.theirs) for line in lines]
        size = _mark_size(held)
        heads = (f"{'<' * size} {one_line(mine_name)}\n", f"{'|' * size} base\n")
        feet = (f"{'=' * size}\n", f"{'>' * size} {one_line(theirs_name)}\n")
        lines: list[str] = []
        for part in self.parts:
            if not isinstance(part, Place):
                lines += part
            elif part.whose is not Whose.CONFLICT:
                lines += part.merged
            else:
                lines += (heads[0], *part.mine, heads[1], *part.base, feet[0], *part.theirs, feet[1])
        return _joined(lines)


def merge(base: str, mine: str, theirs: str) -> Merged:
    """Put the changes of two texts together.

    Args:
        base: What both were made from.
        mine: What one made of it.
        theirs: What the other made of it.
    """
    old, ours, others = diffs.lines_of(base), diffs.lines_of(mine), diffs.lines_of(theirs)
    parts: list[Lines | Place] = []
    at = 0
    for region in _regions(diffs.blocks(old, ours), diffs.blocks(old, others)):
        _add(parts, tuple(old[at : region.start]))
        lines = tuple(old[region.start : region.end])
        my_lines, their_lines = tuple(ours[slice(*region.mine)]), tuple(others[slice(*region.theirs)])
        for part in _decided(lines, my_lines, their_lines):
            _add(parts, part)
        at = region.end
    _add(parts, tuple(old[at:]))
    return Merged(tuple(_numbered(parts)))


def merge_without_base(mine: str, theirs: str) -> Merged:
    """Put two texts together of which nobody knows what they were made from: nothing of either is taken out.

    Args:
        mine: The one.
        theirs: The other.
    """
    ours = diffs.lines_of(mine)
    alike = list(ours)
    for hunk in reversed(diffs.blocks(ours, diffs.lines_of(theirs))):
        del alike[hunk.old_start : hunk.old_end]
    return merge(_joined(alike), mine, theirs)


def markers_in(text: str) -> tuple[int, ...]:
    """The numbers, from 1, of lines that are marks of a conflict which nobody has decided yet.

    Only whole blocks count, in order and of one size: a line of `=======` alone is a heading in Markdown.
    """
    found: list[int] = []
    block: list[int] = []
    size = 0
    line = 1
    at = 0
    for match in _MARKED.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        signs = match[1]
        if signs[0] == "<":
            block, size = [line], len(signs)
        elif block and len(signs) == size:
            block.append(line)
            if signs[0] == ">":
                found += block
                block = []
    return tuple(found)


# Lines


class _Region(NamedTuple):
    """Lines of the base, and what stands in their place in either text."""

    start: int
    end: int
    mine: tuple[int, int]
    theirs: tuple[int, int]


def _regions(mine: Sequence[Hunk], theirs: Sequence[Hunk]) -> Iterator[_Region]:
    """Runs of the base that at least one has changed.

    Changes that touch are one run, for nobody knows which comes first; unless each of them is so many lines in the
    place of as many others.
    """
    hunks = sorted([(hunk, True) for hunk in mine] + [(hunk, False) for hunk in theirs])
    my_shift = their_shift = at = 0
    while at < len(hunks):
        start = end = hunks[at][0].old_start
        my_start, their_start = start + my_shift, start + their_shift
        in_place, is_first = True, True
        while at < len(hunks):
            hunk, is_mine = hunks[at]
            touches = hunk.old_start == end and not (in_place and _is_in_place(hunk))
            if not (is_first or touches or hunk.old_start < end):
                break
            end, in_place, is_first = max(end, hunk.old_end), in_place and _is_in_place(hunk), False
            if is_mine:
                my_shift = hunk.new_end - hunk.old_end
            else:
                their_shift = hunk.new_end - hunk.old_end
            at += 1
        yield _Region(start, end, (my_start, end + my_shift), (their_start, end + their_shift))


def _is_in_place(hunk: Hunk) -> bool:
    return hunk.old_end - hunk.old_start == hunk.new_end - hunk.new_start


def _decided(base: Lines, mine: Lines, theirs: Lines) -> Iterator[Lines | Place]:
    """What comes of lines that at least one has changed."""
    plain = _plainly(base, mine, theirs)
    if plain is not None:
        yield plain
        return
    old_at = my_at = their_at = 0
    ends = (len(base), len(mine), len(theirs))
    for old, ours, others in (*_common_lines(base, mine, theirs), ends):
        yield from _gap(base[old_at:old], mine[my_at:ours], theirs[their_at:others])
        if old < len(base):
            yield _line(base[old], mine[ours], theirs[others])
        old_at, my_at, their_at = old + 1, ours + 1, others + 1


def _plainly(base: Lines, mine: Lines, theirs: Lines) -> Lines | Place | None:
    """What needs no thought: nobody changed it, one did, or both did the same. `None` for anything else."""
    if mine == theirs:
        return base if mine == base else Place(base, mine, theirs, mine, Whose.BOTH)
    if theirs == base:
        return Place(base, mine, theirs, mine, Whose.MINE)
    if mine == base:
        return Place(base, mine, theirs, theirs, Whose.THEIRS)
    return None


def _common_lines(base: Lines, mine: Lines, theirs: Lines) -> list[tuple[int, int, int]]:
    """Lines of the base that are still there in both texts, changed or not, with where they stand now."""
    in_mine, in_theirs = dict(_kept_lines(base, mine)), dict(_kept_lines(base, theirs))
    return [(old, in_mine[old], in_theirs[old]) for old in sorted(in_mine.keys() & in_theirs.keys())]


def _kept_lines(old: Lines, new: Lines) -> Iterator[tuple[int, int]]:
    """Which line became which, in order."""
    difference = diffs.Difference(old, new, tuple(diffs.blocks(old, new)))
    budget = PAIRS
    old_at = new_at = 0
    for hunk, pairs in zip(difference.hunks, difference.sides(), strict=True):
        yield from zip(range(old_at, hunk.old_start), range(new_at, hunk.new_start), strict=True)
        for was, now in pairs:
            if was is not None and now is not None and budget:
                budget -= 1
                if _is_same_line(old[was], new[now]):
                    yield was, now
        old_at, new_at = hunk.old_end, hunk.new_end
    yield from zip(range(old_at, len(old)), range(new_at, len(new)), strict=True)


def _is_same_line(was: str, now: str) -> bool:
    was, now = was.removesuffix("\n"), now.removesuffix("\n")
    return was == now or (bool(was.strip() and now.strip()) and diffs.likeness(was, now) >= diffs.ALIKE)


def _gap(base: Lines, mine: Lines, theirs: Lines) -> Iterator[Lines | Place]:
    """Lines between those that are still there in both."""
    plain = _plainly(base, mine, theirs)
    if plain is not None:
        yield plain
        return
    start = end = 0
    while start < min(len(mine), len(theirs)) and mine[start] == theirs[start]:
        start += 1
    while end < min(len(mine), len(theirs)) - start and mine[-1 - end] == theirs[-1 - end]:
        end += 1
    if start:
        yield Place((), mine[:start], mine[:start], mine[:start], Whose.BOTH)
    my_rest, their_rest = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    rest = _plainly(base, my_rest, their_rest) if not base else None
    yield rest if rest is not None else Place(base, my_rest, their_rest, my_rest, Whose.CONFLICT)
    if end:
        yield Place((), mine[-end:], mine[-end:], mine[-end:], Whose.BOTH)


# Words


def _line(base: str, mine: str, theirs: str) -> Lines | Place:
    """What comes of one line that is still there in both texts."""
    plain = _plainly((base,), (mine,), (theirs,))
    if plain is not None:
        return plain
    was, ours, others = (line.removesuffix("\n") for line in (base, mine, theirs))
    end = mine[len(ours) :] if mine[len(ours) :] != base[len(was) :] else theirs[len(others) :]
    words = _words(was, ours, others)
    if words is None:
        return Place((base,), (mine,), (theirs,), (mine,), Whose.CONFLICT)
    return Place((base,), (mine,), (theirs,), (words + end,), Whose.BOTH)


def _words(base: str, mine: str, theirs: str) -> str | None:
    """One line with the changed words of both; `None` where they are in each other's way."""
    if mine in (base, theirs):
        return theirs
    if theirs == base:
        return mine
    if max(map(len, (base, mine, theirs))) > diffs.LONGEST_LINE:
        return None
    if min(diffs.likeness(base, mine), diffs.likeness(base, theirs)) < CLOSE:
        return None
    old, ours, others = diffs.words_of(base), diffs.words_of(mine), diffs.words_of(theirs)
    my_changes, their_changes = set(_edits(old, ours)), set(_edits(old, others))
    edits = sorted(my_changes | their_changes)
    for first, second in pairwise(edits):
        is_of_one = {first, second} <= my_changes or {first, second} <= their_changes
        if not is_of_one and not any(_is_word(word) for word in old[first.end : second.start]):
            return None
    parts: list[str] = []
    at = 0
    for edit in edits:
        parts += (*old[at : edit.start], *edit.words)
        at = edit.end
    return "".join((*parts, *old[at:]))


class _Edit(NamedTuple):
    """Words that took the place of others."""

    start: int
    end: int
    words: tuple[str, ...]


def _edits(old: Sequence[str], new: Sequence[str]) -> Iterator[_Edit]:
    for hunk in diffs.blocks(old, new):
        yield _Edit(hunk.old_start, hunk.old_end, tuple(new[hunk.new_start : hunk.new_end]))


def _is_word(token: str) -> bool:
    return any(character.isalnum() for character in token)


# The whole


def _add(parts: list[Lines | Place], part: Lines | Place) -> None:
    """Put a part behind the others; what nobody changed, and conflicts without anything between them, grow together."""
    last = parts[-1] if parts else None
    if not isinstance(part, Place):
        if not part:
            return
        if last is not None and not isinstance(last, Place):
            parts[-1] = (*last, *part)
            return
    elif isinstance(last, Place) and last.whose is part.whose is Whose.CONFLICT:
        mine = (*last.mine, *part.mine)
        parts[-1] = Place((*last.base, *part.base), mine, (*last.theirs, *part.theirs), mine, Whose.CONFLICT)
        return
    parts.append(part)


def _numbered(parts: Iterable[Lines | Place]) -> Iterator[Lines | Place]:
    line = 1
    for part in parts:
        if isinstance(part, Place):
            yield replace(part, first_line=line)
            line += len(part.merged)
        else:
            yield part
            line += len(part)


def _joined(lines: Iterable[str]) -> str:
    """Lines as one text: one that was the last of its text, and is not the last any more, gets its line feed."""
    text: list[str] = []
    for line in lines:
        if text and not text[-1].endswith("\n"):
            text[-1] += "\n"
        text.append(line)
    return "".join(text)


def _mark_size(lines: Iterable[str]) -> int:
    """How long marks are, so that no line between them looks like one."""
    taken = {len(match[1]) for line in lines if (match := _MARKED.match(line.removesuffix("\n")))}
    return next(size for size in range(MARK, MARK + len(taken) + 1) if size not in taken)
