"""Memories as files in a folder that others write to as well.

Every file is moved into place whole, every call stays below the opened root, and nothing of ours is left in
the folder: what must lie somewhere for a moment lies in the state directory where that is on the same file
system, else under a name that no listing of ours shows and that the next writer removes.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memtui.core.errors import Busy, FolderMissing, LeavesRoot, StateUnusable, Uncertain
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.snapshot import Entry, Kind
from memtui.store.base import Content, Node, NotRegular, Outdated, Stamp, TooLarge, Transaction, Written
from memtui.store.confined import Place, Resolver, Root, rename_to_free_name

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOATIME = getattr(os, "O_NOATIME", 0)
_TMPFILE = getattr(os, "O_TMPFILE", 0)
_LOCK_PAUSES = (0.0002, 0.0005, 0.001, 0.002, 0.005)
_TORN_READS = 5


class FolderStore:
    """A directory of memory files.

    Args:
        path: An existing directory.
        state: A directory outside it, for the lock and for files on their way; made if missing. `None` for a
            folder that is only looked at: every change is refused as on a read-only file system.
        title: What a person calls the folder.
        resolver: How paths are confined; by default as the kernel allows.
        nameless: Whether new files are made without a name (`O_TMPFILE`) where the system can.

    Raises:
        FolderMissing: There is no directory at `path`, or it cannot be opened.
    """

    def __init__(
        self,
        path: str,
        state: str | None,
        *,
        title: str = "",
        resolver: Resolver | None = None,
        nameless: bool = True,
    ) -> None:
        self.title = title or path
        try:
            self.root = Root(os.path.realpath(path), resolver)
        except OSError as error:
            raise FolderMissing(f"{self.title} cannot be opened: {os.strerror(error.errno or 0).lower()}.") from error
        self.path = self.root.path
        self._noatime = _NOATIME
        self._tmpfile = _TMPFILE if nameless else 0
        self._state = -1
        self._passing = ".memtui-"
        if state is not None:
            os.makedirs(state, mode=0o700, exist_ok=True)
            self._state = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            seen = os.fstat(self._state)
            token = hashlib.sha256(f"{os.path.realpath(state)}:{seen.st_dev}:{seen.st_ino}".encode()).hexdigest()
            self._passing = f".memtui-{token[:16]}-"

    @property
    def resolver(self) -> Resolver:
        """How paths are confined: by the kernel's `openat2`, or by our own walk."""
        return self.root.resolver

    def close(self) -> None:
        """Close the descriptors."""
        self.root.close()
        if self._state >= 0:
            os.close(self._state)
            self._state = -1

    # Looking

    def node(self, path: MemoryPath, *, follow: bool = False) -> Node | None:
        """See `Store.node`."""
        self._insist_on_root()
        if any(part.startswith(self._passing) for part in path.parts):
            return None
        try:
            with self.root.place(path.parts, follow=follow) as place:
                return _node("/".join(place.parts), place.stat())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, path: MemoryPath, *, limit: int) -> Content:
        """See `Store.read`."""
        with self.root.place(path.parts, follow=True) as place:
            if not stat.S_ISREG(place.stat().st_mode):
                raise NotRegular
            fd = self._open_to_read(place)
            try:
                return _read_whole(fd, "/".join(place.parts), limit)
            finally:
                os.close(fd)

    def scan(self, below: MemoryPath, *, complete: bool = False) -> Iterator[Node]:
        """See `Store.scan`."""
        if below.is_root:
            self._insist_on_root()
        for directory, entry in self._entries(below.parts, complete=complete):
            try:
                seen = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except PermissionError:
                if complete:
                    raise
                continue  # a directory that may be listed, but not entered
            yield _node(directory + entry.name, seen)

    def names(self) -> Iterator[Entry]:
        """See `Store.names`."""
        self._insist_on_root()
        for directory, entry in self._entries(()):
            if entry.is_dir(follow_symlinks=False):
                kind = Kind.DIRECTORY
            elif entry.is_file(follow_symlinks=False):
                kind = Kind.FILE
            else:
                kind = Kind.LINK if entry.is_symlink() else Kind.OTHER
            yield Entry(directory + entry.name, kind)

    def _entries(
        self, parts: tuple[str, ...], *, complete: bool = False, check: Callable[[int], None] = lambda _: None
    ) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
        """Every entry below a directory with its directory's path (empty, or ending in `/`)."""
        top = "/".join(parts)
        todo = [top]
        while todo:
            path = todo.pop()
            try:
                fd = self.root.open_directory(tuple(path.split("/")) if path else ())
            except (FileNotFoundError, NotADirectoryError, LeavesRoot):
                continue  # gone or replaced meanwhile
            except OSError:
                if complete or path == top:
                    raise
                continue  # not ours to read: its own entry says so
            prefix = path + "/" if path else ""
            inner: list[str] = []
            try:
                check(fd)
                with os.scandir(fd) as entries:
                    for entry in entries:
                        if entry.name.startswith(self._passing):
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            inner.append(prefix + entry.name)
                        yield prefix, entry
            finally:
                os.close(fd)
            todo += reversed(inner)

    def _open_to_read(self, place: Place) -> int:
        try:
            return os.open(place.name, _READ | self._noatime, dir_fd=place.fd)
        except PermissionError:
            if not self._noatime:
                raise
            return os.open(place.name, _READ, dir_fd=place.fd)  # another's file: its atime is not ours to spare
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise NotRegular from None  # swapped for a link or a socket since it was looked at
            raise

    def _insist_on_root(self) -> None:
        if not self.root.is_there():
            raise FolderMissing(f"{self.title} is not there any more: it was moved, unmounted, deleted or replaced.")

    # Writing

    @contextmanager
    def writing(self, seconds: float) -> Iterator[Transaction]:
        """See `Store.writing`. The lock is the kernel's: it goes when its process does."""
        if self._state < 0:
            yield _NoTransaction()
            return
        try:
            fd = os.open("lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=self._state)
        except FileNotFoundError as error:
            raise StateUnusable("The state directory is not there any more.") from error
        try:
            _lock(fd, seconds)
            self._insist_on_root()
            yield _FolderTransaction(self)
        finally:
            os.close(fd)

    def _passing_name(self) -> str:
        return self._passing + secrets.token_hex(8)


class _NoTransaction:
    """What writing means in a folder that is only looked at."""

    def write(self, path: MemoryPath, data: bytes, *, expected: Stamp | None) -> Written:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    def delete(self, path: MemoryPath) -> None:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    def tidy(self) -> None:
        """Nothing is left by those who do not write."""


class _FolderTransaction:
    """Writes to a folder whose lock is held."""

    def __init__(self, store: FolderStore) -> None:
        self._store = store
        self._root = store.root

    def write(self, path: MemoryPath, data: bytes, *, expected: Stamp | None) -> Written:
        """See `Transaction.write`."""
        with self._making_parents(path) as (place, made):
            try:
                seen = place.stat()
            except FileNotFoundError:
                seen = None
            if (_stamp(seen) if seen else None) != expected:
                raise Outdated
            fd, passing = self._new_file(place, data, seen)
            try:
                if seen is None and passing is None:
                    with _as_outdated():
                        os.link(f"/proc/self/fd/{fd}", place.name, dst_dir_fd=place.fd, follow_symlinks=True)
                else:
                    self._move_into_place(fd, passing, place, replacing=seen is not None)
                with _as_uncertain():
                    node = _node("/".join(place.parts), os.fstat(fd))
            finally:
                os.close(fd)
            self._sync(place.fd, made)
            return Written(node, made)

    def delete(self, path: MemoryPath) -> None:
        """See `Transaction.delete`."""
        with self._root.place(path.parts, follow=False) as place:
            if not stat.S_ISDIR(place.stat().st_mode):
                os.unlink(place.name, dir_fd=place.fd)
            else:
                self._insist_on_emptying(place.parts)
                fd, name = self._move_aside(place)
                with contextlib.suppress(OSError):  # it is gone; what cannot be removed now waits for `tidy`
                    _remove_tree(fd, name, self._store._passing_name)
            self._sync(place.fd, ())

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:
        """See `Transaction.rename`."""
        with self._root.place(old.parts, follow=False) as source:
            source.stat()
            with self._making_parents(new, follow=False) as (place, made):
                rename_to_free_name(source, place)
                self._sync(place.fd, made)
                if source.parts[:-1] != place.parts[:-1]:
                    self._sync(source.fd, ())
                return made

    def tidy(self) -> None:
        """See `Transaction.tidy`. Every directory is searched: things may wait beside their places."""
        self._tidy(self._store._state)
        self._tidy(self._root.fd)
        for node in self._store.scan(ROOT):
            if node.kind is Kind.DIRECTORY:
                with contextlib.suppress(OSError):
                    fd = self._root.open_directory(node.path.split("/"))
                    try:
                        self._tidy(fd)
                    finally:
                        os.close(fd)

    def _insist_on_emptying(self, parts: tuple[str, ...]) -> None:
        """Refuse before anything has moved what could only be removed in part.

        Raises:
            PermissionError: Somebody has forbidden writing to a directory inside.
        """

        def insist(fd: int) -> None:
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=fd, effective_ids=True):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        for _ in self._store._entries(parts, complete=True, check=insist):
            pass

    def _tidy(self, fd: int) -> None:
        with os.scandir(fd) as entries:
            left = [entry.name for entry in entries if entry.name.startswith(self._store._passing)]
        for name in left:
            with contextlib.suppress(OSError):  # it stays out of sight; whoever comes next tries again
                _remove_tree(fd, name, self._store._passing_name)

    @contextmanager
    def _making_parents(self, path: MemoryPath, *, follow: bool = True) -> Iterator[tuple[Place, tuple[str, ...]]]:
        """The place of a path whose parents are made if missing, and unmade again if the body fails."""
        made: list[str] = []
        try:
            try:
                place = self._root.place(path.parts, follow=follow)
            except FileNotFoundError:
                for depth in range(1, len(path.parts)):
                    parent = self._root.place(path.parts[:depth], follow=True)
                    with parent, contextlib.suppress(FileExistsError):
                        os.mkdir(parent.name, 0o700, dir_fd=parent.fd)
                        made.append("/".join(parent.parts))
                place = self._root.place(path.parts, follow=follow)
            with place:
                yield place, tuple(made)
        except Uncertain:
            raise
        except BaseException:
            for directory in reversed(made):
                with contextlib.suppress(OSError), self._root.place(directory.split("/"), follow=False) as unmade:
                    os.rmdir(unmade.name, dir_fd=unmade.fd)
            raise

    def _new_file(self, place: Place, data: bytes, replaced: os.stat_result | None) -> tuple[int, str | None]:
        """A whole, synced file on the file system of its place: a descriptor, and a name unless it has none yet."""
        fd, passing = -1, None
        if self._store._tmpfile:
            try:
                fd = os.open(".", self._store._tmpfile | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=place.fd)
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
                    raise
                self._store._tmpfile = 0
        if fd < 0:
            passing = self._store._passing_name()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(passing, flags, 0o600, dir_fd=place.fd)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            if replaced is not None:
                _take_over_mode(fd, replaced)
            os.fsync(fd)
        except BaseException:
            os.close(fd)
            if passing:
                os.unlink(passing, dir_fd=place.fd)
            raise
        return fd, passing

    def _move_into_place(self, fd: int, passing: str | None, place: Place, *, replacing: bool) -> None:
        directory = place.fd
        if passing is None:
            passing = self._store._passing_name()
            directory = self._link_aside(fd, passing, place)
        try:
            if replacing:
                os.rename(passing, place.name, src_dir_fd=directory, dst_dir_fd=place.fd)
            else:
                with _as_outdated():
                    rename_to_free_name(Place(directory, passing, (), owned=False), place)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(passing, dir_fd=directory)
            raise

    def _link_aside(self, fd: int, name: str, place: Place) -> int:
        """Name a nameless file outside the folder if that is on the same file system, else beside its place."""
        for directory in (self._store._state, place.fd):
            try:
                os.link(f"/proc/self/fd/{fd}", name, dst_dir_fd=directory, follow_symlinks=True)
            except OSError as error:
                if error.errno != errno.EXDEV or directory == place.fd:
                    raise
            else:
                return directory
        raise AssertionError("unreachable: the place is on the file's own file system")

    def _move_aside(self, place: Place) -> tuple[int, str]:
        name = self._store._passing_name()
        for directory in (self._store._state, self._root.fd, place.fd):
            try:
                os.rename(place.name, name, src_dir_fd=place.fd, dst_dir_fd=directory)
            except OSError as error:
                if error.errno != errno.EXDEV or directory == place.fd:
                    raise
            else:
                return directory, name
        raise AssertionError("unreachable: a name beside it is on its own file system")

    def _sync(self, fd: int, made: tuple[str, ...]) -> None:
        """Have the system confirm a directory, and the parents of directories just made."""
        with _as_uncertain():
            os.fsync(fd)
            for directory in made:
                with self._root.place(directory.split("/"), follow=False) as place:
                    os.fsync(place.fd)


def _read_only() -> OSError:
    return OSError(errno.EROFS, os.strerror(errno.EROFS))


@contextmanager
def _as_outdated() -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise Outdated from None


@contextmanager
def _as_uncertain() -> Iterator[None]:
    """For what comes after the move: the change stands already."""
    try:
        yield
    except OSError as error:
        raise Uncertain(os.strerror(error.errno or 0)) from error


def _take_over_mode(fd: int, replaced: os.stat_result) -> None:
    os.fchmod(fd, stat.S_IMODE(replaced.st_mode))
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (replaced.st_uid, replaced.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(fd, replaced.st_uid, replaced.st_gid)


def _remove_tree(fd: int, name: str, passing_name: Callable[[], str]) -> None:
    """Remove a tree that is out of sight already. Inner directories are first moved up, so depth costs nothing."""
    todo = [name]
    while todo:
        top = todo.pop()
        try:
            inner = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        except NotADirectoryError:
            os.unlink(top, dir_fd=fd)
            continue
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            os.unlink(top, dir_fd=fd)
            continue
        try:
            with os.scandir(inner) as entries:
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
            for entry_name, is_directory in found:
                if is_directory:
                    todo.append(moved := passing_name())
                    os.rename(entry_name, moved, src_dir_fd=inner, dst_dir_fd=fd)
                else:
                    os.unlink(entry_name, dir_fd=inner)
        finally:
            os.close(inner)
        os.rmdir(top, dir_fd=fd)


def _lock(fd: int, seconds: float) -> None:
    """Take an exclusive lock, asking ever less often. `flock` has no time limit of its own."""
    deadline = time.monotonic() + seconds
    attempt = 0
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise Busy("Another program is writing to the memory folder.") from None
            time.sleep(_LOCK_PAUSES[min(attempt, len(_LOCK_PAUSES) - 1)])
            attempt += 1
        else:
            return


def _read_whole(fd: int, path: str, limit: int) -> Content:
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
        if _stamp(after) == _stamp(before) and len(data) == after.st_size:
            break
    return Content(data, _node(path, after))


def _node(path: str, seen: os.stat_result) -> Node:
    mode = seen.st_mode
    if stat.S_ISREG(mode):
        return Node(path, Kind.FILE, seen.st_size, seen.st_mtime_ns, _stamp(seen))
    if stat.S_ISDIR(mode):
        return Node(path, Kind.DIRECTORY, 0, seen.st_mtime_ns, (seen.st_ino,))
    kind = Kind.LINK if stat.S_ISLNK(mode) else Kind.OTHER
    return Node(path, kind, 0, seen.st_mtime_ns, _stamp(seen))


def _stamp(seen: os.stat_result) -> Stamp:
    return (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)
