"""Every setting there is, with its default and what it means.

What is said below a field is what a person reads in `memtui config edit`: the reference is made from this file, so that
it cannot be wrong. A field is all that a new setting needs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from memtui.core.audit_settings import AuditSettings
from memtui.core.settings import Settings

Provider = Literal["anthropic", "bedrock", "vertex", "foundry"]
PROVIDERS: tuple[str, ...] = get_args(Provider)
Effort = Literal["", "low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[str, ...] = tuple(level for level in get_args(Effort) if level)
"""Levels of effort, lowest first, as the API names them. Which of them a model takes, the API tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ui:
    """How the screen is."""

    follow: bool = True
    """Whether the screen goes where something happens, from the start. `f` switches it."""

    hidden: bool = False
    """Whether files whose names begin with a dot are shown, from the start. `.` switches it."""

    sort: Literal["name", "-name", "modified", "-modified", "size", "-size"] = "name"
    """How files are sorted at first; with a minus in front the other way round. `,` asks for another."""

    view: Literal["rendered", "source", "model"] = "rendered"
    """How a note is shown at first: rendered, as source, or as the model sees it. `t` switches it."""

    animations: bool = True
    """Whether anything moves or is lit for a moment. Over SSH nothing does, unless TEXTUAL_ANIMATIONS says so."""

    mouse: bool = True
    """Whether the mouse works in memtui; without it the terminal selects text as everywhere."""

    screen_reader: bool = False
    """Whether memtui speaks line by line, in sentences and numbered menus, and draws no screen."""

    remember: bool = True
    """Whether a folder is shown as it was left: cursor, expanded folders, order, panes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    """Your own editor."""

    command: str = ""
    """The command of your editor, with its options; else VISUAL or EDITOR."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """How a conversation is held, as the options of `memtui chat` say; those come first."""

    model: str = ""
    """Which model; else the newest that the API lists."""

    provider: Provider = "anthropic"
    """Whose service is asked."""

    policy: Literal["ask", "allow", "read-only"] = "ask"
    """What becomes of writes to the memory. `memtui chat -p` is read-only unless --policy says otherwise."""

    system: str = ""
    """A file with a system prompt of your own."""

    guidance: str = ""
    """What is to be remembered, and what not; or a file that says it."""

    effort: Effort = ""
    """How hard the model tries; else as the model has it."""

    thinking: bool | None = None
    """Whether the model may think; if not set, as the model has it."""

    max_tokens: int | None = None
    """Tokens that one answer may have; if not set, what fits the model."""

    context_trigger: int | None = None
    """Tokens of context from which old tool results are cleared; 0 is off; if not set, a share of what fits."""

    input_price: float | None = None
    """US dollars for a million tokens that the model reads; if not set, no price is shown."""

    output_price: float | None = None
    """US dollars for a million tokens that the model writes."""

    max_calls: int = 200
    """Tool calls in one turn, after which it is ended and you are asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All that a person settles once."""

    dir: str = ""
    """The memory folder, where none is named."""

    theme: str = "auto"
    """The colors: `auto` for light or dark as the terminal is, or a theme's name. `Ctrl+T` shows those there are."""

    ui: Ui = field(default_factory=Ui)
    """How the screen is."""

    editor: Editor = field(default_factory=Editor)
    """Your own editor."""

    memory: Settings = field(default_factory=Settings)
    """How memory commands behave. The limits bind agents; a limit of 0 is off."""

    chat: Chat = field(default_factory=Chat)
    """How a conversation is held, as the options of `memtui chat` say; those come first."""

    audit: AuditSettings = field(default_factory=AuditSettings)
    """How an audit is done. A limit of 0 is off."""

    keys: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Other keys for what can be done, by its id: several with commas between, none as "". `?` tells the ids."""
