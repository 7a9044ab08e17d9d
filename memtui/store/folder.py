"""Memories as files in a folder that others write to as well.

Every file is moved into place whole, every call stays below the opened root, and nothing of ours is left in
the folder: what must lie somewhere for a moment lies in the state directory where that is on the same file
system, else under a name that no listing of ours shows and that the next writer removes.
"""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memtui.store import names
from memtui.store.aside import UNTIDY
from memtui.store.base import Transaction
from memtui.store.confined import Moving, Place, Resolver, Root, exchange, let_go, rename_to_free_name
from memtui.store.locks import Locking, held
from memtui.store.looking import ReadOnlyFolder
from memtui.store.writing import FolderTransaction, NoTransaction, nameless_flag


class FolderStore(ReadOnlyFolder):
    """A directory of memory files that may be changed.

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
        super().__init__(path, title=title, resolver=resolver)
        self.tmpfile = nameless_flag() if nameless else 0
        self.moving: Moving = moving
        self.tidied = False
        self._locking = locking
        self._state_root: Root | None = None
        self._state = -1
        if state is not None:
            try:
                os.makedirs(state, mode=0o700, exist_ok=True)
                self._state_root = Root(os.path.realpath(state), self.root.resolver)
                self._state = self._state_root.fd
                self._passing = names.passing_start(self._state, locking)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Close the descriptors."""
        super().close()
        if self._state_root is not None:
            self._state_root.close()
            self._state_root, self._state = None, -1

    # Writing

    @contextmanager
    def writing(self, seconds: float) -> Iterator[Transaction]:
        """See `Store.writing`. The lock is the kernel's: it goes when its process does."""
        if self._state < 0:
            yield NoTransaction()
            return
        with held(self._state, seconds, self._locking):
            self._insist_on_root()
            transaction = FolderTransaction(self)
            if not self.tidied and os.access(UNTIDY, os.F_OK, dir_fd=self._state):
                self.tidied = True  # once: what cannot be removed now must not make every command slow
                with contextlib.suppress(OSError):
                    transaction.tidy(only_judged=True)
            yield transaction

    # What a transaction asks; see `Writable`

    @property
    def state_root(self) -> Root:
        """See `Writable.state_root`."""
        assert self._state_root is not None
        return self._state_root

    @property
    def state_fd(self) -> int:
        """See `Writable.state_fd`."""
        return self._state

    def passing_name(self, *, judged: bool = True) -> str:
        """See `Writable.passing_name`."""
        return names.passing_name(self._passing, judged=judged)

    def move_to_free_name(self, old: Place, new: Place) -> None:
        """See `Writable.move_to_free_name`."""
        rename_to_free_name(old, new, self.moving)

    def exchange(self, one: Place, other: Place) -> bool:
        """See `Writable.exchange`."""
        return self.moving == "renameat2" and exchange(one, other)

    def remove_tree(self, place: Place) -> None:
        """See `Writable.remove_tree`."""
        _remove_tree(place.fd, place.name, self.passing_name)


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
