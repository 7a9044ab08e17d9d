"""File calls that cannot leave a root.

`resolve()` and then `open()` is a race: a directory can be swapped for a link in between. Here a path is opened
component by component below a held descriptor, by the kernel in one call where it can (`openat2`, Linux 5.6), else by a
walk of our own. The result is a descriptor of the directory and a name in it, for every later call.
"""

import contextlib
import ctypes
import errno
import os
import stat
from collections.abc import Callable, Sequence
from typing import Literal, Self

from memtui.core.errors import SymlinkEscape, UnsettledChange
from memtui.fs.no_atime import open_without_atime

Resolver = Literal["openat2", "walk"]

Moving = Literal["renameat2", "link", "placeholder"]
"""Ways to move something to a name that must be free, the best first: in one step that never overwrites; by a second
name (files only); onto something empty of ours, where a kill may leave that, and what another program writes into it
in that very moment is lost."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PASSED = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""For a directory on the way. Where there is `O_PATH`, nobody who watches it is woken by that (Linux 6.10)."""
_MAX_LINKS = 40
_LONGEST_CALL = 4_000
"""Bytes of a path in one call; the kernel takes 4,095."""

# From linux/openat2.h and linux/fs.h. The call's number is the same on every architecture.
_SYS_OPENAT2 = 437
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2

_REFUSED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
"""What kernels, file systems and sandboxes answer to calls that they do not have. Where it means something else, the
next way is answered the same."""

_libc = ctypes.CDLL(None, use_errno=True)


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


# Not O_NOFOLLOW: a link at the end would then read as "no directory" (ENOTDIR), and not as a link (ELOOP).
_how = ctypes.byref(_OpenHow(_PASSED & ~os.O_NOFOLLOW, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS))
_how_size = ctypes.sizeof(_OpenHow)


class PathHandle:
    """A name in an open directory below the root. A context manager, which closes the descriptor.

    Attributes:
        fd: The directory, for calls that name something in it: to list or sync it, it is opened again.
        name: The name in it, which may be free; `"."` for the root itself.
        parts: Where it really is, from the root down.
        seen: What stood there when it was looked whether that is a link; `None` if it was not, or nothing stood there.
    """

    __slots__ = ("_owned", "fd", "name", "parts", "seen")

    def __init__(self, fd: int, name: str, parts: tuple[str, ...], *, owned: bool) -> None:
        self.fd = fd
        self.name = name
        self.parts = parts
        self._owned = owned
        self.seen: os.stat_result | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._owned:
            close_quietly(self.fd)

    def stat(self) -> os.stat_result:
        """Look at what stands there, not through a link."""
        return os.stat(self.name, dir_fd=self.fd, follow_symlinks=False)


class RootDirectory:
    """An opened directory, and the one way to places below it.

    Args:
        path: An existing directory, with every link in it resolved already.
        resolver: How places are found; by default as the kernel allows.
    """

    def __init__(self, path: str, resolver: Resolver | None = None) -> None:
        self.path = path
        self.fd = os.open(path, _DIRECTORY)
        seen = os.fstat(self.fd)
        self.identity = (seen.st_dev, seen.st_ino)
        self.resolver: Resolver = resolver or ("openat2" if _has_openat2(self.fd) else "walk")

    def close(self) -> None:
        close_quietly(self.fd)
        self.fd = -1  # a number that the system may give to another file must not be used again

    def reopen(self) -> None:
        """Open the directory that stands at the path now; raises `OSError`, also where links would lead elsewhere.

        The descriptor keeps its number: a thread that uses it meanwhile finds the one directory or the other.
        """
        if os.path.realpath(self.path) != self.path:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        fd = os.open(self.path, _DIRECTORY)
        try:
            seen = os.fstat(fd)
            os.dup2(fd, self.fd, inheritable=False)
        finally:
            close_quietly(fd)
        self.identity = (seen.st_dev, seen.st_ino)

    def is_current(self) -> bool:
        """Whether the path still names the directory that was opened; raises `OSError`."""
        try:
            seen = os.lstat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return (seen.st_dev, seen.st_ino) == self.identity

    def resolve_path(self, parts: Sequence[str], *, follow: bool) -> PathHandle:
        """Find a place below the root.

        No name may be `..`. Links on the way are followed inside the root, at the end only with `follow`.

        Raises:
            SymlinkEscape: A link leads out of the root.
            FileNotFoundError, NotADirectoryError: Something on the way is missing or no directory.
        """
        if not parts:
            return PathHandle(self.fd, ".", (), owned=False)
        parts = tuple(parts)
        if self.resolver == "walk":
            return self._walk_path(parts, follow=follow)
        if len(parts) == 1:
            place = PathHandle(self.fd, parts[0], parts, owned=False)
        else:
            try:
                fd = _open_beneath(self.fd, "/".join(parts[:-1]))
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.EXDEV, errno.EAGAIN, errno.ENAMETOOLONG):
                    return self._walk_path(parts, follow=follow)
                raise
            place = PathHandle(fd, parts[-1], parts, owned=True)
        if follow and _is_link(place):
            with place:
                return self._walk_path(parts, follow=True)
        return place

    def open_directory(self, parts: Sequence[str]) -> int:
        """Open a directory, no link, for listing and syncing without a new access time; the caller closes it."""
        with self.resolve_path(parts, follow=False) as place:
            return open_without_atime(place.name, _DIRECTORY, directory=place.fd)

    def _walk_path(self, parts: tuple[str, ...], *, follow: bool) -> PathHandle:
        """Resolve a path with links by hand, holding one descriptor, however deep it leads: `..` begins anew."""
        todo = list(reversed(parts))
        descriptors: list[int] = []
        real: list[str] = []
        links = 0
        with contextlib.ExitStack() as undo:
            undo.callback(lambda: _close_all(descriptors))
            while todo:
                name = todo.pop()
                here = descriptors[-1] if descriptors else self.fd
                if name in ("", "."):
                    continue
                if name == "..":
                    if not real:
                        raise SymlinkEscape("/".join(parts))
                    todo.extend(reversed(real[:-1]))
                    real.clear()
                    _close_all(descriptors)
                    continue
                if not todo and not follow:
                    return self._make_handle(descriptors, name, real)
                if todo:
                    try:
                        inner = os.open(name, _PASSED, dir_fd=here)
                    except OSError as error:
                        target = _read_link(name, here) if error.errno in (errno.ELOOP, errno.ENOTDIR) else None
                        if target is None:
                            raise
                    else:
                        _close_all(descriptors)
                        descriptors.append(inner)
                        real.append(name)
                        continue
                else:
                    target = _read_link(name, here)
                    if target is None:
                        return self._make_handle(descriptors, name, real)
                links += 1
                if links > _MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                if target.startswith("/"):
                    target = self._to_root_relative(target, parts)
                    _close_all(descriptors)
                    real.clear()
                todo.extend(reversed(target.split("/")))
            if not real:
                return PathHandle(self.fd, ".", (), owned=False)
            return self._walk_path(tuple(real), follow=False)

    def _make_handle(self, descriptors: list[int], name: str, real: list[str]) -> PathHandle:
        """Make a place of the innermost directory held, which is then the place's to close."""
        parts = (*real, name)
        return (
            PathHandle(descriptors.pop(), name, parts, owned=True)
            if descriptors
            else PathHandle(self.fd, name, parts, owned=False)
        )

    def _to_root_relative(self, target: str, parts: tuple[str, ...]) -> str:
        """What an absolute link's target is below the root."""
        normal = os.path.normpath(target)
        if normal != self.path and not normal.startswith(self.path.rstrip("/") + "/"):
            raise SymlinkEscape("/".join(parts))
        return target[len(self.path) :] if target.startswith(self.path) else normal[len(self.path) :]


Announce = Callable[["PathHandle", int | None], object]
"""Told of a directory that is about to be made, and once it is, with its inode."""


def rename_noreplace(
    old: PathHandle, new: PathHandle, moving: Moving = "renameat2", announce: Announce = lambda *_: None
) -> Moving:
    """Move something to a name that must be free, without a moment in which a file there could be lost.

    Args:
        old: What.
        new: Where to.
        moving: The best way that is tried.
        announce: Told of the empty directory that stands at the new name for a moment where there is no better way.

    Returns:
        The way in which it was done, `moving` or a worse one.

    Raises:
        FileExistsError: Something is there.
        UnsettledChange: It has both names, or an empty directory stands at the new one, and it cannot be taken away.
    """
    if moving == "renameat2" and _RENAMEAT2 is not None:
        if _RENAMEAT2(old.fd, os.fsencode(old.name), new.fd, os.fsencode(new.name), _RENAME_NOREPLACE) == 0:
            return "renameat2"
        code = ctypes.get_errno()
        if code not in _REFUSED:
            raise OSError(code, os.strerror(code))
    mode = old.stat().st_mode
    if stat.S_ISDIR(mode):
        _rename_directory(old, new, announce)
        return "placeholder"
    if moving != "placeholder":
        try:
            os.link(old.name, new.name, src_dir_fd=old.fd, dst_dir_fd=new.fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (*_REFUSED, errno.EMLINK):
                raise
        else:
            _unlink_old(old, new)
            return "link"
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(old.name, dir_fd=old.fd), new.name, dir_fd=new.fd)
        _unlink_old(old, new)
    else:
        _rename_file(old, new)
    return "placeholder"


def _unlink_old(old: PathHandle, new: PathHandle) -> None:
    """Take the old name away from what has two; if that fails, the new one. A kill between leaves both."""
    try:
        os.unlink(old.name, dir_fd=old.fd)
    except OSError:
        try:
            os.unlink(new.name, dir_fd=new.fd)
        except OSError as error:
            raise UnsettledChange(os.strerror(error.errno or 0)) from error
        raise


def _rename_directory(old: PathHandle, new: PathHandle, announce: Announce) -> None:
    """Move a directory onto an empty one of ours. Had anybody put something into that one, the system would refuse."""
    announce(new, None)
    os.mkdir(new.name, 0o700, dir_fd=new.fd)
    try:
        announce(new, new.stat().st_ino)
        os.rename(old.name, new.name, src_dir_fd=old.fd, dst_dir_fd=new.fd)
    except BaseException as error:
        try:
            os.rmdir(new.name, dir_fd=new.fd)
        except OSError as stuck:
            if stuck.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST) and isinstance(error, OSError):
                raise UnsettledChange(os.strerror(stuck.errno or 0)) from error
        if isinstance(error, OSError) and error.errno == errno.ENOTEMPTY:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
        raise


def _rename_file(old: PathHandle, new: PathHandle) -> None:
    """Move a file onto an empty one of ours. For a moment an empty file is seen, and it stays after a kill."""
    made = os.open(new.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=new.fd)
    try:
        ours = os.fstat(made)
        now = new.stat()
        if (now.st_dev, now.st_ino, now.st_size) != (ours.st_dev, ours.st_ino, 0):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))  # somebody was as fast
        os.rename(old.name, new.name, src_dir_fd=old.fd, dst_dir_fd=new.fd)
    except BaseException:
        with contextlib.suppress(OSError):
            now = new.stat()
            if (now.st_dev, now.st_ino, now.st_size) == (ours.st_dev, ours.st_ino, 0):
                os.unlink(new.name, dir_fd=new.fd)
        raise
    finally:
        close_quietly(made)


def exchange(one: PathHandle, other: PathHandle) -> bool:
    """Let two things take each other's places in one step; `False` where the system cannot."""
    if _RENAMEAT2 is None:
        return False
    if _RENAMEAT2(one.fd, os.fsencode(one.name), other.fd, os.fsencode(other.name), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _REFUSED:
        return False
    raise OSError(code, os.strerror(code))


def close_quietly(fd: int) -> None:
    """Close a descriptor, whatever the system says of it: what had to be on the disk was synced, and is not undone."""
    try:
        os.close(fd)
    except OSError as error:
        if error.errno == errno.EBADF:
            raise  # it was closed before: a mistake of ours


def _is_link(place: PathHandle) -> bool:
    try:
        place.seen = place.stat()
    except FileNotFoundError:
        return False
    return stat.S_ISLNK(place.seen.st_mode)


def _read_link(name: str, fd: int) -> str | None:
    """A link's target; `None` for anything else, also for nothing."""
    try:
        return os.readlink(name, dir_fd=fd)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


def _close_all(descriptors: list[int]) -> None:
    while descriptors:
        close_quietly(descriptors.pop())


def _open_beneath(fd: int, path: str) -> int:
    """Open a directory below another one by the kernel alone: a path that is too long for one call in several."""
    encoded, start, owned = os.fsencode(path), 0, -1
    while len(encoded) - start > _LONGEST_CALL:
        end = encoded.rfind(b"/", start, start + _LONGEST_CALL)
        if end <= start:  # a name that no file system has
            break
        try:
            inner = _openat2(fd, encoded[start:end])
        finally:
            if owned >= 0:
                close_quietly(owned)
        fd = owned = inner
        start = end + 1
    try:
        return _openat2(fd, encoded[start:])
    finally:
        if owned >= 0:
            close_quietly(owned)


def _openat2(fd: int, path: bytes) -> int:
    while True:
        opened: int = _libc.syscall(_SYS_OPENAT2, fd, path, _how, _how_size)
        if opened >= 0:
            return opened
        code = ctypes.get_errno()
        if code != errno.EINTR:
            raise OSError(code, os.strerror(code))


def _has_openat2(fd: int) -> bool:
    if os.uname().sysname != "Linux":
        return False
    try:
        close_quietly(_openat2(fd, b"."))
    except OSError:
        return False
    return True


_RENAMEAT2 = getattr(_libc, "renameat2", None)

_SYNCFS = getattr(_libc, "syncfs", None)


def sync_file_system(fd: int) -> bool:
    """Have the disk confirm all of the file system of a directory, whoever wrote it; `False` where that is not known.

    Raises:
        OSError: It does not.
    """
    if _SYNCFS is None:
        return False
    opened = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=fd)
    try:
        if _SYNCFS(opened) == 0:
            return True
        code = ctypes.get_errno()
    finally:
        close_quietly(opened)
    if code in _REFUSED:
        return False
    raise OSError(code, os.strerror(code))
