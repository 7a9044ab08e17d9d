"""The settings as a list: what each is called, may be, and where else than in the file it can be said."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, is_dataclass
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import AuditSettings, Settings
from memtui.core.suggestion import find_nearest

# Every setting there is, with its default and what it means.
#
# What is said below a field is what a person reads in `memtui config edit`: the reference is made from this file, so
# that it cannot be wrong. A field is all that a new setting needs.

Provider = Literal["anthropic", "bedrock", "vertex", "foundry"]
PROVIDERS: tuple[str, ...] = get_args(Provider)
Effort = Literal["", "low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[str, ...] = tuple(level for level in get_args(Effort) if level)
"""Levels of effort, lowest first, as the API names them. Which of them a model takes, the API tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UiSettings:
    """The screen."""

    follow: bool = True
    """Whether the screen follows changes from the start. `f` switches it."""

    hidden: bool = False
    """Whether files whose names begin with a dot are shown from the start. `.` switches it."""

    sort: Literal["name", "-name", "modified", "-modified", "size", "-size"] = "name"
    """How files are sorted at first; a minus in front reverses the order. `,` changes it."""

    view: Literal["rendered", "source", "model"] = "rendered"
    """How a note is shown at first: rendered, as source, or as the model sees it. `t` switches it."""

    animations: bool = True
    """Whether the screen is animated. Over SSH it is not, unless TEXTUAL_ANIMATIONS is set."""

    tips: bool = True
    """Whether a tip about a key is shown at the start; each tip is shown once."""

    mouse: bool = True
    """Whether memtui uses the mouse. Without it, the terminal selects text as usual."""

    screen_reader: bool = False
    """Whether memtui prints sentences and numbered menus line by line, and draws no screen."""

    remember: bool = True
    """Whether a folder opens as you left it: cursor, expanded directories, order, panes."""

    watch_home: bool = False
    """Whether `memtui home` watches the listed folders in the background. `F6` switches it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorSettings:
    """Your own editor."""

    command: str = ""
    """The command of your editor, with its options. If empty: VISUAL, EDITOR, or one that is installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    """The chat. The options of `memtui chat` override these settings."""

    model: str = ""
    """The model. If empty: the newest that the API lists."""

    provider: Provider = "anthropic"
    """The service that runs the model."""

    policy: Literal["ask", "allow", "read-only"] = "ask"
    """What happens when the model writes to the memory folder. `memtui chat -p` is read-only without --policy."""

    system: str = ""
    """A file with your own system prompt."""

    guidance: str = ""
    """What the model should remember and what not: a text, or the name of a file."""

    effort: Effort = ""
    """How hard the model tries. If empty: the default of the model."""

    thinking: bool | None = None
    """Whether the model may think. If not set: the default of the model."""

    max_tokens: int | None = None
    """The most tokens of one answer. If not set: what fits the model."""

    context_trigger: int | None = None
    """Tokens of context at which old tool results are cleared; 0 is off. If not set: a share of the context window."""

    input_price: float | None = None
    """US dollars per million input tokens. If not set: no price is shown."""

    output_price: float | None = None
    """US dollars per million output tokens."""

    max_calls: int = 200
    """Tool calls after which a turn stops and you are asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All that a person settles once."""

    dir: str = ""
    """The memory folder to open if none is named."""

    theme: str = "auto"
    """The colors: `auto` for light or dark as in the terminal, or the name of a theme. `Ctrl+T` lists them."""

    ui: UiSettings = field(default_factory=UiSettings)
    """The screen."""

    editor: EditorSettings = field(default_factory=EditorSettings)
    """Your own editor."""

    memory: Settings = field(default_factory=Settings)
    """How memory commands behave. The limits apply to agents; a limit of 0 is off."""

    chat: ChatSettings = field(default_factory=ChatSettings)
    """The chat. The options of `memtui chat` override these settings."""

    audit: AuditSettings = field(default_factory=AuditSettings)
    """The audit. A limit of 0 is off."""

    keys: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Your own keys for actions, by id: several separated by commas, "" for none. `?` shows the ids."""


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
        if tuple in self.types:
            return 'a list of strings, such as ["~/team.toml"]'
        if self.name in _MOST:
            return f"a number from 0 to {_MOST[self.name]:g}"
        if float in self.types:
            return "a number, 0 or more"
        return "a whole number, 0 or more" if int in self.types else "a string in quotes"

    def is_valid(self, value: object) -> bool:
        """Whether it may have a value as it stands in the file."""
        if self.choices:
            return isinstance(value, str) and value in self.choices
        if isinstance(value, bool):
            return bool in self.types
        if isinstance(value, list | tuple):
            return tuple in self.types and all(isinstance(each, str) and each and "\0" not in each for each in value)
        if isinstance(value, int | float):
            numeric = float in self.types or (int in self.types and isinstance(value, int))
            return numeric and 0 <= value < math.inf and value <= _MOST.get(self.name, math.inf)
        return isinstance(value, str) and str in self.types and "\0" not in value

    def find_nearest(self, value: object) -> object:
        """The valid value that a bad one is likely to mean; `None` if there is none."""
        written = value if isinstance(value, str) else format_toml(value)
        if bool in self.types:
            words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False}
            return {**words, "0": False}.get(written.strip().casefold())
        if self.choices:
            return find_nearest(written.casefold(), self.choices)
        if int in self.types or float in self.types:
            return self._find_nearest_number(value)
        return written if isinstance(value, int | float) and not isinstance(value, bool) else None

    def _find_nearest_number(self, value: object) -> object:
        try:
            number = float(str(value).replace(",", "").replace("_", ""))
        except ValueError:
            return None
        if not math.isfinite(number):
            return None
        number = min(max(number, 0.0), _MOST.get(self.name, math.inf))
        return number if float in self.types and not number.is_integer() else round(number)


def get_value(config: Config, name: str) -> Any:
    """What a setting is."""
    section, _, own = name.rpartition(".")
    return getattr(getattr(config, section) if section else config, own)


@cache
def list_settings() -> dict[str, Setting]:
    """All settings by name, in the order in which the reference has them; `keys` is not one of them."""
    return {setting.name: setting for setting in _iter_settings(Config(), "")}


@cache
def list_sections() -> tuple[str, ...]:
    """The names of the sections, `keys` among them."""
    return tuple(each.name for each in fields(Config) if is_dataclass(_get_default(each.name)) or each.name == "keys")


def _get_default(name: str) -> object:
    return getattr(Config(), name)


def _iter_settings(section: Any, prefix: str) -> Iterator[Setting]:
    for each in fields(section):
        value = getattr(section, each.name)
        if is_dataclass(value):
            yield from _iter_settings(value, f"{each.name}.")
        elif f"{prefix}{each.name}" not in _TABLES:
            hint: Any = each.type
            options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
            literals = [option for option in options if get_origin(option) is Literal]
            choices = tuple(choice for literal in literals for choice in get_args(literal))
            plain = (get_origin(option) or option for option in options)
            types = tuple(option for option in plain if isinstance(option, type) and option is not type(None))
            yield Setting(f"{prefix}{each.name}", types, choices, value)


# Values in sentences about the settings.


_LARGEST_BITS = 200


def format_toml(value: object) -> str:
    """A value as it stands in TOML, as well as that can be told."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case list():
            return "a list"
        case tuple():
            return f"[{', '.join(map(format_toml, value))}]"
        case dict():
            return "a table"
        case int() if value.bit_length() > _LARGEST_BITS:
            return "a very long number"
        case _:
            return str(value)
