"""Giving up on a search that nobody waits for any more: a newer query cancels the older one."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from memtui.core.errors import MemtuiError

_Item = TypeVar("_Item")

Stop = Callable[[], bool]
"""Asked now and then whether to give up."""


class Stopped(MemtuiError):
    """Nobody waits for what was being looked for."""


def never() -> bool:
    """Go on to the end."""
    return False


def unless_stopped(items: Iterable[_Item], stop: Stop, *, every: int = 64) -> Iterator[_Item]:
    """The items, for as long as nobody says stop.

    Args:
        items: What to go through.
        stop: Asked before the first one, and then once in `every`.
        every: How many items pass between two questions.

    Raises:
        Stopped: Somebody did.
    """
    for number, item in enumerate(items):
        if number % every == 0 and stop():
            raise Stopped("The search was stopped.")
        yield item
