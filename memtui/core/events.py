"""What happened, as values: who did what, what was answered, and which texts stood before and after.

Screens, reports, search and undo are all made from these. An event is never changed once it is recorded.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from memtui.core.snapshot import Kind

RECOVERED = "recovered after a crash"
"""The note of an event whose process died before it could record it."""
ABORTED = "aborted by a crash: not done"
"""The note of an event whose process died before it was done."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A program that acts through the engine.

    Attributes:
        name: What people call it.
        model: The model that decides, where known.
        session: The conversation that it acts in, where known.
    """

    name: str
    model: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """The one at the keyboard."""

    name: str = "you"


@dataclass(frozen=True, slots=True)
class Outside:
    """Somebody changed the files without telling us."""

    name: str = "outside"


@dataclass(frozen=True, slots=True)
class Memtui:
    """memtui itself: what it found, mended or removed."""

    name: str = "memtui"


Actor = Agent | Person | Outside | Memtui

NEVER_TAKEN_BACK = frozenset({"found", "began", "redact", "view"})
"""Commands of events that changed nothing that anybody wanted: there is nothing to take back."""


@dataclass(frozen=True, slots=True)
class Version:
    """What a path held at one time.

    Attributes:
        kind: File, directory, link or other.
        sha256: Of a file's bytes or a link's target, in hexadecimal; `None` for anything else, and for a file too
            large to read.
        size: Bytes of a file; 0 for anything else.
    """

    kind: Kind
    sha256: str | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """One path's change within an event.

    Attributes:
        path: Relative to the folder, "/"-joined.
        before: What was there; `None` for nothing.
        after: What is there now; `None` for nothing.
    """

    path: str
    before: Version | None
    after: Version | None


class Result(StrEnum):
    """How an event ended, as a word for programs."""

    OK = "ok"
    NO_CHANGE = "no_change"
    """It succeeded, and there was nothing to change."""
    SEEN = "seen"
    """Nobody told us; it was found."""
    REFUSED = "refused"
    """It was refused or failed, and nothing was changed."""
    UNCERTAIN = "uncertain"
    """It was done, but the disk did not confirm it."""
    ABORTED = "aborted"
    """Its process died before it was done."""

    @property
    def shown(self) -> str:
        """As people read it: what went wrong stands out."""
        words = self.value.replace("_", " ")
        return words.upper() if self in (Result.REFUSED, Result.UNCERTAIN, Result.ABORTED) else words


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One command with its answer, or one change seen from outside.

    Attributes:
        seq: Its number in the journal, from 1, without gaps; 0 before it is recorded.
        at_us: When it began, in microseconds since 1970 (UTC).
        actor: Who.
        command: One of the six commands; one of ours, `write`, `copy`, `restore`, `undo`, `redo`, `redact`, `clear`,
            `protect` or `unprotect`; for changes seen from outside `created`, `modified`, `deleted`, `renamed`, or
            `found` for what was there when memtui first looked; and `began` for a journal that begins where another one
            was set aside.
        path: What the command named, canonical (`/memories/...`) where it could be judged, else as given.
        new_path: The destination of a rename.
        is_error: Whether the command was refused or failed.
        answer: The text that was answered; `None` where it can be made again from the versions (views of files).
        changes: What changed, path by path. For a view: nothing.
        viewed: For a view of a file, the version that was shown.
        added: Lines that the change added; `None` where lines do not apply.
        removed: Lines that it removed.
        duration_us: How long the command took, in microseconds.
        call_id: The model's id of the tool call.
        aliases: Other names that the caller used for fields.
        no_change: Whether a command succeeded that changed nothing.
        note: A few words for the log, such as `12 lines` or `recovered after a crash`.
        arguments: The command's fields as JSON, without what is kept as a version.
        aborted: Whether its process died before it was done.
        moved: Where it moved what, `(old, new)` relative to the folder, where one path and `new_path` do not tell; what
            went along with its directory is not named.
        undoes: Numbers of the events that it took back; for a `redo`, the number of the `undo`.
        redacted: SHA-256 of the texts that it removed from the record: versions, answers and arguments.
        hash: The chain's hash up to and with this event, in hexadecimal; empty before it is recorded.
    """

    seq: int = 0
    at_us: int
    actor: Actor
    command: str
    path: str
    new_path: str | None = None
    is_error: bool = False
    answer: str | None = None
    changes: tuple[Change, ...] = ()
    viewed: Version | None = None
    added: int | None = None
    removed: int | None = None
    duration_us: int = 0
    call_id: str | None = None
    aliases: tuple[str, ...] = ()
    no_change: bool = False
    note: str = ""
    arguments: str | None = None
    aborted: bool = False
    moved: tuple[tuple[str, str], ...] = ()
    undoes: tuple[int, ...] = ()
    redacted: tuple[str, ...] = ()
    hash: str = field(default="", compare=False)

    @property
    def at(self) -> datetime:
        """When it began (UTC)."""
        return datetime.fromtimestamp(self.at_us / 1e6, UTC)

    @property
    def is_outside(self) -> bool:
        """Whether nobody told us about it."""
        return isinstance(self.actor, Outside)

    @property
    def result(self) -> Result:
        """How it ended."""
        if self.is_error:
            if self.changes:
                return Result.UNCERTAIN
            return Result.ABORTED if self.aborted else Result.REFUSED
        if self.is_outside or self.command == "imported":
            return Result.SEEN
        return Result.NO_CHANGE if self.no_change else Result.OK


@dataclass(frozen=True, slots=True)
class Answer:
    """What the caller of a command gets.

    Attributes:
        text: The answer, exactly as a model is to see it.
        is_error: Whether it is a refusal or a fault.
        event: What was recorded.
    """

    text: str
    is_error: bool
    event: Event


def sha256(data: bytes) -> str:
    """The hash that a version of a file is known by, in hexadecimal."""
    import hashlib  # deferred: it opens OpenSSL, which nobody waits for before the first paint

    return hashlib.sha256(data).hexdigest()
