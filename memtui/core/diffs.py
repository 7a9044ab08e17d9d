"""Comparing two texts line by line."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from memtui.core.edits import count_lines

EXACT_WORK = 100_000_000
"""What the exact comparison may cost: lines before, times lines after, times the fewer of the two. Some notes of a
few kilobytes, such as two thousand times the same line with others in between, would take it a minute."""
_MAX_DEPTH = 8


class Counts(NamedTuple):
    """Lines that a change added and removed."""

    added: int
    removed: int


class Block(NamedTuple):
    """A run of lines that differs: `before[old_start:old_end]` became `after[new_start:new_end]`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def lines_of(text: str) -> list[str]:
    r"""The lines of a text, each with its `\n`, so that a missing final newline is a difference."""
    lines = text.split("\n")
    last = lines.pop()
    lines = [line + "\n" for line in lines]
    return [*lines, last] if last else lines


def blocks(before: Sequence[str], after: Sequence[str]) -> list[Block]:
    """The runs of lines that differ, in order.

    What is equal at both ends is set aside first, so that a small edit in a huge note costs little.
    """
    whole = Block(0, len(before), 0, len(after))
    return list(_differing(before, after, whole, [EXACT_WORK], _MAX_DEPTH))


def _differing(
    before: Sequence[str], after: Sequence[str], within: Block, budget: list[int], depth: int
) -> Iterator[Block]:
    """The runs that differ within a region: exactly where that is cheap, else between lines that are unique in it."""
    start, old_end, new_start, new_end = within
    while start < old_end and new_start < new_end and before[start] == after[new_start]:
        start, new_start = start + 1, new_start + 1
    while old_end > start and new_end > new_start and before[old_end - 1] == after[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    old, new = before[start:old_end], after[new_start:new_end]
    if not old or not new:
        if old or new:
            yield Block(start, old_end, new_start, new_end)
        return
    work = len(old) * len(new) * min(len(old), len(new))
    if work <= budget[0]:
        budget[0] -= work
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                yield Block(start + i1, start + i2, new_start + j1, new_start + j2)
        return
    anchors = _anchors(old, new) if depth else []
    if not anchors:
        yield Block(start, old_end, new_start, new_end)
        return
    old_at, new_at = start, new_start
    for i, j in [*anchors, (len(old), len(new))]:
        gap = Block(old_at, start + i, new_at, new_start + j)
        yield from _differing(before, after, gap, budget, depth - 1)
        old_at, new_at = start + i + 1, new_start + j + 1


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of lines that stand once in both, as many as keep one order ("patience")."""
    once_old, once_new = _once(old), _once(new)
    pairs = [(i, once_new[line]) for line, i in once_old.items() if line in once_new]
    tails: list[int] = []
    ends: list[int] = []
    before_it: list[int] = []
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(tails, j)
        before_it.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [j]
        ends[at : at + 1] = [number]
    kept: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        kept.append(pairs[number])
        number = before_it[number]
    return kept[::-1]


def _once(lines: Sequence[str]) -> dict[str, int]:
    """Position of each line that stands once, in order."""
    counted = Counter(lines)
    return {line: at for at, line in enumerate(lines) if counted[line] == 1}


def counts(before: str, after: str) -> Counts:
    """How many lines a change added and removed."""
    start, tail = _common_ends(before, after)
    before, after = before[start : len(before) - tail], after[start : len(after) - tail]
    if not before or not after:
        return Counts(count_lines(after), count_lines(before))  # a new note, a deleted one, lines put in or taken out
    added = removed = 0
    for block in blocks(lines_of(before), lines_of(after)):
        added += block.new_end - block.new_start
        removed += block.old_end - block.old_start
    return Counts(added, removed)


def _common_ends(before: str, after: str) -> tuple[int, int]:
    """Characters of whole lines that both texts begin and end with.

    Found by bisection over slices: comparing slices is far quicker than comparing lines one by one.
    """
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    start = before.rfind("\n", 0, low) + 1
    low, high = 0, min(len(before), len(after)) - start
    while low < high:
        middle = (low + high + 1) // 2
        if before[len(before) - middle : len(before) - low] == after[len(after) - middle : len(after) - low]:
            low = middle
        else:
            high = middle - 1
    newline = before.find("\n", len(before) - low)
    return start, len(before) - newline - 1 if newline >= 0 else 0


def changed_lines(before: str, after: str) -> set[int]:
    """Numbers (from 1) of the lines of `after` that were added or changed, or that follow a removal."""
    changed: set[int] = set()
    after_lines = lines_of(after)
    for block in blocks(lines_of(before), after_lines):
        if block.new_start == block.new_end:
            changed.add(min(block.new_start + 1, max(len(after_lines), 1)))
        changed.update(range(block.new_start + 1, block.new_end + 1))
    return changed


def unified(before: str, after: str, *, context: int = 3) -> list[str]:
    """A unified diff without file headers: lines that begin with `@@`, ` `, `-` or `+`, without newlines.

    Args:
        before: The old text.
        after: The new text.
        context: Equal lines shown around each change.
    """
    old, new = lines_of(before), lines_of(after)
    shown: list[str] = []
    hunks: list[list[Block]] = []
    for block in blocks(old, new):
        if hunks and block.old_start - hunks[-1][-1].old_end <= 2 * context:
            hunks[-1].append(block)
        else:
            hunks.append([block])
    for hunk in hunks:
        first, last = hunk[0], hunk[-1]
        old_from, old_to = max(first.old_start - context, 0), min(last.old_end + context, len(old))
        new_from = max(first.new_start - context, 0)
        new_to = min(last.new_end + context, len(new))
        shown.append(f"@@ -{old_from + 1},{old_to - old_from} +{new_from + 1},{new_to - new_from} @@")
        position = old_from
        for block in hunk:
            shown += (" " + line.rstrip("\n") for line in old[position : block.old_start])
            shown += ("-" + line.rstrip("\n") for line in old[block.old_start : block.old_end])
            shown += ("+" + line.rstrip("\n") for line in new[block.new_start : block.new_end])
            position = block.old_end
        shown += (" " + line.rstrip("\n") for line in old[position:old_to])
    return shown
