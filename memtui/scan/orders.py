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
_ROLES = {
    "lasting": ("lasting",),
    "acting": ("acting", "verbs"),
    "standing": ("standing",),
    "conditions": ("conditions",),
    "risky": ("risky",),
    "aims": ("aims",),
    "harming": ("harming", "verbs"),
    "harmed": ("harmed", "assets"),
}
"""What a term may be in a sentence, and the lists of the lexicon that hold such terms."""
_BITS = {role: 1 << number for number, role in enumerate(_ROLES)}
_LASTING, _ACTING, _STANDING, _CONDITION, _RISKY, _AIMS, _HARMING, _HARMED = _BITS.values()
_MOST_WORDS = 50_000
"""Words whose roles are remembered."""


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


class _Lexicon:
    """All terms of the lexicon, and their roles as bits."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._stems: dict[str, int] = {}
        """Beginnings of words."""
        self._phrases: dict[str, list[tuple[str, int]]] = {}
        """Terms of several words, by the first."""
        self._signs: dict[str, list[tuple[str, int]]] = {}
        """Terms that do not begin with a word, or are of scripts without blanks between words, by the first letter."""
        self._known: dict[str, int] = {}
        lists = load_rules("orders").lexicon
        for role, names in _ROLES.items():
            for term in (term for name in names for term in lists[name]):
                self._add(term, _BITS[role])
        self._lengths = sorted({len(stem) for stem in self._stems})

    def _add(self, term: str, bit: int) -> None:
        text = term.rstrip("*")
        first = text.split(" ")[0]
        if may_be_unspaced(text) or not _WORD.fullmatch(first):
            self._signs.setdefault(text[0], []).append((text, bit))
        elif first != text:
            self._phrases.setdefault(first, []).append((text, bit))
        else:
            terms = self._words if text == term else self._stems
            terms[text] = terms.get(text, 0) | bit

    def select_signs(self, text: str) -> list[tuple[str, int]]:
        """The terms without a first word that stand in a text, which are then looked for in its sentences."""
        letters = self._signs.keys() & set(text)
        return [sign for letter in letters for sign in self._signs[letter] if sign[0] in text]

    def find_roles(self, sentence: str, signs: list[tuple[str, int]]) -> int:
        """The roles that terms in a sentence have."""
        words = set(_WORD.findall(sentence))
        roles = 0
        for word in words:
            known = self._known.get(word)
            roles |= self._find_roles_of_word(word) if known is None else known
        for first in self._phrases.keys() & words:
            for phrase, bit in self._phrases[first]:
                if not roles & bit and phrase in sentence:
                    roles |= bit
        for sign, bit in signs:
            if not roles & bit and sign in sentence:
                roles |= bit
        return roles

    def _find_roles_of_word(self, word: str) -> int:
        roles = self._words.get(word, 0)
        for length in self._lengths:
            if length > len(word):
                break
            roles |= self._stems.get(word[:length], 0)
        if len(self._known) < _MOST_WORDS:
            self._known[word] = roles
        return roles


@cache
def _load_lexicon() -> _Lexicon:
    return _Lexicon()


def find_orders(text: str) -> Iterator[Order]:
    """What in a text orders something for every session to come, or would do harm, in its order."""
    fold = fold_text(text)
    lexicon = _load_lexicon()
    signs = lexicon.select_signs(fold.text)
    for found in _SENTENCE.finditer(fold.text):
        sentence = found.group()
        roles = lexicon.find_roles(sentence, signs)
        is_standing = _is_standing(roles)
        if is_standing or (roles & _HARMED and roles & _HARMING):
            is_risky = bool(roles & _RISKY and roles & _AIMS)
            start = found.start() + len(sentence) - len(sentence.lstrip())
            yield Order(*fold.locate(start, found.end()), sentence.strip(), is_risky, is_standing)


def _is_standing(roles: int) -> bool:
    """Whether a sentence with terms of these roles holds for later sessions.

    A condition alone says nothing of how long it holds, and descriptions are full of them: what is done under it must
    be of weight.
    """
    if roles & _LASTING:
        return True
    if not roles & _ACTING:
        return False
    return bool(roles & _STANDING or (roles & _CONDITION and roles & (_HARMED | _AIMS)))
