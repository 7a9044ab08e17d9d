"""The deleted notes: found by name, shown, and restored."""

import time
from collections.abc import Sequence
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from memtui.core import wording
from memtui.core.events import EntryKind, Event, format_actor_in_sentence
from memtui.core.history import DeletedPath
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.engine import Engine
from memtui.flows.undo import explain_not_restorable
from memtui.ui.flows import undo
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine, PaneTitles
from memtui.ui.key_names import label_key
from memtui.ui.messages import report_errors
from memtui.ui.screens.above_browser import OverlayScreen
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.preview import Preview
from memtui.ui.widgets.row_list import DeletedView

_LOOK_SECONDS = 1.0
"""Least seconds between two reads of the record."""


class DeletedScreen(OverlayScreen):
    """The deleted memories of a folder."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("R,enter", "restore", "restore", id="deleted.restore", tooltip="Restore the note, or all selected"),
        Binding("slash", "narrow", "filter", id="deleted.narrow", tooltip="Filter by path"),
        Binding("u", "undo_here", "undo", id="deleted.undo", tooltip="Undo the last restore", show=False),
        Binding("U", "redo_here", "redo", id="deleted.redo", tooltip="Restore it again", show=False),
        Binding("v", "history(True)", "diff", id="deleted.diff", tooltip="Diff of the deletion", show=False),
        Binding("T", "past", "time travel", id="deleted.past", tooltip="The folder before the deletion", show=False),
        Binding("tab", "app.focus_next", "next pane", id="deleted.next", tooltip="To the next pane", show=False),
        Binding("shift+tab", "app.focus_previous", "previous pane", id="deleted.previous",
                tooltip="To the previous pane", show=False),
        Binding("escape,D,q", "leave", "back", id="deleted.leave", tooltip="Clear the filter, or go back"),
        Binding("V", "history(False)", "history", id="deleted.history", tooltip="All versions of the note"),
    ]  # fmt: skip

    AUTO_FOCUS = "#deleted"  # a key that is typed at once is none of the filter's text
    BANNER_ANCHOR = "#narrow"
    CHANGES = frozenset({"restore"})
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it

    DEFAULT_CSS = """
    DeletedScreen {
        & #narrow { height: 1; padding: 0 1; background: $panel; }
        & #prompt { width: auto; color: $text-accent; text-style: bold; }
        & Input { width: 1fr; background: $panel; }
        & #count { width: auto; min-width: 14; text-align: right; }
        & #body { height: 1fr; }
        & #deleted { width: 1fr; height: 1fr; }
        & #note { width: 1fr; height: 1fr; }
        &.-narrow #body { layout: vertical; }
    }
    """

    header = getters.query_one(Header)
    listed = getters.query_one("#deleted", DeletedView)
    note = getters.query_one("#note", NoteView)

    @dataclass(eq=False)
    class _DeletedRead(Message):
        found: Sequence[DeletedPath]

    @dataclass(eq=False)
    class _TextRead(Message):
        deleted: DeletedPath
        data: bytes | None

    def __init__(self, engine: Engine, *, title: str) -> None:
        super().__init__()
        self._engine = engine
        self._folder = title
        self._found: Sequence[DeletedPath] = ()
        self._is_loaded = False
        self._stale = False
        self._preview = Preview()
        self._titles = PaneTitles()

    def compose(self) -> ComposeResult:
        yield Header()
        with Horizontal(id="narrow"):
            yield Static("/ ", id="prompt")
            yield Input(placeholder="type to filter", compact=True, id="filter")
            yield Static(id="count", markup=False)
        with Horizontal(id="body"):
            yield DeletedView(id="deleted", classes="pane")
            yield NoteView(id="note", classes="pane")
        yield MessageLine(id="message")
        yield KeyLine()

    def on_mount(self) -> None:
        self.header.status = HeaderStatus(self._folder, live="DELETED", follow=None, read_only=self._engine.read_only)
        self.message.show_message("Reading the history.")
        self.listed.focus()
        self._load_deleted(is_first=True)
        self.set_interval(_LOOK_SECONDS, self._refresh_if_stale)

    def handle_new_events(self, last: int) -> None:
        del last
        self._stale = True

    def _refresh_if_stale(self) -> None:
        if self._stale and self._is_loaded and self.is_current:
            self._stale = False
            self._load_deleted()

    @work(thread=True, exclusive=True, group="find", exit_on_error=False)
    def _load_deleted(self, *, is_first: bool = False) -> None:
        with report_errors(self.post_message):
            found = self._engine.history.find_deleted()
            first = None if found else self._engine.history.get_event(1)
            self.post_message(self._DeletedRead(found))
            if is_first:
                self.app.call_from_thread(self._show_hint, found, first)

    def _show_hint(self, found: Sequence[DeletedPath], first: Event | None) -> None:
        if self.browser is not None and self.browser.no_history_reason:
            words = f"No list of deleted notes: {self.browser.no_history_reason}"
        elif first is not None and first.command == "began":
            words = "No deletions since a new history began here. Earlier ones are not known."
        elif not found:
            words = "No note was deleted since memtui first saw the folder."
        elif self.is_read_only:
            words = ""
        else:
            words = f"{label_key('deleted.mark')} selects, {label_key('deleted.restore')} restores."
        self.message.show_message(words)

    @on(_DeletedRead)
    def _show_found(self, message: _DeletedRead) -> None:
        self._found, self._is_loaded = message.found, True
        there = {each.path for each in message.found}
        self.listed.deselect([each.path for each in self.listed.selected_paths if each.path not in there])
        self._apply_filter()

    @on(Input.Changed)
    def _apply_filter(self) -> None:
        wanted = self.query_one(Input).value.strip().casefold()
        words = wanted.split()
        listed = [each for each in self._found if all(word in each.path.casefold() for word in words)]
        count = f"{len(listed):,} of {len(self._found):,}" if wanted else wording.format_count(len(listed), "note")
        self.query_one("#count", Static).update(count)
        self.listed.show(listed)

    @on(Input.Submitted)
    def _confirm_filter(self) -> None:
        self.listed.focus()

    @on(DeletedView.SelectionChanged)
    def _show_titles(self) -> None:
        count = len(self.listed.selected_paths)
        row, total = self.listed.position
        words = "1 Deleted, newest first" + (f"  selected {count:,}" if count else "")
        self._titles.set_title(self.listed, words, f"{row:,} of {total:,}")

    @on(DeletedView.Highlighted)
    def _show_highlighted(self) -> None:
        here = self.listed.cursor_item
        self._show_titles()
        if here is None:
            words = (
                f"Change the filter, or press {label_key('deleted.leave')}."
                if self._found
                else "Deleted notes will be listed here."
            )
            self.note.show_notice("No matches." if self._found else "No deleted notes.", words)
            self._titles.set_title(self.note, "2 Note")
        else:
            self._read_text(here)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_text(self, deleted: DeletedPath) -> None:
        worker = get_current_worker()
        with report_errors(self.post_message):
            data = self._engine.history.text(deleted.version) if deleted.is_stored else None
            if not worker.is_cancelled:
                self.post_message(self._TextRead(deleted, data))

    @on(_TextRead)
    def _show_text(self, message: _TextRead) -> None:
        deleted = message.deleted
        if deleted != self.listed.cursor_item:
            return
        name = to_one_line(deleted.path.rpartition("/")[2])
        when = wording.format_event_time(deleted.event, time.time_ns() // 1_000)
        words = to_one_line(
            f"{deleted.event.command} by {format_actor_in_sentence(deleted.event.actor)}, {when}, #{deleted.event.seq}"
        )
        self._titles.set_title(self.note, f"2 {name}", words)
        self._preview.clear()
        if message.data is None:
            self.note.show_notice(name, explain_not_restorable(deleted))
        elif deleted.version.kind is EntryKind.LINK:
            self.note.show_notice(name, f"Link to {message.data.decode('utf-8', 'surrogateescape')}")
        else:
            self._preview.show_data(deleted.path, message.data, self.note, lines=frozenset(), follow=False, again=False)

    @on(DeletedView.Opened)
    def action_restore(self) -> None:
        """Restore the selection, or else the memory under the cursor."""
        here = self.listed.cursor_item
        wanted = self.listed.selected_paths or ([here] if here else [])
        if self.is_read_only:
            self.message.show_message(self.read_only_reason, warning=True)
        elif wanted:
            self._restore(wanted)
        else:
            self.message.show_message("Nothing to restore.")

    @work(exclusive=True, group="restore")
    async def _restore(self, wanted: Sequence[DeletedPath]) -> None:
        with report_errors(self.post_message):
            outcome = await undo.restore_deleted(self._engine, wanted)
            self.last_event_seq = outcome.event or self.last_event_seq
            self.message.show_message(outcome.words, warning=outcome.is_warning)
            self.listed.deselect([each.path for each in wanted if each.is_stored])
            self._load_deleted()

    def action_narrow(self) -> None:
        self.query_one(Input).focus()

    def action_leave(self) -> None:
        """Clear the filter, else go back."""
        line = self.query_one(Input)
        if line.value or self.focused is line:
            line.value = ""
            self.listed.focus()
        else:
            self.dismiss(None)

    @work
    async def action_history(self, diff_first: bool) -> None:
        from memtui.ui.screens.history import HistoryScreen  # noqa: PLC0415 - start-up: loads the history

        here = self.listed.cursor_item
        if here is not None:
            self.app.push_screen(HistoryScreen(self._engine, here.path, title=self._folder, diff_first=diff_first))

    def action_past(self) -> None:
        """The folder as it was at the deletion."""
        from memtui.ui.screens.past import PastScreen  # noqa: PLC0415 - start-up: loads time travel

        here = self.listed.cursor_item
        if here is not None:
            self.app.push_screen(PastScreen(self._engine, title=self._folder, at=here.event.seq, path=here.path))

    def on_screen_resume(self) -> None:
        """Read again: a note may have been restored elsewhere."""
        if self._is_loaded:
            self._load_deleted()
