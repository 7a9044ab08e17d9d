"""The errors that memtui raises: one small tree, each carrying the words that its reader is shown.

`str(error)` is always a sentence for a person. A `Refusal` is for the caller of a command, often a model: its
words come from the table in `memtui.core.messages`, so that no two places can word one refusal differently.
"""

from memtui.core.messages import Message, Profile, say


class MemtuiError(Exception):
    """Base of everything that memtui raises on purpose."""


class Refusal(MemtuiError):
    """A command that is answered with an error, and that has changed nothing.

    Attributes:
        message: Which row of the message table answers it.
        values: What the row's fields are filled with.
    """

    def __init__(self, message: Message, **values: object) -> None:
        super().__init__(say(message, **values))
        self.message = message
        self.values = values

    def text(self, profile: Profile) -> str:
        """The answer in the words of a profile."""
        return say(self.message, profile, **self.values)


class LeavesRoot(MemtuiError):
    """A link on the way to a path leads out of the memory folder."""


class FolderMissing(MemtuiError):
    """There is no memory folder where one was expected, or it has gone or been replaced."""


class StateUnusable(MemtuiError):
    """The journal cannot be kept where it should be; the words say where and why."""


class JournalDamaged(StateUnusable):
    """The journal's file is damaged: it cannot be read as what it was."""


class Busy(MemtuiError):
    """Another process held the writer lock for longer than a command may wait."""


class Uncertain(MemtuiError):
    """A change was applied, but the system could not confirm that it is on the disk."""


class ChangedMeanwhile(MemtuiError):
    """What was approved is not what the command would do by now. Nothing was changed."""


class Closed(MemtuiError):
    """The memory was used after `close()`."""
