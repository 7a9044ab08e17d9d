"""The parameters of a request; and the sender, which retries, reports waits and can be stopped."""

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from memtui.agents.chat.events import ChatEvent, FaultKind, Model, Notice, RetryScheduled
from memtui.agents.chat.faults import ClassifiedFault, Endpoint, classify_error
from memtui.agents.chat.sessions.records import Message
from memtui.agents.chat.stream import AnswerStream
from memtui.core.lazy_dataclass import dataclass

CONTEXT_BETA = "context-management-2025-06-27"
COMPACT_BETA = "compact-2026-01-12"
MEMORY_TOOL = {"type": "memory_20250818", "name": "memory"}

_MAX_TOKENS = 32_000
"""Tokens of an answer, thinking included, where no setting limits them and the model could write more."""
_UNKNOWN_MAX_TOKENS = 8_192
_SHARE_CLEARED = 0.5
_SHARE_COMPACTED = 0.75
"""Shares of a model's context from which old tool results are cleared, and the conversation is compacted."""
_KEPT_USES = 10
"""The newest tool results, views of memory among them, that are never cleared."""
_LEAST_CLEARED = 10
"""The share of the trigger that a clearing must free, as a divisor."""
_UNKNOWN_TRIGGER: Any = {"type": "tool_uses", "value": 60}
"""Where it is not known how much the model holds."""
_LEAST_COMPACTED = 50_000
"""The API compacts nothing smaller."""
_LEAST_BUDGET, _MOST_BUDGET = 1_024, 16_000
_CACHED: Any = {"type": "ephemeral"}


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of requests: settings, and the features that the server turned out to take.

    `context_trigger` is the number of tokens from which context is cleared; 0 for never. `None` is not set.
    """

    system: tuple[str, ...] = ()
    max_tokens: int | None = None
    context_trigger: int | None = None
    effort: str | None = None
    thinking: bool | None = None
    clears: bool = True
    compacts: bool = True
    returns_thinking: bool = True


def build_parameters(messages: Sequence[Message], model: Model, options: RequestOptions) -> dict[str, Any]:
    """The arguments of `client.beta.messages.create`, for a history that the model may be sent."""
    max_tokens = options.max_tokens or min(model.max_tokens or _UNKNOWN_MAX_TOKENS, _MAX_TOKENS)
    found: dict[str, Any] = {
        "model": model.id,
        "max_tokens": max_tokens,
        "messages": _mark_cache_breakpoints(messages),
        "tools": [MEMORY_TOOL],
        "stream": True,
    }
    if texts := [text for text in options.system if text.strip()]:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
        blocks[-1]["cache_control"] = _CACHED  # tools come before it, and are cached with it
        found["system"] = blocks
    if thinking := _build_thinking(model, options, max_tokens):
        found["thinking"] = thinking
    if options.effort is not None:
        found["output_config"] = {"effort": options.effort}
    betas = []
    if edits := _build_context_edits(model, options):
        found["context_management"] = {"edits": edits}
        betas.append(CONTEXT_BETA)
    if any(edit["type"] == "compact_20260112" for edit in edits) or any(
        block.get("type") == "compaction" for message in messages for block in message["content"]
    ):
        betas.append(COMPACT_BETA)
    if betas:
        found["betas"] = betas
    return found


def _mark_cache_breakpoints(messages: Sequence[Message]) -> list[Message]:
    """The messages with cache marks on the last two of the user's: the next request finds them in the cache.

    Two, because the last one grows when the person goes on after a turn that was broken off; with the system prompt
    that makes three marks of the four that the API allows.
    """
    marked = list(messages)
    users = [index for index, message in enumerate(marked) if message["role"] == "user"]
    for index in users[-2:]:
        *before, last = marked[index]["content"]
        marked[index] = {"role": "user", "content": [*before, {**last, "cache_control": _CACHED}]}
    return marked


def _build_thinking(model: Model, options: RequestOptions, max_tokens: int) -> dict[str, Any] | None:
    if options.thinking is None:
        return None
    if not options.thinking:
        return {"type": "disabled"} if "disabled" in model.thinking else None
    if "adaptive" in model.thinking or "enabled" not in model.thinking:  # the API refuses it where it is not possible
        return {"type": "adaptive", "display": "summarized"}
    budget = max(_LEAST_BUDGET, min(_MOST_BUDGET, max_tokens // 2))
    return {"type": "enabled", "budget_tokens": budget} if budget < max_tokens else None


def _build_context_edits(model: Model, options: RequestOptions) -> list[dict[str, Any]]:
    if options.context_trigger == 0:
        return []
    edits: list[dict[str, Any]] = []
    if options.clears and model.clears_tools is not False:
        trigger = options.context_trigger or (int(model.context * _SHARE_CLEARED) if model.context else None)
        edit: dict[str, Any] = {
            "type": "clear_tool_uses_20250919",
            "keep": {"type": "tool_uses", "value": _KEPT_USES},
            "trigger": {"type": "input_tokens", "value": trigger} if trigger else _UNKNOWN_TRIGGER,
        }
        if trigger:  # each clearing makes the cache anew, so none is made for a few tokens
            edit["clear_at_least"] = {"type": "input_tokens", "value": max(1, trigger // _LEAST_CLEARED)}
        edits.append(edit)
    if options.compacts and model.compacts:
        edit = {"type": "compact_20260112"}
        if model.context:
            value = max(_LEAST_COMPACTED, int(model.context * _SHARE_COMPACTED))
            edit["trigger"] = {"type": "input_tokens", "value": value}
        edits.append(edit)
    return edits


def adapt_options(
    options: RequestOptions, model: Model, words: str, *, has_thinking: bool = False
) -> tuple[RequestOptions, str] | None:
    """The options without a feature of ours that the server refused, and a sentence that says so.

    Args:
        options: The options of the refused request.
        model: Its model.
        words: The server's message.
        has_thinking: Whether there is thinking in the history.

    Returns:
        `None` where something else was refused.
    """
    lower = words.lower()
    managed = {edit["type"] for edit in _build_context_edits(model, options)}
    if "compact_20260112" in managed and "compact" in lower:
        feature = "The server does not support compaction"
        return replace(options, compacts=False), f"{feature}. The conversation continues without it."
    if managed and ("context_management" in lower or "context-management" in lower or "beta" in lower):
        feature = "The server does not support clearing old tool results"
        return replace(options, clears=False, compacts=False), f"{feature}. The conversation continues without it."
    if has_thinking and options.returns_thinking and "thinking" in lower and ("signature" in lower or "block" in lower):
        feature = "The model rejected its earlier thinking"
        return replace(options, returns_thinking=False), f"{feature}. The conversation continues without it."
    return None


# The SDK's own retries are silent, and its timeouts are made for scripts. Here a person waits: each wait is reported,
# and can be stopped.

T = TypeVar("T")

_CLOSING_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failed request is tried again, and how long is waited, in seconds.

    Attributes:
        times: Retries of one request.
        first: Before the first retry; each later one waits twice as long.
        longest: At most; a server that wants more is not waited for.
        silence: Without news, after which that is reported.
    """

    times: int = 4
    first: float = 1.0
    longest: float = 60.0
    silence: float = 20.0


class StoppedByPerson(Exception):
    """The person stopped the turn; with the part of the answer that had come in."""

    def __init__(self, incoming: AnswerStream | None = None) -> None:
        super().__init__("stopped")
        self.incoming = incoming


class RequestFailed(Exception):
    """A request failed for good; with the part of the answer that had come in."""

    def __init__(
        self, fault: ClassifiedFault, incoming: AnswerStream | None, error: BaseException | None = None
    ) -> None:
        super().__init__(fault.sentence)
        self.fault = fault
        self.incoming = incoming
        self.error = error


async def wait_unless_stopped(coroutine: Coroutine[Any, Any, T], stopping: asyncio.Event) -> T:
    """Wait for a coroutine, or cancel it when the person stops.

    Raises:
        StoppedByPerson: The person stopped it.
    """
    task = asyncio.ensure_future(coroutine)
    stop = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise StoppedByPerson
    finally:
        for each in (stop, task):
            if not each.done():
                each.cancel()
        await asyncio.wait({stop, task}, timeout=_CLOSING_SECONDS)
        if task.done() and not task.cancelled():
            task.exception()  # else asyncio warns of it


class RequestSender:
    """Sends requests. Used in one thread, where a loop runs."""

    def __init__(
        self,
        client: Any,
        endpoint: Endpoint,
        stopping: asyncio.Event,
        emit: Callable[[ChatEvent], None],
        retries: RetryPolicy,
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self._stopping = stopping
        self._emit = emit
        self._retry_policy = retries
        self._last_progress_at = 0.0
        self._is_silence_reported = False

    async def send(
        self,
        request: Callable[[], dict[str, Any]],
        begin: Callable[[], AnswerStream],
        used: Callable[[AnswerStream], None],
        adapted: Callable[[str], bool],
    ) -> AnswerStream:
        """Get an answer.

        Args:
            request: Builds the parameters, anew for each try.
            begin: Makes the stream that takes the answer.
            used: Called when the API reported usage.
            adapted: Whether `request` changed after a refusal in these words, so that another try makes sense.

        Raises:
            StoppedByPerson: The person stopped it.
            RequestFailed: It failed.
        """
        tries = 0
        while True:
            incoming = begin()
            try:
                await wait_unless_stopped(self._read_stream(request(), incoming, used), self._stopping)
            except StoppedByPerson:
                raise StoppedByPerson(incoming) from None
            except Exception as error:  # of any kind: it is classified, and reported
                fault = classify_error(error, self._endpoint, answering=incoming.has_begun)
                if fault.kind is FaultKind.BAD_REQUEST and not incoming.has_begun and adapted(fault.server_message):
                    continue
                if incoming.has_begun or not fault.is_retryable:
                    raise RequestFailed(fault, incoming, error) from error
            else:
                if incoming.stop_reason is not None:
                    return incoming
                fault = ClassifiedFault(
                    FaultKind.CUT_STREAM, f"The answer from {self._endpoint.host} ended in the middle."
                )
                if incoming.has_begun:
                    raise RequestFailed(fault, incoming)
            seconds = fault.retry_after
            if seconds is None:
                seconds = self._retry_policy.first * 2**tries * random.uniform(0.75, 1.25)
            if tries >= self._retry_policy.times or seconds > self._retry_policy.longest:
                raise RequestFailed(_make_final_fault(fault, tries, seconds), incoming)
            tries += 1
            await self._wait_to_retry(fault, seconds, tries)

    async def _read_stream(
        self, parameters: dict[str, Any], incoming: AnswerStream, used: Callable[[AnswerStream], None]
    ) -> None:
        watch = asyncio.ensure_future(self._report_silence())
        self._note_progress()
        try:
            stream = await self._client.beta.messages.create(**parameters)
            try:
                async for event in stream:
                    self._note_progress()
                    incoming.handle_event(event)
                    if incoming.usage:
                        used(incoming)
            finally:
                with contextlib.suppress(Exception):  # the stream is not used any more
                    await stream.close()
        finally:
            watch.cancel()

    def _note_progress(self) -> None:
        self._last_progress_at = time.monotonic()
        self._is_silence_reported = False

    async def _report_silence(self) -> None:
        """Report each silence, once."""
        silence = self._retry_policy.silence
        while True:
            await asyncio.sleep(max(0.01, self._last_progress_at + silence - time.monotonic()))
            if time.monotonic() - self._last_progress_at >= silence:
                if not self._is_silence_reported:
                    self._is_silence_reported = True
                    place = self._endpoint.host
                    self._emit(Notice(f"Nothing new from {place} for {silence:g} seconds. Still waiting; Esc stops."))
                await asyncio.sleep(silence)

    async def _wait_to_retry(self, fault: ClassifiedFault, seconds: float, tries: int) -> None:
        shown = f"{seconds:.0f} s" if seconds >= 1 else "under 1 s"
        count = f"{tries} of {self._retry_policy.times}"
        self._emit(RetryScheduled(f"{fault.sentence} Trying again in {shown} ({count}); Esc stops.", seconds))
        await wait_unless_stopped(asyncio.sleep(seconds), self._stopping)


def _make_final_fault(fault: ClassifiedFault, tries: int, seconds: float) -> ClassifiedFault:
    if fault.retry_after is not None and seconds >= 1:
        words = f"Try again in {seconds:,.0f} s."
    elif tries:
        words = f"Tried {tries + 1} times."
    else:
        words = ""
    sentence = f"{fault.sentence} {words}".strip()
    return ClassifiedFault(fault.kind, sentence, fault.advice, server_message=fault.server_message)
