"""Getting things back, as values: what was put back, what was left as it is, and why."""

from dataclasses import dataclass
from enum import Enum

from memtui.core.actors import named_in_a_sentence
from memtui.core.events import Change, Event
from memtui.core.visible import one_line


class Why(Enum):
    """Why a path is left as it is."""

    CHANGED = "has changed since"
    """What stands there is not what was left there."""
    TEXT_GONE = "was, but its text is not kept any more"
    """The version was redacted, or was too large to be kept."""
    NO_FILE = "was a FIFO, a socket or a device, which is not made again"
    IN_THE_WAY = "cannot stand there: something else is in its way"
    """A file stands where a directory is needed, or the other way round."""
    UNREADABLE = "cannot be looked at"
    NOT_WRITTEN = "could not be written"
    """The system refused; the words say why."""
    MISSING = "is not there"
    """Nothing stands where something was to be moved, copied or deleted."""
    TAKEN = "is there already"
    """Something stands at a name that was to be new."""
    TWICE = "is wanted for two things"
    INTO_ITSELF = "cannot be put into itself"
    BAD_NAME = "cannot be a name here"
    """It would deceive the eye, or no agent could ever name it; the words say why."""
    PROTECTED = "is protected by the person"
    """Said to an agent; no person is ever told so."""
    STOPPED = "was left as it was when it was stopped"


@dataclass(frozen=True, slots=True)
class Left:
    """One path that is left as it is.

    Attributes:
        path: Relative to the folder.
        why: The reason.
        since: The event that changed it meanwhile, where one is known.
        detail: More on it, such as the system's words; empty if there is no more.
    """

    path: str
    why: Why
    since: Event | None = None
    detail: str = ""

    @property
    def sentence(self) -> str:
        """Path and reason, such as `scratch.txt has changed since (Claude, 10:16)`; safe to show, without a stop."""
        words = f"{one_line(self.path) or 'the folder'} {self.why.value}"
        if self.since is not None:
            words += f" ({one_line(named_in_a_sentence(self.since.actor))}, {self.since.at.astimezone():%H:%M})"
        return words + (f": {one_line(self.detail)}" if self.detail else "")


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of putting something back.

    Attributes:
        changes: What was changed; of a rehearsal, what would be.
        left: What was not, path by path.
        event: What was recorded; `None` where nothing was changed.
        problem: Why nothing was done, as a sentence; empty if it was done, or if there was nothing to do.
    """

    changes: tuple[Change, ...] = ()
    left: tuple[Left, ...] = ()
    event: Event | None = None
    problem: str = ""
