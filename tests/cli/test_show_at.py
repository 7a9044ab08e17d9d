"""What a note was: its exact bytes, as an agent would have been shown it, and why there is nothing to show."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main
from memtui.engine import replacements


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["new.md", "--at", "2"], "a\nb\n"),
        (["new.md", "--at", "#3"], "c\nd\nb\n"),
        (["new.md@2"], "a\nb\n"),
        (["/memories/prefs.md@1"], "- short answers\n- Berlin\n"),
        (["prefs.md", "--at", "5"], "- short answers\n- Berlin\n"),
        (["notes/today.md@6"], "standup at ten\n"),
        (["notes/today.md", "--at", "now"], "standup at ten\nlunch\n"),
        (["notes/old.md@today"], "c\nd\nb\n"),
        (["notes/today.md", "--at", "0s ago"], "standup at ten\nlunch\n"),
    ],
)
def test_a_note_is_shown_as_it_was(
    words: list[str],
    text: str,
    story: Path,  # noqa: ARG001
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["show", *words]) == 0
    assert capsys.readouterr() == (text, "")


def test_a_time_is_as_good_as_a_number(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(story) as memory:
        second = memory.history.get_event(2)
        assert second is not None
    at = datetime.fromtimestamp(second.at_us / 1e6).astimezone()
    for words in (at.isoformat(timespec="microseconds"), f"{at:%Y-%m-%d %H:%M:%S.%f}"):
        assert main(["show", "new.md", "--at", words]) == 0
        assert capsys.readouterr().out == "a\nb\n"


def test_a_link_is_named_with_its_target(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.symlink("prefs.md", folder / "link")
    memtui.open(folder).close()
    assert main(["show", "link@1"]) == 3
    assert "/memories/link was a link as of #1, to prefs.md." in capsys.readouterr().err


def test_every_comeback_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacements, "_ABSENT_US", -1)  # as if it had been away for long
    with memtui.open(folder) as memory:
        for _ in range(5):
            (folder / "prefs.md").unlink()
            memory.reconcile()
            (folder / "prefs.md").write_text("again\n")
            memory.reconcile()
    assert main(["show", "prefs.md@2"]) == 3
    err = capsys.readouterr().err
    assert "It existed most recently from " in err
    assert err.count("from ") == 3
    assert "(#11) on." in err


def test_a_file_whose_name_ends_in_a_moment_wins_and_it_is_said(
    story: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (story / "new.md@2").write_text("whole name\n")
    assert main(["show", "new.md@2"]) == 0
    out, err = capsys.readouterr()
    assert out == "whole name\n"
    assert "A file is called new.md@2, so it is used." in err
    assert main(["show", "new.md", "--at", "2"]) == 0
    assert capsys.readouterr() == ("a\nb\n", "")
    assert main(["show", "new.md@2", "--at", "now"]) == 0
    assert capsys.readouterr().out == "whole name\n"


def test_as_json_the_event_is_told(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["show", "new.md@3", "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["path"], document["at"]) == (1, "/memories/new.md", 3)
    assert (document["text"], document["size"]) == ("c\nd\nb\n", 6)
    assert document["event"]["seq"] == 3
    assert document["event"]["sha256_after"] == document["sha256"]
    assert document["modified"] == document["event"]["ts"]


def test_as_model_then_is_what_the_agent_would_have_seen(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "new.md@2", "--as-model"]) == 0
    head = "Here's the content of /memories/new.md with line numbers:\n"
    assert capsys.readouterr().out == f"{head}     1\ta\n     2\tb\n     3\t\n"
    (story / "prefs.md").write_bytes(b"\xff\n")
    (story / "long.md").write_text("line\n" * 10_000)
    memtui.open(story).close()
    assert main(["show", "prefs.md", "--as-model", "--at", "now"]) == 3
    assert "not valid UTF-8" in capsys.readouterr().out
    assert main(["show", "long.md", "--as-model", "--at", "now", "--json"]) == 0
    assert "To go on, view with view_range" in json.loads(capsys.readouterr().out)["text"]


def test_bytes_are_exact_in_a_pipe_and_visible_on_a_terminal(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes], run_in_terminal: Any
) -> None:
    data = b"\xff\x1b]52;c;eA==\x07\r\n\xe2\x80\xae no newline"
    (folder / "raw").write_bytes(data)
    memtui.open(folder).close()
    (folder / "raw").write_bytes(b"other")
    assert main(["show", "raw@1"]) == 0
    assert capfdbinary.readouterr().out == data
    assert main(["show", "raw@1", "--json"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["text"] is None
    shown = run_in_terminal("show", "raw@1").out
    assert not {0x1B, 0x07, 0xFF} & set(shown)
    assert b"\\x1b]52" in shown


def test_a_text_that_was_removed_is_told_with_who_removed_it(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(story) as memory:
        memory.redact(path="prefs.md", reason="a secret")
    assert main(["show", "prefs.md@1"]) == 3
    err = capsys.readouterr().err
    assert "/memories/prefs.md existed as of #1, but its text was redacted by #8 (you, " in err
    assert "a secret" in err


def test_read_only_the_past_is_shown_and_nothing_is_recorded(
    story: Path, state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = next(state_home.rglob("journal.db"))
    (story / "unseen.md").write_text("x")
    before = journal.read_bytes(), sorted(path.name for path in journal.parent.iterdir())
    assert main(["show", "new.md@2", "--read-only"]) == 0
    assert capsys.readouterr().out == "a\nb\n"
    assert (journal.read_bytes(), sorted(path.name for path in journal.parent.iterdir())) == before
