"""Telling what streams in at a pace that a screen can follow: thirty times a second at most, and in order.

A model may write five hundred tokens a second, and the screen shares one interpreter with us. What comes between two
tellings is put together; before anything else is told, what waits is.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from memtui.agents.chat.events import CallStreaming, ChatEvent, TextDelta, ThinkingDelta

EVERY = 1 / 30
"""Seconds between two tellings."""
_SHARE_PARSED = 0.05
"""How much of the time may go into reading half a tool call."""


class Streamed(Protocol):
    """A tool call that comes in."""

    start: dict[str, object]

    @property
    def text(self) -> str:
        """Its input as far as it is here, as JSON."""


class Pacer:
    """Holds back what streams in, for a moment. Used in one thread, where a loop runs.

    Args:
        tell: Told what there is.
        partial: Reads the fields of half an object.
        every: Seconds between two tellings.
    """

    def __init__(
        self,
        tell: Callable[[ChatEvent], None],
        partial: Callable[[str], Mapping[str, object]],
        *,
        every: float = EVERY,
    ) -> None:
        self._tell = tell
        self._partial = partial
        self._every = every
        self._pieces: list[str] = []
        self._of: tuple[int, int | None] = (0, None)
        """Turn and block of the pieces; no block for thinking."""
        self._call: tuple[int, Streamed] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0
        self._wait = every

    def text(self, turn: int, block: int, text: str) -> None:
        """The model writes."""
        self._add((turn, block), text)

    def thinking(self, turn: int, text: str) -> None:
        """The model thinks."""
        self._add((turn, None), text)

    def call(self, turn: int, call: Streamed) -> None:
        """A tool call goes on."""
        if self._pieces or (self._call is not None and self._call[1] is not call):
            self.flush()
        self._call = (turn, call)
        self._schedule()

    def tell(self, event: ChatEvent) -> None:
        """Tell something else, after what waits."""
        self.flush()
        self._tell(event)

    def flush(self) -> None:
        """Tell what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pieces:
            text, (turn, block) = "".join(self._pieces), self._of
            self._pieces.clear()
            self._wait = self._every
            self._tell(ThinkingDelta(turn, text) if block is None else TextDelta(turn, block, text))
        elif self._call is not None:
            (turn, call), self._call = self._call, None
            began = time.perf_counter()
            fields = self._partial(call.text)
            self._wait = max(self._every, (time.perf_counter() - began) / _SHARE_PARSED)
            call_id, name = str(call.start.get("id") or ""), str(call.start.get("name") or "?")
            self._tell(CallStreaming(turn, call_id, name, fields))
        self._next = time.monotonic() + self._wait

    def _add(self, of: tuple[int, int | None], text: str) -> None:
        if self._call is not None or (self._pieces and self._of != of):
            self.flush()
        self._of = of
        self._pieces.append(text)
        self._schedule()

    def _schedule(self) -> None:
        if self._timer is not None:
            return
        wait = self._next - time.monotonic()
        if wait <= 0:
            self.flush()
        else:
            self._timer = asyncio.get_running_loop().call_later(wait, self.flush)
