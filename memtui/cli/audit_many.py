"""`memtui audit A B C` and `--everywhere`: many folders, a few at a time in processes of their own, as one report."""

import argparse
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from multiprocessing import connection, get_context
from typing import TYPE_CHECKING, Any

from memtui.audit.model import Audit
from memtui.audit.report.folder_report import FolderReport, format_total
from memtui.audit.report.many import merge_reports, render_one, render_overview
from memtui.audit.rule_files import find_rule_packages
from memtui.cli import context, output
from memtui.cli.audit_job import (
    AuditJob,
    SessionOpener,
    SharedInputs,
    audit_folder,
    build_audit_job,
    load_rules,
    open_sessions,
    render_for_output,
)
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError, show_progress_line
from memtui.core.errors import MemtuiError
from memtui.core.paths import format_path, resolve_place
from memtui.core.unicode import to_one_line
from memtui.fs.exports import ExportWriter, WriteFailed
from memtui.fs.state import get_state_directory

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

Renderer = Callable[[Audit, AuditJob, int], str]

_OF_ONE = ("baseline", "write_baseline", "repo", "journal", "review", "watch", "ask_model")
"""Options that are about one folder."""
_MOST_JOBS = 8
_ENDED = "Its process ended early. Nothing was changed."
_MOST_AT_ONCE = 128
"""Folders that a process audits: it loads the rules once, and what it collects is given back when it ends."""


def audit_many(options: Options, arguments: argparse.Namespace) -> int:
    """Audit many folders, write one report, and return the exit code: that of the folder where it is the highest."""
    format = _choose_format(options, arguments)
    folders, closed = _list_folders(arguments)
    if not options.quiet:  # once, and not once for each of them
        load_rules(options, arguments, context.load_config(options), None)
    taken_us = time.time_ns() // 1_000
    is_printed = arguments.output in (None, "-")
    # A person sees each report at once, and the table last; a program of `--everywhere` takes lines as they come.
    is_streamed = is_printed and (
        output.is_terminal(sys.stdout) if format == "text" else arguments.everywhere and format == "jsonl"
    )
    found: list[FolderReport] = []
    with show_progress_line(quiet=options.quiet) as progress:
        audits = _audit_all(replace(options, json=False, quiet=True), arguments, folders, format)
        for number, report in enumerate(chain(closed, audits), start=1):
            found.append(report)
            text = render_one(report, format, everything=arguments.all) if is_streamed else ""
            if progress is not None:
                progress("audit", number, 0 if text else len(folders) + len(closed))
            if text:
                _print(text)
    if is_streamed:
        _print(render_overview(found) if format == "text" else "")
    elif is_printed:
        _print(merge_reports(found, format, taken_us=taken_us, everything=arguments.all))
    else:
        text = merge_reports(found, format, taken_us=taken_us, everything=arguments.all)
        states = [get_state_directory(folder, options.state) for folder in folders]
        outgoing = ExportWriter(None, None, others=[*folders, *states], nothing="No report was written.")
        outgoing.write(arguments.output, text.encode("utf-8", "backslashreplace"), force=arguments.force)
        if not options.quiet:
            shown = format_path(os.path.abspath(arguments.output))
            output.print_message(f"{format_total(found)} The report is in {shown}.")
    for each in found if not options.quiet else ():
        if each.problem:
            output.print_message(f"{each.title} was not audited: {each.problem}")
    return max((each.code for each in found), default=ExitCode.OK)


def _print(text: str) -> None:
    output.write_bytes(text.encode("utf-8", "backslashreplace"))
    output.flush()


def _choose_format(options: Options, arguments: argparse.Namespace) -> str:
    """The format of the report; `UsageError` for what is about one folder."""
    for name in _OF_ONE:
        if getattr(arguments, name) not in (None, False):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"memtui audit: {option} works for one folder only. Name one, or leave it out.")
    if options.json and arguments.format not in (None, "json"):
        raise UsageError(f"memtui audit: --json and --format {arguments.format} do not go together. Leave out one.")
    return "json" if options.json else arguments.format or "text"


def _list_folders(arguments: argparse.Namespace) -> tuple[list[str], list[FolderReport]]:
    """The folders, with links resolved, each once; and what is said of those that are found and cannot be read."""
    given = [resolve_place(each) for each in arguments.folders]
    closed: list[FolderReport] = []
    if arguments.everywhere:
        from memtui.places.folders import find_memory_folders  # noqa: PLC0415 - start-up: only where all are asked for

        places = [place for place in find_memory_folders(limit=None) if place.files]
        given += [place.path for place in places if not place.closed]
        closed = [
            FolderReport(place.display_path, ExitCode.FINDINGS, {}, "", place.closed)
            for place in places
            if place.closed
        ]
        if not given and not closed:
            raise NotFound(
                "No memory folder found in the usual places. Nothing was audited. Name one: memtui audit DIR"
            )
    return list(dict.fromkeys(given)), closed


def _audit_all(
    options: Options, arguments: argparse.Namespace, folders: Sequence[str], format: str
) -> Iterator[FolderReport]:
    """Audit folders in a few processes that give up their rights; each report as soon as there is one.

    A process audits several folders, one after the other. If it ends early, that is told of the folder which it was at;
    the others are audited by another one.
    """
    jobs = min(arguments.jobs or os.cpu_count() or 1, _MOST_JOBS)
    waiting = deque(folders)
    forking = get_context("fork")
    running: dict[Any, tuple[deque[str], ForkProcess]] = {}  # by the end of a pipe that is read
    render = _choose_renderer(format, len(folders))
    sys.stdout.flush()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                size = max(1, min(_MOST_AT_ONCE, len(waiting) // (2 * jobs)))
                batch = deque(waiting.popleft() for _ in range(size))
                asked, answering = forking.Pipe(duplex=False)
                words = (answering, options, arguments, tuple(batch), format, render)
                process = forking.Process(target=_audit_in_process, args=words, daemon=True)
                process.start()
                answering.close()
                running[asked] = batch, process
            ready: list[Any] = connection.wait(list(running))
            for answered in ready:
                batch, process = running[answered]
                report = _receive(answered, batch.popleft())
                if report.problem == _ENDED or not batch:
                    del running[answered]
                    answered.close()
                    process.join()
                    waiting.extendleft(reversed(batch))
                yield report
    finally:
        for _, process in running.values():
            process.terminate()


def _receive(asked: Any, folder: str) -> FolderReport:
    try:
        return FolderReport(*json.loads(asked.recv_bytes()))
    except (EOFError, OSError):
        return FolderReport(_format_title(folder), ExitCode.INTERNAL, {}, "", _ENDED)


def _format_title(folder: str) -> str:
    return to_one_line(format_path(folder))


def _choose_renderer(format: str, folders: int) -> Renderer:
    """What renders the report of one of so many folders; loaded once, and not by each process."""
    if format != "html":
        return render_for_output
    from memtui.audit.report.html import render_folder  # noqa: PLC0415 - start-up: one format of a run
    from memtui.audit.report.html_many import choose_extent  # noqa: PLC0415 - as above

    extent = choose_extent(folders)
    return lambda audit, job, code: render_folder(audit, extent)  # noqa: ARG005 - of the others' shape


def _audit_in_process(
    answering: Any,
    options: Options,
    arguments: argparse.Namespace,
    folders: Sequence[str],
    format: str,
    render: Renderer,
) -> None:
    shared = SharedInputs(
        context.make_config_getter(options, context.load_config(options)), tuple(find_rule_packages())
    )
    given = {**vars(arguments), "format": format, "output": None}
    try:
        with open_sessions(options, folders) as open_one:
            for folder in folders:
                own = argparse.Namespace(**{**given, "folder": folder})
                report = _audit_one(options, own, shared, open_one, render)
                answering.send_bytes(json.dumps(report).encode())
    except WriteFailed as error:  # no process that writes could be made: none of them is begun
        for folder in folders:
            answering.send_bytes(json.dumps((_format_title(folder), ExitCode.MISSING, {}, "", str(error))).encode())


def _audit_one(
    options: Options, arguments: argparse.Namespace, shared: SharedInputs, open_one: SessionOpener, render: Renderer
) -> FolderReport:
    title = _format_title(arguments.folder)
    try:
        job = build_audit_job(replace(options, directory=None), arguments, shared)
        with open_one(job) as session:
            audit = audit_folder(job, session, forks=False)
        code = ExitCode.FINDINGS if audit.has_findings_at(job.fail_on) else ExitCode.OK
        return FolderReport(title, code, audit.count_by_family(), render(audit, job, code))
    except Failure as error:
        return FolderReport(title, error.code, {}, "", str(error))
    except MemtuiError as error:
        return FolderReport(title, ExitCode.MISSING, {}, "", str(error))
