"""Facts that threads tell the screens. A thread never touches a widget; it posts one of these."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.core.changes import LastChange
from memtui.core.events import Event
from memtui.core.history import Blame
from memtui.core.losses import Loss
from memtui.core.snapshot import Entry
from memtui.core.watching import Watching

if TYPE_CHECKING:  # the engine is loaded by the session's thread, behind the first paint
    from memtui.engine import Seen


class Opened(Message):
    """The folder was opened and its names were read."""

    def __init__(
        self,
        entries: Sequence[Entry],
        recent: Sequence[Event],
        unseen: Sequence[Event],
        last: int,
        *,
        complete: bool,
    ) -> None:
        """Tell what is there.

        Args:
            entries: Every name in the folder.
            recent: The newest events, oldest first.
            unseen: The events since the person last marked everything as seen.
            last: The number of the last event by then.
            complete: Whether the folder was looked at as a whole before.
        """
        super().__init__()
        self.complete = complete
        self.entries = entries
        self.recent = recent
        self.unseen = unseen
        self.last = last


class FolderShown(Message):
    """A folder is on screen."""


class FolderWanted(Message):
    """The person wants another folder."""

    def __init__(self, path: str) -> None:
        """Tell which."""
        super().__init__()
        self.path = path


class ChatWanted(Message):
    """The person wants to chat, with a folder as the memory."""

    def __init__(self, path: str) -> None:
        """Tell with which."""
        super().__init__()
        self.path = path


class Told(Message):
    """Somebody has something to say that needs no answer."""

    def __init__(self, words: str) -> None:
        """Tell it."""
        super().__init__()
        self.words = words


class Trouble(Message):
    """Something cannot be done; the person should know."""

    def __init__(self, reason: str) -> None:
        """Tell what and why, in sentences."""
        super().__init__()
        self.reason = reason


class Unrecorded(Message):
    """The journal cannot be written: the folder can be looked at, and no more."""

    def __init__(self, reason: str, *, history: bool) -> None:
        """Tell why.

        Args:
            reason: In a sentence.
            history: Whether the journal can at least be read.
        """
        super().__init__()
        self.reason = reason
        self.history = history


class LossChanged(Message):
    """Much has gone at once; or it is back, or was dismissed."""

    def __init__(self, loss: Loss | None) -> None:
        """Tell what is missing."""
        super().__init__()
        self.loss = loss


class Blamed(Message):
    """It is known who wrote which line of a text."""

    def __init__(self, path: str, data: bytes, blame: Blame) -> None:
        """Tell who.

        Args:
            path: Where the text stands, relative to the folder.
            data: The text.
            blame: Its lines.
        """
        super().__init__()
        self.path = path
        self.data = data
        self.blame = blame


class Happened(Message):
    """Events were recorded, by this process or another."""

    def __init__(self, events: Sequence[Event], files: int, size: int, *, complete: bool) -> None:
        """Tell which.

        Args:
            events: In order.
            files: How many files are known now.
            size: Their bytes.
            complete: Whether every file is known: the first look at a folder takes its time.
        """
        super().__init__()
        self.complete = complete
        self.events = events
        self.files = files
        self.size = size


class WatchingChanged(Message):
    """Changes are noticed in another way now."""

    def __init__(self, watching: Watching) -> None:
        """Tell how."""
        super().__init__()
        self.watching = watching


class LookedAt(Message):
    """Sizes and times of entries that are on screen."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Tell them."""
        super().__init__()
        self.entries = entries


class Read(Message):
    """What stands at a path was read for the preview."""

    def __init__(
        self, path: str, seen: "Seen", *, as_model: str | None, change: LastChange | None, again: bool
    ) -> None:
        """Tell what.

        Args:
            path: Which, relative to the folder.
            seen: What stands there.
            as_model: The answer of `view`, where it was asked for.
            change: Its last change, if one is recorded.
            again: Whether it was on screen already and has changed.
        """
        super().__init__()
        self.path = path
        self.seen = seen
        self.as_model = as_model
        self.change = change
        self.again = again
