"""Deleting on the command line: asked where it is much, and back with one undo."""

from pathlib import Path

import pytest

from memtui.cli import main

Captured = pytest.CaptureFixture[str]


def test_a_file_goes_without_a_question_and_comes_back(folder: Path, capsys: Captured) -> None:
    assert main(["rm", "prefs.md"]) == 0
    said = "Deleted prefs.md. Undo: memtui undo 2\n"
    assert capsys.readouterr() == (said, "")
    assert not (folder / "prefs.md").exists()
    assert main(["undo"]) == 0
    assert (folder / "prefs.md").read_text() == "- short answers\n- Berlin\n"


@pytest.mark.parametrize("paths", [["notes"], ["prefs.md", "notes/today.md"]])
def test_directories_and_several_files_are_asked_about(folder: Path, paths: list[str], capsys: Captured) -> None:
    assert main(["rm", *paths]) == 2
    assert "Not deleted: no terminal to confirm in. Use --yes" in capsys.readouterr().err
    assert main(["rm", "-n", *paths]) == 0
    assert "Changes: " in capsys.readouterr().out
    assert (folder / "notes" / "today.md").exists()
    assert main(["rm", "-y", *paths]) == 0
    assert not (folder / "notes" / "today.md").exists()
    assert main(["undo"]) == 0
    assert (folder / "notes" / "today.md").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["rm", "no.md"], 3, "Not deleted: no.md does not exist."),
        (["rm", "-y", "prefs.md", "no.md"], 3, "Not deleted: no.md does not exist."),
        (["rm", "/memories"], 2, "memtui rm: that is the whole folder. Name a file in it."),
        (["rm", "../prefs.md"], 4, "Refused: ../prefs.md is outside the memory folder."),
        (["rm", "--read-only", "prefs.md"], 4, "Not deleted: this is read-only."),
    ],
)
def test_what_cannot_be_deleted_is_said(folder: Path, words: list[str], code: int, said: str, capsys: Captured) -> None:
    assert main(words) == code
    assert capsys.readouterr().err.startswith(said)
    assert (folder / "prefs.md").exists()


def test_options_may_stand_between_the_words(folder: Path) -> None:
    assert main(["rm", "prefs.md", "-C", str(folder), "notes/today.md", "--yes"]) == 0
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [".hidden"]


def test_what_is_too_large_to_be_kept_is_asked_about_and_gone_for_good(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "large.md").open("wb") as file:
        file.truncate(64_000_001)
    assert main(["rm", "large.md"]) != 0  # nobody is there to be asked
    assert (folder / "large.md").exists()
    assert main(["rm", "--yes", "large.md"]) == 0
    assert capsys.readouterr().out.endswith("Deleted large.md. What was too large to keep is deleted for good.\n")
    assert not (folder / "large.md").exists()
