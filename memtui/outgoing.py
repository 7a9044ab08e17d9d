"""Files that are written for a person, outside of every memory: exports, reports, reviews.

Where one may lie is judged here and nowhere else: never in a memory folder, where an agent could read or change it, nor
beside a journal. It is judged by where the opened directory really is, whatever its path says, and nobody sees a file
before it is whole and on the disk.
"""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from enum import Enum
from functools import partial

from memtui.core.errors import MemtuiError
from memtui.core.visible import one_line
from memtui.places import short

_BUFFER = 1 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PASSED = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
"""For a directory that need not be listed: it may be one that cannot be (Linux)."""
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_DEEPEST = 4_096
"""Directories above each other; no system has more."""


class Why(Enum):
    """Why a file was not written."""

    NAME = "name"
    """What was named cannot be a file."""
    FORBIDDEN = "forbidden"
    """It would lie where none of these files may."""
    EXISTS = "exists"
    """Something is there, and it was not said that it may be replaced."""
    FAILED = "failed"
    """The system refused, or failed."""


class NotWritten(MemtuiError):
    """A file was not written; the words say why, and that nothing was.

    Attributes:
        why: The reason.
    """

    def __init__(self, why: Why, sentence: str) -> None:
        super().__init__(sentence)
        self.why = why


class Outgoing:
    """Where files may be written, and where not.

    Args:
        folder: A memory folder; `None` if none is known.
        state: The state directory of its journal; `None` if none is known.
        nothing: What is said where nothing came of it, such as `Nothing was exported.`
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        state: str | os.PathLike[str] | None,
        *,
        nothing: str = "Nothing was written.",
    ) -> None:
        self._nothing = nothing
        inside = "is inside the memory folder, where an agent could read it. {nothing} Choose another place."
        beside = "is where the journal lies. {nothing}"
        self._forbidden = {
            os.path.realpath(path): words.format(nothing=nothing)
            for path, words in ((folder, inside), (state, beside))
            if path is not None
        }

    def write(self, target: str, data: bytes, *, force: bool = False, parents: bool = False) -> str:
        """Write a file whole.

        Args:
            target: Where; `~` is expanded.
            data: All of it.
            force: Whether a file that stands there is replaced.
            parents: Whether missing directories are made, each for its owner only.

        Returns:
            Where it is, with links resolved but its own.

        Raises:
            NotWritten: It was not; what stood there still does.
        """
        with contextlib.closing(self.begin(target, force=force, parents=parents)) as file:
            file.write(data)
            file.keep()
            return file.place

    def begin(self, target: str, *, force: bool = False, parents: bool = False) -> "OutgoingFile":
        """Begin a file, which is in its place once it is kept.

        Args:
            target: See `write`.
            force: See `write`.
            parents: See `write`.

        Raises:
            NotWritten: It may not, or cannot, be there.
        """
        name = os.path.expanduser(target)
        if "\0" in name:
            raise NotWritten(Why.NAME, f"A name cannot hold a NUL. {self._nothing}")
        directory = os.path.realpath(os.path.dirname(name) or ".")
        place = os.path.join(directory, os.path.basename(name))
        self._judge(place, os.path.basename(name))
        with self._said(place):
            if parents:
                _make_private(directory)
            fd = _opened(directory)
        try:
            self._judge_directory(fd, place)
            if not force and _exists(place, fd):
                raise self._exists(place)
            said, exists = partial(self._said, place), partial(self._exists, place)
            return OutgoingFile(fd, place, force=force, said=said, exists=exists)
        except BaseException:
            os.close(fd)
            raise

    def _judge(self, place: str, name: str) -> None:
        """Judge by paths first, where nothing has been opened or made yet."""
        shown = _shown(place)
        for each in (place, os.path.realpath(place)):
            for directory, words in self._forbidden.items():
                if each == directory or each.startswith(directory.rstrip("/") + "/"):
                    raise NotWritten(Why.FORBIDDEN, f"Refused: {shown} {words}")
        if name in ("", ".", "..") or os.path.isdir(place):
            raise NotWritten(Why.NAME, f"{shown} is a folder. {self._nothing} Name a file in it.")
        if os.path.exists(place) and not os.path.isfile(place):
            raise NotWritten(Why.NAME, f"{shown} is no regular file. {self._nothing} Name another one.")

    def _judge_directory(self, fd: int, place: str) -> None:
        """Judge by what was opened: a mount or a swapped link leads elsewhere than its path says."""
        with self._said(place):
            inner = {_identity(directory): words for directory, words in self._forbidden.items()}
            words = _found_above(fd, inner)
        if words:
            raise NotWritten(Why.FORBIDDEN, f"Refused: {_shown(place)} {words}")

    def _exists(self, place: str) -> NotWritten:
        text = f"{_shown(place)} is there already. {self._nothing} To replace it: --force"
        return NotWritten(Why.EXISTS, text)

    @contextlib.contextmanager
    def _said(self, place: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            text = f"{_shown(place)} could not be written: {reason}. {self._nothing}"
            raise NotWritten(Why.FAILED, text) from error


class OutgoingFile:
    """A file that nobody sees before it is whole. To be closed, whatever comes of it.

    Args:
        directory: The opened directory, which this file closes.
        place: Where it is to be.
        force: Whether a file that stands there is replaced.
        said: Says what the system refuses, around whatever asks it.
        exists: What is said where something stands there already.

    Attributes:
        place: Where it is to be.
    """

    def __init__(
        self,
        directory: int,
        place: str,
        *,
        force: bool,
        said: Callable[[], AbstractContextManager[None]],
        exists: Callable[[], NotWritten],
    ) -> None:
        self.place = place
        self._said = said
        self._exists = exists
        self._directory = directory
        self._force = force
        self._name = os.path.basename(place)
        self._aside = f".{os.fsdecode(os.fsencode(self._name)[:200])}.{os.urandom(4).hex()}.part"
        with said():
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(self._aside, flags, 0o600, dir_fd=directory)
            self._file = open(fd, "wb", buffering=_BUFFER)  # noqa: SIM115 - see `close`

    def write(self, data: bytes) -> None:
        """Write what comes next."""
        with self._said():
            self._file.write(data)

    def keep(self) -> None:
        """It is whole: put it on the disk and in its place.

        Raises:
            NotWritten: It is not in its place; what stood there still does.
        """
        with self._said():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._move()
        with contextlib.suppress(OSError):  # it is in its place; not every file system syncs directories
            os.fsync(self._directory)

    def close(self) -> None:
        """Leave nothing behind but what was kept."""
        if self._directory < 0:
            return
        with contextlib.suppress(OSError):  # what could not be written was told when it was to be kept
            self._file.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._aside, dir_fd=self._directory)
        os.close(self._directory)
        self._directory = -1

    def _move(self) -> None:
        here = self._directory
        if self._force:
            os.replace(self._aside, self._name, src_dir_fd=here, dst_dir_fd=here)
            return
        try:
            os.link(self._aside, self._name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
        except FileExistsError:
            raise self._exists() from None
        except OSError as error:  # not every file system has links
            if error.errno not in _NO_LINKS:
                raise
            if _exists(self._name, here):
                raise self._exists() from None
            os.rename(self._aside, self._name, src_dir_fd=here, dst_dir_fd=here)


def _exists(path: str, directory: int) -> bool:
    try:
        os.stat(os.path.basename(path), dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _opened(directory: str) -> int:
    try:
        return os.open(directory, _DIRECTORY)
    except PermissionError:
        return os.open(directory, _PASSED)


def _make_private(directory: str) -> None:
    if not os.path.isdir(directory):
        _make_private(os.path.dirname(directory))
        with contextlib.suppress(FileExistsError):
            os.mkdir(directory, 0o700)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None  # gone, or not ours to look at: nobody can be inside
    return seen.st_dev, seen.st_ino


def _found_above(fd: int, wanted: Mapping[tuple[int, int] | None, str]) -> str:
    """What is said of the first of some directories that an opened one is, or lies in; empty if it is in none.

    Raises:
        OSError: It cannot be found out.
    """
    here = os.dup(fd)
    try:
        below: tuple[int, int] | None = None
        for _ in range(_DEEPEST):
            seen = os.fstat(here)
            identity = seen.st_dev, seen.st_ino
            if identity in wanted:
                return wanted[identity]
            if identity == below:
                return ""  # the root is above itself
            below = identity
            above = os.open("..", _PASSED, dir_fd=here)
            os.close(here)
            here = above
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    finally:
        os.close(here)


def _shown(place: str) -> str:
    return one_line(short(place))
