"""The chat with a real conversation against a model's server, and in a real terminal: the story of the issue."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.chat.events import ChatOptions
from memtui.core.approvals import ApprovalPolicy
from memtui.ui.chat_start import SessionRequest, create_chat
from tests.agents.model_server import MODEL, Call, Drop, ModelServer, Text, Wait
from tests.ui.chat.conftest import Chats

CREATE = {"command": "create", "path": "/memories/tea.md", "file_text": "# Tea\n\n- green\n"}
REPLACE = {"command": "str_replace", "path": "/memories/prefs.md", "old_str": "Berlin", "new_str": "Lisbon"}
DELETE = {"command": "delete", "path": "/memories/notes/old.md"}


@pytest.fixture
def model_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A scripted model's server that every client of the SDK in this test talks to."""
    with ModelServer() as server:
        server.point_sdk_at_it(monkeypatch)
        yield server


def _real(**more: Any) -> dict[str, Any]:
    return {"make": create_chat, "options": ChatOptions(model=MODEL, policy=ApprovalPolicy.ASK), **more}


async def test_a_day_with_it(chatting: Chats, model_server: ModelServer) -> None:
    server = model_server
    async with chatting(**_real()) as chat:
        server.answer(Text("I will note that."), Call(CREATE))
        server.answer(Text("It is noted."))
        await chat.say("remember that I drink green tea")
        await chat.asked()
        await chat.press("e")
        await chat.type("mine ")
        await chat.press("ctrl+s")
        await chat.ended(1)
        assert chat.memory("tea.md") == "mine # Tea\n\n- green\n"

        server.answer(Call(DELETE))
        server.answer(Text("It stays."))
        await chat.say("forget the old notes")
        await chat.asked(2)
        await chat.press("r")
        await chat.type("they are mine")
        await chat.wait_for(lambda: chat.screen.question_view.reason.value == "they are mine")
        await chat.press("enter")
        await chat.ended(2)
        assert chat.memory("notes/old.md")
        assert "they are mine" in str(server.requests[-1].body["messages"])

        server.answer(Call(REPLACE))
        server.answer(Text("Done."))
        await chat.say("I moved to Lisbon")
        await chat.asked(3)
        await chat.press("y")
        await chat.ended(3)
        assert "Lisbon" in (chat.memory("prefs.md") or "")
        await chat.say("/undo")
        await chat.wait_for(lambda: "Berlin" in (chat.memory("prefs.md") or ""))

        server.answer(Text("Half of an answ"), Drop())
        await chat.say("tell me more")
        await chat.ended(4)
        await chat.wait_for(lambda: "Half of an answ" in chat.text)

        server.answer(Text("I am back."))
        await chat.say("go on")
        await chat.ended(5)
        await chat.wait_for(lambda: "I am back." in chat.text)
        assert server.refused == []
        session = chat.screen.chat_session.id if chat.screen.chat_session else ""
        await chat.press("ctrl+q")
    assert "  tea.md  created  +3  edited by you first" in chat.app.last_words

    async with chatting(**_real(request=SessionRequest(resume="last"))) as chat:
        await chat.wait_for(lambda: "I am back." in chat.text)
        assert chat.screen.chat_session is not None
        assert chat.screen.chat_session.id == session
        server.answer(Text("Good to see you again."))
        await chat.say("hello again")
        await chat.ended(6)
        await chat.wait_for(lambda: "Good to see you again." in chat.text)
        assert server.refused == []
        assert "remember that I drink green tea" in str(server.requests[-1].body["messages"])


async def test_esc_in_mid_stream_keeps_the_text_and_the_next_message_works(
    chatting: Chats, model_server: ModelServer
) -> None:
    go_on = threading.Event()
    async with chatting(**_real()) as chat:
        model_server.answer(Text("The first half"), Wait(go_on), Text(" and never the second", new=False))
        model_server.answer(Text("Here."))
        await chat.say("go")
        await chat.wait_for(lambda: "The first half" in chat.text)
        await chat.press("escape")
        await chat.ended(1)
        go_on.set()
        await chat.say("still there")
        await chat.ended(2)
        await chat.wait_for(lambda: "Here." in chat.text)
        assert model_server.refused == []


@pytest.mark.usefixtures("model_server")
async def test_a_wrong_key_is_a_sentence_and_the_message_stays(
    chatting: Chats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-key")
    async with chatting(**_real(ready=False)) as chat:
        await chat.say("hello")
        await chat.wait_for(lambda: chat.written == "hello", "the message in the box again")
        assert "another-key" not in chat.text
        monkeypatch.undo()


def test_a_real_terminal_is_left_as_it_was_and_told_how_to_go_on(terminal: Any, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "prefs.md").write_text("# Preferences\n")
    with ModelServer() as server:
        server.answer(Text("Hello from the server."))
        environment = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "not-a-real-key"}
        run = terminal("-m", "memtui", "--state", tmp_path / "state", "chat", folder, env=environment, size=(100, 30))
        run.wait_for("Message")
        run.press("hello")
        run.wait_for("hello")
        run.press("\r")
        run.wait_for("Hello from the server.")
        run.wait_for("Claude finished")
        run.press("/quit\r")
        assert run.end() == 0
    assert not run.modes["1049"]
    told = run.raw.decode().rpartition("\x1b[?1049l")[2]
    assert "This session: no notes changed." in told
    assert "Resume with: memtui chat --resume " in told


def test_ctrl_j_and_enter_differ_in_a_real_terminal(terminal: Any, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    with ModelServer() as server:
        environment = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "not-a-real-key"}
        run = terminal("-m", "memtui", "--state", tmp_path / "state", "chat", folder, env=environment, size=(100, 30))
        run.wait_for("Message")
        run.press("one\ntwo\r")
        server.wait_for(1)
        assert "one\\ntwo" in str(server.last.body["messages"])
        run.press("\x11")
        run.end()
