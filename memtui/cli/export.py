"""`memtui export`: the journal as JSON lines, to keep elsewhere and to verify without memtui."""

import argparse
import contextlib
import os
import sqlite3
import time
from collections.abc import Callable

from memtui.cli import output
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb
from memtui.cli.verify import journal_of, unreadable
from memtui.core.errors import StateUnusable
from memtui.core.visible import one_line
from memtui.outgoing import Outgoing
from memtui.places import short

_LOOKS = 5
"""How often an export to a file begins anew when somebody wrote to the journal meanwhile."""


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder; it may be gone")
    parser.add_argument("-o", "--output", metavar="FILE", help="a new file, for its owner only; else standard output")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument("--no-texts", action="store_true", help="events only: no answers, arguments and versions")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    folder, path = journal_of(options, arguments.folder)
    target = arguments.output if arguments.output != "-" else None
    texts = not arguments.no_texts
    locking = not options.read_only and os.access(os.path.dirname(path), os.W_OK) and os.access(path, os.W_OK)
    try:
        if target is None:
            if not _exported(folder, path, output.exact, texts=texts, locking=locking):
                raise Failure(
                    Exit.CONFLICT,
                    "The journal was written to meanwhile, and it is read without locks. What was exported may be of "
                    "two moments. Try again.",
                )
        else:
            _export_to(target, folder, path, texts=texts, force=arguments.force, locking=locking)
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error
    return Exit.OK


def _export_to(target: str, folder: str | None, path: str, *, texts: bool, force: bool, locking: bool) -> None:
    outgoing = Outgoing(folder, os.path.dirname(path), nothing="Nothing was exported.")
    for _ in range(_LOOKS):
        with contextlib.closing(outgoing.begin(target, force=force)) as file:
            if _exported(folder, path, file.write, texts=texts, locking=locking):
                file.keep()
                return
    raise Failure(Exit.CONFLICT, "The journal is written to all the time. Nothing was exported. Try again.")


def _exported(folder: str | None, path: str, write: Callable[[bytes], object], *, texts: bool, locking: bool) -> bool:
    """Write all lines; whether they are of one moment."""
    from memtui.journal.reading import reading  # for start-up cost, as below
    from memtui.journal.rows import UNREADABLE

    title = short(folder) if folder is not None else ""
    with reading(path, locking=locking, quietly=not locking) as journal:
        try:
            last = _all_but_the_last(journal.connection, title, write, texts=texts)
        except (StateUnusable, *UNREADABLE):
            if journal.is_steady():
                raise
            return False  # two moments together look like a damaged journal
        if not journal.is_steady():
            return False
        write(last)  # the end is written only when all before it is right
        return True


def _all_but_the_last(
    connection: sqlite3.Connection, title: str, write: Callable[[bytes], object], *, texts: bool
) -> bytes:
    """Write the lines as they are read, and return the last one."""
    from memtui.journal import export, schema

    problem = schema.problem_of(connection)
    if problem:
        raise StateUnusable(problem)
    now = output.utc(time.time_ns() // 1_000) or ""
    last = b""
    for line in export.lines(connection, folder=one_line(title), exported=now, texts=texts):
        write(last)
        last = line
    return last


VERB = Verb(
    "export",
    "write the record as JSON",
    (
        ("memtui export -o journal.jsonl", "to a new file, for its owner only"),
        ("memtui export --no-texts | gzip > events.gz", "only the events, no text"),
    ),
    _arguments,
    _run,
    (
        "It holds every version of every text: keep it where no agent reads. The chain",
        "can be verified in it without memtui; its last line says that it is whole.",
    ),
    keeps_rights=True,
)
