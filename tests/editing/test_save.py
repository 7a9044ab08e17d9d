"""The course of a save beside somebody else who writes: an agent, another program, the disk."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import memtui
from memtui.core.events import Agent, Outside, Person
from memtui.core.merge import merge_texts
from memtui.core.paths import MemoryPath
from memtui.editing.save import (
    NoteChange,
    NoteSaved,
    NoteSaver,
    OpenedNote,
    SaveConflict,
    SaveFailed,
    SaveTarget,
    is_text,
)
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.store.base import FileContent, Transaction
from memtui.store.folder import FolderStore

CLAUDE = Agent("Claude")
BASE = b"one\ntwo\nthree\n"
MINE = b"one\nTWO\nthree\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "memories"
    (place / "sub").mkdir(parents=True)
    (place / "a.md").write_bytes(BASE)
    (place / "sub/b.md").write_bytes(b"b\n")
    return place


@pytest.fixture
def engine(folder: Path, tmp_path: Path) -> Iterator[Engine]:
    with memtui.open(folder, state=tmp_path / "state") as memory:
        yield memory


def opened(saving: NoteSaver) -> OpenedNote:
    found = saving.open()
    assert not found.problem
    return found


def in_conflict(result: object) -> SaveConflict:
    assert isinstance(result, SaveConflict), result
    return result


def saved(result: object) -> NoteSaved:
    assert isinstance(result, NoteSaved), result
    return result


def texts(engine: Engine, path: str) -> list[bytes | None]:
    """What a path held, the newest first."""
    return [engine.history.text(row.after) for row in engine.history.versions_of(path)]


def claude(engine: Engine, **words: object) -> None:
    answer = engine.execute(words, actor=CLAUDE)
    assert not answer.is_error, answer.text


# What stands there


def test_what_is_opened_is_in_the_history_before_a_letter_is_typed(engine: Engine, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"written outside\n")
    found = opened(NoteSaver(engine, "a.md"))
    assert found.data == b"written outside\n"
    assert engine.history.text(found.version) == b"written outside\n"
    assert found.event is not None
    assert isinstance(found.event.actor, Outside)


def test_a_note_that_was_renamed_tells_its_former_names(engine: Engine) -> None:
    claude(engine, command="rename", old_path="/memories/a.md", new_path="/memories/sub/c.md")
    assert opened(NoteSaver(engine, "sub/c.md")).former == ("a.md",)


@pytest.mark.parametrize(
    ("path", "words"),
    [("sub", "a directory"), ("away.md", "leads out"), ("nowhere.md", "a missing file"), ("pipe", "a FIFO")],
)
def test_what_cannot_be_edited_says_why(engine: Engine, folder: Path, path: str, words: str) -> None:
    (folder / "away.md").symlink_to("/etc/hostname")
    (folder / "nowhere.md").symlink_to("gone.md")
    os.mkfifo(folder / "pipe")
    found = NoteSaver(engine, path).open()
    assert found.data is None
    assert words in found.problem


def test_a_note_that_is_new_is_made_with_its_folder(engine: Engine, folder: Path) -> None:
    saving = NoteSaver(engine, "new/place/x.md")
    assert (opened(saving).data, opened(saving).version) == (None, None)
    result = saved(saving.save(b"new\n", None))
    assert (folder / "new/place/x.md").read_bytes() == b"new\n"
    assert result.event is not None
    assert isinstance(result.event.actor, Person)


def test_nothing_is_recorded_where_nothing_was_changed(engine: Engine) -> None:
    saving = NoteSaver(engine, "a.md")
    result = saved(saving.save(BASE, opened(saving).version))
    assert (result.unchanged, result.event) == (True, None)


def test_the_same_words_of_both_are_no_conflict(engine: Engine) -> None:
    saving = NoteSaver(engine, "a.md")
    found = opened(saving)
    claude(engine, command="str_replace", path="/memories/a.md", old_str="two", new_str="TWO")
    assert saved(saving.save(MINE, found.version)).unchanged


# Conflicts


@pytest.mark.parametrize("writer", ["claude", "outside"])
def test_a_conflict_writes_nothing_and_either_choice_loses_nothing(
    engine: Engine, folder: Path, tmp_path: Path, writer: str
) -> None:
    saving = NoteSaver(engine, "a.md")
    found = opened(saving)
    theirs = b"one\ntwo\nTHREE\n"
    if writer == "claude":
        with memtui.open(folder, state=tmp_path / "state") as other:  # as another process has it
            claude(other, command="str_replace", path="/memories/a.md", old_str="three", new_str="THREE")
    else:
        (folder / "a.md").write_bytes(theirs)  # nobody has told memtui
    conflict = in_conflict(saving.save(MINE, found.version))
    assert (folder / "a.md").read_bytes() == theirs
    assert (conflict.base, conflict.mine, conflict.theirs) == (BASE, MINE, theirs)
    assert conflict.situation is NoteChange.CHANGED
    assert engine.history.text(conflict.version) == theirs
    assert conflict.event is not None
    assert isinstance(conflict.event.actor, Agent if writer == "claude" else Outside)
    assert conflict.base_event is not None
    assert conflict.base_event.command == "found"

    saved(saving.write_mine(conflict))
    assert (folder / "a.md").read_bytes() == MINE
    assert texts(engine, "a.md") == [MINE, theirs, BASE]


def test_what_is_written_while_the_person_chooses_is_another_conflict(engine: Engine, folder: Path) -> None:
    saving = NoteSaver(engine, "a.md")
    found = opened(saving)
    (folder / "a.md").write_bytes(b"ONE\ntwo\nthree\n")
    first = in_conflict(saving.save(MINE, found.version))
    (folder / "a.md").write_bytes(b"ONE\ntwo\nTHREE\n")
    second = in_conflict(saving.write_mine(first))
    assert (folder / "a.md").read_bytes() == b"ONE\ntwo\nTHREE\n"
    assert len(second.events) == 2
    # A merge now still has all that came before: mine was not made from their first text.
    assert second.base == BASE
    merged = merge_texts(*(text.decode() for text in (second.base, second.mine, second.theirs or b"")))
    assert (merged.is_clean, merged.text) == (True, "ONE\nTWO\nTHREE\n")
    saved(saving.save(merged.text.encode(), second.version))
    assert texts(engine, "a.md") == [b"ONE\nTWO\nTHREE\n", b"ONE\ntwo\nTHREE\n", b"ONE\ntwo\nthree\n", BASE]


def test_a_note_that_was_deleted_can_be_written_again(engine: Engine, folder: Path) -> None:
    saving = NoteSaver(engine, "sub/b.md")
    found = opened(saving)
    shutil.rmtree(folder / "sub")
    conflict = in_conflict(saving.save(b"mine\n", found.version))
    assert (conflict.situation, conflict.theirs, conflict.version) == (NoteChange.DELETED, None, None)
    assert not (folder / "sub").exists()
    saved(saving.write_mine(conflict))
    assert (folder / "sub/b.md").read_bytes() == b"mine\n"
    assert texts(engine, "sub/b.md")[::2] == [b"mine\n", b"b\n"]


@pytest.mark.parametrize("where", [SaveTarget.FOLLOW, SaveTarget.HERE])
def test_a_note_that_was_moved_is_followed_or_written_at_its_old_place(
    engine: Engine, folder: Path, where: SaveTarget
) -> None:
    saving = NoteSaver(engine, "a.md")
    found = opened(saving)
    claude(engine, command="rename", old_path="/memories/a.md", new_path="/memories/sub/c.md")
    claude(engine, command="rename", old_path="/memories/sub", new_path="/memories/other")
    claude(engine, command="str_replace", path="/memories/other/c.md", old_str="one", new_str="ONE")
    conflict = in_conflict(saving.save(MINE, found.version))
    assert (conflict.situation, conflict.moved_to) == (NoteChange.MOVED, "other/c.md")
    assert [event.command for event in conflict.events] == ["str_replace", "rename", "rename"]
    result = saved(saving.write_mine(conflict, where))
    if where is SaveTarget.FOLLOW:
        assert result.path == "other/c.md"
        assert not (folder / "a.md").exists()
        assert texts(engine, "other/c.md")[:2] == [MINE, b"ONE\ntwo\nthree\n"]
    else:
        assert (result.path, (folder / "a.md").read_bytes()) == ("a.md", MINE)
        assert (folder / "other/c.md").read_bytes() == b"ONE\ntwo\nthree\n"


def test_moved_and_then_deleted_is_deleted(engine: Engine) -> None:
    saving = NoteSaver(engine, "a.md")
    found = opened(saving)
    claude(engine, command="rename", old_path="/memories/a.md", new_path="/memories/c.md")
    claude(engine, command="delete", path="/memories/c.md")
    conflict = in_conflict(saving.save(MINE, found.version))
    assert (conflict.situation, conflict.event and conflict.event.command) == (NoteChange.DELETED, "delete")


def test_nothing_takes_the_place_of_what_cannot_be_kept(engine: Engine, folder: Path) -> None:
    saving = NoteSaver(engine, "a.md")
    found = opened(saving)
    (folder / "a.md").unlink()
    (folder / "a.md").mkdir()
    (folder / "a.md/x").write_bytes(b"x")
    (folder / "a (mine).md").write_bytes(b"taken\n")
    conflict = in_conflict(saving.save(MINE, found.version))
    assert (conflict.situation, conflict.detail) == (NoteChange.REPLACED, "it is a directory now")
    assert isinstance(saving.write_mine(conflict), SaveConflict | SaveFailed)
    assert (folder / "a.md/x").read_bytes() == b"x"
    assert saved(saving.write_mine(conflict, SaveTarget.BESIDE)).path == "a (mine 2).md"
    assert (folder / "a (mine 2).md").read_bytes() == MINE
    assert (folder / "a (mine).md").read_bytes() == b"taken\n"


def test_where_a_file_stands_in_place_of_its_folder_mine_goes_beside_that(engine: Engine, folder: Path) -> None:
    saving = NoteSaver(engine, "sub/b.md")
    found = opened(saving)
    shutil.rmtree(folder / "sub")
    (folder / "sub").write_bytes(b"a file\n")
    conflict = in_conflict(saving.save(b"mine\n", found.version))
    again = in_conflict(saving.write_mine(conflict))
    assert again.situation is NoteChange.REPLACED
    assert again.base == b"b\n"
    assert saved(saving.write_mine(again, SaveTarget.BESIDE)).path == "b (mine).md"
    assert (folder / "sub").read_bytes() == b"a file\n"


class _Locked(FolderStore):
    """A folder in which nothing can be read any more, from some moment on."""

    is_locked = False

    def read(self, path: MemoryPath, *, limit: int) -> FileContent:
        if self.is_locked:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return super().read(path, limit=limit)


def test_what_cannot_be_read_any_more_is_not_overwritten(folder: Path, tmp_path: Path) -> None:
    store = _Locked(str(folder), str(tmp_path / "state"))
    with Engine(store, Journal(str(tmp_path / "state/journal.db"))) as engine:
        saving = NoteSaver(engine, "a.md")
        found = opened(saving)
        (folder / "a.md").write_bytes(b"unseen\n")
        store.is_locked = True
        conflict = in_conflict(saving.save(MINE, found.version))
        assert conflict.situation is NoteChange.UNREADABLE
        assert "permission denied" in conflict.detail
        assert isinstance(saving.write_mine(conflict), SaveConflict)
        assert (folder / "a.md").read_bytes() == b"unseen\n"
        assert saved(saving.write_mine(conflict, SaveTarget.BESIDE)).path == "a (mine).md"
        assert (folder / "a (mine).md").read_bytes() == MINE


def test_what_is_no_text_any_more_is_replaced_only_when_it_is_kept(engine: Engine, folder: Path) -> None:
    saving = NoteSaver(engine, "a.md")
    found = opened(saving)
    (folder / "a.md").write_bytes(b"\xff\0")
    conflict = in_conflict(saving.save(MINE, found.version))
    assert conflict.situation is NoteChange.REPLACED
    assert not is_text(conflict.theirs or b"")
    saved(saving.write_mine(conflict))
    assert texts(engine, "a.md")[:2] == [MINE, b"\xff\0"]


def test_behind_a_link_the_note_itself_is_what_counts(engine: Engine, folder: Path) -> None:
    (folder / "link.md").symlink_to("sub/b.md")
    (folder / "sub/b.md").write_bytes(b"fresh\n")  # nobody has told memtui
    saving = NoteSaver(engine, "link.md")
    found = opened(saving)
    assert engine.history.text(found.version) == b"fresh\n"
    claude(engine, command="create", path="/memories/sub/b.md", file_text="theirs\n")
    conflict = in_conflict(saving.save(b"mine\n", found.version))
    assert conflict.event is not None
    assert conflict.event.command == "create"
    saved(saving.write_mine(conflict))
    assert (folder / "sub/b.md").read_bytes() == b"mine\n"
    assert texts(engine, "sub/b.md") == [b"mine\n", b"theirs\n", b"fresh\n", b"b\n"]
    (folder / "link.md").unlink()
    (folder / "link.md").symlink_to("/etc/hostname")
    led_out = in_conflict(saving.save(b"more\n", found.version))
    assert (led_out.situation, "leads out" in led_out.detail) == (NoteChange.REPLACED, True)


def test_a_new_note_whose_name_was_taken_meanwhile_is_a_conflict(engine: Engine) -> None:
    saving = NoteSaver(engine, "new.md")
    opened(saving)
    claude(engine, command="create", path="/memories/new.md", file_text="theirs\n")
    conflict = in_conflict(saving.save(b"mine\n", None))
    assert (conflict.base, conflict.theirs) == (b"", b"theirs\n")


# What nobody can choose about


class _Full(FolderStore):
    """A disk without room, from some moment on."""

    is_full = False

    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> AbstractContextManager[Transaction]:
        if self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().begin_transaction(seconds, optimistic=optimistic)


def test_a_full_disk_or_a_lost_folder_leaves_the_text_where_it_is(folder: Path, tmp_path: Path) -> None:
    store = _Full(str(folder), str(tmp_path / "state"))
    with Engine(store, Journal(str(tmp_path / "state/journal.db"))) as engine:
        saving = NoteSaver(engine, "a.md")
        found = opened(saving)
        store.is_full = True
        result = saving.save(MINE, found.version)
        assert isinstance(result, SaveFailed)
        assert result.words.startswith("Not saved: no space left")
        assert result.words.endswith("Your text stays here.")
        assert (folder / "a.md").read_bytes() == BASE
        store.is_full = False
        assert isinstance(saving.save(MINE, found.version), NoteSaved)
        shutil.rmtree(folder)
        gone = saving.save(BASE, found.version)
        assert isinstance(gone, SaveFailed)
        assert "is not there any more" in gone.words
        assert "is not there any more" in saving.open().problem


def test_a_session_that_only_looks_writes_nothing(folder: Path, tmp_path: Path) -> None:
    with memtui.open(folder, state=tmp_path / "state", read_only=True) as engine:
        saving = NoteSaver(engine, "a.md")
        result = saving.save(MINE, opened(saving).version)
        assert isinstance(result, SaveFailed)
        assert "read-only" in result.words
        assert not (tmp_path / "state").exists()


# What is told live


def test_what_changes_underneath_is_told_with_its_size_and_its_author(engine: Engine, folder: Path) -> None:
    saving = NoteSaver(engine, "a.md")
    found = opened(saving)
    assert saving.find_changes_since(found.version) is None
    claude(engine, command="insert", path="/memories/a.md", insert_line=3, insert_text="four\n")
    claude(engine, command="str_replace", path="/memories/a.md", old_str="one", new_str="ONE")
    since = saving.find_changes_since(found.version, base=found.data)
    assert since is not None
    assert (since.situation, len(since.events), since.added, since.removed) == (NoteChange.CHANGED, 2, 2, 1)
    (folder / "a.md").unlink()
    gone = saving.find_changes_since(found.version)
    assert gone is not None
    assert (gone.situation, gone.added) == (NoteChange.DELETED, None)
    (folder / "a.md").write_bytes(BASE)
    assert saving.find_changes_since(found.version) is None  # as if nothing had been


def test_a_new_note_that_nobody_else_made_is_not_told_of(engine: Engine) -> None:
    saving = NoteSaver(engine, "new.md")
    assert saving.find_changes_since(None) is None
    assert saving.find_conflict(b"mine\n", None) is None
