"""What an audit has to know of the journal as a whole: who acted how often, what was refused, and whether it is intact.

The events are gone through once, and the chain is checked in the same way as `memtui verify` does.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.audit.audit import Chain
from memtui.audit.stopping import Stopped
from memtui.core.actors import shown_name
from memtui.core.errors import MemtuiError
from memtui.engine import Observer, Source
from memtui.journal.chain import decoded_actor
from memtui.journal.report import Weight

if TYPE_CHECKING:
    from memtui.journal.report import Report

_CLAIMED = re.compile(r"#(\d{1,18}) was its ")
"""How an event says which change was an agent's that was recorded as one from outside before."""
_PAGE = 1_000
TAMPERED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What comes of reading an event that somebody has rewritten. The check of the chain tells that; the rest is read."""


@dataclass(frozen=True, slots=True)
class Record:
    """The journal in numbers.

    Attributes:
        last: The number of the last event on the disk.
        actors: How many events by each actor, the most first.
        refused: How many calls were refused.
        claimed: By the number of a change from outside, the number of the event in which an agent says it was its own.
        found: By the number of an event that tells what was there when memtui first looked, when that was, in
            microseconds since 1970.
    """

    last: int
    actors: Mapping[str, int]
    refused: int
    claimed: Mapping[int, int]
    found: Mapping[int, int]


def record_of(observer: Observer, last: int, *, stop: Callable[[], bool] = lambda: False) -> Record:
    """Go through the events once.

    Args:
        observer: The open memory.
        last: The number of the last event on the disk: those behind it were found just now, and are not counted.
        stop: Asked now and then whether to give up.

    Raises:
        Stopped: `stop` said so.
    """
    actors: Counter[str] = Counter()
    refused = after = 0
    claimed: dict[int, int] = {}
    first: dict[int, int] = {}
    while after < last:
        if stop():
            raise Stopped
        page = [each for each in observer.history.bodies(after, limit=_PAGE) if each[0] <= last]
        if not page:
            break
        for number, body in page:
            try:
                event = json.loads(body)
                actor = shown_name(decoded_actor(event["actor"]))
                command, note, result = (str(event.get(name, "")) for name in ("command", "note", "result"))
            except TAMPERED:
                continue
            actors[actor] += 1
            refused += result == "refused"
            if command == "found" and isinstance(event.get("at_us"), int):
                first[number] = event["at_us"]
            if command == "claimed" and (found := _CLAIMED.match(note)):
                claimed[int(found[1])] = number
        after = page[-1][0]
    return Record(last, dict(actors.most_common()), refused, claimed, first)


def chain_of(observer: Observer, last: int) -> Chain:
    """Whether the journal is still what was recorded, in the words of an audit.

    Args:
        observer: The open memory.
        last: The number of the last event on the disk.
    """
    recorded = observer.recorded
    if recorded.is_damaged:
        return Chain(state="broken", words=f"broken: {_clause(recorded.problem)}")
    if not last:
        state = "none" if recorded.source is Source.NONE else "unknown"
        return Chain(state=state, words=_clause(recorded.problem) or "nothing was recorded of this folder")
    try:
        report = report_of(observer)
    except MemtuiError as error:
        return Chain(state="unknown", words=f"it could not be checked: {_clause(str(error))}", seq=last, events=last)
    hash_ = recorded.head if recorded.last == last else _hash_of(observer, last)
    grave = [finding for finding in report.findings if _counts(finding.weight, has_texts=recorded.has_texts)]
    if grave:
        more = f", and {len(grave) - 1} more" if len(grave) > 1 else ""
        words = f"broken: {_clause(grave[0].text)}{more}"
        return Chain(state="broken", words=words, seq=last, hash=hash_, events=min(report.events, last))
    events = min(report.events, last)
    words = f"intact, {events:,} of {last:,} {'event' if last == 1 else 'events'}"
    return Chain(state="intact", words=words, seq=last, hash=hash_, events=events)


def report_of(observer: Observer) -> "Report":
    """What a check of the journal finds.

    Raises:
        StateUnusable: It cannot be read.
    """
    journal = observer.journal
    if journal.path is None:
        return journal.verified()
    import sqlite3  # for start-up cost, as in `memtui verify`

    from memtui.core.errors import StateUnusable
    from memtui.journal.reading import reading
    from memtui.journal.verify import verify

    try:
        with reading(journal.path, locking=True) as opened:
            return verify(opened.connection)
    except (OSError, sqlite3.Error) as error:
        raise StateUnusable(f"The journal cannot be read: {error}.") from error


def _hash_of(observer: Observer, seq: int) -> str:
    event = observer.history.event(seq)
    return event.hash if event is not None else ""


def _counts(weight: Weight, *, has_texts: bool) -> bool:
    """Whether a finding of the check says that the record is not what was recorded."""
    return weight is not Weight.INDEX and (has_texts or weight is not Weight.TEXT)


def _clause(sentence: str) -> str:
    """A sentence as the end of another one."""
    first, rest = sentence[:1], sentence[1:]
    return (first.lower() if rest[:1].islower() or rest[:1] == " " else first) + rest.removesuffix(".")
