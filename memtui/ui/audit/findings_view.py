"""The findings as rows, of which only those on screen are drawn: a folder may have ten thousand."""

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType

from memtui.audit.findings import Severity
from memtui.core.visible import one_line
from memtui.ui.audit.listing import WORDS, FindingRow, Item, PassedRow, Row, place_of, what_of
from memtui.ui.item_rows import ItemRows
from memtui.ui.text import fit, fit_middle

_SEVERITY, _FAMILY, _RULE, _LONG_RULE = 4, 10, 15, 19
"""Cells of the columns: `FAIL`, `duplicates`, the rule where there is no room for both, and where places are short."""
_ROOMY = 56
"""Cells from which on family, place and rule all have a column."""
_STYLES = {Severity.FAIL: "fail", Severity.WARN: "warn", Severity.INFO: "info"}


class FindingsView(ItemRows[Item]):
    """Severity, family, place, rule; at the end what is in order.

    Args:
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,right,l", "open", "open", id="audit.open", tooltip="To what is known of it"),
    ]

    STYLES = "findings--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"findings--{name}" for name in ("fail", "warn", "info", "ok", "family", "detail", "held", "words"))
    }

    DEFAULT_CSS = """
    FindingsView {
        & > .findings--fail { color: $text-error; text-style: bold; }
        & > .findings--warn { color: $text-warning; text-style: bold; }
        & > .findings--info { color: $text-primary; }
        & > .findings--ok { color: $text-success; }
        & > .findings--family { color: $foreground; }
        & > .findings--detail { color: $foreground 85%; }
        & > .findings--held { color: $foreground 85%; text-style: italic; }
        & > .findings--words { color: $text-secondary; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._longest = 0
        self._places = 0
        self.is_moved = False
        """Whether the person chose the row that the cursor is on."""

    def show(self, rows: Sequence[Row], *, keep: bool = True, notice: Sequence[str] = ()) -> None:
        """Show other rows; see `ItemRows.show`."""
        found = [row.finding for row in rows if isinstance(row, FindingRow)]
        names = [len(row.passed.name) for row in rows if isinstance(row, PassedRow)]
        self._longest = max([*(len(each.rule) for each in found), *names], default=_RULE)
        self._places = max((len(place_of(each)) for each in found), default=0)
        super().show(rows, keep=keep, notice=notice)

    def _go(self, row: int) -> None:
        self.is_moved = True
        super()._go(row)

    def _key(self, item: Item) -> object:
        return item.key

    def _counts(self, item: Item) -> bool:
        return isinstance(item, FindingRow)

    # Paint

    def _drawn(self, item: Item, width: int) -> list[Segment]:
        width = max(width - 1, 0)
        roomy = width >= _ROOMY
        gap = "  " if roomy else " "
        column = _FAMILY if roomy else self._column_of_rules(width)
        if isinstance(item, PassedRow):
            name, words = one_line(item.passed.name), one_line(item.passed.words)
            room = width - _SEVERITY - column - 2 * len(gap)
            return [
                Segment(_padded("ok", _SEVERITY), self._style("ok")),
                Segment(gap + _padded(fit(name, column), column) + gap, self._style("family")),
                Segment(fit(words, room), self._style("detail")),
            ]
        finding = item.finding
        held = item.excepted is not None
        word = str(finding.severity) if held else WORDS[finding.severity]
        severity = self._style("held" if held else _STYLES[finding.severity])
        first = str(finding.family) if roomy else finding.rule
        room = width - _SEVERITY - column - 2 * len(gap)
        what = f"  {what_of(finding)}" if roomy else ""
        place = fit_middle(one_line(place_of(finding)), max(room - cell_len(what), 8))
        what = fit(what, max(room - cell_len(place), 0))
        between = " " * max(room - cell_len(place) - cell_len(what), 0)
        return [
            Segment(_padded(word, _SEVERITY), severity),
            Segment(
                gap + _padded(fit(one_line(first), column), column) + gap, self._style("held" if held else "family")
            ),
            Segment(place, self._style("held" if held else "")),
            Segment(between + what, self._style("detail")),
        ]

    def _column_of_rules(self, width: int) -> int:
        """Cells of the rules where they stand in front of the places: what these leave, but never less than a third."""
        left = min(width - _SEVERITY - 2 - self._places, _LONG_RULE)
        return min(self._longest, max(left, min(width // 3, _RULE), 8))


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
