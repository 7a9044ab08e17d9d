"""The questions of a save conflict: which text stays, and whose lines at each place. They write nothing."""

from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import events, getters, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.worker import get_current_worker

from memtui.core.diffs import compare_texts
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.merge import MergeHunk, MergeSide
from memtui.core.text_format import NotText, parse_text
from memtui.core.unicode import to_one_line
from memtui.editing.conflict import (
    CALM_SHORT,
    ConflictChoice,
    ConflictPrompt,
    DecidePlaces,
    KeepMine,
    MergeTexts,
    TakeTheirs,
)
from memtui.editing.save import EditBase
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import label_key
from memtui.ui.screens.above_browser import DiffPaneScreen
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.widgets.choice_list import ChoiceList
from memtui.ui.widgets.conflict import (
    MODAL_CSS,
    PLACE_KEYS,
    AnswerRow,
    ConflictBox,
    ConflictDiffScreen,
    ConflictQuestion,
    Outcome,
)
from memtui.ui.widgets.diff.layout import DiffComparison
from memtui.ui.widgets.diff.view import DIFF_KEYS, DiffView

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine


_Result = TypeVar("_Result")


class _PlaceScreen(ModalScreen[_Result | None], DismissOnceScreen[_Result | None]):
    """A question in a box about places, one of which is on show; `None` is back.

    Args:
        about: The conflict.
    """

    BACK: ClassVar[str]
    """The id of the binding that goes back."""

    box = getters.query_one(ConflictBox)
    message = getters.query_one(MessageLine)

    def __init__(self, about: ConflictPrompt) -> None:
        super().__init__()
        self.conflict = about
        self._at = 0

    def compose(self) -> ComposeResult:
        yield ConflictBox()
        with Vertical(id="foot"):
            yield MessageLine(id="message")
            yield KeyLine(self.BACK)

    def on_mount(self) -> None:
        self.show_place()

    def on_resize(self, event: events.Resize) -> None:
        del event
        self.show_place()

    def count_places(self) -> int:
        """The places that one can go to."""
        return len(self.conflict.places)

    def show_place(self) -> None:
        """Draw the question and the place on show."""
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        del parameters
        return action != "place" or self.count_places() > 1

    def action_place(self, step: int) -> None:
        """To the next place, or the one before; in a circle."""
        self._at = (self._at + step) % self.count_places()
        self.show_place()

    def action_scroll(self, pages: int) -> None:
        self.box.scroll_place(pages)


class ConflictScreen(_PlaceScreen[ConflictChoice]):
    """Asks which of two texts to keep; `None` is back to the unchanged editor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "choose('m')", "merge", id="conflict.merge", tooltip="Merge both"),
        Binding("k", "choose('k')", "keep yours", id="conflict.keep", tooltip="Keep yours"),
        Binding("o", "choose('o')", "old path", id="conflict.old_place", tooltip="Keep yours at the old path"),
        Binding("b", "choose('b')", "save as", id="conflict.beside", tooltip="Save yours under a new name"),
        Binding("t", "choose('t')", "take theirs", id="conflict.take", tooltip="Take theirs; yours becomes a draft"),
        Binding("d", "differences", "diff", id="conflict.differences", tooltip="Show the full diffs"),
        *PLACE_KEYS,
        Binding("escape,q", "dismiss", "back", id="conflict.back", tooltip="Keep editing, unsaved"),
    ]  # fmt: skip

    DEFAULT_CSS = MODAL_CSS.format(name="ConflictScreen")
    BACK = "conflict.back"

    def show(self, about: ConflictPrompt) -> None:
        """Ask about a newer conflict; the highlighted choice stays, if it is still there."""
        self.conflict, self._at = about, min(self._at, max(len(about.places) - 1, 0))
        self.show_place()
        self.refresh_bindings()

    def show_place(self) -> None:
        about = self.conflict
        count = len(about.places)
        what = "conflict" if about.merged is not None and not about.merged.is_clean else "change"
        rows = [AnswerRow(each.key, label_key(_BINDINGS[each.key]), each.label) for each in about.options]
        rows += [
            AnswerRow("differences", label_key("conflict.differences"), "Show the full diff", is_extra=True),
            AnswerRow("back", label_key("conflict.back"), "Keep editing, unsaved", is_extra=True),
        ]
        place = about.places[self._at] if about.places else None
        outcomes: dict[str, Outcome] = dict.fromkeys((row.id for row in rows), "nothing is written")
        if place is not None:
            outcomes |= {each.key: _preview_choice(each.choice, place, about) for each in about.options}
        self.box.ask(
            about,
            ConflictQuestion(
                about.title, about.short_title, f"{what} {self._at + 1:,} of {count:,}" if count > 1 else "", place,
                about.sides, rows, outcomes, is_first_best=True,
            ),
            self.size,
        )  # fmt: skip
        self.message.show_message(about.calm if len(about.calm) <= self.size.width - 2 else CALM_SHORT)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "choose":
            return any(answer.key == parameters[0] for answer in self.conflict.options)
        return super().check_action(action, parameters)

    def action_choose(self, key: str) -> None:
        option = next((each for each in self.conflict.options if each.key == key), None)
        if option is None:
            return
        if isinstance(option.choice, DecidePlaces):
            self._open(MergeScreen(self.conflict))
        else:
            self.dismiss(option.choice)

    def action_differences(self) -> None:
        self._open(ConflictDiffScreen(self.conflict))

    def _open(self, screen: "MergeScreen | ConflictDiffScreen") -> None:
        """Push one screen, also if its key is pressed twice at once."""
        if self.is_current:
            self.app.push_screen(screen, self._close)

    def _close(self, merged: MergeTexts | None) -> None:
        if merged is not None:
            self.dismiss(merged)

    def on_option_list_option_selected(self, event: ChoiceList.OptionSelected) -> None:
        match event.option_id:
            case "differences":
                self.action_differences()
            case "back":
                self.dismiss(None)
            case str(key):
                self.action_choose(key)


def _preview_choice(choice: ConflictChoice | DecidePlaces, place: MergeHunk, about: ConflictPrompt) -> Outcome:
    """What a choice leaves at a place."""
    match choice:
        case MergeTexts():
            return place.merged
        case KeepMine():
            return place.mine
        case TakeTheirs():
            return place.theirs if about.theirs is not None else "it stays as it is now"
        case DecidePlaces():
            return "as you choose at each place"


_BINDINGS = {
    "m": "conflict.merge",
    "k": "conflict.keep",
    "o": "conflict.old_place",
    "b": "conflict.beside",
    "t": "conflict.take",
}
"""The ids of the bindings, by answer."""


_DECISIONS = {"mine": "yours", "edit": "both"}


class MergeScreen(_PlaceScreen[MergeTexts]):
    """Asks at each place that both changed whose lines stay; `None` is back to the question of the conflict."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k", "decide('mine')", "yours", id="merge.mine", tooltip="Yours here"),
        Binding("t", "decide('theirs')", "theirs", id="merge.theirs", tooltip="Theirs here"),
        Binding("b", "decide('both')", "both", id="merge.both", tooltip="Both here, yours first"),
        Binding("e", "decide('edit')", "both, edit", id="merge.edit", tooltip="Both here, then edit before saving"),
        Binding("d", "differences", "diff", id="merge.differences", tooltip="Show the full diffs"),
        *PLACE_KEYS,
        Binding("escape,q", "dismiss", "back", id="merge.back", tooltip="Back to the conflict; nothing is merged"),
    ]

    DEFAULT_CSS = MODAL_CSS.format(name="MergeScreen")
    BACK = "merge.back"

    def __init__(self, about: ConflictPrompt) -> None:
        super().__init__(about)
        assert about.merged is not None
        self._merged = about.merged
        self._decisions: dict[int, str] = {}

    def count_places(self) -> int:
        return len(self._merged.conflicts)

    def show_place(self) -> None:
        about, count = self.conflict, len(self._merged.conflicts)
        place = self._merged.conflicts[self._at]
        decided = self._decisions.get(self._at)
        words = f"place {self._at + 1:,} of {count:,}{f', {_DECISIONS.get(decided, decided)}' if decided else ''}"
        name = about.names[1]
        theirs = f"{name}'s" if name not in ("now", "elsewhere", "theirs") else "Theirs"
        rows = [
            AnswerRow("theirs", label_key("merge.theirs"), theirs),
            AnswerRow("mine", label_key("merge.mine"), "Yours"),
            AnswerRow("both", label_key("merge.both"), "Both, yours first"),
            AnswerRow("edit", label_key("merge.edit"), "Both, then edit before saving"),
            AnswerRow("back", label_key("merge.back"), "Back; nothing is merged", is_extra=True),
        ]
        both = place.get_lines(MergeSide.BOTH)
        outcomes: dict[str, Outcome] = {
            "theirs": place.theirs, "mine": place.mine, "both": both, "edit": both, "back": "nothing is merged"
        }  # fmt: skip
        title = f"Line {place.first_line:,} was changed on both sides. Keep which?"
        question = ConflictQuestion(title, title, words if count > 1 else "", place, (), rows, outcomes)
        self.box.ask(about, question, self.size)
        self.message.show_message("Nothing is written until every place is decided.")

    def action_decide(self, decision: str) -> None:
        """Keep a decision for the place on show, and go to the next place without one; the last one ends it."""
        self._decisions[self._at] = decision
        count = len(self._merged.conflicts)
        ahead = [*range(self._at + 1, count), *range(self._at)]
        open_places = [place for place in ahead if place not in self._decisions]
        if open_places:
            self._at = open_places[0]
            self.show_place()
            return
        names = [self._decisions[place] for place in range(count)]
        sides = [MergeSide.BOTH if name == "edit" else MergeSide(name) for name in names]
        line = self._merged.find_line(sides, names.index("edit")) if "edit" in names else 0
        self.dismiss(MergeTexts(self._merged.resolve(sides), line))

    def action_differences(self) -> None:
        if self.is_current:
            self.app.push_screen(ConflictDiffScreen(self.conflict))

    def on_option_list_option_selected(self, event: ChoiceList.OptionSelected) -> None:
        if event.option_id == "back":
            self.dismiss(None)
        elif event.option_id is not None:
            self.action_decide(event.option_id)


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
        Binding("t", "turn", "yours/theirs", id="edit_diff.turn", tooltip="Your changes, or others' changes"),
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
            words = f"Changes by others since you opened it. {key} shows your changes."
        else:
            more = f"  {key} shows changes by others." if self._has_changed else ""
            words = f"Changes to be saved. Nothing is written yet.{more}"
        self.message.show_message(words)
        self.diff.border_title = "changed by others" if self._is_theirs else "to be saved"
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
            self.diff.show_notice("Cannot compare", to_one_line(problem))
        else:
            self.diff.show_notice("No difference", "The file already has this text.")
