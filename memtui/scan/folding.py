"""A text as a model reads it: in lower case, without what is not seen, and with letters that pretend to be others.

Whoever hides an instruction from a search writes it with wide letters, with letters of another script, or with
characters of no width between them. Every character knows where it stands in the text itself.
"""

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import INVISIBLE, SPACES, STYLED, skeleton

_DISGUISED = f"{SPACES}{INVISIBLE}{STYLED}"  # spaces and characters of no width, wide, circled and mathematical letters
_IS_DISGUISED = re.compile(f"[{_DISGUISED}]")
_CHANGED = re.compile(f"[{_DISGUISED}\u0130]")  # what is not folded by `lower`, or becomes two characters by it
_MIXED = re.compile("[a-z][\u0370-\u058f\u13a0-\u13ff]|[\u0370-\u058f\u13a0-\u13ff][a-z]", re.IGNORECASE)
"""A letter of another script beside a Latin one."""
_OF_SCRIPT = re.compile("[\u0370-\u058f\u13a0-\u13ff]")
_ASCII = bytes(range(128))
_OTHER = re.compile("[\u0250-\u02af\u0370-\u058f\u13a0-\u13ff\u1d00-\u1d2b]")


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text as it is searched.

    Attributes:
        places: Start offsets in it of pieces that stand elsewhere in the original; empty if nothing moved.
        origins: The offsets of these pieces in the original.
    """

    text: str
    places: tuple[int, ...] = ()
    origins: tuple[int, ...] = ()

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of it stands in the text itself."""
        if not self.places:
            return start, end
        first = self._find_origin(start)
        return first, self._find_origin(end - 1) + 1 if end > start else first

    def _find_origin(self, at: int) -> int:
        piece = bisect_right(self.places, at) - 1
        return self.origins[piece] + at - self.places[piece]


def fold_text(text: str) -> FoldedText:
    """Fold a text. Most are folded by `lower` alone."""
    if text.isascii():
        return FoldedText(text.lower())
    others = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
    is_mixed = _OF_SCRIPT.search(others) is not None and _MIXED.search(text) is not None
    if not is_mixed and _CHANGED.search(others) is None:
        return FoldedText(text.lower())
    folding = _Folding(text)
    at = 0
    for start, end in _find_mixed_words(text) if is_mixed else ():
        folding.fold(at, start)
        for place in range(start, end):
            folding.change(place, _to_latin(text[place]))
        at = end
    folding.fold(at, len(text))
    return FoldedText("".join(folding.parts), tuple(folding.places), tuple(folding.origins))


class _Folding:
    """What a text is folded to, as far as it is folding."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._length = self._moved = 0
        self.parts: list[str] = []
        self.places: list[int] = []
        self.origins: list[int] = []

    def fold(self, start: int, end: int) -> None:
        """Fold a part of the text in which no scripts are mixed."""
        text = self._text
        for found in _CHANGED.finditer(text, start, end):
            place = found.start()
            if place > start:
                self._put(text[start:place].lower(), start)
            self.change(place, _to_plain(found.group()))
            start = place + 1
        if end > start:
            self._put(text[start:end].lower(), start)

    def change(self, place: int, part: str) -> None:
        """Put other letters for one character."""
        if part and _is_tag(self._text[place]) and not (place and _is_tag(self._text[place - 1])):
            part = " " + part  # what is hidden there begins a word of its own
        for letter in part:
            self._put(letter, place)

    def _put(self, part: str, origin: int) -> None:
        if origin - self._length != self._moved:
            self._moved = origin - self._length
            self.places += [0] if not self.places else []
            self.origins += [0] if not self.origins else []
            self.places.append(self._length)
            self.origins.append(origin)
        self.parts.append(part)
        self._length += len(part)


def _find_mixed_words(text: str) -> list[tuple[int, int]]:
    """Where words stand in which letters of several scripts are mixed."""
    spans: list[tuple[int, int]] = []
    for found in _MIXED.finditer(text):
        start, end = found.span()
        if spans and start < spans[-1][1]:
            continue
        while (
            start and (text[start - 1].isalpha() or _IS_DISGUISED.match(text[start - 1])) and found.start() - start < 40
        ):
            start -= 1
        while end < len(text) and (text[end].isalpha() or _IS_DISGUISED.match(text[end])) and end - found.end() < 40:
            end += 1
        spans.append((max(start, spans[-1][1]) if spans else start, end))
    return spans


def _is_tag(character: str) -> bool:
    return "\U000e0020" <= character <= "\U000e007e"


@lru_cache(maxsize=8_192)
def _to_plain(character: str) -> str:
    if not _IS_DISGUISED.match(character):
        return character.lower()
    if unicodedata.category(character) in ("Cf", "Mn", "Lo"):
        code = ord(character)
        return chr(code - 0xE0000) if 0xE0020 <= code <= 0xE007E else ""  # tag characters are letters in disguise
    return unicodedata.normalize("NFKC", character).lower()


@lru_cache(maxsize=8_192)
def _to_latin(character: str) -> str:
    return skeleton(character).lower() if _OTHER.match(character) else _to_plain(character)
