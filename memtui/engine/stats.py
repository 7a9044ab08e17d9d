"""The record in numbers."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memtui.core.actors import shown_name
from memtui.core.events import Event
from memtui.core.history import Share, Stats
from memtui.journal.sqlite import Journal


class _Tally:
    """What is counted of one path or actor."""

    def __init__(self) -> None:
        self.events = 0
        self.changes = 0
        self.versions: set[str] = set()


def stats(journal: Journal, limit: int) -> Stats:
    """Count everything.

    Args:
    journal: The record.
    limit: How many paths and actors at most.
    """
    sizes = journal.sizes()
    head = journal.head()[0]
    paths: dict[str, _Tally] = {}
    actors: dict[str, _Tally] = {}
    named: set[str] = set()
    for event in _pages(journal, head):
        tally = actors.setdefault(shown_name(event.actor), _Tally())
        tally.events += 1
        tally.changes += len(event.changes)
        for change in event.changes:
            mine = paths.setdefault(change.path, _Tally())
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
        journal_bytes=journal.bytes_on_disk(),
        paths=_shares(paths, sizes, limit, lambda share: (-share.bytes, -share.events, share.name)),
        actors=_shares(actors, sizes, limit, lambda share: (-share.events, share.name)),
        first=journal.event(1),
        last=journal.event(head),
    )


def _pages(journal: Journal, until: int) -> Iterator[Event]:
    after = 0
    while page := journal.events(after, limit=1_000):
        for event in page:
            if event.seq > until:
                return
            yield event
        after = page[-1].seq


def _shares(
    tallies: Mapping[str, _Tally],
    sizes: Mapping[str, tuple[int, int | None]],
    limit: int,
    order: Callable[[Share], Any],
) -> tuple[Share, ...]:
    shares = [
        Share(
            name, tally.events, tally.changes, len(tally.versions), sum(sizes.get(v, (0, 0))[0] for v in tally.versions)
        )
        for name, tally in tallies.items()
    ]
    return tuple(sorted(shares, key=order)[:limit])
