"""How a folder and what is found in it went over time, for the charts of a report."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memtui.audit.audit import Growth
from memtui.audit.findings import Finding, Severity
from memtui.audit.things import UNREADABLE, bodies, record_of
from memtui.core.actors import shown_name
from memtui.core.snapshot import Kind
from memtui.engine import Observer
from memtui.journal.chain import decoded_actor

_MOST_ACTORS = 8
"""Actors that are told by name; the others are told together."""
OTHERS = "others"
_NO_WRITE = frozenset({"found", "began", "redact"})
_FILE = Kind.FILE.value
_KINDS = frozenset(kind.value for kind in Kind)


def growth(observer: Observer, findings: Iterable[Finding], now_us: int, points: int = 40) -> Growth:
    """How it went, from the first change that is recorded to now, in one pass over the record.

    Args:
        observer: The memory, after a look for changes.
        findings: Those of today. One of which it is not known when it came is counted from the beginning.
        now_us: The time, in microseconds since 1970.
        points: How many moments, evenly spaced.

    Returns:
        Without moments where nothing is recorded; with one where all of it is one moment.
    """
    until = observer.head()[0]
    start = next((record["at_us"] for _, record in _records(observer, until, only_changes=False)), None)
    if start is None or points < 1:
        return Growth()
    end = max(now_us, start)
    count = points if end > start else 1
    at_us = tuple(start + (end - start) * at // (count - 1) for at in range(count)) if count > 1 else (end,)
    added_files, added_bytes = [0] * count, [0] * count
    writes: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    latest = 0
    for name, record in _records(observer, until):
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
    told, gathered = _the_most(writes, count)
    return Growth(
        at_us=at_us,
        files=_summed(added_files),
        bytes=_summed(added_bytes),
        writes=told,
        findings=_found(findings, at_us),
        gathered=gathered,
    )


def _records(observer: Observer, until: int, *, only_changes: bool = True) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The events, each with the name of its actor. One that somebody wrote over is passed over."""
    names: dict[tuple[str | None, ...], str] = {}
    for _, body in bodies(observer, 0, until):
        if only_changes and b'"changes":' not in body:
            continue
        try:
            record = record_of(body)
            actor = tuple(record["actor"])
            if actor not in names:
                names[actor] = shown_name(decoded_actor(record["actor"]))
            if type(record["at_us"]) is int and all(_is_change(each) for each in record.get("changes", ())):
                yield names[actor], record
        except UNREADABLE:
            continue


def _is_change(change: Any) -> bool:
    path, _, after = change
    return isinstance(path, str) and (after is None or (after[0] in _KINDS and type(after[2]) is int))


def _summed(changes: Iterable[int]) -> tuple[int, ...]:
    total = 0
    sums = []
    for change in changes:
        total += change
        sums.append(total)
    return tuple(sums)


def _the_most(writes: dict[str, list[int]], count: int) -> tuple[dict[str, tuple[int, ...]], int]:
    """The actors who wrote most, the most first, and the others together; and how many those are."""
    names = sorted(writes, key=lambda name: (-sum(writes[name]), name))
    most, rest = names[:_MOST_ACTORS], names[_MOST_ACTORS:]
    if rest and OTHERS in most:  # an agent that calls itself so
        most.remove(OTHERS)
        rest.append(OTHERS)
    told = {name: tuple(writes[name]) for name in most}
    if rest:
        told[OTHERS] = tuple(sum(writes[name][at] for name in rest) for at in range(count))
    return told, len(rest)


def _found(findings: Iterable[Finding], at_us: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    came: Counter[tuple[Severity, int]] = Counter()
    for finding in findings:
        at = finding.origin.at_us
        came[finding.severity, 0 if at is None else min(bisect_left(at_us, at), len(at_us) - 1)] += 1
    return {
        severity.value: _summed(came[severity, at] for at in range(len(at_us)))
        for severity in Severity
        if any(each is severity for each, _ in came)
    }
