"""What a folder holds, and what each directory in it adds up to.

Kept apart from the rows: what is there does not depend on what a person chose to see. An ordinary entry costs
one slot in its directory's dictionary and no object or string besides, so that a million of them fit.
"""

from collections.abc import Iterable, Iterator

from memtui.core.snapshot import Entry, Kind


def parent_of(path: str) -> str:
    """The directory that holds an entry; `""` is the folder itself."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def ancestors(path: str) -> Iterator[str]:
    """The directories around an entry, innermost first, without the folder itself."""
    while path := parent_of(path):
        yield path


def is_at_or_below(path: str, top: str) -> bool:
    """Whether an entry is `top` or lies in it."""
    return path == top or path.startswith(f"{top}/")


def newer(one: int | None, other: int | None) -> int | None:
    """The later of two times, of which either may be unknown."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


class Folder:
    """What is known of one directory."""

    __slots__ = ("children", "files", "newest_ns", "stale")

    def __init__(self) -> None:
        self.children: dict[str, Entry] = {}  # by path: no second string for each entry
        self.files = 0
        self.newest_ns: int | None = None
        self.stale = False  # newest_ns may have gone with a removed entry


class Contents:
    """All entries of a folder, by directory."""

    def __init__(self) -> None:
        self.folders: dict[str, Folder] = {"": Folder()}
        self.entries = 0  # directories included, the folder itself not

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.get(path) is not None

    def get(self, path: str) -> Entry | None:
        """The entry of that path."""
        folder = self.folders.get(parent_of(path))
        return folder.children.get(path) if folder else None

    def newest(self, path: str) -> int | None:
        """Newest known time of a directory and of all below it; worked out only when it may have gone."""
        folders = self.folders
        if not folders[path].stale:
            return folders[path].newest_ns
        stale = [path]
        for outer in stale:  # grows while it is walked: outer before inner
            stale += [child for child in folders[outer].children if child in folders and folders[child].stale]
        for inner in reversed(stale):
            folder = folders[inner]
            own = self.get(inner)
            times = [own.mtime_ns if own else None]
            times += [
                folders[child].newest_ns if entry.kind is Kind.DIRECTORY else entry.mtime_ns
                for child, entry in folder.children.items()
            ]
            folder.newest_ns = max([time for time in times if time is not None], default=None)
            folder.stale = False
        return folders[path].newest_ns

    def fill(self, entries: Iterable[Entry]) -> None:
        """Put in or replace many entries, supply what is missing around them, then add up."""
        folders = self.folders
        for entry in entries:
            path = entry.path
            parent = path.rpartition("/")[0]
            folder = folders.get(parent)
            if folder is None:
                self._make(parent)
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
                if entry.kind is Kind.DIRECTORY:
                    folders[path] = Folder()
        self._add_up()

    def _make(self, path: str) -> None:
        """Supply a directory and those around it."""
        for parent in [*reversed(list(ancestors(path))), path]:
            if parent in self.folders:
                continue
            if self.get(parent) is not None:
                self.drop(parent)
            self.put(Entry(parent, Kind.DIRECTORY), parent_of(parent))

    def _add_up(self) -> None:
        """Count the files and find the newest time of every directory."""
        for path in reversed(list(self.inside(""))):  # innermost first
            folder = self.folders[path]
            own = self.get(path)
            folder.files = len(folder.children)
            newest = own.mtime_ns if own else None
            for child, entry in folder.children.items():
                mtime_ns = entry.mtime_ns
                if entry.kind is Kind.DIRECTORY:
                    below = self.folders[child]
                    folder.files += below.files - 1
                    mtime_ns = below.newest_ns
                if mtime_ns is not None and (newest is None or mtime_ns > newest):
                    newest = mtime_ns
            folder.newest_ns, folder.stale = newest, False

    def put(self, entry: Entry, parent: str) -> None:
        """Put in an entry that is not there, without telling the directories around it."""
        self.folders[parent].children[entry.path] = entry
        self.entries += 1
        if entry.kind is Kind.DIRECTORY:
            self.folders[entry.path] = folder = Folder()
            folder.newest_ns = entry.mtime_ns

    def drop(self, path: str) -> list[str]:
        """Take out an entry and all below it, without telling the directories around it.

        Returns:
            The directories that went.
        """
        del self.folders[parent_of(path)].children[path]
        self.entries -= 1
        gone = list(self.inside(path)) if path in self.folders else []
        for inner in gone:
            self.entries -= len(self.folders.pop(inner).children)
        return gone

    def inside(self, path: str) -> Iterator[str]:
        """A directory and all directories below it, each before those inside it."""
        pending = [path]
        while pending:
            inner = pending.pop()
            yield inner
            pending.extend(child for child in self.folders[inner].children if child in self.folders)

    def subtree(self, path: str) -> list[Entry]:
        """An entry and all below it, each before those inside it."""
        entry = self.get(path)
        found = [entry] if entry else []
        if path in self.folders:
            for inner in self.inside(path):
                found.extend(self.folders[inner].children.values())
        return found
