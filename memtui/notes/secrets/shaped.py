"""Keys and tokens known by their looks: which of the shapes something in a text has.

There are some two hundred shapes, and most notes have no word that could be a key. So a text is not asked for each
of them: its long words are looked at once, by how they begin, and only what begins as a key does is compared.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from memtui.notes.secrets.pictures import is_picture
from memtui.notes.secrets.shapes import SHAPES, Shape
from memtui.notes.spots import Spot

K = TypeVar("K")
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
"""A key does not begin within a word."""
_SHORT = 3
"""Characters of a head that is also found in hashes, behind a hyphen."""
_SHORTEST = 14
"""Characters that a key has at least, without a blank."""


def _by(keys: Callable[[Shape], Iterable[K]]) -> Mapping[K, tuple[int, ...]]:
    """The numbers of the shapes by what each is known by."""
    found: dict[K, tuple[int, ...]] = {}
    for number, shape in enumerate(SHAPES):
        for key in dict.fromkeys(keys(shape)):
            found[key] = (*found.get(key, ()), number)
    return found


_BY_HEAD = _by(lambda shape: (head[:2].encode() for head in shape.heads))
_BY_SIZE = _by(lambda shape: shape.sizes)
_BY_WITHIN = tuple(_by(lambda shape: shape.within).items())
_HEADS, _SIZES = frozenset(_BY_HEAD), frozenset(_BY_SIZE)

_OF_KEYS = bytes(120 if chr(byte) in _WORD or byte in b"+/=.~$:@%-?!" else 32 for byte in range(256))
"""What is in keys, and what a character becomes that is not ASCII, told from the rest."""
_TELLING = re.compile(r"[0-9A-Z]")
"""No key is of small letters alone; addresses and names in code are."""
_PARTED = bytes(byte if chr(byte) in _WORD else 32 for byte in range(256))


def long_spans(text: str) -> list[tuple[int, int]]:
    """What in a text is long enough to be a key, or a piece of one, from and to: of most notes next to nothing."""
    solid = text.encode("ascii", "replace").translate(_OF_KEYS)
    least = b"x" * _SHORTEST
    found: list[tuple[int, int]] = []
    at = solid.find(least)
    while at >= 0:
        end = solid.find(b" ", at)
        end = len(solid) if end < 0 else end
        if _TELLING.search(text, at, end):
            found.append((at, end))
        at = solid.find(least, end)
    return found


def words_of(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Words of a text, parted by blanks."""
    return " ".join([text[start:end] for start, end in spans])


def begins_a_key(words: str) -> bool:
    """Whether something in words begins as a key does whose shape is known."""
    numbers = _candidates(words)
    return "eyJ" in words or any(
        head in words for number in numbers for head in (*SHAPES[number].heads, *SHAPES[number].within)
    )


def _candidates(words: str) -> set[int]:
    """The shapes that something may have, by how the parts of words begin, by how long they are, and by what is in."""
    parts = words.encode("ascii", "replace").translate(_PARTED).split()
    heads = _HEADS.intersection([part[:2] for part in parts])
    sizes = _SIZES.intersection(map(len, parts))
    found = {number for head in heads for number in _BY_HEAD[head]}
    found.update(number for size in sizes for number in _BY_SIZE[size])
    found.update(number for each, numbers in _BY_WITHIN if each in words for number in numbers)
    return found


def shaped(text: str, words: str) -> Iterator[Spot]:
    """What in a text has the shape of a key.

    Args:
        text: The text.
        words: Its long words; a note that has none is passed at once.
    """
    if not words:
        return
    for number in sorted(_candidates(words)):
        shape = SHAPES[number]
        if shape.heads and not any([head in words for head in shape.heads]):  # noqa: C419 - a list is twice as fast
            continue
        if shape.pattern.search(words) is None:
            continue
        for found in shape.pattern.finditer(text):
            before = text[found.start() - 1 : found.start()]
            if before in _WORD or (before == "-" and shape.heads and len(shape.heads[0]) <= _SHORT):
                continue
            group = "value" if "value" in shape.pattern.groupindex else 0
            value = found.group(group)
            if not is_picture(value) and (shape.is_sound is None or shape.is_sound(value)):
                yield Spot("secret", shape.rule, found.start(), found.end(), shape.words, found.span(group))
