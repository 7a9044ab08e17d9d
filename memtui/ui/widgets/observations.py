"""Observations as rows: category, what is so, tags, note."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from memtui.core.unicode import to_one_line
from memtui.knowledge.observations import NotedObservation
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.row_list import Cell, Column, ItemList

_NARROW = 90
"""Cells below which tags stand in the text alone."""


class ObservationView(ItemList[NotedObservation]):
    """Observations as rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,l,right", "open", "open", id="observations.open", tooltip="Open the note at this line"),
    ]

    STYLES = "observations--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"observations--{role}" for role in ("category", "tag", "detail")}

    DEFAULT_CSS = """
    ObservationView {
        & > .observations--category { color: $text-accent; }
        & > .observations--tag { color: $text-success; }
        & > .observations--detail { color: $foreground-muted; }
    }
    """

    def _get_key(self, item: NotedObservation) -> object:
        return item.path, item.observation.line, item.observation.content

    def _get_columns(self, item: NotedObservation, width: int) -> Sequence[Column[NotedObservation]]:
        del item
        tags = (Column("tags", _format_tags, "tag", width=16, gap=" "),) if width >= _NARROW else ()
        return (
            Column("category", _format_category, "category", width=12 if width >= _NARROW else 10, gap=" "),
            Column("text", _format_content, width=4, share=True, gap=" "),
            *tags,
            Column("note", _format_note, "detail", width=width // 4, align=">", gap=" ", tail=" "),
        )


def _format_category(item: NotedObservation, width: int) -> Cell:
    return truncate(to_one_line(item.observation.category), width)


def _format_content(item: NotedObservation, width: int) -> Cell:
    stated = item.observation
    when = f"{stated.time.text} " if stated.time is not None else ""
    context = f" ({stated.context})" if stated.context else ""
    return truncate(to_one_line(f"{when}{stated.content}{context}"), width)


def _format_tags(item: NotedObservation, width: int) -> Cell:
    return truncate(to_one_line(" ".join(f"#{tag}" for tag in item.observation.tags)), width)


def _format_note(item: NotedObservation, width: int) -> Cell:
    line = f":{item.observation.line:,}"
    return truncate_middle(to_one_line(item.path), max(width - len(line), 1)) + line
