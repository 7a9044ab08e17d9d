"""A question on the message line, while everything that it is about stays on screen."""

import textwrap
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from memtui.core.visible import one_line
from memtui.ui.screens.once import Once

_ANSWERS = "y yes  n no"
_ROWS = 3
"""Rows that a question may have."""


class AskScreen(ModalScreen[bool], Once[bool]):
    """Asks yes or no. Only `y` is a yes; Enter is a no, so that nothing is done by habit.

    Args:
        question: In one sentence.
        calm: What the line below says.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", id="ask.yes", tooltip="Yes, do it"),
        Binding("n,enter,escape,q", "answer(False)", "no", id="ask.no", tooltip="No, leave everything as it is"),
    ]

    DEFAULT_CSS = """
    AskScreen { background: transparent; layout: vertical; align: left bottom; }
    AskScreen #question {
        height: auto; max-height: 3; padding: 0 1;
        background: $warning; color: $background; text-style: bold;
    }
    AskScreen #calm { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, question: str, calm: str = "Enter, Esc or n: everything stays as it is.") -> None:
        super().__init__()
        self._question = one_line(question)
        self._calm = calm

    def compose(self) -> ComposeResult:
        """The question where messages stand, and below it what a no means."""
        yield Static(id="question", markup=False)
        yield Static(Content(self._calm), id="calm")

    def on_resize(self) -> None:
        """However long the question, its answers are in sight."""
        width = self.size.width - 2
        if cell_len(self._question) + 2 + len(_ANSWERS) <= width:
            words = f"{self._question}  {_ANSWERS}"
        else:
            is_wide = cell_len(self._question) > len(self._question)
            rows = textwrap.wrap(self._question, max(width // 2 if is_wide else width, 1))
            if len(rows) >= _ROWS:
                rows = [*rows[: _ROWS - 2], rows[_ROWS - 2][:-2] + ".."]
            words = "\n".join([*rows, _ANSWERS])
        self.query_one("#question", Static).update(Content(words))

    def action_answer(self, answer: bool) -> None:
        """Tell the one who asked."""
        self.dismiss(answer)


class PromptScreen(ModalScreen[str | None], Once[str | None]):
    """Asks for a line of text, and answers with it, or `None` if the person turned away.

    Args:
        question: In a few words.
        hint: What may be typed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "back", id="prompt.back", tooltip="Back without an answer"),
    ]

    DEFAULT_CSS = """
    PromptScreen { background: transparent; layout: vertical; align: left bottom; }
    PromptScreen #ask { height: 1; padding: 0 1; background: $panel; }
    PromptScreen #question { width: auto; color: $text-accent; text-style: bold; }
    PromptScreen Input { width: 1fr; background: $panel; }
    PromptScreen #hint { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, question: str, hint: str) -> None:
        super().__init__()
        self._question = question
        self._hint = hint

    def compose(self) -> ComposeResult:
        """The line, and below it what may be typed."""
        with Horizontal(id="ask"):
            yield Static(Content(self._question + " "), id="question")
            yield Input(compact=True)
        yield Static(Content(self._hint), id="hint")

    def on_mount(self) -> None:
        """Ready to type."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """That is the answer."""
        self.dismiss(event.value.strip())
