"""Suggestions as rows: the kind, the notes, and why."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from memtui.core.unicode import to_one_line
from memtui.knowledge.suggestions import Suggestion
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.row_list import Cell, Column, ItemList


class SuggestionView(ItemList[Suggestion]):
    """Suggestions as rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,l,right", "open", "accept", id="suggestions.accept",
                tooltip="Do it, as one event"),
    ]  # fmt: skip

    STYLES = "suggestions--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"suggestions--{role}" for role in ("kind", "by-hand", "detail")}

    DEFAULT_CSS = """
    SuggestionView {
        & > .suggestions--kind { color: $text-accent; }
        & > .suggestions--by-hand { color: $text-warning; }
        & > .suggestions--detail { color: $foreground-muted; }
    }
    """

    def _get_key(self, item: Suggestion) -> object:
        return item.id

    def _get_columns(self, item: Suggestion, width: int) -> Sequence[Column[Suggestion]]:
        return (
            Column("kind", _format_kind, "kind" if item.is_acceptable else "by-hand", width=10, gap=" "),
            Column("notes", format_notes, width=max(width * 2 // 5, 8), gap=" "),
            Column("reason", _format_reason, "detail", width=4, share=True, gap=" ", tail=" "),
        )


def _format_kind(item: Suggestion, width: int) -> Cell:
    return truncate(item.kind, width)


def format_notes(item: Suggestion, width: int) -> Cell:
    """The notes of a suggestion, and between them what would be done with them."""
    first = to_one_line(item.notes[0]) + (f":{item.line:,}" if item.line else "")
    match item.kind:
        case "categorise":
            mark = "#" if item.field == "tags" else "type: "
            return truncate(f"{truncate_middle(first, max(width * 2 // 3, 1))} {mark}{to_one_line(item.value)}", width)
        case "split":
            return truncate_middle(first, width)
        case kind:
            mark = " + " if kind == "merge" else " \u2192 "
            half = max((width - len(mark)) // 2, 1)
            second = to_one_line(item.notes[1])
            first = truncate_middle(first, max(half, width - len(mark) - len(second)))
            return truncate(first + mark + truncate_middle(second, max(width - len(mark) - len(first), 1)), width)


def _format_reason(item: Suggestion, width: int) -> Cell:
    return truncate(item.reason, width)
