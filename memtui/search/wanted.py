"""What a query asks of a text: which notes hold it, and which of their lines are shown.

A note is found if it holds every word, wherever in it. If there are lines that hold all of them, those are the ones
that are shown, as `grep` has it; if there is none, all lines that hold one, as note-taking programs have it. Notes
with such a line come first, and before them those in which the words stand side by side as they were typed. A word
that must not be there (`!word`) rules out the whole note. `^word` and `word$` are at the edges of a line.

Texts are compared as bytes of UTF-8: in a word typed without capitals, capitals do not count, and `ß` is `ss`.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from memtui.search.found import Span
from memtui.search.patterns import Pattern
from memtui.search.query import Kind, Query, Term

_PLACES = 1_000
"""Places on one line that are marked."""


class Text:
    """The text of a note, or of a version.

    Args:
        data: UTF-8.

    Attributes:
        data: As given.
        folded: The same without capitals, line by line the same lines.
        facts: What was found out about it, such as its tags.
    """

    __slots__ = ("data", "facts", "folded")

    def __init__(self, data: bytes) -> None:
        folded = folded_of(data)
        self.data = data
        self.folded = data if folded == data else folded
        self.facts: dict[str, frozenset[str]] = {}

    @property
    def decoded(self) -> str:
        """As characters."""
        return self.data.decode("utf-8", "replace")

    @property
    def weight(self) -> int:
        """Bytes that it takes."""
        return len(self.data) + (0 if self.folded is self.data else len(self.folded))


def is_text(data: bytes) -> bool:
    """Whether bytes can be read as characters."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def folded_of(data: bytes) -> bytes:
    """A text in which capitals do not count any more."""
    if data.isascii():
        return data.lower()
    return data.decode("utf-8", "replace").casefold().encode("utf-8")


class Lines(NamedTuple):
    """Which lines of a text are shown: their places, from 0, and whether each holds everything."""

    numbers: Sequence[int]
    hold_all: bool


class Needle:
    """One word, looked for in texts.

    Attributes:
        term: The word.
        negated: Whether it must not be there.
    """

    __slots__ = ("_kind", "_word", "case", "negated", "term")

    def __init__(self, term: Term) -> None:
        self.term = term
        self.negated = term.negated
        self.case = term.case
        self._kind = term.kind
        self._word = _bytes(term.text if term.case else term.text.casefold())

    @property
    def word(self) -> bytes:
        """As it is compared."""
        return self._word

    def is_in(self, text: Text) -> bool:
        """Whether it is anywhere in a text."""
        hay = text.data if self.case else text.folded
        if self._word not in hay:
            return False
        return self._kind in _ANYWHERE or any(map(self.is_on, hay.split(b"\n")))

    def is_on(self, line: bytes) -> bool:
        """Whether it is on a line, which is folded unless capitals count."""
        match self._kind:
            case Kind.PREFIX:
                return line.startswith(self._word)
            case Kind.SUFFIX:
                return line.removesuffix(b"\r").endswith(self._word)
            case Kind.EQUAL:
                return line.removesuffix(b"\r") == self._word
            case _:
                return self._word in line

    def spans(self, line: str) -> Iterator[Span]:
        """Where it stands on a line."""
        word = self.term.text if self.case else self.term.text.casefold()
        if not word:
            return
        places: Sequence[int] | None = None
        hay = line
        if not self.case:
            hay = line.casefold()
            places = None if len(hay) == len(line) else _places(line)
        for start, end in self._found(hay, word):
            yield (start, end) if places is None else (places[start], places[end - 1] + 1)

    def _found(self, hay: str, word: str) -> Iterator[Span]:
        match self._kind:
            case Kind.PREFIX | Kind.EQUAL:
                yield 0, len(word)
            case Kind.SUFFIX:
                yield len(hay) - len(word), len(hay)
            case _:
                at = hay.find(word)
                while at >= 0:
                    yield at, at + len(word)
                    at = hay.find(word, at + len(word))

    def implies(self, other: "Needle") -> bool:
        """Whether every text that this finds is found by the other one as well."""
        if self.term == other.term:
            return True
        if self.negated or other.negated or other._kind not in _ANYWHERE:
            return False
        if other.case:
            return self.case and other.term.text in self.term.text
        return other.term.text.casefold() in self.term.text.casefold()


_ANYWHERE = (Kind.FUZZY, Kind.EXACT)
Group = tuple[Needle, ...]


class Wanted:
    """A query as it is asked of texts.

    Args:
        query: The query.

    Attributes:
        query: The query.
        groups: The words, each with its alternatives.
        pattern: The regular expression; `None` if there is none.
    """

    def __init__(self, query: Query) -> None:
        self.query = query
        self.groups: tuple[Group, ...] = tuple(tuple(map(Needle, group)) for group in query.words)
        self.pattern = Pattern(query.pattern) if query.pattern else None
        self.looks_for_something = query.looks_for_something
        self._positive = tuple(
            group for group in (tuple(n for n in group if not n.negated) for group in self.groups) if group
        )

    def words_are_in(self, text: Text) -> bool:
        """Whether a text holds all words that it must, and none that it must not."""
        return all(any(needle.is_in(text) is not needle.negated for needle in group) for group in self.groups)

    @property
    def plain(self) -> tuple[Needle, ...] | None:
        """The words, where all of them have to be there, each anywhere: most queries. `None` for others."""
        if any(len(group) > 1 or group[0].negated or group[0].term.kind not in _ANYWHERE for group in self.groups):
            return None
        return tuple(group[0] for group in self.groups)

    @property
    def side_by_side(self) -> "Wanted | None":
        """Several words as they stand side by side; `None` where there is but one, or one that is not plain."""
        plain = [group[0].term for group in self._positive if len(group) == 1 and group[0].term.kind in _ANYWHERE]
        if len(plain) < 2 or len(plain) != len(self._positive):
            return None
        phrase = Term(" ".join(term.text for term in plain).lower(), Kind.EXACT)
        return Wanted(Query(terms=((phrase,),)))

    def lines_of(self, text: Text) -> Lines:
        """Which of its lines are shown, of a text that holds all words; none where the expression matches nothing."""
        if self.is_one_word:
            return Lines(_on(self._positive[0], text), True)
        found = [_on(group, text) for group in self._positive]
        if self.pattern is not None:
            matching = self._matching(text)
            if not matching:
                return Lines((), False)
            found.append(matching)
        sets = [set(each) for each in found]
        if not sets:
            return Lines((), False)
        together = set.intersection(*sets)
        return Lines(sorted(together), True) if together else Lines(sorted(set.union(*sets)), False)

    def may_be_on_a_line_of(self, text: Text) -> bool:
        """Whether some line of a text may hold all of it, at a quick look."""
        for group in self._positive:
            if not any(needle.word in (text.data if needle.case else text.folded) for needle in group):
                return False
        return self.pattern is None or bool(self._matching(text))

    @property
    def is_one_word(self) -> bool:
        """Whether there is only one thing that has to be there, so that each line that matches holds all."""
        return self.pattern is None and len(self._positive) == 1

    def spans(self, line: str) -> list[Span]:
        """Where a line matches, in order and without overlaps; of very many places the first ones."""
        spans: list[Span] = []
        for needle in chain.from_iterable(self._positive):
            if _holds(needle, line):
                spans += islice(needle.spans(line), _PLACES)
        if self.pattern is not None:
            spans += islice(self.pattern.spans(line), _PLACES)
        return _joined(spans)

    def narrows(self, groups: Sequence[Group]) -> bool:
        """Whether every text that holds these words is among those that hold the others."""
        return all(
            any(all(any(mine.implies(its) for its in other) for mine in group) for group in self.groups)
            for other in groups
        )

    def _matching(self, text: Text) -> list[int]:
        assert self.pattern is not None
        decoded = text.decoded
        if not self.pattern.may_be_in(decoded):
            return []
        lines = decoded.split("\n")
        return [at for at, line in enumerate(lines) if self.pattern.search(line.removesuffix("\r")) is not None]


def _on(group: Group, text: Text) -> list[int]:
    """The lines on which one of the alternatives is."""
    if len(group) == 1:
        needle = group[0]
        hay = text.data if needle.case else text.folded
        if needle.term.kind in _ANYWHERE:
            word = needle.word
            return [at for at, line in enumerate(hay.split(b"\n")) if word in line]
        return [at for at, line in enumerate(hay.split(b"\n")) if needle.is_on(line)]
    return sorted({at for needle in group for at in _on((needle,), text)})


def _holds(needle: Needle, line: str) -> bool:
    """Whether it is on a line; of a word that may be anywhere, looking for it tells."""
    return needle.term.kind in _ANYWHERE or needle.is_on(_bytes(line if needle.case else line.casefold()))


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _places(line: str) -> list[int]:
    """For each character of the folded line, which one of the line it comes from."""
    return [at for at, character in enumerate(line) for _ in character.casefold()]


def _bytes(text: str) -> bytes:
    """As UTF-8; what cannot be, such as half a character, as bytes that no text has."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
