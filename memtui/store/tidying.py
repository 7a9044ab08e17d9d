"""Tidying after a writer that was killed: what it left is removed, or put back where nobody has read it yet."""

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable

from memtui.core.errors import LeavesRoot
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.snapshot import Kind
from memtui.store.aside import UNTIDY, Aside, MovingAside
from memtui.store.confined import Place, Root, let_go
from memtui.store.confirming import Confirming
from memtui.store.names import is_judged
from memtui.store.nodes import READ, read_whole
from memtui.store.writable import Writable

_GROWN = 1 << 20
"""Bytes by which a file may have grown since it was looked at."""


class Tidying:
    """Tends to what was left on its way.

    Args:
        folder: The folder, whose lock is held.
        aside: How things are removed and put back in it.
        confirming: How what was put back is confirmed.
    """

    def __init__(self, folder: Writable, aside: MovingAside, confirming: Confirming) -> None:
        self._folder = folder
        self._root = folder.root
        self._aside = aside
        self._confirming = confirming

    def tidy(
        self,
        *,
        is_known: Callable[[str], bool] | None = None,
        place: MemoryPath = ROOT,
        only_judged: bool = False,
    ) -> None:
        """See `FolderTransaction.tidy`. Every directory is searched: things may wait beside their places."""

        def tend(aside: Aside) -> bool:
            if is_known is not None and not is_judged(aside.place.name) and self._holds_unknown(aside, is_known):
                self._put_back(aside, place)
                return True
            return self._aside.remove(aside.place)

        tidied = self._tidy(self._folder.state_root, (), tend, only_judged)
        tidied &= self._tidy(self._root, (), tend, only_judged)
        for node in self._folder.scan(ROOT):
            if node.kind is Kind.DIRECTORY:
                try:
                    tidied &= self._tidy(self._root, tuple(node.path.split("/")), tend, only_judged)
                except (FileNotFoundError, NotADirectoryError, PermissionError, LeavesRoot):
                    continue  # gone meanwhile, or not ours to write to
                except OSError:
                    tidied = False
        if not tidied:
            self._aside.note_untidy()
            return
        with contextlib.suppress(OSError):
            os.unlink(UNTIDY, dir_fd=self._folder.state_fd)

    def has_tidied(self, place: Place) -> bool:
        """Remove what a killed writer has left in a directory; whether there was anything."""
        seen: list[bool] = []

        def remove(aside: Aside) -> bool:
            seen.append(self._aside.remove(aside.place))
            return seen[-1]

        return self._tidy(self._root, place.parts, remove, only_judged=True) and bool(seen)

    def _tidy(self, root: Root, parts: tuple[str, ...], tend: Callable[[Aside], bool], only_judged: bool) -> bool:
        """Tend to all that was left in a directory; whether nothing is left.

        Raises:
            OSError: Nobody can tell.
        """
        fd = root.open_directory(parts)
        tidied = True
        try:
            for name in os.listdir(fd):
                if self._folder.is_passing(name) and (is_judged(name) or not only_judged):
                    try:
                        tidied &= tend(Aside(root, (*parts, name), Place(fd, name, (), owned=False)))
                    except OSError:
                        tidied = False  # it stays out of sight
        finally:
            let_go(fd)
        return tidied

    def _holds_unknown(self, aside: Aside, is_known: Callable[[str], bool]) -> bool:
        """Whether something that was moved aside holds a text, or is a link, that is kept nowhere else."""
        try:
            return self._is_unknown(aside, is_known)
        except FileNotFoundError:
            return False
        except OSError:
            return True  # nobody can tell, so it is not for us to remove

    def _is_unknown(self, aside: Aside, is_known: Callable[[str], bool]) -> bool:
        top = aside.place.stat()
        below = self._aside.below(aside) if stat.S_ISDIR(top.st_mode) else ()
        for path, seen in (("", top), *below):
            parts = (*aside.parts, *path.split("/")) if path else aside.parts
            with aside.root.place(parts, follow=False) as place:
                held = b""
                if stat.S_ISLNK(seen.st_mode):
                    held = os.fsencode(os.readlink(place.name, dir_fd=place.fd))
                elif stat.S_ISREG(seen.st_mode):
                    fd = os.open(place.name, READ, dir_fd=place.fd)
                    try:
                        held = read_whole(fd, path, seen.st_size + _GROWN).data
                    finally:
                        let_go(fd)
            if held and not is_known(hashlib.sha256(held).hexdigest()):
                return True
        return False

    def _put_back(self, aside: Aside, path: MemoryPath) -> None:
        """Put something back that nobody has looked at, at its place or beside it, or at the top if that is gone."""
        for parts in (path.parts, path.parts[-1:], ("recovered",)):
            if parts:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError, LeavesRoot):
                    with self._root.place(parts, follow=False) as place:
                        self._aside.move_back(aside.place, place)
                        self._confirming.sync(place.fd, ())
                    return
