"""What is asked and said when a person merges notes, or splits one."""

from pathlib import Path
from typing import Any

import pytest

from memtui import memory
from memtui.flows.dialog import run_flow
from memtui.flows.files import FileFlowOutcome
from memtui.flows.merge_and_split import choose_kept, merge, split
from tests.conftest import fill
from tests.flows.scripted import ScriptedDialog

FILES = {
    "a.md": "# A\n",
    "b.md": "# B\n\n## One\n\n## Two\n",
    "c.md": "# C\n",
    "notes/d.md": "[b](../b.md#one) [[b]]\n",
}


def decide(folder: Path, flow: Any, *words: str, answers: list[Any]) -> tuple[FileFlowOutcome, list[str]]:
    dialog = ScriptedDialog(*answers)
    with memory.connect(str(fill(folder, FILES)), state=str(folder.parent / "state")) as engine:
        engine.reconcile()
        outcome: FileFlowOutcome = run_flow(flow(dialog, engine, *words))
    assert outcome.outcome is not None
    assert not dialog.answers
    return outcome, dialog.asked


def test_links_are_rewritten_if_the_person_says_so(tmp_path: Path) -> None:
    found, asked = decide(tmp_path / "folder", merge, "b.md", "a.md", answers=["rewrite"])
    assert asked == [
        "Merge b.md into a.md?\n"
        "yes, and rewrite 2 links in 1 note: notes/d.md:1 (../b.md#one), notes/d.md:1 (b)\n"
        "yes, and leave them broken"
    ]
    assert found.outcome is not None
    assert found.outcome.words == "Merged b.md into a.md. Rewrote 2 links in 1 note. u undoes all of it."
    assert (found.path, found.is_changed, found.outcome.is_warning) == ("a.md", True, False)
    assert (tmp_path / "folder/notes/d.md").read_text() == "[b](../a.md#one) [[a]]\n"


def test_links_are_left_broken_and_named_if_the_person_says_so(tmp_path: Path) -> None:
    found, _ = decide(tmp_path / "folder", merge, "b.md", "a.md", answers=["leave"])
    assert found.outcome is not None
    assert "2 links are broken now: notes/d.md:1 (../b.md#one), notes/d.md:1 (b)." in found.outcome.words
    assert found.outcome.is_warning
    assert (tmp_path / "folder/notes/d.md").read_text() == FILES["notes/d.md"]


@pytest.mark.parametrize(
    ("flow", "words", "asked", "answers", "said"),
    [
        (merge, ("c.md", "a.md"), "Merge c.md into a.md? u restores both.", [False], "Nothing was merged."),
        (merge, ("b.md", "a.md"), "Merge b.md into a.md?", [None], "Nothing was merged."),
        (split, ("b.md",), "Split b.md into\n2 notes, at level 2: one.md, two.md", [None], "Nothing was split."),
        (split, ("a.md",), "Split a.md into\n1 note, at level 1: a-2.md", [None], "Nothing was split."),
        (merge, ("no.md", "a.md"), "", [], "Not merged: no.md does not exist."),
        (split, ("notes/d.md",), "", [], "Not split: notes/d.md has no headings."),
    ],
)
def test_nothing_is_done_if_the_person_goes_back_or_it_cannot_be(
    tmp_path: Path, flow: Any, words: tuple[str, ...], asked: str, answers: list[Any], said: str
) -> None:
    found, questions = decide(tmp_path / "folder", flow, *words, answers=answers)
    assert found.outcome is not None
    assert found.outcome.words == said
    assert not found.is_changed
    assert "\n".join(questions).startswith(asked)
    assert (tmp_path / "folder/b.md").read_text() == FILES["b.md"]


def test_a_split_says_what_the_new_notes_are_called(tmp_path: Path) -> None:
    found, _ = decide(tmp_path / "folder", split, "b.md", answers=["2"])
    assert found.outcome is not None
    words = "Split b.md into 2 notes: one.md, two.md. Rewrote 1 link in 1 note. u undoes all of it."
    assert found.outcome.words == words
    assert found.path == "b.md"


@pytest.mark.parametrize(("answer", "pair"), [("a", ("b", "a")), ("b", ("a", "b")), (None, None)])
def test_of_two_notes_one_stays(answer: str | None, pair: tuple[str, str] | None) -> None:
    assert run_flow(choose_kept(ScriptedDialog(answer), "a", "b")) == pair
