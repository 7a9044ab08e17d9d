"""Comparing two texts line by line."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from memtui.core.edits import count_lines

EXACT_CELLS = 4_000_000
"""Above this product of line counts, matching falls back to the quicker, coarser comparison."""


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
    start, old_end, new_end = 0, len(before), len(after)
    while start < old_end and start < new_end and before[start] == after[start]:
        start += 1
    while old_end > start and new_end > start and before[old_end - 1] == after[new_end - 1]:
        old_end -= 1
        new_end -= 1
    if start == old_end and start == new_end:
        return []
    if start in (old_end, new_end):
        return [Block(start, old_end, start, new_end)]
    old, new = before[start:old_end], after[start:new_end]
    if len(old) * len(new) > EXACT_CELLS and not set(old) & set(new):
        return [Block(start, old_end, start, new_end)]
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) * len(new) > EXACT_CELLS)
    return [
        Block(start + i1, start + i2, start + j1, start + j2)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


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
