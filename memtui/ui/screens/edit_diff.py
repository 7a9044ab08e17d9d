"""What a save would write, as a diff; and what became of the memory meanwhile."""

from typing import TYPE_CHECKING, ClassVar

from textual import getters, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.worker import get_current_worker

from memtui.core.diffs import compare
from memtui.core.errors import Closed, MemtuiError
from memtui.core.shape import NotText, shaped
from memtui.core.visible import one_line
from memtui.ui.diff.layout import Comparison
from memtui.ui.diff.view import DIFF_KEYS, DiffView
from memtui.ui.edit.basis import Basis
from memtui.ui.frame import Header, KeyLine, MessageLine, Status
from memtui.ui.screens.beside_diff import BesideDiff

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine


class EditDiffKeys(KeyLine):
    """The keys, with the way back last."""

    LAST: ClassVar[tuple[str, ...]] = ("app.commands", "app.help", "edit_diff.back")


class EditDiffScreen(BesideDiff):
    """The difference between what was opened and what is written now.

    Args:
        engine: The memory.
        basis: What the text was made from.
        text: The text.
        has_changed: Whether the memory is another by now: then that is shown first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "turn", "yours/theirs", id="edit_diff.turn", tooltip="What you changed, or what others changed"),
        *DIFF_KEYS,
        Binding("escape,q", "dismiss", "back", id="edit_diff.back", tooltip="Back to the text"),
    ]

    DEFAULT_CSS = """
    EditDiffScreen {
        layout: vertical;
        #diff {
            height: 1fr; border: round $accent; background: $background;
            border-title-color: $text-accent; border-title-style: bold; border-subtitle-color: $foreground;
        }
    }
    """

    BANNERS_BEFORE = "#diff"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it

    header = getters.query_one(Header)

    def __init__(self, engine: "Engine", basis: Basis, text: str, *, has_changed: bool) -> None:
        super().__init__()
        self._engine = engine
        self._basis = basis
        self._text = text
        self._has_changed = has_changed
        self._is_theirs = has_changed

    def compose(self) -> ComposeResult:
        """The diff, alone."""
        yield Header()
        yield DiffView(title="Diff", id="diff")
        yield MessageLine(id="message")
        yield EditDiffKeys()

    def on_mount(self) -> None:
        """Compare behind the first paint."""
        self.header.status = Status(
            self._basis.path, live="DIFF", follow=None, read_only=self._engine.read_only, program="memtui edit"
        )
        self.diff.focus()
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There are two only where the memory has changed."""
        if action == "turn" and not self._has_changed:
            return False
        return super().check_action(action, parameters)

    def action_turn(self) -> None:
        """The other of the two."""
        self._is_theirs = not self._is_theirs
        self._show()

    def _show(self) -> None:
        if self._is_theirs:
            self.message.say("What others changed since you opened it. t shows what you changed.")
        else:
            more = "  t shows what others changed." if self._has_changed else ""
            self.message.say(f"What saving would change. Nothing is written yet.{more}")
        self.diff.border_title = "changed meanwhile" if self._is_theirs else "to be saved"
        self._compare(self._is_theirs)

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def _compare(self, theirs: bool) -> None:
        worker = get_current_worker()
        comparison, problem = None, ""
        try:
            if theirs:
                data = self._engine.look(self._basis.path).data
                after = shaped(data).text if data is not None else ""
            else:
                after = self._text
            if after != self._basis.text:
                comparison = Comparison(compare(self._basis.text, after))
        except Closed:
            return
        except (NotText, MemtuiError, OSError) as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._put, comparison, theirs, problem)

    def _put(self, comparison: Comparison | None, theirs: bool, problem: str) -> None:
        if not self.is_mounted or theirs != self._is_theirs:
            return
        labels = ("as you opened it", "now") if theirs else ("as you opened it", "your text")
        if comparison is not None:
            self.diff.show(comparison, labels, short=("opened", "now" if theirs else "yours"))
        elif problem:
            self.diff.show_notice("It cannot be compared", one_line(problem))
        else:
            self.diff.show_notice("No difference", "The memory holds this text already.")
