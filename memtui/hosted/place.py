"""Putting an engine together over a hosted memory store: `anthropic:memstore_...`.

What this machine knows of it is in a state directory: a copy (see `memtui.hosted.journal`). Key and address are those
of the SDK's environment variables; neither is kept or shown.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from anthropic import Anthropic

from memtui.core.errors import LockTimeout, StateUnusable, Unreachable
from memtui.core.events import WatchMode, WatchStatus
from memtui.core.paths import HOSTED, format_path
from memtui.core.settings import Settings
from memtui.core.unicode import to_one_line
from memtui.engine import Engine, Observer
from memtui.fs.state import COPY, get_state_directory, make_private_directory, remember_folder
from memtui.hosted.api import HostedApi
from memtui.hosted.journal import HostedJournal
from memtui.journal.announcements import AnnouncementStore
from memtui.journal.files import CopyFollower, FollowedFiles
from memtui.sqlite_file import observe_file, read_file
from memtui.store.base import Transaction
from memtui.store.sqlite import SqliteStore

_LOOK_SECONDS = 3.0
"""How often a copy that is watched looks for what is new."""
_AWAY_SECONDS = 5.0
"""For how long a store that could not be reached is not asked again only to show something."""
_AGAIN_SECONDS = (1.0, 2.0, 5.0, 15.0)
"""How long is waited before it is asked again by who follows it; the last one from then on."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Follower(CopyFollower):
    """See `CopyFollower`."""

    def __init__(self, store: "HostedStore") -> None:
        super().__init__(_AGAIN_SECONDS)
        self._store = store

    def follow(self) -> None:
        while not self.end.is_set():
            with suppress(LockTimeout):
                self._store.catch_up()
            self.status = WatchStatus(WatchMode.LIVE)
            self.note_success()
            self.end.wait(_LOOK_SECONDS)


class HostedStore(SqliteStore):
    """The memories in a copy. See `Store`."""

    _journal: HostedJournal
    _follower: Follower
    _seconds: float
    _ask_from = 0.0
    """When it is asked again for what is new, after it could not be reached."""

    def follow(self, journal: HostedJournal, seconds: float) -> Follower:
        """Have what is new come from a journal; `seconds` is for how long another process may keep the lock."""
        self._journal, self._seconds, self._follower = journal, seconds, Follower(self)
        return self._follower

    def close(self) -> None:
        self._follower.stop()
        super().close()

    def catch_up(self) -> None:
        """Take over what is new, where anything is. Raises `LockTimeout` or `StateUnusable`."""
        if self._journal.has_news():
            with super().begin_transaction(self._seconds):
                self._journal.catch_up()

    def attach(self, *, look: bool = True) -> int:  # noqa: ARG002 - a refusal must not follow from what is old
        """See `Store.attach`: who does not follow the store asks it; while it is away, what is known here is shown."""
        if not self._follower.is_running and time.monotonic() >= self._ask_from:
            try:
                self.catch_up()
            except LockTimeout:
                pass
            except StateUnusable:
                self._ask_from = time.monotonic() + _AWAY_SECONDS
        return 0

    @contextmanager
    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Iterator[Transaction]:  # noqa: ARG002
        """See `Store.begin_transaction`. What is in doubt is asked for first; else preconditions say what is new."""
        with super().begin_transaction(seconds) as transaction:
            if self._journal.is_behind():
                self._journal.catch_up()
            yield transaction


def connect(
    place: str,
    *,
    state: str | os.PathLike[str] | None = None,
    read_only: bool = False,
    settings: Settings | None = None,
    offline: bool = False,
    client: Anthropic | None = None,
) -> Engine:
    """Open a hosted memory store.

    Args:
        place: `anthropic:` and its id.
        state: The directory for this machine's copy; by default one of its own.
        read_only: Whether the memories are those of this moment, in a copy that cannot be changed.
        settings: How commands behave.
        offline: Whether what this machine knows is enough while the store cannot be reached.
        client: The SDK's client; by default one that has key and address from the environment.

    Raises:
        StateUnusable: The store cannot be reached, is none, or refuses the key; or the copy cannot be used.
    """
    settings = settings or Settings()
    store, journal, path, where = _open_copy(place, state, settings, client, offline=offline)
    if read_only:
        store.close()
        journal.close()
        copied, known = read_file(path, place)
        return Engine(copied, known, settings=settings, read_only=True, announced=AnnouncementStore(where))
    return Engine(store, journal, settings=settings, announced=AnnouncementStore(where))


def observe(
    place: str, *, state: str | os.PathLike[str] | None = None, settings: Settings | None = None, look: bool = True
) -> Observer:
    """The memories of this moment, only to look at them: nothing in the store is changed. See `connect`."""
    return observe_file(update_copy(place, state), place, state, settings=settings, look=look)


def open_store(place: str) -> SqliteStore:
    """The memories of this moment, without their record: nothing in the store is changed. See `connect`."""
    return read_file(update_copy(place), place)[0]


def update_copy(place: str, state: str | os.PathLike[str] | None = None) -> str:
    """The path of this machine's copy, which is brought up to date. See `connect`."""
    store, journal, path, _ = _open_copy(place, state, Settings())
    store.close()
    journal.close()
    return path


def check_place(
    place: str, state: str | os.PathLike[str] | None = None
) -> Iterator[tuple[str, Literal["ok", "warn", "fail"], str]]:
    """What `memtui doctor` says of a place: the name of each check, how it stands, and its words."""
    try:
        with closing(HostedApi(_get_store_id(place))) as api:
            info = api.get_info()
    except StateUnusable as error:
        yield "store", "fail", str(error)
    else:
        name = to_one_line(info.name)
        yield "store", "warn" if info.is_archived else "ok", f"{name}, archived" if info.is_archived else name
    copy = get_state_directory(place, state) / COPY
    yield "copy", "ok", format_path(copy) if copy.exists() else "none yet"


def _get_store_id(place: str) -> str:
    store_id = place.removeprefix(HOSTED)
    if not _ID.fullmatch(store_id):
        raise StateUnusable("A hosted memory store is named by its id: anthropic:memstore_...")
    return store_id


def _open_copy(
    place: str,
    state: str | os.PathLike[str] | None,
    settings: Settings,
    client: Anthropic | None = None,
    *,
    offline: bool = False,
) -> tuple[HostedStore, HostedJournal, str, Path]:
    """This machine's copy as it is now: its halves, its path, and the state directory. Raises `StateUnusable`."""
    title = format_path(place)
    store_id = _get_store_id(place)
    where = get_state_directory(place, state)
    try:
        make_private_directory(where)
        remember_folder(where, place)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise StateUnusable(f"The state directory {format_path(where)} cannot be used: {reason}.") from error
    path = str(where / COPY)
    journal = HostedJournal(path, HostedApi(store_id, client))
    try:
        store = HostedStore.open(path, title=title, synced=not journal.is_write_ahead)
    except OSError as error:
        journal.close()
        raise StateUnusable(f"{title} cannot be used: {error.strerror}.") from error
    follower = store.follow(journal, settings.lock_seconds)
    journal.files = FollowedFiles(journal.files, follower)
    try:
        store.catch_up()
    except BaseException as error:
        if not (offline and isinstance(error, Unreachable) and journal.is_begun):
            store.close()
            journal.close()
            raise
    return store, journal, path, where
