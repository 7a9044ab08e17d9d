"""The audit as an application over one folder, in a process that cannot change it any more."""

from collections.abc import Collection
from functools import partial

from memtui.audit.model import NO_CUSTOM_RULES, CustomRules
from memtui.config import LoadedConfig
from memtui.core.paths import format_path, resolve_place
from memtui.fs import state as fs_state
from memtui.review.inspection import Inspection
from memtui.ui import startup
from memtui.ui.app import MemtuiApp, run
from memtui.ui.frame import HELD_SECONDS, MessageLine
from memtui.ui.messages import FolderShown
from memtui.ui.screens.audit import AuditScreen


class AuditApp(MemtuiApp):
    """An audit on a terminal.

    Args:
        inspection: The audited folder.
        watch: Whether the audit runs again at each change of the folder.
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
        self.post_message(FolderShown())

    def _show_message(self, words: str) -> None:
        for line in self.screen.query(MessageLine):
            line.show_message(words)

    def _show_warning(self, words: str, *, held: float = HELD_SECONDS) -> None:
        for line in self.screen.query(MessageLine):
            line.show_message(words, warning=True, held=held)


def run_audit_app(
    folder: str,
    *,
    state: str | None = None,
    journal: str | None = None,
    loaded: LoadedConfig | None = None,
    review: str | None = None,
    reviewer: str = "",
    since: str = "last",
    repo: str | None = None,
    only: Collection[str] | None = None,
    baseline: Collection[str] | None = None,
    custom: CustomRules = NO_CUSTOM_RULES,
    watch: bool = False,
    on_changes: bool = False,
    keeps: bool = True,
) -> int:
    """Audit and review a folder on the terminal, until the person leaves; returns the exit code.

    This process gives up its right to write for good: marks and reports are written by one that it forks before. There
    must be no other thread yet.

    Args:
        folder: An existing directory.
        state: The directory of its journal, if not in its usual place.
        journal: A `journal.db`, or an export of `memtui export`.
        loaded: The settings.
        review: The review file, if not in its usual place.
        reviewer: By default the login name.
        since: The start of the inbox: `last`, the number of an event, a moment.
        repo: A repository that notes are compared with.
        only: Only these rules.
        baseline: Fingerprints of findings that do not count.
        custom: The rules of the person's own files.
        watch: Whether the audit runs again at each change of the folder.
        on_changes: Whether the changes have the focus at first, and not the findings.
        keeps: Whether a model's opinions are kept for the next time, and in which notes nothing was found.

    Raises:
        ReviewUnusable: The review file would lie within the agent's reach.
        StateUnusable: The state directory would.
    """
    from memtui import memory as memory_module  # noqa: PLC0415 - start-up: loads the engine
    from memtui.agents.opinion_askers import OpinionProcess  # noqa: PLC0415 - start-up: only for audits
    from memtui.fs.exports import ExportWriter  # noqa: PLC0415 - start-up: only for audits
    from memtui.fs.landlock import restrict_writes  # noqa: PLC0415 - start-up: only for audits
    from memtui.fs.write_helper import WriteHelper  # noqa: PLC0415 - start-up: only for audits
    from memtui.review.folder_inspection import FolderInspection, ReviewOptions  # noqa: PLC0415 - start-up: loads the engine
    from memtui.review.marks import resolve_review_path  # noqa: PLC0415 - start-up: only for audits
    from memtui.review.verdicts import get_reviewer  # noqa: PLC0415 - start-up: only for audits

    loaded = loaded or LoadedConfig()
    path = resolve_place(folder)
    place = resolve_review_path(review, path, state)
    look = partial(memory_module.observe, path, state=state, journal=journal, settings=loaded.config.memory, look=False)
    directory, chat = fs_state.get_state_directory(path, state), loaded.config.chat
    cache = directory / fs_state.CLEAN_NOTES if keeps and journal is None else None
    asker = OpinionProcess(path, model=chat.model or None, provider=chat.provider, keeps=keeps)
    kept = [cache] if cache is not None else []
    with asker, WriteHelper(ExportWriter(path, directory), kept=kept) as scribe, look() as first:
        confined = restrict_writes()  # only now: a journal that a crash left is mended in a copy, which is written
        wanted = ReviewOptions(
            folder=path, title=format_path(path), review=str(place), reviewer=reviewer or get_reviewer(), state=state,
            settings=loaded.config.audit, memory=loaded.config.memory, since=since, repo=repo, only=only,
            baseline=baseline, custom=custom, neutral=(confined.sentence,), enforced=confined.sentence,
            is_confined=bool(confined.version), cache=cache,
        )  # fmt: skip
        if loaded.config.theme == "auto":
            startup.start_query()  # a thread: only now that there may be another one
        try:
            inspection = FolderInspection(wanted, look, scribe, first=first, asker=asker)
            return run(AuditApp(inspection, watch=watch, on_changes=on_changes, loaded=loaded))
        finally:
            startup.reset_query()
