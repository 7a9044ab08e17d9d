"""Events that change nothing are recorded behind the answers: in order, before any later event, and soon."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.errors import StateUnusable
from memtui.journal import deferred, sqlite
from tests.conftest import wait_until

ME = memtui.Agent("tester")
VIEW = {"command": "view", "path": "/memories/a.md"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.md").write_text("one\n")
    return tmp_path / "m"


@pytest.fixture
def memory(folder: Path, tmp_path: Path) -> Iterator[Any]:
    with memtui.open(folder, state=tmp_path / "s") as memory:
        yield memory


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits is recorded when it is asked for only."""
    monkeypatch.setattr(deferred, "_SECONDS", 3_600)


def count_recorded(memory: Any) -> int:
    """How many events another process finds."""
    with closing(sqlite3.connect(memory.journal.files.bells[0])) as other:
        return int(other.execute("SELECT count(*) FROM events").fetchone()[0])


def test_a_view_waits_and_is_recorded_soon(memory: Any) -> None:
    before = count_recorded(memory)
    for _ in range(3):
        memory.execute(VIEW, actor=ME)
    wait_until(lambda: count_recorded(memory) == before + 3, "the record")
    for _ in range(2):
        memory.execute(VIEW, actor=ME)
    wait_until(lambda: count_recorded(memory) == before + 5, "the record of the next batch")


@pytest.mark.usefixtures("patient")
class TestOrder:
    """With nothing recorded by itself."""

    def test_many_views_are_one_commit(self, memory: Any) -> None:
        before, commits = count_recorded(memory), []
        memory.journal._db.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
        for _ in range(5):
            memory.execute(VIEW, actor=ME)
        assert count_recorded(memory) == before
        memory.journal.deferred.flush()
        assert (count_recorded(memory), len(commits)) == (before + 5, 1)

    def test_a_change_records_the_views_before_it_in_its_own_commit(self, memory: Any) -> None:
        memory.execute({"command": "create", "path": "/memories/b.md", "file_text": "b"}, actor=ME)
        commits: list[str] = []
        memory.journal._db.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
        memory.execute({"command": "create", "path": "/memories/c.md", "file_text": "c"}, actor=ME)
        alone = len(commits)
        view = memory.execute(VIEW, actor=ME)
        memory.execute({"command": "create", "path": "/memories/d.md", "file_text": "d"}, actor=ME)
        assert len(commits) == 2 * alone
        assert view.recorded.wait().seq == memory.get_head()[0] - 1

    def test_a_view_waits_on_where_the_change_behind_it_is_taken_back(self, memory: Any) -> None:
        view, head = memory.execute(VIEW, actor=ME), count_recorded(memory)
        with pytest.raises(ZeroDivisionError), sqlite.WriteTransaction(memory.journal, durable=False):
            raise ZeroDivisionError
        assert (count_recorded(memory), memory.journal.deferred.is_waiting) == (head, True)
        later = memory.execute({"command": "nonsense"}, actor=ME)
        assert [view.event.seq, later.event.seq] == [head + 1, head + 2]
        assert view.event.note != deferred.NOT_RECORDED
        assert memory.journal.verify().is_intact

    def test_the_event_of_an_answer_is_recorded_when_it_is_asked_for(self, memory: Any) -> None:
        first, second = memory.execute(VIEW, actor=ME), memory.execute(VIEW, actor=ME)
        assert second.event.seq == first.event.seq + 1
        assert second.event == list(memory.events())[-1]
        assert second.event.hash == memory.get_head()[1]

    def test_a_change_comes_after_the_views_before_it(self, memory: Any) -> None:
        memory.execute(VIEW, actor=ME)
        memory.execute({"command": "create", "path": "/memories/b.md", "file_text": "b"}, actor=ME)
        memory.execute(VIEW, actor=ME)
        memory.execute({"command": "nonsense"}, actor=ME)
        assert [event.command for event in memory.events()][-4:] == ["view", "create", "view", "nonsense"]
        assert memory.journal.verify().is_intact

    def test_closing_records_what_waits(self, memory: Any, folder: Path, tmp_path: Path) -> None:
        memory.execute(VIEW, actor=ME)
        memory.close()
        with memtui.open(folder, state=tmp_path / "s") as again:
            assert [event.command for event in again.events()][-1] == "view"

    def test_a_text_that_was_seen_first_by_a_view_is_kept(self, memory: Any, folder: Path) -> None:
        (folder / "a.md").write_text("two\n")
        answer = memory.execute(VIEW, actor=ME)
        (folder / "a.md").write_text("three\n")
        assert memory.history.text(answer.event.viewed) == b"two\n"

    def test_a_full_queue_does_not_wait(self, memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(deferred, "_COUNT", 3)
        before = count_recorded(memory)
        for _ in range(4):
            memory.execute(VIEW, actor=ME)
        assert count_recorded(memory) == before + 3

    def test_what_cannot_be_recorded_says_so_and_is_answered(
        self, memory: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        head = memory.get_head()

        def fail(*_: object) -> None:
            raise StateUnusable("no space")

        answer = memory.execute(VIEW, actor=ME)
        with monkeypatch.context() as broken:
            broken.setattr(sqlite.Journal, "_chain_events", fail)
            assert (answer.event.note, answer.event.seq) == ("not recorded", 0)
        assert memory.get_head() == head
        assert memory.execute(VIEW, actor=ME).event.seq == head[0] + 1

    def test_a_number_that_a_change_has_taken_stays_its_own(self, memory: Any) -> None:
        journal, event = memory.journal, memory.execute(VIEW, actor=ME).event
        intent = journal.add_intent(event, {})
        memory.execute(VIEW, actor=ME)
        assert journal.finish_intent(intent, {}, durable=False).seq == intent.seq
        assert memory.get_head()[0] == intent.seq + 1

    def test_views_of_many_threads_are_all_recorded(self, memory: Any) -> None:
        before = memory.get_head()[0]
        threads = [
            threading.Thread(target=lambda: [memory.execute(VIEW, actor=ME) for _ in range(50)]) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert memory.get_head()[0] == before + 400
        assert memory.journal.verify().is_intact


def test_a_program_that_ends_without_closing_records_what_waits(folder: Path, tmp_path: Path) -> None:
    program = (
        "import sys, memtui\n"
        "from memtui.journal import deferred\n"
        "deferred._SECONDS = 3600\n"
        "memory = memtui.open(sys.argv[1], state=sys.argv[2])\n"
        "memory.execute({'command': 'view', 'path': '/memories/a.md'}, actor=memtui.Agent('leaving'))\n"
    )
    subprocess.run([sys.executable, "-c", program, str(folder), str(tmp_path / "s")], check=True)
    with memtui.open(folder, state=tmp_path / "s") as memory:
        assert [event.actor.name for event in memory.events()][-1] == "leaving"


def test_a_memory_that_is_forgotten_leaves_no_thread(folder: Path, tmp_path: Path) -> None:
    import gc  # noqa: PLC0415 - here only

    def count() -> int:
        return sum(thread.name == "memtui record" for thread in threading.enumerate())

    before = count()
    memory = memtui.open(folder, state=tmp_path / "s")
    memory.execute(VIEW, actor=ME)
    assert count() == before + 1
    memory.close()
    del memory
    gc.collect()
    wait_until(lambda: count() == before, "the end of the thread")
