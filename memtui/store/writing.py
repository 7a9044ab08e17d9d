"""The right to write to a folder: every file is made whole, and moved into its place in one step."""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from memtui.core.errors import Uncertain
from memtui.core.paths import ROOT, MemoryPath
from memtui.store.aside import Aside, MovingAside
from memtui.store.base import Outdated, Stamp, Written, lasting
from memtui.store.confined import Place, let_go
from memtui.store.confirming import NO_SUCH_THING, Confirming, as_uncertain
from memtui.store.names import is_judged
from memtui.store.nodes import node_of, stamp_of, write_all
from memtui.store.tidying import Tidying
from memtui.store.writable import Writable

_TMPFILE = getattr(os, "O_TMPFILE", 0)
_NAMELESS = "/proc/self/fd"
"""Where a file that has no name can be reached to be given one."""


def nameless_flag() -> int:
    """The flag by which a file is made that has no name yet; 0 where the system cannot, or could not name it later."""
    return _TMPFILE if os.path.isdir(_NAMELESS) else 0


class FolderTransaction:
    """Writes to a folder whose lock is held. See `Transaction`.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Writable) -> None:
        self._folder = folder
        self._root = folder.root
        self._confirming = Confirming(folder.root)
        self._aside = MovingAside(folder)
        self._tidying = Tidying(folder, self._aside, self._confirming)

    def write(self, path: MemoryPath, data: bytes, *, expected: Stamp | None) -> Written:
        """See `Transaction.write`."""
        with self._making_parents(path) as (place, made):
            try:
                seen = place.stat()
            except FileNotFoundError:
                seen = None
            if (stamp_of(seen) if seen else None) != expected:
                raise Outdated
            fd, passing, made_as = self._new_file(place, data, seen)
            try:
                if seen is None and passing is None:
                    with _as_outdated():
                        _give_name(fd, place.name, place.fd)
                else:
                    self._move_into_place(fd, passing, place, made_as, expected)
                with as_uncertain():
                    now = os.fstat(fd)
                # One that was written to by somebody else since then is left as changed for the next look.
                stands = now if lasting(stamp_of(now)) == lasting(stamp_of(made_as)) else made_as
                node = node_of("/".join(place.parts), stands)
            finally:
                let_go(fd)
            self._confirming.sync(place.fd, made)
            return Written(node, made)

    def delete(self, path: MemoryPath, *, expected: Mapping[str, Stamp] | None = None) -> None:
        """See `Transaction.delete`. It is held against what was expected where nobody else can reach it any more."""
        with self._root.place(path.parts, follow=False) as place:
            if stat.S_ISDIR(place.stat().st_mode):
                self._insist_on_emptying(place.parts)
            aside = self._aside.move_aside(place)
            if expected is not None:
                try:
                    self._insist_on_stamps(aside, "/".join(place.parts), expected)
                except BaseException:
                    self._aside.move_back(aside.place, place)
                    raise
            self._aside.remove(aside.place)
            self._confirming.sync(place.fd, ())

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:
        """See `Transaction.rename`."""
        with self._root.place(old.parts, follow=False) as source:
            source.stat()
            with self._making_parents(new, follow=False) as (place, made):
                self._folder.move_to_free_name(source, place)
                self._confirming.sync(place.fd, made)
                if source.parts[:-1] != place.parts[:-1]:
                    self._confirming.sync(source.fd, ())
                return made

    def make_directory(self, path: MemoryPath) -> tuple[str, ...]:
        """See `Transaction.make_directory`."""
        with self._making_parents(path, follow=False) as (place, made):
            os.mkdir(place.name, 0o700, dir_fd=place.fd)
            self._confirming.sync(place.fd, made)
            return (*made, "/".join(place.parts))

    def make_link(self, path: MemoryPath, target: bytes) -> Written:
        """See `Transaction.make_link`."""
        with self._making_parents(path, follow=False) as (place, made):
            if b"\0" in target:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
            os.symlink(target, place.name, dir_fd=place.fd)
            with as_uncertain():
                node = node_of("/".join(place.parts), place.stat())
            self._confirming.sync(place.fd, made)
            return Written(node, made)

    def remove_empty(self, path: MemoryPath) -> None:
        """See `Transaction.remove_empty`."""
        with self._root.place(path.parts, follow=False) as place:
            try:
                os.rmdir(place.name, dir_fd=place.fd)
            except OSError as error:
                if error.errno != errno.ENOTEMPTY or not self._tidying.has_tidied(place):
                    raise
                os.rmdir(place.name, dir_fd=place.fd)
            self._confirming.sync(place.fd, ())

    def passing(self, path: MemoryPath) -> MemoryPath:
        """See `Transaction.passing`."""
        return MemoryPath((*path.parts[:-1], self._folder.passing_name(judged=False)))

    def exchange(self, one: MemoryPath, other: MemoryPath) -> bool:
        """See `Transaction.exchange`."""
        with self._root.place(one.parts, follow=False) as here, self._root.place(other.parts, follow=False) as there:
            if not self._folder.exchange(here, there):
                return False
            self._confirming.sync(here.fd, ())
            if here.parts[:-1] != there.parts[:-1]:
                self._confirming.sync(there.fd, ())
            return True

    def together(self) -> AbstractContextManager[None]:
        """See `Transaction.together`."""
        return self._confirming.together()

    def tidy(
        self,
        *,
        is_known: Callable[[str], bool] | None = None,
        place: MemoryPath = ROOT,
        only_judged: bool = False,
    ) -> None:
        """See `Transaction.tidy`; with `only_judged` what nobody has looked at is left alone."""
        self._tidying.tidy(is_known=is_known, place=place, only_judged=only_judged)

    def _insist_on_emptying(self, parts: tuple[str, ...]) -> None:
        """Refuse before anything has moved what could only be removed in part.

        Raises:
            PermissionError: Somebody has forbidden writing to a directory inside.
        """

        def insist(fd: int) -> None:
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=fd, effective_ids=True):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        for _ in self._folder.entries(parts, complete=True, check=insist):
            pass

    def _insist_on_stamps(self, aside: Aside, path: str, expected: Mapping[str, Stamp]) -> None:
        """Compare what was moved aside, and all in it, with what was seen at its place.

        Raises:
            Outdated: Something was changed, put there or taken away meanwhile.
        """
        top = aside.place.stat()
        if path not in expected or lasting(node_of(path, top).stamp) != lasting(expected[path]):
            raise Outdated
        left = set(expected) - {path}
        if stat.S_ISDIR(top.st_mode):
            for below, seen in self._aside.below(aside):
                inner = f"{path}/{below}"
                if inner not in left or node_of(inner, seen).stamp != expected[inner]:
                    raise Outdated
                left.remove(inner)
        if left:
            raise Outdated

    @contextmanager
    def _making_parents(self, path: MemoryPath, *, follow: bool = True) -> Iterator[tuple[Place, tuple[str, ...]]]:
        """The place of a path whose parents are made if missing, and unmade again if the body fails."""
        made: list[str] = []
        try:
            try:
                place = self._root.place(path.parts, follow=follow)
            except FileNotFoundError:
                for depth in range(1, len(path.parts)):
                    parent = self._root.place(path.parts[:depth], follow=True)
                    with parent, contextlib.suppress(FileExistsError):
                        os.mkdir(parent.name, 0o700, dir_fd=parent.fd)
                        made.append("/".join(parent.parts))
                place = self._root.place(path.parts, follow=follow)
            with place:
                yield place, tuple(made)
        except Uncertain:
            raise
        except BaseException:
            for directory in reversed(made):
                with contextlib.suppress(OSError), self._root.place(directory.split("/"), follow=False) as unmade:
                    os.rmdir(unmade.name, dir_fd=unmade.fd)
            raise

    def _new_file(
        self, place: Place, data: bytes, replaced: os.stat_result | None
    ) -> tuple[int, str | None, os.stat_result]:
        """A whole, synced file on the file system of its place.

        Returns:
            A descriptor, a name unless it has none yet, and how it looks.
        """
        fd, passing = -1, None
        if self._folder.tmpfile and self._folder.moving != "placeholder":
            try:
                fd = os.open(".", self._folder.tmpfile | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=place.fd)
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
                    raise
                self._folder.tmpfile = 0
        if fd < 0:
            passing = self._folder.passing_name()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(passing, flags, 0o600, dir_fd=place.fd)
        try:
            write_all(fd, data)
            if replaced is not None:
                _take_over_mode(fd, replaced)
            os.fsync(fd)
            made_as = os.fstat(fd)
        except BaseException:
            let_go(fd)
            if passing:
                self._aside.remove(Place(place.fd, passing, (), owned=False))
            raise
        return fd, passing, made_as

    def _move_into_place(
        self, fd: int, passing: str | None, place: Place, made_as: os.stat_result, expected: Stamp | None
    ) -> None:
        if passing is None:
            passing = self._folder.passing_name(judged=False)
            aside = Place(self._link_aside(fd, passing, place), passing, (), owned=False)
        else:
            aside = Place(place.fd, passing, (), owned=False)
        try:
            if expected is None:
                with _as_outdated():
                    self._folder.move_to_free_name(aside, place)
            else:
                if is_judged(aside.name):  # it is whole by now, and its name will be another one's
                    judged, aside.name = aside.name, self._folder.passing_name(judged=False)
                    os.rename(judged, aside.name, src_dir_fd=aside.fd, dst_dir_fd=aside.fd)
                self._replace(aside, place, made_as, expected)
        except BaseException:
            for name in {aside.name, passing}:
                left = Place(aside.fd, name, (), owned=False)
                with contextlib.suppress(OSError):
                    if left.stat().st_ino == made_as.st_ino:
                        self._aside.remove(left)
            raise

    def _replace(self, aside: Place, place: Place, made_as: os.stat_result, expected: Stamp) -> None:
        """Put a file in the place of another, and look at what came out: nothing is lost that nobody has read."""
        try:
            if stamp_of(place.stat()) != expected:
                raise Outdated
            exchanged = self._folder.exchange(aside, place)
        except FileNotFoundError:
            raise Outdated from None
        if not exchanged:
            os.rename(aside.name, place.name, src_dir_fd=aside.fd, dst_dir_fd=place.fd)
            return
        try:
            if lasting(stamp_of(aside.stat())) != lasting(expected):
                raise Outdated
        except BaseException:
            with as_uncertain():
                self._folder.exchange(aside, place)
                if aside.stat().st_ino != made_as.st_ino:
                    self._aside.move_back(aside, place)  # and something else had come meanwhile
            raise
        self._aside.remove(aside)

    def _link_aside(self, fd: int, name: str, place: Place) -> int:
        """Name a nameless file outside the folder if that is on the same file system, else beside its place."""
        for directory in (self._folder.state_fd, place.fd):
            try:
                _give_name(fd, name, directory)
            except OSError as error:
                if error.errno != errno.EXDEV or directory == place.fd:
                    raise
            else:
                return directory
        raise AssertionError("unreachable: the place is on the file's own file system")


class NoTransaction:
    """What writing means in a folder that is only looked at."""

    def write(self, path: MemoryPath, data: bytes, *, expected: Stamp | None) -> Written:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    def delete(self, path: MemoryPath, *, expected: Mapping[str, Stamp] | None = None) -> None:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    def make_directory(self, path: MemoryPath) -> tuple[str, ...]:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    def make_link(self, path: MemoryPath, target: bytes) -> Written:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    def remove_empty(self, path: MemoryPath) -> None:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    def passing(self, path: MemoryPath) -> MemoryPath:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    def exchange(self, one: MemoryPath, other: MemoryPath) -> bool:  # noqa: ARG002
        """Refused."""
        raise _read_only()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Nothing can be done in it, and so there is nothing to confirm."""
        yield

    def tidy(self, *, is_known: Callable[[str], bool] | None = None, place: MemoryPath = ROOT) -> None:
        """Nothing is left by those who do not write."""


def _read_only() -> OSError:
    return OSError(errno.EROFS, os.strerror(errno.EROFS))


@contextmanager
def _as_outdated() -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise Outdated from None


def _give_name(fd: int, name: str, directory: int) -> None:
    """Give a nameless file a name that must be free."""
    os.link(f"{_NAMELESS}/{fd}", name, dst_dir_fd=directory, follow_symlinks=True)


def _take_over_mode(fd: int, replaced: os.stat_result) -> None:
    mine = os.fstat(fd)
    try:
        os.fchmod(fd, stat.S_IMODE(replaced.st_mode))
    except OSError as error:
        if error.errno not in (errno.EPERM, *NO_SUCH_THING) or mine.st_mode != replaced.st_mode:
            raise  # else it has that mode already: one for all files, as on file systems that know no modes
    if (mine.st_uid, mine.st_gid) != (replaced.st_uid, replaced.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(fd, replaced.st_uid, replaced.st_gid)
