"""A session's commands once more, through the real engine: what differs is said, and nothing else is touched."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.chat.sessions.replay import ReplayOutcome, classify_record, replay_session
from memtui.agents.chat.sessions.store import ChatSession
from memtui.agents.gate import ApprovalGate
from memtui.cli import main
from memtui.core.approvals import ApprovalPolicy, Deny, Edit, Proposal, Stop, Unanswered, Verdict
from memtui.engine import Engine
from memtui.fs.state import get_state_directory
from tests.cli.conftest import read_until
from tests.conftest import picture_of

AGENT = memtui.Agent("Claude", "a-model", "a-session")


class Talk:
    """A conversation over a folder, without a model: its calls are executed and recorded as those of a chat are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory = memtui.open(folder)
        self.session = ChatSession.create(
            get_state_directory(os.path.realpath(folder)) / "chats",
            folder=os.path.realpath(folder),
            model="a-model",
            seq=self.memory.get_head()[0],
        )
        self.turn = 0
        self._calls = 0
        self.verdict: Verdict | None = None
        self.gate = ApprovalGate(self.memory, policy=ApprovalPolicy.ASK, ask=self._ask)

    def _ask(self, proposal: Proposal) -> Verdict:  # noqa: ARG002 - whatever is proposed
        return self.verdict or memtui.core.approvals.Allow()

    def say(self, text: str = "go on") -> None:
        """Begin a turn."""
        self.turn += 1
        self.session.write("turn_began", turn=self.turn, text=text, attachments=[])

    def do(self, verdict: Verdict | None = None, /, **command: object) -> int:
        """One call; returns the number of its event."""
        return self.do_raw(command, verdict)

    def do_raw(self, command: object, verdict: Verdict | None = None) -> int:
        """One call with any input."""
        self.verdict = verdict
        self._calls += 1
        call_id = f"toolu_{self._calls}"
        answer = self.gate.execute(command, actor=AGENT, call_id=call_id)
        is_edited = isinstance(verdict, Edit)
        self.session.write(
            "call",
            turn=self.turn,
            call_id=call_id,
            name="memory",
            input=command,
            answer=answer.text,
            is_error=answer.is_error,
            seq=answer.event.seq,
            edit_seq=answer.event.seq - 1 if is_edited else None,
            note=answer.event.note,
            edit=verdict.text if isinstance(verdict, Edit) else None,
        )
        return answer.event.seq

    def close(self) -> None:
        """The end."""
        self.session.close()
        self.memory.close()


@pytest.fixture
def talk(folder: Path, state_home: Path) -> Iterator[Talk]:  # noqa: ARG001 - it is where the folder's state lies
    """A conversation that has begun."""
    talk = Talk(folder)
    talk.say()
    yield talk
    talk.close()


def create(path: str, text: str) -> dict[str, object]:
    return {"command": "create", "path": f"/memories/{path}", "file_text": text}


def view(path: str = "") -> dict[str, object]:
    return {"command": "view", "path": f"/memories/{path}".rstrip("/")}


def records(capsys: pytest.CaptureFixture[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What a replay told as JSON, and its summary."""
    *told, summary = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (summary["schema"], summary["type"]) == (1, "summary")
    return told, summary


def test_every_answer_is_as_it_was_and_nothing_is_touched(
    talk: Talk, folder: Path, state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.do(**view())
    talk.do(**view("prefs.md"))
    talk.do(**create("people/me.md", "Mara\n"))
    talk.do(command="str_replace", path="/memories/prefs.md", old_str="Berlin", new_str="Lisbon")
    talk.do(command="str_replace", path="/memories/prefs.md", old_str="not there", new_str="x")
    talk.say()
    talk.do(command="insert", path="/memories/people/me.md", insert_line=0, insert_text="# Me\n")
    talk.do(command="rename", old_path="/memories/notes", new_path="/memories/old")
    talk.do(command="delete", path="/memories/old/today.md")
    talk.do(command="view", path="/memories/../etc/passwd")
    talk.do(command="fly")
    talk.do_raw('{"command": "cre')
    talk.do(**view())
    talk.close()
    before = picture_of(folder), picture_of(state_home)
    assert main(["replay", "last", "--speed", "0"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "12 commands: 12 the same, 0 differ."
    assert out.count("  same\n") == 12
    assert [line for line in out.splitlines() if line.startswith("turn")] == ["turn 1", "turn 2"]
    assert err.endswith("in a temporary folder. It starts with the folder as it was then.\n")
    assert (picture_of(folder), picture_of(state_home)) == before


def test_what_others_did_meanwhile_is_done_as_well(
    talk: Talk, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.do(**view("prefs.md"))
    (folder / "prefs.md").write_text("- by hand\n")
    (folder / "notes" / "today.md").unlink()
    talk.memory.reconcile()
    talk.memory.execute(create("cursor.md", "x"), actor=memtui.Agent("Cursor"))
    talk.do(**view("prefs.md"))
    talk.do(**view())
    talk.close()
    assert main(["replay", "last", "--speed", "0", "--json"]) == 0
    told, summary = records(capsys)
    assert [each["how"] for each in told] == ["executed", "others", "others", "others", "executed", "executed"]
    assert (summary["same"], summary["others"], summary["from_journal"]) == (3, 3, True)
    assert main(["replay", "last", "--speed", "0"]) == 0
    assert "  create       /memories/cursor.md  by Cursor\n" in capsys.readouterr().out


def test_where_an_answer_differs_both_are_shown_and_the_code_is_1(
    talk: Talk, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.do(**create("a.md", "x\n"))
    talk.do(**view("a.md"))
    talk.close()
    path = talk.session.path
    path.write_text(path.read_text().replace("1\\tx", "1\\ty\\u001b[31m"))
    assert main(["replay", str(path), "--speed", "0"]) == 1
    out = capsys.readouterr().out
    assert "/memories/a.md                            DIFFERS\n" in out
    assert "      -     1\ty\\x1b[31m\n      +     1\tx\n" in out
    assert out.splitlines()[-1] == "2 commands: 1 the same, 1 differs."
    assert main(["replay", str(path), "--speed", "0", "-q"]) == 1
    out, err = capsys.readouterr()
    assert (out.count("  same"), out.count("DIFFERS"), err) == (0, 1, "")


def test_a_refusal_that_was_none_differs(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    talk.do(**create("a.md", "x\n"))
    talk.close()
    path = talk.session.path
    path.write_text(path.read_text().replace('"is_error":false', '"is_error":true'))
    assert main(["replay", "last", "--speed", "0"]) == 1
    assert "      -a refusal\n      +an answer\n" in capsys.readouterr().out


def test_what_a_person_decided_is_decided_so_again(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    talk.do(Deny(), **create("declined.md", "x\n"))
    talk.do(Deny("too private"), **create("declined.md", "x\n"))
    talk.do(Stop(), **create("stopped.md", "x\n"))
    talk.do(Unanswered(5), **create("unanswered.md", "x\n"))
    talk.do(Edit("mine\n"), **create("people/edited.md", "x\n"))
    talk.do(Edit("- mine\n"), command="str_replace", path="/memories/prefs.md", old_str="Berlin", new_str="Lisbon")
    talk.gate.policy = ApprovalPolicy.READ_ONLY
    talk.do(**create("refused.md", "x\n"))
    talk.do(**view())
    talk.do(**view("people/edited.md"))
    talk.session.write("call", turn=1, call_id="z", name="web", input={}, answer="There is no tool web", is_error=True)
    cut = {
        "call_id": "y",
        "name": "memory",
        "input": '{"command": "cre',
        "answer": "Error: not run: the answer was cut off",
    }
    talk.session.write("call", turn=1, **cut, is_error=True, seq=None)
    talk.close()
    assert main(["replay", "last", "--speed", "0", "--json"]) == 0
    told, summary = records(capsys)
    assert [each["how"] for each in told] == [
        *("declined", "declined", "stopped", "not_approved", "edited", "edited", "read_only", "executed", "executed"),
        *("not_ours", "not_run"),
    ]
    assert (summary["same"], summary["differ"], summary["not_carried_out"]) == (4, 0, 7)
    assert "mine" in told[8]["now"]
    assert main(["replay", "last", "--speed", "0"]) == 0
    assert "not run: you declined it\n" in capsys.readouterr().out


def test_an_edit_without_its_text_is_taken_from_the_journal_or_said_to_be_lost(
    talk: Talk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.do(Edit("mine\n"), **create("edited.md", "x\n"))
    talk.do(**view("edited.md"))
    talk.close()
    path = talk.session.path
    path.write_text(path.read_text().replace('"edit":"mine\\n"', '"edit":null'))
    assert main(["replay", "last", "--speed", "0"]) == 0
    (tmp_path / "empty").mkdir()
    assert main(["replay", "last", "--speed", "0", "--from", str(tmp_path / "empty")]) == 1
    assert "DIFFERS: you edited it; your text is not kept" in capsys.readouterr().out


def test_what_was_taken_back_is_taken_back_again(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    seqs = [talk.do(**create("a.md", "x\n")), talk.do(command="delete", path="/memories/prefs.md")]
    seqs.append(talk.do(Edit("mine\n"), **create("b.md", "x\n")) - 1)
    undone = talk.memory.undo(seqs)
    assert undone.event is not None
    talk.session.write("undone", turn=1, seq=undone.event.seq, note="The user took it back.")
    talk.say()
    talk.do(**view())
    talk.close()
    assert main(["replay", "last", "--speed", "0", "--json"]) == 0
    told, _ = records(capsys)
    assert [each["how"] for each in told] == ["executed", "executed", "edited", "undone", "executed"]
    assert "prefs.md" in told[-1]["now"]


def test_it_begins_with_a_copy_of_another_folder_or_with_an_empty_one(
    talk: Talk, tmp_path: Path, state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.do(**view("prefs.md"))
    talk.close()
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "prefs.md").write_text("- short answers\n- Berlin\n")
    before = picture_of(copy)
    elsewhere = tmp_path / "session.jsonl"
    elsewhere.write_bytes(talk.session.path.read_bytes())
    assert main(["replay", str(elsewhere), "--speed", "0"]) == 0
    state_home.rename(tmp_path / "gone")
    assert main(["replay", str(elsewhere), "--speed", "0", "--from", str(copy)]) == 0
    assert picture_of(copy) == before
    capsys.readouterr()
    assert main(["replay", str(elsewhere), "--speed", "0"]) == 1
    assert "The journal of its folder was not found, so it starts with an empty folder" in capsys.readouterr().err


def test_a_journal_that_was_begun_anew_is_not_taken_for_the_one_of_then(
    talk: Talk, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.do(**view("prefs.md"))
    talk.close()
    for path in talk.session.path.parent.parent.glob("journal.db*"):
        path.unlink()
    with memtui.open(folder) as memory:
        for number in range(10):
            memory.execute(create(f"{number}.md", "x"), actor=AGENT, call_id="another")
    assert main(["replay", "last", "--speed", "0"]) == 1
    assert "The journal of its folder was not found" in capsys.readouterr().err


def test_what_is_no_session_is_said(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    (tmp_path / "notes.md").write_text("# Notes\n")
    (tmp_path / "newer.jsonl").write_text('{"type":"session","schema":9}\n')
    for given, said in (
        (str(tmp_path / "notes.md"), "is not a session of memtui. Nothing was replayed."),
        (str(tmp_path / "none.jsonl"), "No session at"),
        ("last", "No saved sessions for this folder."),
        (str(tmp_path / "newer.jsonl"), "was written by a newer memtui"),
    ):
        assert main(["replay", given]) == 3
        assert said in capsys.readouterr().err
    assert main(["replay", "last", "--speed", "-1"]) == 2
    assert main(["replay", "last", "--watch"]) == 2


def test_a_damaged_line_is_said_and_the_others_are_replayed(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    talk.do(**view("prefs.md"))
    talk.do(**view())
    talk.close()
    lines = talk.session.path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:40] + b"\n"
    talk.session.path.write_bytes(b"".join(lines) + b'{"type":"ca')
    assert main(["replay", "last", "--speed", "0"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "1 command: 1 the same, 0 differ."
    assert err.endswith("Line 4 of this session is damaged and was skipped.\n")


def test_a_tool_of_somebody_elses_is_named_whatever_it_was_told(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    talk.say()
    told = {"command": "create", "path": "/memories/a.md"}
    talk.session.write("call", turn=1, call_id="c", name="bash", input=told, answer="done", is_error=False, note="")
    talk.close()
    assert main(["replay", str(talk.session.path), "--speed", "0"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "not run:" in line)
    assert line.split()[:2] == ["bash", "/memories/a.md"]


def test_it_keeps_the_pace_of_then_and_no_long_pause() -> None:
    def at(seconds: float, **call: Any) -> dict[str, Any]:
        return {"type": "call", "at": f"2026-11-21T10:{int(seconds) // 60:02}:{seconds % 60:06.3f}Z", **call}

    told = [{"type": "session", "at": "2026-11-21T10:00:00.000Z"}, *(at(each, name="x") for each in (1.5, 1.5, 4, 900))]
    waited: list[float] = []
    with memtui.open_in_memory() as memory:
        assert len(list(replay_session(told, memory, speed=2, wait=waited.append))) == 4
        list(replay_session(told, memory, speed=0, wait=lambda _: pytest.fail("it waited")))
        list(replay_session([{"type": "call", "at": "yesterday"}], memory, speed=1, wait=waited.append))
    assert waited == [0.75, 0.0, 1.25, 5.0]


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        ("Error: the user declined to create /memories/x. Nothing was changed", ReplayOutcome.DECLINED),
        (
            "Error: could not create /memories/x: the user stopped before it was done. Nothing was changed",
            ReplayOutcome.STOPPED,
        ),
        ("Error: could not delete /memories/x: read-only", ReplayOutcome.READ_ONLY),
        ("Error: Path must start with /memories, got: x: read-only", ReplayOutcome.EXECUTED),
        ("Error: could not create /memories/x: read-only file system", ReplayOutcome.EXECUTED),
    ],
)
def test_what_was_decided_shows_in_the_answer_too(answer: str, how: ReplayOutcome) -> None:
    assert classify_record({"name": "memory", "answer": answer, "is_error": True}) is how
    assert classify_record({"name": "memory", "answer": answer, "is_error": False}) is ReplayOutcome.EXECUTED


def test_a_hostile_session_breaks_nothing(tmp_path: Path) -> None:
    calls = [
        {"type": "call", "name": "memory", "input": each, "answer": "x", "edit": "y", "edit_seq": 99}
        for each in ({}, {"command": "create"}, {"command": "rename", "old_path": "/memories/a"}, [], 7, view("../.."))
    ]
    told = [*calls, {"type": "undone", "turn": "x", "seq": 10**30}, {"type": "undone"}, {"type": "session", "seq": "x"}]
    folder = tmp_path / "memories"
    folder.mkdir()
    with memtui.open(folder) as memory:
        found = list(replay_session(told, memory))
        assert isinstance(memory, Engine)
    assert [each.outcome for each in found[:3]] == [
        ReplayOutcome.EDIT_LOST,
        ReplayOutcome.EDIT_LOST,
        ReplayOutcome.EDIT_LOST,
    ]
    assert list(folder.iterdir()) == []


def test_it_can_be_watched(talk: Talk) -> None:
    talk.do(**create("people/me.md", "Mara\n"))
    talk.do(**view())
    talk.close()
    master, slave = pty.openpty()
    words = [sys.executable, "-m", "memtui", "replay", "last", "--speed", "0", "--watch"]
    with subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        try:
            read_until(master, lambda read: b"The replay is over" in read)
            os.write(master, b"q")
            shown = read_until(master, lambda _: False)
        finally:
            os.close(master)
            process.kill()
    assert b"It starts with the folder as it was then." in shown
    assert b"2 commands: 2 the same, 0 differ." in shown


def test_a_replay_that_is_ended_leaves_nothing_behind(talk: Talk, tmp_path: Path) -> None:
    talk.do(**view())
    talk.do(**view())
    talk.close()
    (tmp_path / "tmp").mkdir()
    words = [sys.executable, "-m", "memtui", "replay", "last", "--speed", "0.00001"]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr
        assert b"Replaying" in process.stderr.readline()
        assert len(list((tmp_path / "tmp").iterdir())) == 1
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 143
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_replay_can_be_read_by_a_pipe_that_ends(talk: Talk, run: Callable[..., Any]) -> None:
    talk.do(**view())
    talk.close()
    done = run("replay", "last", "--speed", "0")
    assert (done.code, done.err.count(b"\n")) == (0, 1)
    assert b"\x1b" not in done.out
