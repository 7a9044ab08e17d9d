"""`memtui mcp`: the memory for clients of the Model Context Protocol, such as Claude Code."""

import argparse
import contextlib
import os
import re
import secrets
import socket
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import memtui
from memtui import memory as memory_module
from memtui.agents.mcp import ASK_SECONDS, ServerOptions
from memtui.cli import context, output
from memtui.cli.context import load_memory_settings, parse_guidance
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError
from memtui.cli.parsing import Parser, Verb, make_number_parser
from memtui.cli.ports import HOST, bind_local_socket, bind_port, parse_port
from memtui.cli.private_files import read_private_file, require_outside
from memtui.core.approvals import ApprovalPolicy
from memtui.core.errors import StateUnusable
from memtui.core.paths import format_path
from memtui.fs import state as fs_state

if TYPE_CHECKING:
    from memtui.engine import Engine


_LEAST_TOKEN, _LONGEST_TOKEN = 16, 1_000
_TOKEN = re.compile(rb"[A-Za-z0-9._~+/=-]+")
_LONGEST_NAME = 64
_parse_seconds = make_number_parser("number of seconds from above 0 to 86400", most=86_400, zero=False)


def add_mcp_options(parser: Parser) -> None:
    parser.add_value("folder", "DIR", "the memory folder", nargs="?")
    parser.add_value("--http", "PORT", "serve HTTP on 127.0.0.1; 0: any free port", type=parse_port)
    parser.add_value("--token-file", "FILE", "with --http: the clients' token; created if missing")
    parser.add_flag("--no-token", "with --http: allow every user of this machine")
    parser.add_value("--socket", "PATH", "serve HTTP at a Unix socket, for your user only")
    parser.add_flag("--look-only", "clients change nothing; their views are recorded")
    parser.add_flag("--ask", "you approve each change in a running memtui")
    parser.add_value("--ask-seconds", "N", type=_parse_seconds, default=ASK_SECONDS)
    parser.add_value("--name", "NAME", "actor's name in history; default: the client's", type=_parse_name)
    parser.add_value("--session", "ID", type=_parse_name)
    parser.add_value("--guidance", "TEXT", "what to remember, or a FILE with it", type=parse_guidance)


def _parse_name(given: str) -> str:
    if not given.strip() or len(given) > _LONGEST_NAME:
        raise argparse.ArgumentTypeError(f"a name has 1 to {_LONGEST_NAME} characters")
    return given


def run_mcp(options: Options, arguments: argparse.Namespace) -> int:
    looks_only = options.read_only or arguments.look_only
    if looks_only and arguments.ask:
        given = "--read-only" if options.read_only else "--look-only"
        raise UsageError(f"memtui mcp: with {given} there is nothing to ask about. Leave one of them out.")
    if find_spec("mcp") is None:
        raise UsageError("memtui mcp needs one more package: pip install 'memtui[mcp]'")
    _validate_transport(arguments)
    path = context.resolve_folder(options, arguments.folder)
    token = _load_token(arguments.token_file, path) if arguments.token_file is not None else ""
    bound = bind_port(arguments.http, "--http 0") if arguments.http is not None else None
    if arguments.socket is not None:
        bound = bind_local_socket(require_outside(arguments.socket, path))
    if bound is None:
        from memtui.agents.mcp.stdio import take_stdio  # noqa: PLC0415 - start-up: loads the MCP package

        if output.is_terminal(sys.stdin):
            output.print_message(
                "This speaks MCP with a program on stdin and stdout. For HTTP: --http PORT. To end: Ctrl+D"
            )
        where = take_stdio()  # before anything that might print is loaded
    memory, state = _open_memory(path, options)
    with memory:
        try:
            from memtui.agents.mcp.run import serve  # noqa: PLC0415 - start-up: loads the MCP package
        except ImportError as error:  # there is one, but too old, or not whole
            raise UsageError(
                f"memtui mcp cannot use the package mcp that is installed ({error}). Nothing was started. "
                "Install it again: pip install 'memtui[mcp]'"
            ) from error

        policy = (
            ApprovalPolicy.READ_ONLY if looks_only else ApprovalPolicy.ASK if arguments.ask else ApprovalPolicy.ALLOW
        )
        serving = ServerOptions(
            folder=path,
            state=state,
            policy=policy,
            ask_seconds=arguments.ask_seconds,
            name=arguments.name,
            session=arguments.session,
            guidance=arguments.guidance or "",
            version=memtui.__version__,
            token=token,
        )
        if bound is not None:
            output.print_message(f"Serving {format_path(path)} {_describe_access(bound, arguments)}. To end: Ctrl+C")
        socket_path = bound.getsockname() if bound is not None and arguments.socket is not None else ""
        try:
            serve(memory, serving, where if bound is None else bound, say=output.print_message)
        finally:
            if socket_path:
                with contextlib.suppress(OSError):
                    os.unlink(socket_path)
    return ExitCode.OK


def _validate_transport(arguments: argparse.Namespace) -> None:
    """Raise `Failure` for options of HTTP that contradict, or that say nothing of who may come in."""
    has_token = arguments.token_file is not None
    if arguments.http is not None and arguments.socket is not None:
        raise UsageError("memtui mcp: --http and --socket do not go together. Leave one of them out.")
    if arguments.http is None and (has_token or arguments.no_token):
        raise UsageError("memtui mcp: --token-file and --no-token go with --http.")
    if has_token and arguments.no_token:
        raise UsageError("memtui mcp: --token-file and --no-token do not go together. Leave one of them out.")
    if arguments.http is not None and not (has_token or arguments.no_token):
        raise UsageError(
            "memtui mcp: every user of this machine can connect to a port. Nothing was started. Use a token: "
            "--token-file FILE; or a socket for your user only: --socket PATH; or allow every user: --no-token"
        )


def _describe_access(bound: socket.socket, arguments: argparse.Namespace) -> str:
    """Where it is served, and who may come in."""
    if arguments.socket is not None:
        return f"at {format_path(arguments.socket)}, HTTP with /mcp, to programs of your user only"
    where = f"at http://{HOST}:{bound.getsockname()[1]}/mcp"
    if arguments.token_file is not None:
        return f"{where} to those who send the token in {format_path(arguments.token_file)}"
    return f"{where} to every user and program of this machine, without a token"


def _load_token(given: str, folder: str) -> str:
    """The token in a file, which is made if it is not there. Raises `Failure` for one that others can read."""
    path = require_outside(given, folder)
    shown = format_path(path)
    data = read_private_file(path, _LONGEST_TOKEN + 1, lambda: secrets.token_urlsafe(32) + "\n")
    token = data.strip()
    if not _LEAST_TOKEN <= len(token) <= _LONGEST_TOKEN or not _TOKEN.fullmatch(token):
        words = f"a token is {_LEAST_TOKEN} to {_LONGEST_TOKEN} letters, digits and - . _ ~ + / = on one line"
        raise UsageError(f"memtui mcp: {shown} holds no valid token: {words}. Nothing was started.")
    return token.decode("ascii")


def _open_memory(path: str, options: Options) -> "tuple[Engine, str | None]":
    """The memory, and where its journal lies; `None` where nothing is recorded: read-only leaves that as it is, too."""
    settings = load_memory_settings(options, path)
    if not options.read_only:
        memory = memory_module.connect(path, state=options.state, settings=settings)
        return memory, str(fs_state.get_state_directory(path, options.state))
    try:
        return memory_module.connect(path, state=options.state, settings=settings, read_only=True), None
    except StateUnusable as error:
        output.print_message(f"{error} What clients view is not recorded.")
        return memory_module.connect_without_journal(path, settings=settings), None


MCP_VERB = Verb("mcp", add_mcp_options, run_mcp, keeps_rights=True)
