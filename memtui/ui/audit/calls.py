"""What somebody did around a change, call by call, with the words that a person had asked for it in."""

from collections.abc import Sequence

from rich.cells import cell_len

from memtui.core.actors import shown_name
from memtui.core.events import Agent, Event
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.activity.row import lines_text
from memtui.ui.audit.inspection import Calls
from memtui.ui.audit.masks import without_secrets
from memtui.ui.audit.page import Line, PageView, Writer, broken, fact, joined
from memtui.ui.audit.pages import moment
from memtui.ui.text import fit, fit_middle

_MOST = 400
"""Characters of what was asked for that are shown."""
_COMMAND, _RESULT, _COUNTS = 11, 9, 9
"""Cells of the columns: `str_replace`, `no change`, `+12 -3`."""
_BEFORE = 12
"""Cells of the sign and of the time."""
_ROOMY = 64
"""Cells from which on there is a column for how much was changed."""
_PATH, _NOTE = 40, 12
"""Cells of a path where there is room for a note behind it, and cells of the note at least."""


class CallsView(PageView):
    """The calls around a change, with that one in the middle."""

    def show_calls(self, calls: Calls | None) -> None:
        """Show others; nothing while they are not known."""
        self.show(of_calls(calls))
        self.call_after_refresh(self._centre)

    def _centre(self) -> None:
        rows = enumerate(self._lines)
        at = next((number for number, line in rows if any(role == "point" for _, role in line)), 0)
        self.scroll_to(y=max(at - self._page // 2, 0), animate=False)


def of_calls(calls: Calls | None) -> Writer:
    """The page of what was done around a change.

    Args:
        calls: What is known of it; `None` while it is read.
    """

    def write(width: int) -> list[Line]:
        if calls is None:
            return broken("The calls around it are being read.", width, "detail")
        return joined(
            _asked(calls.prompt, width),
            [
                *_more(calls.earlier, "before", width),
                *(line for each in calls.events for line in _call(each, each.seq == calls.seq, width)),
                *_more(calls.later, "after", width),
            ],
        )

    return write


def asked(prompt: str) -> str:
    """What a person had asked for, on one line, without secrets, and not endless."""
    words = one_line(" ".join(without_secrets(prompt).split()))
    return f'"{fit(words, _MOST)}"' if words else ""


def title(calls: Calls | None) -> str:
    """What stands in the edge of the pane."""
    first = calls.events[0] if calls is not None and calls.events else None
    if first is None or calls is None:
        return "Calls"
    who = f"Calls of {one_line(shown_name(first.actor))}"
    if isinstance(first.actor, Agent) and first.actor.session:
        who += f" in session {one_line(first.actor.session)}"
    day, _, clock = moment(first.at_us).partition(" ")
    return f"{who}, {day}" if clock else who


def _asked(prompt: str, width: int) -> list[Line]:
    return fact("asked", asked(prompt), width)


def _more(count: int, words: str, width: int) -> Sequence[Line]:
    return broken(f"  {count:,} {'call' if count == 1 else 'calls'} {words}", width, "detail") if count else ()


def _call(event: Event, here: bool, width: int) -> list[Line]:
    """A call in a row; of one that was refused, why, below it where there is no room behind it."""
    row = wording.activity_row(event)
    counts = " ".join(f"{sign}{lines_text(count)}" for sign, count in (("+", row.added), ("-", row.removed)) if count)
    is_roomy = width >= _ROOMY
    result = counts if counts and not is_roomy and not row.is_refused else row.result
    behind = f" {counts:<{_COUNTS}}" if is_roomy else ""
    room = max(width - _BEFORE - _COMMAND - _RESULT - 2 - cell_len(behind), 8)
    note = fit(f"  {one_line(row.note)}", room - _PATH) if row.note and room - _PATH >= _NOTE else ""
    room = min(room, _PATH) if room - _PATH >= _NOTE else room
    path = fit_middle(one_line(row.path), room)
    strong = "strong" if here else ""
    line = (
        ("> " if here else "  ", "point" if here else ""),
        (f"{row.time:<8}  ", "detail"),
        (f"{fit(one_line(row.command), _COMMAND):<{_COMMAND}} ", strong),
        (path + " " * (room - cell_len(path)) + " ", strong),
        (f"{fit(one_line(result), _RESULT):<{_RESULT}}", "fail" if row.is_refused else "detail"),
        (behind + note, "detail"),
    )
    if not row.is_refused or note or not row.note:
        return [line]
    return [line, ((" " * _BEFORE + fit(one_line(row.note), max(width - _BEFORE, 8)), "detail"),)]
