"""`memtui suggest`: what may be done so that notes tie together, and with `--accept` one of it."""

import argparse

from memtui.cli import context, output
from memtui.cli.context import load_config, open_memory, require_writable
from memtui.cli.graph_output import print_rows
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, NotFound, UsageError
from memtui.cli.parsing import Parser, Verb, make_count_parser
from memtui.core.events import Event
from memtui.core.paths import covers
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.knowledge.documents import serialize_path
from memtui.knowledge.suggestions import SUGGESTION_KINDS, Suggestion, describe_suggestion, format_command

_MOST = 50


def add_suggest_options(parser: Parser) -> None:
    parser.add_value("path", "PATH", "only about a note, or below a directory", nargs="?")
    parser.add_value("--kind", "KIND", "only of a kind; each with --kind", action="append", choices=SUGGESTION_KINDS)
    parser.add_value("--max", "N", "at most N; default 50, 0: all", type=make_count_parser("number of suggestions"))
    parser.add_value("--accept", "ID", "do it, as one event that memtui undo takes back")


def run_suggest(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.accept is not None:
        if arguments.path is not None or arguments.kind or arguments.max is not None:
            raise UsageError("memtui suggest: --accept takes an ID and nothing else. See: memtui suggest --help")
        require_writable(options, "Not done")
    folder = context.resolve_folder(options)
    config = load_config(options, folder).config
    with open_memory(folder, options) as memory:
        from memtui.flows.suggestions import find_suggestions  # noqa: PLC0415 - start-up: 20 ms, after the options

        kinds = arguments.kind or SUGGESTION_KINDS
        found = find_suggestions(memory, settings=config.audit, memory=config.memory, kinds=kinds)
        if arguments.accept is not None:
            return _accept(memory, found, arguments.accept, options)
    if arguments.path is not None:
        place = context.parse_memory_path(arguments.path, folder).relative
        found = [each for each in found if any(covers(place, path) or not place for path in each.notes)]
    most = _MOST if arguments.max is None else arguments.max
    shown = found[:most] if most else found
    if options.json:
        output.print_json(_serialize(shown, len(found) - len(shown)))
    else:
        print_rows([_format_row(each) for each in shown])
        _print_end(found, shown, options)
    return ExitCode.FINDINGS if found else ExitCode.OK


def _print_end(found: list[Suggestion], shown: list[Suggestion], options: Options) -> None:
    if options.quiet:
        return
    if len(shown) < len(found):
        output.print_message(f"And {format_count(len(found) - len(shown), 'more suggestion')}. All: --max 0")
    if any(each.is_acceptable for each in shown):
        output.print_message("To do one of them: memtui suggest --accept ID")
    if not found:
        output.print_message("Nothing to suggest.")


def _accept(memory: Engine, found: list[Suggestion], id: str, options: Options) -> int:
    from memtui.flows.suggestions import accept_suggestion  # noqa: PLC0415 - start-up: as above

    chosen = [each for each in found if each.id == id]
    if len(chosen) != 1:
        raise NotFound(f"Nothing is suggested with the id {to_one_line(id)}. To see what is: memtui suggest")
    outcome = accept_suggestion(_PHRASES, memory, chosen[0])
    if options.json:
        output.print_json({**_serialize(chosen, 0), "accepted": outcome.event or None})
    if outcome.event and not outcome.is_warning:
        if not (options.json or options.quiet):
            what = describe_suggestion(chosen[0])
            output.print_line(f"Done: {what}. To undo it: memtui undo {outcome.event}")
        return ExitCode.OK
    output.print_message(outcome.words)
    return ExitCode.OK if outcome.event else ExitCode.FINDINGS


class _Phrases:
    """The words of the command line for the flow that carries out a suggestion."""

    def name_action(self, action: str) -> str:
        return "memtui undo" if action == "browse.undo" else ""

    def format_event(self, event: Event) -> str:
        return event.command

    def format_past_event(self, event: Event) -> str:
        return event.command

    def format_changed_lines(self, event: Event) -> str:
        del event
        return ""

    def format_restored(self, path: str, moment: str) -> str:
        return f"{to_one_line(path)} is {moment}."


_PHRASES = _Phrases()


def _format_row(each: Suggestion) -> tuple[str, ...]:
    place = f"{each.notes[0]}:{each.line} " if each.line else ""
    command = format_command(each)
    reason = f"{place}{each.reason}" + (f"  ({command})" if command else "")
    return each.id if each.is_acceptable else "-", describe_suggestion(each), reason


def _serialize(shown: list[Suggestion], left_out: int) -> dict[str, object]:
    rows = [
        {
            "id": each.id,
            "kind": each.kind,
            "notes": [serialize_path(path) for path in each.notes],
            "line": each.line or None,
            "field": each.field or None,
            "value": each.value or None,
            "reason": each.reason,
            "acceptable": each.is_acceptable,
            "command": format_command(each) or None,
        }
        for each in shown
    ]
    return {"suggestions": rows, "left_out": left_out, "accepted": None}


SUGGEST_VERB = Verb("suggest", add_suggest_options, run_suggest)
