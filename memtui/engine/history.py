"""What was: every version of every path, the folder as it stood at any event, and who wrote which line.

All of it is made from events and versions; nothing here looks at the folder, and nothing changes anything.
"""

import json
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice

from memtui.core import diffs
from memtui.core.changes import LastChange
from memtui.core.events import NEVER_TAKEN_BACK, Change, Event, Version
from memtui.core.history import Blame, Deleted, PathVersion, Stats
from memtui.core.snapshot import Kind
from memtui.engine.announcing import claimed_in
from memtui.engine.blame import blame
from memtui.engine.lineage import Lineage
from memtui.engine.lineage import moves as moves  # noqa: PLC0414 - others ask for them here
from memtui.engine.stats import stats
from memtui.engine.telling import ToldIndex, put_in, telling
from memtui.journal.chain import decoded_changes
from memtui.journal.sqlite import Journal

_COMPARED = 1_000_000
"""Bytes of the largest texts that are compared line by line for a person who looks."""
_FOUND = "found"
_FOUND_BODY = b'"command":"found"'
_CLAIMED_BODY = b'"command":"claimed"'
_CLAIMED_WITHIN = 1_000
"""Events behind a change from outside among which an agent is looked for that says it was its own."""
FOUND_UNTIL = "found_until"
"""The name of the note that tells after which event nothing was *found* any more: the first look was over."""
_TAKING_BACK = frozenset({"undo", "redo"})

State = dict[str, Version]
"""What stands at each path."""


class History:
    """Questions about what was. Every method may be called from any thread.

    Args:
        journal: The record.
        in_flight: Held while it is read, so that it is not closed meanwhile.
    """

    def __init__(self, journal: Journal, in_flight: Callable[[], AbstractContextManager[None]]) -> None:
        self._journal = journal
        self._in_flight = in_flight
        self._told = ToldIndex(journal)
        self._lineage = Lineage(journal)

    def event(self, seq: int) -> Event | None:
        """One event; `None` if there is none of that number."""
        with self._in_flight():
            return self._journal.event(seq)

    def text(self, version: Version | None) -> bytes | None:
        """The bytes of a version: empty for nothing; `None` where they are not kept."""
        if version is None:
            return b""
        if version.sha256 is None:
            return None
        with self._in_flight():
            return self._journal.text(version.sha256)

    def texts(self, hashes: Collection[str]) -> dict[str, bytes]:
        """The bytes of many versions by SHA-256, those that are kept."""
        with self._in_flight():
            return self._journal.texts(hashes)

    def bodies(self, after: int, *, limit: int) -> list[tuple[int, bytes]]:
        """The canonical bytes of events in order, for whoever takes in all of them: `(number, body)`.

        Args:
            after: The number of the event before the first one wanted.
            limit: How many at most.
        """
        with self._in_flight():
            return list(self._journal.bodies(after, min(after + limit, self._journal.head()[0])))

    # One path

    def versions_of(self, path: str, *, limit: int = -1, told: bool = False) -> list[PathVersion]:
        """What a path has been through, newest first.

        Through renames, deletions and comebacks: what was moved here brings its history along, and what stood here
        before it is told as well; not what stood at the names that it had before.

        Args:
            path: Relative to the folder.
            limit: How many at most; negative for all.
            told: Whether what session files told afterwards is put in among it, by the time at which it happened.
        """
        with self._in_flight():
            if not told or not self._told.paths():
                return list(islice(self._lineage.of_path(path), None if limit < 0 else limit))
            recorded = list(self._lineage.of_path(path))
            rows = put_in(recorded, self._told_along(path, recorded))
            return rows if limit < 0 else rows[:limit]

    def told_lines(self, path: str, data: bytes) -> list[PathVersion | None]:
        """What session files told afterwards of each line of a text; `None` where they tell nothing.

        Args:
            path: Where it stands, relative to the folder.
            data: The text.
        """
        lines = diffs.lines_of(data.decode("utf-8", "surrogateescape"))
        with self._in_flight():
            told = self._told_along(path, self._lineage.of_thing(path)) if self._told.paths() else []
            return telling(told, self._kept, lines)

    def told_of(self, path: str) -> list[PathVersion]:
        """What session files told afterwards of a path, newest first; under the names that it had before as well."""
        with self._in_flight():
            return self._told_along(path, self._lineage.of_thing(path)) if self._told.paths() else []

    def _told_along(self, path: str, rows: Iterable[PathVersion]) -> list[PathVersion]:
        """What is told of a path and, up to when it was moved here, of what it was called before."""
        told = self._told.of(path)
        names = {path}
        todo = deque([*rows, *told])
        while todo:
            row = todo.popleft()
            if row.moved_from is not None and row.moved_from not in names:
                names.add(row.moved_from)
                more = [each for each in self._told.of(row.moved_from) if each.at_us <= row.at_us]
                more = [each for each in more if each.moved_to not in names]  # the other end of the same move
                told += more
                todo += more
        return sorted(told, key=lambda each: (each.at_us, each.event.seq), reverse=True) if len(names) > 1 else told

    def version_at(self, path: str, at: int) -> Version | None:
        """What stood at a path right after an event; `None` for nothing."""
        with self._in_flight():
            events = self._journal.events_of(path, limit=1, before=at + 1)
            if events:
                return [change.after for change in events[0].changes if change.path == path][-1]
            first = next(iter(self._journal.touches(path)), None)
            event = None if first is None else self._journal.event(first)
            if event is None or event.command != _FOUND:
                return None
            return next(change.after for change in event.changes if change.path == path)

    def last_touching(self, path: str, at: int) -> Event | None:
        """The event that made a path what it was right after another one; `None` if nothing had happened to it."""
        with self._in_flight():
            return next(iter(self._journal.events_of(path, limit=1, before=at + 1)), None)

    def last_below(self, below: str, at: int) -> Event | None:
        """The last event, up to a number, that changed a directory or something in it; `None` if none did."""
        holds = _below(below)
        with self._in_flight():
            for number, body in self._journal.bodies(0, at, backwards=True):
                if any(holds(path) for path, _, _ in decoded_changes(body)):
                    return self._journal.event(number)
            return None

    def blame(self, path: str, data: bytes, *, at: int | None = None) -> Blame:
        """Who wrote each line of a text.

        Args:
            path: Where it stands, relative to the folder.
            data: The text; one that is not in the record is compared with the newest version that is.
            at: The number of the event after which it stood there; `None` for now.
        """
        with self._in_flight():
            return blame(self._lineage.of_thing(path, at), data, self._kept, at)

    def claimed(self, blamed: Blame) -> Blame:
        """The same, where lines that were found, and that an agent then said were its own, are that agent's."""
        found = {event.seq: event for event in blamed.lines if event is not None and event.is_outside}
        with self._in_flight():
            claims = {seq: claim for seq, event in found.items() if (claim := self._claim_of(event)) is not None}
        if not claims:
            return blamed
        lines = tuple(claims.get(event.seq, event) if event is not None else None for event in blamed.lines)
        return replace(blamed, lines=lines)

    def _claim_of(self, event: Event) -> Event | None:
        """The event in which an agent said that a change from outside was its own; it comes moments later."""
        until = min(event.seq + _CLAIMED_WITHIN, self._journal.head()[0])
        for number, body in self._journal.bodies(event.seq, until):
            if _CLAIMED_BODY in body:
                claim = self._journal.event(number)
                if claim is not None and claimed_in(claim) == event.seq:
                    return claim
        return None

    def _kept(self, version: Version) -> bytes | None:
        return self._journal.text(version.sha256) if version.sha256 else None

    def last_change(self, path: str, data: bytes | None) -> LastChange | None:
        """What became of a file last, since memtui first looked.

        Args:
            path: Relative to the folder.
            data: What it holds now; `None` if that could not be read, or if it is gone.
        """
        with self._in_flight():
            version = next(self._lineage.of_thing(path), None)
            if version is None or version.event.command == "found":
                return None
            event = version.event
            if version.after is None and version.moved_to is None:
                data = b""
            before = self._text_before(version)
        return compared(event, before, data)

    def _text_before(self, version: PathVersion) -> bytes | None:
        if version.before is None:
            return b""
        if version.before.kind is not Kind.FILE or version.before.sha256 is None:
            return None
        return self._journal.text(version.before.sha256)

    # The folder

    def state(self, at: int, below: str = "") -> State:
        """What stood at each path right after an event. What memtui found when it first looked stood there before.

        Args:
            at: The event's number; 0 for before the first one.
            below: Only a path and what is below it; `""` for the whole folder.
        """
        with self._in_flight():
            return self._state(at, below)

    def _state(self, at: int, below: str) -> State:
        head = self._journal.head()[0]
        holds = _below(below)
        state: State = {}
        if at * 2 < head:
            for _, body in self._journal.bodies(0, at):
                for path, _, after in decoded_changes(body):
                    if holds(path):
                        _put(state, path, after)
            found = self._found_between(at, min(head, self._found_until()))
            state |= {path: after for path, after in found.items() if holds(path)}
            return state
        known = self._journal.known_below(below)
        if below and (here := self._journal.known(below)):
            known[below] = here
        state = {path: each.version for path, each in known.items()}
        found = self._found_between(at, min(head, self._found_until()))
        for _, body in self._journal.bodies(at, head, backwards=True):
            for path, before, _ in reversed(decoded_changes(body)):
                if holds(path):
                    _put(state, path, found.get(path) if before is None else before)
        return state

    def between(self, old: int, new: int, below: str = "") -> list[Change]:
        """The net differences of the folder between two events, by path.

        Args:
            old: The number of the event after which it begins.
            new: The number of the event after which it ends; one before `old` gives the differences backwards.
            below: Only a path and what is below it.
        """
        if new < old:
            return [Change(change.path, change.after, change.before) for change in self.between(new, old, below)]
        first: dict[str, Version | None] = {}
        last: dict[str, Version | None] = {}
        holds = _below(below)
        with self._in_flight():
            found = self._found_between(old, min(new, self._found_until()))
            for _, body in self._journal.bodies(old, new):
                for path, before, after in decoded_changes(body):
                    if holds(path):
                        first.setdefault(path, found.get(path) if before is None else before)
                        last[path] = after
        paths = sorted((path for path in first if first[path] != last[path]), key=lambda path: path.split("/"))
        return [Change(path, first[path], last[path]) for path in paths]

    def _found_until(self) -> int:
        """The number of the event after which nothing was *found* any more."""
        return int(self._journal.note(FOUND_UNTIL) or self._journal.head()[0])

    def _found_between(self, after: int, until: int) -> State:
        """What was found by events of a range, and was not known to be there by any event before it."""
        found: State = {}
        touched: set[str] = set()
        for _, body in self._journal.bodies(after, until):
            was_found = _FOUND_BODY in body
            for path, _, version in decoded_changes(body):
                if was_found and version is not None and path not in touched:
                    found[path] = version
                touched.add(path)
        if found and after:
            for path in self._journal.touched_until(after):
                found.pop(path, None)
        return found

    def step(self, seq: int, direction: int) -> Event | None:
        """The nearest event that changed something; what memtui found at first is one step.

        Args:
            seq: From which event, itself not included.
            direction: Forwards if positive, else backwards.
        """
        with self._in_flight():
            last_found = 0
            is_found = any(_FOUND_BODY in body for _, body in self._journal.bodies(seq - 1, seq))
            if direction > 0:
                bodies = self._journal.bodies(seq, self._journal.head()[0])
            else:
                bodies = self._journal.bodies(0, seq - 1, backwards=True)
            for number, body in bodies:
                if _FOUND_BODY in body:
                    last_found = max(last_found, number)
                elif decoded_changes(body):
                    return self._journal.event(number)
            is_first = direction < 0 and not is_found
            return self._journal.event(last_found) if last_found and is_first else None

    def seq_at(self, at_us: int) -> int:
        """The number of the last event up to a time; 0 if there is none.

        Where the clock ran backwards, the numbers decide: it is the last event whose time is not later.

        Args:
            at_us: Microseconds since 1970 (UTC).
        """
        with self._in_flight():
            found = self._journal.bodies(0, self._journal.head()[0], backwards=True)
            return next((number for number, body in found if json.loads(body)["at_us"] <= at_us), 0)

    def deleted(self) -> list[Deleted]:
        """Files and links that were there once and are not now, the last to go first. What was moved is not gone."""
        with self._in_flight():
            by_event: dict[int, list[str]] = {}
            for path, seq in self._journal.gone().items():
                by_event.setdefault(seq, []).append(path)
            found: list[Deleted] = []
            sizes = self._journal.sizes()
            for seq in sorted(by_event, reverse=True):
                event = self._journal.event(seq)
                assert event is not None
                found += _deleted_by(event, by_event[seq], sizes)
            return found + self._only_told({deleted.path for deleted in found})

    def _only_told(self, known: Collection[str]) -> list[Deleted]:
        """Files that are not there, and of which only session files tell. What was moved away is not gone."""
        paths = (
            path
            for path in self._told.paths()
            if path not in known
            and self._journal.known(path) is None
            and next(iter(self._journal.touches(path)), None) is None
        )
        told = [deleted for path in paths if (deleted := self._told.deleted(path)) is not None]
        return sorted(told, key=lambda deleted: -(deleted.told_us or 0))

    # Taking back

    def undoable(self, seq: int | None = None) -> Event | None:
        """What undo would take back.

        Args:
            seq: Of which event; `None` for the newest that changed something and was not taken back.

        Returns:
            The event; `None` if there is nothing to be taken back.
        """
        with self._in_flight():
            if seq is not None:
                event = self._journal.event(seq)
                return event if event and _is_undoable(event) and self._undone_by(seq) is None else None
            for number, body in self._journal.bodies(0, self._journal.head()[0], backwards=True):
                if decoded_changes(body) and self._undone_by(number) is None:
                    event = self._journal.event(number)
                    if event and _is_undoable(event) and event.command not in _TAKING_BACK:
                        return event
            return None

    def redoable(self) -> Event | None:
        """The newest `undo` that still stands, so that redo can take it back; `None` if there is none."""
        with self._in_flight():
            before = self._journal.head()[0] + 1
            while (number := self._journal.newest_taking_back(before)) is not None:
                event = self._journal.event(number)
                if event and event.command == "undo" and self._undone_by(number) is None:
                    return event
                before = number
            return None

    def undone_by(self, seq: int) -> int | None:
        """The number of the event by which an event stands taken back; `None` if it does not."""
        with self._in_flight():
            return self._undone_by(seq)

    def _undone_by(self, seq: int) -> int | None:
        return next((by for by in reversed(self._journal.taken_back_by(seq)) if self._undone_by(by) is None), None)

    # Numbers

    def stats(self, *, limit: int = 20) -> Stats:
        """The record in numbers.

        Args:
            limit: How many paths and actors at most.
        """
        with self._in_flight():
            return stats(self._journal, limit)


def compared(event: Event, before: bytes | None, after: bytes | None) -> LastChange:
    """What an event did to a text, line by line.

    Args:
        event: Which.
        before: The text before it; `None` where it is not kept.
        after: The text after it.

    Returns:
        Without lines where either is not kept, is no text, or is too large to be compared for a person who waits.
    """
    if before is None or after is None or max(len(before), len(after)) > _COMPARED:
        return LastChange(event)
    try:
        old, new = before.decode("utf-8"), after.decode("utf-8")
    except UnicodeDecodeError:
        return LastChange(event)
    difference = diffs.compare(old, new)
    lines = difference.changed_lines if old else ()  # of a note that was new, all lines are
    return LastChange(event, tuple(difference.unified()), frozenset(lines))


def _is_undoable(event: Event) -> bool:
    return bool(event.changes) and event.command not in NEVER_TAKEN_BACK


def _deleted_by(event: Event, paths: Iterable[str], sizes: Mapping[str, tuple[int, int | None]]) -> list[Deleted]:
    moved_away = set(moves(event).values())
    last = {change.path: change for change in event.changes}
    found: list[Deleted] = []
    for path in sorted(paths, key=lambda path: path.split("/")):
        change = last.get(path)
        if change is None or change.after is not None or change.before is None or path in moved_away:
            continue
        if change.before.kind in (Kind.FILE, Kind.LINK):
            kept = change.before.sha256 is not None and sizes.get(change.before.sha256, (0, None))[1] is not None
            found.append(Deleted(path, change.before, event, kept))
    return found


def _put(state: State, path: str, version: Version | None) -> None:
    if version is None:
        state.pop(path, None)
    else:
        state[path] = version


def _below(below: str) -> Callable[[str], bool]:
    if not below:
        return lambda _: True
    start = below + "/"
    return lambda path: path == below or path.startswith(start)
