"""Everything can be deleted at once, as one event, and had again at once."""

import os
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main as run
from memtui.core import wording
from memtui.core.errors import MemoryClosed
from memtui.core.events import Agent, EntryKind, Person, Version
from memtui.core.history import SkipReason
from memtui.core.mass_loss import describe_loss
from memtui.engine import Engine
from memtui.ui.widgets.activity import build_activity_row
from tests.conftest import fill

BOT = Agent("Bot", "a-model", "a-session")


@pytest.fixture
def filled(world: Any) -> Any:
    world.put("f", "1\n2\n")
    world.put(".hidden/.secret", "s\n")
    world.put("d/x", "x\n")
    world.put("d/e/y", "y\n")
    world.make("empty")
    world.main.reconcile()
    return world


def last(engine: Engine) -> Any:
    return engine.history.get_event(engine.get_head()[0])


def test_everything_goes_as_one_event_and_the_folder_stays(filled: Any) -> None:
    before = filled.main.get_head()[0]
    answer = filled.main.clear(actor=BOT)
    assert (answer.text, answer.is_error) == ("All memory cleared", False)
    assert filled.tree() == {}
    assert filled.folder is None or filled.folder.is_dir()
    assert filled.main.get_head()[0] == before + 1
    event = last(filled.main)
    assert (event.command, event.path, event.actor, event.note) == ("clear", "/memories", BOT, "4 files")
    assert {change.path for change in event.changes} == {
        "f", ".hidden", ".hidden/.secret", "d", "d/x", "d/e", "d/e/y", "empty"
    }  # fmt: skip
    assert answer.event == event
    assert filled.main.reconcile() == 0
    assert filled.main.journal.get_intents() == []


def test_it_is_taken_back_in_one_step_and_done_again(filled: Any) -> None:
    before = filled.tree()
    done = filled.main.clear(actor=BOT).event
    for _ in range(2):
        undone = filled.main.undo([filled.main.history.get_undoable().seq])
        assert (undone.problem, undone.skipped) == ("", ())
        assert undone.event.undoes == (done.seq,)
        assert filled.tree() == before
        redone = filled.main.undo([filled.main.history.get_redoable().seq])
        assert (redone.problem, redone.event.command) == ("", "redo")
        assert filled.tree() == {}
    assert filled.main.reconcile() == 0


def test_an_agents_session_is_taken_back_with_the_clear_in_it(filled: Any) -> None:
    before, head = filled.tree(), filled.main.get_head()[0]
    filled.main.execute({"command": "create", "path": "/memories/n", "file_text": "n"}, actor=BOT)
    filled.main.clear(actor=BOT)
    filled.main.execute({"command": "create", "path": "/memories/m", "file_text": "m"}, actor=BOT)
    assert filled.main.undo_since(head, actor_name="Bot", session="a-session").problem == ""
    assert filled.tree() == before


def test_an_empty_folder_is_cleared_without_a_change(world: Any) -> None:
    answer = world.main.clear(actor=BOT)
    assert (answer.text, answer.is_error) == ("All memory cleared", False)
    assert answer.event.no_change
    assert answer.event.changes == ()
    assert last(world.main) == answer.event


def test_what_was_changed_unnoticed_is_recorded_before_it_goes(filled: Any) -> None:
    filled.put("f", "written by nobody knows whom\n")
    filled.main.clear(actor=BOT)
    noticed, cleared = list(filled.main.events())[-2:]
    assert noticed.is_outside
    assert cleared.command == "clear"
    assert filled.main.undo([cleared.seq]).problem == ""
    assert filled.tree()["f"] == b"written by nobody knows whom\n"


def test_what_moved_and_went_unnoticed_is_told_before_it_goes(folder_world: Any) -> None:
    for name in ("moved", "gone", "kept"):
        folder_world.put(name, f"{name}\n")
    folder_world.main.reconcile()
    (folder_world.folder / "moved").rename(folder_world.folder / "elsewhere")
    (folder_world.folder / "gone").unlink()
    folder_world.main.clear(actor=BOT)
    assert [event.command for event in folder_world.main.events()][-3:] == ["deleted", "renamed", "clear"]
    folder_world.main.undo([folder_world.main.get_head()[0]])
    assert folder_world.tree() == {"elsewhere": b"moved\n", "kept": b"kept\n"}


def test_a_read_only_memory_is_not_cleared(filled: Any) -> None:
    before = filled.picture()
    engine = Engine(filled.store(), filled.main.journal, read_only=True)
    answer = engine.clear(actor=BOT)
    assert (answer.text, answer.is_error) == ("Error: could not clear /memories: read-only", True)
    assert filled.picture() == before
    assert last(filled.main).command == "clear"
    assert last(filled.main).is_error


def test_a_closed_memory_is_not_cleared(filled: Any) -> None:
    filled.main.close()
    with pytest.raises(MemoryClosed):
        filled.main.clear(actor=BOT)


def test_what_is_too_large_to_be_kept_goes_and_the_rest_comes_back(world: Any) -> None:
    engine = world.engine(max_read_bytes=100)
    world.put("a/big", "x" * 200)
    world.put("small", "s")
    answer = engine.clear(actor=BOT)
    assert (answer.text, answer.is_error) == ("All memory cleared", False)
    assert world.tree() == {}
    assert Version(EntryKind.FILE, None, 200) in [change.before for change in answer.event.changes]
    for undo in (lambda: engine.undo([answer.event.seq]), lambda: engine.restore_directory("", answer.event.seq - 1)):
        undone = undo()
        assert [(left.path, left.reason) for left in undone.skipped] == [("a/big", SkipReason.NEVER_KEPT)]
        assert undone.skipped[0].sentence == "a/big was never kept in the history: it was too large, 200 B"
        assert world.tree() == {"a": None, "small": b"s"}
        assert engine.undo([undone.event.seq]).problem == ""  # what came back goes again
        assert world.tree() == {}


def test_a_change_since_keeps_everything_from_coming_back_whatever_is_not_kept(world: Any) -> None:
    engine = world.engine(max_read_bytes=100)
    world.put("a/big", "x" * 200)
    world.put("b", "b")
    world.put("c", "c")
    cleared = engine.clear(actor=BOT).event
    world.put("b", "another")
    undone = engine.undo([cleared.seq])
    assert undone.event is None
    assert undone.problem.startswith("Not undone: b has changed since")
    assert undone.problem.endswith(", and 1 more.")
    assert world.tree() == {"b": b"another"}


def test_where_nothing_but_what_is_not_kept_went_nothing_comes_back(world: Any) -> None:
    engine = world.engine(max_read_bytes=100)
    world.put("a/big", "x" * 200)
    cleared = engine.clear(actor=BOT).event
    undone = engine.undo([cleared.seq])
    assert undone.problem == "Not undone: a/big was never kept in the history: it was too large, 200 B."
    assert world.tree() == {}
    world.put("a/big", "x" * 200)  # what stands again is in nobody's way
    assert engine.undo([cleared.seq]).event is None
    assert world.tree() == {"a": None, "a/big": b"x" * 200}


def test_of_a_deletion_a_text_that_was_removed_since_stays_away(world: Any) -> None:
    world.put("d/secret", "secret\n")
    world.put("d/note", "note\n")
    world.main.reconcile()
    deleted = world.main.execute({"command": "delete", "path": "/memories/d"}, actor=BOT).event
    world.main.redact(path="d/secret")
    undone = world.main.undo([deleted.seq])
    assert [left.sentence for left in undone.skipped] == ["d/secret is no longer kept in the history"]
    assert world.tree() == {"d": None, "d/note": b"note\n"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_read_keeps_everything_where_it_is(plain_world: Any) -> None:
    plain_world.put("a", "1")
    plain_world.put("d/shut", "2")
    (plain_world.folder / "d/shut").chmod(0)
    answer = plain_world.main.clear(actor=BOT)
    assert (answer.text, answer.is_error) == ("Error: could not delete /memories/d/shut: permission denied", True)
    assert (plain_world.folder / "a").exists()


def test_links_and_special_files_go_and_what_links_point_to_stays(folder_world: Any, tmp_path: Path) -> None:
    outside = fill(tmp_path / "outside", {"kept": "kept"})
    folder_world.put("f", "f\n")
    (folder_world.folder / "out").symlink_to(outside)
    (folder_world.folder / "dangling").symlink_to("nowhere")
    os.mkfifo(folder_world.folder / "pipe")
    folder_world.main.reconcile()
    assert folder_world.main.clear(actor=BOT).text == "All memory cleared"
    assert os.listdir(folder_world.folder) == []
    assert (outside / "kept").read_text() == "kept"
    undone = folder_world.main.undo([folder_world.main.get_head()[0]])
    assert [left.path for left in undone.skipped] == ["pipe"]
    assert sorted(os.listdir(folder_world.folder)) == ["dangling", "f", "out"]


def test_a_clear_by_an_agent_is_a_loss_and_by_a_person_is_none(filled: Any) -> None:
    filled.main.clear(actor=BOT)
    loss = filled.main.loss
    assert loss is not None
    assert loss.deleted == loss.files
    assert loss.deleted == 4
    assert describe_loss(loss).endswith("(Bot).")
    assert filled.main.restore_loss().problem == ""
    assert filled.tree()["d/e/y"] == b"y\n"
    assert filled.main.loss is None
    filled.main.clear(actor=Person())
    assert filled.main.loss is None


def test_it_reads_well_in_the_activity(filled: Any) -> None:
    event = filled.main.clear(actor=BOT).event
    assert wording.describe_event(event) == "Bot cleared the folder (4 files)."
    assert build_activity_row(event).is_write
    undone = filled.main.undo([event.seq]).event
    assert wording.describe_event(undone) == f"You undid #{event.seq} in the folder."


def test_its_history_blame_and_statistics_are_true(filled: Any) -> None:
    cleared = filled.main.clear(actor=BOT).event
    newest = filled.main.history.versions_of("f")[0]
    assert (newest.event, newest.after) == (cleared, None)
    assert filled.main.history.get_state(cleared.seq) == {}
    assert set(filled.main.history.get_state(cleared.seq - 1)) >= {"f", "d/e/y", ".hidden/.secret"}
    filled.main.undo([cleared.seq])
    lines = filled.main.history.blame("f", b"1\n2\n").lines
    assert cleared not in lines
    assert len({event and event.seq for event in lines}) == 1
    shares = {share.name: share.events for share in filled.main.history.get_stats().actors}
    assert shares["Bot"] == 1


def test_the_command_line_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, state = tmp_path / "m", tmp_path / "s"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / name).write_text(name)
    with memtui.open(folder, state=state) as memory:
        seq = memory.clear(actor=BOT).event.seq
    where = ["-C", str(folder), "--state", str(state)]
    assert run(["verify", *where]) == 0
    assert run(["log", *where]) == 0
    assert "Bot          clear        /memories" in capsys.readouterr().out
    assert run(["log", "--json", *where]) == 0
    assert '"op": "deleted"' in capsys.readouterr().out.splitlines()[-1]
    assert run(["stats", *where]) == 0
    assert run(["export", *where, "-o", str(tmp_path / "e")]) == 0
    assert run(["diff", *where, str(seq)]) in (0, 1)
    assert run(["undo", *where, str(seq)]) == 0
    assert sorted(os.listdir(folder)) == ["a", "b"]
