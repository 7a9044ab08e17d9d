"""What a whole folder of notes looks like: orphans, hubs, islands, dangling and ambiguous links, cycles."""

from collections.abc import Callable, Sequence

from memtui.core.lazy_dataclass import dataclass
from memtui.knowledge.analysis import (
    find_ambiguous,
    find_cycles,
    find_dangling,
    find_hubs,
    find_islands,
    find_reach,
)
from memtui.knowledge.graph import Edge, Graph

_HUBS = 50


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """The groups of a graph.

    Attributes:
        notes: How many there are.
        links: How many links they have.
        roots: The paths of what loads, at which what is reached begins.
        orphans: The paths of notes that are not reached.
        hubs: The notes that most others link to, and how many do, the first one first.
        islands: The groups of several notes that hang together, the largest first.
        dangling: One link for each name in each note.
        cycles: A shortest way round in each group of notes that lead to each other.
    """

    notes: int
    links: int
    roots: tuple[str, ...]
    orphans: tuple[str, ...]
    hubs: Sequence[tuple[str, int]]
    islands: Sequence[tuple[str, ...]]
    dangling: Sequence[Edge]
    ambiguous: Sequence[Edge]
    cycles: Sequence[tuple[str, ...]]


def summarize_graph(
    graph: Graph, loads: Callable[[str], bool], read: Callable[[str], str | None] = lambda _: None
) -> GraphSummary:
    """The groups of a graph; `loads` and `read` as `find_reach` takes them."""
    reach = find_reach(graph, loads, read)
    dangling = {(edge.source, edge.wanted): edge for edge in reversed(find_dangling(graph))}
    return GraphSummary(
        notes=sum(1 for _ in graph.notes),
        links=sum(1 for _ in graph.iter_edges()),
        roots=reach.roots,
        orphans=reach.orphans,
        hubs=find_hubs(graph, limit=_HUBS),
        islands=[each for each in find_islands(graph) if len(each) > 1],
        dangling=sorted(dangling.values(), key=lambda edge: (edge.wanted.casefold(), edge.source)),
        ambiguous=find_ambiguous(graph),
        cycles=find_cycles(graph),
    )
