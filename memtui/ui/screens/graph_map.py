"""The map of a folder: all notes and their links at once, to walk, search and enlarge."""

from collections.abc import Iterator
from typing import ClassVar

from rich.cells import cell_len
from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.knowledge.layout import GraphLayout, LinkedNotes, lay_out, read_linked_notes
from memtui.knowledge.neighbours import parse_filter
from memtui.knowledge.source import GraphStopped
from memtui.ui.messages import report_errors
from memtui.ui.screens.graph_base import GraphOverlayScreen, OpenAt
from memtui.ui.screens.neighbourhood import NeighbourhoodScreen
from memtui.ui.widgets.graph_map import COLORS, GraphMap

_LONGEST_TYPE = 16
_REST_WIDTH = 17
"""Cells for the number of other notes."""


class MapScreen(GraphOverlayScreen):
    """A map of the notes of a folder.

    Args:
        title: The folder's title.
        open_at: Leaves for the files.
        path: The note at which the cursor begins.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "narrow", "filter", id="map.narrow", tooltip="Filter by type, folder and words"),
        Binding("o", "open_note", "open", id="map.open_note", tooltip="Open the note in the files"),
        Binding("escape,m,q", "leave", "back", id="map.leave", tooltip="Clear the filter, or go back"),
    ]

    AUTO_FOCUS = "#map"
    LIVE = "MAP"
    LEAVE = "map.leave"
    PLACEHOLDER = "type:  folder:  or words"

    DEFAULT_CSS = """
    MapScreen {
        & #body { height: 1fr; }
        & #legend { height: 1; padding: 0 1; background: $panel; }
    }
    """

    map = getters.query_one("#map", GraphMap)

    @dataclass(eq=False)
    class _MapRead(Message):
        notes: LinkedNotes
        layout: GraphLayout
        again: bool

    def __init__(self, engine: Engine, *, title: str, open_at: OpenAt | None = None, path: str = "") -> None:
        super().__init__(engine, title=title, open_at=open_at)
        self._notes = LinkedNotes({}, {}, ())
        self._first_path = path

    def compose_body(self) -> Iterator[Widget]:
        with Vertical(id="body"):
            yield GraphMap(id="map", classes="pane")
            yield Static(id="legend", markup=False)

    def focus_list(self) -> None:
        self.map.focus()

    def read(self, *, again: bool = False) -> None:
        self._read_in_thread(again)

    @work(thread=True, exclusive=True, group="map", exit_on_error=False)
    def _read_in_thread(self, again: bool) -> None:
        worker = get_current_worker()
        with report_errors(self.post_message), self.progress.measure_read():
            try:
                notes = self._engine.knowledge.query(read_linked_notes, stop=lambda: worker.is_cancelled)
                if again and notes == self._notes and notes.titles:
                    return
                layout = lay_out(notes, stop=lambda: worker.is_cancelled)
            except GraphStopped:
                return
            if not worker.is_cancelled:
                self.post_message(self._MapRead(notes, layout, again))

    @on(_MapRead)
    def _show_map(self, message: _MapRead) -> None:
        self._notes, self._is_loaded = message.notes, True
        self.map.show(message.notes, message.layout, path="" if message.again else self._first_path)
        self._apply_filter()
        notes, links = len(message.notes.titles), len(message.notes.links)
        self.show_count(f"{format_count(notes, 'note')}  {format_count(links, 'link')}")
        self.query_one("#legend", Static).update(self._format_legend())

    def _format_legend(self) -> Content:
        """The types, each in its colour, with how many notes are of it."""
        counts = self.map.count_types()
        parts, left = list[Content](), counts.copy()
        room = self.size.width - _REST_WIDTH
        for number, (name, count) in enumerate(counts[:COLORS]):
            words = f"{to_one_line(name)[:_LONGEST_TYPE]} {count:,}   "
            room -= cell_len(words) + 2
            if not name or room < 0:
                break
            parts.append(Content.styled("⣿ ", self.map.get_visual_style(f"map--type{number}", partial=True)) + words)
            del left[0]
        rest = sum(count for _, count in left)
        words = f"{'others' if any(name for name, _ in left) else 'no type'} {rest:,}"
        return Content("").join([*parts, Content(f"⣿ {words}" if rest else "")])

    @on(Input.Changed)
    def _apply_filter(self) -> None:
        typed = parse_filter(self.typed)
        if not self.typed.strip():
            self.map.mark(None)
            self._show_note()
            return
        types, folder = typed.wanted.types, typed.wanted.folder
        found = [
            path
            for path, title in self._notes.titles.items()
            if (not types or self._notes.types.get(path, "") in types)
            and (not folder or path.startswith(f"{folder}/"))
            and all(word in f"{path} {title}".casefold() for word in typed.words)
        ]
        self.map.mark(found)
        self.message.show_message(f"{format_count(len(found), 'note')} found." if found else "No matches.")

    @on(GraphMap.Moved)
    def _show_note(self) -> None:
        path = self.map.path
        self._titles.set_title(self.map, "Map", to_one_line(self._notes.types.get(path, "")))
        if not path:
            if self._is_loaded:
                self.message.show_message(self.progress.qualify("There are no notes here."))
            return
        linked = format_count(len(self.map.neighbours), "note")
        words = f"linked with {linked}" if self.map.neighbours else "no links"
        self.message.show_message(f"{to_one_line(self._notes.titles[path])}  {to_one_line(path)}  {words}")

    @on(GraphMap.Opened)
    def _follow(self, message: GraphMap.Opened) -> None:
        title, open_at = self._folder, self._open_at
        self.app.push_screen(NeighbourhoodScreen(self._engine, message.path, title=title, open_at=open_at))

    def action_open_note(self) -> None:
        self.open_in_files(self.map.path, None)
