"""A journal's files: who may open them in this process, and how they are copied without touching them."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
import threading

BUSY_MS = 5_000
"""Milliseconds for which somebody else's lock is waited for."""
LOOKS = 20
"""How often a journal is looked at again that was opened or closed by somebody at that moment."""
OPENING = threading.RLock()
"""Held while a journal is opened, closed or copied by this process. Locks on files are a process's own (POSIX), and
closing any descriptor of a file drops all of them, so nobody may open a journal's file behind SQLite's back while it
is in use; and a copy that came first would make SQLite think that nobody in this process may write."""


def copied(path: str) -> sqlite3.Connection:
    """A database in memory that holds what the one at `path` holds now; empty if there is none.

    Nothing is written there, nor beside it, and its files are opened by SQLite alone; see `OPENING`.

    Raises:
        sqlite3.Error, OSError: It cannot be read.
    """
    with OPENING:
        for look in range(LOOKS):
            logged = os.path.exists(path + "-wal")
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            try:
                if os.path.exists(path):
                    _copy(path, copy, logged=logged)
                if os.path.exists(path + "-wal") == logged:
                    return copy
            except sqlite3.OperationalError:
                if look == LOOKS - 1 or os.path.exists(path + "-wal") == logged:
                    copy.close()
                    raise
            except BaseException:
                copy.close()
                raise
            copy.close()
    raise sqlite3.OperationalError("it is opened and closed all the time")


def _copy(path: str, copy: sqlite3.Connection, *, logged: bool) -> None:
    if not logged:
        address = address_of(path) + "&immutable=1"
    elif os.path.exists(path + "-shm"):
        address = address_of(path) + "&readonly_shm=1"
    else:
        # Its process died and the index is gone as well: SQLite would make a new one. Nobody has it open.
        with tempfile.TemporaryDirectory(prefix="memtui-") as aside:
            for end in ("", "-wal"):
                shutil.copyfile(path + end, os.path.join(aside, "journal.db" + end))
            _copy_through(address_of(os.path.join(aside, "journal.db")), copy)
        return
    _copy_through(address, copy)


def _copy_through(address: str, copy: sqlite3.Connection) -> None:
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_MS / 1000)) as source:
        source.backup(copy)


def identity_of(path: str) -> tuple[int, int] | None:
    """Which file a path names, without opening it."""
    try:
        seen = os.stat(path)
    except FileNotFoundError:
        return None
    return seen.st_dev, seen.st_ino


def address_of(path: str) -> str:
    """The address by which SQLite opens a file for reading only; more options may follow, each after a `&`."""
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro"
