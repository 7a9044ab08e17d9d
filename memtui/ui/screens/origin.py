"""Where the lines of a note come from: the session, the prompt and the call that wrote them; Enter copies a row."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from memtui.agents.origin import Origin, facts_of, origins_of, stretches_of
from memtui.core.errors import MemtuiError
from memtui.opening import state_directory
from memtui.ui.linking.about import Fact
from memtui.ui.screens.facts import FactsScreen, fact_row, heading_row
from memtui.ui.text import content, fit

if TYPE_CHECKING:
    from memtui.engine import Engine

_MOST = 200
"""Stretches of lines that are listed."""
_LINES = 3
"""Lines of a stretch that are shown."""


class OriginScreen(FactsScreen[None]):
    """Shows who wrote the lines of a note, because of what, and where that is told.

    Args:
        engine: The open memory.
        path: The note, relative to the folder.
        line: The line to begin at, from 1.
        folder: Where the folder is.
        state: Where its journal lies, if not in its usual place.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Back", id="origin.back", tooltip="Close"),
    ]

    def __init__(self, engine: "Engine", path: str, line: int, *, folder: str, state: str | None) -> None:
        super().__init__(f"Origin of {path}")
        self._engine = engine
        self._path = path
        self._line = line
        self._folder = folder
        self._state = state
        self._stretches: Sequence[Sequence[Origin]] | None = None
        self._problem = ""
        self._facts: list[Fact] = []

    @work(thread=True, exclusive=True, group="origin", exit_on_error=False)
    def _look(self) -> None:
        worker, problem, stretches = get_current_worker(), "", list[list[Origin]]()
        try:
            seen = self._engine.look(self._path)
            if seen.data is None:
                problem = seen.problem or "It has no lines to tell of."
            else:
                state = state_directory(self._folder, self._state)
                stretches = stretches_of(origins_of(self._engine, self._path, seen.data, state=state))
        except (MemtuiError, OSError) as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._take, stretches, problem)

    def _take(self, stretches: Sequence[Sequence[Origin]], problem: str) -> None:
        self._stretches = stretches
        self._problem = problem or ("" if stretches else "It holds nothing, so there is nothing to tell of.")
        self._show()

    def _show(self) -> None:
        options, width = self.options, self.width
        before, here = options.highlighted, None
        rows: list[Option] = []
        self._facts = []
        for stretch in self._listed():
            rows += _lines(stretch, width, is_first=not rows)
            if stretch[0].line <= self._line:
                here = len(rows)
            for name, words in facts_of(stretch[0]):
                rows.append(Option(fact_row(Fact(name, words), width), id=f"f{len(self._facts)}"))
                self._facts.append(Fact(name, words))
        if self._stretches is None:
            rows.append(Option(Content("Looking .."), disabled=True))
        elif self._problem:
            rows.append(Option(content(self._problem, "$text-warning"), disabled=True))
        elif len(self._stretches) > _MOST:
            words = f"{len(self._stretches) - _MOST:,} more stretches of lines are not listed: memtui origin lists all."
            rows.append(Option(Content("\n" + words), disabled=True))
        options.clear_options()
        options.add_options(rows)
        if self._facts:
            options.highlighted = here if before is None else before
            options.scroll_to_highlight(top=before is None)

    def _listed(self) -> Sequence[Sequence[Origin]]:
        """Those that have room, with the one that the person looks at among them."""
        stretches = self._stretches or ()
        here = sum(stretch[0].line <= self._line for stretch in stretches) - 1
        start = max(0, min(here - _MOST // 2, len(stretches) - _MOST))
        return stretches[start : start + _MOST]

    def on_option_list_option_highlighted(self) -> None:
        """Say what can be done there."""
        self.options.border_subtitle = "Enter copies it   Esc back"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Copy it."""
        self._copy(self._facts[int((event.option_id or "f0")[1:])])


def _lines(stretch: Sequence[Origin], width: int, *, is_first: bool) -> list[Option]:
    """The lines that were written together, as far as they have room."""
    first, last = stretch[0].line, stretch[-1].line
    heading = heading_row(f"line {first}" if first == last else f"lines {first}-{last}", width, is_first=is_first)
    shown = [content(fit(f"  | {origin.text}", width)) for origin in stretch[:_LINES]]
    if len(stretch) > _LINES:
        shown.append(Content(f"  | and {len(stretch) - _LINES:,} more"))
    return [heading, Option(Content("\n").join(shown), disabled=True)]
