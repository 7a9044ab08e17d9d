"""Files that are written for a person, outside of every memory: exports, reports, reviews.

Where one may lie is checked here and nowhere else: never in a memory folder, where an agent could read or change it,
nor beside a journal. The check is of the place of the opened directory, whatever its path, before anything is made.
"""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from typing import NamedTuple, Self

from memtui.core.errors import MemtuiError
from memtui.core.paths import ONLINE, SQLITE, format_path, resolve_place
from memtui.core.unicode import to_one_line
from memtui.fs.atomic import AtomicFile

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PASSED = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""For a directory that need not be listed: it may be one that cannot be (Linux)."""
_DEEPEST = 4_096
"""Directories above each other; no system has more."""


class WriteFailureReason(Enum):
    """Why a file was not written."""

    NAME = "name"
    """What was named cannot be a file."""
    FORBIDDEN = "forbidden"
    """It would lie where none of these files may."""
    EXISTS = "exists"
    FAILED = "failed"


class WriteFailed(MemtuiError):
    """A file was not written; the words say why, and that nothing was."""

    def __init__(self, why: WriteFailureReason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = why


class ExportWriter:
    """Where files may be written, and where not.

    Args:
        folder: A memory folder, or another place; `None` if none is known.
        state: The state directory of its journal; `None` if none is known.
        others: Further directories of these kinds.
        nothing: The end of each error, such as `Nothing was exported.`
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        state: str | os.PathLike[str] | None,
        *,
        others: Iterable[str | os.PathLike[str]] = (),
        nothing: str = "Nothing was written.",
    ) -> None:
        self._nothing = nothing
        inside = f"is inside the memory folder, where an agent could read it. {nothing} Choose another place."
        beside = f"is in the directory of the journal. {nothing} Choose another place."
        places = ((folder, inside), (state, beside), *((other, inside) for other in others))
        self._forbidden = {
            place.removeprefix(SQLITE): words
            for path, words in places
            if path is not None and not (place := resolve_place(path)).startswith(ONLINE)
        }
        self._known = {_get_identity(path): words for path, words in self._forbidden.items()}
        """They as they are now, whatever name they have later."""

    def write(self, target: str, data: bytes, *, force: bool = False, parents: bool = False) -> str:
        """Write a file whole, and return its path, with links resolved but its own; `~` is expanded.

        `force` replaces a file that stands there; `parents` makes missing directories, each for its owner only.

        Raises:
            WriteFailed: What stood there still does.
        """
        with contextlib.closing(self.create_file(target, force=force, parents=parents)) as file:
            file.write(data)
            file.commit()
            return file.path

    def create_file(self, target: str, *, force: bool = False, parents: bool = False) -> AtomicFile:
        """Begin a file, which is in its place once it is committed. Arguments and errors are as for `write`."""
        name = os.path.expanduser(target)
        if "\0" in name:
            raise WriteFailed(WriteFailureReason.NAME, f"A file name cannot contain NUL. {self._nothing}")
        directory = os.path.realpath(os.path.dirname(name) or ".")
        place = os.path.join(directory, os.path.basename(name))
        self._check_path(place, os.path.basename(name))
        with self._translate_errors(place):
            fd = self._open_directory(directory, place, parents=parents)
        try:
            with self._translate_errors(place):
                self._check_existing(fd, place, force=force)
            translate, exists = partial(self._translate_errors, place), partial(self._make_exists_error, place)
            return AtomicFile(fd, place, force=force, translate=translate, exists=exists)
        except BaseException:
            os.close(fd)
            raise

    def make_temporary_directory(self) -> str:
        """Make an empty directory, for its owner only, in the first place for temporary files where one may lie.

        Raises:
            WriteFailed: It may lie in none of them, or cannot be made.
        """
        import tempfile  # noqa: PLC0415 - start-up: only here

        places = [os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
        for place in filter(os.path.isabs, (*places, "/tmp", "/var/tmp")):
            directory = os.path.realpath(place)
            with contextlib.suppress(WriteFailed, OSError):
                self._check_path(os.path.join(directory, "memtui-"), "memtui-")
                os.close(self._open_directory(directory, directory, parents=False))
                return tempfile.mkdtemp(prefix="memtui-", dir=directory)
        words = f"There is no place for temporary files. {self._nothing}"
        raise WriteFailed(WriteFailureReason.FAILED, words)

    def _check_path(self, place: str, name: str) -> None:
        """Check by paths first, where nothing has been opened or made yet."""
        shown = _format_path(place)
        for each in (place, os.path.realpath(place)):
            for directory, words in self._forbidden.items():
                if each == directory or each.startswith(directory.rstrip("/") + "/"):
                    raise WriteFailed(WriteFailureReason.FORBIDDEN, f"Refused: {shown} {words}")
        if name in ("", ".", "..") or os.path.isdir(place):
            raise WriteFailed(WriteFailureReason.NAME, f"{shown} is a directory. {self._nothing} Name a file in it.")
        if os.path.exists(place) and not os.path.isfile(place):
            raise WriteFailed(
                WriteFailureReason.NAME, f"{shown} is not a regular file. {self._nothing} Name another one."
            )

    def _open_directory(self, directory: str, place: str, *, parents: bool) -> int:
        """Open a directory. What is missing of it is made only below one that was checked."""
        missing: list[str] = []
        while True:
            try:
                fd = _open_at(directory)
                break
            except FileNotFoundError:
                if not parents:
                    raise
                directory, name = os.path.split(directory)
                missing.append(name)
        try:
            self._check_directory(fd, place)
            for name in reversed(missing):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=fd)
                inner = _open_at(name, fd)
                os.close(fd)
                fd = inner
            if missing:  # somebody may have moved anything there meanwhile
                self._check_directory(fd, place)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _check_directory(self, fd: int, place: str) -> None:
        """Check by what was opened: a mount or a swapped link leads elsewhere than its path says."""
        with self._translate_errors(place):
            now = {_get_identity(directory): words for directory, words in self._forbidden.items()}
            words = _find_forbidden_ancestor(fd, self._known | now) or self._describe_mount(fd)
        if words:
            raise WriteFailed(WriteFailureReason.FORBIDDEN, f"Refused: {_format_path(place)} {words}")

    def _describe_mount(self, fd: int) -> str:
        """What is said of a part of a forbidden directory that is mounted elsewhere; empty for any other."""
        here = get_mount_origin(fd)
        for directory, words in self._forbidden.items() if here is not None else ():
            other = _get_origin(directory)
            if other is not None and here is not None and here.is_within(other):
                return words
        return ""

    def _check_existing(self, fd: int, place: str, *, force: bool) -> None:
        try:
            seen = os.stat(os.path.basename(place), dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not force:
            raise self._make_exists_error(place)
        if seen.st_nlink > 1 and stat.S_ISREG(seen.st_mode) and self._has_forbidden_hard_link(seen):
            words = f"is another name of a note or of the journal. {self._nothing} Choose another name."
            raise WriteFailed(WriteFailureReason.FORBIDDEN, f"Refused: {_format_path(place)} {words}")

    def _has_forbidden_hard_link(self, seen: os.stat_result) -> bool:
        """Whether a file has a name in a forbidden directory, too: it would lose one of its names."""
        from memtui.store.open_folder import ReadOnlyFolder  # noqa: PLC0415 - hardly any file has two names

        for directory in self._forbidden:
            with contextlib.suppress(OSError, MemtuiError), contextlib.closing(ReadOnlyFolder(directory)) as folder:
                inodes = (entry.inode() for _, entry in folder.iter_raw_entries(()))
                if folder.device == str(seen.st_dev) and seen.st_ino in inodes:
                    return True
        return False

    def _make_exists_error(self, place: str) -> WriteFailed:
        text = f"{_format_path(place)} already exists. {self._nothing} To replace it: --force"
        return WriteFailed(WriteFailureReason.EXISTS, text)

    @contextlib.contextmanager
    def _translate_errors(self, place: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            text = f"{_format_path(place)} could not be written: {reason}. {self._nothing}"
            raise WriteFailed(WriteFailureReason.FAILED, text) from error


def _open_at(directory: str, above: int | None = None) -> int:
    try:
        return os.open(directory, _DIRECTORY, dir_fd=above)
    except PermissionError:
        return os.open(directory, _PASSED, dir_fd=above)


def _get_identity(path: str) -> tuple[int, int] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None  # gone, or not ours to look at: nobody can be inside
    return seen.st_dev, seen.st_ino


def _get_origin(path: str) -> "MountOrigin | None":
    try:
        fd = os.open(path, _PASSED)
    except OSError:
        return None
    try:
        return get_mount_origin(fd)
    finally:
        os.close(fd)


def _find_forbidden_ancestor(fd: int, forbidden: Mapping[tuple[int, int] | None, str]) -> str:
    """The description of the first of some directories that holds, or is, an opened one; raises `OSError`."""
    here = os.dup(fd)
    try:
        below: tuple[int, int] | None = None
        for _ in range(_DEEPEST):
            seen = os.fstat(here)
            identity = seen.st_dev, seen.st_ino
            if identity in forbidden:
                return forbidden[identity]
            if identity == below:
                return ""  # the root is above itself
            below = identity
            above = os.open("..", _PASSED, dir_fd=here)
            os.close(here)
            here = above
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    finally:
        os.close(here)


def _format_path(place: str) -> str:
    return to_one_line(format_path(place))


# The origin of a mount: a bind mount has no `..` to the folder that it is a part of.
# Source: proc_pid_mountinfo(5) and proc_pid_fdinfo(5). Other systems have no such mounts.

_NUMBER = re.compile(rb"^mnt_id:\s*(\d+)$", re.MULTILINE)
_ESCAPED = re.compile(rb"\\([0-7]{3})")


class MountOrigin(NamedTuple):
    """A place in a file system: the kernel's number of its device, and the path from its own root."""

    device: bytes
    path: bytes

    def is_within(self, other: Self) -> bool:
        return self.device == other.device and (self.path + b"/").startswith(other.path.rstrip(b"/") + b"/")


def get_mount_origin(fd: int) -> MountOrigin | None:
    """Where an opened directory lies in its file system; `None` where the system does not tell."""
    try:
        found = _NUMBER.search(_read_bytes(f"/proc/self/fdinfo/{fd}"))
        path = os.readlink(b"/proc/self/fd/%d" % fd)
        mounts = _read_bytes("/proc/self/mountinfo")
    except OSError:
        return None
    if found is None:
        return None
    for line in mounts.splitlines():
        number, _, device, root, point, *_ = line.split(b" ")
        if number != found[1]:
            continue
        start = _unescape(point).rstrip(b"/")
        if path != start and not path.startswith(start + b"/"):
            return None  # it is not reached from here any more
        return MountOrigin(device, _unescape(root).rstrip(b"/") + path[len(start) :].rstrip(b"/"))
    return None


def _unescape(path: bytes) -> bytes:
    """A path without the escapes by which blanks stand in a line."""
    return _ESCAPED.sub(lambda match: bytes((int(match[1], 8) & 0xFF,)), path)


def _read_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
