"""The controllers of the editor: the text with its draft, and the save with conflict and merge.

Nothing is written before the person has chosen, and what is typed is kept as a draft within a second.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.editing.drafts import DraftNotSaved, DraftReason, EditDraft, EditDraftStore, open_drafts
from memtui.editing.external_editor import create_private_file
from memtui.editing.save import (
    ChangesSince,
    EditBase,
    NoteChange,
    NoteSaver,
    OpenedNote,
    describe_change,
    find_draft_base,
    prepare_note,
)
from memtui.flows import edit as flows
from memtui.ui.controller import Controller, controller_work
from memtui.ui.flows.dialog import AppDialog
from memtui.ui.key_names import label_key
from memtui.ui.screens.above_browser import OverlayScreen
from memtui.ui.widgets.editor.area import EditorArea

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.editing.conflict import ConflictChoice, ConflictPrompt
    from memtui.engine import Engine


DRAFT_SECONDS = 1.0
"""Longest time for which a typed text is not in a draft."""


class DraftController(Controller[OverlayScreen]):
    """Holds the text of a note, and keeps it as a draft while it is not saved.

    Attributes:
        area: The text box, made before the first frame: events may come before it is mounted.
    """

    def __init__(self, screen: OverlayScreen, engine: "Engine") -> None:
        super().__init__(screen)
        self.area = EditorArea(id="text", classes="pane")
        self.engine = engine
        self.store: EditDraftStore | None = None
        """The drafts of the folder, once they are open."""
        self._lock = asyncio.Lock()
        self._timer: Timer | None = None
        self._problem = ""
        self._is_other_editor_reported = False
        self._is_closed = False
        self._is_kept_aside = False
        """Whether the text is a draft of its own, behind which no other is written."""
        self.is_left = False
        """Whether the person has decided about the text."""

    @property
    def basis(self) -> EditBase:
        """The version that the text is made from."""
        basis = self.area.basis
        assert isinstance(basis, EditBase)
        return basis

    @property
    def is_open(self) -> bool:
        return isinstance(self.area.basis, EditBase)

    @property
    def is_unsaved(self) -> bool:
        return self.is_open and not self.area.read_only and self.area.text != self.basis.text

    def leave(self, words: str) -> None:
        """Close on the person's decision, with a message on the screen below."""
        self.is_left = True
        self.screen.dismiss(None)
        if self.screen.browser is not None:
            self.screen.browser.message.show_message(words)

    def describe_other_editor(self, path: str) -> str:
        """A sentence about another editor of the note, once; else empty. From a thread."""
        if self.store is None or self._is_other_editor_reported or not self.store.find_elsewhere(path):
            return ""
        self._is_other_editor_reported = True
        return "Another memtui window is editing this note too; saving asks before overwriting."

    def find_drafts(self, opened: OpenedNote) -> tuple[EditDraft, ...]:
        """The drafts of a note, the newest first. From a thread."""
        if self.engine.read_only:
            return ()
        return self.open_drafts().find(opened.path, former=opened.former, now=prepare_note(opened).text)

    async def discard_text(self) -> None:
        """Close without saving; the text is kept as a draft."""
        basis = self.basis
        if self.store is None:
            self.leave("Not saved.")
            return
        self._is_kept_aside = True
        try:
            await self._set_aside(self.area.text)
            await self._drop_draft(basis.path)
        except (MemtuiError, OSError) as error:
            self._is_kept_aside = False
            self.save_draft()
            self.screen.message.show_message(f"Not closed: the text would be lost. {error}", warning=True)
            return
        again = f"{label_key('note.edit')} on this note"
        if basis.data is None:
            again = f"{label_key('file.new')} with the same name"
        self.leave(f"Not saved. The text is kept as a draft: {again} opens it.")

    @controller_work(group="draft")
    async def save_external_draft(self, data: bytes) -> None:
        """Keep the text that an external editor had saved before it failed."""
        try:
            await self._set_aside(data.decode("utf-8", "surrogateescape").replace("\r\n", "\n"))
        except (MemtuiError, OSError) as error:
            self.screen.message.show_message(str(error), warning=True)

    async def _set_aside(self, text: str) -> None:
        """Keep a text as a draft of its own.

        Raises:
            MemtuiError, OSError: It could not be written.
        """
        drafts, basis = self.store, self.basis
        if drafts is not None:
            async with self._lock:
                await asyncio.to_thread(drafts.set_aside, basis.path, text, basis.sha256, why=DraftReason.DISCARDED)

    @on(TextArea.Changed)
    def _schedule_draft(self, message: TextArea.Changed) -> None:
        if message.text_area is self.area and self.is_open and self._timer is None:
            self._timer = self.screen.set_timer(DRAFT_SECONDS, self.save_draft)

    def save_draft(self) -> None:
        """Write the draft now, or delete it where nothing is unsaved."""
        self._timer = None
        if self.store is None or self.area.read_only:
            return
        if self.is_unsaved:
            self._save_draft_later(self.basis, self.area.text, self.area.cursor_location)
        else:
            self.discard_draft(self.basis.path)

    @controller_work(group="draft")
    async def _save_draft_later(self, basis: EditBase, text: str, cursor: tuple[int, int]) -> None:
        async with self._lock:  # in order: nothing that was dropped comes back
            if self._is_kept_aside:
                return
            problem = await asyncio.to_thread(self._write_draft, basis, text, cursor)
            other = await asyncio.to_thread(self.describe_other_editor, basis.path)
        if other:
            self.screen.message.show_message(other)
        if problem and problem != self._problem:
            self.screen.message.show_message(problem, warning=True)
        self._problem = problem

    def _write_draft(self, basis: EditBase, text: str, cursor: tuple[int, int]) -> str:
        """Write a draft; returns the problem as a sentence."""
        try:
            if self.store is not None and not self._is_closed:
                self.store.save(basis.path, text, basis.sha256, cursor=cursor)
        except (DraftNotSaved, OSError) as error:
            return str(error)
        return ""

    @controller_work(group="draft")
    async def discard_draft(self, path: str) -> None:
        """Delete the draft of this editor: the note holds the text."""
        await self._drop_draft(path)

    async def _drop_draft(self, path: str) -> None:
        drafts = self.store
        if drafts is not None:
            async with self._lock:
                await asyncio.to_thread(drafts.drop, path)

    def open_drafts(self) -> EditDraftStore:
        """The drafts of this folder. From a thread."""
        if self.store is None:
            self.store = open_drafts(self.engine)
        return self.store

    def close(self) -> None:
        """Keep an unsaved text, however the screen ends."""
        drafts = self.store
        if drafts is None:
            return
        if self.is_open and self.is_unsaved and not self.is_left:
            problem = self._write_draft(self.basis, self.area.text, self.area.cursor_location)
            words = f"Its text is kept as a draft; {label_key('note.edit')} on the note opens it."
            if problem:
                words = _save_fallback_copy(self.area.text) or f"{problem} The text is lost."
            getattr(self.app, "last_words", []).append(f"{to_one_line(self.basis.path)} was not saved. {words}")
        self._is_closed = True
        drafts.close()


def _save_fallback_copy(text: str) -> str:
    """A sentence about the temporary file with a text that no draft can hold; empty if that fails too."""
    try:
        return f"No draft could be written; the text is in {create_private_file(text)}."
    except OSError:
        return ""


class SaveController(Controller[OverlayScreen]):
    """Saves the text of the editor, resolves conflicts, and follows changes of the note from elsewhere.

    Args:
        screen: The editor.
        drafts: Holds the text.
        path: The note, relative to the folder.
        show_state: Updates the words around the text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "save", id="edit.save", tooltip="Save"),
        Binding("ctrl+g", "merge_now", "merge", id="edit.merge", tooltip="Merge the changes from the folder"),
    ]

    @dataclass(eq=False)
    class ExternalChangeFound(Message):
        change: ChangesSince | None
        basis: EditBase
        """The version that the memory was compared with."""

    def __init__(
        self, screen: OverlayScreen, drafts: DraftController, path: str, show_state: Callable[[], None]
    ) -> None:
        super().__init__(screen)
        self.drafts = drafts
        self.area = drafts.area
        self.path = path
        self.problem = ""
        """Why the note can only be read."""
        self.external_change: ChangesSince | None = None
        """The change of the note from elsewhere; `None` while the text is based on the newest version."""
        self._show_state = show_state
        self._held_basis: EditBase | None = None
        self._lock = asyncio.Lock()
        self._is_applying_change = False
        self._refused: str | None = None
        """The text that the last save left unsaved, after saying why."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        del parameters
        return not self.problem and (action != "merge_now" or self.external_change is not None)

    async def offer_draft(self, draft: EditDraft, count: int) -> bool:
        """Ask what to do with a draft; returns whether the text is based on another version now."""
        drafts = self.drafts.open_drafts()
        if not await flows.offer_draft(self._dialog, drafts, draft, count - 1):
            return False
        basis = await asyncio.to_thread(find_draft_base, draft, self.drafts.basis, self.drafts.engine)
        changed = basis is not self.drafts.basis
        self.area.revise_text(draft.text, basis=basis if changed else None)
        self.area.move_cursor(draft.cursor)
        await asyncio.to_thread(drafts.adopt, draft)
        self.screen.message.show_message(f"This is your draft. {label_key('edit.save', short=True)} saves it.")
        return changed

    @property
    def _dialog(self) -> "EditScreenDialog":
        return EditScreenDialog(self)

    @controller_work(group="save")
    async def action_save(self) -> None:
        await self.save()

    async def save(self) -> bool:
        """Save the text; returns whether the memory holds it now."""
        if not self.drafts.is_open:
            return False
        if self.area.read_only:
            self.screen.message.show_message(self.problem or self.screen.read_only_reason, warning=True)
            return False
        was_busy = self._lock.locked()
        async with self._lock:
            if was_busy and not self.drafts.is_unsaved:
                return True  # the save before this one took all of it
            if was_busy and self.area.text == self._refused:
                return False  # and that one has said why not
            is_saved = await flows.save(self._dialog, self.drafts.engine, self.drafts.store)
            if not is_saved and not self.drafts.is_left:
                self.check_external_change()
            self._refused = None if is_saved else self.area.text
            return is_saved

    def rebase(self, path: str, basis: EditBase, saved_from: EditBase) -> None:
        """Base the text on the saved version; what was typed meanwhile is unsaved."""
        self.area.basis = basis
        self.area.history.mark_saved()
        self.path = path
        self.drafts.discard_draft(saved_from.path)
        self.check_external_change()
        self._show_state()

    def check_external_change(self) -> None:
        """Compare the memory with the base of the text."""
        if self.drafts.is_open:
            self._compare_with_memory(self.drafts.basis)

    @controller_work(thread=True, exclusive=True, group="underneath", exit_on_error=False)
    def _compare_with_memory(self, basis: EditBase) -> None:
        try:
            since = NoteSaver(self.drafts.engine, basis.path).find_changes_since(basis.version, base=basis.data)
        except MemoryClosed:
            return
        except (MemtuiError, OSError):
            return  # whatever is wrong is said when it is saved
        self.screen.post_message(self.ExternalChangeFound(since, basis))

    @on(ExternalChangeFound)
    def _handle_external_change(self, message: ExternalChangeFound) -> None:
        if not self.drafts.is_open or message.basis is not self.drafts.basis:
            return  # compared with what it is not made from any more
        self.external_change = message.change
        is_free = not self.drafts.is_unsaved and self.drafts.basis is not self._held_basis and not self.area.read_only
        if message.change is not None and is_free and not self._is_applying_change:
            self._apply_external_change(message.change)
        self._show_state()
        self.screen.refresh_bindings()

    @controller_work(group="take in")
    async def _apply_external_change(self, since: ChangesSince) -> None:
        """Show the new text: the person has not changed the old one."""
        basis = self.drafts.basis
        path = since.moved_to if since.situation is NoteChange.MOVED else basis.path
        if since.situation not in (NoteChange.CHANGED, NoteChange.MOVED) or path is None or self._lock.locked():
            return
        self._is_applying_change = True
        try:
            opened = await asyncio.to_thread(NoteSaver(self.drafts.engine, path).open)
            new = prepare_note(opened)
            if new.problem or opened.data is None or self.drafts.basis is not basis or self.drafts.is_unsaved:
                return  # the next look tells
            self.area.revise_text(new.text, basis=new.base)
            self.external_change = None
            more = f"Reloaded; {label_key('edit.undo', short=True)} shows the old text."
            if path != basis.path:
                more = "The editor follows it."
            self.path = path
            self.screen.message.show_message(f"{describe_change(since)} {more}", is_news=True)
        finally:
            self._is_applying_change = False
        self.check_external_change()
        self._show_state()

    @on(EditorArea.Rebased)
    def _hold_older_version(self) -> None:
        """The person went back to an older version: it is not replaced again at once."""
        self._held_basis = self.drafts.basis
        self.check_external_change()

    @controller_work(group="save")
    async def action_merge_now(self) -> None:
        if not self.drafts.is_open:
            return
        async with self._lock:  # of a save that goes on, what comes of it is merged
            await flows.merge_now(self._dialog, self.drafts.engine, self.drafts.store)
            self.check_external_change()
            self._show_state()


class EditScreenDialog(AppDialog):
    """The dialog about the text of an editor."""

    def __init__(self, saver: SaveController) -> None:
        super().__init__(saver.app, saver.drafts.engine)
        self._saver, self._drafts = saver, saver.drafts
        self.rebase, self.leave, self.go_to_line = saver.rebase, saver.drafts.leave, saver.area.go_to_line

    @property
    def basis(self) -> EditBase:
        return self._drafts.basis

    @property
    def text(self) -> str:
        return self._drafts.area.text

    def revise(self, text: str, basis: EditBase) -> None:
        """Replace the text, as one step."""
        self._drafts.area.revise_text(text, basis=basis)

    def drop_draft(self, path: str) -> None:
        self._drafts.discard_draft(path)

    async def resolve_conflict(self, prompt: "ConflictPrompt") -> "ConflictChoice | None":
        from memtui.ui.screens.conflict import ConflictScreen  # noqa: PLC0415 - start-up: only for a conflict

        return await self.app.push_screen_wait(ConflictScreen(prompt))

    def report(self, sentence: str, *, warning: bool = False) -> None:
        self._saver.screen.message.show_message(sentence, warning=warning)
