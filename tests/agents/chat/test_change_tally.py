"""The net changes of memories: one line a file, after any number of events."""

from collections.abc import Iterator

import pytest

import memtui
from memtui.agents.chat.events import MemoryChange
from memtui.agents.chat.state import ChangeTally

ME = memtui.Agent("tester")


@pytest.fixture
def memory() -> Iterator[memtui.Engine]:
    with memtui.open_in_memory() as memory:
        for name in ("old.md", "other.md", "folder/deep.md"):
            memory.execute({"command": "create", "path": f"/memories/{name}", "file_text": f"{name}\none\n"}, actor=ME)
        yield memory


def _told(memory: memtui.Engine, *commands: dict[str, object], undone: bool = False) -> list[tuple[object, ...]]:
    start = memory.get_head()[0]
    for command in commands:
        answer = memory.execute(command, actor=ME)
        assert not answer.is_error, answer.text
    events = list(memory.events(start))
    if undone:
        restored = memory.undo([event.seq for event in events if event.changes])
        assert restored.event is not None
        events.append(restored.event)
    tally = ChangeTally()
    for event in events:
        tally.add(event)
    return [_short(each) for each in tally.summarize(memory.history.text)]


def _short(each: MemoryChange) -> tuple[object, ...]:
    how = each.how if each.old_path is None else f"{each.how} from {each.old_path}"
    return (each.path, how, each.added, each.removed)


def _create(name: str, text: str) -> dict[str, object]:
    return {"command": "create", "path": f"/memories/{name}", "file_text": text}


def _rename(old: str, new: str) -> dict[str, object]:
    return {"command": "rename", "old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}


def _delete(name: str) -> dict[str, object]:
    return {"command": "delete", "path": f"/memories/{name}"}


def _replace(name: str, old: str, new: str) -> dict[str, object]:
    return {"command": "str_replace", "path": f"/memories/{name}", "old_str": old, "new_str": new}


def test_a_file_that_was_made_and_changed_was_made(memory: memtui.Engine) -> None:
    assert _told(memory, _create("a/new.md", "one\n"), _replace("a/new.md", "one", "two\nthree")) == [
        ("a/new.md", "created", 2, 0)
    ]


def test_a_file_that_came_and_went_is_not_spoken_of(memory: memtui.Engine) -> None:
    assert _told(memory, _create("new.md", "one\n"), _delete("new.md")) == []


def test_a_change_that_was_made_undone_by_another_is_none(memory: memtui.Engine) -> None:
    assert _told(memory, _replace("old.md", "one", "two"), _replace("old.md", "two", "one")) == []


def test_files_of_a_folder_that_went_are_named(memory: memtui.Engine) -> None:
    assert _told(memory, _delete("folder"), _replace("old.md", "one", "two")) == [
        ("folder/deep.md", "deleted", 0, 2),
        ("old.md", "changed", 1, 1),
    ]


def test_a_file_that_was_moved_and_changed_is_one_line(memory: memtui.Engine) -> None:
    assert _told(memory, _rename("old.md", "b.md"), _replace("b.md", "one", "two"), _rename("b.md", "c.md")) == [
        ("c.md", "renamed from old.md", 1, 1)
    ]


def test_a_file_that_was_made_and_moved_was_made_where_it_is(memory: memtui.Engine) -> None:
    assert _told(memory, _create("a.md", "one\n"), _rename("a.md", "b.md")) == [("b.md", "created", 1, 0)]


def test_a_file_that_was_moved_and_deleted_is_gone_from_where_it_was(memory: memtui.Engine) -> None:
    assert _told(memory, _rename("old.md", "b.md"), _delete("b.md")) == [("old.md", "deleted", 0, 2)]


def test_a_move_there_and_back_is_none(memory: memtui.Engine) -> None:
    assert _told(memory, _rename("old.md", "b.md"), _rename("b.md", "old.md")) == []


def test_another_file_in_the_place_of_one_that_was_moved_is_told_as_it_is(memory: memtui.Engine) -> None:
    assert _told(memory, _rename("old.md", "b.md"), _create("old.md", "new\n")) == [
        ("b.md", "created", 2, 0),
        ("old.md", "changed", 1, 2),
    ]


def test_what_was_taken_back_is_none(memory: memtui.Engine) -> None:
    commands = (_create("a.md", "x\n"), _rename("other.md", "b.md"), _replace("old.md", "one", "two"))
    assert _told(memory, *commands, undone=True) == []
    assert _told(memory, _rename("old.md", "b.md"), undone=True) == []


def test_views_and_refusals_change_nothing(memory: memtui.Engine) -> None:
    tally = ChangeTally()
    for command in ({"command": "view", "path": "/memories"}, _delete("nowhere.md")):
        tally.add(memory.execute(command, actor=ME).event)
    assert tally.summarize(memory.history.text) == ()
