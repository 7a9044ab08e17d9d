"""Values of an audit: findings, rules and results, for screens, reports and pipelines."""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType

from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import Budget
from memtui.core.unicode import to_one_line
from memtui.review.inbox import Inbox, ReviewMark
from memtui.scan.rule_matches import NO_SECRET_RULES, SecretRules
from memtui.scan.spots import Spot


class Severity(StrEnum):
    """How much a finding matters."""

    FAIL = "fail"
    """It must not stay."""
    WARN = "warn"
    """Somebody should look at it."""
    INFO = "info"
    """Worth knowing."""

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return ("fail", "warn", "info").index(self.value)


class Family(StrEnum):
    """What kind of thing a rule looks for."""

    SECRET = "secret"
    HIDDEN = "hidden"
    """Deceptive text and names."""
    PLANTED = "planted"
    """Instructions for the model."""
    COVERAGE = "coverage"
    """What could not be looked at."""
    INTEGRITY = "integrity"
    UPKEEP = "upkeep"
    CLAIMS = "claims"


CERTAINTIES = ("very-high", "high", "medium", "low")
"""How often what a rule finds is what it takes it for, in the words of SARIF's viewers; the most certain first."""


@dataclass(frozen=True, slots=True)
class FindingLocation:
    """Where a finding is.

    Attributes:
        path: Relative to the folder, "/"-joined; `""` for the folder itself. May hold surrogates (PEP 383).
        line: From 1; `None` for the whole file.
        column: In characters, from 1; `None` for the whole line.
        end_column: Exclusive, from 1.
    """

    path: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


@dataclass(frozen=True, slots=True)
class FindingOrigin:
    """Who brought something in, and when, as far as the journal knows.

    Attributes:
        actor: As shown: an agent's name, `you`, `outside`; empty if unknown.
        at_us: When, in microseconds since 1970 (UTC).
        is_exact: Whether it is that event; if not, it is older than the journal, or earlier texts are gone.
    """

    actor: str = ""
    seq: int | None = None
    at_us: int | None = None
    command: str = ""
    session: str | None = None
    call_id: str | None = None
    is_exact: bool = True

    @property
    def is_known(self) -> bool:
        """Whether it is known who it was. A change that was found just now has nobody's number yet."""
        return bool(self.actor)


UNKNOWN = FindingOrigin()


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule found, before it is known what becomes of it.

    Attributes:
        words: One sentence without a full stop; never a secret's value.
        masked: Characters of the text, from and to, that reports mask.
        evidence: Shown instead of the line.
        identity: What distinguishes it from others of its rule in its file when lines move; by default its text.
    """

    rule: str
    path: str
    words: str
    start: int | None = None
    end: int | None = None
    masked: tuple[int, int] | None = None
    evidence: str | None = None
    facts: Mapping[str, str | int | float] = field(default_factory=lambda: MappingProxyType({}))
    identity: str | None = None

    @classmethod
    def for_file(cls, path: str, rule: str, words: str, identity: str | None = None, **facts: str | int) -> "Hit":
        """A file as a whole; a sentence becomes a part of one."""
        safe = {name: to_one_line(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
        clause = words[:1].lower() + words[1:].rstrip(".") if words.endswith(".") else words
        return cls(rule, path, clause, evidence="", facts=safe, identity=identity or path)

    @classmethod
    def from_spot(cls, spot: Spot, path: str) -> "Hit":
        """A spot of a scan as a hit."""
        return cls(spot.rule, path, spot.words, spot.start, spot.end, spot.masked)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a model says of a finding, where a person asked for that.

    Attributes:
        verdict: `planted`, `honest` or `unsure`.
        reason: The model's sentence, secrets masked; hostile as the text that it is about.
        severity_before: Where the opinion changed the finding's severity; else `None`.
        given_us: When it was given; `None` if that is not known.
    """

    verdict: str
    reason: str
    model: str
    severity_before: Severity | None = None
    given_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """Something that a reviewer should look at.

    Attributes:
        severity: As configured; the rule's own may differ.
        evidence: The line, secrets masked; empty if there is nothing to show.
        fingerprint: Stable while lines above come and go: 16 hexadecimal digits, which tell nothing of a secret.
        masked: Characters of the note's text, from and to, that `evidence` masks.
        certainty: One of `CERTAINTIES`.
        secret: The same for findings of one secret value in one audit, and random otherwise; it is in no report.
        passage: The evidence and the lines around it, secrets masked, for a model; empty where none is asked.
        among: The sentence for several of its rule, see `AuditRule.among`.
    """

    rule: str
    family: Family
    severity: Severity
    location: FindingLocation
    words: str
    evidence: str
    do: str
    origin: FindingOrigin
    fingerprint: str
    facts: Mapping[str, str | int | float] = field(default_factory=lambda: MappingProxyType({}))
    masked: tuple[int, int] | None = None
    certainty: str = "high"
    secret: str = field(default="", compare=False, repr=False)
    passage: str = field(default="", compare=False, repr=False)
    among: str = field(default="", compare=False, repr=False)
    opinion: Opinion | None = None


# Rules.


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRule:
    """One rule of an audit.

    Attributes:
        id: Permanent: baselines and exemptions contain it. Lower case, words joined by `-`; of a rule from a file with
            the file's name and `/` before it.
        example: An example that it finds, with `{sample}` where a secret stands; `bad` has one that is made up there.
        settings: The names of settings in `[audit]` that tune it.
        together: The sentence for more than a few hits in one file, with `{count}` and with `{some}` for the names of
            three; empty to report each.
        among: The sentence for the findings of several notes that one sitting settles, with `{count}`; empty where each
            wants a look of its own.
        needs: A required option, such as `--repo`; else empty.
        certainty: One of `CERTAINTIES`.
        cwe: The numbers of the weaknesses that it finds, in the Common Weakness Enumeration.
        tags: Words of the file that it is from.
        is_custom: Whether it is from a person's own file: it tells no place that a rule of memtui tells.
    """

    id: str
    family: Family
    severity: Severity
    title: str
    why: str
    do: str
    example: str
    good: str
    is_on: bool = True
    settings: tuple[str, ...] = ()
    together: str = ""
    among: str = ""
    needs: str = ""
    certainty: str = "high"
    cwe: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    is_custom: bool = False

    @property
    def bad(self) -> str:
        """An example that it finds, as the tests check. Never a real secret."""
        if "{sample}" not in self.example:
            return self.example
        from memtui.scan.samples import make_sample  # noqa: PLC0415 - start-up: only where rules are shown

        return self.example.replace("{sample}", make_sample(self.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomRules:
    """Rules for secrets out of a person's own files.

    Attributes:
        matcher: What finds them.
        files: What the files are called, and how many rules of them are used.
        problems: Files and rules that are not used, and why, as sentences.
        remarks: What is read in another way than by other programs, as sentences.
        digest: Over all that stands in the files; empty without any.
    """

    rules: tuple[AuditRule, ...] = ()
    matcher: SecretRules = NO_SECRET_RULES
    files: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    digest: str = ""


NO_CUSTOM_RULES = CustomRules()


# The result of an audit.


@dataclass(frozen=True, slots=True)
class SuppressedFinding:
    """A finding that does not count."""

    finding: AuditFinding
    reason: str
    until: str = ""  # the last day on which the exemption holds, `2026-12-31`; empty for ever
    by: str = "exemption"  # `exemption`, `baseline` or `dismissal`
    who: str = ""  # who dismissed it
    at_us: int | None = None  # when, in microseconds since 1970 (UTC)


@dataclass(frozen=True, slots=True)
class SkippedRule:
    """A rule that did not run."""

    rule: str
    reason: str  # why: `off`, `off by default`, `needs --repo DIR`


@dataclass(frozen=True, slots=True)
class PassedCheck:
    """Something that was looked at and is in order."""

    family: Family
    name: str
    words: str  # what was found to be in order, such as `23 of 23 parse`


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainStatus:
    """What is known of the journal."""

    state: str  # `intact`, `broken`, `none` (there is no journal) or `unknown` (it could not be checked)
    words: str
    seq: int = 0  # the number of the last event on the disk; 0 if there is none
    hash: str = ""
    events: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditGrowth:
    """How the folder and what is found in it went over time, for the charts of a report.

    Attributes:
        at_us: The moments, in microseconds since 1970, evenly spaced; empty without a journal.
        writes: By actor, the changes in the span that ends at each moment; of many actors the rarest are summed
            as `others`.
        findings: By severity, how many of today's findings existed at each.
        gathered: The number of actors summed as `others`.
    """

    at_us: tuple[int, ...] = ()
    files: tuple[int, ...] = ()
    bytes: tuple[int, ...] = ()
    writes: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    findings: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    gathered: int = 0


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """How many findings of each severity an audit had."""

    taken_us: int
    fail: int
    warn: int
    info: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTrend:
    """An audit, compared with those before.

    Attributes:
        last_us: When the last one was, in microseconds since 1970.
        new: The fingerprints of findings that the last one did not have.
        gone: How many of its findings are there no more.
        has_same_rules: Whether it was made with the same rules and settings.
        audits: Those before, the oldest first.
    """

    last_us: int
    new: tuple[str, ...]
    gone: int
    has_same_rules: bool
    audits: tuple[AuditCounts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit found.

    Attributes:
        taken_us: In microseconds since 1970 (UTC).
        actors: Events by actor, the most first.
        findings: The most dangerous first, see `memtui.audit.ranking`; without suppressed ones.
        expired: Expired exemptions and ended dismissals, as sentences.
        digest: Over the rules that ran and their settings, 16 hexadecimal digits: the same digest, the same audit.
        sign_off: The mark that ended the last review; `None` before the first.
        review_problem: A defect of the review file, as a sentence; else empty.
        neutral: The rights that this process gave up, as sentences.
        seconds: The time of each family, by name; and `read`.
        settings: Names and values that differ from the defaults.
        trend: What is new since the last audit; `None` if none is known, or only some rules were asked for.
        custom: The rules of a person's own files.
        opinions: Which model was asked for opinions and what came of it, as a sentence; empty if none was to be.
    """

    title: str
    taken_us: int
    files: int
    bytes: int
    tokens: int
    events: int
    actors: Mapping[str, int]
    refused: int
    chain: ChainStatus
    findings: tuple[AuditFinding, ...]
    excepted: tuple[SuppressedFinding, ...] = ()
    expired: tuple[str, ...] = ()
    skipped: tuple[SkippedRule, ...] = ()
    passed: tuple[PassedCheck, ...] = ()
    inbox: Inbox | None = None
    sign_off: ReviewMark | None = None
    review_problem: str = ""
    growth: AuditGrowth | None = None
    version: str = ""
    rules: int = 0
    digest: str = ""
    neutral: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    budgets: tuple[Budget, ...] = ()
    custom: CustomRules = NO_CUSTOM_RULES
    trend: AuditTrend | None = None
    opinions: str = ""

    def count_findings(self, severity: Severity) -> int:
        """How many findings there are of a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def count_by_family(self) -> dict[str, list[int]]:
        """By family, how many findings there are of each severity, the gravest first."""
        counts = {family.value: [0] * len(Severity) for family in Family}
        for finding in self.findings:
            counts[finding.family.value][finding.severity.rank] += 1
        return counts

    def has_findings_at(self, level: Severity | None) -> bool:
        """Whether there is a finding at or over a level; never for `None`."""
        return level is not None and any(finding.severity.rank <= level.rank for finding in self.findings)


def read_rules(name: str) -> tuple[AuditRule, ...]:
    """The rules of a file of `memtui/scan/rules`, in order."""
    from memtui.scan.ruleset import load_rules  # noqa: PLC0415 - first paint: a screen shows values, not rules

    return tuple(
        AuditRule(
            id=entry.id,
            family=Family(entry.get("family")),
            severity=Severity(entry.get("severity")),
            title=entry.text("title"),
            why=entry.text("why"),
            do=entry.text("do"),
            example=entry.text("bad"),
            good=entry.text("good"),
            is_on=entry.get("on", True),
            settings=tuple(entry.get("settings", ())),
            together=entry.text("together"),
            among=entry.text("among"),
            needs=entry.text("needs"),
            certainty=entry.get("certainty", "high"),
            cwe=tuple(entry.get("cwe", ())),
        )
        for entry in load_rules(name).values()
    )


class AuditCancelled(MemtuiError):
    """Nobody waits for the audit; nothing is known of the folder."""

    def __init__(self) -> None:
        super().__init__("The audit was stopped before its end. Nothing was changed.")


def check_cancelled(stop: Callable[[], bool]) -> None:
    """Raise `AuditCancelled` where the caller asks to stop."""
    if stop():
        raise AuditCancelled
