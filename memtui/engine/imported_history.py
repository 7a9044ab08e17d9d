"""What session files told afterwards: recorded once, found again by path, and put in among what was recorded."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from memtui.core import diffs
from memtui.core.errors import StateUnusable
from memtui.core.events import (
    IMPORTED,
    EntryKind,
    Event,
    ImportedChange,
    Version,
    decode_imported_details,
    encode_imported_details,
    sha256,
)
from memtui.core.guards import IMPORTED_UNTIL
from memtui.core.history import DeletedPath, PathVersion
from memtui.core.paths import ROOT_NAME, MemoryPath
from memtui.engine.context import EngineContext
from memtui.engine.planner import decode_text
from memtui.engine.refusals import describe_error
from memtui.journal.record import ReadableRecord
from memtui.scan.secret_policy import conceal_bytes, conceal_secrets, describe_new_secrets

_MARK = b'"command":"imported"'
_CALL = b'"call_id":"'
_WHOLE = frozenset({"Write", "write", "write_file", "replace", "apply_patch", "cat", "cp", "echo", "tee", "git commit"})
"""What writes whole files: every line of them came with it, unless an earlier one is told."""
_UNKNOWN_TEXT = Version(EntryKind.FILE, None, 0)
"""Stands for a text that nobody told."""
_BATCH = 200
"""Events that are recorded at a time: the lock is free in between."""


class ImportRecorder:
    def __init__(self, context: EngineContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._known: set[tuple[str, str]] = set()
        self._known_until = 0

    def filter_unimported(self, imported: Iterable[ImportedChange]) -> list[ImportedChange]:
        """Those changes that `record` has not recorded yet; raises `StateUnusable` or `MemoryClosed`."""
        with self._context.calls.track(), self._lock:
            self._catch_up()
            return [
                each for each in imported if (each.call_id, str(MemoryPath.from_relative(each.path))) not in self._known
            ]

    def record(
        self, imported: Sequence[ImportedChange], *, progress: Callable[[int, int], bool] = lambda _done, _of: True
    ) -> list[Event]:
        """ReadableRecord changes that were made before memtui saw them, with their texts.

        Each becomes an event that changed nothing, behind all that is recorded. Its text can be viewed and restored
        like any other. A change that was recorded before is passed over. `progress` is told how many of how many are
        done; `False` stops, and what is recorded by then stays.

        Raises:
            LockTimeout, FolderMissing, StateUnusable, MemoryClosed: It could not be tried, or is read-only.
        """
        if self._context.read_only:
            raise StateUnusable("This session is read-only. Nothing was recorded.")
        recorded: list[Event] = []
        stood: dict[str, Version | None] = {}
        try:
            with self._context.calls.track_change():
                for start in range(0, len(imported), _BATCH):
                    if not progress(start, len(imported)):
                        break
                    recorded += self._record_batch(imported[start : start + _BATCH], stood)
        except OSError as error:
            raise StateUnusable(f"It cannot be recorded: {describe_error(error)}.") from error
        return recorded

    def _record_batch(self, imported: Sequence[ImportedChange], stood: dict[str, Version | None]) -> list[Event]:
        with self._context.begin_transaction():
            events: list[Event] = []
            texts: dict[str, bytes] = {}
            for each in map(
                self._conceal, self.filter_unimported(imported)
            ):  # somebody else may have imported them meanwhile
                events += self._make_events(each, texts, stood)
            if not events:
                return []
            # Noted before: whoever dies in between must not leave behind what nobody finds, and what is imported twice.
            self._context.journal.set_metadata(IMPORTED_UNTIL, str(self._context.journal.get_head()[0] + len(events)))
            recorded = self._context.journal.append_events(events, texts=texts, durable=True)
            self._context.calls.mark_changed()
        return recorded

    def _conceal(self, imported: ImportedChange) -> ImportedChange:
        """A change without values that may not be written: it was made, so where such a text is refused it is cut."""
        policy = self._context.settings.secrets
        if policy == "flag":
            return imported
        return replace(
            imported,
            prompt=str(conceal_secrets(imported.prompt, policy)),
            before=imported.before and conceal_bytes(imported.before),
            after=imported.after and conceal_bytes(imported.after),
        )

    def _make_events(
        self, imported: ImportedChange, texts: dict[str, bytes], stood: dict[str, Version | None]
    ) -> Iterator[Event]:
        before, after = self._make_version(imported.before, texts), self._make_version(imported.after, texts)
        where = "a session file" if imported.line else "the folder's repository"
        event = Event(
            at_us=self._context.get_now_us(),
            actor=imported.agent,
            command=IMPORTED,
            path=str(MemoryPath.from_relative(imported.path)),
            no_change=True,
            call_id=imported.call_id,
            arguments=encode_imported_details(imported),
            note=f"{imported.tool}, from {where}",
        )
        found = describe_new_secrets(decode_text(imported.before or b""), decode_text(imported.after or b""))
        # Without what stood there before, all lines would seem to have come with this call.
        name = before.sha256 if before is not None else None
        was_imported = stood.get(imported.path) == before
        stood[imported.path] = after
        if name is not None and not was_imported and (name in texts or self._context.journal.has_text(name)):
            yield replace(
                event,
                viewed=before,
                arguments=encode_imported_details(imported, is_before=True),
                note=f"the text before {imported.tool}, from {where}",
            )
        counts = None
        if imported.is_gone and imported.before is not None:
            counts = _count_changes(imported.before, b"")
        if imported.after is not None and (imported.before is not None or imported.tool in _WHOLE):
            counts = _count_changes(imported.before or b"", imported.after)
        added, removed = counts or (None, None)
        note = ", ".join(filter(None, (event.note, found)))
        yield replace(event, viewed=after, added=added, removed=removed, note=note)

    def _make_version(self, data: bytes | None, texts: dict[str, bytes]) -> Version | None:
        if data is None or len(data) > self._context.settings.read_limit:
            return None
        name = sha256(data)
        journal = self._context.journal
        if journal.has_text(name) or not journal.has_version(name):  # what was removed stays removed
            texts[name] = data
        return Version(EntryKind.FILE, name, len(data))

    def _catch_up(self) -> None:
        """Learn of the calls that were imported since it was last asked, by whomever."""
        until = _get_imported_until(self._context.journal)
        if until <= self._known_until:
            return
        for seq, body in self._context.journal.iter_bodies(self._known_until, until):
            if _MARK in body:
                event = self._context.journal.get_event(seq)
                if event is not None and event.call_id is not None:
                    self._known.add((event.call_id, event.path))
        self._known_until = until


def _get_imported_until(journal: ReadableRecord) -> int:
    """Up to which event there may be something; one may be noted that was never recorded."""
    noted = journal.get_metadata(IMPORTED_UNTIL)
    return min(int(noted), journal.get_head()[0]) if noted is not None and noted.isdecimal() else 0


def _count_changes(before: bytes, after: bytes) -> diffs.LineCounts | None:
    try:
        return diffs.count_changes(before.decode(), after.decode())
    except UnicodeDecodeError:
        return None


class ImportedIndex:
    """Finds imported changes by path. Every method may be called from any thread."""

    def __init__(self, journal: ReadableRecord) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._until = 0
        self._seqs: dict[str, list[tuple[int, int]]] = {}
        """By path: when each was made, in microseconds since 1970, and the number of its event."""

    def find_versions(self, path: str) -> list[PathVersion]:
        """What a path is told to have been through, newest first."""
        before: Version | None = None
        chained = []
        for row in self._make_rows(path):
            is_edit = row.imported is not None and row.imported.tool.endswith("Edit")
            chained.append(replace(row, before=_UNKNOWN_TEXT if before is None and is_edit else before))
            before = row.after
        return chained[::-1]

    def get_paths(self) -> list[str]:
        with self._lock:
            self._catch_up()
            return list(self._seqs)

    def find_deleted(self, path: str) -> DeletedPath | None:
        """A path that is not there, as it was told last; `None` if its text is not told, or if it was moved."""
        imported = sorted(self._make_rows(path), key=_get_sort_key, reverse=True)
        row = next((row for row in imported if row.after is not None and row.after.sha256 is not None), None)
        if row is None or row.after is None or row.after.sha256 is None or imported[0].moved_to is not None:
            return None
        event, at_us = (imported[0] if imported[0].after is None else row).event, imported[0].at_us
        return DeletedPath(path, row.after, event, self._journal.has_text(row.after.sha256), imported_us=at_us)

    def _make_rows(self, path: str) -> list[PathVersion]:
        with self._lock:
            self._catch_up()
            seqs = list(self._seqs.get(path, ()))
        rows = (self._make_row(path, seq) for _, seq in seqs)
        return sorted((row for row in rows if row is not None), key=_get_sort_key)

    def _make_row(self, path: str, seq: int) -> PathVersion | None:
        event = self._journal.get_event(seq)
        imported = decode_imported_details(event) if event is not None else None
        if event is None or imported is None:
            return None
        after = None if imported.is_gone else event.viewed or _UNKNOWN_TEXT
        was, to = imported.moved_from or None, imported.moved_to or None
        return PathVersion(event, path, None, after, moved_from=was, moved_to=to, imported=imported)

    def _catch_up(self) -> None:
        until = _get_imported_until(self._journal)
        if until <= self._until:
            return
        for seq, body in self._journal.iter_bodies(self._until, until):
            if _MARK in body:
                event = self._journal.get_event(seq)
                imported = decode_imported_details(event) if event is not None else None
                if event is not None and imported is not None:
                    of_path = self._seqs.setdefault(event.path.removeprefix(f"{ROOT_NAME}/"), [])
                    of_path.append((imported.at_us or event.at_us, seq))
        self._until = until


def _get_sort_key(row: PathVersion) -> tuple[int, int]:
    return row.at_us, row.event.seq


def blame_imported_lines(
    imported: Sequence[PathVersion], text_of: Callable[[Version], bytes | None], lines: Sequence[str]
) -> list[PathVersion | None]:
    """For each line the oldest of the imported writes (newest first) since which it stood without a gap.

    `text_of` gives the bytes of a version, `None` where they are not kept.
    """
    plain_lines = [line[:-2] if line.endswith("\r\n") else line.removesuffix("\n") for line in lines]
    found: dict[str, PathVersion] = {}
    sought, standing = set(plain_lines), set[str]()
    """Lines that may have stood earlier still, and those of them that stood in the version after."""
    for row in imported:
        if not sought:
            break
        text = text_of(row.after) if row.after is not None else b""
        if text is None:
            continue
        plain = text.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        present = set(plain.removesuffix("\n").split("\n")) if plain else set()
        sought -= standing - present  # it was not there yet
        standing = sought & present
        found |= dict.fromkeys(standing, row)
    for line in sought & found.keys():  # it was there as far back as anything is told
        told_by = found[line].imported
        if told_by is None or told_by.is_before or told_by.tool not in _WHOLE:
            del found[line]
    return [found.get(line) for line in plain_lines]


def merge_imported(recorded: Sequence[PathVersion], imported: Sequence[PathVersion]) -> list[PathVersion]:
    """What was recorded and what was imported of one path, all newest first.

    An imported change to a text that was recorded as well says who brought it: they are one row. So is an imported
    deletion that was found to have happened.
    """
    known = {_get_text_key(row) for row in recorded}
    imported = [
        row for row in imported if row.imported is None or not row.imported.is_before or _get_text_key(row) not in known
    ]
    same = _match_imported(recorded, imported)
    matched = {row.event.seq for row in same.values()}
    waiting = deque(row for row in imported if row.event.seq not in matched)
    merged: list[PathVersion] = []
    for index, row in enumerate(recorded):
        while index and waiting and waiting[0].at_us > row.event.at_us:  # what stands now was recorded
            merged.append(waiting.popleft())
        found = same.get(index)
        merged.append(row if found is None else replace(row, imported=found.imported, imported_by=found.event))
    return [*merged, *waiting]


def _match_imported(recorded: Sequence[PathVersion], imported: Sequence[PathVersion]) -> dict[int, PathVersion]:
    """The imported change that is the same as a recorded one, by the index of that."""
    by_text: dict[tuple[str, str], deque[PathVersion]] = {}
    for row in imported:
        if (text := _get_text_key(row)) is not None and row.imported is not None and not row.imported.is_before:
            by_text.setdefault(text, deque()).append(row)
    same: dict[int, PathVersion] = {}
    for index, row in enumerate(recorded):
        rows = by_text.get(text) if (text := _get_text_key(row)) is not None else None
        if rows and (row.event.is_outside or row.event.call_id == rows[0].event.call_id):  # else it is known who did it
            same[index] = rows.popleft()
        elif (deletion := _find_deletion(row, recorded[index + 1 :], imported)) is not None:
            same[index] = deletion
    return same


def _find_deletion(
    row: PathVersion, older: Sequence[PathVersion], imported: Sequence[PathVersion]
) -> PathVersion | None:
    """The deletion that is told of one that was only found; it was made since the change before."""
    if row.after is not None or row.moved_to is not None or not row.event.is_outside:
        return None
    since = older[0].event.at_us if older else 0
    deletions = (each for each in imported if each.after is None and each.path == row.path)
    return next((each for each in deletions if since <= each.at_us <= row.at_us), None)


def _get_text_key(row: PathVersion) -> tuple[str, str] | None:
    """What two rows share that tell of the same text at the same path; `None` if the text is not known."""
    return None if row.after is None or row.after.sha256 is None else (row.path, row.after.sha256)
