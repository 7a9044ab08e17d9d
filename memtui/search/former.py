"""What memories were called once: names of notes that are deleted, and names from before they were renamed."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from memtui.core.events import Event, Version
from memtui.search.filters import Filters
from memtui.search.found import FormerName
from memtui.search.names import Names
from memtui.search.query import Query
from memtui.search.record import NOTHING, Record, Step, Thing, version_of
from memtui.search.stopping import Stop


class _Called(NamedTuple):
    """A note while it was called something that it is not called now."""

    thing: Thing
    last: Step
    """The last step under the name that left a text."""
    ended: Step
    """The step that took the name away."""

    @property
    def version(self) -> Version:
        return version_of(self.last)


class FormerNames:
    """The names that stand nowhere any more. Not for several threads at once.

    Args:
        record: What there ever was.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self._seq = -1
        self._called: dict[str, _Called] = {}
        self._names = Names(())

    def find(
        self,
        query: Query,
        filters: Filters,
        *,
        accept_path: Callable[[str], bool],
        event: Callable[[int], Event],
        limit: int,
        stop: Stop,
    ) -> tuple[tuple[FormerName, ...], int]:
        """The names that hold all that was typed, best first, and how many there are.

        Args:
            query: What is looked for.
            filters: Who wrote the note or took its name away, and when.
            accept_path: Whether a name is looked at.
            event: Gives an event by its number.
            limit: Names that are brought; the others are counted.
            stop: Asked now and then whether to give up.

        Raises:
            Stopped: It was given up.
        """
        if not query.looks_for_something or filters.concerns_text:
            return (), 0
        self._take_in()

        def accept(path: str) -> bool:
            return accept_path(path) and _passes(self._called[path], filters)

        found = self._names.find(
            query, limit=limit, recency=lambda path: self._called[path].ended.at_us, accept=accept, stop=stop
        )
        return tuple(self._former(hit.path, hit.spans, event) for hit in found.hits), found.total

    def _take_in(self) -> None:
        if self._seq == self._record.seq:
            return
        called: dict[str, _Called] = {}
        for thing in self._record.things:
            for each in _called(thing):
                here = self._record.at(each.last.path)
                known = called.get(each.last.path)
                if (here is None or not here.stands) and (known is None or known.ended.seq < each.ended.seq):
                    called[each.last.path] = each
        self._seq = self._record.seq
        if called.keys() != self._called.keys():
            self._names = Names(called)
        self._called = called

    def _former(self, path: str, spans: tuple[tuple[int, int], ...], event: Callable[[int], Event]) -> FormerName:
        called = self._called[path]
        now = called.thing.path if called.thing.stands else None
        return FormerName(path, spans, called.version, event(called.ended.seq), now)


def _called(thing: Thing) -> Iterator[_Called]:
    """What a note was called, each with the step that ended that."""
    held: Step | None = None
    for step in thing.steps:
        if held is not None and (step.sha256 == NOTHING or step.path != held.path):
            yield _Called(thing, held, step)
        held = None if step.sha256 == NOTHING else step


def _passes(called: _Called, filters: Filters) -> bool:
    if filters.concerns_actors and not filters.takes_actors({*called.thing.writers, called.ended.who}):
        return False
    return not filters.concerns_time or filters.takes_event(called.ended.seq, called.ended.at_us)
