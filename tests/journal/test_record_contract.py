"""What `memtui.journal.record` promises, held against every record.

A record of another kind joins with one line in `KINDS`, and nothing else here may know which one it is. `PATIENT`
names the exception: where a reader must not wait for a server, what waits is recorded in a moment, and not by reading.
"""

import dataclasses
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from memtui.core.attributes import Attributes
from memtui.core.errors import StateUnusable
from memtui.core.events import Change, EntryKind, Event, Memtui, Version, sha256
from memtui.core.guards import DISMISSED, PINS
from memtui.core.settings import Settings
from memtui.journal import chain
from memtui.journal.record import KnownPath, Record
from memtui.journal.sqlite import Journal
from memtui.journal.verify_report import RepairReport
from memtui.postgres.dsn import parse_address
from memtui.postgres.journal import ServerJournal
from memtui.postgres.server import Server
from memtui.store.base import UNSEEN
from tests.conftest import wait_until
from tests.journal.making import EVENT, changed

Opener = Callable[[Path, pytest.FixtureRequest], Record]


def _open_file(directory: Path, _: pytest.FixtureRequest) -> Record:
    return Journal(str(directory / "journal.db"))


def _copy_file(directory: Path, _: pytest.FixtureRequest) -> Record:
    return Journal.copy_from(str(directory / "journal.db"))


def _open_on_server(directory: Path, request: pytest.FixtureRequest) -> Record:
    address = request.getfixturevalue("server").address(f"r-{sha256(bytes(directory))[:12]}")
    return ServerJournal(str(directory / "copy.db"), Server(parse_address(address)), Settings())


KINDS: Mapping[str, Opener] = {
    "file": _open_file,
    "memory": lambda *_: Journal(None),
    "copy": _copy_file,
    "server": _open_on_server,
}
SHARED = ("file", "server")
"""Those that others may read."""
PATIENT = (ServerJournal,)
"""Those that have a reader wait for nothing."""
STAMP = (5, 1, 7, 0o600, 9)
FILE = KnownPath(Version(EntryKind.FILE, "ab" * 32, 5, Attributes(0o600, 7)), STAMP)


@pytest.fixture(params=KINDS)
def record(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Record]:
    """An empty record of each kind in turn."""
    record = KINDS[request.param](tmp_path, request)
    yield record
    record.close()


@pytest.fixture(params=SHARED)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Record, Record]]:
    """One record, opened twice as by two processes, of each kind that can be."""
    one, other = (KINDS[request.param](tmp_path, request) for _ in range(2))
    yield one, other
    other.close()
    one.close()


def know(text: bytes) -> KnownPath:
    """What is known of a file with a text."""
    return KnownPath(Version(EntryKind.FILE, sha256(text), len(text)), STAMP)


def keep(record: Record, text: bytes, name: str = "f") -> Event:
    """Record that a text is at a path, and know it there."""
    (kept,) = record.append_events([changed(text, name)], texts={sha256(text): text}, known={name: know(text)})
    return kept


def take_away(record: Record, name: str, text: bytes) -> Event:
    """Record that nothing is at a path any more."""
    gone = Change(name, changed(text).changes[0].after, None)
    return record.append_events([dataclasses.replace(EVENT, command="delete", changes=(gone,))], known={name: None})[0]


class TestEvents:
    def test_they_are_numbered_without_gaps_and_come_back_in_order(self, record: Record) -> None:
        first = record.append_events([EVENT, dataclasses.replace(EVENT, path="/memories/g")])
        (third,) = record.append_events([dataclasses.replace(EVENT, added=0, removed=0)])
        assert [event.seq for event in (*first, third)] == [1, 2, 3]
        assert record.get_events() == list(record.iter_events()) == [*first, third]
        assert record.get_events(after=1, limit=1) == [first[1]]
        assert record.get_event(3) == third
        assert record.get_event(4) is None
        assert record.get_head() == (3, third.hash)

    def test_an_empty_record_begins_with_the_start_of_the_chain(self, record: Record) -> None:
        assert record.get_head() == (0, chain.START.hex())
        assert (record.get_events(), record.get_event(1), record.get_totals()) == ([], None, (0, 0))
        assert list(record.iter_bodies(0, 10)) == []

    def test_the_chain_recomputes_from_the_bodies(self, record: Record) -> None:
        events = [keep(record, b"%d" % number, f"f{number}") for number in range(5)]
        at = chain.START
        for seq, body in record.iter_bodies(0, 5):
            at = chain.hash_link(at, body)
            assert at.hex() == events[seq - 1].hash
            assert json.loads(body)["path"] == "/memories/f"
        assert record.get_head() == (5, at.hex())

    def test_bodies_come_in_both_directions_and_within_their_limits(self, record: Record) -> None:
        record.append_events([EVENT] * 2_050)  # more than are read at once
        assert [seq for seq, _ in record.iter_bodies(10, 2_049)] == list(range(11, 2_050))
        assert [seq for seq, _ in record.iter_bodies(10, 2_049, backwards=True)] == list(range(2_049, 10, -1))

    def test_small_events_are_those_asked_for_in_the_order_asked(self, record: Record) -> None:
        note = "".join(sha256(b"%d" % number) for number in range(400))  # it is no smaller when it is packed
        record.append_events([EVENT, dataclasses.replace(EVENT, note=note), EVENT])
        found = list(record.iter_small_events([3, 2, 1, 9]))
        assert [event and event.seq for event in found] == [3, None, 1, None]

    def test_all_are_recorded_or_none(self, record: Record) -> None:
        record.append_events([EVENT])
        wrong = dataclasses.replace(EVENT, path=object())  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            record.append_events([EVENT, wrong], texts={sha256(b"x"): b"x"}, known={"f": FILE})
        assert (len(record.get_events()), record.get_known("f"), record.has_version(sha256(b"x"))) == (1, None, False)
        record.append_events([EVENT])
        assert record.get_head()[0] == 2

    def test_answers_and_arguments_are_kept_beside_them(self, record: Record) -> None:
        record.append_events([EVENT, dataclasses.replace(EVENT, answer=None, arguments=None)])
        assert record.get_event_texts(1) == ("ok", "{}")
        assert record.get_event_texts(2) == record.get_event_texts(3) == (None, None)

    def test_what_waits_is_recorded_before_what_comes_later_and_before_it_is_read(self, record: Record) -> None:
        waiting = record.deferred.add(dataclasses.replace(EVENT, command="view"), {sha256(b"x"): b"x"})
        (later,) = record.append_events([EVENT])
        assert (waiting.wait().seq, later.seq) == (1, 2)
        record.deferred.add(dataclasses.replace(EVENT, command="view"), {})
        if isinstance(record, PATIENT):
            wait_until(lambda: not record.deferred.is_waiting and record.get_head()[0] == 3, "what waits")
        assert record.get_head()[0] == 3
        assert record.has_text(sha256(b"x"))

    def test_threads_add_without_gaps(self, record: Record) -> None:
        def add() -> None:
            for _ in range(20):
                record.append_events([EVENT], durable=False)

        threads = [threading.Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert [event.seq for event in record.get_events()] == list(range(1, 81))
        assert record.verify().is_intact


class TestPaths:
    def test_the_events_of_a_path_come_newest_first(self, record: Record) -> None:
        for text, name in ((b"1", "f"), (b"2", "g"), (b"3", "f"), (b"4", "caf\udce9")):
            keep(record, text, name)
        assert [event.seq for event in record.get_path_events("f")] == [3, 1]
        assert [event.seq for event in record.get_path_events("f", limit=1)] == [3]
        assert [event.seq for event in record.get_path_events("f", before=3)] == [1]
        assert [event.seq for event in record.get_path_events("caf\udce9")] == [4]
        assert record.get_path_events("no") == []

    def test_the_numbers_that_touched_a_path_are_found_both_ways(self, record: Record) -> None:
        for text, name in ((b"1", "f"), (b"2", "g"), (b"3", "f"), (b"4", "f")):
            keep(record, text, name)
        assert record.get_touching_seqs("f") == [1, 3, 4]
        assert [record.find_previous_touching("f", seq) for seq in (1, 3, 9)] == [None, 1, 4]
        assert [record.find_next_touching("f", seq) for seq in (0, 1, 4)] == [1, 3, None]
        assert record.get_touched_paths(3) == {"f": None, "g": 2}
        assert record.get_touched_paths(1) == {"f": 1}

    def test_a_path_that_went_is_missing_since_its_last_event(self, record: Record) -> None:
        keep(record, b"1")
        keep(record, b"2", "g")
        assert record.get_missing_paths() == {}
        gone = take_away(record, "f", b"1")
        assert record.get_missing_paths() == {"f": gone.seq}

    def test_what_took_an_event_back_is_found(self, record: Record) -> None:
        keep(record, b"1")
        record.append_events([dataclasses.replace(changed(b"2"), command="undo", undoes=(1,))])
        failed = dataclasses.replace(EVENT, command="undo", undoes=(1,), is_error=True)
        record.append_events([failed])  # it took nothing back
        assert (record.get_undoing_seqs(1), record.get_undoing_seqs(2)) == ([2], [])
        assert (record.find_newest_undo(4), record.find_newest_undo(2)) == (2, None)


class TestTexts:
    @pytest.mark.parametrize("text", [b"", b"x", b"\xff\x00", b"long " * 1_000, bytes(range(256)) * 4])
    def test_one_comes_back_as_it_was(self, record: Record, text: bytes) -> None:
        for _ in range(2):
            record.append_events([changed(text)], texts={sha256(text): text})
        assert record.get_text(sha256(text)) == text
        assert record.get_version_sizes()[sha256(text)][0] == len(text)
        assert record.get_text(sha256(b"another")) is None

    def test_many_are_read_together(self, record: Record) -> None:
        texts = {sha256(b"%d" % number): b"%d" % number for number in range(1_200)}  # more than are asked for at once
        record.append_events([EVENT], texts=texts)
        assert record.get_texts([*texts, sha256(b"another")]) == texts
        assert record.get_texts([]) == {}

    def test_one_that_was_removed_is_remembered_as_removed_and_the_chain_holds(self, record: Record) -> None:
        keep(record, b"secret")
        keep(record, b"plain", "g")
        hashes = tuple(sha256(each) for each in (b"secret", b"ok", b"{}"))
        redaction = Event(at_us=2, actor=Memtui(), command="redact", path="/memories/f", redacted=hashes)
        (recorded,) = record.redact([redaction], [sha256(b"secret")], [1])
        assert (recorded.seq, record.get_event(3)) == (3, recorded)
        assert (record.get_text(sha256(b"secret")), record.has_text(sha256(b"secret"))) == (None, False)
        assert (record.has_version(sha256(b"secret")), record.get_version_sizes()[sha256(b"secret")][1]) == (True, None)
        assert record.get_event_texts(1) == (None, None)
        assert record.get_text(sha256(b"plain")) == b"plain"
        assert record.checkpoint(thoroughly=True)
        assert record.verify().is_intact
        keep(record, b"secret")  # it stands in the folder again
        assert record.get_text(sha256(b"secret")) == b"secret"


class TestKnown:
    def test_it_and_the_totals_follow(self, record: Record) -> None:
        directory = KnownPath(Version(EntryKind.DIRECTORY, attributes=Attributes(0o700)), (0o700, 3))
        record.append_events([], known={"d": directory, "d/f": FILE, "d0": FILE, "caf\udce9": FILE})
        assert (record.get_known("d"), record.get_known("d/f"), record.get_known("no")) == (directory, FILE, None)
        assert record.get_known("d/f").version.attributes == Attributes(0o600, 7)  # type: ignore[union-attr]
        assert set(record.get_known_below("d")) == {"d/f"}
        assert set(record.get_known_below("d", as_prefix=True)) == {"d", "d/f", "d0"}
        assert record.get_known_below("") == {"d": directory, "d/f": FILE, "d0": FILE, "caf\udce9": FILE}
        assert record.get_totals() == (3, 15)
        larger = KnownPath(Version(EntryKind.FILE, None, 7), STAMP)
        record.append_events([], known={"d/f": None, "d0": larger, "d": None})
        assert (record.get_totals(), record.get_known("d/f")) == ((2, 12), None)

    def test_a_path_is_looked_at_again_where_another_text_is_known(self, record: Record) -> None:
        record.append_events([], known={"f": FILE, "g": FILE})
        hashes = {"f": "ab" * 32, "g": "cd" * 32, "unknown": "ef" * 32}
        assert record.forget_stamps(UNSEEN, hashes) == ["g"]
        assert {path: known.stamp for path, known in record.get_known_below("").items()} == {"f": STAMP, "g": UNSEEN}
        assert record.forget_stamps(UNSEEN, {"f": "ab" * 32}) == []

    def test_a_small_value_is_kept_under_its_name(self, record: Record) -> None:
        assert record.get_metadata("seen") is None
        for value in ("3", "4"):
            record.set_metadata("seen", value)
        assert record.get_metadata("seen") == "4"

    @pytest.mark.parametrize("name", [PINS, DISMISSED])
    def test_what_guards_memories_is_kept_by_an_event_alone(self, record: Record, name: str) -> None:
        with pytest.raises(ValueError, match="recorded by an event"):
            record.set_metadata(name, "mine")
        assert record.get_metadata(name) is None
        record.append_events([dataclasses.replace(EVENT, noted=((name, "old"),))])
        record.append_events([dataclasses.replace(EVENT, noted=((name, "new"),)), EVENT])
        assert record.get_metadata(name) == "new"


class TestIntents:
    def test_one_is_kept_with_its_text_until_it_is_settled(self, record: Record) -> None:
        event = changed(b"x")
        assert not record.has_intents()
        begun = record.add_intent(event, {sha256(b"x"): b"x"})
        (kept,) = record.get_intents()
        assert (kept.id, kept.seq, kept.body) == (begun.id, 1, begun.body)
        assert kept.event == dataclasses.replace(event, seq=1)
        assert (record.get_events(), record.has_intents()) == ([], True)
        assert record.get_text(sha256(b"x")) == b"x"
        record.append_events([event], intent=begun.id)
        assert record.get_intents() == []
        record.drop_intent(record.add_intent(event, {}).id)
        assert (record.get_intents(), record.get_head()[0]) == ([], 1)

    @pytest.mark.parametrize("durable", [True, False])
    def test_what_it_said_is_recorded_byte_for_byte(self, record: Record, durable: bool) -> None:
        begun = record.add_intent(
            changed(b"x"), {sha256(b"x"): b"x"}, found=[changed(b"w")], known={"w": FILE}, durable=durable
        )
        assert [event.seq for event in record.get_events()] == [1]
        assert record.get_known("w") == FILE
        recorded = record.finish_intent(begun, {"f": FILE, "w": None}, durable=durable)
        assert (record.get_intents(), record.get_events()[-1]) == ([], recorded)
        assert list(record.iter_bodies(1, 2)) == [(2, begun.body)]
        assert record.get_known_below("") == {"f": FILE}
        assert record.verify().intact_until == 2

    def test_one_that_was_overtaken_is_recorded_behind_what_came_in_between(self, record: Record) -> None:
        begun = record.add_intent(changed(b"x"), {sha256(b"x"): b"x"})
        keep(record, b"w", "g")
        recorded = record.finish_intent(begun, {}, durable=False)
        assert (begun.seq, recorded.seq) == (1, 2)
        assert dataclasses.replace(recorded, seq=0, hash="") == begun.event
        assert record.get_intents() == []
        assert record.verify().intact_until == 2


class TestTrust:
    @pytest.mark.parametrize("apart", [True, False])
    def test_a_record_that_nobody_touched_is_intact(self, record: Record, apart: bool) -> None:
        keep(record, b"1")
        take_away(record, "f", b"1")
        report = record.verify(apart=apart)
        assert (report.is_intact, report.findings, report.intact_until) == (True, report.findings[:0], 2)
        assert not record.is_doubtful()

    def test_what_is_known_against_the_events_is_doubtful_and_is_made_anew(self, record: Record) -> None:
        kept = keep(record, b"1")
        record.append_events([], known={"f": FILE})
        assert record.is_doubtful()

        def make_event(report: RepairReport) -> Event:
            assert report.paths == ("f",)
            return Event(at_us=3, actor=Memtui(), command="repair", path="/memories", note=report.describe())

        assert record.repair(UNSEEN, make_event).paths == ("f",)
        known = record.get_known("f")
        assert known is not None
        assert (known.version, known.stamp) == (kept.changes[0].after, UNSEEN)
        assert (record.get_head()[0], record.is_doubtful()) == (2, False)
        assert not record.repair(UNSEEN, make_event)
        assert record.get_head()[0] == 2  # nothing was wrong, so nothing was recorded

    def test_a_closed_one_is_an_error_of_ours(self, record: Record) -> None:
        record.close()
        for use in (record.get_head, record.get_intents, lambda: record.append_events([EVENT])):
            with pytest.raises(StateUnusable):
                use()


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"memory"}))
def test_the_same_events_have_the_same_hashes_in_every_record(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    heads = set()
    for each in (kind, "memory"):
        record = KINDS[each](tmp_path, request)
        begun = record.add_intent(changed(b"x"), {sha256(b"x"): b"x"}, found=[EVENT])
        record.finish_intent(begun, {"f": FILE}, durable=True)
        record.deferred.add(EVENT, {}).wait()
        heads.add(record.get_head())
        record.close()
    assert [seq for seq, _ in heads] == [3]


class TestShared:
    def test_each_reads_what_the_other_recorded_and_adds_to_it(self, pair: tuple[Record, Record]) -> None:
        for number in range(6):
            keep(pair[number % 2], b"%d" % number, f"f{number}")
        for record in pair:
            assert [event.seq for event in record.get_events()] == list(range(1, 7))
            assert set(record.get_known_below("")) == {f"f{number}" for number in range(6)}
            assert record.get_text(sha256(b"3")) == b"3"
        assert pair[0].verify(apart=True).is_intact

    def test_a_guard_that_one_notes_the_other_obeys(self, pair: tuple[Record, Record]) -> None:
        for number, value in enumerate(("a", "b")):
            pair[number].append_events([dataclasses.replace(EVENT, noted=((PINS, value),))])
            assert [record.get_metadata(PINS) for record in pair] == [value, value]

    def test_an_intent_of_one_that_was_closed_is_settled_by_the_other(self, pair: tuple[Record, Record]) -> None:
        begun = pair[0].add_intent(changed(b"x"), {sha256(b"x"): b"x"})
        pair[0].close()
        (kept,) = pair[1].get_intents()
        assert kept.body == begun.body
        assert pair[1].finish_intent(kept, {"f": know(b"x")}, durable=True).seq == 1
        assert pair[1].verify().is_intact

    def test_who_has_its_files_is_told_which_ring_and_what_it_takes(self, pair: tuple[Record, Record]) -> None:
        for record in pair:
            assert record.is_shared
            directory = record.files.directory
            assert directory is not None
            assert all(Path(bell).parent == Path(directory) for bell in record.files.bells)
            assert record.files.list_damaged() == []
            before = record.files.get_size()
            record.append_events([], texts={sha256(each): each for each in (bytes([n]) * 9_000 for n in range(250))})
            assert record.files.get_size() > before or before > 0


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {*SHARED}))
def test_one_of_this_process_has_no_files_and_shares_nothing(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    one, other = (KINDS[kind](tmp_path, request) for _ in range(2))
    keep(one, b"x")
    assert (one.is_shared, one.files.directory, list(one.files.bells)) == (False, None, [])
    assert (one.files.get_size(), one.files.list_damaged(), list(tmp_path.iterdir())) == (0, [], [])
    assert other.get_events() == []
    other.close()
    one.close()
