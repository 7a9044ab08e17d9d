"""Notes and what leads from one to another.

What a link means is found when it is asked for, and kept until a note comes, goes or changes its names under which that
link could mean something else. So a changed note costs as much as its own links, in a folder of any size.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

from memtui.core.lazy_dataclass import dataclass
from memtui.knowledge.model import NoteLink, ParsedNote
from memtui.knowledge.names import NoteNames, iter_link_keys, list_note_keys
from memtui.notes.links import Link

LINK_KINDS = ("entry", "import", "markdown", "relation", "wiki")
"""Kinds of edges that are written as links."""
KINDS = (*LINK_KINDS, "folder", "tag")
"""All kinds: notes are also tied by a tag that they share, and by the directory in which they stand."""

State = Literal["resolved", "ambiguous", "dangling", "outside"]


@dataclass(frozen=True, slots=True)
class Edge:
    """What leads from a note to another one.

    Attributes:
        source: The path of the note in which it stands.
        kind: One of `KINDS`.
        targets: The paths that it may mean: several if it is ambiguous, none if there is no such note. Of a tag
            `#name`, of a directory `name/`.
        link: As it stands in the note; `None` for a tag or a directory.
        relation: Its type, such as `part_of`; empty if it has none.
        context: What is said of a relation in parentheses; else empty.
    """

    source: str
    kind: str
    targets: tuple[str, ...]
    link: Link | None = None
    relation: str = ""
    context: str = ""

    @property
    def state(self) -> State:
        """Whether it leads to a note; `outside` is a path out of the folder."""
        if len(self.targets) == 1:
            return "resolved"
        if self.targets:
            return "ambiguous"
        return "outside" if self.link is not None and self.link.path is None else "dangling"

    @property
    def wanted(self) -> str:
        """What it names, as it is written."""
        return self.link.target if self.link is not None else self.targets[0]


@dataclass(frozen=True, slots=True)
class Node:
    """A note, a file, a tag or a directory of a graph.

    Attributes:
        id: The path of a note or a file; `#name` of a tag, `name/` of a directory.
        kind: `note`, `file`, `tag` or `folder`.
    """

    id: str
    kind: str
    note: ParsedNote | None = None


class Graph:
    """All notes of a folder and their edges. Not thread-safe.

    Args:
        notes: What was read of each file, by its path; `None` for a file that is no note.
        dialect: The name of the kind of folder, which decides what a link means; empty for none in particular.
    """

    def __init__(self, notes: Mapping[str, ParsedNote | None] | None = None, *, dialect: str = "") -> None:
        self._notes: dict[str, ParsedNote | None] = {}
        self._names = NoteNames(dialect)
        self._edges: dict[str, tuple[Edge, ...]] = {}
        self._linkers: dict[str, set[str]] = {}
        """The notes with a link that may mean a note of a key."""
        self._by_tag: dict[str, set[str]] = {}
        self._by_folder: dict[str, set[str]] = {}
        for path, note in (notes or {}).items():
            self.update(path, note)

    def __len__(self) -> int:
        return len(self._notes)

    def __contains__(self, path: object) -> bool:
        return path in self._notes

    def __iter__(self) -> Iterator[str]:
        return iter(self._notes)

    # What is there

    @property
    def notes(self) -> Iterator[ParsedNote]:
        """All that are notes, in no order."""
        return (note for note in self._notes.values() if note is not None)

    @property
    def folders(self) -> Mapping[str, Collection[str]]:
        """The paths of what stands in each directory, as `name/`; empty for the folder itself."""
        return self._by_folder

    @property
    def tags(self) -> Mapping[str, Collection[str]]:
        """The paths of the notes of each tag."""
        return self._by_tag

    def get_note(self, path: str) -> ParsedNote | None:
        """What was read of a note; `None` if it is no note, or not there."""
        return self._notes.get(path)

    def get_node(self, id: str) -> Node:
        """What an id names."""
        if id in self._notes:
            note = self._notes[id]
            return Node(id, "file" if note is None else "note", note)
        return Node(id, "tag" if id.startswith("#") else "folder")

    # Keeping it up

    def update(self, path: str, note: ParsedNote | None) -> None:
        """Add a note or a file, or replace it."""
        before = self._notes.get(path)
        if path in self._notes:
            if _has_same_names(before, note):
                self._drop_links(path, before)
                self._notes[path] = note
                self._add_links(path, note)
                return
            self.remove(path)
        self._notes[path] = note
        self._by_folder.setdefault(get_folder(path), set()).add(path)
        self._names.add(path, note)
        self._add_links(path, note)
        self._forget_meanings(path, note)

    def remove(self, path: str) -> None:
        """Remove a note or a file; nothing if it is not there."""
        if path not in self._notes:
            return
        note = self._notes.pop(path)
        _discard(self._by_folder, get_folder(path), path)
        self._names.remove(path, note)
        self._drop_links(path, note)
        self._forget_meanings(path, note)

    def _add_links(self, path: str, note: ParsedNote | None) -> None:
        self._edges.pop(path, None)
        if note is not None:
            for key in _list_link_keys(note.links):
                self._linkers.setdefault(key, set()).add(path)
            for tag in note.tags:
                self._by_tag.setdefault(tag, set()).add(path)

    def _drop_links(self, path: str, note: ParsedNote | None) -> None:
        self._edges.pop(path, None)
        if note is not None:
            for key in _list_link_keys(note.links):
                _discard(self._linkers, key, path)
            for tag in note.tags:
                _discard(self._by_tag, tag, path)

    def _forget_meanings(self, path: str, note: ParsedNote | None) -> None:
        """Forget what links mean that may mean a note which came or went."""
        if self._edges:
            for key in list_note_keys(path, note):
                for source in self._linkers.get(key, ()):
                    self._edges.pop(source, None)

    # Edges

    def get_edges(self, path: str) -> tuple[Edge, ...]:
        """The links of a note, in the order in which they stand."""
        edges = self._edges.get(path)
        if edges is None:
            note = self._notes.get(path)
            edges = tuple(self._make_edge(path, each) for each in note.links) if note is not None else ()
            self._edges[path] = edges
        return edges

    def _make_edge(self, path: str, each: NoteLink) -> Edge:
        return Edge(path, each.kind, self._names.resolve(each.link, path), each.link, each.relation, each.context)

    def iter_edges(self, kinds: Iterable[str] = LINK_KINDS) -> Iterator[Edge]:
        """All edges of some kinds."""
        wanted = frozenset(kinds)
        for path in list(self._notes):
            yield from self.get_edges_out(path, wanted)

    def get_edges_out(self, id: str, kinds: Collection[str] = LINK_KINDS) -> list[Edge]:
        """The edges of some kinds that begin at a note. Those of tags and directories begin at notes."""
        edges = [edge for edge in self.get_edges(id) if edge.kind in kinds]
        note = self._notes.get(id)
        if "tag" in kinds and note is not None:
            edges += [Edge(id, "tag", (f"#{tag}",)) for tag in note.tags]
        if "folder" in kinds and id in self._notes and "/" in id:
            edges.append(Edge(id, "folder", (get_folder(id),)))
        return edges

    def get_edges_in(self, id: str, kinds: Collection[str] = LINK_KINDS) -> list[Edge]:
        """The edges of some kinds that lead to a note, a tag or a directory, ambiguous ones too, by their source."""
        if id not in self._notes:
            kind, index, key = ("tag", self._by_tag, id[1:]) if id.startswith("#") else ("folder", self._by_folder, id)
            return [Edge(path, kind, (id,)) for path in sorted(index.get(key, ()))] if kind in kinds else []
        sources = self.get_linkers(id, self._notes[id])
        edges = (edge for source in sorted(sources | {id}) for edge in self.get_edges(source))
        return [edge for edge in edges if edge.kind in kinds and id in edge.targets]

    def get_linkers(self, path: str, note: ParsedNote | None) -> set[str]:
        """The notes with a link that may mean a note at a path, whether it is there or not."""
        return {source for key in list_note_keys(path, note) for source in self._linkers.get(key, ())}

    def resolve(self, link: Link, source: str) -> tuple[str, ...]:
        """The paths that a link in a note may mean; `source` is the path of that note."""
        return self._names.resolve(link, source)

    def resolve_name(self, name: str, source: str = "") -> tuple[str, ...]:
        """The paths that a wiki link of a name would mean if it stood in a note."""
        return self._names.resolve(Link("wiki", name, name, "", name, 0, (0, 0)), source)

    def find(self, name: str) -> tuple[str, ...]:
        """The notes that a person may mean: by path, name, title, alias or permalink; several if it is ambiguous."""
        plain = name.removeprefix("/memories/").strip("/")
        if plain in self._notes:
            return (plain,)
        return self.resolve_name(plain)

    def find_permalink(self, permalink: str) -> tuple[str, ...]:
        """The notes of a permalink, declared or made of their paths."""
        return tuple(self._names.find_permalink(permalink))


def get_folder(path: str) -> str:
    """The directory of a note, as `name/`; empty for the folder itself."""
    return path[: path.rfind("/") + 1]


def _has_same_names(before: ParsedNote | None, note: ParsedNote | None) -> bool:
    if before is None or note is None:
        return before is note
    return (before.title, before.names, before.permalink) == (note.title, note.names, note.permalink)


def _list_link_keys(links: Iterable[NoteLink]) -> dict[str, None]:
    return dict.fromkeys(key for each in links for key in iter_link_keys(each.link))


def _discard(index: dict[str, set[str]], key: str, path: str) -> None:
    found = index.get(key)
    if found is not None:
        found.discard(path)
        if not found:
            del index[key]
