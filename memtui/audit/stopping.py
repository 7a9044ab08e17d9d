"""Giving up on an audit that nobody waits for any more."""

from collections.abc import Callable

from memtui.core.errors import MemtuiError


class Stopped(MemtuiError):
    """Nobody waits for the audit; nothing is known of the folder."""

    def __init__(self) -> None:
        super().__init__("The audit was stopped before its end. Nothing was changed.")


def go_on(stop: Callable[[], bool]) -> None:
    """Ask whether anybody still waits.

    Raises:
        Stopped: Nobody does.
    """
    if stop():
        raise Stopped
