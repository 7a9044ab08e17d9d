"""What guards memories, in journals of before it was recorded: it stood in the table `notes`, and no event said so.

Such a journal begins to record it with one event, when it is opened for writing: what stands then is taken over, since
it is all that is known, and whatever is changed behind our back from then on has no effect.
"""

import sqlite3
import time
from collections.abc import Container, Mapping

from memtui.core.events import Event, Memtui
from memtui.core.guards import GUARDS, IMPORTED_UNTIL, POSITIONS
from memtui.core.paths import ROOT_NAME

_NOTHING = ("[]", '{"pins": []')
"""How a value begins that names nothing."""


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
