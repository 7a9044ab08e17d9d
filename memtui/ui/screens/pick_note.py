"""Pick a note by typing a part of its path."""

import time
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from memtui.core.unicode import to_one_line
from memtui.search.names import NameIndex
from memtui.search.query import InvalidQuery, parse_query
from memtui.ui.key_names import ENTER, label_key
from memtui.ui.screens.filtered_list import FilteredListScreen
from memtui.ui.theme import truncate

_MOST = 200


class PickNoteScreen(FilteredListScreen):
    """Finds a note, and answers with its path.

    Args:
        question: The title.
        does: What Enter does with the note, such as `merges into it`.
        paths: Of the notes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", id="pick.back", tooltip="Close without a note", priority=True)
    ]
    TITLE_WORDS, PLACEHOLDER, NOTHING = "Notes", "name of a note", "No matching note."

    def __init__(self, question: str, does: str, paths: Iterable[str]) -> None:
        super().__init__()
        self._question = question
        self._does = does
        self._paths = sorted(paths, key=str.casefold)
        self._names = NameIndex(self._paths)

    def on_mount(self) -> None:
        self.query_one("#keys").border_title = self._question

    def format_hint(self) -> str:
        return f"{ENTER} {self._does}   {label_key('pick.back')} back"

    def build_rows(self, query: str, width: int) -> Sequence[Option]:
        try:
            parsed = parse_query(query, now_us=time.time_ns() // 1_000)
        except InvalidQuery:
            return []
        paths = [hit.path for hit in self._names.find(parsed, limit=_MOST).hits] if query.strip() else self._paths
        return [Option(Content(truncate(to_one_line(path), width)), id=path) for path in paths[:_MOST]]
