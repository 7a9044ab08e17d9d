"""The keys of the browser that lead to the audit and the review of its folder.

What they need is loaded when they are pressed: none of it is there before the first paint.
"""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from memtui.core.errors import MemtuiError
from memtui.ui.screens.taking import PastKeys

if TYPE_CHECKING:  # loaded when a key asks for it
    from memtui.engine import Engine
    from memtui.ui.audit.folder import FolderInspection


class Auditing(PastKeys):
    """A screen over a memory, from which it can be audited and reviewed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "A,colon_audit", "audit(False)", "audit", id="browse.audit",
            tooltip="Audit: what a reviewer should look at", show=False,
        ),
        Binding(
            "colon_review", "audit(True)", "review", id="browse.review",
            tooltip="Review: what changed since the last review", show=False,
        ),
    ]  # fmt: skip

    @work(exclusive=True, group="audit")
    async def action_audit(self, on_changes: bool) -> None:
        """What is wrong in the folder, and what changed in it since the last review."""
        engine = self._session.engine
        if engine is None:
            self.message.say("The folder is being opened.")
            return
        from memtui.ui.screens.audit import AuditScreen  # deferred: not needed for the first paint

        try:
            inspection = await asyncio.to_thread(self._inspection, engine)
        except (MemtuiError, OSError) as error:
            self.message.say(str(error), warning=True)
            return
        self.app.push_screen(AuditScreen(inspection, on_changes=on_changes, stands_alone=False))

    def _inspection(self, engine: "Engine") -> "FolderInspection":
        """The folder as it is audited here; from a thread."""
        from memtui import opening  # deferred, as above
        from memtui.audit.judging import reviewer_here
        from memtui.audit.marks import review_path
        from memtui.config import Config
        from memtui.outgoing import Outgoing
        from memtui.scribe import Here
        from memtui.ui.audit.folder import FolderInspection, Wanted

        session, config = self._session, getattr(self.app, "config", None)
        config = config if isinstance(config, Config) else Config()
        folder = session.folder
        wanted = Wanted(
            folder=folder, title=self._title, review=str(review_path(folder)), reviewer=reviewer_here(),
            settings=config.audit, memory=config.memory,
        )  # fmt: skip
        look = partial(opening.observe, folder, state=session.state, settings=config.memory, look=False)
        outgoing = Outgoing(folder, opening.state_directory(folder, session.state))
        return FolderInspection(wanted, look, Here(outgoing), engine=None if engine.read_only else engine)
