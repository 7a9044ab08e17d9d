"""Which memory a file is, when other programs write it anew, move it or take it away; and the same after a restart."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memtui
from memtui.engine import Engine
from memtui.serve.index import MemoryIndex
from tests.conftest import fill, set_clock

SECOND = 1_000_000_000


class Folder:
    """A folder that other programs change, the index that is kept up with it, and one that is made of all events."""

    def __init__(self, path: Path, memory: Engine) -> None:
        self.path = path
        self.memory = memory
        self.index = MemoryIndex(memory, "memstore_x")
        self.now_ns = 1_800_000_000 * SECOND
        set_clock(memory, lambda: self.now_ns)

    def look(self) -> None:
        """Notice what changed, a tenth of a second later."""
        self.now_ns += SECOND // 10
        self.memory.reconcile()
        self.index.refresh()

    def write(self, name: str, text: str) -> None:
        fill(self.path, {name: text})
        self.look()

    def get_id(self, name: str) -> str:
        memory = self.index.find_at(name)
        assert memory is not None
        return memory.id

    def list_operations(self, memory_id: str) -> list[tuple[str, str]]:
        rows = list(self.index.iter_versions(memory_id, None))
        return [(row.operation, row.path) for row in reversed(rows)]

    def dump(self, index: MemoryIndex) -> object:
        rows = [
            (row.id, row.memory.id, row.path, row.operation, row.sha256, row.number)
            for row in index.iter_versions(None, None)
        ]
        return rows, [(path, index.find_at(path).id) for path in index.iter_live("", None)]  # type: ignore[union-attr]

    def check(self) -> None:
        """That an index of all events says the same as the one that was kept up."""
        again = MemoryIndex(self.memory, "memstore_x")
        again.refresh()
        assert self.dump(again) == self.dump(self.index)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    path = fill(tmp_path / "notes", {"note.md": "one\n"})
    with memtui.open(path) as memory:
        folder = Folder(path, memory)
        folder.look()
        yield folder
        folder.check()


def rename_over(folder: Folder) -> None:
    fill(folder.path, {".note.md.tmp": "two\n"})
    os.replace(folder.path / ".note.md.tmp", folder.path / "note.md")
    folder.look()


def rename_over_seen(folder: Folder) -> None:
    folder.write(".note.md.tmp", "two\n")
    os.replace(folder.path / ".note.md.tmp", folder.path / "note.md")
    folder.look()


def take_away(folder: Folder) -> None:
    (folder.path / "note.md").unlink()
    folder.look()
    folder.write("note.md", "two\n")


def empty_first(folder: Folder) -> None:
    folder.write("note.md", "")
    folder.write("note.md", "two\n")


@pytest.mark.parametrize("save", [rename_over, rename_over_seen, take_away, empty_first])
def test_a_program_that_writes_a_file_anew_changes_its_memory(folder: Folder, save: Callable[[Folder], None]) -> None:
    before = folder.get_id("note.md")
    save(folder)
    assert folder.get_id("note.md") == before
    assert list(folder.index.iter_live("", None)) == ["note.md"]
    operations = folder.list_operations(before)
    assert {path for _, path in operations} == {"note.md"}
    assert [each for each, _ in operations][:2] == ["created", "modified"]
    assert "deleted" not in [each for each, _ in operations]


def test_a_backup_is_a_memory_of_its_own(folder: Folder) -> None:
    before = folder.get_id("note.md")
    os.rename(folder.path / "note.md", folder.path / "note.md~")
    folder.look()
    folder.write("note.md", "two\n")
    assert folder.get_id("note.md") == before
    assert folder.get_id("note.md~") != before
    assert folder.list_operations(folder.get_id("note.md~")) == [("created", "note.md~")]


def test_a_file_that_is_made_much_later_is_another_memory(folder: Folder) -> None:
    before = folder.get_id("note.md")
    (folder.path / "note.md").unlink()
    folder.look()
    folder.now_ns += 10 * SECOND
    folder.write("note.md", "two\n")
    assert folder.get_id("note.md") != before
    assert folder.list_operations(before) == [("created", "note.md"), ("deleted", "note.md")]


def test_a_directory_takes_its_memories_along(folder: Folder) -> None:
    folder.write("a/b/deep.md", "deep\n")
    deep = folder.get_id("a/b/deep.md")
    rename = {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/z"}
    assert not folder.memory.execute(rename, actor=memtui.Agent("x")).is_error
    folder.look()
    assert folder.get_id("z/b/deep.md") == deep
    assert folder.list_operations(deep) == [("created", "a/b/deep.md"), ("modified", "z/b/deep.md")]


def test_two_memories_change_places_in_one_event(folder: Folder) -> None:
    folder.write("other.md", "other\n")
    one, other = folder.get_id("note.md"), folder.get_id("other.md")
    folder.memory.files.move({"note.md": "other.md", "other.md": "note.md"})
    folder.look()
    assert (folder.get_id("other.md"), folder.get_id("note.md")) == (one, other)


def test_a_memory_that_becomes_something_else_is_deleted(folder: Folder) -> None:
    before = folder.get_id("note.md")
    (folder.path / "note.md").unlink()
    (folder.path / "note.md").mkdir()
    folder.look()
    assert folder.index.find_at("note.md") is None
    assert folder.list_operations(before)[-1] == ("deleted", "note.md")


def test_what_is_undone_comes_back_and_what_is_redone_goes(folder: Folder) -> None:
    before = folder.get_id("note.md")
    folder.memory.execute({"command": "delete", "path": "/memories/note.md"}, actor=memtui.Agent("x"))
    folder.memory.undo([folder.memory.get_head()[0]])
    folder.look()
    assert folder.get_id("note.md") == before
    folder.memory.undo([folder.memory.get_head()[0]])
    folder.look()
    assert folder.index.find_at("note.md") is None
    assert [each for each, _ in folder.list_operations(before)] == ["created", "deleted", "modified", "deleted"]


def test_a_change_of_a_mode_alone_is_no_version(folder: Folder) -> None:
    (folder.path / "note.md").chmod(0o640)
    folder.look()
    assert len(folder.list_operations(folder.get_id("note.md"))) == 1
