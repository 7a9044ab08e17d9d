"""Memories as files in a folder that others write to as well.

Every file is moved into place whole, every call stays below the opened root, and nothing of ours is left in
the folder: what must lie somewhere for a moment lies in the state directory where that is on the same file
system, else under a name that no listing of ours shows and that the next writer removes.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memtui.core.errors import FolderMissing, LeavesRoot
from memtui.core.paths import MemoryPath
from memtui.core.snapshot import Entry, Kind
from memtui.store import names
from memtui.store.aside import UNTIDY
from memtui.store.base import Content, Node, NotRegular, Transaction
from memtui.store.confined import Moving, Place, Resolver, Root, exchange, let_go, rename_to_free_name
from memtui.store.locks import Locking, held
from memtui.store.nodes import READ, node_of, read_whole
from memtui.store.writing import FolderTransaction, NoTransaction, nameless_flag

_NOATIME = getattr(os, "O_NOATIME", 0)


class FolderStore:
    """A directory of memory files.

    Args:
        path: An existing directory.
        state: A directory outside it, for the lock and for files on their way; made if missing. `None` for a
            folder that is only looked at: every change is refused as on a read-only file system.
        title: What a person calls the folder.
        resolver: How paths are confined; by default as the kernel allows.
        nameless: Whether new files are made without a name (`O_TMPFILE`) where the system can.
        moving: The best way to move things that is tried; see `Moving`.
        locking: How writers exclude each other; by default as the file system of the state directory can.

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
        moving: Moving = "renameat2",
        locking: Locking | None = None,
    ) -> None:
        self.title = title or path
        try:
            self.root = Root(os.path.realpath(path), resolver)
        except OSError as error:
            raise FolderMissing(f"{self.title} cannot be opened: {os.strerror(error.errno or 0).lower()}.") from error
        self.path = self.root.path
        self._noatime = _NOATIME
        self.tmpfile = nameless_flag() if nameless else 0
        self.moving: Moving = moving
        self.tidied = False
        self._locking = locking
        self._state_root: Root | None = None
        self._state = -1
        self._passing = ""
        if state is not None:
            try:
                os.makedirs(state, mode=0o700, exist_ok=True)
                self._state_root = Root(os.path.realpath(state), self.root.resolver)
                self._state = self._state_root.fd
                self._passing = names.passing_start(self._state, locking)
            except BaseException:
                self.close()
                raise

    @property
    def resolver(self) -> Resolver:
        """How paths are confined: by the kernel's `openat2`, or by our own walk."""
        return self.root.resolver

    @property
    def device(self) -> str:
        """See `Store.device`."""
        return str(self.root.identity[0])

    def close(self) -> None:
        """Close the descriptors."""
        self.root.close()
        if self._state_root is not None:
            self._state_root.close()
            self._state_root, self._state = None, -1

    # Looking

    def node(self, path: MemoryPath, *, follow: bool = False) -> Node | None:
        """See `Store.node`."""
        self._insist_on_root()
        if any(map(self.is_passing, path.parts)):
            return None
        try:
            with self.root.place(path.parts, follow=follow) as place:
                return node_of("/".join(place.parts), place.stat())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, path: MemoryPath, *, limit: int) -> Content:
        """See `Store.read`."""
        with self.root.place(path.parts, follow=True) as place:
            if not stat.S_ISREG(place.stat().st_mode):
                raise NotRegular
            fd = self._open_to_read(place)
            try:
                return read_whole(fd, "/".join(place.parts), limit)
            finally:
                let_go(fd)

    def read_link(self, path: MemoryPath) -> bytes:
        """See `Store.read_link`."""
        with self.root.place(path.parts, follow=False) as place:
            try:
                return os.fsencode(os.readlink(place.name, dir_fd=place.fd))
            except OSError as error:
                if error.errno == errno.EINVAL:
                    raise NotRegular from None
                raise

    def scan(self, below: MemoryPath, *, complete: bool = False) -> Iterator[Node]:
        """See `Store.scan`."""
        if below.is_root:
            self._insist_on_root()
        for directory, entry in self.entries(below.parts, complete=complete):
            try:
                seen = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except PermissionError:
                if complete:
                    raise
                continue  # a directory that may be listed, but not entered
            yield node_of(directory + entry.name, seen)

    def names(self) -> Iterator[Entry]:
        """See `Store.names`."""
        self._insist_on_root()
        for directory, entry in self.entries(()):
            if entry.is_dir(follow_symlinks=False):
                kind = Kind.DIRECTORY
            elif entry.is_file(follow_symlinks=False):
                kind = Kind.FILE
            else:
                kind = Kind.LINK if entry.is_symlink() else Kind.OTHER
            yield Entry(directory + entry.name, kind)

    def entries(
        self,
        parts: tuple[str, ...],
        *,
        complete: bool = False,
        check: Callable[[int], None] = lambda _: None,
        root: Root | None = None,
    ) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
        """Every entry below a directory with its directory's path (empty, or ending in `/`)."""
        root = root or self.root
        top = "/".join(parts)
        todo = [top]
        while todo:
            path = todo.pop()
            try:
                fd = root.open_directory(tuple(path.split("/")) if path else ())
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
                        if self.is_passing(entry.name):
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            inner.append(prefix + entry.name)
                        yield prefix, entry
            finally:
                let_go(fd)
            todo += reversed(inner)

    def _open_to_read(self, place: Place) -> int:
        try:
            return os.open(place.name, READ | self._noatime, dir_fd=place.fd)
        except PermissionError:
            if not self._noatime:
                raise
            return os.open(place.name, READ, dir_fd=place.fd)  # another's file: its atime is not ours to spare
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise NotRegular from None  # swapped for a link or a socket since it was looked at
            raise

    def _insist_on_root(self) -> None:
        try:
            if self.root.is_there():
                return
        except OSError as error:
            raise FolderMissing(
                f"{self.title} cannot be looked at: {os.strerror(error.errno or 0).lower()}."
            ) from error
        raise FolderMissing(f"{self.title} is not there any more: it was moved, unmounted, deleted or replaced.")

    # Writing

    @contextmanager
    def writing(self, seconds: float) -> Iterator[Transaction]:
        """See `Store.writing`. The lock is the kernel's: it goes when its process does."""
        if self._state < 0:
            yield NoTransaction()
            return
        with held(self._state, seconds, self._locking):
            self._insist_on_root()
            transaction = FolderTransaction(self)
            if not self.tidied and os.access(UNTIDY, os.F_OK, dir_fd=self._state):
                self.tidied = True  # once: what cannot be removed now must not make every command slow
                with contextlib.suppress(OSError):
                    transaction.tidy(only_judged=True)
            yield transaction

    # What a transaction asks; see `Writable`

    @property
    def state_root(self) -> Root:
        """See `Writable.state_root`."""
        assert self._state_root is not None
        return self._state_root

    @property
    def state_fd(self) -> int:
        """See `Writable.state_fd`."""
        return self._state

    def passing_name(self, *, judged: bool = True) -> str:
        """See `Writable.passing_name`."""
        return names.passing_name(self._passing, judged=judged)

    def is_passing(self, name: str) -> bool:
        """See `Writable.is_passing`."""
        return names.is_passing(name, self._passing)

    def move_to_free_name(self, old: Place, new: Place) -> None:
        """See `Writable.move_to_free_name`."""
        rename_to_free_name(old, new, self.moving)

    def exchange(self, one: Place, other: Place) -> bool:
        """See `Writable.exchange`."""
        return self.moving == "renameat2" and exchange(one, other)

    def remove_tree(self, place: Place) -> None:
        """See `Writable.remove_tree`."""
        _remove_tree(place.fd, place.name, self.passing_name)


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
            let_go(inner)
        os.rmdir(top, dir_fd=fd)
