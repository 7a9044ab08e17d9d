"""The growth of a folder and of its findings over time, for the charts of a report."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from memtui.audit.model import AuditFinding, AuditGrowth, Severity
from memtui.core.events import EntryKind, format_actor_name
from memtui.engine import Observer
from memtui.journal.chain import decode_actor
from memtui.review.tracks import UNREADABLE, iter_event_bodies, parse_event_body

_MOST_ACTORS = 8  # actors with a series of their own; the others share one
OTHERS = "others"
_NO_WRITE = frozenset({"found", "began", "redact"})
_FILE = EntryKind.FILE.value
_KINDS = frozenset(kind.value for kind in EntryKind)


def collect_growth(observer: Observer, findings: Iterable[AuditFinding], now_us: int, points: int = 40) -> AuditGrowth:
    """How it went, from the first change that is recorded to now, in one pass over the record.

    Args:
        findings: Those of today. One of unknown origin is counted from the beginning.

    Returns:
        Without moments where nothing is recorded; with one where everything happened at once.
    """
    until = observer.get_head()[0]
    start = next((record["at_us"] for _, record in _iter_events(observer, until, only_changes=False)), None)
    if start is None or points < 1:
        return AuditGrowth()
    end = max(now_us, start)
    count = points if end > start else 1
    at_us = tuple(start + (end - start) * at // (count - 1) for at in range(count)) if count > 1 else (end,)
    added_files, added_bytes = [0] * count, [0] * count
    writes: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    latest = 0
    for name, record in _iter_events(observer, until):
        # Where a clock ran backwards the numbers tell the order.
        latest = max(latest, min(bisect_left(at_us, record["at_us"]), count - 1))
        for path, _, after in record["changes"]:
            old = sizes.pop(path, None)
            new = after[2] if after is not None and after[0] == _FILE else None
            if new is not None:
                sizes[path] = new
            added_files[latest] += (new is not None) - (old is not None)
            added_bytes[latest] += (new or 0) - (old or 0)
        if record.get("command", "") not in _NO_WRITE:
            writes.setdefault(name, [0] * count)[latest] += 1
    by_name, gathered = _find_top_actors(writes, count)
    return AuditGrowth(
        at_us=at_us,
        files=tuple(accumulate(added_files)),
        bytes=tuple(accumulate(added_bytes)),
        writes=by_name,
        findings=_count_findings(findings, at_us),
        gathered=gathered,
    )


def _iter_events(
    observer: Observer, until: int, *, only_changes: bool = True
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The events, each with the name of its actor. One that somebody wrote over is passed over."""
    names: dict[tuple[str | None, ...], str] = {}
    for _, body in iter_event_bodies(observer, 0, until):
        if only_changes and b'"changes":' not in body:
            continue
        try:
            record = parse_event_body(body)
            actor = tuple(record["actor"])
            if actor not in names:
                names[actor] = format_actor_name(decode_actor(record["actor"]))
            if type(record["at_us"]) is int and all(_is_change(each) for each in record.get("changes", ())):
                yield names[actor], record
        except UNREADABLE:
            continue


def _is_change(change: Any) -> bool:
    path, _, after = change
    return isinstance(path, str) and (after is None or (after[0] in _KINDS and type(after[2]) is int))


def _find_top_actors(writes: dict[str, list[int]], count: int) -> tuple[dict[str, tuple[int, ...]], int]:
    """The actors who wrote most, the most first, and the others together; and how many those are."""
    names = sorted(writes, key=lambda name: (-sum(writes[name]), name))
    most, rest = names[:_MOST_ACTORS], names[_MOST_ACTORS:]
    if rest and OTHERS in most:  # an agent that calls itself so
        most.remove(OTHERS)
        rest.append(OTHERS)
    by_name = {name: tuple(writes[name]) for name in most}
    if rest:
        by_name[OTHERS] = tuple(sum(writes[name][at] for name in rest) for at in range(count))
    return by_name, len(rest)


def _count_findings(findings: Iterable[AuditFinding], at_us: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    came: Counter[tuple[Severity, int]] = Counter()
    for finding in findings:
        at = finding.origin.at_us
        came[finding.severity, 0 if at is None else min(bisect_left(at_us, at), len(at_us) - 1)] += 1
    return {
        severity.value: tuple(accumulate(came[severity, at] for at in range(len(at_us))))
        for severity in Severity
        if any(each is severity for each, _ in came)
    }
