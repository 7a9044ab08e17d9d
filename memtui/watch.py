"""Noticing that the folder or the journal moved, and having the engine look again.

A watcher is a hint and no more: it loses files in brand-new directories and whole floods without a word. So what
it reports is looked at by the engine, every new directory is looked through, and everything is looked at now and
then, and after the process was stopped for a while.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from memtui.core.errors import FolderMissing, LockTimeout, MemoryClosed, MemtuiError
from memtui.core.events import EntryKind, WatchMode, WatchStatus
from memtui.engine import Observer

__all__ = ["CHECKED_WITH", "FolderWatcher", "RustNotify", "WatchfilesRustInternalError", "explain_polling"]

CHECKED_WITH = "1.3.0"
"""The version of watchfiles whose private module was checked; no other module imports it."""
_DEBOUNCE_MS = 20
_STEP_MS = 10
_WAIT_MS = 500
"""A change is reported within the debounce; a wait that is much longer than this one was a suspended process."""
_COMMIT_MS = 20
_COMMIT_SECONDS = 1.0
"""A commit is seen when it is written, but can be read only once it is synced, which nothing reports: so the journal
is asked often for a second after it moved, and at every turn anyway."""
_SUSPENDED_SECONDS = 3.0
_POLL_SECONDS = 2.0
_LOOK_SECONDS = 10.0
_LOOK_COST = 100
"""Everything is looked at again every ten seconds, or as much later as keeps it under one part in this many."""
_MANY_HINTS = 2_000


class FolderWatcher:
    """Keeps an engine's journal true while others write.

    Args:
        engine: Whose folder and journal are watched; of an observer, its journal in memory.
        folder: The folder, with links resolved.
        state: The directory of the journal, or `None` if no other process can write to it.
        changed: Called, in the watching thread, when there may be new events.
        mode_changed: Called, in the watching thread, when changes begin to be noticed in another way.
    """

    def __init__(
        self,
        engine: Observer,
        folder: str,
        state: str | None,
        *,
        changed: Callable[[], None],
        mode_changed: Callable[[WatchStatus], None] = lambda _: None,
    ) -> None:
        self._engine = engine
        self._folder = folder
        self._state = state
        self._changed = changed
        self._mode_changed = mode_changed
        self._stop = threading.Event()
        self._watching: WatchStatus | None = None
        self._notify: RustNotify | None = None
        self._per_directory = False
        self._attached = 0
        self._look_again = 0.0
        self._commit_until = 0.0
        self._head = -1
        self._failed = False
        self._thread = threading.Thread(target=self._run, name="memtui-watch", daemon=True)

    def start(self) -> None:
        """Begin, in a thread of its own: first everything is looked at, then what is reported."""
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
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
                words = f"Changes by others cannot be followed: {error} Trying again."
                self._set_status(WatchStatus(WatchMode.POLLING, words))
                self._stop.wait(_POLL_SECONDS)
            finally:
                if self._notify is not None:
                    self._notify.close()
                    self._notify = None

    def _start_watches(self) -> None:
        """Set the watches first and look at everything then, so that nothing falls between."""
        self._attached = self._engine.attach()
        try:
            self._notify = self._make_watches()
        except (OSError, WatchfilesRustInternalError) as error:
            self._set_status(WatchStatus(WatchMode.POLLING, explain_polling(error)))
        else:
            self._set_status(WatchStatus(WatchMode.LIVE))
        self._reconcile(None)

    def _make_watches(self) -> RustNotify:
        """Watches on real directories only: a recursive one would follow links out of the folder.

        It would list directories, too, and that shows in them: where all is only looked at, each is watched by itself.
        """
        state = [self._state] if self._state else []
        directories = [self._folder]
        links = False
        for entry in self._engine.iter_names():
            if entry.kind is EntryKind.LINK:
                links = True
            elif entry.kind is EntryKind.DIRECTORY:
                directories.append(os.path.join(self._folder, entry.path))
        self._per_directory = each = links or self._engine.read_only
        paths = [*(directories if each else [self._folder]), *state]
        return RustNotify(paths, False, False, 0, not each, True)

    def _follow_changes(self) -> None:
        """Wait and look, until the watches no longer fit the folder."""
        while not self._stop.is_set():
            waited_from = time.monotonic()
            if self._notify is None:
                self._stop.wait(_POLL_SECONDS)
                self._reconcile(None)
                self._notify_if_changed()
                continue
            try:
                wait = _COMMIT_MS if waited_from < self._commit_until else _WAIT_MS
                reported = self._notify.watch(_DEBOUNCE_MS, _STEP_MS, wait, self._stop)
            except WatchfilesRustInternalError:
                return
            now = time.monotonic()
            if isinstance(reported, set):
                hints, journal_moved = self._read_hints(path for _, path in reported)
                if journal_moved:
                    self._commit_until = now + _COMMIT_SECONDS
                if hints and not self._reconcile(hints):
                    return
            self._notify_if_changed()
            if self._engine.attach() != self._attached:
                return  # the watches are on the directory that stood there before
            if (now - waited_from > _SUSPENDED_SECONDS or now >= self._look_again) and not self._reconcile(None):
                return

    def _read_hints(self, paths: Iterable[str]) -> tuple[set[str] | None, bool]:
        """What was reported, relative to the folder (`None` for too much of it), and whether the journal moved."""
        hints: set[str] = set()
        journal_moved = False
        prefix = self._folder.rstrip("/") + "/"
        for path in paths:
            if path.startswith(prefix):
                hints.add(path[len(prefix) :])
            elif path == self._folder:
                hints.add("")
            else:
                journal_moved = True
        return (hints if len(hints) <= _MANY_HINTS else {""}), journal_moved

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
            words = f"Changes by others cannot be recorded: {error} Trying again."
            self._set_status(WatchStatus(WatchMode.POLLING, words))
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
            self._look_again = time.monotonic() + max(_LOOK_SECONDS, took * _LOOK_COST)
            return not count  # what was not reported may not be watched
        return not self._is_outgrown(hints)

    def _notify_if_changed(self) -> None:
        """Tell if the journal has events that were not there before, by whomever."""
        head = self._engine.get_head()[0]
        if head != self._head:
            self._head = head
            self._changed()

    def _is_outgrown(self, hints: Iterable[str]) -> bool:
        """Whether a new directory is not watched, or a new link would be followed."""
        for path in hints:
            if not path:
                return True  # too much was reported to know
            entry = self._engine.get_entry(path)
            if entry and entry.kind is (EntryKind.DIRECTORY if self._per_directory else EntryKind.LINK):
                return True
        return False

    def _set_status(self, watching: WatchStatus) -> None:
        if watching != self._watching:
            self._watching = watching
            self._mode_changed(watching)


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
