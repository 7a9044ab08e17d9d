"""The history of a conversation, as the API is to get it: whatever was stopped, cut off or taken out on the way.

The API refuses a history in which roles do not alternate, a tool call has no answer, a text is empty or thinking lacks
its signature. A conversation that was broken off once would then be lost for good, so nothing leaves here unmended.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.agents.chat.sessions.restored import Message, mended

Block = dict[str, Any]

STOPPED = "Error: not run: the user stopped before this call was complete. Nothing was changed"
CUT_OFF = "Error: not run: the answer was cut off before this call was complete. Nothing was changed"
BROKEN_OFF = "Error: not run: the connection broke off before this was carried out. Nothing was changed"
"""What the model is answered for calls that were not carried out."""


def too_many(limit: int) -> str:
    """The answer to calls over the limit of a turn."""
    return f"Error: not run: this turn has made {limit:,} tool calls, which is the limit. Nothing was changed"


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the history.

    Attributes:
        turn: In which turn it was said.
        message: As the API takes it.
        model: Who said it; `None` for the person, and where it is not known.
    """

    turn: int
    message: Message
    model: str | None = None


class History:
    """What was said, in order. It holds no more than that."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = list(entries)
        self.call_ids: set[str] = set()
        """Of every tool call that was ever in it."""
        for entry in self._entries:
            self._note_ids(entry.message["content"])

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, turn: int, role: str, content: Sequence[Block], model: str | None = None) -> None:
        """Something more was said."""
        if content:
            self._entries.append(Entry(turn, {"role": role, "content": list(content)}, model))
            self._note_ids(content)

    def _note_ids(self, content: Sequence[Block]) -> None:
        self.call_ids.update(block["id"] for block in content if block.get("type") == "tool_use")

    def rewind(self, turn: int) -> None:
        """Take a turn and all after it out."""
        while self._entries and self._entries[-1].turn >= turn:
            self._entries.pop()

    def has_answer(self, turn: int) -> bool:
        """Whether the model said anything in a turn."""
        return any(entry.turn == turn and entry.message["role"] == "assistant" for entry in reversed(self._entries))

    @property
    def has_thinking(self) -> bool:
        """Whether there is thinking in it."""
        return any(_is_thinking(block) for entry in self._entries for block in entry.message["content"])

    def as_sent(self, model: str, *, with_thinking: bool = True) -> list[Message]:
        """The history as a model may be sent it.

        Args:
            model: Which. The thinking of another one is not for it, and is left out.
            with_thinking: Whether it may be sent thinking at all.
        """
        return mended(
            entry.message
            if with_thinking and entry.model in (model, None)
            else {**entry.message, "content": [each for each in entry.message["content"] if not _is_thinking(each)]}
            for entry in self._entries
        )


def restored_entries(messages: Sequence[Message], turn: int, model: str | None, last_blocks: int = 0) -> list[Entry]:
    """The entries of a conversation that is resumed: what the person said last begins its last turn.

    Args:
        messages: The history, mended.
        turn: The number of the last turn.
        model: Who answered.
        last_blocks: How many blocks of the last message she said in that turn; 0 for all.
    """
    last = next((index for index in reversed(range(len(messages))) if _is_said(messages[index])), 0)
    entries: list[Entry] = []
    for index, message in enumerate(messages):
        content = message["content"]
        if index == last and message["role"] == "user":
            results = [block for block in content if block.get("type") == "tool_result"]
            if results:
                entries.append(Entry(turn - 1, {"role": "user", "content": results}))
            content = [block for block in content if block.get("type") != "tool_result"]
            if earlier := content[:-last_blocks]:
                entries.append(Entry(turn - 1, {"role": "user", "content": earlier}))
                content = content[-last_blocks:]
        who = model if message["role"] == "assistant" else None
        entries.append(Entry(turn if index >= last else turn - 1, {"role": message["role"], "content": content}, who))
    return entries


def _is_said(message: Message) -> bool:
    return message["role"] == "user" and any(block.get("type") != "tool_result" for block in message["content"])


def _is_thinking(block: Mapping[str, Any]) -> bool:
    return block.get("type") in ("thinking", "redacted_thinking")


def result(call_id: str, text: str, *, is_error: bool) -> Block:
    """The answer to a tool call."""
    block: Block = {"type": "tool_result", "tool_use_id": call_id, "content": sendable(text)}
    return {**block, "is_error": True} if is_error else block


def sendable(value: Any) -> Any:
    """A value without what has no form in a request: half characters, numbers that are none."""
    match value:
        case str() if not value.isascii():
            return value.encode("utf-8", "replace").decode("utf-8")
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {sendable(name): sendable(each) for name, each in value.items()}
        case list():
            return [sendable(each) for each in value]
    return value
