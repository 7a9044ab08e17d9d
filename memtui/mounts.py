"""Where an opened directory lies in its file system, whatever mounts lead to it.

A part of a folder can be mounted somewhere else (`mount --bind`), as containers do: from there no `..` leads to the
folder, and yet what is written there is written in it. The kernel tells which part of a file system each mount shows.

Source: the Linux manual, proc_pid_mountinfo(5) and proc_pid_fdinfo(5). Other systems have no such mounts.
"""

import os
import re
from typing import NamedTuple, Self

_NUMBER = re.compile(rb"^mnt_id:\s*(\d+)$", re.MULTILINE)
_ESCAPED = re.compile(rb"\\([0-7]{3})")


class Origin(NamedTuple):
    """A place in a file system.

    Attributes:
        device: The file system, as the kernel numbers it.
        path: From the file system's own root.
    """

    device: bytes
    path: bytes

    def is_within(self, other: Self) -> bool:
        """Whether it is another place, or below it."""
        return self.device == other.device and (self.path + b"/").startswith(other.path.rstrip(b"/") + b"/")


def origin_of(fd: int) -> Origin | None:
    """Where an opened directory lies in its file system; `None` where the system does not tell."""
    try:
        found = _NUMBER.search(_read(f"/proc/self/fdinfo/{fd}"))
        path = os.readlink(b"/proc/self/fd/%d" % fd)
        mounts = _read("/proc/self/mountinfo")
    except OSError:
        return None
    if found is None:
        return None
    for line in mounts.splitlines():
        number, _, device, root, point, *_ = line.split(b" ")
        if number != found[1]:
            continue
        start = _plain(point).rstrip(b"/")
        if path != start and not path.startswith(start + b"/"):
            return None  # it is not reached from here any more
        return Origin(device, _plain(root).rstrip(b"/") + path[len(start) :].rstrip(b"/"))
    return None


def _plain(path: bytes) -> bytes:
    """A path without the escapes by which blanks stand in a line."""
    return _ESCAPED.sub(lambda match: bytes((int(match[1], 8) & 0xFF,)), path)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
