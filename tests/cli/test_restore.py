"""Getting back what was: a note, a directory, the whole folder; asked first where it is much."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.cli import main
from memtui.core.unicode import HIDDEN


def events(folder: Path) -> list[memtui.Event]:
    with memtui.open(folder) as memory:
        return list(memory.events())


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_a_deleted_note_comes_back_as_it_was_last(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", "prefs.md"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Restored prefs.md as of #1 (another program, ")
    assert out.endswith("). Undo: memtui undo 8\n")
    assert err == ""
    assert (story / "prefs.md").read_text() == "- short answers\n- Berlin\n"
    last = events(story)[-1]
    assert (last.seq, last.command, type(last.actor).__name__) == (8, "restore", "Person")
    assert main(["undo"]) == 0
    assert not (story / "prefs.md").exists()


@pytest.mark.parametrize(
    ("words", "path", "text"),
    [
        (["notes/today.md"], "notes/today.md", "standup at ten\n"),
        (["notes/old.md"], "notes/old.md", "a\nb\n"),
        (["new.md"], "new.md", "c\nd\nb\n"),
        (["new.md@2"], "new.md", "a\nb\n"),
        (["prefs.md", "--at", "1"], "prefs.md", "- short answers\n- Berlin\n"),
        (["notes/today.md", "--at", "#6"], "notes/today.md", "standup at ten\n"),
    ],
)
def test_a_note_becomes_what_it_was_before_its_last_change_or_at_a_moment(
    *, words: list[str], path: str, text: str, story: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["restore", *words]) == 0
    assert (story / path).read_text() == text
    assert f"Restored {path} as of #" in capsys.readouterr().out


def test_restoring_twice_without_a_moment_goes_back_and_forth(story: Path) -> None:
    for text in ("standup at ten\n", "standup at ten\nlunch\n", "standup at ten\n"):
        assert main(["restore", "notes/today.md"]) == 0
        assert (story / "notes" / "today.md").read_text() == text


def test_a_deleted_directory_is_told_as_of_when_it_was_there(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(story) as memory:
        memory.execute({"command": "delete", "path": "/memories/notes"}, actor=memtui.Agent("x"))
    assert main(["restore", "notes"]) == 2
    assert "It last existed as of #7: memtui restore notes --at 7" in capsys.readouterr().err
    assert main(["restore", "notes", "--at", "7", "--yes"]) == 0
    assert sorted(os.listdir(story / "notes")) == ["old.md", "today.md"]


def test_a_directory_becomes_exactly_what_it_was(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", "notes", "--at", "1", "--yes"]) == 0
    assert tree(story / "notes") == {"today.md": b"standup at ten\n"}
    assert not (story / "prefs.md").exists()
    out = capsys.readouterr().out
    assert "Restored notes as of #1 (another program, " in out
    assert "; 2 files: 1 changed, 1 deleted. Undo: memtui undo 8" in out
    assert len(events(story)) == 8


def test_the_whole_folder_becomes_what_it_was(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", "--all", "--at", "1", "-y"]) == 0
    assert tree(story) == {
        "notes": None,
        "notes/today.md": b"standup at ten\n",
        "prefs.md": b"- short answers\n- Berlin\n",
        ".hidden": b"x",
    }
    assert "Restored the whole folder as of #1 (another program, " in capsys.readouterr().out
    assert main(["restore", "--all", "--at", "2", "-y"]) == 0
    assert (story / "new.md").read_text() == "a\nb\n"


def test_several_paths_are_one_event(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", "prefs.md@1", "notes@3", "new.md", "--yes"]) == 0
    assert (story / "prefs.md").exists()
    assert (story / "new.md").read_text() == "c\nd\nb\n"
    assert tree(story / "notes") == {"today.md": b"standup at ten\n"}
    assert len(events(story)) == 8
    assert "Restored 4 files: 2 added, 1 changed, 1 deleted." in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--all", "--at", "1"], ["prefs.md"], ["prefs.md", "--read-only"]])
def test_a_dry_run_tells_and_changes_nothing(words: list[str], story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(story)
    assert main(["restore", *words, "-n"]) == 0
    assert "  + prefs.md\n" in capsys.readouterr().out
    assert main(["restore", *words, "--dry-run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["done"], document["dry_run"], document["event"]) == (False, True, None)
    assert "/memories/prefs.md" in [change["path"] for change in document["changes"]]
    assert tree(story) == before
    assert len(events(story)) == 7


def test_as_json_what_was_done_is_told(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", "prefs.md", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["done"], document["problem"], document["left"]) == (1, True, None, [])
    assert document["event"]["seq"] == 8
    assert (document["event"]["op"], document["event"]["tool"]) == ("created", "restore")
    assert document["event"]["real"] == str(story / "prefs.md")
    assert main(["restore", "prefs.md@1", "--json"]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["problem"] == "Not restored: already the same. Nothing was written."
    assert err == ""


def test_what_stands_in_the_way_is_a_conflict(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (story / "prefs.md").mkdir()
    (story / "prefs.md" / "inside.md").write_text("x\n")
    assert main(["restore", "prefs.md@1"]) == 5
    assert "Not restored: prefs.md" in capsys.readouterr().err
    assert (story / "prefs.md" / "inside.md").exists()


def test_a_text_that_was_removed_cannot_come_back(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(story) as memory:
        memory.redact(path="prefs.md")
    assert main(["restore", "prefs.md"]) == 3
    assert "prefs.md is no longer kept in the history" in capsys.readouterr().err


def test_a_person_is_shown_what_changes_and_asked(story: Path, run_in_terminal: Any) -> None:
    before = tree(story)
    for typed in (b"n\n", b"\n", b"maybe\n", b"\x04"):
        ran = run_in_terminal("restore", "--all", "--at", "1", typed=typed)
        assert ran.code == 1
        assert b"Changes: 3 files: 1 added, 1 changed, 1 deleted." in ran.out
        assert b"  - notes/old.md\n" in ran.out
        assert b"Restore this?  y yes  n no: " in ran.out
        assert b"Not restored. Nothing was written." in ran.out
    assert tree(story) == before
    ran = run_in_terminal("restore", "--all", "--at", "1", typed=b"y\n")
    assert ran.code == 0
    assert b"Restored the whole folder as of #1" in ran.out
    assert (story / "prefs.md").exists()


def test_of_many_names_the_first_are_shown(folder: Path, run_in_terminal: Any) -> None:
    memtui.open(folder).close()
    for number in range(30):
        (folder / f"{number:02}.md").write_text(f"{number}\n")
    ran = run_in_terminal("restore", "--all", "--at", "1", typed=b"n\n")
    assert b"Changes: 30 files deleted." in ran.out
    assert b"  - 19.md\n" in ran.out
    assert b"20.md" not in ran.out
    assert b"  and 10 more; --dry-run lists them all\n" in ran.out


def test_hostile_names_are_made_visible(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "e\x1b]0;t\x07v\n\u202eil\udcff.md"
    (folder / name).write_text("x")
    memtui.open(folder).close()
    (folder / name).unlink()
    for words in (["restore", name, "-n"], ["restore", name, "-n", "--json"], ["restore", name], ["restore", name]):
        main(words)
    out, err = capsys.readouterr()
    assert (folder / name).exists()
    assert not HIDDEN.search(out + err)


def test_a_restore_is_quiet_if_asked(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["restore", "prefs.md", "-q"]) == 0
    assert capsys.readouterr() == ("", "")


def test_what_was_there_at_first_is_one_moment_however_many_events_told_it(folder: Path) -> None:
    for number in range(600):
        (folder / f"{number:03}.md").write_text(f"{number}\n")
    before = tree(folder)
    with memtui.open(folder) as memory:
        assert len(list(memory.events())) > 1
    (folder / "000.md").unlink()
    (folder / "599.md").write_text("changed\n")
    (folder / "new.md").write_text("new\n")
    assert main(["restore", "--all", "--at", "1", "--yes"]) == 0
    assert tree(folder) == before


def test_what_was_found_late_does_not_go(folder: Path) -> None:
    with memory_module.connect(folder) as memory:
        memory.reconcile(["notes"])
        command = {"command": "create", "path": "/memories/new.md", "file_text": "new\n"}
        memory.execute(command, actor=memtui.Agent("early"))
        memory.reconcile()
    (folder / "prefs.md").write_text("changed\n")
    commands = [event.command for event in events(folder)]
    assert commands.index("create") < max(at for at, name in enumerate(commands) if name == "found")
    assert main(["restore", "--all", "--at", str(commands.index("create") + 1), "--yes"]) == 0
    assert (folder / "prefs.md").read_text() == "- short answers\n- Berlin\n"
    assert (folder / "new.md").exists()
    assert (folder / ".hidden").exists()


def test_before_the_record_began_nothing_is_known_to_restore(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(story)
    for words in (["--all"], ["notes"]):
        assert main(["restore", *words, "--at", "0", "--yes"]) == 3
        assert capsys.readouterr().out == ""
    assert tree(story) == before
