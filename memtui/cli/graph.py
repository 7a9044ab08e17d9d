"""`memtui graph`, `links` and `orphans`: what leads from note to note, now and at any event."""

import argparse
from collections.abc import Iterable

from memtui.cli import context, graph_output, output, times
from memtui.cli.context import open_memory
from memtui.cli.graph_output import find_memory_reach, find_note, print_rows
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, UsageError
from memtui.cli.parsing import Parser, Verb, make_count_parser
from memtui.core.events import Event, format_actor_name
from memtui.core.times import PointInTime
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.knowledge import analysis, diagrams, documents
from memtui.knowledge.analysis import Filter, Neighbourhood
from memtui.knowledge.documents import serialize_path
from memtui.knowledge.graph import KINDS, LINK_KINDS, Edge, Graph, Node
from memtui.knowledge.mentions import Mention, find_mentions
from memtui.knowledge.past import EdgeLife, blame_edges, compare_graphs, make_edge_key

_LISTED = 10
"""Hubs, cycles and other groups that a summary lists."""


def add_graph_options(parser: Parser) -> None:
    parser.add_value("note", "NOTE", "a path, name or title; else the whole folder", nargs="?")
    parser.add_value("--depth", "N", "so many links far from NOTE; default 1", type=make_count_parser("depth", most=99))
    parser.add_value("--at", "MOMENT", "as it was: 41, 2026-11-20, 10:14, 2h ago", type=times.parse_moment)
    parser.add_value("--kind", "KIND", "only these edges; each with --kind", action="append", choices=KINDS)
    parser.add_value("--type", "TYPE", "only notes of a type", action="append")
    parser.add_value("--tag", "TAG", "only notes with a tag", action="append")
    parser.add_flag("--dot", "for Graphviz")
    parser.add_flag("--mermaid", "for Mermaid")


def run_graph(options: Options, arguments: argparse.Namespace) -> int:
    chosen = [name for name in ("dot", "mermaid") if getattr(arguments, name)] + ["json"] * options.json
    if len(chosen) > 1:
        raise UsageError(f"memtui graph: --{chosen[0]} and --{chosen[1]} do not go together. Leave one of them out.")
    if arguments.depth is not None and arguments.note is None:
        raise UsageError("memtui graph: --depth needs a note to begin at. See: memtui graph --help")
    folder = context.resolve_folder(options)
    wanted = Filter(
        frozenset(arguments.kind or LINK_KINDS),
        frozenset(each.casefold() for each in arguments.type or ()),
        frozenset(each.removeprefix("#") for each in arguments.tag or ()),
    )
    with open_memory(folder, options) as memory:
        at = _find_event(memory, arguments.at)
        graph = memory.graph(at)
        if arguments.note is None:
            note, near = None, _take_all(graph, wanted)
        else:
            note = _find_note(graph, arguments.note, folder)
            depth = 1 if arguments.depth is None else arguments.depth
            near = analysis.find_neighbourhood(graph, [note], depth, wanted)
        nodes = [graph.get_node(id) for id in near.distances]
        if options.json:
            output.print_json(_serialize_graph(memory, graph, near, nodes, note, at))
        elif arguments.dot:
            output.print_text(diagrams.format_dot(nodes, near.edges))
        elif arguments.mermaid:
            output.print_text(diagrams.format_mermaid(nodes, near.edges))
        elif note is None:
            _print_summary(memory, graph, near, at)
        else:
            _print_neighbourhood(near)
    return ExitCode.OK


def _take_all(graph: Graph, wanted: Filter) -> Neighbourhood:
    """All of a graph that passes a filter."""
    nodes = dict.fromkeys((id for id in sorted(graph) if wanted.accepts(graph.get_node(id))), 0)
    edges = [edge for id in nodes for edge in graph.get_edges_out(id, wanted.kinds)]
    for edge in edges:
        if edge.link is None:
            nodes.update(dict.fromkeys(edge.targets, 0))
    edges = [edge for edge in edges if not edge.targets or any(target in nodes for target in edge.targets)]
    return Neighbourhood(nodes, tuple(edges))


def _find_event(memory: Engine, when: PointInTime | None) -> int | None:
    return None if when is None or when.is_now else times.find_seq(memory, when)


def _find_note(graph: Graph, given: str, folder: str) -> str:
    try:
        path = context.parse_memory_path(given, folder).relative
    except Failure:
        path = None
    return find_note(graph, given, path)


def _serialize_graph(
    memory: Engine, graph: Graph, near: Neighbourhood, nodes: list[Node], note: str | None, at: int | None
) -> dict[str, object]:
    document: dict[str, object] = {
        "folder": memory.store.path,
        "dialect": memory.dialect.name or None,
        "at": at,
        "note": serialize_path(note) if note is not None else None,
        "cut": near.is_cut,
        "nodes": [
            documents.serialize_node(node, near.distances[node.id] if note is not None else None) for node in nodes
        ],
        "edges": [documents.serialize_edge(edge) for edge in near.edges],
    }
    if note is None:
        reach = find_memory_reach(memory, graph, at)
        document["summary"] = {
            **graph_output.count_states(graph.iter_edges()),
            "roots": [serialize_path(path) for path in reach.roots],
            "orphans": [serialize_path(path) for path in reach.orphans],
            "hubs": [{"path": serialize_path(path), "links": count} for path, count in analysis.find_hubs(graph)],
            "islands": [[serialize_path(path) for path in each] for each in analysis.find_islands(graph)],
            "cycles": [[serialize_path(path) for path in each] for each in analysis.find_cycles(graph)],
        }
    return document


def _print_summary(memory: Engine, graph: Graph, near: Neighbourhood, at: int | None) -> None:
    counts = graph_output.count_states(near.edges)
    notes = sum(1 for _ in graph.notes)
    reach = find_memory_reach(memory, graph, at)
    dangling = analysis.find_dangling(graph)
    ambiguous = analysis.find_ambiguous(graph)
    islands = [each for each in analysis.find_islands(graph) if len(each) > 1]
    cycles = analysis.find_cycles(graph)
    files = len(graph) - notes
    others = f", and {format_count(files, 'other file')}" if files else ""
    output.print_line(f"{format_count(notes, 'note')}{others}, {format_count(sum(counts.values()), 'edge')}")
    rows: list[tuple[str, ...]] = []
    roots = f" from {', '.join(reach.roots[:3])}" if reach.roots else ""
    rows += _list_group("not reached" + roots, list(reach.orphans))
    rows += _list_group("dangling", list(dict.fromkeys(edge.wanted for edge in dangling)))
    rows += _list_group("ambiguous", list(dict.fromkeys(edge.wanted for edge in ambiguous)))
    rows += _list_group("islands", [f"{format_count(len(each), 'note')} with {each[0]}" for each in islands])
    rows += _list_group("cycles", [" -> ".join([*each, each[0]]) for each in cycles])
    rows += _list_group("hubs", [f"{path} ({count:,})" for path, count in analysis.find_hubs(graph)], is_counted=False)
    for group, *words in rows:
        output.print_line(f"{to_one_line(group)}:" if not words else f"  {to_one_line(words[0])}")


def _list_group(name: str, lines: list[str], *, is_counted: bool = True) -> list[tuple[str, ...]]:
    if not lines:
        return []
    more = [f"and {len(lines) - _LISTED:,} more"] if len(lines) > _LISTED else []
    title = f"{name} ({len(lines):,})" if is_counted else name
    return [(title,), *((title, line) for line in [*lines[:_LISTED], *more])]


def _print_neighbourhood(near: Neighbourhood) -> None:
    rows = [
        (
            f"{edge.source}:{edge.link.line}" if edge.link is not None else edge.source,
            edge.relation or edge.kind,
            graph_output.format_targets(edge),
        )
        for edge in near.edges
    ]
    print_rows(rows)
    if not rows:
        output.print_message("Nothing links to it, and it links to nothing.")
    if near.is_cut:
        output.print_message(f"Only the nearest {analysis.MOST_NODES:,} are shown.")


GRAPH_VERB = Verb("graph", add_graph_options, run_graph)


# `memtui links`: what links to a note, what it links to, and where it is only named.


def add_links_options(parser: Parser) -> None:
    parser.add_value("note", "NOTE", "a path, name, title, alias or permalink")
    parser.add_value("--at", "MOMENT", "as it was: 41, 2026-11-20, 10:14, 2h ago", type=times.parse_moment)
    parser.add_flag("--blame", "by which event each link came, and which went")


def run_links(options: Options, arguments: argparse.Namespace) -> int:
    folder = context.resolve_folder(options)
    if arguments.blame and arguments.at is not None:
        raise UsageError("memtui links: --at and --blame do not go together. Leave one of them out.")
    with open_memory(folder, options) as memory:
        at = _find_event(memory, arguments.at)
        graph = memory.graph(at)
        path = _find_note(graph, arguments.note, folder)
        leading_out = graph.get_edges(path)
        leading_in = [edge for edge in graph.get_edges_in(path) if edge.source != path]
        texts = {edge.source: (memory.knowledge.read_text(edge.source, at) or "").split("\n") for edge in leading_in}
        mentions = _find_mentions(memory, graph, path) if at is None else []
        lives = blame_edges(memory.knowledge, memory.history, path) if arguments.blame else None
    if options.json:
        output.print_json(
            {
                "path": serialize_path(path),
                "at": at,
                "in": [{**documents.serialize_edge(edge), "text": _get_line(edge, texts)} for edge in leading_in],
                "out": [
                    {**documents.serialize_edge(edge), **_serialize_life(edge, graph, lives)} for edge in leading_out
                ],
                "mentions": [_serialize_mention(each) for each in mentions],
                "removed": None
                if lives is None
                else [_serialize_removed(life) for life in lives if life.removed is not None],
            }
        )
        return ExitCode.OK
    _print_group("links to it", [(f"{e.source}:{_get_number(e)}", _get_line(e, texts).strip()) for e in leading_in])
    _print_group("links from it", list(_format_out(leading_out, graph, lives)))
    _print_group("named without a link", [(f"{each.source}:{each.line}", each.words) for each in mentions])
    if lives is not None:
        _print_group("links that went", [_format_removed(life) for life in lives if life.removed is not None])
    if not (leading_in or leading_out or mentions):
        output.print_message("Nothing links to it, and it links to nothing.")
    return ExitCode.OK


def _find_mentions(memory: Engine, graph: Graph, path: str) -> list[Mention]:
    note = graph.get_note(path)
    if note is None:
        return []
    others = [each.path for each in graph.notes if each.path != path]
    linked = {edge.source: [path] for edge in graph.get_edges_in(path)}
    return list(find_mentions([note], memory.knowledge.iter_texts(others), linked))


def _get_number(edge: Edge) -> int:
    return edge.link.line if edge.link is not None else 0


def _get_line(edge: Edge, texts: dict[str, list[str]]) -> str:
    lines, number = texts.get(edge.source, []), _get_number(edge)
    return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


def _find_life(edge: Edge, graph: Graph, lives: list[EdgeLife] | None) -> EdgeLife | None:
    note = graph.get_note(edge.source)
    keys = {each.link: make_edge_key(each) for each in note.links} if note is not None else {}
    key = keys.get(edge.link) if edge.link is not None else None
    return next((life for life in lives or () if life.removed is None and life.key == key), None)


def _serialize_life(edge: Edge, graph: Graph, lives: list[EdgeLife] | None) -> dict[str, object]:
    if lives is None:
        return {}
    life = _find_life(edge, graph, lives)
    return {"added": graph_output.serialize_short_event(life.added if life is not None else None)}


def _serialize_removed(life: EdgeLife) -> dict[str, object]:
    kind, relation, written = life.key
    return {
        "kind": kind,
        "relation": relation or None,
        "written": written,
        "added": graph_output.serialize_short_event(life.added),
        "removed": graph_output.serialize_short_event(life.removed),
    }


def _serialize_mention(each: Mention) -> dict[str, object]:
    return {
        "source": serialize_path(each.source),
        "line": each.line,
        "column": each.span[0] + 1,
        "end": each.span[1] + 1,
        "text": each.words,
    }


def _format_out(edges: Iterable[Edge], graph: Graph, lives: list[EdgeLife] | None) -> Iterable[tuple[str, ...]]:
    for edge in edges:
        row = (f"line {_get_number(edge)}", edge.relation or edge.kind, graph_output.format_targets(edge))
        life = _find_life(edge, graph, lives) if lives is not None else None
        yield row if lives is None else (*row, _format_event(life.added if life is not None else None))


def _format_removed(life: EdgeLife) -> tuple[str, ...]:
    kind, relation, written = life.key
    return relation or kind, written, f"{_format_event(life.added)} to {_format_event(life.removed)}"


def _format_event(event: Event | None) -> str:
    if event is None:
        return "unknown"
    return f"#{event.seq} {format_actor_name(event.actor)} {event.at.astimezone():%Y-%m-%d %H:%M}"


def _print_group(title: str, rows: list[tuple[str, ...]]) -> None:
    if rows:
        output.print_line(f"{title} ({len(rows):,})")
        print_rows([("", *row) for row in rows])


LINKS_VERB = Verb("links", add_links_options, run_links)


# `memtui orphans`: notes that nothing that loads leads to.


def add_orphans_options(parser: Parser) -> None:
    parser.add_value("--at", "MOMENT", "as it was: 41, 2026-11-20, 10:14, 2h ago", type=times.parse_moment)
    parser.add_value("--since", "MOMENT", "only those that became orphans since then", type=times.parse_moment)


def run_orphans(options: Options, arguments: argparse.Namespace) -> int:
    folder = context.resolve_folder(options)
    with open_memory(folder, options) as memory:
        at = _find_event(memory, arguments.at)
        graph = memory.graph(at)
        reach = find_memory_reach(memory, graph, at)
        orphans = reach.orphans
        lost: list[Edge] = []
        since = None
        if arguments.since is not None:
            since = times.find_seq(memory, arguments.since, beginning=arguments.since.seq is None)
            old = memory.graph(since)
            was = find_memory_reach(memory, old, since)
            orphans = tuple(path for path in orphans if path in was.reached)
            changes = compare_graphs(old, graph).edges
            lost = [each.before for each in changes if each.before is not None and each.sign != "+"]
    if options.json:
        notes = [note for path in orphans if (note := graph.get_note(path)) is not None]
        output.print_json(
            {
                "at": at,
                "since": since,
                "roots": [serialize_path(path) for path in reach.roots],
                "orphans": [documents.serialize_note(note) for note in notes],
                "lost": [documents.serialize_edge(edge) for edge in lost],
            }
        )
    else:
        for path in orphans:
            output.print_line(to_one_line(path))
        if not (orphans or options.quiet):
            output.print_message("Every note is reached.")
    return ExitCode.FINDINGS if orphans else ExitCode.OK


ORPHANS_VERB = Verb("orphans", add_orphans_options, run_orphans)
