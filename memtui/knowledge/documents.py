"""Notes, edges and observations as JSON data, and as lines: the same for the command line and for agents.

Words of notes are as they are in data; whoever writes a line makes it one (`to_one_line`).
"""

from memtui.core.paths import ROOT_NAME, MemoryPath
from memtui.knowledge.context import MemoryContext, RelatedNote
from memtui.knowledge.graph import Edge, Node
from memtui.knowledge.model import Observation, ParsedNote


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


def serialize_context(found: MemoryContext) -> dict[str, object]:
    return {
        "address": found.address,
        "notes": [serialize_stated_note(note) for note in found.notes],
        "related": [serialize_related_note(each) for each in found.related],
        "left_out": found.left_out,
        "cut": found.is_cut,
    }


def serialize_stated_note(note: ParsedNote) -> dict[str, object]:
    """A note with its observations."""
    return {
        **serialize_note(note),
        "observations": [serialize_observation(note.path, each) for each in note.observations],
    }


def serialize_related_note(each: RelatedNote) -> dict[str, object]:
    return {
        **serialize_note(each.note),
        "distance": each.distance,
        "edges": [serialize_edge(edge) for edge in each.edges],
    }


def format_observation(each: Observation) -> tuple[str, str]:
    """The category of an observation in brackets, if it has one, and the rest of it."""
    when = f"{each.time.text} " if each.time is not None else ""
    content = f"{when}{each.content}" + (f" ({each.context})" if each.context else "")
    return f"[{each.category}]" if each.category else "", content


def format_ways(each: RelatedNote) -> str:
    """How a related note hangs together with nearer ones."""
    ways = [
        f"{edge.relation or edge.kind} from it"
        if edge.source == each.note.path
        else f"{edge.relation or edge.kind} to it"
        for edge in each.edges
    ]
    return ", ".join(dict.fromkeys(ways))
