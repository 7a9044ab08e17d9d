"""Redaction of a text in the sessions of chats: what leaves the journal must not stay in them.

A session is rewritten as a whole beside its place and moved there, so that it is never half a session. One that is open
elsewhere is skipped and reported: its process would go on writing to a file that is no longer there.
"""

import json
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from memtui.agents.chat.sessions import records
from memtui.agents.chat.sessions.records import Record, get_blocks, get_mapping, get_number, get_text
from memtui.agents.chat.sessions.store import SUFFIX
from memtui.core.commands import FIELDS as COMMANDS
from memtui.core.errors import LockTimeout
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.fs.atomic import write_atomic
from memtui.fs.locks import lock_file

REDACTED = "[redacted]"
"""Stands in place of the text."""
_PART = ".part"
_DRAFT = "draft-"
_FIXED = frozenset(
    {"at", "call_id", "command", "edit_seq", "effort", "end", "folder", "forked_from", "id", "kind", "media_type",
     "model", "policy", "provider", "role", "schema", "seq", "signature", "tool_use_id", "turn", "type", "why"}
)  # fmt: skip
"""Fields without texts of a person or model, by which the others are understood."""
_PLACES = frozenset({"command", "path", "old_path", "new_path", "view_range", "insert_line"})
"""Fields of a command that hold no text of a memory."""
_SENT = _PLACES | {"file_text", "old_str", "new_str", "insert_text"}


@dataclass(frozen=True, slots=True)
class SessionRedactionResult:
    """The ids of the sessions that held the text, and sentences on those that could not be rewritten."""

    sessions: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def redact_sessions(
    directory: Path, *, match: str | None, path: str | None, events: Collection[int], rehearse: bool
) -> SessionRedactionResult:
    """Remove a text from all sessions of a folder.

    Args:
        directory: The directory of sessions.
        match: The text; `None` to redact input and answer of some calls only.
        path: A note, as agents name it: input and answer of its calls are redacted, but not actor, time and path.
        events: The journal's numbers of calls that are redacted likewise.
        rehearse: Whether only to find the sessions that hold it.
    """
    sessions: list[str] = []
    left: list[str] = []
    redacted_calls = _RedactedCalls(frozenset(events) - {0}, path)
    for file in _list_files(directory):
        name = file.name.removeprefix(".").removesuffix(_PART).removesuffix(SUFFIX)
        try:
            problem = _redact_file(file, _TextRedactor(match), redacted_calls, rehearse=rehearse)
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            left.append(f"The chat session {to_one_line(name)} may hold it and cannot be rewritten: {reason}.")
            continue
        if problem is None:
            continue
        if problem:
            left.append(f"The chat session {to_one_line(name)} holds it and {problem}")
        else:
            sessions.append(name)
    return SessionRedactionResult(tuple(sessions), tuple(left))


@dataclass(frozen=True, slots=True)
class _RedactedCalls:
    """The calls whose input and answer are redacted: by event number, or by the path that they name."""

    events: frozenset[int]
    path: str | None

    def find_ids(self, file: Path) -> frozenset[str]:
        """The ids of these calls in a session."""
        if not self.events and self.path is None:
            return frozenset()
        with file.open("rb") as session:
            found = (records.parse_record(line) for line in session if line.startswith(b'{"type":"call"'))
            return frozenset(
                get_text(record, "call_id") for record in found if record is not None and self._matches(record)
            )

    def _matches(self, record: Record) -> bool:
        given = get_mapping(record, "input")
        named = self.path is not None and any(given.get(name) == self.path for name in ("path", "old_path", "new_path"))
        return named or bool({get_number(record, "seq"), get_number(record, "edit_seq")} & self.events)


class _TextRedactor:
    """Replaces a text in every form in which it may occur in a session."""

    def __init__(self, match: str | None) -> None:
        forms: set[str] = set()
        if match is not None:
            forms = {match, repr(match)[1:-1], json.dumps(match)[1:-1], json.dumps(match, ensure_ascii=False)[1:-1]}
        raw = {form.encode("utf-8", "surrogatepass") for form in forms}
        raw |= {json.dumps(form).encode("ascii")[1:-1] for form in forms}
        self._forms = sorted(forms, key=len, reverse=True)
        self._raw = sorted(raw, key=len, reverse=True)

    def redact_text(self, text: str) -> str:
        """A text without it."""
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def redact_line(self, line: bytes) -> bytes:
        """A line that cannot be parsed, without it."""
        for form in self._raw:
            line = line.replace(form, REDACTED.encode("ascii"))
        return line


def _list_files(directory: Path) -> list[Path]:
    """Sessions, unfinished copies, and drafts of messages."""
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    ends = (SUFFIX, SUFFIX + _PART)
    return [directory / name for name in names if name.endswith(ends) or name.startswith(_DRAFT)]


def _redact_file(path: Path, words: _TextRedactor, redacted_calls: "_RedactedCalls", *, rehearse: bool) -> str | None:
    """Redact one file; `None` where it is not in it, else why it could not be removed (empty if it was).

    Raises:
        OSError: The file cannot be read or written.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        calls = redacted_calls.find_ids(path)
        if not any(after != before for before, after in _iter_redacted_lines(path, words, calls)):
            return None
        if rehearse:
            return ""
        try:
            lock_file(fd)
        except LockTimeout:
            return "is open in another memtui. Close it there, and try again."
        seen = os.fstat(fd)
        lines = (after for _, after in _iter_redacted_lines(path, words, redacted_calls.find_ids(path)))
        write_atomic(path, lines, times_ns=(seen.st_atime_ns, seen.st_mtime_ns))  # by which the last session is found
    finally:
        os.close(fd)
    return ""


def _iter_redacted_lines(path: Path, words: _TextRedactor, calls: frozenset[str]) -> Iterator[tuple[bytes, bytes]]:
    """Each line before and after."""
    if path.name.startswith(_DRAFT):
        text = path.read_bytes()
        yield text, words.redact_line(text)
        return
    pieces: list[tuple[bytes, Record]] = []
    with path.open("rb") as file:
        for line in file:
            record = records.parse_record(line)
            if record is None:
                yield line, words.redact_line(line)
                continue
            if record["type"] == "streamed":
                pieces.append((line, record))
                continue
            if pieces and records.ends_stream(record):
                yield _redact_pieces(pieces, words)
                pieces = []
            after = _redact_value(_redact_calls(record, calls), words)
            yield line, line if after == record else records.serialize_record(after)
    if pieces:
        yield _redact_pieces(pieces, words)


def _redact_pieces(pieces: list[tuple[bytes, Record]], words: _TextRedactor) -> tuple[bytes, bytes]:
    """The pieces of an answer before and after: a text may stand across them, so they are joined for it."""
    joined: dict[int, Record] = {}
    for _, piece in pieces:
        first = joined.setdefault(get_number(piece, "block"), {**piece, "text": ""})
        first["text"] += get_text(piece, "text")
    before = b"".join(line for line, _ in pieces)
    after = [{**each, "text": words.redact_text(each["text"])} for each in joined.values()]
    if after == list(joined.values()):
        return before, before
    return before, b"".join(map(records.serialize_record, after))


def _redact_calls(record: Record, calls: frozenset[str]) -> Record:
    """A record without the input and answer of some calls."""
    if not calls:
        return record
    match record["type"]:
        case "call" if record.get("call_id") in calls:
            edit = None if record.get("edit") is None else REDACTED
            return {**record, "input": _redact_input(record.get("input")), "answer": REDACTED, "edit": edit}
        case "message":
            return {**record, "content": _redact_blocks(record, calls)}
        case "repaired":
            message = get_mapping(record, "message")
            return {**record, "message": {**message, "content": _redact_blocks(message, calls)}}
    return record


def _redact_blocks(message: Record, calls: frozenset[str]) -> list[dict[str, Any]]:
    blocks = get_blocks(message)
    for at, block in enumerate(blocks):
        if block.get("type") == "tool_use" and block.get("id") in calls:
            blocks[at] = {**block, "input": _redact_input(block.get("input"))}
        elif block.get("type") == "tool_result" and block.get("tool_use_id") in calls:
            blocks[at] = {**block, "content": REDACTED}
    return blocks


def _redact_input(given: object) -> object:
    """The input of a call without its texts."""
    if not isinstance(given, dict):
        return REDACTED
    return {name: value if name in _PLACES else REDACTED for name, value in given.items()}


def _redact_nested(value: Any, words: _TextRedactor) -> Any:
    """A value of the model's without the text, which may occur anywhere in it."""
    match value:
        case str():
            return words.redact_text(value)
        case list():
            return [_redact_nested(each, words) for each in value]
        case dict():
            return {
                name if name in _SENT else words.redact_text(name): each
                if name == "command" and isinstance(each, str) and each in COMMANDS
                else _redact_nested(each, words)
                for name, each in value.items()
            }
    return value


def _redact_value(value: Any, words: _TextRedactor) -> Any:
    """A value of a record without the text."""
    match value:
        case str():
            return words.redact_text(value)
        case list():
            return [_redact_value(each, words) for each in value]
        case dict():
            kept = _FIXED | ({"name"} if value.get("type") in ("tool_use", "call") else frozenset())
            kept |= {"data"} if value.get("type") in ("base64", "redacted_thinking") else frozenset()
            made = {
                name: each if name in kept else (_redact_nested if name == "input" else _redact_value)(each, words)
                for name, each in value.items()
            }
            if made != value and value.get("type") in ("thinking", "compaction"):
                made = {name: each for name, each in made.items() if name not in ("signature", "encrypted_content")}
            return made
    return value
