"""What is moved aside: looked at, removed or put back where nobody else can reach it."""

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import NamedTuple

from memtui.store.confined import Place, Root, let_go
from memtui.store.names import is_judged
from memtui.store.writable import Writable

UNTIDY = "untidy"
"""A file in the state directory that says that something is left that could not be removed."""
_NAMES = 100
"""How many names are tried for something that has to be put back where something else came meanwhile."""


class Aside(NamedTuple):
    """Something that was moved out of sight: below which root, where there, and its place."""

    root: Root
    parts: tuple[str, ...]
    place: Place


class MovingAside:
    """Moves things of a folder out of sight, and removes them there or puts them back.

    Args:
        folder: The folder, whose lock is held.
    """

    def __init__(self, folder: Writable) -> None:
        self._folder = folder
        self._root = folder.root

    def move_aside(self, place: Place) -> Aside:
        """Move what stands at a place out of sight: out of the folder where that is possible, else beside its place."""
        name = self._folder.passing_name(judged=False)
        state, beside = self._folder.state_root, (*place.parts[:-1], name)
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
                return Aside(root, parts, Place(fd, name, (), owned=False))
        raise AssertionError("unreachable: a name beside it is on its own file system")

    def move_back(self, aside: Place, place: Place) -> None:
        """Put something back that should not have been moved: to a name beside its own if that is taken again."""
        for number in range(_NAMES):
            free = place.name if number == 0 else f"{_cut(place.name)}~{number}"
            try:
                self._folder.move_to_free_name(aside, Place(place.fd, free, (), owned=False))
            except FileExistsError:
                continue
            return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    def below(self, aside: Aside) -> Iterator[tuple[str, os.stat_result]]:
        """Everything in a directory that was moved aside, with its path from there."""
        start = len("/".join(aside.parts)) + 1
        for directory, entry in self._folder.entries(aside.parts, complete=True, root=aside.root):
            yield (directory + entry.name)[start:], entry.stat(follow_symlinks=False)

    def remove(self, aside: Place) -> bool:
        """Remove what is out of sight already; what cannot be removed now waits for the next one who opens it."""
        try:
            self._folder.remove_tree(aside)
        except OSError:
            self._folder.tidied = False
            if not is_judged(aside.name):
                with contextlib.suppress(OSError):
                    judged = self._folder.passing_name()
                    os.rename(aside.name, judged, src_dir_fd=aside.fd, dst_dir_fd=aside.fd)
            self.note_untidy()
            return False
        return True

    def note_untidy(self) -> None:
        """Have the next one who opens the folder tidy."""
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            let_go(os.open(UNTIDY, flags, 0o600, dir_fd=self._folder.state_fd))


def _cut(name: str) -> str:
    """A name with room for a number after it."""
    return os.fsdecode(os.fsencode(name)[:250])
