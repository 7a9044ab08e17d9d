"""What stands in a folder that others write to: read-only descriptors, no link followed that leads out of it.

Nothing here writes, and whoever is given a `ReadOnlyFolder` has nothing to write with. That it was read shows nowhere
either, where the system allows (`memtui.quiet`): the times of last access of files and directories stay. There is no
such thing for a link that is read; where a disk is mounted with `relatime`, as is usual, that is noted once a day.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator

from memtui.core.errors import FolderMissing, LeavesRoot
from memtui.core.paths import MemoryPath
from memtui.core.snapshot import Entry, Kind
from memtui.quiet import open_quietly
from memtui.store import names
from memtui.store.base import Content, Node, NotRegular
from memtui.store.confined import Place, Resolver, Root, let_go
from memtui.store.nodes import READ, node_of, read_whole


class ReadOnlyFolder:
    """A directory of memory files that is only looked at.

    Args:
        path: An existing directory.
        title: What a person calls the folder.
        state: Its state directory, if there is one: there stands what marks the names that something has for a moment.
        resolver: How paths are confined; by default as the kernel allows.

    Raises:
        FolderMissing: There is no directory at `path`, or it cannot be opened.
    """

    def __init__(
        self, path: str, *, title: str = "", state: str | None = None, resolver: Resolver | None = None
    ) -> None:
        self.title = title or path
        try:
            self.root = Root(os.path.realpath(path), resolver)
        except OSError as error:
            raise FolderMissing(f"{self.title} cannot be opened: {os.strerror(error.errno or 0).lower()}.") from error
        self.path = self.root.path
        self._passing = names.known_start(state) if state is not None else ""

    @property
    def resolver(self) -> Resolver:
        """How paths are confined: by the kernel's `openat2`, or by our own walk."""
        return self.root.resolver

    @property
    def device(self) -> str:
        """See `Store.device`."""
        return str(self.root.identity[0])

    def close(self) -> None:
        """Close the descriptor."""
        self.root.close()

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

    def is_passing(self, name: str) -> bool:
        """Whether a name is one of ours for a moment: no look shows what has it."""
        return names.is_passing(name, self._passing)

    def _open_to_read(self, place: Place) -> int:
        try:
            return open_quietly(place.name, READ, directory=place.fd)
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
