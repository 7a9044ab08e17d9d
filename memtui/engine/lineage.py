"""The rows of a path's history, newest first: through renames, deletions and comebacks.

One event may give thousands of things other names, and a path's history may go through each of them: such an event is
read once, and what it did is then looked up by path.
"""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple

from memtui.core.events import Change, Event, Version
from memtui.core.history import PathVersion
from memtui.engine.moving import expanded
from memtui.journal.sqlite import Journal

_LARGE = 16
"""Changes from which on an event is kept to be looked up again."""
_MOST_KEPT = 200_000
"""Changes of these events together."""


def moves(event: Event) -> dict[str, str]:
    """Where an event moved what: old paths by new ones.

    Of many moves it says so itself; else a move stands in it as two changes, one behind the other.
    """
    if event.moved:
        return expanded(event.moved, event.changes)
    if event.new_path is None:
        return {}
    moved: dict[str, str] = {}
    previous: Change | None = None
    for change in event.changes:
        if (
            previous is not None
            and previous.after is None
            and previous.before == change.after
            and previous.path != change.path
        ):
            moved[change.path] = previous.path
            previous = None
        else:
            previous = change
    return moved


class Lineage:
    """Follows things through the events that changed them. Calls may come from any thread.

    Args:
        journal: The record.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._large: dict[int, _Done] = {}
        """The large events that were asked about last, the latest behind."""
        self._kept = 0

    def of_path(self, path: str) -> Iterator[PathVersion]:
        """What a path has been through, newest first.

        What was moved here brings its history along, and what stood here before it is told as well; not what stood at
        the names that it had before.
        """
        rows = _ByAge(self.rows(path, None))
        begun: dict[str, int] = {}
        """By former names that are told: with which event that begins; 0 for as long as it is not known."""
        for version in rows:
            if version.moved_to is not None and begun.get(version.moved_to, -1) in (0, version.event.seq):
                continue  # told where it went
            yield version
            if version.moved_from is None:
                continue
            if version.path != path:
                begun[version.path] = version.event.seq
            if version.moved_from != path:
                begun[version.moved_from] = 0
                rows.add(self._stay(version.moved_from, version.event.seq))

    def _stay(self, path: str, before: int) -> Iterator[PathVersion]:
        """What became of a thing at a former name: from when it left back to when it came there, or came to be."""
        for version in self.rows(path, before):
            if version.moved_to is not None:
                return  # another one, which left before
            yield version
            if version.moved_from is not None:
                return

    def of_thing(self, path: str, at: int | None = None) -> Iterator[PathVersion]:
        """What the thing that stands at a path, or stood there right after an event, has been through, newest first."""
        then = None if at is None else next(self.rows(path, at + 1), None)
        # One that was called otherwise then is meant by the name that it has now.
        rows = self.rows(path, at + 1 if at is not None and then is not None and then.after is not None else None)
        while (version := next(rows, None)) is not None:
            yield version
            if version.moved_from is not None:
                rows = self.rows(version.moved_from, version.event.seq)

    def rows(self, path: str, before: int | None) -> Iterator[PathVersion]:
        """What events before a number did to a path, newest first."""
        for seq in reversed(self._journal.touches(path)):
            if before is not None and seq >= before:
                continue
            done = self._done(seq)
            if done is not None and (row := done.row(path)) is not None:
                yield row

    def _done(self, seq: int) -> "_Done | None":
        with self._lock:
            if (kept := self._large.pop(seq, None)) is not None:
                self._large[seq] = kept
        if kept is not None:
            return _with_texts(kept, *self._journal.texts_of_event(seq))
        event = self._journal.event(seq)
        if event is None:
            return None
        done = _done(event)
        if len(event.changes) >= _LARGE:
            self._keep(_with_texts(done, None, None))
        return done

    def _keep(self, done: "_Done") -> None:
        """Keep what a large event did. Its texts are not kept: they may be removed from the record."""
        with self._lock:
            if done.event.seq in self._large:
                return
            self._large[done.event.seq] = done
            self._kept += len(done.event.changes)
            while self._kept > _MOST_KEPT and len(self._large) > 1:
                oldest = self._large.pop(next(iter(self._large)))
                self._kept -= len(oldest.event.changes)


class _Done(NamedTuple):
    """What an event did, by path.

    Attributes:
        event: Which.
        changes: What was there before it, and after it.
        moved: Where it moved what: old paths by new ones.
        moved_to: New paths by old ones.
    """

    event: Event
    changes: Mapping[str, tuple[Version | None, Version | None]]
    moved: Mapping[str, str]
    moved_to: Mapping[str, str]

    def row(self, path: str) -> PathVersion | None:
        """The row of a path; `None` if nothing was done to it."""
        if path not in self.changes:
            return None
        before, after = self.changes[path]
        if path in self.moved:
            return PathVersion(self.event, path, after, after, moved_from=self.moved[path])
        return PathVersion(self.event, path, before, after, moved_to=self.moved_to.get(path))


def _done(event: Event) -> _Done:
    changes: dict[str, tuple[Version | None, Version | None]] = {}
    for change in event.changes:
        before = changes[change.path][0] if change.path in changes else change.before
        changes[change.path] = before, change.after
    moved = moves(event)
    return _Done(event, changes, moved, {old: new for new, old in moved.items()})


def _with_texts(done: _Done, answer: str | None, arguments: str | None) -> _Done:
    event = done.event
    if (event.answer, event.arguments) == (answer, arguments):
        return done
    return done._replace(event=replace(event, answer=answer, arguments=arguments))


class _ByAge:
    """Rows of several paths as one, the newest event first; more paths may join on the way."""

    def __init__(self, rows: Iterator[PathVersion]) -> None:
        self._heads: list[tuple[int, int, PathVersion, Iterator[PathVersion]]] = []
        self._count = 0
        self.add(rows)

    def add(self, rows: Iterator[PathVersion]) -> None:
        """Let another path's rows join."""
        if (version := next(rows, None)) is not None:
            self._count += 1
            heappush(self._heads, (-version.event.seq, self._count, version, rows))

    def __iter__(self) -> Iterator[PathVersion]:
        while self._heads:
            _, _, version, rows = heappop(self._heads)
            self.add(rows)
            yield version
