"""`memtui stats`: how much is recorded, of which path, and by whom."""

import argparse
from collections.abc import Sequence
from dataclasses import replace

from memtui.cli import context, output
from memtui.cli.context import open_memory
from memtui.cli.options import Options
from memtui.cli.output import ExitCode
from memtui.cli.parsing import Parser, Verb, parse_event_count
from memtui.core.events import Event, shorten_actor_name
from memtui.core.history import Stats, StatsEntry
from memtui.core.paths import MemoryPath
from memtui.core.settings import Budget, compute_budgets
from memtui.core.wording import COLUMN, format_size

_SHARES = 10


def add_stats_options(parser: Parser) -> None:
    parser.add_value("folder", "DIR", "the memory folder", nargs="?")
    parser.add_value("-n --top", "N", "how many paths and actors; default 10", type=parse_event_count, default=_SHARES)


def run_stats(options: Options, arguments: argparse.Namespace) -> int:
    path = context.resolve_folder(options, arguments.folder)
    with open_memory(path, options) as memory:
        stats = memory.history.get_stats(limit=arguments.top)
        totals = memory.get_totals()
        budgets = compute_budgets(files=totals.files, bytes=totals.bytes, tokens=None, memory=memory.settings)
    if options.json:
        output.print_json(_serialize_stats(stats, budgets))
    else:
        _print_stats(stats, budgets)
    return ExitCode.OK


def _print_stats(stats: Stats, budgets: Sequence[Budget]) -> None:
    span = f"  {_format_time(stats.first)} to {_format_time(stats.last)}" if stats.first and stats.last else ""
    redacted = f"  {stats.redacted:,} of them redacted" if stats.redacted else ""
    output.print_line(f"events    {stats.events:>9,}{span}")
    output.print_line(f"versions  {stats.versions:>9,}{redacted}")
    output.print_line(
        f"texts     {format_size(stats.text_bytes, COLUMN):>9}  packed {format_size(stats.kept_bytes, COLUMN)}"
    )
    output.print_line(f"journal   {format_size(stats.journal_bytes, COLUMN):>9}  on disk")
    for budget in budgets:
        output.print_line(f"budget    {budget.percent:>9}  {budget.summary.rpartition(', ')[0]}")
    _print_shares("path", stats.paths)
    _print_shares("actor", [replace(each, name=shorten_actor_name(each.name)) for each in stats.actors])


def _format_time(event: Event) -> str:
    return f"{event.at.astimezone():%Y-%m-%d %H:%M}"


def _print_shares(title: str, shares: Sequence[StatsEntry]) -> None:
    if not shares:
        return
    output.print_line("")
    output.print_line(f"{'events':>8}  {'changes':>8}  {'versions':>8}  {'texts':>8}  {title}")
    for share in shares:
        size = format_size(share.bytes, COLUMN)
        output.print_line(
            f"{share.events:>8,}  {share.changes:>8,}  {share.versions:>8,}"
            f"  {size:>8}  {output.pad_cell(share.name, 0)}"
        )


def _serialize_stats(stats: Stats, budgets: Sequence[Budget]) -> dict[str, object]:
    return {
        "events": stats.events,
        "versions": stats.versions,
        "redacted": stats.redacted,
        "text_bytes": stats.text_bytes,
        "packed_bytes": stats.kept_bytes,
        "journal_bytes": stats.journal_bytes,
        "first": output.format_utc(stats.first.at_us) if stats.first else None,
        "last": output.format_utc(stats.last.at_us) if stats.last else None,
        "budgets": [
            {
                "name": each.name,
                "used": each.used,
                "of": each.limit,
                "share": round(each.share, 6),
                "setting": each.setting,
            }
            for each in budgets
        ],
        "paths": [
            {"path": str(MemoryPath.from_relative(share.name)), **_serialize_share(share)} for share in stats.paths
        ],
        "actors": [{"actor": share.name, **_serialize_share(share)} for share in stats.actors],
    }


def _serialize_share(share: StatsEntry) -> dict[str, object]:
    return {"events": share.events, "changes": share.changes, "versions": share.versions, "text_bytes": share.bytes}


STATS_VERB = Verb("stats", add_stats_options, run_stats)
