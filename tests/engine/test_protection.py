"""What a person protects no agent changes, by no way around; people do, and what others do to it is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.events import Agent, Event, Outside, Person
from memtui.core.history import SkipReason
from memtui.core.paths import MemoryPath
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.store.base import Node
from memtui.store.memory import MemoryStore
from tests.conftest import ME

PROTECTED = ("rules.md", "d/kept")


@pytest.fixture
def guarded(world: Any) -> Any:
    for path in ("rules.md", "d/kept/x", "d/other", "free.md"):
        world.put(path, "1\n")
    world.main.reconcile()
    assert world.main.files.protect(PROTECTED).problem == ""
    return world


COMMANDS: dict[str, dict[str, Any]] = {
    "create": {"command": "create", "path": "/memories/rules.md", "file_text": "mine\n"},
    "create below": {"command": "create", "path": "/memories/d/kept/new/y", "file_text": "mine\n"},
    "create the same": {"command": "create", "path": "/memories/rules.md", "file_text": "1\n"},
    "str_replace": {"command": "str_replace", "path": "/memories/rules.md", "old_str": "1", "new_str": "2"},
    "str_replace without a match": {"command": "str_replace", "path": "/memories/rules.md", "old_str": "no"},
    "insert": {"command": "insert", "path": "/memories/d/kept/x", "insert_line": 0, "insert_text": "0"},
    "delete": {"command": "delete", "path": "/memories/rules.md"},
    "delete what is not there": {"command": "delete", "path": "/memories/d/kept/no"},
    "delete the directory": {"command": "delete", "path": "/memories/d/kept"},
    "delete the directory above": {"command": "delete", "path": "/memories/d"},
    "rename": {"command": "rename", "old_path": "/memories/rules.md", "new_path": "/memories/k"},
    "rename out of it": {"command": "rename", "old_path": "/memories/d/kept/x", "new_path": "/memories/k"},
    "rename into it": {"command": "rename", "old_path": "/memories/free.md", "new_path": "/memories/d/kept/y"},
    "rename onto it": {"command": "rename", "old_path": "/memories/free.md", "new_path": "/memories/rules.md"},
    "rename the directory above": {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/k"},
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_command_of_an_agent_changes_what_is_protected(guarded: Any, command: dict[str, Any]) -> None:
    before = guarded.picture()
    answer = guarded.ask(**command)
    assert answer.is_error
    assert answer.text.startswith("Error: could not ")
    assert " is protected by the user. It can be viewed but not changed. Write what is new to another" in answer.text
    assert guarded.picture() == before
    event = list(guarded.main.events())[-1]
    assert (event.actor, event.is_error, event.changes, event.answer) == (ME, True, (), answer.text)
    assert guarded.main.propose(command, actor=ME) is None


def test_the_refusal_names_what_is_protected_and_what_can_be_done(guarded: Any) -> None:
    assert guarded.ask(command="delete", path="/memories/d").text == (
        "Error: could not delete /memories/d: /memories/d/kept is protected by the user. It can be viewed but not "
        "changed. Write what is new to another file, or ask the user"
    )


def test_views_and_what_lies_beside_it_are_free(guarded: Any) -> None:
    for command in (
        {"command": "view", "path": "/memories/rules.md"},
        {"command": "view", "path": "/memories/d/kept"},
        {"command": "create", "path": "/memories/rules.md.bak", "file_text": ""},
        {"command": "create", "path": "/memories/d/kept2", "file_text": ""},
        {"command": "insert", "path": "/memories/d/other", "insert_line": 0, "insert_text": "0"},
        {"command": "rename", "old_path": "/memories/free.md", "new_path": "/memories/d/free.md"},
        {"command": "create", "path": "/memories/RULES.md", "file_text": "another file, where case tells\n"},
    ):
        answer = guarded.ask(**command)
        assert not answer.is_error, answer.text


def test_a_person_changes_it_like_anything_else(guarded: Any) -> None:
    engine = guarded.main
    rules = engine.history.get_version_at("rules.md", engine.get_head()[0])
    saved = engine.write("rules.md", b"2\n", based_on=rules)
    assert saved.problem == ""
    assert engine.undo([saved.event.seq]).problem == ""
    assert engine.files.delete(["rules.md"]).problem == ""
    assert engine.execute(COMMANDS["create below"], actor=Person()).is_error is False


@pytest.mark.parametrize(
    "act",
    [
        lambda engine, agent: engine.files.delete(["rules.md"], actor=agent),
        lambda engine, agent: engine.files.move({"free.md": "d/kept/y"}, actor=agent),
        lambda engine, agent: engine.restore({"rules.md": None}, actor=agent),
        lambda engine, agent: engine.write("rules.md", b"2\n", based_on=None, actor=agent),
    ],
)
def test_nor_does_an_agent_by_what_only_people_are_offered(guarded: Any, act: Callable[[Engine, Agent], Any]) -> None:
    before = guarded.picture()
    assert act(guarded.main, ME).problem
    assert guarded.picture() == before


def test_an_agent_cannot_clear_a_folder_that_holds_it(guarded: Any) -> None:
    before = guarded.picture()
    answer = guarded.main.clear(actor=ME)
    assert answer.text.startswith("Error: could not clear /memories: /memories/")
    assert guarded.picture() == before
    assert guarded.main.clear(actor=Person()).text == "All memory cleared"
    assert guarded.main.clear(actor=ME).is_error is False  # nothing of it is there any more


def test_a_link_is_no_way_around_it(folder_world: Any) -> None:
    folder_world.put("rules.md", "1\n")
    folder_world.put("d/x", "1\n")
    folder = folder_world.folder
    (folder / "to-rules").symlink_to("rules.md")
    (folder / "to-d").symlink_to("d")
    (folder / "to-free").symlink_to("free.md")
    folder_world.put("free.md", "1\n")
    folder_world.main.reconcile()
    folder_world.main.files.protect(["rules.md", "d", "to-free"])
    before = folder_world.picture()
    for command in (
        {"command": "str_replace", "path": "/memories/to-rules", "old_str": "1", "new_str": "2"},
        {"command": "create", "path": "/memories/to-d/new", "file_text": ""},
        {"command": "create", "path": "/memories/to-d/n/m", "file_text": ""},
        {"command": "delete", "path": "/memories/to-d/x"},
        {"command": "rename", "old_path": "/memories/to-d/x", "new_path": "/memories/k"},
        {"command": "rename", "old_path": "/memories/free.md", "new_path": "/memories/to-d/k"},
        {"command": "str_replace", "path": "/memories/to-free", "old_str": "1", "new_str": "2"},
    ):
        answer = folder_world.ask(**command)
        assert "is protected by the user" in answer.text, command
    assert folder_world.picture() == before
    assert not folder_world.ask(command="delete", path="/memories/to-rules").is_error  # it is the link that goes


class Folding(MemoryStore):
    """A store that takes names for the same that differ in case only."""

    def get_node(self, path: MemoryPath, *, follow: bool = False) -> Node | None:
        """The thing of any spelling, under the name that was asked for."""
        found = super().get_node(path, follow=follow)
        if found is None:
            for each in self.scan(MemoryPath()):
                if each.path.casefold() == path.relative.casefold():
                    return Node(path.relative, each.kind, each.size, each.mtime_ns, each.stamp)
        return found


@pytest.mark.parametrize("path", ["RULES.MD", "Rules.md", "D/Kept/new", "d/KEPT/x"])
def test_another_spelling_is_no_way_around_it(path: str) -> None:
    with Engine(Folding(), Journal(None)) as engine:
        engine.files.create("rules.md", b"1\n")
        engine.files.create("d/kept/x", b"1\n")
        engine.files.protect(PROTECTED)
        for command in (
            {"command": "create", "path": f"/memories/{path}", "file_text": "mine\n"},
            {"command": "delete", "path": f"/memories/{path}"},
        ):
            assert "is protected by the user" in engine.execute(command, actor=ME).text


def test_the_whole_folder_can_be_protected(guarded: Any) -> None:
    assert guarded.main.files.protect([""]).problem == ""
    assert "is protected" in guarded.ask(command="create", path="/memories/new", file_text="").text
    assert guarded.main.files.unprotect([""]).problem == ""
    assert guarded.main.files.get_protected() == ()
    assert not guarded.ask(command="create", path="/memories/new", file_text="").is_error


def test_protecting_is_recorded_as_an_event_that_changes_nothing(guarded: Any) -> None:
    engine = guarded.main
    last = list(engine.events())[-1]
    assert (last.command, last.actor, last.no_change, last.changes) == ("protect", Person(), True, ())
    assert engine.files.get_protected() == ("d/kept", "rules.md")
    assert engine.history.get_undoable() is None or engine.history.get_undoable().command != "protect"
    off = engine.files.unprotect(["rules.md"])
    assert (off.event.command, off.event.path, off.problem) == ("unprotect", "/memories/rules.md", "")
    assert engine.files.get_protected() == ("d/kept",)


def test_what_cannot_be_protected_or_freed_is_told(guarded: Any) -> None:
    files = guarded.main.files
    assert files.protect(["no", "free.md"]).skipped[0].reason is SkipReason.MISSING
    assert files.protect(["d/kept/x"]).problem == "Already protected."
    assert files.unprotect(["free.md"]).problem == "Not protected: nothing to do."
    assert files.unprotect(["d/kept/x"]).problem == (
        "Still protected: /memories/d/kept/x is protected with /memories/d/kept. Unprotect that first."
    )
    assert files.get_protected() == ("d/kept", "rules.md")
    with pytest.raises(ValueError, match="not a path"):
        files.protect(["../x"])


def test_it_stays_protected_when_a_person_moves_it_and_when_that_is_taken_back(guarded: Any) -> None:
    files = guarded.main.files
    moved = files.move({"d": "k/d", "rules.md": "free.md", "free.md": "rules.md"})
    assert files.get_protected() == ("free.md", "k/d/kept")
    assert "is protected" in guarded.ask(command="delete", path="/memories/k").text
    assert not guarded.ask(command="create", path="/memories/d/kept/x", file_text="").is_error
    files.delete(["d"])
    assert guarded.main.undo([moved.event.seq]).problem == ""
    assert files.get_protected() == ("d/kept", "rules.md")


def test_what_changes_it_from_outside_is_told(folder_world: Any) -> None:
    folder_world.put("rules.md", "1\n")
    folder_world.put("free.md", "1\n")
    engine = folder_world.main
    engine.reconcile()
    engine.files.protect(["rules.md"])
    folder_world.put("rules.md", "2\n")
    folder_world.put("free.md", "2\n")
    engine.reconcile()
    free, rules = sorted(list(engine.events())[-2:], key=lambda event: event.path)
    assert (rules.actor, rules.command, rules.note) == (Outside(), "modified", "a protected path")
    assert free.note == ""


def test_an_agent_that_wrote_it_with_its_own_tools_is_told_as_well(plain_world: Any) -> None:
    plain_world.put("rules.md", "1\n")
    engine = plain_world.main
    engine.reconcile()
    engine.files.protect(["rules.md"])
    plain_world.put("rules.md", "2\n")
    engine.claims.announce("rules.md", actor=ME, call_id="call", sha256=None, note="Edit", until_us=2**62)
    engine.reconcile()
    event = list(engine.events())[-1]
    assert (event.actor, event.note) == (ME, "Edit, a protected path")


def test_another_process_is_bound_at_once(plain_world: Any) -> None:
    plain_world.put("rules.md", "1\n")
    other = plain_world.engine()
    plain_world.main.files.protect(["rules.md"])
    assert "is protected" in other.execute(COMMANDS["delete"], actor=ME).text


def test_a_damaged_list_protects_everything(plain_world: Any) -> None:
    engine = plain_world.main
    for damaged in ("no list", '{"a": 1}', "[1]"):
        event = Event(at_us=1, actor=Person(), command="protect", path="/memories", noted=(("protected", damaged),))
        engine.journal.append_events([event])
        assert "is protected" in plain_world.ask(command="create", path="/memories/k", file_text="").text


def test_it_is_kept_where_the_journal_is(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").write_text("1\n")
    with memtui.open(folder) as memory:
        memory.files.protect(["a"])
    with memtui.open(folder) as memory:
        assert memory.files.get_protected() == ("a",)
    assert [entry.name for entry in folder.iterdir()] == ["a"]
