"""`memtui home`, `memtui places` and `memtui demo`: where memories are, and how memtui looks with some."""

import argparse
import time
from typing import TYPE_CHECKING

from memtui.cli import output
from memtui.cli.browser import browse_folder, detect_terminal_background, require_terminal, show_demo
from memtui.cli.context import load_config
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError
from memtui.cli.parsing import Parser, Verb, make_number_parser
from memtui.core.unicode import measure_cells
from memtui.core.wording import format_age

if TYPE_CHECKING:
    from memtui.places.folders import MemoryLocation


def add_home_options(parser: Parser) -> None:
    del parser  # it has those of all verbs


def run_home(options: Options, arguments: argparse.Namespace) -> int:
    """Show all folders of this person, also where one is named by the environment or the settings."""
    del arguments
    for option, given in (("--dir", options.directory), ("--state", options.state)):
        if given is not None:
            raise UsageError(f"memtui home: {option} is about one folder. Leave it out, or browse that: memtui DIR")
    return browse_folder(options, None)


# `memtui places`: the memory folders that are likely to be on this machine, and which project each is about.


def add_places_options(parser: Parser) -> None:
    parser.add_flag("--limits", "also what each agent loads, and how much it accepts")
    parser.add_flag("-0 --null", "paths only, exact, each ended by a NUL byte")


def run_places(options: Options, arguments: argparse.Namespace) -> int:
    from memtui.places.dialects import list_dialect_problems  # noqa: PLC0415 - start-up: the browser starts without
    from memtui.places.folders import find_memory_folders  # noqa: PLC0415 - start-up: the browser starts without
    from memtui.recent_stores import find_recent_stores  # noqa: PLC0415 - start-up: the browser starts without

    places = [*find_memory_folders(limit=None), *find_recent_stores()]
    for problem in list_dialect_problems():
        output.print_message(problem)
    if arguments.null:
        for place in places:
            output.write_bytes(place.path.encode("utf-8", "surrogateescape") + b"\0")
    elif options.json:
        output.print_json({"places": [_serialize_place(place) for place in places]})
    else:
        _print_places(places, limits=arguments.limits)
        if not places and not options.quiet:
            output.print_message("No memory folder was found in the usual places. Browse any folder: memtui DIR")
    return ExitCode.OK if places else ExitCode.FINDINGS


def _print_places(places: "list[MemoryLocation]", *, limits: bool = False) -> None:
    from memtui.places.folders import format_owner, format_project, list_limits  # noqa: PLC0415 - start-up

    now = time.time()
    rows = [
        (
            f"{place.files:,}{'' if place.is_counted else '+'}",
            format_age(now - place.changed_ns / 1e9) if place.changed_ns else "-",
            format_owner(place),
            place.display_path,
            format_project(place),
        )
        for place in places
    ]
    widths = [max((measure_cells(row[column]) for row in rows), default=0) for column in range(4)]
    for place, (files, age, owner, shown, project) in zip(places, rows, strict=True):
        start = f"{files:>{widths[0]}}  {age:>{widths[1]}}  {output.pad_cell(owner, widths[2])}"
        output.print_line(f"{start}  {output.pad_cell(shown, widths[3])}  {output.pad_cell(project, 0)}".rstrip())
        for words in list_limits(place) if limits else ():
            output.print_line(f"{' ' * (widths[0] + widths[1] + 4)}{words}")


def _serialize_place(place: "MemoryLocation") -> dict[str, object]:
    from memtui.places.folders import list_limits  # noqa: PLC0415 - start-up: the browser starts without

    return {
        "path": place.path,
        "owner": str(place.owner),
        "name": place.name or None,
        "project": place.project,
        "project_exists": place.project_exists,
        "closed": place.closed or None,
        "limits": list_limits(place),
        "files": place.files,
        "all_counted": place.is_counted,
        "changed": None if place.changed_ns is None else output.format_utc(place.changed_ns // 1_000),
    }


# `memtui demo`: a scripted agent at work, in a folder that is made for it.


def add_demo_options(parser: Parser) -> None:
    parser.add_value(
        "--speed",
        "X",
        "times as fast; default 1",
        type=make_number_parser("number above 0", zero=False),
        default=1.0,
    )
    parser.add_value("--keep", "DIR", "work in this folder, and keep it")
    parser.add_flag("--no-tour", "without captions")


def run_demo(options: Options, arguments: argparse.Namespace) -> int:
    require_terminal("See: memtui demo --help")
    loaded = load_config(options)
    with detect_terminal_background(loaded):
        return show_demo(loaded, speed=arguments.speed, keep=arguments.keep, tour=not arguments.no_tour)


DEMO_VERB = Verb("demo", add_demo_options, run_demo, keeps_rights=True)
HOME_VERB = Verb("home", add_home_options, run_home, needs_network=True)
PLACES_VERB = Verb("places", add_places_options, run_places)
