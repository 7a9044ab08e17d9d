"""How far something is that takes its time, told beside the output to a person who waits for it."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memtui.cli import output

_PATIENCE, _BETWEEN = 0.5, 0.1
"""Seconds after which it is told how far it is, and between two times."""


@contextmanager
def progress_line(
    *, quiet: bool = False, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[str, int, int], None] | None]:
    """A line beside the output that tells how far it is, to a person who waits; at the end it is gone.

    Args:
        quiet: Whether nobody wants to be told.
        clock: Tells the time, in seconds.

    Yields:
        What is told what is done, how many and of how many; `None` where nobody would see it.
    """
    if quiet or not output.is_terminal(sys.stderr):
        yield None
        return
    begun = last = clock()
    wide = 0

    def tell(what: str, done: int, of: int) -> None:
        nonlocal last, wide
        now = clock()
        if now - begun < _PATIENCE or now - last < _BETWEEN or not of:
            return
        last = now
        words = f"{what}: {done:,} of {of:,}"
        sys.stderr.write(f"\r{words:<{wide}}")
        sys.stderr.flush()
        wide = len(words)

    try:
        yield tell
    finally:
        if wide:
            sys.stderr.write(f"\r{'':<{wide}}\r")
            sys.stderr.flush()
