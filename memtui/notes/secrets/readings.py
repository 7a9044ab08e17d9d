"""A text as somebody reads it who is not a program that looks for shapes, and the way back to its places.

A key may stand in a note in other characters than its own: with one in the middle that nobody sees, with a backslash
before its underscores as writers of Markdown put there, escaped as JSON, addresses and HTML want it, or in pieces that
are put together again where it is used. No shape fits any more; yet whoever copies it has the key.
"""

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from operator import itemgetter

from memtui.notes.spots import Spot

_UNSEEN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
"""Soft hyphens, joiners, zero-width and bidirectional characters, variation selectors, tags (Unicode 16, Cf and
`Default_Ignorable_Code_Point`)."""
_OF_KEY = r"[A-Za-z0-9_+/=.~:$%-]"
_BETWEEN = r"[ \t]{0,20}(?:[+.&][ \t]{0,20})?(?:\\?\r?\n[ \t]{0,60})?(?:[+.&][ \t]{0,20})?[bfru]?"
"""What may be between two strings that are put together: `"a" + "b"`, `"a" "b"`."""
_OTHERS = (
    r"(?<=\\)(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[nrt!-/:-@\[-`{-~])"
    rf"|(?<={_OF_KEY}\\)\r?\n[ \t]{{0,40}}(?={_OF_KEY})"
    r"|(?<=%)[0-7][0-9A-Fa-f]"
    r"|(?<=&)(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[a-zA-Z]{2,10});"
    rf"|(?<=[{_UNSEEN}])[{_UNSEEN}]*"
)
"""What makes another character of one: as JSON, C and Markdown write it, where a line is continued, as addresses (RFC
3986) and HTML write it; and those that nobody sees."""
_QUOTED = "".join(rf"|(?<={_OF_KEY}{quote}){_BETWEEN}{quote}(?={_OF_KEY})" for quote in "\"'")
_OTHER = re.compile(rf"[\\%&{_UNSEEN}](?:{_OTHERS})")  # a set at the beginning is found many times as fast
_OTHER_OR_QUOTED = re.compile(rf"[\\%&\"'{_UNSEEN}](?:{_OTHERS}{_QUOTED})")
_ANY_QUOTED = tuple(re.compile(rf"{quote}{_BETWEEN}{quote}(?={_OF_KEY})") for quote in "\"'")  # two are faster
_UNSEEN_ONLY = re.compile(rf"[{_UNSEEN}]+")
_NAME = 60
"""Characters before a secret among which its name stands."""
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


class Reading:
    """What is read in a text, and the way back to the places in it.

    Args:
        pieces: What is read, and the characters from and to for which; in order.

    Attributes:
        text: What is read.
    """

    def __init__(self, pieces: Iterable[tuple[str, int, int]]) -> None:
        kept = list(pieces)
        self.text = "".join([read for read, _, _ in kept])
        ends = list(accumulate([len(read) for read, _, _ in kept]))
        parts = [(end - len(read), end, start, last) for (read, start, last), end in zip(kept, ends, strict=True)]
        self._others = [(at, end) for at, end, start, last in parts if end - at != last - start]
        parts = [part for part in parts if part[0] < part[1]]
        self._at = [at for at, _, _, _ in parts]
        self._parts = parts

    def back(self, spots: Iterator[Spot]) -> Iterator[Spot]:
        """Of what was found in it that which the text as it stands does not show, at its places in the text."""
        for spot in spots:
            if self._is_crossing(spot.start, spot.end):
                start, end = self._span((spot.start, spot.end))
                yield replace(spot, start=start, end=end, masked=self._span(spot.masked) if spot.masked else None)

    def _is_crossing(self, start: int, end: int) -> bool:
        """Whether something is read differently in it, or before it, where its name is."""
        first = bisect_left(self._others, start - _NAME, key=itemgetter(1))
        return first < len(self._others) and self._others[first][0] < end

    def _span(self, span: tuple[int, int]) -> tuple[int, int]:
        start, end = span
        at, behind, first, last = self._part(start)
        begin = first if behind - at != last - first else first + start - at
        at, behind, first, last = self._part(max(end - 1, start))
        return begin, last if behind - at != last - first else first + end - at

    def _part(self, at: int) -> tuple[int, int, int, int]:
        """From and to in what is read, and in the text."""
        return self._parts[bisect_right(self._at, at) - 1]


def readings(text: str) -> Iterator[Reading]:
    """The lines of a text that are read differently than they stand there: in all, and but for what nobody sees."""
    is_unseen = not text.isascii() and _UNSEEN_ONLY.search(text) is not None
    is_quoted = any([pattern.search(text) is not None for pattern in _ANY_QUOTED])  # noqa: C419 - twice as fast
    if is_quoted or is_unseen or "\\" in text or "%" in text or "&" in text:
        reading = Reading(_pieces(text, _OTHER_OR_QUOTED if is_quoted else _OTHER))
        if reading.text:
            yield reading
            if is_unseen:
                yield Reading(_pieces(text, _UNSEEN_ONLY))


def _pieces(text: str, others: re.Pattern[str]) -> Iterator[tuple[str, int, int]]:
    """What is read, line by line; lines that are read as they stand there are left out."""
    at = -1
    for found in others.finditer(text):
        read = _read(found.group())
        if read == found.group():
            continue
        line = text.rfind("\n", max(at, 0), found.start()) + 1
        if at < 0:
            at = line
        elif line:
            end = text.index("\n", at) + 1
            yield text[at:end], at, end
            at = line
        yield text[at : found.start()], at, found.start()
        yield read, *found.span()
        at = found.end()
    if at >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[at:end], at, end


def _read(written: str) -> str:
    """What is read for what is written."""
    match written[0]:
        case "%":
            return chr(int(written[1:], 16))
        case "&":
            return html.unescape(written)
        case "\\" if written[1] in "ux":
            return chr(int(written[2:], 16))
        case "\\" if written[1] in _CONTROLS:
            return _CONTROLS[written[1]]
        case "\\" if written[1] not in "\r\n":
            return written[1]
        case _:
            return ""
