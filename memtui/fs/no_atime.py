"""Opening without changing the time of last access: `O_NOATIME` (Linux), for a file's owner and root.

Apart from `memtui.fs.beneath`, which loads ctypes: the first paint does not wait for it.
"""

import os

_NOATIME = getattr(os, "O_NOATIME", 0)


def open_without_atime(path: str, flags: int = os.O_RDONLY | os.O_CLOEXEC, *, directory: int | None = None) -> int:
    """Open a file or a directory for reading; the caller closes the descriptor."""
    try:
        return os.open(path, flags | _NOATIME, dir_fd=directory)
    except PermissionError:
        if not _NOATIME:
            raise
        return os.open(path, flags, dir_fd=directory)
