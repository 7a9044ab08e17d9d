"""`memtui blame`: who wrote each line of a note, when, and by which event."""

import argparse
from dataclasses import dataclass

from memtui.cli import moments, output, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.moments import Spot
from memtui.cli.opened import opened
from memtui.cli.verb import Options, Parser, Verb
from memtui.core import diffs
from memtui.core.actors import shown_name
from memtui.core.events import Event
from memtui.core.history import Blame
from memtui.core.visible import visible
from memtui.engine import Engine

_CALL_ID = 12
"""Cells of the longest id of a call that stands whole in a column."""
_FOUND = "memtui first saw it"


def _arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="relative to the folder, or /memories/...; PATH@MOMENT")
    parser.add_argument("--at", metavar="MOMENT", type=moments.moment, help="as it was: 41, 2026-11-20, 10:14, 2h ago")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    path = places.folder(options)
    spot = moments.spot(arguments.path, path, arguments.at)
    with opened(path, options) as memory:
        blamed = _blamed(memory, spot)
    if options.json:
        output.document(_record(blamed))
    else:
        _print(blamed)
    if not blamed.blame.complete:
        output.message("Not every earlier text is kept: a line may be older than the event that is named.")
    return Exit.OK


@dataclass(frozen=True, slots=True)
class _Blamed:
    """A text with who wrote it.

    Attributes:
        spot: Where and when.
        at: The number of the event as of which; `None` for now.
        lines: Each with its line feed.
        blame: Who wrote them.
    """

    spot: Spot
    at: int | None
    lines: list[str]
    blame: Blame


def _blamed(memory: Engine, spot: Spot) -> _Blamed:
    place = spot.place
    at = None
    if spot.moment is not None and not spot.moment.is_now:
        at = moments.seq_of(memory, spot.moment)
        version = moments.insist_on_version(memory, place, at, spot.moment)
        data = moments.insist_on_text(memory, place, version, spot.moment)
    else:
        data = _read(memory, spot)
    if b"\0" in data:
        raise Failure(Exit.MISSING, f"{place} is no text, so it has no lines.")
    text = data.decode("utf-8", "surrogateescape")
    blame = memory.history.claimed(memory.history.blame(place.relative, data, at=at))
    return _Blamed(spot, at, diffs.lines_of(text), blame)


def _read(memory: Engine, spot: Spot) -> bytes:
    seen = memory.look(spot.place.relative)
    if seen.data is not None:
        return seen.data
    if seen.node is None:
        raise Failure(Exit.MISSING, f"Nothing at {spot.place}. As it was once: memtui blame PATH --at MOMENT")
    raise Failure(Exit.MISSING, f"{spot.place} has no lines. {seen.problem or f'It is a {seen.node.kind}.'}")


def _print(blamed: _Blamed) -> None:
    """One row a line: the event, who, when, by which call, the line's number, and the line."""
    rows = [(*_columns(event), visible(line.removesuffix("\n"))) for line, event in _lines(blamed)]
    widths = [max((output.cells(row[column]) for row in rows), default=0) for column in range(4)]
    digits = len(str(len(rows)))
    for number, (seq, actor, when, call, line) in enumerate(rows, 1):
        columns = [f"{seq:>{widths[0]}}", output.cell(actor, widths[1]), output.cell(when, widths[2])]
        if widths[3]:
            columns.append(output.cell(call, widths[3]))
        output.line(f"{'  '.join(columns)}  {number:>{digits}}  {line}")


def _columns(event: Event | None) -> tuple[str, str, str, str]:
    if event is None:
        return "?", "not known", "", ""
    when = f"{event.at.astimezone():%Y-%m-%d %H:%M}"
    actor = _FOUND if event.command == "found" else shown_name(event.actor)
    call = event.call_id or ""
    return str(event.seq), actor, when, call if len(call) <= _CALL_ID else f"{call[: _CALL_ID - 2]}.."


def _lines(blamed: _Blamed) -> list[tuple[str, Event | None]]:
    return list(zip(blamed.lines, blamed.blame.lines, strict=True))


def _record(blamed: _Blamed) -> dict[str, object]:
    return {
        "schema": output.SCHEMA,
        "path": str(blamed.spot.place),
        "at": blamed.at,
        "complete": blamed.blame.complete,
        "lines": [_line_record(number, *pair) for number, pair in enumerate(_lines(blamed), 1)],
    }


def _line_record(number: int, line: str, event: Event | None) -> dict[str, object]:
    return {
        "line": number,
        "seq": event.seq if event else None,
        "ts": output.utc(event.at_us) if event else None,
        "actor": event.actor.name if event else None,
        "actor_kind": type(event.actor).__name__.lower() if event else None,
        "command": event.command if event else None,
        "call_id": event.call_id if event else None,
        "text": line.removesuffix("\n"),
    }


VERB = Verb(
    "blame",
    "say who wrote each line",
    (
        ("memtui blame notes/today.md", "event, who, when, call, line by line"),
        ("memtui blame notes/today.md --at 41", "as of event 41"),
    ),
    _arguments,
    _run,
    (
        "Through renames. `memtui first saw it`: it was there before the record began.",
        "With --json: path, at, complete, lines: line, seq, ts, actor, actor_kind,",
        "command, call_id, text. Exit code 3: it is not there, or is no text.",
    ),
)
