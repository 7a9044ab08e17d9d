"""The line that finds a text in the open note."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from memtui.core import wording
from memtui.ui.widgets.markdown.view import NoteView


class FindLine(Horizontal):
    """A line to find a text in the open note, as in less and vim.

    It searches as the person types; Enter keeps the matches and goes to the note, Esc forgets them.

    Args:
        note: Where to find.
        id: The widget's id in the DOM.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "forget", "back", id="find.back", tooltip="End the search"),
        Binding("down,ctrl+n", "next", "next", id="find.next", tooltip="To the next match"),
        Binding("up", "previous", "previous", id="find.previous", tooltip="To the previous match"),
    ]

    DEFAULT_CSS = """
    FindLine { height: 1; padding: 0 1; background: $panel; }
    FindLine #prompt { width: 2; color: $text-accent; }
    FindLine Input { width: 1fr; background: $panel; }
    FindLine #count { width: auto; min-width: 12; text-align: right; }
    """

    def __init__(self, note: NoteView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._note = note

    def compose(self) -> ComposeResult:
        yield Static("/", id="prompt")
        yield Input(placeholder="Find in this note", compact=True)
        yield Static(id="count")

    def on_mount(self) -> None:
        self._hide_message(True)
        for line in self.query(Input):  # none if the program ends meanwhile
            line.focus()

    def on_unmount(self) -> None:
        self._hide_message(False)

    def _hide_message(self, is_hidden: bool) -> None:
        """Take the place of the message: a class of the screen would have everything on it styled anew."""
        self.screen.query("#message").set_class(is_hidden, "-finding")

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        event.stop()
        count = self._note.search(event.value)
        words = wording.format_count(count, "match", "matches") if event.value else ""
        self.query_one("#count", Static).update(Content(words))

    @on(Input.Submitted)
    def _keep_matches(self, event: Input.Submitted) -> None:
        event.stop()
        self._note.focus()
        self.remove()

    def action_forget(self) -> None:
        """Back to the note as it was."""
        self._note.search("")
        self._note.focus()
        self.remove()

    def action_next(self) -> None:
        self._note.action_match(1)

    def action_previous(self) -> None:
        self._note.action_match(-1)
