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
_DOUBLINGS = 3
"""How often a text is made twice as long before too long is too long: what looks a few hundred characters ahead takes
out of proportion while the text is shorter than that, and where a machine is slow, shorter texts are measured.
"""


def find_growth(
    work: Callable[[str], object], make: Callable[[int], str], most: int, floor: float = FLOOR, least: int = 64
) -> float:
    """What twice the text takes, in times what the text takes; 0 where even the longest text takes next to nothing.

    Args:
        make: Returns a text of about so many characters.
        most: Characters of the longest text.
        least: Characters of the shortest one.
    """
    size, doublings, growth = least, 0, 0.0
    while True:
        if _measure(work, make(size)) >= floor:
            growth = _find_growth_at(work, make, size, floor)
            if 0 < growth <= LIMIT or doublings == _DOUBLINGS:
                return growth
            doublings += growth > LIMIT
        if size * 2 > most:
            return growth
        size *= 2


def _find_growth_at(work: Callable[[str], object], make: Callable[[int], str], size: int, floor: float) -> float:
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
