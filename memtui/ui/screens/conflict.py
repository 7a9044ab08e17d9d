"""The question that a conflict is: what each of the two did, and a key for everything that can be chosen.

It is given values and answers with one; it neither reads nor writes anything.
"""

from typing import ClassVar

from textual import events, getters
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from memtui.ui.conflict.about import (
    CALM_SHORT,
    Answer,
    Choice,
    Conflict3,
    KeepMine,
    Merge,
    TakeTheirs,
    about_conflict,
)
from memtui.ui.conflict.place import PlaceView
from memtui.ui.frame import KeyLine, MessageLine
from memtui.ui.screens.once import Once

__all__ = ["Choice", "Conflict3", "ConflictScreen", "KeepMine", "Merge", "TakeTheirs", "about_conflict"]

_WIDE = 120
"""Columns of the screen from which on the three texts stand beside each other."""
_ROW = 60
"""Cells of an answer in the narrow box."""
_LOW = 22
"""Rows of the screen below which nothing is spaced out, and only what can be chosen is listed."""
_FIXED, _SPACES = 4, 4
"""Rows that are always there: the frame of the box and two lines below it; and empty ones."""


class _Keys(KeyLine):
    """The keys of the question, with the way back last."""

    LAST: ClassVar[tuple[str, ...]] = ("conflict.back",)


class ConflictScreen(ModalScreen[Choice | None], Once[Choice | None]):
    """Asks which of two texts it is to be; `None` is back to the editor, where nothing has changed.

    Args:
        about: What is asked.
    """

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

    place = getters.query_one(PlaceView)
    options = getters.query_one(OptionList)
    message = getters.query_one(MessageLine)

    def __init__(self, about: Conflict3) -> None:
        super().__init__()
        self._about = about
        self._at = 0
        self._opening = False

    @property
    def about(self) -> Conflict3:
        """What is asked."""
        return self._about

    def compose(self) -> ComposeResult:
        """What happened, where, and what can be chosen."""
        with Vertical(id="box"):
            yield Static(id="sides", markup=False)
            scroll = VerticalScroll(id="place-scroll")
            scroll.can_focus = False
            with scroll:
                yield PlaceView(self._about.names, self._about.moments, id="place")
            yield OptionList(id="answers", markup=False)
        with Vertical(id="foot"):
            yield MessageLine(id="message")
            yield _Keys()

    def on_mount(self) -> None:
        """Ask."""
        self.show(self._about)
        self.options.focus()

    def show(self, about: Conflict3) -> None:
        """Ask about this instead: it has changed once more. What is highlighted stays so, if it is still there."""
        chosen = self._answer_at(self.options.highlighted)
        self._about, self._at = about, min(self._at, max(len(about.places) - 1, 0))
        self._show_place()
        self._lay_out()
        keys = [answer.key for answer in about.answers]
        self.options.highlighted = keys.index(chosen.key) if chosen is not None and chosen.key in keys else 0
        self.refresh_bindings()

    def _show_place(self) -> None:
        about = self._about
        self.place.show(about.places[self._at] if about.places else None, about.names, about.moments)
        count = len(about.places)
        what = "conflict" if about.merged is not None and not about.merged.is_clean else "change"
        words = f" {what} {self._at + 1} of {count:,}  n next " if count > 1 else ""
        self.query_one("#box").border_subtitle = Content(words)
        self.query_one("#place-scroll").scroll_home(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """The answers are always in sight; a long place scrolls."""
        del event
        self._lay_out()

    def _lay_out(self) -> None:
        about, (width, height) = self._about, self.size
        is_low = height < _LOW
        self.set_class(width >= _WIDE, "-wide")
        self.set_class(is_low, "-low")
        room = min(width * 94 // 100, 150) - 8 if width >= _WIDE else min(width, 68) - 8
        title = about.title if len(about.title) <= room else about.short_title
        self.query_one("#box").border_title = Content(f" ! {title} ")
        self.message.say(about.calm if len(about.calm) <= width - 2 else CALM_SHORT)
        together = Content("      ").join(map(Content, about.sides))
        rows_of_sides = 1 if together.cell_length <= room else len(about.sides)
        self.query_one("#sides", Static).update(
            together if rows_of_sides == 1 else Content("\n").join(map(Content, about.sides))
        )
        highlighted = self.options.highlighted
        answers = (Option(_row(answer, 0 if at else min(room, _ROW))) for at, answer in enumerate(about.answers))
        self.options.set_options([*answers, *(() if is_low else _OTHERS)])
        self.options.highlighted = highlighted
        scroll = self.query_one("#place-scroll")
        others = _FIXED + rows_of_sides + self.options.option_count + (0 if is_low else _SPACES)
        scroll.styles.max_height = max(height - others, 1)
        scroll.display = bool(about.places)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What cannot be chosen has no key."""
        if action == "choose":
            return any(answer.key == parameters[0] for answer in self._about.answers)
        return action != "place" or len(self._about.places) > 1

    def action_choose(self, key: str) -> None:
        """That is the answer."""
        answer = next((each for each in self._about.answers if each.key == key), None)
        if answer is not None:
            self.dismiss(answer.choice)

    def action_place(self, step: int) -> None:
        """To the next place, or the one before; round the end."""
        self._at = (self._at + step) % len(self._about.places)
        self._show_place()

    def action_scroll(self, pages: int) -> None:
        """Some pages down in a place that is longer than there is room."""
        scroll = self.query_one("#place-scroll")
        scroll.scroll_to(y=scroll.scroll_y + pages * max(scroll.size.height - 1, 1), animate=False)

    def action_differences(self) -> None:
        """The full diffs; back from there, it is still asked."""
        from memtui.ui.conflict.differences import DifferencesScreen  # deferred: loaded when it is asked for

        if not self._opening:
            self._opening = True
            self.app.push_screen(DifferencesScreen(self._about), lambda _: setattr(self, "_opening", False))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click chooses."""
        answer = self._answer_at(event.option_index)
        if answer is not None:
            self.dismiss(answer.choice)
        elif event.option_id == "differences":
            self.action_differences()
        else:
            self.dismiss(None)

    def _answer_at(self, index: int | None) -> Answer | None:
        answers = self._about.answers
        return answers[index] if index is not None and index < len(answers) else None


def _row(answer: Answer, width: int) -> Content:
    """An answer; that which is recommended says so at the end of its row of that many cells."""
    words = Content.assemble((f" {answer.key}   ", "bold $text-accent"), answer.label)
    room = width - words.cell_length - len(_BEST)
    return Content.assemble(words, " " * max(room, 1), (_BEST, "italic")) if width else words


_BEST = "(recommended)"
_OTHERS = (
    Option(Content.assemble((" d   ", "bold $text-accent"), "See the full diff"), id="differences"),
    Option(Content.assemble((" Esc", "bold $text-accent"), "  Back to editing, unsaved"), id="back"),
)
