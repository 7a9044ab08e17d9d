"""The memory tool for programs that use the Anthropic SDK, over an open memory.

What the model sent is judged before the SDK makes anything of it: input that was cut off in mid-stream arrives with
fields missing. A refusal is a `ToolError` in exactly the engine's words, which the SDK turns into `is_error: true`, and
nothing else is ever raised at the model: the SDK would show it the exception as Python writes it, host paths and all.

Importing this imports the SDK, which takes seconds: nothing that starts a program imports it.
"""

import asyncio
import inspect
import math
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import anyio
from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
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

from memtui.agents.gate import Gate
from memtui.core.asking import Allow, Deny, Edit, Policy, Proposal, Stop, Unanswered, Verdict
from memtui.core.errors import Closed
from memtui.core.events import Agent, Answer
from memtui.core.messages import Message, say
from memtui.engine import Engine

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
"""Says whether a change may be made: a verdict, or simply yes or no."""

AsyncApprove = Callable[[Proposal], Verdict | bool | Awaitable[Verdict | bool]]
"""The same; may be a coroutine function. One that is not is called in a thread, so that it may wait for a person."""

_MOMENT = 0.002
"""Seconds between two looks at whether a command that has begun is done."""

T = TypeVar("T")


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool, to be given to `client.beta.messages.tool_runner(tools=[...], thread=False)`.

    Args:
        memory: The open memory. It stays the caller's to close.
        actor: Who is recorded; by default an agent called Claude.
        approve: Asked before each change, in the thread of the call; a change that is not approved is refused, and one
            that is edited is written as it was edited. Views are never asked about. If it raises, or gives something
            else than a verdict, the change is refused, and the fault goes to `sys.excepthook`.
        cache_control: Where the request is to be cached.
    """

    def __init__(
        self,
        memory: Engine,
        *,
        actor: Agent | None = None,
        approve: Approve | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memory = memory
        self._actor = actor or Agent("Claude")
        if approve is None:
            self._gate = Gate(memory)
        else:
            self._gate = Gate(memory, policy=Policy.ASK, ask=lambda proposal: _verdict(approve(proposal)))

    def call(self, input: object, *, call_id: str | None = None) -> str:
        """Execute a command as the model sent it.

        Args:
            input: The tool input, as it came.
            call_id: The id of the tool call, for the record. The SDK's runner does not tell it.

        Raises:
            ToolError: It was refused; in the words for the model.
        """
        return self._told(lambda: self._gate.execute(input, actor=self._actor, call_id=call_id))

    def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Execute a command of the SDK's types."""
        return self._told(lambda: self._gate.execute(_raw(command), actor=self._actor))

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file or a directory."""
        return self._typed("view", command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a whole file."""
        return self._typed("create", command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text in a file."""
        return self._typed("str_replace", command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put a text after a line of a file."""
        return self._typed("insert", command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Remove a file or a directory."""
        return self._typed("delete", command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a directory."""
        return self._typed("rename", command)

    def clear_all_memory(self) -> str:
        """Delete everything in the folder, as one event that can be taken back.

        The program's own call and not the model's: `approve` is not asked.

        Raises:
            ToolError: It was refused.
        """
        return self._told(lambda: self._memory.clear(actor=self._actor))

    def _typed(self, name: str, command: object) -> str:
        return self._told(lambda: self._gate.execute(_raw(command, name), actor=self._actor))

    def _told(self, act: Callable[[], Answer]) -> str:
        return _text(_guarded(act, self._memory))


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for `AsyncAnthropic`. The engine works in a thread; the event loop is never held up.

    A call that is cancelled while a person is asked changes nothing, and is recorded as stopped. A command that has
    begun comes to its end, which is a matter of milliseconds, and is recorded.

    Args:
        memory: See `MemoryTool`.
        actor: See `MemoryTool`.
        approve: See `MemoryTool`; may be a coroutine function. One that is not is called in a thread.
        cache_control: See `MemoryTool`.
    """

    def __init__(
        self,
        memory: Engine,
        *,
        actor: Agent | None = None,
        approve: AsyncApprove | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memory = memory
        self._actor = actor or Agent("Claude")
        self._approve = approve
        self._gate = Gate(memory, policy=Policy.ALLOW if approve is None else Policy.ASK)
        self._asking = anyio.Lock()

    async def call(self, input: object, *, call_id: str | None = None) -> str:
        """Execute a command as the model sent it. See `MemoryTool.call`."""
        return await self._through_gate(lambda: input, call_id)

    async def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Execute a command of the SDK's types."""
        return await self._through_gate(lambda: _raw(command))

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file or a directory."""
        return await self._through_gate(lambda: _raw(command, "view"))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a whole file."""
        return await self._through_gate(lambda: _raw(command, "create"))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text in a file."""
        return await self._through_gate(lambda: _raw(command, "str_replace"))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put a text after a line of a file."""
        return await self._through_gate(lambda: _raw(command, "insert"))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Remove a file or a directory."""
        return await self._through_gate(lambda: _raw(command, "delete"))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a directory."""
        return await self._through_gate(lambda: _raw(command, "rename"))

    async def clear_all_memory(self) -> str:
        """Delete everything in the folder. See `MemoryTool.clear_all_memory`."""
        return _text(await self._in_thread(lambda: self._memory.clear(actor=self._actor)))

    async def _through_gate(self, command: Callable[[], object], call_id: str | None = None) -> str:
        begin = self._gate.begin
        step = await self._in_thread(lambda: begin(command(), actor=self._actor, call_id=call_id))
        while isinstance(step, Proposal):
            step = await self._decide(step)
        return _text(step)

    async def _decide(self, proposal: Proposal) -> Answer | Proposal | str:
        try:
            async with self._asking:  # one question at a time; an "always" answers those behind it
                decision = self._gate.decided(proposal)
                if decision is None:
                    decision = self._gate.heard(proposal, await self._asked(proposal))
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                stopped = await self._in_thread(lambda: self._gate.finish(proposal, Stop()))
            if _is_cancelled():
                raise
            return stopped  # what `approve` waited for was cancelled, not this call
        return await self._in_thread(lambda: self._gate.finish(proposal, decision))

    async def _asked(self, proposal: Proposal) -> object:
        approve = self._approve
        assert approve is not None
        try:
            if inspect.iscoroutinefunction(approve) or inspect.iscoroutinefunction(type(approve).__call__):
                said = approve(proposal)
            else:
                said = await to_thread.run_sync(approve, proposal, abandon_on_cancel=True, limiter=_unlimited())
            return _verdict(await said if inspect.isawaitable(said) else said)
        except Exception:  # whoever asks may be anybody's code: its owner is told of its fault, and nothing is changed
            sys.excepthook(*sys.exc_info())
            return None

    async def _in_thread(self, act: Callable[[], T]) -> T | str:
        """Do something with the memory; once it has begun, to its end, also if this call is cancelled."""
        begins, ended = threading.Lock(), threading.Event()

        def run() -> T | str:
            if not begins.acquire(blocking=False):
                return ""  # cancelled before it began; nobody hears this
            try:
                return _guarded(act, self._memory)
            finally:
                ended.set()

        try:
            return await to_thread.run_sync(run, limiter=_unlimited())
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                while not begins.acquire(blocking=False) and not ended.is_set():
                    await anyio.sleep(_MOMENT)
            raise


def _unlimited() -> anyio.CapacityLimiter:
    """A person may take minutes to answer: no call is to wait for a thread that waits for a person."""
    return anyio.CapacityLimiter(math.inf)


def _is_cancelled() -> bool:
    """Whether the task itself is being cancelled, and not only something that it waited for."""
    if anyio.get_cancelled_exc_class() is not asyncio.CancelledError:
        return True
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _guarded(act: Callable[[], T], memory: Engine) -> T | str:
    """What comes of an act; or, as a text, why it could not be done."""
    words = memory.settings.messages
    try:
        return act()
    except Closed:
        return say(Message.CLOSED, words)
    except Exception:  # the SDK would show it to the model as Python writes it; the program's owner is told instead
        sys.excepthook(*sys.exc_info())
        return say(Message.FAULT, words)


def _text(answer: Answer | str) -> str:
    """The text of an answer, or a `ToolError` with it."""
    if isinstance(answer, str):
        raise ToolError(answer)
    if answer.is_error:
        raise ToolError(answer.text)
    return answer.text


def _verdict(said: Verdict | bool) -> Verdict:
    match said:
        case True:
            return Allow()
        case False:
            return Deny()
        case _:
            return said


def _raw(command: object, name: str | None = None) -> object:
    """A command of the SDK's types as the model would send it: only the fields that are set."""
    raw: object = command
    if not isinstance(command, Mapping):
        to_dict = getattr(command, "to_dict", None)
        raw = to_dict(mode="python", warnings=False) if callable(to_dict) else command
    return {**raw, "command": name} if name is not None and isinstance(raw, Mapping) else raw
