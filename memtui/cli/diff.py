"""`memtui diff`: what differs between two moments or two notes, as a patch."""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memtui.cli import moments, output, patches, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.moments import Spot
from memtui.cli.opened import opened
from memtui.cli.patches import FileDiff, Side
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.events import Change, Version
from memtui.core.history import PathVersion
from memtui.core.moments import Moment
from memtui.core.paths import MemoryPath
from memtui.core.snapshot import Kind
from memtui.engine import Engine


def _arguments(parser: Parser) -> None:
    parser.add_argument("a", metavar="A", help="a PATH, PATH@MOMENT, an event's number, or a time")
    parser.add_argument("b", metavar="B", nargs="?", help="the same; else now")
    parser.add_argument("--stat", action="store_true", help="only how many lines, file by file")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    path = places.folder(options)
    a, b = _operand(arguments.a, path), _operand(arguments.b, path) if arguments.b is not None else None
    with opened(path, options) as memory:
        return _print(_Asked(memory).compared(a, b), options, stat=arguments.stat)


def _operand(word: str, folder: str) -> Moment | Spot:
    """One word: a moment, a path, or both. A file that is called like a moment is written as `./today`."""
    try:
        return moments.moment(word)
    except argparse.ArgumentTypeError:
        found = moments.spot(word, folder)
        return found.moment if found.moment is not None and found.place.is_root else found


def _print(found: Iterable[FileDiff], options: Options, *, stat: bool) -> int:
    if options.json or stat:
        diffs = list(found)
        if options.json:
            output.document({"schema": output.SCHEMA, "files": [patches.record(diff) for diff in diffs]})
        elif diffs:
            patches.print_stat(diffs)
        return Exit.FINDINGS if diffs else Exit.OK
    differs = False
    for diff in found:
        differs = True
        patches.print_patch(diff)
    return Exit.FINDINGS if differs else Exit.OK


@dataclass(frozen=True, slots=True)
class _At:
    """A path at a moment, with what stood there."""

    path: str
    seq: int
    version: Version | None

    @property
    def is_directory(self) -> bool:
        return not self.path or (self.version is not None and self.version.kind is Kind.DIRECTORY)


class _Asked:
    """Finds what is to be compared."""

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self._head, _ = memory.head()

    def compared(self, a: Moment | Spot, b: Moment | Spot | None) -> Iterable[FileDiff]:
        """What two operands ask for, file by file."""
        match a, b:
            case Moment(seq=int(seq)), None:
                return self._of_event(seq)
            case Moment(), None:
                return self._between(moments.seq_of(self._memory, a, beginning=True), self._head)
            case Moment(), Moment():
                return self._between(*self._span(a, b))
            case Spot(moment=None), None:
                return self._last_change(a.place)
            case Spot(), None:
                return self._since(self._at(a))
            case Spot(), Spot():
                return self._two(self._at(a), self._at(b))
            case _:
                raise Failure(
                    Exit.USAGE,
                    "memtui diff: one of the two is a path and the other a moment. Write PATH@MOMENT for a path at a "
                    "moment, and ./NAME for a file that is called like one.",
                )

    def _span(self, a: Moment, b: Moment) -> tuple[int, int]:
        """Two moments as events: the older one from its beginning, the newer one to its end."""
        ends = [
            moments.seq_of(self._memory, each) if each.last_us is None else self._memory.history.seq_at(each.last_us)
            for each in (a, b)
        ]
        if ends[0] <= ends[1]:
            return moments.seq_of(self._memory, a, beginning=True), moments.seq_of(self._memory, b)
        return moments.seq_of(self._memory, a), moments.seq_of(self._memory, b, beginning=True)

    def _of_event(self, seq: int) -> Iterable[FileDiff]:
        event = self._memory.history.event(seq)
        if event is None:
            raise moments.no_event(self._memory, seq)
        if not event.changes:
            output.message(f"{moments.said(event)} changed nothing: {event.command}, {event.result.shown}.")
        return self._between(seq - 1, seq)

    def _between(self, old: int, new: int, below: str = "") -> Iterable[FileDiff]:
        return self._changed(self._memory.history.between(old, new, below), old, new)

    def _last_change(self, place: MemoryPath) -> Iterable[FileDiff]:
        version = self._memory.history.version_at(place.relative, self._head)
        if place.is_root or (version is not None and version.kind is Kind.DIRECTORY):
            event = self._memory.history.last_below(place.relative, self._head)
            if event is None:
                raise _never(place)
            return self._between(event.seq - 1, event.seq, place.relative)
        rows = self._memory.history.versions_of(place.relative, limit=1)
        if not rows:
            raise _never(place)
        row = rows[0]
        if row.before is not None and row.before.kind is Kind.DIRECTORY:
            return self._between(row.event.seq - 1, row.event.seq, place.relative)
        if row.event.command == "found":
            output.message(f"{place} has not changed since memtui first saw it, {moments.said_time(row.event)}.")
            return ()
        return [self._of_row(row)]

    def _of_row(self, row: PathVersion) -> FileDiff:
        seq = row.event.seq
        if row.moved_from is not None:
            return self._pair((row.moved_from, row.before, seq - 1), (row.path, row.after, seq), is_move=True)
        if row.moved_to is not None:
            return self._pair((row.path, row.before, seq - 1), (row.moved_to, row.before, seq), is_move=True)
        return self._pair((row.path, row.before, seq - 1), (row.path, row.after, seq))

    def _at(self, spot: Spot) -> _At:
        path = spot.place.relative
        if spot.moment is None:
            version = self._memory.history.version_at(path, self._head)
            if version is None and path:
                raise Failure(Exit.MISSING, f"Nothing at {spot.place}. What is there is listed by: memtui ls")
            return _At(path, self._head, version)
        seq = moments.seq_of(self._memory, spot.moment)
        version = self._memory.history.version_at(path, seq) if path else None
        if path and version is None:
            version = moments.insist_on_version(self._memory, spot.place, seq, spot.moment)
        return _At(path, seq, version)

    def _since(self, old: _At) -> Iterable[FileDiff]:
        """What became of something since a moment, wherever it was moved to."""
        if old.is_directory:
            return self._between(old.seq, self._head, old.path)
        path = self._moved_on(old)
        version = self._memory.history.version_at(path, self._head)
        if old.version == version and old.path == path:
            return []
        is_move = version is not None and old.path != path
        return [self._pair((old.path, old.version, old.seq), (path, version, self._head), is_move=is_move)]

    def _moved_on(self, old: _At) -> str:
        """What a file is called now that was at a path at a moment."""
        path, seq = old.path, old.seq
        while True:
            rows = reversed(self._memory.history.versions_of(path))
            away = next((row for row in rows if row.path == path and row.event.seq > seq and row.after is None), None)
            if away is None or away.moved_to is None:
                return path
            path, seq = away.moved_to, away.event.seq

    def _two(self, a: _At, b: _At) -> Iterable[FileDiff]:
        if a.is_directory and b.is_directory and a.path == b.path:
            return self._between(a.seq, b.seq, a.path)
        if a.is_directory or b.is_directory:
            name = MemoryPath.of(a.path if a.is_directory else b.path)
            raise Failure(
                Exit.USAGE, f"memtui diff: {name} is a directory; it can be compared with itself only, at two moments."
            )
        if a.version == b.version:
            return []
        return [self._pair((a.path, a.version, a.seq), (b.path, b.version, b.seq))]

    # Making pairs

    def _changed(self, changes: Iterable[Change], old: int, new: int) -> Iterator[FileDiff]:
        """Changes between two events as pairs of texts. A directory is told where nothing in it is."""
        changes = list(changes)
        for change, origin in patches.pairs(changes):
            if _is_directory(change) and any(each.path.startswith(change.path + "/") for each in changes):
                continue
            if change.before != change.after or origin is not None:
                before = (origin or change.path, change.before, old)
                yield self._pair(before, (change.path, change.after, new), is_move=origin is not None)

    def _pair(
        self, old: tuple[str, Version | None, int], new: tuple[str, Version | None, int], *, is_move: bool = False
    ) -> FileDiff:
        return FileDiff(self._side(*old), self._side(*new), is_move)

    def _side(self, path: str, version: Version | None, seq: int) -> Side:
        return Side(path, version, self._memory.history.text(version), self._label(path, seq) if version else "")

    def _label(self, path: str, seq: int) -> str:
        """When a path became what it was, as GNU `diff` writes times, and by which event."""
        event = self._memory.history.last_touching(path, seq)
        return f"{event.at.astimezone():%Y-%m-%d %H:%M:%S.%f %z} #{event.seq}" if event else ""


def _never(place: MemoryPath) -> Failure:
    return Failure(Exit.MISSING, f"Nothing was ever recorded at {place}. What is there is listed by: memtui ls")


def _is_below(path: str, directory: str) -> bool:
    return not directory or path == directory or path.startswith(directory + "/")


def _is_directory(change: Change) -> bool:
    version = change.after or change.before
    return version is not None and version.kind is Kind.DIRECTORY


VERB = Verb(
    "diff",
    "print what changed",
    (
        ("memtui diff notes/today.md", "what its last change was"),
        ("memtui diff notes/today.md@41", "what became of it since event 41"),
        ("memtui diff 41", "what event 41 changed"),
        ("memtui diff yesterday now", "what changed in the whole folder since"),
    ),
    _arguments,
    _run,
    (
        "A moment is an event's number, now, today, 2026-11-20, 10:14, 2h. Of two, the",
        "older counts from its beginning; PATH@MOMENT is as of its end. `patch -p1` takes",
        "the output. With --json: files: path, old_path, op, sha256_before, sha256_after,",
        "added, removed, hunks. Exit codes: 0 the same, 1 differs, 3 not there.",
    ),
)
