"""The score of a word against a path, by the rules of fzf.

The rules are those that fzf documents: each letter counts, a gap costs, more so its beginning; a letter at the start
of a word counts extra, after a separator of folders most; the letters of a run inherit what its first one earned, and
the first letter of the word counts double. To that comes one rule of ours: a match within the file's own name beats an
equal one in its folders. Only the positions where letters stand are looked at, so that a path costs microseconds.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from memtui.search.query import MatchKind, Term

_MATCH = 16
_GAP = -3
_LONGER_GAP = -1
_BOUNDARY = 8
_AFTER_SEPARATOR = 9
_CAMEL = 7
_RUN = 4
_FIRST = 2
"""Factor of the bonus of the first letter."""
_OWN_NAME = 8
_OWN_NAME_LETTER = 2
_MOST_POSITIONS = 40
"""Occurrences of a letter that are tried in one path; of more, only the outer ones."""

_LOWER, _UPPER, _LETTER, _NUMBER, _SEPARATOR, _OTHER = range(6)
_WORD = _NUMBER
"""Classes up to this one are parts of words."""

Positions = Sequence[int]


@lru_cache(maxsize=8192)
def _fold_character(character: str) -> str:
    """A character without case and, in Latin script, without accents; always exactly one."""
    base = unicodedata.normalize("NFD", character)
    if len(base) > 1 and base[0].isascii() and all(map(unicodedata.combining, base[1:])):
        character = base[0]
    lower = character.lower()
    return lower if len(lower) == 1 else character


def fold(text: str) -> str:
    """The text without case and accents, of the same length."""
    return text.lower() if text.isascii() else "".join(map(_fold_character, text))


class _CharacterClasses(dict[str, int]):
    """The class of each character, computed once."""

    def __missing__(self, character: str) -> int:
        if character in "/,:;|":
            kind = _SEPARATOR
        elif character.isnumeric():
            kind = _NUMBER
        elif character.islower():
            kind = _LOWER
        elif character.isupper():
            kind = _UPPER
        else:
            kind = _LETTER if character.isalpha() else _OTHER
        if len(self) < 65_536:
            self[character] = kind
        return kind


_CLASS = _CharacterClasses()


def compute_bonus(path: str, at: int) -> int:
    """The bonus of a letter for its position."""
    here = _CLASS[path[at]]
    before = _CLASS[path[at - 1]] if at else _SEPARATOR
    if here <= _WORD:
        if before == _SEPARATOR:
            return _AFTER_SEPARATOR
        if before == _OTHER:
            return _BOUNDARY
        if (before == _LOWER and here == _UPPER) or (here == _NUMBER and before != _NUMBER):
            return _CAMEL
        return 0
    return _BOUNDARY


def score_path(term: Term, path: str, low: str, own: int) -> tuple[int, Positions] | None:
    """The score of a word against a path and the positions of its letters; `None` if it does not match.

    Args:
        term: A word that is not negated.
        path: The path.
        low: `fold(path)`.
        own: Where the file's own name begins in it.
    """
    if not term.case:
        return _score_term(term.kind, fold(term.text), path, low, own)
    return _score_term(term.kind, term.text, path, path, own)


def is_scattered(path: str, positions: Positions) -> bool:
    """Whether letters lie apart, more often inside words than from their beginning.

    `remind` in `learnings/postgres_migrations` is; `pgmigr` is not, and no run of letters is.
    """
    begins = [positions[0], *(at for before, at in pairwise(positions) if at != before + 1)]
    return len(begins) > 1 and sum(1 if compute_bonus(path, at) else -1 for at in begins) < 0


def is_match(term: Term, path: str, low: str) -> bool:
    """Whether a word occurs; the sign of a negated one is the caller's."""
    text, where = (term.text, path) if term.case else (fold(term.text), low)
    match term.kind:
        case MatchKind.EXACT:
            return text in where
        case MatchKind.PREFIX:
            return where.startswith(text)
        case MatchKind.SUFFIX:
            return where.endswith(text)
        case MatchKind.EQUAL:
            return where == text
        case _:
            return _is_subsequence(text, where)


def _is_subsequence(text: str, where: str) -> bool:
    at = -1
    for character in text:
        at = where.find(character, at + 1)
        if at < 0:
            return False
    return True


def _score_term(kind: MatchKind, text: str, path: str, where: str, own: int) -> tuple[int, Positions] | None:
    size = len(text)
    match kind:
        case MatchKind.FUZZY:
            return _score_fuzzy(text, path, where, own)
        case MatchKind.EXACT:
            return _find_best_run(text, path, where, own)
        case MatchKind.PREFIX:
            at = 0 if where.startswith(text) else -1
        case MatchKind.SUFFIX:
            at = len(where) - size if where.endswith(text) else -1
        case MatchKind.EQUAL:
            at = 0 if where == text else -1
    return None if at < 0 else (_score_run(path, at, size, own), range(at, at + size))


def _score_run(path: str, at: int, size: int, own: int) -> int:
    first = compute_bonus(path, at)
    inherited = first if first > _RUN else _RUN
    worth = _MATCH * size + first * _FIRST + inherited * (size - 1)
    return worth + _OWN_NAME + _OWN_NAME_LETTER * size if at >= own else worth


def _find_best_run(text: str, path: str, where: str, own: int) -> tuple[int, Positions] | None:
    size, best, best_at = len(text), -1, -1
    at = where.find(text)
    while at >= 0:
        worth = _score_run(path, at, size, own)
        if worth > best:
            best, best_at = worth, at
        at = where.find(text, at + 1)
    return None if best_at < 0 else (best, range(best_at, best_at + size))


def _score_fuzzy(text: str, path: str, where: str, own: int) -> tuple[int, Positions] | None:
    run = _find_best_run(text, path, where, own)
    if run is not None:
        at = run[1][0]
        if len(text) == 1 or (at >= own and compute_bonus(path, at) >= _BOUNDARY):
            return run  # nothing beats a run at the start of a word of the file's own name
    whole = _align(text, path, where, 0, own)
    if whole is None:
        return run
    best = whole if run is None or whole[0] > run[0] else run
    if best[1][0] < own and (within := _align(text, path, where, own, own)) is not None and within[0] > best[0]:
        return within
    return best


def _align(text: str, path: str, where: str, begin: int, own: int) -> tuple[int, Positions] | None:
    """The best alignment of a word with a path from a position on.

    Dynamic programming over the letters: for each place of a letter the best score of an alignment that ends there. A
    gap costs by its length, so the best place before it is one running maximum.
    """
    places = _find_letter_ranges(text, where, begin)
    if places is None:
        return None
    # Of the letter before: worth by place, what its run's first letter earned (None where no run can go on).
    worths: list[int] = []
    firsts: list[int] = []
    ways: list[list[int]] = []
    for at in places[0]:
        earned = compute_bonus(path, at)
        worths.append(_MATCH + earned * _FIRST)
        firsts.append(earned)
    before = places[0]
    for here in places[1:]:
        next_worths: list[int] = []
        next_firsts: list[int] = []
        way: list[int] = []
        reach, reach_from, taken = -(10**9), -1, 0
        for at in here:
            while taken < len(before) and before[taken] < at - 1:
                if (worth := worths[taken] - _LONGER_GAP * before[taken]) > reach:
                    reach, reach_from = worth, taken
                taken += 1
            earned = compute_bonus(path, at)
            best, first, origin = -1, earned, -1
            if reach_from >= 0:
                gap = reach + _GAP + _LONGER_GAP * (at - 2)
                best, origin = (gap if gap > 0 else 0) + _MATCH + earned, reach_from
            if taken < len(before) and before[taken] == at - 1:
                begun = firsts[taken]
                if earned >= _BOUNDARY and earned > begun:
                    begun = earned
                run = worths[taken] + _MATCH + max(earned, begun, _RUN)
                if run >= best:
                    best, first, origin = run, begun, taken
            next_worths.append(best)
            next_firsts.append(first)
            way.append(origin)
        ways.append(way)
        worths, firsts, before = next_worths, next_firsts, here
    return _trace_alignment(places, ways, worths, own)


def _trace_alignment(
    places: list[list[int]], ways: list[list[int]], worths: list[int], own: int
) -> tuple[int, Positions] | None:
    """The best alignment, traced from its last letter back to its first."""
    best = max(range(len(worths)), key=worths.__getitem__)
    worth, positions, at = worths[best], [places[-1][best]], best
    for letter in range(len(ways) - 1, -1, -1):
        at = ways[letter][at]
        if at < 0:
            return None
        positions.append(places[letter][at])
    positions.reverse()
    return (worth + _OWN_NAME + _OWN_NAME_LETTER * len(positions) if positions[0] >= own else worth), positions


def _find_letter_ranges(text: str, where: str, begin: int) -> list[list[int]] | None:
    """Where each letter can stand so that the others have room; `None` if one cannot."""
    firsts: list[int] = []
    at = begin - 1
    for character in text:
        at = where.find(character, at + 1)
        if at < 0:
            return None
        firsts.append(at)
    places: list[list[int]] = []
    last = len(where)
    for character, first in zip(reversed(text), reversed(firsts), strict=True):
        last = where.rfind(character, first, last)
        here = [first] if first != last else [last]
        if first != last:
            at = where.find(character, first + 1, last)
            while at >= 0 and len(here) < _MOST_POSITIONS:
                here.append(at)
                at = where.find(character, at + 1, last)
            here.append(last)
        places.append(here)
    places.reverse()
    return places


# Similar names, typing errors forgiven: `migartion` finds `postgres_migrations.md`. Names are compared word by word,
# over a vocabulary with the names that hold each word: the cost is that of the distinct words.

_WORD_TYPOS = re.compile(r"[^\W\d_]+|\d+")
_CAMEL_TYPOS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHORTEST = 3
_MOST_LISTS = 16
_MOST_ALIKE = 200
_JOINED_FROM = 6
_JOINED_LIKE = 80.0


def split_words(text: str) -> list[str]:
    """The folded words of a path."""
    return _WORD_TYPOS.findall(fold(text))


class Vocabulary:
    """The words of many names; a name is a number that the caller assigns."""

    def __init__(self) -> None:
        self._own: defaultdict[str, list[int]] = defaultdict(list)
        self._first: defaultdict[str, list[int]] = defaultdict(list)
        self._folders: defaultdict[str, list[int]] = defaultdict(list)
        self._stems: list[str] = []
        self._lists: _WordLists | None = None
        self._holders: dict[str, set[int]] = {}
        """The results of `find_word_prefix`: each key asks anew for the words before it."""

    def add(self, number: int, path: str, low: str) -> None:
        """Add a path; numbers are consecutive."""
        self._holders.clear()
        known = len(self._own) + len(self._folders)
        folders, _, name = low.rpartition("/")
        for word in _WORD_TYPOS.findall(folders):
            self._folders[word].append(number)
        words = _WORD_TYPOS.findall(name)
        for word in words:
            self._own[word].append(number)
        if words and name.startswith(words[0]):
            self._first[words[0]].append(number)
        if path != low and not path.istitle():
            for run in _WORD_TYPOS.findall(path[len(path) - len(name) :]):
                if len(parts := _CAMEL_TYPOS.split(run)) > 1:
                    for part in parts:
                        self._own[fold(part)].append(number)
        self._stems.append("".join(_WORD_TYPOS.findall(name.rpartition(".")[0] or name)))
        if len(self._own) + len(self._folders) > known:
            self._lists = None

    def find_named(self, word: str) -> list[int]:
        """The files with exactly this name, without the extension."""
        return [number for number in self._first.get(word, ()) if self._stems[number] == word]

    def find_name_prefix(self, start: str) -> list[int]:
        """The files whose own name begins so."""
        return [number for word in self._known.find_prefix(start) for number in self._first.get(word, ())]

    def find_word_prefix(self, start: str) -> set[int]:
        """The files with a word in their own name that begins so."""
        if (holders := self._holders.get(start)) is None:
            holders = set().union(*(self._own[word] for word in self._known.find_prefix(start) if word in self._own))
            if len(self._holders) >= _MOST_LISTS:
                self._holders.clear()
            self._holders[start] = holders
        return holders

    @property
    def _known(self) -> "_WordLists":
        if self._lists is None:
            self._lists = _WordLists(self._own.keys() | self._folders.keys())
        return self._lists

    def find_similar(self, typed: Iterable[str]) -> dict[int, float]:
        """The names in which every word nearly occurs, each with its similarity from 0 to 1."""
        typed = [word for word in typed if word]
        if not typed or not any(len(word) >= _SHORTEST for word in typed):
            return {}
        found: dict[int, float] = {}
        for index, word in enumerate(sorted(typed, key=len, reverse=True)):
            near = self._find_with_words(self._known.find_similar(word))
            found = (
                near if not index else {number: found[number] + near[number] for number in found.keys() & near.keys()}
            )
            if not found:
                break
        found = {number: worth / len(typed) for number, worth in found.items()}
        joined = "".join(typed)
        if len(found) < 5 and len(joined) >= _JOINED_FROM:
            for number, worth in self._find_similar_stems(joined).items():
                found.setdefault(number, worth)
        return found

    def _find_with_words(self, words: Mapping[str, float]) -> dict[int, float]:
        """The names that hold one of these words, by the best of them; a word of a folder counts less."""
        found: dict[int, float] = {}
        for word, worth in sorted(words.items(), key=lambda one: one[1]):
            found.update(dict.fromkeys(self._folders.get(word, ()), worth - 0.01))
            found.update(dict.fromkeys(self._own.get(word, ()), worth))
        return found

    def _find_similar_stems(self, joined: str) -> dict[int, float]:
        """The names that are like the whole query without spaces: a missing space is a typing error as well."""
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - start-up: 30 ms

        near = process.extract(joined, self._stems, scorer=fuzz.ratio, score_cutoff=_JOINED_LIKE, limit=20)
        return {number: worth / 100 * 0.9 for _, worth, number in near}


class _WordLists:
    """The sorted words of a vocabulary, and the results for words already searched."""

    def __init__(self, words: Iterable[str]) -> None:
        self._sorted = sorted(words)
        self._numbers: list[str] = []
        self._by_length: defaultdict[int, list[str]] = defaultdict(list)
        for word in self._sorted:
            if word[0].isdecimal():
                self._numbers.append(word)
            else:
                self._by_length[len(word)].append(word)
        self._begun: dict[int, dict[str, list[str]]] = {}
        self._found: dict[str, dict[str, float]] = {}

    def find_prefix(self, start: str) -> list[str]:
        return self._sorted[bisect_left(self._sorted, start) : bisect_left(self._sorted, start + "\U0010ffff")]

    def find_similar(self, typed: str) -> dict[str, float]:
        """The words that are like one, each with its similarity from 0 to 1. Numbers have no typing errors."""
        if typed not in self._found:
            if len(self._found) > 200:
                self._found.clear()
            self._found[typed] = self._search(typed)
        return self._found[typed]

    def _search(self, typed: str) -> dict[str, float]:
        size = len(typed)
        if typed[0].isdecimal():
            return {word: 1.0 for word in self._numbers if word.startswith(typed)}
        if size < _SHORTEST:
            return dict.fromkeys(self._get_prefixes(size).get(typed, ()), 1.0)
        most = 1 if size < 6 else 2 if size < 10 else 3
        found: dict[str, float] = {}
        for length in range(size - most, size + most + 1):
            found.update(_filter_near(typed, self._by_length.get(length, ()), most))
        for length in (size, size + 1):
            beginnings = self._get_prefixes(length)
            for begun, worth in _filter_near(typed, beginnings, most):
                for word in beginnings[begun]:
                    found[word] = max(found.get(word, 0.0), worth - 0.02)
        return found

    def _get_prefixes(self, size: int) -> dict[str, list[str]]:
        """The words of at least so many letters, by these letters."""
        if size not in self._begun:
            if len(self._begun) >= _MOST_LISTS:
                self._begun.clear()
            begun: defaultdict[str, list[str]] = defaultdict(list)
            for length, words in self._by_length.items():
                if length >= size:
                    for word in words:
                        begun[word[:size]].append(word)
            self._begun[size] = dict(begun)
        return self._begun[size]


def _filter_near(typed: str, words: Collection[str], most: int) -> Iterator[tuple[str, float]]:
    """The words within an edit distance, each with its similarity."""
    from rapidfuzz import process  # noqa: PLC0415 - start-up: 30 ms
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - start-up: 30 ms

    size = len(typed)
    near = process.extract(typed, list(words), scorer=OSA.distance, score_cutoff=most, limit=_MOST_ALIKE)
    for word, distance, _ in near:
        yield word, 1 - distance / (size + 1) + (0.03 if word[0] == typed[0] else 0.0)
