"""The notes that stand now, and the lines of them that match."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from memtui.search.found import NoteHits, TextFound
from memtui.search.lines import line_hit
from memtui.search.shelf import Shelf
from memtui.search.stopping import Stop, never, unless_stopped
from memtui.search.wanted import Lines, Text, Wanted, is_text

_ROOM = 128 << 20
"""Bytes that the texts may take in memory: all that agents may write by default, unless it is full of capitals."""


_COUNTED = 500
"""Notes whose lines are all counted; of more, only those of the notes that are brought."""


@dataclass(slots=True)
class _Note:
    """A note that holds what is looked for."""

    path: str
    text: Text
    lines: Lines | None = None
    """Which of its lines are shown; `None` if nobody looked yet."""

    def lines_for(self, wanted: Wanted) -> Lines:
        """The same, looked for at the latest now."""
        if self.lines is None:
            self.lines = wanted.lines_of(self.text)
        return self.lines


class Texts:
    """The texts of all notes. Not for several threads at once.

    Args:
        read: Reads a note for which there is no room in memory; `None` if it cannot be read any more.
        room: Bytes that they may take in memory.
    """

    def __init__(self, read: Callable[[str], bytes | None], *, room: int = _ROOM) -> None:
        self._shelf = Shelf(read, room=room)
        self._unread: set[str] = set()

    def __len__(self) -> int:
        return len(self._shelf)

    @property
    def unread(self) -> int:
        """Notes that are no text, or could not be read."""
        return len(self._unread)

    @property
    def paths(self) -> Collection[str]:
        """Of the notes that are texts."""
        return self._shelf.keys

    def put(self, path: str, data: bytes | None) -> None:
        """Take in what a note says now.

        Args:
            path: Relative to the folder.
            data: Its bytes; `None` if they could not be read.
        """
        if data is None or not is_text(data):
            self._shelf.remove(path)
            self._unread.add(path)
        else:
            self._unread.discard(path)
            self._shelf.put(path, Text(data))

    def remove(self, path: str) -> None:
        """A note is not there any more."""
        self._shelf.remove(path)
        self._unread.discard(path)

    def standing(self, wanted: Wanted, stop: Stop = never) -> Callable[[set[bytes]], set[bytes]]:
        """What tells which of some lines, all of which match, stand in some note now; it raises `Stopped` as well."""
        paths: list[str] | None = None

        def standing(lines: set[bytes]) -> set[bytes]:
            nonlocal paths
            if not lines:
                return set()
            if paths is None:
                paths = self._shelf.holding(wanted, stop)
            with_ends = lines | {line + b"\r" for line in lines}
            still: set[bytes] = set()
            for path in unless_stopped(paths, stop):
                if (text := self._shelf.get(path)) is not None:
                    still.update(with_ends.intersection(text.data.split(b"\n")))
            return {line.removesuffix(b"\r") for line in still}

        return standing

    def get(self, path: str) -> Text | None:
        """The text of a note; `None` if there is none."""
        return self._shelf.get(path)

    def find(
        self,
        wanted: Wanted,
        *,
        accept: Callable[[str, Text], bool] | None = None,
        recency: Callable[[str], int] = lambda _: 0,
        limit: int = 200,
        per_note: int = 50,
        of: int = 0,
        whole_lines: bool = False,
        stop: Stop = never,
    ) -> TextFound:
        """The lines that match.

        Args:
            wanted: What is looked for.
            accept: Whether a note is looked at; `None` for all.
            recency: When a note changed, the later the larger: of equally good notes the newer one comes first.
            limit: Notes that are brought; the others are counted.
            per_note: Lines of each note that are brought; the others are counted.
            of: How many notes there are, those included that were not taken in yet.
            whole_lines: Whether long lines are not cut.
            stop: Asked now and then whether to give up.

        Raises:
            Stopped: It was given up.
        """
        looked = len(self._shelf) + len(self._unread)
        of = max(of, looked)
        if not wanted.looks_for_something:
            return TextFound(looked=looked, of=of, unread=len(self._unread))
        paths = self._shelf.holding(wanted, stop)
        if accept is not None:
            get = self._shelf.get
            paths = [
                path for path in unless_stopped(paths, stop) if (text := get(path)) is not None and accept(path, text)
            ]
        paths = sorted(paths, key=recency, reverse=True)
        notes = self._best(paths, wanted, limit, stop)
        total = len(notes) if wanted.pattern is not None else len(paths)
        counted = notes[:limit] if total > max(_COUNTED, limit) else notes
        lines = sum(len(note.lines_for(wanted).numbers) for note in unless_stopped(counted, stop, every=8))
        brought = tuple(
            _hits(note, wanted, per_note, whole=whole_lines) for note in unless_stopped(notes[:limit], stop, every=8)
        )
        return TextFound(brought, total, lines, len(counted) < total, looked, of, len(self._unread))

    def _best(self, paths: list[str], wanted: Wanted, limit: int, stop: Stop) -> list[_Note]:
        """The best notes first: where the words are side by side, then on one line, and then spread.

        Args:
            paths: Of the notes, in the order in which equally good ones come.
            wanted: What is looked for.
            limit: How many are needed; if there are many more, those behind may be left out.
            stop: Asked now and then whether to give up.
        """
        enough = len(paths)
        if wanted.pattern is None and enough > max(limit, _COUNTED):
            enough = limit  # otherwise only the lines tell which notes are found, or how many lines there are
        if wanted.is_one_word:
            return self._notes(paths[:enough])
        notes: list[_Note] = []
        if (phrase := wanted.side_by_side) is not None:
            first = set(self._shelf.holding(phrase, stop))
            notes = self._notes([path for path in paths if path in first][:enough])
            paths = [path for path in paths if path not in first]
        spread: list[_Note] = []
        for path in unless_stopped(paths, stop, every=16):
            if len(notes) >= enough:
                break
            for note in self._notes([path]):
                lines = note.lines_for(wanted)
                if lines.numbers or wanted.pattern is None:
                    (notes if lines.hold_all else spread).append(note)
        return notes + spread

    def _notes(self, paths: Iterable[str]) -> list[_Note]:
        return [_Note(path, text) for path in paths if (text := self._shelf.get(path)) is not None]


def _hits(note: _Note, wanted: Wanted, limit: int, *, whole: bool) -> NoteHits:
    lines = note.text.data.split(b"\n")
    numbers = note.lines_for(wanted).numbers
    hits = (line_hit(at + 1, lines[at].decode("utf-8", "replace"), wanted, whole=whole) for at in numbers[:limit])
    return NoteHits(note.path, tuple(hits), len(numbers))
