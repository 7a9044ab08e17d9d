"""What was done around what is under the cursor of the audit's screen: read once the cursor rests there."""

from collections.abc import Collection

from textual import getters, on, work
from textual.timer import Timer
from textual.worker import get_current_worker

from memtui.audit.inbox import ChangedFile
from memtui.core.errors import Closed, MemtuiError
from memtui.core.events import Outside
from memtui.ui.audit import calls
from memtui.ui.audit.calls import CallsView
from memtui.ui.audit.change_listing import FileRow
from memtui.ui.audit.inspection import Calls, Inspection
from memtui.ui.audit.listing import FindingRow
from memtui.ui.audit.messages import CallsRead
from memtui.ui.screens.audit_lists import AuditLists

_REST_SECONDS = 0.15
"""For how long the cursor rests before anything is read: a session file may have gigabytes."""


class AuditCalls(AuditLists):
    """Shows the calls around a finding or a change.

    Args:
        inspection: What is asked.
        on_changes: Whether the changes have the focus at first, and not the findings.
    """

    calls_view = getters.query_one("#calls", CallsView)

    def __init__(self, inspection: Inspection, *, on_changes: bool = False) -> None:
        super().__init__(inspection, on_changes=on_changes)
        self._calls: Calls | None = None
        self._calls_of: int | None = None
        self._rest: Timer | None = None

    @property
    def shows_calls(self) -> bool:
        """Whether there is room for a pane with the calls."""
        return self.has_class("-wide") and self.has_class("-high")

    def ask_for_calls(self, seq: int | None) -> None:
        """Read what was done around an event, once the cursor rests there; `None` where there is nothing to read."""
        if seq == self._calls_of:
            return
        self._calls_of = seq
        if self._rest is not None:
            self._rest.stop()
            self._rest = None
        self.show_calls(None)
        if seq is not None:
            self._rest = self.set_timer(_REST_SECONDS, lambda: self._read_calls(seq))

    @work(thread=True, exclusive=True, group="calls", exit_on_error=False)
    def _read_calls(self, seq: int) -> None:
        worker = get_current_worker()
        try:
            found = self._inspection.calls(seq)
        except Closed:
            return
        except (MemtuiError, OSError):
            found = Calls(seq)  # whatever it is, it is told where the audit itself meets it
        if not worker.is_cancelled:
            self.post_message(CallsRead(found))

    @on(CallsRead)
    def _take_calls(self, message: CallsRead) -> None:
        if message.calls.seq == self._calls_of:
            self.show_calls(message.calls)

    def show_calls(self, found: Calls | None) -> None:
        """Show them; nothing while they are not known."""
        self._calls = found
        self.calls_view.show_calls(found)
        self.title_pane(self.calls_view, calls.title(found))


def call_of(row: object) -> int | None:
    """The number of the call that brought in what a row is about; `None` where nobody is known to have made one."""
    match row:
        case FindingRow(finding):
            origin = finding.origin
            return origin.seq if origin.is_known and origin.actor != Outside().name else None
        case FileRow(file):
            return last_call(file)
        case _:
            return None


def last_call(file: ChangedFile, among: Collection[int] | None = None) -> int | None:
    """The number of the last call that changed a file; of some of them."""
    calls = (event.seq for event in reversed(file.events) if not isinstance(event.actor, Outside))
    return next((seq for seq in calls if among is None or seq in among), None)
