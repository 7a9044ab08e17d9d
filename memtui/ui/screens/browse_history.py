"""History, undo and redo; time travel and deleted files; the banner of a mass loss."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from memtui.core import wording
from memtui.core.events import EntryKind, Event
from memtui.core.mass_loss import describe_loss
from memtui.core.paths import ROOT_NAME
from memtui.ui.controller import controller_work
from memtui.ui.key_names import label_key
from memtui.ui.messages import READ_ONLY, LossChanged
from memtui.ui.screens.folder import FolderController, FolderScreen
from memtui.ui.widgets.tree.changes import list_changed_files

if TYPE_CHECKING:  # loaded when a key asks for it, behind the first paint
    from memtui.engine import Engine
    from memtui.ui.flows.undo import FlowOutcome

LOSS_ACTIONS = frozenset({"restore_loss", "dismiss_loss"})
"""Actions of `LossController`."""


class HistoryController(FolderController):
    """Opens the versions of a note; undo and redo."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "history(True)", "diff", id="browse.diff", tooltip="Diff of the last change, or of this event"),
        Binding("V", "history(False)", "history", id="browse.history", tooltip="All versions of the note"),
        Binding("u", "undo", "undo", id="browse.undo", tooltip="Undo the last change, or this event"),
        Binding("U", "redo", "redo", id="browse.redo", tooltip="Redo what was undone", show=False),
        Binding("Z", "undo_since", "undo everything", id="browse.undo_since",
                tooltip="Undo one actor's changes", show=False),
    ]  # fmt: skip

    @controller_work()
    async def action_history(self, diff_first: bool) -> None:
        """The versions of the note under the cursor, or of the note of the event under the cursor."""
        engine = self.get_engine()
        if engine is None:
            return
        from memtui.ui.screens.history import HistoryScreen  # noqa: PLC0415 - start-up: loads a screen

        at, path, key = self.screen.get_event_seq(), self.files.cursor_path, label_key("browse.past")
        if at is not None:
            event = await asyncio.to_thread(engine.history.get_event, at)
            path = _find_event_path(event, path) if event else None
            at = at if event and event.changes else None
        entry = self.files.outline.get(path) if path else None
        if not path:
            self.message.show_message(f"The memory folder has no versions. {key} shows it at an earlier time.")
        elif entry is not None and entry.kind is EntryKind.DIRECTORY:
            words = "A directory has no versions, only its notes do."
            self.message.show_message(f"{words} {key} shows it at an earlier time.")
        elif not await asyncio.to_thread(engine.history.versions_of, path, limit=1):
            self.message.show_message(f"{path} has no history.")
        else:
            title = self.screen.folder_title
            self.app.push_screen(HistoryScreen(engine, path, title=title, diff_first=diff_first, at=at))

    @controller_work()
    async def action_undo(self) -> None:
        """Take back the event under the cursor, or the newest change that is not taken back."""
        seq = self.screen.get_event_seq()
        await _run_undo_flow(self.screen, lambda undo, engine: undo.undo(self.app, engine, seq))

    @controller_work()
    async def action_redo(self) -> None:
        seq = self.screen.get_event_seq()
        await _run_undo_flow(self.screen, lambda undo, engine: undo.redo(self.app, engine, seq))

    @controller_work()
    async def action_undo_since(self) -> None:
        seen = await asyncio.to_thread(self.session.load_seen)
        await _run_undo_flow(self.screen, lambda undo, engine: undo.undo_since(self.app, engine, seen))


class PastController(FolderController):
    """Opens time travel and the deleted files."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("T", "past", "time travel", id="browse.past", tooltip="The folder as it was at any event"),
        Binding("D", "deleted", "deleted", id="browse.deleted", tooltip="List and restore deleted notes"),
    ]

    def action_past(self) -> None:
        """The folder as it was: right after the event under the cursor, or after the last one."""
        engine = self.get_engine()
        if engine is None:
            return
        from memtui.ui.screens.past import PastScreen  # noqa: PLC0415 - start-up: loads a screen

        at = self.screen.get_event_seq() or self.screen.last_seq
        if not at:
            self.message.show_message("The history is empty.")
            return
        path = self.files.cursor_path if at == self.screen.last_seq else None
        self.app.push_screen(PastScreen(engine, title=self.screen.folder_title, at=at, path=path))

    def action_deleted(self) -> None:
        engine = self.get_engine()
        if engine is not None:
            from memtui.ui.screens.deleted import DeletedScreen  # noqa: PLC0415 - start-up: loads a screen

            self.app.push_screen(DeletedScreen(engine, title=self.screen.folder_title))


class LossController(FolderController):
    """Shows the banner of a mass loss, and restores or accepts it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "restore_loss", "restore", id="browse.restore_loss",
                tooltip="Restore the deleted notes", show=False, priority=True),
        Binding("x", "dismiss_loss", "keep deleted", id="browse.dismiss_loss",
                tooltip="Keep the notes deleted", show=False),
    ]  # fmt: skip

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.screen.loss is not None and super().check_action(action, parameters)

    @on(LossChanged)
    def _show_loss(self, message: LossChanged) -> None:
        self.screen.loss = message.loss
        above = f"{label_key('browse.restore_loss')} restores them."
        remedy = f"{above}   {label_key('browse.dismiss_loss')} keeps them deleted"
        if self.screen.status.read_only:
            remedy = above = "Start without --read-only to restore them."
            if self.screen.read_only_reason != READ_ONLY:
                remedy = above = "This session cannot restore them."
        case = describe_loss(message.loss) if message.loss else ""
        self.screen.raise_alarm("loss", case, remedy, above=above)
        self.screen.refresh_bindings()

    @controller_work()
    async def action_restore_loss(self) -> None:
        if loss := self.screen.loss:
            await _run_undo_flow(self.screen, lambda undo, engine: undo.restore_loss(engine, loss))
            self.session.check_loss()

    @controller_work()
    async def action_dismiss_loss(self) -> None:
        if loss := self.screen.loss:
            await _run_undo_flow(self.screen, lambda undo, engine: undo.dismiss_loss(self.app, engine, loss))
            self.session.check_loss()


async def _run_undo_flow(
    screen: FolderScreen, flow: "Callable[[ModuleType, Engine], Awaitable[FlowOutcome | None]]"
) -> None:
    """Run a flow of `memtui.ui.flows.undo`, which is handed to it."""
    from memtui.ui.flows import undo  # noqa: PLC0415 - start-up: loads the flows

    await screen.run_flow(partial(flow, undo))


def _find_event_path(event: Event, preferred: str | None) -> str:
    """The path of an event, relative to the folder; of several files the preferred one, else the first."""
    files = list_changed_files(event)
    named = wording.to_relative_path(event.new_path or event.path)
    if not files or named in files:
        return "" if named == ROOT_NAME else named
    return preferred if preferred in files else files[0]
