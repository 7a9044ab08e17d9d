"""The audit screen: findings, changes since the last review, and the verdicts of the reviewer.

The screen routes. Threads read and compare, and post messages; only a revert in an ordinary session changes the
folder, through the engine.
"""

import asyncio
from typing import TYPE_CHECKING, ClassVar, cast

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult, RenderResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.events import DescendantFocus, Key, Resize, ScreenResume
from textual.geometry import Size
from textual.widgets import Input, Static

from memtui.core.unicode import to_one_line
from memtui.review.inspection import Inspection
from memtui.ui.controller import ControlledScreen, set_size_classes
from memtui.ui.frame import KeyLine, MessageLine
from memtui.ui.key_names import ENTER, label_key, list_labels
from memtui.ui.screens.above_browser import DiffPaneScreen
from memtui.ui.screens.audit_detail import DetailController
from memtui.ui.screens.audit_lists import ListsController
from memtui.ui.screens.audit_opinions import OpinionsController
from memtui.ui.screens.audit_review import ExportController, RevealController, VerdictController
from memtui.ui.screens.audit_run import RunController
from memtui.ui.screens.audit_triage import TriageController
from memtui.ui.screens.panes import show_too_small
from memtui.ui.theme import truncate_middle
from memtui.ui.widgets.diff.view import DIFF_KEYS
from memtui.ui.widgets.row_list import ItemList

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine


_SLACK = 12
"""Cells that are lost where words are broken into rows."""
_EDITING = frozenset({"e", "E", "f4", "c", "b", "Z"})
"""Keys that change something in the browser, where a hand may press them out of habit."""
_CHANGES_NOTHING = "Read-only: an audit changes nothing. To edit or revert: memtui DIR, then A."


def _format_no_findings(folder: str, room: int) -> str:
    """The read-only line, shortened in the folder's name and never at its end."""
    start = "READ-ONLY: nothing under "
    for end in (" can be changed from this session.", " can be changed."):
        if cell_len(start + folder + end) <= room:
            return start + folder + end
    return f"{start}{truncate_middle(folder, room - cell_len(start + end))}{end}"


class AuditKeys(KeyLine):
    """The keys, with the way out last."""

    LAST_BINDINGS: ClassVar[tuple[str, ...]] = ("app.commands", "app.help", "audit.leave")
    ON_FINDINGS: ClassVar[frozenset[str]] = frozenset({"audit.sort", "audit.act", "audit.dismiss"})
    ON_CHANGES: ClassVar[frozenset[str]] = frozenset({"audit.accept", "audit.flag", "audit.note", "audit.done"})

    def render(self) -> RenderResult:
        """As many keys as fit; in the filter, those that leave it."""
        if not isinstance(self.screen.focused, Input):
            return super().render()
        keys = ((ENTER, "to the list"), (label_key("audit.back"), "show all"), (list_labels("app.help")[-1], "help"))
        return Content("  ").join([Content.assemble((key, "bold $text-accent"), " ", words) for key, words in keys])

    def should_show(self, binding: Binding) -> bool:
        """Leave out keys of the other list, and those without an effect here."""
        screen = self.screen
        assert isinstance(screen, AuditScreen)
        if binding.id == "audit.reveal" and not screen.reveal.has_masked():
            return False
        return binding.id not in (self.ON_FINDINGS if screen.lists.shows_changes else self.ON_CHANGES)


class AuditScreen(DiffPaneScreen):
    """The findings and changes, and the details of each.

    Args:
        inspection: The audited folder.
        on_changes: Whether the changes have the focus at first, and not the findings.
        watch: Whether the audit runs again at each change of the folder.
        stands_alone: Whether there is no browser below.
    """

    CONTROLLERS = (
        ListsController, DetailController, RunController, VerdictController, RevealController, TriageController,
        OpinionsController, ExportController,
    )  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [  # of the controllers too: the key line and the help keep this order
        Binding("space", "review('accept')", "reviewed", id="audit.accept",
                tooltip="Accept the changed file, or the run"),
        Binding("F", "review('flag')", "flag", id="audit.flag", tooltip="Flag the changed file: something is wrong"),
        Binding("m", "review('note')", "comment", id="audit.note", tooltip="Comment on the changed file"),
        Binding("t", "act", "act", id="audit.act",
                tooltip="Act on the finding: its line, origin, undo, redact, ask the agent"),
        Binding("d", "dismiss_finding", "dismiss", id="audit.dismiss",
                tooltip="Dismiss the finding with a reason, or restore a dismissed one"),
        Binding("r", "revert", "revert", id="audit.revert",
                tooltip="Revert the hunk or the file, or the finding's event"),
        Binding("v", "diff", "diff", id="audit.diff", tooltip="Diff of the change, or of the finding's event"),
        Binding("V", "history", "history", id="audit.history", tooltip="All versions of the file"),
        Binding("D,colon_done", "done", "done", id="audit.done", tooltip="End the review"),
        Binding("X", "reveal", "reveal", id="audit.reveal", tooltip="Show or hide masked values"),
        Binding("o", "export", "export report", id="audit.export", tooltip="Write a report to a file"),
        Binding("s", "sort", "sort", id="audit.sort", tooltip="Sort the findings"),
        Binding("slash", "narrow", "find", id="audit.narrow", tooltip="Filter by words, actor: session: path: rule:"),
        Binding("a", "review_hunk('accept')", "hunk ok", id="audit.accept_hunk",
                tooltip="Accept only this hunk", show=False),
        Binding("f", "review_hunk('flag')", "flag hunk", id="audit.flag_hunk",
                tooltip="Flag only this hunk", show=False),
        Binding("M", "review_hunk('note')", "comment on hunk", id="audit.note_hunk",
                tooltip="Comment on this hunk", show=False),
        Binding("n", "hunk(1)", "hunk", id="diff.next_hunk", tooltip="To the next change", show=False),
        Binding("N", "hunk(-1)", "previous hunk", id="diff.previous_hunk", tooltip="To the previous change",
                show=False),
        Binding("w", "words", "words", id="diff.words", tooltip=DIFF_KEYS[3].tooltip, show=False),
        Binding("x", "whole", "whole", id="audit.whole", tooltip="Whole note on/off", show=False),
        Binding("right_square_bracket", "next_change", "next unreviewed", id="audit.next_change",
                tooltip="To the next unreviewed file", show=False),
        Binding("full_stop", "excepted", "excepted", id="audit.excepted", tooltip="Excepted findings on/off",
                show=False),
        Binding("i", "about", "about", id="audit.about", tooltip="About this audit: rules, settings, sandbox",
                show=False),
        Binding("O", "ask_model", "ask a model", id="audit.ask_model",
                tooltip="Ask a model for opinions on findings; shows what is sent first", show=False),
        Binding("R,f5", "rescan", "rescan", id="audit.rescan", tooltip="Run the audit again", show=False),
        Binding("W", "watch", "live", id="audit.watch", tooltip="Live audit on/off", show=False),
        Binding("u", "undo_here", "undo", id="audit.undo", tooltip="Undo the last dismissal or revert here",
                show=False),
        Binding("U", "redo_here", "redo", id="audit.redo", tooltip="Redo what was undone", show=False),
        Binding("tab", "next_pane(1)", "next pane", id="audit.next_pane", tooltip="To the other list, then the detail",
                show=False),
        Binding("shift+tab", "next_pane(-1)", "previous pane", id="audit.previous_pane", tooltip="To the previous pane",
                show=False),
        Binding("1", "pane('findings')", "findings", id="audit.findings", tooltip="To the findings", show=False),
        Binding("2", "pane('detail')", "detail", id="audit.detail", tooltip="To the detail", show=False),
        Binding("3", "pane('changes')", "changes", id="audit.changes", tooltip="To the changes", show=False),
        Binding("escape", "back", "back", id="audit.back", tooltip="Stop the audit; leave the filter or the detail",
                show=False),
        Binding("q", "leave", "quit", id="audit.leave", tooltip="Quit the review; verdicts are kept"),
    ]  # fmt: skip

    DEFAULT_CSS = """
    AuditScreen {
        & #narrow { display: none; height: 1; padding: 0 1; background: $panel; }
        &.-narrowing #narrow { display: block; }
        & #prompt { width: auto; color: $text-accent; text-style: bold; }
        & #narrow Input { width: 1fr; background: $panel; }
        & #count { width: auto; min-width: 10; text-align: right; }
        & #audit-body { height: 1fr; }
        & #lists { width: 46; height: 1fr; layout: vertical; }
        & #findings { height: 1fr; }
        & #changes { display: none; height: 1fr; }
        &.-on-changes #findings { display: none; }
        &.-on-changes #changes { display: block; }
        & #beside { width: 1fr; height: 1fr; layout: vertical; }
        & #page { height: 1fr; }
        & #diff { display: none; height: 1fr; }
        & ChangeDetailView { display: none; }
        & #calls { display: none; height: 1fr; }
        &.-with-calls #page { height: 2fr; }
        &.-with-calls #diff { height: 2fr; }
        &.-with-calls #calls { display: block; }
        &.-on-file #page { display: none; }
        &.-on-file #diff { display: block; }
        &.-on-file ChangeDetailView { display: block; }
        & #rule { display: none; width: 48; height: 1fr; }
        & #read-only { height: auto; max-height: 1; }

        &.-slim #lists { width: 34; }
        &.-flat AuditSummaryView { height: 4; }
        &.-flat ChangeDetailView { display: none; }
        &.-medium #lists { width: 62; }
        &.-wide #lists { width: 68; }
        &.-wide.-on-finding #rule { display: block; }
        &.-high AuditSummaryView { height: 7; }
        &.-high #read-only { max-height: 2; }
        &.-stacked #findings { display: block; height: 3fr; }
        &.-stacked #changes { display: block; height: 2fr; }
    }
    """

    AUTO_FOCUS = "#findings"
    BANNER_ANCHOR = "#audit-body"
    CHANGES = frozenset({"revert", "undo_here", "redo_here"})
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as Textual has it
        (0, "-slim"), (76, "-narrow"), (110, "-medium"), (160, "-wide"),
    ]  # fmt: skip
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (20, "-low"), (30, "-high")]  # noqa: RUF012

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be reverted."""
        return not self._inspection.can_revert

    @property
    def _engine(self) -> "Engine":  # type: ignore[override]
        """The memory, for undo; the folder is open by then."""
        return cast("Engine", self.lists.observer)

    def __init__(
        self, inspection: Inspection, *, on_changes: bool = False, watch: bool = False, stands_alone: bool = True
    ) -> None:
        super().__init__()
        self._inspection = inspection
        self._stands_alone = stands_alone
        self._was_shown = False
        program = "memtui audit" if stands_alone else "memtui review"
        self.lists = self.attach(ListsController(self, inspection, on_changes=on_changes))
        self.detail = self.attach(DetailController(self, self.lists))
        self.run = self.attach(RunController(self, self.detail, watch=watch, program=program))
        self.verdicts = self.attach(VerdictController(self, self.run))
        self.reveal = self.attach(RevealController(self, self.run))
        self.triage = self.attach(TriageController(self, self.reveal))
        self.opinions = self.attach(OpinionsController(self, self.run))
        self.export = self.attach(ExportController(self, self.lists))

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Have the first frame styled once: all widgets have just been, with the classes of this size of screen."""
        event.refresh_styles, self._was_shown = event.refresh_styles and self._was_shown, True

    def compose(self) -> ComposeResult:
        set_size_classes(self)
        self.set_class(self.is_read_only, "-read-only", update=False)
        self.run.summary.set_class(self.is_read_only, "-read-only", update=False)
        self.set_class(self.lists.shows_changes, "-on-changes", update=False)
        self._stack_lists(self.app.size, update=False)
        yield self.run.header
        yield self.run.summary
        with Horizontal(id="audit-body"):
            with Container(id="lists"):
                yield self.lists.findings
                yield self.lists.changes
            with Container(id="beside"):
                yield self.detail.page
                yield self.detail.diff
        yield MessageLine(id="message")
        yield Static(self._format_limits(self.app.size), id="read-only", markup=False)
        yield AuditKeys()
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        self.detail.rule_page.can_focus = self.detail.calls_view.can_focus = False
        self.detail.show_detail()
        self.lists.focus_list()
        self.run.show_start()
        self.call_after_refresh(self._mount_hidden)

    async def _mount_hidden(self) -> None:
        """Mount what the first frame does not show, and begin."""
        narrow = Horizontal(Static("/ ", id="prompt"), self.lists.filter_input, self.lists.count, id="narrow")
        detail, body = self.detail, self.query_one("#audit-body")
        with self.app.batch_update():
            await self.mount(narrow, before=body)
            await self.query_one("#beside").mount(detail.about, detail.calls_view)
            await body.mount(detail.rule_page)
        self.run.start_audit()

    async def on_unmount(self) -> None:
        if self.run.audit_worker is not None:
            self.run.audit_worker.cancel()
        await asyncio.to_thread(self.run.close_inspection)

    def on_resize(self, event: Resize) -> None:
        """Lay out the panes; both lists where there is room for both."""
        show_too_small(self, f"{label_key('audit.leave')} quit")
        self._stack_lists(event.size)
        self.query_one("#read-only", Static).update(self._format_limits(event.size))
        self.call_after_refresh(self._finish_layout)

    def _format_limits(self, size: Size) -> Content:
        """What cannot be changed here, and what the kernel enforces of it, as far as there is room."""
        room = size.width - 2
        words = _format_no_findings(to_one_line(self._inspection.title), room)
        room = room * (2 if size.height >= 30 else 1) - _SLACK
        more = f"{words} {self._inspection.enforced}".rstrip()
        return Content(more if cell_len(more) <= room else words)

    def _stack_lists(self, size: Size, *, update: bool = True) -> None:
        """Show both lists where there is room for both."""
        self.set_class(size.width >= 110 and size.height >= 30, "-stacked", update=update)

    def _finish_layout(self) -> None:
        if self.is_mounted and not self.has_class("-too-small"):
            if self.focused is None:
                self.lists.focus_list()
            self.detail.show_detail(keep_place=True)

    def handle_new_events(self, last: int) -> None:
        """Events up to a number are recorded: the audit may be outdated."""
        self.run.handle_new_events(last)

    def handle_undo_done(self) -> None:
        self.run.rerun_audit(keep_words=True)

    @property
    def read_only_reason(self) -> str:
        return _CHANGES_NOTHING if self._stands_alone else super().read_only_reason

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A dismissal can be undone also in a read-only session: it stands in the review file."""
        if action == "undo_here" and self.triage.last_dismissed:
            return ControlledScreen.check_action(self, action, parameters)
        return super().check_action(action, parameters)

    def action_undo_here(self) -> None:
        if self.triage.last_dismissed:
            self.triage.restore_last()
        else:
            super().action_undo_here()

    def action_revert(self) -> None:
        """Take back the change under the cursor, or what brought the finding in."""
        (self.verdicts.revert if self.lists.shows_changes else self.triage.take_back)()

    def on_key(self, event: Key) -> None:
        """Explain why a key of the browser that would change something does not."""
        if event.key in _EDITING and self.is_read_only and not isinstance(self.focused, Input):
            event.stop()
            self.message.show_message(self.read_only_reason, warning=True)

    @on(DescendantFocus)
    def _follow_focus(self) -> None:
        """Show the details of the list with the focus."""
        focused = self.focused
        if focused is self.lists.findings or focused is self.lists.changes:
            self.run.go_to_list(on_changes=focused is self.lists.changes)

    def action_pane(self, name: str) -> None:
        """Focus a pane, and show it if it is not."""
        if name == "detail":
            self.detail.focus_detail()
        else:
            self.run.go_to_list(on_changes=name == "changes")
            self.call_after_refresh(self.lists.focus_list)

    def action_next_pane(self, step: int) -> None:
        """The findings, the changes, the detail, in a circle."""
        order = ("findings", "changes", "detail")
        focused = self.focused.id if self.focused else None
        at = order.index(focused) if focused in order else 2
        self.action_pane(order[(at + step) % len(order)])

    @on(ItemList.Opened)
    def action_open(self) -> None:
        self.detail.focus_detail()

    def action_back(self) -> None:
        """Leave the filter; else stop the audit; else leave the detail; else go back to the browser."""
        if self.has_class("-narrowing"):
            self.lists.filter_input.value = ""
            self.remove_class("-narrowing")
            self.lists.focus_list()
        elif self.run.audit_worker is not None:
            self.run.stop_audit()
        elif self.focused is self.detail.page or self.focused is self.detail.diff:
            self.lists.focus_list()
        elif not self._stands_alone:
            self.dismiss(None)

    def action_leave(self) -> None:
        if self._stands_alone:
            self.app.exit(0)
        else:
            self.dismiss(None)
