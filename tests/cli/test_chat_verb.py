"""The chat on the command line: one turn without a screen, and the sessions that are kept."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import memtui
from memtui.agents.chat.events import TextDelta
from memtui.agents.chat.sessions.export import rebuild_events
from memtui.agents.chat.sessions.store import ChatSession, find_session, list_sessions, read_records
from memtui.agents.remote_approval import ApprovalServer
from memtui.cli import main
from memtui.core.approvals import Deny
from memtui.fs.state import get_state_directory
from tests.agents.model_server import KEY, Answer, Call, Drop, ModelServer, Text, Wait

# ruff: noqa: ARG001 - some fixtures only have to be there


NEW = {"command": "create", "path": "/memories/new.md", "file_text": "Lisbon\n"}


class Ran(NamedTuple):
    """What a command line left."""

    code: int
    out: bytes
    err: bytes


@pytest.fixture
def chats(folder: Path, state_home: Path) -> Path:
    """Where the sessions of the folder are kept."""
    return get_state_directory(os.path.realpath(folder)) / "chats"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Ran]:
    """Run memtui in this process: the SDK takes seconds to load, and here it is loaded once."""

    def run(*words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Ran:
        for name, value in (env or {}).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capfdbinary.readouterr()
        code = main(words)
        return Ran(code, *capfdbinary.readouterr())

    return run


def kept(chats: Path) -> list[dict[str, Any]]:
    (only,) = list_sessions(chats)
    return [json.loads(line) for line in only.path.read_text().splitlines()]


# One turn


def test_the_answer_is_on_stdout_and_what_was_done_beside_it(
    server: ModelServer, folder: Path, chats: Path, run: Callable[..., Any]
) -> None:
    server.answer(Text("I will keep that."), Call(NEW))
    server.answer(Text("Kept."))
    done = run("chat", "-p", "I live in Lisbon", "--policy", "allow")
    assert (done.code, done.out) == (0, b"I will keep that.\n\nKept.\n")
    assert done.err.decode().splitlines() == [
        "create /memories/new.md  +1 -0",
        "Remembered: created new.md  +1 -0",
    ]
    assert (folder / "new.md").read_text() == "Lisbon\n"
    with memtui.open(folder) as memory:
        event = next(event for event in memory.events() if event.command == "create")
    assert event.actor == memtui.Agent("Claude", list_sessions(chats)[0].model, list_sessions(chats)[0].id)
    assert server.refused == []


def test_nothing_is_written_unless_the_policy_says_so_and_the_model_is_told(
    server: ModelServer, folder: Path, run: Callable[..., Any]
) -> None:
    for policy, said in (
        ([], "Error: could not create /memories/new.md: read-only"),
        (["--policy", "ask"], "the user has to approve it and is not there to be asked. Nothing was changed"),
    ):
        server.answer(Call(NEW))
        server.answer(Text("I could not."))
        done = run("chat", "-p", "remember", *policy)
        assert (done.code, done.out) == (0, b"I could not.\n")
        assert said in done.err.decode()
        result = server.last.body["messages"][-1]["content"][0]
        assert (result["is_error"], said in str(result["content"])) == (True, True)
    assert not (folder / "new.md").exists()


@pytest.mark.parametrize("fields", [{}, {"command": None}, {"command": ""}, {"command": 7}, {"path": "/memories"}])
def test_a_call_without_a_command_is_named_by_its_tool(
    server: ModelServer, folder: Path, run: Callable[..., Any], fields: dict[str, object]
) -> None:
    server.answer(Call(fields))
    server.answer(Text("I could not."))
    done = run("chat", "-p", "look")
    (said,) = done.err.decode().splitlines()
    assert said.startswith(("memory: Error", "memory /memories: Error"))


def test_quiet_says_nothing_but_the_answer(server: ModelServer, folder: Path, run: Callable[..., Any]) -> None:
    server.answer(Text("Yes."), Call({"command": "view", "path": "/memories"}))
    server.answer(Text("That is all."))
    done = run("chat", "-p", "look", "-q")
    assert (done.code, done.out, done.err) == (0, b"Yes.\n\nThat is all.\n", b"")


def test_a_message_can_come_from_stdin(server: ModelServer, folder: Path, run: Callable[..., Any]) -> None:
    server.answer(Text("Read."))
    assert run("chat", "-p", "-", stdin="\ufeffpiped é\n".encode()).code == 0
    assert server.last.last_text == "piped é\n"
    for stdin, said in ((b"\xff", "is not UTF-8"), (b" \n", "the message is empty")):
        done = run("chat", "-p", "-", stdin=stdin)
        assert (done.code, said in done.err.decode()) == (2, True)


def test_every_event_is_a_line_of_json(server: ModelServer, folder: Path, chats: Path, run: Callable[..., Any]) -> None:
    server.answer(Text("A\u202eB"), Call(NEW))
    server.answer(Text("Kept."))
    done = run("chat", "-p", "remember", "--policy", "allow", "--json")
    assert done.code == 0
    assert b"\\u202e" in done.out
    events = [json.loads(line) for line in done.out.splitlines()]
    assert {event["schema"] for event in events} == {1}
    assert events[0] == {"schema": 1, "type": "session", "id": list_sessions(chats)[0].id}
    assert "".join(event["text"] for event in events if event["type"] == "text") == "A\u202eBKept."
    (ended,) = (event for event in events if event["type"] == "call_ended")
    assert (ended["input"], ended["is_error"], ended["event"]["result"]) == (NEW, False, "ok")
    assert (events[-1]["type"], events[-1]["end"]) == ("turn_ended", "done")


def test_it_goes_on_where_the_last_one_ended(
    server: ModelServer, folder: Path, chats: Path, run: Callable[..., Any]
) -> None:
    server.answer(Text("Hello, Mara."))
    server.answer(Text("You are Mara."))
    server.answer(Text("Still Mara."))
    assert run("chat", "-p", "I am Mara").code == 0
    assert run("chat", "-p", "who am I?", "--resume").out == b"You are Mara.\n"
    said = [message["role"] for message in server.last.body["messages"]]
    assert said == ["user", "assistant", "user"]
    assert run("chat", "-p", "and now?", "--fork", str(folder)).out == b"Still Mara.\n"
    assert [each.turns for each in list_sessions(chats)] == [3, 2]
    assert list_sessions(chats)[0].forked_from == list_sessions(chats)[1].id
    assert server.refused == []


def test_read_only_writes_nothing_anywhere(
    server: ModelServer, folder: Path, state_home: Path, run: Callable[..., Any]
) -> None:
    server.answer(Call(NEW))
    server.answer(Text("I may not."))
    assert run("chat", "-p", "remember", "--read-only").out == b"I may not.\n"
    assert not state_home.exists()
    assert not (folder / "new.md").exists()
    done = run("chat", "-p", "remember", "--read-only", "--policy", "allow")
    assert (done.code, b"do not go together" in done.err) == (2, True)


def test_options_reach_the_request(
    server: ModelServer,
    folder: Path,
    tmp_path: Path,
    run: Callable[..., Any],
) -> None:
    (tmp_path / "system.md").write_text("You are terse.")
    (tmp_path / "what.md").write_text("Only birthdays.")
    server.answer(Text("ok"))
    words = ["--system", str(tmp_path / "system.md"), "--guidance", str(tmp_path / "what.md"), "--max-tokens", "77"]
    done = run("chat", "-p", "hi", *words, "--model", "claude-older-1", "--context-trigger", "0")
    assert done.code == 0, done.err
    body = server.last.body
    assert (body["model"], body["max_tokens"]) == ("claude-older-1", 77)
    assert "You are terse." in str(body["system"])
    assert "Only birthdays." in str(body["system"])


def test_an_answer_drives_no_terminal(server: ModelServer, folder: Path, run_in_terminal: Callable[..., Any]) -> None:
    server.answer(Text("a\x1b]0;t\x07b"), Call({"command": "view", "path": "/memories"}))
    server.answer(Text("c"))
    done = run_in_terminal("chat", "-p", "hi")
    assert (done.code, done.out) == (0, b"a\\x1b]0;t\\x07b\nview /memories\n\nc\n")


def test_a_reader_that_has_enough_ends_it(server: ModelServer, folder: Path, chats: Path) -> None:
    server.answer_with(lambda _: Answer((Text("word " * 20_000),)))
    words = [sys.executable, "-m", "memtui", "chat", "-p", "hi"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.read(4) == b"word"
        process.stdout.close()
        assert process.wait(30) == 141
        assert process.stderr
        assert process.stderr.read() == b""
    assert kept(chats)[-1]["type"] == "turn_ended"


# Faults


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"ANTHROPIC_API_KEY": ""}, "No API key. Set ANTHROPIC_API_KEY and run memtui chat again."),
        ({"ANTHROPIC_API_KEY": "another"}, "rejected the API key"),
        ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, "Could not reach 127.0.0.1:1 (connection refused)."),
    ],
)
def test_a_server_that_cannot_be_asked_is_said_with_6(
    env: dict[str, str],
    said: str,
    server: ModelServer,
    folder: Path,
    run: Callable[..., Any],
) -> None:
    done = run("chat", "-p", "hi", env=env)
    assert (done.code, done.out) == (6, b"")
    assert said in done.err.decode()
    assert "Enter" not in done.err.decode()
    assert KEY not in done.err.decode()


def test_an_answer_that_breaks_off_is_kept_as_far_as_it_came(
    server: ModelServer,
    folder: Path,
    chats: Path,
    run: Callable[..., Any],
) -> None:
    server.answer(Text("half of an ans"), Drop())
    done = run("chat", "-p", "hi")
    assert (done.code, done.out) == (6, b"half of an ans\n")
    assert len(done.err.decode().splitlines()) == 1
    assert [record["type"] for record in kept(chats)][-2:] == ["fault", "turn_ended"]
    server.answer(Text("wer"))
    assert run("chat", "-p", "go on", "--resume").out == b"wer\n"
    assert "half of an ans" in str(server.last.body["messages"])
    assert server.refused == []


def test_an_answer_that_was_cut_off_is_said_with_1(server: ModelServer, folder: Path, run: Callable[..., Any]) -> None:
    for words in ([], ["-q"]):
        server.answer_with(lambda _: Answer((Text("as long as it"),), stop_reason="max_tokens"))
        done = run("chat", "-p", "hi", *words)
        assert (done.code, done.out) == (1, b"as long as it\n")
        assert done.err.decode().count("The answer was cut off at the maximum length") == 1


def test_ctrl_c_stops_it_and_keeps_what_was_said(server: ModelServer, folder: Path, chats: Path) -> None:
    server.answer(Text("Thinking about"), Wait(threading.Event()))
    program = (
        "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from memtui.cli import main\nsys.exit(main())"
    )
    words = [sys.executable, "-c", program, "chat", "-p", "hi"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.read(14) == b"Thinking about"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"\n")
    assert err.decode() == "Stopped. The conversation so far is kept; to continue: memtui chat --resume\n"
    records = kept(chats)
    assert (records[-1]["type"], records[-1]["end"]) == ("turn_ended", "stopped")
    assert any("Thinking about" in str(record.get("content")) for record in records)


@pytest.mark.parametrize("before", [0, 1], ids=["first", "behind a call"])
def test_a_chat_that_is_killed_keeps_what_was_on_the_screen(
    before: int, server: ModelServer, folder: Path, chats: Path, run: Callable[..., Any]
) -> None:
    said = " ".join(f"word{number}" for number in range(153))
    for _ in range(before):
        server.answer(Text("Let me look."), Call({"command": "view", "path": "/memories"}))
    server.answer(Text(said), Wait(threading.Event()))
    words = [sys.executable, "-m", "memtui", "chat", "-p", "hi"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        shown = b""
        while said.encode() not in shown:
            shown += os.read(process.stdout.fileno(), 65_536)
        deadline = time.monotonic() + 30
        while "word152" not in next(chats.glob("*.jsonl")).read_text():  # it is written in a moment
            assert time.monotonic() < deadline
        process.kill()
    records = kept(chats)
    streamed = [record for record in records if record["type"] == "streamed"]
    assert "".join(record["text"] for record in streamed).endswith(said)
    assert len(streamed) < 100  # in batches
    exported = run("chat", "--export", "last").out.decode()
    assert said in exported.replace("\n", " ")
    server.answer(Text("Going on."))
    assert run("chat", "-p", "go on", "--resume").code == 0
    roles = [message["role"] for message in server.last.messages]
    assert roles == ["user", "assistant"] * (1 + before) + ["user"]
    assert server.last.messages[-2]["content"] == [{"type": "text", "text": said}]
    assert server.refused == []
    events = rebuild_events(read_records(find_session(chats, "last")))
    shown_again = [each for each in events if isinstance(each, TextDelta)]
    assert "".join(each.text for each in shown_again).count(said) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_was_said_is_kept_when_a_script_ends_it(
    number: signal.Signals, server: ModelServer, folder: Path, chats: Path
) -> None:
    server.answer(Text("Thinking about"), Wait(threading.Event()))
    words = [sys.executable, "-m", "memtui", "chat", "-p", "hi"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.read(14) == b"Thinking about"
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert err.decode() == "Stopped. The conversation so far is kept; to continue: memtui chat --resume\n"
    assert any("Thinking about" in str(record.get("content")) for record in kept(chats))


def test_a_killed_session_goes_on_with_all_that_was_done(
    server: ModelServer, folder: Path, chats: Path, run: Callable[..., Any]
) -> None:
    server.answer(Text("First I write."), Call(NEW))
    server.answer(Text("And then"), Wait(threading.Event()))
    words = [sys.executable, "-m", "memtui", "chat", "-p", "remember", "--policy", "allow"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        server.wait_for(2)
        assert process.stdout
        read = b""
        while b"And then" not in read:
            read += os.read(process.stdout.fileno(), 1000)
        process.kill()
    assert (folder / "new.md").exists()
    server.answer(Text("I am back."))
    done = run("chat", "-p", "go on", "--resume")
    assert (done.code, done.out) == (0, b"I am back.\n")
    assert server.refused == []
    (
        first,
        called,
        answered,
    ) = server.last.body["messages"][:3]
    assert [message["role"] for message in (first, called, answered)] == ["user", "assistant", "user"]
    assert answered["content"][0]["type"] == "tool_result"
    assert "File created successfully" in str(answered["content"][0]["content"])
    assert answered["content"][-1]["text"] == "go on"


def test_a_session_that_is_open_elsewhere_is_refused(folder: Path, chats: Path, run: Callable[..., Any]) -> None:
    session = ChatSession.create(chats, folder=str(folder))
    session.write("turn_began", turn=1, text="hi", attachments=[])
    done = run("chat", "-p", "hi", "--resume")
    assert done.code == 5
    assert f"Session {session.id} is open in another memtui." in done.err.decode()


# Asking in a memtui that runs


def test_a_change_is_asked_about_in_a_memtui_that_runs(
    server: ModelServer, folder: Path, run: Callable[..., Any]
) -> None:
    state = get_state_directory(os.path.realpath(folder))
    with memtui.open(folder):
        pass
    desk = ApprovalServer(state, lambda question: question.answer(Deny("not that")))
    desk.start()
    try:
        server.answer(Call(NEW))
        server.answer(Text("As you wish."))
        done = run("chat", "-p", "remember", "--policy", "ask")
    finally:
        desk.close()
    assert (done.code, done.out) == (0, b"As you wish.\n")
    assert "Their reason: not that" in str(server.last.body["messages"])
    assert not (folder / "new.md").exists()


# Sessions


@pytest.fixture
def told(chats: Path, folder: Path) -> ChatSession:
    """A short session."""
    session = ChatSession.create(chats, folder=str(folder), model="a-model")
    session.write("turn_began", turn=1, text="I live in Lis\x1b[31mbon", attachments=[])
    content = [{"type": "text", "text": "So you do."}]
    session.write("message", turn=1, role="assistant", content=content)
    session.close()
    return session


def test_sessions_are_listed(told: ChatSession, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--sessions"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{told.id}    0s     1 turn  a-model  I live in Lis\\x1b[31mbon")
    assert main(["chat", "--sessions", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["id"], record["turns"], record["model"]) == (told.id, 1, "a-model")


def test_a_folder_without_sessions_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--sessions"]) == 0
    out, err = capsys.readouterr()
    assert (out, "No sessions for" in err) == ("", True)
    assert main(["chat", "--export"]) == 3
    assert main(["chat", "--resume", "-p", "hi"]) == 3


def test_a_session_is_exported_to_stdout_or_to_a_new_file(
    told: ChatSession, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["chat", "--export"]) == 0
    text = capsys.readouterr().out
    assert "> I live in Lis\\x1b[31mbon" in text
    assert "So you do." in text
    target = tmp_path / "talk.md"
    assert main(["chat", "--export", told.id, "-o", str(target)]) == 0
    assert target.read_text() == text
    assert target.stat().st_mode & 0o777 == 0o600
    assert main(["chat", "--export", "-o", str(target)]) == 5
    assert main(["chat", "--export", "-o", str(folder / "talk.md")]) == 4
    assert main(["chat", "--export", "-o", str(tmp_path / "none" / "talk.md")]) == 74
    assert main(["chat", "--export", "--json"]) == 0
    assert [json.loads(line)["type"] for line in capsys.readouterr().out.splitlines()][-1] == "message"
    assert not (folder / "talk.md").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--resume", "--fork"], "--resume and --fork do not go together"),
        (["-p", "x", "--sessions"], "-p and --sessions do not go together"),
        (["-p", "x", "-o", "y"], "-o goes with --export"),
        (["--max-tokens", "0", "-p", "x"], "it must be above 0"),
        (["--input-price", "nan", "-p", "x"], "'nan' is not a price"),
        (["--context-trigger", "-1", "-p", "x"], "'-1' is not a number of tokens"),
        (["--system", "nope", "-p", "x"], "nope cannot be read: no such file or directory"),
        (["--guidance", "nope.md", "-p", "x"], "no such file: nope.md"),
        (["--policy", "maybe"], "invalid choice: 'maybe'"),
        (["--provider", "else"], "invalid choice: 'else'"),
    ],
)
def test_what_cannot_be_meant_is_said(
    words: list[str],
    said: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["chat", *words]) == 2
    assert said in capsys.readouterr().err


def test_without_a_terminal_there_is_no_screen(folder: Path, run: Callable[..., Any]) -> None:
    done = run("chat")
    assert (done.code, done.out) == (2, b"")
    assert done.err.decode() == 'memtui needs a terminal. For scripts use: memtui chat -p "…"\n'


def test_a_folder_that_is_missing_is_named(run: Callable[..., Any], tmp_path: Path) -> None:
    done = run("chat", str(tmp_path / "nope"), "-p", "hi")
    assert done.code == 3
    assert "Nothing was created. Create it with: mkdir -p" in done.err.decode()


@pytest.mark.parametrize(
    "words",
    [["chat", "--help"], ["chat", "--sessions"], ["chat", "--export"], ["replay", "--help"], ["replay", "last"]],
    ids=" ".join,
)
def test_what_needs_no_model_loads_no_sdk_and_no_screen(
    words: list[str], told: ChatSession, run_python: Callable[..., Any]
) -> None:
    program = (
        "import sys\nfrom memtui.cli import main\n"
        f"code = main({words!r})\nprint(code, *sorted({{name.partition('.')[0] for name in sys.modules}}))"
    )
    done = run_python(program)
    loaded = done.stdout.splitlines()[-1].split()
    assert (loaded[0], told.path.exists()) == ("0", True)
    assert not {"anthropic", "mcp", "textual", "pydantic", "rich", "httpx", "markdown_it"} & set(loaded)


# What a person at the prompt is told


def test_a_policy_that_there_is_not_is_answered_with_those_there_are(folder: Path, run: Callable[..., Any]) -> None:
    done = run("chat", "-p", "hi", "--policy", "maybe")
    assert (done.code, b"choose from 'ask', 'allow', 'read-only'" in done.err) == (2, True)


def test_a_model_that_there_is_not_is_answered_with_those_there_are(
    server: ModelServer, folder: Path, run: Callable[..., Any]
) -> None:
    done = run("chat", "-p", "hi", "--model", "nosuch")
    assert done.code == 6
    assert "has no model called nosuch. Available: claude-newest-1, claude-older-1" in done.err.decode()
    assert "/model" not in done.err.decode()


@pytest.mark.parametrize(
    ("policy", "advice"),
    [
        ([], "To allow writes: --policy allow; to be asked in a running memtui: --policy ask"),
        (
            ["--policy", "ask"],
            "To be asked, keep memtui open on the folder; to allow all writes: --policy",
        ),
        (["--read-only"], ""),
    ],
)
def test_what_to_do_for_a_change_to_go_through_is_said_once(
    policy: list[str], advice: str, server: ModelServer, folder: Path, run: Callable[..., Any]
) -> None:
    server.answer(Call(NEW), Call({**NEW, "path": "/memories/b.md"}))
    server.answer(Text("I could not."))
    said = run("chat", "-p", "remember", *policy).err.decode()
    assert said.count("--policy") == said.count(advice or "--policy") * (advice.count("--policy") or 1)
    assert said.splitlines()[-1].startswith(advice or "create")


def test_answer_and_remarks_in_one_file_do_not_share_a_line(server: ModelServer, folder: Path, tmp_path: Path) -> None:
    server.answer(Text("I will keep that."), Call(NEW))
    server.answer(Text("Kept."))
    words = [sys.executable, "-m", "memtui", "chat", "-p", "remember", "--policy", "allow"]
    with (tmp_path / "log").open("wb") as log:
        assert subprocess.run(words, stdout=log, stderr=log, timeout=60, check=False).returncode == 0
    assert "I will keep that.\ncreate /memories/new.md  +1 -0\n" in (tmp_path / "log").read_text()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_an_answer_is_printed_where_nothing_can_be_said_beside_it(server: ModelServer, folder: Path) -> None:
    server.answer(Call({"command": "view", "path": "/memories"}))
    server.answer(Text("All of it."))
    words = [sys.executable, "-m", "memtui", "chat", "-p", "look"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=full, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, b"All of it.\n")


def test_what_could_not_be_saved_by_the_end_is_said(
    server: ModelServer, folder: Path, chats: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ChatSession, "_append", full)
    server.answer(Text("Hello."))
    done = run("chat", "-p", "hi")
    assert (done.code, done.out) == (0, b"Hello.\n")
    assert "The end of this conversation could not be saved in" in done.err.decode().splitlines()[-1]


def test_a_session_of_another_folder_says_that_it_is(
    server: ModelServer, folder: Path, chats: Path, tmp_path: Path, run: Callable[..., Any]
) -> None:
    server.answer(Text("Hello."))
    assert run("chat", "-p", "hi").code == 0
    file = str(list_sessions(chats)[0].path)
    (tmp_path / "other").mkdir()
    for words in (["--resume", file], ["--fork", file]):
        server.answer(Text("Again."))
        done = run("-C", str(tmp_path / "other"), "chat", "-p", "hi", *words)
        assert (done.code, b"This session was about " in done.err) == (0, True)
    server.answer(Text("Again."))
    assert b"This session was about " not in run("chat", "-p", "hi", "--resume").err


@pytest.mark.parametrize("model", ["", " ", "a\udcff", "a\x1b"])
def test_what_can_be_no_model_is_a_slip(model: str, folder: Path, run: Callable[..., Any]) -> None:
    done = run("chat", "-p", "hi", "--model", model)
    assert (done.code, b"is not a model id" in done.err) == (2, True)
