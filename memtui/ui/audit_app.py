"""The audit as an application: one folder, looked at and reviewed by a process that cannot change it any more."""

import os
from collections.abc import Collection
from functools import partial

from memtui.config import Loaded
from memtui.ui.app import MemtuiApp, run
from memtui.ui.audit.inspection import Inspection
from memtui.ui.frame import HELD_SECONDS, MessageLine
from memtui.ui.messages import FolderShown
from memtui.ui.screens.audit import AuditScreen


class AuditApp(MemtuiApp):
    """An audit on a terminal.

    Args:
        inspection: What is audited.
        watch: Whether it looks again whenever something in the folder changes.
        on_changes: Whether the changes have the focus at first, and not the findings.
        loaded: The settings; the defaults if not given.
    """

    TITLE = "memtui (read-only)"

    def __init__(
        self,
        inspection: Inspection,
        *,
        watch: bool = False,
        on_changes: bool = False,
        loaded: Loaded | None = None,
    ) -> None:
        super().__init__(inspection.title, read_only=True, loaded=loaded)
        self._inspection = inspection
        self._watch = watch
        self._on_changes = on_changes

    def open_folder(self, folder: str) -> None:
        """Show the audit; of another folder there is none here."""
        del folder
        self.title = "memtui (read-only)"
        self.push_screen(AuditScreen(self._inspection, watch=self._watch, on_changes=self._on_changes))
        self.post_message(FolderShown())

    def _say(self, words: str) -> None:
        for line in self.screen.query(MessageLine):
            line.say(words)

    def _warn(self, words: str, *, held: float = HELD_SECONDS) -> None:
        for line in self.screen.query(MessageLine):
            line.say(words, warning=True, held=held)


def audit_screen(
    folder: str,
    *,
    state: str | None = None,
    journal: str | None = None,
    loaded: Loaded | None = None,
    review: str | None = None,
    reviewer: str = "",
    since: str = "last",
    repo: str | None = None,
    only: Collection[str] | None = None,
    baseline: Collection[str] | None = None,
    watch: bool = False,
    on_changes: bool = False,
) -> int:
    """Audit and review a folder on the terminal, until the person leaves.

    This process gives up its right to write for good: marks and reports are written by one that it forks before. There
    must be no other thread yet.

    Args:
        folder: An existing directory.
        state: Where its journal lies, if not in its usual place.
        journal: A journal that is named itself: a `journal.db`, or what `memtui export` wrote.
        loaded: The settings.
        review: The review file, if not in its usual place.
        reviewer: Who reviews; by default whoever is logged in.
        since: What the inbox begins with: `last`, the number of an event, a moment.
        repo: A repository that notes are compared with.
        only: Only these rules.
        baseline: Fingerprints of findings that do not count; `None` without a baseline.
        watch: Whether it looks again whenever something in the folder changes.
        on_changes: Whether the changes have the focus at first, and not the findings.

    Returns:
        The exit code: 0 where the person left as usual.

    Raises:
        ReviewUnusable: The review file would lie within the agent's reach.
        StateUnusable: The state directory would.
    """
    from memtui import opening  # deferred: what draws the screen is loaded without it
    from memtui.audit.judging import reviewer_here
    from memtui.audit.marks import outside, review_path
    from memtui.confinement import give_up_writing
    from memtui.outgoing import Outgoing
    from memtui.places import short
    from memtui.scribe import Scribe
    from memtui.ui import background
    from memtui.ui.audit.folder import FolderInspection, Wanted

    loaded = loaded or Loaded()
    path = os.path.realpath(os.path.expanduser(folder))
    place = outside(review, path, state) if review is not None else review_path(path)
    look = partial(opening.observe, path, state=state, journal=journal, settings=loaded.config.memory, look=False)
    with Scribe(Outgoing(path, opening.state_directory(path, state))) as scribe, look() as first:
        confined = give_up_writing()  # only now: a journal that a crash left is mended in a copy, which is written
        wanted = Wanted(
            folder=path, title=short(path), review=str(place), reviewer=reviewer or reviewer_here(), state=state,
            settings=loaded.config.audit, memory=loaded.config.memory, since=since, repo=repo, only=only,
            baseline=baseline, neutral=(confined.sentence,), enforced=confined.sentence,
            is_confined=bool(confined.version),
        )  # fmt: skip
        if loaded.config.theme == "auto":
            background.ask()  # a thread: only now that there may be another one
        try:
            inspection = FolderInspection(wanted, look, scribe, first=first)
            return run(AuditApp(inspection, watch=watch, on_changes=on_changes, loaded=loaded))
        finally:
            background.forget()
