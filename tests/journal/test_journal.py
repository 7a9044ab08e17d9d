"""The journal refuses to forget, to change and to skip, and several processes can append to it."""

import dataclasses
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.core.errors import StateUnusable
from memtui.core.events import Agent, Change, EntryKind, Event, Person, Version, sha256
from memtui.journal import chain
from memtui.journal.bodies import unpack_body
from memtui.journal.snapshot import copy_to_memory
from memtui.journal.sqlite import Journal, KnownPath

EVENT = Event(at_us=1, actor=Person(), command="create", path="/memories/f", answer="ok", arguments="{}")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "journal.db")


@pytest.fixture
def journal(path: str) -> Iterator[Journal]:
    journal = Journal(path)
    yield journal
    journal.close()


def raw(path: str, sql: str, values: tuple[object, ...] = ()) -> list[Any]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def changed(text: bytes, name: str = "f") -> Event:
    version = Version(EntryKind.FILE, sha256(text), len(text))
    return dataclasses.replace(EVENT, changes=(Change(name, None, version),))


def test_events_are_numbered_without_gaps_and_come_back_in_order(journal: Journal) -> None:
    first = journal.append_events([EVENT, dataclasses.replace(EVENT, path="/memories/g")])
    (third,) = journal.append_events([dataclasses.replace(EVENT, added=0, removed=0)])
    assert [event.seq for event in (*first, third)] == [1, 2, 3]
    assert journal.get_events() == [*first, third]
    assert journal.get_events(after=1, limit=1) == [first[1]]
    assert journal.get_head() == (3, third.hash)


def test_the_chain_recomputes_from_the_rows(journal: Journal, path: str) -> None:
    journal.append_events([EVENT] * 3)
    at = chain.START
    for body, hash in raw(path, "SELECT body, hash FROM events ORDER BY seq"):
        at = chain.hash_link(at, unpack_body(body))
        assert at == hash
    assert journal.get_head() == (3, at.hex())


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM events WHERE seq = 3", "never deleted"),
        ("DELETE FROM events", "never deleted"),
        ("UPDATE events SET body = x''", "never changed"),
        ("UPDATE events SET seq = 9 WHERE seq = 3", "never changed"),
        ("INSERT INTO events VALUES (5, x'', x'')", "no gaps"),
        ("INSERT INTO events VALUES (2, x'', x'')", "no gaps"),
        ("INSERT INTO events VALUES (0, x'', x'')", "no gaps"),
        ("DELETE FROM versions", "never deleted"),
    ],
)
def test_the_database_itself_refuses_to_change_the_record(journal: Journal, path: str, sql: str, words: str) -> None:
    journal.append_events([changed(b"x")] * 3, texts={sha256(b"x"): b"x"})
    with pytest.raises(sqlite3.IntegrityError, match=words):
        raw(path, sql)
    assert len(journal.get_events()) == 3


@pytest.mark.parametrize("text", [b"", b"x", b"\xff\x00", b"long " * 1_000, bytes(range(256)) * 4])
def test_a_text_comes_back_as_it_was(journal: Journal, text: bytes) -> None:
    journal.append_events([changed(text)], texts={sha256(text): text})
    journal.append_events([changed(text)], texts={sha256(text): text})
    assert journal.get_text(sha256(text)) == text
    assert journal.get_text(sha256(b"another")) is None


def test_what_is_known_and_the_totals_follow(journal: Journal) -> None:
    file = KnownPath(Version(EntryKind.FILE, "ab" * 32, 5), (1, 2))
    journal.append_events(
        [], known={"d": KnownPath(Version(EntryKind.DIRECTORY), (3,)), "d/f": file, "d0": file, "caf\udce9": file}
    )
    assert journal.get_known("d/f") == file
    assert set(journal.get_known_below("d")) == {"d/f"}
    assert set(journal.get_known_below("")) == {"d", "d/f", "d0", "caf\udce9"}
    assert journal.get_totals() == (3, 15)
    journal.append_events([], known={"d/f": None, "d0": KnownPath(Version(EntryKind.FILE, None, 7), (9,)), "d": None})
    assert journal.get_totals() == (2, 12)
    assert journal.get_known("d/f") is None


def test_the_events_of_a_path_come_newest_first(journal: Journal) -> None:
    journal.append_events([changed(b"1"), changed(b"2", "g"), changed(b"3")])
    assert [event.seq for event in journal.get_path_events("f")] == [3, 1]
    assert [event.seq for event in journal.get_path_events("f", limit=1)] == [3]


def test_an_intent_is_kept_with_its_text_until_it_is_settled(journal: Journal) -> None:
    event = changed(b"x")
    begun = journal.add_intent(event, {sha256(b"x"): b"x"})
    (kept,) = journal.get_intents()
    assert (kept.id, kept.seq, kept.body) == (begun.id, 1, begun.body)
    assert kept.event == dataclasses.replace(event, seq=1)
    assert journal.get_events() == []
    assert journal.get_text(sha256(b"x")) == b"x"
    journal.append_events([event], intent=begun.id)
    assert journal.get_intents() == []
    other = journal.add_intent(event, {})
    journal.drop_intent(other.id)
    assert journal.get_intents() == []


def test_what_an_intent_said_is_recorded_byte_for_byte(journal: Journal) -> None:
    begun = journal.add_intent(changed(b"x"), {sha256(b"x"): b"x"}, found=[changed(b"w")])
    assert [event.seq for event in journal.get_events()] == [1]
    known = KnownPath(Version(EntryKind.FILE, sha256(b"x"), 1), (1, 1, 1, 0o600, 7))
    recorded = journal.finish_intent(begun, {"f": known}, durable=False)
    assert journal.get_intents() == []
    assert journal.get_events()[-1] == recorded
    assert list(journal.iter_bodies(1, 2)) == [(2, begun.body)]
    assert journal.get_known("f") == known
    assert journal.verify().intact_until == 2


def test_an_event_that_was_overtaken_is_recorded_behind_what_came_in_between(journal: Journal) -> None:
    begun = journal.add_intent(changed(b"x"), {sha256(b"x"): b"x"})
    journal.append_events([changed(b"w", "g")], texts={sha256(b"w"): b"w"})
    recorded = journal.finish_intent(begun, {}, durable=False)
    assert (begun.seq, recorded.seq) == (1, 2)
    assert dataclasses.replace(recorded, seq=0, hash="") == begun.event
    assert journal.get_intents() == []
    assert journal.verify().intact_until == 2


def test_all_events_are_recorded_or_none(journal: Journal) -> None:
    journal.append_events([EVENT])
    with pytest.raises(TypeError):
        journal.append_events([EVENT, dataclasses.replace(EVENT, path=object())], known={"f": None})
    assert len(journal.get_events()) == 1
    journal.append_events([EVENT])
    assert journal.get_head()[0] == 2


def test_a_journal_is_the_owners_alone(journal: Journal, path: str) -> None:
    journal.append_events([EVENT])
    modes = {os.stat(path + end).st_mode & 0o777 for end in ("", "-wal", "-shm")}
    assert modes == {0o600}


def test_a_newer_schema_is_refused_with_a_sentence(journal: Journal, path: str) -> None:
    journal.append_events([EVENT])
    journal.close()
    raw(path, "PRAGMA user_version = 99")
    for opening in (Journal, Journal.copy_from):
        with pytest.raises(
            StateUnusable, match=r"^The journal was written by a newer memtui\. Update memtui to use it\.$"
        ):
            opening(path)


@pytest.mark.parametrize(
    "junk", [b"not a database at all, but long enough to be looked at" * 50, b"SQLite format 3\x00junk" * 90]
)
def test_what_is_no_journal_is_refused_with_a_sentence(path: str, junk: bytes) -> None:
    Path(path).write_bytes(junk)
    for opening in (Journal, Journal.copy_from):
        with pytest.raises(StateUnusable, match="The journal cannot be"):
            opening(path)
    assert Path(path).read_bytes() == junk


def test_a_damaged_row_is_said_and_not_thrown(journal: Journal, path: str) -> None:
    text = b"long " * 1_000
    journal.append_events([changed(text)], texts={sha256(text): text})
    raw(path, "UPDATE versions SET data = x'00'")
    with pytest.raises(StateUnusable, match="damaged"):
        journal.get_text(sha256(text))
    journal.add_intent(EVENT, {})
    raw(path, "UPDATE intents SET body = x'00'")
    with pytest.raises(StateUnusable, match="damaged"):
        journal.get_intents()


def test_a_closed_journal_is_an_error_of_ours(journal: Journal) -> None:
    journal.close()
    with pytest.raises(StateUnusable):
        journal.get_head()
    with pytest.raises(StateUnusable):
        journal.append_events([EVENT])


def state_of(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in directory.iterdir()}


def test_a_copy_reads_all_and_writes_nothing(journal: Journal, path: str) -> None:
    journal.append_events([EVENT] * 2)
    live = state_of(Path(path).parent)
    copy = Journal.copy_from(path)
    assert copy.get_events() == journal.get_events()
    copy.append_events([EVENT])
    assert (len(copy.get_events()), len(journal.get_events())) == (3, 2)
    copy.close()
    assert {name: held for name, held in state_of(Path(path).parent).items() if name != "journal.db-shm"} == {
        name: held for name, held in live.items() if name != "journal.db-shm"
    }
    journal.close()
    closed = state_of(Path(path).parent)
    copy = Journal.copy_from(path)
    assert len(copy.get_events()) == 2
    copy.close()
    assert state_of(Path(path).parent) == closed


def test_a_copy_of_a_journal_whose_process_was_killed_reads_all_and_writes_nothing(run_python: Any, path: str) -> None:
    killed = run_python(
        "import os, sys\n"
        "from memtui.journal.sqlite import Journal\n"
        "from memtui.core.events import Event, Person\n"
        "journal = Journal(sys.argv[1])\n"
        "journal.append_events([Event(at_us=1, actor=Person(), command='view', path='/memories')])\n"
        "os.kill(os.getpid(), 9)\n",
        path,
    )
    assert killed.returncode == -9
    for left in ((), ("-shm",)):  # with the index that SQLite keeps beside it, and without
        for end in left:
            os.unlink(path + end)
        before = state_of(Path(path).parent)
        assert "journal.db-wal" in before
        copy = Journal.copy_from(path)
        assert len(copy.get_events()) == 1
        copy.close()
        assert state_of(Path(path).parent) == before


def test_a_copy_of_nothing_is_empty_and_makes_nothing(path: str) -> None:
    copy = Journal.copy_from(path)
    assert copy.get_events() == []
    copy.close()
    assert not os.path.exists(path)


APPEND = """
import sys
from memtui.journal.sqlite import Journal
from memtui.core.events import Agent, Event
path, name = sys.argv[1:]
sys.stdin.read(1)
journal = Journal(path)
for number in range(60):
    event = Event(at_us=number, actor=Agent(name), command="view", path="/memories")
    journal.append_events([event], durable=number % 5 == 0)
journal.close()
"""


def test_processes_append_to_one_new_journal_without_gaps(run_python: Any, path: str) -> None:
    running = [run_python(APPEND, path, name, wait=False, stdin=subprocess.PIPE) for name in ("a", "b", "c")]
    for process in running:
        process.stdin.write("x")
        process.stdin.flush()
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    journal = Journal(path)
    events = journal.get_events()
    assert [event.seq for event in events] == list(range(1, 181))
    for name in ("a", "b", "c"):
        assert [event.at_us for event in events if event.actor == Agent(name)] == list(range(60))
    journal.close()


SEEN_BY_ANOTHER = """
import sys
from memtui.journal.sqlite import Journal
journal = Journal(sys.argv[1])
print(len(journal.get_events()))
journal.close()
"""


def test_a_copy_made_beside_a_writer_of_the_same_process_takes_no_lock_from_it(
    run_python: Any, journal: Journal, path: str
) -> None:
    journal.append_events([EVENT])
    copy_to_memory(path).close()
    Journal.copy_from(path).close()
    for count in (1, 2):
        done = run_python(SEEN_BY_ANOTHER, path)  # its close would be the last one, were our locks gone
        assert (done.stdout.strip(), os.path.exists(path + "-wal")) == (str(count), True), done.stderr
        journal.append_events([EVENT])
    assert [event.seq for event in journal.get_events()] == [1, 2, 3]


def test_a_journal_that_was_removed_or_replaced_while_open_is_said(journal: Journal, path: str) -> None:
    journal.append_events([EVENT])
    for end in ("", "-wal", "-shm"):
        os.rename(path + end, path + ".away" + end)
    words = r"^The journal was removed or replaced while it was open\. Open the folder again\.$"
    with pytest.raises(StateUnusable, match=words):
        journal.append_events([EVENT])
    another = Journal(path)
    with pytest.raises(StateUnusable, match=words):
        journal.add_intent(EVENT, {})
    assert another.get_events() == []
    another.close()


def test_a_database_of_another_program_is_refused_and_left_as_it_is(path: str) -> None:
    raw(path, "CREATE TABLE mine (x)")
    before = state_of(Path(path).parent)
    for opening in (Journal, Journal.copy_from):
        with pytest.raises(StateUnusable, match=r"is a database of another program"):
            opening(path)
    assert state_of(Path(path).parent) == before


def test_a_journal_that_is_refused_leaves_no_descriptor_open(path: str) -> None:
    Path(path).write_bytes(b"not a database at all, but long enough to be looked at" * 50)
    before = os.listdir("/proc/self/fd")
    for opening in (Journal, Journal.copy_from) * 5:
        with pytest.raises(StateUnusable):
            opening(path)
    assert len(os.listdir("/proc/self/fd")) == len(before)
