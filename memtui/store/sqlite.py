"""Memories in one SQLite file, beside the record of what happened to them: one file to carry around.

The texts that stand now are in the table `entries`, which the journal declares (`memtui.journal.schema`); this is
another connection to the same file. Each change is one transaction. None of them waits for the disk: the log of a
database (WAL) is lost from its end only, so what the journal has synced stands with all that came before it.
"""

import contextlib
import errno
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self

from memtui.core.attributes import UNKNOWN, Attributes
from memtui.core.events import EntryKind, FolderEntry
from memtui.core.paths import format_path
from memtui.fs.beneath import close_quietly
from memtui.fs.locks import hold_lock
from memtui.store.base import Node, Transaction
from memtui.store.entries import NEW_MODES, EntryStore, make_entry_node
from memtui.store.folder import ReadOnlyTransaction

LOCK = "-lock"
"""What the name of the writers' lock, beside the database, ends in."""
_BUSY_MS = 5_000
_NODE = "number, path, kind, size, mode, mtime_ns"
_SELECT_NAMES = (
    "SELECT path, kind, CASE kind WHEN 'file' THEN size ELSE 0 END, ifnull(mtime_ns, 0) FROM entries "
    "WHERE path > x'' ORDER BY path"
)
_COUNTS = "SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM known)"
_COMPARE_SOME = """
SELECT max(number), max(is_unlike) FROM (
    SELECT number, known.kind IS NOT entries.kind OR (entries.kind = 'file' AND sha256 IS NULL)
        OR stamp IS NOT CASE entries.kind WHEN 'directory' THEN (ifnull(mode, 0) & 511) || ',' || number
        ELSE number || ',' || CASE entries.kind WHEN 'file' THEN entries.size ELSE 0 END || ',' || ifnull(mtime_ns, 0)
            || ',' || (ifnull(mode, 0) & 511) || ',' || number END AS is_unlike
    FROM entries LEFT JOIN known USING (path) WHERE number > ? AND path > x'' ORDER BY number LIMIT 4000)
"""
"""Whether any of some rows is not as the record beside it has it: its stamp is that of `make_entry_node`."""
_PASSING = ".memtui-passing-"
_ERRORS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_BUSY: errno.EBUSY,
    sqlite3.SQLITE_LOCKED: errno.EBUSY,
    sqlite3.SQLITE_NOMEM: errno.ENOMEM,
    sqlite3.SQLITE_CANTOPEN: errno.ENOENT,
}
"""What the faults of a database are as those of a file system; any other is `EIO`."""


class TableEntries:
    """See `Entries`. Each look is one statement, so readers need no lock of the store's.

    Args:
        connection: In autocommit mode. Within a transaction that is open there, changes are a part of it.
        lock: Held by whoever uses the connection, where others do as well.
    """

    passing = _PASSING

    def __init__(self, connection: sqlite3.Connection, lock: AbstractContextManager[object] | None = None) -> None:
        self._db = connection
        self._lock = lock or threading.RLock()

    def make_root(self) -> None:
        """Make the row of the root, where it is not there."""
        with self.change():
            if self.get("") is None:
                self.put("", EntryKind.DIRECTORY, b"", UNKNOWN)

    def has_links(self) -> bool:
        return bool(self._execute("SELECT 1 FROM entries WHERE kind = 'link' LIMIT 1"))

    def get(self, path: str) -> Node | None:
        rows = self._execute(f"SELECT {_NODE} FROM entries WHERE path = ?", (_encode(path),))
        return _make_node(rows[0]) if rows else None

    def read(self, path: str, limit: int) -> tuple[Node, bytes | None] | None:
        select = f"SELECT {_NODE}, CASE WHEN size <= ? THEN data END FROM entries WHERE path = ?"
        rows = self._execute(select, (min(limit, sys.maxsize), _encode(path)))
        return (_make_node(rows[0][:-1]), rows[0][-1]) if rows else None

    def list_below(self, path: str) -> list[Node]:
        rows = self._execute(f"SELECT {_NODE} FROM entries WHERE path > ? AND path < ?", _get_range(path))
        return sorted(map(_make_node, rows), key=lambda node: node.path.split("/"))

    def iter_names(self) -> Iterable[FolderEntry]:
        kinds = {kind.value: kind for kind in EntryKind}  # and no nodes: that is quicker
        rows = self._execute(_SELECT_NAMES)
        return [FolderEntry(_decode(key), kinds[kind], size, mtime_ns) for key, kind, size, mtime_ns in rows]

    def is_as_known(self) -> bool:
        rows, known = self._execute(_COUNTS)[0]
        last, is_unlike = 0, rows != known + 1  # the root is not in the record
        while last is not None and not is_unlike:  # a part at a time, as nobody else can read meanwhile
            last, is_unlike = self._execute(_COMPARE_SOME, (last,))[0]
        return not is_unlike

    def put(self, path: str, kind: EntryKind, data: bytes, attributes: Attributes) -> Node:
        mode, mtime_ns = attributes.fill(Attributes(NEW_MODES.get(kind), time.time_ns()))
        rows = self._execute(
            "INSERT OR REPLACE INTO entries (path, kind, size, mode, mtime_ns, data) VALUES (?, ?, ?, ?, ?, ?) "
            f"RETURNING {_NODE}",
            (_encode(path), kind.value, len(data), mode, mtime_ns, data),
        )
        return _make_node(rows[0])

    def set_attributes(self, node: Node, attributes: Attributes) -> None:
        self._execute("UPDATE entries SET mode = ?, mtime_ns = ? WHERE path = ?", (*attributes, _encode(node.path)))

    def remove(self, paths: Collection[str]) -> None:
        for path in paths:
            self._execute("DELETE FROM entries WHERE path = ?", (_encode(path),))

    def move(self, old: str, new: str) -> None:
        was, now = _encode(old), _encode(new)
        self._execute(
            "UPDATE entries SET path = CAST(? || substr(path, ?) AS BLOB) WHERE path = ? OR (path > ? AND path < ?)",
            (now, len(was) + 1, was, *_get_range(old)),
        )

    @contextmanager
    def change(self) -> Iterator[None]:
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            self._execute("BEGIN IMMEDIATE")
            try:
                yield
                self._execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
                raise

    def _execute(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of a statement; raises `OSError` for the faults of a database."""
        with self._lock:
            try:
                return self._db.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                number = _ERRORS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, errno.EIO)
                raise OSError(number, f"{os.strerror(number)} ({error})") from error


class SqliteStore(EntryStore):
    """The memories in a database. See `Store`.

    Args:
        connection: In autocommit mode; it is closed with the store.
        path: Where the database is, with links resolved; `None` for a copy in memory, which cannot be changed.
        title: Its name for a person.
    """

    def __init__(self, connection: sqlite3.Connection, path: str | None, *, title: str) -> None:
        self._connection = connection
        self._table = TableEntries(connection)
        super().__init__(self._table, title=title)
        self._directory, self._name = -1, ""
        if path is not None:
            self._directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._name = os.path.basename(path) + LOCK

    @classmethod
    def open(cls, path: str, *, title: str | None = None, synced: bool = False) -> Self:
        """The memories in a file.

        Args:
            path: The file, with links resolved, in which the journal has made the table.
            title: Its name for a person; by default its path.
            synced: Whether each change waits for the disk.

        Raises:
            OSError: It cannot be opened.
        """
        try:
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=_BUSY_MS / 1000)
        except sqlite3.Error as error:
            raise OSError(errno.EIO, str(error)) from error
        try:
            store = cls(connection, path, title=title or format_path(path))
        except BaseException:
            connection.close()
            raise
        try:
            connection.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
            store._table.make_root()
        except BaseException as error:
            store.close()
            if isinstance(error, sqlite3.Error):
                raise OSError(errno.EIO, str(error)) from error
            raise
        return store

    def close(self) -> None:
        self._connection.close()
        if self._directory >= 0:
            close_quietly(self._directory)
            self._directory = -1

    @contextmanager
    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Iterator[Transaction]:  # noqa: ARG002
        """See `Store.begin_transaction`. The lock is a file of its own beside the database."""
        if self._directory < 0:
            yield ReadOnlyTransaction()
            return
        with hold_lock(self._directory, seconds, name=self._name):
            yield self


def _make_node(row: tuple[Any, ...]) -> Node:
    number, path, kind, size, mode, mtime_ns = row
    return make_entry_node(_decode(path), EntryKind(kind), size, Attributes(mode, mtime_ns), number)


def _encode(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _decode(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _get_range(path: str) -> tuple[bytes, bytes]:
    """Between which paths everything below one lies."""
    return (_encode(path) + b"/", _encode(path) + b"0") if path else (b"", b"\xff")
