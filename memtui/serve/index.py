"""The memories of a folder and their versions, as the API names them: made from the journal's events, and kept up.

An id is made of the event that began a memory, or a version, so it is the same in every process and after every start.
A memory goes along when it is renamed. It stays the same one when a program writes it anew by way of a temporary file,
and when a person undoes its deletion. All rules look only at events that came before: what was answered once stays.
"""

import hashlib
import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import field

from memtui.core.events import Actor, EntryKind, Event, Version, squash_changes
from memtui.core.lazy_dataclass import dataclass
from memtui.engine import Engine
from memtui.engine.claims import parse_claim
from memtui.engine.lineage import find_moves
from memtui.engine.replacements import find_replacements
from memtui.serve import MOST_SHOWN_BYTES
from memtui.serve.paths import is_presentable

CREATED, MODIFIED, DELETED = "created", "modified", "deleted"
_PAGE = 1_000
_ID_CHARACTERS = 24
_BRINGING_BACK = frozenset({"undo", "redo", "restore"})
_REWRITTEN_US = 5_000_000
"""The longest time for which a file is away, in microseconds, while a program writes it anew."""
_TEMPORARY_US, _TEMPORARY_ROWS = 60_000_000, 16
"""The longest life of a temporary file, in microseconds, and its most versions."""


@dataclass(eq=False, slots=True)
class MemoryRecord:
    """A memory, present or past.

    Attributes:
        path: Relative to the folder; of a deleted one, the last.
        created_us: When it began, in microseconds since 1970.
        rows: Its versions, oldest first.
        is_live: Whether it is there.
    """

    id: str
    path: str
    created_us: int
    rows: "list[VersionRow]" = field(default_factory=list)
    is_live: bool = True

    @property
    def current(self) -> "VersionRow":
        return self.rows[-1]


@dataclass(eq=False, slots=True)
class VersionRow:
    """A version.

    Attributes:
        number: Its place among all versions of the folder, from 0.
        seq: The number of its event.
        sha256: `None` for a deletion.
        is_hidden: Whether it was a step of a program that wrote a file anew.
    """

    id: str
    number: int
    seq: int
    at_us: int
    memory: MemoryRecord
    path: str
    operation: str
    sha256: str | None
    size: int
    actor: Actor
    is_hidden: bool = False


class MemoryIndex:
    """What the events of a folder say of its memories. Every method may be called from any thread.

    Args:
        memory: The open folder.
        store_id: Ids of memories and versions are derived from it.
        since: The number of the event behind which the store begins.
    """

    def __init__(self, memory: Engine, store_id: str, since: int = 0) -> None:
        self._memory = memory
        self._store_id = store_id
        self._read_until = since
        self._lock = threading.RLock()
        self._rows: list[VersionRow] = []
        self._versions: dict[str, VersionRow] = {}
        self._memories: dict[str, MemoryRecord] = {}
        self._live: dict[str, MemoryRecord] = {}
        self._dead: dict[str, MemoryRecord] = {}
        """Those that were deleted last, by path."""
        self._away: dict[str, tuple[MemoryRecord, int]] = {}
        """Those that another program moved away last, by the path that they left, and when."""
        self._claims: dict[int, Actor] = {}
        self._redacted: dict[str, Event] = {}
        """The last redaction of each text, by its SHA-256."""
        self._sorted: list[str] | None = None
        self._is_text: dict[str, bool] = {}

    def refresh(self) -> None:
        """Read the events that came since; raises `StateUnusable` or `MemoryClosed`."""
        with self._lock:
            while events := self._memory.journal.get_events(self._read_until, limit=_PAGE):
                for event in events:
                    self._apply_event(event)
                self._read_until = events[-1].seq

    # Asking

    def find_memory(self, memory_id: str) -> MemoryRecord | None:
        """A memory that is there."""
        with self._lock:
            memory = self._memories.get(memory_id)
            return memory if memory is not None and memory.is_live and self.is_text(memory.current) else None

    def find_at(self, path: str) -> MemoryRecord | None:
        with self._lock:
            return self._live.get(path)

    def find_holders(self, sha256: str) -> list[str]:
        """The paths at which a text stands now."""
        with self._lock:
            return [path for path, memory in self._live.items() if memory.current.sha256 == sha256]

    def find_version(self, version_id: str) -> VersionRow | None:
        with self._lock:
            row = self._versions.get(version_id)
            return row if row is not None and not row.is_hidden else None

    def find_written(self, seq: int, path: str) -> VersionRow | None:
        """The version that an event wrote at a path."""
        return self.find_version(self._make_id("memver", seq, path))

    def iter_versions(self, memory_id: str | None, before: int | None) -> Iterator[VersionRow]:
        """The versions of one memory or of all, newest first, that have numbers below one."""
        with self._lock:
            memory = self._memories.get(memory_id) if memory_id is not None else None
            rows: Sequence[VersionRow] = self._rows if memory_id is None else memory.rows if memory else ()
            rows = list(rows) if memory_id is not None else rows
            count = len(rows)
        for at in range(count - 1, -1, -1):
            row = rows[at]
            if not row.is_hidden and (before is None or row.number < before):
                yield row

    def iter_live(self, prefix: str, after: str | None) -> Iterator[str]:
        """The paths of memories below a prefix, in order, behind one."""
        with self._lock:
            if self._sorted is None:
                self._sorted = sorted(self._live)
            paths = self._sorted  # replaced, and never changed
        first = bisect_left(paths, prefix if after is None or after < prefix else after)
        for at in range(first, len(paths)):
            if not paths[at].startswith(prefix):
                return
            if paths[at] != after:
                yield paths[at]

    def is_text(self, row: VersionRow) -> bool:
        """Whether a version is text in UTF-8; one whose text was removed is taken for it."""
        if row.sha256 is None:
            return False
        known = self._is_text.get(row.sha256)
        if known is None:
            data = self._memory.journal.get_text(row.sha256)
            known = self._is_text[row.sha256] = data is None or _is_utf8(data)
        return known

    def load_texts(self, rows: Sequence[VersionRow]) -> dict[str, bytes]:
        """The bytes of versions, by SHA-256, as far as they are kept."""
        return self._memory.journal.get_texts({row.sha256 for row in rows if row.sha256 is not None})

    def find_unread(self, rows: Sequence[VersionRow]) -> None:
        """Find out of many versions at once which of them are text."""
        unread = {row.sha256 for row in rows if row.sha256 is not None and row.sha256 not in self._is_text}
        if unread:
            texts = self._memory.journal.get_texts(unread)
            self._is_text.update((each, each not in texts or _is_utf8(texts[each])) for each in unread)

    def get_actor(self, row: VersionRow) -> Actor:
        """Who wrote a version: an agent may have said afterwards that a change from outside was its own."""
        return self._claims.get(row.seq, row.actor)

    def get_redaction(self, row: VersionRow) -> Event | None:
        """The event that removed a version's text."""
        event = self._redacted.get(row.sha256 or "")
        return event if event is not None and event.seq > row.seq else None

    # Reading events

    def _apply_event(self, event: Event) -> None:
        if (claimed := parse_claim(event)) is not None:
            self._claims[claimed] = event.actor
        self._redacted.update(dict.fromkeys(event.redacted, event))
        if not event.changes or event.aborted:
            return
        changes = {change.path: change.after for change in squash_changes(event.changes)}
        moved, replacing = find_moves(event), set(find_replacements(event).values())
        taken = {new: memory for new, old in moved.items() if (memory := self._pop(old)) is not None}
        for path, after in changes.items():
            is_memory = _is_memory(path, after)
            arrived, standing = taken.pop(path, None), self._live.get(path)
            if arrived is not None:
                if standing is not None:
                    self._end(standing, event)
                self._arrive(arrived, path, after if is_memory else None, event)
            elif standing is not None:
                if not is_memory:
                    self._end(standing, event, is_step=path in replacing)
                elif after is not None and after.sha256 != standing.current.sha256:
                    self._add_row(standing, path, MODIFIED, after, event)
            elif is_memory and after is not None:
                self._begin(path, after, event)
        for memory in taken.values():  # moved to where no memory can be
            self._end(memory, event)

    def _pop(self, path: str) -> MemoryRecord | None:
        self._sorted = None
        return self._live.pop(path, None)

    def _arrive(self, memory: MemoryRecord, path: str, after: Version | None, event: Event) -> None:
        """A memory was moved to a path; `after` is what stands there, if that is a memory."""
        if after is None:
            self._end(memory, event)
            return
        if event.is_outside:
            self._away[memory.path] = memory, event.at_us
        memory.path = path
        self._live[path] = memory
        self._add_row(memory, path, MODIFIED, after, event)

    def _begin(self, path: str, after: Version, event: Event) -> None:
        """A file came to stand at a path where no memory was."""
        memory = self._find_returning(path, event)
        if memory is None:
            memory = MemoryRecord(self._make_id("mem", event.seq, path), path, event.at_us)
            self._memories[memory.id] = memory
            operation = CREATED
        else:
            operation = MODIFIED
        memory.is_live, memory.path = True, path
        self._live[path] = memory
        self._sorted = None
        self._add_row(memory, path, operation, after, event)

    def _find_returning(self, path: str, event: Event) -> MemoryRecord | None:
        """The memory that a new file at a path goes on with, if any."""
        dead = self._dead.get(path)
        if dead is not None and not dead.is_live and dead.path == path:
            if event.command in _BRINGING_BACK:
                return dead
            last = dead.current
            if event.is_outside and last.operation == DELETED and self._is_rewriting(last.at_us, event, last):
                last.is_hidden = True
                return dead
        away = self._away.pop(path, None) if event.is_outside else None
        if away is not None and self._is_rewriting(away[1], event, away[0].current):
            return self._return_from_backup(away[0])
        return None

    def _is_rewriting(self, away_us: int, event: Event, last: VersionRow) -> bool:
        """Whether a program is likely to have written a file anew: it was away for a moment only."""
        return last.actor == event.actor and 0 <= event.at_us - away_us <= _REWRITTEN_US

    def _return_from_backup(self, memory: MemoryRecord) -> MemoryRecord | None:
        """A program renamed a file to keep it as a backup, and wrote it anew: the backup is the new memory."""
        last = memory.current
        if not memory.is_live or self._live.get(memory.path) is not memory or last.sha256 is None:
            return None
        memory.rows.pop()
        backup = MemoryRecord(self._make_id("mem", last.seq, last.path), last.path, last.at_us)
        last.memory, last.operation = backup, CREATED
        backup.rows.append(last)
        self._memories[backup.id] = backup
        self._live[backup.path] = backup
        return memory

    def _end(self, memory: MemoryRecord, event: Event, *, is_step: bool = False) -> None:
        """A memory is there no more; `is_step` for a file that was renamed over another one."""
        if self._live.get(memory.path) is memory:
            del self._live[memory.path]
        self._sorted = None
        memory.is_live = False
        self._dead[memory.path] = memory
        self._add_row(memory, memory.path, DELETED, None, event)
        if is_step and event.at_us - memory.created_us <= _TEMPORARY_US and len(memory.rows) <= _TEMPORARY_ROWS:
            for row in memory.rows:
                row.is_hidden = True

    def _add_row(self, memory: MemoryRecord, path: str, operation: str, after: Version | None, event: Event) -> None:
        sha, size = (after.sha256, after.size) if after is not None else (None, 0)
        name = f"{path}\0" if after is None else path  # what was deleted there, and what came there, in one event
        version_id, number = self._make_id("memver", event.seq, name), len(self._rows)
        row = VersionRow(version_id, number, event.seq, event.at_us, memory, path, operation, sha, size, event.actor)
        self._rows.append(row)
        self._versions[version_id] = row
        memory.rows.append(row)

    def _make_id(self, kind: str, seq: int, path: str) -> str:
        name = f"{self._store_id}\0{kind}\0{seq}\0{path}".encode("utf-8", "surrogateescape")
        return f"{kind}_{hashlib.sha256(name).hexdigest()[:_ID_CHARACTERS]}"


def _is_memory(path: str, version: Version | None) -> bool:
    return (
        version is not None
        and version.kind is EntryKind.FILE
        and version.sha256 is not None
        and version.size <= MOST_SHOWN_BYTES
        and is_presentable(path)
    )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
