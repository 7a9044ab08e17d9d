"""What an audit finds, as values. Screens, reports and pipelines are all made from these."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Severity(StrEnum):
    """How much a finding matters."""

    FAIL = "fail"
    """It must not stay."""
    WARN = "warn"
    """Somebody should look at it."""
    INFO = "info"
    """Worth knowing."""

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return ("fail", "warn", "info").index(self.value)


class Family(StrEnum):
    """What kind of thing a rule looks for."""

    SECRET = "secret"
    HIDDEN = "hidden"
    """Deceptive text and names."""
    PLANTED = "planted"
    """Instructions for the model."""
    INTEGRITY = "integrity"
    UPKEEP = "upkeep"
    CLAIMS = "claims"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding is.

    Attributes:
        path: Relative to the folder, "/"-joined; `""` for the folder itself. May hold surrogates (PEP 383).
        line: From 1; `None` where it is about the file as a whole.
        column: In characters, from 1; `None` where it is about the line as a whole.
        end_line: The last line of it.
        end_column: The character behind the last, from 1.
    """

    path: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Who brought something in, and when, as far as the journal knows.

    Attributes:
        actor: Whom, as shown: an agent's name, `you`, `outside`; empty if it is not known.
        seq: The number of the event; `None` if it is not known.
        at_us: When, in microseconds since 1970 (UTC).
        command: What it was, such as `create`.
        session: The conversation, where known.
        call_id: The model's id of the tool call, where known.
        is_exact: Whether it is that event; if not, it was there when memtui first looked, or earlier texts are gone.
    """

    actor: str = ""
    seq: int | None = None
    at_us: int | None = None
    command: str = ""
    session: str | None = None
    call_id: str | None = None
    is_exact: bool = True

    @property
    def is_known(self) -> bool:
        """Whether it is known who it was. A change that was found just now has nobody's number yet."""
        return bool(self.actor)


UNKNOWN = Origin()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """What a rule found, before it is known what becomes of it.

    Attributes:
        rule: The rule's id.
        path: Where, relative to the folder.
        words: What it is, as one sentence without a full stop; never a secret's value.
        start: The first character of it in the note's text; `None` where it is about the file as a whole.
        end: The one behind the last.
        masked: Characters of the text, from and to, that are shown to nobody who did not ask.
        evidence: What is shown of it, where that is not the line that it is in.
        facts: What a program may want to know, such as `{"days": 314}`.
        identity: What tells it from others of its rule in its file when lines move; by default its text.
    """

    rule: str
    path: str
    words: str
    start: int | None = None
    end: int | None = None
    masked: tuple[int, int] | None = None
    evidence: str | None = None
    facts: Mapping[str, str | int | float] = field(default_factory=lambda: MappingProxyType({}))
    identity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a reviewer should look at.

    Attributes:
        rule: The rule's id.
        family: Its family.
        severity: As it is set here; the rule's own may be another.
        place: Where.
        words: What it is, as one sentence without a full stop.
        evidence: The line, or what else shows it; what is secret in it is masked. Empty if there is nothing to show.
        do: What to do about it, as a sentence.
        origin: Who brought it in, and when.
        fingerprint: The same as long as it is the same finding, also when lines above it come and go: 16 hexadecimal
            digits. It tells nothing of a secret.
        facts: What a program may want to know.
        masked: Characters of the note's text, from and to, that are masked in `evidence`; `None` if nothing is.
    """

    rule: str
    family: Family
    severity: Severity
    place: Place
    words: str
    evidence: str
    do: str
    origin: Origin
    fingerprint: str
    facts: Mapping[str, str | int | float] = field(default_factory=lambda: MappingProxyType({}))
    masked: tuple[int, int] | None = None
