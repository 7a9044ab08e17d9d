"""The rows of a path's history, newest first: through renames, deletions and comebacks.

One event may give thousands of things other names, and a path's history may go through each of them: such an event is
read once, and what it did is then looked up by path.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple

from memtui.core import diffs
from memtui.core.events import Change, EntryKind, Event, Version
from memtui.core.history import Blame, PathVersion
from memtui.engine.moves import expand_moves
from memtui.engine.replacements import (
    FOUND,
    PathEvents,
    ReplacementReader,
    find_absence,
    find_replacements,
    is_rewritten,
)
from memtui.journal.record import ReadableRecord

_LARGE = 16
"""Changes from which on an event is kept to be looked up again."""
_MOST_KEPT = 200_000
"""Changes of these events together."""


def find_moves(event: Event) -> dict[str, str]:
    """Old paths by new ones. Of many moves the event says so itself; else a move is two changes in a row.

    What was renamed over a note from outside has not moved: it is a change of that note.
    """
    if event.moved:
        return expand_moves(event.moved, event.changes)
    if event.new_path is None:
        return {}
    replaced = find_replacements(event)
    moved: dict[str, str] = {}
    previous: Change | None = None
    for change in event.changes:
        is_first_half = previous is not None and previous.after is None and previous.path != change.path
        if previous is not None and is_first_half and previous.before == change.after:
            if change.path not in replaced:
                moved[change.path] = previous.path
            previous = None
        else:
            previous = change
    return moved


class Lineage:
    """Follows things through the events that changed them. Calls may come from any thread."""

    def __init__(self, journal: ReadableRecord, replacements: ReplacementReader) -> None:
        self._journal = journal
        self._replacements = replacements
        self._events = PathEvents(journal)
        self._lock = threading.Lock()
        self._large: dict[int, _EventChanges] = {}
        """The large events that were asked about last, the latest behind."""
        self._kept = 0

    def get_path_history(self, path: str) -> Iterator[PathVersion]:
        """See `JournalHistory.versions_of`."""
        rows = _RowMerger(self.iter_rows(path, None))
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
                rows.add(self._find_former_rows(version.moved_from, version.event.seq))

    def _find_former_rows(self, path: str, before: int) -> Iterator[PathVersion]:
        """What became of a thing at a former name: from when it left back to when it came there, or came to be."""
        for version in self.iter_rows(path, before):
            if version.moved_to is not None:
                return  # another one, which left before
            yield version
            if version.moved_from is not None:
                return

    def get_file_history(self, path: str, at: int | None = None) -> Iterator[PathVersion]:
        """What the thing that stands at a path, or stood there right after an event, has been through, newest first."""
        then = None if at is None else next(self.iter_rows(path, at + 1), None)
        # One that was called otherwise then is meant by the name that it has now.
        rows = self.iter_rows(path, at + 1 if at is not None and then is not None and then.after is not None else None)
        while (version := next(rows, None)) is not None:
            yield version
            if version.moved_from is not None:
                rows = self.iter_rows(version.moved_from, version.event.seq)

    def iter_rows(self, path: str, before: int | None) -> Iterator[PathVersion]:
        """What events before a number did to a path, newest first."""
        absent: frozenset[int] = frozenset()
        seqs = [seq for seq in reversed(self._journal.get_touching_seqs(path)) if before is None or seq < before]
        for seq, event in zip(seqs, self._journal.iter_small_events(seqs), strict=True):
            if seq in absent or (row := self._make_row(seq, event, path)) is None:
                continue
            if row.event.command not in FOUND and not row.event.is_outside:
                yield row
                continue
            if (absence := find_absence(self._events, row.event, Change(path, row.before, row.after))) is not None:
                absent, row = absence.seqs, replace(row, before=absence.before)
            if row.moved_from is None and is_rewritten(row.event, Change(path, row.before, row.after)):
                continue
            if absence is not None or find_replacements(row.event):
                row = replace(row, event=self._replacements.read(row.event) or row.event)
            yield row

    def _make_row(self, seq: int, event: Event | None, path: str) -> PathVersion | None:
        """What an event did to a path; `None` for nothing. A large event is looked up here."""
        if event is not None and len(event.changes) == 1 and not event.moved:
            change = event.changes[0]
            return PathVersion(event, path, change.before, change.after) if change.path == path else None
        done = self._get_changes(seq) if event is None else _collect_changes(event)
        return None if done is None else done.make_row(path)

    def _get_changes(self, seq: int) -> "_EventChanges | None":
        with self._lock:
            if (kept := self._large.pop(seq, None)) is not None:
                self._large[seq] = kept
        if kept is not None:
            return _add_texts(kept, *self._journal.get_event_texts(seq))
        event = self._journal.get_event(seq)
        if event is None:
            return None
        done = _collect_changes(event)
        if len(event.changes) >= _LARGE:
            self._cache_changes(_add_texts(done, None, None))
        return done

    def _cache_changes(self, done: "_EventChanges") -> None:
        """Keep what a large event did. Its texts are not kept: they may be removed from the record."""
        with self._lock:
            if done.event.seq in self._large:
                return
            self._large[done.event.seq] = done
            self._kept += len(done.event.changes)
            while self._kept > _MOST_KEPT and len(self._large) > 1:
                oldest = self._large.pop(next(iter(self._large)))
                self._kept -= len(oldest.event.changes)


class _EventChanges(NamedTuple):
    """An event's effects by path.

    Attributes:
        changes: The versions before and after it.
        moved: Old paths by new ones.
        moved_to: New paths by old ones, also of what was renamed over a note.
    """

    event: Event
    changes: Mapping[str, tuple[Version | None, Version | None]]
    moved: Mapping[str, str]
    moved_to: Mapping[str, str]

    def make_row(self, path: str) -> PathVersion | None:
        if path not in self.changes:
            return None
        before, after = self.changes[path]
        if path in self.moved:
            source = self.moved[path]
            return PathVersion(self.event, path, self.changes[source][0], after, moved_from=source)
        return PathVersion(self.event, path, before, after, moved_to=self.moved_to.get(path))


def _collect_changes(event: Event) -> _EventChanges:
    changes: dict[str, tuple[Version | None, Version | None]] = {}
    for change in event.changes:
        before = changes[change.path][0] if change.path in changes else change.before
        changes[change.path] = before, change.after
    moved = find_moves(event)
    moved_to = {old: new for new, old in (find_replacements(event) | moved).items()}
    return _EventChanges(event, changes, moved, moved_to)


def _add_texts(done: _EventChanges, answer: str | None, arguments: str | None) -> _EventChanges:
    event = done.event
    if (event.answer, event.arguments) == (answer, arguments):
        return done
    return done._replace(event=replace(event, answer=answer, arguments=arguments))


class _RowMerger:
    """Rows of several paths as one, the newest event first; more paths may join on the way."""

    def __init__(self, rows: Iterator[PathVersion]) -> None:
        self._heads: list[tuple[int, int, PathVersion, Iterator[PathVersion]]] = []
        self._count = 0
        self.add(rows)

    def add(self, rows: Iterator[PathVersion]) -> None:
        if (version := next(rows, None)) is not None:
            self._count += 1
            heappush(self._heads, (-version.event.seq, self._count, version, rows))

    def __iter__(self) -> Iterator[PathVersion]:
        while self._heads:
            _, _, version, rows = heappop(self._heads)
            while not self._heads:  # there is only one, as there mostly is
                following = next(rows, None)
                self._count += 1
                count = self._count
                yield version
                if following is None:
                    break
                version = following
                if self._heads:
                    heappush(self._heads, (-following.event.seq, count, following, rows))
                    break
            else:
                self.add(rows)
                yield version


# Blame: the versions of a note compared one by one, from the newest back.

_BRINGING_BACK = frozenset({"restore", "undo", "redo"})


def blame_lines(
    lineage: Iterable[PathVersion], data: bytes, text: Callable[[Version], bytes | None], at: int | None
) -> Blame:
    """See `JournalHistory.blame`. `lineage` is newest first; `text` gives the bytes of a version that is kept."""

    last: tuple[Version, list[str]] | None = None
    """The version that was read last: mostly the one before an event is the one after that before it."""

    def lines_of(version: Version | None) -> list[str] | None:
        nonlocal last
        if version is None or version.kind is not EntryKind.FILE:
            return []
        if last is not None and last[0] == version:
            return last[1]
        kept = text(version)
        if kept is None:
            return None
        last = version, diffs.split_lines(_as_text(kept))
        return last[1]

    lines = diffs.split_lines(_as_text(data))
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
        elif came_back is not None or version.after is None or version.after.kind is not EntryKind.FILE:
            break
        else:
            by = version.event
            after = lines_of(version.after)
            if after is None:
                return _make_blame(owners, waiting, by, complete=False)
            if after is not current and after != current:  # written by somebody who is not in the record
                waiting, current = _map_lines(current, after, waiting), after
            if version.before is None and by.command in _BRINGING_BACK:
                came_back = by
                continue
            before = lines_of(version.before)
        if before is None:
            return _make_blame(owners, waiting, by, complete=False)
        carried = _map_lines(current, before, waiting)
        _blame_lost(owners, waiting, carried, by)
        waiting, current = carried, before
        if all(number < 0 for number in waiting):
            break
    if came_back is not None:
        return _make_blame(owners, waiting, came_back)
    return Blame(tuple(owners), all(owner is not None for owner in owners))


def _blame_lost(owners: list[Event | None], waiting: list[int], carried: list[int], event: Event) -> None:
    kept = set(carried)
    for number in waiting:
        if number >= 0 and number not in kept:
            owners[number] = event


def _map_lines(current: list[str], before: list[str], waiting: list[int]) -> list[int]:
    """For each line of the version before, which line of the text it is; -1 for one that is not in it."""
    carried = [-1] * len(before)
    old = new = 0
    for block in (*diffs.find_hunks(before, current), diffs.Hunk(len(before), len(before), len(current), len(current))):
        carried[old : block.old_start] = waiting[new : block.new_start]
        old, new = block.old_end, block.new_end
    return carried


def _make_blame(owners: list[Event | None], waiting: list[int], event: Event, *, complete: bool = True) -> Blame:
    for number in waiting:
        if number >= 0:
            owners[number] = event
    return Blame(tuple(owners), complete and all(owner is not None for owner in owners))


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
