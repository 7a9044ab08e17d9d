"""Orders that are spelled in another way: backwards, with digits or marks for letters, or letter by letter.

A model reads them all the same, and a search for words does not.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import islice

_MOST = 200
_BACKWARDS = ("snoitcurtsni", "erongi", "tpmorp", "drowssap", "dragersid", "slaitnederc")
_DIGITS = str.maketrans("013457@$!|", "oieastasii")
_LEET = frozenset({
    "1gnor", "1gn0r", "ign0r", "i9nor", "i9n0r", "19nor", "19n0r", "d1sre", "d1sr3", "disr3", "f0rge", "f0rg3", "forg3",
    "0verr", "0v3rr", "ov3rr",
})  # fmt: skip
_SPELLED = re.compile(r"(?<![^\W_])[a-z](?:[ .\-_*|/]{1,3}[a-z]){9,400}(?![^\W_])")
_LETTERS = frozenset("gre")
"""Letters of each word that calls on a model to drop something: to ignore, to forget, to disregard."""
_SQUEEZED = re.compile(
    r"(?:ignore|disregard|forget)(?:all|the|any|your|every|of|these){0,4}(?:previous|prior|above|earlier|system"
    r"|your){1,2}"
    r"(?:instruction|rule|prompt|guideline|message|order|command)"
)
_MARKED = ("ignor", "igno", "ign", "disre", "disr", "dis", "forge", "forg", "for")
_FIRST = frozenset("idfìíîïĩīįďđ")
_REACH = 300
"""Characters before and behind a word that belong to its line, at most."""


def spelled(text: str, heads: frozenset[str], is_order: Callable[[str], bool]) -> Iterator[tuple[str, int, int]]:
    """Orders in a folded text that are not spelled as words are: why each is told, and where it stands.

    Args:
        text: The text.
        heads: The first letters of its words.
        is_order: Whether words call on a model to do something.
    """
    if any([hint in text for hint in _BACKWARDS]):  # noqa: C419 - a list is twice as fast here
        for start, end in _lines_with(text, _BACKWARDS):
            if is_order(text[start:end][::-1]):
                yield "words for a model that are written backwards", start, end
    if found := _LEET & heads:
        for start, end in _lines_with(text, tuple(found)):
            if is_order(text[start:end].translate(_DIGITS)):
                yield "words for a model that are written with digits for letters", start, end
    if heads >= _LETTERS:
        for letters in islice(_SPELLED.finditer(text), _MOST):
            if _SQUEEZED.search(re.sub(r"[\W_]+", "", letters.group())):
                yield "words for a model that are spelled letter by letter", *letters.span()
    if not text.isascii() and (
        marked := [head for head in heads if head[0] in _FIRST and not head.isascii() and _bare(head) in _MARKED]
    ):
        for start, end in _lines_with(text, tuple(marked)):
            if is_order(_bare(text[start:end])):
                yield "words for a model that are written with marks on letters", start, end


def _lines_with(text: str, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """The lines in which one of some words stands, none twice."""
    places = sorted(at for word in words for at in islice(_all(text, word), _MOST))
    last = -1
    for place in places:
        if place < last:
            continue
        start = text.rfind("\n", max(0, place - _REACH), place) + 1 or max(0, place - _REACH)
        end = text.find("\n", place, place + _REACH)
        last = end if end >= 0 else min(len(text), place + _REACH)
        yield start, last


def _all(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _bare(text: str) -> str:
    """A text without marks on its letters."""
    return "".join([letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter)])
