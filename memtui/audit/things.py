"""The things of a folder followed through a span of its record: under which names, and with which texts.

A path is not a thing: what is renamed stays what it was, what is deleted may come back, and another thing may get its
name meanwhile. Whoever judges a change has to know which of these it is. One pass over the events tells all of it.
"""

import gc
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memtui.core.actors import shown_name
from memtui.core.changes import net
from memtui.core.events import Actor, Agent, Event, Version
from memtui.core.snapshot import Kind
from memtui.engine import Observer
from memtui.engine.history import FOUND_UNTIL, moves
from memtui.journal.chain import decode, decoded_actor

_PAGE = 10_000
_KINDS = {kind.value: kind for kind in Kind}
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError)
"""What comes of an event that somebody wrote over. It is passed over: that the chain is broken is told elsewhere."""
_FOUND = "found"
_CLAIMED = "claimed"
_CLAIM = re.compile("#([0-9]{1,18}) ")
"""How the note begins of an event that says whose an earlier one was."""


class Step(NamedTuple):
    """What a thing was after an event.

    Attributes:
        seq: The event's number; the one after which the span begins for what stood there before.
        name: What it was called; of something that is gone, what it was called last.
        version: What it held; `None` for nothing.
    """

    seq: int
    name: str
    version: Version | None


@dataclass(slots=True)
class Thing:
    """A file, a link or a directory.

    Attributes:
        steps: What it was, the oldest first; at first what it was before the span.
    """

    steps: list[Step]

    @property
    def now(self) -> Step:
        """What it is."""
        return self.steps[-1]

    @property
    def names(self) -> set[str]:
        """What it was called within the span."""
        return {step.name for step in self.steps}

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory, and was nothing else before."""
        return all(step.version is None or step.version.kind is Kind.DIRECTORY for step in self.steps)

    def index_at(self, seq: int) -> int:
        """The position of the last step up to an event."""
        at = len(self.steps) - 1
        while at and self.steps[at].seq > seq:
            at -= 1
        return at


class Deed(NamedTuple):
    """An event that changed something, as much of it as is needed of all of them.

    Attributes:
        seq: Its number.
        at_us: When it began.
        actor: Who; whose it was as somebody said later, where somebody did.
        command: What it was.
        note: What is noted with it.
        added: Lines; `None` where that is not known.
        removed: Lines.
        is_one: Whether it changed one path.
    """

    seq: int
    at_us: int
    actor: Actor
    command: str
    note: str
    added: int | None
    removed: int | None
    is_one: bool

    @property
    def session(self) -> str | None:
        """In which conversation."""
        return self.actor.session if isinstance(self.actor, Agent) else None


@dataclass(slots=True)
class Followed:
    """What became of everything in a span of the record.

    Attributes:
        after: The number of the event after which it begins.
        until: The number of the last one.
        things: What was touched, in the order in which that was.
        deeds: By number, the events that changed something.
        claims: Who said later, by the number of the event that is theirs.
    """

    after: int
    until: int
    things: list[Thing] = field(default_factory=list)
    deeds: dict[int, Deed] = field(default_factory=dict)
    claims: dict[int, Actor] = field(default_factory=dict)
    _names: dict[Actor, str] = field(default_factory=dict)

    def name_of(self, actor: Actor) -> str:
        """An actor as shown: few of them do very much."""
        name = self._names.get(actor)
        if name is None:
            name = self._names[actor] = shown_name(actor)
        return name


def follow(observer: Observer, after: int) -> Followed:
    """Follow everything from right after an event until now.

    Args:
        observer: The memory.
        after: The event's number; 0 for the record's beginning. What memtui found when it first looked stood there
            before.
    """
    until = observer.head()[0]
    followed = Followed(after, until)
    tracks = _Tracks(observer, followed, int(observer.note(FOUND_UNTIL) or until))
    for seq, body in bodies(observer, after, until):
        try:
            if b'"changes":' in body:
                tracks.take(seq, body)
            elif b'"claimed"' in body:
                _claim(json.loads(body), followed.claims)
        except UNREADABLE:
            continue
    for seq, actor in followed.claims.items():
        if seq in followed.deeds:
            followed.deeds[seq] = followed.deeds[seq]._replace(actor=actor)
    return followed


@contextmanager
def few_collections() -> Iterator[None]:
    """For the time of a pass over a long record: a million values are made and all of them are kept.

    Python's collector would look at them again and again, which took half of the time of an inbox of 100,000 events.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def bodies(observer: Observer, after: int, until: int) -> Iterator[tuple[int, bytes]]:
    """The canonical bytes of events, in order: `(number, body)`."""
    while after < until:
        page = observer.history.bodies(after, limit=min(_PAGE, until - after))
        yield from (each for each in page if isinstance(each[1], bytes))
        if not page:
            return
        after = page[-1][0]


def events_of(observer: Observer, after: int, until: int, wanted: set[int]) -> dict[int, Event]:
    """Some events by number, without the texts of their answers; in one pass, since there may be many."""
    found: dict[int, Event] = {}
    for seq, body in bodies(observer, after, until):
        if seq in wanted:
            with suppress(*UNREADABLE):
                found[seq] = decode(body, answer=None, arguments=None, hash=b"")
    return found


def key_of(version: Version | None) -> str:
    """What a mark says of a version: its SHA-256; empty for nothing. What has none is told by kind and size."""
    if version is None:
        return ""
    if version.sha256 is None or version.kind is not Kind.FILE:
        return f"{version.kind.value}:{version.sha256 or version.size}"
    return version.sha256


class _Tracks:
    """Where everything is that was followed so far."""

    def __init__(self, observer: Observer, followed: Followed, found_until: int) -> None:
        self._observer = observer
        self._followed = followed
        self._found_until = found_until
        self._touched_before: set[str] | None = None
        self._at: dict[str, Thing] = {}
        """What stands at a path, or stood there last."""
        self._gone: dict[str, Thing] = {}
        """What is gone from a path that something else has come to since."""
        self._versions: dict[tuple[Any, ...], Version] = {}

    def take(self, seq: int, body: bytes) -> None:
        """Take in an event that changed something."""
        record: Mapping[str, Any] = json.loads(body)
        command = record.get("command", "")
        changes = [(path, self._version(before), self._version(after)) for path, before, after in record["changes"]]
        if command == _FOUND and seq <= self._found_until:
            for path, before, after in changes:
                self._find(seq, path, before, after)
            return
        self._followed.deeds[seq] = Deed(
            seq,
            record["at_us"],
            decoded_actor(record["actor"]),
            command,
            record.get("note", ""),
            record.get("added"),
            record.get("removed"),
            len(changes) == 1,
        )
        if record.get("moved") or record.get("new_path") is not None:
            self._move(seq, decode(body, answer=None, arguments=None, hash=b""))
        else:
            for path, before, after in changes:
                self._change(seq, path, before, after)

    def _find(self, seq: int, path: str, before: Version | None, after: Version | None) -> None:
        """Something stood there before, unless the record knew it as something else."""
        if path in self._at or before is not None or after is None or self._was_touched(path):
            self._change(seq, path, before, after)
        else:
            self._begin(path, after)

    def _was_touched(self, path: str) -> bool:
        if self._touched_before is None:
            after = self._followed.after
            self._touched_before = self._observer.journal.touched_until(after) if after else set()
        return path in self._touched_before

    def _change(self, seq: int, path: str, before: Version | None, after: Version | None) -> None:
        thing = self._at.get(path)
        if thing is None:
            if before is None and path in self._gone:
                self._at[path] = thing = self._gone.pop(path)
            else:
                thing = self._begin(path, before)
        thing.steps.append(Step(seq, path, after))

    def _move(self, seq: int, event: Event) -> None:
        moved = moves(event)
        changes = {change.path: change for change in net(event.changes)}
        came_from = set(moved.values())
        lifted: dict[str, Thing] = {}
        for new, old in moved.items():
            stood = changes[old].before if old in changes else changes[new].after
            thing = self._at.pop(old) if old in self._at else self._begin(old, stood, is_placed=False)
            lifted[new] = thing
        for change in changes.values():
            if change.path in came_from:
                if change.after is not None and change.path not in moved:
                    self._change(seq, change.path, None, change.after)  # something new has come to its name
            elif change.path not in moved:
                self._change(seq, change.path, change.before, change.after)
            elif change.before is not None:
                self._change(seq, change.path, change.before, None)  # what stood there is replaced
        for new, thing in lifted.items():
            if (other := self._at.get(new)) is not None:
                self._gone[new] = other
            thing.steps.append(Step(seq, new, changes[new].after))
            self._at[new] = thing

    def _begin(self, path: str, version: Version | None, *, is_placed: bool = True) -> Thing:
        thing = Thing([Step(self._followed.after, path, version)])
        self._followed.things.append(thing)
        if is_placed:
            self._at[path] = thing
        return thing

    def _version(self, record: list[Any] | None) -> Version | None:
        """The same version, the same object: a span names each of them again and again."""
        if record is None:
            return None
        key = tuple(record)
        found = self._versions.get(key)
        if found is None:
            found = self._versions[key] = Version(_KINDS[record[0]], record[1], record[2])
        return found


def _claim(record: Mapping[str, Any], claims: dict[int, Actor]) -> None:
    """Note who says that an earlier event was theirs."""
    found = _CLAIM.match(record.get("note", ""))
    if record.get("command") == _CLAIMED and found is not None:
        claims[int(found[1])] = decoded_actor(record["actor"])
