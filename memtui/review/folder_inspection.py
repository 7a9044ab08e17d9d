"""The folder under audit and review: the implementation of `Inspection` outside of tests.

Methods are called from workers. Marks and reports are written by a writer that was chosen before this process gave up
its own right to write.
"""

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.audit.model import NO_CUSTOM_RULES, Audit, AuditFinding, CustomRules, Severity
from memtui.core.diffs import TextDiff
from memtui.core.errors import MemoryClosed, StateUnusable
from memtui.core.events import Agent, Event
from memtui.core.history import ActionResult, SurroundingCalls
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import format_path
from memtui.core.settings import AuditSettings, Settings
from memtui.core.unicode import to_one_line
from memtui.fs.exports import WriteFailed, WriteFailureReason
from memtui.fs.state import get_state_directory
from memtui.fs.write_helper import FileWriter
from memtui.review.inbox import ChangedFile, ChangedHunk, Inbox, MarkedFinding, ReviewMark, ReviewVerdict
from memtui.review.inspection import AuditCallbacks, ChangeComparison

if TYPE_CHECKING:
    from memtui.audit.cache import AuditCache
    from memtui.audit.opinions import OpinionAsker
    from memtui.engine import Engine, Observer
    from memtui.review.marks import Review, ReviewFile
    from memtui.review.verdicts import Head
    from memtui.watch import FolderWatcher


_MOST_BYTES = 4_000_000
"""Bytes of the largest note whose lines are shown."""
_REACH = 400
"""Events before and after a change that are searched for its session."""
_MOST_CALLS = 40
"""Calls before and after it that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOptions:
    """How a folder is audited and reviewed.

    Attributes:
        folder: Its path, with links resolved.
        title: Its path, as shown.
        review: The path of the review file; `None` for the usual one.
        reviewer: The name of the reviewer; empty for the login name.
        state: The directory of the journal, if not the usual one.
        settings: Of the audit.
        memory: Of the folder.
        since: The beginning of the inbox.
        repo: A repository that notes are compared with.
        only: Only these rules.
        baseline: Fingerprints that do not count; `None` without a baseline.
        custom: The rules of the person's own files; `None` for those of the settings and of installed packages.
        neutral: The rights that this process gave up, as sentences.
        enforced: The limits that the kernel enforces, as a sentence.
        is_confined: Whether the kernel enforces limits.
        cache: Where it is kept what an audit found nothing in; `None` for nowhere.
    """

    folder: str
    title: str
    review: str | None = None
    reviewer: str = ""
    state: str | None = None
    settings: AuditSettings = field(default_factory=AuditSettings)
    memory: Settings = field(default_factory=Settings)
    since: str = "last"
    repo: str | None = None
    only: Collection[str] | None = None
    baseline: Collection[str] | None = None
    custom: CustomRules | None = None
    neutral: tuple[str, ...] = ()
    enforced: str = ""
    is_confined: bool = False
    cache: Path | None = None


class FolderInspection:
    """An open folder behind the screen.

    Args:
        options: The folder, and how it is audited.
        open: Opens the folder, from a worker; again before each further audit.
        writer: Writes marks and reports.
        engine: The open engine of an ordinary session, which reverts changes and stays open.
        first: The open observer of the first audit, which is closed at the end.
    """

    def __init__(
        self,
        options: ReviewOptions,
        open: "Callable[[], Observer]",
        writer: FileWriter,
        *,
        engine: "Engine | None" = None,
        first: "Observer | None" = None,
        asker: "OpinionAsker | None" = None,
    ) -> None:
        self.folder = options.folder
        self.state = options.state
        self.title = options.title
        self.settings = options.settings
        self.custom = options.custom or NO_CUSTOM_RULES
        self.enforced = options.enforced
        self.is_confined = options.is_confined
        self.can_revert = engine is not None
        self.observer: Observer | None = engine
        self.asker = asker
        self._options = options
        self._first = first
        self._open = open
        self._writer = writer
        self._known_review: Review | None = None
        self._inbox: Inbox | None = None
        self._head: Head = (0, "")
        """The head of the record before the inbox was read: later events were not shown."""
        self._previous_observer: Observer | None = None
        self._cache: AuditCache | None = None
        self._is_audited = False
        self._seen = -1
        self._watch: tuple[FolderWatcher, Callable[[], object]] | None = None
        self._is_closed = False
        self._prompts: dict[str, str] = {}
        self._asking = threading.Lock()
        self._lock = threading.Lock()

    def open_folder(self) -> None:
        if self._options.custom is None:
            from memtui.audit.rule_files import load_custom_rules  # noqa: PLC0415 - first paint: loads the scan

            self.custom = load_custom_rules((), self.settings.rule_files, self.folder)
        if self.observer is None:
            self.observer = self._first or self._open()

    @cached_property
    def reviewer(self) -> str:
        from memtui.review.marks import get_reviewer  # noqa: PLC0415 - first paint: known once somebody judges

        return self._options.reviewer or get_reviewer()

    @property
    def review_location(self) -> str:
        return format_path(self._file.path)

    @cached_property
    def _file(self) -> "ReviewFile":
        """The file of the marks. Raises `ReviewFileUnusable` if it would lie within the agent's reach."""
        from memtui.review.marks import ReviewFile, get_review_path  # noqa: PLC0415 - first paint: is read behind it

        path = self._options.review or get_review_path(self.folder)
        return ReviewFile(path, folder=self.title, writer=self._writer)

    @property
    def _review(self) -> "Review":
        """What reviewers said, as far as it was read."""
        from memtui.review.marks import Review  # noqa: PLC0415 - first paint: as above

        with self._lock:
            return Review(self._file.path) if self._known_review is None else self._known_review

    @property
    def _open_observer(self) -> "Observer":
        if self.observer is None:
            raise StateUnusable("The folder is not open.")
        return self.observer

    def run_audit(self, callbacks: AuditCallbacks) -> Audit:
        from memtui.audit.cache import keep_cache, read_cache  # noqa: PLC0415 - first paint: loads all rules
        from memtui.audit.opinions import add_kept_opinions  # noqa: PLC0415 - as above
        from memtui.audit.runner import run_audit  # noqa: PLC0415 - as above
        from memtui.engine.pins import load_pins  # noqa: PLC0415 - as above

        if self._is_audited and not self.can_revert:
            self._reopen()
        self._is_audited = True
        observer, options = self._open_observer, self._options
        callbacks.progress("changes", 0, 0)
        observer.reconcile(stop=callbacks.stop)
        inbox = self._read_inbox(observer)
        callbacks.inbox(inbox)
        self._seen = observer.get_head()[0]
        review = self._review
        if options.cache is not None and self._cache is None:
            self._cache = read_cache(options.cache)
        audit = run_audit(
            observer,
            title=options.title,
            place=options.folder,
            settings=options.settings,
            memory=options.memory,
            repo=options.repo,
            only=options.only,
            inbox=inbox,
            review=review,
            neutral=options.neutral,
            baseline=options.baseline,
            pins=load_pins(observer),
            progress=callbacks.progress,
            found=callbacks.found,
            stop=callbacks.stop,
            custom=self.custom,
            passages=self.asker is not None,
            cache=self._cache,
        )
        if options.cache is not None and self._cache is not None and audit.events:
            keep_cache(self._cache, options.cache, self._writer)
        return audit if self.asker is None else add_kept_opinions(audit, self.asker)

    def _reopen(self) -> None:
        """Open the record again, so that events of other processes are no outside changes.

        The previous observer stays open until the next time: other threads may still read it.
        """
        with self._lock:
            if self._is_closed:
                raise MemoryClosed("The folder is closed.")
            watch, self._watch = self._watch, None
        if watch is not None:
            watch[0].stop()
        observer = self._open()
        with self._lock:
            former, self._previous_observer, self.observer = self._previous_observer, self.observer, observer
        if former is not None:
            former.close()
        if watch is not None:
            self._start_watching(watch[1])

    def _read_inbox(self, observer: "Observer") -> Inbox:
        from memtui.review.inbox_builder import build_inbox  # noqa: PLC0415 - first paint: loads the engine
        from memtui.review.marks import Review, ReviewFileUnusable  # noqa: PLC0415 - as above
        from memtui.review.verdicts import get_head  # noqa: PLC0415 - as above

        try:
            review = self._file.load()
        except ReviewFileUnusable as error:
            review, problem = Review(self._file.path), str(error)
        else:
            problem = ""
        head = get_head(observer)
        try:
            rules = self.custom.matcher
            inbox = build_inbox(observer, review, since=self._options.since, accepted=True, rules=rules)
        except ValueError as error:
            raise StateUnusable(str(error)) from error
        inbox = replace(inbox, problem=" ".join(filter(None, (problem, inbox.problem))))
        with self._lock:
            self._known_review, self._inbox, self._head = review, inbox, head
        return inbox

    def read_text(self, path: str) -> str | None:
        data = self._open_observer.inspect_path(path).data
        if data is None or len(data) > _MOST_BYTES:
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            return None

    def compare(self, file: ChangedFile) -> ChangeComparison:
        from memtui.review.hunks import compare_file, find_changed_hunks  # noqa: PLC0415 - first paint: loads the engine

        observer = self._open_observer
        found = compare_file(observer, file)
        if found.difference is None:
            return ChangeComparison(None, (), "It cannot be shown line by line", found.problem)
        if not found.difference.hunks:
            title, detail = _describe_missing_hunks(file, found.difference)
            return ChangeComparison(None, (), title, detail)
        review = self._review
        return ChangeComparison(found.difference, find_changed_hunks(observer, file, review))

    def find_calls(self, seq: int) -> SurroundingCalls:
        observer = self._open_observer
        event = observer.history.get_event(seq)
        if event is None:
            return SurroundingCalls(seq)
        events = observer.journal.get_events(max(seq - _REACH - 1, 0), limit=2 * _REACH + 1)
        near = [each for each in events if _is_same_conversation(each, event)]
        at = next((number for number, each in enumerate(near) if each.seq == seq), 0)
        first, last = max(at - _MOST_CALLS, 0), at + _MOST_CALLS + 1
        return SurroundingCalls(seq, near[first:last], first, max(len(near) - last, 0), self._read_prompt(event))

    def _read_prompt(self, event: Event) -> str:
        """The prompt of a call. Reads are serialized and cached: a session file may have gigabytes."""
        from memtui.agents.origin import find_prompt  # noqa: PLC0415 - only where a call is looked at

        if not isinstance(event.actor, Agent) or event.call_id is None:
            return ""
        with self._asking:
            if self._is_closed:
                return ""
            if event.call_id not in self._prompts:
                state = get_state_directory(self._options.folder, self._options.state)
                self._prompts[event.call_id] = find_prompt(event, state).prompt
            return self._prompts[event.call_id]

    def record_verdict(
        self,
        files: Sequence[ChangedFile],
        verdict: ReviewVerdict,
        *,
        hunk: ChangedHunk | None = None,
        words: str = "",
        findings: Sequence[MarkedFinding] = (),
    ) -> Sequence[ReviewMark]:
        from memtui.review.verdicts import build_marks, get_head  # noqa: PLC0415 - first paint: loads the engine

        observer = self._open_observer
        head, hunks = get_head(observer), () if hunk is None else (hunk,)
        review = self._review
        marks: list[ReviewMark] = []
        build = partial(build_marks, observer, review, verdict, reviewer=self.reviewer, head=head, words=words)
        for file in files:
            marks += build(file, hunks, findings=findings)
        self._add_marks(marks)
        return marks

    def dismiss(self, findings: Sequence[AuditFinding], reason: str, until: str) -> Sequence[ReviewMark]:
        from memtui.review import triage  # noqa: PLC0415 - first paint: loads the scan

        for finding in findings:
            if problem := triage.explain_limit(finding, until, datetime.now(UTC).date()):
                raise StateUnusable(f"Not dismissed: {problem}.")
            text = self.read_text(finding.location.path) if finding.masked is not None else None
            if triage.holds_secret(reason, triage.get_masked_text(finding, text), self.custom.matcher):
                raise StateUnusable(f"Not dismissed: {triage.SECRET_IN_WORDS}")
        return self._mark_findings(ReviewVerdict.DISMISS, findings, reason, until)

    def restore(self, findings: Sequence[AuditFinding]) -> Sequence[ReviewMark]:
        return self._mark_findings(ReviewVerdict.RESTORE, findings)

    def _mark_findings(
        self, verdict: ReviewVerdict, findings: Sequence[AuditFinding], words: str = "", until: str = ""
    ) -> Sequence[ReviewMark]:
        from memtui.review.triage import mark_finding  # noqa: PLC0415 - first paint: loads the scan
        from memtui.review.verdicts import build_finding_mark, get_head  # noqa: PLC0415 - as above

        head = get_head(self._open_observer)
        build = partial(build_finding_mark, verdict, reviewer=self.reviewer, head=head, words=words, until=until)
        marks = [build(mark_finding(each)) for each in findings]
        self._add_marks(marks)
        return marks

    def find_undecided(self, audit: Audit) -> Sequence[MarkedFinding]:
        from memtui.review import sign_off  # noqa: PLC0415 - first paint: loads the reports

        return sign_off.find_undecided(self._decide_findings(audit))

    def _decide_findings(self, audit: Audit) -> Sequence[MarkedFinding]:
        from memtui.review import sign_off  # noqa: PLC0415 - first paint: loads the reports
        from memtui.review.inbox_builder import build_inbox  # noqa: PLC0415 - as above

        if self._options.only is not None:
            raise StateUnusable(
                "Not signed off: the audit ran only some rules, so its failures are not all known. Nothing was "
                "written. Audit without --only, or sign off with: memtui review done"
            )
        observer, review = self._open_observer, self._file.load()
        inbox = build_inbox(observer, review, since=self._options.since, accepted=True, runs=False)
        return sign_off.decide_findings(observer, review, inbox, audit)

    def finish(self, shown: Inbox, audit: Audit, failures_reason: str = "") -> ReviewMark:
        with self._lock:
            inbox, head = self._inbox, self._head
        if inbox is None:
            raise StateUnusable("Not signed off: the changes are still being read. Nothing was written.")
        if _collect_changes(inbox) != _collect_changes(shown):
            raise StateUnusable(
                "Not signed off: a file changed since it was shown. Nothing was written. Review it, then sign off."
            )
        from memtui.review import sign_off, triage  # noqa: PLC0415 - first paint: loads the reports
        from memtui.review.verdicts import end_review  # noqa: PLC0415 - as above

        if triage.holds_secret(failures_reason, rules=self.custom.matcher):
            raise StateUnusable(f"Not signed off: {triage.SECRET_IN_WORDS}")
        decided = self._decide_findings(audit)
        undecided = sign_off.find_undecided(decided)
        if undecided and not failures_reason:
            raise StateUnusable(
                f"Not signed off: no decision on the failures {sign_off.name_findings(undecided)}. Nothing was written."
            )
        marks = end_review(
            inbox, reviewer=self.reviewer, head=head, findings=sign_off.accept_failures(decided),
            failures_reason=failures_reason if undecided else "",
        )  # fmt: skip
        self._add_marks(marks)
        return marks[-1]

    def _add_marks(self, marks: Sequence[ReviewMark]) -> None:
        review = self._file.add(marks)
        with self._lock:
            self._known_review = review

    def revert(self, engine: "Engine", file: ChangedFile, hunk: ChangedHunk | None) -> ActionResult:
        from memtui.review.verdicts import revert_and_mark  # noqa: PLC0415 - first paint: loads the engine

        result, marks = revert_and_mark(engine, file, hunk, reviewer=self.reviewer)
        if marks:
            self._add_marks(marks)
        return result

    def export(self, audit: Audit, format: str, path: str, *, force: bool) -> str:
        from memtui.audit.growth import collect_growth  # noqa: PLC0415 - only where a report is written
        from memtui.audit.report import render_report  # noqa: PLC0415 - only where a report is written

        with self._lock:
            report = replace(audit, inbox=self._inbox)
        if format == "html":
            report = replace(report, growth=collect_growth(self._open_observer, report.findings, report.taken_us))
        shown = render_report(report, format, folder=self._options.folder, fail_on=Severity.FAIL)
        data = shown.encode("utf-8", "backslashreplace")
        try:
            self._writer.write(path, data, force=force)
        except WriteFailed as not_written:
            if not_written.reason is WriteFailureReason.EXISTS:
                raise FileExistsError(path) from not_written
            raise
        return format_path(path)

    def watch(self, changed: Callable[[], object]) -> Callable[[], None]:
        self._start_watching(changed)
        return self._stop_watching

    def _start_watching(self, changed: Callable[[], object]) -> None:
        from memtui.watch import FolderWatcher  # noqa: PLC0415 - most audits run once

        observer = self._open_observer

        def report() -> None:
            if self._is_audited and observer.get_head()[0] != self._seen:
                changed()

        watch = FolderWatcher(observer, self._options.folder, None, changed=report)
        with self._lock:
            if self._is_closed:
                return
            self._watch = watch, changed
        watch.start()

    def _stop_watching(self) -> None:
        with self._lock:
            watch, self._watch = self._watch, None
        if watch is not None:
            watch[0].stop()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            observers = self.observer, self._previous_observer
        self._stop_watching()
        for observer in observers:
            if observer is not None and not self.can_revert:
                observer.close()


def _is_same_conversation(event: Event, other: Event) -> bool:
    """Whether two events are of one session; if it is unknown, of one actor."""
    one, two = event.actor, other.actor
    if isinstance(one, Agent) and isinstance(two, Agent):
        return (one.name, one.session) == (two.name, two.session)
    return one == two


def _collect_changes(inbox: Inbox) -> set[tuple[object, ...]]:
    """The changes, without the marks on them."""
    return {(file.path, file.previous_path, file.before, file.after) for file in inbox.files}


def _describe_missing_hunks(file: ChangedFile, difference: TextDiff) -> tuple[str, str]:
    if file.sign == ">":
        return "Only the name changed", f"{to_one_line(file.previous_path)} is {to_one_line(file.path)} now."
    if not difference.old and not difference.new:
        return "The file is empty", "It has no lines to compare."
    return "No line differs", "Its content is unchanged."
