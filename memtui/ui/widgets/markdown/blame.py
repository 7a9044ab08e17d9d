"""The author of each line, in the gutter of a note."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len

from memtui.core import wording
from memtui.core.events import Event, Outside, Person, format_actor_in_sentence, format_actor_name, shorten_actor_name
from memtui.core.history import Blame, PathVersion, has_unknown_author
from memtui.core.unicode import to_one_line
from memtui.ui.theme import truncate
from memtui.ui.widgets.markdown.view import GutterRemark

_NAME, _AGE, _NUMBER = 8, 4, 6
_FIRST_SAW = "first saw"
"""Stands for the author of a line that was there at the first look."""
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
    events = {event.seq: event for event in blame.lines if event is not None}
    is_found = any(event.command == "found" for event in events.values())
    gutter = _Gutter(len(_FIRST_SAW) if is_found else _NAME, width >= _WIDTH_WITH_NUMBERS, now_us)
    unknown = GutterRemark("?".ljust(gutter.cells), "blame")
    remarks = {seq: gutter.build_remark(event) for seq, event in events.items()}
    return [unknown if event is None else remarks[event.seq] for event in blame.lines]


class _Gutter(NamedTuple):
    """The column beside the lines."""

    name_cells: int
    is_numbered: bool
    now_us: int

    @property
    def cells(self) -> int:
        return self.name_cells + _AGE + (_NUMBER if self.is_numbered else 0)

    def build_remark(self, event: Event) -> GutterRemark:
        is_found = event.command == "found"
        actor = to_one_line(shorten_actor_name(format_actor_name(event.actor)))
        name = _FIRST_SAW if is_found else truncate(actor, self.name_cells)
        age = wording.format_age((self.now_us - event.at_us) / 1e6)
        number = f"{truncate(f'#{event.seq}', _NUMBER):>{_NUMBER}}" if self.is_numbered else ""
        text = name + " " * (self.name_cells - cell_len(name)) + f"{age:>{_AGE}}" + number
        role = {Person: "blame-you", Outside: "blame-outside"}.get(type(event.actor), "blame")
        return GutterRemark(text, "blame" if is_found else role)


def describe_line(blame: Blame, line: int, now_us: int) -> str:
    """The author of one line, counted from 1, in words; empty if there is no such line. `now_us` is the time."""
    if not 1 <= line <= len(blame.lines):
        return ""
    event = blame.lines[line - 1]
    imported = blame.imported[line - 1] if line <= len(blame.imported) else None
    if imported is not None and has_unknown_author(event):
        return _format_evidence(imported, line, now_us)
    if event is None:
        return f"line {line}: author not known"
    age = wording.format_age((now_us - event.at_us) / 1e6)
    if event.command == "found":
        return f"line {line}: {wording.FIRST_SAW} {age} ago, #{event.seq}"
    call = f", call {event.call_id}" if event.call_id else ""
    at_least = "" if blame.complete else ", or older"
    who, asked = format_actor_in_sentence(event.actor), _format_prompt(blame.prompts.get(event.seq, ""))
    return f"line {line}: {who} {age} ago{asked}, {event.command} #{event.seq}{call}{at_least}"


def _format_evidence(row: PathVersion, line: int, now_us: int) -> str:
    """The author of a line by a session file, with the request, where the journal does not know the author."""
    age = wording.format_age(max(0, now_us - row.at_us) / 1e6)
    asked = _format_prompt(row.imported.prompt if row.imported is not None else "")
    return f"line {line}: {format_actor_in_sentence(row.actor)} {age} ago{asked}, according to its session file"


def _format_prompt(prompt: str) -> str:
    words = to_one_line(" ".join(prompt.split()))
    return f', asked: "{truncate(words, _PROMPT)}"' if words else ""
