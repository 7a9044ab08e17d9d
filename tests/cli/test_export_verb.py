"""Taking the journal elsewhere: whole, to its owner only, and never into the agent's reach."""

import contextlib
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.cli import main
from memtui.journal import transfer

SCRIPT = Path(__file__).parents[1] / "journal" / "verify_export.py"
Run = Callable[..., Any]


def is_whole(content: bytes, tmp_path: Path) -> bool:
    """Whether an export verifies."""
    (tmp_path / "to-verify").write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT, tmp_path / "to-verify"], capture_output=True, timeout=60, check=False
    )
    return done.returncode == 0


def test_an_export_goes_to_standard_output(rewritten: Path, tmp_path: Path, run: Run) -> None:
    done = run("export")
    assert (done.code, done.err) == (0, b"")
    header = json.loads(done.out.splitlines()[0])
    assert header["folder"] == str(rewritten)
    assert header["exported"].endswith("Z")
    assert is_whole(done.out, tmp_path)
    assert run("export", "-o", "-").out.splitlines()[1:] == done.out.splitlines()[1:]


@pytest.mark.parametrize("words", [[], ["--read-only"]], ids=str)
def test_an_export_to_a_file_is_its_owners_alone(
    words: list[str], journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = journal.read_bytes(), sorted(os.listdir(journal.parent))
    target = tmp_path / "out" / "journal.jsonl"
    target.parent.mkdir()
    assert main(["export", "-o", str(target), *words]) == 0
    assert capsys.readouterr() == ("", "")
    assert is_whole(target.read_bytes(), tmp_path)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.stat().st_nlink == 1
    assert os.listdir(target.parent) == ["journal.jsonl"]
    assert (journal.read_bytes(), sorted(os.listdir(journal.parent))) == before


def test_a_file_that_is_there_is_replaced_only_by_force(
    journal: Path,  # noqa: ARG001
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "journal.jsonl"
    target.write_text("mine")
    assert main(["export", "-o", str(target)]) == 5
    assert "already exists. Nothing was exported. To replace it: --force" in capsys.readouterr().err
    assert target.read_text() == "mine"
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert main(["export", "-o", str(tmp_path / "link")]) == 5
    assert main(["export", "-o", str(target), "--force"]) == 0
    assert is_whole(target.read_bytes(), tmp_path)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_no_export_goes_where_an_agent_could_read_it_or_over_the_journal(
    rewritten: Path, journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link").symlink_to(rewritten)
    (tmp_path / "file-link").symlink_to(rewritten / "new.md")
    before = journal.read_bytes(), sorted(os.listdir(rewritten)), (rewritten / "new.md").read_bytes()
    for target in (
        rewritten / "x",
        rewritten / "notes" / "x",
        tmp_path / "link" / "x",
        tmp_path / "file-link",
        journal,
    ):
        assert main(["export", "--force", "-o", str(target)]) == 4
        assert capsys.readouterr().err.startswith("Refused: ")
    assert (journal.read_bytes(), sorted(os.listdir(rewritten)), (rewritten / "new.md").read_bytes()) == before


def test_a_place_that_cannot_be_written_is_said(
    journal: Path,  # noqa: ARG001
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "out").mkdir()
    assert main(["export", "-o", str(tmp_path / "out")]) == 2
    assert "is a directory. Nothing was exported." in capsys.readouterr().err
    assert main(["export", "-o", str(tmp_path / "none" / "x")]) == 74
    assert "could not be written: no such file or directory. Nothing was exported." in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_said(journal: Path) -> None:  # noqa: ARG001
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "memtui", "export"], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (74, b"The output could not be written: no space left on device.\n")


def test_without_texts_there_are_none(journal: Path, tmp_path: Path, run: Run) -> None:  # noqa: ARG001
    done = run("export", "--no-texts")
    assert b"File created" not in done.out
    assert not any("sha256" in json.loads(line) for line in done.out.splitlines())
    assert is_whole(done.out, tmp_path)


def test_the_folder_itself_may_be_gone(rewritten: Path, journal: Path, tmp_path: Path, run: Run) -> None:
    shutil.rmtree(rewritten)
    for words in ([], [str(rewritten)], ["--state", str(journal.parent)]):
        assert is_whole(run("export", *words).out, tmp_path)
    assert not rewritten.exists()


def test_where_there_is_no_journal_that_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "-o", str(tmp_path / "x")]) == 3
    assert capsys.readouterr().err.startswith(f"There is no journal for {folder} in ")
    assert not (tmp_path / "x").exists()


def without_versions(journal: Path) -> bytes:
    """A journal of which all can be read but the versions."""
    with contextlib.closing(sqlite3.connect(journal)) as database:
        (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'versions'").fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    whole = bytearray(journal.read_bytes())
    whole[(page - 1) * size : page * size] = b"\xff" * size
    return bytes(whole)


def test_a_journal_that_cannot_be_read_to_its_end_leaves_no_file(
    journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal.write_bytes(without_versions(journal))
    (tmp_path / "out").mkdir()
    assert main(["export", "-o", str(tmp_path / "out" / "x")]) == 3
    assert "cannot be read: database disk image is malformed" in capsys.readouterr().err
    assert os.listdir(tmp_path / "out") == []
    assert main(["export"]) == 3
    assert '"end"' not in capsys.readouterr().out
    journal.write_bytes(b"no journal" * 500)
    assert main(["export"]) == 3
    assert "file is not a database" in capsys.readouterr().err


def test_a_journal_that_is_written_to_while_it_is_read_without_locks_is_not_called_damaged(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sound, halfway = journal.read_bytes(), without_versions(journal)
    states = iter([halfway])
    lines_of = transfer.iter_export_lines

    def lines_meanwhile(*arguments: Any, **options: Any) -> Iterator[bytes]:
        lines = lines_of(*arguments, **options)
        yield next(lines)
        journal.write_bytes(next(states, sound))
        os.utime(journal, ns=(0, 0))
        yield from lines

    monkeypatch.setattr(transfer, "iter_export_lines", lines_meanwhile)
    monkeypatch.setattr(
        "memtui.journal.snapshot.load_image", lambda _: None
    )  # as if it were too large to be read at once
    assert main(["--read-only", "export"]) == 5
    told = capsys.readouterr()
    assert told.err.startswith("The journal changed while it was read without locks.")
    assert '"end"' not in told.out
    states = iter([halfway])
    journal.write_bytes(sound)
    target = tmp_path / "anew.jsonl"
    assert main(["--read-only", "export", "-o", str(target)]) == 0
    assert is_whole(target.read_bytes(), tmp_path)


WRITING = """
import sys, memtui
print("begun", flush=True)
while True:
    with memtui.open(sys.argv[1]) as memory:
        for _ in range(20):
            memory.execute({"command": "view", "path": "/memories"}, actor=memtui.Agent("w"))
"""


@pytest.mark.parametrize("words", [[], ["--read-only"]], ids=str)
def test_an_export_is_of_one_moment_while_another_process_writes(
    words: list[str], rewritten: Path, tmp_path: Path, run_python: Any, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    process = run_python(WRITING, rewritten, wait=False)
    try:
        assert process.stdout.readline() == "begun\n"
        for _ in range(10):
            code = main(["export", *words])
            out, _ = capfdbinary.readouterr()
            assert is_whole(out, tmp_path) == (code == 0)
            assert code in ((0,) if not words else (0, 5))
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()
