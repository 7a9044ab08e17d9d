"""The journal as an SQLite database that several processes append to.

WAL mode, so that readers never wait; a commit that must be on the disk is synced, one that only notes a view is not.
Events are refused update and delete by the database itself.
"""

import contextlib
import errno
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from memtui.core.attributes import read_stamp
from memtui.core.errors import JournalDamaged, StateUnusable
from memtui.core.events import EntryKind, Event, Version
from memtui.core.guards import GUARDS, POSITIONS
from memtui.core.unicode import to_one_line
from memtui.journal import chain
from memtui.journal.bodies import pack_body, unpack_body
from memtui.journal.deferred import DeferredEvent, DeferredEvents, get_texts, settle
from memtui.journal.files import JournalFiles
from memtui.journal.guards import NotedValues, make_adoption_event, read_kept_guards
from memtui.journal.record import FolderTotals, Intent, KnownPath, RecordFiles
from memtui.journal.rows import BUSY_MS, OPENING, begin_use, check_regular_files, end_use, get_identity
from memtui.journal.schema import (
    APPLICATION,
    ENTRIES,
    FOREIGN,
    FOREIGN_FILE,
    GUARDED,
    HOLDS_NO_MEMORIES,
    INDEX,
    NEWER,
    SCHEMA,
    TO_2,
    VERSION,
    find_non_table,
    find_problem,
)
from memtui.journal.snapshot import copy_to_memory, open_read_only
from memtui.journal.standing import decode_path, encode_path, is_doubtful

if TYPE_CHECKING:
    from memtui.journal.verify_report import RepairReport, VerifyReport


_PACK_FROM = 512
_PAGE = 2_000
_LOG_PAGES = 4_000
"""Pages of the log, 16 MB of it, after which they are copied into the file: what a page has been before is not. That
stops a command for some milliseconds; SQLite's own 1,000 are 75 commands."""
_AT_ONCE = 500
"""Values in one query: older SQLite takes no more than 999."""
_SELECT_EVENTS = "SELECT body, hash, answer, arguments FROM events LEFT JOIN texts_of_events USING (seq)"
_SELECT_NUMBERED = _SELECT_EVENTS.replace("SELECT", "SELECT seq,")
_SELECT_KNOWN = "SELECT kind, sha256, size, stamp, path FROM known"
_LAST_PATH = b"\xff" * 4_096
"""Behind every path: none is longer."""
_SMALL = 4_096
"""Bytes of an event up to which many are read together; a large one may name thousands of paths."""
_MOST_SMALL = 128
_KINDS = {kind.value: kind for kind in EntryKind}
_ENDLESS = 2**62
_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_AGAIN_SECONDS = 0.005
_SUSPECT = ".suspect"
"""Ending of a file beside the journal that marks it as damaged."""


class WriteTransaction:
    """A transaction of SQLite's that writes: committed at its end, or taken back where something is raised.

    Args:
        journal: Where.
        durable: Whether to wait until the disk confirms.
        flush: Whether the deferred events are recorded in it, before all else.
    """

    __slots__ = ("_durable", "_flush", "_journal", "_recorded", "_taken")

    def __init__(self, journal: "Journal", *, durable: bool, flush: bool = True) -> None:
        self._journal = journal
        self._durable = durable or journal._must_sync
        self._flush = flush
        self._taken: list[DeferredEvent] = []
        self._recorded: list[Event] = []

    def __enter__(self) -> None:
        journal = self._journal
        journal._lock.acquire()
        try:
            if self._durable is not journal._durable:
                journal._db.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
                journal._durable = self._durable
            journal._db.execute("BEGIN IMMEDIATE")
            journal._check_file_identity()
            journal._glance = None
            if self._flush and journal.deferred.is_waiting:
                self._taken = journal.deferred.take_along()
                if self._taken:
                    journal._store_texts(get_texts(self._taken))
                    self._recorded = journal._chain_events([each.event for each in self._taken])
        except BaseException as error:
            self._roll_back(error)
            raise

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None:
            try:
                self._journal._db.execute("COMMIT")
            except BaseException as failed:
                self._roll_back(failed)
                raise
            settle(self._taken, self._recorded)
            self._journal._lock.release()
        else:
            self._roll_back(error)

    def _roll_back(self, error: BaseException) -> None:
        """Take it back; raises `StateUnusable` in place of an error of SQLite's."""
        journal = self._journal
        try:
            with contextlib.suppress(sqlite3.Error):
                if journal._db.in_transaction:
                    journal._db.execute("ROLLBACK")
            journal._noted.forget()  # it may have been read from an event that is not there now
            if self._recorded:
                journal.deferred.put_back(self._taken)
            else:
                settle(self._taken, ())
            if isinstance(error, sqlite3.Error):
                raise journal._mark_damaged(_describe_fault("The journal cannot be written", error)) from error
        finally:
            journal._lock.release()


class Glance(NamedTuple):
    """What a journal is at a moment, from one statement.

    Attributes:
        seq: The number of the last event.
        hash: Its hash.
        newest_noted: The number of the last event that notes something about guards, or 0.
    """

    seq: int
    hash: bytes
    files: int
    bytes: int
    has_intents: bool
    has_links: bool
    newest_noted: int


class _Overtaken(Exception):
    """Another event was recorded since the intent was."""


class Journal:
    """Events, versions, and the known state of each path. See `memtui.journal.record.Record`.

    Args:
        path: The database file; its directory must exist. `None` keeps the journal in memory.
        directory: Where files about the memories are kept; by default beside the database.
        has_entries: Whether the file holds the memories as well, in a table of their own.

    Raises:
        StateUnusable: It cannot be opened, is no journal, or was written by a newer memtui.
    """

    _path: str | None = None
    _identity: tuple[int, int] | None = None
    _durable: bool | None = None
    _must_sync = False
    _is_open = True
    _has_entries: bool
    _glance: Glance | None = None
    """What this is until something is written, where nobody else can write meanwhile."""
    deferred: DeferredEvents
    """Events that are recorded in a moment."""
    files: RecordFiles
    is_shared: bool

    is_current = True
    """Whether this is known to be all: no other machine records."""

    def __init__(self, path: str | None, *, directory: str | None = None, has_entries: bool = False) -> None:
        self._prepare_fields(path, directory, has_entries=has_entries)
        with OPENING:
            try:
                if path is not None:
                    check_regular_files(path)
                    with contextlib.suppress(FileExistsError):  # one that exists is opened by SQLite alone
                        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
                    self._identity = get_identity(path)
                self._db = sqlite3.connect(
                    path or ":memory:", isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000
                )
            except (OSError, sqlite3.Error) as error:
                raise _describe_fault(f"The journal cannot be opened: {path}", error) from error
            self._prepare_or_close(f"The journal cannot be used: {path}")
            begin_use(self._identity)

    @classmethod
    def copy_from(cls, path: str, *, has_entries: bool = False, quietly: bool = True) -> Self:
        """A journal in memory that begins as the one at `path`, which is left alone; raises `StateUnusable`.

        Without `quietly` its time of last access may change, and that takes a third of the memory.
        """
        journal = cls.__new__(cls)
        journal._prepare_fields(None, has_entries=has_entries)
        problem = f"The journal cannot be read: {path}"
        try:
            journal._db = copy_to_memory(path, quietly=quietly)
        except (OSError, sqlite3.Error) as error:
            raise _describe_fault(problem, error) from error
        journal._prepare_or_close(problem)
        return journal

    @property
    def is_write_ahead(self) -> bool:
        """Whether a commit that is not synced may be lost by a power cut, but never without all later ones."""
        return not self._must_sync

    @property
    def connection(self) -> sqlite3.Connection:
        """The database, for who reads memories in it, or copies it."""
        return self._db

    def close(self) -> None:
        with self._lock, OPENING:
            self.deferred.close()
            self._db.close()
            end_use(self._identity if self._is_open else None)
            self._is_open = False

    # Reading

    def get_head(self) -> tuple[int, str]:
        seq, previous = self._read_head()
        return seq, previous.hex()

    def get_events(self, after: int = 0, *, limit: int = -1) -> list[Event]:
        rows = self._query(f"{_SELECT_EVENTS} WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit))
        return [self._decode_row(row) for row in rows]

    def iter_events(self) -> Iterator[Event]:
        after = 0
        while page := self.get_events(after, limit=500):
            yield from page
            after = page[-1].seq

    def get_path_events(self, path: str, *, limit: int = -1, before: int | None = None) -> list[Event]:
        rows = self._query(
            "SELECT body, hash, answer, arguments FROM touched JOIN events USING (seq) "
            "LEFT JOIN texts_of_events USING (seq) WHERE touched.path = ? AND touched.seq < ? "
            "ORDER BY touched.seq DESC LIMIT ?",
            (encode_path(path), _ENDLESS if before is None else before, limit),
        )
        return [self._decode_row(row) for row in rows]

    def get_event(self, seq: int) -> Event | None:
        rows = self._query(f"{_SELECT_EVENTS} WHERE seq = ?", (seq,))
        return self._decode_row(rows[0]) if rows else None

    def iter_small_events(self, seqs: Sequence[int]) -> Iterator[Event | None]:
        at, size = 0, 1
        while at < len(seqs):
            some = seqs[at : at + size]
            at, size = at + size, min(2 * size, _MOST_SMALL)
            where = f"WHERE seq IN ({','.join('?' * len(some))}) AND length(body) < {_SMALL}"
            rows = {row[0]: row[1:] for row in self._query(f"{_SELECT_NUMBERED} {where}", some)}
            for seq in some:
                yield self._decode_row(rows[seq]) if seq in rows else None

    def get_event_texts(self, seq: int) -> tuple[str | None, str | None]:
        rows = self._query("SELECT answer, arguments FROM texts_of_events WHERE seq = ?", (seq,))
        return rows[0] if rows else (None, None)

    def iter_bodies(self, after: int, until: int, *, backwards: bool = False) -> Iterator[tuple[int, bytes]]:
        order = "DESC" if backwards else "ASC"
        while after < until:
            rows = self._query(
                "SELECT seq, CAST(body AS BLOB) FROM events WHERE seq > ? AND seq <= ? "
                f"ORDER BY seq {order} LIMIT {_PAGE}",
                (after, until),
            )
            for seq, kept in rows:
                yield seq, unpack_body(kept)
            if len(rows) < _PAGE:
                return
            after, until = (after, rows[-1][0] - 1) if backwards else (rows[-1][0], until)

    def get_touching_seqs(self, path: str) -> list[int]:
        rows = self._query("SELECT seq FROM touched WHERE path = ? ORDER BY seq", (encode_path(path),))
        return [row[0] for row in rows]

    def find_previous_touching(self, path: str, seq: int) -> int | None:
        select = "SELECT max(seq) FROM touched WHERE path = ? AND seq < ?"
        return cast("int | None", self._query(select, (encode_path(path), seq))[0][0])

    def find_next_touching(self, path: str, seq: int) -> int | None:
        select = "SELECT min(seq) FROM touched WHERE path = ? AND seq > ?"
        return cast("int | None", self._query(select, (encode_path(path), seq))[0][0])

    def get_touched_paths(self, seq: int) -> dict[str, int | None]:
        select = "SELECT path, CASE count(*) WHEN 1 THEN max(seq) END FROM touched WHERE seq <= ? GROUP BY path"
        return {decode_path(path): only for path, only in self._query(select, (seq,))}

    def get_missing_paths(self) -> dict[str, int]:
        select = "SELECT path, max(seq) FROM touched GROUP BY path HAVING path NOT IN (SELECT path FROM known)"
        rows = self._query(select)
        return {decode_path(row[0]): row[1] for row in rows}

    def get_undoing_seqs(self, seq: int) -> list[int]:
        return [row[0] for row in self._query("SELECT by_seq FROM taken_back WHERE seq = ? ORDER BY by_seq", (seq,))]

    def find_newest_undo(self, before: int) -> int | None:
        return cast("int | None", self._query("SELECT max(by_seq) FROM taken_back WHERE by_seq < ?", (before,))[0][0])

    def get_version_sizes(self) -> dict[str, tuple[int, int | None]]:
        rows = self._query("SELECT sha256, size, length(data) FROM versions")
        return {row[0].hex(): (row[1], row[2]) for row in rows}

    def get_text(self, sha256: str) -> bytes | None:
        rows = self._query("SELECT packed, data FROM versions WHERE sha256 = ?", (bytes.fromhex(sha256),))
        return _unpack(*rows[0]) if rows and rows[0][1] is not None else None

    def get_texts(self, hashes: Collection[str]) -> dict[str, bytes]:
        keys = [bytes.fromhex(sha256) for sha256 in hashes]
        found: dict[str, bytes] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            select = f"SELECT sha256, packed, data FROM versions WHERE data IS NOT NULL AND sha256 IN ({marks})"
            for sha256, packed, data in self._query(select, some):
                found[sha256.hex()] = _unpack(packed, data)
        return found

    def has_text(self, sha256: str) -> bool:
        select = "SELECT 1 FROM versions WHERE sha256 = ? AND data IS NOT NULL"
        return bool(self._query(select, (bytes.fromhex(sha256),)))

    def has_version(self, sha256: str) -> bool:
        return bool(self._query("SELECT 1 FROM versions WHERE sha256 = ?", (bytes.fromhex(sha256),)))

    def get_known(self, path: str) -> KnownPath | None:
        select = "SELECT kind, sha256, size, stamp FROM known WHERE path = ?"
        rows = self._execute(select, (encode_path(path),), doing="read")  # no deferred event changes it
        return _make_known(rows[0]) if rows else None

    def get_known_paths(self, paths: Sequence[str]) -> dict[str, KnownPath]:
        found: dict[str, KnownPath] = {}
        for start in range(0, len(paths), _AT_ONCE):
            some = [encode_path(path) for path in paths[start : start + _AT_ONCE]]
            select = f"{_SELECT_KNOWN} WHERE path IN ({','.join('?' * len(some))})"
            found |= {decode_path(row[4]): _make_known(row) for row in self._execute(select, some, doing="read")}
        return found

    def get_known_below(self, path: str, *, as_prefix: bool = False) -> dict[str, KnownPath]:
        if path:
            key = encode_path(path if as_prefix else path + "/")
            rows = self._query(f"{_SELECT_KNOWN} WHERE path >= ? AND path < ?", (key, key + _LAST_PATH))
        else:
            rows = self._query(_SELECT_KNOWN)
        return {decode_path(row[4]): _make_known(row) for row in rows}

    def get_totals(self) -> FolderTotals:
        return FolderTotals(*self._execute("SELECT files, bytes FROM totals", doing="read")[0])

    def verify(self, *, apart: bool = False) -> "VerifyReport":
        """Whether the record is still what was recorded; not `apart`, nobody else can use the journal meanwhile."""
        from memtui.journal.verify import verify_journal  # noqa: PLC0415 - start-up: seldom asked

        if not apart or self._path is None:
            with self._lock:
                return verify_journal(self._db)
        try:
            with open_read_only(self._path, locking=True) as opened:
                return verify_journal(opened.connection)
        except (OSError, sqlite3.Error) as error:
            raise StateUnusable(f"The journal cannot be read: {error}.") from error

    def repair(self, unseen: Sequence[int], make_event: Callable[["RepairReport"], Event]) -> "RepairReport":
        from memtui.journal.repair import remake_tables  # noqa: PLC0415 - start-up: seldom asked

        with WriteTransaction(self, durable=True):
            report = remake_tables(self._db, _encode_stamp(unseen))
            self._noted.forget()
            if report:
                self._chain_events([make_event(report)])
        return report

    def forget_stamps(self, unseen: Sequence[int], hashes: Mapping[str, str]) -> list[str]:
        rows = self._query("SELECT path, sha256 FROM known WHERE sha256 IS NOT NULL")
        known = {decode_path(path): sha256.hex() for path, sha256 in rows}
        unlike = [path for path, sha256 in hashes.items() if known.get(path, sha256) != sha256]
        if unlike:
            stamp = _encode_stamp(unseen)
            with WriteTransaction(self, durable=False):
                self._db.executemany(
                    "UPDATE known SET stamp = ? WHERE path = ?", [(stamp, encode_path(path)) for path in unlike]
                )
        return unlike

    def get_metadata(self, name: str) -> str | None:
        if name in GUARDS or name in POSITIONS:
            if name in POSITIONS and self.deferred.is_waiting:
                self._flush_waiting()  # whichever event comes next notes it
            noted = self._noted.get_value(name)
            if noted is not None or name in GUARDS:
                return noted
        rows = self._query("SELECT value FROM notes WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else None

    def is_doubtful(self) -> bool:
        try:
            return is_doubtful(self._query)
        except (ValueError, LookupError, TypeError, AttributeError):
            return True  # rows that memtui did not write

    def get_intents(self) -> list[Intent]:
        rows = self._query("SELECT CAST(body AS BLOB), x'', answer, arguments, id FROM intents ORDER BY id")
        events = [self._decode_row(row[:4]) for row in rows]
        return [Intent(row[4], event, event.seq, row[0]) for row, event in zip(rows, events, strict=True)]

    def has_intents(self) -> bool:
        return bool(self._execute("SELECT 1 FROM intents LIMIT 1", doing="read"))

    # Writing

    def add_intent(
        self,
        event: Event,
        texts: Mapping[str, bytes],
        *,
        found: Sequence[Event] = (),
        known: Mapping[str, KnownPath | None] | None = None,
        durable: bool = True,
        final: bool = False,  # noqa: ARG002 - the intent and its event are kept in one place
    ) -> Intent:
        with WriteTransaction(self, durable=durable):
            self._store_texts(texts)
            if found:
                self._chain_events(found)
            self._store_known(known or {})
            seq = self._read_head()[0] + 1
            body = chain.encode_event(event, seq)
            row = (body, event.answer, event.arguments)
            number = self._db.execute("INSERT INTO intents (body, answer, arguments) VALUES (?, ?, ?)", row).lastrowid
            return Intent(number or 0, event, seq, body)

    def finish_intent(self, intent: Intent, known: Mapping[str, KnownPath | None], *, durable: bool) -> Event:
        try:
            with WriteTransaction(self, durable=durable, flush=False):  # what waits comes after it
                seq, previous = self._read_head()
                event = intent.event
                if seq + 1 != intent.seq or self._noted.note_first_look((event,))[0] is not event:
                    raise _Overtaken
                event = chain.assign_seq(event, intent.seq, chain.hash_link(previous, intent.body).hex())
                self._insert_event(event, intent.body)
                self._store_known(known)
                self._db.execute("DELETE FROM intents WHERE id = ?", (intent.id,))
            return event
        except _Overtaken:
            return self.append_events([intent.event], known=known, intent=intent.id)[-1]

    def drop_intent(self, intent: int) -> None:
        with WriteTransaction(self, durable=True):
            self._db.execute("DELETE FROM intents WHERE id = ?", (intent,))

    def append_events(
        self,
        events: Sequence[Event],
        *,
        texts: Mapping[str, bytes] | None = None,
        known: Mapping[str, KnownPath | None] | None = None,
        intent: int | None = None,
        durable: bool = True,
    ) -> list[Event]:
        with WriteTransaction(self, durable=durable):
            self._store_texts(texts or {})
            recorded = self._chain_events(events)
            self._store_known(known or {})
            if intent is not None:
                self._db.execute("DELETE FROM intents WHERE id = ?", (intent,))
        return recorded

    def _append_deferred(self, events: Sequence[Event], texts: Mapping[str, bytes]) -> list[Event]:
        with WriteTransaction(self, durable=False, flush=False):
            self._store_texts(texts)
            return self._chain_events(events)

    def import_events(self, events: Sequence[tuple[bytes, Event]], texts: Mapping[str, bytes | None]) -> None:
        """Take events and texts over as they were recorded elsewhere: bytes and hashes are not made anew.

        Args:
            events: Canonical bytes and events, which must follow on the last one here: that is not checked again.
            texts: Bytes by SHA-256; `None` for a version that was removed.
        """
        with WriteTransaction(self, durable=False):
            self._store_texts({sha256: data for sha256, data in texts.items() if data is not None})
            gone = [(bytes.fromhex(sha256),) for sha256, data in texts.items() if data is None]
            self._db.executemany("INSERT OR IGNORE INTO versions VALUES (?, 0, 0, NULL)", gone)
            for body, event in events:
                self._insert_event(event, body)

    def redact(self, events: Sequence[Event], versions: Collection[str], texts: Collection[int]) -> list[Event]:
        """Remove versions (by SHA-256) and texts of events (by number) for good, and record that.

        Events, hashes and reasons stay. Until `checkpoint(thoroughly=True)` the file may still hold the bytes. The
        `events` of the redaction together name the hash of each text in `redacted`; they are returned as recorded.
        """
        with WriteTransaction(self, durable=True):
            self._db.executemany(
                "UPDATE versions SET data = NULL, packed = 0 WHERE sha256 = ?",
                [(bytes.fromhex(sha256),) for sha256 in versions],
            )
            self._db.executemany("DELETE FROM texts_of_events WHERE seq = ?", [(seq,) for seq in texts])
            return self._chain_events(events)

    def checkpoint(self, *, thoroughly: bool = False) -> bool:
        """Move the write-ahead log into the journal and empty the log, where no reader needs it any more.

        Args:
            thoroughly: Whether the journal is written anew as well. Where SQLite has moved a row from one page to
                another, or where an intent stood, the bytes of a removed text are left behind otherwise.

        Returns:
            Whether the log is empty: only then does it hold nothing of a removed text.
        """
        with self._lock:
            free, pages = (self._execute(f"PRAGMA {name}")[0][0] for name in ("freelist_count", "page_count"))
            is_clean = True
            if thoroughly or free * 4 > pages:
                try:
                    self._execute("VACUUM")
                except StateUnusable:
                    is_clean = not thoroughly  # else it was only to give the room back
            return not self._execute("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] and is_clean

    def set_metadata(self, name: str, value: str) -> None:
        if name in GUARDS:
            raise ValueError(f"{name} is recorded by an event")
        if name in POSITIONS:
            self._flush_waiting()  # whichever event comes next notes it
            if self._noted.get_value(name) is not None:
                return  # it came to pass once
        with WriteTransaction(self, durable=False):
            self._db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    # Inside

    def _prepare_fields(self, path: str | None, directory: str | None = None, *, has_entries: bool = False) -> None:
        self._has_entries = has_entries
        self._path = path
        self.files = JournalFiles(path, directory)
        self.is_shared = path is not None
        self._lock = threading.RLock()
        self._noted = NotedValues(self._lock, partial(self._execute, doing="read"), self._decode_row)
        self.deferred = DeferredEvents(self._append_deferred, self._lock)

    def _prepare_or_close(self, problem: str) -> None:
        try:
            self._prepare_schema()
        except BaseException as error:
            self._db.close()
            if isinstance(error, sqlite3.Error):
                raise _describe_fault(problem, error) from error
            raise

    def _prepare_schema(self) -> None:
        application, version, tables = self._db.execute(
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
            "FROM pragma_application_id, pragma_user_version"
        ).fetchone()
        if application != APPLICATION and (application or version or tables):
            raise StateUnusable(FOREIGN_FILE if self._has_entries else FOREIGN)
        if version > VERSION:
            raise StateUnusable(NEWER)
        if self._path is None and (name := find_non_table(self._db)):
            words = f"{to_one_line(name)} in it is computed, which memtui never writes."
            raise JournalDamaged(f"The journal is damaged: {words}")
        if self._path is None:  # nothing of it is to stand on a disk, not even for a moment
            self._db.execute("PRAGMA temp_store = MEMORY")
        # Without a log a power cut could damage the file.
        self._must_sync = _set_journal_mode(self._db) not in ("wal", "memory")
        self._db.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        if version < 2:
            script = SCHEMA if version == 0 else TO_2
            if self._has_entries and version == 0:
                script += "".join(f"{sql};" for _, sql in ENTRIES.values())
            with contextlib.suppress(sqlite3.OperationalError):  # another process makes it at this moment
                self._db.executescript(f"BEGIN IMMEDIATE;{script}COMMIT;")
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._db.execute("SELECT seq FROM taken_back LIMIT 1")
        if self._has_entries and not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries'").fetchone():
            raise StateUnusable(HOLDS_NO_MEMORIES)
        self._read_head()
        if 0 < version < VERSION:
            if self._path is not None:
                self._update_schema()
            elif version < GUARDED:  # a copy that is only read: nothing is recorded there
                self._noted.is_legacy = not self._noted.has_any()
        if self._path is not None and os.path.exists(self._path + _SUSPECT):
            _check_integrity(self, self._path)

    def _update_schema(self) -> None:
        with WriteTransaction(self, durable=True):
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version < GUARDED:  # what guards memories was kept without an event
                self._db.execute("DROP INDEX IF EXISTS noting")
                self._db.execute(INDEX)
                noted = read_kept_guards(self._db)
                if noted and not self._noted.has_any():  # else somebody set the number back
                    self._chain_events([make_adoption_event(noted)])
                self._db.executemany("DELETE FROM notes WHERE name = ?", [(name,) for name in GUARDS])
            if version < VERSION:  # else another process was faster
                self._db.execute(f"PRAGMA user_version = {VERSION}")

    def _check_file_identity(self) -> None:
        """Raise `StateUnusable` if the path no longer names the opened file: what is written would be lost."""
        if self._path is None:
            return
        try:
            seen = os.stat(self._path)
        except FileNotFoundError:
            seen = None
        except OSError as error:
            words = os.strerror(error.errno or 0).lower()
            raise StateUnusable(f"The journal cannot be read ({words}).") from error
        if seen is None or (seen.st_dev, seen.st_ino) != self._identity:
            raise StateUnusable("The journal was removed or replaced while it was open. Open the folder again.")
        if not seen.st_size:
            raise StateUnusable("The journal was emptied while it was open. Open the folder again.")

    def _query(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        if self.deferred.is_waiting:
            self._flush_waiting()
        return self._execute(sql, values, doing="read")

    def _flush_waiting(self) -> None:
        with self._lock:
            if not self._db.in_transaction:
                self.deferred.flush()

    def _execute(self, sql: str, values: Sequence[object] = (), *, doing: str = "written") -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._mark_damaged(_describe_fault(f"The journal cannot be {doing}", error)) from error

    def _decode_row(self, row: Sequence[Any]) -> Event:
        body, hash, answer, arguments = row
        try:
            return chain.decode_event(unpack_body(body), answer=answer, arguments=arguments, hash=hash)
        except (ValueError, LookupError, TypeError) as error:
            damaged = JournalDamaged(f"The journal is damaged: an event cannot be read ({error!r}).")
            raise self._mark_damaged(damaged) from error

    def _read_head(self) -> tuple[int, bytes]:
        rows = self._query("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1")
        if not rows:
            return 0, chain.START
        seq, hash = rows[0]
        if not (isinstance(seq, int) and isinstance(hash, bytes)):
            raise JournalDamaged("The journal is damaged: its last event has no number or no hash.")
        return seq, hash

    def _chain_events(self, events: Sequence[Event]) -> list[Event]:
        """Chain events to the last one. A transaction must be open."""
        linked = chain.link_events(self._noted.note_first_look(events), *self._read_head())
        for body, event in linked:
            self._insert_event(event, body)
        return [event for _, event in linked]

    def _insert_event(self, event: Event, body: bytes) -> None:
        seq = event.seq
        kept = pack_body(body) if self._path is not None else body
        self._db.execute("INSERT INTO events VALUES (?, ?, ?)", (seq, kept, bytes.fromhex(event.hash)))
        if event.answer is not None or event.arguments is not None:
            texts_row = (seq, event.answer, event.arguments)
            self._db.execute("INSERT INTO texts_of_events VALUES (?, ?, ?)", texts_row)
        if event.changes:
            touched = {encode_path(change.path) for change in event.changes}
            self._db.executemany("INSERT INTO touched VALUES (?, ?)", [(key, seq) for key in touched])
        if event.undoes and (event.changes or not event.is_error):
            taken_back = {(each, seq) for each in event.undoes}
            self._db.executemany("INSERT INTO taken_back VALUES (?, ?)", list(taken_back))

    def _store_known(self, known: Mapping[str, KnownPath | None]) -> None:
        if not known:
            return
        keys = {path: encode_path(path) for path in known}
        rows = [_make_known_row(keys[path], now) for path, now in known.items() if now is not None]
        self._db.executemany("DELETE FROM known WHERE path = ?", [(key,) for key in keys.values()])
        self._db.executemany("INSERT INTO known VALUES (?, ?, ?, ?, ?)", rows)

    def _store_texts(self, texts: Mapping[str, bytes]) -> None:
        if not texts:
            return
        # One that was removed and stands in the folder again is kept again.
        self._db.executemany(
            "INSERT INTO versions VALUES (?, ?, ?, ?) "
            "ON CONFLICT (sha256) DO UPDATE SET packed = excluded.packed, data = excluded.data "
            "WHERE versions.data IS NULL",
            (_make_version_row(sha256, data, pack=self._path is not None) for sha256, data in texts.items()),
        )

    def _mark_damaged(self, error: StateUnusable) -> StateUnusable:
        """Leave word for whoever opens the journal next, if it is damaged: looking at all of it takes long.

        What a newer memtui has recorded since this one opened the journal is no damage.
        """
        if isinstance(error, JournalDamaged) and self._path is not None:
            with contextlib.suppress(sqlite3.Error):
                if self._db.execute("PRAGMA user_version").fetchone()[0] > VERSION:
                    return StateUnusable(NEWER)
            with contextlib.suppress(OSError):
                os.close(os.open(self._path + _SUSPECT, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        return error


def _check_integrity(journal: Journal, path: str) -> None:
    """Look at all of a journal in which something was damaged when it was used last."""
    words = journal.connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if words != "ok":
        raise JournalDamaged(f"The journal is damaged ({words}).")
    for _ in journal.iter_events():  # each is decoded
        pass
    with contextlib.suppress(OSError):
        os.unlink(path + _SUSPECT)


@contextlib.contextmanager
def read_in_place(path: str) -> Iterator[Journal]:
    """The journal at `path`, read where it stands, however large it is: nothing of it is changed.

    Until the end nobody else in this process can open or close a journal.

    Raises:
        StateUnusable: It is another program's, is damaged, or cannot be read.
    """
    problem = f"The journal cannot be read: {path}"
    try:
        with open_read_only(path) as opened:
            if words := find_problem(opened.connection) or find_non_table(opened.connection):
                raise StateUnusable(f"{problem} ({words}).")
            journal = Journal.__new__(Journal)
            journal._prepare_fields(None)
            journal._db = opened.connection
            yield journal
    except (OSError, sqlite3.Error) as error:
        raise _describe_fault(problem, error) from error


def _set_journal_mode(connection: sqlite3.Connection) -> str:
    """Write ahead, and tell how it is written. While others make the same file, SQLite gives up at once."""
    deadline = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _IN_USE or time.monotonic() >= deadline:
                raise
            time.sleep(_AGAIN_SECONDS)


def _unpack(packed: int, data: bytes) -> bytes:
    """The bytes of a version as it is kept; raises `JournalDamaged`."""
    try:
        return zlib.decompress(data) if packed else bytes(data)
    except zlib.error as error:
        damaged = JournalDamaged(f"The journal is damaged: a version cannot be unpacked ({error}).")
        raise damaged from error


def _describe_fault(words: str, error: Exception) -> StateUnusable:
    """A fault of the database in words, and whether it means that the file is damaged."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    kind = JournalDamaged if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) else StateUnusable
    reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else error
    fault = kind(f"{words} ({reason}).")
    if isinstance(error, sqlite3.Error):
        told = str(error).lower()
        fault.errno = errno.ENOSPC if "full" in told else errno.EROFS if "readonly" in told else errno.EIO
    return fault


def _encode_stamp(stamp: Sequence[int]) -> str:
    return ",".join(map(str, stamp))


def _make_version_row(sha256: str, data: bytes, *, pack: bool) -> tuple[bytes, int, int, bytes]:
    """A text as it is kept: packed on a disk, and not in a journal that is gone with its process."""
    packed = zlib.compress(data, 1) if pack and len(data) >= _PACK_FROM else data
    return bytes.fromhex(sha256), len(data), int(packed is not data), packed


def _make_known_row(key: bytes, now: KnownPath) -> tuple[bytes, str, bytes | None, int, str]:
    version = now.version
    sha256 = bytes.fromhex(version.sha256) if version.sha256 else None
    return key, version.kind.value, sha256, version.size, _encode_stamp(now.stamp)


def _make_known(row: Sequence[Any]) -> KnownPath:
    kind, sha256, size, stamp_text = row[:4]
    stamp = tuple(map(int, stamp_text.split(",")))
    attributes = read_stamp(kind, stamp)
    return KnownPath(
        Version(_KINDS.get(kind) or EntryKind(kind), sha256.hex() if sha256 else None, size, attributes), stamp
    )
