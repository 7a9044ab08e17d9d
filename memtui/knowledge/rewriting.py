"""Which links a move, a copy or a deletion would break, and the texts in which they lead to where they led before.

A link keeps the form in which it was written: its label and heading, its brackets, whether it names a note or a path,
with an extension or without. What could not be written in that form is left, and named with the reason. Links in code
are text, so they are never touched.
"""

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from urllib.parse import quote, unquote

from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import ROOT_NAME
from memtui.knowledge.graph import Edge, Graph
from memtui.knowledge.names import make_permalink
from memtui.knowledge.parse import parse_note
from memtui.notes.front_matter import find_front_matter_end
from memtui.notes.inline_blocks import find_inline_blocks
from memtui.notes.links import Link, make_link_key, slugify, strip_note_kind

LinkPlace = tuple[int, tuple[int, int]]
"""The line of a link, from 1, and its columns there."""
_NOT_IN_FRAGMENT = re.compile(r"[\[\]|#^\\]+")
_NO_WIKI = re.compile(r"[\[\]|#\n]")
_SAFE = "/!$&'*+,;=:@~"
"""What need not be encoded in a Markdown target, beside letters, digits and `_.-`."""
_TEXTS = (".md", ".txt")
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link that led to a note, and would not any more.

    Attributes:
        source: The path of the note in which it stands, afterwards.
        link: As it stands there before.
        target: The path that it shall lead to afterwards; `None` if that note is deleted.
        written: Its target as it is written now; of a link to a deleted note, the words that stay. Empty if it is left.
        left: Why it is left as it was, as words for `links that were left: …`; empty if it is rewritten.
    """

    source: str
    link: Link
    target: str | None
    written: str = ""
    left: str = ""


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """What becomes of the links.

    Attributes:
        changes: By the notes in which they stand, in the order of their lines.
        texts: The texts of the notes that change, by their paths afterwards.
        based_on: The texts that these were made of, by the same paths.
    """

    changes: tuple[LinkChange, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    based_on: Mapping[str, str] = field(default_factory=dict)

    @property
    def rewritten(self) -> list[LinkChange]:
        return [each for each in self.changes if not each.left]

    @property
    def left(self) -> list[LinkChange]:
        return [each for each in self.changes if each.left]


def plan_links(
    graph: Graph,
    moves: Mapping[str, str],
    read: Callable[[str], str | None],
    *,
    deleted: Collection[str] = (),
    copies: Mapping[str, str] = _NOTHING,
    find_reason: Callable[[str], str] = lambda _: "",
) -> LinkPlan:
    """Plan what becomes of the links when files are moved, deleted or copied.

    Args:
        graph: Of the folder as it is before; it is changed to what it is afterwards.
        moves: New paths by old ones, of files; of a note that is merged into another one, the path of that one.
        read: Returns what a note says, by its path before; `None` for what is no text.
        deleted: The paths of files that go.
        copies: New paths by the paths of the files that are copied.
        find_reason: Returns why a note may not be changed, by its path before; empty if it may be.
    """
    gone = {*moves, *deleted}
    texts: dict[str, str | None] = {path: read(path) for path in moves if graph.get_note(path) is not None}
    merged = {old for old, new in moves.items() if new in graph and new not in moves}
    arriving = {
        new: parse_note(text, new) if (text := texts.get(old)) is not None else None
        for old, new in moves.items()
        if old not in merged
    }
    sources = {path for path in moves if path not in merged and graph.get_note(path) is not None}
    for path in gone:
        sources |= graph.get_linkers(path, graph.get_note(path))
    for old, new in copies.items():
        texts[new] = read(old) if graph.get_note(old) is not None else None
        arriving[new] = parse_note(text, new) if (text := texts[new]) is not None else None
    for path, note in arriving.items():
        sources |= graph.get_linkers(path, note)
    before = {path: graph.get_edges(path) for path in sorted(sources - set(deleted) - merged)}
    before |= {new: graph.get_edges(old) for old, new in copies.items()}
    for path in gone:
        graph.remove(path)
    for path, note in arriving.items():
        graph.update(path, note)
    changes: list[LinkChange] = []
    written: dict[str, str] = {}
    based_on: dict[str, str] = {}
    for path, edges in before.items():
        source = moves.get(path, path)
        with_it = copies if path in arriving and path not in moves else _NOTHING
        broken = list(_find_broken(graph, edges, source, moves, deleted, with_it))
        if not broken:
            continue
        text = texts[path] if path in texts else read(path)
        reason = find_reason(path) if not with_it else ""
        if text is None or reason:
            changes += (LinkChange(source, edge.link, to, left=reason or "no text") for edge, to in broken if edge.link)
            continue
        rewritten = LinkRewriter(graph, source, text)
        changes += rewritten.rewrite(broken)
        if rewritten.text != text:
            written[source], based_on[source] = rewritten.text, text
    return LinkPlan(tuple(changes), written, based_on)


def may_break(
    graph: Graph, moves: Mapping[str, str], *, deleted: Collection[str] = (), copies: Mapping[str, str] = _NOTHING
) -> bool:
    """Whether links may break at all, which is quickly said of most notes. Arguments are as for `plan_links`."""
    for old, new in (*moves.items(), *copies.items()):
        note = graph.get_note(old)
        if (note is not None and note.links) or graph.get_linkers(new, note):
            return True
    gone = {*moves, *deleted}
    return any(not graph.get_linkers(path, graph.get_note(path)) <= gone for path in gone)


def _find_broken(
    graph: Graph,
    edges: Iterable[Edge],
    source: str,
    moves: Mapping[str, str],
    deleted: Collection[str],
    copies: Mapping[str, str],
) -> Iterator[tuple[Edge, str | None]]:
    """The links of a note that led to a note, and do not afterwards; each with where it shall lead."""
    after = {get_place(edge): edge.targets for edge in graph.get_edges(source)}
    for edge in edges:
        if len(edge.targets) != 1 or edge.link is None or not edge.link.path:
            continue
        to = edge.targets[0]
        if to in deleted:
            yield edge, None
            continue
        then = moves.get(to, to)
        if after.get(get_place(edge)) not in ((then,), (copies.get(to, then),)):
            yield edge, then


def get_place(edge: Edge) -> LinkPlace | None:
    """The line and the columns of a link; `None` for an edge that is none."""
    return (edge.link.line, edge.link.span) if edge.link is not None else None


class LinkRewriter:
    """Rewrites links of one note, each only if it leads to where it shall afterwards.

    Args:
        graph: Of the folder afterwards, with the note at its new path.
        source: That path.
        text: What the note says.
        above: By the places of links, words of a heading above the one that they name: there are several of its words.
    """

    def __init__(
        self, graph: Graph, source: str, text: str, above: Mapping[LinkPlace | None, str] = MappingProxyType({})
    ) -> None:
        self._graph = graph
        self._above = above
        self._source = source
        self._note = graph.get_note(source)
        self._lines = text.split("\n")
        self._quoted = set(_iter_quoted_lines(text)) if ">" in text else set()
        self._dropped: set[int] = set()

    @property
    def text(self) -> str:
        """What the note says now."""
        return "\n".join(line for number, line in enumerate(self._lines, 1) if number not in self._dropped)

    def rewrite(self, broken: Iterable[tuple[Edge, str | None]]) -> list[LinkChange]:
        """Rewrite what can be: from the end on, so that what stands before it keeps its place.

        Args:
            broken: Links as they stand in the note, each leading to the path where it led before, and the path where
                it shall lead; `None` where only its words stay.
        """
        found: list[LinkChange] = []
        for edge, to in sorted(broken, key=lambda each: get_place(each[0]) or (0, (0, 0)), reverse=True):
            link = edge.link
            if link is None:
                continue
            if link.form == "reference" and to is not None:
                continue  # its target stands in a definition, which is a link of its own
            left, words = "quoted", None
            if link.line not in self._quoted:
                words = self._unlink(edge, link) if to is None else self._relink(link, edge.targets[0], to)
                left = "" if words is not None else "it cannot be written in its form"
            found.append(LinkChange(self._source, link, to, words or "", left))
        return found[::-1]

    def _relink(self, link: Link, was: str, to: str) -> str | None:
        """Have a link lead to a path. Returns its target as it is written now; `None` if there is no way.

        Args:
            was: The path before of the note to which it leads.
        """
        place = link.target_span
        if place is None:
            return None
        line = self._lines[link.line - 1]
        rest = line[place[1] :]
        above = self._above.get((link.line, link.span))
        if above and rest.lstrip().startswith("#"):
            words = " ".join(_NOT_IN_FRAGMENT.sub(" ", above).split())
            rest = f"#{words if link.kind == 'wiki' else quote(slugify(above))}{rest.lstrip()}"
        for target in dict.fromkeys(spell_target(link, was, to, self._source)):
            words = line[: place[0]] + target + rest
            if self._leads_to(words, link, to):
                self._lines[link.line - 1] = words
                return target
        return None

    def _leads_to(self, words: str, link: Link, to: str) -> bool:
        """Whether a line has, where a link stood, one that leads to a path."""
        indent = len(words) - len(words.lstrip())  # alone, an indented line would be code
        found = [each.link for each in parse_note(words[indent:], self._source).links]
        links = [each for each in found if each.span[0] + indent == link.span[0] and each.form == link.form]
        return any(self._graph.resolve(each, self._source) == (to,) for each in links)

    def _unlink(self, edge: Edge, link: Link) -> str | None:
        """Leave the words of a link. An entry of an index goes with its line."""
        line = self._lines[link.line - 1]
        if link.form in ("definition", "import") or line[link.span[1] - 1 : link.span[1]] not in ("]", ")"):
            return None
        if edge.kind == "entry" and len([each for each in self._list_links() if each.line == link.line]) == 1:
            self._dropped.add(link.line)
            return link.label
        label = link.label if link.form != "wiki" or link.label != link.target else link.target.partition("#")[0]
        self._lines[link.line - 1] = line[: link.span[0]] + label + line[link.span[1] :]
        return label

    def _list_links(self) -> list[Link]:
        return [each.link for each in self._note.links] if self._note is not None else []


def _iter_quoted_lines(text: str) -> Iterator[int]:
    """The lines of quotations: what somebody said is left as it was."""
    for block in find_inline_blocks(text, find_front_matter_end(text)):
        if block.is_quoted:
            yield from (line for line, _ in block.places)


# The ways to write a target


def spell_target(link: Link, was: str, to: str, source: str) -> Iterator[str]:
    """How the target of a link to a path may be written, the most alike to how another one is written first.

    Args:
        link: The other one, which stands in the same note.
        was: The path to which that one leads, or led.
        to: The path to which the new one shall lead.
        source: The note in which both stand.
    """
    if link.kind == "wiki":
        return _spell_name(link.target.partition("#")[0].strip(), was, to, source)
    return _spell_path(link, to, source)


def _spell_name(name: str, was: str, to: str, source: str) -> Iterator[str]:
    """Names for a wiki link."""
    if _NO_WIKI.search(to):
        return
    stem = _drop_extension(to)
    full, short = (to, stem) if name.casefold().endswith(_TEXTS) else (stem, to)
    last = full.rpartition("/")[2]
    if name.startswith(("./", "../")):
        relative = posixpath.relpath(full, posixpath.dirname(source) or ".")
        yield relative if relative.startswith("../") else f"./{relative}"
    elif name.startswith("/"):
        yield f"{ROOT_NAME}/{full}"
    elif name == make_permalink(was) and not was.startswith(name):
        yield make_permalink(to)
    elif "/" not in name:
        key = make_link_key(last)
        if strip_note_kind(make_link_key(name)) == make_link_key(name) and strip_note_kind(key) != key:
            yield strip_note_kind(key)  # as Claude Code leaves the kind out
        yield last
    yield full
    yield short
    yield last


def _spell_path(link: Link, to: str, source: str) -> Iterator[str]:
    """Paths for a Markdown link or an import."""
    written = link.target.partition("#")[0] if link.kind == "markdown" else link.target
    plain = unquote(written) if link.kind == "markdown" else written
    here = posixpath.dirname(source) or "."
    has_extension = not plain or "." in plain.rpartition("/")[2]
    for target in (to, _drop_extension(to)) if has_extension else (_drop_extension(to), to):
        if plain.startswith("/"):
            path = f"{ROOT_NAME}/{target}"
        else:
            path = posixpath.relpath(target, here)
            if not path.startswith("../") and (plain.startswith("./") or ":" in path.partition("/")[0]):
                path = f"./{path}"
        if link.kind == "import":
            yield path.replace(" ", "\\ ")
        elif link.form == "angled" and "%" not in written:
            yield path.replace("%", "%25").replace("#", "%23")
        else:
            yield quote(path, safe=_SAFE) if path.isascii() or "%" in written else _quote_marks(path)


def _quote_marks(path: str) -> str:
    """A path with its letters as they are, and what would end a target encoded."""
    return "".join(sign if not sign.isascii() else quote(sign, safe=_SAFE) for sign in path)


def _drop_extension(path: str) -> str:
    stem, dot, extension = path.rpartition(".")
    return stem if dot and f".{extension.casefold()}" in _TEXTS and not stem.endswith("/") else path


def expand_moves(graph: Graph, moves: Mapping[str, str]) -> dict[str, str]:
    """New paths by old ones of all files of a graph that move, with their directories or by themselves."""
    found: dict[str, str] = {}
    for path in graph:
        top = path
        while top and top not in moves:
            top = top.rpartition("/")[0]
        if top and moves[top] != top:
            found[path] = moves[top] + path[len(top) :]
    return found


def count_links(changes: Iterable[LinkChange]) -> tuple[int, int]:
    """How many links there are, and in how many notes."""
    some = list(changes)
    return len(some), len({each.source for each in some})
