"""A row of the conversation as a strip: roles become colours here, and nowhere else."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from memtui.ui.chat.looks import PLAIN, PREFIX
from memtui.ui.chat.piece import Drawn, Frame
from memtui.ui.note.lines import Span

_SELECTED = "selection"


class Painter:
    """Draws rows in the colours of a widget's theme.

    Args:
        widget: Has a component class for each role.
    """

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, Style] = {}

    def forget(self) -> None:
        """The theme or the focus changed."""
        self._styles.clear()

    def style(self, roles: str) -> Style:
        """The style of some roles, each over the ones before it, over the widget's own."""
        style = self._styles.get(roles)
        if style is None:
            style = self._widget.rich_style
            for role in roles.split():
                if role == _SELECTED:
                    style = self._widget.screen.get_component_rich_style("screen--selection")
                elif role not in PLAIN:
                    style += self._widget.get_component_rich_style(PREFIX + role, partial=True)
            self._styles[roles] = style
        return style

    def draw(
        self, drawn: Drawn, frame: Frame, width: int, *, is_cursor: bool, selected: tuple[int, int] | None
    ) -> Strip:
        """One row.

        Args:
            drawn: What stands in it.
            frame: How much room there is for text.
            width: Cells of the row.
            is_cursor: Whether the cursor is on it.
            selected: The characters that are selected; -1 for the end of the row.
        """
        row, band = drawn.row, drawn.band
        spans: Sequence[Span] = row.spans
        if selected is not None:
            start, end = selected
            spans = _over(spans, max(0, start), len(row.text) if end == -1 else max(0, end))
        segments = [Segment(text, self.style(f"{band} {role}")) for text, role, _ in spans if text]
        used = sum(cell_len(segment.text) for segment in segments)
        strip = Strip(segments, used)
        if used > frame.width:
            strip = strip.crop(0, frame.width)
        elif row.fill and used < frame.width:
            fill = Segment(" " * (frame.width - used), self.style(row.fill))
            strip = Strip([*segments, fill], frame.width)
        gutter = self._gutter(drawn, frame, is_cursor=is_cursor)
        return Strip([*gutter, *strip], frame.gutter + strip.cell_length).adjust_cell_length(width, self.style(band))

    def _gutter(self, drawn: Drawn, frame: Frame, *, is_cursor: bool) -> list[Segment]:
        """The cursor, a name, and the mark of what can be unfolded."""
        band, room = drawn.band, frame.gutter - 3
        return [
            Segment(">" if is_cursor else " ", self.style("cursor" if is_cursor else band)),
            Segment(drawn.label[:room].ljust(room), self.style(f"{band} {drawn.label}")),
            Segment(f"{drawn.fold:1} ", self.style(f"{band} fold")),
        ]


def _over(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """The spans with the selection between two characters."""
    result: list[Span] = []
    at = 0
    for text, style, line in spans:
        left, right = max(0, min(start - at, len(text))), max(0, min(end - at, len(text)))
        left = min(left, right)
        result += [Span(text[:left], style, line), Span(text[left:right], _SELECTED), Span(text[right:], style, line)]
        at += len(text)
    return [span for span in result if span.text]
