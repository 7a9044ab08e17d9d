"""Memories in a dict: for tests, for trying things out, and for programs that keep nothing.

It passes the same contract suite as the folder, so a test that needs no disk needs none.
"""

import errno
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from memtui.core.errors import Busy, LeavesRoot
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.snapshot import Entry, Kind
from memtui.store.base import Content, Node, NotRegular, Outdated, Stamp, TooLarge, Transaction, Written

_MAX_LINKS = 40


class MemoryStore:
    """A store that lives and dies with its process."""

    def __init__(self, *, title: str = "in memory") -> None:
        self.title = title
        self._files: dict[str, bytes] = {}
        self._links: dict[str, bytes] = {}
        self._nodes: dict[str, Node] = {"": Node("", Kind.DIRECTORY, 0, time.time_ns(), (0,))}
        self._lock = threading.Lock()
        self._stamps = 0
        self._passing = f".memtui-{secrets.token_hex(8)}-"

    def close(self) -> None:
        """Nothing to let go of."""

    @property
    def device(self) -> str:
        """See `Store.device`."""
        return ""

    def node(self, path: MemoryPath, *, follow: bool = False) -> Node | None:
        """See `Store.node`."""
        if any(map(self._is_passing, path.parts)):
            return None
        return self._nodes.get(self._real(path, follow=follow).relative)

    def read(self, path: MemoryPath, *, limit: int) -> Content:
        """See `Store.read`."""
        node = self._nodes.get(self._real(path, follow=True).relative)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if node.kind is not Kind.FILE:
            raise NotRegular
        if node.size > limit:
            raise TooLarge(node.size)
        data = self._files.get(node.path)
        if data is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))  # gone meanwhile: readers take no lock
        return Content(data, node)

    def read_link(self, path: MemoryPath) -> bytes:
        """See `Store.read_link`."""
        real = self._real(path, follow=False).relative
        if real in self._links:
            return self._links[real]
        if real not in self._nodes:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        raise NotRegular

    def scan(self, below: MemoryPath, *, complete: bool = False) -> Iterator[Node]:  # noqa: ARG002 - all is readable
        """See `Store.scan`."""
        yield from (node for node in self._below(below.relative) if not self._is_out_of_sight(node))

    def names(self) -> Iterator[Entry]:
        """See `Store.names`."""
        for node in self.scan(ROOT):
            yield Entry(node.path, node.kind, node.size, node.mtime_ns)

    @contextmanager
    def writing(self, seconds: float) -> Iterator[Transaction]:
        """See `Store.writing`."""
        if not self._lock.acquire(timeout=seconds):
            raise Busy("Another thread is writing to the memory.")
        try:
            yield self
        finally:
            self._lock.release()

    def write(self, path: MemoryPath, data: bytes, *, expected: Stamp | None) -> Written:
        """See `Transaction.write`."""
        path = self._real(path, follow=True)
        node = self._nodes.get(path.relative)
        if (node.stamp if node else None) != expected:
            raise Outdated
        made = self._make_parents(path)
        self._files[path.relative] = data
        return Written(self._put(path.relative, Kind.FILE, len(data)), made)

    def delete(self, path: MemoryPath, *, expected: Mapping[str, Stamp] | None = None) -> None:
        """See `Transaction.delete`."""
        path = self._real(path, follow=False)
        if path.relative not in self._nodes:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        there = [*self._below(path.relative), self._nodes[path.relative]]
        if expected is not None and {node.path: node.stamp for node in there} != expected:
            raise Outdated
        for node in there:
            del self._nodes[node.path]
            self._files.pop(node.path, None)
            self._links.pop(node.path, None)

    def tidy(self, *, is_known: Callable[[str], bool] | None = None, place: MemoryPath = ROOT) -> None:
        """Nothing is ever left."""

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:
        """See `Transaction.rename`."""
        old, new = self._real(old, follow=False), self._real(new, follow=False)
        if old.relative not in self._nodes:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if new.relative in self._nodes:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        made = self._make_parents(new)
        for node in [self._nodes[old.relative], *self._below(old.relative)]:
            del self._nodes[node.path]
            path = new.relative + node.path[len(old.relative) :]
            if node.kind is Kind.FILE:
                self._files[path] = self._files.pop(node.path)
            elif node.kind is Kind.LINK:
                self._links[path] = self._links.pop(node.path)
            self._nodes[path] = Node(path, node.kind, node.size, node.mtime_ns, node.stamp)
        return made

    def make_directory(self, path: MemoryPath) -> tuple[str, ...]:
        """See `Transaction.make_directory`."""
        path = self._free(path)
        made = self._make_parents(path)
        self._put(path.relative, Kind.DIRECTORY, 0)
        return (*made, path.relative)

    def make_link(self, path: MemoryPath, target: bytes) -> Written:
        """See `Transaction.make_link`."""
        path = self._free(path)
        if not target or b"\0" in target:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        made = self._make_parents(path)
        self._links[path.relative] = target
        return Written(self._put(path.relative, Kind.LINK, 0), made)

    def remove_empty(self, path: MemoryPath) -> None:
        """See `Transaction.remove_empty`."""
        path = self._real(path, follow=False)
        node = self._nodes.get(path.relative)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if node.kind is not Kind.DIRECTORY:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if path.is_root:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if self._below(path.relative):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
        del self._nodes[path.relative]

    def passing(self, path: MemoryPath) -> MemoryPath:
        """See `Transaction.passing`."""
        return MemoryPath((*path.parts[:-1], self._passing + secrets.token_hex(8)))

    def exchange(self, one: MemoryPath, other: MemoryPath) -> bool:  # noqa: ARG002 - nobody sees what is on its way
        """See `Transaction.exchange`."""
        return False

    @contextmanager
    def together(self) -> Iterator[None]:
        """There is no disk to wait for."""
        yield

    def _is_passing(self, name: str) -> bool:
        return name.startswith(self._passing)

    def _is_out_of_sight(self, node: Node) -> bool:
        return self._passing in node.path and any(map(self._is_passing, node.path.split("/")))

    def _free(self, path: MemoryPath) -> MemoryPath:
        """Where a path really is, at which nothing may be."""
        path = self._real(path, follow=False)
        if path.relative in self._nodes:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        return path

    def _real(self, path: MemoryPath, *, follow: bool) -> MemoryPath:
        """Where a path is once the links on the way were followed, and at its end if asked.

        Raises:
            LeavesRoot: A link leads out, as every absolute one does: there is nothing above.
        """
        if not self._links:
            return path
        todo, real, followed = list(reversed(path.parts)), list[str](), 0
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if not real:
                    raise LeavesRoot(path.relative)
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
                raise LeavesRoot(path.relative)
            real.pop()
            todo.extend(reversed(os.fsdecode(target).split("/")))
        return MemoryPath(tuple(real))

    def _make_parents(self, path: MemoryPath) -> tuple[str, ...]:
        missing: list[str] = []
        parent = path.parent
        while parent.relative not in self._nodes:
            missing.append(parent.relative)
            parent = parent.parent
        if self._nodes[parent.relative].kind is not Kind.DIRECTORY:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        for directory in reversed(missing):
            self._put(directory, Kind.DIRECTORY, 0)
        return tuple(reversed(missing))

    def _put(self, path: str, kind: Kind, size: int) -> Node:
        self._stamps += 1
        node = Node(path, kind, size, time.time_ns(), (self._stamps,))
        self._nodes[path] = node
        return node

    def _below(self, path: str) -> list[Node]:
        prefix = path + "/" if path else ""
        return sorted(
            (node for node in tuple(self._nodes.values()) if node.path.startswith(prefix) and node.path != path),
            key=lambda node: node.path.split("/"),
        )
