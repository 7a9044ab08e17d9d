"""One search of the texts of a folder as they are now: each note is read once, and only what may match is kept.

`Finder` keeps every text for the next query, and opens the record: a command that ends with its answer needs neither,
and loads neither the engine nor a database.
"""

import time
from collections.abc import Callable, Iterator, Sequence

from memtui.core.errors import MemtuiError
from memtui.core.events import EntryKind
from memtui.core.paths import MemoryPath, is_shown
from memtui.fs.fork import FEWEST, Fork, Tell, does_fork_pay
from memtui.search.matcher import Needle, QueryMatcher
from memtui.search.query import Query
from memtui.search.results import NameResults, PastResults, SearchResults
from memtui.search.text_index import TextIndex
from memtui.store.base import FileContent, FileTooLarge, NotRegularFile, ReadableStore

_Text = tuple[str, int, bytes | None]
"""The path of a note, when it changed in microseconds since 1970, and its bytes if they could be read."""


def can_scan(query: Query) -> bool:
    """Whether the names and the texts of the notes decide: not who wrote them, when, or of what kind they are."""
    filters = query.filters
    return not (filters.concerns_actors or filters.concerns_time or filters.concerns_text)


def scan_texts(
    store: ReadableStore, query: Query, *, hidden: bool, most: int, limit: int, per_note: int, whole_lines: bool
) -> SearchResults:
    """The lines of the notes that match; of a large folder, with a second process.

    Args:
        store: The folder.
        query: One for which `can_scan`.
        hidden: Whether names that begin with a dot, `node_modules`, and their contents are searched as well.
        most: Bytes of a note; larger ones are not read.
        limit: Most notes; the rest is counted.
        per_note: Most lines of each note; the rest is counted.
        whole_lines: Whether long lines are not cut.

    Raises:
        FolderMissing, OSError: The folder could not be read.
    """
    began = time.perf_counter()
    matcher = QueryMatcher(query)
    scan = _Scan(store, matcher.plain or (), most, hidden=hidden)
    scan.read_notes()
    texts = TextIndex(scan.read)
    texts.others = scan.others
    for path, _, data in scan.texts:
        texts.put(path, data)
    texts.sort()
    found = texts.find(
        matcher,
        accept=(lambda path, _: query.filters.accepts_path(path)) if query.filters.concerns_path else None,
        recency={path: changed_us for path, changed_us, _ in scan.texts}.__getitem__,
        limit=limit,
        per_note=per_note,
        whole_lines=whole_lines,
    )
    problem = matcher.pattern.warning if matcher.pattern else ""
    return SearchResults(NameResults(), found, PastResults(), time.perf_counter() - began, problem)


class _Scan:
    """Reads the notes of a folder once.

    Attributes:
        texts: Those that may match, in no order.
        others: How many do not.
    """

    def __init__(self, store: ReadableStore, words: Sequence[Needle], most: int, *, hidden: bool) -> None:
        self.texts: list[_Text] = []
        self.others = 0
        self._store, self._words, self._most, self._hidden = store, words, most, hidden

    def read(self, path: str) -> bytes | None:
        """One note again; `None` where it cannot be read any more."""
        try:
            return self._store.read(MemoryPath.from_relative(path), limit=self._most).data
        except (MemtuiError, NotRegularFile, FileTooLarge, OSError):
            return None

    def read_notes(self) -> None:
        """Read all notes. After the first ones another process reads every second one of the others."""
        first: set[str] = set()

        def is_left(path: str) -> bool:
            return path not in first and hash(path) % 2 == 1

        def is_mine(path: str) -> bool:
            if second.is_running:
                return not is_left(path)
            first.add(path)
            return True

        with Fork() as second:
            for number, text in enumerate(self._iter_texts(is_mine), 1):
                self._add(text)
                if number == FEWEST and does_fork_pay(number):
                    second.begin(lambda tell: self._tell_texts(is_left, tell))
            has_second = second.is_running
            if (told := second.receive()) is not None:
                texts, others = told
                self.texts += texts
                self.others += others
            elif has_second:  # it ended before it was done
                for text in self._iter_texts(is_left):
                    self._add(text)

    def _tell_texts(self, wanted: Callable[[str], bool], tell: Tell) -> None:
        self.texts, self.others = [], 0
        for text in self._iter_texts(wanted):
            self._add(text)
        tell((self.texts, self.others))

    def _add(self, text: _Text | None) -> None:
        if text is None:
            self.others += 1
        else:
            self.texts.append(text)

    def _iter_texts(self, wanted: Callable[[str], bool]) -> Iterator[_Text | None]:
        """The notes that may match; `None` for each other one."""
        words, file = self._words, EntryKind.FILE
        if not self._hidden:
            asked, wanted = wanted, lambda path: is_shown(path) and asked(path)
        for node, content in self._store.scan_contents(limit=self._most, wanted=wanted):
            if node.kind is not file:
                continue
            data = content.data if isinstance(content, FileContent) else None
            if data is not None and words and data.isascii() and _lacks_word(data, words):
                yield None
            else:
                yield node.path, node.mtime_ns // 1_000, data


def _lacks_word(data: bytes, words: Sequence[Needle]) -> bool:
    """Whether a text of ASCII alone lacks one of some words, which may be anywhere in it."""
    folded = data.lower()
    return any(needle.word not in (data if needle.case else folded) for needle in words)
