"""A conversation's state: who answers, what was said, what was used, what the person allows.

Everything here happens in one thread, where a loop runs; see `memtui.agents.chat.conversation` for the way in.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from memtui.agents.chat.carrying import Carrier
from memtui.agents.chat.changes import Tally
from memtui.agents.chat.connecting import Connection
from memtui.agents.chat.events import (
    ChatEvent,
    Fault,
    FaultKind,
    Model,
    ModelChanged,
    ModelsKnown,
    PolicyChanged,
    Prompt,
    Ready,
    Told,
)
from memtui.agents.chat.exchange import Patience, unless_stopped
from memtui.agents.chat.faults import Judged
from memtui.agents.chat.history import Block, History, restored_entries, sendable
from memtui.agents.chat.incoming import partial
from memtui.agents.chat.options import ChatOptions
from memtui.agents.chat.pacing import Pacer
from memtui.agents.chat.questions import Questions
from memtui.agents.chat.recording import Recorder
from memtui.agents.chat.requests import Manner
from memtui.agents.chat.sessions.restored import Restored
from memtui.agents.chat.usage import Meter
from memtui.agents.chat.worker import Worker
from memtui.agents.gate import Gate
from memtui.agents.guidance import system_prompt
from memtui.core.asking import Policy
from memtui.core.events import Agent
from memtui.engine import Engine

NAME = "Claude"
"""What the model is called in the journal."""
_LISTING_SECONDS = 5.0
"""How long a first message waits for the list of models, which says what its model can do."""
_ENTER_HELPS = frozenset(
    {FaultKind.NETWORK, FaultKind.TIMEOUT, FaultKind.RATE_LIMIT, FaultKind.OVERLOADED, FaultKind.SERVER,
     FaultKind.CUT_STREAM, FaultKind.BUG, FaultKind.MEMORY}
)  # fmt: skip


class Talk:
    """The state of one conversation.

    Args:
        memory: The open memory.
        options: How the conversation is held.
        tell: Told what happens.
        recorder: Keeps it.
        restored: What it begins with.
        make_client: Makes a client of the SDK.
        patience: How long is waited.
    """

    def __init__(
        self,
        memory: Engine,
        options: ChatOptions,
        tell: Callable[[ChatEvent], None],
        recorder: Recorder,
        restored: Restored,
        make_client: Callable[[ChatOptions], Any],
        patience: Patience,
    ) -> None:
        self.memory = memory
        self.options = options
        self.recorder = recorder
        self.patience = patience
        self.pacer = Pacer(tell, partial)
        self.tell = self.pacer.tell
        self.connection = Connection(options, make_client)
        self.gate = Gate(memory, policy=options.policy, always=restored.always)
        self.worker = Worker()
        self.questions = Questions(self.tell)
        self.carrier = Carrier(self.gate, self.worker, self.questions, self.policy_changed)
        self.meter = Meter(restored.usage)
        self.session_tally = Tally()
        self.history = History(
            restored_entries(restored.messages, restored.last_turn, restored.model, restored.last_blocks)
        )
        self.stopping = asyncio.Event()
        self.turn = restored.turn
        """The number of the last turn."""
        self.last: tuple[int, Prompt] | None = (restored.last_turn, restored.last) if restored.last else None
        """The last message that can be sent again or edited, and its turn."""
        self.writes: tuple[int, list[int]] = (restored.turn, list(restored.seqs.get(restored.turn, ())))
        """The last turn, and the journal's numbers of what it did."""
        self.notes = list(restored.notes)
        """What the model is to be told with the next message."""
        self.told: dict[int, list[str]] = {}
        """The notes that went with the message of a turn."""
        self.unanswered: int | None = None
        """A turn that is out of the history, as nothing came back in it, and is not recorded as such yet."""
        self.manner = Manner(
            system=(sendable(options.system), sendable(system_prompt(options.guidance))),
            max_tokens=options.max_tokens,
            context_trigger=options.context_trigger,
            effort=options.effort if options.effort is not None else restored.effort,
            thinking=options.thinking if options.thinking is not None else restored.thinking,
        )
        self.model: Model | None = None
        self._wanted = options.model or restored.model
        self._listing: asyncio.Task[Judged | None] | None = None

    @property
    def actor(self) -> Agent:
        """Who acts on the memory."""
        return Agent(NAME, self.model.id if self.model else None, self.recorder.id)

    # Connecting

    async def connect(self) -> Judged | None:
        """Be able to send; why it is not possible, if it is not."""
        if (fault := self.connection.connect()) is not None:
            return fault
        if self.model is not None:
            self._list_again()
            return None
        if self._wanted is None:
            if (fault := await self.connection.list_models()) is not None:
                return fault
            self._wanted = self.connection.models[0].id
        self.model = self.connection.model(self._wanted)
        self.tell(Ready(self.model, self.connection.host, self.options.provider))
        self.recorder.write("setting", model=self.model.id)
        if self.connection.models:
            self.tell(ModelsKnown(self.connection.models))
        else:
            self._list_again()
        return None

    def _list_again(self) -> None:
        if not self.connection.models and (self._listing is None or self._listing.done()):
            self._listing = asyncio.ensure_future(self._list())

    async def _list(self) -> Judged | None:
        fault = await self.connection.list_models()
        if fault is None:
            self.tell(ModelsKnown(self.connection.models))
            if self.model is not None and (known := self.connection.model(self.model.id)) != self.model:
                self.model = known
                self.tell(ModelChanged(known))
        elif fault.kind is FaultKind.WRONG_KEY and not self.turn:
            self.tell(Fault(fault.kind, f"{fault.sentence} {fault.advice}"))
        return fault

    async def know_model(self) -> None:
        """Wait a while for the list of models.

        Raises:
            Stopped: The person stopped it.
        """
        if self._listing is not None and not self._listing.done():
            await unless_stopped(_done(self._listing), self.stopping)

    async def close(self) -> None:
        """Let go of everything."""
        if self._listing is not None and not self._listing.done():
            self._listing.cancel()
            await asyncio.wait({self._listing})
        self.worker.close()
        await self.connection.close()

    # Settings

    def set_model(self, id: str) -> None:
        """Have another model answer."""
        self._wanted = id
        self.model = self.connection.model(id)
        self.recorder.write("setting", model=id)
        self.tell(ModelChanged(self.model))
        if self.connection.models and all(model.id != id for model in self.connection.models):
            self.tell(Told(f"{self.connection.host} does not list {id}. It is tried all the same."))

    def set_manner(self, **values: object) -> None:
        """Set effort or thinking."""
        self.manner = replace(self.manner, **values)  # type: ignore[arg-type]
        self.recorder.write("setting", **values)

    def set_policy(self, policy: Policy, always: frozenset[str] | None) -> None:
        """Set what becomes of changes."""
        self.gate.policy = policy
        if always is not None:
            self.gate.always = always
        self.policy_changed()

    def policy_changed(self) -> None:
        """What becomes of changes is another thing from now on."""
        self.recorder.write("setting", policy=self.gate.policy.value, always=sorted(self.gate.always))
        self.tell(PolicyChanged(self.gate.policy, self.gate.always))

    # What is said

    def add(self, turn: int, role: str, content: list[Block], *, is_repair: bool = False) -> None:
        """Something was said: it is in the history from now on, and kept."""
        if not content:
            return
        model = self.model.id if self.model and role == "assistant" else None
        self.history.add(turn, role, content, model)
        if is_repair:
            self.recorder.write("repaired", turn=turn, message={"role": role, "content": content})
        else:
            self.recorder.write("message", turn=turn, role=role, content=content)

    def fault(self, found: Judged, prompt: Prompt | None, kept: str | None = None, trace: str | None = None) -> None:
        """Something went wrong.

        Args:
            found: What.
            prompt: The message that got no answer.
            kept: What became of what was said, where it is not that message.
            trace: Where it happened, of a bug.
        """
        if kept is None and prompt is not None:
            kept = "Your message is kept; Enter tries again." if found.kind in _ENTER_HELPS else "Your message is kept."
        sentence = " ".join(part for part in (found.sentence, found.advice, kept) if part)
        more = {} if trace is None else {"trace": trace}
        self.recorder.write("fault", kind=found.kind.value, sentence=sentence, **more)
        self.tell(Fault(found.kind, sentence, prompt))


async def _done(task: asyncio.Task[Judged | None]) -> None:
    await asyncio.wait({task}, timeout=_LISTING_SECONDS)
