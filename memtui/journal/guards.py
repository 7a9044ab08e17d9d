"""What guards memories, as the events of a journal say; and what stood in the table `notes` before they did.

A journal of before begins to record it with one event, when it is opened for writing: what stands then is taken over,
since it is all that is known, and whatever is changed behind our back from then on has no effect.
"""

import sqlite3
import time
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from memtui.core.events import Event, Memtui
from memtui.core.guards import GUARDS, IMPORTED_UNTIL, LOOKED_AT, POSITIONS
from memtui.core.paths import ROOT_NAME
from memtui.journal.schema import NOTING

_NOTHING = ("[]", '{"pins": []')
"""How a value begins that names nothing."""


class NotedValues:
    """What the last event said that noted a value. Each event that notes something is read once.

    Args:
        lock: The lock of the journal.
        query: Runs a query in it.
        decode: Makes an event of a row: body, hash, answer, arguments.

    Attributes:
        is_legacy: Whether the journal is the copy of one of before, whose table counts.
        has_first_look: Whether an event is to say when the first look was over.
    """

    def __init__(
        self,
        lock: AbstractContextManager[object],
        query: Callable[[str, Sequence[object]], list[tuple[Any, ...]]],
        decode: Callable[[Sequence[Any]], Event],
    ) -> None:
        self._lock = lock
        self._query = query
        self._decode = decode
        self.is_legacy = False
        self.has_first_look = True
        self.forget()

    def forget(self) -> None:
        """Read all of them again."""
        self._values: dict[str, str] = {}
        self._until = 0

    def has_any(self) -> bool:
        """Whether any event notes something."""
        return bool(self._query(f"SELECT 1 FROM events WHERE {NOTING} LIMIT 1", ()))

    def get_value(self, name: str, newest: int | None = None) -> str | None:
        """The value under a name; `None` if no event has said one.

        Args:
            newest: The number of the last event that notes something, where that is known: 0 for none.
        """
        if newest is not None and newest == self._until and not self.is_legacy:
            return self._values.get(name)
        with self._lock:
            if self.is_legacy and name in GUARDS:
                kept = self._query("SELECT value FROM notes WHERE name = ?", (name,))
                return str(kept[0][0]) if kept else None
            select = f"SELECT seq, CAST(body AS BLOB) FROM events WHERE {NOTING} AND seq > ? ORDER BY seq"
            for seq, body in self._query(select, (self._until,)):
                self._values |= self._decode((body, b"", None, None)).noted
                self._until = seq
            return self._values.get(name)

    def note_first_look(self, events: Sequence[Event]) -> Sequence[Event]:
        """Events, of which the first one says when the first look was over, if none has said so; they are recorded."""
        if (
            not events
            or self.is_legacy
            or not self.has_first_look
            or LOOKED_AT in self._values
            or self.get_value(LOOKED_AT) is not None
        ):
            return events
        noted = dict(self._query("SELECT name, value FROM notes WHERE name IN (?, ?)", tuple(POSITIONS)))
        if LOOKED_AT not in noted:
            return events
        self._query("DELETE FROM notes WHERE name IN (?, ?)", tuple(POSITIONS))
        return [replace(events[0], noted=tuple(sorted({**dict(events[0].noted), **noted}.items()))), *events[1:]]


def read_kept_guards(connection: sqlite3.Connection) -> dict[str, str]:
    """What the table holds of them, by name."""
    marks = ",".join("?" * len(GUARDS))
    rows = connection.execute(f"SELECT name, value FROM notes WHERE name IN ({marks}) ORDER BY name", list(GUARDS))
    return {name: str(value) for name, value in rows if not str(value).startswith(_NOTHING)}


def find_ineffective_notes(connection: sqlite3.Connection, noted: Container[str]) -> dict[str, str]:
    """Rows that stand in the table although only events say so, as words by name; `noted` is what events name."""
    names = {**GUARDS, **{name: words for name, words in POSITIONS.items() if name in noted}}
    rows = connection.execute("SELECT CAST(name AS BLOB) FROM notes ORDER BY name").fetchall()
    found = ((row[0] or b"").decode("utf-8", "replace") for row in rows)
    return {name: names[name] for name in found if name in names}


def find_imported_until(connection: sqlite3.Connection) -> int:
    """Up to which event the table says that imported ones may be; 0 if it says nothing."""
    row = connection.execute("SELECT value FROM notes WHERE name = ?", (IMPORTED_UNTIL,)).fetchone()
    return int(row[0]) if row is not None and str(row[0]).isdecimal() else 0


def make_adoption_event(noted: Mapping[str, str]) -> Event:
    """The event that records it."""
    return Event(
        at_us=time.time_ns() // 1_000,
        actor=Memtui(),
        command="adopt",
        path=ROOT_NAME,
        note=", ".join(GUARDS[name] for name in noted),
        noted=tuple(noted.items()),
    )
