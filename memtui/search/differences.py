"""What differs between two versions, as whole lines, found out once: most versions differ from the one before by a few.

So most lines need not be looked at again for every version that holds them.
"""

from collections.abc import Callable

from memtui.core.diffs import common_end, common_start
from memtui.search.wanted import Text

_MOST = 50_000
"""Pairs that are remembered."""


class Differences:
    """The lines in which texts differ. Not for several threads at once.

    Args:
        text: A text by its SHA-256; `None` if it is not kept.
    """

    def __init__(self, text: Callable[[str], Text | None]) -> None:
        self._text = text
        self._known: dict[tuple[str, str], tuple[Text, Text]] = {}

    def between(self, old: str, new: str) -> tuple[Text, Text] | None:
        """All lines from the first to the last in which two texts differ, of either; `None` if one is not kept.

        Args:
            old: The one, by its SHA-256.
            new: The other one.
        """
        pair = (old, new)
        if pair not in self._known:
            before, after = self._text(old), self._text(new)
            if before is None or after is None:
                return None
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[pair] = _between(before.data, after.data)
        return self._known[pair]

    def forget(self) -> None:
        """A text must not be held any more, nor a part of it."""
        self._known.clear()


def _between(before: bytes, after: bytes) -> tuple[Text, Text]:
    start = before.rfind(b"\n", 0, common_start(before, after)) + 1
    tail = common_end(before, after, start)
    newline = before.find(b"\n", len(before) - tail)
    tail = 0 if newline < 0 else len(before) - newline
    return Text(before[start : len(before) - tail]), Text(after[start : len(after) - tail])
