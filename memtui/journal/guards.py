"""What guards memories, in journals of before it was recorded: it stood in the table `notes`, and no event said so.

Such a journal begins to record it with one event, when it is opened for writing: what stands then is taken over, since
it is all that is known, and whatever is changed behind our back from then on has no effect.
"""

import sqlite3
import time
from collections.abc import Mapping

from memtui.core.events import Event, Memtui
from memtui.core.guards import GUARDS
from memtui.core.paths import ROOT_NAME

_NOTHING = ("[]", '{"pins": []')
"""How a value begins that names nothing."""


def read_kept_guards(connection: sqlite3.Connection) -> dict[str, str]:
    """What the table holds of them, by name."""
    marks = ",".join("?" * len(GUARDS))
    rows = connection.execute(f"SELECT name, value FROM notes WHERE name IN ({marks}) ORDER BY name", list(GUARDS))
    return {name: str(value) for name, value in rows if not str(value).startswith(_NOTHING)}


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
