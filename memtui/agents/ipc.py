"""Messages between two memtui processes when one asks a person at the other, as JSON on one line; and their socket.

Input is taken as hostile, however it got here: a message that is not exactly as declared is refused with `ValueError`,
and nothing of it is used.
"""

import base64
import binascii
import contextlib
import dataclasses
import json
import os
import socket
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from memtui.core.approvals import Allow, Deny, Edit, Proposal, Stop, Unanswered, Verdict
from memtui.core.errors import StateUnusable
from memtui.core.events import Agent, Change, EntryKind, Version
from memtui.fs.state import APPROVAL_SOCKET

_T = TypeVar("_T")

VERSION = 1
"""Of the protocol; a message of another version is refused."""
LIMIT = 24_000_000
"""Bytes of the longest message: the texts before and after of a change, in Base64, and a little more."""
_TEXTS_LIMIT = 16_000_000
"""Bytes of texts in a question; the rest is left out, and the person is told that it cannot be shown."""
_RAW_LIMIT = 64_000
_MANY = 100_000
"""Changes of one proposal."""
_HEXADECIMAL = frozenset("0123456789abcdef")
LONGEST_SECONDS = 86_400.0
"""For which an asker may wait."""
_VERDICTS = {Allow: "allow", Deny: "deny", Edit: "edit", Stop: "stop", Unanswered: "unanswered"}


@dataclasses.dataclass(frozen=True, slots=True)
class IpcRequest:
    """A question as it arrives, and how many seconds its asker waits from now on."""

    proposal: Proposal
    seconds: float


def encode_question(proposal: Proposal, seconds: float) -> bytes:
    """A question to send, for which the asker waits some seconds. Very long texts are left out."""
    actor = proposal.actor
    ask = {
        "actor": [actor.name, *((actor.model, actor.session) if isinstance(actor, Agent) else (None, None))],
        "command": proposal.command,
        "path": proposal.path,
        "new_path": proposal.new_path,
        "call_id": proposal.call_id,
        "changes": [
            [each.path, _encode_version(each.before), _encode_version(each.after)] for each in proposal.changes
        ],
        "texts": _encode_texts(proposal.texts),
        "answer": proposal.answer,
        "raw": _encode_raw_input(proposal.raw),
        "again": proposal.again,
        "draft": proposal.draft,
    }
    return _encode_message({"ask": ask, "seconds": seconds})


def decode_question(line: bytes) -> IpcRequest:
    """A received question.

    Raises:
        ValueError: It is none.
    """
    message = _decode_message(line)
    ask = _expect(dict, message.get("ask"))
    seconds = message.get("seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= LONGEST_SECONDS:
        raise ValueError("seconds")
    name, model, session = _expect_row(ask.get("actor"), 3)
    rows = _expect(list, ask.get("changes"))
    if not 0 < len(rows) <= _MANY:
        raise ValueError("changes")
    texts = _expect(dict, ask.get("texts"))
    proposal = Proposal(
        Agent(_expect(str, name), _expect_optional_text(model), _expect_optional_text(session)),
        _expect(str, ask.get("command")),
        _expect(str, ask.get("path")),
        _expect_optional_text(ask.get("new_path")),
        _expect_optional_text(ask.get("call_id")),
        tuple(map(_decode_change, rows)),
        {_expect_hash(key): _decode_bytes(value) for key, value in texts.items()},
        _expect(str, ask.get("answer")),
        _expect(dict, ask.get("raw")),
        _expect(str, ask.get("again")),
        _expect_optional_text(ask.get("draft")),
    )
    return IpcRequest(proposal, float(seconds))


def encode_answer(verdict: Verdict) -> bytes:
    """An answer to send."""
    return _encode_message({"verdict": {"kind": _VERDICTS[type(verdict)], **dataclasses.asdict(verdict)}})


def decode_answer(line: bytes) -> Verdict:
    """A received answer.

    Raises:
        ValueError: It is none.
    """
    verdict = _expect(dict, _decode_message(line).get("verdict"))
    match verdict.get("kind"):
        case "allow":
            return Allow(_expect_optional_text(verdict.get("always")))
        case "deny":
            return Deny(_expect(str, verdict.get("reason")))
        case "edit":
            return Edit(_expect(str, verdict.get("text")))
        case "stop":
            return Stop()
        case "unanswered" if isinstance(verdict.get("seconds"), int | float):
            return Unanswered(verdict["seconds"])
        case _:
            raise ValueError("kind")


def _encode_texts(texts: Mapping[str, bytes]) -> dict[str, str]:
    """The texts, the shorter ones first, as far as they fit."""
    encoded: dict[str, str] = {}
    room = _TEXTS_LIMIT
    for key, data in sorted(texts.items(), key=lambda item: len(item[1])):
        room -= len(data)
        if room < 0:
            break
        encoded[key] = base64.b64encode(data).decode("ascii")
    return encoded


def _encode_raw_input(raw: Mapping[str, object]) -> object:
    """The input as the agent sent it, unless it is long or no JSON: the texts hold the change anyway."""
    try:
        return dict(raw) if len(json.dumps(raw)) <= _RAW_LIMIT else {}
    except (TypeError, ValueError, RecursionError):
        return {}


def _encode_version(version: Version | None) -> list[object] | None:
    return None if version is None else [version.kind.value, version.sha256, version.size]


def _decode_change(row: object) -> Change:
    path, before, after = _expect_row(row, 3)
    if any(part in ("", ".", "..") or "\0" in part for part in _expect(str, path).split("/")):
        raise ValueError("path")
    return Change(path, _decode_version(before), _decode_version(after))


def _decode_version(row: object) -> Version | None:
    if row is None:
        return None
    kind, sha256, size = _expect_row(row, 3)
    return Version(EntryKind(kind), None if sha256 is None else _expect_hash(sha256), _expect(int, size))


def _encode_message(message: dict[str, object]) -> bytes:
    return json.dumps({"memtui": VERSION, **message}, separators=(",", ":")).encode("ascii") + b"\n"


def _decode_message(line: bytes) -> dict[str, Any]:
    if len(line) > LIMIT:
        raise ValueError("too long")
    try:
        message = _expect(dict, json.loads(line.decode("ascii")))
    except (RecursionError, UnicodeDecodeError) as error:
        raise ValueError("not JSON") from error
    if message.get("memtui") != VERSION:
        raise ValueError("another version")
    return message


def _expect(kind: type[_T], value: object) -> _T:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(kind.__name__)
    return value


def _expect_row(value: object, length: int) -> list[Any]:
    row = _expect(list, value)
    if len(row) != length:
        raise ValueError("length")
    return row


def _expect_optional_text(value: object) -> str | None:
    return None if value is None else _expect(str, value)


def _expect_hash(value: object) -> str:
    text = _expect(str, value)
    if len(text) != 64 or not _HEXADECIMAL.issuperset(text):
        raise ValueError("sha256")
    return text


def _decode_bytes(value: object) -> bytes:
    try:
        return base64.b64decode(_expect(str, value), validate=True)
    except binascii.Error as error:
        raise ValueError("base64") from error


_LONGEST = 103
"""Bytes of a path that every system takes: 107 on Linux, 103 on macOS."""
_CREDENTIALS = struct.Struct("3i")


def open_listener(directory: str, backlog: int) -> socket.socket:
    """A listening socket in a directory, in place of an earlier one.

    The caller must hold the lock of `memtui.agents.remote_approval`: the earlier socket's process is gone.

    Raises:
        StateUnusable: The path is too long for this system.
        OSError: It cannot be made.
    """
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(directory, APPROVAL_SOCKET))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _resolve_address(directory) as address:
            listener.bind(address)
        # a directory given with --state may be open to others
        os.chmod(os.path.join(directory, APPROVAL_SOCKET), 0o600)
        listener.listen(backlog)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def connect_socket(directory: str) -> socket.socket | None:
    """A connection to the process that listens in a directory, not blocking; `None` where none does.

    Raises:
        StateUnusable: The path is too long for this system.
    """
    try:
        status = os.lstat(os.path.join(directory, APPROVAL_SOCKET))
    except OSError:
        return None
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid():
        return None
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        peer.setblocking(False)
        with _resolve_address(directory) as address:
            peer.connect(address)
        if is_same_user(peer):
            return peer
    except OSError:  # refused: no process listens any more, or too many ask at this moment
        pass
    except BaseException:
        peer.close()
        raise
    peer.close()
    return None


def is_same_user(peer: socket.socket) -> bool:
    """Whether the other end is the same user's; where the system does not tell, the directory's mode ensures it."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    try:
        _, user, _ = _CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    except (OSError, struct.error):
        return False
    return bool(user == os.geteuid())


@contextmanager
def _resolve_address(directory: str) -> Iterator[str | bytes]:
    """The address to bind or connect to. One that is too long for a socket goes through a descriptor of its directory.

    Raises:
        StateUnusable: This system has no such descriptors.
    """
    path = os.fsencode(os.path.join(directory, APPROVAL_SOCKET))
    if len(path) <= _LONGEST:
        yield path
        return
    if not os.path.isdir("/proc/self/fd"):
        raise StateUnusable(
            f"The path of the state directory is too long for a socket ({len(path)} bytes; {_LONGEST} at most). "
            "Choose a shorter one with --state."
        )
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{APPROVAL_SOCKET}"
    finally:
        os.close(descriptor)
