"""An event's bytes are kept deflated or as they are, and come back the same; old journals are read on."""

import contextlib
import sqlite3
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core.events import Agent, Change, EntryKind, Event, Version, sha256
from memtui.journal import bodies, chain
from memtui.journal.bodies import pack_body, unpack_body
from memtui.journal.sqlite import Journal
from memtui.journal.transfer import iter_export_lines
from memtui.journal.verify import verify_journal
from memtui.journal.verify_report import FindingWeight
from tests.journal.test_chain import EVENT

CREATED = Event(
    at_us=1_795_726_433_857_012,
    actor=Agent("Claude Code", "claude-opus-4-5", "session_0123456789abcdef"),
    command="create",
    path="/memories/area/note.md",
    call_id="toolu_0123456789",
    answer="File created successfully at: /memories/area/note.md",
    changes=(Change("area/note.md", None, Version(EntryKind.FILE, sha256(b"x"), 1)),),
)


FORMS = (b"\1", b"\2")


def make_body(seq: int = 1) -> bytes:
    return chain.encode_event(CREATED, seq)


@given(EVENT)
def test_every_event_comes_back(event: Event) -> None:
    body = chain.encode_event(event, 7)
    assert unpack_body(pack_body(body)) == body


@given(st.binary(max_size=400).filter(lambda data: data[:1] not in (b"\1", b"\2")))
def test_bytes_that_are_no_body_come_back_as_they_are_kept(data: bytes) -> None:
    assert unpack_body(pack_body(data)) == data


def test_an_ordinary_event_takes_less_than_half() -> None:
    assert len(pack_body(make_body())) < len(make_body()) / 2


def test_what_an_index_looks_for_stays_readable_to_it() -> None:
    noting = make_body().replace(b'"path":', b'"noted":{},"path":')
    assert pack_body(noting) == noting
    deflated = bodies._new_deflater()  # by somebody who would hide it
    rest = deflated.compress(noting) + deflated.flush()
    for form in FORMS:
        assert unpack_body(form + rest) == form + rest


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [65_537, 100_000_000])
def test_no_more_is_unpacked_than_was_ever_packed(form: bytes, size: int) -> None:
    deflater = zlib.compressobj(9, zlib.DEFLATED, -12)
    kept = form + deflater.compress(b"{" * size) + deflater.flush()
    assert unpack_body(kept) == kept


def test_no_more_is_unpacked_however_many_hashes_stand_behind_it() -> None:
    deflater = zlib.compressobj(9, zlib.DEFLATED, -12)
    kept = b"\2" + deflater.compress(b"{" + b"\0" * 1_000) + deflater.flush() + bytes(32 * 1_000)
    assert unpack_body(kept) == kept


@pytest.mark.parametrize("count", [0, 1, 1.25, 1.5, 2.5, 3])
def test_a_body_has_as_many_hashes_as_places_for_them(count: float) -> None:
    deflater = bodies._new_deflater()
    rest = deflater.compress(b'{"answer":\0,"arguments":\0}') + deflater.flush()
    kept = b"\2" + rest + bytes(range(32)) * int(count) + bytes(int(32 * (count % 1)))
    assert unpack_body(kept) == kept
    one = bytes(range(32)).hex().encode()
    assert unpack_body(b"\2" + rest + bytes(range(32)) * 2) == b'{"answer":"%b","arguments":"%b"}' % (one, one)


def deflate_whole(body: bytes) -> bytes:
    """A body as journals of schema 4 keep it."""
    deflater = bodies._new_deflater()
    return b"\1" + deflater.compress(body) + deflater.flush()


@given(EVENT)
def test_a_body_that_is_deflated_whole_is_read_on(event: Event) -> None:
    body = chain.encode_event(event, 7)
    if b'"noted":' not in body:
        assert unpack_body(deflate_whole(body)) == body
        assert unpack_body(deflate_whole(body) + bytes(32)) == deflate_whole(body) + bytes(32)


def test_something_behind_the_end_is_no_part_of_a_body() -> None:
    assert unpack_body(pack_body(make_body()) + b"hidden") == pack_body(make_body()) + b"hidden"


def test_each_flipped_bit_of_a_kept_event_is_found(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = Journal(str(path))
    journal.append_events([CREATED] * 2)
    journal.close()
    with contextlib.closing(sqlite3.connect(path)) as database:
        (kept,) = database.execute("SELECT body FROM events WHERE seq = 1").fetchone()
        assert kept[:1] == b"\2"
        assert unpack_body(kept) == make_body()
        database.execute("DROP TRIGGER events_hold")
        padding = 0
        for at in range(0, 8 * len(kept), 7):
            changed = bytearray(kept)
            changed[at // 8] ^= 1 << at % 8
            if unpack_body(bytes(changed)) == make_body():  # it fills up the last byte of what is deflated
                padding += 1
                continue
            database.execute("UPDATE events SET body = ? WHERE seq = 1", (bytes(changed),))
            assert FindingWeight.EVENT in {each.weight for each in verify_journal(database).findings}, at
    assert padding <= 1


@pytest.mark.parametrize("schema", [3, 4])
def test_a_journal_of_before_goes_on_with_the_same_chain(tmp_path: Path, schema: int) -> None:
    keep = deflate_whole if schema == 4 else bytes
    path = tmp_path / "journal.db"
    journal = Journal(str(path))
    journal.append_events([CREATED] * 2)
    journal.close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        declared = database.execute("SELECT sql FROM sqlite_master WHERE name = 'events_hold'").fetchone()[0]
        database.execute("DROP TRIGGER events_hold")
        for seq in (1, 2):
            database.execute("UPDATE events SET body = ? WHERE seq = ?", (keep(make_body(seq)), seq))
        database.execute(declared)
        database.execute(f"PRAGMA user_version = {schema}")
        before = list(iter_export_lines(database, folder="m", exported="", texts=True))
    journal = Journal(str(path))
    journal.append_events([CREATED])
    assert [each.seq for each in journal.get_events()] == [1, 2, 3]
    assert [body for _, body in journal.iter_bodies(0, 3)] == [make_body(seq) for seq in (1, 2, 3)]
    assert journal.verify().intact_until == 3
    journal.close()
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (5,)
        old = keep(make_body())[:1]
        assert database.execute("SELECT substr(body, 1, 1) FROM events").fetchall() == [(old,), (old,), (b"\2",)]
        assert list(iter_export_lines(database, folder="m", exported="", texts=True))[1:3] == before[1:3]
