"""`memtui hook`: the hook that Claude Code runs before and after it writes a file, and its installation."""

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.hooks.hook import HookOptions
from memtui.cli import output
from memtui.cli.context import find_folder, load_config, resolve_existing_folder
from memtui.cli.hook_call import SECONDS, answer_call
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError
from memtui.cli.parsing import Parser, Verb, make_count_parser
from memtui.core.paths import NO_FOLDER, format_path
from memtui.core.unicode import to_one_line

if TYPE_CHECKING:
    from memtui.agents.hooks.settings import HookSettings


_SCOPES = {"user": None, "project": ".claude/settings.json", "local": ".claude/settings.local.json", "codex": None}
_CODEX = "codex"


def add_hook_options(parser: Parser) -> None:
    actions = ("install", "uninstall", "status", "plugin")
    words = "install, uninstall, status, plugin DIR; else run as the hook"
    parser.add_value("action", "ACTION", words, nargs="?", choices=actions)
    parser.add_value("path", "DIR", "where plugin writes Claude Code's plugin", nargs="?")
    parser.add_flag("--ask", "a running memtui asks you before each change")
    parser.add_flag("--strict", "with --ask: deny if nobody can be asked")
    parser.add_value(
        "--wait",
        "SECONDS",
        "for an answer; default 300",
        type=make_count_parser("number of seconds from 1 to 3600", least=1, most=3_600),
    )
    for scope, where in _SCOPES.items():
        words = "in ~/.claude/settings.json, the default" if where is None else f"in {where}"
        words = words if scope != _CODEX else "in ~/.codex/hooks.json, for Codex"
        parser.add_argument(f"--{scope}", dest="scopes", action="append_const", const=scope, help=words)
    parser.add_flag("-y --yes", "do not ask")


def run_hook(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.path is not None and arguments.action != "plugin":
        raise UsageError(f"memtui hook {arguments.action} takes no directory. Nothing was written.")
    match arguments.action:
        case None:
            return _run_as_hook(options, arguments)
        case "install" | "uninstall" | "plugin" as action:
            from memtui.agents.hooks.settings import HookSettingsError  # noqa: PLC0415 - start-up: an agent waits for the hook

            try:
                return {"install": _install, "uninstall": _uninstall, "plugin": _write_plugin}[action](
                    options, arguments
                )
            except HookSettingsError as error:
                raise NotFound(str(error)) from error
        case _:
            return _print_status(options)


def _run_as_hook(options: Options, arguments: argparse.Namespace) -> int:
    if output.is_terminal(sys.stdin):
        raise UsageError(
            "memtui hook: Claude Code runs this, with the call on stdin. To install it: memtui hook install"
        )
    given = HookOptions(
        asks=arguments.ask and not options.read_only,
        is_strict=arguments.strict,
        seconds=arguments.wait or SECONDS,
        directory=options.directory,
        state=options.state,
        settings=lambda folder: load_config(options, folder).config.memory,
    )
    return answer_call(given, read_only=options.read_only)


def _install(options: Options, arguments: argparse.Namespace) -> int:
    from memtui.agents.hooks.settings import add_hooks, load_hook_settings  # noqa: PLC0415 - start-up: an agent waits for the hook

    scope = _parse_scope(arguments)
    settings = load_hook_settings(_get_settings_path(scope), _get_matcher(scope))
    seconds = (arguments.wait or SECONDS) if arguments.ask else None
    after = add_hooks(settings, _build_command(options, arguments), seconds=seconds)
    if options.json:
        output.write_bytes(after.encode("utf-8"))
        return ExitCode.OK
    done = "Installed the hook: new sessions of Claude Code run it."
    if scope == _CODEX:
        done = "Installed the hook: Codex runs it when you have trusted it there, with /hooks."
    return _apply_change(settings, after, "Install this?", done, "The hook is installed already.", options, arguments)


def _uninstall(options: Options, arguments: argparse.Namespace) -> int:
    from memtui.agents.hooks.settings import load_hook_settings, remove_hooks  # noqa: PLC0415 - start-up: an agent waits for the hook

    settings = load_hook_settings(_get_settings_path(_parse_scope(arguments)))
    after = remove_hooks(settings)
    done = "Removed the hook. Running sessions may still use it."
    return _apply_change(
        settings, after, "Remove this?", done, "No hook of memtui is installed in it.", options, arguments
    )


def _write_plugin(options: Options, arguments: argparse.Namespace) -> int:
    """Write Claude Code's plugin. It has an MCP server where a memory folder is named or usual."""
    from memtui import __version__  # noqa: PLC0415 - start-up: an agent waits for the hook
    from memtui.agents.hooks.plugin import build_plugin, save_plugin  # noqa: PLC0415 - start-up: as above

    if not arguments.path:
        raise UsageError("memtui hook plugin: name the directory to write. Nothing was written.")
    if arguments.scopes:
        raise UsageError(
            "memtui hook plugin: a plugin has no scope here. Claude Code asks for it when it is installed."
        )
    given = find_folder(options)
    folder = resolve_existing_folder(given) if given is not None else None
    program, server = _find_program(), None
    if folder is not None:
        state = ["--state", os.path.realpath(os.path.expanduser(options.state))] if options.state else []
        server = [*program, "mcp", folder, *state, *(["--ask"] if arguments.ask else [])]
    files = build_plugin(
        program,
        shlex.split(_build_command(options, arguments)),
        server,
        folder=folder,
        seconds=(arguments.wait or SECONDS) if arguments.ask else None,
        version=__version__,
    )
    if options.json:
        output.print_json({"directory": arguments.path, "files": files})
        return ExitCode.OK
    if options.read_only:
        raise Failure(ExitCode.REFUSED, "Nothing was written: this is read-only. Run it without --read-only to do it.")
    directory = os.path.realpath(os.path.expanduser(arguments.path))
    save_plugin(directory, files)
    if not options.quiet:
        for name in files:
            output.print_line(to_one_line(os.path.join(format_path(directory), name)))
        if server is None:
            output.print_message("The plugin has no MCP server: no memory folder was given. To add one: --dir FOLDER")
        quoted = to_one_line(shlex.quote(directory))
        output.print_line(f"For one session: claude --plugin-dir {quoted}")
        output.print_line(
            f"To install it: claude plugin marketplace add {quoted} && claude plugin install memtui@memtui"
        )
    return ExitCode.OK


def _apply_change(
    settings: "HookSettings",
    after: str,
    question: str,
    done: str,
    nothing: str,
    options: Options,
    arguments: argparse.Namespace,
) -> int:
    """Show the change, ask, and write it."""
    from memtui.agents.hooks.settings import save_hook_settings  # noqa: PLC0415 - start-up: an agent waits for the hook
    from memtui.core import diffs  # noqa: PLC0415 - start-up: an agent waits for the hook

    path = format_path(settings.path)
    before = settings.text or ""
    if after == before:
        if not options.quiet:
            output.print_line(f"{to_one_line(path)}: {nothing}")
        return ExitCode.OK
    output.print_line(f"--- {to_one_line(path)}{'' if settings.text is not None else ' (does not exist yet)'}")
    output.print_line(f"+++ {to_one_line(path)}")
    for line in diffs.format_unified(before, after):
        output.print_line(to_one_line(line.rstrip("\r")))
    output.flush()
    if not arguments.yes:
        if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
            raise UsageError("Nothing was written: no terminal to confirm in. Use --yes")
        output.write_stderr([f"{question}  y yes  n no: "])
        if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
            output.print_message("Nothing was written.")
            return ExitCode.FINDINGS
    if options.read_only:
        raise Failure(ExitCode.REFUSED, "Nothing was written: this is read-only. Run it without --read-only to do it.")
    save_hook_settings(settings, after)
    if not options.quiet:
        output.print_line(f"{to_one_line(path)}: {done}")
    return ExitCode.OK


class _HookStatus(NamedTuple):
    """The hooks of one settings file."""

    scope: str
    path: str
    installed: bool | None
    commands: list[str]
    problem: str


def _print_status(options: Options) -> int:
    rows = [_inspect_scope(scope) for scope in _SCOPES]
    installed = any(row.installed for row in rows)
    if options.json:
        found = [row._asdict() for row in rows]
        output.print_json({"installed": installed, "settings": found})
    else:
        for row in rows:
            state = "unreadable" if row.installed is None else "installed" if row.installed else "no"
            words = to_one_line(row.problem or "; ".join(row.commands))
            output.print_line(
                f"{row.scope:<8}  {state:<10}  {output.pad_cell(format_path(row.path), 34)}  {words}".rstrip()
            )
    return ExitCode.OK if installed else ExitCode.FINDINGS


def _inspect_scope(scope: str) -> _HookStatus:
    from memtui.agents.hooks.settings import HookSettingsError, load_hook_settings  # noqa: PLC0415 - start-up: an agent waits for the hook

    path = _get_settings_path(scope)
    try:
        settings = load_hook_settings(path, _get_matcher(scope))
    except HookSettingsError as error:
        return _HookStatus(scope, path, None, [], str(error))
    commands = list(dict.fromkeys(settings.commands))
    problem = (
        "incomplete, not for every tool and event: install it again" if commands and not settings.is_complete else ""
    )
    return _HookStatus(scope, path, bool(commands), commands, problem)


def _parse_scope(arguments: argparse.Namespace) -> str | None:
    scopes = set(arguments.scopes or ())
    if len(scopes) > 1:
        raise UsageError("memtui hook: use one of --user, --project and --local, or --codex. Nothing was written.")
    return scopes.pop() if scopes else None


def _get_settings_path(scope: str | None) -> str:
    where = _SCOPES[scope or "user"]
    if where is not None:
        return os.path.join(os.getcwd(), where)
    if scope == _CODEX:
        return os.path.join(os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex"), "hooks.json")
    base = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    return os.path.join(base, "settings.json")


def _get_matcher(scope: str | None) -> str:
    from memtui.agents.hooks.payload import CODEX_MATCHER, MATCHER  # noqa: PLC0415 - start-up: an agent waits for the hook

    return CODEX_MATCHER if scope == _CODEX else MATCHER


def _build_command(options: Options, arguments: argparse.Namespace) -> str:
    """The command line that Claude Code is to run: by its name where a shell finds it, else by its whole path."""
    words = [*_find_program(), "hook"]
    if arguments.ask:
        words.append("--ask")
        if arguments.strict:
            words.append("--strict")
        if arguments.wait is not None:
            words += ["--wait", f"{arguments.wait:.0f}"]
    elif arguments.strict or arguments.wait is not None:
        raise UsageError("memtui hook: --strict and --wait go with --ask. Nothing was written.")
    if options.directory is not None and options.directory.startswith(NO_FOLDER):
        raise UsageError("memtui hook: a hook is about files. Memories in a database have none: use memtui mcp")
    for name, value in (("--dir", options.directory), ("--state", options.state)):
        if value is not None:
            words += [name, os.path.realpath(os.path.expanduser(value))]
    return shlex.join(words)


def _find_program() -> list[str]:
    import shutil  # noqa: PLC0415 - start-up: an agent waits for the hook

    if shutil.which("memtui") is not None:
        return ["memtui"]
    own = os.path.abspath(sys.argv[0])
    if os.path.basename(own).startswith("memtui") and os.access(own, os.X_OK):  # memtui.pyz, too
        return [own]
    return [sys.executable, "-m", "memtui"]


HOOK_VERB = Verb("hook", add_hook_options, run_hook)
