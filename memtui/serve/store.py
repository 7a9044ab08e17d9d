"""A store that is open: the engine of its folder, and the index of its memories."""

import threading
import time
from collections.abc import Callable, Iterable

from memtui.core.errors import LockTimeout
from memtui.engine import Engine
from memtui.serve.errors import make_busy, make_missing
from memtui.serve.index import MemoryIndex, MemoryRecord

_LOOK_SHARE = 4.0
"""For how many times as long as it took a look at the whole folder is good. A single memory is looked at each time."""
_LONGEST_LOOK = 2.0
"""The longest time for which one is good, in seconds."""


class OpenStore:
    """One store. Every method may be called from any thread.

    Args:
        store_id: Its id.
        since: The number of the event behind which it begins.

    Attributes:
        memory: The engine.
        index: The memories.
        writing: Held while something is changed through this server.
        users: Requests that use it; the catalog counts them.
        is_closing: Whether its folder was deleted.
    """

    memory: Engine
    index: MemoryIndex

    def __init__(self, store_id: str, since: int) -> None:
        self.id = store_id
        self._since = since
        self.writing = threading.Lock()
        self.users = 0
        self.is_closing = False
        self._opening = threading.Lock()
        self._is_open = False
        self._look_again = 0.0

    def open(self, connect: Callable[[], Engine]) -> None:
        """Open the folder, if it is not yet."""
        with self._opening:
            if self.is_closing:
                raise make_busy("The memory store is being deleted.")
            if not self._is_open:
                self.memory = connect()
                self.index = MemoryIndex(self.memory, self.id, self._since)
                self._is_open = True
                self.look()

    def close(self) -> None:
        with self._opening:
            if self._is_open:
                self._is_open = False
                self.memory.close()

    def find_memory(self, memory_id: str) -> MemoryRecord:
        """A memory as it is by now; raises `ApiError` if there is none."""
        self.index.refresh()
        memory = self.index.find_memory(memory_id)
        if memory is not None:
            self.look([memory.path])
            memory = self.index.find_memory(memory_id)
        if memory is None:  # another program may have moved it
            self.look()
            memory = self.index.find_memory(memory_id)
        if memory is None:
            raise make_missing("memory", memory_id)
        return memory

    def look(self, paths: Iterable[str] | None = None) -> None:
        """Notice what other programs changed, at paths or everywhere, and read the events that came since.

        Raises:
            FolderMissing, StateUnusable, MemoryClosed: It could not be looked.
        """
        began = time.monotonic()
        if paths is not None or began >= self._look_again:
            try:
                self.memory.reconcile(paths)
            except LockTimeout:
                pass  # a writer is at it: what is recorded by now is told
            else:
                if paths is None:
                    ended = time.monotonic()
                    self._look_again = ended + min((ended - began) * _LOOK_SHARE, _LONGEST_LOOK)
        self.index.refresh()
