"""The file in which reviewers keep their marks: two may write to it at the same moment, and nothing is lost.

Nobody keeps it open. Who adds a mark reads the file as it is by then, under a lock, and moves the whole new document
into its place. The lock is that of the directory, which even a process can take that may write nowhere any more: then
another one does the writing for it.
"""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from memtui.audit.inbox import Mark
from memtui.audit.marks import MOST_BYTES, Review, ReviewUnusable
from memtui.core.errors import Busy, MemtuiError
from memtui.core.visible import one_line
from memtui.outgoing import Outgoing
from memtui.outgoing_file import ASIDE
from memtui.places import short
from memtui.scribe import Here, Writer

_ATTEMPTS = 20
"""How often it is written anew, where there are no locks and others are faster."""
_LOCK_SECONDS = 10.0
_PAUSE = 0.005
_NO_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF, errno.ENOLCK})
"""What a file system answers that knows no such lock, or none of a directory."""
NOTHING = "Nothing was noted."
"""What is said where no mark could be kept."""


class ReviewFile:
    """Where the marks of a folder are kept.

    Args:
        path: The file; see `memtui.audit.marks.outside` and `review_path`.
        folder: The memory folder as a person writes it, for a new file.
        writer: Who writes, and where that is allowed; by default this process, anywhere.
    """

    def __init__(self, path: str | os.PathLike[str], *, folder: str = "", writer: Writer | None = None) -> None:
        self.path = Path(path)
        self._folder = folder
        self._writer = writer or Here(Outgoing(None, None, nothing=NOTHING))

    def read(self) -> Review:
        """What it holds now; an empty review if it is not there.

        Raises:
            ReviewUnusable: It cannot be used.
        """
        review = Review.read(self.path)
        return review if review.folder or review.marks else replace(review, folder=self._folder)

    def add(self, marks: Iterable[Mark]) -> Review:
        """Add marks behind those that are there by now.

        Returns:
            What it holds then.

        Raises:
            ReviewUnusable: It cannot be used. Nothing of it was changed.
            NotWritten: It could not be written, the same.
            Busy: Another process holds the lock for too long.
        """
        added = list(marks)
        if not added:
            return self.read()
        _insist_on_file(self.path)
        self._begin()
        with _locked(self.path):
            for _ in range(_ATTEMPTS):
                review = self.read().with_marks(added)
                data = review.to_json()
                if len(data) > MOST_BYTES:
                    raise ReviewUnusable(
                        f"Nothing was noted: {_said(self.path)} would have {len(data):,} bytes, and no more than "
                        f"{MOST_BYTES:,} are read. Begin another one with --review."
                    )
                self._writer.write(str(self.path), data, force=True)
                if self._is_kept(review):
                    return review
        raise Busy(f"Nothing was noted: other programs keep writing to {_said(self.path)}.")

    def _begin(self) -> None:
        """Make an empty review if there is none, and the directory with it: the lock needs that."""
        if self.path.exists():
            return
        empty = replace(Review(self.path), folder=self._folder)
        try:
            self._writer.write(str(self.path), empty.to_json(), force=False)
        except MemtuiError:
            if not self.path.exists():  # else somebody else was faster
                raise

    def _is_kept(self, review: Review) -> bool:
        """Whether what was written is there: where there are no locks, somebody may have written over it."""
        return self.read().entries[: len(review.entries)] == review.entries


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file's directory, where there is one to be had.

    Raises:
        Busy: Somebody else has it for too long.
    """
    try:
        fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        fd = -1  # such as a directory that may be entered and not read: what is written is looked at afterwards
    try:
        if fd >= 0 and _lock(fd, path):
            _tidy(path)
        yield
    finally:
        if fd >= 0:
            os.close(fd)


def _lock(fd: int, path: Path) -> bool:
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise Busy(f"Nothing was noted: another program is writing to {_said(path)}.") from None
            time.sleep(_PAUSE)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return False
            raise ReviewUnusable(f"Nothing was noted: {_said(path)} cannot be locked.") from error
        else:
            return True


def _tidy(path: Path) -> None:
    """Remove what a process left that died before its file was in its place. The lock must be held."""
    with contextlib.suppress(OSError):
        for name in os.listdir(path.parent):
            if name.startswith(f".{path.name}.") and name.endswith(ASIDE):
                with contextlib.suppress(OSError):
                    os.unlink(path.parent / name)


def _insist_on_file(path: Path) -> None:
    """Go on only where a file stands, or nothing: a link would be replaced, and not what it leads to."""
    with contextlib.suppress(OSError):  # said by whoever reads it, or writes it
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise ReviewUnusable(f"Nothing was noted: {_said(path)} is not a file. It was left as it is.")


def _said(path: Path) -> str:
    return one_line(short(path))
