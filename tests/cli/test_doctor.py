"""The doctor's report, and that it leaves nothing behind."""

import json
import os
import tempfile
from pathlib import Path

import pytest

import memtui
from memtui.cli import main


def report(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, dict[str, str]]:
    assert main(["doctor", "--json", *words]) == code
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert document["ok"] == (code == 0)
    return {check["name"]: check for check in document["checks"]}


def test_all_that_it_looks_at_has_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checks = report(capsys)
    wanted = (
        "memtui python platform sqlite textual watchfiles markdown-it-py rapidfuzz anthropic terminal encoding folder"
    )
    assert set(wanted.split()) | {
        "files",
        "file system",
        "confinement",
        "state",
        "journal",
        "O_TMPFILE",
        "flock",
    } <= set(checks)
    assert checks["files"]["text"] == "3"
    assert checks["journal"]["text"] == "none yet"
    assert checks["folder"]["text"].endswith(str(folder.name))
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line[:6] in ("ok    ", "warn  ", "fail  ") for line in lines)
    assert len(lines) == len(checks)


def test_it_creates_nothing(folder: Path, state_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(os.listdir(tempfile.gettempdir()))
    report(capsys)
    assert not state_home.exists()
    assert sorted(path.name for path in folder.iterdir()) == [".hidden", "notes", "prefs.md"]
    assert [name for name in os.listdir(tempfile.gettempdir()) if "doctor" in name and name not in before] == []


def test_it_reads_the_journal(folder: Path, state_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(folder) as memory:
        seq, hash = memory.journal.head()
    files = sorted(path.name for path in state_home.rglob("*"))
    checks = report(capsys)
    assert checks["journal"]["text"] == "quick_check: ok"
    assert checks["events"]["text"] == f"1, head {seq} {hash}"
    assert sorted(path.name for path in state_home.rglob("*")) == files


def test_a_damaged_journal_fails(folder: Path, state_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memtui.open(folder).close()
    journal = next(state_home.rglob("journal.db"))
    journal.write_bytes(journal.read_bytes()[:4_096] + b"\xff" * 8_192)
    assert report(capsys, code=1)["journal"]["state"] == "fail"


def test_a_missing_folder_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checks = report(capsys, str(tmp_path / "nope"), code=1)
    assert checks["folder"]["state"] == "fail"
    assert not (tmp_path / "nope").exists()


def test_no_folder_at_all_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert report(capsys)["folder"]["state"] == "warn"


def test_a_state_directory_within_the_agents_reach_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(capsys, "--state", str(folder / "s"), code=1)["state"]["state"] == "fail"
