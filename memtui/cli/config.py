"""`memtui config`: where the settings are, what holds and where it is from, and changing them in an editor."""

import argparse
import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

from memtui.cli import output, places
from memtui.cli.configured import complain, configured
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.visible import one_line
from memtui.places import short

if TYPE_CHECKING:
    from memtui.config import Loaded, Problem
    from memtui.core.audit_settings import Exemption

_ACTIONS = ("path", "show", "edit")
_EDITORS = ("sensible-editor", "nano", "vi")
"""What is tried where nobody says which editor is wanted."""
_NOT_FOUND = 127


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "action", metavar="ACTION", nargs="?", choices=_ACTIONS, default="show", help="path, show or edit; else show"
    )


def _run(options: Options, arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "path":
            return _path(options)
        case "edit":
            return _edit(options)
        case _:
            return _show(options)


def _path(options: Options) -> int:
    path = _file(options)
    if options.json:
        output.document({"schema": output.SCHEMA, "path": path, "exists": os.path.exists(path)})
    else:
        output.text(path + "\n")
    return Exit.OK


def _show(options: Options) -> int:
    loaded = _judged(options)
    _print(loaded, options)
    return Exit.FINDINGS if loaded.problems else Exit.OK


def _print(loaded: "Loaded", options: Options) -> None:
    from memtui.config.settings import settings, value_of  # for start-up cost: others ask for single settings

    values = {name: value_of(loaded.config, name) for name in settings()}
    if options.json:
        output.document(
            {
                "schema": output.SCHEMA,
                "path": loaded.path,
                "exists": loaded.exists,
                "settings": {name: {"value": value, "from": loaded.origin(name)} for name, value in values.items()},
                "keys": {
                    name: {"value": keys, "from": loaded.origin(f"keys.{name}")}
                    for name, keys in loaded.config.keys.items()
                },
                "rules": {
                    name: {"value": word, "from": loaded.origin(f"audit.rules.{name}")}
                    for name, word in loaded.config.audit.rules.items()
                },
                "exempt": [
                    {**_exemption(each), "from": loaded.origin(f"audit.exempt.{number}")}
                    for number, each in enumerate(loaded.config.audit.exemptions, 1)
                ],
                "problems": [
                    {"sentence": problem.sentence, "key": problem.key, "line": problem.line}
                    for problem in loaded.problems
                ],
            }
        )
        return
    there = "" if loaded.exists else "  (not there: memtui config edit makes it)"
    output.line(f"{one_line(short(loaded.path))}{there}" if loaded.path else "no file is read: --no-config")
    output.line("")
    rows = [(name, _toml(value), loaded.origin(name)) for name, value in values.items()]
    rows += [
        (f'keys."{name}"', _toml(keys), loaded.origin(f"keys.{name}")) for name, keys in loaded.config.keys.items()
    ]
    rows += [
        (f'audit.rules."{name}"', _toml(word), loaded.origin(f"audit.rules.{name}"))
        for name, word in loaded.config.audit.rules.items()
    ]
    rows += [
        (f"audit.exempt {number}", _words(each), loaded.origin(f"audit.exempt.{number}"))
        for number, each in enumerate(loaded.config.audit.exemptions, 1)
    ]
    wide, held = (min(max(output.cells(row[at]) for row in rows), 40) for at in (0, 1))
    for name, value, origin in rows:
        output.line(f"{output.cell(name, wide)}  {output.cell(value, held)}  {one_line(origin)}")
    complain(loaded, options)


def _edit(options: Options) -> int:
    path = _file(options)
    if options.read_only:
        raise Failure(Exit.REFUSED, "Nothing was changed: this is read-only. Run it without --read-only to do it.")
    _make(path, options)
    words = _editor(options)
    try:
        code = subprocess.run([*words, path], check=False).returncode
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise Failure(
            Exit.MISSING,
            f"{words[0]} cannot be started: {reason}. The file is {short(path)}; set EDITOR, and try again.",
        ) from error
    if code:
        output.message(f"{words[0]} ended with {code}. The file is {short(path)}.")
        return Exit.FINDINGS
    loaded = _judged(options)
    complain(loaded, options)
    if not loaded.problems and not options.quiet:
        output.message(f"{short(path)} can be used as it is. A memtui that runs uses it once it is started again.")
    return Exit.FINDINGS if loaded.problems else Exit.OK


def _file(options: Options) -> str:
    from memtui.config import config_path  # for start-up cost

    if options.no_config:
        raise Failure(Exit.USAGE, "memtui config: with --no-config there is no file. Leave it out.")
    return os.path.abspath(os.path.expanduser(options.config)) if options.config is not None else config_path()


def _make(path: str, options: Options) -> None:
    """Make the file, with every default in it, if it is not there."""
    from memtui.config.reference import template  # for start-up cost
    from memtui.state import make_private

    if os.path.lexists(path):
        return
    try:
        from pathlib import Path

        make_private(Path(os.path.dirname(path)))
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            file.write(template())
    except FileExistsError:
        return
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise Failure(Exit.MISSING, f"{short(path)} cannot be made: {reason}. Nothing was changed.") from error
    if not options.quiet:
        output.message(f"Made {short(path)}: all defaults are in it, and nothing is set yet.")


def _editor(options: Options) -> list[str]:
    """The command of the person's editor. It is asked for where the file may be what is broken."""
    from memtui.config import Config, load  # for start-up cost

    command = Config().editor.command
    try:
        command = load(path=options.config).config.editor.command
        words = shlex.split(command)
    except ValueError as error:
        raise Failure(
            Exit.USAGE, f"The editor's command {command!r} cannot be understood: {error}. Nothing was opened."
        ) from error
    if words:
        return words
    found = next((name for name in _EDITORS if shutil.which(name)), None)
    if found is None:
        raise Failure(
            Exit.USAGE, f"No editor is set. Set EDITOR, such as EDITOR=nano. The file is {short(_file(options))}."
        )
    return [found]


def _judged(options: Options) -> "Loaded":
    """The settings, with all that is wrong with them: also what only the screen knows, such as names of keys."""
    given = places.named(options)
    folder = os.path.realpath(os.path.expanduser(given)) if given else None
    return with_problems_of_screen(configured(options, folder))


def with_problems_of_screen(loaded: "Loaded") -> "Loaded":
    """The settings with what is wrong with their theme and keys, and with the names of an audit's rules."""
    from dataclasses import replace

    problems: list[Problem] = list(loaded.problems)
    if loaded.config.keys:
        from memtui.ui.keymap import problems_of_keys  # for start-up cost: it loads every screen there is

        problems += problems_of_keys(loaded)
    if loaded.config.audit.rules or loaded.config.audit.exemptions:
        from memtui.audit.settled import problems_of_rules  # for start-up cost: it loads every rule there is

        problems += problems_of_rules(loaded)
    if loaded.config.theme != "auto":
        from memtui.ui.themes import problems_of_theme  # for start-up cost: it loads Textual

        problems += problems_of_theme(loaded)
    return replace(loaded, problems=tuple(problems))


def _exemption(exemption: "Exemption") -> dict[str, object]:
    until = exemption.until.isoformat() if exemption.until else None
    return {
        "rule": exemption.rule,
        "path": exemption.path,
        "fingerprint": exemption.fingerprint or None,
        "reason": exemption.reason,
        "until": until,
    }


def _words(exemption: "Exemption") -> str:
    """What is excepted, as short as it is clear."""
    until = f" until {exemption.until.isoformat()}" if exemption.until else ""
    which = f" ({exemption.fingerprint})" if exemption.fingerprint else ""
    return f"{exemption.rule} in {exemption.path}{which}{until}: {exemption.reason}"


def _toml(value: object) -> str:
    match value:
        case None:
            return "not set"
        case bool():
            return str(value).lower()
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case _:
            return str(value)


VERB = Verb(
    "config",
    "settings: path, show, edit",
    (
        ("memtui config show", "what holds, and where each value is from"),
        ("memtui config edit", "in your editor; with all defaults, if missing"),
    ),
    _arguments,
    _run,
    (
        "Flags come first, then the environment, then the file, then defaults. The file",
        "is memtui/config.toml in $XDG_CONFIG_HOME, else in ~/.config, also on macOS; or",
        "--config FILE, or MEMTUI_CONFIG. Exit code 1 if something in it cannot be used.",
    ),
)
