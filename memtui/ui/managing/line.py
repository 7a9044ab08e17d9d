"""A line to type a name in: over the row that it belongs to, or where messages stand.

It is a screen of its own above the panes, which stay in sight and alive. So it takes no key from any of them, whoever
has the focus there, and a name is judged while it is typed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from memtui.core.visible import one_line
from memtui.ui.managing.names import common_start
from memtui.ui.screens.once import Once
from memtui.ui.text import fit

_NARROWEST = 24
"""Cells that a line over a row has at least; names are often longer than their pane is wide."""
_MARGIN = 2
"""Cells at the left that a line over a row leaves free, however long it grows."""
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of a name while it is typed.

    Attributes:
        words: A sentence, or nothing.
        is_problem: Whether it cannot be taken.
    """

    words: str = ""
    is_problem: bool = False


Judge = Callable[[str], Verdict]
Complete = Callable[[str], list[str]]


class LineScreen(ModalScreen[str | None], Once[str | None]):
    """Asks for a path, and answers with what was typed, or `None` if the person turned away or changed nothing.

    Args:
        question: What is typed, in a few words.
        value: What the line holds at first; safe to show.
        at: Where the cursor stands in it.
        judge: Says what is to be said of a value.
        complete: The paths that a value may go on to.
        does: What Enter does, in a word.
        hint: What is said before anything is typed.
        takes_first: Whether what the line holds at first can be the answer.
        place: Where the row is on screen that the line belongs to; `None` where it is not in sight.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", id="line.back", tooltip="Back; nothing is done"),
        Binding("tab", "complete", "complete", id="line.complete", tooltip="Complete the folder, or the next one"),
    ]

    DEFAULT_CSS = """
    LineScreen { background: transparent; layers: base over; }
    LineScreen #foot { dock: bottom; height: auto; }
    LineScreen #words { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    LineScreen #words.-problem { color: $text-warning; }
    LineScreen #keys { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    LineScreen #ask { height: 1; padding: 0 1; background: $boost; }
    LineScreen #ask.-over { layer: over; position: absolute; padding: 0; }
    LineScreen #question { width: auto; color: $text-accent; text-style: bold; }
    LineScreen #ask.-over #question { display: none; }
    LineScreen Input, LineScreen Input:focus { width: 1fr; background: $primary 40%; color: $foreground; }
    LineScreen:ansi Input, LineScreen:ansi Input:focus { background: ansi_default; text-style: underline; }
    """

    def __init__(
        self,
        question: str,
        value: str,
        *,
        at: int,
        judge: Judge,
        complete: Complete,
        does: str,
        hint: str = "",
        takes_first: bool = False,
        place: Callable[[], Region | None] | None = None,
    ) -> None:
        super().__init__()
        self._question = question
        self._first = value
        self._at = at
        self._judge = judge
        self._complete = complete
        self._does = does
        self._hint = hint
        self._takes_first = takes_first
        self._place = place
        self._offered: list[str] = []
        self._offer = 0
        self._tail = ""
        self._verdict = Verdict()

    def compose(self) -> ComposeResult:
        """The line; at the foot what is said of it, and its keys."""
        line = Horizontal(
            Static(Content(f"{self._question} "), id="question"),
            Input(self._first, compact=True, select_on_focus=False),
            id="ask",
        )
        if self._place is not None and self._place() is not None:
            line.add_class("-over")
            yield line
            yield Vertical(Static(id="words"), Static(id="keys"), id="foot")
        else:
            self._place = None
            yield Vertical(Static(id="words"), line, Static(id="keys"), id="foot")

    def on_mount(self) -> None:
        """Ready to type."""
        field = self.query_one(Input)
        field.focus()
        field.cursor_position = self._at
        keys = f"Enter {self._does}   Tab completes folders   Esc back"
        self.query_one("#keys", Static).update(Content(keys))
        self._say_what(self._first)
        if self._place is not None:
            self.set_interval(_LOOK_SECONDS, self._look_again)  # the rows below may move, and go

    def on_resize(self) -> None:
        """Stay on the row."""
        self.call_after_refresh(self._stay_in_place)
        self._stay_in_place()

    def _look_again(self) -> None:
        self._stay_in_place()
        value = self.query_one(Input).value
        verdict = self._judge(value)
        if verdict != self._verdict and (verdict.is_problem or value != self._first):
            self._verdict = verdict
            self._say(verdict.words, is_problem=verdict.is_problem)

    def _stay_in_place(self) -> None:
        if self._place is None:
            return
        line, place = self.query_one("#ask"), self._place()
        if place is None:  # its row went out of sight: the line stays where it was
            return
        wanted = max(place.width, _NARROWEST, cell_len(self.query_one(Input).value) + 2)
        left = max(min(place.x, self.size.width - 1 - wanted), min(place.x, _MARGIN))
        width = max(min(wanted, self.size.width - left - 1), 1)
        if (line.styles.offset.x.value, line.styles.offset.y.value) != (left, place.y):
            line.styles.offset = (left, place.y)
        if line.styles.width is None or line.styles.width.value != width:
            line.styles.width = width

    @on(Input.Changed)
    def _show_verdict(self, event: Input.Changed) -> None:
        event.stop()
        self._offered = []
        self._say_what(event.value)
        self._stay_in_place()

    def _say_what(self, value: str) -> None:
        verdict = self._verdict = self._judge(value) if value != self._first else Verdict(self._hint)
        self._say(verdict.words, is_problem=verdict.is_problem)

    def _say(self, words: str, *, is_problem: bool = False) -> None:
        line = self.query_one("#words", Static)
        shown = words or ("" if self._place is None else self._question)
        line.update(Content(fit(one_line(shown), max(self.size.width - 2, 1))))
        line.set_class(is_problem, "-problem")

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value.strip() or (event.value == self._first and not self._takes_first):
            self.dismiss(None)
            return
        verdict = self._judge(event.value)
        if verdict.is_problem:
            self._say(verdict.words, is_problem=True)
            self.app.bell()
        else:
            self.dismiss(event.value)

    def action_complete(self) -> None:
        """As far as it is clear which folder is meant; from then on one after the other."""
        field = self.query_one(Input)
        if self._offered and field.value == self._offered[self._offer] + self._tail:
            self._offer = (self._offer + 1) % len(self._offered)
            self._put(self._offered[self._offer], self._tail)
            return
        begun, rest = field.value[: field.cursor_position], field.value[field.cursor_position :]
        found = self._complete(begun)
        if not found:
            self._say("No folder begins like that. One that is missing is made.")
            return
        start = common_start(found)
        if len(found) > 1 and len(start) > len(begun.lstrip("/")):
            self._put(start, rest)
        else:
            self._offered, self._offer, self._tail = found, 0, self._name_behind(begun, rest)
            self._put(found[0], self._tail)
        if len(found) > 1:
            self._say("  ".join(path.rstrip("/").rpartition("/")[2] + "/" for path in found))

    def _name_behind(self, begun: str, rest: str) -> str:
        """What stays behind a completed folder: the name, but not the rest of the folder that it takes the place of."""
        if "/" in rest:
            return rest.partition("/")[2]
        if not rest or rest == self._first.rpartition("/")[2]:
            return rest
        return begun.rpartition("/")[2] + rest

    def _put(self, folder: str, behind: str) -> None:
        field = self.query_one(Input)
        with self.prevent(Input.Changed):
            field.value = folder + behind
        field.cursor_position = len(folder)
        self._verdict = self._judge(field.value)  # not said: the folders that there are tell more
        self._stay_in_place()

    def on_click(self, event: events.Click) -> None:
        """A click beside the line turns away from it."""
        if not self.query_one("#ask").region.contains(event.screen_x, event.screen_y):
            self.dismiss(None)

    def action_back(self) -> None:
        """Turn away."""
        self.dismiss(None)
