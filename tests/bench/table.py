"""The rows that are printed, and how times and sizes are written in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was measured.

    Attributes:
        what: In a few words.
        ours: Of memtui, as written.
        theirs: Of what it is compared with; empty where there is nothing.
        ratio: Ours by theirs.
        target: What it should be, as written.
        missed: Whether it is not.
    """

    what: str
    ours: str
    theirs: str = ""
    ratio: str = ""
    target: str = ""
    missed: bool = False


def markdown(rows: Iterable[Row]) -> str:
    """The rows as a table for the README."""
    lines = ["| what | memtui | compared with | ratio | target | |", "|---|--:|--:|--:|--:|---|"]
    for row in rows:
        met = "" if not row.target else "**missed**" if row.missed else "met"
        lines.append(f"| {row.what} | {row.ours} | {row.theirs} | {row.ratio} | {row.target} | {met} |")
    return "\n".join(lines)


def within(what: str, ours: float, limit: float, *, also: str = "") -> Row:
    """A time in seconds that has a target of its own."""
    ratio = f"{ours / limit:.2f} of the target"
    return Row(what, seconds(ours) + also, ratio=ratio, target=f"≤ {seconds(limit)}", missed=ours > limit)


def compared(what: str, ours: float, theirs: float, limit: float | None, *, name: str = "") -> Row:
    """Two times in seconds, and their ratio."""
    ratio = ours / theirs
    target = "" if limit is None else f"≤ {limit:g}"
    missed = limit is not None and ratio > limit
    return Row(what, seconds(ours), f"{name} {seconds(theirs)}".strip(), f"{ratio:.2f}", target, missed)


def seconds(value: float) -> str:
    """A duration with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{_three(value / size)} {unit}"
    return f"{_three(value * 1e6)} µs"


def mebibytes(kibibytes: float) -> str:
    """An amount of memory."""
    return f"{kibibytes / 1024:.0f} MB"


def middle(values: Sequence[float]) -> float:
    """The median: half of the values are at most this."""
    return median(values)


def nearly_worst(values: Sequence[float]) -> float:
    """The 99th percentile; of fewer than a hundred values the worst."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


def _three(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
