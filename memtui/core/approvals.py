"""Asking a person before an agent's change is made, as values: proposals and verdicts.

A proposal holds the exact texts before and after, so that what is approved is what is written, or nothing is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from memtui.core.events import Actor, Change, EntryKind, Version


class ApprovalPolicy(StrEnum):
    """What becomes of an agent's changes. Views are never asked about."""

    ASK = "ask"
    """A person is shown each change before it is made."""
    ALLOW = "allow"
    READ_ONLY = "read-only"
    """Each change is refused."""


SHELL_COMMAND = "shell"
"""The command of a proposal of several changes by one shell command, whose text is `raw["command"]`."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that an agent asked for, and that was not made yet.

    Attributes:
        path: Canonical (`/memories/...`).
        changes: Path by path; never empty.
        texts: Bytes by SHA-256 of the versions in `changes`, as far as they are files that can be read.
        answer: What the agent would be answered.
        raw: The input as the agent sent it.
        again: Why it is asked once more, as a sentence; empty the first time.
        draft: The person's text from then, so that it is not lost.
    """

    actor: Actor
    command: str
    path: str
    new_path: str | None
    call_id: str | None
    changes: tuple[Change, ...]
    texts: Mapping[str, bytes]
    answer: str
    raw: Mapping[str, object] = field(default_factory=dict)
    again: str = ""
    draft: str | None = None

    @property
    def files(self) -> tuple[Change, ...]:
        """The changes of files, without the directories that come and go with them."""
        return tuple(each for each in self.changes if (each.after or each.before or _NOTHING).kind is EntryKind.FILE)

    @property
    def editable_change(self) -> Change | None:
        """The one file that would hold a new text, to be edited; `None` for deletions, moves, shell commands."""
        if self.command in ("delete", "rename", SHELL_COMMAND):
            return None
        return next((each for each in self.files if each.after is not None), None)

    @property
    def shell_text(self) -> str:
        """The shell command that makes several changes; empty for other commands."""
        text = self.raw.get("command") if self.command == SHELL_COMMAND else ""
        return text if isinstance(text, str) else "a command"

    def get_data(self, version: Version | None) -> bytes | None:
        """The bytes of a version in `changes`; `None` for nothing, and for what is no file or cannot be read."""
        return self.texts.get(version.sha256 or "") if version is not None else None

    def text(self, version: Version | None) -> str | None:
        """The text of a version: `""` for nothing, `None` for what is not text."""
        if version is None:
            return ""
        data = self.get_data(version)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None


@dataclass(frozen=True, slots=True)
class Allow:
    """Make the change; `always` is a relative path (`""` for all) at and below which no question is asked again."""

    always: str | None = None


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not make it; the reason is for the agent, in the person's words, empty for none."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """Write another whole text in its place, as the person's own."""

    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The person stopped the agent before answering."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Nobody answered within so many seconds; 0 where there was nobody to ask."""

    seconds: float = 0


Verdict = Allow | Deny | Edit | Stop | Unanswered

_NOTHING = Version(EntryKind.FILE)


def is_below(path: str, prefix: str) -> bool:
    """Whether a path is another one, or lies below it; both relative to the folder, `""` for the folder."""
    return not prefix or path == prefix or path.startswith(prefix + "/")
