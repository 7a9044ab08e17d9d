"""The one frozen context that all parts of an engine hold: where memories and events are, and how both are changed."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from functools import cached_property

from memtui.core.history import ActionResult
from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import Settings
from memtui.engine.calls import CallTracker
from memtui.engine.durability import Settler
from memtui.engine.ledger import Ledger
from memtui.engine.protection import ProtectionGuard
from memtui.engine.recovery import Recovery
from memtui.engine.refusals import describe_error
from memtui.journal.announcements import AnnouncementStore
from memtui.journal.record import Record
from memtui.store.base import ReadableStore, Store, Transaction


@dataclass(frozen=True)
class ObserverContext:
    """The context of an engine that cannot write; `now_ns` is the clock, in nanoseconds since 1970."""

    store: ReadableStore
    journal: Record
    settings: Settings
    announced: AnnouncementStore
    now_ns: Callable[[], int]
    read_only: bool = True
    calls: CallTracker = field(default_factory=CallTracker)

    @cached_property
    def protection(self) -> ProtectionGuard:
        return ProtectionGuard(self.store, self.journal)

    def get_now_us(self) -> int:
        return self.now_ns() // 1_000

    def make_ledger(self, now_us: int, first_look: bool | None = None) -> Ledger:
        """A ledger at a time; whether it is the first look is read from the journal by default."""
        return Ledger(
            self.store,
            self.journal,
            now_us,
            max_read_bytes=self.settings.read_limit,
            first_look=first_look,
            announced=self.announced,
            annotate=self.protection.annotate_event,
        )

    def is_recovery_due(self) -> bool:
        """Whether something of dead processes may have to be settled first: never, for who only looks."""
        return False

    def begin_transaction(self) -> AbstractContextManager[object]:
        """The lock to record something under: none, since nobody else has the journal of an observer."""
        return nullcontext()


@dataclass(frozen=True)
class EngineContext(ObserverContext):
    """The context of an engine that can write. See `ObserverContext` for its fields."""

    store: Store

    @cached_property
    def recovery(self) -> Recovery:
        """Settles the changes that dead processes had begun."""
        return Recovery(self.store, self.journal, self.settings)

    @cached_property
    def settler(self) -> Settler:
        """Has the disk confirm behind the answers what was written to the folder."""
        return Settler(self.store, self.journal, self.calls.track)

    def is_recovery_due(self) -> bool:
        return not self.read_only and self.recovery.is_due()

    @contextmanager
    def begin_transaction(self, *, optimistic: bool = False) -> Iterator[Transaction]:
        """Take the writer lock (see `Store.begin_transaction`), and settle what dead processes had begun."""
        with self.store.begin_transaction(self.settings.lock_seconds, optimistic=optimistic) as transaction:
            # Read-only, the journal is a copy, and the writers of its intents may live.
            if not self.read_only and self.recovery.recover(transaction):
                self.calls.mark_changed()
            yield transaction

    def run_action(self, failure_prefix: str, rehearse: bool, act: Callable[[], ActionResult]) -> ActionResult:
        """Run an action of a person as one call: refused in a read-only session, faults are told as a problem."""
        if self.read_only and not rehearse:
            return ActionResult(problem=f"{failure_prefix}: this session is read-only. Nothing was written.")
        try:
            with self.calls.track_change():
                return act()
        except OSError as error:  # before the first step: later ones are reported path by path
            return ActionResult(problem=f"{failure_prefix}: {describe_error(error)}. Nothing was written.")
