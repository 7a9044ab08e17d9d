"""Where in the record a screen is, and the two lines that say so."""

import time
from typing import NamedTuple

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.core.events import Event
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.text import fit


class Moment(NamedTuple):
    """Where in the record the screen is."""

    at: int
    """The number of the event after which the folder was so; 0 for before the first one."""
    event: Event | None
    """That event."""


class Timeline(Widget):
    """Which event this is: in words, and as a place on a line from the first to the last."""

    DEFAULT_CSS = """
    Timeline { height: 2; padding: 0 1; background: $panel; color: $foreground; }
    """

    moment: reactive[Moment] = reactive(Moment(0, None))
    last: reactive[int] = reactive(0)
    """The number of the newest event."""

    def render(self) -> RenderResult:
        """`#41 of 260  Claude changed user_preferences.md (+1 -1)  10:14:02`, and the line below."""
        if not self.last:
            return Content("")  # the moment is still being made
        at, event = self.moment
        width = self.content_size.width
        number = f"#{at:,} of {self.last:,}"
        when = wording.when(event, time.time_ns() // 1_000) if event else ""
        words = "Before anything was recorded"
        if event is not None:
            words = one_line(wording.sentence(event) if event.is_error else wording.clause(event))
        room = width - len(number) - len(when) - 4
        words = fit(words, max(room, 0))
        gap = " " * max(room - cell_len(words), 0)
        before = min(width - 1, (width - 1) * at // max(self.last, 1))
        return Content("\n").join(
            [
                Content.assemble((number, "bold $text-warning"), "  ", (words, "bold"), gap, "  ", when),
                Content.assemble(
                    ("━" * before, "$warning"),
                    ("┃", "bold $text-warning"),
                    ("─" * (width - 1 - before), "$foreground 40%"),
                ),
            ]
        )
