"""How a folder grew, from its record."""

from typing import Any

import memtui
from memtui.audit.growth import OTHERS, collect_growth
from memtui.audit.model import AuditFinding, Family, FindingLocation, FindingOrigin, Severity
from memtui.core.events import Change, EntryKind, Event, Version
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.store.memory import MemoryStore

HOUR = 3_600_000_000


def event(at_us: int, path: str, before: int | None, after: int | None, actor: Any, command: str = "create") -> Event:
    versions = [None if size is None else Version(EntryKind.FILE, f"{size:064x}", size) for size in (before, after)]
    change = Change(path, versions[0], versions[1])
    return Event(at_us=at_us, actor=actor, command=command, path=f"/memories/{path}", changes=(change,))


def finding(at_us: int | None, severity: Severity) -> AuditFinding:
    return AuditFinding(
        rule="stale",
        family=Family.UPKEEP,
        severity=severity,
        location=FindingLocation("a.md"),
        words="",
        evidence="",
        do="",
        origin=FindingOrigin(at_us=at_us),
        fingerprint="0" * 16,
    )


def test_files_bytes_writes_and_findings_by_moment() -> None:
    claude, other = memtui.Agent("Claude"), memtui.Agent("other")
    journal = Journal(None)
    journal.append_events(
        [
            event(1 * HOUR, "a.md", None, 10, claude, "found"),
            event(2 * HOUR, "b.md", None, 20, claude),
            event(3 * HOUR, "b.md", 20, 5, other),
            event(5 * HOUR, "a.md", 10, None, claude, "delete"),
        ]
    )
    findings = [finding(3 * HOUR, Severity.FAIL), finding(None, Severity.WARN), finding(4 * HOUR, Severity.FAIL)]
    with Engine(MemoryStore(), journal) as engine:
        found = collect_growth(engine, findings, 5 * HOUR, points=5)
    assert found.at_us == tuple(hour * HOUR for hour in (1, 2, 3, 4, 5))
    assert found.files == (1, 2, 2, 2, 1)
    assert found.bytes == (10, 30, 15, 15, 5)
    assert found.writes == {"Claude": (0, 1, 0, 0, 1), "other": (0, 0, 1, 0, 0)}
    assert found.findings == {"fail": (0, 0, 1, 2, 2), "warn": (1, 1, 1, 1, 1)}


def test_without_a_record_there_is_nothing_to_show() -> None:
    with memtui.open_in_memory() as memory:
        assert collect_growth(memory, [finding(None, Severity.FAIL)], HOUR).at_us == ()


def test_one_moment_is_one_point_and_a_clock_that_runs_backwards_does_no_harm() -> None:
    journal = Journal(None)
    journal.append_events([event(HOUR, "a.md", None, 10, memtui.Agent("Claude"))])
    with Engine(MemoryStore(), journal) as engine:
        assert collect_growth(engine, (), 0).files == (1,)
        journal.append_events(
            [event(3 * HOUR, "b.md", None, 1, memtui.Agent("x")), event(0, "c.md", None, 1, memtui.Agent("x"))]
        )
        assert collect_growth(engine, (), 4 * HOUR, points=4).files == (1, 1, 3, 3)


def test_the_last_point_is_what_stands_now(table: Any) -> None:
    table.write("notes/x.md", "x\n")
    table.do(command="rename", old_path="notes", new_path="old")
    table.do(command="delete", path="a.md")
    totals = table.memory.get_totals()
    found = collect_growth(table.memory, (), table.memory.history.get_event(1).at_us + HOUR)
    assert (found.files[-1], found.bytes[-1]) == (totals.files, totals.bytes)
    assert len(found.at_us) == 40


def test_many_actors_are_told_together() -> None:
    journal = Journal(None)
    journal.append_events([event(HOUR * at, f"{at}.md", None, 1, memtui.Agent(f"agent {at}")) for at in range(1, 13)])
    with Engine(MemoryStore(), journal) as engine:
        found = collect_growth(engine, (), 12 * HOUR, points=3)
    assert len(found.writes) == 9
    assert sum(found.writes[OTHERS]) == found.gathered == 4


def test_an_agent_called_as_those_who_are_told_together_is_one_of_them() -> None:
    journal = Journal(None)
    names = [*(f"agent {at}" for at in range(9)), OTHERS, OTHERS, OTHERS]
    journal.append_events(
        [event(HOUR * at, f"{at}.md", None, 1, memtui.Agent(name)) for at, name in enumerate(names, 1)]
    )
    with Engine(MemoryStore(), journal) as engine:
        found = collect_growth(engine, (), 12 * HOUR, points=3)
    assert sum(map(sum, found.writes.values())) == len(names)
    assert list(found.writes)[-1] == OTHERS
    assert len(found.writes) - 1 + found.gathered == 10
