"""A conversation is recorded as it goes on, and resumed from the record."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.chat.events import (
    ApprovalNeeded,
    CallEnded,
    ChatFault,
    ConversationRewound,
    Notice,
    Prompt,
    TextDelta,
    TurnEnded,
    TurnOutcome,
    TurnUndone,
)
from memtui.agents.chat.sessions.store import ChatSession
from memtui.core.approvals import Allow, ApprovalPolicy, Edit
from tests.agents.chat.listener import talking
from tests.agents.model_server import OLDER, Call, Drop, ModelServer, Text, Thinking, Wait

CREATE = {"command": "create", "path": "/memories/a.md", "file_text": "one\n"}


def _session(directory: Path) -> ChatSession:
    return ChatSession.create(directory, folder="memories")


def _records(directory: Path) -> list[dict[str, Any]]:
    (path,) = directory.glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def _of(directory: Path, kind: str) -> list[dict[str, Any]]:
    return [record for record in _records(directory) if record["type"] == kind]


def test_all_that_happens_is_kept_in_order(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.answer(Thinking("Hm."), Text("I keep it."), Call(CREATE))
    model_server.answer(Text("Kept."))
    with talking(policy=ApprovalPolicy.ASK, session=_session(tmp_path)) as talk:
        talk.chat.send(Prompt("Remember one"))

        talk.chat.answer(talk.heard.next(ApprovalNeeded).number, Edit("two\n"))
        talk.heard.next(TurnEnded)
        talk.chat.undo_turn()
        talk.heard.next(TurnUndone)
        kinds = [record["type"] for record in _records(tmp_path)]
    assert [kind for kind in kinds if kind not in ("session", "setting")] == [
        "turn_began",
        "message",
        "message",
        "call",
        "message",
        "message",
        "turn_ended",
        "undone",
    ]
    (call,) = _of(tmp_path, "call")
    assert call["input"] == CREATE
    assert (call["edit"], call["edit_seq"], call["seq"], call["note"]) == ("two\n", 1, 2, "edited by you first")
    roles = [record["role"] for record in _of(tmp_path, "message")]
    assert roles == ["user", "assistant", "user", "assistant"]
    (ended,) = _of(tmp_path, "turn_ended")
    assert (ended["end"], ended["remembered"][0]["path"]) == ("done", "a.md")
    assert "not-a-real-key" not in (next(tmp_path.glob("*.jsonl"))).read_text()


def test_a_partial_answer_is_kept_at_once(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.answer(Text("Half of it"), Drop())
    with talking(session=_session(tmp_path)) as talk:
        talk.say("Hello")
        assert _of(tmp_path, "message")[-1]["content"] == [{"type": "text", "text": "Half of it"}]
        assert _of(tmp_path, "fault")[0]["kind"] == "cut stream"


def test_a_conversation_goes_on_where_it_was_left(model_server: ModelServer, tmp_path: Path) -> None:
    with memtui.open_in_memory() as memory:
        model_server.answer(Thinking("Hm."), Text("I keep it."), Call(CREATE))
        model_server.answer(Text("Kept."))
        with talking(memory, policy=ApprovalPolicy.ASK, model=OLDER, session=_session(tmp_path)) as talk:
            talk.chat.send(Prompt("Remember one"))

            talk.chat.answer(talk.heard.next(ApprovalNeeded).number, Allow(always="/"))
            used = talk.heard.next(TurnEnded).usage
            session_id = talk.chat.session_id
        with talking(memory, policy=ApprovalPolicy.ASK, session=ChatSession.resume(tmp_path)) as talk:
            assert talk.chat.session_id == session_id
            assert talk.chat.turn == 1
            assert talk.chat.always == frozenset(), "a consent ends with the window"
            assert talk.chat.session_usage.input_tokens == used.input_tokens
            assert talk.say("Go on").turn == 2
            assert model_server.last.body["model"] == OLDER
            kinds = [[block["type"] for block in message["content"]] for message in model_server.last.messages]
            assert kinds == [["text"], ["thinking", "text", "tool_use"], ["tool_result"], ["text"], ["text"]]
    assert model_server.refused == []


def test_what_the_last_turn_wrote_can_be_taken_back_after_going_on(model_server: ModelServer, tmp_path: Path) -> None:
    with memtui.open_in_memory() as memory:
        model_server.answer(Call(CREATE))
        with talking(memory, session=_session(tmp_path)) as talk:
            talk.say("Remember one")
        with talking(memory, session=ChatSession.resume(tmp_path)) as talk:
            talk.chat.undo_turn()
            talk.heard.next(TurnUndone)
            assert talk.files() == {}
        with talking(memory, session=ChatSession.resume(tmp_path)) as talk:
            talk.say("Go on")
            assert "took back" in model_server.last.messages[-1]["content"][0]["text"]
    assert model_server.refused == []


@pytest.mark.parametrize("act", ["retry", "edit_last"])
def test_the_last_message_can_be_gone_back_to_after_going_on(
    model_server: ModelServer, tmp_path: Path, act: str
) -> None:
    with memtui.open_in_memory() as memory:
        with talking(memory, session=_session(tmp_path)) as talk:
            talk.say("First")
            model_server.answer(Call(CREATE))
            model_server.answer(Text("Kept."))
            talk.say("Second")
        with talking(memory, session=ChatSession.resume(tmp_path)) as talk:
            getattr(talk.chat, act)()
            assert talk.heard.next(ConversationRewound).prompt == Prompt("Second")
            if act == "edit_last":
                talk.chat.send(Prompt("Second"))
            assert talk.heard.next(TurnEnded).end is TurnOutcome.DONE
            said = [message["content"][0].get("text") for message in model_server.last.messages]
            assert said == ["First", "Done.", "Second"]
    assert model_server.refused == []


def test_a_message_that_got_no_answer_is_not_said_twice(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.refuse(400, "invalid_request_error", "no")
    with memtui.open_in_memory() as memory:
        with talking(memory, session=_session(tmp_path)) as talk:
            talk.chat.send(Prompt("Hello"))
            talk.heard.next(ChatFault)
            talk.heard.next(TurnEnded)
            talk.say("Hello")
        with talking(memory, session=ChatSession.resume(tmp_path)) as talk:
            talk.say("Go on")
            said = [[block["text"] for block in message["content"]] for message in model_server.last.messages]
            assert said == [["Hello"], ["Done."], ["Go on"]]
    assert model_server.refused == []


def test_a_turn_that_was_stopped_in_a_call_goes_on_after_a_restart(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.answer(Text("I keep it."), Call('{"comm', whole=False), Wait(threading.Event()))
    with memtui.open_in_memory() as memory:
        with talking(memory, session=_session(tmp_path)) as talk:
            talk.chat.send(Prompt("Remember"))
            talk.heard.next(TextDelta)
            model_server.reached.wait(10)
            talk.chat.close()
            assert talk.heard.of(CallEnded)[0].is_error
        with talking(memory, session=ChatSession.resume(tmp_path)) as talk:
            assert talk.say("Go on").end is TurnOutcome.DONE
    assert model_server.refused == []


@pytest.mark.usefixtures("model_server")
def test_what_becomes_of_the_file_is_told(tmp_path: Path) -> None:
    session = _session(tmp_path)
    session._report("The disk is full.")
    with talking(session=session) as talk:
        assert talk.heard.next(Notice).sentence == "The disk is full."


def test_what_is_taken_back_after_a_turn_that_failed_does_not_come_back(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.answer(Text("Answer one"))
    model_server.refuse(400, "invalid_request_error", "no")
    with talking(session=_session(tmp_path)) as talk:
        talk.say("First")
        talk.say("Second")
        name = talk.chat.session_id
    with talking(session=ChatSession.resume(tmp_path, name)) as talk:
        talk.chat.edit_last()
        rewound = talk.heard.next(ConversationRewound)
        assert rewound.prompt == Prompt("First")
        model_server.answer(Text("Answer two"))
        talk.say("First, edited")
    session = ChatSession.resume(tmp_path, name)
    kept = json.dumps(session.restore().messages)
    session.close()
    assert "Answer one" not in kept
    assert "First, edited" in kept


def test_what_was_said_before_and_got_no_answer_stays_when_the_last_message_is_taken_back(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.answer(Wait(threading.Event()))
    model_server.answer(Text("Both."))
    with talking(session=_session(tmp_path)) as talk:
        talk.chat.send(Prompt("First"))
        model_server.wait_for(1)
        talk.chat.stop()
        talk.heard.next(TurnEnded)
        talk.say("Second")
        name = talk.chat.session_id
    with talking(session=ChatSession.resume(tmp_path, name)) as talk:
        talk.chat.edit_last()
        talk.heard.next(ConversationRewound)
        model_server.answer(Text("Well."))
        talk.say("Third")
    (message,) = model_server.last.messages
    assert [block["text"] for block in message["content"]] == ["First", "Third"]
