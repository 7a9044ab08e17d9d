"""How an audit is done, as one value: which rules, how strict, and what is excepted from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """Findings that somebody has judged to be in order, with the reason and until when.

    Attributes:
        rule: The rule's id, or a pattern of ids (`*-key`).
        path: Where, relative to the folder, as a pattern: `examples/**`; `**` for everywhere.
        fingerprint: Only the finding with this fingerprint; empty for all.
        reason: Why; never empty.
        until: The last day on which it holds; `None` for ever.
    """

    rule: str
    reason: str
    path: str = "**"
    fingerprint: str = ""
    until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What may differ from one audit to another. A limit of 0 is off."""

    stale_days: int = 180
    """Days after which a note is stale that no agent has read and nobody has changed."""

    max_lines: int = 200
    """Lines of an index (`MEMORY.md`) that are loaded when a session starts."""

    max_index_bytes: int = 25_000
    """Bytes of an index that are loaded when a session starts."""

    max_note_tokens: int = 4_000
    """Tokens of one note, estimated, above which it is long."""

    max_total_tokens: int = 0
    """Tokens of all notes together, estimated: the budget of the folder."""

    max_line_characters: int = 2_000
    """Characters of one line, beyond which text is pushed off the screen."""

    near_duplicate: float = 0.9
    """How alike two notes are, from 0 to 1, to be told as near duplicates."""

    rules: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What becomes of rules, by id or pattern: "off", "on", "fail", "warn" or "info"."""

    exemptions: tuple[Exemption, ...] = ()
    """What is excepted, with the reason and until when."""
