"""What the audit's screen shows of what it knows: the lists, and beside them what is under the cursor."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import getters, on, work
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from memtui.audit.audit import Audit
from memtui.audit.findings import Finding
from memtui.audit.inbox import ChangedFile, ChangedHunk, Inbox, Verdict
from memtui.audit.rule import Rule
from memtui.core.errors import Closed, MemtuiError
from memtui.core.visible import one_line
from memtui.ui import said_keys, titles
from memtui.ui.audit import change_listing, listing, pages
from memtui.ui.audit.around import around
from memtui.ui.audit.change_diff import AboutChange, ChangeDiff, Said
from memtui.ui.audit.change_listing import FileRow, RunRow
from memtui.ui.audit.changes_view import ChangesView
from memtui.ui.audit.findings_view import FindingsView
from memtui.ui.audit.inspection import Comparison, Inspection
from memtui.ui.audit.listing import FindingRow, Order, PassedRow, place_of
from memtui.ui.audit.masks import masked_difference, spans_in
from memtui.ui.audit.messages import ChangeRead, TextRead
from memtui.ui.audit.narrowing import Narrowing, parsed
from memtui.ui.audit.page import PageView
from memtui.ui.diff.layout import Comparison as Drawn
from memtui.ui.screens.beside_diff import BesideDiff
from memtui.ui.text import fit_middle

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Observer

LABELS = ("last review", "now")
_SHORT = ("then", "now")
_ENDS = 6
"""Cells of a pane's upper edge that its title cannot have."""


class AuditShowing(BesideDiff):
    """Shows an audit and an inbox.

    Args:
        inspection: What is asked.
        on_changes: Whether the changes have the focus at first, and not the findings.
    """

    findings = getters.query_one("#findings", FindingsView)
    changes = getters.query_one("#changes", ChangesView)
    page = getters.query_one("#page", PageView)
    rule_page = getters.query_one("#rule", PageView)
    change_diff = getters.query_one(ChangeDiff)
    about = getters.query_one(AboutChange)
    line = getters.query_one("#filter", Input)

    def __init__(self, inspection: Inspection, *, on_changes: bool = False) -> None:
        super().__init__()
        self._inspection = inspection
        self._on_changes = on_changes
        self._audit: Audit | None = None
        self._inbox: Inbox | None = None
        self._had_audit = False
        self._so_far: list[Finding] = []
        self._order = Order.SEVERITY
        self._wanted = Narrowing()
        self._shows_excepted = False
        self._opened: set[int] = set()
        self._revealed: tuple[str, ...] | None = None
        self._whole = False
        self._text: TextRead | None = None
        self._change: ChangeRead | None = None
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
    def rules(self) -> Mapping[str, Collection[str]]:
        """By path, the ids and families of the rules that found something there."""
        found: dict[str, set[str]] = {}
        for each in self._audit.findings if self._audit else self._so_far:
            found.setdefault(each.place.path, set()).update((each.rule, str(each.family)))
        return found

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
    def hunk(self) -> ChangedHunk | None:
        """The hunk that the person is at."""
        shown, (number, _) = self._change, self.diff.position
        if shown is None or self.file is None or shown.file.path != self.file.path:
            return None
        hunks = shown.comparison.hunks
        return hunks[number - 1] if 0 < number <= len(hunks) else None

    # The lists

    def show_lists(self) -> None:
        """Show the findings and the changes as they are known, sorted and narrowed as the person wants it."""
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
        if self._inbox is not None:
            rules = self.rules if self._wanted.rule else {}
            changed = change_listing.rows_of(self._inbox, self._wanted, rules, self._opened)
            self.changes.show(changed, self.nothing_changed())
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
        event.stop()
        self._wanted = parsed(event.value)
        self.show_lists()

    @on(Input.Submitted, "#filter")
    def _keep(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus_list()

    def focus_list(self) -> None:
        """To the list that the person is at."""
        (self.changes if self._on_changes else self.findings).focus()

    def show_titles(self) -> None:
        """The words in the edges of the panes."""
        at, total = self.findings.found
        files = self._inbox.files if self._inbox else ()
        left = len(change_listing.unreviewed(files))
        one, three = f"1 Findings {total:,}" if total else "1 Findings", "3 Changes"
        changes = f"{three} {len(files):,}" if files else three
        is_stacked = self.has_class("-stacked")
        sort = f"sort: {self._order.value}"
        excepted = "  with excepted" if self._shows_excepted else ""
        position = f"{at:,} of {total:,}" if at else ""
        others: Sequence[str] = ("",) if is_stacked else (f"   Tab: {changes}", f"   Tab: {three}", f"   {three}", "")
        self._title(self.findings, one, "   ".join(word for word in (sort + excepted, position) if word), others=others)
        reviewed = f"{len(files) - left:,} of {len(files):,} reviewed" if files else ""
        others = ("",) if is_stacked else (f"   1: {one[2:]}", "   1: Findings", "")
        self._title(self.changes, changes, reviewed, others=others)
        self.query_one("#count", Static).update(
            Content("" if self._wanted.is_empty else f"{total:,} and {self.changes.row_count:,}")
        )

    def _title(self, pane: Widget, title: str, subtitle: str = "", *, others: Sequence[str] = ("",)) -> None:
        """Put words into the edges of a pane, the title with the first of others behind it that there is room for."""
        around = pane.parent  # one of two that stand in the same place has no width of its own yet
        place = around if isinstance(around, Widget) and pane is not self.rule_page else pane
        width = place.outer_size.width or self.size.width
        whole = next((title + other for other in others if cell_len(title + other) <= width - _ENDS), title)
        self._titles.put(pane, fit_middle(whole, max(width - _ENDS, _ENDS)), subtitle)

    # What is under the cursor

    @on(FindingsView.Highlighted)
    def _show_item(self) -> None:
        if not self._on_changes:
            self._forget_reveal()
            self.show_detail()

    @on(ChangesView.Highlighted)
    def _show_row(self) -> None:
        if self._on_changes:
            self._forget_reveal()
            self.show_detail()

    @on(ChangesView.Unfolded)
    def _unfold(self, message: ChangesView.Unfolded) -> None:
        (self._opened.add if message.is_open else self._opened.discard)(message.first)
        self.show_lists()

    def _forget_reveal(self) -> None:
        """What was revealed is hidden again once the person is somewhere else."""
        if self._revealed is not None and self._revealed != self.shown_key:
            self._revealed = None

    @property
    def shown_key(self) -> tuple[str, ...]:
        """What is under the cursor, so that it is known when something else is."""
        if self._on_changes:
            row = self.changes.here
            return ("change", *row.key) if row else ()
        item = self.findings.here
        return ("finding", *map(str, item.key)) if item else ()

    @property
    def reveals(self) -> bool:
        """Whether the person asked to see what is masked here."""
        return self._revealed is not None and self._revealed == self.shown_key

    def show_detail(self, *, keep_place: bool = False) -> None:
        """Show what is known of what is under the cursor."""
        self.show_titles()
        row = self.changes.here if self._on_changes else None
        self.set_class(isinstance(row, FileRow), "-on-file")
        if self._on_changes:
            self._show_change(row, keep_place=keep_place)
        else:
            self._show_finding(keep_place=keep_place)
        self.refresh_bindings()

    def _show_finding(self, *, keep_place: bool) -> None:
        item = self.findings.here
        self.set_class(isinstance(item, FindingRow), "-on-finding")
        match item:
            case FindingRow(finding):
                self._write_finding(item, keep_place=keep_place)
                if finding.place.line is not None and (self._text is None or self._text.path != finding.place.path):
                    self._read(finding.place.path)
            case PassedRow(passed):
                self._title(self.page, f"2 {one_line(passed.name)}")
                self.page.show(pages.of_passed(passed))
            case _ if self._audit is not None:
                self._title(self.page, "2 Detail")
                self.page.show(pages.of_nothing(self._audit))
            case _:
                self._title(self.page, "2 Detail")
                self.page.show(pages.notice("The audit goes on.", "What it finds is listed as it comes. Esc stops it."))

    def _write_finding(self, row: FindingRow, *, keep_place: bool) -> None:
        finding, text = row.finding, self._text
        rule = rule_of(finding.rule)
        shown, problem, is_masked = None, "", finding.masked is not None
        if finding.place.line is not None and text is not None and text.path == finding.place.path:
            problem = text.problem
            if text.text is not None:
                spans = spans_in(text.text, self._masked_in(finding.place.path))
                is_masked = bool(spans)
                hidden = () if self.reveals else spans
                shown = around(text.text, finding.place, hidden, whole=self._whole)
        about = pages.About(finding, rule, shown, problem, row.excepted, self.reveals, is_masked)
        key = said_keys.said("audit.reveal", "X")
        is_wide = self.has_class("-wide")
        self.page.show(pages.of_finding(about, key, with_rule=not is_wide), keep_place=keep_place)
        self.rule_page.show(pages.of_rule(rule, finding.rule), keep_place=keep_place)
        self._title(self.rule_page, f"Rule {one_line(finding.rule)}")
        how = "revealed" if self.reveals else "masked" if is_masked else ""
        self._title(self.page, f"2 {one_line(place_of(finding))}", how)

    def _masked_in(self, path: str) -> list[Finding]:
        audit = self._audit
        held = [*audit.findings, *(each.finding for each in audit.excepted)] if audit else self._so_far
        return [each for each in held if each.place.path == path]

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read(self, path: str) -> None:
        worker = get_current_worker()
        text, problem = None, ""
        try:
            text = self._inspection.text(path)
            if text is None:
                problem = "It is no text, or it is gone."
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(TextRead(path, text, problem))

    @on(TextRead)
    def _take_text(self, message: TextRead) -> None:
        self._text = message
        if self.finding is not None and self.finding.place.path == message.path:
            self.show_detail(keep_place=True)

    # A change

    def _show_change(self, row: change_listing.Row | None, *, keep_place: bool) -> None:
        self.set_class(False, "-on-finding")
        match row:
            case RunRow(run, _, is_open):
                keys = f"Enter {'folds' if is_open else 'shows'} its files. Space accepts all of them."
                self._title(self.page, f"2 run by {one_line(run.actor)}")
                self.page.show(pages.of_run(run, keys), keep_place=keep_place)
            case FileRow(file):
                if (
                    self._change is None
                    or not _is_same(self._change.file, file)
                    or self._change.reveals != self.reveals
                ):
                    self._compare(file, self.reveals)
                else:
                    self._show_said()
            case _ if self._inbox is not None and not self._inbox.files:
                self._title(self.page, "2 Change")
                words = " ".join(self.nothing_changed())
                self.page.show(pages.notice(words, "What changes from now on will be listed here."))
            case _:
                self._title(self.page, "2 Change")
                words = "" if self._inbox else "What changed since the last review is being read."
                self.page.show(pages.notice(words or "No change is listed with these words."))

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def _compare(self, file: ChangedFile, reveals: bool) -> None:
        worker = get_current_worker()
        is_masked = False
        drawn = None
        try:
            found = self._inspection.compared(file)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            found = Comparison(None, (), "It cannot be compared", str(error))
        if found.difference is not None:
            shown, is_masked = masked_difference(found.difference)
            drawn = Drawn(found.difference if reveals else shown)
        if not worker.is_cancelled:
            self.post_message(ChangeRead(file, found, drawn, is_masked=is_masked, reveals=reveals))

    @on(ChangeRead)
    def _take_change(self, message: ChangeRead) -> None:
        file = self.file
        if file is None or not _is_same(file, message.file) or message.reveals != self.reveals:
            return  # the cursor is elsewhere by now
        again = self._change is not None and _is_same(self._change.file, message.file)
        self._change = message
        self.change_diff.name_file(one_line(file.path if self.size.width >= 110 else file.path.rpartition("/")[2]))
        if message.drawn is None:
            found = message.comparison
            self.diff.show_notice(found.notice, found.detail, labels=LABELS, short=_SHORT)
        else:
            remark = ""
            if message.is_masked:
                key = said_keys.said("audit.reveal", "X")
                remark = (
                    f"Values are shown; {key} hides them." if message.reveals else f"Values are masked; {key} reveals."
                )
            self.diff.show(message.drawn, LABELS, short=_SHORT, remark=remark, keep_place=again)
        self._show_said()

    @on(ChangeDiff.Moved)
    def _show_said(self) -> None:
        """Show what was said of the file and of the hunk."""
        file, shown = self.file, self._change
        if file is None or shown is None or not _is_same(file, shown.file):
            self.about.said = None
            return
        hunks = shown.comparison.hunks
        number, _ = self.diff.position
        signs: dict[int, Verdict] = {}
        for at, each in enumerate(hunks):
            judged = [mark.verdict for mark in each.marks if mark.verdict is not Verdict.NOTE]
            if judged:
                signs[at] = judged[-1]
        self.change_diff.sign(signs)
        self.about.said = Said(file, self.hunk, number, hunks)


def rule_of(name: str) -> Rule | None:
    """What is to be known of a rule."""
    from memtui.audit.rules import RULES  # deferred: all families are loaded with it

    return RULES.get(name)


def _is_same(one: ChangedFile, other: ChangedFile) -> bool:
    """Whether two are about the same texts, whatever was said of them."""
    return (one.path, one.before, one.after) == (other.path, other.before, other.after)
