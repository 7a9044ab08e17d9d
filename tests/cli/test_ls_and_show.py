"""Looking at files without a browser: what is printed, and that nothing else happens."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memtui.cli import main
from memtui.core.unicode import HIDDEN
from tests.conftest import make_chain

HOSTILE = "e\x1b]0;t\x07v\n\u202eil\udcff.md"


def tree(path: Path) -> list[tuple[object, ...]]:
    """Names, modes, times and bytes of all that is below."""
    found: list[tuple[object, ...]] = []
    for at, _, names in os.walk(path):
        for name in [".", *names]:
            full = os.path.join(at, name)
            seen = os.lstat(full)
            found.append((full, seen.st_mode, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_atime_ns))
    return sorted(found)


def test_ls_lists_files_by_size_age_kind_and_path(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.symlink("/etc/passwd", folder / "out")
    os.mkfifo(folder / "pipe")
    os.utime(folder / "prefs.md", (0, folder.stat().st_mtime - 7_300))
    assert main(["ls"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("15B", "file", "notes/today.md"),
        ("-", "link", "out"),
        ("-", "other", "pipe"),
        ("25B", "file", "prefs.md"),
    ]
    assert rows[3][1] == "2h"


def test_ls_shows_hidden_files_when_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["ls"]) == 0
    assert ".hidden" not in capsys.readouterr().out
    assert main(["ls", "-a"]) == 0
    assert ".hidden" in capsys.readouterr().out


def test_ls_lists_what_lies_deeper_than_the_system_takes_a_path(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["d" * 200] * 25
    fd = make_chain(folder, names)
    os.close(os.open("deep.md", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)
    assert main(["ls"]) == 0
    assert f"{'/'.join(names)}/deep.md" in capsys.readouterr().out
    assert main(["doctor", str(folder)]) == 0
    assert "cannot be read" not in capsys.readouterr().out


def test_ls_as_json_is_one_document(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert document["folder"] == str(folder)
    first = document["files"][0]
    assert first == {
        "path": "/memories/notes/today.md",
        "real": str(folder / "notes" / "today.md"),
        "kind": "file",
        "size": 15,
        "modified": first["modified"],
    }
    assert first["modified"].endswith("Z")


def test_hostile_names_are_visible_for_people_and_whole_for_programs(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (folder / HOSTILE).write_text("x")
    assert main(["ls"]) == 0
    shown = capfdbinary.readouterr().out.decode()
    assert "e\\x1b]0;t\\x07v\\n<U+202E>il\\xff.md" in shown
    assert main(["ls", "--json"]) == 0
    printed = capfdbinary.readouterr().out.decode()
    assert not HIDDEN.search(printed)
    assert f"/memories/{HOSTILE}" in [file["path"] for file in json.loads(printed)["files"]]
    assert main(["ls", "-0"]) == 0
    assert os.fsencode(HOSTILE) in capfdbinary.readouterr().out.split(b"\0")


def test_files_of_impossible_times_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.utime(folder / "prefs.md", (2**34, 2**34 - 1))
    assert main(["ls"]) == 0
    assert main(["ls", "--json"]) == 0
    assert capsys.readouterr().out


def test_an_empty_folder_is_said_beside_the_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["ls", str(tmp_path / "empty")]) == 0
    assert capsys.readouterr() == ("", "Nothing is remembered here yet.\n")
    assert main(["ls", str(tmp_path / "empty"), "-q"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "given", ["prefs.md", "/memories/prefs.md", "./prefs.md", "notes/.//../prefs.md", "{folder}/prefs.md"]
)
def test_show_takes_a_path_as_anybody_writes_it(given: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside = ".." not in given
    assert main(["show", given.format(folder=folder)]) == (0 if inside else 4)
    assert capsys.readouterr().out == ((folder / "prefs.md").read_text() if inside else "")


@pytest.mark.parametrize("given", ["../x", "/etc/passwd", "/memories/../x", "/memoriesx", "out", "way/passwd"])
@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_show_refuses_what_is_outside(
    given: str, json_too: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.parent / "x").write_text("secret")
    os.symlink("/etc/passwd", folder / "out")
    os.symlink("/etc", folder / "way")
    assert main(["show", given, *json_too]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Refused: ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nope.md", "Nothing at /memories/nope.md."),
        ("pipe", "/memories/pipe is not a regular file"),
        ("prefs.md/x", "Nothing at /memories/prefs.md/x."),
        ("n" * 300, "File name too long".lower()),
    ],
)
def test_show_says_why_there_is_nothing_to_show(
    given: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(folder / "pipe")
    assert main(["show", given]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_show_gives_a_pipe_the_exact_bytes(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    data = b"\xff\x1b]52;c;eA==\x07\r\nno newline at the end"
    (folder / "raw").write_bytes(data)
    assert main(["show", "raw"]) == 0
    assert capfdbinary.readouterr().out == data
    assert main(["show", "raw", "--json"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["text"] is None


def test_show_as_json_has_the_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "prefs.md").write_text("a\u202eb\x9bc\n")
    assert main(["show", "prefs.md", "--json"]) == 0
    printed = capsys.readouterr().out
    assert "\u202e" not in printed
    assert "\x9b" not in printed
    document = json.loads(printed)
    assert document["text"] == "a\u202eb\x9bc\n"
    assert document["path"] == "/memories/prefs.md"
    assert document["size"] == 9


def test_show_as_model_is_the_answer_of_view(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--as-model", "prefs.md"]) == 0
    text = "Here's the content of /memories/prefs.md with line numbers:\n     1\t- short answers\n     2\t- Berlin\n"
    assert capsys.readouterr().out == text + "     3\t\n"
    assert main(["show", "--as-model", "/memories"]) == 0
    assert "40B\t/memories" in capsys.readouterr().out.splitlines()[1].replace("41B", "40B")
    assert main(["show", "--as-model", "nope"]) == 3
    assert "The path /memories/nope does not exist." in capsys.readouterr().out
    (folder / "long").write_text("line\n" * 10_000)
    assert main(["show", "--as-model", "long", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["text"]) < 40_000
    assert "To go on, view with view_range" in document["text"]


def test_a_terminal_is_shown_no_raw_control_codes(folder: Path, run_in_terminal: "object") -> None:
    (folder / HOSTILE).write_bytes(b"\x1b]52;c;eA==\x07 \xe2\x80\xae \xff\n")
    for words in (["show", HOSTILE], ["show", HOSTILE, "--json"], ["ls"], ["ls", "--json"], ["show", "no\x1b[0m"]):
        ran = run_in_terminal(*words)  # type: ignore[operator]
        assert ran.code == (3 if "no\x1b[0m" in words else 0)
        assert not {0x1B, 0x07, 0xFF} & set(ran.out)
        assert b"\xe2\x80\xae" not in ran.out


def test_looking_changes_nothing(folder: Path, state_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.utime(folder / "prefs.md", (1, 1))
    before = tree(folder)
    for words in (["ls"], ["ls", "-a", "--json"], ["show", "prefs.md"], ["show", "--as-model", "prefs.md"], ["doctor"]):
        assert main(words) == 0
    assert main(["log", "--read-only"]) == 0
    assert main(["show", "nope"]) == 3
    assert capsys.readouterr().out
    assert tree(folder) == before
    assert not state_home.exists()


# A word that is a path, or a folder


@pytest.mark.parametrize("word", ["notes", "notes/", "/memories/notes", "./notes", "{folder}/notes", "notes/today.md"])
@pytest.mark.parametrize("verb", ["ls", "log", "show"])
@pytest.mark.parametrize("option", [False, True])
def test_a_path_is_taken_as_show_takes_it(
    *, verb: str, word: str, option: bool, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.chdir(folder.parent)
    given = word.format(folder=folder)
    assert main([verb, given, *(["--dir", str(folder)] if option else [])]) == 0
    said = capsys.readouterr()
    assert "prefs.md" not in said.out
    if verb == "ls" or (verb == "show" and not word.endswith(".md")):
        assert "notes/today.md" in said.out


@pytest.mark.parametrize("verb", ["ls", "log"])
def test_what_is_inside_wins_and_the_message_names_both_ways(
    verb: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "notes").mkdir()
    (folder.parent / "notes" / "other.md").write_text("other\n")
    (folder.parent / "elsewhere").mkdir()
    monkeypatch.chdir(folder.parent)
    assert main([verb, "notes"]) == 0
    said = capsys.readouterr()
    assert "other.md" not in said.out
    assert said.err.startswith("notes is read as /memories/notes, in ")
    assert said.err.endswith("For the folder of that name: --dir notes\n")
    for words in (["./notes"], ["--dir", "notes"], [str(folder.parent / "notes")]):
        assert main([verb, *words, "--json"]) == 0
        assert "today.md" not in capsys.readouterr().out
    assert main([verb, "elsewhere"]) == 0
    capsys.readouterr()
    assert main([verb, "nope"]) == 3
    assert "Nothing at /memories/nope" in (said := capsys.readouterr().err)
    assert "--dir nope" in said
    assert not (folder.parent / "nope").exists()


def test_the_log_of_what_is_gone_is_there(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "prefs.md"]) == 0
    assert "deleted" in capsys.readouterr().out or not (story / "prefs.md").exists()
    assert main(["log", "notes/old.md", "--path", "new.md"]) == 2
