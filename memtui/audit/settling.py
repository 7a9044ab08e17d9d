"""From which text on a thing has to be looked at, by what reviewers said of it.

A verdict counts for exactly the texts over which it was given. What was accepted is where the next look begins, also
if nobody said that they were done; what was flagged stays until it is accepted or taken back, also if somebody did.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from memtui.audit.deeds import Step
from memtui.audit.inbox import Mark, Verdict
from memtui.audit.things import Thing, key_of

_JUDGEMENTS = frozenset({Verdict.ACCEPT, Verdict.FLAG})


def is_done(mark: Mark) -> bool:
    """Whether somebody said that they have seen all that there was."""
    return not mark.path and not mark.hunk and mark.verdict is Verdict.ACCEPT


class Said:
    """What reviewers said, thing by thing.

    Args:
        marks: All that counts, the oldest first.
        things: Of what it may be.
        stood: Tells what stood at a path right after an event, as marks say it.
    """

    def __init__(self, marks: Sequence[Mark], things: Iterable[Thing], stood: Callable[[str, int], str]) -> None:
        self._stood = stood
        self._dones = [(at, mark) for at, mark in enumerate(marks) if is_done(mark)]
        self._of_path: dict[str, list[tuple[int, Mark]]] = {}
        for at, mark in enumerate(marks):
            if mark.path:
                self._of_path.setdefault(mark.path, []).append((at, mark))
        self._called: dict[str, list[Thing]] = {}
        """By each name of which something is said, the things that were called so."""
        for thing in things if self._of_path else ():
            for name in thing.names:
                if name in self._of_path:
                    self._called.setdefault(name, []).append(thing)

    def of(self, thing: Thing, *, with_dones: bool) -> list[Mark]:
        """What was said of a thing under any of its names, the oldest first.

        Args:
            thing: Which.
            with_dones: Whether what was said of all that there was is among it.
        """
        found = list(self._dones) if with_dones else []
        for name in thing.names if self._of_path else ():
            found += [(at, mark) for at, mark in self._of_path.get(name, ()) if self._is_about(mark, thing)]
        return [mark for _, mark in sorted(found, key=lambda each: each[0])]

    def places(self, mark: Mark) -> bool:
        """Whether a mark was given over what any of the things was and became."""
        return any(span_of(thing, mark, 0) is not None for thing in self._called.get(mark.path, ()))

    def _is_about(self, mark: Mark, thing: Thing) -> bool:
        """Whether a mark is about this one of the things that are called so, as it was or became by then."""
        if _fits(mark, thing):
            return True
        if any(_fits(mark, other) for other in self._called[mark.path]):
            return False
        if thing.steps[-1].seq <= mark.seq or not any(_is_as_marked(mark, step) for step in thing.steps):
            return True
        return self._stood(mark.path, mark.seq) != mark.after  # else it has become so again since


def _fits(mark: Mark, thing: Thing) -> bool:
    """Whether a thing was, at the time of a mark, what the mark was given over."""
    return _is_as_marked(mark, thing.steps[thing.index_at(mark.seq)])


def _is_as_marked(mark: Mark, step: Step) -> bool:
    """Whether something was after a step what a mark was given over. What is gone has no name any more."""
    return key_of(step.version) == mark.after and (step.name == mark.path or step.version is None)


@dataclass(slots=True)
class Settled:
    """What reviewers settled of one thing.

    Attributes:
        start: The position of the step from which on it has to be looked at.
        accepted: From where to where it was accepted since the last review that somebody ended; `None` if it was not.
        flags: What of it is flagged, by the fingerprint of the hunk; `""` for all of it.
        last: The last judgement over the whole file that this record knows of.
        waiting: Where it would begin, had it not been flagged when somebody ended a review.
        accepted_at: The number of the last event when it was accepted.
        said: What was said of what is left to be looked at.
        said_before: What was said of what was accepted.
    """

    start: int = 0
    accepted: tuple[int, int] | None = None
    flags: set[str] = field(default_factory=set)
    last: Mark | None = None
    waiting: int = 0
    accepted_at: int = 0
    said: list[Mark] = field(default_factory=list)
    said_before: list[Mark] = field(default_factory=list)


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
                _end(found, thing, mark)
            continue
        span = span_of(thing, mark, found.start)
        if span is None or span[1] >= found.start:
            found.said.append(mark)
        if mark.verdict is Verdict.REVERTED:
            found.flags -= {mark.hunk} if mark.hunk else set(found.flags)
            continue
        if span is None or mark.verdict not in _JUDGEMENTS:
            if mark.verdict is Verdict.ACCEPT and _is_over(mark, thing, found.start):
                found.last = mark  # it was given over what came before this record begins
            continue
        begin, end = span
        if mark.verdict is Verdict.FLAG:
            found.flags.add(mark.hunk)
            if begin < found.start:
                found.start, found.said, found.said_before = begin, [*found.said_before, *found.said], []
        elif counts in (None, mark.reviewer):
            if mark.hunk:
                found.flags.discard(mark.hunk)
                if not found.flags:
                    found.start = max(found.start, found.waiting)
                continue
            if begin > found.start or end < found.start:
                continue  # it was given over less than what is left to be looked at, or long ago
            found.flags.clear()
            found.accepted, found.start, found.accepted_at = (begin, end), end, mark.seq
            found.said, found.said_before = [], found.said
        if not mark.hunk:
            found.last = mark
    return found


def _end(found: Settled, thing: Thing, done: Mark) -> None:
    """Somebody said that they have seen all that there was."""
    found.waiting = max(found.waiting, thing.index_at(done.seq))
    if found.flags:
        return
    # What was accepted earlier was not what came after that review, though it be the same again.
    if found.start <= found.waiting or found.accepted_at < done.seq:
        found.start, found.said = found.waiting, []
    found.accepted = None
    found.last = found.last if _is_over(found.last, thing, found.start) else None


def _is_over(mark: Mark | None, thing: Thing, at: int) -> bool:
    """Whether a mark accepts what a thing was at one of its steps."""
    if mark is None or mark.verdict is not Verdict.ACCEPT or mark.hunk:
        return False
    return _is_as_marked(mark, thing.steps[at])


def span_of(thing: Thing, mark: Mark, start: int) -> tuple[int, int] | None:
    """Between which steps a mark was given: the positions of the texts before and after; `None` for other texts.

    Args:
        thing: Of what.
        mark: The mark.
        start: From where on it is to be looked at: of several places with the text before, one up to here is meant.
    """
    steps = thing.steps
    ends = [at for at, step in enumerate(steps) if _is_as_marked(mark, step)]
    if not ends:
        return None
    by_then = [at for at in ends if steps[at].seq <= mark.seq]
    end = by_then[-1] if by_then else ends[0]  # seen before anybody had recorded it
    begins = [at for at in range(end) if key_of(steps[at].version) == mark.before]
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
