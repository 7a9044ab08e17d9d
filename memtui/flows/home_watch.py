"""Watching some of a person's memory folders and stores while the home is shown, where she wants that.

What is noticed is a hint: the place is looked at again. Each that is watched has a thread that sleeps until something
changes, so that a disk or a server that stops to answer holds up no other; how many there are is bounded. A store is
followed as its own screen follows it: this machine's copy takes over what is new.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Sequence

from memtui.core.errors import MemtuiError
from memtui.core.events import WatchMode
from memtui.core.paths import NO_FOLDER
from memtui.fs import state as fs_state
from memtui.memory import JOURNAL, connect
from memtui.places.folders import MemoryLocation

MOST_FOLDERS = 32
"""Folders that are watched at a time: each takes one of the system's watchers, and few descriptors."""
MOST_STORES = 8
"""Stores among them: each takes two connections of its server."""
MOST_FILES = 2_000
"""Files of a folder that is watched though memtui has no journal of it."""
_WAIT_SECONDS = 5.0
"""Seconds after which it is asked whether another directory is there now: of that, nobody is told."""
_QUIET_SECONDS = 0.25
"""Seconds between a change and the look at it, and at all that came meanwhile, as its record in the journal."""
_STORE_SECONDS = 2.0
"""Seconds after which it is asked whether the server of a store is still there."""
_RETRY_SECONDS = 10.0


def choose_watched(places: Iterable[MemoryLocation]) -> list[str]:
    """The places that are watched: stores, then folders with a journal and those that are small, as they are listed."""
    able = [place for place in places if place.responds and not place.closed]
    stores = [place.path for place in able if not place.is_folder][:MOST_STORES]
    able = [place for place in able if place.is_folder]
    recorded = [place.path for place in able if _has_journal(place.path)]
    small = [place.path for place in able if place.is_counted and place.files <= MOST_FILES]
    return list(dict.fromkeys([*stores, *recorded, *small]))[:MOST_FOLDERS]


def _has_journal(folder: str) -> bool:
    try:
        return os.path.exists(fs_state.get_state_directory(folder) / JOURNAL)
    except MemtuiError:
        return False


class HomeWatcher:
    """Watches folders and stores.

    Args:
        changed: Called with the path of a place that seems to have changed, in the thread that watches it.
    """

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed
        self._watched: dict[str, _WatchedFolder] = {}

    @property
    def paths(self) -> set[str]:
        """What is watched now: not what the system refuses, nor a store that cannot be reached."""
        return {path for path, each in tuple(self._watched.items()) if each.is_watched}

    def watch(self, folders: Sequence[str]) -> None:
        """Watch these folders and no others. Nothing is waited for."""
        for path in [path for path in self._watched if path not in folders]:
            self._watched.pop(path).stop()
        for path in folders:
            if path not in self._watched:
                kind = _WatchedStore if path.startswith(NO_FOLDER) else _WatchedFolder
                self._watched[path] = kind(path, self._changed)


class _WatchedFolder:
    """A folder, and the thread that watches it."""

    def __init__(self, folder: str, changed: Callable[[str], None]) -> None:
        self.is_watched = False
        self._folder = folder
        self._changed = changed
        self._stop = threading.Event()
        self._wake: Callable[[], None] | None = None
        threading.Thread(target=self._run, name="memtui-home-watch", daemon=True).start()

    def stop(self) -> None:
        """Have the thread end. It is not waited for: its disk may never answer."""
        self._stop.set()
        if (wake := self._wake) is not None:
            wake()

    def _run(self) -> None:
        while not self._stop.is_set():
            seconds = _QUIET_SECONDS
            try:
                self._watch()
            except (OSError, MemtuiError):
                seconds = _RETRY_SECONDS  # the system's limit, or it is gone
            finally:
                self.is_watched = False
                self._wake = None
            self._stop.wait(seconds)

    def _watch(self) -> None:
        """Watch it until it has to be opened anew; raises `OSError` or `MemtuiError` where it cannot be."""
        from memtui.watch import open_watches  # noqa: PLC0415 - start-up: only where folders are watched

        with contextlib.closing(open_watches(self._folder, stop=self._stop)) as watches:
            self._wake = watches.wake
            self.is_watched = True
            there = _identify(self._folder)
            self._changed(self._folder)  # what came before the watches
            while not self._stop.is_set():
                noticed = watches.wait(_WAIT_SECONDS)
                if (noticed.paths or noticed.is_lost) and not self._stop.wait(_QUIET_SECONDS):
                    self._changed(self._folder)
                if noticed.is_lost or _identify(self._folder) != there:
                    return


class _WatchedStore(_WatchedFolder):
    """A store, and the thread that watches this machine's copy of it, which is followed meanwhile."""

    def _watch(self) -> None:
        from memtui.watch import open_watches  # noqa: PLC0415 - start-up: only where stores are watched

        with connect(self._folder, offline=True) as engine:
            state = str(fs_state.get_state_directory(self._folder))
            with contextlib.closing(open_watches(self._folder, state, engine, self._stop)) as watches:
                self._wake = watches.wake
                seen = -1
                while not self._stop.is_set():
                    watches.arm()
                    last = engine.get_head()[0]
                    self.is_watched = engine.journal.files.status.mode is not WatchMode.OFFLINE
                    if last != seen and not self._stop.wait(_QUIET_SECONDS):
                        seen = last
                        self._changed(self._folder)
                    elif watches.wait(_STORE_SECONDS).is_lost:
                        return


def _identify(folder: str) -> tuple[int, int] | None:
    try:
        seen = os.stat(folder)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
