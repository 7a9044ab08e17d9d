"""`memtui places`: the memory folders that are likely to be on this machine, and which project each is about."""

import argparse
import time

from memtui.cli import output
from memtui.cli.exits import Exit
from memtui.cli.verb import Options, Parser, Verb
from memtui.places.finding import Place, find_places
from memtui.places.words import about, owner_of


def _arguments(parser: Parser) -> None:
    parser.add_argument("-0", "--null", action="store_true", help="paths only, exact, each ended by a NUL byte")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    places = find_places(limit=None)
    if arguments.null:
        for place in places:
            output.exact(place.path.encode("utf-8", "surrogateescape") + b"\0")
    elif options.json:
        output.document({"schema": output.SCHEMA, "places": [_record(place) for place in places]})
    else:
        _print_table(places)
        if not places and not options.quiet:
            output.message("No memory folder was found in the usual places. Browse any folder: memtui DIR")
    return Exit.OK if places else Exit.FINDINGS


def _print_table(places: list[Place]) -> None:
    now = time.time()
    rows = [
        (
            f"{place.files:,}{'' if place.is_counted else '+'}",
            output.age(now - place.changed_ns / 1e9) if place.changed_ns else "-",
            owner_of(place),
            place.shown,
            about(place),
        )
        for place in places
    ]
    widths = [max((output.cells(row[column]) for row in rows), default=0) for column in range(4)]
    for files, age, owner, shown, project in rows:
        start = f"{files:>{widths[0]}}  {age:>{widths[1]}}  {output.cell(owner, widths[2])}"
        output.line(f"{start}  {output.cell(shown, widths[3])}  {output.cell(project, 0)}".rstrip())


def _record(place: Place) -> dict[str, object]:
    return {
        "path": place.path,
        "owner": place.owner.value,
        "name": place.name or None,
        "project": place.project,
        "project_exists": place.project_exists,
        "files": place.files,
        "all_counted": place.is_counted,
        "changed": None if place.changed_ns is None else output.utc(place.changed_ns // 1_000),
    }


VERB = Verb(
    "places",
    "find memory folders",
    (
        ("memtui places", "files, age, whose, where, and for which project"),
        ("memtui places --json", "for programs"),
    ),
    _arguments,
    _run,
    (
        "Looks at ./memories, ./memory/memories and ~/memories, at what Claude Code and",
        "VS Code keep, and at folders that memtui knows. Opens no note, changes nothing.",
        "With --json: path, owner, name, project, project_exists, files, all_counted,",
        "changed. Exit codes: 0 some were found, 1 none.",
    ),
)
