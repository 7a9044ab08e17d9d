"""The observations of a folder or of a note, as a table that is filtered and sorted."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.flows.dialog import Choice
from memtui.knowledge.observations import (
    SORT_KEYS,
    NotedObservation,
    SortKey,
    collect_observations,
    parse_observation_filter,
    sort_observations,
)
from memtui.knowledge.source import GraphStopped
from memtui.ui.key_names import label_key
from memtui.ui.messages import report_errors
from memtui.ui.screens.dialogs import MenuScreen
from memtui.ui.screens.graph_base import GraphOverlayScreen, OpenAt
from memtui.ui.widgets.observations import ObservationView


class ObservationScreen(GraphOverlayScreen):
    """What notes state.

    Args:
        path: The note whose observations are shown; `None` for those of all notes.
        title: The folder's title.
        open_at: Leaves for the files.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "narrow", "filter", id="observations.narrow", tooltip="Filter by category, tag, note, words"),
        Binding("comma", "sort", "sort", id="observations.sort", tooltip="Sort by note, category, tag or time"),
        Binding("escape,O,q", "leave", "back", id="observations.leave", tooltip="Clear the filter, or go back"),
    ]

    AUTO_FOCUS = "#observations"  # a key that is typed at once is none of the filter's text
    LIVE = "OBSERVATIONS"
    LEAVE = "observations.leave"
    PLACEHOLDER = "category:  tag:  note:  or words"

    listed = getters.query_one(ObservationView)

    @dataclass(eq=False)
    class _ObservationsRead(Message):
        found: Sequence[NotedObservation]
        again: bool

    def __init__(self, engine: Engine, *, title: str, open_at: OpenAt | None = None, path: str | None = None) -> None:
        super().__init__(engine, title=title, open_at=open_at)
        self._path = path
        self._found: Sequence[NotedObservation] = ()
        self._sort: SortKey = "note"

    def compose_body(self) -> Iterator[Widget]:
        with Horizontal(id="body"):
            yield ObservationView(id="observations", classes="pane")

    def focus_list(self) -> None:
        self.listed.focus()

    def read(self, *, again: bool = False) -> None:
        self._read_in_thread(again)

    @work(thread=True, exclusive=True, group="observations", exit_on_error=False)
    def _read_in_thread(self, again: bool) -> None:
        worker = get_current_worker()
        with report_errors(self.post_message), self.progress.measure_read():
            try:
                found = self._engine.knowledge.query(
                    lambda graph: collect_observations(graph, self._path), stop=lambda: worker.is_cancelled
                )
            except GraphStopped:
                return
            if not worker.is_cancelled:
                self.post_message(self._ObservationsRead(found, again))

    @on(_ObservationsRead)
    def _show_found(self, message: _ObservationsRead) -> None:
        self._found, self._is_loaded = message.found, True
        words = f"{label_key('observations.open')} opens the note, {label_key('observations.sort')} sorts."
        where = f"{to_one_line(self._path)}. " if self._path is not None else ""
        self.progress.show_state(f"{where}{words}" if message.found else f"{where}No observations.")
        self._apply_filter()

    @on(Input.Changed)
    def _apply_filter(self) -> None:
        wanted = parse_observation_filter(self.typed)
        shown = sort_observations((each for each in self._found if wanted.accepts(each)), self._sort)
        total = format_count(len(self._found), "observation")
        self.show_count(total if len(shown) == len(self._found) else f"{len(shown):,} of {total}")
        notice = ("", "No matches.") if self._found else ("", "No observations.", "- [category] what is so #tag")
        self.listed.show(shown, notice=notice if self._is_loaded and self.progress.is_scanned else ())

    @on(ObservationView.Highlighted)
    def _show_titles(self) -> None:
        row, total = self.listed.position
        name = "Observations" if self._path is None else f"Observations of {to_one_line(self._path)}"
        self._titles.set_title(self.listed, f"{name}  by {self._sort}", f"{row:,} of {total:,}" if total else "")

    @on(ObservationView.Opened)
    def _open(self, message: ObservationView.Opened) -> None:
        if isinstance(message.item, NotedObservation):
            self.open_in_files(message.item.path, message.item.observation.line)

    @work(exclusive=True, group="sort")
    async def action_sort(self) -> None:
        choices = [Choice(key[0], f"by {key}", key) for key in SORT_KEYS]
        chosen = await self.app.push_screen_wait(MenuScreen("Sort the observations", choices, current=self._sort))
        self._sort = next((key for key in SORT_KEYS if key == chosen), self._sort)
        self._apply_filter()
        self._show_titles()
