"""Noticing that the folder or the journal moved, and having the engine look again.

A watcher is a hint and no more: it loses whole floods of changes, by some systems without a word. So what it reports
is looked at by the engine, every new directory is looked through, and everything is looked at now and then, and after
the process was stopped for a while. On Linux the notifications come from the kernel (`memtui.fs.inotify` says why),
elsewhere from the package watchfiles.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import Protocol

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from memtui.core.errors import FolderMissing, LockTimeout, MemoryClosed, MemtuiError, ServerUnusable
from memtui.core.events import EntryKind, WatchMode, WatchStatus
from memtui.core.paths import NO_FOLDER
from memtui.engine import Observer
from memtui.fs.inotify import LIMITS, InotifyWatches, Notices
from memtui.fs.state import REMOTE, get_file_system_type

__all__ = [
    "CHECKED_WITH",
    "FolderWatcher",
    "RustNotify",
    "WatchfilesRustInternalError",
    "explain_polling",
    "open_watches",
]

CHECKED_WITH = "1.3.0"
"""The version of watchfiles whose private module was checked; no other module imports it."""
_DEBOUNCE_MS = 20
_STEP_MS = 10
_WAIT_SECONDS = 0.5
"""Seconds after which it is asked whether the folder is another one: of one that is removed while it is open, nobody is
told. A wait that is much longer was a suspended process.
"""
_AT_ONCE_SECONDS = 0.001
"""A wait for what is there already: none at all would be no end of it for watchfiles."""
_COMMIT_SECONDS = 0.02
_COMMITTING_SECONDS = 1.0
"""A commit is seen when it is written, but can be read only once it is synced, which nothing reports: so the journal
is asked often for a second after it moved, and at every turn anyway."""
_SUSPENDED_SECONDS = 3.0
_POLL_SECONDS = 2.0
_LOOK_SECONDS = 10.0
_LOOK_COST = 1_000
"""Everything is looked at again every ten seconds, or as much later as keeps it under one part in this many."""
_DOUBTFUL_LOOK_COST = 100
"""The same where changes can go unnoticed: other machines', or those that the watches lose without a word."""
_MANY_HINTS = 2_000


class Watches(Protocol):
    """What tells that a folder or a journal seems to have changed."""

    is_exact: bool
    """Whether it tells as well that something was lost."""

    def arm(self) -> None: ...

    def wait(self, seconds: float) -> Notices: ...

    def wake(self) -> None: ...

    def close(self) -> None: ...


class _LibraryWatches:
    """Watches of the package watchfiles, on a folder and the directory of its journal."""

    is_exact = False

    def __init__(self, folder: str, state: str | None, engine: Observer | None, stop: threading.Event) -> None:
        """Watch real directories only: a recursive watch would follow links out of the folder.

        It would list directories, too, and that shows in them: where all is only looked at, each is watched by itself.
        """
        self._engine = engine
        self._folder = folder
        self._stop = stop
        directories = [folder]
        links = False
        for entry in engine.iter_names() if engine else ():
            if entry.kind is EntryKind.LINK:
                links = True
            elif entry.kind is EntryKind.DIRECTORY:
                directories.append(os.path.join(folder, entry.path))
        self._per_directory = each = links or (engine is not None and engine.read_only)
        paths = [*(directories if each else [folder]), *([state] if state else [])]
        try:
            self._notify = RustNotify(paths, False, False, 0, not each, True)
        except WatchfilesRustInternalError as error:
            raise OSError(str(error)) from error

    def arm(self) -> None:
        """Nothing: all files of the state directory are watched all the time."""

    def wait(self, seconds: float) -> Notices:
        try:
            reported = self._notify.watch(_DEBOUNCE_MS, _STEP_MS, round(seconds * 1_000), self._stop)
        except WatchfilesRustInternalError:
            return Notices(set(), is_lost=True)
        prefix = self._folder.rstrip("/") + "/"
        hints: set[str] = set()
        in_files = False
        for _, path in reported if isinstance(reported, set) else ():
            if path.startswith(prefix):
                hints.add(path[len(prefix) :])
            elif path == self._folder:
                hints.add("")
            else:
                in_files = True
        return Notices(hints, in_files, self._is_outgrown(hints))

    def wake(self) -> None:
        """Nothing: the event that stops it is looked at at each step."""

    def close(self) -> None:
        self._notify.close()

    def _is_outgrown(self, hints: set[str]) -> bool:
        """Whether a new directory is not watched, or a new link would be followed."""
        for path in hints:
            if not path or len(hints) > _MANY_HINTS:
                return True  # too much was reported to know
            entry = self._engine.get_entry(path) if self._engine else None
            if entry and entry.kind is (EntryKind.DIRECTORY if self._per_directory else EntryKind.LINK):
                return True
        return False


def open_watches(
    folder: str, state: str | None = None, engine: Observer | None = None, stop: threading.Event | None = None
) -> Watches:
    """Watch a place, with links resolved, and the journal of its engine where there is a `state` directory.

    Raises:
        OSError: It cannot be watched.
    """
    bells = engine.journal.files.bells if engine and state else ()
    try:
        return InotifyWatches(None if folder.startswith(NO_FOLDER) else folder, bells)
    except OSError as error:
        if error.errno in LIMITS:
            raise
    return _LibraryWatches(folder, state, engine, stop or threading.Event())


class FolderWatcher:
    """Keeps an engine's journal true while others write.

    Args:
        engine: Whose folder and journal are watched; of an observer, its journal in memory.
        folder: The folder, with links resolved.
        state: The directory of the journal, or `None` if no other process can write to it.
        changed: Called, in the watching thread, when there may be new events.
        mode_changed: Called, in the watching thread, when changes begin to be noticed in another way.
        pause: Seconds between a change and the look at it, and at all that came meanwhile: nobody waits for it.
    """

    def __init__(
        self,
        engine: Observer,
        folder: str,
        state: str | None,
        *,
        changed: Callable[[], None],
        mode_changed: Callable[[WatchStatus], None] = lambda _: None,
        pause: float = 0.0,
    ) -> None:
        self._engine = engine
        self._pause = pause
        self._folder = folder
        self._state = state
        self._changed = changed
        self._mode_changed = mode_changed
        self._stop = threading.Event()
        self._watching: WatchStatus | None = None
        self._own = WatchStatus(WatchMode.LIVE)
        self._watches: Watches | None = None
        self._attached = 0
        self._look_again = 0.0
        self._look_cost = _LOOK_COST
        self._commit_until = 0.0
        self._head = -1
        self._failed = False
        self._thread = threading.Thread(target=self._run, name="memtui-watch", daemon=True)

    def start(self) -> None:
        """Begin, in a thread of its own: first everything is looked at, then what is reported."""
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if watches := self._watches:
            watches.wake()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        _yield_to_writers()
        while not self._stop.is_set():
            try:
                self._start_watches()
                self._follow_changes()
            except MemoryClosed:
                return
            except FolderMissing as error:
                self._set_status(WatchStatus(WatchMode.GONE, str(error)))
                self._stop.wait(_POLL_SECONDS)
            except (MemtuiError, OSError) as error:
                self._set_status(_make_failed_status("followed", error))
                self._stop.wait(_POLL_SECONDS)
            finally:
                if self._watches is not None:
                    self._watches.close()
                    self._watches = None

    def _start_watches(self) -> None:
        """Set the watches first and look at everything then, so that nothing falls between."""
        self._attached = self._engine.attach()
        try:
            self._watches = open_watches(self._folder, self._state, self._engine, self._stop)
        except OSError as error:
            self._set_status(WatchStatus(WatchMode.POLLING, explain_polling(error)))
        else:
            self._set_status(WatchStatus(WatchMode.LIVE))
        is_remote = (get_file_system_type(self._folder) or "").startswith(REMOTE)
        is_exact = self._watches is not None and self._watches.is_exact and not is_remote
        self._look_cost = _LOOK_COST if is_exact else _DOUBTFUL_LOOK_COST
        self._reconcile(None)

    def _follow_changes(self) -> None:
        """Wait and look, until the watches no longer fit the folder."""
        while not self._stop.is_set():
            waited_from = time.monotonic()
            if self._watches is None:
                self._stop.wait(_POLL_SECONDS)
                self._reconcile(None)
                self._notify_if_changed()
                continue
            if not (is_committing := waited_from < self._commit_until):
                self._watches.arm()
            self._notify_if_changed()
            self._set_status(self._own)
            noticed = self._watches.wait(_COMMIT_SECONDS if is_committing else _WAIT_SECONDS)
            if self._pause and (noticed.paths or noticed.in_files) and not self._stop.wait(self._pause):
                noticed = noticed.merge(self._watches.wait(_AT_ONCE_SECONDS))
            now = time.monotonic()
            if noticed.in_files:
                self._commit_until = now + _COMMITTING_SECONDS
            if noticed.paths and not self._reconcile(noticed.paths if len(noticed.paths) <= _MANY_HINTS else {""}):
                return
            if noticed.is_lost or self._engine.attach() != self._attached:
                return  # the watches are on the directory that stood there before, or not on all
            if (now - waited_from > _SUSPENDED_SECONDS or now >= self._look_again) and not self._reconcile(None):
                return

    def _reconcile(self, hints: set[str] | None) -> bool:
        """Have the engine look; tells whether the watches still fit what is there."""
        started = time.monotonic()
        try:
            count = self._engine.reconcile(hints, stop=self._stop.is_set)
        except LockTimeout:
            self._look_again = 0.0
            return True
        except (MemoryClosed, FolderMissing):
            raise
        except (MemtuiError, OSError) as error:
            self._set_status(_make_failed_status("recorded", error))
            self._failed = True
            self._look_again = started + _POLL_SECONDS
            return True
        if self._failed:
            self._failed = False
            return False  # it works again: begin anew, and say how changes are noticed then
        if count:
            self._notify_if_changed()
        if hints is None:
            took = time.monotonic() - started
            self._look_again = time.monotonic() + max(_LOOK_SECONDS, took * self._look_cost)
            return not count  # what was not reported may not be watched
        return True

    def _notify_if_changed(self) -> None:
        """Tell if the journal has events that were not there before, by whomever."""
        head = self._engine.get_head()[0]
        if head != self._head:
            self._head = head
            self._changed()

    def _set_status(self, watching: WatchStatus) -> None:
        """Tell how changes are noticed; that a server is away comes before anything else."""
        self._own, of_record = watching, self._engine.journal.files.status
        if of_record.mode is WatchMode.OFFLINE or watching.mode is WatchMode.LIVE:
            watching = of_record
        if watching != self._watching:
            self._watching = watching
            self._mode_changed(watching)


def _make_failed_status(verb: str, error: BaseException) -> WatchStatus:
    if isinstance(error, ServerUnusable):
        return WatchStatus(WatchMode.OFFLINE, str(error))
    return WatchStatus(WatchMode.POLLING, f"Changes by other programs cannot be {verb}: {error} Trying again.")


def _yield_to_writers() -> None:
    """Have this thread, and those that it starts, interrupt nobody when they are woken, where the system can (Linux).

    Every call that a writer makes in a folder wakes the watchers, and would be interrupted by each of them.
    """
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def explain_polling(error: BaseException) -> str:
    """What a person is told where changes are not reported."""
    if "limit" in str(error).lower() or "space" in str(error).lower():
        return (
            "Live updates are slower: the system's watch limit is reached. Checking every 2 s. "
            "To fix: sudo sysctl fs.inotify.max_user_watches=524288"
        )
    return f"Live updates are slower: the folder cannot be watched ({error}). Checking every 2 s."
