"""How an engine behaves, as one value."""

import math
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from memtui.core.lazy_dataclass import dataclass, field
from memtui.core.messages import Profile

if TYPE_CHECKING:
    from datetime import date

Creating = Literal["overwrite", "refuse"]
SecretPolicy = Literal["flag", "block", "redact"]
Durability = Literal["journal", "folder"]
BrokenLinks = Literal["leave", "tell"]
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "create": get_args(Creating),
    "messages": get_args(Profile),
    "secrets": get_args(SecretPolicy),
    "durability": get_args(Durability),
    "links_on_agent_rename": get_args(BrokenLinks),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What may differ from one memory to another. The limits bind agents; a limit of 0 is off.

    Raises:
        ValueError: A field's value is none that it may have; the words name the field.
    """

    create: Creating = "overwrite"
    """What `create` does if the file exists. The tool's description tells the model that it is overwritten."""
    messages: Profile = "docs"
    """The wording of answers to agents: as in the tool's documentation, or as in the SDK's reference class."""
    secrets: SecretPolicy = "flag"
    """What happens when a command writes a key that is certain by its issuer's format: it is noted on the event,
    refused, or left out of the text and of the history."""
    links_on_agent_rename: BrokenLinks = "leave"
    """Whether the answer to an agent's `rename` ends with a line that names the links that lead nowhere now. For the
    first one, all notes are read."""
    view_char_limit: int = 16_000
    """Characters of text at which the view of a file is cut, at a line's end. A single line can be viewed whole."""
    listing_limit: int = 2_000
    """Entries after which the view of a directory is cut."""
    max_file_bytes: int = 1_000_000
    """Bytes that one file may have after a command."""
    max_total_bytes: int = 100_000_000
    """Bytes that the files of the folder may have together after a command."""
    max_files: int = 0
    """Files that the folder may hold after a command."""
    max_read_bytes: int = 64_000_000
    """Bytes above which a file is not read at all, by anyone. This protects memtui itself; 0 is off."""
    lock_seconds: float = 5.0
    """Seconds that a command waits for other writers before it answers that the folder is busy; 0 does not wait."""
    durability: Durability = "journal"
    """What is on the disk when a command answers: the journal, from which the folder is restored after a power cut
    (its files follow within a second), or the files in the folder as well, which takes three times as long."""
    keep_days: int = 0
    """Days after which a text that no file has any more is removed from the history; 0 keeps all. Events are always
    kept, with the hashes of their texts."""
    keep_bytes: int = 0
    """Bytes that the texts in the history may take, compressed. Above it, the oldest that no file has any more are
    removed. 0 is off."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if name in _CHOICES:
                if value not in _CHOICES[name]:
                    raise ValueError(f"{name} must be one of {', '.join(_CHOICES[name])}, not {value!r}")
            elif name == "lock_seconds":
                if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                    raise ValueError(f"{name} must be a number of seconds, 0 or more, not {value!r}")
            elif isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} must be a whole number, 0 or more, not {value!r}")

    @property
    def read_limit(self) -> int:
        return self.max_read_bytes or sys.maxsize


# Settings of an audit.


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """Findings that a person has judged to be in order, until the last day or for ever.

    Attributes:
        rule: The rule's id, or a pattern of ids (`*-key`).
        path: A pattern relative to the folder: `examples/**`; `**` for everywhere.
        fingerprint: Only the finding with this fingerprint; empty for all.
    """

    rule: str
    reason: str
    path: str = "**"
    fingerprint: str = ""
    until: "date | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What may differ from one audit to another. A limit of 0 is off."""

    stale_days: int = 180
    """Days after which a note is stale if no agent has read it and nobody has changed it."""
    max_lines: int = 200
    """Lines of an index (`MEMORY.md`) that are loaded when a session starts."""
    max_index_characters: int = 25_000
    """Characters of an index that are loaded when a session starts, as JavaScript counts: an emoji is two."""
    max_note_tokens: int = 4_000
    """Estimated tokens above which a note is too long."""
    max_total_tokens: int = 0
    """Estimated tokens of all notes together: the budget of the folder."""
    max_line_characters: int = 2_000
    """Characters of a line after which text counts as pushed off the screen."""
    near_duplicate: float = 0.9
    """How similar two notes must be, from 0 to 1, to be reported as near duplicates."""
    rule_files: tuple[str, ...] = ()
    """Files with rules for your own secrets, in the TOML format of gitleaks; needs memtui[rules]. A relative path is
    relative to the settings file."""
    rules: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What happens with rules, by id or pattern: "off", "on", "fail", "warn" or "info"."""
    exemptions: tuple[Exemption, ...] = ()
    """Findings to leave out, with the reason and until when."""


# Limits of a folder, and how much of each is used.

_NEAR = 0.8


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of a limit (never 0) is used: of `bytes`, `files` or `tokens`, by the limit's setting."""

    name: str
    used: int
    limit: int
    setting: str

    @property
    def share(self) -> float:
        """Which part is used: 1.0 is all of it, and it may be more."""
        return self.used / self.limit

    @property
    def is_over(self) -> bool:
        return self.used > self.limit

    @property
    def is_near(self) -> bool:
        return self.share >= _NEAR

    @property
    def percent(self) -> str:
        """The share as people read it: `41%`, `under 1%`; never `100%` of one that is not all used."""
        if 0 < self.share < 0.01:
            return "under 1%"
        return f"{int(self.share * 100):,}%"

    @property
    def summary(self) -> str:
        """The same as a few words: `41M of 95M bytes, 43%`, `~8,200 of 10,000 tokens, 82%`."""
        from memtui.core.edits import format_human_size  # noqa: PLC0415 - start-up: a hook keeps an agent waiting

        match self.name:
            case "bytes":
                return f"{format_human_size(self.used)} of {format_human_size(self.limit)}, {self.percent}"
            case "tokens":
                return f"~{self.used:,} of {self.limit:,} tokens, {self.percent}"
            case _:
                return f"{self.used:,} of {self.limit:,} {self.name}, {self.percent}"


def compute_budgets(
    *, files: int, bytes: int, tokens: int | None, memory: Settings, audit: AuditSettings | None = None
) -> tuple[Budget, ...]:
    """The budgets of a folder, without limits that are off; `tokens` are estimated, `None` if they were not counted."""
    of_tokens = audit.max_total_tokens if audit is not None else 0
    found = [
        Budget("bytes", bytes, memory.max_total_bytes, "memory.max_total_bytes") if memory.max_total_bytes else None,
        Budget("files", files, memory.max_files, "memory.max_files") if memory.max_files else None,
        Budget("tokens", tokens, of_tokens, "audit.max_total_tokens") if of_tokens and tokens is not None else None,
    ]
    return tuple(budget for budget in found if budget is not None)
