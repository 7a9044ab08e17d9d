"""An open memory behind a screen: the engine, the watcher, and one thread that brings what is new.

Disk and database are slow now and then, whatever one does; none of it may happen on the screen's loop. What
threads find is posted as messages.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.core.errors import Closed, MemtuiError, StateUnusable
from memtui.core.losses import Loss
from memtui.core.paths import MemoryPath
from memtui.core.watching import Watching
from memtui.ui import wording
from memtui.ui.messages import (
    Blamed,
    Happened,
    LookedAt,
    LossChanged,
    Opened,
    Read,
    Trouble,
    Unrecorded,
    WatchingChanged,
)
from memtui.ui.questions.messages import Questioned, QuestionEnded

if TYPE_CHECKING:
    from pathlib import Path

    from memtui.agents.waiting import Desk
    from memtui.core.history import Blame
    from memtui.core.settings import Settings
    from memtui.engine import Engine
    from memtui.ui.remembered import Left
    from memtui.watch import Watch

RECENT = 200
"""Events of earlier that the activity begins with."""
UNSEEN = 20_000
"""Events that are looked through for what the person has not seen yet."""
_PAGE = 5_000
_RETRY_SECONDS = 2.0
_CLOCK_US = 60_000_000
"""Microseconds by which the clock may be behind the last event before it is worth a word."""
_SEEN = "seen"
_PROMPT_BYTES = 200_000_000
"""Bytes of other agents' session files that are read at most to say beside a note what had been asked for."""

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
        self.left: Left | None = None
        """How the folder was left the last time; known once it is open, `None` where that is not remembered."""
        self.settings: Settings | None = None
        """How commands behave; to be said before it starts, `None` as by default."""
        self._state = state
        self._read_only = read_only
        self._post = post
        self._engine: Engine | None = None
        self._watch: Watch | None = None
        self._desk: Desk | None = None
        self._last = 0
        self._again: int | None = None
        self._totals: tuple[int, int, bool] | None = None
        self._loss: Loss | None = None
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

    @property
    def engine(self) -> "Engine | None":
        """The memory, for screens that ask it about the past; `None` while it is being opened."""
        return self._engine

    @property
    def state(self) -> str | None:
        """Where the journal lies; `None` for its usual place."""
        return self._state

    def leave(self, left: "Left") -> None:
        """Remember how the folder is left, from a worker. Who may change nothing leaves no trace either."""
        if self._engine is None or self._read_only:
            return
        from memtui.ui import remembered  # deferred: by now it is loaded

        remembered.write(self._state_directory(), left)

    def _state_directory(self) -> "Path":
        from memtui.opening import state_directory  # deferred: behind the first paint

        return state_directory(self.folder, self._state)

    def look_everywhere(self) -> bool:
        """Look at the whole folder again, from a worker; tells whether it could be, else `Trouble` follows."""
        if self._engine is None:
            return False
        try:
            self._engine.reconcile()
        except (MemtuiError, OSError) as error:
            self._post(Trouble(str(error)))
            return False
        finally:
            self._wake.set()
        return True

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
            change = engine.history.last_change(path, seen.data)
        except (MemtuiError, OSError) as error:
            self._post(Trouble(str(error)))
            return
        if not cancelled():
            self._post(Read(path, seen, as_model=answer, change=change, again=again))

    def blame(self, path: str, data: bytes, cancelled: Callable[[], bool]) -> None:
        """Find out who wrote each line of a text, from a worker; `Blamed` follows, then with prompts."""
        engine = self._engine
        if engine is None:
            return
        try:
            told = engine.history.told_lines(path, data)
            blame = replace(engine.history.claimed(engine.history.blame(path, data)), told=tuple(told))
            if not cancelled():
                self._post(Blamed(path, data, blame))
            prompts = self._prompts_of(blame)
        except (MemtuiError, OSError) as error:
            self._post(Trouble(str(error)))
            return
        if prompts and not cancelled():
            self._post(Blamed(path, data, replace(blame, prompts=prompts)))

    def _prompts_of(self, blame: "Blame") -> dict[int, str]:
        """What the person had asked for when lines were written, by the number of the event."""
        events = {event.seq: event for event in blame.lines if event is not None and event.call_id}
        if not events:
            return {}
        from memtui.agents.origin import prompts_of  # deferred: only where somebody asks who wrote it

        found = prompts_of(events.values(), self._state_directory(), most_bytes=_PROMPT_BYTES)
        return {seq: asked.prompt for seq, asked in found.items()}

    def seen(self) -> int:
        """The number of the event up to which the person has seen everything, from a worker."""
        noted = self._engine.note(_SEEN) if self._engine else None
        return int(noted) if noted and noted.isdecimal() else 0

    def count_deleted(self) -> int:
        """How many memories were there once and are not now, from a worker."""
        try:
            return len(self._engine.history.deleted()) if self._engine else 0
        except (MemtuiError, OSError):
            return 0

    def look_for_loss(self) -> None:
        """Find out anew whether much has gone: it may have been brought back, or dismissed; from a worker."""
        self._totals = None
        self._wake.set()

    def bring_again(self, after: int) -> None:
        """Bring once more the events after a number: a screen that was paused did not take them."""
        self._again = after
        self._wake.set()

    def mark_seen(self, seq: int) -> None:
        """Remember up to which event the person has seen, from a worker."""
        if self._engine:
            self._engine.set_note(_SEEN, str(seq))

    def _run(self) -> None:
        try:
            engine = self._open()
            try:
                self._begin_to_watch(engine)
                self._begin_to_answer()
                self._bring_all(engine)
            finally:
                if self._desk:
                    self._desk.close()
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
        from memtui.opening import connect  # deferred: behind the first paint

        try:
            engine = connect(self.folder, state=self._state, read_only=self._read_only, settings=self.settings)
        except StateUnusable as error:
            engine = self._open_degraded(str(error))
        self._engine = engine  # before it is told: whoever hears of it may ask it at once
        try:
            self._tell_opened(engine)
        except BaseException:
            self._engine = None
            engine.close()
            raise
        engine.subscribe(self._wake.set)
        self._wake.set()
        return engine

    def _open_degraded(self, reason: str) -> "Engine":
        """Open with what can be used: a journal that cannot be written may still be read."""
        from memtui.opening import connect, connect_without_journal  # deferred: behind the first paint

        was_read_only, self._read_only = self._read_only, True
        if not was_read_only:
            try:
                engine = connect(self.folder, state=self._state, read_only=True, settings=self.settings)
                if engine.head()[0]:
                    self._post(Unrecorded(reason, history=True))
                    return engine
                engine.close()
            except StateUnusable:
                pass  # what is wrong with it is known already
        self._post(Unrecorded(reason, history=False))
        return connect_without_journal(self.folder, settings=self.settings)

    def _tell_opened(self, engine: "Engine") -> None:
        journal = engine.journal
        last = engine.head()[0]
        self._begin_to_count(engine)
        noted = engine.note(_SEEN)
        seen = int(noted) if noted and noted.isdecimal() else last
        recent = journal.events(max(last - RECENT, 0))
        unseen = journal.events(max(seen, last - UNSEEN))
        self._last = last
        self._recall_left()
        self._post(Opened(list(engine.names()), recent, unseen, last, complete=engine.is_looked_at))
        if recent and (behind := recent[-1].at_us - time.time_ns() // 1_000) > _CLOCK_US:
            how_far = wording.age(behind / 1e6)
            self._post(
                Trouble(
                    f"The clock is {how_far[:-1]} {how_far[-1]} behind the last event: times are not in order; "
                    "the numbers of events are."
                )
            )

    def _recall_left(self) -> None:
        from memtui.ui import remembered  # deferred: behind the first paint

        with contextlib.suppress(StateUnusable):
            self.left = remembered.read(self._state_directory())

    def _begin_to_count(self, engine: "Engine") -> None:
        """Once the first look is over, begin to remember what the person has not seen. What was found is not new."""
        if engine.is_looked_at and engine.note(_SEEN) is None:
            engine.set_note(_SEEN, str(engine.head()[0]))

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

    def _begin_to_answer(self) -> None:
        """Let agents in other processes ask this window's person. Who may change nothing may allow nothing either."""
        if self._read_only:
            return
        from memtui.agents.waiting import Desk  # deferred: behind the first paint
        from memtui.opening import state_directory

        self._desk = Desk(
            state_directory(self.folder, self._state),
            lambda question: self._post(Questioned(question)),
            ended=lambda question: self._post(QuestionEnded(question)),
            failed=lambda words: self._post(Trouble(words)),
        )
        self._desk.start()

    def _tell_watching(self, watching: Watching) -> None:
        self._post(WatchingChanged(watching))

    def _bring(self, engine: "Engine") -> None:
        if self._again is not None:
            self._last, self._again = self._again, None
        while not self._stopping.is_set():
            events = engine.journal.events(self._last, limit=_PAGE)
            if events:
                self._last = events[-1].seq
            totals = (*engine.totals(), engine.is_looked_at)
            if events or totals != self._totals:
                self._totals = totals
                files, size, complete = totals
                self._begin_to_count(engine)
                self._tell_loss(engine)
                self._post(Happened(events, files, size, complete=complete))
            if len(events) < _PAGE:
                return

    def _tell_loss(self, engine: "Engine") -> None:
        """Before the events that it is made of, so that it is on screen with them."""
        loss = engine.loss
        if loss != self._loss:
            self._loss = loss
            self._post(LossChanged(loss))
