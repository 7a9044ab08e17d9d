"""The author of each line, in the gutter of a note."""

from collections.abc import Sequence

from rich.cells import cell_len

from memtui.core import wording
from memtui.core.events import Event, Outside, Person, format_actor_name
from memtui.core.history import Blame, PathVersion, has_unknown_author
from memtui.core.unicode import to_one_line
from memtui.ui.theme import truncate
from memtui.ui.widgets.markdown.view import GutterRemark

_NAME, _AGE, _NUMBER = 8, 4, 6
_PROMPT = 60
"""Cells of a prompt that are shown."""
_WIDTH_WITH_NUMBERS = 60
"""Cells of the pane from which the number of the event is shown."""


def build_blame_remarks(blame: Blame, *, width: int, now_us: int) -> Sequence[GutterRemark]:
    """A remark for each line: author, age and number of the event.

    Args:
        blame: The authors.
        width: Cells of the pane.
        now_us: The time, in microseconds since 1970.
    """
    numbered = width >= _WIDTH_WITH_NUMBERS
    unknown = GutterRemark("?".ljust(_NAME + _AGE + (_NUMBER if numbered else 0)), "blame")
    events = {event.seq: event for event in blame.lines if event is not None}
    remarks = {seq: _build_remark(event, numbered=numbered, now_us=now_us) for seq, event in events.items()}
    return [unknown if event is None else remarks[event.seq] for event in blame.lines]


def _build_remark(event: Event, *, numbered: bool, now_us: int) -> GutterRemark:
    name = truncate(to_one_line(format_actor_name(event.actor)), _NAME)
    age = wording.format_age((now_us - event.at_us) / 1e6)
    number = f"#{event.seq}" if numbered else ""
    text = name + " " * (_NAME - cell_len(name)) + f"{age:>{_AGE}}"
    role = {Person: "blame-you", Outside: "blame-outside"}.get(type(event.actor), "blame")
    return GutterRemark(text + (f"{truncate(number, _NUMBER):>{_NUMBER}}" if numbered else ""), role)


def describe_line(blame: Blame, line: int, now_us: int) -> str:
    """The author of one line, counted from 1, in words; empty if there is no such line. `now_us` is the time."""
    if not 1 <= line <= len(blame.lines):
        return ""
    event = blame.lines[line - 1]
    imported = blame.imported[line - 1] if line <= len(blame.imported) else None
    if imported is not None and has_unknown_author(event):
        return _format_evidence(imported, line, now_us)
    if event is None:
        return f"line {line}: not known who wrote it"
    if event.command == "found":
        return f"line {line}: there when memtui first looked"
    age = wording.format_age((now_us - event.at_us) / 1e6)
    call = f", call {event.call_id}" if event.call_id else ""
    at_least = "" if blame.complete else ", or older"
    asked = _format_prompt(blame.prompts.get(event.seq, ""))
    return (
        f"line {line}: {format_actor_name(event.actor)} {age} ago{asked}, {event.command} #{event.seq}{call}{at_least}"
    )


def _format_evidence(row: PathVersion, line: int, now_us: int) -> str:
    """The author of a line by a session file, with the request, where the journal does not know the author."""
    age = wording.format_age(max(0, now_us - row.at_us) / 1e6)
    asked = _format_prompt(row.imported.prompt if row.imported is not None else "")
    return f"line {line}: {format_actor_name(row.actor)} {age} ago{asked}, by its session file"


def _format_prompt(prompt: str) -> str:
    words = to_one_line(" ".join(prompt.split()))
    return f', asked: "{truncate(words, _PROMPT)}"' if words else ""
