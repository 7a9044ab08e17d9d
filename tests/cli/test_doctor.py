"""The doctor's report, and that it leaves nothing behind."""

import errno
import fcntl
import json
import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from watchfiles._rust_notify import WatchfilesRustInternalError

import memtui
from memtui import watch
from memtui.cli import doctor, main
from memtui.fs import beneath
from memtui.fs.inotify import Notices


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
        "durability",
        "journal",
        "O_TMPFILE",
        "renameat2",
        "links",
        "directory sync",
        "locks",
        "journal mode",
        "watches",
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
        seq, hash = memory.journal.get_head()
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


def refusing(*_: object, **__: object) -> None:
    raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))


def without_renameat2(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(beneath, "_RENAMEAT2", None)


def without_links(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(os, "link", refusing)


def without_directory_sync(patch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync
    patch.setattr(os, "fsync", lambda fd: refusing() if stat.S_ISDIR(os.fstat(fd).st_mode) else fsync(fd))


def without_flock(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fcntl, "flock", refusing)


def without_locks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fcntl, "flock", refusing)
    patch.setattr(fcntl, "lockf", refusing)


def with_locks_that_do_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fcntl, "flock", lambda *_: None)


def without_wal(patch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    patch.setattr(sqlite3, "connect", lambda path: connect("file:probe?mode=memory", uri=True) if path else None)


def refuse(error: Exception) -> Callable[..., None]:
    def make_watches(*_: object) -> None:
        raise error

    return make_watches


def without_more_watches(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(watch, "InotifyWatches", refuse(OSError(errno.ENOSPC, "No space left on device")))


def with_library(patch: pytest.MonkeyPatch, notify: Callable[..., object]) -> None:
    """As on other systems."""
    patch.setattr(watch, "InotifyWatches", refuse(OSError(errno.ENOSYS, "not here")))
    patch.setattr(watch, "RustNotify", notify)


class Deaf:
    """Watches, and never reports anything."""

    def __init__(self, *_: object) -> None:
        pass

    def watch(self, *_: object) -> str:
        return "timeout"

    def wait(self, _: float) -> Notices:
        return Notices(set())

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("lacking", "name", "state", "words"),
    [
        (without_renameat2, "renameat2", "warn", "not available: a write by another program"),
        (without_links, "links", "warn", "no hard links here"),
        (without_directory_sync, "directory sync", "warn", "a power cut may undo the last changes"),
        (without_flock, "locks", "ok", "record locks (flock is not available)"),
        (without_locks, "locks", "fail", "not available: nothing is written, browsing works"),
        (with_locks_that_do_nothing, "locks", "fail", "two writers could collide"),
        (without_wal, "journal mode", "warn", "memory, not WAL"),
        (without_more_watches, "watches", "warn", "the system's watch limit is reached. Checking every 2 s."),
        (
            lambda patch: with_library(patch, refuse(WatchfilesRustInternalError("OS file watch limit reached."))),
            "watches",
            "warn",
            "the system's watch limit is reached. Checking every 2 s.",
        ),
        (lambda patch: patch.setattr(watch, "InotifyWatches", Deaf), "watches", "warn", "not reported here"),
        (lambda patch: with_library(patch, Deaf), "watches", "warn", "not reported here"),
    ],
)
def test_what_is_missing_here_is_said_with_what_it_means(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lacking: Callable[[pytest.MonkeyPatch], Any],
    name: str,
    state: str,
    words: str,
) -> None:
    lacking(monkeypatch)
    checks = {check.name: check for check in doctor._check_system_calls(tmp_path)}
    monkeypatch.undo()
    assert (checks[name].state, words in checks[name].text) == (state, True), checks[name]
    others = {"renameat2", "links", "directory sync", "locks", "journal mode", "watches"} - {name}
    assert {each for each in others if checks[each].state != "ok"} == set()


@pytest.mark.parametrize(
    ("setting", "kind", "state", "begin"),
    [
        ("journal", "ext4", "ok", "journal: the journal is on disk"),
        ("folder", "ext4", "ok", "folder: files and journal are on disk"),
        ("journal", "vfat", "warn", "folder: files and journal are on disk"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_it_says_what_is_on_the_disk_when_a_command_answers(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    setting: str,
    kind: str,
    state: str,
    begin: str,
) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text(f'[memory]\ndurability = "{setting}"\n')
    monkeypatch.setenv("MEMTUI_CONFIG", str(settings))
    monkeypatch.setattr("memtui.cli.doctor.get_file_system_type", lambda _: kind)
    check = report(capsys)["durability"]
    assert check["state"] == state
    assert check["text"].startswith(begin)
