"""A session told again, as the values that a conversation tells: what a screen shows of it when it is resumed."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from memtui.agents.chat.events import (
    CallBegan,
    CallEnded,
    ChatEvent,
    Compacted,
    ContextCleared,
    End,
    Fault,
    FaultKind,
    Model,
    ModelChanged,
    PolicyChanged,
    Remembered,
    Rewound,
    TextDelta,
    ThinkingDelta,
    Told,
    TurnBegan,
    TurnEnded,
    TurnUndone,
    Usage,
    UsageChanged,
)
from memtui.agents.chat.sessions.records import Record, blocks_of, mapping_in, number_in, objects_in, text_in
from memtui.agents.chat.sessions.restored import NOT_RUN, prompt_of, total, usage_in
from memtui.core.asking import Policy
from memtui.core.events import Event

ENDED = "memtui ended in the middle of this turn. What was said until then is kept."

EventOf = Callable[[int], Event | None]
"""The journal's event of a number, where it can be had."""


def events_of(records: Iterable[Record], event: EventOf = lambda _: None) -> Iterator[ChatEvent]:
    """What a conversation told, made again from its session.

    Args:
        records: The session.
        event: Gives the events that calls were recorded as (`memory.history.event`).
    """
    teller = _Teller(event)
    for record in records:
        yield from teller.tell(record)
    yield from teller.end()


class _Teller:
    """Tells one record after the other."""

    def __init__(self, event: EventOf) -> None:
        self._event = event
        self._turn: int | None = None
        self._texts = 0
        self._open: dict[str, CallBegan] = {}
        self._calls = 0
        self._refused = 0
        self._usage = Usage()
        self._model = ""
        self._policy = Policy.ASK
        self._always: frozenset[str] = frozenset()
        self._prompts: dict[int, Record] = {}

    def tell(self, record: Record) -> Iterator[ChatEvent]:
        turn = number_in(record, "turn")
        match record["type"]:
            case "turn_began":
                yield from self.end()
                self._turn, self._texts, self._calls, self._refused = turn, 0, 0, 0
                self._prompts[turn] = {name: record[name] for name in ("text", "attachments") if name in record}
                yield TurnBegan(turn, prompt_of(record))
            case "message" if record.get("role") == "assistant":
                yield from self._said(turn, record)
            case "repaired":
                yield from self._repaired(turn, mapping_in(record, "message"))
            case "call":
                yield self._ended(record)
            case "turn_ended":
                yield from self._turn_ended(turn, record)
            case "fault":
                yield Fault(_fault_kind(text_in(record, "kind")), text_in(record, "sentence"))
            case "cleared":
                yield ContextCleared(number_in(record, "calls"), number_in(record, "tokens"))
            case "compacted":
                yield Compacted(text_in(record, "summary"))
            case "rewound" if (why := record.get("why")) in ("retry", "edit", "clear"):
                yield from self.end()
                said = self._prompts.get(turn) if why != "clear" else None
                self._prompts = {each: prompt for each, prompt in self._prompts.items() if each < turn}
                yield Rewound(turn, None if said is None else prompt_of(said), why)
            case "undone":
                yield self._undone(turn, record)
            case "setting":
                yield from self._set(record)

    def end(self) -> Iterator[ChatEvent]:
        """The turn that is open has no end in the session: memtui ended in its middle, however that came."""
        if self._turn is None:
            return
        yield Told(ENDED)
        yield from self._turn_ended(self._turn, {"end": End.CUT.value})

    def _said(self, turn: int, message: Record) -> Iterator[ChatEvent]:
        for block in blocks_of(message):
            match block.get("type"):
                case "thinking":
                    yield ThinkingDelta(turn, text_in(block, "thinking"))
                case "text":
                    yield TextDelta(turn, self._texts, text_in(block, "text"))
                    self._texts += 1
                case "tool_use":
                    began = CallBegan(turn, text_in(block, "id"), text_in(block, "name"), mapping_in(block, "input"))
                    self._open[began.call_id] = began
                    yield began

    def _repaired(self, turn: int, message: dict[str, Any]) -> Iterator[ChatEvent]:
        if message.get("role") == "assistant":
            yield from self._said(turn, message)
            return
        for block in blocks_of(message):
            began = self._open.pop(text_in(block, "tool_use_id"), None)
            if began is not None:
                yield self._refusal(began, "\n".join(text_in(each, "text") for each in blocks_of(block)))

    def _refusal(self, began: CallBegan, text: str) -> CallEnded:
        self._calls += 1
        self._refused += 1
        return CallEnded(began.turn, began.call_id, began.name, began.fields, text, is_error=True)

    def _ended(self, record: Record) -> CallEnded:
        call_id = text_in(record, "call_id")
        self._open.pop(call_id, None)
        is_error = record.get("is_error") is True
        self._calls += 1
        self._refused += is_error
        return CallEnded(
            number_in(record, "turn"),
            call_id,
            text_in(record, "name"),
            mapping_in(record, "input"),
            text_in(record, "answer"),
            is_error,
            event=self._recorded(record, "seq"),
            edit=self._recorded(record, "edit_seq"),
        )

    def _recorded(self, record: Record, name: str) -> Event | None:
        seq = number_in(record, name)
        return self._event(seq) if seq else None

    def _turn_ended(self, turn: int, record: Record) -> Iterator[ChatEvent]:
        for began in self._open.values():
            yield self._refusal(began, NOT_RUN)
        self._open.clear()
        self._turn = None
        usage = usage_in(record)
        self._usage = total(self._usage, usage)
        seconds = record.get("seconds")
        yield TurnEnded(
            turn,
            _end(text_in(record, "end")),
            float(seconds) if isinstance(seconds, int | float) else 0.0,
            self._calls,
            self._refused,
            tuple(_remembered(each) for each in objects_in(record, "remembered")),
            usage,
        )
        yield UsageChanged(usage, self._usage)

    def _undone(self, turn: int, record: Record) -> ChatEvent:
        sentence = text_in(record, "sentence") or f"The writes of turn {turn} were taken back."
        event = self._recorded(record, "seq")
        return Told(sentence) if event is None else TurnUndone(turn, event, sentence)

    def _set(self, record: Record) -> Iterator[ChatEvent]:
        model = text_in(record, "model")
        if model and model != self._model:
            self._model = model
            yield ModelChanged(Model(model))
        policy, always = record.get("policy"), record.get("always")
        if policy in list(Policy):
            self._policy = Policy(policy)
        if isinstance(always, list):
            self._always = frozenset(each for each in always if isinstance(each, str))
        if "policy" in record or "always" in record:
            yield PolicyChanged(self._policy, self._always)


def _end(value: str) -> End:
    return End(value) if value in {each.value for each in End} else End.CUT


def _fault_kind(value: str) -> FaultKind:
    return FaultKind(value) if value in {each.value for each in FaultKind} else FaultKind.BUG


def _remembered(found: dict[str, Any]) -> Remembered:
    def number(name: str) -> int | None:
        return number_in(found, name) if isinstance(found.get(name), int) else None

    return Remembered(
        path=text_in(found, "path"),
        how=text_in(found, "how"),
        old_path=text_in(found, "old_path") or None,
        added=number("added"),
        removed=number("removed"),
        before=text_in(found, "before") or None,
        after=text_in(found, "after") or None,
        edited=found.get("edited") is True,
    )
