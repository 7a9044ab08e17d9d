"""Names, titles, headings and paths for a link that is being typed."""

import posixpath
import re
from collections.abc import Iterator

from memtui.core.lazy_dataclass import dataclass
from memtui.knowledge.graph import Graph

_OPEN_WIKI = re.compile(r"\[\[([^\[\]|\n#]{0,200})(?:#([^\[\]|\n]{0,200}))?$")
_OPEN_PATH = re.compile(r"\[[^\[\]\n]{0,400}\]\(<?([^()<>\n]{0,400})$")
_MOST = 50
_NOT_IN_WIKI = frozenset("[]|#\n")
_ANGLED = frozenset(" \t()")
_NOT_IN_PATH = frozenset("<>\n\\")


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """A link that ends at the cursor and is not closed.

    Attributes:
        kind: `wiki`, `heading` of a note that is named before it, or `path`.
        typed: What stands there of it.
        start: The column at which that begins; of a path, behind the `(`.
        note: The name before the `#`; empty for the note itself.
    """

    kind: str
    typed: str
    start: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What may stand there.

    Attributes:
        text: Takes the place of what was typed, without the closing brackets.
        label: Tells it from others: the path of the note; of a heading its level.
    """

    text: str
    label: str


def find_link_request(before: str) -> LinkRequest | None:
    """The link that is being typed in a line, up to the cursor; `None` if there is none."""
    if (wiki := _OPEN_WIKI.search(before)) is not None:
        if wiki[2] is not None:
            return LinkRequest("heading", wiki[2], wiki.start(2), wiki[1])
        return LinkRequest("wiki", wiki[1], wiki.start(1))
    if (path := _OPEN_PATH.search(before)) is not None and ":" not in path[1]:
        return LinkRequest("path", path[1], before.rindex("(") + 1)
    return None


def complete_link(graph: Graph, request: LinkRequest, source: str, *, limit: int = _MOST) -> list[Completion]:
    """What may stand in the place of what was typed: first what begins with it, then what holds it."""
    typed = request.typed.strip().casefold()
    ranked: list[tuple[tuple[int, int, str], Completion]] = []
    for name, each in _iter_candidates(graph, request, source):
        folded = name.casefold()
        at = folded.find(typed)
        if at >= 0:
            rank = 0 if at == 0 else 1 if not folded[at - 1].isalnum() else 2
            ranked.append(((rank, len(name), folded), each))
    found = dict.fromkeys(each for _, each in sorted(ranked, key=lambda pair: pair[0]))
    return _choose_clear_names(graph, list(found)[: 2 * limit], request, source)[:limit]


def _iter_candidates(graph: Graph, request: LinkRequest, source: str) -> Iterator[tuple[str, Completion]]:
    if request.kind == "heading":
        targets = graph.resolve_name(request.note, source) if request.note else (source,)
        note = graph.get_note(targets[0]) if targets else None
        for heading in note.headings if note is not None else ():
            if _NOT_IN_WIKI.isdisjoint(heading.text):
                yield heading.text, Completion(heading.text, "#" * heading.level)
        return
    if request.kind == "path":
        here = source.rpartition("/")[0]
        for path in graph:
            if path != source and _NOT_IN_PATH.isdisjoint(path):
                relative = posixpath.relpath(path, here or ".")
                text = f"<{relative}>" if not _ANGLED.isdisjoint(relative) else relative
                yield relative, Completion(text, path)
        return
    for note in graph.notes:
        stem = note.path.rpartition("/")[2].rpartition(".")[0]
        names = {name.casefold(): name for name in reversed((note.title, stem, *note.names))}
        for name in names.values():
            if note.path != source and name and _NOT_IN_WIKI.isdisjoint(name):
                yield name, Completion(name, note.path)


def _choose_clear_names(graph: Graph, found: list[Completion], request: LinkRequest, source: str) -> list[Completion]:
    """Of names that may mean several notes, the whole path in their place."""
    if request.kind != "wiki":
        return found
    clear: dict[Completion, None] = {}
    for each in found:
        is_clear = graph.resolve_name(each.text, source) == (each.label,)
        name = each.text if is_clear else each.label.rpartition(".")[0] or each.label
        clear[Completion(name, each.label)] = None
    return list(clear)
