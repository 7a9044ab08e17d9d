"""One of the two places that a mirror keeps equal: what stands there, and what its record says of it."""

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from memtui.core.events import Event, Version
from memtui.engine import Engine
from memtui.engine.lineage import find_moves
from memtui.journal.chain import decode_changes
from memtui.journal.record import KnownPath

_EVENTS_BACK = 50
"""Events of one path that are looked through for where it comes from."""
_KEPT_EVENTS = 64


class PathEvent(NamedTuple):
    """An event, and what it left at a path."""

    event: Event
    after: Version | None


class Side:
    """See above.

    Args:
        name: `folder` or `source`.
        title: What it is called in the other one's log.
        signer: The only agent that may be named as who did something here; `None` where anybody may.
    """

    def __init__(self, name: str, engine: Engine, title: str, *, signer: str | None = None) -> None:
        self.name = name
        self.engine = engine
        self.title = title
        self.signer = signer
        self.head = engine.get_head()
        """The record's head at the last look."""
        self.is_replaced = False
        """Whether its record is another one than the last time: that something is not there says nothing."""
        self._looked: int | None = None
        self._events: dict[int, _EventChanges] = {}

    def look(self) -> set[str]:
        """The paths that changed since the last look; the first time all that stand here."""
        self.head = self.engine.get_head()
        looked, self._looked = self._looked, self.head[0]
        if looked is None:
            return set(self.engine.journal.get_known_below(""))
        bodies = self.engine.journal.iter_bodies(looked, self.head[0])
        return {path for _, body in bodies for path, _, _ in decode_changes(body)}

    def get(self, path: str) -> Version | None:
        known: KnownPath | None = self.engine.journal.get_known(path)
        return known.version if known is not None else None

    def read_all(self) -> Callable[[str], Version | None]:
        """Reads all at once that `get` is asked for; as of now."""
        known = self.engine.journal.get_known_below("")
        return lambda path: known[path].version if path in known else None

    def get_text(self, version: Version) -> bytes | None:
        return self.engine.history.text(version)

    def get_events(self, path: str, after: int) -> list[PathEvent]:
        """The events behind a number that changed a path, in order."""
        seqs = [seq for seq in self.engine.journal.get_touching_seqs(path) if seq > after]
        return [found for seq in seqs if (found := self._get_path_event(path, seq)) is not None]

    def get_last_event(self, path: str) -> PathEvent | None:
        """The last event that changed a path."""
        seqs = self.engine.journal.get_touching_seqs(path)
        return self._get_path_event(path, seqs[-1]) if seqs else None

    def iter_origins(self, path: str) -> Iterator[tuple[str, Event]]:
        """The names that what stands at a path had before, the last one first, and by which event each went."""
        before: int | None = None
        for _ in range(_EVENTS_BACK):
            if (found := self._find_move_to(path, before)) is None:
                return
            path, event = found
            before = event.seq
            yield path, event

    def get_version_at(self, path: str, seq: int) -> Version | None:
        return self.engine.history.get_version_at(path, seq)

    def iter_versions(self, path: str) -> Iterator[Version]:
        """The versions that stood at a path, the newest first."""
        for found in reversed(self.get_events(path, 0)):
            if found.after is not None:
                yield found.after

    def _find_move_to(self, path: str, before: int | None) -> tuple[str, Event] | None:
        seqs: Sequence[int] = self.engine.journal.get_touching_seqs(path)
        for seq in [seq for seq in reversed(seqs) if before is None or seq < before][:_EVENTS_BACK]:
            done = self._get_event(seq)
            if done is None or path in done.moves:
                return (done.moves[path], done.event) if done is not None else None
            if path in done.created:
                return None
        return None

    def _get_path_event(self, path: str, seq: int) -> PathEvent | None:
        done = self._get_event(seq)
        return PathEvent(done.event, done.after[path]) if done is not None and path in done.after else None

    def _get_event(self, seq: int) -> "_EventChanges | None":
        """An event, of which the last ones are kept: a large one is asked for by each of its paths."""
        if (kept := self._events.get(seq)) is None:
            event = self.engine.journal.get_event(seq)
            if event is None:
                return None
            kept = self._events[seq] = _EventChanges(
                event,
                find_moves(event),
                {change.path: change.after for change in event.changes},
                {change.path for change in event.changes if change.before is None},
            )
            if len(self._events) > _KEPT_EVENTS:
                self._events.pop(next(iter(self._events)))
        return kept


class _EventChanges(NamedTuple):
    """What an event did, by path."""

    event: Event
    moves: Mapping[str, str]
    after: Mapping[str, Version | None]
    created: Set[str]


def make_title(shown: str) -> str:
    """A place as the other side's log names it: a folder and a file with the name of this machine."""
    return shown if "://" in shown else f"{socket.gethostname()}:{shown}"
