"""The texts of the present notes, and their matching lines."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, KeysView, Sequence

from memtui.core.lazy_dataclass import dataclass
from memtui.search.matcher import Group, MatchedLines, QueryMatcher, SearchText, build_line_hit, is_utf8
from memtui.search.results import NoteHits, Stop, TextResults, check_cancelled, iter_until_stopped, never_stop

# Texts in memory. Up to tens of megabytes a scan is fast enough without an index; a longer query searches only the
# hits of the shorter one and what changed since. Texts beyond the memory limit are read again for each search.

_REMEMBERED = 12
"""Earlier searches that can be narrowed: those of a word that is typed, and deleted letter by letter."""
_A_RUN = 256
"""Texts between two checks for cancellation."""
_CHANGES = 4_096
"""Changed texts after which an earlier search is dropped."""


@dataclass(slots=True)
class _EarlierTextQuery:
    """The matches of an earlier query, and the texts that changed since."""

    groups: tuple[Group, ...]
    keys: list[str]
    changed: set[str]


class TextCache:
    """Texts by a key, with a limit of memory. Not thread-safe.

    Args:
        read: Reads a text beyond the limit; `None` where it cannot be read any more.
        room: Bytes in memory.
    """

    def __init__(self, read: Callable[[str], bytes | None], *, room: int) -> None:
        self._read = read
        self._room = room
        self._texts: dict[str, SearchText | None] = {}
        self._taken = 0
        self._outside = 0
        """Texts beyond the limit."""
        self._earlier: deque[_EarlierTextQuery] = deque(maxlen=_REMEMBERED)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def sort(self) -> None:
        """Put the texts in the order of their keys: of equally good ones the first come first."""
        self._texts = dict(sorted(self._texts.items()))

    def keys(self) -> KeysView[str]:
        return self._texts.keys()

    def put(self, key: str, text: SearchText) -> None:
        self._evict(key)
        if self._taken + text.weight <= self._room:
            self._taken += text.weight
            self._texts[key] = text
        else:
            self._outside += 1
            self._texts[key] = None
        self._invalidate(key)

    def remove(self, key: str) -> None:
        if key in self._texts:
            self._evict(key)
            del self._texts[key]
            self._invalidate(key)

    def get(self, key: str) -> SearchText | None:
        """A text; `None` if it is not here, or cannot be read any more."""
        text = self._texts.get(key)
        if text is not None or key not in self._texts:
            return text
        data = self._read(key)
        return None if data is None else SearchText(data)

    def find_matching(self, matcher: QueryMatcher, stop: Stop) -> list[str]:
        """The keys of the texts that hold the words.

        Raises:
            SearchCancelled: By `stop`.
        """
        found: list[str] = []
        plain = matcher.plain
        for keys, groups in self._find_candidates(matcher):
            if plain is None:
                found += self._filter_texts(keys, matcher.has_words, stop)
                continue
            known, left = {group[0].term for group in groups if len(group) == 1}, keys
            for needle in plain:
                if needle.term not in known:
                    left = self._filter_by_word(left, needle.word, stop, case=needle.case)
            found += left
        self._remember(matcher, found)
        return found

    def _filter_by_word(self, keys: Sequence[str], word: bytes, stop: Stop, *, case: bool = False) -> list[str]:
        """The keys whose texts hold a word, given as bytes of the folded text, or with `case` of the text itself."""
        if self._outside:
            return self._filter_texts(keys, lambda text: word in (text.data if case else text.folded), stop)
        found: list[str] = []
        texts = self._texts
        for start in range(0, len(keys), _A_RUN):  # in runs and without objects: it is done at every key
            check_cancelled(stop)
            run = keys[start : start + _A_RUN]
            if case:
                found += [key for key in run if word in texts[key].data]  # type: ignore[union-attr]  # none is outside
            else:
                found += [key for key in run if word in texts[key].folded]  # type: ignore[union-attr]
        return found

    def _filter_texts(self, keys: Sequence[str], passes: Callable[[SearchText], bool], stop: Stop) -> list[str]:
        return [key for key in iter_until_stopped(keys, stop) if (text := self.get(key)) is not None and passes(text)]

    def _find_candidates(self, matcher: QueryMatcher) -> Iterator[tuple[Sequence[str], tuple[Group, ...]]]:
        """Keys of texts that may match, and words that they are known to match."""
        fitting = [earlier for earlier in self._earlier if matcher.is_narrower_than(earlier.groups)]
        if not fitting:
            yield list(self._texts), ()
            return
        least = min(reversed(fitting), key=lambda earlier: len(earlier.keys) + len(earlier.changed))
        changed = least.changed
        yield [key for key in least.keys if key not in changed] if changed else least.keys, least.groups
        yield [key for key in changed if key in self._texts], ()

    def _remember(self, matcher: QueryMatcher, keys: list[str]) -> None:
        if matcher.groups:
            others = (each for each in self._earlier if each.groups != matcher.groups)
            self._earlier = deque(others, maxlen=_REMEMBERED)
            self._earlier.append(_EarlierTextQuery(matcher.groups, keys, set()))

    def _invalidate(self, key: str) -> None:
        """Search a changed text again beside the earlier matches."""
        for earlier in self._earlier:
            earlier.changed.add(key)
        if self._earlier and len(self._earlier[0].changed) > _CHANGES:
            self._earlier.clear()

    def _evict(self, key: str) -> None:
        if (text := self._texts.get(key)) is not None:
            self._taken -= text.weight
        elif key in self._texts:
            self._outside -= 1


_ROOM = 128 << 20
"""Bytes for the texts in memory: all that agents may write by default, unless it is full of capitals."""


_COUNTED = 500
"""Notes whose lines are all counted; of more, only those of the notes that are returned."""


@dataclass(slots=True)
class _MatchingNote:
    """A note that matches; its lines are found on demand."""

    path: str
    text: SearchText
    lines: MatchedLines | None = None

    def find_lines(self, matcher: QueryMatcher) -> MatchedLines:
        if self.lines is None:
            self.lines = matcher.find_lines(self.text)
        return self.lines


class TextIndex:
    """The texts of all notes. Not thread-safe.

    Args:
        read: Reads a note beyond the limit; `None` if it cannot be read any more.
        room: Bytes in memory.
    """

    def __init__(self, read: Callable[[str], bytes | None], *, room: int = _ROOM) -> None:
        self._cache = TextCache(read, room=room)
        self._unread: set[str] = set()
        self.others = 0
        """Notes that were searched by who fills the index, and are not in it."""

    def __len__(self) -> int:
        return len(self._cache)

    @property
    def unread(self) -> int:
        """Notes that are no text, or could not be read."""
        return len(self._unread)

    def put(self, path: str, data: bytes | None) -> None:
        """Add or replace a note; `data` is `None` if it could not be read."""
        if data is None or not is_utf8(data):
            self._cache.remove(path)
            self._unread.add(path)
        else:
            self._unread.discard(path)
            self._cache.put(path, SearchText(data))

    def sort(self) -> None:
        """Have the notes in the order of their paths."""
        self._cache.sort()

    def remove(self, path: str) -> None:
        self._cache.remove(path)
        self._unread.discard(path)

    def build_presence_test(self, matcher: QueryMatcher, stop: Stop = never_stop) -> Callable[[set[bytes]], set[bytes]]:
        """A function that returns which of some matching lines stand in a note now, or raises `SearchCancelled`."""
        paths: list[str] | None = None

        def find_present(lines: set[bytes]) -> set[bytes]:
            nonlocal paths
            if not lines:
                return set()
            if paths is None:
                paths = self._cache.find_matching(matcher, stop)
            with_ends = lines | {line + b"\r" for line in lines}
            still: set[bytes] = set()
            for path in iter_until_stopped(paths, stop):
                if (text := self._cache.get(path)) is not None:
                    still.update(with_ends.intersection(text.data.split(b"\n")))
            return {line.removesuffix(b"\r") for line in still}

        return find_present

    def get(self, path: str) -> SearchText | None:
        return self._cache.get(path)

    def find(
        self,
        matcher: QueryMatcher,
        *,
        accept: Callable[[str, SearchText], bool] | None = None,
        recency: Callable[[str], int] = lambda _: 0,
        limit: int = 200,
        per_note: int = 50,
        of: int = 0,
        whole_lines: bool = False,
        stop: Stop = never_stop,
    ) -> TextResults:
        """The lines that match.

        Args:
            matcher: The query.
            accept: Whether a note is searched; `None` for all.
            recency: When a note changed; of equally good notes the newer one comes first.
            limit: Most notes; the rest is counted.
            per_note: Most lines of each note; the rest is counted.
            of: How many notes there are, including those that were not added yet.
            whole_lines: Whether long lines are not cut.
            stop: Asked now and then whether to give up.

        Raises:
            SearchCancelled: By `stop`.
        """
        looked = len(self._cache) + len(self._unread) + self.others
        of = max(of, looked)
        if not matcher.looks_for_something:
            return TextResults(looked=looked, of=of, unread=len(self._unread))
        paths = self._cache.find_matching(matcher, stop)
        if accept is not None:
            texts = ((path, self._cache.get(path)) for path in iter_until_stopped(paths, stop))
            paths = [path for path, text in texts if text is not None and accept(path, text)]
        paths = sorted(paths, key=recency, reverse=True)
        notes = self._rank(paths, matcher, limit, stop)
        total = len(notes) if matcher.pattern is not None else len(paths)
        counted = notes[:limit] if total > max(_COUNTED, limit) else notes
        lines = sum(len(note.find_lines(matcher).numbers) for note in iter_until_stopped(counted, stop, every=8))
        brought = tuple(
            _build_note_hits(note, matcher, per_note, whole=whole_lines)
            for note in iter_until_stopped(notes[:limit], stop, every=8)
        )
        return TextResults(brought, total, lines, len(counted) < total, looked, of, len(self._unread))

    def _rank(self, paths: list[str], matcher: QueryMatcher, limit: int, stop: Stop) -> list[_MatchingNote]:
        """The best notes first: with the words side by side, then on one line, and then spread.

        Args:
            paths: In the order of equally good notes.
            limit: How many are needed; if there are many more, the last may be left out.
        """
        enough = len(paths)
        if matcher.pattern is None and enough > max(limit, _COUNTED):
            enough = limit  # otherwise only the lines tell which notes are found, or how many lines there are
        if matcher.is_one_word:
            return self._load_notes(paths[:enough])
        notes: list[_MatchingNote] = []
        if (phrase := matcher.side_by_side) is not None:
            first = set(self._cache.find_matching(phrase, stop))
            notes = self._load_notes([path for path in paths if path in first][:enough])
            paths = [path for path in paths if path not in first]
        spread: list[_MatchingNote] = []
        for path in iter_until_stopped(paths, stop, every=16):
            if len(notes) >= enough:
                break
            for note in self._load_notes([path]):
                lines = note.find_lines(matcher)
                if lines.numbers or matcher.pattern is None:
                    (notes if lines.hold_all else spread).append(note)
        return notes + spread

    def _load_notes(self, paths: Iterable[str]) -> list[_MatchingNote]:
        return [_MatchingNote(path, text) for path in paths if (text := self._cache.get(path)) is not None]


def _build_note_hits(note: _MatchingNote, matcher: QueryMatcher, limit: int, *, whole: bool) -> NoteHits:
    lines = note.text.data.split(b"\n")
    numbers = note.find_lines(matcher).numbers
    hits = (
        build_line_hit(at + 1, lines[at].decode("utf-8", "replace"), matcher, whole=whole) for at in numbers[:limit]
    )
    return NoteHits(note.path, tuple(hits), len(numbers))
