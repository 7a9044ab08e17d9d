"""`memtui verify`: whether the journal of a memory folder is intact; `memtui export`: the journal as JSON lines."""

import argparse
import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from memtui.cli import context, output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound
from memtui.cli.parsing import Parser, Verb
from memtui.core.errors import StateUnusable
from memtui.core.paths import NO_FOLDER, ONLINE, SQLITE, format_path, resolve_place
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.fs.exports import ExportWriter
from memtui.fs.state import get_state_directory
from memtui.journal import schema, transfer
from memtui.journal.repair import HOPELESS
from memtui.journal.rows import UNREADABLE
from memtui.journal.snapshot import open_read_only
from memtui.journal.verify import verify_journal
from memtui.journal.verify_report import FindingWeight, NotedHead, RepairReport, TextCounts, VerifyReport
from memtui.memory import JOURNAL, connect, is_journal_missing, load_remote

_REMADE = (FindingWeight.STATE, FindingWeight.INDEX)
"""Findings that a repair mends."""
_LOOKS = 5
"""How often a journal is read again that was written to meanwhile; then locks are taken."""


def add_verify_options(parser: Parser) -> None:
    parser.add_value("folder", "DIR", "the memory folder; it may be deleted", nargs="?")
    parser.add_flag("--repair", "rebuild derived data from the events")
    parser.add_value("--head", "HEAD", "compare with a head noted earlier: NUMBER:HASH", type=_parse_head)


def _parse_head(given: str) -> str:

    try:
        NotedHead.parse(given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return given


def run_verify(options: Options, arguments: argparse.Namespace) -> int:
    folder, path = find_journal(options, arguments.folder)
    repaired = _repair_journal(options, folder, path) if arguments.repair else None
    report = _verify_journal(path, arguments.head, read_only=options.read_only)
    if options.json:
        output.print_json(_serialize_report(report, path, repaired))
    else:
        if repaired is not None:
            output.print_line(_format_repair(repaired))
        for line in _format_report(report, arguments.head):
            output.print_line(line)
    return ExitCode.OK if report.is_intact else ExitCode.FINDINGS


def find_journal(options: Options, argument: str | None) -> tuple[str | None, str]:
    """The folder, which may not exist any more, and the path of its journal. Raises `Failure` if there is none."""
    given = context.find_folder(options, argument)
    if given is not None:
        folder = resolve_place(given)
        directory = str(get_state_directory(folder, options.state))
        whose = f"for {format_path(folder)} in {format_path(directory)}"
    elif options.state is not None:
        folder, directory = None, os.path.realpath(os.path.expanduser(options.state))
        whose = f"in {format_path(directory)}"
    else:
        raise NotFound("No memory folder was given, and there is no ./memories here. Use --dir DIR, or set MEMTUI_DIR")
    path = os.path.join(directory, JOURNAL)
    if folder is not None and folder.startswith(SQLITE):
        path, whose = folder.removeprefix(SQLITE), f"in {format_path(folder)}"
    if folder is not None and folder.startswith(ONLINE):
        path = load_remote(folder).update_copy(folder, options.state)
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        if is_journal_missing(Path(directory)):
            missing = f"The journal {whose} is missing. Its history cannot be verified."
            raise NotFound(missing) from None
        raise NotFound(
            f"There is no journal {whose}. Nothing was recorded there yet, or it is kept elsewhere: --state DIR"
        ) from None
    except OSError as error:
        raise make_unreadable_failure(path, error) from error
    return folder, path


def _repair_journal(options: Options, folder: str | None, path: str) -> RepairReport | None:
    """Repair a journal whose events are whole; `None` if they are not. Raises `Failure`."""
    context.require_writable(options, "Nothing was repaired")
    if folder is None or not (folder.startswith(NO_FOLDER) or os.path.isdir(folder)):
        raise NotFound("Nothing was repaired: that needs the memory folder, which does not exist.")
    if any(each.weight in HOPELESS for each in _verify_journal(path, None, read_only=False).findings):
        return None
    with connect(folder, state=options.state, settings=context.load_memory_settings(options, folder)) as memory:
        return memory.repair()


def _format_repair(repaired: RepairReport) -> str:
    if not repaired:
        return "Nothing to repair. Every file was checked again."
    return f"Rebuilt from the events: {repaired.describe()}. Every file was checked again."


def _verify_journal(path: str, head: str | None, *, read_only: bool) -> VerifyReport:

    try:
        for _ in range(_LOOKS):
            with open_read_only(path, quietly=read_only) as journal:
                report = verify_journal(journal.connection, head=head)
                if journal.is_steady():
                    return report
        if not read_only:
            with open_read_only(path, locking=True) as journal:
                report = verify_journal(journal.connection, head=head)
                if journal.is_steady():
                    return report
    except (OSError, *UNREADABLE) as error:
        raise make_unreadable_failure(path, error) from error
    raise Failure(ExitCode.CONFLICT, "The journal keeps changing, so it was not verified. Try again.")


def make_unreadable_failure(path: str, error: Exception) -> Failure:
    """The failure to open a journal."""
    reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)
    return NotFound(f"The journal {format_path(path)} cannot be read: {reason}. Nothing was changed.")


def _format_report(report: VerifyReport, head: str | None) -> Iterator[str]:
    if report.findings:
        count = len(report.findings)
        yield f"NOT INTACT: {format_count(count, 'finding')}"
        for finding in report.findings:
            yield f"  {finding.weight.name.lower():<6}  {output.pad_cell(finding.text, 0)}"
        if all(finding.weight in _REMADE for finding in report.findings):
            yield "To rebuild derived data from the events: memtui verify --repair"
    else:
        yield "Intact: every event and every text is as it was recorded."
    yield f"events    {report.events:,} read; {_format_ranges(report)}"
    yield f"versions  {_format_counts(report.versions)}"
    yield f"answers   {_format_counts(report.words)}"
    if report.since is not None:
        count = report.since
        since = "nothing has" if count == 0 else "1 event has" if count == 1 else f"{count:,} events have"
        yield f"noted     {output.pad_cell(head or '', 0)} is in the journal; {since} been recorded since"
    for remark in report.remarks:
        yield f"remark    {output.pad_cell(remark, 0)}"
    yield f"Head: {report.seq} {report.hash}"
    yield "To compare with it later, note it down: memtui verify --head " + f"{report.seq}:{report.hash[:16]}"


def _format_ranges(report: VerifyReport) -> str:
    if not report.events:
        return "none"
    intact = report.intact_until
    words = f"{_format_range(1, intact)} intact" if intact else "none is intact from the start"
    behind = [run for run in report.runs if run.first > max(1, intact)]
    if behind:
        first, more = behind[0], len(behind) - 1
        on = "is linked to the one before" if first.first == first.last else "are linked"
        words += f"; after the break {first.first:,} to {first.last:,} {on}"
        words += f", and {more:,} more such stretches" if more else ""
    return words


def _format_range(first: int, last: int) -> str:
    return f"event {first:,} is" if first == last else f"events {first:,} to {last:,} are"


def _format_counts(texts: TextCounts) -> str:
    parts = [f"{texts.named:,} named", f"{texts.intact:,} intact"]
    parts += [
        f"{count:,} {name}"
        for name, count in (
            ("DAMAGED", texts.damaged),
            ("MISSING", texts.missing),
            ("redacted", texts.redacted),
            ("that no event names", texts.unnamed),
        )
        if count
    ]
    return ", ".join(parts)


def _serialize_report(report: VerifyReport, path: str, repaired: RepairReport | None) -> dict[str, object]:
    def record(texts: TextCounts) -> dict[str, int]:
        return {name: getattr(texts, name) for name in type(texts).__slots__}

    return {
        "journal": path,
        "intact": report.is_intact,
        "seq": report.seq,
        "hash": report.hash,
        "events": report.events,
        "intact_until": report.intact_until,
        "runs": [[run.first, run.last] for run in report.runs],
        "versions": record(report.versions),
        "answers": record(report.words),
        "since_head": report.since,
        "findings": [
            {"weight": finding.weight.name.lower(), "seq": finding.seq, "text": finding.text}
            for finding in report.findings
        ],
        "remarks": list(report.remarks),
        "repaired": None
        if repaired is None
        else {"paths": repaired.paths, "tables": repaired.tables, "guards": repaired.guards},
    }


VERIFY_VERB = Verb("verify", add_verify_options, run_verify)


# `memtui export`: the journal as JSON lines, to keep elsewhere and to verify without memtui.


def add_export_options(parser: Parser) -> None:
    parser.add_value("folder", "DIR", "the memory folder; it may be deleted", nargs="?")
    parser.add_value("-o --output", "FILE", "a new file that only you can read; else stdout")
    parser.add_flag("--force", "replace FILE if it is there")
    parser.add_flag("--no-texts", "events only: no answers, arguments and versions")


def run_export(options: Options, arguments: argparse.Namespace) -> int:
    folder, path = find_journal(options, arguments.folder)
    target = arguments.output if arguments.output != "-" else None
    texts = not arguments.no_texts
    locking = not options.read_only and os.access(os.path.dirname(path), os.W_OK) and os.access(path, os.W_OK)
    try:
        if target is None:
            if not _write_export(folder, path, output.write_bytes, texts=texts, locking=locking):
                raise Failure(
                    ExitCode.CONFLICT,
                    "The journal changed while it was read without locks. The export may mix two states. Try again.",
                )
        else:
            _export_to_file(target, folder, path, texts=texts, force=arguments.force, locking=locking)
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        raise make_unreadable_failure(path, error) from error
    return ExitCode.OK


def _export_to_file(target: str, folder: str | None, path: str, *, texts: bool, force: bool, locking: bool) -> None:
    is_one_file = folder is not None and folder.startswith(SQLITE)
    outgoing = ExportWriter(folder, None if is_one_file else os.path.dirname(path), nothing="Nothing was exported.")
    for _ in range(_LOOKS):
        with contextlib.closing(outgoing.create_file(target, force=force)) as file:
            if _write_export(folder, path, file.write, texts=texts, locking=locking):
                file.commit()
                return
    raise Failure(ExitCode.CONFLICT, "The journal keeps changing. Nothing was exported. Try again.")


def _write_export(
    folder: str | None, path: str, write: Callable[[bytes], object], *, texts: bool, locking: bool
) -> bool:
    """Write all lines; whether they are of one moment."""

    title = format_path(folder) if folder is not None else ""
    with open_read_only(path, locking=locking, quietly=not locking) as journal:
        try:
            last = _write_all_but_last(journal.connection, title, write, texts=texts)
        except (StateUnusable, *UNREADABLE):
            if journal.is_steady():
                raise
            return False  # two moments together look like a damaged journal
        if not journal.is_steady():
            return False
        write(last)  # the end is written only when all before it is right
        return True


def _write_all_but_last(
    connection: sqlite3.Connection, title: str, write: Callable[[bytes], object], *, texts: bool
) -> bytes:
    """Write the lines as they are read, and return the last one."""

    problem = schema.find_problem(connection)
    if problem:
        raise StateUnusable(problem)
    now = output.format_utc(time.time_ns() // 1_000) or ""
    last = b""
    for line in transfer.iter_export_lines(connection, folder=to_one_line(title), exported=now, texts=texts):
        write(last)
        last = line
    return last


EXPORT_VERB = Verb("export", add_export_options, run_export, keeps_rights=True)
