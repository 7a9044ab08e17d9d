"""The result of an audit, as one value: what every report, screen and exit code is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from memtui.audit.findings import Family, Finding, Severity
from memtui.audit.inbox import Inbox
from memtui.core.budgets import Budget


@dataclass(frozen=True, slots=True)
class Excepted:
    """A finding that does not count.

    Attributes:
        finding: Which.
        reason: Why, as somebody wrote it in the settings; or that it stands in the baseline.
        until: The last day on which that holds, `2026-12-31`; empty for ever.
        by: `exemption` or `baseline`.
    """

    finding: Finding
    reason: str
    until: str = ""
    by: str = "exemption"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that did not run.

    Attributes:
        rule: Its id.
        reason: Why: `off`, `off by default`, `needs --repo DIR`.
    """

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Passed:
    """Something that was looked at and is in order.

    Attributes:
        family: Which rules.
        name: What, in a word: `paths`, `format`, `size`.
        words: What was found to be in order, such as `23 of 23 parse`.
    """

    family: Family
    name: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """What is known of the journal.

    Attributes:
        state: `intact`, `broken`, `none` (there is no journal) or `unknown` (it could not be checked).
        words: The same as a sentence, such as `intact, 41 of 41 events`.
        seq: The number of the last event on the disk; 0 if there is none.
        hash: The chain's hash with it, in hexadecimal; empty if there is none.
        events: How many.
    """

    state: str
    words: str
    seq: int = 0
    hash: str = ""
    events: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How the folder and what is found in it went over time, for the charts of a report.

    Attributes:
        at_us: The moments, in microseconds since 1970, evenly spaced, the first change to now; empty without journal.
        files: How many files there were at each.
        bytes: How many bytes they had.
        writes: By actor, how many changes were made in the span that ends at each moment. Where there are many, those
            who wrote least stand together as `others`.
        findings: By severity, how many of today's findings had been brought in by each.
        gathered: How many actors stand together as `others`; 0 if each stands alone.
    """

    at_us: tuple[int, ...] = ()
    files: tuple[int, ...] = ()
    bytes: tuple[int, ...] = ()
    writes: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    findings: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    gathered: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit found.

    Attributes:
        title: The folder as a person writes it.
        taken_us: When it was looked at, in microseconds since 1970 (UTC).
        files: How many files.
        bytes: Of all files.
        tokens: Of all notes, estimated.
        events: How many events the journal on the disk has.
        actors: How many events by each actor, the most first.
        refused: How many calls were refused.
        chain: What is known of the journal.
        findings: The gravest first, then by path and line. What is excepted is not among them.
        excepted: What does not count, and why.
        expired: Exemptions that hold no more, as sentences.
        skipped: Rules that did not run.
        passed: What is in order.
        inbox: What changed since the last review; `None` where it was not asked for.
        growth: For charts; `None` where it was not asked for.
        version: memtui's.
        rules: How many rules ran.
        digest: Over the rules that ran and how they were set, 16 hexadecimal digits: the same digest, the same audit.
        neutral: What this process gave up so as not to change anything, as sentences.
        seconds: How long each family took, by name; and `read`.
        settings: How it was set, for a report: names and values that are not as by default.
        budgets: How much of what the folder may hold is used, limit by limit; limits that are off are not among them.
    """

    title: str
    taken_us: int
    files: int
    bytes: int
    tokens: int
    events: int
    actors: Mapping[str, int]
    refused: int
    chain: Chain
    findings: tuple[Finding, ...]
    excepted: tuple[Excepted, ...] = ()
    expired: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    passed: tuple[Passed, ...] = ()
    inbox: Inbox | None = None
    growth: Growth | None = None
    version: str = ""
    rules: int = 0
    digest: str = ""
    neutral: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    budgets: tuple[Budget, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings there are of a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def fails(self, level: Severity | None) -> bool:
        """Whether there is a finding at or over a level; never for `None`."""
        return level is not None and any(finding.severity.rank <= level.rank for finding in self.findings)
