"""Browse: the folder, the note under the cursor and what happens, side by side, as it happens.

The screen routes: what threads found goes to the panes, what the person does goes to the session. Everything
shown is made from what is in the folder and from events, so the panes cannot disagree.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.events import Key
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, WorkerError, get_current_worker

from memtui.config import Config, Ui
from memtui.core.audit_settings import AuditSettings
from memtui.core.events import Event, Person
from memtui.core.history import Blame
from memtui.core.settings import Settings
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.core.watching import Mode, Watching
from memtui.ui import said_keys, titles, wording
from memtui.ui.activity.view import ActivityView
from memtui.ui.as_left import left_of, outline_of, view_of
from memtui.ui.change import ChangeView
from memtui.ui.empty import EmptyFolder
from memtui.ui.files.news import News
from memtui.ui.files.outline import Sort
from memtui.ui.files.view import FilesView
from memtui.ui.frame import Header, KeyLine, MessageLine, Status
from memtui.ui.messages import (
    Blamed,
    ChatWanted,
    FolderShown,
    FolderWanted,
    Happened,
    LookedAt,
    LossChanged,
    Opened,
    Read,
    Told,
    Trouble,
    Unrecorded,
    WatchingChanged,
)
from memtui.ui.note.view import NoteView
from memtui.ui.preview import Preview, View
from memtui.ui.questions.answering import Answering
from memtui.ui.screens.auditing import Auditing
from memtui.ui.screens.editing import Editing
from memtui.ui.screens.finding import Finding
from memtui.ui.screens.linking import Linking
from memtui.ui.screens.managing import CHANGING, Managing
from memtui.ui.screens.menu import Choice, MenuScreen
from memtui.ui.screens.taking import READ_ONLY
from memtui.ui.session import Session

if TYPE_CHECKING:
    from memtui.ui.screens.above import AboveBrowser

_FAILS = "Changes by others cannot be "
"""How the watcher begins to say that it is not slower but fails, as on a full disk."""
_NEED_A_NOTE = frozenset(
    {"find_in_note", "switch_view", "next_change", "mark_seen", "mark_all_seen", "sort", "copy", "zoom", "blame"}
    | {"rename", "copy_to", "delete", "mark", "mark_all", "pin", "pins", "protect"}
)
_CHANGING = CHANGING | {"undo", "redo", "undo_since", "restore_loss", "dismiss_loss"}
"""Actions that change the folder, or what is remembered of it."""
_LAST = "browse.last"
"""Under which name the number of the last event that was on screen is remembered."""
_OF_A_LOSS = frozenset({"restore_loss", "dismiss_loss"})

_SORTS = (
    Choice("n", "by name", "name"),
    Choice("N", "by name, reversed", "-name"),
    Choice("m", "by time, newest first", "modified"),
    Choice("M", "by time, oldest first", "-modified"),
    Choice("s", "by size, largest first", "size"),
    Choice("S", "by size, smallest first", "-size"),
)


class BrowseScreen(Managing, Editing, Finding, Linking, Auditing, Answering):
    """One memory folder.

    Args:
        folder: An existing directory, links resolved.
        state: Where its journal lies, if not in its usual place.
        title: How it is called.
        label: A word on what this session is; empty for an ordinary one.
        read_only: Whether nothing can be changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+f", "find_in_note", "find here", id="note.find", tooltip="Find a text in the open note", show=False
        ),
        Binding("v", "history(True)", "diff", id="browse.diff", tooltip="What changed last, or in this event"),
        Binding("V", "history(False)", "history", id="browse.history", tooltip="All its versions"),
        Binding("u", "undo", "undo", id="browse.undo", tooltip="Take the last change back, or this event"),
        Binding("U", "redo", "redo", id="browse.redo", tooltip="Redo what was undone", show=False),
        Binding(
            "Z", "undo_since", "undo everything", id="browse.undo_since",
            tooltip="Undo everything by somebody since some time", show=False,
        ),
        Binding("f", "follow", "follow", id="browse.follow", tooltip="Go where something happens, or stay"),
        Binding("t", "switch_view", "view", id="note.view", tooltip="Rendered, source, or as the model sees it"),
        Binding("B", "blame", "blame", id="note.blame", tooltip="Who wrote each line, or no longer", show=False),
        Binding("T", "past", "time travel", id="browse.past", tooltip="The folder as it was at any event"),
        Binding("D", "deleted", "deleted", id="browse.deleted", tooltip="What was deleted, to bring it back"),
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
        Binding("R", "rescan", "rescan", id="browse.rescan", tooltip="Look at the whole folder again", show=False),
        Binding(
            "ctrl+r", "restore_loss", "bring back", id="browse.restore_loss",
            tooltip="Bring back the memories that went at once", show=False, priority=True,
        ),
        Binding(
            "x", "dismiss_loss", "keep it so", id="browse.dismiss_loss",
            tooltip="Leave gone the memories that went at once", show=False,
        ),
        Binding("1", "pane('files')", "files", id="browse.files", tooltip="To the files", show=False),
        Binding("2", "pane('note')", "note", id="browse.note", tooltip="To the note", show=False),
        Binding("3", "pane('activity')", "activity", id="browse.activity", tooltip="To the activity", show=False),
        Binding("o", "app.places", "open folder", id="app.places", tooltip="Open another folder", show=False),
        Binding(
            "colon_chat", "chat", "chat", id="browse.chat", tooltip="Chat with Claude over this folder", show=False
        ),
        Binding("escape", "leave", "leave", id="browse.leave", tooltip="Leave find, zoom or the pane", show=False),
    ]  # fmt: skip

    TITLES: ClassVar[tuple[str, str, str]] = ("1 Files", "2 Note", "3 Activity")
    """What the panes are called, each after the number that leads to it."""
    FIRST: ClassVar[str] = "#files"
    """Where the person is at first."""

    header = getters.query_one(Header)
    note = getters.query_one("#note", NoteView)
    change = getters.query_one(ChangeView)

    follow = var(True)
    paused = var(False)

    def __init__(
        self,
        folder: str,
        *,
        title: str,
        state: str | None = None,
        label: str = "",
        read_only: bool = False,
    ) -> None:
        super().__init__(Session(folder, self.post_message, state=state, read_only=read_only), title=title)
        self._status = Status(title, label, read_only=read_only)
        self._watching = Watching(Mode.LIVE)
        self._opened = False
        self._preview = Preview()
        self._held = 0
        self._complete = False
        self._position = (0, 0, 0)
        self._going_to: str | None = None
        self._counted: tuple[int, int | None] = (0, None)
        self._titles = titles.Titles()
        self._blame: Blame | None = None
        self._blaming = False
        self._view_before = View.RENDERED
        self._ui = Ui()
        self._audit = AuditSettings()

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
        self._news = News(self.files, self._show_what_is_left)
        self.set_class(self._status.read_only, "-read-only")
        self._show_status()
        self.files.border_title, self.note.border_title, self.activity.border_title = self.TITLES
        self.change.border_title = "last change"
        self.message.say(f"Opening {self._status.folder}", is_news=True)
        self.query_one(self.FIRST).focus()
        self._take_settings()
        self.set_interval(1.0, self._show_titles)  # ages pass
        self.call_after_refresh(self._session.start)

    async def on_unmount(self) -> None:
        """Close the folder, and remember how it is left."""
        if self._opened and self._ui.remember:
            files = self._files_left
            view = self._view_before if self._blaming else self._preview.view
            self.words_left[_LAST] = str(self._last)
            left = left_of(files.outline, files.cursor_path, view, self.dividers, self.words_left)
            self._session.leave(left)
        self._session.stop()

    def _take_settings(self) -> None:
        config = getattr(self.app, "config", None)
        if isinstance(config, Config):
            self._ui, self._session.settings = config.ui, config.memory
            self._audit = config.audit
            self._preview.max_lines, self._preview.max_bytes = config.audit.max_lines, config.audit.max_index_bytes
        self._preview.view = view_of(None, self._ui)
        self._files_left = self.files
        self.follow = self.activity.follow = self._ui.follow

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be changed."""
        return self._status.read_only

    # What threads tell

    @on(Opened)
    def _show_folder(self, message: Opened) -> None:
        self._opened = True
        self._last = message.last
        left = self._session.left if self._ui.remember else None
        self.files.show(outline_of(message.entries, left, self._ui))
        if left is not None:
            self.dividers, self.words_left = dict(left.dividers), dict(left.words)
            self._preview.view = view_of(left, self._ui)
            self.put_divider_back()
        if self.files.outline.sort is not Sort.NAME:
            self._look_at_all()
        self.activity.append_rows(map(wording.activity_row, message.recent))
        self._news.recall(message.unseen)
        start = self._start(message, left.cursor if left is not None else "")
        if start is not None:
            self._going_to = start
            self.files.move_to(start)
        self._complete = message.complete
        began = next((event for event in message.recent if event.command == "began"), None)
        if began is not None and not message.complete:
            self._show_banner("began", wording.sentence(began), "Nothing of earlier is remembered.")
        self.message.say(wording.since_last_look(message.unseen) or f"Watching {self._status.folder}", is_news=True)
        self._show_counts(self.files.outline.files, None)
        self._show_titles()
        self.app.post_message(FolderShown())
        self.tell_of_drafts()

    @on(Happened)
    def _take_in(self, message: Happened) -> None:
        if message.complete and not self._complete:
            self._complete = True
            self.message.say(f"Watching {self._status.folder}", is_news=True)
        if self.paused:
            self._held += len(message.events)
        elif message.events:
            self._show_events(message.events)
        self._show_counts(message.files, message.size, complete=message.complete)
        if message.events:
            for screen in self._screens_above():
                screen.take_news(message.events[-1].seq)

    @on(WatchingChanged)
    def _show_watching(self, message: WatchingChanged) -> None:
        was_gone = self._watching.mode is Mode.GONE
        self._watching = message.watching
        is_gone = message.watching.mode is Mode.GONE
        self.set_class(is_gone, "-gone")
        self._show_status()
        self._show_titles()
        words = "What you see is how it was; none of it is recorded as deleted."
        self._alarm("gone", message.watching.reason if is_gone else "", words)
        fails = message.watching.reason.startswith(_FAILS) and not is_gone
        words = "What you see may be old, and what happens meanwhile is not remembered."
        self._alarm("unnoticed", message.watching.reason if fails else "", words)
        if message.watching.reason and not is_gone:
            self.message.say(message.watching.reason, warning=True)
        elif was_gone and not is_gone:
            self.message.say(f"{self._status.folder} is there again.")

    @on(LossChanged)
    def _show_loss(self, message: LossChanged) -> None:
        self._loss = message.loss
        remedy, above = "Ctrl+R brings them back.   x keeps it so", "Ctrl+R brings them back."
        if self._status.read_only:
            remedy = above = "Start without --read-only to bring them back."
            if self.why_read_only != READ_ONLY:
                remedy = above = "They cannot be brought back in this session."
        self._alarm("loss", wording.loss(message.loss) if message.loss else "", remedy, above=above)
        self.refresh_bindings()

    @on(Unrecorded)
    def _show_unrecorded(self, message: Unrecorded) -> None:
        """Say it for as long as it lasts: nothing that happens later may hide it."""
        self._status = replace(self._status, read_only=True)
        self.why_read_only = f"Nothing can be changed: {message.reason}"
        self.why_no_history = "" if message.history else message.reason
        self.add_class("-read-only")
        works = "Browsing and history work" if message.history else "Browsing works"
        words = f"READ-ONLY: nothing new is recorded, and nothing can be changed. {works}. {message.reason}"
        self.query_one("#read-only", Static).update(Content(one_line(words)))
        self._show_status()
        self.refresh_bindings()

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
        changed = message.path in self._news
        self._preview.show(message, self.note, changed=changed, follow=self.follow)
        self.show_wanted(message, self.note)
        self._blame = None
        if self._blaming and self._preview.view is View.SOURCE and self._preview.data is not None:
            self._find_blame(message.path, self._preview.data)
        self.change.change = message.change
        self.set_class(message.change is not None, "-changed")
        self._show_titles()

    @on(Blamed)
    def _show_blame(self, message: Blamed) -> None:
        if not self._blaming or message.path != self.files.cursor_path or message.data is not self._preview.data:
            return  # another note by now, or another text of it
        from memtui.ui.note.blame import remarks_of  # deferred: only where somebody asks who wrote it

        self._blame = message.blame
        width = self.note.size.width
        self.note.annotate(remarks_of(message.blame, width=width, now_us=time.time_ns() // 1_000))
        self._show_titles()

    def _start(self, message: Opened, cursor: str) -> str | None:
        """Where the cursor is at first: at what is new, for who follows; else where it was left."""
        known = self.words_left.get(_LAST, "")
        last = int(known) if known.isdecimal() else 0
        is_news = any(event.seq > last for event in message.unseen)
        target = self._target(message.recent) if self.follow else None
        if cursor in self.files.outline and not (target and is_news):
            return cursor
        return target or self._first_file()

    def _show_events(self, events: Sequence[Event]) -> None:
        """Bring the panes up to date with events, in one go."""
        self._last = events[-1].seq
        self.activity.append_rows(map(wording.activity_row, events))
        self._news.take(events)
        shown = next((event for event in reversed(events) if event.command != "view"), events[-1])
        if shown.command == "found" and not self._complete:
            words = f"Looking at the folder for the first time: {self._status.files} so far."
            self.message.say(words, is_news=True)
        elif shown.seq not in self._said:
            self.message.say(wording.sentence(shown), hint=self._hint(shown), warning=shown.is_error, is_news=True)
        if self.follow and (target := self._target(events)):
            self._going_to = target
            self.files.move_to(target)
        if any(change.path == self.files.cursor_path for event in events for change in event.changes):
            self._read(again=True)
        self._show_titles()

    def _hint(self, event: Event) -> str:
        """The keys that go with what just happened."""
        if event.is_error or not event.changes or event.command == "found":
            return ""
        undo = "" if self._status.read_only else f"{said_keys.undo()} takes it back."
        is_move = event.new_path is not None or event.moved
        if not is_move and any(change.after is None for change in event.changes):
            return f"{said_keys.deleted()} lists what is gone{', ' if undo else '.'}{undo}"
        if wording.relative(event.new_path or event.path) == self.files.cursor_path or self.follow:
            return f"{said_keys.said('browse.diff', 'v')} shows it{', ' if undo else '.'}{undo}"
        return undo

    def _show_what_is_left(self) -> None:
        """Rows that were struck through have gone."""
        self._show_counts(*self._counted, complete=self._complete)
        self._show_titles()

    def _target(self, events: Sequence[Event]) -> str | None:
        """Where a person who follows wants to be: at the last file that was read or written."""
        for event in reversed(events):
            if isinstance(event.actor, Person) and event.command == "delete":
                continue  # there is nothing more to see, and the person is at the next row by now
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
        if message.was_put and message.path != self._going_to and self._going_to is not None:
            self.follow = False
        self._going_to = message.path
        self._read(again=False)
        self._show_titles()

    @on(FilesView.Opened)
    def _enter_note(self) -> None:
        self.go_to_note()

    def go_to_note(self) -> None:
        """Focus the note."""
        self.note.focus()

    def go_to(self, path: str) -> None:
        """Put the cursor on a note, show it, and follow nothing else."""
        self.follow = False
        if not self.files.outline.hidden and any(part.startswith(".") for part in path.split("/")):
            self.files.set_hidden(True)
        self._going_to, was_here = path, self.files.cursor_path == path
        if not self.files.move_to(path):
            self.message.say(f"{path} is not there any more.")
            return
        if was_here:
            self._read(again=False)  # else the cursor's move does; twice, the second one would lose the place
        self.go_to_note()

    @on(FilesView.Needed)
    def _look_at(self, message: FilesView.Needed) -> None:
        self._look(message.paths)

    @on(FilesView.Moved)
    @on(NoteView.Moved)
    def _show_position(self, message: FilesView.Moved | NoteView.Moved) -> None:
        if isinstance(message, NoteView.Moved):
            self._position = (message.first_line, message.last_line, message.total_lines)
        self._show_titles()

    @on(ActivityView.Opened)
    @on(ActivityView.Highlighted)
    def _go_to_row(self, message: ActivityView.Opened | ActivityView.Highlighted) -> None:
        self._going_to = wording.relative(message.row.path)
        self.follow = False
        self.files.move_to(self._going_to)
        if isinstance(message, ActivityView.Opened):
            self.go_to_note()

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
        """What changes nothing is offered in a read-only session, and what concerns a note where there is one."""
        del parameters
        if self.has_class("-empty") and action in _NEED_A_NOTE:
            return False
        if action in _OF_A_LOSS and self._loss is None:
            return False
        return not (self._status.read_only and action in _CHANGING) and self.can_manage(action)

    def action_chat(self) -> None:
        """Chat with Claude, this folder being its memory."""
        self.app.post_message(ChatWanted(self._session.folder))

    def go_back(self) -> object:
        """This screen is the first one: leave."""
        self.app.exit(0)
        return None

    def action_find_in_note(self) -> None:
        """Open the line to find a text in the note."""
        from memtui.ui.find_line import FindLine  # deferred: Input is not needed for the first paint

        if self.query(FindLine):
            self.query_one("#find Input").focus()
        else:
            self.mount(FindLine(self.note, id="find"), before=self.message)

    def action_switch_view(self) -> None:
        """The next way to show the note."""
        self._preview.view = self._preview.view.next()
        self._blaming = False
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
        target = self._news.next(self.files.cursor_path or "", step)
        if target is None:
            self.message.say("Nothing has changed since you last looked.")
            return
        self.follow = False
        self.files.move_to(target)

    def action_mark_seen(self) -> None:
        """What is under the cursor has been seen; for a directory, all below it."""
        here = self.files.cursor_path
        if here is not None:
            self._see(self._news.below(here))

    def action_mark_all_seen(self) -> None:
        """Everything has been seen."""
        self._see(self._news.below(""))

    def _see(self, paths: Sequence[str]) -> None:
        self._news.see(paths)
        if not len(self._news):
            self._remember_seen(self._last)
        self.note.highlight_lines(())
        self.message.say("Marked as seen." if paths else "There was nothing to mark here.")
        self._show_titles()

    def action_blame(self) -> None:
        """Say who wrote each line of the note, beside its source; or no longer."""
        self._blaming = not self._blaming
        if self._blaming:
            self._view_before, self._preview.view = self._preview.view, View.SOURCE
            self.message.say("Who wrote each line, how long ago, and in which event. B takes it away again.")
        else:
            self._preview.view = self._view_before
            self.message.say(f"The note is shown {self._preview.view.words}.")
        self._read(again=self._view_before is View.SOURCE)

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

    @work(exclusive=True, group="rescan")
    async def action_rescan(self) -> None:
        """Look at everything again."""
        self.message.say("Looking at the whole folder again.")
        worker = self._look_everywhere()
        if await self._finished(worker) and worker.result:
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
        if self.unmark():
            return
        if self._pane_size:
            self._set_pane_size("")
        elif self.focused is not self.files:
            self.files.focus()

    def on_key(self, event: Key) -> None:
        """What cannot be done here says so; a number opens one of the folders that the empty state offers."""
        bound = self._bindings.key_to_bindings.get(event.key, ())
        if self._status.read_only and any(
            binding.action in _CHANGING and (binding.action not in _OF_A_LOSS or self._loss) for binding in bound
        ):
            event.stop()
            self.message.say(self.why_read_only, warning=True)
            return
        if words := self.why_not_here(event.key):
            event.stop()
            self.message.say(words)
            return
        places = [place for empty in self.query(EmptyFolder) for place in empty.places]
        if self.has_class("-empty") and event.character and event.character in "123456789"[: len(places)]:
            event.stop()
            self.app.post_message(FolderWanted(places[int(event.character) - 1].path))

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

    @work(thread=True, exclusive=True, group="blame", exit_on_error=False)
    def _find_blame(self, path: str, data: bytes) -> None:
        worker = get_current_worker()
        self._session.blame(path, data, lambda: worker.is_cancelled)

    @work(thread=True, group="look", exit_on_error=False)
    def _look(self, paths: tuple[str, ...]) -> None:
        self._session.look_at(paths)

    @work(thread=True, exclusive=True, group="look everywhere", exit_on_error=False)
    def _look_everywhere(self) -> bool:
        return self._session.look_everywhere()

    @work(thread=True, exclusive=True, group="look at all", exit_on_error=False)
    def _look_at_all(self) -> None:
        self._session.look_at_all()

    async def _finished(self, worker: Worker[Any]) -> bool:
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
        from memtui.places.finding import find_places  # deferred: only where there is nothing to show

        empty = self.query_one(EmptyFolder)
        self.app.call_from_thread(setattr, empty, "gone", self._session.count_deleted())
        places = [place for place in find_places() if place.path != self._session.folder]
        self.app.call_from_thread(setattr, empty, "places", places)

    # Words around the panes

    def _show_counts(self, files: int, size: int | None, *, complete: bool = False) -> None:
        self._counted = files, size
        if not self._opened:
            return
        from memtui.ui.meter import meter  # deferred: not needed for the first paint

        if not complete:
            files = max(files, self.files.outline.files)
        words = f"{files:,} {'file' if files == 1 else 'files'}"
        self._status = replace(
            self._status,
            files=words if size is None else f"{words} {wording.size(size)}",
            meter=meter(files, size, self._session.settings or Settings(), self._audit),
        )
        empty = not files and not len(self.files.outline)
        if empty != self.has_class("-empty"):
            self.set_class(empty, "-empty")
            self.files.can_focus = not empty  # nothing of it is shown
            if empty and self.focused is self.files:
                self.set_focus(None)
            elif not empty and self.focused is None:
                self.query_one(self.FIRST).focus()
            self.refresh_bindings()
            if empty and self.query(EmptyFolder):
                self._find_places()
        self._show_status()

    def _show_status(self) -> None:
        live = "PAUSED" if self.paused else self._watching.mode.name if self._opened else "opening"
        if self.paused and self._held:
            live = f"PAUSED {self._held}"
        self._status = replace(self._status, live=live)
        self.header.status = self._status

    def _show_titles(self) -> None:
        row, total = self.files.position
        stale = "  not current" if self._watching.mode is Mode.GONE else ""
        outline = self.files.outline
        files, note, activity = self.TITLES
        words = titles.of_files(files, outline, len(self._news), len(self.files.picked)) + stale
        self._titles.put(self.files, words, f"{row:,} of {total:,}")
        path = self.files.cursor_path
        name = f"{note[:1]} {one_line(path.rpartition('/')[2])}" if path else note
        self._titles.put(self.note, f"{name}{stale}", "   ".join(map(one_line, self._about_note())))
        self._titles.put(self.activity, titles.of_activity(activity, self.activity.counters))

    def _about_note(self) -> list[str]:
        """What the note's lower edge says: who changed it last, the lines in view, size and tokens."""
        first, last, total = self._position
        if self._blame is not None:
            from memtui.ui.note.blame import sentence  # deferred: only where somebody asks who wrote it

            return [sentence(self._blame, first, time.time_ns() // 1_000), f"{first}-{last}/{total}"]
        words = [titles.last_changed(self.change.change)]
        if (path := self.files.cursor_path) is not None and self.files.is_protected(path):
            words.append("protected")
        if self._preview.view is not View.RENDERED:
            words.append(self._preview.view.words)
        if self._preview.text:
            words += [f"{first}-{last}/{total}" if total else ""]
            words += [wording.size(self._preview.size), self._preview.loads or wording.tokens(self._preview.text)]
        return [word for word in words if word]

    def _show_banner(self, name: str, case: str, remedy: str) -> None:
        """Put a banner above the panes, or take it away where there is nothing to say."""
        known = self.query(f"#{name}")
        if not case and not known:
            return
        from memtui.ui.banner import show_banner  # deferred: hopefully never needed

        show_banner(self, name, case, remedy, before="#body")

    def _alarm(self, name: str, case: str, remedy: str, *, above: str | None = None) -> None:
        """Say what must not be overlooked, here and on the screens above.

        Args:
            name: The banner's id.
            case: What is the case; empty once it is no more.
            remedy: What can be done.
            above: What can be done on the screens above, if that is another thing.
        """
        self._show_banner(name, case, remedy)
        self.alarms[name] = (case, remedy if above is None else above)
        for screen in self._screens_above():
            screen.show_alarm(name, *self.alarms[name])

    def _screens_above(self) -> "list[AboveBrowser]":
        if self.app.screen is self:
            return []
        from memtui.ui.screens.above import AboveBrowser  # deferred: by now it is loaded

        return [screen for screen in self.app.screen_stack if isinstance(screen, AboveBrowser)]
