"""How the audit's screen comes to know what it shows: it looks, hears how far that is, and looks again at changes.

Threads look, and tell what they know as messages; here it is put where the lists and the summary find it.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from textual import getters, on, work
from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from memtui.audit.stopping import Stopped
from memtui.core.errors import Closed, MemtuiError
from memtui.core.visible import one_line
from memtui.ui import said_keys
from memtui.ui.audit.inspection import Inspection, Telling
from memtui.ui.audit.messages import Begun, Changed, Ended, FamilyLooked, InboxRead, Looked, OfLook, Progressed
from memtui.ui.audit.summary import LOOKING, SummaryView
from memtui.ui.frame import Header, Status
from memtui.ui.screens.audit_lists import GOES_ON
from memtui.ui.screens.audit_showing import AuditShowing

_CALM_SECONDS = 0.5
"""For how long nothing more may change before a folder that is watched is looked at again."""
_NEVER_CALM_SECONDS = 2.0
"""After so long it is looked at again even while it still changes."""
_NOTHING = "Nothing was written."


class AuditLooking(AuditShowing):
    """Looks at the folder.

    Args:
        inspection: What is asked.
        on_changes: Whether the changes have the focus at first, and not the findings.
        watch: Whether it looks again whenever something in the folder changes.
        program: What is said in the header to run.
    """

    header = getters.query_one(Header)
    summary = getters.query_one(SummaryView)

    def __init__(
        self, inspection: Inspection, *, on_changes: bool = False, watch: bool = False, program: str = "memtui audit"
    ) -> None:
        super().__init__(inspection, on_changes=on_changes)
        self._wants_watch = watch
        self._end_watch: Callable[[], None] | None = None
        self._looking: Worker[None] | None = None
        self._calm: Timer | None = None
        self._changing_since = 0.0
        self._keeps_words = False
        self._told = ""
        self._status = Status(
            inspection.title, read_only=not inspection.reverts, live="opening", follow=None, program=program
        )

    def begin_to_look(self) -> None:
        """Open the folder, and look at it."""
        self.message.say(f"Looking at {one_line(self._inspection.title)}. Nothing is changed.", is_news=True)
        self._looking = self._look(begin=True)
        self.show_status()

    def end_looking(self) -> None:
        """Stop what goes on, and close the folder; from a thread, once the worker is told to stop."""
        self._stop_watching()
        self._inspection.close()

    # What threads tell

    def _is_wanted(self, message: OfLook) -> bool:
        return message.look is not None and message.look is self._looking

    @on(Begun)
    def _begin_watch(self, message: Begun) -> None:
        if self._wants_watch and self._is_wanted(message):
            self._begin_to_watch()
        self.show_status()

    @on(Progressed)
    def _show_progress(self, message: Progressed) -> None:
        if self._is_wanted(message):
            count = f" {message.done:,} of {message.of:,}" if message.of else ""
            self.summary.progress = f"looking: {one_line(message.what)}{count}   Esc stops"

    @on(InboxRead)
    def _take_inbox(self, message: InboxRead) -> None:
        if self._is_wanted(message):
            self._inbox = self.summary.inbox = message.inbox
            self.show_changes()

    @on(FamilyLooked)
    def _take_findings(self, message: FamilyLooked) -> None:
        if self._is_wanted(message):
            self._so_far.extend(message.findings)
            if self._audit is None:
                self.summary.so_far = Counter(each.severity for each in self._so_far)
                self.show_lists()

    @on(Looked)
    def _take_audit(self, message: Looked) -> None:
        if not self._is_wanted(message):
            return
        audit = message.audit
        self._audit, self._so_far, self._looking, self._text = audit, [], None, None
        self._inbox = audit.inbox if audit.inbox is not None else self._inbox
        self.summary.progress = ""
        self.summary.audit, self.summary.inbox = audit, self._inbox
        self.summary.enforced = "kernel: no writes" if self._inspection.is_confined else ""
        self.show_status()
        self.show_lists()
        self.show_detail(keep_place=True)
        if not self._keeps_words or self.message.text == self._told:  # numbers that are no longer so are told anew
            self.tell_result()
        self._keeps_words = False

    def tell_result(self) -> None:
        """Say what came of it, and which keys lead on."""
        audit, inbox = self._audit, self._inbox
        assert audit is not None
        if inbox is not None and inbox.problem:
            self.message.say(one_line(inbox.problem), warning=True)
            return
        left = self._left if inbox else 0
        files = len(inbox.files) if inbox else 0
        words = f"{files - left:,} of {files:,} changed files reviewed." if files else " ".join(self.nothing_changed())
        keys = [f"{said_keys.said('audit.changes', '3')} goes to them"]
        if self._on_changes:
            keys = [f"{said_keys.said('audit.accept', 'Space')} reviewed", f"{said_keys.said('audit.note', 'm')} note"]
            keys.append(f"{said_keys.said('audit.flag', 'F')} flag")
        keys = keys if left else []
        if any(finding.masked for finding in audit.findings):
            keys.append(f"{said_keys.said('audit.reveal', 'X')} reveal (asks first)")
        room = self.size.width - 4 - len(words)
        while keys and len("   ".join(keys)) > room:
            keys.pop(-2 if len(keys) > 2 else -1)
        self._told = words
        self.message.say(words, hint="   ".join(keys), is_news=True)

    def go_to_list(self, *, on_changes: bool) -> None:
        """The person is at the other list now."""
        if self._on_changes != on_changes:
            self._on_changes = on_changes
            self.forget_reveal()
            self.show_detail()
            if self._audit is not None and self.message.text == self._told:
                self.tell_result()  # its keys are those of this list

    @on(Ended)
    def _show_failure(self, message: Ended) -> None:
        if self._is_wanted(message):
            said = [] if _NOTHING in message.words else [_NOTHING]
            self.why_no_audit = ("The audit could not be made.", message.words, *said)
            self._show_end(message.words, "It could not be looked at.", "")

    def stop_looking(self) -> None:
        """Stop at once, whatever the thread is at: what it still tells is not wanted any more."""
        if self._looking is not None:
            self._looking.cancel()
            again = f"{said_keys.said('audit.rescan', 'R')} looks again."
            self.why_no_audit = ("The audit was stopped.", again)
            self._show_end(f"The audit was stopped. {again}", "Not everything was looked at.", "stopped")

    def _show_end(self, words: str, state: str, progress: str) -> None:
        self._looking = None
        self.summary.progress, self.summary.state = progress, state
        self.show_status()
        self.message.say(words, warning=True)
        if self._audit is None:
            self.show_detail(keep_place=True)

    @on(Changed)
    def _look_soon(self) -> None:
        """Something changed: look again once it is calm, or has not been calm for long."""
        now = time.monotonic()
        if self._calm is not None:
            if now - self._changing_since > _NEVER_CALM_SECONDS:
                return  # the timer that runs is the last one: who writes without a pause is looked at all the same
            self._calm.stop()
        else:
            self._changing_since = now
        self._calm = self.set_timer(_CALM_SECONDS, self._look_after_change)

    def _look_after_change(self) -> None:
        self._calm = None
        if self._looking is not None:
            self._look_soon()  # what is being looked at may be old already
        elif self._end_watch is not None:
            self.look_again(keep_words=True)

    def take_news(self, last: int) -> None:
        """The session below saw a change: tell that this is how it was, or look again."""
        if self._audit is not None and last <= self._audit.events:
            return  # it is in what is shown
        if self._end_watch is not None or self._wants_watch:
            self._look_soon()
        elif self._audit is not None and self._looking is None:
            self.message.say("The folder has changed since.", hint="R looks again", is_news=True)

    def took_back(self) -> None:
        """What is shown is what was there before that."""
        self.look_again(keep_words=True)

    # Looking

    def look_again(self, *, keep_words: bool = False) -> None:
        """Look at everything once more; what is shown stays until it is known anew."""
        self._keeps_words = keep_words
        self._so_far = []
        self.why_no_audit = GOES_ON
        self.summary.state, self.summary.so_far = LOOKING, {}
        self._looking = self._look(begin=self._observer is None)
        self.show_status()

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def _look(self, *, begin: bool) -> None:
        worker = get_current_worker()

        def tell(message: OfLook) -> None:
            if not worker.is_cancelled:
                message.look = worker
                self.post_message(message)

        telling = Telling(
            progress=lambda what, done, of: tell(Progressed(what, done, of)),
            inbox=lambda inbox: tell(InboxRead(inbox)),
            found=lambda found: tell(FamilyLooked(found)),
            stop=lambda: worker.is_cancelled,
        )
        try:
            if begin:
                self._inspection.begin()
                tell(Begun())
            tell(Looked(self._inspection.look(telling)))
        except (Closed, Stopped):
            return
        except (MemtuiError, OSError) as error:
            tell(Ended(str(error)))
        except Exception as error:  # without these words the screen would say for ever that it is looking
            tell(Ended(f"The audit stopped because of a bug: {error!r}. {_NOTHING}"))

    def action_rescan(self) -> None:
        """Look at everything again."""
        if self._observer is None and self._looking is not None:
            self.message.say("The folder is being opened.")
            return
        self.message.say("Looking at everything again.")
        self.look_again()

    def action_watch(self) -> None:
        """Look again whenever something changes, or no longer."""
        if self._end_watch is not None:
            self._wants_watch = False
            self._stop_watching()
            self.message.say("What is shown stays as it is. R looks again.")
        elif self._observer is None:
            self.message.say("The folder is not open.")
        else:
            self._wants_watch = True
            self._begin_to_watch()
            self.message.say("Looking again at each change. W holds it still.")
            self.look_again(keep_words=True)
        self.show_status()

    def _begin_to_watch(self) -> None:
        if self._end_watch is None:
            self._end_watch = self._inspection.watch(self._tell_changed)

    def _tell_changed(self) -> None:
        """From the thread that watches."""
        self.post_message(Changed())

    def _stop_watching(self) -> None:
        end, self._end_watch = self._end_watch, None
        if end is not None:
            end()

    def show_status(self) -> None:
        """Say in the header how old it is what is shown."""
        taken = self._audit.taken_us / 1e6 if self._audit else 0.0
        clock = datetime.fromtimestamp(taken).strftime("%H:%M:%S") if taken else ""
        live = f"snapshot {clock}" if clock else "looking" if self._looking else "stopped"
        if self._end_watch is not None:
            live = f"LIVE {clock}".rstrip()
        self._status = replace(self._status, live=live)
        self.header.status = self._status
