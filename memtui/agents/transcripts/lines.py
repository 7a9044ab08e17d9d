"""The lines of a session file, read as a stream: it may be half-written, gigabytes large, and anything at all."""

import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from memtui.quiet import open_quietly

_CHUNK = 1 << 20
LONGEST = 64_000_000
"""Bytes of the longest line that is looked at; a longer one is passed over."""


class Line(NamedTuple):
    """A line.

    Attributes:
        number: From 1.
        data: Its bytes without the line end.
    """

    number: int
    data: bytes


class Stopped(Exception):
    """Whoever asked does not want it any more."""


def lines_of(path: str, read: Callable[[int], bool]) -> Iterator[Line]:
    """The lines of a file; one without its line end, at the end, is still being written and is left out.

    Args:
        path: Where.
        read: Told how many bytes more were read; `False` stops.

    Raises:
        OSError: It is not there, is no file, or cannot be read.
        Stopped: It was stopped.
    """
    fd = open_quietly(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with open(fd, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError("it is no file")
        number, held, is_too_long = 0, bytearray(), False
        while chunk := file.read(_CHUNK):
            if not read(len(chunk)):
                raise Stopped
            start = 0
            while (end := chunk.find(b"\n", start)) >= 0:
                number += 1
                if not is_too_long and len(held) + end - start <= LONGEST:
                    yield Line(number, bytes(held) + chunk[start:end] if held else chunk[start:end])
                held, is_too_long, start = bytearray(), False, end + 1
            if not is_too_long:
                held += chunk[start:]
                if len(held) > LONGEST:
                    held, is_too_long = bytearray(), True
