"""How a text gets from the editor into the memory: saving, a conflict, a merge while one types, the draft.

Nothing is written before the person has chosen, whatever became of the memory meanwhile; and what she typed is never
in this process alone for longer than a second.
"""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from memtui.core.errors import Closed, MemtuiError
from memtui.core.merge import Merged, markers_in, merge, merge_without_base
from memtui.core.shape import NotText
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.edit.area import EditArea
from memtui.ui.edit.basis import Basis, after_saving, shown, theirs_of
from memtui.ui.edit.drafts import Why
from memtui.ui.edit.saving import Conflicted, Failed, Saved, Saving, Since, Situation
from memtui.ui.edit.telling import did, sentence_of, whose
from memtui.ui.screens.edit_drafting import EditDrafting
from memtui.ui.screens.menu import Choice, MenuScreen

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine
    from memtui.ui.conflict.about import Choice as Chosen

_TRIES = 8
"""How often a save goes on by itself when the memory changes again while it is being merged."""


class EditCourse(EditDrafting):
    """A screen with a text that belongs to a memory.

    Args:
        engine: The memory.
        path: The note, relative to the folder.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "save", id="edit.save", tooltip="Save"),
        Binding("ctrl+g", "merge_now", "merge", id="edit.merge", tooltip="Take in what changed in the memory"),
    ]

    class Underneath(Message):
        """What became of the memory since the text was made from it was looked at."""

        def __init__(self, since: Since | None, basis: Basis) -> None:
            """Tell what, and which version it was compared with."""
            super().__init__()
            self.since = since
            self.basis = basis

    def __init__(self, engine: "Engine", path: str) -> None:
        super().__init__(engine)
        self._path = path
        self._saving = Saving(engine, path)
        self._since: Since | None = None
        self._stays_at: Basis | None = None
        self._busy = asyncio.Lock()
        self._taking_in = False
        self._refused: str | None = None
        """The text that the last save left unsaved, after saying why."""

    @property
    def since(self) -> Since | None:
        """What became of the memory since; `None` if it is what the text is made from."""
        return self._since

    def show_state(self) -> None:
        """Bring the words around the text up to date."""

    # Saving

    @work(group="save")
    async def action_save(self) -> None:
        """Save, whatever that takes."""
        await self.save()

    async def save(self) -> bool:
        """Save the text; tells whether the memory holds it now."""
        if not self.is_open:
            return False
        if self.area.read_only:
            self.message.say(self.why_not_written, warning=True)
            return False
        was_busy = self._busy.locked()
        async with self._busy:
            if was_busy and not self.is_unsaved:
                return True  # the save before this one took all of it
            if was_busy and self.area.text == self._refused:
                return False  # and that one has said why not
            is_saved = await self._save_if_sure()
            self._refused = None if is_saved else self.area.text
            return is_saved

    async def _save_if_sure(self) -> bool:
        marks = markers_in(self.area.text)
        if marks and marks != markers_in(self.basis.text) and not await self._is_sure(marks):
            return False
        return await self._save()

    @property
    def why_not_written(self) -> str:
        """Why the text can only be read."""
        return self.why_read_only

    async def _is_sure(self, marks: tuple[int, ...]) -> bool:
        self.area.go_to_line(marks[0])
        answer = await self.app.push_screen_wait(
            MenuScreen(
                f"Line {marks[0]:,} still has the marks of a conflict.",
                (Choice("s", "save all the same", "save"), Choice("e", "go on editing", "")),
            )
        )
        return answer == "save"

    async def _save(self) -> bool:
        """Save, ask where that clashes, and go on as the person chose."""
        goes_on = False
        for _ in range(_TRIES):
            basis, text = self.basis, self.area.text
            try:
                data = await asyncio.to_thread(basis.shape.bytes_of, text)
            except NotText as error:
                self.message.say(str(error), warning=True)
                return False
            saving = Saving(self._engine, basis.path)
            result = await asyncio.to_thread(saving.save, data, basis.version, base=basis.data)
            if isinstance(result, Conflicted):
                if goes_on and await self._merge_quietly(result, basis, text):
                    continue
                settled = await self._settle(result, text)
                if isinstance(settled, bool):
                    if not settled:
                        return False
                    goes_on = True
                    continue
                result = settled
            if isinstance(result, Saved):
                self._take_saved(result, basis, text, data)
                return True
            if isinstance(result, Failed):
                self.message.say(result.words, warning=True)
                return False
        self.message.say("Not saved: the memory changes faster than it can be merged. ^S tries again.", warning=True)
        return False

    async def _merge_quietly(self, conflicted: Conflicted, basis: Basis, text: str) -> bool:
        """Take in what changed where nothing is in doubt; tells whether it could be."""
        merged = await asyncio.to_thread(_merged, basis, text, conflicted)
        if merged is None or not merged.is_clean or self.area.text != text:
            return False
        self.area.revise(merged.text, basis=theirs_of(conflicted))
        return True

    async def _settle(self, conflicted: Conflicted, text: str) -> bool | Saved | Failed:
        """Ask what is to be done, and do it: `True` to save what came of it, `False` for back to the text."""
        result: bool | Saved | Conflicted | Failed = conflicted
        while isinstance(result, Conflicted):  # it may have changed once more meanwhile
            result = await self._follow(await self._ask(result), result, text)
        return result

    async def _ask(self, conflicted: Conflicted) -> "Chosen | None":
        """What the person wants of a conflict."""
        from memtui.ui.conflict.about import about_conflict  # deferred: hopefully never needed
        from memtui.ui.screens.conflict import ConflictScreen

        about = await asyncio.to_thread(about_conflict, conflicted)
        return await self.app.push_screen_wait(ConflictScreen(about))

    async def _follow(
        self, chosen: "Chosen | None", conflicted: Conflicted, text: str
    ) -> bool | Saved | Conflicted | Failed:
        """Do what was chosen: `True` to save what came of it, `False` for back to the text."""
        from memtui.ui.conflict.about import KeepMine, Merge, TakeTheirs  # deferred: by now it is loaded

        match chosen:
            case Merge():
                try:
                    theirs = theirs_of(conflicted)
                except NotText as error:
                    self.message.say(f"Not merged: {error}", warning=True)
                    return False
                self.area.revise(chosen.text, basis=theirs)
                self.look_underneath()
                marks = markers_in(chosen.text)
                if not marks:
                    return True
                self.area.go_to_line(marks[0])
                places = f"{chosen.conflicts:,} {'place needs' if chosen.conflicts == 1 else 'places need'}"
                self.message.say(f"Merged, not saved yet: {places} you. Edit between the marks, then ^S.")
                return False
            case KeepMine():
                saving = Saving(self._engine, conflicted.path)
                return await asyncio.to_thread(saving.keep_mine, conflicted, chosen.where)
            case TakeTheirs():
                await self._take_theirs(conflicted, text)
                return False
            case _:
                self.message.say("Not saved. Nothing has been written; your text is as it was.", warning=True)
                return False

    async def _take_theirs(self, conflicted: Conflicted, text: str) -> None:
        """Set mine aside, where it can be got back, and show theirs."""
        basis = self.basis
        try:
            theirs = theirs_of(conflicted)
            if self._drafts is not None:
                await asyncio.to_thread(self._drafts.set_aside, basis.path, text, basis.sha256, why=Why.TAKEN)
        except (NotText, MemtuiError, OSError) as error:
            self.message.say(f"Nothing was done: {error}", warning=True)
            return
        version = whose(conflicted)
        if conflicted.theirs is None:
            self._is_left = True
            if conflicted.situation is Situation.DELETED:
                self.leave("Left deleted. Yours is kept as a draft: e on that name offers it.")
            else:
                self.leave("Left as it is. Yours is a draft, offered when a note has that name again.")
            return
        self.area.revise(theirs.text, basis=theirs)
        self._drop_draft(basis.path)
        self.look_underneath()
        self.message.say(
            f"Took {version}. Yours is kept as a draft: e on this note offers it. ^Z goes back to it here."
        )

    def _take_saved(self, saved: Saved, basis: Basis, text: str, data: bytes) -> None:
        """What is in the memory is what the text is made from now; what was typed meanwhile is not saved yet."""
        self.area.basis = after_saving(saved, basis, text, data)
        self.area.history.settle()
        self._path = saved.path
        self._saving = Saving(self._engine, saved.path)
        self._drop_draft(basis.path)
        name = one_line(saved.path)
        counts = wording.changed_lines(saved.event) if saved.event is not None else ""
        words = f"{name} holds this text already." if saved.unchanged else f"Saved {name}{counts}."
        self.message.say(f"{words} {saved.warning}".rstrip(), warning=bool(saved.warning))
        self.look_underneath()
        self.show_state()

    # What happens in the memory meanwhile

    def take_news(self, last: int) -> None:
        """Something was recorded: perhaps here."""
        del last
        self.look_underneath()

    def look_underneath(self) -> None:
        """See whether the memory is still what the text was made from."""
        if self.is_open:
            self._look_in_thread(self.basis)

    @work(thread=True, exclusive=True, group="underneath", exit_on_error=False)
    def _look_in_thread(self, basis: Basis) -> None:
        try:
            since = Saving(self._engine, basis.path).since(basis.version, base=basis.data)
        except Closed:
            return
        except (MemtuiError, OSError):
            return  # whatever is wrong is said when it is saved
        self.post_message(self.Underneath(since, basis))

    @on(Underneath)
    def _tell_underneath(self, message: Underneath) -> None:
        if not self.is_open or message.basis is not self.basis:
            return  # compared with what it is not made from any more
        self._since = message.since
        is_free = not self.is_unsaved and self.basis is not self._stays_at and not self.area.read_only
        if message.since is not None and is_free and not self._taking_in:
            self._take_in(message.since)
        self.show_state()
        self.refresh_bindings()

    @work(group="take in")
    async def _take_in(self, since: Since) -> None:
        """Show what changed in the memory: nothing of the person's is in the way."""
        basis = self.basis
        path = since.moved_to if since.situation is Situation.MOVED else basis.path
        if since.situation not in (Situation.CHANGED, Situation.MOVED) or path is None or self._busy.locked():
            return
        self._taking_in = True
        try:
            opened = await asyncio.to_thread(Saving(self._engine, path).open)
            new = shown(opened)
            if new.problem or opened.data is None or self.basis is not basis or self.is_unsaved:
                return  # the next look tells
            self.area.revise(new.text, basis=new.basis)
            self._since = None
            more = "You see it now; ^Z shows what it was." if path == basis.path else "You edit it there now."
            self._path = path
            self._saving = Saving(self._engine, path)
            self.message.say(f"{sentence_of(since)} {more}", is_news=True)
        finally:
            self._taking_in = False
        self.look_underneath()
        self.show_state()

    @on(EditArea.Rebased)
    def _stay_there(self) -> None:
        """She went back to an older version of the memory: it is not taken from her again at once."""
        self._stays_at = self.basis
        self.look_underneath()

    @work(group="save")
    async def action_merge_now(self) -> None:
        """Take in what changed in the memory, without saving."""
        if not self.is_open:
            return
        async with self._busy:  # of a save that goes on, what comes of it is merged
            await self._merge_now()

    async def _merge_now(self) -> None:
        basis, text = self.basis, self.area.text
        conflicted = await asyncio.to_thread(self._conflict, basis, text)
        if isinstance(conflicted, str):
            self.message.say(conflicted)
            return
        said = f"Merged what {did(conflicted)}. ^S saves it, ^Z takes it out again."
        if await self._merge_quietly(conflicted, basis, text):
            self.message.say(said)
        elif self.area.text != text:
            self.message.say("You typed meanwhile: ^G once more.")
        else:
            settled = await self._settle(conflicted, text)
            if isinstance(settled, Saved):
                self._take_saved(settled, basis, text, conflicted.mine)
            elif isinstance(settled, Failed):
                self.message.say(settled.words, warning=True)
            elif settled:
                self.message.say(said)
        self.look_underneath()
        self.show_state()

    def _conflict(self, basis: Basis, text: str) -> Conflicted | str:
        """What a save would clash with; or why with nothing."""
        try:
            conflicted = Saving(self._engine, basis.path).conflict(
                basis.shape.bytes_of(text), basis.version, base=basis.data
            )
        except (MemtuiError, OSError) as error:
            return str(error)
        return conflicted or "There is nothing to merge: the memory is what this text was made from."


def _merged(basis: Basis, mine: str, conflicted: Conflicted) -> Merged | None:
    """Both texts in one; `None` where there are not two texts."""
    if conflicted.situation is not Situation.CHANGED or conflicted.theirs is None:
        return None
    try:
        theirs = theirs_of(conflicted).text
    except NotText:
        return None
    if basis.data is None:
        return merge_without_base(mine, theirs)
    return merge(basis.text, mine, theirs)
