"""The audit and the review of a folder: what is wrong with it, what changed in it, and what a reviewer says of that.

The screen routes. Threads look, read and compare, and tell what they know as messages; nothing here changes the folder
but what a person takes back in an ordinary session, and that goes through the engine.
"""

import asyncio
from typing import TYPE_CHECKING, ClassVar, cast

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult, RenderResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.events import DescendantFocus, Key, Resize
from textual.widgets import Input, Static

from memtui.core.visible import one_line
from memtui.ui.audit import pages
from memtui.ui.audit.calls import CallsView
from memtui.ui.audit.change_diff import AboutChange, ChangeDiff
from memtui.ui.audit.changes_view import ChangesView
from memtui.ui.audit.findings_view import FindingsView
from memtui.ui.audit.inspection import Inspection
from memtui.ui.audit.listing import Order
from memtui.ui.audit.page import PageView
from memtui.ui.audit.summary import SummaryView
from memtui.ui.diff.view import DIFF_KEYS
from memtui.ui.frame import Header, KeyLine, MessageLine
from memtui.ui.item_rows import ItemRows
from memtui.ui.screens.audit_exporting import AuditExporting
from memtui.ui.screens.audit_judging import AuditJudging
from memtui.ui.screens.audit_revealing import AuditRevealing
from memtui.ui.screens.lines import LinesScreen
from memtui.ui.screens.menu import Choice, MenuScreen
from memtui.ui.text import fit_middle

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine

_SMALLEST = (60, 15)
_SLACK = 12
"""Cells that are lost where words are broken into rows."""
_CHANGING = frozenset({"revert", "undo_here", "redo_here"})
_EDITING = frozenset({"e", "E", "f4", "d", "c", "b", "Z"})
"""Keys that change something in the browser, where a hand may press them out of habit."""
_CHANGES_NOTHING = "Read-only session: an audit changes nothing. To edit or take back: memtui DIR, then A."
_SORTS = (
    Choice("s", "by severity, the gravest first", "severity"),
    Choice("p", "by path", "path"),
    Choice("r", "by rule", "rule"),
    Choice("t", "by time, what came last first", "time"),
)


def _nothing_under(folder: str, room: int) -> str:
    """The line that stays: whole, or shorter, or with the folder's name cut in its middle, but never cut at its end."""
    start = "READ-ONLY: nothing under "
    for end in (" can be changed from this session.", " can be changed."):
        if cell_len(start + folder + end) <= room:
            return start + folder + end
    return f"{start}{fit_middle(folder, room - cell_len(start + end))}{end}"


class AuditKeys(KeyLine):
    """The keys, with the way out last."""

    LAST: ClassVar[tuple[str, ...]] = ("app.commands", "app.help", "audit.leave")
    ON_FINDINGS: ClassVar[frozenset[str]] = frozenset({"audit.sort"})
    ON_CHANGES: ClassVar[frozenset[str]] = frozenset({"audit.accept", "audit.flag", "audit.note", "audit.done"})

    def render(self) -> RenderResult:
        """As many keys as fit; while somebody types which rows are wanted, those that end it."""
        if not isinstance(self.screen.focused, Input):
            return super().render()
        keys = (("Enter", "to the list"), ("Esc", "all again"), ("F1", "help"))
        return Content("  ").join([Content.assemble((key, "bold $text-accent"), " ", words) for key, words in keys])

    def offers(self, binding: Binding) -> bool:
        """What is about the other list has no room in this one's line, nor has what there is nothing to do with."""
        screen = self.screen
        assert isinstance(screen, AuditScreen)
        if binding.id == "audit.reveal" and not screen.has_masked():
            return False
        return binding.id not in (self.ON_FINDINGS if screen.is_on_changes else self.ON_CHANGES)


class AuditScreen(AuditJudging, AuditRevealing, AuditExporting):
    """Findings and changes, and what is known of each.

    Args:
        inspection: What is asked.
        on_changes: Whether the changes have the focus at first, and not the findings.
        watch: Whether it looks again whenever something in the folder changes.
        stands_alone: Whether there is no browser below.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "accept", "reviewed", id="audit.accept", tooltip="Accept the changed file, or the run"),
        Binding("F", "flag", "flag", id="audit.flag", tooltip="Flag the changed file: it is not in order"),
        Binding("m", "note", "note", id="audit.note", tooltip="Write a note beside the changed file"),
        Binding("r", "revert", "revert", id="audit.revert", tooltip="Take back the hunk or the file"),
        Binding("v", "diff", "diff", id="audit.diff", tooltip="What changed, or what brought the finding in"),
        Binding("V", "history", "history", id="audit.history", tooltip="All versions of the file"),
        Binding("D,colon_done", "done", "done", id="audit.done", tooltip="End the review: done"),
        Binding("X", "reveal", "reveal", id="audit.reveal", tooltip="Show what is masked, or hide it again"),
        Binding("o", "export", "export report", id="audit.export", tooltip="Write a report to a file"),
        Binding("s", "sort", "sort", id="audit.sort", tooltip="Sort the findings"),
        Binding("slash", "narrow", "find", id="audit.narrow", tooltip="Only words, actor: session: path: rule:"),
        Binding("a", "accept_hunk", "hunk ok", id="audit.accept_hunk", tooltip="Accept only this hunk", show=False),
        Binding("f", "flag_hunk", "flag hunk", id="audit.flag_hunk", tooltip="Flag only this hunk", show=False),
        Binding("M", "note_hunk", "note on hunk", id="audit.note_hunk", tooltip="Write beside this hunk", show=False),
        Binding("n", "hunk(1)", "hunk", id="diff.next_hunk", tooltip="To the next change", show=False),
        Binding("N", "hunk(-1)", "previous hunk", id="diff.previous_hunk", tooltip="To the change before", show=False),
        Binding("w", "words", "words", id="diff.words", tooltip=DIFF_KEYS[3].tooltip, show=False),
        Binding("x", "whole", "whole", id="audit.whole", tooltip="Show the whole note, or fold it", show=False),
        Binding(
            "right_square_bracket", "next_change", "next unreviewed", id="audit.next_change",
            tooltip="To the next file that nobody has reviewed", show=False,
        ),
        Binding("full_stop", "excepted", "excepted", id="audit.excepted", tooltip="Show what is excepted", show=False),
        Binding("i", "about", "about", id="audit.about", tooltip="All about this audit: rules, settings, what holds it",
                show=False),
        Binding("R,f5", "rescan", "look again", id="audit.rescan", tooltip="Look at everything again", show=False),
        Binding("W", "watch", "live", id="audit.watch", tooltip="Look again at each change, or no longer", show=False),
        Binding("u", "undo_here", "undo", id="audit.undo", tooltip="Undo what was taken back here last", show=False),
        Binding("U", "redo_here", "redo", id="audit.redo", tooltip="Take it back again", show=False),
        Binding("tab", "next_pane(1)", "next pane", id="audit.next_pane", tooltip="To the other list, then the detail",
                show=False),
        Binding("shift+tab", "next_pane(-1)", "previous pane", id="audit.previous_pane", tooltip="The other way round",
                show=False),
        Binding("1", "pane('findings')", "findings", id="audit.findings", tooltip="To the findings", show=False),
        Binding("2", "pane('detail')", "detail", id="audit.detail", tooltip="To what is known of it", show=False),
        Binding("3", "pane('changes')", "changes", id="audit.changes", tooltip="To what changed", show=False),
        Binding("escape", "back", "back", id="audit.back", tooltip="Stop looking; out of the words, the detail",
                show=False),
        Binding("q", "leave", "quit", id="audit.leave", tooltip="Leave the review; what you said is kept"),
    ]  # fmt: skip

    DEFAULT_CSS = """
    AuditScreen {
        layout: vertical;

        & #narrow { display: none; height: 1; padding: 0 1; background: $panel; }
        &.-narrowing #narrow { display: block; }
        & #prompt { width: auto; color: $text-accent; text-style: bold; }
        & #narrow Input { width: 1fr; background: $panel; }
        & #count { width: auto; min-width: 10; text-align: right; }
        & #audit-body { height: 1fr; }
        & .pane {
            border: round $foreground 35%; background: $background;
            border-title-color: $foreground; border-subtitle-color: $foreground;
        }
        & .pane:focus { border: round $accent; border-title-color: $text-accent; border-title-style: bold; }
        & #lists { width: 46; height: 1fr; layout: vertical; }
        & #findings { height: 1fr; }
        & #changes { display: none; height: 1fr; }
        &.-on-changes #findings { display: none; }
        &.-on-changes #changes { display: block; }
        & #beside { width: 1fr; height: 1fr; layout: vertical; }
        & #page { height: 1fr; }
        & #diff { display: none; height: 1fr; }
        & AboutChange { display: none; }
        & #calls { display: none; height: 1fr; }
        &.-with-calls #page { height: 2fr; }
        &.-with-calls #diff { height: 2fr; }
        &.-with-calls #calls { display: block; }
        &.-on-file #page { display: none; }
        &.-on-file #diff { display: block; }
        &.-on-file AboutChange { display: block; }
        & #rule { display: none; width: 48; height: 1fr; }
        & #read-only { display: none; height: auto; max-height: 1; padding: 0 1; color: $text-warning; }
        & #too-small { display: none; }

        &.-slim #lists { width: 34; }
        &.-flat SummaryView { height: 4; }
        &.-flat AboutChange { display: none; }
        &.-medium #lists { width: 62; }
        &.-wide #lists { width: 68; }
        &.-wide.-on-finding #rule { display: block; }
        &.-high SummaryView { height: 7; }
        &.-high #read-only { max-height: 2; }
        &.-stacked #findings { display: block; height: 3fr; }
        &.-stacked #changes { display: block; height: 2fr; }

        &.-read-only #read-only { display: block; }
        &.-too-small > * { display: none; }
        &.-too-small #too-small { display: block; width: 1fr; height: 1fr; }
    }
    """

    AUTO_FOCUS = None
    BANNERS_BEFORE = "#audit-body"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as Textual has it
        (0, "-slim"), (76, "-narrow"), (110, "-medium"), (160, "-wide"),
    ]  # fmt: skip
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (20, "-low"), (30, "-high")]  # noqa: RUF012

    @property
    def _engine(self) -> "Engine":  # type: ignore[override]
        """The memory, for what can be undone: there is one by the time that anything is."""
        return cast("Engine", self._observer)

    def __init__(
        self, inspection: Inspection, *, on_changes: bool = False, watch: bool = False, stands_alone: bool = True
    ) -> None:
        program = "memtui audit" if stands_alone else "memtui review"
        super().__init__(inspection, on_changes=on_changes, watch=watch, program=program)
        self._stands_alone = stands_alone

    def compose(self) -> ComposeResult:
        """The panes of the sketch."""
        yield Header()
        yield SummaryView(budget=self._inspection.settings.max_total_tokens, id="summary")
        with Horizontal(id="narrow"):
            yield Static("/ ", id="prompt")
            yield Input(placeholder="words  actor: session: path: rule:", compact=True, id="filter")
            yield Static(id="count", markup=False)
        with Horizontal(id="audit-body"):
            with Container(id="lists"):
                yield FindingsView(id="findings", classes="pane")
                yield ChangesView(id="changes", classes="pane")
            with Container(id="beside"):
                yield PageView(id="page", classes="pane")
                yield ChangeDiff(id="diff", classes="pane")
                yield AboutChange()
                yield CallsView(id="calls", classes="pane")
            yield PageView(id="rule", classes="pane")
        yield MessageLine(id="message")
        yield Static(id="read-only", markup=False)
        yield AuditKeys()
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        """Paint first, look after."""
        is_read_only = not self._inspection.reverts
        for node in (self, self.summary):
            node.set_class(is_read_only, "-read-only")
        self.rule_page.can_focus = self.calls_view.can_focus = False
        self.show_detail()
        self.focus_list()
        self.begin_to_look()

    async def on_unmount(self) -> None:
        """End what goes on, and close the folder."""
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.to_thread(self.end_looking)

    def on_resize(self, event: Resize) -> None:
        """Say it where the terminal is too small, and recover; both lists where there is room for both."""
        width, height = event.size
        too_small = width < _SMALLEST[0] or height < _SMALLEST[1]
        self.set_class(too_small, "-too-small")
        if too_small:
            words = f"memtui needs {_SMALLEST[0]}x{_SMALLEST[1]} (now {width}x{height}). q quit"
            self.query_one("#too-small", Static).update(words)
        self.set_class(width >= 110 and height >= 30, "-stacked")
        room = width - 2
        words = _nothing_under(one_line(self._inspection.title), room)
        room = room * (2 if height >= 30 else 1) - _SLACK
        more = f"{words} {self._inspection.enforced}".rstrip()
        self.query_one("#read-only", Static).update(Content(more if cell_len(more) <= room else words))
        self.call_after_refresh(self._laid_out)

    def _laid_out(self) -> None:
        if self.is_mounted and not self.has_class("-too-small"):
            if self.focused is None:
                self.focus_list()
            self.show_detail(keep_place=True)

    # What the person does

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What changes something is not offered where nothing can be changed."""
        if action in _CHANGING and not self._inspection.reverts:
            return False
        return super().check_action(action, parameters)

    @property
    def why_read_only(self) -> str:
        """What is said to who wants to change something."""
        return _CHANGES_NOTHING if self._stands_alone else super().why_read_only

    def on_key(self, event: Key) -> None:
        """A key that would change something says why it does not."""
        if self._inspection.reverts or isinstance(self.focused, Input):
            return
        bound = self._bindings.key_to_bindings.get(event.key, ())
        if event.key in _EDITING or any(binding.action in _CHANGING for binding in bound):
            event.stop()
            self.message.say(self.why_read_only, warning=True)

    @on(DescendantFocus)
    def _follow_focus(self) -> None:
        """The list with the focus is the one whose detail is shown."""
        focused = self.focused
        if focused is self.findings or focused is self.changes:
            self.go_to_list(on_changes=focused is self.changes)

    def action_pane(self, name: str) -> None:
        """Focus a pane, and show it if it is not."""
        if name == "detail":
            self.focus_detail()
        else:
            self.go_to_list(on_changes=name == "changes")
            self.call_after_refresh(self.focus_list)

    def action_next_pane(self, step: int) -> None:
        """The findings, the changes, the detail, and round again."""
        order = ("findings", "changes", "detail")
        focused = self.focused.id if self.focused else None
        at = order.index(focused) if focused in order else 2
        self.action_pane(order[(at + step) % len(order)])

    @on(ItemRows.Opened)
    def action_open(self) -> None:
        """To what is known of what is under the cursor."""
        self.focus_detail()

    def action_narrow(self) -> None:
        """Type which rows are wanted."""
        self.add_class("-narrowing")
        self.call_after_refresh(self.line.focus)

    def action_back(self) -> None:
        """Out of what was typed; else stop looking; else out of the detail; else back to the browser."""
        if self.has_class("-narrowing"):
            self.line.value = ""
            self.remove_class("-narrowing")
            self.focus_list()
        elif self._looking is not None:
            self.stop_looking()
        elif self.focused is self.page or self.focused is self.diff:
            self.focus_list()
        elif not self._stands_alone:
            self.dismiss(None)

    def action_leave(self) -> None:
        """Leave."""
        if self._stands_alone:
            self.app.exit(0)
        else:
            self.dismiss(None)

    @work
    async def action_sort(self) -> None:
        """Ask how to sort."""
        chosen = await self.app.push_screen_wait(MenuScreen("Sort the findings", _SORTS))
        if chosen is not None:
            self._order = Order(chosen)
            self.show_findings()
            self.message.say(f"Sorted {next(each.label for each in _SORTS if each.value == chosen)}.")

    def action_whole(self) -> None:
        """Show the whole note, or only the lines around what was found; in a diff, the unchanged lines."""
        if self.has_class("-on-file"):
            self.diff.action_folds()
        else:
            self._whole = not self._whole
            self.show_detail()

    def action_excepted(self) -> None:
        """List what does not count too, or no longer."""
        audit = self._audit
        self._shows_excepted = not self._shows_excepted and audit is not None and bool(audit.excepted)
        if audit is None:
            self.message.say(" ".join(self.why_no_audit))
            return
        if not audit.excepted:
            words = "Nothing is excepted here."
        else:
            words = "What is excepted is listed too." if self._shows_excepted else "What is excepted is left out."
        self.message.say(words)
        self.show_findings()

    def action_about(self) -> None:
        """All that is known of this audit besides its findings."""
        if self._audit is None:
            self.message.say(" ".join(self.why_no_audit))
        else:
            lines = pages.of_audit(self._audit, self._inspection.enforced)
            self.app.push_screen(LinesScreen("About this audit", lines))
