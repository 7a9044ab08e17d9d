"""`memtui schema`: what notes of a type have in common, and where they are not as their schema has it."""

import argparse

from memtui.cli import context, output
from memtui.cli.context import open_memory
from memtui.cli.graph_output import print_rows
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, NotFound, UsageError
from memtui.cli.parsing import Parser, Verb
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.knowledge.documents import serialize_path
from memtui.knowledge.schemas import (
    Described,
    NoteSchema,
    SchemaDrift,
    SchemaPart,
    SchemaProblem,
    compare_schemas,
    describe_problem,
    find_schemas,
    format_schema_note,
    infer_schema,
    validate_notes,
)
from memtui.notes.front_matter import read_properties


def add_schema_options(parser: Parser) -> None:
    parser.add_value("action", "ACTION", "infer, validate or diff", choices=("infer", "validate", "diff"))
    parser.add_value("type", "TYPE", "only notes of this type", nargs="?")
    parser.add_flag("--note", "with infer: as a note that keeps the schema")


def run_schema(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.note and (arguments.action != "infer" or arguments.type is None or options.json):
        raise UsageError("memtui schema: --note goes with infer and a TYPE, and without --json.")
    folder = context.resolve_folder(options)
    with open_memory(folder, options) as memory:
        described = _group_by_type(memory)
    kept = find_schemas(described.get("schema", ()))
    wanted = arguments.type.casefold() if arguments.type is not None else None
    types = [wanted] if wanted is not None else sorted(kept if arguments.action != "infer" else {*described} - {""})
    if wanted is not None and arguments.action != "infer" and wanted not in kept:
        shown = to_one_line(wanted)
        raise NotFound(f"No note holds a schema of type {shown}. To make one: memtui schema infer {shown} --note")
    if wanted is not None and wanted not in described:
        raise NotFound(f"No note is of type {to_one_line(wanted)}. Types: memtui schema infer")
    match arguments.action:
        case "infer":
            return _print_inferred([infer_schema(each, described[each]) for each in types], options, arguments.note)
        case "validate":
            problems = [found for each in types for found in validate_notes(kept[each], described.get(each, ()))]
            return _print_problems(problems, types, options)
        case _:
            drifts = {each: compare_schemas(kept[each], infer_schema(each, described.get(each, ()))) for each in types}
            return _print_drifts(drifts, options)


def _group_by_type(memory: Engine) -> dict[str, list[Described]]:
    """All notes with their front matter, by type."""
    graph = memory.graph()
    found: dict[str, list[Described]] = {}
    for path, text in memory.knowledge.iter_texts(sorted(note.path for note in graph.notes)):
        note = graph.get_note(path)
        if note is not None:
            found.setdefault(note.type, []).append((note, read_properties(text)))
    return found


def _print_inferred(schemas: list[NoteSchema], options: Options, as_note: bool) -> int:
    if options.json:
        output.print_json({"action": "infer", "types": [_serialize_schema(each) for each in schemas]})
    for schema in () if options.json else schemas:
        if as_note:
            output.print_text(format_schema_note(schema))
            continue
        output.print_line(f"{to_one_line(schema.type)} ({format_count(schema.count, 'note')})")
        print_rows([("", *_format_part(part), f"{part.count:,} of {schema.count:,}") for part in schema.parts])
    if not (schemas or options.quiet or options.json):
        output.print_message("No note says of what type it is.")
    return ExitCode.OK if schemas else ExitCode.FINDINGS


def _print_problems(problems: list[SchemaProblem], types: list[str], options: Options) -> int:
    if options.json:
        rows = [
            {
                "path": serialize_path(each.path),
                "problem": each.kind,
                "part": _serialize_part(each.part),
                "found": each.found or None,
                "line": each.line or None,
            }
            for each in problems
        ]
        output.print_json({"action": "validate", "checked": types, "problems": rows})
    else:
        print_rows([(each.path, describe_problem(each)) for each in problems])
        if not (problems or options.quiet):
            words = "All notes are as their schemas have them." if types else "No note holds a schema."
            output.print_message(words)
    return ExitCode.FINDINGS if problems else ExitCode.OK


def _print_drifts(drifts: dict[str, list[SchemaDrift]], options: Options) -> int:
    if options.json:
        rows = [
            {
                "type": name,
                "kept": _serialize_part(each.kept) if each.kept is not None else None,
                "now": _serialize_part(each.now) if each.now is not None else None,
            }
            for name, found in drifts.items()
            for each in found
        ]
        output.print_json({"action": "diff", "drifts": rows})
    else:
        print_rows([(name, *_format_drift(each)) for name, found in drifts.items() for each in found])
        if not (any(drifts.values()) or options.quiet):
            output.print_message(
                "Notes have in common what their schemas say." if drifts else "No note holds a schema."
            )
    return ExitCode.FINDINGS if any(drifts.values()) else ExitCode.OK


def _format_part(part: SchemaPart) -> tuple[str, str, str]:
    need = "required" if part.is_required else "optional"
    return part.kind, part.name, f"{part.type}{', several' if part.is_list else ''}, {need}"


def _format_drift(each: SchemaDrift) -> tuple[str, str, str]:
    if each.now is None and each.kept is not None:
        return each.kept.kind, each.kept.name, "few notes have it"
    assert each.now is not None
    if each.kept is None:
        return each.now.kind, each.now.name, f"not in the schema, {each.now.count:,} notes have it"
    kind, name, now = _format_part(each.now)
    return kind, name, f"{_format_part(each.kept)[2]} in the schema; {now} in notes"


def _serialize_schema(schema: NoteSchema) -> dict[str, object]:
    return {"type": schema.type, "notes": schema.count, "parts": [_serialize_part(part) for part in schema.parts]}


def _serialize_part(part: SchemaPart) -> dict[str, object]:
    return {
        "kind": part.kind,
        "name": part.name,
        "type": part.type,
        "list": part.is_list,
        "values": list(part.values) or None,
        "required": part.is_required,
        "notes": part.count or None,
    }


SCHEMA_VERB = Verb("schema", add_schema_options, run_schema)
