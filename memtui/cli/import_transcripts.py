"""`memtui import-transcripts`: bring what session files tell of a memory folder into its journal, with the texts."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.agents.transcripts.files import session_files, total_bytes
from memtui.agents.transcripts.writes import Heard, hear
from memtui.cli import output, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.events import Event
from memtui.core.listing import human_size
from memtui.core.paths import MemoryPath
from memtui.core.told import Told
from memtui.engine import Engine
from memtui.places import short

_NOT_DONE = "Nothing was imported"
_DRAWN_SECONDS = 0.1
_BAR = 24


def _arguments(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help="session files; else all of Claude Code's")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be imported")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    if not arguments.dry_run:
        insist_on_writing(options, _NOT_DONE)
    folder = places.folder(options)
    files = [os.path.abspath(os.path.expanduser(each)) for each in arguments.files]
    files = files or session_files(folder)
    if not files:
        raise Failure(Exit.MISSING, f"{_NOT_DONE}: no session files of Claude Code are here. Name them: FILE")
    heard = _heard(options, folder, files)
    if heard.unreadable and not heard.files:
        path, reason = heard.unreadable[0]
        raise Failure(Exit.MISSING, f"{_NOT_DONE}: {short(path)} cannot be read: {reason}.")
    with opened(folder, options) as memory:
        fresh = memory.not_imported(heard.told)
        wanted, events = len(fresh), list[Event]()
        if fresh and not arguments.dry_run:
            with _Bar(options, len(fresh)) as bar, bar.stopped_by_interrupt():
                events = memory.record_told(fresh, progress=bar.step)
            recorded = {(event.call_id, event.path) for event in events}
            # Another import may have brought some of them meanwhile, or it was stopped.
            fresh = [each for each in fresh if (each.call_id, str(MemoryPath.of(each.path))) in recorded]
            if bar.is_stopped and len(fresh) < wanted:
                words = f"{_counted(len(fresh), 'change')} of {wanted:,} {'is' if len(fresh) == 1 else 'are'} imported"
                raise Failure(Exit.INTERRUPTED, f"Stopped: {words}. The rest: memtui import-transcripts, again")
        last = {each.path: each for each in fresh}
        gone = sorted(path for path, each in last.items() if not each.moved_to and _is_gone(memory, path))
    if options.json:
        output.document(_record(heard, fresh, events, gone))
    elif not options.quiet:
        _print(heard, fresh, gone, dry_run=arguments.dry_run)
    return Exit.OK


def _heard(options: Options, folder: str, files: list[str]) -> Heard:
    try:
        with _Bar(options, total_bytes(files)) as bar:
            return hear(folder, files, bar.read)
    except KeyboardInterrupt:
        raise Failure(Exit.INTERRUPTED, f"{_NOT_DONE}: it was stopped while it read the session files.") from None


def _is_gone(memory: Engine, path: str) -> bool:
    """Whether nothing is there; what was moved away is not gone."""
    if memory.entry(path) is not None:
        return False
    return all(row.moved_to is None for row in memory.history.versions_of(path, limit=1))


class _Bar:
    """How far it is, on a terminal beside the output.

    Attributes:
        is_stopped: Whether the person has stopped it.
    """

    def __init__(self, options: Options, total: int) -> None:
        self.is_stopped = False
        self._total = max(total, 1)
        self._done = 0
        self._is_shown = output.is_terminal(sys.stderr) and not options.quiet
        self._drawn = 0.0

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        """Take it off the screen."""
        if self._drawn:
            sys.stderr.write(f"\r{' ' * (_BAR + 32)}\r")
            sys.stderr.flush()

    @contextmanager
    def stopped_by_interrupt(self) -> Iterator[None]:
        """Have Ctrl+C end it behind what is just being recorded, and not within."""

        def stop(_: int, __: object) -> None:
            self.is_stopped = True

        before = signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def read(self, count: int) -> bool:
        """More was read."""
        self._done += count
        self._draw(human_size(self._done))
        return True

    def step(self, done: int, total: int) -> bool:
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


def _print(heard: Heard, fresh: list[Told], gone: list[str], *, dry_run: bool) -> None:
    known = len(heard.told) - len(fresh)
    where = f"{_counted(heard.files, 'session file')} with {_counted(heard.lines, 'line')}"
    if not heard.told:
        output.line(f"{_NOT_DONE}: {where} tell of no change of this folder.")
    elif not fresh:
        output.line(f"{_NOT_DONE}: all {_counted(known, 'change')} that {where} tell of were imported before.")
    else:
        notes = _counted(len({each.path for each in fresh}), "note")
        more = f"; {known:,} were imported before" if known else ""
        start = "Would import" if dry_run else "Imported"
        removals = sum(each.is_gone for each in fresh)
        numbers = ((len(fresh) - removals, "write"), (removals, "removal"))
        what = " and ".join(_counted(number, noun) for number, noun in numbers if number)
        output.line(f"{start} {what} {'of' if removals else 'to'} {notes}, from {where}{more}.")
    if gone:
        output.line(f"{_counted(len(gone), 'note')} of them {'is' if len(gone) == 1 else 'are'} not there any more:")
        for path in gone:
            output.line(f"  {output.cell(str(MemoryPath.of(path)), 0)}")
        if not dry_run:
            output.line("Bring one back: memtui restore PATH")
    unknown = sum(each.after is None and not each.is_gone for each in fresh)
    if unknown:
        output.message(f"Of {_counted(unknown, 'write')} the text is not told, only that it was made.")
    passed_over = [
        f"{_counted(number, noun)} {words}"
        for number, noun, words in (
            (heard.broken, "line", "that cannot be read"),
            (heard.failed, "call", "that failed"),
            (heard.unfinished, "call", "without a result"),
        )
        if number
    ]
    if passed_over:
        output.message(f"Passed over: {', '.join(passed_over)}.")
    for path, reason in heard.unreadable:
        output.message(f"{short(path)} cannot be read: {reason}.")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def _record(heard: Heard, fresh: list[Told], events: list[Event], gone: list[str]) -> dict[str, object]:
    return {
        "schema": output.SCHEMA,
        "files": heard.files,
        "lines": heard.lines,
        "told": len(heard.told),
        "new": [
            {
                "path": str(MemoryPath.of(each.path)),
                "ts": output.utc(each.at_us) if each.at_us else None,
                "tool": each.tool,
                "session": each.agent.session,
                "call_id": each.call_id,
                "text_known": each.after is not None,
                "removed": each.is_gone,
            }
            for each in fresh
        ],
        "events": [event.seq for event in events],
        "gone": [str(MemoryPath.of(path)) for path in gone],
        "broken_lines": heard.broken,
        "failed_calls": heard.failed,
        "unfinished_calls": heard.unfinished,
        "unreadable": [{"file": path, "reason": reason} for path, reason in heard.unreadable],
    }


VERB = Verb(
    "import-transcripts",
    "what sessions tell",
    (
        ("memtui import-transcripts --dry-run", "what session files tell of it"),
        ("memtui import-transcripts s.jsonl", "only this one"),
    ),
    _arguments,
    _run,
    (
        "Each write or removal becomes an event that changed nothing, marked as imported,",
        "with text, session and prompt: for history, origin, and to restore what is gone.",
        "Again imports only what is new. Ctrl+C ends it; what is imported stays.",
        "Exit codes: 0 done or nothing new, 3 no session file, 4 read-only, 130 stopped.",
    ),
)
