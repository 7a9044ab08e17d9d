"""Orders in a note that outlive the session in which they were given.

They are candidates: "always run the tests" is a person's preference as often as it is an attack. Where it came from
decides; see `memtui.audit.rules.orders`. The words are in `rules/orders.toml`.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from memtui.scan.folding import fold_text
from memtui.scan.phrases import may_be_unspaced
from memtui.scan.ruleset import load_rules

_SENTENCE = re.compile(r"[^\n]{1,600}?(?:[.!?](?=\s)|(?=\n)|\Z)|[^\n]{600}")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)?")


_TERMS = ("acting", "standing", "risky", "aims", "harming", "harmed")


class Order(NamedTuple):
    """A sentence that orders something for every session to come.

    Attributes:
        start: Its first character in the text, and `end` the one behind it.
        words: The sentence, folded.
        is_risky: Whether it has an effect beyond the note: something is sent, run, granted, kept from the person.
        is_standing: Whether its words say that it holds for later sessions; without them it would do harm at once.
    """

    start: int
    end: int
    words: str
    is_risky: bool
    is_standing: bool = True


class _Terms:
    """Terms of the lexicon of which one is to stand in a sentence."""

    def __init__(self, name: str) -> None:
        self._words: set[str] = set()
        self._phrases: dict[str, list[str]] = {}
        """Terms of several words, by the first."""
        self._signs: list[str] = []
        """Terms that do not begin with a word."""
        self._unspaced: list[str] = []
        """Terms of scripts without blanks between words."""
        for term in load_rules("orders").lexicon[name]:
            first = term.split(" ")[0]
            if may_be_unspaced(term):
                self._unspaced.append(term)
            elif not _WORD.fullmatch(first):
                self._signs.append(term)
            elif first == term:
                self._words.add(term)
            else:
                self._phrases.setdefault(first, []).append(term)

    def stand_in(self, sentence: str, words: set[str]) -> bool:
        """Whether one of them does, given the words of the sentence."""
        if not self._words.isdisjoint(words):
            return True
        for first in self._phrases.keys() & words:
            if any([phrase in sentence for phrase in self._phrases[first]]):  # noqa: C419 - faster
                return True
        signs = self._signs if sentence.isascii() else self._signs + self._unspaced
        return any([sign in sentence for sign in signs])  # noqa: C419 - faster


@cache
def _load_terms(name: str) -> _Terms:
    return _Terms(name)


def find_orders(text: str) -> Iterator[Order]:
    """What in a text orders something for every session to come, or would do harm, in its order."""
    fold = fold_text(text)
    acting, standing, risky, aims, harming, harmed = map(_load_terms, _TERMS)
    for found in _SENTENCE.finditer(fold.text):
        sentence = found.group()
        words = set(_WORD.findall(sentence))
        is_standing = acting.stand_in(sentence, words) and standing.stand_in(sentence, words)
        if is_standing or (harmed.stand_in(sentence, words) and harming.stand_in(sentence, words)):
            is_risky = risky.stand_in(sentence, words) and aims.stand_in(sentence, words)
            start = found.start() + len(sentence) - len(sentence.lstrip())
            yield Order(*fold.locate(start, found.end()), sentence.strip(), is_risky, is_standing)
