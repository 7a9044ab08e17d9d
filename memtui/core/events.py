"""Events as values: who did what, the answer, and the texts before and after.

Screens, reports, search and undo are all made from these. An event is never changed once it is recorded.
"""

import unicodedata
from collections.abc import Iterable
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Protocol

from memtui.core.attributes import UNKNOWN, Attributes
from memtui.core.hashing import hash_bytes
from memtui.core.lazy_dataclass import dataclass, field

if TYPE_CHECKING:
    from datetime import datetime

    from memtui.core.images import Image

# Folder entries: cheap values that the watcher compares and the screens draw; content is not read for them.


class EntryKind(StrEnum):
    """What stands behind a name; links are never followed."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"
    """A FIFO, a socket or a device: shown, never opened."""


@dataclass(frozen=True, slots=True)
class FolderEntry:
    path: str
    """Relative to the folder, joined by `/`; `""` is the folder itself. May hold surrogates (PEP 383)."""
    kind: EntryKind
    size: int | None = None
    """Bytes; None: not looked at yet."""
    mtime_ns: int | None = None
    """Nanoseconds since the epoch; None: not looked at yet."""


RECOVERED = "recovered after a crash"
"""The note of an event whose process died before it could record it."""
ABORTED = "aborted by a crash: not done"
"""The note of an event whose process died before it was done."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A program that acts through the engine; its model and its session (the conversation) are given where known."""

    name: str
    model: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Person:
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
NOT_CHANGES = NEVER_TAKEN_BACK | {"undo", "redo"}
"""Commands of events that are not among the changes of an actor; undos are taken back one by one."""


@dataclass(frozen=True, slots=True)
class Version:
    """What a path held at one time. Versions of the same content are equal, whatever their attributes are.

    Attributes:
        kind: File, directory, link or other.
        sha256: Of a file's bytes or a link's target, in hexadecimal; `None` for anything else, and for a file too
            large to read.
        size: Bytes of a file; 0 for anything else.
        attributes: Its permissions and its time, as far as they are known.
    """

    kind: EntryKind
    sha256: str | None = None
    size: int = 0
    attributes: Attributes = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class Change:
    """One path's change within an event; the path is relative to the folder, `None` is no file."""

    path: str
    before: Version | None
    after: Version | None

    @property
    def is_directory(self) -> bool:
        """Whether a directory comes, goes or moves."""
        version = self.after or self.before
        return version is not None and version.kind is EntryKind.DIRECTORY


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
    def label(self) -> str:
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
            `protect`, `unprotect`, `pin`, `unpin` or `dismiss` (an alarm about a loss); for changes seen from outside
            `created`, `modified`, `deleted`, `renamed`, or `found` for what was there when memtui first looked; `began`
            for a journal that begins where another one was set aside; `repair` where tables of the journal were made
            anew from its events, and `adopt` where it began to record what guards memories.
        path: What the command named, canonical (`/memories/...`) where it is valid, else as given.
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
        noted: What it sets of what guards memories, as name and whole value; see `memtui.core.guards`.
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
    noted: tuple[tuple[str, str], ...] = ()
    hash: str = field(default="", compare=False)

    @property
    def at(self) -> "datetime":
        from datetime import UTC, datetime  # noqa: PLC0415 - start-up: 1 ms, and a hook tells no time

        return datetime.fromtimestamp(self.at_us / 1e6, UTC)

    @property
    def is_outside(self) -> bool:
        return isinstance(self.actor, Outside)

    @property
    def result(self) -> Result:
        if self.is_error:
            if self.changes:
                return Result.UNCERTAIN
            return Result.ABORTED if self.aborted else Result.REFUSED
        if self.is_outside or self.command == "imported":
            return Result.SEEN
        return Result.NO_CHANGE if self.no_change else Result.OK


class PendingEvent(Protocol):
    """An event that is recorded in a moment."""

    def wait(self) -> Event:
        """The event as it was recorded: now, if it is not yet."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a command.

    Attributes:
        text: For the model.
        is_error: Whether it is a refusal or a fault.
        recorded: The event as it was recorded, or one that is recorded in a moment: see `event`.
        image: What was viewed, where that is an image: it belongs behind the text.
        refusal: The name of the message that the text is, such as `PROTECTED`, where the command was refused.
    """

    text: str
    is_error: bool
    recorded: Event | PendingEvent
    image: "Image | None" = None
    refusal: str = ""

    @property
    def event(self) -> Event:
        """The event as it was recorded. That of a view is recorded behind the answer, or at once if it is asked for."""
        return self.recorded if isinstance(self.recorded, Event) else self.recorded.wait()


def sha256(data: bytes) -> str:
    """The hash that a version of a file is known by, in hexadecimal."""
    return hash_bytes(data)


# Names of actors.

_OTHER = "other"
"""Another program, where a narrow column names it."""
_OURS = frozenset({*(actor.name for actor in (Person(), Outside(), Memtui())), "outside memtui", "another program", ""})


def format_actor_name(actor: Actor) -> str:
    """The name of an actor for people.

    An agent chooses its own name: one that calls itself `you` is shown as `agent:you`; only the person is `you`.
    """
    if isinstance(actor, Agent) and _normalize_name(actor.name) in _OURS:
        return f"agent:{actor.name}"
    return actor.name


def shorten_actor_name(name: str) -> str:
    """The name that `format_actor_name` gives, for a narrow column: `other` for another program."""
    if name == Outside().name:
        return _OTHER
    return f"agent:{name}" if _normalize_name(name) == _OTHER else name


def _normalize_name(name: str) -> str:
    """A name as an eye takes it: without what cannot be seen, and whatever its letters are made of."""
    seen = (character for character in name if unicodedata.category(character) not in ("Cf", "Cc"))
    return " ".join(unicodedata.normalize("NFKC", "".join(seen)).casefold().split())


def format_actor_in_sentence(actor: Actor) -> str:
    """The same, where there is no column that says what it is: `another program`."""
    return "another program" if isinstance(actor, Outside) else format_actor_name(actor)


# Squashed changes, and the last change of a file.


@dataclass(frozen=True, slots=True)
class LastChange:
    """The last change of a file.

    Attributes:
        diff: The change as a unified diff; empty where there are no two texts to compare.
        lines: Numbers (from 1) of the lines that are new or changed; empty for a file that was new.
    """

    event: Event
    diff: tuple[str, ...] = ()
    lines: frozenset[int] = frozenset()


def squash_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """One change for each path, from what was there before the first to what is there after the last."""
    found: dict[str, Change] = {}
    for change in changes:
        first = found.get(change.path)
        found[change.path] = change if first is None else Change(change.path, first.before, change.after)
    return tuple(found.values())


# Imported changes: those that an agent's session file tells of, recorded later as events that changed nothing.

IMPORTED = "imported"
"""The command of such an event. Its `viewed` is the text that stood there afterwards, where that is known."""
MAX_PROMPT = 2_000
"""Characters of a prompt that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedDetails:
    """What an imported event tells besides its text.

    Attributes:
        at_us: When it happened, in microseconds since 1970 (UTC); 0 if that is not told.
        tool: The tool's name, such as `Write`.
        prompt: What the person had asked for last; cut where it is long, empty if that is not told.
        source: The name of the session file, without its directory, or the commit.
        line: In which line of it, from 1; 0 for a commit.
        is_before: Whether its text is the one that stood there before the call, and not after it.
        is_gone: Whether nothing stood there afterwards.
        moved_from: Its path before, where it was moved here.
        moved_to: Its path since, where it was moved away within the folder.
    """

    at_us: int
    tool: str = ""
    prompt: str = ""
    source: str = ""
    line: int = 0
    is_before: bool = False
    is_gone: bool = False
    moved_from: str = ""
    moved_to: str = ""

    @property
    def origin(self) -> str:
        """Where it is told: the session file with its line, or the commit."""
        return f"{self.source}:{self.line}" if self.line else self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedChange(ImportedDetails):
    """One change as a session file tells it.

    Attributes:
        path: Relative to the folder.
        call_id: The model's id of the tool call.
        after: The text that stood there afterwards; `None` if it cannot be told, or for nothing.
        before: The text that stood there before; `None` for nothing, or if it cannot be told.
    """

    path: str
    agent: Agent
    call_id: str
    after: bytes | None = None
    before: bytes | None = None


def encode_imported_details(change: ImportedChange, *, is_before: bool = False) -> str:
    """What is kept beside an imported event."""
    import json  # noqa: PLC0415 - start-up: not before the first paint

    kept: dict[str, object] = {
        "at_us": change.at_us,
        "tool": change.tool,
        "prompt": change.prompt[:MAX_PROMPT],
        "source": change.source,
        "line": change.line,
        "is_before": is_before,
    }
    if not is_before:
        more = {"is_gone": change.is_gone, "moved_from": change.moved_from, "moved_to": change.moved_to}
        kept |= {name: value for name, value in more.items() if value}
    return json.dumps(kept, ensure_ascii=True, separators=(",", ":"))


def decode_imported_details(event: Event) -> ImportedDetails | None:
    """What an imported event tells; `None` if it is none, or if that was redacted."""
    if event.command != IMPORTED or event.arguments is None:
        return None
    import json  # noqa: PLC0415 - start-up: not before the first paint

    try:
        kept = json.loads(event.arguments)
        return ImportedDetails(
            at_us=int(kept["at_us"]),
            tool=str(kept["tool"]),
            prompt=str(kept["prompt"]),
            source=str(kept["source"]),
            line=int(kept["line"]),
            is_before=bool(kept["is_before"]),
            is_gone=bool(kept.get("is_gone")),
            moved_from=str(kept.get("moved_from", "")),
            moved_to=str(kept.get("moved_to", "")),
        )
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


# The state of the watcher, for screens that do not load it.


class WatchMode(Enum):
    LIVE = "live"
    POLLING = "polling"
    GONE = "gone"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """How changes are noticed now, and why not better, as a sentence for a person."""

    mode: WatchMode
    reason: str = ""
