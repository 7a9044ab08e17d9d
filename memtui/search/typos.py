"""Names that are like what was typed, typing errors forgiven: `migartion` finds `postgres_migrations.md`.

A name is compared word by word, since a typing error is one in a word: the words of all names are known, each with
the names that hold it. So it costs the number of different words, not the number of names, and a name in which every
word that was typed is nearly there is found however long it is.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from memtui.search.scoring import folded

_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"[^\W\d_]+?(?:(?<=[a-z])(?=[A-Z])|$)")
_SHORTEST = 3
_MOST_LISTS = 16
_MOST_ALIKE = 200
_JOINED_FROM = 6
_JOINED_LIKE = 80.0


def words_of(text: str) -> list[str]:
    """The words of a path as they are compared."""
    return _WORD.findall(folded(text))


class Vocabulary:
    """The words of many names. Names are numbers here; what they stand for is the caller's."""

    def __init__(self) -> None:
        self._own: defaultdict[str, list[int]] = defaultdict(list)
        self._first: defaultdict[str, list[int]] = defaultdict(list)
        self._folders: defaultdict[str, list[int]] = defaultdict(list)
        self._stems: list[str] = []
        self._lists: _Lists | None = None

    def add(self, number: int, path: str, low: str) -> None:
        """Take in the words of a path; numbers are given in their order, without gaps."""
        known = len(self._own) + len(self._folders)
        folders, _, name = low.rpartition("/")
        for word in _WORD.findall(folders):
            self._folders[word].append(number)
        words = _WORD.findall(name)
        for word in words:
            self._own[word].append(number)
        if words and name.startswith(words[0]):
            self._first[words[0]].append(number)
        if path != low and not path.istitle():
            for run in _WORD.findall(path[len(path) - len(name) :]):
                if len(parts := _CAMEL.findall(run)) > 1:
                    for part in parts:
                        self._own[folded(part)].append(number)
        self._stems.append("".join(_WORD.findall(name.rpartition(".")[0] or name)))
        if len(self._own) + len(self._folders) > known:
            self._lists = None

    def called(self, word: str) -> list[int]:
        """The names of files that are called exactly so, their extension left out."""
        return [number for number in self._first.get(word, ()) if self._stems[number] == word]

    def starting(self, start: str) -> list[int]:
        """The names of files whose own name begins so."""
        return [number for word in self._known.beginning(start) for number in self._first.get(word, ())]

    def beginning(self, start: str) -> set[int]:
        """The names of which a word of the file's own name begins so; a folder does not count."""
        return set().union(*(self._own[word] for word in self._known.beginning(start) if word in self._own))

    @property
    def _known(self) -> "_Lists":
        if self._lists is None:
            self._lists = _Lists(self._own.keys() | self._folders.keys())
        return self._lists

    def like(self, wanted: Iterable[str]) -> dict[int, float]:
        """The names in which every wanted word is nearly there, each with how nearly, from 0 to 1."""
        wanted = [word for word in wanted if word]
        if not wanted or not any(len(word) >= _SHORTEST for word in wanted):
            return {}
        found: dict[int, float] = {}
        for index, word in enumerate(sorted(wanted, key=len, reverse=True)):
            near = self._holding(self._known.like(word))
            found = (
                near if not index else {number: found[number] + near[number] for number in found.keys() & near.keys()}
            )
            if not found:
                break
        found = {number: worth / len(wanted) for number, worth in found.items()}
        joined = "".join(wanted)
        if len(found) < 5 and len(joined) >= _JOINED_FROM:
            for number, worth in self._stems_like(joined).items():
                found.setdefault(number, worth)
        return found

    def _holding(self, words: Mapping[str, float]) -> dict[int, float]:
        """The names that hold one of these words, by the best of them; a word of a folder counts less."""
        found: dict[int, float] = {}
        for word, worth in sorted(words.items(), key=lambda one: one[1]):
            found.update(dict.fromkeys(self._folders.get(word, ()), worth - 0.01))
            found.update(dict.fromkeys(self._own.get(word, ()), worth))
        return found

    def _stems_like(self, joined: str) -> dict[int, float]:
        """The names that are like all that was typed, run together: a missing space is a typing error as well."""
        from rapidfuzz import fuzz, process  # deferred: as above

        near = process.extract(joined, self._stems, scorer=fuzz.ratio, score_cutoff=_JOINED_LIKE, limit=20)
        return {number: worth / 100 * 0.9 for _, worth, number in near}


class _Lists:
    """The words of a vocabulary as they are looked through, and what was found in them."""

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

    def beginning(self, start: str) -> list[str]:
        """The words that begin so."""
        return self._sorted[bisect_left(self._sorted, start) : bisect_left(self._sorted, start + "\U0010ffff")]

    def like(self, wanted: str) -> dict[str, float]:
        """The words that are like one, each with how much, from 0 to 1. In a number there are no typing errors."""
        if wanted not in self._found:
            if len(self._found) > 200:
                self._found.clear()
            self._found[wanted] = self._look(wanted)
        return self._found[wanted]

    def _look(self, wanted: str) -> dict[str, float]:
        size = len(wanted)
        if wanted[0].isdecimal():
            return {word: 1.0 for word in self._numbers if word.startswith(wanted)}
        if size < _SHORTEST:
            return dict.fromkeys(self._beginnings(size).get(wanted, ()), 1.0)
        most = 1 if size < 6 else 2 if size < 10 else 3
        found: dict[str, float] = {}
        for length in range(size - most, size + most + 1):
            found.update(_near(wanted, self._by_length.get(length, ()), most))
        for length in (size, size + 1):
            beginnings = self._beginnings(length)
            for begun, worth in _near(wanted, beginnings, most):
                for word in beginnings[begun]:
                    found[word] = max(found.get(word, 0.0), worth - 0.02)
        return found

    def _beginnings(self, size: int) -> dict[str, list[str]]:
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


def _near(wanted: str, words: Collection[str], most: int) -> Iterator[tuple[str, float]]:
    """Those words that are at most so many typing errors away, each with how near it is."""
    from rapidfuzz import process  # deferred: 30 ms, which nobody waits for who makes no mistakes
    from rapidfuzz.distance import OSA

    size = len(wanted)
    near = process.extract(wanted, list(words), scorer=OSA.distance, score_cutoff=most, limit=_MOST_ALIKE)
    for word, distance, _ in near:
        yield word, 1 - distance / (size + 1) + (0.03 if word[0] == wanted[0] else 0.0)
