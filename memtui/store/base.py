"""The protocols of a store.

The seam for every kind of storage: a folder, a dict, later a database. Each passes the same contract suite, so nothing
above may assume a local disk. Faults arrive as `OSError` with their `errno`, whatever the storage is.
"""

import os
import stat
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from memtui.core.attributes import PERMISSIONS, UNKNOWN, Attributes
from memtui.core.events import EntryKind, FolderEntry
from memtui.core.paths import ROOT, MemoryPath

Stamp = tuple[int, ...]
"""Numbers that differ once a file was written or replaced, so that looking again costs no reading.
The last one is the thing's own: it stays when the thing is moved. Of several, only the first one may not stay.
Of a file or a link there are five, of which the third is its time and the fourth its permissions; of a directory two,
its permissions first: see `memtui.core.attributes.read_stamp`."""

UNSEEN: Stamp = (0,)
"""A stamp that nothing has: of what was not looked at, so that the next look does."""


NEW_FILE, NEW_DIRECTORY = 0o600, 0o700
"""The permissions of what is made, where nothing else is known."""


def get_lasting_stamp(stamp: Stamp) -> Stamp:
    """What stays of a stamp when its thing is moved, and differs once it is written or replaced."""
    return stamp[1:] or stamp


class Node(NamedTuple):
    """One thing in the store, looked at. (A named tuple: a folder has many thousands of them.)

    Attributes:
        path: Where it really is, relative to the root; links on the way have been followed.
        size: Bytes of a file; 0 for anything else.
        mtime_ns: When it was last written, in nanoseconds since 1970.
        links: How many names it has on its file system; 1 where that does not apply.
        special_kind: What it is where its kind is "other", such as `a FIFO`.
        mode: The permission bits of a file or a directory; `None` for anything else.
    """

    path: str
    kind: EntryKind
    size: int
    mtime_ns: int
    stamp: Stamp
    links: int = 1
    special_kind: str = ""
    mode: int | None = None

    @property
    def attributes(self) -> Attributes:
        return Attributes(self.mode, self.mtime_ns)


class FileContent(NamedTuple):
    data: bytes
    node: Node


class WriteResult(NamedTuple):
    """A file after it was written, and the directories that were made for it, outermost first."""

    node: Node
    made: tuple[str, ...]


class NotRegularFile(Exception):
    """Only regular files are read."""


class FileTooLarge(Exception):
    """The file's `size`, in bytes, is over the limit that may be read."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class ConcurrentChange(Exception):
    """What stands at a path is no longer what the change was made from; nothing was written."""


class DirectoriesLeft(OSError):
    """Nothing was changed, but directories that were made for it could not be removed again: `Transaction.unmake` can.

    Attributes:
        paths: The directories, outermost first.
    """

    def __init__(self, error: OSError, paths: tuple[str, ...]) -> None:
        super().__init__(error.errno, error.strerror)
        self.paths = paths


class Transaction(Protocol):
    """The right to write. While it is open no other engine, in any process, writes to the same store.

    Every method that changes the store may raise `SymlinkEscape` (a link leads out of the root), `UnconfirmedChange`
    (the change was made, but is not known to be on the disk), `UnsettledChange` (neither done nor undone: `clean_up`
    does one of them) and `OSError` (nothing was changed, but see `DirectoriesLeft`).

    Attributes:
        is_untidy: Whether something was left that `clean_up` has to decide about, whatever intents there are.
    """

    is_untidy: bool

    def write(
        self, path: MemoryPath, data: bytes, *, expected: Stamp | None, attributes: Attributes = UNKNOWN
    ) -> WriteResult:
        """Put a whole file in place, so that it is wholly old or wholly new at every moment.

        Args:
            path: Missing parents are made; a link that stays inside is written through.
            data: All of its bytes.
            expected: The stamp of what is being replaced; `None` if nothing may be there.
            attributes: Where they are not known, a file that is replaced keeps its mode, a new one is its owner's
                alone (0600), and the time is now.

        Raises:
            ConcurrentChange: Something else stands there now.
        """
        ...

    def delete(self, path: MemoryPath, *, expected: Mapping[str, Stamp] | None = None) -> None:
        """Remove what stands at a path, a directory with all below it, never what a link points to.

        Args:
            path: Where.
            expected: The stamp of each thing at the path and below it, by its path; `None` for whatever is there.

        Raises:
            FileNotFoundError: Nothing is there.
            ConcurrentChange: Something else stands there or below it now; nothing was removed.
        """
        ...

    def clean_up(self, *, is_known: Callable[[bytes], bool] | None = None, place: MemoryPath = ROOT) -> None:
        """Remove the leftovers of a writer that was killed.

        Args:
            is_known: Whether a text is kept elsewhere. Another one came from outside in the moment of
                the kill: it is put back and not removed. `None` if all is known.
            place: Where it is put back, or beside that if something is there.

        Raises:
            OSError: It cannot be searched for. What is found, but cannot be removed, is no error: it stays hidden.
        """
        ...

    def unmake(self, paths: Iterable[str]) -> None:
        """Remove directories that a dead writer made, where nothing came into them.

        Only what is known to be its own is removed: not a directory that another program made since.

        Raises:
            OSError: It cannot be known, or done, now.
        """
        ...

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:
        """Move what stands at `old` to `new`, which must be free; returns the directories made, outermost first.

        Raises:
            FileNotFoundError: Nothing is at `old`.
            FileExistsError: Something is at `new`, also if it came there just now.
        """
        ...

    def make_directory(self, path: MemoryPath) -> tuple[str, ...]:
        """Make a directory and its missing parents; returns all made, outermost first. Raises `FileExistsError`."""
        ...

    def set_directory_attributes(self, path: MemoryPath, attributes: Attributes) -> None:
        """Give a directory its permissions and time, as far as they are known, once nothing is put into it any more.

        Raises:
            FileNotFoundError, NotADirectoryError: It is not there.
        """
        ...

    def make_link(self, path: MemoryPath, target: bytes, *, mtime_ns: int | None = None) -> WriteResult:
        """Make a symbolic link to any target, and missing parents, by default with the time of now.

        Raises:
            FileExistsError: Something is there.
        """
        ...

    def remove_empty(self, path: MemoryPath) -> None:
        """Remove a directory in which nothing is.

        Raises:
            FileNotFoundError: Nothing is there.
            NotADirectoryError: Something else is there.
            OSError: Something is in it (`ENOTEMPTY`).
        """
        ...

    def make_temporary_path(self, path: MemoryPath) -> MemoryPath:
        """A temporary path beside another, hidden from every scan. `clean_up` removes what has it after a crash."""
        ...

    def exchange(self, one: MemoryPath, other: MemoryPath) -> bool:
        """Let two things take each other's places in one step; `False` where that is not possible."""
        ...

    def batch_sync(self) -> AbstractContextManager[None]:
        """Many changes, confirmed by the disk together: none is known to be on the disk before the end.

        Each of them is still whole at every moment, and each raises what it raises elsewhere. Changes before an
        exception are confirmed as well.

        Raises:
            UnconfirmedChange: At the end: some change is not known to be on the disk.
        """
        ...


class ReadableStore(Protocol):
    """A place where memories are kept, for those who only look. Paths may raise `SymlinkEscape`."""

    title: str
    """The store's name for a person, such as `~/app/memories`."""
    path: str
    """Its real path on this machine; empty if it is in memory."""

    @property
    def device(self) -> str:
        """The device of the store: where that is another one than before, and empty, the store is not mounted."""
        ...

    def attach(self, *, look: bool = True) -> int:
        """Hold the directory that stands at the store's place now, and number it: the one opened first is 0.

        Args:
            look: Whether a store that is a copy looks for what is new, unless it is followed.

        Raises:
            FolderMissing: There is none, or another one came where the store may not go on in it: an observer's never
                does, others not while this process is writing to the one before.
        """
        ...

    def get_node(self, path: MemoryPath, *, follow: bool = False) -> Node | None:
        """Look at one thing, through a link at its end or not; `None` if nothing is there. Raises `FolderMissing`."""
        ...

    def read(self, path: MemoryPath, *, limit: int) -> FileContent:
        """Read a file of at most `limit` bytes, through links that stay inside.

        Raises:
            FileNotFoundError: Nothing is there.
            NotRegularFile: It is not a file; it has not been opened.
            FileTooLarge: It has more bytes than the limit; none was read.
        """
        ...

    def read_link(self, path: MemoryPath) -> bytes:
        """The target of a link as it is written.

        Raises:
            FileNotFoundError: Nothing is there.
            NotRegularFile: It is no link.
        """
        ...

    def scan(self, below: MemoryPath, *, complete: bool = False) -> Iterator[Node]:
        """Look at everything below a directory, links not followed, each directory before its entries.

        Args:
            below: Nothing is found below anything that is not a directory.
            complete: Whether a directory inside that cannot be read is an error, and not passed over.

        Raises:
            OSError: The directory itself, or with `complete` any other, cannot be read.
        """
        ...

    def iter_sizes(self, below: MemoryPath) -> Iterator[tuple[str, list[tuple[str, EntryKind, int]]]]:
        """What is in a directory and in each one below it, as `scan` has it, one directory after another.

        Yields:
            The directory's path from `below` on, empty or ending in `/`; and name, kind and bytes of what is in it.
            Of what is no file no bytes are counted.

        Raises:
            OSError: The directory itself cannot be read.
        """
        ...

    def scan_contents(
        self, *, limit: int, wanted: Callable[[str], bool] | None = None
    ) -> Iterator["tuple[Node, FileContent | Exception | None]"]:
        """Everything in the folder, as `scan` has it, each file with what `read` returns or raises.

        Args:
            limit: Bytes of the largest file that is read.
            wanted: Whether a path is looked at; `None` for all.
        """
        ...

    def find_inodes(self, directory: MemoryPath, inodes: Container[int]) -> list[str]:
        """The paths in a directory, not below it, whose things have one of these numbers (the last of their stamp).

        A file system may say other numbers here than in a stamp: then nothing is found, or what must be looked at.

        Raises:
            OSError: The directory cannot be read.
        """
        ...

    def iter_names(self) -> Iterator[FolderEntry]:
        """Everything in the store, each directory before what is in it, not looked at where that would cost."""
        ...

    def is_as_known(self) -> bool:
        """Whether each thing is as the record has it; `False` where that cannot be seen at once, as in a folder."""
        ...

    def close(self) -> None:
        """Let go of it. Calls afterwards fail."""
        ...


class Store(ReadableStore, Protocol):
    """A place where memories are kept, and changed.

    Attributes:
        is_synced: Whether a change is on the disk once it is made; else `sync_paths` sees to that, later.
    """

    is_synced: bool

    def sync_paths(self, paths: Collection[str]) -> None:
        """Have the disk confirm what stands at paths, relative to the root, and in their directories.

        Raises:
            OSError: It does not. What was written there may be lost by a power cut, also after a later call.
        """
        ...

    def refresh(self) -> None:
        """Have the newest, where this is a copy.

        Raises:
            LockTimeout: Another process of this machine is at it for too long.
            StateUnusable: It cannot be had now. What is known stays.
        """
        ...

    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> AbstractContextManager[Transaction]:
        """Take the writer lock within some seconds.

        Args:
            optimistic: Whether a copy may be older than what it is a copy of: that shows when something is recorded
                (`Record.is_current`).

        Raises:
            LockTimeout: Another process has it for too long.
            FolderMissing: The root is gone.
        """
        ...


# Nodes and file content, read through descriptors.

READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a file is opened that others may replace by anything."""
_TORN_READS = 5
_OTHERS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""What is neither file, directory nor link."""
_FILE, _DIRECTORY = EntryKind.FILE, EntryKind.DIRECTORY
"""Python 3.11 takes as long to look up a member as for the rest of a node's fields."""


def read_consistently(fd: int, path: str, limit: int) -> FileContent:
    """Read a file that others may be writing: again, if it changed while it was read."""
    for _ in range(_TORN_READS):
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            raise NotRegularFile
        if before.st_size > limit:
            raise FileTooLarge(before.st_size)
        data = os.pread(fd, before.st_size + 1, 0)
        while 0 < len(data) <= limit and len(data) != before.st_size and (more := os.pread(fd, 1 << 20, len(data))):
            data += more
        after = os.fstat(fd)
        stamp = make_stamp(after)
        if stamp == make_stamp(before) and len(data) == after.st_size:
            break
    return FileContent(data, _make_file_node(path, after, stamp))


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes, in as many calls as the system makes of it."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def make_node(path: str, seen: os.stat_result) -> Node:
    """The node of a stat result, at a real path relative to the root."""
    mode = seen.st_mode
    if stat.S_ISREG(mode):
        return _make_file_node(path, seen, make_stamp(seen))
    if stat.S_ISDIR(mode):
        bits = mode & PERMISSIONS
        return Node(path, _DIRECTORY, 0, seen.st_mtime_ns, (bits, seen.st_ino), mode=bits)
    if stat.S_ISLNK(mode):
        return Node(path, EntryKind.LINK, 0, seen.st_mtime_ns, make_stamp(seen))
    what = next((name for is_one, name in _OTHERS if is_one(mode)), "")
    return Node(path, EntryKind.OTHER, 0, seen.st_mtime_ns, make_stamp(seen), special_kind=what)


def _make_file_node(path: str, seen: os.stat_result, stamp: Stamp) -> Node:
    return Node(path, _FILE, stamp[1], stamp[2], stamp, seen.st_nlink, "", stamp[3])


def make_stamp(seen: os.stat_result) -> Stamp:
    bits = seen.st_mode & PERMISSIONS
    return (seen.st_ctime_ns, seen.st_size, seen.st_mtime_ns, bits, seen.st_ino)  # a move changes the first
