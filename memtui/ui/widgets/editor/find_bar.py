"""Find and replace in the text that is being edited."""

import re
from bisect import bisect_left
from itertools import islice
from operator import itemgetter
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from memtui.ui.widgets.editor.area import EditorArea, Match
from memtui.ui.widgets.editor.textual_document import Edit, Location

_MOST = 10_000
"""Matches that are counted and marked."""


def _compile_query(query: str) -> re.Pattern[str]:
    """The pattern of a literal text; capital letters in it mean capital letters."""
    return re.compile(re.escape(query), re.IGNORECASE if query == query.lower() else 0)


def find_matches(lines: list[str], query: str) -> list[Match]:
    """The matches of a text within lines, in order, up to a limit."""
    pattern = _compile_query(query)
    matches = (((row, at.start()), (row, at.end())) for row, line in enumerate(lines) for at in pattern.finditer(line))
    return list(islice(matches, _MOST)) if query else []


def go_to_match(area: EditorArea, query: str, step: int) -> bool:
    """Select the next match (step 1) or the previous one (-1), round the end; false without any."""
    matches = find_matches(area.document.lines, query)
    if not matches:
        return False
    start, end = sorted(area.selection)
    if step > 0:
        number = bisect_left(matches, end, key=itemgetter(0)) % len(matches)
    else:
        number = sum(last <= start and first < start for first, last in matches) - 1
    first, last = matches[number]
    area.move_cursor(first)
    area.move_cursor(last, select=True)
    return True


class FindInput(Input):
    """The text to find, or the one to replace it with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down", "go(1)", "next", id="edit.field_next", tooltip="The next match"),
        Binding("up", "go(-1)", "previous", id="edit.field_previous", tooltip="The previous match", show=False),
        Binding("tab,shift+tab", "other", "replace", id="edit.field_other", tooltip="To the replacement, and back"),
        Binding("f2", "replace_all", "replace all", id="edit.replace_all", tooltip="Replace every match, as one step"),
    ]

    class CommandRequested(Message):
        """A key of the field was pressed: `go`, `other` or `all`."""

        def __init__(self, field: "FindInput", what: str, step: int = 0) -> None:
            """Tell which."""
            super().__init__()
            self.field = field
            self.command = what
            self.step = step

    def action_go(self, step: int) -> None:
        self.post_message(self.CommandRequested(self, "go", step))

    def action_other(self) -> None:
        self.post_message(self.CommandRequested(self, "other"))

    def action_replace_all(self) -> None:
        self.post_message(self.CommandRequested(self, "all"))


class FindBar(Horizontal):
    """One line: the text to find, the one to replace it with, and the number of matches.

    Args:
        area: The text area.
        query: The text to find at first.
        id: The widget's id in the DOM.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "back", id="edit.find_back", tooltip="Back to the text; the match stays selected"),
    ]

    DEFAULT_CSS = """
    FindBar { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    FindBar .label { width: auto; color: $text-accent; text-style: bold; }
    FindBar Input { width: 1fr; background: $panel; margin-right: 1; }
    FindBar #count { width: auto; min-width: 10; text-align: right; }
    """

    class Closed(Message):
        """The person goes back to the text."""

    def __init__(self, area: EditorArea, query: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area
        self._query = query
        self._from: Location = min(area.selection)
        self._status = ""
        """The result of the last replacement, until the next command."""

    def compose(self) -> ComposeResult:
        yield Static("Find ", classes="label")
        yield FindInput(value=self._query, compact=True, id="query", select_on_focus=True)
        yield Static("Replace ", classes="label")
        yield FindInput(compact=True, id="replacement", select_on_focus=False)
        yield Static(id="count")

    @property
    def find_input(self) -> FindInput:
        return self.query_one("#query", FindInput)

    @property
    def replace_input(self) -> FindInput:
        return self.query_one("#replacement", FindInput)

    def on_mount(self) -> None:
        self.find_input.focus()
        self._find_from(self._from)

    def refresh_matches(self) -> None:
        """Find the matches of a changed text."""
        if self.find_input.value:
            area = self._area
            area.matches = find_matches(area.document.lines, self.find_input.value)
            here = (min(area.selection), max(area.selection))
            area.current_match = area.matches.index(here) if here in area.matches else None
            self._show_count(self._status)

    @on(Input.Changed)
    def _handle_change(self, event: Input.Changed) -> None:
        event.stop()
        self._status = ""
        if event.input.id == "query":
            self._find_from(self._from)

    @on(Input.Submitted)
    def _handle_submit(self, event: Input.Submitted) -> None:
        event.stop()

    @on(FindInput.CommandRequested)
    def _handle_command(self, message: FindInput.CommandRequested) -> None:
        message.stop()
        self._status = ""
        match message.command:
            case "go" if message.field.id == "replacement" and message.step > 0:
                self.replace_one()
            case "go":
                self.go_to_match(message.step)
            case "other":
                (self.find_input if message.field.id == "replacement" else self.replace_input).focus()
            case "all":
                self.replace_all()

    def action_close(self) -> None:
        """Back to the text, where the match stays selected."""
        self._area.matches = ()
        self._area.current_match = None
        self.post_message(self.Closed())

    def _find_from(self, start: Location) -> None:
        """Mark the matches, and go to the first one from a location on."""
        area = self._area
        area.matches = find_matches(area.document.lines, self.find_input.value)
        area.current_match = None
        if area.matches:
            self._select_match(bisect_left(area.matches, start, key=itemgetter(0)) % len(area.matches))
        self._show_count()

    def go_to_match(self, step: int) -> None:
        """To the next match (step 1) or the previous one (-1), round the end."""
        area = self._area
        if not area.matches:
            area.matches = find_matches(area.document.lines, self.find_input.value)
        if not area.matches:
            self._show_count()
            return
        if area.current_match is not None:
            number = area.current_match + step
        else:
            number = bisect_left(area.matches, area.selection.end, key=itemgetter(0)) + min(step, 0)
        self._select_match(number % len(area.matches))
        self._show_count()

    def _select_match(self, number: int) -> None:
        area = self._area
        start, end = area.matches[number]
        area.current_match = number
        area.move_cursor(start)
        area.move_cursor(end, select=True)
        area.scroll_cursor_visible(center=not _is_cursor_visible(area))
        self._from = start

    def replace_one(self) -> None:
        """Replace the current match, and go to the next."""
        area = self._area
        if area.read_only:
            self._show_count("read-only")
            return
        if area.current_match is None or not area.matches:
            self.go_to_match(1)
            return
        start, end = area.matches[area.current_match]
        text = self.replace_input.value
        with area.history.group_edits():
            area.edit(Edit(text, start, end, maintain_selection_offset=False))
        self._find_from((start[0], start[1] + len(text)))

    def replace_all(self) -> None:
        """Replace every match, as one step."""
        area = self._area
        if area.read_only:
            self._show_count("read-only")
            return
        query = self.find_input.value
        if not find_matches(area.document.lines, query):
            self._show_count()
            return
        text, count = _compile_query(query).subn(lambda _: self.replace_input.value, area.text)
        area.revise_text(text)
        self._status = f"replaced {count:,}"
        self._show_count(self._status)

    def _show_count(self, words: str = "") -> None:
        area = self._area
        count = len(area.matches)
        if not words and self.find_input.value:
            most = "+" if count >= _MOST else ""
            at = f"{area.current_match + 1:,} of " if area.current_match is not None else ""
            words = f"{at}{count:,}{most}" if count else "not found"
        self.query_one("#count", Static).update(Content(words))


def _is_cursor_visible(area: EditorArea) -> bool:
    y = area.wrapped_document.location_to_offset(area.cursor_location).y
    return area.scroll_offset.y <= y < area.scroll_offset.y + area.size.height
