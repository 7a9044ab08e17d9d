"""The links around a note as rows: what links to it, what it links to, where it is only named, and dangling names."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import ClassVar

from textual.binding import Binding, BindingType

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.knowledge.graph import Edge, Graph
from memtui.knowledge.mentions import Mention
from memtui.knowledge.neighbours import Neighbour
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.row_list import Cell, Column, ItemList, LabelRow

_LINE_WIDTH = 5
_KINDS = {
    "entry": "index entries", "import": "imports", "markdown": "Markdown links", "relation": "relations",
    "wiki": "wiki links", "tag": "shared tags", "folder": "same directory",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """A link, a mention or a dangling name.

    Attributes:
        path: Where Enter leads: a note or a file, a tag or a directory by its id; empty for a dangling name.
        text: What is shown, on one line.
        line: In the note where it stands, from 1; 0 for none.
        detail: A word about it, such as `ambiguous`; else empty.
        type: The type of the note that it leads to; else empty.
        edge: For a dangling name.
        mention: For a mention.
    """

    path: str
    text: str
    line: int = 0
    detail: str = ""
    type: str = ""
    edge: Edge | None = None
    mention: Mention | None = None


Rows = list[NeighbourRow | LabelRow]


def build_rows_in(graph: Graph, found: Iterable[Neighbour], lines: Mapping[str, Sequence[str]]) -> Rows:
    """What links here, by note: a label for each, and below it the lines.

    Args:
        lines: Of the notes whose text is known, by path.
    """
    rows: Rows = []
    for (distance, path), group in groupby(found, key=lambda each: (each.distance, each.path)):
        type = _get_type(graph, path)
        kind = f"  ({type})" if type else ""
        rows.append(LabelRow(_format_distance(distance) + _format_name(graph, path) + kind))
        for each in group:
            link = each.edge.link
            text = _get_line(lines.get(each.edge.source, ()), link.line) if link is not None else each.edge.wanted
            rows.append(
                NeighbourRow(
                    path,
                    to_one_line(text.strip() or each.edge.wanted),
                    link.line if link is not None else 0,
                    _format_state(each.edge),
                )
            )
    return rows


def build_rows_out(graph: Graph, found: Iterable[Neighbour]) -> Rows:
    """What a note links to, by kind and relation."""

    def get_group(each: Neighbour) -> tuple[int, str, str]:
        return each.distance, each.edge.kind, each.edge.relation

    rows: Rows = []
    for (distance, kind, relation), group in groupby(sorted(found, key=get_group), key=get_group):
        ends = list(group)
        rows.append(LabelRow(f"{_format_distance(distance)}{to_one_line(relation) or _KINDS[kind]} {len(ends):,}"))
        for each in ends:
            line = each.edge.link.line if each.edge.link is not None else 0
            words = f" ({to_one_line(each.edge.context)})" if each.edge.context else ""
            name = _format_name(graph, each.path)
            rows.append(
                NeighbourRow(each.path, name + words, line, _format_state(each.edge), _get_type(graph, each.path))
            )
    return rows


def build_rows_below(mentions: Sequence[Mention] | None, texts: Mapping[str, str], dangling: Sequence[Edge]) -> Rows:
    """Names that are no links, and links that lead to no note.

    Args:
        mentions: `None` while they are looked for.
        texts: The lines of mentions, by `path:line`.
        dangling: One link for each name.
    """
    rows: Rows = []
    if dangling:
        rows.append(LabelRow(f"Dangling {len(dangling):,}: no note has this name"))
        for edge in dangling:
            line = edge.link.line if edge.link is not None else 0
            kind = to_one_line(edge.relation) or edge.kind
            rows.append(NeighbourRow("", to_one_line(edge.wanted), line, kind, edge=edge))
    if mentions:
        rows.append(LabelRow(f"Mentions {len(mentions):,}: named here, and no link"))
        for each in mentions:
            text = to_one_line(texts.get(f"{each.source}:{each.line}", each.words).strip())
            rows.append(NeighbourRow(each.source, text, each.line, to_one_line(each.source), mention=each))
    return rows


def filter_rows(rows: Sequence[NeighbourRow | LabelRow], words: Sequence[str]) -> Rows:
    """The rows that hold all words, in lower case, with the labels above them."""
    found: Rows = []
    label: LabelRow | None = None
    for row in rows:
        if isinstance(row, LabelRow):
            label = row
        elif all(word in f"{row.path} {row.text}".casefold() for word in words):
            if label is not None:
                found.append(label)
                label = None
            found.append(row)
    return found


def _format_name(graph: Graph, path: str) -> str:
    note = graph.get_note(path)
    stem = path.rpartition("/")[2].rpartition(".")[0]
    if note is None or note.title in (stem, path):
        return to_one_line(path)
    return f"{to_one_line(note.title)}  {to_one_line(path)}"


def _get_type(graph: Graph, path: str) -> str:
    note = graph.get_note(path)
    return to_one_line(note.type) if note is not None else ""


def _format_distance(distance: int) -> str:
    return f"{format_count(distance, 'link')} away: " if distance > 1 else ""


def _format_state(edge: Edge) -> str:
    return f"one of {len(edge.targets):,}" if edge.state == "ambiguous" else ""


def _get_line(lines: Sequence[str], number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""


class NeighbourView(ItemList[NeighbourRow]):
    """Links as rows: line, text, detail."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,l,right", "open", "go there", id="links.open",
                tooltip="To this note; on a mention make it a link, on a dangling name create the note"),
    ]  # fmt: skip

    STYLES = "neighbours--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"neighbours--{role}" for role in ("detail", "type", "dangling", "words")}

    DEFAULT_CSS = """
    NeighbourView {
        & > .neighbours--detail { color: $foreground-muted; }
        & > .neighbours--type { color: $text-accent; }
        & > .neighbours--dangling { color: $text-warning; }
        & > .neighbours--words { color: $text-accent; text-style: bold; }
    }
    """

    def move_to(self, item: NeighbourRow) -> None:
        """Put the cursor on an item, if it is there."""
        row = self._find_index(item)
        if row is not None:
            self._go_to_row(row)

    def _get_key(self, item: NeighbourRow) -> object:
        return item.path, item.text, item.line, item.detail

    def _get_columns(self, item: NeighbourRow, width: int) -> Sequence[Column[NeighbourRow]]:
        detail = min(len(_join_detail(item)), max(width // 3, 8))
        return (
            Column("line", lambda row, _: f"{row.line:,}" if row.line else "", "detail", width=_LINE_WIDTH, align=">"),
            Column("text", _format_text, _get_text_style, width=4, share=True, gap=" "),
            Column("detail", _format_detail, "type", width=detail, align=">", gap=" ", tail=" "),
        )


def _join_detail(row: NeighbourRow) -> str:
    return "  ".join(filter(None, (row.detail, row.type)))


def _format_text(row: NeighbourRow, width: int) -> Cell:
    return truncate(row.text, width)


def _format_detail(row: NeighbourRow, width: int) -> Cell:
    return truncate_middle(_join_detail(row), width)


def _get_text_style(row: NeighbourRow) -> str:
    return "dangling" if row.edge is not None else ""
