"""`memtui origin`: from a memory, or a line of it, to the session, the prompt and the tool call that wrote it."""

import argparse
import re

from memtui.agents.origin import Origin, facts_of, origins_of, stretches_of
from memtui.cli import output, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import opened
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.events import Agent
from memtui.core.paths import MemoryPath
from memtui.core.visible import visible
from memtui.opening import state_directory

_LINE = re.compile(r"(.+):([0-9]{1,9})")


def _arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH[:LINE]", help="relative to the folder, or /memories/...")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    folder = places.folder(options)
    with opened(folder, options) as memory:
        place, line = places.place(arguments.path, folder), None
        seen = memory.look(place.relative)
        if seen.node is None and (found := _LINE.fullmatch(arguments.path)) is not None:
            place, line = places.place(found[1], folder), int(found[2])
            seen = memory.look(place.relative)
        if seen.data is None:
            raise Failure(Exit.MISSING, f"{place} has no lines to tell of. {seen.problem or 'It is no file.'}")
        state = state_directory(folder, options.state)
        only = None if line is None else [line]
        origins = origins_of(memory, place.relative, seen.data, state=state, only=only)
    if line is not None and not origins:
        raise Failure(Exit.MISSING, f"{place} has no line {line}.")
    if options.json:
        records = [_record(origin) for origin in origins]
        output.document({"schema": output.SCHEMA, "path": str(place), "lines": records})
    else:
        _print(place, origins)
    return Exit.OK if all(origin.is_known for origin in origins) else Exit.FINDINGS


def _print(place: MemoryPath, origins: list[Origin]) -> None:
    """A paragraph for each stretch of lines that came with the same call."""
    is_first = True
    for lines in stretches_of(origins):
        if not is_first:
            output.line("")
        is_first = False
        first, last = lines[0].line, lines[-1].line
        output.line(f"{output.cell(str(place), 0)}:{first}{f'-{last}' if last > first else ''}")
        for origin in lines:
            output.line(f"  | {visible(origin.text.removesuffix(chr(13)))}")
        for name, words in facts_of(lines[0]):
            output.line(f"  {name:<8}{output.cell(words, 0)}")


def _record(origin: Origin) -> dict[str, object]:
    event = origin.event
    agent = event.actor if event is not None and isinstance(event.actor, Agent) else None
    return {
        "line": origin.line,
        "text": origin.text,
        "known": origin.is_known,
        "told_afterwards": origin.is_told,
        "event": event.seq if event is not None else None,
        "command": event.command if event is not None else None,
        "actor": event.actor.name if event is not None else None,
        "model": agent.model if agent is not None else None,
        "session": agent.session if agent is not None else None,
        "call_id": event.call_id if event is not None else None,
        "ts": output.utc(origin.at_us) if origin.at_us is not None else None,
        "prompt": origin.asked.prompt or None,
        "source": origin.asked.source or None,
    }


VERB = Verb(
    "origin",
    "who asked for a line",
    (
        ("memtui origin notes/today.md:3", "the session, the prompt and the call behind it"),
        ("memtui origin notes/today.md", "of every line"),
    ),
    _arguments,
    _run,
    (
        "From the journal, the records of chats, and Claude Code's session files; what",
        "those tell of earlier: memtui import-transcripts. Exit codes: 0 all is known,",
        "1 some is not, 3 no such note or line.",
    ),
)
