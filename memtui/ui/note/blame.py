"""Who wrote each line, as the gutter of a note says it."""

from collections.abc import Sequence

from rich.cells import cell_len

from memtui.core.actors import shown_name
from memtui.core.events import Event, Outside, Person
from memtui.core.history import Blame, PathVersion, is_unwritten
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.note.view import Remark
from memtui.ui.text import fit

_NAME, _AGE, _NUMBER = 8, 4, 6
_PROMPT = 60
"""Cells of a prompt that are shown."""
_ROOMY = 60
"""Cells of the pane from which the number of the event has room as well."""


def remarks_of(blame: Blame, *, width: int, now_us: int) -> Sequence[Remark]:
    """A remark for each line: who, how long ago, and the number of the event.

    Args:
        blame: Who wrote each line.
        width: Cells of the pane.
        now_us: The time, in microseconds since 1970.
    """
    made: dict[int, Remark] = {}
    size = _NAME + _AGE + (_NUMBER if width >= _ROOMY else 0)
    nobody = Remark("?".ljust(size), "blame")
    remarks = []
    for event in blame.lines:
        if event is None:
            remarks.append(nobody)
            continue
        remark = made.get(event.seq)
        if remark is None:
            remark = made[event.seq] = _remark(event, numbered=width >= _ROOMY, now_us=now_us)
        remarks.append(remark)
    return remarks


def _remark(event: Event, *, numbered: bool, now_us: int) -> Remark:
    name = fit(one_line(shown_name(event.actor)), _NAME)
    age = wording.age((now_us - event.at_us) / 1e6)
    number = f"#{event.seq}" if numbered else ""
    text = name + " " * (_NAME - cell_len(name)) + f"{age:>{_AGE}}"
    role = {Person: "blame-you", Outside: "blame-outside"}.get(type(event.actor), "blame")
    return Remark(text + (f"{fit(number, _NUMBER):>{_NUMBER}}" if numbered else ""), role)


def sentence(blame: Blame, line: int, now_us: int) -> str:
    """Who wrote one line, in words; empty if there is no such line.

    Args:
        blame: Who wrote each line.
        line: Its number, from 1.
        now_us: The time, in microseconds since 1970.
    """
    if not 1 <= line <= len(blame.lines):
        return ""
    event = blame.lines[line - 1]
    told = blame.told[line - 1] if line <= len(blame.told) else None
    if told is not None and is_unwritten(event):
        return _told(told, line, now_us)
    if event is None:
        return f"line {line}: not known who wrote it"
    if event.command == "found":
        return f"line {line}: there when memtui first looked"
    age = wording.age((now_us - event.at_us) / 1e6)
    call = f", call {event.call_id}" if event.call_id else ""
    at_least = "" if blame.complete else ", or older"
    asked = _asked(blame.prompts.get(event.seq, ""))
    return f"line {line}: {shown_name(event.actor)} {age} ago{asked}, {event.command} #{event.seq}{call}{at_least}"


def _told(row: PathVersion, line: int, now_us: int) -> str:
    """What a session file tells of a line that nobody saw come: who wrote it, and what had been asked for."""
    age = wording.age(max(0, now_us - row.at_us) / 1e6)
    asked = _asked(row.told.prompt if row.told is not None else "")
    return f"line {line}: {shown_name(row.actor)} {age} ago{asked}, by its session file"


def _asked(prompt: str) -> str:
    words = one_line(" ".join(prompt.split()))
    return f', asked: "{fit(words, _PROMPT)}"' if words else ""
