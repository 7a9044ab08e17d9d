"""A memory folder is a place: removed and made again, it goes on, and what went is one loss."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.errors import FolderMissing
from memtui.core.events import Outside
from memtui.store.folder import FolderStore
from tests.engine.test_mass_loss import fill


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


def remove_and_make(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def move_away_and_make(folder: Path) -> None:
    folder.rename(folder.with_name("away"))
    folder.mkdir()


def put_another_in_place(folder: Path) -> None:
    other = folder.with_name("other")
    (other / "d0").mkdir(parents=True)
    (other / "d0/new.md").write_text("new\n")
    folder.rename(folder.with_name("away"))
    other.rename(folder)


WAYS = (remove_and_make, move_away_and_make, put_another_in_place)

DOORS: dict[str, Callable[[Any], object]] = {
    "view": lambda world: world.ask(command="view", path="/memories"),
    "create": lambda world: world.ask(command="create", path="/memories/d1/after.md", file_text="after\n"),
    "proposal": lambda world: (
        world.main.propose({"command": "create", "path": "/memories/p", "file_text": ""}, actor=memtui.Agent("a")),
        world.main.reconcile(["nothing"]),
    ),
    "look": lambda world: world.main.reconcile(),
    "hint": lambda world: world.main.reconcile(["d0/n0.md"]),
    "names": lambda world: (list(world.main.iter_names()), world.ask(command="view", path="/memories/d0")),
    "clear": lambda world: world.main.clear(actor=memtui.Person()),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("door", DOORS)
def test_what_went_with_the_folder_is_recorded_as_one_loss_and_the_memory_goes_on(
    plain_world: Any, way: Callable[[Path], None], door: str
) -> None:
    fill(plain_world)
    before = plain_world.tree()
    way(plain_world.folder)
    since = plain_world.main.get_head()[0]
    DOORS[door](plain_world)
    first = next(iter(plain_world.main.events(since)))
    assert (first.command, first.actor) == ("deleted", Outside())
    assert first.note == "8 files, the folder was removed and created again"
    loss = plain_world.main.loss
    assert (loss.deleted, loss.first) == (8, first.seq)
    assert not plain_world.ask(command="create", path="/memories/n.md", file_text="x\n").is_error
    assert (plain_world.folder / "n.md").read_text() == "x\n"
    assert plain_world.main.restore_loss().problem == ""
    assert before.items() <= plain_world.tree().items()
    plain_world.main.reconcile()
    assert plain_world.main.loss is None


@pytest.mark.parametrize("kind", ["openat2", "walk"])
def test_it_may_be_removed_and_made_any_number_of_times(resolver_world: Any, kind: str) -> None:
    if resolver_world.kind != kind:
        return
    main = resolver_world.main
    for number in range(6):
        assert not resolver_world.ask(command="create", path="/memories/a.md", file_text=f"{number}").is_error
        assert not resolver_world.ask(command="create", path="/memories/b.md", file_text=f"{number}").is_error
        remove_and_make(resolver_world.folder)
        assert "a.md" not in resolver_world.ask(command="view", path="/memories").text
    deleted = [event for event in main.events() if event.command == "deleted"]
    assert len(deleted) == 6
    assert all(len(event.changes) == 2 for event in deleted)


def test_a_file_at_the_same_path_was_changed_and_one_with_the_same_text_was_not(plain_world: Any) -> None:
    plain_world.fill({"same.md": "same\n", "other.md": "one\n", "gone.md": "gone\n"})
    since = plain_world.main.get_head()[0]
    shutil.rmtree(plain_world.folder)
    plain_world.folder.mkdir()
    plain_world.put("same.md", "same\n")
    plain_world.put("other.md", "two\n")
    plain_world.main.reconcile()
    found = [(event.command, event.path) for event in plain_world.main.events(since)]
    assert found == [("deleted", "/memories/gone.md"), ("modified", "/memories/other.md")]


def test_while_it_is_gone_every_command_says_so_and_nothing_is_recorded_as_deleted(plain_world: Any) -> None:
    fill(plain_world)
    remove(plain_world.folder)
    for command in (
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": "/memories/n", "file_text": ""},
        {"command": "str_replace", "path": "/memories/d0/n0.md", "old_str": "note", "new_str": "x"},
        {"command": "insert", "path": "/memories/d0/n0.md", "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": "/memories/d0"},
        {"command": "rename", "old_path": "/memories/d0", "new_path": "/memories/d3"},
    ):
        answer = plain_world.ask(**command)
        assert (answer.text, answer.is_error) == ("Error: The memory folder is not there", True)
    assert plain_world.main.clear(actor=memtui.Person()).text == "Error: The memory folder is not there"
    assert not os.path.exists(plain_world.folder)
    assert plain_world.main.loss is None
    plain_world.folder.mkdir()
    assert not plain_world.ask(command="view", path="/memories").is_error
    assert plain_world.main.loss.deleted == 8


def test_a_mount_that_went_is_no_deletion(plain_world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(plain_world)
    plain_world.main.reconcile()
    move_away_and_make(plain_world.folder)
    head = plain_world.main.get_head()
    with monkeypatch.context() as patched:
        patched.setattr(FolderStore, "device", property(lambda _: "another"))
        for _ in range(2):
            with pytest.raises(FolderMissing, match="not mounted"):
                plain_world.main.reconcile()
            with pytest.raises(FolderMissing, match="not mounted"):
                plain_world.main.attach()
        assert plain_world.main.get_head() == head
        assert plain_world.ask(command="view", path="/memories").text == "Error: The memory folder is not there"
    plain_world.folder.rmdir()
    plain_world.folder.with_name("away").rename(plain_world.folder)
    plain_world.main.reconcile()
    assert plain_world.main.loss is None
    assert not [event for event in plain_world.main.events() if event.command == "deleted"]


def test_of_several_engines_one_records_what_went(plain_world: Any) -> None:
    fill(plain_world)
    others = [memtui.open(plain_world.folder, state=plain_world.state) for _ in range(2)]
    remove_and_make(plain_world.folder)
    for engine in (*others, plain_world.main):
        assert not engine.execute({"command": "view", "path": "/memories"}, actor=memtui.Agent("a")).is_error
        assert engine.loss is not None
    assert len([event for event in plain_world.main.events() if event.command == "deleted"]) == 1
    for engine in others:
        engine.close()
