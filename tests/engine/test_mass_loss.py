"""Much that goes at once is noticed, said once, and can be had again; a folder that vanishes is no loss of files."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.errors import FolderMissing
from memtui.engine import stats
from memtui.store.folder import FolderStore
from tests.conftest import set_clock


def fill(world: Any, count: int = 8) -> None:
    """Notes of an hour ago: what was written just now may be what goes, at another place."""
    now_ns = world.main._context.now_ns
    set_clock(world.main, lambda: now_ns() - 3_600_000_000_000)
    for number in range(count):
        world.put(f"d{number % 2}/n{number}.md", f"note {number}\n" * 10)
    world.main.reconcile()
    set_clock(world.main, now_ns)


def empty(folder: Path) -> None:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def test_everything_gone_is_one_loss_and_all_of_it_comes_back(folder_world: Any) -> None:
    fill(folder_world)
    (folder_world.folder / "link").symlink_to("d0/n0.md")
    (folder_world.folder / "nothing inside").mkdir()
    folder_world.main.reconcile()
    before = folder_world.tree()
    assert folder_world.main.loss is None
    empty(folder_world.folder)
    folder_world.main.reconcile()
    loss = folder_world.main.loss
    assert (loss.deleted, loss.files) == (8, 8)
    restored = folder_world.main.restore_loss()
    assert (restored.problem, restored.skipped) == ("", ())
    assert folder_world.tree() == before
    assert restored.event.command == "restore"
    assert folder_world.main.loss is None
    assert folder_world.main.restore_loss().problem == "Not restored: nothing is missing."


def test_a_loss_is_known_to_whoever_opens_the_folder_later(plain_world: Any) -> None:
    fill(plain_world)
    plain_world.main.close()
    empty(plain_world.folder)
    with memtui.open(plain_world.folder, state=plain_world.state) as memory:
        assert memory.loss is not None
    with memtui.open(plain_world.folder, state=plain_world.state) as memory:
        assert memory.loss is not None
        memory.dismiss_loss()
        assert memory.loss is None
    with memtui.open(plain_world.folder, state=plain_world.state) as memory:
        assert memory.loss is None
        assert len(memory.history.find_deleted()) == 8


@pytest.mark.parametrize("text", [None, "x"])
def test_a_loss_before_much_else_is_known_to_whoever_opens_the_folder_later(
    plain_world: Any, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.setattr(stats, "_LATELY", 1)
    fill(plain_world)
    for path in sorted(plain_world.folder.rglob("*.md")):
        path.unlink() if text is None else path.write_text(text)
    plain_world.main.reconcile()
    for number in range(5):
        plain_world.put(f"later{number}.md", "")
        plain_world.main.reconcile()
    with memtui.open(plain_world.folder, state=plain_world.state) as memory:
        loss = memory.loss
        assert loss is not None
        assert (loss.deleted, loss.emptied) == ((8, 0) if text is None else (0, 8))


def test_what_stands_there_again_is_left_as_it_is(folder_world: Any) -> None:
    fill(folder_world)
    empty(folder_world.folder)
    folder_world.main.reconcile()
    folder_world.put("d0/n0.md", "written anew\n")
    restored = folder_world.main.restore_loss()
    assert folder_world.tree()["d0/n0.md"] == b"written anew\n"
    assert [left.path for left in restored.skipped] == ["d0/n0.md"]
    assert len([path for path, held in folder_world.tree().items() if held is not None]) == 8


def test_notes_that_are_emptied_are_a_loss_too(folder_world: Any) -> None:
    fill(folder_world)
    before = folder_world.tree()
    for path, held in before.items():
        if held:
            folder_world.put(path, "")
    folder_world.main.reconcile()
    loss = folder_world.main.loss
    assert (loss.deleted, loss.emptied) == (0, 8)
    assert folder_world.main.restore_loss().problem == ""
    assert folder_world.tree() == before


def test_an_agent_that_deletes_one_note_after_the_other_is_noticed(world: Any) -> None:
    fill(world)
    for number in range(8):
        world.ask(command="delete", path=f"/memories/d{number % 2}/n{number}.md")
        assert (world.main.loss is not None) == (number >= 3)
    assert world.main.loss.deleted == world.main.loss.files


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_a_few_of_many_notes_are_no_loss(world: Any, gone: int) -> None:
    fill(world)
    for number in range(gone):
        world.ask(command="delete", path=f"/memories/d{number % 2}/n{number}.md")
    assert world.main.loss is None


def test_making_one_note_of_many_is_no_loss(world: Any) -> None:
    fill(world)
    together = b"".join(held for held in world.tree().values() if held).decode()
    world.ask(command="create", path="/memories/all.md", file_text=together)
    for number in range(7):
        world.ask(command="delete", path=f"/memories/d{number % 2}/n{number}.md")
    assert world.main.loss is None


def test_moving_everything_is_no_loss(world: Any) -> None:
    fill(world)
    for name in ("d0", "d1"):
        world.ask(command="rename", old_path=f"/memories/{name}", new_path=f"/memories/elsewhere/{name}")
    assert world.main.loss is None


def test_what_a_person_takes_away_she_knows_of(world: Any) -> None:
    fill(world)
    world.main.restore_directory("", 0)
    assert not any(held for held in world.tree().values())
    assert world.main.loss is None


def test_what_goes_slowly_is_no_loss(world: Any) -> None:
    fill(world)
    clock = [2_000_000_000_000_000_000]
    set_clock(world.main, lambda: clock[0])
    for number in range(8):
        clock[0] += 61_000_000_000
        world.ask(command="delete", path=f"/memories/d{number % 2}/n{number}.md")
    assert world.main.loss is None


def test_a_folder_that_vanishes_is_said_and_recorded_as_nothing(folder_world: Any) -> None:
    fill(folder_world)
    head = folder_world.main.get_head()
    away = folder_world.folder.with_name("away")
    folder_world.folder.rename(away)
    with pytest.raises(FolderMissing, match="is not there any more"):
        folder_world.main.reconcile()
    assert folder_world.main.get_head() == head
    assert folder_world.main.loss is None
    away.rename(folder_world.folder)
    assert folder_world.main.reconcile() == 0


def test_an_empty_mount_point_is_not_taken_for_a_folder_whose_files_are_gone(
    plain_world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(plain_world)
    head = plain_world.main.get_head()
    plain_world.main.reconcile()
    plain_world.main.close()
    kept = plain_world.folder.with_name("kept")
    plain_world.folder.rename(kept)
    plain_world.folder.mkdir()
    monkeypatch.setattr(FolderStore, "device", property(lambda _: "another"))
    with pytest.raises(FolderMissing, match="Nothing was recorded"):
        memtui.open(plain_world.folder, state=plain_world.state)
    plain_world.folder.rmdir()
    kept.rename(plain_world.folder)
    with memtui.open(plain_world.folder, state=plain_world.state) as memory:  # on another device, and all there
        assert memory.get_head() == head
    with memtui.open(plain_world.folder, state=plain_world.state) as memory:
        assert memory.get_metadata("device") == "another"


@pytest.mark.parametrize("names", ["abcd", "pqrs"])
def test_another_branch_is_no_loss_whatever_its_notes_are_called(folder_world: Any, names: str) -> None:
    now_ns = folder_world.main._context.now_ns
    set_clock(folder_world.main, lambda: now_ns() - 3_600_000_000_000)
    for name in "hijk":
        folder_world.put(name, f"note {name}\n" * 10)
    folder_world.main.reconcile()
    set_clock(folder_world.main, now_ns)
    for old, new in zip("hijk", names, strict=True):
        (folder_world.folder / old).unlink()
        folder_world.put(new, f"note {new}\n" * 10)
    folder_world.main.reconcile()
    assert folder_world.main.loss is None


def test_a_later_loss_does_not_bury_an_earlier_one(world: Any) -> None:
    fill(world, 10)
    clock = [world.main._context.now_ns()]
    set_clock(world.main, lambda: clock[0])
    for number in range(10):
        world.ask(command="delete", path=f"/memories/d{number % 2}/n{number}.md")
    clock[0] += 300_000_000_000
    for number in range(3):
        world.ask(command="create", path=f"/memories/small{number}", file_text="x\n")
    assert world.main.loss.deleted == 10
    for number in range(3):
        world.ask(command="delete", path=f"/memories/small{number}")
    assert world.main.loss.deleted == 3
    world.main.restore_loss()
    assert world.main.loss.deleted == 10
    world.main.restore_loss()
    assert world.main.loss is None
    assert sum(held is not None for held in world.tree().values()) == 13


def test_dismissing_a_loss_says_nothing_of_one_that_nobody_has_seen(world: Any) -> None:
    fill(world, 10)
    for number in range(8):
        world.ask(command="delete", path=f"/memories/d{number % 2}/n{number}.md")
    seen = world.main.loss
    world.ask(command="delete", path="/memories/d0/n8.md")
    world.main.dismiss_loss(seen.last)
    assert world.main.loss is not None
    world.main.dismiss_loss()
    assert world.main.loss is None


def test_a_loss_right_after_the_first_look_is_noticed(plain_world: Any) -> None:
    for number in range(10):
        plain_world.put(f"n{number}", f"note {number}\n" * 10)
    plain_world.main.reconcile()
    for number in range(6):
        (plain_world.folder / f"n{number}").unlink()
    plain_world.main.reconcile()
    assert plain_world.main.loss.deleted == 6


def test_what_is_recorded_while_a_loss_is_looked_for_first_is_counted_once(
    plain_world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = plain_world.main
    totals, late = engine.journal.get_totals, ["e", "d", "c", "b", "a"]

    def meanwhile() -> Any:
        names = late.copy()
        late.clear()
        for name in names:
            plain_world.ask(command="create", path=f"/memories/{name}", file_text="x\n")
        return totals()

    monkeypatch.setattr(engine.journal, "get_totals", meanwhile)
    assert engine.loss is None
    for name in "abcde":
        plain_world.ask(command="delete", path=f"/memories/{name}")
    assert (engine.loss.deleted, engine.loss.files) == (5, 5)
