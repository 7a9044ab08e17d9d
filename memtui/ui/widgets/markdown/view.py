"""The widget that shows a note: draws the rows on screen, and only those.

Textual's `Markdown` makes a widget for each block, which takes seconds for a few kilobytes. Here a `NoteDocument` makes
the rows in view, and the first visible line stays where it is while guessed heights become exact.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from memtui.ui.widgets.line_view import TextView, copy_selection, make_scroll_bindings, overlay_role, overlay_selection
from memtui.ui.widgets.markdown.document import Mode, NoteDocument, NoteLayout, RowSpan, Ruler, find_moved_line
from memtui.ui.widgets.markdown.rows import MarkdownRow, TextSpan

if TYPE_CHECKING:
    from memtui.notes.links import Link
    from memtui.ui.widgets.markdown.links import NoteLinks

WIDEST = 100
"""Cells of text, at most; what is wider is hard to read."""
BAR = "┃ "

ROLES = (
    *("h1", "h2", "h3", "h4", "h5", "h6", "h1-rule", "h2-rule", "rule", "strong", "emphasis", "strike"),
    *("code", "link", "target", "image", "quote-bar", "marker", "done", "todo", "table-header", "key"),
    *("warning", "hidden", "panel", "language", "mark", "heading", "keyword", "string", "number"),
    *("comment", "name", "deleted", "inserted", "line-number", "changed", "match", "current-match"),
    *("notice-title", "notice-detail", "blame", "blame-you", "blame-outside", "chosen-link"),
    *("ruler", "beyond", "category", "relation"),
)
"""What a span can be; each is a component class of the view."""


class GutterRemark(NamedTuple):
    """The text of a gutter beside one line, filled up to the width of the gutter, and its role, one of `ROLES`."""

    text: str
    role: str


class NoteGutter:
    """The cells to the left of a note: a remark on each line, its number, and a bar for what changed.

    Attributes:
        shows_numbers: Whether lines are numbered where the source is shown.
        marked_lines: Lines with a bar, from 0.
        remarks: One for each line, from the first, all of the same width.
    """

    def __init__(self) -> None:
        self.shows_numbers = True
        self.marked_lines: frozenset[int] = frozenset()
        self.remarks: Sequence[GutterRemark] = ()

    def clear(self, *, keep_width: bool = False) -> None:
        """Remove remarks and bars; the room for the remarks may stay, so that the text does not jump."""
        self.remarks = [GutterRemark(" " * cell_len(each.text), "") for each in self.remarks[:1] if keep_width]
        if not keep_width:
            self.marked_lines = frozenset()

    def measure(self, document: NoteDocument) -> int:
        """Its width in cells."""
        numbers = self._measure_number(document) + 1 if self._has_numbers(document) else 0
        return len(BAR) + numbers + self._measure_remarks(document)

    def build(self, row: MarkdownRow, document: NoteDocument) -> list[TextSpan]:
        """The spans before a row."""
        shown = row.spans or row.number
        changed = shown and any(line in self.marked_lines for line in range(row.first, row.last + 1))
        bar = TextSpan(BAR, "changed") if changed else TextSpan(" " * len(BAR), "")
        remark = self._build_remark(row, document)
        if not self._has_numbers(document):
            return [*remark, bar]
        number = str(row.first + 1) if row.number else ""
        return [*remark, TextSpan(f"{number:>{self._measure_number(document)}} ", "line-number"), bar]

    def _has_numbers(self, document: NoteDocument) -> bool:
        return self.shows_numbers and document.layout.mode == "source"

    def _measure_number(self, document: NoteDocument) -> int:
        return max(2, len(str(document.line_count)))

    def _measure_remarks(self, document: NoteDocument) -> int:
        """Cells of the remarks; none where the note is rendered."""
        return cell_len(self.remarks[0].text) + 1 if self.remarks and document.layout.mode == "source" else 0

    def _build_remark(self, row: MarkdownRow, document: NoteDocument) -> list[TextSpan]:
        width = self._measure_remarks(document)
        if not width:
            return []
        remarks, line = self.remarks, row.first
        if not row.number or line >= len(remarks) or (line and remarks[line] == remarks[line - 1]):
            return [TextSpan(" " * width, "")]
        return [TextSpan(remarks[line].text + " ", remarks[line].role)]


class NoteView(TextView):
    """Shows one note, rendered or as it is written, and lets a person search and copy it."""

    ALLOW_SELECT = True

    BINDINGS: ClassVar[list[BindingType]] = [
        *make_scroll_bindings("note", bottom="end"),
        Binding(
            "n", "match(1)", "Next match", id="note.next_match", tooltip="To the next match", show=False
        ),
        Binding(
            "N", "match(-1)", "Previous match", id="note.previous_match",
            tooltip="To the previous match", show=False,
        ),
        Binding(
            "enter", "follow_link", "Follow link", id="note.follow_link",
            tooltip="Select the first visible link, or follow the selected one", show=False,
        ),
        Binding("l", "step_link(1)", "Next link", id="note.next_link", tooltip="To the next link", show=False),
        Binding(
            "L", "step_link(-1)", "Previous link", id="note.previous_link", tooltip="To the previous link", show=False
        ),
    ]  # fmt: skip

    STYLES = "noteview--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"noteview--{role}" for role in ROLES}

    DEFAULT_CSS = """
    NoteView {
        scrollbar-gutter: stable;
        background: $background;
        color: $foreground;
    }
    """

    ROLE_CSS = """
    NoteView {
        & > .noteview--h1, & > .noteview--h2, & > .noteview--h3, & > .noteview--heading, & > .noteview--marker {
            color: $text-primary; text-style: bold;
        }
        & > .noteview--h4 { color: $text-primary; text-style: bold italic; }
        & > .noteview--h5, & > .noteview--h6 { color: $text-primary; text-style: italic; }
        & > .noteview--image, & > .noteview--keyword, & > .noteview--blame { color: $text-primary; }
        & > .noteview--link { color: $text-primary; text-style: underline; }
        & > .noteview--h1-rule, & > .noteview--h2-rule, & > .noteview--rule { color: $primary; }
        & > .noteview--quote-bar { color: $secondary; }
        & > .noteview--target, & > .noteview--line-number { color: $text-secondary; }
        & > .noteview--key { color: $text-secondary; text-style: bold; }
        & > .noteview--language, & > .noteview--comment, & > .noteview--beyond {
            color: $text-secondary; text-style: italic;
        }
        & > .noteview--strong, & > .noteview--table-header, & > .noteview--name, & > .noteview--notice-title {
            text-style: bold;
        }
        & > .noteview--emphasis { text-style: italic; }
        & > .noteview--category { color: $text-accent; }
        & > .noteview--relation { color: $text-success; }
        & > .noteview--strike { text-style: strike; }
        & > .noteview--code { color: $text-accent; background: $panel; }
        & > .noteview--panel { background: $panel; }
        & > .noteview--string, & > .noteview--inserted { color: $text-success; }
        & > .noteview--done { color: $text-success; text-style: bold; }
        & > .noteview--mark, & > .noteview--number, & > .noteview--blame-outside { color: $text-warning; }
        & > .noteview--todo, & > .noteview--changed, & > .noteview--ruler { color: $text-warning; text-style: bold; }
        & > .noteview--warning { color: $text-warning; text-style: italic; }
        & > .noteview--deleted { color: $text-error; }
        & > .noteview--hidden { color: $text-error; text-style: bold reverse; }
        & > .noteview--match { background: $warning-muted; color: $text-warning; text-style: underline; }
        & > .noteview--current-match { background: $warning; color: $background; text-style: bold; }
        & > .noteview--chosen-link { background: $accent; color: $background; text-style: bold; }
        & > .noteview--blame-you { color: $foreground; text-style: bold; }
        & > .noteview--notice-detail { color: $foreground; }
        &:ansi > .noteview--match { color: ansi_black; background: ansi_cyan; }
        &:ansi > .noteview--current-match { color: ansi_black; background: ansi_yellow; text-style: bold underline; }
        &:ansi > .noteview--chosen-link { color: ansi_black; background: ansi_yellow; text-style: bold underline; }
    }
    """

    class Scrolled(Message):
        """Other lines are in view, or the note has another length.

        Attributes:
            first_line: The first line in view, counted from 1; 0 without any.
            last_line: The last one.
            total_lines: Lines of the note.
        """

        def __init__(self, first_line: int, last_line: int, total_lines: int) -> None:
            super().__init__()
            self.first_line = first_line
            self.last_line = last_line
            self.total_lines = total_lines

        def can_replace(self, message: Message) -> bool:
            """The newest position is the only one that matters."""
            return isinstance(message, NoteView.Scrolled)

    class LinkSelected(Message):
        """A link was selected, the one of a number (from 1) among a count; or there is none to select."""

        def __init__(self, link: "Link | None", number: int = 0, count: int = 0) -> None:
            super().__init__()
            self.link = link
            self.number = number
            self.count = count

    class LinkRequested(Message):
        """A person wants to follow a link of a text."""

        def __init__(self, link: "Link", source: str) -> None:
            super().__init__()
            self.link = link
            self.source = source

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.document = NoteDocument("", NoteLayout())
        self.links = LinkSelection(self)
        self._gutter = NoteGutter()
        self._match = -1
        self._settling = False
        self._prepared: NoteDocument | None = None
        self._last_scrolled: tuple[int, int, int] | None = None

    @property
    def first_line(self) -> int:
        """The first line of the text that is in view, from 1."""
        return self._find_first_visible()[0] + 1

    def prepare(self, source: str, *, syntax: str, mode: Mode, keep_place: bool = False) -> None:
        """Do in a thread most of what `show` does with the same arguments: cut a note, draw what will be in view."""
        document = NoteDocument(_join_line_ends(source), NoteLayout(syntax, mode))
        document.relayout(replace(document.layout, width=self._measure_text(document)))
        document.draw_from(self.scroll_offset.y if keep_place else 0, self._viewport.height)
        self._prepared = document

    def _make_document(self, source: str, layout: NoteLayout) -> NoteDocument:
        """A document of a note: the prepared one, if it is of this note."""
        prepared = self._prepared
        if prepared is None or prepared.source != source or not prepared.layout.is_same_view(layout):
            return NoteDocument(source, layout)
        self._prepared = None
        return prepared

    def show(
        self,
        source: str,
        *,
        syntax: str = "markdown",
        mode: Mode = "rendered",
        numbers: bool = True,
        keep_place: bool = False,
        ruler: Ruler | None = None,
    ) -> None:
        """Show a note.

        Args:
            source: Its text. Line ends of two characters are shown as one where all lines end so.
            syntax: `markdown`, `text`, or a language that code is coloured for: `json`, `xml`, `python`, …
            mode: `rendered` or `source`.
            numbers: Whether source lines are numbered, where the source is shown.
            keep_place: Whether the first line in view stays in view, for a note that changed.
            ruler: Where the rest of it is set apart, if anywhere.
        """
        source = _join_line_ends(source)
        line, inner = self._find_first_visible() if keep_place and self._notice is None else (0, 0)
        old = self.document
        if keep_place and line:
            line = find_moved_line(old.source, source, line)
        self._notice = None
        self._gutter.shows_numbers = numbers
        self._gutter.clear(keep_width=keep_place)
        layout = NoteLayout(syntax, mode, ruler=ruler)
        self.document = self._make_document(source, layout)
        self.document.relayout(replace(layout, width=self._measure_text()))
        self.document.search(old.query if keep_place else "")
        self._match = -1
        self._go_to_line(line, inner)

    def show_notice(self, title: str, detail: str = "") -> None:
        """Show a title and lines of detail in place of a note: why there is none."""
        self.document = NoteDocument("", self.document.layout)
        self._notice = (title, detail)
        self._gutter.clear()
        self._match = -1
        self._go_to_line(0, 0)

    def annotate(self, remarks: Sequence[GutterRemark]) -> None:
        """Show a remark beside each source line, all of the same width; equal neighbours are shown once."""
        before = self.measure_gutter()
        self._gutter.remarks = remarks
        if self.measure_gutter() != before:
            self._lay_out()
        self._redraw()

    def highlight_lines(self, lines: Iterable[int]) -> None:
        """Show a bar beside source lines that changed, numbered from 1."""
        self._gutter.marked_lines = frozenset(line - 1 for line in lines)
        self._redraw()

    def reveal_line(self, line: int) -> None:
        """Bring a source line, counted from 1, into view, a third from the top, unless it is there already."""
        first, last, _ = self._last_scrolled or (0, 0, 0)
        if self._notice is None and not first <= line <= last:
            top = self.document.find_row_of_line(line - 1) - self._viewport.height // 3
            self.scroll_to(y=max(top, 0), animate=False)
            self._stabilize_view()

    # Search

    def search(self, query: str) -> int:
        """Mark a literal text, and return the number of its occurrences.

        Args:
            query: The text; letters of any case match unless it holds a capital. Empty to stop.
        """
        count = self.document.search(query)
        self._match = -1
        self._redraw()
        return count

    def action_match(self, step: int) -> None:
        """Go to the next match (step 1) or the previous one (-1), from the first line in view, round the end."""
        if self.document.query:
            start = self._match if self._match >= 0 else self._get_first_offset()
            if step < 0:
                self._show_match(self.document.find_previous_match(start))
            else:
                self._show_match(self.document.find_next_match(start + 1 if self._match >= 0 else start))

    def show_match_from(self, line: int) -> None:
        """Bring a line, counted from 1, into view, and the first match from there on."""
        self.reveal_line(line)
        if self.document.query:
            self._show_match(self.document.find_next_match(self.document.find_line_offset(line - 1)))

    def _get_first_offset(self) -> int:
        index, _ = self.document.locate_row(self.scroll_offset.y)
        return self.document.find_line_offset(self._find_first_visible()[0], index) if index >= 0 else 0

    def _show_match(self, offset: int) -> None:
        self._match = offset
        for _ in range(4 if offset >= 0 else 0):
            found = self.document.locate_match(offset)
            y = self.document.tops[found.chunk] + found.row
            top = self.scroll_offset.y
            self._set_height()
            if top <= y < top + self._viewport.height:
                break
            self.scroll_to(y=max(0, y - self._viewport.height // 3), animate=False)
        self._redraw()

    # Links

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of links where links are not followed."""
        del parameters
        return self.links.is_enabled or action not in ("step_link", "follow_link")

    def action_step_link(self, step: int) -> None:
        """Select the next link (step 1) or the previous one (-1)."""
        self.links.step(step)

    def action_follow_link(self) -> None:
        """Follow the selected link, or select one."""
        self.links.follow()

    def on_click(self, event: events.Click) -> None:
        """Follow a clicked link."""
        if self.links.is_enabled and event.button == 1 and self.text_selection is None:
            self.links.click(event)

    # Layout

    @property
    def row_count(self) -> int:
        return self.document.height

    def measure_gutter(self) -> int:
        """Cells to the left of the text."""
        return self._gutter.measure(self.document)

    def _measure_text(self, document: NoteDocument | None = None) -> int:
        gutter = self._gutter.measure(document or self.document)
        return max(8, min(WIDEST, (self._viewport.width or 80) - gutter))

    def _lay_out(self) -> None:
        """Wrap the text to the width, with the same line at the top."""
        line, inner = self._find_first_visible()
        self.document.relayout(replace(self.document.layout, width=self._measure_text()))
        self._go_to_line(line, inner)

    def on_resize(self) -> None:
        """Wrap the text to the new width."""
        self._lay_out()

    def _find_first_visible(self) -> tuple[int, int]:
        """Source line of the first row in view, and how many of its rows are above."""
        y = self.scroll_offset.y
        found = self.document.get_row(y) if y else None
        if found is None:
            return 0, 0
        _, inner, row = found
        return row.first, max(0, y - self.document.find_row_of_line(row.first)) if inner else 0

    def _go_to_line(self, line: int, inner: int) -> None:
        self._redraw()
        y = self.document.find_row_of_line(line) + inner if line or inner else 0
        self._set_height()
        if y != self.scroll_offset.y:
            self.scroll_to(y=y, animate=False)
        self._stabilize_view()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Make the rows that came into view before they are painted."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value) and not self._settling:
            self._stabilize_view(up=new_value < old_value)

    def _stabilize_view(self, *, up: bool = False) -> None:
        """Draw what is in view; hold the visible text still while guessed heights become exact.

        Args:
            up: Whether the view moved up, so that the text below the new rows is what stays.
        """
        if self._settling:
            return
        self._settling = True
        try:
            document = self.document
            for _ in range(8):
                y = self.scroll_offset.y
                at_end = y > 0 and y >= self.max_scroll_y
                index, inner = document.locate_row(y)
                if index < 0:
                    break
                guessed = None if document.is_exact(index) else document.tops[index + 1] - document.tops[index]
                exact = len(document.get_rows(index))
                target = y
                if up and guessed is not None:
                    target = document.tops[index] + max(0, exact - (guessed - inner))
                    self._shift_selection(exact - guessed)
                document.draw_from(target, self._viewport.height)
                self._set_height()
                if at_end and not up:
                    target = self.max_scroll_y
                target = max(0, min(target, self.max_scroll_y))
                if target == self.scroll_offset.y:
                    break
                self._strips.clear()
                self.scroll_target_y = self.scroll_y = target  # the wheel goes on from the target
        finally:
            self._settling = False
        self._set_height()
        self._notify_scrolled()

    def _notify_scrolled(self) -> None:
        document = self.document
        y = self.scroll_offset.y
        first = document.get_row(y)
        last = document.get_row(min(document.height, y + max(1, self._viewport.height)) - 1)
        lines = (first[2].first + 1 if first else 0, last[2].last + 1 if last else 0, document.line_count)
        if lines != self._last_scrolled and self.is_attached:
            self._last_scrolled = lines
            self.post_message(self.Scrolled(*lines))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it is drawn, without the gutter, broken where the note is."""
        document = self.document
        start, end = selection
        if start is None and end is None:
            return document.source, "\n"
        rows = range(start.y if start else 0, (end.y if end else document.height - 1) + 1)
        found = takewhile(itemgetter(1), ((y, document.get_row(y)) for y in rows))
        return copy_selection(((y, place[2]) for y, place in found if place is not None), selection), "\n"

    def _draw_row(self, y: int) -> Strip:
        width, base = self._viewport.width, self._resolve_style("")
        found = self.document.get_row(y)
        if found is None:
            return Strip.blank(width, base)
        index, inner, row = found
        spans = self._overlay_marks(row, index, inner, y)
        strip = self._draw_spans(row, spans, self.document.layout.width)
        gutter = [
            Segment(text, self._resolve_style(style)) for text, style, _ in self._gutter.build(row, self.document)
        ]
        size = sum(len(segment.text) for segment in gutter)
        whole = Strip([*gutter, *strip], size + strip.cell_length)
        return whole.adjust_cell_length(width, base).apply_offsets(-size, y)

    def _overlay_marks(self, row: MarkdownRow, index: int, inner: int, y: int) -> Sequence[TextSpan]:
        """The spans of the row, with matches and the selection over them."""
        spans: Sequence[TextSpan] = row.spans
        if self.document.query:
            current = self.document.locate_match(self._match) if self._match >= 0 else None
            for mark in self.document.get_marks(index):
                if mark.row == inner:
                    role = "current-match" if mark == current or _is_continuation(current, mark) else "match"
                    spans = overlay_role(spans, mark.start, mark.end, role)
        for place in self.links.find_spans(index, inner):
            spans = overlay_role(spans, place.start, place.end, "chosen-link")
        return overlay_selection(spans, self.text_selection, row, y)


def _join_line_ends(source: str) -> str:
    """A text with line ends of one character where all have two."""
    crlf = source.count("\r\n")
    return source.replace("\r\n", "\n") if crlf and crlf == source.count("\n") else source


def _is_continuation(current: RowSpan | None, mark: RowSpan) -> bool:
    """Whether the mark is the rest of a match that begins at the end of the row above."""
    return current is not None and (mark.chunk, mark.row, mark.start) == (current.chunk, current.row + 1, 0)


class LinkSelection:
    """The links of a note view: one can be selected and followed.

    Args:
        view: The view.
    """

    def __init__(self, view: NoteView) -> None:
        self._view = view
        self._links: NoteLinks | None = None
        self._number = -1
        self.is_enabled = False
        """Whether links can be followed where this note is shown."""

    @property
    def number(self) -> int:
        """The selected link, from 0; -1 without one."""
        return self._number if self._links is not None and self._links.is_current(self._view.document) else -1

    @property
    def target(self) -> str:
        """The target of the selected link, as it is written; empty without one."""
        return self._load().links[self.number].target if self.number >= 0 else ""

    def select(self, number: int) -> None:
        """Select a link, counted from 0, or none (-1)."""
        self._number = number if 0 <= number < len(self._load().links) else -1
        self._view._redraw()

    def step(self, step: int) -> None:
        """Select the next link (step 1) or the previous one (-1), from those in view on, round the end."""
        view, links = self._view, self._load()
        count = len(links.links)
        if not count:
            view.post_message(NoteView.LinkSelected(None))
            return
        height = view.scrollable_content_region.height
        top = view.scroll_offset.y
        if self._number >= 0 and top <= links.get_row(self._number) < top + height:
            self._number = (self._number + step) % count
        else:
            row = view.document.get_row(top)
            first = links.find_first_from(top, row[2].first if row else 0)
            self._number = first if step > 0 or links.get_row(first) < top + height else (first - 1) % count
        at = links.get_row(self._number)
        if not top <= at < top + height:
            view.scroll_to(y=max(0, at - height // 3), animate=False)
        view._redraw()
        view.post_message(NoteView.LinkSelected(links.links[self._number], self._number + 1, count))

    def follow(self) -> None:
        """Follow the selected link, or select one."""
        links = self._load()
        if self._number >= 0:
            self._view.post_message(NoteView.LinkRequested(links.links[self._number], links.source))
        else:
            self.step(1)

    def click(self, event: events.Click) -> None:
        """Select and follow the link under the mouse."""
        number = self._find_at(event)
        if number is not None:
            event.stop()
            self.select(number)
            self.follow()

    def find_spans(self, chunk: int, inner: int) -> list[RowSpan]:
        """Where the selected link is drawn in a row."""
        if self._links is None or self.number < 0:
            return []
        return [span for span in self._links.get_spans(self._number) if (span.chunk, span.row) == (chunk, inner)]

    def _load(self) -> "NoteLinks":
        """The links of the note that is shown."""
        from memtui.ui.widgets.markdown.links import NoteLinks  # noqa: PLC0415 - start-up: behind the first paint

        if self._links is None or not self._links.is_current(self._view.document):
            self._links = NoteLinks(self._view.document)
            self._number = -1
        return self._links

    def _find_at(self, event: events.Click) -> int | None:
        offset = event.get_content_offset(self._view)
        found = None if offset is None else self._view.document.get_row(offset.y + self._view.scroll_offset.y)
        if offset is None or found is None:
            return None
        chunk, inner, row = found
        cells = offset.x - self._view.measure_gutter()
        for character, letter in enumerate(row.text):
            cells -= cell_len(letter)
            if cells < 0:
                return self._load().find_link_at(chunk, inner, character)
        return None
