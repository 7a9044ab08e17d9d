"""The errors that memtui raises: one small tree, each carrying the words that its reader is shown.

`str(error)` is always a sentence for a person. A `Refusal` is for the caller of a command, often a model: its words are
in the table in `memtui.core.messages`, so that no two places can word one refusal differently.
"""

from memtui.core.messages import MessageKey, Profile, format_message


class MemtuiError(Exception):
    """Base of everything that memtui raises on purpose."""


class Refusal(MemtuiError):
    """A command that is answered with an error, by a row of the message table, and that has changed nothing."""

    def __init__(self, message: MessageKey, **values: object) -> None:
        super().__init__(format_message(message, **values))
        self.message = message
        self.values = values

    def format_text(self, profile: Profile) -> str:
        return format_message(self.message, profile, **self.values)


class SymlinkEscape(MemtuiError):
    """A link on the way to a path leads out of the memory folder."""


class FolderMissing(MemtuiError):
    """There is no memory folder where one was expected, or it has gone or been replaced."""


class StateUnusable(MemtuiError):
    """The journal cannot be kept where it should be; the words say where and why.

    Attributes:
        errno: The number of the fault, as of an `OSError`, where the database says which; else `None`.
    """

    errno: int | None = None


class ServerUnusable(StateUnusable):
    """The server that keeps the record cannot be used now. Only the words up to the first colon are for agents."""


class Unreachable(ServerUnusable):
    """The server cannot be reached, or does not answer in time: it may at another moment."""


class RemoteRefused(ServerUnusable):
    """A hosted store refused a request, or cannot be reached: nothing was changed. All of the words are for agents."""


class JournalDamaged(StateUnusable):
    """The journal's file is damaged: it cannot be read as what it was."""


class LockTimeout(MemtuiError):
    """Another process held the writer lock for longer than a command may wait."""


class UnconfirmedChange(MemtuiError):
    """A change was applied, but the system could not confirm that it is on the disk."""


class UnsettledChange(MemtuiError):
    """A change is neither done nor undone: whoever writes next settles which, and its intent stays till then."""


class OutcomeUnknown(UnsettledChange):
    """The server went away before it answered: a change was recorded there, or not. Its record tells later."""


class ChangeRolledBack(MemtuiError):
    """A change was made and taken back, as it could not be recorded; the words say why. Nothing was changed."""


class StaleApproval(MemtuiError):
    """What was approved is not what the command would do by now. Nothing was changed."""


class MemoryClosed(MemtuiError):
    """The memory was used after `close()`."""
