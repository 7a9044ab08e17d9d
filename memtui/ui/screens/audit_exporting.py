"""A report of the audit, written to a file that the reviewer names: never inside the folder, never over another one."""

import asyncio
import os
import time

from textual import work

from memtui.core.errors import Closed, MemtuiError
from memtui.core.visible import one_line
from memtui.places import short
from memtui.ui.audit.inspection import FORMATS
from memtui.ui.screens.ask import AskScreen, PromptScreen
from memtui.ui.screens.audit_showing import AuditShowing
from memtui.ui.screens.menu import Choice, MenuScreen

_CHOICES = (
    Choice("m", "Markdown, for a pull request", "md"),
    Choice("h", "HTML, one file with charts", "html"),
    Choice("t", "plain text", "text"),
    Choice("j", "JSON, for programs", "json"),
    Choice("s", "SARIF 2.1.0, for code scanning", "sarif"),
)


class AuditExporting(AuditShowing):
    """Writes reports."""

    @work(exclusive=True, group="export")
    async def action_export(self) -> None:
        """Ask for the form and the place, and write it there."""
        audit = self._audit
        if audit is None:
            self.message.say(" ".join(self.why_no_audit))
            return
        format = await self.app.push_screen_wait(MenuScreen("Export a report", _CHOICES))
        if format is None:
            return
        usual = os.path.join(os.getcwd(), time.strftime(f"memtui-audit-%Y-%m-%d.{FORMATS[format]}"))
        hint = f"Enter alone: {one_line(short(usual))}. Outside of the folder. Secrets stay masked."
        given = await self.app.push_screen_wait(PromptScreen("Write it to:", hint))
        if given is None:
            return
        path = os.path.abspath(os.path.expanduser(given)) if given else usual
        force = False
        while True:
            try:
                said = await asyncio.to_thread(self._write_report, format, path, force)
            except FileExistsError:
                question = f"{one_line(short(path))} is there already. Replace it?"
                if not await self.app.push_screen_wait(AskScreen(question)):
                    self.message.say("Nothing was written.")
                    return
                force = True
            except Closed:
                return
            except (MemtuiError, OSError) as error:
                self.message.say(one_line(str(error)), warning=True)
                return
            else:
                self.message.say(f"Wrote the report to {one_line(said)}.")
                return

    def _write_report(self, format: str, path: str, force: bool) -> str:
        assert self._audit is not None
        return self._inspection.export(self._audit, format, path, force=force)
