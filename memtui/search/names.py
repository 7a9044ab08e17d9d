"""The names of a folder, found as they are typed: letters in order as fzf finds them, then typing errors forgiven.

A hundred thousand names are found between two key presses. Which names match at all is decided for all of them, by
functions that run over whole lists; a query that narrows an earlier one goes on from what that found. How well a name
matches is worked out only for those that can be among the best: first those in which the words begin, then the rest.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from operator import contains

from memtui.search import scoring
from memtui.search.found import NameHit, NamesFound, Span
from memtui.search.patterns import Pattern
from memtui.search.query import Alternatives, Kind, Query, Term
from memtui.search.scoring import folded
from memtui.search.stopping import Stop, Stopped, never
from memtui.search.typos import Vocabulary, words_of

_SCORED = 400
"""Names that are scored at most, if no more are asked for."""
_KEPT = 12
"""Earlier queries whose names are kept."""
_WORTH_IT = 0.4
"""Where an earlier query found more than this part of all names, all are looked through again: that is as quick."""
_SAMPLE = 1_024
"""Names out of very many whose times are looked at to know which times are late ones."""
_ASKED = 4_096
"""Names after which it is asked whether anybody still waits."""
_SIMILAR = 20
_SIMILAR_LOOKED_AT = 400
_SIMILAR_UP_TO = 1_000
"""Where so many names match as typed, nobody has made a mistake."""
_BREAKS = str.maketrans(dict.fromkeys(" _-./,:;|()[]{}'\"+=#@&~!", "\0"))
_GONE = "\n"
"""What stands in the place of a name that has gone; no word matches it."""

Recency = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What an earlier query found, before its filters.

    Attributes:
        terms: Its words.
        numbers: The names that match them.
        upto: How many names there were.
    """

    terms: tuple[Alternatives, ...]
    numbers: Sequence[int]
    upto: int


class Names:
    """All paths of a folder. For one thread at a time.

    Args:
        paths: Paths of files, relative to the folder.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._begin(dict.fromkeys(paths))

    def _begin(self, paths: Iterable[str]) -> None:
        self._paths: list[str] = []
        self._low: list[str] = []
        self._starts: list[str] = []
        self._number: dict[str, int] = {}
        self._vocabulary = Vocabulary()
        self._earlier: list[_Earlier] = []
        for path in paths:
            self.add(path)

    def __len__(self) -> int:
        return len(self._number)

    def __contains__(self, path: object) -> bool:
        return path in self._number

    def add(self, path: str) -> None:
        """Take in a path."""
        if path in self._number:
            return
        number = self._number[path] = len(self._paths)
        low = folded(path)
        self._paths.append(path)
        self._low.append(low)
        self._starts.append("\0" + low.rpartition("/")[2].translate(_BREAKS))
        self._vocabulary.add(number, path, low)

    def remove(self, path: str) -> None:
        """Forget a path."""
        number = self._number.pop(path, None)
        if number is None:
            return
        self._paths[number] = self._low[number] = self._starts[number] = _GONE
        if len(self._paths) > 2 * len(self._number) + 1_000:
            self._begin(list(self._number))

    def find(
        self,
        query: Query,
        *,
        limit: int = 200,
        recency: Recency = lambda _: 0,
        accept: Callable[[str], bool] | None = None,
        stop: Stop = never,
    ) -> NamesFound:
        """The names that match, best first.

        Args:
            query: What to look for. Without words all names that are accepted are found, the newest first.
            limit: The most hits to give.
            recency: When a path changed last; more is later. It decides between names that match equally well.
            accept: Says whether a path passes the filters; `None` for all.
            stop: Says whether nobody waits for it any more.

        Raises:
            Stopped: Nobody waits for it any more.
        """
        numbers = self._matching(query.terms, stop)
        pattern = Pattern(query.pattern) if query.pattern is not None else None
        if pattern is not None:
            numbers = self._kept(numbers, lambda path: pattern.search(path) is not None, stop)
        if accept is not None:
            numbers = self._kept(numbers, accept, stop)
        total = len(numbers)
        is_plain = pattern is None and accept is None
        promising = self._promising(numbers, query, limit, recency, is_plain=is_plain, stop=stop)
        best = self._scored(promising, query, pattern, stop)
        best.sort(key=lambda hit: (-hit.score, not _is_whole(hit), -recency(hit.path), len(hit.path), hit.path))
        similar: tuple[NameHit, ...] = ()
        if total < _SIMILAR_UP_TO and pattern is None:
            similar = self._similar(query, set(numbers), recency, accept, stop)
        return NamesFound(tuple(best[:limit]), similar, total)

    # Which names match at all

    def _matching(self, terms: tuple[Alternatives, ...], stop: Stop) -> Sequence[int]:
        """The names that match all words, going on from the narrowest earlier query that these words narrow."""
        begin = min(
            (earlier for earlier in self._earlier if _narrows(terms, earlier.terms)),
            key=lambda earlier: len(earlier.numbers),
            default=None,
        )
        numbers: Sequence[int] = range(len(self._paths))
        left = terms
        if begin is not None and (len(begin.numbers) < len(numbers) * _WORTH_IT or begin.terms == terms):
            numbers = [*begin.numbers, *range(begin.upto, len(self._paths))]
            if begin.upto == len(self._paths):
                left = tuple(group for group in terms if group not in begin.terms)
        for group in sorted(left, key=_cost):
            if stop():
                raise Stopped("The search was stopped.")
            numbers = self._of_group(group, numbers)
        if len(self._number) < len(self._paths):
            numbers = [number for number in numbers if self._low[number] is not _GONE]
        if terms:
            self._earlier = [earlier for earlier in self._earlier if earlier.terms != terms][-_KEPT:]
            self._earlier.append(_Earlier(terms, numbers, len(self._paths)))
        return numbers

    def _of_group(self, group: Alternatives, numbers: Sequence[int]) -> Sequence[int]:
        """The names among some that match one word out of alternatives."""
        if len(group) == 1:
            return self._of_term(group[0], numbers)
        found = set[int]().union(*(self._of_term(term, numbers) for term in group))
        return [number for number in numbers if number in found]

    def _of_term(self, term: Term, numbers: Sequence[int]) -> Sequence[int]:
        """The names among some that match a word."""
        if term.negated:
            there = set(self._of_term(Term(term.text, term.kind, case=term.case), numbers))
            return [number for number in numbers if number not in there]
        text = folded(term.text)
        lows = self._of(self._low, numbers)
        match term.kind:
            case Kind.PREFIX:
                found = [number for number, low in zip(numbers, lows, strict=True) if low.startswith(text)]
            case Kind.SUFFIX:
                found = [number for number, low in zip(numbers, lows, strict=True) if low.endswith(text)]
            case Kind.EQUAL:
                found = [number for number, low in zip(numbers, lows, strict=True) if low == text]
            case Kind.FUZZY if len(text) > 1:
                found = _in_order(text, lows, numbers)
            case _:
                found = list(compress(numbers, map(contains, lows, repeat(text))))
        if term.case:
            found = [number for number in found if scoring.matches(term, self._paths[number], self._low[number])]
        return found

    def _kept(self, numbers: Sequence[int], accept: Callable[[str], bool], stop: Stop) -> Sequence[int]:
        kept: list[int] = []
        for begin in range(0, len(numbers), _ASKED):
            if stop():
                raise Stopped("The search was stopped.")
            part = numbers[begin : begin + _ASKED]
            kept += [number for number in part if accept(self._paths[number])]
        return kept

    # How well they match

    def _promising(
        self, numbers: Sequence[int], query: Query, limit: int, recency: Recency, *, is_plain: bool, stop: Stop
    ) -> Sequence[int]:
        """The names that can be among the best, so many that it does not matter which others were left out.

        They are taken by what can be seen at once: in which the words begin the file's own name, begin words of it,
        are its initials, are a run of letters. Within such a class the newest are taken.

        Args:
            numbers: The names that match.
            query: What they match.
            limit: How many hits are wanted.
            recency: When a path changed last.
            is_plain: Whether nothing but the words of the query decides on what matches.
            stop: Says whether nobody waits for it any more.
        """
        room = max(limit, _SCORED)
        words = [folded(group[0].text) for group in query.terms if not group[0].negated]
        if len(numbers) <= room or not words:
            return self._newest(numbers, room, recency)
        chosen: dict[int, None] = {}
        for those in self._classes(words, numbers, query if is_plain else None):
            if stop():
                raise Stopped("The search was stopped.")
            further = [number for number in those if number not in chosen] if chosen else those
            chosen.update(dict.fromkeys(self._newest(further, room - len(chosen), recency)))
            if len(chosen) >= room:
                break
        return list(chosen)

    def _classes(self, words: Sequence[str], numbers: Sequence[int], plain: Query | None) -> Iterator[Sequence[int]]:
        """The names that can be good by one sign after the other, the surest first; the last class is all.

        Args:
            words: The words.
            numbers: The names that match.
            plain: The query, where every name that holds its words is among these names.
        """
        vocabulary, is_one = self._vocabulary, len(words) == 1
        if is_one and words_of(words[0]) == [words[0]]:
            is_sure = plain is not None and _is_simple(plain)
            yield self._among(numbers, vocabulary.called(words[0]), is_sure)
            yield self._among(numbers, vocabulary.starting(words[0]), is_sure)
            yield self._among(numbers, vocabulary.beginning(words[0]), is_sure)
        else:
            begun = self._with_words(words, numbers)
            first = tuple("\0" + word.translate(_BREAKS) for word in words)
            yield [number for number in begun if self._starts[number].startswith(first)]
            yield begun
        if is_one and 1 < len(words[0]) < 5:
            initials = re.compile("[^\0]*+".join(f"\0{re.escape(letter)}" for letter in words[0])).search
            yield list(compress(numbers, map(initials, self._of(self._starts, numbers))))
        if not is_one or len(words[0]) > 1:
            yield self._with_all(words, self._low, numbers)
        yield numbers

    def _among(self, numbers: Sequence[int], some: Collection[int], is_sure: bool) -> Sequence[int]:
        """Those of the names that match which are among some others; all of those, if they match for sure."""
        if is_sure:
            return [number for number in some if self._low[number] is not _GONE]
        if not some:
            return ()
        some = set(some)
        return [number for number in numbers if number in some]

    def _with_words(self, words: Sequence[str], numbers: Sequence[int]) -> Sequence[int]:
        """Those of some names in which all words begin words of the file's own name."""
        begun: set[int] | None = None
        for word in words:
            parts = words_of(word)
            if not parts:
                return ()
            for part in parts:
                holders = self._vocabulary.beginning(part)
                begun = holders if begun is None else begun & holders
        return self._among(numbers, begun or (), is_sure=False)

    def _of(self, values: list[str], numbers: Sequence[int]) -> Sequence[str]:
        """What is kept of each of some names."""
        return values if len(numbers) == len(values) else list(map(values.__getitem__, numbers))

    def _with_all(self, parts: Sequence[str], values: list[str], numbers: Sequence[int]) -> Sequence[int]:
        """Those of some names in whose values all parts are."""
        for part in sorted(parts, key=len, reverse=True):
            numbers = list(compress(numbers, map(contains, self._of(values, numbers), repeat(part))))
        return numbers

    def _newest(self, numbers: Sequence[int], most: int, recency: Recency) -> Sequence[int]:
        """So many of some names, those that changed last."""
        if len(numbers) <= most:
            return numbers
        times = list(map(recency, map(self._paths.__getitem__, numbers)))
        some = sorted(times[:: max(1, len(times) // _SAMPLE)])
        enough = some[max(0, len(some) - 8 - len(some) * most * 4 // (3 * len(times)))]
        newest = [(-time, number) for number, time in zip(numbers, times, strict=True) if time > enough]
        if len(newest) < most:
            newest += [(-time, number) for number, time in zip(numbers, times, strict=True) if time == enough]
        if len(newest) < most:
            newest = [(-time, number) for number, time in zip(numbers, times, strict=True)]
        newest.sort()
        return [number for _, number in newest[:most]]

    def _scored(self, numbers: Sequence[int], query: Query, pattern: Pattern | None, stop: Stop) -> list[NameHit]:
        hits: list[NameHit] = []
        groups = [[term for term in group if not term.negated] for group in query.terms]
        for count, number in enumerate(numbers):
            if not count % 64 and stop():
                raise Stopped("The search was stopped.")
            path, low = self._paths[number], self._low[number]
            own = path.rfind("/") + 1
            worth, places = 0, list[int]()
            for group in groups:
                if found := max(
                    filter(None, (scoring.score(term, path, low, own) for term in group)),
                    key=lambda one: one[0],
                    default=None,
                ):
                    worth += found[0]
                    places += found[1]
            if pattern is not None and (run := pattern.search(path)):
                places += range(*run)
            hits.append(NameHit(path, _spans(places), float(worth)))
        return hits

    # What is like them

    def _similar(
        self,
        query: Query,
        found: set[int],
        recency: Recency,
        accept: Callable[[str], bool] | None,
        stop: Stop,
    ) -> tuple[NameHit, ...]:
        """The names that are like what was typed and do not hold it."""
        if any(len(group) > 1 for group in query.terms):
            return ()
        positive = [group[0] for group in query.terms if not group[0].negated]
        if not positive or any(term.kind is not Kind.FUZZY for term in positive):
            return ()  # who asks for exactly this gets exactly this
        if stop():
            raise Stopped("The search was stopped.")
        near = self._vocabulary.like(word for term in positive for word in words_of(term.text))
        leave_out = [group[0] for group in query.terms if group[0].negated]
        hits: list[NameHit] = []
        for number, worth in sorted(near.items(), key=lambda one: -one[1]):
            if len(hits) >= _SIMILAR and (worth < hits[-1].score or len(hits) >= _SIMILAR_LOOKED_AT):
                break
            path, low = self._paths[number], self._low[number]
            is_out = number in found or low is _GONE or any(scoring.matches(term, path, low) for term in leave_out)
            if not is_out and (accept is None or accept(path)):
                hits.append(NameHit(path, (), worth))
        hits.sort(key=lambda hit: (-hit.score, -recency(hit.path), len(hit.path), hit.path))
        return tuple(hits[:_SIMILAR])


def _in_order(text: str, lows: Sequence[str], numbers: Sequence[int]) -> list[int]:
    """The names that hold the letters in their order: those whose longest common subsequence with them is all."""
    from rapidfuzz import process  # deferred: 30 ms, which the first paint does not wait for
    from rapidfuzz.distance import LCSseq

    found = process.extract_iter(text, lows, scorer=LCSseq.similarity, score_cutoff=len(text))
    return [numbers[index] for _, _, index in found]


def _cost(group: Alternatives) -> tuple[bool, bool, int]:
    """What is looked for first: what leaves the fewest names for the others."""
    term = group[0]
    return (len(group) > 1, term.negated, -len(term.text))


def _is_simple(query: Query) -> bool:
    """Whether every name that holds the letters of its one word in a run matches for sure."""
    if len(query.terms) != 1 or len(query.terms[0]) != 1:
        return False
    term = query.terms[0][0]
    return term.kind in (Kind.FUZZY, Kind.EXACT) and not term.case and not term.negated


def _narrows(terms: tuple[Alternatives, ...], earlier: tuple[Alternatives, ...]) -> bool:
    """Whether all that match these words match the earlier ones for sure."""
    return all(any(_implies(group, other) for group in terms) for other in earlier)


def _implies(group: Alternatives, other: Alternatives) -> bool:
    if group == other:
        return True
    if len(group) > 1 or len(other) > 1:
        return False
    now, then = group[0], other[0]
    if now.negated or then.negated or (then.case and not now.case):
        return False
    new, old = (now.text, then.text) if then.case else (folded(now.text), folded(then.text))
    match then.kind:
        case Kind.FUZZY:
            letters = iter(new)
            return all(letter in letters for letter in old)
        case Kind.EXACT:
            return now.kind is not Kind.FUZZY and old in new
        case Kind.PREFIX:
            return now.kind in (Kind.PREFIX, Kind.EQUAL) and new.startswith(old)
        case Kind.SUFFIX:
            return now.kind in (Kind.SUFFIX, Kind.EQUAL) and new.endswith(old)
        case _:
            return False


def _is_whole(hit: NameHit) -> bool:
    """Whether the match is the file's own name, with or without its extension."""
    own = hit.path.rfind("/") + 1
    dot = hit.path.rfind(".")
    return len(hit.spans) == 1 and hit.spans[0] in ((own, dot), (own, len(hit.path)))


def _spans(places: Iterable[int]) -> tuple[Span, ...]:
    """Positions as runs."""
    spans: list[Span] = []
    for place in sorted(set(places)):
        if spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return tuple(spans)
