"""The widget that shows the differences of two texts: one under the other, or side by side.

It draws the rows on screen only, so that a diff of 100,000 lines opens and scrolls like one of ten. Lines that are too
long are broken, never cut: every change can be reached.
"""

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.style import Style as ContentStyle

from memtui.core.diffs import Hunk
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.ui.theme import truncate
from memtui.ui.widgets.diff.layout import DiffArrangement, DiffComparison, DiffLayout, DiffLineKind, DiffRow
from memtui.ui.widgets.diff.paint import DiffPainter
from memtui.ui.widgets.line_view import TextView, make_scroll_bindings

SIDES_FROM = 110
"""Columns from which on two texts stand side by side, unless the person chose another arrangement."""
_ROLES = (
    *("removed", "added", "removed-word", "added-word", "hidden", "return", "number", "fold", "remark", "current"),
    *("nothing", "notice-title", "notice-detail"),
)
_LINE = {"round": ("─", "┬"), "double": ("═", "╤"), "blank": (" ", "┬")}

DIFF_KEYS: tuple[Binding, ...] = (
    Binding("n", "hunk(1)", "hunk", id="diff.next_hunk", tooltip="To the next change"),
    Binding("N", "hunk(-1)", "previous hunk", id="diff.previous_hunk", tooltip="To the previous change", show=False),
    Binding("s", "arrange", "sides", id="diff.arrange", tooltip="Side by side on/off"),
    Binding("w", "words", "words", id="diff.words", tooltip="Highlight changed words on/off"),
    Binding("x", "folds", "expand", id="diff.folds", tooltip="Show or fold unchanged lines"),
)
"""Keys of a diff, for a screen too: they work while another pane has the focus."""


class DiffView(TextView):
    """Shows how one text became another.

    Args:
        title: The name in the edge, where one text is under the other.
        id: Its id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*make_scroll_bindings("diff"), *DIFF_KEYS]

    STYLES = "diff--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"diff--{role}" for role in _ROLES}

    DEFAULT_CSS = """
    DiffView {
        scrollbar-gutter: stable;
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

    IS_PART_OF_SCREEN: ClassVar[bool] = False
    """Whether the width of the pane decides on the arrangement, and not only that of the screen."""

    @dataclass
    class HunkChanged(Message):
        """Another hunk is the current one."""

        view: "DiffView"

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, DiffView.HunkChanged) and message.view is self.view

    def __init__(self, *, title: str = "2 Diff", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._title = title
        self._comparison: DiffComparison | None = None
        self._layout: DiffLayout | None = None
        self._painter: DiffPainter | None = None
        self._notice = ("", "")
        self._labels = self._short = ("", "")
        self._remark = ""
        self._chosen_arrangement: DiffArrangement | None = None
        self._marks_words = True
        self._open: frozenset[int] | None = None
        self._hunk = -1

    # What is shown

    @property
    def hunk(self) -> Hunk | None:
        """The current hunk."""
        return self._comparison.difference.hunks[self._hunk] if self._comparison and self._hunk >= 0 else None

    @property
    def position(self) -> tuple[int, int]:
        """The number of the current hunk, from 1, and the number of hunks; 0 for none."""
        return self._hunk + 1, len(self._comparison.difference.hunks) if self._comparison else 0

    @property
    def arrangement(self) -> DiffArrangement:
        """The chosen arrangement, or the one for the width."""
        if self._chosen_arrangement is not None:
            return self._chosen_arrangement
        wide = self.is_attached and self.app.size.width >= SIDES_FROM
        if self.IS_PART_OF_SCREEN and self.size.width < SIDES_FROM:
            wide = False
        if self._comparison is not None and not (len(self._comparison.old) and len(self._comparison.new)):
            wide = False  # the whole width for a text that has nothing beside it
        return DiffArrangement.SIDES if wide else DiffArrangement.UNIFIED

    def show(
        self,
        comparison: DiffComparison,
        labels: tuple[str, str],
        *,
        short: tuple[str, str] | None = None,
        remark: str = "",
        keep_place: bool = False,
    ) -> None:
        """Show a difference, with its first hunk in view.

        Args:
            comparison: The texts; made in a thread if they are large.
            labels: The names of the two texts.
            short: Shorter names.
            remark: A sentence above the diff, such as on other line ends.
            keep_place: Whether the scroll offset and the current hunk stay: the texts are nearly the same.
        """
        self._comparison, self._labels, self._remark = comparison, labels, remark
        self._short = short or labels
        self._notice = None
        y = self.scroll_offset.y
        if not keep_place:
            self._open, self._hunk = None, 0
        self._hunk = min(max(self._hunk, 0), len(comparison.difference.hunks) - 1)
        self._lay_out()
        if keep_place:
            self.scroll_to(y=min(y, self.max_scroll_y), animate=False)
        elif self._hunk >= 0:
            self._show_hunk()
        else:
            self.scroll_to(y=0, animate=False)
        self._notify_hunk()

    def show_notice(
        self, title: str, detail: str = "", *, labels: tuple[str, str] = ("", ""), short: tuple[str, str] | None = None
    ) -> None:
        """Show a sentence and its details in place of a difference; see `show` for the labels."""
        self._short = short or labels
        self._comparison, self._hunk = None, -1
        self._notice, self._labels, self._remark = (title, detail), labels, ""
        self._lay_out()
        self.scroll_to(y=0, animate=False)
        self._notify_hunk()

    # Keys

    def action_top(self) -> None:
        """To the first line, and the first hunk in view there."""
        super().action_top()
        self._select_hunk(0)

    def action_bottom(self) -> None:
        """To the last line, and the last hunk in view there."""
        super().action_bottom()
        self._select_hunk(-1)

    def action_hunk(self, step: int) -> None:
        """To the next hunk, or the one before; from the last to the first."""
        _, total = self.position
        if total:
            self._hunk = (self._hunk + step) % total
            self._show_hunk()
            self._redraw()
            self._notify_hunk()

    def action_arrange(self) -> None:
        sides = self.arrangement is DiffArrangement.SIDES
        self._chosen_arrangement = DiffArrangement.UNIFIED if sides else DiffArrangement.SIDES
        self._lay_out_again()

    def action_words(self) -> None:
        self._marks_words = not self._marks_words
        if self._painter is not None:
            self._painter.marks_words = self._marks_words
        self._redraw()
        self._update_title()

    def action_folds(self) -> None:
        if self._comparison is not None and self._layout is not None:
            every = frozenset(range(len(self._comparison.folds)))
            self._open = frozenset() if self._layout.open_folds == every else every
            self._lay_out_again()

    def on_click(self, event: events.Click) -> None:
        """A click on folded lines shows them."""
        offset = event.get_content_offset(self)
        row = self._get_row(self.scroll_offset.y + offset.y) if offset is not None else None
        if row is not None and row.item.kind is DiffLineKind.FOLD and self._layout is not None:
            event.stop()
            self._open = self._layout.open_folds | {row.item.new}
            self._lay_out_again()

    # Layout

    @property
    def row_count(self) -> int:
        return self._layout.height + self._remark_height if self._layout else 0

    @property
    def _remark_height(self) -> int:
        """Rows of the remark above the diff."""
        return len(self._remark_rows) if self._comparison is not None else 0

    @property
    def _remark_rows(self) -> list[str]:
        return _wrap_remark(self._remark, max(8, self._viewport.width - 3)) if self._remark else []

    def _lay_out(self) -> None:
        self._layout = self._painter = None
        if self._comparison is not None:
            width = self._viewport.width or 80
            painter = DiffPainter(self._comparison, self.arrangement, width, self._resolve_style)
            painter.marks_words = self._marks_words
            self._layout = self._fit_layout(self._comparison, painter)
            self._painter = painter
        self._set_height()
        self._redraw()
        self._update_title()

    def _fit_layout(self, comparison: DiffComparison, painter: DiffPainter) -> DiffLayout:
        """The rows of a comparison; as long as nothing else was chosen, nothing is folded that has room."""

        def lay_out(open_folds: frozenset[int]) -> DiffLayout:
            return DiffLayout(comparison, painter.arrangement, painter.widths, open_folds)

        if self._open is None and self._can_unfold():
            whole = lay_out(frozenset(range(len(comparison.folds))))
            if whole.height <= self._viewport.height - self._remark_height:
                return whole
        return lay_out(self._open or frozenset())

    def _can_unfold(self) -> bool:
        """Whether there may be room for all that is folded."""
        if self._comparison is None or not self._comparison.folds:
            return False
        lines = max(len(self._comparison.difference.old), len(self._comparison.difference.new))
        return lines <= self._viewport.height - self._remark_height

    def _lay_out_again(self) -> None:
        """Lay the diff out anew with the same line at the top, or the current hunk where it was."""
        top = self.scroll_offset.y
        row, before = self._get_row(top), self.hunk_rows
        self._lay_out()
        after = self.hunk_rows
        if before is not None and after is not None and before[0] < top + self._viewport.height and before[1] > top:
            self.scroll_to(y=max(0, after[0] - max(0, before[0] - top)), animate=False)
        elif row is not None and self._layout is not None:
            self.scroll_to(y=self._layout.find_row_of(row.item) + self._remark_height, animate=False)

    @property
    def hunk_rows(self) -> tuple[int, int] | None:
        """The first row of the current hunk, and the row behind its last, from the top of the diff."""
        if self._layout is None or self._hunk < 0:
            return None
        first, last = self._layout.get_hunk_rows(self._hunk)
        return first + self._remark_height, last + self._remark_height

    def _get_row(self, y: int) -> DiffRow | None:
        return None if self._layout is None else self._layout.get_row(y - self._remark_height)

    def on_resize(self, event: events.Resize) -> None:
        """Break lines anew, with the same ones in view; in the first layout with a size, show the current hunk."""
        del event
        painter, width = self._painter, self._viewport.width or 80
        is_folded = self._layout is not None and not self._layout.open_folds
        refolds = self._open is None and is_folded == self._can_unfold()
        if painter is None or refolds or (painter.width, painter.arrangement) != (width, self.arrangement):
            self._lay_out_again()
            rows = self.hunk_rows
            if rows is not None and not self.scroll_offset.y and rows[0] >= self._viewport.height:
                self._show_hunk()
        self._update_title()

    def _show_hunk(self) -> None:
        """Bring the current hunk into view with its context above it, unless all of it is in view."""
        rows = self.hunk_rows
        if rows is None:
            return
        first, last = rows
        top, height = self.scroll_offset.y, self._viewport.height
        if not (top <= first and last <= top + height):
            above = 3 if last - first + 3 >= height * 2 // 3 else height // 3
            self.scroll_to(y=max(0, first - above), animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The current hunk is one in view, if there is one."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value) and self._hunk not in self._hunks_in_view:
            self._select_hunk(0 if new_value > old_value else -1)

    @property
    def _hunks_in_view(self) -> range:
        if self._layout is None:
            return range(0)
        top = self.scroll_offset.y - self._remark_height
        return self._layout.find_hunks_in(top, top + max(1, self._viewport.height))

    def _select_hunk(self, which: int) -> None:
        """Make a hunk in view the current one, by its index among them; if there is none, keep the current one."""
        if visible := self._hunks_in_view:
            self._hunk = visible[which]
            self._redraw()
            self._notify_hunk()

    def _notify_hunk(self) -> None:
        self._update_title()
        if self.is_attached:
            self.post_message(self.HunkChanged(self))

    # Words in the edges

    def _update_title(self) -> None:
        """Write the labels, the arrangement and the current hunk into the edge."""
        if not self.is_attached or not self.size.width:
            return
        kind, color = self.styles.border_top
        edge, branch = _LINE.get(kind, ("─", "┬"))
        line = ContentStyle(foreground=self.background_colors[1] + color, bold=False)
        room = self.outer_size.width - 6
        old, new = map(to_one_line, self._labels)
        parts: list[str | tuple[str, ContentStyle]] = []
        if self._painter is not None and self.arrangement is DiffArrangement.SIDES:
            left = max(4, self._painter.left - 3)
            start = truncate(f"A  {old}", left)
            parts = [start, (f" {edge * (left - cell_len(start))}{branch}{edge} ", line)]
            room -= left + 4
            titles = [f"B  {new}", "B"]
        else:
            short_old, short_new = map(to_one_line, self._short)
            title = self._title
            titles = [f"{title}  {old} > {new}", f"{title}  {short_old} > {short_new}"] if new else [title]
        modes = [f"{self.arrangement.value}  {'words' if self._marks_words else 'lines'}", self.arrangement.value, ""]
        title, mode = next(
            ((title, mode) for mode in modes for title in titles if cell_len(title) + cell_len(mode) + 4 <= room),
            (titles[-1], ""),
        )
        parts.append(truncate(title, max(0, room)))
        if mode:
            parts += [(f" {edge * (room - cell_len(title) - cell_len(mode) - 2)} ", line), mode]
        self.border_title = Content.assemble(*parts)
        number, total = self.position
        self.border_subtitle = ""
        if self._comparison is not None and total:
            hunk = Content(f"hunk {number:,}/{total:,}  ")
            self.border_subtitle = hunk + format_line_counts(self._comparison)

    # Paint

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_attached:
            self.call_after_refresh(self._update_title)

    def _resolve_style(self, roles: str) -> Style:
        if roles == "divider" and roles not in self._styles_by_role:  # like the line around both sides
            color = self.background_colors[1] + self.styles.border_top[1]
            self._styles_by_role[roles] = self._resolve_style("") + Style(color=color.rich_color)
        return super()._resolve_style(roles)

    def _draw_row(self, y: int) -> Strip:
        plain = self._resolve_style("")
        assert self._painter is not None
        if y < self._remark_height:
            strip = Strip([Segment(f"   {self._remark_rows[y]}", self._resolve_style("remark"))])
        else:
            row = self._get_row(y)
            strip = self._painter.draw(row, is_current=row is not None and 0 <= row.item.hunk == self._hunk)
        return strip.adjust_cell_length(self._viewport.width, plain)


def _wrap_remark(remark: str, width: int) -> list[str]:
    rows = [""]
    for word in remark.split(" "):
        joined = f"{rows[-1]} {word}".lstrip()
        if cell_len(joined) <= width:
            rows[-1] = joined
        else:
            rows.append(truncate(word, width))
    return rows


def format_line_counts(comparison: DiffComparison) -> Content:
    """`+12 -3`: the added and the removed lines."""
    added, removed = comparison.difference.counts
    return Content.assemble((f"+{added:,}", "$text-success"), " ", (f"-{removed:,}", "$text-error"))
