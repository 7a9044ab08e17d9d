"""A tool call as a card: one row with what it asks for and what came of it, and below it, what it writes."""

from collections.abc import Iterable, Iterator
from itertools import islice

from rich.cells import cell_len

from memtui.core.visible import one_line
from memtui.ui.activity.row import lines_text
from memtui.ui.chat.calls import Line, Outcome, changed, last_lines, outcome, target, verb
from memtui.ui.chat.items import Call, Stage
from memtui.ui.chat.piece import Frame, Piece
from memtui.ui.note.lines import Row, Span, clean, indent, merge, prose, width_of, wrap
from memtui.ui.text import fit, fit_middle

PENDING = 8
"""Lines of what is being written that are in view."""
LINES = 200
"""Lines of a change, and of an answer, that a card shows; the rest is in the diff beside it."""
LONGEST = 2_000
"""Characters of a line that are looked at."""
COLUMNS_FROM = 60
"""Cells from which on results stand below each other."""
_VERB = 11
_RESULT, _DETAIL = 9, 13


def call_piece(call: Call, frame: Frame, *, gap: bool) -> Piece:
    """A card."""
    came = outcome(call)
    width = frame.width
    head = [Row(merge(_heading(call, came, width)), 0, 0)]
    if came.why:
        role = "why-bad" if came.role == "bad" else came.role
        head += [indent(row, [Span("  ", "indent")]) for row in prose(_cut(came.why, role), width - 2, 0)]
    if call.stage is Stage.COMING:
        head += _pending(call, width)
        return Piece(head, gap=gap)
    if not call.is_open:
        return Piece(head, fold="▸", gap=gap)
    done = not call.is_error and call.edit is None
    tail = list(_lines(changed(call), width, done=done))
    if call.text:
        title = "claude was shown" if verb(call) == "view" and not call.is_error else "claude was told"
        tail += _answer(title, call.text, width)
    return Piece(head, tail=tail, fold="▾", gap=gap)


def _heading(call: Call, came: Outcome, width: int) -> list[Span]:
    """`str_replace  user_preferences.md   ok   +1 -1`: what there is room for, the result before the path."""
    counts = _counts(came)
    note = came.note[:LONGEST] if not counts else ""
    role = "verb-open" if call.is_open else "verb"
    if width >= COLUMNS_FROM:
        name = Span(_cell(verb(call), _VERB + 2), role)
        result = [Span(came.word, came.role)]
        detail = counts or clean(fit(one_line(note), _DETAIL), "detail")
        if detail:
            result += [Span(" " * max(1, _RESULT - cell_len(came.word)), ""), *detail]
        taken = width_of(result)
        aligned = width - cell_len(name.text) - max(taken, _RESULT + _DETAIL)
        taken = (
            width
            - cell_len(name.text)
            - max(aligned, min(width - cell_len(name.text) - taken, _target_cells(call) + 2))
        )
    else:
        result = [Span(came.word, came.role)]
        if counts:
            result = counts if came.word == "ok" else [*result, Span(" ", ""), *counts]
        if width_of(result) > width // 2 + 2:  # the counts give way to the name
            result = [Span(fit(came.word, width // 2 + 2), came.role)]
        taken = width_of(result)
        name = Span(fit(one_line(verb(call)[:LONGEST]), min(_VERB, width - taken - 1)) + " ", role)
    room = max(0, width - cell_len(name.text) - taken - 1)
    path = _target(call, room)
    left = width - cell_len(name.text) - taken
    return [name, Span(path + " " * (left - cell_len(path)), "path"), *result]


def _cell(text: str, width: int) -> str:
    text = fit(one_line(text[:LONGEST]), width - 1)
    return text + " " * (width - cell_len(text))


def _target_cells(call: Call) -> int:
    old, new = target(call)
    return min(LONGEST, cell_len(one_line(old[:LONGEST])) + (cell_len(one_line(new[:LONGEST])) + 4 if new else 0))


def _target(call: Call, room: int) -> str:
    old, new = (one_line(path[:LONGEST]) for path in target(call))
    if not new:
        return fit_middle(old, room)
    if cell_len(old) + cell_len(new) + 4 <= room:
        return f"{old} -> {new}"
    half = (room - 4) // 2
    if half < 4:
        return fit_middle(new, room)
    old = fit_middle(old, max(half, room - 4 - cell_len(new)))
    return f"{old} -> {fit_middle(new, room - 4 - cell_len(old))}"


def _counts(came: Outcome) -> list[Span]:
    parts = [
        Span(sign + lines_text(count), role)
        for sign, count, role in (("+", came.added, "added"), ("-", came.removed, "removed"))
        if count
    ]
    return parts if len(parts) < 2 else [parts[0], Span(" ", ""), parts[1]]


def _pending(call: Call, width: int) -> list[Row]:
    """The end of what is being written, so that it can be read while it comes."""
    lines = [line._replace(text=line.text[-LONGEST:]) for line in last_lines(call, PENDING)]
    rows = list(_lines(lines, width))
    return rows[-PENDING:]


def _lines(lines: Iterable[Line], width: int, *, done: bool = True) -> Iterator[Row]:
    """Lines of a change, each with its sign; long ones are broken, not cut.

    Args:
        lines: What goes and comes.
        width: Cells.
        done: Whether it was done, or is being done: what was not has no colours.
    """
    lines = iter(lines)
    for line in islice(lines, LINES):
        yield from _line(line, width, done=done)
    rest = sum(1 for _ in lines)
    if rest:
        yield from _more(rest, width)


def _line(line: Line, width: int, *, done: bool) -> list[Row]:
    role = {"+": "added", "-": "removed"}.get(line.sign, "context") if done else "context"
    spans: list[Span] = []
    at = 0
    for start, end in line.words if done else ():
        if end > LONGEST:
            break
        spans += clean(line.text[at:start], role)
        spans += clean(line.text[start:end], f"{role}-word")
        at = end
    spans += _cut(line.text[at:], role, LONGEST - at)
    first, *others = wrap(spans, max(4, width - 4))
    sign = Span(f"  {line.sign} ", role)
    again = Span("    ", "indent")
    return [
        Row(merge([sign, *first]), 0, 0),
        *(Row(merge([again, *row]), 0, 0, join="") for row in others),
    ]


def _cut(text: str, role: str, most: int = LONGEST) -> list[Span]:
    """The text, and how much more of it there is than anybody wants to see here."""
    spans = clean(text[:most], role)
    if len(text) > most:
        spans.append(Span(f" .. {len(text) - most:,} more characters", "more"))
    return spans


def _answer(title: str, text: str, width: int) -> Iterator[Row]:
    """The answer, exactly as the model got it: a sentence beside its title, several lines below it."""
    lead = [Span("  ", "indent")]
    lines = text.removesuffix("\n").split("\n")
    if len(lines) == 1:
        spans = [Span(f"{title}: ", "title"), *_cut(lines[0], "answer")]
        yield from (indent(row, lead) for row in prose(spans, max(4, width - 2), 0))
        return
    yield indent(Row((Span(title, "title"),), 0, 0), lead)
    bar = [Span("  │ ", "quote-bar")]
    for line in lines[:LINES]:
        for row in prose(_cut(line, "answer"), max(4, width - 4), 0):
            yield indent(row, bar)
    if len(lines) > LINES:
        yield from _more(len(lines) - LINES, width)


def _more(count: int, width: int) -> list[Row]:
    return prose([Span(f"  .. {count:,} more line{'' if count == 1 else 's'}", "more")], width, 0)
