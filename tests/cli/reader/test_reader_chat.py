"""A conversation line by line, with a scripted model."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import memtui
from memtui.agents.chat.events import ChatOptions
from memtui.cli.reader.chat import run_reader_chat
from memtui.cli.reader.menu import run_reader
from memtui.config import LoadedConfig
from memtui.core.approvals import ApprovalPolicy
from tests.agents.model_server import Call, ModelServer, Text, Wait
from tests.cli.conftest import LIMIT

EDIT = {"command": "str_replace", "path": "/memories/prefs.md", "old_str": "Berlin", "new_str": "Lisbon"}
Say = Callable[..., str]


@pytest.fixture
def say(folder: Path, capsys: pytest.CaptureFixture[str]) -> Say:
    """Say lines in a conversation, and hear what comes of it."""

    def say(*lines: str, policy: ApprovalPolicy = ApprovalPolicy.ASK, resume: str | None = None) -> str:
        ear, mouth = os.pipe()
        os.write(mouth, "".join(f"{line}\n" for line in lines).encode())
        os.close(mouth)
        held = ChatOptions(policy=policy)
        code = run_reader(
            str(folder), LoadedConfig(), state=None, read_only=False, fd=ear,
            begin=lambda session: run_reader_chat(session, held, resume=resume),
        )  # fmt: skip
        os.close(ear)
        heard = capsys.readouterr().out
        assert code == 0
        assert "\x1b" not in heard
        return heard

    return say


def test_a_change_is_heard_and_answered_and_taken_back(server: ModelServer, say: Say, folder: Path) -> None:
    server.answer(Text("I will\nkeep \x1b[2J that."), Call(EDIT))
    server.answer(Text("Kept."))
    server.answer(Text("Again."), Call(EDIT))
    server.answer(Text("Not kept."))
    heard = say("I live in Lisbon", "yes, this", "/undo", "and now", "no", "/what", "/again too", "")
    assert "Claude:\nI will\nkeep \\x1b[2J that.\nClaude asks to edit prefs.md.\n" in heard
    assert "Line 2 was: - Berlin\nLine 2 is now: - Lisbon\n" in heard
    edited = "Claude edited prefs.md, 1 line added, 1 removed."
    assert f"Allowed: Claude may go on with prefs.md.\n{edited}\nKept.\n" in heard
    assert "Remembered: changed prefs.md, 1 line added, 1 removed.\n" in heard
    assert "Denied: prefs.md stays as it is.\n" in heard
    assert "Unknown command /what." in heard
    assert (folder / "prefs.md").read_text() == "- short answers\n- Berlin\n"


def test_it_goes_on_later_and_what_failed_is_said_again(server: ModelServer, say: Say, folder: Path) -> None:
    server.answer(Text("Hello."))
    assert "Hello.\n" in say("hi")
    server.refuse(400, "invalid_request_error", "No.")
    server.answer(Text("Hello again."))
    heard = say("hi again", "/again", resume="last")
    assert " /again sends it again.\n" in heard.partition("Hello again.\n")[0]
    assert [each["role"] for each in server.last.messages] == ["user", "assistant", "user"]
    with memtui.open(folder) as memory:
        assert not [event for event in memory.events() if event.changes and event.command != "found"]


def test_ctrl_c_stops_an_answer_and_the_conversation_goes_on(server: ModelServer, say: Say) -> None:
    go_on = threading.Event()

    def interrupt() -> None:
        server.reached.wait(LIMIT)
        os.kill(os.getpid(), signal.SIGINT)

    server.answer(Text("Half of it\n"), Wait(go_on), Text("and more", new=False))
    server.answer(Text("Here."))
    thread = threading.Thread(target=interrupt)
    thread.start()
    heard = say("go", "are you there")
    thread.join(LIMIT)
    go_on.set()
    assert "\nStopped. The conversation so far is kept.\n" in heard
    assert "Here.\n" in heard.partition("Stopped.")[2]
    assert "and more" not in heard


def test_a_conversation_is_offered_in_the_menu(
    server: ModelServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer(Text("Hello."))
    ear, mouth = os.pipe()
    os.write(mouth, b"talk\nhi\n/back\nq\n")
    os.close(mouth)
    run_reader(str(folder), LoadedConfig(), state=None, read_only=True, chat_options=ChatOptions, fd=ear)
    os.close(ear)
    heard = capsys.readouterr().out
    assert "13. Talk with Claude\n14. Quit\n" in heard
    assert "Claude:\nHello.\nYou: \nMain menu.\n" in heard
