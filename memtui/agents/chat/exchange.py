"""One request and its answer: sent, read as it streams, tried again where that helps, and broken off where it must be.

The SDK's own retries are silent, and its timeouts are made for scripts. Here a person waits: she is told what for, and
may stop it at any moment.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from memtui.agents.chat.events import ChatEvent, FaultKind, Told, Waiting
from memtui.agents.chat.faults import Judged, Place, judged
from memtui.agents.chat.incoming import Incoming

T = TypeVar("T")

_CLOSING_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited, and how often it is tried again.

    Attributes:
        times: How often a request is tried again that failed in a way that passes.
        first: Seconds before the first time; each time it is twice as long.
        longest: Seconds that are waited at most; a server that wants more is not waited for.
        silence: Seconds without anything new after which that is said.
    """

    times: int = 4
    first: float = 1.0
    longest: float = 60.0
    silence: float = 20.0


class Stopped(Exception):
    """The person stopped it."""

    def __init__(self, incoming: Incoming | None = None) -> None:
        super().__init__("stopped")
        self.incoming = incoming


class Broken(Exception):
    """It failed."""

    def __init__(self, fault: Judged, incoming: Incoming | None, error: BaseException | None = None) -> None:
        super().__init__(fault.sentence)
        self.fault = fault
        self.incoming = incoming
        self.error = error


async def unless_stopped(doing: Coroutine[Any, Any, T], stopping: asyncio.Event) -> T:
    """Wait for something, or break it off.

    Raises:
        Stopped: The person stopped it.
    """
    task = asyncio.ensure_future(doing)
    stop = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise Stopped
    finally:
        for each in (stop, task):
            if not each.done():
                each.cancel()
        await asyncio.wait({stop, task}, timeout=_CLOSING_SECONDS)
        if task.done() and not task.cancelled():
            task.exception()  # looked at: it was broken off


class Exchange:
    """Sends requests. Used in one thread, where a loop runs.

    Args:
        client: Of the SDK.
        place: Where requests go, for sentences.
        stopping: Set when the person stops it.
        tell: Told of waits and of silence.
        patience: How long is waited.
    """

    def __init__(
        self,
        client: Any,
        place: Place,
        stopping: asyncio.Event,
        tell: Callable[[ChatEvent], None],
        patience: Patience,
    ) -> None:
        self._client = client
        self._place = place
        self._stopping = stopping
        self._tell = tell
        self._patience = patience
        self._news_at = 0.0
        self._silence_said = False

    async def answer(
        self,
        request: Callable[[], dict[str, Any]],
        begin: Callable[[], Incoming],
        used: Callable[[Incoming], None],
        adapted: Callable[[str], bool],
    ) -> Incoming:
        """Get an answer.

        Args:
            request: Makes the parameters; again for each time that it is tried.
            begin: Makes what takes the answer.
            used: Called when the API said what was used.
            adapted: Whether the next request will be another one that may be taken, after one that was refused in
                these words.

        Raises:
            Stopped: The person stopped it.
            Broken: It failed.
        """
        tries = 0
        while True:
            incoming = begin()
            try:
                await unless_stopped(self._read(request(), incoming, used), self._stopping)
            except Stopped:
                raise Stopped(incoming) from None
            except Exception as error:  # of any kind: what it means is judged, and said
                fault = judged(error, self._place, answering=incoming.has_begun)
                if fault.kind is FaultKind.BAD_REQUEST and not incoming.has_begun and adapted(fault.words):
                    continue
                if incoming.has_begun or not fault.passes:
                    raise Broken(fault, incoming, error) from error
            else:
                if incoming.stop_reason is not None:
                    return incoming
                fault = Judged(FaultKind.CUT_STREAM, f"The answer of {self._place.host} ended in the middle.")
                if incoming.has_begun:
                    raise Broken(fault, incoming)
            seconds = self._delay(tries, fault.after)
            if tries >= self._patience.times or seconds > self._patience.longest:
                raise Broken(_given_up(fault, tries, seconds), incoming)
            tries += 1
            await self._wait(fault, seconds, tries)

    async def _read(self, parameters: dict[str, Any], incoming: Incoming, used: Callable[[Incoming], None]) -> None:
        watch = asyncio.ensure_future(self._say_silence())
        self._note_news()
        try:
            stream = await self._client.beta.messages.create(**parameters)
            try:
                async for event in stream:
                    self._note_news()
                    incoming.take(event)
                    if incoming.usage:
                        used(incoming)
            finally:
                with contextlib.suppress(Exception):  # whatever is wrong with it, we are done with it
                    await stream.close()
        finally:
            watch.cancel()

    def _note_news(self) -> None:
        self._news_at = time.monotonic()
        self._silence_said = False

    async def _say_silence(self) -> None:
        """Say once, of each silence, that it is one."""
        while True:
            await asyncio.sleep(max(0.01, self._news_at + self._patience.silence - time.monotonic()))
            if time.monotonic() - self._news_at >= self._patience.silence:
                if not self._silence_said:
                    self._silence_said = True
                    seconds = f"{self._patience.silence:g} seconds"
                    self._tell(Told(f"Nothing new from {self._place.host} for {seconds}. Still waiting; Esc stops."))
                await asyncio.sleep(self._patience.silence)

    def _delay(self, tries: int, after: float | None) -> float:
        if after is not None:
            return after
        return float(self._patience.first * 2**tries * random.uniform(0.75, 1.25))

    async def _wait(self, fault: Judged, seconds: float, tries: int) -> None:
        shown = f"{seconds:.0f} s" if seconds >= 1 else "a moment"
        count = f"{tries} of {self._patience.times}"
        self._tell(Waiting(f"{fault.sentence} Trying again in {shown} ({count}); Esc stops.", seconds))
        await unless_stopped(asyncio.sleep(seconds), self._stopping)


def _given_up(fault: Judged, tries: int, seconds: float) -> Judged:
    if fault.after is not None and seconds >= 1:
        words = f"It wants to be asked again in {seconds:,.0f} s."
    elif tries:
        words = f"It was tried {tries + 1} times."
    else:
        words = ""
    sentence = f"{fault.sentence} {words}".strip()
    return Judged(fault.kind, sentence, fault.advice, words=fault.words)
