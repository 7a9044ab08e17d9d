"""Asking a person before an agent's change is made, as values: proposals and verdicts.

A proposal holds the exact texts before and after, so that what is approved is what is written, or nothing is.
"""

import os
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from memtui.core.events import Actor, Change, Event, Version
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import ROOT_NAME
from memtui.core.unicode import to_one_line


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
class Permission:
    """What an agent asks leave for and does by itself: memtui passes the answer on, and does not carry it out.

    Attributes:
        title: What it wants to do, in its own words.
        detail: The input of its tool; empty where a comparison shows it.
        is_lasting: Whether it can be told not to ask again.
        is_editable: Whether the proposal holds the whole text of one memory, which the person may write in its place.
    """

    title: str
    detail: str = ""
    is_lasting: bool = False
    is_editable: bool = False


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that an agent asked for, and that was not made yet.

    Attributes:
        path: Canonical (`/memories/...`), as it was named: with a link in it, what changes is another path.
        changes: Path by path, as they really are; never empty but for a permission.
        texts: Bytes by SHA-256 of the versions in `changes`, as far as they are files that can be read, or links.
        answer: What the agent would be answered.
        raw: The input as the agent sent it.
        again: Why it is asked once more, as a sentence; empty the first time.
        draft: The person's text from then, so that it is not lost.
        permission: What the agent would do by itself; `None` for a change that memtui makes.
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
    permission: Permission | None = None

    @property
    def files(self) -> tuple[Change, ...]:
        """The changes of files and links, without the directories that come and go with them."""
        return tuple(each for each in self.changes if not each.is_directory)

    @property
    def editable_change(self) -> Change | None:
        """The one file that would hold a new text, to be edited; `None` for deletions, moves, shell commands."""
        if self.command in ("delete", "rename", SHELL_COMMAND):
            return None
        if self.permission is not None and not self.permission.is_editable:
            return None
        return next((each for each in self.files if each.after is not None), None)

    @property
    def consent_scope(self) -> str | None:
        """The smallest scope that can be allowed for good: a directory that holds all changes, else the one file.

        `None` where only everything would do, as for a move between directories.
        """
        if self.permission is not None:
            return None
        paths = [change.path for change in self.files or self.changes]
        scope = os.path.commonpath([os.path.dirname(path) for path in paths])
        if not scope and len(paths) == 1:
            return paths[0] if all(covers(paths[0], change.path) for change in self.changes) else None
        while scope and not all(covers(scope, change.path) for change in self.changes):
            scope = scope.rpartition("/")[0]  # new directories are part of the change
        return scope or None

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


EVERYWHERE = "/"
"""The scope of a consent to all that an agent does to a memory."""


@dataclass(frozen=True, slots=True)
class Allow:
    """Make the change; `always` is the scope of a consent: no question is asked there again.

    A scope is a relative path, for what stands at and below it, or `EVERYWHERE`. It ends with the session or window, or
    when what it names is renamed, or something else is renamed to it.

    Raises:
        ValueError: The scope names nothing.
    """

    always: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.always, str) and not is_scope(self.always):
            raise ValueError(f"{self.always!r} names no path of a memory; EVERYWHERE is {EVERYWHERE!r}")


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


def is_scope(value: object) -> bool:
    """Whether a value names what a consent may be given to."""
    if not isinstance(value, str):
        return False
    return value == EVERYWHERE or all(part not in ("", ".", "..") and "\0" not in part for part in value.split("/"))


def covers(scope: str, path: str) -> bool:
    """Whether a scope holds for a path."""
    return scope in (EVERYWHERE, path) or path.startswith(f"{scope}/")


def is_ended_by(scope: str, event: Event) -> bool:
    """Whether an event renamed what a scope names, or something else to it: it names another thing from then on."""
    if scope == EVERYWHERE or event.is_error:
        return False
    paths = [path for pair in event.moved for path in pair]
    if event.new_path is not None:
        paths += (path.removeprefix(f"{ROOT_NAME}/") for path in (event.path, event.new_path))
    return any(covers(path, scope) for path in paths)


def format_scope(scope: str) -> str:
    """A scope for a person, such as `/memories/notes`."""
    return f"all of {ROOT_NAME}" if scope in (EVERYWHERE, "") else f"{ROOT_NAME}/{to_one_line(scope)}"
