"""A journal read in one state, while others may write to it, without changing any of its files.

Even to read, SQLite makes files beside a database, and mends what a dead process left. A journal that is checked has to
stay as it was found, so it is opened in the way that changes nothing, and looked at again afterwards.
"""

import contextlib
import errno
import os
import sqlite3
import struct
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import NamedTuple

from memtui.core.lazy_dataclass import dataclass
from memtui.fs.no_atime import open_without_atime
from memtui.journal.rows import (
    BUSY_MS,
    LOOKS,
    OPENING,
    UNREADABLE,
    check_regular_files,
    check_regular_mode,
    is_in_use,
    make_read_only_uri,
)
from memtui.journal.schema import ENTRIES

# A copy of the database and its write-ahead log, read without SQLite, which would take locks and repair files.
# Source: SQLite, "WAL-mode File Format" and "Database File Format". The log is read last, so no lock is needed.

MOST = 1 << 29
"""Bytes of the largest database that is read this way."""
MOST_LOG = 1 << 26
_MOST_AS_IT_IS = 1 << 28
"""Bytes of an image that is used as it is: one in memory may grow to a gigabyte."""
_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
"""Of a log; the lowest bit says in which order the bytes of numbers are summed up."""
_FORMAT = 3_007_000
_MASK = 0xFFFF_FFFF
_MODES = slice(18, 20)
"""Where a database says whether it is written ahead (2) or not (1); one in memory cannot be."""


def load_image(path: str) -> bytearray | None:
    """The bytes of a database at one moment, to be opened in memory.

    Returns:
        `None` where SQLite has to read it: this process has it open, and would lose its locks; it is very large; or it
        has a journal of another kind beside it.

    Raises:
        OSError: It cannot be read.
    """
    if is_in_use(path) or os.path.exists(path + "-journal"):
        return None
    for _ in range(LOOKS):
        found = _read_image(path)
        if found is None:
            return None
        if found.log is not None:
            image = _apply_log(found.data, found.log)
            if image[_MODES] == b"\x02\x02":
                image[_MODES] = b"\x01\x01"
            return image
    return None


class _ImageBytes(NamedTuple):
    """The bytes of a database and of its log; the log is `None` if the two are not of one moment."""

    data: bytearray
    log: bytes | None


def _read_image(path: str) -> _ImageBytes | None:
    before, begun = _get_file_signature(path), _read_bytes(path + "-wal", _HEADER.size)
    data, log = _read_bytes(path, MOST + 1), _read_bytes(path + "-wal", MOST_LOG + 1)
    if data is None or len(data) > MOST or len(log or b"") > MOST_LOG:
        if data is None:
            os.stat(path)  # says why
        return None
    ended = _read_bytes(path + "-wal", _HEADER.size)  # it may have been cut off while it was read
    if not (begun or b"") == (log or b"")[: _HEADER.size] == (ended or b""):
        return _ImageBytes(data, None)
    if not log and _get_file_signature(path) != before:
        return _ImageBytes(data, None)  # without a log it was written to in its place
    return _ImageBytes(data, bytes(log or b""))


def _get_file_signature(path: str) -> tuple[int, ...]:
    seen = os.stat(path)
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns


def _read_bytes(path: str, limit: int) -> bytearray | None:
    with contextlib.suppress(FileNotFoundError):
        fd = open_without_atime(
            path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        )  # a FIFO is not waited for
        try:
            check_regular_mode(os.fstat(fd).st_mode)
            data = bytearray()
            while len(data) < limit and (part := os.read(fd, min(limit - len(data), 1 << 22))):
                data += part
            return data
        finally:
            os.close(fd)
    return None


def _apply_log(data: bytearray, log: bytes) -> bytearray:
    """A database with all that its log has committed."""
    if len(log) < _HEADER.size or not _is_log_header(log):
        return data
    magic, version, size, _, *salt, sum_0, sum_1 = _HEADER.unpack_from(log)
    order = ">" if magic & 1 else "<"
    if version != _FORMAT:
        return data
    sums = _update_checksum(log[:24], (0, 0), order)
    if sums != (sum_0, sum_1):
        return data
    waiting: dict[int, int] = {}
    committed: dict[int, int] = {}
    pages = 0
    for at in range(_HEADER.size, len(log) - _FRAME.size - size + 1, _FRAME.size + size):
        page, count, *marks = _FRAME.unpack_from(log, at)
        if marks[:2] != salt or not page:
            break
        start = at + _FRAME.size
        sums = _update_checksum(log[at : at + 8] + log[start : start + size], sums, order)
        if sums != (marks[2], marks[3]):
            break
        waiting[page] = start
        if count:
            committed |= waiting
            waiting = {}
            pages = count
    if not pages:
        return data
    image = data[: pages * size]
    image.extend(bytes(pages * size - len(image)))
    for page, start in committed.items():
        if page <= pages:
            image[(page - 1) * size : page * size] = log[start : start + size]
    return image


def _update_checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """The checksum of a log, gone on with."""
    words = array("I", data)
    if (order == "<") != (struct.pack("=H", 1) == b"\x01\x00"):
        words.byteswap()
    one, two = sums
    numbers = iter(words)
    for first, second in zip(numbers, numbers, strict=True):
        one = (one + first + two) & _MASK
        two = (two + second + one) & _MASK
    return one, two


_AGAIN_SECONDS = 0.01


class _FilesSignature(NamedTuple):
    """What tells one state of the files from another, without opening them."""

    identity: tuple[int, int, int, int]
    has_wal: bool
    has_shm: bool
    has_journal: bool


def _get_files_signature(path: str) -> _FilesSignature:
    seen = os.stat(path)
    identity = seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns
    return _FilesSignature(identity, *(os.path.exists(path + end) for end in ("-wal", "-shm", "-journal")))


@dataclass(frozen=True, slots=True)
class ReadOnlyConnection:
    """A journal that is open for reading, and left as it is.

    Attributes:
        is_steady: Whether the rows read until now were of one state: without locks another program may have written.
    """

    connection: sqlite3.Connection
    is_steady: Callable[[], bool] = field(default=lambda: True)


@contextmanager
def open_read_only(path: str, *, locking: bool = False, quietly: bool = False) -> Iterator[ReadOnlyConnection]:
    """Open a journal for reading, without copying it into memory. None of its files is changed.

    Where nobody has it open it is read without locks, since SQLite would make files beside it; `is_steady` says
    afterwards whether that went well. Until the end nobody else in this process can open or close a journal.

    `locking` takes locks in any case, which needs a directory that can be written to: nothing that happens meanwhile is
    seen, and the files that SQLite makes are gone again at the end. `quietly` reads without a new time of last access.

    Raises:
        FileNotFoundError, OSError, sqlite3.Error: It is not there, or cannot be opened.
    """
    check_regular_files(path)
    if not os.access(path, os.R_OK):
        os.stat(path)
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    if quietly and not locking and (image := _read_without_atime(path)) is not None:
        with contextlib.closing(image):
            image.execute("PRAGMA query_only = ON")
            image.execute("PRAGMA trusted_schema = OFF")
            yield ReadOnlyConnection(image)
        return
    with OPENING, contextlib.ExitStack() as stack:
        for look in range(LOOKS):
            seen = _get_files_signature(path)
            try:
                connection, is_locked = _connect(path, seen, stack, locking=locking)
                connection.execute("PRAGMA query_only = ON")
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("BEGIN")
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
                if is_locked or not locking or look == LOOKS - 1 or _get_files_signature(path) == seen:
                    break
                stack.close()  # somebody was just closing it, and had not died: there is a lock to be taken after all
            except (sqlite3.OperationalError, FileNotFoundError) as error:
                # Opened or closed by somebody at this moment; a damaged file is another error, and told by the check.
                if "malformed" in str(error) or look == LOOKS - 1:
                    raise
                if _is_transient(error):
                    time.sleep(_AGAIN_SECONDS * (look + 1))
                elif _get_files_signature(path) == seen:
                    raise
                stack.close()
            except UNREADABLE:
                break
        yield ReadOnlyConnection(connection, lambda: is_locked or _get_files_signature(path) == seen)


def copy_to_memory(path: str, *, quietly: bool = True) -> sqlite3.Connection:
    """A copy in memory of the database at `path`; empty if there is none. Nothing is written there, nor beside it.

    While this process has it open, it is read by SQLite alone; see `OPENING`. For `quietly` see `open_read_only`.

    Raises:
        sqlite3.Error, OSError: It cannot be read.
    """
    check_regular_files(path)
    if quietly and (image := _read_without_atime(path)) is not None:
        return image
    for _ in range(LOOKS):
        with contextlib.ExitStack() as stack:
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            stack.callback(copy.close)
            if not _journal_exists(path) or _try_copy(path, copy):
                stack.pop_all()
                return copy
    raise sqlite3.OperationalError("it is opened and closed too often")


def _read_without_atime(path: str) -> sqlite3.Connection | None:
    """The same, so that not even the time of last access changes; `None` where that cannot be done."""
    with OPENING, contextlib.ExitStack() as stack:
        image = load_image(path) if _journal_exists(path) else None
        if image is None or not hasattr(sqlite3.Connection, "deserialize"):  # SQLite may be built without
            return None
        copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        stack.callback(copy.close)
        if 0 < len(image) <= _MOST_AS_IT_IS:
            copy.deserialize(image)
            stack.pop_all()
            return copy
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as source:
            if image:
                source.deserialize(bytes(image))
                del image
            source.backup(copy)
        stack.pop_all()
        return copy


def _journal_exists(path: str) -> bool:
    """Whether there is a journal. Raises `OSError` where that cannot be known."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _try_copy(path: str, copy: sqlite3.Connection) -> bool:
    """Copy a journal; whether the copy is of one moment."""
    with open_read_only(path) as opened:
        try:
            opened.connection.backup(copy)
        except UNREADABLE:
            if opened.is_steady():
                raise
            return False  # two moments together look like a damaged journal
        return opened.is_steady()


def _has_unused_log(path: str) -> bool:
    """Whether the log has a header and nothing that SQLite reads behind it: its program died between the two.

    SQLite waits ten seconds for such a log to change and then says "locking protocol", if it may not mend it.
    """
    header = _read_bytes(path + "-wal", _HEADER.size + 1) or b""
    if len(header) <= _HEADER.size:
        return len(header) == _HEADER.size
    return not _is_log_header(header)


def _is_log_header(data: bytes | bytearray) -> bool:
    magic, _, size, *_ = _HEADER.unpack_from(data)
    return magic & ~1 == _MAGIC and 512 <= size <= 1 << 16 and not size & (size - 1)


def _is_transient(error: Exception) -> bool:
    """Whether a file beside the journal was not there yet, or not any more: another program began, or was leaving."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return isinstance(error, FileNotFoundError) or code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def _connect(
    path: str, seen: _FilesSignature, stack: contextlib.ExitStack, *, locking: bool
) -> tuple[sqlite3.Connection, bool]:
    """Connect in the way that changes nothing, and say whether locks are held from then on."""
    address, is_locked = make_read_only_uri(path), True
    if seen.has_wal and seen.has_shm and (is_in_use(path) or not _has_unused_log(path)):
        address += "&readonly_shm=1"
    elif locking and not seen.has_wal:
        address = address.replace("?mode=ro", "?mode=rw")
    elif seen.has_wal or seen.has_journal:
        import shutil  # noqa: PLC0415 - start-up: only here
        import tempfile  # noqa: PLC0415 - start-up: only here

        # Its process died: SQLite would mend it where it lies. Nobody has it open.
        aside = stack.enter_context(tempfile.TemporaryDirectory(prefix="memtui-"))
        for end, is_there in (("", True), ("-wal", seen.has_wal), ("-journal", seen.has_journal)):
            if is_there:
                shutil.copyfile(path + end, os.path.join(aside, "journal.db" + end))
        address = make_read_only_uri(os.path.join(aside, "journal.db")).replace("?mode=ro", "?mode=rw")
        is_locked = _get_files_signature(path) == seen  # a copy of one moment stays one, whatever happens from now on
    else:
        address += "&immutable=1"
        is_locked = False
    timeout = BUSY_MS / 1000
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=timeout)
    stack.callback(connection.close)
    return connection, is_locked


def write_copy(connection: sqlite3.Connection, path: str, *, has_entries: bool) -> None:
    """Write a copy of a journal to a file that is not there; nobody may write to the journal meanwhile.

    Args:
        connection: The journal's.
        path: In a directory that exists.
        has_entries: Whether the copy is to hold memories as well: their table is empty.

    Raises:
        FileExistsError: Something is there.
        OSError: It cannot be written.
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    try:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as copy:
            connection.backup(copy)
            copy.execute("DROP TABLE IF EXISTS entries")
            for _, sql in ENTRIES.values() if has_entries else ():
                copy.execute(sql)
            copy.execute("VACUUM")  # nothing of a memory is left behind
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error)) from error
