"""Giving many things other names at once: in which order, and through which names that nobody sees.

A file system moves one thing at a time, to a name that is free. Of things that are to take each other's places one
has to step aside first, so it has a name for a moment that no listing shows. Which steps there are is known before
the first one is taken: whoever finds them half done, after a crash, can go on with them or go back.
"""

import os
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import field

from memtui.core.errors import MemtuiError, UnconfirmedChange, UnsettledChange
from memtui.core.events import Change, Version, squash_changes
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.store.base import ConcurrentChange, DirectoriesLeft, Node, Transaction


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that is to be moved, with all that goes along.

    Attributes:
        nodes: Itself, and what is in it, except what is moved by itself.
        aside: Whether it has to step aside even if nothing is in its way: to a name that the file system takes for
            the same, or into a directory that takes its place.
    """

    old: str
    new: str
    nodes: tuple[tuple[Node, Version], ...]
    aside: bool = False

    def map_path(self, path: str, at: str | None = None) -> str:
        """Where something of it is once it stands at its new name, or at another one."""
        return (self.new if at is None else at) + path[len(self.old) :]


@dataclass(frozen=True, slots=True)
class MoveStep:
    """One step: the thing that was at `top` at first goes from one name to another."""

    top: str
    old: str
    new: str


def iter_parents(path: str) -> Iterator[str]:
    """The directories above a path, the innermost first, without the folder itself."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def find_nearest(path: str, tops: Mapping[str, object]) -> str | None:
    """Of some paths, the innermost one that is this one or holds it."""
    if path in tops:
        return path
    return next((each for each in iter_parents(path) if each in tops), None)


def find_common_directory(paths: Sequence[str]) -> str:
    """The directory that holds all of some paths; of one path, that itself."""
    if len(paths) == 1:
        return paths[0]
    common = paths[0].split("/")[:-1] if paths else []
    for path in paths:
        parts = path.split("/")
        while parts[: len(common)] != common:
            common.pop()
    return "/".join(common)


def expand_moves(tops: Iterable[tuple[str, str]], changes: Iterable[Change]) -> dict[str, str]:
    """Old paths by new ones of all that was moved, or went along with `tops`, pairs of `(old, new)`."""
    came_from = {new: old for old, new in tops}
    stood = {change.path: change.before for change in changes}
    found: dict[str, str] = {}
    for change in changes:
        if change.after is None or (top := find_nearest(change.path, came_from)) is None:
            continue
        old = came_from[top] + change.path[len(top) :]
        if (before := stood.get(old)) == change.after or (before is not None and before.kind is change.after.kind):
            found[change.path] = old  # its text may have been changed along with it
    return found


def make_changes(moves: Iterable[Move], where: Mapping[str, str], made: Iterable[Change] = ()) -> tuple[Change, ...]:
    """The changes that moves made, one for each path, once each thing is `where` and directories were `made`.

    As far as nothing took another's place, a move is two changes, one behind the other.
    """
    made = tuple(made)
    pairs = [
        (Change(node.path, version, None), Change(move.map_path(node.path, where[move.old]), None, version))
        for move in moves
        if where.get(move.old, move.old) != move.old
        for node, version in move.nodes
    ]
    gone = {departure.path for departure, _ in pairs}
    if gone.isdisjoint(arrival.path for _, arrival in pairs) and gone.isdisjoint(change.path for change in made):
        return squash_changes((*made, *(change for pair in pairs for change in pair)))
    return squash_changes((*(departure for departure, _ in pairs), *made, *(arrival for _, arrival in pairs)))


@dataclass(slots=True)
class _MoveState:
    lifts: int = 0
    """Things in it that have to leave it before it goes."""
    places: int = 0
    """Things that stand in its way, or have to stand above it first."""
    is_lifted: bool = False
    is_placed: bool = False
    name: str = ""
    """Where it is on its way, if it stepped aside."""


@dataclass(slots=True)
class _MoveGraph:
    waiting: dict[str, _MoveState] = field(default_factory=dict)
    holders: dict[str, list[str]] = field(default_factory=dict)
    """By a thing that has to leave first: the directories that it is in, which go later."""
    takers: dict[str, list[str]] = field(default_factory=dict)
    """By a thing that has to leave first: those that are to stand at its name, or below."""
    lodgers: dict[str, list[str]] = field(default_factory=dict)
    """By a thing that has to stand first: those that are to stand in it."""


def plan_steps(moves: Sequence[Move], passing: Callable[[str], str]) -> tuple[list[MoveStep], bool]:
    """The steps in which moves can be made, so that each goes to a name that is free by then.

    Args:
        moves: No two end at one name.
        passing: Makes a temporary name beside a path.

    Returns:
        The steps; and whether any waits for another one, so that the paths alone do not show the outcome.
    """
    by_old = {move.old: move for move in moves}
    graph = _build_graph(moves, by_old)
    is_plain = not (graph.holders or graph.takers or graph.lodgers)
    if is_plain:
        return [MoveStep(move.old, move.old, move.new) for move in moves], False
    blocked_by = _collect_prerequisites(graph)
    found: list[MoveStep] = []
    ready = deque(move.old for move in moves if _is_ready(graph.waiting[move.old]))
    unlifted = deque(move.old for move in moves)
    remaining = len(moves)
    while remaining:
        if not ready:
            old = _choose_lifted(graph, blocked_by, unlifted)
            state = graph.waiting[old]
            outermost = old
            for each in iter_parents(old):
                if each in by_old:
                    outermost = each  # a name beside it goes nowhere when that is moved
            state.name = passing(outermost)
            found.append(MoveStep(old, old, state.name))
            _mark_lifted(graph, old, ready)
            continue
        old = ready.popleft()
        state = graph.waiting[old]
        if state.is_placed:
            continue
        found.append(MoveStep(old, state.name or old, by_old[old].new))
        state.is_placed = True
        remaining -= 1
        if not state.is_lifted:
            _mark_lifted(graph, old, ready)
        for lodger in graph.lodgers.get(old, ()):
            graph.waiting[lodger].places -= 1
            if _is_ready(graph.waiting[lodger]):
                ready.append(lodger)
    return found, True


def _build_graph(moves: Sequence[Move], by_old: Mapping[str, Move]) -> _MoveGraph:
    graph = _MoveGraph({move.old: _MoveState() for move in moves})
    by_new = {move.new: move for move in moves}
    for move in moves:
        waiting = graph.waiting[move.old]
        for path in iter_parents(move.old):
            if path in by_old:
                graph.holders.setdefault(move.old, []).append(path)
                graph.waiting[path].lifts += 1
        for path in (move.new, *iter_parents(move.new)):
            if path in by_old:
                graph.takers.setdefault(path, []).append(move.old)
                waiting.places += 1
            if path in by_new and path != move.new:
                graph.lodgers.setdefault(by_new[path].old, []).append(move.old)
                waiting.places += 1
        if move.aside and move.old not in graph.takers.get(move.old, ()):
            graph.takers.setdefault(move.old, []).append(move.old)
            waiting.places += 1
    return graph


def _collect_prerequisites(graph: _MoveGraph) -> dict[str, list[str]]:
    """By a move, all that it waits for at first."""
    found: dict[str, list[str]] = {}
    for table in (graph.holders, graph.takers, graph.lodgers):
        for blocker, blocked in table.items():
            for each in blocked:
                found.setdefault(each, []).append(blocker)
    return found


def _is_ready(state: _MoveState) -> bool:
    return not state.places and not state.is_placed and (state.is_lifted or not state.lifts)


def _mark_lifted(graph: _MoveGraph, old: str, ready: "deque[str]") -> None:
    graph.waiting[old].is_lifted = True
    for holder in graph.holders.get(old, ()):
        graph.waiting[holder].lifts -= 1
        if _is_ready(graph.waiting[holder]):
            ready.append(holder)
    for taker in graph.takers.get(old, ()):
        graph.waiting[taker].places -= 1
        if _is_ready(graph.waiting[taker]):
            ready.append(taker)


def _choose_lifted(graph: _MoveGraph, blocked_by: Mapping[str, Sequence[str]], unlifted: "deque[str]") -> str:
    """Which thing steps aside: one of those that wait for each other, and not one that only waits for them."""
    while graph.waiting[unlifted[0]].is_lifted:
        unlifted.popleft()
    seen: dict[str, None] = {}
    old = unlifted[0]
    while old not in seen:
        seen[old] = None
        following = (each for each in blocked_by.get(old, ()) if not graph.waiting[each].is_lifted)
        old = next(following, old)
    circle = list(seen)[list(seen).index(old) :]
    for each in (*circle, *unlifted):
        if not graph.waiting[each].is_lifted and not graph.waiting[each].lifts:
            return each
    raise AssertionError("unreachable: what holds nothing else can always step aside")


# Running the steps: as little as can be has a hidden name, and for as short as can be.

_NAMES = 100
"""How many names are tried for what has to be put back where something else came meanwhile."""


class StrandedMove(UnsettledChange):
    """Something has a name that nobody sees and cannot be given another one now: whoever writes next tries again."""


class MoveStepRunner:
    """Takes the steps of moves, given where each thing is to end (`new`) and directories to be `made` on the way.

    Of things that take each other's places one has to step aside. Where the system lets two things change places in
    one step, it does not: it rides along, from place to place, in sight all the time. `where` is kept up: where each
    thing is, by its old name, once it is not there any more.

    Attributes:
        certain: Whether the disk confirmed it, as far as it was asked.
        made: The directories that were made, outermost first.
        on_the_way: The old names of things that are neither there nor at their new ones.
    """

    def __init__(
        self, transaction: Transaction, new: Mapping[str, str], made: Container[str], where: MutableMapping[str, str]
    ) -> None:
        self._transaction = transaction
        self._new = new
        self._to_be_made = made
        self._where = where
        self._rider: MoveStep | None = None
        self._hidden: dict[str, str] = {}
        self._back: list[Callable[[], bool]] = []
        self._can_exchange = True
        self.certain = True
        self.made: dict[str, None] = {}
        self.on_the_way: set[str] = set()

    def apply_step(self, step: MoveStep) -> None:
        """Take one step; `OSError`, `ConcurrentChange` or `MemtuiError` says why it could not be taken."""
        if step.new != self._new[step.top]:
            self._settle_rider()
            self.on_the_way.add(step.top)
            self._rider = step  # it steps aside once nothing else is left to do
            return
        rider = self._rider
        if rider is not None and step.top == rider.top:
            at = self._get_location(step.top)
            if at == step.top or step.new.startswith(at + "/"):
                self._settle_rider()  # its own name is what is in its way
            self._rider = None
            if self._get_location(step.top) != step.new:
                self._rename(step.top, self._get_location(step.top), step.new)
                self._hidden.pop(step.top, None)
        elif rider is None or not self._try_exchange(step, rider):
            self._settle_rider()
            self._rename(step.top, step.old, step.new)
            self._hidden.pop(step.top, None)
        self.on_the_way.discard(step.top)
        if not self.on_the_way:
            self._back.clear()

    def _get_location(self, top: str) -> str:
        return self._where.get(top, top)

    def _try_exchange(self, step: MoveStep, rider: MoveStep) -> bool:
        """Whether a thing took the place of the one that rides along, and that one its own."""
        at = self._get_location(rider.top)
        if not self._can_exchange or step.new != at or step.old.startswith(at + "/") or at.startswith(step.old + "/"):
            return False
        if not self._exchange(step.old, at):
            self._can_exchange = False
            return False
        self._set_location(step.top, at)
        self._set_location(rider.top, step.old)

        def back() -> bool:
            if not self._exchange(step.old, at):
                return False
            self._set_location(rider.top, at)
            self._set_location(step.top, step.old)
            return True

        self._back.append(back)
        return True

    def _exchange(self, one: str, other: str) -> bool:
        try:
            return self._transaction.exchange(MemoryPath.from_relative(one), MemoryPath.from_relative(other))
        except UnconfirmedChange:
            self.certain = False  # they have changed places all the same
            return True

    def _settle_rider(self) -> None:
        """Have what should step aside really do so."""
        if self._rider is not None:
            rider, self._rider = self._rider, None
            self._rename(rider.top, self._get_location(rider.top), rider.new)
            self._hidden[rider.top] = rider.new

    def _rename(self, top: str, old: str, new: str) -> None:
        try:
            found = self._transaction.rename(MemoryPath.from_relative(old), MemoryPath.from_relative(new))
        except UnconfirmedChange:
            self.certain = False  # it has moved all the same
            found = tuple(path for path in reversed(list(iter_parents(new))) if path in self._to_be_made)
        except DirectoriesLeft as error:
            if self._where or self.made:  # else nothing was done, and whoever writes next removes them
                self.made.update(dict.fromkeys(error.paths))
            raise
        self.made.update(dict.fromkeys(found))
        self._set_location(top, new)

        def back() -> bool:
            if not try_move(self._transaction, new, old):
                return False
            self._set_location(top, old)
            return True

        self._back.append(back)

    def _set_location(self, top: str, path: str) -> None:
        if path == top:
            self._where.pop(top, None)
        else:
            self._where[top] = path

    def roll_back(self) -> None:
        """Take back steps since everything was in its place, so that nothing stays hidden; raises `StrandedMove`."""
        for back in reversed(self._back):
            try:
                back()
            except (OSError, MemtuiError):
                continue  # the next one may still be
        for top, hidden in self._hidden.items():
            if self._get_location(top) == hidden:
                self._where[top] = restore_beside(self._transaction, hidden, top)
        self._back.clear()
        self._hidden.clear()
        self.on_the_way.clear()
        self._rider = None


def try_move(transaction: Transaction, old: str, new: str) -> bool:
    return _find_fault(transaction, old, new) is None


def _find_fault(transaction: Transaction, old: str, new: str) -> Exception | None:
    """Move something; returns why it could not be moved."""
    try:
        transaction.rename(MemoryPath.from_relative(old), MemoryPath.from_relative(new))
    except UnconfirmedChange:
        return None
    except (OSError, ConcurrentChange, MemtuiError) as error:
        return error
    return None


def restore_beside(transaction: Transaction, hidden: str, place: str) -> str:
    """Bring something back in sight, at a name beside its own, which is returned; raises `StrandedMove`."""
    directory, slash, name = place.rpartition("/")
    fault: Exception | None = None
    for number in range(1, _NAMES):
        ending = f"~{number}"
        free = directory + slash + os.fsdecode(os.fsencode(name)[: 255 - len(ending)]) + ending
        fault = _find_fault(transaction, hidden, free)
        if fault is None:
            return free
    raise StrandedMove("What was on its way could not be put anywhere.") from fault
