"""Noticing that much has gone at once: a wipe is said as one, loudly, and not as many deletions."""

from collections import deque
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace

from memtui.core.changes import net
from memtui.core.events import Change, Event, Memtui, Person, Version
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


class _Lately:
    """What became of some paths within the window, with the bytes of it added up as it goes."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, int, int, Change]] = {}  # the oldest first
        self.bytes = 0
        self.gone = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, path: str) -> bool:
        return path in self._kept

    def put(self, event: Event, change: Change, size: int) -> None:
        """Note a change, and how many bytes it means."""
        earlier = self._kept.get(change.path)
        if earlier is not None:
            change = replace(change, before=earlier[3].before)
            size += earlier[2]
            self.drop(change.path)
        self._kept[change.path] = event.at_us, event.seq, size, change
        self.bytes += size
        self.gone += change.after is None

    def drop(self, path: str) -> None:
        """Forget a path."""
        kept = self._kept.pop(path, None)
        if kept is not None:
            self.bytes -= kept[2]
            self.gone -= kept[3].after is None

    def has_older(self, oldest: int) -> bool:
        """Whether something is older than a time."""
        return bool(self._kept) and next(iter(self._kept.values()))[0] < oldest

    def drop_older(self, oldest: int) -> None:
        """Forget what is older than a time."""
        while self.has_older(oldest):
            self.drop(next(iter(self._kept)))

    def changes(self, since: int = 0) -> tuple[Change, ...]:
        """The changes from an event on."""
        return tuple(change for _, seq, _, change in self._kept.values() if seq >= since)

    @property
    def first(self) -> int:
        """The number of the first event."""
        return min(seq for _, seq, _, _ in self._kept.values())


class Losses:
    """Watches events go by.

    Everything gone is a loss from two files on. Otherwise it is one when at least three files, and half of the bytes
    or half of the files with a quarter of the bytes, went within a minute: an agent that makes one note of several
    loses hardly any bytes. What a person takes away in memtui she knows of.

    Args:
        files: Files that there are before the first event.
        bytes: Their bytes.

    Attributes:
        found: The losses, the newest last. Each stays until it is said to be back: a later one does not hide it.
    """

    def __init__(self, files: int, bytes: int) -> None:
        self.found: list[Loss] = []
        self._files = files
        self._bytes = bytes
        self._most: deque[tuple[int, int, int]] = deque()  # time, files, bytes: the most there were since each time
        self._lost, self._others, self._grown = _Lately(), _Lately(), _Lately()
        self._judged: tuple[Event, int, int] | None = None

    def take(self, events: Iterable[Event]) -> None:
        """Take more events into account, in order."""
        for event in events:
            if event.changes:
                self._take(event)
        self._settle()

    def _take(self, event: Event) -> None:
        oldest = event.at_us - WINDOW_SECONDS * 1_000_000
        self._expire(oldest)
        while self._most and self._most[-1][1:] <= (self._files, self._bytes):
            self._most.pop()
        self._most.append((event.at_us, self._files, self._bytes))
        for change in event.changes:
            self._files += _is_file(change.after) - _is_file(change.before)
            self._bytes += _size(change.after) - _size(change.before)
        if isinstance(event.actor, Person | Memtui) or event.command in _OWN or event.new_path is not None:
            self._settle()
            for change in event.changes:
                self._lost.drop(change.path)
            return
        for change in net(event.changes):
            self._note(event, change)
        self._judge(event)

    def _expire(self, oldest: int) -> None:
        while self._most and self._most[0][0] < oldest:
            self._most.popleft()
        if self._lost.has_older(oldest):
            self._settle()
        for lately in (self._lost, self._others, self._grown):
            lately.drop_older(oldest)

    def _note(self, event: Event, change: Change) -> None:
        before, after = _size(change.before), _size(change.after)
        if _is_file(change.before) and (change.after is None or (_is_file(change.after) and after * 4 < before)):
            self._lost.put(event, change, before)
        elif change.before is not None and change.after is None:
            self._others.put(event, change, 0)
        else:
            if change.path in self._lost:
                self._settle()
            self._lost.drop(change.path)
            self._others.drop(change.path)
        # What is written meanwhile may be what went, in other words or at another place.
        if after > before and event.command != "found":  # that was there before
            self._grown.put(event, change, after - before)
        else:
            self._grown.drop(change.path)

    def _judge(self, event: Event) -> None:
        _, files, size = self._most[0]
        shrunk = self._lost.bytes - self._grown.bytes
        everything = self._lost.gone >= 2 and self._files <= 0
        half = shrunk * 2 >= size > 0 or (self._lost.gone * 2 >= files and shrunk * 4 >= size)
        if everything or (len(self._lost) >= _FEWEST and half):
            self._judged = event, files, size
        elif shrunk * 4 < size:
            self._judged = None  # what was written meanwhile makes up for it

    def _settle(self) -> None:
        """Put together what was judged to be a loss, before what it consists of is forgotten."""
        if self._judged is not None and len(self._lost):
            event, files, size = self._judged
            first = self._lost.first
            loss = Loss(
                first,
                event.seq,
                event,
                self._lost.changes(),
                max(files, self._lost.gone),
                max(size, self._lost.bytes),
                self._others.changes(since=first),
            )
            if self.found and loss.first <= self.found[-1].last:
                self.found[-1] = loss
            else:
                self.found.append(loss)
        self._judged = None

    @property
    def current(self) -> Loss | None:
        """The newest loss."""
        return self.found[-1] if self.found else None

    def forget(self) -> None:
        """What the newest loss was about is back: it is spoken of no more."""
        self.found.pop()


def _is_file(version: Version | None) -> bool:
    return version is not None and version.kind is Kind.FILE


def _size(version: Version | None) -> int:
    return version.size if version is not None and version.kind is Kind.FILE else 0
