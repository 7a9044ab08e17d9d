"""`memtui import-transcripts`: import the changes that session files tell of a memory folder into its journal."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.agents.transcripts.parse import COMPRESSED
from memtui.agents.transcripts.sessions import list_session_files, sum_sizes
from memtui.agents.transcripts.writes import TranscriptScan, scan_transcripts
from memtui.cli import context, output
from memtui.cli.context import open_memory, require_writable
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError
from memtui.cli.parsing import Parser, Verb
from memtui.core.events import Event, ImportedChange
from memtui.core.paths import MemoryPath, format_path
from memtui.core.wording import PLAIN, format_count, format_size
from memtui.engine import Engine

_NOT_DONE = "Nothing was imported"
_NAMED = 5
"""Files that cannot be read, and are named."""
_DRAWN_SECONDS = 0.1
_BAR = 24


def add_import_transcripts_options(parser: Parser) -> None:
    parser.add_value("files", "FILE", "session files; default: all of this machine", nargs="*")
    parser.add_flag("--git", "commits of the folder, in place of session files")
    parser.add_flag("-n --dry-run", "only list what would be imported")


def run_import_transcripts(options: Options, arguments: argparse.Namespace) -> int:
    if not arguments.dry_run:
        require_writable(options, _NOT_DONE)
    folder = context.resolve_folder(options)
    scan = (
        _read_commits(options, folder, arguments.files) if arguments.git else _read_sessions(options, folder, arguments)
    )
    with open_memory(folder, options) as memory:
        fresh = memory.imports.filter_unimported(scan.writes)
        events: list[Event] = []
        if fresh and not arguments.dry_run:
            fresh, events = _record_changes(memory, fresh, options)
        last = {each.path: each for each in fresh}
        missing = sorted(path for path, each in last.items() if not each.moved_to and _is_gone(memory, path))
    if options.json:
        output.print_json(_serialize_result(scan, fresh, events, missing))
    elif not options.quiet:
        _print_result(scan, fresh, missing, dry_run=arguments.dry_run)
    return ExitCode.OK


def _read_sessions(options: Options, folder: str, arguments: argparse.Namespace) -> TranscriptScan:
    files = [os.path.abspath(os.path.expanduser(each)) for each in arguments.files]
    files = files or list_session_files(folder)
    if not files:
        raise NotFound(f"{_NOT_DONE}: no session files were found. Name them: FILE")
    scan = _read_transcripts(options, folder, files)
    if scan.unreadable and not scan.files:
        path, reason = scan.unreadable[0]
        raise NotFound(f"{_NOT_DONE}: {format_path(path)} cannot be read: {reason}.")
    return scan


def _read_commits(options: Options, folder: str, files: list[str]) -> TranscriptScan:
    from memtui.agents.transcripts.git_history import NoRepository, scan_commits  # noqa: PLC0415 - start-up: for --git

    if files:
        raise UsageError("memtui import-transcripts: --git goes with no FILE. See: memtui import-transcripts --help")
    try:
        with _ProgressBar(options, 0) as bar:
            return scan_commits(folder, bar.report_read)
    except NoRepository as error:
        raise NotFound(f"{_NOT_DONE}: {error}.") from None
    except KeyboardInterrupt:
        raise Failure(ExitCode.INTERRUPTED, f"{_NOT_DONE}: stopped while reading the commits.") from None


def _record_changes(
    memory: Engine, fresh: list[ImportedChange], options: Options
) -> tuple[list[ImportedChange], list[Event]]:
    """Record changes as events; those that another import recorded meanwhile are left out."""
    with _ProgressBar(options, len(fresh)) as bar, bar.defer_interrupt():
        events = memory.imports.record(fresh, progress=bar.report_step)
    paths = {(event.call_id, event.path) for event in events}
    recorded = [each for each in fresh if (each.call_id, str(MemoryPath.from_relative(each.path))) in paths]
    if bar.is_stopped and len(recorded) < len(fresh):
        are = "is" if len(recorded) == 1 else "are"
        words = f"{format_count(len(recorded), 'change')} of {len(fresh):,} {are} imported"
        raise Failure(ExitCode.INTERRUPTED, f"Stopped: {words}. To import the rest: memtui import-transcripts")
    return recorded, events


def _read_transcripts(options: Options, folder: str, files: list[str]) -> TranscriptScan:
    try:
        with _ProgressBar(options, sum_sizes(files)) as bar:
            return scan_transcripts(folder, files, bar.report_read)
    except KeyboardInterrupt:
        raise Failure(ExitCode.INTERRUPTED, f"{_NOT_DONE}: stopped while reading the session files.") from None


def _is_gone(memory: Engine, path: str) -> bool:
    """Whether a path is deleted; one that was moved away is not."""
    if memory.get_entry(path) is not None:
        return False
    return all(row.moved_to is None for row in memory.history.versions_of(path, limit=1))


class _ProgressBar:
    """A progress bar on a terminal beside the output; `is_stopped` after Ctrl+C."""

    def __init__(self, options: Options, total: int) -> None:
        self.is_stopped = False
        self._total = max(total, 1)
        self._done = 0
        self._is_shown = output.is_terminal(sys.stderr) and not options.quiet
        self._drawn = 0.0

    def __enter__(self) -> "_ProgressBar":
        return self

    def __exit__(self, *_: object) -> None:
        """Take it off the screen."""
        if self._drawn:
            sys.stderr.write(f"\r{' ' * (_BAR + 32)}\r")
            sys.stderr.flush()

    @contextmanager
    def defer_interrupt(self) -> Iterator[None]:
        """Have Ctrl+C end it between two records, not within one."""

        def stop(_: int, __: object) -> None:
            self.is_stopped = True

        before = signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def report_read(self, count: int) -> bool:
        """More was read."""
        self._done += count
        self._draw(format_size(self._done, PLAIN))
        return True

    def report_step(self, done: int, total: int) -> bool:
        """So many of so many are recorded; `False` if no more is wanted."""
        self._done, self._total = done, max(total, 1)
        self._draw(f"{done:,} of {total:,}")
        return not self.is_stopped

    def _draw(self, words: str) -> None:
        now = time.monotonic()
        if not self._is_shown or now - self._drawn < _DRAWN_SECONDS:
            return
        self._drawn = now
        share = min(1.0, self._done / self._total)
        sys.stderr.write(f"\r[{'#' * round(share * _BAR):<{_BAR}}] {share:4.0%}  {words:<20}")
        sys.stderr.flush()


def _print_result(scan: TranscriptScan, fresh: list[ImportedChange], missing: list[str], *, dry_run: bool) -> None:
    output.print_line(_format_summary(scan, fresh, dry_run=dry_run))
    if missing:
        output.print_line(
            f"{format_count(len(missing), 'note')} of them {'is' if len(missing) == 1 else 'are'} deleted:"
        )
        for path in missing:
            output.print_line(f"  {output.pad_cell(str(MemoryPath.from_relative(path)), 0)}")
        if not dry_run:
            output.print_line("Restore one: memtui restore PATH")
    unknown = sum(each.after is None and not each.is_gone for each in fresh)
    if unknown:
        where = "commits" if any(not each.line for each in fresh) else "session files"
        output.print_message(f"The text of {format_count(unknown, 'write')} is not in the {where}.")
    passed_over = [
        f"{format_count(number, noun)} {words}"
        for number, noun, words in (
            (scan.broken, "line", "that cannot be read"),
            (scan.failed, "call", "that failed"),
            (scan.unfinished, "call", "without a result"),
        )
        if number
    ]
    if passed_over:
        output.print_message(f"Skipped: {', '.join(passed_over)}.")
    unreadable = [each for each in scan.unreadable if each[1] != COMPRESSED]
    if packed := len(scan.unreadable) - len(unreadable):
        words = (
            f"{format_count(packed, 'session file')} compressed with zstd {'was' if packed == 1 else 'were'} not read"
        )
        output.print_message(f"{words}. To read them: pip install zstandard")
    for path, reason in unreadable[:_NAMED]:
        output.print_message(f"{format_path(path)} cannot be read: {reason}.")
    if len(unreadable) > _NAMED:
        output.print_message(f"{format_count(len(unreadable) - _NAMED, 'more file')} cannot be read.")


def _format_summary(scan: TranscriptScan, fresh: list[ImportedChange], *, dry_run: bool) -> str:
    known = len(scan.writes) - len(fresh)
    where = format_count(scan.lines, "commit")
    if not scan.is_git:
        where = f"{format_count(scan.files, 'session file')} with {format_count(scan.lines, 'line')}"
    if not scan.writes:
        return f"{_NOT_DONE}: no change of this folder in {where}."
    if not fresh:
        return f"{_NOT_DONE}: all {format_count(known, 'change')} in {where} were imported before."
    notes = format_count(len({each.path for each in fresh}), "note")
    more = f"; {known:,} were imported before" if known else ""
    removals = sum(each.is_gone for each in fresh)
    numbers = ((len(fresh) - removals, "write"), (removals, "removal"))
    what = " and ".join(format_count(number, noun) for number, noun in numbers if number)
    start = "Would import" if dry_run else "Imported"
    return f"{start} {what} {'of' if removals else 'to'} {notes}, from {where}{more}."


def _serialize_result(
    scan: TranscriptScan, fresh: list[ImportedChange], events: list[Event], missing: list[str]
) -> dict[str, object]:
    return {
        "files": scan.files,
        "lines": scan.lines,
        "told": len(scan.writes),
        "new": [
            {
                "path": str(MemoryPath.from_relative(each.path)),
                "ts": output.format_utc(each.at_us) if each.at_us else None,
                "tool": each.tool,
                "session": each.agent.session,
                "call_id": each.call_id,
                "text_known": each.after is not None,
                "removed": each.is_gone,
            }
            for each in fresh
        ],
        "events": [event.seq for event in events],
        "gone": [str(MemoryPath.from_relative(path)) for path in missing],
        "broken_lines": scan.broken,
        "failed_calls": scan.failed,
        "unfinished_calls": scan.unfinished,
        "unreadable": [{"file": path, "reason": reason} for path, reason in scan.unreadable],
    }


IMPORT_TRANSCRIPTS_VERB = Verb("import-transcripts", add_import_transcripts_options, run_import_transcripts)
