"""One memory, searched: names, texts and past together, kept up to date by what is recorded.

A screen asks from a worker thread and types on meanwhile: every method may be called from any thread, answers from what
was taken in by then, and gives up as soon as nobody waits for its answer any more.
"""

import threading
import time
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from memtui.core.snapshot import Kind
from memtui.engine import Engine
from memtui.search.found import Found, NamesFound, PastFound, Scope, TextFound
from memtui.search.judging import Judged
from memtui.search.names import Names
from memtui.search.past import Past
from memtui.search.query import Query
from memtui.search.stopping import Stop, Stopped, never
from memtui.search.texts import Texts
from memtui.search.wanted import Text, Wanted

if TYPE_CHECKING:
    from memtui.notes.links import Backlink

__all__ = ["Finder", "Stopped"]

_LEFT_OUT = "node_modules"
_EVENTS = 500
"""Events that are taken in at a time."""
_NOTES = 64
"""Notes that are read at a time."""


class Finder:
    """Finds what is and was in a memory.

    Args:
        engine: The memory. It has to stay open.
        hidden: Whether that is found as well which an agent's listing leaves out: names that begin with a dot,
            `node_modules`, and what lies in them.

    Attributes:
        engine: The memory.
        hidden: As given.
    """

    def __init__(self, engine: Engine, *, hidden: bool = False) -> None:
        self.engine = engine
        self.hidden = hidden
        self._lock = threading.RLock()
        """Held while something is answered or taken in, but not while anything is read from the folder."""
        self._refreshing = threading.Lock()
        self._taking_in = threading.Lock()
        """Held while events are taken in, and taken before `_lock`."""
        self._names = Names()
        self._texts = Texts(self._read)
        self._past = Past(engine.history, current=self._texts.get)
        self._paths: dict[str, None] = {}
        self._changed_us: dict[str, int] = {}
        self._unread: dict[str, None] = {}
        """Notes that were there at first, and were not read yet."""
        self._news: dict[str, None] = {}
        """What something happened to since."""
        self._listed_at: int | None = None
        """The number of the last event when the names were listed; `None` before that."""
        self._is_caught_up = False

    @property
    def is_complete(self) -> bool:
        """Whether all names and texts that stood there at first were read. The versions tell it themselves."""
        return self._listed_at is not None and self._is_caught_up and not self._unread and not self._news

    @property
    def paths(self) -> Collection[str]:
        """All notes, relative to the folder."""
        with self._lock:
            return list(self._paths)

    # Taking in

    def refresh(self, *, stop: Stop = never, seconds: float | None = None, scope: Scope = Scope.ALL) -> bool:
        """Take in what is new: at first all names, events and texts, then only what happened since.

        Args:
            stop: Asked now and then whether to leave the rest for the next time.
            seconds: After how long the rest is left for the next time; `None` for never.
            scope: What it is for: of names, the texts and versions are not needed, and not read.

        Returns:
            Whether anything changed.

        Raises:
            FolderMissing, StateUnusable, Closed, OSError: It could not be looked at.
        """
        until = None if seconds is None else time.monotonic() + seconds
        changed = False
        with self._refreshing:
            if self._listed_at is None:
                if not self._list(stop):
                    return False
                changed = True
            while True:
                took = self._take_in_events()
                took |= self._look_at_some(self._news)
                if scope in (Scope.ALL, Scope.TEXT):
                    took |= self._look_at_some(self._unread)
                if not took and scope in (Scope.ALL, Scope.PAST):
                    with self._lock:
                        took = self._past.read_some()
                if not took:
                    return changed
                changed = True
                if stop() or (until is not None and time.monotonic() >= until):
                    return True

    def _list(self, stop: Stop) -> bool:
        """All names; returns whether it came to its end."""
        head = self.engine.head()[0]
        paths: dict[str, None] = {}
        files: dict[str, None] = {}
        for number, entry in enumerate(self.engine.names()):
            if number % 256 == 0 and stop():
                return False
            if entry.kind is Kind.DIRECTORY or not self._is_shown(entry.path):
                continue
            paths[entry.path] = None
            if entry.kind is Kind.FILE:
                files[entry.path] = None
        names = Names(paths)
        files = dict.fromkeys(sorted(files, reverse=True))  # the last one is read first
        with self._lock:
            self._names, self._paths, self._unread = names, paths, files
            self._listed_at = head
        return True

    def _take_in_events(self) -> bool:
        """Take in some events that are new; returns whether there were any."""
        with self._taking_in:
            record = self._past.record
            page = self.engine.history.bodies(record.seq, limit=_EVENTS)
            if not page:
                self._is_caught_up = True
                return False
            with self._lock:
                news = self._past.take_in(page)
                for path in news.paths:
                    thing = record.at(path)
                    if thing is not None and not thing.steps[-1].is_found:
                        self._changed_us[path] = thing.steps[-1].at_us
                    if news.forgotten:
                        self._texts.remove(path)  # what was removed is not shown until it is read anew
                    if self._is_shown(path) and (news.forgotten or page[-1][0] > (self._listed_at or 0)):
                        self._news[path] = None
        return True

    def _look_at_some(self, waiting: dict[str, None]) -> bool:
        """Look at some of the notes that wait, the last to come first; returns whether there were any."""
        for number in range(_NOTES):
            with self._lock:
                if not waiting:
                    return number > 0
                path, _ = waiting.popitem()  # before it is looked at: what happens then is looked at again
            self._look_at(path)
        return True

    def _look_at(self, path: str) -> None:
        seen = self.engine.look(path)
        kind = None if seen.node is None else seen.node.kind
        with self._lock:
            if kind is None or kind is Kind.DIRECTORY:
                self._paths.pop(path, None)
                self._names.remove(path)
                self._texts.remove(path)
                return
            if path not in self._paths:
                self._paths[path] = None
                self._names.add(path)
            if kind is Kind.FILE:
                assert seen.node is not None
                self._changed_us.setdefault(path, seen.node.mtime_ns // 1_000)
                self._texts.put(path, seen.data)
            else:
                self._texts.remove(path)

    def _read(self, path: str) -> bytes | None:
        return self.engine.look(path).data

    def _is_shown(self, path: str) -> bool:
        return self.hidden or not any(part.startswith(".") or part == _LEFT_OUT for part in path.split("/"))

    # Answering

    def find(
        self,
        query: Query,
        scope: Scope,
        *,
        limit: int = 200,
        per_note: int = 50,
        whole_lines: bool = False,
        stop: Stop = never,
    ) -> Found:
        """What matches, out of what was taken in by now.

        Args:
            query: What to look for.
            scope: Where.
            limit: Names, notes and lines of the past that are brought; the others are counted.
            per_note: Lines of each note that are brought; the others are counted.
            whole_lines: Whether long lines are not cut.
            stop: Asked now and then whether to give up.

        Raises:
            Stopped: It was given up.
            StateUnusable, Closed: The record cannot be read.
        """
        began = time.perf_counter()
        wanted = Wanted(query)
        judged = Judged(query.filters, record=self._past.record, text=self._text, changed_us=self.changed_us)
        if self._is_caught_up and self.engine.head()[0] > self._past.record.seq:
            # What was removed from the record a moment ago is not shown, even if nobody took that in yet.
            while self._take_in_events():
                if stop():
                    raise Stopped("The search was stopped.")
        names, text, past = NamesFound(), TextFound(), PastFound()
        with self._lock:
            if scope in (Scope.ALL, Scope.NAMES):
                accept_path = judged.accepts_path if query.filters else None
                names = self._names.find(query, limit=limit, recency=self.changed_us, accept=accept_path, stop=stop)
            if scope in (Scope.ALL, Scope.TEXT):
                text = self._texts.find(
                    wanted,
                    accept=judged.accepts if query.filters else None,
                    recency=self.changed_us,
                    limit=limit,
                    per_note=per_note,
                    of=len(self._texts) + self._texts.unread + len(self._unread),
                    whole_lines=whole_lines,
                    stop=stop,
                )
            if scope in (Scope.ALL, Scope.PAST):
                past = self._past.find(
                    wanted,
                    query.filters,
                    accept_path=lambda path: self._is_shown(path) and query.filters.takes_path(path),
                    accept_text=judged.accepts_text if query.filters.concerns_text else None,
                    standing=self._texts.standing(wanted, stop) if scope is Scope.ALL else None,
                    limit=limit,
                    whole_lines=whole_lines,
                    stop=stop,
                )
        problem = wanted.pattern.sentence if wanted.pattern else ""
        return Found(names, text, past, time.perf_counter() - began, problem)

    def changed_us(self, path: str) -> int:
        """When a note changed last, in microseconds since 1970; 0 where that is not known yet."""
        return self._changed_us.get(path, 0)

    def note(self, path: str) -> bytes | None:
        """What a note says; `None` if it is not there, or cannot be read."""
        with self._lock:
            text = self._texts.get(path)
        return self._read(path) if text is None else text.data

    def backlinks(self, path: str, *, stop: Stop = never) -> "list[Backlink]":
        """The links in other notes that lead to one."""
        from memtui.notes.links import Places, backlinks  # deferred: only details and links need it

        paths = self.paths
        return backlinks(path, self._decoded(paths), Places(paths), stop=stop)

    def _decoded(self, paths: Collection[str]) -> Iterator[tuple[str, str]]:
        for path in paths:
            with self._lock:
                text = self._texts.get(path)
            if text is not None:
                yield path, text.decoded

    def _text(self, path: str) -> Text:
        """What a note says, for filters; of one that is no text its bytes."""
        return self._texts.get(path) or Text(self._read(path) or b"")
