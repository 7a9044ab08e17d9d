"""`memtui observations`, `recent` and `context`: what notes state, what changed lately, and what belongs together."""

import argparse
import time

from memtui.cli import context, output, times
from memtui.cli.context import open_memory
from memtui.cli.graph_output import print_rows
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, NotFound
from memtui.cli.parsing import Parser, Verb, make_count_parser
from memtui.core.times import PointInTime
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_age, format_count
from memtui.engine import Engine
from memtui.knowledge import documents
from memtui.knowledge.context import DEEPEST, MemoryContext, RelatedNote
from memtui.knowledge.documents import serialize_path
from memtui.knowledge.model import Observation, ParsedNote
from memtui.knowledge.names import BASIC_MEMORY
from memtui.knowledge.recent import RecentChange, find_recent


def add_observations_options(parser: Parser) -> None:
    parser.add_value("--category", "NAME", "only of this category; each with --category", action="append")
    parser.add_value("--tag", "TAG", "only with this tag", action="append")
    parser.add_value("--at", "MOMENT", "as it was: 41, 2026-11-20, 10:14, 2h ago", type=times.parse_moment)
    parser.add_flag("-a --all", "lines that have only a #tag as well")


def run_observations(options: Options, arguments: argparse.Namespace) -> int:
    folder = context.resolve_folder(options)
    categories = {each.casefold() for each in arguments.category or ()}
    tags = {each.removeprefix("#").casefold() for each in arguments.tag or ()}
    with open_memory(folder, options) as memory:
        now = arguments.at is None or arguments.at.is_now
        graph = memory.graph(None if now else times.find_seq(memory, arguments.at))
        is_any = arguments.all or bool(tags) or memory.dialect.name == BASIC_MEMORY
        found = [
            (note.path, each)
            for note in sorted(graph.notes, key=lambda note: note.path)
            for each in note.observations
            if (each.category or is_any)
            and (not categories or each.category.casefold() in categories)
            and (not tags or not tags.isdisjoint(tag.casefold() for tag in each.tags))
        ]
    if options.json:
        output.print_json({"observations": [documents.serialize_observation(*each) for each in found]})
    else:
        print_rows([_format_observation(*each) for each in found])
        if not (found or options.quiet):
            output.print_message("No note states such a thing.")
    return ExitCode.OK if found else ExitCode.FINDINGS


def _format_observation(path: str, each: Observation) -> tuple[str, ...]:
    return f"{path}:{each.line}", *documents.format_observation(each)


OBSERVATIONS_VERB = Verb("observations", add_observations_options, run_observations)


# `memtui recent`: notes by their last change.


def add_recent_options(parser: Parser) -> None:
    parser.add_value("--since", "MOMENT", "default 7d; also 41, 10:14, yesterday", type=times.parse_moment)
    parser.add_value("--by", "NAME", "only changes by NAME: an agent, you, outside")
    parser.add_value("--type", "TYPE", "only notes of a type", action="append")
    parser.add_value("-n --limit", "N", "only the last N notes; 0: all", type=make_count_parser("number of notes"))


def run_recent(options: Options, arguments: argparse.Namespace) -> int:
    folder = context.resolve_folder(options)
    types = {each.casefold() for each in arguments.type or ()}
    with open_memory(folder, options) as memory:
        since_us = _find_time(memory, arguments.since or times.parse_moment("7d"))
        found = find_recent(memory.history, memory.get_head()[0], since_us=since_us, by=arguments.by or "")
        graph = memory.graph()
        notes = {each.path: graph.get_note(each.path) for each in found}
    if types:
        found = [each for each in found if (note := notes[each.path]) is not None and note.type in types]
    shown = found[: arguments.limit] if arguments.limit else found
    if options.json:
        output.print_json(
            {
                "since": output.format_utc(since_us),
                "left_out": len(found) - len(shown),
                "notes": [_serialize_recent(each, notes[each.path]) for each in shown],
            }
        )
    else:
        print_rows([_format_recent(each, notes[each.path]) for each in shown])
        if not options.quiet and not found:
            output.print_message("No note changed since then.")
        elif not options.quiet and len(shown) < len(found):
            output.print_message(f"And {format_count(len(found) - len(shown), 'more note')}. All: -n 0")
    return ExitCode.OK if found else ExitCode.FINDINGS


def _find_time(memory: Engine, when: PointInTime) -> int:
    """When a span begins, in microseconds since 1970; of an event, when it happened."""
    if when.seq is not None:
        event = memory.history.get_event(when.seq)
        if event is None:
            raise times.make_no_event_failure(memory, when.seq)
        return event.at_us
    return when.first_us if when.first_us is not None else time.time_ns() // 1_000


def _serialize_recent(each: RecentChange, note: ParsedNote | None) -> dict[str, object]:
    return {
        "path": serialize_path(each.path),
        "title": note.title if note is not None else None,
        "type": (note.type or None) if note is not None else None,
        "ts": output.format_utc(each.at_us),
        "seq": each.seq,
        "actor": each.actor_name,
        "command": each.command,
        "changes": each.count,
        "deleted": each.is_deleted,
    }


def _format_recent(each: RecentChange, note: ParsedNote | None) -> tuple[str, ...]:
    age = format_age(time.time() - each.at_us / 1e6)
    title = note.title if note is not None and note.title != each.path.rpartition("/")[2].rpartition(".")[0] else ""
    what = "deleted" if each.is_deleted else each.command
    return age, each.actor_name, what, each.path, f"{each.count:,} changes" if each.count > 1 else "", title


RECENT_VERB = Verb("recent", add_recent_options, run_recent)


# `memtui context`: what an address names, and what is related to it.


def add_context_options(parser: Parser) -> None:
    parser.add_value("address", "ADDRESS", "memory://PERMALINK, a title, a path, or a pattern with *")
    parser.add_value(
        "--depth", "N", "so many links far; default 1", type=make_count_parser("depth", least=1, most=DEEPEST)
    )
    parser.add_value("--since", "MOMENT", "only what changed since then: 7d, 41", type=times.parse_moment)
    parser.add_value("--max", "N", "at most N related notes; default 10", type=make_count_parser("number of notes"))


def run_context(options: Options, arguments: argparse.Namespace) -> int:
    folder = context.resolve_folder(options)
    with open_memory(folder, options) as memory:
        since_us = _find_time(memory, arguments.since) if arguments.since is not None else None
        limit = 10 if arguments.max is None else arguments.max
        found = memory.context(arguments.address, depth=arguments.depth or 1, since_us=since_us, limit=limit)
    if not found.notes:
        shown = to_one_line(arguments.address)
        raise NotFound(f"No note has the address {shown}. To see what there is: memtui context 'memory://*'")
    if options.json:
        output.print_json(documents.serialize_context(found))
    else:
        _print_context(found)
    return ExitCode.OK


def _print_context(found: MemoryContext) -> None:
    for note in found.notes:
        kind = f" ({note.type})" if note.type else ""
        output.print_line(f"{to_one_line(note.path)}  {to_one_line(note.title + kind)}")
        print_rows([("", *_format_observation(note.path, each)[1:]) for each in note.observations])
    if found.related:
        output.print_line("related")
        print_rows([("", *_format_related(each)) for each in found.related])
    if found.left_out:
        output.print_message(f"And {format_count(found.left_out, 'more related note')}. More: --max N")
    if found.is_cut:
        output.print_message("The pattern names more notes than are shown.")


def _format_related(each: RelatedNote) -> tuple[str, ...]:
    return str(each.distance), each.note.path, documents.format_ways(each)


CONTEXT_VERB = Verb("context", add_context_options, run_context)
