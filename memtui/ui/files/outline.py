"""The rows of a folder, kept as one flat list that changes patch.

Textual's `Tree` keeps an object for each node and lays all of them out again on any change: at 100,000
entries that is 14 seconds to the first frame and 2.4 seconds for each file that an agent writes. Here a row
is a path in a list. The place of a row follows from a sort key, so it is found by bisection, and a change
moves only the rows that it concerns. Nothing here knows Textual, so all of it is tested without a screen.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf
from typing import TypeAlias

from memtui.core.snapshot import Entry, Kind
from memtui.ui.files.contents import Contents, ancestors, is_at_or_below, name_of, newer, parent_of

SMALL = 200
"""Up to this many entries every directory starts expanded; a person sees all of a small memory at once."""

FEW = 64
"""Up to this many changes at once are patched one by one; of more, the rows may be laid out anew."""


class Sort(StrEnum):
    """What orders the names inside a directory. Directories always come first."""

    NAME = "name"
    """A to Z, without regard to case."""
    MODIFIED = "modified"
    """Newest first; a directory counts as new as the newest entry in it. Unknown last."""
    SIZE = "size"
    """Largest first; directories by the number of files in them. Unknown last."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one visible row shows."""

    path: str
    name: str
    depth: int
    """0 for an entry that lies directly in the folder."""
    entry: Entry
    expanded: bool
    files: int | None
    """Directories: how many files lie anywhere below. None for the rest."""
    newest_ns: int | None
    """Newest known modification time of the entry or of anything below it, nanoseconds since the epoch."""
    pinned: bool = False
    """Whether a person put it on top, out of its directory; its name is its whole path then."""


class _Descending(str):
    """A name that sorts after the names that it would precede."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)

    def __gt__(self, other: str) -> bool:
        return str.__lt__(self, other)


_Place: TypeAlias = tuple[int, float, str, str]
"""Orders the entries of one directory: directories first, value, folded name, name. What is pinned is before all."""

_PINNED = -1


class Outline:
    """The visible rows of a folder, in order.

    Args:
        entries: Any order; directories that are missing between a file and the folder are supplied.
        sort: What orders the names inside a directory.
        reverse: Turns that order around; directories still come first.
        hidden: Whether names with a leading dot have rows.
        expanded: The directories to start expanded; None: all of a small folder, none of a large one.
        pins: The entries that stand on top, in that order, and not in their directories; they need not be there.
    """

    def __init__(
        self,
        entries: Iterable[Entry] = (),
        *,
        sort: Sort = Sort.NAME,
        reverse: bool = False,
        hidden: bool = True,
        expanded: Iterable[str] | None = None,
        pins: Iterable[str] = (),
    ) -> None:
        self._pins: dict[str, int] = {path: rank for rank, path in enumerate(pins) if path}
        self._sort = sort
        self._reverse = reverse
        self._hidden = hidden
        self._contents = Contents()
        self._folders = self._contents.folders
        self._expanded: set[str] = set()
        self._rows: list[str] = []
        self._contents.fill(entries)
        if expanded is not None:
            self._expanded = {path for path in expanded if path in self._folders and path}
        elif self._contents.entries <= SMALL:
            self._expanded = set(self._folders) - {""}
        self._rows = self._below("")

    # What there is

    def __len__(self) -> int:
        """The number of visible rows."""
        return len(self._rows)

    def __contains__(self, path: object) -> bool:
        """Whether there is such an entry, visible or not."""
        return path in self._contents

    def __iter__(self) -> Iterator[str]:
        """The paths of the visible rows, from the top."""
        return iter(self._rows)

    @property
    def files(self) -> int:
        """How many files the folder holds, shown or not."""
        return self._folders[""].files

    @property
    def entries(self) -> int:
        """How many entries the folder holds, directories included."""
        return self._contents.entries

    @property
    def sort(self) -> Sort:
        """What orders the names inside a directory."""
        return self._sort

    @property
    def reverse(self) -> bool:
        """Whether that order is turned around."""
        return self._reverse

    @property
    def hidden(self) -> bool:
        """Whether names with a leading dot have rows."""
        return self._hidden

    @property
    def expanded(self) -> frozenset[str]:
        """The directories that are expanded, to be kept for the next time."""
        return frozenset(self._expanded)

    @property
    def pins(self) -> tuple[str, ...]:
        """What is pinned, the first one first; also what is not there now, but may come back."""
        return tuple(sorted(self._pins, key=self._pins.__getitem__))

    def is_pinned(self, path: str) -> bool:
        """Whether an entry stands on top."""
        return path in self._pins

    def is_expanded(self, path: str) -> bool:
        """Whether a directory shows what lies in it."""
        return path in self._expanded

    def get(self, path: str) -> Entry | None:
        """The entry of that path, visible or not."""
        return self._contents.get(path)

    def folders_in(self, path: str) -> list[str]:
        """The directories that lie directly in one, shown or not; none if it is not there. `""` is the folder."""
        folder = self._folders.get(path)
        return [] if folder is None else [child for child in folder.children if child in self._folders]

    def path_at(self, index: int) -> str:
        """The path of a visible row.

        Raises:
            IndexError: There is no such row.
        """
        return self._rows[index]

    def index_of(self, path: str) -> int | None:
        """The row of a path; None if it is not there, or not visible."""
        if not self._is_visible(path):
            return None
        return bisect_left(self._rows, self._order(path), key=self._order)

    def span(self, path: str) -> slice:
        """The row of an entry that is visible, and those of all that is visible below it."""
        order = self._order(path)
        depth = len(order)
        start = bisect_left(self._rows, order, key=self._order)
        if path not in self._expanded:
            return slice(start, start + 1)
        return slice(start, bisect_right(self._rows, order, lo=start, key=lambda row: self._order(row)[:depth]))

    def row(self, index: int) -> Row:
        """All that the row shows.

        Raises:
            IndexError: There is no such row.
        """
        path = self._rows[index]
        entry = self._folders[parent_of(path)].children[path]
        folder = self._folders.get(path)
        pin = self._pin_of(path) if self._pins else ""
        return Row(
            path=path,
            name=path if path == pin else name_of(path),
            depth=path.count("/", len(pin)),
            entry=entry,
            expanded=path in self._expanded,
            files=folder.files if folder else None,
            newest_ns=self._contents.newest(path) if folder else entry.mtime_ns,
            pinned=path == pin,
        )

    # What changed on disk

    def add(self, entry: Entry) -> None:
        """Put in an entry; one of the same path is replaced, with all below it if it was of another kind."""
        if not entry.path:
            return
        if (known := self.get(entry.path)) is not None:
            if known.kind is entry.kind:
                self.touch(entry)
                return
            self.remove(entry.path)
        parent = parent_of(entry.path)
        if parent not in self._folders:
            self.add(Entry(parent, Kind.DIRECTORY))
        self._contents.put(entry, parent)
        if entry.kind is Kind.DIRECTORY and self._contents.entries <= SMALL:
            self._expanded.add(entry.path)
        self._recount(entry.path, 0 if entry.kind is Kind.DIRECTORY else 1, entry.mtime_ns)
        if self._is_visible(entry.path):
            self._rows.insert(bisect_left(self._rows, self._order(entry.path), key=self._order), entry.path)

    def remove(self, path: str) -> None:
        """Take out an entry and all below it; nothing happens if it is not there."""
        entry = self.get(path)
        if entry is None:
            return
        for pin in self._pins:
            if pin != path and pin in self and is_at_or_below(pin, path):
                del self._rows[self.span(pin)]  # it stands apart from what it lies in
        if self._is_visible(path):
            del self._rows[self.span(path)]
        files = self._folders[path].files if path in self._folders else 1
        newest = self._contents.newest(path) if path in self._folders else entry.mtime_ns
        self._drop(path)
        self._recount(path, -files, None)
        self._forget_time(path, newest)

    def move(self, old: str, new: str) -> bool:
        """Give an entry and all below it another path; see `move_all`.

        Returns:
            False, and nothing happened, if the entry is not there or would come to lie inside itself.
        """
        return bool(self.move_all({old: new}))

    def move_all(self, moves: Mapping[str, str]) -> dict[str, str]:
        """Give entries and all below them other paths, at once: swaps and chains come out right.

        Expanded directories stay expanded, and pins go along.

        Args:
            moves: New paths by old ones; what lies in a directory may move by itself.

        Returns:
            Those that were moved: not what is not there, and not what would come to lie inside itself.
        """
        done = {
            old: new for old, new in moves.items() if new and self.get(old) is not None and not is_at_or_below(new, old)
        }
        entries = {entry.path: entry for old in done for entry in self._contents.subtree(old)}
        moved = [replace(entry, path=moved_path(path, done)) for path, entry in entries.items()]
        expanded = {new for path in self._expanded if (new := moved_path(path, done)) != path}
        self.update((), [*done, *done.values()])
        self._pins = {moved_path(pin, done): rank for pin, rank in self._pins.items()}
        self.update(moved)
        for entry in moved:
            if entry.kind is not Kind.DIRECTORY:
                continue
            if entry.path in expanded:
                self.expand(entry.path)
            else:
                self.collapse(entry.path)
        return done

    def touch(self, entry: Entry) -> None:
        """Note another size or modification time; an entry that is not there is added."""
        path = entry.path
        known = self.get(path)
        if known is None or known.kind is not entry.kind:
            self.add(entry)
            return
        children = self._folders[parent_of(path)].children
        if self._sort is Sort.NAME or entry.kind is Kind.DIRECTORY or not self._is_visible(path):
            children[path] = entry
        else:
            span = self.span(path)
            del self._rows[span]
            children[path] = entry
            self._rows.insert(bisect_left(self._rows, self._order(path), key=self._order), path)
        if known.mtime_ns != entry.mtime_ns:
            start = f"{path}/" if entry.kind is Kind.DIRECTORY else path  # a directory's own time is its own, too
            if known.mtime_ns is not None and (entry.mtime_ns is None or entry.mtime_ns < known.mtime_ns):
                self._forget_time(start, known.mtime_ns)
            self._recount(start, 0, entry.mtime_ns)

    def update(self, added: Iterable[Entry], removed: Iterable[str] = ()) -> None:
        """Take many entries out, then put many in or touch them.

        A handful is patched. A whole folder that came or went at once is cheaper to lay out anew, in one go.
        """
        added, removed = list(added), list(removed)
        if len(added) + len(removed) <= max(FEW, len(self._rows) // 100):
            for path in removed:
                self.remove(path)
            for entry in added:
                self.add(entry)
            return
        for path in removed:
            if path in self:
                self._drop(path)
        before = set(self._folders)
        self._contents.fill(added)
        self._expanded &= self._folders.keys()
        if self._contents.entries <= SMALL:
            self._expanded |= set(self._folders) - before
        self._rows = self._below("")

    # What a person chose to see

    def expand(self, path: str) -> None:
        """Show what lies in a directory."""
        if path not in self._folders or path in self._expanded or not path:
            return
        self._expanded.add(path)
        if self._is_visible(path):
            after = self.span(path).stop
            self._rows[after:after] = self._below(path)

    def collapse(self, path: str) -> None:
        """Hide what lies in a directory; directories below it stay as they are."""
        if path not in self._expanded:
            return
        if self._is_visible(path):
            span = self.span(path)
            del self._rows[span.start + 1 : span.stop]
        self._expanded.discard(path)

    def toggle(self, path: str) -> None:
        """Expand a collapsed directory, or the reverse."""
        if path in self._expanded:
            self.collapse(path)
        else:
            self.expand(path)

    def reveal(self, path: str) -> None:
        """Expand the directories around an entry, and show hidden names if it has one among them."""
        if path not in self:
            return
        pin = self._pin_of(path)
        if not self._hidden and _has_dot(path[len(pin) :]):
            self.set_hidden(True)
        around = [parent for parent in ancestors(path) if is_at_or_below(parent, pin) or not pin]
        collapsed = [parent for parent in around if parent not in self._expanded]
        if collapsed:
            self._expanded.update(collapsed[:-1])
            self.expand(collapsed[-1])  # the outermost last: its rows are laid out once, with all below

    def pin(self, path: str) -> None:
        """Put an entry on top, below what is pinned already."""
        if path and path not in self._pins:
            self._repin(path, max(self._pins.values(), default=-1) + 1)

    def unpin(self, path: str) -> None:
        """Put an entry back in its directory."""
        if path in self._pins:
            self._repin(path, None)

    def _repin(self, path: str, rank: int | None) -> None:
        if self._is_visible(path):
            del self._rows[self.span(path)]
        if rank is None:
            del self._pins[path]
        else:
            self._pins[path] = rank
        if self._is_visible(path):
            at = bisect_left(self._rows, self._order(path), key=self._order)
            self._rows[at:at] = [path, *(self._below(path) if path in self._expanded else ())]

    def set_pins(self, paths: Iterable[str]) -> None:
        """Have these entries on top, in that order, and no others."""
        pins = {path: rank for rank, path in enumerate(dict.fromkeys(paths)) if path}
        if list(pins) != list(self.pins):
            self._pins = pins
            self._rows = self._below("")

    def set_sort(self, sort: Sort, reverse: bool = False) -> None:
        """Order the names of each directory in another way."""
        self._sort, self._reverse = sort, reverse
        self._rows = self._below("")

    def set_hidden(self, hidden: bool) -> None:
        """Show names with a leading dot, or leave them out."""
        if hidden != self._hidden:
            self._hidden = hidden
            self._rows = self._below("")

    # Where a row stands

    def _pin_of(self, path: str) -> str:
        """The entry or what it lies in that stands on top, the innermost; `""` if it stands in its place."""
        while path and path not in self._pins:
            path = parent_of(path)
        return path

    def _is_visible(self, path: str) -> bool:
        if path not in self:
            return False
        pin = self._pin_of(path) if self._pins else ""
        if not self._hidden and _has_dot(path[len(pin) :]):
            return False
        while path != pin and (path := parent_of(path)):
            if path not in self._expanded:
                return False
        return True

    def _order(self, path: str) -> tuple[_Place, ...]:
        """The sort key of a row: the places of its ancestors, outermost first, then its own."""
        pins = self._pins
        if not pins:
            places = [self._place(path)]
            places.extend(self._place(parent) for parent in ancestors(path))
        else:
            places = []
            while path:
                rank = pins.get(path)
                if rank is not None:
                    places.append((_PINNED, rank, "", ""))
                    break
                places.append(self._place(path))
                path = parent_of(path)
        places.reverse()
        return tuple(places)

    def _place(self, path: str) -> _Place:
        parent, _, name = path.rpartition("/")
        folder = self._folders.get(path)
        folded = name.casefold()
        if self._sort is Sort.NAME:
            if self._reverse:
                return (folder is None, 0, _Descending(folded), _Descending(name))
            return (folder is None, 0, folded, name)
        return (folder is None, self._value(self._folders[parent].children[path]), folded, name)

    def _value(self, entry: Entry) -> float:
        """What the entry is sorted by, smallest first."""
        folder = self._folders.get(entry.path) if entry.kind is Kind.DIRECTORY else None
        known: int | None
        if self._sort is Sort.SIZE:
            known = folder.files if folder else entry.size
        else:
            known = self._contents.newest(entry.path) if folder else entry.mtime_ns
        if known is None:
            return inf
        return known if self._reverse else -known

    def _below(self, path: str) -> list[str]:
        """The visible rows below a directory that is itself expanded. Without recursion: deep trees."""
        rows: list[str] = []
        for pin in () if path else self.pins:
            if pin in self:
                rows += [pin, *(self._below(pin) if pin in self._expanded else ())]
        directories, others = self._listing(path)
        pending = [(iter(directories), others)]
        while pending:
            directories_left, others = pending[-1]
            for child in directories_left:
                rows.append(child)
                if child in self._expanded:
                    directories, inner = self._listing(child)
                    pending.append((iter(directories), inner))
                    break
            else:
                rows += others
                pending.pop()
        return rows

    def _listing(self, path: str) -> tuple[list[str], list[str]]:
        """The directories and the other entries of one directory, each in order.

        All share the directory's path, so whole paths sort as their names do, with no string made for each.
        """
        children = self._folders[path].children
        directories = [child for child in children if child in self._folders]
        others = list(children) if not directories else [child for child in children if child not in self._folders]
        if self._pins:
            directories = [child for child in directories if child not in self._pins]
            others = [child for child in others if child not in self._pins]
        if not self._hidden:
            at = len(path) + 1 if path else 0
            directories = [child for child in directories if not child.startswith(".", at)]
            others = [child for child in others if not child.startswith(".", at)]
        descending = self._reverse and self._sort is Sort.NAME
        for names in (directories, others):
            names.sort(reverse=descending)
            if not _is_folded(names):
                names.sort(key=str.casefold, reverse=descending)
            if self._sort is not Sort.NAME:
                names.sort(key=lambda child: self._value(children[child]))
        return directories, others

    # What a directory adds up to

    def _recount(self, path: str, files: int, mtime_ns: int | None) -> None:
        """Tell every directory around a path of more or fewer files, or of a newer time."""
        for parent in [*ancestors(path), ""]:
            folder = self._folders[parent]
            newest = newer(folder.newest_ns, mtime_ns)
            if not files and newest == folder.newest_ns:
                continue
            moves = (files and self._sort is Sort.SIZE) or (newest != folder.newest_ns and self._sort is Sort.MODIFIED)
            block = self._cut(parent) if moves else None
            folder.files += files
            folder.newest_ns = newest
            self._paste(parent, block)

    def _forget_time(self, path: str, newest: int | None) -> None:
        """An entry of that time has gone: directories as new as it no longer know how new they are."""
        if newest is None:
            return
        stale = []
        for parent in [*ancestors(path), ""]:
            folder = self._folders[parent]
            if not folder.stale and folder.newest_ns is not None and folder.newest_ns > newest:
                break
            stale.append(parent)
        # With rows in order of time, a directory's place must never change behind the rows' back.
        for parent in stale:
            block = self._cut(parent) if self._sort is Sort.MODIFIED else None
            self._folders[parent].stale = True
            if self._sort is Sort.MODIFIED and parent:
                self._contents.newest(parent)
            self._paste(parent, block)

    def _drop(self, path: str) -> None:
        self._expanded.difference_update(self._contents.drop(path))

    def _cut(self, path: str) -> list[str] | None:
        if not path or not self._is_visible(path):
            return None
        span = self.span(path)
        block = self._rows[span]
        del self._rows[span]
        return block

    def _paste(self, path: str, block: list[str] | None) -> None:
        if block:
            at = bisect_left(self._rows, self._order(path), key=self._order)
            self._rows[at:at] = block


def moved_path(path: str, moves: Mapping[str, str]) -> str:
    """Where an entry is once moves were made: its own, or that of a directory around it."""
    for old in (path, *ancestors(path)):
        if old in moves:
            return moves[old] + path[len(old) :]
    return path


def _has_dot(path: str) -> bool:
    return path.startswith(".") or "/." in path


def _is_folded(names: list[str]) -> bool:
    """Whether case plays no part in these names, which then need no second sort."""
    text = "".join(names)
    return text.isascii() and text == text.lower()
