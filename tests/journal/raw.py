"""What somebody does to a journal behind memtui's back."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def open_raw_journal(state: Path) -> Iterator[sqlite3.Connection]:
    """The journal of a state directory, opened as any database is; each statement is kept at once."""
    with contextlib.closing(sqlite3.connect(state / "journal.db", isolation_level=None)) as database:
        yield database
