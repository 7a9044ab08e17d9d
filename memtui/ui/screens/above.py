"""A screen above the browser: what must not be overlooked is said there too, and put right with the same key."""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import getters, work
from textual.binding import Binding, BindingType

from memtui.core.errors import Closed, MemtuiError
from memtui.ui.banner import show_banner
from memtui.ui.frame import MessageLine
from memtui.ui.screens.once import Once
from memtui.ui.screens.taking import READ_ONLY, PastKeys

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine


class AboveBrowser(Once[None]):
    """A screen that was opened from the browser, which goes on below it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+r", "restore_loss", "bring back", id="browse.restore_loss",
            tooltip="Bring back the memories that went at once", show=False, priority=True,
        ),
    ]  # fmt: skip

    BANNERS_BEFORE: ClassVar[str] = "#body"
    """Above which widget the banners stand."""

    message = getters.query_one(MessageLine)

    _engine: "Engine"

    def __init__(self) -> None:
        super().__init__()
        self._done = 0
        self._changing = asyncio.Lock()

    @property
    def browser(self) -> PastKeys | None:
        """The screen below, which watches the folder; `None` where this one stands alone."""
        return next((screen for screen in reversed(self.app.screen_stack) if isinstance(screen, PastKeys)), None)

    @property
    def why_read_only(self) -> str:
        """What is said to who wants to change something where nothing can be changed."""
        browser = self.browser
        return browser.why_read_only if browser else READ_ONLY

    def on_mount(self) -> None:
        """Say at once what is the case already."""
        browser = self.browser
        for name, (case, remedy) in (browser.alarms if browser else {}).items():
            self.show_alarm(name, case, remedy)

    def show_alarm(self, name: str, case: str, remedy: str) -> None:
        """Put a banner above the panes, or take it away where there is nothing to say."""
        show_banner(self, name, case, remedy, before=self.BANNERS_BEFORE)
        self.refresh_bindings()

    def take_news(self, last: int) -> None:
        """Events up to a number are recorded; a screen that shows what is so now looks again."""

    def action_undo_here(self) -> None:
        """Take back what was restored on this screen last."""
        self._change_again(undo=True)

    def action_redo_here(self) -> None:
        """Do it again."""
        self._change_again(undo=False)

    @work(group="undo")
    async def _change_again(self, *, undo: bool) -> None:
        from memtui.ui import taking_back  # deferred: loaded when such a key is pressed

        done = self._done
        if self._engine.read_only:
            self.message.say(self.why_read_only, warning=True)
        elif not done:
            self.message.say("Nothing was restored here. Back among the files, u takes back the last change.")
        else:
            async with self._changing:
                try:
                    said = await (
                        taking_back.undo(self.app, self._engine, done)
                        if undo
                        else taking_back.redo(self.app, self._engine, done)
                    )
                except Closed:
                    return
                except (MemtuiError, OSError) as error:
                    self.message.say(str(error), warning=True)
                    return
            if said is not None:
                self.message.say(said.words, warning=said.is_warning)
                self.took_back()

    def took_back(self) -> None:
        """What was done here was undone or redone; nothing more follows unless a screen shows what it was done to."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is brought back where nothing is lost."""
        del parameters
        return action != "restore_loss" or (self.browser is not None and self.browser.has_loss)

    def action_restore_loss(self) -> None:
        """Bring back all that went at once; what came of it is said here."""
        browser = self.browser
        if browser is None:
            return
        if browser.is_read_only:
            self.message.say(self.why_read_only, warning=True)
        else:
            browser.action_restore_loss()
