"""A way to say something to a model, and the words by which it is known that a text may say it.

An expression is slow, and any note has words with which one begins. So it is asked only where words of all kinds stand
near each other without which it cannot match.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

_HEAD = 5
"""Letters of a word by which it is looked for."""
_LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
_PARTS = bytes(byte if byte >= 128 or byte in _LETTERS else 32 for byte in range(256))
"""A blank for each ASCII character that is neither a small letter nor a digit."""
_UNPARTED = bytes(120 if 0xE3 <= byte <= 0xED else 32 for byte in range(256))
"""An `x` for each byte with which a character of U+3000 to U+D7FF begins."""
_BEFORE = 40
"""Characters before its rarest word within which a phrase begins, if nothing else is said."""
BEHIND = 260
"""Characters behind its rarest word within which a phrase ends."""
FURTHEST = 200
"""Characters before its rarest word within which any phrase begins."""


class Kind(NamedTuple):
    """Words of which one is always in a phrase.

    Attributes:
        words: The words, or beginnings of words, in lower case; with each the first letters of what it is made of, or
            `None` for a script without blanks.
        heads: Of each word one of these, the longest; empty if a word has none.
    """

    words: tuple[tuple[str, frozenset[str] | None], ...]
    heads: frozenset[str]

    def in_heads(self, heads: frozenset[str]) -> list[str]:
        """The words that may be in a text of which the first letters of all words are known."""
        return [word for word, parts in self.words if parts is None or parts <= heads]


class Piece(NamedTuple):
    """A part of a text that is looked through at once.

    Attributes:
        start: Where it begins, in characters.
        end: Where it ends.
        heads: The first letters of the words in it and around it.
    """

    start: int
    end: int
    heads: frozenset[str]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A way to say it.

    Attributes:
        rule: The rule's id.
        why: Why it is told, for a person.
        kinds: Kinds of words of each of which one is in it; the first is the rarest kind, near which it is looked for.
        pattern: The whole, over folded text; what matches a group `said` is told of it, or all of it.
        before: Characters before a word of the first kind within which it begins.
    """

    rule: str
    why: str
    kinds: tuple[Kind, ...]
    pattern: re.Pattern[str]
    before: int = _BEFORE

    def places(self, text: str, piece: Piece) -> Iterator[tuple[int, int]]:
        """Where a piece of a folded text says it."""
        for kind in self.kinds:
            if kind.heads and kind.heads.isdisjoint(piece.heads):
                return
        words = [kind.in_heads(piece.heads) for kind in self.kinds]
        if not all(words):
            return
        has_said = "said" in self.pattern.groupindex
        for start, end in around(text, words[0], self.before, BEHIND, piece.start, piece.end):
            if all([has_any(text, each, start, end) for each in words[1:]]):  # noqa: C419 - a list is twice as fast here
                for found in self.pattern.finditer(text, start, end):
                    yield found.span("said" if has_said and found["said"] is not None else 0)


def phrase(rule: str, why: str, hints: str, pattern: str, *, before: int = _BEFORE) -> Phrase:
    """Make a phrase.

    Args:
        rule: The rule's id.
        why: Why it is told, for a person.
        hints: Words that are always in it, parted by `|`, and kinds of words, parted by ` & `; the rarest kind first.
        pattern: An expression over folded text.
        before: Characters before a word of the first kind within which it begins.
    """
    kinds = tuple(_kind(words.split("|")) for words in hints.split(" & "))
    return Phrase(rule, why, kinds, re.compile(pattern), before)


def heads_of(text: str) -> frozenset[str]:
    """The first letters of all words of a folded text, by way of bytes, which are parted ten times as fast."""
    words = text.encode("utf-8", "surrogatepass").translate(_PARTS).decode("utf-8", "surrogatepass").split()
    return frozenset([word[:_HEAD] for word in set(words)])


def may_be_unparted(text: str) -> bool:
    """Whether there may be words of a script without blanks between them: Chinese, Japanese, Korean."""
    return not text.isascii() and b"x" in text.encode("utf-8", "surrogatepass").translate(_UNPARTED)


def around(
    text: str, hints: Iterable[str], before: int, behind: int, first: int = 0, last: int | None = None
) -> Iterator[tuple[int, int]]:
    """The parts of a text in which a hint stands, with so many characters around it; none twice.

    Args:
        text: The text.
        hints: What is looked for.
        before: Characters before it.
        behind: Characters behind its beginning.
        first: From where on hints are looked for.
        last: Up to where they are; by default the end.
    """
    last = len(text) if last is None else last
    places = sorted(at for hint in hints for at in _all(text, hint, first, last))
    start = end = -1
    for place in places:
        if end < 0:
            start = max(0, place - before)
        elif place - before > end:
            yield start, end
            start = place - before
        end = place + behind
    if end >= 0:
        yield start, end


def _kind(words: list[str]) -> Kind:
    heads = [heads_of(word) if word[0] < "\u1100" else None for word in words]
    longest = [max(parts, key=len) for parts in heads if parts is not None]
    return Kind(tuple(zip(words, heads, strict=True)), frozenset(longest if len(longest) == len(words) else ()))


def has_any(text: str, words: Iterable[str], start: int, end: int) -> bool:
    """Whether one of some words stands in a part of a text."""
    for word in words:  # noqa: SIM110 - a loop is twice as fast here
        if text.find(word, start, end) >= 0:
            return True
    return False


def _all(text: str, hint: str, first: int, last: int) -> Iterator[int]:
    at = text.find(hint, first, last + len(hint) - 1)
    while at >= 0:
        yield at
        at = text.find(hint, at + len(hint), last + len(hint) - 1)
