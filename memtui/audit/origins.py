"""Who brought in what was found, and when, as far as the journal knows; where it does not, that is said.

Lines are traced as `memtui blame` does it, once for each note; names, links and files by the event that made them.
"""

from collections.abc import Mapping
from functools import lru_cache

from memtui.audit.findings import UNKNOWN, Hit, Origin
from memtui.audit.record import TAMPERED, Record
from memtui.core.actors import shown_name
from memtui.core.events import Agent, Event, Outside
from memtui.core.history import PathVersion
from memtui.engine import Observer

_NAMES = frozenset(
    {"link-leaves", "dangling-link", "special-file", "hard-link", "hidden-file", "mixed-script-name", "twin-names"}
)
"""Rules about what a thing is called or is, and not about what it holds."""
_FOUND = frozenset({"found", "began"})
_OUTSIDE = shown_name(Outside())
_KEPT = 4
"""Notes whose lines are remembered: findings come note by note."""
SEQ = "seq"
"""The fact by which a hit names the event that it is about."""


class Origins:
    """Traces findings back.

    Args:
        observer: The open memory.
        record: The journal in numbers.
        is_intact: Whether the journal is known to be what was recorded. What cannot be read in one that is not, is not
            known; in one that is, that is a bug.
    """

    def __init__(self, observer: Observer, record: Record, *, is_intact: bool = True) -> None:
        self._is_intact = is_intact
        self._observer = observer
        self._record = record
        self._rows = lru_cache(maxsize=_KEPT)(self._rows_of)
        self._lines: dict[str, list[Origin]] = {}

    def of(self, hit: Hit, data: bytes | None, line: int | None) -> Origin:
        """Who brought in what a hit is about.

        Args:
            hit: What was found.
            data: The note's bytes; `None` where there is no note, or it could not be read.
            line: In which line of it, from 1; `None` if it is about the whole.
        """
        try:
            return self._of(hit, data, line)
        except TAMPERED:
            if self._is_intact:
                raise
            return UNKNOWN

    def _of(self, hit: Hit, data: bytes | None, line: int | None) -> Origin:
        if isinstance(seq := hit.facts.get(SEQ), int):
            event = self._observer.history.event(seq)
            return UNKNOWN if event is None else self._origin(event)
        if not hit.path or not self._record.last:
            return UNKNOWN
        if (origin := self._of_the_first_look(hit.path)) is not None:
            return origin
        if line is not None and data is not None:
            origins = self._origins_of(hit.path, data)
            return origins[line - 1] if line <= len(origins) else UNKNOWN
        rows = [row for row in self._rows(hit.path) if row.path == hit.path]
        if not rows or rows[0].after is None or rows[0].moved_to is not None:
            return UNKNOWN  # nothing that the journal knows stands there now
        if hit.rule in _NAMES or data is None:
            rows = [row for row in rows if row.before is None or row.moved_from is not None] or rows[-1:]
        return self._origin(rows[0].event)

    def _rows_of(self, path: str) -> list[PathVersion]:
        return self._observer.history.versions_of(path)

    def _of_the_first_look(self, path: str) -> Origin | None:
        """The origin of what was there at the first look and has not changed since; `None` if it has.

        Such are most files of a folder that was there before memtui; the event that tells of them tells of many.
        """
        touches = self._observer.journal.touches(path)
        if len(touches) != 1 or touches[0] not in self._record.found or self._observer.history.told_of(path):
            return None
        return Origin("", touches[0], self._record.found[touches[0]], "found", is_exact=False)

    def _origins_of(self, path: str, data: bytes) -> list[Origin]:
        if path not in self._lines:
            self._lines[path] = self._traced(path, data)
        return self._lines[path]

    def _traced(self, path: str, data: bytes) -> list[Origin]:
        blame = self._observer.history.blame(path, data)
        known: Mapping[int, Event] = {event.seq: event for event in blame.lines if event is not None}
        oldest = min(known, default=0)
        origins = {seq: self._origin(event, is_exact=blame.complete or seq != oldest) for seq, event in known.items()}
        traced = [UNKNOWN if event is None else origins[event.seq] for event in blame.lines]
        if all(origin.is_known and origin.actor != _OUTSIDE for origin in traced):
            return traced
        told = self._observer.history.told_lines(path, data)
        return [
            self._told(row) if row is not None and (not origin.is_known or origin.actor == _OUTSIDE) else origin
            for origin, row in zip(traced, told, strict=True)
        ]

    def _told(self, row: PathVersion) -> Origin:
        """A write that a session file told of afterwards: nobody saw it happen."""
        event = row.event
        session = event.actor.session if isinstance(event.actor, Agent) else None
        return Origin(shown_name(event.actor), event.seq, row.at_us, event.note, session, event.call_id)

    def _origin(self, event: Event, *, is_exact: bool = True) -> Origin:
        """An event as an origin.

        Args:
            event: Which.
            is_exact: Whether it is that event; where earlier texts are gone, it may have been one before.
        """
        is_recorded = event.seq <= self._record.last
        if event.command in _FOUND:
            if not is_recorded:
                return UNKNOWN  # memtui looks at it for the first time
            return Origin("", event.seq, event.at_us, event.command, is_exact=False)
        actor, call_id = event.actor, event.call_id
        if event.is_outside and (claim := self._claim(event)) is not None:
            actor, call_id = claim.actor, claim.call_id
        session = actor.session if isinstance(actor, Agent) else None
        seq = event.seq if is_recorded else None  # its number is given to another event, once something is recorded
        return Origin(shown_name(actor), seq, event.at_us, event.command, session, call_id, is_exact and is_recorded)

    def _claim(self, event: Event) -> Event | None:
        """The event in which an agent says that a change from outside was its own."""
        seq = self._record.claimed.get(event.seq)
        return None if seq is None else self._observer.history.event(seq)
