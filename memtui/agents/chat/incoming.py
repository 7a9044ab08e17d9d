"""One answer of a model, put together as it comes in.

It may end at any point: what is there by then is made into blocks that the API takes back. Deltas are collected in
lists and joined once; nothing here takes longer the longer the answer is.
"""

import itertools
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from memtui.agents.chat.history import Block, sendable
from memtui.agents.chat.pacing import Pacer

_NOT_IN_IDS = re.compile("[^a-zA-Z0-9_-]")
"""What the API takes back neither in the id of a call nor in the name of a tool, wherever it came from."""
_LONGEST_NAME = 128
_DEEPEST = 64
"""Levels of a tool's input; ours has two. What is deeper is more than anybody may have to look into."""


@dataclass(slots=True)
class Call:
    """A tool call of an answer.

    Attributes:
        id: The model's id of it.
        name: The tool.
        input: Its input: a mapping, or the text that was sent where that is none.
        is_whole: Whether all of it came.
    """

    id: str
    name: str
    input: object
    is_whole: bool

    @property
    def fields(self) -> Mapping[str, object]:
        """The input, as far as it is a mapping."""
        return self.input if isinstance(self.input, dict) else {}


@dataclass(slots=True)
class Coming:
    """A block that comes in.

    Attributes:
        start: As it began.
        pieces: Of its text or its JSON.
        number: Of a text: which one of the turn.
        is_whole: Whether it was ended.
    """

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
        """What came of it."""
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


class Incoming:
    """Takes the events of one answer.

    Args:
        pacer: Tells what comes, at a pace that a screen can follow.
        turn: In which turn.
        texts: How many texts the turn had before.
        taken: Ids that calls had before: the API takes each once, and some gateways give one twice.
    """

    def __init__(self, pacer: Pacer, turn: int, texts: int = 0, taken: Collection[str] = ()) -> None:
        self._pacer = pacer
        self._taken = taken
        self._turn = turn
        self.texts = texts
        self.stop_reason: str | None = None
        self.stop_details: dict[str, Any] = {}
        self.usage: list[dict[str, Any]] = []
        """What was reported and is not counted yet."""
        self.edits: list[dict[str, Any]] = []
        """What context management did."""
        self.has_begun = False
        """Whether anything came that the person could see, or that could have cost something to make."""
        self._blocks: dict[int, Coming] = {}

    def take(self, event: Any) -> None:
        """Take one event of the SDK's; what is not known is passed over."""
        match event.type:
            case "message_start":
                self.usage.append(_plain(event.message.usage))
            case "content_block_start":
                self._begin(event.index, _plain(event.content_block))
            case "content_block_delta":
                if (block := self._blocks.get(event.index)) is not None:
                    self._extend(block, event.delta)
            case "content_block_stop":
                if (block := self._blocks.get(event.index)) is not None:
                    self._end(block)
            case "message_delta":
                self.stop_reason = event.delta.stop_reason
                self.stop_details = _plain(getattr(event.delta, "stop_details", None))
                self.usage.append(_plain(event.usage))
                edits = _plain(getattr(event, "context_management", None)).get("applied_edits")
                self.edits = [each for each in edits if isinstance(each, dict)] if isinstance(edits, list) else []

    def _begin(self, index: int, start: Block) -> None:
        self.has_begun = True
        block = self._blocks[index] = Coming(start)
        match block.kind:
            case "text":
                block.number = self.texts
                self.texts += 1
                self._add_text(block, start.get("text"))
            case "thinking" if start.get("thinking"):
                block.pieces.append(str(start["thinking"]))
                self._pacer.thinking(self._turn, str(start["thinking"]))
            case "tool_use":
                start["id"] = self._own_id(start.get("id"))
                self._pacer.call(self._turn, block)

    def _own_id(self, given: object) -> object:
        if not isinstance(given, str) or not given:
            return given
        given = _NOT_IN_IDS.sub("_", given)
        here = [block.start.get("id") for block in list(self._blocks.values())[:-1]]
        ids = itertools.chain([given], (f"{given}_{number}" for number in itertools.count(2)))
        return next(id for id in ids if id not in self._taken and id not in here)

    def _extend(self, block: Coming, delta: Any) -> None:
        match delta.type:
            case "text_delta" if block.kind == "text":
                self._add_text(block, delta.text)
            case "thinking_delta" if block.kind == "thinking" and isinstance(delta.thinking, str):
                block.pieces.append(delta.thinking)
                self._pacer.thinking(self._turn, delta.thinking)
            case "signature_delta" if block.kind == "thinking":
                block.start["signature"] = delta.signature
            case "input_json_delta" if block.kind == "tool_use" and isinstance(delta.partial_json, str):
                block.pieces.append(delta.partial_json)
                self._pacer.call(self._turn, block)
            case "compaction_delta" if block.kind == "compaction":
                block.start |= {name: value for name, value in _plain(delta).items() if name != "type"}
            case "citations_delta" if block.kind == "text":
                block.start["citations"] = [*(block.start.get("citations") or ()), _plain(delta.citation)]

    def _add_text(self, block: Coming, text: object) -> None:
        if isinstance(text, str) and text:
            block.pieces.append(text)
            self._pacer.text(self._turn, block.number, text)

    def _end(self, block: Coming) -> None:
        block.is_whole = True
        if block.kind == "tool_use":
            self._pacer.flush()

    # What is there by now

    @property
    def content(self) -> list[Block]:
        """What came until now, as the API takes it back."""
        return [made for block in self._blocks.values() if (made := _made(block)) is not None]

    @property
    def calls(self) -> list[Call]:
        """The tool calls among it."""
        return [_call(block) for block in self._blocks.values() if block.kind == "tool_use" and _is_call(block)]

    @property
    def summaries(self) -> list[str]:
        """What stands for all that was said before, where the API put it together."""
        found = [block.start.get("content") for block in self._blocks.values() if block.kind == "compaction"]
        return [text for text in found if isinstance(text, str) and text]


def _made(block: Coming) -> Block | None:
    start = block.start
    match block.kind:
        case "text":
            text = sendable(block.text)
            return {**start, "text": text} if text.strip() else None
        case "thinking":
            whole = block.is_whole and start.get("signature")
            return {**start, "thinking": block.text} if whole else None
        case "tool_use":
            if not _is_call(block):
                return None
            call = _call(block)
            name = _NOT_IN_IDS.sub("_", call.name)[:_LONGEST_NAME]
            return {"type": "tool_use", "id": call.id, "name": name, "input": sendable(dict(call.fields))}
    return start if block.is_whole else None


def _is_call(block: Coming) -> bool:
    return bool(block.start.get("id")) and isinstance(block.start.get("id"), str)


def _call(block: Coming) -> Call:
    raw = block.text
    given: object = block.start.get("input") or {}
    if raw.strip():
        try:
            given = json.loads(raw, parse_constant=_refuse)
        except (ValueError, RecursionError):
            given = raw if block.is_whole else dict(partial(raw))
    if _is_deep(given):
        given = raw
    return Call(str(block.start["id"]), str(block.start.get("name") or "?"), given, block.is_whole)


def _is_deep(value: object, levels: int = _DEEPEST) -> bool:
    """Whether a value goes deeper than whoever takes it apart can follow."""
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(within) and (not levels or any(_is_deep(each, levels - 1) for each in within))


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def partial(raw: str) -> Mapping[str, object]:
    """The fields of an object as far as they are there; the last text may end in the middle."""
    if not raw.strip():
        return {}
    from jiter import from_json  # the SDK's: loaded with it, when there is anything to read

    try:
        found = from_json(raw.encode("utf-8", "replace"), partial_mode="trailing-strings")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _plain(value: Any) -> dict[str, Any]:
    """What the SDK makes of an object, as it was sent."""
    if isinstance(value, dict):
        return dict(value)
    to_dict = getattr(value, "to_dict", None)
    found = to_dict(mode="python", warnings=False) if callable(to_dict) else {}  # what a gateway sends may be odd
    return found if isinstance(found, dict) else {}
