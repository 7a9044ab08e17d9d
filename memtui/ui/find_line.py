"""A line to find a text in the open note, as less and vim have it."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from memtui.ui.note.view import NoteView


class FindLine(Input):
    """Finds as the person types; Enter keeps the matches and goes to the note, Esc forgets them.

    Args:
        note: Where to find.
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "forget", "Back", id="find.back", tooltip="Forget the search"),
        Binding("down,ctrl+n", "next", "Next match", id="find.next", tooltip="To the next match", show=False),
        Binding("up", "previous", "Previous", id="find.previous", tooltip="To the previous match", show=False),
    ]

    def __init__(self, note: NoteView, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder="Find in this note", id=id, classes=classes, compact=True)
        self._note = note

    def on_mount(self) -> None:
        """Ready to type, where messages stand otherwise."""
        self.screen.add_class("-finding")
        self.focus()

    def on_unmount(self) -> None:
        """Give the line back."""
        self.screen.remove_class("-finding")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the matches of what has been typed by now."""
        event.stop()
        count = self._note.search(event.value)
        words = f"{count:,} {'match' if count == 1 else 'matches'}" if event.value else ""
        self.screen.query_one("KeyLine").refresh()
        self.tooltip = words or None
        self.border_title = words or None

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the matches: n and N go through them."""
        event.stop()
        self._note.focus()
        self.remove()

    def action_forget(self) -> None:
        """Back to the note as it was."""
        self._note.search("")
        self._note.focus()
        self.remove()

    def action_next(self) -> None:
        """To the next match."""
        self._note.next_match()

    def action_previous(self) -> None:
        """To the previous match."""
        self._note.previous_match()
