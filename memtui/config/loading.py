"""Settings from flags, the environment and the file, in this order, each with where it is from."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any

from memtui.config.reading import Problem, Reading
from memtui.config.sections import Config
from memtui.config.settings import Setting, settings
from memtui.places import short

_OFF = frozenset({"0", "no", "false", "off"})
DEFAULT = "default"
"""Where a value is from that nobody gave."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and what is to be known of them.

    Attributes:
        config: The settings.
        path: The file; `None` if none was to be used.
        exists: Whether it is there.
        origins: By setting, where its value is from: a flag, a variable, `FILE:LINE` or `default`.
        problems: What could not be used.
    """

    config: Config = field(default_factory=Config)
    path: str | None = None
    exists: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def origin(self, name: str) -> str:
        """Where a value is from."""
        return self.origins.get(name, DEFAULT)

    def line(self, name: str) -> int | None:
        """In which line of the file a value stands; `None` if it is not from there."""
        _, _, number = self.origin(name).rpartition(":")
        return int(number) if number.isdecimal() and self.origin(name) == f"{self._shown}:{number}" else None

    @property
    def _shown(self) -> str:
        return short(self.path or "")


def config_path(environ: Mapping[str, str] = os.environ) -> str:
    """Where the file is, unless somebody says otherwise: the same place on every system."""
    if named := environ.get("MEMTUI_CONFIG"):
        return os.path.abspath(os.path.expanduser(named))
    base = environ.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(base):  # as the XDG specification has it
        base = os.path.expanduser("~/.config")
    return os.path.join(base, "memtui", "config.toml")


def load(
    *,
    path: str | None = None,
    use_file: bool = True,
    folder: str | None = None,
    flags: Mapping[str, tuple[str, object]] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Loaded:
    """Find out the settings.

    Args:
        path: The file that somebody named; else the one in its usual place, which need not be there.
        use_file: Whether a file is read at all.
        folder: The memory folder, once it is known: a file inside it could be written by an agent, and is not used.
        flags: By setting, the option that says so, and its value.
        environ: The environment.

    Raises:
        NoConfig: The file that was named cannot be read.
    """
    reading = Reading()
    where = None
    if use_file:
        where = os.path.abspath(os.path.expanduser(path)) if path is not None else config_path(environ)
        reading.read(where, must_exist=path is not None, folder=folder)
    values, origins = reading.values, reading.origins
    for setting in settings().values():
        for name in reversed(setting.before):
            if environ.get(name):
                values[setting.name], origins[setting.name] = _from_environment(setting, environ[name]), name
        if not values.get(setting.name) and (name := next((each for each in setting.after if environ.get(each)), "")):
            values[setting.name], origins[setting.name] = environ[name], name
    _no_movement(values, origins, environ)
    for each, (option, value) in (flags or {}).items():
        values[each], origins[each] = value, option
    config = _config(values, MappingProxyType(reading.keys))
    return Loaded(config, where, reading.exists, origins, tuple(reading.problems))


def _from_environment(setting: Setting, value: str) -> object:
    """A variable's value: of a switch whether it is on, as all of memtui's variables say it."""
    return value.lower() not in _OFF if bool in setting.types else value


def _no_movement(values: dict[str, object], origins: dict[str, str], environ: Mapping[str, str]) -> None:
    """Whether anything moves is told by Textual's own variable; over SSH each movement costs, and none is made."""
    name = "ui.animations"
    if level := environ.get("TEXTUAL_ANIMATIONS", "").lower():
        values[name], origins[name] = level != "none", "TEXTUAL_ANIMATIONS"
    elif name not in values and environ.get("SSH_CONNECTION"):
        values[name], origins[name] = False, "SSH_CONNECTION"


def _config(values: Mapping[str, object], keys: Mapping[str, str]) -> Config:
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
