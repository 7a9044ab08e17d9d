"""Many findings of one kind in one file, told as one: two hundred dead entries are one thing to do, not two hundred."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from memtui.audit.findings import Hit
from memtui.audit.rule import Rule
from memtui.core.visible import one_line

FEW = 5
"""Findings of one rule in one file that are each told by itself; of more there is one."""
_NAMED = 3
_LINES = 200
"""Lines that are named for programs."""
_NAMES = ("target", "path", "symbol", "commit", "address")
"""Facts that name what was found."""


def gathered(hits: Iterable[Hit], rules: Mapping[str, Rule], line_of: Callable[[Hit], int | None]) -> list[Hit]:
    """Hits of one file, with those told together that their rule can tell so and that are more than a few.

    What is told together stands where the first of them is. It is known by its rule and file alone, so that its
    fingerprint stays when there are more of them, or fewer.

    Args:
        hits: What was found in the file, in order.
        rules: All there are, by id.
        line_of: The line that a hit is in, from 1.
    """
    by_rule: dict[str, list[Hit]] = {}
    for hit in hits:
        by_rule.setdefault(hit.rule, []).append(hit)
    kept: list[Hit] = []
    for rule, found in by_rule.items():
        together = rules[rule].together
        kept += [_one(found, together, line_of)] if together and len(found) > FEW else found
    return kept


def _one(hits: Sequence[Hit], together: str, line_of: Callable[[Hit], int | None]) -> Hit:
    names = list(dict.fromkeys(filter(None, map(_name, hits))))
    lines = sorted({line for hit in hits[:_LINES] if (line := line_of(hit)) is not None})
    shown = [one_line(name) for name in names[:_NAMED]]
    some = " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
    return replace(
        hits[0],
        words=together.format(count=f"{len(hits):,}", some=some),
        facts={"count": len(hits), "lines": ", ".join(map(str, lines))},
        identity="",
    )


def _name(hit: Hit) -> str:
    return next((str(hit.facts[name]) for name in _NAMES if name in hit.facts), "")
