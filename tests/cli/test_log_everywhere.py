"""`memtui log --everywhere`: the events of all folders in the order of time, and as they come."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.cli import main
from tests.cli.conftest import Run

Following = Callable[..., Any]
Printed = Callable[..., list[str]]


def write(folder: Path, name: str, actor: str = "bot") -> None:
    """An agent writes a note."""
    folder.mkdir(parents=True, exist_ok=True)
    with memtui.open(folder) as memory:
        create = {"command": "create", "path": f"/memories/{name}", "file_text": "x\n"}
        assert not memory.execute(create, actor=memtui.Agent(actor)).is_error


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Three folders; two agents wrote by turns in the first two, and nobody in the third."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MEMTUI_DIR", raising=False)
    folders = [tmp_path / name for name in ("one", "two", "three")]
    for number in range(4):
        write(folders[number % 2], f"{number}.md", f"bot-{number % 2}")
    return folders


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    def printed(*words: str, code: int = 0) -> list[str]:
        assert main(["log", "--everywhere", *words]) == code
        out, err = capsys.readouterr()
        return str(out if not code else err).splitlines()

    return printed


def test_events_of_all_folders_are_in_the_order_of_time(folders: list[Path], printed: Printed) -> None:
    rows = [line.split() for line in printed("--actor", "bot-0") + printed("--actor", "bot-1")]
    assert [(row[0], row[6]) for row in rows] == [
        ("~/one", "/memories/0.md"),
        ("~/one", "/memories/2.md"),
        ("~/two", "/memories/1.md"),
        ("~/two", "/memories/3.md"),
    ]
    rows = [line.split() for line in printed("-n", "3")]
    assert [row[0] for row in rows] == ["~/two", "~/one", "~/two"]
    records = [json.loads(line) for line in printed("--json")]
    times = [record["ts"] for record in records]
    assert times == sorted(times)
    assert {record["folder"] for record in records} == {str(folder) for folder in folders[:2]}
    last = records[-1]
    assert (last["real"], last["actor"]) == (f"{folders[1]}/3.md", "bot-1")


def test_filters_hold_for_all_of_them(folders: list[Path], printed: Printed) -> None:
    with memtui.open(folders[0]) as memory:
        memory.execute({"command": "delete", "path": "/memories/../x"}, actor=memtui.Agent("bot-0"))
    (line,) = printed("--errors")
    assert line.startswith("~/one ")
    assert "REFUSED" in line
    assert printed("--since", "now") == []
    assert printed("--until", "2001-01-01") == []


def test_only_journals_are_read(folders: list[Path], printed: Printed, state_home: Path) -> None:
    (folders[0] / "outside.md").write_text("y")
    before = sorted((str(path), path.stat().st_mtime_ns) for path in state_home.rglob("*"))
    assert not [line for line in printed() if "outside.md" in line]
    assert sorted((str(path), path.stat().st_mtime_ns) for path in state_home.rglob("*")) == before
    (folders[1] / "1.md").unlink()
    (folders[1] / "3.md").unlink()
    folders[1].rmdir()
    assert [line for line in printed("--actor", "bot-1") if "/memories/3.md" in line], "what is gone has a past"


def test_a_clock_that_ran_backwards_does_not_turn_a_folder_round(folders: list[Path], printed: Printed) -> None:
    times = iter([5_000_000_000_000, 3_000_000_000_000, 1_000_000_000_000])
    folders[2].mkdir()
    with memory_module.connect(folders[2]) as memory:
        clocked = memtui.Engine(memory.store, memory.journal, now_ns=lambda: next(times))
        for _ in range(3):
            clocked.execute({"command": "view", "path": "/memories"}, actor=memtui.Agent("late"))
    rows = [json.loads(line) for line in printed("--json")]
    assert [row["seq"] for row in rows[:3]] == [1, 2, 3]
    assert {row["actor"] for row in rows[:3]} == {"late"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--since", "41"), "--since takes a time with --everywhere"),
        (("--until", "41"), "--until takes a time with --everywhere"),
        (("--head",), "--everywhere and --head do not go together"),
        (("--path", "a"), "--everywhere and --path do not go together"),
        (("notes",), "--everywhere and DIR do not go together"),
        (("--dir", "notes"), "--everywhere and --dir do not go together"),
        (("--state", "kept"), "--everywhere and --state do not go together"),
    ],
)
def test_what_is_about_one_folder_is_refused(words: tuple[str, ...], said: str, printed: Printed) -> None:
    (line,) = printed(*words, code=2)
    assert said in line


def test_without_a_journal_there_is_a_way_to_begin_one(printed: Printed) -> None:
    (line,) = printed(code=3)
    assert "There is no journal of a folder on this machine yet" in line


def test_a_damaged_journal_is_said_and_stops_no_other(
    folders: list[Path], state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (journal,) = state_home.glob("memtui/stores/one-*/journal.db")
    journal.write_bytes(b"no journal" * 1_000)
    for suffix in ("-wal", "-shm"):
        journal.with_name(f"journal.db{suffix}").unlink(missing_ok=True)
    assert main(["log", "--everywhere"]) == 0
    out, err = capsys.readouterr()
    assert "~/one: its journal was not read: " in err
    assert "/memories/3.md" in out
    assert folders[0].is_dir()


def test_many_events_are_read_page_by_page(
    folders: list[Path], printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = printed()
    monkeypatch.setattr("memtui.cli.log_many._PAGE", 2)
    assert printed() == whole
    assert len(folders) == 3


def test_a_hostile_name_is_shown_and_never_obeyed(folders: list[Path], run: Run) -> None:
    write(folders[0].parent / "evil\x1b[2J\n", "a.md")
    ran = run("log", "--everywhere")
    assert (ran.code, b"\x1b" in ran.out, ran.err) == (0, False, b"")
    assert b"evil\\x1b[2J\\n" in ran.out


def test_following_merges_what_comes_in_any_folder(folders: list[Path], following: Following) -> None:
    with following("--everywhere", "-n", "1") as follower:
        assert b"/memories/3.md" in follower.read_until(b"\n")
        write(folders[0], "now.md")
        assert b"~/one" in follower.read_until(b"/memories/now.md")
        write(folders[2], "first.md")  # a folder without a journal until now
        assert b"~/three" in follower.read_until(b"/memories/first.md")
        write(folders[1], "more.md")
        assert b"~/two" in follower.read_until(b"/memories/more.md")
        follower.process.send_signal(signal.SIGINT)
        assert follower.process.wait(30) == 130
        assert follower.process.stderr.read() == b""


def test_following_ends_quietly_when_nobody_reads_on(folders: list[Path], following: Following) -> None:
    with following("--everywhere") as follower:
        follower.read_until(b"\n")
        follower.stdout.close()
        assert follower.process.wait(30) == 141
        assert follower.process.stderr.read() == b""
    assert folders
