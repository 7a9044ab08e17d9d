"""Atomic writes: nobody sees a file before it is whole and on the disk.

Where the system can, it has no name until then (`O_TMPFILE`), so that nothing is left of one whose writer was killed.
Elsewhere it has one of its own beside its place.
"""

import contextlib
import errno
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import BinaryIO

ASIDE = ".part"
"""How the name of a file ends that is not in its place yet."""
_PRIVATE = 0o600
_BUFFER = 1 << 20
_NAMELESS, _BY_NUMBER = getattr(os, "O_TMPFILE", 0), "/proc/self/fd"
"""How a file is made that has no name yet, and by what it gets one (Linux)."""
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def get_nameless_flag() -> int:
    """The flag by which a file is made that has no name yet; 0 where the system cannot, or could not name it later."""
    return _NAMELESS if os.path.isdir(_BY_NUMBER) else 0


def link_nameless(fd: int, name: str, directory: int) -> None:
    os.link(f"{_BY_NUMBER}/{fd}", name, dst_dir_fd=directory, follow_symlinks=True)


def write_atomic(
    path: str | os.PathLike[str],
    data: bytes | Iterable[bytes],
    *,
    mode: int = _PRIVATE,
    sync: bool = True,
    replace: bool = True,
    times_ns: tuple[int, int] | None = None,
) -> None:
    """Write a file whole or not at all, in a directory that is there. A link at its place is replaced, not followed.

    Args:
        path: Where.
        data: All of its bytes, or parts of them in order.
        mode: Its permissions.
        sync: Whether file and directory are synced: without it a crash of the system may lose it.
        replace: Whether a file that stands there is replaced.
        times_ns: When it was last read and written, in nanoseconds since 1970; by default now.

    Raises:
        FileExistsError: Something stands there, and is not to be replaced.
        OSError: It cannot be written. What stood there still does.
    """
    place = os.fspath(path)
    directory = os.open(os.path.dirname(place) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        file = AtomicFile(directory, place, force=replace, mode=mode, sync=sync, times_ns=times_ns)
    except BaseException:
        os.close(directory)
        raise
    with contextlib.closing(file):
        for part in (data,) if isinstance(data, bytes) else data:
            file.write(part)
        file.commit()


class AtomicFile:
    """A file that nobody sees before it is whole. To be closed in any case. See `write_atomic`.

    Args:
        directory: The opened directory, which this file closes.
        force: Whether a file that stands there is replaced.
        translate: Translates errors of the system, as a context manager around each call.
        exists: Makes the error for a place that is taken.
    """

    def __init__(
        self,
        directory: int,
        place: str,
        *,
        force: bool,
        translate: Callable[[], AbstractContextManager[None]] = nullcontext,
        exists: Callable[[], Exception] = FileExistsError,
        mode: int = 0o600,
        sync: bool = True,
        times_ns: tuple[int, int] | None = None,
    ) -> None:
        self.path = place
        self._translate_errors = translate
        self._exists = exists
        self._directory = directory
        self._force = force
        self._mode = mode
        self._sync = sync
        self._times_ns = times_ns
        self._name = os.path.basename(place)
        self._aside = f".{os.fsdecode(os.fsencode(self._name)[:200])}.{os.urandom(4).hex()}{ASIDE}"
        with translate():
            self._file, self._has_name = self._create_file()

    def write(self, data: bytes) -> None:
        with self._translate_errors():
            self._file.write(data)

    def commit(self) -> None:
        """Put the whole file on the disk and in its place; on an error, which `translate` makes, the old one stays."""
        with self._translate_errors():
            self._file.flush()
            fd = self._file.fileno()
            if self._mode != _PRIVATE:
                os.fchmod(fd, self._mode)
            if self._times_ns is not None:
                os.utime(fd, ns=self._times_ns)
            if self._sync:
                os.fsync(fd)
            self._move_into_place()
        if self._sync:
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

    def _create_file(self) -> tuple[BinaryIO, bool]:
        """The file, and whether it has a name already."""
        directory, flags = self._directory, os.O_WRONLY | os.O_CLOEXEC
        if nameless := get_nameless_flag():
            with contextlib.suppress(OSError):  # not every file system can, and what is wrong else is told below
                return open(os.open(".", flags | nameless, _PRIVATE, dir_fd=directory), "wb", buffering=_BUFFER), False
        flags |= os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        return open(os.open(self._aside, flags, _PRIVATE, dir_fd=directory), "wb", buffering=_BUFFER), True

    def _move_into_place(self) -> None:
        directory = self._directory
        if not self._has_name:
            name = self._aside if self._force else self._name  # only a file with a name can replace another one
            try:
                link_nameless(self._file.fileno(), name, directory)
            except FileExistsError:
                raise self._exists() from None
            if not self._force:
                return
        if self._force:
            os.replace(self._aside, self._name, src_dir_fd=directory, dst_dir_fd=directory)
            return
        try:
            os.link(self._aside, self._name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
        except FileExistsError:
            raise self._exists() from None
        except OSError as error:  # not every file system has links
            if error.errno not in _NO_LINKS:
                raise
            with contextlib.suppress(FileNotFoundError):
                os.stat(self._name, dir_fd=directory, follow_symlinks=False)
                raise self._exists() from None
            os.rename(self._aside, self._name, src_dir_fd=directory, dst_dir_fd=directory)
