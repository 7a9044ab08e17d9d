"""The things of a folder followed through a span of its record: under which names, and with which texts.

A path is not a thing: what is renamed stays what it was, what is deleted may come back, and another thing may get its
name meanwhile. Whoever judges a change has to know which of these it is. One pass over the events tells all of it.
"""

import gc
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from memtui.audit.deeds import Deed, Step
from memtui.core.actors import shown_name
from memtui.core.changes import net
from memtui.core.events import Actor, Event, Version
from memtui.core.snapshot import Kind
from memtui.engine import Observer
from memtui.engine.history import FOUND_UNTIL, moves
from memtui.journal.chain import decode, decoded_actor

_PAGE = 10_000
_DECODER = json.JSONDecoder()
_KINDS = {kind.value: kind for kind in Kind}
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError)
"""What comes of an event that somebody wrote over. It is passed over: that the chain is broken is told elsewhere."""
_FOUND = "found"
_CLAIMED = "claimed"
_CLAIM = re.compile("#([0-9]{1,18}) ")
"""How the note begins of an event that says whose an earlier one was."""


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
        return max(bisect_right(self.steps, seq, key=attrgetter("seq")) - 1, 0)


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
                _claim(record_of(body), followed.claims)
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


def record_of(body: bytes) -> dict[str, Any]:
    """The fields of an event by its canonical bytes; in half the time of `json.loads`, which looks for encodings.

    Raises:
        ValueError: They are no JSON.
    """
    text = body.decode("ascii")
    record, end = _DECODER.raw_decode(text)
    if end != len(text):
        raise ValueError("more than an event")
    return record  # type: ignore[no-any-return]


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
        self._names: dict[int, set[str]] = {}
        """Of things that were renamed, all that they were called."""
        self._renamed_and_gone: dict[str, Thing] = {}
        """By the names that they had before: things that went under other ones."""
        self._versions: dict[tuple[Any, ...], Version] = {}
        self._actors: dict[tuple[Any, ...], Actor] = {}

    def take(self, seq: int, body: bytes) -> None:
        """Take in an event that changed something."""
        record = record_of(body)
        command = record.get("command", "")
        changes = [(path, self._version(before), self._version(after)) for path, before, after in record["changes"]]
        if command == _FOUND and seq <= self._found_until:
            changes = [change for change in changes if not self._find(*change)]
            if not changes:
                return
        self._followed.deeds[seq] = Deed(
            seq,
            record["at_us"],
            self._actor(record["actor"]),
            command,
            record.get("note", ""),
            record.get("added"),
            record.get("removed"),
            len(changes) == 1,
        )
        if record.get("moved") or record.get("new_path") is not None:
            self._move(seq, decode(body, answer=None, arguments=None, hash=b""))
        else:
            # What goes is gone before anything comes, so that it is known again under another name.
            for path, before, after in sorted(changes, key=_comes) if len(changes) > 1 else changes:
                self._change(seq, path, before, after)

    def _find(self, path: str, before: Version | None, after: Version | None) -> bool:
        """Whether something stood there before; the record may have known it as something else."""
        if path in self._at or before is not None or after is None or self._was_touched(path):
            return False
        self._begin(path, after)
        return True

    def _was_touched(self, path: str) -> bool:
        if self._touched_before is None:
            after = self._followed.after
            self._touched_before = self._observer.journal.touched_until(after) if after else set()
        return path in self._touched_before

    def _change(self, seq: int, path: str, before: Version | None, after: Version | None) -> None:
        thing = self._at.get(path)
        if thing is not None and not _is_alike(thing, after):
            self._leave(seq, path, thing)
            thing, before = None, None
        if thing is None:
            thing = self._back(path, after) if before is None else None
            if thing is None:
                thing = self._begin(path, before)
            self._at[path] = thing
        if thing.now.name != path:
            self._names.setdefault(id(thing), {thing.now.name}).add(path)
        thing.steps.append(Step(seq, path, after))
        if after is None and thing.steps[0].version is not None:
            self._renamed_and_gone |= dict.fromkeys(self._names.get(id(thing), set()) - {path}, thing)

    def _back(self, path: str, after: Version | None) -> Thing | None:
        """What comes back to a path: what was there last, or was called so once and is gone; `None` for neither."""
        for places in (self._gone, self._renamed_and_gone):
            thing = places.get(path)
            if thing is not None and thing.now.version is None and _is_alike(thing, after):
                del places[path]
                if self._at.get(thing.now.name) is thing:
                    del self._at[thing.now.name]
                return thing
        return None

    def _leave(self, seq: int, path: str, thing: Thing) -> None:
        """Something of another kind comes to where a thing stands, or stood last."""
        if thing.now.version is not None:
            thing.steps.append(Step(seq, path, None))
        self._gone[path] = thing

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
            self._names.setdefault(id(thing), {thing.now.name}).add(new)
            thing.steps.append(Step(seq, new, changes[new].after))
            self._at[new] = thing

    def _begin(self, path: str, version: Version | None, *, is_placed: bool = True) -> Thing:
        thing = Thing([Step(self._followed.after, path, version)])
        self._followed.things.append(thing)
        if is_placed:
            self._at[path] = thing
        return thing

    def _actor(self, record: list[Any]) -> Actor:
        key = tuple(record)
        found = self._actors.get(key)
        if found is None:
            found = self._actors[key] = decoded_actor(record)
        return found

    def _version(self, record: list[Any] | None) -> Version | None:
        """The same version, the same object: a span names each of them again and again."""
        if record is None:
            return None
        key = tuple(record)
        found = self._versions.get(key)
        if found is None:
            found = self._versions[key] = Version(_KINDS[record[0]], record[1], record[2])
        return found


def _comes(change: tuple[str, Version | None, Version | None]) -> bool:
    return change[2] is not None


def _is_alike(thing: Thing, version: Version | None) -> bool:
    """Whether a version may be one of a thing: no file becomes a directory."""
    known = thing.now.version or (thing.steps[-2].version if len(thing.steps) > 1 else None)
    return known is None or version is None or (known.kind is Kind.DIRECTORY) is (version.kind is Kind.DIRECTORY)


def _claim(record: Mapping[str, Any], claims: dict[int, Actor]) -> None:
    """Note who says that an earlier event was theirs."""
    found = _CLAIM.match(record.get("note", ""))
    if record.get("command") == _CLAIMED and found is not None:
        claims[int(found[1])] = decoded_actor(record["actor"])
