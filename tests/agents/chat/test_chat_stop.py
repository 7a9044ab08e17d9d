"""A turn can be stopped at any moment: messages are kept, writes are told as written, and the chat goes on."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

import memtui
from memtui.agents.chat.events import (
    ApprovalNeeded,
    ApprovalResolved,
    CallDelta,
    CallEnded,
    CallStarted,
    ChatEvent,
    Notice,
    Prompt,
    QueueChanged,
    Ready,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnOutcome,
    TurnStarted,
)
from memtui.agents.chat.request import RetryPolicy
from memtui.core.approvals import Allow, ApprovalPolicy, Deny, Edit, Stop, Verdict
from tests.agents.chat.listener import Talking, talking
from tests.agents.model_server import (
    Answer,
    Call,
    Compaction,
    Cut,
    Drop,
    Failure,
    Junk,
    ModelServer,
    Redacted,
    Request,
    Step,
    Text,
    Thinking,
    Wait,
)
from tests.sampling import many

CREATE = {"command": "create", "path": "/memories/a.md", "file_text": "one\n"}


def _stopped(talk: Talking) -> TurnEnded:
    talk.chat.stop()
    ended = talk.heard.next(TurnEnded)
    assert ended.end is TurnOutcome.STOPPED
    return ended


def _goes_on(talk: Talking, server: ModelServer) -> list[dict[str, Any]]:
    """Say something more; the history that goes with it."""
    assert talk.say("Go on").end is TurnOutcome.DONE
    assert server.refused == []
    return server.last.messages


def test_while_the_server_does_not_answer(model_server: ModelServer) -> None:
    held = threading.Event()

    def late(_: Request) -> Answer:
        held.wait(20)
        return Answer()

    model_server.answer_with(late)
    with talking() as talk:
        talk.chat.send(Prompt("Hello"))
        model_server.wait_for(1)
        _stopped(talk)
        held.set()
        messages = _goes_on(talk, model_server)
        assert [block["text"] for block in messages[0]["content"]] == ["Hello", "Go on"]


def test_before_there_is_a_connection(model_server: ModelServer) -> None:
    model_server.may_list.clear()
    with talking() as talk:
        talk.chat.send(Prompt("Hello"))
        assert model_server.listed.wait(10)
        talk.chat.stop()
        assert talk.heard.next(Notice).sentence.startswith("Stopped while connecting.")
        assert talk.chat.queued == (Prompt("Hello"),)
        assert not talk.chat.is_busy
        model_server.listed.clear()
        talk.chat.send(Prompt("First"))
        assert model_server.listed.wait(10)
        talk.chat.stop()
        assert talk.heard.next(Notice).sentence == "Stopped before your message was sent. It waits in the queue."
        assert talk.chat.queued == (Prompt("First"), Prompt("Hello"))
        model_server.may_list.set()
        assert talk.chat.remove_queued(1) == Prompt("Hello")
        assert talk.chat.remove_queued(0) == Prompt("First")
        assert talk.say("Now").end is TurnOutcome.DONE
    assert model_server.refused == []


def test_while_the_model_thinks(model_server: ModelServer) -> None:
    model_server.answer(Thinking("Let me see"), Thinking("and see"), Wait(threading.Event()))
    with talking() as talk:
        talk.chat.send(Prompt("Hello"))
        talk.heard.next(ThinkingDelta)
        model_server.reached.wait(10)
        _stopped(talk)
        assert model_server.gone.wait(10)
        _goes_on(talk, model_server)


def test_while_the_model_writes_what_it_wrote_is_kept(model_server: ModelServer) -> None:
    model_server.answer(Text("Half of it"), Wait(threading.Event()), Text(" and the rest", new=False))
    with talking() as talk:
        talk.chat.send(Prompt("Hello"))
        talk.heard.next(TextDelta)
        model_server.reached.wait(10)
        _stopped(talk)
        assert _goes_on(talk, model_server)[1]["content"] == [{"type": "text", "text": "Half of it"}]
        assert talk.heard.text.startswith("Half of it")


def test_while_a_call_comes_in_it_is_not_run_and_answered(model_server: ModelServer) -> None:
    model_server.answer(
        Text("I keep it."), Call('{"command": "create", "path": "/mem', whole=False), Wait(threading.Event())
    )
    with talking() as talk:
        talk.chat.send(Prompt("Remember"))
        talk.heard.next(CallDelta)
        model_server.reached.wait(10)
        ended = _stopped(talk)
        assert (ended.calls, ended.memory_changes) == (0, ())
        assert talk.heard.of(CallEnded)[0].text.startswith("Error: not run: the user stopped before this call was")
        messages = _goes_on(talk, model_server)
        assert [block["type"] for block in messages[2]["content"]] == ["tool_result", "text"]


def test_while_the_person_is_asked_nothing_is_written_and_the_journal_says_so(model_server: ModelServer) -> None:
    model_server.answer(Call(CREATE), Call({**CREATE, "path": "/memories/b.md"}))
    with talking(policy=ApprovalPolicy.ASK) as talk:
        talk.chat.send(Prompt("Remember"))
        asked = talk.heard.next(ApprovalNeeded)
        talk.chat.stop()
        assert talk.heard.next(ApprovalResolved).number == asked.number
        assert talk.heard.next(TurnEnded).end is TurnOutcome.STOPPED
        assert talk.files() == {}
        first, second = talk.heard.of(CallEnded)
        assert first.text == second.text.replace("b.md", "a.md")
        assert first.text.endswith("the user stopped before it was done. Nothing was changed")
        assert [event.note for event in talk.memory.events()] == ["stopped", "stopped"]
        assert len(talk.heard.of(ApprovalNeeded)) == 1
        talk.chat.answer(asked.number, Allow())  # too late: it is settled
        _goes_on(talk, model_server)
        assert talk.files() == {}


def test_a_write_that_is_under_way_is_finished_and_told_as_done(model_server: ModelServer) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(memtui.Engine):
        def execute(self, *args: Any, **values: Any) -> memtui.Answer:
            begun.set()
            assert go_on.wait(20)
            return super().execute(*args, **values)

    with memtui.open_in_memory() as memory:
        slow = Slow(memory.store, memory.journal)
        model_server.answer(Call(CREATE), Call({**CREATE, "path": "/memories/b.md"}))
        with talking(slow) as talk:
            talk.chat.send(Prompt("Remember"))
            assert begun.wait(10)
            talk.chat.stop()
            talk.chat.stop()
            go_on.set()
            ended = talk.heard.next(TurnEnded)
            assert ended.end is TurnOutcome.STOPPED
            assert [each.path for each in ended.memory_changes] == ["a.md"]
            first, second = talk.heard.of(CallEnded)
            assert (first.is_error, second.is_error) == (False, True)
            results = _goes_on(talk, model_server)[2]["content"]
            assert results[0]["content"] == "File created successfully at: /memories/a.md"
            assert talk.files() == {"a.md": "one\n"}


def test_what_waits_is_sent_after_a_stop(model_server: ModelServer) -> None:
    model_server.answer(Text("Well"), Wait(threading.Event()))
    with talking() as talk:
        talk.chat.send(Prompt("one"))
        talk.heard.next(TextDelta)
        talk.chat.send(Prompt("two"))
        talk.heard.next(QueueChanged, lambda event: bool(event.prompts))
        talk.chat.stop()
        assert talk.heard.next(TurnEnded).end is TurnOutcome.STOPPED
        assert talk.heard.next(TurnEnded).end is TurnOutcome.DONE
        assert talk.heard.of(TurnStarted)[-1].prompt == Prompt("two")


@pytest.mark.usefixtures("model_server")
def test_a_stop_where_nothing_is_under_way_stops_nothing() -> None:
    with talking() as talk:
        talk.chat.stop()
        assert talk.say("Hello").end is TurnOutcome.DONE
        talk.chat.stop()
        assert talk.say("Hello").end is TurnOutcome.DONE


def test_going_back_while_the_model_answers_stops_it_first(model_server: ModelServer) -> None:
    for act in ("retry", "edit_last", "clear"):
        model_server.answer(Text("Well"), Wait(threading.Event()))
        with talking() as talk:
            talk.chat.send(Prompt("one"))
            talk.heard.next(TextDelta)
            getattr(talk.chat, act)()
            assert talk.heard.next(TurnEnded).end is TurnOutcome.STOPPED
            if act == "retry":
                assert talk.heard.next(TurnEnded).end is TurnOutcome.DONE
            assert talk.say("two").end is TurnOutcome.DONE
            said = [message["role"] for message in model_server.last.messages]
            assert said == (["user", "assistant", "user"] if act == "retry" else ["user"])
    assert model_server.refused == []


# Ending it


def _moments() -> list[tuple[str, tuple[Step, ...], type[ChatEvent] | None]]:
    return [
        ("before the client is there", (), None),
        ("in the middle of a text", (Text("Well"), Wait(threading.Event())), TextDelta),
        ("in the middle of a call", (Call('{"command', whole=False), Wait(threading.Event())), CallDelta),
        ("while a question is open", (Call(CREATE),), ApprovalNeeded),
    ]


@pytest.mark.parametrize(("moment", "steps", "kind"), _moments(), ids=[each[0] for each in _moments()])
def test_a_chat_can_be_closed_at_any_moment_and_at_once(
    model_server: ModelServer, moment: str, steps: tuple[Step, ...], kind: type[ChatEvent] | None
) -> None:
    model_server.answer(*steps)
    with talking(policy=ApprovalPolicy.ASK) as talk:
        talk.chat.send(Prompt("Hello"))
        if kind is not None:
            talk.heard.next(kind)
        talk.chat.close()
        talk.chat.close()
        if kind is not None:
            assert talk.heard.next(TurnEnded).end is TurnOutcome.STOPPED
        talk.chat.send(Prompt("too late"))
        assert talk.files() == {}, moment


def test_a_chat_that_never_began_can_be_closed() -> None:
    with memtui.open_in_memory() as memory:
        talk = Talking(memory)
        talk.chat.close()
        talk.chat.start()
        assert talk.chat._thread is None


# Whatever happens

VIEW = {"command": "view", "path": "/memories"}
steps = st.one_of(
    st.builds(Text, st.sampled_from(["", " ", "Well.", "a longer text that comes in several pieces"])),
    st.builds(Thinking, st.sampled_from(["", "Hm.", "thinking at some length about it"])),
    st.builds(Redacted),
    st.builds(Compaction, st.sampled_from(["all of it"])),
    st.builds(
        Call,
        st.sampled_from([CREATE, VIEW, {"command": "delete", "path": "/memories/a.md"}, {}, "", "{bad", '{"a', "[1]"]),
        st.sampled_from(["memory", "memory", "memory", "search"]),
        whole=st.sampled_from([True, True, True, False]),
    ),
    st.sampled_from([Cut(), Drop(), Junk("{"), Failure("overloaded_error", "Overloaded")]),
)
reasons = st.sampled_from([None, None, None, "max_tokens", "refusal", "pause_turn", "end_turn", "tool_use", "odd"])
answers = st.tuples(st.lists(steps, max_size=4), reasons)
verdicts = st.sampled_from([Allow(), Deny(), Deny("no"), Stop(), Edit("mine\n"), Allow(always="/")])
acts = st.sampled_from([None, None, None, "retry", "edit_last", "undo_turn", "clear"])
turns = st.tuples(st.lists(answers, max_size=3), st.none() | st.integers(1, 12), acts)


@settings(
    max_examples=many(30, 10), phases=(Phase.explicit, Phase.reuse, Phase.generate)
)  # shrinking would take an hour
@given(st.lists(turns, min_size=1, max_size=4), st.lists(verdicts, max_size=6))
@example([([([Text("a"), Call(CREATE), Call(VIEW)], None)], 7, None)], [])
@example([([([Thinking("Hm."), Call(CREATE)], "end_turn"), ([Drop()], None)], None, "retry")], [Allow()])
def test_after_whatever_happens_the_history_is_one_that_the_api_takes(
    script: list[tuple[list[tuple[list[Step], str | None]], int | None, str | None]], said: list[Verdict]
) -> None:
    with ModelServer() as server, pytest.MonkeyPatch.context() as patched:
        server.point_sdk_at_it(patched)
        with talking(policy=ApprovalPolicy.ASK, retries=RetryPolicy(times=1, first=0.001)) as talk:
            talk.heard.next(Ready)
            told = _Interfering(talk, list(said))
            talk.chat._listener = told
            for parts, stop_at, act in script:
                for content, reason in parts:
                    server.answer(*content, stop_reason=reason)
                told.stop_at = stop_at
                talk.say("Hello")
                told.stop_at = None
                server._script.clear()
                if act is not None:
                    getattr(talk.chat, act)()
                    _come_to_rest(talk)
            assert talk.say("The last").end is TurnOutcome.DONE
            assert server.refused == []
            calls = {event.call_id for event in talk.heard.of(CallDelta)}
            assert calls <= {event.call_id for event in talk.heard.of(CallEnded)}
            assert {event.call_id for event in talk.heard.of(CallStarted)} <= calls


def _come_to_rest(talk: Talking) -> None:
    """Wait until all that was asked for is done, and forget what was told of it."""

    def is_quiet() -> bool:
        return not talk.chat.is_busy and len(talk.heard.of(TurnStarted)) == len(talk.heard.of(TurnEnded))

    done = threading.Event()
    talk.chat._schedule_action(done.set)
    assert done.wait(10)
    with talk.heard._changed:
        assert talk.heard._changed.wait_for(is_quiet, 10)
        talk.heard._given = len(talk.heard.events)


class _Interfering:
    """A listener that stops the turn after so many events, and answers questions at once."""

    def __init__(self, talk: Talking, said: list[Verdict]) -> None:
        self._talk = talk
        self._said = said
        self._told: Callable[[ChatEvent], None] = talk.chat._listener
        self._seen = 0
        self.stop_at: int | None = None

    def __call__(self, event: ChatEvent) -> None:
        self._told(event)
        if isinstance(event, TurnStarted):
            self._seen = 0
        self._seen += 1
        if isinstance(event, ApprovalNeeded):
            self._talk.chat.answer(event.number, self._said.pop() if self._said else Allow())
        if self._seen == self.stop_at:
            self._talk.chat.stop()
