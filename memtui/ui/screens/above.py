"""A screen above the browser: what must not be overlooked is said there too, and put right with the same key."""

from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.binding import Binding, BindingType
from textual.screen import Screen

from memtui.ui.banner import show_banner
from memtui.ui.frame import Header, MessageLine
from memtui.ui.messages import AlarmChanged

if TYPE_CHECKING:
    from memtui.ui.screens.taking import PastKeys

READ_ONLY = "Read-only session. Start without --read-only to edit."


class AboveBrowser(Screen[None]):
    """A screen that was opened from the browser, which goes on below it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+r", "restore_loss", "bring back", id="browse.restore_loss",
            tooltip="Bring back the memories that went at once", show=False, priority=True,
        ),
    ]  # fmt: skip

    message = getters.query_one(MessageLine)

    @property
    def browser(self) -> "PastKeys | None":
        """The screen below that watches the folder; `None` where this one stands alone."""
        from memtui.ui.screens.taking import PastKeys  # deferred: by now it is loaded

        return next((screen for screen in self.app.screen_stack if isinstance(screen, PastKeys)), None)

    def _on_mount(self, event: object) -> None:  # type: ignore[override]
        """Say at once what is the case already."""
        super()._on_mount(event)  # type: ignore[arg-type]
        browser = self.browser
        for name, (case, remedy) in (browser.alarms if browser else {}).items():
            self.show_alarm(name, case, remedy)

    def on_alarm_changed(self, message: AlarmChanged) -> None:
        """The browser found something out."""
        self.show_alarm(message.name, message.case, message.remedy)

    def show_alarm(self, name: str, case: str, remedy: str) -> None:
        """Put a banner above the panes, or take it away where there is nothing to say."""
        show_banner(self, name, case, remedy, after=self.query_one(Header))

    def on_news(self) -> None:
        """Something was recorded; whoever shows what is so now looks again."""

    def action_restore_loss(self) -> None:
        """Bring back all that went at once; what came of it is said on this screen."""
        browser = self.browser
        if browser is None or not browser.has_loss:
            return
        if browser.is_read_only:
            self.message.say(READ_ONLY, warning=True)
        else:
            browser.action_restore_loss()
