"""What the audit's screen shows beside its lists: all that is known of what is under the cursor."""

from textual import getters, on, work
from textual.worker import get_current_worker

from memtui.audit.findings import Finding
from memtui.audit.inbox import ChangedFile, ChangedHunk, Verdict
from memtui.audit.rule import Rule
from memtui.core.errors import Closed, MemtuiError
from memtui.core.visible import one_line
from memtui.ui import said_keys
from memtui.ui.audit import calls, change_listing, pages
from memtui.ui.audit.around import around
from memtui.ui.audit.change_diff import AboutChange, ChangeDiff, Said
from memtui.ui.audit.change_listing import FileRow, RunRow
from memtui.ui.audit.inspection import Calls, Comparison, Inspection
from memtui.ui.audit.listing import FindingRow, PassedRow, place_of
from memtui.ui.audit.masks import masked_difference, spans_in
from memtui.ui.audit.messages import ChangeRead, TextRead
from memtui.ui.audit.page import PageView
from memtui.ui.diff.layout import Comparison as Drawn
from memtui.ui.item_rows import ItemRows
from memtui.ui.screens.audit_calls import AuditCalls, call_of, last_call

LABELS = ("last review", "now")
_SHORT = ("then", "now")


class AuditShowing(AuditCalls):
    """Shows a finding or a change.

    Args:
        inspection: What is asked.
        on_changes: Whether the changes have the focus at first, and not the findings.
    """

    page = getters.query_one("#page", PageView)
    rule_page = getters.query_one("#rule", PageView)
    change_diff = getters.query_one(ChangeDiff)
    about = getters.query_one(AboutChange)

    def __init__(self, inspection: Inspection, *, on_changes: bool = False) -> None:
        super().__init__(inspection, on_changes=on_changes)
        self._revealed: tuple[str, ...] | None = None
        self._whole = False
        self._text: TextRead | None = None
        self._change: ChangeRead | None = None

    @property
    def hunk(self) -> ChangedHunk | None:
        """The hunk that the person is at."""
        shown, (number, _) = self._change, self.diff.position
        if shown is None or self.file is None or shown.file.path != self.file.path:
            return None
        hunks = shown.comparison.hunks
        return hunks[number - 1] if 0 < number <= len(hunks) else None

    # What is under the cursor

    @on(ItemRows.Highlighted)
    def _show_item(self, message: ItemRows.Highlighted) -> None:
        if message.rows is self.current:
            self.forget_reveal()
            self.show_detail()

    def forget_reveal(self) -> None:
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
        row = self.current.here
        call = call_of(row)
        is_shown = {
            "-on-changes": self._on_changes,
            "-on-file": isinstance(row, FileRow),
            "-on-finding": isinstance(row, FindingRow),
            "-with-calls": call is not None and self.shows_calls,
        }
        others = self.classes - is_shown.keys()
        self.set_classes(others | {name for name, is_so in is_shown.items() if is_so})  # each time costs a frame
        self.show_titles()
        self.ask_for_calls(call if self.shows_calls or not self._on_changes else None)
        if self._on_changes:
            self._show_change(self.changes.here, keep_place=keep_place)
        else:
            self._show_finding(keep_place=keep_place)
        self.refresh_bindings()

    def focus_detail(self) -> None:
        """To what is known of it."""
        (self.diff if self.has_class("-on-file") else self.page).focus()

    # A finding

    def _show_finding(self, *, keep_place: bool) -> None:
        item = self.findings.here
        match item:
            case FindingRow(finding):
                self._write_finding(item, keep_place=keep_place)
                if finding.place.line is not None and (self._text is None or self._text.path != finding.place.path):
                    self._read(finding.place.path)
            case PassedRow(passed):
                self.title_pane(self.page, f"2 {one_line(passed.name)}")
                self.page.show(pages.of_passed(passed))
            case _ if self._audit is not None:
                self.title_pane(self.page, "2 Detail")
                self.page.show(pages.of_nothing(self._audit))
            case _:
                self.title_pane(self.page, "2 Detail")
                self.page.show(pages.notice(*self.why_no_audit))

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
        known = self._calls if self._calls is not None and self._calls.seq == finding.origin.seq else None
        prompt = known.prompt if known is not None and not self.shows_calls else ""
        about = pages.About(finding, rule, shown, problem, row.excepted, self.reveals, is_masked, calls.asked(prompt))
        key = said_keys.said("audit.reveal", "X")
        self.page.show(pages.of_finding(about, key, with_rule=not self.has_class("-wide")), keep_place=keep_place)
        self.rule_page.show(pages.of_rule(rule, finding.rule), keep_place=keep_place)
        self.title_pane(self.rule_page, f"Rule {one_line(finding.rule)}")
        how = "revealed" if self.reveals else "masked" if is_masked else ""
        self.title_pane(self.page, f"2 {one_line(place_of(finding))}", how)

    def show_calls(self, found: Calls | None) -> None:
        """Show them; where they have no pane of their own, what was asked for with the finding."""
        super().show_calls(found)
        if found is not None and found.prompt and self.finding is not None and not self.shows_calls:
            self.show_detail(keep_place=True)

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
        match row:
            case RunRow(run, _, is_open):
                keys = f"Enter {'folds' if is_open else 'shows'} its files. Space accepts all of them."
                self.title_pane(self.page, f"2 run by {one_line(run.actor)}")
                self.page.show(pages.of_run(run, keys), keep_place=keep_place)
            case FileRow(file):
                shown = self._change
                if shown is None or not _is_same(shown.file, file) or shown.reveals != self.reveals:
                    self._compare(file, self.reveals)
                else:
                    self._show_said()
            case _ if self._inbox is not None and not self._inbox.files:
                self.title_pane(self.page, "2 Change")
                words = " ".join(self.nothing_changed())
                self.page.show(pages.notice(words, "What changes from now on will be listed here."))
            case _:
                self.title_pane(self.page, "2 Change")
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
        hunk = self.hunk
        self.about.said = Said(file, hunk, number, hunks)
        if hunk is not None and self.shows_calls:
            self.ask_for_calls(last_call(file, hunk.events) or last_call(file))


def rule_of(name: str) -> Rule | None:
    """What is to be known of a rule."""
    from memtui.audit.rules import RULES  # deferred: all families are loaded with it

    return RULES.get(name)


def _is_same(one: ChangedFile, other: ChangedFile) -> bool:
    """Whether two are about the same texts, whatever was said of them."""
    return (one.path, one.before, one.after) == (other.path, other.before, other.after)
