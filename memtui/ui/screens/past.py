"""Time travel: the folder as it was right after any event. Looking changes nothing.

A step patches the rows by what one event changed, so that a held key runs through the events of a folder of any
size; the state of a moment further away is made once, in a thread.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.message import Message
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from memtui.core import wording
from memtui.core.events import EntryKind, Event, FolderEntry, LastChange, Version
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import ROOT_NAME
from memtui.core.times import POSSIBLE, PointInTime, parse_point_in_time
from memtui.core.unicode import to_one_line
from memtui.engine import Engine
from memtui.engine.history import diff_event
from memtui.knowledge.past import describe_link_changes
from memtui.knowledge.source import decode_note
from memtui.ui import frame
from memtui.ui.flows import undo
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import label_key
from memtui.ui.messages import report_errors
from memtui.ui.screens.above_browser import OverlayScreen
from memtui.ui.screens.dialogs import Choice, MenuScreen, PromptScreen
from memtui.ui.screens.panes import HORIZONTAL_BREAKPOINTS, VERTICAL_BREAKPOINTS, PaneController
from memtui.ui.widgets.change import ChangeView
from memtui.ui.widgets.empty import Timeline, TimelinePosition
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.preview import Preview
from memtui.ui.widgets.tree.changes import MANY_GONE, get_moves, get_row_change, get_single_move, list_changed_files
from memtui.ui.widgets.tree.outline import Outline, apply_moves, get_parent
from memtui.ui.widgets.tree.view import TreeView

_MOST_MARKS = 2_000
"""Changes of one event that are marked at most."""


@dataclass(eq=False)
class _PastTextRead(Message):
    """The content of a path at a moment was read."""

    path: str
    version: Version | None
    data: bytes | None
    change: LastChange | None
    """The change of the path by the event of the moment."""
    links: str
    """Which links it added and removed, as sentences."""
    at: int
    """The number of that event."""
    again: bool


class PastScreen(OverlayScreen):
    """The folder as it was.

    Args:
        title: The folder's name.
        at: The number of the event after which it is shown first.
        path: The first position of the cursor; `None` for the file that the event changed.
    """

    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = ["folder.tcss", "past.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "step(-1)", "earlier", id="past.earlier", tooltip="To the earlier change"),
        Binding("right_square_bracket", "step(1)", "later", id="past.later", tooltip="To the later change"),
        Binding("home", "first", "first", id="past.first", tooltip="To the first event", priority=True, show=False),
        Binding("end", "last", "last", id="past.last", tooltip="To the last event", priority=True, show=False),
        Binding("number_sign", "go_to", "go to", id="past.go_to", tooltip="Go to an event number or a time"),
        Binding("R", "restore", "restore", id="past.restore", tooltip="Restore this note or directory"),
        Binding("v", "history(True)", "diff", id="past.diff", tooltip="What this event changed in the note"),
        Binding("V", "history(False)", "history", id="past.history", tooltip="All versions of the note", show=False),
        Binding("u", "undo_here", "undo", id="past.undo", tooltip="Undo the last restore", show=False),
        Binding("U", "redo_here", "redo", id="past.redo", tooltip="Restore it again", show=False),
        Binding("f", "follow", "follow", id="past.follow", tooltip="Follow changes on/off"),
        Binding("full_stop", "hidden", "hidden", id="past.hidden", tooltip="Hidden files on/off", show=False),
        Binding("1", "pane('files')", "files", id="past.files", tooltip="To the files", show=False),
        Binding("2", "pane('note')", "note", id="past.note", tooltip="To the note", show=False),
        Binding("escape,T,q", "leave", "now", id="past.leave", tooltip="Back to now"),
    ]  # fmt: skip

    BANNER_ANCHOR = "Timeline"
    CHANGES = frozenset({"restore"})

    CONTROLLERS = (PaneController,)
    HORIZONTAL_BREAKPOINTS, VERTICAL_BREAKPOINTS = HORIZONTAL_BREAKPOINTS, VERTICAL_BREAKPOINTS

    header = getters.query_one(Header)
    files = getters.query_one("#files", TreeView)
    timeline = getters.query_one(Timeline)
    note = getters.query_one("#note", NoteView)
    change = getters.query_one(ChangeView)

    follow = var(True)

    def __init__(self, engine: Engine, *, title: str, at: int, path: str | None = None) -> None:
        super().__init__()
        self.panes = self.attach(PaneController(self))
        self._engine = engine
        self._history = engine.history
        self._folder = title
        self._start = at
        self._start_path = path
        self._point_in_time = TimelinePosition(at, None)
        self._changed: Event | None = None
        self._ghosts: list[str] = []
        self._marked: list[str] = []
        self._steps = 0
        self._stepping = False
        self._ready = False
        self._requested_path: str | None = None
        self._read_path: str | None = None
        self._preview = Preview()
        self._titles = frame.PaneTitles()
        self._expanded: frozenset[str] | None = None

    def compose(self) -> ComposeResult:
        yield Header()
        yield Timeline()
        with Horizontal(id="body"):
            yield TreeView(id="files", classes="pane", now=self._get_time_ns)
            with Container(id="right"):
                yield NoteView(id="note", classes="pane")
                yield ChangeView(id="change", classes="pane")
        yield MessageLine(id="message")
        yield KeyLine()
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        self.header.status = HeaderStatus(self._folder, live="AS OF", follow=None, read_only=self._engine.read_only)
        self.set_class(self._engine.read_only, "-read-only")
        self.change.border_title = "this change"
        self.message.show_message("Reading the history. Nothing is changed.")
        self.files.focus()
        self._travel(self._start)

    def on_resize(self) -> None:
        self._show_titles()

    def handle_new_events(self, last: int) -> None:
        if self._ready:
            self.timeline.last = max(self.timeline.last, last)

    def _get_time_ns(self) -> int:
        """The clock for ages, which are those of the moment."""
        event = self._point_in_time.event
        return event.at_us * 1_000 if event else time.time_ns()

    # Going to a moment

    @work(exclusive=True, group="travel")
    async def _travel(self, at: int) -> None:
        """Go to any moment of the record."""
        self._ready = False
        with report_errors(self.post_message):
            outline, moment, changed, last = await asyncio.to_thread(self._load_state, at)
            self._ghosts = []
            self._clear_marks()
            self._point_in_time, self._changed = moment, changed
            self.files.show(outline)
            self.timeline.last = max(self.timeline.last, last, moment.at)
            self._ready = True
            target = self._start_path if self._start_path and self._start_path in outline else None
            self._start_path = None
            self._show_point_in_time(target)
            keys = f"{label_key('past.earlier')} and {label_key('past.later')} step, {label_key('past.leave')}"
            self.message.show_message(f"An earlier state, read-only. {keys} goes back to now.")
            if self._steps:  # keys that were pressed meanwhile
                self.action_step(0)

    def _load_state(self, at: int) -> tuple[Outline, TimelinePosition, Event | None, int]:
        """The rows of a moment, its event, and the event that changed something last by then. In a thread."""
        history = self._history
        last = self._engine.get_head()[0]
        at = max(0, min(at, last))
        event = history.get_event(at) if at else None
        changed = event if event and event.changes else history.find_step(at, -1) if at else None
        state = history.get_state(at)
        entries = [FolderEntry(path, each.kind, _get_size(each), None) for path, each in state.items() if path]
        hidden = self.files.outline.hidden if self._expanded is not None else False
        return Outline(entries, hidden=hidden, expanded=self._expanded), TimelinePosition(at, event), changed, last

    def action_step(self, direction: int) -> None:
        self._steps += direction
        if not self._stepping and self._ready:
            self._stepping = True
            self._apply_pending_steps()

    @work(group="step")
    async def _apply_pending_steps(self) -> None:
        """Go as many steps as keys were pressed meanwhile, each time with one patch of the rows."""
        try:
            with report_errors(self.post_message):
                while self._steps:
                    steps, self._steps = self._steps, 0
                    moment = self._point_in_time
                    way = await asyncio.to_thread(_list_passed_events, self._engine, moment.at, steps)
                    if self._ready and self._point_in_time is moment:  # else a jump was faster
                        self._apply_events(way, steps)
        finally:
            self._stepping = False

    def _apply_events(self, way: Sequence[Event], steps: int) -> None:
        """Patch the rows by the events of a number of steps, which is negative for backwards."""
        self._drop_ghosts()
        self._clear_marks()
        if steps > 0:
            for event in way:
                self._patch_rows(event, [(change.path, change.after) for change in event.changes])
                self._changed = event
        else:
            for event in way:
                if self._changed is not None and event.seq < self._changed.seq:
                    self._patch_back(self._changed)
                self._changed = event
            first = self._changed
            if len(way) < -steps and self._point_in_time.at and first is not None and first.command != "found":
                self._patch_back(first)  # to before the first event; found files had been there before
                self._changed, self._point_in_time = None, TimelinePosition(0, None)
                self._show_point_in_time()
                return
        if way:
            self._point_in_time = TimelinePosition(way[-1].seq, way[-1])
            self._show_point_in_time()
        elif steps > 0:
            words = f"This is the last change in {self.timeline.last:,} events."
            self.message.show_message(f"{words} {label_key('past.leave')} goes back to now.")
        else:
            self.message.show_message("This is the beginning of the history.")

    def _patch_back(self, event: Event) -> None:
        """Undo an event in the rows."""
        self._patch_rows(event, [(change.path, change.before) for change in reversed(event.changes)], backwards=True)

    def _patch_rows(self, event: Event, ends: Iterable[tuple[str, Version | None]], *, backwards: bool = False) -> None:
        """Have each path of an event hold its version after the event, or before it."""
        if moves := get_moves(event):
            self.files.move_all({new: old for old, new in moves.items()} if backwards else moves)
        time_ns, versions = None if backwards else event.at_us * 1_000, dict(ends)
        gone = [path for path, version in versions.items() if version is None and path in self.files.outline]
        if gone:
            self.files.drop(gone)
        added = [
            FolderEntry(path, each.kind, _get_size(each), time_ns) for path, each in versions.items() if each and path
        ]
        if added:
            self.files.add(added)

    def _show_point_in_time(self, target: str | None = None) -> None:
        """Bring the panes up to date, and mark the changes of the event."""
        at, event = self._point_in_time
        self.timeline.current = self._point_in_time
        files = wording.format_file_count(self.files.outline.files)
        self.header.status = replace(self.header.status, live=f"AS OF {self._format_moment()}  #{at}", files=files)
        if event is not None:
            self._mark_changed(event)
        target = target or (_find_event_file(event, self.files.outline) if event and self.follow else None)
        if target is not None:
            self._requested_path = target
            self.files.move_to(target)
        self._read_note(again=True)
        self._show_titles()

    def _format_moment(self) -> str:
        event = self._point_in_time.event
        return wording.format_event_time(event, time.time_ns() // 1_000) if event else "the beginning"

    def _mark_changed(self, event: Event) -> None:
        """Mark the changes of the event; deleted files are shown once more, struck through."""
        moves = get_moves(event)
        arrived = set(moves.values())
        gone = [
            FolderEntry(change.path, change.before.kind, _get_size(change.before), None)
            for change in event.changes
            if change.after is None and change.before is not None and apply_moves(change.path, moves) == change.path
        ]
        gone = [entry for entry in gone if entry.path not in self.files.outline]
        if 0 < len(gone) <= MANY_GONE:
            self._ghosts = [entry.path for entry in gone]
            self.files.add(gone)
        for change in event.changes[:_MOST_MARKS]:
            version = change.after or change.before
            is_directory = version is not None and version.kind is EntryKind.DIRECTORY
            if change.path in self.files.outline and not (is_directory and change.after is not None):
                self.files.set_change(change.path, get_row_change(change, arrived), 0)
                self._marked.append(change.path)

    def _clear_marks(self) -> None:
        for path in self._marked:
            self.files.clear_change(path)
        self._marked = []

    def _drop_ghosts(self) -> None:
        if self._ghosts:
            ghosts, self._ghosts = self._ghosts, []
            self.files.drop(ghosts)

    # What the person does in the panes

    @on(TreeView.Highlighted)
    def _open_note(self, message: TreeView.Highlighted) -> None:
        if message.path != self.files.cursor_path:
            return
        if self._ready and message.was_put and self._requested_path not in (None, message.path):
            self.follow = False
        self._requested_path = message.path
        self._read_note(again=False)
        self._show_titles()

    @on(TreeView.Opened)
    def _enter_note(self) -> None:
        self.note.focus()

    def action_first(self) -> None:
        self._jump(1)

    def action_last(self) -> None:
        self._jump(self._engine.get_head()[0])

    def _jump(self, at: int) -> None:
        self._steps = 0
        self._expanded = self.files.outline.expanded
        self._travel(at)

    @work
    async def action_go_to(self) -> None:
        words = await self.app.push_screen_wait(PromptScreen("Go to", f"Type {POSSIBLE}."))
        if not words:
            return
        with report_errors(self.post_message):
            try:
                point = parse_point_in_time(words, now=datetime.now().astimezone())
                at, last = await asyncio.to_thread(_find_seq, self._engine, point)
            except ValueError as error:
                self.message.show_message(str(error), warning=True)
                return
            if at > last:
                self.message.show_message(f"No event #{at}. The last one is #{last}.", warning=True)
            else:
                self._jump(at)

    def action_follow(self) -> None:
        self.follow = not self.follow
        if self.follow:
            self.message.show_message("Follow on.")
            self._show_point_in_time()
        else:
            self.message.show_message(f"Follow off. {label_key('past.follow')} follows again.")

    def action_hidden(self) -> None:
        self.files.set_hidden(not self.files.outline.hidden)

    def action_pane(self, name: str) -> None:
        if self.panes.size:
            self.panes.set_size("")
        self.query_one(f"#{name}", Widget).focus()

    def action_leave(self) -> None:
        if self.panes.size:
            self.panes.set_size("")
        else:
            self.dismiss(None)

    @work
    async def action_history(self, diff_first: bool) -> None:
        from memtui.ui.screens.history import HistoryScreen  # noqa: PLC0415 - start-up: for this key only

        path = self.files.cursor_path
        entry = self.files.outline.get(path) if path else None
        if path is None or entry is None or entry.kind is EntryKind.DIRECTORY:
            self.message.show_message("A directory has no versions, only its notes do.")
            return
        at = self._point_in_time.at
        self.app.push_screen(HistoryScreen(self._engine, path, title=self._folder, diff_first=diff_first, at=at))

    @work(exclusive=True, group="change")
    async def action_restore(self) -> None:
        path = self.files.cursor_path or ""
        entry = self.files.outline.get(path)
        is_folder = entry is not None and entry.kind is EntryKind.DIRECTORY
        choices = []
        if entry is not None and not is_folder and path not in self._ghosts:
            choices.append(Choice("f", f"this note: {path}", path))
        if directory := path if is_folder else get_parent(path):
            choices.append(Choice("d", f"this directory: {directory}/", directory))
        choices.append(Choice("a", "everything", ""))
        when, at = self._format_moment(), self._point_in_time.at
        chosen = await self.app.push_screen_wait(MenuScreen(f"Restore as of {when}, #{at}", choices))
        if chosen is None:
            return
        with report_errors(self.post_message):
            outcome = await undo.restore_as_of(self.app, self._engine, chosen, at, when)
            last = await asyncio.to_thread(lambda: self._engine.get_head()[0])
            self.timeline.last = max(self.timeline.last, last)
            if outcome is not None:
                self.last_event_seq = outcome.event or self.last_event_seq
                self.message.show_message(outcome.words, warning=outcome.is_warning)

    # The note as it was

    def _read_note(self, *, again: bool) -> None:
        path = self.files.cursor_path
        if path is None:
            self._read_path = None
            self._preview.clear()
            self.note.show_notice("The folder was empty.", "")
            self.change.change = None
            self._show_titles()
        else:
            self._read_note_in_thread(path, self._point_in_time, again and path == self._read_path)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_note_in_thread(self, path: str, moment: TimelinePosition, again: bool) -> None:
        worker = get_current_worker()
        with report_errors(self.post_message):
            message = self._read_past_text(path, moment, again)
            if not worker.is_cancelled:
                self.post_message(message)

    def _read_past_text(self, path: str, moment: TimelinePosition, again: bool) -> _PastTextRead:
        event = moment.event
        version = self._history.get_version_at(path, moment.at)
        is_text = version is None or version.kind in (EntryKind.FILE, EntryKind.LINK)
        data = self._history.text(version) if is_text else None
        change = next((each for each in reversed(event.changes) if each.path == path), None) if event else None
        diff, links = None, ""
        if event is not None and change is not None:
            move = get_single_move(event)
            before = self._history.text(change.after if move and path == move[1] else change.before)
            diff = diff_event(event, before, data)
            old, new = (decode_note(each) if each else "" for each in (before, data))
            links = describe_link_changes(old or "", new or "", path)
            version = version or (change.before if change.after is None else None)
        return _PastTextRead(path, version, data, diff, links, moment.at, again)

    @on(_PastTextRead)
    def _show_note(self, message: _PastTextRead) -> None:
        if message.path != self.files.cursor_path or message.at != self._point_in_time.at:
            return
        self._read_path = message.path
        self._preview.clear()
        name = to_one_line(message.path.rpartition("/")[2])
        kind = message.version.kind if message.version else None
        if message.path in self._ghosts:
            words = f"Deleted by this event. {label_key('past.earlier')} shows it before that."
            self.note.show_notice(name, words)
        elif kind is None or kind is EntryKind.DIRECTORY:
            self.note.show_notice(name + "/", f"A directory. {label_key('files.open')} expands or collapses it.")
        elif kind is EntryKind.OTHER:
            self.note.show_notice(name, "A FIFO, a socket or a device. Its content is not kept.")
        elif message.data is None:
            self.note.show_notice(name, "Its text is not kept: it was removed from the history, or too large.")
        elif kind is EntryKind.LINK:
            self.note.show_notice(name, f"Link to {message.data.decode('utf-8', 'surrogateescape')}")
        else:
            assert message.version is not None
            self._preview.size = message.version.size
            lines = message.change.lines if message.change else frozenset[int]()
            self._preview.show_data(
                message.path, message.data, self.note, lines=lines, follow=self.follow, again=message.again
            )
        self.change.change, self.change.links = message.change, message.links
        self._show_titles()

    # Words around the panes

    @on(TreeView.CursorMoved)
    @on(NoteView.Scrolled)
    def _show_titles(self) -> None:
        if not self.is_mounted:
            return
        row, total = self.files.position
        count = len(self._marked)
        changed = f"  changed {count:,}" if count else ""
        self._titles.set_title(self.files, f"1 Files{changed}", f"{row:,} of {total:,}")
        path = self.files.cursor_path
        name = to_one_line(path.rpartition("/")[2]) if path else "Note"
        words = ["" if self.follow else "follow off"]
        if self._preview.text:
            words += [wording.format_size(self._preview.size), wording.estimate_tokens(self._preview.text)]
        self._titles.set_title(self.note, f"2 {name}", "   ".join(word for word in words if word))


def _get_size(version: Version) -> int | None:
    return version.size if version.kind is EntryKind.FILE else None


def _find_event_file(event: Event, outline: Outline) -> str | None:
    """The file that an event is about, if it is there."""
    named = wording.to_relative_path(event.new_path or event.path)
    for path in (named, *list_changed_files(event)):
        entry = outline.get(path) if path != ROOT_NAME else None
        if entry is not None and entry.kind is not EntryKind.DIRECTORY:
            return path
    return None


def _find_seq(engine: Engine, point: PointInTime) -> tuple[int, int]:
    """The number of the event at a point in time, and that of the last event. In a thread."""
    last = engine.get_head()[0]
    if point.seq is not None:
        return point.seq, last
    return (last if point.last_us is None else engine.history.find_seq_at(point.last_us)), last


def _list_passed_events(engine: Engine, at: int, steps: int) -> list[Event]:
    """The events that are passed from one on, in the order of the way."""
    direction = 1 if steps > 0 else -1
    way: list[Event] = []
    for _ in range(abs(steps)):
        event = engine.history.find_step(at, direction)
        if event is None:
            break
        way.append(event)
        at = event.seq
    return way
