"""The settings as a list: what each is called, may be, and where else than in the file it can be said."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from memtui.config.sections import Config

_BEFORE = {
    "dir": ("MEMTUI_DIR",),
    "theme": ("TEXTUAL_THEME",),
    "ui.screen_reader": ("MEMTUI_SCREEN_READER",),
    "editor.command": ("MEMTUI_EDITOR",),
}
"""Variables that come before the file."""
_TABLES = frozenset({"keys", "audit.rules", "audit.exemptions"})
"""Fields that are no single values: what is in them has names of its own."""
_MOST = {"audit.near_duplicate": 1.0}
"""The largest values that numbers may have."""
_AFTER = {"editor.command": ("VISUAL", "EDITOR")}
"""Variables that other programs share: what the file says of memtui comes before them."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        name: Its section and its own name, such as `ui.follow`; without a section at the top of the file.
        types: The types that it may have.
        choices: The values that it may have; empty if any of its type.
        default: What it is where nobody says anything.
    """

    name: str
    types: tuple[type, ...]
    choices: tuple[str, ...]
    default: Any

    @property
    def before(self) -> tuple[str, ...]:
        """Environment variables that come before the file, the first that is set."""
        return _BEFORE.get(self.name, ())

    @property
    def after(self) -> tuple[str, ...]:
        """Environment variables that come after the file."""
        return _AFTER.get(self.name, ())

    @property
    def kind(self) -> str:
        """What it may be, in words."""
        if self.choices:
            *others, last = (f'"{choice}"' for choice in self.choices)
            return f"{', '.join(others)} or {last}"
        if bool in self.types:
            return "true or false"
        if self.name in _MOST:
            return f"a number from 0 to {_MOST[self.name]:g}"
        if float in self.types:
            return "a number, 0 or more"
        return "a whole number, 0 or more" if int in self.types else "a text in quotes"

    def accepts(self, value: object) -> bool:
        """Whether it may have a value as it stands in the file."""
        if self.choices:
            return isinstance(value, str) and value in self.choices
        if isinstance(value, bool):
            return bool in self.types
        if isinstance(value, int | float):
            numeric = float in self.types or (int in self.types and isinstance(value, int))
            return numeric and 0 <= value < math.inf and value <= _MOST.get(self.name, math.inf)
        return isinstance(value, str) and str in self.types and "\0" not in value

    def nearest(self, value: object) -> object:
        """The valid value that a bad one is likely to mean; `None` if there is none."""
        if bool in self.types:
            words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False}
            return {**words, "0": False}.get(str(value).strip().casefold())
        if self.choices:
            from memtui.config.nearest import nearest  # for start-up cost: only the mistaken need it

            return nearest(str(value).casefold(), self.choices)
        if int in self.types or float in self.types:
            return self._nearest_number(value)
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def _nearest_number(self, value: object) -> object:
        try:
            number = float(str(value).replace(",", "").replace("_", ""))
        except ValueError:
            return None
        if not math.isfinite(number):
            return None
        number = min(max(number, 0.0), _MOST.get(self.name, math.inf))
        return number if float in self.types and not number.is_integer() else round(number)


def value_of(config: Config, name: str) -> Any:
    """What a setting is."""
    section, _, own = name.rpartition(".")
    return getattr(getattr(config, section) if section else config, own)


@cache
def settings() -> dict[str, Setting]:
    """All settings by name, in the order in which the reference has them; `keys` is not one of them."""
    return {setting.name: setting for setting in _of(Config(), "")}


@cache
def sections() -> tuple[str, ...]:
    """The names of the sections, `keys` among them."""
    return tuple(each.name for each in fields(Config) if is_dataclass(_default(each.name)) or each.name == "keys")


def _default(name: str) -> object:
    return getattr(Config(), name)


def _of(section: Any, prefix: str) -> Iterator[Setting]:
    hints = get_type_hints(type(section))
    for each in fields(section):
        value = getattr(section, each.name)
        if is_dataclass(value):
            yield from _of(value, f"{each.name}.")
        elif f"{prefix}{each.name}" not in _TABLES:
            hint = hints[each.name]
            options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
            literals = [option for option in options if get_origin(option) is Literal]
            choices = tuple(choice for literal in literals for choice in get_args(literal))
            types = tuple(option for option in options if isinstance(option, type) and option is not type(None))
            yield Setting(f"{prefix}{each.name}", types, choices, value)
