"""Limits refuse with a sentence that a model can act on; they bind agents, and change nothing."""

from typing import Any

import pytest

import memtui

CREATE = {"command": "create", "path": "/memories/n"}


@pytest.fixture
def filled(world: Any) -> Any:
    return world.fill({"f": "0123456789"})


def test_a_file_over_the_limit_is_refused(filled: Any) -> None:
    engine = filled.engine(max_file_bytes=10)
    before = filled.picture()
    for path, command in (
        ("n", {**CREATE, "file_text": "é" * 5 + "x"}),
        ("f", {"command": "insert", "path": "/memories/f", "insert_line": 0, "insert_text": ""}),
        ("f", {"command": "str_replace", "path": "/memories/f", "old_str": "0", "new_str": "00"}),
    ):
        answer = filled.ask(engine, **command)
        assert answer.is_error
        assert answer.text.startswith(f"Error: /memories/{path} would be 1")
        assert answer.text.endswith("over the limit of 10B a file. Keep it shorter, or split it into several files")
    assert filled.picture() == before
    assert not filled.ask(engine, **CREATE, file_text="0123456789").is_error


def test_a_file_that_is_over_the_limit_already_can_be_shortened(filled: Any) -> None:
    engine = filled.engine(max_file_bytes=5)
    cut = {"command": "str_replace", "path": "/memories/f", "old_str": "89", "new_str": ""}
    assert not filled.ask(engine, **cut).is_error


def test_a_folder_over_the_limit_is_refused(filled: Any) -> None:
    engine = filled.engine(max_total_bytes=15)
    answer = filled.ask(engine, **CREATE, file_text="123456")
    assert (answer.is_error, answer.text) == (
        True,
        "Error: The memory folder would hold 16B, over its limit of 15B. Shorten or delete files first",
    )
    assert not filled.ask(engine, **CREATE, file_text="12345").is_error
    assert not filled.ask(engine, command="create", path="/memories/f", file_text="0").is_error


def test_more_files_than_the_limit_are_refused(filled: Any) -> None:
    engine = filled.engine(max_files=2)
    assert not filled.ask(engine, **CREATE, file_text="").is_error
    answer = filled.ask(engine, command="create", path="/memories/d/m", file_text="")
    assert (answer.is_error, answer.text) == (
        True,
        "Error: The memory folder already holds 2 files, and its limit is 2. Merge or delete files first",
    )
    assert "d" not in filled.tree()
    assert not filled.ask(engine, **CREATE, file_text="again").is_error
    assert not filled.ask(engine, command="delete", path="/memories/f").is_error
    assert not filled.ask(engine, command="create", path="/memories/m", file_text="").is_error


@pytest.mark.parametrize("off", [0])
def test_limits_bind_no_person_and_can_be_off(filled: Any, off: int) -> None:
    command = {**CREATE, "file_text": "x" * 100}
    narrow = filled.engine(max_file_bytes=1, max_total_bytes=1, max_files=1)
    assert not narrow.execute(command, actor=memtui.Person()).is_error
    wide = filled.engine(max_file_bytes=off, max_total_bytes=off, max_files=off)
    assert not filled.ask(wide, **{**command, "path": "/memories/m"}).is_error


def test_a_file_too_large_to_read_is_refused_by_all_that_read_it(filled: Any) -> None:
    engine = filled.engine(max_read_bytes=9)
    before = filled.picture()
    for command in (
        {"command": "view"},
        {"command": "create", "file_text": "x"},
        {"command": "str_replace", "old_str": "0"},
        {"command": "insert", "insert_line": 0, "insert_text": ""},
    ):
        answer = filled.ask(engine, **command, path="/memories/f")
        assert (answer.is_error, answer.text) == (
            True,
            "Error: The file /memories/f is too large to read: 10B, the limit is 9B",
        )
        assert filled.picture() == before


def test_an_error_text_stays_short_whatever_was_sent(filled: Any) -> None:
    for command in (
        {"command": "str_replace", "path": "/memories/f", "old_str": "x" * 1_000_000},
        {"command": "view", "path": "/memories/" + "é" * 1_000_000},
        {"command": "view", "path": "/memories/f", "view_range": [7] * 1_000_000},
        {"command": "x" * 1_000_000},
    ):
        answer = filled.ask(**command)
        assert answer.is_error
        assert len(answer.text) <= 2_048


def test_the_size_and_its_limit_are_told_apart(world: Any) -> None:
    engine = world.engine(max_file_bytes=1_000_000)
    answer = world.ask(engine, **CREATE, file_text="x" * 1_000_001)
    assert answer.text.startswith("Error: /memories/n would be 1000001 bytes, over the limit of 1000000 bytes a file.")


def test_by_default_no_number_of_files_is_too_large(world: Any) -> None:
    assert memtui.Settings().max_files == 0
    for number in range(2_001):
        world.put(f"f{number}", "")
    world.main.reconcile()
    assert not world.ask(**CREATE, file_text="").is_error


@pytest.mark.parametrize("path", ["d/big", "d"])
def test_what_is_too_large_to_be_read_and_what_holds_it_can_be_renamed_and_deleted(world: Any, path: str) -> None:
    world.put("d/big", "x" * 200)
    world.put("d/small", "s")
    engine = world.engine(max_read_bytes=100)
    moved = world.ask(engine, command="rename", old_path=f"/memories/{path}", new_path="/memories/moved")
    assert moved.text == f"Successfully renamed /memories/{path} to /memories/moved"
    assert world.tree()["moved" if path == "d/big" else "moved/big"] == b"x" * 200
    back = engine.undo([moved.event.seq])
    assert (back.problem, world.tree()["d/big"]) == ("", b"x" * 200)
    gone = world.ask(engine, command="delete", path=f"/memories/{path}")
    assert gone.text == f"Successfully deleted /memories/{path}"
    assert gone.event.note == "text not kept of 1 file"
    assert "d/big" not in world.tree()
    assert engine.reconcile() == 0


def test_a_person_moves_and_deletes_what_is_too_large_to_be_read(world: Any) -> None:
    world.put("d/big", "x" * 200)
    engine = world.engine(max_read_bytes=100)
    assert engine.files.move({"d/big": "big"}).problem == ""
    assert engine.files.delete(["big"]).problem == ""
    assert world.tree() == {"d": None}
