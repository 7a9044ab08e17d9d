"""The journal as lines of JSON, which can be read and verified without memtui and without its database.

Schema 1. Each line is one JSON object, in ASCII; what it is follows from its first key:

- first the header, `{"memtui": "journal", "schema": 1, "start": ..., "folder": ..., "exported": ..., "texts": true}`:
  `start` is the hash that stands before the first event, in hexadecimal like all hashes, `folder` the folder's name as
  a person writes it, `exported` the time (UTC), `texts` whether texts are among the lines;
- each event in order, `{"seq": 1, "hash": ..., "body": ..., "answer": ..., "arguments": ...}`: `body` is a string, the
  canonical bytes of the event, JSON itself; `hash` is SHA-256 over the bytes of the hash before and those of `body`;
  `answer` and `arguments` are texts whose SHA-256 `body` names under the same keys, and `null` where it names none or
  they are not kept; both keys are left out without texts;
- each version that an event names, `{"sha256": ..., "size": 12, "text": ...}`, with `"base64"` instead of `"text"`
  where it is not UTF-8; `{"sha256": ..., "redacted": true}` for one that was removed and that an event names under
  `redacted`; `{"sha256": ..., "missing": true}` for one that is gone without that, and
  `{"sha256": ..., "damaged": true}` for one that cannot be unpacked; none of them without texts;
- last, `{"end": true, "events": 41, "versions": 97, "head": ...}`: how many lines of either sort there were, and the
  hash of the last event. Where it is not the last line, the rest was cut off.

Additions do not raise the schema number. Bytes that are no text, in the journal of somebody who damaged it, stand
under `body_base64`, `answer_base64` or `arguments_base64`.
"""

import base64
import binascii
import json
import os
import re
import sqlite3
import stat
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import field
from hashlib import sha256
from typing import IO, Any

from memtui.core.errors import StateUnusable
from memtui.core.events import IMPORTED, EntryKind, Event, Outside, Version
from memtui.core.lazy_dataclass import dataclass
from memtui.fs.no_atime import open_without_atime
from memtui.journal import chain
from memtui.journal.bodies import unpack_body
from memtui.journal.rows import iter_ascending
from memtui.journal.sqlite import Journal

SCHEMA = 1


def iter_export_lines(
    connection: sqlite3.Connection, *, folder: str, exported: str, texts: bool = True
) -> Iterator[bytes]:
    """The lines of an export, one after the other, all of one state of the journal.

    Args:
        connection: An open journal; nobody else may use it until the last line.
        folder: The name of the memory folder.
        exported: The time, as UTC in ISO 8601.
        texts: Whether texts are exported; without, only the chain can be verified.

    Raises:
        sqlite3.Error: The journal is damaged. The lines before are right, and the last one is not among them.
    """
    began = not connection.in_transaction
    if began:
        connection.execute("BEGIN")
    try:
        yield _dump_line(
            memtui="journal", schema=SCHEMA, start=chain.START.hex(), folder=folder, exported=exported, texts=texts
        )
        named: dict[str, None] = {}
        redacted: set[str] = set()
        events, head = 0, chain.START.hex()
        rows = connection.execute(
            "SELECT seq, CAST(body AS BLOB), CAST(hash AS BLOB), CAST(answer AS BLOB), CAST(arguments AS BLOB) "
            "FROM events LEFT JOIN texts_of_events USING (seq) ORDER BY seq"
        )
        for seq, packed, hash, answer, arguments in iter_ascending(rows):
            body = unpack_body(packed) if packed is not None else None
            events, head = events + 1, (hash or b"").hex()
            beside = {"answer": answer, "arguments": arguments} if texts else {}
            kept = {
                key: value for name, data in beside.items() for key, value in _encode_named_text(name, data).items()
            }
            yield _dump_line(seq=seq, hash=head, **_encode_named_text("body", body), **kept)
            if texts:
                _add_named_versions(body or b"", named, redacted)
        versions = 0
        for version in _iter_version_lines(connection, named, redacted):
            versions += 1
            yield version
        yield _dump_line(end=True, events=events, versions=versions, head=head)
    finally:
        if began and connection.in_transaction:
            connection.execute("ROLLBACK")


def _iter_version_lines(connection: sqlite3.Connection, named: dict[str, None], redacted: set[str]) -> Iterator[bytes]:
    rows = connection.execute(
        "SELECT CAST(sha256 AS BLOB), packed, CAST(data AS BLOB) FROM versions WHERE data IS NOT NULL ORDER BY sha256"
    )
    for key, packed, data in iter_ascending(rows):
        name = key.hex()
        if name not in named:
            continue  # of an event that was not recorded, or not yet
        del named[name]
        try:
            content = zlib.decompress(data) if packed else data
        except zlib.error:
            yield _dump_line(sha256=name, damaged=True)
            continue
        yield _dump_line(sha256=name, size=len(content), **_encode_text(content))
    for name in named:
        yield _dump_line(sha256=name, **{"redacted" if name in redacted else "missing": True})


def _add_named_versions(body: bytes, named: dict[str, None], redacted: set[str]) -> None:
    """Note which versions an event names; one that cannot be understood names none."""
    try:
        record = chain.decode_body(body)
        versions = [record.get("viewed"), *(each for change in record.get("changes", ()) for each in change[1:])]
        redacted.update(record.get("redacted", ()))
        named.update((version[1], None) for version in versions if version is not None and version[1] is not None)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return


def _encode_named_text(name: str, data: bytes | None) -> dict[str, str | None]:
    if data is None:
        return {name: None}
    try:
        return {name: data.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode("ascii")}


def _encode_text(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _dump_line(**values: Any) -> bytes:
    """A line that drives no terminal: nothing in it is other than printable ASCII."""
    return json.dumps(values).replace("\x7f", "\\u007f").encode("ascii") + b"\n"


# Importing an export: untrusted, so one line that does not fit the chain makes all of it unusable.

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
_NO_EXPORT = "it is not a journal written by `memtui export`"


@dataclass(frozen=True, slots=True)
class ImportedJournal:
    """A journal that was exported, in memory.

    Attributes:
        versions_by_path: The versions after the last event.
        found_until: The number of the last event of those that the journal begins with and that were only *found*.
        imported_until: The number of the last event that was imported from a session file; 0 if none was.
    """

    journal: Journal
    has_texts: bool
    versions_by_path: Mapping[str, Version]
    found_until: int
    imported_until: int


def read_export(path: str, *, title: str) -> ImportedJournal:
    """Read a whole, unchanged export; raises `StateUnusable`, which calls the file `title`."""
    try:
        with open(_open_export(path), "rb") as file:
            return _import_journal(file)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower() if error.errno else str(error)
        raise StateUnusable(f"The exported journal {title} cannot be read: {reason}.") from error
    except _InvalidExport as wrong:
        raise StateUnusable(f"The exported journal {title} cannot be used: {wrong}. None of it was used.") from wrong


def is_database(path: str, *, title: str) -> bool:
    """Whether a file is a database and no export; raises `StateUnusable`, which calls the file `title`."""
    try:
        fd = _open_export(path)
        try:
            return os.read(fd, len(_DATABASE)) == _DATABASE
        finally:
            os.close(fd)
    except FileNotFoundError:
        raise StateUnusable(f"There is no journal at {title}.") from None
    except OSError as error:
        raise StateUnusable(f"The journal {title} cannot be read: {os.strerror(error.errno or 0).lower()}.") from error
    except _InvalidExport as wrong:
        raise StateUnusable(f"The journal {title} cannot be used: {wrong}.") from wrong


class _InvalidExport(Exception):
    """What is wrong with an export, as the rest of a sentence."""


def _open_export(path: str) -> int:
    fd = open_without_atime(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _InvalidExport("it is not a regular file")
    return fd


def _import_journal(file: IO[bytes]) -> ImportedJournal:
    lines = _iter_records(file)
    header = next(lines, None)
    if header is None:
        raise _InvalidExport("it is empty")
    if header.get("memtui") != "journal":
        raise _InvalidExport(_NO_EXPORT)
    schema = header.get("schema")
    if not isinstance(schema, int) or schema < 1:
        raise _InvalidExport(_NO_EXPORT)
    if schema > SCHEMA:
        raise _InvalidExport("it was written by a newer memtui; update memtui to read it")
    if header.get("start") != chain.START.hex():
        raise _InvalidExport("its chain does not start at the first event")
    has_texts = header.get("texts") is True
    journal = Journal(None)
    try:
        total = _import_records(lines, journal, has_texts=has_texts)
    except BaseException:
        journal.close()
        raise
    return ImportedJournal(journal, has_texts, total.versions_by_path, total.found_until, total.imported_until)


def _iter_records(file: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The lines as JSON objects; raises `_InvalidExport`."""
    number = 0
    while line := file.readline(LINE_LIMIT + 1):
        number += 1
        if len(line) > LINE_LIMIT:
            raise _InvalidExport(f"line {number:,} has more than {LINE_LIMIT:,} bytes")
        if number == 1 and line.startswith(b"\x1f\x8b"):
            raise _InvalidExport("it is compressed; unpack it with gunzip first")
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            if number == 1:
                raise _InvalidExport(_NO_EXPORT) from None
            if not line.endswith(b"\n"):
                raise _InvalidExport(f"it ends in the middle of line {number:,}: it was cut off") from None
            raise _InvalidExport(f"line {number:,} is invalid JSON") from None
        if not isinstance(record, dict):
            raise _InvalidExport(_NO_EXPORT if number == 1 else f"line {number:,} is not a line of an export")
        yield record


@dataclass(slots=True)
class _ImportTotals:
    events: int = 0
    versions: int = 0
    head: bytes = chain.START
    versions_by_path: dict[str, Version] = field(default_factory=dict)
    found_until: int = 0
    imported_until: int = 0
    is_whole: bool = False


def _import_records(lines: Iterator[dict[str, Any]], journal: Journal, *, has_texts: bool) -> _ImportTotals:
    total = _ImportTotals()
    events: list[tuple[bytes, Event]] = []
    texts: dict[str, bytes | None] = {}
    size = 0
    for record in lines:
        if total.is_whole:
            raise _InvalidExport("it continues after its last line")
        if "seq" in record:
            if total.versions:
                raise _InvalidExport("an event follows the versions")
            events.append(_decode_event_record(record, total, has_texts=has_texts))
        elif "sha256" in record:
            total.versions += 1
            name, data, is_recorded = _decode_version_record(record, total.versions)
            if is_recorded:
                texts[name] = data
                size += len(data or b"")
        elif record.get("end") is True:
            _check_last_line(record, total)
            total.is_whole = True
        else:
            raise _InvalidExport("it holds a line that is neither an event nor a version")
        if len(events) + len(texts) >= _AT_ONCE or size > _BYTES_AT_ONCE:
            journal.import_events(events, texts)
            events, texts, size = [], {}, 0
    if not total.is_whole:
        raise _InvalidExport("its last line is missing: it was cut off")
    journal.import_events(events, texts)
    return total


def _check_last_line(record: dict[str, Any], total: _ImportTotals) -> None:
    if (record.get("events"), record.get("versions")) != (total.events, total.versions):
        raise _InvalidExport(
            f"it says that it has {record.get('events')!s:.20} events and {record.get('versions')!s:.20} versions, "
            f"but it has {total.events:,} and {total.versions:,}: lines are missing"
        )
    if record.get("head") != total.head.hex():
        raise _InvalidExport("its last line has another head than its events")


def _decode_event_record(record: dict[str, Any], total: _ImportTotals, *, has_texts: bool) -> tuple[bytes, Event]:
    number = total.events + 1
    if record["seq"] != number or isinstance(record["seq"], bool):
        raise _InvalidExport(f"event {record['seq']!s:.20} follows event {total.events:,}: lines are missing")
    body = record.get("body")
    if not isinstance(body, str) or not body.isascii():
        raise _InvalidExport(f"event {number:,} is not written by memtui")
    data = body.encode("ascii")
    total.head = chain.hash_link(total.head, data)
    if record.get("hash") != total.head.hex():
        raise _InvalidExport(f"event {number:,} does not match its hash: it, or one before it, was changed")
    fields = ("answer", "arguments")
    answer, arguments = (_read_text_field(record, name, number, has_texts=has_texts) for name in fields)
    try:
        event = chain.decode_event(data, answer=answer, arguments=arguments, hash=total.head)
        _validate_event(event, number)
        named = json.loads(data)
        for name, text in zip(fields, (answer, arguments), strict=True):
            if text is not None and named.get(name) != sha256(text.encode("utf-8")).hexdigest():
                verb = "is" if name == "answer" else "are"
                raise _InvalidExport(f"the {name} of event {number:,} {verb} not what it names")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise _InvalidExport(f"event {number:,} is invalid: memtui did not write it") from error
    total.events = number
    for change in event.changes:
        if change.after is None:
            total.versions_by_path.pop(change.path, None)
        else:
            total.versions_by_path[change.path] = change.after
    if event.command == "found" and isinstance(event.actor, Outside) and total.found_until == number - 1:
        total.found_until = number
    if event.command == IMPORTED:
        total.imported_until = number
    return data, event


def _read_text_field(record: dict[str, Any], name: str, number: int, *, has_texts: bool) -> str | None:
    text = record.get(name) if has_texts else None
    if f"{name}_base64" in record or not (text is None or isinstance(text, str)):
        raise _InvalidExport(f"the {name} of event {number:,} {'is' if name == 'answer' else 'are'} no text")
    try:
        (text or "").encode("utf-8")
    except UnicodeEncodeError:
        raise _InvalidExport(f"the {name} of event {number:,} cannot be written as text") from None
    return text


def _validate_event(event: Event, number: int) -> None:
    """Refuse values that no event can hold; raises `ValueError` or `TypeError`."""
    counts = (event.at_us, event.duration_us, event.added or 0, event.removed or 0, *event.undoes)
    if event.seq != number or not all(map(_is_count, counts)) or event.at_us > _LATEST_US:
        raise ValueError("a number")
    if not all(
        isinstance(each, str) for each in (event.command, event.path, event.note, *event.aliases, *event.redacted)
    ):
        raise TypeError("a text")
    actor = event.actor
    optional = (
        event.new_path,
        event.call_id,
        actor.name,
        *(getattr(actor, each, None) for each in ("model", "session")),
    )
    if not all(each is None or isinstance(each, str) for each in optional):
        raise TypeError("a text, or none")
    _validate_changes(event)


def _validate_changes(event: Event) -> None:
    for path in (*(change.path for change in event.changes), *(each for pair in event.moved for each in pair)):
        _validate_path(path)
    for version in (event.viewed, *(each for change in event.changes for each in (change.before, change.after))):
        if version is not None and not _is_valid_version(version):
            raise ValueError("a version")


def _validate_path(path: object) -> None:
    """Refuse a path that is not relative to the folder or leads out of it; raises `ValueError`."""
    if not isinstance(path, str) or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise ValueError("a path")
    path.encode("utf-8", "surrogateescape")


def _is_valid_version(version: Version) -> bool:
    if not _is_count(version.size):
        return False
    return version.sha256 is None or (
        version.kind in (EntryKind.FILE, EntryKind.LINK) and _HASH.fullmatch(version.sha256) is not None
    )


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= _LARGEST


def _decode_version_record(record: dict[str, Any], number: int) -> tuple[str, bytes | None, bool]:
    """A version: its hash, its bytes, and whether the journal that was exported held it, or that it was removed."""
    name = record["sha256"]
    if not isinstance(name, str) or not _HASH.fullmatch(name):
        raise _InvalidExport(f"version {number:,} has no hash")
    data = _decode_data(record, name)
    if data is None:
        if not any(record.get(each) is True for each in ("redacted", "missing", "damaged")):
            raise _InvalidExport(f"the version {name[:12]} has no text")
        return name, None, record.get("redacted") is True
    if sha256(data).hexdigest() != name:
        raise _InvalidExport(f"the version {name[:12]} was changed: its text has another hash")
    return name, data, True


def _decode_data(record: dict[str, Any], name: str) -> bytes | None:
    text, packed = record.get("text"), record.get("base64")
    try:
        if isinstance(text, str):
            return text.encode("utf-8")
        if isinstance(packed, str):
            return base64.b64decode(packed, validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        raise _InvalidExport(f"the text of the version {name[:12]} cannot be read") from None
    return None
