"""What a path has been through, as values: the rows of its history, the lines of its blame, what is gone."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memtui.core.events import Actor, Event, Version
from memtui.core.told import Circumstances

_NO_WRITING = frozenset({"found", "restore", "undo", "redo"})


@dataclass(frozen=True, slots=True)
class PathVersion:
    """One change of one path: a row of its history.

    Attributes:
        event: What happened.
        path: What the path is called after the event; for a deletion, what it was called. Relative to the folder.
        before: What was there; `None` for nothing.
        after: What is there since; `None` if it was deleted, or moved away. Its text may be told by nobody.
        moved_from: What it was called before, where the event moved it here.
        moved_to: What it is called since, where the event moved it away from `path`.
        told: What a session file told of it afterwards; `None` if none did.
        told_by: The event by which that was recorded, where `event` is another one.
    """

    event: Event
    path: str
    before: Version | None
    after: Version | None
    moved_from: str | None = None
    moved_to: str | None = None
    told: Circumstances | None = None
    told_by: Event | None = None

    @property
    def actor(self) -> Actor:
        """Who, as far as anything tells it."""
        return (self.told_by or self.event).actor

    @property
    def at_us(self) -> int:
        """When it happened, in microseconds since 1970 (UTC); when it was recorded, where nothing else is known."""
        if self.told is not None and self.told_by is None and self.told.at_us:
            return self.told.at_us
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
class Deleted:
    """A path that was there once and is not now.

    Attributes:
        path: Relative to the folder.
        version: What it held last.
        event: What removed it.
        kept: Whether its text is kept, so that it can be restored.
        told_us: When a session file last told of it, in microseconds since 1970, where nobody saw it go; else `None`.
    """

    path: str
    version: Version
    event: Event
    kept: bool
    told_us: int | None = None


def is_unwritten(event: Event | None) -> bool:
    """Whether an event does not tell who wrote a line: nobody saw it come, or it only came back."""
    return event is None or event.is_outside or event.command in _NO_WRITING


@dataclass(frozen=True, slots=True)
class Blame:
    """Who wrote each line.

    Attributes:
        lines: For each line, the event that wrote it, or `None` if that is not known.
        complete: Whether every earlier text was there to be compared. If not, a line may be older than its event.
        told: For each line, the write that a session file tells of; empty where that was not asked for.
        prompts: What the person had asked for when a call was made, by the number of its event, as far as it is known.
    """

    lines: tuple[Event | None, ...]
    complete: bool = True
    told: tuple[PathVersion | None, ...] = ()
    prompts: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Share:
    """What one path or one actor has in the record.

    Attributes:
        name: The path, relative to the folder, or the actor's name as it is shown.
        events: Events about it, or by it.
        changes: Changes of paths among them.
        versions: Different texts.
        bytes: Of those texts together, before they are packed.
    """

    name: str
    events: int
    changes: int
    versions: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Stats:
    """The record in numbers.

    Attributes:
        events: How many.
        versions: Different texts that are named, redacted ones included.
        redacted: How many of them are not kept any more.
        text_bytes: Of the kept texts, before they are packed.
        kept_bytes: Of the kept texts, as they are packed.
        journal_bytes: Of the journal's files; 0 where it is kept in memory.
        paths: The shares of paths, the largest first.
        actors: The shares of actors, the most events first.
        first: The first event; `None` if there is none.
        last: The last event.
    """

    events: int
    versions: int
    redacted: int
    text_bytes: int
    kept_bytes: int
    journal_bytes: int
    paths: tuple[Share, ...]
    actors: tuple[Share, ...]
    first: Event | None
    last: Event | None
