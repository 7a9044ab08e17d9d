"""The text area in which a memory is edited.

Textual's own with other lines, rows, undo steps and colours: hidden characters are visible and kept, a key costs the
lines that it changes and not the whole text, several edits can be one step, and a step can carry the version of the
memory that the text is based on.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Literal

from rich.style import Style
from textual.binding import BindingType
from textual.events import Click, Key, MouseDown, Paste
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widgets import TextArea

from memtui.ui.textual_private import forward_event, get_key_bindings
from memtui.ui.widgets.editor.keys import KEYS
from memtui.ui.widgets.editor.paint import ROLES, EditorStyles, MatchSpan, RowContent, SyntaxHighlighter, paint_row
from memtui.ui.widgets.editor.text import TextDocument, UndoStep, UndoSteps, compute_edits
from memtui.ui.widgets.editor.textual_document import Edit, EditResult, Location, Selection, get_edit_result
from memtui.ui.widgets.editor.wrap import LONG, CursorNavigator, WrappedRows, cell_to_column, column_to_cell

# How far lines are indented, and how a list goes on in the next line.

_INDENTED = re.compile(r"(?m)^(\t|  +)(?=\S)")
_ITEM = re.compile(r"(\s*)([-*+]|(\d{1,9})([.)]))(\s+)(\[[ xX]\]\s+)?")
_LOOKED_AT = 20_000
"""Characters at the start of a text from which its indentation is detected."""


def detect_indent(text: str, syntax: str) -> tuple[Literal["tabs", "spaces"], int]:
    """The indentation of a text: the one that it has already, else of two cells where lists are.

    Args:
        text: The whole text.
        syntax: As `detect_syntax` returns it.
    """
    found = [match.group(1) for match in _INDENTED.finditer(text[:_LOOKED_AT])]
    spaces = [len(each) for each in found if each != "\t"]
    if len(found) > 2 * len(spaces):
        return "tabs", 4
    if spaces:
        return "spaces", 2 if any(each % 4 for each in spaces) else 4
    return "spaces", 4 if syntax == "python" else 2


def measure_dedent(line: str, width: int) -> int:
    """Characters of one level of indentation at the start of a line."""
    if line.startswith("\t"):
        return 1
    return min(len(line) - len(line.lstrip(" ")), width)


def get_continuation(before: str, *, in_list: bool) -> str:
    """The start of a line that follows another.

    Args:
        before: The line before, as far as the cursor.
        in_list: Whether an item of a list is followed by another one.
    """
    item = _ITEM.match(before) if in_list else None
    if item is None:
        return before[: len(before) - len(before.lstrip(" \t"))]
    indent, sign, number, stop, gap, box = item.groups()
    sign = f"{int(number) + 1}{stop}" if number else sign
    return f"{indent}{sign}{gap}{'[ ] ' if box else ''}"


def is_bare_marker(line: str) -> bool:
    """Whether a line is an empty item of a list."""
    return _ITEM.fullmatch(line) is not None


_BRACKET_LINES = 200
"""Lines that are searched for the other bracket of a pair."""
_BRACKET_COLUMNS = 10_000
"""Characters of each that are searched."""

Match = tuple[Location, Location]
"""The location of a match and the one behind it."""


_STRIPS = 512
"""Drawn rows that are cached."""
_WORD = re.compile(r"\w+|[^\w\s]+|\s+")


class EditorArea(TextArea, inherit_bindings=False):
    """A text to edit.

    Args:
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"editarea--{role}" for role in ROLES}

    DEFAULT_CSS = """
    EditorArea {
        border: none; padding: 0; background: $background; color: $foreground; scrollbar-size-vertical: 1;

        &:focus { border: none; }
        & .text-area--gutter { color: $text-secondary; }
        & .text-area--cursor-gutter { color: $text-accent; background: $boost; text-style: bold; }
        & > .editarea--heading { color: $text-primary; text-style: bold; }
        & > .editarea--strong { text-style: bold; }
        & > .editarea--emphasis { text-style: italic; }
        & > .editarea--code { color: $text-success; }
        & > .editarea--link { color: $text-primary; text-style: underline; }
        & > .editarea--marker { color: $text-accent; text-style: bold; }
        & > .editarea--quote { text-style: italic; }
        & > .editarea--rule { color: $text-secondary; }
        & > .editarea--key { color: $text-secondary; text-style: bold; }
        & > .editarea--comment { color: $text-warning; text-style: italic; }
        & > .editarea--number { color: $text-warning; }
        & > .editarea--hidden { color: $text-error; text-style: bold reverse; }
        & > .editarea--match { background: $warning-muted; color: $text-warning; text-style: underline; }
        & > .editarea--current-match { text-style: bold reverse; }
        &:ansi .text-area--selection { color: ansi_black; background: ansi_cyan; text-style: none; }
        &:ansi > .editarea--match { color: ansi_black; background: ansi_cyan; text-style: underline; }
        &:ansi > .editarea--current-match { color: ansi_black; background: ansi_yellow; text-style: bold underline; }
    }
    """

    matches: reactive[Sequence[Match]] = reactive((), init=False)
    """The matches in the text, in order."""
    current_match: reactive[int | None] = reactive(None, init=False)
    """The number of the match at the cursor."""

    document: TextDocument
    wrapped_document: WrappedRows

    class Rebased(Message):
        """An undo or redo changed the version that the text is based on."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        self._syntax = "text"
        self._strips: dict[RowContent, Strip] = {}
        self._styles_by_theme: tuple[object, EditorStyles] | None = None
        self._frame_styles: EditorStyles | None = None
        super().__init__(
            id=id, classes=classes, soft_wrap=True, show_line_numbers=True, tab_behavior="focus", theme="css"
        )
        self.cursor_blink = False
        self.history: UndoSteps = UndoSteps()
        self.basis: Any = None
        """The version that the text is based on; the undo steps carry it along."""
        self._queued_events: list[Key | Paste] | None = None
        self._again: list[Key | Paste] = []
        self.key_filter: Callable[[str], bool] | None = None
        """Gets every key first, and answers whether it has handled it."""

    def reset_text(self, text: str, *, syntax: str, basis: object = None) -> None:
        r"""Show a text without any steps to undo.

        Args:
            text: Lines that end with `\
        `.
            syntax: `markdown`, `json`, or anything else for no colours.
            basis: The version that it is based on.
        """
        self._syntax, self.basis = syntax, basis
        self.indent_type, self.indent_width = detect_indent(text, syntax)
        self.load_text(text)

    def revise_text(self, text: str, *, basis: object = None) -> None:
        r"""Replace the text with another, as one step; the cursor stays with its words.

        Args:
            text: Lines that end with `\
        `.
            basis: The version that the text is based on from now on; `None` for the same as before.
        """
        known, self.basis = self.basis, self.basis if basis is None else basis
        with self.history.group_edits(None if basis is None else (known, basis)):
            for edit in compute_edits(self.text, text):
                self.edit(edit)
        last = self.history.undo_stack[-1] if self.history.undo_stack else None
        if basis is not None and not (isinstance(last, UndoStep) and last.basis == (known, basis)):
            self.history.mark_saved()  # the same text on another base: there is no step that could take it along

    def _set_document(self, text: str, language: str | None) -> None:
        del language
        self.document = TextDocument(text)
        self.wrapped_document = WrappedRows(self.document, tab_width=self.indent_width)
        self.navigator = CursorNavigator(self.wrapped_document)
        self._highlighter = SyntaxHighlighter(self.document, self._syntax)
        self._strips.clear()
        self.selection = Selection()
        self._rewrap_and_refresh_virtual_size()

    def _build_highlight_map(self) -> None:
        """Do nothing: rows are coloured when they are drawn."""

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        self._replay_edits(edits, undo=True)

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        self._replay_edits(edits, undo=False)

    def _replay_edits(self, edits: Sequence[Edit], *, undo: bool) -> None:
        """Undo a step, or redo it. Rows are wrapped edit by edit: each knows only its own place."""
        gutter = self.gutter_width
        for edit in reversed(edits) if undo else edits:
            if undo:
                result = get_edit_result(edit)
                old_end = result.end_location if result else edit.bottom
                result = edit.undo(self)
            else:
                old_end = edit.bottom
                result = edit.do(self, record_selection=False)
            self.wrapped_document.wrap_range(edit.top, old_end, result.end_location)
        if gutter != self.gutter_width:
            self.wrapped_document.wrap(self.wrap_width, self.indent_width)
        self._refresh_size()
        last = edits[0] if undo else edits[-1]
        last.after(self)
        if isinstance(edits, UndoStep) and edits.basis is not None:
            self.basis = edits.basis[0 if undo else 1]
            self.post_message(self.Rebased())
        self.post_message(self.Changed(self))

    def edit(self, edit: Edit) -> EditResult:
        """Do an edit; the matches are no longer valid."""
        self.set_reactive(EditorArea.matches, ())
        self.set_reactive(EditorArea.current_match, None)
        return super().edit(edit)

    def _refresh_size(self) -> None:
        rows = self.wrapped_document
        width = 0 if self.soft_wrap else rows.widest + self.gutter_width + 1
        self.virtual_size = Size(width, rows.height)
        self._refresh_scrollbars()

    def get_column_width(self, row: int, column: int) -> int:
        return column_to_cell(self.document[row], column, self.indent_width)

    def cell_width_to_column_index(self, cell_width: int, row_index: int) -> int:
        return cell_to_column(self.document[row_index], cell_width, self.indent_width)

    # The other bracket of a pair is found if it is near: a key must not cost the whole text.

    def _yield_character_locations(self, start: Location) -> Iterable[tuple[str, Location]]:
        row, column = start
        for index in range(row, min(self.document.line_count, row + _BRACKET_LINES)):
            line = self.document[index][: column + _BRACKET_COLUMNS]
            for at in range(column, len(line)):
                yield line[at], (index, at)
            column = 0

    def _yield_character_locations_reverse(self, start: Location) -> Iterable[tuple[str, Location]]:
        row, column = start
        for index in range(row, max(-1, row - _BRACKET_LINES), -1):
            line = self.document[index]
            last = column if index == row else len(line) - 1
            for at in range(last, max(-1, last - _BRACKET_COLUMNS), -1):
                yield line[at], (index, at)

    # What is drawn

    def notify_style_update(self) -> None:
        self._strips.clear()
        self._styles_by_theme = None
        super().notify_style_update()

    def _get_styles(self) -> EditorStyles:
        """The styles of this frame, resolved once for each theme."""
        theme = self._theme
        nothing = Style.null()
        base = theme.base_style or self.rich_style
        key = (base, theme.cursor_style, theme.selection_style, self.app.theme)
        if self._styles_by_theme is None or self._styles_by_theme[0] != key:
            look = EditorStyles(
                base=base,
                cursor=theme.cursor_style or Style(reverse=True),
                cursor_line=theme.cursor_line_style or nothing,
                selection=theme.selection_style or Style(reverse=True),
                bracket=theme.bracket_matching_style or nothing,
                gutter=theme.gutter_style or nothing,
                cursor_gutter=theme.cursor_line_gutter_style or nothing,
                roles={name: self.get_component_rich_style(f"editarea--{name}", partial=True) for name in ROLES},
            )
            self._styles_by_theme = key, look
            self._strips.clear()
        return self._styles_by_theme[1]

    def render_lines(self, crop: Region) -> list[Strip]:
        strips = super().render_lines(crop)
        self._frame_styles = None
        return strips

    def render_line(self, y: int) -> Strip:
        look = self._frame_styles = self._frame_styles or self._get_styles()
        scroll_x, scroll_y = self.scroll_offset
        width = self.scrollable_content_region.size.width
        rows = self.wrapped_document
        shown = rows.get_row(y + scroll_y)
        if shown is None:
            return Strip.blank(width, look.base)
        index, section, start, end = shown
        line = self.document[index]
        (top, bottom), cursor = sorted(self.selection), self.selection.end
        selected = None
        if top != bottom and top[0] <= index <= bottom[0]:
            selected = (top[1] if index == top[0] else 0, bottom[1] if index == bottom[0] else len(line) + 1)
        is_here = index == cursor[0] and bisect_right(rows.get_offsets(index), cursor[1]) == section
        bracket = self._matching_bracket_location
        row = RowContent(
            line=line,
            start=start,
            end=end,
            number=index + 1 if section == 0 else None,
            runs=self._highlighter.get_runs(index),
            matches=self._find_matches_in(index),
            selected=selected,
            cursor=cursor[1] if is_here and self._draw_cursor else None,
            bracket=bracket[1] if bracket and bracket[0] == index and top == bottom else None,
            is_cursor_line=index == cursor[0] and self.highlight_cursor_line and self._has_cursor,
            width=max(width - self.gutter_width, 1),
            gutter=self.gutter_width,
            scrolled=None if self.soft_wrap else scroll_x,
            tab=self.indent_width,
        )
        if len(line) >= LONG:
            return paint_row(row, look)  # remembered, each key would cost another copy of the line
        strip = self._strips.get(row)
        if strip is None:
            if len(self._strips) >= _STRIPS:
                self._strips.clear()
            strip = self._strips[row] = paint_row(row, look)
        return strip

    def _find_matches_in(self, index: int) -> tuple[MatchSpan, ...]:
        start, stop = (bisect_left(self.matches, ((row, 0), (row, 0))) for row in (index, index + 1))
        return tuple(
            MatchSpan(column, last, number == self.current_match)
            for number, ((_, column), (_, last)) in enumerate(self.matches[start:stop], start)
        )

    # Keys, mouse and pasted text

    def hold_input(self) -> None:
        """Keep keys and pasted text until the text is loaded, so that none is lost."""
        self._queued_events = []

    def release_input(self) -> None:
        """Handle the keys and pasted text that were kept."""
        events, self._queued_events = self._queued_events, None
        if not events:
            return
        self._queued_events = []  # events that are on their way are kept as well, and come behind these
        self._again = [
            Key(event.key, event.character) if isinstance(event, Key) else Paste(event.text) for event in events
        ]
        for event in self._again:
            forward_event(self, event)

    def _should_hold(self, event: Key | Paste) -> bool:
        """Keep an event for later. Not Esc, which leads out even if the text never loads."""
        if self._again and event is self._again[0]:
            del self._again[0]
            if not self._again:
                self.release_input()
            return False
        if self._queued_events is None or (isinstance(event, Key) and event.key == "escape"):
            return False
        event.stop()
        event.prevent_default()
        self._queued_events.append(event)
        return True

    async def _on_key(self, event: Key) -> None:
        """Run bindings of this widget where characters are inserted, so that neither overtakes the other."""
        if self._should_hold(event):
            return
        if self.key_filter is not None and self.key_filter(event.key):
            event.stop()
            event.prevent_default()
            return
        for binding in get_key_bindings(self, event.key):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return
        if event.key == "enter" and not self.read_only:
            event.stop()
            event.prevent_default()
            self._break_line()
            return
        await super()._on_key(event)

    def _break_line(self) -> None:
        """Insert a line with the same indentation, or with the next item of a list."""
        start, end = sorted(self.selection)
        line = self.document[start[0]]
        in_list = self._syntax == "markdown"
        if start == end and in_list and is_bare_marker(line) and start[1] == len(line):
            self._replace_via_keyboard("", (start[0], 0), start)  # an empty item ends the list
            return
        self._replace_via_keyboard("\n" + get_continuation(line[: start[1]], in_list=in_list), start, end)

    async def _on_paste(self, event: Paste) -> None:
        if self._should_hold(event):
            return
        event.stop()
        event.prevent_default()
        self.insert_text(event.text)

    def insert_text(self, text: str) -> None:
        """Insert a text at the cursor, in place of the selection."""
        if self.read_only:
            return
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if result := self._replace_via_keyboard(text, *self.selection):
            self.move_cursor(result.end_location)

    def action_paste(self) -> None:
        self.insert_text(self.app.clipboard)

    async def _on_mouse_down(self, event: MouseDown) -> None:
        """Move the cursor; with Shift, select up to there."""
        anchor = self.selection.start
        await super()._on_mouse_down(event)
        if event.shift:
            self.selection = Selection(anchor, self.selection.end)

    def on_click(self, event: Click) -> None:
        """Select a word (twice) or a line (three times)."""
        row, column = self.get_target_document_location(event)
        if event.chain == 2:
            line = self.document[row]
            for match in _WORD.finditer(line):
                if match.start() <= column < match.end():
                    self.selection = Selection((row, match.start()), (row, match.end()))
                    break
        elif event.chain == 3:
            self.select_line(row)

    # Actions that Textual's box does not have

    def action_text_start(self, select: bool = False) -> None:
        self.move_cursor((0, 0), select=select)

    def action_text_end(self, select: bool = False) -> None:
        self.move_cursor(self.document.end, select=select)

    def action_indent(self) -> None:
        """Indent the selected lines; without a selection, go to the next tab stop."""
        if self.read_only:
            return
        start, end = sorted(self.selection)
        if start[0] == end[0]:
            one = "\t" if self.indent_type == "tabs" else " " * self._find_columns_to_next_tab_stop()
            self._replace_via_keyboard(one, start, end)
            return
        unit = "\t" if self.indent_type == "tabs" else " " * self.indent_width
        with self.history.group_edits():
            for row in self._get_selected_rows():
                if self.document[row]:
                    self.edit(Edit(unit, (row, 0), (row, 0), maintain_selection_offset=True))

    def action_dedent(self) -> None:
        """Remove a level of indentation from the line, or from the selected ones."""
        if self.read_only:
            return
        with self.history.group_edits():
            for row in self._get_selected_rows():
                width = measure_dedent(self.document[row], self.indent_width)
                if width:
                    self.edit(Edit("", (row, 0), (row, width), maintain_selection_offset=True))

    def _get_selected_rows(self) -> range:
        (first, _), (last, column) = sorted(self.selection)
        return range(first, last if last > first and column == 0 else last + 1)

    def action_wrap(self) -> None:
        self.soft_wrap = not self.soft_wrap

    def action_line_numbers(self) -> None:
        self.show_line_numbers = not self.show_line_numbers

    def go_to_line(self, number: int, column: int = 0) -> None:
        """Into a line, counted from 1, or the last one: to its start, or behind some characters."""
        row = min(max(number, 1), self.document.line_count) - 1
        self.move_cursor((row, column))
        self.scroll_cursor_visible(center=True)
