"""Noticing that much has gone at once: a wipe is said as one, loudly, and not as many deletions."""

from collections import deque
from collections.abc import Iterable, Set
from dataclasses import replace

from memtui.core.events import (
    Change,
    EntryKind,
    Event,
    Memtui,
    Person,
    Version,
    format_actor_in_sentence,
    squash_changes,
)
from memtui.core.lazy_dataclass import dataclass
from memtui.core.wording import (
    SCREEN,
    SPOKEN,
    WordStyle,
    format_by_actor,
    format_clock,
    format_count,
    format_event_time,
)

WINDOW_SECONDS = 60
_FEWEST = 3
"""Files that must have gone, unless all have."""
_OWN = frozenset({"restore", "undo", "redo", "redact", "write"})
"""Commands by which a person takes something away knowingly."""


@dataclass(frozen=True, slots=True)
class MassLoss:
    """Much that went within a short time, between two events.

    Attributes:
        changes: One for each file: `after` is `None`, or much smaller than `before`.
        others: Links and directories that went along.
        files: Files that there were before, with so many `bytes`.
    """

    first: int
    last: int
    event: Event
    changes: tuple[Change, ...]
    files: int
    bytes: int
    others: tuple[Change, ...] = ()

    @property
    def deleted(self) -> int:
        """Files that are not there any more."""
        return sum(change.after is None for change in self.changes)

    @property
    def emptied(self) -> int:
        """Files that are still there, and hold hardly anything of what they held."""
        return len(self.changes) - self.deleted

    def exclude_paths(self, back: Set[str]) -> "MassLoss | None":
        """What is still lost once some paths are back; `None` if it is no great loss any more."""
        changes = tuple(change for change in self.changes if change.path not in back)
        if len(changes) * 2 < len(self.changes):
            return None
        return replace(self, changes=changes) if len(changes) < len(self.changes) else self


class _RecentChanges:
    """What became of some paths within the window, with the bytes of it added up as it goes."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, int, int, Change]] = {}  # the oldest first
        self.bytes = 0
        self.deleted_count = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, path: str) -> bool:
        return path in self._kept

    def add(self, event: Event, change: Change, size: int) -> None:
        earlier = self._kept.get(change.path)
        if earlier is not None:
            change = replace(change, before=earlier[3].before)
            size += earlier[2]
            self.discard(change.path)
        self._kept[change.path] = event.at_us, event.seq, size, change
        self.bytes += size
        self.deleted_count += change.after is None

    def discard(self, path: str) -> None:
        kept = self._kept.pop(path, None)
        if kept is not None:
            self.bytes -= kept[2]
            self.deleted_count -= kept[3].after is None

    def has_older(self, oldest: int) -> bool:
        return bool(self._kept) and next(iter(self._kept.values()))[0] < oldest

    def discard_older(self, oldest: int) -> None:
        while self.has_older(oldest):
            self.discard(next(iter(self._kept)))

    def get_changes_since(self, since: int = 0) -> tuple[Change, ...]:
        return tuple(change for _, seq, _, change in self._kept.values() if seq >= since)

    @property
    def first_seq(self) -> int:
        return min(seq for _, seq, _, _ in self._kept.values())


class MassLossDetector:
    """Finds mass losses among events, given the files that there were before the first event and their bytes.

    Everything gone is a loss from two files on. Otherwise it is one when at least three files, and half of the bytes
    or half of the files with a quarter of the bytes, went within a minute: an agent that makes one note of several
    loses hardly any bytes. What a person takes away in memtui she knows of.

    Attributes:
        found: The losses, the newest last. Each stays until it is back: a later one does not hide it.
    """

    def __init__(self, files: int, bytes: int) -> None:
        self.found: list[MassLoss] = []
        self._files = files
        self._bytes = bytes
        self._most: deque[tuple[int, int, int]] = deque()  # time, files, bytes: the most there were since each time
        self._lost, self._others, self._grown = _RecentChanges(), _RecentChanges(), _RecentChanges()
        self._pending: tuple[Event, int, int] | None = None

    def process_events(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.changes:
                self._process_event(event)
        self._finalize()

    def _process_event(self, event: Event) -> None:
        oldest = event.at_us - WINDOW_SECONDS * 1_000_000
        self._expire(oldest)
        while self._most and self._most[-1][1:] <= (self._files, self._bytes):
            self._most.pop()
        self._most.append((event.at_us, self._files, self._bytes))
        for change in event.changes:
            self._files += _is_file(change.after) - _is_file(change.before)
            self._bytes += _get_size(change.after) - _get_size(change.before)
        if isinstance(event.actor, Person | Memtui) or event.command in _OWN or event.new_path is not None:
            self._finalize()
            for change in event.changes:
                self._lost.discard(change.path)
            return
        for change in squash_changes(event.changes):
            self._record_change(event, change)
        self._check_thresholds(event)

    def _expire(self, oldest: int) -> None:
        while self._most and self._most[0][0] < oldest:
            self._most.popleft()
        if self._lost.has_older(oldest):
            self._finalize()
        for lately in (self._lost, self._others, self._grown):
            lately.discard_older(oldest)

    def _record_change(self, event: Event, change: Change) -> None:
        before, after = _get_size(change.before), _get_size(change.after)
        if _is_file(change.before) and (change.after is None or (_is_file(change.after) and after * 4 < before)):
            self._lost.add(event, change, before)
        elif change.before is not None and change.after is None:
            self._others.add(event, change, 0)
        else:
            if change.path in self._lost:
                self._finalize()
            self._lost.discard(change.path)
            self._others.discard(change.path)
        # What is written meanwhile may be what went, in other words or at another place.
        if after > before and event.command != "found":  # that was there before
            self._grown.add(event, change, after - before)
        else:
            self._grown.discard(change.path)

    def _check_thresholds(self, event: Event) -> None:
        _, files, size = self._most[0]
        shrunk = self._lost.bytes - self._grown.bytes
        everything = self._lost.deleted_count >= 2 and self._files <= 0
        half = shrunk * 2 >= size > 0 or (self._lost.deleted_count * 2 >= files and shrunk * 4 >= size)
        if everything or (len(self._lost) >= _FEWEST and half):
            self._pending = event, files, size
        elif shrunk * 4 < size:
            self._pending = None  # what was written meanwhile makes up for it

    def _finalize(self) -> None:
        """Put together what was judged to be a loss, before what it consists of is forgotten."""
        if self._pending is not None and len(self._lost):
            event, files, size = self._pending
            first = self._lost.first_seq
            loss = MassLoss(
                first,
                event.seq,
                event,
                self._lost.get_changes_since(),
                max(files, self._lost.deleted_count),
                max(size, self._lost.bytes),
                self._others.get_changes_since(since=first),
            )
            if self.found and loss.first <= self.found[-1].last:
                self.found[-1] = loss
            else:
                self.found.append(loss)
        self._pending = None

    @property
    def current(self) -> MassLoss | None:
        return self.found[-1] if self.found else None

    def discard_current(self) -> None:
        """What the newest loss was about is back: it is spoken of no more."""
        self.found.pop()


def _is_file(version: Version | None) -> bool:
    return version is not None and version.kind is EntryKind.FILE


def _get_size(version: Version | None) -> int:
    return version.size if version is not None and version.kind is EntryKind.FILE else 0


def describe_loss(loss: MassLoss, style: WordStyle = SCREEN) -> str:
    """What was lost, when and by whom, such as `23 of 23 notes were deleted at 10:14:02 (another program).`"""
    total = max(loss.files, len(loss.changes))  # what was made and taken away meanwhile is among what went
    if style is SPOKEN:
        parts = [f"{loss.deleted:,} of {format_count(total, 'note')} were deleted"] if loss.deleted else []
        emptied = f"{loss.emptied:,} of {format_count(total, 'note')} lost nearly all of their text"
        parts += [emptied] if loss.emptied else []
        time = format_event_time(loss.event, style=style)
        return f"{', and '.join(parts)} at {time}, {format_by_actor(loss.event)}."
    parts = [f"{loss.deleted:,} of {total:,} notes were deleted"] if loss.deleted else []
    if loss.emptied:
        emptied = f"{format_count(loss.emptied, 'was', 'were')} emptied"
        parts.append(emptied if parts else f"{loss.emptied:,} of {total:,} notes were emptied")
    return f"{', '.join(parts)} at {format_clock(loss.event)} ({format_actor_in_sentence(loss.event.actor)})."
