"""The half of the engine that cannot write: what it lacks, what it finds, and where it keeps that."""

import inspect
import os
from pathlib import Path

import pytest

import memtui
from memtui import opening
from memtui.core.errors import Closed
from memtui.core.paths import parse
from memtui.engine import Engine, Observer, Source
from memtui.engine.observing import Observer as Defined
from memtui.journal.sqlite import Journal
from memtui.store.looking import ReadOnlyFolder
from memtui.store.memory import MemoryStore
from tests.neutral.conftest import Recorded
from tests.neutral.trees import differences, traces

_LOOKING = {
    "answer_to_view",
    "close",
    "entry",
    "events",
    "head",
    "history",
    "is_looked_at",
    "journal",
    "look",
    "loss",
    "names",
    "note",
    "read_only",
    "reconcile",
    "recorded",
    "settings",
    "store",
    "subscribe",
    "totals",
}
"""All that an observer offers. Whatever is added here has to be something that changes nothing."""


@pytest.fixture
def observer(recorded: Recorded) -> "Observer":
    return opening.observe(recorded.folder)


def test_an_observer_offers_nothing_that_changes_anything(observer: Observer) -> None:
    with observer:
        offered = {name for name in dir(observer) if not name.startswith("_")}
    assert offered <= _LOOKING
    changing = {name for name in dir(Engine) if not name.startswith("_")} - _LOOKING
    assert {"execute", "restore", "restore_below", "undo", "write", "clear", "redact", "prune", "set_note"} <= changing
    assert not any(hasattr(Observer, name) for name in changing)


def test_no_part_of_an_observer_can_write(observer: Observer) -> None:
    with observer:
        parts = {type(value).__name__ for value in vars(observer).values()}
    assert not parts & {"Executor", "Restorer", "Recovery", "Files", "Forgetter", "Protection", "Announcer", "Teller"}


def test_its_store_hands_out_no_transaction(observer: Observer) -> None:
    with observer:
        assert type(observer.store) is ReadOnlyFolder
        assert not hasattr(observer.store, "writing")
    offered = {name for name, _ in inspect.getmembers(ReadOnlyFolder, callable) if not name.startswith("_")}
    assert offered == {"close", "node", "read", "read_link", "scan", "names", "entries", "is_passing"}


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
    with opening.observe(recorded.folder) as observer:
        found = [(event.command, event.path) for event in observer.events(observer.recorded.last)]
        assert found == [("modified", "/memories/prefs.md")]
        assert observer.recorded.source is Source.JOURNAL
        assert (observer.recorded.last, observer.recorded.has_texts) == (recorded.head, True)
        changed = observer.history.event(recorded.head + 1)
        assert changed is not None
        assert observer.history.text(changed.changes[0].after) == b"- long answers\n- Berlin\n"
    assert differences(before, traces(recorded.folder, recorded.state)) == []
    with opening.observe(recorded.folder) as again:
        assert again.recorded.last == recorded.head


def test_a_screen_may_open_first_and_look_later(recorded: Recorded) -> None:
    told: list[int] = []
    with opening.observe(recorded.folder, look=False) as observer:
        observer.subscribe(lambda: told.append(observer.head()[0]))
        assert observer.head()[0] == recorded.head
        assert observer.reconcile() == 1
    assert told == [recorded.head + 1]


def test_what_an_agent_would_see_can_be_asked(observer: Observer) -> None:
    with observer:
        answer = observer.answer_to_view(parse("/memories/new.md"))
        assert "     1\tc\n     2\tb" in answer
        assert observer.answer_to_view(parse("/memories/none.md")).startswith("The path /memories/none.md")
        assert observer.look("prefs.md").data == b"- long answers\n- Berlin\n"


def test_an_observer_that_is_closed_answers_nothing_more(observer: Observer) -> None:
    observer.close()
    observer.close()
    with pytest.raises(Closed):
        observer.head()


def test_a_name_that_a_writer_has_for_a_moment_is_not_shown(recorded: Recorded) -> None:
    token = (recorded.state / "token").read_text()
    passing = recorded.folder / f".memtui-{token}-{'0' * 16}"
    passing.write_text("on its way")
    with opening.observe(recorded.folder) as observer:
        assert os.path.basename(passing) not in {entry.path for entry in observer.names()}
    with opening.observe(recorded.folder, state=Path(recorded.state).parent / "none") as stranger:
        assert os.path.basename(passing) in {entry.path for entry in stranger.names()}
