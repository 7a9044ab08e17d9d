"""The file of settings: what in it can be used, and a sentence for what cannot.

Nothing that is wrong in it keeps memtui from starting: what cannot be used is said, with its line, and the default is
used in its place.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memtui.config.settings import Setting, sections, settings
from memtui.config.words import shown
from memtui.core.audit_settings import Exemption
from memtui.core.errors import MemtuiError
from memtui.places import short

_MOST = 1_000_000
_AT = re.compile(r" \(at line (\d+), column \d+\)\Z")
_KEYS = "keys"
_RULES = ("audit", "rules")
_EXEMPT = ("audit", "exempt")


class NoConfig(MemtuiError):
    """The file that somebody named is not there, or cannot be read."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the settings that cannot be used.

    Attributes:
        sentence: What, why, and what is used instead.
        key: The setting; empty where it is about the whole file.
        line: In the file, from 1.
    """

    sentence: str
    key: str = ""
    line: int | None = None


class Reading:
    """What is in the file, as far as it can be used.

    Attributes:
        exists: Whether it is there.
        values: Values by the names of their settings.
        keys: Keys by the id of what they do.
        origins: `FILE:LINE` by the names of settings.
        problems: What cannot be used.
    """

    def __init__(self) -> None:
        self.exists = False
        self.values: dict[str, object] = {}
        self.keys: dict[str, str] = {}
        self.origins: dict[str, str] = {}
        self.problems: list[Problem] = []
        self._rules: dict[str, str] = {}
        self._exemptions: list[Exemption] = []
        self._file = ""
        self._lines: Mapping[tuple[str, ...], int] = {}

    def read(self, path: str, *, must_exist: bool, folder: str | None) -> None:
        """Read it.

        Args:
            path: Where it is.
            must_exist: Whether somebody named it.
            folder: The memory folder, once it is known.

        Raises:
            NoConfig: Somebody named it, and it cannot be read.
        """
        self._file = short(path)
        if folder is not None and _is_inside(path, folder):
            self.exists = os.path.exists(path)
            if self.exists:
                self._complain(
                    f"{self._file} is not used: it is inside the memory folder {short(folder)}, where an agent could "
                    "write it. Move it to another place."
                )
            return
        try:
            data = _bytes_of(path)
        except FileNotFoundError as error:
            if must_exist:
                words = f"There is no file {self._file}. Nothing was opened. Without one: --no-config"
                raise NoConfig(words) from error
            return
        except OSError as error:
            reason = os.strerror(error.errno).lower() if error.errno else str(error)
            if must_exist:
                raise NoConfig(f"{self._file} cannot be read: {reason}. Nothing was opened.") from error
            self.exists = os.path.exists(path)
            self._complain(f"{self._file} cannot be read: {reason}. The defaults are used.")
            return
        self.exists = True
        if data.strip():
            self._parse(data)

    def _parse(self, data: bytes) -> None:
        import tomllib  # for start-up cost: many have no file

        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            words = f"{self._file}, line {line}: this is not UTF-8. Nothing in the file is used until it is mended."
            self.problems.append(Problem(words, line=line))
            return
        try:
            table = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            found = _AT.search(str(error))
            last = text.rstrip("\n").count("\n") + 1
            line = int(found[1]) if found else last
            why = _AT.sub("", str(error)).replace(" (at end of document)", "") or "it is nested too deep"
            words = f"{self._file}, line {line}: this is not TOML: {why[:1].lower()}{why[1:]}."
            self.problems.append(Problem(f"{words} Nothing in the file is used until it is mended.", line=line))
            return
        from memtui.config.lines import lines_of  # for start-up cost, as above

        self._lines = lines_of(text)
        for name, value in _flat(table):
            self._take(name, value)
        if self._rules:
            self.values["audit.rules"] = MappingProxyType(self._rules)
        if self._exemptions:
            self.values["audit.exemptions"] = tuple(self._exemptions)

    def _take(self, name: tuple[str, ...], value: object) -> None:
        full = ".".join(name)
        if name[0] == _KEYS and len(name) > 1:
            self._take_key(name, value)
        elif name[:2] == _RULES:
            self._take_rules(value)
        elif name[:2] == _EXEMPT:
            self._take_exemptions(value)
        elif (setting := settings().get(full)) is not None:
            if setting.accepts(value):
                self.values[full] = value
                self.origins[full] = f"{self._file}:{self._line(name)}"
            else:
                self._complain_of_value(name, setting, value)
        elif not (isinstance(value, dict) and full in sections()):
            self._complain_of_name(name, value)

    def _take_key(self, name: tuple[str, ...], value: object) -> None:
        full = ".".join(name[1:])
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            value = ",".join(value)
        if isinstance(value, str):
            self.keys[full] = value
            self.origins[f"{_KEYS}.{full}"] = f"{self._file}:{self._line(name)}"
        else:
            self._complain(
                f'keys."{full}" is {shown(value)}; it is a key in quotes, or several with commas between, such as '
                '"r,f2". It keeps the keys that it had.',
                name,
            )

    def _take_rules(self, table: object) -> None:
        from memtui.config.exempting import word  # for start-up cost: many have nothing of it

        if not isinstance(table, dict):
            words = f"audit.rules is {shown(table)} here, and it is a section: write [audit.rules]. It is not used."
            self._complain(words, _RULES)
            return
        for name, value in table.items():
            full = (*_RULES, name)
            if (settled := word(value, full, self._complain)) is not None:
                self._rules[name] = settled
                self.origins[".".join(full)] = f"{self._file}:{self._line(full)}"

    def _take_exemptions(self, value: object) -> None:
        from memtui.config.exempting import exemption  # for start-up cost, as above

        if not isinstance(value, list):
            self._complain(
                f"audit.exempt is {shown(value)} here, and there may be many: write [[audit.exempt]]. It is not used.",
                _EXEMPT,
            )
            return
        for number, each in enumerate(value):
            full = (*_EXEMPT, str(number))
            if (excepted := exemption(each, full, self._complain)) is not None:
                self._exemptions.append(excepted)
                self.origins[f"audit.exempt.{len(self._exemptions)}"] = f"{self._file}:{self._line(full)}"

    def _complain_of_value(self, name: tuple[str, ...], setting: Setting, value: object) -> None:
        meant = setting.nearest(value)
        hint = f" Did you mean {shown(meant)}?" if meant is not None and setting.accepts(meant) else ""
        default = "it is as if not set" if setting.default is None else f"{shown(setting.default)} is used"
        self._complain(f"{setting.name} is {shown(value)}; it must be {setting.kind}.{hint} For now {default}.", name)

    def _complain_of_name(self, name: tuple[str, ...], value: object) -> None:
        from memtui.config.nearest import nearest  # for start-up cost: only the mistaken need it

        full = ".".join(name)
        if full in sections():
            self._complain(f"{full} is {shown(value)} here, and it is a section: write [{full}]. It is not used.", name)
            return
        if isinstance(value, dict) or (name[0] not in sections() and len(name) > 1):
            meant = nearest(name[0], sections())
            hint = f" Did you mean [{meant}]?" if meant else f" There are: {', '.join(sections())}."
            self._complain(f"there is no section [{name[0]}].{hint} It is not used.", name)
            return
        meant = nearest(full, settings())
        hint = f" Did you mean {meant}?" if meant else " All there are: memtui config show."
        self._complain(f"there is no setting {full}.{hint} It is not used.", name)

    def _complain(self, words: str, name: tuple[str, ...] = ()) -> None:
        line = self._line(name) if name else None
        where = f"{self._file}, line {line}: " if line else ""
        self.problems.append(Problem(f"{where}{words}", ".".join(name), line))

    def _line(self, name: tuple[str, ...]) -> int:
        from memtui.config.lines import line_of  # for start-up cost, as above

        return line_of(self._lines, name) or 1


def _flat(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """All values by their full names; a table that is none of ours is one value."""
    for name, value in table.items():
        full = (*above, name)
        if isinstance(value, dict) and (full[0] == _KEYS or (not above and name in sections())):
            yield from _flat(value, full)
        else:
            yield full, value


def _is_inside(path: str, folder: str) -> bool:
    """Whether a file, or what it is a link to, is in a folder."""
    top = os.path.realpath(os.path.expanduser(folder))
    places = (os.path.realpath(path), os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)))
    return any(Path(top) in Path(place).parents for place in places)


def _bytes_of(path: str) -> bytes:
    """A file's bytes; nothing but a file is waited for."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with open(fd, "rb") as file:
        mode = os.fstat(fd).st_mode
        if path == os.devnull:
            return b""
        if not stat.S_ISREG(mode):
            raise OSError(errno.EISDIR, "") if stat.S_ISDIR(mode) else OSError("it is no file")
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise OSError("it is too long to be one")
    return data
