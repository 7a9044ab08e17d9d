"""A conversation under test, whose events are collected and can be waited for."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import memtui
from memtui.agents.chat.conversation import ChatController
from memtui.agents.chat.events import (
    ChatEvent,
    ChatFault,
    ChatOptions,
    Notice,
    Prompt,
    RetryScheduled,
    TextDelta,
    TurnEnded,
)
from memtui.agents.chat.request import RetryPolicy
from memtui.agents.chat.sessions.store import ChatSession
from memtui.core.approvals import ApprovalPolicy

T = TypeVar("T")

SECONDS = 60.0
HASTE = RetryPolicy(times=3, first=0.01, longest=60, silence=30)
"""As patient as a test is."""


class Listener:
    """Takes what a conversation tells, and gives it out in order."""

    def __init__(self) -> None:
        self.events: list[ChatEvent] = []
        self._given = 0
        self._changed = threading.Condition()

    def __call__(self, event: ChatEvent) -> None:
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def next(self, kind: type[T], where: Callable[[T], bool] = lambda _: True) -> T:
        """The next event of a kind after the one that was given last, waited for."""
        found: list[T] = []

        def is_there() -> bool:
            for index in range(self._given, len(self.events)):
                event = self.events[index]
                if isinstance(event, kind) and where(event):
                    self._given = index + 1
                    found.append(event)
                    return True
            return False

        with self._changed:
            if not self._changed.wait_for(is_there, SECONDS):
                raise AssertionError(f"no {kind.__name__} came after {self.events[self._given :]}")
        return found[0]

    def of(self, kind: type[T]) -> list[T]:
        """All events of a kind until now."""
        with self._changed:
            return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        """All that the model wrote."""
        return "".join(event.text for event in self.of(TextDelta))

    @property
    def sentences(self) -> list[str]:
        """All that was said to the person."""
        return [event.sentence for event in self.events if isinstance(event, Notice | ChatFault | RetryScheduled)]


class Talking:
    """A conversation, who listens to it, and the memory that it is about."""

    def __init__(self, memory: memtui.Engine, **values: Any) -> None:
        options = {name: value for name, value in values.items() if name not in ("session", "client", "retries", "now")}
        options.setdefault("policy", ApprovalPolicy.ALLOW)
        self.memory = memory
        self.heard = Listener()
        self.chat = ChatController(
            memory,
            ChatOptions(**options),
            self.heard,
            session=values.get("session") or ChatSession.create(Path("unused"), folder="", kept=False),
            client=values.get("client"),
            retries=values.get("retries", HASTE),
            now=values.get("now"),
        )

    def say(self, text: str, *attachments: Any) -> TurnEnded:
        """Say something, and wait until the turn is over."""
        self.chat.send(Prompt(text, attachments))
        return self.heard.next(TurnEnded)

    def files(self) -> dict[str, str]:
        """What the memory holds."""
        found = {}
        for entry in self.memory.iter_names():
            data = self.memory.inspect_path(entry.path).data
            if data is not None:
                found[entry.path] = data.decode()
        return found


@contextmanager
def talking(memory: memtui.Engine | None = None, **values: Any) -> Iterator[Talking]:
    """A conversation that has begun."""
    own = memory is None
    memory = memory or memtui.open_in_memory()
    held = Talking(memory, **values)
    held.chat.start()
    try:
        yield held
    finally:
        held.chat.close()
        thread = held.chat._thread
        assert thread is None or not thread.is_alive(), "the conversation's thread did not end"
        if own:
            memory.close()
