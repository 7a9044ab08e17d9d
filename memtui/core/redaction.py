"""Forgetting, as values: what was removed from the record for good, and what could not be."""

from dataclasses import dataclass

from memtui.core.events import Change, Event


@dataclass(frozen=True, slots=True)
class Redacted:
    """What came of removing a text from history and file.

    Attributes:
        texts: Texts that were removed: versions, answers and arguments.
        bytes: Of them together, before they were packed.
        events: The numbers of the events whose texts they were.
        changes: What was changed in the folder, so that the text is not there either.
        left: What could not be removed, as sentences.
        also: What went along although it was not meant, as sentences.
        event: What was recorded; `None` where nothing was removed.
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
class Pruned:
    """What came of removing old texts.

    Attributes:
        texts: Texts that were removed.
        bytes: Of them together, as they were kept.
        kept_bytes: Bytes of the texts that are still kept.
        events: What was recorded.
    """

    texts: int = 0
    bytes: int = 0
    kept_bytes: int = 0
    events: tuple[Event, ...] = ()
