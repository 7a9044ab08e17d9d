"""A journal read in one state, while others may write to it, without changing any of its files.

Even to read, SQLite makes files beside a database, and mends what a dead process left. What is to be checked has to
stay as it was found, so it is opened in the way that changes nothing, and looked at again afterwards.
"""

import contextlib
import errno
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.journal.files import BUSY_MS, LOOKS, OPENING, address_of
from memtui.journal.image import image_of
from memtui.journal.rows import UNREADABLE

_AGAIN_SECONDS = 0.01


class _Signature(NamedTuple):
    """What tells one state of the files from another, without opening them."""

    identity: tuple[int, int, int, int]
    has_wal: bool
    has_shm: bool
    has_journal: bool


def _signature(path: str) -> _Signature:
    seen = os.stat(path)
    identity = seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns
    return _Signature(identity, *(os.path.exists(path + end) for end in ("-wal", "-shm", "-journal")))


@dataclass(frozen=True, slots=True)
class Reading:
    """A journal that is open for reading, and left as it is.

    Attributes:
        connection: The database.
        is_steady: Asks whether what was read until now was one state: without locks somebody may have written.
    """

    connection: sqlite3.Connection
    is_steady: Callable[[], bool] = field(default=lambda: True)


@contextmanager
def reading(path: str, *, locking: bool = False, quietly: bool = False) -> Iterator[Reading]:
    """Open a journal for reading, without copying it into memory. None of its files is changed.

    Where nobody has it open it is read without locks, since SQLite would make files beside it; `is_steady` says
    afterwards whether that went well. Until the end nobody else in this process can open or close a journal.

    Args:
        path: The database file.
        locking: Whether to take locks in any case, which needs a directory that can be written to: nothing that
            happens meanwhile is seen, and what SQLite makes beside the file is gone again at the end.
        quietly: Whether it is read so that not even the time of last access changes, where that can be done.

    Raises:
        FileNotFoundError, OSError, sqlite3.Error: It is not there, or cannot be opened.
    """
    if not os.access(path, os.R_OK):
        os.stat(path)
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    if quietly and not locking and (image := _read_quietly(path)) is not None:
        with contextlib.closing(image):
            image.execute("PRAGMA query_only = ON")
            image.execute("PRAGMA trusted_schema = OFF")
            yield Reading(image)
        return
    with OPENING, contextlib.ExitStack() as stack:
        for look in range(LOOKS):
            seen = _signature(path)
            try:
                connection, is_locked = _opened(path, seen, stack, locking=locking)
                connection.execute("PRAGMA query_only = ON")
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("BEGIN")
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
                if is_locked or not locking or look == LOOKS - 1 or _signature(path) == seen:
                    break
                stack.close()  # somebody was just closing it, and had not died: there is a lock to be taken after all
            except (sqlite3.OperationalError, FileNotFoundError) as error:
                # Opened or closed by somebody at this moment; a damaged file is another error, and told by the check.
                if "malformed" in str(error) or look == LOOKS - 1:
                    raise
                if _is_passing(error):
                    time.sleep(_AGAIN_SECONDS)
                elif _signature(path) == seen:
                    raise
                stack.close()
            except UNREADABLE:
                break
        yield Reading(connection, lambda: is_locked or _signature(path) == seen)


def copied(path: str, *, quietly: bool = True) -> sqlite3.Connection:
    """A database in memory that holds what the one at `path` holds now; empty if there is none.

    Nothing is written there, nor beside it. While this process has it open, it is read by SQLite alone; see `OPENING`.

    Args:
        path: The database file.
        quietly: Whether it is read so that not even the time of last access changes, where that can be done.

    Raises:
        sqlite3.Error, OSError: It cannot be read.
    """
    if quietly and (image := _read_quietly(path)) is not None:
        return image
    for _ in range(LOOKS):
        with contextlib.ExitStack() as stack:
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            stack.callback(copy.close)
            if not _is_there(path) or _is_copied(path, copy):
                stack.pop_all()
                return copy
    raise sqlite3.OperationalError("it is opened and closed all the time")


def _read_quietly(path: str) -> sqlite3.Connection | None:
    """The same, so that not even the time of last access changes; `None` where that cannot be done."""
    with OPENING, contextlib.ExitStack() as stack:
        image = image_of(path) if _is_there(path) else None
        if image is None or not hasattr(sqlite3.Connection, "deserialize"):  # SQLite may be built without
            return None
        copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        stack.callback(copy.close)
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as source:
            if image:
                source.deserialize(bytes(image))
                del image
            source.backup(copy)
        stack.pop_all()
        return copy


def _is_there(path: str) -> bool:
    """Whether there is a journal.

    Raises:
        OSError: Nobody can tell: that it may not be looked at does not mean that there is none.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _is_copied(path: str, copy: sqlite3.Connection) -> bool:
    """Copy a journal; whether the copy is of one moment."""
    with reading(path) as opened:
        try:
            opened.connection.backup(copy)
        except UNREADABLE:
            if opened.is_steady():
                raise
            return False  # two moments together look like a damaged journal
        return opened.is_steady()


def _is_passing(error: Exception) -> bool:
    """Whether a file beside the journal was not there yet, or not any more: somebody had just begun, or was leaving.

    The files do not tell: whoever comes next may have made the same ones again by the time they are looked at.
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return isinstance(error, FileNotFoundError) or code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def _opened(
    path: str, seen: _Signature, stack: contextlib.ExitStack, *, locking: bool
) -> tuple[sqlite3.Connection, bool]:
    """Connect in the way that changes nothing, and say whether locks are held from then on."""
    address, is_locked = address_of(path), True
    if seen.has_wal and seen.has_shm:
        address += "&readonly_shm=1"
    elif locking and not seen.has_wal:
        address = address.replace("?mode=ro", "?mode=rw")
    elif seen.has_wal or seen.has_journal:
        # Its process died: SQLite would mend it where it lies. Nobody has it open.
        aside = stack.enter_context(tempfile.TemporaryDirectory(prefix="memtui-"))
        for end, is_there in (("", True), ("-wal", seen.has_wal), ("-journal", seen.has_journal)):
            if is_there:
                shutil.copyfile(path + end, os.path.join(aside, "journal.db" + end))
        address = address_of(os.path.join(aside, "journal.db")).replace("?mode=ro", "?mode=rw")
        is_locked = _signature(path) == seen  # a copy of one moment stays one, whatever happens from now on
    else:
        address += "&immutable=1"
        is_locked = False
    connection = sqlite3.connect(
        address, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000
    )
    stack.callback(connection.close)
    return connection, is_locked
