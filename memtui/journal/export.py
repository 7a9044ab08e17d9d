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
import json
import sqlite3
import zlib
from collections.abc import Iterator
from typing import Any

from memtui.journal import chain
from memtui.journal.rows import in_order

SCHEMA = 1


def lines(connection: sqlite3.Connection, *, folder: str, exported: str, texts: bool = True) -> Iterator[bytes]:
    """The lines of an export, one after the other, all of one state of the journal.

    Args:
        connection: An open journal; nobody else may use it until the last line.
        folder: The name of the memory folder.
        exported: The time, as UTC in ISO 8601.
        texts: Whether texts are exported; without, the chain can be verified, and what it names cannot.

    Raises:
        sqlite3.Error: The journal is damaged. The lines before are right, and the last one is not among them.
    """
    began = not connection.in_transaction
    if began:
        connection.execute("BEGIN")
    try:
        yield _line(
            memtui="journal", schema=SCHEMA, start=chain.START.hex(), folder=folder, exported=exported, texts=texts
        )
        named: dict[str, None] = {}
        redacted: set[str] = set()
        events, head = 0, chain.START.hex()
        rows = connection.execute(
            "SELECT seq, CAST(body AS BLOB), CAST(hash AS BLOB), CAST(answer AS BLOB), CAST(arguments AS BLOB) "
            "FROM events LEFT JOIN texts_of_events USING (seq) ORDER BY seq"
        )
        for seq, body, hash, answer, arguments in in_order(rows):
            events, head = events + 1, (hash or b"").hex()
            kept = {**_kept("answer", answer), **_kept("arguments", arguments)} if texts else {}
            yield _line(seq=seq, hash=head, **_kept("body", body), **kept)
            if texts:
                _name(body or b"", named, redacted)
        versions = 0
        for version in _versions(connection, named, redacted):
            versions += 1
            yield version
        yield _line(end=True, events=events, versions=versions, head=head)
    finally:
        if began and connection.in_transaction:
            connection.execute("ROLLBACK")


def _versions(connection: sqlite3.Connection, named: dict[str, None], redacted: set[str]) -> Iterator[bytes]:
    rows = connection.execute(
        "SELECT CAST(sha256 AS BLOB), packed, CAST(data AS BLOB) FROM versions WHERE data IS NOT NULL ORDER BY sha256"
    )
    for key, packed, data in in_order(rows):
        name = key.hex()
        if name not in named:
            continue  # of an event that was not recorded, or not yet
        del named[name]
        try:
            held = zlib.decompress(data) if packed else data
        except zlib.error:
            yield _line(sha256=name, damaged=True)
            continue
        yield _line(sha256=name, size=len(held), **_text(held))
    for name in named:
        yield _line(sha256=name, **{"redacted" if name in redacted else "missing": True})


def _name(body: bytes, named: dict[str, None], redacted: set[str]) -> None:
    """Note which versions an event names; one that cannot be understood names none."""
    try:
        record = json.loads(body)
        versions = [record.get("viewed"), *(each for change in record.get("changes", ()) for each in change[1:])]
        redacted.update(record.get("redacted", ()))
        named.update((version[1], None) for version in versions if version is not None and version[1] is not None)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return


def _kept(name: str, data: bytes | None) -> dict[str, str | None]:
    if data is None:
        return {name: None}
    try:
        return {name: data.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode("ascii")}


def _text(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _line(**values: Any) -> bytes:
    """A line that drives no terminal: nothing in it is other than printable ASCII."""
    return json.dumps(values).replace("\x7f", "\\u007f").encode("ascii") + b"\n"
