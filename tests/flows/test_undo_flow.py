"""Restoring versions and deleted notes, decided headless over a scripted dialog."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory
from memtui.core.events import Person
from memtui.core.history import PathVersion
from memtui.engine import Engine
from memtui.flows.dialog import FlowOutcome, run_flow
from memtui.flows.undo import restore_deleted, restore_version, undo
from memtui.ui.flows.dialog import PHRASES
from tests.flows.scripted import ScriptedDialog

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")


class Note:
    """A memory with one note, and the flow that restores a version of it."""

    def __init__(self, folder: Path, engine: Engine) -> None:
        self.file = folder / "a.md"
        self.engine = engine

    def do(self, command: str, path: str = "a.md", **arguments: str) -> None:
        answer = self.engine.execute({"command": command, "path": f"/memories/{path}", **arguments}, actor=CLAUDE)
        assert not answer.is_error, answer.text

    def write(self, *texts: str) -> None:
        for text in texts:
            self.do("create", file_text=text)

    @property
    def versions(self) -> Sequence[PathVersion]:
        return self.engine.history.versions_of("a.md", imported=True)

    def restore(
        self, dialog: Any, version: PathVersion, newest: PathVersion | None = None, *, is_shown: bool = False
    ) -> FlowOutcome:
        newest, show = newest or self.versions[0], None if is_shown else dialog.shown.append
        return run_flow(restore_version(dialog, self.engine, "a.md", version, newest, "as of 10:14", show))


@pytest.fixture
def note(tmp_path: Path) -> Iterator[Note]:
    folder = tmp_path / "memories"
    folder.mkdir()
    with memory.connect(str(folder), state=str(tmp_path / "state")) as engine:
        yield Note(folder, engine)


def test_a_version_is_restored_as_a_new_one_after_its_change_is_seen(note: Note) -> None:
    note.write("one\n", "two\n")
    first, dialog = note.versions[1], ScriptedDialog(True)
    outcome = note.restore(dialog, first)
    assert note.file.read_text() == "one\n"
    assert outcome == FlowOutcome("Restored a.md as of 10:14.", event=3)
    assert [(change.path, change.after) for change in dialog.shown] == [("a.md", first.after)]
    assert dialog.asked == ["Restore a.md as of 10:14? The current version stays in the history."]
    event = note.versions[0].event
    assert (event.command, event.actor, event.note) == ("restore", Person(), f"as of #{first.event.seq}")


def test_a_change_in_sight_is_made_without_a_question(note: Note) -> None:
    note.write("one\n", "two\n")
    dialog = ScriptedDialog()
    assert note.restore(dialog, note.versions[1], is_shown=True).event == 3
    assert note.file.read_text() == "one\n"
    assert dialog.asked == []


def test_without_a_yes_nothing_is_restored(note: Note) -> None:
    note.write("one\n", "two\n")
    assert note.restore(ScriptedDialog(False), note.versions[1]).words == "Not restored. Nothing was written."
    assert note.file.read_text() == "two\n"
    assert len(note.versions) == 2


def test_the_newest_version_and_an_equal_text_are_not_restored(note: Note) -> None:
    note.write("one\n", "two\n", "one\n")
    dialog = ScriptedDialog()
    newest = note.restore(dialog, note.versions[0])
    assert newest.words.startswith("Nothing to restore: this is the current version.")
    assert not newest.is_warning
    assert note.restore(dialog, note.versions[2]) == FlowOutcome(
        "Not restored: already the same. Nothing was written.", is_warning=True
    )
    assert len(note.versions) == 3


def test_a_deletion_restores_the_version_before_it(note: Note) -> None:
    note.write("one\n")
    note.do("delete")
    assert note.restore(ScriptedDialog(True), note.versions[0]).event
    assert note.file.read_text() == "one\n"


@pytest.mark.parametrize("meanwhile", ["before the question", "before the answer", "without a question"])
def test_a_change_since_the_newest_known_version_is_not_written_over(note: Note, meanwhile: str) -> None:
    note.write("one\n", "two\n")
    first, newest = note.versions[1], note.versions[0]

    def change() -> None:
        note.file.write_text("somebody's\n")

    if meanwhile != "before the answer":
        change()
    dialog = ScriptedDialog(True, before_answer=change)
    outcome = note.restore(dialog, first, newest, is_shown=meanwhile == "without a question")
    assert len(dialog.asked) == (meanwhile == "before the answer")
    assert outcome.is_warning
    assert outcome.words.startswith("Not restored: a.md has changed since (another program, ")
    assert note.file.read_text() == "somebody's\n"


def test_a_person_restores_a_protected_note(note: Note) -> None:
    note.write("one\n", "two\n")
    note.engine.files.protect(["a.md"])
    assert not note.restore(ScriptedDialog(True), note.versions[-1]).is_warning
    assert note.file.read_text() == "one\n"


def test_deleted_notes_come_back_and_those_without_a_text_are_counted(note: Note) -> None:
    note.write("one\n")
    note.do("create", "b.md", file_text="a secret\n")
    note.do("delete")
    note.do("delete", "b.md")
    note.engine.redact(event=2)
    deleted = note.engine.history.find_deleted()
    lost = [each for each in deleted if not each.is_stored]
    assert [each.path for each in lost] == ["b.md"]
    assert restore_deleted(PHRASES, note.engine, lost) == FlowOutcome(
        "Not restored: b.md. Its text was removed from the history.", is_warning=True
    )
    outcome = restore_deleted(PHRASES, note.engine, deleted)
    assert outcome.is_warning
    assert outcome.words.startswith("Restored a.md.")
    assert outcome.words.endswith(" Not kept in the history: 1 more.")
    assert note.file.read_text() == "one\n"


def test_what_cannot_come_back_is_named_in_the_sentence_that_it_is_undone(note: Note) -> None:
    note.write("one\n")
    note.do("create", "b.md", file_text="a secret\n")
    note.engine.clear(actor=CLAUDE)
    note.engine.redact(path="b.md")
    outcome = run_flow(undo(ScriptedDialog(True), note.engine, 3))
    assert outcome.is_warning
    assert outcome.words.startswith("Undid Claude's clearing of the folder.")
    assert outcome.words.endswith(" Not restored: b.md is no longer kept in the history.")
    assert note.file.read_text() == "one\n"
