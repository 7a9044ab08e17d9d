"""Select (mark), create, rename, copy, delete and sort files. Controllers ask and show; the flows decide.

Panes other than the files and the note have cursors of their own: a key that acts on files only names the key to the
files there.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.screen import Screen
from textual.worker import Worker, WorkerError

from memtui.core.events import EntryKind
from memtui.core.unicode import to_one_line
from memtui.flows.dialog import Choice
from memtui.ui.controller import controller_work
from memtui.ui.key_names import label_key
from memtui.ui.messages import EntryDetailsRead, EventsRecorded
from memtui.ui.screens.browse_edit import EditController
from memtui.ui.screens.folder import FolderController, FolderScreen
from memtui.ui.textual_private import get_key_bindings
from memtui.ui.widgets.tree.outline import SortOrder, apply_moves, find_topmost, get_name, get_parent, is_at_or_below
from memtui.ui.widgets.tree.view import TreeView

if TYPE_CHECKING:  # loaded when a key asks for it, behind the first paint
    from memtui.editing.templates import NoteTemplate
    from memtui.engine import Engine
    from memtui.ui.flows.files import FileFlowOutcome, FolderContext
    from memtui.ui.flows.undo import FlowOutcome
    from memtui.ui.widgets.name_line import NameValidator


FILE_ACTIONS = frozenset({"rename", "copy_to", "delete", "toggle_selection", "select_all_files", "pin"})
"""Actions on the selected files, else on the one under the cursor."""

_NONE_SELECTED = "Nothing is selected."


class SelectionController(FolderController):
    """Selects files, and says which of them a key is about."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "toggle_selection", "select", id="file.mark",
                tooltip="Select or deselect the file", show=False),
        Binding("asterisk", "select_all_files", "select all", id="file.mark_all",
                tooltip="Select all visible files, or none", show=False),
    ]  # fmt: skip

    def __init__(self, screen: FolderScreen) -> None:
        super().__init__(screen)
        self._new_path = ""

    def can_manage(self, action: str) -> bool:
        """Whether an action can be done where the person is now; True for actions on nothing of the files."""
        if action not in FILE_ACTIONS:
            return True
        focused = self.screen.focused
        return focused is None or focused.id in ("files", "note") or focused.check_consume_key("d", "d")

    def explain_unavailable_key(self, key: str) -> str:
        """Why a key that acts on files does nothing in this pane; empty if it may act here."""
        focused = self.screen.focused
        inside = () if focused is None else (each for each in focused.ancestors_with_self if each is not self.screen)
        if focused is None or any(get_key_bindings(node, key) for node in inside):
            return ""
        bound = get_key_bindings(self.screen, key)
        if all(binding.action not in FILE_ACTIONS or self.can_manage(binding.action) for binding in bound):
            return ""
        return f"This key works in the files: {self.screen.FILES_KEY} goes there."

    def list_targets(self) -> list[str]:
        """The selected paths, else the one under the cursor; none that is deleted already."""
        paths = find_topmost(self.files.selection) or [self.files.cursor_path or ""]
        return [path for path in paths if path and not self.files.is_deleted(path)]

    def get_single_target(self) -> str:
        """The first of the targets; empty, with a message, where there is none."""
        targets = self.list_targets()
        if not targets and self.get_engine() is not None:
            path = self.files.cursor_path
            words = f"{to_one_line(path)} is already deleted." if path else "Nothing under the cursor."
            self.message.show_message(words)
        return targets[0] if targets else ""

    def require_targets(self) -> list[str]:
        """The targets; a message where there is none."""
        return self.list_targets() if self.get_single_target() else []

    def make_context(self) -> "FolderContext":
        """The entries of the folder, as flows ask for them."""
        from memtui.ui.flows.files import FolderContext  # noqa: PLC0415 - start-up: loads the flows

        return FolderContext(self.is_folder, lambda path: not self.files.is_deleted(path), self.files.is_protected)

    def is_folder(self, path: str) -> bool:
        """Whether a directory is listed at a path."""
        entry = self.files.outline.get(path)
        return entry is not None and entry.kind is EntryKind.DIRECTORY

    def action_toggle_selection(self) -> None:
        """Select the row under the cursor, or deselect it; with the focus on the files, go on to the next row."""
        path = self.files.cursor_path
        if path is None or self.files.is_deleted(path):
            self.get_single_target()
            return
        self.files.selection.toggle(path)
        if self.files.has_focus:
            self.files.action_rows(1)
        if not self.files.selection:
            self.message.show_message(_NONE_SELECTED)

    def action_select_all_files(self) -> None:
        """Select all visible files, or nothing if something is selected."""
        if self.deselect_all():
            return
        listed = self.files.outline
        files = [path for path in listed if not self.is_folder(path) and not self.files.is_deleted(path)]
        self.files.selection.add(files)
        if not files:
            self.message.show_message("No visible file to select.")

    def deselect_all(self) -> bool:
        """Deselect everything; False if nothing was selected."""
        if not self.files.selection.clear():
            return False
        self.message.show_message(_NONE_SELECTED)
        return True

    @on(TreeView.SelectionChanged)
    def _report_selection(self) -> None:
        count = len(self.files.selection)
        if count:
            hint = f"{label_key('browse.leave')} deselect"
            if not self.screen.is_read_only:
                copy, delete = label_key("file.copy"), label_key("file.delete")
                hint = f"{label_key('file.rename')} rename or move  {copy} copy  {delete} delete  {hint}"
            self.message.show_message(f"{count:,} selected.", hint=hint)
        self.screen.show_titles()

    @on(EventsRecorded)
    def _go_to_new_entry(self) -> None:
        """Go to the entry that was just created or renamed, once its row is there."""
        if self._new_path and not self.files.is_deleted(self._new_path):
            self.move_quietly(self._new_path)

    async def run_flow(self, flow: "Callable[[Engine], Awaitable[FileFlowOutcome]]") -> "FileFlowOutcome":
        """Run a flow, show its outcome, and put the cursor on its result."""
        from memtui.ui.flows.files import FileFlowOutcome  # noqa: PLC0415 - start-up: loads the flows

        outcome = FileFlowOutcome()

        async def run(engine: "Engine") -> "FlowOutcome | None":
            nonlocal outcome
            outcome = await flow(engine)
            return outcome.outcome

        await self.screen.run_flow(run)
        if outcome.is_changed:
            self.files.selection.clear()
            self._new_path = outcome.path
            self._go_to_new_entry()
        return outcome

    def move_quietly(self, path: str) -> None:
        """Put the cursor on a path without ending follow mode."""
        self._new_path = ""
        self.screen.move_to(path)


_IN_THE_MENU = (
    "files.open", "note.edit", "file.rename", "file.copy", "file.mark", "file.pin", "file.protect", "browse.history",
    "browse.details", "file.new", "file.delete",
)  # fmt: skip
"""The context menu, by the ids of the bindings."""


class FileController(FolderController):
    """Creates, renames, copies and deletes files."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "new", "new", id="file.new", tooltip="New note; a name that ends with / makes a directory"),
        Binding("r", "rename", "rename", id="file.rename", tooltip="Rename or move the file, or all selected"),
        Binding("c", "copy_to", "copy to", id="file.copy", tooltip="Copy the file, or all selected", show=False),
        Binding("d", "delete", "delete", id="file.delete", tooltip="Delete the file, or all selected"),
    ]  # fmt: skip

    def __init__(self, screen: FolderScreen, selection: SelectionController, edit: EditController) -> None:
        super().__init__(screen)
        self._selection, self._edit = selection, edit

    @controller_work()
    async def action_new(self) -> None:
        if self.get_engine() is None:
            return
        from memtui.editing import templates  # noqa: PLC0415 - start-up: loads the editing
        from memtui.ui.flows import files as flows  # noqa: PLC0415 - start-up: loads the flows
        from memtui.ui.widgets.name_line import resolve_new_path, validate_new  # noqa: PLC0415 - start-up: loads Input

        known, folder = self._selection.make_context(), self.files.cursor_path or ""
        if not known.is_folder(folder):
            folder = get_parent(folder)
        start = f"{folder}/" if folder else ""
        hint = "A name that ends with / makes a directory. Without an extension, .md is added."
        typed = await self._prompt_line("New:", start, len(start), validate_new(known, start), "creates it", hint=hint)
        if typed is None:
            return
        new, text, template = resolve_new_path(typed), "", ""
        if not new.is_folder and templates.is_note_name(new.path):
            chosen = await self._choose_template(new.path)
            if chosen is None:
                self.message.show_message("Nothing was created.")
                return
            text, template = templates.fill_template(chosen, new.path, date.today()), chosen.name
        elif not new.is_folder:
            text = templates.build_plain_text(new.path)
        data = None if new.is_folder else text.encode()
        outcome = await self._selection.run_flow(lambda engine: flows.create(engine, new.path, data, note=template))
        if outcome.is_changed and data is not None:
            self._edit.edit_here(new.path, *templates.find_first_gap(text))

    async def _choose_template(self, path: str) -> "NoteTemplate | None":
        from memtui.editing.templates import list_templates  # noqa: PLC0415 - start-up: loads the editing

        starts = self.files.dialect.starts if self.files.dialect is not None else ()
        templates = {template.name: template for template in list_templates(path, starts)}
        choices = [Choice(template.key, template.label, name) for name, template in templates.items()]
        chosen = await self.choose(f"{to_one_line(get_name(path))} starts as", choices)
        return templates.get(chosen or "")

    @controller_work()
    async def action_rename(self) -> None:
        targets = self._selection.list_targets()
        if len(targets) > 1:
            await self._rename_many(targets)
        elif old := self._selection.get_single_target():
            await self._rename_one(old)

    async def _rename_one(self, old: str) -> None:
        from memtui.editing.templates import find_extension_start  # noqa: PLC0415 - start-up: loads the editing
        from memtui.flows.rename_plan import parse_target  # noqa: PLC0415 - start-up: loads the flows
        from memtui.ui.flows import files as flows  # noqa: PLC0415 - start-up: loads the flows
        from memtui.ui.widgets.name_line import validate_rename  # noqa: PLC0415 - start-up: loads Input

        known = self._selection.make_context()
        value = to_one_line(old) + ("/" if known.is_folder(old) else "")
        at = len(value) - 1 if known.is_folder(old) else find_extension_start(value)
        typed = await self._prompt_line(
            f"Rename {value}", value, at, validate_rename(known, old), "renames it",
            place=lambda: self.files.find_name_region(old),
        )  # fmt: skip
        new = old if typed is None else parse_target(typed, old, known.is_folder(old))
        if new != old:
            await self._selection.run_flow(lambda engine: flows.rename(self.app, engine, old, new, known))

    async def _rename_many(self, targets: Sequence[str]) -> None:
        from memtui.ui.flows import files as flows  # noqa: PLC0415 - start-up: loads the flows

        known = self._selection.make_context()
        what = flows.describe_paths(targets, known.is_folder)
        choices = (
            Choice("e", "as text, one name a line", "text"),
            Choice("m", "move all to a directory", "folder"),
        )
        chosen = await self.choose(f"Rename {what}", choices)
        if chosen == "text":
            await self._selection.run_flow(lambda engine: flows.rename_many(self.app, engine, targets, known))
        elif chosen == "folder":
            folder = await self._ask_folder(f"Move {what} to:", targets, "Moves", "moves them")
            if folder is not None:
                await self._selection.run_flow(lambda engine: flows.move_into(self.app, engine, targets, folder, known))

    async def _ask_folder(self, question: str, targets: Sequence[str], verb: str, does: str) -> str | None:
        from memtui.editing.templates import parse_name  # noqa: PLC0415 - start-up: loads the editing
        from memtui.ui.widgets.name_line import validate_folder  # noqa: PLC0415 - start-up: loads Input

        validate = validate_folder(self._selection.make_context(), targets, verb)
        typed = await self._prompt_line(question, "", 0, validate, does)
        return None if typed is None else parse_name(typed).path

    @controller_work()
    async def action_copy_to(self) -> None:
        from memtui.editing.templates import find_extension_start, find_free_name  # noqa: PLC0415 - start-up, as above
        from memtui.flows.rename_plan import parse_target  # noqa: PLC0415 - start-up: loads the flows
        from memtui.ui.flows import files as flows  # noqa: PLC0415 - start-up: loads the flows
        from memtui.ui.widgets.name_line import validate_copy  # noqa: PLC0415 - start-up: loads Input

        known, targets = self._selection.make_context(), self._selection.list_targets()
        if len(targets) > 1:
            what = flows.describe_paths(targets, known.is_folder)
            folder = await self._ask_folder(f"Copy {what} to:", targets, "Copies", "copies them")
            if folder is None:
                return
            copies = {path: f"{folder}/{get_name(path)}".lstrip("/") for path in targets}
        elif old := self._selection.get_single_target():
            value = find_free_name(to_one_line(old), known.exists) + ("/" if known.is_folder(old) else "")
            typed = await self._prompt_line(
                f"Copy {to_one_line(old)} to", value, find_extension_start(value), validate_copy(known, old),
                "copies it", takes_first=True, place=lambda: self.files.find_name_region(old),
            )  # fmt: skip
            if typed is None:
                return
            copies = {old: parse_target(typed, old, known.is_folder(old))}
        else:
            return
        await self._selection.run_flow(lambda engine: flows.copy_to(self.app, engine, copies, known))

    @controller_work()
    async def action_delete(self) -> None:
        from memtui.ui.flows import files as flows  # noqa: PLC0415 - start-up: loads the flows

        targets = self._selection.require_targets()
        if not targets:
            return
        following = self._find_next_row(targets)
        outcome = await self._selection.run_flow(
            lambda engine: flows.delete(self.app, engine, targets, self._selection.make_context())
        )
        is_at_target = any(is_at_or_below(self.files.cursor_path or "", path) for path in targets)
        if outcome.is_changed and following and is_at_target:
            self._selection.move_quietly(following)

    def _find_next_row(self, going: Sequence[str]) -> str:
        """The row for the cursor after a deletion: the next one that stays, else the one before."""
        outline = self.files.outline
        here = outline.find_index(self.files.cursor_path or "") or 0
        gone = dict.fromkeys(going, "")
        paths = (outline.get_path_at(row) for row in (*range(here, len(outline)), *range(here - 1, -1, -1)))
        return next((each for each in paths if not self.files.is_deleted(each) and apply_moves(each, gone) == each), "")

    async def _prompt_line(
        self, question: str, value: str, at: int, judge: "NameValidator", does: str, *, hint: str = "",
        takes_first: bool = False, place: Callable[[], Region | None] | None = None,
    ) -> str | None:  # fmt: skip
        """Ask for a name; `None` if the person cancels."""
        from memtui.editing.templates import find_completions  # noqa: PLC0415 - start-up: loads the editing
        from memtui.ui.widgets.name_line import NameLineScreen  # noqa: PLC0415 - start-up: loads Input

        screen = NameLineScreen(
            question, value, at=at, judge=judge, does=does, hint=hint, takes_first=takes_first, place=place,
            complete=lambda typed: find_completions(typed, self.files.outline.list_folders_in),
        )  # fmt: skip
        return await self.app.push_screen_wait(screen)

    # The mouse

    @on(TreeView.MenuRequested)
    @controller_work()
    async def _offer_menu(self, message: TreeView.MenuRequested) -> None:
        from memtui.ui.actions import list_actions  # noqa: PLC0415 - start-up: only the menu needs it

        self.files.focus()
        screen: Screen[Any] = self.screen
        offered = {action.binding.id: action for action in list_actions(screen)}
        choices = []
        for name in _IN_THE_MENU:
            if (action := offered.get(name)) is not None:
                key = action.key_labels.split(" ")[0]
                choices.append(Choice(key if len(key) == 1 else "", action.description, name))
        count = len(self.files.selection)
        title = f"{to_one_line(message.path)}{f'   {count:,} selected' if count else ''}"
        chosen = await self.choose(title, choices)
        if (action := offered.get(chosen or "")) is not None:
            await self.app.run_action(action.binding.action, default_namespace=action.node)


_SORTS = (
    Choice("n", "by name", "name"),
    Choice("N", "by name, reversed", "-name"),
    Choice("m", "by time, newest first", "modified"),
    Choice("M", "by time, oldest first", "-modified"),
    Choice("s", "by size, largest first", "size"),
    Choice("S", "by size, smallest first", "-size"),
)


class TreeController(FolderController):
    """Sorts the files, shows hidden ones, rescans the folder, and reads the details of the rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("full_stop", "hidden", "hidden", id="files.hidden", tooltip="Hidden files on/off"),
        Binding("comma", "sort", "sort", id="files.sort", tooltip="Sort the files"),
        Binding("R", "rescan", "rescan", id="browse.rescan", tooltip="Rescan the whole folder", show=False),
    ]

    @on(EntryDetailsRead)
    def _show_details(self, message: EntryDetailsRead) -> None:
        self.files.touch(message.entries)

    @on(TreeView.DetailsRequested)
    def _request_details(self, message: TreeView.DetailsRequested) -> None:
        self._load_details(message.paths)

    def action_hidden(self) -> None:
        hidden = not self.files.outline.hidden
        self.files.set_hidden(hidden)
        self.message.show_message("Hidden files are shown." if hidden else "Hidden files are not shown.")

    @controller_work()
    async def action_sort(self) -> None:
        outline = self.files.outline
        current = f"{'-' if outline.reverse else ''}{outline.sort}"
        chosen = await self.choose("Sort the files", _SORTS, current=current)
        if chosen is None:
            return
        sort = SortOrder(chosen.removeprefix("-"))
        if sort is not SortOrder.NAME:
            await self._wait_for_worker(self.load_all_details())
        self.files.set_sort(sort, chosen.startswith("-"))
        self.message.show_message(f"Sorted {next(choice.label for choice in _SORTS if choice.value == chosen)}.")
        self.screen.show_titles()

    @controller_work(exclusive=True, group="rescan")
    async def action_rescan(self) -> None:
        self.message.show_message("Rescanning the folder.")
        worker = self._rescan_folder()
        if await self._wait_for_worker(worker) and worker.result:
            self.message.show_message("Rescanned the folder.")

    @controller_work(thread=True, group="look", exit_on_error=False)
    def _load_details(self, paths: tuple[str, ...]) -> None:
        self.session.load_details(paths)

    @controller_work(thread=True, exclusive=True, group="look everywhere", exit_on_error=False)
    def _rescan_folder(self) -> bool:
        return self.session.rescan()

    @controller_work(thread=True, exclusive=True, group="look at all", exit_on_error=False)
    def load_all_details(self) -> None:
        """Read sizes and times of all entries, in a thread."""
        self.session.load_all_details()

    async def _wait_for_worker(self, worker: Worker[Any]) -> bool:
        """Wait for a worker; False if another one took its place, or it failed."""
        try:
            await worker.wait()
        except WorkerError:
            return False
        return True
