"""What a key of the browser is about: what is under the cursor, or all that is marked; and where one is afterwards.

Panes other than the files and the note have cursors of their own. A key that would delete from there would delete
something that nobody is looking at, so it says where it can be pressed instead.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.ui import said_keys
from memtui.ui.files.picks import tops
from memtui.ui.files.view import FilesView
from memtui.ui.messages import Happened
from memtui.ui.screens.taking import PastKeys
from memtui.ui.session import Session

if TYPE_CHECKING:  # loaded when a key asks for it, behind the first paint
    from memtui.engine import Engine
    from memtui.ui.managing.courses import Came, Known
    from memtui.ui.taking_back import Said

OF_FILES = frozenset({"rename", "copy_to", "delete", "mark", "mark_all", "pin"})
"""Actions on what is under the cursor of the files, or marked there."""

_NOTHING = "Nothing is marked."


class Choosing(PastKeys):
    """A screen over a memory, in which a person chooses what is meant."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", "mark", id="file.mark", tooltip="Mark it, to do something with several", show=False),
        Binding(
            "asterisk", "mark_all", "mark all", id="file.mark_all", tooltip="Mark all files in sight, or none",
            show=False,
        ),
    ]  # fmt: skip

    FILES_KEY: ClassVar[str] = "1"
    """The key that leads to the files."""

    _going_to: str | None

    def __init__(self, session: Session, *, title: str) -> None:
        super().__init__(session, title=title)
        self._arriving = ""

    # What can be done where

    def can_manage(self, action: str) -> bool:
        """Whether an action can be done where the person is now; True for those that are not of this kind."""
        if action not in OF_FILES:
            return True
        focused = self.focused
        return focused is None or focused.id in ("files", "note") or focused.check_consume_key("d", "d")

    def why_not_here(self, key: str) -> str:
        """What is said of a key that acts on the files, but not in this pane; empty if it may act here."""
        focused = self.focused
        inside = () if focused is None else (each for each in focused.ancestors_with_self if each is not self)
        if focused is None or any(key in node._bindings.key_to_bindings for node in inside):
            return ""
        bound = self._bindings.key_to_bindings.get(key, ())
        if all(binding.action not in OF_FILES or self.can_manage(binding.action) for binding in bound):
            return ""
        return f"That is done to what is under the cursor of the files: {self.FILES_KEY} leads there."

    # What is under the cursor, or marked

    def _targets(self) -> list[str]:
        """What is meant: all that is marked, else what is under the cursor; nothing that is gone already."""
        wanted = tops(self.files.picked) if self.files.picked else [self.files.cursor_path or ""]
        return [path for path in wanted if path and not self.files.is_gone(path)]

    def _one_target(self) -> str:
        """The same where it is one; says so where there is nothing."""
        targets = self._targets()
        if not targets:
            path = self.files.cursor_path
            self.message.say(f"{one_line(path)} is gone already." if path else "There is nothing under the cursor.")
        return targets[0] if targets else ""

    def _known(self) -> "Known":
        from memtui.ui.managing.courses import Known  # deferred: not needed for the first paint

        files = self.files

        def is_folder(path: str) -> bool:
            entry = files.outline.get(path)
            return entry is not None and entry.kind is Kind.DIRECTORY

        return Known(is_folder, lambda path: not files.is_gone(path), files.is_protected)

    def action_mark(self) -> None:
        """Mark what is under the cursor, or no longer; among the files, go on to the next row."""
        path = self.files.cursor_path
        if path is None or self.files.is_gone(path):
            self._one_target()
            return
        self.files.toggle_picked(path)
        if self.files.has_focus:
            self.files.action_down()
        if not self.files.picked:
            self.message.say(_NOTHING)

    def action_mark_all(self) -> None:
        """Mark all files whose rows there are, or nothing if something is marked."""
        if self.unmark():
            return
        outline = self.files.outline
        is_folder = self._known().is_folder
        files = [path for path in outline if not is_folder(path) and not self.files.is_gone(path)]
        self.files.pick(files)
        if not files:
            self.message.say("There is no file in sight to mark.")

    def unmark(self) -> bool:
        """Mark nothing any more; False if nothing was marked."""
        if not self.files.pick_nothing():
            return False
        self.message.say(_NOTHING)
        return True

    @on(FilesView.Picked)
    def _tell_picked(self) -> None:
        count = len(self.files.picked)
        if count:
            does = ""
            if not self.is_read_only:
                copy, delete = said_keys.said("file.copy", "c"), said_keys.said("file.delete", "d")
                does = f"{said_keys.rename()} rename or move  {copy} copy  {delete} delete  "
            self.message.say(f"{count:,} marked.", hint=f"{does}Esc unmark")
        self._show_titles()

    def _show_titles(self) -> None:
        raise NotImplementedError  # the screen knows its titles

    # Where the person is afterwards

    @on(Happened)
    def _arrive(self) -> None:
        """Go to what was just made or named, once its row is there."""
        if self._arriving and not self.files.is_gone(self._arriving):
            self._go_quietly(self._arriving)

    async def _manage(self, course: "Callable[[Engine], Awaitable[Came]]") -> "Came":
        """Follow a course, say what came of it, and go where the person wants to be."""
        from memtui.ui.managing.courses import Came  # deferred: not needed for the first paint

        came = Came()

        async def follow(engine: "Engine") -> "Said | None":
            nonlocal came
            came = await course(engine)
            return came.said

        await self._change(follow)
        if came.done:
            self.files.pick_nothing()
            if came.path:
                self._arriving = came.path
                if not self.files.is_gone(came.path):
                    self._go_quietly(came.path)
        return came

    def _go_quietly(self, path: str) -> None:
        """Put the cursor somewhere because of what the person did: she goes on following what happens."""
        self._arriving = ""
        self._going_to = path
        self.files.move_to(path)
