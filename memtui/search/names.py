"""The index of names, searched while they are typed: subsequences as in fzf, then with typing errors.

A hundred thousand names are found between two key presses. Which names match at all is decided for all of them, by
functions that run over whole lists; a query that narrows an earlier one goes on from what that found. How well a name
matches is worked out only for those that can be among the best: first those in which the words begin, then the rest.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import chain, compress, repeat
from operator import contains

from memtui.core.lazy_dataclass import dataclass
from memtui.search import fuzzy
from memtui.search.fuzzy import Positions, Vocabulary, fold, split_words
from memtui.search.matcher import SearchPattern
from memtui.search.query import Alternatives, MatchKind, Query, Term
from memtui.search.results import NameHit, NameResults, Span, Stop, check_cancelled, never_stop

_SCORED = 400
"""Names that are scored at most, if no more are asked for."""
_KEPT = 12
"""Earlier queries whose matches are kept."""
_WORTH_IT = 0.4
"""Share of all names above which an earlier query saves no time."""
_SAMPLE = 1_024
"""Names whose times are sampled to find a threshold of recency."""
_ASKED = 4_096
"""Names between two checks for cancellation."""
_SIMILAR = 20
_SIMILAR_LOOKED_AT = 400
_SIMILAR_UP_TO = 1_000
"""Matches above which no typing error is assumed."""
_BREAKS = str.maketrans(dict.fromkeys(" _-./,:;|()[]{}'\"+=#@&~!", "\0"))
_GONE = "\n"
"""Placeholder for a removed name; no word matches it."""

Recency = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class _EarlierNameQuery:
    """The matches of an earlier query before its filters; `upto` is how many names there were."""

    terms: tuple[Alternatives, ...]
    numbers: Sequence[int]
    upto: int


class NameIndex:
    """All paths of a folder, relative to it. Not thread-safe."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._reset(dict.fromkeys(paths))

    def _reset(self, paths: Iterable[str]) -> None:
        self._paths: list[str] = []
        self._low: list[str] = []
        self._starts: list[str] = []
        self._number: dict[str, int] = {}
        self._vocabulary = Vocabulary()
        self._earlier: list[_EarlierNameQuery] = []
        for path in paths:
            self.add(path)

    def __len__(self) -> int:
        return len(self._number)

    def __contains__(self, path: object) -> bool:
        return path in self._number

    def add(self, path: str) -> None:
        if path in self._number:
            return
        number = self._number[path] = len(self._paths)
        low = fold(path)
        self._paths.append(path)
        self._low.append(low)
        self._starts.append("\0" + low.rpartition("/")[2].translate(_BREAKS))
        self._vocabulary.add(number, path, low)

    def remove(self, path: str) -> None:
        number = self._number.pop(path, None)
        if number is None:
            return
        self._paths[number] = self._low[number] = self._starts[number] = _GONE
        if len(self._paths) > 2 * len(self._number) + 1_000:
            self._reset(list(self._number))

    def find(
        self,
        query: Query,
        *,
        limit: int = 200,
        recency: Recency | None = None,
        accept: Callable[[str], bool] | None = None,
        stop: Stop = never_stop,
    ) -> NameResults:
        """The names that match, best first.

        Args:
            query: Without words all names that are accepted are found, the newest first.
            limit: Most hits.
            recency: When a path changed last; decides between equally good names. `None` if nobody knows.
            accept: Whether a path passes the filters; `None` for all.
            stop: Asked now and then whether to give up.

        Raises:
            SearchCancelled: By `stop`.
        """
        if not self._number:
            return NameResults()
        numbers = self._find_matching(query.terms, stop)
        pattern = SearchPattern(query.pattern) if query.pattern is not None else None
        if pattern is not None:
            numbers = self._filter_accepted(numbers, lambda path: pattern.search(path) is not None, stop)
        if accept is not None:
            numbers = self._filter_accepted(numbers, accept, stop)
        total = len(numbers)
        is_plain = pattern is None and accept is None
        promising = self._select_candidates(numbers, query, limit, recency, is_plain=is_plain, stop=stop)
        best = self._score(promising, query, pattern, stop)
        when = recency or _never
        best.sort(key=lambda hit: (-hit.score, not _is_whole_name(hit), -when(hit.path), len(hit.path), hit.path))
        similar: tuple[NameHit, ...] = ()
        if total < _SIMILAR_UP_TO and pattern is None:
            similar = self._find_similar(query, set(numbers), when, accept, stop)
        return NameResults(tuple(best[:limit]), similar, total)

    def _find_matching(self, terms: tuple[Alternatives, ...], stop: Stop) -> Sequence[int]:
        """The names that match all words, starting from the narrowest earlier query that is wider."""
        begin = min(
            (earlier for earlier in self._earlier if _is_narrower(terms, earlier.terms)),
            key=lambda earlier: len(earlier.numbers),
            default=None,
        )
        numbers: Sequence[int] = range(len(self._paths))
        left = terms
        if begin is not None and (len(begin.numbers) < len(numbers) * _WORTH_IT or begin.terms == terms):
            numbers = [*begin.numbers, *range(begin.upto, len(self._paths))]
            if begin.upto == len(self._paths):
                left = tuple(group for group in terms if group not in begin.terms)
        for group in sorted(left, key=_estimate_cost):
            check_cancelled(stop)
            numbers = self._filter_by_group(group, numbers)
        if len(self._number) < len(self._paths):
            numbers = [number for number in numbers if self._low[number] is not _GONE]
        if terms:
            self._earlier = [earlier for earlier in self._earlier if earlier.terms != terms][-_KEPT:]
            self._earlier.append(_EarlierNameQuery(terms, numbers, len(self._paths)))
        return numbers

    def _filter_by_group(self, group: Alternatives, numbers: Sequence[int]) -> Sequence[int]:
        """The names that match one word out of alternatives."""
        if len(group) == 1:
            return self._filter_by_term(group[0], numbers)
        found = set[int]().union(*(self._filter_by_term(term, numbers) for term in group))
        return [number for number in numbers if number in found]

    def _filter_by_term(self, term: Term, numbers: Sequence[int]) -> Sequence[int]:
        if term.negated:
            there = set(self._filter_by_term(Term(term.text, term.kind, case=term.case), numbers))
            return [number for number in numbers if number not in there]
        text = fold(term.text)
        lows = self._get_values(self._low, numbers)
        match term.kind:
            case MatchKind.PREFIX | MatchKind.SUFFIX | MatchKind.EQUAL as kind:
                is_match = {MatchKind.PREFIX: str.startswith, MatchKind.SUFFIX: str.endswith}.get(kind, str.__eq__)
                found = [number for number, low in zip(numbers, lows, strict=True) if is_match(low, text)]
            case MatchKind.FUZZY if len(text) > 1:
                found = _filter_subsequences(text, lows, numbers)
            case _:
                found = list(compress(numbers, map(contains, lows, repeat(text))))
        if term.case:
            found = [number for number in found if fuzzy.is_match(term, self._paths[number], self._low[number])]
        return found

    def _filter_accepted(self, numbers: Sequence[int], accept: Callable[[str], bool], stop: Stop) -> Sequence[int]:
        kept: list[int] = []
        for begin in range(0, len(numbers), _ASKED):
            check_cancelled(stop)
            part = numbers[begin : begin + _ASKED]
            kept += [number for number in part if accept(self._paths[number])]
        return kept

    def _select_candidates(
        self, numbers: Sequence[int], query: Query, limit: int, recency: Recency | None, *, is_plain: bool, stop: Stop
    ) -> Sequence[int]:
        """The names that can be among the best, by class of match, and within a class the newest."""
        room = max(limit, _SCORED)
        words = [fold(group[0].text) for group in query.terms if not group[0].negated]
        if len(numbers) <= room or not words:
            return self._select_newest(numbers, room, recency)
        chosen: dict[int, None] = {}
        for those in self._iter_candidate_classes(words, numbers, query if is_plain else None):
            check_cancelled(stop)
            further = [number for number in those if number not in chosen] if chosen else those
            chosen.update(dict.fromkeys(self._select_newest(further, room - len(chosen), recency)))
            if len(chosen) >= room:
                break
        return list(chosen)

    def _iter_candidate_classes(
        self, words: Sequence[str], numbers: Sequence[int], plain: Query | None
    ) -> Iterator[Sequence[int]]:
        """The names by decreasing quality of match; the last class is all.

        Args:
            words: The folded words.
            numbers: The names that match.
            plain: The query, where no filter or pattern narrows `numbers`.
        """
        vocabulary, is_one = self._vocabulary, len(words) == 1
        if is_one and split_words(words[0]) == [words[0]]:
            is_sure = plain is not None and _is_simple(plain)
            yield self._intersect(numbers, vocabulary.find_named(words[0]), is_sure)
            yield self._intersect(numbers, vocabulary.find_name_prefix(words[0]), is_sure)
            yield self._intersect(numbers, vocabulary.find_word_prefix(words[0]), is_sure)
        else:
            begun = self._filter_by_word_starts(words, numbers)
            first = tuple("\0" + word.translate(_BREAKS) for word in words)
            yield [number for number in begun if self._starts[number].startswith(first)]
            yield begun
        if is_one and 1 < len(words[0]) < 5:
            initials = re.compile("[^\0]*+".join(f"\0{re.escape(letter)}" for letter in words[0])).search
            yield list(compress(numbers, map(initials, self._get_values(self._starts, numbers))))
        if not is_one or len(words[0]) > 1:
            yield self._filter_by_parts(words, self._low, numbers)
        yield numbers

    def _intersect(self, numbers: Sequence[int], some: Collection[int], is_sure: bool) -> Sequence[int]:
        """Those of the names that match which are among some others; all of those, if `is_sure`."""
        if is_sure:
            has_gone = len(self._number) < len(self._paths)
            return [number for number in some if self._low[number] is not _GONE] if has_gone else list(some)
        if not some:
            return ()
        some = set(some)
        return [number for number in numbers if number in some]

    def _filter_by_word_starts(self, words: Sequence[str], numbers: Sequence[int]) -> Sequence[int]:
        """The names in which all words begin words of the file's own name."""
        begun: set[int] | None = None
        for word in words:
            parts = split_words(word)
            if not parts:
                return ()
            for part in parts:
                holders = self._vocabulary.find_word_prefix(part)
                begun = holders if begun is None else begun & holders
        return self._intersect(numbers, begun or (), is_sure=False)

    def _get_values(self, values: list[str], numbers: Sequence[int]) -> Sequence[str]:
        return values if len(numbers) == len(values) else list(map(values.__getitem__, numbers))

    def _filter_by_parts(self, parts: Sequence[str], values: list[str], numbers: Sequence[int]) -> Sequence[int]:
        """The names whose values hold all parts."""
        for part in sorted(parts, key=len, reverse=True):
            numbers = list(compress(numbers, map(contains, self._get_values(values, numbers), repeat(part))))
        return numbers

    def _select_newest(self, numbers: Sequence[int], most: int, recency: Recency | None) -> Sequence[int]:
        if len(numbers) <= most:
            return numbers
        if recency is None:
            return nsmallest(most, numbers)
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

    def _score(self, numbers: Sequence[int], query: Query, pattern: SearchPattern | None, stop: Stop) -> list[NameHit]:
        hits: list[NameHit] = []
        groups = [[term for term in group if not term.negated] for group in query.terms]
        for count, number in enumerate(numbers):
            if not count % 64:
                check_cancelled(stop)
            path, low = self._paths[number], self._low[number]
            own = path.rfind("/") + 1
            worth, places = 0, list[Positions]()
            for group in groups:
                best: tuple[int, Positions] | None = None
                for term in group:
                    found = fuzzy.score_path(term, path, low, own)
                    if found is not None and (best is None or found[0] > best[0]):
                        best = found
                if best is not None:
                    worth += best[0]
                    places.append(best[1])
            if pattern is not None and (run := pattern.search(path)):
                places.append(range(*run))
            is_scattered = any(fuzzy.is_scattered(path, letters) for letters in places)
            hits.append(NameHit(path, _to_spans(places), float(worth), is_scattered))
        return hits

    def _find_similar(
        self, query: Query, found: set[int], recency: Recency, accept: Callable[[str], bool] | None, stop: Stop
    ) -> tuple[NameHit, ...]:
        """The names that are like the query and do not match it."""
        positive = _list_fuzzy_terms(query)
        if not positive:
            return ()
        check_cancelled(stop)
        near = self._vocabulary.find_similar(word for term in positive for word in split_words(term.text))
        leave_out = [group[0] for group in query.terms if group[0].negated]
        hits: list[NameHit] = []
        for number, worth in sorted(near.items(), key=lambda one: -one[1]):
            if len(hits) >= _SIMILAR and (worth < hits[-1].score or len(hits) >= _SIMILAR_LOOKED_AT):
                break
            path, low = self._paths[number], self._low[number]
            is_out = number in found or low is _GONE or any(fuzzy.is_match(term, path, low) for term in leave_out)
            if not is_out and (accept is None or accept(path)):
                hits.append(NameHit(path, (), worth))
        hits.sort(key=lambda hit: (-hit.score, -recency(hit.path), len(hit.path), hit.path))
        return tuple(hits[:_SIMILAR])


def _list_fuzzy_terms(query: Query) -> list[Term]:
    """The words of a query for which similar names are searched; none if it has alternatives or an exact word."""
    if any(len(group) > 1 for group in query.terms):
        return []
    positive = [group[0] for group in query.terms if not group[0].negated]
    return positive if all(term.kind is MatchKind.FUZZY for term in positive) else []


def _filter_subsequences(text: str, lows: Sequence[str], numbers: Sequence[int]) -> list[int]:
    """The names of which the text is a subsequence: their longest common subsequence is all of it."""
    from rapidfuzz import process  # noqa: PLC0415 - start-up: 30 ms
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415 - start-up: 30 ms

    found = process.extract_iter(text, lows, scorer=LCSseq.similarity, score_cutoff=len(text))
    return [numbers[index] for _, _, index in found]


def _estimate_cost(group: Alternatives) -> tuple[bool, bool, int]:
    """Sort key: the group that leaves the fewest names first."""
    term = group[0]
    return (len(group) > 1, term.negated, -len(term.text))


def _is_simple(query: Query) -> bool:
    """Whether every name that holds the letters of the only word in a run matches for sure."""
    if len(query.terms) != 1 or len(query.terms[0]) != 1:
        return False
    term = query.terms[0][0]
    return term.kind in (MatchKind.FUZZY, MatchKind.EXACT) and not term.case and not term.negated


def _is_narrower(terms: tuple[Alternatives, ...], earlier: tuple[Alternatives, ...]) -> bool:
    """Whether every match of these words is one of the earlier words."""
    return all(any(_implies(group, other) for group in terms) for other in earlier)


def _implies(group: Alternatives, other: Alternatives) -> bool:
    if group == other:
        return True
    if len(group) > 1 or len(other) > 1:
        return False
    now, then = group[0], other[0]
    if now.negated or then.negated or (then.case and not now.case):
        return False
    new, old = (now.text, then.text) if then.case else (fold(now.text), fold(then.text))
    match then.kind:
        case MatchKind.FUZZY:
            letters = iter(new)
            return all(letter in letters for letter in old)
        case MatchKind.EXACT:
            return now.kind is not MatchKind.FUZZY and old in new
        case MatchKind.PREFIX:
            return now.kind in (MatchKind.PREFIX, MatchKind.EQUAL) and new.startswith(old)
        case MatchKind.SUFFIX:
            return now.kind in (MatchKind.SUFFIX, MatchKind.EQUAL) and new.endswith(old)
        case _:
            return False


def _is_whole_name(hit: NameHit) -> bool:
    """Whether the match is the file's own name, with or without its extension."""
    own = hit.path.rfind("/") + 1
    dot = hit.path.rfind(".")
    return len(hit.spans) == 1 and hit.spans[0] in ((own, dot), (own, len(hit.path)))


def _to_spans(matches: Sequence[Positions]) -> tuple[Span, ...]:
    """Positions as runs."""
    if len(matches) == 1 and isinstance(run := matches[0], range):
        return ((run.start, run.stop),)
    spans: list[Span] = []
    for place in sorted(set(chain.from_iterable(matches))):
        if spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return tuple(spans)


def _never(_: str) -> int:
    return 0
