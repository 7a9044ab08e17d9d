"""Threads for what reads and writes folders: so many at a time, of which one store takes no more than its share.

A thread that a disk keeps waiting cannot be stopped. It holds its turn until it ends, so a dead disk costs the turns of
its stores and no others; and it does not keep the program from ending.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

from memtui.serve.errors import make_busy

_MOST_WAITING = 64
"""Requests to one store that wait for their turn."""

T = TypeVar("T")


class StoreWorkers:
    """Runs work in threads. For one event loop.

    Args:
        most: Threads at a time.
        most_of_store: Those of one store.
    """

    def __init__(self, most: int, most_of_store: int) -> None:
        self._all = asyncio.Semaphore(most)
        self._most_of_store = most_of_store
        self._turns: dict[str, _Turns] = {}

    async def run(self, store_id: str, work: Callable[[], T]) -> T:
        """The result of work; raises `ApiError` where too many wait already, and whatever the work raises."""
        turns = self._turns.setdefault(store_id, _Turns(self._most_of_store))
        if turns.users >= self._most_of_store + _MOST_WAITING:
            raise make_busy("The memory store has too many requests to answer.")
        turns.users += 1
        held: list[asyncio.Semaphore] = []

        def leave() -> None:
            while held:
                held.pop().release()
            turns.users -= 1
            if not turns.users:
                self._turns.pop(store_id, None)

        try:
            for semaphore in (turns.semaphore, self._all):
                await semaphore.acquire()
                held.append(semaphore)
            future = _start_thread(work, leave)
        except BaseException:
            leave()
            raise
        return await future


class _Turns:
    """The turns of one store, and how many requests have or want one."""

    def __init__(self, most: int) -> None:
        self.semaphore = asyncio.Semaphore(most)
        self.users = 0


def _start_thread(work: Callable[[], T], ended: Callable[[], None]) -> "asyncio.Future[T]":
    """The result of work, which has begun in a thread; `ended` is called in the loop once it has ended."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def finish(result: T | None, error: BaseException | None) -> None:
        ended()
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        caught: BaseException | None = None
        try:
            result = work()
        except BaseException as error:  # it is raised where the result is awaited
            caught = error
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(finish, result, caught)

    threading.Thread(target=run, daemon=True, name="store request").start()
    return future
