"""The findings as rows: what is listed, in which order, and what each row says in a few words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from memtui.audit.audit import Audit, Excepted, Passed
from memtui.audit.findings import Finding, Severity
from memtui.ui.audit.narrowing import Narrowing
from memtui.ui.item_rows import Words

WORDS = {Severity.FAIL: "FAIL", Severity.WARN: "WARN", Severity.INFO: "info"}
"""What a severity is called on a row: what counts is in capitals."""


class Order(Enum):
    """How findings are sorted."""

    SEVERITY = "severity"
    PATH = "path"
    RULE = "rule"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class FindingRow:
    """Something that should be looked at.

    Attributes:
        finding: What.
        excepted: Why it does not count; `None` where it does.
    """

    finding: Finding
    excepted: Excepted | None = None

    @property
    def key(self) -> tuple[str, str, int | None]:
        """The same for the same finding in another audit."""
        return (self.finding.fingerprint, self.finding.place.path, self.finding.place.line)


@dataclass(frozen=True, slots=True)
class PassedRow:
    """Something that is in order."""

    passed: Passed

    @property
    def key(self) -> tuple[str, str, int | None]:
        """The same in another audit."""
        return ("", f"{self.passed.family} {self.passed.name}", None)


Item = FindingRow | PassedRow
Row = Item | Words


def rows_of(audit: Audit, order: Order, wanted: Narrowing, *, excepted: bool) -> list[Row]:
    """All rows of an audit.

    Args:
        audit: What was found.
        order: How findings are sorted; what is in order comes last, whatever the order.
        wanted: Only these.
        excepted: Whether what does not count is listed too.
    """
    held = [each for each in audit.findings if wanted.takes_finding(each)]
    rows: list[Row] = [FindingRow(each) for each in sorted_findings(held, order)]
    if excepted and audit.excepted:
        why = {id(each.finding): each for each in audit.excepted}
        kept = [each.finding for each in audit.excepted if wanted.takes_finding(each.finding)]
        found = [FindingRow(each, why[id(each)]) for each in sorted_findings(kept, order)]
        rows += [Words(f"excepted {len(found):,}"), *found] if found else []
    passed = [
        PassedRow(each) for each in audit.passed if wanted.takes_words(f"ok {each.family} {each.name} {each.words}")
    ]
    if not any(isinstance(row, FindingRow) for row in rows):
        rows.insert(0, Words(nothing_found(audit) if wanted.is_empty else "Nothing is listed with these words."))
    return [*rows, *passed]


def sorted_findings(findings: Iterable[Finding], order: Order) -> list[Finding]:
    """Findings in an order; what is the same in it stays in order of severity, path and line."""
    found = sorted(findings, key=lambda each: (each.severity.rank, each.place.path, each.place.line or 0, each.rule))
    match order:
        case Order.PATH:
            found.sort(key=lambda each: (each.place.path, each.place.line or 0))
        case Order.RULE:
            found.sort(key=lambda each: (list(type(each.family)).index(each.family), each.rule))
        case Order.TIME:
            found.sort(key=lambda each: -(each.origin.at_us or 0))  # what nobody knows the time of comes last
        case Order.SEVERITY:
            pass
    return found


def nothing_found(audit: Audit) -> str:
    """What is said where nothing was found."""
    rules = f"{audit.rules:,} {'rule' if audit.rules == 1 else 'rules'}"
    return f"No findings: {rules} looked at {audit.files:,} {'file' if audit.files == 1 else 'files'}."


def place_of(finding: Finding) -> str:
    """Where it is, such as `notes/a.md:3`; the folder itself for nothing."""
    place = finding.place
    path = place.path or "the folder"
    return path if place.line is None else f"{path}:{place.line}"


def what_of(finding: Finding) -> str:
    """What it is in a word or two: the rule, and how long or how many where that is known."""
    days, lines, limit = (finding.facts.get(name) for name in ("days", "lines", "limit"))
    if isinstance(days, int):
        return f"{finding.rule} {days:,} d"
    if isinstance(lines, int) and isinstance(limit, int):
        return f"{lines:,} lines > {limit:,}"
    return finding.rule


def counts(audit: Audit) -> Sequence[tuple[str, int]]:
    """How many there are of each, as on the summary: `FAIL`, `WARN`, `info`, `ok`."""
    return [*((WORDS[each], audit.count(each)) for each in Severity), ("ok", len(audit.passed))]
