"""What the conversation tells comes to the screen a batch a frame, nothing of it lost, and the screen stays live."""

import threading

from textual.message import Message

from memtui.agents.chat.events import (
    CallDelta,
    Notice,
    Prompt,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    TurnOutcome,
    TurnStarted,
    Usage,
    UsageChanged,
)
from memtui.ui.chat_state import ChatEventQueue, merge_chat_events
from tests.ui.chat.conftest import Chats


def test_pieces_of_one_text_become_one_and_others_stay_apart() -> None:
    story = [
        TextDelta(1, 0, "a"), TextDelta(1, 0, "b"), TextDelta(1, 1, "c"), ThinkingDelta(1, "d"), ThinkingDelta(1, "e"),
        ThinkingDelta(2, "f"), Notice("x"), Notice("x"),
        CallDelta(1, "one", "memory", {"path": "/m"}), CallDelta(1, "one", "memory", {"path": "/memories"}),
        CallDelta(1, "two", "memory", {}),
        UsageChanged(Usage(1), Usage(1)), UsageChanged(Usage(2), Usage(2)),
    ]  # fmt: skip
    assert merge_chat_events(story) == [
        TextDelta(1, 0, "ab"), TextDelta(1, 1, "c"), ThinkingDelta(1, "de"), ThinkingDelta(2, "f"), Notice("x"),
        Notice("x"), CallDelta(1, "one", "memory", {"path": "/memories"}), CallDelta(1, "two", "memory", {}),
        UsageChanged(Usage(2), Usage(2)),
    ]  # fmt: skip


def test_one_message_is_posted_until_the_news_are_taken() -> None:
    posted: list[Message] = []
    pipe = ChatEventQueue(posted.append)
    for number in range(100):
        pipe.put(Notice(str(number)))
    assert len(posted) == 1
    assert len(pipe.take()) == 100
    pipe.put(Notice("more"))
    assert len(posted) == 2
    assert pipe.take() == [Notice("more")]
    assert pipe.take() == []


def test_many_threads_lose_nothing() -> None:
    pipe = ChatEventQueue(lambda _: None)
    taken: list[object] = []
    threads = [
        threading.Thread(target=lambda: [pipe.put(Notice(str(number))) for number in range(500)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        taken += pipe.take()
    taken += pipe.take()
    assert len(taken) == 2_000


async def test_the_box_takes_keys_while_tokens_pour_in(chatting: Chats) -> None:
    async with chatting() as chat:
        pipe, words = chat.screen.conversation_controller._events, [f"w{number} " for number in range(20_000)]
        typed = threading.Event()

        def pour() -> None:
            pipe.put(TurnStarted(1, Prompt("go")))
            for number, word in enumerate(words):
                if number == 5_000:
                    typed.wait(10)  # the person types in the middle of it
                pipe.put(TextDelta(1, 0, word))
            pipe.put(TurnEnded(1, TurnOutcome.DONE, 1.0, 0, 0, (), Usage()))

        thread = threading.Thread(target=pour)
        thread.start()
        await chat.type("still here")
        await chat.wait_for(lambda: chat.written == "still here")
        typed.set()
        await chat.ended(1)
        thread.join()
        assert "".join(words).strip() in chat.said
