"""The review on the audit screen: verdicts, revert, end of the review, masked text, and export."""

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from memtui.core import wording
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import format_path
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.review.inbox import ChangedFile, ChangedHunk, MarkedFinding, ReviewMark, ReviewVerdict
from memtui.review.inspection import FORMATS
from memtui.ui.controller import Controller, controller_work
from memtui.ui.key_names import ENTER, join_labels, label_key
from memtui.ui.messages import report_errors
from memtui.ui.screens.above_browser import DiffPaneScreen
from memtui.ui.screens.audit_lists import ListsController
from memtui.ui.screens.audit_run import RunController
from memtui.ui.screens.dialogs import Choice, ConfirmScreen, MenuScreen, PromptScreen
from memtui.ui.theme import truncate_middle
from memtui.ui.widgets import changes
from memtui.ui.widgets.changes import ChangedFileRow, ChangeRunRow, get_row_files
from memtui.ui.widgets.finding_detail import join_names

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine


_WORDS = {ReviewVerdict.ACCEPT: "Accepted", ReviewVerdict.FLAG: "Flagged", ReviewVerdict.NOTE: "Commented on"}
_MOST_UNDECIDED = 6
"""Findings that are listed before a review is ended in spite of them."""
_SHORTEST = 8
"""Least cells of a file's name in a question."""


@dataclass(frozen=True, slots=True)
class _PendingVerdict:
    """A verdict on what was shown when the key was pressed; `subject` names it in a sentence."""

    files: Sequence[ChangedFile]
    verdict: ReviewVerdict
    subject: str
    hunk: ChangedHunk | None = None
    words: str = ""


class VerdictController(Controller[DiffPaneScreen]):
    """Records verdicts, one after the other, reverts changes and ends the review."""

    def __init__(self, screen: DiffPaneScreen, run: RunController) -> None:
        super().__init__(screen)
        self.lists = run.lists
        self.detail = run.detail
        self.run = run

    def action_review(self, verdict: str) -> None:
        """Accept, flag or annotate the file under the cursor, or all files of a run."""
        row = self.lists.changes.cursor_item if self.lists.shows_changes else None
        files = get_row_files(row) if row is not None else ()
        if not files:
            self._explain_findings()
            return
        what = wording.format_file_count(len(files)) if isinstance(row, ChangeRunRow) else to_one_line(files[0].path)
        self._review(_PendingVerdict(files, ReviewVerdict(verdict), what))

    def action_review_hunk(self, verdict: str) -> None:
        """Accept, flag or annotate the hunk under the cursor."""
        file, hunk = self.lists.file, self.detail.hunk
        if file is None:
            self._explain_findings()
        elif hunk is None:
            self.screen.message.show_message(
                f"No hunk here. {label_key('audit.accept')} and {label_key('audit.flag')} apply to the whole file."
            )
        else:
            subject = f"hunk {self.detail.diff.position[0]} of {to_one_line(file.path)}"
            self._review(_PendingVerdict((file,), ReviewVerdict(verdict), subject, hunk))

    def _explain_findings(self) -> None:
        self.screen.message.show_message(f"Only changes are reviewed. {label_key('audit.changes')} goes to them.")

    def _review(self, pending: _PendingVerdict) -> None:
        if pending.verdict is ReviewVerdict.ACCEPT:
            self._go_to_next(pending)  # at once: the next key may be on its way, and means the next file
            self._record_verdict(pending)
        else:
            self._ask_comment(pending)

    @controller_work(exclusive=True, group="ask")
    async def _ask_comment(self, pending: _PendingVerdict) -> None:
        if pending.verdict is ReviewVerdict.NOTE:
            question, hint = "Comment on", f"{ENTER} writes it to the review file. {label_key('prompt.back')} cancels."
        else:
            question, hint = "Flag", f"Reason (optional). {ENTER} flags it, {label_key('prompt.back')} cancels."
        name = truncate_middle(pending.subject, max(self.screen.size.width // 2 - len(question), _SHORTEST))
        words = await self.app.push_screen_wait(PromptScreen(f"{question} {name}:", hint))
        if words is None or (pending.verdict is ReviewVerdict.NOTE and not words):
            return
        if pending.verdict is ReviewVerdict.FLAG:
            self._go_to_next(pending)
        self._record_verdict(replace(pending, words=words))

    @controller_work(group="judge")
    async def _record_verdict(self, pending: _PendingVerdict) -> None:
        async with self.screen.change_lock:
            failures = self._list_failures(pending)
            record = partial(
                self.lists.inspection.record_verdict, hunk=pending.hunk, words=pending.words, findings=failures
            )
            try:
                marks = await asyncio.to_thread(record, pending.files, pending.verdict)
            except MemoryClosed:
                return
            except (MemtuiError, OSError) as error:
                self.screen.message.show_message(str(error), warning=True)
                if len(pending.files) == 1:
                    self.lists.changes.go_to(pending.files[0].path)
                return
            self._apply_marks(marks, pending.hunk)
        self._report_verdict(pending.verdict, pending.subject, [each for mark in marks for each in mark.findings])

    def _list_failures(self, pending: _PendingVerdict) -> Sequence[MarkedFinding]:
        """The listed findings that must not stay with which one file is accepted; of a run nobody has read them."""
        from memtui.review.sign_off import list_failures  # noqa: PLC0415 - start-up: loads the reports

        audit = self.lists.audit
        if audit is None or pending.verdict is not ReviewVerdict.ACCEPT or len(pending.files) != 1:
            return ()
        return list_failures(audit, pending.files[0].path, () if pending.hunk is None else (pending.hunk,))

    def _apply_marks(self, marks: Sequence[ReviewMark], hunk: ChangedHunk | None) -> None:
        """Show the recorded marks without a new audit."""
        inbox, shown = self.lists.inbox, self.detail.change
        if inbox is None:
            return
        of_files: dict[str, tuple[ReviewMark, ...]] = {}
        for mark in marks:
            if not mark.hunk:
                of_files[mark.path] = (*of_files.get(mark.path, ()), mark)
            elif shown is not None and hunk is not None and shown.file.path == mark.path:
                hunks = (
                    replace(each, marks=(*each.marks, mark)) if each.fingerprint == hunk.fingerprint else each
                    for each in shown.comparison.hunks
                )
                shown.comparison = replace(shown.comparison, hunks=tuple(hunks))
        files = tuple(
            replace(each, marks=(*each.marks, *of_files[each.path])) if each.path in of_files else each
            for each in inbox.files
        )
        self.lists.inbox = replace(inbox, files=files, marks=(*inbox.marks, *marks))
        self.lists.show_changes()
        if self.lists.shows_changes:
            self.detail.show_detail(keep_place=True)

    def _report_verdict(self, verdict: ReviewVerdict, what: str, failures: Sequence[MarkedFinding]) -> None:
        if failures:
            number = format_count(len(failures), "failure")
            what += f" despite {number}: {join_names(each.rule for each in failures)}"
        total, left = len(self.lists.inbox.files) if self.lists.inbox else 0, self.lists.unreviewed_count
        words = f"{_WORDS[verdict]} {what}. {total - left:,} of {total:,} changed files reviewed."
        self.screen.message.show_message(words, hint="" if left else f"{label_key('audit.done')} ends the review")

    def _go_to_next(self, pending: _PendingVerdict) -> None:
        """Go to the next hunk, or the next row."""
        if pending.hunk is None:
            self.lists.changes.action_rows(1)
            return
        number, total = self.detail.diff.position
        if number < total:
            self.detail.diff.action_hunk(1)

    @controller_work(exclusive=True, group="revert")
    async def revert(self) -> None:
        """Revert the hunk, or all changes of the file; asks first, and can be undone."""
        file, hunk = self.lists.file, self.detail.hunk
        if not self.lists.inspection.can_revert or self.lists.observer is None:
            self.screen.message.show_message(self.screen.read_only_reason, warning=True)
            return
        if file is None:
            self.screen.message.show_message(
                f"Choose one file: {label_key('audit.open_change')} shows the files of the run."
            )
            return
        choices = []
        number, total = self.detail.diff.position
        if hunk is not None and total > 1:
            choices.append(Choice("h", f"this hunk, {number} of {total}", "hunk"))
        what = {"+": "delete it", "-": "restore it", ">": "rename it back"}.get(file.sign, "its earlier text")
        choices.append(Choice("f", f"the whole file: {what}", "file"))
        choices.append(Choice("n", "nothing: keep it as it is", ""))
        chosen = await self.app.push_screen_wait(MenuScreen(f"Revert in {file.path}", choices))
        if not chosen:
            return
        taken = hunk if chosen == "hunk" else None
        name, part = to_one_line(file.path), "all changes of" if taken is None else f"hunk {number} in"
        with report_errors(self.screen.post_message):
            async with self.screen.change_lock:
                restored = await asyncio.to_thread(
                    self.lists.inspection.revert, cast("Engine", self.lists.observer), file, taken
                )
            if restored.event is not None and not restored.problem:
                self.screen.last_event_seq = restored.event.seq
                words = f"Reverted {part} {name}. {label_key('browse.undo')} undoes that."
                self.screen.message.show_message(words, held=5.0)
            else:
                words = restored.problem or f"{name} already has that text. Nothing was changed."
                self.screen.message.show_message(words, warning=True)
            self.run.rerun_audit(keep_words=True)

    @controller_work(exclusive=True, group="done")
    async def action_done(self) -> None:
        """End the review, after naming the files without a verdict."""
        inbox = self.lists.inbox
        if inbox is None:
            self.screen.message.show_message("The changes have not been read yet.")
            return
        left = changes.filter_unreviewed(inbox.files)
        words = "All changes are reviewed." if inbox.files else "Nothing changed since the last review."
        if left:
            verb = "is" if len(left) == 1 else "are"
            paths = join_names([each.path for each in left])
            words = f"{len(left):,} of {len(inbox.files):,} changed files {verb} not reviewed: {paths}."
        audit, reason = self.lists.audit, ""
        if audit is None:
            self.screen.message.show_message("Not signed off: the audit is still running.")
            return
        with report_errors(self.screen.post_message):
            undecided = await asyncio.to_thread(self.lists.inspection.find_undecided, audit)
            if undecided:
                reason = await self._ask_reason(undecided)
                if not reason:
                    return
            calm = f"The next review starts from here. {join_labels('ask.no')}: keep reviewing."
            if not await self.app.push_screen_wait(ConfirmScreen(f"End the review? {words}", calm)):
                return
            async with self.screen.change_lock:
                mark = await asyncio.to_thread(self.lists.inspection.finish, inbox, audit, reason)
            at = time.strftime("%H:%M:%S", time.localtime(mark.at_us / 1e6))
            place = to_one_line(self.lists.inspection.review_location)
            words = f"Review ended at {at}, event #{mark.seq}. Written to {place}."
            self.screen.message.show_message(words, held=5.0)
            self.run.rerun_audit(keep_words=True)

    async def _ask_reason(self, undecided: Sequence[MarkedFinding]) -> str:
        """Why the review is ended in spite of findings, which can be gone to; empty if it goes on."""
        from memtui.review.sign_off import format_place  # noqa: PLC0415 - start-up: loads the reports

        shown = undecided[:_MOST_UNDECIDED]
        choices = [Choice("", f"{format_place(each)}  {each.rule}", f"f{each.fingerprint}") for each in shown]
        if len(undecided) > len(shown):
            choices.append(Choice("", f"and {len(undecided) - len(shown):,} more", ""))
        choices += [Choice("s", "sign off with a reason", "sign"), Choice("n", "keep reviewing", "")]
        title = f"{format_count(len(undecided), 'failure')} without a decision"
        chosen = await self.app.push_screen_wait(MenuScreen(title, choices))
        if chosen is not None and chosen.startswith("f"):
            self._go_to_finding(chosen[1:])
        if chosen != "sign":
            return ""
        hint = f"It is written into the review file and every report. {label_key('prompt.back')} cancels."
        reason = await self.app.push_screen_wait(PromptScreen("Why sign off with failures?", hint))
        if reason == "":
            self.screen.message.show_message("Not signed off: no reason given. Nothing was written.", warning=True)
        return reason or ""

    def _go_to_finding(self, fingerprint: str) -> None:
        """Put the cursor on a finding."""
        self.run.go_to_list(on_changes=False)
        self.lists.focus_list()
        if self.lists.findings.go_to(fingerprint):
            accept, flag = label_key("audit.accept"), label_key("audit.flag")
            dismiss = label_key("audit.dismiss")
            words = f"{dismiss} dismisses it. In the changes, {accept} accepts its note, {flag} flags it."
            self.screen.message.show_message(words)

    def action_next_change(self) -> None:
        """Go to the next file without a verdict."""
        inbox = self.lists.inbox
        left = changes.filter_unreviewed(inbox.files) if inbox else []
        if not left or inbox is None:
            words = "All changes are reviewed." if inbox and inbox.files else "Nothing to review."
            self.screen.message.show_message(words)
            return
        here = self.lists.changes.cursor_item
        paths = [each.path for each in left]
        at = here.file.path if isinstance(here, ChangedFileRow) else ""
        target = left[(paths.index(at) + 1) % len(left) if at in paths else 0]
        if target.run is not None:
            self.lists.opened.update(ChangeRunRow(run, ()).key for run in inbox.runs if run.number == target.run)
            self.lists.show_lists()
        self.run.go_to_list(on_changes=True)
        self.lists.focus_list()
        if not self.lists.changes.go_to(target.path):
            self.screen.message.show_message(f"{to_one_line(target.path)} is not reviewed, but the filter hides it.")


# What the audit's screen shows only when somebody asks for it: what is masked, and what was there before.

_REVEAL = "Show masked values on this screen? Anyone who sees or records it can read them."
_REVEAL_PAST = "Its versions show the masked values. Open them? Anyone who sees the screen can read them."


class RevealController(Controller[DiffPaneScreen]):
    """Reveals secrets, and opens older versions."""

    def __init__(self, screen: DiffPaneScreen, run: RunController) -> None:
        super().__init__(screen)
        self.lists = run.lists
        self.detail = run.detail
        self.run = run

    @controller_work(exclusive=True, group="reveal")
    async def action_reveal(self) -> None:
        """Reveal the masked text after a question; or mask it again."""
        key = self.detail.shown_key
        if self.detail.is_revealed:
            self.detail.revealed = None
            self.screen.message.show_message("Values are masked.")
        elif not self.has_masked():
            self.screen.message.show_message("No values are masked here.")
            return
        else:
            confirm = ConfirmScreen(_REVEAL, "They are masked again when you move on.")
            if not await self.app.push_screen_wait(confirm) or key != self.detail.shown_key:
                return
            self.detail.revealed = key
            self.screen.message.show_message(
                "Values are revealed on this screen only.", hint=f"{label_key('audit.reveal')} masks them"
            )
        self.detail.show_detail(keep_place=True)

    def has_masked(self) -> bool:
        """Whether a text here is masked, or was until it was revealed."""
        file, finding, change = self.lists.file, self.lists.finding, self.detail.change
        if file is not None:
            return change is not None and change.file.path == file.path and change.is_masked
        return finding is not None and (finding.masked is not None or bool(self.detail.page.border_subtitle))

    def action_diff(self) -> None:
        """Show the change; of a finding, the one that brought it in."""
        if self.lists.shows_changes:
            self.detail.focus_detail()
        else:
            self._open_history(diff_first=True)

    def action_history(self) -> None:
        self._open_history(diff_first=False)

    @controller_work(exclusive=True, group="history")
    async def _open_history(self, *, diff_first: bool) -> None:
        file, finding, observer = self.lists.file, self.lists.finding, self.lists.observer
        path = file.path if file else finding.location.path if finding else ""
        if not path or observer is None:
            self.screen.message.show_message("The row under the cursor has no history.")
            return
        with report_errors(self.screen.post_message):
            if not await asyncio.to_thread(observer.history.versions_of, path, limit=1):
                self.screen.message.show_message(f"{to_one_line(path)} has no history.")
                return
            asks = self.has_masked() and not self.detail.is_revealed
            if not asks or await self.app.push_screen_wait(ConfirmScreen(_REVEAL_PAST)):
                self._push_history(cast("Engine", observer), path, finding.origin.seq if finding else None, diff_first)

    def _push_history(self, engine: "Engine", path: str, at: int | None, diff_first: bool) -> None:
        from memtui.ui.screens.history import HistoryScreen  # noqa: PLC0415 - start-up: loads the history

        title, live = self.lists.inspection.title, self.run.header.status.live
        self.app.push_screen(HistoryScreen(engine, path, title=title, diff_first=diff_first, at=at, live=live))


# A report of the audit, written to a file that the reviewer names: never inside the folder, never over another one.

_CHOICES = (
    Choice("m", "Markdown, for a pull request", "md"),
    Choice("h", "HTML, one file with charts", "html"),
    Choice("t", "plain text", "text"),
    Choice("j", "JSON, for programs", "json"),
    Choice("s", "SARIF 2.1.0, for code scanning", "sarif"),
    Choice("c", "CSV, for a spreadsheet", "csv"),
    Choice("u", "JUnit XML, for a CI server", "junit"),
    Choice("l", "JSON lines, for a log collector", "jsonl"),
)


class ExportController(Controller[DiffPaneScreen]):
    """Writes reports."""

    def __init__(self, screen: DiffPaneScreen, lists: ListsController) -> None:
        super().__init__(screen)
        self.lists = lists

    @controller_work(exclusive=True, group="export")
    async def action_export(self) -> None:
        """Ask for the format and the path, and write the report."""
        if self.lists.audit is None:
            self.lists.show_no_audit_reason()
            return
        export = partial(self.lists.inspection.export, self.lists.audit)
        format = await self.app.push_screen_wait(MenuScreen("Export a report", _CHOICES))
        if format is None:
            return
        usual = os.path.join(os.getcwd(), time.strftime(f"memtui-audit-%Y-%m-%d.{FORMATS[format]}"))
        hint = f"{ENTER} alone: {to_one_line(format_path(usual))}. Not in the folder. Secrets stay masked."
        given = await self.app.push_screen_wait(PromptScreen("Write to:", hint))
        if given is None:
            return
        path = os.path.abspath(os.path.expanduser(given)) if given else usual
        force = False
        while True:
            try:
                name = await asyncio.to_thread(partial(export, format, path, force=force))
            except FileExistsError:
                question = f"{to_one_line(format_path(path))} exists. Replace it?"
                if not await self.app.push_screen_wait(ConfirmScreen(question)):
                    self.screen.message.show_message("Nothing was written.")
                    return
                force = True
            except MemoryClosed:
                return
            except (MemtuiError, OSError) as error:
                self.screen.message.show_message(to_one_line(str(error)), warning=True)
                return
            else:
                self.screen.message.show_message(f"Wrote the report to {to_one_line(name)}.")
                return
