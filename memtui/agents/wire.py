"""What two memtui processes tell each other when one asks a person at the other, as JSON on one line.

Pure: no socket, no file. What comes in is judged as hostile, however it got here: whatever is not exactly as declared
is refused with `ValueError`, and nothing of it is used.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from memtui.core.asking import Allow, Deny, Edit, Proposal, Stop, Unanswered, Verdict
from memtui.core.events import Agent, Change, Version
from memtui.core.snapshot import Kind

_T = TypeVar("_T")

VERSION = 1
"""Of the protocol. Who speaks another one is answered that it cannot be asked here."""
LIMIT = 24_000_000
"""Bytes of the longest message: the texts before and after of a change, in Base64, and a little more."""
_TEXTS_LIMIT = 16_000_000
"""Bytes of texts that go along. What is beyond is left out, and the person is told that it cannot be shown."""
_RAW_LIMIT = 64_000
_MANY = 100_000
"""Changes of one proposal."""
_HEXADECIMAL = frozenset("0123456789abcdef")
LONGEST_SECONDS = 86_400.0
"""For which anybody may wait."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it arrives.

    Attributes:
        proposal: What is asked about.
        seconds: How long its asker waits from now on.
    """

    proposal: Proposal
    seconds: float


def question(proposal: Proposal, seconds: float) -> bytes:
    """A question to send.

    Args:
        proposal: What is asked about. Of very much text only as much goes along as fits.
        seconds: How long it is waited for.
    """
    ask = {
        "actor": [proposal.actor.name, *_model_and_session(proposal)],
        "command": proposal.command,
        "path": proposal.path,
        "new_path": proposal.new_path,
        "call_id": proposal.call_id,
        "changes": [[each.path, _version(each.before), _version(each.after)] for each in proposal.changes],
        "texts": _texts(proposal.texts),
        "answer": proposal.answer,
        "raw": _raw(proposal.raw),
        "again": proposal.again,
        "draft": proposal.draft,
    }
    return _line({"ask": ask, "seconds": seconds})


def read_question(line: bytes) -> Asked:
    """A question that came in.

    Raises:
        ValueError: It is none.
    """
    message = _parsed(line)
    ask = _is(dict, message.get("ask"))
    seconds = message.get("seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= LONGEST_SECONDS:
        raise ValueError("seconds")
    name, model, session = _row(ask.get("actor"), 3)
    rows = _is(list, ask.get("changes"))
    if not 0 < len(rows) <= _MANY:
        raise ValueError("changes")
    texts = _is(dict, ask.get("texts"))
    proposal = Proposal(
        Agent(_is(str, name), _text_or_none(model), _text_or_none(session)),
        _is(str, ask.get("command")),
        _is(str, ask.get("path")),
        _text_or_none(ask.get("new_path")),
        _text_or_none(ask.get("call_id")),
        tuple(map(_read_change, rows)),
        {_hash(key): _bytes(value) for key, value in texts.items()},
        _is(str, ask.get("answer")),
        _is(dict, ask.get("raw")),
        _is(str, ask.get("again")),
        _text_or_none(ask.get("draft")),
    )
    return Asked(proposal, float(seconds))


def answer(verdict: Verdict) -> bytes:
    """An answer to send."""
    match verdict:
        case Allow(always=always):
            said: dict[str, object] = {"kind": "allow", "always": always}
        case Deny(reason=reason):
            said = {"kind": "deny", "reason": reason}
        case Edit(text=text):
            said = {"kind": "edit", "text": text}
        case Stop():
            said = {"kind": "stop"}
        case Unanswered(seconds=seconds):
            said = {"kind": "unanswered", "seconds": seconds}
    return _line({"verdict": said})


def read_answer(line: bytes) -> Verdict:
    """An answer that came in.

    Raises:
        ValueError: It is none.
    """
    said = _is(dict, _parsed(line).get("verdict"))
    match said.get("kind"):
        case "allow":
            return Allow(_text_or_none(said.get("always")))
        case "deny":
            return Deny(_is(str, said.get("reason")))
        case "edit":
            return Edit(_is(str, said.get("text")))
        case "stop":
            return Stop()
        case "unanswered" if isinstance(said.get("seconds"), int | float):
            return Unanswered(said["seconds"])
        case _:
            raise ValueError("kind")


def _model_and_session(proposal: Proposal) -> tuple[str | None, str | None]:
    actor = proposal.actor
    return (actor.model, actor.session) if isinstance(actor, Agent) else (None, None)


def _texts(texts: Mapping[str, bytes]) -> dict[str, str]:
    """The texts, the shorter ones first, as far as they fit."""
    kept: dict[str, str] = {}
    room = _TEXTS_LIMIT
    for key, data in sorted(texts.items(), key=lambda item: len(item[1])):
        room -= len(data)
        if room < 0:
            break
        kept[key] = base64.b64encode(data).decode("ascii")
    return kept


def _raw(raw: Mapping[str, object]) -> object:
    """The input as the agent sent it, unless it is long or no JSON: the texts tell it all anyway."""
    try:
        return dict(raw) if len(json.dumps(raw)) <= _RAW_LIMIT else {}
    except (TypeError, ValueError, RecursionError):
        return {}


def _version(version: Version | None) -> list[object] | None:
    return None if version is None else [version.kind.value, version.sha256, version.size]


def _read_change(row: object) -> Change:
    path, before, after = _row(row, 3)
    if any(part in ("", ".", "..") or "\0" in part for part in _is(str, path).split("/")):
        raise ValueError("path")
    return Change(path, _read_version(before), _read_version(after))


def _read_version(row: object) -> Version | None:
    if row is None:
        return None
    kind, sha256, size = _row(row, 3)
    return Version(Kind(kind), None if sha256 is None else _hash(sha256), _is(int, size))


def _line(message: dict[str, object]) -> bytes:
    return json.dumps({"memtui": VERSION, **message}, separators=(",", ":")).encode("ascii") + b"\n"


def _parsed(line: bytes) -> dict[str, Any]:
    if len(line) > LIMIT:
        raise ValueError("too long")
    try:
        message = _is(dict, json.loads(line.decode("ascii")))
    except (RecursionError, UnicodeDecodeError) as error:
        raise ValueError("not JSON") from error
    if message.get("memtui") != VERSION:
        raise ValueError("another version")
    return message


def _is(kind: type[_T], value: object) -> _T:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(kind.__name__)
    return value


def _row(value: object, length: int) -> list[Any]:
    row = _is(list, value)
    if len(row) != length:
        raise ValueError("length")
    return row


def _text_or_none(value: object) -> str | None:
    return None if value is None else _is(str, value)


def _hash(value: object) -> str:
    text = _is(str, value)
    if len(text) != 64 or not _HEXADECIMAL.issuperset(text):
        raise ValueError("sha256")
    return text


def _bytes(value: object) -> bytes:
    try:
        return base64.b64decode(_is(str, value), validate=True)
    except binascii.Error as error:
        raise ValueError("base64") from error
