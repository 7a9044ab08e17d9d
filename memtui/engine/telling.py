"""What session files told afterwards: recorded once, found again by path, and put in among what was recorded."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from memtui.core import diffs
from memtui.core.errors import StateUnusable
from memtui.core.events import Event, Version, sha256
from memtui.core.history import Deleted, PathVersion
from memtui.core.paths import ROOT_NAME, MemoryPath
from memtui.core.snapshot import Kind
from memtui.core.told import IMPORTED, Told, arguments_of, circumstances_of
from memtui.engine.faults import reason_of
from memtui.journal.sqlite import Journal
from memtui.store.base import Transaction

NOTED = "imported_until"
"""The name of the note that tells up to which event there is something to be found; absent if there is nothing."""
_MARK = b'"command":"imported"'
_CALL = b'"call_id":"'
_WHOLE = frozenset({"Write", "cat", "cp", "echo", "tee"})
"""What writes whole files: every line of them came with it, unless an earlier one is told."""
_NOT_TOLD = Version(Kind.FILE, None, 0)
"""Stands for a text that nobody told."""
_BATCH = 200
"""Events that are recorded at a time: the lock is free in between."""


class Teller:
    """Records what was told.

    Args:
        journal: Where.
        read_only: Whether nothing may be recorded.
        now_us: Tells the time, in microseconds since 1970.
        writing: Takes the writer lock.
        recorded: Told once something was recorded.
        limit: Bytes of the largest text that is kept.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        read_only: Callable[[], bool],
        now_us: Callable[[], int],
        writing: Callable[[], AbstractContextManager[Transaction]],
        recorded: Callable[[], None],
        limit: int,
    ) -> None:
        self._journal = journal
        self._read_only = read_only
        self._now_us = now_us
        self._writing = writing
        self._recorded = recorded
        self._limit = limit
        self._lock = threading.Lock()
        self._known: set[tuple[str, str]] = set()
        self._known_until = 0

    def news(self, told: Iterable[Told]) -> list[Told]:
        """Those that were not imported yet."""
        with self._lock:
            self._catch_up()
            return [each for each in told if (each.call_id, str(MemoryPath.of(each.path))) not in self._known]

    def record(self, told: Sequence[Told], progress: Callable[[int, int], bool]) -> list[Event]:
        """See `Engine.record_told`."""
        if self._read_only():
            raise StateUnusable("This session is read-only. Nothing was recorded.")
        recorded: list[Event] = []
        stood: dict[str, Version | None] = {}
        try:
            for start in range(0, len(told), _BATCH):
                if not progress(start, len(told)):
                    break
                recorded += self._record_some(told[start : start + _BATCH], stood)
        except OSError as error:
            raise StateUnusable(f"It cannot be recorded: {reason_of(error)}.") from error
        return recorded

    def _record_some(self, told: Sequence[Told], stood: dict[str, Version | None]) -> list[Event]:
        with self._writing():
            events: list[Event] = []
            texts: dict[str, bytes] = {}
            for each in self.news(told):  # somebody else may have imported them meanwhile
                events += self._events(each, texts, stood)
            if not events:
                return []
            # Noted before: whoever dies in between must not leave behind what nobody finds, and what is imported twice.
            self._journal.set_note(NOTED, str(self._journal.head()[0] + len(events)))
            recorded = self._journal.append(events, texts=texts, durable=True)
            self._recorded()
        return recorded

    def _events(self, told: Told, texts: dict[str, bytes], stood: dict[str, Version | None]) -> Iterator[Event]:
        before, after = self._version(told.before, texts), self._version(told.after, texts)
        event = Event(
            at_us=self._now_us(),
            actor=told.agent,
            command=IMPORTED,
            path=str(MemoryPath.of(told.path)),
            no_change=True,
            call_id=told.call_id,
            arguments=arguments_of(told),
            note=f"{told.tool}, from a session file",
        )
        # Without what stood there before, all lines would seem to have come with this call.
        name = before.sha256 if before is not None else None
        was_told = stood.get(told.path) == before
        stood[told.path] = after
        if name is not None and not was_told and (name in texts or self._journal.has_text(name)):
            yield replace(
                event,
                viewed=before,
                arguments=arguments_of(told, is_before=True),
                note=f"what stood there before {told.tool}, from a session file",
            )
        counts = None
        if told.is_gone and told.before is not None:
            counts = _counts(told.before, b"")
        if told.after is not None and (told.before is not None or told.tool in _WHOLE):
            counts = _counts(told.before or b"", told.after)
        yield replace(
            event,
            viewed=after,
            added=counts.added if counts else None,
            removed=counts.removed if counts else None,
        )

    def _version(self, data: bytes | None, texts: dict[str, bytes]) -> Version | None:
        if data is None or len(data) > self._limit:
            return None
        name = sha256(data)
        if self._journal.has_text(name) or not self._journal.knows(name):  # what was removed stays removed
            texts[name] = data
        return Version(Kind.FILE, name, len(data))

    def _catch_up(self) -> None:
        """Learn of the calls that were imported since it was last asked, by whomever."""
        until = _noted(self._journal)
        if until <= self._known_until:
            return
        for seq, body in self._journal.bodies(self._known_until, until):
            if _MARK in body:
                event = self._journal.event(seq)
                if event is not None and event.call_id is not None:
                    self._known.add((event.call_id, event.path))
        self._known_until = until


def _noted(journal: Journal) -> int:
    """Up to which event there may be something; one may be noted that was never recorded."""
    noted = journal.note(NOTED)
    return min(int(noted), journal.head()[0]) if noted is not None and noted.isdecimal() else 0


def _counts(before: bytes, after: bytes) -> diffs.Counts | None:
    try:
        return diffs.counts(before.decode(), after.decode())
    except UnicodeDecodeError:
        return None


class ToldIndex:
    """Finds what was told by path. Every method may be called from any thread.

    Args:
        journal: The record.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._until = 0
        self._seqs: dict[str, list[tuple[int, int]]] = {}
        """By path: when each was made, in microseconds since 1970, and the number of its event."""

    def of(self, path: str) -> list[PathVersion]:
        """What a path is told to have been through, newest first."""
        with self._lock:
            self._catch_up()
            seqs = list(self._seqs.get(path, ()))
        rows = [row for _, seq in seqs if (row := self._row(path, seq)) is not None]
        rows.sort(key=_age)
        before: Version | None = None
        chained = []
        for row in rows:
            is_edit = row.told is not None and row.told.tool.endswith("Edit")
            chained.append(replace(row, before=_NOT_TOLD if before is None and is_edit else before))
            before = row.after
        return chained[::-1]

    def paths(self) -> list[str]:
        """The paths of which something is told."""
        with self._lock:
            self._catch_up()
            return list(self._seqs)

    def deleted(self, path: str) -> Deleted | None:
        """A path that is not there, as it was told last; `None` if its text is not told, or if it was moved."""
        with self._lock:
            self._catch_up()
            seqs = list(self._seqs.get(path, ()))
        rows = (self._row(path, seq) for _, seq in seqs)
        told = sorted((row for row in rows if row is not None), key=_age, reverse=True)
        row = next((row for row in told if row.after is not None and row.after.sha256 is not None), None)
        if row is None or row.after is None or row.after.sha256 is None or told[0].moved_to is not None:
            return None
        event, at_us = (told[0] if told[0].after is None else row).event, told[0].at_us
        return Deleted(path, row.after, event, self._journal.has_text(row.after.sha256), told_us=at_us)

    def _row(self, path: str, seq: int) -> PathVersion | None:
        event = self._journal.event(seq)
        told = circumstances_of(event) if event is not None else None
        if event is None or told is None:
            return None
        after = None if told.is_gone else event.viewed or _NOT_TOLD
        was, to = told.moved_from or None, told.moved_to or None
        return PathVersion(event, path, None, after, moved_from=was, moved_to=to, told=told)

    def _catch_up(self) -> None:
        until = _noted(self._journal)
        if until <= self._until:
            return
        for seq, body in self._journal.bodies(self._until, until):
            if _MARK in body:
                event = self._journal.event(seq)
                told = circumstances_of(event) if event is not None else None
                if event is not None and told is not None:
                    of_path = self._seqs.setdefault(event.path.removeprefix(f"{ROOT_NAME}/"), [])
                    of_path.append((told.at_us or event.at_us, seq))
        self._until = until


def _age(row: PathVersion) -> tuple[int, int]:
    return row.at_us, row.event.seq


def telling(
    told: Sequence[PathVersion], text_of: Callable[[Version], bytes | None], lines: Sequence[str]
) -> list[PathVersion | None]:
    """Which write brought each line of a text, of those that are told: the oldest since which it stood without a gap.

    Args:
        told: What a path is told to have been through, newest first.
        text_of: Gives the bytes of one of them; `None` where they are not kept.
        lines: The lines of the text.

    Returns:
        For each line the write; `None` where none of them tells.
    """
    wanted = [line[:-2] if line.endswith("\r\n") else line.removesuffix("\n") for line in lines]
    found: dict[str, PathVersion] = {}
    sought, standing = set(wanted), set[str]()
    """Lines that may have stood earlier still, and those of them that stood in the version after."""
    for row in told:
        if not sought:
            break
        text = text_of(row.after) if row.after is not None else b""
        if text is None:
            continue
        plain = text.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        held = set(plain.removesuffix("\n").split("\n")) if plain else set()
        sought -= standing - held  # it was not there yet
        standing = sought & held
        found |= dict.fromkeys(standing, row)
    for line in sought & found.keys():  # it was there as far back as anything is told
        told_by = found[line].told
        if told_by is None or told_by.is_before or told_by.tool not in _WHOLE:
            del found[line]
    return [found.get(line) for line in wanted]


def put_in(recorded: Sequence[PathVersion], told: Sequence[PathVersion]) -> list[PathVersion]:
    """What was recorded and what was told of one path, newest first.

    What was told of a text that was recorded as well says who brought it: it is one row with that one. So is what was
    told of a deletion that was found to have happened.

    Args:
        recorded: Newest first.
        told: Newest first.
    """
    known = {_text_of(row) for row in recorded}
    told = [row for row in told if row.told is None or not row.told.is_before or _text_of(row) not in known]
    by_text: dict[tuple[str, str], deque[PathVersion]] = {}
    for row in told:
        if (text := _text_of(row)) is not None and row.told is not None and not row.told.is_before:
            by_text.setdefault(text, deque()).append(row)
    same = {}
    for index, row in enumerate(recorded):
        rows = by_text.get(text) if (text := _text_of(row)) is not None else None
        if rows and (row.event.is_outside or row.event.call_id == rows[0].event.call_id):  # else it is known who did it
            same[index] = rows.popleft()
        elif (deletion := _deletion_of(row, recorded[index + 1 :], told)) is not None:
            same[index] = deletion
    matched = {row.event.seq for row in same.values()}
    waiting = deque(row for row in told if row.event.seq not in matched)
    merged: list[PathVersion] = []
    for index, row in enumerate(recorded):
        while index and waiting and waiting[0].at_us > row.event.at_us:  # what stands now was recorded
            merged.append(waiting.popleft())
        found = same.get(index)
        merged.append(row if found is None else replace(row, told=found.told, told_by=found.event))
    return [*merged, *waiting]


def _deletion_of(row: PathVersion, older: Sequence[PathVersion], told: Sequence[PathVersion]) -> PathVersion | None:
    """The deletion that is told of one that was only found; it was made since the change before."""
    if row.after is not None or row.moved_to is not None or not row.event.is_outside:
        return None
    since = older[0].event.at_us if older else 0
    return next(
        (each for each in told if each.after is None and each.path == row.path and since <= each.at_us <= row.at_us),
        None,
    )


def _text_of(row: PathVersion) -> tuple[str, str] | None:
    """What two rows share that tell of the same text at the same path; `None` if the text is not known."""
    return None if row.after is None or row.after.sha256 is None else (row.path, row.after.sha256)
