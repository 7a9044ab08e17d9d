"""Memories as files in a folder that others write to as well.

Every file is moved into place whole, every call stays below the opened root, and nothing of ours is left in
the folder: what must lie somewhere for a moment lies in the state directory where that is on the same file
system, else under a name that no listing of ours shows and that the next writer removes.
"""

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from memtui.core.errors import FolderMissing, LeavesRoot, Uncertain
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.snapshot import Entry, Kind
from memtui.store.base import Content, Node, NotRegular, Outdated, Stamp, TooLarge, Transaction, Written, lasting
from memtui.store.confined import Moving, Place, Resolver, Root, exchange, let_go, rename_to_free_name
from memtui.store.locks import Locking, held

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOATIME = getattr(os, "O_NOATIME", 0)
_TMPFILE = getattr(os, "O_TMPFILE", 0)
_NAMELESS = "/proc/self/fd"
"""Where a file that has no name can be reached to be given one."""
_TORN_READS = 5
_UNTIDY = "untidy"
"""A file in the state directory that says that something is left that could not be removed."""
_JUDGED, _UNJUDGED = "0", "f"
"""How the last part of a passing name begins: what is not whole yet or may go, and what nobody has looked at since
it was moved aside."""
_NEW_TOKEN = "token."
"""What the name of a token begins with that is not whole yet."""
_TOKEN_SECONDS = 5.0
_GROWN = 1 << 20
"""Bytes by which a file may have grown since it was looked at."""
_RANDOM = re.compile("[0-9a-f]{16}")
_HELD = 64
"""How many directories are held open until they are confirmed together."""
_NO_SUCH_THING = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
"""What a file system answers to a call that it does not know."""
_NAMES = 100
"""How many names are tried for something that has to be put back where something else came meanwhile."""


class FolderStore:
    """A directory of memory files.

    Args:
        path: An existing directory.
        state: A directory outside it, for the lock and for files on their way; made if missing. `None` for a
            folder that is only looked at: every change is refused as on a read-only file system.
        title: What a person calls the folder.
        resolver: How paths are confined; by default as the kernel allows.
        nameless: Whether new files are made without a name (`O_TMPFILE`) where the system can.
        moving: The best way to move things that is tried; see `Moving`.
        locking: How writers exclude each other; by default as the file system of the state directory can.

    Raises:
        FolderMissing: There is no directory at `path`, or it cannot be opened.
    """

    def __init__(
        self,
        path: str,
        state: str | None,
        *,
        title: str = "",
        resolver: Resolver | None = None,
        nameless: bool = True,
        moving: Moving = "renameat2",
        locking: Locking | None = None,
    ) -> None:
        self.title = title or path
        try:
            self.root = Root(os.path.realpath(path), resolver)
        except OSError as error:
            raise FolderMissing(f"{self.title} cannot be opened: {os.strerror(error.errno or 0).lower()}.") from error
        self.path = self.root.path
        self._noatime = _NOATIME
        self._tmpfile = _TMPFILE if nameless and os.path.isdir(_NAMELESS) else 0
        self._moving: Moving = moving
        self._locking = locking
        self._state_root: Root | None = None
        self._state = -1
        self._passing = ""
        self._tidied = False
        if state is not None:
            try:
                os.makedirs(state, mode=0o700, exist_ok=True)
                self._state_root = Root(os.path.realpath(state), self.root.resolver)
                self._state = self._state_root.fd
                self._passing = f".memtui-{_token(self._state, locking)}-"
            except BaseException:
                self.close()
                raise

    @property
    def resolver(self) -> Resolver:
        """How paths are confined: by the kernel's `openat2`, or by our own walk."""
        return self.root.resolver

    @property
    def device(self) -> str:
        """See `Store.device`."""
        return str(self.root.identity[0])

    def close(self) -> None:
        """Close the descriptors."""
        self.root.close()
        if self._state_root is not None:
            self._state_root.close()
            self._state_root, self._state = None, -1

    # Looking

    def node(self, path: MemoryPath, *, follow: bool = False) -> Node | None:
        """See `Store.node`."""
        self._insist_on_root()
        if any(map(self._is_passing, path.parts)):
            return None
        try:
            with self.root.place(path.parts, follow=follow) as place:
                return _node("/".join(place.parts), place.stat())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, path: MemoryPath, *, limit: int) -> Content:
        """See `Store.read`."""
        with self.root.place(path.parts, follow=True) as place:
            if not stat.S_ISREG(place.stat().st_mode):
                raise NotRegular
            fd = self._open_to_read(place)
            try:
                return _read_whole(fd, "/".join(place.parts), limit)
            finally:
                let_go(fd)

    def read_link(self, path: MemoryPath) -> bytes:
        """See `Store.read_link`."""
        with self.root.place(path.parts, follow=False) as place:
            try:
                return os.fsencode(os.readlink(place.name, dir_fd=place.fd))
            except OSError as error:
                if error.errno == errno.EINVAL:
                    raise NotRegular from None
                raise

    def scan(self, below: MemoryPath, *, complete: bool = False) -> Iterator[Node]:
        """See `Store.scan`."""
        if below.is_root:
            self._insist_on_root()
        for directory, entry in self._entries(below.parts, complete=complete):
            try:
                seen = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except PermissionError:
                if complete:
                    raise
                continue  # a directory that may be listed, but not entered
            yield _node(directory + entry.name, seen)

    def names(self) -> Iterator[Entry]:
        """See `Store.names`."""
        self._insist_on_root()
        for directory, entry in self._entries(()):
            if entry.is_dir(follow_symlinks=False):
                kind = Kind.DIRECTORY
            elif entry.is_file(follow_symlinks=False):
                kind = Kind.FILE
            else:
                kind = Kind.LINK if entry.is_symlink() else Kind.OTHER
            yield Entry(directory + entry.name, kind)

    def _entries(
        self,
        parts: tuple[str, ...],
        *,
        complete: bool = False,
        check: Callable[[int], None] = lambda _: None,
        root: Root | None = None,
    ) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
        """Every entry below a directory with its directory's path (empty, or ending in `/`)."""
        root = root or self.root
        top = "/".join(parts)
        todo = [top]
        while todo:
            path = todo.pop()
            try:
                fd = root.open_directory(tuple(path.split("/")) if path else ())
            except (FileNotFoundError, NotADirectoryError, LeavesRoot):
                continue  # gone or replaced meanwhile
            except OSError:
                if complete or path == top:
                    raise
                continue  # not ours to read: its own entry says so
            prefix = path + "/" if path else ""
            inner: list[str] = []
            try:
                check(fd)
                with os.scandir(fd) as entries:
                    for entry in entries:
                        if self._is_passing(entry.name):
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            inner.append(prefix + entry.name)
                        yield prefix, entry
            finally:
                let_go(fd)
            todo += reversed(inner)

    def _open_to_read(self, place: Place) -> int:
        try:
            return os.open(place.name, _READ | self._noatime, dir_fd=place.fd)
        except PermissionError:
            if not self._noatime:
                raise
            return os.open(place.name, _READ, dir_fd=place.fd)  # another's file: its atime is not ours to spare
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise NotRegular from None  # swapped for a link or a socket since it was looked at
            raise

    def _insist_on_root(self) -> None:
        try:
            if self.root.is_there():
                return
        except OSError as error:
            raise FolderMissing(
                f"{self.title} cannot be looked at: {os.strerror(error.errno or 0).lower()}."
            ) from error
        raise FolderMissing(f"{self.title} is not there any more: it was moved, unmounted, deleted or replaced.")

    # Writing

    @contextmanager
    def writing(self, seconds: float) -> Iterator[Transaction]:
        """See `Store.writing`. The lock is the kernel's: it goes when its process does."""
        if self._state < 0:
            yield _NoTransaction()
            return
        with held(self._state, seconds, self._locking):
            self._insist_on_root()
            transaction = _FolderTransaction(self)
            if not self._tidied and os.access(_UNTIDY, os.F_OK, dir_fd=self._state):
                self._tidied = True  # once: what cannot be removed now must not make every command slow
                with contextlib.suppress(OSError):
                    transaction.tidy(only_judged=True)
            yield transaction

    def _passing_name(self, *, judged: bool = True) -> str:
        """A name for a moment; it says whether what has it may be removed without being looked at."""
        return self._passing + (_JUDGED if judged else _UNJUDGED) + secrets.token_hex(8)[1:]

    def _is_passing(self, name: str) -> bool:
        """Whether a name is one of ours for a moment. Nobody else can know one, so nothing can be hidden by it."""
        start = self._passing
        return bool(start) and name.startswith(start) and _RANDOM.fullmatch(name, len(start)) is not None


class _NoTransaction:
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

    @contextmanager
    def together(self) -> Iterator[None]:
        """Nothing can be done in it, and so there is nothing to confirm."""
        yield

    def tidy(self, *, is_known: Callable[[str], bool] | None = None, place: MemoryPath = ROOT) -> None:
        """Nothing is left by those who do not write."""


class _Aside(NamedTuple):
    """Something that was moved out of sight: below which root, where there, and its place."""

    root: Root
    parts: tuple[str, ...]
    place: Place


class _FolderTransaction:
    """Writes to a folder whose lock is held."""

    def __init__(self, store: FolderStore) -> None:
        self._store = store
        self._root = store.root
        self._unconfirmed: dict[tuple[int, int], int] | None = None

    def write(self, path: MemoryPath, data: bytes, *, expected: Stamp | None) -> Written:
        """See `Transaction.write`."""
        with self._making_parents(path) as (place, made):
            try:
                seen = place.stat()
            except FileNotFoundError:
                seen = None
            if (_stamp(seen) if seen else None) != expected:
                raise Outdated
            fd, passing, made_as = self._new_file(place, data, seen)
            try:
                if seen is None and passing is None:
                    with _as_outdated():
                        _give_name(fd, place.name, place.fd)
                else:
                    self._move_into_place(fd, passing, place, made_as, expected)
                with _as_uncertain():
                    now = os.fstat(fd)
                # One that was written to by somebody else since then is left as changed for the next look.
                stands = now if lasting(_stamp(now)) == lasting(_stamp(made_as)) else made_as
                node = _node("/".join(place.parts), stands)
            finally:
                let_go(fd)
            self._sync(place.fd, made)
            return Written(node, made)

    def delete(self, path: MemoryPath, *, expected: Mapping[str, Stamp] | None = None) -> None:
        """See `Transaction.delete`. It is held against what was expected where nobody else can reach it any more."""
        with self._root.place(path.parts, follow=False) as place:
            if stat.S_ISDIR(place.stat().st_mode):
                self._insist_on_emptying(place.parts)
            aside = self._move_aside(place)
            if expected is not None:
                try:
                    self._insist_on_stamps(aside, "/".join(place.parts), expected)
                except BaseException:
                    self._move_back(aside.place, place)
                    raise
            self._remove(aside.place)
            self._sync(place.fd, ())

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:
        """See `Transaction.rename`."""
        with self._root.place(old.parts, follow=False) as source:
            source.stat()
            with self._making_parents(new, follow=False) as (place, made):
                rename_to_free_name(source, place, self._store._moving)
                self._sync(place.fd, made)
                if source.parts[:-1] != place.parts[:-1]:
                    self._sync(source.fd, ())
                return made

    def make_directory(self, path: MemoryPath) -> tuple[str, ...]:
        """See `Transaction.make_directory`."""
        with self._making_parents(path, follow=False) as (place, made):
            os.mkdir(place.name, 0o700, dir_fd=place.fd)
            self._sync(place.fd, made)
            return (*made, "/".join(place.parts))

    def make_link(self, path: MemoryPath, target: bytes) -> Written:
        """See `Transaction.make_link`."""
        with self._making_parents(path, follow=False) as (place, made):
            if b"\0" in target:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
            os.symlink(target, place.name, dir_fd=place.fd)
            with _as_uncertain():
                node = _node("/".join(place.parts), place.stat())
            self._sync(place.fd, made)
            return Written(node, made)

    def remove_empty(self, path: MemoryPath) -> None:
        """See `Transaction.remove_empty`."""
        with self._root.place(path.parts, follow=False) as place:
            try:
                os.rmdir(place.name, dir_fd=place.fd)
            except OSError as error:
                if error.errno != errno.ENOTEMPTY or not self._has_tidied(place):
                    raise
                os.rmdir(place.name, dir_fd=place.fd)
            self._sync(place.fd, ())

    @contextmanager
    def together(self) -> Iterator[None]:
        """See `Transaction.together`."""
        if self._unconfirmed is not None:
            yield  # whoever began it ends it
            return
        self._unconfirmed = {}
        try:
            yield
        finally:
            touched, self._unconfirmed = list(self._unconfirmed.values()), None
            _confirm_all(touched)

    def tidy(
        self,
        *,
        is_known: Callable[[str], bool] | None = None,
        place: MemoryPath = ROOT,
        only_judged: bool = False,
    ) -> None:
        """See `Transaction.tidy`. Every directory is searched: things may wait beside their places."""

        def tend(aside: _Aside) -> bool:
            if is_known is not None and not _is_judged(aside.place.name) and self._holds_unknown(aside, is_known):
                self._put_back(aside, place)
                return True
            return self._remove(aside.place)

        state = self._store._state_root
        assert state is not None
        tidied = self._tidy(state, (), tend, only_judged)
        tidied &= self._tidy(self._root, (), tend, only_judged)
        for node in self._store.scan(ROOT):
            if node.kind is Kind.DIRECTORY:
                try:
                    tidied &= self._tidy(self._root, tuple(node.path.split("/")), tend, only_judged)
                except (FileNotFoundError, NotADirectoryError, PermissionError, LeavesRoot):
                    continue  # gone meanwhile, or not ours to write to
                except OSError:
                    tidied = False
        if not tidied:
            self._note_untidy()
            return
        with contextlib.suppress(OSError):
            os.unlink(_UNTIDY, dir_fd=self._store._state)

    def _tidy(self, root: Root, parts: tuple[str, ...], tend: Callable[["_Aside"], bool], only_judged: bool) -> bool:
        """Tend to all that was left in a directory; whether nothing is left.

        Raises:
            OSError: Nobody can tell.
        """
        fd = root.open_directory(parts)
        tidied = True
        try:
            for name in os.listdir(fd):
                if self._store._is_passing(name) and (_is_judged(name) or not only_judged):
                    try:
                        tidied &= tend(_Aside(root, (*parts, name), Place(fd, name, (), owned=False)))
                    except OSError:
                        tidied = False  # it stays out of sight
        finally:
            let_go(fd)
        return tidied

    def _holds_unknown(self, aside: "_Aside", is_known: Callable[[str], bool]) -> bool:
        """Whether something that was moved aside holds a text, or is a link, that is kept nowhere else."""
        try:
            return self._is_unknown(aside, is_known)
        except FileNotFoundError:
            return False
        except OSError:
            return True  # nobody can tell, so it is not for us to remove

    def _is_unknown(self, aside: "_Aside", is_known: Callable[[str], bool]) -> bool:
        top = aside.place.stat()
        below = self._below(aside) if stat.S_ISDIR(top.st_mode) else ()
        for path, seen in (("", top), *below):
            parts = (*aside.parts, *path.split("/")) if path else aside.parts
            with aside.root.place(parts, follow=False) as place:
                held = b""
                if stat.S_ISLNK(seen.st_mode):
                    held = os.fsencode(os.readlink(place.name, dir_fd=place.fd))
                elif stat.S_ISREG(seen.st_mode):
                    fd = os.open(place.name, _READ, dir_fd=place.fd)
                    try:
                        held = _read_whole(fd, path, seen.st_size + _GROWN).data
                    finally:
                        let_go(fd)
            if held and not is_known(hashlib.sha256(held).hexdigest()):
                return True
        return False

    def _put_back(self, aside: "_Aside", path: MemoryPath) -> None:
        """Put something back that nobody has looked at, at its place or beside it, or at the top if that is gone."""
        for parts in (path.parts, path.parts[-1:], ("recovered",)):
            if parts:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError, LeavesRoot):
                    with self._root.place(parts, follow=False) as place:
                        self._move_back(aside.place, place)
                        self._sync(place.fd, ())
                    return

    def _insist_on_emptying(self, parts: tuple[str, ...]) -> None:
        """Refuse before anything has moved what could only be removed in part.

        Raises:
            PermissionError: Somebody has forbidden writing to a directory inside.
        """

        def insist(fd: int) -> None:
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=fd, effective_ids=True):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        for _ in self._store._entries(parts, complete=True, check=insist):
            pass

    def _insist_on_stamps(self, aside: "_Aside", path: str, expected: Mapping[str, Stamp]) -> None:
        """Compare what was moved aside, and all in it, with what was seen at its place.

        Raises:
            Outdated: Something was changed, put there or taken away meanwhile.
        """
        top = aside.place.stat()
        if path not in expected or lasting(_node(path, top).stamp) != lasting(expected[path]):
            raise Outdated
        left = set(expected) - {path}
        if stat.S_ISDIR(top.st_mode):
            for below, seen in self._below(aside):
                inner = f"{path}/{below}"
                if inner not in left or _node(inner, seen).stamp != expected[inner]:
                    raise Outdated
                left.remove(inner)
        if left:
            raise Outdated

    def _below(self, aside: "_Aside") -> Iterator[tuple[str, os.stat_result]]:
        """Everything in a directory that was moved aside, with its path from there."""
        start = len("/".join(aside.parts)) + 1
        for directory, entry in self._store._entries(aside.parts, complete=True, root=aside.root):
            yield (directory + entry.name)[start:], entry.stat(follow_symlinks=False)

    def _remove(self, aside: Place) -> bool:
        """Remove what is out of sight already; what cannot be removed now waits for the next one who opens it."""
        try:
            _remove_tree(aside.fd, aside.name, self._store._passing_name)
        except OSError:
            self._store._tidied = False
            if not _is_judged(aside.name):
                with contextlib.suppress(OSError):
                    judged = self._store._passing_name()
                    os.rename(aside.name, judged, src_dir_fd=aside.fd, dst_dir_fd=aside.fd)
            self._note_untidy()
            return False
        return True

    def _note_untidy(self) -> None:
        """Have the next one who opens the folder tidy."""
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            let_go(os.open(_UNTIDY, flags, 0o600, dir_fd=self._store._state))

    def _move_back(self, aside: Place, place: Place) -> None:
        """Put something back that should not have been moved: to a name beside its own if that is taken again."""
        for number in range(_NAMES):
            free = place.name if number == 0 else f"{_cut(place.name)}~{number}"
            try:
                rename_to_free_name(aside, Place(place.fd, free, (), owned=False), self._store._moving)
            except FileExistsError:
                continue
            return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    def _has_tidied(self, place: Place) -> bool:
        """Remove what a killed writer has left in a directory; whether there was anything."""
        seen: list[bool] = []

        def remove(aside: _Aside) -> bool:
            seen.append(self._remove(aside.place))
            return seen[-1]

        return self._tidy(self._root, place.parts, remove, only_judged=True) and bool(seen)

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
        if self._store._tmpfile and self._store._moving != "placeholder":
            try:
                fd = os.open(".", self._store._tmpfile | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=place.fd)
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
                    raise
                self._store._tmpfile = 0
        if fd < 0:
            passing = self._store._passing_name()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(passing, flags, 0o600, dir_fd=place.fd)
        try:
            _write_all(fd, data)
            if replaced is not None:
                _take_over_mode(fd, replaced)
            os.fsync(fd)
            made_as = os.fstat(fd)
        except BaseException:
            let_go(fd)
            if passing:
                self._remove(Place(place.fd, passing, (), owned=False))
            raise
        return fd, passing, made_as

    def _move_into_place(
        self, fd: int, passing: str | None, place: Place, made_as: os.stat_result, expected: Stamp | None
    ) -> None:
        if passing is None:
            passing = self._store._passing_name(judged=False)
            aside = Place(self._link_aside(fd, passing, place), passing, (), owned=False)
        else:
            aside = Place(place.fd, passing, (), owned=False)
        try:
            if expected is None:
                with _as_outdated():
                    rename_to_free_name(aside, place, self._store._moving)
            else:
                if _is_judged(aside.name):  # it is whole by now, and its name will be another one's
                    judged, aside.name = aside.name, self._store._passing_name(judged=False)
                    os.rename(judged, aside.name, src_dir_fd=aside.fd, dst_dir_fd=aside.fd)
                self._replace(aside, place, made_as, expected)
        except BaseException:
            for name in {aside.name, passing}:
                left = Place(aside.fd, name, (), owned=False)
                with contextlib.suppress(OSError):
                    if left.stat().st_ino == made_as.st_ino:
                        self._remove(left)
            raise

    def _replace(self, aside: Place, place: Place, made_as: os.stat_result, expected: Stamp) -> None:
        """Put a file in the place of another, and look at what came out: nothing is lost that nobody has read."""
        try:
            if _stamp(place.stat()) != expected:
                raise Outdated
            exchanged = self._store._moving == "renameat2" and exchange(aside, place)
        except FileNotFoundError:
            raise Outdated from None
        if not exchanged:
            os.rename(aside.name, place.name, src_dir_fd=aside.fd, dst_dir_fd=place.fd)
            return
        try:
            if lasting(_stamp(aside.stat())) != lasting(expected):
                raise Outdated
        except BaseException:
            with _as_uncertain():
                exchange(aside, place)
                if aside.stat().st_ino != made_as.st_ino:
                    self._move_back(aside, place)  # and something else had come meanwhile
            raise
        self._remove(aside)

    def _link_aside(self, fd: int, name: str, place: Place) -> int:
        """Name a nameless file outside the folder if that is on the same file system, else beside its place."""
        for directory in (self._store._state, place.fd):
            try:
                _give_name(fd, name, directory)
            except OSError as error:
                if error.errno != errno.EXDEV or directory == place.fd:
                    raise
            else:
                return directory
        raise AssertionError("unreachable: the place is on the file's own file system")

    def _move_aside(self, place: Place) -> "_Aside":
        name = self._store._passing_name(judged=False)
        state, beside = self._store._state_root, (*place.parts[:-1], name)
        assert state is not None
        for root, fd, parts in (
            (state, state.fd, (name,)),
            (self._root, self._root.fd, (name,)),
            (self._root, place.fd, beside),
        ):
            try:
                os.rename(place.name, name, src_dir_fd=place.fd, dst_dir_fd=fd)
            except OSError as error:
                if error.errno != errno.EXDEV or fd == place.fd:
                    raise
            else:
                return _Aside(root, parts, Place(fd, name, (), owned=False))
        raise AssertionError("unreachable: a name beside it is on its own file system")

    def _sync(self, fd: int, made: tuple[str, ...]) -> None:
        """Have the system confirm a directory, and the parents of directories just made."""
        with _as_uncertain():
            self._confirm(fd)
            for directory in made:
                with self._root.place(directory.split("/"), follow=False) as place:
                    self._confirm(place.fd)

    def _confirm(self, fd: int) -> None:
        """Have the system confirm a directory: now, or at the end of what is done together.

        Until then it is held open, so that it is this one that is confirmed, wherever it has gone meanwhile.
        """
        if self._unconfirmed is None:
            _sync_directory(fd)
            return
        seen = os.fstat(fd)
        identity = (seen.st_dev, seen.st_ino)
        held = self._unconfirmed.pop(identity, None)
        if held is None:
            if len(self._unconfirmed) >= _HELD:
                _confirm_all([self._unconfirmed.pop(next(iter(self._unconfirmed)))])
            held = os.dup(fd)
        self._unconfirmed[identity] = held  # the last one touched is the last one


def _read_only() -> OSError:
    return OSError(errno.EROFS, os.strerror(errno.EROFS))


@contextmanager
def _as_outdated() -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise Outdated from None


@contextmanager
def _as_uncertain() -> Iterator[None]:
    """For what comes after the move: the change stands already."""
    try:
        yield
    except OSError as error:
        raise Uncertain(os.strerror(error.errno or 0)) from error


def _sync_directory(fd: int) -> None:
    """Have the system confirm what stands in a directory, where it can: some file systems know no such thing."""
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _NO_SUCH_THING:
            raise


def _confirm_all(directories: list[int]) -> None:
    """Confirm each of several directories, also if one fails, and close them.

    Raises:
        Uncertain: One of them failed.
    """
    failed: OSError | None = None
    for fd in directories:
        try:
            _sync_directory(fd)
        except OSError as error:
            failed = error
        finally:
            let_go(fd)
    with _as_uncertain():
        if failed is not None:
            raise failed


def _token(state: int, locking: Locking | None) -> str:
    """What the names of files on their way begin with: drawn by lot once, and kept where no agent can read it."""
    token = _read_token(state)
    if token is None:
        with held(state, _TOKEN_SECONDS, locking):  # so that one process makes it, and clears away what a dead one left
            token = _read_token(state) or _make_token(state)
    return token


def _read_token(state: int) -> str | None:
    """The token; `None` if there is none, or a damaged one."""
    try:
        fd = os.open("token", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=state)
    except FileNotFoundError:
        return None
    try:
        token = os.read(fd, 64).decode("ascii", "replace")
    finally:
        let_go(fd)
    return token if _RANDOM.fullmatch(token) else None


def _make_token(state: int) -> str:
    for name in os.listdir(state):
        if name.startswith(_NEW_TOKEN):
            os.unlink(name, dir_fd=state)
    token, passing = secrets.token_hex(8), _NEW_TOKEN + secrets.token_hex(8)
    fd = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=state)
    try:
        _write_all(fd, token.encode())
        os.rename(passing, "token", src_dir_fd=state, dst_dir_fd=state)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(passing, dir_fd=state)
        raise
    finally:
        let_go(fd)
    return token


def _cut(name: str) -> str:
    """A name with room for a number after it."""
    return os.fsdecode(os.fsencode(name)[:250])


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _is_judged(name: str) -> bool:
    """Whether what has a passing name may be removed without being looked at."""
    return name[-16] == _JUDGED


def _give_name(fd: int, name: str, directory: int) -> None:
    """Give a nameless file a name that must be free."""
    os.link(f"{_NAMELESS}/{fd}", name, dst_dir_fd=directory, follow_symlinks=True)


def _take_over_mode(fd: int, replaced: os.stat_result) -> None:
    mine = os.fstat(fd)
    try:
        os.fchmod(fd, stat.S_IMODE(replaced.st_mode))
    except OSError as error:
        if error.errno not in (errno.EPERM, *_NO_SUCH_THING) or mine.st_mode != replaced.st_mode:
            raise  # else it has that mode already: one for all files, as on file systems that know no modes
    if (mine.st_uid, mine.st_gid) != (replaced.st_uid, replaced.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(fd, replaced.st_uid, replaced.st_gid)


def _remove_tree(fd: int, name: str, passing_name: Callable[[], str]) -> None:
    """Remove a tree that is out of sight already. Inner directories are first moved up, so depth costs nothing."""
    todo = [name]
    while todo:
        top = todo.pop()
        try:
            inner = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        except NotADirectoryError:
            os.unlink(top, dir_fd=fd)
            continue
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            os.unlink(top, dir_fd=fd)
            continue
        try:
            with os.scandir(inner) as entries:
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
            for entry_name, is_directory in found:
                if is_directory:
                    todo.append(moved := passing_name())
                    os.rename(entry_name, moved, src_dir_fd=inner, dst_dir_fd=fd)
                else:
                    os.unlink(entry_name, dir_fd=inner)
        finally:
            let_go(inner)
        os.rmdir(top, dir_fd=fd)


def _read_whole(fd: int, path: str, limit: int) -> Content:
    """Read a file that others may be writing: again, if it changed while it was read."""
    for _ in range(_TORN_READS):
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            raise NotRegular
        if before.st_size > limit:
            raise TooLarge(before.st_size)
        data = os.pread(fd, before.st_size + 1, 0)
        while 0 < len(data) <= limit and (more := os.pread(fd, 1 << 20, len(data))):
            data += more
        after = os.fstat(fd)
        if _stamp(after) == _stamp(before) and len(data) == after.st_size:
            break
    return Content(data, _node(path, after))


def _node(path: str, seen: os.stat_result) -> Node:
    mode = seen.st_mode
    if stat.S_ISREG(mode):
        return Node(path, Kind.FILE, seen.st_size, seen.st_mtime_ns, _stamp(seen))
    if stat.S_ISDIR(mode):
        return Node(path, Kind.DIRECTORY, 0, seen.st_mtime_ns, (seen.st_ino,))
    kind = Kind.LINK if stat.S_ISLNK(mode) else Kind.OTHER
    return Node(path, kind, 0, seen.st_mtime_ns, _stamp(seen))


def _stamp(seen: os.stat_result) -> Stamp:
    return (seen.st_ctime_ns, seen.st_size, seen.st_mtime_ns, seen.st_ino)  # see `lasting`: a move changes the first
