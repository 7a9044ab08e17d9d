"""What a session is kept as: one JSON object a line, written as it happens and never changed again.

Every record has `type` and `at` (UTC, ISO 8601 with `Z`), and then:

| type | fields |
|---|---|
| `session` | `schema`, `id`, `folder`, `model`, `provider`, `forked_from`, `seq` of the journal at that time; first |
| `turn_began` | `turn`, `text`, `attachments`: a list of `name`, `media_type`, `size` |
| `message` | `turn`, `role`, `content`: exactly what stands in the API's history, in order |
| `call` | `turn`, `call_id`, `name`, `input`, `answer`, `is_error`, `seq`, `edit_seq`, `note`, `edit` |
| `turn_ended` | `turn`, `end`, `seconds`, `usage`, `remembered` |
| `fault` | `kind`, `sentence` |
| `cleared` | `calls`, `tokens` |
| `compacted` | `summary` |
| `rewound` | `turn`, `why` (`retry`, `edit`, `clear`, `fault`, `refused`): this turn and all after it are out |
| `undone` | `turn`, `seq`, `note`: what the model is to be told of it with the next message |
| `setting` | any of `model`, `policy`, `always`, `effort`, `thinking` |
| `repaired` | `turn`, `message`: what was added so that the API takes the history |

In `call`, `seq` is the number of the journal's event, `edit_seq` that of what the person wrote in its place, `edit` her
text, and `note` the event's note (`declined`, `stopped`, ...). A type that is not known here is taken in stride.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from memtui.core.errors import StateUnusable

SCHEMA = 1
"""The newest form of a session that is understood here. Types and fields are added without raising it."""

_LARGEST = 1 << 53
LONGEST_LINE = 64 << 20
"""Bytes of the longest line that can be a record: no request to the API may be half as long."""
_CHUNK = 1 << 20
_TOO_LONG = b"too long"
"""What a line that is too long is read as: it is no record, and so it is left out as damaged."""

Record = dict[str, Any]
"""One line of a session."""


def record(kind: str, fields: Mapping[str, object]) -> Record:
    """A record of now."""
    now = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    return {"type": kind, "at": now, **fields}


def line_of(record: Record) -> bytes:
    """A record as a line, in ASCII: nothing in it drives a terminal, and a lone surrogate survives.

    Raises:
        TypeError, ValueError: Something in it has no form in JSON.
    """
    return json.dumps(record, default=_plain, separators=(",", ":")).encode("ascii") + b"\n"


def _plain(value: object) -> object:
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


def parsed(line: bytes) -> Record | None:
    """The record on a line; `None` for one that is damaged."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("type"), str) else None


def lines_in(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """The lines of a file with their ends; the last one may have none. None is in memory that is too long for a record.

    Args:
        read: Answers the next bytes, at most as many as it is asked for; none at the end.
    """
    parts: list[bytes] = []
    size = 0

    def ended(end: bytes) -> bytes:
        return b"".join((*parts, end)) if size + len(end) <= LONGEST_LINE else _TOO_LONG + b"\n"

    while data := read(_CHUNK):
        first, newline, others = data.partition(b"\n")
        if newline:
            yield ended(first + newline)
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


def read(lines: Iterable[bytes], damaged: Callable[[int], None] = lambda _: None) -> Iterator[Record]:
    """The records of a session, one after the other; it is never in memory as a whole.

    Args:
        lines: With their ends. The last one has none if it was cut off: it is left out, unless it is whole.
        damaged: Is told the number of a line, from 1, that is left out because it cannot be read.

    Raises:
        StateUnusable: It was written by a newer memtui.
    """
    for number, line in enumerate(lines, start=1):
        found = parsed(line)
        if found is None:
            if line.endswith(b"\n") and line.strip():
                damaged(number)
            continue
        if found["type"] == "session":
            _insist_on_schema(found)
        yield found


def _insist_on_schema(header: Record) -> None:
    """Refuse what only a newer memtui understands.

    Raises:
        StateUnusable: It is newer.
    """
    schema = header.get("schema", SCHEMA)
    if not isinstance(schema, int) or schema > SCHEMA:
        raise StateUnusable(
            f"This session was written by a newer memtui: its form is {schema!r}, and this one reads up to {SCHEMA}. "
            "Nothing was changed. Update memtui to go on with it."
        )


def text_in(record: Mapping[str, Any], name: str) -> str:
    """A text in a record; empty where there is none, whatever else stands there."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def number_in(record: Mapping[str, Any], name: str) -> int:
    """A whole number in a record; 0 where there is none that could be meant."""
    value = record.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST else 0


def mapping_in(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object in a record; empty where there is none."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a list in a record; anything else in it is left out."""
    value = record.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def blocks_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The content of a message as blocks; a plain text becomes one."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return objects_in(message, "content")
