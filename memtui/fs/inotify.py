"""Notifications of the Linux kernel (inotify) about a folder's directories.

The package watchfiles is the watcher of other systems (`memtui.watch`). On Linux it asks a hundred times a second
whether it is to end, which is half of what an open browser costs at rest, and it hears of each opening and closing of
each file and directory: a writer paid for thirteen notifications of a replaced note to every browser, where these
watches have three. Here a thread sleeps until names or texts have changed, nameless and removed files are left out
(`IN_EXCL_UNLINK`), and no link is followed: each directory is reached through its parent's descriptor.

A notification is a hint, never a fact. A directory is watched before it is listed, so nothing falls between the two.
"""

import ctypes
import errno
import os
import select
import struct
import threading
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from memtui.core.errors import SymlinkEscape
from memtui.fs.beneath import RootDirectory, close_quietly

_MODIFY: Final = 0x2
_ATTRIB: Final = 0x4
_CLOSE_WRITE: Final = 0x8
_MOVED_FROM: Final = 0x40
_MOVED_TO: Final = 0x80
_CREATE: Final = 0x100
_DELETE: Final = 0x200
_DELETE_SELF: Final = 0x400
_MOVE_SELF: Final = 0x800
_UNMOUNT: Final = 0x2000
_GONE: Final = _DELETE_SELF | _MOVE_SELF | _UNMOUNT
_OVERFLOW: Final = 0x4000
_IGNORED: Final = 0x8000
_ONLY_DIRECTORY: Final = 0x1000000
_NO_FOLLOW: Final = 0x2000000
_EXCLUDE_UNLINKED: Final = 0x4000000
_ONCE: Final = 0x80000000
_IS_DIRECTORY: Final = 0x40000000
_CHANGES: Final = _MODIFY | _CLOSE_WRITE | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_WHERE: Final = _ONLY_DIRECTORY | _NO_FOLLOW | _EXCLUDE_UNLINKED

LIMITS = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors that say that the system has no more watches, or no more room for them."""
_HEADER = struct.Struct("iIII")
_BUFFER = 65_536
_MOST_BUFFERS = 64
"""Read in one go: a flood of changes has an end."""
_QUIET_SECONDS = 0.01
_ROUNDS = 2
"""What follows a change within a moment is looked at together with it; each round waits for one more."""

_libc = ctypes.CDLL(None, use_errno=True)


class Notices(NamedTuple):
    """What was noticed.

    Attributes:
        paths: Where something seems to have changed, relative to the folder; `""` for the folder itself.
        in_files: Whether one of the single files was written.
        is_lost: Whether the watches do not fit what is there any more: they are to be made anew.
    """

    paths: set[str]
    in_files: bool = False
    is_lost: bool = False

    def merge(self, later: "Notices") -> "Notices":
        """Both together."""
        return Notices(self.paths | later.paths, self.in_files or later.in_files, self.is_lost or later.is_lost)


class InotifyWatches:
    """Watches on every directory of a folder, for one thread.

    Args:
        folder: The folder, with links resolved; `None` for the single files alone.
        files: Single files that are watched once each time that `arm` is called; they need not be there.

    Raises:
        OSError: The folder cannot be watched; with a number of `LIMITS` where the system has no more watches.
    """

    is_exact = True

    def __init__(self, folder: str | None, files: Sequence[str] = ()) -> None:
        if not hasattr(_libc, "inotify_init1"):
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        self._files = files
        self._armed: set[int] = set()
        self._directories: dict[int, str] = {}
        self._watches: dict[str, int] = {}
        self._paths: set[str] = set()
        self._in_files = self._is_lost = False
        self._closing = threading.Lock()
        self._descriptors: list[int] = []
        self._root = RootDirectory("/" if folder is None else folder)
        try:
            self._fd = _check(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
            self._descriptors.append(self._fd)
            self._descriptors.append(os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC))
            self._poll = select.poll()
            for fd in self._descriptors:
                self._poll.register(fd, select.POLLIN)
            if folder is not None:
                self._add_below("")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with self._closing:
            while self._descriptors:
                close_quietly(self._descriptors.pop())
        self._root.close()

    def wake(self) -> None:
        """Have `wait` return, from any thread."""
        with self._closing:
            if self._descriptors:
                os.eventfd_write(self._descriptors[-1], 1)

    def arm(self) -> None:
        """Notice the next time that one of the single files is written. Further ones cost their writer nothing."""
        for path in self._files:
            watch = _libc.inotify_add_watch(self._fd, os.fsencode(path), _MODIFY | _NO_FOLLOW | _ONCE)
            if watch >= 0:
                self._armed.add(watch)

    def wait(self, seconds: float) -> Notices:
        """Sleep until something is noticed, or for so long."""
        self._paths = set()
        self._in_files = self._is_lost = False
        if self._poll.poll(seconds * 1_000):
            for _ in range(_ROUNDS):
                if not self._read():
                    break
                time.sleep(_QUIET_SECONDS)
            else:
                self._read()
        return Notices(self._paths, self._in_files, self._is_lost)

    def _read(self) -> bool:
        """Take what the kernel has noticed by now; tells whether it was anything."""
        for count in range(_MOST_BUFFERS):
            try:
                data = os.read(self._fd, _BUFFER)
            except BlockingIOError:
                return count > 0
            at = 0
            while at < len(data):
                watch, mask, _, length = _HEADER.unpack_from(data, at)
                at += _HEADER.size + length
                self._take(watch, mask, os.fsdecode(data[at - length : at].rstrip(b"\0")))
        return True

    def _take(self, watch: int, mask: int, name: str) -> None:
        if mask & _OVERFLOW:
            self._is_lost = True
        elif watch in self._armed:
            self._in_files = True
            if mask & _IGNORED:
                self._armed.discard(watch)
        elif (directory := self._directories.get(watch)) is None:
            return  # of a directory that has moved away meanwhile
        elif mask & _IGNORED:
            self._forget(watch)
        else:
            self._is_lost |= bool(mask & _GONE)
            path = f"{directory}/{name}" if directory and name else directory or name
            self._paths.add(path)
            if mask & _IS_DIRECTORY and name:
                self._follow_directory(path, mask)

    def _follow_directory(self, path: str, mask: int) -> None:
        if mask & _MOVED_FROM:
            for each, watch in list(self._watches.items()):
                if each == path or each.startswith(path + "/"):
                    _libc.inotify_rm_watch(self._fd, watch)
                    self._forget(watch)
        elif mask & (_CREATE | _MOVED_TO) or (mask & _ATTRIB and path not in self._watches):
            try:
                self._add_below(path)
            except OSError:
                self._is_lost = True  # making the watches anew says why

    def _forget(self, watch: int) -> None:
        path = self._directories.pop(watch)
        if self._watches.get(path) == watch:
            del self._watches[path]

    def _add_below(self, path: str) -> None:
        """Watch a directory and all below it; what is not ours to read, or gone again, is left out."""
        todo = [path]
        while todo:
            path = todo.pop()
            parts = tuple(path.split("/")) if path else ()
            try:
                self._add(path, parts)
                fd = self._root.open_directory(parts)
                try:
                    with os.scandir(fd) as entries:
                        inner = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
                finally:
                    close_quietly(fd)
            except SymlinkEscape:
                continue
            except OSError as error:
                if error.errno in LIMITS or not path:
                    raise
                continue
            todo += [f"{path}/{name}" if path else name for name in inner]

    def _add(self, path: str, parts: tuple[str, ...]) -> None:
        with self._root.resolve_path(parts, follow=False) as place:
            where = os.fsencode(f"/proc/self/fd/{place.fd}/{place.name}")
            watch = _check(_libc.inotify_add_watch(self._fd, where, _CHANGES | _WHERE | (0 if parts else _GONE)))
        if watch in self._directories:
            self._forget(watch)  # it has moved here
        self._directories[watch] = path
        self._watches[path] = watch


def _check(answer: int) -> int:
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer
