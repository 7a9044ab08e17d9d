"""CONTRACT.md, section "create", row by row."""

from typing import Any

import pytest

import memtui


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/memories/f", "hello\n"),
        ("/memories/f", ""),
        ("/memories/a/b/c/f.md", "x"),
        ("/memories//a/./f/", "x"),
        ("/memories/f", "a\r\n\ufeff\u2028\x00\x1b end without newline"),
        ("/memories/~", "$HOME {path} %s"),
        ("/memories/ spaced <name> 🙂 漢 עברית a\u200db %41 100%", "x"),
        ("/memories/node_modules/.x", "x"),
    ],
)
def test_a_file_is_made_with_its_parents_and_the_answer_names_the_canonical_path(
    world: Any, path: str, text: str
) -> None:
    canonical = "/memories/" + "/".join(part for part in path.split("/")[2:] if part not in ("", "."))
    answer = world.ask(command="create", path=path, file_text=text)
    assert (answer.is_error, answer.text) == (False, f"File created successfully at: {canonical}")
    made = world.tree()
    assert made.pop(canonical.removeprefix("/memories/")) == text.encode()
    assert all(held is None for held in made.values())
    assert not world.ask(command="view", path=path).is_error


def test_an_existing_file_is_overwritten_and_its_old_version_kept(world: Any) -> None:
    world.ask(command="create", path="/memories/f", file_text="old\n")
    answer = world.ask(command="create", path="/memories/f", file_text="new\nmore\n")
    assert (answer.is_error, answer.text) == (False, "File created successfully at: /memories/f")
    assert world.tree() == {"f": b"new\nmore\n"}
    (change,) = answer.event.changes
    assert world.main.journal.get_text(change.before.sha256) == b"old\n"
    assert (answer.event.added, answer.event.removed) == (2, 1)


def test_creating_the_same_text_again_is_no_change(world: Any) -> None:
    world.put("f", "same")
    world.main.reconcile()
    before = world.picture()
    answer = world.ask(command="create", path="/memories/f", file_text="same")
    assert (answer.is_error, answer.event.no_change, answer.event.changes) == (False, True, ())
    assert world.picture() == before


def test_an_existing_file_is_refused_where_the_settings_say_so(world: Any) -> None:
    world.put("f", "old")
    engine = world.engine(create="refuse")
    before = world.picture()
    answer = world.ask(engine, command="create", path="/memories/f", file_text="new")
    assert (answer.is_error, answer.text) == (True, "Error: File /memories/f already exists")
    assert world.picture() == before


@pytest.mark.parametrize("setting", ["overwrite", "refuse"])
@pytest.mark.parametrize("path", ["/memories", "/memories/", "/memories/d", "/memories/d/"])
def test_a_directory_is_never_overwritten(world: Any, setting: str, path: str) -> None:
    world.make("d")
    engine = world.engine(create=setting)
    before = world.picture()
    answer = world.ask(engine, command="create", path=path, file_text="new")
    assert (answer.is_error, answer.text) == (True, f"Error: File {path.rstrip('/')} already exists")
    assert world.picture() == before


@pytest.mark.parametrize(("below", "parent"), [("d/f/x", "d/f"), ("d/f/x/y/z", "d/f")])
def test_nothing_is_made_below_a_file(world: Any, below: str, parent: str) -> None:
    world.put("d/f", "file")
    world.main.reconcile()
    before = world.picture()
    answer = world.ask(command="create", path=f"/memories/{below}", file_text="new")
    assert (answer.is_error, answer.text) == (
        True,
        f"Error: Cannot create /memories/{below}: /memories/{parent} is a file, not a directory",
    )
    assert world.picture() == before


def test_a_link_inside_is_written_through(resolver_world: Any) -> None:
    resolver_world.put("d/f", "old")
    (resolver_world.folder / "l").symlink_to("d/f")
    (resolver_world.folder / "e").symlink_to(resolver_world.folder / "d")
    assert not resolver_world.ask(command="create", path="/memories/l", file_text="new").is_error
    answer = resolver_world.ask(command="create", path="/memories/e/g/h", file_text="made")
    assert answer.text == "File created successfully at: /memories/e/g/h"
    assert [change.path for change in answer.event.changes] == ["d/g", "d/g/h"]
    tree = resolver_world.tree()
    assert (tree["d/f"], tree["d/g/h"], tree["l"]) == (b"new", b"made", "d/f")
    assert resolver_world.main.reconcile() == 0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/memories/l", "Error: File /memories/l already exists"),
        ("/memories/l/x", "Error: Cannot create /memories/l/x: /memories/l is a file, not a directory"),
    ],
)
def test_nothing_is_made_through_a_dangling_link(resolver_world: Any, path: str, text: str) -> None:
    (resolver_world.folder / "l").symlink_to("nowhere")
    resolver_world.main.reconcile()
    before = resolver_world.picture()
    answer = resolver_world.ask(command="create", path=path, file_text="new")
    assert (answer.is_error, answer.text) == (True, text)
    assert resolver_world.picture() == before


def test_new_files_and_directories_are_the_owners_alone_and_an_old_mode_is_kept(folder_world: Any) -> None:
    folder_world.put("old", "x")
    (folder_world.folder / "old").chmod(0o640)
    folder_world.ask(command="create", path="/memories/old", file_text="y")
    folder_world.ask(command="create", path="/memories/d/e/new", file_text="y")
    modes = {path: (folder_world.folder / path).lstat().st_mode & 0o7777 for path in ("old", "d", "d/e", "d/e/new")}
    assert modes == {"old": 0o640, "d": 0o700, "d/e": 0o700, "d/e/new": 0o600}


def test_a_person_writes_by_the_same_door(world: Any) -> None:
    answer = world.main.execute(
        {"command": "create", "path": "/memories/f", "file_text": "x"}, actor=memtui.Person("Ann")
    )
    assert answer.event.actor == memtui.Person("Ann")
