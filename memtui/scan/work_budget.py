"""How much a scan may do over one text where its work is far more than to read it: hostile texts are made for that.

It is counted in characters, so that what is looked at follows from the text and not from the machine.
"""

import math

_PER_STEP = 100  # characters whose reading takes as long as to begin


class WorkBudget:
    """What is left to be done over a text; without a number of characters there is no end of it."""

    def __init__(self, characters: float = math.inf) -> None:
        self._left = characters

    @property
    def is_spent(self) -> bool:
        """Whether something was not looked at."""
        return self._left < 0

    def spend(self, characters: int) -> bool:
        """Begin to look at some characters again; whether they may be."""
        if self._left >= 0:
            self._left -= _PER_STEP + characters
        return self._left >= 0


class WorkBudgetSpent(Exception):
    """A scan has ended before it looked at all of a text; what it found until then stands."""
