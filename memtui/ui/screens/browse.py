"""Browse: the folder, the note under the cursor and what happens, side by side, as it happens.

The screen routes: what threads found goes to the panes, what the person does goes to the session. Everything
shown is made from what is in the folder and from events, so the panes cannot disagree.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.events import Click, Key, MouseDown, MouseMove, MouseUp, Resize
from textual.reactive import var
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, WorkerError, get_current_worker

from memtui.core.actors import shown_name
from memtui.core.events import Change, Event, Person
from memtui.core.paths import ROOT_NAME
from memtui.core.snapshot import Entry, Kind
from memtui.core.visible import one_line
from memtui.core.watching import Mode, Watching
from memtui.places import find_places
from memtui.ui import wording
from memtui.ui.activity.view import ActivityView
from memtui.ui.change import ChangeView
from memtui.ui.empty import EmptyFolder
from memtui.ui.files.marks import Mark
from memtui.ui.files.outline import Outline, Sort
from memtui.ui.files.view import FilesView
from memtui.ui.frame import Header, KeyLine, MessageLine, Status
from memtui.ui.messages import (
    FolderShown,
    FolderWanted,
    Happened,
    LookedAt,
    Opened,
    Read,
    Told,
    Trouble,
    Unrecorded,
    WatchingChanged,
)
from memtui.ui.note.view import NoteView
from memtui.ui.preview import Preview, View
from memtui.ui.screens.menu import Choice, MenuScreen
from memtui.ui.session import Session

GONE_SECONDS = 10.0
"""For how long a deleted entry is still shown, struck through."""
_MANY_GONE = 200
_SMALLEST = (60, 15)
_SIZES = ("", "half", "full")
_NEED_A_NOTE = frozenset({"find", "switch_view", "next_change", "mark_seen", "mark_all_seen", "sort", "copy", "zoom"})

_SORTS = (
    Choice("n", "by name", "name"),
    Choice("N", "by name, reversed", "-name"),
    Choice("m", "by time, newest first", "modified"),
    Choice("M", "by time, oldest first", "-modified"),
    Choice("s", "by size, largest first", "size"),
    Choice("S", "by size, smallest first", "-size"),
)


class BrowseScreen(Screen[None]):
    """One memory folder.

    Args:
        folder: An existing directory, links resolved.
        state: Where its journal lies, if not in its usual place.
        title: How it is called.
        label: A word on what this session is; empty for an ordinary one.
        read_only: Whether nothing can be changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "find", id="note.find", tooltip="Find a text in the open note"),
        Binding("t", "switch_view", "view", id="note.view", tooltip="Rendered, source, or as the model sees it"),
        Binding("f", "follow", "follow", id="browse.follow", tooltip="Go where something happens, or stay"),
        Binding("P", "pause", "pause", id="browse.pause", tooltip="Hold the screen still while the agent works"),
        Binding(
            "right_square_bracket", "next_change(1)", "next change", id="browse.next_change",
            tooltip="To the next changed file",
        ),
        Binding(
            "left_square_bracket", "next_change(-1)", "previous change", id="browse.previous_change",
            tooltip="To the previous changed file", show=False,
        ),
        Binding("m", "mark_seen", "mark seen", id="browse.mark_seen", tooltip="Mark the change as seen"),
        Binding("M", "mark_all_seen", "all seen", id="browse.mark_all_seen", tooltip="Mark all as seen", show=False),
        Binding("full_stop", "hidden", "hidden", id="files.hidden", tooltip="Show or leave out hidden files"),
        Binding("comma", "sort", "sort", id="files.sort", tooltip="Sort the files"),
        Binding("y", "copy", "copy", id="browse.copy", tooltip="Copy the path or the content"),
        Binding("z", "zoom", "zoom", id="browse.zoom", tooltip="Give the pane the whole screen, or take it back"),
        Binding("plus", "resize_pane(1)", "larger", id="browse.larger", tooltip="Make the pane larger", show=False),
        Binding(
            "underscore", "resize_pane(-1)", "smaller", id="browse.smaller", tooltip="Make the pane smaller",
            show=False,
        ),
        Binding(
            "less_than_sign", "divide(-2)", "divider left", id="browse.divider_left",
            tooltip="Move the divider to the left", show=False,
        ),
        Binding(
            "greater_than_sign", "divide(2)", "divider right", id="browse.divider_right",
            tooltip="Move the divider to the right", show=False,
        ),
        Binding(
            "equals_sign", "divide(0)", "divider reset", id="browse.divider_reset",
            tooltip="Put panes and divider back", show=False,
        ),
        Binding("R", "rescan", "rescan", id="browse.rescan", tooltip="Look at the whole folder again", show=False),
        Binding("tab", "app.focus_next", "next pane", id="browse.next_pane", tooltip="To the next pane", show=False),
        Binding(
            "shift+tab", "app.focus_previous", "previous pane", id="browse.previous_pane",
            tooltip="To the pane before", show=False,
        ),
        Binding("1", "pane('files')", "files", id="browse.files", tooltip="To the files", show=False),
        Binding("2", "pane('note')", "note", id="browse.note", tooltip="To the note", show=False),
        Binding("3", "pane('activity')", "activity", id="browse.activity", tooltip="To the activity", show=False),
        Binding("o", "app.places", "open folder", id="app.places", tooltip="Open another folder", show=False),
        Binding("escape", "leave", "leave", id="browse.leave", tooltip="Leave find, zoom or the pane", show=False),
    ]  # fmt: skip

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (20, "-low"), (30, "-high"), (45, "-tall")]  # noqa: RUF012

    header = getters.query_one(Header)
    files = getters.query_one("#files", FilesView)
    note = getters.query_one("#note", NoteView)
    change = getters.query_one(ChangeView)
    activity = getters.query_one("#activity", ActivityView)
    message = getters.query_one(MessageLine)

    follow = var(True)
    paused = var(False)

    def __init__(
        self, folder: str, *, title: str, state: str | None = None, label: str = "", read_only: bool = False
    ) -> None:
        super().__init__()
        self._session = Session(folder, self.post_message, state=state, read_only=read_only)
        self._status = Status(title, label, read_only=read_only)
        self._watching = Watching(Mode.LIVE)
        self._opened = False
        self._preview = Preview()
        self._held = 0
        self._complete = False
        self._position = ""
        self._going_to: str | None = None
        self._unseen: dict[str, int] = {}
        self._gone: dict[str, int] = {}
        self._last = 0
        self._sizes = (0, 0)
        self._titles: dict[str | None, tuple[str, str]] = {}
        self._dragging = False
        self._pane_size = ""

    def compose(self) -> ComposeResult:
        """The panes of the sketch."""
        yield Header()
        with Horizontal(id="body"):
            yield FilesView(id="files", classes="pane")
            with Container(id="right"):
                yield NoteView(id="note", classes="pane")
                yield ChangeView(id="change", classes="pane")
            yield EmptyFolder()
        yield ActivityView(id="activity", classes="pane")
        yield MessageLine(id="message")
        words = f"READ-ONLY: nothing under {one_line(self._status.folder)} can be changed from this session."
        yield Static(Content(words), id="read-only")
        yield KeyLine()
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        """Paint first, load after."""
        self.set_class(self._status.read_only, "-read-only")
        self._show_status()
        self.files.border_title = "1 Files"
        self.note.border_title = "2 Note"
        self.activity.border_title = "3 Activity"
        self.change.border_title = "last change"
        self.message.say(f"Opening {self._status.folder}")
        self.files.focus()
        self.set_interval(1.0, self._show_titles)  # ages pass
        self.call_after_refresh(self._session.start)

    def on_unmount(self) -> None:
        """Close the folder."""
        self._session.stop()

    def on_resize(self, event: Resize) -> None:
        """Say it where the terminal is too small, and recover."""
        too_small = event.size.width < _SMALLEST[0] or event.size.height < _SMALLEST[1]
        self.set_class(too_small, "-too-small")
        if too_small:
            words = f"memtui needs {_SMALLEST[0]}x{_SMALLEST[1]} (now {event.size.width}x{event.size.height}). q quit"
            self.query_one("#too-small", Static).update(words)

    # What threads tell

    @on(Opened)
    def _show_folder(self, message: Opened) -> None:
        self._opened = True
        self._last = message.last
        self.files.show(Outline(message.entries, hidden=False))
        self.activity.append_rows(map(wording.activity_row, message.recent))
        for event in message.unseen:
            self._mark(event)
        self._unseen = {path: seq for path, seq in self._unseen.items() if path in self.files.outline}
        start = self._target(message.recent) or self._first_file()
        if start is not None:
            self._going_to = start
            self.files.move_to(start)
        self._complete = message.complete
        self.message.say(wording.since_last_look(message.unseen) or f"Watching {self._status.folder}")
        self._show_counts(self.files.outline.files, None)
        self._show_titles()
        self.app.post_message(FolderShown())

    @on(Happened)
    def _take_in(self, message: Happened) -> None:
        if message.complete and not self._complete:
            self._complete = True
            self.message.say(f"Watching {self._status.folder}")
        self._show_counts(message.files, message.size, complete=message.complete)
        if self.paused:
            self._held += len(message.events)
            self._show_status()
        elif message.events:
            self._show_events(message.events)

    @on(WatchingChanged)
    def _show_watching(self, message: WatchingChanged) -> None:
        self._watching = message.watching
        self._show_status()
        if message.watching.reason:
            self.message.say(message.watching.reason, warning=True)

    @on(Unrecorded)
    def _show_unrecorded(self, message: Unrecorded) -> None:
        """Say it for as long as it lasts: nothing that happens later may hide it."""
        self._status = replace(self._status, read_only=True)
        self.add_class("-read-only")
        words = f"READ-ONLY: {message.reason} Browsing works; nothing is recorded, and nothing can be changed."
        self.query_one("#read-only", Static).update(Content(one_line(words)))
        self._show_status()

    @on(Trouble)
    def _show_trouble(self, message: Trouble) -> None:
        self.message.say(message.reason, warning=True)

    @on(Told)
    def _show_told(self, message: Told) -> None:
        self.message.say(message.words)

    @on(LookedAt)
    def _show_looked_at(self, message: LookedAt) -> None:
        self.files.touch(message.entries)

    @on(Read)
    def _show_note(self, message: Read) -> None:
        if message.path != self.files.cursor_path:
            return
        changed = message.path in self._unseen
        self._preview.show(message, self.note, changed=changed, follow=self.follow)
        self.change.change = message.change
        self.set_class(message.change is not None, "-changed")
        self._show_titles()

    def _show_events(self, events: Sequence[Event]) -> None:
        """Bring the panes up to date with events, in one go."""
        self._last = events[-1].seq
        self.activity.append_rows(map(wording.activity_row, events))
        touched: set[str] = set()
        for event in events:
            self._apply(event)
            self._mark(event)
            touched.update(change.path for change in event.changes)
        shown = next((event for event in reversed(events) if event.command != "view"), events[-1])
        if shown.command == "found" and not self._complete:
            self.message.say(f"Looking at the folder for the first time: {self._status.files} so far.")
        else:
            self.message.say(wording.sentence(shown), warning=shown.is_error)
        if self.follow and (target := self._target(events)):
            self._going_to = target
            self.files.move_to(target)
        if self.files.cursor_path in touched:
            self._read(again=True)
        self._show_titles()

    def _apply(self, event: Event) -> None:
        """Patch the outline with what an event changed."""
        moved = _moved(event)
        if moved and moved[0] in self.files.outline:
            self.files.move(*moved)
        mtime_ns = None if event.is_outside else event.at_us * 1_000
        added: list[Entry] = []
        gone: list[str] = []
        for change in event.changes:
            came_back = self._gone.pop(change.path, None) is not None
            if change.after is None:
                gone.append(change.path)
            elif came_back or change.path not in self.files.outline or change.before is not None:
                size = change.after.size if mtime_ns else None
                added.append(Entry(change.path, change.after.kind, size, mtime_ns))
        if added:
            self.files.add(added)
        self._let_go([path for path in gone if path in self.files.outline])

    def _let_go(self, paths: list[str]) -> None:
        """Strike deleted entries through, and drop them a little later."""
        if not paths:
            return
        if len(paths) > _MANY_GONE:
            self._forget(paths)
            return
        gone_at = self._last
        self._gone.update(dict.fromkeys(paths, gone_at))
        self.set_timer(GONE_SECONDS, lambda: self._drop(paths, gone_at))

    def _drop(self, paths: Iterable[str], gone_at: int) -> None:
        """Drop entries, unless they have come back since."""
        gone = [path for path in paths if self._gone.get(path) == gone_at]
        for path in gone:
            del self._gone[path]
        self._forget(gone)
        self._show_titles()

    def _forget(self, paths: Sequence[str]) -> None:
        for path in paths:
            self._unseen.pop(path, None)
        self.files.drop(paths)

    def _mark(self, event: Event) -> None:
        """Remember what the person has not seen yet. What she did herself she has seen."""
        if isinstance(event.actor, Person) or event.command == "found":
            return
        when = event.at_us * 1_000
        if event.is_error:
            path = wording.relative(event.path)
            if path in self.files.outline:
                self.files.mark(path, Mark.PROBLEM, when)
                self._unseen[path] = event.seq
            return
        renamed = _moved(event)
        for change in event.changes:
            if renamed and change.path == renamed[0]:
                continue
            if (change.after or change.before or _NOTHING).kind is Kind.DIRECTORY and change.after is not None:
                continue
            self.files.mark(change.path, _mark_of(change, renamed), when)
            self._unseen[change.path] = event.seq

    def _target(self, events: Sequence[Event]) -> str | None:
        """Where a person who follows wants to be: at the last file that was read or written."""
        for event in reversed(events):
            path = wording.relative(event.new_path or event.path)
            entry = None if event.is_error or event.command == "found" else self.files.outline.get(path)
            if entry and entry.kind is not Kind.DIRECTORY:
                return path
        return None

    def _first_file(self) -> str | None:
        """The first file that is in sight: a note says more than a folder."""
        outline = self.files.outline
        paths = (outline.path_at(index) for index in range(min(len(outline), self.size.height)))
        return next((path for path in paths if (entry := outline.get(path)) and entry.kind is Kind.FILE), None)

    # What the person does in the panes

    @on(FilesView.Highlighted)
    def _open_note(self, message: FilesView.Highlighted) -> None:
        if message.path != self.files.cursor_path:
            return  # the cursor is elsewhere by now
        if message.path != self._going_to and self._going_to is not None:
            self.follow = False
        self._going_to = message.path
        self._read(again=False)
        self._show_titles()

    @on(FilesView.Opened)
    def _enter_note(self) -> None:
        self.note.focus()

    @on(FilesView.Needed)
    def _look_at(self, message: FilesView.Needed) -> None:
        self._look(message.paths)

    @on(FilesView.Moved)
    @on(NoteView.Moved)
    def _show_position(self, message: FilesView.Moved | NoteView.Moved) -> None:
        if isinstance(message, NoteView.Moved):
            self._position = f"{message.first_line}-{message.last_line}/{message.total_lines}"
        self._show_titles()

    @on(ActivityView.Opened)
    @on(ActivityView.Highlighted)
    def _go_to_row(self, message: ActivityView.Opened | ActivityView.Highlighted) -> None:
        self._going_to = wording.relative(message.row.path)
        self.follow = False
        self.files.move_to(self._going_to)
        if isinstance(message, ActivityView.Opened):
            self.note.focus()

    @on(ActivityView.FollowChanged)
    def _follow_activity(self, message: ActivityView.FollowChanged) -> None:
        self.follow = message.follow

    def watch_follow(self, follow: bool) -> None:
        """One switch for the whole screen."""
        self._status = replace(self._status, follow=follow)
        if self.is_mounted:
            self.activity.follow = follow
            self._show_status()

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing can be done with notes where there are none."""
        del parameters
        return not (self.has_class("-empty") and action in _NEED_A_NOTE)

    def action_find(self) -> None:
        """Open the line to find a text in the note."""
        from memtui.ui.find_line import FindLine  # deferred: Input is not needed for the first paint

        if self.query(FindLine):
            self.query_one("#find Input").focus()
        else:
            self.mount(FindLine(self.note, id="find"), before=self.message)

    def action_switch_view(self) -> None:
        """The next way to show the note."""
        self._preview.view = self._preview.view.next()
        self._read(again=False)
        self.message.say(f"The note is shown {self._preview.view.words}.")

    def action_follow(self) -> None:
        """Follow, or stay."""
        self.follow = not self.follow
        self.message.say("Following what happens." if self.follow else "Staying here. f follows again.")

    def action_pause(self) -> None:
        """Hold the screen still, or catch up."""
        self.paused = not self.paused
        if self.paused:
            self.message.say("Paused: the screen stands still, everything is still recorded. P goes on.")
        else:
            self.message.say("Live again.")
            if self._held:
                self._session.bring_again(self._last)
            self._held = 0
        self._show_status()

    def action_next_change(self, step: int) -> None:
        """To the next file with a mark."""
        order = [path for path in self._unseen if path in self.files.outline]
        order.sort(key=lambda path: path.split("/"))
        here = self.files.cursor_path or ""
        if not order:
            self.message.say("Nothing has changed since you last looked.")
            return
        if here in order:
            target = order[(order.index(here) + step) % len(order)]
        else:
            after = [path for path in order if path.split("/") > here.split("/")]
            target = (
                (after or order)[0] if step > 0 else next((p for p in reversed(order) if p not in after), order[-1])
            )
        self.follow = False
        self.files.move_to(target)

    def action_mark_seen(self) -> None:
        """What is under the cursor has been seen; for a directory, all below it."""
        here = self.files.cursor_path
        if here is not None:
            self._see([path for path in self._unseen if path == here or path.startswith(here + "/")])

    def action_mark_all_seen(self) -> None:
        """Everything has been seen."""
        self._see(list(self._unseen))

    def _see(self, paths: Sequence[str]) -> None:
        for path in paths:
            del self._unseen[path]
            self.files.clear_mark(path)
        if not self._unseen:
            self._remember_seen(self._last)
        self.note.highlight_lines(())
        self.message.say("Marked as seen." if paths else "There was nothing to mark here.")
        self._show_titles()

    def action_hidden(self) -> None:
        """Show hidden files, or leave them out."""
        hidden = not self.files.outline.hidden
        self.files.set_hidden(hidden)
        self.message.say("Hidden files are shown." if hidden else "Hidden files are left out.")

    @work
    async def action_sort(self) -> None:
        """Ask how to sort."""
        chosen = await self.app.push_screen_wait(MenuScreen("Sort the files", _SORTS))
        if chosen is None:
            return
        sort = Sort(chosen.removeprefix("-"))
        if sort is not Sort.NAME:
            await self._finished(self._look_at_all())
        self.files.set_sort(sort, chosen.startswith("-"))
        self.message.say(f"Sorted {next(choice.label for choice in _SORTS if choice.value == chosen)}.")
        self._show_titles()

    @work
    async def action_copy(self) -> None:
        """Ask what to copy."""
        path = self.files.cursor_path
        choices = (Choice("p", "path, as the agent calls it", "path"), Choice("c", "content of the note", "content"))
        chosen = await self.app.push_screen_wait(MenuScreen("Copy", choices)) if path else None
        if chosen:
            self.app.copy_to_clipboard(f"{ROOT_NAME}/{path}" if chosen == "path" else self._preview.text)
            self.message.say(f"Copied {chosen} (terminal).")

    def action_zoom(self) -> None:
        """The focused pane alone, or all of them."""
        self._set_pane_size("" if self._pane_size == "full" else "full")

    def action_resize_pane(self, step: int) -> None:
        """The next larger or smaller size of the focused pane."""
        index = min(max(_SIZES.index(self._pane_size) + step, 0), len(_SIZES) - 1)
        self._set_pane_size(_SIZES[index])

    def _set_pane_size(self, size: str) -> None:
        focused = self.focused.id if self.focused else None
        for pane in ("files", "note", "activity"):
            for name in _SIZES[1:]:
                self.set_class(pane == focused and name == size, f"-{name}-{pane}")
        self._pane_size = size if focused else ""
        if size:
            self.files.styles.width = None

    def action_divide(self, columns: int) -> None:
        """Move the divider between files and note; 0 puts everything back."""
        if columns == 0:
            self._set_pane_size("")
            self.files.styles.width = None
        else:
            self._divide_at(self.files.outer_size.width + columns)

    def _divide_at(self, column: int) -> None:
        self.files.styles.width = min(max(column, 16), max(self.size.width - 30, 16))

    @work(exclusive=True, group="rescan")
    async def action_rescan(self) -> None:
        """Look at everything again."""
        self.message.say("Looking at the whole folder again.")
        if await self._finished(self._look_everywhere()):
            self.message.say("Everything was looked at again.")

    def action_pane(self, name: str) -> None:
        """Focus a pane, and make it visible if it was put away."""
        pane = self.query_one(f"#{name}", Widget)
        if self._pane_size:
            self._set_pane_size("")
        if name == "activity" and self.has_class("-flat"):
            self.remove_class("-flat")
        pane.focus()

    def action_leave(self) -> None:
        """Out of whatever was opened last."""
        if self._pane_size:
            self._set_pane_size("")
        elif self.focused is not self.files:
            self.files.focus()

    def on_key(self, event: Key) -> None:
        """A number opens one of the folders that the empty state offers."""
        places = self.query_one(EmptyFolder).places
        if self.has_class("-empty") and event.character and event.character in "123456789"[: len(places)]:
            event.stop()
            self.app.post_message(FolderWanted(places[int(event.character) - 1].path))

    # The divider under the mouse

    def on_mouse_down(self, event: MouseDown) -> None:
        """Take hold of the divider."""
        if abs(event.screen_x - self.files.region.right) <= 1 and self.files.region.y <= event.screen_y < (
            self.files.region.bottom
        ):
            self._dragging = True
            self.capture_mouse()
            event.stop()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Drag it."""
        if self._dragging:
            self._divide_at(event.screen_x + 1)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Let go of it."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()
            event.stop()

    def on_click(self, event: Click) -> None:
        """A double click on the divider puts it back."""
        if event.chain == 2 and abs(event.screen_x - self.files.region.right) <= 1:
            self.action_divide(0)

    # Work in threads

    def _read(self, *, again: bool) -> None:
        path = self.files.cursor_path
        if path is not None:
            self._read_in_thread(path, again)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_in_thread(self, path: str, again: bool) -> None:
        worker = get_current_worker()
        as_model = self._preview.view is View.MODEL
        self._session.read(path, as_model=as_model, again=again, cancelled=lambda: worker.is_cancelled)

    @work(thread=True, group="look", exit_on_error=False)
    def _look(self, paths: tuple[str, ...]) -> None:
        self._session.look_at(paths)

    @work(thread=True, exclusive=True, group="look everywhere", exit_on_error=False)
    def _look_everywhere(self) -> None:
        self._session.look_everywhere()

    @work(thread=True, exclusive=True, group="look at all", exit_on_error=False)
    def _look_at_all(self) -> None:
        self._session.look_at_all()

    async def _finished(self, worker: Worker[None]) -> bool:
        """Wait for a worker; False if another one took its place, or it failed."""
        try:
            await worker.wait()
        except WorkerError:
            return False
        return True

    @work(thread=True, group="seen", exit_on_error=False)
    def _remember_seen(self, seq: int) -> None:
        self._session.mark_seen(seq)

    @work(thread=True, exclusive=True, group="places", exit_on_error=False)
    def _find_places(self) -> None:
        places = [place for place in find_places() if place.path != self._session.folder]
        self.app.call_from_thread(setattr, self.query_one(EmptyFolder), "places", places)

    # Words around the panes

    def _show_counts(self, files: int, size: int | None, *, complete: bool = False) -> None:
        if not self._opened:
            return
        if not complete:
            files = max(files, self.files.outline.files)
        words = f"{files:,} {'file' if files == 1 else 'files'}"
        self._status = replace(self._status, files=words if size is None else f"{words} {wording.size(size)}")
        empty = not files and not len(self.files.outline)
        if empty != self.has_class("-empty"):
            self.set_class(empty, "-empty")
            self.refresh_bindings()
            if empty:
                self._find_places()
        self._show_status()

    def _show_status(self) -> None:
        live = "PAUSED" if self.paused else self._watching.mode.name if self._opened else "opening"
        if self.paused and self._held:
            live = f"PAUSED {self._held}"
        self._status = replace(self._status, live=live)
        self.header.status = self._status

    def _show_titles(self) -> None:
        marks = len(self._unseen)
        row, total = self.files.position
        outline = self.files.outline
        sort = "" if outline.sort is Sort.NAME and not outline.reverse else f"  by {outline.sort.value}"
        self._entitle(self.files, f"1 Files{sort}" + (f"  new {marks}" if marks else ""), f"{row:,} of {total:,}")
        path = self.files.cursor_path
        name = one_line(path.rpartition("/")[2]) if path else "Note"
        self._entitle(self.note, f"2 {name}", "   ".join(map(one_line, self._about_note())))
        counters = self.activity.counters
        words = [f"3 Activity  all {counters.all:,}", f"writes {counters.writes:,}"]
        words += [f"refused {counters.refused:,}"] if counters.refused else []
        words += [f"outside {counters.outside:,}"] if counters.outside else []
        self._entitle(self.activity, "  ".join(words))

    def _entitle(self, pane: Widget, title: str, subtitle: str = "") -> None:
        """Put words into the edges of a pane, if they are others than before: each time costs a repaint."""
        if self._titles.get(pane.id) != (title, subtitle):
            self._titles[pane.id] = (title, subtitle)
            pane.border_title = Content(title)
            pane.border_subtitle = Content(subtitle)

    def _about_note(self) -> list[str]:
        """What the note's lower edge says: who changed it last, the lines in view, size and tokens."""
        change = self.change.change
        words = []
        if change is not None:
            seconds = time.time() - change.event.at_us / 1e6
            actor = shown_name(change.event.actor)
            words.append(f"{actor} {wording.age(seconds)} ago")
        if self._preview.view is not View.RENDERED:
            words.append(self._preview.view.words)
        if self._preview.text:
            words += [self._position, wording.size(self._preview.size), wording.tokens(self._preview.text)]
        return [word for word in words if word]


_NOTHING = Entry("", Kind.FILE)


def _moved(event: Event) -> tuple[str, str] | None:
    """From where to where an event moved something, relative to the folder."""
    if event.new_path is None or event.is_error:
        return None
    old, new = wording.relative(event.path), wording.relative(event.new_path)
    ends = {change.path: change for change in event.changes}
    if old in ends and ends[old].after is None and new in ends and ends[new].before is None:
        return old, new
    return None


def _mark_of(change: Change, renamed: tuple[str, str] | None) -> Mark:
    if renamed and change.path == renamed[1]:
        return Mark.RENAMED
    if change.after is None:
        return Mark.DELETED
    return Mark.NEW if change.before is None else Mark.CHANGED
