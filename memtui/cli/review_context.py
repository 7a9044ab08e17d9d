"""What every action of `memtui review` works with: the memory, the review file, and who reviews."""

import argparse
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

from memtui.audit.model import Audit, CustomRules
from memtui.cli import context, output
from memtui.cli.context import load_config
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure
from memtui.core.lazy_dataclass import dataclass
from memtui.engine import Observer
from memtui.review.inbox import Inbox, ReviewMark
from memtui.review.inbox_builder import build_inbox
from memtui.review.marks import Review, ReviewFile, get_reviewer


@dataclass
class ReviewContext:
    """A review by one reviewer."""

    memory: Observer
    file: ReviewFile
    review: Review
    options: Options
    given: argparse.Namespace
    folder: str

    @property
    def reviewer(self) -> str:
        """The name in the marks."""
        name: str = self.given.reviewer or get_reviewer()
        return name.strip()

    def load_inbox(self, *, accepted: bool, plain: bool = False) -> Inbox:
        """What changed; with `plain` without the filters of the command line."""
        given = self.given
        try:
            return build_inbox(
                self.memory,
                self.review,
                since=given.since,
                reviewer=given.reviewer,
                accepted=accepted,
                runs=given.action is None,
                rules=self.custom.matcher,
                **({} if plain else self._get_filters()),
            )
        except ValueError as error:
            is_missing = str(error).startswith(("There is no event", "The record has no", "The history has no"))
            raise Failure(ExitCode.MISSING if is_missing else ExitCode.USAGE, f"memtui review: {error}") from error

    @cached_property
    def custom(self) -> CustomRules:
        """The rules of the person's own files, as the settings name them."""
        from memtui.audit.rule_files import load_custom_rules  # noqa: PLC0415 - start-up: loads every rule

        return load_custom_rules((), load_config(self.options, self.folder).config.audit.rule_files, self.folder)

    def _get_filters(self) -> dict[str, Any]:
        given = self.given
        path = context.parse_memory_path(given.path, self.folder).relative if given.path is not None else None
        findings = self.run_audit(only={given.rule}).findings if given.rule else ()
        return {"actor": given.actor, "session": given.session, "path": path, "rule": given.rule, "findings": findings}

    def run_audit(
        self, *, only: Collection[str] | None = None, paths: Collection[str] | None = None, inbox: Inbox | None = None
    ) -> Audit:
        """The audit of the folder, or of some notes, as it is now, with the settings and without what is dismissed."""
        from memtui.audit.runner import run_audit  # noqa: PLC0415 - start-up: loads every rule

        config = load_config(self.options, self.folder).config
        with output.show_progress_line(quiet=self.options.quiet) as progress:
            return run_audit(
                self.memory,
                title=self.folder,
                place=self.folder,
                settings=config.audit,
                memory=config.memory,
                repo=self.given.repo,
                only=only,
                paths=paths,
                inbox=inbox,
                review=self.review,
                reviewer=self.given.reviewer,
                progress=progress,
                custom=self.custom,
            )

    def run_audit_for_failures(self, paths: Collection[str]) -> Audit:
        """The audit of some notes, with the rules alone whose findings must not stay."""
        from memtui.audit.model import Severity  # noqa: PLC0415 - start-up: loads every rule
        from memtui.audit.registry import list_rules  # noqa: PLC0415 - start-up: loads every rule
        from memtui.audit.selection import select_rules  # noqa: PLC0415 - start-up: loads every rule

        settings = load_config(self.options, self.folder).config.audit
        severities = select_rules(list_rules(self.custom).values(), settings, repo=self.given.repo).severities
        failing = {rule for rule, severity in severities.items() if severity is Severity.FAIL}
        return self.run_audit(only=failing, paths=paths)

    def save_marks(self, marks: Sequence[ReviewMark]) -> None:
        self.review = self.file.add(marks)
