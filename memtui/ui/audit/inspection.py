"""What the screen asks of an open folder that is audited and reviewed: one door, so that a test can stand behind it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memtui.audit.audit import Audit
from memtui.audit.findings import Finding
from memtui.audit.inbox import ChangedFile, ChangedHunk, Inbox, Mark, Verdict
from memtui.core.audit_settings import AuditSettings
from memtui.core.diffs import Difference
from memtui.core.events import Event
from memtui.core.restoring import Restored

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine, Observer

FORMATS = {"text": "txt", "md": "md", "html": "html", "json": "json", "sarif": "sarif"}
"""In which formats a report can be had, and how its file ends."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A changed file, compared.

    Attributes:
        difference: What differs; `None` where there is nothing to be shown line by line.
        hunks: Its hunks, with what was said of each.
        notice: Why there is nothing to show, in a few words.
        detail: More on it.
    """

    difference: Difference | None
    hunks: Sequence[ChangedHunk] = ()
    notice: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Calls:
    """What somebody did before and after a change: in the same conversation, where that is known.

    Attributes:
        seq: The number of the event that brought the change.
        events: It, and those around it that are told, the oldest first.
        earlier: How many more came before these.
        later: How many more came after them.
        prompt: What a person had asked for; empty if nothing tells.
    """

    seq: int
    events: Sequence[Event] = ()
    earlier: int = 0
    later: int = 0
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Telling:
    """How the screen hears of an audit while it goes on; called in the thread that does it.

    Attributes:
        progress: What is done, how many of it, and of how many.
        inbox: What changed, as soon as it is known.
        found: What a family found, as soon as it is known.
        stop: Whether nobody waits for it any more.
    """

    progress: Callable[[str, int, int], None]
    inbox: Callable[[Inbox], None]
    found: Callable[[Sequence[Finding]], None]
    stop: Callable[[], bool]


class Inspection(Protocol):
    """A folder that is audited and reviewed. Every method may take its time, and is called from a worker.

    Attributes:
        title: The folder as a person writes it.
        reviewer: Who reviews it.
        settings: How the audit is done.
        enforced: What the kernel enforces, or why it does not, as a sentence; empty in an ordinary session.
        review_place: Where marks are written, as a person writes it.
        is_confined: Whether the kernel enforces anything.
        reverts: Whether changes can be taken back: an ordinary session.
        observer: The open memory; `None` before it is open. Another one after each look.
    """

    title: str
    reviewer: str
    settings: AuditSettings
    enforced: str
    review_place: str
    is_confined: bool
    reverts: bool
    observer: "Observer | None"

    def begin(self) -> None:
        """Open the folder; once.

        Raises:
            MemtuiError: It cannot be; nothing was changed.
        """

    def look(self, telling: Telling) -> Audit:
        """Look at everything.

        Raises:
            Stopped: Nobody waits for it any more.
            MemtuiError: It cannot be done.
        """

    def text(self, path: str) -> str | None:
        """What a note says; `None` if it is no text, or is gone."""

    def compared(self, file: ChangedFile) -> Comparison:
        """What differs in a changed file, hunk by hunk."""

    def calls(self, seq: int) -> Calls:
        """What was done around an event, and what had been asked for."""

    def judge(
        self, files: Sequence[ChangedFile], verdict: Verdict, *, hunk: ChangedHunk | None = None, words: str = ""
    ) -> Sequence[Mark]:
        """Write down what the reviewer says of changes; of the last hunk, also that the file is accepted with it.

        Args:
            files: Of one file, or of several at once.
            verdict: What is said.
            hunk: Only this hunk; then there is one file.
            words: What the reviewer writes.

        Raises:
            MemtuiError: It could not be written; nothing is kept of it.
        """

    def finish(self, shown: Inbox) -> Mark:
        """Write down that the review is over: the next one begins where this one was shown.

        Args:
            shown: What the reviewer was shown.

        Raises:
            MemtuiError: It could not be written, or something else has changed since.
        """

    def revert(self, engine: "Engine", file: ChangedFile, hunk: ChangedHunk | None) -> Restored:
        """Take a change back, through the engine, so that it can be undone.

        Raises:
            MemtuiError: It cannot be; nothing was changed.
        """

    def export(self, audit: Audit, format: str, path: str, *, force: bool) -> str:
        """Write a report; returns where, as a person writes it.

        Raises:
            FileExistsError: There is a file, and `force` was not said.
            MemtuiError: It could not be written.
        """

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Tell, from a thread, whenever something in the folder changed; returns what ends that."""

    def close(self) -> None:
        """Close what was opened."""
