"""What will happen, before it happens: old names, new names, and a question."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Static

from memtui.core.visible import one_line
from memtui.ui.rows import RowsView
from memtui.ui.screens.once import Once
from memtui.ui.text import fit, fit_middle

Answer = Literal["yes", "edit"]
_ARROW = " -> "


class SummaryRows(RowsView):
    """Lines of one or two columns; only those in sight are drawn, so that ten thousand cost no more than ten.

    Args:
        rows: Old and new name; a line without a second one is a sentence.
    """

    DEFAULT_CSS = """
    SummaryRows { height: auto; max-height: 1fr; background: $surface; }
    """

    def __init__(self, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__(id="rows")
        self._lines = [(one_line(old), one_line(new)) for old, new in rows]
        self._left = max((cell_len(old) for old, new in self._lines if new), default=0)

    def on_mount(self) -> None:
        """Tell how many there are."""
        self._fit_height()

    def get_content_height(self, container, viewport, width):  # type: ignore[no-untyped-def]
        """As high as there are lines."""
        del container, viewport, width
        return len(self._lines)

    @property
    def row_count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def _go(self, row: int) -> None:
        """No line is chosen here: the view moves by itself."""
        self._row = max(0, min(row, self.row_count - 1))
        self._bring_into_view()
        self.refresh()

    def action_up(self) -> None:
        """One line up."""
        self._go(self.scroll_offset.y - 1)

    def action_down(self) -> None:
        """One line down."""
        self._go(self.scroll_offset.y + self._page)

    def action_page(self, pages: int) -> None:
        """Some pages down, or up if negative."""
        top = self.scroll_offset.y
        self._go(top + pages * self._page + (self._page - 1 if pages > 0 else 0))

    def render_line(self, y: int) -> Strip:
        """Draw one line; see `ScrollView`."""
        width = self.scrollable_content_region.width
        style = self.rich_style
        index = self.scroll_offset.y + y
        if index >= len(self._lines):
            return Strip.blank(width, style)
        old, new = self._lines[index]
        if not new:
            return Strip([Segment(fit(old, width), style)]).adjust_cell_length(width, style)
        room = max(width - len(_ARROW), 2)
        left = min(self._left, max(room // 2, room - cell_len(new)))
        shown = fit_middle(old, left)
        text = f"{shown}{' ' * (left - cell_len(shown))}{_ARROW}{fit_middle(new, room - left)}"
        return Strip([Segment(text, style)]).adjust_cell_length(width, style)


class SummaryScreen(ModalScreen[Answer | None], Once[Answer | None]):
    """Shows what will happen, or why it cannot, and asks. Esc leads back to the text, which may be hours of work.

    Args:
        title: What it is, in a few words.
        rows: Old and new names, or sentences.
        question: What is asked; empty where it cannot be done, and there is nothing to ask.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('yes')", "yes", id="summary.yes", tooltip="Yes, do it"),
        Binding("e,escape", "answer('edit')", "edit again", id="summary.edit", tooltip="Go on editing the names"),
        Binding("n,q", "no", "no", id="summary.no", tooltip="No, leave everything as it is"),
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
        """The names, and below them the question."""
        answers = "e edit again   n leave all names as they are"
        if self._question:
            answers = f"y yes   {answers}"
        with Vertical() as box:
            yield SummaryRows(self._shown)
            with Vertical(id="foot"):  # the answers are in sight however long the question is
                if self._question:
                    yield Static(Content(self._question), id="ask")
                yield Static(Content(answers), id="answers")
        box.border_title = Content(one_line(self._title))

    def on_mount(self) -> None:
        """Ready to scroll."""
        self.query_one(SummaryRows).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be answered."""
        return bool(self._question) if (action, parameters) == ("answer", ("yes",)) else True

    def action_answer(self, answer: Answer) -> None:
        """Tell the one who asked."""
        self.dismiss(answer)

    def action_no(self) -> None:
        """Leave everything as it is."""
        self.dismiss(None)
