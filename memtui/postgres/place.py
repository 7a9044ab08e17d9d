"""Putting an engine together over memories on a server: `postgres://USER@HOST/DATABASE?store=NAME`.

What this machine knows of them is in a state directory: a copy (see `memtui.postgres.journal`), and what is kept beside
the memories of a folder as well, such as drafts.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from memtui.core.errors import LockTimeout, ServerUnusable, StateUnusable, Unreachable
from memtui.core.events import WatchMode, WatchStatus
from memtui.core.paths import format_path
from memtui.core.settings import Settings
from memtui.engine import Engine, Observer
from memtui.fs.state import COPY, UNFINISHED, get_state_directory, make_private_directory, remember_folder
from memtui.journal.announcements import AnnouncementStore
from memtui.journal.files import CopyFollower, FollowedFiles
from memtui.postgres.dsn import parse_address
from memtui.postgres.journal import ServerJournal
from memtui.postgres.server import Server
from memtui.sqlite_file import observe_file, read_file
from memtui.store.base import Transaction
from memtui.store.entries import EntryStore
from memtui.store.sqlite import SqliteStore

_LOOK_SECONDS = 3.0
"""After which a copy looks for what is new, whether the bell rang or not."""
_SLOW_SECONDS = 0.5
"""From which a look that failed was slow."""
_LIVE = WatchStatus(WatchMode.LIVE)
_NO_BELL = f"Live updates are slower: {{reason}} Checking every {_LOOK_SECONDS:.0f} s."
_SILENT = "the server's notifications do not come through, as behind a pooler in transaction mode."
_END_SECONDS = 0.2
"""How long the end of a copy may wait for who listens."""
_AGAIN_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)
"""How long is waited before a server that is gone is tried again; the last one from then on."""


class Follower(CopyFollower):
    """See `CopyFollower`."""

    def __init__(self, journal: ServerJournal) -> None:
        super().__init__(_AGAIN_SECONDS)
        self._journal = journal

    def follow(self) -> None:
        self._look()  # what can be read is shown, whatever becomes of the bell
        self.note_success()
        self._follow_bell()

    def _follow_bell(self) -> None:
        """Look when the bell rings, and now and then; only that where the bell is refused. Raises `StateUnusable`."""
        with contextlib.ExitStack() as stack:
            bell, reason = None, _SILENT
            try:
                bell = stack.enter_context(contextlib.closing(self._journal.server.listen()))
            except Unreachable:
                raise
            except StateUnusable as error:
                reason = str(error)
            self.status = _LIVE
            began, looked, rang = time.monotonic(), 0.0, True
            while not self.end.is_set():
                now = time.monotonic()
                if rang or now - looked >= _LOOK_SECONDS:
                    looked = now
                    self._look()
                rang = self.end.wait(_END_SECONDS) if bell is None else bell.wait(_END_SECONDS)
                if bell is None or (not bell.is_heard and now - began >= _LOOK_SECONDS):
                    self.status = WatchStatus(WatchMode.POLLING, _NO_BELL.format(reason=reason))
                elif bell.is_heard:
                    self.status = _LIVE

    def _look(self) -> None:
        with contextlib.suppress(LockTimeout):
            self._journal.catch_up()


class ServerStore(EntryStore):
    """The memories in a copy. See `Store`."""

    def __init__(self, journal: ServerJournal, follower: Follower, *, title: str) -> None:
        super().__init__(journal.entries, title=title)
        journal.entries.make_root()
        self._look_again = 0.0
        self._journal = journal
        self._follower = follower

    def close(self) -> None:
        self._follower.stop()

    def attach(self, *, look: bool = True) -> int:
        """See `Store.attach`: who does not follow the server asks it; while it is away, what is known here is shown."""
        began = time.monotonic()
        if look and not self._follower.is_running and began >= self._look_again:
            try:
                self._journal.catch_up()
            except (StateUnusable, LockTimeout):
                if time.monotonic() - began > _SLOW_SECONDS:  # whoever only looks does not wait for it each time
                    self._look_again = time.monotonic() + _AGAIN_SECONDS[-1]
        return 0

    def refresh(self) -> None:
        self._journal.catch_up()

    @contextlib.contextmanager
    def begin_transaction(self, seconds: float, *, optimistic: bool = False) -> Iterator[Transaction]:  # noqa: ARG002 - the turn has its own
        with self._journal.begin_turn(optimistic=optimistic):
            yield self


def connect(
    place: str,
    *,
    state: str | os.PathLike[str] | None = None,
    read_only: bool = False,
    settings: Settings | None = None,
    offline: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> Engine:
    """Open memories on a server.

    Args:
        place: Their address.
        state: The directory for this machine's copy; by default one of their own.
        read_only: Whether the memories are those of this moment, in a copy that cannot be changed.
        settings: How commands behave.
        offline: Whether what this machine knows is enough while the server cannot be used: it goes on once that can.
        progress: Called with the number of the last event that was taken over, again and again.

    Raises:
        StateUnusable: The server cannot be reached, grants nothing, or holds no such store; or the copy cannot be used.
    """
    settings, title = settings or Settings(), format_path(place)
    journal, path, where = _open_copy(place, state, settings, offline=offline, progress=progress)
    try:
        if read_only:
            store, known = read_file(path, place, quietly=False)
            journal.close()
            return Engine(store, known, settings=settings, read_only=True, announced=AnnouncementStore(where))
        follower = Follower(journal)
        followed = ServerStore(journal, follower, title=title)
        journal.files = FollowedFiles(journal.files, follower)
        return Engine(followed, journal, settings=settings, announced=AnnouncementStore(where))
    except BaseException as error:
        journal.close()
        if isinstance(error, OSError):
            raise StateUnusable(f"{title} cannot be used: {error.strerror}.") from error
        raise


def observe(
    place: str, *, state: str | os.PathLike[str] | None = None, settings: Settings | None = None, look: bool = True
) -> Observer:
    """The memories of this moment, only to look at them: nothing is created or changed on the server. See `connect`."""
    path = update_copy(place, state, settings)
    return observe_file(path, place, state, settings=settings, look=look, quietly=False)


def open_store(place: str) -> SqliteStore:
    """The memories of this moment, without their record: nothing is created or changed. See `connect`."""
    return read_file(update_copy(place), place, quietly=False)[0]


def update_copy(
    place: str,
    state: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    *,
    progress: Callable[[int], object] = lambda _: None,
) -> str:
    """The path of this machine's copy, which is brought up to date. See `connect`."""
    journal, path, _ = _open_copy(place, state, settings or Settings(), progress=progress)
    journal.close()
    return path


def _open_copy(
    place: str,
    state: str | os.PathLike[str] | None,
    settings: Settings,
    *,
    offline: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[ServerJournal, str, Path]:
    """This machine's copy as the server is now, its path, and the state directory. Raises `StateUnusable`."""
    address = parse_address(place)
    where = get_state_directory(place, state)
    try:
        make_private_directory(where)
        remember_folder(where, place)
        path, unfinished = str(where / COPY), where / UNFINISHED
        if not os.path.exists(path):
            unfinished.touch(0o600)
        journal = ServerJournal(path, Server(address, seconds=settings.lock_seconds), settings)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise StateUnusable(f"The state directory {format_path(where)} cannot be used: {reason}.") from error
    try:
        journal.catch_up(progress=progress)
        with contextlib.suppress(OSError):
            unfinished.unlink()
    except BaseException as error:
        if offline and isinstance(error, ServerUnusable) and journal.get_head()[0]:
            return journal, path, where
        journal.close()
        raise
    return journal, path, where


def get_signer(engine: Engine) -> str | None:
    """The only agent that this user of the server may sign as; `None` for any actor. Raises `StateUnusable`."""
    assert isinstance(engine.journal, ServerJournal)
    return engine.journal.server.check()[1]
