"""Putting an engine together: which folder, which state directory, which journal.

The state must lie where the agent cannot reach it: where it lies is decided in `memtui.fs.state` and nowhere else.
"""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from memtui import sqlite_file
from memtui.core.errors import FolderMissing, JournalDamaged, StateUnusable
from memtui.core.events import NEVER_TAKEN_BACK, Event, Memtui
from memtui.core.guards import SEEN
from memtui.core.paths import HOSTED, NO_FOLDER, ONLINE, ROOT_NAME, SERVER, SQLITE, format_path, resolve_place
from memtui.core.settings import Settings
from memtui.core.wording import count_unseen_changes
from memtui.engine import Engine, JournalSource, Observer, RecordedState
from memtui.engine.observer import load_known_from_export
from memtui.fs.state import (
    UNJOURNALLED,
    get_file_system_type,
    get_state_directory,
    locate_record,
    make_private_directory,
    remember_folder,
)
from memtui.journal import transfer
from memtui.journal.announcements import AnnouncementStore
from memtui.journal.files import SET_ASIDE
from memtui.journal.record import FolderTotals, Record
from memtui.journal.rows import check_regular_files
from memtui.journal.sqlite import Journal, read_in_place
from memtui.journal.transfer import is_database
from memtui.scan.git_files import is_git_bookkeeping
from memtui.store.folder import FolderStore
from memtui.store.memory import MemoryStore
from memtui.store.open_folder import ReadOnlyFolder

JOURNAL = "journal.db"
_LOCK_SECONDS = 5.0
_BEGUN = "begun"
"""A file beside the journal that says that there was one: made once there is."""
_GONE = "the earlier journal for this folder is missing"


def open(
    folder: str | os.PathLike[str],
    *,
    state: str | os.PathLike[str] | None = None,
    read_only: bool = False,
    settings: Settings | None = None,
) -> Engine:
    """Open a memory folder, and record what changed in it since it was last looked at.

    Args:
        folder: An existing directory, or `sqlite:` and a file with memories and journal, which is made where it is not
            there; `~` is expanded. Or the address of memories on a server: `postgres://...`, `anthropic:memstore_...`.
        state: The directory for the journal; by default one of the folder's own below `$XDG_STATE_HOME/memtui`.
        read_only: Whether every change is refused, and nothing is written anywhere.
        settings: How commands behave.

    Returns:
        The open memory, also a context manager.

    Raises:
        FolderMissing: There is no such directory. None is ever made.
        StateUnusable: The journal cannot be kept there, or is not a journal of this version.
    """
    engine = connect(folder, state=state, read_only=read_only, settings=settings)
    try:
        engine.reconcile()
    except BaseException:
        engine.close()
        raise
    return engine


def open_in_memory(*, settings: Settings | None = None) -> Engine:
    """A memory that is kept nowhere, for tests and for trying things out."""
    return Engine(MemoryStore(), Journal(None), settings=settings)


def connect(
    folder: str | os.PathLike[str],
    *,
    state: str | os.PathLike[str] | None = None,
    read_only: bool = False,
    settings: Settings | None = None,
    offline: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> Engine:
    """As `open`, without looking for changes yet: a screen paints first and looks then.

    With `offline`, what this machine knows of memories on a server is enough while that is away. `progress` is called
    with the number of the last event that was read from a PostgreSQL server; where it raises, the rest is left.
    """
    if (place := resolve_place(folder)).startswith(SQLITE):
        return sqlite_file.connect(place, state=state, read_only=read_only, settings=settings)
    if place.startswith(ONLINE):
        more = {"progress": progress} if place.startswith(SERVER) else {}
        opened: Engine = load_remote(place).connect(
            place, state=state, read_only=read_only, settings=settings, offline=offline, **more
        )
        return opened
    path, title = _resolve_folder(place)
    where = get_state_directory(path, state)
    journal = where / JOURNAL
    if read_only:
        store = FolderStore(path, None, title=title)
        try:
            known = Journal.copy_from(str(journal))
            if is_journal_missing(where) and not known.get_head()[0]:
                _append_begin_event(known, _GONE)  # as where it can be recorded
            return Engine(store, known, settings=settings, read_only=True, announced=AnnouncementStore(where))
        except BaseException:
            store.close()
            raise
    try:
        was_used = (where / _BEGUN).exists()
        make_private_directory(where)
        remember_folder(where, path)
        store = FolderStore(path, str(where), title=title, synced=_must_sync(where, settings))
    except OSError as error:
        raise _make_unusable_error(where, error) from error
    try:
        known = _open_journal(journal, store, was_used=was_used)
        store.is_synced |= not known.is_write_ahead
        return Engine(store, known, settings=settings, announced=AnnouncementStore(where))
    except BaseException as error:
        store.close()
        if isinstance(error, OSError):
            raise _make_unusable_error(where, error) from error
        raise


def make_record() -> Record:
    """An empty record in memory."""
    return Journal(None)


def copy_record(journal: str | os.PathLike[str]) -> Record:
    """A record in memory that begins as that of a journal's file, which is left alone.

    Raises:
        StateUnusable: It cannot be read.
    """
    return Journal.copy_from(str(journal))


_MOST_JOURNAL_BYTES = 100_000_000
"""Bytes of a journal that is read only to tell what it says of its folder."""
_MOST_EVENTS_BACK = 1_000
"""Events that are looked through, from the newest one, for the last change."""
_MOST_UNSEEN = 20_000
"""Events that are looked through for unseen changes."""


class JournalSummary(NamedTuple):
    """What a journal says of its folder.

    Attributes:
        unseen: Files that others changed since the person looked; 0 where she never did.
        last: The newest event that changed something, if it is not too long ago.
        totals: The files that it knows.
    """

    unseen: int = 0
    last: Event | None = None
    totals: FolderTotals = FolderTotals(0, 0)


def summarize_journal(place: str) -> JournalSummary:
    """What the journal of a folder says; nothing where there is none, or a very large one.

    Of another place it is what this machine has on its disk, of any size: no server is asked. Nothing is created or
    changed.

    Raises:
        StateUnusable: The journal cannot be read.
    """
    journal = locate_record(place)
    if not is_small_record(journal) and (not place.startswith(NO_FOLDER) or not os.path.exists(journal)):
        return JournalSummary()
    with read_in_place(journal) if place.startswith(NO_FOLDER) else _copy_known(journal) as known:
        seen, head = known.get_metadata(SEEN) or "", known.get_head()[0]
        is_countable = seen.isdecimal() and head - int(seen) <= _MOST_UNSEEN
        unseen = _count_unseen(known.get_events(int(seen))) if is_countable else 0
        back = known.iter_small_events(range(head, max(head - _MOST_EVENTS_BACK, 0), -1))
        last = next((event for event in back if event is not None and _is_change(event)), None)
        return JournalSummary(unseen, last, known.get_totals())


def is_small_record(path: str) -> bool:
    """Whether a journal's file is there, and is read whole only to tell what it says, or to search it."""
    try:
        return os.stat(path).st_size <= _MOST_JOURNAL_BYTES
    except OSError:
        return False


def _copy_known(journal: str) -> contextlib.closing[Journal]:
    return contextlib.closing(Journal.copy_from(journal))


def check_place(place: str, *, read_only: bool = False) -> None:
    """Whether a place that is no folder can be opened; what this machine has of one that is away is enough.

    Raises:
        MemtuiError, OSError: It cannot.
    """
    if place.startswith(ONLINE):
        load_remote(place)
        if summarize_journal(place).last is not None:
            return
    connect(place, read_only=read_only, offline=True).close()


def _count_unseen(events: Iterable[Event]) -> int:
    return sum(count_unseen_changes(events, is_git_bookkeeping).values())


def _is_change(event: Event) -> bool:
    return bool(event.changes) and not event.is_error and event.command not in NEVER_TAKEN_BACK


def observe(
    folder: str | os.PathLike[str],
    *,
    state: str | os.PathLike[str] | None = None,
    journal: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    look: bool = True,
) -> Observer:
    """Open a folder only to look at it, with what cannot write. Nothing is created or changed, there or elsewhere.

    The record is copied into memory, and changes since are found and kept there only. Where the journal cannot be read,
    as by another user, the folder is looked at as one without: `Observer.recorded` says so.

    Args:
        folder: An existing directory; `~` is expanded. It may be a copy, or on a file system that is mounted read-only.
        state: The directory of the journal; by default as for `open`.
        journal: A journal that is named itself: a `journal.db`, or an export of `memtui export`.
        settings: What is read, and in which words agents would be answered.
        look: Whether it is looked for changes before it returns; else by `Observer.reconcile`.

    Raises:
        FolderMissing: There is no such directory, or it may not be read.
        StateUnusable: The journal that was named cannot be used, or `state` is inside the folder.
    """
    if (place := resolve_place(folder)).startswith(SQLITE):
        if journal is not None:
            raise StateUnusable("A SQLite file holds its own journal: another one cannot be named for it.")
        return sqlite_file.observe(place, state=state, settings=settings, look=look)
    if place.startswith(ONLINE):
        if journal is not None:
            raise StateUnusable("A server holds its own record: a journal cannot be named for it.")
        observed: Observer = load_remote(place).observe(place, state=state, settings=settings, look=look)
        return observed
    path, title = _resolve_folder(place)
    where = get_state_directory(path, state)
    if journal is not None:
        known, recorded = _open_named_journal(_resolve_journal_path(journal, path))
    else:
        known, recorded = _load_readable_journal(where)
    store: ReadOnlyFolder | None = None
    try:
        store = ReadOnlyFolder(path, title=title, state=str(where))
        announced = AnnouncementStore(where) if journal is None else None
        observer = Observer(store, known, settings=settings, announced=announced, recorded=recorded)
        if look:
            observer.reconcile()
    except BaseException:
        known.close()
        if store is not None:
            store.close()
        raise
    return observer


def _must_sync(where: Path, settings: Settings | None) -> bool:
    """Whether a command waits for the folder to be on the disk: as was wished, or as the journal could be torn."""
    return (settings or Settings()).durability == "folder" or get_file_system_type(str(where)) in UNJOURNALLED


def _resolve_folder(path: str) -> tuple[str, str]:
    """The path of a folder, with links resolved, and its name for a person; raises `FolderMissing`."""
    title = format_path(path)
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return path, title
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise FolderMissing(f"{title} cannot be opened: {os.strerror(error.errno or 0).lower()}.") from error
    raise FolderMissing(f"No folder at {title}.")


def _load_readable_journal(where: Path) -> tuple[Journal, RecordedState]:
    """The folder's own journal in memory, or an empty one if there is none that can be read."""
    path = str(where / JOURNAL)
    place = format_path(path)
    if is_journal_missing(where):
        problem = f"The journal for this folder is missing from {place}."
        return _make_empty_journal(place, problem, is_damaged=True)
    try:
        check_regular_files(path)
        os.stat(path)
        journal = Journal.copy_from(path)
    except FileNotFoundError:
        return _make_empty_journal(place, "memtui has no history of this folder.")
    except OSError as error:
        reason = error.strerror.lower() if error.strerror else str(error)
        is_forbidden = error.errno in (errno.EACCES, errno.EPERM)  # else nobody can read what stands there
        problem = f"The journal {place} cannot be read: {reason}."
        return _make_empty_journal(place, problem, is_damaged=not is_forbidden)
    except StateUnusable as unusable:
        return _make_empty_journal(place, str(unusable), is_damaged=isinstance(unusable, JournalDamaged))
    return journal, _make_recorded(journal, JournalSource.JOURNAL, place)


def _make_empty_journal(place: str, problem: str, *, is_damaged: bool = False) -> tuple[Journal, RecordedState]:
    journal = Journal(None)
    recorded = _make_recorded(journal, JournalSource.NONE, place, has_texts=False)
    return journal, replace(recorded, problem=problem, is_damaged=is_damaged)


def _make_recorded(journal: Journal, source: JournalSource, place: str, *, has_texts: bool = True) -> RecordedState:
    return RecordedState(source, *journal.get_head(), has_texts=has_texts, location=place)


def _resolve_journal_path(journal: str | os.PathLike[str], folder: str) -> str:
    """The real path of a journal that was named; raises `StateUnusable` if an agent could write it there."""
    place = os.path.realpath(os.path.expanduser(journal))
    if place.startswith(folder.rstrip("/") + "/"):
        words = "is inside the memory folder, where an agent could change it. It was not used."
        raise StateUnusable(f"The journal {format_path(place)} {words} Name a copy outside the folder.")
    return place


def load_remote(place: str) -> ModuleType:
    """What opens memories on another machine. Raises as `load_postgres`."""
    if not place.startswith(HOSTED):
        return load_postgres()
    from memtui.hosted import place as hosted  # noqa: PLC0415 - start-up: the SDK takes two seconds

    return hosted


def load_postgres() -> ModuleType:
    """What opens memories on a server; raises `StateUnusable` where its driver is not installed."""
    try:
        from memtui.postgres import place  # noqa: PLC0415 - an extra
    except ImportError as error:
        if error.name != "psycopg":
            raise
        raise StateUnusable(
            "Memories on a server need a driver. Install it with: pip install 'memtui[postgres]'"
        ) from error
    return place


def load_upload() -> Callable[[Record, str], tuple[int, str]]:
    """What adds a record to a server. Raises as `load_postgres`."""
    load_postgres()
    from memtui.postgres.upload import upload  # noqa: PLC0415 - an extra

    return upload


def _open_named_journal(path: str) -> tuple[Journal, RecordedState]:
    """A journal that was named: a database, or an export. Raises `StateUnusable`."""
    place = format_path(path)
    if is_database(path, title=place):
        journal = Journal.copy_from(path)
        return journal, _make_recorded(journal, JournalSource.JOURNAL, place)
    found = transfer.read_export(path, title=place)
    load_known_from_export(
        found.journal, found.versions_by_path, found_until=found.found_until, imported_until=found.imported_until
    )
    return found.journal, _make_recorded(found.journal, JournalSource.EXPORT, place, has_texts=found.has_texts)


def _make_unusable_error(where: Path, error: OSError) -> StateUnusable:
    reason = os.strerror(error.errno or 0).lower()
    return StateUnusable(f"The state directory {format_path(where)} cannot be used: {reason}.")


def _open_journal(path: Path, store: FolderStore, *, was_used: bool) -> Journal:
    """Open the journal, or set a damaged one aside and begin anew. What happened is the new one's first event."""
    was_there = _has_journal_data(path)
    try:
        journal = Journal(str(path))
    except JournalDamaged:
        with store.begin_transaction(_LOCK_SECONDS):
            try:
                return Journal(str(path))  # somebody else has done it meanwhile
            except JournalDamaged as damaged:
                aside = _move_damaged_aside(path)
                journal = Journal(str(path))
                _append_begin_event(journal, f"the earlier journal was damaged and is set aside as {aside}: {damaged}")
                return journal
    if was_used and not was_there:
        with store.begin_transaction(_LOCK_SECONDS):
            if journal.get_head()[0] == 0:
                _append_begin_event(journal, _GONE)
    if not was_used:
        note_begun(path.parent)
    return journal


def note_begun(where: Path) -> None:
    """Say in a state directory that there is a journal: if it is gone later, that is told."""
    (where / _BEGUN).touch(0o600)


def _has_journal_data(path: Path) -> bool:
    """Whether there is a journal that holds anything; what cannot be looked at is told by whoever reads it."""
    try:
        seen = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return seen.st_size > 0 or not stat.S_ISREG(seen.st_mode)


def is_journal_missing(where: Path) -> bool:
    """Whether there was a journal in a state directory, and is none any more."""
    return os.path.exists(where / _BEGUN) and not _has_journal_data(where / JOURNAL)


def _move_damaged_aside(path: Path) -> str:
    """Give a journal's files other names, under which they can still be looked at; returns the name."""
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = path.with_name(f"{path.stem}{SET_ASIDE}{moment}{path.suffix}")
    for end in ("-wal", "-shm", ""):  # SQLite removes a log that lies beside a new journal
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{path}{end}", f"{aside}{end}")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{path}.suspect")
    return aside.name


def _append_begin_event(journal: Journal, note: str) -> None:
    event = Event(at_us=time.time_ns() // 1_000, actor=Memtui(), command="began", path=ROOT_NAME, note=note)
    journal.append_events([event])


def connect_degraded(
    folder: str | os.PathLike[str],
    *,
    state: str | os.PathLike[str] | None = None,
    read_only: bool = False,
    settings: Settings | None = None,
) -> Engine:
    """A folder whose state cannot be used, read-only; with its past if the journal can still be read."""
    if not read_only:
        try:
            engine = connect(folder, state=state, read_only=True, settings=settings)
        except StateUnusable:
            if resolve_place(folder).startswith(NO_FOLDER):  # without its journal there are no memories
                raise
        else:
            if engine.get_head()[0]:
                return engine
            engine.close()
    return connect_without_journal(folder, settings=settings)


def connect_without_journal(folder: str | os.PathLike[str], *, settings: Settings | None = None) -> Engine:
    """A folder whose journal cannot be used: read-only, without its past. Raises `FolderMissing`."""
    path = resolve_place(folder)
    if path.startswith(NO_FOLDER):
        what = "file" if path.startswith(SQLITE) else "record"
        raise StateUnusable(f"{format_path(path)} cannot be used without its journal: they are one {what}.")
    return Engine(FolderStore(path, None, title=format_path(path)), Journal(None), settings=settings, read_only=True)


def observe_unrecorded(
    folder: str, empty: Record, *, state: str | os.PathLike[str] | None = None, settings: Settings | None = None
) -> Observer:
    """A folder of which no event is known, only to look at it: many of them share one empty journal in memory.

    Args:
        folder: An existing directory, with links resolved.
        empty: Holds no events. Whoever gave it to several closes it, and closes of each observer the store alone.
        state: The directory of the journal that is not read: it says which files are memtui's own, on their way.
        settings: What is read.

    Raises:
        FolderMissing: There is no such directory, or it may not be read.
    """
    where = str(state) if state is not None else None
    return Observer(ReadOnlyFolder(folder, title=format_path(folder), state=where), empty, settings=settings)
