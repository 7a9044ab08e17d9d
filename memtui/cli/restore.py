"""`memtui restore`: restore a note, a directory or the whole folder as of a moment."""

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from memtui.cli import context, event_text, output, times
from memtui.cli.context import open_memory, require_writable
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError
from memtui.cli.parsing import Parser, Verb
from memtui.cli.times import VersionedPath
from memtui.core.events import Change, EntryKind, Event, Version
from memtui.core.history import ActionResult, SkippedPath, SkipReason, describe_rest
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine

# Confirmation and results, shared with undo, redo, rm, mv, review and prune.

_NAMED = 20
"""How many paths are named before a question."""
_MISTAKES = frozenset({SkipReason.BAD_NAME, SkipReason.INTO_ITSELF, SkipReason.TWICE})
"""Reasons that lie in the request."""


def add_confirm_options(parser: Parser) -> None:
    """Declare the options of verbs that ask before they change something."""
    parser.add_flag("-n --dry-run", "only list what would change")
    parser.add_flag("-y --yes", "do not ask")


def run_with_confirmation(
    act: Callable[[bool], ActionResult],
    options: Options,
    arguments: argparse.Namespace,
    *,
    done: Callable[[ActionResult], str],
    question: str,
    not_done: str,
    folder: str,
    ask: bool = True,
) -> int:
    """Rehearse, ask or act, print the result, and return the exit code.

    Args:
        act: Takes whether it only rehearses.
        options: The options of all verbs.
        arguments: With those of `add_confirm_options`.
        done: Makes the sentence of success.
        question: Such as `Restore this?`
        not_done: Such as `Not restored`.
        folder: The memory folder, for programs.
        ask: Whether the person is asked, unless `--yes` is given.
    """
    dry_run: bool = arguments.dry_run
    if dry_run or (ask and not arguments.yes):
        rehearsed = act(True)
        if dry_run or not rehearsed.changes:
            return print_result(rehearsed, options, "", folder=folder, dry_run=dry_run)
        _print_preview(rehearsed, output.print_message)
        if not confirm(question, not_done):
            output.print_message(f"{not_done}. Nothing was written.")
            return ExitCode.FINDINGS
    result = act(False)
    return print_result(result, options, done(result) if result.event else "", folder=folder, dry_run=False)


def confirm(question: str, not_done: str, details: Iterable[str] = ()) -> bool:
    """Ask a person; anything but a clear yes is a no. Raises `Failure` without a terminal.

    Args:
        details: Lines that `s` shows before the question is asked again.
    """
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
        raise UsageError(f"{not_done}: no terminal to confirm in. Use --yes")
    lines = [f"{line}\n" for line in details]
    question = f"{to_one_line(question)}  y yes  n no{'  s show' if lines else ''}: "
    while True:
        output.write_stderr([question])
        answer = sys.stdin.readline().strip().casefold()
        if not lines or answer not in ("s", "show"):
            return answer in ("y", "yes")
        output.write_stderr(["\n", *lines])


def print_result(
    restored: ActionResult,
    options: Options,
    done: str,
    *,
    folder: str,
    dry_run: bool,
    more: Mapping[str, object] = MappingProxyType({}),
) -> int:
    """Print a result, and return the exit code; `done` is the sentence of success, empty for a failure."""
    if options.json:
        output.print_json({**serialize_restored(restored, folder, dry_run=dry_run), **more})
    elif dry_run and restored.changes:
        _print_preview(restored, output.print_line)
    elif done and not options.quiet:
        output.print_line(done)
    if restored.problem and not options.json:
        output.print_message(restored.problem + _suggest_diff(restored.skipped))
    if not options.json:
        for skipped in restored.skipped if restored.changes or len(restored.skipped) > 1 else ():
            output.print_message(f"{describe_rest([skipped])}.")
    return get_exit_code(restored)


def format_undo_hint(result: ActionResult) -> str:
    """The command that undoes a result, as the end of its sentence; empty if nothing was done."""
    return f"Undo: memtui undo {result.event.seq}" if result.event else ""


def get_exit_code(restored: ActionResult) -> ExitCode:
    """The exit code of a result."""
    if restored.event is not None:
        return ExitCode.FINDINGS if restored.problem else ExitCode.OK
    if not restored.problem:
        return ExitCode.OK if restored.changes else ExitCode.MISSING
    if any(each.reason in _MISTAKES for each in restored.skipped):
        return ExitCode.USAGE
    is_missing = all(each.reason.is_final or each.reason is SkipReason.MISSING for each in restored.skipped)
    return ExitCode.MISSING if is_missing else ExitCode.CONFLICT


def _suggest_diff(skipped: Sequence[SkippedPath]) -> str:
    changed = next((each for each in skipped if each.reason is SkipReason.CHANGED), None)
    return f" See: memtui diff {shlex.quote(changed.path)}" if changed is not None and changed.path else ""


def _print_preview(restored: ActionResult, printed: Callable[[str], None]) -> None:
    """Print how many files would change, and which."""
    files = select_visible_changes(restored.changes)
    printed(f"Changes: {format_change_counts(restored.changes)}.")
    shown = files if printed is output.print_line else files[:_NAMED]
    for change in shown:
        printed(f"  {get_sign(change)} {to_one_line(change.path)}")
    if len(files) > len(shown):
        printed(f"  and {len(files) - len(shown):,} more; --dry-run lists them all")


def select_visible_changes(changes: Sequence[Change]) -> list[Change]:
    """Changes of files and links, sorted; directories only where nothing else changes."""
    files = [change for change in changes if _get_kind(change) is not EntryKind.DIRECTORY]
    return sorted(files or changes, key=lambda change: change.path.split("/"))


def format_change_counts(changes: Sequence[Change]) -> str:
    """How many, such as `1 file deleted`, or `3 files: 1 added, 2 changed`."""
    shown = select_visible_changes(changes)
    signs = [get_sign(change) for change in shown]
    verbs = {"+": "added", "~": "changed", "-": "deleted"}
    parts = [(count, verb) for sign, verb in verbs.items() if (count := signs.count(sign))]
    if len(parts) == 1:
        return f"{format_file_count(shown)} {parts[0][1]}"
    return f"{format_file_count(shown)}: {', '.join(f'{count:,} {verb}' for count, verb in parts)}"


def format_file_count(changes: Sequence[Change]) -> str:
    """How many files, or directories where there are only such."""
    if all(_get_kind(change) is EntryKind.DIRECTORY for change in changes):
        return format_count(len(changes), "directory", "directories")
    return format_count(len(changes), "file")


def get_sign(change: Change) -> str:
    """`+` for added, `-` for removed, `~` for changed."""
    return "+" if change.before is None else "-" if change.after is None else "~"


def _get_kind(change: Change) -> EntryKind | None:
    version = change.after or change.before
    return version.kind if version else None


def serialize_restored(restored: ActionResult, folder: str, *, dry_run: bool) -> dict[str, object]:
    """A result as JSON."""
    return {
        "schema": output.SCHEMA,
        "done": restored.event is not None,
        "dry_run": dry_run,
        "problem": restored.problem or None,
        "changes": [event_text.serialize_change(change) for change in restored.changes],
        "left": [
            {
                "path": str(MemoryPath.from_relative(skipped.path)),
                "reason": skipped.reason.name.lower(),
                "since": skipped.since.seq if skipped.since and skipped.since.seq else None,
                "detail": skipped.detail or None,
            }
            for skipped in restored.skipped
        ],
        "event": event_text.serialize_event(restored.event, folder) if restored.event is not None else None,
    }


_NOT_DONE = "Not restored"


def add_restore_options(parser: Parser) -> None:
    parser.add_value("paths", "PATH", "notes or directories; PATH@MOMENT as with --at", nargs="*")
    parser.add_value("--at", "MOMENT", "as of when: 41, 2026-11-20, 10:14, 2h ago", type=times.parse_moment)
    parser.add_flag("--all", "the whole folder, exactly as it was; needs --at")
    add_confirm_options(parser)


def run_restore(options: Options, arguments: argparse.Namespace) -> int:
    if bool(arguments.paths) is arguments.all:
        raise UsageError("memtui restore: give a PATH, or --all. See: memtui restore --help")
    if arguments.all and arguments.at is None:
        raise UsageError("memtui restore: --all needs --at MOMENT. To list the events: memtui log")
    if not arguments.dry_run:
        require_writable(options, _NOT_DONE)
    path = context.resolve_folder(options)
    spots = [times.parse_versioned_path(given, path, arguments.at) for given in arguments.paths]
    with open_memory(path, options) as memory:
        request = _RestoreRequest(memory)
        if arguments.all:
            request.add_directory(MemoryPath(), times.find_seq(memory, arguments.at))
        for spot in spots:
            request.add(spot)
        return run_with_confirmation(
            request.restore,
            options,
            arguments,
            done=request.format_result,
            question="Restore this?",
            not_done=_NOT_DONE,
            folder=path,
            ask=not request.is_one_file,
        )


@dataclass(frozen=True, slots=True)
class _RestorePart:
    """A path to restore as of right after event `seq`; `version` is `None` for a whole directory."""

    path: str
    seq: int
    version: Version | None
    event: Event | None


class _RestoreRequest:
    """Finds the versions of the named paths, and restores them as one event."""

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self._head, _ = memory.get_head()
        self.parts: list[_RestorePart] = []

    @property
    def is_one_file(self) -> bool:
        """Whether one file is restored, which needs no question."""
        return len(self.parts) == 1 and self.parts[0].version is not None

    def restore(self, rehearse: bool) -> ActionResult:
        """Act, or only rehearse."""
        versions: dict[str, Version | None] = {}
        expected: dict[str, Version | None] = {}
        for part in self.parts:
            if part.version is not None:
                versions[part.path] = part.version
                continue
            for change in self._memory.history.diff_between(self._head, part.seq, part.path):
                versions.setdefault(change.path, change.after)
                expected.setdefault(change.path, change.before)
        seqs = {part.event.seq if part.event else part.seq for part in self.parts}
        return self._memory.restore(
            versions,
            expected=expected,
            rehearse=rehearse,
            note=f"as of #{seqs.pop()}" if len(seqs) == 1 else "",
            path=self.parts[0].path if len(self.parts) == 1 else None,
        )

    def format_result(self, result: ActionResult) -> str:
        """That it was done, as a sentence."""
        part = self.parts[0]
        then = f" as of {times.format_event(part.event)}" if part.event else ""
        if self.is_one_file:
            what = f"Restored {part.path}{then}."
        elif len(self.parts) == 1:
            what = f"Restored {part.path or 'the whole folder'}{then}; {format_change_counts(result.changes)}."
        else:
            what = f"Restored {format_change_counts(result.changes)}."
        return f"{to_one_line(what)} {format_undo_hint(result)}"

    def add(self, spot: VersionedPath) -> None:
        """Add a path as of a moment, or as before its last change. Raises `Failure` if it did not exist."""
        if spot.path.is_root:
            raise UsageError("memtui restore: that is the whole folder. Use: memtui restore --all --at MOMENT")
        if spot.moment is None:
            self.parts.append(self._find_previous(spot.path))
            return
        seq = times.find_seq(self._memory, spot.moment)
        version = times.require_version(self._memory, spot.path, seq, spot.moment)
        if version.kind is EntryKind.DIRECTORY:
            self.add_directory(spot.path, seq)
        else:
            event = self._memory.history.find_last_event(spot.path.relative, seq)
            self.parts.append(_RestorePart(spot.path.relative, seq, version, event))

    def add_directory(self, place: MemoryPath, seq: int) -> None:
        """Add a directory exactly as after an event. Raises `Failure` before the record began."""
        if seq == 0:
            raise NotFound("Not restored: the history does not reach back that far. Nothing was written.")
        self.parts.append(_RestorePart(place.relative, seq, None, self._memory.history.get_event(seq)))

    def _find_previous(self, place: MemoryPath) -> _RestorePart:
        """The version of a path before its last change, or its last one."""
        now = self._memory.history.get_version_at(place.relative, self._head)
        rows = self._memory.history.versions_of(place.relative)
        heard = (
            row for row in self._memory.history.get_imported_versions(place.relative) if row.after and row.after.sha256
        )
        if not rows and (last := next(heard, None)) is not None:
            return _RestorePart(place.relative, last.event.seq, last.after, last.event)
        if not rows:
            raise NotFound(f"{place} has no history. To list the files: memtui ls")
        for row in rows:
            before, seq = row.before, row.event.seq - 1
            if before is None or before == now:
                continue
            if before.kind is EntryKind.DIRECTORY:
                raise _make_ambiguous_failure(place, seq)
            return _RestorePart(
                place.relative, seq, before, self._memory.history.find_last_event(row.moved_from or row.path, seq)
            )
        if now is not None and now.kind is EntryKind.DIRECTORY:
            raise _make_ambiguous_failure(place, None)
        first = times.format_event_time(rows[-1].event)
        raise NotFound(
            f"Not restored: {place} has not changed since it was first recorded, {first}. Nothing was written."
        )


def _make_ambiguous_failure(place: MemoryPath, last: int | None) -> Failure:
    name = shlex.quote(place.relative)
    hint = f"It last existed as of #{last}: memtui restore {name} --at {last}" if last else "Use --at MOMENT."
    return UsageError(f"memtui restore: {place} is a directory: give a moment. {hint}")


RESTORE_VERB = Verb("restore", add_restore_options, run_restore)
