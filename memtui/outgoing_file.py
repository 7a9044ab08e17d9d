"""A file that comes into being whole: nobody sees it before it is on the disk.

Where the system can, it has no name until then (`O_TMPFILE`), so that nothing is left of one whose writer was killed.
Elsewhere it has one of its own beside its place.
"""

import contextlib
import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import BinaryIO

ASIDE = ".part"
"""How the name of a file ends that is not in its place yet."""
_BUFFER = 1 << 20
_NAMELESS, _BY_NUMBER = getattr(os, "O_TMPFILE", 0), "/proc/self/fd"
"""How a file is made that has no name yet, and by what it gets one (Linux)."""
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class OutgoingFile:
    """A file that nobody sees before it is whole. To be closed, whatever comes of it.

    Args:
        directory: The opened directory, which this file closes.
        place: Where it is to be.
        force: Whether a file that stands there is replaced.
        said: Says what the system refuses, around whatever asks it.
        exists: What is said where something stands there already.

    Attributes:
        place: Where it is to be.
    """

    def __init__(
        self,
        directory: int,
        place: str,
        *,
        force: bool,
        said: Callable[[], AbstractContextManager[None]],
        exists: Callable[[], Exception],
    ) -> None:
        self.place = place
        self._said = said
        self._exists = exists
        self._directory = directory
        self._force = force
        self._name = os.path.basename(place)
        self._aside = f".{os.fsdecode(os.fsencode(self._name)[:200])}.{os.urandom(4).hex()}{ASIDE}"
        with said():
            self._file, self._has_name = self._begun()

    def write(self, data: bytes) -> None:
        """Write what comes next."""
        with self._said():
            self._file.write(data)

    def keep(self) -> None:
        """It is whole: put it on the disk and in its place.

        Raises:
            NotWritten: It is not in its place; what stood there still does.
        """
        with self._said():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._move()
        with contextlib.suppress(OSError):  # it is in its place; not every file system syncs directories
            os.fsync(self._directory)

    def close(self) -> None:
        """Leave nothing behind but what was kept."""
        if self._directory < 0:
            return
        with contextlib.suppress(OSError):  # what could not be written was told when it was to be kept
            self._file.close()
        with contextlib.suppress(OSError):
            os.unlink(self._aside, dir_fd=self._directory)
        os.close(self._directory)
        self._directory = -1

    def _begun(self) -> tuple[BinaryIO, bool]:
        """The file, and whether it has a name already."""
        here, flags = self._directory, os.O_WRONLY | os.O_CLOEXEC
        if _NAMELESS and os.path.isdir(_BY_NUMBER):
            with contextlib.suppress(OSError):  # not every file system can, and what is wrong else is told below
                return open(os.open(".", flags | _NAMELESS, 0o600, dir_fd=here), "wb", buffering=_BUFFER), False
        flags |= os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        return open(os.open(self._aside, flags, 0o600, dir_fd=here), "wb", buffering=_BUFFER), True

    def _move(self) -> None:
        here = self._directory
        if not self._has_name:
            name = self._aside if self._force else self._name  # only a file with a name can replace another one
            try:
                os.link(f"{_BY_NUMBER}/{self._file.fileno()}", name, dst_dir_fd=here, follow_symlinks=True)
            except FileExistsError:
                raise self._exists() from None
            if not self._force:
                return
        if self._force:
            os.replace(self._aside, self._name, src_dir_fd=here, dst_dir_fd=here)
            return
        try:
            os.link(self._aside, self._name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
        except FileExistsError:
            raise self._exists() from None
        except OSError as error:  # not every file system has links
            if error.errno not in _NO_LINKS:
                raise
            if _exists(self._name, here):
                raise self._exists() from None
            os.rename(self._aside, self._name, src_dir_fd=here, dst_dir_fd=here)


def _exists(name: str, directory: int) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
