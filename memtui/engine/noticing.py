"""Looking for changes that nobody told us about, and what is due once that is done."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager

from memtui.core.errors import FolderMissing
from memtui.core.events import Version
from memtui.core.settings import Settings
from memtui.engine import reconcile
from memtui.engine.forgetting import Forgetter
from memtui.engine.history import FOUND_UNTIL
from memtui.engine.ledger import Ledger
from memtui.engine.telling import NOTED
from memtui.journal.sqlite import Journal, Known
from memtui.store.base import UNSEEN, Readable

_LOOKED_AT = "looked_at"
_DEVICE = "device"
_PRUNED = "pruned"
_DAY_US = 86_400_000_000
_SPARED_DAYS = 7
"""What stood in the folder within this time is not removed for its bytes alone: somebody may want it back."""


class Noticer:
    """Finds what was changed behind our back, and records it.

    Args:
        store: Where to look.
        journal: What was known.
        settings: What is read, and how long texts are kept.
        read_only: Whether intents of others are left to them.
        is_closed: Whether a look is to end early.
        now_us: Tells the time, in microseconds since 1970.
        writing: Takes the writer lock.
        ledger: Makes a ledger at a time; told whether it is the first look.
        recorded: Told once something was recorded.
        tell: Tells those who want to know, as soon as the lock is free.
        forgetter: Removes what is older than it is to be kept, once a day; `None` where nothing is ever removed.
    """

    def __init__(
        self,
        store: Readable,
        journal: Journal,
        settings: Settings,
        *,
        read_only: Callable[[], bool],
        is_closed: Callable[[], bool],
        now_us: Callable[[], int],
        writing: Callable[[], AbstractContextManager[object]],
        ledger: Callable[[int, bool], Ledger],
        recorded: Callable[[], None],
        tell: Callable[[], None],
        forgetter: Forgetter | None = None,
    ) -> None:
        self._store = store
        self._journal = journal
        self._settings = settings
        self._read_only = read_only
        self._is_closed = is_closed
        self._now_us = now_us
        self._writing = writing
        self._ledger = ledger
        self._note_news = recorded
        self._tell = tell
        self._forgetter = forgetter
        self._all_found = False

    @property
    def is_looked_at(self) -> bool:
        """Whether all that was in the folder at first has been recorded."""
        if not self._all_found:
            self._all_found = self._journal.note(_LOOKED_AT) is not None
        return self._all_found

    def reconcile(self, paths: Iterable[str] | None, stop: Callable[[], bool]) -> int:
        """See `Engine.reconcile`."""
        first_look = not self.is_looked_at
        if paths is None:
            self._insist_on_mounted()
        if not self._read_only() and self._journal.intents():  # of a folder only looked at, their writers may live
            with self._writing():
                pass
        count = 0
        finished = True
        limit = self._settings.read_limit
        found = reconcile.suspects(self._store, self._journal, paths, limit=limit, stop=self._is_closed)
        for batch in reconcile.batches(found):
            if self._is_closed() or stop():
                finished = False
                break
            with self._writing():
                ledger = self._ledger(self._now_us(), first_look)
                reconcile.settle(self._store, ledger, batch)
                events = ledger.events()
                if events or ledger.known:
                    self._journal.append(events, texts=ledger.texts, known=ledger.known, durable=False)
            count += len(events)
            if events:
                self._note_news()
                self._tell()
        if first_look and finished and not self._is_closed() and paths is None:
            self._journal.set_note(FOUND_UNTIL, str(self._journal.head()[0]))
            self._journal.set_note(_LOOKED_AT, str(self._now_us()))
            self._note_news()
        if finished and paths is None and not self._is_closed():
            self._prune_daily()
        return count

    def _insist_on_mounted(self) -> None:
        """Refuse to take an empty mount point for a folder whose files are all gone.

        Raises:
            FolderMissing: The folder is empty, held files before, and lies on another device now.
        """
        device, noted = self._store.device, self._journal.note(_DEVICE)
        if device == noted:
            return
        if noted is not None and self._journal.totals().files and next(self._store.names(), None) is None:
            raise FolderMissing(
                f"{self._store.title} is empty and lies on another disk than before: it seems that its own is not "
                "mounted. Nothing was recorded. If it is meant to be empty, put a file there."
            )
        if not self._read_only() and self._journal.totals().files:
            self._journal.set_note(_DEVICE, device)

    def _prune_daily(self) -> None:
        """Keep to the settings, once a day."""
        days, size = self._settings.keep_days, self._settings.keep_bytes
        now_us = self._now_us()
        last = int(self._journal.note(_PRUNED) or 0)
        if self._forgetter is None or self._read_only() or not (days or size) or last <= now_us < last + _DAY_US:
            return
        self._forgetter.prune(
            now_us - days * _DAY_US if days else None,
            size or None,
            rehearse=False,
            spared_since_us=now_us - _SPARED_DAYS * _DAY_US,
        )
        self._journal.set_note(_PRUNED, str(now_us))


def begin_from(journal: Journal, standing: Mapping[str, Version], *, found_until: int, told_until: int) -> None:
    """Take what an exported journal tells for what is known, where its database knew more: all is looked at anew.

    Args:
        journal: Its events, in memory.
        standing: What stood at each path after the last event.
        found_until: See `FOUND_UNTIL`.
        told_until: The number of the last event that was told afterwards; 0 for none.
    """
    known: dict[str, Known | None] = {path: Known(version, UNSEEN) for path, version in standing.items()}
    last = journal.event(journal.head()[0])
    journal.append([], known=known, durable=False)
    if last is not None:
        journal.set_note(FOUND_UNTIL, str(found_until))
        journal.set_note(_LOOKED_AT, str(last.at_us))
    if told_until:
        journal.set_note(NOTED, str(told_until))
