"""Facts that threads tell the audit's screen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.audit.audit import Audit
from memtui.audit.findings import Finding
from memtui.audit.inbox import ChangedFile, Inbox
from memtui.ui.diff.layout import Comparison as Drawn

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.ui.audit.inspection import Calls, Comparison


class OfLook(Message):
    """A fact of one look at the folder.

    Attributes:
        look: Which look: of one that was stopped, or that another one took the place of, nothing is wanted any more.
    """

    look: object = None


class Begun(OfLook):
    """The folder is open."""


class Progressed(OfLook):
    """The audit is further."""

    def __init__(self, what: str, done: int, of: int) -> None:
        """Tell how far."""
        super().__init__()
        self.what = what
        self.done = done
        self.of = of

    def can_replace(self, message: Message) -> bool:
        """Only the last one matters."""
        return isinstance(message, Progressed) and message.look is self.look


class InboxRead(OfLook):
    """It is known what changed since the last review."""

    def __init__(self, inbox: Inbox) -> None:
        """Tell what."""
        super().__init__()
        self.inbox = inbox


class FamilyLooked(OfLook):
    """A family of rules has looked."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        """Tell what it found."""
        super().__init__()
        self.findings = findings


class Looked(OfLook):
    """The audit is done."""

    def __init__(self, audit: Audit) -> None:
        """Tell what came of it."""
        super().__init__()
        self.audit = audit


class Ended(OfLook):
    """The audit could not be made."""

    def __init__(self, words: str) -> None:
        """Tell why, in sentences."""
        super().__init__()
        self.words = words


class Changed(Message):
    """Something in the folder changed."""

    def can_replace(self, message: Message) -> bool:
        """Once is enough."""
        return isinstance(message, Changed)


class TextRead(Message):
    """What a note says is known."""

    def __init__(self, path: str, text: str | None, problem: str) -> None:
        """Tell it.

        Args:
            path: Which note.
            text: What it says; `None` if it is no text.
            problem: Why it could not be read, as a sentence.
        """
        super().__init__()
        self.path = path
        self.text = text
        self.problem = problem


class ChangeRead(Message):
    """A changed file is compared, and made ready to be drawn."""

    def __init__(
        self, file: ChangedFile, comparison: "Comparison", drawn: Drawn | None, *, is_masked: bool, reveals: bool
    ) -> None:
        """Tell what differs.

        Args:
            file: Which.
            comparison: What differs.
            drawn: The same for the widget, masked unless somebody asked.
            is_masked: Whether there is anything to mask.
            reveals: Whether somebody asked.
        """
        super().__init__()
        self.file = file
        self.comparison = comparison
        self.drawn = drawn
        self.is_masked = is_masked
        self.reveals = reveals


class CallsRead(Message):
    """It is known what was done around an event."""

    def __init__(self, calls: "Calls") -> None:
        """Tell what."""
        super().__init__()
        self.calls = calls
