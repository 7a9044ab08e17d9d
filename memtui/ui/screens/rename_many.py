"""The screens on which many names are changed: the text, and the summary with its question."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import Static, TextArea

from memtui.core.unicode import to_one_line
from memtui.flows.rename_plan import RenamePlan
from memtui.ui.key_names import join_labels, label_key
from memtui.ui.screens.dialogs import ConfirmScreen, DismissOnceScreen
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.composer import OrderedTextArea
from memtui.ui.widgets.line_view import TextView, make_scroll_bindings

_CHECK_SECONDS = 0.3


class NamesBox(OrderedTextArea):
    """The text; `Tab` leaves no traces in it."""


class RenameManyScreen(ModalScreen[str | None], DismissOnceScreen[str | None]):
    """An editor of names for a person who has set none; answers with the text, or `None` to leave all as they are."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "done", "continue", id="names.done", tooltip="Show what will be renamed", priority=True),
        Binding("escape", "leave", "back", id="names.leave", tooltip="Cancel; keep all names", priority=True),
    ]

    DEFAULT_CSS = """
    RenameManyScreen { layout: vertical; background: $background; }
    RenameManyScreen NamesBox, RenameManyScreen NamesBox:focus {
        height: 1fr; border: round $accent; background: $background; scrollbar-size-horizontal: 0;
        border-title-color: $text-accent; border-title-style: bold;
    }
    RenameManyScreen #says { height: 1; padding: 0 1; }
    RenameManyScreen #says.-problem { color: $text-warning; }
    RenameManyScreen #keys { height: 1; padding: 0 1; background: $panel; }
    """

    def __init__(self, text: str, read: Callable[[str], RenamePlan]) -> None:
        super().__init__()
        self._text = text
        self._read = read
        self._check_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        box = NamesBox(self._text, soft_wrap=False, show_line_numbers=True, tab_behavior="focus")
        box.border_title = Content("Rename: one name a line")
        yield box
        yield Static(id="says", markup=False)
        pairs = (("names.done", "show what will be renamed"), ("names.leave", "cancel"))
        keys = (Content.assemble((label_key(name), "bold $text-accent"), f" {words}") for name, words in pairs)
        yield Static(Content("  ").join(keys), id="keys")

    def on_mount(self) -> None:
        box = self.query_one(NamesBox)
        box.focus()
        box.cursor_location = (next(at for at, line in enumerate(self._text.split("\n")) if line[:1] != "#"), 0)
        self._check_names()

    @on(TextArea.Changed)
    def _schedule_check(self, event: TextArea.Changed) -> None:
        event.stop()
        if self._check_timer is None:
            self._check_timer = self.set_timer(_CHECK_SECONDS, self._check_names)

    def _check_names(self) -> None:
        self._check_timer = None
        renames = self._read(self.query_one(NamesBox).text)
        words = f"{len(renames.moves):,} to be renamed." if renames.moves else "No name is changed yet."
        if renames.problems:
            words = str(renames.problems[0])
        line = self.query_one("#says", Static)
        line.update(Content(truncate(words, max(self.size.width - 2, 1))))
        line.set_class(bool(renames.problems), "-problem")

    def action_done(self) -> None:
        """Answer with the text, or show its first problem."""
        text = self.query_one(NamesBox).text
        renames = self._read(text)
        if renames.problems:
            self._check_names()
            self.app.bell()
            if line := renames.problems[0].line:
                self.query_one(NamesBox).cursor_location = (line - 1, 0)
        else:
            self.dismiss(text)

    @work
    async def action_leave(self) -> None:
        renames = self._read(self.query_one(NamesBox).text)
        question = "Discard the changed names?"
        screen = ConfirmScreen(question, f"{join_labels('ask.no')}: keep editing.")
        if not (renames.moves or renames.problems) or await self.app.push_screen_wait(screen):
            self.dismiss(None)


Answer = Literal["yes", "edit"]
_ARROW = " -> "


class SummaryRows(TextView):
    """Old and new names, or sentences (without a second column); only visible rows are drawn."""

    BINDINGS: ClassVar[list[BindingType]] = [*make_scroll_bindings("rows", line="row")]

    PAGE_OVERLAP = 0

    DEFAULT_CSS = """
    SummaryRows { height: auto; max-height: 1fr; background: $surface; }
    """

    def __init__(self, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__(id="rows")
        self._lines = [(to_one_line(old), to_one_line(new)) for old, new in rows]
        self._left = max((cell_len(old) for old, new in self._lines if new), default=0)

    def on_mount(self) -> None:
        self._set_height()

    def get_content_height(self, container, viewport, width):  # type: ignore[no-untyped-def]
        del container, viewport, width
        return len(self._lines)

    @property
    def row_count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def _draw_row(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        style = self.rich_style
        if y >= len(self._lines):
            return Strip.blank(width, style)
        old, new = self._lines[y]
        if not new:
            return Strip([Segment(truncate(old, width), style)]).adjust_cell_length(width, style)
        room = max(width - len(_ARROW), 2)
        left = min(self._left, max(room // 2, room - cell_len(new)))
        shown = truncate_middle(old, left)
        text = f"{shown}{' ' * (left - cell_len(shown))}{_ARROW}{truncate_middle(new, room - left)}"
        return Strip([Segment(text, style)]).adjust_cell_length(width, style)


class SummaryScreen(ModalScreen[Answer | None], DismissOnceScreen[Answer | None]):
    """Shows the renames and asks for a yes, or shows problems without a question. Esc leads back to the text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('yes')", "yes", id="summary.yes", tooltip="Yes, do it"),
        Binding("e,escape", "answer('edit')", "edit again", id="summary.edit", tooltip="Edit the names again"),
        Binding("n,q", "no", "no", id="summary.no", tooltip="No, change nothing"),
    ]

    DEFAULT_CSS = """
    SummaryScreen { align: center middle; background: $background 60%; }
    SummaryScreen:ansi { background: transparent; }
    SummaryScreen > Vertical {
        width: 100; max-width: 96%; height: auto; max-height: 90%; padding: 0 1; background: $surface;
        border: round $accent; border-title-color: $text-accent; border-title-style: bold;
    }
    SummaryScreen #rows { height: auto; }
    SummaryScreen #foot { height: auto; dock: bottom; }
    SummaryScreen #ask { height: auto; max-height: 4; text-style: bold; color: $text-warning; }
    SummaryScreen #answers { height: 1; text-style: bold; color: $text-accent; }
    """

    def __init__(self, title: str, rows: Sequence[tuple[str, str]], question: str) -> None:
        super().__init__()
        self._title = title
        self._shown = rows
        self._question = question

    def compose(self) -> ComposeResult:
        answers = f"{label_key('summary.edit')} edit again   {label_key('summary.no')} keep all names"
        if self._question:
            answers = f"{label_key('summary.yes')} yes   {answers}"
        with Vertical() as box:
            yield SummaryRows(self._shown)
            with Vertical(id="foot"):  # the answers are in sight however long the question is
                if self._question:
                    yield Static(Content(self._question), id="ask")
                yield Static(Content(answers), id="answers")
        box.border_title = Content(to_one_line(self._title))

    def on_mount(self) -> None:
        self.query_one(SummaryRows).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._question) if (action, parameters) == ("answer", ("yes",)) else True

    def action_answer(self, answer: Answer) -> None:
        self.dismiss(answer)

    def action_no(self) -> None:
        self.dismiss(None)
