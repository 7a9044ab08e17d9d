"""`memtui verify`: whether the record of a memory folder is still what was recorded."""

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtui.cli import output, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb
from memtui.opening import JOURNAL, state_directory
from memtui.places import short

if TYPE_CHECKING:
    from memtui.journal.report import Report, Texts

_LOOKS = 5
"""How often a journal is read again that somebody wrote to meanwhile; then locks are taken."""


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder; it may be gone")
    parser.add_argument("--head", metavar="HEAD", type=_head, help="compare with a head noted earlier: NUMBER:HASH")


def _head(given: str) -> str:
    from memtui.journal.report import NotedHead  # for start-up cost: help does not need the database

    try:
        NotedHead.of(given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return given


def _run(options: Options, arguments: argparse.Namespace) -> int:
    _, path = journal_of(options, arguments.folder)
    report = _verified(path, arguments.head, read_only=options.read_only)
    if options.json:
        output.document(_record(report, path))
    else:
        for line in _lines(report, arguments.head):
            output.line(line)
    return Exit.OK if report.is_intact else Exit.FINDINGS


def journal_of(options: Options, argument: str | None) -> tuple[str | None, str]:
    """The folder that is named, and the path of its journal. The folder itself may be gone.

    Raises:
        Failure: None is named, or there is no journal.
        StateUnusable: It would lie inside the folder.
    """
    given = places.named(options, argument)
    if given is not None:
        folder = os.path.realpath(os.path.expanduser(given))
        directory = str(state_directory(folder, options.state))
        whose = f"for {short(folder)} in {short(directory)}"
    elif options.state is not None:
        folder, directory = None, os.path.realpath(os.path.expanduser(options.state))
        whose = f"in {short(directory)}"
    else:
        raise Failure(
            Exit.MISSING,
            "No memory folder is named, and there is no ./memories here. Name one: --dir DIR, or MEMTUI_DIR",
        )
    path = os.path.join(directory, JOURNAL)
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise Failure(
            Exit.MISSING,
            f"There is no journal {whose}. Nothing was recorded there yet, or it is kept elsewhere: --state DIR",
        ) from None
    except OSError as error:
        raise unreadable(path, error) from error
    return folder, path


def _verified(path: str, head: str | None, *, read_only: bool) -> "Report":
    from memtui.journal.reading import reading  # for start-up cost, as below
    from memtui.journal.rows import UNREADABLE
    from memtui.journal.verify import verify

    try:
        for _ in range(_LOOKS):
            with reading(path, quietly=read_only) as journal:
                report = verify(journal.connection, head=head)
                if journal.is_steady():
                    return report
        if not read_only:
            with reading(path, locking=True) as journal:
                report = verify(journal.connection, head=head)
                if journal.is_steady():
                    return report
    except (OSError, *UNREADABLE) as error:
        raise unreadable(path, error) from error
    raise Failure(Exit.CONFLICT, "The journal is written to all the time. Nothing is known about it. Try again.")


def unreadable(path: str, error: Exception) -> Failure:
    """The failure to open a journal."""
    reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)
    return Failure(Exit.MISSING, f"The journal {short(path)} cannot be read: {reason}. Nothing was changed.")


def _lines(report: "Report", head: str | None) -> Iterator[str]:
    if report.findings:
        count = len(report.findings)
        yield f"NOT INTACT: {count:,} {'finding' if count == 1 else 'findings'}"
        for finding in report.findings:
            yield f"  {finding.weight.name.lower():<6}  {output.cell(finding.text, 0)}"
    else:
        yield "Intact: every event and every text is as it was recorded."
    yield f"events    {report.events:,} read; {_stretches(report)}"
    yield f"versions  {_counted(report.versions)}"
    yield f"answers   {_counted(report.words)}"
    if report.since is not None:
        count = report.since
        since = "nothing has" if count == 0 else "1 event has" if count == 1 else f"{count:,} events have"
        yield f"noted     {output.cell(head or '', 0)} is in the journal; {since} been recorded since"
    for remark in report.remarks:
        yield f"remark    {output.cell(remark, 0)}"
    yield f"Head: {report.seq} {report.hash}"
    yield "Note it down; to compare with it later: memtui verify --head " + f"{report.seq}:{report.hash[:16]}"


def _stretches(report: "Report") -> str:
    if not report.events:
        return "none"
    intact = report.intact_until
    said = f"{_range(1, intact)} intact" if intact else "none is intact from the start"
    behind = [run for run in report.runs if run.first > max(1, intact)]
    if behind:
        first, more = behind[0], len(behind) - 1
        on = "follows on the one before" if first.first == first.last else "follow on each other"
        said += f"; behind the break {first.first:,} to {first.last:,} {on}"
        said += f", and {more:,} more such stretches" if more else ""
    return said


def _range(first: int, last: int) -> str:
    return f"event {first:,} is" if first == last else f"events {first:,} to {last:,} are"


def _counted(texts: "Texts") -> str:
    parts = [f"{texts.named:,} named", f"{texts.intact:,} intact"]
    parts += [
        f"{count:,} {name}"
        for name, count in (
            ("DAMAGED", texts.damaged),
            ("MISSING", texts.missing),
            ("redacted", texts.redacted),
            ("besides that no event names", texts.unnamed),
        )
        if count
    ]
    return ", ".join(parts)


def _record(report: "Report", path: str) -> dict[str, object]:
    def record(texts: "Texts") -> dict[str, int]:
        return {name: getattr(texts, name) for name in type(texts).__slots__}

    return {
        "schema": output.SCHEMA,
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
    }


VERB = Verb(
    "verify",
    "check the record",
    (
        ("memtui verify", "recompute the chain and every text"),
        ("memtui verify --head 41:9f2c03d1a8b7", "and compare with a head noted earlier"),
    ),
    _arguments,
    _run,
    (
        "Changes nothing, and does not look at the folder. A rewritten chain and an",
        "older copy are found only against a head that was noted elsewhere.",
        "Exit codes: 0 intact, 1 something is wrong, 3 no journal or unreadable.",
    ),
)
