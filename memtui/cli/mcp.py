"""`memtui mcp`: the memory for clients of the Model Context Protocol, such as Claude Code."""

import argparse
import math
import os
import socket
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import memtui
from memtui import opening
from memtui.agents.mcp.serving import ASK_SECONDS, Serving
from memtui.cli import output, places
from memtui.cli.configured import memory_settings
from memtui.cli.exits import Exit, Failure
from memtui.cli.guidance import guidance
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.asking import Policy
from memtui.core.errors import StateUnusable
from memtui.core.visible import one_line
from memtui.places import short

if TYPE_CHECKING:
    from memtui.engine import Engine

_HOST = "127.0.0.1"
_LONGEST_NAME = 64


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder")
    parser.add_argument("--http", metavar="PORT", type=_port, help="serve HTTP on 127.0.0.1; 0: any free port")
    parser.add_argument("--look-only", action="store_true", help="clients change nothing; what they view is recorded")
    parser.add_argument("--ask", action="store_true", help="a change waits for you, in a memtui that runs")
    parser.add_argument(
        "--ask-seconds", metavar="N", type=_seconds, default=ASK_SECONDS, help="for how long; 50 if not given"
    )
    parser.add_argument("--name", metavar="NAME", type=_name, help="who acts, for the journal; else the client's name")
    parser.add_argument("--guidance", metavar="TEXT", type=guidance, help="what to remember; or a FILE that says it")


def _port(given: str) -> int:
    if not (given.isascii() and given.isdecimal() and int(given) < 65_536):
        raise argparse.ArgumentTypeError(f"{given!r} is no port; it is a number from 0 to 65535")
    return int(given)


def _seconds(given: str) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not (math.isfinite(seconds) and 0 < seconds <= 86_400):
        raise argparse.ArgumentTypeError(f"{given!r} is no number of seconds from above 0 to 86400")
    return seconds


def _name(given: str) -> str:
    if not given.strip() or len(given) > _LONGEST_NAME:
        raise argparse.ArgumentTypeError(f"a name has 1 to {_LONGEST_NAME} characters")
    return given


def _run(options: Options, arguments: argparse.Namespace) -> int:
    looks_only = options.read_only or arguments.look_only
    if looks_only and arguments.ask:
        given = "--read-only" if options.read_only else "--look-only"
        raise Failure(Exit.USAGE, f"memtui mcp: with {given} there is nothing to --ask. Leave one of them out.")
    if find_spec("mcp") is None:
        raise Failure(Exit.USAGE, "memtui mcp needs one more package: pip install 'memtui[mcp]'")
    path = places.folder(options, arguments.folder)
    bound = _bound(arguments.http) if arguments.http is not None else None
    if bound is None:
        from memtui.agents.mcp.stdio import take_wire  # for start-up cost, like all below

        if output.is_terminal(sys.stdin):
            output.message("This speaks MCP with a program on stdin and stdout. For HTTP: --http PORT. To end: Ctrl+D")
        where = take_wire()  # before anything that might print is loaded
    memory, state = _opened(path, options)
    with memory:
        try:
            from memtui.agents.mcp.run import serve
        except ImportError as error:  # there is one, but too old, or not whole
            raise Failure(
                Exit.USAGE,
                f"memtui mcp cannot use the package mcp that is installed ({error}). Nothing was started. "
                "Install it anew: pip install 'memtui[mcp]'",
            ) from error

        policy = Policy.READ_ONLY if looks_only else Policy.ASK if arguments.ask else Policy.ALLOW
        serving = Serving(
            folder=path,
            state=state,
            policy=policy,
            ask_seconds=arguments.ask_seconds,
            name=arguments.name,
            guidance=arguments.guidance or "",
            version=memtui.__version__,
        )
        if bound is not None:
            port = bound.getsockname()[1]
            output.message(f"Serving {short(path)} at http://{_HOST}:{port}/mcp. To end: Ctrl+C")
        serve(memory, serving, where if bound is None else bound, say=_say)
    return Exit.OK


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((_HOST, port))
        bound.listen()  # whoever reads where it is may come at once
    except OSError as error:
        bound.close()
        reason = os.strerror(error.errno or 0).lower()
        raise Failure(
            Exit.CONFLICT, f"Port {port} cannot be used: {reason}. Nothing was started. Any that is free: --http 0"
        ) from error
    return bound


def _opened(path: str, options: Options) -> "tuple[Engine, str | None]":
    """The memory, and where its journal lies; `None` where nothing is recorded: read-only leaves that as it is, too."""
    settings = memory_settings(options, path)
    if not options.read_only:
        memory = opening.connect(path, state=options.state, settings=settings)
        return memory, str(opening.state_directory(path, options.state))
    try:
        return opening.connect(path, state=options.state, settings=settings, read_only=True), None
    except StateUnusable as error:
        output.message(f"{error} What clients view is not recorded.")
        return opening.connect_without_journal(path, settings=settings), None


def _say(sentence: str) -> None:
    output.message(one_line(sentence))


VERB = Verb(
    "mcp",
    "serve MCP clients",
    (
        ("claude mcp add memtui -- memtui mcp ~/memories", "in Claude Code"),
        ("memtui mcp ~/memories --ask", "each change waits for you"),
        ("memtui mcp ~/memories --http 8400", "at http://127.0.0.1:8400/mcp"),
    ),
    _arguments,
    _run,
    (
        "With --look-only what clients view, and what they were refused, is recorded;",
        "with --read-only nothing is, anywhere. Stdout holds the protocol only; it",
        "ends when stdin does. It needs one more package: pip install 'memtui[mcp]'",
    ),
    keeps_rights=True,
)
