"""Merging two people's changes to one text.

Changes to different lines go together as everywhere; so do changes to different words of one line. A conflict is never
decided by a guess: somebody chooses, place by place.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from memtui.core import diffs
from memtui.core.diffs import Hunk
from memtui.core.lazy_dataclass import dataclass

CLOSE = 0.5
"""From which likeness to the line of the base on the words of a line are merged, and not only the line as a whole."""
PAIRS = 2_000
"""Pairs of lines that are looked at for likeness within one place."""
_MARKED = re.compile(r"(?m)^(<{7,}|\|{7,}|={7,}|>{7,})(?: .*)?$")
"""Seven signs or more, as in every tool that writes conflict markers."""

Lines = tuple[str, ...]


class MergeSide(StrEnum):
    MINE = "mine"
    THEIRS = "theirs"
    BOTH = "both"
    """Both did, in the same way or in ways that go together."""
    CONFLICT = "conflict"
    """Both did, and nobody can tell which is right."""


@dataclass(frozen=True, slots=True)
class MergeHunk:
    """A place where one of the texts differs from the base.

    Attributes:
        base: The lines there, each with its line feed.
        merged: The lines in the merged text; of a conflict, `mine`.
        first_line: The number, from 1, of its first line in the merged text.
    """

    base: Lines
    mine: Lines
    theirs: Lines
    merged: Lines
    side: MergeSide
    first_line: int = 0

    def get_lines(self, decision: MergeSide) -> Lines:
        """The lines that a decision leaves: mine, theirs, or both with mine first."""
        match decision:
            case MergeSide.MINE:
                return self.mine
            case MergeSide.THEIRS:
                return self.theirs
            case MergeSide.BOTH:
                return (*self.mine, *self.theirs)
        raise ValueError(f"{decision} is not a decision")


@dataclass(frozen=True)
class MergeResult:
    """The merged text in order: lines that all three have, and places that differ."""

    parts: tuple[Lines | MergeHunk, ...] = field(repr=False)

    @cached_property
    def text(self) -> str:
        """The merged text. Where there is a conflict, mine stands; so this is all of both only if there is none."""
        return _join_lines(
            line for part in self.parts for line in (part.merged if isinstance(part, MergeHunk) else part)
        )

    @cached_property
    def hunks(self) -> tuple[MergeHunk, ...]:
        return tuple(part for part in self.parts if isinstance(part, MergeHunk))

    @property
    def conflicts(self) -> tuple[MergeHunk, ...]:
        return tuple(place for place in self.hunks if place.side is MergeSide.CONFLICT)

    @property
    def is_clean(self) -> bool:
        return not self.conflicts

    @property
    def mine_count(self) -> int:
        """How many places hold what only I did, or both."""
        return sum(place.side in (MergeSide.MINE, MergeSide.BOTH) for place in self.hunks)

    @property
    def theirs_count(self) -> int:
        """How many places hold what only they did, or both."""
        return sum(place.side in (MergeSide.THEIRS, MergeSide.BOTH) for place in self.hunks)

    def resolve(self, decisions: Iterable[MergeSide]) -> str:
        """The merged text with one decision for each conflict, in order: mine, theirs, or both with mine first."""
        return _join_lines(line for _, lines in self._iter_resolved(decisions) for line in lines)

    def find_line(self, decisions: Iterable[MergeSide], number: int) -> int:
        """The line, from 1, at which conflict `number` (from 0) begins in the text that `resolve` makes."""
        lines = 1
        for part, resolved in self._iter_resolved(decisions):
            if isinstance(part, MergeHunk) and part.side is MergeSide.CONFLICT:
                if not number:
                    break
                number -= 1
            lines += len(resolved)
        return lines

    def _iter_resolved(self, decisions: Iterable[MergeSide]) -> Iterator[tuple[Lines | MergeHunk, Lines]]:
        """Each part with its lines in the merged text."""
        decided = iter(decisions)
        for part in self.parts:
            if not isinstance(part, MergeHunk):
                yield part, part
            elif part.side is MergeSide.CONFLICT:
                yield part, part.get_lines(next(decided))
            else:
                yield part, part.merged


def merge_texts(base: str, mine: str, theirs: str) -> MergeResult:
    old, ours, others = diffs.split_lines(base), diffs.split_lines(mine), diffs.split_lines(theirs)
    parts: list[Lines | MergeHunk] = []
    at = 0
    for region in _find_regions(diffs.find_hunks(old, ours), diffs.find_hunks(old, others)):
        _append_part(parts, tuple(old[at : region.start]))
        lines = tuple(old[region.start : region.end])
        my_lines, their_lines = tuple(ours[slice(*region.mine)]), tuple(others[slice(*region.theirs)])
        for part in _resolve_region(lines, my_lines, their_lines):
            _append_part(parts, part)
        at = region.end
    _append_part(parts, tuple(old[at:]))
    return MergeResult(tuple(_number_parts(parts)))


def merge_without_base(mine: str, theirs: str) -> MergeResult:
    """Merge two texts whose base is not known: nothing of either is taken out."""
    ours = diffs.split_lines(mine)
    alike = list(ours)
    for hunk in reversed(diffs.find_hunks(ours, diffs.split_lines(theirs))):
        del alike[hunk.old_start : hunk.old_end]
    return merge_texts(_join_lines(alike), mine, theirs)


def find_conflict_markers(text: str) -> tuple[int, ...]:
    """The numbers, from 1, of lines that are left-over markers of a conflict.

    A line of `<<<<<<<` or `>>>>>>>` always is one. `=======` and `|||||||` are only between two such lines of the same
    size: alone, the first underlines a heading in Markdown.
    """
    found: list[int] = []
    between: list[int] = []
    size = 0
    line = 1
    at = 0
    for match in _MARKED.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        signs = match[1]
        if signs[0] in "<>":
            if signs[0] == ">" and len(signs) == size:
                found += between
            size = len(signs) if signs[0] == "<" else 0
            between = []
            found.append(line)
        elif len(signs) == size:
            between.append(line)
    return tuple(sorted(found))


# Lines


class _MergeRegion(NamedTuple):
    start: int
    end: int
    mine: tuple[int, int]
    theirs: tuple[int, int]


def _find_regions(mine: Sequence[Hunk], theirs: Sequence[Hunk]) -> Iterator[_MergeRegion]:
    """Runs of the base that at least one text has changed.

    Changes that touch are one run, since their order is not known; unless each replaces as many lines.
    """
    hunks = sorted([(hunk, True) for hunk in mine] + [(hunk, False) for hunk in theirs])
    my_shift = their_shift = at = 0
    while at < len(hunks):
        start = end = hunks[at][0].old_start
        my_start, their_start = start + my_shift, start + their_shift
        in_place, is_first = True, True
        while at < len(hunks):
            hunk, is_mine = hunks[at]
            touches = hunk.old_start == end and not (in_place and _is_same_length(hunk))
            if not (is_first or touches or hunk.old_start < end):
                break
            end, in_place, is_first = max(end, hunk.old_end), in_place and _is_same_length(hunk), False
            if is_mine:
                my_shift = hunk.new_end - hunk.old_end
            else:
                their_shift = hunk.new_end - hunk.old_end
            at += 1
        yield _MergeRegion(start, end, (my_start, end + my_shift), (their_start, end + their_shift))


def _is_same_length(hunk: Hunk) -> bool:
    return hunk.old_end - hunk.old_start == hunk.new_end - hunk.new_start


def _resolve_region(base: Lines, mine: Lines, theirs: Lines) -> Iterator[Lines | MergeHunk]:
    """What comes of lines that at least one has changed."""
    plain = _resolve_trivially(base, mine, theirs)
    if plain is not None:
        yield plain
        return
    old_at = my_at = their_at = 0
    ends = (len(base), len(mine), len(theirs))
    for old, ours, others in (*_find_common_lines(base, mine, theirs), ends):
        yield from _resolve_gap(base[old_at:old], mine[my_at:ours], theirs[their_at:others])
        if old < len(base):
            yield _resolve_line(base[old], mine[ours], theirs[others])
        old_at, my_at, their_at = old + 1, ours + 1, others + 1


def _resolve_trivially(base: Lines, mine: Lines, theirs: Lines) -> Lines | MergeHunk | None:
    """What needs no thought: nobody changed it, one did, or both did the same. `None` for anything else."""
    if mine == theirs:
        return base if mine == base else MergeHunk(base, mine, theirs, mine, MergeSide.BOTH)
    if theirs == base:
        return MergeHunk(base, mine, theirs, mine, MergeSide.MINE)
    if mine == base:
        return MergeHunk(base, mine, theirs, theirs, MergeSide.THEIRS)
    return None


def _find_common_lines(base: Lines, mine: Lines, theirs: Lines) -> list[tuple[int, int, int]]:
    """Lines of the base that are still there in both texts, changed or not, with where they stand now."""
    in_mine, in_theirs = dict(_match_lines(base, mine)), dict(_match_lines(base, theirs))
    return [(old, in_mine[old], in_theirs[old]) for old in sorted(in_mine.keys() & in_theirs.keys())]


def _match_lines(old: Lines, new: Lines) -> Iterator[tuple[int, int]]:
    difference = diffs.TextDiff(old, new, tuple(diffs.find_hunks(old, new)))
    budget = PAIRS
    old_at = new_at = 0
    for hunk, pairs in zip(difference.hunks, difference.pair_lines(), strict=True):
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
    return was == now or (bool(was.strip() and now.strip()) and diffs.measure_similarity(was, now) >= diffs.ALIKE)


def _resolve_gap(base: Lines, mine: Lines, theirs: Lines) -> Iterator[Lines | MergeHunk]:
    plain = _resolve_trivially(base, mine, theirs)
    if plain is not None:
        yield plain
        return
    start = end = 0
    while start < min(len(mine), len(theirs)) and mine[start] == theirs[start]:
        start += 1
    while end < min(len(mine), len(theirs)) - start and mine[-1 - end] == theirs[-1 - end]:
        end += 1
    if start:
        yield MergeHunk((), mine[:start], mine[:start], mine[:start], MergeSide.BOTH)
    my_rest, their_rest = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    rest = _resolve_trivially(base, my_rest, their_rest) if not base else None
    yield rest if rest is not None else MergeHunk(base, my_rest, their_rest, my_rest, MergeSide.CONFLICT)
    if end:
        yield MergeHunk((), mine[-end:], mine[-end:], mine[-end:], MergeSide.BOTH)


# Words


def _resolve_line(base: str, mine: str, theirs: str) -> Lines | MergeHunk:
    """What comes of one line that is still there in both texts."""
    plain = _resolve_trivially((base,), (mine,), (theirs,))
    if plain is not None:
        return plain
    was, ours, others = (line.removesuffix("\n") for line in (base, mine, theirs))
    end = mine[len(ours) :] if mine[len(ours) :] != base[len(was) :] else theirs[len(others) :]
    words = _merge_words(was, ours, others)
    if words is None:
        return MergeHunk((base,), (mine,), (theirs,), (mine,), MergeSide.CONFLICT)
    return MergeHunk((base,), (mine,), (theirs,), (words + end,), MergeSide.BOTH)


def _merge_words(base: str, mine: str, theirs: str) -> str | None:
    """One line with the changed words of both; `None` where they are in each other's way."""
    if mine in (base, theirs):
        return theirs
    if theirs == base:
        return mine
    if max(map(len, (base, mine, theirs))) > diffs.LONGEST_LINE:
        return None
    if min(diffs.measure_similarity(base, mine), diffs.measure_similarity(base, theirs)) < CLOSE:
        return None
    old, ours, others = diffs.tokenize(base), diffs.tokenize(mine), diffs.tokenize(theirs)
    my_changes, their_changes = set(_find_edits(old, ours)), set(_find_edits(old, others))
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


class _TokenEdit(NamedTuple):
    start: int
    end: int
    words: tuple[str, ...]


def _find_edits(old: Sequence[str], new: Sequence[str]) -> Iterator[_TokenEdit]:
    for hunk in diffs.find_hunks(old, new):
        yield _TokenEdit(hunk.old_start, hunk.old_end, tuple(new[hunk.new_start : hunk.new_end]))


def _is_word(token: str) -> bool:
    return any(character.isalnum() for character in token)


# The whole


def _append_part(parts: list[Lines | MergeHunk], part: Lines | MergeHunk) -> None:
    """Put a part behind the others; what nobody changed, and conflicts without anything between them, grow together."""
    last = parts[-1] if parts else None
    if not isinstance(part, MergeHunk):
        if not part:
            return
        if last is not None and not isinstance(last, MergeHunk):
            parts[-1] = (*last, *part)
            return
    elif isinstance(last, MergeHunk) and last.side is part.side is MergeSide.CONFLICT:
        mine = (*last.mine, *part.mine)
        parts[-1] = MergeHunk((*last.base, *part.base), mine, (*last.theirs, *part.theirs), mine, MergeSide.CONFLICT)
        return
    parts.append(part)


def _number_parts(parts: Iterable[Lines | MergeHunk]) -> Iterator[Lines | MergeHunk]:
    line = 1
    for part in parts:
        if isinstance(part, MergeHunk):
            yield replace(part, first_line=line)
            line += len(part.merged)
        else:
            yield part
            line += len(part)


def _join_lines(lines: Iterable[str]) -> str:
    """Lines as one text: one that was the last of its text, and is not the last any more, gets its line feed."""
    text: list[str] = []
    for line in lines:
        if text and not text[-1].endswith("\n"):
            text[-1] += "\n"
        text.append(line)
    return "".join(text)
