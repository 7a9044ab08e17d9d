"""How edges came and went: between two events, and in the versions of one note, as lines are blamed."""

from collections.abc import Callable, Iterable, Sequence

from memtui.core.events import Event
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.knowledge.analysis import Reach
from memtui.knowledge.graph import Edge, Graph
from memtui.knowledge.model import NoteLink, ParsedNote
from memtui.knowledge.parse import parse_note
from memtui.knowledge.source import GraphSource, History, is_note

EdgeKey = tuple[str, str, str]
"""What makes an edge of a note the same in two versions: kind, relation, and what is written."""
_MOST_VERSIONS = 1_000
"""Of a note, the newest, in which its edges are looked for."""
_MOST_CHARACTERS = 500_000
"""Of a note whose links are compared while a person waits."""
_MOST_NAMED = 6
"""Links that a sentence names."""


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """An edge of one graph that is not in another one, or leads elsewhere there; `after` or `before` may be `None`."""

    before: Edge | None
    after: Edge | None

    @property
    def sign(self) -> str:
        """`+` new, `-` gone, `~` leads to another note, or to none."""
        return "+" if self.before is None else "-" if self.after is None else "~"


@dataclass(frozen=True, slots=True)
class GraphChange:
    """What became of a graph between two events.

    Attributes:
        edges: By source.
        orphaned: The paths of notes that were reached, and are not now; those that are gone are none.
        found: The paths of notes that were not reached, or not there, and are reached now.
    """

    edges: tuple[EdgeChange, ...]
    orphaned: tuple[str, ...] = ()
    found: tuple[str, ...] = ()


def compare_graphs(old: Graph, new: Graph, reach: Callable[[Graph], Reach] | None = None) -> GraphChange:
    """The differences of two graphs.

    Args:
        reach: Finds what is reached in a graph; `None` to compare edges alone.
    """
    changes: list[EdgeChange] = []
    for path in sorted({*old, *new}):
        if path in old and path in new and old.get_note(path) is new.get_note(path):
            pairs = zip(old.get_edges(path), new.get_edges(path), strict=True)
            changes += (EdgeChange(before, after) for before, after in pairs if before.targets != after.targets)
            continue
        before, after = _index_edges(old.get_edges(path)), _index_edges(new.get_edges(path))
        for key in dict.fromkeys((*before, *after)):
            was, now = before.get(key), after.get(key)
            if was is None or now is None or was.targets != now.targets:
                changes.append(EdgeChange(was, now))
    if reach is None:
        return GraphChange(tuple(changes))
    was_reached, is_reached = reach(old).reached, reach(new)
    orphaned = was_reached.intersection(is_reached.orphans)
    found = {path for path in is_reached.reached - was_reached if new.get_note(path) is not None}
    return GraphChange(tuple(changes), tuple(sorted(orphaned)), tuple(sorted(found)))


def _index_edges(edges: Iterable[Edge]) -> dict[EdgeKey, Edge]:
    return {(edge.kind, edge.relation, edge.wanted): edge for edge in edges}


@dataclass(frozen=True, slots=True)
class EdgeLife:
    """How long a note had an edge.

    Attributes:
        key: Its kind, its relation, and what is written.
        added: The event that brought it in; `None` if it is older than what is known.
        removed: The event that took it away; `None` if it is there.
    """

    key: EdgeKey
    added: Event | None
    removed: Event | None = None


def blame_edges(source: GraphSource, history: History, path: str) -> list[EdgeLife]:
    """Which events brought in the edges of a note and took them away, through its renames, the oldest first.

    An edge that went and came back has two lives. Versions whose text is not kept tell nothing.
    """
    rows = list(history.versions_of(path, limit=_MOST_VERSIONS))
    is_complete = len(rows) < _MOST_VERSIONS
    since: dict[EdgeKey, Event | None] = {}
    lives: list[EdgeLife] = []
    is_first = True
    for row in reversed(rows):
        if row.after is None and row.moved_to is not None:
            continue  # told by the row of where it went
        note = source.read_version(row.path, row.after)
        if note is None and row.after is not None:
            continue
        now = _list_keys(note)
        gone = [key for key in since if key not in now]
        lives += [EdgeLife(key, since.pop(key), row.event) for key in gone]
        for key in now:
            if key not in since:
                since[key] = row.event if is_complete or not is_first else None
        is_first = False
    return lives + [EdgeLife(key, event) for key, event in since.items()]


def _list_keys(note: ParsedNote | None) -> dict[EdgeKey, None]:
    return dict.fromkeys(map(make_edge_key, note.links)) if note is not None else {}


def make_edge_key(link: NoteLink) -> EdgeKey:
    return link.kind, link.relation, link.link.target


def describe_link_changes(old: str, new: str, path: str) -> str:
    """Which links a change of a note added and removed, as they are written, in a sentence each; empty for none.

    Args:
        old: The text before.
        new: The text after it.
        path: Of the note.
    """
    if not is_note(path) or max(len(old), len(new)) > _MOST_CHARACTERS:
        return ""
    before, after = _list_keys(parse_note(old, path)), _list_keys(parse_note(new, path))
    added = [key for key in after if key not in before]
    removed = [key for key in before if key not in after]
    return " ".join(
        f"Links {what}: {_name_some(keys)}." for what, keys in (("added", added), ("removed", removed)) if keys
    )


def _name_some(keys: Sequence[EdgeKey]) -> str:
    shown = [f"{relation} {target}".lstrip() for _, relation, target in keys[:_MOST_NAMED]]
    more = f" and {len(keys) - _MOST_NAMED:,} more" if len(keys) > _MOST_NAMED else ""
    return to_one_line(", ".join(shown)) + more
