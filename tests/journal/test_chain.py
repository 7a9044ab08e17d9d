"""The canonical form of events, and the chain over it."""

import dataclasses
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core.attributes import Attributes
from memtui.core.events import Agent, Change, EntryKind, Event, Memtui, Outside, Person, Result, Version
from memtui.journal import chain

TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
SOME = TEXT.filter(bool)
NUMBER = st.integers(0, 2**63)
HASH = st.binary(min_size=32, max_size=32).map(bytes.hex)
ACTOR = st.one_of(
    st.builds(Agent, TEXT, st.none() | SOME, st.none() | SOME),
    st.builds(Person, TEXT),
    st.builds(Outside, TEXT),
    st.builds(Memtui, TEXT),
)
ATTRIBUTES = st.builds(Attributes, st.none() | st.integers(0, 0o777), st.none() | st.integers(-(2**66), 2**66))
VERSION = st.builds(Version, st.sampled_from(EntryKind), st.none() | HASH, NUMBER, ATTRIBUTES)
CHANGE = st.builds(Change, TEXT, st.none() | VERSION, st.none() | VERSION)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(TEXT, values, max_size=4),
    max_leaves=12,
)
EVENT = st.builds(
    Event,
    seq=NUMBER,
    at_us=NUMBER,
    actor=ACTOR,
    command=TEXT,
    path=TEXT,
    new_path=st.none() | SOME,
    is_error=st.booleans(),
    answer=st.none() | TEXT,
    changes=st.lists(CHANGE, max_size=3).map(tuple),
    viewed=st.none() | VERSION,
    added=st.none() | NUMBER,
    removed=st.none() | NUMBER,
    duration_us=NUMBER,
    call_id=st.none() | SOME,
    aliases=st.lists(TEXT, max_size=2).map(tuple),
    no_change=st.booleans(),
    note=TEXT,
    arguments=st.none() | TEXT,
)


@given(EVENT)
def test_an_event_comes_back_as_it_was(event: Event) -> None:
    body = chain.encode_event(event)
    again = chain.decode_event(body, answer=event.answer, arguments=event.arguments, hash=b"")
    assert again == event
    assert list_attributes(again) == list_attributes(event)


def list_attributes(event: Event) -> list[Attributes | None]:
    """What versions hold besides what they are compared by."""
    versions = [version for change in event.changes for version in (change.before, change.after)]
    return [version.attributes if version is not None else None for version in versions]


def test_an_event_that_knows_no_attributes_is_written_as_ever() -> None:
    change = Change("f", Version(EntryKind.FILE, "ab" * 32, 3, Attributes(0o644, 7)), Version(EntryKind.FILE, None, 4))
    event = Event(at_us=1, actor=Person(), command="write", path="/memories/f", changes=(change,), viewed=change.before)
    record = json.loads(chain.encode_event(event))
    assert record["changes"] == [["f", ["file", "ab" * 32, 3, 0o644, 7], ["file", None, 4]]]
    assert record["viewed"] == ["file", "ab" * 32, 3]


@given(EVENT)
def test_the_canonical_form_is_ascii_sorted_and_the_same_every_time(event: Event) -> None:
    body = chain.encode_event(event)
    assert body == chain.encode_event(dataclasses.replace(event))
    assert body.isascii()
    assert body == json.dumps(json.loads(body), sort_keys=True, separators=(",", ":")).encode()


@given(EVENT, EVENT)
def test_two_events_that_differ_have_two_forms(one: Event, two: Event) -> None:
    is_same = one == two and list_attributes(one) == list_attributes(two)
    assert is_same == (chain.encode_event(one) == chain.encode_event(two))


@given(st.lists(EVENT, max_size=3))
def test_texts_stand_in_the_form_by_their_hashes_only(events: list[Event]) -> None:
    secret = "hunter2-hunter2"
    for event in events:
        body = chain.encode_event(dataclasses.replace(event, answer=secret, arguments=secret))
        assert secret.encode() not in body
        assert body.count(hashlib.sha256(secret.encode()).hexdigest().encode()) >= 2


@given(st.lists(st.binary(max_size=8), max_size=5), st.data())
def test_no_event_can_be_changed_dropped_or_moved_without_another_head(
    bodies: list[bytes], data: st.DataObject
) -> None:
    def head(of: list[bytes]) -> bytes:
        at = chain.START
        for body in of:
            at = chain.hash_link(at, body)
        return at

    other = data.draw(st.permutations(bodies).map(list) | st.lists(st.binary(max_size=8), max_size=5))
    assert (head(other) == head(bodies)) == (other == bodies)


def test_an_event_that_was_aborted_keeps_who_asked_and_says_how_it_ended() -> None:
    event = Event(at_us=1, actor=Agent("a"), command="create", path="/memories/f", is_error=True, aborted=True)
    body = chain.encode_event(event)
    assert json.loads(body)["result"] == "aborted"
    assert chain.decode_event(body, answer=None, arguments=None, hash=b"") == event
    assert (event.result, event.actor) == (Result.ABORTED, Agent("a"))
    assert dataclasses.replace(event, aborted=False).result is Result.REFUSED


@given(st.dictionaries(TEXT, VALUE, max_size=4), st.booleans())
def test_a_body_is_read_as_json_reads_it(record: dict[str, object], ascii_only: bool) -> None:
    text = json.dumps(record, ensure_ascii=ascii_only)
    body = text.encode("utf-8", "surrogatepass")
    assert chain.decode_body(body) == record


_SOMEBODY = b'{"seq":1,"at_us":1,"actor":["person","a"],'


@pytest.mark.parametrize(
    "body",
    [
        *(b"[]", b"5", b"null", b'"seq"', b"{}", b'{"seq":1,"at_us":1}', b'{"seq":1,"at_us":1,"actor":5}'),
        *(
            _SOMEBODY + rest
            for rest in (b'"noted":[]}', b'"changes":5}', b'"changes":[["a",{},null]]}', b'"moved":[1]}')
        ),
    ],
)
def test_what_is_no_event_is_refused_in_a_way_that_its_readers_know(body: bytes) -> None:
    with pytest.raises((ValueError, LookupError, TypeError)):
        chain.decode_event(body, answer=None, arguments=None, hash=b"")


@pytest.mark.parametrize("body", [b"{", b"{}{}", b'{"a":1,}', b'{"a":\x01}', b'{"a":"\x01"}', b"", b"\xff", b"{'a':1}"])
def test_a_body_that_json_refuses_is_refused(body: bytes) -> None:
    with pytest.raises(json.JSONDecodeError if body != b"\xff" else UnicodeDecodeError):
        chain.decode_body(body)
