"""From which text on a thing has to be looked at, by what reviewers said of it.

A verdict counts for exactly the texts over which it was given. What was accepted is where the next look begins, also
if nobody said that they were done; what was flagged stays until it is accepted or taken back, also if somebody did.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from memtui.audit.inbox import Mark, Verdict
from memtui.audit.things import Thing, key_of

_JUDGEMENTS = frozenset({Verdict.ACCEPT, Verdict.FLAG})


def is_done(mark: Mark) -> bool:
    """Whether somebody said that they have seen all that there was."""
    return not mark.path and not mark.hunk and mark.verdict is Verdict.ACCEPT


@dataclass(slots=True)
class Settled:
    """What reviewers settled of one thing.

    Attributes:
        start: The position of the step from which on it has to be looked at.
        accepted: From where to where it was accepted since the last review that somebody ended; `None` if it was not.
        flags: What of it is flagged, by the fingerprint of the hunk; `""` for all of it.
        last: The last judgement over the whole file that this record knows of.
        waiting: Where it would begin, had it not been flagged when somebody ended a review.
    """

    start: int = 0
    accepted: tuple[int, int] | None = None
    flags: set[str] = field(default_factory=set)
    last: Mark | None = None
    waiting: int = 0


def settled(thing: Thing, marks: Iterable[Mark], dones: Collection[int], counts: str | None) -> Settled:
    """Follow what was said of a thing.

    Args:
        thing: Which.
        marks: What was said of it, and of all that there was; the oldest first.
        dones: Numbers of the last events of reviews that were ended, as far as the record knows them.
        counts: Whose acceptance counts; `None` for anybody's. Flags are everybody's.
    """
    found = Settled()
    for mark in marks:
        if is_done(mark):
            if mark.seq in dones and counts in (None, mark.reviewer):
                found.waiting = max(found.waiting, thing.index_at(mark.seq))
                if not found.flags:
                    found.start, found.accepted = max(found.start, found.waiting), None
                    found.last = found.last if _is_over(found.last, thing, found.start) else None
            continue
        if mark.verdict is Verdict.REVERTED:
            found.flags -= {mark.hunk} if mark.hunk else set(found.flags)
            continue
        span = span_of(thing, mark, found.start)
        if span is None or mark.verdict not in _JUDGEMENTS:
            if mark.verdict is Verdict.ACCEPT and _is_over(mark, thing, found.start):
                found.last = mark  # it was given over what came before this record begins
            continue
        begin, end = span
        if mark.verdict is Verdict.FLAG:
            found.flags.add(mark.hunk)
            found.start = min(found.start, begin)
        elif counts in (None, mark.reviewer):
            if mark.hunk:
                found.flags.discard(mark.hunk)
                if not found.flags:
                    found.start = max(found.start, found.waiting)
                continue
            if begin > found.start or end < found.start:
                continue  # it was given over less than what is left to be looked at, or long ago
            found.flags.clear()
            found.accepted, found.start = (begin, end), end
        if not mark.hunk:
            found.last = mark
    return found


def _is_over(mark: Mark | None, thing: Thing, at: int) -> bool:
    """Whether a mark accepts what a thing was at one of its steps."""
    step = thing.steps[at]
    return (
        mark is not None
        and mark.verdict is Verdict.ACCEPT
        and not mark.hunk
        and (mark.path, mark.after) == (step.name, key_of(step.version))
    )


def span_of(thing: Thing, mark: Mark, start: int) -> tuple[int, int] | None:
    """Between which steps a mark was given: the positions of the texts before and after; `None` for other texts.

    Args:
        thing: Of what.
        mark: The mark.
        start: From where on it is to be looked at: of several places with the text before, one up to here is meant.
    """
    steps = thing.steps
    ends = [at for at, step in enumerate(steps) if step.name == mark.path and key_of(step.version) == mark.after]
    if not ends:
        return None
    by_then = [at for at in ends if steps[at].seq <= mark.seq]
    end = by_then[-1] if by_then else ends[0]  # seen before anybody had recorded it
    begins = [at for at in range(end + 1) if key_of(steps[at].version) == mark.before]
    if not begins:
        return None
    early = [at for at in begins if at <= start]
    return (early[-1] if early else begins[-1]), end


def open_flags(marks: Sequence[Mark]) -> int | None:
    """The position of the first flag that nobody has taken back under the name that it was given; `None` if none is."""
    flags: dict[str, dict[str, int]] = {}
    for at, mark in enumerate(marks):
        if not mark.path:
            continue
        of_path = flags.setdefault(mark.path, {})
        if mark.verdict is Verdict.FLAG:
            of_path.setdefault(mark.hunk, at)
        elif mark.verdict in (Verdict.ACCEPT, Verdict.REVERTED):
            if mark.hunk:
                of_path.pop(mark.hunk, None)
            else:
                of_path.clear()
    return min((at for of_path in flags.values() for at in of_path.values()), default=None)
