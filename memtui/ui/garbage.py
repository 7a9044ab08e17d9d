"""When Python looks through its objects for cycles of garbage.

Modules, styles and the first screen are some hundred thousand objects that stay. Python looks through all of them every
few seconds in which keys are pressed, and a key that comes then waits for 50 ms. So that is done while nobody presses a
key, and what is there by then is left out from then on; once that is half as much again, all is looked through anew.
Python by itself looks through the newest objects only, while the application runs.
"""

import gc
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

from textual.app import App
from textual.message_pump import MessagePump
from textual.timer import Timer

_STANDING_SCREENS = 2
"""Textual's own and the first one stay; what is above them is garbage once it is left."""
_GROWTH = 1.5
_THRESHOLDS = (1_000, 10, 2_000)
"""How many new objects Python looks through by itself, after how many of these looks once more through what was left,
and after how many of those through everything: only where somebody never rests, and each key leaves much."""
_NEW_OBJECTS = 50_000
"""Objects at which Python did not look yet, from which on they are left out without a look."""
_SHARE = 100
"""So many times as long as a look through everything took is waited for the next one, as a key may come meanwhile: over
the index of a million events it takes a second."""
_LOOK_SECONDS = 10.0
"""Seconds between two looks whether others than the person, such as agents, have made much that is new."""


class GarbageSchedule:
    """Collects garbage at rest, after the start and after each screen that was left.

    Args:
        app: The application.
    """

    REST_SECONDS: ClassVar[float] = 0.5

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._timer: Timer | None = None
        self.input_at = 0.0
        """The moment of the last input, in seconds of the monotonic clock."""
        self._most = 0.0
        """Blocks of memory before some of what is left out is taken for garbage: to count objects takes far longer."""
        self._left: Callable[[], MessagePump | None] = lambda: None
        """The screen that was left last, while it is there."""
        self._thresholds_before: tuple[int, int, int] | None = None
        self._next_at = 0.0
        """The moment from which everything may be looked through again."""

    def start(self) -> None:
        """Leave the large collections to this schedule from now on, and what the start made out of the small ones."""
        self._thresholds_before = gc.get_threshold()
        if gc.get_count()[0] > _NEW_OBJECTS and self._left() is None:
            gc.freeze()  # else the next object has Python look through all of it, which takes 20 ms
        gc.set_threshold(*_THRESHOLDS)
        self._app.set_interval(_LOOK_SECONDS, self._look)

    def stop(self) -> None:
        """Leave them to Python again."""
        if self._thresholds_before is not None:
            gc.set_threshold(*self._thresholds_before)
            self._thresholds_before = None

    def note_input(self) -> None:
        """The person is at it."""
        self.input_at = time.monotonic()

    def plan(self, left: MessagePump | None = None) -> None:
        """Collect once the person rests; `left` is a screen that was left."""
        if left is not None:
            self._left = weakref.ref(left)
        if self._timer is None:
            self._timer = self._app.set_timer(self.REST_SECONDS, self._collect)

    def _look(self) -> None:
        if gc.get_count()[2]:  # some have survived two looks since the last collection
            self.plan()

    def _collect(self) -> None:
        self._timer = None
        if time.monotonic() - self.input_at < self.REST_SECONDS:
            self.plan()
        elif (seconds := self._next_at - time.monotonic()) > 0:
            self._timer = self._app.set_timer(seconds, self._collect)
        elif len(self._app.screen_stack) <= _STANDING_SCREENS:
            is_full = sys.getallocatedblocks() >= self._most
            if is_full and self._most:
                gc.unfreeze()
            if self._most or self._left() is not None:  # what the start has made is no garbage: to look takes 60 ms
                self._look_through()
            if self._left() is None:  # else what it holds would be left out for good
                gc.freeze()
                if is_full:
                    self._most = sys.getallocatedblocks() * _GROWTH
        elif gc.get_count()[2]:
            self._look_through()

    def _look_through(self) -> None:
        began = time.monotonic()
        gc.collect()
        ended = time.monotonic()
        self._next_at = ended + _SHARE * (ended - began)
