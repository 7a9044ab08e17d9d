"""The help: the keys of the focused pane, then all others, made from their bindings."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Resize
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from memtui.ui.actions import Action
from memtui.ui.key_names import ENTER, label_key
from memtui.ui.screens.dialogs import DismissOnceScreen

_KEYS_WIDTH = 20
_INDENT = 2
_ID_WIDTH = 24
"""Columns for the id under which keys are changed in the settings, where there is room."""
_WIDE = 84
_MOVES = {
    "up": "cursor_up", "down": "cursor_down", "ctrl+p": "cursor_up", "ctrl+n": "cursor_down", "pageup": "page_up",
    "pagedown": "page_down",
}  # fmt: skip
"""Keys that move in the list while the filter has the focus."""


class _FilterInput(Input):
    """The filter of the list; while it is empty, `q` and `?` close the screen."""

    def on_key(self, event: Key) -> None:
        if move := _MOVES.get(event.key):
            event.stop()
            event.prevent_default()
            getattr(self.screen.query_one(OptionList), f"action_{move}")()
        elif not self.value and event.character in ("q", "?"):
            event.stop()
            event.prevent_default()
            self.screen.dismiss(None)


class HelpScreen(ModalScreen[str | None], DismissOnceScreen[str | None]):
    """Shows actions under headings, and answers with the id of the binding to run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss", "Back", id="help.back", tooltip="Close", priority=True)
    ]

    def __init__(self, groups: Sequence[tuple[str, Iterable[Action]]]) -> None:
        super().__init__()
        self._groups = [(heading, list(actions)) for heading, actions in groups]

    def compose(self) -> ComposeResult:
        with Vertical(id="keys") as frame:
            frame.border_title = "Keys"
            frame.border_subtitle = f"Type to filter   {ENTER} runs one   {label_key('help.back')} back"
            yield _FilterInput(placeholder="filter", compact=True)
            yield OptionList(markup=False)

    def on_resize(self, event: Resize) -> None:
        del event
        self.call_after_refresh(self._show_matches)

    def on_input_changed(self) -> None:
        self._show_matches()

    def on_input_submitted(self) -> None:
        self.query_one(OptionList).action_select()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def _show_matches(self) -> None:
        options = self.query_one(OptionList)
        words = self.query_one(Input).value.casefold().split()
        width = max(options.scrollable_content_region.width - 2, 20)
        rows: list[Option] = []
        for heading, actions in self._groups:
            found = [action for action in actions if _is_match(action, words)]
            if found:
                rows.append(Option(Content.styled(heading, "bold $text-primary"), disabled=True))
                rows += [Option(_format_row(action, width), id=action.binding.id) for action in found]
        if not rows:
            rows.append(Option(Content("  Nothing that can be done here is called that."), disabled=True))
        options.clear_options()
        options.add_options(rows)
        options.highlighted = next((index for index, row in enumerate(rows) if not row.disabled), None)
        options.scroll_home(animate=False)


def _is_match(action: Action, words: Sequence[str]) -> bool:
    """Whether each word is in the description, the id or the keys of an action."""
    text = f"{action.description} {action.binding.id} {action.binding.description} {action.key_labels}".casefold()
    return all(word in text for word in words)


def _format_row(action: Action, width: int) -> Content:
    """The keys, the description, which is wrapped in its column, and the id."""
    keys = action.key_labels
    id_width = _ID_WIDTH if width >= _WIDE else 0
    start = _INDENT + max(_KEYS_WIDTH, cell_len(keys) + 1)
    lines = list(_wrap_words(action.description, max(width - start - id_width, 16)))
    gap = " " * max(width - id_width - start - cell_len(lines[0]) + 1, 1)
    name = f"{gap}{action.binding.id or ''}" if id_width else ""
    before, after = " " * _INDENT, " " * (start - _INDENT - cell_len(keys))
    first = Content.assemble(before, (keys, "bold $text-accent"), after, lines[0], name)
    return Content("\n").join([first, *(Content(" " * start + line) for line in lines[1:])])


def _wrap_words(words: str, width: int) -> Iterator[str]:
    """The words, in lines of a width."""
    line = ""
    for word in words.split():
        if line and cell_len(line) + 1 + cell_len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}".lstrip()
    yield line
