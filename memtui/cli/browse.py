"""`memtui [DIR]`: the browser. Here it is only decided whether it can run, and where."""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memtui.cli import context, output
from memtui.cli.context import load_config
from memtui.cli.output import ExitCode, UsageError
from memtui.cli.parsing import Options, Parser, Verb, make_number_parser
from memtui.core.unicode import measure_cells
from memtui.core.wording import format_age

if TYPE_CHECKING:
    from memtui.config import LoadedConfig
    from memtui.places.folders import MemoryLocation


def run_browser(options: Options, word: str | None) -> int:
    """Browse a folder; without one, the browser offers those that it finds."""
    given = context.find_folder(options, word)
    return _browse(options, context.resolve_existing_folder(given) if given is not None else None)


def add_home_options(parser: Parser) -> None:
    del parser  # it has those of all verbs


def run_home(options: Options, arguments: argparse.Namespace) -> int:
    """Show all folders of this person, also where one is named by the environment or the settings."""
    del arguments
    for option, given in (("--dir", options.directory), ("--state", options.state)):
        if given is not None:
            raise UsageError(f"memtui home: {option} is about one folder. Leave it out, or browse that: memtui DIR")
    return _browse(options, None)


def _browse(options: Options, folder: str | None) -> int:
    """The browser of a folder, or of all."""
    loaded = load_config(options, folder)
    if loaded.config.ui.screen_reader:
        from memtui.cli.reader.menu import run_reader  # noqa: PLC0415 - start-up: only with a screen reader

        return run_reader(
            folder,
            loaded,
            state=options.state,
            read_only=options.read_only,
            chat_options=lambda: context.build_chat_options(loaded, options),
        )
    require_terminal("For scripts use: memtui ls, memtui log --json")
    with detect_terminal_background(loaded):
        from memtui.ui.app import browse  # noqa: PLC0415 - start-up: loads Textual

        return browse(
            folder,
            state=options.state,
            read_only=options.read_only,
            loaded=loaded,
            chat_options=lambda: context.build_chat_options(loaded, options),
            run_demo=lambda: _run_demo(loaded),
        )


@contextmanager
def detect_terminal_background(loaded: "LoadedConfig") -> Iterator[None]:
    """Ask the terminal whether it is light while all else is loaded; at the end it is as it was before."""
    from memtui.ui import startup  # noqa: PLC0415 - start-up: only for screens

    if loaded.config.theme == "auto":
        startup.start_query()
    startup.load_textual()
    try:
        yield
    finally:
        startup.reset_query()


def require_terminal(otherwise: str) -> None:
    """Raise `Failure` where no screen can be drawn or no keys arrive; `otherwise` says what to run instead."""
    capable = os.environ.get("TERM", "") not in ("", "dumb")
    if not (capable and output.is_terminal(sys.stdin) and output.is_terminal(sys.stdout)):
        raise UsageError(f"memtui needs a terminal. {otherwise}")


# `memtui places`: the memory folders that are likely to be on this machine, and which project each is about.


def add_places_options(parser: Parser) -> None:
    parser.add_flag("--limits", "also what each agent loads, and how much it accepts")
    parser.add_flag("-0 --null", "paths only, exact, each ended by a NUL byte")


def run_places(options: Options, arguments: argparse.Namespace) -> int:
    from memtui.places.dialects import list_dialect_problems  # noqa: PLC0415 - start-up: the browser starts without
    from memtui.places.folders import find_memory_folders  # noqa: PLC0415 - start-up: the browser starts without

    places = find_memory_folders(limit=None)
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

_NEXT_COMMANDS = (
    "With a folder of your own:",
    "  memtui DIR              browse it while an agent writes",
    "  memtui hook install     record Claude Code's changes under its name",
    "  memtui mcp DIR          serve it to any MCP client",
)


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
        return _run_demo(loaded, speed=arguments.speed, keep=arguments.keep, tour=not arguments.no_tour)


def _run_demo(loaded: "LoadedConfig", *, speed: float = 1.0, keep: str | None = None, tour: bool = True) -> int:
    """Run the demo, and print how to begin with a folder of one's own."""
    from memtui.ui.demo_app import run_demo_app  # noqa: PLC0415 - start-up: loads Textual

    try:
        code = run_demo_app(speed=speed, keep=keep, tour=tour, loaded=loaded)
    except FileExistsError as error:
        raise UsageError(str(error)) from error
    if code == ExitCode.OK:
        for line in _NEXT_COMMANDS:
            output.print_line(line)
    return code


DEMO_VERB = Verb("demo", add_demo_options, run_demo, keeps_rights=True)
HOME_VERB = Verb("home", add_home_options, run_home, needs_network=True)
PLACES_VERB = Verb("places", add_places_options, run_places)
