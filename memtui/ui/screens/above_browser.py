"""A screen above the browser: it shows the same alarms, and answers them with the same key."""

import asyncio
import sys
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.widgets import Input

from memtui.ui.controller import ControlledScreen
from memtui.ui.frame import MessageLine, show_banner
from memtui.ui.key_names import label_key
from memtui.ui.messages import READ_ONLY, FailureReported, report_errors
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.textual_private import get_key_bindings
from memtui.ui.widgets.diff.view import DiffView

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine
    from memtui.ui.screens.folder import FolderScreen


class OverlayScreen(ControlledScreen[None], DismissOnceScreen[None]):
    """A screen that was opened from the browser, which goes on below it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "restore_loss", "restore", id="browse.restore_loss",
                tooltip="Restore the deleted notes", show=False, priority=True),
    ]  # fmt: skip

    DEFAULT_CSS = """
    OverlayScreen {
        #read-only, #too-small { display: none; }
        #read-only { height: 1; padding: 0 1; color: $text-warning; }
        &.-read-only #read-only { display: block; }
        &.-too-small > * { display: none; }
        &.-too-small #too-small { display: block; width: 1fr; height: 1fr; }
    }
    """

    BANNER_ANCHOR: ClassVar[str] = "#body"
    """The selector of the widget above which banners are put."""
    CHANGES: ClassVar[frozenset[str]] = frozenset()
    """Actions that change the folder; in a read-only session their keys say why they do nothing."""

    message = getters.query_one(MessageLine)

    _engine: "Engine"

    def __init__(self) -> None:
        super().__init__()
        self.last_event_seq = 0
        self.change_lock = asyncio.Lock()

    @property
    def browser(self) -> "FolderScreen | None":
        """The screen below, which watches the folder; `None` where this one stands alone."""
        module = sys.modules.get("memtui.ui.screens.folder")  # where none was shown, it need not be loaded
        if module is None:
            return None
        return next((each for each in reversed(self.app.screen_stack) if isinstance(each, module.FolderScreen)), None)

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be changed here."""
        return self._engine.read_only

    @property
    def read_only_reason(self) -> str:
        """The message for a key that would change something in a read-only session."""
        return self.browser.read_only_reason if self.browser else READ_ONLY

    def on_mount(self) -> None:
        browser = self.browser
        for name, (case, remedy) in (browser.alarms if browser else {}).items():
            self.show_alarm(name, case, remedy)

    def show_alarm(self, name: str, case: str, remedy: str) -> None:
        """Put a banner above the panes, or take it away where there is nothing to say."""
        show_banner(self, name, case, remedy, before=self.BANNER_ANCHOR)
        self.refresh_bindings()

    def handle_new_events(self, last: int) -> None:
        """Called when events up to a number are recorded; a screen of the present reads again."""

    def action_undo_here(self) -> None:
        self._undo_or_redo(undo=True)

    def action_redo_here(self) -> None:
        self._undo_or_redo(undo=False)

    @work(group="undo")
    async def _undo_or_redo(self, *, undo: bool) -> None:
        from memtui.ui.flows import undo as flows  # noqa: PLC0415 - start-up: loads the flows

        seq = self.last_event_seq
        if self.is_read_only:
            self.message.show_message(self.read_only_reason, warning=True)
        elif not seq:
            words = f"To undo the last change, go back to the files and press {label_key('browse.undo')}."
            self.message.show_message(f"Nothing to undo here. {words}")
        else:
            async with self.change_lock:
                with report_errors(self.post_message):
                    outcome = await (flows.undo if undo else flows.redo)(self.app, self._engine, seq)
                    if outcome is not None:
                        self.message.show_message(outcome.words, warning=outcome.is_warning)
                        self.handle_undo_done()

    @on(FailureReported)
    def _show_failure(self, message: FailureReported) -> None:
        self.message.show_message(message.reason, warning=True)

    def handle_undo_done(self) -> None:
        """Called after an undo or redo on this screen, for one that shows what it changed."""

    def on_key(self, event: Key) -> None:
        """Explain why a key that would change something does not."""
        is_typed = event.is_printable and isinstance(self.focused, Input)
        if not self.CHANGES or is_typed or not self.is_read_only:
            return
        actions = {binding.action for binding in get_key_bindings(self, event.key)} & self.CHANGES
        if any(not self.check_action(action, ()) for action in actions):
            event.stop()
            self.message.show_message(self.read_only_reason, warning=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "restore_loss":
            return self.browser is not None and self.browser.loss is not None
        return not (action in self.CHANGES and self.is_read_only) and super().check_action(action, parameters)

    async def action_restore_loss(self) -> None:
        browser = self.browser
        if browser is None:
            return
        if browser.is_read_only:
            self.message.show_message(self.read_only_reason, warning=True)
        else:
            await browser.run_action("restore_loss")


class DiffPaneScreen(OverlayScreen):
    """A list with a diff beside it: the keys of the diff work from either."""

    diff = getters.query_one("#diff", DiffView)

    def action_hunk(self, step: int) -> None:
        self.diff.action_hunk(step)

    def action_arrange(self) -> None:
        self.diff.action_arrange()

    def action_words(self) -> None:
        self.diff.action_words()

    def action_folds(self) -> None:
        self.diff.action_folds()
