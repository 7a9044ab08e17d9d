"""The graph as text, for the verbs that ask for it."""

from collections.abc import Iterable, Mapping

from memtui.cli import output
from memtui.cli.output import NotFound
from memtui.core.events import Event
from memtui.core.unicode import measure_cells, to_one_line
from memtui.engine import Engine
from memtui.knowledge.analysis import Reach, find_reach
from memtui.knowledge.graph import Edge, Graph

_NAMED = 5
"""Notes of the same name that a sentence lists."""


def serialize_short_event(event: Event | None) -> dict[str, object] | None:
    if event is None:
        return None
    return {
        "seq": event.seq,
        "ts": output.format_utc(event.at_us),
        "actor": event.actor.name,
        "actor_kind": type(event.actor).__name__.lower(),
        "command": event.command,
    }


def format_targets(edge: Edge) -> str:
    """Where an edge leads, in words."""
    if edge.state in ("dangling", "outside"):
        what = "no such note" if edge.state == "dangling" else "outside the folder"
        return f"{to_one_line(edge.wanted)} ({what})"
    targets = " or ".join(map(to_one_line, edge.targets))
    return f"{targets} (ambiguous)" if edge.state == "ambiguous" else targets


def print_rows(rows: Iterable[tuple[str, ...]]) -> None:
    """Rows of texts from outside, in columns; the last one is never padded."""
    shown = [tuple(to_one_line(cell) for cell in row) for row in rows]
    count = max((len(row) for row in shown), default=0)
    widths = [max((measure_cells(row[at]) for row in shown), default=0) for at in range(count - 1)]
    for row in shown:
        cells = [output.pad_cell(cell, width) for cell, width in zip(row, widths, strict=False)]
        output.print_line("  ".join([*cells, row[-1]]).rstrip())


def find_note(graph: Graph, given: str, path: str | None) -> str:
    """The note that a person named: by its path, else by name, title, alias or permalink.

    Args:
        path: The same word as a path in the folder; `None` if it cannot be one.

    Raises:
        NotFound: There is none, or several are called so.
    """
    if path is not None and path in graph:
        return path
    found = graph.find(given)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound(f"No note is called {given}. To find one: memtui search --names {given}")
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    raise NotFound(f"Several notes are called {given}: {', '.join(found[:_NAMED])}{more}. Give a path.")


def find_memory_reach(memory: Engine, graph: Graph, at: int | None) -> Reach:
    """What can be got to in a graph of now, or of an event."""
    rule = memory.dialect.get_rule
    return find_reach(graph, lambda path: bool(rule(path).loads), lambda path: memory.knowledge.read_text(path, at))


def count_states(edges: Iterable[Edge]) -> Mapping[str, int]:
    counts = dict.fromkeys(("resolved", "ambiguous", "dangling", "outside"), 0)
    for edge in edges:
        counts[edge.state] += 1
    return counts
