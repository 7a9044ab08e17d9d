"""Graphs of a few notes, for tests."""

from collections.abc import Mapping

from memtui.knowledge.graph import Graph
from memtui.knowledge.parse import parse_note


def make_graph(texts: Mapping[str, str], dialect: str = "") -> Graph:
    """A graph of notes by their paths; what does not end in `.md` is a file."""
    notes = {path: parse_note(text, path) if path.endswith(".md") else None for path, text in texts.items()}
    return Graph(notes, dialect=dialect)


def list_edges(graph: Graph) -> list[tuple[str, str, tuple[str, ...]]]:
    """All edges: source, what is written, targets."""
    return sorted((edge.source, edge.wanted, edge.targets) for edge in graph.iter_edges())
