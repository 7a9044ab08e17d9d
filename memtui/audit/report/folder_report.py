"""What became of one of many folders that are audited together, and the result of all of them as a sentence."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memtui.audit.model import Severity
from memtui.audit.report.wording import SEVERITIES, format_severity_counts
from memtui.core.wording import format_count

Counts = Mapping[str, Sequence[int]]


class FolderReport(NamedTuple):
    """What became of one folder.

    Attributes:
        title: The folder as a person writes it.
        code: The exit code of its audit.
        counts: By family, the numbers of findings of each severity, the gravest first; empty if it was not audited.
        report: In the format that was asked for, in HTML its part of the page; empty if it was not audited.
        problem: Why it was not audited, as sentences; else empty.
    """

    title: str
    code: int
    counts: Counts
    report: str = ""
    problem: str = ""

    def count(self, severity: Severity) -> int:
        """How many findings there are of a severity."""
        return sum(numbers[severity.rank] for numbers in self.counts.values())

    @property
    def danger(self) -> tuple[object, ...]:
        """What folders are sorted by: first those of which nothing is known, then by their gravest findings."""
        return (not self.problem, *(-self.count(severity) for severity in SEVERITIES), self.title)


def format_total(reports: Sequence[FolderReport]) -> str:
    """The result as one sentence."""
    fails, warns = (sum(each.count(severity) for each in reports) for severity in (Severity.FAIL, Severity.WARN))
    unread = sum(bool(each.problem) for each in reports)
    but = f", {unread:,} of them not audited" if unread else ""
    found = format_severity_counts(fails, warns) or "no failures or warnings"
    return f"{format_count(len(reports), 'folder')}{but}: {found}."
