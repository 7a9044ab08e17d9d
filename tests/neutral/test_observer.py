"""The half of the engine that cannot write: what it lacks, what it finds, and where it keeps that."""

import inspect
import os
from pathlib import Path

import pytest

import memtui
from memtui import memory as memory_module
from memtui.core.errors import MemoryClosed
from memtui.core.paths import parse_path
from memtui.engine import Engine, JournalSource, Observer
from memtui.engine.observer import Observer as Defined
from memtui.journal.sqlite import Journal
from memtui.store.memory import MemoryStore
from memtui.store.open_folder import ReadOnlyFolder
from tests.neutral.conftest import Recorded
from tests.neutral.trees import differences, traces

_LOOKING = {
    "attach",
    "can_be_kept",
    "close",
    "context",
    "dialect",
    "events",
    "get_entry",
    "get_head",
    "get_metadata",
    "get_totals",
    "graph",
    "history",
    "inspect_path",
    "is_baseline_recorded",
    "is_unrecorded",
    "iter_names",
    "iter_contents",
    "journal",
    "knowledge",
    "loss",
    "preview_view",
    "read_only",
    "reconcile",
    "reconcile_read",
    "record_entries",
    "recorded",
    "settings",
    "store",
    "subscribe",
}
"""All that an observer offers. Whatever is added here has to be something that changes nothing."""


@pytest.fixture
def observer(recorded: Recorded) -> "Observer":
    return memory_module.observe(recorded.folder)


def test_an_observer_offers_nothing_that_changes_anything(observer: Observer) -> None:
    with observer:
        offered = {name for name in dir(observer) if not name.startswith("_")}
    assert offered <= _LOOKING
    changing = {name for name in dir(Engine) if not name.startswith("_")} - _LOOKING
    assert {
        "execute",
        "restore",
        "restore_directory",
        "undo",
        "write",
        "clear",
        "redact",
        "prune",
        "set_metadata",
    } <= changing
    assert not any(hasattr(Observer, name) for name in changing)


def test_no_part_of_an_observer_can_write(observer: Observer) -> None:
    with observer:
        parts = {type(value).__name__ for value in vars(observer).values()}
    assert not parts & {
        "Executor",
        "Restorer",
        "Recovery",
        "FileOperations",
        "Redactor",
        "ProtectionManager",
        "ClaimRecorder",
        "ImportRecorder",
    }


def test_its_store_hands_out_no_transaction(observer: Observer) -> None:
    with observer:
        assert type(observer.store) is ReadOnlyFolder
        assert not hasattr(observer.store, "begin_transaction")
    offered = {name for name, _ in inspect.getmembers(ReadOnlyFolder, callable) if not name.startswith("_")}
    assert offered == {
        "attach",
        "close",
        "find_inodes",
        "get_node",
        "is_accessible",
        "is_as_known",
        "is_temporary_name",
        "iter_names",
        "iter_raw_entries",
        "iter_sizes",
        "read",
        "read_link",
        "refresh",
        "scan",
        "scan_contents",
    }


def test_an_observer_refuses_a_journal_on_the_disk(recorded: Recorded) -> None:
    journal = Journal(str(recorded.state / "journal.db"))
    try:
        with pytest.raises(ValueError, match="in memory"):
            Defined(MemoryStore(), journal)
    finally:
        journal.close()


def test_an_engine_is_an_observer_too() -> None:
    with memtui.open_in_memory() as memory:
        assert isinstance(memory, Observer)


def test_what_was_changed_unrecorded_is_found_and_kept_in_memory_only(recorded: Recorded) -> None:
    before = traces(recorded.folder, recorded.state)
    with memory_module.observe(recorded.folder) as observer:
        found = [(event.command, event.path) for event in observer.events(observer.recorded.last)]
        assert found == [("modified", "/memories/prefs.md")]
        assert observer.recorded.source is JournalSource.JOURNAL
        assert (observer.recorded.last, observer.recorded.has_texts) == (recorded.head, True)
        changed = observer.history.get_event(recorded.head + 1)
        assert changed is not None
        assert observer.history.text(changed.changes[0].after) == b"- long answers\n- Berlin\n"
    assert differences(before, traces(recorded.folder, recorded.state)) == []
    with memory_module.observe(recorded.folder) as again:
        assert again.recorded.last == recorded.head


def test_a_screen_may_open_first_and_look_later(recorded: Recorded) -> None:
    told: list[int] = []
    with memory_module.observe(recorded.folder, look=False) as observer:
        observer.subscribe(lambda: told.append(observer.get_head()[0]))
        assert observer.get_head()[0] == recorded.head
        assert observer.reconcile() == 1
    assert told == [recorded.head + 1]


def test_what_an_agent_would_see_can_be_asked(observer: Observer) -> None:
    with observer:
        answer = observer.preview_view(parse_path("/memories/new.md"))
        assert "     1\tc\n     2\tb" in answer
        assert observer.preview_view(parse_path("/memories/none.md")).startswith("The path /memories/none.md")
        assert observer.inspect_path("prefs.md").data == b"- long answers\n- Berlin\n"


def test_an_observer_that_is_closed_answers_nothing_more(observer: Observer) -> None:
    observer.close()
    observer.close()
    with pytest.raises(MemoryClosed):
        observer.get_head()


def test_a_name_that_a_writer_has_for_a_moment_is_not_shown(recorded: Recorded) -> None:
    token = (recorded.state / "token").read_text()
    passing = recorded.folder / f".memtui-{token}-{'0' * 16}"
    passing.write_text("on its way")
    (recorded.state / "passing").write_text(f"{passing.name} {passing.stat().st_ino}\n")
    with memory_module.observe(recorded.folder) as observer:
        assert os.path.basename(passing) not in {entry.path for entry in observer.iter_names()}
    with memory_module.observe(recorded.folder, state=Path(recorded.state).parent / "none") as stranger:
        assert os.path.basename(passing) in {entry.path for entry in stranger.iter_names()}
