"""Searching one folder and searching all of them alike: a query, its results, and the note beside them."""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.search.results import LineHit
from memtui.ui import frame
from memtui.ui.frame import Header, KeyLine, MessageLine
from memtui.ui.messages import report_errors
from memtui.ui.screens.dialogs import DismissOnceScreen, Result
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.preview import Preview, PreviewMode
from memtui.ui.widgets.results import (
    PAST,
    Hit,
    LineRow,
    NameRow,
    NoteRow,
    OldNameRow,
    PastNoteRow,
    PastRow,
    ResultsView,
)

FIND_CSS = """
FindBase {
    layout: vertical;

    & #box { height: 3; border: round $accent; border-title-color: $text-accent; border-title-style: bold; }
    & #box { border-subtitle-color: $foreground; padding: 0 1; }
    & #prompt { width: 2; color: $text-accent; text-style: bold; }
    & Input { width: 1fr; }
    & #count { width: auto; min-width: 10; text-align: right; color: $foreground; }
    & #body { height: 1fr; }
    & #found { width: 1fr; height: 1fr; }
    & #beside { width: 1fr; height: 1fr; }
    & #note { width: 1fr; height: 1fr; }
    & #story { display: none; height: auto; max-height: 5; padding: 0 1; background: $panel; }
    &.-past #story { display: block; }
    &.-medium #beside { width: 7fr; }
    &.-medium #found { width: 5fr; }
    &.-wide #beside { width: 9fr; }
    &.-wide #found { width: 7fr; }
}
"""
"""The styles of both screens; each puts its own name in place of `FindBase`."""


class QueryLine(Input):
    """The query; Enter opens the result."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "open", id="find.open", tooltip="Open the note at this line")
    ]


class NoteContent(NamedTuple):
    """The bytes of a note, or why there are none: a sentence."""

    data: bytes | None
    problem: str = "It has no text, or it was deleted."


class FindBase(DismissOnceScreen[Result]):
    """A query, what it finds, and beside it the note under the cursor, which is read in a thread."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,ctrl+p", "move(-1)", "up", id="find.up", tooltip="One result up", show=False),
        Binding("down,ctrl+n", "move(1)", "down", id="find.down", tooltip="One result down", show=False),
        Binding("pageup", "page(-1)", "page up", id="find.page_up", tooltip="One page of results up", show=False),
        Binding("pagedown", "page(1)", "page down", id="find.page_down", tooltip="One page down", show=False),
        Binding("shift+up", "scroll(-1)", "note up", id="find.note_up", tooltip="Scroll the note up", show=False),
        Binding("shift+down", "scroll(1)", "note down", id="find.note_down", tooltip="Scroll the note down",
                show=False),
    ]  # fmt: skip

    AUTO_FOCUS = "#query"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it

    header = getters.query_one(Header)
    found = getters.query_one("#found", ResultsView)
    note = getters.query_one("#note", NoteView)
    line = getters.query_one("#query", Input)
    message = getters.query_one(MessageLine)

    @dataclass(eq=False)
    class NoteRead(Message):
        """The content of a note, now or once."""

        hit: Hit
        content: NoteContent

    def __init__(self) -> None:
        super().__init__()
        self._preview = Preview()
        self._preview.view = PreviewMode.SOURCE
        self._titles = frame.PaneTitles()
        self._opens_answer = False
        """Whether Enter was pressed before there was something to open."""

    def compose_find(self, query: str, placeholder: str, found: ResultsView) -> ComposeResult:
        """The query, the results and the note."""
        yield Header()
        with Horizontal(id="box"):
            yield Static("> ", id="prompt")
            yield QueryLine(query, placeholder=placeholder, compact=True, id="query")
            yield Static(id="count", markup=False)
        with Horizontal(id="body"):
            yield found
            with Container(id="beside"):
                yield NoteView(id="note", classes="pane")
                yield Static(id="story", markup=False)
        yield MessageLine(id="message")
        yield KeyLine()

    def on_mount(self) -> None:
        self.note.can_focus = False

    def on_resize(self) -> None:
        """Read the note where there is room for it now."""
        self.call_after_refresh(self._open_note)

    def read_content(self, hit: Hit, is_cancelled: Callable[[], bool]) -> NoteContent:
        """The content of a note, in a thread.

        Args:
            hit: The result under the cursor.
            is_cancelled: Whether nobody waits for it any more.
        """
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    # The list and the note

    @on(ResultsView.Highlighted)
    def _open_note(self) -> None:
        if not self.is_attached:
            return
        hit = self.found.cursor_item
        self.show_position()
        self.set_class(isinstance(hit, PAST), "-past")
        if hit is None:
            self.workers.cancel_group(self, "read")
            self._preview.clear()
            self.note.show_notice("Nothing found." if self.line.value.strip() else "")
            self._titles.set_title(self.note, "Note")
        elif self.query_one("#beside").display:
            self._read_hit(hit)

    def show_position(self) -> None:
        """Where the cursor is in the list."""
        at, total = self.found.position
        words = "Results" if self.line.value.strip() else "Newest first"
        self._titles.set_title(self.found, words, f"{at:,} of {total:,}")

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_hit(self, hit: Hit) -> None:
        worker = get_current_worker()
        with report_errors(self.post_message):
            content = self.read_content(hit, lambda: worker.is_cancelled)
            if not worker.is_cancelled:
                self.post_message(self.NoteRead(hit, content))

    @on(NoteRead)
    def _show_note(self, message: NoteRead) -> None:
        hit, content = message.hit, message.content
        if hit is not self.found.cursor_item:
            return
        name = to_one_line(hit.path if self.size.width >= 100 else hit.path.rpartition("/")[2])
        line = get_line(hit)
        self._titles.set_title(self.note, name, f"line {line.line:,}" if line else "")
        if content.data is None:
            self._preview.clear()
            self.note.show_notice(name, content.problem)
            return
        lines = frozenset({line.line}) if line else frozenset[int]()
        self._preview.show_data(hit.path, content.data, self.note, lines=lines, follow=False, again=False)
        if line:
            self.note.search(get_matched_text(hit))
            self.note.show_match_from(line.line)

    # What the person does

    def action_move(self, step: int) -> None:
        self.found.action_rows(step)

    def action_page(self, pages: int) -> None:
        self.found.action_pages(pages)

    def action_scroll(self, step: int) -> None:
        self.note.action_rows(step)


def get_line(hit: Hit) -> LineHit | None:
    match hit:
        case LineRow(_, line):
            return line
        case NoteRow(hits):
            return hits.lines[0] if hits.lines else None
        case PastRow(past):
            return past.line
        case PastNoteRow(hits):
            return hits[0].line
        case NameRow() | OldNameRow():
            return None


def get_matched_text(hit: Hit) -> str:
    """The text that matched, as it stands in the note."""
    line = get_line(hit)
    if line is None or not line.spans:
        return ""
    start, end = line.spans[0]
    return line.text[start:end]
