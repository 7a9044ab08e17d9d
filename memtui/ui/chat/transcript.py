"""The conversation on screen: only the rows in view are made, so that a day of it scrolls like its first minute.

It follows the end while things happen there, until the person moves up to read; then what she reads holds still.
"""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Size
from textual.message import Message as Told
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from memtui.agents.chat.events import ChatEvent
from memtui.ui.chat.blocks import block_at
from memtui.ui.chat.items import Call, Conversation, Item, Message, Thought
from memtui.ui.chat.looks import CSS, PREFIX, ROLES
from memtui.ui.chat.painting import Painter
from memtui.ui.chat.piece import Frame, Piece, Place
from memtui.ui.chat.pieces import can_fold, piece_of
from memtui.ui.chat.selecting import selected_text
from memtui.ui.chat.stack import Stack

FRAME = 1 / 30
"""Seconds between two looks at what has happened."""
KEPT_ROWS = 1000
"""Drawn rows that are kept for the next frame."""


class TranscriptView(ScrollView, can_focus=True, inherit_bindings=False):
    """What was said and done, newest last.

    Args:
        clock: Seconds; for how long things take.
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    ALLOW_SELECT = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, action, text, id=f"transcript.{name}", tooltip=tooltip, show=shown)
        for key, action, text, name, tooltip, shown in (
            ("up,k", "rows(-1)", "up", "up", "One row up", False),
            ("down,j", "rows(1)", "down", "down", "One row down", False),
            ("pageup", "pages(-1)", "page up", "page_up", "One page up", False),
            ("pagedown", "pages(1)", "page down", "page_down", "One page down", False),
            ("ctrl+u", "halves(-1)", "half up", "half_up", "Half a page up", False),
            ("ctrl+d", "halves(1)", "half down", "half_down", "Half a page down", False),
            ("g,home", "top", "top", "top", "To the first row", False),
            ("G,end", "bottom", "end", "bottom", "To the last row, and follow what comes", False),
            ("left_square_bracket", "message(-1)", "previous", "previous_message", "To the message before", False),
            ("right_square_bracket", "message(1)", "next", "next_message", "To the next message", False),
            ("enter,space", "fold", "unfold", "fold", "Show all of it, or fold it", True),
            ("ctrl+o", "toggle_tools", "tools", "tools", "Unfold all tool calls, or fold them", True),
            ("y", "copy", "copy", "copy", "Copy the code, paragraph or message under the cursor", True),
        )
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {PREFIX + role for role in ROLES}
    DEFAULT_CSS = CSS

    class Moved(Told):
        """The cursor is on another row, there are more rows, or following began or ended."""

        def __init__(self, view: "TranscriptView", line: int, total: int, following: bool) -> None:
            super().__init__()
            self.view = view
            self.line = line
            self.total = total
            self.following = following

        @property
        def control(self) -> "TranscriptView":
            """The widget that says so."""
            return self.view

        @property
        def text(self) -> str:
            """For the border below: `end (following)`, or `line 3 of 120`."""
            return "end (following)" if self.following else f"line {self.line:,} of {self.total:,}"

        def can_replace(self, message: Told) -> bool:
            """Only the last place matters."""
            return isinstance(message, TranscriptView.Moved) and message.view is self.view

    class Chosen(Told):
        """The person chose a tool call: the screen shows what it is about."""

        def __init__(self, view: "TranscriptView", call_id: str) -> None:
            super().__init__()
            self.view = view
            self.call_id = call_id

        @property
        def control(self) -> "TranscriptView":
            """The widget that says so."""
            return self.view

    class CopyWanted(Told):
        """The person wants a text of it in the clipboard."""

        def __init__(self, view: "TranscriptView", text: str) -> None:
            super().__init__()
            self.view = view
            self.text = text

        @property
        def control(self) -> "TranscriptView":
            """The widget that says so."""
            return self.view

    def __init__(
        self, *, clock: Callable[[], float] = monotonic, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._clock = clock
        self._conversation = Conversation()
        self._taken: list[tuple[ChatEvent, float]] = []
        """What happened since the last frame, and when: until then, rows and items belong together."""
        self._stack = Stack(self._conversation.items, self._make, Frame(80))
        self._cursor: tuple[Item, int] | None = None
        """An item, and which of its rows; `None` for the last row."""
        self._following = True
        self._flush_timer: Timer | None = None
        self._flushed_at = 0.0
        self._tick_timer: Timer | None = None
        self._settling = False
        self._told: tuple[int, int, bool] | None = None
        self._painter = Painter(self)
        self._strips: dict[int, Strip] = {}

    def _make(self, item: Item, above: Item | None, frame: Frame) -> Piece:
        return piece_of(item, above, frame, self._clock())

    # What is shown

    @property
    def items(self) -> Sequence[Item]:
        """The conversation, oldest first."""
        self._flush()
        return self._conversation.items

    @property
    def following(self) -> bool:
        """Whether the view stays at the end."""
        return self._following

    @property
    def position(self) -> tuple[int, int]:
        """The cursor's row, from 1, and the number of rows as far as they are known."""
        total = self._stack.height
        return (self._cursor_row + 1 if total else 0, total)

    def take(self, event: ChatEvent) -> None:
        """Something happened; it is shown with the next frame.

        Args:
            event: What.
        """
        self._taken.append((event, self._clock()))
        self._flush_soon()

    def clear(self) -> None:
        """Begin with an empty conversation."""
        cards_open = self._conversation.cards_open
        self._conversation = Conversation()
        self._conversation.cards_open = cards_open
        self._taken.clear()
        self._stack = Stack(self._conversation.items, self._make, self._stack.frame)
        self._cursor, self._following = None, True
        self._hold(None)
        self._flush()

    def selected_item(self) -> Item | None:
        """What the cursor is on."""
        self._flush()
        if self._cursor is not None:
            return self._cursor[0]
        return self._conversation.items[-1] if self._conversation.items else None

    def selected_block(self) -> str:
        """The text of the code, the paragraph, the message or the call under the cursor."""
        item = self.selected_item()
        if item is None:
            return ""
        _, inner = self._stack.locate(self._cursor_row)
        return block_at(item, self._stack.piece(item.index).source_line(inner))

    def _flush_soon(self) -> None:
        if self._flush_timer is not None or not self.is_attached:
            return
        wait = FRAME - (monotonic() - self._flushed_at)
        if wait <= 0:
            self._flush()
        else:
            self._flush_timer = self.set_timer(wait, self._flush)

    def _flush(self) -> None:
        """Lay out what has changed."""
        if self._flush_timer is not None:
            self._flush_timer.stop()
            self._flush_timer = None
        conversation, stack = self._conversation, self._stack
        self._flushed_at = monotonic()
        held = self._held()
        for event, now in self._taken:
            conversation.take(event, now)
        self._taken.clear()
        if not self.is_attached:
            return
        cut, changed = conversation.changes()
        if cut < max(stack.count, len(conversation.items)) or changed:
            stack.cut(cut)
            for item in changed:
                self._lay_out_again(item)
            self._hold(held)
        self._tick(conversation.is_live)

    def _lay_out_again(self, item: Item) -> None:
        if isinstance(item, Message) and not isinstance(item, Thought):
            self._stack.grown(item)
        else:
            self._stack.touched(item)

    def _tick(self, wanted: bool) -> None:
        """Count the seconds of what goes on, as long as something does."""
        if wanted and self._tick_timer is None:
            self._tick_timer = self.set_interval(1, self._ticked)
        elif not wanted and self._tick_timer is not None:
            self._tick_timer.stop()
            self._tick_timer = None

    def _ticked(self) -> None:
        for item in self._conversation.ticking():
            self._conversation.touch(item)
        self._flush()

    # Folding

    def action_fold(self) -> None:
        """Show all of what the cursor is on, or fold it; the screen shows what a tool call is about."""
        item = self.selected_item()
        if item is None:
            return
        self.toggle(item)
        if isinstance(item, Call):
            self.post_message(self.Chosen(self, item.call_id))

    def toggle(self, item: Item) -> None:
        """Show all of an item, or fold it, with the cursor on its first row; following ends, so that it stays there."""
        self._flush()
        if not self._has(item) or not can_fold(item):
            return
        item.is_open = not item.is_open
        self._cursor, self._following = (item, self._stack.piece(item.index).first), False
        held = self._held()
        self._stack.touched(item)
        self._hold(held)
        self._cursor = item, self._stack.piece(item.index).first
        self._show_below(item)
        self._redraw()
        self._tell()

    def _show_below(self, item: Item) -> None:
        """Bring as much of an item into view as there is room for, its first row above all."""
        piece, height = self._stack.piece(item.index), self._port.height
        self._grow_above((item, piece.first), height)
        top = self._stack.top(item.index)
        last = top + piece.height
        y = self.scroll_offset.y
        if last > y + height:
            self._move_to(min(top + piece.first, last - height))
        elif top + piece.first < y:
            self._move_to(top + piece.first)

    def action_toggle_tools(self) -> None:
        """Unfold all tool calls, those to come included, or fold them if none is folded."""
        self._flush()
        calls = [item for item in self._conversation.items if isinstance(item, Call)]
        is_open = any(not call.is_open for call in calls) if calls else not self._conversation.cards_open
        self._conversation.open_cards(is_open)
        self._flush()
        self._redraw()

    def action_copy(self) -> None:
        """Copy what the cursor is on."""
        if text := self.selected_block():
            self.post_message(self.CopyWanted(self, text))

    # The cursor

    @property
    def _cursor_row(self) -> int:
        if self._cursor is None:
            return max(0, self._stack.height - 1)
        item, inner = self._cursor
        top = self._stack.top(item.index)
        return min(top + inner, max(top, self._stack.top(item.index + 1) - 1))

    def _go(self, row: int) -> None:
        """Put the cursor on a row, as near as there is one; at the last one, following begins."""
        stack = self._stack
        if not stack.count:
            return
        row = max(0, min(row, stack.height - 1))
        index, inner = stack.locate(row)
        self._following = row >= stack.height - 1
        self._cursor = None if self._following else (self._conversation.items[index], inner)
        self._bring_into_view()
        self._redraw()
        self._tell()

    def _bring_into_view(self) -> None:
        row, top, height = self._cursor_row, self.scroll_offset.y, self._port.height
        if not height:
            return
        if self._following:
            self._move_to(self.max_scroll_y)
        elif row < top:
            self._move_to(row)
        elif row >= top + height:
            self._move_to(row - height + 1)

    def _move_to(self, y: int) -> None:
        """Scroll there, without the cursor coming along."""
        self._settling = True
        try:
            self.scroll_to(y=max(0, y), animate=False)
        finally:
            self._settling = False
        self._settle()

    def action_rows(self, rows: int) -> None:
        """Some rows down, or up if negative."""
        self._flush()
        stack = self._stack
        if not stack.count:
            return
        index, inner = stack.locate(self._cursor_row)
        at = self._cursor if self._cursor is not None else (self._conversation.items[index], inner)
        if rows < 0:
            self._grow_above(at, -rows)
        else:
            stack.draw_from(self._cursor_row, rows + 1)
            self._set_height()
        self._go(stack.top(at[0].index) + at[1] + rows)

    def _grow_above(self, at: tuple[Item, int], rows: int) -> None:
        """Make the rows above the cursor, with what is in view held still."""
        stack = self._stack
        before = stack.height
        stack.draw_before(at[0].index, at[1], rows)
        grown = stack.height - before
        self._set_height()
        if grown:
            self._shift_selection(grown)
            self._move_to(self.scroll_offset.y + grown)

    def action_pages(self, pages: int) -> None:
        """Some pages down, or up if negative, less a row that stays in view."""
        self.action_rows(pages * max(1, self._port.height - 1))

    def action_halves(self, halves: int) -> None:
        """Some half pages down, or up if negative."""
        self.action_rows(halves * max(1, self._port.height // 2))

    def action_top(self) -> None:
        """To the first row."""
        self._flush()
        self._stack.draw_from(0, self._port.height)
        self._set_height()
        self._go(0)

    def action_bottom(self) -> None:
        """To the last row, and follow from there."""
        self._flush()
        self._follow()

    def _follow(self) -> None:
        self._cursor, self._following = None, True
        self._settle()
        self._redraw()

    def action_message(self, step: int) -> None:
        """To the first row of another message, brought to the top."""
        item = self.selected_item()
        if item is None:
            return
        items = self._conversation.items
        piece = self._stack.piece(item.index)
        index = item.index + step
        if step < 0 and isinstance(item, Message) and self._cursor_row > self._stack.top(item.index) + piece.first:
            index = item.index  # first to the beginning of the message that is being read
        while 0 <= index < len(items) and (not isinstance(items[index], Message) or isinstance(items[index], Thought)):
            index += step
        if index >= len(items):
            self._follow()
        elif index >= 0:
            self.show_item(items[index])

    def show_item(self, item: Item) -> None:
        """Put the cursor on an item, and its first row at the top of the view as far as there are rows below it."""
        self._flush()
        first = self._stack.piece(item.index).first
        self._cursor, self._following = (item, first), False
        self._grow_above((item, first), self._port.height)  # what will be above it if there is little below
        self._stack.draw_from(self._stack.top(item.index), self._port.height)
        self._set_height()
        self._move_to(self._stack.top(item.index) + first)
        self._redraw()

    # Layout

    @property
    def _port(self) -> Size:
        """Cells for the conversation, without the scrollbar."""
        return self.scrollable_content_region.size

    def on_mount(self) -> None:
        """Show what was taken before there was a screen."""
        self._flush()

    def on_unmount(self) -> None:
        """Nothing is counted any more."""
        self._tick(False)

    def on_resize(self) -> None:
        """Wrap the text to the new width, with the same row at the top."""
        frame = Frame(self._port.width)
        if frame != self._stack.frame:
            held, cursor = self._held(), None
            if self._cursor is not None:
                item, inner = self._cursor
                cursor = item, self._stack.piece(item.index).place(inner)
            self._stack.relayout(frame)
            if cursor is not None:
                item, place = cursor
                self._cursor = item, self._stack.piece(item.index).find(place)
            self._hold(held)
        self._flush()
        self._settle()
        self._drag_cursor()

    def _held(self) -> tuple[Item, Place] | None:
        """The first row in view, to be found again; `None` while the end is followed."""
        if self._following or not self._stack.count:
            return None
        index, inner = self._stack.locate(self.scroll_offset.y)
        return self._conversation.items[index], self._stack.piece(index).place(inner)

    def _hold(self, held: tuple[Item, Place] | None) -> None:
        """Bring the row back to the top."""
        if self._cursor is not None and not self._has(self._cursor[0]):
            self._cursor, self._following = None, True
        y = self.scroll_offset.y
        if held is not None and not self._following and self._has(held[0]):
            item, place = held
            y = self._stack.top(item.index) + self._stack.piece(item.index).find(place)
            self._shift_selection(y - self.scroll_offset.y)
        self._strips.clear()
        self._set_height()
        self._move_to(y)
        if not self._following:
            self._drag_cursor()
        self.refresh()

    def _has(self, item: Item) -> bool:
        items = self._conversation.items
        return item.index < len(items) and items[item.index] is item

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Make the rows that came into view before they are painted, and take the cursor along."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) == round(new_value) or self._settling:
            return
        self._following = new_value >= self.max_scroll_y
        self._settle(up=new_value < old_value)
        self._drag_cursor()

    def _drag_cursor(self) -> None:
        """Keep the cursor among the rows in view."""
        if self._following:
            self._cursor = None
        elif self._stack.count:
            top = self.scroll_offset.y
            row = max(top, min(self._cursor_row, top + max(1, self._port.height) - 1, self._stack.height - 1))
            index, inner = self._stack.locate(row)
            self._cursor = self._conversation.items[index], inner
        self._redraw()
        self._tell()

    def _settle(self, *, up: bool = False) -> None:
        """Make what is in view, and hold it still while guessed heights become exact.

        Args:
            up: Whether the view moved up, so that the rows below the new ones are what stays.
        """
        if self._settling or not self.is_attached:
            return
        self._settling = True
        stack, height = self._stack, max(1, self._port.height)
        try:
            for _ in range(8):
                y, before = self.scroll_offset.y, stack.height
                if self._following:
                    stack.draw_before(stack.count - 1, -1, height)
                else:
                    stack.draw_from(y, height)
                self._set_height()
                want = y
                if self._following:
                    want = self.max_scroll_y
                elif up and y > 0:
                    want = y + stack.height - before
                    self._shift_selection(stack.height - before)
                want = max(0, min(want, self.max_scroll_y))
                if want == y and stack.height == before:
                    break
                self._strips.clear()
                self.scroll_target_y = self.scroll_y = want  # the wheel goes on from the target
        finally:
            self._settling = False
        self._tell()

    def _shift_selection(self, rows: int) -> None:
        """Move the selection with the text when rows above it turn out to be more or fewer."""
        selection = self.text_selection if self.is_attached else None
        if rows and selection is not None:
            moved = Selection(*(end and Offset(end.x, max(0, end.y + rows)) for end in selection))
            self.screen.selections = {**self.screen.selections, self: moved}

    def _set_height(self) -> None:
        """Tell Textual how many rows there are, without a layout of the whole screen."""
        size = Size(self._port.width, self._stack.height)
        if size != self.virtual_size and self.is_attached:
            self._strips.clear()
            settling, self._settling = self._settling, True
            try:
                self.set_reactive(Widget.virtual_size, size)
                self._scroll_update(size)
            finally:
                self._settling = settling

    def _tell(self) -> None:
        """Say where the cursor is, if that has changed."""
        told = (*self.position, self._following)
        if told != self._told and self.is_attached:
            self._told = told
            self.post_message(self.Moved(self, *told))

    def _redraw(self) -> None:
        self._strips.clear()
        self.refresh()

    # The mouse

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on a row; unfold or fold what it is the first row of."""
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None or event.chain > 1:
            return
        row = self.scroll_offset.y + offset.y
        drawn = self._stack.row(row)
        if drawn is None:
            return
        event.stop()
        index, inner = self._stack.locate(row)
        self._cursor, self._following = (self._conversation.items[index], inner), False
        if drawn.fold:
            self.action_fold()
        self._redraw()
        self._tell()

    # Selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it is drawn, without what stands beside it, broken where the text itself is."""
        return selected_text(self._stack, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        del selection
        self._redraw()

    # Paint

    def notify_style_update(self) -> None:
        """Forget the styles when the theme or the focus changes."""
        super().notify_style_update()
        self._painter.forget()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        """Draw one row of the widget; see `ScrollView`."""
        y += self.scroll_offset.y
        strip = self._strips.get(y)
        if strip is None:
            if len(self._strips) >= KEPT_ROWS:
                self._strips.clear()
            strip = self._strips[y] = self._draw(y)
        return strip

    def _draw(self, y: int) -> Strip:
        drawn = self._stack.row(y)
        if drawn is None:
            return Strip.blank(self._port.width, self._painter.style(""))
        is_cursor = y == self._cursor_row and (self.has_focus or not self._following)
        selection = self.text_selection
        span = None if selection is None else selection.get_span(y)
        frame = self._stack.frame
        strip = self._painter.draw(drawn, frame, self._port.width, is_cursor=is_cursor, selected=span)
        return strip.apply_offsets(-frame.gutter, y)
