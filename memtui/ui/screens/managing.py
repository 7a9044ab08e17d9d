"""The keys of the browser that make, name, move, copy, mark, pin, protect and remove memories.

The screen asks and routes; what is asked and said is in `memtui.ui.managing`, which is loaded when such a key is
pressed: none of it is there before the first paint.
"""

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.screen import Screen

from memtui.core.visible import one_line
from memtui.ui.files.contents import is_at_or_below, name_of, parent_of
from memtui.ui.files.outline import moved_path
from memtui.ui.files.view import FilesView
from memtui.ui.screens.editing import Editing
from memtui.ui.screens.guarding import Guarding
from memtui.ui.screens.menu import Choice, MenuScreen

if TYPE_CHECKING:  # loaded when a key asks for it, behind the first paint
    from memtui.ui.managing.line import Complete, Judge
    from memtui.ui.managing.templates import Template

CHANGING = frozenset({"new", "rename", "copy_to", "delete", "pin", "protect", "edit", "edit_elsewhere"})
"""Actions that change the folder, or what is remembered of it."""
_IN_THE_MENU = (
    "files.open", "note.edit", "file.rename", "file.copy", "file.mark", "file.pin", "file.protect", "browse.history",
    "browse.details", "file.new", "file.delete",
)  # fmt: skip
"""What the right button of the mouse offers, by the ids of the bindings."""


class Managing(Guarding, Editing):
    """A screen over a memory, in which a person puts files in order."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "new", "new", id="file.new", tooltip="A new memory; a name that ends with / makes a folder"),
        Binding("r", "rename", "rename", id="file.rename", tooltip="Rename or move it, or all that are marked"),
        Binding("c", "copy_to", "copy to", id="file.copy", tooltip="Copy it to another name", show=False),
        Binding("d", "delete", "delete", id="file.delete", tooltip="Delete it, or all that are marked"),
    ]  # fmt: skip

    def _folder_here(self) -> str:
        """The folder in which something new is made: the one under the cursor, or that of what is."""
        path = self.files.cursor_path or ""
        return path if self._known().is_folder(path) else parent_of(path)

    # Actions

    @work
    async def action_new(self) -> None:
        """Make a memory or a folder: ask for its name, then for its kind, and open it."""
        if self._session.engine is None:
            return
        from memtui.ui.managing import courses, judging, templates  # deferred: not needed for the first paint

        known, folder = self._known(), self._folder_here()
        start = f"{folder}/" if folder else ""
        hint = "A name that ends with / makes a folder; .md is added to a bare one."
        typed = await self._line("New:", start, len(start), judging.judge_new(known, start), "makes it", hint=hint)
        if typed is None:
            return
        new = judging.new_path(typed)
        text, kind = "", ""
        if not new.is_folder:
            if templates.is_note(new.path):
                chosen = await self._choose_kind(new.path)
                if chosen is None:
                    self.message.say("Nothing was created.")
                    return
                text, kind = templates.filled(chosen, new.path, date.today()), chosen.name
            else:
                text = templates.plain(new.path)
        data = None if new.is_folder else text.encode()
        came = await self._manage(lambda engine: courses.make(engine, new.path, data, note=kind))
        if came.done and data is not None:
            self.edit_here(new.path, templates.first_gap(text))

    async def _choose_kind(self, path: str) -> "Template | None":
        from memtui.ui.managing import templates  # deferred: not needed for the first paint

        kinds = templates.offered(path)
        choices = [Choice(kind.key, kind.label, kind.name) for kind in kinds]
        screen: Screen[str | None] = MenuScreen(f"{one_line(name_of(path))} begins as", choices)
        chosen = await self.app.push_screen_wait(screen)
        return next((kind for kind in kinds if kind.name == chosen), None)

    @work
    async def action_rename(self) -> None:
        """Rename or move: one in its row, several in a text or into a folder."""
        targets = self._targets()
        if len(targets) > 1:
            await self._rename_many(targets)
        elif old := self._one_target():
            await self._rename_one(old)

    async def _rename_one(self, old: str) -> None:
        from memtui.ui.managing import courses, judging, names, renames  # deferred: not needed for the first paint

        known = self._known()
        value = one_line(old) + ("/" if known.is_folder(old) else "")
        at = len(value) - 1 if known.is_folder(old) else names.before_extension(value)
        judge = judging.judge_rename(known, old)
        typed = await self._line(
            f"Rename {value}", value, at, judge, "renames it", place=lambda: self.files.name_region(old)
        )
        if typed is None:
            return
        new = renames.target_of(typed, old, known.is_folder(old))
        if new != old:
            await self._manage(lambda engine: courses.rename(self.app, engine, old, new, known))

    async def _rename_many(self, targets: Sequence[str]) -> None:
        from memtui.ui.managing import courses  # deferred: not needed for the first paint
        from memtui.ui.managing.words import named

        known = self._known()
        what = named(targets, known.is_folder)
        choices = (
            Choice("e", "in a text, one name a line", "text"),
            Choice("m", "move all of them to a folder", "folder"),
        )
        screen: Screen[str | None] = MenuScreen(f"Rename {what}", choices)
        chosen = await self.app.push_screen_wait(screen)
        if chosen == "text":
            await self._manage(lambda engine: courses.rename_many(self.app, engine, targets, known))
        elif chosen == "folder":
            folder = await self._ask_folder(f"Move {what} to:", targets, "Moves", "moves them")
            if folder is not None:
                await self._manage(lambda engine: courses.move_into(self.app, engine, targets, folder, known))

    async def _ask_folder(self, question: str, targets: Sequence[str], does: str, key: str) -> str | None:
        from memtui.ui.managing import judging, names  # deferred: not needed for the first paint

        known = self._known()
        typed = await self._line(question, "", 0, judging.judge_folder(known, targets, does), key)
        return None if typed is None else names.judged(typed).path

    @work
    async def action_copy_to(self) -> None:
        """Copy: one to another name, several into a folder."""
        from memtui.ui.managing import courses, judging, names, renames  # deferred: not needed for the first paint
        from memtui.ui.managing.words import named

        known, targets = self._known(), self._targets()
        if len(targets) > 1:
            what = named(targets, known.is_folder)
            folder = await self._ask_folder(f"Copy {what} to:", targets, "Copies", "copies them")
            if folder is None:
                return
            copies = {path: f"{folder}/{name_of(path)}" if folder else name_of(path) for path in targets}
        else:
            old = self._one_target()
            if not old:
                return
            value = names.free_name(one_line(old), known.exists) + ("/" if known.is_folder(old) else "")
            typed = await self._line(
                f"Copy {one_line(old)} to", value, names.before_extension(value), judging.judge_copy(known, old),
                "copies it", takes_first=True, place=lambda: self.files.name_region(old),
            )  # fmt: skip
            if typed is None:
                return
            copies = {old: renames.target_of(typed, old, known.is_folder(old))}
        await self._manage(lambda engine: courses.copy_to(self.app, engine, copies, known))

    @work
    async def action_delete(self) -> None:
        """Delete what is under the cursor, or all that is marked."""
        from memtui.ui.managing import courses  # deferred: not needed for the first paint

        targets = self._targets() if self._one_target() else []
        if not targets:
            return
        behind = self._row_behind(targets)
        came = await self._manage(lambda engine: courses.delete(self.app, engine, targets, self._known()))
        if came.done and behind and any(is_at_or_below(self.files.cursor_path or "", path) for path in targets):
            self._go_quietly(behind)

    def _row_behind(self, going: Sequence[str]) -> str:
        """Where the cursor goes when these go: the next row that stays, else the one before."""
        outline = self.files.outline
        here = outline.index_of(self.files.cursor_path or "") or 0
        gone = dict.fromkeys(going, "")

        def stays(path: str) -> bool:
            return not self.files.is_gone(path) and moved_path(path, gone) == path

        for rows in (range(here, len(outline)), range(here - 1, -1, -1)):
            for row in rows:
                if stays(path := outline.path_at(row)):
                    return path
        return ""

    # How

    async def _line(
        self,
        question: str,
        value: str,
        at: int,
        judge: "Judge",
        does: str,
        *,
        hint: str = "",
        takes_first: bool = False,
        place: Callable[[], Region | None] | None = None,
    ) -> str | None:
        """What the person types on a line; `None` if she turned away."""
        from memtui.ui.managing.line import LineScreen  # deferred: not needed for the first paint
        from memtui.ui.managing.names import completions

        complete: Complete = lambda typed: completions(typed, self.files.outline.folders_in)  # noqa: E731
        screen: Screen[str | None] = LineScreen(
            question, value, at=at, judge=judge, complete=complete, does=does, hint=hint, takes_first=takes_first,
            place=place,
        )  # fmt: skip
        return await self.app.push_screen_wait(screen)

    # The mouse

    @on(FilesView.MenuWanted)
    @work
    async def _offer_menu(self, message: FilesView.MenuWanted) -> None:
        from memtui.ui.actions import actions_of  # deferred: not needed for the first paint

        self.files.focus()
        screen: Screen[Any] = self
        offered = {action.binding.id: action for action in actions_of(screen) if action.binding.id in _IN_THE_MENU}
        choices = []
        for name in _IN_THE_MENU:
            if (action := offered.get(name)) is not None:
                shown = action.shown_keys.split(" ")[0]
                choices.append(Choice(shown if len(shown) == 1 else "", action.words, name))
        count = len(self.files.picked)
        title = f"{one_line(message.path)}{f'   {count:,} marked' if count else ''}"
        menu: Screen[str | None] = MenuScreen(title, choices)
        answer: str | None = await self.app.push_screen_wait(menu)
        if (chosen := offered.get(answer or "")) is not None:
            await self.app.run_action(chosen.binding.action, default_namespace=chosen.node)
