"""The widget that shows what differs between two texts: one under the other, or side by side.

Draws the rows on screen and only those, so that a diff of 100,000 lines opens and scrolls like one of ten. Lines
that are too long are broken, never cut: nothing that was changed is out of reach.
"""

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style as ContentStyle
from textual.widget import Widget

from memtui.core.diffs import Hunk
from memtui.core.visible import one_line
from memtui.ui.diff.layout import Arrangement, Comparison, Item, Layout, Row, What
from memtui.ui.diff.lines import Run, Side, hanging, pieces
from memtui.ui.text import fit

SIDES_FROM = 110
"""Columns of the screen from which on two texts stand side by side, unless the person wants it otherwise."""
KEPT_ROWS = 1000
"""Drawn rows that are kept for the next frame."""
_ROLES = (
    *("removed", "added", "removed-word", "added-word", "hidden", "return", "number", "fold", "remark", "current"),
    *("nothing", "notice-title", "notice-detail"),
)
_LINE = {"round": ("─", "┬"), "double": ("═", "╤")}
_UNFINISHED = "no newline at the end"

DIFF_KEYS: tuple[Binding, ...] = (
    Binding("n", "hunk(1)", "hunk", id="diff.next_hunk", tooltip="To the next change"),
    Binding("N", "hunk(-1)", "previous hunk", id="diff.previous_hunk", tooltip="To the change before", show=False),
    Binding("s", "arrange", "sides", id="diff.arrange", tooltip="Side by side, or one under the other"),
    Binding("w", "words", "words", id="diff.words", tooltip="Mark the changed words, or only the lines"),
    Binding("x", "folds", "expand", id="diff.folds", tooltip="Show the unchanged lines, or fold them"),
)
"""Keys of a diff, for a screen too: they work while the person is in another of its panes."""


class DiffView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows how one text became another.

    Args:
        title: What it is called at the top, where there is one text under the other.
        id: The id of the widget in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, action, text, id=f"diff.{name}", tooltip=tooltip, show=False)
            for key, action, text, name, tooltip in (
                ("down,j", "rows(1)", "down", "down", "One row down"),
                ("up,k", "rows(-1)", "up", "up", "One row up"),
                ("pagedown", "pages(1)", "page down", "page_down", "One page down"),
                ("pageup", "pages(-1)", "page up", "page_up", "One page up"),
                ("ctrl+d", "halves(1)", "half down", "half_down", "Half a page down"),
                ("ctrl+u", "halves(-1)", "half up", "half_up", "Half a page up"),
                ("g,home", "top", "top", "top", "To the first line"),
                ("G,end", "bottom", "end", "bottom", "To the last line"),
            )
        ),
        *DIFF_KEYS,
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"diff--{role}" for role in _ROLES}

    DEFAULT_CSS = """
    DiffView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        background: $background;
        color: $foreground;

        & > .diff--removed { color: $text-error; }
        & > .diff--added { color: $text-success; }
        & > .diff--removed-word { color: $text-error; background: $error-muted; text-style: bold underline; }
        & > .diff--added-word { color: $text-success; background: $success-muted; text-style: bold underline; }
        &:ansi > .diff--removed-word { color: ansi_black; background: ansi_red; text-style: underline; }
        &:ansi > .diff--added-word { color: ansi_black; background: ansi_green; text-style: underline; }
        & > .diff--hidden { text-style: bold reverse; }
        & > .diff--return { color: $text-warning; }
        & > .diff--number { color: $text-secondary; }
        & > .diff--fold { color: $text-primary; }
        & > .diff--remark { color: $text-warning; text-style: italic; }
        & > .diff--current { color: $text-accent; text-style: bold; }
        & > .diff--nothing { background: $surface; }
        & > .diff--notice-title { text-style: bold; }
        & > .diff--notice-detail { color: $foreground; }
    }
    """

    class Moved(Message):
        """Another hunk is the current one."""

        def __init__(self, view: "DiffView") -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> "DiffView":
            """The widget that says so."""
            return self.view

        def can_replace(self, message: Message) -> bool:
            """Only the last place matters."""
            return isinstance(message, DiffView.Moved) and message.view is self.view

    def __init__(self, *, title: str = "2 Diff", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._title = title
        self._comparison: Comparison | None = None
        self._layout: Layout | None = None
        self._notice: tuple[str, str] = ("", "")
        self._labels = self._short = ("", "")
        self._remark = ""
        self._wanted: Arrangement | None = None
        self._marks_words = True
        self._open: frozenset[int] = frozenset()
        self._hunk = -1
        self._styles_by_role: dict[str, Style] = {}
        self._strips: dict[int, Strip] = {}

    # What is shown

    @property
    def comparison(self) -> Comparison | None:
        """What is shown; `None` while there is no difference to be shown."""
        return self._comparison

    @property
    def hunk(self) -> Hunk | None:
        """The hunk that the person is at."""
        if self._comparison is None or self._hunk < 0:
            return None
        return self._comparison.difference.hunks[self._hunk]

    @property
    def position(self) -> tuple[int, int]:
        """The number of the current hunk, from 1, and how many there are; 0 for none."""
        return self._hunk + 1, len(self._comparison.difference.hunks) if self._comparison else 0

    @property
    def arrangement(self) -> Arrangement:
        """How the two texts stand now."""
        if self._wanted is not None:
            return self._wanted
        wide = self.is_attached and self.app.size.width >= SIDES_FROM
        if self._comparison is not None and not (len(self._comparison.old) and len(self._comparison.new)):
            wide = False  # the whole width for a text that has nothing beside it
        return Arrangement.SIDES if wide else Arrangement.UNIFIED

    @property
    def marks_words(self) -> bool:
        """Whether the changed words of a changed line are marked."""
        return self._marks_words

    def show(
        self,
        comparison: Comparison,
        labels: tuple[str, str],
        *,
        short: tuple[str, str] | None = None,
        remark: str = "",
        keep_place: bool = False,
    ) -> None:
        """Show a difference, with its first hunk in view.

        Args:
            comparison: What differs; made in a thread if the texts are large.
            labels: What the two texts are called.
            short: What they are called where there is little room.
            remark: A sentence above the diff, such as on other line ends.
            keep_place: Whether what is in view stays there: the same texts, or nearly the same.
        """
        self._comparison, self._labels, self._remark = comparison, labels, remark
        self._short = short or labels
        self._notice = ("", "")
        y = self.scroll_offset.y
        if not keep_place:
            self._open = frozenset()
            self._hunk = 0 if comparison.difference.hunks else -1
        hunks = len(comparison.difference.hunks)
        self._hunk = min(self._hunk if self._hunk >= 0 else 0, hunks - 1)
        self._lay_out()
        if keep_place:
            self.scroll_to(y=min(y, self.max_scroll_y), animate=False)
        elif self._hunk >= 0:
            self._show_hunk()
        else:
            self.scroll_to(y=0, animate=False)
        self._tell()

    def show_notice(
        self,
        title: str,
        detail: str = "",
        *,
        labels: tuple[str, str] = ("", ""),
        short: tuple[str, str] | None = None,
    ) -> None:
        """Say calmly why there is no difference to show.

        Args:
            title: What is the case.
            detail: Why, and what can be done.
            labels: What the two texts are called.
            short: What they are called where there is little room.
        """
        self._short = short or labels
        self._comparison, self._layout, self._hunk = None, None, -1
        self._notice, self._labels, self._remark = (title, detail), labels, ""
        self._lay_out()
        self.scroll_to(y=0, animate=False)
        self._tell()

    # Keys

    def action_rows(self, rows: int) -> None:
        """Some rows down, or up if negative."""
        self._scroll_by(rows)

    def action_pages(self, pages: int) -> None:
        """Some pages down, less a row that stays in view."""
        self._scroll_by(pages * max(1, self._port.height - 1))

    def action_halves(self, halves: int) -> None:
        """Some half pages down."""
        self._scroll_by(halves * max(1, self._port.height // 2))

    def action_top(self) -> None:
        """To the first line, and the first hunk in view there."""
        self.scroll_to(y=0, animate=False)
        self._choose(0)

    def action_bottom(self) -> None:
        """To the last line, and the last hunk in view there."""
        self.scroll_to(y=self.max_scroll_y, animate=False)
        self._choose(-1)

    def action_hunk(self, step: int) -> None:
        """To the next hunk, or the one before; round the end."""
        _, total = self.position
        if total:
            self._hunk = (self._hunk + step) % total
            self._show_hunk()
            self._redraw()
            self._tell()

    def action_arrange(self) -> None:
        """Side by side, or one under the other."""
        sides = self.arrangement is Arrangement.SIDES
        self._wanted = Arrangement.UNIFIED if sides else Arrangement.SIDES
        self._lay_out_in_place()

    def action_words(self) -> None:
        """Mark the changed words, or only the lines."""
        self._marks_words = not self._marks_words
        self._redraw()
        self._entitle()

    def action_folds(self) -> None:
        """Show all unchanged lines, or fold them again."""
        if self._comparison is not None:
            every = frozenset(range(len(self._comparison.folds)))
            self._open = frozenset() if self._open == every else every
            self._lay_out_in_place()

    def on_click(self, event: events.Click) -> None:
        """A click on folded lines shows them."""
        offset = event.get_content_offset(self)
        row = self._row(self.scroll_offset.y + offset.y) if offset is not None else None
        if row is not None and row.item.what is What.FOLD:
            event.stop()
            self._open |= {row.item.new}
            self._lay_out_in_place()

    def _scroll_by(self, rows: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False)

    # Layout

    @property
    def _port(self) -> Size:
        return self.scrollable_content_region.size

    @property
    def _above(self) -> int:
        """Rows above the diff: the remark."""
        return len(self._remark_rows()) if self._remark and self._comparison is not None else 0

    def _number_width(self) -> int:
        assert self._comparison is not None
        return max(2, len(str(max(len(self._comparison.old), len(self._comparison.new)))))

    def _halves(self) -> tuple[int, int]:
        """Cells of the left and the right half; the divider stands between them."""
        width = self._port.width or 80
        left = (width - 1) // 2
        return left, width - 1 - left

    def _widths(self) -> tuple[int, int]:
        """Cells for the old and for the new text."""
        if self.arrangement is Arrangement.UNIFIED:
            width = max(8, (self._port.width or 80) - 3)
            return width, width
        gutter = self._number_width() + 4
        left, right = self._halves()
        return max(4, left - gutter), max(4, right - gutter)

    def _lay_out(self) -> None:
        self._layout = None
        if self._comparison is not None:
            self._layout = Layout(self._comparison, self.arrangement, self._widths(), self._open)
        self._set_height()
        self._redraw()
        self._entitle()

    def _lay_out_in_place(self) -> None:
        """Lay the diff out anew with the same line at the top, or the current hunk where it was."""
        row = self._row(self.scroll_offset.y)
        before = self.rows_of_hunk
        top = self.scroll_offset.y
        self._lay_out()
        after = self.rows_of_hunk
        if before is not None and after is not None and before[0] < top + self._port.height and before[1] > top:
            self.scroll_to(y=max(0, after[0] - max(0, before[0] - top)), animate=False)
        elif row is not None and self._layout is not None:
            self.scroll_to(y=self._layout.place_of(row.item) + self._above, animate=False)

    @property
    def rows_of_hunk(self) -> tuple[int, int] | None:
        """The first row of the current hunk, and the one behind its last, from the top of the diff."""
        if self._layout is None or self._hunk < 0:
            return None
        first, last = self._layout.rows_of_hunk(self._hunk)
        return first + self._above, last + self._above

    def _row(self, y: int) -> Row | None:
        return None if self._layout is None else self._layout.row(y - self._above)

    def _set_height(self) -> None:
        """Tell Textual how long the diff is, without a layout of the whole screen."""
        size = Size(self._port.width, self._layout.height + self._above if self._layout else 0)
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            if self.is_attached:
                self._scroll_update(size)

    def on_resize(self, event: events.Resize) -> None:
        """Break lines anew, with the same ones in view; show what there was no room for before."""
        del event
        if (
            self._layout is None
            or self._layout.widths != self._widths()
            or (self._layout.arrangement is not self.arrangement)
        ):
            self._lay_out_in_place()
            self._show_first()
        self._entitle()

    def _show_first(self) -> None:
        """Bring the current hunk into view if it is the first layout that is seen."""
        rows = self.rows_of_hunk
        if rows is not None and not self.scroll_offset.y and rows[0] >= self._port.height:
            self._show_hunk()

    def _show_hunk(self) -> None:
        """Bring the current hunk into view, with its context above it, unless it is there as a whole."""
        rows = self.rows_of_hunk
        if rows is None:
            return
        first, last = rows
        top, height = self.scroll_offset.y, self._port.height
        if not (top <= first and last <= top + height):
            above = 3 if last - first + 3 >= height * 2 // 3 else height // 3
            self.scroll_to(y=max(0, first - above), animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The current hunk is one that is in view, if there is one in view."""
        super().watch_scroll_y(old_value, new_value)
        if self._layout is None or round(old_value) == round(new_value):
            return
        if self._hunk not in self._hunks_in_view:
            self._choose(0 if new_value > old_value else -1)

    @property
    def _hunks_in_view(self) -> range:
        if self._layout is None:
            return range(0)
        top = self.scroll_offset.y - self._above
        return self._layout.hunks_in(top, top + max(1, self._port.height))

    def _choose(self, which: int) -> None:
        """Make a hunk in view the current one, by its place among them; none in view: the current one stays."""
        if visible := self._hunks_in_view:
            self._hunk = visible[which]
            self._redraw()
            self._tell()

    def _redraw(self) -> None:
        self._strips.clear()
        self.refresh()

    def _tell(self) -> None:
        self._entitle()
        if self.is_attached:
            self.post_message(self.Moved(self))

    # Words in the edges

    def on_focus(self) -> None:
        """The edge has another colour."""
        self.call_after_refresh(self._entitle)

    def on_blur(self) -> None:
        """The edge has another colour."""
        self.call_after_refresh(self._entitle)

    def _entitle(self) -> None:
        """What is compared, how it is shown, and where in it the person is."""
        if not self.is_attached or not self.size.width:
            return
        kind, color = self.styles.border_top
        edge, branch = _LINE.get(kind, ("─", "┬"))
        line = ContentStyle(foreground=self.background_colors[1] + color, bold=False)
        room = self.outer_size.width - 6
        old, new = map(one_line, self._labels)
        parts: list[str | tuple[str, ContentStyle]] = []
        if self._layout is not None and self.arrangement is Arrangement.SIDES:
            left = max(4, self._halves()[0] - 3)
            start = fit(f"A  {old}", left)
            parts = [start, (f" {edge * (left - cell_len(start))}{branch}{edge} ", line)]
            room -= left + 4
            titles = [f"B  {new}", "B"]
        else:
            short_old, short_new = map(one_line, self._short)
            name = self._title
            titles = [f"{name}  {old} > {new}", f"{name}  {short_old} > {short_new}"] if new else [name]
        modes = [f"{self.arrangement.value}  {'words' if self._marks_words else 'lines'}", self.arrangement.value, ""]
        title, mode = next(
            ((title, mode) for mode in modes for title in titles if cell_len(title) + cell_len(mode) + 4 <= room),
            (titles[-1], ""),
        )
        parts.append(fit(title, max(0, room)))
        if mode:
            parts += [(f" {edge * (room - cell_len(title) - cell_len(mode) - 2)} ", line), mode]
        self.border_title = Content.assemble(*parts)
        self.border_subtitle = self._subtitle()

    def _subtitle(self) -> Content:
        number, total = self.position
        if not total or self._comparison is None:
            return Content("")
        added, removed = self._comparison.difference.counts
        return Content.assemble(
            f"hunk {number:,}/{total:,}  ", (f"+{added:,}", "$text-success"), " ", (f"-{removed:,}", "$text-error")
        )

    # Paint

    def notify_style_update(self) -> None:
        """Forget the styles when the theme changes."""
        super().notify_style_update()
        self._styles_by_role.clear()
        self._strips.clear()
        if self.is_attached:
            self.call_after_refresh(self._entitle)

    def _role(self, roles: str) -> Style:
        """The style of some roles, each over the ones before it, over the widget's own."""
        style = self._styles_by_role.get(roles)
        if style is None:
            style = self.rich_style
            for role in roles.split():
                style += self.get_component_rich_style(f"diff--{role}", partial=True)
            self._styles_by_role[roles] = style
        return style

    def render_line(self, y: int) -> Strip:
        """Draw one row.

        Args:
            y: Row on the screen, counted from the top of the widget.
        """
        width = self._port.width
        if self._layout is None:
            return self._notice_line(y, width)
        y += self.scroll_offset.y
        strip = self._strips.get(y)
        if strip is None:
            if len(self._strips) >= KEPT_ROWS:
                self._strips.clear()
            strip = self._strips[y] = self._draw(y).adjust_cell_length(width, self._role(""))
        return strip

    def _draw(self, y: int) -> Strip:
        assert self._layout is not None
        if y < self._above:
            return Strip([Segment(f"   {self._remark_rows()[y]}", self._role("remark"))])
        row = self._row(y)
        if row is None:
            return self._below()
        current = row.item.hunk >= 0 and row.item.hunk == self._hunk
        bar = Segment("┃" if current else " ", self._role("current"))
        if row.item.what is What.FOLD:
            return Strip([bar, *self._fold(row.item)])
        if self.arrangement is Arrangement.SIDES:
            return Strip([bar, *self._both(row)])
        return Strip([bar, *self._one(row)])

    def _below(self) -> Strip:
        """A row below the last line."""
        if self.arrangement is Arrangement.UNIFIED:
            return Strip.blank(self._port.width, self._role(""))
        return Strip([Segment(" " * self._halves()[0], self._role("")), self._divider()])

    def _divider(self) -> Segment:
        """The line between both sides, like that around them."""
        style = self._styles_by_role.get("divider")
        if style is None:
            color = self.background_colors[1] + self.styles.border_top[1]
            style = self._styles_by_role["divider"] = self._role("") + Style(color=color.rich_color)
        return Segment("│", style)

    def _fold(self, item: Item) -> list[Segment]:
        assert self._comparison is not None
        size = self._comparison.folds[item.new].size
        words = f"... {size:,} unchanged lines"
        if self.arrangement is Arrangement.UNIFIED:
            return [Segment(f"  {words} (x: expand)", self._role("fold"))]
        gutter = " " * (self._number_width() + 3)
        left, _ = self._halves()
        return [
            self._cut(f"{gutter}{words} (x: expand)", left - 1, "fold"),
            self._divider(),
            Segment(f" {gutter}{words}", self._role("fold")),
        ]

    def _cut(self, text: str, width: int, role: str) -> Segment:
        text = fit(text, width)
        return Segment(text + " " * (width - cell_len(text)), self._role(role))

    def _one(self, row: Row) -> list[Segment]:
        """A row of one text under the other."""
        item = row.item
        if item.what is What.UNFINISHED:
            return [Segment(f"  {_UNFINISHED}", self._role("remark"))]
        assert self._comparison is not None
        runs = self._comparison.runs(item, words=self._marks_words)
        width = self._widths()[0]
        if item.what is What.CHANGED and item.new < 0:
            return self._line(self._comparison.old, item.old, runs[0], row.inner, width, "-")
        sign = "+" if item.what is What.CHANGED else " "
        return self._line(self._comparison.new, item.new, runs[1], row.inner, width, sign)

    def _both(self, row: Row) -> list[Segment]:
        """A row of both texts side by side."""
        item = row.item
        assert self._comparison is not None
        comparison = self._comparison
        divider = self._divider()
        left, right = self._halves()
        if item.what is What.UNFINISHED:
            gutter = " " * (self._number_width() + 3)
            old = f"{gutter}{_UNFINISHED}" if item.old >= 0 else ""
            new = f" {gutter}{_UNFINISHED}" if item.new >= 0 else ""
            return [self._cut(old, left - 1, "remark"), divider, self._cut(new, right, "remark")]
        runs = comparison.runs(item, words=self._marks_words)
        changed = item.what is What.CHANGED
        widths = self._widths()
        return [
            *self._half(comparison.old, item.old, runs[0], row.inner, widths[0], "-" if changed else " ", left - 1),
            divider,
            Segment(" ", self._role("" if item.new >= 0 else "nothing")),
            *self._half(comparison.new, item.new, runs[1], row.inner, widths[1], "+" if changed else " ", right - 1),
        ]

    def _half(
        self, side: Side, number: int, runs: Sequence[Run], inner: int, width: int, sign: str, cells: int
    ) -> list[Segment]:
        """One side of a row, filled up to so many cells."""
        if number < 0:
            return [Segment(" " * cells, self._role("nothing"))]
        shown = f"{number + 1:>{self._number_width()}} " if not inner else " " * (self._number_width() + 1)
        drawn = Strip([Segment(shown, self._role("number")), *self._line(side, number, runs, inner, width, sign)])
        return list(drawn.adjust_cell_length(cells, self._role("")))

    def _line(self, side: Side, number: int, runs: Sequence[Run], inner: int, width: int, sign: str) -> list[Segment]:
        """The sign and the text of one row of a line."""
        role = {"-": "removed", "+": "added"}.get(sign, "")
        starts = side.starts(number, width)
        if inner >= len(starts):
            return []
        text = side.shown[number]
        end = starts[inner + 1] if inner + 1 < len(starts) else len(text)
        before = f"{sign} " if not inner else "  " + " " * hanging(width)
        segments = [Segment(before, self._role(role))]
        for piece, roles in pieces(text, runs, starts[inner], end):
            named = roles.replace("word", f"{role}-word")
            segments.append(Segment(piece, self._role(f"{role} {named}")))
        return segments

    def _remark_rows(self) -> list[str]:
        width = max(8, self._port.width - 3)
        words = self._remark.split(" ")
        rows = [""]
        for word in words:
            joined = f"{rows[-1]} {word}".lstrip()
            if cell_len(joined) <= width:
                rows[-1] = joined
            else:
                rows.append(fit(word, width))
        return rows

    def _notice_line(self, y: int, width: int) -> Strip:
        title, detail = map(one_line, self._notice)
        lines = [(title, "notice-title")]
        if detail:
            lines.append(("", ""))
            row = ""
            for word in detail.split(" "):
                if row and cell_len(f"{row} {word}") > min(60, width - 4):
                    lines.append((row, "notice-detail"))
                    row = word
                else:
                    row = f"{row} {word}".lstrip()
            lines.append((row, "notice-detail"))
        top = max(0, (self._port.height - len(lines)) // 2 - 1)
        if not top <= y < top + len(lines):
            return Strip.blank(width, self._role(""))
        text, role = lines[y - top]
        text = fit(text, max(0, width - 2))
        left = " " * max(0, (width - cell_len(text)) // 2)
        return Strip([Segment(left + text, self._role(role))]).adjust_cell_length(width, self._role(""))
