"""An open memory behind a screen: the engine, the watcher, and a thread that posts new events as messages.

Disk and database are slow now and then: none of it may happen on the screen's loop.
"""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.core import wording
from memtui.core.errors import MemoryClosed, MemtuiError, StateUnusable
from memtui.core.events import Event, WatchStatus
from memtui.core.guards import SEEN
from memtui.core.mass_loss import MassLoss
from memtui.core.paths import MemoryPath
from memtui.ui import screen_state
from memtui.ui.messages import (
    BlameRead,
    DialectFound,
    EntryDetailsRead,
    EntryRead,
    EventsRecorded,
    FailureReported,
    FolderOpened,
    LossChanged,
    NoticePosted,
    RecordingFailed,
    RemoteApprovalEnded,
    RemoteApprovalRequested,
    WatchingChanged,
    report_errors,
)

if TYPE_CHECKING:
    from pathlib import Path

    from memtui.agents.remote_approval import ApprovalServer
    from memtui.core.history import Blame
    from memtui.core.settings import Settings
    from memtui.engine import Engine
    from memtui.flows.inbox import InboxQuestions
    from memtui.ui.screen_state import FolderViewState
    from memtui.watch import FolderWatcher


RECENT = 200
"""Events of earlier that the activity begins with."""
UNSEEN = 20_000
"""Events that are searched at most for unseen changes."""
_PAGE = 5_000
_RETRY_SECONDS = 2.0
_SHOWN_SECONDS = 1.0
"""How long looking for changes and losses waits for the names to be on the screen: it would take half of a core."""
_CLOCK_US = 60_000_000
"""Microseconds by which the clock may be behind the last event before it is worth a word."""
_PROMPT_BYTES = 200_000_000
"""Bytes of other agents' session files that are read at most to find prompts."""

Post = Callable[[Message], object]
"""Takes a message, from any thread."""


class EventPace:
    """How long new events wait, so that showing a stream of them takes little of a core.

    What comes now and then is shown at once, and so are the first of many; then more of them are shown together.
    """

    SHARE = 0.06
    """Of a core."""
    CREDIT = 2.0
    """Seconds by which it may be ahead after a rest, and when it starts."""
    DEAREST = 0.05
    """Seconds of processor time that showing events takes at most: more was for something else."""
    LONGEST = 0.5
    """Seconds that anything waits."""

    def __init__(self) -> None:
        self._due, self._used = -math.inf, 0.0

    def compute_pause(self, now: float, used: float) -> float:
        """Seconds to wait before events are shown.

        Args:
            now: Seconds, on any clock that only goes forward.
            used: Seconds of processor time so far.
        """
        spent = min(used - self._used, self.DEAREST) / self.SHARE
        self._due = min(max(self._due, now - self.CREDIT) + spent, now + self.LONGEST)
        self._used = used
        return max(self._due - now, 0.0)


class FolderSession:
    """An open folder: the engine, its watcher and its threads.

    Args:
        folder: An existing directory.
        post: Takes messages, from any thread.
        state: The directory of the journal, if not the usual one.
        read_only: Whether every change is refused.
    """

    def __init__(self, folder: str, post: Post, *, state: str | None = None, read_only: bool = False) -> None:
        self.folder = folder
        self.state = state
        """The directory of the journal; `None` for the usual one."""
        self.engine: Engine | None = None
        """The memory; `None` while it is being opened."""
        self.view_state: FolderViewState | None = None
        """The view of the last time; known once the folder is open, `None` where none is kept."""
        self.settings: Settings | None = None
        """Set before the start; `None` for the defaults."""
        self._read_only = read_only
        self._post = post
        self._watch: FolderWatcher | None = None
        self._approval_server: ApprovalServer | None = None
        self._inbox: InboxQuestions | None = None
        self._last = 0
        self._again: int | None = None
        self._totals: tuple[int, int, bool] | None = None
        self._loss: MassLoss | None = None
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._shown = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memtui-session", daemon=True)

    def start(self) -> None:
        """Open the folder, in a thread; `FolderOpened` or `FailureReported` follows, then events."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the threads and close the engine. Returns when all is closed."""
        self._stopping.set()
        self._shown.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def has_ended(self) -> bool:
        """Whether nothing will be posted any more."""
        return self._thread.ident is not None and not self._thread.is_alive()

    def note_shown(self) -> None:
        """The names are on the screen: what is done behind them may begin."""
        self._shown.set()

    def save_view_state(self, view: "FolderViewState") -> None:
        """Remember a view of the folder, from a worker; a read-only session leaves no trace."""
        if self.engine is not None and not self._read_only:
            screen_state.save_view_state(self._get_state_directory(), view)

    def _get_state_directory(self) -> "Path":
        from memtui.fs.state import get_state_directory  # noqa: PLC0415 - start-up: behind the first paint

        return get_state_directory(self.folder, self.state)

    def rescan(self) -> bool:
        """Reconcile the whole folder, from a worker; False if it cannot be, `FailureReported` follows."""
        if self.engine is None:
            return False
        try:
            with report_errors(self._post):
                self.engine.reconcile()
                return True
        finally:
            self._wake.set()
        return False

    def load_all_details(self) -> None:
        """Read the details of every entry, from a worker; `EntryDetailsRead` follows."""
        with report_errors(self._post):
            if self.engine:
                self.load_details(tuple(each.path for each in self.engine.iter_names()))

    def load_details(self, paths: tuple[str, ...]) -> None:
        """Read the details of entries, from a worker; `EntryDetailsRead` follows."""
        if engine := self.engine:
            self._post(EntryDetailsRead([entry for path in paths if (entry := engine.get_entry(path))]))

    def read_entry(
        self,
        path: str,
        *,
        as_model: bool,
        again: bool,
        prepare: Callable[[EntryRead], object],
        cancelled: Callable[[], bool],
    ) -> None:
        """Read the entry at a path, from a worker; `EntryRead` follows, once it has been prepared."""
        engine = self.engine
        if engine is None:
            return
        with report_errors(self._post):
            seen = engine.inspect_path(path)
            answer = engine.preview_view(MemoryPath.from_relative(path)) if as_model else None
            change = engine.history.get_last_change(path, seen.data)
            entry = EntryRead(path, seen, as_model=answer, change=change, again=again)
            if not cancelled():
                prepare(entry)
            if not cancelled():
                self._post(entry)

    def read_blame(self, path: str, data: bytes, cancelled: Callable[[], bool]) -> None:
        """Find the author of each line of a text, from a worker; `BlameRead` follows, then one with prompts."""
        engine = self.engine
        if engine is None:
            return
        with report_errors(self._post):
            imported = tuple(engine.history.blame_imported(path, data))
            blame = replace(engine.history.apply_claims(engine.history.blame(path, data)), imported=imported)
            if not cancelled():
                self._post(BlameRead(path, data, blame))
            prompts = self._find_prompts(blame)
            if prompts and not cancelled():
                self._post(BlameRead(path, data, replace(blame, prompts=prompts)))

    def _find_prompts(self, blame: "Blame") -> dict[int, str]:
        """The prompts behind the lines, by the number of their event."""
        events = {event.seq: event for event in blame.lines if event is not None and event.call_id}
        if not events:
            return {}
        from memtui.agents.origin import find_prompts  # noqa: PLC0415 - start-up: for blame only

        found = find_prompts(events.values(), self._get_state_directory(), most_bytes=_PROMPT_BYTES)
        return {seq: asked.prompt for seq, asked in found.items()}

    def load_seen(self) -> int:
        """The number of the event up to which the person has seen everything, from a worker."""
        return self._get_seen(self.engine, 0) if self.engine else 0

    def _get_seen(self, engine: "Engine", default: int) -> int:
        noted = engine.get_metadata(SEEN)
        return int(noted) if noted and noted.isdecimal() else default

    def count_deleted(self) -> int:
        """The number of deleted memories, from a worker."""
        try:
            return len(self.engine.history.find_deleted()) if self.engine else 0
        except (MemtuiError, OSError):
            return 0

    def read_earlier(self, before: int) -> "list[Event]":
        """The events right before a number, as many as are shown at first, from a worker."""
        found: list[Event] = []
        with contextlib.suppress(MemtuiError, OSError):
            while self.engine is not None and before > 1 and not found:
                after = max(before - 1 - RECENT, 0)
                events = self.engine.journal.get_events(after, limit=before - 1 - after)
                found = list(self.engine.history.read_events(events))
                before = after + 1
        return found

    def check_loss(self) -> None:
        """Check for a mass loss again, from a worker."""
        self._totals = None
        self._wake.set()

    def resend_events(self, after: int) -> None:
        """Post the events after a number again, for a screen that was paused."""
        self._again = after
        self._wake.set()

    def mark_seen(self, seq: int) -> None:
        """Remember up to which event the person has seen, from a worker."""
        if self.engine:
            self.engine.set_metadata(SEEN, str(seq))

    def _run(self) -> None:
        try:
            engine = self._open()
            try:
                self._shown.wait(_SHOWN_SECONDS)
                self._start_watching(engine)
                self._start_approval_server()
                self._ask_about_proposals(engine)
                self._poll_events(engine)
            finally:
                if self._approval_server:
                    self._approval_server.close()
                if self._watch:
                    self._watch.stop()
                engine.close()
        except MemoryClosed:
            return
        except (MemtuiError, OSError) as error:
            self._post(FailureReported(str(error)))
        except Exception as error:  # the thread ends: without a message the screen would stand still and say LIVE
            words = f"Live updates stopped because of a bug: {error!r}. Restart memtui."
            self._post(FailureReported(words))

    def _poll_events(self, engine: "Engine") -> None:
        """Post new events until the session stops. A journal that fails may work again."""
        pace = EventPace()
        while not self._stopping.is_set():
            self._wake.wait()
            self._stopping.wait(pace.compute_pause(time.monotonic(), time.process_time()))
            self._wake.clear()
            try:
                self._post_new_events(engine)
            except MemoryClosed:
                return
            except (MemtuiError, OSError) as error:
                self._post(FailureReported(f"{error} Trying again."))
                self._stopping.wait(_RETRY_SECONDS)
                self._wake.set()

    def _open(self) -> "Engine":
        from memtui.memory import connect  # noqa: PLC0415 - start-up: behind the first paint

        try:
            engine = connect(
                self.folder,
                state=self.state,
                read_only=self._read_only,
                settings=self.settings,
                offline=True,
                progress=self._note_progress,
            )
        except StateUnusable as error:
            engine = self._open_degraded(str(error))
        self.engine = engine  # before the message: its handlers use it
        try:
            self._post_opened(engine)
        except BaseException:
            self.engine = None
            engine.close()
            raise
        engine.subscribe(self._wake.set)
        self._wake.set()
        return engine

    def _note_progress(self, last: int) -> None:
        """Say how far a server's record was read; raises `MemoryClosed` once nobody waits for it any more."""
        if self._stopping.is_set():
            raise MemoryClosed("The session has ended.")
        self._post(NoticePosted(f"Reading the server's record: {last:,} events"))

    def _open_degraded(self, reason: str) -> "Engine":
        """Open without recording: a journal that cannot be written may still be read."""
        from memtui.memory import connect_degraded  # noqa: PLC0415 - start-up: behind the first paint

        read_only, self._read_only = self._read_only, True
        engine = connect_degraded(self.folder, state=self.state, read_only=read_only, settings=self.settings)
        self._post(RecordingFailed(reason, history=bool(engine.get_head()[0])))
        return engine

    def _post_opened(self, engine: "Engine") -> None:
        journal = engine.journal
        last = engine.get_head()[0]
        self._initialize_seen(engine)
        seen = self._get_seen(engine, last)
        recent = list(engine.history.read_events(journal.get_events(max(last - RECENT, 0))))
        unseen = list(engine.history.read_events(journal.get_events(max(seen, last - UNSEEN))))
        self._last = last
        with contextlib.suppress(StateUnusable):
            self.view_state = screen_state.load_view_state(self._get_state_directory())
        self._post(FolderOpened(list(engine.iter_names()), recent, unseen, last, complete=engine.is_baseline_recorded))
        self._post(DialectFound(engine.dialect))
        if recent and (behind := recent[-1].at_us - time.time_ns() // 1_000) > _CLOCK_US:
            age = wording.format_age(behind / 1e6)
            words = f"The clock is {age[:-1]} {age[-1]} behind the last event"
            self._post(FailureReported(f"{words}: times may be out of order, event numbers are not."))

    def _initialize_seen(self, engine: "Engine") -> None:
        """Begin to remember unseen events once the first scan is over: what it found is not new."""
        if engine.is_baseline_recorded and engine.get_metadata(SEEN) is None:
            engine.set_metadata(SEEN, str(engine.get_head()[0]))

    def _start_watching(self, engine: "Engine") -> None:
        from memtui.watch import FolderWatcher  # noqa: PLC0415 - start-up: behind the first paint

        def post_status(status: WatchStatus) -> None:
            self._post(WatchingChanged(status))

        state = None if self._read_only else str(self._get_state_directory())
        self._watch = FolderWatcher(engine, self.folder, state, changed=self._wake.set, mode_changed=post_status)
        self._watch.start()

    def _start_approval_server(self) -> None:
        """Take questions of agents in other processes; a read-only session can allow nothing."""
        if self._read_only:
            return
        from memtui.agents.remote_approval import ApprovalServer  # noqa: PLC0415 - start-up: behind the first paint

        self._approval_server = ApprovalServer(
            self._get_state_directory(),
            lambda question: self._post(RemoteApprovalRequested(question)),
            ended=lambda question: self._post(RemoteApprovalEnded(question)),
            failed=lambda words: self._post(FailureReported(words)),
        )
        self._approval_server.start()

    def _ask_about_proposals(self, engine: "Engine") -> None:
        """Ask about what Gemini CLI proposes in a folder of its own; not in a read-only session."""
        if self._read_only or engine.dialect.name != "gemini":
            return
        from memtui.flows.inbox import InboxQuestions  # noqa: PLC0415 - start-up: only in a folder of Gemini CLI

        self._inbox = InboxQuestions(
            engine,
            lambda question: self._post(RemoteApprovalRequested(question)),
            lambda words: self._post(FailureReported(words)),
        )
        self._inbox.ask()

    def _post_new_events(self, engine: "Engine") -> None:
        if self._again is not None:
            self._last, self._again = self._again, None
        while not self._stopping.is_set():
            events = engine.journal.get_events(self._last, limit=_PAGE)
            if events:
                self._last = events[-1].seq
            totals = (*engine.get_totals(), engine.is_baseline_recorded)
            if events or totals != self._totals:
                self._totals = totals
                files, size, complete = totals
                self._initialize_seen(engine)
                self._post_loss(engine)
                if self._inbox is not None and self._inbox.concerns(events):
                    self._inbox.ask()
                read = list(engine.history.read_events(events))
                temporary = _find_temporary_names(engine, events, read)
                self._post(EventsRecorded(read, files, size, complete=complete, temporary=temporary))
            if len(events) < _PAGE:
                return

    def _post_loss(self, engine: "Engine") -> None:
        """Post a change of the mass loss, before its events, so that both are shown together."""
        loss = engine.loss
        if loss != self._loss:
            self._loss = loss
            self._post(LossChanged(loss))


def _find_temporary_names(engine: "Engine", recorded: Sequence[Event], read: Sequence[Event]) -> list[str]:
    """Names that are gone, of which no event tells as it is read: files that were renamed over notes."""
    told = {change.path for event in read for change in event.changes}
    gone = {change.path for event in recorded for change in event.changes if change.after is None}
    return [path for path in gone - told if engine.journal.get_known(path) is None]
