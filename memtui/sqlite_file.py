"""Putting an engine together over one SQLite file, which holds memories and journal: `sqlite:team.db`.

What is kept about the memories beside them, such as drafts and what an audit found clean, is in a state directory, as
for a folder: the file is what is carried around.
"""

import os

from memtui.core.errors import FolderMissing, StateUnusable
from memtui.core.paths import SQLITE, format_path
from memtui.core.settings import Settings
from memtui.engine import Engine, JournalSource, Observer, RecordedState
from memtui.fs.state import get_state_directory, make_private_directory, remember_folder
from memtui.journal.announcements import AnnouncementStore
from memtui.journal.sqlite import Journal
from memtui.store.sqlite import SqliteStore


def connect(
    place: str,
    *,
    state: str | os.PathLike[str] | None = None,
    read_only: bool = False,
    settings: Settings | None = None,
) -> Engine:
    """Open the memories in a file; one that is not there is made, where its directory is.

    Args:
        place: `sqlite:` and the file's path, with links resolved.
        state: The directory for what is kept about them; by default one of their own.
        read_only: Whether the memories are those of this moment, in a copy that cannot be changed.
        settings: How commands behave.

    Raises:
        FolderMissing: There is no such file to be read, or no directory to make it in.
        StateUnusable: It is another program's, is damaged, or cannot be used.
    """
    path, where = place.removeprefix(SQLITE), get_state_directory(place, state)
    if read_only:
        _require_file(path)
        store, known = read_file(path, place)
        return Engine(store, known, settings=settings, read_only=True, announced=AnnouncementStore(where))
    if not os.path.isdir(os.path.dirname(path)):
        raise FolderMissing(f"No folder at {format_path(os.path.dirname(path))}, in which the file could be made.")
    try:
        make_private_directory(where)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise StateUnusable(f"The state directory {format_path(where)} cannot be used: {reason}.") from error
    remember_folder(where, place)
    journal = Journal(path, directory=str(where), has_entries=True)
    try:
        store = SqliteStore.open(path, title=format_path(place), synced=not journal.is_write_ahead)
    except OSError as error:
        journal.close()
        raise StateUnusable(f"{format_path(place)} cannot be used: {error.strerror}.") from error
    return Engine(store, journal, settings=settings, announced=AnnouncementStore(where))


def observe(
    place: str, *, state: str | os.PathLike[str] | None = None, settings: Settings | None = None, look: bool = True
) -> Observer:
    """The memories of this moment, only to look at them: nothing is created or changed. See `connect`."""
    path = place.removeprefix(SQLITE)
    _require_file(path)
    return observe_file(path, place, state, settings=settings, look=look, location=path)


def open_store(place: str) -> SqliteStore:
    """The memories of this moment, without their record: nothing is created or changed. See `connect`."""
    path = place.removeprefix(SQLITE)
    _require_file(path)
    return read_file(path, place)[0]


def _require_file(path: str) -> None:
    if not os.path.exists(path):
        raise FolderMissing(f"No file at {format_path(path)}.")


# A file as it is at a moment, which may be this machine's copy of what is on a server.


def read_file(path: str, place: str, *, quietly: bool = True) -> tuple[SqliteStore, Journal]:
    """The memories in a file and their record, in memory, where neither can be changed.

    Args:
        path: The file.
        place: What it is shown as: the place itself, or what it is a copy of.
        quietly: Whether its time of last access stays as it is: of a copy nobody asks for that.

    Raises:
        StateUnusable: It is another program's, is damaged, or cannot be used.
    """
    known = Journal.copy_from(path, has_entries=True, quietly=quietly)
    return SqliteStore(known.connection, None, title=format_path(place)), known


def observe_file(
    path: str,
    place: str,
    state: str | os.PathLike[str] | None,
    *,
    settings: Settings | None,
    look: bool,
    location: str | None = None,
    quietly: bool = True,
) -> Observer:
    """The memories in a file, only to look at them; see `read_file`. `location` is where the record is said to be."""
    store, known = read_file(path, place, quietly=quietly)
    recorded = RecordedState(JournalSource.JOURNAL, *known.get_head(), location=format_path(location or place))
    announced = AnnouncementStore(get_state_directory(place, state))
    observer = Observer(store, known, settings=settings, announced=announced, recorded=recorded)
    try:
        if look:
            observer.reconcile()
    except BaseException:
        observer.close()
        raise
    return observer
