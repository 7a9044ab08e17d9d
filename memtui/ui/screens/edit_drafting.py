"""What is typed and not saved yet: kept outside the folder while it is typed, offered again, and never thrown away."""

import asyncio
import time
from typing import TYPE_CHECKING

from textual import on, work
from textual.timer import Timer
from textual.widgets import TextArea

from memtui.core.errors import MemtuiError
from memtui.core.visible import one_line
from memtui.ui.edit.area import EditArea
from memtui.ui.edit.basis import Basis, basis_of_draft, shown
from memtui.ui.edit.drafts import EditDraft, EditDrafts, NotKept, Why, drafts_of
from memtui.ui.edit.saving import Opened
from memtui.ui.screens.above import AboveBrowser
from memtui.ui.screens.menu import Choice, MenuScreen

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine

DRAFT_SECONDS = 1.0
"""How long what is typed is in this process alone, at most."""


class EditDrafting(AboveBrowser):
    """A screen with a text that belongs to a memory, and is kept while it is not there.

    Args:
        engine: The memory.

    Attributes:
        area: The box, known before the first frame and after the last: news may come before the one, and what is in it
            is kept when all widgets have gone.
    """

    def __init__(self, engine: "Engine") -> None:
        super().__init__()
        self.area = EditArea(id="text", classes="pane")
        self._engine = engine
        self._drafts: EditDrafts | None = None
        self._drafting = asyncio.Lock()
        self._draft_timer: Timer | None = None
        self._draft_problem = ""
        self._is_told = False
        """Whether the person knows that somebody edits the same memory elsewhere."""
        self._is_closed = False
        self._is_left = False
        """Whether the person has said what is to become of what she typed."""

    @property
    def basis(self) -> Basis:
        """What the text is made from."""
        basis = self.area.basis
        assert isinstance(basis, Basis)
        return basis

    @property
    def is_open(self) -> bool:
        """Whether there is a text by now; news may come even before the box is there."""
        return hasattr(self, "area") and isinstance(self.area.basis, Basis)

    @property
    def is_unsaved(self) -> bool:
        """Whether the text is another than the memory's."""
        return self.is_open and not self.area.read_only and self.area.text != self.basis.text

    def look_underneath(self) -> None:
        """See whether the memory is still what the text was made from."""

    def leave(self, words: str) -> None:
        """Close, and say something where the person comes back to."""
        self.dismiss(None)
        browser = self.browser
        if browser is not None:
            browser.message.say(words)

    def _elsewhere(self, path: str) -> str:
        """Who else edits the memory just now, as a sentence; empty if nobody does, or if it was said. From a thread."""
        others = self._drafts.elsewhere(path) if self._drafts is not None and not self._is_told else ()
        if not others:
            return ""
        self._is_told = True
        return "Another memtui window edits this memory too; saving asks before overwriting."

    def _found(self, opened: Opened) -> tuple[EditDraft, ...]:
        if self._engine.read_only:
            return ()
        drafts = self.open_drafts()
        text = shown(opened).text
        return drafts.found(opened.path, former=opened.former, now=text)

    async def _offer(self, draft: EditDraft, count: int) -> None:
        """Ask what to do with a text that was left."""
        now_us = time.time_ns() // 1_000
        more = f", and {count - 1:,} older" if count > 1 else ""
        answer = await self.app.push_screen_wait(
            MenuScreen(
                f"There is {draft.words(now_us)}{more}.",
                (
                    Choice("e", "go on with it", "go on"),
                    Choice("n", "edit the memory as it is; the draft is kept", "later"),
                    Choice("x", "delete the draft", "delete"),
                ),
            )
        )
        match answer:
            case "go on":
                basis = await asyncio.to_thread(basis_of_draft, draft, self.basis, self._engine)
                changed = basis is not self.basis
                self.area.revise(draft.text, basis=basis if changed else None)
                self.area.move_cursor(draft.cursor)
                await asyncio.to_thread(self.open_drafts().adopt, draft)
                if changed:
                    self.look_underneath()
                self.message.say("This is your draft. ^S saves it.")
            case "delete" if await self._is_to_go():
                await asyncio.to_thread(self.open_drafts().forget, draft)
                self.message.say("The draft is deleted.")
            case "delete":
                self.message.say("The draft is kept.")

    async def _is_to_go(self) -> bool:
        """Ask once more: who types on at once must not lose a text by a letter that she meant for another."""
        answer = await self.app.push_screen_wait(
            MenuScreen(
                "Delete the draft? No other copy of it is kept.",
                (Choice("k", "keep it", ""), Choice("d", "delete it for good", "delete")),
            )
        )
        return answer == "delete"

    async def _discard(self) -> None:
        basis, text, drafts = self.basis, self.area.text, self._drafts
        if drafts is None:
            self.leave("Not saved.")
            return
        try:
            async with self._drafting:
                await asyncio.to_thread(drafts.set_aside, basis.path, text, basis.sha256, why=Why.DISCARDED)
                await asyncio.to_thread(drafts.drop, basis.path)
        except (MemtuiError, OSError) as error:
            self.message.say(f"Not closed, because the text would be lost: {error}", warning=True)
            return
        self._is_left = True
        again = "e on this note offers it." if basis.data is not None else "a with the same name offers it."
        self.leave(f"Not saved. The text is kept as a draft: {again}")

    @work(group="draft")
    async def keep_left(self, data: bytes) -> None:
        """Keep what another editor had saved before it failed."""
        drafts, basis = self._drafts, self.basis
        if drafts is None:
            return
        text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        try:
            async with self._drafting:
                await asyncio.to_thread(drafts.set_aside, basis.path, text, basis.sha256, why=Why.DISCARDED)
        except (MemtuiError, OSError) as error:
            self.message.say(str(error), warning=True)

    @on(TextArea.Changed)
    def _keep_soon(self, message: TextArea.Changed) -> None:
        if message.text_area is not self.area or not self.is_open:
            return
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(DRAFT_SECONDS, self._keep_now)

    def _keep_now(self) -> None:
        self._draft_timer = None
        if self._drafts is None or self.area.read_only:
            return
        if self.is_unsaved:
            self._keep_in_thread(self.basis, self.area.text, self.area.cursor_location)
        else:
            self._drop_draft(self.basis.path)

    @work(group="draft")
    async def _keep_in_thread(self, basis: Basis, text: str, cursor: tuple[int, int]) -> None:
        async with self._drafting:  # in order: nothing that was dropped comes back
            problem = await asyncio.to_thread(self._keep, basis, text, cursor)
            told = await asyncio.to_thread(self._elsewhere, basis.path)
        if told:
            self.message.say(told)
        if problem and problem != self._draft_problem:
            self.message.say(problem, warning=True)
        self._draft_problem = problem

    def _keep(self, basis: Basis, text: str, cursor: tuple[int, int]) -> str:
        """Keep a draft; why it could not be, as a sentence."""
        try:
            if self._drafts is not None and not self._is_closed:
                self._drafts.keep(basis.path, text, basis.sha256, cursor=cursor)
        except (NotKept, OSError) as error:
            return str(error)
        return ""

    @work(group="draft")
    async def _drop_draft(self, path: str) -> None:
        drafts = self._drafts
        if drafts is not None:
            async with self._drafting:
                await asyncio.to_thread(drafts.drop, path)

    def open_drafts(self) -> EditDrafts:
        """The drafts of this folder, from a thread."""
        if self._drafts is None:
            self._drafts = drafts_of(self._engine)
        return self._drafts

    def on_unmount(self) -> None:
        """However it ends, what was typed is kept."""
        drafts = self._drafts
        if drafts is None:
            return
        if self.is_open and self.is_unsaved and not self._is_left:
            problem = self._keep(self.basis, self.area.text, self.area.cursor_location)
            words = "Its text is kept as a draft; e on the note offers it."
            if problem:
                words = _elsewhere_for_now(self.area.text) or f"{problem} The text is lost."
            getattr(self.app, "last_words", []).append(f"{one_line(self.basis.path)} was not saved. {words}")
        self._is_closed = True
        drafts.close()


def _elsewhere_for_now(text: str) -> str:
    """Where a text went that no draft can be made of, such as on a full disk; empty if nothing takes it."""
    from memtui.ui.own_file import own_file  # deferred: hopefully never needed

    try:
        return f"No draft of its text could be kept; it is in {own_file(text)}."
    except OSError:
        return ""
