"""What a conversation goes on with after its session was read again.

A session may end anywhere: the process was killed, the disk was full, a line is damaged. The API refuses a history in
which a tool call has no answer or an answer has no call, so what is taken from a session is always mended.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from memtui.agents.chat.events import Attachment, Prompt, Usage
from memtui.agents.chat.sessions.records import Record, blocks_of, mapping_in, number_in, objects_in, text_in
from memtui.core.asking import Policy

NOT_RUN = (
    "Error: memtui ended before the answer to this was recorded. It may have been carried out or not: view the memory "
    "before going on"
)
"""What the model is answered for a call of which the session tells no answer."""

Message = dict[str, Any]
"""One message of the API's history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a session comes to.

    Attributes:
        messages: The history, as the API takes it: roles alternate, every tool call is answered. It may end with a
            message of the user's that holds nothing but answers to tool calls: what she says next goes into it.
        turn: The number of the last turn; 0 for none. None is used twice.
        policy: What becomes of changes; `None` where the session does not say.
        always: Below which paths the person need not be asked.
        model: Which model answered last.
        effort: One of the levels; `None` leaves it to the model.
        thinking: Whether the model may think; `None` leaves it to the model.
        usage: Of the whole session.
        notes: What the model is to be told at the head of the next message, such as that a turn was undone.
        seqs: Of each turn, the numbers of the journal's events that it made, edits of the person's included.
        undone: Turns of which the writes were taken back.
        last: The last message of the person's that is in the history, to be sent again or edited.
        last_turn: The number of its turn: later ones may have been taken out. 0 for none.
        last_blocks: How many blocks it has: what came to nothing before it is in one message with it.
        unanswered: What the person said last, if nothing came back to it; it is not in the history.
        folder: The memory folder, as it was recorded.
        seq: The number of the journal's last event when the session began.
    """

    messages: tuple[Message, ...] = ()
    turn: int = 0
    policy: Policy | None = None
    always: frozenset[str] = frozenset()
    model: str | None = None
    effort: str | None = None
    thinking: bool | None = None
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    seqs: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    undone: frozenset[int] = frozenset()
    last: Prompt | None = None
    last_turn: int = 0
    last_blocks: int = 0
    unanswered: Prompt | None = None
    folder: str = ""
    seq: int = 0


@dataclass(slots=True)
class _Note:
    """What the model is to be told.

    Attributes:
        text: The words.
        turn: About which turn.
        told_in: In which turn it was told; `None` for not yet.
    """

    text: str
    turn: int
    told_in: int | None = None


def restored_from(records: Iterable[Record]) -> Restored:
    """Put together what a session comes to."""
    reader = _Reader()
    for record in records:
        reader.take(record)
    return reader.restored()


class _Reader:
    """Takes one record after the other; holds the history and no more."""

    def __init__(self) -> None:
        self._messages: list[tuple[int, Message]] = []
        self._answers: dict[str, Record] = {}
        self._began: dict[int, Record] = {}
        self._ends: dict[int, str] = {}
        self._answered: set[int] = set()
        self._seqs: dict[int, list[int]] = {}
        self._notes: list[_Note] = []
        self._undone: set[int] = set()
        self._settings: dict[str, Any] = {}
        self._header: Record = {}
        self._usage = Usage()
        self._turn = 0

    def take(self, record: Record) -> None:
        turn = number_in(record, "turn")
        self._turn = max(self._turn, turn)
        match record["type"]:
            case "session" if not self._header:
                self._header = record
            case "setting":
                self._settings |= {name: record[name] for name in _SETTINGS if name in record}
            case "turn_began":
                self._untell(self._dead())
                self._began[turn] = record
            case "message" if record.get("role") in ("user", "assistant"):
                self._take_message(turn, {"role": record["role"], "content": record.get("content")})
            case "repaired":
                message = mapping_in(record, "message")
                if message.get("role") in ("user", "assistant"):
                    self._take_message(turn, message)
            case "call":
                self._answers[text_in(record, "call_id")] = record
                self._seqs.setdefault(turn, []).extend(
                    seq for name in ("edit_seq", "seq") if (seq := number_in(record, name))
                )
            case "turn_ended":
                self._ends[turn] = text_in(record, "end")
                self._usage = total(self._usage, usage_in(record))
            case "rewound":
                self._rewind(turn)
                if not self._messages:
                    self._usage = replace(self._usage, context=0)
            case "undone":
                self._undone.add(turn)
                self._notes.append(_Note(text_in(record, "note") or _undone(turn), turn))

    def _take_message(self, turn: int, message: Message) -> None:
        self._messages.append((turn, message))
        for block in blocks_of(message):
            if block.get("type") == "tool_result":
                self._answers.pop(text_in(block, "tool_use_id"), None)  # the history has it: no need to hold it twice
        if message["role"] == "assistant":
            self._answered.add(turn)
        elif any(block.get("type") != "tool_result" for block in blocks_of(message)):
            for note in self._notes:
                if note.told_in is None:
                    note.told_in = turn

    def _rewind(self, first: int) -> None:
        self._messages = [(turn, message) for turn, message in self._messages if turn < first]
        self._began = {turn: record for turn, record in self._began.items() if turn < first}
        self._notes = [note for note in self._notes if note.turn < first]
        self._untell({note.told_in for note in self._notes if note.told_in is not None and note.told_in >= first})

    def restored(self) -> Restored:
        dead = self._dead()
        self._untell(dead)
        last = max((turn for turn in self._began if turn not in dead), default=None)
        newest = max(self._began, default=None)
        unanswered = newest if newest in dead else None
        messages = (message for turn, message in self._messages if turn not in dead)
        policy = self._settings.get("policy")
        always = self._settings.get("always")
        effort, thinking = self._settings.get("effort"), self._settings.get("thinking")
        return Restored(
            messages=tuple(mended(messages, self._answers)),
            turn=self._turn,
            policy=Policy(policy) if policy in list(Policy) else None,
            always=frozenset(each for each in always if isinstance(each, str)) if isinstance(always, list) else _NONE,
            model=text_in(self._settings, "model") or text_in(self._header, "model") or None,
            effort=effort if isinstance(effort, str) else None,
            thinking=thinking if isinstance(thinking, bool) else None,
            usage=self._usage,
            notes=tuple(note.text for note in self._notes if note.told_in is None),
            seqs={turn: tuple(seqs) for turn, seqs in self._seqs.items()},
            undone=frozenset(self._undone),
            last=None if last is None else self._prompt(last),
            last_turn=last or 0,
            last_blocks=sum(
                _is_whole(block) and block["type"] != "tool_result"
                for turn, message in self._messages
                if turn == last and message["role"] == "user"
                for block in blocks_of(message)
            ),
            unanswered=None if unanswered is None else self._prompt(unanswered),
            folder=text_in(self._header, "folder"),
            seq=number_in(self._header, "seq"),
        )

    def _dead(self) -> set[int]:
        """Turns to which nothing came back, because of a fault or because memtui was killed: what the person said in
        them is hers to say again, and not in the history.
        """
        return {turn for turn in self._began if turn not in self._answered and self._ends.get(turn, "fault") == "fault"}

    def _untell(self, turns: Set[int]) -> None:
        for note in self._notes:
            if note.told_in in turns:
                note.told_in = None

    def _prompt(self, turn: int) -> Prompt:
        """What the person said in a turn, with its attachments as they stand in the message."""
        began = self._began[turn]
        said = next((message for each, message in self._messages if each == turn and message["role"] == "user"), {})
        sources = [
            mapping_in(block, "source") for block in blocks_of(said) if block.get("type") in ("image", "document")
        ]
        return prompt_of(began, sources)


_NONE: frozenset[str] = frozenset()
_SETTINGS = ("model", "policy", "always", "effort", "thinking")


def _undone(turn: int) -> str:
    return f"The user took back what was written to memory in turn {turn}. View it before relying on it."


def prompt_of(began: Record, sources: Iterable[Mapping[str, Any]] = ()) -> Prompt:
    """The message of a `turn_began`.

    Args:
        began: The record.
        sources: What the message holds of its attachments, in order; without them they are empty.
    """
    attachments = []
    given = list(sources)
    named = objects_in(began, "attachments")
    for number, each in enumerate(named):
        source = given[number] if len(given) == len(named) else {}
        attachments.append(Attachment(text_in(each, "name"), text_in(each, "media_type"), _data(source)))
    return Prompt(text_in(began, "text"), tuple(attachments))


def _data(source: Mapping[str, Any]) -> bytes:
    data = text_in(source, "data")
    if source.get("type") != "base64":
        return data.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return b""


def usage_in(record: Record) -> Usage:
    """The usage in a `turn_ended`; what is not told is 0."""
    found = mapping_in(record, "usage")
    cost = found.get("cost")
    return Usage(
        **{name: number_in(found, name) for name in _COUNTED},
        cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )


_COUNTED = ("context", "input_tokens", "output_tokens", "cached_tokens", "requests", "memory_chars")


def total(before: Usage, turn: Usage) -> Usage:
    """The usage of a session with one more turn. Its cost is known as far as that of any turn is."""
    sums = {name: getattr(before, name) + getattr(turn, name) for name in _COUNTED if name != "context"}
    costs = [each.cost for each in (before, turn) if each.cost is not None]
    return Usage(context=turn.context or before.context, **sums, cost=sum(costs) if costs else None)


def mended(messages: Iterable[Message], answers: Mapping[str, Record] | None = None) -> list[Message]:
    """A history as the API takes it.

    It begins with the user; roles alternate; each tool call is answered in the message after it, and each answer has a
    call in the message before; no message is empty, and no thinking lacks its signature.

    Args:
        messages: A history that may lack parts.
        answers: `call` records by call id: what is known to have been answered where the history does not say.
    """
    found: list[Message] = []
    open_calls: list[str] = []
    seen: set[str] = set()

    def answer(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Answers to the open calls, in their order: as given, else as recorded, else that they were not run."""
        by_call = {block.get("tool_use_id"): block for block in reversed(given)}
        return [by_call.get(call) or _result(call, (answers or {}).get(call)) for call in open_calls]

    for message in messages:
        role = message.get("role")
        blocks = [
            block for block in blocks_of(message) if _is_whole(block) and block["type"] not in _NEVER.get(str(role), ())
        ]
        if role == "assistant":
            if open_calls:
                _add(found, "user", answer([]))
                open_calls = []
            if not found:
                continue  # what it answered is lost
            blocks = _once_called(blocks, seen)
            _add(found, "assistant", blocks)
            open_calls = [block["id"] for block in blocks if block.get("type") == "tool_use"]
        else:
            results = [block for block in blocks if block.get("type") == "tool_result"]
            _add(found, "user", [*answer(results), *(block for block in blocks if block.get("type") != "tool_result")])
            open_calls = []
    if open_calls:
        _add(found, "user", answer([]))
    return found


_NEVER = {"user": ("tool_use", "thinking", "redacted_thinking"), "assistant": ("tool_result",)}
"""Blocks that a role never has."""


def _is_whole(block: Mapping[str, Any]) -> bool:
    match block.get("type"):
        case "text":
            return bool(text_in(block, "text").strip())
        case "thinking":
            return bool(text_in(block, "signature"))
        case "tool_use":
            return bool(text_in(block, "id") and text_in(block, "name")) and isinstance(block.get("input"), dict)
        case "tool_result":
            return bool(text_in(block, "tool_use_id"))
        case kind:
            return isinstance(kind, str)


def _once_called(blocks: list[dict[str, Any]], seen: set[str]) -> list[dict[str, Any]]:
    """The blocks without calls whose id was there before: the API takes each id once."""
    kept = []
    for block in blocks:
        if block.get("type") == "tool_use":
            if block["id"] in seen:
                continue
            seen.add(block["id"])
        kept.append(block)
    return kept


def _result(call_id: str, record: Record | None) -> dict[str, Any]:
    text = NOT_RUN if record is None else text_in(record, "answer")
    is_error = record is None or record.get("is_error") is True
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return {**result, "is_error": True} if is_error else result


def _add(found: list[Message], role: str, blocks: list[dict[str, Any]]) -> None:
    """Add blocks to the message that the role is at, or begin one."""
    if not blocks:
        return
    if found and found[-1]["role"] == role:
        found[-1] = {**found[-1], "content": [*found[-1]["content"], *blocks]}
    else:
        found.append({"role": role, "content": blocks})
