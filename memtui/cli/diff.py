"""`memtui diff`: the differences between two moments or two notes, as a patch."""

import argparse
from collections.abc import Iterable, Iterator

from memtui.cli import context, output, patch, times
from memtui.cli.context import open_memory
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError
from memtui.cli.parsing import Parser, Verb
from memtui.cli.patch import DiffSide, FileDiff
from memtui.cli.times import VersionedPath
from memtui.core.events import Change, EntryKind, Version, squash_changes
from memtui.core.history import PathVersion
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.times import PointInTime
from memtui.engine import Engine


def add_diff_options(parser: Parser) -> None:
    parser.add_value("a", "A", "a PATH, PATH@MOMENT, an event number, or a time")
    parser.add_value("b", "B", "the same; else now", nargs="?")
    parser.add_flag("--stat", "only how many lines, file by file")


def run_diff(options: Options, arguments: argparse.Namespace) -> int:
    path = context.resolve_folder(options)
    a, b = _parse_operand(arguments.a, path), _parse_operand(arguments.b, path) if arguments.b is not None else None
    with open_memory(path, options) as memory:
        return _print_diffs(_DiffFinder(memory).compare(a, b), options, stat=arguments.stat)


def _parse_operand(word: str, folder: str) -> PointInTime | VersionedPath:
    """One word: a moment, a path, or both. A file that is called like a moment is written as `./today`."""
    try:
        return times.parse_moment(word)
    except argparse.ArgumentTypeError:
        found = times.parse_versioned_path(word, folder)
        return found.moment if found.moment is not None and found.path.is_root else found


def _print_diffs(found: Iterable[FileDiff], options: Options, *, stat: bool) -> int:
    if options.json or stat:
        diffs = list(found)
        if options.json:
            output.print_json({"files": [patch.serialize_diff(diff) for diff in diffs]})
        elif diffs:
            patch.print_stat(diffs)
        return ExitCode.FINDINGS if diffs else ExitCode.OK
    differs = False
    for diff in found:
        differs = True
        patch.print_patch(diff)
    return ExitCode.FINDINGS if differs else ExitCode.OK


@dataclass(frozen=True, slots=True)
class _PathAt:
    """A path at a moment, with its version."""

    path: str
    seq: int
    version: Version | None

    @property
    def is_directory(self) -> bool:
        return not self.path or (self.version is not None and self.version.kind is EntryKind.DIRECTORY)


class _DiffFinder:
    """Finds the versions to compare."""

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self._head, _ = memory.get_head()

    def compare(self, a: PointInTime | VersionedPath, b: PointInTime | VersionedPath | None) -> Iterable[FileDiff]:
        """The differences that two operands ask for, file by file."""
        match a, b:
            case PointInTime(seq=int(seq)), None:
                return self._diff_event(seq)
            case PointInTime(), None:
                return self._diff_range(times.find_seq(self._memory, a, beginning=True), self._head)
            case PointInTime(), PointInTime():
                return self._diff_range(*self._resolve_span(a, b))
            case VersionedPath(moment=None), None:
                return self._diff_last_change(a.path)
            case VersionedPath(), None:
                return self._diff_since(self._locate(a))
            case VersionedPath(), VersionedPath():
                return self._diff_pair(self._locate(a), self._locate(b))
            case _:
                raise UsageError(
                    "memtui diff: one of the two is a path and the other a moment. Write PATH@MOMENT for a path at a "
                    "moment, and ./NAME for a file with such a name."
                )

    def _resolve_span(self, a: PointInTime, b: PointInTime) -> tuple[int, int]:
        """Two moments as events: the older one from its beginning, the newer one to its end."""
        ends = [
            times.find_seq(self._memory, each)
            if each.last_us is None
            else self._memory.history.find_seq_at(each.last_us)
            for each in (a, b)
        ]
        if ends[0] <= ends[1]:
            return times.find_seq(self._memory, a, beginning=True), times.find_seq(self._memory, b)
        return times.find_seq(self._memory, a), times.find_seq(self._memory, b, beginning=True)

    def _diff_event(self, seq: int) -> Iterable[FileDiff]:
        event = self._memory.history.get_event(seq)
        if event is None:
            raise times.make_no_event_failure(self._memory, seq)
        if not event.changes:
            output.print_message(f"{times.format_event(event)} changed nothing: {event.command}, {event.result.label}.")
        if event.command == "modified":
            return self._diff_changes(squash_changes(event.changes), seq - 1, seq)
        return self._diff_range(seq - 1, seq)

    def _diff_range(self, old: int, new: int, below: str = "") -> Iterable[FileDiff]:
        return self._diff_changes(self._memory.history.diff_between(old, new, below), old, new)

    def _diff_last_change(self, place: MemoryPath) -> Iterable[FileDiff]:
        version = self._memory.history.get_version_at(place.relative, self._head)
        if place.is_root or (version is not None and version.kind is EntryKind.DIRECTORY):
            event = self._memory.history.find_last_event_below(place.relative, self._head)
            if event is None:
                raise _make_unrecorded_failure(place)
            return self._diff_range(event.seq - 1, event.seq, place.relative)
        rows = self._memory.history.versions_of(place.relative, limit=1)
        if not rows:
            raise _make_unrecorded_failure(place)
        row = rows[0]
        if row.before is not None and row.before.kind is EntryKind.DIRECTORY:
            return self._diff_range(row.event.seq - 1, row.event.seq, place.relative)
        if row.event.command == "found":
            output.print_message(
                f"{place} has not changed since memtui first saw it, {times.format_event_time(row.event)}."
            )
            return ()
        return [self._diff_row(row)]

    def _diff_row(self, row: PathVersion) -> FileDiff:
        seq = row.event.seq
        if row.moved_from is not None:
            return self._make_file_diff((row.moved_from, row.before, seq - 1), (row.path, row.after, seq), is_move=True)
        if row.moved_to is not None:
            return self._make_file_diff((row.path, row.before, seq - 1), (row.moved_to, row.before, seq), is_move=True)
        return self._make_file_diff((row.path, row.before, seq - 1), (row.path, row.after, seq))

    def _locate(self, spot: VersionedPath) -> _PathAt:
        path = spot.path.relative
        if spot.moment is None:
            version = self._memory.history.get_version_at(path, self._head)
            if version is None and path:
                raise NotFound(f"Nothing at {spot.path}. To list the files: memtui ls")
            return _PathAt(path, self._head, version)
        seq = times.find_seq(self._memory, spot.moment)
        version = self._memory.history.get_version_at(path, seq) if path else None
        if path and version is None:
            version = times.require_version(self._memory, spot.path, seq, spot.moment)
        return _PathAt(path, seq, version)

    def _diff_since(self, old: _PathAt) -> Iterable[FileDiff]:
        """The changes of a path since a moment, also where it was moved."""
        if old.is_directory:
            return self._diff_range(old.seq, self._head, old.path)
        path = self._follow_moves(old)
        version = self._memory.history.get_version_at(path, self._head)
        if old.version == version and old.path == path:
            return []
        is_move = version is not None and old.path != path
        return [self._make_file_diff((old.path, old.version, old.seq), (path, version, self._head), is_move=is_move)]

    def _follow_moves(self, old: _PathAt) -> str:
        """The path now of a file that was at a path at a moment."""
        path, seq = old.path, old.seq
        while True:
            rows = reversed(self._memory.history.versions_of(path))
            away = next((row for row in rows if row.path == path and row.event.seq > seq and row.after is None), None)
            if away is None or away.moved_to is None:
                return path
            path, seq = away.moved_to, away.event.seq

    def _diff_pair(self, a: _PathAt, b: _PathAt) -> Iterable[FileDiff]:
        if a.is_directory and b.is_directory and a.path == b.path:
            return self._diff_range(a.seq, b.seq, a.path)
        if a.is_directory or b.is_directory:
            name = MemoryPath.from_relative(a.path if a.is_directory else b.path)
            raise UsageError(f"memtui diff: {name} is a directory; compare it with itself at two moments.")
        if a.version == b.version:
            return []
        return [self._make_file_diff((a.path, a.version, a.seq), (b.path, b.version, b.seq))]

    # Making pairs

    def _diff_changes(self, changes: Iterable[Change], old: int, new: int) -> Iterator[FileDiff]:
        """Changes between two events as pairs of texts; a directory only where nothing in it changed."""
        changes = list(changes)
        for change, origin in patch.pair_moves(changes):
            if _is_directory(change) and any(each.path.startswith(change.path + "/") for each in changes):
                continue
            if change.before != change.after or origin is not None:
                before = (origin or change.path, change.before, old)
                yield self._make_file_diff(before, (change.path, change.after, new), is_move=origin is not None)

    def _make_file_diff(
        self, old: tuple[str, Version | None, int], new: tuple[str, Version | None, int], *, is_move: bool = False
    ) -> FileDiff:
        return FileDiff(self._make_side(*old), self._make_side(*new), is_move)

    def _make_side(self, path: str, version: Version | None, seq: int) -> DiffSide:
        return DiffSide(
            path, version, self._memory.history.text(version), self._format_label(path, seq) if version else ""
        )

    def _format_label(self, path: str, seq: int) -> str:
        """The time of a version as GNU `diff` writes it, and its event."""
        event = self._memory.history.find_last_event(path, seq)
        return f"{event.at.astimezone():%Y-%m-%d %H:%M:%S.%f %z} #{event.seq}" if event else ""


def _make_unrecorded_failure(place: MemoryPath) -> Failure:
    return NotFound(f"{place} has no history. To list the files: memtui ls")


def _is_directory(change: Change) -> bool:
    version = change.after or change.before
    return version is not None and version.kind is EntryKind.DIRECTORY


DIFF_VERB = Verb("diff", add_diff_options, run_diff)
