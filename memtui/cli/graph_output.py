"""The graph as text and as JSON, for the verbs that ask for it."""

from collections.abc import Iterable, Mapping

from memtui.cli import output
from memtui.cli.output import NotFound
from memtui.core.events import Event
from memtui.core.paths import ROOT_NAME, MemoryPath
from memtui.core.unicode import measure_cells, to_one_line
from memtui.engine import Engine
from memtui.knowledge.analysis import Reach, find_reach
from memtui.knowledge.graph import Edge, Graph, Node
from memtui.knowledge.model import Observation, ParsedNote

_NAMED = 5
"""Notes of the same name that a sentence lists."""


def serialize_path(path: str) -> str:
    return str(MemoryPath.from_relative(path))


def serialize_id(id: str) -> str:
    """What an edge leads to: the path of a note, `#tag`, or a directory with its slash."""
    if id.startswith("#"):
        return id
    return f"{ROOT_NAME}/{id}"


def serialize_note(note: ParsedNote) -> dict[str, object]:
    return {
        "path": serialize_path(note.path),
        "title": note.title,
        "type": note.type or None,
        "permalink": note.permalink or None,
        "status": note.status or None,
        "tags": list(note.tags),
    }


def serialize_node(node: Node, distance: int | None = None) -> dict[str, object]:
    """A node; `distance` is that from the notes that were asked for, `None` for a whole graph."""
    if node.note is not None:
        about = serialize_note(node.note)
        del about["path"]
    else:
        about = {"title": None, "type": None, "permalink": None, "status": None, "tags": []}
    return {"id": serialize_id(node.id), "kind": node.kind, **about, "distance": distance}


def serialize_edge(edge: Edge) -> dict[str, object]:
    link = edge.link
    return {
        "source": serialize_path(edge.source),
        "line": link.line if link is not None else None,
        "column": link.span[0] + 1 if link is not None else None,
        "end": link.span[1] + 1 if link is not None else None,
        "kind": edge.kind,
        "relation": edge.relation or None,
        "context": edge.context or None,
        "written": edge.wanted,
        "form": link.form if link is not None else None,
        "fragment": (link.fragment or None) if link is not None else None,
        "state": edge.state,
        "targets": [serialize_id(target) for target in edge.targets],
    }


def serialize_observation(path: str, each: Observation) -> dict[str, object]:
    time = each.time
    return {
        "path": serialize_path(path),
        "line": each.line,
        "column": each.span[0] + 1,
        "category": each.category or None,
        "content": each.content,
        "tags": list(each.tags),
        "context": each.context or None,
        "time": None
        if time is None
        else {
            "kind": time.kind,
            "start": time.start or None,
            "end": time.end or None,
            "has_start": time.has_start,
            "has_end": time.has_end,
            "empty": time.is_empty,
            "text": time.text,
        },
    }


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
