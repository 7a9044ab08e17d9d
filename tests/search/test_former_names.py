"""Names that nothing has any more: of deleted notes, and from before a note was renamed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import memtui
from memtui.core.events import Agent
from memtui.engine import Engine
from memtui.search.finder import Finder
from memtui.search.query import parse_query
from memtui.search.results import FormerName, Scope

CLARA = Agent("Clara")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    folder = tmp_path / "memories"
    folder.mkdir()
    with memtui.open(folder, state=tmp_path / "state") as engine:
        for name in ("plan.md", "notes/today.md", "stays.md"):
            engine.execute({"command": "create", "path": f"/memories/{name}", "file_text": f"{name}\n"}, actor=CLARA)
        yield engine


def former(memory: Engine, query: str, scope: Scope = Scope.PAST) -> list[FormerName]:
    finder = Finder(memory)
    while finder.refresh():
        pass
    return list(finder.find(parse_query(query, now_us=memory.events().__next__().at_us + 10**9), scope).past.names)


def test_a_deleted_note_is_found_by_its_name_with_its_last_text(memory: Engine) -> None:
    memory.execute({"command": "delete", "path": "/memories/plan.md"}, actor=CLARA)
    (found,) = former(memory, "plan")
    assert (found.path, found.now, found.ended_by.command, found.spans) == ("plan.md", None, "delete", ((0, 4),))
    assert memory.history.text(found.version) == b"plan.md\n"
    assert [each.path for each in former(memory, "plan", Scope.ALL)] == ["plan.md"]


def test_a_renamed_note_is_found_by_the_name_that_it_had(memory: Engine) -> None:
    memory.files.move({"notes": "archive"})
    (found,) = former(memory, "notes today")
    assert (found.path, found.now, found.ended_by.command) == ("notes/today.md", "archive/today.md", "rename")


def test_a_name_that_stands_again_is_none_of_the_past(memory: Engine) -> None:
    memory.execute({"command": "delete", "path": "/memories/plan.md"}, actor=CLARA)
    assert former(memory, "plan")
    memory.execute({"command": "create", "path": "/memories/plan.md", "file_text": "new\n"}, actor=CLARA)
    assert former(memory, "plan") == []
    assert former(memory, "stays") == []


def test_two_names_that_changed_places_both_stand(memory: Engine) -> None:
    memory.files.move({"plan.md": "stays.md", "stays.md": "plan.md"})
    assert former(memory, "md") == []


def test_filters_hold_for_names_too(memory: Engine) -> None:
    memory.execute({"command": "delete", "path": "/memories/plan.md"}, actor=CLARA)
    memory.files.delete(["notes/today.md"])
    assert {each.path for each in former(memory, "md by:clara")} == {"plan.md", "notes/today.md"}
    assert [each.path for each in former(memory, "md by:you")] == ["notes/today.md"]
    assert [each.path for each in former(memory, "md in:notes")] == ["notes/today.md"]
    assert former(memory, "md tag:x") == []
    assert former(memory, "") == []
