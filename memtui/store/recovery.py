"""Tidying after a writer that was killed: what it left is removed, or put back where nobody has read it yet."""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from memtui.core.attributes import PERMISSIONS
from memtui.core.errors import SymlinkEscape, UnconfirmedChange, UnsettledChange
from memtui.core.paths import ROOT, MemoryPath
from memtui.fs.beneath import PathHandle, RootDirectory, close_quietly
from memtui.fs.no_atime import open_without_atime
from memtui.store.base import NEW_DIRECTORY, READ, read_consistently
from memtui.store.open_folder import WritableFolder, is_safe_to_remove

# The staging area: files moved aside are compared, removed or put back out of everybody else's reach.

UNTIDY = "untidy"
"""A file in the state directory that says that something is left that could not be removed."""
_NAMES = 100
"""How many names are tried for something that has to be put back where something else came meanwhile."""


class StagedEntry(NamedTuple):
    """Something that was moved out of sight: below which root, where there, and its place."""

    root: RootDirectory
    parts: tuple[str, ...]
    original: PathHandle


class StagingArea:
    """Moves things of a folder, whose lock is held, out of sight, and removes them there or puts them back."""

    def __init__(self, folder: WritableFolder) -> None:
        self._folder = folder
        self._root = folder.root

    def stage(self, place: PathHandle) -> StagedEntry:
        """Move what stands at a place out of sight: out of the folder where that is possible, else beside its place."""
        name = self._folder.make_temporary_name(judged=False)
        state, beside = self._folder.state_root, (*place.parts[:-1], name)
        for root, fd, parts in (
            (state, state.fd, (name,)),
            (self._root, self._root.fd, (name,)),
            (self._root, place.fd, beside),
        ):
            try:
                if root is not state:
                    self._folder.passing.add(name, place.stat().st_ino)
                os.rename(place.name, name, src_dir_fd=place.fd, dst_dir_fd=fd)
            except OSError as error:
                if error.errno != errno.EXDEV or fd == place.fd:
                    raise
            else:
                return StagedEntry(root, parts, PathHandle(fd, name, (), owned=False))
        raise AssertionError("unreachable: a name beside it is on its own file system")

    def unstage(self, aside: PathHandle, place: PathHandle) -> None:
        """Put something back that should not have been moved: to a name beside its own if that is taken again."""
        for number in range(_NAMES):
            free = place.name if number == 0 else f"{_truncate_name(place.name)}~{number}"
            try:
                parts = (*place.parts[:-1], free)
                self._folder.move_noreplace(aside, PathHandle(place.fd, free, parts, owned=False))
            except FileExistsError:
                continue
            return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    def unstage_whole(self, aside: StagedEntry, place: PathHandle) -> None:
        """Put something back of which nothing was changed; raises `UnsettledChange` if it has to stay out of sight."""
        try:
            self.unstage(aside.original, place)
        except (OSError, UnsettledChange) as error:
            self.keep_hidden()
            raise UnsettledChange(str(error)) from error

    def keep_hidden(self) -> None:
        """Leave what is out of sight there, for the next one who writes."""
        self._folder.is_clean = self._folder.is_searched = False
        self._folder.passing.keep()
        self.mark_for_cleanup()

    def judge(self, aside: PathHandle) -> PathHandle:
        """Note that something is to be removed, whatever is left of it by then: by its name. Raises `OSError`.

        A file goes in one step. What is left of a directory would be taken for one that nobody has looked at.
        """
        seen = aside.stat()
        if is_safe_to_remove(aside.name) or not stat.S_ISDIR(seen.st_mode):
            return aside
        judged = self._folder.make_temporary_name()
        self._folder.list_passing(judged, seen.st_ino, aside.fd)
        os.rename(aside.name, judged, src_dir_fd=aside.fd, dst_dir_fd=aside.fd)
        return PathHandle(aside.fd, judged, (), owned=False)

    def iter_below(self, aside: StagedEntry) -> Iterator[tuple[str, os.stat_result]]:
        """Everything in a directory that was moved aside, with its path from there."""
        start = len("/".join(aside.parts)) + 1
        for directory, entry in self._folder.iter_raw_entries(aside.parts, complete=True, root=aside.root):
            yield (directory + entry.name)[start:], entry.stat(follow_symlinks=False)

    def remove(self, aside: PathHandle) -> bool:
        """Remove what is out of sight already; what cannot be removed now waits for the next one who opens it."""
        try:
            self._folder.remove_tree(aside)
        except OSError:
            if not is_safe_to_remove(aside.name):
                with contextlib.suppress(OSError):
                    judged = self._folder.make_temporary_name()
                    self._folder.list_passing(judged, aside.stat().st_ino, aside.fd)
                    os.rename(aside.name, judged, src_dir_fd=aside.fd, dst_dir_fd=aside.fd)
            self.keep_hidden()
            return False
        return True

    def mark_for_cleanup(self) -> None:
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            close_quietly(os.open(UNTIDY, flags, 0o600, dir_fd=self._folder.state_fd))


def _truncate_name(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:250])


# Syncing changes to the disk: at once, or as a batch.

NO_SUCH_THING = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
"""What a file system answers to a call that it does not know."""
_HELD = 64
"""How many directories are held open until they are confirmed together."""


@contextmanager
def as_unconfirmed() -> Iterator[None]:
    """For what comes after the move: the change stands already."""
    try:
        yield
    except OSError as error:
        raise UnconfirmedChange(os.strerror(error.errno or 0)) from error


class SyncBatch:
    """The directories that one transaction has the system confirm; none if it is not `wanted`."""

    def __init__(self, root: RootDirectory, *, wanted: bool) -> None:
        self._root = root
        self._wanted = wanted
        self._unconfirmed: dict[tuple[int, int], int] | None = None

    @contextmanager
    def batch_sync(self) -> Iterator[None]:
        if self._unconfirmed is not None:
            yield  # whoever began it ends it
            return
        self._unconfirmed = {}
        unsettled: UnsettledChange | None = None
        try:
            yield
        except UnsettledChange as error:
            unsettled = error
        finally:
            touched, self._unconfirmed = list(self._unconfirmed.values()), None
            try:
                _sync_all(touched)
            except UnconfirmedChange:
                if unsettled is None:
                    raise
        if unsettled is not None:
            raise unsettled  # which says more

    def sync(self, fd: int, made: Iterable[str]) -> None:
        """Have the system confirm a directory, and the parents of directories just made."""
        if not self._wanted:
            return
        with as_unconfirmed():
            self._sync_or_defer(fd)
            for directory in made:
                with self._root.resolve_path(directory.split("/"), follow=False) as place:
                    self._sync_or_defer(place.fd)

    def _sync_or_defer(self, fd: int) -> None:
        """Sync a directory now, or at the end of a batch; till then it is held open, wherever it is moved."""
        if self._unconfirmed is None:
            sync_directory(fd)
            return
        seen = os.fstat(fd)
        identity = (seen.st_dev, seen.st_ino)
        descriptor = self._unconfirmed.pop(identity, None)
        if descriptor is None:
            if len(self._unconfirmed) >= _HELD:
                _sync_all([self._unconfirmed.pop(next(iter(self._unconfirmed)))])
            descriptor = os.dup(fd)
        self._unconfirmed[identity] = descriptor  # the last one touched is the last one


def sync_file(directory: int, name: str) -> None:
    """Have the system confirm what a file holds; nothing else is opened. Raises `OSError`."""
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
            return
        fd = open_without_atime(name, READ, directory=directory)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EACCES):
            return  # another program's by now, or closed to us
        raise
    try:
        os.fsync(fd)
    finally:
        close_quietly(fd)


def sync_directory(fd: int) -> None:
    """Have the system confirm what stands in a directory, where it can: some file systems know no such thing."""
    opened = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=fd)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in NO_SUCH_THING:
            raise
    finally:
        close_quietly(opened)


def _sync_all(directories: list[int]) -> None:
    """Sync each of several directories, also if one fails, and close them; raises `UnconfirmedChange`."""
    failed: OSError | None = None
    for fd in directories:
        try:
            sync_directory(fd)
        except OSError as error:
            failed = error
        finally:
            close_quietly(fd)
    with as_unconfirmed():
        if failed is not None:
            raise failed


def is_made(seen: os.stat_result, inode: int | None) -> bool:
    """Whether something is a directory of ours: by its inode, or if that was not listed yet, as its owner's alone."""
    if not stat.S_ISDIR(seen.st_mode):
        return False
    return seen.st_ino == inode if inode is not None else not seen.st_mode & PERMISSIONS & ~NEW_DIRECTORY


def remove_if_empty(place: PathHandle) -> None:
    """Remove a directory of ours, unless another program put something into it; raises `OSError`."""
    try:
        os.rmdir(place.name, dir_fd=place.fd)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
            raise


_GROWN = 1 << 20
"""Bytes by which a file may have grown since it was looked at."""


class CrashCleanup:
    """Removes or puts back the leftovers of killed writers in a folder whose lock is held."""

    def __init__(self, folder: WritableFolder, aside: StagingArea, confirming: SyncBatch) -> None:
        self._folder = folder
        self._root = folder.root
        self._aside = aside
        self._confirming = confirming

    def clean_up(
        self, *, is_known: Callable[[bytes], bool] | None = None, place: MemoryPath = ROOT, only_judged: bool = False
    ) -> None:
        """See `FolderTransaction.clean_up`. Every directory is searched: things may wait beside their places."""

        def tend(aside: StagedEntry) -> bool:
            is_judged = is_known is None or is_safe_to_remove(aside.original.name)
            if not is_judged and is_known is not None and self._has_unknown_text(aside, is_known):
                self._restore_leftover(aside, place)
                return True
            return self._aside.remove(self._aside.judge(aside.original))

        if not only_judged:
            self._remove_listed(self._folder.passing.get_made(are_placeholders=True))  # they are in the way
        tidied = self._process_leftovers(self._folder.state_root, (), tend, only_judged)
        tidied &= self._process_leftovers(self._root, (), tend, only_judged)

        def skip(error: OSError) -> None:
            nonlocal tidied
            tidied &= isinstance(error, PermissionError)

        for directory, entry in self._folder.iter_raw_entries((), skip=skip):
            if entry.is_dir(follow_symlinks=False):
                parts = (*directory.split("/")[:-1], entry.name)
                try:
                    tidied &= self._process_leftovers(self._root, parts, tend, only_judged)
                except (FileNotFoundError, NotADirectoryError, PermissionError, SymlinkEscape):
                    continue  # gone meanwhile, or not ours to write to
                except OSError:
                    tidied = False
        if not tidied:
            self._aside.mark_for_cleanup()
            return
        if not only_judged:
            self._folder.passing.release()
        with contextlib.suppress(OSError):
            os.unlink(UNTIDY, dir_fd=self._folder.state_fd)

    def remove_leftovers(self, place: PathHandle) -> bool:
        """Remove what a killed writer has left in a directory; whether there was anything."""
        seen: list[bool] = []

        def remove(aside: StagedEntry) -> bool:
            seen.append(self._aside.remove(aside.original))
            return seen[-1]

        return self._process_leftovers(self._root, place.parts, remove, only_judged=True) and bool(seen)

    def _process_leftovers(
        self, root: RootDirectory, parts: tuple[str, ...], tend: Callable[[StagedEntry], bool], only_judged: bool
    ) -> bool:
        """Process all leftovers in a directory; whether none is left. Raises `OSError`."""
        fd = root.open_directory(parts)
        tidied = True
        try:
            for name in os.listdir(fd):
                if self._folder.is_temporary_name(name):
                    try:
                        if only_judged and not is_safe_to_remove(name):
                            tidied = False
                            continue
                        tidied &= tend(StagedEntry(root, (*parts, name), PathHandle(fd, name, (), owned=False)))
                    except (OSError, UnsettledChange):
                        tidied = False  # it stays out of sight
        finally:
            close_quietly(fd)
        return tidied

    def _has_unknown_text(self, aside: StagedEntry, is_known: Callable[[bytes], bool]) -> bool:
        """Whether something that was moved aside holds a text, or is a link, that is kept nowhere else.

        Raises:
            OSError: It cannot be known now: it waits.
        """
        try:
            return self._is_unknown(aside, is_known)
        except FileNotFoundError:
            return False
        except PermissionError:
            return True  # nobody will be able to tell, so it is not for us to remove

    def _is_unknown(self, aside: StagedEntry, is_known: Callable[[bytes], bool]) -> bool:
        top = aside.original.stat()
        below = self._aside.iter_below(aside) if stat.S_ISDIR(top.st_mode) else ()
        for path, seen in (("", top), *below):
            parts = (*aside.parts, *path.split("/")) if path else aside.parts
            with aside.root.resolve_path(parts, follow=False) as place:
                content = b""
                if stat.S_ISLNK(seen.st_mode):
                    content = os.fsencode(os.readlink(place.name, dir_fd=place.fd))
                elif stat.S_ISREG(seen.st_mode):
                    fd = os.open(place.name, READ, dir_fd=place.fd)
                    try:
                        content = read_consistently(fd, path, seen.st_size + _GROWN).data
                    finally:
                        close_quietly(fd)
            if content and not is_known(content):
                return True
        return False

    def unmake(self, paths: Iterable[str]) -> None:
        """See `Transaction.unmake`."""
        made = self._folder.passing.get_made()
        self._remove_listed({path: made[path] for path in made.keys() & set(paths)})

    def _remove_listed(self, made: Mapping[str, int | None]) -> None:
        """Remove directories of a dead writer that are still empty. Raises `OSError`."""
        for path in sorted(made, reverse=True):  # what is in it first
            with (
                contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError, SymlinkEscape),
                self._root.resolve_path(path.split("/"), follow=False) as place,
            ):
                if is_made(place.stat(), made[path]):
                    remove_if_empty(place)

    def _restore_leftover(self, aside: StagedEntry, path: MemoryPath) -> None:
        """Put something back that nobody has looked at, at its place or beside it, or at the top if that is gone."""
        for parts in (path.parts, path.parts[-1:], ("recovered",)):
            if parts:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError, SymlinkEscape):
                    with self._root.resolve_path(parts, follow=False) as place:
                        self._aside.unstage(aside.original, place)
                        self._confirming.sync(place.fd, ())
                    return
