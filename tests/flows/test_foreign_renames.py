"""Links follow what an agent or another program renamed, if the person says so."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import memtui
from memtui.core.events import Event, Person
from memtui.engine import Engine
from memtui.flows import foreign_renames
from memtui.ui.flows.dialog import PHRASES
from tests.conftest import ME, fill

FILES = {
    "MEMORY.md": "- [A](user_a.md)\n- [B](notes/b.md)\n",
    "user_a.md": "See [B](notes/b.md).\n",
    "notes/b.md": "See [A](../user_a.md).\n",
    "alone.md": "x\n",
}


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return memtui.open(fill(tmp_path / "folder", FILES), state=tmp_path / "state")


def rename(engine: Engine, old: str, new: str) -> Event:
    names = {"old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}
    answer = engine.execute({"command": "rename", **names}, actor=ME)
    assert not answer.is_error, answer.text
    return answer.event


def read(engine: Engine) -> Mapping[str, str]:
    top = Path(engine.store.path or "")
    return {str(path.relative_to(top)): path.read_text() for path in top.rglob("*.md")}


def describe(engine: Engine, event: Event) -> str:
    return foreign_renames.describe_broken(event, foreign_renames.plan_links_behind(engine, event))


def test_links_follow_what_an_agent_renamed_as_one_event_with_one_undo(engine: Engine) -> None:
    event = rename(engine, "user_a.md", "people/ann.md")
    before = read(engine)
    assert foreign_renames.is_foreign_rename(event)
    assert describe(engine, event) == "3 links lead nowhere since user_a.md was renamed."
    outcome = foreign_renames.rewrite_links_behind(PHRASES, engine, event)
    assert outcome.words == "Rewrote 3 links in 3 notes. u undoes it."
    assert read(engine) == {
        "MEMORY.md": "- [A](people/ann.md)\n- [B](notes/b.md)\n",
        "people/ann.md": "See [B](../notes/b.md).\n",
        "notes/b.md": "See [A](../people/ann.md).\n",
        "alone.md": "x\n",
    }
    assert describe(engine, event).startswith("3 links"), "it is told as of the event"
    assert outcome.event is not None
    assert not engine.undo([outcome.event]).problem
    assert read(engine) == before


def test_links_follow_what_another_program_renamed(engine: Engine) -> None:
    top = Path(engine.store.path or "")
    (top / "notes").rename(top / "topics")
    engine.reconcile()
    events = [event for event in engine.events() if foreign_renames.is_foreign_rename(event)]
    assert len(events) == 1
    assert describe(engine, events[0]) == "2 links lead nowhere since notes was renamed."
    foreign_renames.rewrite_links_behind(PHRASES, engine, events[0])
    assert read(engine)["MEMORY.md"] == "- [A](user_a.md)\n- [B](topics/b.md)\n"


def test_notes_that_changed_since_are_left_and_counted(engine: Engine) -> None:
    event = rename(engine, "user_a.md", "ann.md")
    top = Path(engine.store.path or "")
    (top / "MEMORY.md").write_text("- [A](user_a.md) and more\n")
    outcome = foreign_renames.rewrite_links_behind(PHRASES, engine, event)
    assert outcome.words == "Rewrote 1 link in 1 note. Changed since, so left: 1 note. u undoes it."
    assert read(engine)["MEMORY.md"] == "- [A](user_a.md) and more\n"
    assert read(engine)["notes/b.md"] == "See [A](../ann.md).\n"


def test_protected_notes_are_left(engine: Engine) -> None:
    engine.files.protect(["MEMORY.md"])
    event = rename(engine, "user_a.md", "ann.md")
    assert describe(engine, event) == "1 link leads nowhere since user_a.md was renamed."
    foreign_renames.rewrite_links_behind(PHRASES, engine, event)
    assert read(engine)["MEMORY.md"] == FILES["MEMORY.md"]


def test_nothing_is_said_where_no_link_broke_or_a_person_did_it(engine: Engine) -> None:
    assert describe(engine, rename(engine, "alone.md", "b.md")) == ""
    moved = engine.files.move({"user_a.md": "ann.md"}, actor=Person("you")).event
    assert moved is not None
    assert not foreign_renames.is_foreign_rename(moved)
