"""Memories copied with their whole history: from a folder into one SQLite file, and back."""

import os
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import copying
from memtui.copying import CopyRefused, copy
from memtui.core.errors import FolderMissing
from memtui.core.paths import MemoryPath
from memtui.engine import Engine
from tests.conftest import picture_of, tree_of

ME = memtui.Agent("tester")


def ask(memory: Engine, **command: object) -> None:
    answer = memory.execute(command, actor=ME)
    assert not answer.is_error, answer.text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a history: a note of two versions, one that was renamed, one that is gone, links and odd names."""
    folder = tmp_path / "folder"
    (folder / "made" / "below").mkdir(parents=True)
    (folder / "made").chmod(0o750)
    (folder / "script.sh").write_text("#!/bin/sh\n")
    (folder / "script.sh").chmod(0o755)
    os.utime(folder / "script.sh", ns=(1, 1_600_000_000_123_456_789))
    (folder / "odd \udcff name").write_bytes(b"\xff\x00")
    (folder / "link").symlink_to("made")
    with memtui.open(folder) as memory:
        ask(memory, command="create", path="/memories/a.md", file_text="one\n")
        ask(memory, command="str_replace", path="/memories/a.md", old_str="one", new_str="two")
        ask(memory, command="create", path="/memories/b.md", file_text="b\n")
        ask(memory, command="rename", old_path="/memories/b.md", new_path="/memories/made/c.md")
        ask(memory, command="create", path="/memories/gone.md", file_text="gone\n")
        ask(memory, command="delete", path="/memories/gone.md")
    return folder


def attributes_of(folder: Path) -> dict[str, Any]:
    """Names, bytes, modes, and the times of files, without what is a copy's own."""
    return {
        path: (held, mode, held and time) for path, (held, mode, time, *_) in picture_of(folder).items() if path != "."
    }


def test_there_and_back_again_everything_is_as_it_was(folder: Path, tmp_path: Path) -> None:
    with memtui.open(folder) as memory:
        head, events = memory.get_head(), list(memory.events())
    place, back = f"sqlite:{tmp_path / 'one.db'}", tmp_path / "back"
    there = copy(folder, place)
    assert (there.head, there.left, there.files) == (head, (), 5)
    assert copy(place, back) == there
    assert attributes_of(back) == attributes_of(folder)
    for each in (place, back):
        with memtui.open(each) as memory:
            assert memory.get_head() == head, "nothing was found that had changed"
            assert list(memory.events()) == events
            report = memory.journal.verify()
            assert report.is_intact
            assert not report.findings
            undone = memory.undo([head[0]])
            assert undone.event is not None, undone.problem
            assert memory.store.read(MemoryPath.from_relative("gone.md"), limit=9).data == b"gone\n"
    assert tree_of(back)["gone.md"] == b"gone\n"
    assert "gone.md" not in tree_of(folder)


def test_what_changed_unnoticed_is_recorded_first(folder: Path, tmp_path: Path) -> None:
    (folder / "a.md").write_text("by another program\n")
    done = copy(folder, f"sqlite:{tmp_path / 'one.db'}")
    with memtui.open(f"sqlite:{tmp_path / 'one.db'}") as memory:
        assert memory.get_head() == done.head
        assert list(memory.events())[-1].command == "modified"


def test_what_is_no_file_is_left_and_named(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe")
    done = copy(folder, tmp_path / "back")
    assert done.left == ("pipe",)
    assert "pipe" not in tree_of(tmp_path / "back")


def test_nothing_is_copied_over_something_else(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("mine")
    with memtui.open(tmp_path / "full"):
        pass
    (tmp_path / "full" / "x").unlink()
    before, state = tree_of(tmp_path / "folder"), sorted((tmp_path / "xdg-state").rglob("*"))
    for target, words in {
        f"sqlite:{tmp_path / 'file'}": "exists already",
        f"sqlite:{tmp_path / 'no' / 'one.db'}": "No folder at",
        f"sqlite:{folder / 'one.db'}": "is inside the memory folder",
        str(folder / "made" / "new"): "is inside the memory folder",
        str(tmp_path / "file"): "exists already",
        str(folder): "is not empty",
        str(tmp_path / "full"): "has a journal already",
    }.items():
        with pytest.raises(CopyRefused, match=words):
            copy(folder, target)
    assert (tmp_path / "file").read_text() == "mine"
    assert tree_of(folder) == before
    assert sorted((tmp_path / "xdg-state").rglob("*")) == state


@pytest.mark.parametrize("target", ["sqlite:{}/one.db", "{}/back"], ids=["file", "folder"])
def test_one_that_fails_half_way_is_no_copy_and_can_be_made_again(
    folder: Path, tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    target = target.format(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(copying, "_fill", fail)
        with pytest.raises(OSError, match="No space left"):
            copy(folder, target)
    assert not [path for path in tmp_path.rglob("*") if ".part" in path.name]
    assert not (tmp_path / "one.db").exists()
    assert copy(folder, target).files == 5


def test_what_a_killed_copy_left_is_in_nobodys_way(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "one.db.part-0").write_text("half")
    copy(folder, f"sqlite:{tmp_path / 'one.db'}")
    assert (tmp_path / "one.db.part-0").read_text() == "half"
    with pytest.raises(FolderMissing, match="No file at"):
        copy(f"sqlite:{tmp_path / 'none.db'}", tmp_path / "new")
    assert not (tmp_path / "none.db").exists()
    assert not (tmp_path / "new").exists()
