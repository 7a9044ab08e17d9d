"""Stores that are no folder and were opened before: SQLite files, and what is on servers.

Of each is said what this machine has of it on its own disk: no server is asked, but by who calls `start_updates`, and
nothing is made or changed.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from memtui import sqlite_file
from memtui.core.errors import MemtuiError, StateUnusable
from memtui.core.paths import HOSTED, ONLINE, SQLITE, format_path
from memtui.core.settings import Settings
from memtui.core.unicode import to_one_line
from memtui.engine import Observer
from memtui.fs.state import list_recent_stores, locate_record
from memtui.memory import is_small_record, load_remote, summarize_journal
from memtui.places.folders import MemoryLocation, MemoryOwner
from memtui.places.probe import DirectoryProber

UPDATE_SECONDS = 8.0
"""How long servers have to answer before what this machine has of their stores is taken as it is."""
_TITLES = {SQLITE: "SQLite file", HOSTED: "hosted store"}


def find_recent_stores(reach: DirectoryProber | None = None) -> list[MemoryLocation]:
    """The stores that are there still, the one that changed last first.

    Args:
        reach: Tells which directories are there.
    """
    with reach or DirectoryProber() as asking:
        found = [refresh_store(_describe_store(place), asking) for place in list_recent_stores()]
    return sorted(filter(None, found), key=lambda each: (-(each.changed_ns or 0), each.display_path))


def refresh_store(place: MemoryLocation, reach: DirectoryProber) -> MemoryLocation | None:
    """The same store as it is now; `None` if nothing of it is here. Of a disk that does not answer nothing is known."""
    file = locate_record(place.path)
    is_there = reach.is_directory(os.path.dirname(file))
    if is_there is None:
        return replace(place, files=0, size=0, changed_ns=None, is_counted=False)
    if not is_there or not os.path.exists(file):
        return None
    try:
        known = summarize_journal(place.path)
    except StateUnusable as error:
        return replace(place, files=0, size=0, changed_ns=None, closed=str(error))
    if place.path.startswith(ONLINE) and known.last is None and not known.totals.files:
        return None  # nothing was read there yet, as where the address is of no store
    changed_ns = known.last.at_us * 1_000 if known.last is not None else None
    return replace(place, files=known.totals.files, size=known.totals.bytes, changed_ns=changed_ns, closed="")


def observe_store(place: str, *, settings: Settings | None = None) -> Observer:
    """The memories of a store as this machine knows them, and their record, in memory.

    Raises:
        StateUnusable: They are too many for that, or cannot be read.
    """
    file = locate_record(place)
    if not is_small_record(file):
        raise StateUnusable("its record on this machine is too large to be searched without opening it")
    return sqlite_file.observe_file(file, place, None, settings=settings, look=False)


def start_updates(places: Iterable[str], *, seconds: float = UPDATE_SECONDS) -> Callable[[str], str]:
    """Begin to bring what this machine has of stores on servers up to date, of all of them at once.

    Args:
        places: What was opened before; all that is on no server is left alone.
        seconds: How long their servers have to answer, from now.

    Returns:
        What waits for one of them, and says why it is not up to date; empty if it is, or is on no server.
    """
    problems: dict[str, str] = {}
    threads: dict[str, threading.Thread] = {}
    deadline = time.monotonic() + seconds

    def update(place: str) -> None:
        try:
            load_remote(place).update_copy(place)
            problems[place] = ""
        except (MemtuiError, OSError) as error:
            problems[place] = str(error)

    def wait(place: str) -> str:
        if place not in threads:
            return ""
        threads[place].join(max(deadline - time.monotonic(), 0.0))
        return problems.get(place, f"its server did not answer within {seconds:.0f} s")

    for place in places:
        if place.startswith(ONLINE):
            threads[place] = threading.Thread(target=update, args=(place,), name="memtui update", daemon=True)
            threads[place].start()
    return wait


def _describe_store(place: str) -> MemoryLocation:
    title = next((title for start, title in _TITLES.items() if place.startswith(start)), "server")
    return MemoryLocation(place, to_one_line(format_path(place)), 0, None, MemoryOwner.RECENT, title=title)
