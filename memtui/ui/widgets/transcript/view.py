"""The conversation on screen: only the rows in view are made, so that a long one scrolls like a short one.

The view follows the end until the person moves up to read; from then on the rows in view hold still.
"""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from memtui.agents.chat.events import ChatEvent
from memtui.core.lazy_dataclass import dataclass
from memtui.ui.widgets.line_view import TextView, copy_selection, make_scroll_bindings, overlay_selection
from memtui.ui.widgets.markdown.view import ROLES, NoteView
from memtui.ui.widgets.transcript.items import (
    CLAUDE,
    YOU,
    CallItem,
    MessageItem,
    ThoughtItem,
    TranscriptItem,
    TranscriptModel,
)
from memtui.ui.widgets.transcript.pieces import ItemAnchor, TranscriptFrame, TranscriptPiece, TranscriptStack

_FLUSH_SECONDS = 1 / 30
_CARET = "▌"
"""Stands behind the text that the model writes now."""
_PREFIX = "transcript--"
_ROLES = (
    "band you claude fold cursor thinking verb verb-open path ok bad why-bad not-done edited live asks added removed"
    " added-word removed-word context detail answer title more quiet notice fault waiting count summary key-hint hint"
    " file struck undone stopped caret"
)
_ROLE_CSS = """
    TranscriptView {
        & > .transcript--you, & > .transcript--verb-open, & > .transcript--summary { text-style: bold; }
        & > .transcript--claude { color: $text-primary; text-style: bold; }
        & > .transcript--band { background: $surface; }
        & > .transcript--title, & > .transcript--fold, & > .transcript--quiet,
        & > .transcript--notice { color: $text-secondary; }
        & > .transcript--thinking { color: $text-secondary; text-style: italic; }
        & > .transcript--ok, & > .transcript--added { color: $text-success; }
        & > .transcript--bad { color: $text-error; text-style: bold; }
        & > .transcript--why-bad, & > .transcript--removed, & > .transcript--fault { color: $text-error; }
        & > .transcript--not-done, & > .transcript--edited, & > .transcript--waiting,
        & > .transcript--stopped { color: $text-warning; }
        & > .transcript--count, & > .transcript--undone { color: $text-warning; text-style: bold; }
        & > .transcript--caret { color: $text-accent; }
        & > .transcript--live { color: $text-accent; text-style: italic; }
        & > .transcript--key-hint { color: $text-accent; text-style: bold; }
        & > .transcript--asks { color: $text-warning; text-style: bold reverse; }
        & > .transcript--added-word { color: $text-success; background: $success-muted; text-style: bold underline; }
        & > .transcript--removed-word { color: $text-error; background: $error-muted; text-style: bold underline; }
        &:ansi > .transcript--added-word { color: ansi_black; background: ansi_green; text-style: underline; }
        &:ansi > .transcript--removed-word { color: ansi_black; background: ansi_red; text-style: underline; }
        & > .transcript--detail { color: $foreground-muted; }
        & > .transcript--more { text-style: italic; }
        & > .transcript--struck { text-style: strike; }
        & > .transcript--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .transcript--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """


class TranscriptView(TextView):
    """The items of a conversation, newest last.

    Args:
        clock: Seconds, for durations.
        agent: The name beside what the agent says: at most six cells.
        id: Its id in the DOM.
        classes: Its CSS classes.
    """

    ALLOW_SELECT = True

    BINDINGS: ClassVar[list[BindingType]] = [
        *make_scroll_bindings("transcript", line="row", follows=", and follow new ones"),
        *(
            Binding(key, action, text, id=f"transcript.{name}", tooltip=tooltip, show=shown)
            for key, action, text, name, tooltip, shown in (
                ("left_square_bracket", "message(-1)", "previous", "previous_message", "Previous message", False),
                ("right_square_bracket", "message(1)", "next", "next_message", "Next message", False),
                ("enter,space", "fold", "unfold", "fold", "Unfold or fold it", True),
                ("ctrl+o", "toggle_tools", "tools", "tools", "Unfold or fold all tool calls", True),
                ("y", "copy", "copy", "copy", "Copy the code, paragraph or message under the cursor", True),
            )
        ),
    ]

    STYLES = _PREFIX
    COMPONENT_CLASSES: ClassVar[set[str]] = {_PREFIX + role for role in (*ROLES, *_ROLES.split())}
    DEFAULT_CSS = NoteView.DEFAULT_CSS.replace("NoteView", "TranscriptView")
    ROLE_CSS = NoteView.ROLE_CSS.replace("NoteView", "TranscriptView").replace("noteview--", _PREFIX) + _ROLE_CSS

    @dataclass
    class CursorMoved(Message):
        """The cursor is on another row, the number of rows changed, or following began or ended."""

        line: int
        total: int
        following: bool

        @property
        def text(self) -> str:
            """For the border below: `end (following)`, or `line 3 of 120`."""
            return "end (following)" if self.following else f"line {self.line:,} of {self.total:,}"

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, TranscriptView.CursorMoved)

    @dataclass
    class CallSelected(Message):
        """The person selected a tool call."""

        call_id: str

    @dataclass
    class CopyRequested(Message):
        """A text is to be copied to the clipboard."""

        text: str

    def __init__(
        self, *, clock: Callable[[], float] = monotonic, agent: str = CLAUDE, id: str | None = None,
        classes: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(id=id, classes=classes)
        self._agent = agent
        self._clock = clock
        self._conversation = TranscriptModel()
        self._pending_events: list[tuple[ChatEvent, float]] = []
        """Events since the last flush, and when: until then, rows and items belong together."""
        self._stack = TranscriptStack(self._conversation.items, self._make_piece, TranscriptFrame(80, agent))
        self._cursor: tuple[TranscriptItem, int] | None = None
        """An item, and the number of its row; `None` for the last row."""
        self.is_following = True
        """Whether the view stays at the end."""
        self._flush_timer: Timer | None = None
        self._flushed_at = 0.0
        self._tick_timer: Timer | None = None
        self._settling = False
        self._last_position: tuple[int, int, bool] | None = None

    # What is shown

    @property
    def items(self) -> Sequence[TranscriptItem]:
        """The conversation, oldest first."""
        self._flush()
        return self._conversation.items

    @property
    def position(self) -> tuple[int, int]:
        """The cursor's row, from 1, and the number of rows as far as it is known."""
        total = self._stack.height
        return (self._cursor_row + 1 if total else 0, total)

    def add_event(self, event: ChatEvent) -> None:
        """Show an event, with the next flush."""
        self._pending_events.append((event, self._clock()))
        if self._flush_timer is not None or not self.is_attached:
            return
        wait = _FLUSH_SECONDS - (monotonic() - self._flushed_at)
        if wait <= 0:
            self._flush()
        else:
            self._flush_timer = self.set_timer(wait, self._flush)

    def clear(self) -> None:
        """Begin with an empty conversation."""
        cards_open = self._conversation.cards_open
        self._conversation = TranscriptModel()
        self._conversation.cards_open = cards_open
        self._pending_events.clear()
        self._stack = TranscriptStack(self._conversation.items, self._make_piece, self._stack.frame)
        self._cursor, self.is_following = None, True
        self._restore_anchor(None)
        self._flush()

    def get_selected_item(self) -> TranscriptItem | None:
        """The item under the cursor."""
        self._flush()
        if self._cursor is not None:
            return self._cursor[0]
        return self._conversation.items[-1] if self._conversation.items else None

    def get_selected_block(self) -> str:
        """The text of the code, the paragraph, the message or the call under the cursor."""
        item = self.get_selected_item()
        if item is None:
            return ""
        from memtui.ui.widgets.transcript.rows import find_block_at  # noqa: PLC0415 - start-up: see _make_piece

        _, inner = self._stack.locate_row(self._cursor_row)
        return find_block_at(item, self._stack.get_piece(item.index).get_source_line(inner))

    def _flush(self) -> None:
        """Apply the pending events, and lay out the changed items."""
        if self._flush_timer is not None:
            self._flush_timer.stop()
            self._flush_timer = None
        conversation, stack = self._conversation, self._stack
        self._flushed_at = monotonic()
        anchor = self._get_anchor()
        for event, now in self._pending_events:
            conversation.apply_event(event, now)
        self._pending_events.clear()
        if not self.is_attached:
            return
        cut, changed = conversation.take_changes()
        if cut < max(stack.count, len(conversation.items)) or changed:
            stack.cut(cut)
            for item in changed:
                if isinstance(item, MessageItem) and not isinstance(item, ThoughtItem):
                    stack.extend(item)
                else:
                    stack.invalidate(item)
            self._restore_anchor(anchor)
        if conversation.is_live and self._tick_timer is None:
            self._tick_timer = self.set_interval(1, self._handle_tick)
        elif not conversation.is_live and self._tick_timer is not None:
            self._tick_timer.stop()
            self._tick_timer = None

    def _handle_tick(self) -> None:
        """Update the seconds of the items that are counted in seconds."""
        for item in self._conversation.get_ticking():
            self._conversation.mark_changed(item)
        self._flush()

    # Folding

    def action_fold(self) -> None:
        """Unfold the item under the cursor, or fold it; the screen shows the change of a tool call."""
        item = self.get_selected_item()
        if item is None:
            return
        self.toggle_item(item)
        if isinstance(item, CallItem):
            self.post_message(self.CallSelected(item.call_id))

    def toggle_item(self, item: TranscriptItem) -> None:
        """Unfold an item, or fold it, with the cursor on its first row; following ends, so that it stays there."""
        from memtui.ui.widgets.transcript.rows import can_fold  # noqa: PLC0415 - start-up: see _make_piece

        self._flush()
        if not self._conversation.has_item(item) or not can_fold(item):
            return
        item.is_open = not item.is_open
        self._cursor, self.is_following = (item, self._stack.get_piece(item.index).first), False
        anchor = self._get_anchor()
        self._stack.invalidate(item)
        self._restore_anchor(anchor)
        self._cursor = item, self._stack.get_piece(item.index).first
        self._show_item_below(item)
        self._redraw()
        self._notify_cursor()

    def _show_item_below(self, item: TranscriptItem) -> None:
        """Scroll as much of an item into view as fits, its first row above all."""
        piece, height = self._stack.get_piece(item.index), self._viewport.height
        self._grow_above((item, piece.first), height)
        top = self._stack.get_top(item.index)
        last = top + piece.height
        y = self.scroll_offset.y
        if last > y + height:
            self._scroll_to_row(min(top + piece.first, last - height))
        elif top + piece.first < y:
            self._scroll_to_row(top + piece.first)

    def action_toggle_tools(self) -> None:
        """Unfold all tool calls, present and future ones, or fold them if none is folded."""
        self._flush()
        calls = [item for item in self._conversation.items if isinstance(item, CallItem)]
        is_open = any(not call.is_open for call in calls) if calls else not self._conversation.cards_open
        self._conversation.set_cards_open(is_open)
        self._flush()
        self._redraw()

    def action_copy(self) -> None:
        if text := self.get_selected_block():
            self.post_message(self.CopyRequested(text))

    # The cursor

    @property
    def _cursor_row(self) -> int:
        if self._cursor is None:
            return max(0, self._stack.height - 1)
        item, inner = self._cursor
        top = self._stack.get_top(item.index)
        return min(top + inner, max(top, self._stack.get_top(item.index + 1) - 1))

    def _go_to_row(self, row: int) -> None:
        """Put the cursor on the nearest row; following begins at the last one."""
        stack = self._stack
        if not stack.count:
            return
        row = max(0, min(row, stack.height - 1))
        self.is_following = row >= stack.height - 1
        self._cursor = None if self.is_following else stack.locate_item(row)
        row, top, height = self._cursor_row, self.scroll_offset.y, self._viewport.height
        if height and self.is_following:
            self._scroll_to_row(self.max_scroll_y)
        elif height and not top <= row < top + height:
            self._scroll_to_row(row if row < top else row - height + 1)
        self._redraw()
        self._notify_cursor()

    def _scroll_to_row(self, y: int) -> None:
        """Scroll, and leave the cursor where it is."""
        self._settling = True
        try:
            self.scroll_to(y=max(0, y), animate=False)
        finally:
            self._settling = False
        self._stabilize_view()

    def action_rows(self, rows: int) -> None:
        self._flush()
        stack = self._stack
        if not stack.count:
            return
        item, inner = cursor = self._cursor or stack.locate_item(self._cursor_row)
        if rows < 0:
            self._grow_above(cursor, -rows)
        else:
            stack.draw_from(self._cursor_row, rows + 1)
            self._set_height()
        self._go_to_row(stack.get_top(item.index) + inner + rows)

    def _grow_above(self, cursor: tuple[TranscriptItem, int], rows: int) -> None:
        """Make the rows above a row of an item, with the rows in view held still."""
        stack = self._stack
        before = stack.height
        stack.draw_before(cursor[0].index, cursor[1], rows)
        grown = stack.height - before
        self._set_height()
        if grown:
            self._shift_selection(grown)
            self._scroll_to_row(self.scroll_offset.y + grown)

    def action_top(self) -> None:
        self._flush()
        self._stack.draw_from(0, self._viewport.height)
        self._set_height()
        self._go_to_row(0)

    def action_bottom(self) -> None:
        self._flush()
        self._cursor, self.is_following = None, True
        self._stabilize_view()
        self._redraw()

    def action_message(self, step: int) -> None:
        """To the first row of another message, brought to the top; backwards, first to that of the current one."""
        item = self.get_selected_item()
        if item is None:
            return
        items, index = self._conversation.items, item.index + step
        first = self._stack.get_top(item.index) + self._stack.get_piece(item.index).first
        if step < 0 and isinstance(item, MessageItem) and self._cursor_row > first:
            index = item.index
        while 0 <= index < len(items) and (
            not isinstance(items[index], MessageItem) or isinstance(items[index], ThoughtItem)
        ):
            index += step
        if index >= len(items):
            self.action_bottom()
        elif index >= 0:
            self.show_item(items[index])

    def show_item(self, item: TranscriptItem) -> None:
        """Put the cursor on an item, and its first row at the top of the view as far as there are rows below it."""
        self._flush()
        first = self._stack.get_piece(item.index).first
        self._cursor, self.is_following = (item, first), False
        self._grow_above((item, first), self._viewport.height)  # the rows above it if there are few below
        self._stack.draw_from(self._stack.get_top(item.index), self._viewport.height)
        self._set_height()
        self._scroll_to_row(self._stack.get_top(item.index) + first)
        self._redraw()

    # Layout

    def _make_piece(
        self, item: TranscriptItem, above: TranscriptItem | None, frame: TranscriptFrame
    ) -> TranscriptPiece:
        from memtui.ui.widgets.transcript.rows import render_item  # noqa: PLC0415 - start-up: no item is in the first frame

        return render_item(item, above, frame, self._clock())

    @property
    def row_count(self) -> int:
        return self._stack.height

    def on_mount(self) -> None:
        """Show the events that came before there was a screen."""
        self._flush()

    def on_resize(self) -> None:
        """Wrap the text to the new width, with the same row at the top."""
        frame = TranscriptFrame(self._viewport.width, self._agent)
        if frame != self._stack.frame:
            anchor, cursor = self._get_anchor(), None
            if self._cursor is not None:
                item, inner = self._cursor
                cursor = item, self._stack.get_piece(item.index).get_anchor(inner)
            self._stack.relayout(frame)
            if cursor is not None:
                item, place = cursor
                self._cursor = item, self._stack.get_piece(item.index).find_anchor(place)
            self._restore_anchor(anchor)
        self._flush()
        self._stabilize_view()
        self._drag_cursor()

    def _get_anchor(self) -> ItemAnchor | None:
        """The first row in view, to be found again; `None` while the end is followed."""
        if self.is_following or not self._stack.count:
            return None
        item, inner = self._stack.locate_item(self.scroll_offset.y)
        return item, self._stack.get_piece(item.index).get_anchor(inner)

    def _restore_anchor(self, anchor: ItemAnchor | None) -> None:
        """Scroll the row back to the top."""
        if self._cursor is not None and not self._conversation.has_item(self._cursor[0]):
            self._cursor, self.is_following = None, True
        y = self.scroll_offset.y
        if anchor is not None and not self.is_following and self._conversation.has_item(anchor[0]):
            item, place = anchor
            y = self._stack.get_top(item.index) + self._stack.get_piece(item.index).find_anchor(place)
            self._shift_selection(y - self.scroll_offset.y)
        self._strips.clear()
        self._set_height()
        self._scroll_to_row(y)
        if not self.is_following:
            self._drag_cursor()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Make the rows that came into view before they are painted, and move the cursor with the view."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) == round(new_value) or self._settling:
            return
        self.is_following = new_value >= self.max_scroll_y
        self._stabilize_view(up=new_value < old_value)
        self._drag_cursor()

    def _drag_cursor(self) -> None:
        """Keep the cursor among the rows in view."""
        if self.is_following:
            self._cursor = None
        elif self._stack.count:
            top = self.scroll_offset.y
            row = max(top, min(self._cursor_row, top + max(1, self._viewport.height) - 1, self._stack.height - 1))
            self._cursor = self._stack.locate_item(row)
        self._redraw()
        self._notify_cursor()

    def _stabilize_view(self, *, up: bool = False) -> None:
        """Make the rows in view, and hold them still while estimated heights become exact.

        Args:
            up: Whether the view moved up, so that the rows below the new ones stay.
        """
        if self._settling or not self.is_attached:
            return
        self._settling = True
        stack, height = self._stack, max(1, self._viewport.height)
        try:
            for _ in range(8):
                y, before = self.scroll_offset.y, stack.height
                if self.is_following:
                    stack.draw_before(stack.count - 1, -1, height)
                else:
                    stack.draw_from(y, height)
                self._set_height()
                target = y
                if self.is_following:
                    target = self.max_scroll_y
                elif up and y > 0:
                    target = y + stack.height - before
                    self._shift_selection(stack.height - before)
                target = max(0, min(target, self.max_scroll_y))
                if target == y and stack.height == before:
                    break
                self._strips.clear()
                self.scroll_target_y = self.scroll_y = target  # the wheel goes on from the target
        finally:
            self._settling = False
        self._notify_cursor()

    def _set_height(self) -> bool:
        settling, self._settling = self._settling, True
        try:
            return super()._set_height()
        finally:
            self._settling = settling

    def _notify_cursor(self) -> None:
        """Post the position of the cursor if it has changed."""
        position = (*self.position, self.is_following)
        if position != self._last_position and self.is_attached:
            self._last_position = position
            self.post_message(self.CursorMoved(*position))

    # The mouse

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on a row; on the first row of an item, unfold or fold it."""
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None or event.chain > 1:
            return
        row = self.scroll_offset.y + offset.y
        drawn = self._stack.get_row(row)
        if drawn is None:
            return
        event.stop()
        self._cursor, self.is_following = self._stack.locate_item(row), False
        if drawn.fold:
            self.action_fold()
        self._redraw()
        self._notify_cursor()

    # Selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text without the gutter, broken where the text itself is."""
        start, end = selection
        rows = self._stack.iter_rows(start.y if start else 0, end.y if end else None)
        return copy_selection(rows, selection), "\n"

    # Paint

    def _draw_row(self, y: int) -> Strip:
        drawn = self._stack.get_row(y)
        if drawn is None:
            return Strip.blank(self._viewport.width, self._resolve_style(""))
        is_cursor = y == self._cursor_row and (self.has_focus or not self.is_following)
        frame, band, style = self._stack.frame, drawn.band, self._resolve_style
        spans = overlay_selection(drawn.row.spans, self.text_selection, drawn.row, y)
        text = self._draw_spans(drawn.row, spans, frame.width, band)
        is_last = y == self._stack.height - 1
        if is_last and self._conversation.is_last_being_written and self.app.animation_level != "none":
            text = _add_caret(text, style("caret"))
        room = frame.gutter - 3
        name = drawn.label if drawn.label in ("", YOU) else CLAUDE
        gutter = [
            Segment(">" if is_cursor else " ", style("cursor" if is_cursor else band)),
            Segment(drawn.label[:room].ljust(room), style(f"{band} {name}")),
            Segment(f"{drawn.fold:1} ", style(f"{band} fold")),
        ]
        strip = Strip([*gutter, *text], frame.gutter + text.cell_length)
        return strip.adjust_cell_length(self._viewport.width, style(band)).apply_offsets(-frame.gutter, y)


def _add_caret(text: Strip, style: Style) -> Strip:
    """The last row with a caret behind its last character, which may lie before blanks; it needs no timer."""
    end = cell_len(text.text.rstrip(" "))
    return Strip.join([text.crop(0, end), Strip([Segment(_CARET, style)], 1), text.crop(end + 1)])
