"""What the events leave behind: which version stands at each path.

The tables of a journal that say so are caches of the chain. A check compares them with what is computed here, and a
repair makes them anew from it.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from heapq import nlargest
from typing import Any, NamedTuple

from memtui.journal.bodies import unpack_body
from memtui.journal.chain import decode_body
from memtui.journal.rows import iter_ascending

_AT_ONCE = 500
"""Values in one query: older SQLite takes no more than 999."""

ANYTHING: Any = object()
"""Stands where it is not known what an event left."""


class Uncertain(NamedTuple):
    """What an event left that the disk did not confirm: one of these versions, as they are encoded."""

    versions: tuple[Any, ...]


class Standing:
    """The versions that events leave, as they are encoded in them: kind, SHA-256 and size, or `None` for nothing.

    Attributes:
        is_certain: Whether no event was missing, so that where nothing was seen nothing stands.
    """

    def __init__(self) -> None:
        self.versions: dict[str, Any] = {}
        self.is_certain = True

    def get_version(self, path: str) -> Any:
        """The encoded version; `ANYTHING` if it is not known."""
        was = self.versions.get(path, None if self.is_certain else ANYTHING)
        return ANYTHING if isinstance(was, Uncertain) else was

    def apply_event(self, record: dict[str, Any]) -> Iterable[str]:
        """Follow one event; returns the paths that it touched.

        Raises:
            ValueError, TypeError, LookupError: It is no event of ours.
        """
        changes = record.get("changes", ())
        if len(changes) == 1 and not record.get("is_error"):
            for path, _, after in changes:
                self.versions[path] = after
            return (path,)
        left: dict[str, Any] = {}
        before: dict[str, Any] = {}
        for path, was, after in changes:
            before.setdefault(path, was)
            if after is not None or path not in left:
                left[path] = after
        if record.get("is_error"):  # nobody knows whether it came to pass
            self.versions.update((path, Uncertain((before[path], after))) for path, after in left.items())
        else:
            self.versions.update(left)
        return left

    def lose_track(self) -> None:
        """Events are missing, or were changed."""
        self.versions.clear()
        self.is_certain = False

    def may_stand(self, path: str, version: Any) -> bool:
        """Whether an encoded version may stand at a path, as far as the events tell."""
        return any(each is ANYTHING or is_same_version(version, each) for each in self.get_candidates(path))

    def get_candidates(self, path: str) -> tuple[Any, ...]:
        """The encoded versions of which one stands at a path."""
        was = self.versions.get(path, None if self.is_certain else ANYTHING)
        return was.versions if isinstance(was, Uncertain) else (was,)


def is_same_version(version: Any, other: Any) -> bool:
    """Whether two encoded versions are of the same content: attributes may change without an event."""
    return version == other if version is None or other is None else list(version[:3]) == list(other[:3])


# The table `known`, compared with that.


class KnownRow(NamedTuple):
    """A row of the table: the path, and the version as an event encodes it."""

    path: str
    version: tuple[Any, ...]


class KnownDifference(NamedTuple):
    """A path of which the table says something else than the events.

    Attributes:
        recorded: What the events left there: a version as it is encoded, `None` for nothing.
        known: What the table says; `None` for nothing.
    """

    path: str
    recorded: Any
    known: Any

    def __str__(self) -> str:
        place = f"/memories/{self.path}"
        if self.known is None:
            return f"{place} is missing in the table of files; an event left it there."
        if self.recorded is None:
            return f"{place} is in the table of files; no event left it there."
        return f"The table of files has another version of {place} than the events."


def iter_known_rows(connection: sqlite3.Connection) -> Iterator[KnownRow]:
    """The rows in order. Raises `sqlite3.Error` where they cannot be read."""
    rows = connection.execute(
        "SELECT CAST(path AS BLOB), CAST(kind AS BLOB), CAST(sha256 AS BLOB), size FROM known ORDER BY path"
    )
    for path, kind, sha256, size in iter_ascending(rows):
        name = sha256.hex() if sha256 else None
        yield KnownRow(decode_path(path), ((kind or b"").decode("utf-8", "backslashreplace"), name, size))


def find_known_differences(connection: sqlite3.Connection, standing: Standing) -> Iterator[KnownDifference]:
    """The paths of which the table says something else than the events. Raises `sqlite3.Error`."""
    seen: set[str] = set()
    for path, version in iter_known_rows(connection):
        seen.add(path)
        left = standing.versions.get(path)
        if type(left) is list and tuple(left[:3]) == version:
            continue  # as nearly all of them are
        if not standing.may_stand(path, version):
            yield KnownDifference(path, _choose(standing.versions.get(path)), version)
    for path, left in standing.versions.items():
        if path not in seen and not standing.may_stand(path, None):
            yield KnownDifference(path, _choose(left), None)


_MOST_GONE = 2_000
"""Paths where nothing is noted to stand that are looked at when a journal is opened, those touched last."""
_LARGE = 4_096
"""Bytes of an event from which it is decoded, and not only searched."""


_PAGE = 2_000
_SELECT_NOTED = "SELECT (SELECT max(seq) FROM touched WHERE touched.path = known.path), path, sha256 FROM known"
_SELECT_GONE = (
    "SELECT max(seq), path FROM touched WHERE {where} GROUP BY path HAVING path NOT IN (SELECT path FROM known)"
)


def is_doubtful(query: Callable[[str], list[tuple[Any, ...]]]) -> bool:
    """Whether the table seems to say something else than the last event of a path, as far as that is seen at once.

    No proof that it is right, as the indexes are believed and hashes only are compared: a check proves that.
    """
    hashes: dict[int | None, list[tuple[str, str | None]]] = {}
    gone: list[tuple[int, bytes]] = []
    after = "path IS NOT NULL"
    while after:  # a part at a time, as nobody else can read meanwhile
        noted = query(f"{_SELECT_NOTED} WHERE {after} ORDER BY path LIMIT {_PAGE}")
        for seq, path, sha256 in noted:
            if sha256 is not None:
                hashes.setdefault(seq, []).append((decode_path(path), sha256.hex()))
        last = noted[-1][1].hex() if len(noted) == _PAGE else ""
        until = f" AND path <= x'{last}'" if last else ""
        gone = nlargest(_MOST_GONE, (*gone, *query(_SELECT_GONE.format(where=after + until))))
        after = f"path > x'{last}'" if last else ""
    for seq, path in gone:
        hashes.setdefault(seq, []).append((decode_path(path), None))
    if None in hashes:
        return True
    seqs = [seq for seq in hashes if seq is not None]
    for start in range(0, len(seqs), _AT_ONCE):
        numbers = ",".join(map(str, seqs[start : start + _AT_ONCE]))
        bodies = dict(query(f"SELECT seq, CAST(body AS BLOB) FROM events WHERE seq IN ({numbers})"))
        if any(
            seq not in bodies or _contradicts(unpack_body(bodies[seq]), hashes[seq])
            for seq in seqs[start : start + _AT_ONCE]
        ):
            return True
    return False


def _leaves(body: bytes, sha256: bytes) -> bool:
    """Whether a hash stands in an event as what was left: as the last part of a change."""
    quoted = b'"%s"' % sha256
    at = body.find(quoted)
    while at >= 0:
        end = body.find(b"]", at)
        if body[end + 1 : end + 2] == b"]":
            return True
        at = body.find(quoted, at + 1)
    return False


def _contradicts(body: bytes, noted: list[tuple[str, str | None]]) -> bool:
    """Whether an event left something else than these hashes at its paths; `None` for nothing."""
    if len(body) < _LARGE and all(sha256 is not None and _leaves(body, sha256.encode()) for _, sha256 in noted):
        return False
    standing = Standing()
    standing.apply_event(decode_body(body))
    return any(
        sha256 not in [version and version[1] for version in standing.get_candidates(path)] for path, sha256 in noted
    )


def _choose(left: Any) -> Any:
    """What is taken to stand: of what was not confirmed, what was to be there."""
    return left.versions[-1] if isinstance(left, Uncertain) else left


def decode_path(key: bytes) -> str:
    """A path of a row."""
    return key.decode("utf-8", "surrogateescape")


def encode_path(path: str) -> bytes:
    """A path as a key: bytes, since names need not be Unicode."""
    return path.encode("utf-8", "surrogateescape")
