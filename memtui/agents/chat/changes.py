"""What became of memories over a turn, or over a conversation: one line a file, whatever happened in between."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memtui.agents.chat.events import Remembered
from memtui.core.diffs import counts
from memtui.core.events import Event, Version
from memtui.core.snapshot import Kind
from memtui.engine.history import moves

Text = Callable[[Version | None], bytes | None]
"""Gives the bytes of a version; `None` where they are not kept."""

_LARGEST_COMPARED = 4_000_000
"""Bytes of a text whose lines are still counted."""


@dataclass(slots=True)
class _Path:
    """One path over the time that is looked at.

    Attributes:
        before: What was there first.
        after: What is there now.
        came_from: Where what is there now was at first, if it was moved.
        edited: Whether the person wrote it in place of the model.
    """

    before: Version | None
    after: Version | None
    came_from: str | None = None
    edited: bool = False


class Tally:
    """Puts events together. It holds an entry for each path that was touched, and no texts."""

    def __init__(self) -> None:
        self._paths: dict[str, _Path] = {}

    def add(self, event: Event, *, edited: bool = False) -> None:
        """Take one more event, in order.

        Args:
            event: What happened.
            edited: Whether it is what the person wrote in place of the model.
        """
        moved = moves(event)
        origins = {new: self._origin(old) for new, old in moved.items()}
        for change in event.changes:
            found = self._paths.get(change.path)
            if found is None:
                self._paths[change.path] = _Path(change.before, change.after, edited=edited)
            else:
                found.after, found.edited = change.after, found.edited or edited
                found.came_from = None if change.after is None or change.before is None else found.came_from
        for new in moved:
            self._paths[new].came_from, self._paths[new].edited = origins[new]

    def _origin(self, path: str) -> tuple[str | None, bool]:
        """Where what stands at a path was at first, and whether the person edited it."""
        entry = self._paths.get(path)
        if entry is None:
            return path, False
        if entry.came_from is not None:
            return entry.came_from, entry.edited
        return (path if entry.before is not None else None), entry.edited

    def remembered(self, text: Text) -> tuple[Remembered, ...]:
        """What became of each file, by path; nothing for those that are as they were."""
        came_from = {
            path: source
            for path, entry in self._paths.items()
            if (source := entry.came_from) not in (None, path)
            and entry.before is None
            and entry.after is not None
            and self._paths[source].after is None
        }
        told_elsewhere = set(came_from.values())
        lines = []
        for path, entry in sorted(self._paths.items()):
            old_path = came_from.get(path)
            before = entry.before if old_path is None else self._paths[old_path].before
            if path in told_elsewhere or not (_is_shown(before) or _is_shown(entry.after)):
                continue
            if before != entry.after or old_path is not None:
                lines.append(_remembered(path, old_path, before, entry.after, entry.edited, text))
        return tuple(lines)


def remembered(events: Iterable[Event], text: Text) -> tuple[Remembered, ...]:
    """What became of each file over events."""
    tally = Tally()
    for event in events:
        tally.add(event)
    return tally.remembered(text)


def _is_shown(version: Version | None) -> bool:
    return version is not None and version.kind is not Kind.DIRECTORY


def _remembered(
    path: str, old_path: str | None, before: Version | None, after: Version | None, edited: bool, text: Text
) -> Remembered:
    how = "renamed" if old_path else "created" if before is None else "deleted" if after is None else "changed"
    added, removed = _counts(before, after, text)
    return Remembered(
        path, how, old_path, added, removed, before.sha256 if before else None, after.sha256 if after else None, edited
    )


def _counts(before: Version | None, after: Version | None, text: Text) -> tuple[int | None, int | None]:
    old, new = _decoded(before, text), _decoded(after, text)
    return (None, None) if old is None or new is None else counts(old, new)


def _decoded(version: Version | None, text: Text) -> str | None:
    if version is None:
        return ""
    if version.kind is not Kind.FILE or version.size > _LARGEST_COMPARED:
        return None
    data = text(version)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None
