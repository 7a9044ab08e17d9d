"""What was there once and is not now: found by its name, looked at, and brought back."""

import time
from collections.abc import Sequence
from typing import ClassVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from memtui.core.actors import shown_name
from memtui.core.errors import Closed, MemtuiError
from memtui.core.events import Version
from memtui.core.history import Deleted
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.engine import Engine
from memtui.ui import taking_back, titles, wording
from memtui.ui.deleted_rows import DeletedView
from memtui.ui.frame import Header, KeyLine, MessageLine, Status
from memtui.ui.note.view import NoteView
from memtui.ui.preview import Preview
from memtui.ui.screens.above import AboveBrowser

_LOOK_SECONDS = 1.0
"""How often what happens meanwhile may lead to a new look through the record."""


class DeletedScreen(AboveBrowser):
    """The deleted memories of a folder.

    Args:
        engine: The memory.
        title: How the folder is called.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("R,enter", "restore", "restore", id="deleted.restore", tooltip="Bring it back, or all that are marked"),
        Binding("slash", "narrow", "narrow", id="deleted.narrow", tooltip="Only those whose path holds a text"),
        Binding("u", "undo_here", "undo", id="deleted.undo", tooltip="Take back what was restored last", show=False),
        Binding("U", "redo_here", "redo", id="deleted.redo", tooltip="Restore it again", show=False),
        Binding("v", "history(True)", "diff", id="deleted.diff", tooltip="What removed it", show=False),
        Binding("T", "past", "time travel", id="deleted.past", tooltip="The folder as it was when it went", show=False),
        Binding("tab", "app.focus_next", "next pane", id="deleted.next", tooltip="To the next pane", show=False),
        Binding(
            "shift+tab", "app.focus_previous", "previous pane", id="deleted.previous", tooltip="To the pane before",
            show=False,
        ),
        Binding("escape,D,q", "leave", "back", id="deleted.leave", tooltip="Back, or out of what was typed"),
        Binding("V", "history(False)", "history", id="deleted.history", tooltip="All versions that it had"),
    ]  # fmt: skip

    AUTO_FOCUS = "#deleted"  # a key that is typed at once is none of the filter's text
    BANNERS_BEFORE = "#narrow"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it

    DEFAULT_CSS = """
    DeletedScreen {
        layout: vertical;

        & #narrow { height: 1; padding: 0 1; background: $panel; }
        & #prompt { width: auto; color: $text-accent; text-style: bold; }
        & Input { width: 1fr; background: $panel; }
        & #count { width: auto; min-width: 14; text-align: right; }
        & #body { height: 1fr; }
        & .pane { border: round $foreground 35%; border-title-color: $foreground; background: $background; }
        & .pane { border-subtitle-color: $foreground; }
        & .pane:focus { border: round $accent; border-title-color: $text-accent; border-title-style: bold; }
        & #deleted { width: 1fr; height: 1fr; }
        & #note { width: 1fr; height: 1fr; }
        &.-narrow #body { layout: vertical; }
    }
    """

    header = getters.query_one(Header)
    listed = getters.query_one("#deleted", DeletedView)
    note = getters.query_one("#note", NoteView)

    class _Found(Message):
        def __init__(self, found: Sequence[Deleted]) -> None:
            super().__init__()
            self.found = found

    class _Shown(Message):
        def __init__(self, deleted: Deleted, data: bytes | None) -> None:
            super().__init__()
            self.deleted = deleted
            self.data = data

    def __init__(self, engine: Engine, *, title: str) -> None:
        super().__init__()
        self._engine = engine
        self._folder = title
        self._found: Sequence[Deleted] = ()
        self._looked = False
        self._stale = False
        self._preview = Preview()
        self._titles = titles.Titles()

    def compose(self) -> ComposeResult:
        """What is looked for, what is gone, and what it held."""
        yield Header()
        with Horizontal(id="narrow"):
            yield Static("/ ", id="prompt")
            yield Input(placeholder="type to narrow", compact=True, id="filter")
            yield Static(id="count", markup=False)
        with Horizontal(id="body"):
            yield DeletedView(id="deleted", classes="pane")
            yield NoteView(id="note", classes="pane")
        yield MessageLine(id="message")
        yield KeyLine()

    def on_mount(self) -> None:
        """Look through the record, in a thread."""
        self.header.status = Status(self._folder, live="DELETED", follow=None, read_only=self._engine.read_only)
        self.message.say("Looking through the record.")
        self.listed.focus()
        self._find(said=False)
        self.set_interval(_LOOK_SECONDS, self._look_again)

    def take_news(self, last: int) -> None:
        """Something may have gone, or come back."""
        del last
        self._stale = True

    def _look_again(self) -> None:
        if self._stale and self._looked and self.is_current:
            self._stale = False
            self._find(said=True)

    @work(thread=True, exclusive=True, group="find", exit_on_error=False)
    def _find(self, *, said: bool) -> None:
        try:
            found = self._engine.history.deleted()
            first = None if found else self._engine.history.event(1)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.app.call_from_thread(self.message.say, str(error), warning=True)
            return
        self.post_message(self._Found(found))
        if not said:
            words = "" if self._engine.read_only else "Space marks, R brings back."
            if not found:
                words = "No memory that memtui ever saw here is gone."
            if first is not None and first.command == "began":
                words = "Nothing has gone since a new record began here. Of earlier nothing is remembered."
            browser = self.browser
            if browser is not None and browser.why_no_history:
                words = f"What was deleted is not known: {browser.why_no_history}"
            self.app.call_from_thread(self.message.say, words)

    @on(_Found)
    def _show_found(self, message: _Found) -> None:
        self._found, self._looked = message.found, True
        there = {each.path for each in message.found}
        self.listed.unmark([each.path for each in self.listed.marked if each.path not in there])
        self._narrow()

    @on(Input.Changed)
    def _narrow(self) -> None:
        wanted = self.query_one(Input).value.strip().casefold()
        words = wanted.split()
        listed = [each for each in self._found if all(word in each.path.casefold() for word in words)]
        count = f"{len(listed):,} of {len(self._found):,}" if wanted else wording.memories(len(listed))
        self.query_one("#count", Static).update(count)
        self.listed.show(listed)

    @on(Input.Submitted)
    def _keep(self) -> None:
        self.listed.focus()

    @on(DeletedView.Marked)
    def _show_titles(self) -> None:
        marked = len(self.listed.marked)
        row, total = self.listed.position
        words = "1 Deleted, the last first" + (f"  marked {marked:,}" if marked else "")
        self._titles.put(self.listed, words, f"{row:,} of {total:,}")

    @on(DeletedView.Highlighted)
    def _open(self) -> None:
        here = self.listed.here
        self._show_titles()
        if here is None:
            words = "Try other letters, or Esc." if self._found else "What is deleted from now on will be listed here."
            self.note.show_notice("Nothing is listed.", words)
            self._titles.put(self.note, "2 Note")
        else:
            self._read(here)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read(self, deleted: Deleted) -> None:
        worker = get_current_worker()
        try:
            data = self._engine.history.text(deleted.version) if deleted.kept else None
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.app.call_from_thread(self.message.say, str(error), warning=True)
            return
        if not worker.is_cancelled:
            self.post_message(self._Shown(deleted, data))

    @on(_Shown)
    def _show_text(self, message: _Shown) -> None:
        deleted = message.deleted
        if deleted != self.listed.here:
            return
        name = one_line(deleted.path.rpartition("/")[2])
        when = wording.when(deleted.event, time.time_ns() // 1_000)
        words = one_line(f"{deleted.event.command} by {shown_name(deleted.event.actor)}, {when}, #{deleted.event.seq}")
        self._titles.put(self.note, f"2 {name}", words)
        self._preview.clear()
        if message.data is None:
            self.note.show_notice(name, why_not(deleted))
        elif deleted.version.kind is Kind.LINK:
            self.note.show_notice(name, f"A link to {message.data.decode('utf-8', 'surrogateescape')}")
        else:
            nothing = frozenset[int]()
            self._preview.show_data(deleted.path, message.data, self.note, lines=nothing, follow=False, again=False)

    # What the person does

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is brought back in a read-only session."""
        if self._engine.read_only and action == "restore":
            return False
        return super().check_action(action, parameters)

    def on_key(self, event: events.Key) -> None:
        """Say why nothing can be brought back in a read-only session."""
        if self._engine.read_only and event.key in ("R", "enter") and self.focused is self.listed:
            event.stop()
            self.message.say(self.why_read_only, warning=True)

    @on(DeletedView.Opened)
    def action_restore(self) -> None:
        """Bring back what is marked, or else what is under the cursor."""
        here = self.listed.here
        wanted = self.listed.marked or ([here] if here else [])
        lost = [each for each in wanted if not each.kept]
        kept = {each.path: each.version for each in wanted if each.kept}
        if self._engine.read_only:
            self.message.say(self.why_read_only, warning=True)
        elif kept:
            self._restore(kept, len(lost))
        elif lost:
            self.message.say(f"Not restored: {lost[0].path}. {why_not(lost[0])}", warning=True)
        else:
            self.message.say("Nothing is listed that could be restored.")

    @work(exclusive=True, group="restore")
    async def _restore(self, kept: dict[str, Version], lost: int) -> None:
        try:
            said = await taking_back.restore_deleted(self._engine, kept)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.message.say(str(error), warning=True)
            return
        more = f" Of {lost:,} more the text is not kept." if lost else ""
        self._done = said.event or self._done
        self.message.say(said.words + more, warning=said.is_warning or bool(lost))
        self.listed.unmark(kept)
        self._find(said=True)

    def action_narrow(self) -> None:
        """Type a part of the path."""
        self.query_one(Input).focus()

    def action_leave(self) -> None:
        """Out of what was typed, else back."""
        line = self.query_one(Input)
        if line.value or self.focused is line:
            line.value = ""
            self.listed.focus()
        else:
            self.dismiss(None)

    @work
    async def action_history(self, diff_first: bool) -> None:
        """All versions that it had."""
        from memtui.ui.screens.history import HistoryScreen  # deferred: it is not needed to look at this list

        here = self.listed.here
        if here is not None:
            self.app.push_screen(HistoryScreen(self._engine, here.path, title=self._folder, diff_first=diff_first))

    def action_past(self) -> None:
        """The folder as it was when it went."""
        from memtui.ui.screens.past import PastScreen  # deferred: it is not needed to look at this list

        here = self.listed.here
        if here is not None:
            self.app.push_screen(PastScreen(self._engine, title=self._folder, at=here.event.seq, path=here.path))

    def on_screen_resume(self) -> None:
        """Something may have been brought back elsewhere."""
        if self._looked:
            self._find(said=True)


def why_not(deleted: Deleted) -> str:
    """Why a memory cannot be brought back."""
    if deleted.version.sha256 is None:
        return "Its text was never kept: it was too large to be read."
    return "Its text is not kept any more: it was removed from the record."
