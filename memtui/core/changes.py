"""Changes put together: what came of several for each path, and what became of one file last."""

from collections.abc import Iterable
from dataclasses import dataclass

from memtui.core.events import Change, Event


@dataclass(frozen=True, slots=True)
class LastChange:
    """The last change of a file.

    Attributes:
        event: What happened.
        diff: The change as a unified diff; empty where there are no two texts to compare.
        lines: Numbers (from 1) of the lines that are new or changed; empty for a file that was new.
    """

    event: Event
    diff: tuple[str, ...] = ()
    lines: frozenset[int] = frozenset()


def net(changes: Iterable[Change]) -> tuple[Change, ...]:
    """One change for each path, from what was there before the first to what is there after the last."""
    found: dict[str, Change] = {}
    for change in changes:
        first = found.get(change.path)
        found[change.path] = change if first is None else Change(change.path, first.before, change.after)
    return tuple(found.values())
