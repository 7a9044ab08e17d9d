"""Giving many things other names at once: in which order, and through which names that nobody sees.

A file system moves one thing at a time, to a name that is free. Of things that are to take each other's places one
has to step aside first, so it has a name for a moment that no listing shows. Which steps there are is known before
the first one is taken: whoever finds them half done, after a crash, can go on with them or go back.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memtui.core.changes import net
from memtui.core.events import Change, Version
from memtui.store.base import Node


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that is to be moved, with all that goes along.

    Attributes:
        old: Its name from before.
        new: Its name afterwards.
        nodes: Itself, and what is in it, except what is moved by itself.
        aside: Whether it has to step aside even if nothing is in its way: to a name that the file system takes for
            the same, or into a directory that takes its place.
    """

    old: str
    new: str
    nodes: tuple[tuple[Node, Version], ...]
    aside: bool = False

    def placed(self, path: str, at: str | None = None) -> str:
        """Where something of it is once it stands at its new name, or at another one."""
        return (self.new if at is None else at) + path[len(self.old) :]


@dataclass(frozen=True, slots=True)
class Hop:
    """One step: the thing that was at `top` at first goes from one name to another."""

    top: str
    old: str
    new: str


def above(path: str) -> Iterator[str]:
    """The directories above a path, the innermost first, without the folder itself."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def nearest(path: str, tops: Mapping[str, object]) -> str | None:
    """Of some paths, the innermost one that is this one or holds it."""
    if path in tops:
        return path
    return next((each for each in above(path) if each in tops), None)


def common_directory(paths: Sequence[str]) -> str:
    """The directory that holds all of some paths; of one path, that itself."""
    if len(paths) == 1:
        return paths[0]
    common = paths[0].split("/")[:-1] if paths else []
    for path in paths:
        parts = path.split("/")
        while parts[: len(common)] != common:
            common.pop()
    return "/".join(common)


def expanded(tops: Iterable[tuple[str, str]], changes: Iterable[Change]) -> dict[str, str]:
    """Where everything came from that was moved, or went along: old paths by new ones.

    Args:
        tops: What was moved by itself, `(old, new)`.
        changes: What the event changed, one for each path.
    """
    came_from = {new: old for old, new in tops}
    stood = {change.path: change.before for change in changes}
    found: dict[str, str] = {}
    for change in changes:
        if change.after is None or (top := nearest(change.path, came_from)) is None:
            continue
        old = came_from[top] + change.path[len(top) :]
        if stood.get(old) == change.after:
            found[change.path] = old
    return found


def changes_of(moves: Iterable[Move], where: Mapping[str, str], made: Iterable[Change] = ()) -> tuple[Change, ...]:
    """What moves changed.

    Args:
        moves: What was moved.
        where: Where each thing is now, by its old name; one that is not in it has not moved.
        made: Directories that were made for them.

    Returns:
        One change for each path. As far as nothing took another's place, a move stands in it as two, one behind the
        other.
    """
    made = tuple(made)
    pairs = [
        (Change(node.path, version, None), Change(move.placed(node.path, where[move.old]), None, version))
        for move in moves
        if where.get(move.old, move.old) != move.old
        for node, version in move.nodes
    ]
    gone = {departure.path for departure, _ in pairs}
    if gone.isdisjoint(arrival.path for _, arrival in pairs) and gone.isdisjoint(change.path for change in made):
        return net((*made, *(change for pair in pairs for change in pair)))
    return net((*(departure for departure, _ in pairs), *made, *(arrival for _, arrival in pairs)))


@dataclass(slots=True)
class _Waiting:
    """What a move still waits for."""

    lifts: int = 0
    """Things in it that have to leave it before it goes."""
    places: int = 0
    """Things that stand in its way, or have to stand above it first."""
    is_lifted: bool = False
    is_placed: bool = False
    name: str = ""
    """Where it is on its way, if it stepped aside."""


@dataclass(slots=True)
class _Graph:
    """Who waits for whom."""

    waiting: dict[str, _Waiting] = field(default_factory=dict)
    holders: dict[str, list[str]] = field(default_factory=dict)
    """By a thing that has to leave first: the directories that it is in, which go later."""
    takers: dict[str, list[str]] = field(default_factory=dict)
    """By a thing that has to leave first: those that are to stand at its name, or below."""
    lodgers: dict[str, list[str]] = field(default_factory=dict)
    """By a thing that has to stand first: those that are to stand in it."""


def hops(moves: Sequence[Move], passing: Callable[[str], str]) -> tuple[list[Hop], bool]:
    """The steps in which moves can be made, so that each goes to a name that is free by then.

    Args:
        moves: Which; no two end at one name.
        passing: Gives a name for a moment beside a path.

    Returns:
        The steps; and whether any waits for another one, so that what became of them is not plain from the paths.
    """
    by_old = {move.old: move for move in moves}
    graph = _dependencies(moves, by_old)
    is_plain = not (graph.holders or graph.takers or graph.lodgers)
    if is_plain:
        return [Hop(move.old, move.old, move.new) for move in moves], False
    blocked_by = _turned(graph)
    found: list[Hop] = []
    ready = deque(move.old for move in moves if _is_ready(graph.waiting[move.old]))
    unlifted = deque(move.old for move in moves)
    left = len(moves)
    while left:
        if not ready:
            old = _to_lift(graph, blocked_by, unlifted)
            state = graph.waiting[old]
            outermost = old
            for each in above(old):
                if each in by_old:
                    outermost = each  # a name beside it goes nowhere when that is moved
            state.name = passing(outermost)
            found.append(Hop(old, old, state.name))
            _lifted(graph, old, ready)
            continue
        old = ready.popleft()
        state = graph.waiting[old]
        if state.is_placed:
            continue
        found.append(Hop(old, state.name or old, by_old[old].new))
        state.is_placed = True
        left -= 1
        if not state.is_lifted:
            _lifted(graph, old, ready)
        for lodger in graph.lodgers.get(old, ()):
            graph.waiting[lodger].places -= 1
            if _is_ready(graph.waiting[lodger]):
                ready.append(lodger)
    return found, True


def _dependencies(moves: Sequence[Move], by_old: Mapping[str, Move]) -> _Graph:
    graph = _Graph({move.old: _Waiting() for move in moves})
    by_new = {move.new: move for move in moves}
    for move in moves:
        waiting = graph.waiting[move.old]
        for path in above(move.old):
            if path in by_old:
                graph.holders.setdefault(move.old, []).append(path)
                graph.waiting[path].lifts += 1
        for path in (move.new, *above(move.new)):
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


def _turned(graph: _Graph) -> dict[str, list[str]]:
    """By a move, all that it waits for at first."""
    found: dict[str, list[str]] = {}
    for table in (graph.holders, graph.takers, graph.lodgers):
        for blocker, blocked in table.items():
            for each in blocked:
                found.setdefault(each, []).append(blocker)
    return found


def _is_ready(state: _Waiting) -> bool:
    return not state.places and not state.is_placed and (state.is_lifted or not state.lifts)


def _lifted(graph: _Graph, old: str, ready: "deque[str]") -> None:
    graph.waiting[old].is_lifted = True
    for holder in graph.holders.get(old, ()):
        graph.waiting[holder].lifts -= 1
        if _is_ready(graph.waiting[holder]):
            ready.append(holder)
    for taker in graph.takers.get(old, ()):
        graph.waiting[taker].places -= 1
        if _is_ready(graph.waiting[taker]):
            ready.append(taker)


def _to_lift(graph: _Graph, blocked_by: Mapping[str, Sequence[str]], unlifted: "deque[str]") -> str:
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
