"""The thread in which a conversation's commands are carried out.

The engine is synchronous and may wait for the disk or for another process. A thread of the standard pool would hold up
the end of the program; this one does not, and it carries out what was begun.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_Job = Callable[[], None]


class Worker:
    """One thread, one thing after the other."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, do: Callable[[], T]) -> T:
        """Do something there, and wait for it. Whoever waits cannot be cancelled out of it: it is done to its end."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            try:
                value = do()
            except BaseException as error:  # it belongs to whoever waits
                settle(future.set_exception, error)
            else:
                settle(future.set_result, value)

        def settle(settled: Callable[..., None], value: object) -> None:
            def in_the_loop() -> None:
                if not future.done():
                    settled(value)

            with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits any more
                loop.call_soon_threadsafe(in_the_loop)

        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="memtui-chat-commands", daemon=True)
            self._thread.start()
        self._jobs.put(job)
        return await asyncio.shield(future)

    def close(self) -> None:
        """Let the thread end, after what was begun."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
