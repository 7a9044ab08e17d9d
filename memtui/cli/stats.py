"""`memtui stats`: how much is recorded, of which path, and by whom."""

import argparse
from collections.abc import Sequence

from memtui.cli import output, places
from memtui.cli.exits import Exit
from memtui.cli.log import count
from memtui.cli.opened import opened
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.budgets import Budget, budgets_of
from memtui.core.events import Event
from memtui.core.history import Share, Stats
from memtui.core.listing import human_size
from memtui.core.paths import MemoryPath

_SHARES = 10


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder")
    parser.add_argument(
        "-n", "--top", metavar="N", type=count, default=_SHARES, help="how many paths and actors; 10 if not given"
    )


def _run(options: Options, arguments: argparse.Namespace) -> int:
    path = places.folder(options, arguments.folder)
    with opened(path, options) as memory:
        stats = memory.history.stats(limit=arguments.top)
        totals = memory.totals()
        budgets = budgets_of(files=totals.files, bytes=totals.bytes, tokens=None, memory=memory.settings)
    if options.json:
        output.document(_record(stats, budgets))
    else:
        _print(stats, budgets)
    return Exit.OK


def _print(stats: Stats, budgets: Sequence[Budget]) -> None:
    span = f"  {_when(stats.first)} to {_when(stats.last)}" if stats.first and stats.last else ""
    gone = f"  {stats.redacted:,} of them redacted" if stats.redacted else ""
    output.line(f"events    {stats.events:>9,}{span}")
    output.line(f"versions  {stats.versions:>9,}{gone}")
    output.line(f"texts     {human_size(stats.text_bytes):>9}  packed {human_size(stats.kept_bytes)}")
    output.line(f"journal   {human_size(stats.journal_bytes):>9}  on the disk")
    for budget in budgets:
        output.line(f"budget    {budget.percent:>9}  {budget.words.rpartition(', ')[0]}")
    _print_shares("path", stats.paths)
    _print_shares("actor", stats.actors)


def _when(event: Event) -> str:
    return f"{event.at.astimezone():%Y-%m-%d %H:%M}"


def _print_shares(title: str, shares: Sequence[Share]) -> None:
    if not shares:
        return
    output.line("")
    output.line(f"{'events':>8}  {'changes':>8}  {'versions':>8}  {'texts':>8}  {title}")
    for share in shares:
        size = human_size(share.bytes)
        output.line(
            f"{share.events:>8,}  {share.changes:>8,}  {share.versions:>8,}  {size:>8}  {output.cell(share.name, 0)}"
        )


def _record(stats: Stats, budgets: Sequence[Budget]) -> dict[str, object]:
    return {
        "schema": output.SCHEMA,
        "events": stats.events,
        "versions": stats.versions,
        "redacted": stats.redacted,
        "text_bytes": stats.text_bytes,
        "packed_bytes": stats.kept_bytes,
        "journal_bytes": stats.journal_bytes,
        "first": output.utc(stats.first.at_us) if stats.first else None,
        "last": output.utc(stats.last.at_us) if stats.last else None,
        "budgets": [
            {
                "name": each.name,
                "used": each.used,
                "of": each.of,
                "share": round(each.share, 6),
                "setting": each.setting,
            }
            for each in budgets
        ],
        "paths": [{"path": str(MemoryPath.of(share.name)), **_share(share)} for share in stats.paths],
        "actors": [{"actor": share.name, **_share(share)} for share in stats.actors],
    }


def _share(share: Share) -> dict[str, object]:
    return {
        "events": share.events,
        "changes": share.changes,
        "versions": share.versions,
        "text_bytes": share.bytes,
    }


VERB = Verb(
    "stats",
    "count what is recorded",
    (
        ("memtui stats ~/app/memories", "events, versions and bytes, by path and by actor"),
        ("memtui stats -n 50 --json", "the 50 largest paths, for a program"),
    ),
    _arguments,
    _run,
    (
        "Bytes are those of the texts before they are packed. With --json: events,",
        "versions, redacted, text_bytes, packed_bytes, journal_bytes, first, last,",
        "budgets, paths, actors.",
    ),
)
