"""How the work over a text grows with its length: what is hostile may take longer, never out of proportion.

Processor time is measured, over a floor, and again where it looks bad: a busy machine makes nothing fail.
"""

import time
from collections.abc import Callable

LIMIT = 2.5
"""What twice the text may take, in times what the text takes."""
FLOOR = 0.03
"""Seconds of a processor below which nothing is too long."""
_AGAIN = 8


def find_growth(
    work: Callable[[str], object], make: Callable[[int], str], most: int, floor: float = FLOOR, least: int = 64
) -> float:
    """What twice the text takes, in times what the text takes; 0 where even the longest text takes next to nothing.

    Args:
        make: Returns a text of about so many characters.
        most: Characters of the longest text.
        least: Characters of the shortest one.
    """
    size = least
    while size < most and _measure(work, make(size)) < floor:
        size *= 2
    long, short = make(size), make(size // 2)
    took, took_short, growth = float("inf"), float("inf"), 0.0
    for _ in range(_AGAIN):
        took = min(took, _measure(work, long))
        took_short = min(took_short, _measure(work, short))
        if took < floor:
            return 0.0
        growth = took / max(took_short, floor / 20)
        if growth <= LIMIT:
            break
    return growth


def _measure(work: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    work(text)
    return time.process_time() - began
