"""An exported journal read back into memory: every line is judged, and the chain is recomputed while it is read.

The lines may come from anybody. What does not follow from the line before it, names a hash that its text has not, or
is no event of memtui's makes the whole of it unusable: of a record that was changed, nothing is known.
"""

import base64
import binascii
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import IO, Any

from memtui.core.errors import StateUnusable
from memtui.core.events import Event, Outside, Version
from memtui.core.snapshot import Kind
from memtui.core.told import IMPORTED
from memtui.journal import chain, export
from memtui.journal.sqlite import Journal
from memtui.quiet import open_quietly

LINE_LIMIT = 1 << 28
"""Bytes of the longest line that is read: a text of 40 MB at least, however it is escaped."""
_HASH = re.compile("[0-9a-f]{64}", re.ASCII)
_LARGEST = (1 << 63) - 1
_LATEST_US = 253_402_300_799_000_000
"""The last moment of the year 9999: the calendar ends there."""
_AT_ONCE = 500
"""Events, or versions, that are taken over in one go."""
_BYTES_AT_ONCE = 16_000_000
"""Bytes of versions after which one go ends as well."""
_DATABASE = b"SQLite format 3\0"
"""What a database begins with (SQLite: Database File Format)."""
_NO_EXPORT = "it is no export of a journal, as `memtui export` writes it"


@dataclass(frozen=True, slots=True)
class Imported:
    """A journal that was exported.

    Attributes:
        journal: All of it, in memory.
        folder: What the folder was called where it was exported.
        exported: When, as UTC in ISO 8601.
        has_texts: Whether texts were exported as well.
        standing: What stood at each path after the last event.
        found_until: The number of the last event of those that the journal begins with and that were only *found*.
        told_until: The number of the last event that was told afterwards, by a session file; 0 if none was.
    """

    journal: Journal
    folder: str
    exported: str
    has_texts: bool
    standing: Mapping[str, Version]
    found_until: int
    told_until: int


def read(path: str, *, title: str) -> Imported:
    """Read an export.

    Args:
        path: The file.
        title: What a person calls it.

    Raises:
        StateUnusable: It cannot be read, is none, was cut off, or is not what was exported.
    """
    try:
        with open(_opened(path), "rb") as file:
            return _imported(file)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower() if error.errno else str(error)
        raise StateUnusable(f"The exported journal {title} cannot be read: {reason}.") from error
    except _Wrong as wrong:
        raise StateUnusable(f"The exported journal {title} cannot be used: {wrong}. Nothing of it was used.") from wrong


def is_database(path: str, *, title: str) -> bool:
    """Whether a file is a database and no export.

    Args:
        path: The file.
        title: What a person calls it.

    Raises:
        StateUnusable: It cannot be read.
    """
    try:
        fd = _opened(path)
        try:
            return os.read(fd, len(_DATABASE)) == _DATABASE
        finally:
            os.close(fd)
    except FileNotFoundError:
        raise StateUnusable(f"There is no journal at {title}.") from None
    except OSError as error:
        raise StateUnusable(f"The journal {title} cannot be read: {os.strerror(error.errno or 0).lower()}.") from error
    except _Wrong as wrong:
        raise StateUnusable(f"The journal {title} cannot be used: {wrong}.") from wrong


class _Wrong(Exception):
    """What is wrong with an export, as the rest of a sentence."""


def _opened(path: str) -> int:
    fd = open_quietly(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _Wrong("it is no regular file")
    return fd


def _imported(file: IO[bytes]) -> Imported:
    lines = _lines(file)
    header = next(lines, None)
    if header is None:
        raise _Wrong("it is empty")
    if header.get("memtui") != "journal":
        raise _Wrong(_NO_EXPORT)
    schema = header.get("schema")
    if not isinstance(schema, int) or schema < 1:
        raise _Wrong(_NO_EXPORT)
    if schema > export.SCHEMA:
        raise _Wrong("it was written by a newer memtui; update memtui to read it")
    if header.get("start") != chain.START.hex():
        raise _Wrong("its chain does not begin where every chain does")
    has_texts = header.get("texts") is True
    journal = Journal(None)
    try:
        total = _take_over(lines, journal, has_texts=has_texts)
    except BaseException:
        journal.close()
        raise
    folder, exported = header.get("folder"), header.get("exported")
    return Imported(
        journal,
        folder if isinstance(folder, str) else "",
        exported if isinstance(exported, str) else "",
        has_texts,
        total.standing,
        total.found_until,
        total.told_until,
    )


def _lines(file: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The lines as JSON objects.

    Raises:
        _Wrong: One is none.
    """
    number = 0
    while line := file.readline(LINE_LIMIT + 1):
        number += 1
        if len(line) > LINE_LIMIT:
            raise _Wrong(f"line {number:,} has more than {LINE_LIMIT:,} bytes")
        if number == 1 and line.startswith(b"\x1f\x8b"):
            raise _Wrong("it is compressed; unpack it with gunzip first")
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            if number == 1:
                raise _Wrong(_NO_EXPORT) from None
            if not line.endswith(b"\n"):
                raise _Wrong(f"it ends in the middle of line {number:,}: it was cut off") from None
            raise _Wrong(f"line {number:,} is no JSON") from None
        if not isinstance(record, dict):
            raise _Wrong(_NO_EXPORT if number == 1 else f"line {number:,} is no line of an export")
        yield record


@dataclass(slots=True)
class _Sum:
    """What the lines add up to."""

    events: int = 0
    versions: int = 0
    head: bytes = chain.START
    standing: dict[str, Version] = field(default_factory=dict)
    found_until: int = 0
    told_until: int = 0
    is_whole: bool = False


def _take_over(lines: Iterator[dict[str, Any]], journal: Journal, *, has_texts: bool) -> _Sum:
    total = _Sum()
    events: list[tuple[bytes, Event]] = []
    texts: dict[str, bytes | None] = {}
    size = 0
    for record in lines:
        if total.is_whole:
            raise _Wrong("it goes on behind its last line")
        if "seq" in record:
            if total.versions:
                raise _Wrong("an event stands behind the versions")
            events.append(_event(record, total, has_texts=has_texts))
        elif "sha256" in record:
            total.versions += 1
            name, data, is_told = _version(record, total.versions)
            if is_told:
                texts[name] = data
                size += len(data or b"")
        elif record.get("end") is True:
            _check_end(record, total)
            total.is_whole = True
        else:
            raise _Wrong("it holds a line that is neither an event nor a version")
        if len(events) + len(texts) >= _AT_ONCE or size > _BYTES_AT_ONCE:
            journal.take_over(events, texts)
            events, texts, size = [], {}, 0
    if not total.is_whole:
        raise _Wrong("its last line is missing: it was cut off")
    journal.take_over(events, texts)
    return total


def _check_end(record: dict[str, Any], total: _Sum) -> None:
    if (record.get("events"), record.get("versions")) != (total.events, total.versions):
        raise _Wrong(
            f"it says that it has {record.get('events')!s:.20} events and {record.get('versions')!s:.20} versions, "
            f"and it has {total.events:,} and {total.versions:,}: lines are missing"
        )
    if record.get("head") != total.head.hex():
        raise _Wrong("its last line names another head than its events lead to")


def _event(record: dict[str, Any], total: _Sum, *, has_texts: bool) -> tuple[bytes, Event]:
    number = total.events + 1
    if record["seq"] != number or isinstance(record["seq"], bool):
        raise _Wrong(f"behind event {total.events:,} comes event {record['seq']!s:.20}: lines are missing")
    body = record.get("body")
    if not isinstance(body, str) or not body.isascii():
        raise _Wrong(f"event {number:,} is not one that memtui wrote")
    data = body.encode("ascii")
    total.head = chain.link(total.head, data)
    if record.get("hash") != total.head.hex():
        raise _Wrong(f"event {number:,} does not match its hash: it, or one before it, was changed")
    answer, arguments = (_words(record, name, number, has_texts=has_texts) for name in ("answer", "arguments"))
    try:
        event = chain.decode(data, answer=answer, arguments=arguments, hash=total.head)
        _insist_on_event(event, number)
        named = json.loads(data)
        for name, text in (("answer", answer), ("arguments", arguments)):
            if text is not None and named.get(name) != _hash_of(text):
                raise _Wrong(f"the {name} of event {number:,} {'is' if name == 'answer' else 'are'} not what it names")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise _Wrong(f"event {number:,} cannot be understood: memtui did not write it") from error
    total.events = number
    for change in event.changes:
        if change.after is None:
            total.standing.pop(change.path, None)
        else:
            total.standing[change.path] = change.after
    if event.command == "found" and isinstance(event.actor, Outside) and total.found_until == number - 1:
        total.found_until = number
    if event.command == IMPORTED:
        total.told_until = number
    return data, event


def _words(record: dict[str, Any], name: str, number: int, *, has_texts: bool) -> str | None:
    text = record.get(name) if has_texts else None
    if f"{name}_base64" in record or not (text is None or isinstance(text, str)):
        raise _Wrong(f"the {name} of event {number:,} {'is' if name == 'answer' else 'are'} no text")
    try:
        (text or "").encode("utf-8")
    except UnicodeEncodeError:
        raise _Wrong(f"the {name} of event {number:,} cannot be written as text") from None
    return text


def _hash_of(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()


def _insist_on_event(event: Event, number: int) -> None:
    """Refuse what has the form of an event and holds what none can.

    Raises:
        ValueError, TypeError: It does.
    """
    if (
        event.seq != number
        or not _is_count(event.at_us)
        or event.at_us > _LATEST_US
        or not _is_count(event.duration_us)
    ):
        raise ValueError("a number")
    texts = (event.command, event.path, event.note, *event.aliases, *event.redacted)
    maybe = (event.new_path, event.call_id)
    if not all(isinstance(each, str) for each in (*texts, *(each for each in maybe if each is not None))):
        raise TypeError("a text")
    actor = event.actor
    for each in (actor.name, getattr(actor, "model", None), getattr(actor, "session", None)):
        if each is not None and not isinstance(each, str):
            raise TypeError("an actor")
    if not all(_is_count(each) for each in (*event.undoes, event.added or 0, event.removed or 0)):
        raise ValueError("a count")
    for path in (*(change.path for change in event.changes), *(each for pair in event.moved for each in pair)):
        _insist_on_plain(path)
    for version in (event.viewed, *(each for change in event.changes for each in (change.before, change.after))):
        if version is not None:
            _insist_on_version(version)


def _insist_on_plain(path: object) -> None:
    """Only what is relative to the folder and stays below it.

    Raises:
        ValueError: It is not.
    """
    if not isinstance(path, str) or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise ValueError("a path")
    path.encode("utf-8", "surrogateescape")


def _insist_on_version(version: Version) -> None:
    has_hash = version.sha256 is not None
    if has_hash and not (isinstance(version.sha256, str) and _HASH.fullmatch(version.sha256)):
        raise ValueError("a hash")
    if not _is_count(version.size) or (has_hash and version.kind not in (Kind.FILE, Kind.LINK)):
        raise ValueError("a version")


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= _LARGEST


def _version(record: dict[str, Any], number: int) -> tuple[str, bytes | None, bool]:
    """A version: its hash, its bytes, and whether the journal that was exported held it, or that it was removed."""
    name = record["sha256"]
    if not isinstance(name, str) or not _HASH.fullmatch(name):
        raise _Wrong(f"version {number:,} has no hash")
    data = _data(record, name)
    if data is None:
        if not any(record.get(each) is True for each in ("redacted", "missing", "damaged")):
            raise _Wrong(f"the version {name[:12]} has no text")
        return name, None, record.get("redacted") is True
    if sha256(data).hexdigest() != name:
        raise _Wrong(f"the version {name[:12]} was changed: its text has another hash")
    return name, data, True


def _data(record: dict[str, Any], name: str) -> bytes | None:
    text, packed = record.get("text"), record.get("base64")
    try:
        if isinstance(text, str):
            return text.encode("utf-8")
        if isinstance(packed, str):
            return base64.b64decode(packed, validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        raise _Wrong(f"the text of the version {name[:12]} cannot be read") from None
    return None
