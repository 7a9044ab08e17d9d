"""What was: every version of every path, the folder as it stood at any event, and who wrote which line.

All of it is made from events and versions; nothing here looks at the folder, and nothing changes anything.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from memtui.core import diffs
from memtui.core.errors import JournalDamaged
from memtui.core.events import NEVER_TAKEN_BACK, NOT_CHANGES, Change, EntryKind, Event, LastChange, Version
from memtui.core.guards import FOUND_UNTIL
from memtui.core.history import Blame, DeletedPath, PathVersion, Stats
from memtui.engine.calls import CallTracker
from memtui.engine.claims import parse_claim
from memtui.engine.imported_history import ImportedIndex, blame_imported_lines, merge_imported
from memtui.engine.lineage import Lineage, blame_lines, find_moves
from memtui.engine.replacements import ReplacementReader, find_replacements
from memtui.engine.stats import compute_stats
from memtui.journal.chain import decode_body, decode_changes
from memtui.journal.record import ReadableRecord

_COMPARED = 1_000_000
"""Bytes of the largest texts that are compared line by line for a person who looks."""
_FOUND = "found"
_FOUND_BODY = b'"command":"found"'
_CLAIMED_BODY = b'"command":"claimed"'
_CLAIMED_WITHIN = 1_000
"""Events behind a change from outside among which an agent is looked for that says it was its own."""

State = dict[str, Version]


class JournalHistory:
    """Questions about what was. Every method may be called from any thread."""

    def __init__(self, journal: ReadableRecord, calls: CallTracker) -> None:
        self._journal = journal
        self._calls = calls
        self._imported = ImportedIndex(journal)
        self._replacements = ReplacementReader(journal, self.text)
        self._lineage = Lineage(journal, self._replacements)

    def get_event(self, seq: int) -> Event | None:
        """The event of a number, as `read_event` reads it; one that is a part of another is as it was recorded."""
        with self._calls.track():
            event = self._journal.get_event(seq)
            return None if event is None else self._replacements.read(event) or event

    def read_event(self, event: Event) -> Event | None:
        """An event as it is read: what replaced a note in several looks is one change; `None` for a part of another."""
        with self._calls.track():
            return self._replacements.read(event)

    def read_events(self, events: Iterable[Event]) -> Iterator[Event]:
        """Events as `read_event` reads them, without those that are a part of another one."""
        return (read for event in events if (read := self.read_event(event)) is not None)

    def text(self, version: Version | None) -> bytes | None:
        """The bytes of a version: empty for nothing; `None` where they are not kept."""
        if version is None:
            return b""
        if version.sha256 is None:
            return None
        with self._calls.track():
            return self._journal.get_text(version.sha256)

    def get_texts(self, hashes: Collection[str]) -> dict[str, bytes]:
        with self._calls.track():
            return self._journal.get_texts(hashes)

    def iter_bodies(self, after: int, *, limit: int) -> list[tuple[int, bytes]]:
        """The canonical bytes of at most `limit` events after a number, in order: `(number, body)`."""
        with self._calls.track():
            return list(self._journal.iter_bodies(after, min(after + limit, self._journal.get_head()[0])))

    # One path

    def versions_of(self, path: str, *, limit: int = -1, imported: bool = False) -> list[PathVersion]:
        """The versions of a path, newest first, through renames, deletions and comebacks.

        What was moved here brings its history along, and what stood here before it is told as well; not what stood at
        the names that it had before.

        Args:
            path: Relative to the folder.
            limit: How many at most; negative for all.
            imported: Whether changes that session files tell of are put in by the time at which they happened.
        """
        with self._calls.track():
            if not imported or not self._imported.get_paths():
                return list(islice(self._lineage.get_path_history(path), None if limit < 0 else limit))
            recorded = list(self._lineage.get_path_history(path))
            rows = merge_imported(recorded, self._find_imported_versions(path, recorded))
            return rows if limit < 0 else rows[:limit]

    def blame_imported(self, path: str, data: bytes) -> list[PathVersion | None]:
        """The change by which session files tell of each line of a text at a path; `None` where they do not."""
        lines = diffs.split_lines(data.decode("utf-8", "surrogateescape"))
        with self._calls.track():
            return blame_imported_lines(self.get_imported_versions(path), self._get_text, lines)

    def has_imports(self) -> bool:
        """Whether session files tell of any change."""
        with self._calls.track():
            return bool(self._imported.get_paths())

    def get_imported_versions(self, path: str) -> list[PathVersion]:
        """The changes of a path, and of its former names, that session files tell of, newest first."""
        with self._calls.track():
            if not self._imported.get_paths():
                return []
            return self._find_imported_versions(path, self._lineage.get_file_history(path))

    def _find_imported_versions(self, path: str, rows: Iterable[PathVersion]) -> list[PathVersion]:
        """The imported changes of a path and, up to when it was moved here, of its former names."""
        imported = self._imported.find_versions(path)
        names = {path}
        todo = deque([*rows, *imported])
        while todo:
            row = todo.popleft()
            if row.moved_from is not None and row.moved_from not in names:
                names.add(row.moved_from)
                more = [each for each in self._imported.find_versions(row.moved_from) if each.at_us <= row.at_us]
                more = [each for each in more if each.moved_to not in names]  # the other end of the same move
                imported += more
                todo += more
        if len(names) > 1:
            imported.sort(key=lambda each: (each.at_us, each.event.seq), reverse=True)
        return imported

    def get_version_at(self, path: str, at: int) -> Version | None:
        """What stood at a path right after an event, with the permissions and time it had last; `None` for nothing."""
        with self._calls.track():
            version = self._find_version_at(path, at)
            if version is None:
                return None
            last = self._find_version_before_next(path, at)
            if last != version:
                return version  # what was only found stood there before
            return replace(version, attributes=last.attributes.fill(version.attributes))

    def _find_version_before_next(self, path: str, at: int) -> Version | None:
        """What stood at a path right before the next event that changed it, or stands there now."""
        following = self._journal.find_next_touching(path, at)
        if following is None:
            known = self._journal.get_known(path)
            return known.version if known else None
        try:
            event = self._journal.get_event(following)
        except JournalDamaged:
            return None  # somebody wrote over it: that is told elsewhere
        return next((change.before for change in event.changes if change.path == path), None) if event else None

    def _find_version_at(self, path: str, at: int) -> Version | None:
        events = self._journal.get_path_events(path, limit=1, before=at + 1)
        if events:
            return [change.after for change in events[0].changes if change.path == path][-1]
        first = next(iter(self._journal.get_touching_seqs(path)), None)
        event = None if first is None else self._journal.get_event(first)
        if event is None or event.command != _FOUND:
            return None
        return next(change.after for change in event.changes if change.path == path)

    def find_last_event(self, path: str, at: int) -> Event | None:
        """The event that made a path what it was right after another one; `None` if nothing had happened to it."""
        with self._calls.track():
            return next(iter(self._journal.get_path_events(path, limit=1, before=at + 1)), None)

    def find_last_event_below(self, below: str, at: int) -> Event | None:
        """The last event, up to a number, that changed a directory or something in it; `None` if none did."""
        holds = _make_path_filter(below)
        with self._calls.track():
            for number, body in self._journal.iter_bodies(0, at, backwards=True):
                if any(holds(path) for path, _, _ in decode_changes(body)):
                    return self._journal.get_event(number)
            return None

    def blame(self, path: str, data: bytes, *, at: int | None = None) -> Blame:
        """Who wrote each line of a text.

        Args:
            path: Where it stands, relative to the folder.
            data: The text; one that is not in the record is compared with the newest version that is.
            at: The number of the event after which it stood there; `None` for now.
        """
        with self._calls.track():
            return blame_lines(self._lineage.get_file_history(path, at), data, self._get_text, at)

    def apply_claims(self, blamed: Blame) -> Blame:
        """The same, where lines that were found, and that an agent then said were its own, are that agent's."""
        found = {event.seq: event for event in blamed.lines if event is not None and event.is_outside}
        with self._calls.track():
            claims = {seq: claim for seq, event in found.items() if (claim := self._find_claim(event)) is not None}
        if not claims:
            return blamed
        lines = tuple(claims.get(event.seq, event) if event is not None else None for event in blamed.lines)
        return replace(blamed, lines=lines)

    def _find_claim(self, event: Event) -> Event | None:
        """The event in which an agent said that a change from outside was its own; it comes moments later."""
        until = min(event.seq + _CLAIMED_WITHIN, self._journal.get_head()[0])
        for number, body in self._journal.iter_bodies(event.seq, until):
            if _CLAIMED_BODY in body:
                claim = self._journal.get_event(number)
                if claim is not None and parse_claim(claim) == event.seq:
                    return claim
        return None

    def _get_text(self, version: Version) -> bytes | None:
        return self._journal.get_text(version.sha256) if version.sha256 else None

    def get_last_change(self, path: str, data: bytes | None) -> LastChange | None:
        """The last change of a file since memtui first looked; `data` is what it holds now, `None` if unknown."""
        with self._calls.track():
            version = next(self._lineage.get_file_history(path), None)
            if version is None or version.event.command == "found":
                return None
            event = version.event
            if version.after is None and version.moved_to is None:
                data = b""
            is_file = version.before is None or version.before.kind is EntryKind.FILE
            before = self.text(version.before) if is_file else None
        return diff_event(event, before, data)

    # The folder

    def get_state(self, at: int, below: str = "") -> State:
        """The version at each path, below one or everywhere, right after an event (0: before the first one).

        What memtui found when it first looked stood there before.
        """
        with self._calls.track():
            return self._compute_state(at, below)

    def _compute_state(self, at: int, below: str) -> State:
        head = self._journal.get_head()[0]
        holds = _make_path_filter(below)
        found = self._find_baseline_changes(at, min(head, self._find_baseline_end()))
        if at * 2 < head:
            state: State = {}
            for _, body in self._journal.iter_bodies(0, at):
                for path, _, after in decode_changes(body):
                    if holds(path):
                        _set_version(state, path, after)
            return state | {path: after for path, after in found.items() if holds(path)}
        known = self._journal.get_known_below(below)
        if below and (here := self._journal.get_known(below)):
            known[below] = here
        state = {path: each.version for path, each in known.items()}
        for _, body in self._journal.iter_bodies(at, head, backwards=True):
            for path, before, _ in reversed(decode_changes(body)):
                if holds(path):
                    _set_version(state, path, found.get(path) if before is None else before)
        return state

    def diff_between(self, old: int, new: int, below: str = "") -> list[Change]:
        """The net differences of the folder, below a path, from one event to another or backwards, by path."""
        if new < old:
            return [Change(change.path, change.after, change.before) for change in self.diff_between(new, old, below)]
        first: dict[str, Version | None] = {}
        last: dict[str, Version | None] = {}
        holds = _make_path_filter(below)
        with self._calls.track():
            found = self._find_baseline_changes(old, min(new, self._find_baseline_end()))
            for _, body in self._journal.iter_bodies(old, new):
                for path, before, after in decode_changes(body):
                    if holds(path):
                        first.setdefault(path, found.get(path) if before is None else before)
                        last[path] = after
        paths = sorted((path for path in first if first[path] != last[path]), key=lambda path: path.split("/"))
        return [Change(path, first[path], last[path]) for path in paths]

    def _find_baseline_end(self) -> int:
        return int(self._journal.get_metadata(FOUND_UNTIL) or self._journal.get_head()[0])

    def _find_baseline_changes(self, after: int, until: int) -> State:
        """What was found by events of a range, and was not known to be there by any event before it."""
        found: State = {}
        touched: set[str] = set()
        for _, body in self._journal.iter_bodies(after, until):
            was_found = _FOUND_BODY in body
            for path, _, version in decode_changes(body):
                if was_found and version is not None and path not in touched:
                    found[path] = version
                touched.add(path)
        if found and after:
            for path in self._journal.get_touched_paths(after):
                found.pop(path, None)
        return found

    def find_step(self, seq: int, direction: int) -> Event | None:
        """The nearest event that changed something, forwards or backwards; what memtui found at first is one step."""
        with self._calls.track():
            last_found = 0
            is_found = any(_FOUND_BODY in body for _, body in self._journal.iter_bodies(seq - 1, seq))
            if direction > 0:
                bodies = self._journal.iter_bodies(seq, self._journal.get_head()[0])
            else:
                bodies = self._journal.iter_bodies(0, seq - 1, backwards=True)
            for number, body in bodies:
                if _FOUND_BODY in body:
                    last_found = max(last_found, number)
                elif decode_changes(body):
                    return self._journal.get_event(number)
            is_first = direction < 0 and not is_found
            return self._journal.get_event(last_found) if last_found and is_first else None

    def find_seq_at(self, at_us: int) -> int:
        """The number of the last event up to a time, in microseconds since 1970 (UTC); 0 if there is none.

        Where the clock ran backwards, the numbers decide: it is the last event whose time is not later.
        """
        with self._calls.track():
            found = self._journal.iter_bodies(0, self._journal.get_head()[0], backwards=True)
            return next((number for number, body in found if decode_body(body)["at_us"] <= at_us), 0)

    def find_deleted(self) -> list[DeletedPath]:
        """Files and links that were there once and are not now, the last to go first. What was moved is not gone."""
        with self._calls.track():
            by_event: dict[int, list[str]] = {}
            for path, seq in self._journal.get_missing_paths().items():
                by_event.setdefault(seq, []).append(path)
            found: list[DeletedPath] = []
            sizes = self._journal.get_version_sizes()
            for seq in sorted(by_event, reverse=True):
                event = self._journal.get_event(seq)
                assert event is not None
                if self.read_event(event) is not None:
                    found += _find_deleted(event, by_event[seq], sizes)
            return found + self._find_imported_deleted({deleted.path for deleted in found})

    def _find_imported_deleted(self, known: Collection[str]) -> list[DeletedPath]:
        """Files that are not there, and of which only session files tell. What was moved away is not gone."""
        paths = (
            path
            for path in self._imported.get_paths()
            if path not in known
            and self._journal.get_known(path) is None
            and next(iter(self._journal.get_touching_seqs(path)), None) is None
        )
        imported = [deleted for path in paths if (deleted := self._imported.find_deleted(path)) is not None]
        return sorted(imported, key=lambda deleted: -(deleted.imported_us or 0))

    # Taking back

    def get_undoable(self, seq: int | None = None) -> Event | None:
        """The event that undo would take back: one of a number, or the newest that can be; `None` if there is none."""
        with self._calls.track():
            if seq is not None:
                event = self.get_event(seq)
                return event if event and _is_undoable(event) and self.find_undoing_event(seq) is None else None
            for number, body in self._journal.iter_bodies(0, self._journal.get_head()[0], backwards=True):
                if decode_changes(body) and self.find_undoing_event(number) is None:
                    event = self._journal.get_event(number)
                    if event and event.command not in NOT_CHANGES and (read := self.read_event(event)):
                        return read
            return None

    def get_redoable(self) -> Event | None:
        """The newest `undo` that still stands, so that redo can take it back; `None` if there is none."""
        with self._calls.track():
            before = self._journal.get_head()[0] + 1
            while (number := self._journal.find_newest_undo(before)) is not None:
                event = self._journal.get_event(number)
                if event and event.command == "undo" and self.find_undoing_event(number) is None:
                    return event
                before = number
            return None

    def find_undoing_event(self, seq: int) -> int | None:
        """The number of the event by which an event stands taken back; `None` if it does not."""
        with self._calls.track():
            seqs = reversed(self._journal.get_undoing_seqs(seq))
            return next((by for by in seqs if self.find_undoing_event(by) is None), None)

    # Numbers

    def get_stats(self, *, limit: int = 20) -> Stats:
        """The record in numbers, with at most `limit` paths and actors."""
        with self._calls.track():
            return compute_stats(self._journal, limit)


def diff_event(event: Event, before: bytes | None, after: bytes | None) -> LastChange:
    """How an event changed a text, line by line.

    Returns:
        Without lines where either text is not kept (`None`), is not UTF-8, or is too large to be compared at once.
    """
    if before is None or after is None or max(len(before), len(after)) > _COMPARED:
        return LastChange(event)
    try:
        old, new = before.decode("utf-8"), after.decode("utf-8")
    except UnicodeDecodeError:
        return LastChange(event)
    difference = diffs.compare_texts(old, new)
    lines = difference.changed_lines if old else ()  # of a note that was new, all lines are
    return LastChange(event, tuple(difference.format_unified()), frozenset(lines))


def _is_undoable(event: Event) -> bool:
    return bool(event.changes) and event.command not in NEVER_TAKEN_BACK


def _find_deleted(event: Event, paths: Iterable[str], sizes: Mapping[str, tuple[int, int | None]]) -> list[DeletedPath]:
    moved_away = {*find_moves(event).values(), *find_replacements(event).values()}
    last = {change.path: change for change in event.changes}
    found: list[DeletedPath] = []
    for path in sorted(paths, key=lambda path: path.split("/")):
        change = last.get(path)
        if change is None or change.after is not None or change.before is None or path in moved_away:
            continue
        if change.before.kind in (EntryKind.FILE, EntryKind.LINK):
            kept = change.before.sha256 is not None and sizes.get(change.before.sha256, (0, None))[1] is not None
            found.append(DeletedPath(path, change.before, event, kept))
    return found


def _set_version(state: State, path: str, version: Version | None) -> None:
    if version is None:
        state.pop(path, None)
    else:
        state[path] = version


def _make_path_filter(below: str) -> Callable[[str], bool]:
    if not below:
        return lambda _: True
    start = below + "/"
    return lambda path: path == below or path.startswith(start)
