"""Opening what is only read, so that it does not show: times of last access stay as they were, where that can be had.

Linux knows `O_NOATIME`, and allows it to a file's owner and to root; for anybody else the system notes the access, if
it notes any.
"""

import os

_NOATIME = getattr(os, "O_NOATIME", 0)


def open_quietly(path: str, flags: int = os.O_RDONLY | os.O_CLOEXEC, *, directory: int | None = None) -> int:
    """Open a file or a directory for reading.

    Args:
        path: Which.
        flags: How; without the right to write.
        directory: A descriptor that the path is relative to.

    Returns:
        The descriptor; the caller closes it.

    Raises:
        OSError: It cannot be opened.
    """
    try:
        return os.open(path, flags | _NOATIME, dir_fd=directory)
    except PermissionError:
        if not _NOATIME:
            raise
        return os.open(path, flags, dir_fd=directory)
