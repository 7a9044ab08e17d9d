"""When the ages on screen read otherwise.

A look each second costs an open program that nothing happens in a tenth of all that it takes.
"""

import math
import time
from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget

from memtui.core.wording import compute_age_lifetime

_LATE_SECONDS = 0.02
"""A timer that is early by a bit would find the old age."""
_LEAST_SECONDS = 1.0
"""Between two times: each of many rows gets older at another moment of a second."""


class AgeTimer:
    """Calls back once an age that is shown reads otherwise; what is shown then is to be named again.

    Args:
        widget: Where the ages are.
        callback: Called in the widget's loop.
    """

    def __init__(self, widget: Widget, callback: Callable[[], object]) -> None:
        self._widget = widget
        self._callback = callback
        self._due = math.inf
        self._called = 0.0
        self._timer: Timer | None = None

    def expect(self, age: float) -> None:
        """An age of so many seconds is shown now."""
        now = time.monotonic()
        due = max(now + compute_age_lifetime(age) + _LATE_SECONDS, self._called + _LEAST_SECONDS)
        if due < self._due and self._widget.is_attached:
            if self._timer is not None:
                self._timer.stop()
            self._due = due
            self._timer = self._widget.set_timer(due - now, self._end)

    def _end(self) -> None:
        self._due, self._called, self._timer = math.inf, time.monotonic(), None
        self._callback()
