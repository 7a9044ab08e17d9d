"""What was: every version of every path, the folder as it stood at any event, and who wrote which line.

All of it is made from events and versions; nothing here looks at the folder, and nothing changes anything.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from heapq import heappop, heappush
from itertools import islice

from memtui.core import diffs
from memtui.core.changes import LastChange
from memtui.core.events import NEVER_TAKEN_BACK, Change, Event, Version
from memtui.core.history import Blame, Deleted, PathVersion, Stats
from memtui.core.snapshot import Kind
from memtui.engine.blame import blame
from memtui.engine.moving import expanded
from memtui.engine.stats import stats
from memtui.engine.telling import ToldIndex, put_in, telling
from memtui.journal.chain import decoded_changes
from memtui.journal.sqlite import Journal

_COMPARED = 1_000_000
"""Bytes of the largest texts that are compared line by line for a person who looks."""
_FOUND = "found"
_FOUND_BODY = b'"command":"found"'
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
        before it is told as well.

        Args:
            path: Relative to the folder.
            limit: How many at most; negative for all.
            told: Whether what session files told afterwards is put in among it, by the time at which it happened.
        """
        with self._in_flight():
            if not told or not self._told.paths():
                return list(islice(self._versions_of(path), None if limit < 0 else limit))
            recorded = list(self._versions_of(path))
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
            told = self._told_along(path, self._lineage(path)) if self._told.paths() else []
            return telling(told, self._kept, lines)

    def told_of(self, path: str) -> list[PathVersion]:
        """What session files told afterwards of a path, newest first; under the names that it had before as well."""
        with self._in_flight():
            return self._told_along(path, self._lineage(path)) if self._told.paths() else []

    def _told_along(self, path: str, rows: Iterable[PathVersion]) -> list[PathVersion]:
        """What is told of a path and, up to when it was moved here, of what it was called before."""
        told = self._told.of(path)
        names = {path}
        for row in rows:
            if row.moved_from is not None and row.moved_from not in names:
                names.add(row.moved_from)
                told += [each for each in self._told.of(row.moved_from) if each.at_us <= row.event.at_us]
        return sorted(told, key=lambda each: (each.at_us, each.event.seq), reverse=True) if len(names) > 1 else told

    def _versions_of(self, path: str) -> Iterator[PathVersion]:
        followed = {path}
        rows = _ByAge(self._rows_of(path, None))
        for version in rows:
            if version.moved_to in followed:
                continue  # told where it went
            yield version
            if version.moved_from is not None and version.moved_from not in followed:
                followed.add(version.moved_from)
                rows.add(self._rows_of(version.moved_from, version.event.seq))

    def _lineage(self, path: str, at: int | None = None) -> Iterator[PathVersion]:
        """What the thing that stands at a path, or stood there right after an event, has been through, newest first."""
        then = None if at is None else next(self._rows_of(path, at + 1), None)
        # One that was called otherwise then is meant by the name that it has now.
        rows = self._rows_of(path, at + 1 if at is not None and then is not None and then.after is not None else None)
        while (version := next(rows, None)) is not None:
            yield version
            if version.moved_from is not None:
                rows = self._rows_of(version.moved_from, version.event.seq)

    def _rows_of(self, path: str, before: int | None) -> Iterator[PathVersion]:
        """What events before a number did to a path, newest first."""
        size = 8
        while True:
            page = self._journal.events_of(path, limit=size, before=before)
            for event in page:
                yield from _rows_of(event, path)
            if len(page) < size:
                return
            before, size = page[-1].seq, 256

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
            return blame(self._lineage(path, at), data, self._kept, at)

    def _kept(self, version: Version) -> bytes | None:
        return self._journal.text(version.sha256) if version.sha256 else None

    def last_change(self, path: str, data: bytes | None) -> LastChange | None:
        """What became of a file last, since memtui first looked.

        Args:
            path: Relative to the folder.
            data: What it holds now; `None` if that could not be read, or if it is gone.
        """
        with self._in_flight():
            version = next(self._lineage(path), None)
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


def _rows_of(event: Event, path: str) -> Iterator[PathVersion]:
    """What an event did to a path."""
    moved = moves(event)
    changes = [change for change in event.changes if change.path == path]
    if not changes:
        return
    before, after = changes[0].before, changes[-1].after
    if path in moved:
        yield PathVersion(event, path, after, after, moved_from=moved[path])
        return
    moved_to = next((new for new, old in moved.items() if old == path), None)
    yield PathVersion(event, path, before, after, moved_to=moved_to)


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
