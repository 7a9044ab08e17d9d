"""What was changed can be taken back and had again, as a new event, and nobody's words are lost on the way."""

import errno
import os
from typing import Any

import pytest

import memtui
import memtui.engine.apply
from memtui.core.events import EntryKind, Outside, Version, sha256
from memtui.core.history import SkipReason
from memtui.engine import Engine
from memtui.store.folder import FolderStore


def version_of(text: str) -> Version:
    return Version(EntryKind.FILE, sha256(text.encode()), len(text.encode()))


def newest(engine: Engine) -> Any:
    return engine.history.get_event(engine.get_head()[0])


COMMANDS: dict[str, list[dict[str, Any]]] = {
    "create": [{"command": "create", "path": "/memories/new", "file_text": "n\n"}],
    "create in new directories": [{"command": "create", "path": "/memories/p/q/new", "file_text": "n\n"}],
    "overwrite": [{"command": "create", "path": "/memories/f", "file_text": "n\n"}],
    "str_replace": [{"command": "str_replace", "path": "/memories/f", "old_str": "1", "new_str": "9"}],
    "insert": [{"command": "insert", "path": "/memories/f", "insert_line": 1, "insert_text": "9"}],
    "delete": [{"command": "delete", "path": "/memories/f"}],
    "delete a directory": [{"command": "delete", "path": "/memories/d"}],
    "rename": [{"command": "rename", "old_path": "/memories/f", "new_path": "/memories/g"}],
    "rename into a new directory": [{"command": "rename", "old_path": "/memories/f", "new_path": "/memories/p/q/g"}],
    "rename a directory": [{"command": "rename", "old_path": "/memories/d", "new_path": "/memories/p/dd"}],
}


@pytest.fixture
def filled(world: Any) -> Any:
    return world.fill({"f": "1\n2\n", "d/x": "x\n", "d/e/y": "y\n"})


@pytest.mark.parametrize("command", [each[0] for each in COMMANDS.values()], ids=list(COMMANDS))
def test_every_command_can_be_taken_back_and_done_again(filled: Any, command: dict[str, Any]) -> None:
    engine, before = filled.main, filled.tree()
    done = filled.ask(**command).event
    after = filled.tree()
    assert before != after
    for _ in range(2):
        event = engine.history.get_undoable()
        assert event.seq == done.seq
        undone = engine.undo([event.seq])
        assert (undone.problem, undone.skipped) == ("", ())
        assert filled.tree() == before
        assert undone.event.command == "undo"
        assert undone.event.undoes == (done.seq,)
        assert engine.history.find_undoing_event(done.seq) == undone.event.seq
        redone = engine.undo([engine.history.get_redoable().seq])
        assert (redone.problem, redone.event.command) == ("", "redo")
        assert filled.tree() == after
        assert engine.history.find_undoing_event(done.seq) is None
    assert engine.reconcile() == 0


def test_what_came_from_outside_can_be_taken_back(filled: Any) -> None:
    filled.put("f", "overwritten by nobody knows whom\n")
    filled.main.reconcile()
    assert isinstance(newest(filled.main).actor, Outside)
    assert filled.main.undo([filled.main.get_head()[0]]).problem == ""
    assert filled.tree()["f"] == b"1\n2\n"


def test_undo_goes_back_step_by_step_and_redo_forward_again(filled: Any) -> None:
    engine = filled.main
    trees = [filled.tree()]
    for name in ("a", "b", "c"):
        filled.ask(command="create", path=f"/memories/{name}", file_text=name)
        trees.append(filled.tree())
    for tree in reversed(trees[:-1]):
        assert engine.undo([engine.history.get_undoable().seq]).problem == ""
        assert filled.tree() == tree
    for tree in trees[1:]:
        assert engine.undo([engine.history.get_redoable().seq]).problem == ""
        assert filled.tree() == tree
    assert engine.history.get_redoable() is None


def test_undo_is_remembered_across_restarts(plain_world: Any) -> None:
    done = plain_world.ask(command="create", path="/memories/a", file_text="x\n").event
    plain_world.main.undo([done.seq])
    again = plain_world.engine()
    assert again.history.get_undoable() is None
    assert again.undo([again.history.get_redoable().seq]).problem == ""
    assert plain_world.tree() == {"a": b"x\n"}
    assert plain_world.engine().history.get_undoable().seq == done.seq


def test_undo_is_refused_with_the_reason_when_the_path_has_changed_since(filled: Any) -> None:
    done = filled.ask(command="create", path="/memories/f", file_text="agent\n").event
    filled.put("f", "somebody else\n")
    undone = filled.main.undo([done.seq])
    assert undone.event is None
    assert undone.problem.startswith("Not undone: f has changed since (another program, ")
    assert undone.skipped[0].reason is SkipReason.CHANGED
    assert isinstance(undone.skipped[0].since.actor, Outside)
    assert filled.tree()["f"] == b"somebody else\n"
    assert newest(filled.main).command == "modified"  # what was noticed on the way is recorded


def test_undo_is_refused_when_the_note_was_moved_away(filled: Any) -> None:
    done = filled.ask(command="create", path="/memories/n", file_text="x\n").event
    filled.ask(command="rename", old_path="/memories/n", new_path="/memories/m")
    assert "n has changed since (tester" in filled.main.undo([done.seq]).problem
    assert filled.tree()["m"] == b"x\n"


def test_an_event_is_taken_back_once(filled: Any) -> None:
    done = filled.ask(command="create", path="/memories/n", file_text="x\n").event
    undone = filled.main.undo([done.seq])
    again = filled.main.undo([done.seq])
    assert again.problem == f"Not undone: event {done.seq} was undone already, by event {undone.event.seq}."
    assert filled.main.undo([9_999]).problem == "Not undone: there is no event 9999."
    viewed = filled.ask(command="view", path="/memories").event.seq
    assert "that event changed nothing" in filled.main.undo([viewed]).problem


def test_everything_that_a_session_did_is_taken_back_as_one(filled: Any) -> None:
    engine, before, start = filled.main, filled.tree(), filled.main.get_head()[0]
    claude = memtui.Agent("Claude", None, "s-1")

    def ask(actor: memtui.Agent, **command: object) -> None:
        assert not engine.execute(command, actor=actor).is_error

    ask(claude, command="create", path="/memories/f", file_text="1\n")
    ask(claude, command="create", path="/memories/f", file_text="2\n")
    ask(claude, command="rename", old_path="/memories/d", new_path="/memories/dd")
    ask(memtui.Agent("other"), command="create", path="/memories/theirs", file_text="t\n")
    ask(claude, command="create", path="/memories/dd/new", file_text="n\n")
    rehearsed = engine.undo_since(start, session="s-1", rehearse=True)
    assert rehearsed.event is None
    assert filled.tree()["f"] == b"2\n"
    undone = engine.undo_since(start, session="s-1")
    assert filled.tree() == {**before, "theirs": b"t\n"}
    assert {change.path for change in undone.changes} == {change.path for change in rehearsed.changes}
    assert engine.undo([undone.event.seq]).event.command == "redo"
    assert filled.tree()["dd/new"] == b"n\n"


def test_of_a_group_only_what_nobody_else_touched_is_taken_back(filled: Any) -> None:
    engine, start = filled.main, filled.main.get_head()[0]
    filled.ask(command="create", path="/memories/f", file_text="agent\n")
    filled.put("f", "person between\n")
    engine.reconcile()
    filled.ask(command="create", path="/memories/f", file_text="agent again\n")
    filled.ask(command="create", path="/memories/n", file_text="n\n")
    refused = engine.undo_since(start, actor_name="tester")
    assert "f has changed since (another program" in refused.problem
    assert "n" in filled.tree()
    done = engine.undo_since(start, actor_name="tester", partial=True)
    assert [left.path for left in done.skipped] == ["f"]
    assert filled.tree()["f"] == b"agent again\n"
    assert "n" not in filled.tree()


def test_a_directory_that_holds_something_new_stays(filled: Any) -> None:
    done = filled.ask(command="create", path="/memories/p/q/n", file_text="x\n").event
    filled.put("p/theirs", "t\n")
    undone = filled.main.undo([done.seq])
    assert undone.problem == ""
    assert "p/theirs" in filled.tree()
    assert "p/q" not in filled.tree()
    assert {change.path for change in undone.changes} == {"p/q/n", "p/q"}


def test_a_version_is_put_back_over_what_stands_there_and_that_is_kept(filled: Any) -> None:
    filled.ask(command="create", path="/memories/f", file_text="second\n")
    restored = filled.main.restore({"f": version_of("1\n2\n")}, note="as of #1")
    assert filled.tree()["f"] == b"1\n2\n"
    assert (restored.event.command, restored.event.path, restored.event.note) == ("restore", "/memories/f", "as of #1")
    assert (restored.event.added, restored.event.removed) == (2, 1)
    assert filled.main.history.text(version_of("second\n")) == b"second\n"


def test_restoring_makes_room_between_files_and_directories(filled: Any) -> None:
    engine = filled.main
    at = engine.get_head()[0]
    filled.ask(command="delete", path="/memories/d")
    filled.ask(command="create", path="/memories/d", file_text="a file now\n")
    filled.ask(command="delete", path="/memories/f")
    filled.ask(command="create", path="/memories/f/inside", file_text="a directory now\n")
    before = filled.tree()
    then = engine.restore_directory("", at)
    assert then.problem == ""
    assert filled.tree() == {"f": b"1\n2\n", "d": None, "d/x": b"x\n", "d/e": None, "d/e/y": b"y\n"}
    engine.undo([then.event.seq])
    assert filled.tree() == before


def test_what_is_in_the_way_is_said_and_not_removed(filled: Any) -> None:
    refused = filled.main.restore({"d": version_of("1\n2\n")})
    assert refused.skipped[0].reason is SkipReason.IN_THE_WAY
    assert "d/x" in filled.tree()
    refused = filled.main.restore({"f/below": version_of("1\n2\n")})
    assert refused.skipped[0].reason is SkipReason.IN_THE_WAY
    assert filled.tree()["f"] == b"1\n2\n"


def test_a_text_that_is_not_kept_cannot_be_put_back_and_is_said(filled: Any) -> None:
    refused = filled.main.restore({"f": version_of("never seen")})
    assert refused.problem == "Not restored: f is no longer kept in the history."
    assert filled.tree()["f"] == b"1\n2\n"


def test_links_and_empty_directories_come_back(folder_world: Any) -> None:
    folder = folder_world.folder
    folder_world.put("f", "x\n")
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("f")
    (folder / "out").symlink_to("/etc/hostname")
    folder_world.main.reconcile()
    before, at = folder_world.tree(), folder_world.main.get_head()[0]
    for name in ("link", "out"):
        (folder / name).unlink()
    (folder / "empty").rmdir()
    assert folder_world.main.restore_directory("", at).problem == ""
    assert folder_world.tree() == before


def test_a_save_is_refused_when_the_memory_has_changed_meanwhile(filled: Any) -> None:
    engine = filled.main
    saved = engine.write("f", b"mine\n", based_on=version_of("1\n2\n"))
    assert (saved.problem, saved.event.command, saved.event.actor) == ("", "write", memtui.Person())
    assert (saved.event.added, saved.event.removed) == (1, 2)
    filled.ask(command="create", path="/memories/f", file_text="agent\n")
    conflict = engine.write("f", b"mine again\n", based_on=version_of("mine\n"))
    assert conflict.problem.startswith("Not saved: f has changed since (tester, ")
    assert filled.tree()["f"] == b"agent\n"
    assert engine.write("new/note", b"n\n", based_on=None).problem == ""
    assert engine.write("new/note", b"other\n", based_on=None).skipped[0].reason is SkipReason.CHANGED
    assert filled.tree()["new/note"] == b"n\n"


def test_a_save_through_a_link_keeps_the_link(folder_world: Any) -> None:
    folder_world.put("f", "1\n")
    (folder_world.folder / "link").symlink_to("f")
    folder_world.main.reconcile()
    assert folder_world.main.write("link", b"2\n", based_on=version_of("1\n")).problem == ""
    assert folder_world.tree() == {"f": b"2\n", "link": "f"}
    (folder_world.folder / "out").symlink_to("/etc/hostname")
    assert "leads out of the memory folder" in folder_world.main.write("out", b"x", based_on=None).problem


def test_nothing_is_put_back_in_a_session_that_only_reads(plain_world: Any) -> None:
    done = plain_world.ask(command="create", path="/memories/a", file_text="x\n").event
    with memtui.open(plain_world.folder, state=plain_world.state, read_only=True) as memory:
        before = plain_world.picture()
        for restored in (
            memory.undo([done.seq]),
            memory.restore({"a": None}),
            memory.restore_directory("", 0),
            memory.write("a", b"", based_on=None),
        ):
            assert restored.problem.endswith("this session is read-only. Nothing was written.")
        assert memory.undo([done.seq], rehearse=True).changes
        assert "read-only" in memory.redact(path="a").problem
        assert plain_world.picture() == before


def test_a_rehearsal_changes_nothing_and_tells_all(filled: Any) -> None:
    engine, start = filled.main, filled.main.get_head()[0]
    filled.ask(command="delete", path="/memories/d")
    filled.ask(command="create", path="/memories/new", file_text="n\n")
    before, head = filled.tree(), engine.get_head()
    rehearsed = engine.restore_directory("", start, rehearse=True)
    assert {change.path for change in rehearsed.changes} == {"d", "d/x", "d/e", "d/e/y", "new"}
    assert engine.restore({"f": None}, rehearse=True).changes[0].after is None
    assert filled.tree() == before
    assert engine.get_head() == head


def test_no_command_of_an_agent_reaches_what_is_a_persons(filled: Any) -> None:
    before = filled.tree()
    for name in ("restore", "undo", "redo", "write", "redact", "clear", "prune", "restore_below"):
        answer = filled.ask(command=name, path="/memories/f", seqs=[1], wanted={}, file_text="x", data="x")
        assert answer.is_error
        assert answer.text == f"Error: unknown command {name}"
    assert filled.tree() == before


def test_a_full_disk_in_the_middle_is_told_path_by_path(plain_world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        plain_world.ask(command="create", path=f"/memories/{number}", file_text=f"{number}\n")
    at = plain_world.main.get_head()[0]
    for number in range(6):
        plain_world.ask(command="delete", path=f"/memories/{number}")
    written = []
    new_file = memtui.store.folder.FolderTransaction._create_file  # type: ignore[attr-defined]

    def failing(*arguments: Any) -> Any:
        if len(written) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(arguments)
        return new_file(*arguments)

    monkeypatch.setattr(memtui.store.folder.FolderTransaction, "_create_file", failing)  # type: ignore[attr-defined]
    restored = plain_world.main.restore_directory("", at)
    assert sorted(plain_world.tree()) == ["0", "1", "2"]
    assert [change.path for change in restored.event.changes] == ["0", "1", "2"]
    assert {left.path for left in restored.skipped} == {"3", "4", "5"}
    assert all("no space left" in left.sentence for left in restored.skipped)
    monkeypatch.undo()
    assert plain_world.main.restore_directory("", at).problem == ""
    assert len(plain_world.tree()) == 6
    assert plain_world.main.reconcile() == 0


def test_a_crash_in_the_middle_leaves_a_record_of_what_was_done(plain_world: Any) -> None:
    class Dies(FolderStore):
        def __init__(self) -> None:
            super().__init__(str(plain_world.folder), str(plain_world.state))

    for number in range(5):
        plain_world.ask(command="create", path=f"/memories/{number}", file_text=f"{number}\n")
    at = plain_world.main.get_head()[0]
    for number in range(5):
        plain_world.ask(command="delete", path=f"/memories/{number}")
    plain_world.main.close()
    died = plain_world.engine(store=Dies())
    steps = []
    write = memtui.store.folder.FolderTransaction.write  # type: ignore[attr-defined]

    def dying(*arguments: Any, **options: Any) -> Any:
        if len(steps) == 2:
            raise KeyboardInterrupt  # nothing cleans up after it, as after a kill
        steps.append(arguments)
        return write(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memtui.store.folder.FolderTransaction, "write", dying)  # type: ignore[attr-defined]
        with pytest.raises(KeyboardInterrupt):
            died.restore_directory("", at)
    again = plain_world.engine()
    event = newest(again)
    assert (event.command, event.note) == ("restore", "recovered after a crash: 2 of 5 done")
    assert {change.path for change in event.changes} == set(plain_world.tree()) == {"0", "1"}
    assert again.history.get_state(again.get_head()[0]).keys() == {"0", "1"}
    assert again.restore_directory("", at).problem == ""
    assert len(plain_world.tree()) == 5


def test_a_move_over_another_note_from_outside_can_be_taken_back(folder_world: Any) -> None:
    folder_world.put("f", "moved\n")
    folder_world.put("g", "replaced\n")
    folder_world.main.reconcile()
    before = folder_world.tree()
    (folder_world.folder / "f").rename(folder_world.folder / "g")
    folder_world.main.reconcile()
    event = newest(folder_world.main)
    assert [(change.path, change.before is None, change.after is None) for change in event.changes] == [
        ("f", False, True),
        ("g", False, False),
    ]
    assert folder_world.main.undo([event.seq]).problem == ""
    assert folder_world.tree() == before
    assert folder_world.main.reconcile() == 0


def test_an_event_of_which_nothing_was_taken_back_does_not_count_as_taken_back(filled: Any) -> None:
    engine, start = filled.main, filled.main.get_head()[0]
    left = filled.ask(command="create", path="/memories/f", file_text="agent\n").event
    done = filled.ask(command="create", path="/memories/n", file_text="n\n").event
    filled.put("f", "somebody else\n")
    undone = engine.undo_since(start, actor_name="tester", partial=True)
    assert undone.event.undoes == (done.seq,)
    assert engine.history.find_undoing_event(left.seq) is None


def test_a_move_back_does_not_go_through_a_link(folder_world: Any) -> None:
    folder_world.put("d/x", "x\n")
    (folder_world.folder / "c").mkdir()
    folder_world.main.reconcile()
    moved = folder_world.ask(command="rename", old_path="/memories/d/x", new_path="/memories/x").event
    (folder_world.folder / "d").rmdir()
    (folder_world.folder / "d").symlink_to("c")
    undone = folder_world.main.undo([moved.seq])
    assert undone.skipped[0].reason is SkipReason.IN_THE_WAY
    assert folder_world.tree() == {"x": b"x\n", "c": None, "d": "c"}


def test_what_is_written_to_a_note_while_it_is_moved_back_is_seen(folder_world: Any) -> None:
    folder_world.put("f", "1\n")
    folder_world.main.reconcile()
    moved = folder_world.ask(command="rename", old_path="/memories/f", new_path="/memories/g").event
    apply = memtui.engine.apply.PreparedChangeSet.apply

    def late(self: Any, transaction: Any) -> Any:
        (folder_world.folder / "g").write_text("written meanwhile\n")
        return apply(self, transaction)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memtui.engine.apply.PreparedChangeSet, "apply", late)
        folder_world.main.undo([moved.seq])
    folder_world.main.reconcile()
    assert folder_world.main.history.text(folder_world.main.history.get_version_at("f", 99)) == b"written meanwhile\n"


def test_something_that_comes_into_a_directory_that_is_to_go_keeps_it(folder_world: Any) -> None:
    folder_world.make("d")
    folder_world.main.reconcile()
    apply = memtui.engine.apply.PreparedChangeSet.apply

    def late(self: Any, transaction: Any) -> Any:
        (folder_world.folder / "d" / "theirs").write_text("t\n")
        return apply(self, transaction)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memtui.engine.apply.PreparedChangeSet, "apply", late)
        restored = folder_world.main.restore({"d": None})
    assert restored.problem == "Not restored: a file was added to the directory just now, so it stays."
    assert folder_world.tree()["d/theirs"] == b"t\n"


@pytest.mark.parametrize("path", ["/etc/x", "a/../y", "", ".", "a//b", "a/", "a\0b"])
def test_a_path_that_is_none_is_refused_before_anything_is_tried(filled: Any, path: str) -> None:
    before, head = filled.tree(), filled.main.get_head()
    for call in (
        lambda: filled.main.restore({path: version_of("1\n2\n")}),
        lambda: filled.main.write(path, b"x", based_on=None),
        lambda: filled.main.restore_directory(path or "/", 1),
    ):
        with pytest.raises(ValueError, match="not a path"):
            call()
    assert (filled.tree(), filled.main.get_head()) == (before, head)
    assert filled.main.restore_directory("", 999).problem == "Not restored: there is no event 999."
