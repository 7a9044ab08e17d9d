"""`memtui blame`: who wrote each line of a note, when, and by which event."""

import argparse
import re
from typing import TYPE_CHECKING

from memtui.cli import context, output, times
from memtui.cli.context import open_memory
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, NotFound
from memtui.cli.parsing import Parser, Verb
from memtui.cli.times import VersionedPath
from memtui.core import diffs
from memtui.core.events import Agent, Event, format_actor_name, shorten_actor_name
from memtui.core.history import Blame
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.unicode import measure_cells, visible
from memtui.core.wording import FIRST_SAW
from memtui.engine import Engine
from memtui.fs.state import get_state_directory

if TYPE_CHECKING:
    from memtui.agents.origin import LineOrigin

_CALL_ID = 12
"""Cells of the longest id of a call that is not cut."""


def add_blame_options(parser: Parser) -> None:
    parser.add_value("path", "PATH", "relative to the folder, or /memories/...; PATH@MOMENT")
    parser.add_value("--at", "MOMENT", "as it was: 41, 2026-11-20, 10:14, 2h ago", type=times.parse_moment)


def run_blame(options: Options, arguments: argparse.Namespace) -> int:
    path = context.resolve_folder(options)
    spot = times.parse_versioned_path(arguments.path, path, arguments.at)
    with open_memory(path, options) as memory:
        blamed = _compute_blame(memory, spot)
    if options.json:
        output.print_json(_serialize_blame(blamed))
    else:
        _print_blame(blamed)
    if not blamed.blame.complete:
        output.print_message("Not every earlier text is kept: a line may be older than the event shown.")
    return ExitCode.OK


@dataclass(frozen=True, slots=True)
class _BlameResult:
    """A text with the author of each line; `at` is the number of the event, `None` for now."""

    spot: VersionedPath
    at: int | None
    lines: list[str]
    blame: Blame


def _compute_blame(memory: Engine, spot: VersionedPath) -> _BlameResult:
    place = spot.path
    at = None
    if spot.moment is not None and not spot.moment.is_now:
        at = times.find_seq(memory, spot.moment)
        version = times.require_version(memory, place, at, spot.moment)
        data = times.require_text(memory, place, version, spot.moment)
    else:
        data = _read_current(memory, spot)
    if b"\0" in data:
        raise NotFound(f"{place} is not a text, so it has no lines.")
    text = data.decode("utf-8", "surrogateescape")
    blame = memory.history.apply_claims(memory.history.blame(place.relative, data, at=at))
    return _BlameResult(spot, at, diffs.split_lines(text), blame)


def _read_current(memory: Engine, spot: VersionedPath) -> bytes:
    seen = memory.inspect_path(spot.path.relative)
    if seen.data is not None:
        return seen.data
    if seen.node is None:
        raise NotFound(f"Nothing at {spot.path}. For an earlier version: memtui blame PATH --at MOMENT")
    raise NotFound(f"{spot.path} has no lines. {seen.problem or f'It is a {seen.node.kind}.'}")


def _print_blame(blamed: _BlameResult) -> None:
    """One row a line: the event, who, when, by which call, the line's number, and the line."""
    rows = [
        (*_format_columns(event), visible(line.removesuffix("\n"))) for line, event in _pair_lines_with_events(blamed)
    ]
    widths = [max((measure_cells(row[column]) for row in rows), default=0) for column in range(4)]
    digits = len(str(len(rows)))
    for number, (seq, actor, when, call, line) in enumerate(rows, 1):
        columns = [f"{seq:>{widths[0]}}", output.pad_cell(actor, widths[1]), output.pad_cell(when, widths[2])]
        if widths[3]:
            columns.append(output.pad_cell(call, widths[3]))
        output.print_line(f"{'  '.join(columns)}  {number:>{digits}}  {line}")


def _format_columns(event: Event | None) -> tuple[str, str, str, str]:
    if event is None:
        return "?", "unknown", "", ""
    when = f"{event.at.astimezone():%Y-%m-%d %H:%M}"
    actor = FIRST_SAW if event.command == "found" else shorten_actor_name(format_actor_name(event.actor))
    call = event.call_id or ""
    return str(event.seq), actor, when, call if len(call) <= _CALL_ID else f"{call[: _CALL_ID - 2]}.."


def _pair_lines_with_events(blamed: _BlameResult) -> list[tuple[str, Event | None]]:
    return list(zip(blamed.lines, blamed.blame.lines, strict=True))


def _serialize_blame(blamed: _BlameResult) -> dict[str, object]:
    return {
        "path": str(blamed.spot.path),
        "at": blamed.at,
        "complete": blamed.blame.complete,
        "lines": [_serialize_line(number, *pair) for number, pair in enumerate(_pair_lines_with_events(blamed), 1)],
    }


def _serialize_line(number: int, line: str, event: Event | None) -> dict[str, object]:
    return {
        "line": number,
        "seq": event.seq if event else None,
        "ts": output.format_utc(event.at_us) if event else None,
        "actor": event.actor.name if event else None,
        "actor_kind": type(event.actor).__name__.lower() if event else None,
        "command": event.command if event else None,
        "call_id": event.call_id if event else None,
        "text": line.removesuffix("\n"),
    }


BLAME_VERB = Verb("blame", add_blame_options, run_blame)


# `memtui origin`: from a memory, or a line of it, to the session, the prompt and the tool call that wrote it.

_LINE = re.compile(r"(.+):([0-9]{1,9})")


def add_origin_options(parser: Parser) -> None:
    parser.add_value("path", "PATH[:LINE]", "relative to the folder, or /memories/...")


def run_origin(options: Options, arguments: argparse.Namespace) -> int:
    from memtui.agents.origin import find_origins  # noqa: PLC0415 - start-up: blame needs no transcript

    folder = context.resolve_folder(options)
    with open_memory(folder, options) as memory:
        place, line = context.parse_memory_path(arguments.path, folder), None
        seen = memory.inspect_path(place.relative)
        if seen.node is None and (found := _LINE.fullmatch(arguments.path)) is not None:
            place, line = context.parse_memory_path(found[1], folder), int(found[2])
            seen = memory.inspect_path(place.relative)
        if seen.data is None:
            raise NotFound(f"{place} has no lines. {seen.problem or 'It is not a file.'}")
        state = get_state_directory(folder, options.state)
        only = None if line is None else [line]
        origins = find_origins(memory, place.relative, seen.data, state=state, only=only)
    if line is not None and not origins:
        raise NotFound(f"{place} has no line {line}.")
    if options.json:
        records = [_serialize_origin(origin) for origin in origins]
        output.print_json({"path": str(place), "lines": records})
    else:
        _print_origins(place, origins)
    return ExitCode.OK if all(origin.is_known for origin in origins) else ExitCode.FINDINGS


def _print_origins(place: MemoryPath, origins: "list[LineOrigin]") -> None:
    """A paragraph for each stretch of lines that came with the same call."""
    from memtui.agents.origin import describe_origin, group_origins  # noqa: PLC0415 - start-up: as above

    is_first = True
    for lines in group_origins(origins):
        if not is_first:
            output.print_line("")
        is_first = False
        first, last = lines[0].line, lines[-1].line
        output.print_line(f"{output.pad_cell(str(place), 0)}:{first}{f'-{last}' if last > first else ''}")
        for origin in lines:
            output.print_line(f"  | {visible(origin.text.removesuffix(chr(13)))}")
        for name, words in describe_origin(lines[0]):
            output.print_line(f"  {name:<8}{output.pad_cell(words, 0)}")


def _serialize_origin(origin: "LineOrigin") -> dict[str, object]:
    event = origin.event
    agent = event.actor if event is not None and isinstance(event.actor, Agent) else None
    return {
        "line": origin.line,
        "text": origin.text,
        "known": origin.is_known,
        "told_afterwards": origin.is_imported,
        "event": event.seq if event is not None else None,
        "command": event.command if event is not None else None,
        "actor": event.actor.name if event is not None else None,
        "model": agent.model if agent is not None else None,
        "session": agent.session if agent is not None else None,
        "call_id": event.call_id if event is not None else None,
        "ts": output.format_utc(origin.at_us) if origin.at_us is not None else None,
        "prompt": origin.asked.prompt or None,
        "source": origin.asked.source or None,
    }


ORIGIN_VERB = Verb("origin", add_origin_options, run_origin)
