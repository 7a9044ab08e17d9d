"""The detail of the audit screen: the finding or the change under the cursor, and the calls around it."""

from collections.abc import Collection

from textual import on
from textual.timer import Timer
from textual.worker import get_current_worker

from memtui.audit.model import AuditFinding, AuditRule
from memtui.audit.ranking import FindingGroup
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import Outside
from memtui.core.history import SurroundingCalls
from memtui.core.unicode import to_one_line
from memtui.review.inbox import ChangedFile, ChangedHunk, ReviewVerdict
from memtui.review.inspection import ChangeComparison
from memtui.ui.controller import Controller, controller_work
from memtui.ui.key_names import label_key
from memtui.ui.masking import find_masked_spans, mask_difference
from memtui.ui.screens.above_browser import DiffPaneScreen
from memtui.ui.screens.audit_lists import ListsController
from memtui.ui.screens.audit_messages import CallsRead, ChangeRead, TextRead
from memtui.ui.widgets import changes as widgets_changes
from memtui.ui.widgets import finding_detail
from memtui.ui.widgets.calls import CallsView, format_calls_title, format_prompt
from memtui.ui.widgets.change_diff import ChangeDetail, ChangeDetailView, ChangeDiffView
from memtui.ui.widgets.changes import ChangedFileRow, ChangeRunRow
from memtui.ui.widgets.diff.layout import DiffComparison
from memtui.ui.widgets.finding_page import PageView, extract_excerpt
from memtui.ui.widgets.findings import FindingGroupRow, FindingRow, PassedRow, format_location
from memtui.ui.widgets.row_list import ItemList

_REST_SECONDS = 0.15
"""How long the cursor rests before calls are read: a session file may have gigabytes."""
LABELS = ("last review", "now")
_SHORT = ("then", "now")


class DetailController(Controller[DiffPaneScreen]):
    """Shows the finding or the change under the cursor."""

    def __init__(self, screen: DiffPaneScreen, lists: ListsController) -> None:
        super().__init__(screen)
        self.lists = lists
        self.page = PageView(id="page", classes="pane")
        self.rule_page = PageView(id="rule", classes="pane")
        self.diff = ChangeDiffView(id="diff", classes="pane")
        self.about = ChangeDetailView()
        self.calls_view = CallsView(id="calls", classes="pane")
        self.text: TextRead | None = None
        self.change: ChangeRead | None = None
        self.revealed: tuple[str, ...] | None = None
        self._is_whole_note_shown = False
        self._calls: SurroundingCalls | None = None
        self._calls_of: int | None = None
        self._rest: Timer | None = None

    @property
    def hunk(self) -> ChangedHunk | None:
        shown, (number, _) = self.change, self.diff.position
        if shown is None or self.lists.file is None or shown.file.path != self.lists.file.path:
            return None
        hunks = shown.comparison.hunks
        return hunks[number - 1] if 0 < number <= len(hunks) else None

    @on(ItemList.Highlighted)
    def _show_item(self, message: ItemList.Highlighted) -> None:
        if message.rows is self.lists.current:
            self.reset_reveal()
            self.show_detail()

    def reset_reveal(self) -> None:
        """Mask again once the cursor is elsewhere."""
        if self.revealed is not None and self.revealed != self.shown_key:
            self.revealed = None

    @property
    def shown_key(self) -> tuple[str, ...]:
        """The identity of the row under the cursor."""
        if self.lists.shows_changes:
            row = self.lists.changes.cursor_item
            return ("change", *row.key) if row else ()
        item = self.lists.findings.cursor_item
        return ("finding", *map(str, item.key)) if item else ()

    @property
    def is_revealed(self) -> bool:
        """Whether the person asked to see the masked text here."""
        return self.revealed is not None and self.revealed == self.shown_key

    def show_detail(self, *, keep_place: bool = False) -> None:
        row = self.lists.current.cursor_item
        call = get_call_seq(row)
        is_shown = {
            "-on-changes": self.lists.shows_changes,
            "-on-file": isinstance(row, ChangedFileRow),
            "-on-finding": isinstance(row, FindingRow | FindingGroupRow),
            "-with-calls": call is not None and self.has_calls_pane,
        }
        others = self.screen.classes - is_shown.keys()
        self.screen.set_classes(others | {name for name, is_so in is_shown.items() if is_so})  # each time costs a frame
        self.lists.show_titles()
        self.request_calls(call if self.has_calls_pane or not self.lists.shows_changes else None)
        if self.lists.shows_changes:
            self._show_change(self.lists.changes.cursor_item, keep_place=keep_place)
        else:
            self._show_finding(keep_place=keep_place)
        self.screen.refresh_bindings()

    def action_whole(self) -> None:
        """Show the whole note, or only the lines around the finding; in a diff, the unchanged lines."""
        if self.screen.has_class("-on-file"):
            self.diff.action_folds()
        else:
            self._is_whole_note_shown = not self._is_whole_note_shown
            self.show_detail()

    def focus_detail(self) -> None:
        (self.diff if self.screen.has_class("-on-file") else self.page).focus()

    def _show_finding(self, *, keep_place: bool) -> None:
        item = self.lists.findings.cursor_item
        match item:
            case FindingRow(finding):
                self._draw_finding(item, keep_place=keep_place)
                if finding.location.line is not None and (self.text is None or self.text.path != finding.location.path):
                    self._read_note_text(finding.location.path)
            case FindingGroupRow(group, is_open):
                self._draw_group(group, is_open=is_open, keep_place=keep_place)
            case PassedRow(passed):
                self.lists.set_pane_title(self.page, f"2 {to_one_line(passed.name)}")
                self.page.show(finding_detail.build_passed_page(passed))
            case _ if self.lists.audit is not None:
                self.lists.set_pane_title(self.page, "2 Detail")
                self.page.show(finding_detail.build_empty_page(self.lists.audit))
            case _:
                self.lists.set_pane_title(self.page, "2 Detail")
                self.page.show(finding_detail.build_notice_page(*self.lists.no_audit_reason))

    def _draw_finding(self, row: FindingRow, *, keep_place: bool) -> None:
        from memtui.audit.registry import find_rule  # noqa: PLC0415 - start-up: loads all rules

        finding, text = row.finding, self.text
        rule = find_rule(finding.rule, self.lists.audit)
        shown, problem, is_masked = None, "", finding.masked is not None
        if finding.location.line is not None and text is not None and text.path == finding.location.path:
            problem = text.problem
            if text.text is not None:
                path, rules = finding.location.path, self.lists.inspection.custom.matcher
                spans = find_masked_spans(text.text, self._list_masked_findings(path), rules, path)
                is_masked = bool(spans)
                hidden = () if self.is_revealed else spans
                shown = extract_excerpt(text.text, finding.location, hidden, whole=self._is_whole_note_shown)
        known = self._calls if self._calls is not None and self._calls.seq == finding.origin.seq else None
        prompt = known.prompt if known is not None and not self.has_calls_pane else ""
        prompt = format_prompt(prompt)
        about = finding_detail.FindingDetail(
            finding, rule, shown, problem, row.excepted, self.is_revealed, is_masked, prompt
        )
        with_rule = self._show_rule(rule, finding.rule, keep_place=keep_place)
        page = finding_detail.build_finding_page(about, label_key("audit.reveal"), with_rule=with_rule)
        self.page.show(page, keep_place=keep_place)
        how = "revealed" if self.is_revealed else "masked" if is_masked else ""
        self.lists.set_pane_title(self.page, f"2 {to_one_line(format_location(finding))}", how)

    def _draw_group(self, group: FindingGroup, *, is_open: bool, keep_place: bool) -> None:
        from memtui.audit.registry import find_rule  # noqa: PLC0415 - as above

        name = group.worst.rule
        rule = find_rule(name, self.lists.audit)
        with_rule = self._show_rule(rule, name, keep_place=keep_place)
        keys = f"{label_key('audit.open')} {'folds' if is_open else 'shows'} its findings."
        page = finding_detail.build_group_page(group, rule, keys, with_rule=with_rule)
        self.page.show(page, keep_place=keep_place)
        words = f"{to_one_line(name)}, {len(group.findings):,} {group.label}"
        self.lists.set_pane_title(self.page, f"2 {words}")

    def _show_rule(self, rule: AuditRule | None, name: str, *, keep_place: bool) -> bool:
        """Show a rule in its own pane; returns whether there is none, so that its reason goes with the finding."""
        self.rule_page.show(finding_detail.build_rule_page(rule, name), keep_place=keep_place)
        self.lists.set_pane_title(self.rule_page, f"Rule {to_one_line(name)}")
        return not self.screen.has_class("-wide")

    def _list_masked_findings(self, path: str) -> list[AuditFinding]:
        audit = self.lists.audit
        findings = [*audit.findings, *(each.finding for each in audit.excepted)] if audit else self.lists.so_far
        return [each for each in findings if each.location.path == path]

    @controller_work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_note_text(self, path: str) -> None:
        worker = get_current_worker()
        text, problem = None, ""
        try:
            text = self.lists.inspection.read_text(path)
            if text is None:
                problem = "It is not text, or it was deleted."
        except MemoryClosed:
            return
        except (MemtuiError, OSError) as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.screen.post_message(TextRead(path, text, problem))

    @on(TextRead)
    def _handle_text(self, message: TextRead) -> None:
        self.text = message
        if self.lists.finding is not None and self.lists.finding.location.path == message.path:
            self.show_detail(keep_place=True)

    def _show_change(self, row: widgets_changes.ChangeRow | None, *, keep_place: bool) -> None:
        match row:
            case ChangeRunRow(run, _, is_open):
                keys = f"{label_key('audit.open_change')} {'folds' if is_open else 'shows'} its files. "
                keys += f"{label_key('audit.accept')} accepts all of them."
                self.lists.set_pane_title(self.page, f"2 run by {to_one_line(run.actor)}")
                self.page.show(finding_detail.build_run_page(run, keys), keep_place=keep_place)
            case ChangedFileRow(file):
                shown = self.change
                if shown is None or not _has_same_texts(shown.file, file) or shown.is_revealed != self.is_revealed:
                    self._compare_change(file, self.is_revealed)
                else:
                    self._show_verdicts()
            case _ if self.lists.inbox is not None and not self.lists.inbox.files:
                self.lists.set_pane_title(self.page, "2 Change")
                words = " ".join(self.lists.explain_no_changes())
                self.page.show(finding_detail.build_notice_page(words, "New changes will be listed here."))
            case _:
                self.lists.set_pane_title(self.page, "2 Change")
                words = "" if self.lists.inbox else "Reading the changes since the last review."
                self.page.show(finding_detail.build_notice_page(words or "No change matches the filter."))

    @controller_work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def _compare_change(self, file: ChangedFile, is_revealed: bool) -> None:
        from memtui.knowledge.past import describe_link_changes  # noqa: PLC0415 - first paint: loads the graph

        worker = get_current_worker()
        is_masked = False
        drawn, links = None, ""
        try:
            found = self.lists.inspection.compare(file)
        except MemoryClosed:
            return
        except (MemtuiError, OSError) as error:
            found = ChangeComparison(None, (), "Cannot compare", str(error))
        if found.difference is not None:
            shown, is_masked = mask_difference(found.difference, self.lists.inspection.custom.matcher, file.path)
            seen = found.difference if is_revealed else shown
            drawn, links = DiffComparison(seen), describe_link_changes(seen.before, seen.after, file.path)
        if not worker.is_cancelled:
            self.screen.post_message(
                ChangeRead(file, found, drawn, is_masked=is_masked, is_revealed=is_revealed, links=links)
            )

    @on(ChangeRead)
    def _handle_change(self, message: ChangeRead) -> None:
        file = self.lists.file
        if file is None or not _has_same_texts(file, message.file) or message.is_revealed != self.is_revealed:
            return  # the cursor is elsewhere by now
        again = self.change is not None and _has_same_texts(self.change.file, message.file)
        self.change = message
        name = file.path if self.screen.size.width >= 110 else file.path.rpartition("/")[2]
        self.diff.set_file_name(to_one_line(name))
        if message.drawn is None:
            found = message.comparison
            self.diff.show_notice(found.notice, found.detail, labels=LABELS, short=_SHORT)
        else:
            how = "shown; {} hides them." if message.is_revealed else "masked; {} reveals."
            remark = f"Values are {how.format(label_key('audit.reveal'))}" if message.is_masked else ""
            remark = f"{remark} {message.links}".strip()
            self.diff.show(message.drawn, LABELS, short=_SHORT, remark=remark, keep_place=again)
        self._show_verdicts()
        self.screen.refresh_bindings()  # a key reveals what is masked

    @on(ChangeDiffView.HunkChanged)
    def _show_verdicts(self) -> None:
        """Show the verdicts on the file and its hunks."""
        file, shown = self.lists.file, self.change
        if file is None or shown is None or not _has_same_texts(file, shown.file):
            self.about.detail = None
            return
        hunks = shown.comparison.hunks
        number, _ = self.diff.position
        judged = ([mark.verdict for mark in each.marks if mark.verdict is not ReviewVerdict.NOTE] for each in hunks)
        self.diff.set_signs({at: verdicts[-1] for at, verdicts in enumerate(judged) if verdicts})
        hunk = self.hunk
        self.about.detail = ChangeDetail(file, hunk, number, hunks)
        if hunk is not None and self.has_calls_pane:
            self.request_calls(find_last_call(file, hunk.events) or find_last_call(file))

    @property
    def has_calls_pane(self) -> bool:
        return self.screen.has_class("-wide") and self.screen.has_class("-high")

    def request_calls(self, seq: int | None) -> None:
        """Read the calls around an event, once the cursor rests there; `None` for no event."""
        if seq == self._calls_of:
            return
        self._calls_of = seq
        if self._rest is not None:
            self._rest.stop()
            self._rest = None
        self.show_calls(None)
        if seq is not None:
            self._rest = self.screen.set_timer(_REST_SECONDS, lambda: self._read_calls(seq))

    @controller_work(thread=True, exclusive=True, group="calls", exit_on_error=False)
    def _read_calls(self, seq: int) -> None:
        worker = get_current_worker()
        try:
            found = self.lists.inspection.find_calls(seq)
        except MemoryClosed:
            return
        except (MemtuiError, OSError):
            found = SurroundingCalls(seq)  # whatever it is, it is told where the audit itself meets it
        if not worker.is_cancelled:
            self.screen.post_message(CallsRead(found))

    @on(CallsRead)
    def _handle_calls(self, message: CallsRead) -> None:
        if message.calls.seq == self._calls_of:
            self.show_calls(message.calls)

    def show_calls(self, found: SurroundingCalls | None) -> None:
        """Show the calls; without a pane for them, the prompt of the person beside the finding."""
        self._calls = found
        self.calls_view.show_calls(found)
        self.lists.set_pane_title(self.calls_view, format_calls_title(found))
        if found is not None and found.prompt and self.lists.finding is not None and not self.has_calls_pane:
            self.show_detail(keep_place=True)


def get_call_seq(row: object) -> int | None:
    """The number of the call that made the finding or change of a row; `None` if it is not known."""
    match row:
        case FindingRow(finding):
            origin = finding.origin
            return origin.seq if origin.is_known and origin.actor != Outside().name else None
        case ChangedFileRow(file):
            return find_last_call(file)
        case _:
            return None


def find_last_call(file: ChangedFile, among: Collection[int] | None = None) -> int | None:
    """The number of the last call that changed a file; of some of them."""
    calls = (event.seq for event in reversed(file.events) if not isinstance(event.actor, Outside))
    return next((seq for seq in calls if among is None or seq in among), None)


def _has_same_texts(one: ChangedFile, other: ChangedFile) -> bool:
    """Whether two changes have the same texts, with whatever verdicts."""
    return (one.path, one.before, one.after) == (other.path, other.before, other.after)
