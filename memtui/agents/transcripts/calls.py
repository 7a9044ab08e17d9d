"""What one line of Claude Code's session files says of a tool call: what was asked for, and what came of it.

The shape is not documented, and changes: whatever is not as expected is as if it were not there.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

TOOLS = frozenset({"Write", "Edit", "MultiEdit"})
"""The tools that write files."""


class Asked(NamedTuple):
    """A call of a tool that writes a file.

    Attributes:
        call_id: Its id.
        tool: The tool's name.
        file: The file, as it was named.
        given: The tool's input.
        model: The model that called it; empty if that is not told.
    """

    call_id: str
    tool: str
    file: str
    given: Mapping[str, Any]
    model: str


class Came(NamedTuple):
    """What came of a call.

    Attributes:
        call_id: The call's id.
        is_error: Whether it failed.
        told: What Claude Code notes beside the result, such as the whole file before; empty if it notes nothing.
    """

    call_id: str
    is_error: bool
    told: Mapping[str, Any]


def record_of(data: bytes) -> dict[str, Any] | None:
    """The object that a line is; `None` if it is none."""
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def asked_in(record: Mapping[str, Any]) -> Iterator[Asked]:
    """The calls that a line asks for, of tools that write files."""
    message = record.get("message")
    if not isinstance(message, dict):
        return
    model = message.get("model")
    for block in _blocks(message):
        given, tool, call_id = block.get("input"), block.get("name"), block.get("id")
        if block.get("type") != "tool_use" or tool not in TOOLS or not isinstance(given, dict):
            continue
        file = given.get("file_path")
        if isinstance(file, str) and isinstance(call_id, str):
            yield Asked(call_id, str(tool), file, given, model if isinstance(model, str) else "")


def came_in(record: Mapping[str, Any]) -> Iterator[Came]:
    """What a line says of what came of calls."""
    message = record.get("message")
    if not isinstance(message, dict):
        return
    told = record.get("toolUseResult")
    results = [block for block in _blocks(message) if block.get("type") == "tool_result"]
    for block in results:
        call_id = block.get("tool_use_id")
        if isinstance(call_id, str):
            # What is noted beside it is about one call only.
            own = told if isinstance(told, dict) and len(results) == 1 else {}
            yield Came(call_id, block.get("is_error") is True, own)


def prompt_in(record: Mapping[str, Any]) -> str:
    """What a person asks for in a line; empty if it is no prompt."""
    message = record.get("message")
    if record.get("type") != "user" or record.get("isMeta") is True or not isinstance(message, dict):
        return ""
    content = message.get("content")
    if isinstance(content, str):
        return content.strip()
    blocks = list(_blocks(message))
    if any(block.get("type") == "tool_result" for block in blocks):
        return ""
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    return "\n".join(texts).strip()


def at_us_of(record: Mapping[str, Any]) -> int:
    """When a line was written, in microseconds since 1970; 0 if it does not tell."""
    stamp = record.get("timestamp")
    if not isinstance(stamp, str):
        return 0
    try:
        at = datetime.fromisoformat(stamp)
        return max(0, round(at.timestamp() * 1e6)) if at.tzinfo is not None else 0
    except (ValueError, OverflowError, OSError):
        return 0


def session_of(record: Mapping[str, Any]) -> str:
    """The session that a line is of; empty if it does not tell."""
    session = record.get("sessionId")
    return session if isinstance(session, str) else ""


def _blocks(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))
