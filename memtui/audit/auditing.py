"""An audit: reading a folder, asking every rule, and telling what was found. Nothing is changed on the way."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

import memtui
from memtui.audit import own
from memtui.audit.audit import Audit, Chain, Excepted, Growth
from memtui.audit.choosing import Chosen, changed_settings, chosen
from memtui.audit.exempting import excepted, expired
from memtui.audit.findings import Finding, Hit
from memtui.audit.growth import growth as growth_of
from memtui.audit.inbox import Inbox
from memtui.audit.origins import Origins
from memtui.audit.passing import passed
from memtui.audit.reading import subject_of
from memtui.audit.record import TAMPERED, record_of
from memtui.audit.rule import Rule
from memtui.audit.rules import FAMILIES, rules_of
from memtui.audit.stopping import Stopped
from memtui.audit.subject import Subject
from memtui.audit.telling import Teller
from memtui.core.audit_settings import AuditSettings
from memtui.core.budgets import budgets_of
from memtui.core.settings import Settings
from memtui.core.tokens import estimate
from memtui.engine import Engine, Observer
from memtui.engine.pins import pins_of

Progress = Callable[[str, int, int], None]
"""Told what is done, how many, and of how many."""

_EVERY = 64
"""Notes between two reports of how far it is."""
_NO_AUDIT = AuditSettings()
_NO_LIMITS = Settings()


def audit(
    observer: Observer,
    *,
    title: str,
    place: str = "",
    settings: AuditSettings = _NO_AUDIT,
    memory: Settings = _NO_LIMITS,
    repo: str | None = None,
    only: Collection[str] | None = None,
    inbox: Inbox | None = None,
    growth: bool = False,
    neutral: tuple[str, ...] = (),
    baseline: Collection[str] = (),
    pins: Iterable[str] | None = None,
    progress: Progress | None = None,
    found: Callable[[Sequence[Finding]], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    now_us: int | None = None,
    families: Sequence[Any] = FAMILIES,
) -> Audit:
    """Look for everything that is wrong in a folder.

    Args:
        observer: The open memory. What changed behind its back is found here, and stays in its journal in memory.
        title: The folder as a person writes it.
        place: Where it is on this machine.
        settings: Which rules run and how strict they are.
        memory: The limits that hold for the folder.
        repo: A repository that notes are compared with; `None` for none.
        only: Ids of rules, patterns of ids and names of families: only these run.
        inbox: What changed since the last review, where that is part of the report.
        growth: Whether it is found out how the folder went over time.
        neutral: What this process gave up so as not to change anything, as sentences.
        baseline: Fingerprints of findings that were there before, and do not count.
        pins: Notes that somebody has pinned; by default as they are kept.
        progress: Told what is done, how many, and of how many.
        found: Told the findings of each family once they are known, those that count.
        stop: Asked now and then whether to give up.
        now_us: The time, in microseconds since 1970; by default as the clock says.
        families: What is asked; see `memtui.audit.rules.FAMILIES`.

    Raises:
        Stopped: `stop` said so.
        FolderMissing, StateUnusable: The folder or its journal cannot be looked at.
    """
    now_us = time.time_ns() // 1_000 if now_us is None else now_us
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    observer.reconcile(stop=stop)
    _go_on(stop)
    last = observer.head()[0] if isinstance(observer, Engine) and not observer.read_only else observer.recorded.last
    rules = rules_of(families)
    choice = chosen(rules.values(), settings, only=only, repo=repo, has_baseline=bool(baseline))
    subject = subject_of(
        observer,
        settings=settings,
        memory=memory,
        now_us=now_us,
        on_disk=last,
        repo=repo,
        pins=pins_of(observer).paths if pins is None else pins,
        place=place,
        chosen=choice.severities,
        progress=progress,
        stop=stop,
    )
    subject = replace(subject, inbox=inbox)
    seconds["read"] = time.perf_counter() - began
    began = time.perf_counter()
    record = record_of(observer, last, stop=stop)
    chain = subject.chain
    seconds["journal"] = time.perf_counter() - began
    teller = Teller(rules, choice.severities, subject, Origins(observer, record, is_intact=chain.state == "intact"))
    run = _Run(families, rules, subject, choice, teller, settings, baseline, _day(now_us), progress, found, stop)
    run.go(seconds)
    files, size = len(subject.notes), sum(note.size for note in subject.notes.values())
    tokens = sum(estimate(note.text) for note in subject.notes.values() if note.text is not None)
    return Audit(
        title=title,
        taken_us=now_us,
        files=files,
        bytes=size,
        tokens=tokens,
        events=last,
        actors=record.actors,
        refused=record.refused,
        chain=chain,
        findings=tuple(sorted(run.findings, key=in_order)),
        excepted=tuple(sorted(run.excepted, key=lambda each: in_order(each.finding))),
        expired=tuple(run.expired),
        skipped=choice.skipped,
        passed=passed(rules, subject, chain, run.ran, run.found),
        inbox=inbox,
        growth=_growth(observer, run.findings, now_us, chain) if growth else None,
        version=memtui.__version__,
        rules=len(choice.severities),
        digest=choice.digest,
        neutral=neutral,
        seconds=seconds,
        settings=changed_settings(settings),
        budgets=budgets_of(files=files, bytes=size, tokens=tokens, memory=memory, audit=settings),
    )


def in_order(finding: Finding) -> tuple[int, str, int, str, int]:
    """What findings are sorted by: the gravest first, then by path and line."""
    place = finding.place
    return finding.severity.rank, place.path, place.line or 0, finding.rule, place.column or 0


@dataclass
class _Run:
    """One pass of all rules over a folder."""

    families: Sequence[Any]
    rules: Mapping[str, Rule]
    subject: Subject
    choice: Chosen
    teller: Teller
    settings: AuditSettings
    baseline: Collection[str]
    today: date
    progress: Progress | None
    tell: Callable[[Sequence[Finding]], None] | None
    stop: Callable[[], bool]
    findings: list[Finding] = field(default_factory=list)
    excepted: list[Excepted] = field(default_factory=list)
    expired: list[str] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    """Rules that came to their end."""
    found: set[str] = field(default_factory=set)
    """Rules that found something."""

    def go(self, seconds: dict[str, float]) -> None:
        """Ask every family."""
        for family in self.families:
            began = time.perf_counter()
            name = family.__name__.rpartition(".")[2]
            mine = {rule.id for rule in family.RULES} & set(self.choice.severities)
            if mine:
                crashes = _Crashes(name)
                hits = list(self._hits(family, name, crashes))
                self._take(self.teller.findings([*hits, *crashes.hits()]))
                if not crashes.count:
                    self.ran |= mine
            seconds[name] = time.perf_counter() - began
        old = expired(self.settings.exemptions, self.today)
        self.expired += [sentence for _, sentence in old]
        self._take(self.teller.findings([hit for hit, _ in old]))
        self.ran |= {rule.id for rule in own.RULES} & set(self.choice.severities)

    def _hits(self, family: Any, name: str, crashes: "_Crashes") -> Iterator[Hit]:
        """What a family finds. What breaks down in one note is told, and hides nothing in another one."""
        in_note = getattr(family, "in_note", None)
        if in_note is not None:
            notes = self.subject.notes
            for number, note in enumerate(notes.values()):
                if number % _EVERY == 0:
                    _go_on(self.stop)
                    if self.progress is not None:
                        self.progress(name, number, len(notes))
                try:
                    yield from self._checked(in_note(note, self.subject))
                except Exception as error:  # a bug in one rule must not hide what the others find: it is a finding
                    crashes.add(error, note.path)
        across = getattr(family, "across", None)
        if across is not None:
            _go_on(self.stop)
            try:
                yield from self._checked(across(self.subject))
            except Exception as error:  # as above
                crashes.add(error, "")

    def _checked(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        """Hits of rules that there are.

        Raises:
            LookupError: There is no such rule.
        """
        for hit in hits:
            if hit.rule not in self.rules:
                raise LookupError(hit.rule)
            yield hit

    def _take(self, found: list[Finding]) -> None:
        counted = []
        for finding in found:
            self.found.add(finding.rule)
            exception = excepted(finding, self.settings.exemptions, self.baseline, self.today)
            if exception is None:
                counted.append(finding)
            else:
                self.excepted.append(exception)
        self.findings += counted
        if self.tell is not None and counted:
            self.tell(counted)


class _Crashes:
    """What broke down in a family: told once, however many notes it was."""

    def __init__(self, family: str) -> None:
        self.count = 0
        self._family = family
        self._first: tuple[Exception, str] | None = None

    def add(self, error: Exception, path: str) -> None:
        if isinstance(error, Stopped):
            raise error
        self.count += 1
        self._first = self._first or (error, path)

    def hits(self) -> Iterator[Hit]:
        if self._first is None:
            return
        error, path = self._first
        kind = type(error).__name__
        where = "a note" if self.count == 1 else f"{self.count:,} notes"
        words = f"the {self._family} rules broke down in {where if path else 'the folder as a whole'}: {kind}"
        facts: dict[str, str | int | float] = {"family": self._family, "error": kind, "notes": self.count}
        yield Hit(rule=own.CRASHED, path=path, words=words, facts=facts, identity=f"{self._family} {kind}")


def _go_on(stop: Callable[[], bool]) -> None:
    if stop():
        raise Stopped


def _day(now_us: int) -> date:
    return datetime.fromtimestamp(now_us // 1_000_000, UTC).date()


def _growth(observer: Observer, findings: Sequence[Finding], now_us: int, chain: Chain) -> Growth | None:
    """How the folder went over time; `None` where the journal cannot be read, since somebody has rewritten it."""
    try:
        return growth_of(observer, findings, now_us)
    except TAMPERED:
        if chain.state == "intact":
            raise
        return None
