"""Every fault is a sentence, nothing typed is lost, and the next message works."""

import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest

import memtui
from memtui.agents.chat.client import ClientUnavailable, make_client
from memtui.agents.chat.events import (
    CallEnded,
    ChatFault,
    ChatOptions,
    FaultKind,
    Notice,
    Prompt,
    Ready,
    RetryScheduled,
    TextDelta,
    TurnEnded,
    TurnOutcome,
)
from memtui.agents.chat.request import RetryPolicy
from memtui.agents.chat.sessions.store import ChatSession
from memtui.agents.chat.turn_record import TurnRecord
from memtui.core.approvals import ApprovalPolicy
from tests.agents.chat.listener import HASTE, Talking, talking
from tests.agents.model_server import (
    MODEL,
    Call,
    Cut,
    Drop,
    Failure,
    Junk,
    ModelServer,
    Raw,
    Step,
    Text,
    Thinking,
    Wait,
)

CREATE = {"command": "create", "path": "/memories/a.md", "file_text": "one\n"}
KEPT = "Your message is kept; Enter tries again."


def _fault(talk: Talking, text: str = "Hello") -> ChatFault:
    talk.chat.send(Prompt(text))
    return talk.heard.next(ChatFault)


# No answer at all


def test_without_a_key_that_is_said_and_the_message_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("ANTHROPIC_CONFIG_DIR", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "anthropic", None)  # it is said before the SDK is loaded
    with talking() as talk:
        first = talk.heard.next(ChatFault)
        assert first.kind is FaultKind.NO_KEY
        assert first.sentence == (
            "No API key. Set ANTHROPIC_API_KEY and run memtui chat again. Browsing works without it."
        )
        fault = _fault(talk)
        assert fault.sentence == f"{first.sentence} Your message is kept."
        assert fault.prompt == Prompt("Hello")
        assert not talk.chat.is_busy


def test_a_profile_is_left_to_the_sdk(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "anthropic", None)
    (tmp_path / ".config/anthropic").mkdir(parents=True)
    with pytest.raises(ClientUnavailable, match="cannot be loaded"):
        make_client(ChatOptions())
    (tmp_path / ".config/anthropic").rmdir()
    with pytest.raises(ClientUnavailable, match="No API key"):
        make_client(ChatOptions())
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Api-Key: something")
    with pytest.raises(ClientUnavailable, match="cannot be loaded"):
        make_client(ChatOptions())


def test_credentials_that_cannot_be_read_are_said_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_PROFILE", "work")
    with talking() as talk:
        fault = talk.heard.next(ChatFault)
        assert fault.kind is FaultKind.NO_KEY
        assert fault.sentence.startswith("No API key: ")
        assert fault.sentence.endswith("Set ANTHROPIC_API_KEY and run memtui chat again. Browsing works without it.")


@pytest.mark.usefixtures("model_server")
def test_a_wrong_key_is_said_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-a-wrong-key-of-somebody")
    with talking(model=MODEL) as talk:
        early = talk.heard.next(ChatFault)
        assert early.kind is FaultKind.WRONG_KEY
        fault = _fault(talk)
        assert (fault.kind, fault.prompt) == (FaultKind.WRONG_KEY, Prompt("Hello"))
        assert "rejected the API key from ANTHROPIC_API_KEY" in fault.sentence
        assert "a-wrong-key" not in repr(talk.heard.events)


def test_a_host_that_cannot_be_reached_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port}")
    with talking(model="m") as talk:
        fault = _fault(talk)
        assert fault == ChatFault(
            FaultKind.NETWORK, f"Could not reach 127.0.0.1:{port} (connection refused). {KEPT}", Prompt("Hello")
        )
        assert talk.heard.next(TurnEnded).end is TurnOutcome.FAULT


def test_a_name_that_is_not_found_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://nowhere.invalid")
    with talking() as talk:
        first = talk.heard.next(ChatFault)  # without a model, the list of models is what cannot be had
        assert (first.kind, first.prompt) == (FaultKind.NETWORK, None)
        assert first.sentence == "Could not reach nowhere.invalid (name not found)."
        assert _fault(talk).sentence == f"Could not reach nowhere.invalid (name not found). {KEPT}"


def test_the_message_works_once_the_network_is_back(model_server: ModelServer) -> None:
    down = threading.Event()
    down.set()

    def make(options: ChatOptions) -> Any:
        if down.is_set():
            return anthropic.AsyncAnthropic(base_url="http://nowhere.invalid", max_retries=0)
        return make_client(options)

    with talking(client=make, model=MODEL) as talk:
        fault = _fault(talk)
        assert fault.prompt is not None
        talk.heard.next(TurnEnded)
        talk.chat._state.connection.client = None  # as after the SDK's client was made anew
        down.clear()
        assert talk.say(fault.prompt.text).end is TurnOutcome.DONE
        assert [message["content"][0]["text"] for message in model_server.last.messages] == ["Hello"]
    assert model_server.refused == []


def test_without_the_sdk_that_is_said() -> None:
    def make(_: ChatOptions) -> Any:
        raise ImportError("No module named 'boto3'")

    with talking(client=make) as talk:
        fault = talk.heard.next(ChatFault)
        assert fault.kind is FaultKind.NO_SDK
        assert "boto3" in fault.sentence


def test_a_provider_that_is_not_set_up_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOUD_ML_REGION", raising=False)
    with talking(provider="vertex") as talk:
        fault = talk.heard.next(ChatFault)
        assert fault.kind in (FaultKind.NO_KEY, FaultKind.NO_SDK)
        assert "vertex" in fault.sentence


def test_a_server_without_a_list_needs_a_model_by_name(model_server: ModelServer) -> None:
    model_server.models = None
    with talking() as talk:
        fault = talk.heard.next(ChatFault)
        assert fault.kind is FaultKind.UNKNOWN_MODEL
        assert fault.sentence.endswith("does not list its models. Name one: memtui chat --model NAME")
    with talking(model="any-model") as talk:
        assert talk.say("Hello").end is TurnOutcome.DONE
        assert model_server.last.body["model"] == "any-model"
        assert model_server.last.body["max_tokens"] == 8_192


# An answer that is a refusal

REFUSALS = [
    (401, "authentication_error", "invalid x-api-key", FaultKind.WRONG_KEY, "rejected the API key"),
    (402, "billing_error", "pay", FaultKind.NO_CREDIT, "requires payment"),
    (400, "invalid_request_error", "Your credit balance is too low", FaultKind.NO_CREDIT, "requires payment"),
    (403, "permission_error", "not for you", FaultKind.FORBIDDEN, "lacks permission at"),
    (404, "not_found_error", "model: claude-newest-1", FaultKind.UNKNOWN_MODEL, f"has no model called {MODEL}. /model"),
    (404, "not_found_error", "Not found", FaultKind.BAD_REQUEST, "ANTHROPIC_BASE_URL"),
    (413, "request_too_large", "too big", FaultKind.TOO_LARGE, "too large for"),
    (413, "of_a_proxy", "Payload Too Large", FaultKind.TOO_LARGE, "too large for"),
    (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", FaultKind.TOO_LARGE, "/clear"),
    (400, "invalid_request_error", "max_tokens: wrong", FaultKind.BAD_REQUEST, "rejected the request (max_tokens"),
    (400, "invalid_request_error", "thinking: not here", FaultKind.BAD_REQUEST, "--thinking"),
    (422, "invalid_request_error", "no", FaultKind.BAD_REQUEST, "rejected the request"),
]


@pytest.mark.parametrize(("status", "type", "message", "kind", "words"), REFUSALS)
def test_a_refusal_is_a_sentence_and_the_next_message_works(
    model_server: ModelServer, status: int, type: str, message: str, kind: FaultKind, words: str
) -> None:
    model_server.refuse(status, type, message)
    with talking() as talk:
        fault = _fault(talk)
        assert (fault.kind, fault.prompt) == (kind, Prompt("Hello"))
        assert words in fault.sentence
        assert "Your message is kept" in fault.sentence
        assert talk.heard.next(TurnEnded).end is TurnOutcome.FAULT
        assert talk.say("Again").end is TurnOutcome.DONE
        said = [message["content"][0]["text"] for message in model_server.last.messages]
        assert said == ["Again"]
        assert len(model_server.requests) == 2
    assert model_server.refused == []


PASSING = [
    (429, "rate_limit_error", "too many", "Too many requests to"),
    (529, "overloaded_error", "Overloaded", "is overloaded"),
    (500, "api_error", "Internal", "had a server error (Internal)"),
    (503, "api_error", "down", "had a server error (down)"),
    (504, "timeout_error", "slow", "timed out"),
]


@pytest.mark.parametrize(("status", "type", "message", "words"), PASSING)
def test_what_passes_is_tried_again_and_the_wait_is_said(
    model_server: ModelServer, status: int, type: str, message: str, words: str
) -> None:
    model_server.refuse(status, type, message)
    model_server.refuse(status, type, message)
    with talking() as talk:
        assert talk.say("Hello").end is TurnOutcome.DONE
        waits = talk.heard.of(RetryScheduled)
        assert len(waits) == 2
        assert words in waits[0].sentence
        assert waits[1].sentence.endswith("(2 of 3); Esc stops.")
        assert talk.heard.of(ChatFault) == []


def test_it_is_not_tried_for_ever(model_server: ModelServer) -> None:
    for _ in range(HASTE.times + 1):
        model_server.refuse(529, "overloaded_error", "Overloaded")
    with talking() as talk:
        fault = _fault(talk)
        assert fault.kind is FaultKind.OVERLOADED
        assert fault.sentence.endswith(f"is overloaded. Tried 4 times. {KEPT}")
        assert talk.heard.next(TurnEnded).end is TurnOutcome.FAULT
        assert talk.say("Again").end is TurnOutcome.DONE


def test_the_server_is_asked_again_when_it_said_so(model_server: ModelServer) -> None:
    model_server.refuse(429, "rate_limit_error", "too many", {"retry-after": "0.05"})
    with talking(retries=RetryPolicy(first=500)) as talk:
        assert talk.say("Hello").end is TurnOutcome.DONE
        assert talk.heard.of(RetryScheduled)[0].seconds == 0.05


def test_a_server_that_wants_to_be_left_alone_for_long_is_not_waited_for(model_server: ModelServer) -> None:
    model_server.refuse(429, "rate_limit_error", "too many", {"retry-after": "3600"})
    with talking() as talk:
        fault = _fault(talk)
        assert fault.kind is FaultKind.RATE_LIMIT
        assert "Try again in 3,600 s." in fault.sentence


def test_a_server_that_says_so_is_not_asked_again(model_server: ModelServer) -> None:
    model_server.refuse(529, "overloaded_error", "Overloaded", {"x-should-retry": "false"})
    with talking() as talk:
        assert _fault(talk).kind is FaultKind.OVERLOADED
        assert len(model_server.requests) == 1


def test_the_person_may_stop_the_wait(model_server: ModelServer) -> None:
    model_server.refuse(429, "rate_limit_error", "too many", {"retry-after": "50"})
    with talking() as talk:
        talk.chat.send(Prompt("Hello"))
        talk.heard.next(RetryScheduled)
        talk.chat.stop()
        assert talk.heard.next(TurnEnded).end is TurnOutcome.STOPPED
        assert talk.say("Again").end is TurnOutcome.DONE
    assert model_server.refused == []


# An answer that breaks

BREAKS: list[tuple[Step, FaultKind, str, TurnOutcome]] = [
    (Drop(), FaultKind.CUT_STREAM, "broke in the middle of the answer", TurnOutcome.FAULT),
    (Cut(), FaultKind.CUT_STREAM, "ended in the middle", TurnOutcome.CUT),
    (Junk("{not json"), FaultKind.CUT_STREAM, "sent an invalid answer", TurnOutcome.FAULT),
    (
        Junk("\udcff".encode("utf-8", "surrogatepass").decode("latin-1")),
        FaultKind.CUT_STREAM,
        "sent an invalid answer",
        TurnOutcome.FAULT,
    ),
    (Failure("overloaded_error", "Overloaded"), FaultKind.OVERLOADED, "is overloaded", TurnOutcome.FAULT),
    (Failure("api_error", "Oops"), FaultKind.SERVER, "had a server error (Oops)", TurnOutcome.FAULT),
    (Failure("rate_limit_error", "Slow"), FaultKind.RATE_LIMIT, "Too many requests to", TurnOutcome.FAULT),
]


@pytest.mark.parametrize(("step", "kind", "words", "end"), BREAKS)
def test_an_answer_that_breaks_is_kept_as_far_as_it_came(
    model_server: ModelServer, step: Step, kind: FaultKind, words: str, end: TurnOutcome
) -> None:
    model_server.answer(Thinking("Hm."), Text("Half of it, "), step)
    with talking() as talk:
        fault = _fault(talk)
        assert (fault.kind, fault.prompt) == (kind, None)
        assert words in fault.sentence
        assert fault.sentence.endswith("The answer so far is kept. Send a message to continue.")
        assert talk.heard.next(TurnEnded).end is end
        assert talk.heard.text == "Half of it, "
        assert talk.say("Go on").end is TurnOutcome.DONE
        _, half, _ = model_server.last.messages
        assert half["content"][-1]["text"] == "Half of it, "
        assert len(model_server.requests) == 2
    assert model_server.refused == []


@pytest.mark.parametrize("step", [Drop(), Cut(), Junk("{"), Failure("overloaded_error", "Overloaded")])
def test_an_answer_that_breaks_before_it_began_is_asked_for_again(model_server: ModelServer, step: Step) -> None:
    model_server.answer(step)
    with talking() as talk:
        assert talk.say("Hello").end is TurnOutcome.DONE
        assert len(talk.heard.of(RetryScheduled)) == 1
    assert model_server.refused == []


@pytest.mark.parametrize("step", [Drop(), Cut(), Junk("{"), Failure("overloaded_error", "Overloaded")])
def test_a_call_that_was_cut_off_is_not_run_and_is_answered(model_server: ModelServer, step: Step) -> None:
    model_server.answer(
        Text("I keep it."), Call('{"command": "create", "path": "/memories/a.md", "file_t', whole=False), step
    )
    with talking() as talk:
        talk.chat.send(Prompt("Remember"))
        talk.heard.next(TurnEnded)
        ended = talk.heard.of(CallEnded)[0]
        assert ended.is_error
        assert ended.event is None
        assert "not run" in ended.text
        assert talk.files() == {}
        talk.say("Go on")
        result, text = model_server.last.messages[-1]["content"]
        assert result["tool_use_id"] == ended.call_id
        assert result["is_error"] is True
        assert text["text"] == "Go on"
    assert model_server.refused == []


def test_a_silent_server_is_said_to_be_silent_and_may_go_on(model_server: ModelServer) -> None:
    go_on = threading.Event()
    model_server.answer(Text("Well,"), Wait(go_on), Text(" yes.", new=False))
    with talking(retries=RetryPolicy(silence=0.05)) as talk:
        talk.chat.send(Prompt("Hello"))
        sentence = talk.heard.next(Notice).sentence
        assert sentence.startswith("Nothing new from 127.0.0.1:")
        assert sentence.endswith("Still waiting; Esc stops.")
        go_on.set()
        assert talk.heard.next(TurnEnded).end is TurnOutcome.DONE
        assert talk.heard.text == "Well, yes."


def test_a_server_that_stays_silent_is_given_up(model_server: ModelServer) -> None:
    def make(options: ChatOptions) -> Any:
        return make_client(options).with_options(timeout=httpx2.Timeout(0.2))

    model_server.answer(Text("Well,"), Wait(threading.Event()))
    with talking(client=make) as talk:
        fault = _fault(talk)
        assert fault.kind is FaultKind.TIMEOUT
        assert "sent nothing for" in fault.sentence
        assert talk.heard.next(TurnEnded).end is TurnOutcome.FAULT
        assert talk.say("Go on").end is TurnOutcome.DONE


# What the model does


def test_a_tool_that_the_model_invented_is_answered_and_the_conversation_goes_on(model_server: ModelServer) -> None:
    model_server.answer(Call({"x": 1}, name="search\nthe web", id="toolu_1"))
    model_server.answer(Text("Then not."))
    with talking() as talk:
        ended = talk.say("Search")
        assert (ended.end, ended.calls, ended.refused) == (TurnOutcome.DONE, 1, 1)
        result = model_server.last.results[0]
        assert result["content"] == "Error: There is no tool called search\\nthe web. The only one is `memory`"
        assert result["is_error"] is True
        assert talk.heard.of(CallEnded)[0].event is None
    assert model_server.refused == []


@pytest.mark.parametrize("raw", ["{not json", "[1, 2]", '"text"', "17", '{"command": NaN}', "[" * 100_000])
def test_malformed_input_is_refused_in_the_engines_words_and_is_in_the_journal(
    model_server: ModelServer, raw: str
) -> None:
    model_server.answer(Call(raw, size=1_000))
    with talking() as talk:
        ended = talk.say("Remember")
        assert (ended.end, ended.refused) == (TurnOutcome.DONE, 1)
        assert model_server.last.results[0]["content"] == "Error: the input must be an object with a `command`"
        event = talk.heard.of(CallEnded)[0].event
        assert event is not None
        assert event.is_error
    assert model_server.refused == []


def test_calls_of_a_gateway_that_gives_every_one_the_same_id_are_told_apart(model_server: ModelServer) -> None:
    for name in ("b", "c"):
        view = {"command": "view", "path": "/memories"}
        create = {**CREATE, "path": f"/memories/{name}.md"}
        model_server.answer(Call(create, id="call_0"), Call(view, id="call_0"))
    with talking() as talk:
        assert talk.say("Remember").end is TurnOutcome.DONE
        assert [event.call_id for event in talk.heard.of(CallEnded)] == ["call_0", "call_0_2", "call_0_3", "call_0_4"]
        assert [result["tool_use_id"] for result in model_server.last.results] == ["call_0_3", "call_0_4"]
        assert set(talk.files()) == {"b.md", "c.md"}
    assert model_server.refused == []


def test_half_a_call_is_not_run_even_where_the_server_says_that_all_is_well(model_server: ModelServer) -> None:
    half = '{"command": "create", "path": "/memories/a.md", "file_text": "half of '
    model_server.answer(Call(half, whole=False), stop_reason="tool_use")
    with talking() as talk:
        ended = talk.say("Remember")
        assert (ended.end, ended.calls, ended.refused) == (TurnOutcome.DONE, 0, 1)
        assert talk.files() == {}
        assert "cut off before this call was complete" in model_server.last.results[0]["content"]
    assert model_server.refused == []


def test_half_a_character_in_a_call_is_refused_and_does_not_break_the_next_request(model_server: ModelServer) -> None:
    model_server.answer(
        Text("x"), Call('{"command": "create", "path": "/memories/a.md", "file_text": "a\\ud83d", "more": 1e999}')
    )
    with talking() as talk:
        assert talk.say("Remember \udcff").end is TurnOutcome.DONE
        assert talk.files() == {}
        assert talk.say("Again").end is TurnOutcome.DONE
    assert model_server.refused == []


def test_two_hundred_calls_are_the_limit_of_a_turn_and_the_next_message_works(model_server: ModelServer) -> None:
    view = {"command": "view", "path": "/memories"}
    model_server.answer(*(Call(view) for _ in range(150)))
    model_server.answer(*(Call(view) for _ in range(60)))
    with talking() as talk:
        ended = talk.say("Look around")
        assert (ended.end, ended.calls, ended.refused) == (TurnOutcome.TOO_MANY_CALLS, 200, 10)
        assert talk.heard.sentences == [
            "This turn ended at the limit of 200 tool calls; 10 more were not run. Say `go on` to continue."
        ]
        assert len(talk.heard.of(CallEnded)) == 210
        assert talk.say("Go on").end is TurnOutcome.DONE
        assert len(model_server.last.results) == 60
    assert model_server.refused == []


def test_a_turn_with_exactly_as_many_calls_as_allowed_comes_to_its_end(model_server: ModelServer) -> None:
    model_server.answer(*(Call({"command": "view", "path": "/memories"}) for _ in range(3)))
    model_server.answer(Text("That is all."))
    with talking(max_calls=3) as talk:
        assert talk.say("Look around").end is TurnOutcome.DONE


def test_a_refusal_of_the_model_is_said_and_leaves_the_history(model_server: ModelServer) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "Not that."}
    model_server.answer(Text("I"), stop_reason="refusal", stop_details=details)
    with talking() as talk:
        assert talk.say("Make a germ").end is TurnOutcome.REFUSED
        assert talk.heard.sentences[0].startswith(
            "Claude Newest declined to continue (Not that). Your message and this"
        )
        assert talk.say("Make a cake").end is TurnOutcome.DONE
        assert [message["content"][0]["text"] for message in model_server.last.messages] == ["Make a cake"]
    assert model_server.refused == []


def test_an_answer_that_reached_its_longest_length_is_said_to_be_cut(model_server: ModelServer) -> None:
    model_server.answer(Text("And then"), stop_reason="max_tokens")
    with talking() as talk:
        assert talk.say("Tell").end is TurnOutcome.CUT
        assert talk.heard.sentences == [
            "The answer was cut off at the maximum length. Say `go on` to continue, or allow more with --max-tokens."
        ]
        assert talk.say("Go on").end is TurnOutcome.DONE
    assert model_server.refused == []


def test_a_context_that_is_full_is_said_to_be(model_server: ModelServer) -> None:
    model_server.answer(Text("And then"), stop_reason="model_context_window_exceeded")
    with talking() as talk:
        assert talk.say("Tell").end is TurnOutcome.CUT
        assert talk.heard.of(ChatFault)[0].kind is FaultKind.TOO_LARGE
        assert "/clear" in talk.heard.of(ChatFault)[0].sentence


def test_a_server_that_does_not_know_the_memory_tool_is_said_to(model_server: ModelServer) -> None:
    model_server.knows_memory = False
    with talking() as talk:
        fault = _fault(talk)
        assert fault.kind is FaultKind.BAD_REQUEST
        assert "does not support the memory tool" in fault.sentence


def test_thinking_that_the_server_does_not_take_back_is_left_out_from_then_on(model_server: ModelServer) -> None:
    model_server.answer(Thinking("Hm."), Text("Yes."))
    with talking() as talk:
        talk.say("Is it?")
        model_server._signatures.clear()
        assert talk.say("Sure?").end is TurnOutcome.DONE
        assert "rejected its earlier thinking" in talk.heard.sentences[0]
        assert [block["type"] for block in model_server.last.messages[1]["content"]] == ["text"]


def test_the_message_of_a_turn_that_failed_can_be_sent_again(model_server: ModelServer) -> None:
    model_server.refuse(400, "invalid_request_error", "no")
    with talking() as talk:
        _fault(talk)
        talk.heard.next(TurnEnded)
        talk.chat.retry()
        assert talk.heard.next(TurnEnded).end is TurnOutcome.DONE
        assert [message["content"][0]["text"] for message in model_server.last.messages] == ["Hello"]
    assert model_server.refused == []


def test_a_pause_of_the_server_goes_on_by_itself(model_server: ModelServer) -> None:
    model_server.answer(Text("Wait"), Raw({"type": "something_new", "x": [1]}), stop_reason="pause_turn")
    model_server.answer(Text(" for it."))
    with talking() as talk:
        assert talk.say("Tell").end is TurnOutcome.DONE
        assert talk.heard.text == "Wait for it."
        assert [message["role"] for message in model_server.last.messages] == ["user", "assistant"]
        assert talk.say("Thanks").end is TurnOutcome.DONE
        assert [block["text"] for block in model_server.last.messages[1]["content"]] == ["Wait", " for it."]
    assert model_server.refused == []


def test_an_answer_without_anything_in_it_ends_the_turn(model_server: ModelServer) -> None:
    model_server.answer()
    model_server.answer(Text("  \n"))
    with talking() as talk:
        assert talk.say("One").end is TurnOutcome.DONE
        assert talk.say("Two").end is TurnOutcome.DONE
        assert talk.say("Three").end is TurnOutcome.DONE
    assert model_server.refused == []


# The memory, and us


def test_a_memory_that_is_closed_is_said_to_be(model_server: ModelServer) -> None:
    model_server.answer(Call(CREATE))
    memory = memtui.open_in_memory()
    memory.close()
    with talking(memory) as talk:
        fault = _fault(talk)
        assert fault.kind is FaultKind.MEMORY
        assert "The memory is closed." in fault.sentence
        assert talk.heard.next(TurnEnded).end is TurnOutcome.FAULT
        assert talk.say("Again").end is TurnOutcome.DONE
    assert model_server.refused == []


def test_a_bug_is_called_one_and_the_next_message_works(model_server: ModelServer) -> None:
    model_server.answer(Call(CREATE))
    with talking() as talk:
        broken = threading.Event()
        begin = talk.chat._state.gate.begin

        def fails(*args: Any, **values: Any) -> Any:
            if not broken.is_set():
                broken.set()
                raise LookupError("oops")
            return begin(*args, **values)

        talk.chat._state.gate.begin = fails  # type: ignore[method-assign]
        fault = _fault(talk)
        assert fault.kind is FaultKind.BUG
        assert fault.sentence.startswith("memtui stopped this turn because of a bug (LookupError: oops).")
        talk.heard.next(TurnEnded)
        assert "not known whether this was done" in talk.heard.of(CallEnded)[0].text
        assert talk.say("Again").end is TurnOutcome.DONE
    assert model_server.refused == []


@pytest.mark.usefixtures("model_server")
def test_a_listener_that_fails_does_not_end_the_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr("sys.excepthook", lambda *_: seen.append(_))
    with talking() as talk:
        told = talk.chat._listener

        def fails(event: Any) -> None:
            told(event)
            if isinstance(event, TextDelta):
                raise ValueError("the screen is gone")

        talk.chat._listener = fails
        assert talk.say("Hello").end is TurnOutcome.DONE
        assert len(seen) == 1


def test_messages_that_wait_behind_a_fault_are_held_and_go_after_the_one_that_is_sent_again(
    model_server: ModelServer,
) -> None:
    go_on = threading.Event()
    model_server.answer(Text(""), Wait(go_on), Failure("invalid_request_error", "no"))
    with talking() as talk:
        talk.chat.send(Prompt("one"))
        model_server.wait_for(1)
        talk.chat.send(Prompt("two"))
        go_on.set()
        talk.heard.next(ChatFault)
        talk.heard.next(TurnEnded)
        assert talk.chat.queued == (Prompt("two"),)
        assert not talk.chat.is_busy
        talk.say("one again")
        talk.heard.next(TurnEnded)
        assert model_server.last.last_text == "two"
        assert model_server.requests[-2].last_text.endswith("one again")
    assert model_server.refused == []


def test_a_message_that_is_sent_once_a_fault_was_seen_goes_before_those_that_wait_and_is_never_held(
    model_server: ModelServer,
) -> None:
    go_on = threading.Event()
    model_server.answer(Text(""), Wait(go_on), Failure("invalid_request_error", "no"))
    with talking() as talk:
        told = talk.heard

        def goes_on(event: Any) -> None:
            told(event)
            if isinstance(event, ChatFault):  # its turn is not over yet
                talk.chat.send(Prompt("go on"))
                talk.chat.send(Prompt("and on"))

        talk.chat._listener = goes_on
        talk.chat.send(Prompt("one"))
        model_server.wait_for(1)
        talk.chat.send(Prompt("two"))
        go_on.set()
        assert [talk.heard.next(TurnEnded).end for _ in range(4)] == [TurnOutcome.FAULT, *[TurnOutcome.DONE] * 3]
        texts = [request.last_text for request in model_server.requests]
        assert [text.split("\n")[-1] for text in texts] == ["one", "go on", "two", "and on"]
    assert model_server.refused == []


def test_what_is_sent_behind_a_fault_goes_on_though_the_conversation_is_cleared_meanwhile(
    model_server: ModelServer,
) -> None:
    model_server.answer(Text(""), Failure("invalid_request_error", "no"))
    with talking() as talk:
        told = talk.heard

        def clears(event: Any) -> None:
            told(event)
            if isinstance(event, ChatFault):
                talk.chat.send(Prompt("go on"))
                talk.chat.clear()
                talk.chat.send(Prompt("anew"))

        talk.chat._listener = clears
        assert talk.say("one").end is TurnOutcome.FAULT
        assert [talk.heard.next(TurnEnded).end for _ in range(2)] == [TurnOutcome.DONE] * 2
        assert [each.last_text.split("\n")[-1] for each in model_server.requests] == ["one", "anew", "go on"]
    assert model_server.refused == []


# The same from the point of view of somebody else's server


def test_against_another_server_faults_are_weathered(llmock: Any) -> None:
    llmock.tool_mode("off")
    with talking(retries=RetryPolicy(times=3, first=0.2)) as talk:
        talk.heard.next(Ready)
        llmock.rate_limit(times=1, retry_after=0.3)
        llmock.fail(529, provider="anthropic")
        llmock.fail(500, provider="anthropic")
        assert talk.say("Hello").end is TurnOutcome.DONE
        assert len(talk.heard.of(RetryScheduled)) == 3
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("fault", ["disconnect", "truncate", "corrupt"])
def test_against_another_server_broken_streams_are_noticed(llmock: Any, fault: str) -> None:
    llmock.tool_mode("off")
    with talking() as talk:
        talk.heard.next(Ready)
        llmock.reply("one two three four five six seven eight nine ten")
        getattr(llmock, fault)(after_chunks=4)
        fault_told = _fault(talk)
        assert fault_told.kind is FaultKind.CUT_STREAM
        assert talk.heard.next(TurnEnded).end in (TurnOutcome.FAULT, TurnOutcome.CUT)
        assert talk.say("Go on").end is TurnOutcome.DONE


@pytest.mark.parametrize("status", [401, 403, 404, 413])
def test_against_another_server_what_does_not_pass_is_not_tried_again(llmock: Any, status: int) -> None:
    llmock.tool_mode("off")
    with talking() as talk:
        talk.heard.next(Ready)
        llmock.fail(status, provider="anthropic")
        assert _fault(talk).prompt == Prompt("Hello")
        assert talk.heard.next(TurnEnded).end is TurnOutcome.FAULT
        assert talk.say("Again").end is TurnOutcome.DONE
    llmock.assert_resilient()


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
def test_against_another_server_broken_calls_are_answered(llmock: Any, kind: str) -> None:
    with talking(policy=ApprovalPolicy.READ_ONLY) as talk:
        talk.heard.next(Ready)
        llmock.call_tool("memory", {"command": "view", "path": "/memories"}).break_tool_call(kind)
        ended = talk.say("Look")
        assert (ended.end, ended.calls, ended.refused) == (TurnOutcome.DONE, 1, 1)


DEEP = '{"command":' + "[" * 700 + "]" * 700 + "}"


def test_tool_input_that_is_nested_beyond_measure_is_refused_and_what_was_said_is_kept(
    model_server: ModelServer,
) -> None:
    model_server.answer(Text("Look."), Call(DEEP))
    model_server.answer(Text("Well."))
    with talking() as talk:
        assert talk.say("Hello").end is TurnOutcome.DONE
        assert talk.heard.of(ChatFault) == []
        assert talk.heard.of(CallEnded)[0].is_error
        model_server.answer(Text("Yes."))
        talk.say("Go on")
    assert "Look." in json.dumps(model_server.last.messages)


def test_tool_input_that_is_nested_beyond_measure_does_not_end_the_chat_that_is_stopped(
    model_server: ModelServer,
) -> None:
    model_server.answer(Text("Look."), Call(DEEP), Text("There."), Wait(threading.Event()))
    with talking() as talk:
        talk.chat.send(Prompt("Hello"))
        talk.heard.next(TextDelta, lambda event: "There" in event.text)
        talk.chat.stop()
        assert talk.heard.next(TurnEnded).end is TurnOutcome.STOPPED
        model_server.answer(Text("Yes."))
        talk.say("Go on")
    assert "Look." in json.dumps(model_server.last.messages)


def test_ids_and_names_that_the_api_does_not_take_back_are_sent_as_it_does(model_server: ModelServer) -> None:
    model_server.answer(Call({"command": "view", "path": "/memories"}, id="call:1.a"), Call({}, name="b\u00e4d name!"))
    model_server.answer(Text("Well."))
    with talking() as talk:
        assert talk.say("Hello").end is TurnOutcome.DONE
        assert [event.name for event in talk.heard.of(CallEnded)] == ["memory", "b\u00e4d name!"]
    blocks = [block for block in model_server.last.messages[1]["content"] if block["type"] == "tool_use"]
    assert blocks[0]["id"] == "call_1_a"
    assert [block["name"] for block in blocks] == ["memory", "b_d_name_"]


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_a_key_with_a_line_end_is_said_and_never_shown_or_kept(
    name: str,
    model_server: ModelServer,  # noqa: ARG001 - where requests would go
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv(name, "a-token-of-a-gateway\n")
    with talking(session=ChatSession.create(tmp_path, folder="memories")) as talk:
        talk.chat.send(Prompt("Hello"))
        fault = talk.heard.next(ChatFault)
    assert fault.kind is FaultKind.WRONG_KEY
    assert fault.sentence.startswith(f"The API key from {name} has characters that cannot be sent")
    kept = "".join(path.read_text() for path in tmp_path.glob("*.jsonl"))
    assert "gateway" not in fault.sentence + kept


def test_a_gateway_that_says_odd_things_beside_the_answer_does_not_break_it(model_server: ModelServer) -> None:
    odd = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
           "usage": {"output_tokens": "x", "iterations": "\ud800"},
           "context_management": {"applied_edits": 3}}  # fmt: skip
    model_server.answer(Text("Well."), Raw(odd))
    with talking() as talk:
        assert talk.say("Hello").end is TurnOutcome.DONE
        assert talk.heard.of(ChatFault) == []
        assert talk.heard.text == "Well."


def test_a_turn_that_fails_by_a_bug_of_ours_ends_and_the_conversation_goes_on(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("as nobody thought of")

    with talking() as talk:
        model_server.answer(Text("One."))
        with monkeypatch.context() as patched:
            patched.setattr(TurnRecord, "finish", fail)
            assert talk.say("Hello").end is TurnOutcome.FAULT
        assert talk.heard.of(ChatFault)[-1].kind is FaultKind.BUG
        model_server.answer(Text("Two."))
        assert talk.say("Go on").end is TurnOutcome.DONE
