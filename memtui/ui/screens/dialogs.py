"""Dialogs: a question, a line of text, a menu, and lines to read."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Static

from memtui.core.unicode import to_one_line
from memtui.flows.dialog import Choice as Choice  # noqa: PLC0414 - the screens import it from here
from memtui.ui.key_names import ENTER, join_labels, label_key
from memtui.ui.theme import to_content

if TYPE_CHECKING:
    from memtui.ui.widgets.choice_list import ChoiceList

Result = TypeVar("Result")


class DismissOnceScreen(Screen[Result]):
    """A screen that closes only itself.

    Textual's `dismiss` closes the topmost screen. Of two keys that come at once, the first would close this screen, and
    the second the one below: an editor, with the text typed in it.
    """

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close, with an answer, if the screen is the topmost one.

        A screen that is not mounted yet is closed afterwards: before, it would look for widgets that never came.
        """
        if self.is_active and not self.is_mounted:
            self.call_later(self._dismiss_mounted, result)
            return AwaitComplete()
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def _dismiss_mounted(self, result: Result | None) -> None:
        self.dismiss(result)  # not awaited: a screen cannot wait for its own end


_ROWS = 3
"""Rows that a question may have."""


class ConfirmScreen(ModalScreen[bool], DismissOnceScreen[bool]):
    """Asks yes or no; only `y` is a yes, so that nothing is done by habit. The line `calm` says what a no means."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", id="ask.yes", tooltip="Yes, do it"),
        Binding("n,enter,escape,q", "answer(False)", "no", id="ask.no", tooltip="No, change nothing"),
    ]

    DEFAULT_CSS = """
    ConfirmScreen { background: transparent; layout: vertical; align: left bottom; }
    ConfirmScreen #question {
        height: auto; max-height: 3; padding: 0 1;
        background: $warning; color: $background; text-style: bold;
    }
    ConfirmScreen:ansi #question { color: ansi_black; background: ansi_yellow; }
    ConfirmScreen #calm { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, question: str, calm: str = "") -> None:
        super().__init__()
        self._question = to_one_line(question)
        self._calm = calm or f"{join_labels('ask.no')}: nothing is changed."

    def compose(self) -> ComposeResult:
        yield Static(id="question", markup=False)
        yield Static(Content(self._calm), id="calm")

    def on_resize(self) -> None:
        """However long the question, its answers are in sight."""
        width = self.size.width - 2
        answers = f"{label_key('ask.yes')} yes  {label_key('ask.no')} no"
        if cell_len(self._question) + 2 + len(answers) <= width:
            words = f"{self._question}  {answers}"
        else:
            is_wide = cell_len(self._question) > len(self._question)
            rows = textwrap.wrap(self._question, max(width // 2 if is_wide else width, 1))
            if len(rows) >= _ROWS:
                rows = [*rows[: _ROWS - 2], rows[_ROWS - 2][:-2] + ".."]
            words = "\n".join([*rows, answers])
        self.query_one("#question", Static).update(Content(words))

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class PromptScreen(ModalScreen[str | None], DismissOnceScreen[str | None]):
    """Asks for a line of text, and answers with it, or `None`; the hint below says what may be typed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "back", id="prompt.back", tooltip="Cancel")]

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
        with Horizontal(id="ask"):
            yield Static(Content(self._question + " "), id="question")
            yield Input(compact=True)
        yield Static(Content(self._hint), id="hint")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


CURRENT_MARK = "  (in use)"
"""Stands behind the answer that holds now."""


class MenuScreen(ModalScreen[str | None], DismissOnceScreen[str | None]):
    """Asks with a key for each answer, and answers with a choice's value, or `None`.

    Args:
        title: The question.
        choices: The answers.
        current: The value of the answer that holds now, which is marked and under the cursor.
    """

    CSS_PATH = "dialogs.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Back", id="menu.back", tooltip="Cancel")]

    def __init__(self, title: str, choices: Sequence[Choice], *, current: str | None = None) -> None:
        super().__init__()
        self._question = title
        self._choices = list(choices)
        self._current = current

    def compose(self) -> ComposeResult:
        marks = [CURRENT_MARK if each.value == self._current else "" for each in self._choices]
        rows = (
            Content.assemble(
                (f"{each.key:<3}", "bold $text-accent"), to_content(each.label), (mark, "$foreground-muted")
            )
            for each, mark in zip(self._choices, marks, strict=True)
        )
        from memtui.ui.widgets.choice_list import ChoiceList  # noqa: PLC0415 - first paint: an audit asks nothing in it

        options = ChoiceList(*rows, markup=False)
        options.border_title = to_content(self._question)
        options.border_subtitle = f"{ENTER} or its key chooses   {label_key('menu.back')} back"
        options.highlighted = next((at for at, mark in enumerate(marks) if mark), 0) if marks else None
        yield options

    def on_key(self, event: events.Key) -> None:
        """A choice's own key chooses it; so does its number, where that is no other one's key."""
        chosen = next((choice for choice in self._choices if choice.key and event.character == choice.key), None)
        if chosen is None and event.character and event.character in "123456789"[: len(self._choices)]:
            chosen = self._choices[int(event.character) - 1]
        if chosen is not None:
            event.stop()
            self.dismiss(chosen.value)

    def on_option_list_option_selected(self, event: "ChoiceList.OptionSelected") -> None:
        self.dismiss(self._choices[event.option_index].value)


class LinesScreen(ModalScreen[None], DismissOnceScreen[None]):
    """Shows lines, which may hold text from outside."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Back", id="lines.back", tooltip="Close")
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
        with VerticalScroll() as scroll:
            yield Static(Content("\n").join([to_content(line) for line in self._lines]))
        scroll.border_title = to_content(self._title)
        scroll.border_subtitle = f"{label_key('lines.back')} back"

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
