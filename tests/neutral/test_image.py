"""A journal that is read quietly: all that was committed, and nothing that was not."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memtui.journal import snapshot
from memtui.journal.snapshot import copy_to_memory, load_image
from memtui.journal.sqlite import Journal
from tests.neutral.trees import age, differences, traces


def rows(path: Path) -> list[tuple[int, bytes]] | None:
    """What a quiet look at a database finds; `None` where SQLite has to look."""
    image = load_image(os.fspath(path))
    if image is None:
        return None
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(bytes(image))
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return database.execute("SELECT a, b FROM t ORDER BY a").fetchall()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "place" / "some.db"
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as made:
        made.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB);")
        made.executemany("INSERT INTO t VALUES (?, ?)", [(number, bytes(700)) for number in range(200)])
    return path


def left_behind(database: Path, *commands: str) -> Path:
    """The files of a database whose process died: its log holds what was committed, and no more."""
    copy = database.parent.parent / "left" / "some.db"
    copy.parent.mkdir(exist_ok=True)
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        for command in commands:
            writer.execute(command)
        for end in ("", "-wal"):
            shutil.copy(f"{database}{end}", f"{copy}{end}")
    return copy


def by_sqlite(path: Path) -> list[tuple[int, bytes]]:
    with contextlib.closing(sqlite3.connect(path)) as opened:
        found: list[tuple[int, bytes]] = opened.execute("SELECT a, b FROM t ORDER BY a").fetchall()
        return found


def test_a_database_without_a_log_is_read(database: Path) -> None:
    assert rows(database) == [(number, bytes(700)) for number in range(200)]


@pytest.mark.parametrize(
    "commands",
    [
        ("INSERT INTO t VALUES (1000, x'01')",),
        ("BEGIN", "UPDATE t SET b = x'02' WHERE a < 100", "COMMIT", "DELETE FROM t WHERE a > 150"),
        ("DELETE FROM t", "VACUUM"),
        ("INSERT INTO t VALUES (1000, x'01')", "BEGIN", "UPDATE t SET b = x'03'"),
        ("INSERT INTO t VALUES (1000, x'01')", "PRAGMA wal_checkpoint(PASSIVE)", "INSERT INTO t VALUES (1001, x'05')"),
        ("INSERT INTO t VALUES (1000, x'01')", "PRAGMA wal_checkpoint(RESTART)", "DELETE FROM t WHERE a = 3"),
        ("PRAGMA cache_size = 1", "BEGIN", "UPDATE t SET b = zeroblob(5000)", "ROLLBACK", "DELETE FROM t WHERE a = 3"),
    ],
    ids=["one", "several", "made smaller", "not committed", "moved over", "begun anew", "rolled back"],
)
def test_what_stands_in_the_log_only_is_found(database: Path, commands: tuple[str, ...]) -> None:
    copy = left_behind(database, *commands)
    found = rows(copy)
    assert found == by_sqlite(copy)


@pytest.mark.parametrize("count", [1, 20, 24, 40, 4_000])
def test_a_log_that_was_cut_is_read_as_far_as_it_goes(database: Path, count: int) -> None:
    copy = left_behind(database, "UPDATE t SET b = x'02' WHERE a = 7", "UPDATE t SET b = x'03' WHERE a = 9")
    log = Path(f"{copy}-wal")
    log.write_bytes(log.read_bytes()[:-count])
    found = rows(copy)
    assert found == by_sqlite(copy)


def test_a_log_that_was_damaged_is_read_up_to_that(database: Path) -> None:
    copy = left_behind(database, "UPDATE t SET b = x'02' WHERE a = 7", "UPDATE t SET b = x'03' WHERE a = 9")
    log = Path(f"{copy}-wal")
    data = bytearray(log.read_bytes())
    data[-100] ^= 1
    log.write_bytes(data)
    found = rows(copy)
    assert found == by_sqlite(copy)
    assert found is not None
    assert (dict(found)[7], dict(found)[9]) == (b"\x02", bytes(700))


def test_nothing_of_it_is_touched(database: Path) -> None:
    copy = left_behind(database, "INSERT INTO t VALUES (1000, x'01')")
    age(copy.parent)
    before = traces(copy.parent)
    with contextlib.closing(copy_to_memory(os.fspath(copy))) as memory:
        assert memory.execute("SELECT count(*) FROM t").fetchone() == (201,)
    assert differences(before, traces(copy.parent)) == []


def test_a_journal_that_this_process_has_open_is_left_to_sqlite(tmp_path: Path) -> None:
    """Closing a file gives back the locks that SQLite holds on it: another process could write meanwhile."""
    path = os.fspath(tmp_path / "journal.db")
    first, second = Journal(path), Journal(path)
    second.close()
    second.close()
    assert load_image(path) is None
    first.close()
    assert load_image(path) is not None


def test_a_journal_of_another_kind_is_left_to_sqlite(database: Path) -> None:
    Path(f"{database}-journal").write_bytes(b"hot")
    assert rows(database) is None


_WRITER = """
import sqlite3, sys
path = sys.argv[1]
print("begun", flush=True)
number = 10_000
while True:
    database = sqlite3.connect(path, isolation_level=None, timeout=30)
    database.execute("PRAGMA wal_autocheckpoint = 20")
    for _ in range(50):
        database.execute("BEGIN IMMEDIATE")
        for _ in range(10):
            database.execute("INSERT INTO t VALUES (?, zeroblob(300))", (number,))
            number += 1
        database.execute("DELETE FROM t WHERE a < ?", (number - 300,))
        database.execute("COMMIT")
    database.close()
"""


def test_it_is_of_one_moment_while_another_process_writes(database: Path) -> None:
    words = [sys.executable, "-c", _WRITER, os.fspath(database)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        last, moments = 0, set()
        until, rounds = time.monotonic() + 60, 0
        while (rounds < 60 or len(moments) <= 5) and time.monotonic() < until:
            rounds += 1
            found = rows(database)  # checks that it is whole
            if found is None:
                continue  # it was opened and closed all the time
            numbers = [number for number, _ in found if number >= 10_000]
            assert len(numbers) % 10 == 0
            if numbers:
                assert numbers == list(range(numbers[0], numbers[-1] + 1))
                assert numbers[-1] >= last
                last = numbers[-1]
                moments.add(last)
        assert len(moments) > 5
    finally:
        process.kill()
        process.communicate()


def test_a_log_that_is_cut_off_while_it_is_read_is_read_again(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a checkpoint does that empties it: what had been read of it by then is not all that was committed."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        for number in range(200, 260):
            writer.execute("INSERT INTO t VALUES (?, ?)", (number, bytes(700)))
        read, log = snapshot._read_bytes, f"{database}-wal"
        half = os.path.getsize(log) // 2

        def cut_off(path: str, limit: int) -> bytearray | None:
            data = read(path, limit)
            if path == log and data is not None and len(data) > half:
                writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                assert os.path.getsize(log) == 0
                return data[:half]
            return data

        monkeypatch.setattr(snapshot, "_read_bytes", cut_off)
        assert [number for number, _ in rows(database) or ()] == list(range(260))
