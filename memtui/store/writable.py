"""What those who write to a folder ask of it."""

import os
from collections.abc import Callable, Iterator
from typing import Protocol

from memtui.core.paths import MemoryPath
from memtui.store.base import Node
from memtui.store.confined import Moving, Place, Root


class Writable(Protocol):
    """An opened folder with a state directory, and how things are done on its file system.

    Attributes:
        root: The folder.
        tmpfile: The flag by which a file is made that has no name yet; 0 where that is not done, or cannot be.
        tidied: Whether it was tried to remove what somebody left, and nothing was left since.
        moving: The best way to move things that is tried.
    """

    root: Root
    tmpfile: int
    tidied: bool
    moving: Moving

    @property
    def state_root(self) -> Root:
        """The state directory, below which things are put aside."""
        ...

    @property
    def state_fd(self) -> int:
        """The descriptor of the state directory."""
        ...

    def passing_name(self, *, judged: bool = True) -> str:
        """A name for a moment; it says whether what has it may be removed without being looked at."""
        ...

    def is_passing(self, name: str) -> bool:
        """Whether a name is one of ours for a moment."""
        ...

    def scan(self, below: MemoryPath, *, complete: bool = False) -> Iterator[Node]:
        """See `Store.scan`."""
        ...

    def entries(
        self,
        parts: tuple[str, ...],
        *,
        complete: bool = False,
        check: Callable[[int], None] = ...,
        root: Root | None = None,
    ) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
        """Every entry below a directory with its directory's path (empty, or ending in `/`).

        Args:
            parts: The directory.
            complete: Whether a directory inside that cannot be read is an error, and not passed over.
            check: Called with each directory's descriptor before it is listed.
            root: Below which root the directory is; by default the folder.
        """
        ...

    def move_to_free_name(self, old: Place, new: Place) -> None:
        """Move something to a name that must be free.

        Raises:
            FileExistsError: Something is there.
        """
        ...

    def exchange(self, one: Place, other: Place) -> bool:
        """Let two things take each other's places in one step; `False` where that is not done, or cannot be."""
        ...

    def remove_tree(self, place: Place) -> None:
        """Remove something that is out of sight already, with all that is in it."""
        ...
