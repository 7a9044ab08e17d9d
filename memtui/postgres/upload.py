"""Giving a server the record of memories that were kept elsewhere: the same bytes and hashes, from the first event."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from memtui.core.errors import StateUnusable
from memtui.journal import chain
from memtui.journal.record import ReadableRecord
from memtui.postgres.dsn import parse_address
from memtui.postgres.server import Addition, NewEvent, Overtaken, Seen, Server, encode_text

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
            added = _make_events(record, hash, page)
            hashes = {sha256 for _, body in page for sha256 in _iter_versions(chain.decode_body(body))}
            texts: dict[str, bytes | None] = dict(record.get_texts(hashes))
            texts |= {sha256: None for sha256 in hashes - texts.keys() if record.has_version(sha256)}
            try:
                seq, hash, _, _ = server.append(Seen(seq, hash), Addition(added, texts))
            except Overtaken as error:
                raise StateUnusable("Another program writes to the store on the server. Try again.") from error
        server.ring()
        return until, last
    finally:
        server.close()


def _make_events(record: ReadableRecord, previous: bytes, page: Sequence[tuple[int, bytes]]) -> list[NewEvent]:
    """Events as they are given to the server, which will give each the same number and hash. Raises `StateUnusable`."""
    made = []
    for seq, body in page:
        event = record.get_event(seq)
        assert event is not None
        previous = chain.hash_link(previous, body)
        start, end = chain.split_body(body, seq)
        if previous.hex() != event.hash or b"%b%d%b" % (start, seq, end) != body:
            raise StateUnusable(f"The record is broken at event {seq:,}. Check it with: memtui verify")
        made.append(NewEvent(start, end, encode_text(event.answer), encode_text(event.arguments)))
    return made


def _iter_versions(event: dict[str, Any]) -> Iterator[str]:
    """The SHA-256 of each version that an event names."""
    for _, before, after in event.get("changes", ()):
        yield from (version[1] for version in (before, after) if version and version[1])
    if (viewed := event.get("viewed")) and viewed[1]:
        yield viewed[1]
