"""The rows of a journal in order, also of one that is damaged.

SQLite stops at the first page that it cannot read, and follows pages that lead in a circle without end. Here rows are
asked for again behind a damaged place, and rows that are out of order are an error.
"""

import contextlib
import os
import sqlite3
import stat
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from memtui.journal.bodies import unpack_body
from memtui.journal.verify_report import FindingWeight, JournalFindings

UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What reading a damaged file raises; the last where SQLite quotes it in the words of an error."""


def iter_ascending(rows: Iterable[tuple[Any, ...]], *, after: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Rows of one table whose key grows, from behind `after`.

    The pages of a damaged file may lead in a circle, and its rows would never end.

    Raises:
        sqlite3.DatabaseError: The key does not grow.
    """
    last: Any = after
    for row in rows:
        key = row[0]
        if key is None or (last is not None and not key > last):
            raise sqlite3.DatabaseError("its rows are out of order")
        last = key
        yield row


class EventRow(NamedTuple):
    """An event as it stands in the database; `seq` is the row's number, the event may give itself another one."""

    seq: int
    body: bytes
    hash: bytes


class EventRows:
    """The rows of events in order; where the file is damaged, those behind it that can be read."""

    def __init__(self, connection: sqlite3.Connection, found: JournalFindings) -> None:
        self._connection = connection
        self._found = found

    def __iter__(self) -> Iterator[EventRow]:
        after = 0
        while True:
            try:
                for seq, body, hash in self._read_after(after):
                    after = seq
                    yield EventRow(seq, unpack_body(body or b""), hash or b"")
                return
            except UNREADABLE as error:
                behind = self._find_next_readable(after)
                start = f"Events can be read up to number {after:,}" if after else "The first events cannot be read"
                rest = "none after it" if behind is None else f"and again from number {behind:,}"
                self._found.add(FindingWeight.FILE, f"{start}, {rest}: {error}.", sort="reading")
                if behind is None:
                    return
                after = behind - 1

    def get_row(self, seq: int) -> EventRow | None:
        """One row by its number; `None` if it is not there, or cannot be read."""
        try:
            for found, body, hash in self._read_after(seq - 1):
                if found >= seq:
                    return EventRow(seq, unpack_body(body or b""), hash or b"") if found == seq else None
        except UNREADABLE:
            pass
        return None

    def _read_after(self, after: int) -> Iterator[tuple[Any, ...]]:
        """The rows behind a number; without limit to what may be negative: such a number is none of ours."""
        where = f"WHERE seq > {after}" if after else ""
        rows = self._connection.execute(
            f"SELECT seq, CAST(body AS BLOB), CAST(hash AS BLOB) FROM events {where} ORDER BY seq"
        )
        return iter_ascending(rows, after=after if where else None)

    def _find_next_readable(self, after: int) -> int | None:
        """The number of the first event that can be read again, as far as halving finds it."""

        def first(number: int) -> int | None:
            try:
                return next((row[0] for row in self._read_after(number)), None)
            except UNREADABLE:
                return None

        low, step = after, 1
        while first(low + step) is None:
            step *= 2
            if step > 1 << 40:
                return None
        high = low + step
        low += step // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if first(middle) is not None else (middle, high)
        return first(high)


class TextRows:
    """The answers and arguments that are kept beside events, read in step with them.

    Attributes:
        problem: Why not all can be read; empty if all can.
        unnamed: How many rows belong to no event.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._select = "SELECT seq, CAST(answer AS BLOB), CAST(arguments AS BLOB) FROM texts_of_events"
        self.problem = ""
        self.unnamed = 0
        self._next: tuple[Any, ...] | None = None
        self._last = 0
        try:
            self._rows = iter_ascending(connection.execute(f"{self._select} ORDER BY seq"))
            self._advance()
        except UNREADABLE as error:
            self._rows = iter(())
            self.problem = str(error)

    def get_texts(self, seq: int) -> tuple[bytes | None, bytes | None]:
        row = self._next
        if row is not None and row[0] == seq and seq > self._last:
            self._last = seq
            self._advance()
            return row[1], row[2]
        if self.problem or seq <= self._last:
            return self._query_texts(seq)
        while self._next is not None and self._next[0] < seq:
            self.unnamed += 1
            self._advance()
        if self._next is not None and self._next[0] == seq:
            return self.get_texts(seq)
        self._last = seq
        return self._query_texts(seq) if self.problem else (None, None)

    def finish(self) -> int:
        """The largest number that a text stands beside; what was not asked for belongs to no event."""
        largest = self._last if self._next is None else 0
        while self._next is not None:
            largest = self._next[0]
            self.unnamed += 1
            self._advance()
        return int(largest)

    def _advance(self) -> None:
        try:
            self._next = next(self._rows, None)
        except UNREADABLE as error:
            self.problem = str(error)
            self._next = None

    def _query_texts(self, seq: int) -> tuple[bytes | None, bytes | None]:
        try:
            row = self._connection.execute(f"{self._select} WHERE seq = ?", (seq,)).fetchone()
        except UNREADABLE as error:
            self.problem = str(error)
            return None, None
        return (row[1], row[2]) if row else (None, None)


# The files of a journal, and who may open them in this process.

BUSY_MS = 5_000
LOOKS = 20
"""How often a journal is looked at again that was opened or closed by somebody at that moment."""
OPENING = threading.RLock()
"""Held while a journal is opened, closed or copied by this process. Locks on files are a process's own (POSIX), and
closing any descriptor of a file drops all of them, so nobody may open a journal's file behind SQLite's back while it
is in use; and a copy that came first would make SQLite think that nobody in this process may write."""


_in_use: Counter[tuple[int, int]] = Counter()
"""The journals that this process has open, each with how often."""


def begin_use(identity: tuple[int, int] | None) -> None:
    if identity is not None:
        _in_use[identity] += 1


def end_use(identity: tuple[int, int] | None) -> None:
    if identity is not None and _in_use[identity] > 0:
        _in_use[identity] -= 1


def is_in_use(path: str) -> bool:
    """Whether this process has a journal open: then nobody but SQLite may open its file. `OPENING` must be held."""
    identity = get_identity(path)
    return identity is not None and _in_use[identity] > 0


def get_identity(path: str) -> tuple[int, int] | None:
    """Which file a path names, without opening it."""
    try:
        seen = os.stat(path)
    except FileNotFoundError:
        return None
    return seen.st_dev, seen.st_ino


_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_regular_files(path: str) -> None:
    """Raise `OSError` if something else than a file stands in the place of a journal, or of its log.

    SQLite would wait for a FIFO, and read nothing from a device.
    """
    for end in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            check_regular_mode(os.stat(path + end).st_mode, os.path.basename(path + end) if end else "it")


def check_regular_mode(mode: int, name: str = "it") -> None:
    """Raise `OSError` if the mode of a file, called `name`, is that of something else."""
    if not stat.S_ISREG(mode):
        raise OSError(f"{name} is not a regular file but {_KINDS.get(stat.S_IFMT(mode), 'something else')}")


def make_read_only_uri(path: str) -> str:
    """The address by which SQLite opens a file for reading only; more options may follow, each after a `&`."""
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro"
