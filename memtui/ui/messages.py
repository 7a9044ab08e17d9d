"""Facts that threads tell the screens. A thread never touches a widget; it posts one of these."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import Event, FolderEntry, LastChange, WatchStatus
from memtui.core.history import Blame
from memtui.core.lazy_dataclass import dataclass
from memtui.core.mass_loss import MassLoss

if TYPE_CHECKING:  # the engine is loaded by the session's thread, behind the first paint
    from memtui.agents.remote_approval import ApprovalQuestion
    from memtui.engine import PathContent
    from memtui.places.dialects import Dialect

READ_ONLY = "Read-only. Start without --read-only to edit."
"""What a key that would change something answers, if there is nothing else to say."""
APPROVAL_BANNER = "asked-elsewhere"
"""The name of the banner; a chat has a widget called `question`."""


@contextmanager
def report_errors(post: Callable[[Message], object]) -> Iterator[None]:
    """Post errors of the memory and of the disk as `FailureReported`, from any thread; a closed memory is none."""
    try:
        yield
    except MemoryClosed:
        pass
    except (MemtuiError, OSError) as error:
        post(FailureReported(str(error)))


@dataclass(eq=False)
class FolderOpened(Message):
    """The folder was opened and its names were read."""

    entries: Sequence[FolderEntry]
    recent: Sequence[Event]
    """The newest events, oldest first."""
    unseen: Sequence[Event]
    """The events since the person last marked everything as seen."""
    last: int
    """The number of the last event."""
    complete: bool
    """Whether the folder was looked at as a whole before."""


@dataclass(eq=False)
class DialectFound(Message):
    """It is known whose memory folder it is, and what its files are to that agent."""

    dialect: "Dialect"


class HomeRequested(Message):
    """The person wants to go back from where no link led."""


class FolderShown(Message):
    """A folder is on screen."""


@dataclass(eq=False)
class FolderRequested(Message):
    """The person wants another folder."""

    path: str


@dataclass(eq=False)
class ChatRequested(Message):
    """The person wants to chat, with a folder as the memory."""

    path: str


@dataclass(eq=False)
class NoticePosted(Message):
    """A sentence for the person that needs no answer."""

    words: str


@dataclass
class PromptOffered(Message):
    """A text for the message box of a conversation, which nobody has sent."""

    text: str


@dataclass(eq=False)
class FailureReported(Message):
    """An operation failed; the reason is in sentences for the person."""

    reason: str


@dataclass(eq=False)
class RecordingFailed(Message):
    """The journal cannot be written: the session is read-only."""

    reason: str
    history: bool
    """Whether the journal can be read."""


@dataclass(eq=False)
class LossChanged(Message):
    """Much has gone at once; or it is back, or was dismissed."""

    loss: MassLoss | None


@dataclass(eq=False)
class BlameRead(Message):
    """The author of each line of a text."""

    path: str
    data: bytes
    blame: Blame


@dataclass(eq=False)
class EventsRecorded(Message):
    """Events were recorded, by this process or another."""

    events: Sequence[Event]
    """In order."""
    files: int
    size: int
    """Bytes of all files."""
    complete: bool
    """Whether every file is known: the first look at a folder takes its time."""
    temporary: Collection[str] = ()
    """Temporary names that are gone: what had them is a note now."""


@dataclass(eq=False)
class WatchingChanged(Message):
    """Changes are noticed in another way now."""

    watching: WatchStatus


@dataclass(eq=False)
class EntryDetailsRead(Message):
    """Sizes and times of entries that are on screen."""

    entries: Sequence[FolderEntry]


@dataclass(eq=False)
class EntryRead(Message):
    """The content of a path, read for the preview."""

    path: str
    seen: "PathContent"
    as_model: str | None
    """The answer of `view`, where it was asked for."""
    change: LastChange | None
    again: bool
    """Whether it was on screen already and has changed."""


@dataclass(eq=False)
class RemoteApprovalRequested(Message):
    """Another process asks whether its change may be made."""

    question: "ApprovalQuestion"


@dataclass(eq=False)
class RemoteApprovalEnded(Message):
    """A question needs no answer any more: who asked is gone, or has waited long enough."""

    question: "ApprovalQuestion"
