"""The run of an audit: read a folder, apply every rule, and collect the findings. Nothing is changed."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, field, replace
from datetime import UTC, date, datetime
from typing import Any

import memtui
from memtui.audit.cache import AuditCache
from memtui.audit.context import AuditContext, Note, build_context
from memtui.audit.finding_builder import FindingBuilder
from memtui.audit.forked_checks import ForkedChecks, select_notes, unpack_hits
from memtui.audit.growth import collect_growth as growth_of
from memtui.audit.hit_budget import HitBudget
from memtui.audit.model import (
    NO_CUSTOM_RULES,
    Audit,
    AuditCancelled,
    AuditFinding,
    AuditGrowth,
    AuditRule,
    ChainStatus,
    CustomRules,
    Family,
    Hit,
    PassedCheck,
    SuppressedFinding,
    check_cancelled,
)
from memtui.audit.provenance import TAMPERED, fork_chain_check
from memtui.audit.ranking import rank_by_danger
from memtui.audit.registry import CRASHED, FAMILIES, SELF_CHECKS, add_custom_rules, collect_rules
from memtui.audit.rules import duplicates
from memtui.audit.selection import RuleSelection, describe_changed_settings, select_rules
from memtui.audit.suppressions import build_ended_dismissal, find_expired, find_suppression
from memtui.core.garbage import reduce_gc
from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import AuditSettings, Settings, compute_budgets
from memtui.core.wording import format_count
from memtui.engine import Engine, Observer
from memtui.engine.pins import load_pins
from memtui.engine.reconcile import Entry
from memtui.fs.fork import Fork
from memtui.review.hunks import is_review_end
from memtui.review.inbox import Inbox, ReviewMark
from memtui.review.marks import Review
from memtui.review.triage import find_dismissal_fault, find_dismissals

# One pass of all rules over a folder.

Progress = Callable[[str, int, int], None]
"""Told what is done, how many, and of how many."""

_EVERY = 64  # notes between two reports of how far it is


_FAMILY_NAMES = {"secrets": "secret", "injection": "planted"}  # by module, where the family has another name


def get_family_name(family: Any) -> str:
    """The name of a family in reports and in the progress."""
    module: str = family.__name__.rpartition(".")[2]
    return _FAMILY_NAMES.get(module, module)


@dataclass
class AuditInspection:
    """One pass of all rules over a folder.

    Attributes:
        tell: Called with the findings of each family, without suppressed ones.
        excepted: Suppressed findings.
        dismissals: By fingerprint, ended ones included.
        paths: The notes whose texts are looked at; `None` for all.
        ran: The ids of rules that ran to their end.
        found: The ids of rules with findings, suppressed ones included.
    """

    families: Sequence[Any]
    rules: Mapping[str, AuditRule]
    subject: AuditContext
    choice: RuleSelection
    builder: FindingBuilder
    baseline: Collection[str]
    _: KW_ONLY
    today: date
    dismissals: Mapping[str, ReviewMark] = field(default_factory=dict)
    paths: Collection[str] | None = None
    progress: Progress | None = None
    tell: Callable[[Sequence[AuditFinding]], None] | None = None
    findings: list[AuditFinding] = field(default_factory=list)
    excepted: list[SuppressedFinding] = field(default_factory=list)
    expired: list[str] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    found: set[str] = field(default_factory=set)
    _received: tuple[str, Any] = field(default=("", None), init=False)
    """A family, and what a second process found with it."""

    def fork_checks(self, forked: ForkedChecks) -> None:
        """Leave a part of the checks to a second process, where that pays and can be."""
        subject = self.subject
        families = [
            (get_family_name(family), family.check_note)
            for family in self.families
            if hasattr(family, "check_note") and self._select_rules(family)
        ]
        selected = self._select_notes()
        left = {note.path for name, _ in families for note in subject.select_unclean(selected, name)}
        notes = select_notes([note for note in selected if note.path in left], len(families))
        in_all = [("duplicates", duplicates.find_duplicates)] if subject.has_enabled_rule(*duplicates.IDS) else []
        forked.begin(subject, families, notes, in_all)

    def _select_notes(self) -> Iterable[Note]:
        """The notes whose texts are looked at."""
        notes, paths = self.subject.notes.values(), self.paths
        return notes if paths is None else [note for note in notes if note.path in paths]

    def _select_rules(self, family: Any) -> set[str]:
        """The rules of a family that run."""
        return {rule.id for rule in family.RULES} & set(self.choice.severities)

    def run(self, seconds: dict[str, float]) -> None:
        """Ask every family; `AuditCancelled` where `stop` returned true."""
        for family in self.families:
            began = time.perf_counter()
            name = get_family_name(family)
            mine = self._select_rules(family)
            if mine:
                crashes, budget = _RuleCrashes(name), HitBudget(name, self.rules)
                hits = list(self._collect_hits(family, name, crashes, budget))
                self._add_findings(self.builder.build_findings([*hits, *crashes.build_hits(), *budget.build_hits()]))
                if not crashes.count and not budget.is_over:
                    self.ran |= mine - {each.rule for each in self.subject.log.skipped}
            seconds[name] = time.perf_counter() - began
        old = [*find_expired(self.subject.audit.exemptions, self.today), *self._find_ended_dismissals()]
        self.expired += [sentence for _, sentence in old]
        self._add_findings(self.builder.build_findings([hit for hit, _ in old]))
        self.ran |= {rule.id for rule in SELF_CHECKS} & set(self.choice.severities)

    def _find_ended_dismissals(self) -> Iterator[tuple[Hit, str]]:
        """Dismissals that hold no more, of findings that count again."""
        for finding in self.findings:
            dismissal = self.dismissals.get(finding.fingerprint)
            if dismissal is not None and (fault := find_dismissal_fault(dismissal, finding, self.today)):
                yield build_ended_dismissal(dismissal, fault)

    def _collect_hits(self, family: Any, name: str, crashes: "_RuleCrashes", budget: HitBudget) -> Iterator[Hit]:
        """The hits of a family. An exception in one note becomes a finding, and the other notes are still checked."""
        check_note, cache = getattr(family, "check_note", None), self.subject.cache
        if check_note is not None:
            notes = self.subject.select_unclean(self._select_notes(), name)
            for number, note in enumerate(notes):
                if number % _EVERY == 0:
                    self.subject.check_cancelled()
                    if self.progress is not None:
                        self.progress(name, number, len(notes))
                before = budget.count
                try:
                    hits = self._receive_hits(name, note)
                    hits = iter(check_note(note, self.subject)) if hits is None else hits
                    yield from budget.limit(hits, note.path)
                    if cache is not None and budget.count == before and not budget.is_cut(note.path):
                        cache.add_clean(note, name)
                except Exception as error:  # a bug in one rule must not hide what the others find: it is a finding
                    crashes.add(error, note.path)
        check_folder = getattr(family, "check_folder", None)
        if check_folder is not None:
            self.subject.check_cancelled()
            try:
                yield from budget.limit(iter(check_folder(self.subject)), "")
            except Exception as error:  # as above
                crashes.add(error, "")

    def _receive_hits(self, name: str, note: Note) -> Iterator[Hit] | None:
        """What a second process found in a note; `None` for one that is left to this one."""
        forked = self.subject.forked
        if forked is None or note.path not in forked.paths:
            return None
        if self._received[0] != name:
            self._received = name, forked.receive(name)
        found = self._received[1]
        packed = found.get(note.path, ()) if found is not None else None
        return unpack_hits(packed) if packed is not None else None

    def _add_findings(self, found: list[AuditFinding]) -> None:
        counted = []
        for finding in found:
            self.found.add(finding.rule)
            dismissal = self.dismissals.get(finding.fingerprint)
            exception = find_suppression(finding, self.subject.audit.exemptions, self.baseline, self.today, dismissal)
            if exception is None:
                counted.append(finding)
            else:
                self.excepted.append(exception)
        self.findings += counted
        if self.tell is not None and counted:
            self.tell(counted)


class _RuleCrashes:
    """What broke down in a family: told once, however many notes it was."""

    def __init__(self, family: str) -> None:
        self.count = 0
        self._family = family
        self._first: tuple[Exception, str] | None = None

    def add(self, error: Exception, path: str) -> None:
        """Note what broke down, and in which note: empty for the folder as a whole."""
        if isinstance(error, AuditCancelled):
            raise error
        self.count += 1
        self._first = self._first or (error, path)

    def build_hits(self) -> Iterator[Hit]:
        """All of it as one."""
        if self._first is None:
            return
        error, path = self._first
        kind = type(error).__name__
        where = "a note" if self.count == 1 else f"{self.count:,} notes"
        words = f"the {self._family} rules failed in {where if path else 'the folder as a whole'}: {kind}"
        facts: dict[str, str | int | float] = {"family": self._family, "error": kind, "notes": self.count}
        yield Hit(CRASHED, path, words, facts=facts, identity=f"{self._family} {kind}")


_NO_AUDIT = AuditSettings()
_NO_LIMITS = Settings()
_OF_CONTENTS = {Family.SECRET, Family.HIDDEN, Family.COVERAGE}
"""The families that look at nothing but names and contents."""


@reduce_gc()
def run_audit(
    observer: Observer,
    *,
    title: str,
    place: str = "",
    settings: AuditSettings = _NO_AUDIT,
    memory: Settings = _NO_LIMITS,
    repo: str | None = None,
    only: Collection[str] | None = None,
    paths: Collection[str] | None = None,
    inbox: Inbox | None = None,
    review: Review | None = None,
    reviewer: str | None = None,
    growth: bool = False,
    neutral: tuple[str, ...] = (),
    baseline: Collection[str] | None = None,
    pins: Iterable[str] | None = None,
    progress: Progress | None = None,
    found: Callable[[Sequence[AuditFinding]], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    now_us: int | None = None,
    families: Sequence[Any] = FAMILIES,
    custom: CustomRules = NO_CUSTOM_RULES,
    passages: bool = False,
    cache: AuditCache | None = None,
    forks: bool = False,
    once: bool = False,
) -> Audit:
    """Look for everything that is wrong in a folder.

    Args:
        only: Ids of rules, patterns of ids and names of families.
        paths: The notes whose texts are looked at; `None` for all.
        review: The review file, for its dismissals and the last sign-off.
        reviewer: The reviewer whose dismissals count; `None` for anyone.
        neutral: The rights that this process gave up, as sentences.
        baseline: Fingerprints of known findings; `None` without a baseline.
        found: Called with the findings of each family, without suppressed ones.
        custom: The rules of a person's own files.
        passages: Whether findings hold the lines around them, for a model that is asked.
        cache: What earlier audits found nothing in; what this one does is added.
        forks: Whether a second process may be forked for a large folder.
        once: Whether nothing is asked of the observer afterwards: then of a folder without a record none is made in
            memory, unless a rule looks at it.

    Raises:
        AuditCancelled: `stop` returned true.
        FolderMissing, StateUnusable: The folder or its journal cannot be read.
    """
    now_us = time.time_ns() // 1_000 if now_us is None else now_us
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    families = add_custom_rules(families, custom)
    rules = collect_rules(families)
    choice = select_rules(rules.values(), settings, only=only, repo=repo, content=custom.digest)
    with Fork() as checking:
        if forks:
            fork_chain_check(checking, observer)
        entries: list[Entry] | None = [] if observer.is_unrecorded else None
        if entries is None:
            observer.reconcile(stop=stop)
        check_cancelled(stop)
        subject = build_context(
            observer,
            settings=settings,
            memory=memory,
            now_us=now_us,
            repo=repo,
            pins=load_pins(observer) if pins is None else pins,
            place=place,
            custom=custom,
            chosen=choice.severities,
            inbox=inbox,
            progress=progress,
            stop=stop,
            entries=entries,
        )
        if entries is None:
            observer.reconcile_read(subject.hash_contents(), stop=stop)
        elif growth or not once or not {rules[id].family for id in choice.severities} <= _OF_CONTENTS:
            observer.record_entries(entries, stop=stop)
        check_cancelled(stop)
        last = (
            observer.get_head()[0]
            if isinstance(observer, Engine) and not observer.read_only
            else observer.recorded.last
        )
        forked = ForkedChecks()
        subject = replace(subject, on_disk=last, cache=cache, chain_check=checking, forked=forked)
        if cache is not None:
            cache.begin(subject)
        seconds["read"] = time.perf_counter() - began
        began = time.perf_counter()
        summary, status = subject.journal_summary, subject.chain
        seconds["journal"] = time.perf_counter() - began
    builder = FindingBuilder(rules, choice.severities, subject, subject.origins, passages=passages)
    today = datetime.fromtimestamp(now_us // 1_000_000, UTC).date()
    inspection = AuditInspection(
        families, rules, subject, choice, builder, baseline or (), today=today, progress=progress, tell=found,
        dismissals=find_dismissals(review, reviewer) if review is not None else {},
        paths=paths,
    )  # fmt: skip
    with forked.fork:
        if forks:
            inspection.fork_checks(forked)
        inspection.run(seconds)
    files, size = len(subject.notes), sum(note.size for note in subject.notes.values())
    tokens, _ = subject.text_counts
    return Audit(
        title=title,
        taken_us=now_us,
        files=files,
        bytes=size,
        tokens=tokens,
        events=last,
        actors=summary.actors,
        refused=summary.refused,
        chain=status,
        findings=tuple(sorted(inspection.findings, key=rank_by_danger)),
        excepted=tuple(sorted(inspection.excepted, key=lambda each: rank_by_danger(each.finding))),
        expired=tuple(inspection.expired),
        skipped=(*choice.skipped, *(each for each in subject.log.skipped if each.rule in choice.severities)),
        passed=find_passed_checks(rules, subject, inspection.ran, inspection.found) if paths is None else (),
        inbox=inbox,
        sign_off=next(filter(is_review_end, reversed(review.valid_marks)), None) if review is not None else None,
        review_problem=review.problem if review is not None else "",
        growth=_collect_growth(observer, inspection.findings, now_us, status) if growth else None,
        version=memtui.__version__,
        rules=len(choice.severities),
        digest=choice.digest,
        neutral=neutral,
        seconds=seconds,
        settings=describe_changed_settings(settings)
        | ({"rule_files": "; ".join(custom.files)} if custom.files else {}),
        budgets=compute_budgets(files=files, bytes=size, tokens=tokens, memory=memory, audit=settings),
        custom=custom,
    )


def _collect_growth(
    observer: Observer, findings: Sequence[AuditFinding], now_us: int, status: ChainStatus
) -> AuditGrowth | None:
    """How the folder went over time; `None` where the journal cannot be read, since somebody has rewritten it."""
    try:
        return growth_of(observer, findings, now_us)
    except TAMPERED:
        if status.state == "intact":
            raise
        return None


# Passed checks: a report says what is in order too.

_OWN = frozenset(rule.id for rule in SELF_CHECKS)
_FORMAT = ("not-utf8", "broken-json", "broken-yaml", "broken-toml", "broken-xml", "broken-front-matter")
_INDEX = ("long-index", "index-entry-missing", "not-in-index")


def find_passed_checks(
    rules: Mapping[str, AuditRule], subject: AuditContext, ran: Collection[str], found: Collection[str]
) -> tuple[PassedCheck, ...]:
    """The checks that said what they counted, of which all rules that there are ran, and found nothing.

    Args:
        ran: The ids of the rules that ran to their end.
        found: The ids of the rules with findings, suppressed ones included.
    """
    unread, (_, binary) = subject.count_unread(), subject.text_counts
    files = format_count(sum(note.data is not None for note in subject.notes.values()), "file")
    but = f"; {unread:,} could not be checked" if unread else ""
    on_family = {family: _find_family_rules(rules.values(), family, ran) for family in Family}
    counted = {
        "secrets": f"none known in {files}{but}",
        "hidden": f"nothing hidden in {files}{but}" + (f"; {binary:,} of them are not text" if binary else ""),
        "planted": f"nothing that looks planted in {files}{but}",
        **subject.log.counted,
    }
    checks: tuple[tuple[Family, str, Collection[str]], ...] = (
        (Family.SECRET, "secrets", on_family[Family.SECRET]),
        (Family.HIDDEN, "hidden", on_family[Family.HIDDEN]),
        (Family.PLANTED, "planted", on_family[Family.PLANTED]),
        (Family.COVERAGE, "coverage", on_family[Family.COVERAGE]),
        (Family.INTEGRITY, "paths", ("link-leaves",)),
        (Family.INTEGRITY, "format", _FORMAT),
        (Family.INTEGRITY, "size", ("over-limit",)),
        (Family.INTEGRITY, "journal", ("chain-broken",)),
        (Family.INTEGRITY, "outside", ("outside-change",)),
        (Family.UPKEEP, "stale", ("stale",)),
        (Family.UPKEEP, "links", ("dead-link",)),
        (Family.UPKEEP, "duplicates", ("duplicate", "near-duplicate")),
        (Family.UPKEEP, "values", ("contradiction",)),
        (Family.UPKEEP, "index", _INDEX),
        (Family.UPKEEP, "schemas", ("schema-mismatch",)),
        (Family.CLAIMS, "claims", on_family[Family.CLAIMS]),
    )
    passed: list[PassedCheck] = []
    for family, name, needed in checks:
        there = rules.keys() & set(needed)
        if name in counted and there and there <= set(ran) and there.isdisjoint(found):
            passed.append(PassedCheck(family, name, counted[name]))
    return tuple(passed)


def _find_family_rules(rules: Collection[AuditRule], family: Family, ran: Collection[str]) -> tuple[str, ...]:
    """The rules of a family that ran; none if one of those that are on by default did not."""
    mine = [rule for rule in rules if rule.family is family and rule.id not in _OWN]
    if any(rule.is_on and rule.id not in ran for rule in mine):
        return ()
    return tuple(rule.id for rule in mine if rule.id in ran)
