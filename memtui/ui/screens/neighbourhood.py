"""The neighbourhood of a note: what links to it, what it links to, where it is only named, and dangling names."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.knowledge.analysis import Filter
from memtui.knowledge.graph import Edge, Graph
from memtui.knowledge.model import ParsedNote
from memtui.knowledge.neighbours import (
    TypedFilter,
    collect_links_in,
    collect_links_out,
    find_dangling_from,
    parse_filter,
)
from memtui.knowledge.source import GraphStopped
from memtui.ui.key_names import label_key
from memtui.ui.messages import report_errors
from memtui.ui.screens.graph_base import GraphOverlayScreen, OpenAt
from memtui.ui.screens.neighbourhood_changes import LinkingController
from memtui.ui.screens.neighbourhood_mentions import MentionController
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.neighbours import (
    NeighbourRow,
    NeighbourView,
    Rows,
    build_rows_below,
    build_rows_in,
    build_rows_out,
    filter_rows,
)
from memtui.ui.widgets.preview import Preview

_MOST_TEXTS = 500
"""Notes whose lines are shown beside what links here; of others the written link is."""


class _TrailEntry(NamedTuple):
    """A note that an edge was followed from."""

    path: str
    pane: str
    row: NeighbourRow | None


@dataclass(frozen=True, slots=True)
class _Links:
    """What was read of the graph around a note."""

    path: str
    note: ParsedNote | None
    rows_in: Rows
    rows_out: Rows
    dangling: Sequence[Edge]
    data: bytes | None
    problem: str


class NeighbourhoodScreen(GraphOverlayScreen):
    """A note amid its links, along which one can walk.

    Args:
        path: The note, relative to the folder.
        title: The folder's title.
        open_at: Leaves for the files.
    """

    CONTROLLERS = (LinkingController, MentionController)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("backspace", "go_back_along", "back along", id="links.back", tooltip="Back to the note before"),
        Binding("slash", "narrow", "filter", id="links.narrow", tooltip="Filter by type, tag, kind, folder and words"),
        Binding("1", "depth(1)", "1 link far", id="links.depth_1", tooltip="Notes one link away", show=False),
        Binding("2", "depth(2)", "2 links far", id="links.depth_2", tooltip="Notes up to two links away", show=False),
        Binding("3", "depth(3)", "3 links far", id="links.depth_3", tooltip="Notes up to three links away", show=False),
        Binding("o", "open_note", "open", id="links.open_note", tooltip="Open the note in the files"),
        Binding("O", "observations", "observations", id="links.observations", tooltip="Observations of the note",
                show=False),
        Binding("u", "undo_here", "undo", id="links.undo", tooltip="Undo the last change made here", show=False),
        Binding("U", "redo_here", "redo", id="links.redo", tooltip="Redo it", show=False),
        Binding("tab", "app.focus_next", "next pane", id="links.next", tooltip="To the next pane", show=False),
        Binding("shift+tab", "app.focus_previous", "previous pane", id="links.previous",
                tooltip="To the previous pane", show=False),
        Binding("escape,w,q", "leave", "back", id="links.leave", tooltip="Clear the filter, or go back"),
    ]  # fmt: skip

    AUTO_FOCUS = "#in"  # a key that is typed at once is none of the filter's text
    CHANGES = frozenset({"link_all"})
    LIVE = "LINKS"
    LEAVE = "links.leave"
    PLACEHOLDER = "type:  tag:  kind:  folder:  or words"

    DEFAULT_CSS = """
    NeighbourhoodScreen {
        & #body { layout: grid; grid-size: 3 2; grid-columns: 1fr 1fr 1fr; grid-rows: 1fr 30%; }
        & #below { column-span: 3; }
        &.-narrow #body { grid-size: 2 2; grid-columns: 1fr 1fr; grid-rows: 1fr 1fr; }
        &.-narrow #below { column-span: 1; }
        &.-wide #body { grid-columns: 1fr 100 1fr; }
    }
    """

    note = getters.query_one("#note", NoteView)
    incoming = getters.query_one("#in", NeighbourView)
    outgoing = getters.query_one("#out", NeighbourView)
    below = getters.query_one("#below", NeighbourView)

    @dataclass(eq=False)
    class _LinksRead(Message):
        links: _Links
        again: bool

    def __init__(self, engine: Engine, path: str, *, title: str, open_at: OpenAt | None = None) -> None:
        super().__init__(engine, title=title, open_at=open_at)
        self._linking = self.attach(LinkingController(self, engine, lambda: self._path, lambda: self.below.items))
        self.mentions = self.attach(MentionController(self, engine, lambda: self._show_rows(keep=True)))
        self._path = path
        self._depth = 1
        self._wanted = Filter()
        self._links: _Links | None = None
        self._trail: list[_TrailEntry] = []
        self._return: _TrailEntry | None = None
        self._preview = Preview()

    def compose_body(self) -> Iterator[Widget]:
        with Container(id="body"):
            yield NeighbourView(id="in", classes="pane")
            yield NoteView(id="note", classes="pane")
            yield NeighbourView(id="out", classes="pane")
            yield NeighbourView(id="below", classes="pane")

    # Reading

    @property
    def _typed_filter(self) -> TypedFilter:
        return parse_filter(self.typed)

    def read(self, *, again: bool = False) -> None:
        self.mentions.read(self._path, keep=again)
        self._read_links(again=again)

    def follow_events(self) -> None:
        self._is_stale = not self.mentions.is_rested  # all notes are looked through for them
        if not self._is_stale:
            self.mentions.read(self._path, keep=True)
        self._read_links(again=True)

    def _read_links(self, *, again: bool) -> None:
        self._wanted = self._typed_filter.wanted
        self._read_in_thread(self._path, self._depth, self._wanted, again)

    @work(thread=True, exclusive=True, group="links", exit_on_error=False)
    def _read_in_thread(self, path: str, depth: int, wanted: Filter, again: bool) -> None:
        worker, source = get_current_worker(), self._engine.knowledge

        def build(graph: Graph) -> _Links:
            incoming = collect_links_in(graph, path, depth, wanted)
            sources = list(dict.fromkeys(each.edge.source for each in incoming))[:_MOST_TEXTS]
            lines = {each: text.split("\n") for each, text in source.iter_texts(sources)}
            outgoing = build_rows_out(graph, collect_links_out(graph, path, depth, wanted))
            dangling = find_dangling_from(graph, path, wanted.kinds)
            note = graph.get_note(path)
            return _Links(path, note, build_rows_in(graph, incoming, lines), outgoing, dangling, None, "")

        with report_errors(self.post_message):
            try:
                found = source.query(build, stop=lambda: worker.is_cancelled)
            except GraphStopped:
                return
            data, problem = self._read_data(path)
            found = _Links(path, found.note, found.rows_in, found.rows_out, found.dangling, data, problem)
            if not worker.is_cancelled:
                self.post_message(self._LinksRead(found, again))

    def _read_data(self, path: str) -> tuple[bytes | None, str]:
        if path.startswith("#") or path.endswith("/") or not path:
            return None, ""
        seen = self._engine.inspect_path(path)
        return seen.data, "It is not in the folder." if seen.node is None else seen.problem

    # Showing

    @on(_LinksRead)
    def _show_links(self, message: _LinksRead) -> None:
        links = message.links
        if links.path != self._path:
            return
        is_first = self._links is None
        self._links, self._is_loaded = links, True
        self._show_rows(keep=message.again)
        self._show_note(links, again=message.again)
        if is_first or not message.again:
            self._show_hint()
        if is_first and not self.incoming.items and self.outgoing.items:
            self.outgoing.focus()
        if (back := self._return) is not None:
            self._return = None
            pane = self.query_one(f"#{back.pane}", NeighbourView)
            pane.focus()
            if back.row is not None:
                pane.move_to(back.row)

    def _show_rows(self, *, keep: bool) -> None:
        links, typed = self._links, self._typed_filter
        if links is None:
            return
        below = build_rows_below(self.mentions.found, self.mentions.lines, links.dangling)
        notices = {
            "in": "Nothing links here." if self.progress.is_scanned else "",
            "out": "It links to nothing.",
            "below": "Looking for mentions .." if self.mentions.found is None else "No mentions, no dangling names.",
        }
        for view, rows in ((self.incoming, links.rows_in), (self.outgoing, links.rows_out), (self.below, below)):
            shown = filter_rows(rows, typed.words)
            notice = notices[view.id or ""] if not rows and typed.is_empty else "No matches."
            view.show(shown, keep=keep, notice=("", notice))
        self._show_titles()

    @on(NeighbourView.Highlighted)
    def _show_titles(self) -> None:
        links = self._links
        if links is None:
            return
        mentions, dangling = len(self.mentions.found or ()), len(links.dangling)
        self._titles.set_title(self.incoming, "Links here", _format_position(self.incoming))
        self._titles.set_title(self.outgoing, "Links from here", _format_position(self.outgoing))
        self._titles.set_title(self.below, f"Mentions {mentions:,}  dangling {dangling:,}", "")
        note = links.note
        title = to_one_line(note.title if note is not None else links.path or "the folder")
        facts = [] if note is None else [note.type, note.status, " ".join(f"#{tag}" for tag in note.tags[:4])]
        if note is not None and note.observations:
            facts.append(format_count(len(note.observations), "observation"))
        self._titles.set_title(self.note, title, to_one_line("  ".join(filter(None, facts))))
        depth = format_count(self._depth, "link")
        trail = f"  trail {len(self._trail):,}" if self._trail else ""
        self.show_count(f"{depth} far{trail}")

    def _show_note(self, links: _Links, *, again: bool) -> None:
        path = links.path
        name = to_one_line(path.rpartition("/")[2] or path)
        if again and links.data is not None and links.data == self._preview.data:
            return
        self._preview.clear()
        if path.startswith("#"):
            self.note.show_notice(name, "A tag. What links here has it.")
        elif not path or path.endswith("/"):
            self.note.show_notice(to_one_line(path), "A directory. What links here is in it.")
        elif links.data is None:
            self.note.show_notice(name, links.problem or "It has no text.")
        else:
            self._preview.show_data(path, links.data, self.note, lines=frozenset(), follow=False, again=again)

    def _show_hint(self) -> None:
        problem = self._typed_filter.problem
        if problem:
            self.message.show_message(problem, warning=True)
            return
        keys = f"{label_key('links.open')} goes to a note, {label_key('links.back')} back."
        depths = f"{label_key('links.depth_1')} {label_key('links.depth_2')} {label_key('links.depth_3')} links far"
        self.message.show_message(f"{to_one_line(self._path)}. {keys}", hint=depths)

    # Walking

    @on(NeighbourView.Opened)
    def _follow(self, message: NeighbourView.Opened) -> None:
        row = message.item
        if not isinstance(row, NeighbourRow):
            return
        if row.mention is not None:
            self._linking.link([row.mention])
        elif row.edge is not None:
            self._linking.create(row.edge)
        else:
            self._trail.append(_TrailEntry(self._path, message.rows.id or "in", row))
            self._go_to(row.path)

    def _go_to(self, path: str) -> None:
        self._path = path
        self.read()

    def action_go_back_along(self) -> None:
        if not self._trail:
            self.message.show_message(f"This is where you began. {label_key('links.leave')} goes back to the files.")
            return
        self._return = self._trail.pop()
        self._go_to(self._return.path)

    def action_depth(self, depth: int) -> None:
        if depth != self._depth:
            self._depth = depth
            self._read_links(again=True)
        self._show_titles()

    def action_open_note(self) -> None:
        """Open the note under the cursor, else the one in the middle."""
        focused = self.focused
        row = focused.cursor_item if isinstance(focused, NeighbourView) else None
        path, line = (row.path, row.line) if row is not None and row.path else (self._path, 0)
        is_place = focused is not self.outgoing and row is not None and row.path  # its line is one of that note
        self.open_in_files(path, line if is_place and line else None)

    @on(Input.Changed)
    def _apply_filter(self) -> None:
        if self._links is not None:
            if self._typed_filter.wanted != self._wanted:
                self._read_links(again=True)
            self._show_rows(keep=True)
            problem = self._typed_filter.problem
            if problem:
                self.message.show_message(problem, warning=True)

    def focus_list(self) -> None:
        self.incoming.focus()

    def action_observations(self) -> None:
        from memtui.ui.screens.observations import ObservationScreen  # noqa: PLC0415 - start-up: loads a screen

        path, open_at = self._path, self._open_at
        self.app.push_screen(ObservationScreen(self._engine, title=self._folder, open_at=open_at, path=path))


def _format_position(view: NeighbourView) -> str:
    row, total = view.position
    return f"{row:,} of {total:,}" if total else ""
