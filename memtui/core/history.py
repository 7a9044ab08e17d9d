"""What a path has been through, as values: the rows of its history, the lines of its blame, what is gone."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum

from memtui.core.events import Actor, Change, EntryKind, Event, ImportedDetails, Version, format_actor_in_sentence
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line

_NO_WRITING = frozenset({"found", "restore", "undo", "redo"})


@dataclass(frozen=True, slots=True)
class PathVersion:
    """One change of one path: a row of its history.

    Attributes:
        path: The path after the event; of a deletion, before it. Relative to the folder.
        before: `None` for nothing.
        after: `None` if it was deleted, or moved away. Its text may be unknown.
        moved_from: Its path before, where the event moved it here.
        moved_to: Its path since, where the event moved it away from `path`.
        imported: What a session file tells of it; `None` if none does.
        imported_by: The event by which that was recorded, where `event` is another one.
    """

    event: Event
    path: str
    before: Version | None
    after: Version | None
    moved_from: str | None = None
    moved_to: str | None = None
    imported: ImportedDetails | None = None
    imported_by: Event | None = None

    @property
    def actor(self) -> Actor:
        return (self.imported_by or self.event).actor

    @property
    def at_us(self) -> int:
        """When it happened, in microseconds since 1970 (UTC); when it was recorded, where nothing else is known."""
        if self.imported is not None and self.imported_by is None and self.imported.at_us:
            return self.imported.at_us
        return self.event.at_us

    @property
    def sign(self) -> str:
        """`+` new, `~` changed, `-` deleted, `>` renamed."""
        if self.moved_from is not None or self.moved_to is not None:
            return ">"
        if self.after is None:
            return "-"
        return "+" if self.before is None else "~"


@dataclass(frozen=True, slots=True)
class DeletedPath:
    """A path that was there once and is not now, its last version and the event that removed it.

    Attributes:
        is_stored: Whether its text is kept, so that it can be restored.
        imported_us: When a session file last tells of it, in microseconds since 1970; `None` if its end was seen.
    """

    path: str
    version: Version
    event: Event
    is_stored: bool
    imported_us: int | None = None


def has_unknown_author(event: Event | None) -> bool:
    """Whether an event does not tell who wrote a line: nobody saw it come, or it only came back."""
    return event is None or event.is_outside or event.command in _NO_WRITING


@dataclass(frozen=True, slots=True)
class Blame:
    """Who wrote each line.

    Attributes:
        lines: For each line, the event that wrote it, or `None` if that is not known.
        complete: Whether every earlier text was there to be compared. If not, a line may be older than its event.
        imported: For each line, the write that a session file tells of; empty where that was not asked for.
        prompts: The person's request before a call, by the number of its event, as far as it is known.
    """

    lines: tuple[Event | None, ...]
    complete: bool = True
    imported: tuple[PathVersion | None, ...] = ()
    prompts: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatsEntry:
    """The share of one path (relative to the folder) or one actor (its name) in the record.

    `versions` are different texts, `bytes` theirs together before they are packed.
    """

    name: str
    events: int
    changes: int
    versions: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Stats:
    """The record in numbers; paths by size, actors by events.

    Attributes:
        versions: Different texts that are named, redacted ones included.
        redacted: How many of them are not kept any more.
        text_bytes: Of the kept texts, before they are packed.
        kept_bytes: Of the kept texts, as they are packed.
        journal_bytes: Of the journal's files; 0 where it is kept in memory.
    """

    events: int
    versions: int
    redacted: int
    text_bytes: int
    kept_bytes: int
    journal_bytes: int
    paths: tuple[StatsEntry, ...]
    actors: tuple[StatsEntry, ...]
    first: Event | None
    last: Event | None


# Results of restoring and undoing.


class SkipReason(Enum):
    CHANGED = "has changed since"
    """What stands there is not what was left there."""
    TEXT_GONE = "is no longer kept in the history"
    """The version was redacted or pruned."""
    NEVER_KEPT = "was never kept in the history"
    """The version was too large to be read, or could not be; the words say its size."""
    NO_FILE = "was a FIFO, a socket or a device, which cannot be restored"
    IN_THE_WAY = "cannot be written: something else is in its way"
    """A file stands where a directory is needed, or the other way round."""
    UNREADABLE = "cannot be read"
    NOT_WRITTEN = "could not be written"
    """The system refused; the words say why."""
    MISSING = "does not exist"
    TAKEN = "already exists"
    """Something stands at a name that was to be new."""
    TWICE = "would be written twice"
    INTO_ITSELF = "cannot be put into itself"
    BAD_NAME = "is not a valid name"
    """It would deceive the eye, or no agent could ever name it; the words say why."""
    PROTECTED = "is protected by the person"
    """Said to an agent; no person is ever told so."""
    STOPPED = "was not changed before the stop"

    @property
    def is_final(self) -> bool:
        """Whether it cannot be had at any other moment either."""
        return self in {SkipReason.TEXT_GONE, SkipReason.NEVER_KEPT, SkipReason.NO_FILE}


@dataclass(frozen=True, slots=True)
class SkippedPath:
    """One path that is left as it is.

    Attributes:
        path: Relative to the folder.
        since: The event that changed it meanwhile, where one is known.
        detail: More on it, such as the system's words; empty if there is no more.
    """

    path: str
    reason: SkipReason
    since: Event | None = None
    detail: str = ""

    @property
    def sentence(self) -> str:
        """Path and reason, such as `scratch.txt has changed since (Claude, 10:16)`; safe to show, without a stop."""
        words = f"{to_one_line(self.path) or 'the folder'} {self.reason.value}"
        if self.since is not None:
            words += f" ({to_one_line(format_actor_in_sentence(self.since.actor))}, {self.since.at.astimezone():%H:%M})"
        return words + (f": {to_one_line(self.detail)}" if self.detail else "")


def describe_skipped(skipped: Sequence[SkippedPath]) -> str:
    """The first path that was left and why, one that another moment would change before all others; how many more."""
    more, first = len(skipped) - 1, min(skipped, key=lambda each: each.reason.is_final)
    return first.sentence + (f", and {more:,} more" if more else "")


def describe_rest(skipped: Sequence[SkippedPath]) -> str:
    """What an action that was done did not do, as a sentence without its stop."""
    is_final = all(each.reason.is_final for each in skipped)
    return f"{'Not restored' if is_final else 'Skipped'}: {describe_skipped(skipped)}"


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The outcome of a person's action.

    Attributes:
        changes: The changes made; of a rehearsal, those that would be.
        skipped: The paths that were left as they are.
        event: The recorded event; `None` where nothing was changed.
        problem: Why nothing was done, as a sentence; empty if it was done, or if there was nothing to do.
    """

    changes: tuple[Change, ...] = ()
    skipped: tuple[SkippedPath, ...] = ()
    event: Event | None = None
    problem: str = ""

    @property
    def unkept(self) -> int:
        """How many files go, or would go, whose text is not kept: they are too large to be read."""
        stays = {each.after for each in self.changes}  # that of what was moved is at its new path
        gone = (each.before for each in self.changes if each.after is None and each.before not in stays)
        return sum(each is not None and each.kind is EntryKind.FILE and each.sha256 is None for each in gone)


@dataclass(frozen=True, slots=True)
class SurroundingCalls:
    """The calls before and after a change, in the same session if that is known.

    Attributes:
        seq: The number of the event of the change.
        events: It and the events around it, oldest first.
        earlier: The number of further events before.
        later: The number of further events after.
        prompt: The person's prompt; empty if it is unknown.
    """

    seq: int
    events: Sequence[Event] = ()
    earlier: int = 0
    later: int = 0
    prompt: str = ""


# Results of redacting and pruning.


@dataclass(frozen=True, slots=True)
class RedactionResult:
    """The outcome of removing a text from history and files.

    Attributes:
        texts: How many were removed: versions, answers and arguments; `bytes` in all, before they were packed.
        events: The numbers of the events whose texts they were.
        changes: The changes in the folder, so that the text is not there either.
        left: What could not be removed, as sentences.
        also: What went along although it was not meant, as sentences.
        event: The recorded event; `None` where nothing was removed.
        problem: Why nothing was done, as a sentence; empty if it was.
    """

    texts: int = 0
    bytes: int = 0
    events: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()
    left: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    event: Event | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PruneResult:
    """The outcome of removing old texts: how many, their packed bytes, those still kept, and the events."""

    texts: int = 0
    bytes: int = 0
    kept_bytes: int = 0
    events: tuple[Event, ...] = ()
