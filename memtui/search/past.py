"""Every version that the journal keeps, and when and by whom each line of them that matches came and went."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from memtui.core.events import Event
from memtui.core.events import sha256 as hashed
from memtui.engine.history import History
from memtui.search.differences import Differences
from memtui.search.filters import Filters
from memtui.search.former import FormerNames
from memtui.search.found import PastFound, PastHit
from memtui.search.lines import line_hit
from memtui.search.record import Record, Thing, version_of
from memtui.search.shelf import Shelf
from memtui.search.stays import Matching, Stay, stays
from memtui.search.stopping import Stop, never, unless_stopped
from memtui.search.wanted import Text, Wanted, is_text

_ROOM = 96 << 20
"""Bytes that the texts of versions may take in memory."""
_COUNTED = 1_000
"""Lines that are all counted; of more, it is said that there are at least so many."""
_A_FEW = 250
"""Lines of the past that are looked for in the notes of now at first; then twice as many, and so on."""
_AT_ONCE, _BYTES_AT_ONCE = 200, 1 << 20
"""Texts that are read from the journal at a time, and about how many bytes: nobody is answered meanwhile."""


class News(NamedTuple):
    """What some events were about.

    Attributes:
        paths: What they changed.
        forgotten: Whether texts were removed from the record.
    """

    paths: set[str]
    forgotten: bool


class Past:
    """The versions of all notes. Not for several threads at once.

    Args:
        history: Where the texts are.
        current: Tells what stands at a path now, as far as it was read: a text that a version shares is held once.
        room: Bytes that they may take in memory.

    Attributes:
        record: The events as search needs them.
    """

    def __init__(self, history: History, *, current: Callable[[str], Text | None], room: int = _ROOM) -> None:
        self.record = Record()
        self._history = history
        self._current = current
        self._shelf = Shelf(self._read, room=room)
        self._differences = Differences(self._shelf.get)
        self._waiting: dict[str, None] = {}
        self._at_once = 8
        self._pairs: dict[tuple[str, str], None] = {}
        """Versions, one behind the other, that are still to be compared."""
        self._gone: set[str] = set()
        self._events: dict[int, Event] = {}
        self._former = FormerNames(self.record)

    @property
    def is_complete(self) -> bool:
        """Whether the texts of all versions that are known of have been read."""
        return not self._waiting

    def take_in(self, bodies: Iterable[tuple[int, bytes]]) -> News:
        """Take in events, in order.

        Args:
            bodies: Their numbers and canonical bytes.
        """
        changed: set[str] = set()
        forgotten = False
        for seq, body in bodies:
            taken = self.record.take_in(seq, body, self._history)
            changed.update(taken.paths)
            forgotten = forgotten or bool(taken.removed)
            self._pairs.update(dict.fromkeys(self._pairs_of(taken.paths)))
            for sha256 in taken.removed:
                self._forget(sha256)
            for sha256 in taken.texts:
                if sha256 not in self._shelf:
                    self._gone.discard(sha256)  # it was brought back
                    self._waiting[sha256] = None
        return News(changed, forgotten)

    def read_some(self) -> bool:
        """Read a few of the texts that were not read yet, the newest first, and then compare a few of them; returns
        whether there was anything to do.
        """
        some = [self._waiting.popitem()[0] for _ in range(min(self._at_once, len(self._waiting)))]
        if not some:
            pairs = [self._pairs.popitem()[0] for _ in range(min(self._at_once, len(self._pairs)))]
            for old, new in pairs:
                self._differences.between(old, new)
            return bool(pairs)
        here = {sha256: text for sha256 in some if (text := self._shared(sha256)) is not None}
        texts = self._history.texts([sha256 for sha256 in some if sha256 not in here])
        size = sum(map(len, texts.values()))
        self._at_once = max(1, min(_AT_ONCE, _BYTES_AT_ONCE * max(1, len(texts)) // max(1, size)))
        for sha256 in some:
            if sha256 in here:
                self._shelf.put(sha256, here[sha256])
            elif (data := texts.get(sha256)) is not None:
                self._shelf.put(sha256, Text(data if is_text(data) else b""))
            else:
                self._gone.add(sha256)
        return True

    def find(
        self,
        wanted: Wanted,
        filters: Filters,
        *,
        accept_path: Callable[[str], bool] = lambda _: True,
        accept_text: Callable[[str, Text], bool] | None = None,
        standing: Callable[[set[bytes]], set[bytes]] | None = None,
        limit: int = 200,
        whole_lines: bool = False,
        stop: Stop = never,
    ) -> PastFound:
        """The lines of all versions that match, and the names that nothing has any more.

        Args:
            wanted: What is looked for.
            filters: Who brought a line or took it away, and when.
            accept_path: Whether a thing of this name is looked at.
            accept_text: Whether a version with this text is, under this name; `None` for all.
            standing: Tells which of some lines still stand in some note; those are left out, and with them those that
                never went. `None` to leave out none.
            limit: Lines that are brought; the others are counted.
            whole_lines: Whether long ones are not cut.
            stop: Asked now and then whether to give up.

        Raises:
            Stopped: It was given up.
        """
        looked = len(self._shelf)
        gone = len(self._gone) + self.record.never_kept
        of = looked + len(self._waiting)
        names, total_names = self._former.find(
            wanted.query, filters, accept_path=accept_path, event=self._event, limit=limit, stop=stop
        )
        if not wanted.looks_for_something:
            return PastFound(looked=looked, of=of, gone_texts=gone)
        matching = Matching(self._shelf, self._shelf.holding(wanted, stop), wanted, self._differences)

        def passes(stay: Stay) -> bool:
            if not (accept_path(stay.thing.path) or accept_path(stay.came.path)) or not _in_time(stay, filters):
                return False
            return accept_text is None or accept_text(stay.came.path, matching.text(str(stay.came.sha256)))

        things = self._things(matching.hashes)
        if standing is not None:
            things = [thing for thing in things if len(thing.steps) > 1 or not thing.stands]  # of others nothing went
        best: list[Stay] = []
        found = filter(passes, unless_stopped(stays(things, matching, only_gone=standing is not None), stop))
        enough = max(limit, _COUNTED)
        while len(best) < enough and (some := list(islice(found, max(_A_FEW, len(best))))):
            still = set() if standing is None else standing({stay.line for stay in some})
            best += [stay for stay in some if stay.line not in still]
        is_cut = len(best) >= enough and next(found, None) is not None
        newest = sorted(best[:limit], key=lambda stay: (-stay.last, stay.went is None, stay.came.path, stay.number))
        hits = tuple(self._hit(stay, wanted, whole=whole_lines) for stay in unless_stopped(newest, stop, every=8))
        return PastFound(hits, len(best), is_cut, looked, of, gone, names, total_names)

    def _things(self, hashes: Iterable[str]) -> list[Thing]:
        """The things that ever held one of these texts."""
        holders = self.record.holders
        return list({id(thing): thing for sha256 in hashes for thing in holders.get(sha256, ())}.values())

    def _pairs_of(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """What stands at some paths, by its SHA-256, with what stood there before."""
        for path in paths:
            thing = self.record.at(path)
            if thing is not None and len(thing.steps) > 1:
                old, new = thing.steps[-2].sha256, thing.steps[-1].sha256
                if old and new and old != new:
                    yield old, new

    def _shared(self, sha256: str) -> Text | None:
        """The text of a version that stands somewhere now; `None` if none does, or was not read."""
        for thing in self.record.holders.get(sha256, ()):
            if thing.stands and thing.steps[-1].sha256 == sha256:
                text = self._current(thing.path)
                if text is not None and len(text.data) == thing.steps[-1].size and hashed(text.data) == sha256:
                    return text
        return None

    def _hit(self, stay: Stay, wanted: Wanted, *, whole: bool) -> PastHit:
        line = line_hit(stay.number, stay.line.decode("utf-8", "replace"), wanted, whole=whole)
        went = None if stay.went is None else self._event(stay.went.seq)
        now = stay.thing.path if stay.thing.stands else None
        return PastHit(stay.came.path, line, version_of(stay.came), self._event(stay.came.seq), went, now)

    def _event(self, seq: int) -> Event:
        event = self._events.get(seq)
        if event is None:
            event = self._history.event(seq)
            assert event is not None
            if len(self._events) >= 4_096:
                self._events.clear()
            self._events[seq] = event
        return event

    def _read(self, sha256: str) -> bytes | None:
        return self._history.texts([sha256]).get(sha256)

    def _forget(self, sha256: str) -> None:
        """A text was removed from the record: it is shown no more."""
        if sha256 in self._shelf or sha256 in self._waiting:
            self._shelf.remove(sha256)
            self._differences.forget()
            self._waiting.pop(sha256, None)
            self._gone.add(sha256)


def _in_time(stay: Stay, filters: Filters) -> bool:
    """Whether a line was brought or taken away by the right ones at the right time."""
    if not (filters.concerns_actors or filters.concerns_time):
        return True
    ends = (stay.came,) if stay.went is None else (stay.came, stay.went)
    if filters.concerns_actors and not filters.takes_actors({end.who for end in ends}):
        return False
    return not filters.concerns_time or any(filters.takes_event(end.seq, end.at_us) for end in ends)
