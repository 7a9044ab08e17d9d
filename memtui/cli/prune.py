"""`memtui prune`: remove old texts from the record. Events stay, and so does whatever stands in the folder now."""

import argparse
import re
import time

from memtui.cli import output, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.restored import asked
from memtui.cli.verb import Options, Parser, Verb
from memtui.core import moments
from memtui.core.listing import human_size
from memtui.core.redaction import Pruned

_NOT_DONE = "Nothing was removed"
_SIZE = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,6}))?([kmgt]?)(?:i?b)?", re.IGNORECASE | re.ASCII)


def _arguments(parser: Parser) -> None:
    parser.add_argument("--older-than", metavar="AGE", type=_age, help="texts that stand nowhere since: 30d, 12w, 1y")
    parser.add_argument("--max-bytes", metavar="SIZE", type=_size, help="the oldest, until the rest fits: 500K, 100M")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be removed")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def _age(given: str) -> int:
    try:
        return moments.age(given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from None


def _size(given: str) -> int:
    found = _SIZE.fullmatch(given.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{given!r} is no size. It may be 4096, 500K, 100M or 1.5G")
    whole, fraction, unit = found.groups()
    power = 1 << 10 * " kmgt".index(unit.lower() or " ")
    return int(whole) * power + int(int(fraction or 0) * power / 10 ** len(fraction or ""))


def _run(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.older_than is None and arguments.max_bytes is None:
        raise Failure(
            Exit.USAGE, "memtui prune: say what may go: --older-than AGE or --max-bytes SIZE. See: memtui prune --help"
        )
    if not arguments.dry_run:
        insist_on_writing(options, _NOT_DONE)
    path = places.folder(options)
    older_than_us = None
    if arguments.older_than is not None:
        older_than_us = max(0, time.time_ns() // 1_000 - arguments.older_than)
    with opened(path, options) as memory:
        pruned = memory.prune(older_than_us=older_than_us, max_bytes=arguments.max_bytes, rehearse=True)
        if pruned.texts and not arguments.dry_run:
            if not arguments.yes:
                output.message(f"What goes for good: {_counted(pruned)}. Events stay, and what stands in the folder.")
                if not asked("Remove these texts?", _NOT_DONE):
                    output.message(f"{_NOT_DONE}.")
                    return Exit.FINDINGS
            pruned = memory.prune(older_than_us=older_than_us, max_bytes=arguments.max_bytes)
    if options.json:
        output.document(_record(pruned, dry_run=arguments.dry_run))
    elif not options.quiet:
        output.line(_sentence(pruned, dry_run=arguments.dry_run))
    return Exit.OK


def _sentence(pruned: Pruned, *, dry_run: bool) -> str:
    kept = f"{human_size(pruned.kept_bytes)} are kept"
    if not pruned.texts:
        return f"Nothing is to be removed; {kept}."
    return f"{'What would go' if dry_run else 'Removed'}: {_counted(pruned)}; {kept}."


def _counted(pruned: Pruned) -> str:
    return f"{pruned.texts:,} old {'text' if pruned.texts == 1 else 'texts'}, {human_size(pruned.bytes)}"


def _record(pruned: Pruned, *, dry_run: bool) -> dict[str, object]:
    return {
        "schema": output.SCHEMA,
        "done": bool(pruned.events),
        "dry_run": dry_run,
        "texts": pruned.texts,
        "bytes": pruned.bytes,
        "kept_bytes": pruned.kept_bytes,
        "events": [event.seq for event in pruned.events],
    }


VERB = Verb(
    "prune",
    "remove old texts",
    (
        ("memtui prune --older-than 1y", "texts that stand nowhere since a year"),
        ("memtui prune --max-bytes 100M --dry-run", "what would go, until 100 MB are left"),
    ),
    _arguments,
    _run,
    (
        "From the record, for good; recorded as redactions by memtui. Events stay, and",
        "no text goes that stands in the folder now. Asks: --yes where there is no",
        "terminal. With --json: done, dry_run, texts, bytes, kept_bytes, events. Exit",
        "codes: 0 done or nothing to do, 1 not wanted, 4 read-only.",
    ),
)
