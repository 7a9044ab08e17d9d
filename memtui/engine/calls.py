"""The calls in flight: a memory is not closed under them, and its subscribers are notified after them."""

import sys
import threading
from collections.abc import Callable

from memtui.core.errors import MemoryClosed


class CallTracker:
    """Counts calls in flight and notifies subscribers. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._local = threading.local()  # of each thread: its calls in flight, and whether it recorded something
        self._condition = threading.Condition()
        self._in_flight = 0
        self._subscribers: dict[object, Callable[[], object]] = {}
        self.is_closed = False

    def track(self) -> "TrackedCall":
        """Keep the memory open for the time of a call; raises `MemoryClosed`."""
        return TrackedCall(self)

    def track_change(self) -> "TrackedCall":
        """Keep the memory open for a call that may record events, and notify subscribers after it."""
        return TrackedCall(self, notifies=True)

    def begin(self) -> None:
        """A call begins in this thread; raises `MemoryClosed`."""
        with self._condition:
            if self.is_closed and not getattr(self._local, "calls", 0):  # a call that is under way may end
                raise MemoryClosed("The memory is closed.")
            self._in_flight += 1
            self._local.calls = getattr(self._local, "calls", 0) + 1

    def end(self) -> None:
        """It ends."""
        with self._condition:
            self._in_flight -= 1
            self._local.calls -= 1
            self._condition.notify_all()

    def close(self) -> bool:
        """Refuse new calls and wait for those of other threads; `False` if that was done before."""
        with self._condition:
            if self.is_closed:
                return False
            self.is_closed = True
            own = getattr(self._local, "calls", 0)  # a subscriber may close the memory
            self._condition.wait_for(lambda: self._in_flight <= own)
        return True

    def subscribe(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call back after events were recorded here.

        The callback runs in the thread that recorded them, holding no lock: it may execute commands. An exception of
        it goes to `sys.excepthook` and changes no answer.

        Returns:
            Ends the subscription; calling it again does no harm.
        """
        key = object()
        self._subscribers[key] = callback
        return lambda: self._subscribers.pop(key, None) and None

    def mark_changed(self) -> None:
        """Note that this thread recorded something: `notify` tells subscribers once no lock is held."""
        self._local.has_changed = True

    def notify(self) -> None:
        if not getattr(self._local, "has_changed", False):
            return
        self._local.has_changed = False
        for callback in tuple(self._subscribers.values()):
            try:
                callback()
            except Exception:  # a subscriber's fault is its own: events and answers stand
                sys.excepthook(*sys.exc_info())


class TrackedCall:
    """A call in flight, as a context manager; subscribers are notified after it if it `notifies` them."""

    __slots__ = ("_notifies", "_tracker")

    def __init__(self, tracker: CallTracker, *, notifies: bool = False) -> None:
        self._tracker = tracker
        self._notifies = notifies

    def __enter__(self) -> None:
        try:
            self._tracker.begin()
        except BaseException:
            self._notify()
            raise

    def __exit__(self, *_: object) -> None:
        self._tracker.end()
        self._notify()

    def _notify(self) -> None:
        if self._notifies:
            self._tracker.notify()
