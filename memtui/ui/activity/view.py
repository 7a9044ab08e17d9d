"""Activity on screen: a list that grows at its end, of which only the visible lines are drawn.

A widget or a renderable for each event would slow down with every one of them. Here an event is one more
value in a deque, and a thousand a second are still one repaint per frame. The list follows what happens until
the person moves up to read; then it holds still.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.scrollbar import ScrollTo
from textual.strip import Strip

from memtui.ui.activity.row import ActivityRow, Palette, draw
from memtui.ui.rows import RowsView

CAPACITY = 100_000
"""Rows that are kept; older ones are in the journal."""


@dataclass(slots=True)
class Counters:
    """How many rows there have been since the start, those no longer kept included."""

    all: int = 0
    writes: int = 0
    refused: int = 0
    you: int = 0
    outside: int = 0

    def count(self, row: ActivityRow) -> None:
        """Take another row into account."""
        self.all += 1
        self.writes += row.is_write
        self.refused += row.is_refused
        self.you += row.actor == "you"
        self.outside += row.actor == "outside" and row.command != "found"


class ActivityView(RowsView):
    """The events of a session, newest last.

    Args:
        capacity: Rows that are kept.
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="activity.open", tooltip="Open what the event is about"),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "activity--detail",
        "activity--agent",
        "activity--you",
        "activity--outside",
        "activity--ok",
        "activity--bad",
        "activity--seen",
        "activity--added",
        "activity--removed",
        "activity--cursor",
    }

    DEFAULT_CSS = """
    ActivityView {
        & > .activity--detail { color: $foreground 85%; }
        & > .activity--agent { color: $text-primary; }
        & > .activity--you { text-style: bold; }
        & > .activity--outside, & > .activity--seen { color: $text-warning; }
        & > .activity--ok, & > .activity--added { color: $text-success; }
        & > .activity--bad { color: $text-error; text-style: bold; }
        & > .activity--removed { color: $text-error; }
        & > .activity--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .activity--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """

    follow: reactive[bool] = reactive(True, init=False)
    """Whether the view stays at the newest row."""

    class _About(Message):
        def __init__(self, view: "ActivityView", row: ActivityRow) -> None:
            super().__init__()
            self.view = view
            self.row = row

        @property
        def control(self) -> "ActivityView":
            """The widget that says so."""
            return self.view

    class Highlighted(_About):
        """The person moved the cursor to another row; following new rows does not say so."""

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a moving cursor matters."""
            return isinstance(message, ActivityView.Highlighted) and message.view is self.view

    class Opened(_About):
        """The person asked for what the row is about."""

    class FollowChanged(Message):
        """The view began or ceased to stay at the newest row."""

        def __init__(self, view: "ActivityView", follow: bool) -> None:
            super().__init__()
            self.view = view
            self.follow = follow

        @property
        def control(self) -> "ActivityView":
            """The widget that says so."""
            return self.view

    def __init__(self, *, capacity: int = CAPACITY, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._kept: deque[ActivityRow] = deque(maxlen=capacity)
        self._shown: deque[ActivityRow] = self._kept
        self._show_only: Callable[[ActivityRow], bool] | None = None
        self._counters = Counters()
        self._palette: Palette | None = None

    # Attributes down

    @property
    def counters(self) -> Counters:
        """How many rows there have been, by kind, for a title."""
        return self._counters

    @property
    def cursor_row(self) -> ActivityRow | None:
        """The row under the cursor; None while nothing is shown."""
        return self._shown[self._row] if self._shown else None

    @property
    def row_count(self) -> int:
        """How many rows are shown."""
        return len(self._shown)

    @property
    def show_only(self) -> Callable[[ActivityRow], bool] | None:
        """Which rows are shown; None: all."""
        return self._show_only

    @show_only.setter
    def show_only(self, show_only: Callable[[ActivityRow], bool] | None) -> None:
        current = self.cursor_row
        self._show_only = show_only
        self._shown = self._kept if show_only is None else deque(filter(show_only, self._kept))
        if current is not None:  # the same row, or else the last one before it
            before = sum(row.seq <= current.seq for row in self._shown)
            self._row = max(0, before - 1)
        self._settle(dropped=0)

    def append_rows(self, rows: Iterable[ActivityRow]) -> None:
        """Add the rows of new events; the oldest go when there are too many."""
        dropped = 0
        for row in rows:
            self._counters.count(row)
            full = len(self._kept) == self._kept.maxlen
            if full and (self._shown is self._kept or (self._shown and self._shown[0] is self._kept[0])):
                dropped += 1
                if self._shown is not self._kept:
                    self._shown.popleft()
            self._kept.append(row)
            if self._show_only is not None and self._show_only(row):
                self._shown.append(row)
        self._settle(dropped)

    def clear_rows(self) -> None:
        """Begin anew, with nothing shown and nothing counted."""
        self._kept.clear()
        self._shown = self._kept if self._show_only is None else deque()
        self._counters = Counters()
        self._settle(dropped=0)

    def watch_follow(self, follow: bool) -> None:
        """Go to the newest row when following begins; say that it began or ended."""
        if follow:
            self._settle(dropped=0)
        self.post_message(self.FollowChanged(self, follow))

    # The cursor

    def on_mount(self) -> None:
        """Show what was appended before there was a screen."""
        self._settle(dropped=0)

    def on_resize(self) -> None:
        """Stay at the end, or keep the cursor in view."""
        self._settle(dropped=0)

    def _settle(self, dropped: int) -> None:
        """The rows changed.

        Args:
            dropped: How many went at the top.
        """
        if not self.is_attached:  # once mounted, it settles
            return
        total = len(self._shown)
        top = self.scroll_offset.y
        self._fit_height()
        if self.follow:
            self._row = max(0, total - 1)
            self.scroll_to(y=max(0, total - self._page), animate=False)
        else:
            self._row = max(0, min(self._row - dropped, total - 1))
            if dropped:
                self.scroll_to(y=max(0, top - dropped), animate=False)
        self.refresh()

    def _go(self, row: int) -> None:
        """The person goes to a row, as near as there is one; following ends unless it is the newest."""
        total = len(self._shown)
        if not total:
            return
        row = max(0, min(row, total - 1))
        if row < total - 1:
            self.follow = False
        if row != self._row:
            self._row = row
            self.post_message(self.Highlighted(self, self._shown[row]))
        self._bring_into_view()
        self.refresh()

    def action_bottom(self) -> None:
        """To the newest event, and follow from there."""
        super().action_bottom()
        self.follow = True

    def action_open(self) -> None:
        """Open what the event is about."""
        if (row := self.cursor_row) is not None:
            self.post_message(self.Opened(self, row))

    # The mouse

    def on_click(self, event: events.Click) -> None:
        """Select a row and open it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = self.scroll_offset.y + offset.y
        if index < len(self._shown):
            event.stop()
            self._go(index)
            self.action_open()

    def on_mouse_scroll_up(self) -> None:
        """Whoever scrolls up wants to read: hold still."""
        if self.scroll_offset.y > 0:
            self.follow = False

    def on_scroll_up(self) -> None:
        """So does a click on the scrollbar."""
        self.follow = False

    def on_scroll_to(self, message: ScrollTo) -> None:
        """Or dragging it away from the end."""
        if message.y is not None and message.y < self.max_scroll_y:
            self.follow = False

    # Paint

    def notify_style_update(self) -> None:
        """The theme or the focus changed: resolve the styles again when a row is next drawn."""
        self._palette = None
        super().notify_style_update()

    def _resolve_palette(self) -> Palette:
        style = self.get_component_rich_style
        return Palette(
            plain=self.rich_style,
            detail=style("activity--detail"),
            agent=style("activity--agent"),
            you=style("activity--you"),
            outside=style("activity--outside"),
            ok=style("activity--ok"),
            bad=style("activity--bad"),
            seen=style("activity--seen"),
            added=style("activity--added"),
            removed=style("activity--removed"),
            cursor=style("activity--cursor"),
        )

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget; see `ScrollView`."""
        if self._palette is None:
            self._palette = self._resolve_palette()
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        if index >= len(self._shown):
            return Strip.blank(width, self._palette.plain)
        return draw(self._shown[index], width, self._palette, cursor=index == self._row)
