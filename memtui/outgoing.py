"""Files that are written for a person, outside of every memory: exports, reports, reviews.

Where one may lie is judged here and nowhere else: never in a memory folder, where an agent could read or change it, nor
beside a journal. It is judged by where the opened directory really is, whatever its path says, before anything is made.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import partial

from memtui.core.errors import MemtuiError
from memtui.core.visible import one_line
from memtui.mounts import Origin, origin_of
from memtui.outgoing_file import OutgoingFile
from memtui.places import short

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PASSED = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""For a directory that need not be listed: it may be one that cannot be (Linux)."""
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
        inside = f"is inside the memory folder, where an agent could read it. {nothing} Choose another place."
        beside = f"is where the journal lies. {nothing}"
        self._forbidden = {
            os.path.realpath(path): words for path, words in ((folder, inside), (state, beside)) if path is not None
        }
        self._known = {_identity(path): words for path, words in self._forbidden.items()}
        """They as they are now, whatever name they have later."""

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

    def begin(self, target: str, *, force: bool = False, parents: bool = False) -> OutgoingFile:
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
            fd = self._opened(directory, place, parents=parents)
        try:
            with self._said(place):
                self._judge_present(fd, place, force=force)
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

    def _opened(self, directory: str, place: str, *, parents: bool) -> int:
        """Open a directory. What is missing of it is made only below one that was judged."""
        missing: list[str] = []
        while True:
            try:
                fd = _opened(directory)
                break
            except FileNotFoundError:
                if not parents:
                    raise
                directory, name = os.path.split(directory)
                missing.append(name)
        try:
            self._judge_directory(fd, place)
            for name in reversed(missing):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=fd)
                inner = _opened(name, fd)
                os.close(fd)
                fd = inner
            if missing:  # somebody may have moved anything there meanwhile
                self._judge_directory(fd, place)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _judge_directory(self, fd: int, place: str) -> None:
        """Judge by what was opened: a mount or a swapped link leads elsewhere than its path says."""
        with self._said(place):
            now = {_identity(directory): words for directory, words in self._forbidden.items()}
            words = _found_above(fd, self._known | now) or self._mounted_from(fd)
        if words:
            raise NotWritten(Why.FORBIDDEN, f"Refused: {_shown(place)} {words}")

    def _mounted_from(self, fd: int) -> str:
        """What is said of a part of a forbidden directory that is mounted elsewhere; empty for any other."""
        here = origin_of(fd)
        for directory, words in self._forbidden.items() if here is not None else ():
            other = _origin(directory)
            if other is not None and here is not None and here.is_within(other):
                return words
        return ""

    def _judge_present(self, fd: int, place: str, *, force: bool) -> None:
        """Judge what stands there already."""
        try:
            seen = os.stat(os.path.basename(place), dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not force:
            raise self._exists(place)
        if seen.st_nlink > 1 and stat.S_ISREG(seen.st_mode) and self._is_named_inside(seen):
            words = f"is another name of a memory, or of the journal. {self._nothing} Choose another name."
            raise NotWritten(Why.FORBIDDEN, f"Refused: {_shown(place)} {words}")

    def _is_named_inside(self, seen: os.stat_result) -> bool:
        """Whether a file has a name in a forbidden directory, too: it would lose one of its names."""
        from memtui.store.looking import ReadOnlyFolder  # deferred: hardly any file has two names

        for directory in self._forbidden:
            with contextlib.suppress(OSError, MemtuiError), contextlib.closing(ReadOnlyFolder(directory)) as folder:
                if folder.device == str(seen.st_dev) and any(
                    entry.inode() == seen.st_ino for _, entry in folder.entries(())
                ):
                    return True
        return False

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


def _opened(directory: str, above: int | None = None) -> int:
    try:
        return os.open(directory, _DIRECTORY, dir_fd=above)
    except PermissionError:
        return os.open(directory, _PASSED, dir_fd=above)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None  # gone, or not ours to look at: nobody can be inside
    return seen.st_dev, seen.st_ino


def _origin(path: str) -> Origin | None:
    try:
        fd = os.open(path, _PASSED)
    except OSError:
        return None
    try:
        return origin_of(fd)
    finally:
        os.close(fd)


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
