"""The keys of the browser that lead to the past, or bring something back from there.

What they need is loaded when they are pressed: none of it is there before the first paint.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual import getters, work

from memtui.core.errors import Closed, MemtuiError
from memtui.core.events import Event, Version
from memtui.core.losses import Loss
from memtui.core.paths import ROOT_NAME
from memtui.core.snapshot import Kind
from memtui.ui import wording
from memtui.ui.activity.view import ActivityView
from memtui.ui.frame import MessageLine
from memtui.ui.screens.panes import PanedScreen
from memtui.ui.session import Session

READ_ONLY = "Read-only session. Start without --read-only to edit."

if TYPE_CHECKING:  # loaded by the session's thread, and when a key asks for it, behind the first paint
    from memtui.engine import Engine
    from memtui.ui.taking_back import Said


class PastKeys(PanedScreen):
    """A screen over a memory, from which one can go back, and take back.

    Args:
        session: The open memory.
        title: How the folder is called.
    """

    activity = getters.query_one("#activity", ActivityView)
    message = getters.query_one(MessageLine)

    def __init__(self, session: Session, *, title: str) -> None:
        super().__init__()
        self._session = session
        self._title = title
        self._last = 0
        self._loss: Loss | None = None
        self._changing = asyncio.Lock()
        self._said: set[int] = set()
        self.why_read_only = READ_ONLY
        """What is said to who wants to change something where nothing can be changed."""
        self.why_no_history = ""
        """Why nothing of earlier is known; empty where the record can be read."""
        self.words_left: dict[str, str] = {}
        """What is remembered with the folder besides, such as the scope of find, by a name of whoever wants it."""
        self.alarms: dict[str, tuple[str, str]] = {}
        """What must not be overlooked, by name: what is the case, and what can be done on the screens above."""

    @property
    def has_loss(self) -> bool:
        """Whether much has gone at once, and is not back."""
        return self._loss is not None

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be changed."""
        return False

    def _say(self, words: str, *, warning: bool) -> None:
        """Say it here, and on the screen above, where the person is."""
        self.message.say(words, warning=warning)
        if self.app.screen is not self:
            for line in self.app.screen.query(MessageLine):
                line.say(words, warning=warning)

    def _event_here(self) -> int | None:
        """The number of the event under the cursor, while the person is in the activity."""
        row = self.activity.cursor_row if self.focused is self.activity else None
        return row.seq if row else None

    @work
    async def action_history(self, diff_first: bool) -> None:
        """The versions of the note under the cursor, or of what the event under the cursor changed."""
        engine = self._session.engine
        if engine is None:
            return
        from memtui.ui.screens.history import HistoryScreen  # deferred: not needed for the first paint

        at, path = self._event_here(), self.files.cursor_path
        if at is not None:
            event = await asyncio.to_thread(engine.history.event, at)
            path = _path_of(event, path) if event else None
            at = at if event and event.changes else None
        if not path:
            self.message.say("The memory folder itself has no versions. T shows it as it was.")
            return
        entry = self.files.outline.get(path)
        if entry is not None and entry.kind is Kind.DIRECTORY:
            self.message.say("A folder has no versions of its own; its notes have. T shows it as it was.")
        elif not await asyncio.to_thread(engine.history.versions_of, path, limit=1):
            self.message.say(f"Nothing has been recorded of {path}.")
        else:
            self.app.push_screen(HistoryScreen(engine, path, title=self._title, diff_first=diff_first, at=at))

    def action_past(self) -> None:
        """The folder as it was: right after the event under the cursor, or after the last one."""
        engine = self._session.engine
        if engine is None:
            return
        from memtui.ui.screens.past import PastScreen  # deferred: not needed for the first paint

        at = self._event_here() or self._last
        if not at:
            self.message.say("Nothing has been recorded yet: there is no past to look at.")
            return
        path = self.files.cursor_path if at == self._last else None
        self.app.push_screen(PastScreen(engine, title=self._title, at=at, path=path))

    def action_deleted(self) -> None:
        """What was there once and is not now."""
        engine = self._session.engine
        if engine is not None:
            from memtui.ui.screens.deleted import DeletedScreen  # deferred: not needed for the first paint

            self.app.push_screen(DeletedScreen(engine, title=self._title))

    @work
    async def action_undo(self) -> None:
        """Take back the event under the cursor, or the newest change that is not taken back."""
        from memtui.ui import taking_back  # deferred: not needed for the first paint

        seq = self._event_here()
        await self._change(lambda engine: taking_back.undo(self.app, engine, seq))

    @work
    async def action_redo(self) -> None:
        """Do again what was undone."""
        from memtui.ui import taking_back  # deferred: not needed for the first paint

        seq = self._event_here()
        await self._change(lambda engine: taking_back.redo(self.app, engine, seq))

    @work
    async def action_undo_since(self) -> None:
        """Take back all that somebody did since some time."""
        from memtui.ui import taking_back  # deferred: not needed for the first paint

        seen = await asyncio.to_thread(self._session.seen)
        await self._change(lambda engine: taking_back.undo_since(self.app, engine, seen))

    @work
    async def action_restore_loss(self) -> None:
        """Bring back all that went at once."""
        from memtui.ui import taking_back  # deferred: not needed for the first paint

        loss = self._loss
        if loss is not None:
            await self._change(lambda engine: taking_back.restore_loss(engine, loss))
            self._session.look_for_loss()

    @work
    async def action_dismiss_loss(self) -> None:
        """Leave gone what went at once, and speak of it no more."""
        from memtui.ui import taking_back  # deferred: not needed for the first paint

        loss = self._loss
        if loss is not None:
            await self._change(lambda engine: taking_back.dismiss_loss(self.app, engine, loss))
            self._session.look_for_loss()

    async def _change(self, course: "Callable[[Engine], Awaitable[Said | None]]") -> None:
        """Follow one course of asking and changing, one at a time, and say what came of it."""
        engine = self._session.engine
        if engine is None:
            return
        async with self._changing:
            try:
                said = await course(engine)
            except Closed:
                return
            except (MemtuiError, OSError) as error:
                self._say(str(error), warning=True)
                return
        if said is not None:
            self._said.add(said.event)
            self._say(said.words, warning=said.is_warning)


def _path_of(event: Event, preferred: str | None) -> str:
    """What an event is about, relative to the folder; of several files the one that is wanted, else the first."""
    files = [each.path for each in event.changes if (each.after or each.before or _NOTHING).kind is not Kind.DIRECTORY]
    named = wording.relative(event.new_path or event.path)
    if not files or named in files:
        return "" if named == ROOT_NAME else named
    return preferred if preferred in files else files[0]


_NOTHING = Version(Kind.FILE)
