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
        terms = load_rules("orders").lexicon[name]
        self._words = frozenset(term for term in terms if _WORD.fullmatch(term) and not may_be_unspaced(term))
        self._phrases = [term for term in terms if term not in self._words]

    def stand_in(self, sentence: str, words: set[str]) -> bool:
        return not self._words.isdisjoint(words) or any([phrase in sentence for phrase in self._phrases])  # noqa: C419 - faster


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
        if is_standing or (harming.stand_in(sentence, words) and harmed.stand_in(sentence, words)):
            is_risky = risky.stand_in(sentence, words) and aims.stand_in(sentence, words)
            start = found.start() + len(sentence) - len(sentence.lstrip())
            yield Order(*fold.locate(start, found.end()), sentence.strip(), is_risky, is_standing)
