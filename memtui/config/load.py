"""Settings from flags, the environment and the file, in this order, each with where it is from."""

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memtui.config.settings import Config, Setting, format_toml, list_sections, list_settings
from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.lazy_regex import compile_lazily
from memtui.core.paths import format_path, resolve_place
from memtui.core.settings import Exemption
from memtui.core.suggestion import format_suggestion
from memtui.fs.state import get_config_path

# The settings file: an invalid value is reported with its line, and the default is used in its place.

_MOST = 1_000_000
_LONG_NUMBER = compile_lazily(r"[0-9_]{4000}")
_AT = compile_lazily(r" \(at line (\d+), column \d+\)\Z")
_KEYS = "keys"
_RULES = ("audit", "rules")
_EXEMPT = ("audit", "exempt")


class ConfigUnreadable(MemtuiError):
    """The file that somebody named is not there, or cannot be read."""


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """Something in the settings that cannot be used."""

    sentence: str  # the problem, its cause, and the value used instead
    key: str = ""  # the setting; empty for the whole file
    line: int | None = None


class ConfigReader:
    """What is in the file, as far as it can be used.

    Attributes:
        keys: Keys by the id of the action.
        origins: `FILE:LINE` by the names of settings.
    """

    def __init__(self) -> None:
        self.exists = False
        self.values: dict[str, object] = {}
        self.keys: dict[str, str] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[ConfigProblem] = []
        self._rules: dict[str, str] = {}
        self._exemptions: list[Exemption] = []
        self._file = self._directory = ""
        self._lines: Mapping[tuple[str, ...], int] = {}

    def read(self, path: str, *, must_exist: bool, folder: str | None) -> None:
        """Read it.

        Args:
            must_exist: Whether a user named it.

        Raises:
            ConfigUnreadable: Somebody named it, and it cannot be read.
        """
        self._file, self._directory = format_path(path), os.path.dirname(path)
        if folder is not None and _is_inside_folder(path, folder):
            self.exists = os.path.exists(path)
            if self.exists:
                where = f"it is inside the memory folder {format_path(folder)}, where an agent could change it"
                self._report(f"{self._file} is not used: {where}. Move it out of the folder.")
            return
        try:
            data = _read_bytes(path)
        except FileNotFoundError as error:
            if must_exist:
                words = f"There is no file {self._file}. Nothing was opened. To run without one: --no-config"
                raise ConfigUnreadable(words) from error
            return
        except OSError as error:
            reason = os.strerror(error.errno).lower() if error.errno else str(error)
            if must_exist:
                raise ConfigUnreadable(f"{self._file} cannot be read: {reason}. Nothing was opened.") from error
            self.exists = os.path.exists(path)
            self._report(f"{self._file} cannot be read: {reason}. The defaults are used.")
            return
        self.exists = True
        if data.strip():
            self._parse(data)

    def _parse(self, data: bytes) -> None:
        import tomllib  # noqa: PLC0415 - start-up: only with a settings file

        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            words = f"{self._file}, line {line}: invalid UTF-8. Nothing in the file is used until it is fixed."
            self.problems.append(ConfigProblem(words, line=line))
            return
        try:
            table = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            found = _AT.search(str(error))
            long = None if isinstance(error, tomllib.TOMLDecodeError) else _LONG_NUMBER.search(text)
            last = text.rstrip("\n").count("\n") + 1
            line = int(found[1]) if found else text.count("\n", 0, long.start()) + 1 if long else last
            why = _AT.sub("", str(error)).replace(" (at end of document)", "") or "it is nested too deeply"
            why = "a number has too many digits" if long else why
            words = f"{self._file}, line {line}: invalid TOML: {why[:1].lower()}{why[1:]}."
            self.problems.append(ConfigProblem(f"{words} Nothing in the file is used until it is fixed.", line=line))
            return

        self._lines = index_lines(text)
        for name, value in _flatten(table):
            self._add_value(name, value)
        if self._rules:
            self.values["audit.rules"] = MappingProxyType(self._rules)
        if self._exemptions:
            self.values["audit.exemptions"] = tuple(self._exemptions)

    def _add_value(self, name: tuple[str, ...], value: object) -> None:
        full = ".".join(name)
        if name[0] == _KEYS and len(name) > 1:
            self._add_key(name, value)
        elif name[:2] == _RULES:
            self._add_rules(value)
        elif name[:2] == _EXEMPT:
            self._add_exemptions(value)
        elif (setting := list_settings().get(full)) is not None:
            if setting.is_valid(value):
                self.values[full] = self._resolve_paths(value) if isinstance(value, list) else value
                self.origins[full] = f"{self._file}:{self._find_line(name)}"
            else:
                self._report_value(name, setting, value)
        elif not (isinstance(value, dict) and full in list_sections()):
            self._report_name(name, value)

    def _resolve_paths(self, paths: list[str]) -> tuple[str, ...]:
        """Files that the settings name, as seen from their own file."""
        return tuple(os.path.join(self._directory, os.path.expanduser(path)) for path in paths)

    def _add_key(self, name: tuple[str, ...], value: object) -> None:
        full = ".".join(name[1:])
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            value = ",".join(value)
        if isinstance(value, str):
            self.keys[full] = value
            self.origins[f"{_KEYS}.{full}"] = f"{self._file}:{self._find_line(name)}"
        else:
            kind = 'a key in quotes, or several separated by commas, such as "r,f2"'
            words = f'keys."{full}" is {format_toml(value)}; it must be {kind}.'
            self._report(f"{words} It keeps its default keys.", name)

    def _add_rules(self, table: object) -> None:
        from memtui.config.audit_section import LONGEST_NAME, parse_rule_setting  # noqa: PLC0415 - start-up: few files have rules

        if not isinstance(table, dict):
            words = f"audit.rules is {format_toml(table)}, but it must be a section: write [audit.rules]."
            self._report(f"{words} It is not used.", _RULES)
            return
        for name, value in table.items():
            full = (*_RULES, name)
            if len(name) > LONGEST_NAME:
                words = f"a name in audit.rules has {len(name):,} characters; the limit is {LONGEST_NAME}."
                self._report(words, _RULES)
            elif (settled := parse_rule_setting(value, full, self._report)) is not None:
                self._rules[name] = settled
                self.origins[".".join(full)] = f"{self._file}:{self._find_line(full)}"

    def _add_exemptions(self, value: object) -> None:
        from memtui.config.audit_section import parse_exemption  # noqa: PLC0415 - start-up: few files have exemptions

        if not isinstance(value, list):
            words = f"audit.exempt is {format_toml(value)}, but it must be a list of tables: write [[audit.exempt]]."
            self._report(f"{words} It is not used.", _EXEMPT)
            return
        for number, each in enumerate(value):
            full = (*_EXEMPT, str(number))
            if (excepted := parse_exemption(each, full, self._report)) is not None:
                self._exemptions.append(excepted)
                self.origins[f"audit.exempt.{len(self._exemptions)}"] = f"{self._file}:{self._find_line(full)}"

    def _report_value(self, name: tuple[str, ...], setting: Setting, value: object) -> None:
        meant = setting.find_nearest(value)
        hint = f" Did you mean {format_toml(meant)}?" if meant is not None and setting.is_valid(meant) else ""
        default = "it is not set" if setting.default is None else f"{format_toml(setting.default)} is used"
        words = f"{setting.name} is {format_toml(value)}; it must be {setting.kind}.{hint}"
        self._report(f"{words} For now {default}.", name)

    def _report_name(self, name: tuple[str, ...], value: object) -> None:
        full = ".".join(name)
        if full in list_sections():
            words = f"{full} is {format_toml(value)}, but it must be a section: write [{full}]."
            self._report(f"{words} It is not used.", name)
            return
        if isinstance(value, dict) or (name[0] not in list_sections() and len(name) > 1):
            there = f"Sections: {', '.join(list_sections())}."
            hint = format_suggestion(name[0], list_sections(), there, shown="[{}]")
            self._report(f"there is no section [{name[0]}]. {hint} It is not used.", name)
            return
        hint = format_suggestion(full, list_settings(), "To list them: memtui config show.", dotted=True)
        self._report(f"there is no setting {full}. {hint} It is not used.", name)

    def _report(self, words: str, name: tuple[str, ...] = ()) -> None:
        line = self._find_line(name) if name else None
        where = f"{self._file}, line {line}: " if line else ""
        self.problems.append(ConfigProblem(f"{where}{words}", ".".join(name), line))

    def _find_line(self, name: tuple[str, ...]) -> int:

        return find_line(self._lines, name) or 1


def _flatten(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """All values by their full names; a table that is none of ours is one value."""
    for name, value in table.items():
        full = (*above, name)
        if isinstance(value, dict) and (full[0] == _KEYS or (not above and name in list_sections())):
            yield from _flatten(value, full)
        else:
            yield full, value


def _is_inside_folder(path: str, folder: str) -> bool:
    """Whether a file, or what it is a link to, is in a folder."""
    top = resolve_place(folder)
    return any(Path(top) in Path(place).parents for place in resolve_places(path))


def resolve_places(path: str) -> tuple[str, str]:
    """Where a file is with all links resolved, and where it would be without the last one."""
    own = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    return os.path.realpath(path), own


def _read_bytes(path: str) -> bytes:
    """A file's bytes; nothing but a file is waited for."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with open(fd, "rb") as file:
        mode = os.fstat(fd).st_mode
        if path == os.devnull:
            return b""
        if not stat.S_ISREG(mode):
            raise OSError(errno.EISDIR, "") if stat.S_ISDIR(mode) else OSError("it is not a file")
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise OSError(f"it is larger than {_MOST:,} bytes")
    return data


_OFF = frozenset({"0", "no", "false", "off"})
DEFAULT = "default"
"""Where a value is from that nobody gave."""


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The settings, and what is to be known of them.

    Attributes:
        origins: By setting, the origin of its value: a flag, a variable, `FILE:LINE` or `default`.
    """

    config: Config = field(default_factory=Config)
    path: str | None = None
    exists: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[ConfigProblem, ...] = ()

    def get_origin(self, name: str) -> str:
        """Where a value is from."""
        return self.origins.get(name, DEFAULT)

    def get_line(self, name: str) -> int | None:
        """In which line of the file a value stands; `None` if it is not from there."""
        _, _, number = self.get_origin(name).rpartition(":")
        is_in_file = number.isdecimal() and self.get_origin(name) == f"{format_path(self.path or '')}:{number}"
        return int(number) if is_in_file else None


def load_config(
    *,
    path: str | None = None,
    use_file: bool = True,
    folder: str | None = None,
    flags: Mapping[str, tuple[str, object]] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> LoadedConfig:
    """Find out the settings.

    Args:
        path: By default the usual place, where a file need not exist.
        folder: The memory folder, if known: a file inside it could be written by an agent, and is not used.
        flags: By setting, the option that sets it, and its value.

    Raises:
        ConfigUnreadable: The file that was named cannot be read.
    """
    reading = ConfigReader()
    where = None
    if use_file:
        where = os.path.abspath(os.path.expanduser(path)) if path is not None else get_config_path(environ)
        reading.read(where, must_exist=path is not None, folder=folder)
    values, origins = reading.values, reading.origins
    for setting in list_settings().values():
        for name in reversed(setting.before):
            if environ.get(name):
                value = environ[name].lower() not in _OFF if bool in setting.types else environ[name]
                values[setting.name], origins[setting.name] = value, name
        if not values.get(setting.name) and (name := next((each for each in setting.after if environ.get(each)), "")):
            values[setting.name], origins[setting.name] = environ[name], name
    _detect_animations(values, origins, environ)
    for each, (option, given) in (flags or {}).items():
        values[each], origins[each] = given, option
    config = _build_config(values, MappingProxyType(reading.keys))
    return LoadedConfig(config, where, reading.exists, origins, tuple(reading.problems))


def _detect_animations(values: dict[str, object], origins: dict[str, str], environ: Mapping[str, str]) -> None:
    """Whether animations run: by Textual's own variable; over SSH there are none."""
    name = "ui.animations"
    if level := environ.get("TEXTUAL_ANIMATIONS", "").lower():
        values[name], origins[name] = level != "none", "TEXTUAL_ANIMATIONS"
    elif name not in values and environ.get("SSH_CONNECTION"):
        values[name], origins[name] = False, "SSH_CONNECTION"


def _build_config(values: Mapping[str, object], keys: Mapping[str, str]) -> Config:
    config = Config(keys=keys)
    changes: dict[str, Any] = {}
    for each in fields(Config):
        section = getattr(config, each.name)
        if is_dataclass(section):
            own = {name.partition(".")[2]: value for name, value in values.items() if name.startswith(f"{each.name}.")}
            changes[each.name] = replace(section, **own)  # type: ignore[type-var]
        elif each.name in values:
            changes[each.name] = values[each.name]
    return replace(config, **changes)


# Line numbers of TOML keys, which Python's parser does not give. Only files that it has parsed are read here.

_TOKEN = compile_lazily(
    r"(?P<text>\"\"\"(?:\\.|[^\\])*?(?:\"{3,5}|\Z)|'''.*?(?:'{3,5}|\Z)|\"(?:\\.|[^\"\\\n])*+\"?|'[^'\n]*+'?)"
    r"|(?P<skip>\#[^\n]*|[ \t\r]+)|(?P<end>\n)|(?P<sign>[\[\]{}=.,])|(?P<bare>[^\s\[\]{}=.,\"'\#]+|.)",
    re.DOTALL,
)
Name = tuple[str, ...]


def index_lines(text: str) -> Mapping[Name, int]:
    """The lines, counted from 1, of all tables and keys outside of inline tables, by their full names.

    Of an array of tables each one's name ends with its number, from 0.
    """
    found: dict[Name, int] = {}
    table: Name = ()
    line = first = 1
    depth = 0
    statement: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(text + "\n"):
        kind, held = match.lastgroup or "", match.group()
        if kind == "end" and depth <= 0:
            table = _record_statement(statement, table, first, found)
            statement, depth = [], 0
        elif kind in ("text", "sign", "bare"):
            first = first if statement else line
            statement.append((kind, held))
            depth += (held in ("[", "{")) - (held in ("]", "}")) if kind == "sign" else 0
        line += held.count("\n")
    return found


def find_line(lines: Mapping[Name, int], name: Name) -> int | None:
    """Where a thing stands, or else what it is in."""
    for length in range(len(name), 0, -1):
        if (line := lines.get(name[:length])) is not None:
            return line
    return None


def _record_statement(statement: Sequence[tuple[str, str]], table: Name, line: int, found: dict[Name, int]) -> Name:
    """Note down what a statement names; returns the table that later ones are in."""
    if not statement:
        return table
    if statement[0] == ("sign", "["):
        name = _parse_name([each for each in statement if each[1] not in ("[", "]")])
        found.setdefault(name, line)
        if statement[1:2] == [("sign", "[")]:  # one of many: they are told apart by their numbers
            number = 0
            while (*name, str(number)) in found:
                number += 1
            name = (*name, str(number))
            found[name] = line
        return name
    if ("sign", "=") in statement:
        name = (*table, *_parse_name(statement[: statement.index(("sign", "="))]))
        for length in range(len(table) + 1, len(name) + 1):
            found.setdefault(name[:length], line)
    return table


def _parse_name(tokens: Sequence[tuple[str, str]]) -> Name:
    return tuple(_unquote(kind, held) for kind, held in tokens if kind != "sign")


def _unquote(kind: str, held: str) -> str:
    import tomllib  # noqa: PLC0415 - start-up: only with a settings file

    return str(tomllib.loads(f"name = {held}")["name"]) if kind == "text" else held
