"""What neither of the two said, as rows: faults, waiting, what was cleared, and what a turn came to."""

from collections.abc import Iterator
from math import ceil

from rich.cells import cell_len

from memtui.agents.chat.events import End, Remembered
from memtui.core.visible import one_line
from memtui.ui.chat.items import Ended, Remark, Tone
from memtui.ui.chat.piece import Frame, Piece
from memtui.ui.note.document import Document, Layout
from memtui.ui.note.lines import Row, Span, clean, indent, merge, prose, width_of
from memtui.ui.text import fit_middle
from memtui.ui.wording import files

SHORT_BELOW = 40
"""Cells below which words are left out."""
LONGEST = 4_000
"""Characters of a sentence or a name that are looked at."""
FILES = 30
"""Files that are named below a turn."""
_ROLE = {Tone.TOLD: "told", Tone.UNDONE: "told", Tone.FAULT: "fault", Tone.WAITING: "waiting"}
_SIGN = {Tone.TOLD: "", Tone.UNDONE: "~ ", Tone.FAULT: "! ", Tone.WAITING: "! "}
_LETTER = {"created": ("+", "added"), "changed": ("~", "changed"), "deleted": ("-", "removed")}
_ENDS = {
    End.STOPPED: ("stopped", "stopped by you; what was said until then is kept"),
    End.CUT: ("stopped", "cut short: the answer reached its longest length, or its stream ended early"),
    End.REFUSED: ("stopped", "claude declined to go on"),
    End.TOO_MANY_CALLS: ("stopped", "stopped after {calls:,} tool calls in one turn; say what to do next"),
}


def remark_piece(remark: Remark, frame: Frame, now: float, *, gap: bool) -> Piece:
    """A sentence."""
    width = frame.width
    if remark.tone is Tone.RULE:
        head = prose(clean(f"-- {remark.sentence[:LONGEST]} --", "quiet"), width, 0)
        fold = ("▾" if remark.is_open else "▸") if remark.detail else ""
        if remark.is_open and remark.detail:
            document = Document(remark.detail, Layout("markdown", "rendered", width - 2))
            return Piece(head, document, prefix=[Span("│ ", "quote-bar")], fold=fold, gap=gap)
        return Piece(head, fold=fold, gap=gap)
    role = _ROLE[remark.tone]
    spans = clean(remark.sentence[:LONGEST], role)
    if remark.tone is Tone.WAITING:
        spans = _counted(remark, max(0, ceil(remark.until - now)))
    sign = _SIGN[remark.tone]
    lead, again = [Span(sign, role)], [Span(" " * len(sign), "indent")]
    rows = prose(spans, max(4, width - len(sign)), 0)
    return Piece([indent(row, again if at else lead) for at, row in enumerate(rows)], gap=gap)


def _counted(remark: Remark, left: int) -> list[Span]:
    """The sentence with the seconds that are left in place of those that it began with, or behind it."""
    sentence = remark.sentence[:LONGEST]
    said = next((words for words in (f" in {remark.seconds:.0f} s", " in a moment") if words in sentence), "")
    before, told, behind = sentence.partition(said) if said else (sentence, "", "")
    count = Span(f" in {left:,} s" if left else " now", "count")
    return [*clean(before, "waiting"), count, *(clean(behind, "waiting") if told else [])]


def ended_piece(ended: Ended, frame: Frame, *, gap: bool) -> Piece:
    """How a turn ended, and what is remembered of it."""
    width = frame.width
    head: list[Row] = []
    if ended.end in _ENDS and not (ended.is_told and ended.end is not End.STOPPED):
        role, words = _ENDS[ended.end]
        head += prose([Span(words.format(calls=ended.calls), role)], width, 0)
    if ended.remembered:
        head.append(_summary(ended, width))
        head += list(_remembered(ended, width))
    return Piece(head, gap=gap and bool(head))


def _summary(ended: Ended, width: int) -> Row:
    count = len(ended.remembered)
    spans = [Span(f"{files(count)} changed", "summary")]
    if ended.is_undone:
        spans += [Span("   ", ""), Span("taken back", "undone")]
    elif ended.is_last:
        for key, words in (("^R", " review"), ("/undo", " this turn")):
            short = [Span("   ", ""), Span(key, "key-hint")]
            whole = [*short, Span(words, "hint")]
            left = width - width_of(spans)
            spans += whole if width_of(whole) <= left else short if width_of(short) <= left else []
    return Row(merge(spans), 0, 0)


def _remembered(ended: Ended, width: int) -> Iterator[Row]:
    shown = ended.remembered if len(ended.remembered) <= FILES else ended.remembered[: FILES - 1]
    results = [_result(each, short=width < SHORT_BELOW) for each in shown]
    widest = max(map(width_of, results))
    room = min(max(8, width - widest - (4 if widest else 2)), max(map(_cells, shown)))
    for each, result in zip(shown, results, strict=True):
        yield _file(each, result, room, struck=ended.is_undone)
    rest = len(ended.remembered) - len(shown)
    if rest:
        yield Row((Span(f".. and {files(rest)} more", "more"),), 0, 0)


def _cells(each: Remembered) -> int:
    return cell_len(_name(each))


def _name(each: Remembered) -> str:
    name = one_line(each.path[:LONGEST])
    return f"{one_line(each.old_path[:LONGEST])} -> {name}" if each.old_path else name


def _file(each: Remembered, result: list[Span], room: int, *, struck: bool) -> Row:
    """`~ user_preferences.md   +1 -1`."""
    letter, role = _LETTER.get(each.how, (">", "changed"))
    name = fit_middle(_name(each), room)
    spans = [Span(f"{letter} ", role), Span(name, "file struck" if struck else "file")]
    if result:
        spans.append(Span(" " * (room - cell_len(name) + 2), ""))
    return Row(merge([*spans, *result]), 0, 0)


def _result(each: Remembered, *, short: bool) -> list[Span]:
    parts = [Span(f"+{each.added:,}", "added")] if each.added else []
    parts += [Span(f"-{each.removed:,}", "removed")] if each.removed else []
    parts += [Span("edited" if short else "edited by you", "edited")] if each.edited else []
    spaced = [[Span(" ", ""), part] for part in parts]
    return [span for pair in spaced for span in pair][1:]
