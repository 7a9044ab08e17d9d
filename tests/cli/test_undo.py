"""Taking back what was done, and doing it again; never what somebody has built upon since."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main
from memtui.core.unicode import HIDDEN

GPT = memtui.Agent("other", "b-model", "session-2")


def head(folder: Path) -> memtui.Event:
    with memtui.open(folder) as memory:
        return list(memory.events())[-1]


@pytest.mark.parametrize("number", ["6", "#6"])
def test_an_event_is_taken_back_by_its_number(number: str, story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["undo", number]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Undid #6 (Claude, ")
    assert out.endswith("): delete prefs.md; 1 file added. Redo: memtui redo 8\n")
    assert err == ""
    assert (story / "prefs.md").exists()
    last = head(story)
    assert (last.seq, last.command, last.undoes) == (8, "undo", (6,))


def test_several_events_are_taken_back_as_one(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["undo", "7", "6", "6", "--yes"]) == 0
    assert "Undid 2 events, #6 to #7; 2 files: 1 added, 1 changed." in capsys.readouterr().out
    assert (story / "notes" / "today.md").read_text() == "standup at ten\n"
    assert head(story).seq == 8


def test_without_a_number_it_is_the_last_change_that_stands(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["undo", "-y"]) == 0
    assert "Undid #7 (another program, " in capsys.readouterr().out
    assert main(["undo", "-y"]) == 0
    assert "Undid #6 (Claude, " in capsys.readouterr().out
    assert (story / "prefs.md").exists()
    assert main(["redo"]) == 0
    assert "Redid #6; 1 file deleted. Undo: memtui undo 10" in capsys.readouterr().out
    assert not (story / "prefs.md").exists()
    assert (head(story).command, head(story).undoes) == ("redo", (9,))
    assert main(["undo", "10"]) == 0
    assert (story / "prefs.md").exists()


def test_ones_own_last_change_is_taken_back_without_a_question(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", "prefs.md"]) == 0
    assert main(["undo"]) == 0
    assert "Undid #8 (you, " in capsys.readouterr().out
    assert not (story / "prefs.md").exists()


def test_somebody_elses_is_asked_about(story: Path, run_in_terminal: Any) -> None:
    ran = run_in_terminal("undo", typed=b"n\n")
    assert ran.code == 1
    assert b"  ~ notes/today.md\n" in ran.out
    assert b"Undo #7 (another program, " in ran.out
    assert b"): modified notes/today.md?  y yes  n no: " in ran.out
    assert b"Nothing was written." in ran.out
    assert head(story).seq == 7
    assert run_in_terminal("undo", typed=b"yes\n").code == 0
    assert head(story).undoes == (7,)


def test_all_that_an_agent_did_is_taken_back(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(story) as memory:
        for name in ("one.md", "two.md"):
            memory.execute({"command": "create", "path": f"/memories/{name}", "file_text": "x\n"}, actor=GPT)
    assert main(["undo", "--actor", "OTHER", "-n"]) == 0
    assert capsys.readouterr().out == "Changes: 2 files deleted.\n  - one.md\n  - two.md\n"
    assert main(["undo", "--actor", "other", "--yes"]) == 0
    assert "Undid 2 events, #8 to #9; 2 files deleted." in capsys.readouterr().out
    assert main(["undo", "--session", "session-1", "--since", "6", "--yes"]) == 0
    assert "Undid 1 event, #6; 1 file added." in capsys.readouterr().out
    assert main(["undo", "--actor", "nobody", "--yes"]) == 3
    assert "that event changed nothing" in capsys.readouterr().err


def test_since_a_number_begins_with_it_and_since_a_time_with_its_first_moment(
    story: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def planned(*words: str) -> list[str]:
        assert main(["undo", "--since", *words, "--json", "-n"]) == 0
        return [change["path"] for change in json.loads(capsys.readouterr().out)["changes"]]

    assert planned("7") == ["/memories/notes/today.md"]
    assert sorted(planned("6")) == ["/memories/notes/today.md", "/memories/prefs.md"]
    assert sorted(planned("today")) == [
        "/memories/notes/old.md",
        "/memories/notes/today.md",
        "/memories/prefs.md",
    ]
    assert head(story).seq == 7
    assert main(["undo", "--since", "0s ago", "-n"]) == 3


def test_what_has_changed_since_is_refused_with_who_did_it(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (story / "prefs.md").write_text("by hand\n")
    assert main(["undo", "6"]) == 5
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Not undone: prefs.md has changed since (another program, ")
    assert err.endswith("). See: memtui diff prefs.md\n")
    assert (story / "prefs.md").read_text() == "by hand\n"
    assert main(["undo", "6", "--json"]) == 5
    document = json.loads(capsys.readouterr().out)
    assert document["done"] is False
    assert document["left"] == [{"path": "/memories/prefs.md", "reason": "changed", "since": 8, "detail": None}]


def test_partly_is_possible_where_it_is_said(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (story / "prefs.md").write_text("by hand\n")
    assert main(["undo", "6", "7", "--yes"]) == 5
    assert (story / "notes" / "today.md").read_text() == "standup at ten\nlunch\n"
    capsys.readouterr()
    assert main(["undo", "6", "7", "--yes", "--partial"]) == 0
    out, err = capsys.readouterr()
    assert "1 file changed" in out
    assert "Skipped: prefs.md has changed since (another program, " in err
    assert (story / "notes" / "today.md").read_text() == "standup at ten\n"


def test_what_was_undone_once_is_not_undone_twice(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["undo", "6"]) == 0
    assert main(["undo", "6"]) == 3
    assert "event 6 was undone already, by event 8" in capsys.readouterr().err
    assert main(["redo", "6"]) == 0
    assert not (story / "prefs.md").exists()
    assert main(["redo", "6"]) == 3


def test_an_empty_record_has_nothing_to_undo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["undo", "-C", str(tmp_path / "empty")]) == 3
    assert "Not undone: there is no change left to undo." in capsys.readouterr().err


def test_hostile_names_and_actors_are_made_visible(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "e\x1b]0;t\x07v\u202e.md").write_text("x")
    with memtui.open(folder) as memory:
        command = {"command": "delete", "path": "/memories/prefs.md"}
        memory.execute(command, actor=memtui.Agent("a\x1b[31m\nb\u202e"))
        (folder / "e\x1b]0;t\x07v\u202e.md").write_text("y")
        memory.reconcile()
    for words in (["undo", "2"], ["undo", "3", "-n"], ["undo", "3"], ["redo", "2"], ["undo"], ["undo", "2", "3"]):
        main(words)
    out, err = capsys.readouterr()
    assert not HIDDEN.search(out + err)


def test_what_was_too_large_to_be_kept_is_named_and_the_rest_is_back(
    story: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (story / "big.bin").touch()
    os.truncate(story / "big.bin", 65_000_000)
    with memtui.open(story) as memory:
        memory.clear(actor=GPT)
    assert os.listdir(story) == []
    assert main(["undo", "--dry-run", "--json"]) == 0
    assert [(left["path"], left["reason"]) for left in json.loads(capsys.readouterr().out)["left"]] == [
        ("/memories/big.bin", "never_kept")
    ]
    assert main(["undo", "--yes"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Undid ")
    assert err == "Not restored: big.bin was never kept in the history: it was too large, 62M.\n"
    assert (story / "notes" / "old.md").exists()
    assert not (story / "big.bin").exists()
    assert main(["redo"]) == 0
    assert os.listdir(story) == []
