"""Who wrote which line: the versions of a note compared one by one, from the newest back."""

from collections.abc import Callable, Iterable

from memtui.core import diffs
from memtui.core.events import Event, Version
from memtui.core.history import Blame, PathVersion
from memtui.core.snapshot import Kind

_BRINGING_BACK = frozenset({"restore", "undo", "redo"})


def blame(
    lineage: Iterable[PathVersion], data: bytes, text: Callable[[Version], bytes | None], at: int | None
) -> Blame:
    """Who wrote each line of a text.

    Args:
        lineage: What the note has been through, newest first.
        data: The text; one that is not among the versions is compared with the newest.
        text: Tells the bytes of a version; `None` where they are not kept.
        at: The number of the event after which the text stood there; `None` for now.
    """

    def lines_of(version: Version | None) -> list[str] | None:
        if version is None or version.kind is not Kind.FILE:
            return []
        kept = text(version)
        return None if kept is None else diffs.lines_of(_as_text(kept))

    lines = diffs.lines_of(_as_text(data))
    owners: list[Event | None] = [None] * len(lines)
    waiting = list(range(len(lines)))
    """Which line of the text each line of the version is; -1 for one that is not in it any more."""
    current = lines
    came_back: Event | None = None
    """What brought the note back from the dead: its lines are older, if the deletion says what was deleted."""
    for version in lineage:
        if at is not None and version.event.seq > at:
            continue
        if came_back is not None and version.after is None and version.before is not None:
            before = lines_of(version.before)
            by, came_back = came_back, None
        elif came_back is not None or version.after is None or version.after.kind is not Kind.FILE:
            break
        else:
            by = version.event
            after = lines_of(version.after)
            if after is None:
                return _blamed(owners, waiting, by, complete=False)
            if after != current:  # written by somebody who is not in the record
                waiting, current = _carried(current, after, waiting), after
            if version.before is None and by.command in _BRINGING_BACK:
                came_back = by
                continue
            before = lines_of(version.before)
        if before is None:
            return _blamed(owners, waiting, by, complete=False)
        carried = _carried(current, before, waiting)
        _blame_lost(owners, waiting, carried, by)
        waiting, current = carried, before
        if all(number < 0 for number in waiting):
            break
    if came_back is not None:
        return _blamed(owners, waiting, came_back)
    return Blame(tuple(owners), all(owner is not None for owner in owners))


def _blame_lost(owners: list[Event | None], waiting: list[int], carried: list[int], event: Event) -> None:
    """An event wrote the lines that were not there before it."""
    kept = set(carried)
    for number in waiting:
        if number >= 0 and number not in kept:
            owners[number] = event


def _carried(current: list[str], before: list[str], waiting: list[int]) -> list[int]:
    """For each line of the version before, which line of the text it is; -1 for one that is not in it."""
    carried = [-1] * len(before)
    old = new = 0
    for block in (*diffs.blocks(before, current), diffs.Hunk(len(before), len(before), len(current), len(current))):
        carried[old : block.old_start] = waiting[new : block.new_start]
        old, new = block.old_end, block.new_end
    return carried


def _blamed(owners: list[Event | None], waiting: list[int], event: Event, *, complete: bool = True) -> Blame:
    for number in waiting:
        if number >= 0:
            owners[number] = event
    return Blame(tuple(owners), complete and all(owner is not None for owner in owners))


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
