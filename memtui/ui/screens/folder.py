"""The screen over one open memory folder: the state that its controllers share, and the titles of its panes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from textual import getters, on
from textual.content import Content
from textual.events import ScreenResume
from textual.reactive import var
from textual.widgets import Static

from memtui.config import UiSettings
from memtui.core import wording
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import WatchMode, WatchStatus
from memtui.core.history import Blame
from memtui.core.mass_loss import MassLoss
from memtui.core.settings import AuditSettings, Settings
from memtui.core.unicode import to_one_line
from memtui.ui import frame
from memtui.ui.controller import ControlledScreen, Controller
from memtui.ui.frame import Header, HeaderStatus, MessageLine
from memtui.ui.messages import READ_ONLY, DialectFound, FailureReported, NoticePosted, RecordingFailed, WatchingChanged
from memtui.ui.screens.panes import HORIZONTAL_BREAKPOINTS, VERTICAL_BREAKPOINTS
from memtui.ui.session import FolderSession
from memtui.ui.widgets.activity import ActivityView
from memtui.ui.widgets.change import ChangeView
from memtui.ui.widgets.empty import EmptyFolderView
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.preview import Preview, PreviewMode
from memtui.ui.widgets.tree.changes import EventMarks
from memtui.ui.widgets.tree.view import TreeView

if TYPE_CHECKING:  # loaded by the session's thread, and when a key asks for it, behind the first paint
    from memtui.agents.remote_approval import ApprovalQuestion
    from memtui.engine import Engine
    from memtui.ui.flows.undo import FlowOutcome

_FAILS = "Changes by other programs cannot be "
"""How the watcher begins to say that it is not slower but fails, as on a full disk."""


@runtime_checkable
class Overlay(Protocol):
    """A screen above the one over the folder."""

    def show_alarm(self, name: str, case: str, remedy: str) -> None:
        """Show a banner, or remove it where `case` is empty."""

    def handle_new_events(self, last: int) -> None:
        """Events up to a number are recorded."""


class FolderScreen(ControlledScreen[None]):
    """One memory folder.

    Args:
        folder: An existing directory, links resolved.
        title: The folder's name.
        state: The directory of its journal, if not the usual one.
        label: The kind of session, such as a demo; empty for an ordinary one.
        read_only: Whether nothing can be changed.
    """

    CSS_PATH = "folder.tcss"
    HORIZONTAL_BREAKPOINTS, VERTICAL_BREAKPOINTS = HORIZONTAL_BREAKPOINTS, VERTICAL_BREAKPOINTS

    TITLES: ClassVar[tuple[str, str, str]] = ("1 Files", "2 Note", "3 Activity")
    """Of the panes, each with its key."""
    FIRST: ClassVar[str] = "#files"
    """The widget with the focus at first."""
    FILES_KEY: ClassVar[str] = "1"
    """The key that leads to the files."""
    takes_prompts: ClassVar[bool] = False
    """Whether it has a message box, and handles `PromptOffered`."""

    header = getters.query_one(Header)
    files = getters.query_one("#files", TreeView)
    note = getters.query_one("#note", NoteView)
    change = getters.query_one(ChangeView)
    activity = getters.query_one("#activity", ActivityView)
    message = getters.query_one(MessageLine)

    event_marks: EventMarks
    """Unseen changes; set once the panes are mounted."""
    follow = var(True)

    def __init__(
        self, folder: str, *, title: str, state: str | None = None, label: str = "", read_only: bool = False
    ) -> None:
        super().__init__()
        self.decide_elsewhere: Callable[[ApprovalQuestion], bool] = lambda _: False
        """Has a question of another process decided by who started that; whether it is."""
        self.session = FolderSession(folder, self.post_message, state=state, read_only=read_only)
        self.folder_title = title
        self.status = HeaderStatus(title, label, read_only=read_only)
        self.ui_settings, self.audit_settings = UiSettings(), AuditSettings()
        self.is_opened = False
        self.holds_keys = False
        """Whether keys wait for a moment: those that are typed before the folder is shown are about what it holds."""
        self.is_scanned = False
        """Whether all that was in the folder at first has been recorded."""
        self.is_paused = False
        self.paused_count = 0
        """Events that came while the screen was paused."""
        self.last_seq = 0
        """The last event that is on screen."""
        self.requested_path: str | None = None
        """The last path that the cursor of the files was moved to."""
        self.announced_events: set[int] = set()
        """Events that were shown on the message line already."""
        self.counts: tuple[int, int | None] = (0, None)
        """The number of files, and their bytes if they are known."""
        self.preview = Preview()
        self.blame: Blame | None = None
        self.lines_in_view = (0, 0, 0)
        """The first and the last line of the note in view, and how many there are."""
        self.read_only_reason = READ_ONLY
        """The message for a key that would change something in a read-only session."""
        self.no_history_reason = ""
        """Why the record cannot be read; else empty."""
        self.loss: MassLoss | None = None
        self.remembered_words: dict[str, str] = {}
        """Other values that are remembered with the folder, such as the scope of find, by name."""
        self.alarms: dict[str, tuple[str, str]] = {}
        """Banners by name: the problem, and the keys against it on the screens above."""
        self._watching = WatchStatus(WatchMode.LIVE)
        self._flow_lock = asyncio.Lock()
        self._titles = frame.PaneTitles()

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Have the first frame styled once: all widgets have just been, with the classes of this size of screen."""
        event.refresh_styles = event.refresh_styles and self.is_opened

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be changed."""
        return self.status.read_only

    def show_message(self, words: str, *, warning: bool = False) -> None:
        """Show a message here, and on the screen above, where the person is; nowhere while the program ends."""
        for screen in {self, *self.app.screen_stack[-1:]}:
            for line in screen.query(MessageLine):
                line.show_message(words, warning=warning)

    def get_event_seq(self) -> int | None:
        """The event under the cursor, while the activity has the focus."""
        row = self.activity.cursor_item if self.focused is self.activity else None
        return row.seq if row else None

    async def run_flow(self, flow: "Callable[[Engine], Awaitable[FlowOutcome | None]]") -> None:
        """Run one flow at a time, and show its outcome."""
        engine = get_open_engine(self)
        if engine is None:
            return
        outcome = None
        async with self._flow_lock:
            try:
                outcome = await flow(engine)
            except MemoryClosed:
                return
            except (MemtuiError, OSError) as error:
                self.show_message(str(error), warning=True)
        if outcome is not None:
            self.announced_events.add(outcome.event)
            self.show_message(outcome.words, warning=outcome.is_warning)

    def move_to(self, path: str) -> bool:
        """Put the cursor of the files on a path; False if it is not there."""
        self.requested_path = path
        return self.files.move_to(path)

    def go_to_note(self) -> None:
        """Focus the note."""
        self.note.focus()

    def watch_follow(self, follow: bool) -> None:
        """Show follow mode in the header. The activity goes on at its end also where the files do not follow."""
        self.status = replace(self.status, follow=follow)
        if self.is_mounted:
            if follow:
                self.activity.follow = True
            self.show_status()

    # Messages of the session

    @on(WatchingChanged)
    def _show_watching(self, message: WatchingChanged) -> None:
        was_gone = self._watching.mode in (WatchMode.GONE, WatchMode.OFFLINE)
        self._watching = message.watching
        is_gone = message.watching.mode is WatchMode.GONE
        is_away = message.watching.mode is WatchMode.OFFLINE
        self.set_class(is_gone, "-gone")
        self.show_status()
        self.show_titles()
        words = "The last known files are shown; none is recorded as deleted."
        self.raise_alarm("gone", message.watching.reason if is_gone else "", words)
        words = "The last known notes are shown. Nothing is saved: what is typed is kept as a draft. Trying again."
        self.raise_alarm("away", message.watching.reason if is_away else "", words)
        fails = message.watching.reason.startswith(_FAILS) and not (is_gone or is_away)
        words = "The screen may be outdated, and changes are not recorded."
        self.raise_alarm("unnoticed", message.watching.reason if fails else "", words)
        if is_gone or is_away:
            return
        if message.watching.reason:
            self.message.show_message(message.watching.reason, warning=True)
        elif was_gone:
            self.message.show_message(f"{self.status.folder} is available again.")

    @on(RecordingFailed)
    def _show_unrecorded(self, message: RecordingFailed) -> None:
        """Show the failure in a line of its own, which no later message hides."""
        self.status = replace(self.status, read_only=True)
        self.read_only_reason = f"Nothing can be changed: {message.reason}"
        self.no_history_reason = "" if message.history else message.reason
        self.add_class("-read-only")
        works = "Browsing and history work" if message.history else "Browsing works"
        words = f"READ-ONLY: nothing is recorded or changed. {works}. {message.reason}"
        self.query_one("#read-only", Static).update(Content(to_one_line(words)))
        self.show_status()
        self.refresh_bindings()

    @on(FailureReported)
    def _show_failure(self, message: FailureReported) -> None:
        self.holds_keys = False  # it may never be opened
        self.message.show_message(message.reason, warning=True)

    @on(NoticePosted)
    def _show_notice(self, message: NoticePosted) -> None:
        self.message.show_message(message.words)

    # Words around the panes

    def show_counts(self, files: int, size: int | None, *, complete: bool = False) -> None:
        """Show the number of files and their bytes, if known, or the empty state; `complete` after the first scan."""
        self.counts = files, size
        if not self.is_opened:
            return
        if not complete:
            files = max(files, self.files.outline.files)
        words = wording.format_count(files, "note")
        self.status = replace(
            self.status,
            files=words,
            meter=frame.build_budget_items(files, size, self.session.settings or Settings(), self.audit_settings),
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
            if empty:
                for view in self.query(EmptyFolderView):
                    view.count_deleted(self.session.count_deleted)
                    view.find_folders(self.session.folder)
        self.show_status()

    @on(DialectFound)
    def _show_dialect(self, message: DialectFound) -> None:
        self.preview.dialect = self.files.dialect = message.dialect
        self.status = replace(self.status, agent=message.dialect.title)
        self.show_status()

    def show_status(self) -> None:
        """Update the header."""
        live = "PAUSED" if self.is_paused else self._watching.mode.name if self.is_opened else "opening"
        if self.is_paused and self.paused_count:
            live = f"PAUSED, {self.paused_count:,} new"
        self.status = replace(self.status, live=live)
        self.header.status = self.status

    def show_titles(self) -> None:
        """Update the titles of the panes."""
        row, total = self.files.position
        stale = "  outdated" if self._watching.mode in (WatchMode.GONE, WatchMode.OFFLINE) else ""
        outline = self.files.outline
        files, note, activity = self.TITLES
        words = (
            frame.format_files_title(files, outline, self.event_marks.count_kinds(), len(self.files.selection)) + stale
        )
        self._titles.set_title(self.files, words, f"{row:,} of {total:,}")
        path = self.files.cursor_path
        name = f"{note[:1]} {to_one_line(path.rpartition('/')[2])}" if path else note
        self._titles.set_title(self.note, f"{name}{stale}", self._format_note_subtitle())
        self._titles.set_title(self.activity, frame.format_activity_title(activity, self.activity.counters))

    def _format_note_subtitle(self) -> str:
        """The last change of the note, the lines in view, its size and tokens, as far as there is room for them."""
        first, last, total = self.lines_in_view
        if self.blame is not None:
            from memtui.ui.widgets.markdown.blame import describe_line  # noqa: PLC0415 - start-up: for blame only

            line = describe_line(self.blame, first, time.time_ns() // 1_000)
            return to_one_line(f"{line}   {first}-{last}/{total}")
        path, text = self.files.cursor_path, self.preview.text
        return frame.format_note_subtitle({
            "change": frame.format_last_change(self.change.change),
            "protected": "protected" if path is not None and self.files.is_protected(path) else "",
            "kept": self.files.get_keeper(path) if path is not None else "",
            "view": "" if self.preview.view is PreviewMode.RENDERED else self.preview.view.label,
            "lines": f"{first}-{last}/{total}" if text and total else "",
            "size": wording.format_size(self.preview.size) if text else "",
            "tokens": (self.preview.loads or wording.estimate_tokens(text)) if text else "",
        }, self.note.outer_size.width)  # fmt: skip

    def show_banner(self, name: str, case: str, remedy: str) -> None:
        """Show a banner above the panes, or remove it where there is no case."""
        if case or self.query(f"#{name}"):
            frame.show_banner(self, name, case, remedy, before="#body")

    def raise_alarm(self, name: str, case: str, remedy: str, *, above: str | None = None) -> None:
        """Show an alarm, here and on the screens above.

        Args:
            name: The banner's id.
            case: The problem in a sentence; empty once it is over.
            remedy: The keys against it.
            above: Those on the screens above, if they differ.
        """
        self.show_banner(name, case, remedy)
        self.alarms[name] = (case, remedy if above is None else above)
        for screen in self.list_overlays():
            screen.show_alarm(name, *self.alarms[name])

    def list_overlays(self) -> list[Overlay]:
        """The screens that were opened from this one."""
        return [screen for screen in self.app.screen_stack if isinstance(screen, Overlay)]


def get_open_engine(screen: FolderScreen) -> "Engine | None":
    """The memory that a key needs; `None`, with a message, while it is being opened."""
    if screen.is_opened:
        return screen.session.engine
    if not screen.session.has_ended:  # else the message line says why it cannot be opened
        screen.message.show_message("Opening the folder. Try again in a moment.", held=0.0)
    return None


class FolderController(Controller[FolderScreen]):
    """A controller of a screen over a folder."""

    @property
    def files(self) -> TreeView:
        """The rows of the folder."""
        return self.screen.files

    @property
    def message(self) -> MessageLine:
        """The message line."""
        return self.screen.message

    @property
    def session(self) -> FolderSession:
        """The open memory."""
        return self.screen.session

    def get_engine(self) -> "Engine | None":
        """The memory that a key needs; `None`, with a message, while it is being opened."""
        return get_open_engine(self.screen)

    def copy_text(self, text: str, name: str, *, before: str = "") -> None:
        """Copy a text, and show the outcome behind the words `before`."""
        from memtui.ui.clipboard import copy_and_report  # noqa: PLC0415 - start-up: loads the editing

        def report(words: str, warning: bool) -> None:
            self.message.show_message(before + words, warning=warning)

        copy_and_report(self.app, text, name, report)
