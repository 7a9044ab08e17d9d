"""What somebody does to a journal behind memtui's back."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from memtui.journal.bodies import pack_body, unpack_body


@contextlib.contextmanager
def open_raw_journal(state: Path) -> Iterator[sqlite3.Connection]:
    """The journal of a state directory, opened as any database is; each statement is kept at once."""
    with contextlib.closing(sqlite3.connect(state / "journal.db", isolation_level=None)) as database:
        yield database


def edit_event(state: Path, seq: int, old: bytes, new: bytes) -> None:
    """Change a word of an event, and leave no other trace: what guards it is put back."""
    with open_raw_journal(state) as database:
        hold = database.execute("SELECT sql FROM sqlite_master WHERE name = 'events_hold'").fetchone()[0]
        body = unpack_body(database.execute("SELECT body FROM events WHERE seq = ?", (seq,)).fetchone()[0])
        assert old in body
        database.execute("DROP TRIGGER events_hold")
        database.execute("UPDATE events SET body = ? WHERE seq = ?", (pack_body(body.replace(old, new)), seq))
        database.execute(hold)
