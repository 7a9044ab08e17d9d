"""A text as a model reads it: in lower case, without what is not seen, and with letters that pretend to be others.

Whoever hides an instruction from a search writes it with wide letters, with letters of another script, or with
characters of no width between them. Every character knows where it stands in the text itself.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.core.confusables import skeleton

_DISGUISED = re.compile(
    "[\u00a0\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f"
    "\ufb00-\ufb06\ufeff\uff01-\uff5e\uffa0\u2100-\u214f\u2460-\u24ff\U0001d400-\U0001d7ff\U0001f110-\U0001f189"
    "\U000e0000-\U000e0fff]"
)
"""Spaces and characters of no width, wide, circled and mathematical letters."""
_MIXED = re.compile("[a-z][\u0370-\u058f\u13a0-\u13ff]|[\u0370-\u058f\u13a0-\u13ff][a-z]", re.IGNORECASE)
"""A letter of another script beside a Latin one."""
_OF_SCRIPT = re.compile("[\u0370-\u058f\u13a0-\u13ff]", re.IGNORECASE)
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_PARTS = re.compile("[\x00-\x7f]+|[^\x00-\x7f]")
_OTHER = re.compile("[\u0250-\u02af\u0370-\u058f\u13a0-\u13ff\u1d00-\u1d2b]")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as it is searched.

    Attributes:
        text: In lower case, folded.
        origins: Where each character of it stands in the text itself; `None` if all are in their places.
    """

    text: str
    origins: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of it stands in the text itself."""
        if self.origins is None:
            return start, end
        return self.origins[start], self.origins[end - 1] + 1 if end > start else self.origins[start]


def folded(text: str) -> Folded:
    """Fold a text. Most are folded by `lower` alone."""
    if text.isascii():
        return Folded(text.lower())
    others = "".join(_NOT_ASCII.findall(text))
    is_mixed = _OF_SCRIPT.search(others) is not None and _MIXED.search(text) is not None
    if not is_mixed and _DISGUISED.search(others) is None:
        lowered = text.lower()
        if len(lowered) == len(text):
            return Folded(lowered)
    words = _spans_of_mixed_words(text) if is_mixed else []
    parts: list[str] = []
    origins: list[int] = []
    ends = [end for _, end in words]
    for found in _PARTS.finditer(text):
        place, character = found.start(), found.group()
        if character.isascii():
            parts.append(character.lower())
            origins.extend(range(place, found.end()))
            continue
        word = bisect_right(ends, place)
        is_pretended = word < len(words) and words[word][0] <= place
        part = _latin(character) if is_pretended else _plain(character)
        if _is_tag(character) and part and not (place and _is_tag(text[place - 1])):
            part = " " + part  # what is hidden there begins a word of its own
        parts.append(part)
        origins.extend([place] * len(part))
    return Folded("".join(parts), origins)


def _spans_of_mixed_words(text: str) -> list[tuple[int, int]]:
    """Where words stand in which letters of several scripts are mixed."""
    spans: list[tuple[int, int]] = []
    for found in _MIXED.finditer(text):
        start, end = found.span()
        if spans and start < spans[-1][1]:
            continue
        while start and (text[start - 1].isalpha() or _DISGUISED.match(text[start - 1])) and found.start() - start < 40:
            start -= 1
        while end < len(text) and (text[end].isalpha() or _DISGUISED.match(text[end])) and end - found.end() < 40:
            end += 1
        spans.append((max(start, spans[-1][1]) if spans else start, end))
    return spans


def _is_tag(character: str) -> bool:
    return "\U000e0020" <= character <= "\U000e007e"


@lru_cache(maxsize=8_192)
def _plain(character: str) -> str:
    if not _DISGUISED.match(character):
        return character.lower()
    if unicodedata.category(character) in ("Cf", "Mn", "Lo"):
        code = ord(character)
        return chr(code - 0xE0000) if 0xE0020 <= code <= 0xE007E else ""  # tag characters are letters in disguise
    return unicodedata.normalize("NFKC", character).lower()


@lru_cache(maxsize=8_192)
def _latin(character: str) -> str:
    return skeleton(character).lower() if _OTHER.match(character) else _plain(character)
