"""What threads tell the history screen."""

from collections.abc import Sequence

from textual.message import Message

from memtui.core.history import PathVersion
from memtui.ui.history import comparing


class Recorded(Message):
    """Something was recorded in this memory: there may be another version."""

    def can_replace(self, message: Message) -> bool:
        """Once is enough."""
        return isinstance(message, Recorded)


class VersionsRead(Message):
    """The versions of the path were read."""

    def __init__(self, versions: Sequence[PathVersion], head: int, *, complete: bool) -> None:
        """Tell them.

        Args:
            versions: Newest first.
            head: The number of the last event before they were read.
            complete: Whether they are all of them.
        """
        super().__init__()
        self.versions = versions
        self.head = head
        self.complete = complete


class Compared(Message):
    """Two versions were compared."""

    def __init__(self, compared: comparing.Compared) -> None:
        """Tell how they differ."""
        super().__init__()
        self.compared = compared


class Done(Message):
    """What the person asked for was done, or not."""

    def __init__(self, words: str, *, is_warning: bool = False) -> None:
        """Tell it in a sentence."""
        super().__init__()
        self.words = words
        self.is_warning = is_warning
