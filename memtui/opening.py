"""Putting an engine together: which folder, which state directory, which journal.

The state must lie where the agent cannot reach it: where it lies is decided in `memtui.state` and nowhere else.
"""

import contextlib
import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path

from memtui.core.errors import FolderMissing, JournalDamaged, StateUnusable
from memtui.core.events import Event, Memtui
from memtui.core.paths import ROOT_NAME
from memtui.core.settings import Settings
from memtui.engine import Engine, Observer, Recorded, Source
from memtui.engine.noticing import begin_from
from memtui.journal import imported
from memtui.journal.announced import Announcements
from memtui.journal.imported import is_database
from memtui.journal.sqlite import SET_ASIDE, Journal
from memtui.places import short
from memtui.places.recent import remember_folder
from memtui.state import make_private
from memtui.state import state_directory as state_directory  # noqa: PLC0414 - others ask for it here
from memtui.store.folder import FolderStore
from memtui.store.looking import ReadOnlyFolder
from memtui.store.memory import MemoryStore

JOURNAL = "journal.db"
_LOCK_SECONDS = 5.0
_BEGUN = "begun"
"""A file beside the journal that says that there was one: made once there is."""
_GONE = "the journal that was kept for this folder before is gone"


def open(
    folder: str | os.PathLike[str],
    *,
    state: str | os.PathLike[str] | None = None,
    read_only: bool = False,
    settings: Settings | None = None,
) -> Engine:
    """Open a memory folder, and record what changed in it since it was last looked at.

    Args:
        folder: An existing directory; `~` is expanded.
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
) -> Engine:
    """As `open`, without looking for changes yet: a screen paints first and looks then."""
    path, title = _existing(folder)
    where = state_directory(path, state)
    journal = where / JOURNAL
    if read_only:
        store = FolderStore(path, None, title=title)
        try:
            known = Journal.copy_of(str(journal))
            if _is_gone(where) and not known.head()[0]:
                _begin(known, _GONE)  # as where it can be recorded
            return Engine(store, known, settings=settings, read_only=True, announced=Announcements(where))
        except BaseException:
            store.close()
            raise
    try:
        was_used = (where / _BEGUN).exists()
        make_private(where)
        remember_folder(where, path)
        store = FolderStore(path, str(where), title=title)
    except OSError as error:
        raise _unusable(where, error) from error
    try:
        known = _journal(journal, store, was_used=was_used)
        return Engine(store, known, settings=settings, announced=Announcements(where))
    except BaseException as error:
        store.close()
        if isinstance(error, OSError):
            raise _unusable(where, error) from error
        raise


def observe(
    folder: str | os.PathLike[str],
    *,
    state: str | os.PathLike[str] | None = None,
    journal: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    look: bool = True,
) -> Observer:
    """Open a folder only to look at it, with what cannot write. Nothing is created or changed, there or elsewhere.

    What was recorded is copied into memory, and what has changed since is found and kept there only. Where the journal
    cannot be read, as by another user, the folder is looked at as one without: `Observer.recorded` says so.

    Args:
        folder: An existing directory; `~` is expanded. It may be a copy, or on a file system that is mounted read-only.
        state: The directory of the journal; by default as for `open`.
        journal: A journal that is named itself: a `journal.db`, or what `memtui export` wrote.
        settings: What is read, and in which words agents would be answered.
        look: Whether it is looked for changes before it returns; else by `Observer.reconcile`.

    Raises:
        FolderMissing: There is no such directory, or it may not be read.
        StateUnusable: The journal that was named cannot be used, or `state` is inside the folder.
    """
    path, title = _existing(folder)
    where = state_directory(path, state)
    if journal is not None:
        known, recorded = _named_journal(_outside(journal, path))
    else:
        known, recorded = _readable_journal(where)
    store: ReadOnlyFolder | None = None
    try:
        store = ReadOnlyFolder(path, title=title, state=str(where))
        observer = Observer(
            store,
            known,
            settings=settings,
            announced=Announcements(where) if journal is None else None,
            recorded=recorded,
        )
        if look:
            observer.reconcile()
    except BaseException:
        known.close()
        if store is not None:
            store.close()
        raise
    return observer


def _existing(folder: str | os.PathLike[str]) -> tuple[str, str]:
    """A folder's path, with links resolved, and what a person calls it.

    Raises:
        FolderMissing: There is no such directory, or it may not be looked at.
    """
    path = os.path.realpath(os.path.expanduser(folder))
    title = short(path)
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return path, title
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise FolderMissing(f"{title} cannot be opened: {os.strerror(error.errno or 0).lower()}.") from error
    raise FolderMissing(f"No folder at {title}.")


def _readable_journal(where: Path) -> tuple[Journal, Recorded]:
    """The folder's own journal in memory, or an empty one if there is none that can be read."""
    path = str(where / JOURNAL)
    place = short(path)
    if _is_gone(where):
        return _no_journal(place, f"The journal that was kept for this folder is gone from {place}.", is_damaged=True)
    try:
        os.stat(path)
        journal = Journal.copy_of(path)
    except FileNotFoundError:
        return _no_journal(place, "memtui has recorded nothing of this folder.")
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        return _no_journal(place, f"The journal {place} cannot be read: {reason}.")
    except StateUnusable as unusable:
        return _no_journal(place, str(unusable), is_damaged=isinstance(unusable, JournalDamaged))
    return journal, _recorded(journal, Source.JOURNAL, place)


def _no_journal(place: str, problem: str, *, is_damaged: bool = False) -> tuple[Journal, Recorded]:
    journal = Journal(None)
    found = Recorded(Source.NONE, *journal.head(), has_texts=False, place=place, problem=problem, is_damaged=is_damaged)
    return journal, found


def _recorded(journal: Journal, source: Source, place: str, *, has_texts: bool = True) -> Recorded:
    return Recorded(source, *journal.head(), has_texts=has_texts, place=place)


def _outside(journal: str | os.PathLike[str], folder: str) -> str:
    """The path of a journal that somebody named, with links resolved.

    Raises:
        StateUnusable: It is inside the folder, where an agent could write it.
    """
    place = os.path.realpath(os.path.expanduser(journal))
    if place.startswith(folder.rstrip("/") + "/"):
        words = (
            "is inside the memory folder, where an agent could write it. Nothing of it was used. Name a copy outside."
        )
        raise StateUnusable(f"The journal {short(place)} {words}")
    return place


def _named_journal(path: str) -> tuple[Journal, Recorded]:
    """A journal that somebody named: a database, or an export.

    Raises:
        StateUnusable: It cannot be used.
    """
    place = short(path)
    if is_database(path, title=place):
        journal = Journal.copy_of(path)
        return journal, _recorded(journal, Source.JOURNAL, place)
    found = imported.read(path, title=place)
    begin_from(found.journal, found.standing, found_until=found.found_until, told_until=found.told_until)
    return found.journal, _recorded(found.journal, Source.EXPORT, place, has_texts=found.has_texts)


def _unusable(where: Path, error: OSError) -> StateUnusable:
    reason = os.strerror(error.errno or 0).lower()
    return StateUnusable(f"The state directory {short(where)} cannot be used: {reason}.")


def _journal(path: Path, store: FolderStore, *, was_used: bool) -> Journal:
    """Open the journal, or set a damaged one aside and begin anew. What happened is the new one's first event."""
    was_there = _is_kept(path)
    try:
        journal = Journal(str(path))
    except JournalDamaged:
        with store.writing(_LOCK_SECONDS):
            try:
                return Journal(str(path))  # somebody else has done it meanwhile
            except JournalDamaged as damaged:
                aside = _set_aside(path)
                journal = Journal(str(path))
                _begin(journal, f"the journal before was damaged and is set aside as {aside}: {damaged}")
                return journal
    if was_used and not was_there:
        with store.writing(_LOCK_SECONDS):
            if journal.head()[0] == 0:
                _begin(journal, _GONE)
    if not was_used:
        path.with_name(_BEGUN).touch(0o600)
    return journal


def _is_kept(path: Path) -> bool:
    """Whether there is a journal that holds anything; what cannot be looked at is told by whoever reads it."""
    try:
        seen = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return seen.st_size > 0 or not stat.S_ISREG(seen.st_mode)


def _is_gone(where: Path) -> bool:
    """Whether there was a journal in a state directory, and is none any more."""
    return os.path.exists(where / _BEGUN) and not _is_kept(where / JOURNAL)


def _set_aside(path: Path) -> str:
    """Give a journal's files other names, under which they can still be looked at; returns the name."""
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = path.with_name(f"{path.stem}{SET_ASIDE}{moment}{path.suffix}")
    for end in ("-wal", "-shm", ""):  # SQLite removes a log that lies beside a new journal
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{path}{end}", f"{aside}{end}")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{path}.suspect")
    return aside.name


def _begin(journal: Journal, note: str) -> None:
    event = Event(at_us=time.time_ns() // 1_000, actor=Memtui(), command="began", path=ROOT_NAME, note=note)
    journal.append([event])


def connect_without_journal(folder: str | os.PathLike[str], *, settings: Settings | None = None) -> Engine:
    """A folder to look at when its journal cannot be used: read-only, remembering nothing of earlier.

    Raises:
        FolderMissing: There is no such directory.
    """
    path = os.path.realpath(os.path.expanduser(folder))
    return Engine(FolderStore(path, None, title=short(path)), Journal(None), settings=settings, read_only=True)
