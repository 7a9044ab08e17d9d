"""From the conversation's thread to the screen: a batch a frame, however fast it is told.

A model writes five hundred tokens a second. A message for each of them would have the screen do nothing else.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace

from textual.message import Message

from memtui.agents.chat.events import CallStreaming, ChatEvent, TextDelta, ThinkingDelta, UsageChanged


class SomethingSaid(Message):
    """The conversation has told something; `Pipe.take` brings it."""

    def can_replace(self, message: Message) -> bool:
        """One is enough."""
        return isinstance(message, SomethingSaid)


class Pipe:
    """Holds what was told until the screen takes it.

    Args:
        post: Takes a message, from any thread; is not called again before the last one was answered by `take`.
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        self._post = post
        self._lock = threading.Lock()
        self._events: list[ChatEvent] = []
        self._posted = False

    def put(self, event: ChatEvent) -> None:
        """Tell something, from any thread."""
        with self._lock:
            self._events.append(event)
            if self._posted:
                return
            self._posted = True
        self._post(SomethingSaid())

    def take(self) -> list[ChatEvent]:
        """What was told since the last time, in order, pieces of one text put together."""
        with self._lock:
            events, self._events, self._posted = self._events, [], False
        return joined(events)


def joined(events: Iterable[ChatEvent]) -> list[ChatEvent]:
    """The same story in fewer words: pieces of one text become one, and of a growing value the last stays."""
    told: list[ChatEvent] = []
    for event in events:
        last = told[-1] if told else None
        match last, event:
            case TextDelta(), TextDelta() if (last.turn, last.block) == (event.turn, event.block):
                told[-1] = replace(last, text=last.text + event.text)
            case ThinkingDelta(), ThinkingDelta() if last.turn == event.turn:
                told[-1] = replace(last, text=last.text + event.text)
            case CallStreaming(), CallStreaming() if last.call_id == event.call_id:
                told[-1] = event
            case UsageChanged(), UsageChanged():
                told[-1] = event
            case _:
                told.append(event)
    return told
