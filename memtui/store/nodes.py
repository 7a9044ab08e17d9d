"""Things in a folder as they are looked at, and files that are read and written whole."""

import os
import stat

from memtui.core.snapshot import Kind
from memtui.store.base import Content, Node, NotRegular, Stamp, TooLarge

READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a file is opened that others may replace by anything."""
_TORN_READS = 5
_OTHERS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""What is neither file, directory nor link."""


def read_whole(fd: int, path: str, limit: int) -> Content:
    """Read a file that others may be writing: again, if it changed while it was read."""
    for _ in range(_TORN_READS):
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            raise NotRegular
        if before.st_size > limit:
            raise TooLarge(before.st_size)
        data = os.pread(fd, before.st_size + 1, 0)
        while 0 < len(data) <= limit and (more := os.pread(fd, 1 << 20, len(data))):
            data += more
        after = os.fstat(fd)
        if stamp_of(after) == stamp_of(before) and len(data) == after.st_size:
            break
    return Content(data, node_of(path, after))


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes, in as many calls as the system makes of it."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def node_of(path: str, seen: os.stat_result) -> Node:
    """What was looked at, as a node.

    Args:
        path: Where it really is, relative to the root.
        seen: How it looked.
    """
    mode = seen.st_mode
    if stat.S_ISREG(mode):
        return Node(path, Kind.FILE, seen.st_size, seen.st_mtime_ns, stamp_of(seen), seen.st_nlink)
    if stat.S_ISDIR(mode):
        return Node(path, Kind.DIRECTORY, 0, seen.st_mtime_ns, (seen.st_ino,))
    if stat.S_ISLNK(mode):
        return Node(path, Kind.LINK, 0, seen.st_mtime_ns, stamp_of(seen))
    what = next((name for is_one, name in _OTHERS if is_one(mode)), "")
    return Node(path, Kind.OTHER, 0, seen.st_mtime_ns, stamp_of(seen), what=what)


def stamp_of(seen: os.stat_result) -> Stamp:
    """The stamp of what was looked at."""
    return (seen.st_ctime_ns, seen.st_size, seen.st_mtime_ns, seen.st_ino)  # see `lasting`: a move changes the first
