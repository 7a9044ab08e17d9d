"""The help: the keys that matter most where one is, then all others in groups, made from their bindings."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from memtui.ui.actions import Action, rank_action
from memtui.ui.key_names import ENTER, label_key
from memtui.ui.screens.filtered_list import FilteredListScreen

_MOST_USED = 10
_GROUPS = {
    "Look": ("files.", "note.", "diff.", "find.", "activity.", "browse.find", "browse.details", "browse.copy",
             "browse.follow", "browse.next_change", "browse.previous_change", "browse.mark", "browse.link"),
    "Change": ("file.", "edit.", "note.edit", "line.", "names.", "conflict.", "merge."),
    "Undo and history": ("browse.undo", "browse.redo", "browse.diff", "browse.history", "browse.past", "browse.deleted",
                         "browse.restore_loss", "browse.dismiss_loss", "history.", "versions.", "past.", "deleted."),
    "Agents and audit": ("browse.chat", "browse.answer", "browse.audit", "browse.review", "browse.origin", "chat.",
                         "question.", "audit.", "review."),
    "Move": ("rows.", "lines.", "text."),
    "Window": ("",),
}  # fmt: skip
"""Headings, each with the beginnings of the ids below it; the longest beginning decides."""
_KEYS_WIDTH, _NARROW_KEYS_WIDTH = 20, 12
_INDENT = 2
_ID_WIDTH = 24
"""Columns for the id under which keys are changed in the settings, where there is room."""
_WIDE = 84


class HelpScreen(FilteredListScreen):
    """Shows actions under headings, and answers with the id of the binding to run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss", "Back", id="help.back", tooltip="Close", priority=True)
    ]
    TITLE_WORDS, CLOSING, NOTHING = "Keys", "q?", "No matching key."

    def __init__(self, actions: Iterable[Action]) -> None:
        super().__init__()
        self._groups = group_actions(actions)

    def format_hint(self) -> str:
        return f"Type to filter   {ENTER} runs it   {label_key('help.back')} back"

    def build_rows(self, query: str, width: int) -> Sequence[Option]:
        rows: list[Option] = []
        for heading, actions in self._groups:
            found = [action for action in actions if rank_action(action, query) is not None]
            if found:
                if rows:
                    rows.append(Option("", disabled=True))
                rows.append(Option(Content.styled(heading, "bold $text-primary"), disabled=True))
                rows += [
                    Option(_format_row(action, width, with_id=bool(query)), id=action.binding.id) for action in found
                ]
        return rows


def group_actions(actions: Iterable[Action]) -> list[tuple[str, list[Action]]]:
    """Actions below headings: first those that the key line shows first, then the others by what they are for."""
    actions = list(actions)
    first = [action for action in actions if action.binding.show][:_MOST_USED]
    groups: dict[str, list[Action]] = {"Most used here": first, **{heading: [] for heading in _GROUPS}}
    for action in actions:
        if action not in first:
            groups[_find_group(action.binding.id or "")].append(action)
    return [(heading, found) for heading, found in groups.items() if found]


def _find_group(name: str) -> str:
    begins = (
        (len(start), heading) for heading, starts in _GROUPS.items() for start in starts if name.startswith(start)
    )
    return max(begins)[1]


def _format_row(action: Action, width: int, *, with_id: bool) -> Content:
    """The keys, the description, which is wrapped in its column, and the id for the settings if it is asked for."""
    keys = action.key_labels
    id_width = _ID_WIDTH if with_id and width >= _WIDE else 0
    least = _KEYS_WIDTH if width >= _WIDE else _NARROW_KEYS_WIDTH
    start = _INDENT + max(least, cell_len(keys) + 1)
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
