"""What happened to which entry since it was last seen, also when its directory is collapsed.

A change inside a collapsed directory must not go unseen, and looking through every mark for every row that is
painted would be slow. So each directory keeps count of the marks below it.
"""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from memtui.ui.files.contents import ancestors, is_at_or_below
from memtui.ui.files.outline import moved_path


class Mark(StrEnum):
    """What happened to an entry; the letter stands before its name."""

    NEW = "+"
    CHANGED = "~"
    DELETED = "-"
    RENAMED = ">"
    PROBLEM = "!"


class Marks:
    """The marks of a folder, one for an entry at most."""

    def __init__(self) -> None:
        self._marks: dict[str, Mark] = {}
        self._below: dict[str, Counter[Mark]] = {}

    def __len__(self) -> int:
        return len(self._marks)

    def get(self, path: str) -> Mark | None:
        """The entry's own mark."""
        return self._marks.get(path)

    def below(self, path: str) -> Mark | None:
        """What a collapsed directory shows: a problem below it, or else that something changed."""
        below = self._below.get(path)
        if below is None:
            return None
        return Mark.PROBLEM if below[Mark.PROBLEM] else Mark.CHANGED

    def set(self, path: str, mark: Mark) -> None:
        """Mark an entry; it need not be there yet."""
        self.clear(path)
        self._marks[path] = mark
        for parent in ancestors(path):
            self._below.setdefault(parent, Counter())[mark] += 1

    def clear(self, path: str) -> bool:
        """The person has seen it; False if there was nothing to see."""
        mark = self._marks.pop(path, None)
        if mark is None:
            return False
        for parent in ancestors(path):
            below = self._below[parent]
            below[mark] -= 1
            if not below.total():
                del self._below[parent]
        return True

    def forget(self, path: str) -> None:
        """Clear the marks of an entry that has gone and of all that was below it."""
        for marked in self._at_or_below(path):
            self.clear(marked)

    def move(self, old: str, new: str) -> None:
        """An entry has another path: its mark and those below it go along."""
        self.move_all({old: new})

    def move_all(self, moves: Mapping[str, str]) -> None:
        """Entries have other paths, at once: their marks and those below them go along."""
        found: dict[str, Mark] = {}
        for old in moves:
            for path in self._at_or_below(old):
                found[moved_path(path, moves)] = self._marks[path]
                self.clear(path)
        for path, mark in found.items():
            self.set(path, mark)

    def _at_or_below(self, top: str) -> list[str]:
        found = [top] if top in self._marks else []
        if top in self._below:
            found += [path for path in self._marks if path != top and is_at_or_below(path, top)]
        return found
