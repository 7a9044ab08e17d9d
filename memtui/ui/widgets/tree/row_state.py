"""State of the rows that is not in the outline: the changes that the person has not seen, and the selection."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from memtui.ui.widgets.tree.outline import apply_moves, is_at_or_below, is_in_any, list_ancestors


class RowChange(StrEnum):
    """A change of an entry, with the letter before its name; its name is the role of its style."""

    NEW = "+"
    CHANGED = "~"
    DELETED = "-"
    RENAMED = ">"
    PROBLEM = "!"


class RowState(NamedTuple):
    """How a row is drawn, besides what it shows."""

    change: RowChange | None = None
    """The change of the entry that the person has not seen."""
    cursor: bool = False
    """Whether the cursor is on the row."""
    fresh: bool = False
    """Whether the change was a moment ago."""
    letter: str = ""
    """What an agent does with the entry now, in place of the letter of the change; such a row is lit."""
    selected: bool = False
    protected: bool = False
    """Whether no agent may change the entry."""
    role: str = ""
    """What the entry is to the agent whose folder it is: a letter of `ROLES`, or empty."""
    fading: bool = False
    """Whether the row is deleted, and leaves in a moment."""


class RowChanges:
    """The unseen changes of a folder, one for an entry at most.

    A change inside a collapsed directory must be seen, and looking through every change for every painted row would be
    slow: each directory counts the changes below it.
    """

    def __init__(self) -> None:
        self._changes: dict[str, RowChange] = {}
        self._below: dict[str, Counter[RowChange]] = {}

    def __len__(self) -> int:
        return len(self._changes)

    def get(self, path: str) -> RowChange | None:
        return self._changes.get(path)

    def get_below(self, path: str) -> RowChange | None:
        """The change of a collapsed directory: a problem below it, or else any change."""
        below = self._below.get(path)
        if below is None:
            return None
        return RowChange.PROBLEM if below[RowChange.PROBLEM] else RowChange.CHANGED

    def set(self, path: str, change: RowChange) -> None:
        """Set the change of an entry; it need not be there yet."""
        self.clear(path)
        self._changes[path] = change
        for parent in list_ancestors(path):
            self._below.setdefault(parent, Counter())[change] += 1

    def clear(self, path: str) -> bool:
        """Remove a change; false if there was none."""
        change = self._changes.pop(path, None)
        if change is None:
            return False
        for parent in list_ancestors(path):
            below = self._below[parent]
            below[change] -= 1
            if not below.total():
                del self._below[parent]
        return True

    def forget(self, path: str) -> None:
        """Remove the changes of an entry and of all below it."""
        for changed in self._find_at_or_below(path):
            self.clear(changed)

    def move_all(self, moves: Mapping[str, str]) -> None:
        """Move the changes of entries and of all below them to other paths, at once."""
        found: dict[str, RowChange] = {}
        for old in moves:
            for path in self._find_at_or_below(old):
                found[apply_moves(path, moves)] = self._changes[path]
                self.clear(path)
        for path, change in found.items():
            self.set(path, change)

    def _find_at_or_below(self, top: str) -> list[str]:
        found = [top] if top in self._changes else []
        if top in self._below:
            found += [path for path in self._changes if path != top and is_at_or_below(path, top)]
        return found


class TreeSelection:
    """The entries that a person selected, by path, in that order; their rows need not be visible.

    Args:
        changed: Called when the person selected other entries.
    """

    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed = changed
        self._paths: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._paths))

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def toggle(self, path: str) -> None:
        """Select an entry, or deselect it."""
        if path in self._paths:
            del self._paths[path]
        else:
            self._paths[path] = None
        self._changed()

    def add(self, paths: Iterable[str]) -> None:
        """Select entries, besides those that are selected."""
        self._paths.update(dict.fromkeys(paths))
        self._changed()

    def clear(self) -> bool:
        """Deselect everything; false if nothing was selected."""
        if not self._paths:
            return False
        self._paths.clear()
        self._changed()
        return True

    def discard(self, tops: Iterable[str]) -> None:
        """Deselect entries that disappeared, and all that was below them."""
        removed = frozenset(tops) if self._paths else ()
        for path in self:
            if is_in_any(path, removed):
                del self._paths[path]

    def move(self, moves: Mapping[str, str]) -> None:
        """Give entries and all below them other paths."""
        self._paths = {apply_moves(path, moves): None for path in self._paths}
