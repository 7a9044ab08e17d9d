"""CONTRACT.md, section "delete and rename", row by row."""

import os
from typing import Any

import pytest

ROOTS = ["/memories", "/memories/", "/memories//", "/memories/.", "/memories/a/..", "/memories/../memories"]


def fill(world: Any) -> None:
    world.put("f", "file")
    world.put("d/x", "x")
    world.put("d/e/y", b"\xff")
    world.make("empty")
    assert world.main.reconcile() >= 0


@pytest.mark.parametrize(
    ("path", "gone"),
    [("f", ["f"]), ("d/e/y", ["d/e/y"]), ("d", ["d", "d/x", "d/e", "d/e/y"]), ("empty", ["empty"]),
     ("d/e/", ["d/e", "d/e/y"])],
)  # fmt: skip
def test_a_file_and_a_directory_with_all_below_it_are_deleted(world: Any, path: str, gone: list[str]) -> None:
    fill(world)
    before = world.tree()
    answer = world.ask(command="delete", path=f"/memories/{path}")
    assert (answer.is_error, answer.text) == (False, f"Successfully deleted /memories/{path.rstrip('/')}")
    assert world.tree() == {name: held for name, held in before.items() if name not in gone}
    assert {change.path: change.after for change in answer.event.changes} == dict.fromkeys(gone)
    for change in answer.event.changes:
        if before[change.path] is not None:
            assert world.main.journal.get_text(change.before.sha256) == before[change.path]


@pytest.mark.parametrize("command", ["delete", "rename"])
@pytest.mark.parametrize("path", ["/memories/no", "/memories/no/x", "/memories/f/x"])
def test_a_missing_source_is_refused_and_leaves_no_directory(world: Any, command: str, path: str) -> None:
    fill(world)
    before = world.picture()
    answer = world.ask(command=command, path=path, new_path="/memories/new/dir/x")
    assert (answer.is_error, answer.text) == (True, f"Error: The path {path} does not exist")
    assert world.picture() == before


@pytest.mark.parametrize("path", ROOTS)
def test_the_root_is_neither_deleted_nor_renamed(world: Any, path: str) -> None:
    fill(world)
    before = world.picture()
    answer = world.ask(command="delete", path=path)
    assert (answer.is_error, answer.text) == (True, "Error: Cannot delete the /memories directory itself")
    answer = world.ask(command="rename", old_path=path, new_path="/memories/d/new")
    assert (answer.is_error, answer.text) == (True, "Error: Cannot rename the /memories directory itself")
    assert world.picture() == before


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        ("f", "g", {"g": "f"}),
        ("f", "d/z", {"d/z": "f"}),
        ("f", "p/q/r", {"p": "d", "p/q": "d", "p/q/r": "f"}),
        ("d/e", "e", {"e": "d/e", "e/y": "d/e/y"}),
        ("d", "empty/d", {"empty/d": "d", "empty/d/x": "d/x", "empty/d/e": "d/e", "empty/d/e/y": "d/e/y"}),
        ("d", "dd", {"dd": "d", "dd/x": "d/x", "dd/e": "d/e", "dd/e/y": "d/e/y"}),
    ],
)
def test_a_thing_is_renamed_with_all_below_it(world: Any, old: str, new: str, after: dict[str, str]) -> None:
    fill(world)
    before = world.tree()
    answer = world.ask(command="rename", old_path=f"/memories/{old}", new_path=f"/memories/{new}")
    assert (answer.is_error, answer.text) == (False, f"Successfully renamed /memories/{old} to /memories/{new}")
    kept = {name: held for name, held in before.items() if name != old and not name.startswith(old + "/")}
    assert world.tree() == kept | {name: before[was] for name, was in after.items()}
    assert world.main.reconcile() == 0


@pytest.mark.parametrize("old", ["f", "d", "empty"])
@pytest.mark.parametrize("new", ["f", "d/x", "d", "empty", "d/e"])
def test_nothing_is_renamed_over_another_thing(world: Any, old: str, new: str) -> None:
    fill(world)
    before = world.picture()
    answer = world.ask(command="rename", old_path=f"/memories/{old}", new_path=f"/memories/{new}")
    expected = f"Error: The destination /memories/{new} already exists"
    if new.startswith(old + "/"):
        expected = f"Error: Cannot rename /memories/{old} into itself: /memories/{new}"
    assert (answer.is_error, answer.text) == (True, expected)
    assert world.picture() == before


def test_the_root_is_a_destination_that_exists(world: Any) -> None:
    fill(world)
    answer = world.ask(command="rename", old_path="/memories/f", new_path="/memories/")
    assert (answer.is_error, answer.text) == (True, "Error: The destination /memories already exists")


@pytest.mark.parametrize(("old", "new"), [("d", "d/new"), ("d", "d/e/f/g"), ("f", "f/x")])
def test_nothing_is_renamed_into_itself(world: Any, old: str, new: str) -> None:
    fill(world)
    before = world.picture()
    answer = world.ask(command="rename", old_path=f"/memories/{old}", new_path=f"/memories/{new}")
    assert (answer.is_error, answer.text) == (
        True,
        f"Error: Cannot rename /memories/{old} into itself: /memories/{new}",
    )
    assert world.picture() == before


@pytest.mark.parametrize(("new", "parent"), [("f/x", "f"), ("f/x/y", "f"), ("d/x/new", "d/x")])
def test_nothing_is_renamed_to_below_a_file(world: Any, new: str, parent: str) -> None:
    fill(world)
    before = world.picture()
    answer = world.ask(command="rename", old_path="/memories/empty", new_path=f"/memories/{new}")
    assert (answer.is_error, answer.text) == (
        True,
        f"Error: Cannot rename to /memories/{new}: /memories/{parent} is a file, not a directory",
    )
    assert world.picture() == before


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("/etc/x", "/memories/../y", "Error: Path must start with /memories, got: /etc/x"),
        ("/memories", "/etc/y", "Error: Path must start with /memories, got: /etc/y"),
        ("/memories", "/memories", "Error: Cannot rename the /memories directory itself"),
        ("/memories/no", "/memories/no/x", "Error: The path /memories/no does not exist"),
        ("/memories/no", "/memories/f", "Error: The path /memories/no does not exist"),
        ("/memories/d", "/memories/d/x", "Error: Cannot rename /memories/d into itself: /memories/d/x"),
        ("/memories/d", "/memories/f", "Error: The destination /memories/f already exists"),
    ],
)
def test_syntax_root_source_itself_and_destination_are_checked_in_this_order(
    world: Any, old: str, new: str, text: str
) -> None:
    fill(world)
    assert world.ask(command="rename", old_path=old, new_path=new).text == text


@pytest.mark.parametrize("target", ["d/x", "d", "nowhere", "/etc", "..", "link"])
def test_a_link_itself_is_renamed_and_deleted_never_its_target(resolver_world: Any, target: str) -> None:
    fill(resolver_world)
    (resolver_world.folder / "link").symlink_to(target)
    before = resolver_world.tree()
    answer = resolver_world.ask(command="rename", old_path="/memories/link", new_path="/memories/n/moved")
    assert not answer.is_error
    del before["link"]
    assert resolver_world.tree() == before | {"n": None, "n/moved": target}
    assert not resolver_world.ask(command="delete", path="/memories/n/moved").is_error
    assert resolver_world.tree() == before | {"n": None}


def test_a_link_is_a_destination_that_exists_also_when_it_dangles(resolver_world: Any) -> None:
    fill(resolver_world)
    (resolver_world.folder / "link").symlink_to("nowhere")
    assert resolver_world.ask(command="rename", old_path="/memories/f", new_path="/memories/link").text == (
        "Error: The destination /memories/link already exists"
    )
    assert resolver_world.ask(command="rename", old_path="/memories/f", new_path="/memories/link/x").text == (
        "Error: Cannot rename to /memories/link/x: /memories/link is a file, not a directory"
    )


def test_nothing_is_renamed_into_itself_through_a_link(resolver_world: Any) -> None:
    fill(resolver_world)
    (resolver_world.folder / "link").symlink_to("d")
    before = resolver_world.tree()
    answer = resolver_world.ask(command="rename", old_path="/memories/d", new_path="/memories/link/new/x")
    assert (answer.is_error, answer.text) == (
        True,
        "Error: Cannot rename /memories/d into itself: /memories/link/new/x",
    )
    assert resolver_world.tree() == before


def test_a_fifo_and_a_dangling_link_are_deleted_with_their_directory(resolver_world: Any) -> None:
    resolver_world.make("d")
    os.mkfifo(resolver_world.folder / "d/fifo")
    (resolver_world.folder / "d/gone").symlink_to("nowhere")
    (resolver_world.folder / "d/out").symlink_to("/etc")
    assert not resolver_world.ask(command="delete", path="/memories/d").is_error
    assert resolver_world.tree() == {}
