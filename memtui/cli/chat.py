"""`memtui chat`: a conversation with Claude over a memory folder, on a screen or without one."""

import argparse
import math
import os
from typing import TYPE_CHECKING

from memtui.agents.chat.options import EFFORTS, PROVIDERS
from memtui.cli import places
from memtui.cli.chat_options import chat_options
from memtui.cli.configured import configured
from memtui.cli.exits import Exit, Failure
from memtui.cli.guidance import guidance, text_in_file
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.asking import Policy

if TYPE_CHECKING:
    from memtui.agents.chat.options import ChatOptions
    from memtui.config import Loaded

_LAST = "last"


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder")
    parser.add_argument("-p", "--print", metavar="TEXT", help="say TEXT (-: stdin), print the answer, and end")
    parser.add_argument(
        "--policy",
        metavar="POLICY",
        choices=[policy.value for policy in Policy],
        help=f"for writes: {', '.join(Policy)}; with -p read-only",
    )
    parser.add_argument("--model", metavar="ID", type=_model, help="which model; else the newest there is")
    parser.add_argument("--system", metavar="FILE", type=text_in_file, help="a system prompt of your own")
    parser.add_argument("--guidance", metavar="TEXT", type=guidance, help="what to remember; or a FILE that says it")
    parser.add_argument("--effort", metavar="LEVEL", choices=EFFORTS)
    parser.add_argument("--thinking", action=argparse.BooleanOptionalAction, default=None)
    parser.add_argument("--resume", metavar="ID", nargs="?", const=_LAST, help="go on with a session; else the last")
    parser.add_argument("--fork", metavar="ID", nargs="?", const=_LAST, help="go on with a copy of one")
    parser.add_argument("--sessions", action="store_true", help="list the sessions")
    parser.add_argument("--export", metavar="ID", nargs="?", const=_LAST, help="print a session as Markdown")
    parser.add_argument("-o", "--output", metavar="FILE", help="export to a new file, for its owner only")
    parser.add_argument("--provider", metavar="NAME", choices=PROVIDERS)
    parser.add_argument("--max-tokens", metavar="N", type=_above_0)
    parser.add_argument("--context-trigger", metavar="N", type=_count)
    parser.add_argument("--input-price", metavar="USD", type=_price)
    parser.add_argument("--output-price", metavar="USD", type=_price)


def _model(given: str) -> str:
    if not (given.strip() and given.isprintable()):
        raise argparse.ArgumentTypeError(f"{given!r} is no model's id")
    return given


def _count(given: str) -> int:
    if not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise argparse.ArgumentTypeError(f"{given!r} is no number of tokens")
    return int(given)


def _above_0(given: str) -> int:
    count = _count(given)
    if not count:
        raise argparse.ArgumentTypeError("it must be above 0")
    return count


def _price(given: str) -> float:
    try:
        price = float(given)
    except ValueError:
        price = -1.0
    if not (math.isfinite(price) and price >= 0):
        raise argparse.ArgumentTypeError(f"{given!r} is no price in US dollars for a million tokens")
    return price


def _run(options: Options, arguments: argparse.Namespace) -> int:
    _insist_on_one(arguments)
    _take_folders_back(arguments)
    path = places.folder(options, arguments.folder)
    if arguments.sessions or arguments.export is not None:
        from memtui.cli import chat_sessions  # for start-up cost, as below

        if arguments.sessions:
            return chat_sessions.list_them(path, options)
        return chat_sessions.export(path, options, arguments.export, arguments.output)
    loaded = configured(options, path)
    held = chat_options(loaded, options, arguments)
    if arguments.print is not None:
        from memtui.cli import chat_print

        return chat_print.answer(arguments.print, path, held, options, resume=arguments.resume, fork=arguments.fork)
    if loaded.config.ui.screen_reader:
        return _line_by_line(path, loaded, held, options, arguments)
    from memtui.cli.browse import insist_on_terminal, terminal_asked

    insist_on_terminal('For scripts use: memtui chat -p "…"')
    from memtui.agents.chat.sessions.finding import NoSession

    try:
        with terminal_asked(loaded):
            from memtui.ui.chat_app import chat

            return chat(
                path,
                held,
                state=options.state,
                read_only=options.read_only,
                resume=arguments.resume,
                fork=arguments.fork,
                loaded=loaded,
            )
    except NoSession as error:
        raise Failure(Exit.MISSING, str(error)) from error


def _line_by_line(
    path: str, loaded: "Loaded", held: "ChatOptions", options: Options, arguments: argparse.Namespace
) -> int:
    """The conversation for who hears the screen instead of seeing it."""
    from memtui.cli.reader.run import run  # for start-up cost, as above
    from memtui.cli.reader.talking import talk

    return run(
        path,
        loaded,
        state=options.state,
        read_only=options.read_only,
        begin=lambda session: talk(session, held, state=options.state, resume=arguments.resume, fork=arguments.fork),
    )


_ALONE = ("sessions", "export", "resume", "fork")


def _insist_on_one(arguments: argparse.Namespace) -> None:
    given = [name for name in _ALONE if getattr(arguments, name) not in (None, False)]
    if arguments.print is not None and {"sessions", "export"} & set(given):
        given = ["print", *given]
    if len(given) > 1:
        names = " and ".join("-p" if name == "print" else f"--{name}" for name in given)
        raise Failure(Exit.USAGE, f"memtui chat: {names} do not go together. See: memtui chat --help")
    if arguments.output is not None and arguments.export is None:
        raise Failure(Exit.USAGE, "memtui chat: -o goes with --export. See: memtui chat --help")


def _take_folders_back(arguments: argparse.Namespace) -> None:
    """A folder behind `--resume` is the folder, and the session is the last one in it."""
    for name in ("resume", "fork", "export"):
        given = getattr(arguments, name)
        if arguments.folder is None and given and given != _LAST and os.path.isdir(os.path.expanduser(given)):
            setattr(arguments, name, _LAST)
            arguments.folder = given


VERB = Verb(
    "chat",
    "talk with Claude",
    (
        ("memtui chat ~/app/memories", "with memory beside it"),
        ('memtui chat -p "What do you know?"', "answer on stdout"),
        ("memtui chat --resume", "go on with the last session"),
    ),
    _arguments,
    _run,
    keeps_rights=True,
)
