"""The half of the engine that cannot write: it notices changes, and answers questions about what is and what was.

An audit holds nothing else. There is no command here that changes anything, the store that it is given has no way to
write, and what it finds is recorded in a journal in memory, which is gone with it.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import ClassVar, Self

from memtui.core import commands
from memtui.core.errors import Closed, MemtuiError, Refusal, StateUnusable
from memtui.core.events import Event
from memtui.core.losses import Loss
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.core.snapshot import Entry
from memtui.engine.faults import reason_of, refusal_of
from memtui.engine.forgetting import Forgetter
from memtui.engine.history import History
from memtui.engine.ledger import Ledger
from memtui.engine.losses import LossWatch
from memtui.engine.noticing import Noticer
from memtui.engine.protecting import Protected
from memtui.engine.viewing import Seen, Viewer
from memtui.journal.announced import Announcements
from memtui.journal.sqlite import Journal, Totals
from memtui.store.base import Readable

_PAGE = 256
"""Names that are looked up at a time."""


class Source(Enum):
    """Where the record of an observed folder was read."""

    JOURNAL = "journal"
    EXPORT = "export"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What had been recorded of a folder when it was opened: whatever comes after it was found by this look.

    Attributes:
        source: Where it was read.
        last: The number of the last event; 0 where there is none.
        head: The chain's hash up to and with it, in hexadecimal.
        has_texts: Whether the texts of versions are among it.
        place: The file it was read from, as a person writes it; empty for none.
        problem: Why there is none, as a sentence; empty if there is one.
        is_damaged: Whether that is because it is damaged.
    """

    source: Source
    last: int
    head: str
    has_texts: bool = True
    place: str = ""
    problem: str = ""
    is_damaged: bool = False


class Observer:
    """A memory that is only looked at. Every method may be called from any thread.

    Args:
        store: Where the bytes are.
        journal: What was recorded, in memory: what this look finds is added to it.
        settings: What is read, and in which words agents would be answered.
        now_ns: Tells the time, in nanoseconds since 1970.
        announced: Where agents said what they were about to write by themselves; by default nowhere.
        recorded: What the journal is, and holds; by default a journal with all that it holds now.

    Attributes:
        recorded: What had been recorded when the memory was opened.

    Raises:
        ValueError: The journal is one on the disk.
    """

    _may_record: ClassVar[bool] = False
    """Whether the journal may be one on the disk."""

    def __init__(
        self,
        store: Readable,
        journal: Journal,
        *,
        settings: Settings | None = None,
        now_ns: Callable[[], int] = time.time_ns,
        announced: Announcements | None = None,
        recorded: Recorded | None = None,
    ) -> None:
        if journal.path is not None and not self._may_record:
            raise ValueError("who only looks is given a journal in memory")
        self.store = store
        self.journal = journal
        self.settings = settings or Settings()
        self.read_only = True
        self.recorded = recorded or Recorded(Source.JOURNAL, *journal.head())
        self._now_ns = now_ns
        self._announced = announced or Announcements(None)
        self._subscribers: dict[object, Callable[[], None]] = {}
        self._here = threading.local()  # of each thread: its calls in flight, and whether it has news
        self._calls = threading.Condition()
        self._calls_in_flight = 0
        self._closed = False
        self._viewer = Viewer(store, self.settings)
        self._losses = LossWatch(journal)
        self.history = History(journal, self._in_flight)
        """What was: every version, the folder at any moment, and who wrote which line."""
        self._protection = Protected(store, journal)
        self._noticer = self._new_noticer()

    def _new_noticer(self, forgetter: Forgetter | None = None) -> Noticer:
        return Noticer(
            self.store,
            self.journal,
            self.settings,
            read_only=lambda: self.read_only,
            is_closed=lambda: self._closed,
            now_us=self._now_us,
            writing=self._writing,
            ledger=self._ledger,
            recorded=self._note_news,
            tell=self._tell,
            forgetter=forgetter,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of store and journal. Nothing has to be saved: what was answered is on the disk.

        Calls that are under way in other threads come to their end first; a look for changes ends early.
        """
        with self._calls:
            if self._closed:
                return
            self._closed = True
            own = getattr(self._here, "calls", 0)  # a subscriber may close the memory
            self._calls.wait_for(lambda: self._calls_in_flight <= own)
        self.store.close()
        self.journal.close()

    # Changes from outside

    @property
    def is_looked_at(self) -> bool:
        """Whether all that was in the folder at first has been recorded."""
        return self._noticer.is_looked_at

    def reconcile(self, paths: Iterable[str] | None = None, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Look for changes that nobody told us about, and record them.

        Args:
            paths: Where to look, relative to the folder; `None` for everywhere.
            stop: Asked between batches; what is settled by then stays settled.

        Returns:
            How many events were recorded.

        Raises:
            Busy, FolderMissing, StateUnusable: It could not be looked, and nothing was recorded.
        """
        try:
            with self._in_flight():
                return self._noticer.reconcile(paths, stop)
        except OSError as error:
            raise StateUnusable(f"Changes cannot be looked for: {reason_of(error)}.") from error
        finally:
            self._tell()

    def _writing(self) -> AbstractContextManager[object]:
        """What is held while something is recorded: nothing, since nobody else has this journal."""
        return nullcontext()

    @property
    def loss(self) -> Loss | None:
        """Much that went at once and is not back, unless the person said that it is well so.

        Raises:
            StateUnusable, Closed: It cannot be known.
        """
        with self._in_flight():
            return self._losses.current()

    # Looking

    def head(self) -> tuple[int, str]:
        """The number of the last event, and the hash of the chain up to it."""
        with self._in_flight():
            return self.journal.head()

    def totals(self) -> Totals:
        """How many files there are, as far as is known, and their bytes."""
        with self._in_flight():
            return self.journal.totals()

    def note(self, name: str) -> str | None:
        """A small value that was kept under a name."""
        with self._in_flight():
            return self.journal.note(name)

    def events(self, after: int = 0) -> Iterator[Event]:
        """The events after a number, in order, as far as there are any by now."""
        while True:
            with self._in_flight():
                page = self.journal.events(after, limit=1_000)
            yield from page
            if len(page) < 1_000:
                return
            after = page[-1].seq

    def names(self) -> Iterator[Entry]:
        """Everything in the folder, not looked at more closely than its name."""
        names = self.store.names()
        while True:
            with self._in_flight():
                page = list(islice(names, _PAGE))
            yield from page
            if len(page) < _PAGE:
                return

    def entry(self, path: str) -> Entry | None:
        """One thing in the folder, looked at; `None` if it cannot be."""
        try:
            with self._in_flight():
                node = self.store.node(MemoryPath.of(path))
        except (MemtuiError, OSError):
            return None
        return Entry(path, node.kind, node.size, node.mtime_ns) if node else None

    def look(self, path: str) -> Seen:
        """What stands at a path, for a person."""
        with self._in_flight():
            return self._viewer.look(MemoryPath.of(path))

    def answer_to_view(self, path: MemoryPath, *, view_range: object = None) -> str:
        """What an agent that views a path would be answered now; nobody is told, and nothing is recorded."""
        command = commands.View(path, view_range)
        try:
            with self._in_flight():
                return self._viewer.view(command, as_agent=True)[0]
        except Refusal as refusal:
            return refusal.text(self.settings.messages)
        except (OSError, MemtuiError) as error:
            return refusal_of(error, command).text(self.settings.messages)

    # Telling

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Be told that something was recorded here.

        The callback runs in whichever thread recorded it, holding no lock: it may execute commands. What it raises
        goes to `sys.excepthook`, and changes no answer.

        Returns:
            Ends the subscription; once is enough, twice does no harm.
        """
        number = object()
        self._subscribers[number] = callback
        return lambda: self._subscribers.pop(number, None) and None

    def _note_news(self) -> None:
        """There is something to tell, once this thread holds no lock any more."""
        self._here.has_news = True

    def _tell(self) -> None:
        if not getattr(self._here, "has_news", False):
            return
        self._here.has_news = False
        for callback in tuple(self._subscribers.values()):
            try:
                callback()
            except Exception:  # a subscriber's fault is its own: what was recorded stands, and is answered
                sys.excepthook(*sys.exc_info())

    @contextmanager
    def _in_flight(self) -> Iterator[None]:
        """For the time of a call: the memory is not closed under it.

        Raises:
            Closed: The memory was closed.
        """
        with self._calls:
            if self._closed and not getattr(self._here, "calls", 0):  # one that is under way comes to its end
                raise Closed("The memory is closed.")
            self._calls_in_flight += 1
            self._here.calls = getattr(self._here, "calls", 0) + 1
        try:
            yield
        finally:
            with self._calls:
                self._calls_in_flight -= 1
                self._here.calls -= 1
                self._calls.notify_all()

    def _now_us(self) -> int:
        return self._now_ns() // 1_000

    def _ledger(self, now_us: int, first_look: bool | None = None) -> Ledger:
        """A ledger at a time; by default it is known whether it is the first look."""
        return Ledger(
            self.store,
            self.journal,
            now_us,
            max_read_bytes=self.settings.read_limit,
            first_look=not self.is_looked_at if first_look is None else first_look,
            announced=self._announced,
            touched=self._protection.touched,
        )
