"""The widget that shows a note: draws the rows on screen, and only those.

One widget per block (Textual's `Markdown`) takes seconds for a few kilobytes and minutes for more; this one
asks a `Document` for the rows in view and holds the first visible line still while guessed heights become
exact.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import monotonic
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from memtui.ui.note.document import Document, Found, Layout, Mode, Ruler, moved_line
from memtui.ui.note.following import Following
from memtui.ui.note.lines import Row, Span, clean, prose

WIDEST = 100
"""Cells of text, at most; what is wider is hard to read."""
_PLAIN = frozenset({"edge", "indent"})
"""Roles that tell how a span is copied, not how it looks."""
FRAME = 1 / 30
"""Seconds between two looks at what was appended."""
KEPT_ROWS = 1000
"""Drawn rows that are kept for the next frame."""
BAR = "┃ "

ROLES = (
    *("h1", "h2", "h3", "h4", "h5", "h6", "h1-rule", "h2-rule", "rule", "strong", "emphasis", "strike"),
    *("code", "link", "target", "image", "quote-bar", "marker", "done", "todo", "table-header", "key"),
    *("warning", "hidden", "panel", "language", "mark", "heading", "keyword", "string", "number"),
    *("comment", "name", "deleted", "inserted", "line-number", "changed", "match", "current-match"),
    *("notice-title", "notice-detail", "blame", "blame-you", "blame-outside", "chosen-link"),
    *("ruler", "beyond"),
)
"""What a span can be; each is a component class of the view."""


class Remark(NamedTuple):
    """What a gutter says of one line."""

    text: str
    """Visible text, filled up to the width of the gutter."""
    role: str
    """One of `ROLES`."""


class NoteView(Following, can_focus=True):
    """Shows one note, rendered or as it is written, and lets a person search and copy it."""

    ALLOW_SELECT = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, action, text, id=f"note.{name}", tooltip=tooltip, show=False)
        for key, action, text, name, tooltip in (
            ("down,j", "scroll_down", "Down", "down", "One row down"),
            ("up,k", "scroll_up", "Up", "up", "One row up"),
            ("pagedown", "page_down", "Page down", "page_down", "One page down"),
            ("pageup", "page_up", "Page up", "page_up", "One page up"),
            ("ctrl+d", "half_down", "Half page down", "half_down", "Half a page down"),
            ("ctrl+u", "half_up", "Half page up", "half_up", "Half a page up"),
            ("g,home", "scroll_home", "Top", "top", "To the first line"),
            ("G,end", "scroll_end", "End", "end", "To the last line"),
            ("n", "next_match", "Next match", "next_match", "To the next match, round the end"),
            (
                "N",
                "previous_match",
                "Previous match",
                "previous_match",
                "To the match before, round the start",
            ),
        )
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"noteview--{role}" for role in ROLES}

    DEFAULT_CSS = """
    NoteView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        background: $background;
        color: $foreground;

        & > .noteview--h1 { color: $text-primary; text-style: bold; }
        & > .noteview--h1-rule { color: $primary; }
        & > .noteview--h2 { color: $text-primary; text-style: bold; }
        & > .noteview--h2-rule { color: $primary; }
        & > .noteview--h3 { color: $text-primary; text-style: bold; }
        & > .noteview--h4 { color: $text-primary; text-style: bold italic; }
        & > .noteview--h5 { color: $text-primary; text-style: italic; }
        & > .noteview--h6 { color: $text-primary; text-style: italic; }
        & > .noteview--rule { color: $primary; }
        & > .noteview--strong { text-style: bold; }
        & > .noteview--emphasis { text-style: italic; }
        & > .noteview--strike { text-style: strike; }
        & > .noteview--code { color: $text-accent; background: $panel; }
        & > .noteview--link { color: $text-primary; text-style: underline; }
        & > .noteview--target { color: $text-secondary; }
        & > .noteview--image { color: $text-primary; }
        & > .noteview--quote-bar { color: $secondary; }
        & > .noteview--marker { color: $text-primary; text-style: bold; }
        & > .noteview--done { color: $text-success; text-style: bold; }
        & > .noteview--todo { color: $text-warning; text-style: bold; }
        & > .noteview--table-header { text-style: bold; }
        & > .noteview--key { color: $text-secondary; text-style: bold; }
        & > .noteview--warning { color: $text-warning; text-style: italic; }
        & > .noteview--hidden { color: $text-error; text-style: bold reverse; }
        & > .noteview--panel { background: $panel; }
        & > .noteview--language { color: $text-secondary; text-style: italic; }
        & > .noteview--mark { color: $text-warning; }
        & > .noteview--heading { color: $text-primary; text-style: bold; }
        & > .noteview--keyword { color: $text-primary; }
        & > .noteview--string { color: $text-success; }
        & > .noteview--number { color: $text-warning; }
        & > .noteview--comment { color: $text-secondary; text-style: italic; }
        & > .noteview--name { text-style: bold; }
        & > .noteview--deleted { color: $text-error; }
        & > .noteview--inserted { color: $text-success; }
        & > .noteview--line-number { color: $text-secondary; }
        & > .noteview--changed { color: $text-warning; text-style: bold; }
        & > .noteview--match { background: $warning-muted; color: $text-warning; text-style: underline; }
        & > .noteview--current-match { background: $warning; color: $background; text-style: bold; }
        & > .noteview--chosen-link { background: $accent; color: $background; text-style: bold; }
        & > .noteview--blame { color: $text-primary; }
        & > .noteview--blame-you { color: $foreground; text-style: bold; }
        & > .noteview--blame-outside { color: $text-warning; }
        & > .noteview--ruler { color: $text-warning; text-style: bold; }
        & > .noteview--beyond { color: $text-secondary; text-style: italic; }
        & > .noteview--notice-title { text-style: bold; }
        & > .noteview--notice-detail { color: $foreground; }
    }
    """

    class Moved(Message):
        """Other lines are in view, or the note has another length."""

        def __init__(self, first_line: int, last_line: int, total_lines: int) -> None:
            """Tell which source lines are in view.

            Args:
                first_line: The first one, counted from 1; 0 when there is none.
                last_line: The last one.
                total_lines: Lines of the note.
            """
            super().__init__()
            self.first_line = first_line
            self.last_line = last_line
            self.total_lines = total_lines

        def can_replace(self, message: Message) -> bool:
            """The newest position is the only one that matters."""
            return isinstance(message, NoteView.Moved)

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        """An empty view.

        Args:
            name: The name of the widget.
            id: The id of the widget in the DOM.
            classes: The CSS classes of the widget.
        """
        super().__init__(name=name, id=id, classes=classes)
        self._document = Document("", Layout())
        self._numbers = True
        self._notice: tuple[str, str] | None = None
        self._marked_lines: frozenset[int] = frozenset()
        self._remarks: Sequence[Remark] = ()
        self._match = -1
        self._pending: list[str] = []
        self._flush_timer: Timer | None = None
        self._flushed_at = 0.0
        self._settling = False
        self._told: tuple[int, int, int] | None = None
        self._styles_by_role: dict[str, Style] = {}
        self._strips: dict[int, Strip] = {}

    # --- what is shown

    @property
    def source(self) -> str:
        """The text of the note."""
        self._flush()
        return self._document.source

    @property
    def first_line(self) -> int:
        """The first line of the text that is in view, from 1."""
        return self._first_visible()[0] + 1

    @property
    def mode(self) -> Mode:
        """Whether the note is `rendered` or shown as its `source`."""
        return self._document.layout.mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        layout = self._document.layout
        self._lay_out(replace(layout, mode=mode))

    def show(
        self,
        source: str,
        *,
        syntax: str = "markdown",
        mode: Mode | None = None,
        numbers: bool = True,
        keep_place: bool = False,
        ruler: Ruler | None = None,
    ) -> None:
        """Show a note.

        Args:
            source: Its text. Line ends of two characters are shown as one where all lines end so.
            syntax: `markdown`, `text`, or what code is coloured for: `json`, `xml`, `python`, …
            mode: `rendered` or `source`; the present one if left out.
            numbers: Whether source lines are numbered, where the source is shown.
            keep_place: Whether the first line in view stays in view, for a note that changed.
            ruler: Where the rest of it is set apart, if anywhere.
        """
        self._drop_pending()
        crlf = source.count("\r\n")
        if crlf and crlf == source.count("\n"):
            source = source.replace("\r\n", "\n")
        line, inner = self._first_visible() if keep_place and self._notice is None else (0, 0)
        old = self._document
        if keep_place and line:
            line = moved_line(old.source, source, line)
        self._notice = None
        self._numbers = numbers
        # What was said of the old lines is not true of the new ones; the gutter stays, so that nothing jumps.
        self._remarks = [Remark(" " * cell_len(each.text), "") for each in self._remarks[:1] if keep_place]
        layout = Layout(syntax, mode or old.layout.mode, ruler=ruler)
        self._document = Document(source, layout)
        self._document.relayout(replace(layout, width=self._text_width()))
        self._document.search(old.query if keep_place else "")
        self._match = -1
        if not keep_place:
            self._marked_lines = frozenset()
        self._go_to_line(line, inner)

    def show_notice(self, title: str, detail: str = "") -> None:
        """Say calmly why there is no note to show.

        Args:
            title: What is the case.
            detail: Why, and what can be done; may hold several lines.
        """
        self._drop_pending()
        self._document = Document("", self._document.layout)
        self._notice = (title, detail)
        self._remarks = ()
        self._match = -1
        self._marked_lines = frozenset()
        self._go_to_line(0, 0)

    def clear(self) -> None:
        """Show nothing."""
        self.show("", syntax=self._document.layout.syntax)

    def append(self, fragment: str) -> None:
        """Add text at the end, as it streams in; the end stays in view if it was.

        Args:
            fragment: Any piece of text, however small; pieces are gathered for a frame.
        """
        self._pending.append(fragment)
        if self._flush_timer is None:
            wait = FRAME - (monotonic() - self._flushed_at)
            if wait <= 0 or not self.is_attached:
                self._flush()
            else:
                self._flush_timer = self.set_timer(wait, self._flush)

    def _drop_pending(self) -> None:
        self._pending.clear()
        if self._flush_timer is not None:
            self._flush_timer.stop()
            self._flush_timer = None

    def _flush(self) -> None:
        if not self._pending:
            self._flush_timer = None
            return
        fragment = "".join(self._pending)
        self._drop_pending()
        self._flushed_at = monotonic()
        following = self.scroll_offset.y >= self.max_scroll_y
        self._notice = None
        self._document.append(fragment)
        if self._text_width() != self._document.layout.width:  # one more digit in the line numbers
            self._lay_out(self._document.layout)
        self._settle()
        if following:
            self.scroll_to(y=self.max_scroll_y, animate=False)
            self._settle()
        self._redraw()

    def annotate(self, remarks: Sequence[Remark]) -> None:
        """Say something of each source line in a gutter at its left; equal neighbours are said once.

        Args:
            remarks: One for each line, from the first, all of the same width; none to take the gutter away.
        """
        widened = self._remark_width()
        self._remarks = remarks
        if self._remark_width() != widened:
            self._lay_out(self._document.layout)
        self._redraw()

    def highlight_lines(self, lines: Iterable[int]) -> None:
        """Mark source lines that changed with a bar beside them.

        Args:
            lines: Numbers of source lines, counted from 1.
        """
        self._marked_lines = frozenset(line - 1 for line in lines)
        self._redraw()

    # --- search

    def reveal_line(self, line: int) -> None:
        """Bring a source line into view, a third from the top, unless it is there already.

        Args:
            line: Its number, counted from 1.
        """
        first, last, _ = self._told or (0, 0, 0)
        if self._notice is None and not first <= line <= last:
            top = self._document.row_of_line(line - 1) - self._port.height // 3
            self.scroll_to(y=max(top, 0), animate=False)
            self._settle()

    def search(self, query: str) -> int:
        """Mark a literal text wherever it is in view, and say how often the note holds it.

        Args:
            query: The text; letters of any case match unless it holds a capital. Empty to stop.
        """
        self._flush()
        count = self._document.search(query)
        self._match = -1
        self._redraw()
        return count

    def next_match(self) -> None:
        """Bring the next match into view, from the first visible line on, round the end."""
        start = self._match + 1 if self._match >= 0 else self._first_offset()
        if self._document.query:
            self._show_match(self._document.next_match(start))

    def previous_match(self) -> None:
        """Bring the previous match into view, round the start."""
        start = self._match if self._match >= 0 else self._first_offset()
        if self._document.query:
            self._show_match(self._document.previous_match(start))

    def show_match_from(self, line: int) -> None:
        """Bring a line into view, and make the first match from there on the current one.

        Args:
            line: Its number, from 1.
        """
        self.reveal_line(line)
        if self._document.query:
            offset = 0
            for _ in range(line - 1):
                offset = self._document.source.find("\n", offset) + 1
            self._show_match(self._document.next_match(offset))

    def _first_offset(self) -> int:
        index, _ = self._document.locate(self.scroll_offset.y)
        if index < 0:
            return 0
        chunk = self._document.chunks[index]
        offset = chunk.start
        for _ in range(self._first_visible()[0] - chunk.line):
            offset = self._document.source.find("\n", offset) + 1
        return offset

    def _show_match(self, offset: int) -> None:
        self._match = offset
        for _ in range(4 if offset >= 0 else 0):
            found = self._document.place(offset)
            y = self._document.tops[found.chunk] + found.row
            top = self.scroll_offset.y
            self._set_height()
            if top <= y < top + self._port.height:
                break
            self.scroll_to(y=max(0, y - self._port.height // 3), animate=False)
        self._redraw()

    # --- keys

    def action_scroll_down(self) -> None:
        """One row down."""
        self._scroll_by(1)

    def action_scroll_up(self) -> None:
        """One row up."""
        self._scroll_by(-1)

    def action_page_down(self) -> None:
        """One page down, less a row that stays in view."""
        self._scroll_by(max(1, self._port.height - 1))

    def action_page_up(self) -> None:
        """One page up, less a row that stays in view."""
        self._scroll_by(-max(1, self._port.height - 1))

    def action_half_down(self) -> None:
        """Half a page down."""
        self._scroll_by(max(1, self._port.height // 2))

    def action_half_up(self) -> None:
        """Half a page up."""
        self._scroll_by(-max(1, self._port.height // 2))

    def action_scroll_home(self) -> None:
        """To the first line."""
        self.scroll_to(y=0, animate=False)

    def action_scroll_end(self) -> None:
        """To the last line."""
        self.scroll_to(y=self.max_scroll_y, animate=False)

    def action_next_match(self) -> None:
        """To the next match."""
        self.next_match()

    def action_previous_match(self) -> None:
        """To the previous match."""
        self.previous_match()

    def _scroll_by(self, rows: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False)

    # --- layout

    @property
    def _port(self) -> Size:
        """Cells for the note, without the scrollbar."""
        return self.scrollable_content_region.size

    def _gutter(self) -> int:
        """Cells to the left of the text: the bar of changed lines, and line numbers."""
        return len(BAR) + (self._number_width() + 1 if self._numbered else 0) + self._remark_width()

    @property
    def _numbered(self) -> bool:
        return self._numbers and self._document.layout.mode == "source"

    def _remark_width(self) -> int:
        """Cells of the gutter that says something of each line; none where the note is rendered."""
        if not self._remarks or self._document.layout.mode != "source":
            return 0
        return cell_len(self._remarks[0].text) + 1

    def _number_width(self) -> int:
        return max(2, len(str(self._document.line_count)))

    def _text_width(self) -> int:
        return max(8, min(WIDEST, (self._port.width or 80) - self._gutter()))

    def _lay_out(self, layout: Layout) -> None:
        """Lay the note out anew with the same line at the top."""
        line, inner = self._first_visible()
        if layout.mode != self._document.layout.mode:
            inner = 0
        self._document.layout, before = layout, self._document.layout
        width = self._text_width()
        self._document.layout = before
        self._document.relayout(replace(layout, width=width))
        self._go_to_line(line, inner)

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the text to the new width, with the same line at the top."""
        del event
        self._lay_out(self._document.layout)

    def _first_visible(self) -> tuple[int, int]:
        """Source line of the first row in view, and how many of its rows are above."""
        y = self.scroll_offset.y
        found = self._document.row(y) if y else None
        if found is None:
            return 0, 0
        _, inner, row = found
        return row.first, max(0, y - self._document.row_of_line(row.first)) if inner else 0

    def _go_to_line(self, line: int, inner: int) -> None:
        self._redraw()
        y = self._document.row_of_line(line) + inner if line or inner else 0
        self._set_height()
        if y == self.scroll_offset.y:
            self._settle()
            return
        self.scroll_to(y=y, animate=False)
        self._settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Make the rows that came into view before they are painted."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value) and not self._settling:
            self._settle(up=new_value < old_value)

    def _settle(self, *, up: bool = False) -> None:
        """Draw what is in view; hold the visible text still while guessed heights become exact.

        Args:
            up: Whether the view moved up, so that the text below the new rows is what stays.
        """
        if self._settling:
            return
        self._settling = True
        try:
            document = self._document
            for _ in range(8):
                y = self.scroll_offset.y
                at_end = y > 0 and y >= self.max_scroll_y
                index, inner = document.locate(y)
                if index < 0:
                    break
                guessed = None if document.exact(index) else document.tops[index + 1] - document.tops[index]
                exact = len(document.rows(index))
                want = y
                if up and guessed is not None:
                    want = document.tops[index] + max(0, exact - (guessed - inner))
                    self._shift_selection(exact - guessed)
                document.draw_from(want, self._port.height)
                self._set_height()
                if at_end and not up:
                    want = self.max_scroll_y
                want = max(0, min(want, self.max_scroll_y))
                if want == self.scroll_offset.y:
                    break
                self._strips.clear()
                self.scroll_target_y = self.scroll_y = want  # the wheel goes on from the target
        finally:
            self._settling = False
        self._set_height()
        self._tell()

    def _shift_selection(self, rows: int) -> None:
        """Move the selection with the text when rows above it turn out to be more or fewer."""
        selection = self.text_selection if self.is_attached else None
        if rows and selection is not None:
            moved = Selection(*(end and Offset(end.x, max(0, end.y + rows)) for end in selection))
            self.screen.selections = {**self.screen.selections, self: moved}

    def _set_height(self) -> None:
        """Tell Textual how long the note is, without a layout of the whole screen."""
        size = Size(self._port.width, self._document.height)
        if size != self.virtual_size:
            self._strips.clear()
            self.set_reactive(Widget.virtual_size, size)
            if self.is_attached:
                self._scroll_update(size)

    def _tell(self) -> None:
        """Say which lines are in view, if that has changed."""
        document = self._document
        y = self.scroll_offset.y
        first = document.row(y)
        last = document.row(min(document.height, y + max(1, self._port.height)) - 1)
        lines = (first[2].first + 1 if first else 0, last[2].last + 1 if last else 0, document.line_count)
        if lines != self._told and self.is_attached:
            self._told = lines
            self.post_message(self.Moved(*lines))

    def _redraw(self) -> None:
        self._strips.clear()
        self.refresh()

    # --- selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it is drawn, without what stands beside it, broken where the note is."""
        document = self._document
        start, end = selection
        if start is None and end is None:
            return document.source, "\n"
        y, x = (start.y, max(0, start.x)) if start else (0, 0)
        last = end.y if end else document.height - 1
        parts: list[str] = []
        first = y
        while y <= last and (found := document.row(y)) is not None:
            row = found[2]
            stop = max(0, end.x) if end and y == last else len(row.text)
            begin = x if y == first else 0
            if y > first:
                parts.append(row.join)
            parts.append(row.copied(begin, stop))
            y += 1
        lines = "".join(parts).split("\n")
        return "\n".join(line.rstrip(" ") for line in lines[:-1]) + ("\n" if len(lines) > 1 else "") + lines[-1], "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        del selection
        self._redraw()

    # --- drawing

    def notify_style_update(self) -> None:
        """Forget the styles when the theme changes."""
        super().notify_style_update()
        self._styles_by_role.clear()
        self._strips.clear()

    def _role(self, roles: str) -> Style:
        """The style of some roles, each over the ones before it, over the widget's own."""
        style = self._styles_by_role.get(roles)
        if style is None:
            style = self.rich_style
            for role in roles.split():
                if role in _PLAIN:
                    continue
                style += self.get_component_rich_style(f"noteview--{role}", partial=True)
            self._styles_by_role[roles] = style
        return style

    def render_line(self, y: int) -> Strip:
        """Draw one row.

        Args:
            y: Row on the screen, counted from the top of the widget.
        """
        width = self._port.width
        if self._notice is not None:
            return self._notice_line(y, width)
        y += self.scroll_offset.y
        strip = self._strips.get(y)
        if strip is None:
            if len(self._strips) >= KEPT_ROWS:
                self._strips.clear()
            strip = self._strips[y] = self._draw(y, width)
        return strip

    def _draw(self, y: int, width: int) -> Strip:
        base = self._role("")
        found = self._document.row(y)
        if found is None:
            return Strip.blank(width, base)
        index, inner, row = found
        before = self._gutter_spans(row)
        text_width = self._document.layout.width
        spans = self._marked(row, index, inner, y)
        segments = [Segment(text, self._role(style)) for text, style, _ in spans if text]
        used = sum(cell_len(segment.text) for segment in segments)
        strip = Strip(segments, used)
        if used > text_width:
            strip = strip.crop(0, text_width)
        elif row.fill and used < text_width:
            fill = Segment(" " * (text_width - used), self._role(row.fill))
            strip = Strip([*segments, fill], text_width)
        gutter = [Segment(text, self._role(style)) for text, style, _ in before]
        size = sum(len(segment.text) for segment in gutter)
        whole = Strip([*gutter, *strip], size + strip.cell_length)
        return whole.adjust_cell_length(width, base).apply_offsets(-size, y)

    def _gutter_spans(self, row: Row) -> list[Span]:
        shown = row.spans or row.number
        changed = shown and any(line in self._marked_lines for line in range(row.first, row.last + 1))
        bar = Span(BAR, "changed") if changed else Span(" " * len(BAR), "")
        remark = self._remark_span(row)
        if not self._numbered:
            return [*remark, bar]
        size = self._number_width()
        number = str(row.first + 1) if row.number else ""
        return [*remark, Span(f"{number:>{size}} ", "line-number"), bar]

    def _remark_span(self, row: Row) -> list[Span]:
        width = self._remark_width()
        if not width:
            return []
        remarks, line = self._remarks, row.first
        if not row.number or line >= len(remarks) or (line and remarks[line] == remarks[line - 1]):
            return [Span(" " * width, "")]
        return [Span(remarks[line].text + " ", remarks[line].role)]

    def _marked(self, row: Row, index: int, inner: int, y: int) -> Sequence[Span]:
        """The spans of the row, with matches and the selection over them."""
        spans: Sequence[Span] = row.spans
        if self._document.query:
            current = self._document.place(self._match) if self._match >= 0 else None
            for mark in self._document.marks(index):
                if mark.row == inner:
                    role = "current-match" if mark == current or _goes_on(current, mark) else "match"
                    spans = _over(spans, mark.start, mark.end, role)
        for place in self._chosen_places(index, inner):
            spans = _over(spans, place.start, place.end, "chosen-link")
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(y)) is not None:
            start, end = span
            length = len(row.text)
            style = "selection"
            if style not in self._styles_by_role:
                chosen = self.screen.get_component_rich_style("screen--selection")
                self._styles_by_role[style] = chosen
            spans = _over(spans, max(0, start), length if end == -1 else max(0, end), style, replace=True)
        return spans

    def _notice_line(self, y: int, width: int) -> Strip:
        base = self._role("")
        rows = self._notice_rows(width)
        top = max(0, (self._port.height - len(rows)) // 2 - 1)
        if not top <= y < top + len(rows):
            return Strip.blank(width, base)
        segments = [Segment(text, self._role(style)) for text, style, _ in rows[y - top].spans]
        used = sum(cell_len(segment.text) for segment in segments)
        left = Segment(" " * max(0, (width - used) // 2), base)
        return Strip([left, *segments]).adjust_cell_length(width, base)

    def _notice_rows(self, width: int) -> list[Row]:
        title, detail = self._notice or ("", "")
        rows = prose(clean(title, "notice-title"), max(8, min(60, width - 4)), 0)
        if detail:
            rows.append(Row((), 0, 0))
            for line in detail.split("\n"):
                rows += prose(clean(line, "notice-detail"), max(8, min(60, width - 4)), 0)
        return rows


def _goes_on(current: Found | None, mark: Found) -> bool:
    """Whether the mark is the rest of a match that begins at the end of the row above."""
    return current is not None and (mark.chunk, mark.row, mark.start) == (current.chunk, current.row + 1, 0)


def _over(spans: Sequence[Span], start: int, end: int, role: str, *, replace: bool = False) -> list[Span]:
    """The spans with a role added between two characters."""
    result: list[Span] = []
    at = 0
    for text, style, line in spans:
        left, right = max(0, start - at), min(len(text), end - at)
        if left >= right:
            result.append(Span(text, style, line))
        else:
            named = role if replace else f"{style} {role}".lstrip()
            result.append(Span(text[:left], style, line))
            result.append(Span(text[left:right], named, line))
            result.append(Span(text[right:], style, line))
        at += len(text)
    return [span for span in result if span.text]
