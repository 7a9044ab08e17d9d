"""Noticing that much has gone at once: a wipe is said as one, loudly, and not as many deletions."""

from collections import deque
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace

from memtui.core.events import Change, Event, Memtui, Person
from memtui.core.snapshot import Kind

WINDOW_SECONDS = 60
"""What goes within this time goes at once."""
_FEWEST = 3
"""Files that must have gone, unless all have."""
_OWN = frozenset({"restore", "undo", "redo", "redact", "write"})
"""Commands by which a person takes something away knowingly."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Much that went within a short time.

    Attributes:
        first: The number of the first event of it.
        last: The number of the last one.
        event: The last event.
        changes: What went, one for each file: `after` is `None`, or much smaller than `before`.
        others: Links and directories that went along.
        files: Files that there were before.
        bytes: Their bytes.
    """

    first: int
    last: int
    event: Event
    changes: tuple[Change, ...]
    files: int
    bytes: int
    others: tuple[Change, ...] = ()

    @property
    def gone(self) -> int:
        """Files that are not there any more."""
        return sum(change.after is None for change in self.changes)

    @property
    def emptied(self) -> int:
        """Files that are still there, and hold hardly anything of what they held."""
        return len(self.changes) - self.gone

    @property
    def everything(self) -> bool:
        """Whether no file was left."""
        return self.gone >= self.files

    def without(self, back: Set[str]) -> "Loss | None":
        """What is still lost once some paths are back; `None` if it is no great loss any more."""
        changes = tuple(change for change in self.changes if change.path not in back)
        if len(changes) * 2 < len(self.changes):
            return None
        return replace(self, changes=changes) if len(changes) < len(self.changes) else self


@dataclass(slots=True)
class _Lost:
    seq: int
    at_us: int
    change: Change


class Losses:
    """Watches events go by.

    Everything gone is a loss from two files on. Otherwise it is one when at least three files, and half of the bytes
    or half of the files with a quarter of the bytes, went within a minute: an agent that makes one note of several
    loses hardly any bytes. What a person takes away in memtui she knows of.

    Args:
        files: Files that there are before the first event.
        bytes: Their bytes.

    Attributes:
        current: The newest loss; it stays until a newer one comes.
    """

    def __init__(self, files: int, bytes: int) -> None:
        self.current: Loss | None = None
        self._files = files
        self._bytes = bytes
        self._before: deque[tuple[int, int, int]] = deque()  # time, files and bytes before each recent event
        self._lost: dict[str, _Lost] = {}
        self._others: dict[str, _Lost] = {}
        self._grown: dict[str, tuple[int, int]] = {}  # time and bytes of what was written lately

    def take(self, events: Iterable[Event]) -> None:
        """Take more events into account, in order."""
        for event in events:
            if event.changes:
                self._take(event)

    def _take(self, event: Event) -> None:
        oldest = event.at_us - WINDOW_SECONDS * 1_000_000
        while self._before and self._before[0][0] < oldest:
            self._before.popleft()
        for kept in (self._lost, self._others):
            for path in [path for path, lost in kept.items() if lost.at_us < oldest]:
                del kept[path]
        for path in [path for path, (at_us, _) in self._grown.items() if at_us < oldest]:
            del self._grown[path]
        self._before.append((event.at_us, self._files, self._bytes))
        for change in event.changes:
            for version, sign in ((change.before, -1), (change.after, 1)):
                if version is not None and version.kind is Kind.FILE:
                    self._files += sign
                    self._bytes += sign * version.size
        if isinstance(event.actor, Person | Memtui) or event.command in _OWN or event.new_path is not None:
            for change in event.changes:
                self._lost.pop(change.path, None)
            return
        for change in _net(event.changes):
            self._note(event, change)
            self._note_growth(event, change)
        self._judge(event)

    def _note_growth(self, event: Event, change: Change) -> None:
        """What is written meanwhile may be what went, in other words or at another place."""
        after = change.after.size if change.after is not None and change.after.kind is Kind.FILE else 0
        before = change.before.size if change.before is not None and change.before.kind is Kind.FILE else 0
        if after <= before:
            self._grown.pop(change.path, None)
        else:
            earlier = self._grown.get(change.path, (0, 0))[1]
            self._grown[change.path] = (event.at_us, earlier + after - before)

    def _note(self, event: Event, change: Change) -> None:
        before, after = change.before, change.after
        kept = self._lost if before is not None and before.kind is Kind.FILE else self._others
        earlier = kept.get(change.path)
        if before is None or (earlier is not None and after is not None):
            self._lost.pop(change.path, None)
            self._others.pop(change.path, None)
            if before is None:
                return
        if after is None or (kept is self._lost and after.kind is Kind.FILE and after.size * 4 < before.size):
            first = replace(change, before=earlier.change.before) if earlier else change
            kept[change.path] = _Lost(event.seq, event.at_us, first)

    def _judge(self, event: Event) -> None:
        _, files, size = max(self._before, key=lambda each: each[1:])
        lost = list(self._lost.values())
        gone = sum(each.change.after is None for each in lost)
        lost_bytes = sum((each.change.before.size if each.change.before else 0) for each in lost)
        shrunk = lost_bytes - sum(grown for _, grown in self._grown.values())
        if gone >= 2 and self._files <= 0:
            is_loss = True
        elif len(lost) >= _FEWEST:
            is_loss = shrunk * 2 >= size > 0 or (gone * 2 >= files and shrunk * 4 >= size)
        else:
            is_loss = False
        if is_loss:
            first = min(each.seq for each in lost)
            others = tuple(each.change for each in self._others.values() if each.seq >= first)
            changes = tuple(each.change for each in lost)
            self.current = Loss(first, event.seq, event, changes, files, size, others)


def _net(changes: Iterable[Change]) -> Iterator[Change]:
    net: dict[str, Change] = {}
    for change in changes:
        first = net.get(change.path)
        net[change.path] = change if first is None else Change(change.path, first.before, change.after)
    return iter(net.values())
