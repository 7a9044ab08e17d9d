"""Events that change nothing, recorded behind the answers: many in one commit, in order, before any later event.

A view is answered at once, and its event waits here for a moment. Whoever reads events of this journal, or records
others, has those that wait recorded first; so in one process the record is as if each had been recorded by itself. What
waits is lost where the process is killed within that moment: a view, or a refusal, and never a change.
"""

import atexit
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial

from memtui.core.errors import StateUnusable
from memtui.core.events import Event

_SECONDS = 0.02
"""For how long an event waits at most."""
_COUNT = 500
"""Events that wait at most."""
NOT_RECORDED = "not recorded"
"""The note of an event that could not be recorded."""

Append = Callable[[Sequence[Event], Mapping[str, bytes]], list[Event]]


class DeferredEvent:
    """An event that is recorded in a moment, or at once if it is asked for."""

    __slots__ = ("_event", "_queue", "texts")

    def __init__(self, queue: "DeferredEvents", event: Event, texts: Mapping[str, bytes]) -> None:
        self._queue: DeferredEvents | None = queue
        self._event = event
        self.texts = texts

    @property
    def event(self) -> Event:
        """The event as it waits, without a number, or as it was recorded."""
        return self._event

    def wait(self) -> Event:
        """The event as it was recorded; one that could not be says so in its note."""
        queue = self._queue
        if queue is not None:
            queue.flush()
        return self._event

    def settle(self, recorded: Event) -> None:
        """It is recorded, or cannot be."""
        self._event, self._queue, self.texts = recorded, None, {}


class DeferredEvents:
    """The events that wait. Every method may be called from any thread.

    Args:
        append: Records events with their texts by SHA-256, and returns them as recorded; raises `StateUnusable`.
        lock: Held while events are recorded.
    """

    def __init__(self, append: Append, lock: AbstractContextManager[object]) -> None:
        self._append = append
        self._lock = lock
        self._adding = threading.Lock()
        self._waiting: list[DeferredEvent] = []
        self._wake = threading.Event()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._at_exit = partial(_flush_if_there, weakref.ref(self))

    @property
    def is_waiting(self) -> bool:
        """Whether any event waits."""
        return bool(self._waiting)

    def add(self, event: Event, texts: Mapping[str, bytes]) -> DeferredEvent:
        """Have an event recorded in a moment, with texts by SHA-256."""
        deferred = DeferredEvent(self, event, texts)
        with self._adding:
            self._waiting.append(deferred)
            count = len(self._waiting)
            if self._thread is None:
                self._start()
        if count >= _COUNT or self._thread is None:
            self.flush()
        elif count == 1:
            self._wake.set()
        return deferred

    def flush(self) -> None:
        """Record what waits. What cannot be recorded is dropped, and its event says so."""
        with self._lock:
            waiting = self._take()
            if not waiting:
                return
            recorded: list[Event] = []
            try:
                with suppress(StateUnusable):
                    recorded = self._append([each.event for each in waiting], get_texts(waiting))
            finally:
                settle(waiting, recorded)

    def take_along(self) -> list[DeferredEvent]:
        """What waits, for a transaction that records it before its own events; the lock must be held."""
        return self._take()

    def _take(self) -> list[DeferredEvent]:
        with self._adding:
            waiting, self._waiting = self._waiting, []
        return waiting

    def put_back(self, taken: list[DeferredEvent]) -> None:
        """Have events wait again whose transaction was taken back."""
        with self._adding:
            self._waiting = [*taken, *self._waiting]

    def close(self) -> None:
        """Record what waits, for the last time."""
        self.flush()
        atexit.unregister(self._at_exit)
        self._end.set()
        self._wake.set()

    def _start(self) -> None:
        wake = self._wake
        words = (weakref.ref(self, lambda _: wake.set()), wake, self._end)
        thread = threading.Thread(target=_flush_in_time, args=words, name="memtui record", daemon=True)
        with suppress(RuntimeError):  # there are too many threads: each event is recorded at once
            thread.start()
            self._thread = thread
            atexit.register(self._at_exit)


def get_texts(waiting: Sequence[DeferredEvent]) -> dict[str, bytes]:
    """The texts of events that wait, by SHA-256."""
    return {sha: data for each in waiting for sha, data in each.texts.items()}


def settle(waiting: Sequence[DeferredEvent], recorded: Sequence[Event]) -> None:
    """Settle events as they were recorded; none is recorded where they could not be."""
    for number, each in enumerate(waiting):
        each.settle(recorded[number] if recorded else replace(each.event, note=NOT_RECORDED))


def _flush_in_time(reference: "weakref.ref[DeferredEvents]", wake: threading.Event, end: threading.Event) -> None:
    """Record what waits a moment after it began to; ends with the queue."""
    while wake.wait():
        wake.clear()
        queue = reference()
        if queue is None or end.wait(_SECONDS):
            return
        with suppress(StateUnusable):  # it was closed a moment ago, and recorded what waited
            queue.flush()
        del queue


def _flush_if_there(reference: "weakref.ref[DeferredEvents]") -> None:
    queue = reference()
    if queue is not None:
        queue.flush()
