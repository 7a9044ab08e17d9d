"""`memtui run`: memory commands from JSON, through the same door as everybody's."""

import argparse
import codecs
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from memtui import opening
from memtui.cli import output, places
from memtui.cli.configured import memory_settings
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb
from memtui.core import commands
from memtui.core.errors import Refusal
from memtui.core.events import Agent, Answer
from memtui.core.messages import Message, say

_PATHS = frozenset(
    {
        Message.OUTSIDE,
        Message.ESCAPES,
        Message.BAD_CHARACTER,
        Message.NAME_TOO_LONG,
        Message.PATH_TOO_LONG,
        Message.TOO_DEEP,
    }
)


@dataclass(frozen=True, slots=True)
class _Broken:
    """What should have been a command and is no JSON."""

    sentence: str


def _arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="COMMAND.json", help="one command, an array, or JSON lines; - for stdin")
    parser.add_argument("--actor", metavar="NAME", default="script", help="who acts, for the journal; else script")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    path = places.folder(options)
    actor = Agent(arguments.actor)
    codes = {Exit.OK}
    settings = memory_settings(options, path)
    with (
        _source(arguments.file) as source,
        opening.open(path, state=options.state, read_only=options.read_only, settings=settings) as memory,
    ):
        for command in _commands(source):
            if isinstance(command, _Broken):
                codes.add(Exit.FINDINGS)
                _print_broken(command, options)
            else:
                answer = memory.execute(command, actor=actor)
                codes.add(_code(command, answer))
                _print_answer(answer, options)
            output.flush()
    return max(codes)


def _source(name: str) -> IO[bytes]:
    if name == "-":
        return open(0, "rb", closefd=False)
    try:
        return open(name, "rb")
    except OSError as error:
        raise Failure(
            Exit.MISSING, f"{name} cannot be read: {os.strerror(error.errno or 0).lower()}. Nothing was done."
        ) from error


def _commands(source: IO[bytes]) -> Iterator[object]:
    """Commands as they arrive: one to a line if the first line is one, else all that the whole text holds."""
    lines: Iterator[tuple[int, bytes]] = enumerate(_without_bom(source), 1)
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is None:
        yield _Broken("There is no command. Nothing was done.")
        return
    command = _parsed(*first)
    if isinstance(command, _Broken | list):
        rest = list(lines)
        whole = _parsed(0, b"\n" * (first[0] - 1) + first[1] + b"".join(line for _, line in rest))
        if not isinstance(whole, _Broken):
            yield from whole if isinstance(whole, list) else [whole]
            return
        lines = iter(rest)
    yield command
    for number, line in lines:
        if line.strip():
            yield _parsed(number, line)


def _without_bom(source: IO[bytes]) -> Iterator[bytes]:
    for line in source:
        yield line.removeprefix(codecs.BOM_UTF8)
        yield from source


def _parsed(number: int, data: bytes) -> object:
    try:
        return json.loads(data.decode("utf-8"))
    except json.JSONDecodeError as error:
        reason = f"{error.msg}, column {error.colno}"
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except (ValueError, RecursionError):
        reason = "a number is too long, or it is nested too deep"
    return _Broken(f"Line {number} is not JSON: {reason}. Nothing was done for it.")


def _code(raw: object, answer: Answer) -> Exit:
    if not answer.is_error:
        return Exit.OK
    try:
        commands.judge(raw)
    except Refusal as refusal:
        return Exit.REFUSED if refusal.message in _PATHS else Exit.FINDINGS
    escapes = say(Message.ESCAPES_BY_LINK, path=answer.event.path)
    return Exit.REFUSED if answer.text == escapes or answer.text.endswith(": read-only") else Exit.FINDINGS


def _print_answer(answer: Answer, options: Options) -> None:
    if options.json:
        seq = None if options.read_only or not answer.event.seq else answer.event.seq
        _print_record(answer.text, answer.is_error, seq)
    else:
        output.text(answer.text if answer.text.endswith("\n") else answer.text + "\n")


def _print_broken(broken: _Broken, options: Options) -> None:
    if options.json:
        _print_record(broken.sentence, True, None)
    else:
        output.message(broken.sentence)


def _print_record(text: str, is_error: bool, seq: int | None) -> None:
    output.json_line({"schema": output.SCHEMA, "text": text, "is_error": is_error, "seq": seq})


VERB = Verb(
    "run",
    "execute commands in JSON",
    (
        ("memtui run commands.jsonl --actor nightly", "as the agent nightly"),
        ("""echo '{"command":"view","path":"/memories"}' | memtui run -""", ""),
    ),
    _arguments,
    _run,
    (
        "With --json one object a line: text, is_error, seq (null: not recorded).",
        "Exit codes: 0 all done; 4 a path outside the folder or not allowed, or a change",
        "where all is read-only; 1 anything else refused, or not JSON. All are tried.",
    ),
)
