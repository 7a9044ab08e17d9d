"""A journal that cannot be used is said, and set aside if it is damaged; the files can be seen and used as before."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.core.errors import JournalDamaged, StateUnusable
from memtui.core.events import Memtui
from memtui.journal.sqlite import Journal
from memtui.memory import JOURNAL


@pytest.fixture
def recorded(plain_world: Any) -> Any:
    for number in range(40):
        plain_world.ask(command="create", path=f"/memories/{number}", file_text=f"note {number}\n" * 30)
    plain_world.main.close()
    return plain_world


def set_aside(world: Any) -> list[Path]:
    return sorted(path for path in world.state.iterdir() if path.name.startswith("journal-damaged-"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"no database " * 500,
        lambda data: data[:100] + b"\xff" * 5_000 + data[5_100:],
        lambda data: data[: len(data) // 3],
        lambda data: data[:50],
    ],
    ids=["another text", "first pages", "cut off", "hardly anything"],
)
def test_a_damaged_journal_is_set_aside_and_the_new_one_says_so_first(recorded: Any, damage: Any) -> None:
    journal, before = recorded.state / JOURNAL, recorded.tree()
    damaged = damage(journal.read_bytes())
    journal.write_bytes(damaged)
    try:
        memory = memtui.open(recorded.folder, state=recorded.state)
    except StateUnusable:  # the damage lies where opening does not look: it is found on the way
        memory = memtui.open(recorded.folder, state=recorded.state)
    with memory:
        first = next(memory.events())
        (aside,) = set_aside(recorded)
        assert (first.command, first.actor) == ("began", Memtui())
        assert aside.name in first.note
        assert aside.read_bytes() == damaged
        assert recorded.tree() == before
        assert len(memory.history.get_state(memory.get_head()[0])) == 40
    with memtui.open(recorded.folder, state=recorded.state) as memory:
        assert next(memory.events()).command == "began"
    assert len(set_aside(recorded)) == 1


def test_damage_that_is_found_on_the_way_is_dealt_with_at_the_next_start(recorded: Any) -> None:
    journal = recorded.state / JOURNAL
    raw = sqlite3.connect(journal)
    raw.execute("DROP TRIGGER events_hold")
    raw.execute("UPDATE events SET body = x'00' WHERE seq = 20")
    raw.commit()
    raw.close()
    with memtui.open(recorded.folder, state=recorded.state) as memory, pytest.raises(JournalDamaged):
        list(memory.events())
    with memtui.open(recorded.folder, state=recorded.state) as memory:
        assert next(memory.events()).command == "began"
    assert len(set_aside(recorded)) == 1


def test_a_false_alarm_leaves_the_journal_where_it_is(recorded: Any) -> None:
    (recorded.state / (JOURNAL + ".suspect")).touch()
    with memtui.open(recorded.folder, state=recorded.state) as memory:
        assert next(memory.events()).command == "create"
    assert not set_aside(recorded)
    assert not (recorded.state / (JOURNAL + ".suspect")).exists()


def test_a_journal_that_is_gone_is_said_by_the_new_one(recorded: Any) -> None:
    memtui.open(recorded.folder, state=recorded.state).close()
    (recorded.state / JOURNAL).unlink()
    with memtui.open(recorded.folder, state=recorded.state) as memory:
        first = next(memory.events())
        assert (first.command, first.note) == ("began", "the earlier journal for this folder is missing")


def test_a_first_journal_begins_without_a_word(plain_world: Any, tmp_path: Path) -> None:
    with memtui.open(plain_world.folder, state=tmp_path / "new") as memory:
        assert list(memory.events()) == []


def test_a_damaged_journal_is_only_looked_past_by_those_who_only_look(recorded: Any) -> None:
    journal = recorded.state / JOURNAL
    journal.write_bytes(b"no database " * 500)
    with pytest.raises(JournalDamaged):
        memtui.open(recorded.folder, state=recorded.state, read_only=True)
    assert journal.read_bytes() == b"no database " * 500
    assert not set_aside(recorded)


def test_a_newer_or_a_foreign_journal_is_never_set_aside(recorded: Any) -> None:
    journal = recorded.state / JOURNAL
    for pragma, words in (("user_version = 99", "newer memtui"), ("application_id = 77", "another program")):
        raw = sqlite3.connect(journal)
        raw.execute(f"PRAGMA {pragma}")
        raw.close()
        with pytest.raises(StateUnusable, match=words):
            memtui.open(recorded.folder, state=recorded.state)
    assert not set_aside(recorded)


def test_a_journal_of_schema_1_is_carried_on(recorded: Any) -> None:
    raw = sqlite3.connect(recorded.state / JOURNAL)
    raw.executescript("DROP TABLE taken_back; DROP INDEX noting; PRAGMA user_version = 1;")
    raw.close()
    with memtui.open(recorded.folder, state=recorded.state) as memory:
        assert memory.undo([40]).problem == ""
        assert memory.history.find_undoing_event(40) == 41
    with memtui.open(recorded.folder, state=recorded.state, read_only=True) as memory:
        assert memory.history.find_undoing_event(40) == 41


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_journal_that_cannot_be_written_can_still_be_read(recorded: Any) -> None:
    recorded.state.chmod(0o500)
    (recorded.state / JOURNAL).chmod(0o400)
    try:
        with pytest.raises(StateUnusable):
            memtui.open(recorded.folder, state=recorded.state)
        with memtui.open(recorded.folder, state=recorded.state, read_only=True) as memory:
            assert len(memory.history.versions_of("1")) == 1
    finally:
        recorded.state.chmod(0o700)


def test_where_no_write_ahead_log_can_be_kept_every_commit_is_synced(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "j"))
    assert journal._must_sync is False
    journal._db.execute("PRAGMA journal_mode = DELETE")
    journal._must_sync = True
    journal.set_metadata("a", "b")
    assert journal._db.execute("PRAGMA synchronous").fetchone()[0] == 2
    journal.close()


def test_a_journal_that_is_emptied_while_it_is_open_is_not_written_to(plain_world: Any) -> None:
    plain_world.ask(command="create", path="/memories/a", file_text="x\n")
    os.truncate(plain_world.state / JOURNAL, 0)
    answer = plain_world.ask(command="create", path="/memories/b", file_text="y\n")
    assert answer.is_error
    assert "Nothing was changed" in answer.text
    assert sorted(plain_world.tree()) == ["a"]


def test_a_kill_while_a_journal_is_set_aside_leaves_no_log_beside_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, log = tmp_path / JOURNAL, tmp_path / (JOURNAL + "-wal")
    journal.write_bytes(b"damaged")
    log.write_bytes(b"all that was recorded lately")  # SQLite removes it where it lies beside an empty journal
    rename, renamed = os.rename, []

    def dying(*arguments: Any) -> None:
        if renamed:
            raise KeyboardInterrupt
        renamed.append(arguments)
        rename(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", dying)
        with pytest.raises(KeyboardInterrupt):
            memory_module._move_damaged_aside(journal)
    assert journal.exists()
    assert not log.exists()
    memory_module._move_damaged_aside(journal)
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"damaged", b"all that was recorded lately"}
    assert not journal.exists()
