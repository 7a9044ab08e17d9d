"""Looking at directories and the starts of files where a disk may not answer: nothing is opened for writing."""

import os
import stat
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from memtui.fs.no_atime import open_without_atime

# Directory checks with a timeout: a system call on a dead mount can block for ever, so it is made in a thread, and no
# path below that mount is checked again.

_PATIENCE = 1.0  # seconds
_MOUNTS = "/proc/self/mountinfo"


class DirectoryProber:
    """Tells which directories are there.

    Args:
        patience: Seconds to wait for an answer.
        look: Whether a directory exists; may block for ever (a network mount).
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
            threading.Thread(target=_answer_queries, args=answering, name="places", daemon=True).start()
        self._asked.put(path)
        try:
            return self._answered.get(timeout=self._patience)
        except Empty:
            self._asked = None  # its thread is lost until the disk comes back
            self._dead.add(self._find_mount(path))
            return None

    def _find_mount(self, path: str) -> str:
        """The mount of a path, as far as it is known; on the root, only the path itself is skipped."""
        if self._mounts is None:
            self._mounts = _read_mounts()
        above = [mount for mount in self._mounts if mount != "/" and (path == mount or path.startswith(f"{mount}/"))]
        return max(above, key=len, default=path)

    def __enter__(self) -> "DirectoryProber":
        return self

    def __exit__(self, *_: object) -> None:
        """Let the thread end."""
        if self._asked is not None:
            self._asked.put("")
            self._asked = None


def _answer_queries(look: Callable[[str], bool], asked: "SimpleQueue[str]", answered: "SimpleQueue[bool]") -> None:
    while path := asked.get():
        try:
            answered.put(look(path))
        except (OSError, ValueError):
            answered.put(False)


def _read_mounts() -> list[str]:
    """Where something is mounted; nothing of it is touched."""
    try:
        with open(_MOUNTS, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    points = (line.split(b" ")[4] for line in lines if line.count(b" ") > 4)
    return [os.fsdecode(point.decode("unicode_escape").encode("latin-1")) for point in points]


def read_start(path: str, limit: int, flags: int = 0) -> bytes:
    """The first bytes of a file; nothing for one that is none or cannot be read."""
    try:
        fd = open_without_atime(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
        with open(fd, "rb") as file:
            return file.read(limit) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return b""


def parse_object(data: bytes) -> dict[str, object]:
    """A JSON object; empty if it is none."""
    import json  # noqa: PLC0415 - start-up: the first paint does not wait

    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
