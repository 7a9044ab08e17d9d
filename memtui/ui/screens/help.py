"""The keys: those of the focused pane first, then all others. Made from the bindings, so it cannot be wrong."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.ui.actions import Action

_KEYS_WIDTH = 22


class HelpScreen(ModalScreen[str | None]):
    """Shows keys, and answers with the id of the binding that the person wants run.

    Args:
        groups: Headings with their actions.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Back", id="help.back", tooltip="Close"),
    ]

    def __init__(self, groups: Sequence[tuple[str, Iterable[Action]]]) -> None:
        super().__init__()
        self._groups = [(heading, list(actions)) for heading, actions in groups]

    def compose(self) -> ComposeResult:
        """One line a key, under headings."""
        rows: list[Option] = []
        for heading, actions in self._groups:
            if actions:
                rows.append(Option(Content.styled(heading, "bold $text-primary"), disabled=True))
            for action in actions:
                keys = action.shown_keys
                gap = " " * max(_KEYS_WIDTH - cell_len(keys), 1)
                row = Content.assemble("  ", (keys, "bold $text-accent"), gap, action.words)
                rows.append(Option(row, id=action.binding.id))
        options = OptionList(*rows, markup=False)
        options.border_title = "Keys"
        options.border_subtitle = "Enter runs one   Esc back"
        yield options

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Run it."""
        self.dismiss(event.option_id)
