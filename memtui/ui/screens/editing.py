"""The keys of the browser that edit a memory, here or in the person's own editor."""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from memtui.core.errors import Closed, MemtuiError
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.screens.taking import PastKeys

if TYPE_CHECKING:  # loaded when a key asks for it, behind the first paint
    from memtui.engine import Engine
    from memtui.ui.edit.saving import Opened


class Editing(PastKeys):
    """A screen over a memory, from which its notes are edited."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "edit", id="note.edit", tooltip="Edit the note here"),
        Binding(
            "E,f4", "edit_elsewhere", "editor", id="note.edit_elsewhere", tooltip="Edit the note in your own editor",
            show=False,
        ),
    ]  # fmt: skip

    def action_edit(self) -> None:
        """Edit the note under the cursor here."""
        path = self._note_to_edit()
        if path is not None:
            self.edit_here(path)

    def action_edit_elsewhere(self) -> None:
        """Edit it in the person's own editor."""
        path = self._note_to_edit()
        if path is not None:
            self.edit_elsewhere_at(path, None)

    @work(group="drafts")
    async def tell_of_drafts(self) -> None:
        """Say so if a text that somebody was typing is still there: what ended the program did not ask her."""
        engine = self._session.engine
        if engine is None or engine.read_only:
            return
        try:
            paths = await asyncio.to_thread(_unsaved, engine)
        except (MemtuiError, OSError):
            return  # the editor says it, of the note that it is about
        if paths:
            more = f", and of {len(paths) - 1:,} more" if len(paths) > 1 else ""
            self._say(f"An unsaved draft of {one_line(paths[0])} is kept{more}: e on it goes on.", warning=True)

    def edit_here(self, path: str, line: int | None = None, *, new_text: str | None = None) -> None:
        """Edit a note here.

        Args:
            path: Relative to the folder; it need not be there yet.
            line: Where to begin, from 1; `None` for the start.
            new_text: What it begins with, not saved yet, such as a template.
        """
        engine = self._session.engine
        if engine is not None and self._may_edit(engine):
            from memtui.ui.screens.edit import EditScreen  # deferred: not needed for the first paint

            self.app.push_screen(EditScreen(engine, path, title=self._title, line=line, new_text=new_text))

    def edit_elsewhere_at(self, path: str, line: int | None) -> None:
        """Edit a note in the person's own editor.

        Args:
            path: Relative to the folder.
            line: Where to begin, from 1; `None` for the start.
        """
        engine = self._session.engine
        if engine is not None and self._may_edit(engine):
            self._edit_elsewhere(engine, path, line)

    def _may_edit(self, engine: "Engine") -> bool:
        if engine.read_only or self.is_read_only:
            self._say(self.why_read_only, warning=True)
            return False
        return True

    def _note_to_edit(self) -> str | None:
        """The note under the cursor; says why where there is none."""
        path = self.files.cursor_path
        entry = self.files.outline.get(path) if path else None
        if not path:
            self.message.say("There is no memory under the cursor. a makes one.")
        elif entry is not None and entry.kind is Kind.DIRECTORY:
            self.message.say(f"{one_line(path)} is a folder: r renames it, its notes can be edited.")
        elif entry is not None and entry.kind is Kind.OTHER:
            self.message.say(f"{one_line(path)} is a FIFO, a socket or a device: there is no text to edit.")
        else:
            return path
        return None

    @work(group="elsewhere", exclusive=True)
    async def _edit_elsewhere(self, engine: "Engine", path: str, line: int | None) -> None:
        """Open it, hand a copy to the editor, and save what comes back: the same course as here."""
        from memtui.ui.edit.basis import shown  # deferred: not needed for the first paint
        from memtui.ui.edit.saving import Saved, Saving
        from memtui.ui.external import NoEditor, edited_bytes

        saving = Saving(engine, path)
        try:
            opened = await asyncio.to_thread(saving.open)
        except Closed:
            return
        new = shown(opened)
        if new.problem and not new.is_too_large:
            self._say(f"Not opened: {new.problem[:1].lower()}{new.problem[1:]}", warning=True)
            return
        before = opened.data or b""
        try:
            data = edited_bytes(self.app, before, name=path.rpartition("/")[2], line=line)
        except NoEditor as error:
            words = str(error)
            if error.left is not None:
                words += await self._keep_left(engine, opened, error.left)
            self._say(words, warning=True)
            return
        if data == before:
            self._say(f"{one_line(path)}: nothing was changed.", warning=False)
            return
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            words = "Not saved: what the editor left is no text in UTF-8."
            self._say(words + await self._keep_left(engine, opened, data), warning=True)
            return
        result = await asyncio.to_thread(saving.save, data, opened.version, base=opened.data)
        if isinstance(result, Saved):
            counts = wording.changed_lines(result.event) if result.event is not None else ""
            self._say(f"Saved {one_line(result.path)}{counts}. {result.warning}".rstrip(), warning=bool(result.warning))
            return
        # The memory changed meanwhile, or it cannot be written: the text goes on in the editor here.
        from memtui.core.shape import shaped
        from memtui.ui.screens.edit import EditScreen

        self.app.push_screen(
            EditScreen(engine, path, title=self._title, opened=opened, new_text=shaped(data).text, saves=True)
        )

    async def _keep_left(self, engine: "Engine", opened: "Opened", data: bytes) -> str:
        """Keep a text that cannot be saved as a draft; what is said of it."""
        from memtui.ui.edit.drafts import Why, drafts_of  # deferred: not needed for the first paint

        text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        base = opened.version.sha256 if opened.version else None
        try:
            await asyncio.to_thread(drafts_of(engine).set_aside, opened.path, text, base, why=Why.DISCARDED)
        except (MemtuiError, OSError) as error:
            return f" {error}"
        return " What it had saved is kept as a draft: e offers it."


def _unsaved(engine: "Engine") -> list[str]:
    """The notes of which a draft was being typed when a program ended, the newest first."""
    from memtui.ui.edit.drafts import Why, drafts_of  # deferred: not needed for the first paint

    return list(dict.fromkeys(draft.path for draft in drafts_of(engine).all() if draft.why is Why.EDITING))
