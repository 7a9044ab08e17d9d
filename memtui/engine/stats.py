"""The record in numbers."""

import re
import threading
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any

from memtui.core.events import Actor, EntryKind, Event, format_actor_name
from memtui.core.guards import DISMISSED
from memtui.core.history import Stats, StatsEntry
from memtui.core.mass_loss import MassLoss, MassLossDetector
from memtui.core.paths import ROOT_NAME
from memtui.journal.chain import decode_changes
from memtui.journal.record import KnownPath, ReadableRecord, Record


class _StatsTally:
    """What is counted of one path or actor."""

    def __init__(self) -> None:
        self.events = 0
        self.changes = 0
        self.versions: set[str] = set()


def compute_stats(journal: ReadableRecord, limit: int) -> Stats:
    """The record in numbers, with at most `limit` paths and actors."""
    sizes = journal.get_version_sizes()
    head = journal.get_head()[0]
    paths: dict[str, _StatsTally] = {}
    actors: dict[str, _StatsTally] = {}
    named: set[str] = set()
    for event in takewhile(lambda event: event.seq <= head, journal.iter_events()):
        tally = actors.setdefault(format_actor_name(event.actor), _StatsTally())
        tally.events += 1
        tally.changes += len(event.changes)
        for change in event.changes:
            mine = paths.setdefault(change.path, _StatsTally())
            mine.events += 1
            mine.changes += 1
            for version in (change.before, change.after):
                if version and version.sha256:
                    named.add(version.sha256)
                    mine.versions.add(version.sha256)
            if change.after and change.after.sha256:
                tally.versions.add(change.after.sha256)
    kept = [size for size in sizes.values() if size[1] is not None]
    return Stats(
        events=head,
        versions=len(named),
        redacted=sum(sizes.get(each, (0, None))[1] is None for each in named),
        text_bytes=sum(size for size, _ in kept),
        kept_bytes=sum(packed or 0 for _, packed in kept),
        journal_bytes=journal.files.get_size(),
        paths=_make_entries(paths, sizes, limit, lambda share: (-share.bytes, -share.events, share.name)),
        actors=_make_entries(actors, sizes, limit, lambda share: (-share.events, share.name)),
        first=journal.get_event(1),
        last=journal.get_event(head),
    )


def _make_entries(
    tallies: Mapping[str, _StatsTally],
    sizes: Mapping[str, tuple[int, int | None]],
    limit: int,
    order: Callable[[StatsEntry], Any],
) -> tuple[StatsEntry, ...]:
    shares = []
    for name, tally in tallies.items():
        size = sum(sizes.get(version, (0, 0))[0] for version in tally.versions)
        shares.append(StatsEntry(name, tally.events, tally.changes, len(tally.versions), size))
    return tuple(sorted(shares, key=order)[:limit])


# Mass losses, from the record.

_MANY = 1_000
"""Lost files from which all that is known is read at once."""
_TRIES = 100
"""How often the totals are read again where somebody records something just then."""
_LOOKED_BACK = 20_000
"""How many events back a loss is looked for, when a memory is opened."""
_LATELY = 1_000
"""Events of which it is noted even where nothing went what was written: that may make up for what goes next."""
_SIZES = re.compile(rb'\["file",[^,]{1,80},(\d{1,18})[^][]{0,80}\],\["file",[^,]{1,80},(\d{1,18})')
"""The bytes of a file before and after a change, in canonical bytes: in a string, quotation marks are escaped."""


class MassLossMonitor:
    """Reads what is new in the record, and remembers the losses that the person has dismissed."""

    def __init__(self, journal: Record) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._seen = -1
        self._losses = MassLossDetector(0, 0)

    def get_current(self) -> MassLoss | None:
        """What is lost and is not back; `None` if nothing is, or if the person said that it is well so."""
        with self._lock:
            return self._find_current()

    def _find_current(self) -> MassLoss | None:
        head = self._journal.get_head()[0]
        dismissed = int(self._journal.get_metadata(DISMISSED) or 0)
        if self._seen < 0:
            start = max(dismissed, head - _LOOKED_BACK, 0)
            bodies = self._journal.iter_bodies(start, head)
            if not any(_may_lose(body) for _, body in bodies):  # to decode them all takes long
                start = max(start, head - _LATELY)
            self._seen = start
            self._losses = MassLossDetector(*self._compute_totals(self._seen))
        while page := self._journal.get_events(self._seen, limit=1_000):
            self._losses.process_events(page)
            self._seen = page[-1].seq
        while (loss := self._losses.current) is not None and loss.last > dismissed:
            if (still := loss.exclude_paths(self._find_restored(loss))) is not None:
                return still
            self._losses.discard_current()  # it is back; one before it may not be
        return None

    def dismiss(self, until: int | None, actor: Actor, at_us: int) -> None:
        """What went until an event, or until now, is not spoken of any more: `actor` said so."""
        last = self._journal.get_head()[0] if until is None else until
        event = Event(
            at_us=at_us,
            actor=actor,
            command="dismiss",
            path=ROOT_NAME,
            no_change=True,
            note=f"#{last}",
            noted=((DISMISSED, str(last)),),
        )
        self._journal.append_events([event])

    def _compute_totals(self, start: int) -> tuple[int, int]:
        """How many files there were after an event, and their bytes."""
        for _ in range(_TRIES):
            head = self._journal.get_head()[0]
            files, size = self._journal.get_totals()
            if self._journal.get_head()[0] == head:
                break  # both are of one moment
        for _, body in self._journal.iter_bodies(start, head):
            for _, before, after in decode_changes(body):
                for version, sign in ((before, 1), (after, -1)):
                    if version is not None and version.kind is EntryKind.FILE:
                        files += sign
                        size += sign * version.size
        return files, size

    def _find_restored(self, loss: MassLoss) -> set[str]:
        """What of a loss is there again, or is something else by now."""
        if len(loss.changes) > _MANY:
            known: Mapping[str, KnownPath | None] = self._journal.get_known_below("")
        else:
            known = {change.path: self._journal.get_known(change.path) for change in loss.changes}
        now = {path: each.version for path, each in known.items() if each is not None}
        return {change.path for change in loss.changes if now.get(change.path) != change.after}


def _may_lose(body: bytes) -> bool:
    """Whether something was deleted or lost nearly all of its text by an event; also where that is no loss."""
    return b"],null]" in body or any(int(after) * 4 < int(before) for before, after in _SIZES.findall(body))
