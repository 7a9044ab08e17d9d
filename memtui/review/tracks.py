"""Tracks: each file and directory followed through a span of the journal, with its names and texts.

A path is not a thing: what is renamed stays what it was, what is deleted may come back, and another thing may get its
name meanwhile. Whoever judges a change has to know which of these it is. One pass over the events tells all of it.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import field
from operator import attrgetter
from typing import Any

from memtui.core.events import Actor, EntryKind, Event, Version, format_actor_name, squash_changes
from memtui.core.guards import FOUND_UNTIL
from memtui.core.lazy_dataclass import dataclass
from memtui.engine import Observer
from memtui.engine.lineage import find_moves
from memtui.journal.chain import decode_actor, decode_event, decode_version
from memtui.review.inbox import TrackedEvent, TrackStep

_PAGE = 10_000
_DECODER = json.JSONDecoder()
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError)
"""What comes of an event that somebody wrote over. It is passed over: that the chain is broken is told elsewhere."""
_FOUND = "found"
_CLAIMED = "claimed"
_CLAIM = re.compile("#([0-9]{1,18}) ")  # how the note begins of an event that says whose an earlier one was


@dataclass(slots=True)
class PathTrack:
    """A file, a link or a directory."""

    steps: list[TrackStep]

    @property
    def current(self) -> TrackStep:
        """What it is."""
        return self.steps[-1]

    @property
    def names(self) -> set[str]:
        """What it was called within the span."""
        return {step.name for step in self.steps}

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory, and was nothing else before."""
        return all(step.version is None or step.version.kind is EntryKind.DIRECTORY for step in self.steps)

    def find_step_index(self, seq: int) -> int:
        """The position of the last step up to an event."""
        return max(bisect_right(self.steps, seq, key=attrgetter("seq")) - 1, 0)


@dataclass(slots=True)
class PathTracks:
    """What became of everything in a span of the record."""

    after: int  # the number of the event after which it begins
    until: int
    tracks: list[PathTrack] = field(default_factory=list)
    events: dict[int, TrackedEvent] = field(default_factory=dict)
    claims: dict[int, Actor] = field(default_factory=dict)  # the claimant, by the number of the claimed event
    _names: dict[Actor, str] = field(default_factory=dict)

    def get_actor_name(self, actor: Actor) -> str:
        """An actor as shown: few of them do very much."""
        name = self._names.get(actor)
        if name is None:
            name = self._names[actor] = format_actor_name(actor)
        return name


def track_paths(observer: Observer, after: int, until: int | None = None) -> PathTracks:
    """Follow everything from right after an event until now.

    Args:
        after: The event's number; 0 for the journal's beginning. Files of the first look existed before.
        until: The number of the last event, if not now.
    """
    until = observer.get_head()[0] if until is None else until
    followed = PathTracks(after, until)
    tracks = _PathTracker(observer, followed, int(observer.get_metadata(FOUND_UNTIL) or until))
    for seq, body in iter_event_bodies(observer, after, until):
        try:
            if b'"changes":' in body:
                tracks.add_event(seq, body)
            elif b'"claimed"' in body:
                _claim(parse_event_body(body), followed.claims)
        except UNREADABLE:
            continue
    for seq, actor in followed.claims.items():
        if seq in followed.events:
            followed.events[seq] = followed.events[seq]._replace(actor=actor)
    return followed


def iter_event_bodies(observer: Observer, after: int, until: int | None = None) -> Iterator[tuple[int, bytes]]:
    """The canonical bytes of events after one and up to another, by default the last: `(number, body)`."""
    until = observer.get_head()[0] if until is None else until
    while after < until:
        page = observer.history.iter_bodies(after, limit=min(_PAGE, until - after))
        yield from (each for each in page if isinstance(each[1], bytes))
        if not page:
            return
        after = page[-1][0]


def parse_event_body(body: bytes) -> dict[str, Any]:
    """The fields of an event by its canonical bytes; in half the time of `json.loads`, which looks for encodings.

    Raises:
        ValueError: They are no JSON.
    """
    text = body.decode("ascii")
    record, end = _DECODER.raw_decode(text)
    if end != len(text):
        raise ValueError("more than an event")
    return record  # type: ignore[no-any-return]


def get_version_key(version: Version | None) -> str:
    """The key of a version in a mark: its SHA-256, or its kind and size; empty for no version."""
    if version is None:
        return ""
    if version.sha256 is None or version.kind is not EntryKind.FILE:
        return f"{version.kind.value}:{version.sha256 or version.size}"
    return version.sha256


class _PathTracker:
    """Where everything is that was followed so far."""

    def __init__(self, observer: Observer, followed: PathTracks, found_until: int) -> None:
        self._observer = observer
        self._followed = followed
        self._found_until = found_until
        self._touched_before: set[str] | None = None
        self._at: dict[str, PathTrack] = {}
        """What stands at a path, or stood there last."""
        self._gone: dict[str, PathTrack] = {}
        """What is gone from a path that something else has come to since."""
        self._names: dict[int, set[str]] = {}
        """Of things that were renamed, all that they were called."""
        self._renamed_and_gone: dict[str, PathTrack] = {}
        """By the names that they had before: things that went under other ones."""
        self._versions: dict[tuple[Any, ...], Version | None] = {}
        self._actors: dict[tuple[Any, ...], Actor] = {}

    def add_event(self, seq: int, body: bytes) -> None:
        """Take in an event that changed something."""
        record = parse_event_body(body)
        command = record.get("command", "")
        changes = [
            (path, self._intern_version(before), self._intern_version(after))
            for path, before, after in record["changes"]
        ]
        if command == _FOUND and seq <= self._found_until:
            changes = [change for change in changes if not self._find(*change)]
            if not changes:
                return
        self._followed.events[seq] = TrackedEvent(
            seq,
            record["at_us"],
            self._intern_actor(record["actor"]),
            command,
            record.get("note", ""),
            record.get("added"),
            record.get("removed"),
            len(changes) == 1,
        )
        event = None
        if record.get("moved") or record.get("new_path") is not None:
            event = decode_event(body, answer=None, arguments=None, hash=b"")
            read = self._observer.history.read_event(event)
            event = event if read is not None and read.new_path == event.new_path else None
        if event is not None:
            self._apply_move(seq, event)
        else:
            # What goes is gone before anything comes, so that it is known again under another name.
            for path, before, after in sorted(changes, key=lambda change: change[2] is not None):
                self._apply_change(seq, path, before, after)

    def _find(self, path: str, before: Version | None, after: Version | None) -> bool:
        """Whether something stood there before; the record may have known it as something else."""
        if path in self._at or before is not None or after is None or self._was_touched(path):
            return False
        self._start_track(path, after)
        return True

    def _was_touched(self, path: str) -> bool:
        if self._touched_before is None:
            after = self._followed.after
            self._touched_before = set(self._observer.journal.get_touched_paths(after)) if after else set()
        return path in self._touched_before

    def _apply_change(self, seq: int, path: str, before: Version | None, after: Version | None) -> None:
        thing = self._at.get(path)
        if thing is not None and not _is_alike(thing, after):
            self._end_track(seq, path, thing)
            thing, before = None, None
        if thing is None:
            thing = self._find_returning(path, after) if before is None else None
            if thing is None:
                thing = self._start_track(path, before)
            self._at[path] = thing
        if thing.current.name != path:
            self._names.setdefault(id(thing), {thing.current.name}).add(path)
        thing.steps.append(TrackStep(seq, path, after))
        if after is None and thing.steps[0].version is not None:
            self._renamed_and_gone |= dict.fromkeys(self._names.get(id(thing), set()) - {path}, thing)

    def _find_returning(self, path: str, after: Version | None) -> PathTrack | None:
        """What comes back to a path: what was there last, or was called so once and is gone; `None` for neither."""
        for places in (self._gone, self._renamed_and_gone):
            thing = places.get(path)
            if thing is not None and thing.current.version is None and _is_alike(thing, after):
                del places[path]
                if self._at.get(thing.current.name) is thing:
                    del self._at[thing.current.name]
                return thing
        return None

    def _end_track(self, seq: int, path: str, thing: PathTrack) -> None:
        """Something of another kind comes to where a thing stands, or stood last."""
        if thing.current.version is not None:
            thing.steps.append(TrackStep(seq, path, None))
        self._gone[path] = thing

    def _apply_move(self, seq: int, event: Event) -> None:
        moved = find_moves(event)
        changes = {change.path: change for change in squash_changes(event.changes)}
        came_from = set(moved.values())
        lifted: dict[str, PathTrack] = {}
        for new, old in moved.items():
            stood = changes[old].before if old in changes else changes[new].after
            thing = self._at.pop(old) if old in self._at else self._start_track(old, stood, is_placed=False)
            lifted[new] = thing
        for change in changes.values():
            if change.path in came_from:
                if change.after is not None and change.path not in moved:
                    self._apply_change(seq, change.path, None, change.after)  # something new has come to its name
            elif change.path not in moved:
                self._apply_change(seq, change.path, change.before, change.after)
            elif change.before is not None:
                self._apply_change(seq, change.path, change.before, None)  # what stood there is replaced
        for new, thing in lifted.items():
            if (other := self._at.get(new)) is not None:
                self._gone[new] = other
            self._names.setdefault(id(thing), {thing.current.name}).add(new)
            thing.steps.append(TrackStep(seq, new, changes[new].after))
            self._at[new] = thing

    def _start_track(self, path: str, version: Version | None, *, is_placed: bool = True) -> PathTrack:
        thing = PathTrack([TrackStep(self._followed.after, path, version)])
        self._followed.tracks.append(thing)
        if is_placed:
            self._at[path] = thing
        return thing

    def _intern_actor(self, record: list[Any]) -> Actor:
        key = tuple(record)
        found = self._actors.get(key)
        if found is None:
            found = self._actors[key] = decode_actor(record)
        return found

    def _intern_version(self, record: list[Any] | None) -> Version | None:
        """The same version, the same object: a span names each of them again and again."""
        if record is None:
            return None
        key = tuple(record)
        found = self._versions.get(key)
        if found is None:
            found = self._versions[key] = decode_version(record)
        return found


def _is_alike(thing: PathTrack, version: Version | None) -> bool:
    """Whether a version may be one of a thing: no file becomes a directory."""
    known = thing.current.version or (thing.steps[-2].version if len(thing.steps) > 1 else None)
    return (
        known is None or version is None or (known.kind is EntryKind.DIRECTORY) is (version.kind is EntryKind.DIRECTORY)
    )


def _claim(record: Mapping[str, Any], claims: dict[int, Actor]) -> None:
    """Note who says that an earlier event was theirs."""
    found = _CLAIM.match(record.get("note", ""))
    if record.get("command") == _CLAIMED and found is not None:
        claims[int(found[1])] = decode_actor(record["actor"])
