"""The half of the engine that cannot write: it notices changes, and answers questions about what is and what was.

An audit holds nothing else. There is no command here that changes anything, the store that it is given has no way to
write, and what it finds is recorded in a journal in memory, which is gone with it.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Self

from memtui.core import commands
from memtui.core.errors import FolderMissing, MemtuiError, Refusal, StateUnusable
from memtui.core.events import Event, FolderEntry, Version
from memtui.core.guards import FOUND_UNTIL, IMPORTED_UNTIL, LOOKED_AT
from memtui.core.lazy_dataclass import dataclass
from memtui.core.mass_loss import MassLoss
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.engine import reconcile as engine_reconcile
from memtui.engine.context import ObserverContext
from memtui.engine.executor import PathContent, Viewer
from memtui.engine.history import JournalHistory
from memtui.engine.redaction import Redactor
from memtui.engine.refusals import describe_error, make_command_refusal
from memtui.engine.repair import Repairer
from memtui.engine.stats import MassLossMonitor
from memtui.fs.state import KNOWN_NOTES
from memtui.journal.announcements import AnnouncementStore
from memtui.journal.record import FolderTotals, KnownPath, Record
from memtui.store.base import UNSEEN, FileContent, Node, ReadableStore

if TYPE_CHECKING:  # start-up: few commands ask for the graph, or whose folder it is
    from memtui.knowledge.context import MemoryContext
    from memtui.knowledge.graph import Graph
    from memtui.knowledge.source import GraphSource
    from memtui.places.dialects import Dialect

# Detecting external changes, and the daily pruning after it.

_DEVICE = "device"
_PRUNED = "pruned"
_REMADE = "the folder was removed and created again"
_DAY_US = 86_400_000_000
_SPARED_DAYS = 7
"""What stood in the folder within this time is not removed for its bytes alone: somebody may want it back."""


class ExternalChangeDetector:
    """Finds changes from outside, and records them.

    Args:
        context: The context of the engine.
        redactor: Removes texts that are older than they are to be kept, once a day; `None` to remove nothing.
        repairer: Makes the known state anew where it seems not to be what the events left; `None` to leave it.
    """

    def __init__(
        self, context: ObserverContext, redactor: Redactor | None = None, repairer: Repairer | None = None
    ) -> None:
        self._context = context
        self._redactor = redactor
        self._repairer = repairer
        self._is_baseline_recorded = False
        self._attached = 0

    @property
    def is_baseline_recorded(self) -> bool:
        if not self._is_baseline_recorded:
            self._is_baseline_recorded = self._context.journal.get_metadata(LOOKED_AT) is not None
        return self._is_baseline_recorded

    def attach(self) -> int:
        attached = self._context.store.attach()
        if attached != self._attached:
            self._check_mounted()
        return attached

    def follow_folder(self) -> None:
        """Go on with the directory that stands in the folder's place, and record what went with the one before.

        Raises:
            LockTimeout, FolderMissing, StateUnusable: See `Observer.reconcile`.
        """
        if self._context.store.attach(look=False) != self._attached:
            self.reconcile(None, lambda: False)

    def reconcile(
        self,
        paths: Iterable[str] | None,
        stop: Callable[[], bool],
        entries: Iterable[engine_reconcile.Entry] | None = None,
    ) -> int:
        """See `Observer.reconcile` and `Observer.record_entries`."""
        context, calls = self._context, self._context.calls
        first_look = not self.is_baseline_recorded
        attached = context.store.attach()
        if attached != self._attached:
            paths = None
        if paths is None:
            self._check_mounted()
        if context.is_recovery_due():
            with context.begin_transaction():
                pass
        if paths is None and self._repairer is not None:
            self._repairer.repair_once_if_doubtful()
        count = 0
        if attached != self._attached:
            count = self._record_removed_folder()
            self._attached = attached
        finished = True
        limit = context.settings.read_limit
        read = {entry[0].path: entry for entry in entries or ()}
        found = (
            engine_reconcile.find_suspects(
                context.store, context.journal, paths, limit=limit, stop=lambda: calls.is_closed
            )
            if entries is None
            else engine_reconcile.list_entries(read.values())
        )
        if context.read_only:  # what its writer is at, or a later one will settle, is not another program's
            ours = {change.path for intent in context.journal.get_intents() for change in intent.event.changes}
            found = [suspect for suspect in found if ours.isdisjoint((suspect.path, suspect.moved_to))]
        for batch in engine_reconcile.iter_batches(found):
            if calls.is_closed or stop():
                finished = False
                break
            with context.begin_transaction():
                ledger = context.make_ledger(context.get_now_us(), first_look)
                if entries is None:
                    engine_reconcile.compare_suspects(context.store, ledger, batch, limit=limit)
                else:
                    engine_reconcile.compare_entries(ledger, batch, read, limit=limit)
                events = ledger.make_events()
                if events or ledger.known:
                    context.journal.append_events(events, texts=ledger.texts, known=ledger.known, durable=False)
            count += len(events)
            if events:
                calls.mark_changed()
                calls.notify()
        if first_look and finished and not calls.is_closed and paths is None:
            context.journal.set_metadata(FOUND_UNTIL, str(context.journal.get_head()[0]))
            context.journal.set_metadata(LOOKED_AT, str(context.get_now_us()))
            calls.mark_changed()
        if finished and paths is None and not calls.is_closed:
            self._prune_daily()
        return count

    def _record_removed_folder(self) -> int:
        """Record what went with the directory that stood in the folder's place before, as one event."""
        context = self._context
        with context.begin_transaction():
            ledger = context.make_ledger(context.get_now_us())
            for path in context.journal.get_known_below(""):
                with contextlib.suppress(OSError):  # not ours to look at
                    if engine_reconcile.find_node(context.store, path) is None:
                        ledger.compare_path(path, None)
            events = [
                replace(event, note=", ".join(filter(None, (event.note, _REMADE))))
                for event in ledger.make_events(together=True)
            ]
            if events:
                context.journal.append_events(events, texts=ledger.texts, known=ledger.known, durable=False)
        if events:
            context.calls.mark_changed()
            context.calls.notify()
        return len(events)

    def _check_mounted(self) -> None:
        """Raise `FolderMissing` for an empty mount point: files were here, and the device is another one now."""
        context, store, journal = self._context, self._context.store, self._context.journal
        device, noted = store.device, journal.get_metadata(_DEVICE)
        if device == noted:
            return
        if noted is not None and journal.get_totals().files and next(store.iter_names(), None) is None:
            raise FolderMissing(
                f"{store.title} is empty and on another disk than before: its own disk is probably not "
                "mounted. Nothing was recorded. If it should be empty, create a file there."
            )
        if not context.read_only and journal.get_totals().files:
            journal.set_metadata(_DEVICE, device)

    def _prune_daily(self) -> None:
        context, journal = self._context, self._context.journal
        days, size = context.settings.keep_days, context.settings.keep_bytes
        now_us = context.get_now_us()
        last = int(journal.get_metadata(_PRUNED) or 0)
        if self._redactor is None or context.read_only or not (days or size) or last <= now_us < last + _DAY_US:
            return
        spared_since_us = now_us - _SPARED_DAYS * _DAY_US
        older_than_us = now_us - days * _DAY_US if days else None
        self._redactor.prune(older_than_us, size or None, rehearse=False, spared_since_us=spared_since_us)
        journal.set_metadata(_PRUNED, str(now_us))


def load_known_from_export(
    journal: Record, standing: Mapping[str, Version], *, found_until: int, imported_until: int
) -> None:
    """Fill the known state from an exported journal, which has no such table: every path is looked at anew."""
    known: dict[str, KnownPath | None] = {path: KnownPath(version, UNSEEN) for path, version in standing.items()}
    last = journal.get_event(journal.get_head()[0])
    journal.append_events([], known=known, durable=False)
    if last is not None:
        journal.set_metadata(FOUND_UNTIL, str(found_until))
        journal.set_metadata(LOOKED_AT, str(last.at_us))
    if imported_until:
        journal.set_metadata(IMPORTED_UNTIL, str(imported_until))


_PAGE = 256
_CONTENTS = 32
"""Files that are read before they are passed on, and others may act."""


class JournalSource(Enum):
    JOURNAL = "journal"
    EXPORT = "export"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class RecordedState:
    """The record of a folder when it was opened (`last` event, 0 for none, and `head`); later events are of this look.

    Attributes:
        location: The file it was read from, as a person writes it; empty for none.
        problem: Why there is none, as a sentence; empty if there is one.
    """

    source: JournalSource
    last: int
    head: str
    has_texts: bool = True
    location: str = ""
    problem: str = ""
    is_damaged: bool = False


class Observer:
    """A memory that is only looked at. Every method may be called from any thread.

    Args:
        journal: What was recorded, in memory: what this look finds is added to it.
        now_ns: The clock, in nanoseconds since 1970.
        announced: Where agents announce their own writes; by default nowhere.
        recorded: What the journal is, and holds; by default a journal with all that it holds now.
        context: The context of the engine that this is the half of; by default one of its own, which cannot write.

    Raises:
        ValueError: Others may read the journal.
    """

    def __init__(
        self,
        store: ReadableStore,
        journal: Record,
        *,
        settings: Settings | None = None,
        now_ns: Callable[[], int] = time.time_ns,
        announced: AnnouncementStore | None = None,
        recorded: RecordedState | None = None,
        context: ObserverContext | None = None,
    ) -> None:
        if context is None:
            if journal.is_shared:
                raise ValueError("an observer is given a journal in memory")
            context = ObserverContext(
                store, journal, settings or Settings(), announced or AnnouncementStore(None), now_ns
            )
        self._context = context
        self.store = store
        self.journal = journal
        self.settings = context.settings
        self.read_only = context.read_only
        self.recorded = recorded or RecordedState(JournalSource.JOURNAL, *journal.get_head())
        self._calls = context.calls
        self._viewer = Viewer(store, self.settings)
        self._losses = MassLossMonitor(journal)
        self.history = JournalHistory(journal, context.calls)
        """What was: every version, the folder at any moment, and who wrote which line."""
        self._detector = ExternalChangeDetector(context)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def dialect(self) -> "Dialect":
        """Whose memory folder it is, and what its files are to that agent."""
        from memtui.places.dialects import PLAIN, recognise_folder  # noqa: PLC0415 - start-up: few commands ask

        return recognise_folder(self.store.path) if self.store.path else PLAIN

    # What notes say to each other

    @cached_property
    def knowledge(self) -> "GraphSource":
        """The graph of the notes, now and at any event; what was read is kept beside the journal."""
        from memtui.knowledge.source import GraphSource  # noqa: PLC0415 - start-up: few commands ask for the graph

        directory = None if self.read_only else self.journal.files.directory
        cache = os.path.join(directory, KNOWN_NOTES) if directory is not None else None
        return GraphSource(self.history, lambda: self.get_head()[0], dialect=self.dialect.name, cache=cache)

    def graph(self, at: int | None = None) -> "Graph":
        """The notes and their links, of which each is resolved by the rules of the folder's agent.

        Args:
            at: The number of an event, for the graph right after it; `None` for now, as of the last look for changes.
                The graph of now is kept up: later calls return the same object.

        Raises:
            StateUnusable, MemoryClosed: The journal cannot be read.
        """
        return self.knowledge.get_current() if at is None else self.knowledge.get_past(at)

    def context(self, address: str, *, depth: int = 1, since_us: int | None = None, limit: int = 10) -> "MemoryContext":
        """What an address names, and what is related to it.

        Args:
            address: `memory://` and a permalink, a title or a path, or a pattern with `*`; also without `memory://`.
            depth: How many links far related notes are.
            since_us: Leaves out related notes, and those of a pattern, that did not change since; in microseconds since
                1970. `None` leaves out none.
            limit: Most related notes.

        Raises:
            StateUnusable, MemoryClosed: The journal cannot be read.
        """
        from memtui.knowledge.context import build_context  # noqa: PLC0415 - start-up: few commands ask for it
        from memtui.knowledge.recent import find_changed_us  # noqa: PLC0415 - start-up: few commands ask for it

        graph = self.graph()
        changed_us = find_changed_us(self.history, self.get_head()[0]) if since_us is not None else {}
        return build_context(graph, address, depth=depth, since_us=since_us, limit=limit, changed_us=changed_us)

    def close(self) -> None:
        """Let go of store and journal, once calls of other threads have ended; a look for changes ends early."""
        if self._calls.close():
            self.store.close()
            self.journal.close()

    # Changes from outside

    def attach(self) -> int:
        """Hold the directory that stands in the folder's place now, and number it.

        Raises:
            FolderMissing: There is none, or an empty mount point.
        """
        with self._calls.track():
            return self._detector.attach()

    @property
    def is_baseline_recorded(self) -> bool:
        """Whether all that was in the folder at first has been recorded."""
        return self._detector.is_baseline_recorded

    def reconcile(self, paths: Iterable[str] | None = None, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Look for changes from outside, and record them.

        Args:
            paths: Where to look, relative to the folder; `None` for everywhere.
            stop: Asked between batches; what is settled by then stays settled.

        Returns:
            How many events were recorded.

        Raises:
            LockTimeout, FolderMissing, StateUnusable: It could not be looked, and nothing was recorded.
        """
        try:
            with self._calls.track_change():
                return self._detector.reconcile(paths, stop)
        except OSError as error:
            raise StateUnusable(f"Cannot check for changes: {describe_error(error)}.") from error

    @property
    def is_unrecorded(self) -> bool:
        """Whether no event of the folder is known, and none is kept: what is found is forgotten with this."""
        return self.read_only and not self.is_baseline_recorded and self.get_head()[0] == 0

    def record_entries(
        self, entries: Iterable[engine_reconcile.Entry], *, stop: Callable[[], bool] = lambda: False
    ) -> int:
        """Record what was just read of a folder that `is_unrecorded`, instead of reading it once more to `reconcile`.

        Args:
            entries: All that stands in the folder, as its store's `scan_contents` has it.
            stop: As for `reconcile`.

        Returns:
            How many events were recorded.

        Raises:
            ValueError: It is recorded: only what a look finds itself belongs in a record that is kept.
            LockTimeout, FolderMissing, StateUnusable: See `reconcile`.
        """
        if not self.is_unrecorded:
            raise ValueError("the folder has a record")
        try:
            with self._calls.track_change():
                return self._detector.reconcile(None, stop, entries)
        except OSError as error:
            raise StateUnusable(f"Cannot check for changes: {describe_error(error)}.") from error

    def reconcile_read(self, hashes: Mapping[str, str], *, stop: Callable[[], bool] = lambda: False) -> int:
        """Look again at files and links that say something else than is known of them, whatever their stamps are.

        Stamps can be set, and rows of the known state be edited; so it is called by who has read everything.

        Args:
            hashes: The SHA-256 of what was read, by path.
            stop: As for `reconcile`.

        Returns:
            How many events were recorded.

        Raises:
            LockTimeout, FolderMissing, StateUnusable: See `reconcile`.
        """
        with self._calls.track():
            unlike = self.journal.forget_stamps(UNSEEN, hashes)
        return self.reconcile(unlike, stop=stop) if unlike else 0

    @property
    def loss(self) -> MassLoss | None:
        """Much that went at once and is not back, if not dismissed; raises `StateUnusable` or `MemoryClosed`."""
        with self._calls.track():
            return self._losses.get_current()

    # Looking

    def get_head(self) -> tuple[int, str]:
        """The number of the last event, and the hash of the chain up to it."""
        with self._calls.track():
            return self.journal.get_head()

    def get_totals(self) -> FolderTotals:
        """How many files there are, as far as is known, and their bytes."""
        with self._calls.track():
            return self.journal.get_totals()

    def get_metadata(self, name: str) -> str | None:
        """A small value that was kept under a name."""
        with self._calls.track():
            return self.journal.get_metadata(name)

    def events(self, after: int = 0) -> Iterator[Event]:
        """The events after a number, in order, as far as there are any by now."""
        while True:
            with self._calls.track():
                page = self.journal.get_events(after, limit=1_000)
            yield from page
            if len(page) < 1_000:
                return
            after = page[-1].seq

    def iter_names(self) -> Iterator[FolderEntry]:
        """Everything in the folder, not looked at more closely than its name."""
        names = self.store.iter_names()
        while True:
            with self._calls.track():
                page = list(islice(names, _PAGE))
            yield from page
            if len(page) < _PAGE:
                return

    def iter_contents(self, wanted: Callable[[str], bool]) -> Iterator[tuple[Node, bytes | None]]:
        """Everything in the folder that is wanted by its path; of files with their bytes, where they can be read."""
        contents = self.store.scan_contents(limit=self.settings.read_limit, wanted=wanted)
        while True:
            with self._calls.track():
                page = list(islice(contents, _CONTENTS))
            for node, content in page:
                yield node, content.data if isinstance(content, FileContent) else None
            if len(page) < _CONTENTS:
                return

    def get_entry(self, path: str) -> FolderEntry | None:
        """One thing in the folder, looked at; `None` if it cannot be."""
        try:
            with self._calls.track():
                node = self.store.get_node(MemoryPath.from_relative(path))
        except (MemtuiError, OSError):
            return None
        return FolderEntry(path, node.kind, node.size, node.mtime_ns) if node else None

    def can_be_kept(self, path: str) -> bool:
        """Whether the text of what stands at a path is kept when it goes: a file that is too large is not read."""
        entry = self.get_entry(path)
        return entry is None or (entry.size or 0) <= self.settings.read_limit

    def inspect_path(self, path: str) -> PathContent:
        """What stands at a path, for a person."""
        with self._calls.track():
            return self._viewer.inspect_path(MemoryPath.from_relative(path))

    def preview_view(self, path: MemoryPath, *, view_range: object = None) -> str:
        """What an agent that views a path would be answered now; nobody is told, and nothing is recorded."""
        command = commands.View(path, view_range)
        try:
            with self._calls.track():
                return self._viewer.view(command, as_agent=True)[0]
        except Refusal as refusal:
            return refusal.format_text(self.settings.messages)
        except (OSError, MemtuiError) as error:
            return make_command_refusal(error, command).format_text(self.settings.messages)

    def subscribe(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call back after events were recorded here; see `CallTracker.subscribe`."""
        return self._calls.subscribe(callback)
