"""Noticing that much has gone at once: a wipe is said as one, loudly, and not as many deletions."""

from dataclasses import dataclass

from memtui.core.events import Change, Event


@dataclass(frozen=True, slots=True)
class Loss:
    """Much that went within a short time.

    Attributes:
        first: The number of the first event of it.
        last: The number of the last one.
        event: The last event.
        changes: What went, one for each file: `after` is `None`, or much smaller than `before`.
        files: Files that there were before.
        bytes: Their bytes.
    """

    first: int
    last: int
    event: Event
    changes: tuple[Change, ...]
    files: int
    bytes: int

    @property
    def gone(self) -> int:
        """Files that are not there any more."""
        return sum(change.after is None for change in self.changes)

    @property
    def everything(self) -> bool:
        """Whether no file was left."""
        return self.gone == self.files
