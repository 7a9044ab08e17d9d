"""A conversation that is played: the methods of `Chat`, a real memory behind a real gate, and a script for a model.

What the model says is given beforehand, step by step; what becomes of its tool calls is not: they pass the gate and the
engine, so that questions, refusals and events are real ones.
"""

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memtui.agents.chat import events
from memtui.agents.chat.state import ChangeTally
from memtui.agents.gate import ApprovalGate
from memtui.core.approvals import ApprovalPolicy, Proposal, Stop, Verdict
from memtui.core.events import Agent, Event
from memtui.engine import Engine

MODEL = events.Model(
    "claude-newest-1", "Claude Newest", context=200_000, max_tokens=32_000, efforts=("low", "medium", "high"),
    thinking=("adaptive", "disabled"), clears_tools=True, compacts=True, input_price=3.0, output_price=15.0,
)  # fmt: skip
PLAIN = events.Model("claude-plain-1", "Claude Plain", context=100_000, max_tokens=8_000)


@dataclass(frozen=True)
class Say:
    """A paragraph of the answer."""

    text: str


@dataclass(frozen=True)
class Think:
    """Thinking."""

    text: str


@dataclass(frozen=True)
class Do:
    """A tool call."""

    input: Mapping[str, Any]


@dataclass(frozen=True)
class Hold:
    """Nothing more until the test lets it go on, or the turn is stopped."""

    go_on: threading.Event


@dataclass(frozen=True)
class Tell:
    """Any event, as it is."""

    event: events.ChatEvent


@dataclass(frozen=True)
class Fail:
    """The request fails; the message comes back."""

    fault: events.ChatFault


Step = Say | Think | Do | Hold | Tell | Fail


class Play:
    """What the model will say, one list of steps for each turn."""

    def __init__(self, *turns: list[Step]) -> None:
        self.turns = deque(turns)
        self.chats: list[ActedChat] = []
        self.is_slow = threading.Event()
        """Cleared while the conversation is not to become ready."""
        self.is_slow.set()

    def make(self, memory: Engine, options: events.ChatOptions, tell: Any, session: Any) -> "ActedChat":
        """As the screen makes one."""
        self.chats.append(ActedChat(self, memory, options, tell, session))
        return self.chats[-1]

    @property
    def chat(self) -> "ActedChat":
        """The conversation on screen."""
        return self.chats[-1]


class ActedChat:
    """The methods of `Chat`, as the screen calls them."""

    def __init__(self, play: Play, memory: Engine, options: events.ChatOptions, tell: Any, session: Any) -> None:
        self._play, self._memory, self._options, self._tell, self._session = play, memory, options, tell, session
        self.model: events.Model | None = replace(MODEL, id=options.model) if options.model else MODEL
        self.usage = events.Usage()
        self.turn = 0
        self.sent: list[events.Prompt] = []
        self.calls: list[tuple[str, tuple[object, ...]]] = []
        """Methods that were called, with what."""
        self.verdicts: list[Verdict] = []
        self.closed = False
        self._queue: list[events.Prompt] = []
        self._work = threading.Condition()
        self._busy = False
        self._stopping = threading.Event()
        self._answers: dict[int, Verdict] = {}
        self._asked = 0
        self._last: list[Event] = []
        self._gate = ApprovalGate(memory, policy=options.policy, ask=self._ask)
        self._thread = threading.Thread(target=self._run, daemon=True)

    # What the screen calls

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self.stop()
        with self._work:
            self.closed = True
            self._work.notify_all()
        if self._thread.ident is not None:
            self._thread.join(5)

    def send(self, prompt: events.Prompt) -> None:
        with self._work:
            self._queue.append(prompt)
            self._work.notify_all()
            self._tell(events.QueueChanged(tuple(self._queue)))

    @property
    def queued(self) -> tuple[events.Prompt, ...]:
        return tuple(self._queue)

    def remove_queued(self, index: int) -> events.Prompt | None:
        with self._work:
            if index >= len(self._queue):
                return None
            prompt = self._queue.pop(index)
            self._tell(events.QueueChanged(tuple(self._queue)))
            return prompt

    def stop(self) -> None:
        self.calls.append(("stop", ()))
        with self._work:
            self._stopping.set()
            self._work.notify_all()

    def answer(self, number: int, verdict: Verdict) -> None:
        with self._work:
            self.verdicts.append(verdict)
            self._answers[number] = verdict
            self._work.notify_all()

    def retry(self) -> None:
        self.calls.append(("retry", ()))
        if not self.sent:
            self._tell(events.Notice("There is nothing to send again."))
            return
        self._tell(events.ConversationRewound(self.turn, self.sent[-1], "retry"))
        self.send(self.sent[-1])

    def edit_last(self) -> None:
        self.calls.append(("edit_last", ()))
        self._tell(events.ConversationRewound(self.turn, self.sent[-1]))

    def undo_turn(self) -> None:
        self.calls.append(("undo_turn", ()))
        seqs = [event.seq for event in self._last if event.changes]
        if not seqs:
            self._tell(events.Notice("Nothing to undo: the last turn wrote nothing to memory."))
            return
        done = self._memory.undo(seqs)
        self._last = []
        assert done.event is not None
        names = ", ".join(change.path for change in done.event.changes)
        self._tell(events.TurnUndone(self.turn, done.event, f"Undid what this turn wrote: {names}."))

    def clear(self) -> None:
        self.calls.append(("clear", ()))
        self._tell(events.ConversationRewound(1, None))

    @property
    def policy(self) -> ApprovalPolicy:
        return self._gate.policy

    @property
    def always(self) -> frozenset[str]:
        return self._gate.always

    def set_policy(self, policy: ApprovalPolicy, always: frozenset[str] | None = None) -> None:
        self._gate.policy = policy
        if always is not None:
            self._gate.always = always
        self._tell(events.PolicyChanged(policy, self._gate.always))

    def set_model(self, name: str) -> None:
        self.calls.append(("set_model", (name,)))
        self.model = replace(MODEL, id=name)
        self._tell(events.ModelChanged(self.model))

    def set_effort(self, level: str | None) -> None:
        self.calls.append(("set_effort", (level,)))

    def set_thinking(self, thinks: bool | None) -> None:
        self.calls.append(("set_thinking", (thinks,)))

    # What happens

    def _run(self) -> None:
        self._play.is_slow.wait()
        assert self.model is not None
        self._tell(events.Ready(self.model, "127.0.0.1"))
        self._tell(events.ModelsListed((MODEL, PLAIN)))
        while True:
            with self._work:
                self._work.wait_for(lambda: self._queue or self.closed)
                if self.closed:
                    return
                prompt = self._queue.pop(0)
                self._tell(events.QueueChanged(tuple(self._queue)))
                self._stopping.clear()
                self.turn += 1
                self.sent.append(prompt)
            self._take_turn(prompt)

    def _take_turn(self, prompt: events.Prompt) -> None:
        self._session.write("turn_began", turn=self.turn, text=prompt.text, attachments=[])
        self._tell(events.TurnStarted(self.turn, prompt))
        self._last = []
        tally, calls, refused, end, block = ChangeTally(), 0, 0, events.TurnOutcome.DONE, 0
        for step in self._play.turns.popleft() if self._play.turns else [Say("Done.")]:
            if self._stopping.is_set():
                end = events.TurnOutcome.STOPPED
                break
            match step:
                case Say(text=text):
                    for at in range(0, len(text), 7):
                        self._tell(events.TextDelta(self.turn, block, text[at : at + 7]))
                    block += 1
                case Think(text=text):
                    self._tell(events.ThinkingDelta(self.turn, text))
                case Tell(event=event):
                    self._tell(event)
                case Hold(go_on=go_on):
                    while not go_on.wait(0.005) and not self._stopping.is_set():
                        pass
                case Fail(fault=fault):
                    end = events.TurnOutcome.FAULT
                    self._tell(replace(fault, prompt=prompt))
                    break
                case Do(input=fields):
                    calls += 1
                    refused += self._call(f"toolu_{self.turn:02}{calls:02}", fields, tally)
        if self._stopping.is_set():
            end = events.TurnOutcome.STOPPED
        usage = events.Usage(9_300, 9_100, 540, 0, 1, sum(350 for _ in range(calls)), 0.02)
        total = self.usage
        self.usage = events.Usage(
            24_000, total.input_tokens + 9_100, total.output_tokens + 540, 0, total.requests + 1,
            total.memory_chars + usage.memory_chars, (total.cost or 0) + 0.02,
        )  # fmt: skip
        self._tell(events.UsageChanged(usage, self.usage))
        remembered = tally.summarize(self._memory.history.text)
        self._session.write("turn_ended", turn=self.turn, end=end, seconds=1.9, usage=usage, remembered=[*remembered])
        self._tell(events.TurnEnded(self.turn, end, 1.9, calls, refused, remembered, usage))

    def _call(self, call_id: str, fields: Mapping[str, Any], tally: ChangeTally) -> bool:
        self._tell(events.CallDelta(self.turn, call_id, "memory", dict(fields)))
        self._tell(events.CallStarted(self.turn, call_id, "memory", fields))
        self._call_id = call_id
        assert self.model is not None
        actor = Agent("Claude", model=self.model.id, session=self._session.id)
        before = self._memory.get_head()[0]
        answer = self._gate.execute(dict(fields), actor=actor, call_id=call_id)
        edit = None
        for event in self._memory.events(before):
            tally.add(event)
            if event.changes:
                self._last.append(event)
            if event.command == "write":
                edit = event
        self._tell(
            events.CallEnded(
                self.turn, call_id, "memory", fields, answer.text, answer.is_error, event=answer.event, edit=edit
            )
        )
        self._session.write(
            "call", turn=self.turn, call_id=call_id, name="memory", input=dict(fields), answer=answer.text,
            is_error=answer.is_error, seq=answer.event.seq if answer.event else None,
            edit_seq=edit.seq if edit else None,
        )  # fmt: skip
        return answer.is_error

    def _ask(self, proposal: Proposal) -> Verdict:
        self._asked += 1
        number = self._asked
        self._tell(events.ApprovalNeeded(self.turn, self._call_id, number, proposal))
        with self._work:
            self._work.wait_for(lambda: number in self._answers or self._stopping.is_set())
            verdict = self._answers.get(number, Stop())
        self._tell(events.ApprovalResolved(number))
        if getattr(verdict, "always", None) is not None:
            self._tell(events.PolicyChanged(self._gate.policy, self._gate.always | {verdict.always}))
        return verdict
