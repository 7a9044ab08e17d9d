"""Merge notes and split them, as commands behind the colon."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from memtui.core.paths import is_shown
from memtui.core.unicode import to_one_line
from memtui.ui.controller import controller_work
from memtui.ui.screens.browse_files import SelectionController
from memtui.ui.screens.folder import FolderController, FolderScreen


class RearrangeController(FolderController):
    """Merges two notes (`:merge`), and splits one at its headings (`:split`)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("colon_merge", "merge", "merge", id="file.merge",
                tooltip="Merge two selected notes, or this one into another", show=False),
        Binding("colon_split", "split", "split", id="file.split",
                tooltip="Split the note into one for each section", show=False),
    ]  # fmt: skip

    def __init__(self, screen: FolderScreen, selection: SelectionController) -> None:
        super().__init__(screen)
        self._selection = selection

    @controller_work()
    async def action_merge(self) -> None:
        targets, engine = self._selection.require_targets(), self.session.engine
        if not targets or engine is None:
            return
        if len(targets) > 2:
            self.message.show_message(f"{len(targets):,} are selected: two can be merged at a time.", warning=True)
            return
        from memtui.ui.flows import merge_and_split as flows  # noqa: PLC0415 - start-up: loads the flows

        if len(targets) == 2:
            pair = await flows.choose_kept(self.app, engine, *targets)
        else:
            into = await self._pick_target(targets[0])
            pair = (targets[0], into) if into is not None else None
        if pair is None:
            self.message.show_message("Nothing was merged.")
            return
        merged, into = pair
        await self._selection.run_flow(lambda engine: flows.merge(self.app, engine, merged, into))

    async def _pick_target(self, path: str) -> str | None:
        """Ask for the note into which one goes; `None` to go back."""
        from memtui.knowledge.source import is_note  # noqa: PLC0415 - start-up: loads the graph
        from memtui.ui.screens.pick_note import PickNoteScreen  # noqa: PLC0415 - start-up: loads the search

        notes = [
            each
            for each in self.files.outline.list_files()
            if each != path and is_note(each) and is_shown(each) and not self.files.is_deleted(each)
        ]
        return await self.app.push_screen_wait(
            PickNoteScreen(f"Merge {to_one_line(path)} into", "merges into it", notes)
        )

    @controller_work()
    async def action_split(self) -> None:
        path = self._selection.get_single_target()
        if not path:
            return
        from memtui.ui.flows import merge_and_split as flows  # noqa: PLC0415 - start-up: loads the flows

        await self._selection.run_flow(lambda engine: flows.split(self.app, engine, path))
