"""Matches of a query in texts: the notes that hold it, and the lines that are shown.

A note matches if it holds every word. Lines with all words are shown, as in `grep`; if there is none, all lines with
one word. Notes with such a line come first, and before them those with the words side by side. `!word` excludes the
whole note; `^word` and `word$` are at the edges of a line. Case counts only for words with capitals; `ß` is `ss`.
"""

import re
import time
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from memtui.core.unicode import to_one_line
from memtui.search.query import MatchKind, Query, Term
from memtui.search.results import LineHit, Span

# Regular expressions with a time limit. `re` cannot be interrupted: `(a|aa)+$` over a line of sixty letters would
# freeze the screen. So patterns parsed by `re` are matched by `regex`, which can time out; skipped lines are counted.

_A_MATCH = 0.1
"""Seconds for one attempt."""
_ALL = 3.0
"""Seconds for all attempts of a search that timed out."""
_LOOKS_AROUND = re.compile(r"\(\?(?![:imsxau-]|P<|P=)|\\[AZz]|[*+?}]\+|\\G|\\K")
"""Constructs that match a line alone differently than within its text: look-around, edges of the whole text, possessive
repeats.
"""

_PIECE = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]?|(?P<open>\()|(?P<close>\))|\{(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL
)
_HEAVIEST = 20_000
"""Characters, classes and groups of an expression with its repeats written out, as `regex` compiles it."""


class SearchPattern:
    """A regular expression with a time limit, for one search.

    Args:
        pattern: `^` and `$` are the edges of lines.
        a_match: Seconds for one attempt.
        in_all: Seconds for all attempts that time out; afterwards nothing is tried any more.

    Attributes:
        given_up: How many attempts timed out.
        problem: Why it cannot be used at all, as a sentence; empty if it can.
    """

    def __init__(self, pattern: re.Pattern[str], *, a_match: float = _A_MATCH, in_all: float = _ALL) -> None:
        import regex  # noqa: PLC0415 - start-up: 15 ms, only for `re:`

        self.problem = ""
        self.given_up = 0
        self._written = pattern.pattern
        self._seconds = a_match
        self._left = in_all
        flags = regex.VERSION0 | regex.MULTILINE | (regex.IGNORECASE if pattern.flags & re.IGNORECASE else 0)
        self._pattern: regex.Pattern[str] | None = None
        if _compute_weight(pattern.pattern) > _HEAVIEST:
            shown = to_one_line(self._written)[:60]
            self.problem = f"The regular expression after re: is too large: {shown}. Use fewer repeats"
            self._is_plain = True
            return
        try:
            self._pattern = regex.compile(pattern.pattern, flags)
        except (regex.error, OverflowError, RecursionError, ValueError) as error:
            self.problem = f"Invalid regular expression after re: {to_one_line(str(error))}"
        self._is_plain = _LOOKS_AROUND.search(pattern.pattern) is None

    @property
    def warning(self) -> str:
        """A message for the person; empty for none."""
        if self.problem or not self.given_up:
            return self.problem
        places = "1 place" if self.given_up == 1 else f"{self.given_up:,} places"
        rest = " Then the search stopped." if self._left <= 0 else ""
        shown = to_one_line(self._written)
        shown = shown if len(shown) <= 60 else shown[:59] + "…"
        return f"re:{shown} took too long at {places}, which were skipped.{rest} Avoid nested repeats."

    def may_match(self, text: str) -> bool:
        """Whether any line of a text can match: one quick attempt on all of it."""
        if not self._is_plain:
            return True
        try:
            return self._search(text) is not None
        except TimeoutError:
            return True  # line by line it may be quick enough

    def search(self, line: str) -> Span | None:
        """The first match in a line; `None` for none, or if it takes too long."""
        try:
            return self._search(line)
        except TimeoutError:
            return None

    def find_spans(self, line: str) -> Iterator[Span]:
        """All matches in a line that are not empty."""
        if self._pattern is None or self._left <= 0:
            return
        try:
            for found in self._pattern.finditer(line, timeout=self._seconds):
                if found.end() > found.start():
                    yield found.span()
        except TimeoutError:
            self._give_up(self._seconds)

    def _search(self, text: str) -> Span | None:
        if self._pattern is None or self._left <= 0:
            return None
        began = time.perf_counter()
        try:
            found = self._pattern.search(text, timeout=self._seconds)
        except TimeoutError:
            self._give_up(time.perf_counter() - began)
            raise
        return found.span() if found else None

    def _give_up(self, took: float) -> None:
        self.given_up += 1
        self._left -= took


def _compute_weight(pattern: str) -> int:
    """The size of an expression with its repeats written out: `(ab){3}` is six letters."""
    weights, last = [0], 0
    for piece in _PIECE.finditer(pattern):
        if piece["open"]:
            weights.append(0)
            last = 0
        elif piece["close"]:
            last = weights.pop() if len(weights) > 1 else 0
            weights[-1] += last
        elif piece["least"]:
            times = max(int(piece["least"][:9]), 1)
            weights[-1] += last * (times - 1)
            last *= times
        else:
            last = 1
            weights[-1] += 1
    return max(weights)


_PLACES = 1_000
"""Matches on one line that are marked."""


class SearchText:
    """The text of a note or a version, in UTF-8.

    Attributes:
        folded: The bytes without case; the lines stay the same.
        facts: Cached properties, such as its tags.
    """

    __slots__ = ("data", "facts", "folded")

    def __init__(self, data: bytes) -> None:
        folded = fold_text(data)
        self.data = data
        self.folded = data if folded == data else folded
        self.facts: dict[str, frozenset[str]] = {}

    @property
    def decoded(self) -> str:
        return self.data.decode("utf-8", "replace")

    @property
    def weight(self) -> int:
        """Bytes in memory."""
        return len(self.data) + (0 if self.folded is self.data else len(self.folded))


def is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def fold_text(data: bytes) -> bytes:
    if data.isascii():
        return data.lower()
    return data.decode("utf-8", "replace").casefold().encode("utf-8")


class MatchedLines(NamedTuple):
    """The lines of a text that are shown, from 0, and whether each holds all words."""

    numbers: Sequence[int]
    hold_all: bool


class Needle:
    """One word, looked for in texts."""

    __slots__ = ("_kind", "_text", "case", "negated", "term", "word")

    def __init__(self, term: Term) -> None:
        self.term = term
        self.negated = term.negated
        self.case = term.case
        self._kind = term.kind
        self._text = term.text if term.case else term.text.casefold()
        self.word = _encode(self._text)
        """The bytes that are compared."""

    def is_in_text(self, text: SearchText) -> bool:
        hay = text.data if self.case else text.folded
        if self.word not in hay:
            return False
        return self._kind in _ANYWHERE or any(map(self.is_on_line, hay.split(b"\n")))

    def is_on_line(self, line: bytes) -> bool:
        """Whether it is on a line, which is folded unless case counts."""
        match self._kind:
            case MatchKind.PREFIX:
                return line.startswith(self.word)
            case MatchKind.SUFFIX:
                return line.removesuffix(b"\r").endswith(self.word)
            case MatchKind.EQUAL:
                return line.removesuffix(b"\r") == self.word
            case _:
                return self.word in line

    def find_spans(self, line: str) -> list[Span]:
        """The places on a line, in order; of very many the first ones."""
        word = self._text
        if not word:
            return []
        hay = line if self.case else line.casefold()
        spans = self._find_places(hay, word)
        if len(hay) == len(line):
            return spans
        origins = [at for at, character in enumerate(line) for _ in character.casefold()]
        return [(origins[start], origins[end - 1] + 1) for start, end in spans]

    def _find_places(self, hay: str, word: str) -> list[Span]:
        size = len(word)
        match self._kind:
            case MatchKind.PREFIX | MatchKind.EQUAL:
                return [(0, size)]
            case MatchKind.SUFFIX:
                return [(len(hay) - size, len(hay))]
        spans: list[Span] = []
        at = hay.find(word)
        while at >= 0 and len(spans) < _PLACES:
            spans.append((at, at + size))
            at = hay.find(word, at + size)
        return spans

    def implies(self, other: "Needle") -> bool:
        """Whether every text that matches this word matches the other one as well."""
        if self.term == other.term:
            return True
        if self.negated or other.negated or other._kind not in _ANYWHERE:
            return False
        if other.case:
            return self.case and other.term.text in self.term.text
        return other.term.text.casefold() in self.term.text.casefold()


_ANYWHERE = (MatchKind.FUZZY, MatchKind.EXACT)
Group = tuple[Needle, ...]


class QueryMatcher:
    """A query, compiled for texts.

    Attributes:
        groups: The words, each with its alternatives.
    """

    def __init__(self, query: Query) -> None:
        self.query = query
        self.groups: tuple[Group, ...] = tuple(tuple(map(Needle, group)) for group in query.text_terms)
        self.pattern = SearchPattern(query.pattern) if query.pattern else None
        self.looks_for_something = query.has_positive_terms
        self._positive = tuple(
            group for group in (tuple(n for n in group if not n.negated) for group in self.groups) if group
        )
        self._only = self._positive[0][0] if self.is_one_word and len(self._positive[0]) == 1 else None

    def has_words(self, text: SearchText) -> bool:
        """Whether a text holds all words that it must, and none that it must not."""
        return all(any(needle.is_in_text(text) is not needle.negated for needle in group) for group in self.groups)

    @property
    def plain(self) -> tuple[Needle, ...] | None:
        """The words, if all must occur and each may occur anywhere, as in most queries; else `None`."""
        if any(len(group) > 1 or group[0].negated or group[0].term.kind not in _ANYWHERE for group in self.groups):
            return None
        return tuple(group[0] for group in self.groups)

    @property
    def side_by_side(self) -> "QueryMatcher | None":
        """The words as one phrase; `None` for a single word, or one that is not plain."""
        plain = [group[0].term for group in self._positive if len(group) == 1 and group[0].term.kind in _ANYWHERE]
        if len(plain) < 2 or len(plain) != len(self._positive):
            return None
        phrase = Term(" ".join(term.text for term in plain).lower(), MatchKind.EXACT)
        return QueryMatcher(Query(terms=((phrase,),)))

    def find_lines(self, text: SearchText) -> MatchedLines:
        """The lines to show of a text that holds all words; none where the expression does not match."""
        if self.is_one_word:
            return MatchedLines(_find_term_lines(self._positive[0], text), True)
        found = [_find_term_lines(group, text) for group in self._positive]
        if self.pattern is not None:
            matching = self._find_pattern_lines(text)
            if not matching:
                return MatchedLines((), False)
            found.append(matching)
        sets = [set(each) for each in found]
        if not sets:
            return MatchedLines((), False)
        together = set.intersection(*sets)
        return MatchedLines(sorted(together), True) if together else MatchedLines(sorted(set.union(*sets)), False)

    def may_have_line(self, text: SearchText) -> bool:
        """Whether a line of a text may hold everything: a quick test."""
        if (only := self._only) is not None:
            return only.word in (text.data if only.case else text.folded)
        texts = {True: text.data, False: text.folded}
        if not all(any(needle.word in texts[needle.case] for needle in group) for group in self._positive):
            return False
        return self.pattern is None or bool(self._find_pattern_lines(text))

    @property
    def is_one_word(self) -> bool:
        """Whether each line that matches holds everything."""
        return self.pattern is None and len(self._positive) == 1

    def find_spans(self, line: str) -> list[Span]:
        """The matches in a line, in order and without overlaps; of very many the first ones."""
        spans: list[Span] = []
        for needle in chain.from_iterable(self._positive):
            if _is_on_line(needle, line):
                spans += needle.find_spans(line)
        if self.pattern is not None:
            spans += islice(self.pattern.find_spans(line), _PLACES)
        return _merge_spans(spans)

    def is_narrower_than(self, groups: Sequence[Group]) -> bool:
        """Whether every text that matches these words matches the others."""
        return all(
            any(all(any(mine.implies(its) for its in other) for mine in group) for group in self.groups)
            for other in groups
        )

    def _find_pattern_lines(self, text: SearchText) -> list[int]:
        assert self.pattern is not None
        decoded = text.decoded
        if not self.pattern.may_match(decoded):
            return []
        lines = decoded.split("\n")
        return [at for at, line in enumerate(lines) if self.pattern.search(line.removesuffix("\r")) is not None]


def _find_term_lines(group: Group, text: SearchText) -> list[int]:
    if len(group) == 1:
        needle = group[0]
        hay = text.data if needle.case else text.folded
        if needle.term.kind in _ANYWHERE:
            word = needle.word
            return [at for at, line in enumerate(hay.split(b"\n")) if word in line]
        return [at for at, line in enumerate(hay.split(b"\n")) if needle.is_on_line(line)]
    return sorted({at for needle in group for at in _find_term_lines((needle,), text)})


def _is_on_line(needle: Needle, line: str) -> bool:
    return needle.term.kind in _ANYWHERE or needle.is_on_line(_encode(line if needle.case else line.casefold()))


def _merge_spans(spans: list[Span]) -> list[Span]:
    if len(spans) < 2:
        return spans
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _encode(text: str) -> bytes:
    """UTF-8; a lone surrogate becomes bytes that no text has."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


# Excerpts: a long line is cut around its match.

_BEFORE, _BEHIND = 40, 200
"""Characters of a long line that are shown before the first match, and behind where it begins."""
_CUT = "…"


def build_line_hit(number: int, line: str, matcher: QueryMatcher, *, whole: bool = False) -> LineHit:
    """A line with its matches.

    Args:
        number: From 1.
        line: Without its end.
        matcher: The query.
        whole: Whether a long line is not cut.
    """
    line = line.removesuffix("\r")
    spans = matcher.find_spans(line)
    first = spans[0][0] if spans else 0
    if whole or len(line) <= _BEFORE + _BEHIND:
        return LineHit(number, line, tuple(spans), first + 1)
    start = max(0, min(first - _BEFORE, len(line) - _BEFORE - _BEHIND))
    end = min(len(line), start + _BEFORE + _BEHIND)
    shown = f"{_CUT if start else ''}{line[start:end]}{_CUT if end < len(line) else ''}"
    shift = start - (1 if start else 0)
    return LineHit(number, shown, tuple(_clip_spans(spans, start, end, shift)), first + 1)


def _clip_spans(spans: list[Span], start: int, end: int, shift: int) -> list[Span]:
    return [
        (max(begin, start) - shift, min(stop, end) - shift) for begin, stop in spans if stop > start and begin < end
    ]
