"""The memory tool for programs that use the Anthropic SDK, over an open memory.

The model's input is validated before the SDK parses it: input that was cut off in mid-stream arrives with fields
missing. A refusal is a `ToolError` in exactly the engine's words, which the SDK turns into `is_error: true`. No other
exception reaches the model: the SDK would show it as Python writes it, host paths and all.

Importing this imports the SDK, which takes seconds: nothing that starts a program imports it.
"""

import asyncio
import inspect
import math
import os
import sys
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar, cast

import anyio
from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    BetaFunctionToolResultType,
    ToolError,
)
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818Command,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)
from anyio import to_thread

from memtui.agents.gate import ApprovalGate, Ask
from memtui.core.approvals import Allow, ApprovalPolicy, Deny, Edit, Proposal, Stop, Unanswered, Verdict
from memtui.core.errors import MemoryClosed
from memtui.core.events import Agent, Answer
from memtui.core.images import build_content_blocks
from memtui.core.messages import MessageKey, format_message
from memtui.engine import Engine
from memtui.memory import open as open_folder

__all__ = [
    "Agent",
    "Allow",
    "Approve",
    "AsyncApprove",
    "AsyncMemoryTool",
    "Deny",
    "Edit",
    "MemoryTool",
    "Proposal",
    "Stop",
    "Unanswered",
    "Verdict",
]

Approve = Callable[[Proposal], Verdict | bool]
"""Decides on a change: a verdict, or simply yes or no."""

AsyncApprove = Callable[[Proposal], Verdict | bool | Awaitable[Verdict | bool]]
"""The same; may be a coroutine function. One that is not is called in a thread, so that it may wait for a person."""

_MOMENT = 0.002
"""Seconds between two looks at whether a command that has begun is done."""

T = TypeVar("T")


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool, to be given to `client.beta.messages.tool_runner(tools=[...], thread=False)`.

    Args:
        memory: The open memory, which stays the caller's to close; or the path of its folder, which is opened as
            `memtui.open` does it, and closed with the tool.
        actor: The recorded actor; by default an agent called Claude.
        approve: Asked before each change, in the thread of the call; a change that is not approved is refused, and one
            that is edited is written as it was edited. Views are never asked about. If it raises, or returns something
            else than a verdict, the change is refused, and the fault goes to `sys.excepthook`.
        cache_control: Where the request is to be cached.

    Raises:
        MemtuiError: The path cannot be opened.
        TypeError: `memory` is neither.
    """

    def __init__(
        self,
        memory: Engine | str | os.PathLike[str],
        *,
        actor: Agent | None = None,
        approve: Approve | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        memory = self._memory = _open_memory(memory, self)
        self._actor = actor or Agent("Claude")
        self._gate = ApprovalGate(memory)
        if approve is not None:
            ask: Ask = lambda proposal: _to_verdict(approve(proposal))  # noqa: E731 - has a type
            self._gate = ApprovalGate(memory, policy=ApprovalPolicy.ASK, ask=ask)

    def call(self, input: object, *, call_id: str | None = None) -> BetaFunctionToolResultType:
        """Execute a command as the model sent it.

        Args:
            input: The tool input, as it came.
            call_id: The id of the tool call, for the record. The SDK's runner does not tell it.

        Raises:
            ToolError: It was refused; in the words for the model.
        """
        return self._run_guarded(lambda: self._gate.execute(input, actor=self._actor, call_id=call_id))

    def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        """Execute a command of the SDK's types."""
        return self._run_guarded(lambda: self._gate.execute(_to_raw_input(command), actor=self._actor))

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> BetaFunctionToolResultType:
        """Show a file or a directory."""
        return self._execute_typed("view", command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> BetaFunctionToolResultType:
        """Write a whole file."""
        return self._execute_typed("create", command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> BetaFunctionToolResultType:
        """Replace a text in a file."""
        return self._execute_typed("str_replace", command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> BetaFunctionToolResultType:
        """Put a text after a line of a file."""
        return self._execute_typed("insert", command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> BetaFunctionToolResultType:
        """Remove a file or a directory."""
        return self._execute_typed("delete", command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> BetaFunctionToolResultType:
        """Move a file or a directory."""
        return self._execute_typed("rename", command)

    def clear_all_memory(self) -> BetaFunctionToolResultType:
        """Delete everything in the folder, as one event that can be undone.

        The program's own call and not the model's: `approve` is not asked.

        Raises:
            ToolError: It was refused.
        """
        return self._run_guarded(lambda: self._memory.clear(actor=self._actor))

    def _execute_typed(self, name: str, command: object) -> BetaFunctionToolResultType:
        return self._run_guarded(lambda: self._gate.execute(_to_raw_input(command, name), actor=self._actor))

    def _run_guarded(self, act: Callable[[], Answer]) -> BetaFunctionToolResultType:
        return _get_content(_catch_errors(act, self._memory))


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for `AsyncAnthropic`. The engine works in a thread; the event loop is never held up.

    A call that is cancelled while a person is asked changes nothing, and is recorded as stopped. A command that has
    begun is finished, which is a matter of milliseconds, and recorded. The arguments are those of `MemoryTool`; where
    `approve` is no coroutine function, it is called in a thread.
    """

    def __init__(
        self,
        memory: Engine | str | os.PathLike[str],
        *,
        actor: Agent | None = None,
        approve: AsyncApprove | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        memory = self._memory = _open_memory(memory, self)
        self._actor = actor or Agent("Claude")
        self._approve = approve
        self._gate = ApprovalGate(memory, policy=ApprovalPolicy.ALLOW if approve is None else ApprovalPolicy.ASK)
        self._asking = anyio.Lock()

    async def call(self, input: object, *, call_id: str | None = None) -> BetaFunctionToolResultType:
        """Execute a command as the model sent it. See `MemoryTool.call`."""
        return await self._execute_gated(lambda: input, call_id)

    async def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        """Execute a command of the SDK's types."""
        return await self._execute_gated(lambda: _to_raw_input(command))

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> BetaFunctionToolResultType:
        """Show a file or a directory."""
        return await self._execute_gated(lambda: _to_raw_input(command, "view"))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> BetaFunctionToolResultType:
        """Write a whole file."""
        return await self._execute_gated(lambda: _to_raw_input(command, "create"))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> BetaFunctionToolResultType:
        """Replace a text in a file."""
        return await self._execute_gated(lambda: _to_raw_input(command, "str_replace"))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> BetaFunctionToolResultType:
        """Put a text after a line of a file."""
        return await self._execute_gated(lambda: _to_raw_input(command, "insert"))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> BetaFunctionToolResultType:
        """Remove a file or a directory."""
        return await self._execute_gated(lambda: _to_raw_input(command, "delete"))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> BetaFunctionToolResultType:
        """Move a file or a directory."""
        return await self._execute_gated(lambda: _to_raw_input(command, "rename"))

    async def clear_all_memory(self) -> str:
        """Delete everything in the folder. See `MemoryTool.clear_all_memory`."""
        return _get_text(await self._run_in_thread(lambda: self._memory.clear(actor=self._actor)))

    async def _execute_gated(
        self, command: Callable[[], object], call_id: str | None = None
    ) -> BetaFunctionToolResultType:
        begin = self._gate.begin
        step = await self._run_in_thread(lambda: begin(command(), actor=self._actor, call_id=call_id))
        while isinstance(step, Proposal):
            step = await self._decide(step)
        return _get_content(step)

    async def _decide(self, proposal: Proposal) -> Answer | Proposal | str:
        try:
            async with self._asking:  # one question at a time; an "always" answers those behind it
                decision = self._gate.decide_by_policy(proposal)
                if decision is None:
                    decision = self._gate.accept_verdict(proposal, await self._ask_person(proposal))
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                stopped = await self._run_in_thread(lambda: self._gate.finish(proposal, Stop()))
            if _is_cancelled():
                raise
            return stopped  # what `approve` waited for was cancelled, not this call
        return await self._run_in_thread(lambda: self._gate.finish(proposal, decision))

    async def _ask_person(self, proposal: Proposal) -> object:
        approve = self._approve
        assert approve is not None
        try:
            if inspect.iscoroutinefunction(approve) or inspect.iscoroutinefunction(type(approve).__call__):
                verdict = approve(proposal)
            else:
                verdict = await to_thread.run_sync(approve, proposal, abandon_on_cancel=True, limiter=_make_limiter())
            return _to_verdict(await verdict if inspect.isawaitable(verdict) else verdict)
        except Exception:  # foreign code: its fault is reported to its owner, and nothing is changed
            sys.excepthook(*sys.exc_info())
            return None

    async def _run_in_thread(self, act: Callable[[], T]) -> T | str:
        """Run an act on the memory; once it has begun, to its end, also if this call is cancelled."""
        begins, ended = threading.Lock(), threading.Event()

        def run() -> T | str:
            if not begins.acquire(blocking=False):
                return ""  # cancelled before it began; the result is discarded
            try:
                return _catch_errors(act, self._memory)
            finally:
                ended.set()

        try:
            return await to_thread.run_sync(run, limiter=_make_limiter())
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                while not begins.acquire(blocking=False) and not ended.is_set():
                    await anyio.sleep(_MOMENT)
            raise


def _open_memory(memory: object, tool: object) -> Engine:
    """The engine of a tool that was given one, or a path."""
    if isinstance(memory, Engine):
        return memory
    if not isinstance(memory, str | os.PathLike):
        raise TypeError(f"memory must be an open memory or the path of a folder, not a {type(memory).__name__}")
    engine = open_folder(memory)
    weakref.finalize(tool, engine.close)
    return engine


def _make_limiter() -> anyio.CapacityLimiter:
    """A limiter of its own for each call: none may wait for a thread that waits for a person."""
    return anyio.CapacityLimiter(math.inf)


def _is_cancelled() -> bool:
    """Whether the task itself is being cancelled, and not only an awaitable of it."""
    if anyio.get_cancelled_exc_class() is not asyncio.CancelledError:
        return True
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _catch_errors(act: Callable[[], T], memory: Engine) -> T | str:
    """The result of an act; or, as a text, why it failed."""
    words = memory.settings.messages
    try:
        return act()
    except MemoryClosed:
        return format_message(MessageKey.CLOSED, words)
    except Exception:  # the SDK would show it to the model as Python writes it; it goes to the program's owner instead
        sys.excepthook(*sys.exc_info())
        return format_message(MessageKey.FAULT, words)


def _get_content(answer: Answer | str) -> BetaFunctionToolResultType:
    """The text of an answer, and an image behind it; or a `ToolError` with the text."""
    text = _get_text(answer)
    if isinstance(answer, str) or answer.image is None:
        return text
    return cast("BetaFunctionToolResultType", build_content_blocks(text, answer.image))


def _get_text(answer: Answer | str) -> str:
    """The text of an answer, or a `ToolError` with it."""
    if isinstance(answer, str):
        raise ToolError(answer)
    if answer.is_error:
        raise ToolError(answer.text)
    return answer.text


def _to_verdict(verdict: Verdict | bool) -> Verdict:
    match verdict:
        case True:
            return Allow()
        case False:
            return Deny()
        case _:
            return verdict


def _to_raw_input(command: object, name: str | None = None) -> object:
    """A command of the SDK's types as the model would send it: only the fields that are set."""
    raw: object = command
    if not isinstance(command, Mapping):
        to_dict = getattr(command, "to_dict", None)
        raw = to_dict(mode="python", warnings=False) if callable(to_dict) else command
    return {**raw, "command": name} if name is not None and isinstance(raw, Mapping) else raw
