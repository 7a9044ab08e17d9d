"""The graph of a folder: orphans, hubs, islands, dangling and ambiguous links, cycles, each a list to walk into."""

from collections.abc import Iterator, Mapping
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
from memtui.knowledge.graph import Graph
from memtui.knowledge.neighbours import parse_filter
from memtui.knowledge.source import GraphStopped
from memtui.knowledge.summary import GraphSummary, summarize_graph
from memtui.ui.messages import report_errors
from memtui.ui.screens.graph_base import GraphOverlayScreen, OpenAt
from memtui.ui.screens.graph_map import MapScreen
from memtui.ui.screens.neighbourhood import NeighbourhoodScreen
from memtui.ui.screens.observations import ObservationScreen
from memtui.ui.screens.suggestions import SuggestionScreen
from memtui.ui.widgets.graph_groups import GROUPS, MEANINGS, GroupView, build_group_rows, count_groups
from memtui.ui.widgets.neighbours import NeighbourRow, NeighbourView, filter_rows


class GraphScreen(GraphOverlayScreen):
    """The graph of a folder in groups."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "narrow", "filter", id="graph.narrow", tooltip="Filter by type, folder and words"),
        Binding("m", "map", "map", id="graph.map", tooltip="All notes and links as a map"),
        Binding("o", "open_note", "open", id="graph.open_note", tooltip="Open the note in the files"),
        Binding("O", "observations", "observations", id="graph.observations", tooltip="Observations of all notes"),
        Binding("s", "suggest", "suggest", id="graph.suggest", tooltip="What to link, index, categorise, merge, split"),
        Binding("tab", "app.focus_next", "next pane", id="graph.next", tooltip="To the next pane", show=False),
        Binding("shift+tab", "app.focus_previous", "previous pane", id="graph.previous",
                tooltip="To the previous pane", show=False),
        Binding("escape,W,q", "leave", "back", id="graph.leave", tooltip="Clear the filter, or go back"),
    ]  # fmt: skip

    AUTO_FOCUS = "#groups"  # a key that is typed at once is none of the filter's text
    LIVE = "GRAPH"
    LEAVE = "graph.leave"
    PLACEHOLDER = "type:  folder:  or words"

    DEFAULT_CSS = """
    GraphScreen {
        & #body > #groups { width: 26; }
        &.-wide #body > #groups { width: 34; }
    }
    """

    groups = getters.query_one("#groups", GroupView)
    listed = getters.query_one("#listed", NeighbourView)

    @dataclass(eq=False)
    class _SummaryRead(Message):
        summary: GraphSummary
        types: Mapping[str, str]
        again: bool

    def __init__(self, engine: Engine, *, title: str, open_at: OpenAt | None = None) -> None:
        super().__init__(engine, title=title, open_at=open_at)
        self._summary: GraphSummary | None = None
        self._types: Mapping[str, str] = {}
        self._group = ""

    def compose_body(self) -> Iterator[Widget]:
        with Horizontal(id="body"):
            yield GroupView(id="groups", classes="pane")
            yield NeighbourView(id="listed", classes="pane")

    def focus_list(self) -> None:
        self.listed.focus()

    def read(self, *, again: bool = False) -> None:
        self._read_in_thread(again)

    @work(thread=True, exclusive=True, group="graph", exit_on_error=False)
    def _read_in_thread(self, again: bool) -> None:
        worker, source = get_current_worker(), self._engine.knowledge
        rule = self._engine.dialect.get_rule

        def build(graph: Graph) -> tuple[GraphSummary, Mapping[str, str]]:
            summary = summarize_graph(graph, lambda path: bool(rule(path).loads), source.read_text)
            return summary, {note.path: note.type for note in graph.notes if note.type}

        with report_errors(self.post_message), self.progress.measure_read():
            try:
                summary, types = source.query(build, stop=lambda: worker.is_cancelled)
            except GraphStopped:
                return
            if not worker.is_cancelled:
                self.post_message(self._SummaryRead(summary, types, again))

    @on(_SummaryRead)
    def _show_summary(self, message: _SummaryRead) -> None:
        self._summary, self._types, self._is_loaded = message.summary, message.types, True
        self.groups.show(count_groups(message.summary))
        self._show_group(keep=message.again)
        roots = ", ".join(map(to_one_line, message.summary.roots[:3]))
        self.progress.show_state(f"Reached from {roots}." if roots else "Nothing loads in each session here.")
        notes, links = message.summary.notes, message.summary.links
        self.show_count(f"{format_count(notes, 'note')}  {format_count(links, 'link')}")

    @on(GroupView.Highlighted, "#groups")
    def _show_highlighted(self) -> None:
        here = self.groups.cursor_item
        if here is not None and here.name != self._group:
            self._group = here.name
            self._show_group(keep=False)

    @on(GroupView.Opened, "#groups")
    def _enter_group(self) -> None:
        self.listed.focus()

    @on(Input.Changed)
    def _apply_filter(self) -> None:
        self._show_group(keep=False)

    def _show_group(self, *, keep: bool) -> None:
        if self._summary is None or not self._group:
            return
        typed = parse_filter(self.typed)
        types, folder = typed.wanted.types, typed.wanted.folder
        rows = filter_rows(build_group_rows(self._summary, self._group, self._types), typed.words)
        if types or folder:
            rows = [row for row in rows if isinstance(row, NeighbourRow) and self._is_wanted(row.path, types, folder)]
        notice = "No matches." if self.typed else "None." if self.progress.is_scanned else ""
        self.listed.show(rows, keep=keep, notice=("", f"{MEANINGS[self._group]}:", notice))
        self._show_titles()

    def _is_wanted(self, path: str, types: frozenset[str], folder: str) -> bool:
        return (not types or self._types.get(path, "") in types) and (not folder or path.startswith(f"{folder}/"))

    @on(NeighbourView.Highlighted, "#listed")
    def _show_titles(self) -> None:
        self._titles.set_title(self.groups, "Graph")
        row, total = self.listed.position
        title = f"{GROUPS.get(self._group, '')}: {MEANINGS.get(self._group, '').lower()}"
        self._titles.set_title(self.listed, title, f"{row:,} of {total:,}" if total else "")

    @on(NeighbourView.Opened, "#listed")
    def _follow(self, message: NeighbourView.Opened) -> None:
        row = message.item
        if isinstance(row, NeighbourRow):
            title, open_at = self._folder, self._open_at
            self.app.push_screen(NeighbourhoodScreen(self._engine, row.path, title=title, open_at=open_at))

    def action_open_note(self) -> None:
        row = self.listed.cursor_item
        self.open_in_files(row.path if row is not None else "", row.line or None if row is not None else None)

    def action_map(self) -> None:
        row = self.listed.cursor_item
        path, title, open_at = row.path if row is not None else "", self._folder, self._open_at
        self.app.push_screen(MapScreen(self._engine, title=title, open_at=open_at, path=path))

    def action_suggest(self) -> None:
        self.app.push_screen(SuggestionScreen(self._engine, title=self._folder, open_at=self._open_at))

    def action_observations(self) -> None:
        self.app.push_screen(ObservationScreen(self._engine, title=self._folder, open_at=self._open_at))
