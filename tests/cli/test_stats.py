"""The record in numbers."""

import json
from pathlib import Path

import pytest

from memtui.cli import main
from memtui.core.unicode import HIDDEN


def test_events_versions_and_bytes_are_counted(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(story)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0][:2] == ["events", "7"]
    assert lines[1][:2] == ["versions", "6"]
    assert lines[2][:2] == ["texts", "72B"]
    assert lines[4] == ["budget", "under", "1%", "28B", "of", "95.4M"]
    assert [row[-1] for row in lines[7:11]] == ["notes/today.md", "prefs.md", "new.md", "notes/old.md"]
    assert ["5", "5", "2", "10B", "Claude"] in lines


def test_shares_are_told_largest_first_and_as_many_as_asked(story: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["stats", "--json", "-n", "2"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["events"], document["versions"]) == (1, 7, 6)
    assert document["journal_bytes"] > 0
    assert document["first"] < document["last"]
    assert [share["path"] for share in document["paths"]] == ["/memories/notes/today.md", "/memories/prefs.md"]
    assert document["paths"][0]["text_bytes"] == 36
    assert [share["actor"] for share in document["actors"]] == ["Claude", "outside"]
    assert main(["stats", "-n", "0"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_hostile_names_are_made_visible(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "e\x1b]0;t\x07v\n\u202eil\udcff.md").write_text("x" * 100)
    for words in (["stats"], ["stats", "--json"]):
        assert main(words) == 0
        assert not HIDDEN.search(capsys.readouterr().out)


def test_an_empty_record_is_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["stats", str(tmp_path / "empty")]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["events", "0"]
    assert main(["stats", str(tmp_path / "empty"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["first"] is None
