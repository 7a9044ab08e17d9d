"""Whether a directory is there, asked so that a dead mount keeps nobody waiting.

Projects and folders that somebody opened once may lie on a disk that is far away, and gone: a system call on it waits
for minutes, or for ever. It is made in a thread; who asked goes on after a while, and asks no more below that mount.
"""

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

_PATIENCE = 1.0
"""Seconds."""
_MOUNTS = "/proc/self/mountinfo"


class Reach:
    """Tells which directories are there.

    Args:
        patience: Seconds that are waited for an answer.
        look: Tells whether a directory is there; it may take for ever.
    """

    def __init__(self, *, patience: float = _PATIENCE, look: Callable[[str], bool] = os.path.isdir) -> None:
        self._patience = patience
        self._look = look
        self._asked: SimpleQueue[str] | None = None
        self._answered: SimpleQueue[bool] = SimpleQueue()
        self._dead: set[str] = set()
        self._mounts: list[str] | None = None

    def is_directory(self, path: str) -> bool | None:
        """Whether a directory is there, links followed; `None` if nobody answered."""
        if any(path == dead or path.startswith(f"{dead}/") for dead in self._dead):
            return None
        if self._asked is None:
            self._asked, self._answered = SimpleQueue(), SimpleQueue()
            answering = (self._look, self._asked, self._answered)
            threading.Thread(target=_answer, args=answering, name="places", daemon=True).start()
        self._asked.put(path)
        try:
            return self._answered.get(timeout=self._patience)
        except Empty:
            self._asked = None  # its thread is lost until the disk comes back
            self._dead.add(self._mount_of(path))
            return None

    def _mount_of(self, path: str) -> str:
        """The mount that a path is on, as far as it is told; of the root, only the path itself is given up."""
        if self._mounts is None:
            self._mounts = _mounts()
        above = [mount for mount in self._mounts if mount != "/" and (path == mount or path.startswith(f"{mount}/"))]
        return max(above, key=len, default=path)

    def __enter__(self) -> "Reach":
        return self

    def __exit__(self, *_: object) -> None:
        """Let the thread end."""
        if self._asked is not None:
            self._asked.put("")
            self._asked = None


def _answer(look: Callable[[str], bool], asked: "SimpleQueue[str]", answered: "SimpleQueue[bool]") -> None:
    while path := asked.get():
        try:
            answered.put(look(path))
        except (OSError, ValueError):
            answered.put(False)


def _mounts() -> list[str]:
    """Where something is mounted; nothing of it is touched."""
    try:
        with open(_MOUNTS, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    points = (line.split(b" ")[4] for line in lines if line.count(b" ") > 4)
    return [os.fsdecode(point.decode("unicode_escape").encode("latin-1")) for point in points]
