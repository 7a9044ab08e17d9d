"""Giving a server the record of memories that were kept elsewhere: the same bytes and hashes, from the first event."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from memtui.core.errors import StateUnusable
from memtui.journal import chain
from memtui.journal.record import ReadableRecord
from memtui.postgres.dsn import parse_address
from memtui.postgres.server import Addition, Overtaken, Server, ServerEvent

_PAGE = 200
"""Events in one step."""


def upload(record: ReadableRecord, place: str) -> tuple[int, str]:
    """Add a whole record to a store that holds nothing, or the beginning of it, as a call that was cut off has left.

    Returns:
        The number and the hash of the last event.

    Raises:
        StateUnusable: The store holds something else, or the server cannot be used.
    """
    server = Server(parse_address(place))
    try:
        seq, hash = 0, chain.START
        while events := server.get_after(seq, hash).events:
            for each in events:
                ours = record.get_event(each.seq)
                if ours is None or ours.hash != each.hash.hex():
                    raise StateUnusable("The store on the server holds other memories already. Name another store.")
            seq, hash = events[-1].seq, events[-1].hash
        until, last = record.get_head()
        bodies = record.iter_bodies(seq, until)
        while page := list(islice(bodies, _PAGE)):
            added = [_make_event(record, number, body) for number, body in page]
            hashes = {sha256 for _, body in page for sha256 in _iter_versions(json.loads(body))}
            texts: dict[str, bytes | None] = dict(record.get_texts(hashes))
            texts |= {sha256: None for sha256 in hashes - texts.keys() if record.has_version(sha256)}
            try:
                server.append(page[0][0] - 1, Addition(added, texts))
            except Overtaken as error:
                raise StateUnusable("Another program writes to the store on the server. Try again.") from error
        server.ring()
        return until, last
    finally:
        server.close()


def _make_event(record: ReadableRecord, seq: int, body: bytes) -> ServerEvent:
    event = record.get_event(seq)
    assert event is not None
    answer, arguments = (None if text is None else text.encode("utf-8") for text in (event.answer, event.arguments))
    return ServerEvent(seq, body, bytes.fromhex(event.hash), answer, arguments)


def _iter_versions(event: dict[str, Any]) -> Iterator[str]:
    """The SHA-256 of each version that an event names."""
    for _, before, after in event.get("changes", ()):
        yield from (version[1] for version in (before, after) if version and version[1])
    if (viewed := event.get("viewed")) and viewed[1]:
        yield viewed[1]
