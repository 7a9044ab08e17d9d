"""Questions about a whole graph: what is not reached, what all link to, what hangs together, what goes round.

Each is answered in time that grows with the notes and edges, without recursion. An ambiguous link counts as one to each
note that it may mean.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from memtui.core.lazy_dataclass import dataclass
from memtui.knowledge.graph import LINK_KINDS, Edge, Graph, Node
from memtui.notes.formats import detect_format
from memtui.notes.memory_index import find_named_notes, is_auto_loaded

_STARTS = frozenset({"readme", "index", "_index", "home"})
"""Names of notes that a reader begins with, where nothing is loaded."""
MOST_NODES = 2_000
"""Of a neighbourhood, if no more are asked for."""


# What is reached


@dataclass(frozen=True, slots=True)
class Reach:
    """What can be got to from what every session loads.

    Attributes:
        roots: What loads, and is a note; where nothing does, notes called README, index or home.
        reached: The paths of all notes that a root, or a note that is reached, links to or names; roots as well.
        orphans: The paths of all other notes. Without roots, of those that no other note links to.
    """

    roots: tuple[str, ...]
    reached: frozenset[str]
    orphans: tuple[str, ...]


def find_reach(graph: Graph, loads: Callable[[str], bool], read: Callable[[str], str | None] = lambda _: None) -> Reach:
    """What is reached, and what is an orphan.

    Args:
        loads: Whether a path is that of a file which every session loads.
        read: Returns the text of what loads, for the notes that it names without a link; `None` if it cannot be read.
    """
    notes = [note.path for note in graph.notes]
    roots = [path for path in notes if loads(path) or is_auto_loaded(path)]
    if not roots:
        roots = [path for path in notes if path.rpartition("/")[2].casefold().partition(".")[0] in _STARTS]
    if not roots:
        linked = {target for edge in graph.iter_edges() for target in edge.targets if target != edge.source}
        return Reach((), frozenset(linked), tuple(sorted(set(notes) - linked)))
    starts = set(roots)
    for root in roots:
        starts |= _find_named(graph, root, notes, read)
    reached = follow_edges(graph, starts)
    return Reach(tuple(sorted(roots)), frozenset(reached), tuple(sorted(set(notes) - reached)))


def _find_named(graph: Graph, root: str, notes: Collection[str], read: Callable[[str], str | None]) -> set[str]:
    """The notes that a text which loads names without a link, or by linking to their directory."""
    below = root[: root.rfind("/") + 1]
    inside = [path for path in notes if path.startswith(below) and path != root]
    text = read(root)
    found = find_named_notes(text, inside, below) if text else set()
    directories = tuple(
        f"{edge.link.path.rstrip('/')}/"
        for edge in graph.get_edges(root)
        if not edge.targets and edge.link and edge.link.path
    )
    return found | {path for path in notes if directories and path.startswith(directories)}


def follow_edges(graph: Graph, starts: Iterable[str], kinds: Collection[str] = LINK_KINDS) -> set[str]:
    """All that can be got to from some notes along edges, with these."""
    reached = set(starts)
    waiting = list(reached)
    while waiting:
        for edge in graph.get_edges(waiting.pop()):
            if edge.kind in kinds:
                for target in edge.targets:
                    if target not in reached:
                        reached.add(target)
                        waiting.append(target)
    return reached


# What hangs together


def find_dangling(graph: Graph) -> list[Edge]:
    """The links that lead to no note: names that nobody has written yet, and paths to notes that are gone.

    Paths to what is no text, and imports of what is no file of notes, are left out: those mean another folder's files.
    """
    return [edge for edge in graph.iter_edges() if edge.state == "dangling" and means_note(edge)]


def means_note(edge: Edge) -> bool:
    """Whether a link names a note, and not a picture or another folder's file."""
    path = edge.link.path if edge.link is not None else None
    if not path:
        return False
    if edge.kind in ("wiki", "relation"):
        return True
    return "." in path.rpartition("/")[2] and detect_format(path) in ("md", "txt")


def find_ambiguous(graph: Graph) -> list[Edge]:
    """The links that may mean several notes."""
    return [edge for edge in graph.iter_edges() if edge.state == "ambiguous"]


def find_hubs(graph: Graph, *, limit: int = 10) -> list[tuple[str, int]]:
    """The notes that most others link to, and how many do, the first one first."""
    sources: dict[str, set[str]] = {}
    for edge in graph.iter_edges():
        for target in edge.targets:
            if target != edge.source:
                sources.setdefault(target, set()).add(edge.source)
    counted = sorted(((path, len(found)) for path, found in sources.items()), key=lambda each: (-each[1], each[0]))
    return counted[:limit]


def find_islands(graph: Graph) -> list[tuple[str, ...]]:
    """The groups of notes that hang together by links in either direction, the largest first; one note alone is one."""
    linked = _link_both_ways(graph)
    islands: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for note in graph.notes:
        if note.path in seen:
            continue
        island = {note.path}
        waiting = [note.path]
        while waiting:
            for other in linked.get(waiting.pop(), ()):
                if other not in island:
                    island.add(other)
                    waiting.append(other)
        seen |= island
        islands.append(tuple(sorted(island)))
    return sorted(islands, key=lambda each: (-len(each), each))


def _link_both_ways(graph: Graph) -> Mapping[str, set[str]]:
    linked: dict[str, set[str]] = {}
    for edge in graph.iter_edges():
        for target in edge.targets:
            linked.setdefault(edge.source, set()).add(target)
            linked.setdefault(target, set()).add(edge.source)
    return linked


def find_cycles(graph: Graph, kinds: Collection[str] = LINK_KINDS) -> list[tuple[str, ...]]:
    """A shortest way round in each group of notes that lead to each other, by path; two that link to each other too."""
    following = {
        path: sorted(
            {target for edge in graph.get_edges(path) if edge.kind in kinds for target in edge.targets} - {path}
        )
        for path in graph
    }
    cycles = [_find_way_round(group, following) for group in _iter_knots(following)]
    return sorted(cycles, key=lambda each: (len(each), each))


def _iter_knots(following: Mapping[str, list[str]]) -> Iterator[set[str]]:
    """The groups of several nodes each of which leads to all others (Tarjan, without recursion)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    for start in following:
        if start in number:
            continue
        path = [(start, iter(following[start]))]
        number[start] = lowest[start] = len(number)
        stack.append(start)
        on_stack.add(start)
        while path:
            node, rest = path[-1]
            other = next(rest, None)
            if other is None:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == number[node]:
                    knot = {stack.pop()}
                    while node not in knot:
                        knot.add(stack.pop())
                    on_stack -= knot
                    if len(knot) > 1:
                        yield knot
            elif other not in number:
                number[other] = lowest[other] = len(number)
                stack.append(other)
                on_stack.add(other)
                path.append((other, iter(following.get(other, ()))))
            elif other in on_stack:
                lowest[node] = min(lowest[node], number[other])


def _find_way_round(group: set[str], following: Mapping[str, list[str]]) -> tuple[str, ...]:
    """A shortest cycle through the first node of a group."""
    start = min(group)
    before: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for other in following[node]:
            if other == start:
                way = [node]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return tuple(reversed(way))
            if other in group and other not in before:
                before[other] = node
                waiting.append(other)
    raise AssertionError("a node of a knot leads back to itself")


# Neighbourhoods


@dataclass(frozen=True, slots=True)
class Filter:
    """Which notes and edges of a neighbourhood are wanted; empty for all.

    Attributes:
        kinds: Kinds of edges; by default all that are written as links.
        types: What notes say they are, in lower case.
        tags: Tags, of which a note has one.
        folder: The path of a directory that notes are below.
    """

    kinds: frozenset[str] = frozenset(LINK_KINDS)
    types: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    folder: str = ""

    def accepts(self, node: Node) -> bool:
        """Whether a note is wanted; tags and directories always are."""
        if node.kind in ("tag", "folder"):
            return True
        if self.folder and not node.id.startswith(self.folder.rstrip("/") + "/"):
            return False
        if not (self.types or self.tags):
            return True
        note = node.note
        if note is None or (self.types and note.type not in self.types):
            return False
        return not self.tags or not self.tags.isdisjoint(note.tags)


NO_FILTER = Filter()


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A part of a graph.

    Attributes:
        distances: How many edges each node is from the nearest start, by its id, the nearest first.
        edges: The edges between these nodes, and those that lead to no note, from all but the furthest.
        is_cut: Whether more nodes were near enough than were asked for.
    """

    distances: Mapping[str, int]
    edges: tuple[Edge, ...]
    is_cut: bool = False


def find_neighbourhood(
    graph: Graph,
    starts: Iterable[str],
    depth: int = 1,
    wanted: Filter = NO_FILTER,
    *,
    limit: int = MOST_NODES,
) -> Neighbourhood:
    """What is near some notes, along edges in either direction.

    Args:
        depth: How many edges far.
        limit: Most nodes, without the starts.
    """
    distances = dict.fromkeys(starts, 0)
    most = len(distances) + limit
    waiting = deque(distances)
    is_cut = False
    while waiting:
        id = waiting.popleft()
        if distances[id] >= depth:
            continue
        for other in _iter_beside(graph, id, wanted):
            if other in distances:
                continue
            if len(distances) >= most:
                is_cut = True
                break
            distances[other] = distances[id] + 1
            waiting.append(other)
    edges = [
        edge
        for id in distances
        for edge in graph.get_edges_out(id, wanted.kinds)
        if any(target in distances for target in edge.targets) or (not edge.targets and distances[id] < max(depth, 1))
    ]
    return Neighbourhood(distances, tuple(edges), is_cut)


def _iter_beside(graph: Graph, id: str, wanted: Filter) -> Iterator[str]:
    for edge in graph.get_edges_out(id, wanted.kinds):
        yield from (target for target in edge.targets if target != id and wanted.accepts(graph.get_node(target)))
    for edge in graph.get_edges_in(id, wanted.kinds):
        if edge.source != id and wanted.accepts(graph.get_node(edge.source)):
            yield edge.source
