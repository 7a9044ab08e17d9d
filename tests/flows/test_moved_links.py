"""What is asked and said of links when a person renames or moves notes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memtui import memory
from memtui.flows.dialog import run_flow
from memtui.flows.files import FileFlowOutcome, FolderContext, delete, move_into, rename
from tests.conftest import fill
from tests.flows.scripted import ScriptedDialog

FILES = {
    "MEMORY.md": "- [A](user_a.md)\n- [B](notes/b.md)\n- [[c]]\n",
    "user_a.md": "See [B](notes/b.md).\n",
    "notes/b.md": "See [C](c.md).\n",
    "notes/c.md": "# c\n",
    "d.md": "See [C](/notes/c.md)\n",
}


def decide(folder: Path, flow: Any, *words: Any, answers: Sequence[str | None] = ()) -> FileFlowOutcome:
    return decide_asked(folder, flow, *words, answers=answers)[0]


def decide_asked(
    folder: Path, flow: Any, *words: Any, answers: Sequence[str | None] = ()
) -> tuple[FileFlowOutcome, list[str]]:
    dialog = ScriptedDialog(*answers)
    known = FolderContext(lambda path: (folder / path).is_dir(), lambda path: (folder / path).exists(), lambda _: False)
    with memory.connect(str(fill(folder, FILES)), state=str(folder.parent / "state")) as engine:
        engine.reconcile()
        outcome: FileFlowOutcome = run_flow(flow(dialog, engine, *words, known))
    assert outcome.outcome is not None
    assert not dialog.answers
    return outcome, dialog.asked


@pytest.mark.parametrize(
    ("flow", "words", "broken"),
    [
        (rename, ("user_a.md", "new.md"), "1 link is broken now: MEMORY.md:1 (user_a.md). u undoes it."),
        (rename, ("notes/b.md", "b.md"), "3 links are broken now: "),
        (rename, ("notes", "topics"), "2 links are broken now: MEMORY.md:2 (notes/b.md), user_a.md:1 "),
        (move_into, (["user_a.md", "MEMORY.md"], "notes"), "links are broken now: "),
    ],
)
def test_links_that_a_move_breaks_are_named(tmp_path: Path, flow: Any, words: Any, broken: str) -> None:
    outcome = decide(tmp_path / "folder", flow, *words, answers=["leave"]).outcome
    assert outcome is not None
    assert broken in outcome.words
    assert outcome.is_warning


def test_the_links_are_rewritten_if_the_person_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    found, asked = decide_asked(folder, rename, "notes/b.md", "b.md", answers=["rewrite"])
    places = "MEMORY.md:2 (notes/b.md), b.md:1 (c.md), user_a.md:1 (notes/b.md)"
    assert asked == [f"Rewrite 3 links in 3 notes?\nyes: {places}\nno, leave them broken"]
    assert found.outcome is not None
    assert found.outcome.words == "Moved notes/b.md to b.md. Rewrote 3 links in 3 notes. u undoes it."
    assert not found.outcome.is_warning
    assert (folder / "b.md").read_text() == "See [C](notes/c.md).\n"
    assert (folder / "MEMORY.md").read_text() == FILES["MEMORY.md"].replace("notes/b.md", "b.md")


def test_nothing_is_renamed_if_the_person_goes_back(tmp_path: Path) -> None:
    found = decide(tmp_path / "folder", rename, "user_a.md", "new.md", answers=[None])
    assert found.outcome is not None
    assert found.outcome.words == "Nothing was renamed."
    assert not found.is_changed
    assert (tmp_path / "folder/user_a.md").exists()


@pytest.mark.parametrize(
    ("flow", "words", "said"),
    [
        (rename, ("d.md", "e.md"), "Renamed d.md to e.md. u undoes it."),
        (move_into, (["d.md"], "notes"), "Moved d.md to notes/. u undoes it."),
    ],
)
def test_nothing_is_said_where_every_link_still_leads_to_its_note(
    tmp_path: Path, flow: Any, words: Any, said: str
) -> None:
    outcome = decide(tmp_path / "folder", flow, *words).outcome
    assert outcome is not None
    assert (outcome.words, outcome.is_warning) == (said, False)


@pytest.mark.parametrize(
    ("paths", "answers", "said", "index"),
    [
        (["notes/c.md"], ["rewrite"], "Rewrote 2 links in 2 notes.", "- [A](user_a.md)\n- [B](notes/b.md)\n"),
        (["notes/c.md"], ["leave"], "2 links are broken now: ", FILES["MEMORY.md"]),
        (["notes"], ["rewrite", True], "Rewrote 3 links in 2 notes.", "- [A](user_a.md)\n"),
        (["notes/b.md", "notes/c.md"], ["leave", True], "3 links are broken now: ", FILES["MEMORY.md"]),
    ],
)
def test_links_to_deleted_notes_become_words_if_the_person_says_so(
    tmp_path: Path, paths: list[str], answers: list[Any], said: str, index: str
) -> None:
    folder = tmp_path / "folder"
    outcome = decide(folder, delete, paths, answers=answers).outcome
    assert outcome is not None
    assert said in outcome.words
    assert (folder / "MEMORY.md").read_text() == index


def test_nothing_is_deleted_if_the_person_goes_back(tmp_path: Path) -> None:
    found = decide(tmp_path / "folder", delete, ["notes/c.md"], answers=[None])
    assert found.outcome is not None
    assert found.outcome.words == "Nothing was deleted."
    assert (tmp_path / "folder/notes/c.md").exists()


def test_nothing_is_asked_where_nothing_links_to_it(tmp_path: Path) -> None:
    found = decide(tmp_path / "folder", delete, ["d.md"])
    assert found.outcome is not None
    assert found.outcome.words.startswith("Deleted d.md.")
