"""Memories as files in a folder that others write to as well."""

import contextlib
import errno
import itertools
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from operator import itemgetter
from typing import NoReturn

from memtui.core.attributes import PERMISSIONS, UNKNOWN, Attributes
from memtui.core.errors import SymlinkEscape, UnconfirmedChange, UnsettledChange
from memtui.core.paths import ROOT, MemoryPath
from memtui.fs.atomic import link_nameless
from memtui.fs.beneath import PathHandle, close_quietly, sync_file_system
from memtui.fs.locks import hold_lock
from memtui.store.base import (
    NEW_DIRECTORY,
    NEW_FILE,
    ConcurrentChange,
    DirectoriesLeft,
    Stamp,
    Transaction,
    WriteResult,
    get_lasting_stamp,
    make_node,
    make_stamp,
    write_all,
)
from memtui.store.open_folder import WritableFolder, is_safe_to_remove
from memtui.store.recovery import (
    NO_SUCH_THING,
    UNTIDY,
    CrashCleanup,
    StagedEntry,
    StagingArea,
    SyncBatch,
    as_unconfirmed,
    remove_if_empty,
    sync_directory,
    sync_file,
)


class FolderTransaction:
    """Writes to a folder whose lock is held. See `Transaction`."""

    def __init__(self, folder: WritableFolder) -> None:
        self.is_untidy = False
        self._folder = folder
        self._root = folder.root
        self._confirming = SyncBatch(folder.root, wanted=folder.is_synced)
        self._aside = StagingArea(folder)
        self._tidying = CrashCleanup(folder, self._aside, self._confirming)

    def write(
        self, path: MemoryPath, data: bytes, *, expected: Stamp | None, attributes: Attributes = UNKNOWN
    ) -> WriteResult:
        with self._ensure_parents(path) as (place, made):
            try:
                seen = place.stat()
            except FileNotFoundError:
                seen = None
            if (make_stamp(seen) if seen else None) != expected:
                raise ConcurrentChange
            fd, passing, made_as = self._create_file(place, data, seen, attributes)
            try:
                if seen is None and passing is None:
                    with _as_concurrent_change():
                        link_nameless(fd, place.name, place.fd)
                else:
                    self._move_into_place(fd, passing, place, made_as, expected)
                with as_unconfirmed():
                    now = os.fstat(fd)
                # One that another program has written to since then is left as changed for the next look.
                is_ours = get_lasting_stamp(make_stamp(now)) == get_lasting_stamp(make_stamp(made_as))
                node = make_node("/".join(place.parts), now if is_ours else made_as)
            finally:
                close_quietly(fd)
            self._confirming.sync(place.fd, made)
            return WriteResult(node, tuple(made))

    def delete(self, path: MemoryPath, *, expected: Mapping[str, Stamp] | None = None) -> None:
        """See `Transaction.delete`. It is held against what was expected where nobody else can reach it any more."""
        with self._root.resolve_path(path.parts, follow=False) as place:
            is_directory = stat.S_ISDIR(place.stat().st_mode)
            if is_directory:
                self._check_removable(place.parts)
            aside = self._aside.stage(place)
            try:
                if expected is not None:
                    self._check_stamps(aside, "/".join(place.parts), expected)
                judged = self._aside.judge(aside.original) if is_directory else aside.original
            except BaseException:
                self._aside.unstage_whole(aside, place)
                raise
            self._aside.remove(judged)
            self._confirming.sync(place.fd, ())

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:
        with self._root.resolve_path(old.parts, follow=False) as source:
            source.stat()
            with self._ensure_parents(new, follow=False) as (place, made):
                self._folder.move_noreplace(source, place)
                self._confirming.sync(place.fd, made)
                if source.parts[:-1] != place.parts[:-1]:
                    self._confirming.sync(source.fd, ())
                return tuple(made)

    def make_directory(self, path: MemoryPath) -> tuple[str, ...]:
        with self._ensure_parents(path, follow=False) as (place, made):
            parents = tuple(made)
            self._make_directory(place, made)
            self._confirming.sync(place.fd, parents)
            return tuple(made)

    def set_directory_attributes(self, path: MemoryPath, attributes: Attributes) -> None:
        with self._root.resolve_path(path.parts, follow=False) as place:
            fd = os.open(place.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place.fd)
            try:
                _set_attributes(fd, attributes)
                self._confirming.sync(fd, ())
            finally:
                close_quietly(fd)

    def make_link(self, path: MemoryPath, target: bytes, *, mtime_ns: int | None = None) -> WriteResult:
        with self._ensure_parents(path, follow=False) as (place, made):
            if b"\0" in target:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
            os.symlink(target, place.name, dir_fd=place.fd)
            with as_unconfirmed():
                if mtime_ns is not None:
                    with _unless_unsupported():
                        times = (place.stat().st_atime_ns, mtime_ns)
                        os.utime(place.name, ns=times, dir_fd=place.fd, follow_symlinks=False)
                node = make_node("/".join(place.parts), place.stat())
            self._confirming.sync(place.fd, made)
            return WriteResult(node, tuple(made))

    def remove_empty(self, path: MemoryPath) -> None:
        with self._root.resolve_path(path.parts, follow=False) as place:
            try:
                os.rmdir(place.name, dir_fd=place.fd)
            except OSError as error:
                if error.errno != errno.ENOTEMPTY or not self._tidying.remove_leftovers(place):
                    raise
                os.rmdir(place.name, dir_fd=place.fd)
            self._confirming.sync(place.fd, ())

    def make_temporary_path(self, path: MemoryPath) -> MemoryPath:
        name = self._folder.make_temporary_name(judged=False)
        self._folder.passing.add(name)
        return MemoryPath((*path.parts[:-1], name))

    def exchange(self, one: MemoryPath, other: MemoryPath) -> bool:
        with (
            self._root.resolve_path(one.parts, follow=False) as here,
            self._root.resolve_path(other.parts, follow=False) as there,
        ):
            if not self._folder.exchange(here, there):
                return False
            self._confirming.sync(here.fd, ())
            if here.parts[:-1] != there.parts[:-1]:
                self._confirming.sync(there.fd, ())
            return True

    def batch_sync(self) -> AbstractContextManager[None]:
        return self._confirming.batch_sync()

    def clean_up(
        self, *, is_known: Callable[[bytes], bool] | None = None, place: MemoryPath = ROOT, only_judged: bool = False
    ) -> None:
        """See `Transaction.clean_up`; with `only_judged` what nobody has looked at is left alone."""
        self._tidying.clean_up(is_known=is_known, place=place, only_judged=only_judged)

    def unmake(self, paths: Iterable[str]) -> None:
        self._tidying.unmake(paths)

    def _check_removable(self, parts: tuple[str, ...]) -> None:
        """Refuse a deletion that would stop half way at a directory without the right to write: `PermissionError`."""

        def insist(fd: int) -> None:
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=fd, effective_ids=True):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        for _ in self._folder.iter_raw_entries(parts, complete=True, check=insist):
            pass

    def _check_stamps(self, aside: StagedEntry, path: str, expected: Mapping[str, Stamp]) -> None:
        """Compare what was moved aside, and all in it, with what was seen at its place: `ConcurrentChange`."""
        top = aside.original.stat()
        if path not in expected or get_lasting_stamp(make_node(path, top).stamp) != get_lasting_stamp(expected[path]):
            raise ConcurrentChange
        unseen = set(expected) - {path}
        if stat.S_ISDIR(top.st_mode):
            for below, seen in self._aside.iter_below(aside):
                inner = f"{path}/{below}"
                if inner not in unseen or make_node(inner, seen).stamp != expected[inner]:
                    raise ConcurrentChange
                unseen.remove(inner)
        if unseen:
            raise ConcurrentChange

    @contextmanager
    def _ensure_parents(self, path: MemoryPath, *, follow: bool = True) -> Iterator[tuple[PathHandle, list[str]]]:
        """The place of a path whose parents are made if missing, and unmade again if the body fails.

        What the body makes by itself it adds to the list. Raises `DirectoriesLeft` where they cannot be unmade.
        """
        made: list[str] = []
        try:
            try:
                place = self._root.resolve_path(path.parts, follow=follow)
            except FileNotFoundError:
                for depth in range(1, len(path.parts)):
                    parent = self._root.resolve_path(path.parts[:depth], follow=True)
                    with parent, contextlib.suppress(FileExistsError):
                        self._make_directory(parent, made)
                place = self._root.resolve_path(path.parts, follow=follow)
            with place:
                yield place, made
        except (UnconfirmedChange, UnsettledChange):
            raise
        except BaseException as error:
            self._unmake(made, error)
            raise

    def _make_directory(self, place: PathHandle, made: list[str]) -> None:
        """Make a directory that is known as ours from the first moment on; raises `FileExistsError`."""
        path = "/".join(place.parts)
        self._folder.passing.add_made(path)
        os.mkdir(place.name, NEW_DIRECTORY, dir_fd=place.fd)
        made.append(path)
        self._folder.passing.add_made(path, place.stat().st_ino)

    def _unmake(self, made: list[str], error: BaseException) -> None:
        """Remove directories that were made for nothing; raises `DirectoriesLeft`, and whoever writes next does it."""
        fault: OSError | None = None
        for path in reversed(made):
            try:
                with self._root.resolve_path(path.split("/"), follow=False) as place:
                    remove_if_empty(place)
            except (FileNotFoundError, NotADirectoryError, SymlinkEscape):
                continue
            except OSError as stuck:
                fault = stuck
        if fault is not None:
            self._folder.passing.keep()
            if isinstance(error, Exception):
                raise DirectoriesLeft(error if isinstance(error, OSError) else fault, tuple(made)) from error

    def _create_file(
        self, place: PathHandle, data: bytes, replaced: os.stat_result | None, attributes: Attributes
    ) -> tuple[int, str | None, os.stat_result]:
        """A whole, synced file on the file system of its place: descriptor, name unless it has none yet, and stat."""
        fd, passing = -1, None
        if self._folder.tmpfile and self._folder.moving != "placeholder":
            try:
                fd = os.open(".", self._folder.tmpfile | os.O_WRONLY | os.O_CLOEXEC, NEW_FILE, dir_fd=place.fd)
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
                    raise
                self._folder.tmpfile = 0
        if fd < 0:
            passing = self._folder.make_temporary_name()
            self._folder.list_passing(passing, None, place.fd)  # its inode is not known yet
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(passing, flags, NEW_FILE, dir_fd=place.fd)
        try:
            if passing is not None:
                self._folder.list_passing(passing, os.fstat(fd).st_ino, place.fd)
            write_all(fd, data)
            if replaced is not None:
                _copy_mode(fd, replaced)
            if attributes.mode is not None:
                _set_attributes(fd, attributes)
            elif attributes.mtime_ns is not None:
                _set_time(fd, attributes.mtime_ns)
            if self._folder.is_synced:
                os.fsync(fd)
            made_as = os.fstat(fd)
        except BaseException:
            close_quietly(fd)
            if passing:
                self._aside.remove(PathHandle(place.fd, passing, (), owned=False))
            raise
        return fd, passing, made_as

    def _move_into_place(
        self, fd: int, passing: str | None, place: PathHandle, made_as: os.stat_result, expected: Stamp | None
    ) -> None:
        if passing is None:
            passing = self._folder.make_temporary_name(judged=False)
            aside = PathHandle(self._link_staged(fd, passing, place, made_as), passing, (), owned=False)
        else:
            aside = PathHandle(place.fd, passing, (), owned=False)
        try:
            if expected is None:
                with _as_concurrent_change():
                    self._folder.move_noreplace(aside, place)
            else:
                if is_safe_to_remove(aside.name):  # it is whole by now, and its name will be another one's
                    judged, aside.name = aside.name, self._folder.make_temporary_name(judged=False)
                    self._folder.list_passing(aside.name, made_as.st_ino, aside.fd)
                    os.rename(judged, aside.name, src_dir_fd=aside.fd, dst_dir_fd=aside.fd)
                self._replace(aside, place, made_as, expected)
        except BaseException:
            for name in {aside.name, passing}:
                leftover = PathHandle(aside.fd, name, (), owned=False)
                with contextlib.suppress(OSError):
                    if leftover.stat().st_ino == made_as.st_ino:
                        self._aside.remove(leftover)
            raise

    def _replace(self, aside: PathHandle, place: PathHandle, made_as: os.stat_result, expected: Stamp) -> None:
        """Put a file in the place of another, and look at what came out: nothing is lost that nobody has read."""
        try:
            standing = place.stat()
            if make_stamp(standing) != expected:
                raise ConcurrentChange
            self._folder.list_passing(aside.name, standing.st_ino, aside.fd)
            exchanged = self._folder.exchange(aside, place)
        except FileNotFoundError:
            raise ConcurrentChange from None
        if not exchanged:
            os.rename(aside.name, place.name, src_dir_fd=aside.fd, dst_dir_fd=place.fd)
            return
        try:
            if get_lasting_stamp(make_stamp(aside.stat())) != get_lasting_stamp(expected):
                raise ConcurrentChange
        except BaseException:
            try:
                with as_unconfirmed():
                    self._folder.exchange(aside, place)
                    if aside.stat().st_ino != made_as.st_ino:
                        self._aside.unstage(aside, place)  # and something else had come meanwhile
            except UnconfirmedChange:
                self._aside.keep_hidden()
                raise
            raise
        self._aside.remove(aside)

    def _link_staged(self, fd: int, name: str, place: PathHandle, made_as: os.stat_result) -> int:
        """Name a nameless file outside the folder if that is on the same file system, else beside its place."""
        for directory in (self._folder.state_fd, place.fd):
            try:
                self._folder.list_passing(name, made_as.st_ino, directory)
                link_nameless(fd, name, directory)
            except OSError as error:
                if error.errno != errno.EXDEV or directory == place.fd:
                    raise
            else:
                return directory
        raise AssertionError("unreachable: the place is on the file's own file system")


class ReadOnlyTransaction:
    """A transaction in a folder that is only looked at: every change is refused."""

    is_untidy = False

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    write = delete = rename = make_directory = set_directory_attributes = make_link = remove_empty = _refuse
    make_temporary_path = exchange = unmake = _refuse

    def batch_sync(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def clean_up(self, *, is_known: Callable[[bytes], bool] | None = None, place: MemoryPath = ROOT) -> None:
        pass


@contextmanager
def _as_concurrent_change() -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise ConcurrentChange from None


def _copy_mode(fd: int, replaced: os.stat_result) -> None:
    mine = os.fstat(fd)
    try:
        os.fchmod(fd, stat.S_IMODE(replaced.st_mode))
    except OSError as error:
        if error.errno not in (errno.EPERM, *NO_SUCH_THING) or mine.st_mode != replaced.st_mode:
            raise  # else it has that mode already: one for all files, as on file systems that know no modes
    if (mine.st_uid, mine.st_gid) != (replaced.st_uid, replaced.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(fd, replaced.st_uid, replaced.st_gid)


def _set_time(fd: int, mtime_ns: int) -> None:
    """Give a file that was just made a time, as far as its file system keeps that."""
    try:
        os.utime(fd, ns=(mtime_ns, mtime_ns))
    except OSError as error:
        if error.errno not in (errno.EPERM, *NO_SUCH_THING):
            raise


def _set_attributes(fd: int, attributes: Attributes) -> None:
    """Give an opened file or directory a time and permissions, as far as its file system keeps them.

    The mode comes last: a directory that has it has the time as well.
    """
    seen = os.fstat(fd)
    mode, mtime_ns = attributes
    with _unless_unsupported():
        if mtime_ns is not None:
            os.utime(fd, ns=(seen.st_atime_ns, mtime_ns))
    with _unless_unsupported():
        if mode is not None:
            others = stat.S_IMODE(seen.st_mode) & ~PERMISSIONS  # such as setgid, from the directory above
            os.fchmod(fd, others | mode & PERMISSIONS)


@contextmanager
def _unless_unsupported() -> Iterator[None]:
    """For what not every file system keeps: what is written stands all the same."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EPERM, *NO_SUCH_THING):
            raise


_EACH = 16
"""Paths up to which each is synced by itself; more are left to `syncfs`, which syncs all of the file system at once."""


class FolderStore(WritableFolder):
    """A directory of memory files that may be changed. Every file is moved into place whole."""

    def sync_paths(self, paths: Collection[str]) -> None:
        """See `Store.sync_paths`. What is not there any more is synced with its directory."""
        if len(paths) > _EACH and sync_file_system(self.root.fd):
            return
        for directory, inside in itertools.groupby(sorted(path.rpartition("/")[::2] for path in paths), itemgetter(0)):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, SymlinkEscape):
                fd = self.root.open_directory(tuple(directory.split("/")) if directory else ())
                try:
                    for _, name in inside:
                        sync_file(fd, name)
                    sync_directory(fd)
                finally:
                    close_quietly(fd)

    @contextmanager
    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Iterator[Transaction]:  # noqa: ARG002
        """See `Store.begin_transaction`. The lock is the kernel's: it goes when its process does."""
        if self.state_fd < 0:
            yield ReadOnlyTransaction()
            return
        with hold_lock(self.state_fd, seconds, self._locking), self._keep_attached():
            transaction = FolderTransaction(self)
            try:
                if not self.is_clean and self._is_untidy():
                    self.is_clean = True  # once: what cannot be removed now must not make every command slow
                    with contextlib.suppress(OSError):
                        transaction.clean_up(only_judged=True)
                    self.is_searched = False
                    transaction.is_untidy = self._is_untidy()
                yield transaction
                with contextlib.suppress(OSError):
                    self.passing.forget(all_released=True)
            except UnsettledChange:
                self.is_clean = self.is_searched = False
                self.passing.keep()
                raise
            except Exception:
                with contextlib.suppress(OSError):
                    self.passing.forget()
                raise
            except BaseException:  # an interrupt may leave anything
                self.passing.keep()
                raise

    def _is_untidy(self) -> bool:
        """Whether something was left: as it says in the state directory, or the first time, as is found there."""
        if os.access(UNTIDY, os.F_OK, dir_fd=self.state_fd):
            return True
        if self.is_searched:
            return False
        self.is_searched = True
        with contextlib.suppress(OSError):
            return not self.passing.is_empty() or any(map(self.is_temporary_name, os.listdir(self.state_fd)))
        return False
