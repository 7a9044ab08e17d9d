"""Carrying renames as renames: the history of a note goes along, and what the other side changed under its old name."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from memtui.core.events import EntryKind, Event
from memtui.core.history import ActionResult, SkipReason
from memtui.engine.restore import find_top_moves
from memtui.mirror.ancestors import Mark
from memtui.mirror.common_history import CommonHistory
from memtui.mirror.reports import Report
from memtui.mirror.side import Side

_MOST_ATTEMPTS = 5
_AGAIN = frozenset({SkipReason.CHANGED, SkipReason.TAKEN, SkipReason.STOPPED, SkipReason.MISSING})
"""Why something was not done that may be done as it is planned anew."""


class Attempts:
    """How often each thing was tried in vain."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def is_worth_again(self, path: str, result: ActionResult) -> bool:
        """Whether something came between, so that what was not done is planned anew; a fault a few times only."""
        if result.skipped:
            return any(each.reason in _AGAIN for each in result.skipped)
        self._counts[path] += 1
        return self._counts[path] < _MOST_ATTEMPTS

    def forget(self, path: str) -> None:
        """It was done."""
        self._counts.pop(path, None)


class RenameCarrier:
    """Carries renames between two sides. Those of the source come first: of two new names its is the one."""

    def __init__(self, history: CommonHistory) -> None:
        self._history = history
        folder, source = history.sides
        self._directions = ((source, folder), (folder, source))
        self._attempts = Attempts()
        self._unmovable: set[tuple[str, str]] = set()

    def carry(self, dirty: Collection[str]) -> Iterator[Report | None]:
        """Give what is among some paths on one side the names that it got on the other one. See `Mirror.sync`."""
        found: dict[str, dict[str, tuple[str, Event]]] = {"folder": {}, "source": {}}
        for path in sorted(dirty):
            for giver, taker in self._directions:
                if (
                    giver.get(path) is None
                    or taker.get(path) is not None
                    or self._history.ancestors.get(path) is not None
                ):
                    continue
                origin = self._find_origin(giver, path)
                if origin is not None:
                    found[giver.name][origin[0]] = path, origin[1]
        done: set[str] = set()
        for giver, taker in self._directions:
            by_event: dict[int, list[tuple[str, str]]] = {}
            events: dict[int, Event] = {}
            for old, (new, event) in found[giver.name].items():
                if old in done:
                    continue
                done.add(old)
                stands = old
                if taker.get(old) is None and old in found[taker.name]:
                    stands = found[taker.name][old][0]  # both gave it another name: the source's is the one
                if taker.get(stands) is None or (stands, new) in self._unmovable:
                    continue
                events[event.seq] = event
                by_event.setdefault(event.seq, []).append((stands, new))
            for seq, pairs in by_event.items():
                yield from self._carry_event(giver, taker, events[seq], pairs, found[giver.name])

    def _find_origin(self, giver: Side, path: str) -> tuple[str, Event] | None:
        """Under which name both sides had what stands at a path, and the event by which it came here since."""
        last: Event | None = None
        for old, event in giver.iter_origins(path):
            last = last or event
            if self._history.is_ours(last):  # the other side had that name before, and has another one by now
                return None
            common = self._history.find_ancestor(old)
            if common is not None and event.seq <= common.get_number(giver.name):
                return None  # the name is another note's since
            if common is not None and common.version is not None:
                return old, last
        return None

    def _carry_event(
        self,
        giver: Side,
        taker: Side,
        event: Event,
        pairs: list[tuple[str, str]],
        origins: Mapping[str, tuple[str, Event]],
    ) -> Iterator[Report | None]:
        moves = dict(pairs)
        original = {new: old for old, (new, _) in origins.items()}
        for old, new in find_top_moves(event):
            below = taker.engine.journal.get_known_below(old)
            files = [path for path, each in below.items() if each.version.kind is EntryKind.FILE]
            inside = {path: new + path[len(old) :] for path in files}
            if not inside or taker.get(new) is not None or any(moves.get(path) != to for path, to in inside.items()):
                continue
            kept = {path: self._history.find_ancestor(path) for path in inside}
            if all(
                each is not None and giver.get_version_at(inside[path], event.seq) == each.version
                for path, each in kept.items()
            ):
                result = self._move(giver, taker, event, old, new, self._history.make_mark(event.seq))
                if result.event is not None:
                    for path in inside:
                        moves.pop(path)
                    yield Report("renamed", taker.name, old, event.actor, event.seq, new_path=new)
        for old, new in moves.items():
            common = self._history.find_ancestor(original[new])
            assert common is not None
            exact = giver.get_version_at(new, event.seq) == common.version
            mark = self._history.make_mark(event.seq, None if exact else common.version)
            result = self._move(giver, taker, event, old, new, mark)
            if result.event is not None:
                yield Report("renamed", taker.name, old, event.actor, event.seq, new_path=new)
                self._attempts.forget(new)
            else:
                if not self._attempts.is_worth_again(new, result):
                    self._unmovable.add((old, new))
                yield None

    def _move(self, giver: Side, taker: Side, event: Event, old: str, new: str, mark: Mark) -> ActionResult:
        actor, note = self._history.sign(giver, taker, event.actor, event.seq)
        return taker.engine.files.carry(
            {},
            expected={old: taker.get(old), new: None},
            moves=((old, new),),
            command="rename",
            note=note,
            call_id=str(mark),
            actor=actor,
        )
