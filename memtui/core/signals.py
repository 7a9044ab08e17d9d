"""The signals that ask a server to end."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@contextmanager
def catch_signals(end: Callable[[], object]) -> Iterator[list[signal.Signals]]:
    """Have signals end a server; the list holds the ones that came."""
    loop = asyncio.get_running_loop()
    caught: list[signal.Signals] = []

    def note(number: signal.Signals) -> None:
        caught.append(number)
        end()

    for number in _ENDING:
        loop.add_signal_handler(number, note, number)
    try:
        yield caught
    finally:
        for number in _ENDING:
            loop.remove_signal_handler(number)
