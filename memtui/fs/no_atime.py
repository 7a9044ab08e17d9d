"""Opening what is only read, also without changing the time of last access: `O_NOATIME` (Linux), for owners and root.

Apart from `memtui.fs.beneath`, which loads ctypes: the first paint does not wait for it.
"""

import os
import stat

_NOATIME = getattr(os, "O_NOATIME", 0)


def open_without_atime(path: str, flags: int = os.O_RDONLY | os.O_CLOEXEC, *, directory: int | None = None) -> int:
    """Open a file or a directory for reading; the caller closes the descriptor."""
    try:
        return os.open(path, flags | _NOATIME, dir_fd=directory)
    except PermissionError:
        if not _NOATIME:
            raise
        return os.open(path, flags, dir_fd=directory)


def read_regular_file(path: str, most: int) -> bytes | None:
    """The bytes of a file, up to one more than `most`; `None` if it is no regular one. A FIFO is not waited for."""
    fd = open_without_atime(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        return file.read(most + 1) if stat.S_ISREG(os.fstat(fd).st_mode) else None
