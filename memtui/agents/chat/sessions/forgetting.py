"""Removing a text from what was said: what must go from the record must not stay in the sessions of chats.

A session is rewritten as a whole beside its place and moved there, so that it is never half a session. One that is open
somewhere is left, and that is said: whoever has it open would go on writing to what is no longer there.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.agents.chat.sessions import records as lines
from memtui.agents.chat.sessions.finding import SUFFIX
from memtui.agents.chat.sessions.records import Record, blocks_of, mapping_in, number_in, text_in
from memtui.core.commands import FIELDS as COMMANDS
from memtui.core.visible import one_line

REDACTED = "[redacted]"
"""What stands where the text was."""
_PART = ".part"
_DRAFT = "draft-"
_FIXED = frozenset(
    {"at", "call_id", "command", "edit_seq", "effort", "end", "folder", "forked_from", "id", "kind", "media_type",
     "model", "policy", "provider", "role", "schema", "seq", "signature", "tool_use_id", "turn", "type", "why"}
)  # fmt: skip
"""Fields that hold nothing anybody said, and that the others are understood by."""
_PLACES = frozenset({"command", "path", "old_path", "new_path", "view_range", "insert_line"})
"""Fields of a command that hold no text of a memory."""
_SENT = _PLACES | {"file_text", "old_str", "new_str", "insert_text"}


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed, or would be.

    Attributes:
        sessions: The names of the sessions that held it.
        left: What could not be removed, as sentences.
    """

    sessions: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def forget(
    directory: Path, *, match: str | None, path: str | None, events: Collection[int], rehearse: bool
) -> Forgotten:
    """Remove a text from all sessions of a folder.

    Args:
        directory: Where they are kept.
        match: The text, wherever it stands; `None` for what was asked and answered in some calls only.
        path: A note, as agents name it: all that was asked and answered of it goes, but who, when and where.
        events: The journal's numbers of calls of which the same goes.
        rehearse: Whether it is only found out which sessions hold it.
    """
    sessions: list[str] = []
    left: list[str] = []
    meant = _Calls(frozenset(events) - {0}, path)
    for file in _files(directory):
        name = file.name.removeprefix(".").removesuffix(_PART).removesuffix(SUFFIX)
        try:
            problem = _forget_in(file, _Words(match), meant, rehearse=rehearse)
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            left.append(f"The chat session {one_line(name)} may hold it and cannot be rewritten: {reason}.")
            continue
        if problem is None:
            continue
        if problem:
            left.append(f"The chat session {one_line(name)} holds it and {problem}")
        else:
            sessions.append(name)
    return Forgotten(tuple(sessions), tuple(left))


@dataclass(frozen=True, slots=True)
class _Calls:
    """Calls of which all that was asked and answered goes.

    Attributes:
        events: The numbers of their events.
        path: What they name; `None` for no matter what.
    """

    events: frozenset[int]
    path: str | None

    def ids(self, file: Path) -> frozenset[str]:
        """Their ids in a session."""
        if not self.events and self.path is None:
            return frozenset()
        with file.open("rb") as session:
            found = (lines.parsed(line) for line in session if line.startswith(b'{"type":"call"'))
            return frozenset(text_in(record, "call_id") for record in found if record is not None and self._is(record))

    def _is(self, record: Record) -> bool:
        given = mapping_in(record, "input")
        named = self.path is not None and any(given.get(name) == self.path for name in ("path", "old_path", "new_path"))
        return named or bool({number_in(record, "seq"), number_in(record, "edit_seq")} & self.events)


class _Words:
    """The text that is to go, in every form in which it may stand in a session."""

    def __init__(self, match: str | None) -> None:
        forms = (
            ()
            if match is None
            else (match, repr(match)[1:-1], *(json.dumps(match, ensure_ascii=a)[1:-1] for a in (True, False)))
        )
        self._forms = sorted(set(forms), key=len, reverse=True)
        raw = (form.encode("utf-8", "surrogatepass") for form in self._forms)
        self._raw = sorted(
            {*raw, *(json.dumps(form).encode("ascii")[1:-1] for form in self._forms)}, key=len, reverse=True
        )

    def out_of(self, text: str) -> str:
        """A text without it."""
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def out_of_line(self, line: bytes) -> bytes:
        """A line that cannot be read without it."""
        for form in self._raw:
            line = line.replace(form, REDACTED.encode("ascii"))
        return line


def _files(directory: Path) -> list[Path]:
    """What is kept of conversations: sessions, copies that were not finished, and what was typed and not sent."""
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    ends = (SUFFIX, SUFFIX + _PART)
    return [directory / name for name in names if name.endswith(ends) or name.startswith(_DRAFT)]


def _forget_in(path: Path, words: _Words, meant: "_Calls", *, rehearse: bool) -> str | None:
    """Remove it from one file; `None` where it is not in it, else why it could not be removed.

    Raises:
        OSError: The file cannot be read or written.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        calls = meant.ids(path)
        if not any(after != before for before, after in _rewritten(path, words, calls)):
            return None
        if rehearse:
            return ""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "is open in another memtui. Close it there, and do it again."
        _write(path, (after for _, after in _rewritten(path, words, meant.ids(path))))
    finally:
        os.close(fd)
    return ""


def _write(path: Path, made: Iterator[bytes]) -> None:
    times = path.stat()
    aside = path.with_name(f".{path.name}.new")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(aside)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(aside, flags, 0o600), "wb") as file:
            file.writelines(made)
            file.flush()
            os.utime(file.fileno(), ns=(times.st_atime_ns, times.st_mtime_ns))  # by which the last session is told
            os.fsync(file.fileno())
        os.rename(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _rewritten(path: Path, words: _Words, calls: frozenset[str]) -> Iterator[tuple[bytes, bytes]]:
    """Each line as it is and as it is to be."""
    if path.name.startswith(_DRAFT):
        text = path.read_bytes()
        yield text, words.out_of_line(text)
        return
    with path.open("rb") as file:
        for line in file:
            record = lines.parsed(line)
            if record is None:
                yield line, words.out_of_line(line)
                continue
            after = _without(_without_calls(record, calls), words)
            yield line, line if after == record else lines.line_of(after)


def _without_calls(record: Record, calls: frozenset[str]) -> Record:
    """A record without what was asked and answered in some calls."""
    if not calls:
        return record
    match record["type"]:
        case "call" if record.get("call_id") in calls:
            edit = None if record.get("edit") is None else REDACTED
            return {**record, "input": _emptied(record.get("input")), "answer": REDACTED, "edit": edit}
        case "message":
            return {**record, "content": _blocks(record, calls)}
        case "repaired":
            message = mapping_in(record, "message")
            return {**record, "message": {**message, "content": _blocks(message, calls)}}
    return record


def _blocks(message: Record, calls: frozenset[str]) -> list[dict[str, Any]]:
    made = []
    for block in blocks_of(message):
        if block.get("type") == "tool_use" and block.get("id") in calls:
            made.append({**block, "input": _emptied(block.get("input"))})
        elif block.get("type") == "tool_result" and block.get("tool_use_id") in calls:
            made.append({**block, "content": REDACTED})
        else:
            made.append(block)
    return made


def _emptied(given: object) -> object:
    """The input of a call without the texts in it."""
    if not isinstance(given, dict):
        return REDACTED
    return {name: value if name in _PLACES else REDACTED for name, value in given.items()}


def _out_of_input(value: Any, words: _Words) -> Any:
    """What a model sent without the text: it may stand anywhere in it."""
    match value:
        case str():
            return words.out_of(value)
        case list():
            return [_out_of_input(each, words) for each in value]
        case dict():
            return {
                name if name in _SENT else words.out_of(name): each
                if name == "command" and isinstance(each, str) and each in COMMANDS
                else _out_of_input(each, words)
                for name, each in value.items()
            }
    return value


def _without(value: Any, words: _Words) -> Any:
    """A value without the text, wherever in it somebody's words stand."""
    match value:
        case str():
            return words.out_of(value)
        case list():
            return [_without(each, words) for each in value]
        case dict():
            kept = _FIXED | ({"name"} if value.get("type") in ("tool_use", "call") else frozenset())
            kept |= {"data"} if value.get("type") in ("base64", "redacted_thinking") else frozenset()
            made = {
                name: each if name in kept else (_out_of_input if name == "input" else _without)(each, words)
                for name, each in value.items()
            }
            if made != value and value.get("type") in ("thinking", "compaction"):
                made = {name: each for name, each in made.items() if name not in ("signature", "encrypted_content")}
            return made
    return value
