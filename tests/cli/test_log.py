"""The journal, printed: for people, for programs, and as it grows."""

import json
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.cli import main
from memtui.core.guards import SEEN
from memtui.core.unicode import HIDDEN

BOT = memtui.Agent("bot", "a-model", "a-session")


@pytest.fixture
def recorded(folder: Path) -> Path:
    """A folder in which something of each kind has happened."""
    with memtui.open(folder) as memory:

        def do(**command: Any) -> None:
            memory.execute(command, actor=BOT, call_id="call-1")

        do(command="create", path="/memories/new.md", file_text="a\nb\n")
        do(command="str_replace", path="/memories/new.md", old_str="a\n", new_str="c\nd\n")
        do(command="view", path="/memories/new.md")
        do(command="str_replace", path="/memories/new.md", old_str="b", new_str="b")
        do(command="delete", path="/memories/../x")
        do(command="rename", old_path="/memories/new.md", new_path="/memories/notes/old.md")
    (folder / "prefs.md").write_text("- long answers\n")
    return folder


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["log", *words]) == 0
    return capsys.readouterr().out.splitlines()


def objects(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed(capsys, "--json", *words)]


def test_a_line_says_who_did_what_and_how_it_went(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    rows = [line.split() for line in printed(capsys)]
    assert [row.pop(0) for row in rows] == ["1", "2", "3", "4", "5", "6", "7", "8"]
    assert [row[2:] for row in rows if row[2] != "other"] == [
        ["bot", "create", "/memories/new.md", "ok", "+2", "-0", *rows[1][8:]],
        ["bot", "str_replace", "/memories/new.md", "ok", "+2", "-1", *rows[2][8:]],
        ["bot", "view", "/memories/new.md", "ok", *rows[3][6:]],
        ["bot", "str_replace", "/memories/new.md", "no", "change", *rows[4][7:]],
        ["bot", "delete", "/memories/../x", "REFUSED", *rows[5][6:8], "outside", "/memories"],
        ["bot", "rename", "/memories/new.md", "->", "/memories/notes/old.md", "ok", *rows[6][8:]],
    ]
    assert rows[0][2:6] == ["other", "found", "/memories", "seen"]
    assert rows[-1][2:6] == ["other", "modified", "/memories/prefs.md", "seen"]
    assert rows[3][6:] == [*rows[3][6:8], "3", "lines"]


def test_lines_are_aligned(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    lines = [line for line in printed(capsys) if "->" not in line]
    assert (
        len(
            {
                min(line.find(word) for word in (" ok ", " REFUSED", " seen", " no change") if word in line)
                for line in lines
            }
        )
        == 1
    )


def test_lines_of_claude_code_are_aligned_as_well(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(folder) as memory:
        for name in ("bot", "Claude Code", "claude-code"):
            memory.execute({"command": "view", "path": "/memories"}, actor=memtui.Agent(name))
    assert len({line.index("view") for line in printed(capsys) if "view" in line}) == 1


def test_objects_have_the_keys_that_programs_rely_on(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = objects(capsys)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    found, created, replaced, viewed, same, refused, renamed, outside = events
    for event in events:
        assert event["schema"] == 1
        assert event["ts"].endswith("Z")
        assert len(event["hash"]) == 64
        assert list(event) == list(created)
    assert [event["op"] for event in events] == [
        *("found", "created", "modified", "viewed", None, None, "renamed", "modified")
    ]
    assert [event["result"] for event in events] == [*("seen", "ok", "ok", "ok", "no_change", "refused", "ok", "seen")]
    assert (created["actor"], created["model"], created["session"]) == ("bot", "a-model", "a-session")
    assert (created["tool"], created["call_id"]) == ("create", "call-1")
    assert (outside["tool"], outside["actor_kind"]) == (None, "outside")
    assert created["sha256_before"] is None
    assert created["sha256_after"] == replaced["sha256_before"]
    assert replaced["sha256_after"] == viewed["sha256_after"] == renamed["sha256_before"] == renamed["sha256_after"]
    assert (created["added"], created["removed"], replaced["added"], replaced["removed"]) == (2, 0, 2, 1)
    assert (viewed["added"], viewed["removed"], same["sha256_after"]) == (None, None, same["sha256_before"])
    assert outside["real"] == str(recorded / "prefs.md")
    assert refused["real"] is None
    assert len(found["changes"]) == 4
    assert renamed["new_path"] == "/memories/notes/old.md"


@pytest.mark.parametrize(
    ("words", "seqs"),
    [
        (["-n", "2"], [7, 8]),
        (["-n", "0"], []),
        (["-n", "99"], [1, 2, 3, 4, 5, 6, 7, 8]),
        (["--errors"], [6]),
        (["--actor", "BOT"], [2, 3, 4, 5, 6, 7]),
        (["--actor", "outside", "-n", "1"], [8]),
        (["--actor", "nobody"], []),
        (["--path", "new.md"], [2, 3, 4, 5, 7]),
        (["--path", "/memories/notes"], [1, 7]),
        (["--path", "new.md", "--errors"], []),
    ],
)
@pytest.mark.usefixtures("recorded")
def test_events_can_be_picked(words: list[str], seqs: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    assert [event["seq"] for event in objects(capsys, *words)] == seqs


def test_a_path_outside_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["log", "--path", "../x"]) == 4
    assert "outside the memory folder" in capsys.readouterr().err


def test_the_head_is_the_last_events(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    last = objects(capsys)[-1]
    assert printed(capsys, "--head") == [f"{last['seq']} {last['hash']}"]
    assert objects(capsys, "--head") == [{"schema": 1, "seq": last["seq"], "hash": last["hash"]}]


def test_read_only_records_nothing(recorded: Path, state_home: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    journal = next(state_home.rglob("journal.db"))
    before = journal.read_bytes(), sorted(path.name for path in journal.parent.iterdir())
    assert len(objects(capsys, "--read-only")) == 7
    assert (journal.read_bytes(), sorted(path.name for path in journal.parent.iterdir())) == before
    assert len(objects(capsys)) == 8


def test_a_journal_that_is_none_is_set_aside_and_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    garbage = b"not a database, but long enough to be taken for one" * 20
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "journal.db").write_bytes(garbage)
    assert main(["log", "--state", str(tmp_path / "other")]) == 0
    assert "began" in capsys.readouterr().out.splitlines()[0].split()
    assert garbage in [path.read_bytes() for path in (tmp_path / "other").glob("journal-*")]
    assert main(["log", "--state", str(folder / "inside")]) == 3
    assert "where an agent could reach it" in capsys.readouterr().err
    assert not (folder / "inside").exists()


def test_hostile_names_notes_and_actors_are_visible(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "e\x1b]0;t\x07v\n\u202eil\udcff.md").write_text("x")
    (folder / "plain.md").write_text("x")
    with memtui.open(folder) as memory:
        memory.execute({"command": "x\x1b\n"}, actor=memtui.Agent("a\x1b[31m\nb\u202e"))
        (folder / "e\x1b]0;t\x07v\n\u202eil\udcff.md").unlink()
    lines = printed(capsys)
    assert not HIDDEN.search("\n".join(lines))
    assert len(lines) == 3
    raw = "\n".join(printed(capsys, "--json"))
    assert not HIDDEN.search(raw)
    assert "a\x1b[31m\nb\u202e" in [json.loads(line)["actor"] for line in raw.splitlines()]


Following = Callable[..., Any]


def test_following_prints_what_comes_and_ends_on_an_interrupt(folder: Path, following: Following) -> None:
    with following() as follower:
        assert b"found" in follower.read_until(b"\n")
        (folder / "outside.md").write_text("x")
        assert b"/memories/outside.md" in follower.read_until(b"\n")
        with memtui.open(folder) as memory:
            memory.execute({"command": "view", "path": "/memories/prefs.md"}, actor=BOT)
        assert b"bot          view" in follower.read_until(b"\n")
        follower.process.send_signal(signal.SIGINT)
        assert follower.process.wait(30) == 130
        assert follower.process.stderr.read() == b""


def test_following_obeys_the_same_filters(folder: Path, following: Following) -> None:
    view = {"command": "view", "path": "/memories/prefs.md"}
    with memtui.open(folder) as memory:
        memory.execute(view, actor=BOT)
        with following("--json", "-n", "1", "--actor", "bot") as follower:
            assert json.loads(follower.read_until(b"\n"))["seq"] == 2
            (folder / "outside.md").write_text("x")
            memory.reconcile()
            memory.execute(view, actor=BOT)
            assert json.loads(follower.read_until(b"\n"))["seq"] == 4


def test_following_ends_quietly_when_nobody_reads_on(folder: Path, following: Following) -> None:  # noqa: ARG001
    with following() as follower:
        follower.read_until(b"\n")
        follower.stdout.close()  # nothing more happens: the closed pipe alone has to be noticed
        assert follower.process.wait(30) == 141
        assert follower.process.stderr.read() == b""


def test_following_says_that_the_folder_has_gone(folder: Path, following: Following) -> None:
    with following() as follower:
        follower.read_until(b"\n")
        os.rename(folder, folder.with_name("elsewhere"))
        assert follower.process.wait(30) == 3
        assert b"is not there any more" in follower.process.stderr.read()


def test_following_read_only_shows_what_others_record(folder: Path, state_home: Path, following: Following) -> None:
    memtui.open(folder).close()
    journal = next(state_home.rglob("journal.db"))
    with following("--read-only") as follower:
        assert b"found" in follower.read_until(b"\n")
        with memtui.open(folder) as memory:
            memory.execute({"command": "view", "path": "/memories/prefs.md"}, actor=BOT)
            memory.execute({"command": "delete", "path": "/memories/prefs.md"}, actor=BOT)
            shown = follower.read_until(b"delete")
        assert b"view" in shown
    with sqlite3.connect(journal) as database:
        assert database.execute("SELECT count(*) FROM events").fetchone() == (3,)
    database.close()


@pytest.mark.parametrize(
    ("words", "seqs"),
    [
        (["--since", "6"], [6, 7]),
        (["--until", "2"], [1, 2]),
        (["--since", "2", "--until", "#3"], [2, 3]),
        (["--since", "today"], [1, 2, 3, 4, 5, 6, 7]),
        (["--until", "today"], [1, 2, 3, 4, 5, 6, 7]),
        (["--until", "now"], [1, 2, 3, 4, 5, 6, 7]),
        (["--since", "now"], []),
        (["--until", "yesterday"], []),
        (["--since", "1h ago", "--actor", "outside"], [1, 7]),
        (["--path", "notes/old.md"], [2, 3, 4, 5]),
        (["--path", "new.md"], [2, 3, 4]),
        (["--path", "notes"], [1, 4, 5, 7]),
        (["--path", "notes/old.md", "--since", "4"], [4, 5]),
    ],
)
@pytest.mark.usefixtures("story")
def test_events_can_be_picked_by_time_and_by_old_names(
    words: list[str], seqs: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert [event["seq"] for event in objects(capsys, *words)] == seqs


def test_what_stood_at_an_old_name_later_is_another_note(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (story / "new.md").write_text("another\n")
    assert [event["seq"] for event in objects(capsys, "--path", "notes/old.md")] == [2, 3, 4, 5]
    assert [event["seq"] for event in objects(capsys, "--path", "new.md")] == [2, 3, 4, 8]


def test_why_a_command_was_refused_is_said_in_a_few_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bot = memtui.Agent("bot")
    with memtui.open(folder) as memory:
        memory.files.protect(["prefs.md"])
        memory.execute({"command": "delete", "path": "/memories/prefs.md"}, actor=bot)
        memory.execute({"command": "view", "path": "/memories/already exists"}, actor=bot)
        memory.execute({"command": "create", "path": "/memories/prefs.md/x", "file_text": ""}, actor=bot)
        memory.execute({"command": "fly", "path": "/memories/\x1b[31m"}, actor=bot)
    ends = [line.split("REFUSED")[1].split(" ms")[1].strip() for line in printed(capsys, "--errors")]
    assert ends == ["protected", "does not exist", "protected", "unknown command fly"]


def test_what_was_moved_is_told_to_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memtui.open(folder) as memory:
        memory.files.move({"prefs.md": "notes/today.md", "notes/today.md": "prefs.md"})
        memory.files.move({"notes": "old"})
        memory.execute(
            {"command": "rename", "old_path": "/memories/no", "new_path": "/memories/k"}, actor=memtui.Agent("bot")
        )
    _, swapped, moved, refused = objects(capsys)
    pair = ["/memories/prefs.md", "/memories/notes/today.md"]
    assert (sorted(swapped["moved"]), swapped["op"]) == (sorted([pair, pair[::-1]]), "renamed")
    assert (moved["moved"], moved["op"]) == ([["/memories/notes", "/memories/old"]], "renamed")
    assert (refused["moved"], refused["op"]) == ([], None)


def test_a_log_that_never_ends_has_no_end(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["log", "--follow", "--until", "now"]) == 2
    assert "--follow and --until do not go together" in capsys.readouterr().err
    assert main(["log", "--since", "noon"]) == 2
    assert "Can't read 'noon' as a time. Try " in capsys.readouterr().err


def test_what_was_put_back_taken_back_and_removed_is_told(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["restore", "--all", "--at", "1", "-y"]) == 0
    for words in (["undo"], ["redo"], ["undo", "7"]):
        main(words)
    with memtui.open(story) as memory:
        memory.redact(event=2, reason="not ours")
    capsys.readouterr()
    events = {event["tool"]: event for event in objects(capsys, "--since", "8") if event["tool"]}
    restored, undone, redone = events["restore"], events["undo"], events["redo"]
    assert [event["op"] for event in (restored, undone, redone)] == ["modified"] * 3
    assert (undone["undoes"], redone["undoes"], restored["undoes"]) == ([8], [9], [])
    assert (events["redact"]["op"], events["redact"]["note"].split(":")[0]) == ("redacted", "not ours")
    assert events["redact"]["redacted"]
    rows = [line.split() for line in printed(capsys, "--since", "8")]
    assert [row[4] for row in rows[:3]] == ["restore", "undo", "redo"]


def test_a_clock_that_ran_backwards_is_told_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([5_000_000_000_000, 3_000_000_000_000, 2_990_000_000_000, 1_000_000_000_000])
    view = {"command": "view", "path": "/memories/prefs.md"}
    with memory_module.connect(folder) as memory:
        clocked = memtui.Engine(memory.store, memory.journal, now_ns=lambda: next(times))
        for _ in range(4):
            clocked.execute(view, actor=BOT)
    assert main(["log"]) == 0
    err = capsys.readouterr().err
    assert err == ("The clock ran backwards: by its time #2 is 33m older than #1. The numbers give the order.\n")
    for words in (["log", "--json"], ["log", "-q"], ["log", "-n", "1"], ["log", "--since", "3", "--until", "3"]):
        assert main(words) == 0
        assert capsys.readouterr().err == ""


def test_what_git_does_for_itself_is_left_out_unless_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (".git/objects/ab/cd", ".git/refs/heads/main", ".git/config", ".git/hooks/pre-commit"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    with memtui.open(folder) as memory:
        memory.journal.set_metadata(SEEN, str(memory.get_head()[0]))
    (folder / ".git/objects/ab/cd").write_text("y\n")
    (folder / ".git/index").write_text("y\n")
    (folder / ".git/config").write_text("y\n")
    with memtui.open(folder):
        pass
    capsys.readouterr()
    assert main(["log", "-n", "3"]) == 0
    shown = capsys.readouterr()
    assert "objects" not in shown.out
    assert ".git/config" in shown.out
    assert "2 events of git's own files were left out. To list them too: memtui log --all" in shown.err
    assert [each["path"] for each in objects(capsys)] == ["/memories", "/memories/.git/config"]
    every = ["/memories", "/memories/.git/config", "/memories/.git/index", "/memories/.git/objects/ab/cd"]
    assert sorted(each["path"] for each in objects(capsys, "--all")) == every
    (last,) = printed(capsys, "--path", ".git/objects", "-n", "1")
    assert "/memories/.git/objects/ab/cd" in last
    assert memory_module.summarize_journal(str(folder)).unseen == 1, "the settings of git decide what is run"
