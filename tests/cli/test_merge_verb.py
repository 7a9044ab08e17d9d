"""Merging notes and splitting them, on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main

Captured = pytest.CaptureFixture[str]

NOTES = {
    "tea.md": "# Tea\n\n[[cup]]\n",
    "cup.md": "# Cup\n\n## Blue\n\n## Red\n",
    "b.md": "[[cup|a cup]] [c](cup.md#red)\n",
}


def fill(folder: Path) -> None:
    for name, text in NOTES.items():
        (folder / name).write_text(text)


def read(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in NOTES if (folder / name).exists()}


def test_a_note_goes_into_another_one_and_links_follow(folder: Path, capsys: Captured) -> None:
    fill(folder)
    assert main(["merge", "tea.md", "/memories/cup.md"]) == 0
    said = capsys.readouterr()
    assert said.out == "Merged cup.md into tea.md. Undo: memtui undo 2\n"
    assert said.err == "Rewrote 3 links in 2 notes.\n"
    assert read(folder) == {
        "tea.md": "# Tea\n\n[[tea]]\n\n## Cup\n\n### Blue\n\n### Red\n",
        "b.md": "[[tea|a cup]] [c](tea.md#red)\n",
    }
    with memtui.open(folder) as memory:
        last = list(memory.events())[-1]
    assert (last.command, last.path, last.note) == ("merge", "/memories/tea.md", "with cup.md, 3 files")
    assert main(["undo", "--yes"]) == 0
    assert read(folder) == NOTES
    assert main(["verify"]) == 0


def test_links_are_left_if_asked_for(folder: Path, capsys: Captured) -> None:
    fill(folder)
    assert main(["merge", "tea.md", "cup.md", "--links", "leave"]) == 0
    assert "3 links are broken now: " in capsys.readouterr().err
    assert (folder / "b.md").read_text() == NOTES["b.md"]


@pytest.mark.parametrize(("answer", "rewritten"), [("y\n", True), ("n\n", False)])
def test_links_are_asked_about_in_a_terminal(
    folder: Path, answer: str, rewritten: bool, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    fill(folder)
    monkeypatch.setattr("memtui.cli.output.is_terminal", lambda _: True)
    monkeypatch.setattr("sys.stdin.readline", lambda: answer, raising=False)
    assert main(["merge", "tea.md", "cup.md", "--links", "ask"]) == 0
    assert "Rewrite 3 links in 2 notes?  y yes  n no: " in capsys.readouterr().err
    assert ((folder / "b.md").read_text() != NOTES["b.md"]) is rewritten


def test_a_note_is_split_and_links_follow(folder: Path, capsys: Captured) -> None:
    fill(folder)
    assert main(["split", "cup.md"]) == 0
    said = capsys.readouterr()
    assert said.out == "Split cup.md into 2 notes: blue.md, red.md. Undo: memtui undo 2\n"
    assert said.err == "Rewrote 1 link in 1 note.\n"
    assert (folder / "cup.md").read_text() == "# Cup\n\n- [[Blue]]\n- [[Red]]\n"
    assert (folder / "red.md").read_text() == "# Red\n"
    assert (folder / "b.md").read_text() == "[[cup|a cup]] [c](red.md#red)\n"
    assert main(["undo", "--yes"]) == 0
    assert read(folder) == NOTES
    assert not (folder / "red.md").exists()


@pytest.mark.parametrize("words", [["merge", "tea.md", "cup.md"], ["split", "cup.md", "--level", "1"]])
def test_a_rehearsal_writes_nothing(folder: Path, words: list[str], capsys: Captured) -> None:
    fill(folder)
    assert main([*words, "--dry-run"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"Would {words[0]} cup.md into ")
    assert "\nChanges: " in said.out
    assert main([*words, "--dry-run", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (found["done"], found["dry_run"], bool(found["changes"])) == (False, True, True)
    assert found.get("parts") == (["/memories/cup-2.md"] if words[0] == "split" else None)
    assert read(folder) == NOTES


def test_rewritten_links_and_new_notes_are_data(folder: Path, capsys: Captured) -> None:
    fill(folder)
    assert main(["split", "cup.md", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["parts"] == ["/memories/blue.md", "/memories/red.md"]
    assert found["rewritten_links"] == [
        {"path": "/memories/b.md", "line": 1, "target": "cup.md#red", "written": "red.md"}
    ]
    assert found["broken_links"] == []
    assert found["event"]["tool"] == "split"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["merge", "tea.md", "no.md"], 3, "Not merged: no.md does not exist. Nothing was written.\n"),
        (["merge", "tea.md", "tea.md"], 2, "Not merged: tea.md is the same note twice. Nothing was written.\n"),
        (["merge", "tea.md", "notes"], 2, "Not merged: notes is a directory. Nothing was written.\n"),
        (["merge", "tea.md", "."], 2, "memtui merge: that is the whole folder. Name a note in it.\n"),
        (["merge", "tea.md", "../x.md"], 4, "Refused: ../x.md is outside the memory folder."),
        (["merge", "tea.md", "cup.md", "--read-only"], 4, "Not merged: this is read-only. Nothing was written."),
        (["merge", "tea.md", "prefs.md"], 4, "Not merged: prefs.md is protected. Nothing was written.\n"),
        (["split", "tea.md"], 2, "Not split: tea.md has no two headings of a level. Nothing was written.\n"),
        (["split", "cup.md", "--level", "9"], 2, "Not split: a heading has a level of 1 to 6, and not 9. Nothing"),
        (["split", "cup.md", "--level", "x"], 2, "memtui split: "),
        (["split", "no.md"], 3, "Not split: no.md does not exist. Nothing was written.\n"),
        (["split", "/memories"], 2, "memtui split: that is the whole folder. Name a note in it.\n"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_changes(
    folder: Path, words: list[str], code: int, said: str, capsys: Captured
) -> None:
    fill(folder)
    assert main(["protect", "prefs.md"]) == 0
    capsys.readouterr()
    assert main(words) == code
    assert capsys.readouterr().err.startswith(said)
    assert read(folder) == NOTES
