"""Edit a note, here or in an external editor."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from memtui.core import wording
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import EntryKind
from memtui.core.unicode import to_one_line
from memtui.ui.controller import controller_work
from memtui.ui.key_names import label_key
from memtui.ui.screens.folder import FolderController

if TYPE_CHECKING:  # loaded when a key asks for it, behind the first paint
    from memtui.editing.save import OpenedNote
    from memtui.engine import Engine


class EditController(FolderController):
    """Edits notes, here or in the person's own editor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "edit", id="note.edit", tooltip="Edit the note here"),
        Binding("E,f4", "edit_elsewhere", "editor", id="note.edit_elsewhere",
                tooltip="Edit the note in $EDITOR", show=False),
    ]  # fmt: skip

    def action_edit(self) -> None:
        if path := self._get_note_to_edit():
            self._edit_with(path, self.edit_here)

    def action_edit_elsewhere(self) -> None:
        if path := self._get_note_to_edit():
            self._edit_with(path, lambda path: self.edit_externally_at(path, None))

    def _edit_with(self, path: str, edit: Callable[[str], None]) -> None:
        """Edit a note, after a question where the program of the folder's agent keeps it."""
        if self.files.get_keeper(path) and not self.screen.is_read_only:
            self._ask_to_edit(path, edit)
        else:
            edit(path)

    @controller_work(group="edit", exclusive=True)
    async def _ask_to_edit(self, path: str, edit: Callable[[str], None]) -> None:
        from memtui.ui.screens.dialogs import ConfirmScreen  # noqa: PLC0415 - start-up: only for a question

        assert self.files.dialect is not None
        rule = self.files.dialect.get_rule(path)
        question = f"{to_one_line(path)} is {rule.kept}. {rule.why} Edit it all the same?"
        if await self.app.push_screen_wait(ConfirmScreen(question)):
            edit(path)

    @controller_work(group="drafts")
    async def report_drafts(self) -> None:
        """Show a message where a program ended while a note was being edited."""
        engine = self.session.engine
        if engine is None or engine.read_only:
            return
        with suppress(MemtuiError, OSError):  # the editor reports them, with the note's name
            if paths := await asyncio.to_thread(_list_unsaved_notes, engine):
                more = f" (and {len(paths) - 1:,} more)" if len(paths) > 1 else ""
                note, key = to_one_line(paths[0]), label_key("note.edit")
                words = f"Unsaved draft of {note} found{more}. {key} on the note opens it."
                self.screen.show_message(words, warning=True)

    def edit_here(self, path: str, line: int | None = None, column: int = 0, *, new_text: str | None = None) -> None:
        """Edit a note here, from a line (from 1) and a column (from 0) on; `new_text` is not saved yet."""
        engine = self._get_engine_to_edit()
        if engine is not None:
            from memtui.ui.screens.edit import EditScreen  # noqa: PLC0415 - start-up: loads the editor

            self.app.push_screen(EditScreen(engine, path, line=line, column=column, new_text=new_text))

    def edit_externally_at(self, path: str, line: int | None) -> None:
        """Edit a note in the person's own editor, from a line on (from 1)."""
        engine = self._get_engine_to_edit()
        if engine is not None:
            self._edit_in_external_editor(engine, path, line)

    def _get_engine_to_edit(self) -> "Engine | None":
        """The engine, if notes can be changed; else `None`, with a message."""
        engine = self.get_engine()
        if engine is not None and (engine.read_only or self.screen.is_read_only):
            self.screen.show_message(self.screen.read_only_reason, warning=True)
            return None
        return engine

    def _get_note_to_edit(self) -> str:
        """The note under the cursor; empty, with a message, where there is none."""
        path = self.files.cursor_path
        entry = self.files.outline.get(path) if path else None
        kind = entry.kind if entry else None
        if self.get_engine() is None:
            return ""
        if not path:
            words = f"No note under the cursor. {label_key('file.new')} creates one."
        elif kind is EntryKind.DIRECTORY:
            words = f"{to_one_line(path)} is a directory. {label_key('file.rename')} renames it."
        elif kind is EntryKind.OTHER:
            words = f"Cannot edit {to_one_line(path)}: it is a FIFO, a socket or a device."
        else:
            return path
        self.message.show_message(words)
        return ""

    @controller_work(group="elsewhere", exclusive=True)
    async def _edit_in_external_editor(self, engine: "Engine", path: str, line: int | None) -> None:
        """Edit a copy of a note in the person's own editor, and save the result."""
        from memtui.editing.external_editor import EditorUnavailable  # noqa: PLC0415 - start-up: loads the editing
        from memtui.editing.save import NoteSaved, NoteSaver, prepare_note  # noqa: PLC0415 - start-up: loads the editing
        from memtui.ui.clipboard import edit_bytes_externally  # noqa: PLC0415 - start-up: loads subprocess

        saving = NoteSaver(engine, path)
        try:
            opened = await asyncio.to_thread(saving.open)
        except MemoryClosed:
            return
        new = prepare_note(opened)
        if new.problem and not new.is_too_large:
            self.screen.show_message(f"Not opened: {new.problem[:1].lower()}{new.problem[1:]}", warning=True)
            return
        before = opened.data or b""
        try:
            data = edit_bytes_externally(self.app, before, name=path.rpartition("/")[2], line=line)
        except EditorUnavailable as error:
            words = str(error)
            if error.left is not None:
                words += await self._save_as_draft(engine, opened, error.left)
            self.screen.show_message(words, warning=True)
            return
        if data == before:
            self.screen.show_message(f"{to_one_line(path)} is unchanged.")
            return
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            words = "Not saved: the editor's file is not UTF-8 text."
            self.screen.show_message(words + await self._save_as_draft(engine, opened, data), warning=True)
            return
        is_refused = await asyncio.to_thread(saving.find_refusal, text, new.base.text) is not None
        result = None
        if not is_refused:
            result = await asyncio.to_thread(saving.save, data, opened.version, base=opened.data)
        if isinstance(result, NoteSaved):
            event = result.event
            counts = wording.format_changed_lines(event.added, event.removed) if event is not None else ""
            words = f"Saved {to_one_line(result.path)}{counts}. {result.warning}".rstrip()
            self.screen.show_message(words, warning=bool(result.warning))
            return
        # The memory changed meanwhile, or it cannot be written so: the text goes on in the editor here.
        from memtui.core.text_format import parse_text  # noqa: PLC0415 - start-up: only after a failure
        from memtui.ui.screens.edit import EditScreen  # noqa: PLC0415 - start-up: loads the editor

        text = parse_text(data).text
        self.app.push_screen(EditScreen(engine, path, opened=opened, new_text=text, saves=True))

    async def _save_as_draft(self, engine: "Engine", opened: "OpenedNote", data: bytes) -> str:
        """Keep a text that cannot be saved as a draft; returns a sentence on the outcome, after a space."""
        from memtui.editing.drafts import DraftReason, open_drafts  # noqa: PLC0415 - start-up: loads the editing

        text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        base = opened.version.sha256 if opened.version else None
        try:
            await asyncio.to_thread(open_drafts(engine).set_aside, opened.path, text, base, why=DraftReason.DISCARDED)
        except (MemtuiError, OSError) as error:
            return f" {error}"
        return f" Its text is kept as a draft: {label_key('note.edit')} opens it."


def _list_unsaved_notes(engine: "Engine") -> list[str]:
    """The notes with a draft from an editor that did not end in order, the newest first."""
    from memtui.editing.drafts import DraftReason, open_drafts  # noqa: PLC0415 - start-up: loads the editing

    drafts = open_drafts(engine).list_latest()
    return list(dict.fromkeys(draft.path for draft in drafts if draft.reason is DraftReason.EDITING))
