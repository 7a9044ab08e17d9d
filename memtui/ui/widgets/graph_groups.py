"""The groups of a graph as rows: orphans, hubs, islands, dangling and ambiguous links, cycles."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.knowledge.graph import Edge
from memtui.knowledge.summary import GraphSummary
from memtui.ui.widgets.neighbours import NeighbourRow, Rows
from memtui.ui.widgets.row_list import Column, ItemList, LabelRow

GROUPS: Mapping[str, str] = {
    "orphans": "Orphans", "hubs": "Hubs", "islands": "Islands", "dangling": "Dangling", "ambiguous": "Ambiguous",
    "cycles": "Cycles",
}  # fmt: skip
"""Titles of the groups, in their order."""
MEANINGS: Mapping[str, str] = {
    "orphans": "Notes that nothing reaches from what loads",
    "hubs": "Notes that most others link to",
    "islands": "Notes that hang together, and with no others",
    "dangling": "Links to notes that do not exist",
    "ambiguous": "Links that may mean several notes",
    "cycles": "Notes that lead to each other",
}
_LISTED = 200
"""Notes of one island or cycle that are listed."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group, and how many are in it."""

    name: str
    count: int


def count_groups(summary: GraphSummary) -> list[GroupRow]:
    """The groups with their counts."""
    return [GroupRow(name, len(getattr(summary, name))) for name in GROUPS]


def build_group_rows(summary: GraphSummary, name: str, types: Mapping[str, str]) -> Rows:
    """What is in a group.

    Args:
        types: The types of notes that have one, by path.
    """

    def make_row(path: str, detail: str = "") -> NeighbourRow:
        return NeighbourRow(path, to_one_line(path), 0, detail, to_one_line(types.get(path, "")))

    match name:
        case "orphans":
            return [make_row(path) for path in summary.orphans]
        case "hubs":
            return [make_row(path, format_count(count, "note")) for path, count in summary.hubs]
        case "dangling":
            return _build_edge_rows(summary.dangling)
        case "ambiguous":
            return _build_edge_rows(summary.ambiguous)
    rows: Rows = []
    for group in summary.islands if name == "islands" else summary.cycles:
        more = f", {_LISTED:,} listed" if len(group) > _LISTED else ""
        rows.append(LabelRow(f"{format_count(len(group), 'note')}{more}"))
        rows += [make_row(path) for path in group[:_LISTED]]
    return rows


def _build_edge_rows(edges: Sequence[Edge]) -> Rows:
    return [
        NeighbourRow(
            edge.source, to_one_line(edge.wanted), edge.link.line if edge.link is not None else 0,
            f"one of {len(edge.targets):,}  {to_one_line(edge.source)}" if edge.targets else to_one_line(edge.source),
        )
        for edge in edges
    ]  # fmt: skip


class GroupView(ItemList[GroupRow]):
    """The groups with their counts."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,l,right", "open", "list", id="graph.list", tooltip="To the notes of the group"),
    ]

    STYLES = "groups--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {"groups--count", "groups--words"}

    DEFAULT_CSS = """
    GroupView > .groups--count { color: $text-accent; }
    GroupView > .groups--words { color: $text-accent; text-style: bold; }
    """

    def _get_key(self, item: GroupRow) -> object:
        return item.name

    def _get_columns(self, item: GroupRow, width: int) -> Sequence[Column[GroupRow]]:
        del item, width
        return (
            Column("name", lambda row, _: GROUPS[row.name], width=4, share=True),
            Column("count", lambda row, _: f"{row.count:,}", "count", width=7, align=">", gap=" ", tail=" "),
        )
