"""Find a command, or a theme, by typing a part of its name."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from memtui.ui.actions import Action, rank_actions
from memtui.ui.key_names import ENTER, label_key
from memtui.ui.screens.filtered_list import FilteredListScreen
from memtui.ui.theme import truncate
from memtui.ui.widgets.choice_list import ChoiceList

_NAME_WIDTH = 19


class CommandScreen(FilteredListScreen):
    """Finds a command, and answers with the id of its binding.

    Args:
        actions: What can be done, in the order in which it is listed.
        recent: The ids of those that were run here, the last one first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", id="commands.back", tooltip="Close without a command", priority=True)
    ]
    TITLE_WORDS, PLACEHOLDER, NOTHING = "Commands", "name or key", "No matching command."

    def __init__(self, actions: Sequence[Action], recent: Sequence[str]) -> None:
        super().__init__()
        self._actions = actions
        self._recent = recent

    def format_hint(self) -> str:
        return f"{ENTER} runs it   {label_key('commands.back')} back"

    def build_rows(self, query: str, width: int) -> Sequence[Option]:
        found = rank_actions(self._actions, query, self._recent)
        return [Option(_format_row(action, width), id=action.binding.id) for action in found]


def _format_row(action: Action, width: int) -> Content:
    """The name, the description and the keys, on one line."""
    keys = action.key_labels
    name = truncate(action.binding.description, _NAME_WIDTH)
    room = width - _NAME_WIDTH - cell_len(keys) - 2
    words = truncate(action.description, max(room, 0))
    gaps = " " * max(_NAME_WIDTH + 1 - cell_len(name), 1), " " * max(room - cell_len(words) + 1, 1)
    return Content.assemble((name, "bold"), gaps[0], words, gaps[1], (keys, "bold $text-accent"))


class ThemeScreen(FilteredListScreen):
    """Finds a theme, and answers with its name; the one under the cursor is shown at once.

    Args:
        themes: The names of the themes.
        current: The one that is in use.
        show: Uses a theme.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="themes.back", tooltip="Keep the earlier theme", priority=True)
    ]
    TITLE_WORDS, PLACEHOLDER, NOTHING = "Themes", "name", "No matching theme."

    def __init__(self, themes: Sequence[str], current: str, show: Callable[[str], object]) -> None:
        super().__init__()
        self._themes = themes
        self._current = current
        self._show = show

    def format_hint(self) -> str:
        return f"{ENTER} keeps it   {label_key('themes.back')} back"

    def build_rows(self, query: str, width: int) -> Sequence[Option]:
        words = query.casefold().split()
        names = [name for name in self._themes if all(word in name for word in words)]
        marks = ("* " if name == self._current else "  " for name in names)
        return [Option(Content(truncate(mark + name, width)), id=name) for mark, name in zip(marks, names, strict=True)]

    def on_option_list_option_highlighted(self, event: ChoiceList.OptionHighlighted) -> None:
        if event.option_id is not None and self.is_current:
            self._show(event.option_id)

    def action_leave(self) -> None:
        self._show(self._current)
        self.dismiss(None)
