"""The box in which a memory is edited.

Textual's text area with its own lines, rows, steps and colours: everything that a person can do in the one she can do
here, but what hides in a text is seen, nothing of it is lost, and a key costs the rows on screen and not the whole
text.
"""

import re
from bisect import bisect_left, bisect_right
from typing import ClassVar

from rich.style import Style
from textual.binding import BindingType
from textual.document._document import Selection
from textual.document._edit import Edit
from textual.events import Click, Key, MouseDown, Paste
from textual.geometry import Region
from textual.strip import Strip

from memtui.ui.edit.cells import LONG
from memtui.ui.edit.colours import ROLES
from memtui.ui.edit.indenting import continued, dedent_of, is_bare_marker
from memtui.ui.edit.keys import KEYS
from memtui.ui.edit.painting import Found, Look, Painted, paint
from memtui.ui.edit.stepping import StepArea

_STRIPS = 512
"""Drawn rows that are kept for the next frame."""
_WORD = re.compile(r"\w+|[^\w\s]+|\s+")


class EditArea(StepArea, inherit_bindings=False):
    """A text to edit, as it is drawn and typed.

    Args:
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"editarea--{role}" for role in ROLES),
        "editarea--hidden",
        "editarea--match",
        "editarea--current-match",
    }

    DEFAULT_CSS = """
    EditArea {
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
        &:ansi > .editarea--match { color: ansi_black; background: ansi_yellow; text-style: underline; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        self._strips: dict[Painted, Strip] = {}
        self._looks: tuple[object, Look] | None = None
        self._frame_look: Look | None = None
        super().__init__(id=id, classes=classes)
        self._held: list[Key | Paste] | None = None
        self._again: list[Key | Paste] = []

    # What is drawn

    def forget_rows(self) -> None:
        """Other rows, or other colours."""
        self._strips.clear()

    def notify_style_update(self) -> None:
        """Other colours."""
        self._strips.clear()
        self._looks = None
        super().notify_style_update()

    def _look(self) -> Look:
        """The styles of this frame, found once for each theme."""
        theme = self._theme
        nothing = Style.null()
        base = theme.base_style or self.rich_style
        key = (base, theme.cursor_style, theme.selection_style, self.app.theme)
        if self._looks is None or self._looks[0] != key:

            def role(name: str) -> Style:
                return self.get_component_rich_style(f"editarea--{name}", partial=True)

            look = Look(
                base=base,
                cursor=theme.cursor_style or Style(reverse=True),
                cursor_line=theme.cursor_line_style or nothing,
                selection=theme.selection_style or Style(reverse=True),
                bracket=theme.bracket_matching_style or nothing,
                gutter=theme.gutter_style or nothing,
                cursor_gutter=theme.cursor_line_gutter_style or nothing,
                hidden=role("hidden"),
                match=role("match"),
                current=role("current-match"),
                roles={name: role(name) for name in ROLES},
            )
            self._looks = key, look
            self._strips.clear()
        return self._looks[1]

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a part of the screen."""
        strips = super().render_lines(crop)
        self._frame_look = None
        return strips

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        look = self._frame_look = self._frame_look or self._look()
        scroll_x, scroll_y = self.scroll_offset
        width = self.scrollable_content_region.size.width
        rows = self.wrapped_document
        shown = rows.row(y + scroll_y)
        if shown is None:
            return Strip.blank(width, look.base)
        index, section, start, end = shown
        line = self.document[index]
        (top, bottom), cursor = sorted(self.selection), self.selection.end
        selected = None
        if top != bottom and top[0] <= index <= bottom[0]:
            selected = (top[1] if index == top[0] else 0, bottom[1] if index == bottom[0] else len(line) + 1)
        is_here = index == cursor[0] and bisect_right(rows.breaks(index), cursor[1]) == section
        bracket = self._matching_bracket_location
        row = Painted(
            line=line,
            start=start,
            end=end,
            number=index + 1 if section == 0 else None,
            runs=self._colours.of(index),
            found=self._found_in(index),
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
            return paint(row, look)  # remembered, each key would cost another copy of the line
        strip = self._strips.get(row)
        if strip is None:
            if len(self._strips) >= _STRIPS:
                self._strips.clear()
            strip = self._strips[row] = paint(row, look)
        return strip

    def _found_in(self, index: int) -> tuple[Found, ...]:
        """What was found in a line."""
        matches = self.matches
        if not matches:
            return ()
        found: list[Found] = []
        for number in range(bisect_left(matches, ((index, 0), (index, 0))), len(matches)):
            (row, column), (_, last) = matches[number]
            if row != index:
                break
            found.append(Found(column, last, number == self.current_match))
        return tuple(found)

    # Keys, mouse and pasted text

    def hold(self) -> None:
        """Keep what is typed until the text is there: who presses a key and types on loses none of it."""
        self._held = []

    def release(self) -> None:
        """The text is there: take in what was typed meanwhile."""
        if not self._held:
            self._held = None
            return
        held, self._held = self._held, []  # what is on its way already is held as well, and comes behind these
        self._again = [
            Key(event.key, event.character) if isinstance(event, Key) else Paste(event.text) for event in held
        ]
        for event in self._again:
            self.post_message(event)

    def _holds(self, event: Key | Paste) -> bool:
        """Whether it is kept for later. Esc is not: it leads out also where the text never comes."""
        if self._again and event is self._again[0]:
            del self._again[0]
            if not self._again:
                self.release()
            return False
        if self._held is None or (isinstance(event, Key) and event.key == "escape"):
            return False
        event.stop()
        event.prevent_default()
        self._held.append(event)
        return True

    async def _on_key(self, event: Key) -> None:
        """Run a binding of this box where characters are taken in, so that none overtakes the other."""
        if self._holds(event):
            return
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
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
        """A new line that is indented as this one is, and goes on with its list."""
        start, end = sorted(self.selection)
        line = self.document[start[0]]
        if start == end and self._syntax == "markdown" and is_bare_marker(line) and start[1] == len(line):
            self._replace_via_keyboard("", (start[0], 0), start)  # an empty item ends the list
            return
        in_list = self._syntax == "markdown"
        self._replace_via_keyboard("\n" + continued(line[: start[1]], in_list=in_list), start, end)

    async def _on_paste(self, event: Paste) -> None:
        """Put in what is pasted, with the line ends of a text."""
        if self._holds(event):
            return
        event.stop()
        event.prevent_default()
        self.put_in(event.text)

    def put_in(self, text: str) -> None:
        """Put a text where the cursor is, in the place of what is selected."""
        if self.read_only:
            return
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if result := self._replace_via_keyboard(text, *self.selection):
            self.move_cursor(result.end_location)

    def action_paste(self) -> None:
        """Put in what was copied or cut here."""
        self.put_in(self.app.clipboard)

    async def _on_mouse_down(self, event: MouseDown) -> None:
        """Go there; with Shift, select up to there."""
        anchor = self.selection.start
        await super()._on_mouse_down(event)
        if event.shift:
            self.selection = Selection(anchor, self.selection.end)

    def on_click(self, event: Click) -> None:
        """Twice selects a word, three times a line."""
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
        """To the first character."""
        self.move_cursor((0, 0), select=select)

    def action_text_end(self, select: bool = False) -> None:
        """Behind the last one."""
        self.move_cursor(self.document.end, select=select)

    def action_indent(self) -> None:
        """Indent the lines that are selected; without a selection, go to the next tab stop."""
        if self.read_only:
            return
        start, end = sorted(self.selection)
        if start[0] == end[0]:
            one = "\t" if self.indent_type == "tabs" else " " * self._find_columns_to_next_tab_stop()
            self._replace_via_keyboard(one, start, end)
            return
        unit = "\t" if self.indent_type == "tabs" else " " * self.indent_width
        with self.history.one():
            for row in self._selected_rows():
                if self.document[row]:
                    self.edit(Edit(unit, (row, 0), (row, 0), maintain_selection_offset=True))

    def action_dedent(self) -> None:
        """Take a level of indentation from the line, or from those that are selected."""
        if self.read_only:
            return
        with self.history.one():
            for row in self._selected_rows():
                width = dedent_of(self.document[row], self.indent_width)
                if width:
                    self.edit(Edit("", (row, 0), (row, width), maintain_selection_offset=True))

    def _selected_rows(self) -> range:
        (first, _), (last, column) = sorted(self.selection)
        return range(first, last if last > first and column == 0 else last + 1)

    def action_wrap(self) -> None:
        """Long lines in several rows, or in one that is scrolled."""
        self.soft_wrap = not self.soft_wrap

    def action_line_numbers(self) -> None:
        """Numbers beside the lines, or none."""
        self.show_line_numbers = not self.show_line_numbers

    def go_to_line(self, number: int) -> None:
        """To the start of a line, counted from 1; the last one if there are fewer."""
        row = min(max(number, 1), self.document.line_count) - 1
        self.move_cursor((row, 0))
        self.scroll_cursor_visible(center=True)
