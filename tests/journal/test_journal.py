"""The journal refuses to forget, to change and to skip, and several processes can append to it."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.core.errors import JournalDamaged, StateUnusable
from memtui.core.events import Agent, sha256
from memtui.journal import chain
from memtui.journal.bodies import unpack_body
from memtui.journal.snapshot import copy_to_memory
from memtui.journal.sqlite import Journal
from tests.journal.making import EVENT, changed


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


def test_what_a_newer_memtui_records_meanwhile_is_no_damage(journal: Journal, path: str) -> None:
    journal.append_events([EVENT])
    raw(path, "INSERT INTO events VALUES (2, x'09', zeroblob(32))")
    with pytest.raises(JournalDamaged):
        journal.get_events()
    assert Path(f"{path}.suspect").exists()
    Path(f"{path}.suspect").unlink()
    raw(path, "PRAGMA user_version = 99")
    with pytest.raises(StateUnusable, match="written by a newer memtui"):
        journal.get_events()
    assert not Path(f"{path}.suspect").exists()


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
