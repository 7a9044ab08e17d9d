"""The search of every kept version, with the time and the author of each matching line."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from heapq import heapify, heappop, heapreplace
from itertools import islice, pairwise
from typing import NamedTuple

from memtui.core.diffs import measure_common_prefix, measure_common_suffix
from memtui.core.events import Event, Version
from memtui.core.events import sha256 as hashed
from memtui.engine.history import JournalHistory
from memtui.search.journal_view import NOTHING, JournalView, NoteStep, NoteTimeline, get_version
from memtui.search.matcher import MatchedLines, QueryMatcher, SearchText, build_line_hit, is_utf8
from memtui.search.names import NameIndex
from memtui.search.query import Filters, Query
from memtui.search.results import FormerName, PastHit, PastResults, Stop, iter_until_stopped, never_stop
from memtui.search.text_index import TextCache

# Line differences between versions, each computed once.

_MOST = 50_000
"""Pairs that are cached."""
_MOST_JOINED = 1_000
"""Notes of which all differences are cached together."""


class DifferenceCache:
    """The lines in which texts differ, computed once per pair of SHA-256 digests. Not thread-safe."""

    def __init__(self, text: Callable[[str], SearchText | None]) -> None:
        self._text = text
        self._known: dict[tuple[str, str], tuple[SearchText, SearchText]] = {}
        self._joined: dict[tuple[str, ...], SearchText] = {}

    def get_difference(self, old: str, new: str) -> tuple[SearchText, SearchText] | None:
        """The lines from the first to the last difference, of either text; `None` if a text is not kept."""
        pair = (old, new)
        if pair not in self._known:
            before, after = self._text(old), self._text(new)
            if before is None or after is None:
                return None
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[pair] = _compute_difference(before.data, after.data)
        return self._known[pair]

    def get_all_differences(self, versions: tuple[str, ...]) -> SearchText | None:
        """All lines in which successive versions differ, of each pair; `None` if a text is not kept."""
        if versions not in self._joined:
            pairs = [self.get_difference(old, new) for old, new in pairwise(versions)]
            if None in pairs:
                return None
            if len(self._joined) >= _MOST_JOINED:
                self._joined.clear()
            self._joined[versions] = SearchText(b"\n".join(text.data for pair in pairs if pair for text in pair))
        return self._joined[versions]

    def evict(self) -> None:
        """Drop everything: no part of a removed text may stay in memory."""
        self._known.clear()
        self._joined.clear()


def _compute_difference(before: bytes, after: bytes) -> tuple[SearchText, SearchText]:
    start = before.rfind(b"\n", 0, measure_common_prefix(before, after)) + 1
    tail = measure_common_suffix(before, after, start)
    newline = before.find(b"\n", len(before) - tail)
    tail = 0 if newline < 0 else len(before) - newline
    return SearchText(before[start : len(before) - tail]), SearchText(after[start : len(after) - tail])


# Lines of versions: a line lives from the first version that holds it to the first one that does not, wherever it
# moves. Versions of all notes are read from the newest back, no further than needed. A pruned version is skipped.


class MatchingTexts:
    """The texts that match a query, by SHA-256, and their matching lines, computed on demand."""

    def __init__(
        self, cache: TextCache, hashes: Collection[str], matcher: QueryMatcher, differences: DifferenceCache
    ) -> None:
        self.hashes = frozenset(hashes)
        self.known = cache.keys()
        self.is_one_word = matcher.is_one_word
        self._cache = cache
        self._matcher = matcher
        self._differences = differences
        self._lines: dict[str, MatchedLines] = {}

    def get_text(self, sha256: str) -> SearchText:
        """A matching text; empty if it was removed a moment ago."""
        return self._cache.get(sha256) or SearchText(b"")

    def get_lines(self, sha256: str) -> MatchedLines:
        if sha256 not in self._lines:
            self._lines[sha256] = self._matcher.find_lines(self.get_text(sha256))
        return self._lines[sha256]

    def are_alike(self, old: str, new: str) -> bool:
        """Whether two matching texts seem to have no difference in a line that holds all words; a quick test."""
        if old not in self.hashes or new not in self.hashes:
            return False
        differing = self._differences.get_difference(old, new)
        return differing is not None and not any(map(self._matcher.may_have_line, differing))

    def are_all_alike(self, versions: tuple[str, ...]) -> bool:
        """Whether this holds for all successive texts of a note."""
        if not self.hashes.issuperset(versions):
            return False
        differing = self._differences.get_all_differences(versions)
        return differing is not None and not self._matcher.may_have_line(differing)


class LineLifetime:
    """A line from the version that brought it to the version that removed it.

    Args:
        versions: The versions of the note that held it.
        line: Without its end.
        count: Which one of equal lines, from 1.
        gone_at: Index of the first version without it; `None` if the newest one holds it.
        last: Number of its last event.
    """

    __slots__ = ("_came_at", "_count", "_gone_at", "_versions", "last", "line")

    def __init__(self, versions: "_DistinctVersions", line: bytes, count: int, gone_at: int | None, last: int) -> None:
        self._versions = versions
        self._count = count
        self._gone_at = gone_at
        self._came_at: int | None = None
        self.line = line
        self.last = last

    @property
    def timeline(self) -> NoteTimeline:
        return self._versions.timeline

    @property
    def added_step(self) -> NoteStep:
        return self._versions.steps[self._find_first_version()]

    @property
    def removed_step(self) -> NoteStep | None:
        """`None` if the line still stands."""
        return None if self._gone_at is None else self._versions.steps[self._gone_at]

    @property
    def line_number(self) -> int:
        """Its number in the version that brought it, from 1."""
        return self._versions.get_line_numbers(self._find_first_version(), self.line)[self._count - 1]

    def _find_first_version(self) -> int:
        if self._came_at is None:
            end = len(self._versions.steps) if self._gone_at is None else self._gone_at
            self._came_at = self._versions.find_first_with(self.line, self._count, end - 1)
        return self._came_at


class _DistinctVersions:
    """The versions of a note that differ in their text, the oldest first."""

    def __init__(self, timeline: NoteTimeline, matching: MatchingTexts, *, only_gone: bool) -> None:
        self.timeline = timeline
        self.steps: list[NoteStep] = []
        previous: str | None = NOTHING
        for step in timeline.steps:
            sha256 = step.sha256
            if sha256 == previous or sha256 is None or (sha256 != NOTHING and sha256 not in matching.known):
                continue  # only a new name, or a text that is not kept
            previous = sha256
            self.steps.append(step)
        self._matching = matching
        self._only_gone = only_gone
        versions = tuple(map(self._get_sha256, range(len(self.steps))))
        self._are_all_alike = bool(versions) and self._holds_all and matching.are_all_alike(versions)
        self._numbered: dict[int, dict[bytes, list[int]]] = {}
        self._alike: dict[int, bool] = {}
        self._starts: dict[int, int] = {}
        self._floor: Counter[bytes] = Counter()
        """How many of each line have stood ever since the version that was visited last."""

    def iter_backwards(self) -> Iterator[tuple[int, list[LineLifetime]]]:
        """Event numbers, the last first, each with the lines that it added for good, or removed."""
        end = len(self.steps) - 1
        if end >= 0:
            self._floor = self._count_lines(end)
        for at in (0,) if self._are_all_alike else range(end, -1, -1):
            before_is_empty = at == 0 or self._is_empty(at - 1)
            if before_is_empty and (self._only_gone or self._is_empty(at)):
                self._floor = Counter() if before_is_empty else self._floor
                continue
            if self._is_like_previous(at):
                continue
            now = self._count_lines(at)
            before = Counter() if at == 0 else self._count_lines(at - 1)
            seq = self.steps[at].seq
            lifetimes = [
                LineLifetime(self, line, count, at, seq)
                for line, count_before in before.items()
                for count in range(now[line] + 1, count_before + 1)
            ]
            if not self._only_gone:
                lifetimes += [
                    LineLifetime(self, line, count, None, seq)
                    for line, floor in self._floor.items()
                    for count in range(before[line] + 1, floor + 1)
                ]
            self._floor = Counter(
                {line: min(floor, before[line]) for line, floor in self._floor.items() if before[line]}
            )
            if lifetimes:
                yield seq, lifetimes

    def find_first_with(self, line: bytes, count: int, at: int) -> int:
        """The first version of the unbroken run up to `at` that holds a line `count` times."""
        while (at := self._skip_alike(at)) > 0 and self._count_line(at - 1, line) >= count:
            at -= 1
        return at

    def _skip_alike(self, at: int) -> int:
        """The first version of the run up to `at` whose versions seem to hold the same matching lines."""
        if self._are_all_alike:
            return 0
        if at not in self._starts:
            start = at
            while self._is_like_previous(start):
                start -= 1
            self._starts |= dict.fromkeys(range(start, at + 1), start)
        return self._starts[at]

    def get_line_numbers(self, at: int, line: bytes) -> list[int]:
        return self._get_matching_lines(at)[line]

    def _count_line(self, at: int, line: bytes) -> int:
        return 0 if self._is_empty(at) else len(self._get_matching_lines(at).get(line, ()))

    def _count_lines(self, at: int) -> Counter[bytes]:
        return Counter({line: len(numbers) for line, numbers in self._get_matching_lines(at).items()})

    def _is_empty(self, at: int) -> bool:
        return self.steps[at].sha256 not in self._matching.hashes

    def _is_like_previous(self, at: int) -> bool:
        """Whether a version seems to hold the same matching lines as the one before it."""
        if at not in self._alike:
            self._alike[at] = (
                at > 0 and self._holds_all and self._matching.are_alike(self._get_sha256(at - 1), self._get_sha256(at))
            )
        return self._alike[at]

    def _get_sha256(self, at: int) -> str:
        sha256 = self.steps[at].sha256
        assert sha256 is not None
        return sha256

    def _get_matching_lines(self, at: int) -> dict[bytes, list[int]]:
        """The matching lines of a version, each with its numbers from 1."""
        if at not in self._numbered:
            self._numbered[at] = {}
            sha256 = self._get_sha256(at)
            if sha256 in self._matching.hashes:
                lines = self._matching.get_lines(sha256)
                if lines.hold_all or not self._holds_all:
                    split = self._matching.get_text(sha256).data.split(b"\n")
                    for number in lines.numbers:
                        self._numbered[at].setdefault(split[number].removesuffix(b"\r"), []).append(number + 1)
        return self._numbered[at]

    @cached_property
    def _holds_all(self) -> bool:
        """Whether only lines with all words are hits: if any version has one."""
        if self._only_gone or self._matching.is_one_word:
            return True
        hashes = {step.sha256 for step in self.steps if step.sha256 in self._matching.hashes}
        return any(self._matching.get_lines(sha256).hold_all for sha256 in hashes if sha256)


def find_line_lifetimes(
    timelines: Iterable[NoteTimeline], matching: MatchingTexts, *, only_gone: bool
) -> Iterator[LineLifetime]:
    """The lines that match, the one with the latest event first.

    Args:
        timelines: The notes that held them.
        matching: The texts that match.
        only_gone: Whether to leave out lines that never went, and those that hold only some of the words.
    """
    runs: list[tuple[int, int, list[LineLifetime], Iterator[tuple[int, list[LineLifetime]]]]] = []
    waiting = sorted(timelines, key=lambda timeline: timeline.steps[-1].seq)
    number = 0
    while runs or waiting:
        while waiting and (not runs or waiting[-1].steps[-1].seq >= -runs[0][0]):
            run = _DistinctVersions(waiting.pop(), matching, only_gone=only_gone).iter_backwards()
            if (first := next(run, None)) is not None:
                number += 1
                runs.append((-first[0], number, first[1], run))
                heapify(runs)
        if not runs:
            return
        _, its, found, run = runs[0]
        yield from found
        if (after := next(run, None)) is None:
            heappop(runs)
        else:
            heapreplace(runs, (-after[0], its, after[1], run))


# Former names: of deleted notes, and from before a rename.


class _RenamedNote(NamedTuple):
    """A note under a former name."""

    timeline: NoteTimeline
    last: NoteStep
    """The last step under the name that left a text."""
    ended_by: NoteStep
    """The step that took the name away."""

    @property
    def version(self) -> Version:
        return get_version(self.last)


class FormerNameIndex:
    """The names that no note has any more. Not thread-safe."""

    def __init__(self, record: JournalView) -> None:
        self._record = record
        self._seq = -1
        self._notes_by_name: dict[str, _RenamedNote] = {}
        self._names = NameIndex(())

    def find(
        self,
        query: Query,
        filters: Filters,
        *,
        accept_path: Callable[[str], bool],
        event: Callable[[int], Event],
        limit: int,
        stop: Stop,
    ) -> tuple[tuple[FormerName, ...], int]:
        """The former names that match, best first, and how many there are.

        Raises:
            SearchCancelled: By `stop`.
        """
        if not query.has_positive_terms or filters.concerns_text:
            return (), 0
        self._update()

        def accept(path: str) -> bool:
            return accept_path(path) and _passes_filters(self._notes_by_name[path], filters)

        found = self._names.find(
            query, limit=limit, recency=lambda path: self._notes_by_name[path].ended_by.at_us, accept=accept, stop=stop
        )
        return tuple(self._build_renamed_note(hit.path, hit.spans, event) for hit in found.hits), found.total

    def _update(self) -> None:
        if self._seq == self._record.seq:
            return
        called: dict[str, _RenamedNote] = {}
        for timeline in self._record.timelines:
            for each in _iter_renamed_notes(timeline):
                here = self._record.get(each.last.path)
                known = called.get(each.last.path)
                if (here is None or not here.exists) and (known is None or known.ended_by.seq < each.ended_by.seq):
                    called[each.last.path] = each
        self._seq = self._record.seq
        if called.keys() != self._notes_by_name.keys():
            self._names = NameIndex(called)
        self._notes_by_name = called

    def _build_renamed_note(
        self, path: str, spans: tuple[tuple[int, int], ...], event: Callable[[int], Event]
    ) -> FormerName:
        called = self._notes_by_name[path]
        now = called.timeline.path if called.timeline.exists else None
        return FormerName(path, spans, called.version, event(called.ended_by.seq), now)


def _iter_renamed_notes(timeline: NoteTimeline) -> Iterator[_RenamedNote]:
    previous: NoteStep | None = None
    for step in timeline.steps:
        if previous is not None and (step.sha256 == NOTHING or step.path != previous.path):
            yield _RenamedNote(timeline, previous, step)
        previous = None if step.sha256 == NOTHING else step


def _passes_filters(called: _RenamedNote, filters: Filters) -> bool:
    if filters.concerns_actors and not filters.accepts_actors({*called.timeline.writers, called.ended_by.actor_name}):
        return False
    return not filters.concerns_time or filters.accepts_event(called.ended_by.seq, called.ended_by.at_us)


_ROOM = 96 << 20
"""Bytes for the texts of versions in memory."""
_COUNTED = 1_000
"""Hits that are counted; of more, the total is a lower bound."""
_A_FEW = 250
"""Lines of the past that are first compared with the present notes; then twice as many, and so on."""
_AT_ONCE, _BYTES_AT_ONCE = 200, 1 << 20
"""Texts that are read from the journal at a time, and about how many bytes: nobody is answered meanwhile."""


class PastUpdate(NamedTuple):
    """The paths that some events changed, and whether texts were removed from the record."""

    paths: set[str]
    has_redactions: bool


class PastIndex:
    """The versions of all notes. Not thread-safe.

    Args:
        history: Source of the texts.
        current: The text at a path now, as far as it was read: shared with its version.
        room: Bytes for the texts in memory.
    """

    def __init__(
        self, history: JournalHistory, *, current: Callable[[str], SearchText | None], room: int = _ROOM
    ) -> None:
        self.record = JournalView()
        self._history = history
        self._current = current
        self._cache = TextCache(self._read, room=room)
        self._differences = DifferenceCache(self._cache.get)
        self._waiting: dict[str, None] = {}
        self._at_once = 8
        self._pairs: dict[tuple[str, str], None] = {}
        """Successive versions that are still to be compared."""
        self._gone: set[str] = set()
        self._events: dict[int, Event] = {}
        self._former = FormerNameIndex(self.record)

    def add_events(self, bodies: Iterable[tuple[int, bytes]]) -> PastUpdate:
        """Add events, in order: their numbers and canonical bytes."""
        changed: set[str] = set()
        forgotten = False
        for seq, body in bodies:
            taken = self.record.add_event(seq, body, self._history)
            changed.update(taken.paths)
            forgotten = forgotten or bool(taken.removed)
            self._pairs.update(dict.fromkeys(self._find_version_pairs(taken.paths)))
            for sha256 in taken.removed:
                self._evict(sha256)
            for sha256 in taken.texts:
                if sha256 not in self._cache:
                    self._gone.discard(sha256)  # it was brought back
                    self._waiting[sha256] = None
        return PastUpdate(changed, forgotten)

    def read_some(self) -> bool:
        """Read some texts, the newest first, then compare some versions; returns whether there was anything to do."""
        some = [self._waiting.popitem()[0] for _ in range(min(self._at_once, len(self._waiting)))]
        if not some:
            pairs = [self._pairs.popitem()[0] for _ in range(min(self._at_once, len(self._pairs)))]
            for old, new in pairs:
                self._differences.get_difference(old, new)
            return bool(pairs)
        here = {sha256: text for sha256 in some if (text := self._find_shared_text(sha256)) is not None}
        texts = self._history.get_texts([sha256 for sha256 in some if sha256 not in here])
        size = sum(map(len, texts.values()))
        self._at_once = max(1, min(_AT_ONCE, _BYTES_AT_ONCE * max(1, len(texts)) // max(1, size)))
        for sha256 in some:
            if sha256 in here:
                self._cache.put(sha256, here[sha256])
            elif (data := texts.get(sha256)) is not None:
                self._cache.put(sha256, SearchText(data if is_utf8(data) else b""))
            else:
                self._gone.add(sha256)
        return True

    def find(
        self,
        matcher: QueryMatcher,
        filters: Filters,
        *,
        accept_path: Callable[[str], bool] = lambda _: True,
        accept_text: Callable[[str, SearchText], bool] | None = None,
        standing: Callable[[set[bytes]], set[bytes]] | None = None,
        limit: int = 200,
        whole_lines: bool = False,
        stop: Stop = never_stop,
    ) -> PastResults:
        """The lines of all versions that match, and the former names.

        Args:
            matcher: The query.
            filters: Author and time of the event that added or removed a line.
            accept_path: Whether a note with this name is searched.
            accept_text: Whether a version with this name and text is; `None` for all.
            standing: Of some lines, those that still stand in a note: they are left out, and lines that never went.
            limit: Most hits; the rest is counted.
            whole_lines: Whether long lines are not cut.
            stop: Asked now and then whether to give up.

        Raises:
            SearchCancelled: By `stop`.
        """
        if not self.record.seq:
            return PastResults()
        looked = len(self._cache)
        missing = len(self._gone) + self.record.never_kept
        of = looked + len(self._waiting)
        names, total_names = self._former.find(
            matcher.query, filters, accept_path=accept_path, event=self._get_event, limit=limit, stop=stop
        )
        if not matcher.looks_for_something:
            return PastResults(looked=looked, of=of, missing_texts=missing)
        matching = MatchingTexts(self._cache, self._cache.find_matching(matcher, stop), matcher, self._differences)

        def passes(lifetime: LineLifetime) -> bool:
            step = lifetime.added_step
            if not (accept_path(lifetime.timeline.path) or accept_path(step.path)) or not _is_in_time(
                lifetime, filters
            ):
                return False
            return accept_text is None or accept_text(step.path, matching.get_text(str(step.sha256)))

        timelines = self._find_timelines(matching.hashes)
        if standing is not None:
            timelines = [
                timeline for timeline in timelines if len(timeline.steps) > 1 or not timeline.exists
            ]  # of others nothing went
        best: list[LineLifetime] = []
        lifetimes = find_line_lifetimes(timelines, matching, only_gone=standing is not None)
        found = filter(passes, iter_until_stopped(lifetimes, stop))
        enough = max(limit, _COUNTED)
        while len(best) < enough and (some := list(islice(found, max(_A_FEW, len(best))))):
            still = set() if standing is None else standing({lifetime.line for lifetime in some})
            best += [lifetime for lifetime in some if lifetime.line not in still]
        is_cut = len(best) >= enough and next(found, None) is not None
        newest = sorted(
            best[:limit],
            key=lambda lifetime: (
                -lifetime.last,
                lifetime.removed_step is None,
                lifetime.added_step.path,
                lifetime.line_number,
            ),
        )
        hits = tuple(
            self._build_hit(lifetime, matcher, whole=whole_lines)
            for lifetime in iter_until_stopped(newest, stop, every=8)
        )
        return PastResults(hits, len(best), is_cut, looked, of, missing, names, total_names)

    def _find_timelines(self, hashes: frozenset[str]) -> list[NoteTimeline]:
        """The notes that ever held one of these texts."""
        if len(hashes) > len(self.record.timelines):
            notes = self.record.timelines
            return [note for note in notes if not hashes.isdisjoint(step.sha256 for step in note.steps)]
        get_holders = self.record.get_holders
        return list({id(timeline): timeline for sha256 in hashes for timeline in get_holders(sha256)}.values())

    def _find_version_pairs(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The SHA-256 of the text at each path, with that of the text before it."""
        for path in paths:
            timeline = self.record.get(path)
            if timeline is not None and len(timeline.steps) > 1:
                old, new = timeline.steps[-2].sha256, timeline.steps[-1].sha256
                if old and new and old != new:
                    yield old, new

    def _find_shared_text(self, sha256: str) -> SearchText | None:
        """The text of a version that a note holds now; `None` if none does, or was not read."""
        for timeline in self.record.get_holders(sha256):
            if timeline.exists and timeline.steps[-1].sha256 == sha256:
                text = self._current(timeline.path)
                if text is not None and len(text.data) == timeline.steps[-1].size and hashed(text.data) == sha256:
                    return text
        return None

    def _build_hit(self, lifetime: LineLifetime, matcher: QueryMatcher, *, whole: bool) -> PastHit:
        step = lifetime.added_step
        line = build_line_hit(lifetime.line_number, lifetime.line.decode("utf-8", "replace"), matcher, whole=whole)
        removed = None if lifetime.removed_step is None else self._get_event(lifetime.removed_step.seq)
        now = lifetime.timeline.path if lifetime.timeline.exists else None
        return PastHit(step.path, line, get_version(step), self._get_event(step.seq), removed, now)

    def _get_event(self, seq: int) -> Event:
        event = self._events.get(seq)
        if event is None:
            event = self._history.get_event(seq)
            assert event is not None
            if len(self._events) >= 4_096:
                self._events.clear()
            self._events[seq] = event
        return event

    def _read(self, sha256: str) -> bytes | None:
        return self._history.get_texts([sha256]).get(sha256)

    def _evict(self, sha256: str) -> None:
        """Drop a text that was removed from the record."""
        if sha256 in self._cache or sha256 in self._waiting:
            self._cache.remove(sha256)
            self._differences.evict()
            self._waiting.pop(sha256, None)
            self._gone.add(sha256)


def _is_in_time(lifetime: LineLifetime, filters: Filters) -> bool:
    """Whether a line passes `by:`, `since:` and `until:`."""
    if not (filters.concerns_actors or filters.concerns_time):
        return True
    ends = (lifetime.added_step,) if lifetime.removed_step is None else (lifetime.added_step, lifetime.removed_step)
    if filters.concerns_actors and not filters.accepts_actors({end.actor_name for end in ends}):
        return False
    return not filters.concerns_time or any(filters.accepts_event(end.seq, end.at_us) for end in ends)
