"""One answer of a model, assembled as it streams in, and emitted at a pace that a screen can follow.

It may end at any point: the part that came is made into blocks that the API takes back. Deltas are collected in lists
and joined once; nothing here takes longer the longer the answer is.
"""

import asyncio
import itertools
import json
import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from typing import Any

from memtui.agents.chat.events import CallDelta, ChatEvent, TextDelta, ThinkingDelta
from memtui.agents.chat.history import Block, sanitize_value
from memtui.core.lazy_dataclass import dataclass

EVERY = 1 / 30
"""Seconds between two deltas."""
RECORDED_EVERY = 0.2
"""Seconds between two pieces of an answer in the session's file."""
_SHARE_PARSED = 0.05
"""Share of the time that may go into parsing incomplete tool calls."""
_NOT_IN_IDS = re.compile("[^a-zA-Z0-9_-]")
"""Characters that the API takes back neither in the id of a call nor in the name of a tool."""
_LONGEST_NAME = 128
_DEEPEST = 64
"""Levels of a tool's input; ours has two."""


class StreamPacer:
    """Holds deltas back, for a moment: emits at most once in `every` seconds, and in order.

    A model may write five hundred tokens a second, and the screen shares one interpreter with the stream. Used in one
    thread, where a loop runs.

    Args:
        emit: Takes the events.
        partial: Parses the fields of an incomplete object.
        every: Seconds.
    """

    def __init__(
        self, emit: Callable[[ChatEvent], None], partial: Callable[[str], Mapping[str, object]], *, every: float = EVERY
    ) -> None:
        self._emit = emit
        self._partial = partial
        self._every = every
        self._pieces: list[str] = []
        self._of: tuple[int, int | None] = (0, None)
        """Turn and block of the pieces; no block for thinking."""
        self._call: tuple[int, StreamBlock] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0
        self._wait = every

    def add_text(self, turn: int, block: int, text: str) -> None:
        """Add a piece of the answer."""
        self._append((turn, block), text)

    def add_thinking(self, turn: int, text: str) -> None:
        """Add a piece of thinking."""
        self._append((turn, None), text)

    def add_call(self, turn: int, call: "StreamBlock") -> None:
        """Note that more of a tool call came in."""
        if self._pieces or (self._call is not None and self._call[1] is not call):
            self.flush()
        self._call = (turn, call)
        self._schedule()

    def emit(self, event: ChatEvent) -> None:
        """Emit an event, after the deltas that wait."""
        self.flush()
        self._emit(event)

    def flush(self) -> None:
        """Emit the deltas that wait."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pieces:
            text, (turn, block) = "".join(self._pieces), self._of
            self._pieces.clear()
            self._wait = self._every
            self._emit(ThinkingDelta(turn, text) if block is None else TextDelta(turn, block, text))
        elif self._call is not None:
            (turn, call), self._call = self._call, None
            began = time.perf_counter()
            fields = self._partial(call.text)
            self._wait = max(self._every, (time.perf_counter() - began) / _SHARE_PARSED)
            call_id, name = str(call.start.get("id") or ""), str(call.start.get("name") or "?")
            self._emit(CallDelta(turn, call_id, name, fields))
        self._next = time.monotonic() + self._wait

    def _append(self, of: tuple[int, int | None], text: str) -> None:
        if self._call is not None or (self._pieces and self._of != of):
            self.flush()
        self._of = of
        self._pieces.append(text)
        self._schedule()

    def _schedule(self) -> None:
        if self._timer is not None:
            return
        wait = self._next - time.monotonic()
        if wait <= 0:
            self.flush()
        else:
            self._timer = asyncio.get_running_loop().call_later(wait, self.flush)


class StreamRecorder:
    """Writes the text of an answer to the session while it comes in, so that a kill loses nothing that was on screen.

    Used in one thread, where a loop runs. The message that follows holds all of it: `discard` what waits then.

    Args:
        write: Writes a record.
        every: Seconds between two of them.
    """

    def __init__(self, write: Callable[..., None], *, every: float = RECORDED_EVERY) -> None:
        self._write = write
        self._every = every
        self._pieces: list[TextDelta] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, delta: TextDelta) -> None:
        """Take a piece; it is written soon, with those that follow."""
        self._pieces.append(delta)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._every, self._write_pieces)

    def discard(self) -> None:
        """Forget what is not written yet."""
        self._pieces.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write_pieces(self) -> None:
        pieces, self._pieces, self._timer = self._pieces, [], None
        for (turn, block), run in itertools.groupby(pieces, key=lambda each: (each.turn, each.block)):
            self._write("streamed", turn=turn, block=block, text="".join(each.text for each in run))


@dataclass(slots=True)
class ToolCall:
    """A tool call of an answer. `input` is a mapping, or the text that was sent where that is none."""

    id: str
    name: str
    input: object
    is_whole: bool

    @property
    def fields(self) -> Mapping[str, object]:
        """The input, if it is a mapping."""
        return self.input if isinstance(self.input, dict) else {}


@dataclass(slots=True)
class StreamBlock:
    """A block that streams in: its start, the pieces of its text or JSON, and the number of a text in the turn."""

    start: Block
    pieces: list[str] = field(default_factory=list)
    number: int = 0
    is_whole: bool = False

    @property
    def kind(self) -> str:
        """Its type."""
        return str(self.start.get("type"))

    @property
    def text(self) -> str:
        """The pieces joined."""
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


class AnswerStream:
    """Assembles the events of one answer.

    Args:
        pacer: Emits the deltas.
        turn: The number of the turn.
        texts: Text blocks that the turn had before.
        taken: Ids of earlier calls: the API takes each once, and some gateways give one twice.
    """

    def __init__(self, pacer: StreamPacer, turn: int, texts: int = 0, taken: Collection[str] = ()) -> None:
        self._pacer = pacer
        self._taken = taken
        self._turn = turn
        self.texts = texts
        self.stop_reason: str | None = None
        self.stop_details: dict[str, Any] = {}
        self.usage: list[dict[str, Any]] = []
        """Reports that are not counted yet."""
        self.edits: list[dict[str, Any]] = []
        """The edits of context management."""
        self.has_begun = False
        """Whether any part came that the person could see, or that could have cost something to make."""
        self._blocks: dict[int, StreamBlock] = {}

    def handle_event(self, event: Any) -> None:
        """Take one event of the SDK's; an unknown one is ignored."""
        match event.type:
            case "message_start":
                self.usage.append(_to_dict(event.message.usage))
            case "content_block_start":
                self._begin_block(event.index, _to_dict(event.content_block))
            case "content_block_delta":
                if (block := self._blocks.get(event.index)) is not None:
                    self._extend_block(block, event.delta)
            case "content_block_stop":
                if (block := self._blocks.get(event.index)) is not None:
                    block.is_whole = True
                    if block.kind == "tool_use":
                        self._pacer.flush()
            case "message_delta":
                self.stop_reason = event.delta.stop_reason
                self.stop_details = _to_dict(getattr(event.delta, "stop_details", None))
                self.usage.append(_to_dict(event.usage))
                edits = _to_dict(getattr(event, "context_management", None)).get("applied_edits")
                self.edits = [each for each in edits if isinstance(each, dict)] if isinstance(edits, list) else []

    def _begin_block(self, index: int, start: Block) -> None:
        self.has_begun = True
        block = self._blocks[index] = StreamBlock(start)
        match block.kind:
            case "text":
                block.number = self.texts
                self.texts += 1
                self._add_text(block, start.get("text"))
            case "thinking" if start.get("thinking"):
                block.pieces.append(str(start["thinking"]))
                self._pacer.add_thinking(self._turn, str(start["thinking"]))
            case "tool_use":
                start["id"] = self._make_unique_id(start.get("id"))
                self._pacer.add_call(self._turn, block)

    def _make_unique_id(self, given: object) -> object:
        if not isinstance(given, str) or not given:
            return given
        given = _NOT_IN_IDS.sub("_", given)
        here = [block.start.get("id") for block in list(self._blocks.values())[:-1]]
        ids = itertools.chain([given], (f"{given}_{number}" for number in itertools.count(2)))
        return next(id for id in ids if id not in self._taken and id not in here)

    def _extend_block(self, block: StreamBlock, delta: Any) -> None:
        match delta.type:
            case "text_delta" if block.kind == "text":
                self._add_text(block, delta.text)
            case "thinking_delta" if block.kind == "thinking" and isinstance(delta.thinking, str):
                block.pieces.append(delta.thinking)
                self._pacer.add_thinking(self._turn, delta.thinking)
            case "signature_delta" if block.kind == "thinking":
                block.start["signature"] = delta.signature
            case "input_json_delta" if block.kind == "tool_use" and isinstance(delta.partial_json, str):
                block.pieces.append(delta.partial_json)
                self._pacer.add_call(self._turn, block)
            case "compaction_delta" if block.kind == "compaction":
                block.start |= {name: value for name, value in _to_dict(delta).items() if name != "type"}
            case "citations_delta" if block.kind == "text":
                block.start["citations"] = [*(block.start.get("citations") or ()), _to_dict(delta.citation)]

    def _add_text(self, block: StreamBlock, text: object) -> None:
        if isinstance(text, str) and text:
            block.pieces.append(text)
            self._pacer.add_text(self._turn, block.number, text)

    @property
    def content(self) -> list[Block]:
        """The blocks until now, as the API takes them back."""
        return [made for block in self._blocks.values() if (made := _build_block(block)) is not None]

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls until now."""
        return [_build_call(block) for block in self._blocks.values() if block.kind == "tool_use" and _is_call(block)]

    @property
    def summaries(self) -> list[str]:
        """The API's summaries of a compacted conversation."""
        found = [block.start.get("content") for block in self._blocks.values() if block.kind == "compaction"]
        return [text for text in found if isinstance(text, str) and text]


def _build_block(block: StreamBlock) -> Block | None:
    start = block.start
    match block.kind:
        case "text":
            text = sanitize_value(block.text)
            return {**start, "text": text} if text.strip() else None
        case "thinking":
            whole = block.is_whole and start.get("signature")
            return {**start, "thinking": block.text} if whole else None
        case "tool_use":
            if not _is_call(block):
                return None
            call = _build_call(block)
            name = _NOT_IN_IDS.sub("_", call.name)[:_LONGEST_NAME]
            return {"type": "tool_use", "id": call.id, "name": name, "input": sanitize_value(dict(call.fields))}
    return start if block.is_whole else None


def _is_call(block: StreamBlock) -> bool:
    return bool(block.start.get("id")) and isinstance(block.start.get("id"), str)


def _build_call(block: StreamBlock) -> ToolCall:
    raw = block.text
    given: object = block.start.get("input") or {}
    if raw.strip():
        try:
            given = json.loads(raw, parse_constant=_reject_constant)
        except (ValueError, RecursionError):
            given = raw if block.is_whole else dict(parse_partial_json(raw))
    if _is_deep(given):
        given = raw
    return ToolCall(str(block.start["id"]), str(block.start.get("name") or "?"), given, block.is_whole)


def _is_deep(value: object, levels: int = _DEEPEST) -> bool:
    """Whether a value has more levels than a reader of it can follow."""
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(within) and (not levels or any(_is_deep(each, levels - 1) for each in within))


def _reject_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def parse_partial_json(raw: str) -> Mapping[str, object]:
    """The fields of an incomplete object; its last text may end in the middle."""
    if not raw.strip():
        return {}
    from jiter import from_json  # noqa: PLC0415 - start-up: only a stream needs it

    try:
        found = from_json(raw.encode("utf-8", "replace"), partial_mode="trailing-strings")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _to_dict(value: Any) -> dict[str, Any]:
    """An object of the SDK as it was sent."""
    if isinstance(value, dict):
        return dict(value)
    to_dict = getattr(value, "to_dict", None)
    found = to_dict(mode="python", warnings=False) if callable(to_dict) else {}  # a gateway may send anything
    return found if isinstance(found, dict) else {}
