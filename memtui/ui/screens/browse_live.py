"""Shows the folder when it is opened, then each event as it is recorded."""

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from memtui.core import wording
from memtui.core.events import EntryKind, Event, Person
from memtui.core.paths import MemoryPath
from memtui.ui.controller import controller_work
from memtui.ui.key_names import label_key
from memtui.ui.messages import EventsRecorded, FolderOpened, FolderShown
from memtui.ui.screen_state import restore_outline, restore_view
from memtui.ui.screens.browse_edit import EditController
from memtui.ui.screens.browse_files import TreeController
from memtui.ui.screens.browse_note import NoteController
from memtui.ui.screens.folder import FolderController, FolderScreen
from memtui.ui.screens.panes import PaneController
from memtui.ui.widgets.activity import ActivityView, build_activity_row, describe_unseen_changes
from memtui.ui.widgets.empty import EmptyFolderView
from memtui.ui.widgets.tree.outline import SortOrder

_INDEXES = ("MEMORY.md", "README.md")
"""Notes that say what is in a folder: the first one is shown when the folder is opened for the first time."""
_PAINT_SECONDS = 0.05
"""From the names to the moment in which they are surely drawn."""
_MOST_FRESH = 100
"""Rows that are new, at most: more than a third of any terminal."""
LAST_SEQ_KEY = "browse.last"
"""The key in `remembered_words` of the number of the last event that was on screen."""


class FollowController(FolderController):
    """Follow mode, and what ends it: a row of the activity that is gone to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "follow", "follow", id="browse.follow", tooltip="Follow changes on/off"),
    ]

    @on(ActivityView.Opened)
    @on(ActivityView.Highlighted)
    def _go_to_row(self, message: ActivityView.Opened | ActivityView.Highlighted) -> None:
        if message.item is None:
            return
        self.screen.requested_path = wording.to_relative_path(message.item.path)
        self.screen.follow = False
        self.files.move_to(self.screen.requested_path)
        if isinstance(message, ActivityView.Opened):
            self.screen.go_to_note()

    @on(ActivityView.FollowChanged)
    def _follow_activity(self, message: ActivityView.FollowChanged) -> None:
        self.screen.follow = message.follow

    @on(ActivityView.EarlierWanted)
    def _read_earlier_rows(self, message: ActivityView.EarlierWanted) -> None:
        self._show_earlier_rows(message.view, message.before)

    @controller_work(thread=True, group="earlier", exit_on_error=False)
    def _show_earlier_rows(self, view: ActivityView, before: int) -> None:
        rows = list(map(build_activity_row, self.session.read_earlier(before)))
        self.app.call_from_thread(view.prepend_rows, rows)

    def action_follow(self) -> None:
        self.screen.follow = not self.screen.follow
        words = f"Follow off. {label_key('browse.follow')} follows again."
        self.message.show_message("Follow on." if self.screen.follow else words)


class LiveController(FolderController):
    """Shows events as they are recorded, holds them back, and keeps marks on unseen changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("P", "pause", "pause", id="browse.pause", tooltip="Pause the screen; recording continues"),
        Binding("right_square_bracket", "next_change(1)", "next change", id="browse.next_change",
                tooltip="To the next changed file"),
        Binding("left_square_bracket", "next_change(-1)", "previous change", id="browse.previous_change",
                tooltip="To the previous changed file", show=False),
        Binding("m", "mark_seen", "mark seen", id="browse.mark_seen", tooltip="Mark the change as seen"),
        Binding("M", "mark_all_seen", "all seen", id="browse.mark_all_seen", tooltip="Mark all as seen", show=False),
    ]  # fmt: skip

    def __init__(
        self, screen: FolderScreen, note: NoteController, tree: TreeController, panes: PaneController[Any],
        edit: EditController,
    ) -> None:  # fmt: skip
        super().__init__(screen)
        self._note, self._tree, self._panes, self._edit = note, tree, panes, edit

    @on(FolderOpened)
    def _show_folder(self, message: FolderOpened) -> None:
        self.screen.is_opened, self.screen.holds_keys = True, False
        self.screen.last_seq = message.last
        view = self.session.view_state if self.screen.ui_settings.remember else None
        self.files.show(restore_outline(message.entries, view, self.screen.ui_settings))
        if view is not None:
            self._panes.dividers, self.screen.remembered_words = dict(view.dividers), dict(view.words)
            self.screen.preview.view = restore_view(view, self.screen.ui_settings)
            self._panes.restore_divider()
        if self.files.outline.sort is not SortOrder.NAME:
            self._tree.load_all_details()
        self.screen.activity.append_rows(map(build_activity_row, message.recent))
        self.screen.event_marks.recall(message.unseen)
        start = self._find_start_path(message, view.cursor if view is not None else "")
        if start is not None:
            self.screen.move_to(start)
        self.screen.is_scanned = message.complete
        began = next((event for event in message.recent if event.command == "began"), None)
        if began is not None and not message.complete:
            self.screen.show_banner("began", wording.describe_event(began), "Earlier history is not known.")
        unwatched = [event for event in message.unseen if event.seq > self._find_last_watched()]
        words = describe_unseen_changes(unwatched)
        self.message.show_message(words or f"Watching {self.screen.status.folder}", is_news=True)
        if not words and message.complete:
            self._teach()
        self.screen.show_counts(self.files.outline.files, None)
        self.screen.show_titles()
        self.app.post_message(FolderShown())
        self.screen.set_timer(_PAINT_SECONDS, self.session.note_shown)
        self._edit.report_drafts()

    @on(EventsRecorded)
    def _handle_events(self, message: EventsRecorded) -> None:
        if message.complete and not self.screen.is_scanned:
            self.screen.is_scanned = True
            self.message.show_message(f"Watching {self.screen.status.folder}", is_news=True)
            self._teach()
        if self.screen.is_paused:
            self.screen.paused_count += len(message.events)
        else:
            self._drop_temporary(message.temporary)
            if message.events:
                self._show_events(message.events)
        self.screen.show_counts(message.files, message.size, complete=message.complete)
        if message.events:
            for empty in self.screen.query(EmptyFolderView) if self.screen.has_class("-empty") else ():
                empty.count_deleted(self.session.count_deleted)
            for screen in self.screen.list_overlays():
                screen.handle_new_events(message.events[-1].seq)

    def _find_start_path(self, message: FolderOpened, cursor: str) -> str | None:
        """The first position of the cursor: in follow mode a new event, else that of the last time."""
        last = self._find_last_watched()
        is_news = any(event.seq > last for event in message.unseen)
        target = self._find_follow_target(message.recent) if self.screen.follow else None
        if cursor in self.files.outline and not (target and is_news):
            return cursor
        return target or self._find_first_file()

    def _find_last_watched(self) -> int:
        """The number of the last event that was on screen the last time; 0 if that is not known."""
        known = self.screen.remembered_words.get(LAST_SEQ_KEY, "")
        return int(known) if known.isdecimal() else 0

    def _show_events(self, events: Sequence[Event]) -> None:
        """Bring the panes up to date with events, in one go."""
        self.screen.last_seq = events[-1].seq
        self.screen.activity.append_rows(map(build_activity_row, events))
        self.screen.activity.fresh_rows = min(self.screen.activity.fresh_rows + len(events), _MOST_FRESH)
        self.screen.event_marks.apply_events(events)
        self.screen.header.show_work(events)
        shown = next((event for event in reversed(events) if event.command != "view"), events[-1])
        if shown.command == "found" and not self.screen.is_scanned:
            words = f"First scan of the folder: {self.screen.status.files} so far."
            self.message.show_message(words, is_news=True)
        elif shown.seq not in self.screen.announced_events:
            words, hint = wording.describe_event(shown), self._format_hint(shown)
            self.message.show_message(words, hint=hint, warning=shown.is_error, is_news=True)
        before = self.files.cursor_path
        if self.screen.follow and (target := self._find_follow_target(events)):
            self.screen.move_to(target)
        is_same = self.files.cursor_path == before  # else the move reads it
        if is_same and any(change.path == before for event in events for change in event.changes):
            self._note.read(again=True)
        self.screen.show_titles()

    def _drop_temporary(self, paths: Collection[str]) -> None:
        """Drop rows of files that were renamed over a note: the note's own event tells of them."""
        if paths:
            self.screen.event_marks.drop_temporary(paths)
            self.screen.activity.drop_rows({str(MemoryPath.from_relative(path)) for path in paths})

    def _format_hint(self, event: Event) -> str:
        """The keys that act on an event."""
        if event.is_error or not event.changes or event.command == "found":
            return ""
        undo = "" if self.screen.status.read_only else f"{label_key('browse.undo')} undoes it."
        is_move = event.new_path is not None or event.moved
        if not is_move and any(change.after is None for change in event.changes):
            return f"{label_key('browse.deleted')} lists deleted notes{', ' if undo else '.'}{undo}"
        if wording.to_relative_path(event.new_path or event.path) == self.files.cursor_path or self.screen.follow:
            return f"{label_key('browse.diff')} shows it{', ' if undo else '.'}{undo}"
        return undo

    def _teach(self) -> None:
        """Show a tip, if there is a person for it and a note to use it on, and it may be noted that it was shown."""
        status = self.screen.status
        if self.screen.has_class("-empty"):
            return
        if self.screen.ui_settings.tips and not (status.read_only or status.label or self.app.is_headless):
            self._show_tip()

    @controller_work(thread=True, group="tip", exit_on_error=False)
    def _show_tip(self) -> None:
        from memtui.ui.tips import take_tip  # noqa: PLC0415 - start-up: behind the first paint

        tip = take_tip()
        if tip:
            self.app.call_from_thread(self.message.show_message, tip, is_news=True)

    def show_remaining_rows(self) -> None:
        """Update counts and titles once struck-through rows are dropped."""
        self.screen.show_counts(*self.screen.counts, complete=self.screen.is_scanned)
        self.screen.show_titles()

    def _find_follow_target(self, events: Sequence[Event]) -> str | None:
        """The target of follow mode: the last file that was read or written."""
        for event in reversed(events):
            if isinstance(event.actor, Person) and event.command == "delete":
                continue  # there is nothing more to see, and the person is at the next row by now
            path = wording.to_relative_path(event.new_path or event.path)
            entry = None if event.is_error or event.command == "found" else self.files.outline.get(path)
            if entry and entry.kind is not EntryKind.DIRECTORY:
                return path
        return None

    def _find_first_file(self) -> str | None:
        """The index of the folder, else the first file that is in sight: a note says more than a folder."""
        outline = self.files.outline
        for name in _INDEXES:
            if (index := outline.get(name)) and index.kind is EntryKind.FILE:
                return name
        paths = (outline.get_path_at(index) for index in range(min(len(outline), self.screen.size.height)))
        return next((path for path in paths if (entry := outline.get(path)) and entry.kind is EntryKind.FILE), None)

    def action_pause(self) -> None:
        self.screen.is_paused = not self.screen.is_paused
        if self.screen.is_paused:
            words = "Paused. Changes are still recorded."
            self.message.show_message(f"{words} {label_key('browse.pause')} resumes.")
        else:
            self.message.show_message("Live again.")
            if self.screen.paused_count:
                self.session.resend_events(self.screen.last_seq)
            self.screen.paused_count = 0
        self.screen.show_status()

    def action_next_change(self, step: int) -> None:
        target = self.screen.event_marks.find_next(self.files.cursor_path or "", step)
        if target is None:
            self.message.show_message("No unseen changes.")
            return
        self.screen.follow = False
        self.files.move_to(target)

    def action_mark_seen(self) -> None:
        """Mark the entry under the cursor as seen, with all below it."""
        here = self.files.cursor_path
        if here is not None:
            self._mark_seen(self.screen.event_marks.find_below(here))

    def action_mark_all_seen(self) -> None:
        self._mark_seen(self.screen.event_marks.find_below(""))

    def _mark_seen(self, paths: Sequence[str]) -> None:
        self.screen.event_marks.mark_seen(paths)
        if not len(self.screen.event_marks):
            self._save_seen(self.screen.last_seq)
            self.screen.activity.fresh_rows = 0
        self.screen.note.highlight_lines(())
        self.message.show_message("Marked as seen." if paths else "No unseen changes here.")
        self.screen.show_titles()

    @controller_work(thread=True, group="seen", exit_on_error=False)
    def _save_seen(self, seq: int) -> None:
        self.session.mark_seen(seq)
