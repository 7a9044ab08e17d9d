"""`memtui doctor`: what works here and what does not. It leaves nothing behind."""

import argparse
import os
import stat
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memtui.cli import output, places
from memtui.cli.configured import configured
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb
from memtui.places import short

if TYPE_CHECKING:
    from memtui.cli import probes


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    from memtui.cli import probes  # for start-up cost: other verbs need none of what it asks

    path, problem = None, None
    given = places.named(options, arguments.folder)
    if given is not None:
        try:
            path = places.existing(given)
        except Failure as failure:
            problem = str(failure)
    checks = list(
        _in_order(
            probes.system(),
            _settings(options, path),
            probes.folder(path, problem),
            probes.state(path, options.state, read_only=options.read_only),
        )
    )
    failed = any(check.state == "fail" for check in checks)
    if options.json:
        records = [{"name": check.name, "state": check.state, "text": check.text} for check in checks]
        output.document({"schema": output.SCHEMA, "ok": not failed, "checks": records})
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            output.line(f"{check.state:<4}  {check.name:<{width}}  {output.cell(check.text, 0)}".rstrip())
    return Exit.FINDINGS if failed else Exit.OK


def _settings(options: Options, path: str | None) -> "Iterator[probes.Check]":
    """The file of settings, and what in it cannot be used."""
    from memtui.cli.config import with_problems_of_screen  # for start-up cost, as above
    from memtui.cli.probes import Check

    loaded = with_problems_of_screen(configured(options, path))
    if loaded.path is None:
        yield Check("config", "ok", "no file is read: --no-config")
        return
    others = stat.S_IWGRP | stat.S_IWOTH
    try:
        writable = loaded.exists and bool(os.stat(loaded.path).st_mode & others)
    except OSError:
        writable = False
    where = short(loaded.path)
    if writable:
        words = f"{where} can be written by others, and it says which editor is started: chmod go-w {where}"
        yield Check("config", "warn", words)
    else:
        yield Check("config", "ok", where if loaded.exists else f"{where} (not there)")
    for problem in loaded.problems:
        yield Check("config", "warn", problem.sentence)


def _in_order(*groups: "Iterable[probes.Check]") -> "Iterator[probes.Check]":
    for group in groups:
        yield from group


VERB = Verb(
    "doctor",
    "what works, for bug reports",
    (("memtui doctor ~/app/memories", "one line for each thing: ok, warn or fail"),),
    _arguments,
    _run,
    ("Changes and creates nothing. Exit code 1 if something fails.",),
)
