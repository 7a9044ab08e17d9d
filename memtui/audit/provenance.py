"""The origin of findings: who brought each in, and when, as far as the journal knows.

Lines are traced as `memtui blame` does it, once for each note; names, links and files by the event that made them.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from memtui.audit.model import UNKNOWN, ChainStatus, FindingOrigin, Hit, check_cancelled
from memtui.core.errors import MemtuiError
from memtui.core.events import Agent, Event, Outside, format_actor_name
from memtui.core.history import PathVersion
from memtui.core.lazy_dataclass import dataclass
from memtui.core.wording import format_count
from memtui.engine import Engine, JournalSource, Observer
from memtui.engine.claims import CLAIM
from memtui.fs.fork import Fork, does_fork_pay
from memtui.journal.chain import decode_actor, decode_body
from memtui.journal.verify_report import FindingWeight
from memtui.review.tracks import iter_event_bodies

if TYPE_CHECKING:
    pass


# The journal as a whole: events by actor, refusals, and the chain, verified as `memtui verify` does.

_EVERY = 1_000  # events between two checks for cancellation
_SESSIONS = 2  # of an agent, after which no more are told apart
_SETTLED = 10  # events of others from which on an agent that writes for the first time is a newcomer
_FOUND = frozenset({"found", "began"})
OUTSIDE = format_actor_name(Outside())
"""How a program that is no agent of memtui's is called."""
TAMPERED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What comes of reading an event that somebody has rewritten. The check of the chain tells that; the rest is read."""


@dataclass(frozen=True, slots=True)
class JournalSummary:
    """The journal in numbers.

    Attributes:
        refused: The number of refused calls.
        claimed: By the number of an external change, the number of the event in which an agent claims it.
        found: By the number of an event of the first look, its time in microseconds since 1970.
        own: The number of changes by agents and by the person.
        outside: The number of changes by other programs that no agent claims.
        newcomers: The agents that wrote in one session only, where others wrote before.
    """

    last: int
    actors: Mapping[str, int]
    refused: int
    claimed: Mapping[int, int]
    found: Mapping[int, int]
    own: int = 0
    outside: int = 0
    newcomers: frozenset[str] = frozenset()


def summarize_journal(observer: Observer, last: int, *, stop: Callable[[], bool] = lambda: False) -> JournalSummary:
    """Go through the events once.

    Args:
        last: The number of the last event on the disk; later ones were found just now and are not counted.

    Raises:
        AuditCancelled: `stop` returned true.
    """
    actors: Counter[str] = Counter()
    refused = 0
    claimed: dict[int, int] = {}
    first: dict[int, int] = {}
    sessions: dict[str, set[str | None]] = {}
    outside = 0
    for number, body in iter_event_bodies(observer, 0, last):
        if number % _EVERY == 0:
            check_cancelled(stop)
        try:
            event = decode_body(body)
            who = decode_actor(event["actor"])
            actor = format_actor_name(who)
            command, note, result = (str(event.get(name, "")) for name in ("command", "note", "result"))
        except TAMPERED:
            continue
        actors[actor] += 1
        refused += result == "refused"
        if command == "found" and isinstance(event.get("at_us"), int):
            first[number] = event["at_us"]
        if command == "claimed" and (found := CLAIM.match(note)):
            claimed[int(found[1])] = number
        if isinstance(who, Agent) and len(known := sessions.setdefault(actor, set())) < _SESSIONS:
            known.add(who.session)
        outside += actor == OUTSIDE and command not in _FOUND
    own = sum(count for actor, count in actors.items() if actor != OUTSIDE)
    newcomers = (actor for actor, known in sessions.items() if len(known) == 1 and own - actors[actor] >= _SETTLED)
    return JournalSummary(
        last, dict(actors.most_common()), refused, claimed, first, own, outside - len(claimed), frozenset(newcomers)
    )


def check_chain(observer: Observer, last: int) -> ChainStatus:
    """Whether the journal is still what was recorded, in the words of an audit."""
    recorded = observer.recorded
    if recorded.is_damaged:
        return ChainStatus(state="broken", words=f"broken: {_to_clause(recorded.problem)}")
    if not last:
        state = "none" if recorded.source is JournalSource.NONE else "unknown"
        return ChainStatus(state=state, words=_to_clause(recorded.problem) or "this folder has no history")
    try:
        report = observer.journal.verify(apart=True)
    except MemtuiError as error:
        return ChainStatus(
            state="unknown", words=f"it could not be checked: {_to_clause(str(error))}", seq=last, events=last
        )
    hash_ = recorded.head if recorded.last == last else _get_event_hash(observer, last)
    grave = [finding for finding in report.findings if _is_tampering(finding.weight, has_texts=recorded.has_texts)]
    if grave:
        more = f", and {len(grave) - 1} more" if len(grave) > 1 else ""
        words = f"broken: {_to_clause(grave[0].text)}{more}"
        return ChainStatus(state="broken", words=words, seq=last, hash=hash_, events=min(report.events, last))
    events = min(report.events, last)
    words = f"intact, {events:,} of {format_count(last, 'event')}"
    return ChainStatus(state="intact", words=words, seq=last, hash=hash_, events=events)


def fork_chain_check(fork: Fork, observer: Observer) -> None:
    """Check the journal's copy in memory in a second process, while this one reads the folder, where that pays."""
    recorded = observer.recorded
    if isinstance(observer, Engine) or recorded.source is not JournalSource.JOURNAL:
        return
    if does_fork_pay(recorded.last + observer.get_totals().files):
        fork.begin(lambda tell: tell(asdict(check_chain(observer, recorded.last))))


def _get_event_hash(observer: Observer, seq: int) -> str:
    event = observer.history.get_event(seq)
    return event.hash if event is not None else ""


def _is_tampering(weight: FindingWeight, *, has_texts: bool) -> bool:
    """Whether a finding of the check says that the record is not what was recorded."""
    return weight is not FindingWeight.INDEX and (has_texts or weight is not FindingWeight.TEXT)


def _to_clause(sentence: str) -> str:
    """A sentence as the end of another one."""
    first, rest = sentence[:1], sentence[1:]
    return (first.lower() if rest[:1].islower() or rest[:1] == " " else first) + rest.removesuffix(".")


_NAMES = frozenset(
    {"link-leaves", "dangling-link", "special-file", "hard-link", "hidden-file", "mixed-script-name", "twin-names"}
)
"""Rules about what a thing is called or is, and not about what it holds."""
_KEPT = 4  # notes whose lines are remembered: findings come note by note
SEQ = "seq"
"""The fact by which a hit names the event that it is about."""


class OriginTracer:
    """Traces findings back.

    Args:
        is_intact: Whether the journal passed its check. An unreadable event is unknown in one that did not, and a
            bug in one that did.
    """

    def __init__(self, observer: Observer, record: JournalSummary, *, is_intact: bool = True) -> None:
        self._is_intact = is_intact
        self._observer = observer
        self._record = record
        self._rows = lru_cache(maxsize=_KEPT)(observer.history.versions_of)
        self._lines: dict[str, list[FindingOrigin]] = {}

    def trace(self, hit: Hit, data: bytes | None, line: int | None) -> FindingOrigin:
        """Who brought in what a hit is about."""
        try:
            return self._find_origin(hit, data, line)
        except TAMPERED:
            if self._is_intact:
                raise
            return UNKNOWN

    def has_known_author(self, path: str) -> bool:
        """Whether the journal may know who wrote something at a path; not of what has not changed since its start."""
        return bool(self._record.last) and self._find_initial_origin(path) is None

    def _find_origin(self, hit: Hit, data: bytes | None, line: int | None) -> FindingOrigin:
        if isinstance(seq := hit.facts.get(SEQ), int):
            event = self._observer.history.get_event(seq)
            return UNKNOWN if event is None else self._to_origin(event)
        if not hit.path or not self._record.last:
            return UNKNOWN
        if (origin := self._find_initial_origin(hit.path)) is not None:
            return origin
        if line is not None and data is not None:
            origins = self._get_line_origins(hit.path, data)
            return origins[line - 1] if line <= len(origins) else UNKNOWN
        rows = [row for row in self._rows(hit.path) if row.path == hit.path]
        if not rows or rows[0].after is None or rows[0].moved_to is not None:
            return UNKNOWN  # nothing that the journal knows stands there now
        if hit.rule in _NAMES or data is None:
            rows = [row for row in rows if row.before is None or row.moved_from is not None] or rows[-1:]
        return self._to_origin(rows[0].event)

    def _find_initial_origin(self, path: str) -> FindingOrigin | None:
        """The origin of what was there at the first look and has not changed since; `None` if it has.

        Such are most files of a folder that was there before memtui; the event that tells of them tells of many.
        """
        seq = self._touched_once.get(path)
        if seq is None or seq not in self._record.found:
            return None
        if self._has_imports and self._observer.history.get_imported_versions(path):
            return None
        return FindingOrigin("", seq, self._record.found[seq], "found", is_exact=False)

    @cached_property
    def _has_imports(self) -> bool:
        return self._observer.history.has_imports()

    @cached_property
    def _touched_once(self) -> Mapping[str, int | None]:
        journal = self._observer.journal
        return journal.get_touched_paths(journal.get_head()[0])

    def _get_line_origins(self, path: str, data: bytes) -> list[FindingOrigin]:
        if path not in self._lines:
            self._lines[path] = self._trace_lines(path, data)
        return self._lines[path]

    def _trace_lines(self, path: str, data: bytes) -> list[FindingOrigin]:
        blame = self._observer.history.blame(path, data)
        known: Mapping[int, Event] = {event.seq: event for event in blame.lines if event is not None}
        oldest = min(known, default=0)
        origins = {
            seq: self._to_origin(event, is_exact=blame.complete or seq != oldest) for seq, event in known.items()
        }
        traced = [UNKNOWN if event is None else origins[event.seq] for event in blame.lines]
        if all(origin.is_known and origin.actor != OUTSIDE for origin in traced):
            return traced
        blamed = self._observer.history.blame_imported(path, data)
        return [
            self._find_imported_write(row)
            if row is not None and (not origin.is_known or origin.actor == OUTSIDE)
            else origin
            for origin, row in zip(traced, blamed, strict=True)
        ]

    def _find_imported_write(self, row: PathVersion) -> FindingOrigin:
        """A write imported from a session file afterwards."""
        event = row.event
        session = event.actor.session if isinstance(event.actor, Agent) else None
        return FindingOrigin(format_actor_name(event.actor), event.seq, row.at_us, event.note, session, event.call_id)

    def _to_origin(self, event: Event, *, is_exact: bool = True) -> FindingOrigin:
        """An event as an origin."""
        is_recorded = event.seq <= self._record.last
        if event.command in _FOUND:
            if not is_recorded:
                return UNKNOWN  # memtui looks at it for the first time
            return FindingOrigin("", event.seq, event.at_us, event.command, is_exact=False)
        actor, call_id = event.actor, event.call_id
        if event.is_outside and (claim := self._find_claim(event)) is not None:
            actor, call_id = claim.actor, claim.call_id
        session = actor.session if isinstance(actor, Agent) else None
        seq = event.seq if is_recorded else None  # its number is given to another event, once something is recorded
        return FindingOrigin(
            format_actor_name(actor), seq, event.at_us, event.command, session, call_id, is_exact and is_recorded
        )

    def _find_claim(self, event: Event) -> Event | None:
        """The event in which an agent says that a change from outside was its own."""
        seq = self._record.claimed.get(event.seq)
        return None if seq is None else self._observer.history.get_event(seq)
