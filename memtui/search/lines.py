"""One line as it is shown where it was found: a long one is cut around what matches."""

from memtui.search.found import LineHit, Span
from memtui.search.wanted import Wanted

_BEFORE, _BEHIND = 40, 200
"""Characters of a long line that are shown before the first match, and behind where it begins."""
_CUT = "…"


def line_hit(number: int, line: str, wanted: Wanted, *, whole: bool = False) -> LineHit:
    """A line with its matches.

    Args:
        number: From 1.
        line: Without its end.
        wanted: What was looked for.
        whole: Whether a long line is not cut.
    """
    line = line.removesuffix("\r")
    spans = wanted.spans(line)
    first = spans[0][0] if spans else 0
    if whole or len(line) <= _BEFORE + _BEHIND:
        return LineHit(number, line, tuple(spans), first + 1)
    start = max(0, min(first - _BEFORE, len(line) - _BEFORE - _BEHIND))
    end = min(len(line), start + _BEFORE + _BEHIND)
    shown = f"{_CUT if start else ''}{line[start:end]}{_CUT if end < len(line) else ''}"
    shift = start - (1 if start else 0)
    return LineHit(number, shown, tuple(_within(spans, start, end, shift)), first + 1)


def _within(spans: list[Span], start: int, end: int, shift: int) -> list[Span]:
    return [
        (max(begin, start) - shift, min(stop, end) - shift) for begin, stop in spans if stop > start and begin < end
    ]
