"""Time travel: the folder as it was right after any event. Looking changes nothing.

A step patches the rows by what one event changed, so that a held key runs through the events of a folder of any
size; the state of a moment further away is made once, in a thread.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.events import Key, Resize
from textual.message import Message
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from memtui.core.changes import LastChange
from memtui.core.errors import Closed, MemtuiError
from memtui.core.events import Change, Event, Version
from memtui.core.moments import POSSIBLE, moment
from memtui.core.paths import ROOT_NAME
from memtui.core.snapshot import Entry, Kind
from memtui.core.visible import one_line
from memtui.engine import Engine
from memtui.engine.history import compared
from memtui.ui import taking_back, titles, wording
from memtui.ui.change import ChangeView
from memtui.ui.files.contents import parent_of
from memtui.ui.files.marks import Mark
from memtui.ui.files.news import MANY_GONE, mark_of, moved, moved_by
from memtui.ui.files.outline import Outline, moved_path
from memtui.ui.files.view import FilesView
from memtui.ui.frame import Header, KeyLine, MessageLine, Status
from memtui.ui.note.view import NoteView
from memtui.ui.preview import Preview
from memtui.ui.screens.above import AboveBrowser
from memtui.ui.screens.ask import PromptScreen
from memtui.ui.screens.menu import Choice, MenuScreen
from memtui.ui.screens.panes import PanedScreen
from memtui.ui.timeline import Moment, Timeline

_MOST_MARKS = 2_000
"""Changes of one event that are marked; of more nobody reads the marks."""


@dataclass(frozen=True, slots=True)
class _Text:
    """What stood at a path at a moment."""

    path: str
    version: Version | None
    data: bytes | None
    change: LastChange | None
    """What the event of the moment did to it."""


class PastScreen(PanedScreen, AboveBrowser):
    """The folder as it was.

    Args:
        engine: The memory.
        title: How the folder is called.
        at: The number of the event after which it is shown first.
        path: Where the cursor is at first; `None` for the file that the event changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "step(-1)", "earlier", id="past.earlier", tooltip="To the change before"),
        Binding("right_square_bracket", "step(1)", "later", id="past.later", tooltip="To the change after"),
        Binding("home", "first", "first", id="past.first", tooltip="To the first event", priority=True, show=False),
        Binding("end", "last", "last", id="past.last", tooltip="To the last event", priority=True, show=False),
        Binding("number_sign", "go_to", "go to", id="past.go_to", tooltip="To an event's number, or to a time"),
        Binding("R", "restore", "restore", id="past.restore", tooltip="Bring back this note, this folder or all of it"),
        Binding("v", "history(True)", "diff", id="past.diff", tooltip="What this event changed in the note"),
        Binding("V", "history(False)", "history", id="past.history", tooltip="All versions of the note", show=False),
        Binding("u", "undo_here", "undo", id="past.undo", tooltip="Take back what was restored here last", show=False),
        Binding("U", "redo_here", "redo", id="past.redo", tooltip="Restore it again", show=False),
        Binding("f", "follow", "follow", id="past.follow", tooltip="Go to what each event changed, or stay"),
        Binding("full_stop", "hidden", "hidden", id="past.hidden", tooltip="Show hidden files or not", show=False),
        Binding("1", "pane('files')", "files", id="past.files", tooltip="To the files", show=False),
        Binding("2", "pane('note')", "note", id="past.note", tooltip="To the note", show=False),
        Binding("escape,T,q", "leave", "now", id="past.leave", tooltip="Back to now"),
    ]  # fmt: skip

    BANNERS_BEFORE = "Timeline"

    header = getters.query_one(Header)
    timeline = getters.query_one(Timeline)
    note = getters.query_one("#note", NoteView)
    change = getters.query_one(ChangeView)

    follow = var(True)

    class _Shown(Message):
        """What stood at a path was read."""

        def __init__(self, text: _Text, at: int, *, again: bool) -> None:
            super().__init__()
            self.text = text
            self.at = at
            self.again = again

    def __init__(self, engine: Engine, *, title: str, at: int, path: str | None = None) -> None:
        super().__init__()
        self._engine = engine
        self._history = engine.history
        self._folder = title
        self._start = at
        self._here = path
        self._moment = Moment(at, None)
        self._changed: Event | None = None
        self._ghosts: list[str] = []
        self._marked: list[str] = []
        self._steps = 0
        self._stepping = False
        self._ready = False
        self._going_to: str | None = None
        self._read_path: str | None = None
        self._preview = Preview()
        self._titles = titles.Titles()
        self._expanded: frozenset[str] | None = None

    def compose(self) -> ComposeResult:
        """The panes of the browser, without what happens now."""
        yield Header()
        yield Timeline()
        with Horizontal(id="body"):
            yield FilesView(id="files", classes="pane", now=self._now_ns)
            with Container(id="right"):
                yield NoteView(id="note", classes="pane")
                yield ChangeView(id="change", classes="pane")
        yield MessageLine(id="message")
        yield KeyLine()
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        """Make the state of the first moment, in a thread."""
        self.header.status = Status(self._folder, live="AS OF", follow=None, read_only=self._engine.read_only)
        self.set_class(self._engine.read_only, "-read-only")
        self.change.border_title = "this change"
        self.message.say("Going back. Nothing is changed by looking.")
        self.files.focus()
        self._travel(self._start)

    def on_resize(self, event: Resize) -> None:
        """A wide screen has room for the change beside the note."""
        super().on_resize(event)
        self._show_titles()

    def take_news(self, last: int) -> None:
        """The line of time grows."""
        if self._ready:
            self.timeline.last = max(self.timeline.last, last)

    def _now_ns(self) -> int:
        """Ages are those of the moment."""
        event = self._moment.event
        return event.at_us * 1_000 if event else time.time_ns()

    # Going to a moment

    @work(exclusive=True, group="travel")
    async def _travel(self, at: int) -> None:
        """To a moment anywhere in the record."""
        self._ready = False
        try:
            outline, moment, changed, last = await asyncio.to_thread(self._state_of, at)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.message.say(str(error), warning=True)
            return
        self._ghosts = []
        self._clear_marks()
        self._moment, self._changed = moment, changed
        self.files.show(outline)
        self.timeline.last = max(self.timeline.last, last, moment.at)
        self._ready = True
        target = self._here if self._here and self._here in outline else None
        self._here = None
        self._show_moment(target)
        self.message.say("This is the past. [ and ] step, Esc goes back to now. Nothing is changed by looking.")
        if self._steps:  # keys that were pressed while it was made
            self.action_step(0)

    def _state_of(self, at: int) -> tuple[Outline, Moment, Event | None, int]:
        """The rows of a moment, its event, and the event that changed something last by then. In a thread."""
        history = self._history
        last = self._engine.head()[0]
        at = max(0, min(at, last))
        event = history.event(at) if at else None
        changed = event if event and event.changes else history.step(at, -1) if at else None
        state = history.state(at)
        entries = [Entry(path, each.kind, _size(each), None) for path, each in state.items() if path]
        hidden = self.files.outline.hidden if self._expanded is not None else False
        return Outline(entries, hidden=hidden, expanded=self._expanded), Moment(at, event), changed, last

    def action_step(self, direction: int) -> None:
        """To the next or the previous event that changed something."""
        self._steps += direction
        if not self._stepping and self._ready:
            self._stepping = True
            self._go_on()

    @work(group="step")
    async def _go_on(self) -> None:
        """Go as many steps as keys were pressed meanwhile, each time with one patch of the rows."""
        try:
            while self._steps:
                steps, self._steps = self._steps, 0
                moment = self._moment
                way = await asyncio.to_thread(self._way, moment.at, steps)
                if self._ready and self._moment is moment:  # else a leap was faster
                    self._walk(way, steps)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.message.say(str(error), warning=True)
        finally:
            self._stepping = False

    def _way(self, at: int, steps: int) -> list[Event]:
        """The events that are passed, in the order of the way. In a thread."""
        direction = 1 if steps > 0 else -1
        way: list[Event] = []
        for _ in range(abs(steps)):
            event = self._history.step(at, direction)
            if event is None:
                break
            way.append(event)
            at = event.seq
        return way

    def _walk(self, way: Sequence[Event], steps: int) -> None:
        """Patch the rows by the events that are passed.

        Args:
            way: The events at which a step ends.
            steps: How many steps were wanted; negative for backwards.
        """
        self._drop_ghosts()
        self._clear_marks()
        if steps > 0:
            for event in way:
                self._patch(event, [(change, change.after) for change in event.changes])
                self._changed = event
        else:
            for event in way:
                if self._changed is not None and event.seq < self._changed.seq:
                    undone = self._changed
                    self._patch(
                        undone, [(change, change.before) for change in reversed(undone.changes)], backwards=True
                    )
                self._changed = event
            first = self._changed
            if len(way) < -steps and self._moment.at and first is not None and first.command != "found":
                self._leave_first()  # what was found had been there before
                return
        if way:
            self._moment = Moment(way[-1].seq, way[-1])
            self._show_moment()
        elif steps > 0:
            self.message.say(f"This is the last change of {self.timeline.last:,} events. Esc goes back to now.")
        else:
            self.message.say("There is nothing before this.")

    def _leave_first(self) -> None:
        """From the first event to before it."""
        first = self._changed
        assert first is not None
        self._patch(first, [(change, change.before) for change in reversed(first.changes)], backwards=True)
        self._changed, self._moment = None, Moment(0, None)
        self._show_moment()

    def _patch(self, event: Event, ends: Sequence[tuple[Change, Version | None]], *, backwards: bool = False) -> None:
        """Have each path of an event hold what it held after it, or before it."""
        moves = moved_by(event)
        if moves:
            self.files.move_all({new: old for old, new in moves.items()} if backwards else moves)
        time_ns = None if backwards else event.at_us * 1_000
        standing = {change.path: version for change, version in ends}
        gone = [path for path, version in standing.items() if version is None and path in self.files.outline]
        if gone:
            self.files.drop(gone)
        added = [Entry(path, each.kind, _size(each), time_ns) for path, each in standing.items() if each and path]
        if added:
            self.files.add(added)

    def _show_moment(self, target: str | None = None) -> None:
        """Bring everything around the rows up to date, and mark what the event changed."""
        at, event = self._moment
        self.timeline.moment = self._moment
        when = wording.when(event, time.time_ns() // 1_000) if event else "the beginning"
        files = self.files.outline.files
        status = replace(self.header.status, live=f"AS OF {when}  #{at}", files=wording.files(files))
        self.header.status = status
        if event is not None:
            self._mark(event)
        target = target or (_file_of(event, self.files.outline) if event and self.follow else None)
        if target is not None:
            self._going_to = target
            self.files.move_to(target)
        self._read(again=True)
        self._show_titles()

    def _mark(self, event: Event) -> None:
        """Mark what the event changed; what it took away is there once more, struck through."""
        moves = moved_by(event)
        arrived = set(moves.values())
        gone = [
            change
            for change in event.changes
            if change.after is None and change.before is not None and moved_path(change.path, moves) == change.path
        ]
        gone = [change for change in gone if change.path not in self.files.outline]
        if 0 < len(gone) <= MANY_GONE:
            self._ghosts = [change.path for change in gone]
            self.files.add(
                Entry(change.path, change.before.kind, _size(change.before), None) for change in gone if change.before
            )
        for change in event.changes[:_MOST_MARKS]:
            version = change.after or change.before
            is_directory = version is not None and version.kind is Kind.DIRECTORY
            if change.path in self.files.outline and not (is_directory and change.after is not None):
                self.files.mark(change.path, Mark.RENAMED if change.path in arrived else mark_of(change, None), 0)
                self._marked.append(change.path)

    def _clear_marks(self) -> None:
        for path in self._marked:
            self.files.clear_mark(path)
        self._marked = []

    def _drop_ghosts(self) -> None:
        if self._ghosts:
            ghosts, self._ghosts = self._ghosts, []
            self.files.drop(ghosts)

    # What the person does in the panes

    @on(FilesView.Highlighted)
    def _open_note(self, message: FilesView.Highlighted) -> None:
        if message.path != self.files.cursor_path:
            return
        if self._ready and message.was_put and self._going_to is not None and message.path != self._going_to:
            self.follow = False
        self._going_to = message.path
        self._read(again=False)
        self._show_titles()

    @on(FilesView.Opened)
    def _enter_note(self) -> None:
        self.note.focus()

    @on(FilesView.Moved)
    @on(NoteView.Moved)
    def _show_position(self) -> None:
        self._show_titles()

    def action_first(self) -> None:
        """To the first event."""
        self._leap(1)

    def action_last(self) -> None:
        """To the last one."""
        self._leap(self._engine.head()[0])

    def _leap(self, at: int) -> None:
        self._steps = 0
        self._expanded = self.files.outline.expanded
        self._travel(at)

    @work
    async def action_go_to(self) -> None:
        """Ask for a number or a time, and go there."""
        words = await self.app.push_screen_wait(PromptScreen("Go to", f"It may be {POSSIBLE}."))
        if not words:
            return
        try:
            wanted = moment(words, now=datetime.now().astimezone())
            last = await asyncio.to_thread(lambda: self._engine.head()[0])
            if wanted.seq is not None:
                at = wanted.seq
            elif wanted.last_us is None:
                at = last
            else:
                at = await asyncio.to_thread(self._history.seq_at, wanted.last_us)
        except ValueError as error:
            self.message.say(str(error), warning=True)
        except (MemtuiError, OSError) as error:
            self.message.say(str(error), warning=True)
        else:
            if at > last:
                self.message.say(f"There is no event #{at}. The last one is #{last}.", warning=True)
            else:
                self._leap(at)

    def action_follow(self) -> None:
        """Go to what each event changed, or stay."""
        self.follow = not self.follow
        self.message.say("The cursor goes to what changed." if self.follow else "Staying here. f follows again.")
        if self.follow:
            self._show_moment()

    def action_hidden(self) -> None:
        """Show hidden files, or leave them out."""
        self.files.set_hidden(not self.files.outline.hidden)

    def action_pane(self, name: str) -> None:
        """Focus a pane, and make it visible if it was put away."""
        if self._pane_size:
            self._set_pane_size("")
        self.query_one(f"#{name}", Widget).focus()

    def action_leave(self) -> None:
        """Out of zoom or the note, else back to now."""
        if self._pane_size:
            self._set_pane_size("")
        else:
            self.dismiss(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is restored in a read-only session."""
        if self._engine.read_only and action == "restore":
            return False
        return super().check_action(action, parameters)

    def on_key(self, event: Key) -> None:
        """Say why nothing can be restored in a read-only session."""
        if self._engine.read_only and event.key == "R":
            event.stop()
            self.message.say(self.why_read_only, warning=True)

    @work
    async def action_history(self, diff_first: bool) -> None:
        """The versions of the note under the cursor, this moment's chosen."""
        from memtui.ui.screens.history import HistoryScreen  # deferred: a step through the past needs none of it

        path = self.files.cursor_path
        entry = self.files.outline.get(path) if path else None
        if path is None or entry is None or entry.kind is Kind.DIRECTORY:
            self.message.say("A folder has no versions of its own; its notes have.")
            return
        self.app.push_screen(
            HistoryScreen(self._engine, path, title=self._folder, diff_first=diff_first, at=self._moment.at)
        )

    @work(exclusive=True, group="change")
    async def action_restore(self) -> None:
        """Ask what is to be as it was, say what that means, and do it."""
        path = self.files.cursor_path or ""
        entry = self.files.outline.get(path)
        choices = []
        if entry is not None and entry.kind is not Kind.DIRECTORY and path not in self._ghosts:
            choices.append(Choice("f", f"this note: {path}", path))
        directory = path if entry is not None and entry.kind is Kind.DIRECTORY else parent_of(path)
        if directory:
            choices.append(Choice("d", f"this folder: {directory}/", directory))
        choices.append(Choice("a", "everything", ""))
        when = wording.when(self._moment.event, time.time_ns() // 1_000) if self._moment.event else "the beginning"
        at = self._moment.at
        chosen = await self.app.push_screen_wait(MenuScreen(f"Restore as of {when}, #{at}", choices))
        if chosen is None:
            return
        try:
            said = await taking_back.restore_as_of(self.app, self._engine, chosen, at, when)
            last = await asyncio.to_thread(lambda: self._engine.head()[0])
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.message.say(str(error), warning=True)
            return
        self.timeline.last = max(self.timeline.last, last)
        if said is not None:
            self._done = said.event or self._done
            self.message.say(said.words, warning=said.is_warning)

    # The note as it was

    def _read(self, *, again: bool) -> None:
        path = self.files.cursor_path
        if path is None:
            self._read_path = None
            self._preview.clear()
            self.note.show_notice("Nothing was here.", "")
            self.change.change = None
            self._show_titles()
        else:
            self._read_in_thread(path, self._moment, again and path == self._read_path)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_in_thread(self, path: str, moment: Moment, again: bool) -> None:
        worker = get_current_worker()
        try:
            text = self._text_of(path, moment)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.app.call_from_thread(self.message.say, str(error), warning=True)
            return
        if not worker.is_cancelled:
            self.post_message(self._Shown(text, moment.at, again=again))

    def _text_of(self, path: str, moment: Moment) -> _Text:
        event = moment.event
        version = self._history.version_at(path, moment.at)
        data = self._history.text(version) if version is None or version.kind in (Kind.FILE, Kind.LINK) else None
        change = next((each for each in reversed(event.changes) if each.path == path), None) if event else None
        if event is None or change is None:
            return _Text(path, version, data, None)
        old = change.before
        renamed = moved(event)
        if renamed and path == renamed[1]:
            old = change.after
        before = self._history.text(old)
        return _Text(
            path, version or (change.before if change.after is None else None), data, compared(event, before, data)
        )

    @on(_Shown)
    def _show_note(self, message: _Shown) -> None:
        text = message.text
        if text.path != self.files.cursor_path or message.at != self._moment.at:
            return
        self._read_path = text.path
        self._preview.clear()
        name = one_line(text.path.rpartition("/")[2])
        kind = text.version.kind if text.version else None
        if text.path in self._ghosts:
            self.note.show_notice(name, "Deleted by this event. [ goes to where it still stood.")
        elif kind is None or kind is Kind.DIRECTORY:
            self.note.show_notice(name + "/", "A folder. Enter opens or closes it.")
        elif kind is Kind.OTHER:
            self.note.show_notice(name, "A FIFO, a socket or a device. What it holds is not kept.")
        elif text.data is None:
            self.note.show_notice(name, "Its text is not kept any more: it was removed from the record, or too large.")
        elif kind is Kind.LINK:
            self.note.show_notice(name, f"A link to {text.data.decode('utf-8', 'surrogateescape')}")
        else:
            assert text.version is not None
            self._preview.size = text.version.size
            lines = text.change.lines if text.change else frozenset[int]()
            self._preview.show_data(
                text.path, text.data, self.note, lines=lines, follow=self.follow, again=message.again
            )
        # Not by assignment: that lays out the whole screen again, for each step of a held key.
        self.change.set_reactive(ChangeView.change, text.change)
        self.change.refresh()
        self.set_class(text.change is not None, "-changed")
        self._show_titles()

    # Words around the panes

    def _show_titles(self) -> None:
        if not self.is_mounted:
            return
        row, total = self.files.position
        count = len(self._marked)
        changed = f"  changed {count:,}" if count else ""
        self._titles.put(self.files, f"1 Files{changed}", f"{row:,} of {total:,}")
        path = self.files.cursor_path
        name = one_line(path.rpartition("/")[2]) if path else "Note"
        words = ["" if self.follow else "not following"]
        if self._preview.text:
            words += [wording.size(self._preview.size), wording.tokens(self._preview.text)]
        self._titles.put(self.note, f"2 {name}", "   ".join(word for word in words if word))


def _size(version: Version) -> int | None:
    return version.size if version.kind is Kind.FILE else None


def _file_of(event: Event, outline: Outline) -> str | None:
    """The file that an event is about, if it is there."""
    named = wording.relative(event.new_path or event.path)
    changed = [
        each.path for each in event.changes if (each.after or each.before or _NOTHING).kind is not Kind.DIRECTORY
    ]
    for path in (named, *changed):
        entry = outline.get(path) if path != ROOT_NAME else None
        if entry is not None and entry.kind is not Kind.DIRECTORY:
            return path
    return None


_NOTHING = Version(Kind.FILE)
