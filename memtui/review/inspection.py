"""The protocol between the audit screen and the folder that it shows.

An *audit* checks rules, a *review* records the verdicts of a person; an *inspection* is a folder open for both.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from memtui.audit.model import Audit, AuditFinding, CustomRules
from memtui.core.diffs import TextDiff
from memtui.core.history import ActionResult, SurroundingCalls
from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import AuditSettings
from memtui.review.inbox import ChangedFile, ChangedHunk, Inbox, MarkedFinding, ReviewMark, ReviewVerdict

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.audit.opinions import OpinionAsker
    from memtui.engine import Engine, Observer


FORMATS = {
    **{format: format for format in ("md", "html", "json", "sarif", "csv", "jsonl")},
    "text": "txt",
    "junit": "xml",
}
"""The formats of a report, and the extensions of their files."""


@dataclass(frozen=True, slots=True)
class ChangeComparison:
    """A changed file, compared.

    Attributes:
        difference: `None` where there is no diff of lines.
        hunks: Its hunks, with the marks on each.
        notice: Why there is no diff, in a few words.
        detail: A sentence about that.
    """

    difference: TextDiff | None
    hunks: Sequence[ChangedHunk] = ()
    notice: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class AuditCallbacks:
    """Callbacks of a running audit, called in its thread.

    Attributes:
        progress: The step, how much of it is done, and the total.
        inbox: The changes.
        found: The findings of one family.
        stop: Whether the audit is cancelled.
    """

    progress: Callable[[str, int, int], None]
    inbox: Callable[[Inbox], None]
    found: Callable[[Sequence[AuditFinding]], None]
    stop: Callable[[], bool]


class Inspection(Protocol):
    """A folder that is audited and reviewed. Methods may take time, and are called from a worker.

    Attributes:
        folder: The path of the folder, links resolved.
        state: The directory of its journal, if not the usual one.
        title: The path of the folder, as shown.
        settings: Of the audit.
        custom: The rules of the person's own files.
        enforced: The limits that the kernel enforces, or why it does not, as a sentence; empty in an ordinary session.
        is_confined: Whether the kernel enforces limits.
        can_revert: Whether changes can be reverted: an ordinary session.
        observer: The open memory; `None` before it is open. Each audit opens another one.
        asker: Who asks a model for opinions on findings; `None` where none can be asked.
    """

    folder: str
    state: str | None
    title: str
    settings: AuditSettings
    custom: CustomRules
    enforced: str
    is_confined: bool
    can_revert: bool
    observer: "Observer | None"
    asker: "OpinionAsker | None"

    @property
    def reviewer(self) -> str:
        """The name of the reviewer."""

    @property
    def review_location(self) -> str:
        """The path of the review file, as shown."""

    def open_folder(self) -> None:
        """Open the folder, once.

        Raises:
            MemtuiError: It cannot be opened; nothing was changed.
        """

    def run_audit(self, callbacks: AuditCallbacks) -> Audit:
        """Audit the folder.

        Raises:
            Stopped: The audit was cancelled.
            MemtuiError: It failed.
        """

    def read_text(self, path: str) -> str | None:
        """The text of a note; `None` if it is no text, or is gone."""

    def compare(self, file: ChangedFile) -> ChangeComparison:
        """The hunks of a changed file."""

    def find_calls(self, seq: int) -> SurroundingCalls:
        """The calls around an event."""

    def record_verdict(
        self,
        files: Sequence[ChangedFile],
        verdict: ReviewVerdict,
        *,
        hunk: ChangedHunk | None = None,
        words: str = "",
        findings: Sequence[MarkedFinding] = (),
    ) -> Sequence[ReviewMark]:
        """Write a verdict on files, or on one hunk of one file; the last accepted hunk accepts its file.

        Args:
            findings: Those in the file that were shown with it.

        Raises:
            MemtuiError: It could not be written; nothing is kept.
        """

    def dismiss(self, findings: Sequence[AuditFinding], reason: str, until: str) -> Sequence[ReviewMark]:
        """Write that findings do not count, until a day or for ever (empty).

        Raises:
            MemtuiError: One may not be dismissed so, or it could not be written; nothing is kept.
        """

    def restore(self, findings: Sequence[AuditFinding]) -> Sequence[ReviewMark]:
        """Write that dismissed findings count again. Raises `MemtuiError` as `dismiss`."""

    def find_undecided(self, audit: Audit) -> Sequence[MarkedFinding]:
        """The findings in what changed that must not stay, and of which nothing was decided.

        Raises:
            MemtuiError: They cannot be known.
        """

    def finish(self, shown: Inbox, audit: Audit, failures_reason: str = "") -> ReviewMark:
        """Write the end of a review of an inbox: the next review begins there.

        Args:
            failures_reason: Why it is ended in spite of undecided findings; without one it is not.

        Raises:
            MemtuiError: It could not be written, the reason holds a secret, or there are newer changes or undecided
                findings.
        """

    def revert(self, engine: "Engine", file: ChangedFile, hunk: ChangedHunk | None) -> ActionResult:
        """Revert a change through the engine, so that it can be undone, and write that verdict.

        Raises:
            MemtuiError: It cannot be reverted, and nothing was changed; or the verdict could not be written.
        """

    def export(self, audit: Audit, format: str, path: str, *, force: bool) -> str:
        """Write a report; returns its path, as shown.

        Raises:
            FileExistsError: There is a file, without `force`.
            MemtuiError: It could not be written.
        """

    def watch(self, changed: Callable[[], object]) -> Callable[[], None]:
        """Call back, from a thread, at each change in the folder; returns the function that ends this."""

    def close(self) -> None:
        """Close the folder."""
