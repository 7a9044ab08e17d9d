"""The help: the keys of the focused pane, then all others, made from their bindings."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from memtui.ui.actions import Action, rank_action
from memtui.ui.key_names import ENTER, label_key
from memtui.ui.screens.filtered_list import FilteredListScreen

_KEYS_WIDTH = 20
_INDENT = 2
_ID_WIDTH = 24
"""Columns for the id under which keys are changed in the settings, where there is room."""
_WIDE = 84


class HelpScreen(FilteredListScreen):
    """Shows actions under headings, and answers with the id of the binding to run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss", "Back", id="help.back", tooltip="Close", priority=True)
    ]
    TITLE_WORDS, CLOSING, NOTHING = "Keys", "q?", "Nothing that can be done here is called that."

    def __init__(self, groups: Sequence[tuple[str, Iterable[Action]]]) -> None:
        super().__init__()
        self._groups = [(heading, list(actions)) for heading, actions in groups]

    def format_hint(self) -> str:
        return f"Type to filter   {ENTER} runs one   {label_key('help.back')} back"

    def build_rows(self, query: str, width: int) -> Sequence[Option]:
        rows: list[Option] = []
        for heading, actions in self._groups:
            found = [action for action in actions if rank_action(action, query) is not None]
            if found:
                rows.append(Option(Content.styled(heading, "bold $text-primary"), disabled=True))
                rows += [Option(_format_row(action, width), id=action.binding.id) for action in found]
        return rows


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
