"""`memtui chat`: a conversation with Claude over a memory folder, on a screen or without one."""

import argparse
import os
import time
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli import context, output
from memtui.cli.chat_screen import chat_on_screen
from memtui.cli.context import build_chat_options, load_config, parse_guidance, parse_text_file
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError, format_os_error
from memtui.cli.parsing import Parser, Verb, make_count_parser, make_number_parser
from memtui.config.settings import EFFORTS, PROVIDERS
from memtui.core.approvals import ApprovalPolicy
from memtui.core.paths import NO_FOLDER, format_path
from memtui.core.unicode import measure_cells, to_one_line
from memtui.core.wording import format_age
from memtui.fs import state

if TYPE_CHECKING:
    from memtui.agents.acp.catalog import KnownAgent
    from memtui.agents.chat.events import ChatOptions
    from memtui.agents.chat.sessions.store import SessionSummary
    from memtui.config import LoadedConfig


_LAST = "last"
_LIST_AGENTS = "list"
_parse_token_count = make_count_parser("number of tokens")
_parse_price = make_number_parser("price in US dollars for a million tokens")


def add_chat_options(parser: Parser) -> None:
    parser.add_value("folder", "DIR", "the memory folder", nargs="?")
    parser.add_value("-p --print", "TEXT", "send TEXT (-: stdin), print the answer, exit")
    parser.add_value(
        "--policy",
        "POLICY",
        f"for writes: {', '.join(ApprovalPolicy)}; with -p read-only",
        choices=[policy.value for policy in ApprovalPolicy],
    )
    parser.add_value(
        "--agent", "NAME", "an agent of yours, by name or command; alone: list them", nargs="?", const=_LIST_AGENTS
    )
    parser.add_value("--model", "ID", "which model; default: the newest", type=_parse_model)
    parser.add_value("--system", "FILE", type=parse_text_file)
    parser.add_value("--guidance", "TEXT", "what to remember, or a FILE with it", type=parse_guidance)
    parser.add_value("--effort", "LEVEL", choices=EFFORTS)
    parser.add_argument("--thinking", action=argparse.BooleanOptionalAction, default=None)
    parser.add_value("--resume", "ID", "continue a session; default: the last", nargs="?", const=_LAST)
    parser.add_value("--fork", "ID", nargs="?", const=_LAST)
    parser.add_flag("--sessions", "list the sessions")
    parser.add_value("--export", "ID", "print a session as Markdown", nargs="?", const=_LAST)
    parser.add_value("-o --output", "FILE", "export to a new file, for its owner only")
    parser.add_value("--provider", "NAME", choices=PROVIDERS)
    parser.add_value("--max-tokens", "N", type=_parse_positive_count)
    parser.add_value("--context-trigger", "N", type=_parse_token_count)
    parser.add_value("--input-price", "USD", type=_parse_price)
    parser.add_value("--output-price", "USD", type=_parse_price)


def _parse_model(given: str) -> str:
    if not (given.strip() and given.isprintable()):
        raise argparse.ArgumentTypeError(f"{given!r} is not a model id")
    return given


def _parse_positive_count(given: str) -> int:
    count = _parse_token_count(given)
    if not count:
        raise argparse.ArgumentTypeError("it must be above 0")
    return count


def run_chat(options: Options, arguments: argparse.Namespace) -> int:
    _validate_exclusive_options(arguments)
    _reassign_folder_argument(arguments)
    if arguments.agent == _LIST_AGENTS:
        return print_agents(options)
    path = context.resolve_folder(options, arguments.folder)
    if arguments.sessions or arguments.export is not None:
        if arguments.sessions:
            return print_sessions(path, options)
        return export_session(path, options, arguments.export, arguments.output)
    loaded = load_config(options, path)
    chat_options = build_chat_options(loaded, options, arguments)
    agent = None
    if arguments.agent is not None:
        if path.startswith(NO_FOLDER):
            words = "works on files, and there are none: the memories are in a database. Nothing was started."
            raise UsageError(f"memtui chat: {arguments.agent} {words} Chat without --agent, or over a folder.")
        agent = _find_agent(arguments.agent)
        chat_options = replace(chat_options, agent=agent.title, program=agent.name, model=arguments.model)
    if arguments.print is not None:
        from memtui.cli import chat_print  # noqa: PLC0415 - start-up: only this verb

        return chat_print.print_chat_answer(
            arguments.print,
            path,
            chat_options,
            options,
            resume=arguments.resume,
            fork=arguments.fork,
            agent=None if agent is None else (agent, _find_server_command(path, options)),
        )
    if loaded.config.ui.screen_reader:
        return _run_screen_reader_chat(path, loaded, chat_options, options, arguments, agent)
    server = () if agent is None else _find_server_command(path, options)
    return chat_on_screen(
        path, loaded, chat_options, options, resume=arguments.resume, fork=arguments.fork, agent=agent, server=server
    )


def _run_screen_reader_chat(
    path: str, loaded: "LoadedConfig", chat_options: "ChatOptions", options: Options, arguments: argparse.Namespace,
    agent: "KnownAgent | None",
) -> int:  # fmt: skip
    """The conversation for who hears the screen instead of seeing it."""
    from memtui.cli.reader.chat import run_reader_chat  # noqa: PLC0415 - start-up: loads the conversation
    from memtui.cli.reader.menu import run_reader  # noqa: PLC0415 - start-up: only with a screen reader

    make = None
    if agent is not None:
        from memtui.agents.acp.start import create_agent_chat  # noqa: PLC0415 - start-up: only for an agent

        make = partial(create_agent_chat, agent=agent, folder=path, server=_find_server_command(path, options))
    return run_reader(
        path,
        loaded,
        state=options.state,
        read_only=options.read_only,
        begin=lambda session: run_reader_chat(
            session, chat_options, state=options.state, resume=arguments.resume, fork=arguments.fork, make=make
        ),
    )


_ALONE = ("sessions", "export", "resume", "fork")


def _validate_exclusive_options(arguments: argparse.Namespace) -> None:
    given = [name for name in _ALONE if getattr(arguments, name) not in (None, False)]
    if arguments.print is not None and {"sessions", "export"} & set(given):
        given = ["print", *given]
    if len(given) > 1:
        names = " and ".join("-p" if name == "print" else f"--{name}" for name in given)
        raise UsageError(f"memtui chat: {names} do not go together. See: memtui chat --help")
    if arguments.output is not None and arguments.export is None:
        raise UsageError("memtui chat: -o goes with --export. See: memtui chat --help")


def _reassign_folder_argument(arguments: argparse.Namespace) -> None:
    """A folder behind `--resume` is the folder, and the session is the last one in it."""
    for name in ("resume", "fork", "export"):
        given = getattr(arguments, name)
        if arguments.folder is None and given and given != _LAST and os.path.isdir(os.path.expanduser(given)):
            setattr(arguments, name, _LAST)
            arguments.folder = given


def _find_agent(given: str) -> "KnownAgent":
    """The agent to chat with. Raises `Failure` where it, or the package for it, is not installed."""
    from memtui.agents.acp.catalog import AgentUnavailable, find_agent  # noqa: PLC0415 - start-up: only for an agent

    if find_spec("acp") is None:
        raise UsageError("memtui chat --agent needs one more package: pip install 'memtui[acp]'")
    try:
        return find_agent(given)
    except AgentUnavailable as error:
        raise NotFound(str(error)) from error


def _find_server_command(path: str, options: Options) -> tuple[str, ...]:
    """The command of the agent's MCP server. Raises `Failure` where its package is not installed."""
    from memtui.agents.acp.catalog import build_server_command  # noqa: PLC0415 - start-up: only for an agent

    if find_spec("mcp") is None:
        raise UsageError("memtui chat --agent needs one more package: pip install 'memtui[mcp]'")
    return build_server_command(path, options.state, options.config, uses_config=not options.no_config)


def print_agents(options: Options) -> int:
    """Print the agents that can be chatted with, and how to get those that are not installed."""
    from memtui.agents.acp.catalog import list_known_agents  # noqa: PLC0415 - start-up: only for an agent

    known = list_known_agents()
    width = max(measure_cells(each.name) for each in known)
    for each in known:
        command = each.find_command()
        if options.json:
            output.print_json_line(
                {"schema": output.SCHEMA, "name": each.name, "title": each.title, "command": command,
                 "install": each.install, "login": each.login}
            )  # fmt: skip
            continue
        state = f"installed: {format_path(command[0])}" if command is not None else f"not installed; {each.install}"
        output.print_line(f"{output.pad_cell(each.name, width)}  {to_one_line(state)}")
    if not options.json:
        output.print_message("Start one: memtui chat --agent NAME. Any other: memtui chat --agent 'COMMAND'")
    return ExitCode.OK


CHAT_VERB = Verb("chat", add_chat_options, run_chat, keeps_rights=True)


# The sessions of a folder, in a list, and one of them as a text to keep. Nothing is opened but their files.


def print_sessions(folder: str, options: Options) -> int:
    """Print the sessions of a folder, the one that was used last first."""
    from memtui.agents.chat.sessions.store import list_sessions  # noqa: PLC0415 - start-up: a new chat has none

    found = list_sessions(_get_sessions_directory(folder, options))
    if options.json:
        for each in found:
            output.print_json_line(_serialize_session(each))
        return ExitCode.OK
    if not found:
        output.print_message(f"No sessions for {format_path(folder)} yet. Start one: memtui chat")
    now = time.time()
    model = max((measure_cells(to_one_line(each.agent or each.model or "")) for each in found), default=0)
    for each in found:
        turns = f"{each.turns:,} turn{'s' * (each.turns != 1)}"
        ago = format_age(now - each.changed_ns / 1e9)
        output.print_line(
            (
                f"{each.id}  {ago:>4}  {turns:>9}  {output.pad_cell(each.agent or each.model or '', model)}"
                f"  {to_one_line(each.title)}"
            ).rstrip()
        )
    return ExitCode.OK


def _serialize_session(each: "SessionSummary") -> dict[str, object]:
    return {
        "schema": output.SCHEMA,
        "id": each.id,
        "file": str(each.path),
        "began": each.at or None,
        "changed": output.format_utc(each.changed_ns // 1_000),
        "turns": each.turns,
        "title": each.title,
        "model": each.model,
        "agent": each.agent or None,
        "forked_from": each.forked_from,
        "size": each.size,
    }


def export_session(folder: str, options: Options, name: str, target: str | None) -> int:
    """Print a session as Markdown, or its records for a program."""
    from memtui.agents.chat.sessions.export import to_markdown  # noqa: PLC0415 - start-up: a new chat has none
    from memtui.agents.chat.sessions.store import (  # noqa: PLC0415 - start-up: a new chat has none
        SessionNotFound,
        find_session,
        read_records,
    )

    try:
        path = find_session(_get_sessions_directory(folder, options), name)
        damaged: list[int] = []
        if options.json and target in (None, "-"):
            for record in read_records(path, damaged.append):
                output.print_json_line(record)
        else:
            text = to_markdown(read_records(path, damaged.append))
            if target in (None, "-"):
                output.print_text(text)
            else:
                _write_export(text, str(target), folder)
    except SessionNotFound as error:
        raise NotFound(str(error)) from error
    except OSError as error:
        raise NotFound(
            f"The session {to_one_line(name)} cannot be read: {format_os_error(error)}. Nothing was exported."
        ) from error
    if damaged:
        output.print_message(f"Line {damaged[0]} of the session is damaged and was skipped.")
    return ExitCode.OK


def _write_export(text: str, target: str, folder: str) -> None:
    place = os.path.join(os.path.realpath(os.path.dirname(os.path.expanduser(target)) or "."), os.path.basename(target))
    shown = to_one_line(format_path(place))
    if place.startswith(folder.rstrip("/") + "/"):
        raise Failure(
            ExitCode.REFUSED,
            f"Refused: {shown} is inside the memory folder, where an agent could read it. Nothing was exported. "
            "Choose another place.",
        )
    try:
        fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise Failure(
            ExitCode.CONFLICT, f"{shown} already exists. Nothing was exported. Choose another name."
        ) from None
    except OSError as error:
        raise _make_write_failure(shown, error) from error
    try:
        with open(fd, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        Path(place).unlink(missing_ok=True)
        raise _make_write_failure(shown, error) from error


def _make_write_failure(shown: str, error: OSError) -> Failure:
    return Failure(ExitCode.OUTPUT, f"{shown} could not be written: {format_os_error(error)}. Nothing was exported.")


def _get_sessions_directory(folder: str, options: Options) -> Path:
    from memtui.agents.chat.sessions.store import CHATS  # noqa: PLC0415 - start-up: a new chat has none

    return state.get_state_directory(folder, options.state) / CHATS
