"""What an address of Basic Memory's kind names, `memory://specs/search`, and what is related to it.

An address is a permalink, a title or a path, or a pattern of permalinks or paths in which `*` stands for any letters.
"""

import fnmatch
import re
from collections.abc import Mapping

from memtui.core.lazy_dataclass import dataclass
from memtui.knowledge.analysis import find_neighbourhood
from memtui.knowledge.graph import Edge, Graph
from memtui.knowledge.model import ParsedNote
from memtui.knowledge.names import make_permalink

SCHEME = "memory://"
DEEPEST = 5
"""Links far, at most."""
_MOST_STARTS = 200
"""Notes that a pattern names at most."""
_LONGEST = 1_024


@dataclass(frozen=True, slots=True)
class RelatedNote:
    """A note near one that was asked for; `distance` links away, along `edges` from or to nearer ones."""

    note: ParsedNote
    distance: int
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """What an address names.

    Attributes:
        address: As it was given, without `memory://`.
        notes: The notes of that address; several of a pattern, or where it is ambiguous.
        related: The notes near them, the nearest first, and of these the one that changed last.
        left_out: How many further related notes there are, beyond the limit.
        is_cut: Whether the pattern names more notes than are looked at.
    """

    address: str
    notes: tuple[ParsedNote, ...]
    related: tuple[RelatedNote, ...]
    left_out: int = 0
    is_cut: bool = False


def find_addressed(graph: Graph, address: str) -> list[str]:
    """The paths of the notes that an address names, in order."""
    plain = address.removeprefix(SCHEME).strip("/")[:_LONGEST]
    if "*" not in plain:
        return [path for path in graph.find_permalink(plain) or graph.find(plain) if graph.get_note(path) is not None]
    pattern = re.compile(fnmatch.translate(re.sub(r"\*+", "*", plain).replace("[", "[[]").casefold()))
    found = [
        note.path
        for note in graph.notes
        if pattern.match((note.permalink or make_permalink(note.path)).casefold())
        or pattern.match(note.path.casefold())
        or pattern.match(note.path.casefold().rpartition(".")[0])
    ]
    return sorted(found)


def build_context(
    graph: Graph,
    address: str,
    *,
    depth: int = 1,
    since_us: int | None = None,
    limit: int = 10,
    changed_us: Mapping[str, int] | None = None,
) -> MemoryContext:
    """What an address names, and what is related to it.

    Args:
        depth: How many links far, at most 5.
        since_us: Leaves out related notes, and those of a pattern, that did not change since, in microseconds since
            1970; `None` leaves out none.
        limit: Most related notes.
        changed_us: When each note changed last, in microseconds since 1970, as far as it is known.
    """
    times = changed_us or {}
    paths = find_addressed(graph, address)
    if since_us is not None and "*" in address:
        paths = [path for path in paths if times.get(path, 0) >= since_us]
    starts = paths[:_MOST_STARTS]
    near = find_neighbourhood(graph, starts, min(depth, DEEPEST))
    around = [
        path
        for path, distance in near.distances.items()
        if distance and graph.get_note(path) is not None and (since_us is None or times.get(path, 0) >= since_us)
    ]
    around.sort(key=lambda path: (near.distances[path], -times.get(path, 0), path))
    related = []
    for path in around[:limit]:
        note = graph.get_note(path)
        assert note is not None
        nearer = near.distances[path] - 1
        edges = tuple(
            edge
            for edge in near.edges
            if (edge.source == path and any(near.distances.get(target) == nearer for target in edge.targets))
            or (path in edge.targets and near.distances[edge.source] == nearer)
        )
        related.append(RelatedNote(note, near.distances[path], edges))
    notes = tuple(note for path in starts if (note := graph.get_note(path)) is not None)
    plain = address.removeprefix(SCHEME)
    return MemoryContext(plain, notes, tuple(related), len(around) - len(related), len(paths) > len(starts))
