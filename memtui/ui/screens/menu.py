"""A short question with a key for each answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.ui.screens.once import Once
from memtui.ui.text import content


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer.

    Attributes:
        key: The character that chooses it.
        label: What it is, in a few words.
        value: What the asker gets.
    """

    key: str
    label: str
    value: str


class MenuScreen(ModalScreen[str | None], Once[str | None]):
    """Asks, and answers with a choice's value, or `None` if the person turned away.

    Args:
        title: The question.
        choices: The answers.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Back", id="menu.back", tooltip="Close without choosing"),
    ]

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._question = title
        self._choices = list(choices)

    def compose(self) -> ComposeResult:
        """The answers as a list."""
        rows = (
            Content.assemble((f"{each.key:<3}", "bold $text-accent"), content(each.label)) for each in self._choices
        )
        options = OptionList(*(Option(row) for row in rows), markup=False)
        options.border_title = content(self._question)
        options.border_subtitle = "Enter or its key chooses   Esc back"
        options.highlighted = 0 if self._choices else None
        yield options

    def on_key(self, event: events.Key) -> None:
        """A choice's own key chooses it; so does its number, where that is no other one's key."""
        chosen = next((choice for choice in self._choices if choice.key and event.character == choice.key), None)
        if chosen is None and event.character and event.character in "123456789"[: len(self._choices)]:
            chosen = self._choices[int(event.character) - 1]
        if chosen is not None:
            event.stop()
            self.dismiss(chosen.value)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click chooses."""
        self.dismiss(self._choices[event.option_index].value)
