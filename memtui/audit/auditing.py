"""An audit: reading a folder, asking every rule, and telling what was found. Nothing is changed on the way."""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import memtui
from memtui.audit.audit import Audit, Chain, Growth
from memtui.audit.choosing import changed_settings, chosen
from memtui.audit.findings import Finding
from memtui.audit.growth import growth as growth_of
from memtui.audit.inbox import Inbox
from memtui.audit.inspecting import Inspection, Progress
from memtui.audit.origins import Origins
from memtui.audit.passing import passed
from memtui.audit.reading import subject_of
from memtui.audit.record import TAMPERED, record_of
from memtui.audit.rules import FAMILIES, rules_of
from memtui.audit.stopping import go_on
from memtui.audit.telling import Teller
from memtui.core.audit_settings import AuditSettings
from memtui.core.budgets import budgets_of
from memtui.core.settings import Settings
from memtui.core.tokens import estimate
from memtui.engine import Engine, Observer
from memtui.engine.pins import pins_of

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
    baseline: Collection[str] | None = None,
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
        baseline: Fingerprints of findings that were there before, and do not count; `None` without a baseline.
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
    go_on(stop)
    last = observer.head()[0] if isinstance(observer, Engine) and not observer.read_only else observer.recorded.last
    rules = rules_of(families)
    choice = chosen(rules.values(), settings, only=only, repo=repo, has_baseline=baseline is not None)
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
        inbox=inbox,
        progress=progress,
        stop=stop,
    )
    seconds["read"] = time.perf_counter() - began
    began = time.perf_counter()
    record = record_of(observer, last, stop=stop)
    chain = subject.chain
    seconds["journal"] = time.perf_counter() - began
    teller = Teller(rules, choice.severities, subject, Origins(observer, record, is_intact=chain.state == "intact"))
    inspection = Inspection(
        families,
        rules,
        subject,
        choice,
        teller,
        baseline or (),
        today=_day(now_us),
        progress=progress,
        tell=found,
        stop=stop,
    )
    inspection.go(seconds)
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
        findings=tuple(sorted(inspection.findings, key=in_order)),
        excepted=tuple(sorted(inspection.excepted, key=lambda each: in_order(each.finding))),
        expired=tuple(inspection.expired),
        skipped=choice.skipped,
        passed=passed(rules, subject, chain, inspection.ran, inspection.found),
        inbox=inbox,
        growth=_growth(observer, inspection.findings, now_us, chain) if growth else None,
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
