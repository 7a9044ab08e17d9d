"""`memtui config`: the file of settings, the values with their origins, and changing them in an editor."""

import argparse
import os
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli import context, output
from memtui.cli.context import load_config, report_setting_problems
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError, format_os_error
from memtui.cli.parsing import Parser, Verb
from memtui.config import Config, ConfigProblem, LoadedConfig
from memtui.config import load_config as read_config
from memtui.config.settings import format_toml, get_value, list_settings
from memtui.core.paths import format_path, resolve_place
from memtui.core.unicode import measure_cells, to_one_line
from memtui.editing.external_editor import find_installed_editor
from memtui.fs.state import get_config_path

if TYPE_CHECKING:
    from memtui.core.settings import Exemption


_ACTIONS = ("path", "show", "edit")


def add_config_options(parser: Parser) -> None:
    parser.add_value("action", "ACTION", "path, show or edit; else show", nargs="?", choices=_ACTIONS, default="show")


def run_config(options: Options, arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "path":
            return _print_path(options)
        case "edit":
            return _edit_settings(options)
        case _:
            return _show_settings(options)


def _print_path(options: Options) -> int:
    path = _resolve_settings_path(options)
    if options.json:
        output.print_json({"path": path, "exists": os.path.exists(path)})
    else:
        output.print_text(path + "\n")
    return ExitCode.OK


def _show_settings(options: Options) -> int:
    loaded = _load_checked_settings(options)
    _print_settings(loaded, options)
    return ExitCode.FINDINGS if loaded.problems else ExitCode.OK


def _print_settings(loaded: LoadedConfig, options: Options) -> None:

    config = loaded.config
    tables: dict[str, Mapping[str, object]] = {
        "": {name: get_value(config, name) for name in list_settings()},
        "keys.": config.keys,
        "audit.rules.": config.audit.rules,
    }
    exemptions = [(f"audit.exempt.{number}", each) for number, each in enumerate(config.audit.exemptions, 1)]
    if options.json:
        settings, keys, rules = (
            {name: {"value": value, "from": loaded.get_origin(f"{start}{name}")} for name, value in table.items()}
            for start, table in tables.items()
        )
        exempt = [{**_serialize_exemption(each), "from": loaded.get_origin(name)} for name, each in exemptions]
        problems = [{"sentence": each.sentence, "key": each.key, "line": each.line} for each in loaded.problems]
        output.print_json(
            {"path": loaded.path, "exists": loaded.exists, "settings": settings}
            | {"keys": keys, "rules": rules, "exempt": exempt, "problems": problems}
        )
        return
    there = "" if loaded.exists else "  (missing: memtui config edit creates it)"
    where = f"{to_one_line(format_path(loaded.path))}{there}" if loaded.path else "no file is read: --no-config"
    output.print_line(f"{where}\n")
    rows = [
        (f'{start}"{name}"' if start else name, _format_value(value), loaded.get_origin(f"{start}{name}"))
        for start, table in tables.items()
        for name, value in table.items()
    ]
    rows += [
        (f"audit.exempt {number}", _format_exemption(each), loaded.get_origin(name))
        for number, (name, each) in enumerate(exemptions, 1)
    ]
    widths = [min(max(measure_cells(row[column]) for row in rows), 40) for column in (0, 1)]
    for name, text, origin in rows:
        output.print_line(
            f"{output.pad_cell(name, widths[0])}  {output.pad_cell(text, widths[1])}  {to_one_line(origin)}"
        )
    report_setting_problems(loaded, options)


def _edit_settings(options: Options) -> int:
    path = _resolve_settings_path(options)
    if options.read_only:
        raise Failure(ExitCode.REFUSED, "Nothing was changed: this is read-only. Run it without --read-only to do it.")
    _create_settings_file(path, options)
    words = _find_editor(options)
    try:
        code = subprocess.run([*words, path], check=False).returncode
    except OSError as error:
        raise NotFound(
            f"{words[0]} cannot be started: {format_os_error(error)}. The file is {format_path(path)}; "
            "set EDITOR, and try again."
        ) from error
    if code:
        output.print_message(f"{words[0]} exited with {code}. The file is {format_path(path)}.")
        return ExitCode.FINDINGS
    loaded = _load_checked_settings(options)
    report_setting_problems(loaded, options)
    if not loaded.problems and not options.quiet:
        output.print_message(f"{format_path(path)} is valid. Restart memtui to use it.")
    return ExitCode.FINDINGS if loaded.problems else ExitCode.OK


def _resolve_settings_path(options: Options) -> str:

    if options.no_config:
        raise UsageError("memtui config: --no-config means no file. Leave it out.")
    return os.path.abspath(os.path.expanduser(options.config)) if options.config is not None else get_config_path()


def _create_settings_file(path: str, options: Options) -> None:
    """Make the file, with every default in it, if it is not there."""
    from memtui.config.reference import render_template  # noqa: PLC0415 - start-up: only to write the file
    from memtui.fs.state import make_private_directory  # noqa: PLC0415 - start-up: only to write the file

    if os.path.lexists(path):
        return
    try:
        make_private_directory(Path(os.path.dirname(path)))
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            file.write(render_template())
    except FileExistsError:
        return
    except OSError as error:
        raise NotFound(
            f"{format_path(path)} cannot be created: {format_os_error(error)}. Nothing was written."
        ) from error
    if not options.quiet:
        output.print_message(f"Created {format_path(path)}: it lists all defaults, and sets nothing yet.")


def _find_editor(options: Options) -> list[str]:
    """The command of the person's editor, also where the file of settings is broken."""

    command = Config().editor.command
    try:
        command = read_config(path=options.config).config.editor.command
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"The editor's command {command!r} cannot be parsed: {error}. Nothing was opened.") from error
    if words:
        return words
    found = find_installed_editor()
    if not found:
        raise UsageError(
            "No editor is set. Set EDITOR, such as EDITOR=nano. The file "
            f"is {format_path(_resolve_settings_path(options))}."
        )
    return [found]


def _load_checked_settings(options: Options) -> LoadedConfig:
    """The settings with all their problems, also with those that only the screen knows, such as names of keys."""
    given = context.find_folder(options)
    folder = resolve_place(given) if given else None
    return add_screen_problems(load_config(options, folder), folder)


def add_screen_problems(loaded: LoadedConfig, folder: str | None) -> LoadedConfig:
    """The settings with the problems of their theme, keys, names of rules and files of rules."""
    problems: list[ConfigProblem] = list(loaded.problems)
    if loaded.config.keys:
        from memtui.ui.keymap import find_key_problems  # noqa: PLC0415 - start-up: loads Textual

        problems += find_key_problems(loaded)
    audit = loaded.config.audit
    if audit.rules or audit.exemptions or audit.rule_files:
        from memtui.audit.registry import find_rule_problems  # noqa: PLC0415 - start-up: loads every rule
        from memtui.audit.rule_files import load_custom_rules  # noqa: PLC0415 - start-up: loads every rule

        custom = load_custom_rules((), audit.rule_files, folder)
        line = loaded.get_line("audit.rule_files")
        problems += find_rule_problems(loaded, custom)
        problems += [ConfigProblem(words, "audit.rule_files", line) for words in custom.problems]
    if loaded.config.theme != "auto":
        from memtui.ui.theme import find_theme_problems  # noqa: PLC0415 - start-up: loads Textual

        problems += find_theme_problems(loaded)
    return replace(loaded, problems=tuple(problems))


def _serialize_exemption(exemption: "Exemption") -> dict[str, object]:
    return {
        "rule": exemption.rule,
        "path": exemption.path,
        "fingerprint": exemption.fingerprint or None,
        "reason": exemption.reason,
        "until": exemption.until.isoformat() if exemption.until else None,
    }


def _format_exemption(exemption: "Exemption") -> str:
    until = f" until {exemption.until.isoformat()}" if exemption.until else ""
    which = f" ({exemption.fingerprint})" if exemption.fingerprint else ""
    return f"{exemption.rule} in {exemption.path}{which}{until}: {exemption.reason}"


def _format_value(value: object) -> str:
    return "not set" if value is None else format_toml(value)


CONFIG_VERB = Verb("config", add_config_options, run_config)
