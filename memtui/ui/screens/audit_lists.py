"""What the audit's screen knows, and its two lists: what was found, and what changed."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual import getters, on
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from memtui.audit.audit import Audit
from memtui.audit.findings import Finding
from memtui.audit.inbox import ChangedFile, Inbox
from memtui.core.visible import one_line
from memtui.ui import titles
from memtui.ui.audit import change_listing, listing
from memtui.ui.audit.change_listing import FileRow
from memtui.ui.audit.changes_view import ChangesView
from memtui.ui.audit.findings_view import FindingsView
from memtui.ui.audit.inspection import Inspection
from memtui.ui.audit.listing import FindingRow, Order
from memtui.ui.audit.narrowing import Narrowing, parsed
from memtui.ui.item_rows import ItemRows
from memtui.ui.screens.beside_diff import BesideDiff
from memtui.ui.text import fit_middle

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Observer

_ENDS = 6
"""Cells of a pane's upper edge that its title cannot have."""
_TYPING_SECONDS = 0.05
GOES_ON = ("The audit goes on.", "What it finds is listed as it comes. Esc stops it.")


class AuditLists(BesideDiff):
    """Lists an audit and an inbox.

    Args:
        inspection: What is asked.
        on_changes: Whether the changes have the focus at first, and not the findings.
    """

    findings = getters.query_one("#findings", FindingsView)
    changes = getters.query_one("#changes", ChangesView)
    line = getters.query_one("#filter", Input)

    def __init__(self, inspection: Inspection, *, on_changes: bool = False) -> None:
        super().__init__()
        self._inspection = inspection
        self._on_changes = on_changes
        self._audit: Audit | None = None
        self._inbox: Inbox | None = None
        self._left = 0
        """How many changed files nobody has said anything of."""
        self._had_audit = False
        self.why_no_audit: Sequence[str] = GOES_ON
        """Why there is no audit to be shown while there is none, in sentences."""
        self._so_far: list[Finding] = []
        self._order = Order.SEVERITY
        self._wanted = Narrowing()
        self._shows_excepted = False
        self._opened: set[int] = set()
        self._narrows: Timer | None = None
        self._titles = titles.Titles()

    # What is known

    @property
    def _observer(self) -> "Observer | None":
        return self._inspection.observer

    @property
    def is_on_changes(self) -> bool:
        """Whether the person is at the changes, and not at the findings."""
        return self._on_changes

    @property
    def current(self) -> ItemRows[Any]:
        """The list that the person is at."""
        return self.changes if self._on_changes else self.findings

    @property
    def file(self) -> ChangedFile | None:
        """The changed file that is under the cursor, while the person is at the changes."""
        row = self.changes.here if self._on_changes else None
        return row.file if isinstance(row, FileRow) else None

    @property
    def finding(self) -> Finding | None:
        """The finding under the cursor, while the person is at the findings."""
        item = None if self._on_changes else self.findings.here
        return item.finding if isinstance(item, FindingRow) else None

    @property
    def rules(self) -> Mapping[str, Collection[str]]:
        """By path, the ids and families of the rules that found something there."""
        found: dict[str, set[str]] = {}
        for each in self._audit.findings if self._audit else self._so_far:
            found.setdefault(each.place.path, set()).update((each.rule, str(each.family)))
        return found

    # The lists

    def show_lists(self) -> None:
        """Show the findings and the changes as they are known, sorted and narrowed as the person wants it."""
        self.show_findings()
        self.show_changes()

    def show_findings(self) -> None:
        """Show what was found, so far or at all."""
        audit = self._audit
        if audit is not None:
            rows = listing.rows_of(audit, self._order, self._wanted, excepted=self._shows_excepted)
            stays = self._had_audit and isinstance(self.findings.here, FindingRow)
            self.findings.show(rows, keep=stays or self.findings.is_moved)
            self._had_audit = True
        else:
            found = listing.sorted_findings(self._so_far, self._order)
            held = [FindingRow(each) for each in found if self._wanted.takes_finding(each)]
            self.findings.show(held, keep=self.findings.is_moved)
        self.show_titles()

    def show_changes(self) -> None:
        """Show what changed, as soon as it is known."""
        if self._inbox is not None:
            self._left = len(change_listing.unreviewed(self._inbox.files))
            rules = self.rules if self._wanted.rule else {}
            rows = change_listing.rows_of(self._inbox, self._wanted, rules, self._opened)
            self.changes.show(rows, notice=self.nothing_changed())
            self.show_titles()

    def nothing_changed(self) -> tuple[str, ...]:
        """Why there is no change to review, in sentences."""
        inbox, audit = self._inbox, self._audit
        if inbox is not None and inbox.files:
            return ("No change is listed with these words.",)
        if audit is not None and audit.chain.state == "none":
            return ("memtui has no record of this folder:", "what changed in it is not known.")
        since = one_line(inbox.since_words) if inbox is not None else ""
        return ("Nothing to review:", f"nothing changed since {since or 'the beginning'}.")

    @on(Input.Changed, "#filter")
    def _narrow(self, event: Input.Changed) -> None:
        """Once for several letters that come fast: of ten thousand rows each look costs a tenth of a second."""
        event.stop()
        self._wanted = parsed(event.value)
        if self._narrows is not None:
            self._narrows.stop()
        self._narrows = self.set_timer(_TYPING_SECONDS, self.show_lists)

    @on(Input.Submitted, "#filter")
    def _keep(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus_list()

    @on(ChangesView.Unfolded)
    def _unfold(self, message: ChangesView.Unfolded) -> None:
        (self._opened.add if message.is_open else self._opened.discard)(message.first)
        self.show_changes()

    def focus_list(self) -> None:
        """To the list that the person is at."""
        self.current.focus()

    # Their edges

    def show_titles(self) -> None:
        """The words in the edges of the lists."""
        at, total = self.findings.position
        files = len(self._inbox.files) if self._inbox else 0
        one, three = f"1 Findings {total:,}" if total else "1 Findings", "3 Changes"
        changes = f"{three} {files:,}" if files else three
        is_stacked = self.has_class("-stacked")
        sort = f"sort: {self._order.value}"
        excepted = "  with excepted" if self._shows_excepted else ""
        position = f"{at:,} of {total:,}" if at else ""
        others: Sequence[str] = ("",) if is_stacked else (f"   Tab: {changes}", f"   Tab: {three}", f"   {three}", "")
        self.title_pane(self.findings, one, "   ".join(word for word in (sort + excepted, position) if word), others)
        reviewed = f"{files - self._left:,} of {files:,} reviewed" if files else ""
        others = ("",) if is_stacked else (f"   1: {one[2:]}", "   1: Findings", "")
        self.title_pane(self.changes, changes, reviewed, others)
        listed = f"{_counted(total, 'finding')}, {_counted(len(self.changes.items), 'change')}"
        self.query_one("#count", Static).update(Content("" if self._wanted.is_empty else listed))

    def title_pane(self, pane: Widget, title: str, subtitle: str = "", others: Sequence[str] = ("",)) -> None:
        """Put words into the edges of a pane.

        Args:
            pane: Which.
            title: What stands in the upper edge, cut in its middle where there is no room.
            subtitle: What stands in the lower one.
            others: Behind the title stands the first of these that there is room for.
        """
        around = pane.parent  # one of two that stand in the same place has no width of its own yet
        place = around if isinstance(around, Widget) and around.id in ("lists", "beside") else pane
        width = place.outer_size.width or self.size.width
        whole = next((title + other for other in others if cell_len(title + other) <= width - _ENDS), title)
        self._titles.put(pane, fit_middle(whole, max(width - _ENDS, _ENDS)), subtitle)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
