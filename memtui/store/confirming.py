"""Having the disk confirm what was changed: at once, or together at the end."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.core.errors import Uncertain
from memtui.store.confined import Root, let_go

NO_SUCH_THING = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
"""What a file system answers to a call that it does not know."""
_HELD = 64
"""How many directories are held open until they are confirmed together."""


@contextmanager
def as_uncertain() -> Iterator[None]:
    """For what comes after the move: the change stands already."""
    try:
        yield
    except OSError as error:
        raise Uncertain(os.strerror(error.errno or 0)) from error


class Confirming:
    """What one transaction has the system confirm.

    Args:
        root: Below which the directories are.
    """

    def __init__(self, root: Root) -> None:
        self._root = root
        self._unconfirmed: dict[tuple[int, int], int] | None = None

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

    def sync(self, fd: int, made: tuple[str, ...]) -> None:
        """Have the system confirm a directory, and the parents of directories just made."""
        with as_uncertain():
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


def _sync_directory(fd: int) -> None:
    """Have the system confirm what stands in a directory, where it can: some file systems know no such thing."""
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in NO_SUCH_THING:
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
    with as_uncertain():
        if failed is not None:
            raise failed
