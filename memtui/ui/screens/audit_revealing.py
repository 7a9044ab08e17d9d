"""What the audit's screen shows only when somebody asks for it: what is masked, and what was there before."""

import asyncio
from typing import TYPE_CHECKING, cast

from textual import work

from memtui.core.errors import Closed, MemtuiError
from memtui.core.visible import one_line
from memtui.ui import said_keys
from memtui.ui.frame import Header
from memtui.ui.screens.ask import AskScreen
from memtui.ui.screens.audit_showing import AuditShowing

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine

_REVEAL = "Show what is masked, on this screen? Whoever sees or records it reads it too."
_REVEAL_PAST = "Its versions show what is masked here. Open them? Whoever sees or records the screen reads it too."


class AuditRevealing(AuditShowing):
    """Reveals, and opens the past."""

    @work(exclusive=True, group="reveal")
    async def action_reveal(self) -> None:
        """Show what is masked here, once the person said yes; or hide it again."""
        if self.reveals:
            self._revealed = None
            self.message.say("Masked again.")
        elif not self.has_masked():
            self.message.say("Nothing is masked here.")
            return
        else:
            key = self.shown_key
            if not await self.app.push_screen_wait(AskScreen(_REVEAL, "It is masked again as soon as you go on.")):
                return
            if key != self.shown_key:
                return
            self._revealed = key
            self.message.say("Revealed on this screen only.", hint=f"{said_keys.said('audit.reveal', 'X')} masks it")
        self.show_detail(keep_place=True)

    def has_masked(self) -> bool:
        """Whether anything is masked here, or was until somebody asked."""
        file, finding = self.file, self.finding
        if file is not None:
            return self._change is not None and self._change.file.path == file.path and self._change.is_masked
        if finding is None:
            return False
        return finding.masked is not None or bool(self.page.border_subtitle)

    def action_diff(self) -> None:
        """What changed; for a finding, the change that brought it in."""
        if self._on_changes:
            self.focus_detail()
        else:
            self._open_history(diff_first=True)

    def action_history(self) -> None:
        """All versions of the file under the cursor."""
        self._open_history(diff_first=False)

    @work(exclusive=True, group="history")
    async def _open_history(self, *, diff_first: bool) -> None:
        file, finding, observer = self.file, self.finding, self._observer
        path = file.path if file else finding.place.path if finding else ""
        if not path or observer is None:
            self.message.say("Nothing with a history is under the cursor.")
            return
        try:
            known = await asyncio.to_thread(observer.history.versions_of, path, limit=1)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.message.say(str(error), warning=True)
            return
        if not known:
            self.message.say(f"Nothing has been recorded of {one_line(path)}.")
            return
        asks = self.has_masked() and not self.reveals
        if asks and not await self.app.push_screen_wait(AskScreen(_REVEAL_PAST)):
            return
        from memtui.ui.screens.history import HistoryScreen  # deferred: only where somebody looks back

        at = finding.origin.seq if finding else None
        self.app.push_screen(
            HistoryScreen(
                cast("Engine", observer),
                path,
                title=self._inspection.title,
                diff_first=diff_first,
                at=at,
                live=self.query_one(Header).status.live,
            )
        )
