"""When a deletion is carried: only one that was meant, and not so much at once that nobody can have meant it."""

import time
from collections import deque
from collections.abc import Callable, Mapping

from memtui.core.errors import MemtuiError
from memtui.core.events import EntryKind, Outside, Version
from memtui.mirror.ancestors import Ancestor
from memtui.mirror.common_history import CommonHistory
from memtui.mirror.side import Side

_WIPE_SECONDS = 60.0
_FEWEST_WIPED = 2
_FEWEST_NOTES = 5
"""Notes of which half is much; of fewer, all are."""


class WipeFound(MemtuiError):
    """So much is not there any more on one side that a person is asked before it goes on the other side as well.

    Attributes:
        side: Where it went, `folder` or `source`.
        paths: What would be deleted on the other side.
        total: How many files both had.
    """

    def __init__(self, side: Side, paths: frozenset[str], total: int) -> None:
        self.side = side.name
        self.paths = paths
        self.total = total
        super().__init__(
            f"{len(paths):,} of {total:,} notes are no longer in the {side.name} ({side.title}), or are empty there"
            + (", and its record is another one than before" if side.is_replaced else "")
            + ". Nothing was deleted on the other side."
        )


class DeletionGuard:
    """Holds deletions back until they are confirmed.

    Args:
        accepts_all: Whether all are carried, until `end_acceptance`.
        pause: Seconds between two looks at what went without a command.
        clock: Monotonic, in seconds.
    """

    def __init__(
        self,
        history: CommonHistory,
        *,
        accepts_all: bool = False,
        pause: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._history = history
        self._accepts_all = accepts_all
        self._pause = pause
        self._clock = clock
        self._accepted: set[str] = set()
        self._asked = history.ancestors.get_asked()
        self._missing: dict[str, tuple[int, float]] = {}
        """What went without a command: by which event, and when that was seen first."""
        self._confirmed: dict[str, int] = {}
        self._carried: deque[tuple[float, str]] = deque()
        """When a note was deleted, and on which side it had been deleted before."""

    @property
    def wait_seconds(self) -> float | None:
        """In how many seconds it is to be looked again; `None` for never."""
        if not self._missing:
            return None
        return max(max(seen for _, seen in self._missing.values()) + self._pause - self._clock(), 0.0)

    def accept(self, wipe: WipeFound) -> None:
        """What was asked about may be deleted."""
        self._accepted |= wipe.paths
        self._keep_asked(self._asked - wipe.paths)

    def end_acceptance(self) -> None:
        """Both sides are equal: what goes from now on is asked about."""
        self._accepts_all = False
        self._accepted.clear()

    def forget(self, path: str) -> None:
        """A path is equal on both sides."""
        self._missing.pop(path, None)
        self._confirmed.pop(path, None)
        if path in self._asked:
            self._keep_asked(self._asked - {path})

    def note_carried(self, giver: Side) -> None:
        """A note was deleted, as it had been on one side."""
        self._carried.append((self._clock(), giver.name))

    def confirm(self) -> None:
        """Look again at what went without a command, once nothing more has gone for a moment."""
        if not self._missing or self.wait_seconds:
            return
        for side in self._history.sides:
            side.engine.reconcile([path for path in self._missing if side.get(path) is None])
        self._confirmed.update({path: seq for path, (seq, _) in self._missing.items()})
        self._missing.clear()

    def is_unconfirmed(self, giver: Side, path: str) -> bool:
        """Whether it is not known yet that a path is to be empty: only a command says so at once."""
        last = giver.get_last_event(path)
        seq = last.event.seq if last is not None else 0
        if last is not None and not isinstance(last.event.actor, Outside):
            return False
        if self._confirmed.get(path) == seq:
            return False
        if self._missing.get(path, (None,))[0] != seq:
            self._missing[path] = seq, self._clock()
        return True

    def find_wipe(self, ancestors: Mapping[str, Ancestor | None]) -> WipeFound | None:
        """What would be deleted, or emptied, where that is too much at once."""
        if self._accepts_all:
            return None
        now = self._clock()
        while self._carried and self._carried[0][0] < now - _WIPE_SECONDS:
            self._carried.popleft()
        for giver in self._history.sides:
            taker = self._history.get_other(giver)
            paths = frozenset(
                path
                for path, ancestor in ancestors.items()
                if ancestor is not None
                and path not in self._accepted
                and _is_lost(ancestor.version, giver.get(path))
                and taker.get(path) == ancestor.version
                and not (giver.get(path) is None and self.is_unconfirmed(giver, path))
            )
            earlier = sum(name == giver.name for _, name in self._carried)
            total = self._history.ancestors.count_files() + earlier
            lost = len(paths) + earlier
            is_wipe = lost >= _FEWEST_WIPED and lost * 2 >= total and (total >= _FEWEST_NOTES or lost == total)
            if paths and (is_wipe or giver.is_replaced or paths & self._asked):
                self._keep_asked(self._asked | paths)
                return WipeFound(giver, paths, max(total, lost))
        return None

    def _keep_asked(self, paths: frozenset[str]) -> None:
        """Remember of which paths a person was asked, until she has said so or they are equal again."""
        if paths != self._asked:
            self._asked = paths
            self._history.ancestors.set_asked(paths)


def _is_lost(before: Version | None, now: Version | None) -> bool:
    """Whether a file went, or was emptied."""
    if before is None or before.kind is not EntryKind.FILE:
        return False
    return now is None or (now.kind is EntryKind.FILE and not now.size and bool(before.size))
