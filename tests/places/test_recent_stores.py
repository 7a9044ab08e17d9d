"""Stores that were opened before: what this machine has of them, and nothing is asked, made or changed."""

import sqlite3
import threading
from pathlib import Path

import pytest

import memtui
from memtui import memory as memory_module
from memtui.core.errors import StateUnusable
from memtui.fs.state import COPY, get_state_directory, remember_folder
from memtui.places.folders import format_owner
from memtui.places.probe import DirectoryProber
from memtui.recent_stores import find_recent_stores, observe_store
from memtui.sqlite_file import connect

AWAY = "postgres://me@db.example/app?sslpassword=hunter2&store=team"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def make_copy(place: str) -> Path:
    """What is known of a store on a server, as if it had been opened."""
    where = get_state_directory(place)
    where.mkdir(parents=True)
    with connect(f"sqlite:{where / COPY}", state=where) as memory:
        create = {"command": "create", "path": "/memories/a.md", "file_text": "zebra\n"}
        assert not memory.execute(create, actor=memtui.Agent("Planner")).is_error
    remember_folder(where, place)
    return where / COPY


def test_a_store_that_is_away_is_known_by_its_copy(state: Path) -> None:
    make_copy(AWAY)
    kept = sorted((path, path.stat().st_mtime_ns) for path in state.rglob("*"))
    (found,) = find_recent_stores()
    assert (found.path, found.display_path) == (AWAY, "postgres://me@db.example/app?store=team")
    assert (format_owner(found), found.files, found.size) == ("server", 1, 6)
    with observe_store(AWAY) as stored:
        assert stored.inspect_path("a.md").data == b"zebra\n"
        last = memory_module.summarize_journal(AWAY).last
        assert last is not None
        assert found.changed_ns == last.at_us * 1_000
    assert sorted((path, path.stat().st_mtime_ns) for path in state.rglob("*")) == kept


def test_what_was_never_read_is_not_listed() -> None:
    with pytest.raises(StateUnusable):
        memtui.open("postgres://me@/app?host=/nowhere")
    assert find_recent_stores() == []


def test_a_file_that_is_no_record_says_so() -> None:
    copy = make_copy(AWAY)
    copy.unlink()
    with sqlite3.connect(copy) as other:
        other.execute("CREATE TABLE events (body BLOB)")
    other.close()
    (found,) = find_recent_stores()
    assert "database of another program" in found.closed


def test_a_large_copy_is_listed_and_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    make_copy(AWAY)
    monkeypatch.setattr(memory_module, "_MOST_JOURNAL_BYTES", 10)
    (found,) = find_recent_stores()
    assert found.files == 1
    with pytest.raises(StateUnusable, match="too large"):
        observe_store(AWAY)


def test_a_disk_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    memtui.open(f"sqlite:{tmp_path}/far.db").close()
    let_go = threading.Event()
    (found,) = find_recent_stores(DirectoryProber(patience=0.05, look=lambda _: let_go.wait()))
    let_go.set()
    assert not found.responds
