"""One text becoming another by as few edits as possible, so that the cursor stays where its words are."""

from collections.abc import Iterator

from textual.document._document import Location
from textual.document._edit import Edit

from memtui.core.diffs import blocks


def edits_between(old: str, new: str) -> Iterator[Edit]:
    """The edits that make one text of another, from the last to the first.

    Args:
        old: The text that is there; lines end with `\\n`.
        new: The one that is to be.
    """
    before, after = old.split("\n"), new.split("\n")
    for hunk in reversed(blocks(before, after)):
        removed, put = before[hunk.old_start : hunk.old_end], after[hunk.new_start : hunk.new_end]
        if removed and put:
            yield from _within(hunk.old_start, "\n".join(removed), "\n".join(put))
        elif hunk.old_start < len(before):
            start, end = (hunk.old_start, 0), (hunk.old_end, 0)
            if hunk.old_end >= len(before):  # the last lines go, and with them the line feed before them
                start = (hunk.old_start - 1, len(before[hunk.old_start - 1]))
                end = (len(before) - 1, len(before[-1]))
            yield Edit("".join(line + "\n" for line in put), start, end, maintain_selection_offset=True)
        else:
            behind = (len(before) - 1, len(before[-1]))
            yield Edit("".join("\n" + line for line in put), behind, behind, maintain_selection_offset=True)


def _within(row: int, old: str, new: str) -> Iterator[Edit]:
    """Lines that became others: without what is the same at both ends."""
    if old.count("\n") == new.count("\n") and "\n" in old:
        pairs = list(enumerate(zip(old.split("\n"), new.split("\n"), strict=True), row))
        for at, (one, other) in reversed(pairs):
            if one != other:
                yield from _within(at, one, other)
        return
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield Edit(
        new[start : len(new) - end],
        _location(row, old, start),
        _location(row, old, len(old) - end),
        maintain_selection_offset=True,
    )


def _location(row: int, text: str, index: int) -> Location:
    lines = text.count("\n", 0, index)
    return row + lines, index - (text.rfind("\n", 0, index) + 1)
