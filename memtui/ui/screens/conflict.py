"""The question of a save conflict: the changes of both sides, and a key for each choice. It writes nothing."""

from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from memtui.core.diffs import compare_texts
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.text_format import NotText, parse_text
from memtui.core.unicode import to_one_line
from memtui.editing.conflict import CALM_SHORT, ConflictChoice, ConflictOption, ConflictPrompt
from memtui.editing.save import EditBase
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import label_key
from memtui.ui.screens.above_browser import DiffPaneScreen
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.widgets.choice_list import ChoiceList
from memtui.ui.widgets.conflict import ThreeWayView
from memtui.ui.widgets.diff.layout import DiffComparison
from memtui.ui.widgets.diff.view import DIFF_KEYS, DiffView

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine


_WIDE = 120
"""Columns from which the three texts stand beside each other."""
_ROW = 60
"""Cells of an answer in the narrow box."""
_LOW = 22
"""Rows below which blank rows and all but the choices are left out."""
_FIXED, _SPACES = 4, 4


class ConflictScreen(ModalScreen[ConflictChoice | None], DismissOnceScreen[ConflictChoice | None]):
    """Asks which of two texts to keep; `None` is back to the unchanged editor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "choose('m')", "merge", id="conflict.merge", tooltip="Merge both in the editor"),
        Binding("k", "choose('k')", "keep mine", id="conflict.keep", tooltip="Keep mine"),
        Binding("o", "choose('o')", "old place", id="conflict.old_place", tooltip="Keep mine at the old place"),
        Binding("b", "choose('b')", "beside", id="conflict.beside", tooltip="Save mine under a new name"),
        Binding("t", "choose('t')", "take theirs", id="conflict.take", tooltip="Take theirs; mine becomes a draft"),
        Binding("d", "differences", "diff", id="conflict.differences", tooltip="See the full diffs"),
        Binding("n", "place(1)", "next place", id="conflict.next_place", tooltip="To the next place"),
        Binding("N", "place(-1)", "previous place", id="conflict.previous_place", tooltip="To the place before",
                show=False),
        Binding("pagedown", "scroll(1)", "down", id="conflict.down", tooltip="Down in a long place", show=False,
                priority=True),
        Binding("pageup", "scroll(-1)", "up", id="conflict.up", tooltip="Up in a long place", show=False,
                priority=True),
        Binding("escape,q", "dismiss", "back", id="conflict.back", tooltip="Back to editing, unsaved"),
    ]  # fmt: skip

    DEFAULT_CSS = """
    ConflictScreen { align: center middle; background: $background 60%; }
    ConflictScreen #box {
        width: 68; max-width: 100%; height: auto; max-height: 100%; padding: 1 1; margin-bottom: 2;
        border: double $warning; background: $surface;
        border-title-color: $text-warning; border-title-style: bold; border-subtitle-color: $foreground;
    }
    ConflictScreen #sides { height: auto; padding: 0 1; }
    ConflictScreen #place-scroll { height: auto; margin: 1 1; scrollbar-size-vertical: 1; }
    ConflictScreen OptionList { height: auto; border: none; padding: 0; background: $surface; }
    ConflictScreen OptionList:focus { border: none; }
    ConflictScreen #foot { dock: bottom; height: 2; background: $background; }
    ConflictScreen.-wide #box { width: 94%; max-width: 150; }
    ConflictScreen.-low #box { padding: 0 1; }
    ConflictScreen.-low #place-scroll { margin: 0 1; }
    """

    place = getters.query_one(ThreeWayView)
    options = getters.query_one(ChoiceList)
    message = getters.query_one(MessageLine)

    def __init__(self, about: ConflictPrompt) -> None:
        super().__init__()
        self.conflict = about
        self._at = 0
        self._opening = False

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static(id="sides", markup=False)
            scroll = VerticalScroll(id="place-scroll")
            scroll.can_focus = False
            with scroll:
                yield ThreeWayView(self.conflict.names, self.conflict.times, id="place")
            yield ChoiceList(id="answers", markup=False)
        with Vertical(id="foot"):
            yield MessageLine(id="message")
            yield KeyLine("conflict.back")

    def on_mount(self) -> None:
        self.show(self.conflict)
        self.options.focus()

    def show(self, about: ConflictPrompt) -> None:
        """Ask about a newer conflict; the highlighted choice stays, if it is still there."""
        chosen = self._get_answer(self.options.highlighted)
        self.conflict, self._at = about, min(self._at, max(len(about.places) - 1, 0))
        self._show_hunk()
        self._lay_out()
        keys = [answer.key for answer in about.options]
        self.options.highlighted = keys.index(chosen.key) if chosen is not None and chosen.key in keys else 0
        self.refresh_bindings()

    def _show_hunk(self) -> None:
        about = self.conflict
        self.place.show(about.places[self._at] if about.places else None, about.names, about.times)
        count = len(about.places)
        what = "conflict" if about.merged is not None and not about.merged.is_clean else "change"
        words = f" {what} {self._at + 1} of {count:,}  {label_key('conflict.next_place')} next " if count > 1 else ""
        self.query_one("#box").border_subtitle = Content(words)
        self.query_one("#place-scroll").scroll_home(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """Keep the answers in sight; a long place scrolls."""
        del event
        self._lay_out()

    def _lay_out(self) -> None:
        about, (width, height) = self.conflict, self.size
        is_low = height < _LOW
        self.set_class(width >= _WIDE, "-wide")
        self.set_class(is_low, "-low")
        room = min(width * 94 // 100, 150) - 8 if width >= _WIDE else min(width, 68) - 8
        title = about.title if len(about.title) <= room else about.short_title
        self.query_one("#box").border_title = Content(f" ! {title} ")
        self.message.show_message(about.calm if len(about.calm) <= width - 2 else CALM_SHORT)
        sides = Content("      ").join(map(Content, about.sides))
        rows_of_sides = 1 if sides.cell_length <= room else len(about.sides)
        if rows_of_sides > 1:
            sides = Content("\n").join(map(Content, about.sides))
        self.query_one("#sides", Static).update(sides)
        highlighted = self.options.highlighted
        width_of_first = min(room, _ROW)
        answers = [Option(_format_answer(each, 0 if at else width_of_first)) for at, each in enumerate(about.options)]
        self.options.set_options([*answers, *(() if is_low else _build_other_options())])
        self.options.highlighted = highlighted
        scroll = self.query_one("#place-scroll")
        others = _FIXED + rows_of_sides + self.options.option_count + (0 if is_low else _SPACES)
        scroll.styles.max_height = max(height - others, 1)
        scroll.display = bool(about.places)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "choose":
            return any(answer.key == parameters[0] for answer in self.conflict.options)
        return action != "place" or len(self.conflict.places) > 1

    def action_choose(self, key: str) -> None:
        answer = next((each for each in self.conflict.options if each.key == key), None)
        if answer is not None:
            self.dismiss(answer.choice)

    def action_place(self, step: int) -> None:
        """To the next place, or the one before; in a circle."""
        self._at = (self._at + step) % len(self.conflict.places)
        self._show_hunk()

    def action_scroll(self, pages: int) -> None:
        scroll = self.query_one("#place-scroll")
        scroll.scroll_to(y=scroll.scroll_y + pages * max(scroll.size.height - 1, 1), animate=False)

    def action_differences(self) -> None:
        from memtui.ui.widgets.conflict import ConflictDiffScreen  # noqa: PLC0415 - start-up: only for the diffs

        if not self._opening:
            self._opening = True
            self.app.push_screen(ConflictDiffScreen(self.conflict), lambda _: setattr(self, "_opening", False))

    def on_option_list_option_selected(self, event: ChoiceList.OptionSelected) -> None:
        answer = self._get_answer(event.option_index)
        if answer is not None:
            self.dismiss(answer.choice)
        elif event.option_id == "differences":
            self.action_differences()
        else:
            self.dismiss(None)

    def _get_answer(self, index: int | None) -> ConflictOption | None:
        answers = self.conflict.options
        return answers[index] if index is not None and index < len(answers) else None


def _format_answer(answer: ConflictOption, width: int) -> Content:
    """An answer; the recommended one says so at the end of its row of `width` cells."""
    words = Content.assemble((f" {label_key(_BINDINGS[answer.key]):<4}", "bold $text-accent"), answer.label)
    room = width - words.cell_length - len(_BEST)
    return Content.assemble(words, " " * max(room, 1), (_BEST, "italic")) if width else words


_BEST = "(recommended)"
_BINDINGS = {
    "m": "conflict.merge",
    "k": "conflict.keep",
    "o": "conflict.old_place",
    "b": "conflict.beside",
    "t": "conflict.take",
}
"""The ids of the bindings, by answer."""


def _build_other_options() -> list[Option]:
    return [
        Option(Content.assemble((f" {label:<4}", "bold $text-accent"), words), id=name)
        for label, words, name in (
            (label_key("conflict.differences"), "See the full diff", "differences"),
            (label_key("conflict.back"), " Back to editing, unsaved", "back"),
        )
    ]


# What a save would write, as a diff; and what became of the memory meanwhile.


class EditDiffScreen(DiffPaneScreen):
    """The difference between the opened text and the edited one.

    Args:
        engine: The memory.
        basis: The version that was opened.
        text: The edited text.
        has_changed: Whether the memory has changed since: then that is shown first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "turn", "yours/theirs", id="edit_diff.turn", tooltip="What you changed, or what others changed"),
        *DIFF_KEYS,
        Binding("escape,q", "dismiss", "back", id="edit_diff.back", tooltip="Back to the text"),
    ]

    DEFAULT_CSS = """
    EditDiffScreen #diff { height: 1fr; }
    """

    BANNER_ANCHOR = "#diff"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it

    header = getters.query_one(Header)

    def __init__(self, engine: "Engine", basis: EditBase, text: str, *, has_changed: bool) -> None:
        super().__init__()
        self._engine = engine
        self._basis = basis
        self._text = text
        self._has_changed = has_changed
        self._is_theirs = has_changed

    def compose(self) -> ComposeResult:
        yield Header()
        yield DiffView(title="Diff", id="diff", classes="pane")
        yield MessageLine(id="message")
        yield KeyLine("app.commands", "app.help", "edit_diff.back")

    def on_mount(self) -> None:
        self.header.status = HeaderStatus(
            self._basis.path, live="DIFF", follow=None, read_only=self._engine.read_only, program="memtui edit"
        )
        self.diff.focus()
        self._show_hint()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "turn" and not self._has_changed:
            return False
        return super().check_action(action, parameters)

    def action_turn(self) -> None:
        """Switch between both differences."""
        self._is_theirs = not self._is_theirs
        self._show_hint()

    def _show_hint(self) -> None:
        key = label_key("edit_diff.turn")
        if self._is_theirs:
            words = f"What others changed since you opened it. {key} shows what you changed."
        else:
            more = f"  {key} shows what others changed." if self._has_changed else ""
            words = f"What saving would change. Nothing is written yet.{more}"
        self.message.show_message(words)
        self.diff.border_title = "changed meanwhile" if self._is_theirs else "to be saved"
        self._compare_texts(self._is_theirs)

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def _compare_texts(self, theirs: bool) -> None:
        worker = get_current_worker()
        comparison, problem = None, ""
        try:
            if theirs:
                data = self._engine.inspect_path(self._basis.path).data
                after = parse_text(data).text if data is not None else ""
            else:
                after = self._text
            if after != self._basis.text:
                comparison = DiffComparison(compare_texts(self._basis.text, after))
        except MemoryClosed:
            return
        except (NotText, MemtuiError, OSError) as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_comparison, comparison, theirs, problem)

    def _show_comparison(self, comparison: DiffComparison | None, theirs: bool, problem: str) -> None:
        if not self.is_mounted or theirs != self._is_theirs:
            return
        labels = ("as you opened it", "now") if theirs else ("as you opened it", "your text")
        if comparison is not None:
            self.diff.show(comparison, labels, short=("opened", "now" if theirs else "yours"))
        elif problem:
            self.diff.show_notice("It cannot be compared", to_one_line(problem))
        else:
            self.diff.show_notice("No difference", "The memory holds this text already.")
