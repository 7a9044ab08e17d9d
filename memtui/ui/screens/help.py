"""The keys: those of the focused pane first, then all others. Made from the bindings, so it cannot be wrong."""

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
from memtui.ui.screens.once import Once

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


class _Filter(Input):
    """Where the list is filtered; while it is empty, the keys that close other screens close this one as well."""

    def on_key(self, event: Key) -> None:
        """Move in the list, or close it."""
        if move := _MOVES.get(event.key):
            event.stop()
            event.prevent_default()
            getattr(self.screen.query_one(OptionList), f"action_{move}")()
        elif not self.value and event.character in ("q", "?"):
            event.stop()
            event.prevent_default()
            self.screen.dismiss(None)


class HelpScreen(ModalScreen[str | None], Once[str | None]):
    """Shows keys, and answers with the id of the binding that the person wants run.

    Args:
        groups: Headings with their actions.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss", "Back", id="help.back", tooltip="Close", priority=True),
    ]

    def __init__(self, groups: Sequence[tuple[str, Iterable[Action]]]) -> None:
        super().__init__()
        self._groups = [(heading, list(actions)) for heading, actions in groups]

    def compose(self) -> ComposeResult:
        """A line to filter with, and one line a key, under headings."""
        with Vertical(id="keys") as frame:
            frame.border_title = "Keys"
            frame.border_subtitle = "Type to filter   Enter runs one   Esc back"
            yield _Filter(placeholder="filter", compact=True)
            yield OptionList(markup=False)

    def on_resize(self, event: Resize) -> None:
        """Break the lines anew."""
        del event
        self.call_after_refresh(self._show)

    def on_input_changed(self) -> None:
        """Show what is left."""
        self._show()

    def on_input_submitted(self) -> None:
        """Run what is highlighted."""
        self.query_one(OptionList).action_select()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Run it."""
        self.dismiss(event.option_id)

    def _show(self) -> None:
        options = self.query_one(OptionList)
        words = self.query_one(Input).value.casefold().split()
        width = max(options.scrollable_content_region.width - 2, 20)
        rows: list[Option] = []
        for heading, actions in self._groups:
            found = [action for action in actions if _matches(action, words)]
            if found:
                rows.append(Option(Content.styled(heading, "bold $text-primary"), disabled=True))
                rows += [Option(_row(action, width), id=action.binding.id) for action in found]
        if not rows:
            rows.append(Option(Content("  Nothing that can be done here is called that."), disabled=True))
        options.clear_options()
        options.add_options(rows)
        options.highlighted = next((index for index, row in enumerate(rows) if not row.disabled), None)
        options.scroll_home(animate=False)


def _matches(action: Action, words: Sequence[str]) -> bool:
    """Whether an action is meant: each word in what it does, in its id or in its keys; a key alone as it is written."""
    said = f"{action.words} {action.binding.id} {action.binding.description} {action.shown_keys}".casefold()
    return all(word in said for word in words)


def _row(action: Action, width: int) -> Content:
    """The keys, what they do, and the id; words that do not fit go on below themselves."""
    keys = action.shown_keys
    id_width = _ID_WIDTH if width >= _WIDE else 0
    start = _INDENT + max(_KEYS_WIDTH, cell_len(keys) + 1)
    lines = list(_broken(action.words, max(width - start - id_width, 16)))
    first: list[str | tuple[str, str]] = [
        " " * _INDENT,
        (keys, "bold $text-accent"),
        " " * (start - _INDENT - cell_len(keys)),
        lines[0],
    ]
    if id_width:
        first.append(" " * max(width - id_width - start - cell_len(lines[0]) + 1, 1) + (action.binding.id or ""))
    return Content("\n").join([Content.assemble(*first), *(Content(" " * start + line) for line in lines[1:])])


def _broken(words: str, width: int) -> Iterator[str]:
    """The words, in lines of a width."""
    line = ""
    for word in words.split():
        if line and cell_len(line) + 1 + cell_len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}".lstrip()
    yield line
