"""Moving back what an event moved, so that history goes along and nothing is written anew."""

from collections.abc import Sequence

from memtui.core.changes import net
from memtui.core.events import Event
from memtui.engine.arranging import Arrangement
from memtui.engine.history import moves


def tops(event: Event) -> list[tuple[str, str]]:
    """Of what an event moved, what did not move along with its directory: `(old, new)`."""
    if event.moved:
        return list(event.moved)
    moved = moves(event)
    found = []
    for new, old in moved.items():
        above_new, _, name_new = new.rpartition("/")
        above_old, _, name_old = old.rpartition("/")
        if name_new != name_old or moved.get(above_new) != above_old:
            found.append((old, new))
    return found


def replaced(event: Event) -> bool:
    """Whether something that did not move away stood where an event moved something to, or the other way round."""
    moved = moves(event)
    left = set(moved.values())
    return any(
        (change.path in moved and change.before is not None and change.path not in left)
        or (change.path in left and change.after is not None and change.path not in moved)
        for change in event.changes
    )


def moving_back(event: Event, moved_tops: Sequence[tuple[str, str]]) -> Arrangement:
    """Move back what an event moved, and take away the directories that it made for it."""
    moved = moves(event)
    left = set(moved.values())
    changes = [change for change in net(event.changes) if change.path in moved or change.path not in left]
    return Arrangement(
        {change.path: change.before for change in changes if change.path not in moved},
        {change.path: change.after for change in changes},
        moves=tuple((new, old) for old, new in moved_tops),
    )
