"""Memories in a dict: for tests, for trying things out, and for programs that keep nothing.

It passes the same contract suite as the folder, so a test that needs no disk needs none.
"""

import os
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from memtui.core.attributes import UNKNOWN, Attributes
from memtui.core.errors import LockTimeout
from memtui.core.events import EntryKind, FolderEntry
from memtui.store.base import Node, Transaction
from memtui.store.entries import NEW_MODES, EntryStore, make_entry_node


class _DictEntries:
    """See `Entries`. Each row is replaced whole, so readers need no lock."""

    def __init__(self) -> None:
        self.passing = f".memtui-{os.urandom(8).hex()}-"
        self._rows: dict[str, tuple[Node, bytes]] = {}
        self._links = 0
        self._numbers = 0
        self.put("", EntryKind.DIRECTORY, b"", UNKNOWN)

    def has_links(self) -> bool:
        return self._links > 0

    def get(self, path: str) -> Node | None:
        row = self._rows.get(path)
        return row[0] if row is not None else None

    def read(self, path: str, limit: int) -> tuple[Node, bytes | None] | None:
        row = self._rows.get(path)
        return None if row is None else (row[0], row[1] if len(row[1]) <= limit else None)

    def list_below(self, path: str) -> list[Node]:
        prefix = path + "/" if path else ""
        return sorted(
            (node for node, _ in tuple(self._rows.values()) if node.path.startswith(prefix) and node.path != path),
            key=lambda node: node.path.split("/"),
        )

    def iter_names(self) -> Iterator[FolderEntry]:
        return (FolderEntry(node.path, node.kind, node.size, node.mtime_ns) for node in self.list_below(""))

    def is_as_known(self) -> bool:
        return False

    def put(self, path: str, kind: EntryKind, data: bytes, attributes: Attributes) -> Node:
        self._numbers += 1
        attributes = attributes.fill(Attributes(NEW_MODES.get(kind), time.time_ns()))
        node = make_entry_node(path, kind, len(data), attributes, self._numbers)
        self._rows[path] = node, data
        self._links += kind is EntryKind.LINK
        return node

    def set_attributes(self, node: Node, attributes: Attributes) -> None:
        data = self._rows[node.path][1]
        self._rows[node.path] = make_entry_node(node.path, node.kind, len(data), attributes, node.stamp[-1]), data

    def remove(self, paths: Collection[str]) -> None:
        for path in paths:
            node, _ = self._rows.pop(path)
            self._links -= node.kind is EntryKind.LINK

    def move(self, old: str, new: str) -> None:
        for path in (old, *(node.path for node in self.list_below(old))):
            node, data = self._rows.pop(path)
            moved = new + path[len(old) :]
            self._rows[moved] = node._replace(path=moved), data

    @contextmanager
    def change(self) -> Iterator[None]:
        yield  # no change of this store raises once it began to change something


class MemoryStore(EntryStore):
    """A store that lives and dies with its process, and its transactions. See `Store` and `Transaction`."""

    def __init__(self, *, title: str = "in memory") -> None:
        super().__init__(_DictEntries(), title=title)
        self._lock = threading.Lock()

    @contextmanager
    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Iterator[Transaction]:  # noqa: ARG002
        if not self._lock.acquire(timeout=seconds):
            raise LockTimeout("Another thread is writing to the memory.")
        try:
            yield self
        finally:
            self._lock.release()
