"""`memtui hook`: what Claude Code runs before and after it writes a file; and putting it into its settings."""

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING, NamedTuple

from memtui.cli import output
from memtui.cli.configured import configured
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.visible import one_line
from memtui.places import short

if TYPE_CHECKING:
    from memtui.agents.hooks.settings import Settings

_SCOPES = {"user": None, "project": ".claude/settings.json", "local": ".claude/settings.local.json"}
_SECONDS = 300.0
_MOST_SECONDS = 3_600.0


def _arguments(parser: Parser) -> None:
    actions = ("install", "uninstall", "status")
    parser.add_argument(
        "action",
        metavar="ACTION",
        nargs="?",
        choices=actions,
        help="install, uninstall or status; else: be the hook",
    )
    parser.add_argument("--ask", action="store_true", help="let a running memtui allow or deny each change first")
    parser.add_argument("--strict", action="store_true", help="with --ask: deny where nobody can be asked")
    parser.add_argument("--wait", metavar="SECONDS", type=_seconds, help="for an answer; 300 if not given")
    for scope, where in _SCOPES.items():
        words = "in ~/.claude/settings.json, as if not given" if where is None else f"in {where}"
        parser.add_argument(f"--{scope}", dest="scopes", action="append_const", const=scope, help=words)
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def _seconds(given: str) -> float:
    if not (given.isascii() and given.isdecimal() and 0 < int(given[:9]) <= _MOST_SECONDS):
        raise argparse.ArgumentTypeError(f"{given!r} is no number of seconds from 1 to {_MOST_SECONDS:.0f}")
    return float(given)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    match arguments.action:
        case None:
            return _be_the_hook(options, arguments)
        case "install" | "uninstall":
            from memtui.agents.hooks.settings import Unreadable  # for start-up cost

            try:
                return (_install if arguments.action == "install" else _uninstall)(options, arguments)
            except Unreadable as error:
                raise Failure(Exit.MISSING, str(error)) from error
        case _:
            return _status(options)


def _be_the_hook(options: Options, arguments: argparse.Namespace) -> int:
    if output.is_terminal(sys.stdin):
        raise Failure(
            Exit.USAGE,
            "memtui hook: Claude Code runs this, and tells on standard input what it is about to write. "
            "To set it up: memtui hook install",
        )
    from memtui.agents.hooks.calls import LIMIT  # for start-up cost, as below
    from memtui.agents.hooks.passing import HookOptions, answer

    given = HookOptions(
        asks=arguments.ask and not options.read_only,
        is_strict=arguments.strict,
        seconds=arguments.wait or _SECONDS,
        directory=options.directory,
        state=options.state,
        settings=lambda folder: configured(options, folder).config.memory,
    )
    data = b""
    if sys.stdin is not None:
        with open(0, "rb", closefd=False) as told:
            data = told.read(LIMIT + 1)
    if options.read_only:
        return Exit.OK
    said = answer(data, given, _keep)
    if said.problem:
        output.message(said.problem)
    if said.output:
        output.line(said.output)
    return Exit.OK


def _keep(error: Exception) -> None:
    from memtui.cli import crash  # for start-up cost: it is seldom needed

    crash.keep(error)


def _install(options: Options, arguments: argparse.Namespace) -> int:
    from memtui.agents.hooks.settings import load, with_ours  # for start-up cost

    settings = load(_settings_path(_scope(arguments)))
    seconds = (arguments.wait or _SECONDS) if arguments.ask else None
    after = with_ours(settings, _command(options, arguments), seconds=seconds)
    if options.json:
        output.exact(after.encode("utf-8"))
        return Exit.OK
    done = "The hook is installed: Claude Code runs it in sessions that begin from now on."
    return _change(settings, after, "Put this in?", done, "The hook is installed already.", options, arguments)


def _uninstall(options: Options, arguments: argparse.Namespace) -> int:
    from memtui.agents.hooks.settings import load, without_ours  # for start-up cost

    settings = load(_settings_path(_scope(arguments)))
    after = without_ours(settings)
    done = "The hook is taken out. Sessions that run may still use it."
    return _change(settings, after, "Take this out?", done, "There is no hook of memtui in it.", options, arguments)


def _change(
    settings: "Settings",
    after: str,
    question: str,
    done: str,
    nothing: str,
    options: Options,
    arguments: argparse.Namespace,
) -> int:
    """Show what would change, ask, and change it."""
    from memtui.agents.hooks.settings import save  # for start-up cost
    from memtui.core import diffs

    path = short(settings.path)
    before = settings.text or ""
    if after == before:
        if not options.quiet:
            output.line(f"{one_line(path)}: {nothing}")
        return Exit.OK
    output.line(f"--- {one_line(path)}{'' if settings.text is not None else ' (not there yet)'}")
    output.line(f"+++ {one_line(path)}")
    for line in diffs.unified(before, after):
        output.line(one_line(line.rstrip("\r")))
    output.flush()
    if not arguments.yes:
        if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
            raise Failure(
                Exit.USAGE, "Nothing was written: nobody can be asked here. If that is what you want, add --yes."
            )
        output.trace([f"{question}  y yes  n no: "])
        if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
            output.message("Nothing was written.")
            return Exit.FINDINGS
    if options.read_only:
        raise Failure(Exit.REFUSED, "Nothing was written: this is read-only. Run it without --read-only to do it.")
    save(settings, after)
    if not options.quiet:
        output.line(f"{one_line(path)}: {done}")
    return Exit.OK


class _Row(NamedTuple):
    """What stands in one settings file."""

    scope: str
    path: str
    installed: bool | None
    commands: list[str]
    problem: str


def _status(options: Options) -> int:
    rows = [_looked_at(scope) for scope in _SCOPES]
    installed = any(row.installed for row in rows)
    if options.json:
        found = [row._asdict() for row in rows]
        output.document({"schema": output.SCHEMA, "installed": installed, "settings": found})
    else:
        for row in rows:
            state = "unreadable" if row.installed is None else "installed" if row.installed else "no"
            words = one_line(row.problem or "; ".join(row.commands))
            output.line(f"{row.scope:<8}  {state:<10}  {output.cell(short(row.path), 34)}  {words}".rstrip())
    return Exit.OK if installed else Exit.FINDINGS


def _looked_at(scope: str) -> _Row:
    from memtui.agents.hooks.settings import Unreadable, load  # for start-up cost

    path = _settings_path(scope)
    try:
        settings = load(path)
    except Unreadable as error:
        return _Row(scope, path, None, [], str(error))
    commands = list(dict.fromkeys(settings.commands))
    problem = "only before or only after a change: install it again" if commands and not settings.is_complete else ""
    return _Row(scope, path, bool(commands), commands, problem)


def _scope(arguments: argparse.Namespace) -> str | None:
    scopes = set(arguments.scopes or ())
    if len(scopes) > 1:
        raise Failure(Exit.USAGE, "memtui hook: name one of --user, --project and --local. Nothing was written.")
    return scopes.pop() if scopes else None


def _settings_path(scope: str | None) -> str:
    where = _SCOPES[scope or "user"]
    if where is not None:
        return os.path.join(os.getcwd(), where)
    base = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    return os.path.join(base, "settings.json")


def _command(options: Options, arguments: argparse.Namespace) -> str:
    """The command line that Claude Code is to run: by its name where a shell finds it, else by its whole path."""
    words = [*_program(), "hook"]
    if arguments.ask:
        words.append("--ask")
        if arguments.strict:
            words.append("--strict")
        if arguments.wait is not None:
            words += ["--wait", f"{arguments.wait:.0f}"]
    elif arguments.strict or arguments.wait is not None:
        raise Failure(Exit.USAGE, "memtui hook: --strict and --wait go with --ask. Nothing was written.")
    for name, value in (("--dir", options.directory), ("--state", options.state)):
        if value is not None:
            words += [name, os.path.realpath(os.path.expanduser(value))]
    return shlex.join(words)


def _program() -> list[str]:
    import shutil  # for start-up cost: an agent waits for the hook

    if shutil.which("memtui") is not None:
        return ["memtui"]
    own = os.path.abspath(sys.argv[0])
    if os.path.basename(own) == "memtui" and os.access(own, os.X_OK):
        return [own]
    return [sys.executable, "-m", "memtui"]


VERB = Verb(
    "hook",
    "who writes, in Claude Code",
    (
        ("memtui hook install --ask", "show what changes in its settings, and ask"),
        ("memtui hook status", "in which settings it is"),
    ),
    _arguments,
    _run,
    (
        "Records which session and tool call wrote a memory file; with --ask a running",
        "memtui is asked before. Exit codes: 0; 1 not installed, or you said no.",
    ),
)
