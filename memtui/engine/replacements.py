"""A file that is renamed over a note is one change of that note: the identity of a note is its path.

Programs write a temporary file and rename it over the note, or take the note away and make it anew. Whoever looks in
between records two or three events. They are read as one: what stood at the path before is the version before.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from memtui.core import diffs
from memtui.core.errors import JournalDamaged
from memtui.core.events import Change, EntryKind, Event, Version, squash_changes
from memtui.core.paths import MemoryPath
from memtui.journal.record import ReadableRecord

_TEMPORARY_US = 60_000_000
"""The longest life of a temporary file, in microseconds."""
_ABSENT_US = 5_000_000
"""The longest time for which a note is away while a program makes it anew."""
FOUND = frozenset({"created", "modified", "renamed"})
"""Commands of events in which a file may have been renamed over a note, or a note taken away to be written anew."""
_BLANKING = FOUND | {"deleted"}
_NEAR = 2
"""Events between the change of a note and the end of its temporary file or backup, where they were seen apart."""
_MOST_STEPS = 16
"""Events of one write of a note at most."""
_MOST_CHANGES = 1_000
"""Changes of the largest event that is read as part of another."""
_KEPT = 8
"""Events that are kept."""
_LARGEST = 1_000_000
"""Bytes of the largest texts whose lines are counted."""


def find_replacements(event: Event) -> dict[str, str]:
    """By notes, the names of the files that were renamed over them, or, where these were hidden, to them."""
    if event.command not in FOUND or event.moved or len(event.changes) < 2:
        return {}
    found: dict[str, str] = {}
    previous: Change | None = None
    for change in event.changes:
        if previous is not None and _is_replacement(event, previous, change):
            found[change.path] = previous.path
            previous = None
        else:
            previous = change
    return found


def _is_replacement(event: Event, old: Change, new: Change) -> bool:
    if old.after is not None or not is_note(old.before) or not is_note(new.after) or old.path == new.path:
        return False
    return event.command != "renamed" or (is_note(new.before) and old.before == new.after)


class PathEvents:
    """The events of a path; those that were asked for last are kept, as one may name thousands of paths."""

    def __init__(self, journal: ReadableRecord) -> None:
        self._journal = journal
        self._get = lru_cache(maxsize=_KEPT)(self._read)

    def find_next(self, path: str, seq: int) -> "PathEvent | None":
        return self._find(path, self._journal.find_next_touching(path, seq))

    def iter_before(self, path: str, seq: int) -> "Iterator[PathEvent]":
        """The last events before a number, newest first."""
        for _ in range(_MOST_STEPS):
            found = self._find(path, self._journal.find_previous_touching(path, seq))
            if found is None:
                return
            yield found
            seq = found.event.seq

    def _find(self, path: str, seq: int | None) -> "PathEvent | None":
        event, changes = self._get(seq) if seq is not None else (None, {})
        return PathEvent(event, changes[path]) if event is not None and path in changes else None

    def _read(self, seq: int) -> tuple[Event | None, dict[str, Change]]:
        try:
            event = self._journal.get_event(seq)
        except JournalDamaged:
            return None, {}  # somebody wrote over it: that is told elsewhere
        return event, {change.path: change for change in squash_changes(event.changes)} if event else {}


class PathEvent(NamedTuple):
    """An event and what it did to a path."""

    event: Event
    change: Change


def is_temporary(events: PathEvents, path: str, before: int, at_us: int) -> bool:
    """Whether what stood at a path before an event at a time had come from outside a moment before, to be renamed."""
    for event, change in events.iter_before(path, before):
        if not event.is_outside or not 0 <= at_us - event.at_us <= _TEMPORARY_US:
            return False
        if event.command != "modified":
            return event.command in FOUND and change.before is None and is_note(change.after)
    return False


class Absence(NamedTuple):
    """The moment for which a note was away or empty, until it was written: by which events, and what stood before."""

    seqs: frozenset[int]
    before: Version | None


def find_absence(events: PathEvents, event: Event, change: Change) -> Absence | None:
    """What a program did to a note moments before an event, to write it anew; `None` if that was nothing."""
    if event.command not in ("created", "modified") or not _is_blank(change.before) or not is_note(change.after):
        return None
    seqs: set[int] = set()
    before: Version | None = None
    for last, earlier in events.iter_before(change.path, event.seq):
        is_near = last.is_outside and last.command in _BLANKING and 0 <= event.at_us - last.at_us <= _ABSENT_US
        if not is_near or not _is_blank(earlier.after):
            break
        seqs.add(last.seq)
        before = earlier.before
        if not _is_blank(before):
            break
    return Absence(frozenset(seqs), before) if seqs and (before is None or is_note(before)) else None


def _is_blank(version: Version | None) -> bool:
    return version is None or (version.kind is EntryKind.FILE and version.size == 0)


def is_rewritten(event: Event, change: Change) -> bool:
    """Whether another program wrote a note anew with the text that it had: no change of that note."""
    return event.is_outside and is_note(change.after) and change.before == change.after


def is_note(version: Version | None) -> bool:
    """Whether a version is a file or a link, whose identity is its path."""
    return version is not None and version.kind in (EntryKind.FILE, EntryKind.LINK)


class ReplacementReader:
    """Reads recorded events as changes of notes. Calls may come from any thread."""

    def __init__(self, journal: ReadableRecord, text: Callable[[Version | None], bytes | None]) -> None:
        self._journal = journal
        self._events = PathEvents(journal)
        self._text = text

    def read(self, event: Event) -> Event | None:
        """An event as it is read; `None` if it is a part of another one."""
        if event.is_error or not 0 < len(event.changes) <= _MOST_CHANGES:
            return event
        match event.command:
            case "created" | "modified":
                return self._read_written(event)
            case "renamed" if len(event.changes) == 2:
                return self._read_renamed(event, *event.changes)
            case "deleted":
                return None if all(self._is_part(change, event) for change in event.changes) else event
        return event

    def _drop_temporary(self, event: Event) -> Event:
        """Without what became of temporary files; what had stood longer at its name is gone from there."""
        found = find_replacements(event).values()
        names = {each for each in found if is_temporary(self._events, each, event.seq, event.at_us)}
        return _keep(event, lambda each: each.path not in names) or event

    def _read_written(self, event: Event) -> Event | None:
        read = _keep(self._drop_temporary(event), lambda each: not self._is_part(each, event))
        if read is None:
            return None
        before: dict[str, Version | None] = {}
        for change in read.changes:
            absence = find_absence(self._events, event, change)
            if absence is None:
                return _keep(read, lambda each: not is_rewritten(event, each))
            before[change.path] = absence.before
        changes = tuple(replace(each, before=before[each.path]) for each in read.changes)
        return _keep(self._rewrite(read, changes), lambda each: not is_rewritten(event, each))

    def _read_renamed(self, event: Event, old: Change, new: Change) -> Event | None:
        if new.path in find_replacements(event):
            return self._drop_temporary(self._rewrite(event, event.changes))
        if old.after is None and is_note(old.before) and self._comes_back(old.path, event):
            return None if self._is_renamed_soon(new, event) else self._rewrite(event, (new,))
        return event

    def _rewrite(self, event: Event, changes: tuple[Change, ...]) -> Event:
        """An event that made or changed notes, of which the last one is named."""
        change = changes[-1]
        command = "created" if change.before is None else "modified"
        name = str(MemoryPath.from_relative(change.path)) if len(changes) == 1 or event.new_path else event.path
        counts = self._count_lines(change) if len(changes) == 1 or event.new_path else None
        added, removed = counts or (None, None)
        return replace(event, command=command, path=name, new_path=None, changes=changes, added=added, removed=removed)

    def _count_lines(self, change: Change) -> diffs.LineCounts | None:
        versions = (change.before, change.after)
        if any(each is not None and (each.kind is not EntryKind.FILE or each.size > _LARGEST) for each in versions):
            return None
        before, after = map(self._text, versions)
        try:
            return None if before is None or after is None else diffs.count_changes(before.decode(), after.decode())
        except UnicodeDecodeError:
            return None

    def _is_part(self, change: Change, event: Event) -> bool:
        """Whether a change from outside was a step of a program that wrote a note."""
        if not event.is_outside:
            return False
        if change.after is None:
            return self._comes_back(change.path, event) or self._is_copied(change, event)
        return self._is_renamed_soon(change, event) or (
            _is_blank(change.after) and self._comes_back(change.path, event)
        )

    def _comes_back(self, path: str, event: Event) -> bool:
        """Whether a program took a note away or emptied it with an event, and wrote it anew moments later."""
        back = self._events.find_next(path, event.seq) if event.is_outside else None
        absence = find_absence(self._events, *back) if back is not None else None
        return absence is not None and event.seq in absence.seqs

    def _is_renamed_soon(self, change: Change, event: Event) -> bool:
        """Whether what an event from outside made, or wrote on, was a temporary file or a backup of a note."""
        if not is_note(change.after):
            return False
        if change.before is not None and not is_temporary(self._events, change.path, event.seq, event.at_us):
            return False
        last = self._events.find_next(change.path, event.seq)
        for _ in range(_MOST_STEPS):
            if last is None or not (last.event.is_outside and last.event.command == "modified" and last.change.after):
                break
            last = self._events.find_next(change.path, last.event.seq)
        if last is None or last.event.at_us - event.at_us > _TEMPORARY_US:
            return False
        if change.path in find_replacements(last.event).values():
            return True
        is_deleted = last.event.is_outside and last.event.command == "deleted"
        return is_deleted and self._is_copied(last.change, last.event)

    def _is_copied(self, change: Change, event: Event) -> bool:
        """Whether a temporary file or backup went while its text came to a note, or left it, seen apart."""
        text = change.before
        if not is_note(text) or not is_temporary(self._events, change.path, event.seq, event.at_us):
            return False
        near = self._journal.get_events(max(event.seq - _NEAR - 1, 0), limit=2 * _NEAR + 1)
        return any(
            each.path != change.path and text in (each.after, absence.before if absence else each.before)
            for other in near
            if other.command in ("created", "modified") and abs(other.at_us - event.at_us) <= _ABSENT_US
            for each in other.changes
            for absence in [find_absence(self._events, other, each)]
        )


def _keep(event: Event, is_kept: Callable[[Change], bool]) -> Event | None:
    """An event with some of its changes; `None` for none of them."""
    changes = tuple(filter(is_kept, event.changes))
    if len(changes) == len(event.changes):
        return event
    if not changes:
        return None
    names = [str(MemoryPath.from_relative(each.path)) for each in changes]
    return replace(event, changes=changes, path=event.path if event.path in names else names[-1])
