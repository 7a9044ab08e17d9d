"""The files of a journal on this machine, and those that are kept beside it."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from memtui.core.events import WatchMode, WatchStatus

if TYPE_CHECKING:
    from memtui.journal.record import RecordFiles

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


class CopyFollower(Protocol):
    """Keeps a copy like what it is a copy of, once it is started."""

    @property
    def status(self) -> WatchStatus: ...

    def start(self) -> None: ...


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
