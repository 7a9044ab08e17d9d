"""Protecting on the command line: said, listed, in force, and taken off again."""

import json
from pathlib import Path

import pytest

import memtui
from memtui.cli import main
from tests.cli.conftest import CLAUDE

Captured = pytest.CaptureFixture[str]


def ask(folder: Path, **command: str) -> memtui.Answer:
    with memtui.open(folder) as memory:
        return memory.execute(command, actor=CLAUDE)


def test_it_is_in_force_until_it_is_taken_off(folder: Path, capsys: Captured) -> None:
    assert main(["protect", "prefs.md", "/memories/notes/"]) == 0
    assert capsys.readouterr().out == (
        "Protected: 2 paths. Agents can view them, but not change them. Undo: memtui protect --off prefs.md notes\n"
    )
    assert "is protected by the user" in ask(folder, command="delete", path="/memories/prefs.md").text
    assert main(["protect"]) == 0
    assert main(["protect", "--list"]) == 0
    assert capsys.readouterr().out == "/memories/notes\n/memories/prefs.md\n" * 2
    assert main(["protect", "--off", "prefs.md"]) == 0
    assert capsys.readouterr().out == "No longer protected: /memories/prefs.md. Agents may change it again.\n"
    assert not ask(folder, command="delete", path="/memories/prefs.md").is_error


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["protect", "no.md"], 3, "Not protected: no.md does not exist.\n"),
        (["protect", "--off", "prefs.md"], 1, "Not protected: nothing to do.\n"),
        (["protect", "--off"], 2, "memtui protect: --off needs a PATH. See: memtui protect --list\n"),
        (
            ["protect", "--list", "prefs.md"],
            2,
            "memtui protect: --list goes with no PATH and no --off. See: memtui protect --help\n",
        ),
        (["protect", "../x"], 4, "Refused: ../x is outside the memory folder. Nothing was read or written.\n"),
        (
            ["protect", "--read-only", "prefs.md"],
            4,
            "Nothing was changed: this is read-only. Nothing was written. Run it without --read-only to do it.\n",
        ),
        (
            ["protect"],
            0,
            "Nothing is protected: agents may change everything. To protect a file: memtui protect PATH\n",
        ),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_not_so_is_said(words: list[str], code: int, said: str, capsys: Captured) -> None:
    assert main(words) == code
    assert capsys.readouterr() == ("", said)


def test_programs_are_answered_in_json(folder: Path, capsys: Captured) -> None:
    assert main(["protect", "--json", "prefs.md"]) == 0
    expected = {"schema": 1, "done": True, "problem": None, "protected": ["/memories/prefs.md"]}
    assert json.loads(capsys.readouterr().out) == expected
    assert main(["protect", "--json", "prefs.md"]) == 1
    assert json.loads(capsys.readouterr().out)["done"] is False
    assert main(["protect", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "protected": ["/memories/prefs.md"]}
    assert folder.exists()


def test_an_empty_word_is_no_path(folder: Path, capsys: Captured) -> None:  # noqa: ARG001
    """A script's variable that nobody has set must neither protect the whole folder nor take that from it."""
    assert main(["protect", ""]) == 2
    assert capsys.readouterr().err == "A path is empty. Nothing was read or written. The whole folder is: .\n"
    assert main(["protect", "."]) == 0
    assert main(["protect", "--off", ""]) == 2
    capsys.readouterr()
    assert main(["protect"]) == 0
    assert capsys.readouterr().out == "/memories\n"


def test_no_command_is_offered_that_would_not_name_it(folder: Path, capsys: Captured) -> None:
    (folder / "a\x1bb").write_text("x\n")
    assert main(["protect", "a\x1bb"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Protected: /memories/a\\x1bb. ")
    assert said.endswith("memtui protect --off PATH\n")
