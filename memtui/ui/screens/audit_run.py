"""The run of an audit: start, progress, result, stop, and a new run after each change of the folder."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from textual import on
from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from memtui.audit.model import AuditCancelled
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.unicode import to_one_line
from memtui.review.inspection import AuditCallbacks
from memtui.ui.controller import Controller, controller_work
from memtui.ui.frame import Header, HeaderStatus
from memtui.ui.key_names import label_key
from memtui.ui.screens.above_browser import DiffPaneScreen
from memtui.ui.screens.audit_detail import DetailController
from memtui.ui.screens.audit_lists import explain_running_audit
from memtui.ui.screens.audit_messages import (
    AuditFailed,
    AuditFinished,
    AuditMessage,
    AuditProgressed,
    AuditStarted,
    FamilyChecked,
    FolderChanged,
    InboxRead,
)
from memtui.ui.screens.dialogs import LinesScreen
from memtui.ui.widgets import finding_detail
from memtui.ui.widgets.audit_summary import LOOKING, AuditSummaryView

_QUIET_SECONDS = 0.5
"""How long a watched folder must not change before a new audit."""
_MOST_DELAY_SECONDS = 2.0
"""After so long the audit runs while the folder still changes."""
_NOTHING = "Nothing was written."
_VERDICT_KEYS = (("accept", "reviewed"), ("note", "comment"), ("flag", "flag"))


class RunController(Controller[DiffPaneScreen]):
    """Runs the audit, again at each change of the folder if `watch` is set."""

    def __init__(self, screen: DiffPaneScreen, detail: DetailController, *, watch: bool, program: str) -> None:
        super().__init__(screen)
        self.lists = detail.lists
        self.detail = detail
        self.header = Header()
        self.summary = AuditSummaryView(budget=self.lists.inspection.settings.max_total_tokens, id="summary")
        self.audit_worker: Worker[None] | None = None
        self._wants_watch = watch
        self._end_watch: Callable[[], None] | None = None
        self._pending_audit: Timer | None = None
        self._changing_since = 0.0
        self._keeps_message = False
        self._result_text = ""
        inspection = self.lists.inspection
        self._status = HeaderStatus(
            inspection.title, read_only=not inspection.can_revert, live="opening", follow=None, program=program
        )

    def show_start(self) -> None:
        self.screen.message.show_message(
            f"Auditing {to_one_line(self.lists.inspection.title)}. Nothing is changed.", is_news=True
        )
        self.header.status = self._status

    def start_audit(self) -> None:
        """Open the folder, and audit it; behind the first frame."""
        self.audit_worker = self._run_audit(begin=True)
        self.show_status()

    def close_inspection(self) -> None:
        """Stop watching and close the folder; from a thread, after the worker was cancelled."""
        self._stop_watching()
        self.lists.inspection.close()

    def _is_current_run(self, message: AuditMessage) -> bool:
        return message.worker is not None and message.worker is self.audit_worker

    @on(AuditStarted)
    def _handle_audit_started(self, message: AuditStarted) -> None:
        if self._wants_watch and self._is_current_run(message):
            self._start_watching()
        self.show_status()

    @on(AuditProgressed)
    def _show_progress(self, message: AuditProgressed) -> None:
        if self._is_current_run(message):
            count = f" {message.done:,} of {message.of:,}" if message.of else ""
            self.summary.progress = f"auditing: {to_one_line(message.what)}{count}   {label_key('audit.back')} stops"

    @on(InboxRead)
    def _handle_inbox(self, message: InboxRead) -> None:
        if self._is_current_run(message):
            self.lists.inbox = self.summary.inbox = message.inbox
            self.lists.show_changes()

    @on(FamilyChecked)
    def _handle_findings(self, message: FamilyChecked) -> None:
        if self._is_current_run(message):
            self.lists.so_far.extend(message.findings)
            if self.lists.audit is None:
                self.summary.so_far = Counter(each.severity for each in self.lists.so_far)
                self.lists.show_lists()

    @on(AuditFinished)
    def _handle_audit(self, message: AuditFinished) -> None:
        if not self._is_current_run(message):
            return
        audit = message.audit
        self.lists.audit, self.lists.so_far, self.audit_worker, self.detail.text = audit, [], None, None
        self.lists.inbox = audit.inbox if audit.inbox is not None else self.lists.inbox
        self.summary.progress = ""
        self.summary.audit, self.summary.inbox = audit, self.lists.inbox
        self.summary.enforced = "kernel: no writes" if self.lists.inspection.is_confined else ""
        self.show_status()
        self.lists.show_lists()
        self.detail.show_detail(keep_place=True)
        if not self._keeps_message or self.screen.message.text == self._result_text:  # its numbers are outdated
            self.report_result()
        self._keeps_message = False

    def report_result(self) -> None:
        """Report the result, with the keys that lead on."""
        audit, inbox = self.lists.audit, self.lists.inbox
        assert audit is not None
        if inbox is not None and inbox.problem:
            self.screen.message.show_message(to_one_line(inbox.problem), warning=True)
            return
        left = self.lists.unreviewed_count if inbox else 0
        files = len(inbox.files) if inbox else 0
        words = " ".join(self.lists.explain_no_changes())
        if files:
            words = f"{files - left:,} of {files:,} changed files reviewed."
        keys: list[str] = []
        if left and self.lists.shows_changes:
            keys = [f"{label_key(f'audit.{name}')} {word}" for name, word in _VERDICT_KEYS]
        elif left:
            keys = [f"{label_key('audit.changes')} goes to them"]
        if any(finding.masked for finding in audit.findings):
            keys.append(f"{label_key('audit.reveal')} reveal (asks first)")
        room = self.screen.size.width - 4 - len(words)
        while keys and len("   ".join(keys)) > room:
            keys.pop(-2 if len(keys) > 2 else -1)
        self._result_text = words
        self.screen.message.show_message(words, hint="   ".join(keys), is_news=True)

    def go_to_list(self, *, on_changes: bool) -> None:
        if self.lists.shows_changes != on_changes:
            self.lists.shows_changes = on_changes
            self.detail.reset_reveal()
            self.detail.show_detail()
            if self.lists.audit is not None and self.screen.message.text == self._result_text:
                self.report_result()  # its keys are those of this list

    @on(AuditFailed)
    def _show_failure(self, message: AuditFailed) -> None:
        if self._is_current_run(message):
            more = [] if _NOTHING in message.words else [_NOTHING]
            self.lists.no_audit_reason = ("The audit failed.", message.words, *more)
            self._show_audit_end(message.words, "The audit failed.", "")

    def stop_audit(self) -> None:
        """Stop at once; later messages of the thread are ignored."""
        if self.audit_worker is not None:
            self.audit_worker.cancel()
            again = f"{label_key('audit.rescan')} runs it again."
            self.lists.no_audit_reason = ("The audit was stopped.", again)
            self._show_audit_end(f"The audit was stopped. {again}", "The audit is incomplete.", "stopped")

    def _show_audit_end(self, words: str, state: str, progress: str) -> None:
        self.audit_worker = None
        self.summary.progress, self.summary.state = progress, state
        self.show_status()
        self.screen.message.show_message(words, warning=True)
        if self.lists.audit is None:
            self.detail.show_detail(keep_place=True)

    @on(FolderChanged)
    def _schedule_audit(self) -> None:
        """Run the audit once the folder has been quiet for a moment, or has kept changing for long."""
        now = time.monotonic()
        if self._pending_audit is not None:
            if now - self._changing_since > _MOST_DELAY_SECONDS:
                return  # a folder that never is quiet is audited all the same
            self._pending_audit.stop()
        else:
            self._changing_since = now
        self._pending_audit = self.screen.set_timer(_QUIET_SECONDS, self._audit_after_change)

    def _audit_after_change(self) -> None:
        self._pending_audit = None
        if self.audit_worker is not None:
            self._schedule_audit()  # what is being looked at may be old already
        elif self._end_watch is not None:
            self.rerun_audit(keep_words=True)

    def handle_new_events(self, last: int) -> None:
        """Run the audit again, or report that it is outdated."""
        if self.lists.audit is not None and last <= self.lists.audit.events:
            return  # it is in what is shown
        if self._end_watch is not None or self._wants_watch:
            self._schedule_audit()
        elif self.lists.audit is not None and self.audit_worker is None:
            self.screen.message.show_message(
                "The folder has changed since.", hint=f"{label_key('audit.rescan')} runs the audit again", is_news=True
            )

    def rerun_audit(self, *, keep_words: bool = False) -> None:
        """Run the audit again; the present result stays until then."""
        self._keeps_message = keep_words
        self.lists.so_far = []
        self.lists.no_audit_reason = explain_running_audit()
        self.summary.state, self.summary.so_far = LOOKING, {}
        self.audit_worker = self._run_audit(begin=self.lists.observer is None)
        self.show_status()

    @controller_work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def _run_audit(self, *, begin: bool) -> None:
        worker = get_current_worker()

        def tell(message: AuditMessage) -> None:
            if not worker.is_cancelled:
                message.worker = worker
                self.screen.post_message(message)

        callbacks = AuditCallbacks(
            progress=lambda what, done, of: tell(AuditProgressed(what, done, of)),
            inbox=lambda inbox: tell(InboxRead(inbox)),
            found=lambda found: tell(FamilyChecked(found)),
            stop=lambda: worker.is_cancelled,
        )
        try:
            if begin:
                self.lists.inspection.open_folder()
                tell(AuditStarted())
            tell(AuditFinished(self.lists.inspection.run_audit(callbacks)))
        except (MemoryClosed, AuditCancelled):
            return
        except (MemtuiError, OSError) as error:
            tell(AuditFailed(str(error)))
        except Exception as error:  # without these words the screen would say for ever that it is looking
            tell(AuditFailed(f"The audit stopped because of a bug: {error!r}. {_NOTHING}"))

    def action_rescan(self) -> None:
        if self.lists.observer is None and self.audit_worker is not None:
            self.screen.message.show_message("Opening the folder. Try again in a moment.")
            return
        self.screen.message.show_message("Running the audit again.")
        self.rerun_audit()

    def action_watch(self) -> None:
        """Run the audit again at each change, or no longer."""
        if self._end_watch is not None:
            self._wants_watch = False
            self._stop_watching()
            self.screen.message.show_message(f"Live audit off. {label_key('audit.rescan')} runs it again.")
        elif self.lists.observer is None:
            self.screen.message.show_message("The folder is not open.")
        else:
            self._wants_watch = True
            self._start_watching()
            words = f"Live audit on: runs again at each change. {label_key('audit.watch')} turns it off."
            self.screen.message.show_message(words)
            self.rerun_audit(keep_words=True)
        self.show_status()

    def action_about(self) -> None:
        """Show the rules, the settings and the limits of this audit."""
        if self.lists.audit is None:
            self.lists.show_no_audit_reason()
        else:
            lines = finding_detail.build_audit_page(self.lists.audit, self.lists.inspection.enforced)
            self.app.push_screen(LinesScreen("About this audit", lines))

    def _start_watching(self) -> None:
        if self._end_watch is None:
            self._end_watch = self.lists.inspection.watch(lambda: self.screen.post_message(FolderChanged()))

    def _stop_watching(self) -> None:
        end, self._end_watch = self._end_watch, None
        if end is not None:
            end()

    def show_status(self) -> None:
        """Show the age of the result in the header."""
        taken = self.lists.audit.taken_us / 1e6 if self.lists.audit else 0.0
        clock = datetime.fromtimestamp(taken).strftime("%H:%M:%S") if taken else ""
        live = f"snapshot {clock}" if clock else "auditing" if self.audit_worker else "stopped"
        if self._end_watch is not None:
            live = f"watching {clock}".rstrip()
        self._status = replace(self._status, live=live)
        self.header.status = self._status
