"""`memtui audit` on a screen, and a command line of it that needs no parser: `memtui audit`, or `memtui audit ./DIR`.

The process gives up its right to write before it opens the folder, which is not waited for, and before it has a thread,
which would keep the right.
"""

import contextlib
import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from memtui.cli import context, output
from memtui.cli.browser import detect_terminal_background
from memtui.cli.options import Options
from memtui.core.paths import NO_FOLDER, format_path
from memtui.fs import state as fs_state

if TYPE_CHECKING:
    from memtui.audit.model import CustomRules
    from memtui.config import LoadedConfig
    from memtui.engine import Observer

_LOADED_LATER = ("memtui.memory", "memtui.audit.runner", "memtui.review.inbox_builder")
"""What opens and audits the folder, behind the first frame."""


def run_plain_audit(options: Options, word: str | None, **chosen: Any) -> int | None:
    """An audit of one folder; `None` where it is not for a screen, or the settings name rules: the verb has to run.

    `chosen` are arguments of `audit_on_screen`.
    """
    if not has_screen():
        return None
    path = context.resolve_folder(options, word)
    loaded = context.load_config(options, path)
    if loaded.config.ui.screen_reader or loaded.config.audit.rules or loaded.config.audit.exemptions:
        return None
    return audit_on_screen(path, loaded, options, **chosen)


def has_screen() -> bool:
    """Whether a screen can be drawn, and keys arrive."""
    can_draw = output.is_terminal(sys.stdout) and os.environ.get("TERM", "") not in ("", "dumb")
    return can_draw and output.is_terminal(sys.stdin)


def audit_on_screen(
    path: str,
    loaded: "LoadedConfig",
    options: Options,
    *,
    journal: str | None = None,
    review: str | None = None,
    reviewer: str = "",
    since: str = "last",
    repo: str | None = None,
    only: Collection[str] | None = None,
    baseline: Collection[str] | None = None,
    custom: "CustomRules | None" = None,
    watch: bool = False,
) -> int:
    """Audit and review a folder until the person leaves; returns the exit code.

    This process gives up its right to write for good: marks and reports are written by one that it forks before. There
    must be no other thread yet.

    Args:
        path: An existing directory with links resolved, or another place.
        journal: A `journal.db`, or an export of `memtui export`.
        review: The review file, if not in its usual place.
        reviewer: By default the login name.
        since: The start of the inbox: `last`, the number of an event, a moment.
        repo: A repository that notes are compared with.
        only: Only these rules.
        baseline: Fingerprints of findings that do not count.
        custom: The rules of the person's own files; by default those of the settings and of installed packages.
        watch: Whether the audit runs again at each change of the folder.

    Raises:
        ReviewFileUnusable: The review file would lie within the agent's reach.
        StateUnusable: The state directory would, or a journal that was named cannot be used.
    """
    from memtui.agents.opinion_askers import OpinionProcess  # noqa: PLC0415 - start-up: only for audits
    from memtui.fs.exports import ExportWriter  # noqa: PLC0415 - start-up: only for audits
    from memtui.fs.landlock import restrict_writes  # noqa: PLC0415 - start-up: only for audits
    from memtui.fs.write_helper import WriteHelper  # noqa: PLC0415 - start-up: only for audits

    if review is not None:
        from memtui.review.marks import resolve_review_path  # noqa: PLC0415 - start-up: only with --review

        review = os.fspath(resolve_review_path(review, path, options.state))
    directory, chat = fs_state.get_state_directory(path, options.state), loaded.config.chat
    keeps = not options.read_only
    cache = directory / fs_state.CLEAN_NOTES if keeps and journal is None else None
    look = partial(_observe, path, options.state, journal, loaded)
    is_remote = path.startswith(NO_FOLDER) or journal is not None  # is connected to, or refused, before
    kept = [cache] if cache is not None else []
    with (
        OpinionProcess(path, model=chat.model or None, provider=chat.provider, keeps=keeps) as asker,
        WriteHelper(ExportWriter(path, directory), kept=kept, has_directory=True) as scribe,
        look() if is_remote else contextlib.nullcontext() as first,
        detect_terminal_background(loaded, reads=False),
    ):
        from memtui.review.folder_inspection import FolderInspection, ReviewOptions  # noqa: PLC0415 - as above
        from memtui.ui import startup  # noqa: PLC0415 - start-up: only for screens
        from memtui.ui.app import run  # noqa: PLC0415 - start-up: loads Textual
        from memtui.ui.audit_app import AuditApp  # noqa: PLC0415 - start-up: loads Textual

        _keep_bytecode()
        tempfile.tempdir = aside = scribe.directory or None
        confined = restrict_writes(but=[aside] if aside else [], exceptions="its own temporary ones" if aside else "")
        if (query := startup.get_query()) is not None:
            query.read()  # a thread: only now that there may be another one
        wanted = ReviewOptions(
            folder=path, title=format_path(path), review=review, reviewer=reviewer,
            state=options.state, settings=loaded.config.audit, memory=loaded.config.memory, since=since, repo=repo,
            only=only, baseline=baseline, custom=custom, neutral=(confined.sentence,), enforced=confined.sentence,
            is_confined=bool(confined.version), cache=cache,
        )  # fmt: skip
        inspection = FolderInspection(wanted, look, scribe, first=first, asker=asker)
        return run(AuditApp(inspection, watch=watch, loaded=loaded))


def _observe(path: str, state: str | None, journal: str | None, loaded: "LoadedConfig") -> "Observer":
    from memtui.memory import observe  # noqa: PLC0415 - first paint: loads the engine

    return observe(path, state=state, journal=journal, settings=loaded.config.memory, look=False)


def _keep_bytecode() -> None:
    """Load what is loaded behind the first frame now, once, if it was never compiled: it could not be kept later."""
    cached = [spec.cached for name in _LOADED_LATER if (spec := importlib.util.find_spec(name)) is not None]
    if not sys.dont_write_bytecode and not all(path and os.path.exists(path) for path in cached):
        for name in _LOADED_LATER:
            importlib.import_module(name)
