"""Find and replace in the text that is being edited."""

import re
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.document._document import Location
from textual.document._edit import Edit
from textual.message import Message
from textual.widgets import Input, Static

from memtui.ui.edit.area import EditArea
from memtui.ui.edit.stepping import Match

_MOST = 10_000
"""Matches that are counted and marked."""


def matches_of(lines: list[str], wanted: str) -> list[Match]:
    """Where a text stands, in order; several lines of it cannot be looked for.

    Smart case, as in the search: a capital letter in what is wanted means capital letters.

    Args:
        lines: The text.
        wanted: What is looked for, as it is.
    """
    if not wanted:
        return []
    pattern = re.compile(re.escape(wanted), re.IGNORECASE if wanted == wanted.lower() else 0)
    found: list[Match] = []
    for row, line in enumerate(lines):
        for match in pattern.finditer(line):
            found.append(((row, match.start()), (row, match.end())))
            if len(found) >= _MOST:
                return found
    return found


def go_to_match(area: EditArea, wanted: str, step: int) -> bool:
    """Select the next match behind what is selected, round the end, or the one before; tells whether there is one.

    Args:
        area: The text.
        wanted: What is looked for.
        step: 1 or -1.
    """
    found = matches_of(area.document.lines, wanted)
    if not found:
        return False
    start, end = sorted(area.selection)
    near = [each for each in found if (each[0] >= end if step > 0 else each[1] <= start and each[0] < start)]
    first, last = (near[0] if step > 0 else near[-1]) if near else found[0 if step > 0 else -1]
    area.move_cursor(first)
    area.move_cursor(last, select=True)
    return True


class Field(Input):
    """One of the two fields."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down", "go(1)", "next", id="edit.field_next", tooltip="The next match"),
        Binding("up", "go(-1)", "previous", id="edit.field_previous", tooltip="The match before", show=False),
        Binding("tab,shift+tab", "other", "replace", id="edit.field_other", tooltip="To replace with, and back"),
        Binding("f2", "replace_all", "replace all", id="edit.replace_all", tooltip="Replace every match, as one step"),
    ]

    class Asked(Message):
        """The person pressed one of these keys."""

        def __init__(self, field: "Field", what: str, step: int = 0) -> None:
            """Tell which."""
            super().__init__()
            self.field = field
            self.what = what
            self.step = step

    def action_go(self, step: int) -> None:
        """To the next match, or the one before."""
        self.post_message(self.Asked(self, "go", step))

    def action_other(self) -> None:
        """To the other field."""
        self.post_message(self.Asked(self, "other"))

    def action_replace_all(self) -> None:
        """Replace everywhere."""
        self.post_message(self.Asked(self, "all"))


class FindBar(Horizontal):
    """One line: what is looked for, what takes its place, and how often it stands there.

    Args:
        area: Where to find.
        wanted: What is looked for at first.
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

    def __init__(self, area: EditArea, wanted: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._area = area
        self._wanted = wanted
        self._from: Location = min(area.selection)
        self._told = ""
        """What came of the last replacement, until something else is asked for."""

    def compose(self) -> ComposeResult:
        """The line."""
        yield Static("Find ", classes="label")
        yield Field(value=self._wanted, compact=True, id="wanted", select_on_focus=True)
        yield Static("Replace ", classes="label")
        yield Field(compact=True, id="instead", select_on_focus=False)
        yield Static(id="count")

    @property
    def wanted(self) -> Field:
        """What is looked for."""
        return self.query_one("#wanted", Field)

    @property
    def instead(self) -> Field:
        """What takes its place."""
        return self.query_one("#instead", Field)

    def on_mount(self) -> None:
        """Ready to type."""
        self.wanted.focus()
        self._find(self._from)

    def find_again(self) -> None:
        """The text is another now."""
        if self.wanted.value:
            area = self._area
            area.matches = matches_of(area.document.lines, self.wanted.value)
            here = (min(area.selection), max(area.selection))
            area.current_match = area.matches.index(here) if here in area.matches else None
            self._say(self._told)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._told = ""
        if event.input.id == "wanted":
            self._find(self._from)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()

    @on(Field.Asked)
    def _do(self, message: Field.Asked) -> None:
        message.stop()
        self._told = ""
        match message.what:
            case "go" if message.field.id == "instead" and message.step > 0:
                self.replace_one()
            case "go":
                self.go(message.step)
            case "other":
                (self.wanted if message.field.id == "instead" else self.instead).focus()
            case "all":
                self.replace_all()

    def action_close(self) -> None:
        """Back to the text, where the match stays selected."""
        self._area.matches = ()
        self._area.current_match = None
        self.post_message(self.Closed())

    def _find(self, start: Location) -> None:
        """Mark what is found, and go to the first match from a place on."""
        area = self._area
        area.matches = matches_of(area.document.lines, self.wanted.value)
        area.current_match = None
        if area.matches:
            after = next((number for number, (at, _) in enumerate(area.matches) if at >= start), 0)
            self._show(after)
        self._say()

    def go(self, step: int) -> None:
        """To the next match, round the end; or to the one before."""
        area = self._area
        if not area.matches:
            area.matches = matches_of(area.document.lines, self.wanted.value)
        if not area.matches:
            self._say()
            return
        if area.current_match is not None:
            number = (area.current_match + step) % len(area.matches)
        else:
            at = area.selection.end
            later = [n for n, (start, _) in enumerate(area.matches) if (start >= at if step > 0 else start < at)]
            number = (later[0] if step > 0 else later[-1]) if later else (0 if step > 0 else len(area.matches) - 1)
        self._show(number)
        self._say()

    def _show(self, number: int) -> None:
        area = self._area
        start, end = area.matches[number]
        area.current_match = number
        area.move_cursor(start)
        area.move_cursor(end, select=True)
        area.scroll_cursor_visible(center=not _is_in_view(area))
        self._from = start

    def replace_one(self) -> None:
        """Replace the match that the person is at, and go to the next."""
        area = self._area
        if area.read_only:
            self._say("read-only")
            return
        if area.current_match is None or not area.matches:
            self.go(1)
            return
        start, end = area.matches[area.current_match]
        text = self.instead.value
        with area.history.one():
            area.edit(Edit(text, start, end, maintain_selection_offset=False))
        self._find((start[0], start[1] + len(text)))

    def replace_all(self) -> None:
        """Replace every match, as one step."""
        area = self._area
        if area.read_only:
            self._say("read-only")
            return
        wanted = self.wanted.value
        found = matches_of(area.document.lines, wanted)
        if not found:
            self._say()
            return
        flags = re.IGNORECASE if wanted == wanted.lower() else 0
        text, count = re.compile(re.escape(wanted), flags).subn(lambda _: self.instead.value, area.text)
        area.revise(text)
        self._told = f"replaced {count:,}"
        self._say(self._told)

    def _say(self, words: str = "") -> None:
        area = self._area
        count = len(area.matches)
        if not words and self.wanted.value:
            most = "+" if count >= _MOST else ""
            at = f"{area.current_match + 1:,} of " if area.current_match is not None else ""
            words = f"{at}{count:,}{most}" if count else "not found"
        self.query_one("#count", Static).update(Content(words))


def _is_in_view(area: EditArea) -> bool:
    """Whether the cursor's row is on screen."""
    y = area.wrapped_document.location_to_offset(area.cursor_location).y
    return area.scroll_offset.y <= y < area.scroll_offset.y + area.size.height
