"""The calls around a change: a view, its page, its title, and the prompt before them."""

from collections.abc import Sequence

from rich.cells import cell_len

from memtui.core import wording
from memtui.core.events import Agent, Event, format_actor_name
from memtui.core.history import SurroundingCalls
from memtui.core.messages import summarize_refusal
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_line_count
from memtui.ui.masking import mask_secrets
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.activity import build_activity_row
from memtui.ui.widgets.finding_detail import format_timestamp
from memtui.ui.widgets.finding_page import PageLine, PageView, Writer, format_fact, join_parts, wrap_text

_LONGEST_PROMPT = 400
"""Cells."""
_COMMAND, _RESULT, _COUNTS = 11, 9, 9
"""Cells of the columns: `str_replace`, `no change`, `+12 -3`."""
_BEFORE = 12
"""Cells of the sign and of the time."""
_WIDTH_WITH_COUNTS = 64
"""Cells from which on the numbers of lines have a column."""
_PATH, _NOTE = 40, 12
"""Cells of a path where there is room for a note behind it, and cells of the note at least."""


class CallsView(PageView):
    """The calls around a change, with the call of the change in the middle."""

    def show_calls(self, calls: SurroundingCalls | None) -> None:
        """Show calls; `None` while they are read."""
        self.show(build_calls_page(calls))
        self.call_after_refresh(self._center_change)

    def _center_change(self) -> None:
        rows = enumerate(self._lines)
        at = next((number for number, line in rows if any(role == "point" for _, role in line)), 0)
        self.scroll_to(y=max(at - self._viewport.height // 2, 0), animate=False)


def build_calls_page(calls: SurroundingCalls | None) -> Writer:
    """The page of the calls around a change; `None` while they are read."""

    def write(width: int) -> list[PageLine]:
        if calls is None:
            return wrap_text("Reading the calls around it.", width, "detail")
        return join_parts(
            format_fact("asked", format_prompt(calls.prompt), width),
            [
                *_format_more(calls.earlier, "before", width),
                *(line for each in calls.events for line in _format_call(each, each.seq == calls.seq, width)),
                *_format_more(calls.later, "after", width),
            ],
        )

    return write


def format_prompt(prompt: str) -> str:
    """A prompt on one line, without secrets, and not endless."""
    words = to_one_line(" ".join(mask_secrets(prompt).split()))
    return f'"{truncate(words, _LONGEST_PROMPT)}"' if words else ""


def format_calls_title(calls: SurroundingCalls | None) -> str:
    """The title of the pane."""
    if calls is None or not calls.events:
        return "Calls"
    first = calls.events[0]
    who = f"Calls of {to_one_line(format_actor_name(first.actor))}"
    if isinstance(first.actor, Agent) and first.actor.session:
        who += f" in session {to_one_line(first.actor.session)}"
    day, _, clock = format_timestamp(first.at_us).partition(" ")
    return f"{who}, {day}" if clock else who


def _format_more(count: int, words: str, width: int) -> Sequence[PageLine]:
    return wrap_text(f"  {wording.format_count(count, 'call')} {words}", width, "detail") if count else ()


def _describe_outcome(event: Event) -> str:
    """What is said beside a call: why it was refused, where something was moved to, or its note."""
    if event.is_error and not event.note:
        return summarize_refusal(event)
    if event.new_path and not event.is_error:
        return f"to {wording.to_relative_path(event.new_path)}"
    return event.note


def _format_call(event: Event, here: bool, width: int) -> list[PageLine]:
    """A call in a row; the reason of a refusal stands behind it, or below."""
    row, note = build_activity_row(event), _describe_outcome(event)
    lines = (("+", row.added), ("-", row.removed))
    counts = " ".join(f"{sign}{format_line_count(count)}" for sign, count in lines if count)
    is_roomy = width >= _WIDTH_WITH_COUNTS
    result = counts if counts and not is_roomy and not row.is_refused else row.result
    behind = f" {counts:<{_COUNTS}}" if is_roomy else ""
    room = max(width - _BEFORE - _COMMAND - _RESULT - 2 - cell_len(behind), 8)
    behind_path = truncate(f"  {to_one_line(note)}", room - _PATH) if note and room - _PATH >= _NOTE else ""
    room = min(room, _PATH) if room - _PATH >= _NOTE else room
    path = truncate_middle(to_one_line(row.path), room)
    strong = "strong" if here else ""
    line = (
        ("> " if here else "  ", "point" if here else ""),
        (f"{row.time:<8}  ", "detail"),
        (f"{truncate(to_one_line(row.command), _COMMAND):<{_COMMAND}} ", strong),
        (path + " " * (room - cell_len(path)) + " ", strong),
        (f"{truncate(to_one_line(result), _RESULT):<{_RESULT}}", "fail" if row.is_refused else "detail"),
        (behind + behind_path, "detail"),
    )
    if not row.is_refused or behind_path or not note:
        return [line]
    return [line, ((" " * _BEFORE + truncate(to_one_line(note), max(width - _BEFORE, 8)), "detail"),)]
