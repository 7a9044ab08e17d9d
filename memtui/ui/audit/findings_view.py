"""The findings as rows, of which only those on screen are drawn: a folder may have ten thousand."""

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from memtui.audit.findings import Severity
from memtui.core.visible import one_line
from memtui.ui.audit.listing import WORDS, FindingRow, Item, PassedRow, Row, Words, place_of, what_of
from memtui.ui.rows import RowsView
from memtui.ui.text import fit, fit_middle

_SEVERITY, _FAMILY, _RULE, _LONG_RULE = 4, 10, 15, 19
"""Cells of the columns: `FAIL`, `duplicates`, the rule where there is no room for both, and where places are short."""
_ROOMY = 56
"""Cells from which on family, place and rule all have a column."""
_STYLES = {Severity.FAIL: "fail", Severity.WARN: "warn", Severity.INFO: "info"}


class FindingsView(RowsView):
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
        *(f"findings--{name}" for name in ("fail", "warn", "info", "ok", "family", "detail", "held", "words", "cursor"))
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
        & > .findings--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .findings--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """

    class Highlighted(Message):
        """The cursor is on another row, or on none."""

        def __init__(self, item: Item | None) -> None:
            super().__init__()
            self.item = item

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a moving cursor matters."""
            return isinstance(message, FindingsView.Highlighted)

    class Opened(Message):
        """The person asks for the row under the cursor."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[Row] = ()
        self._longest = 0
        self._places = 0
        self.is_moved = False
        """Whether the person chose the row that the cursor is on."""

    @property
    def row_count(self) -> int:
        """How many rows there are, with those that only say something."""
        return len(self._rows)

    @property
    def here(self) -> Item | None:
        """What is under the cursor."""
        row = self._rows[self._row] if self._row < len(self._rows) else None
        return None if row is None or isinstance(row, Words) else row

    @property
    def found(self) -> tuple[int, int]:
        """The cursor among the findings, from 1, and how many there are; 0 where it is not among them."""
        total = sum(isinstance(row, FindingRow) for row in self._rows)
        at = sum(isinstance(row, FindingRow) for row in self._rows[: self._row + 1])
        return (at if isinstance(self.here, FindingRow) else 0, total)

    def show(self, rows: Sequence[Row], *, keep: bool = True) -> None:
        """Show other rows.

        Args:
            rows: All of them.
            keep: Whether the cursor stays on its finding if that is among them, with as much in view above it; else it
                is on the first one.
        """
        here = self.here
        above = self._row - self.scroll_offset.y
        self._rows = rows
        keys = [None if isinstance(row, Words) else row.key for row in rows]
        again = keep and here is not None and here.key in keys
        nearest = _nearest(rows, self._row if here and keep else 0)
        self._row = keys.index(here.key) if here is not None and again else nearest
        found = [row.finding for row in rows if isinstance(row, FindingRow)]
        names = [len(row.passed.name) for row in rows if isinstance(row, PassedRow)]
        self._longest = max([*(len(each.rule) for each in found), *names], default=_RULE)
        self._places = max((len(place_of(each)) for each in found), default=0)
        self._fit_height()
        if again:
            self.scroll_to(y=max(self._row - above, 0), animate=False)
        self._bring_into_view()
        self.post_message(self.Highlighted(self.here))
        self.refresh()

    def _go(self, row: int) -> None:
        if not self._rows:
            return
        self.is_moved = True
        target = _nearest(self._rows, row, 1 if row >= self._row else -1)
        if target != self._row:
            self._row = target
            self.post_message(self.Highlighted(self.here))
        if target <= 1:  # what stands above the first finding is seen as well
            self.scroll_to(y=0, animate=False)
        self._bring_into_view()
        self.refresh()

    def action_open(self) -> None:
        """To what is known of it."""
        if self.here is not None:
            self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        """Select; twice, open."""
        offset = event.get_content_offset(self)
        index = self.scroll_offset.y + offset.y if offset is not None else len(self._rows)
        if index < len(self._rows) and not isinstance(self._rows[index], Words):
            event.stop()
            self._go(index)
            if event.chain == 2:
                self.action_open()

    # Paint

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget; see `ScrollView`."""
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        plain = self._style("")
        if index >= len(self._rows):
            return Strip.blank(width, plain)
        row = self._rows[index]
        if isinstance(row, Words):
            return Strip([Segment(fit(f" {row.words}", width), self._style("words"))]).adjust_cell_length(width, plain)
        cursor = index == self._row
        segments = [Segment(">" if cursor else " ", plain), *self._drawn(row, max(width - 2, 0))]
        if cursor:
            segments = [Segment(text, self._style("cursor")) for text, _, _ in segments]
        return Strip(segments).adjust_cell_length(width, self._style("cursor") if cursor else plain)

    def _drawn(self, row: Item, width: int) -> list[Segment]:
        roomy = width >= _ROOMY
        gap = "  " if roomy else " "
        column = _FAMILY if roomy else self._column_of_rules(width)
        if isinstance(row, PassedRow):
            name, words = one_line(row.passed.name), one_line(row.passed.words)
            room = width - _SEVERITY - column - 2 * len(gap)
            return [
                Segment(_padded("ok", _SEVERITY), self._style("ok")),
                Segment(gap + _padded(fit(name, column), column) + gap, self._style("family")),
                Segment(fit(words, room), self._style("detail")),
            ]
        finding = row.finding
        held = row.excepted is not None
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


def _nearest(rows: Sequence[Row], row: int, step: int = 1) -> int:
    """The row that the cursor may stand on that is nearest in a direction; else in the other one."""
    row = max(0, min(row, len(rows) - 1))
    for way in (step, -step):
        at = row
        while 0 <= at < len(rows):
            if not isinstance(rows[at], Words):
                return at
            at += way
    return 0
