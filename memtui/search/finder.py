"""The search of one memory: names, texts and past together, kept up to date by events.

Thread-safe: a screen asks from a worker thread while the person types on. Every method answers from the events added
so far, and stops when its caller cancels.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from memtui.core.events import EntryKind
from memtui.core.paths import is_shown
from memtui.engine import Observer
from memtui.search.journal_view import JournalView, NoteTimeline
from memtui.search.matcher import QueryMatcher, SearchText
from memtui.search.names import NameIndex
from memtui.search.past import PastIndex
from memtui.search.query import Filters, Query
from memtui.search.results import (
    NameResults,
    PastResults,
    Scope,
    SearchCancelled,
    SearchResults,
    Stop,
    TextResults,
    check_cancelled,
    never_stop,
)
from memtui.search.text_index import TextIndex

if TYPE_CHECKING:
    from memtui.notes.links import Backlink


__all__ = ["Finder", "SearchCancelled"]

_EVENTS = 500
"""Events per batch."""
_NOTES = 64
"""Notes per batch."""


class _Times(dict[str, int]):
    """When each note changed last, in microseconds since 1970; 0 where that is not known yet."""

    def __missing__(self, path: str) -> int:
        return 0


class Finder:
    """Searches a memory.

    Args:
        engine: Has to stay open.
        hidden: Whether names that begin with a dot, `node_modules`, and their contents are searched as well.
    """

    def __init__(self, engine: Observer, *, hidden: bool = False) -> None:
        self.engine = engine
        self.hidden = hidden
        self._lock = threading.RLock()
        """Held for a query or an update, but not while the folder is read."""
        self._refreshing = threading.Lock()
        self._taking_in = threading.Lock()
        """Held while events are added; taken before `_lock`."""
        self._names: NameIndex | None = None
        self._texts = TextIndex(self._read)
        self._past = PastIndex(engine.history, current=self._texts.get)
        self._paths: dict[str, None] = {}
        self._changed_us = _Times()
        self._unread: dict[str, None] = {}
        """Notes of the first listing that were not read yet."""
        self._news: dict[str, None] = {}
        """Notes that changed since."""
        self._listed_at: int | None = None
        """The number of the last event when the names were listed; `None` before that."""
        self._is_caught_up = False

    @property
    def is_complete(self) -> bool:
        """Whether all names and texts of the first listing were read. The versions tell it themselves."""
        return self._listed_at is not None and self._is_caught_up and not self._unread and not self._news

    @property
    def paths(self) -> Collection[str]:
        """All notes, relative to the folder."""
        with self._lock:
            return list(self._paths)

    def refresh(self, *, stop: Stop = never_stop, seconds: float | None = None, scope: Scope = Scope.ALL) -> bool:
        """Bring the index up to date: at first all names, events and texts, then only changes.

        Args:
            stop: Asked now and then whether to leave the rest for the next time.
            seconds: After how long the rest is left for the next time; `None` for never.
            scope: Names alone need no texts and versions.

        Returns:
            Whether anything changed.

        Raises:
            FolderMissing, StateUnusable, MemoryClosed, OSError: The folder could not be read.
        """
        until = None if seconds is None else time.monotonic() + seconds
        changed = False
        with self._refreshing:
            if self._listed_at is None:
                at_once = seconds is None and scope in (Scope.ALL, Scope.TEXT)
                load = self._load_all if at_once else self._load_names
                if not load(stop, scope):
                    return False
                changed = True
            while True:
                took = self._add_events()
                took |= self._load_some(self._news)
                if scope in (Scope.ALL, Scope.TEXT):
                    took |= self._load_some(self._unread)
                if not took and scope in (Scope.ALL, Scope.PAST):
                    with self._lock:
                        took = self._past.read_some()
                if not took:
                    return changed
                changed = True
                if stop() or (until is not None and time.monotonic() >= until):
                    return True

    def _load_all(self, stop: Stop, scope: Scope) -> bool:
        """As `_load_names`, and read all notes in the same pass: nobody waits for the names alone."""
        head = self.engine.get_head()[0]
        paths: dict[str, None] = {}
        for number, (node, data) in enumerate(self.engine.iter_contents(self._is_shown)):
            if number % 256 == 0 and stop():
                with self._lock:
                    for path in paths:
                        self._texts.remove(path)
                return False
            if node.kind is not EntryKind.DIRECTORY:
                paths[node.path] = None
            if node.kind is EntryKind.FILE:
                with self._lock:
                    self._changed_us.setdefault(node.path, node.mtime_ns // 1_000)
                    self._texts.put(node.path, data)
        names = NameIndex(paths) if scope is Scope.ALL else None
        with self._lock:
            self._texts.sort()
            self._names, self._paths, self._listed_at = names, paths, head
        return True

    def _load_names(self, stop: Stop, scope: Scope) -> bool:
        """List all names, and index them for a scope that has them; returns whether it was not stopped."""
        head = self.engine.get_head()[0]
        paths: dict[str, None] = {}
        files: dict[str, None] = {}
        for number, entry in enumerate(self.engine.iter_names()):
            if number % 256 == 0 and stop():
                return False
            if entry.kind is EntryKind.DIRECTORY or not self._is_shown(entry.path):
                continue
            paths[entry.path] = None
            if entry.kind is EntryKind.FILE:
                files[entry.path] = None
        names = NameIndex(paths) if scope in (Scope.ALL, Scope.NAMES) else None
        files = dict.fromkeys(sorted(files, reverse=True))  # the last one is read first
        with self._lock:
            self._names, self._paths, self._unread = names, paths, files
            self._listed_at = head
        return True

    def _add_events(self) -> bool:
        """Add a batch of new events; returns whether there were any."""
        with self._taking_in:
            record = self._past.record
            page = self.engine.history.iter_bodies(record.seq, limit=_EVENTS)
            if not page:
                self._is_caught_up = True
                return False
            with self._lock:
                news = self._past.add_events(page)
                for path in news.paths:
                    timeline = record.get(path)
                    if timeline is not None and not timeline.steps[-1].is_found:
                        self._changed_us[path] = timeline.steps[-1].at_us
                    if news.has_redactions:
                        self._texts.remove(path)  # what was removed is not shown until it is read anew
                    if self._is_shown(path) and (news.has_redactions or page[-1][0] > (self._listed_at or 0)):
                        self._news[path] = None
        return True

    def _load_some(self, waiting: dict[str, None]) -> bool:
        """Read a batch of waiting notes, the last to come first; returns whether there were any."""
        for number in range(_NOTES):
            with self._lock:
                if not waiting:
                    return number > 0
                path, _ = waiting.popitem()  # before it is looked at: what happens then is looked at again
            self._load_note(path)
        return True

    def _load_note(self, path: str) -> None:
        seen = self.engine.inspect_path(path)
        kind = None if seen.node is None else seen.node.kind
        with self._lock:
            if kind is None or kind is EntryKind.DIRECTORY:
                self._paths.pop(path, None)
                if self._names is not None:
                    self._names.remove(path)
                self._texts.remove(path)
                return
            if path not in self._paths:
                self._paths[path] = None
                if self._names is not None:
                    self._names.add(path)
            if kind is EntryKind.FILE:
                assert seen.node is not None
                self._changed_us.setdefault(path, seen.node.mtime_ns // 1_000)
                self._texts.put(path, seen.data)
            else:
                self._texts.remove(path)

    def _read(self, path: str) -> bytes | None:
        return self.engine.inspect_path(path).data

    def _is_shown(self, path: str) -> bool:
        return self.hidden or is_shown(path)

    def find(
        self,
        query: Query,
        scope: Scope,
        *,
        limit: int = 200,
        per_note: int = 50,
        whole_lines: bool = False,
        accept: Callable[[str], bool] | None = None,
        stop: Stop = never_stop,
    ) -> SearchResults:
        """What matches in the index as it is.

        Args:
            query: The query.
            scope: Where.
            limit: Most names, notes and lines of the past; the rest is counted.
            per_note: Most lines of each note; the rest is counted.
            whole_lines: Whether long lines are not cut.
            accept: Whether a note of today is looked at, by its path; `None` for all.
            stop: Asked now and then whether to give up.

        Raises:
            SearchCancelled: By `stop`.
            StateUnusable, MemoryClosed: The record cannot be read.
        """
        began = time.perf_counter()
        matcher = QueryMatcher(query)
        filters = FilterMatcher(
            query.filters, record=self._past.record, text=self._get_filter_text, changed_us=self.get_changed_us
        )
        if self._is_caught_up and self.engine.get_head()[0] > self._past.record.seq:
            # What was removed from the record a moment ago is not shown, even if nobody took that in yet.
            while self._add_events():
                check_cancelled(stop)
        names, text, past = NameResults(), TextResults(), PastResults()
        with self._lock:
            if scope in (Scope.ALL, Scope.NAMES):
                accept_path = _accept_both(accept, filters.accepts_path if query.filters else None)
                if self._names is None:
                    self._names = NameIndex(self._paths)
                recency = self._changed_us.__getitem__  # called for every name: by no function of ours
                names = self._names.find(query, limit=limit, recency=recency, accept=accept_path, stop=stop)
            if scope in (Scope.ALL, Scope.TEXT):
                text = self._texts.find(
                    matcher,
                    accept=_accept_text(accept, filters.accepts if query.filters else None),
                    recency=self._changed_us.__getitem__,
                    limit=limit,
                    per_note=per_note,
                    of=len(self._texts) + self._texts.unread + len(self._unread),
                    whole_lines=whole_lines,
                    stop=stop,
                )
            if scope in (Scope.ALL, Scope.PAST):
                past = self._past.find(
                    matcher,
                    query.filters,
                    accept_path=lambda path: self._is_shown(path) and query.filters.accepts_path(path),
                    accept_text=filters.accepts_text if query.filters.concerns_text else None,
                    standing=self._texts.build_presence_test(matcher, stop) if scope is Scope.ALL else None,
                    limit=limit,
                    whole_lines=whole_lines,
                    stop=stop,
                )
        problem = matcher.pattern.warning if matcher.pattern else ""
        return SearchResults(names, text, past, time.perf_counter() - began, problem)

    def get_changed_us(self, path: str) -> int:
        """When a note changed last, in microseconds since 1970; 0 where that is not known yet."""
        return self._changed_us[path]

    def get_note(self, path: str) -> bytes | None:
        """The bytes of a note; `None` if it is not there, or cannot be read."""
        with self._lock:
            text = self._texts.get(path)
        return self._read(path) if text is None else text.data

    def find_backlinks(self, path: str, *, stop: Stop = never_stop) -> "list[Backlink]":
        from memtui.notes.links import LinkTargets, find_backlinks  # noqa: PLC0415 - start-up: only `tag:` and links need it

        paths = self.paths
        return find_backlinks(path, self._iter_texts(paths), LinkTargets(paths), stop=stop)

    def _iter_texts(self, paths: Collection[str]) -> Iterator[tuple[str, str]]:
        for path in paths:
            with self._lock:
                text = self._texts.get(path)
            if text is not None:
                yield path, text.decoded

    def _get_filter_text(self, path: str) -> SearchText:
        """The text of a note, for filters; of a binary file its bytes."""
        return self._texts.get(path) or SearchText(self._read(path) or b"")


def _accept_both(
    one: Callable[[str], bool] | None, other: Callable[[str], bool] | None
) -> Callable[[str], bool] | None:
    if one is None or other is None:
        return one or other
    return lambda path: one(path) and other(path)


def _accept_text(
    by_path: Callable[[str], bool] | None, by_text: Callable[[str, SearchText], bool] | None
) -> Callable[[str, SearchText], bool] | None:
    if by_path is None:
        return by_text
    return lambda path, text: by_path(path) and (by_text is None or by_text(path, text))


class FilterMatcher:
    """Tests notes against the filters of one query; `changed_us` gives times in microseconds since 1970."""

    def __init__(
        self,
        filters: Filters,
        *,
        record: JournalView,
        text: Callable[[str], SearchText],
        changed_us: Callable[[str], int],
    ) -> None:
        self._filters = filters
        self._record = record
        self._text = text
        self._changed_us = changed_us

    def accepts(self, path: str, text: SearchText) -> bool:
        """Whether a note with this text passes."""
        return self._accepts_history(path) and (not self._filters.concerns_text or self.accepts_text(path, text))

    def accepts_path(self, path: str) -> bool:
        """Whether a note passes by its name and history."""
        if not self._accepts_history(path):
            return False
        return not self._filters.concerns_text or self.accepts_text(path, self._text(path))

    def _accepts_history(self, path: str) -> bool:
        filters = self._filters
        if not filters.accepts_path(path):
            return False
        if not (filters.concerns_actors or filters.concerns_time):
            return True
        timeline = self._record.get(path)
        if filters.concerns_actors and not filters.accepts_actors(timeline.writers if timeline else ()):
            return False
        return not filters.concerns_time or self._is_changed_in_time(path, timeline)

    def _is_changed_in_time(self, path: str, timeline: NoteTimeline | None) -> bool:
        """Whether one of the authors asked for changed it in time."""
        filters = self._filters
        changes = [step for step in timeline.steps if not step.is_found] if timeline else []
        if not changes:
            seq = timeline.steps[0].seq if timeline else 0
            return filters.accepts_event(seq, self._changed_us(path))
        return any(
            filters.accepts_event(step.seq, step.at_us)
            and (not filters.by or step.actor_name.casefold().startswith(filters.by))
            for step in changes
        )

    def accepts_text(self, path: str, text: SearchText) -> bool:
        """Whether a text passes `tag:`, `type:` and `flag:`."""
        filters, without = self._filters, self._filters.without or Filters()
        tests = (
            ("tags", filters.tags or without.tags, filters.accepts_tags),
            (f"types {path}", filters.types or without.types, filters.accepts_types),
            (f"flags {path}", filters.flags or without.flags, filters.accepts_flags),
        )
        return all(accepts(_find_cached_fact(text, name, path)) for name, is_used, accepts in tests if is_used)


def _find_cached_fact(text: SearchText, name: str, path: str) -> frozenset[str]:
    """A property of a text, computed once."""
    if name not in text.facts:
        text.facts[name] = frozenset(_FACTS[name.partition(" ")[0]](path, text))
    return text.facts[name]


def _find_tags(_: str, text: SearchText) -> Collection[str]:
    from memtui.notes.links import find_tags  # noqa: PLC0415 - start-up: only `tag:` and links need it

    return find_tags(text.decoded)


def _find_types(path: str, text: SearchText) -> Collection[str]:
    from memtui.notes.formats import get_note_types  # noqa: PLC0415 - start-up: only `type:` needs it

    return get_note_types(path, text.decoded)


def _find_flags(path: str, text: SearchText) -> Collection[str]:
    from memtui.scan.flags import find_flags  # noqa: PLC0415 - start-up: only `flag:` needs it

    return find_flags(text.data, path)


_FACTS: dict[str, Callable[[str, SearchText], Collection[str]]] = {
    "tags": _find_tags,
    "types": _find_types,
    "flags": _find_flags,
}
