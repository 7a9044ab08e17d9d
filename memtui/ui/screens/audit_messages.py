"""Messages of the audit's workers to its screen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.audit.model import Audit, AuditFinding
from memtui.core.history import SurroundingCalls
from memtui.core.lazy_dataclass import dataclass
from memtui.review.inbox import ChangedFile, Inbox
from memtui.review.inspection import ChangeComparison
from memtui.ui.widgets.diff.layout import DiffComparison

if TYPE_CHECKING:
    from textual.worker import Worker


@dataclass(kw_only=True)
class AuditMessage(Message):
    """A message of one audit.

    Attributes:
        worker: The worker of the audit; messages of cancelled and replaced ones are ignored.
    """

    worker: "Worker[None] | None" = None


class AuditStarted(AuditMessage):
    """The folder is open."""


@dataclass
class AuditProgressed(AuditMessage):
    """The progress of the audit, see `AuditCallbacks`."""

    what: str
    done: int
    of: int

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, AuditProgressed) and message.worker is self.worker


@dataclass
class InboxRead(AuditMessage):
    """The changes since the last review were read."""

    inbox: Inbox


@dataclass
class FamilyChecked(AuditMessage):
    """A family of rules was checked."""

    findings: Sequence[AuditFinding]


@dataclass
class AuditFinished(AuditMessage):
    """The audit is done."""

    audit: Audit


@dataclass
class AuditFailed(AuditMessage):
    """The audit failed, as sentences say."""

    words: str


class FolderChanged(Message):
    """Something in the folder changed."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, FolderChanged)


@dataclass
class TextRead(Message):
    """A note was read; `text` is `None` if it is no text, or if it could not be read, as a sentence says."""

    path: str
    text: str | None
    problem: str


@dataclass
class ChangeRead(Message):
    """A changed file was compared."""

    file: ChangedFile
    comparison: ChangeComparison
    drawn: DiffComparison | None
    """The same for the widget, masked unless secrets are revealed."""
    is_masked: bool
    """Whether the texts hold secrets."""
    is_revealed: bool
    links: str
    """Which links the change added and removed, as sentences."""


@dataclass
class CallsRead(Message):
    """The calls around an event were read."""

    calls: SurroundingCalls
