"""Views that draw lines: only the rows in view, styles by role, and the keys that scroll.

A widget for each line, or one layout of all lines, takes seconds for a long text.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.geometry import Offset, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from memtui.ui.textual_private import LazyStyles, set_virtual_height
from memtui.ui.widgets.markdown.rows import MarkdownRow, TextSpan, sanitize_text, wrap_prose

KEPT_ROWS = 1000
"""Drawn rows that are cached."""
SELECTION = "selection"
"""The role of selected text."""
_PLAIN_ROLES = frozenset({"edge", "indent"})
"""Roles without a style, which say how a span is copied."""
_NOTICE_WIDTH = 60


def make_scroll_bindings(
    prefix: str, *, line: str = "line", follows: str = "", bottom: str = "bottom"
) -> list[Binding]:
    """The bindings that scroll a view: the prefix of their ids, the word for a row, more words for the last row, and
    the name of the key to it.
    """
    return [
        Binding(keys, action, text, id=f"{prefix}.{name}", tooltip=tooltip, show=False)
        for keys, action, text, name, tooltip in (
            ("up,k", "rows(-1)", "up", "up", "One row up"),
            ("down,j", "rows(1)", "down", "down", "One row down"),
            ("pageup", "pages(-1)", "page up", "page_up", "One page up"),
            ("pagedown", "pages(1)", "page down", "page_down", "One page down"),
            ("ctrl+u", "pages(-0.5)", "half up", "half_up", "Half a page up"),
            ("ctrl+d", "pages(0.5)", "half down", "half_down", "Half a page down"),
            ("g,home", "top", "top", "top", f"To the first {line}"),
            ("G,end", "bottom", "end", bottom, f"To the last {line}{follows}"),
        )
    ]


class LineView(LazyStyles, ScrollView, can_focus=True, inherit_bindings=False):
    """Draws lines; a subclass gives their number and draws each."""

    DEFAULT_CSS = """
    LineView { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """

    STYLES: ClassVar[str] = ""
    """The prefix of the component classes, such as `diff--`."""
    OTHER_STYLES: ClassVar[Mapping[str, str]] = {}
    """The component classes of roles that have another prefix."""
    PAGE_OVERLAP: ClassVar[int] = 1
    """Rows of a page that stay in view."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._styles_by_role: dict[str, Style] = {}

    @property
    def row_count(self) -> int:
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    @property
    def _viewport(self) -> Size:
        """Cells for the rows, without the scrollbar."""
        return self.scrollable_content_region.size

    def _set_height(self) -> bool:
        """Tell Textual the number of rows; returns whether it changed."""
        return set_virtual_height(self, self.row_count)

    # Scrolling

    def action_rows(self, rows: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False)

    def action_pages(self, pages: float) -> None:
        height = self._viewport.height
        rows = height - self.PAGE_OVERLAP if abs(pages) >= 1 else height // 2
        self.action_rows(max(1, rows) * (1 if pages > 0 else -1))

    def action_top(self) -> None:
        self.scroll_to(y=0, animate=False)

    def action_bottom(self) -> None:
        self.scroll_to(y=self.max_scroll_y, animate=False)

    # Paint

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles_by_role.clear()

    def _resolve_style(self, roles: str) -> Style:
        """The style of a component class, with its own background; of the widget itself for `""`."""
        style = self._styles_by_role.get(roles)
        if style is None:
            name = self.OTHER_STYLES.get(roles, self.STYLES + roles)
            style = self.get_component_rich_style(name) if roles else self.rich_style
            self._styles_by_role[roles] = style
        return style


class TextView(LineView):
    """Draws the lines of a text: drawn rows are cached, text can be selected, and a notice can stand in its place."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._strips: dict[int, Strip] = {}
        self._notice: tuple[str, str] | None = None

    def _set_height(self) -> bool:
        changed = super()._set_height()
        if changed:
            self._strips.clear()
        return changed

    # Selection

    def selection_updated(self, selection: Selection | None) -> None:
        del selection
        self._redraw()

    def _shift_selection(self, rows: int) -> None:
        """Move the selection with its text when the number of rows above it changes."""
        selection = self.text_selection if self.is_attached else None
        if rows and selection is not None:
            moved = Selection(*(end and Offset(end.x, max(0, end.y + rows)) for end in selection))
            self.screen.selections = {**self.screen.selections, self: moved}

    # Paint

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def _resolve_style(self, roles: str) -> Style:
        """The style of roles, each over the ones before it, over the widget's own."""
        style = self._styles_by_role.get(roles)
        if style is None:
            style = self.rich_style
            for role in roles.split():
                if role == SELECTION:
                    style = self.screen.get_component_rich_style("screen--selection")
                elif role not in _PLAIN_ROLES:
                    style += self.get_component_rich_style(self.STYLES + role, partial=True)
            self._styles_by_role[roles] = style
        return style

    def _redraw(self) -> None:
        self._strips.clear()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        if self._notice is not None:
            return self._draw_notice(y)
        y += self.scroll_offset.y
        strip = self._strips.get(y)
        if strip is None:
            if len(self._strips) >= KEPT_ROWS:
                self._strips.clear()
            strip = self._strips[y] = self._draw_row(y)
        return strip

    def _draw_row(self, y: int) -> Strip:
        """Draw one row, counted from the top of the text."""
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    def _draw_spans(self, row: MarkdownRow, spans: Iterable[TextSpan], width: int, band: str = "") -> Strip:
        """The text of a row: cut at a width, or filled up to it where the row has a colour of its own.

        Args:
            row: The row.
            spans: Its spans, with marks over them.
            width: Cells.
            band: A role below all spans.
        """
        before = f"{band} " if band else ""
        segments = [Segment(text, self._resolve_style(before + role)) for text, role, _ in spans if text]
        used = sum(cell_len(segment.text) for segment in segments)
        if used > width:
            return Strip(segments, used).crop(0, width)
        if row.fill and used < width:
            return Strip([*segments, Segment(" " * (width - used), self._resolve_style(row.fill))], width)
        return Strip(segments, used)

    def _draw_notice(self, y: int) -> Strip:
        """A line of the notice that stands in place of the rows."""
        title, detail = self._notice or ("", "")
        width, height = self._viewport
        room = max(8, min(_NOTICE_WIDTH, width - 4))
        rows = wrap_prose(sanitize_text(title, "notice-title"), room, 0)
        for line in ["", *detail.split("\n")] if detail else ():
            rows += wrap_prose(sanitize_text(line, "notice-detail"), room, 0)
        top = max(0, (height - len(rows)) // 2 - 1)
        base = self._resolve_style("")
        if not top <= y < top + len(rows):
            return Strip.blank(width, base)
        segments = [Segment(text, self._resolve_style(style)) for text, style, _ in rows[y - top].spans]
        left = Segment(" " * max(0, (width - sum(cell_len(segment.text) for segment in segments)) // 2), base)
        return Strip([left, *segments]).adjust_cell_length(width, base)


def overlay_role(
    spans: Iterable[TextSpan], start: int, end: int, role: str, *, replace: bool = False
) -> list[TextSpan]:
    """The spans of a row with a role from one character to another, in place of their own or over it."""
    result: list[TextSpan] = []
    at = 0
    for text, style, line in spans:
        left, right = max(0, start - at), min(len(text), end - at)
        if left >= right:
            result.append(TextSpan(text, style, line))
        else:
            named = role if replace else f"{style} {role}".lstrip()
            result.append(TextSpan(text[:left], style, line))
            result.append(TextSpan(text[left:right], named, line))
            result.append(TextSpan(text[right:], style, line))
        at += len(text)
    return [span for span in result if span.text]


def overlay_selection(
    spans: Sequence[TextSpan], selection: Selection | None, row: MarkdownRow, y: int
) -> Sequence[TextSpan]:
    """The spans of a row with the selected characters marked."""
    span = None if selection is None else selection.get_span(y)
    if span is None:
        return spans
    end = len(row.text) if span[1] == -1 else max(0, span[1])
    return overlay_role(spans, max(0, span[0]), end, SELECTION, replace=True)


def copy_selection(rows: Iterable[tuple[int, MarkdownRow]], selection: Selection) -> str:
    """The selected text, without the marks beside it, broken where the text itself is.

    Args:
        rows: The selected rows, each with its number.
        selection: In rows of the view and characters of a row; all of it where it has no ends.
    """
    start, end = selection
    parts: list[str] = []
    for number, row in rows:
        begin = max(0, start.x) if start and number == start.y else 0
        if parts:
            parts.append(row.join)
        parts.append(row.get_copy_text(begin, max(0, end.x) if end and number == end.y else len(row.text)))
    *lines, last = "".join(parts).split("\n")
    return "\n".join([*(line.rstrip(" ") for line in lines), last])
