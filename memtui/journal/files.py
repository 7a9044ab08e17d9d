"""The files of a journal on this machine, and those that are kept beside it."""

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.core.errors import StateUnusable
from memtui.core.events import WatchMode, WatchStatus

if TYPE_CHECKING:
    from memtui.journal.record import RecordFiles

_STOP_SECONDS = 3.0
"""For how long the end of a copy waits for who follows it."""
SET_ASIDE = "-damaged-"
"""Stands in the name of a damaged journal, between its old name and the time."""


class JournalFiles:
    """What this machine has of a journal. See `memtui.journal.record.RecordFiles`.

    Args:
        path: The database file; `None` for a journal in memory, which has no files, and nothing beside it.
        directory: Where files about the memories are kept; by default beside the database.
    """

    __slots__ = ("_path", "bells", "directory")
    status = WatchStatus(WatchMode.LIVE)

    def __init__(self, path: str | None, directory: str | None = None) -> None:
        self._path = path
        self.directory = directory or (os.path.dirname(path) if path is not None else None)
        self.bells: Sequence[str] = (path, f"{path}-wal") if path is not None else ()

    def get_size(self) -> int:
        if self._path is None:
            return 0
        return sum(os.stat(self._path + end).st_size for end in ("", "-wal") if os.path.exists(self._path + end))

    def list_damaged(self) -> list[str]:
        if self._path is None:
            return []
        start = os.path.basename(self._path).partition(".")[0] + SET_ASIDE
        names = os.listdir(self.directory or ".")
        return sorted(each for each in names if each.startswith(start) and each.endswith(".db"))


class CopyFollower(ABC):
    """Keeps a copy like what it is a copy of, in a thread of its own, from when anybody first watches the copy.

    Args:
        again_seconds: How long is waited before what cannot be reached is tried again; the last one from then on.

    Attributes:
        status: How the copy comes to be like its original, and why not better.
        end: Set when it is to end.
    """

    def __init__(self, again_seconds: Sequence[float]) -> None:
        self.status = WatchStatus(WatchMode.LIVE)
        self.end = threading.Event()
        self._again_seconds = again_seconds
        self._failures = 0
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="memtui follow", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self.end.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def note_success(self) -> None:
        """Have the next failure be the first one again."""
        self._failures = 0

    @abstractmethod
    def follow(self) -> None:
        """Take over what is new until `end` is set; raises `StateUnusable` or `OSError` where that cannot be."""

    def _run(self) -> None:
        while not self.end.is_set():
            try:
                self.follow()
            except (StateUnusable, OSError) as error:
                if self.end.is_set():
                    return
                self.status = WatchStatus(WatchMode.OFFLINE, str(error))
                self.end.wait(self._again_seconds[min(self._failures, len(self._again_seconds) - 1)])
                self._failures += 1


class FollowedFiles:
    """The files of a copy. See `RecordFiles`. Whoever asks for the bells has the copy followed from then on."""

    def __init__(self, files: "RecordFiles", follower: CopyFollower) -> None:
        self._files = files
        self._follower = follower

    @property
    def directory(self) -> str | None:
        return self._files.directory

    @property
    def bells(self) -> Sequence[str]:
        self._follower.start()
        return self._files.bells

    @property
    def status(self) -> WatchStatus:
        return self._follower.status

    def get_size(self) -> int:
        return self._files.get_size()

    def list_damaged(self) -> list[str]:
        return self._files.list_damaged()
