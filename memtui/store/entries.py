"""A store over rows: what a folder has of the file system, such as links, parents and stamps, is made here.

Where the rows are kept is another's matter: in a dict (`memtui.store.memory`) or in a database (`memtui.store.sqlite`).
"""

import errno
import itertools
import os
import sys
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from memtui.core.attributes import PERMISSIONS, UNKNOWN, Attributes
from memtui.core.errors import SymlinkEscape
from memtui.core.events import EntryKind, FolderEntry
from memtui.core.paths import ROOT, MemoryPath
from memtui.store.base import (
    NEW_DIRECTORY,
    NEW_FILE,
    ConcurrentChange,
    FileContent,
    FileTooLarge,
    Node,
    NotRegularFile,
    Stamp,
    WriteResult,
)

_MAX_LINKS = 40
NEW_MODES = {EntryKind.FILE: NEW_FILE, EntryKind.DIRECTORY: NEW_DIRECTORY}
"""The permissions of what is new."""


class Entries(Protocol):
    """Rows by path, relative to the root, whose own row is always there.

    Attributes:
        passing: How the names of things begin that are on their way: nobody sees them.
    """

    passing: str

    def has_links(self) -> bool:
        """Whether any row is a link."""
        ...

    def get(self, path: str) -> Node | None: ...

    def read(self, path: str, limit: int) -> tuple[Node, bytes | None] | None:
        """A row, with the bytes of a file or the target of a link, where those are at most `limit`."""
        ...

    def list_below(self, path: str) -> list[Node]:
        """All rows below a path, each directory before what is in it."""
        ...

    def iter_names(self) -> Iterable[FolderEntry]:
        """All rows but the root's, each directory before what is in it."""
        ...

    def is_as_known(self) -> bool:
        """See `ReadableStore.is_as_known`."""
        ...

    def put(self, path: str, kind: EntryKind, data: bytes, attributes: Attributes) -> Node:
        """Put a row in place of what is there, with a number that no row ever had."""
        ...

    def set_attributes(self, node: Node, attributes: Attributes) -> None:
        """Give a row permissions and a time; it stays the same thing."""
        ...

    def remove(self, paths: Collection[str]) -> None: ...

    def move(self, old: str, new: str) -> None:
        """Give a row and all below it other paths, which are free; they stay the same things."""
        ...

    def change(self) -> AbstractContextManager[None]:
        """What is changed meanwhile is changed in one step, or not at all where something is raised."""
        ...


class EntryStore:
    """What stores over rows, and their transactions, have in common: all but the lock. See `Store`, `Transaction`."""

    def __init__(self, entries: Entries, *, title: str) -> None:
        self.title = title
        self.path = ""
        self.is_untidy = False
        self.is_synced = True
        self._entries = entries

    def close(self) -> None:
        """Nothing to let go of."""

    @property
    def device(self) -> str:
        return ""

    def attach(self, *, look: bool = True) -> int:  # noqa: ARG002 - this is no copy
        return 0

    def refresh(self) -> None:
        """Nothing: this is no copy."""

    def get_node(self, path: MemoryPath, *, follow: bool = False) -> Node | None:
        if any(map(self._is_temporary, path.parts)):
            return None
        return self._entries.get(self._resolve(path, follow=follow).relative)

    def read(self, path: MemoryPath, *, limit: int) -> FileContent:
        found = self._entries.read(self._resolve(path, follow=True).relative, limit)
        if found is None:
            raise _make_error(errno.ENOENT)
        node, data = found
        if node.kind is not EntryKind.FILE:
            raise NotRegularFile
        if data is None:
            raise FileTooLarge(node.size)
        return FileContent(data, node)

    def read_link(self, path: MemoryPath) -> bytes:
        found = self._entries.read(self._resolve(path, follow=False).relative, sys.maxsize)
        if found is None:
            raise _make_error(errno.ENOENT)
        node, target = found
        if node.kind is not EntryKind.LINK or target is None:
            raise NotRegularFile
        return target

    def scan(self, below: MemoryPath, *, complete: bool = False) -> Iterator[Node]:  # noqa: ARG002 - all is readable
        yield from (node for node in self._entries.list_below(below.relative) if not self._is_hidden(node.path))

    def iter_sizes(self, below: MemoryPath) -> Iterator[tuple[str, list[tuple[str, EntryKind, int]]]]:
        start = len(below.relative) + 1 if below.parts else 0
        for directory, nodes in itertools.groupby(self.scan(below), lambda node: node.path.rpartition("/")[0]):
            prefix = f"{directory}/"[start:] if directory else ""
            yield prefix, [(node.path.rpartition("/")[2], node.kind, node.size) for node in nodes]

    def scan_contents(
        self, *, limit: int, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[tuple[Node, FileContent | Exception | None]]:
        for node in self.scan(ROOT):
            if wanted is not None and not wanted(node.path):
                continue
            content: FileContent | Exception | None = None
            if node.kind is EntryKind.FILE:
                try:
                    content = self.read(MemoryPath.from_relative(node.path), limit=limit)
                except (OSError, NotRegularFile, FileTooLarge) as error:
                    content = error
            yield node, content

    def find_inodes(self, directory: MemoryPath, inodes: Container[int]) -> list[str]:
        depth = len(directory.parts) + 1
        return [
            node.path for node in self.scan(directory) if node.path.count("/") + 1 == depth and node.stamp[-1] in inodes
        ]

    def iter_names(self) -> Iterator[FolderEntry]:
        passing = self._entries.passing
        names = self._entries.iter_names()
        return (each for each in names if passing not in each.path or not self._is_hidden(each.path))

    def is_as_known(self) -> bool:
        return self._entries.is_as_known()

    def is_accessible(self, path: MemoryPath, mode: int) -> bool:  # noqa: ARG002 - all is readable
        """Whether anything is there."""
        return self.get_node(path) is not None

    def sync_paths(self, paths: Collection[str]) -> None:
        """Nothing: a change is kept once it is made."""

    # Changes

    def write(
        self, path: MemoryPath, data: bytes, *, expected: Stamp | None, attributes: Attributes = UNKNOWN
    ) -> WriteResult:
        with self._entries.change():
            path = self._resolve(path, follow=True)
            node = self._entries.get(path.relative)
            if (node.stamp if node else None) != expected:
                raise ConcurrentChange
            made = self._make_parents(path)
            attributes = attributes.fill(Attributes(node.mode if node else None))
            return WriteResult(self._entries.put(path.relative, EntryKind.FILE, data, attributes), made)

    def delete(self, path: MemoryPath, *, expected: Mapping[str, Stamp] | None = None) -> None:
        with self._entries.change():
            path = self._resolve(path, follow=False)
            node = self._entries.get(path.relative)
            if node is None:
                raise _make_error(errno.ENOENT)
            there = [*self._entries.list_below(path.relative), node]
            if expected is not None and {each.path: each.stamp for each in there} != expected:
                raise ConcurrentChange
            self._entries.remove([each.path for each in there])

    def clean_up(self, *, is_known: Callable[[bytes], bool] | None = None, place: MemoryPath = ROOT) -> None:
        """See `Transaction.clean_up`. Each change is made in one step: only what was on its way can be left."""
        with self._entries.change():
            nodes = self._entries.list_below("")
            left = [node for node in nodes if self._is_temporary(node.path.rpartition("/")[2])]
            for top in left:
                there = [node for node in nodes if node.path == top.path or node.path.startswith(top.path + "/")]
                if is_known is None or all(self._is_kept(node, is_known) for node in there):
                    self._entries.remove([node.path for node in there])
                else:
                    self._put_back(top, place)

    def _is_kept(self, node: Node, is_known: Callable[[bytes], bool]) -> bool:
        found = self._entries.read(node.path, sys.maxsize)
        return found is None or node.kind is EntryKind.DIRECTORY or is_known(found[1] or b"")

    def _put_back(self, node: Node, place: MemoryPath) -> None:
        """Move something to a place, or beside it where something is there."""
        wanted = place.relative or node.path.rpartition("/")[2].removeprefix(".")
        free, number = wanted, 0
        while self._entries.get(free) is not None:
            number += 1
            free = f"{wanted}~{number}"
        self._make_parents(MemoryPath.from_relative(free))
        self._entries.move(node.path, free)

    def unmake(self, paths: Iterable[str]) -> None:
        """See `Transaction.unmake`. Whoever made them held the lock until he died, and nobody has it since."""
        with self._entries.change():
            for path in sorted(paths, key=lambda each: each.count("/"), reverse=True):
                node = self._entries.get(path)
                if node is not None and node.kind is EntryKind.DIRECTORY and not self._entries.list_below(path):
                    self._entries.remove([path])

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:
        with self._entries.change():
            old, new = self._resolve(old, follow=False), self._resolve_free(new, old)
            made = self._make_parents(new)
            self._entries.move(old.relative, new.relative)
            return made

    def make_directory(self, path: MemoryPath) -> tuple[str, ...]:
        with self._entries.change():
            path = self._resolve_free(path)
            made = self._make_parents(path)
            self._entries.put(path.relative, EntryKind.DIRECTORY, b"", UNKNOWN)
            return (*made, path.relative)

    def set_directory_attributes(self, path: MemoryPath, attributes: Attributes) -> None:
        with self._entries.change():
            node = self._get_directory(path)
            self._entries.set_attributes(node, attributes.fill(node.attributes))

    def make_link(self, path: MemoryPath, target: bytes, *, mtime_ns: int | None = None) -> WriteResult:
        with self._entries.change():
            path = self._resolve_free(path)
            if not target or b"\0" in target:
                raise _make_error(errno.EINVAL)
            made = self._make_parents(path)
            node = self._entries.put(path.relative, EntryKind.LINK, target, Attributes(None, mtime_ns))
            return WriteResult(node, made)

    def remove_empty(self, path: MemoryPath) -> None:
        with self._entries.change():
            node = self._get_directory(path)
            if not node.path:
                raise _make_error(errno.EINVAL)
            if self._entries.list_below(node.path):
                raise _make_error(errno.ENOTEMPTY)
            self._entries.remove([node.path])

    def make_temporary_path(self, path: MemoryPath) -> MemoryPath:
        return MemoryPath((*path.parts[:-1], self._entries.passing + os.urandom(8).hex()))

    def exchange(self, one: MemoryPath, other: MemoryPath) -> bool:  # noqa: ARG002 - nobody sees what is on its way
        return False

    @contextmanager
    def batch_sync(self) -> Iterator[None]:
        yield

    def _is_temporary(self, name: str) -> bool:
        return name.startswith(self._entries.passing)

    def _is_hidden(self, path: str) -> bool:
        return self._entries.passing in path and any(map(self._is_temporary, path.split("/")))

    def _get_directory(self, path: MemoryPath) -> Node:
        """What stands at a path; raises `OSError` where that is no directory."""
        node = self._entries.get(self._resolve(path, follow=False).relative)
        if node is None:
            raise _make_error(errno.ENOENT)
        if node.kind is not EntryKind.DIRECTORY:
            raise _make_error(errno.ENOTDIR)
        return node

    def _resolve_free(self, path: MemoryPath, old: MemoryPath | None = None) -> MemoryPath:
        """The real path of a free one, for what stands at `old`, if that is given; raises `OSError` where it is not."""
        path = self._resolve(path, follow=False)
        if old is not None and self._entries.get(old.relative) is None:
            raise _make_error(errno.ENOENT)
        if self._entries.get(path.relative) is not None:
            raise _make_error(errno.EEXIST)
        return path

    def _resolve(self, path: MemoryPath, *, follow: bool) -> MemoryPath:
        """The real path once links on the way, and at its end if asked, were followed; raises `SymlinkEscape`."""
        if not self._entries.has_links():
            return path
        todo, real, followed = list(reversed(path.parts)), list[str](), 0
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if not real:
                    raise SymlinkEscape(path.relative)
                real.pop()
                continue
            real.append(name)
            if not (todo or follow):
                continue
            found = self._entries.read("/".join(real), sys.maxsize)
            if found is None or found[0].kind is not EntryKind.LINK:
                continue
            target = found[1] or b""
            followed += 1
            if followed > _MAX_LINKS:
                raise _make_error(errno.ELOOP)
            if target.startswith(b"/"):
                raise SymlinkEscape(path.relative)
            real.pop()
            todo.extend(reversed(os.fsdecode(target).split("/")))
        return MemoryPath(tuple(real))

    def _make_parents(self, path: MemoryPath) -> tuple[str, ...]:
        missing: list[str] = []
        parent = path.parent
        while (found := self._entries.get(parent.relative)) is None:
            missing.append(parent.relative)
            parent = parent.parent
        if found.kind is not EntryKind.DIRECTORY:
            raise _make_error(errno.ENOTDIR)
        for directory in reversed(missing):
            self._entries.put(directory, EntryKind.DIRECTORY, b"", UNKNOWN)
        return tuple(reversed(missing))


def make_entry_node(path: str, kind: EntryKind, size: int, attributes: Attributes, number: int) -> Node:
    """A row as a node: the first and the last part of its stamp are its number."""
    mode, mtime_ns = attributes
    bits, mtime_ns = (mode or 0) & PERMISSIONS, mtime_ns or 0
    size = size if kind is EntryKind.FILE else 0
    stamp = (bits, number) if kind is EntryKind.DIRECTORY else (number, size, mtime_ns, bits, number)
    return Node(path, kind, size, mtime_ns, stamp, mode=None if mode is None else bits)


def _make_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
