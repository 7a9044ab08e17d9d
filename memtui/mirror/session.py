"""A mirror from its beginning to its end: both sides are opened, nobody else mirrors them, and it is followed."""

import contextlib
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from memtui import memory
from memtui.core.errors import FolderMissing, LockTimeout, MemtuiError, StateUnusable, Unreachable, UnsettledChange
from memtui.core.events import WatchMode, WatchStatus
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import NO_FOLDER, ONLINE, SERVER, SQLITE, format_path
from memtui.core.settings import Settings
from memtui.engine import Engine
from memtui.fs.locks import hold_lock
from memtui.fs.state import get_state_directory, make_private_directory
from memtui.mirror.ancestors import AncestorStore
from memtui.mirror.deletions import WipeFound
from memtui.mirror.reports import Report
from memtui.mirror.side import Side, make_title
from memtui.mirror.sync import PAUSE_SECONDS, Mirror
from memtui.watch import FolderWatcher

_AGAIN_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0)
"""How long is waited before a side that cannot be used is tried again; the last one from then on."""
_LOOK_SECONDS = 0.05
"""For how long changes that belong together are gathered."""
_UNSETTLED_SECONDS = 1.0


class MirrorBusy(MemtuiError):
    """Another mirror of the same two places is running."""


@dataclass(frozen=True, slots=True)
class MirrorOptions:
    """How a mirror runs.

    Attributes:
        source: A place with links resolved (see `resolve_place`).
        folder: A folder, with links resolved.
        state: The directory of the folder's journal; by default its own.
        accepts_wipes: See `Mirror`.
        pause: See `Mirror`.
    """

    source: str
    folder: str
    state: str | None = None
    settings: Settings | None = None
    accepts_wipes: bool = False
    pause: float = PAUSE_SECONDS

    def with_acceptance(self, accepts_wipes: bool) -> "MirrorOptions":
        """The same, where what is gone now is carried or not."""
        return replace(self, accepts_wipes=accepts_wipes)


class _Opened:
    """A mirror with its two engines."""

    def __init__(self, mirror: Mirror, folder: Engine, source: Engine) -> None:
        self.mirror = mirror
        self.folder = folder
        self.source = source


@contextlib.contextmanager
def open_mirror(options: MirrorOptions) -> Iterator[Mirror]:
    """Both sides, looked through, and what both had in common at last. A folder that was never mirrored is made.

    Raises:
        MirrorBusy: Another process mirrors the two.
        FolderMissing: There is no such folder, or it is not there any more, or its disk is not mounted.
        Unreachable: The server does not answer.
        StateUnusable, LockTimeout: One side cannot be used.
    """
    with _open(options) as opened:
        yield opened.mirror


@contextlib.contextmanager
def _open(options: MirrorOptions) -> Iterator[_Opened]:
    _check_places(options)
    where = get_state_directory(options.folder, options.state)
    pair = hashlib.sha256(os.fsencode(f"{options.source}\0{options.folder}")).hexdigest()[:12]
    kept = where / f"mirror-{pair}.db"
    _make_folder(options.folder, kept)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(memory.connect(options.folder, state=options.state, settings=options.settings))
        make_private_directory(where)
        stack.enter_context(_hold_pair(where, f"mirror-{pair}.lock"))
        if options.source.startswith(SQLITE) and kept.exists() and not os.path.exists(options.source[len(SQLITE) :]):
            raise FolderMissing(f"No file at {format_path(options.source)}, which was mirrored before.")
        source = stack.enter_context(memory.connect(options.source, settings=options.settings))
        signer = memory.load_postgres().get_signer(source) if options.source.startswith(SERVER) else None
        ancestors = stack.enter_context(contextlib.closing(AncestorStore(kept)))
        folder.reconcile()
        source.reconcile()
        mirror = Mirror(
            Side("folder", folder, make_title(format_path(options.folder))),
            Side("source", source, make_title(format_path(options.source)), signer=signer),
            ancestors,
            accepts_wipes=options.accepts_wipes,
            pause=options.pause,
        )
        yield _Opened(mirror, folder, source)


def run_once(options: MirrorOptions, report: Callable[[Report], None], stop: threading.Event) -> Mirror:
    """Make both sides equal; returns the mirror, whose `left` says what is not.

    Raises:
        WipeFound: See `Mirror.sync`.
        MirrorBusy, FolderMissing, Unreachable, StateUnusable, LockTimeout, UnsettledChange: See `open_mirror`.
    """
    with open_mirror(options) as mirror:
        while not stop.is_set():
            _report_all(mirror, report, stop)
            if (seconds := mirror.wait_seconds) is None:
                break
            stop.wait(seconds)
        return mirror


def _report_all(mirror: Mirror, report: Callable[[Report], None], stop: threading.Event) -> None:
    """Sync once, and end after any step once `stop` is set: each is whole in itself."""
    for each in mirror.sync():
        report(each)
        if stop.is_set():
            return


def follow(
    options: MirrorOptions,
    *,
    stop: threading.Event,
    report: Callable[[Report], None],
    notify: Callable[[str], None],
    ask: Callable[[WipeFound], bool],
    idle: Callable[[], None] = lambda: None,
) -> None:
    """Make both sides equal, and keep them so until `stop` is set. A side that is away is tried again.

    Args:
        report: Takes each change.
        notify: Takes a sentence where something cannot be done for now, or can be again.
        ask: Whether so much is to be deleted; asked in this thread.
        idle: Called several times a second while there is nothing to do.

    Raises:
        WipeFound: The answer was no.
        MirrorBusy, FolderMissing, StateUnusable: It cannot go on, or not begin.
    """
    failures = 0
    accepts = options.accepts_wipes
    while not stop.is_set():
        try:
            with _open(options.with_acceptance(accepts)) as opened:
                news = _News(opened, options)
                try:
                    for _ in _sync_forever(opened.mirror, news, stop, report, ask, idle):
                        if failures:
                            notify("Both sides can be used again.")
                        failures, accepts = 0, False
                finally:
                    news.stop()
        except (Unreachable, LockTimeout, UnsettledChange) as error:
            if not failures:
                notify(f"{error} Trying again.")
            seconds = _AGAIN_SECONDS[min(failures, len(_AGAIN_SECONDS) - 1)]
            failures += 1
            with _record_folder(options):
                while seconds > 0 and not stop.wait(min(seconds, _UNSETTLED_SECONDS)):
                    idle()
                    seconds -= _UNSETTLED_SECONDS


def _sync_forever(
    mirror: Mirror,
    news: "_News",
    stop: threading.Event,
    report: Callable[[Report], None],
    ask: Callable[[WipeFound], bool],
    idle: Callable[[], None],
) -> Iterator[None]:
    """Yields after each pass that nothing has kept from its end."""
    while not stop.is_set():
        news.woken.clear()
        try:
            _report_all(mirror, report, stop)
        except WipeFound as wipe:
            if not ask(wipe):
                raise
            mirror.accept(wipe)
            continue
        yield
        seconds = mirror.wait_seconds
        if seconds is None:
            seconds = mirror.retry_seconds if mirror.is_equal else _UNSETTLED_SECONDS
        waited = 0.0
        while not news.woken.wait(_LOOK_SECONDS * 5) and not stop.is_set():
            idle()
            waited += _LOOK_SECONDS * 5
            if seconds is not None and waited >= seconds:
                break
        if news.missing:
            raise FolderMissing(news.missing)


class _News:
    """Set when one of the two sides may have changed."""

    def __init__(self, opened: _Opened, options: MirrorOptions) -> None:
        self.woken = threading.Event()
        self.missing = ""
        folder, source = options.folder, options.source
        self._watchers = [
            _make_watcher(opened.folder, folder, options.state, self.woken.set, self._note_mode),
            _make_watcher(opened.source, source, None, self.woken.set, self._note_mode),
        ]
        for watcher in self._watchers:
            watcher.start()

    def stop(self) -> None:
        for watcher in self._watchers:
            watcher.stop()

    def _note_mode(self, watching: WatchStatus) -> None:
        if watching.mode is WatchMode.GONE:
            self.missing = watching.reason
            self.woken.set()


def _make_watcher(
    engine: Engine,
    place: str,
    state: str | None,
    changed: Callable[[], None],
    mode_changed: Callable[[WatchStatus], None] = lambda _: None,
) -> FolderWatcher:
    where = str(get_state_directory(place, state))
    return FolderWatcher(engine, place, where, changed=changed, mode_changed=mode_changed, pause=_LOOK_SECONDS)


@contextlib.contextmanager
def _record_folder(options: MirrorOptions) -> Iterator[None]:
    """Have what happens in the folder recorded while the source is away: each version counts, and not only the last."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(MemtuiError):
            engine = memory.connect(options.folder, state=options.state, settings=options.settings)
            stack.enter_context(engine)
            watcher = _make_watcher(engine, options.folder, options.state, lambda: None)
            stack.callback(watcher.stop)
            watcher.start()
        yield


def _check_places(options: MirrorOptions) -> None:
    folder, source = options.folder, options.source
    if folder.startswith(NO_FOLDER):
        raise StateUnusable("A mirror's second place is a folder: it is for programs that know only files.")
    inside = source.removeprefix(SQLITE) if not source.startswith(ONLINE) else ""
    if f"{inside}/".startswith(f"{folder.rstrip('/')}/") or f"{folder}/".startswith(f"{source.rstrip('/')}/"):
        raise StateUnusable("One of the two places is inside the other: they cannot be mirrored.")


def _make_folder(folder: str, kept: Path) -> None:
    """Make a folder that was never mirrored. One that was, and is not there, is missing."""
    if not os.path.lexists(folder) and not kept.exists() and os.path.isdir(os.path.dirname(folder)):
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)


@contextlib.contextmanager
def _hold_pair(where: Path, name: str) -> Iterator[None]:
    directory = os.open(where, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(hold_lock(directory, 0.0, name=name))
            except LockTimeout as error:
                raise MirrorBusy("These two places are mirrored by another process already.") from error
            yield
    finally:
        os.close(directory)


__all__ = ["MirrorBusy", "MirrorOptions", "follow", "open_mirror", "run_once"]
