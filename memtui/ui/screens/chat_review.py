"""What a conversation made of the memory: one row a file, and beside it the exact change from before to now."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from memtui.agents.chat.events import Remembered
from memtui.core.diffs import compare
from memtui.core.errors import Closed, MemtuiError
from memtui.core.events import Event, Version
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.chat.talk import remembered_words
from memtui.ui.diff.layout import Comparison
from memtui.ui.diff.view import DIFF_KEYS, DiffView
from memtui.ui.frame import Header, KeyLine, MessageLine, Status
from memtui.ui.screens.beside_diff import BesideDiff
from memtui.ui.text import fit_middle

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine

_LABELS = ("before this session", "now")
_SHORT = ("before", "now")
_LETTERS = {"created": "+", "changed": "~", "deleted": "-", "renamed": ">"}
_STYLES = {"created": "$text-success", "changed": "$text-warning", "deleted": "$text-error", "renamed": "$text-warning"}


class ReviewKeys(KeyLine):
    """The keys, with the way back last."""

    LAST: ClassVar[tuple[str, ...]] = ("app.commands", "app.help", "review.back")


class ReviewScreen(BesideDiff):
    """The net changes of a conversation.

    Args:
        engine: The memory.
        events: What was recorded, in order, each with whether the person wrote it in the model's place.
        title: How the folder is called.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *DIFF_KEYS,
        Binding("V", "history", "versions", id="review.history", tooltip="All versions of this memory"),
        Binding("tab", "app.focus_next", "next pane", id="browse.next_pane", tooltip="To the next pane", show=False),
        Binding(
            "shift+tab", "app.focus_previous", "previous pane", id="browse.previous_pane",
            tooltip="To the pane before", show=False,
        ),
        Binding("escape,q", "dismiss", "back", id="review.back", tooltip="Back to the conversation"),
    ]  # fmt: skip

    DEFAULT_CSS = """
    ReviewScreen {
        layout: vertical;
        #review-body { height: 1fr; }
        .pane {
            border: round $foreground 35%; background: $background;
            border-title-color: $foreground; border-subtitle-color: $foreground;
        }
        .pane:focus { border: round $accent; border-title-color: $text-accent; border-title-style: bold; }
        #remembered { width: 34; height: 1fr; padding: 0; scrollbar-size-vertical: 1; background-tint: transparent; }
        #diff { width: 1fr; height: 1fr; }
        &.-medium #remembered { width: 44; }
        &.-wide #remembered { width: 56; }
    }
    """

    BANNERS_BEFORE = "#review-body"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it

    header = getters.query_one(Header)
    rows = getters.query_one(OptionList)

    def __init__(self, engine: "Engine", events: Sequence[tuple[Event, bool]], *, title: str) -> None:
        super().__init__()
        self._engine = engine
        self._events = events
        self._folder = title
        self.remembered: tuple[Remembered, ...] = ()
        """What became of each memory."""

    def compose(self) -> ComposeResult:
        """The memories, and what became of the one under the cursor."""
        yield Header()
        with Horizontal(id="review-body"):
            yield OptionList(id="remembered", classes="pane", markup=False)
            yield DiffView(id="diff", classes="pane")
        yield MessageLine(id="message")
        yield ReviewKeys()

    def on_mount(self) -> None:
        """Paint first, then put together what happened."""
        self.header.status = Status(
            self._folder, live="REVIEW", follow=None, read_only=self._engine.read_only, program="memtui chat"
        )
        self.rows.border_title = "1 Changed in this session"
        self.rows.focus()
        self.diff.show_notice("Putting together what was changed")
        self._put_together()

    @work(thread=True, exclusive=True, group="remembered", exit_on_error=False)
    def _put_together(self) -> None:
        from memtui.agents.chat.changes import Tally  # deferred: loads the engine

        tally = Tally()
        for event, is_edit in self._events:
            tally.add(event, edited=is_edit)
        try:
            found = tally.remembered(self._engine.history.text)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.app.call_from_thread(self.message.say, str(error), warning=True)
            return
        self.app.call_from_thread(self._show, found)

    def _show(self, found: tuple[Remembered, ...]) -> None:
        if not self.is_mounted:
            return
        self.remembered = found
        self.rows.clear_options()
        self.rows.add_options([Option(_row(each, self._room)) for each in found])
        if found:
            self.rows.highlighted = 0
            self.message.say(f"{wording.memories(len(found))} changed in this session. /undo takes back the last turn.")
        else:
            self.diff.show_notice("Nothing is left to review", "What this session changed is as it was before.")
            self.message.say("All that this session changed was taken back, or changed back.")

    @property
    def _room(self) -> int:
        """Columns of a row."""
        return max(self.rows.scrollable_content_region.width - 1, 12)

    def on_resize(self) -> None:
        """Names as they fit."""
        self.call_after_refresh(self._fit_rows)

    def _fit_rows(self) -> None:
        for number, each in enumerate(self.remembered):
            self.rows.replace_option_prompt_at_index(number, _row(each, self._room))

    @on(OptionList.OptionHighlighted)
    def _show_diff(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index < len(self.remembered):
            self._compare(self.remembered[event.option_index])

    @on(OptionList.OptionSelected)
    def _enter_diff(self) -> None:
        self.diff.focus()

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def _compare(self, each: Remembered) -> None:
        worker = get_current_worker()
        try:
            before, after = self._text(each.before), self._text(each.after)
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.app.call_from_thread(self.message.say, str(error), warning=True)
            return
        comparison = None
        if before is not None and after is not None and before != after:
            comparison = Comparison(compare(before, after))
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_comparison, each, comparison, before is None or after is None)

    def _text(self, sha: str | None) -> str | None:
        if sha is None:
            return ""
        data = self._engine.history.text(Version(Kind.FILE, sha))
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def _show_comparison(self, each: Remembered, comparison: Comparison | None, is_unknown: bool) -> None:
        at = self.rows.highlighted
        if not self.is_mounted or at is None or self.remembered[at] != each:
            return
        if comparison is not None:
            self.diff.show(comparison, _LABELS, short=_SHORT)
        elif is_unknown:
            self.diff.show_notice("It cannot be shown", "It is no text, or its text is not kept.")
        else:
            self.diff.show_notice("Only the name changed", remembered_words(each))

    def action_history(self) -> None:
        """All versions of the memory under the cursor."""
        at = self.rows.highlighted
        if at is not None and self.remembered:
            from memtui.ui.screens.history import HistoryScreen  # deferred: not needed for the first paint

            self.app.push_screen(HistoryScreen(self._engine, self.remembered[at].path, title=self._folder))


def _row(each: Remembered, width: int) -> Content:
    name = f"{each.old_path} > {each.path}" if each.old_path else each.path
    counts = [f"+{each.added:,}" if each.added else "", f"-{each.removed:,}" if each.removed else ""]
    edited = "  edited by you" if each.edited else ""
    behind = Content.assemble("  ", (counts[0], "$text-success"), " ", (counts[1], "$text-error"), edited)
    return Content.assemble(
        (f"{_LETTERS.get(each.how, ' ')} ", _STYLES.get(each.how, "")),
        fit_middle(one_line(name), max(width - 2 - behind.cell_length, 8)), behind,
    )  # fmt: skip
