"""The note under the cursor: it is read in a thread, shown in one of several views, and searched."""

import time
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.worker import get_current_worker

from memtui.ui.controller import controller_work
from memtui.ui.key_names import label_key
from memtui.ui.messages import BlameRead, DialectFound, EntryRead
from memtui.ui.screens.folder import FolderController, FolderScreen
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.preview import PreviewMode
from memtui.ui.widgets.tree.view import TreeView


class NoteFindController(FolderController):
    """Opens the line that finds a text in the open note."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+f", "find_in_note", "find in note", id="note.find", tooltip="Find a text in the open note",
                show=False),
    ]  # fmt: skip

    def action_find_in_note(self) -> None:
        from memtui.ui.widgets.find_line import FindLine  # noqa: PLC0415 - start-up: loads Input

        if self.screen.query(FindLine):
            self.screen.query_one("#find Input").focus()
        else:
            self.screen.mount(FindLine(self.screen.note, id="find"), before=self.message)


class NoteController(FolderController):
    """Shows the note under the cursor, in one of several views or with blame."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "switch_view", "view", id="note.view", tooltip="Rendered, source, or as the model sees it"),
        Binding("B", "blame", "blame", id="note.blame", tooltip="Blame on/off", show=False),
    ]

    def __init__(self, screen: FolderScreen) -> None:
        super().__init__(screen)
        self._blaming = False
        self._view_before = PreviewMode.RENDERED
        self._requested_match: tuple[str, int, str] | None = None

    @property
    def view_to_remember(self) -> PreviewMode:
        """The view that the person chose; blame is not remembered."""
        return self._view_before if self._blaming else self.screen.preview.view

    @on(EntryRead)
    def _show_note(self, message: EntryRead) -> None:
        if message.path != self.files.cursor_path:
            return
        changed = message.path in self.screen.event_marks
        self.screen.preview.show(message, self.screen.note, changed=changed, follow=self.screen.follow)
        self._show_requested_line(message, self.screen.note)
        self.screen.blame = None
        if self._blaming and self.screen.preview.view is PreviewMode.SOURCE and self.screen.preview.data is not None:
            self._read_blame(message.path, self.screen.preview.data)
        self.screen.change.change = message.change
        self.screen.show_titles()

    @on(DialectFound)
    def _measure_load(self, message: DialectFound) -> None:
        """Read the note again if what of it loads is counted otherwise in this folder."""
        path = self.files.cursor_path
        if message.dialect.name and path is not None and message.dialect.get_rule(path).loads:
            self.read(again=True)

    @on(BlameRead)
    def _show_blame(self, message: BlameRead) -> None:
        if not self._blaming or message.path != self.files.cursor_path or message.data is not self.screen.preview.data:
            return  # another note by now, or another text of it
        from memtui.ui.widgets.markdown.blame import build_blame_remarks  # noqa: PLC0415 - start-up: for blame only

        self.screen.blame = message.blame
        width = self.screen.note.size.width
        self.screen.note.annotate(build_blame_remarks(message.blame, width=width, now_us=time.time_ns() // 1_000))
        self.screen.show_titles()

    def _show_requested_line(self, message: EntryRead, note: NoteView) -> None:
        """Bring the requested line into view, if its note is shown."""
        if self._requested_match is None or self._requested_match[0] != message.path:
            return
        (_, line, text), self._requested_match = self._requested_match, None
        if message.seen.data is not None:
            note.search(text)
            note.show_match_from(line)

    @on(TreeView.Highlighted)
    def _open_note(self, message: TreeView.Highlighted) -> None:
        if message.path != self.files.cursor_path:
            return  # the cursor is elsewhere by now
        if message.was_put and message.path != self.screen.requested_path and self.screen.requested_path is not None:
            self.screen.follow = False
        self.screen.requested_path = message.path
        self.read(again=False)
        self.screen.show_titles()

    @on(TreeView.Opened)
    def _enter_note(self) -> None:
        self.screen.go_to_note()

    def open_at(self, path: str, line: int | None, text: str) -> None:
        """Go to a note, and to a line (from 1) of it; `n` and `N` go on with the text that was found there."""
        self._requested_match = None if line is None else (path, line, text)
        self.screen.follow = False
        if not self.files.outline.hidden and any(part.startswith(".") for part in path.split("/")):
            self.files.set_hidden(True)
        self.screen.requested_path, was_here = path, self.files.cursor_path == path
        if not self.files.move_to(path):
            self.message.show_message(f"{path} is not in the folder.")
            return
        if was_here:
            self.read(again=False)  # else the cursor's move does; twice, the second one would lose the place
        self.screen.go_to_note()

    @on(TreeView.CursorMoved)
    @on(NoteView.Scrolled)
    def _show_position(self, message: TreeView.CursorMoved | NoteView.Scrolled) -> None:
        if isinstance(message, NoteView.Scrolled):
            self.screen.lines_in_view = (message.first_line, message.last_line, message.total_lines)
        self.screen.show_titles()

    def action_switch_view(self) -> None:
        self.screen.preview.view = self.screen.preview.view.get_next()
        self._blaming = False
        self.read(again=False)
        self.message.show_message(f"View: {self.screen.preview.view.label}.")

    def action_blame(self) -> None:
        self._blaming = not self._blaming
        if self._blaming:
            self._view_before, self.screen.preview.view = self.screen.preview.view, PreviewMode.SOURCE
            words = "Blame on: author, age and event of each line."
            self.message.show_message(f"{words} {label_key('note.blame')} turns it off.")
        else:
            self.screen.preview.view = self._view_before
            self.message.show_message(f"View: {self.screen.preview.view.label}.")
        self.read(again=self._view_before is PreviewMode.SOURCE)

    def read(self, *, again: bool) -> None:
        """Read the note under the cursor, in a thread; `again` the same one, which stays where it is scrolled."""
        if (path := self.files.cursor_path) is not None:
            self._read_in_thread(path, again)

    @controller_work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_in_thread(self, path: str, again: bool) -> None:
        worker, preview, note = get_current_worker(), self.screen.preview, self.screen.note
        self.session.read_entry(
            path, as_model=preview.view is PreviewMode.MODEL, again=again,
            prepare=lambda entry: preview.prepare(entry, note), cancelled=lambda: worker.is_cancelled,
        )  # fmt: skip

    @controller_work(thread=True, exclusive=True, group="blame", exit_on_error=False)
    def _read_blame(self, path: str, data: bytes) -> None:
        worker = get_current_worker()
        self.session.read_blame(path, data, lambda: worker.is_cancelled)
