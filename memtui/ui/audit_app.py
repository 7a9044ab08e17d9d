"""The audit as an application over one folder."""

from pathlib import PurePath
from typing import ClassVar

from textual import on

from memtui.config import LoadedConfig
from memtui.review.inspection import Inspection
from memtui.ui.app import MemtuiApp
from memtui.ui.frame import HELD_SECONDS, MessageLine
from memtui.ui.messages import FolderShown
from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.audit_messages import AuditFailed, AuditFinished


class AuditApp(MemtuiApp):
    """An audit on a terminal.

    Args:
        inspection: The audited folder.
        watch: Whether the audit runs again at each change of the folder.
        on_changes: Whether the changes have the focus at first, and not the findings.
        loaded: The settings; the defaults if not given.
    """

    TITLE = "memtui (read-only)"
    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = "app.tcss"

    def __init__(
        self,
        inspection: Inspection,
        *,
        watch: bool = False,
        on_changes: bool = False,
        loaded: LoadedConfig | None = None,
    ) -> None:
        super().__init__(inspection.title, read_only=True, loaded=loaded)
        self._inspection = inspection
        self._watch = watch
        self._on_changes = on_changes

    def open_folder(self, folder: str) -> None:
        """Show the audit, the only folder here."""
        del folder
        self.title = "memtui (read-only)"
        self.push_screen(AuditScreen(self._inspection, watch=self._watch, on_changes=self._on_changes))
        self.call_next(self.key_queue.resume)

    @on(AuditFinished)
    @on(AuditFailed)
    def _show_folder(self) -> None:
        """Load what a key may ask for next, and look for garbage, once the audit does not wait for either."""
        self.post_message(FolderShown())

    def _show_message(self, words: str) -> None:
        for line in self.screen.query(MessageLine):
            line.show_message(words)

    def _show_warning(self, words: str, *, held: float = HELD_SECONDS) -> None:
        for line in self.screen.query(MessageLine):
            line.show_message(words, warning=True, held=held)
