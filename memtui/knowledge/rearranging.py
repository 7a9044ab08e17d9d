"""What becomes of links where notes are made of parts of others: two that are merged, or one that is split."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from memtui.knowledge.graph import Edge, Graph
from memtui.knowledge.merging import ComposedNote
from memtui.knowledge.parse import parse_note
from memtui.knowledge.rewriting import LinkChange, LinkPlace, LinkPlan, LinkRewriter, get_place

_Broken = tuple[Edge, str]


def plan_rearranged(
    graph: Graph,
    composed: Mapping[str, ComposedNote],
    gone: Collection[str],
    read: Callable[[str], str | None],
    *,
    find_target: Callable[[Edge], str | None],
    find_reason: Callable[[str], str] = lambda _: "",
    find_above: Callable[[Edge], str] = lambda _: "",
) -> LinkPlan:
    """Plan what becomes of the links when notes are made of parts of others.

    Args:
        graph: Of the folder as it is before; it is changed to what it is afterwards.
        composed: The notes that are made, by their paths.
        gone: The paths of notes that are no more.
        read: Returns what another note says.
        find_target: Returns the path where a link, as it stands before, shall lead; `None` for one that led to no note,
            or to several.
        find_reason: Returns why a note may not be changed; empty if it may be.
        find_above: Returns the words of a heading that have to stand before the one that a link, as it stood before,
            names; empty if that one is enough.

    Returns:
        Of the notes that are made only the texts that differ from those that were given.
    """
    parsed = {path: parse_note(each.text, path) for path, each in composed.items()}
    sources: set[str] = set()
    for path in (*gone, *composed):
        sources |= graph.get_linkers(path, graph.get_note(path))
    for path, note in parsed.items():
        sources |= graph.get_linkers(path, note)
    others = sorted(sources - composed.keys() - set(gone))
    before = {path: graph.get_edges(path) for path in others}
    origins = {origin.path for each in composed.values() for origin in each.origins if origin is not None}
    moved = {path: graph.get_edges(path) for path in origins}
    for path in gone:
        graph.remove(path)
    for path, note in parsed.items():
        graph.update(path, note)
    changes: list[LinkChange] = []
    written: dict[str, str] = {}
    based_on: dict[str, str] = {}
    broken: dict[str, list[_Broken]] = {}
    above: dict[str, dict[LinkPlace | None, str]] = {}
    for path, edges in before.items():
        after = {get_place(edge): edge.targets for edge in graph.get_edges(path)}
        wanted = [(edge, to) for edge in edges if (to := find_target(edge)) is not None]
        broken[path] = [
            (edge, to)
            for edge, to in wanted
            if after.get(get_place(edge)) != (to,) or any(target in gone for target in edge.targets)
        ]
        above[path] = {get_place(edge): words for edge, _ in broken[path] if (words := find_above(edge))}
    for path, each in composed.items():
        broken[path], above[path] = [], {}
        for was, edge, to in _iter_moved_links(graph.get_edges(path), each, moved, find_target):
            if edge is None and was.link is not None:
                changes.append(LinkChange(path, was.link, to, left="it cannot be written in its form"))
            elif edge is not None and ((words := find_above(was)) or _is_broken(was, edge, to, gone)):
                above[path][get_place(edge)] = words
                broken[path].append((replace(edge, targets=was.targets or (was.source,)), to))
    for path, found in sorted(broken.items()):
        if not found:
            continue
        text = composed[path].text if path in composed else read(path)
        reason = find_reason(path)
        if text is None or reason:
            changes += (LinkChange(path, edge.link, to, left=reason or "no text") for edge, to in found if edge.link)
            continue
        rewriter = LinkRewriter(graph, path, text, above[path])
        changes += rewriter.rewrite(found)
        if rewriter.text != text:
            written[path], based_on[path] = rewriter.text, text
    return LinkPlan(tuple(changes), written, based_on)


def _iter_moved_links(
    edges: Collection[Edge],
    composed: ComposedNote,
    before: Mapping[str, Collection[Edge]],
    find_target: Callable[[Edge], str | None],
) -> Iterator[tuple[Edge, Edge | None, str]]:
    """The links that came from other notes: as they were, as they stand now, and where they shall lead.

    A link that was one and is none now is `None` as it stands now.
    """
    there: dict[int, list[Edge]] = {}
    for edge in edges:
        if edge.link is not None:
            there.setdefault(edge.link.line, []).append(edge)
    was: dict[tuple[str, int], list[Edge]] = {}
    for path, found in before.items():
        for edge in found:
            if edge.link is not None:
                was.setdefault((path, edge.link.line), []).append(edge)
    for line, origin in enumerate(composed.origins, 1):
        if origin is None:
            continue
        now = there.get(line, [])
        for number in range(origin.first, origin.last + 1):
            for edge in was.get((origin.path, number), []):
                same = next((each for each in now if _get_key(each) == _get_key(edge)), None)
                if same is not None:
                    now.remove(same)
                to = find_target(edge)
                if to is not None:
                    yield edge, same, to


def _is_broken(was: Edge, edge: Edge, to: str, gone: Collection[str]) -> bool:
    """Whether a link leads to another note than it shall, or is written as one to a note that is no more."""
    if was.link is None or (was.link.path == "" and edge.source == to):
        return False  # a heading of its own note
    return edge.targets != (to,) or any(target in gone for target in was.targets)


def _get_key(edge: Edge) -> tuple[str, str]:
    """What is the same of a link wherever it stands."""
    link = edge.link
    if link is None:
        return "", ""
    return link.form, link.label if link.form == "reference" else link.target
