"""A second process that makes a part of an audit: it spares time, and never changes a result."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui import memory as memory_module
from memtui.audit import forked_checks
from memtui.audit.cache import AuditCache
from memtui.audit.context import AuditContext, Note
from memtui.audit.model import Audit, Hit
from memtui.audit.runner import run_audit
from memtui.fs import fork
from memtui.scan.work_budget import WorkBudgetSpent
from tests.audit.families import Words, rule
from tests.audit.folders import Folder
from tests.audit.test_cache import MEMORY, NOTES, NOW_US, strip


@pytest.fixture(autouse=True)
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """It pays for any folder, on any machine, also beside the threads of the tests."""
    monkeypatch.setattr(fork, "FEWEST", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(fork, "count_threads", lambda: 1)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path).write(NOTES)


def audit(folder: Folder, **given: Any) -> Audit:
    with memory_module.observe(folder.path, state=folder.state, look=False, settings=MEMORY) as observer:
        return run_audit(
            observer, title="m", place=os.fspath(folder.path), now_us=NOW_US, **{"memory": MEMORY, **given}
        )


class Watched(Words):
    """A family that says by its hits which process found them; `act` is called with each note's path."""

    def __init__(self, act: Any = lambda _: None) -> None:
        super().__init__((rule("todo"), "TODO"))
        self._act = act
        self._own = os.getpid()

    def check_note(self, note: Note, subject: AuditContext) -> Iterator[Hit]:
        for hit in super().check_note(note, subject):
            where = "here" if os.getpid() == self._own else "apart"
            yield Hit(hit.rule, hit.path, f"it was found {where}", hit.start, hit.end)
        if os.getpid() != self._own:
            self._act(note.path)


@pytest.fixture
def small(tmp_path: Path) -> Folder:
    return Folder(tmp_path).write({f"{letter}.md": f"TODO {letter}\n" * 3 for letter in "abcdefghij"})


def find_places(found: Audit) -> list[tuple[str, str]]:
    return [(each.location.path[0], each.words.split()[-1]) for each in found.findings]


@pytest.mark.parametrize("only", [None, ["secret"], ["upkeep"], ["planted", "hidden"]])
def test_an_audit_of_two_processes_says_what_one_would(folder: Folder, only: list[str] | None) -> None:
    forked, plain = AuditCache(), AuditCache()
    expected = strip(audit(folder, only=only, cache=plain))
    assert strip(audit(folder, only=only, forks=True, cache=forked)) == expected
    assert forked.encode() == plain.encode()
    assert strip(audit(folder, only=only, forks=True, cache=forked)) == expected


def test_a_part_of_the_notes_is_looked_at_apart_and_told_in_order(small: Folder) -> None:
    where = find_places(audit(small, families=[Watched()], forks=True))
    assert [path for path, _ in where] == [letter for letter in "abcdefghij" for _ in range(3)]
    assert {word for path, word in where if path in "abcdef"} == {"here"}
    assert {word for path, word in where if path in "ghij"} == {"apart"}


def test_a_process_with_threads_is_not_forked(small: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork, "count_threads", lambda: 2)
    assert {word for _, word in find_places(audit(small, families=[Watched()], forks=True))} == {"here"}


def _end(path: str) -> None:
    if path == "h.md":
        os.kill(os.getpid(), signal.SIGKILL)


def _break(path: str) -> None:
    if path == "h.md":
        raise RuntimeError


def _spend(path: str) -> None:
    if path == "h.md":
        raise WorkBudgetSpent


@pytest.mark.parametrize(("act", "left"), [(_end, "ghij"), (_break, "h"), (_spend, "h")])
def test_what_goes_wrong_there_is_made_good_here(small: Folder, act: Any, left: str) -> None:
    found = audit(small, families=[Watched(act)], forks=True)
    where = find_places(found)
    assert len(where) == 30
    assert {path for path, word in where if word == "here"} == {*"abcdef", *left}


def test_a_note_of_very_many_hits_is_left_to_the_audit(small: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked_checks, "_MOST", 2)
    assert {word for _, word in find_places(audit(small, families=[Watched()], forks=True))} == {"here"}


def test_no_process_is_left(small: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    fork, made = os.fork, list[int]()

    def note_fork() -> int:
        made.append(fork())
        return made[-1]

    monkeypatch.setattr(os, "fork", note_fork)
    audit(small, families=[Watched()], forks=True)
    (pid,) = made
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
