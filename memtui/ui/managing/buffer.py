"""Names in a text of ours, for who has set no editor of her own."""

from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Static, TextArea

from memtui.ui.managing.renames import Renames
from memtui.ui.screens.ask import AskScreen
from memtui.ui.screens.once import Once
from memtui.ui.text import fit

_CHECK_SECONDS = 0.3


class NamesBox(TextArea):
    """The text; `Tab` leaves no traces in it."""


class BufferScreen(ModalScreen[str | None], Once[str | None]):
    """Lets a person change names, and answers with the text, or `None` if she turned away.

    Args:
        text: What to begin with.
        read: Finds out what a text says.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "done", "go on", id="names.done", tooltip="Look at what will happen", priority=True),
        Binding("escape", "leave", "back", id="names.leave", tooltip="Leave all names as they are", priority=True),
    ]

    DEFAULT_CSS = """
    BufferScreen { layout: vertical; background: $background; }
    BufferScreen NamesBox, BufferScreen NamesBox:focus {
        height: 1fr; border: round $accent; background: $background;
        border-title-color: $text-accent; border-title-style: bold;
    }
    BufferScreen #says { height: 1; padding: 0 1; }
    BufferScreen #says.-problem { color: $text-warning; }
    BufferScreen #keys { height: 1; padding: 0 1; background: $panel; }
    """

    def __init__(self, text: str, read: Callable[[str], Renames]) -> None:
        super().__init__()
        self._text = text
        self._read = read
        self._check_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The text, what is to be said of it, and the keys."""
        box = NamesBox(self._text, soft_wrap=False, show_line_numbers=True, tab_behavior="focus")
        box.border_title = Content("Rename: one name a line")
        yield box
        yield Static(id="says", markup=False)
        yield Static(Content("^S look at what will happen   Esc leave all names as they are"), id="keys")

    def on_mount(self) -> None:
        """At the first name."""
        box = self.query_one(NamesBox)
        box.focus()
        box.cursor_location = (next(at for at, line in enumerate(self._text.split("\n")) if line[:1] != "#"), 0)
        self._check()

    @on(TextArea.Changed)
    def _check_soon(self, event: TextArea.Changed) -> None:
        event.stop()
        if self._check_timer is None:
            self._check_timer = self.set_timer(_CHECK_SECONDS, self._check)

    def _check(self) -> None:
        self._check_timer = None
        renames = self._read(self.query_one(NamesBox).text)
        if renames.problems:
            words = str(renames.problems[0])
        elif renames.moves:
            words = f"{len(renames.moves):,} to be renamed."
        else:
            words = "Nothing is changed yet."
        line = self.query_one("#says", Static)
        line.update(Content(fit(words, max(self.size.width - 2, 1))))
        line.set_class(bool(renames.problems), "-problem")

    def action_done(self) -> None:
        """On to what will happen; what is wrong is said first."""
        text = self.query_one(NamesBox).text
        renames = self._read(text)
        if renames.problems:
            self._check()
            self.app.bell()
            box = self.query_one(NamesBox)
            if renames.problems[0].line:
                box.cursor_location = (renames.problems[0].line - 1, 0)
        else:
            self.dismiss(text)

    @work
    async def action_leave(self) -> None:
        """Turn away, after a question where something would be lost."""
        renames = self._read(self.query_one(NamesBox).text)
        if (renames.moves or renames.problems) and not await self.app.push_screen_wait(
            AskScreen("Leave all names as they are, and forget what you changed here?", "Enter, Esc or n: go on here.")
        ):
            return
        self.dismiss(None)
