"""A journal's database as it stands in its files, read without SQLite opening them.

SQLite reads a file in a way that shows: the time of last access changes, it takes locks, and where a process has died
it wants to mend what it finds. Here the bytes of the database and of its write-ahead log are read quietly, and the
log's committed pages are put into the copy, as SQLite would do it.

Source: SQLite, "WAL-mode File Format" and "Database File Format". No lock is needed: while a log is not begun anew,
whatever a checkpoint moves into the database stands in the log as well, and so a database that was read while it was
written to is made right by the log that is read after it. A log that was begun anew meanwhile has another salt.
"""

import contextlib
import os
import stat
import struct
from array import array
from typing import NamedTuple

from memtui.journal.files import LOOKS, is_in_use
from memtui.quiet import open_quietly

MOST = 1 << 29
"""Bytes of the largest database that is read this way."""
MOST_LOG = 1 << 26
_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
"""Of a log; the lowest bit says in which order the bytes of numbers are summed up."""
_FORMAT = 3_007_000
_MASK = 0xFFFF_FFFF
_MODES = slice(18, 20)
"""Where a database says whether it is written ahead (2) or not (1); one in memory cannot be."""


def image_of(path: str) -> bytearray | None:
    """A database of one moment, to be opened in memory.

    Args:
        path: The database.

    Returns:
        Its bytes; `None` where SQLite has to read it: this process has it open, and would lose its locks; it is very
        large; or it has a journal of another kind beside it.

    Raises:
        OSError: It cannot be read.
    """
    if is_in_use(path) or os.path.exists(path + "-journal"):
        return None
    for _ in range(LOOKS):
        found = _read(path)
        if found is None:
            return None
        if found.log is not None:
            image = _applied(found.data, found.log)
            if image[_MODES] == b"\x02\x02":
                image[_MODES] = b"\x01\x01"
            return image
    return None


class _Read(NamedTuple):
    """The bytes of a database and of its log; the log is `None` if the two are not of one moment."""

    data: bytearray
    log: bytes | None


def _read(path: str) -> _Read | None:
    before, begun = _signature(path), _bytes_of(path + "-wal", _HEADER.size)
    data, log = _bytes_of(path, MOST + 1), _bytes_of(path + "-wal", MOST_LOG + 1)
    if data is None or len(data) > MOST or len(log or b"") > MOST_LOG:
        if data is None:
            os.stat(path)  # says why
        return None
    ended = _bytes_of(path + "-wal", _HEADER.size)  # it may have been cut off while it was read
    if not (begun or b"") == (log or b"")[: _HEADER.size] == (ended or b""):
        return _Read(data, None)
    if not log and _signature(path) != before:
        return _Read(data, None)  # without a log it was written to in its place
    return _Read(data, bytes(log or b""))


def _signature(path: str) -> tuple[int, ...]:
    seen = os.stat(path)
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns


def _bytes_of(path: str, limit: int) -> bytearray | None:
    """The first bytes of a file; `None` if there is none."""
    with contextlib.suppress(FileNotFoundError):
        fd = open_quietly(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)  # a FIFO is not waited for
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OSError("it is no regular file")
            data = bytearray()
            while len(data) < limit and (part := os.read(fd, min(limit - len(data), 1 << 22))):
                data += part
            return data
        finally:
            os.close(fd)
    return None


def _applied(data: bytearray, log: bytes) -> bytearray:
    """A database with all that its log has committed."""
    if len(log) < _HEADER.size:
        return data
    magic, version, size, _, *salt, sum_0, sum_1 = _HEADER.unpack_from(log)
    order = ">" if magic & 1 else "<"
    if magic & ~1 != _MAGIC or version != _FORMAT or size < 512 or size & (size - 1):
        return data
    sums = _summed(log[:24], (0, 0), order)
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
        sums = _summed(log[at : at + 8] + log[start : start + size], sums, order)
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


def _summed(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
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
