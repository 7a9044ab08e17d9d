"""Memories in a dict: for tests, for trying things out, and for programs that keep nothing.

It passes the same contract suite as the folder, so a test that needs no disk needs none.
"""

import errno
import os
import threading
import time
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager

from memtui.core.attributes import PERMISSIONS, UNKNOWN, Attributes
from memtui.core.errors import LockTimeout, SymlinkEscape
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
    Transaction,
    WriteResult,
)

_MAX_LINKS = 40
_MODES = {EntryKind.FILE: NEW_FILE, EntryKind.DIRECTORY: NEW_DIRECTORY}
"""The permissions of what is new."""


class MemoryStore:
    """A store that lives and dies with its process, and its transactions. See `Store` and `Transaction`."""

    def __init__(self, *, title: str = "in memory") -> None:
        self.title = title
        self.path = ""
        self.is_untidy = False
        self.is_synced = True
        self._files: dict[str, bytes] = {}
        self._links: dict[str, bytes] = {}
        self._nodes: dict[str, Node] = {}
        self._lock = threading.Lock()
        self._stamps = 0
        self._put_file("", EntryKind.DIRECTORY, 0)
        self._passing = f".memtui-{os.urandom(8).hex()}-"

    def close(self) -> None:
        """Nothing to let go of."""

    @property
    def device(self) -> str:
        return ""

    def attach(self) -> int:
        return 0

    def get_node(self, path: MemoryPath, *, follow: bool = False) -> Node | None:
        if any(map(self._is_temporary, path.parts)):
            return None
        return self._nodes.get(self._resolve(path, follow=follow).relative)

    def read(self, path: MemoryPath, *, limit: int) -> FileContent:
        node = self._nodes.get(self._resolve(path, follow=True).relative)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if node.kind is not EntryKind.FILE:
            raise NotRegularFile
        if node.size > limit:
            raise FileTooLarge(node.size)
        data = self._files.get(node.path)
        if data is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))  # gone meanwhile: readers take no lock
        return FileContent(data, node)

    def read_link(self, path: MemoryPath) -> bytes:
        real = self._resolve(path, follow=False).relative
        if real in self._links:
            return self._links[real]
        if real not in self._nodes:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        raise NotRegularFile

    def scan(self, below: MemoryPath, *, complete: bool = False) -> Iterator[Node]:  # noqa: ARG002 - all is readable
        yield from (node for node in self._iter_below(below.relative) if not self._is_hidden(node))

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
        for node in self.scan(ROOT):
            yield FolderEntry(node.path, node.kind, node.size, node.mtime_ns)

    def sync_paths(self, paths: Collection[str]) -> None:
        """There is no disk."""

    @contextmanager
    def begin_transaction(self, seconds: float) -> Iterator[Transaction]:
        if not self._lock.acquire(timeout=seconds):
            raise LockTimeout("Another thread is writing to the memory.")
        try:
            yield self
        finally:
            self._lock.release()

    def write(
        self, path: MemoryPath, data: bytes, *, expected: Stamp | None, attributes: Attributes = UNKNOWN
    ) -> WriteResult:
        path = self._resolve(path, follow=True)
        node = self._nodes.get(path.relative)
        if (node.stamp if node else None) != expected:
            raise ConcurrentChange
        made = self._make_parents(path)
        self._files[path.relative] = data
        attributes = attributes.fill(Attributes(node.mode if node else None))
        return WriteResult(self._put_file(path.relative, EntryKind.FILE, len(data), attributes), made)

    def delete(self, path: MemoryPath, *, expected: Mapping[str, Stamp] | None = None) -> None:
        path = self._resolve(path, follow=False)
        if path.relative not in self._nodes:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        there = [*self._iter_below(path.relative), self._nodes[path.relative]]
        if expected is not None and {node.path: node.stamp for node in there} != expected:
            raise ConcurrentChange
        for node in there:
            del self._nodes[node.path]
            self._files.pop(node.path, None)
            self._links.pop(node.path, None)

    def clean_up(self, *, is_known: Callable[[bytes], bool] | None = None, place: MemoryPath = ROOT) -> None:
        """Nothing is ever left."""

    def unmake(self, paths: Iterable[str]) -> None:
        """Nobody dies here and lets others go on."""

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:
        old, new = self._resolve(old, follow=False), self._resolve(new, follow=False)
        if old.relative not in self._nodes:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if new.relative in self._nodes:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        made = self._make_parents(new)
        for node in [self._nodes[old.relative], *self._iter_below(old.relative)]:
            del self._nodes[node.path]
            path = new.relative + node.path[len(old.relative) :]
            if node.kind is EntryKind.FILE:
                self._files[path] = self._files.pop(node.path)
            elif node.kind is EntryKind.LINK:
                self._links[path] = self._links.pop(node.path)
            self._nodes[path] = node._replace(path=path)
        return made

    def make_directory(self, path: MemoryPath) -> tuple[str, ...]:
        path = self._resolve_free(path)
        made = self._make_parents(path)
        self._put_file(path.relative, EntryKind.DIRECTORY, 0)
        return (*made, path.relative)

    def set_directory_attributes(self, path: MemoryPath, attributes: Attributes) -> None:
        node = self._nodes.get(self._resolve(path, follow=False).relative)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if node.kind is not EntryKind.DIRECTORY:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        self._nodes[node.path] = _give_attributes(node, attributes.fill(node.attributes), node.stamp[-1])

    def make_link(self, path: MemoryPath, target: bytes, *, mtime_ns: int | None = None) -> WriteResult:
        path = self._resolve_free(path)
        if not target or b"\0" in target:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        made = self._make_parents(path)
        self._links[path.relative] = target
        return WriteResult(self._put_file(path.relative, EntryKind.LINK, 0, Attributes(None, mtime_ns)), made)

    def remove_empty(self, path: MemoryPath) -> None:
        path = self._resolve(path, follow=False)
        node = self._nodes.get(path.relative)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if node.kind is not EntryKind.DIRECTORY:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if path.is_root:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if self._iter_below(path.relative):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
        del self._nodes[path.relative]

    def make_temporary_path(self, path: MemoryPath) -> MemoryPath:
        return MemoryPath((*path.parts[:-1], self._passing + os.urandom(8).hex()))

    def exchange(self, one: MemoryPath, other: MemoryPath) -> bool:  # noqa: ARG002 - nobody sees what is on its way
        return False

    @contextmanager
    def batch_sync(self) -> Iterator[None]:
        yield

    def _is_temporary(self, name: str) -> bool:
        return name.startswith(self._passing)

    def _is_hidden(self, node: Node) -> bool:
        return self._passing in node.path and any(map(self._is_temporary, node.path.split("/")))

    def _resolve_free(self, path: MemoryPath) -> MemoryPath:
        path = self._resolve(path, follow=False)
        if path.relative in self._nodes:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        return path

    def _resolve(self, path: MemoryPath, *, follow: bool) -> MemoryPath:
        """The real path once links on the way, and at its end if asked, were followed; raises `SymlinkEscape`."""
        if not self._links:
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
            target = self._links.get("/".join(real))
            if target is None or not (todo or follow):
                continue
            followed += 1
            if followed > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if target.startswith(b"/"):
                raise SymlinkEscape(path.relative)
            real.pop()
            todo.extend(reversed(os.fsdecode(target).split("/")))
        return MemoryPath(tuple(real))

    def _make_parents(self, path: MemoryPath) -> tuple[str, ...]:
        missing: list[str] = []
        parent = path.parent
        while parent.relative not in self._nodes:
            missing.append(parent.relative)
            parent = parent.parent
        if self._nodes[parent.relative].kind is not EntryKind.DIRECTORY:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        for directory in reversed(missing):
            self._put_file(directory, EntryKind.DIRECTORY, 0)
        return tuple(reversed(missing))

    def _put_file(self, path: str, kind: EntryKind, size: int, attributes: Attributes = UNKNOWN) -> Node:
        self._stamps += 1
        attributes = attributes.fill(Attributes(_MODES.get(kind), time.time_ns()))
        node = _give_attributes(Node(path, kind, size, 0, ()), attributes, self._stamps)
        self._nodes[path] = node
        return node

    def _iter_below(self, path: str) -> list[Node]:
        prefix = path + "/" if path else ""
        return sorted(
            (node for node in tuple(self._nodes.values()) if node.path.startswith(prefix) and node.path != path),
            key=lambda node: node.path.split("/"),
        )


def _give_attributes(node: Node, attributes: Attributes, number: int) -> Node:
    """A node with permissions and a time, and the stamp that it has then: its number is its own, and its turn."""
    mode, mtime_ns = attributes
    bits = (mode or 0) & PERMISSIONS
    mtime_ns = mtime_ns or 0
    stamp = (bits, number) if node.kind is EntryKind.DIRECTORY else (number, node.size, mtime_ns, bits, number)
    return node._replace(mtime_ns=mtime_ns, stamp=stamp, mode=None if mode is None else bits)
