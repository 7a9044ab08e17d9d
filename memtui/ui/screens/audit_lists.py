"""The lists of the audit screen: the findings and the changes, sorted and filtered, and what both are made from."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual import on
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from memtui.audit.model import Audit, AuditFinding
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.review.inbox import ChangedFile, Inbox
from memtui.review.inspection import Inspection
from memtui.ui import frame
from memtui.ui.controller import Controller, controller_work
from memtui.ui.key_names import label_key
from memtui.ui.screens.above_browser import DiffPaneScreen
from memtui.ui.screens.dialogs import Choice, MenuScreen
from memtui.ui.theme import truncate_middle
from memtui.ui.widgets.changes import ChangedFileRow, ChangesView, build_change_rows, filter_unreviewed
from memtui.ui.widgets.findings import (
    FindingFilter,
    FindingOrder,
    FindingRow,
    FindingsView,
    build_finding_rows,
    parse_filter,
    sort_findings,
)
from memtui.ui.widgets.row_list import FoldList, ItemList

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Observer


_ENDS = 6
"""Cells of a pane's upper edge that its title cannot have."""
_TYPING_SECONDS = 0.05


def explain_running_audit() -> Sequence[str]:
    """The sentences in place of a result."""
    return "The audit is running.", f"Findings are listed as they come. {label_key('audit.back')} stops it."


_SORTS = (
    Choice("s", "by danger, highest first", "danger"),
    Choice("p", "by path", "path"),
    Choice("r", "by rule", "rule"),
    Choice("t", "by time, newest first", "time"),
)


class ListsController(Controller[DiffPaneScreen]):
    """Holds the audit and the inbox, and lists them.

    Args:
        screen: The audit screen.
        inspection: The audited folder.
        on_changes: Whether the changes are the current list at first, and not the findings.
    """

    def __init__(self, screen: DiffPaneScreen, inspection: Inspection, *, on_changes: bool = False) -> None:
        super().__init__(screen)
        self.findings = FindingsView(id="findings", classes="pane")
        self.changes = ChangesView(id="changes", classes="pane")
        self.filter_input = Input(placeholder="words  actor: session: path: rule:", compact=True, id="filter")
        self.count = Static(id="count", markup=False)
        self.inspection = inspection
        self.shows_changes = on_changes
        self.audit: Audit | None = None
        self.inbox: Inbox | None = None
        self.unreviewed_count = 0
        """Changed files without a verdict."""
        self.no_audit_reason: Sequence[str] = explain_running_audit()
        """The sentences in place of an audit."""
        self.so_far: list[AuditFinding] = []
        """The findings of an audit that is not finished."""
        self.opened: set[object] = set()
        """The keys of unfolded groups and runs."""
        self._had_audit = False
        self._order = FindingOrder.DANGER
        self._row_filter = FindingFilter()
        self._shows_excepted = False
        self._filter_timer: Timer | None = None
        self._titles = frame.PaneTitles()

    @property
    def observer(self) -> "Observer | None":
        return self.inspection.observer

    @property
    def current(self) -> ItemList[Any]:
        return self.changes if self.shows_changes else self.findings

    @property
    def file(self) -> ChangedFile | None:
        """The changed file under the cursor, in the list of changes."""
        row = self.changes.cursor_item if self.shows_changes else None
        return row.file if isinstance(row, ChangedFileRow) else None

    @property
    def finding(self) -> AuditFinding | None:
        """The finding under the cursor, in the list of findings."""
        item = None if self.shows_changes else self.findings.cursor_item
        return item.finding if isinstance(item, FindingRow) else None

    @property
    def rules(self) -> Mapping[str, Collection[str]]:
        """By path, the ids and families of the rules with a finding there."""
        found: dict[str, set[str]] = {}
        for each in self.audit.findings if self.audit else self.so_far:
            found.setdefault(each.location.path, set()).update((each.rule, str(each.family)))
        return found

    def show_lists(self) -> None:
        self.show_findings()
        self.show_changes()

    def show_findings(self) -> None:
        audit = self.audit
        if audit is not None:
            rows = build_finding_rows(
                audit, self._order, self._row_filter, excepted=self._shows_excepted, opened=self.opened
            )
            stays = self._had_audit and isinstance(self.findings.cursor_item, FindingRow)
            self.findings.show(rows, keep=stays or self.findings.is_moved)
            self._had_audit = True
        else:
            found = sort_findings(self.so_far, self._order)
            found_rows = [FindingRow(each) for each in found if self._row_filter.matches_finding(each)]
            self.findings.show(found_rows, keep=self.findings.is_moved)
        self.show_titles()

    def show_changes(self) -> None:
        if self.inbox is not None:
            self.unreviewed_count = len(filter_unreviewed(self.inbox.files))
            rules = self.rules if self._row_filter.rule else {}
            rows = build_change_rows(self.inbox, self._row_filter, rules, self.opened)
            self.changes.show(rows, notice=self.explain_no_changes())
            self.show_titles()

    def explain_no_changes(self) -> tuple[str, ...]:
        """Why there is no change to review, in sentences."""
        inbox, audit = self.inbox, self.audit
        if inbox is not None and inbox.files:
            return ("No change matches the filter.",)
        if audit is not None and audit.chain.state == "none":
            return ("No history of this folder:", "its changes are not known.")
        since = to_one_line(inbox.since_words) if inbox is not None else ""
        return ("Nothing to review:", f"nothing changed since {since or 'the beginning'}.")

    @on(Input.Changed, "#filter")
    def _apply_filter(self, event: Input.Changed) -> None:
        """Filter once after several quick letters: ten thousand rows cost a tenth of a second."""
        event.stop()
        self._row_filter = parse_filter(event.value)
        if self._filter_timer is not None:
            self._filter_timer.stop()
        self._filter_timer = self.screen.set_timer(_TYPING_SECONDS, self.show_lists)

    @on(Input.Submitted, "#filter")
    def _confirm_filter(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus_list()

    @on(FoldList.FoldToggled)
    def _unfold(self, message: FoldList.FoldToggled) -> None:
        (self.opened.add if message.is_open else self.opened.discard)(message.key)
        self.show_lists()

    def focus_list(self) -> None:
        self.current.focus()

    def action_narrow(self) -> None:
        self.screen.add_class("-narrowing")
        self.screen.call_after_refresh(self.filter_input.focus)

    @controller_work()
    async def action_sort(self) -> None:
        chosen = await self.app.push_screen_wait(MenuScreen("Sort the findings", _SORTS, current=self._order.value))
        if chosen is not None:
            self._order = FindingOrder(chosen)
            self.show_findings()
            self.screen.message.show_message(f"Sorted {next(each.label for each in _SORTS if each.value == chosen)}.")

    def action_excepted(self) -> None:
        if self.audit is None:
            self.show_no_audit_reason()
            return
        self._shows_excepted = not self._shows_excepted and bool(self.audit.excepted)
        if not self.audit.excepted:
            words = "There are no excepted findings."
        else:
            words = "Excepted findings are listed." if self._shows_excepted else "Excepted findings are not listed."
        self.screen.message.show_message(words)
        self.show_findings()

    def show_no_audit_reason(self) -> None:
        self.screen.message.show_message(" ".join(self.no_audit_reason))

    def show_titles(self) -> None:
        at, total = self.findings.position
        files = len(self.inbox.files) if self.inbox else 0
        one, three = f"1 Findings {total:,}" if total else "1 Findings", "3 Changes"
        changes = f"{three} {files:,}" if files else three
        is_stacked = self.screen.has_class("-stacked")
        sort = f"sort: {self._order.value}"
        excepted = "  with excepted" if self._shows_excepted else ""
        position, tab = f"{at:,} of {total:,}" if at else "", label_key("audit.next_pane")
        others = [""] if is_stacked else [f"   {tab}: {changes}", f"   {tab}: {three}", f"   {three}", ""]
        self.set_pane_title(self.findings, one, "   ".join(filter(None, (sort + excepted, position))), others)
        reviewed = f"{files - self.unreviewed_count:,} of {files:,} reviewed" if files else ""
        others = [""] if is_stacked else [f"   1: {one[2:]}", "   1: Findings", ""]
        self.set_pane_title(self.changes, changes, reviewed, others)
        listed = f"{format_count(total, 'finding')}, {format_count(len(self.changes.items), 'change')}"
        self.count.update(Content("" if self._row_filter.is_empty else listed))

    def set_pane_title(self, pane: Widget, title: str, subtitle: str = "", others: Sequence[str] = ("",)) -> None:
        """Set the titles of a pane.

        Args:
            pane: The pane.
            title: In the upper edge, cut in its middle where there is no room.
            subtitle: In the lower edge.
            others: The first of these that fits stands behind the title.
        """
        around = pane.parent  # one of two that stand in the same place has no width of its own yet
        place = around if isinstance(around, Widget) and around.id in ("lists", "beside") else pane
        width = place.outer_size.width or self.screen.size.width
        whole = next((title + other for other in others if cell_len(title + other) <= width - _ENDS), title)
        self._titles.set_title(pane, truncate_middle(whole, max(width - _ENDS, _ENDS)), subtitle)
