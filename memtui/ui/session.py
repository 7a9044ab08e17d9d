"""An open memory behind a screen: the engine, the watcher, and one thread that brings what is new.

Disk and database are slow now and then, whatever one does; none of it may happen on the screen's loop. What
threads find is posted as messages.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.core.errors import Closed, MemtuiError, StateUnusable
from memtui.core.paths import MemoryPath
from memtui.core.watching import Watching
from memtui.ui.messages import Happened, LookedAt, Opened, Read, Trouble, Unrecorded, WatchingChanged

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.watch import Watch

RECENT = 200
"""Events of earlier that the activity begins with."""
UNSEEN = 20_000
"""Events that are looked through for what the person has not seen yet."""
_PAGE = 5_000
_RETRY_SECONDS = 2.0
_SEEN = "seen"

Post = Callable[[Message], object]
"""Takes a message, from any thread."""


class Session:
    """Everything that outlives a frame.

    Args:
        folder: An existing directory.
        post: Takes messages, from any thread.
        state: Where the journal lies, if not in its usual place.
        read_only: Whether every change is refused.
    """

    def __init__(self, folder: str, post: Post, *, state: str | None = None, read_only: bool = False) -> None:
        self.folder = folder
        self._state = state
        self._read_only = read_only
        self._post = post
        self._engine: Engine | None = None
        self._watch: Watch | None = None
        self._last = 0
        self._again: int | None = None
        self._totals: tuple[int, int, bool] | None = None
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memtui-session", daemon=True)

    def start(self) -> None:
        """Open the folder, in a thread; `Opened` or `Trouble` follows, then what happens."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the threads and close the engine. Returns when all is closed."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def look_everywhere(self) -> None:
        """Look at the whole folder again, from a worker."""
        if self._engine:
            try:
                self._engine.reconcile()
            except (MemtuiError, OSError) as error:
                self._post(Trouble(str(error)))
            self._wake.set()

    def look_at_all(self) -> None:
        """Look at every entry, from a worker; `LookedAt` follows."""
        engine = self._engine
        if engine:
            try:
                entries = [entry for each in engine.names() if (entry := engine.entry(each.path))]
            except (MemtuiError, OSError) as error:
                self._post(Trouble(str(error)))
            else:
                self._post(LookedAt(entries))

    def look_at(self, paths: tuple[str, ...]) -> None:
        """Look at entries, from a worker; `LookedAt` follows."""
        if self._engine:
            entries = [entry for path in paths if (entry := self._engine.entry(path))]
            self._post(LookedAt(entries))

    def read(self, path: str, *, as_model: bool, again: bool, cancelled: Callable[[], bool]) -> None:
        """Read what stands at a path, from a worker; `Read` follows."""
        engine = self._engine
        if engine is None:
            return
        try:
            seen = engine.look(path)
            answer = engine.answer_to_view(MemoryPath.of(path)) if as_model else None
            change = engine.last_change(path, seen.data)
        except (MemtuiError, OSError) as error:
            self._post(Trouble(str(error)))
            return
        if not cancelled():
            self._post(Read(path, seen, as_model=answer, change=change, again=again))

    def bring_again(self, after: int) -> None:
        """Bring once more the events after a number: a screen that was paused did not take them."""
        self._again = after
        self._wake.set()

    def mark_seen(self, seq: int) -> None:
        """Remember up to which event the person has seen, from a worker."""
        if self._engine:
            self._engine.journal.set_note(_SEEN, str(seq))

    def _run(self) -> None:
        try:
            engine = self._open()
            try:
                self._begin_to_watch(engine)
                self._bring_all(engine)
            finally:
                if self._watch:
                    self._watch.stop()
                engine.close()
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self._post(Trouble(str(error)))
        except Exception as error:  # the thread's last words: without them the screen would stand still and say LIVE
            self._post(Trouble(f"Nothing new is shown any more because of a bug: {error!r}. Please start again."))

    def _bring_all(self, engine: "Engine") -> None:
        """Bring what is new until it is told to stop. A journal that fails may work again."""
        while not self._stopping.is_set():
            self._wake.wait()
            self._wake.clear()
            try:
                self._bring(engine)
            except Closed:
                return
            except (MemtuiError, OSError) as error:
                self._post(Trouble(f"{error} Trying again."))
                self._stopping.wait(_RETRY_SECONDS)
                self._wake.set()

    def _open(self) -> "Engine":
        from memtui.opening import connect, connect_without_journal  # deferred: behind the first paint

        try:
            engine = connect(self.folder, state=self._state, read_only=self._read_only)
        except StateUnusable as error:
            engine = connect_without_journal(self.folder)
            self._read_only = True
            self._post(Unrecorded(str(error)))
        try:
            self._tell_opened(engine)
        except BaseException:
            engine.close()
            raise
        self._engine = engine
        engine.subscribe(self._wake.set)
        self._wake.set()
        return engine

    def _tell_opened(self, engine: "Engine") -> None:
        journal = engine.journal
        last = journal.head()[0]
        self._begin_to_count(engine)
        noted = journal.note(_SEEN)
        seen = int(noted) if noted and noted.isdecimal() else last
        recent = journal.events(max(last - RECENT, 0))
        unseen = journal.events(max(seen, last - UNSEEN))
        self._last = last
        self._post(Opened(list(engine.names()), recent, unseen, last, complete=engine.is_looked_at))

    def _begin_to_count(self, engine: "Engine") -> None:
        """Once the first look is over, begin to remember what the person has not seen. What was found is not new."""
        journal = engine.journal
        if engine.is_looked_at and journal.note(_SEEN) is None:
            journal.set_note(_SEEN, str(journal.head()[0]))

    def _begin_to_watch(self, engine: "Engine") -> None:
        from memtui.opening import state_directory  # deferred: behind the first paint
        from memtui.watch import Watch

        watched = None if self._read_only else str(state_directory(self.folder, self._state))
        self._watch = Watch(
            engine,
            self.folder,
            watched,
            changed=self._wake.set,
            mode_changed=self._tell_watching,
        )
        self._watch.start()

    def _tell_watching(self, watching: Watching) -> None:
        self._post(WatchingChanged(watching))

    def _bring(self, engine: "Engine") -> None:
        if self._again is not None:
            self._last, self._again = self._again, None
        while not self._stopping.is_set():
            events = engine.journal.events(self._last, limit=_PAGE)
            if events:
                self._last = events[-1].seq
            totals = (*engine.journal.totals(), engine.is_looked_at)
            if events or totals != self._totals:
                self._totals = totals
                files, size, complete = totals
                self._begin_to_count(engine)
                self._post(Happened(events, files, size, complete=complete))
            if len(events) < _PAGE:
                return
