"""Writing a small file of our own so that it is wholly old or wholly new, whatever happens meanwhile.

What a person typed is worth as much as a memory: a full disk or a crash in the middle must not take the file with it
that was there before.
"""

import contextlib
import os
from pathlib import Path


def keep(path: Path, data: bytes) -> None:
    """Write a file for its owner only; when this returns it is on the disk.

    Args:
        path: Where; missing directories are made, for their owner only as well.
        data: All of its bytes.

    Raises:
        OSError: It cannot be kept. What was there before still is.
    """
    from memtui.state import make_private  # deferred: it loads hashlib, for which nobody waits before the first paint

    make_private(path.parent)
    passing = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with open(os.open(passing, flags, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        passing.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            passing.unlink()
        raise
    _sync(path.parent)


def _sync(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
