"""Whether much has gone at once, by the record: also what went while nobody looked."""

import threading
from collections.abc import Mapping

from memtui.core.losses import Loss, Losses
from memtui.core.snapshot import Kind
from memtui.journal.chain import decoded_changes
from memtui.journal.sqlite import Journal, Known

_DISMISSED = "loss_dismissed"
_MANY = 1_000
"""Lost files from which all that is known is read at once."""
_TRIES = 100
"""How often the totals are read again where somebody records something just then."""
_LOOKED_BACK = 20_000
"""How many events back a loss is looked for, when a memory is opened."""


class LossWatch:
    """Reads what is new in the record, and remembers what the person has dismissed.

    Args:
        journal: The record.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._seen = -1
        self._losses = Losses(0, 0)

    def current(self) -> Loss | None:
        """What is lost and is not back; `None` if nothing is, or if the person said that it is well so."""
        with self._lock:
            return self._current()

    def _current(self) -> Loss | None:
        head = self._journal.head()[0]
        dismissed = int(self._journal.note(_DISMISSED) or 0)
        if self._seen < 0:
            self._seen = max(dismissed, head - _LOOKED_BACK, 0)
            self._losses = Losses(*self._totals_at(self._seen))
        while page := self._journal.events(self._seen, limit=1_000):
            self._losses.take(page)
            self._seen = page[-1].seq
        while (loss := self._losses.current) is not None and loss.last > dismissed:
            if (still := loss.without(self._back(loss))) is not None:
                return still
            self._losses.forget()  # it is back; one before it may not be
        return None

    def dismiss(self, until: int | None) -> None:
        """What went until an event, or until now, is not spoken of any more."""
        self._journal.set_note(_DISMISSED, str(self._journal.head()[0] if until is None else until))

    def _totals_at(self, start: int) -> tuple[int, int]:
        """How many files there were after an event, and their bytes."""
        for _ in range(_TRIES):
            head = self._journal.head()[0]
            files, size = self._journal.totals()
            if self._journal.head()[0] == head:
                break  # both are of one moment
        for _, body in self._journal.bodies(start, head):
            for _, before, after in decoded_changes(body):
                for version, sign in ((before, 1), (after, -1)):
                    if version is not None and version.kind is Kind.FILE:
                        files += sign
                        size += sign * version.size
        return files, size

    def _back(self, loss: Loss) -> set[str]:
        """What of a loss is there again, or is something else by now."""
        if len(loss.changes) > _MANY:
            known: Mapping[str, Known | None] = self._journal.known_below("")
        else:
            known = {change.path: self._journal.known(change.path) for change in loss.changes}
        back: set[str] = set()
        for change in loss.changes:
            now = known.get(change.path)
            if (now.version if now else None) != change.after:
                back.add(change.path)
        return back
