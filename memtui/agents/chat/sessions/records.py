"""The records of a session: one JSON object a line, appended as the conversation goes on, and never changed.

Every record has `type` and `at` (UTC, ISO 8601 with `Z`), and then:

| type | fields |
|---|---|
| `session` | `schema`, `id`, `folder`, `model`, `provider`, `forked_from`, `seq` of the journal at that time; first |
| `turn_began` | `turn`, `text`, `attachments`: a list of `name`, `media_type`, `size`; `agent` if it is not Claude |
| `message` | `turn`, `role`, `content`: exactly what stands in the API's history, in order |
| `streamed` | `turn`, `block`, `text`: a piece of the answer that comes in; replaced by the `message` that follows it |
| `call` | `turn`, `call_id`, `name`, `input`, `answer`, `is_error`, `seq`, `edit_seq`, `note`, `edit` |
| `turn_ended` | `turn`, `end`, `seconds`, `usage`, `remembered` |
| `fault` | `kind`, `sentence` |
| `cleared` | `calls`, `tokens` |
| `compacted` | `summary` |
| `rewound` | `turn`, `why` (`retry`, `edit`, `clear`, `fault`, `refused`): this turn and all after it are out |
| `undone` | `turn`, `seq`, `note`: a note to the model, for the next message |
| `agent` | `agent`, `session`: the session of an agent's own program that goes on behind this one, `of` |
| `setting` | any of `model`, `policy`, `always`, `effort`, `thinking` |
| `repaired` | `turn`, `message`: an addition without which the API would refuse the history |

In `call`, `seq` is the number of the journal's event, `edit_seq` that of what the person wrote in its place, `edit` her
text, and `note` the event's note (`declined`, `stopped`, ...). In `agent`, `of` is the conversation that the session
was opened for, which a copy does not share. A type that is not known here is taken in stride.
Readers never see `streamed`: pieces without their message, as of a program that was killed, are read as that message.
"""

import base64
import binascii
import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from memtui.agents.chat.events import Attachment, Prompt, Usage
from memtui.core.approvals import ApprovalPolicy
from memtui.core.errors import StateUnusable
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line

SCHEMA = 1
"""The newest schema that is understood here. Types and fields are added without raising it."""
_LARGEST = 1 << 53
LONGEST_LINE = 64 << 20
"""Bytes of the longest line that can be a record: no request to the API may be half as long."""
_CHUNK = 1 << 20
_TOO_LONG = b"too long"
"""Stands for a line that is too long: it is no record, and is left out as damaged."""

Record = dict[str, Any]
"""One line of a session."""


def make_record(kind: str, fields: Mapping[str, object]) -> Record:
    """A record of now."""
    now = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    return {"type": kind, "at": now, **fields}


def serialize_record(record: Record) -> bytes:
    """A record as a line, in ASCII: nothing in it drives a terminal, and a lone surrogate survives.

    Raises:
        TypeError, ValueError: A value in it has no form in JSON.
    """
    return json.dumps(record, default=_encode_value, separators=(",", ":")).encode("ascii") + b"\n"


def _encode_value(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    match value:
        case Enum():
            return value.value
        case frozenset() | set():
            return sorted(value)
        case Mapping():
            return dict(value)
        case tuple() | Iterator():
            return list(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def parse_record(line: bytes) -> Record | None:
    """The record on a line; `None` for one that is damaged."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("type"), str) else None


def iter_lines(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """The lines of a file with their ends; the last one may have none. A line too long for a record is never held.

    Args:
        read: Returns the next bytes, at most as many as its argument; none at the end.
    """
    parts: list[bytes] = []
    size = 0

    def finish_line(end: bytes) -> bytes:
        return b"".join((*parts, end)) if size + len(end) <= LONGEST_LINE else _TOO_LONG + b"\n"

    while data := read(_CHUNK):
        first, newline, others = data.partition(b"\n")
        if newline:
            yield finish_line(first + newline)
            whole, newline, rest = others.rpartition(b"\n")
            if newline:
                yield from (line + newline for line in whole.split(newline))
            parts, size = [rest], len(rest)
            continue
        size += len(data)
        if size <= LONGEST_LINE:
            parts.append(data)
        else:
            parts.clear()
    if size:
        yield b"".join(parts) or _TOO_LONG


def parse_records(lines: Iterable[bytes], damaged: Callable[[int], None] = lambda _: None) -> Iterator[Record]:
    """The records of lines with their ends; never in memory as a whole.

    The last line has no end if it was cut off: it is left out, unless it is whole.

    Args:
        lines: The lines.
        damaged: Called with the number of each line, from 1, that cannot be parsed.

    Raises:
        StateUnusable: They were written by a newer memtui.
    """
    yield from complete_streams(parse_lines(lines, damaged))


def parse_lines(lines: Iterable[bytes], damaged: Callable[[int], None] = lambda _: None) -> Iterator[Record]:
    """The records of lines as they stand; see `parse_records`."""
    for number, line in enumerate(lines, start=1):
        found = parse_record(line)
        if found is None:
            if line.endswith(b"\n") and line.strip():
                damaged(number)
            continue
        if found["type"] == "session":
            _check_schema(found)
        yield found


def complete_streams(records: Iterable[Record]) -> Iterator[Record]:
    """The records without the pieces of answers, and a message for the pieces that none followed."""
    turn, at, pieces = 0, "", dict[int, list[str]]()
    for record in records:
        if record["type"] == "streamed":
            turn, at = get_number(record, "turn"), get_text(record, "at")
            pieces.setdefault(get_number(record, "block"), []).append(get_text(record, "text"))
            continue
        if pieces and ends_stream(record):
            if record["type"] == "turn_began":
                yield _build_streamed_message(turn, at, pieces)
            pieces = {}
        yield record
    if pieces:
        yield _build_streamed_message(turn, at, pieces)


def ends_stream(record: Record) -> bool:
    """Whether no more pieces belong to those before a record: their message is there, or will never be."""
    message = record if record["type"] == "message" else get_mapping(record, "message")
    return record["type"] in ("turn_began", "turn_ended", "rewound") or message.get("role") == "assistant"


def _build_streamed_message(turn: int, at: str, pieces: Mapping[int, list[str]]) -> Record:
    texts = ("".join(pieces[block]) for block in sorted(pieces))
    content = [{"type": "text", "text": text} for text in texts if text.strip()]
    return {"type": "message", "at": at, "turn": turn, "role": "assistant", "content": content}


def _check_schema(header: Record) -> None:
    """Refuse the header of a newer memtui's session."""
    schema = header.get("schema", SCHEMA)
    if not isinstance(schema, int) or schema > SCHEMA:
        raise StateUnusable(
            f"This session was written by a newer memtui (schema {schema!r}; this one reads {SCHEMA}). "
            "Nothing was changed. Update memtui to continue it."
        )


def get_text(record: Mapping[str, Any], name: str) -> str:
    """A text in a record; empty where there is none."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def get_number(record: Mapping[str, Any], name: str) -> int:
    """A whole number in a record; 0 where there is none, or one out of range."""
    value = record.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST else 0


def get_mapping(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object in a record; empty where there is none."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def get_objects(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a list in a record."""
    value = record.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def get_blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The content of a message as blocks; a plain text becomes one."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return get_objects(message, "content")


def make_title(text: str, limit: int) -> str:
    """The first words of a message on one line, safe to show."""
    words = to_one_line(" ".join(text.split()))
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"


# A session may end anywhere: the process was killed, the disk was full, a line is damaged. The API refuses a history in
# which a tool call has no answer or an answer has no call, so a restored history is always repaired.

NOT_RUN = (
    "Error: memtui ended before the answer to this was recorded. It may have been carried out or not: view the memory "
    "before going on"
)
"""The answer to a call without one in its session."""

Message = dict[str, Any]
"""One message of the API's history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredSession:
    """The state of a conversation at the end of its session.

    Attributes:
        messages: The history, as the API takes it: roles alternate, every tool call is answered. It may end with a
            message of the user's that holds nothing but answers to tool calls: the next message goes into it.
        turn: The number of the last turn; 0 for none. No number is used twice.
        policy: The approval policy; `None` where the session does not say.
        always: The paths below which no approval is needed.
        model: The model that answered last.
        notes: Notes to the model for the next message, such as that a turn was undone.
        seqs: By turn, the numbers of the journal's events, edits of the person's included.
        undone: Turns whose writes were undone.
        last: The last message of the person that is in the history, to be sent again or edited.
        last_turn: The number of its turn: later ones may have been taken out. 0 for none.
        last_blocks: How many blocks it has: an unanswered message before it is in one message with it.
        unanswered: The last message of the person, if nothing came back to it; it is not in the history.
        folder: The memory folder, as it was recorded.
        seq: The number of the journal's last event when the session began.
    """

    messages: tuple[Message, ...] = ()
    turn: int = 0
    policy: ApprovalPolicy | None = None
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
class _ModelNote:
    """A note to the model about a turn; `sent_in` is the turn whose message it went with."""

    text: str
    turn: int
    sent_in: int | None = None


def restore_session(records: Iterable[Record]) -> RestoredSession:
    """The state of a conversation from its records."""
    restorer = _SessionRestorer()
    for record in records:
        restorer.add_record(record)
    return restorer.build()


class _SessionRestorer:
    """Takes one record after the other; holds the history and no more."""

    def __init__(self) -> None:
        self._messages: list[tuple[int, Message]] = []
        self._answers: dict[str, Record] = {}
        self._began: dict[int, Record] = {}
        self._ends: dict[int, str] = {}
        self._answered: set[int] = set()
        self._seqs: dict[int, list[int]] = {}
        self._notes: list[_ModelNote] = []
        self._undone: set[int] = set()
        self._settings: dict[str, Any] = {}
        self._header: Record = {}
        self._usage = Usage()
        self._turn = 0

    def add_record(self, record: Record) -> None:
        turn = get_number(record, "turn")
        self._turn = max(self._turn, turn)
        match record["type"]:
            case "session" if not self._header:
                self._header = record
            case "setting":
                self._settings |= {name: record[name] for name in _SETTINGS if name in record}
            case "turn_began":
                self._requeue_notes(self._find_dead_turns())
                self._began[turn] = record
            case "message" if record.get("role") in ("user", "assistant"):
                self._add_message(turn, {"role": record["role"], "content": record.get("content")})
            case "repaired":
                message = get_mapping(record, "message")
                if message.get("role") in ("user", "assistant"):
                    self._add_message(turn, message)
            case "call":
                self._answers[get_text(record, "call_id")] = record
                self._seqs.setdefault(turn, []).extend(
                    seq for name in ("edit_seq", "seq") if (seq := get_number(record, name))
                )
            case "turn_ended":
                self._ends[turn] = get_text(record, "end")
                self._usage = add_usage(self._usage, parse_usage(record))
            case "rewound":
                self._rewind(turn)
                if not self._messages:
                    self._usage = replace(self._usage, context=0)
            case "undone":
                self._undone.add(turn)
                default = f"The user took back what was written to memory in turn {turn}. View it before relying on it."
                self._notes.append(_ModelNote(get_text(record, "note") or default, turn))

    def _add_message(self, turn: int, message: Message) -> None:
        self._messages.append((turn, message))
        for block in get_blocks(message):
            if block.get("type") == "tool_result":
                self._answers.pop(get_text(block, "tool_use_id"), None)  # the history has it
        if message["role"] == "assistant":
            self._answered.add(turn)
        elif any(block.get("type") != "tool_result" for block in get_blocks(message)):
            for note in self._notes:
                if note.sent_in is None:
                    note.sent_in = turn

    def _rewind(self, first: int) -> None:
        self._messages = [(turn, message) for turn, message in self._messages if turn < first]
        self._began = {turn: record for turn, record in self._began.items() if turn < first}
        self._notes = [note for note in self._notes if note.turn < first]
        self._requeue_notes(
            {note.sent_in for note in self._notes if note.sent_in is not None and note.sent_in >= first}
        )

    def build(self) -> RestoredSession:
        dead = self._find_dead_turns()
        self._requeue_notes(dead)
        last = max((turn for turn in self._began if turn not in dead), default=None)
        newest = max(self._began, default=None)
        messages = (message for turn, message in self._messages if turn not in dead)
        return RestoredSession(
            messages=tuple(repair_messages(messages, self._answers)),
            turn=self._turn,
            model=get_text(self._settings, "model") or get_text(self._header, "model") or None,
            usage=self._usage,
            notes=tuple(note.text for note in self._notes if note.sent_in is None),
            seqs={turn: tuple(seqs) for turn, seqs in self._seqs.items()},
            undone=frozenset(self._undone),
            last=None if last is None else self._build_prompt(last),
            last_turn=last or 0,
            last_blocks=sum(
                _is_whole(block) and block["type"] != "tool_result"
                for turn, message in self._messages
                if turn == last and message["role"] == "user"
                for block in get_blocks(message)
            ),
            unanswered=self._build_prompt(newest) if newest is not None and newest in dead else None,
            folder=get_text(self._header, "folder"),
            seq=get_number(self._header, "seq"),
            **self._parse_settings(),
        )

    def _parse_settings(self) -> dict[str, Any]:
        policy, always, effort, thinking = map(self._settings.get, ("policy", "always", "effort", "thinking"))
        always = always if isinstance(always, list) else []
        return {
            "policy": ApprovalPolicy(policy) if policy in list(ApprovalPolicy) else None,
            "always": frozenset(each for each in always if isinstance(each, str)),
            "effort": effort if isinstance(effort, str) else None,
            "thinking": thinking if isinstance(thinking, bool) else None,
        }

    def _find_dead_turns(self) -> set[int]:
        """Turns without an answer, because of a fault or a kill: the person sends their messages again."""
        return {turn for turn in self._began if turn not in self._answered and self._ends.get(turn, "fault") == "fault"}

    def _requeue_notes(self, turns: Set[int]) -> None:
        for note in self._notes:
            if note.sent_in in turns:
                note.sent_in = None

    def _build_prompt(self, turn: int) -> Prompt:
        """The message of a turn, with its attachments from the history."""
        sent = next((message for each, message in self._messages if each == turn and message["role"] == "user"), {})
        attached = [block for block in get_blocks(sent) if block.get("type") in ("image", "document")]
        return parse_prompt(self._began[turn], [get_mapping(block, "source") for block in attached])


_SETTINGS = ("model", "policy", "always", "effort", "thinking")


def parse_prompt(began: Record, sources: Sequence[Mapping[str, Any]] = ()) -> Prompt:
    """The message of a `turn_began` record.

    Args:
        began: The record.
        sources: The attachments' sources in the history, in order; without them they are empty.
    """
    named = get_objects(began, "attachments")
    if len(sources) != len(named):
        sources = [{}] * len(named)
    attachments = (
        Attachment(get_text(each, "name"), get_text(each, "media_type"), _decode_source(source))
        for each, source in zip(named, sources, strict=True)
    )
    return Prompt(get_text(began, "text"), tuple(attachments))


def _decode_source(source: Mapping[str, Any]) -> bytes:
    data = get_text(source, "data")
    if source.get("type") != "base64":
        return data.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return b""


def parse_usage(record: Record) -> Usage:
    """The usage in a `turn_ended` record; a missing number is 0."""
    found = get_mapping(record, "usage")
    cost = found.get("cost")
    return Usage(
        **{name: get_number(found, name) for name in _COUNTED},
        cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )


_COUNTED = ("context", "input_tokens", "output_tokens", "cached_tokens", "requests", "memory_chars")


def add_usage(before: Usage, turn: Usage) -> Usage:
    """The usage of a session with one more turn. The cost is the sum of the known ones."""
    sums = {name: getattr(before, name) + getattr(turn, name) for name in _COUNTED if name != "context"}
    costs = [each.cost for each in (before, turn) if each.cost is not None]
    return Usage(context=turn.context or before.context, **sums, cost=sum(costs) if costs else None)


def repair_messages(messages: Iterable[Message], answers: Mapping[str, Record] | None = None) -> list[Message]:
    """A history as the API takes it.

    It begins with the user; roles alternate; each tool call is answered in the message after it, and each answer has a
    call in the message before; no message is empty, and no thinking lacks its signature.

    Args:
        messages: A history that may lack parts.
        answers: `call` records by call id, for calls whose answer the history lacks.
    """
    found: list[Message] = []
    open_calls: list[str] = []
    seen: set[str] = set()

    def answer_calls(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Answers to the open calls, in their order: as given, else as recorded, else that they were not run."""
        by_call = {block.get("tool_use_id"): block for block in reversed(given)}
        return [by_call.get(call) or _build_tool_result(call, (answers or {}).get(call)) for call in open_calls]

    for message in messages:
        role = message.get("role")
        whole = (block for block in get_blocks(message) if _is_whole(block))
        blocks = [block for block in whole if block["type"] not in _NEVER.get(str(role), ())]
        if role == "assistant":
            _append_blocks(found, "user", answer_calls([]))
            open_calls = []
            if not found:
                continue  # its question is lost
            blocks = _drop_repeated_calls(blocks, seen)
            _append_blocks(found, "assistant", blocks)
            open_calls = [block["id"] for block in blocks if block.get("type") == "tool_use"]
        else:
            results = [block for block in blocks if block["type"] == "tool_result"]
            others = [block for block in blocks if block["type"] != "tool_result"]
            _append_blocks(found, "user", [*answer_calls(results), *others])
            open_calls = []
    _append_blocks(found, "user", answer_calls([]))
    return found


_NEVER = {"user": ("tool_use", "thinking", "redacted_thinking"), "assistant": ("tool_result",)}
"""Blocks that a role never has."""


def _is_whole(block: Mapping[str, Any]) -> bool:
    match block.get("type"):
        case "text":
            return bool(get_text(block, "text").strip())
        case "thinking":
            return bool(get_text(block, "signature"))
        case "tool_use":
            return bool(get_text(block, "id") and get_text(block, "name")) and isinstance(block.get("input"), dict)
        case "tool_result":
            return bool(get_text(block, "tool_use_id"))
        case kind:
            return isinstance(kind, str)


def _drop_repeated_calls(blocks: list[dict[str, Any]], seen: set[str]) -> list[dict[str, Any]]:
    """The blocks without calls of an earlier id: the API takes each id once."""
    found = []
    for block in blocks:
        if block.get("type") == "tool_use":
            if block["id"] in seen:
                continue
            seen.add(block["id"])
        found.append(block)
    return found


def _build_tool_result(call_id: str, record: Record | None) -> dict[str, Any]:
    text = NOT_RUN if record is None else get_text(record, "answer")
    is_error = record is None or record.get("is_error") is True
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return {**result, "is_error": True} if is_error else result


def _append_blocks(found: list[Message], role: str, blocks: list[dict[str, Any]]) -> None:
    """Add blocks to the last message if it has the role, or begin another."""
    if not blocks:
        return
    if found and found[-1]["role"] == role:
        found[-1] = {**found[-1], "content": [*found[-1]["content"], *blocks]}
    else:
        found.append({"role": role, "content": blocks})
