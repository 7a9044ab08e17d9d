"""The review of a conversation: a row for each changed memory, and its diff from before to now."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from memtui.agents.chat.events import MemoryChange
from memtui.core import wording
from memtui.core.diffs import compare_texts
from memtui.core.events import EntryKind, Event, Version
from memtui.core.unicode import to_one_line
from memtui.ui.chat_state import describe_memory_change, tally_changes
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.messages import report_errors
from memtui.ui.screens.above_browser import DiffPaneScreen
from memtui.ui.screens.panes import FOCUS_BINDINGS
from memtui.ui.theme import truncate_middle
from memtui.ui.widgets.choice_list import ChoiceList
from memtui.ui.widgets.diff.layout import DiffComparison
from memtui.ui.widgets.diff.view import DIFF_KEYS, DiffView

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine


_LABELS = ("before this session", "now")
_SHORT = ("before", "now")
_LETTERS = {"created": "+", "changed": "~", "deleted": "-", "renamed": ">"}
_STYLES = {"created": "$text-success", "changed": "$text-warning", "deleted": "$text-error", "renamed": "$text-warning"}


class ReviewScreen(DiffPaneScreen):
    """The net changes of a conversation.

    Args:
        events: In order, each with whether the person wrote it in the model's place.
        title: The folder's name.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *DIFF_KEYS,
        Binding("V", "history", "versions", id="review.history", tooltip="All versions of this note"),
        *FOCUS_BINDINGS,
        Binding("escape,q", "dismiss", "back", id="review.back", tooltip="Back to the conversation"),
    ]  # fmt: skip

    DEFAULT_CSS = """
    ReviewScreen {
        #review-body { height: 1fr; }
        #remembered { width: 34; height: 1fr; padding: 0; scrollbar-size-vertical: 1; background-tint: transparent; }
        #diff { width: 1fr; height: 1fr; }
        &.-medium #remembered { width: 44; }
        &.-wide #remembered { width: 56; }
    }
    """

    BANNER_ANCHOR = "#review-body"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it

    header = getters.query_one(Header)
    rows = getters.query_one(ChoiceList)

    def __init__(self, engine: "Engine", events: Sequence[tuple[Event, bool]], *, title: str) -> None:
        super().__init__()
        self._engine = engine
        self._events = events
        self._folder = title
        self.remembered: tuple[MemoryChange, ...] = ()

    def compose(self) -> ComposeResult:
        yield Header()
        with Horizontal(id="review-body"):
            yield ChoiceList(id="remembered", classes="pane", markup=False)
            yield DiffView(id="diff", classes="pane")
        yield MessageLine(id="message")
        yield KeyLine("app.commands", "app.help", "review.back")

    def on_mount(self) -> None:
        self.header.status = HeaderStatus(
            self._folder, live="REVIEW", follow=None, read_only=self._engine.read_only, program="memtui chat"
        )
        self.rows.border_title = "1 Changed in this session"
        self.rows.focus()
        self.diff.show_notice("Collecting the changes")
        self._collect_changes()

    @work(thread=True, exclusive=True, group="remembered", exit_on_error=False)
    def _collect_changes(self) -> None:
        with report_errors(self.post_message):
            self.app.call_from_thread(self._show_rows, tally_changes(self._engine, self._events))

    def _show_rows(self, found: tuple[MemoryChange, ...]) -> None:
        if not self.is_mounted:
            return
        self.remembered = found
        self.rows.clear_options()
        self.rows.add_options([Option(_format_change_row(each, self._row_width)) for each in found])
        if found:
            self.rows.highlighted = 0
            words = f"{wording.format_count(len(found), 'note')} changed in this session."
            self.message.show_message(f"{words} /undo undoes the last turn.")
        else:
            self.diff.show_notice("Nothing to review", "No note differs from before this session.")
            self.message.show_message("All changes of this session were undone.")

    @property
    def _row_width(self) -> int:
        return max(self.rows.scrollable_content_region.width - 1, 12)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit_rows)

    def _fit_rows(self) -> None:
        for number, each in enumerate(self.remembered):
            self.rows.replace_option_prompt_at_index(number, _format_change_row(each, self._row_width))

    @on(ChoiceList.OptionHighlighted)
    def _show_diff(self, event: ChoiceList.OptionHighlighted) -> None:
        if event.option_index < len(self.remembered):
            self._compare_change(self.remembered[event.option_index])

    @on(ChoiceList.OptionSelected)
    def _enter_diff(self) -> None:
        self.diff.focus()

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def _compare_change(self, each: MemoryChange) -> None:
        worker, comparison = get_current_worker(), None
        with report_errors(self.post_message):
            before, after = self._read_text(each.before), self._read_text(each.after)
            if before is not None and after is not None and before != after:
                comparison = DiffComparison(compare_texts(before, after))
            if not worker.is_cancelled:
                self.app.call_from_thread(self._show_comparison, each, comparison, before is None or after is None)

    def _read_text(self, sha: str | None) -> str | None:
        if sha is None:
            return ""
        data = self._engine.history.text(Version(EntryKind.FILE, sha))
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def _show_comparison(self, each: MemoryChange, comparison: DiffComparison | None, is_unknown: bool) -> None:
        at = self.rows.highlighted
        if not self.is_mounted or at is None or self.remembered[at] != each:
            return
        if comparison is not None:
            self.diff.show(comparison, _LABELS, short=_SHORT)
        elif is_unknown:
            self.diff.show_notice("Cannot show the change", "It is not text, or its text is not kept.")
        else:
            self.diff.show_notice("Only the name changed", describe_memory_change(each))

    def action_history(self) -> None:
        at = self.rows.highlighted
        if at is not None and self.remembered:
            from memtui.ui.screens.history import HistoryScreen  # noqa: PLC0415 - start-up: for this key only

            self.app.push_screen(HistoryScreen(self._engine, self.remembered[at].path, title=self._folder))


def _format_change_row(each: MemoryChange, width: int) -> Content:
    name = f"{each.old_path} > {each.path}" if each.old_path else each.path
    counts = [f"+{each.added:,}" if each.added else "", f"-{each.removed:,}" if each.removed else ""]
    edited = "  edited by you" if each.edited else ""
    behind = Content.assemble("  ", (counts[0], "$text-success"), " ", (counts[1], "$text-error"), edited)
    return Content.assemble(
        (f"{_LETTERS.get(each.how, ' ')} ", _STYLES.get(each.how, "")),
        truncate_middle(to_one_line(name), max(width - 2 - behind.cell_length, 8)), behind,
    )  # fmt: skip
