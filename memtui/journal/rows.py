"""The rows of a journal in order, also of one that is damaged.

SQLite stops at the first page that it cannot read, and follows pages that lead in a circle without end. Here rows are
asked for again behind a damaged place, and rows that are out of order are an error.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from memtui.journal.report import Findings, Weight

UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What reading a damaged file raises; the last where SQLite quotes it in the words of an error."""


def in_order(rows: Iterable[tuple[Any, ...]], *, after: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Rows whose first value grows. The pages of a damaged file may lead in a circle, and its rows would never end.

    Args:
        rows: Of one table, in the order of its key.
        after: What the first key has to be larger than.

    Raises:
        sqlite3.DatabaseError: It does not grow.
    """
    last: Any = after
    for row in rows:
        key = row[0]
        if key is None or (last is not None and not key > last):
            raise sqlite3.DatabaseError("its rows are out of order")
        last = key
        yield row


class Row(NamedTuple):
    """An event as it stands in the database.

    Attributes:
        seq: The number of the row; the event may give itself another one.
        body: The event's canonical bytes.
        hash: The chain's hash up to and with it.
    """

    seq: int
    body: bytes
    hash: bytes


class EventRows:
    """The rows of events in order; where the file is damaged, those behind it that can be read.

    Args:
        connection: An open journal.
        found: Where it is said what cannot be read.
    """

    def __init__(self, connection: sqlite3.Connection, found: Findings) -> None:
        self._connection = connection
        self._found = found

    def __iter__(self) -> Iterator[Row]:
        after = 0
        while True:
            try:
                for row in self._rows_after(after):
                    after = row[0]
                    yield row
                return
            except UNREADABLE as error:
                behind = self._readable_behind(after)
                start = f"Events can be read up to number {after:,}" if after else "The first events cannot be read"
                rest = "none behind it" if behind is None else f"and again from number {behind:,}"
                self._found.add(Weight.FILE, f"{start}, {rest}: {error}.", sort="reading")
                if behind is None:
                    return
                after = behind - 1

    def at(self, seq: int) -> Row | None:
        """One row by its number; `None` if it is not there, or cannot be read."""
        try:
            return next((row for row in self._rows_after(seq - 1) if row.seq == seq), None)
        except UNREADABLE:
            return None

    def _rows_after(self, after: int) -> Iterator[Row]:
        """The rows behind a number; without limit to what may be negative: such a number is none of ours."""
        where = f"WHERE seq > {after}" if after else ""
        rows = self._connection.execute(
            f"SELECT seq, CAST(body AS BLOB), CAST(hash AS BLOB) FROM events {where} ORDER BY seq"
        )
        for seq, body, hash in in_order(rows, after=after if where else None):
            yield Row(seq, body or b"", hash or b"")

    def _readable_behind(self, after: int) -> int | None:
        """The number of the first event that can be read again, as far as halving finds it."""

        def first(number: int) -> int | None:
            try:
                return next((row.seq for row in self._rows_after(number)), None)
            except UNREADABLE:
                return None

        low, step = after, 1
        while first(low + step) is None:
            step *= 2
            if step > 1 << 40:
                return None
        high = low + step
        low += step // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if first(middle) is not None else (middle, high)
        return first(high)


class TextRows:
    """The answers and arguments that are kept beside events, read in step with them.

    Args:
        connection: An open journal.

    Attributes:
        problem: Why not all can be read; empty if all can.
        unnamed: How many rows nobody asked for.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._select = "SELECT seq, CAST(answer AS BLOB), CAST(arguments AS BLOB) FROM texts_of_events"
        self.problem = ""
        self.unnamed = 0
        self._next: tuple[Any, ...] | None = None
        self._last = 0
        try:
            self._rows = in_order(connection.execute(f"{self._select} ORDER BY seq"))
            self._advance()
        except UNREADABLE as error:
            self._rows = iter(())
            self.problem = str(error)

    def of(self, seq: int) -> tuple[bytes | None, bytes | None]:
        """The answer and the arguments of an event."""
        if self.problem or seq <= self._last:
            return self._asked_for(seq)
        while self._next is not None and self._next[0] < seq:
            self.unnamed += 1
            self._advance()
        self._last = seq
        if self._next is None or self._next[0] != seq:
            return self._asked_for(seq) if self.problem else (None, None)
        found = self._next[1], self._next[2]
        self._advance()
        return found

    def finish(self) -> int:
        """The largest number that a text stands beside; what was not asked for belongs to no event."""
        largest = self._last if self._next is None else 0
        while self._next is not None:
            largest = self._next[0]
            self.unnamed += 1
            self._advance()
        return int(largest)

    def _advance(self) -> None:
        try:
            self._next = next(self._rows, None)
        except UNREADABLE as error:
            self.problem = str(error)
            self._next = None

    def _asked_for(self, seq: int) -> tuple[bytes | None, bytes | None]:
        try:
            row = self._connection.execute(f"{self._select} WHERE seq = ?", (seq,)).fetchone()
        except UNREADABLE as error:
            self.problem = str(error)
            return None, None
        return (row[1], row[2]) if row else (None, None)
