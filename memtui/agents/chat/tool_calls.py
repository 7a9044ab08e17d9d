"""Execution of the tool calls of an answer: each through the gate, as far as the person allows it."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from memtui.agents.chat.events import ApprovalNeeded, ApprovalResolved, ChatEvent
from memtui.agents.chat.stream import ToolCall
from memtui.agents.gate import ApprovalGate
from memtui.core.approvals import Edit, Proposal, Stop, Verdict
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import Actor, Answer, Event, Person
from memtui.core.images import Image
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey, quote_value

T = TypeVar("T")
_Job = Callable[[], None]


class WorkerThread:
    """A thread that runs the commands of a conversation, one after the other.

    The engine is synchronous and may wait for the disk or for another process. A thread of the standard pool would
    hold up the end of the program; this one does not, and it finishes the job that has begun.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, do: Callable[[], T]) -> T:
        """Run a job there, and wait for it. The waiter cannot cancel it."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            try:
                value = do()
            except BaseException as error:  # it belongs to the waiter
                resolve(future.set_exception, error)
            else:
                resolve(future.set_result, value)

        def resolve(setter: Callable[..., None], value: object) -> None:
            def set_once() -> None:
                if not future.done():
                    setter(value)

            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(set_once)

        if self._thread is None:
            self._thread = threading.Thread(target=self._run_jobs, name="memtui-chat-commands", daemon=True)
            self._thread.start()
        self._jobs.put(job)
        return await asyncio.shield(future)

    def close(self) -> None:
        """Let the thread end, after the job that has begun."""
        self._jobs.put(None)

    def _run_jobs(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


# Questions to the person, one at a time: whether a change may be made.


class ApprovalRequester:
    """Asks, and waits for the answer. Used in one thread, where a loop runs.

    Args:
        tell: Told of each question, and when it is settled.
    """

    def __init__(self, tell: Callable[[ChatEvent], None]) -> None:
        self._emit = tell
        self._number = 0
        self._open: asyncio.Future[Verdict] | None = None

    async def ask(self, turn: int, call_id: str, proposal: Proposal) -> Verdict:
        """Ask, and wait."""
        self._number += 1
        self._open = asyncio.get_running_loop().create_future()
        self._emit(ApprovalNeeded(turn, call_id, self._number, proposal))
        try:
            return await self._open
        finally:
            self._open = None
            self._emit(ApprovalResolved(self._number))

    def answer(self, number: int, verdict: Verdict) -> None:
        """The person answers; an answer to a question that is settled is nothing."""
        if number == self._number and self._open is not None and not self._open.done():
            self._open.set_result(verdict)

    def stop(self) -> None:
        """The person wants it all to stop."""
        self.answer(self._number, Stop())


TOOL = "memory"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to a call, exactly as the model gets it.

    Attributes:
        event: The journal's; `None` for a tool that is not ours, and for a call that did not come to the engine.
        edit: The event of the person's write in its place.
        image: What was viewed, where that is an image.
    """

    text: str
    is_error: bool
    event: Event | None = None
    edit: Event | None = None
    image: Image | None = None


class ToolExecutor:
    """Executes calls.

    Args:
        gate: Every command passes it.
        worker: Runs the commands.
        questions: Asks the person.
        allowed: Called after the person allowed a path for good.
    """

    def __init__(
        self, gate: ApprovalGate, worker: WorkerThread, questions: ApprovalRequester, allowed: Callable[[], None]
    ) -> None:
        self._gate = gate
        self._worker = worker
        self._questions = questions
        self._allowed = allowed

    async def execute(self, call: ToolCall, turn: int, actor: Actor) -> ToolResult:
        """Execute a call, and ask the person first where the policy wants it.

        Raises:
            MemoryClosed: The memory was closed.
        """
        if call.name != TOOL:
            name = quote_value(call.name)
            return ToolResult(f"Error: There is no tool called {name}. The only one is `{TOOL}`", True)
        gate, edit = self._gate, None
        step: Answer | Proposal = await self._worker.run(lambda: gate.begin(call.input, actor=actor, call_id=call.id))
        while isinstance(step, Proposal):
            proposal, before = step, gate.always
            decision = gate.decide_by_policy(proposal)
            if decision is None:
                verdict = await self._questions.ask(turn, call.id, proposal)
                decision = gate.accept_verdict(proposal, verdict)
            if gate.always != before:
                self._allowed()
            step, written = await self._worker.run(lambda p=proposal, d=decision: self.finish(p, d))  # type: ignore[misc]
            edit = written or edit
        return ToolResult(step.text, step.is_error, step.event, edit, step.image)

    def finish(self, proposal: Proposal, decision: object) -> tuple[Answer | Proposal, Event | None]:
        """Act on a decision, in the worker; with the person's write in place of the agent's."""
        if not isinstance(decision, Edit):
            return self._gate.finish(proposal, decision), None  # type: ignore[arg-type]
        memory = self._gate.memory
        seq = memory.get_head()[0]
        step = self._gate.finish(proposal, decision)
        changed = proposal.editable_change
        with contextlib.suppress(MemtuiError):  # the change is made, whether it can be read again or not
            for event in memory.events(seq):
                paths = {change.path for change in event.changes}
                if isinstance(event.actor, Person) and event.command == "write" and changed and changed.path in paths:
                    return step, event
        return step, None

    async def answer_stopped(self, call: ToolCall, actor: Actor) -> ToolResult:
        """Answer a call that the person stopped before it was executed; the journal records it as well."""
        values: dict[str, Any] = {"actor": actor, "call_id": call.id, "note": "stopped"}
        memory = self._gate.memory
        try:
            answer = await self._worker.run(lambda: memory.answer_instead(call.input, MessageKey.STOPPED, **values))
        except MemoryClosed as error:
            return ToolResult(f"Error: not run: {error}", True)
        return ToolResult(answer.text, True, answer.event)
