"""`memtui doctor`: what works here and what does not. It leaves nothing behind."""

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memtui.cli import output, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb

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
    checks = list(_in_order(probes.system(), probes.folder(path, problem), probes.state(path, options.state)))
    failed = any(check.state == "fail" for check in checks)
    if options.json:
        records = [{"name": check.name, "state": check.state, "text": check.text} for check in checks]
        output.document({"schema": output.SCHEMA, "ok": not failed, "checks": records})
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            output.line(f"{check.state:<4}  {check.name:<{width}}  {output.cell(check.text, 0)}".rstrip())
    return Exit.FINDINGS if failed else Exit.OK


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
