"""Watching some of a person's memory folders while the home is shown, where she wants that.

What is noticed is a hint: the folder is looked at again. Each watched folder has a thread that sleeps until something
changes, so that a disk that stops to answer holds up no other; how many there are is bounded.
"""

import os
import threading
from collections.abc import Callable, Iterable, Sequence

from memtui.core.errors import MemtuiError
from memtui.fs import state as fs_state
from memtui.memory import JOURNAL
from memtui.places.folders import MemoryLocation

MOST_FOLDERS = 32
"""Folders that are watched at a time: each takes one of the system's watchers, and few descriptors."""
MOST_FILES = 2_000
"""Files of a folder that is watched though memtui has no journal of it."""
_WAIT_SECONDS = 5.0
"""Seconds after which it is asked whether another directory is there now: of that, nobody is told."""
_QUIET_SECONDS = 0.25
"""Seconds between a change and the look at it, and at all that came meanwhile, as its record in the journal."""
_RETRY_SECONDS = 10.0


def choose_watched(places: Iterable[MemoryLocation]) -> list[str]:
    """The folders that are watched: first those with a journal, then those that are small, as they are listed."""
    able = [place for place in places if place.responds and not place.closed and place.is_folder]
    recorded = [place.path for place in able if _has_journal(place.path)]
    small = [place.path for place in able if place.is_counted and place.files <= MOST_FILES]
    return list(dict.fromkeys([*recorded, *small]))[:MOST_FOLDERS]


def _has_journal(folder: str) -> bool:
    try:
        return os.path.exists(fs_state.get_state_directory(folder) / JOURNAL)
    except MemtuiError:
        return False


class HomeWatcher:
    """Watches folders.

    Args:
        changed: Called with the path of a folder that seems to have changed, in the thread that watches it.
    """

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed
        self._watched: dict[str, _WatchedFolder] = {}

    @property
    def paths(self) -> set[str]:
        """The folders that are watched now; those that the system refuses are not."""
        return {path for path, each in tuple(self._watched.items()) if each.is_watched}

    def watch(self, folders: Sequence[str]) -> None:
        """Watch these folders and no others. Nothing is waited for."""
        for path in [path for path in self._watched if path not in folders]:
            self._watched.pop(path).stop()
        for path in folders:
            if path not in self._watched:
                self._watched[path] = _WatchedFolder(path, self._changed)


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
        from memtui.watch import open_watches  # noqa: PLC0415 - start-up: only where folders are watched

        while not self._stop.is_set():
            try:
                watches = open_watches(self._folder, stop=self._stop)
            except (OSError, MemtuiError):
                self._stop.wait(_RETRY_SECONDS)  # the system's limit, or the folder is gone
                continue
            self._wake = watches.wake
            self.is_watched = True
            try:
                there = _identify(self._folder)
                self._changed(self._folder)  # what came before the watches
                while not self._stop.is_set():
                    noticed = watches.wait(_WAIT_SECONDS)
                    if (noticed.paths or noticed.is_lost) and not self._stop.wait(_QUIET_SECONDS):
                        self._changed(self._folder)
                    if noticed.is_lost or _identify(self._folder) != there:
                        break
            finally:
                self.is_watched = False
                self._wake = None
                watches.close()
            self._stop.wait(_QUIET_SECONDS)


def _identify(folder: str) -> tuple[int, int] | None:
    try:
        seen = os.stat(folder)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
