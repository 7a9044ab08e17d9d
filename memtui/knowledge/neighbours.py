"""The links around one note, in each direction by itself, and the filter that a person types.

`analysis.find_neighbourhood` mixes both directions, as a diagram does. A reader asks separately what leads to a note
and what a note leads to.
"""

from collections.abc import Callable, Iterator

from memtui.core.lazy_dataclass import dataclass
from memtui.knowledge.analysis import Filter, means_note
from memtui.knowledge.graph import KINDS, LINK_KINDS, Edge, Graph

DEEPEST = 3
"""Links far, at most."""
MOST_NEIGHBOURS = 2_000
"""In each direction."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An edge near a note, and what it leads to when it is followed away from that note.

    Attributes:
        path: The other end: a note or a file, or a tag or a directory by its id.
        edge: The edge.
        distance: How many edges `path` is away, from 1.
    """

    path: str
    edge: Edge
    distance: int


def collect_links_in(graph: Graph, id: str, depth: int = 1, wanted: Filter | None = None) -> list[Neighbour]:
    """The edges that lead to a note, then those that lead to these notes, each note once; the nearest first."""

    def follow(node: str, kinds: frozenset[str]) -> Iterator[tuple[str, Edge]]:
        for edge in graph.get_edges_in(node, kinds):
            if edge.source != node:
                yield edge.source, edge

    return _collect(graph, id, depth, wanted or Filter(), follow)


def collect_links_out(graph: Graph, id: str, depth: int = 1, wanted: Filter | None = None) -> list[Neighbour]:
    """The edges from a note to others, then those of these notes; an ambiguous one once for each that it may mean."""

    def follow(node: str, kinds: frozenset[str]) -> Iterator[tuple[str, Edge]]:
        for edge in graph.get_edges_out(node, kinds):
            yield from ((target, edge) for target in edge.targets if target != node)

    return _collect(graph, id, depth, wanted or Filter(), follow)


def _collect(
    graph: Graph,
    id: str,
    depth: int,
    wanted: Filter,
    follow: Callable[[str, frozenset[str]], Iterator[tuple[str, Edge]]],
) -> list[Neighbour]:
    seen = {id}
    found: list[Neighbour] = []
    frontier = [id]
    for distance in range(1, max(1, min(depth, DEEPEST)) + 1):
        following: dict[str, None] = {}
        for node in frontier:
            for other, edge in follow(node, wanted.kinds):
                if other in seen or not wanted.accepts(graph.get_node(other)):
                    continue
                if len(found) >= MOST_NEIGHBOURS:
                    return found
                found.append(Neighbour(other, edge, distance))
                following[other] = None
        seen.update(following)
        frontier = list(following)
    return found


def find_dangling_from(graph: Graph, path: str, kinds: frozenset[str] = frozenset(LINK_KINDS)) -> list[Edge]:
    """The links of a note that lead to no note, as they stand; of those that are written alike the first one."""
    found: dict[str, Edge] = {}
    for edge in graph.get_edges(path):
        if edge.state == "dangling" and edge.kind in kinds and means_note(edge):
            found.setdefault(edge.wanted, edge)
    return list(found.values())


def find_link_text(graph: Graph, words: str, target: str, source: str) -> str:
    """The wiki link from a note to another one that shows some words as they are: `[[words]]`, or `[[name|words]]`.

    Args:
        words: What stands in the text.
        target: The path that the link has to mean there, and nothing else.
        source: The path of the note in which it will stand.
    """
    if graph.resolve_name(words, source) == (target,):
        return f"[[{words}]]"
    plain = target.rpartition(".")[0] or target
    name = plain.rpartition("/")[2]
    chosen = name if graph.resolve_name(name, source) == (target,) else plain
    return f"[[{chosen}|{words}]]"


# What a person types to see less


@dataclass(frozen=True, slots=True)
class TypedFilter:
    """A filter as it was typed.

    Attributes:
        wanted: Which notes and edges.
        words: In lower case; each has to be found in what is shown.
        problem: The first word that is not understood, as a sentence; else empty.
    """

    wanted: Filter
    words: tuple[str, ...] = ()
    problem: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether all is wanted."""
        return self.wanted == Filter() and not self.words


def parse_filter(text: str) -> TypedFilter:
    """Read `type:person tag:#urgent kind:relation folder:notes some words`; several of a sort are either of them."""
    chosen: dict[str, list[str]] = {"type": [], "tag": [], "kind": [], "folder": []}
    words: list[str] = []
    for word in text.split():
        name, colon, value = word.partition(":")
        if colon and value and name.casefold() in chosen:
            chosen[name.casefold()].append(value)
        elif not (colon and not value and name.casefold() in chosen):  # just being typed
            words.append(word.casefold())
    unknown = [kind for kind in chosen["kind"] if kind.casefold() not in KINDS]
    kinds = frozenset(kind.casefold() for kind in chosen["kind"]) & frozenset(KINDS)
    wanted = Filter(
        kinds or frozenset(LINK_KINDS),
        frozenset(each.casefold() for each in chosen["type"]),
        frozenset(each.removeprefix("#") for each in chosen["tag"]),
        chosen["folder"][-1].strip("/") if chosen["folder"] else "",
    )
    problem = f"No kind of link is called {unknown[0]}. Kinds: {', '.join(KINDS)}." if unknown else ""
    return TypedFilter(wanted, tuple(words), problem)
