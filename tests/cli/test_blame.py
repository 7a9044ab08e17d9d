"""Who wrote each line, told in columns and for programs."""

import json
import os
from pathlib import Path

import pytest

import memtui
from memtui.cli import main
from memtui.core.unicode import HIDDEN


def rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[list[str]]:
    assert main(["blame", *words]) == 0
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_each_line_has_its_event_its_actor_its_time_and_its_call(
    story: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (story / "notes" / "old.md").open("a") as file:
        file.write("by hand\n")
    found = rows(capsys, "notes/old.md")
    assert [(row[0], row[1]) for row in found] == [("3", "Claude"), ("3", "Claude"), ("2", "Claude"), ("8", "other")]
    assert [row[4:] for row in found] == [
        ["toolu_0123..", "1", "c"],
        ["toolu_0123..", "2", "d"],
        ["toolu_0123..", "3", "b"],
        ["4", "by", "hand"],
    ]


def test_columns_are_aligned(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (story / "notes" / "today.md").write_text("standup at ten\nlunch\n" + "more\n" * 12)
    assert main(["blame", "notes/today.md"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len({line.index(line.split()[-1]) for line in lines[1:]}) == 1
    assert lines[0].startswith("1  memtui first saw it  20")
    assert lines[1].startswith("7  other                20")
    assert lines[13].startswith("8  other                20")


def test_it_can_be_asked_of_the_past(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert [row[0] for row in rows(capsys, "new.md", "--at", "2")] == ["2", "2"]
    assert [row[0] for row in rows(capsys, "new.md@3")] == ["3", "3", "2"]
    assert [row[-1] for row in rows(capsys, "prefs.md@1")] == ["answers", "Berlin"]


def test_as_json_nothing_is_shortened(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["blame", "notes/old.md", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["path"], document["at"]) == (1, "/memories/notes/old.md", None)
    assert document["complete"] is True
    first = document["lines"][0]
    assert first["ts"].endswith("Z")
    assert {**first, "ts": ""} == {
        "line": 1,
        "seq": 3,
        "ts": "",
        "actor": "Claude",
        "actor_kind": "agent",
        "command": "str_replace",
        "call_id": "toolu_0123456789abcdef",
        "text": "c",
    }


def test_lines_whose_history_was_removed_are_said_to_be_older_perhaps(
    story: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with memtui.open(story) as memory:
        memory.redact(event=2)
    assert main(["blame", "notes/old.md"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    assert "a line may be older than the event shown" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nope.md"], "Nothing at /memories/nope.md."),
        (["prefs.md"], "Nothing at /memories/prefs.md. For an earlier version: memtui blame PATH --at MOMENT"),
        (["prefs.md@6"], "/memories/prefs.md did not exist as of #6."),
        (["notes"], "/memories/notes has no lines. It is a directory."),
        (["binary"], "/memories/binary is not a text, so it has no lines."),
        (["out"], "leads out of the memory folder"),
    ],
)
def test_what_has_no_lines_is_told(
    words: list[str], said: str, story: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (story / "binary").write_bytes(b"a\0b")
    os.symlink("/etc/passwd", story / "out")
    assert main(["blame", *words]) == 3
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""


def test_an_empty_note_has_no_lines_and_no_fault(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty.md").touch()
    assert main(["blame", "empty.md"]) == 0
    assert capsys.readouterr() == ("", "")


def test_hostile_texts_and_actors_are_made_visible(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(folder) as memory:
        command = {"command": "create", "path": "/memories/e.md", "file_text": "\x1b]0;t\x07 \u202ex\r\nb\n"}
        memory.execute(command, actor=memtui.Agent("a\x1b[31m\n"), call_id="c\u202e")
    assert main(["blame", "e.md"]) == 0
    lines = capsys.readouterr().out
    assert not HIDDEN.search(lines)
    assert len(lines.splitlines()) == 2
    assert main(["blame", "e.md", "--json"]) == 0
    printed = capsys.readouterr().out
    assert not HIDDEN.search(printed)
    assert json.loads(printed)["lines"][0]["text"] == "\x1b]0;t\x07 \u202ex\r"
