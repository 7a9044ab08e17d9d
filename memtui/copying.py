"""Copying memories with all that happened to them to another place: a folder, one SQLite file, or a server.

The copy's journal is the same database, so a head that was noted before still holds, and every version is there. The
files are written under the writer lock of the place they come from. Nothing is ever copied over something else.
"""

import contextlib
import errno
import os
from typing import NamedTuple

from memtui import memory
from memtui.core.errors import FolderMissing, MemtuiError
from memtui.core.events import EntryKind, sha256
from memtui.core.paths import HOSTED, SERVER, SQLITE, MemoryPath, format_path, resolve_place
from memtui.core.settings import Settings
from memtui.fs.state import get_state_directory, make_private_directory, remember_folder
from memtui.journal.record import KnownPath
from memtui.journal.snapshot import write_copy
from memtui.journal.sqlite import Journal
from memtui.store.base import UNSEEN, FileContent, ReadableStore, Store
from memtui.store.folder import FolderStore
from memtui.store.recovery import NO_SUCH_THING
from memtui.store.sqlite import LOCK, SqliteStore

_LOCK_SECONDS = 5.0
_MOST_BYTES = 1 << 30
"""Of one file: SQLite takes no more in one row."""


class CopyRefused(MemtuiError):
    """Nothing was copied: the two places do not fit."""


class Copied(NamedTuple):
    """What was copied.

    Attributes:
        files: How many files and links.
        left: Paths of what is no file, link or directory, or could not be read.
        head: The last event's number, and the hash of the chain there.
    """

    files: int
    left: tuple[str, ...]
    head: tuple[int, str]


def copy(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    state: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
) -> Copied:
    """Copy memories and their journal; what changed there unnoticed is recorded first.

    Args:
        source: A folder, or `sqlite:` and a file.
        target: A folder that is empty or not there, `sqlite:` and a file that is not there, or the address of a store
            that holds nothing.
        state: The directory of the source's journal.
        settings: How the source is opened.

    Raises:
        CopyRefused: Something stands at the target, or one of the two is inside the other.
        FolderMissing, StateUnusable, LockTimeout: The source cannot be used.
        OSError: The target cannot be written. What was begun there is removed, but files in a folder.
    """
    source, target = resolve_place(source), resolve_place(target)
    if source.startswith(SQLITE) and not os.path.exists(source.removeprefix(SQLITE)):
        raise FolderMissing(f"No file at {format_path(source)}. Nothing was copied.")  # to open it would make it
    _check_target(source, target)
    with memory.open(source, state=state, settings=settings) as engine:
        journal, seconds = engine.journal, engine.settings.lock_seconds
        assert isinstance(journal, Journal)
        with engine.store.begin_transaction(seconds):
            journal.get_totals()  # what waits to be recorded is recorded
            if target.startswith(SQLITE):
                return _copy_to_file(engine.store, journal, target)
            if target.startswith(SERVER):
                return _copy_to_server(engine.store, journal, target)
            return _copy_to_folder(engine.store, journal, target)


def _check_target(source: str, target: str) -> None:
    if target.startswith(SERVER):
        return  # what is there is compared
    if target.startswith(HOSTED):
        raise CopyRefused("The API of a hosted memory store takes no history. Nothing was copied.")
    path, shown = target.removeprefix(SQLITE), format_path(target)
    is_file = target.startswith(SQLITE)
    if path.startswith(source.rstrip("/") + "/"):
        raise CopyRefused(f"{shown} is inside the memory folder, where an agent could reach it. Nothing was copied.")
    if not os.path.isdir(os.path.dirname(path)):
        raise CopyRefused(f"No folder at {format_path(os.path.dirname(path))}. Nothing was copied.")
    if os.path.lexists(path) and (is_file or not os.path.isdir(path) or os.listdir(path)):
        what = "exists already" if is_file or not os.path.isdir(path) else "is not empty"
        raise CopyRefused(f"{shown} {what}. Nothing was copied. Name another place.")
    if not is_file:
        where = get_state_directory(target) / memory.JOURNAL
        if where.exists():
            words = f"has a journal already, in {format_path(where.parent)}. Nothing was copied."
            raise CopyRefused(f"{shown} {words} Name another place.")


def _copy_to_file(source: ReadableStore, journal: Journal, target: str) -> Copied:
    path = target.removeprefix(SQLITE)
    part = _make_part_name(path)
    try:
        write_copy(journal.connection, part, has_entries=True)
        with (
            contextlib.closing(Journal(part, has_entries=True)) as copied,
            contextlib.closing(SqliteStore.open(part)) as store,
        ):
            done = _fill(source, store, copied)
        _put_in_place(part, path)
    except FileExistsError as error:
        raise CopyRefused(f"{format_path(target)} exists already. Nothing was copied. Name another place.") from error
    finally:
        for end in ("", "-wal", "-shm", LOCK):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part + end)
    return done


def _copy_to_folder(source: ReadableStore, journal: Journal, target: str) -> Copied:
    where = get_state_directory(target)
    make_private_directory(where)
    whole = where / memory.JOURNAL
    part = _make_part_name(str(whole))
    try:
        write_copy(journal.connection, part, has_entries=False)
        with contextlib.suppress(FileExistsError):
            os.mkdir(target, 0o700)
        with contextlib.closing(Journal(part)) as copied:
            store = FolderStore(target, str(where), title=format_path(target), synced=True)
            with contextlib.closing(store):
                done = _fill(source, store, copied)
        os.rename(part, whole)
    finally:
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part + end)
    remember_folder(where, target)
    memory.note_begun(where)
    return done


def _copy_to_server(source: ReadableStore, journal: Journal, target: str) -> Copied:
    """The events say what stands where: what none of them could read is left."""
    head = memory.load_upload()(journal, target)
    known = journal.get_known_below("")
    left = [path for path, each in known.items() if each.version.kind is EntryKind.OTHER or not _is_held(each)]
    files = sum(node.kind in (EntryKind.FILE, EntryKind.LINK) for node in source.scan(MemoryPath()))
    return Copied(files - len(left), tuple(left), head)


def _is_held(known: KnownPath) -> bool:
    return known.version.kind is EntryKind.DIRECTORY or known.version.sha256 is not None


def _make_part_name(path: str) -> str:
    """The name of a database until it is whole: no other copy has it."""
    return f"{path}.part-{os.urandom(4).hex()}"


def _put_in_place(part: str, path: str) -> None:
    """Give a file its name, as far as that can be had not over what came there meanwhile."""
    try:
        os.link(part, path)
    except OSError as error:
        if error.errno not in (errno.EPERM, *NO_SUCH_THING):
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
        os.rename(part, path)


def _fill(source: ReadableStore, target: Store, journal: Journal) -> Copied:
    """Write everything into an empty store, and have its journal know it as it stands there."""
    left: list[str] = []
    directories = []
    stamps: dict[str, tuple[str | None, tuple[int, ...]]] = {}
    with target.begin_transaction(_LOCK_SECONDS) as transaction, transaction.batch_sync():
        for node, content in source.scan_contents(limit=_MOST_BYTES):
            place = MemoryPath.from_relative(node.path)
            if node.kind is EntryKind.DIRECTORY:
                transaction.make_directory(place)
                directories.append(node)
            elif node.kind is EntryKind.LINK:
                link = source.read_link(place)
                stamps[node.path] = sha256(link), transaction.make_link(place, link, mtime_ns=node.mtime_ns).node.stamp
            elif isinstance(content, FileContent):
                written = transaction.write(place, content.data, expected=None, attributes=node.attributes)
                stamps[node.path] = sha256(content.data), written.node.stamp
            else:
                left.append(node.path)
        for node in reversed(directories):
            place = MemoryPath.from_relative(node.path)
            transaction.set_directory_attributes(place, node.attributes)
            made = target.get_node(place)
            if made is not None:
                stamps[node.path] = None, made.stamp
    known: dict[str, KnownPath | None] = {}
    for path, each in journal.get_known_below("").items():
        held, stamp = stamps.get(path, (None, UNSEEN))
        known[path] = KnownPath(each.version, stamp if held == each.version.sha256 else UNSEEN)
    journal.append_events([], known=known, durable=True)
    return Copied(len(stamps) - len(directories), tuple(left), journal.get_head())
