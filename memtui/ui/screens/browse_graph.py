"""Opens what notes say to each other: the neighbourhood of a note, and the graph of the folder."""

from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType

from memtui.core.events import EntryKind
from memtui.ui.screens.browse_note import NoteController
from memtui.ui.screens.folder import FolderController, FolderScreen


class GraphController(FolderController):
    """Opens the links of the note under the cursor. `g` and `G` are the ends of every list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w,colon_links", "neighbourhood", "links", id="browse.links",
                tooltip="Links to and from the note, mentions, dangling names", show=False),
        Binding("W,colon_graph", "graph", "graph", id="browse.graph",
                tooltip="Graph of the folder: orphans, hubs, islands, dangling links, cycles", show=False),
        Binding("O,colon_observations", "observations", "observations", id="browse.observations",
                tooltip="Observations of all notes, to filter and sort", show=False),
        Binding("colon_map", "map", "map", id="browse.map",
                tooltip="All notes and links as a map", show=False),
        Binding("colon_suggest", "suggest", "suggestions", id="browse.suggest",
                tooltip="What to link, index, categorise, merge and split", show=False),
    ]  # fmt: skip

    def __init__(self, screen: FolderScreen, note: NoteController) -> None:
        super().__init__(screen)
        self._note = note

    def action_neighbourhood(self) -> None:
        engine, path = self.get_engine(), self.files.cursor_path
        if engine is None or path is None:
            return
        from memtui.ui.screens.neighbourhood import NeighbourhoodScreen  # noqa: PLC0415 - start-up: loads the graph

        entry = self.files.outline.get(path)
        if entry is not None and entry.kind is EntryKind.DIRECTORY:
            path = f"{path}/"
        self.app.push_screen(NeighbourhoodScreen(engine, path, title=self.screen.folder_title, open_at=self._open_at))

    def action_graph(self) -> None:
        if (engine := self.get_engine()) is not None:
            from memtui.ui.screens.graph import GraphScreen  # noqa: PLC0415 - start-up: loads the graph

            self.app.push_screen(GraphScreen(engine, title=self.screen.folder_title, open_at=self._open_at))

    def action_observations(self) -> None:
        if (engine := self.get_engine()) is not None:
            from memtui.ui.screens.observations import ObservationScreen  # noqa: PLC0415 - start-up: loads the graph

            self.app.push_screen(ObservationScreen(engine, title=self.screen.folder_title, open_at=self._open_at))

    def action_map(self) -> None:
        if (engine := self.get_engine()) is not None:
            from memtui.ui.screens.graph_map import MapScreen  # noqa: PLC0415 - start-up: loads the graph

            path, title = self.files.cursor_path or "", self.screen.folder_title
            self.app.push_screen(MapScreen(engine, title=title, open_at=self._open_at, path=path))

    def action_suggest(self) -> None:
        if (engine := self.get_engine()) is not None:
            from memtui.ui.screens.suggestions import SuggestionScreen  # noqa: PLC0415 - start-up: loads the graph

            self.app.push_screen(SuggestionScreen(engine, title=self.screen.folder_title, open_at=self._open_at))

    def _open_at(self, path: str, line: int | None) -> None:
        """Close the screens above the files, and go to a note."""
        for screen in reversed(self.app.screen_stack):
            if screen is self.screen:
                break
            self.app.pop_screen()
        self.screen.call_after_refresh(partial(self._note.open_at, path, line, ""))
