"""The graph of a folder, made of what the journal knows: now, kept up by events, and right after any event.

The folder itself is not looked at: what changed in it since the last look is recorded first, by whoever asks. So a
graph of now and one of the past are made in the same way, and a text that was read once is not read again.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from memtui.core.events import EntryKind, Version
from memtui.core.garbage import reduce_gc
from memtui.core.history import PathVersion
from memtui.core.paths import is_shown
from memtui.core.text_format import decode_text
from memtui.journal.chain import decode_changes
from memtui.knowledge.cache import KnownNotes, keep_known_notes, read_known_notes
from memtui.knowledge.graph import Graph
from memtui.knowledge.model import ParsedNote
from memtui.knowledge.parse import parse_note
from memtui.notes.formats import detect_format

AnswerT = TypeVar("AnswerT")

NOTE_FORMATS = frozenset({"md", "txt"})
"""What is read as a note, by its name; all other files are nodes without a text."""
_AT_ONCE = 200  # texts in memory while they are read
_EVENTS = 500
_MOST_KNOWN = 200_000  # notes, of now and of the past, from which on those of the past are read again
_WORTH_KEEPING = 16
"""Notes that were read anew, from which on they are kept, if they are more than one in a hundred as well."""


class History(Protocol):
    """What the journal knows; see `memtui.engine.history`."""

    def get_state(self, at: int, below: str = "") -> dict[str, Version]: ...
    def get_texts(self, hashes: Collection[str]) -> dict[str, bytes]: ...
    def get_version_at(self, path: str, at: int) -> Version | None: ...
    def iter_bodies(self, after: int, *, limit: int) -> list[tuple[int, bytes]]: ...
    def versions_of(self, path: str, *, limit: int = -1) -> list[PathVersion]: ...


class GraphStopped(Exception):
    """The caller wanted no more of it."""


def _never_stop() -> bool:
    return False


class GraphSource:
    """Makes the graphs of one folder. Every method may be called from any thread.

    Args:
        history: What the journal knows.
        get_head: Returns the number of the last event.
        dialect: The name of the kind of folder; empty for none in particular.
        cache: The file in which what was read is kept; `None` to keep nothing.
    """

    def __init__(
        self,
        history: History,
        get_head: Callable[[], int],
        *,
        dialect: str = "",
        cache: str | os.PathLike[str] | None = None,
    ) -> None:
        self._history = history
        self._get_head = get_head
        self._dialect = dialect
        self._cache = cache
        self._lock = threading.RLock()
        self._known: KnownNotes = {}
        self._versions: dict[str, str] = {}
        """The hashes of the texts of notes in the graph of now, by path."""
        self._graph: Graph | None = None
        self._seq = 0

    def get_current(self, *, stop: Callable[[], bool] = _never_stop) -> Graph:
        """The graph after the last event. The same object is kept up by later calls.

        Args:
            stop: Asked now and then whether to give up; what was read by then is not read again.

        Raises:
            GraphStopped: By `stop`.
            StateUnusable, MemoryClosed: The journal cannot be read.
        """
        with self._lock:
            if self._graph is None:
                with reduce_gc():
                    self._graph = self._build_first(stop)
            else:
                self._follow_events(self._graph, stop)
            return self._graph

    def query(self, question: Callable[[Graph], AnswerT], *, stop: Callable[[], bool] = _never_stop) -> AnswerT:
        """Ask something of the graph of now, which nobody changes meanwhile. Raises as `get_current`.

        Args:
            question: Makes the answer, which holds values and not the graph.
            stop: As of `get_current`.
        """
        with self._lock:
            return question(self.get_current(stop=stop))

    def get_past(self, at: int, *, stop: Callable[[], bool] = _never_stop) -> Graph:
        """The graph right after an event, as a new object; 0 is before the first one. Raises as `get_current`."""
        with self._lock:
            if len(self._known) > _MOST_KNOWN and self._graph is not None:
                self._forget_past()
            with reduce_gc():
                return self._build(self._history.get_state(at), stop)

    def _build_first(self, stop: Callable[[], bool]) -> Graph:
        kept = read_known_notes(self._cache)
        self._known = kept | self._known
        self._seq = self._get_head()
        state = self._history.get_state(self._seq)
        graph = self._build(state, stop)
        self._versions = _list_notes(state)
        current = {key: self._known[key] for key in self._versions.items() if key in self._known}
        changed = len(current.keys() ^ kept.keys())
        if self._cache is not None and changed >= _WORTH_KEEPING and changed * 100 >= len(current):
            keep_known_notes(self._cache, current)
        return graph

    def _build(self, state: Mapping[str, Version], stop: Callable[[], bool]) -> Graph:
        wanted = _list_notes(state)
        self._read([(path, sha256) for path, sha256 in wanted.items() if (path, sha256) not in self._known], stop)
        graph = Graph(dialect=self._dialect)
        for path, version in state.items():
            if version.kind is EntryKind.FILE and is_shown(path):
                sha256 = wanted.get(path)
                graph.update(path, self._known.get((path, sha256)) if sha256 is not None else None)
        return graph

    def _follow_events(self, graph: Graph, stop: Callable[[], bool]) -> None:
        while page := self._history.iter_bodies(self._seq, limit=_EVENTS):
            changed: dict[str, Version | None] = {}
            has_redactions = False
            for _, body in page:
                changed.update((path, after) for path, _, after in decode_changes(body))
                has_redactions |= b'"redacted":' in body
            files = {path: version for path, version in changed.items() if _is_file(version) and is_shown(path)}
            wanted = _list_notes(files)
            self._read([key for key in wanted.items() if key not in self._known], stop)
            for path in changed:
                if path not in files:
                    graph.remove(path)
                    self._versions.pop(path, None)
                    continue
                sha256 = wanted.get(path)
                if sha256 is not None:
                    self._versions[path] = sha256
                graph.update(path, self._known.get((path, sha256)) if sha256 is not None else None)
            if has_redactions:  # what was removed from the record is not kept here either
                self._forget_past()
            self._seq = page[-1][0]

    def _forget_past(self) -> None:
        self._known = {key: self._known[key] for key in self._versions.items() if key in self._known}

    def _read(self, keys: list[tuple[str, str]], stop: Callable[[], bool]) -> None:
        """Read notes, each at its path."""
        for start in range(0, len(keys), _AT_ONCE):
            if stop():
                raise GraphStopped
            some = keys[start : start + _AT_ONCE]
            texts = self._history.get_texts({sha256 for _, sha256 in some})
            for path, sha256 in some:
                if sha256 in texts:
                    self._known[path, sha256] = read_note(texts[sha256], path)

    def read_version(self, path: str, version: Version | None) -> ParsedNote | None:
        """What was read of a version at a path; `None` for what is no note, or not kept."""
        if not _is_file(version) or version is None or version.sha256 is None or not is_note(path):
            return None
        with self._lock:
            key = (path, version.sha256)
            if key not in self._known:
                self._read([key], _never_stop)
            return self._known.get(key)

    def read_text(self, path: str, at: int | None = None) -> str | None:
        """What a note says, now or right after an event; `None` for what is no text, or not kept."""
        if at is None:
            with self._lock:
                sha256 = self._versions.get(path)
        else:
            version = self._history.get_version_at(path, at)
            sha256 = version.sha256 if version is not None and _is_file(version) else None
        data = self._history.get_texts({sha256}).get(sha256) if sha256 is not None else None
        return None if data is None else decode_note(data)

    def iter_texts(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """What some notes of the graph of now say."""
        waiting = [(path, sha256) for path in paths if (sha256 := self._versions.get(path)) is not None]
        for start in range(0, len(waiting), _AT_ONCE):
            some = waiting[start : start + _AT_ONCE]
            texts = self._history.get_texts({sha256 for _, sha256 in some})
            for path, sha256 in some:
                if sha256 in texts and (text := decode_note(texts[sha256])) is not None:
                    yield path, text


def is_note(path: str) -> bool:
    """Whether a file is read as a note, by its name."""
    return detect_format(path) in NOTE_FORMATS


def decode_note(data: bytes) -> str | None:
    """What a note says; `None` for what is no text."""
    if b"\0" not in data:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            pass
    decoded = decode_text(data)
    return None if decoded.is_binary else decoded.text


def read_note(data: bytes, path: str) -> ParsedNote | None:
    """What the bytes of a note say; `None` for what is no text."""
    text = decode_note(data)
    return None if text is None else parse_note(text, path)


def _is_file(version: Version | None) -> bool:
    return version is not None and version.kind is EntryKind.FILE


def _list_notes(state: Mapping[str, Version | None]) -> dict[str, str]:
    """The hashes of the texts of notes, by path."""
    return {
        path: version.sha256
        for path, version in state.items()
        if version is not None
        and version.kind is EntryKind.FILE
        and version.sha256 is not None
        and is_note(path)
        and is_shown(path)
    }
