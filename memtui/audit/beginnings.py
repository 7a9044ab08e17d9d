"""Where an inbox begins: after the last review, or at a moment that somebody named."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memtui.audit.inbox import Mark, Verdict
from memtui.audit.marks import Review
from memtui.audit.settling import is_done, open_flags
from memtui.core import moments
from memtui.core.errors import JournalDamaged
from memtui.core.events import Event
from memtui.core.moments import Moment
from memtui.engine import Observer
from memtui.journal.chain import START

_SHORTEST_HASH = 8
"""Hexadecimal digits by which the head of a chain is named at least."""
_HEX = frozenset("0123456789abcdef")

Since = str | int | Moment
"""Since when: `last`, the number of an event after which it begins, the hash of one, or a moment as people write it."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where an inbox begins.

    Attributes:
        seq: The number of the event after which it does.
        at_us: When that was, in microseconds since 1970; `None` where there is none.
        words: What it is since.
        is_last: Whether it is the last review: then what was accepted one by one counts, too.
        dones: Numbers of the last events of reviews that were ended, as far as the record knows them.
    """

    seq: int
    at_us: int | None
    words: str
    is_last: bool
    dones: frozenset[int] = frozenset()

    def shown_since(self, marks: Sequence[Mark]) -> Iterator[tuple[Mark, int]]:
        """Marks that may be about older changes, each with the number of the event since which these may have come.

        What is flagged may be older than the last review, and be accepted by now; and who accepted something may have
        been shown all that came since an older review of their own.

        Args:
            marks: What reviewers said, as far as it counts.
        """
        flagged = open_flags(marks)
        begun = max((at for at, mark in enumerate(marks) if is_done(mark) and mark.seq == self.seq), default=-1)
        ended, oldest = 0, self.seq
        own: dict[str, int] = {}
        for at, mark in enumerate(marks if self.is_last else ()):
            if is_done(mark):
                if mark.seq in self.dones:
                    ended = own[mark.reviewer] = mark.seq
            elif mark.verdict is Verdict.FLAG:
                oldest = min(oldest, ended, own.get(mark.reviewer, 0))
                if flagged is not None and at >= flagged:
                    yield mark, oldest
            elif mark.verdict is Verdict.ACCEPT and at > begun:
                yield mark, min(oldest, own.get(mark.reviewer, 0))


def beginning(observer: Observer, marks: Sequence[Mark], since: Since, reviewer: str | None) -> Beginning:
    """Where an inbox begins.

    Args:
        observer: The memory.
        marks: What reviewers said, as far as it counts.
        since: See `Since`.
        reviewer: Whose reviews count; `None` for anybody's.

    Raises:
        ValueError: There is no such moment; the words are a sentence.
    """
    if since == "last":
        seq, words, dones = _last(observer, marks, reviewer)
        return Beginning(seq, _at_us(observer, seq), words, True, dones)
    seq, words = _named(observer, since)
    return Beginning(seq, _at_us(observer, seq), words, False)


def head_gone(observer: Observer, review: Review) -> str:
    """That the record which marks were given over is not the one that is there now, as a sentence; empty if it is.

    Args:
        observer: The memory.
        review: What reviewers said.
    """
    known: dict[tuple[int, str], bool] = {}
    for mark in reversed(review.counting):
        place = mark.seq, mark.head
        if place not in known:
            known[place] = _is_in_chain(observer, mark)
        if not known[place]:
            last = observer.head()[0]
            there = f"the last event is #{last}" if mark.seq > last else "another event stands there"
            return (
                f"The record is not the one that {_name(mark)} reviewed: the review was given over #{mark.seq} "
                f"({mark.head[:8]}), and {there}. It was cut, replaced or written anew, or this is another folder's "
                "review."
            )
    return ""


def _last(observer: Observer, marks: Sequence[Mark], reviewer: str | None) -> tuple[int, str, frozenset[int]]:
    done = [mark for mark in marks if is_done(mark) and reviewer in (None, mark.reviewer)]
    known = [mark for mark in done if _is_in_chain(observer, mark)]
    if known:
        last = max(known, key=lambda mark: mark.seq)
        return last.seq, f"the last review, by {_name(last)}", frozenset(mark.seq for mark in known)
    if done:
        return 0, f"the last review, by {_name(done[-1])}, is not in the record: its beginning", frozenset()
    return 0, "the record's beginning", frozenset()


def _named(observer: Observer, since: Since) -> tuple[int, str]:
    last = observer.head()[0]
    if isinstance(since, str):
        if (found := _of_hash(observer, since)) is not None:
            return found, f"#{found}"
        since = moments.moment(since, now=datetime.now(UTC))
    if isinstance(since, Moment):
        if since.is_now:
            return last, "now"
        if since.seq is None:
            assert since.first_us is not None
            return observer.history.seq_at(since.first_us - 1), since.words
        since = since.seq
    if not 0 <= since <= last:
        raise ValueError(
            f"There is no event #{since}. " + (f"The last one is #{last}." if last else "No event is recorded.")
        )
    return since, f"#{since}" if since else "the record's beginning"


def _of_hash(observer: Observer, words: str) -> int | None:
    """The number of the event with a hash, with its number or without: `41:9f2c...`; `None` if it is no hash.

    Raises:
        ValueError: It is a hash, and no event has it.
    """
    number, _, rest = words.strip().replace(":", " ").rpartition(" ")
    given = rest.casefold()
    if number and not (number.isascii() and number.isdecimal()):
        return None
    if len(given) < _SHORTEST_HASH or not set(given) <= _HEX or (given.isdecimal() and not number):
        return None
    if number:
        event = _event(observer, int(number)) if len(number) < 19 else None
        if event is not None and event.hash.startswith(given):
            return event.seq
    else:
        for event in observer.events():
            if event.hash.startswith(given):
                return event.seq
    raise ValueError(
        f"The record has no event with the hash {given[:16]}: it was cut or replaced since, or it is another folder's."
    )


def _is_in_chain(observer: Observer, mark: Mark) -> bool:
    if mark.seq == 0:
        return mark.head in ("", START.hex())
    event = _event(observer, mark.seq)
    return event is not None and event.hash == mark.head


def _event(observer: Observer, seq: int) -> Event | None:
    try:
        return observer.history.event(seq)
    except (JournalDamaged, RecursionError, OverflowError):
        return None  # somebody wrote over it, or no record has such a number


def _at_us(observer: Observer, seq: int) -> int | None:
    event = _event(observer, seq)
    return event.at_us if event is not None else None


def _name(mark: Mark) -> str:
    return mark.reviewer or "somebody"
