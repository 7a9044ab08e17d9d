"""The last version of each path that two places had in common, in a small database beside the folder's journal.

It is written after the changes themselves, and without waiting for the disk. What it lacks after a kill is found in the
records: every event that a mirror adds names the event of the other side that it follows (`Mark`).
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from memtui.core.errors import StateUnusable
from memtui.core.events import EntryKind, Version
from memtui.core.paths import format_path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS ancestors (
    path TEXT PRIMARY KEY, kind TEXT NOT NULL, sha256 TEXT, size INTEGER NOT NULL,
    folder INTEGER NOT NULL, source INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_PREFIX = "mirror:"


class Ancestor(NamedTuple):
    """What stood at a path in both places.

    Attributes:
        version: `None` for nothing.
        folder: The number of an event of the folder, right after which it was so.
        source: The same of the source.
    """

    version: Version | None
    folder: int
    source: int

    def get_number(self, name: str) -> int:
        """That of the `folder` or the `source`."""
        return self.folder if name == "folder" else self.source


class Mark(NamedTuple):
    """What an event that a mirror added is found by: its `call_id`.

    Attributes:
        mirror: Which mirror.
        seq: The number of the event of the other side up to which this side has what happened there to the path.
        version: What both have in common at the path, where that is not what stood there right after that event.
    """

    mirror: str
    seq: int
    version: Version | None = None

    def __str__(self) -> str:
        return f"{_PREFIX}{self.mirror}:{self.seq}" + (
            f":{self.version.size}:{self.version.sha256}" if self.version is not None else ""
        )


def parse_mark(call_id: str | None) -> Mark | None:
    """The mark that a `call_id` is; `None` if it is none."""
    if call_id is None or not call_id.startswith(_PREFIX):
        return None
    try:
        mirror, seq, *more = call_id.removeprefix(_PREFIX).split(":")
        return Mark(mirror, int(seq), Version(EntryKind.FILE, more[1], int(more[0])) if more else None)
    except (ValueError, IndexError):
        return None


class AncestorStore:
    """The ancestors of all paths. Used by one thread of one process: see `Mirror`.

    Args:
        path: The database's file, made where it is not there.

    Raises:
        StateUnusable: It cannot be used. So do all methods.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        with self._translate_errors():
            self._db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_SCHEMA)
            self._all = {
                path: Ancestor(Version(EntryKind(kind), sha256, size), folder, source)
                for path, kind, sha256, size, folder, source in self._db.execute("SELECT * FROM ancestors")
            }
        self.mirror = self._get_mirror()
        """The name of the mirror in its marks: no other one, of whatever machine, has it."""

    def close(self) -> None:
        self._db.close()

    def get(self, path: str) -> Ancestor | None:
        return self._all.get(path)

    def get_paths(self) -> set[str]:
        return set(self._all)

    def count_files(self) -> int:
        return sum(each.version is not None and each.version.kind is EntryKind.FILE for each in self._all.values())

    def update(self, changed: Mapping[str, Ancestor]) -> None:
        """Keep ancestors, and drop those whose version is `None`."""
        rows, dropped = [], []
        for path, each in changed.items():
            if each.version is None:
                self._all.pop(path, None)
                dropped.append((path,))
            else:
                self._all[path] = each
                version = each.version
                rows.append((path, version.kind.value, version.sha256, version.size, each.folder, each.source))
        with self._translate_errors(), self._db:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT OR REPLACE INTO ancestors VALUES (?, ?, ?, ?, ?, ?)", rows)
            self._db.executemany("DELETE FROM ancestors WHERE path = ?", dropped)

    def get_head(self, name: str) -> tuple[int, str] | None:
        """The head of the `folder` or the `source` when it was last kept."""
        found = self._get_fact(f"head of {name}")
        return None if found is None else (int(found.partition(":")[0]), found.partition(":")[2])

    def set_heads(self, heads: Mapping[str, tuple[int, str]]) -> None:
        """Keep by which heads the records of the `folder` and the `source` are recognised."""
        facts = [(f"head of {name}", f"{seq}:{hash}") for name, (seq, hash) in heads.items()]
        with self._translate_errors(), self._db:
            self._db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts)

    def get_asked(self) -> frozenset[str]:
        """The paths of which a person was asked whether they are to be deleted, and has not said so."""
        return frozenset(json.loads(self._get_fact("asked") or "[]"))

    def set_asked(self, paths: Iterable[str]) -> None:
        """Keep these paths; see `get_asked`."""
        with self._translate_errors():
            self._db.execute("INSERT OR REPLACE INTO facts VALUES ('asked', ?)", (json.dumps(sorted(paths)),))

    def forget_numbers(self, name: str) -> None:
        """The `folder` or the `source` has another record now, whose events have other numbers."""
        is_folder = name == "folder"
        for path, (version, folder, source) in self._all.items():
            self._all[path] = Ancestor(version, 0 if is_folder else folder, source if is_folder else 0)
        with self._translate_errors(), self._db:
            self._db.execute(f"UPDATE ancestors SET {'folder' if is_folder else 'source'} = 0")

    def _get_mirror(self) -> str:
        if (found := self._get_fact("mirror")) is None:
            found = os.urandom(6).hex()
            with self._translate_errors():
                self._db.execute("INSERT INTO facts VALUES ('mirror', ?)", (found,))
        return found

    def _get_fact(self, name: str) -> str | None:
        with self._translate_errors():
            row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            words = f"{format_path(self._path)}, which a mirror keeps, cannot be used: {error}."
            raise StateUnusable(f"{words} Without it, nothing is deleted, and both sides are compared anew.") from error
