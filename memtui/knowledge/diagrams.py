"""A part of a graph in the languages that draw one: DOT of Graphviz, and Mermaid.

Titles and names are whatever an agent wrote: they become text of a label, and never a part of the language.
"""

from collections.abc import Iterable, Mapping

from memtui.core.unicode import to_one_line
from memtui.knowledge.graph import Edge, Node

_LONGEST = 80
_SHAPES = {"note": "box", "file": "note", "tag": "ellipse", "folder": "folder", "dangling": "plaintext"}
_DASHED = frozenset({"tag", "folder"})


def format_dot(nodes: Iterable[Node], edges: Iterable[Edge]) -> str:
    """A graph for `dot`; names that lead to no note are nodes as well."""
    ids, lines = _number(nodes), ["digraph memory {", "  rankdir=LR;", "  node [fontname=sans];"]
    for node, name in ids.values():
        lines.append(f"  {name} [label={_quote_dot(_label(node))}, shape={_SHAPES[node.kind]}];")
    lost: dict[str, str] = {}
    for edge, source, targets in _connect(edges, ids, lost):
        for target in targets:
            style = ", style=dashed" if edge.kind in _DASHED or edge.state != "resolved" else ""
            lines.append(f"  {source} -> {target} [label={_quote_dot(edge.relation or edge.kind)}{style}];")
    lines += [f"  {name} [label={_quote_dot(_cut(wanted))}, shape=plaintext];" for wanted, name in lost.items()]
    return "\n".join([*lines, "}", ""])


def format_mermaid(nodes: Iterable[Node], edges: Iterable[Edge]) -> str:
    """A flowchart for Mermaid; names that lead to no note are nodes as well."""
    ids, lines = _number(nodes), ["flowchart LR"]
    brackets = {"tag": ("([", "])"), "folder": ("[[", "]]"), "file": ("[/", "/]")}
    for node, name in ids.values():
        first, last = brackets.get(node.kind, ("[", "]"))
        lines.append(f"  {name}{first}{_quote_mermaid(_label(node))}{last}")
    lost: dict[str, str] = {}
    for edge, source, targets in _connect(edges, ids, lost):
        arrow = "-.->" if edge.kind in _DASHED or edge.state != "resolved" else "-->"
        lines += [f"  {source} {arrow}|{_quote_mermaid(edge.relation or edge.kind)}| {target}" for target in targets]
    lines += [f"  {name}>{_quote_mermaid(_cut(wanted))}]" for wanted, name in lost.items()]
    return "\n".join([*lines, ""])


def _number(nodes: Iterable[Node]) -> dict[str, tuple[Node, str]]:
    return {node.id: (node, f"n{number}") for number, node in enumerate(nodes)}


def _connect(
    edges: Iterable[Edge], ids: Mapping[str, tuple[Node, str]], lost: dict[str, str]
) -> Iterable[tuple[Edge, str, list[str]]]:
    """Each edge with the names of its nodes; `lost` receives what leads nowhere."""
    for edge in edges:
        if edge.source not in ids:
            continue
        targets = [ids[target][1] for target in edge.targets if target in ids]
        if not edge.targets and edge.state == "dangling":
            targets = [lost.setdefault(edge.wanted, f"x{len(lost)}")]
        yield edge, ids[edge.source][1], targets


def _label(node: Node) -> str:
    return _cut(node.note.title if node.note is not None else node.id)


def _cut(text: str) -> str:
    shown = to_one_line(text)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 2] + ".."


def _quote_dot(text: str) -> str:
    escaped = to_one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _quote_mermaid(text: str) -> str:
    """A text in which each sign that might mean something is named by its number."""
    shown = (each if each.isalnum() or each in " .,/_-" else f"#{ord(each)};" for each in to_one_line(text))
    return '"' + "".join(shown) + '"'
