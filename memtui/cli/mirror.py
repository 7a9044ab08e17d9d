"""`memtui mirror`: a folder is kept equal to another place of memories, for programs that know only files."""

import argparse
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.cli import context, output
from memtui.cli.follow import require_reader
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure
from memtui.cli.parsing import Parser, Verb
from memtui.cli.restore import confirm
from memtui.core.events import format_actor_in_sentence
from memtui.core.paths import resolve_place
from memtui.mirror import MirrorBusy, MirrorOptions, Report, WipeFound, follow, run_once

_ACCEPT = "To delete it there as well: --accept-wipe. To have it here again: memtui undo, or restore."


def add_mirror_options(parser: Parser) -> None:
    """Declare the arguments of `mirror`."""
    parser.add_value("source", "PLACE", "a folder, sqlite:FILE or an address")
    parser.add_value("folder", "FOLDER", "the folder; made if it was never mirrored")
    parser.add_flag("--once", "make both equal and end; else follow both")
    parser.add_flag("--accept-wipe", "carry what is missing now, however much it is")


def run_mirror(options: Options, given: argparse.Namespace) -> int:
    """Run `mirror`, and print each change. Raises `Failure` where the two cannot be mirrored."""
    context.require_writable(options, "Not mirrored")
    source, folder = resolve_place(given.source), resolve_place(given.folder)
    mirrored = MirrorOptions(
        source,
        folder,
        options.state,
        context.load_memory_settings(options, folder),
        accepts_wipes=given.accept_wipe,
    )
    printer = _ReportPrinter(options)
    with _stop_on_signals() as stop:
        try:
            if given.once:
                return _run_once(mirrored, printer, stop)
            follow(mirrored, stop=stop, report=printer.report, notify=printer.notify, ask=_ask, idle=require_reader)
        except WipeFound as wipe:
            raise Failure(ExitCode.REFUSED, f"{wipe} {_ACCEPT}") from wipe
        except MirrorBusy as busy:
            raise Failure(ExitCode.CONFLICT, str(busy)) from busy
    return ExitCode.OK


def _run_once(mirrored: MirrorOptions, printer: "_ReportPrinter", stop: threading.Event) -> int:
    is_accepted = False
    while True:
        try:
            mirror = run_once(mirrored, printer.report, stop)
        except WipeFound as wipe:
            if is_accepted or not _ask(wipe):
                raise
            is_accepted = True
            mirrored = mirrored.with_acceptance(True)
        else:
            return ExitCode.FINDINGS if mirror.left or not mirror.is_equal else ExitCode.OK


def _ask(wipe: WipeFound) -> bool:
    """Ask whether so much is to be deleted; without a terminal it is not."""
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
        return False
    other = "source" if wipe.side == "folder" else "folder"
    output.print_message(str(wipe))
    return confirm(f"Delete them in the {other} as well?", "Not deleted")


class _ReportPrinter:
    """Prints each change as one line, or as JSON."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def report(self, report: Report) -> None:
        """Print one change, at once."""
        if self._options.json:
            output.print_json_line(
                {
                    "schema": output.SCHEMA,
                    "kind": report.kind,
                    "to": report.to,
                    "path": report.path,
                    "new_path": report.new_path or None,
                    "actor": format_actor_in_sentence(report.actor) if report.actor is not None else None,
                    "seq": report.seq or None,
                    "reason": report.reason or None,
                }
            )
        elif not self._options.quiet or report.kind in ("conflict", "left"):
            output.print_line(report.sentence)
        output.flush()

    def notify(self, sentence: str) -> None:
        """Say beside the output what cannot be done for now."""
        output.print_message(sentence)


@contextmanager
def _stop_on_signals() -> Iterator[threading.Event]:
    """Set by Ctrl+C and by a signal that ends: the step that is done now is done to its end. A second one ends it."""
    stop = threading.Event()

    def end(number: int, _: object) -> None:
        signal.signal(number, before[number])
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {int(each): signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number in before:
        signal.signal(number, end)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


MIRROR_VERB = Verb("mirror", add_mirror_options, run_mirror)
