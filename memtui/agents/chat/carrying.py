"""Carrying out the tool calls of an answer: each through the gate, as far as the person lets it."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from memtui.agents.chat.incoming import Call
from memtui.agents.chat.questions import Questions
from memtui.agents.chat.worker import Worker
from memtui.agents.gate import Gate
from memtui.core.asking import Edit, Proposal
from memtui.core.errors import Closed, MemtuiError
from memtui.core.events import Actor, Answer, Event, Person
from memtui.core.messages import Message, quoted

TOOL = "memory"


@dataclass(frozen=True, slots=True)
class Carried:
    """What came of a call.

    Attributes:
        text: The answer, exactly as the model gets it.
        is_error: Whether it is a refusal.
        event: What was recorded; `None` for a tool that is not ours, and for a call that did not come to the engine.
        edit: What the person wrote in its place.
    """

    text: str
    is_error: bool
    event: Event | None = None
    edit: Event | None = None


class Carrier:
    """Carries out calls.

    Args:
        gate: What every command passes.
        worker: Where it runs.
        questions: Asks the person.
        allowed: Called after the person said that something need not be asked any more.
    """

    def __init__(self, gate: Gate, worker: Worker, questions: Questions, allowed: Callable[[], None]) -> None:
        self._gate = gate
        self._worker = worker
        self._questions = questions
        self._allowed = allowed

    async def carry_out(self, call: Call, turn: int, actor: Actor) -> Carried:
        """Carry out a call, and ask first where that has to be.

        Raises:
            Closed: The memory was closed.
        """
        if call.name != TOOL:
            return Carried(f"Error: There is no tool called {quoted(call.name)}. The only one is `{TOOL}`", True)
        gate, edit = self._gate, None
        step: Answer | Proposal = await self._worker.run(lambda: gate.begin(call.input, actor=actor, call_id=call.id))
        while isinstance(step, Proposal):
            proposal = step
            decision = gate.decided(proposal)
            if decision is None:
                verdict = await self._questions.ask(turn, call.id, proposal)
                before = gate.always
                decision = gate.heard(proposal, verdict)
                if gate.always != before:
                    self._allowed()
            step, written = await self._worker.run(lambda p=proposal, d=decision: self._finish(p, d))  # type: ignore[misc]
            edit = written or edit
        return Carried(step.text, step.is_error, step.event, edit)

    def _finish(self, proposal: Proposal, decision: object) -> tuple[Answer | Proposal, Event | None]:
        """Do as was decided; with what the person wrote in place of the agent."""
        if not isinstance(decision, Edit):
            return self._gate.finish(proposal, decision), None  # type: ignore[arg-type]
        memory = self._gate.memory
        seq = memory.head()[0]
        step = self._gate.finish(proposal, decision)
        changed = proposal.edited
        mine = (
            event
            for event in memory.events(seq)
            if isinstance(event.actor, Person)
            and event.command == "write"
            and changed is not None
            and any(change.path == changed.path for change in event.changes)
        )
        with contextlib.suppress(MemtuiError):  # it is done, whether it can be read again or not
            return step, next(mine, None)
        return step, None

    async def stopped(self, call: Call, actor: Actor) -> Carried:
        """Answer a call that the person stopped before it was carried out; the journal tells of it as well."""
        gate = self._gate
        try:
            answer = await self._worker.run(
                lambda: gate.memory.answer_instead(
                    call.input, Message.STOPPED, actor=actor, call_id=call.id, note="stopped"
                )
            )
        except Closed as error:
            return Carried(f"Error: not run: {error}", True)
        return Carried(answer.text, True, answer.event)
