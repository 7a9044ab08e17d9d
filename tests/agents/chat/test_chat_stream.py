"""Deltas are emitted at a pace that a screen can follow, and cost no more the longer they get."""

import asyncio
import gc
import json
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memtui.agents.chat.events import CallDelta, ChatEvent, Notice, TextDelta, ThinkingDelta
from memtui.agents.chat.sessions.store import ChatSession
from memtui.agents.chat.stream import AnswerStream, StreamPacer, parse_partial_json
from tests.agents.chat.listener import talking
from tests.agents.model_server import Answer, Call, ModelServer, Request, Text

CHANGES = {"command": "create", "path": "/memories/a.md", "file_text": "one\n"}


def _event(kind: str, **values: Any) -> Any:
    return SimpleNamespace(type=kind, **values)


def _delta(index: int, kind: str, **values: str) -> Any:
    return _event("content_block_delta", index=index, delta=_event(kind, **values))


def _start(index: int, **block: object) -> Any:
    return _event("content_block_start", index=index, content_block=block)


async def test_deltas_are_put_together_and_come_in_order() -> None:
    told: list[ChatEvent] = []
    pacer = StreamPacer(told.append, parse_partial_json, every=60)
    pacer.add_text(1, 0, "a")  # the first is told at once
    for piece in "bcd":
        pacer.add_text(1, 0, piece)
    pacer.add_thinking(1, "hm")
    pacer.add_text(1, 1, "e")
    pacer.emit(Notice("something else"))
    assert told == [
        TextDelta(1, 0, "a"),
        TextDelta(1, 0, "bcd"),
        ThinkingDelta(1, "hm"),
        TextDelta(1, 1, "e"),
        Notice("something else"),
    ]


async def test_what_waits_is_told_after_a_moment() -> None:
    told: list[ChatEvent] = []
    pacer = StreamPacer(told.append, parse_partial_json, every=0.01)
    pacer.add_text(1, 0, "a")
    pacer.add_text(1, 0, "b")
    assert told == [TextDelta(1, 0, "a")]
    for _ in range(1_000):
        if len(told) == 2:
            break
        await asyncio.sleep(0.001)
    assert told[1] == TextDelta(1, 0, "b")


class Clock:
    """A clock for the pacer and for the loop it runs in, which moves when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        self.monotonic = self.perf_counter = lambda: self.now
        monkeypatch.setattr("memtui.agents.chat.stream.time", self)
        monkeypatch.setattr(asyncio.get_running_loop(), "time", self.monotonic)


async def test_a_flood_is_told_at_most_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, told = Clock(monkeypatch), list[ChatEvent]()
    pacer = StreamPacer(told.append, parse_partial_json)
    incoming = AnswerStream(pacer, 1)
    incoming.handle_event(_start(0, type="text", text=""))
    for number in range(20_000):  # two thousand in a second
        incoming.handle_event(_delta(0, "text_delta", text="word "))
        clock.now += 0.0005
        if number % 10 == 0:
            await asyncio.sleep(0)
    pacer.flush()
    assert 10 * 20 < len(told) <= 10 * 30 + 2
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == "word " * 20_000


async def test_half_a_call_is_read_seldom_enough_when_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, reads = Clock(monkeypatch), list[float]()

    def slow(_: str) -> dict[str, object]:
        reads.append(clock.now)
        clock.now += 0.01
        return {}

    pacer = StreamPacer(lambda _: None, slow, every=0.001)
    incoming = AnswerStream(pacer, 1)
    incoming.handle_event(_start(0, type="tool_use", id="toolu_1", name="memory", input={}))
    for _ in range(2_000):
        incoming.handle_event(_delta(0, "input_json_delta", partial_json="x"))
        clock.now += 0.001
        await asyncio.sleep(0)
    assert 5 < len(reads) <= (clock.now - reads[0]) / 0.01 * 0.05 + 1  # a twentieth of the time, at 10 ms each


async def test_the_fields_of_a_call_are_told_as_far_as_they_are_there() -> None:
    told: list[ChatEvent] = []
    pacer = StreamPacer(told.append, parse_partial_json, every=0)
    incoming = AnswerStream(pacer, 1)
    incoming.handle_event(_start(0, type="tool_use", id="toolu_1", name="memory", input={}))
    for piece in ('{"command": "cre', 'ate", "file_te', 'xt": "a\\nb', "\\ud83d", '\\ude00"}'):
        incoming.handle_event(_delta(0, "input_json_delta", partial_json=piece))
        pacer.flush()
    fields = [event.fields for event in told if isinstance(event, CallDelta)]
    assert fields[:2] == [{}, {"command": "cre"}]
    assert {"command": "create", "file_text": "a\nb"} in fields
    assert fields[-1] == {"command": "create", "file_text": "a\nb😀"}
    incoming.handle_event(_event("content_block_stop", index=0))
    assert incoming.calls[0].input == fields[-1]


async def test_thinking_that_was_not_signed_does_not_go_back() -> None:
    incoming = AnswerStream(StreamPacer(lambda _: None, parse_partial_json), 1)
    incoming.handle_event(_start(0, type="thinking", thinking="", signature=""))
    incoming.handle_event(_delta(0, "thinking_delta", thinking="Hm."))
    assert incoming.content == []
    incoming.handle_event(_delta(0, "signature_delta", signature="signed"))
    assert incoming.content == []
    incoming.handle_event(_event("content_block_stop", index=0))
    assert incoming.content == [{"type": "thinking", "thinking": "Hm.", "signature": "signed"}]


async def test_events_that_make_no_sense_are_passed_over() -> None:
    incoming = AnswerStream(StreamPacer(lambda _: None, parse_partial_json), 1)
    for event in (
        _event("something_new"),
        _delta(7, "text_delta", text="nowhere"),
        _start(0, type="text", text=""),
        _delta(0, "input_json_delta", partial_json="{"),
        _delta(0, "something_new", more="x"),
        _event("content_block_stop", index=9),
        _start(1, type="tool_use", id="", name="memory", input={}),
        _start(2, type="hologram", data="x"),
    ):
        incoming.handle_event(event)
    assert incoming.content == []
    assert incoming.calls == []


def test_a_day_of_chat_stays_flat(model_server: ModelServer, tmp_path: Path) -> None:
    turns, calls = 50, 4
    words = "word " * 200

    def answer(request: Request) -> Answer:
        if request.results:
            return Answer((Text(words, size=50),))
        changes = (Call(json.dumps({**CHANGES, "path": f"/memories/{number}.md"}), size=60) for number in range(calls))
        return Answer((Text("I keep it."), *changes))

    model_server.answer_with(answer)
    sizes: list[int] = []
    counted = 0

    def count(_: ChatEvent) -> None:
        nonlocal counted
        counted += 1

    with talking(session=ChatSession.create(tmp_path, folder="memories")) as talk:
        talk.say("Begin")
        listener = talk.heard

        def listen(event: ChatEvent) -> None:
            count(event)
            with listener._changed:  # nobody looks through them meanwhile
                listener.events.clear()
                listener._given = 0
            listener(event)

        talk.chat._listener = listen
        tracemalloc.start()
        try:
            for turn in range(turns):
                talk.say("Remember")
                talk.chat.clear()  # the history is what may grow; all else must not
                model_server.requests.clear()
                if turn % 10 == 9:
                    gc.collect()
                    sizes.append(tracemalloc.get_traced_memory()[0])
        finally:
            tracemalloc.stop()
        assert counted > 1_000
        assert sizes[-1] - sizes[1] < 300_000  # 30 turns; the history of one turn alone would be that much
