"""Create, rename, move, copy, delete and protect on screens; `memtui.flows.files` decides."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any

from textual.app import App
from textual.screen import Screen

from memtui.editing.external_editor import EditorUnavailable
from memtui.engine import Engine
from memtui.flows import files as flows
from memtui.flows.files import FileFlowOutcome, FolderContext, describe_paths
from memtui.flows.rename_plan import HEAD, RenamePlan
from memtui.ui.clipboard import edit_text_externally, get_editor_command
from memtui.ui.flows.dialog import PHRASES, AppDialog, ask_in_app
from memtui.ui.screens.rename_many import Answer, RenameManyScreen, SummaryScreen

__all__ = ["FileFlowOutcome", "FolderContext", "describe_paths"]

rename = ask_in_app(flows.rename)
move_into = ask_in_app(flows.move_into)
copy_to = ask_in_app(flows.copy_to)
delete = ask_in_app(flows.delete)


class RenameAppDialog(AppDialog):
    """Edits names in the person's own editor if one is set, else on a screen."""

    async def edit_names(self, text: str, parse: Callable[[str], RenamePlan]) -> str | None:
        """The edited text; `None` to go back."""
        try:
            get_editor_command(self.app, installed=False)
        except EditorUnavailable:
            screen: Screen[str | None] = RenameManyScreen(text, parse)
            return await self.app.push_screen_wait(screen)
        return edit_text_externally(self.app, text, name="names.txt", line=HEAD.count("\n") + 1)

    async def review_renames(self, title: str, rows: Sequence[tuple[str, str]], question: str) -> Answer | None:
        screen: Screen[Answer | None] = SummaryScreen(title, rows, question)
        return await self.app.push_screen_wait(screen)


async def rename_many(app: App[Any], engine: Engine, paths: Sequence[str], known: FolderContext) -> FileFlowOutcome:
    return await flows.rename_many(RenameAppDialog(app, engine), engine, paths, known)


async def create(engine: Engine, path: str, data: bytes | None, *, note: str = "") -> FileFlowOutcome:
    """Create a memory, or a folder if there is no text, in a thread."""
    if data is None:
        return await asyncio.to_thread(flows.make_directory, PHRASES, engine, path)
    return await asyncio.to_thread(flows.create, PHRASES, engine, path, data, note)


async def protect(engine: Engine, paths: Collection[str], known: FolderContext, *, on: bool) -> FileFlowOutcome:
    """Protect paths from agents, or no longer, in a thread."""
    return await asyncio.to_thread(flows.protect, PHRASES, engine, tuple(paths), known, on=on)
