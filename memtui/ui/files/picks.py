"""Which entries a person has marked, to do something with all of them at once.

They are kept by path, in the order in which they were marked, whether their rows are in sight or not: who collapses
a directory has not changed her mind about what she marked in it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from memtui.ui.files.contents import ancestors
from memtui.ui.files.outline import moved_path


class Picks:
    """The marked entries of a folder."""

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._paths))

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def toggle(self, path: str) -> bool:
        """Mark an entry, or no longer; tells whether it is marked now."""
        if path in self._paths:
            del self._paths[path]
            return False
        self._paths[path] = None
        return True

    def add(self, paths: Iterable[str]) -> None:
        """Mark entries."""
        self._paths.update(dict.fromkeys(paths))

    def clear(self) -> None:
        """Mark nothing."""
        self._paths.clear()

    def forget(self, tops: Iterable[str]) -> None:
        """Entries have gone, and all that was below them."""
        if not self._paths:
            return
        gone = set(tops)
        for path in self:
            if path in gone or any(parent in gone for parent in ancestors(path)):
                del self._paths[path]

    def move(self, moves: Mapping[str, str]) -> None:
        """Entries have other paths; so has what is below them."""
        if self._paths:
            self._paths = {moved_path(path, moves): None for path in self._paths}


def tops(paths: Iterable[str]) -> list[str]:
    """Those of some paths that lie in no other of them, in order: a directory stands for all that is in it."""
    known = set(paths)
    return sorted(
        (path for path in known if not any(parent in known for parent in ancestors(path))),
        key=lambda path: path.split("/"),
    )


def lies_in_any(path: str, directories: Collection[str]) -> bool:
    """Whether an entry is one of some, or lies in one of them; `""` is the folder itself."""
    return path in directories or "" in directories or any(parent in directories for parent in ancestors(path))
