"""An opened memory folder: reading it, and the calls that writing to it is made of.

Every call stays below the opened root. A file that must lie somewhere for a moment lies in the state directory where
that is on the same file system, else under a temporary name that the next writer removes. No listing shows it as long
as the state directory says that it is ours, by its inode (`PassingFiles`): who has seen such a name can hide nothing.
"""

import contextlib
import errno
import os
import re
import stat
import threading
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager

from memtui.core.errors import FolderMissing, SymlinkEscape
from memtui.core.events import EntryKind, FolderEntry
from memtui.core.paths import MemoryPath
from memtui.fs.atomic import get_nameless_flag
from memtui.fs.beneath import Moving, PathHandle, Resolver, RootDirectory, close_quietly, exchange, rename_noreplace
from memtui.fs.locks import Locking, hold_lock
from memtui.fs.no_atime import open_without_atime
from memtui.store.base import (
    READ,
    FileContent,
    FileTooLarge,
    Node,
    NotRegularFile,
    make_node,
    read_consistently,
    write_all,
)

# Temporary names, and the token that marks them as ours.

_JUDGED, _UNJUDGED = "0", "f"
"""How the last part of a passing name begins: what is not whole yet or may go, and what nobody has looked at since
it was moved aside."""
_START = ".memtui-"
_PASSING = "passing"
"""The file of the state directory that lists our temporary names in the folder."""
_MADE, _PLACEHOLDER = "made:", "placeholder:"
"""How a line of it begins that names a directory, in hexadecimal; one that holds the place of what is moved there."""
_TORN = "?"
"""How a line of it ends that was not written to its end."""
_NEW_TOKEN = "token."
"""What the name of a token begins with that is not whole yet."""
_TOKEN_SECONDS = 5.0
_RANDOM = re.compile("[0-9a-f]{16}")


def _make_temporary_prefix(state: int, locking: Locking | None) -> str:
    """The prefix of a folder's temporary names: drawn by lot once, and kept where no agent can read it."""
    token = _read_token(state)
    if token is None:
        with hold_lock(state, _TOKEN_SECONDS, locking):  # one process makes it, and removes a dead one's
            token = _read_token(state) or _make_token(state)
    return f"{_START}{token}-"


def _read_temporary_prefix(state: str) -> str:
    """The prefix as far as a reader of the state directory can know it; empty if not."""
    try:
        fd = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            token = _read_token(fd)
        finally:
            close_quietly(fd)
    except OSError:
        return ""
    return "" if token is None else f"{_START}{token}-"


class PassingFiles:
    """What a writer has in the folder until it is done, in a file of the state directory.

    Files that have a temporary name, and directories that it has made. A writer, who holds the lock, adds a line before
    one appears, and takes its lines away once all have gone, or stay. What a killed one leaves stays listed until it is
    removed.

    Args:
        state: The state directory, by its path where there is no descriptor of it.
    """

    def __init__(self, state: str | int) -> None:
        self._path = os.path.join(state, _PASSING) if isinstance(state, str) else _PASSING
        self._directory = state if isinstance(state, int) else None
        self._fd = -1
        self._start = -1
        self._is_released = False

    def add(self, name: str, inode: int | None = None) -> None:
        """List a name; without an inode, which is not known yet, whatever has it is ours. Raises `OSError`."""
        self._append(f"{name} {'' if inode is None else inode}\n")

    def add_made(self, path: str, inode: int | None = None, *, is_placeholder: bool = False) -> None:
        """List a directory that is about to be made, and once it is, with its inode. Raises `OSError`."""
        kind = _PLACEHOLDER if is_placeholder else _MADE
        self._append(f"{kind}{os.fsencode(path).hex()} {'' if inode is None else inode}\n")

    def get_made(self, *, are_placeholders: bool = False) -> dict[str, int | None]:
        """The directories that are listed, with their inodes as far as they are known. Raises `OSError`."""
        made: dict[str, int | None] = {}
        for line in self._read_lines():
            kind, colon, rest = line.partition(b":")
            if kind + colon in (
                {_PLACEHOLDER.encode()} if are_placeholders else {_PLACEHOLDER.encode(), _MADE.encode()}
            ):
                encoded, _, inode = rest.partition(b" ")
                with contextlib.suppress(ValueError):
                    made[os.fsdecode(bytes.fromhex(encoded.decode("ascii")))] = int(inode) if inode else None
        return made

    def is_empty(self) -> bool:
        """Whether nothing is listed, as far as that can be known."""
        try:
            return not os.stat(self._path, dir_fd=self._directory, follow_symlinks=False).st_size
        except OSError:
            return True

    def _append(self, line: str) -> None:
        if self._fd < 0:
            self._open()
        if self._start < 0:
            self._start = os.fstat(self._fd).st_size
            if self._start:
                line = f"{_TORN}\n{line}"  # the last line may be one whose writer was killed
        write_all(self._fd, line.encode())

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._fd = os.open(self._path, flags, 0o600, dir_fd=self._directory)

    def _read_lines(self) -> list[bytes]:
        """What is listed, line by line; without a torn one. Raises `OSError`."""
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            fd = open_without_atime(self._path, flags, directory=self._directory)
        except FileNotFoundError:
            return []
        with open(fd, "rb") as file:
            return [line for line in file.read().split(b"\n")[:-1] if not line.endswith(_TORN.encode())]

    def release(self) -> None:
        """Have the next `forget` take away whatever is listed: nothing of it has its name any more, or is to go."""
        self._is_released = True

    def forget(self, *, all_released: bool = False) -> None:
        """Take away what was listed since the last time, or all that was released. Raises `OSError`."""
        start = 0 if all_released and self._is_released else self._start
        self._is_released = False
        if start == 0 and self._fd < 0:
            self._open()
        if start >= 0:
            os.ftruncate(self._fd, start)
            self._start = -1

    def keep(self) -> None:
        """Leave listed what was listed until now: something of it could not be removed."""
        self._start = -1
        self._is_released = False

    def has(self, name: str, inode: int | None = None) -> bool:
        """Whether a name is listed, with that inode if one is given."""
        try:
            lines = [line.split(b" ") for line in self._read_lines() if line.startswith(name.encode() + b" ")]
        except OSError:
            return False
        known = {line[-1] for line in lines} - {b""}
        return bool(lines) and (inode is None or not known or str(inode).encode() in known)

    def close(self) -> None:
        """Nothing is listed any more, for who holds this."""
        if self._fd >= 0:
            close_quietly(self._fd)
            self._fd = -1
        self._directory = -1


def is_safe_to_remove(name: str) -> bool:
    """Whether what has a passing name may be removed without being looked at."""
    return name[-16] == _JUDGED


def _read_token(state: int) -> str | None:
    try:
        fd = open_without_atime("token", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW, directory=state)
    except FileNotFoundError:
        return None
    try:
        token = os.read(fd, 64).decode("ascii", "replace")
    finally:
        close_quietly(fd)
    return token if _RANDOM.fullmatch(token) else None


def _make_token(state: int) -> str:
    for name in os.listdir(state):
        if name.startswith(_NEW_TOKEN):
            os.unlink(name, dir_fd=state)
    token, passing = os.urandom(8).hex(), _NEW_TOKEN + os.urandom(8).hex()
    fd = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=state)
    try:
        write_all(fd, token.encode())
        os.rename(passing, "token", src_dir_fd=state, dst_dir_fd=state)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(passing, dir_fd=state)
        raise
    finally:
        close_quietly(fd)
    return token


def _is_there(name: str, directory: int) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


# Reading a folder: read-only descriptors, no link followed out of it, and no time of last access changed
# (`memtui.fs.beneath`) but those of links.


class ReadOnlyFolder:
    """A directory of memory files that is only looked at. See `ReadableStore`.

    The state directory, if there is one, holds the mark of temporary names. `resolver` says how paths are confined; by
    default as the kernel allows.

    Raises:
        FolderMissing: There is no directory at `path`, or it cannot be opened.
    """

    def __init__(
        self, path: str, *, title: str = "", state: str | None = None, resolver: Resolver | None = None
    ) -> None:
        self.title = title or path
        try:
            self.root = RootDirectory(os.path.realpath(path), resolver)
        except OSError as error:
            raise FolderMissing(f"{self.title} cannot be opened: {os.strerror(error.errno or 0).lower()}.") from error
        self.path = self.root.path
        self._attached = 0
        self._temporary_prefix = _read_temporary_prefix(state) if state is not None else ""
        self.passing = PassingFiles(state if state is not None else -1)

    @property
    def resolver(self) -> Resolver:
        """How paths are confined: by the kernel's `openat2`, or by our own walk."""
        return self.root.resolver

    @property
    def device(self) -> str:
        return str(self.root.identity[0])

    def close(self) -> None:
        self.root.close()

    def attach(self, *, look: bool = True) -> int:  # noqa: ARG002 - a folder is no copy
        """See `ReadableStore.attach`."""
        try:
            if not self.root.is_current():
                self._reopen()
        except (FileNotFoundError, NotADirectoryError) as error:
            words = "it was moved, unmounted, deleted or replaced"
            raise FolderMissing(f"{self.title} is not there any more: {words}.") from error
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            raise FolderMissing(f"{self.title} cannot be read: {reason}.") from error
        return self._attached

    def refresh(self) -> None:
        """Nothing: a folder is no copy."""

    def get_node(self, path: MemoryPath, *, follow: bool = False) -> Node | None:
        self.attach()
        if self._temporary_prefix in path.relative and any(map(self._is_passing, path.parts[:-1])):
            return None
        try:
            with self.root.resolve_path(path.parts, follow=follow) as place:
                seen = place.seen or place.stat()
                return None if self._is_passing(place.name, seen.st_ino) else make_node("/".join(place.parts), seen)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, path: MemoryPath, *, limit: int) -> FileContent:
        with self.root.resolve_path(path.parts, follow=True) as place:
            seen = place.seen or place.stat()
            if self._temporary_prefix in path.relative and (
                self._is_passing(place.name, seen.st_ino) or any(map(self._is_passing, path.parts[:-1]))
            ):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            if not stat.S_ISREG(seen.st_mode):
                raise NotRegularFile
            fd = self._open_for_reading(place)
            try:
                return read_consistently(fd, "/".join(place.parts), limit)
            finally:
                close_quietly(fd)

    def is_accessible(self, path: MemoryPath, mode: int) -> bool:
        """Whether the system allows what `mode` says (see `os.access`), however long the path is."""
        try:
            with self.root.resolve_path(path.parts, follow=False) as place:
                return os.access(place.name, mode, dir_fd=place.fd, follow_symlinks=False)
        except OSError:
            return False

    def read_link(self, path: MemoryPath) -> bytes:
        with self.root.resolve_path(path.parts, follow=False) as place:
            try:
                return os.fsencode(os.readlink(place.name, dir_fd=place.fd))
            except OSError as error:
                if error.errno == errno.EINVAL:
                    raise NotRegularFile from None
                raise

    def scan(self, below: MemoryPath, *, complete: bool = False) -> Iterator[Node]:
        if below.is_root:
            self.attach()
        for directory, entry in self.iter_raw_entries(below.parts, complete=complete):
            try:
                seen = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except PermissionError:
                if complete:
                    raise
                continue  # a directory that may be listed, but not entered
            yield make_node(directory + entry.name, seen)

    def iter_sizes(self, below: MemoryPath) -> Iterator[tuple[str, list[tuple[str, EntryKind, int]]]]:
        if below.is_root:
            self.attach()
        start = len(below.relative) + 1 if below.parts else 0
        file, directory, link, other = EntryKind.FILE, EntryKind.DIRECTORY, EntryKind.LINK, EntryKind.OTHER
        temporary = self._temporary_prefix or "/"  # which no name begins with
        for prefix, fd, inner in self._iter_directories(below.parts):
            found: list[tuple[str, EntryKind, int]] = []
            with os.scandir(fd) as entries:
                for entry in entries:
                    name = entry.name
                    if name.startswith(temporary) and self._is_ours(entry, fd):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(prefix + name)
                        found.append((name, directory, 0))
                        continue
                    try:
                        seen = entry.stat(follow_symlinks=False)
                    except (FileNotFoundError, PermissionError):
                        continue  # gone meanwhile; or in a directory that may be listed, but not entered
                    if stat.S_ISREG(seen.st_mode):
                        found.append((name, file, seen.st_size))
                    else:
                        found.append((name, link if stat.S_ISLNK(seen.st_mode) else other, 0))
            yield prefix[start:], found

    def scan_contents(
        self, *, limit: int, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[tuple[Node, FileContent | Exception | None]]:
        """See `ReadableStore.scan_contents`. A file is opened below its directory, which is open already."""
        self.attach()
        held: list[int] = []
        for directory, entry in self.iter_raw_entries((), check=lambda fd: held.__setitem__(slice(None), [fd])):
            path, content = directory + entry.name, None
            if wanted is not None and not wanted(path):
                continue
            try:
                if entry.is_file(follow_symlinks=False):
                    content = self._read_entry(entry.name, held[0], path, limit)
                    if isinstance(content, FileContent):
                        yield content.node, content
                        continue
                seen = entry.stat(follow_symlinks=False)
            except (FileNotFoundError, PermissionError):
                continue  # gone meanwhile; or in a directory that may be listed, but not entered
            yield make_node(path, seen), content if stat.S_ISREG(seen.st_mode) else None

    def _read_entry(self, name: str, directory: int, path: str, limit: int) -> FileContent | Exception:
        try:
            fd = self._open_entry(name, directory)
        except (OSError, NotRegularFile) as error:
            return error
        try:
            return read_consistently(fd, path, limit)
        except (OSError, NotRegularFile, FileTooLarge) as error:
            return error
        finally:
            close_quietly(fd)

    def find_inodes(self, directory: MemoryPath, inodes: Container[int]) -> list[str]:
        found: list[str] = []
        own = f"{directory.relative}/" if directory.relative else ""
        for prefix, entry in self.iter_raw_entries(directory.parts):
            if prefix != own:
                break
            if entry.inode() in inodes:
                found.append(prefix + entry.name)
        return found

    def is_as_known(self) -> bool:
        return False

    def iter_names(self) -> Iterator[FolderEntry]:
        self.attach()
        for directory, entry in self.iter_raw_entries(()):
            if entry.is_dir(follow_symlinks=False):
                kind = EntryKind.DIRECTORY
            elif entry.is_file(follow_symlinks=False):
                kind = EntryKind.FILE
            else:
                kind = EntryKind.LINK if entry.is_symlink() else EntryKind.OTHER
            yield FolderEntry(directory + entry.name, kind)

    def iter_raw_entries(
        self,
        parts: tuple[str, ...],
        *,
        complete: bool = False,
        check: Callable[[int], None] = lambda _: None,
        root: RootDirectory | None = None,
        skip: Callable[[OSError], object] = lambda _: None,
    ) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
        """Every entry below a directory (of the folder, or `root`) with its directory's path, empty or ending in `/`.

        `complete`: an unreadable directory inside is an error, else `skip` is told. `check` gets each descriptor before
        it is listed.
        """
        temporary = self._temporary_prefix or "/"  # which no name begins with
        for prefix, fd, inner in self._iter_directories(parts, complete=complete, root=root, skip=skip):
            check(fd)
            with os.scandir(fd) as entries:
                for entry in entries:
                    if entry.name.startswith(temporary) and self._is_ours(entry, fd):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(prefix + entry.name)
                    yield prefix, entry

    def _iter_directories(
        self,
        parts: tuple[str, ...],
        *,
        complete: bool = False,
        root: RootDirectory | None = None,
        skip: Callable[[OSError], object] = lambda _: None,
    ) -> Iterator[tuple[str, int, list[str]]]:
        """A directory and those below it, opened: each as the beginning of what is in it, its descriptor, and a list.

        Whoever lists it puts into the list the paths of the directories that come next.
        """
        root = root or self.root
        top = "/".join(parts)
        todo = [top]
        while todo:
            path = todo.pop()
            try:
                fd = root.open_directory(tuple(path.split("/")) if path else ())
            except (FileNotFoundError, NotADirectoryError, SymlinkEscape):
                continue  # gone or replaced meanwhile
            except OSError as error:
                if complete or path == top:
                    raise
                skip(error)
                continue  # not ours to read: its own entry says so
            inner: list[str] = []
            try:
                yield path + "/" if path else "", fd, inner
            finally:
                close_quietly(fd)
            todo += reversed(inner)

    def _is_ours(self, entry: "os.DirEntry[str]", directory: int) -> bool:
        """Whether an entry of an opened directory is a file of ours on its way, or just was."""
        name = entry.name
        return self.is_temporary_name(name) and (
            self._is_passing(name, entry.inode()) or not _is_there(name, directory)
        )

    def _is_passing(self, name: str, inode: int | None = None) -> bool:
        """Whether it is a file of ours on its way."""
        return self.is_temporary_name(name) and self.passing.has(name, inode)

    def is_temporary_name(self, name: str) -> bool:
        """Whether a name looks like our temporary ones; another program can have seen one, and use it."""
        start = self._temporary_prefix
        return bool(start) and name.startswith(start) and _RANDOM.fullmatch(name, len(start)) is not None

    def _open_for_reading(self, place: PathHandle) -> int:
        return self._open_entry(place.name, place.fd)

    def _open_entry(self, name: str, directory: int) -> int:
        try:
            return open_without_atime(name, READ, directory=directory)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise NotRegularFile from None  # swapped for a link or a socket since it was looked at
            raise

    def _reopen(self) -> None:
        """Go on in the directory that came in place of the opened one: who only looks never does."""
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


class WritableFolder(ReadOnlyFolder):
    """An opened folder with a state directory, and how things are done on its file system.

    Args:
        path: An existing directory.
        state: A directory outside it, for the lock and for files on their way; made if missing. `None` for a
            folder that is only looked at: every change is refused as on a read-only file system.
        title: The folder's name for a person.
        resolver: How paths are confined; by default as the kernel allows.
        nameless: Whether new files are made without a name (`O_TMPFILE`) where the system can.
        moving: The best way to move things that is tried; see `Moving`.
        locking: How writers exclude each other; by default as the file system of the state directory can.
        synced: Whether every change is confirmed by the disk when it is made.

    Attributes:
        is_synced: See `Store`.
        tmpfile: The flag by which a file is made that has no name yet; 0 where that is not done, or cannot be.
        is_clean: Whether leftovers were removed, and none was left since.
        is_searched: Whether it was looked for some that nobody has marked, and none was left since.
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
        synced: bool = True,
    ) -> None:
        super().__init__(path, title=title, resolver=resolver)
        self.is_synced = synced
        self.tmpfile = get_nameless_flag() if nameless else 0
        self.moving: Moving = moving
        self.is_clean = self.is_searched = False
        self._locking = locking
        self._attaching = threading.Lock()
        self._writing = 0
        self._state_root: RootDirectory | None = None
        if state is not None:
            try:
                os.makedirs(state, mode=0o700, exist_ok=True)
                self._state_root = RootDirectory(os.path.realpath(state), self.root.resolver)
                self.passing = PassingFiles(self.state_fd)
                self._temporary_prefix = _make_temporary_prefix(self.state_fd, locking)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        super().close()
        self.passing.close()
        if self._state_root is not None:
            self._state_root.close()
            self._state_root = None

    def _reopen(self) -> None:
        """A directory is a place: removed and made anew, it is the same memory folder."""
        with self._attaching:
            if not self.root.is_current():
                if self._writing:
                    raise FolderMissing(f"{self.title} was replaced just now.")
                self.root.reopen()
                self._attached += 1

    @contextmanager
    def _keep_attached(self) -> Iterator[None]:
        """Hold on to the directory that stands there now while it is written to."""
        self.attach()
        with self._attaching:
            self._writing += 1
        try:
            yield
        finally:
            with self._attaching:
                self._writing -= 1

    @property
    def state_root(self) -> RootDirectory:
        """The state directory, below which things are put aside."""
        assert self._state_root is not None
        return self._state_root

    @property
    def state_fd(self) -> int:
        """The descriptor of the state directory; -1 without one."""
        return self._state_root.fd if self._state_root is not None else -1

    def make_temporary_name(self, *, judged: bool = True) -> str:
        """A temporary name; it says whether the file may be removed without being looked at."""
        return self._temporary_prefix + (_JUDGED if judged else _UNJUDGED) + os.urandom(8).hex()[1:]

    def list_passing(self, name: str, inode: int | None, directory: int) -> None:
        """List a temporary name as ours before it appears in a directory; in the state directory it need not be."""
        if directory != self.state_fd:
            self.passing.add(name, inode)

    def move_noreplace(self, old: PathHandle, new: PathHandle) -> None:
        """Move something to a name that must be free; raises `FileExistsError`."""
        rename_noreplace(old, new, self.moving, self._list_placeholder)

    def _list_placeholder(self, place: PathHandle, inode: int | None) -> None:
        self.passing.add_made("/".join(place.parts), inode, is_placeholder=True)

    def exchange(self, one: PathHandle, other: PathHandle) -> bool:
        """Let two things take each other's places in one step; `False` where that is not done, or cannot be."""
        return self.moving == "renameat2" and exchange(one, other)

    def remove_tree(self, place: PathHandle) -> None:
        """Remove a tree that is out of sight already. Inner directories are first moved up, so depth costs nothing."""
        fd, todo = place.fd, [place.name]
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
                    found = [
                        (entry.name, entry.inode() if entry.is_dir(follow_symlinks=False) else None)
                        for entry in entries
                    ]
                for entry_name, inode in found:
                    if inode is not None:
                        todo.append(moved := self.make_temporary_name())
                        self.list_passing(moved, inode, fd)
                        os.rename(entry_name, moved, src_dir_fd=inner, dst_dir_fd=fd)
                    else:
                        os.unlink(entry_name, dir_fd=inner)
            finally:
                close_quietly(inner)
            os.rmdir(top, dir_fd=fd)
