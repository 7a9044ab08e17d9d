"""Memories and journal in one SQLite file: made, carried, killed, shared, and never mistaken for another one."""

import contextlib
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory
from memtui.core.errors import FolderMissing, StateUnusable
from memtui.core.paths import MemoryPath
from memtui.store.memory import MemoryStore
from memtui.store.sqlite import SqliteStore
from memtui.watch import FolderWatcher
from tests.conftest import wait_until

ME = memtui.Agent("tester")
of = MemoryPath.from_relative
WRITE = """
import sys
import memtui
place, name, count = sys.argv[1:]
with memtui.open(place, settings=memtui.Settings(lock_seconds=50)) as memory:
    for number in range(int(count)):
        command = {"command": "create", "path": f"/memories/{name}/{number}.md", "file_text": f"{name} {number}\\n"}
        answer = memory.execute(command, actor=memtui.Agent(name))
        assert not answer.is_error, answer.text
        while True:
            value = memory.execute({"command": "view", "path": "/memories/count"}, actor=memtui.Agent(name)).text
            value = value.split("=")[1].split("\\n")[0]
            step = {"command": "str_replace", "path": "/memories/count", "old_str": f"={value}\\n"}
            if not memory.execute(step | {"new_str": f"={int(value) + 1}\\n"}, actor=memtui.Agent(name)).is_error:
                break
        print(number, flush=True)
"""


@pytest.fixture
def place(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'team.db'}"


def create(engine: Any, path: str, text: str) -> None:
    answer = engine.execute({"command": "create", "path": f"/memories/{path}", "file_text": text}, actor=ME)
    assert not answer.is_error, answer.text


def read_all(engine: Any) -> dict[str, bytes]:
    contents = engine.store.scan_contents(limit=1 << 30)
    return {node.path: content.data for node, content in contents if content is not None}


def test_a_file_is_made_once_and_holds_memories_and_their_history(place: str, tmp_path: Path) -> None:
    with memtui.open(place) as engine:
        create(engine, "a/b.md", "one\n")
        create(engine, "a/b.md", "two\n")
        head = engine.get_head()
    assert sorted(os.listdir(tmp_path)) == ["team.db", "team.db-lock", "xdg-state"]
    with memtui.open(place) as engine:
        assert engine.get_head() == head, "nothing was changed meanwhile"
        assert read_all(engine) == {"a/b.md": b"two\n"}
        assert [event.command for event in engine.events()] == ["create", "create"]
        assert engine.undo([head[0]]).event is not None
        assert read_all(engine) == {"a/b.md": b"one\n"}
        assert engine.journal.verify().is_intact


def test_it_can_be_carried_to_another_place(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with memtui.open(place) as engine:
        create(engine, "a.md", "one\n")
        head = engine.get_head()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "team.db").rename(tmp_path / "elsewhere" / "mine.db")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other-state"))
    with memtui.open(f"sqlite:{tmp_path / 'elsewhere' / 'mine.db'}") as engine:
        assert engine.get_head() == head
        assert read_all(engine) == {"a.md": b"one\n"}


def test_it_is_looked_at_without_a_trace(place: str, tmp_path: Path) -> None:
    with memtui.open(place) as engine:
        create(engine, "a.md", "one\n")
    before = {each: (tmp_path / each).read_bytes() for each in ("team.db", "team.db-lock")}
    names = sorted(os.listdir(tmp_path))
    with memory.observe(place) as observer:
        assert read_all(observer) == {"a.md": b"one\n"}
        assert [event.command for event in observer.events()] == ["create"]
    with memtui.open(place, read_only=True) as engine:
        refused = engine.execute({"command": "delete", "path": "/memories/a.md"}, actor=ME)
        assert refused.is_error
        assert read_all(engine) == {"a.md": b"one\n"}
    assert {each: (tmp_path / each).read_bytes() for each in before} == before
    assert sorted(os.listdir(tmp_path)) == names


@pytest.mark.parametrize("read_only", [True, False])
def test_what_is_no_file_of_memories_is_left_alone_and_named(tmp_path: Path, read_only: bool) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("one\n")
    with memtui.open(folder, state=tmp_path / "state"):
        pass
    (tmp_path / "text.db").write_text("no database, but words that are long enough to be read as its header\n" * 9)
    with contextlib.closing(sqlite3.connect(tmp_path / "foreign.db")) as foreign:
        foreign.execute("CREATE TABLE entries (path TEXT)")
    for name, words in {
        "text.db": "file is not a database",
        "foreign.db": "The file is a database of another program. Nothing was changed. Choose another file.",
        "state/journal.db": "The file is the journal of a memory folder, and holds no memories itself.",
    }.items():
        before = (tmp_path / name).read_bytes()
        with pytest.raises(StateUnusable, match=words):
            memtui.open(f"sqlite:{tmp_path / name}", read_only=read_only)
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(StateUnusable, match="they are one file"):
        memory.connect_without_journal(f"sqlite:{tmp_path / 'text.db'}")
    with pytest.raises(StateUnusable, match="file is not a database"):
        memory.connect_degraded(f"sqlite:{tmp_path / 'text.db'}")


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FolderMissing, match="in which the file could be made"):
        memtui.open(f"sqlite:{tmp_path / 'no' / 'team.db'}")
    for look in (memory.observe, lambda place: memtui.open(place, read_only=True)):
        with pytest.raises(FolderMissing, match="No file at"):
            look(f"sqlite:{tmp_path / 'none.db'}")
    assert not (tmp_path / "none.db").exists()


def test_what_another_program_writes_into_the_table_is_recorded_as_from_outside(place: str, tmp_path: Path) -> None:
    with memtui.open(place) as engine:
        create(engine, "a.md", "one\n")
    with contextlib.closing(sqlite3.connect(tmp_path / "team.db")) as other, other:
        kept = "path, kind, size, mode, mtime_ns"
        other.execute(f"INSERT OR REPLACE INTO entries ({kept}, data) SELECT {kept}, CAST('two' AS BLOB) FROM entries "
                      "WHERE path = CAST('a.md' AS BLOB)")  # fmt: skip
    with memtui.open(place) as engine:
        assert [(event.command, event.path) for event in engine.events()][-1] == ("modified", "/memories/a.md")
        assert read_all(engine) == {"a.md": b"two"}
        report = engine.journal.verify()
        assert report.is_intact
        assert not report.findings
    with contextlib.closing(sqlite3.connect(tmp_path / "team.db")) as other, other:
        other.execute("CREATE TABLE hidden (x)")
        other.execute("DROP INDEX entry_links")
    with memtui.open(place) as engine:
        words = " ".join(finding.text for finding in engine.journal.verify().findings)
        assert "There is a table hidden in the journal that memtui did not create." in words
        assert "The index entry_links of the journal was removed." in words


def test_several_programs_write_at_once_and_are_killed(run_python: Any, place: str) -> None:
    with memtui.open(place) as engine:
        create(engine, "count", "=0\n")
    acknowledged = 0
    for turn in range(3):
        names = [f"w{turn}{each}" for each in range(3)]
        running = [run_python(WRITE, place, name, 400, wait=False) for name in names]
        told: dict[str, int] = {}
        for name, process in zip(names, running, strict=True):
            told[name] = 1 + max(int(process.stdout.readline()) for _ in range(4))
        for process in running:
            process.send_signal(signal.SIGKILL)
        for name, process in zip(names, running, strict=True):
            rest = process.communicate()[0].split()
            told[name] = max(told[name], *(int(number) + 1 for number in rest), 0)
        acknowledged += sum(told.values())
        with memtui.open(place) as engine:
            files = read_all(engine)
            for name, count in told.items():
                for number in range(count):
                    assert files[f"{name}/{number}.md"] == f"{name} {number}\n".encode()
            assert int(files["count"][1:]) >= acknowledged
            acknowledged = int(files["count"][1:])
            assert engine.journal.verify().is_intact
            assert {type(event.actor).__name__ for event in engine.events()} == {"Agent"}, "nothing from outside"


def test_a_watcher_hears_of_another_program(run_python: Any, place: str) -> None:
    with memtui.open(place) as engine:
        create(engine, "count", "=0\n")
        heads: list[int] = []
        watch = FolderWatcher(engine, place, "", changed=lambda: heads.append(engine.get_head()[0]))
        watch.start()
        try:
            wait_until(lambda: heads, "the watcher has looked")
            run_python(WRITE, place, "other", 2)
            wait_until(lambda: heads[-1] == engine.get_head()[0] >= 7, "all events are seen")
        finally:
            watch.stop()


def open_stores(tmp_path: Path) -> Any:
    with memtui.open(f"sqlite:{tmp_path / 'left.db'}"):
        pass
    return [MemoryStore(), SqliteStore.open(str(tmp_path / "left.db"))]


def test_what_was_on_its_way_is_removed_or_put_back(tmp_path: Path) -> None:
    for store in open_stores(tmp_path):
        with contextlib.closing(store), store.begin_transaction(1) as transaction:
            for path, data in {"a": b"known", "d/b": b"unknown", "c": b"there"}.items():
                transaction.write(of(path), data, expected=None)
            for path in ("a", "d"):
                transaction.rename(of(path), transaction.make_temporary_path(of(path)))
            assert [node.path for node in store.scan(of(""))] == ["c"]
            transaction.clean_up(is_known=lambda data: data == b"known", place=of("c"))
            assert [node.path for node in store.scan(of(""))] == ["c", "c~1", "c~1/b"]
            assert store.read(of("c~1/b"), limit=9).data == b"unknown"


def test_directories_of_a_dead_writer_go_where_nothing_came_into_them(tmp_path: Path) -> None:
    for store in open_stores(tmp_path):
        with contextlib.closing(store), store.begin_transaction(1) as transaction:
            transaction.make_directory(of("a/b/c"))
            transaction.write(of("d/f"), b"", expected=None)
            transaction.unmake(["a", "a/b", "a/b/c", "d", "d/f", "gone"])
            assert [node.path for node in store.scan(of(""))] == ["d", "d/f"]


def test_a_change_that_fails_half_way_leaves_everything_as_it_was(tmp_path: Path) -> None:
    store = open_stores(tmp_path)[1]
    with contextlib.closing(store), contextlib.closing(sqlite3.connect(tmp_path / "left.db")) as other:
        other.execute(
            "CREATE TRIGGER full BEFORE INSERT ON entries WHEN NEW.kind = 'file' BEGIN SELECT RAISE(ABORT, 'x'); END"
        )
        with store.begin_transaction(1) as transaction, pytest.raises(OSError, match="Input/output error"):
            transaction.write(of("a/b/f"), b"x", expected=None)
        assert list(store.scan(of(""))) == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET mtime_ns = mtime_ns + 1 WHERE path = x'612f622e6d64'",
        "UPDATE entries SET mode = 493 WHERE path = x'61'",
        "UPDATE entries SET size = 5 WHERE path = x'612f622e6d64'",
        "UPDATE entries SET number = 100 WHERE path = x'61'",
        "UPDATE entries SET kind = 'link' WHERE path = x'612f622e6d64'",
        "UPDATE entries SET path = x'63' WHERE path = x'612f622e6d64'",
        "DELETE FROM entries WHERE path = x'612f622e6d64'",
        "INSERT INTO entries (path, kind, size, data) VALUES (x'63', 'file', 0, x'')",
        "UPDATE known SET sha256 = NULL WHERE path = x'612f622e6d64'",
    ],
)
def test_only_where_every_row_is_as_it_was_recorded_there_is_nothing_to_look_for(place: str, change: str) -> None:
    with memtui.open(place) as engine:
        create(engine, "a/b.md", "one\n")
        create(engine, "c.md", "two\n")
        assert engine.execute({"command": "delete", "path": "/memories/c.md"}, actor=ME).is_error is False
        assert engine.store.is_as_known()
        with contextlib.closing(sqlite3.connect(place.removeprefix("sqlite:"), isolation_level=None)) as other:
            other.execute(change)
        assert not engine.store.is_as_known()
