"""The canonical form of an event, and the chain of hashes over it. Pure: no database, no clock.

Each event's hash is SHA-256 over the previous hash and the event's canonical bytes, so that an event cannot be
changed, dropped or moved without breaking every hash behind it. Texts stand in it by their hashes only: a secret
can be removed from the record afterwards, and the chain still verifies.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any

from jiter import from_json

from memtui.core.attributes import UNKNOWN, make_attributes
from memtui.core.events import Actor, Agent, Change, EntryKind, Event, Memtui, Outside, Person, Result, Version

SCHEMA = 1
START = hashlib.sha256(b"memtui journal 1").digest()
"""What stands in for the previous hash before the first event."""

_WITH_ATTRIBUTES = 5
"""How many values a version has whose attributes are known."""
_ABORTED = Result.ABORTED.value
_KINDS = {kind.value: kind for kind in EntryKind}
"""Looked up a million times where a record is long."""


_encode_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode


def hash_link(previous: bytes, body: bytes) -> bytes:
    """The hash of the chain after an event with this body."""
    return hashlib.sha256(previous + body).digest()


_FIELDS = Event.__slots__
_get_fields = attrgetter(*_FIELDS)


def link_events(events: Iterable[Event], seq: int, previous: bytes) -> list[tuple[bytes, Event]]:
    """Events behind the one of number `seq` and hash `previous`: their canonical bytes, and each as recorded."""
    linked: list[tuple[bytes, Event]] = []
    for event in events:
        seq += 1
        body = encode_event(event, seq)
        previous = hash_link(previous, body)
        linked.append((body, assign_seq(event, seq, previous.hex())))
    return linked


def assign_seq(event: Event, seq: int, hash: str) -> Event:
    """An event with its number and its hash; quicker than `dataclasses.replace`."""
    values = dict(zip(_FIELDS, _get_fields(event), strict=True))
    values["seq"], values["hash"] = seq, hash
    return Event(**values)


def encode_event(event: Event, seq: int | None = None) -> bytes:
    """The canonical bytes of an event: JSON with sorted keys, no spaces, ASCII only; empty fields left out.

    `seq` is its number, by default the one that it has.
    """
    record: dict[str, object] = {
        "schema": SCHEMA,
        "seq": event.seq if seq is None else seq,
        "at_us": event.at_us,
        "actor": _encode_actor(event.actor),
        "command": event.command,
        "path": event.path,
        "new_path": event.new_path,
        "is_error": event.is_error,
        "result": event.result.value,
        "answer": _hash_text(event.answer),
        "arguments": _hash_text(event.arguments),
        "changes": [
            [change.path, _encode_version(change.before), _encode_version(change.after)] for change in event.changes
        ],
        "viewed": _encode_content(event.viewed),
        "added": event.added,
        "removed": event.removed,
        "duration_us": event.duration_us,
        "call_id": event.call_id,
        "aliases": list(event.aliases),
        "no_change": event.no_change,
        "note": event.note,
        "moved": [list(pair) for pair in event.moved],
        "undoes": list(event.undoes),
        "redacted": list(event.redacted),
        "noted": dict(event.noted),
    }
    kept = {key: value for key, value in record.items() if value or (value == 0 and value is not False)}
    return _encode_json(kept).encode("ascii")


_SEQ = b'"seq":'
"""In canonical bytes this is a key: in a string, the quotation marks are escaped."""


def split_body(body: bytes, seq: int) -> tuple[bytes, bytes]:
    """The canonical bytes of an event of a number, before that and behind it."""
    start = body.index(_SEQ) + len(_SEQ)
    return body[:start], body[start + len(str(seq)) :]


def decode_body(body: bytes) -> Any:
    """What `json.loads` makes of an event, in a third of its time.

    What jiter refuses is left to `json`: the names of files that are no UTF-8, which stand in it as lone surrogates.
    """
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError:
        return json.loads(body)


def decode_event(body: bytes, *, answer: str | None, arguments: str | None, hash: bytes) -> Event:
    """The event of canonical bytes, with the texts that are kept beside them.

    Raises:
        ValueError, LookupError, TypeError: They are no event.
    """
    record: dict[str, Any] = decode_body(body)
    seq, get = record["seq"], record.get  # in this order: JSON that is no object has no `get`
    changes = [
        Change(path, decode_version(before), decode_version(after)) for path, before, after in get("changes", ())
    ]
    event = _new_object(Event)
    Event.__init__(  # by hand, and 14 at most: else Python makes a dictionary of them, which takes 1 of 7 µs
        event,
        seq=seq,
        at_us=record["at_us"],
        actor=decode_actor(record["actor"]),
        command=get("command", ""),
        path=get("path", ""),
        answer=answer,
        changes=tuple(changes),
        added=get("added"),
        removed=get("removed"),
        duration_us=get("duration_us", 0),
        call_id=get("call_id"),
        arguments=arguments,
        aborted=get("result") == _ABORTED,
        hash=hash.hex(),
    )
    if not _is_plain(record):
        for name in _RARE.keys() & record.keys():
            read = _RARE[name]
            object.__setattr__(event, name, record[name] if read is None else read(record[name]))
    return event


def decode_changes(body: bytes) -> list[tuple[str, Version | None, Version | None]]:
    """Only what an event changed: path, version before, version after. Much cheaper than the whole event."""
    if b'"changes":' not in body:
        return []
    return [
        (path, decode_version(before), decode_version(after))
        for path, before, after in decode_body(body).get("changes", ())
    ]


def _hash_text(text: str | None) -> str | None:
    if text is None:
        return None
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _encode_actor(actor: Actor) -> list[str | None]:
    match actor:
        case Agent():
            return ["agent", actor.name, actor.model, actor.session]
        case Person():
            return ["person", actor.name]
        case Outside():
            return ["outside", actor.name]
        case Memtui():
            return ["memtui", actor.name]
    raise TypeError(f"not an actor: {actor!r}")  # recorded, it could never be read again


def decode_actor(record: list[str | None]) -> Actor:
    """The actor of an event's `actor` field."""
    return _make_actor(*record[:4])


@lru_cache(maxsize=64)
def _make_actor(kind: str, name: str | None, model: str | None = None, session: str | None = None) -> Actor:
    match kind:
        case "agent":
            return Agent(name or "", model, session)
        case "person":
            return Person(name or "")
        case "outside":
            return Outside(name or "")
        case _:
            return Memtui(name or "")


def _encode_content(version: Version | None) -> list[str | int | None] | None:
    return None if version is None else [version.kind.value, version.sha256, version.size]


def _encode_version(version: Version | None) -> list[str | int | None] | None:
    """A version; attributes stand behind its content where they are known, and older events had none."""
    record = _encode_content(version)
    if record is None or version is None or version.attributes == UNKNOWN:
        return record
    return [*record, *version.attributes]


def decode_version(record: list[Any] | None) -> Version | None:
    """The version of an event's field."""
    if record is None:
        return None
    try:
        return _make_version(*record[:_WITH_ATTRIBUTES])
    except TypeError:  # lists in it: memtui did not write it
        return _make_version.__wrapped__(*record[:_WITH_ATTRIBUTES])


@lru_cache(maxsize=16, typed=True)  # what stood before an event mostly stood behind the one before
def _make_version(kind: str, sha256: str | None, size: int, mode: object = None, mtime_ns: object = None) -> Version:
    return Version(_KINDS[kind], sha256, size, make_attributes(mode, mtime_ns))


_RARE: dict[str, Callable[[Any], object] | None] = {
    "new_path": None,
    "is_error": None,
    "viewed": decode_version,
    "aliases": tuple,
    "no_change": None,
    "note": None,
    "moved": lambda pairs: tuple([(old, new) for old, new in pairs]),
    "undoes": tuple,
    "redacted": tuple,
    "noted": lambda values: tuple(dict.items(values)),
}
"""Fields that most events leave out, and how they are read; `None`: as they are."""
_is_plain = frozenset(_RARE).isdisjoint
_new_object = object.__new__
