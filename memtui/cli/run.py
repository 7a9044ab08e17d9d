"""`memtui run`: memory commands from JSON, through the same door as everybody's."""

import argparse
import codecs
import json
from collections.abc import Iterator
from typing import IO

from memtui import memory as memory_module
from memtui.cli import context, output
from memtui.cli.context import load_memory_settings
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, NotFound, format_os_error
from memtui.cli.parsing import Parser, Verb
from memtui.core import commands
from memtui.core.errors import Refusal
from memtui.core.events import Agent, Answer
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey, format_message

_PATHS = frozenset(
    {
        MessageKey.OUTSIDE,
        MessageKey.ESCAPES,
        MessageKey.BAD_CHARACTER,
        MessageKey.NAME_TOO_LONG,
        MessageKey.PATH_TOO_LONG,
        MessageKey.TOO_DEEP,
    }
)


@dataclass(frozen=True, slots=True)
class _InvalidCommand:
    """A command that is no JSON."""

    sentence: str


def add_run_options(parser: Parser) -> None:
    parser.add_value("file", "COMMAND.json", "one command, an array, or JSON lines; - for stdin")
    parser.add_value("--actor", "NAME", "actor's name in history; default: script", default="script")


def run_commands(options: Options, arguments: argparse.Namespace) -> int:
    path = context.resolve_folder(options)
    actor = Agent(arguments.actor)
    codes = {ExitCode.OK}
    settings = load_memory_settings(options, path)
    with (
        _open_source(arguments.file) as source,
        memory_module.open(path, state=options.state, read_only=options.read_only, settings=settings) as memory,
    ):
        for command in _iter_commands(source):
            if isinstance(command, _InvalidCommand):
                codes.add(ExitCode.FINDINGS)
                _print_invalid(command, options)
            else:
                answer = memory.execute(command, actor=actor)
                codes.add(_get_exit_code(command, answer))
                _print_answer(answer, options)
            output.flush()
    return max(codes)


def _open_source(name: str) -> IO[bytes]:
    if name == "-":
        return open(0, "rb", closefd=False)
    try:
        return open(name, "rb")
    except OSError as error:
        raise NotFound(f"{name} cannot be read: {format_os_error(error)}. Nothing was done.") from error


def _iter_commands(source: IO[bytes]) -> Iterator[object]:
    """Commands as they arrive: one to a line if the first line is one, else all that the whole text holds."""
    lines: Iterator[tuple[int, bytes]] = enumerate(_strip_bom(source), 1)
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is None:
        yield _InvalidCommand("There is no command. Nothing was done.")
        return
    command = _parse_json(*first)
    if isinstance(command, _InvalidCommand | list):
        rest = list(lines)
        whole = _parse_json(0, b"\n" * (first[0] - 1) + first[1] + b"".join(line for _, line in rest))
        if not isinstance(whole, _InvalidCommand):
            yield from whole if isinstance(whole, list) else [whole]
            return
        lines = iter(rest)
    yield command
    for number, line in lines:
        if line.strip():
            yield _parse_json(number, line)


def _strip_bom(source: IO[bytes]) -> Iterator[bytes]:
    for line in source:
        yield line.removeprefix(codecs.BOM_UTF8)
        yield from source


def _parse_json(number: int, data: bytes) -> object:
    try:
        return json.loads(data.decode("utf-8"))
    except json.JSONDecodeError as error:
        reason = f"{error.msg}, column {error.colno}"
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except (ValueError, RecursionError):
        reason = "a number is too long, or it is nested too deep"
    return _InvalidCommand(f"Line {number} is not JSON: {reason}. It was skipped.")


def _get_exit_code(raw: object, answer: Answer) -> ExitCode:
    if not answer.is_error:
        return ExitCode.OK
    try:
        commands.parse_command(raw)
    except Refusal as refusal:
        return ExitCode.REFUSED if refusal.message in _PATHS else ExitCode.FINDINGS
    escapes = format_message(MessageKey.ESCAPES_BY_LINK, path=answer.event.path)
    return ExitCode.REFUSED if answer.text == escapes or answer.text.endswith(": read-only") else ExitCode.FINDINGS


def _print_answer(answer: Answer, options: Options) -> None:
    if options.json:
        seq = None if options.read_only or not answer.event.seq else answer.event.seq
        _print_record(answer.text, answer.is_error, seq)
    else:
        output.print_text(answer.text if answer.text.endswith("\n") else answer.text + "\n")


def _print_invalid(broken: _InvalidCommand, options: Options) -> None:
    if options.json:
        _print_record(broken.sentence, True, None)
    else:
        output.print_message(broken.sentence)


def _print_record(text: str, is_error: bool, seq: int | None) -> None:
    output.print_json_line({"schema": output.SCHEMA, "text": text, "is_error": is_error, "seq": seq})


RUN_VERB = Verb("run", add_run_options, run_commands)
