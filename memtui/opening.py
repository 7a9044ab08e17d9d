"""Putting an engine together: which folder, which state directory, which journal.

The state must lie where the agent cannot reach it: where it lies is decided in `memtui.state` and nowhere else.
"""

import contextlib
import os
import time
from datetime import UTC, datetime
from pathlib import Path

from memtui.core.errors import FolderMissing, JournalDamaged, StateUnusable
from memtui.core.events import Event, Memtui
from memtui.core.paths import ROOT_NAME
from memtui.core.settings import Settings
from memtui.engine import Engine
from memtui.journal.announced import Announcements
from memtui.journal.sqlite import SET_ASIDE, Journal
from memtui.places import short
from memtui.state import make_private
from memtui.state import state_directory as state_directory  # noqa: PLC0414 - others ask for it here
from memtui.store.folder import FolderStore
from memtui.store.memory import MemoryStore

JOURNAL = "journal.db"
_LOCK_SECONDS = 5.0
_BEGUN = "begun"
"""A file beside the journal that says that there was one: made once there is."""


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
    path = os.path.realpath(os.path.expanduser(folder))
    title = short(path)
    if not os.path.isdir(path):
        raise FolderMissing(f"No folder at {title}.")
    where = state_directory(path, state)
    journal = where / JOURNAL
    if read_only:
        store = FolderStore(path, None, title=title)
        try:
            known = Journal.copy_of(str(journal))
            return Engine(store, known, settings=settings, read_only=True, announced=Announcements(where))
        except BaseException:
            store.close()
            raise
    try:
        was_used = (where / _BEGUN).exists()
        make_private(where)
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


def _unusable(where: Path, error: OSError) -> StateUnusable:
    reason = os.strerror(error.errno or 0).lower()
    return StateUnusable(f"The state directory {short(where)} cannot be used: {reason}.")


def _journal(path: Path, store: FolderStore, *, was_used: bool) -> Journal:
    """Open the journal, or set a damaged one aside and begin anew. What happened is the new one's first event."""
    was_there = path.exists() and path.stat().st_size > 0
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
                _begin(journal, "the journal that was kept for this folder before is gone")
    if not was_used:
        path.with_name(_BEGUN).touch(0o600)
    return journal


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
