"""The editor: one memory, modeless, saved through the engine with the version that it was made from.

The screen routes: its controllers hold the text and save it, and changes from elsewhere are shown below the text.
"""

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static, TextArea

from memtui.core import wording
from memtui.core.errors import MemoryClosed
from memtui.core.events import Agent
from memtui.core.unicode import to_one_line
from memtui.editing.external_editor import EditorUnavailable
from memtui.editing.save import EditableNote, EditBase, NoteChange, NoteSaver, OpenedNote, describe_change, prepare_note
from memtui.ui.clipboard import edit_text_externally
from memtui.ui.frame import Header, HeaderItem, HeaderStatus, KeyLine, MessageLine, PaneTitles
from memtui.ui.key_names import ENTER, label_key
from memtui.ui.screens.above_browser import OverlayScreen
from memtui.ui.screens.dialogs import Choice, MenuScreen, PromptScreen
from memtui.ui.screens.edit_completion import CompletionController, CompletionRows
from memtui.ui.screens.edit_save import DraftController, SaveController
from memtui.ui.screens.panes import show_too_small
from memtui.ui.theme import truncate
from memtui.ui.widgets.editor.find_bar import FindBar, go_to_match
from memtui.ui.widgets.editor.wrap import MOST_ODD, find_undrawn
from memtui.ui.widgets.markdown.rows import detect_syntax
from memtui.ui.widgets.markdown.view import NoteView

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine


_PREVIEW_FROM = 120
"""Columns from which there is room for a preview."""
_PREVIEW_SECONDS = 0.2
_LARGE_PREVIEW = 10_000
"""Characters from which a preview is made in a thread."""
_CLOSE_CHOICES = (
    Choice("s", "save and close", "save"),
    Choice("d", "close without saving; keep a draft", "discard"),
    Choice("e", "keep editing", "stay"),
)
_WORKING_SECONDS = 300
"""How long an agent counts as working after its last change."""


class EditScreen(OverlayScreen):
    """Edits one memory.

    Args:
        engine: The memory; a read-only one can only be read.
        path: Relative to the folder; it need not exist yet.
        line: The line to begin at, counted from 1.
        column: The characters of it before the cursor.
        new_text: Replaces the text at once, not saved yet.
        opened: The note, if it was opened already, as the base of `new_text`.
        saves: Whether `new_text` is saved at once.
    """

    CONTROLLERS = (DraftController, SaveController, CompletionController)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close", id="edit.close", tooltip="Close; asks if the text is not saved"),
        Binding("ctrl+f", "find", "find", id="edit.find", tooltip="Find and replace in this text"),
        Binding("f4", "elsewhere", "$EDITOR", id="edit.elsewhere", tooltip="Edit in $EDITOR"),
        Binding("ctrl+d", "difference", "diff", id="edit.difference", tooltip="Diff of what saving would change"),
        Binding("ctrl+o", "preview", "preview", id="edit.preview", tooltip="Preview on/off"),
        Binding("ctrl+l", "line", "line", id="edit.line", tooltip="Go to a line", show=False),
        Binding("f3", "find_next(1)", "next match", id="edit.find_next", tooltip="To the next match", show=False),
        Binding("shift+f3", "find_next(-1)", "previous match", id="edit.find_previous", tooltip="To the previous match",
                show=False),
    ]  # fmt: skip

    DEFAULT_CSS = """
    EditScreen {
        #edit-body { height: 1fr; }
        .pane:focus-within { border: round $accent; border-title-color: $text-accent; border-title-style: bold; }
        #text { width: 1fr; height: 1fr; }
        #preview { display: none; width: 5fr; height: 1fr; }
        #underneath {
            display: none; height: 1; padding: 0 1;
            background: $warning-muted; color: $text-warning; text-style: bold;
        }

        &:ansi #underneath { color: ansi_black; background: ansi_yellow; }
        &.-previewing #preview { display: block; }
        &.-previewing #text { width: 7fr; }
        &.-previewing.-narrow #text { display: none; }
        &.-underneath #underneath { display: block; }
    }
    """

    BANNER_ANCHOR = "#edit-body"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_PREVIEW_FROM, "-wide")]  # noqa: RUF012 - as Textual has it

    header = getters.query_one(Header)
    preview = getters.query_one("#preview", NoteView)

    def __init__(
        self,
        engine: "Engine",
        path: str,
        *,
        line: int | None = None,
        column: int = 0,
        new_text: str | None = None,
        opened: OpenedNote | None = None,
        saves: bool = False,
    ) -> None:
        super().__init__()
        self._engine = engine
        self.drafts = self.attach(DraftController(self, engine))
        self.saver = self.attach(SaveController(self, self.drafts, path, self.show_state))
        self.area = self.drafts.area
        self.attach(CompletionController(self, engine, self.area, path))
        self._line, self._column, self._new_text, self._opened, self._saves = line, column, new_text, opened, saves
        self._status = HeaderStatus(path, program="memtui edit", follow=None, live="LIVE", read_only=engine.read_only)
        self._preview_timer: Timer | None = None
        self._preview_choice: bool | None = None
        self._unsaved = False
        self._last_search = ""
        self._titles = PaneTitles()
        self._title = to_one_line(path)

    def compose(self) -> ComposeResult:
        yield Header()
        with Horizontal(id="edit-body"):
            yield self.area
            yield NoteView(id="preview", classes="pane")
        yield CompletionRows(id="completions", markup=False)
        yield Static(id="underneath", markup=False)
        yield MessageLine(id="message")
        yield Static(id="read-only", markup=False)
        yield KeyLine("app.help", "edit.close")
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        self.header.status = self._status
        self.area.read_only = True
        self.area.border_title = Content(to_one_line(self.saver.path))
        self.preview.border_title = "preview"
        self.area.hold_input()
        self.area.focus()
        self.set_interval(1.0, self._show_external_change)
        self.open_note()

    def on_unmount(self) -> None:
        self.drafts.close()

    def handle_new_events(self, last: int) -> None:
        del last
        self.saver.check_external_change()

    def on_resize(self) -> None:
        was_too_small = self.has_class("-too-small")
        too_small = show_too_small(self, f"{label_key('edit.close')} back")
        self._show_preview(self.size.width)
        if was_too_small and not too_small:
            self.call_after_refresh(self.area.focus)

    @work(group="open")
    async def open_note(self) -> None:
        """Read the note, offer a draft of it, show it, and then insert what was typed meanwhile."""
        try:
            await self._open_note()
        finally:
            self.area.release_input()

    async def _open_note(self) -> None:
        try:
            opened = self._opened
            if opened is None:
                opened = await asyncio.to_thread(NoteSaver(self._engine, self.saver.path).open)
            drafts = await asyncio.to_thread(self.drafts.find_drafts, opened)
            other = await asyncio.to_thread(self.drafts.describe_other_editor, opened.path)
        except MemoryClosed:
            return
        new = prepare_note(opened)
        self.saver.problem = new.problem
        if self._engine.read_only:
            self.saver.problem = self.saver.problem or self.read_only_reason
        self._show_text(new)
        if self.saver.problem:
            return
        if self._new_text is not None:
            self.area.revise_text(self._new_text)
        elif drafts and await self.saver.offer_draft(drafts[0], len(drafts)):
            self.saver.check_external_change()
        if other:
            self.message.show_message(other)
        self.show_state()
        if self._saves:
            self.saver.action_save()

    def _show_text(self, new: EditableNote) -> None:
        self.area.reset_text(new.text, syntax=detect_syntax(new.base.path, new.text), basis=new.base)
        is_fixed = bool(self.saver.problem)
        self.area.read_only = is_fixed
        self.set_class(is_fixed, "-read-only")
        if is_fixed:
            self.query_one("#read-only", Static).update(Content(to_one_line(f"READ-ONLY: {self.saver.problem}")))
        if self._line is not None:
            self.area.go_to_line(self._line, self._column)
        self._show_preview(self.size.width)
        self._draw_preview()
        self.show_state()
        self.refresh_bindings()
        if new.base.data is None and not self.saver.problem:
            self.message.show_message(
                f"New note. {label_key('edit.save', short=True)} creates it; nothing is written until then."
            )
        elif not self.saver.problem:
            self._warn_of_active_agent(new.base)
        cut = next((row for row, line in enumerate(self.area.document.lines, 1) if find_undrawn(line) < len(line)), 0)
        if cut:
            self.message.show_message(
                f"Line {cut:,} holds more than {MOST_ODD:,} unusual characters; the rest are drawn as \ufffd and "
                "saved as they are."
            )

    def _warn_of_active_agent(self, basis: EditBase) -> None:
        event = basis.event
        if event and isinstance(event.actor, Agent) and time.time() - event.at_us / 1e6 <= _WORKING_SECONDS:
            who = wording.format_actor(event)
            self.message.show_message(f"{who} is working and may change this note; saving asks before overwriting.")

    def show_state(self) -> None:
        """Update the header, the edges of the box, and the line about changes from elsewhere."""
        if not self.drafts.is_open or not self.is_mounted:
            return
        area, basis = self.area, self.drafts.basis
        self._unsaved = self.drafts.is_unsaved
        words = [HeaderItem("* unsaved", "$text-warning bold")] if self._unsaved else []
        if self.saver.external_change is not None and self._unsaved:
            words.append(HeaderItem("! CHANGED", "$text-error bold"))
        read_only = self._engine.read_only or area.read_only
        status = replace(self._status, folder=basis.path, words=tuple(words), read_only=read_only)
        if status != self._status:
            self._status = self.header.status = status
        shape = basis.shape
        about = [detect_syntax(basis.path, ""), shape.line_ending or "LF", "UTF-8 BOM" if shape.bom else "UTF-8"]
        if basis.text and not shape.has_final_newline:
            about.append("no final newline")
        if not area.soft_wrap:
            about.append("no wrap")
        name = to_one_line(basis.path.rpartition("/")[2])
        self._title = name if self.saver.problem else f"{name}   {'  '.join(about)}"
        self._show_position()
        self._show_external_change()

    def _show_position(self) -> None:
        row, column = self.area.cursor_location
        words = [f"Ln {row + 1:,}, Col {column + 1:,}"]
        if not self.area.selection.is_empty:
            words.append(f"{len(self.area.selected_text):,} selected")
        text = self.area.text
        shape = self.drafts.basis.shape
        if self.area.read_only and self.drafts.basis.data is not None:
            size = len(self.drafts.basis.data)
        else:
            size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
            size += 3 * shape.bom + (text.count("\n") if shape.line_ending == "CRLF" else 0)
        words += [wording.format_size(size), wording.estimate_tokens(text)]
        self._titles.set_title(self.area, self._title, "   ".join(words))

    def _show_external_change(self) -> None:
        change = None if self.saver.problem else self.saver.external_change
        self.set_class(change is not None, "-underneath")
        if change is not None:
            merge, difference = label_key("edit.merge", short=True), label_key("edit.difference", short=True)
            keys = f"{merge} asks what to do."
            if change.situation is NoteChange.CHANGED:
                keys = f"{merge} merges now, {difference} shows it."
            words = truncate(describe_change(change), max(self.size.width - 2, 0) - len(keys) - 2)
            self.query_one("#underneath", Static).update(Content(f"{words}  {keys}"))

    @on(TextArea.Changed)
    def _handle_text_change(self, message: TextArea.Changed) -> None:
        if message.text_area is not self.area or not self.drafts.is_open:
            return
        if self.drafts.is_unsaved != self._unsaved:
            self.show_state()
            if not self._unsaved:
                self.saver.check_external_change()
        else:
            self._show_position()
        for bar in self.query(FindBar):
            bar.refresh_matches()
        self._plan_preview()

    @on(TextArea.SelectionChanged)
    def _handle_cursor_move(self, message: TextArea.SelectionChanged) -> None:
        if message.text_area is self.area and self.drafts.is_open:
            self._show_position()

    def _show_preview(self, width: int) -> None:
        """Show it beside the text where there is room, else in its place when asked for."""
        is_shown = self._preview_choice if self._preview_choice is not None else width >= _PREVIEW_FROM
        if is_shown != self.has_class("-previewing"):
            self.set_class(is_shown, "-previewing")
            self._draw_preview()

    def _plan_preview(self) -> None:
        if self.has_class("-previewing") and self._preview_timer is None:
            self._preview_timer = self.set_timer(_PREVIEW_SECONDS, self._draw_preview_behind)

    @work(group="preview")
    async def _draw_preview_behind(self) -> None:
        """Draw the preview of a text that changed, and once more if it changed meanwhile."""
        text = self.area.text
        if len(text) >= _LARGE_PREVIEW:
            syntax = detect_syntax(self.saver.path, text)
            await asyncio.to_thread(self.preview.prepare, text, syntax=syntax, mode="rendered", keep_place=True)
        self._preview_timer = None
        self._draw_preview(text)
        if text != self.area.text:
            self._plan_preview()

    def _draw_preview(self, text: str | None = None) -> None:
        if not self.has_class("-previewing") or not self.drafts.is_open:
            return
        text = self.area.text if text is None else text
        self.preview.show(text, syntax=detect_syntax(self.saver.path, text), mode="rendered", keep_place=True)
        if self.area.cursor_location[0] > 0:
            self.preview.reveal_line(self.area.cursor_location[0] + 1)

    def action_preview(self) -> None:
        self._preview_choice = not self.has_class("-previewing")
        self._show_preview(self.size.width)
        if self.has_class("-previewing") and self.size.width < _PREVIEW_FROM:
            self.preview.focus()
            key = label_key("edit.preview", short=True)
            self.message.show_message(f"Preview. {key} goes back to the text.")
        else:
            self.area.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "elsewhere" and self.saver.problem:
            return False
        return super().check_action(action, parameters)

    @work(group="close", exclusive=True)
    async def action_close(self) -> None:
        if self.preview.has_focus and self.size.width < _PREVIEW_FROM:
            self.action_preview()
            return
        if not self.drafts.is_unsaved:
            self.dismiss(None)
            return
        question = f"{to_one_line(self.saver.path)} is not saved."
        answer = await self.app.push_screen_wait(MenuScreen(question, _CLOSE_CHOICES))
        if answer == "save":
            if await self.saver.save():
                self.dismiss(None)
        elif answer == "discard":
            await self.drafts.discard_text()

    def action_find(self) -> None:
        """Find and replace; the selection is the first search."""
        if bars := self.query(FindBar):
            bars.first().find_input.focus()
        else:
            selected = self.area.selected_text
            text = selected if selected and "\n" not in selected else self._last_search
            self.mount(FindBar(self.area, text, id="find"), before=self.message)

    @on(FindBar.Closed)
    def _close_find(self) -> None:
        for bar in self.query(FindBar):
            self._last_search = bar.find_input.value or self._last_search
            bar.remove()
        self.area.focus()

    def action_find_next(self, step: int) -> None:
        """Go to the next match of the last search, or the one before."""
        bars = self.query(FindBar)
        if bars:
            bars.first().go_to_match(step)
        elif self._last_search:
            if not go_to_match(self.area, self._last_search, step):
                self.message.show_message(f"{to_one_line(self._last_search)} was not found.")
        else:
            self.action_find()

    @work(group="line", exclusive=True)
    async def action_line(self) -> None:
        hint = f"1 to {self.area.document.line_count:,}. {ENTER} goes there, {label_key('prompt.back')} cancels."
        answer = await self.app.push_screen_wait(PromptScreen("Line", hint))
        if answer and answer.isdecimal() and answer.isascii():
            self.area.go_to_line(int(answer[:12]))
        elif answer:
            self.message.show_message(f"'{to_one_line(answer)}' is not a line number.", warning=True)

    def action_elsewhere(self) -> None:
        """Continue in the external editor; the result is one step, not saved yet."""
        if self.area.read_only or not self.drafts.is_open:
            self.message.show_message(self.saver.problem or self.read_only_reason, warning=True)
            return
        self.drafts.save_draft()
        before = self.area.text
        name = self.saver.path.rpartition("/")[2]
        try:
            text = edit_text_externally(self.app, before, name=name, line=self.area.cursor_location[0] + 1)
        except EditorUnavailable as error:
            ending = "" if error.left is None else " Its text is kept as a draft."
            self.message.show_message(f"{error}{ending}", warning=True)
            if error.left is not None:
                self.drafts.save_external_draft(error.left)
            return
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        if text == before:
            self.message.show_message("Your editor changed nothing.")
            return
        self.area.revise_text(text)
        save, undo = label_key("edit.save", short=True), label_key("edit.undo", short=True)
        self.message.show_message(f"Changed in your editor. {save} saves it, {undo} undoes it.")

    def action_difference(self) -> None:
        if not self.drafts.is_open:
            return
        from memtui.ui.screens.conflict import EditDiffScreen  # noqa: PLC0415 - start-up: only for a conflict

        has_changed = self.saver.external_change is not None
        self.app.push_screen(EditDiffScreen(self._engine, self.drafts.basis, self.area.text, has_changed=has_changed))
