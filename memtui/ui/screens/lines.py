"""Some lines to read, over whatever is below."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memtui.ui.screens.once import Once
from memtui.ui.text import content


class LinesScreen(ModalScreen[None], Once[None]):
    """Shows lines.

    Args:
        title: What they are.
        lines: They may hold text from outside.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Back", id="lines.back", tooltip="Close"),
    ]

    DEFAULT_CSS = """
    LinesScreen { align: center middle; background: $background 60%; }
    LinesScreen VerticalScroll {
        width: 92; max-width: 96%; height: auto; max-height: 80%; padding: 0 1; background: $surface;
        border: round $accent; border-title-color: $text-accent; border-title-style: bold;
        border-subtitle-color: $foreground; scrollbar-size-vertical: 1;
    }
    LinesScreen Static { height: auto; }
    """

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        """The lines, as far as there is room; the rest is scrolled to."""
        with VerticalScroll() as scroll:
            yield Static(Content("\n").join([content(line) for line in self._lines]))
        scroll.border_title = content(self._title)
        scroll.border_subtitle = "Esc back"

    def on_mount(self) -> None:
        """Ready to scroll."""
        self.query_one(VerticalScroll).focus()
