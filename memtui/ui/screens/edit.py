"""The editor: one memory, modeless, saved through the engine with the version that it was made from.

The screen routes: the box edits, the course saves, and what becomes of the memory meanwhile is said below the text
while the person types.
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
from textual.css.query import NoMatches
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import Static, TextArea

from memtui.core.errors import Closed
from memtui.core.events import Agent
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.edit.basis import Basis, Shown, shown
from memtui.ui.edit.finding import FindBar, go_to_match
from memtui.ui.edit.saving import Opened, Situation
from memtui.ui.edit.telling import sentence_of
from memtui.ui.external import NoEditor, edited
from memtui.ui.frame import Header, KeyLine, MessageLine, Status, Word
from memtui.ui.note.formats import syntax_of
from memtui.ui.note.view import NoteView
from memtui.ui.screens.ask import PromptScreen
from memtui.ui.screens.edit_course import EditCourse
from memtui.ui.screens.menu import Choice, MenuScreen
from memtui.ui.text import fit
from memtui.ui.titles import Titles

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine

_SMALLEST = (60, 15)
_PREVIEW_FROM = 120
"""Columns from which there is room for the note as it will be read, beside the text."""
_PREVIEW_SECONDS = 0.2
_WORKING_SECONDS = 300
"""For how long after its last change an agent counts as working."""


class EditKeys(KeyLine):
    """The keys, with the way back last."""

    LAST: ClassVar[tuple[str, ...]] = ("app.help", "edit.close")


class EditScreen(EditCourse):
    """Edits one memory.

    Args:
        engine: The memory; a read-only one can only be read.
        path: Relative to the folder; it need not be there yet.
        title: How the folder is called.
        line: The line to begin at, counted from 1.
        new_text: What is put in the place of the text at once, not saved yet.
        opened: The note, if it was opened already, for `new_text` to be based on.
        saves: Whether `new_text` is to be saved at once, with all that may come of it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close", id="edit.close", tooltip="Close; asks if something is not saved"),
        Binding("ctrl+f", "find", "find", id="edit.find", tooltip="Find and replace in this text"),
        Binding("f4", "elsewhere", "$EDITOR", id="edit.elsewhere", tooltip="Go on in your own editor"),
        Binding("ctrl+d", "difference", "diff", id="edit.difference", tooltip="What saving would change, as a diff"),
        Binding("ctrl+o", "preview", "preview", id="edit.preview", tooltip="How it will be read, or only the text"),
        Binding("ctrl+l", "line", "line", id="edit.line", tooltip="Go to a line", show=False),
        Binding("f3", "find_next(1)", "next match", id="edit.find_next", tooltip="To the next match", show=False),
        Binding(
            "shift+f3", "find_next(-1)", "previous match", id="edit.find_previous", tooltip="To the match before",
            show=False,
        ),
    ]  # fmt: skip

    DEFAULT_CSS = """
    EditScreen {
        layout: vertical;

        #edit-body { height: 1fr; }
        .pane {
            border: round $foreground 35%; background: $background;
            border-title-color: $foreground; border-subtitle-color: $foreground;
        }
        .pane:focus, .pane:focus-within {
            border: round $accent; border-title-color: $text-accent; border-title-style: bold;
        }
        #text { width: 1fr; height: 1fr; }
        #preview { display: none; width: 5fr; height: 1fr; }
        #underneath {
            display: none; height: 1; padding: 0 1;
            background: $warning-muted; color: $text-warning; text-style: bold;
        }
        #read-only { display: none; height: 1; padding: 0 1; color: $text-warning; }
        #too-small { display: none; }

        &.-previewing #preview { display: block; }
        &.-previewing #text { width: 7fr; }
        &.-previewing.-narrow #text { display: none; }
        &.-underneath #underneath { display: block; }
        &.-read-only #read-only { display: block; }
        &.-read-only .pane { border: double $foreground 35%; }
        &.-read-only .pane:focus { border: double $accent; }

        &.-too-small > * { display: none; }
        &.-too-small #too-small { display: block; width: 1fr; height: 1fr; }
    }
    """

    BANNERS_BEFORE = "#edit-body"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_PREVIEW_FROM, "-wide")]  # noqa: RUF012 - as Textual has it

    header = getters.query_one(Header)
    preview = getters.query_one("#preview", NoteView)

    def __init__(
        self,
        engine: "Engine",
        path: str,
        *,
        title: str,
        line: int | None = None,
        new_text: str | None = None,
        opened: Opened | None = None,
        saves: bool = False,
    ) -> None:
        super().__init__(engine, path)
        self._folder = title
        self._line = line
        self._new_text = new_text
        self._opened = opened
        self._saves = saves
        self._problem = ""
        self._status = Status(path, program="memtui edit", follow=None, live="LIVE", read_only=engine.read_only)
        self._preview_timer: Timer | None = None
        self._preview_wanted: bool | None = None
        self._unsaved = False
        self._last_search = ""
        self._titles = Titles()
        self._title = one_line(path)

    def compose(self) -> ComposeResult:
        """The text, and beside it how it will be read."""
        yield Header()
        with Horizontal(id="edit-body"):
            yield self.area
            yield NoteView(id="preview", classes="pane")
        yield Static(id="underneath", markup=False)
        yield MessageLine(id="message")
        yield Static(id="read-only", markup=False)
        yield EditKeys()
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        """Paint first, load after."""
        self.header.status = self._status
        self.area.read_only = True
        self.area.border_title = Content(one_line(self._path))
        self.preview.border_title = "preview"
        self.area.hold()
        self.area.focus()
        self.set_interval(1.0, self._pass_time)
        self.open_note()

    def on_resize(self, event: Resize) -> None:
        """Say it where the terminal is too small, and recover."""
        too_small = event.size.width < _SMALLEST[0] or event.size.height < _SMALLEST[1]
        was_too_small = self.has_class("-too-small")
        self.set_class(too_small, "-too-small")
        if too_small:
            words = f"memtui needs {_SMALLEST[0]}x{_SMALLEST[1]} (now {event.size.width}x{event.size.height}). Esc back"
            self.query_one("#too-small", Static).update(words)
        self._show_preview(event.size.width)
        if was_too_small and not too_small:
            self.call_after_refresh(self.area.focus)

    # Opening

    @work(group="open")
    async def open_note(self) -> None:
        """Read the note, offer a draft of it, and show what is to be edited; then take in what was typed meanwhile."""
        try:
            await self._open_note()
        finally:
            self.area.release()

    async def _open_note(self) -> None:
        try:
            opened = self._opened
            if opened is None:
                opened = await asyncio.to_thread(self._saving.open)
            drafts = await asyncio.to_thread(self._found, opened)
            told = await asyncio.to_thread(self._elsewhere, opened.path)
        except Closed:
            return
        new = shown(opened)
        self._problem = new.problem
        if self._engine.read_only:
            self._problem = self._problem or self.why_read_only
        self._put(new)
        if self._problem:
            return
        if self._new_text is not None:
            self.area.revise(self._new_text)
        elif drafts:
            await self._offer(drafts[0], len(drafts))
        if told:
            self.message.say(told)
        self.show_state()
        if self._saves:
            self.action_save()

    def _put(self, new: Shown) -> None:
        """Show a note."""
        syntax = syntax_of(new.basis.path, new.text)
        self.area.put(new.text, syntax=syntax, basis=new.basis)
        is_fixed = bool(self._problem)
        self.area.read_only = is_fixed
        self.set_class(is_fixed, "-read-only")
        if is_fixed:
            self.query_one("#read-only", Static).update(Content(one_line(f"READ-ONLY: {self._problem}")))
        if self._line is not None:
            self.area.go_to_line(self._line)
        self._show_preview(self.size.width)
        self._draw_preview()
        self.show_state()
        self.refresh_bindings()
        if new.basis.data is None and not self._problem:
            self.message.say("A new memory. ^S makes it; until then nothing is there.")
        elif not self._problem:
            self._tell_who_works(new.basis)

    def _tell_who_works(self, basis: Basis) -> None:
        """Say that an agent is about to change it, if one changed it lately."""
        event = basis.event
        if event is None or not isinstance(event.actor, Agent) or time.time() - event.at_us / 1e6 > _WORKING_SECONDS:
            return
        who = wording.actor_of(event)
        self.message.say(f"{who} is working and may change this memory; saving asks before overwriting.")

    # Words around the text

    def show_state(self) -> None:
        """The header, the edges of the box, and what became of the memory meanwhile."""
        if not self.is_open or not self.is_mounted:
            return
        area, basis = self.area, self.basis
        self._unsaved = self.is_unsaved
        words = [Word("* unsaved", "$text-warning bold")] if self._unsaved else []
        if self.since is not None and self._unsaved:
            words.append(Word("! CHANGED", "$text-error bold"))
        status = replace(
            self._status, folder=basis.path, words=tuple(words), read_only=self._engine.read_only or area.read_only
        )
        if status != self._status:
            self._status = self.header.status = status
        shape = basis.shape
        ends = shape.line_end or "LF"
        about = [syntax_of(basis.path, ""), ends, "UTF-8 BOM" if shape.bom else "UTF-8"]
        if basis.text and not shape.final_newline:
            about.append("no final newline")
        if not area.soft_wrap:
            about.append("no wrap")
        name = one_line(basis.path.rpartition("/")[2])
        self._title = name if self._problem else f"{name}   {'  '.join(about)}"
        self._show_position()
        self._show_underneath()

    def _show_position(self) -> None:
        row, column = self.area.cursor_location
        words = [f"Ln {row + 1:,}, Col {column + 1:,}"]
        if not self.area.selection.is_empty:
            words.append(f"{len(self.area.selected_text):,} selected")
        text = self.area.text
        shape = self.basis.shape
        if self.area.read_only and self.basis.data is not None:
            size = len(self.basis.data)
        else:
            size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
            size += 3 * shape.bom + (text.count("\n") if shape.line_end == "CRLF" else 0)
        words += [wording.size(size), wording.tokens(text)]
        self._titles.put(self.area, self._title, "   ".join(words))

    def _show_underneath(self) -> None:
        since = self.since
        is_told = since is not None and not self._problem
        self.set_class(is_told, "-underneath")
        if since is not None and is_told:
            line = self.query_one("#underneath", Static)
            words, keys = sentence_of(since), "^G chooses what to do."
            if since.situation is Situation.CHANGED:
                keys = "^G merges now, ^D shows it."
            room = max(self.size.width - 2, 0)
            if len(words) + len(keys) + 2 > room:
                words = fit(words, room - len(keys) - 2)
            line.update(Content(f"{words}  {keys}"))

    def _pass_time(self) -> None:
        if self.since is not None:
            self._show_underneath()

    @on(TextArea.Changed)
    def _text_changed(self, message: TextArea.Changed) -> None:
        if message.text_area is not self.area or not self.is_open:
            return
        if self.is_unsaved != self._unsaved:
            self.show_state()
            if not self._unsaved:
                self.look_underneath()
        else:
            self._show_position()
        for bar in self.query(FindBar):
            bar.find_again()
        if self.has_class("-previewing") and self._preview_timer is None:
            self._preview_timer = self.set_timer(_PREVIEW_SECONDS, self._draw_preview)

    @on(TextArea.SelectionChanged)
    def _cursor_moved(self, message: TextArea.SelectionChanged) -> None:
        if message.text_area is self.area and self.is_open:
            self._show_position()

    # The preview

    def _show_preview(self, width: int) -> None:
        """Beside the text where there is room, else in its place when asked for."""
        wanted = self._preview_wanted
        is_shown = wanted if wanted is not None else width >= _PREVIEW_FROM
        if is_shown == self.has_class("-previewing"):
            return
        self.set_class(is_shown, "-previewing")
        if is_shown:
            self._draw_preview()

    def _draw_preview(self) -> None:
        self._preview_timer = None
        if not self.has_class("-previewing") or not self.is_open:
            return
        text = self.area.text
        self.preview.show(text, syntax=syntax_of(self._path, text), mode="rendered", keep_place=True)
        if self.area.cursor_location[0] > 0:
            self.preview.reveal_line(self.area.cursor_location[0] + 1)

    def action_preview(self) -> None:
        """How it will be read, or only the text."""
        self._preview_wanted = not self.has_class("-previewing")
        self._show_preview(self.size.width)
        if self.has_class("-previewing") and self.size.width < _PREVIEW_FROM:
            self.preview.focus()
            self.message.say("How it will be read. ^O goes back to the text.")
        else:
            self.area.focus()

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done now is offered."""
        if action == "merge_now":
            return self.since is not None and not self._problem
        if action in ("save", "elsewhere") and self._problem:
            return False
        return super().check_action(action, parameters)

    @work(group="close", exclusive=True)
    async def action_close(self) -> None:
        """Close; what is not saved is asked about."""
        if self.preview.has_focus and self.size.width < _PREVIEW_FROM:
            self.action_preview()
            return
        if not self.is_unsaved:
            self.dismiss(None)
            return
        answer = await self.app.push_screen_wait(
            MenuScreen(
                f"{one_line(self._path)} is not saved.",
                (
                    Choice("s", "save, and close", "save"),
                    Choice("d", "close without saving; the text is kept as a draft", "discard"),
                    Choice("e", "go on editing", "stay"),
                ),
            )
        )
        if answer == "save":
            if await self.save():
                self.dismiss(None)
        elif answer == "discard":
            await self._discard()

    def action_find(self) -> None:
        """Find and replace; what is selected is what is looked for."""
        try:
            self.query_one(FindBar).wanted.focus()
        except NoMatches:
            selected = self.area.selected_text
            wanted = selected if selected and "\n" not in selected else self._last_search
            self.mount(FindBar(self.area, wanted, id="find"), before=self.message)

    @on(FindBar.Closed)
    def _close_find(self) -> None:
        for bar in self.query(FindBar):
            self._last_search = bar.wanted.value or self._last_search
            bar.remove()
        self.area.focus()

    def action_find_next(self, step: int) -> None:
        """To the next match of what was looked for, or the one before."""
        bars = self.query(FindBar)
        if bars:
            bars.first().go(step)
        elif self._last_search:
            if not go_to_match(self.area, self._last_search, step):
                self.message.say(f"{one_line(self._last_search)} is not found.")
        else:
            self.action_find()

    @work(group="line", exclusive=True)
    async def action_line(self) -> None:
        """Go to a line."""
        answer = await self.app.push_screen_wait(
            PromptScreen("Line", f"1 to {self.area.document.line_count:,}. Enter goes there, Esc back.")
        )
        if not answer:
            return
        if answer.isdecimal() and answer.isascii():
            self.area.go_to_line(int(answer[:12]))
        else:
            self.message.say(f"{one_line(answer)} is no line number.", warning=True)

    def action_elsewhere(self) -> None:
        """Go on in the person's own editor; what comes back is one step, not saved yet."""
        if self.area.read_only or not self.is_open:
            self.message.say(self._problem or self.why_read_only, warning=True)
            return
        self._keep_now()
        before = self.area.text
        name = self._path.rpartition("/")[2]
        try:
            text = edited(self.app, before, name=name, line=self.area.cursor_location[0] + 1)
        except NoEditor as error:
            kept = "" if error.left is None else " What it had saved is kept as a draft."
            self.message.say(f"{error}{kept}", warning=True)
            if error.left is not None:
                self.keep_left(error.left)
            return
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        if text == before:
            self.message.say("Back from your editor: nothing was changed.")
            return
        self.area.revise(text)
        self.message.say("Back from your editor. ^S saves it, ^Z takes out what was done there.")

    def action_difference(self) -> None:
        """What saving would change."""
        if not self.is_open:
            return
        from memtui.ui.screens.edit_diff import EditDiffScreen  # deferred: only where somebody asks

        self.app.push_screen(
            EditDiffScreen(self._engine, self.basis, self.area.text, has_changed=self.since is not None)
        )
