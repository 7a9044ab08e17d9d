"""What the engine asks of a place where memories are kept.

The seam for every kind of storage: a folder, a dict, later a database. Each passes the same contract suite, so
nothing above may assume a local disk. Faults arrive as `OSError` with their `errno`, whatever the storage is.
`Readable` is the half of it that changes nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memtui.core.paths import ROOT, MemoryPath
from memtui.core.snapshot import Entry, Kind

Stamp = tuple[int, ...]
"""Numbers that differ once a file was written or replaced, so that looking again costs no reading.
The last one is the thing's own: it stays when the thing is moved. Of several, only the first one may not stay."""

UNSEEN: Stamp = (0,)
"""A stamp that nothing has: of what was not looked at, so that the next look does."""


def lasting(stamp: Stamp) -> Stamp:
    """What stays of a stamp when its thing is moved, and differs once it is written or replaced."""
    return stamp[1:] or stamp


@dataclass(frozen=True, slots=True)
class Node:
    """One thing in the store, looked at.

    Attributes:
        path: Where it really is, relative to the root; links on the way have been followed.
        kind: What it is; a link is a link unless it was followed.
        size: Bytes of a file; 0 for anything else.
        mtime_ns: When it was last written, in nanoseconds since 1970.
        stamp: See `Stamp`.
        links: How many names it has on its file system; 1 where that does not apply.
        what: What it is where its kind is "other", such as `a FIFO`.
    """

    path: str
    kind: Kind
    size: int
    mtime_ns: int
    stamp: Stamp
    links: int = 1
    what: str = ""


class Content(NamedTuple):
    """The bytes of a file, and the node that they were read from."""

    data: bytes
    node: Node


class Written(NamedTuple):
    """A file after it was written, and the directories that were made for it, outermost first."""

    node: Node
    made: tuple[str, ...]


class NotRegular(Exception):
    """Only regular files are read."""


class TooLarge(Exception):
    """The file is over the limit of bytes that may be read.

    Attributes:
        size: Bytes of the file.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Outdated(Exception):
    """What stands at a path is no longer what the change was made from; nothing was written."""


class Transaction(Protocol):
    """The right to write. While it is open no other engine, in any process, writes to the same store."""

    def write(self, path: MemoryPath, data: bytes, *, expected: Stamp | None) -> Written:
        """Put a whole file in place, so that it is wholly old or wholly new at every moment.

        Args:
            path: Where; missing parents are made; a link that stays inside is written through.
            data: All of its bytes.
            expected: The stamp of what is being replaced; `None` if nothing may be there.

        Raises:
            Outdated: Something else stands there now.
            LeavesRoot: A link leads out of the root.
            Uncertain: It was written, but is not known to be on the disk.
            OSError: It could not be written; nothing was changed.
        """
        ...

    def delete(self, path: MemoryPath, *, expected: Mapping[str, Stamp] | None = None) -> None:
        """Remove what stands at a path, a directory with all below it, never what a link points to.

        Args:
            path: Where.
            expected: The stamp of each thing at the path and below it, by its path; `None` for whatever is there.

        Raises:
            FileNotFoundError: Nothing is there.
            Outdated: Something else stands there or below it now; nothing was removed.
            LeavesRoot, Uncertain, OSError: As for `write`.
        """
        ...

    def tidy(self, *, is_known: Callable[[str], bool] | None = None, place: MemoryPath = ROOT) -> None:
        """Remove what a writer that was killed has left on its way.

        Args:
            is_known: Whether a text is kept elsewhere, by its SHA-256. What holds another one came from outside in the
                very moment of the kill: it is put back and not removed. `None` if all is known.
            place: Where it is put back, or beside that if something is there.

        Raises:
            OSError: It cannot be searched for. What is found, but cannot be removed, is no error: it stays hidden.
        """
        ...

    def rename(self, old: MemoryPath, new: MemoryPath) -> tuple[str, ...]:
        """Move what stands at `old` to `new`, which must be free; returns the directories made, outermost first.

        Raises:
            FileNotFoundError: Nothing is at `old`.
            FileExistsError: Something is at `new`, also if it came there just now.
            LeavesRoot, Uncertain, OSError: As for `write`.
        """
        ...

    def make_directory(self, path: MemoryPath) -> tuple[str, ...]:
        """Make an empty directory and its missing parents; returns the directories made, outermost first, all of them.

        Raises:
            FileExistsError: Something is there.
            LeavesRoot, Uncertain, OSError: As for `write`.
        """
        ...

    def make_link(self, path: MemoryPath, target: bytes) -> Written:
        """Make a symbolic link; missing parents are made.

        Args:
            path: Where.
            target: What is written in it, as it is: nobody asks where it leads.

        Raises:
            FileExistsError: Something is there.
            LeavesRoot, Uncertain, OSError: As for `write`.
        """
        ...

    def remove_empty(self, path: MemoryPath) -> None:
        """Remove a directory in which nothing is.

        Raises:
            FileNotFoundError: Nothing is there.
            NotADirectoryError: Something else is there.
            OSError: Something is in it (`ENOTEMPTY`), or as for `write`.
            LeavesRoot, Uncertain: As for `write`.
        """
        ...

    def passing(self, path: MemoryPath) -> MemoryPath:
        """A name for a moment beside a path, for `rename`: no look finds what has it.

        After a crash `tidy` takes it for left over, unless it was given another name before.
        """
        ...

    def exchange(self, one: MemoryPath, other: MemoryPath) -> bool:
        """Let two things take each other's places in one step; `False` where that cannot be done, and nothing was.

        Raises:
            FileNotFoundError: Nothing is at one of them.
            LeavesRoot, Uncertain, OSError: As for `write`.
        """
        ...

    def together(self) -> AbstractContextManager[None]:
        """Many changes, confirmed by the disk together: none is known to be on the disk before the end.

        Each of them is still whole at every moment, and each raises what it raises elsewhere. What was done before an
        exception is confirmed as well.

        Raises:
            Uncertain: At the end: something was done, but is not known to be on the disk.
        """
        ...


class Readable(Protocol):
    """A place where memories are kept, for those who only look: whoever has no more than this cannot change it."""

    title: str
    """What a person calls it, such as `~/app/memories`."""

    @property
    def device(self) -> str:
        """What it lies on, such as a disk: where that is another one than before, and empty, it is not mounted."""
        ...

    def node(self, path: MemoryPath, *, follow: bool = False) -> Node | None:
        """Look at one thing; `None` if nothing is there.

        Args:
            path: Where.
            follow: Whether to look through a link at the end of the path.

        Raises:
            LeavesRoot: A link leads out of the root.
            FolderMissing: The root itself is gone or was replaced.
        """
        ...

    def read(self, path: MemoryPath, *, limit: int) -> Content:
        """Read a file, through links that stay inside.

        Args:
            path: Where.
            limit: The most bytes to read.

        Raises:
            FileNotFoundError: Nothing is there.
            NotRegular: It is not a file; it has not been opened.
            TooLarge: It has more bytes than the limit; none was read.
            LeavesRoot: A link leads out of the root.
        """
        ...

    def read_link(self, path: MemoryPath) -> bytes:
        """What a link itself points to, as it is written in it.

        Raises:
            FileNotFoundError: Nothing is there.
            NotRegular: It is no link.
            LeavesRoot: A link on the way leads out of the root.
        """
        ...

    def scan(self, below: MemoryPath, *, complete: bool = False) -> Iterator[Node]:
        """Look at everything below a directory, links not followed, each directory before what is in it.

        Args:
            below: The directory; nothing is found below anything else.
            complete: Whether a directory inside that cannot be read is an error, and not passed over.

        Raises:
            OSError: The directory itself, or with `complete` any other, cannot be read.
        """
        ...

    def names(self) -> Iterator[Entry]:
        """Everything in the store, each directory before what is in it, not looked at where that would cost."""
        ...

    def close(self) -> None:
        """Let go of it. Calls afterwards fail."""
        ...


class Store(Readable, Protocol):
    """A place where memories are kept."""

    def writing(self, seconds: float) -> AbstractContextManager[Transaction]:
        """Take the writer lock, waiting as long as given.

        Raises:
            Busy: Somebody else has it for too long.
            FolderMissing: The root is gone or was replaced.
        """
        ...
