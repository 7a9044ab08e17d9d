"""A text without the characters that nobody sees, and the way back to the places in the text as it stands.

One of them in the middle of a key, and no shape fits any more; yet whoever copies both halves has the key. They come
along when text is copied from a page, and may be put there on purpose.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from memtui.notes.spots import Spot

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]+"
)
"""Soft hyphens, joiners, zero-width and bidirectional characters, variation selectors, tags (Unicode 16, Cf and
`Default_Ignorable_Code_Point`)."""


class Joined:
    """A text without what nobody sees.

    Args:
        text: The text as it stands.

    Attributes:
        text: The same without it.
        is_other: Whether there was any of it.
    """

    def __init__(self, text: str) -> None:
        kept: list[tuple[int, int]] = []
        at = 0
        for found in _UNSEEN.finditer(text) if not text.isascii() else ():
            kept.append((at, found.start()))
            at = found.end()
        self.is_other = bool(kept)
        kept.append((at, len(text)))
        self.text = "".join(text[start:end] for start, end in kept) if self.is_other else text
        self._kept = kept
        self._starts = list(accumulate((end - start for start, end in kept), initial=0))[:-1]

    def back(self, spots: Iterator[Spot]) -> Iterator[Spot]:
        """What was found in it, at its places in the text as it stands; with all that is hidden between."""
        for spot in spots:
            start, end = self._span((spot.start, spot.end))
            yield replace(spot, start=start, end=end, masked=self._span(spot.masked) if spot.masked else None)

    def _span(self, span: tuple[int, int]) -> tuple[int, int]:
        start, end = span
        return self._place(start), self._place(max(end - 1, start)) + (end > start)

    def _place(self, at: int) -> int:
        part = bisect_right(self._starts, at) - 1
        return self._kept[part][0] + at - self._starts[part]
