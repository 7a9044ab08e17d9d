"""The rows of a folder, kept as one flat list that changes patch.

Textual's `Tree` keeps an object for each node and lays all of them out again on any change: at 100,000 entries that is
14 seconds to the first frame and 2.4 seconds for each file that an agent writes. Here a row is a path in a list. Its
place follows from a sort key, so it is found by bisection, and a change moves only the rows that it concerns.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from enum import StrEnum
from math import inf
from typing import TypeAlias

from memtui.core.events import EntryKind, FolderEntry
from memtui.core.lazy_dataclass import dataclass


def get_parent(path: str) -> str:
    """The directory of an entry; `""` is the folder itself."""
    return path.rpartition("/")[0]


def get_name(path: str) -> str:
    return path.rpartition("/")[2]


def list_ancestors(path: str) -> Iterator[str]:
    """The directories around an entry, innermost first, without the folder itself."""
    while path := get_parent(path):
        yield path


def is_at_or_below(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top}/")


def find_topmost(paths: Iterable[str]) -> list[str]:
    """The paths that lie in no other of them, in order: a directory stands for all that is in it."""
    known = set(paths)
    return sorted(
        (path for path in known if not any(parent in known for parent in list_ancestors(path))),
        key=lambda path: path.split("/"),
    )


def is_in_any(path: str, directories: Collection[str]) -> bool:
    """Whether an entry is one of some, or lies in one of them; `""` is the folder itself."""
    return path in directories or "" in directories or any(parent in directories for parent in list_ancestors(path))


def get_later(one: int | None, other: int | None) -> int | None:
    """The later of two times, of which either may be unknown."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


@dataclass(slots=True)
class TreeFolder:
    """One directory.

    Attributes:
        children: Its entries by path: no second string for each entry.
        files: The number of files anywhere below.
        newest_ns: The newest known time of the directory and of all below it, nanoseconds since the epoch.
        stale: Whether the entry of that time may have been removed.
    """

    children: dict[str, FolderEntry] = field(default_factory=dict)
    files: int = 0
    newest_ns: int | None = None
    stale: bool = False


class TreeContents:
    """All entries of a folder, by directory.

    An ordinary entry costs one slot in its directory's dictionary and no object or string besides, so that a million of
    them fit.
    """

    def __init__(self) -> None:
        self.folders: dict[str, TreeFolder] = {"": TreeFolder()}
        self.entries = 0  # directories included, the folder itself not

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.get(path) is not None

    def get(self, path: str) -> FolderEntry | None:
        folder = self.folders.get(get_parent(path))
        return folder.children.get(path) if folder else None

    def find_newest(self, path: str) -> int | None:
        """The newest known time of the files below a directory; computed only when it is stale."""
        folders = self.folders
        if not folders[path].stale:
            return folders[path].newest_ns
        stale = [path]
        for outer in stale:  # grows while it is walked: outer before inner
            stale += [child for child in folders[outer].children if child in folders and folders[child].stale]
        for inner in reversed(stale):
            folder = folders[inner]
            times = [
                folders[child].newest_ns if entry.kind is EntryKind.DIRECTORY else entry.mtime_ns
                for child, entry in folder.children.items()
            ]
            folder.newest_ns = max([time for time in times if time is not None], default=None)
            folder.stale = False
        return folders[path].newest_ns

    def fill(self, entries: Iterable[FolderEntry]) -> None:
        """Add or replace many entries, supply the directories around them, then add up."""
        folders = self.folders
        for entry in entries:
            path = entry.path
            parent = path.rpartition("/")[0]
            folder = folders.get(parent)
            if folder is None:
                self._make_directory(parent)
                folder = folders[parent]
            known = folder.children.get(path)
            if known is not None and known.kind is not entry.kind:
                self.drop(path)
                known = None
            if not path:
                continue
            folder.children[path] = entry
            if known is None:
                self.entries += 1
                if entry.kind is EntryKind.DIRECTORY:
                    folders[path] = TreeFolder()
        self._add_up()

    def _make_directory(self, path: str) -> None:
        """Add a directory and those around it."""
        for parent in [*reversed(list(list_ancestors(path))), path]:
            if parent in self.folders:
                continue
            if self.get(parent) is not None:
                self.drop(parent)
            self.put(FolderEntry(parent, EntryKind.DIRECTORY), get_parent(parent))

    def _add_up(self) -> None:
        """Count the files and find the newest time of every directory."""
        for path in reversed(list(self.list_directories(""))):  # innermost first
            folder = self.folders[path]
            folder.files = len(folder.children)
            newest = None
            for child, entry in folder.children.items():
                mtime_ns = entry.mtime_ns
                if entry.kind is EntryKind.DIRECTORY:
                    below = self.folders[child]
                    folder.files += below.files - 1
                    mtime_ns = below.newest_ns
                if mtime_ns is not None and (newest is None or mtime_ns > newest):
                    newest = mtime_ns
            folder.newest_ns, folder.stale = newest, False

    def put(self, entry: FolderEntry, parent: str) -> None:
        """Add an entry that is not there, without the totals of the directories around it."""
        self.folders[parent].children[entry.path] = entry
        self.entries += 1
        if entry.kind is EntryKind.DIRECTORY:
            self.folders[entry.path] = TreeFolder()

    def drop(self, path: str) -> list[str]:
        """Remove an entry and all below it, without the totals around it; returns the removed directories."""
        del self.folders[get_parent(path)].children[path]
        self.entries -= 1
        removed = list(self.list_directories(path)) if path in self.folders else []
        for inner in removed:
            self.entries -= len(self.folders.pop(inner).children)
        return removed

    def list_directories(self, path: str) -> Iterator[str]:
        """A directory and all directories below it, each before those inside it."""
        pending = [path]
        while pending:
            inner = pending.pop()
            yield inner
            pending.extend(child for child in self.folders[inner].children if child in self.folders)

    def list_subtree(self, path: str) -> list[FolderEntry]:
        """An entry and all below it, each before those inside it."""
        entry = self.get(path)
        found = [entry] if entry else []
        if path in self.folders:
            for inner in self.list_directories(path):
                found.extend(self.folders[inner].children.values())
        return found


SMALL = 200
"""The number of entries up to which every directory starts expanded."""

FEW = 64
"""The number of changes up to which they are patched one by one; for more, all rows may be laid out anew."""


class SortOrder(StrEnum):
    """The order of the names inside a directory. Directories always come first."""

    NAME = "name"
    """A to Z, without regard to case."""
    MODIFIED = "modified"
    """Newest first; a directory counts as new as the newest entry in it. Unknown last."""
    SIZE = "size"
    """Largest first; directories by the number of files in them. Unknown last."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """What one visible row shows."""

    path: str
    name: str
    depth: int
    """0 for an entry that lies directly in the folder."""
    entry: FolderEntry
    expanded: bool
    files: int | None
    """Directories: how many files lie anywhere below. None for the rest."""
    newest_ns: int | None
    """Newest known modification time of the entry or of anything below it, nanoseconds since the epoch."""
    pinned: bool = False
    """Whether a person put it on top, out of its directory; its name is its whole path then."""


class _DescendingName(str):
    """A name that sorts in reverse."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)

    def __gt__(self, other: str) -> bool:
        return str.__lt__(self, other)


_Place: TypeAlias = tuple[int, float, str, str]
"""Orders the entries of one directory: directories first, value, folded name, name; pinned entries are before all."""

_PINNED = -1


class Outline:
    """The visible rows of a folder, in order.

    Args:
        entries: In any order; directories that are missing between a file and the folder are supplied.
        sort: The order of the names inside a directory.
        reverse: Turns that order around; directories still come first.
        hidden: Whether names with a leading dot have rows.
        expanded: The directories to start expanded; `None`: all of a small folder, none of a large one.
        pins: The entries on top, in that order, and not in their directories; they need not be there.
    """

    def __init__(
        self,
        entries: Iterable[FolderEntry] = (),
        *,
        sort: SortOrder = SortOrder.NAME,
        reverse: bool = False,
        hidden: bool = True,
        expanded: Iterable[str] | None = None,
        pins: Iterable[str] = (),
    ) -> None:
        self._pins: dict[str, int] = {path: rank for rank, path in enumerate(pins) if path}
        self.sort = sort
        self.reverse = reverse
        self.hidden = hidden
        self._contents = TreeContents()
        self._folders = self._contents.folders
        self._expanded: set[str] = set()
        self._rows: list[str] = []
        self._contents.fill(entries)
        if expanded is not None:
            self._expanded = {path for path in expanded if path in self._folders and path}
        elif self._contents.entries <= SMALL:
            self._expanded = set(self._folders) - {""}
        self._rows = self._list_rows_below("")

    # What there is

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, path: object) -> bool:
        return path in self._contents

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    @property
    def files(self) -> int:
        """The number of files, shown or not."""
        return self._folders[""].files

    @property
    def entries(self) -> int:
        """The number of entries, directories included."""
        return self._contents.entries

    @property
    def expanded(self) -> frozenset[str]:
        return frozenset(self._expanded)

    @property
    def pins(self) -> tuple[str, ...]:
        """The pinned paths, in order; also those that are not there now."""
        return tuple(sorted(self._pins, key=self._pins.__getitem__))

    def is_pinned(self, path: str) -> bool:
        return path in self._pins

    def is_expanded(self, path: str) -> bool:
        return path in self._expanded

    def get(self, path: str) -> FolderEntry | None:
        """The entry of a path, visible or not."""
        return self._contents.get(path)

    def list_folders_in(self, path: str) -> list[str]:
        """The directories directly in one (`""` is the folder), shown or not; none if it is not there."""
        folder = self._folders.get(path)
        return [] if folder is None else [child for child in folder.children if child in self._folders]

    def list_files(self) -> list[str]:
        """The paths of all that is no directory, shown or not, in no order."""
        folders = self._folders
        return [path for folder in folders.values() for path in folder.children if path not in folders]

    def get_path_at(self, index: int) -> str:
        """The path of a visible row; raises `IndexError`."""
        return self._rows[index]

    def find_index(self, path: str) -> int | None:
        """The row of a path; `None` if it is not there, or not visible."""
        return self._find_position(path) if self._is_visible(path) else None

    def get_span(self, path: str) -> slice:
        """The rows of a visible entry and of all that is visible below it."""
        order = self._get_sort_key(path)
        depth = len(order)
        start = bisect_left(self._rows, order, key=self._get_sort_key)
        if path not in self._expanded:
            return slice(start, start + 1)
        return slice(start, bisect_right(self._rows, order, lo=start, key=lambda row: self._get_sort_key(row)[:depth]))

    def get_row(self, index: int) -> TreeRow:
        """The content of a visible row; raises `IndexError`."""
        path = self._rows[index]
        entry = self._folders[get_parent(path)].children[path]
        folder = self._folders.get(path)
        pin = self._find_pin(path) if self._pins else ""
        return TreeRow(
            path=path,
            name=path if path == pin else get_name(path),
            depth=path.count("/", len(pin)),
            entry=entry,
            expanded=path in self._expanded,
            files=folder.files if folder else None,
            newest_ns=self._contents.find_newest(path) if folder else entry.mtime_ns,
            pinned=path == pin,
        )

    # What changed on disk

    def add(self, entry: FolderEntry) -> None:
        """Add an entry; one of the same path is replaced, with all below it if it was of another kind."""
        if not entry.path:
            return
        if (known := self.get(entry.path)) is not None:
            if known.kind is entry.kind:
                self._replace(entry, known)
                return
            self.remove(entry.path)
        parent = get_parent(entry.path)
        if parent not in self._folders:
            self.add(FolderEntry(parent, EntryKind.DIRECTORY))
        self._contents.put(entry, parent)
        if entry.kind is EntryKind.DIRECTORY and self._contents.entries <= SMALL:
            self._expanded.add(entry.path)
        if entry.kind is not EntryKind.DIRECTORY:  # whose own time says nothing of its notes
            self._update_totals(entry.path, 1, entry.mtime_ns)
        if self._is_visible(entry.path):
            self._rows.insert(self._find_position(entry.path), entry.path)

    def remove(self, path: str) -> None:
        """Remove an entry and all below it, if it is there."""
        entry = self.get(path)
        if entry is None:
            return
        for pin in self._pins:
            if pin != path and pin in self and is_at_or_below(pin, path):
                del self._rows[self.get_span(pin)]  # it stands apart from what it lies in
        if self._is_visible(path):
            del self._rows[self.get_span(path)]
        is_folder = entry.kind is EntryKind.DIRECTORY
        files = self._folders[path].files if is_folder else 1
        newest = self._contents.find_newest(path) if is_folder else entry.mtime_ns
        self._drop(path)
        self._update_totals(path, -files, None)
        self._invalidate_time(path, newest)

    def move_all(self, moves: Mapping[str, str]) -> dict[str, str]:
        """Give entries and all below them other paths, at once: swaps and chains come out right.

        Args:
            moves: New paths by old ones; an entry in a directory may move by itself.

        Returns:
            The moves that were made: not those of missing entries, nor those into the entry itself.
        """
        done = {
            old: new for old, new in moves.items() if new and self.get(old) is not None and not is_at_or_below(new, old)
        }
        entries = {entry.path: entry for old in done for entry in self._contents.list_subtree(old)}
        moved = [replace(entry, path=apply_moves(path, done)) for path, entry in entries.items()]
        expanded = {new for path in self._expanded if (new := apply_moves(path, done)) != path}
        self.update((), [*done, *done.values()])
        self._pins = {apply_moves(pin, done): rank for pin, rank in self._pins.items()}
        self.update(moved)
        for entry in moved:
            if entry.kind is EntryKind.DIRECTORY:
                (self.expand if entry.path in expanded else self.collapse)(entry.path)
        return done

    def _replace(self, entry: FolderEntry, known: FolderEntry) -> None:
        """Set another size or modification time."""
        path = entry.path
        children = self._folders[get_parent(path)].children
        if self.sort is SortOrder.NAME or entry.kind is EntryKind.DIRECTORY or not self._is_visible(path):
            children[path] = entry
        else:
            del self._rows[self.get_span(path)]
            children[path] = entry
            self._rows.insert(self._find_position(path), path)
        if known.mtime_ns != entry.mtime_ns and entry.kind is not EntryKind.DIRECTORY:
            if known.mtime_ns is not None and (entry.mtime_ns is None or entry.mtime_ns < known.mtime_ns):
                self._invalidate_time(path, known.mtime_ns)
            self._update_totals(path, 0, entry.mtime_ns)

    def update(self, added: Iterable[FolderEntry], removed: Iterable[str] = ()) -> None:
        """Remove many entries, then add or replace many.

        A few are patched one by one; for more, it is cheaper to lay all rows out anew.
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
        self._rows = self._list_rows_below("")

    # What a person chose to see

    def expand(self, path: str) -> None:
        if path not in self._folders or path in self._expanded or not path:
            return
        self._expanded.add(path)
        if self._is_visible(path):
            after = self.get_span(path).stop
            self._rows[after:after] = self._list_rows_below(path)

    def collapse(self, path: str) -> None:
        """Hide the content of a directory; directories below it stay as they are."""
        if path not in self._expanded:
            return
        if self._is_visible(path):
            span = self.get_span(path)
            del self._rows[span.start + 1 : span.stop]
        self._expanded.discard(path)

    def toggle(self, path: str) -> None:
        (self.collapse if path in self._expanded else self.expand)(path)

    def reveal(self, path: str) -> None:
        """Expand the directories around an entry, and show hidden names if it has one among them."""
        if path not in self:
            return
        pin = self._find_pin(path)
        if not self.hidden and has_dot(path[len(pin) :]):
            self.set_hidden(True)
        around = [parent for parent in list_ancestors(path) if is_at_or_below(parent, pin) or not pin]
        collapsed = [parent for parent in around if parent not in self._expanded]
        if collapsed:
            self._expanded.update(collapsed[:-1])
            self.expand(collapsed[-1])  # the outermost last: its rows are laid out once, with all below

    def set_pins(self, paths: Iterable[str]) -> None:
        """Have these entries on top, in that order, and no others."""
        pins = {path: rank for rank, path in enumerate(dict.fromkeys(paths)) if path}
        if list(pins) != list(self.pins):
            self._pins = pins
            self._rows = self._list_rows_below("")

    def set_sort(self, sort: SortOrder, reverse: bool = False) -> None:
        """Order the names of each directory in another way."""
        self.sort, self.reverse = sort, reverse
        self._rows = self._list_rows_below("")

    def set_hidden(self, hidden: bool) -> None:
        """Show names with a leading dot, or leave them out."""
        if hidden != self.hidden:
            self.hidden = hidden
            self._rows = self._list_rows_below("")

    def _find_pin(self, path: str) -> str:
        """The entry or the innermost directory around it that is pinned; `""` without one."""
        while path and path not in self._pins:
            path = get_parent(path)
        return path

    def _is_visible(self, path: str) -> bool:
        if path not in self:
            return False
        pin = self._find_pin(path) if self._pins else ""
        if not self.hidden and has_dot(path[len(pin) :]):
            return False
        while path != pin and (path := get_parent(path)):
            if path not in self._expanded:
                return False
        return True

    def _find_position(self, path: str) -> int:
        """The row of a path, or the one that it is to be put before."""
        return bisect_left(self._rows, self._get_sort_key(path), key=self._get_sort_key)

    def _get_sort_key(self, path: str) -> tuple[_Place, ...]:
        """The sort key of a row: the places of its ancestors, outermost first, then its own."""
        places: list[_Place] = []
        while path:
            if (rank := self._pins.get(path)) is not None:
                places.append((_PINNED, rank, "", ""))
                break
            places.append(self._get_position(path))
            path = get_parent(path)
        places.reverse()
        return tuple(places)

    def _get_position(self, path: str) -> _Place:
        parent, _, name = path.rpartition("/")
        folder = self._folders.get(path)
        folded = name.casefold()
        if self.sort is SortOrder.NAME:
            order = _DescendingName if self.reverse else str
            return (folder is None, 0, order(folded), order(name))
        return (folder is None, self._get_sort_value(self._folders[parent].children[path]), folded, name)

    def _get_sort_value(self, entry: FolderEntry) -> float:
        """The number that an entry is sorted by, smallest first."""
        is_folder = entry.kind is EntryKind.DIRECTORY
        if self.sort is SortOrder.SIZE:
            value = self._folders[entry.path].files if is_folder else entry.size
        else:
            value = self._contents.find_newest(entry.path) if is_folder else entry.mtime_ns
        if value is None:
            return inf
        return value if self.reverse else -value

    def _list_rows_below(self, path: str) -> list[str]:
        """The visible rows below an expanded directory. Without recursion: directories may be deep."""
        rows: list[str] = []
        for pin in () if path else self.pins:
            if pin in self:
                rows += [pin, *(self._list_rows_below(pin) if pin in self._expanded else ())]
        directories, others = self._list_directory(path)
        pending = [(iter(directories), others)]
        while pending:
            directories_left, others = pending[-1]
            for child in directories_left:
                rows.append(child)
                if child in self._expanded:
                    directories, inner = self._list_directory(child)
                    pending.append((iter(directories), inner))
                    break
            else:
                rows += others
                pending.pop()
        return rows

    def _list_directory(self, path: str) -> tuple[list[str], list[str]]:
        """The directories and the other entries of one directory, each in order.

        All share the directory's path, so whole paths sort as their names do, with no string made for each.
        """
        children = self._folders[path].children
        at = len(path) + 1 if path else 0
        shown: Iterable[str] = children
        if self._pins:
            shown = [child for child in shown if child not in self._pins]
        if not self.hidden:
            shown = [child for child in shown if not child.startswith(".", at)]
        directories = [child for child in shown if child in self._folders]
        others = list(shown) if not directories else [child for child in shown if child not in self._folders]
        self._sort_names(directories, children)
        self._sort_names(others, children)
        return directories, others

    def _sort_names(self, names: list[str], children: Mapping[str, FolderEntry]) -> None:
        descending = self.reverse and self.sort is SortOrder.NAME
        names.sort(reverse=descending)
        if not _is_folded(names):
            names.sort(key=str.casefold, reverse=descending)
        if self.sort is not SortOrder.NAME:
            names.sort(key=lambda child: self._get_sort_value(children[child]))

    # What a directory adds up to

    def _update_totals(self, path: str, files: int, mtime_ns: int | None) -> None:
        """Add a number of files and a time to every directory around a path."""
        for parent in [*list_ancestors(path), ""]:
            folder = self._folders[parent]
            newest = get_later(folder.newest_ns, mtime_ns)
            if not files and newest == folder.newest_ns:
                continue
            moves = (files and self.sort is SortOrder.SIZE) or (
                newest != folder.newest_ns and self.sort is SortOrder.MODIFIED
            )
            block = self._cut(parent) if moves else None
            folder.files += files
            folder.newest_ns = newest
            self._paste(parent, block)

    def _invalidate_time(self, path: str, newest: int | None) -> None:
        """Mark directories as stale after the removal of an entry of that time, if they are as new as it."""
        if newest is None:
            return
        stale = []
        for parent in [*list_ancestors(path), ""]:
            folder = self._folders[parent]
            if not folder.stale and folder.newest_ns is not None and folder.newest_ns > newest:
                break
            stale.append(parent)
        # With rows in order of time, a directory's place must never change behind the rows' back.
        for parent in stale:
            block = self._cut(parent) if self.sort is SortOrder.MODIFIED else None
            self._folders[parent].stale = True
            if self.sort is SortOrder.MODIFIED and parent:
                self._contents.find_newest(parent)
            self._paste(parent, block)

    def _drop(self, path: str) -> None:
        self._expanded.difference_update(self._contents.drop(path))

    def _cut(self, path: str) -> list[str] | None:
        if not path or not self._is_visible(path):
            return None
        span = self.get_span(path)
        block = self._rows[span]
        del self._rows[span]
        return block

    def _paste(self, path: str, block: list[str] | None) -> None:
        if block:
            at = self._find_position(path)
            self._rows[at:at] = block


def apply_moves(path: str, moves: Mapping[str, str]) -> str:
    """The path of an entry after moves of it or of a directory around it."""
    for old in (path, *list_ancestors(path)):
        if old in moves:
            return moves[old] + path[len(old) :]
    return path


def has_dot(path: str) -> bool:
    """Whether a path is hidden: a name in it has a leading dot."""
    return path.startswith(".") or "/." in path


def _is_folded(names: list[str]) -> bool:
    """Whether the names need no second sort without regard to case."""
    text = "".join(names)
    return text.isascii() and text == text.lower()


def find_neighbours(outline: Outline, path: str | None, removed: Collection[str]) -> list[str]:
    """The paths for a cursor when entries are removed: the next row that stays, the one before, those around it."""
    if path is None:
        return []
    around, removed = [path, *list_ancestors(path)], frozenset(removed)
    top = next((each for each in reversed(around) if each in removed), None)
    if top is None or outline.find_index(top) is None:
        return around
    span = outline.get_span(top)
    after = span.stop
    while after < len(outline) and (below := outline.get_path_at(after)) in removed:
        after = outline.get_span(below).stop if outline.is_expanded(below) else after + 1
    rows = [after] if after < len(outline) else []
    rows += [span.start - 1] if span.start else []
    return [*(outline.get_path_at(row) for row in rows), *around]


def list_rows_above(outline: Outline, path: str) -> list[str]:
    """An entry, the directories around it, and the rows above it."""
    row = outline.find_index(path) or 0
    above = (outline.get_path_at(index) for index in range(row, max(-1, row - 200), -1))
    return [path, *list_ancestors(path), *above]
