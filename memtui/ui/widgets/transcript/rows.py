"""The items of a conversation as rows: messages, thoughts, tool calls, notices and the ends of turns."""

from collections.abc import Iterable, Iterator
from itertools import islice
from math import ceil
from typing import NamedTuple

from rich.cells import cell_len

from memtui.agents.chat.events import MemoryChange, TurnOutcome
from memtui.core.diffs import Range, TextDiff, compare_texts, count_changes, diff_words, split_lines
from memtui.core.edits import count_lines
from memtui.core.events import Event, Result
from memtui.core.messages import summarize_refusal
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count, format_file_count, format_line_count, format_size, to_relative_path
from memtui.ui.key_names import label_key
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.markdown.document import NoteDocument, NoteLayout
from memtui.ui.widgets.markdown.render import get_block_parser
from memtui.ui.widgets.markdown.rows import (
    MarkdownRow,
    TextSpan,
    indent_row,
    measure_spans,
    merge_spans,
    sanitize_text,
    wrap_prose,
    wrap_spans,
)
from memtui.ui.widgets.transcript.items import (
    YOU,
    CallItem,
    CallStage,
    MessageItem,
    NoticeItem,
    NoticeTone,
    ThoughtItem,
    TranscriptItem,
    TurnEndItem,
)
from memtui.ui.widgets.transcript.pieces import TranscriptFrame, TranscriptPiece

_FOLDED_LINES, _FOLDED_CHARACTERS = 16, 2_000
"""From which size on a message of the person is folded."""
_SHOWN_LINES, _SHOWN_CHARACTERS = 8, 600
"""What is shown of a folded message."""
_LAST_CHARACTERS = 1_000
"""Characters of an unfinished thought whose last rows are shown."""
_LONGEST_NAME = 300
"""Characters of the name of an attachment."""
_BAR = TextSpan("│ ", "quote-bar")


def _is_long(message: MessageItem) -> bool:
    """Whether a message of the person is folded at first."""
    text = message.text
    return message.speaker == YOU and (text.count("\n") >= _FOLDED_LINES or len(text) > _FOLDED_CHARACTERS)


def _get_fold_mark(is_open: bool) -> str:
    return "▾" if is_open else "▸"


def _render_message(message: MessageItem, frame: TranscriptFrame, *, gap: bool) -> TranscriptPiece:
    """A message: Markdown of the model, or the person's words as typed."""
    name = YOU if message.speaker == YOU else frame.agent
    head = [MarkdownRow((TextSpan(name, message.speaker),), 0, 0)] if frame.is_narrow else []
    label = "" if frame.is_narrow else name
    if message.speaker != YOU:
        document = NoteDocument(message.text, NoteLayout("markdown", "rendered", frame.width))
        return TranscriptPiece(head, document, label=label, gap=gap)
    text = message.text.replace("\r\n", "\n").rstrip("\n")
    fold = _get_fold_mark(message.is_open) if _is_long(message) else ""
    tail: list[MarkdownRow] = []
    if fold and not message.is_open:
        short = _cut_start(text)
        rest = text[len(short) :]
        lines = rest.strip("\n").count("\n") + 1
        more = f"{lines:,} more lines" if lines > 1 else f"{len(rest):,} more characters"
        tail += wrap_prose([TextSpan(f".. {more}", "more")], frame.width, 0)
        text = short
    names = [f"{name[:_LONGEST_NAME]} ({format_size(count)})" for name, count in message.attachments]
    if names:
        tail += wrap_prose(sanitize_text("with " + ", ".join(names), "file"), frame.width, 0)
    document = NoteDocument(text or " ", NoteLayout("text", "rendered", frame.width))
    return TranscriptPiece(head, document, tail, label=label, fold=fold, band="band", gap=gap)


def _cut_start(text: str) -> str:
    """The first lines of a long text, or the first words of a line that is too long itself."""
    short = "\n".join(text[:_SHOWN_CHARACTERS].split("\n")[:_SHOWN_LINES])
    if len(short) == _SHOWN_CHARACTERS:
        short = short.rpartition("\n")[0] or short.rpartition(" ")[0] or short
    return short.rstrip("\n")


def _render_thought(thought: ThoughtItem, frame: TranscriptFrame, now: float, *, gap: bool) -> TranscriptPiece:
    """A thought: one row, and its newest line below it while it continues."""
    text = thought.text.strip("\n")
    seconds = (now if thought.ended is None else thought.ended) - thought.began
    duration = f"{seconds:.0f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    verb = "thinking" if thought.ended is None else "thought"
    words = f"{verb}{f' for {duration}' if seconds >= 1 else ''}, {format_count(len(text.split()), 'word')}"
    head = wrap_prose([TextSpan(words, "thinking")], frame.width, 0)
    fold = _get_fold_mark(thought.is_open) if text else ""
    width = frame.width - len(_BAR.text)
    if thought.is_open and text:
        document = NoteDocument(text, NoteLayout("text", "rendered", width))
        return TranscriptPiece(head, document, prefix=[_BAR], fold=fold, gap=gap)
    if thought.ended is None and text:
        newest = sanitize_text(text[-_LAST_CHARACTERS:].rsplit("\n", 1)[-1], "thinking")
        rows = enumerate(wrap_spans(newest, width)[-2:])
        head += [indent_row(MarkdownRow(tuple(row), 0, 0, join="" if at else "\n"), [_BAR]) for at, row in rows]
    return TranscriptPiece(head, fold=fold, gap=gap)


# A tool call in words: its command and target, its outcome, and the lines that it removes and adds.
#
# Its input comes from a model and may be anything, cut off anywhere: no field is trusted to have its type.

_TOOL = "memory"
"""Our tool: of others, the name is shown in place of a command."""
_WRITTEN_FIELDS = {"create": ("file_text",), "insert": ("insert_text", "new_str"), "str_replace": ("new_str",)}
_NOT_APPROVED = {
    "declined": ("declined", ""),
    "stopped": ("not run", "you stopped it"),
    "not approved": ("not run", "no approval"),
}
"""The word and the reason, by the note of the event that was recorded in place of a change."""
_NOT_RUN, _NOTHING = "Error: not run: ", ". Nothing was changed"
"""The beginning and the end of the answer for a call that was not carried out."""
_TAIL = 4_000
"""Characters at the end of a text that streams in."""


class CallOutcome(NamedTuple):
    """The outcome of a call."""

    word: str
    """`ok`, `REFUSED`, `declined`, `edited by you`, `not run`, `running`, `asks you`, `coming`."""
    role: str
    added: int | None = None
    removed: int | None = None
    note: str = ""
    """`23 entries`."""
    reason: str = ""
    """Why it was not done."""


class CallLine(NamedTuple):
    """One line of a change."""

    sign: str
    """`+`, `-` or a space."""
    text: str
    words: tuple[Range, ...] = ()
    """Where it differs from the line opposite."""


def _get_verb(call: CallItem) -> str:
    if call.name and call.name != _TOOL:
        return call.name
    return _get_text(call, "command") or _TOOL


def _get_text(call: CallItem, *names: str) -> str:
    """The first of some fields that is a text."""
    return next((value for name in names if isinstance(value := call.fields.get(name), str)), "")


def _get_target(call: CallItem) -> tuple[str, str]:
    """The path, and the new path of a rename; visible, and not endless."""
    is_rename = _get_verb(call) == "rename"
    path = to_relative_path(_get_text(call, "old_path" if is_rename and "old_path" in call.fields else "path"))
    new = to_relative_path(_get_text(call, "new_path")) if is_rename else ""
    span = call.fields.get("view_range")
    if not is_rename and isinstance(span, list) and len(span) == 2 and all(isinstance(each, int) for each in span):
        path += f":{span[0]}-{span[1]}" if span[1] != -1 else f":{span[0]}-"
    return to_one_line(path[:_LONGEST_LINE]), to_one_line(new[:_LONGEST_LINE])


def _get_outcome(call: CallItem) -> CallOutcome:
    match call.stage:
        case CallStage.COMING:
            text = _get_written_text(call)
            return CallOutcome(CallStage.COMING.value, "live", count_lines(text) if text else None)
        case CallStage.RUNNING:
            return CallOutcome(CallStage.RUNNING.value, "live")
        case CallStage.ASKED:
            return CallOutcome(CallStage.ASKED.value, "asks", *_count_planned(call))
        case CallStage.NOT_RUN:
            return CallOutcome(CallStage.NOT_RUN.value, "not-done", reason="the turn ended before it ran")
    event = call.event
    if call.is_error:
        return _get_failure(call, event)
    if call.edit is not None:
        return CallOutcome("edited by you", "edited", call.edit.added, call.edit.removed)
    size = ""
    if _get_verb(call) == "view" and call.text:
        size = format_count(max(1, count_lines(call.text) - 1), "line")
    if event is None:
        return CallOutcome("ok", "ok", *_count_planned(call), note=size)
    note = f"to {to_relative_path(event.new_path)}" if event.new_path and _get_verb(call) != "rename" else event.note
    return CallOutcome("same" if event.no_change else "ok", "ok", event.added, event.removed, note or size)


def _get_failure(call: CallItem, event: Event | None) -> CallOutcome:
    from memtui.agents.chat.sessions.records import NOT_RUN  # noqa: PLC0415 - first paint: loads json

    first_line = _get_first_line(call.text)
    if call.text.startswith(_NOT_RUN):
        reason = _get_first_line(call.text[len(_NOT_RUN) :]).removesuffix(_NOTHING)
        return CallOutcome("not run", "not-done", reason=reason)
    if call.text == NOT_RUN:
        return CallOutcome("UNSURE", "bad", reason="memtui ended before the answer was recorded; check the file")
    if event is None:
        return CallOutcome("REFUSED", "bad", reason=first_line)
    if event.result in (Result.UNCERTAIN, Result.ABORTED):
        return CallOutcome("UNSURE" if event.result is Result.UNCERTAIN else "ABORTED", "bad", reason=first_line)
    if event.note in _NOT_APPROVED:
        word, reason = _NOT_APPROVED[event.note]
        _, marker, why = call.text.partition("Their reason: ")
        if event.note == "declined" and marker:
            reason = f"you said: {why}"
        return CallOutcome(word, "not-done", reason=reason)
    reason = summarize_refusal(event) if event.answer else first_line
    if call.text.endswith(": read-only"):
        reason = "the session is read-only"
    return CallOutcome("REFUSED", "bad", reason=reason)


def _get_first_line(text: str) -> str:
    return text.removeprefix("Error: ").split("\n", 1)[0][:300].rstrip(". ")


def _count_planned(call: CallItem) -> tuple[int | None, int | None]:
    """Lines that the input of a call adds and removes."""
    match _get_verb(call):
        case "create" | "insert":
            return count_lines(_get_written_text(call)), 0
        case "str_replace":
            found = count_changes(_get_text(call, "old_str"), _get_written_text(call))
            return found.added, found.removed
    return None, None


def _get_written_text(call: CallItem) -> str:
    """The text that a call writes, as far as it has come."""
    return _get_text(call, *_WRITTEN_FIELDS.get(_get_verb(call), ()))


def _get_last_lines(call: CallItem, count: int) -> list[CallLine]:
    """The newest lines of an unfinished call: the removed ones, then the added ones."""
    removed = _get_text(call, "old_str") if _get_verb(call) == "str_replace" else ""
    return [
        CallLine(sign, line)
        for sign, text in (("-", removed), ("+", _get_written_text(call)))
        for line in (text[-_TAIL:].removesuffix("\n").split("\n")[-count:] if text else ())
    ][-count:]


def _iter_changed_lines(call: CallItem) -> Iterator[CallLine]:
    """The lines that a call removes and adds, with the words that differ."""
    match _get_verb(call):
        case "create" | "insert":
            for line in split_lines(_get_written_text(call)):
                yield CallLine("+", line.removesuffix("\n"))
        case "str_replace":
            yield from _iter_diff_lines(compare_texts(_get_text(call, "old_str"), _get_written_text(call)))


def _iter_diff_lines(difference: TextDiff) -> Iterator[CallLine]:
    at = 0
    old, new = difference.old, difference.new
    for hunk, side in zip(difference.hunks, difference.pair_lines(), strict=True):
        yield from (CallLine(" ", line.removesuffix("\n")) for line in old[at : hunk.old_start])
        pairs = [(one, other) for one, other in side if one is not None and other is not None]
        words = [diff_words(old[one], new[other]) for one, other in pairs]
        old_words = {one: tuple(changed[0]) for (one, _), changed in zip(pairs, words, strict=True)}
        new_words = {other: tuple(changed[1]) for (_, other), changed in zip(pairs, words, strict=True)}
        for number in range(hunk.old_start, hunk.old_end):
            yield CallLine("-", old[number].removesuffix("\n"), old_words.get(number, ()))
        for number in range(hunk.new_start, hunk.new_end):
            yield CallLine("+", new[number].removesuffix("\n"), new_words.get(number, ()))
        at = hunk.old_end
    yield from (CallLine(" ", line.removesuffix("\n")) for line in old[at:])


# A tool call as a card: one row with its command and outcome, and below it, its lines.

_PENDING_LINES = 8
"""Lines of an unfinished call that are shown."""
LINES = 200
"""Lines of a change, and of an answer, in a card; the rest is in the diff beside it."""
_LONGEST_LINE = 2_000
"""Characters of a line that are shown."""
_COLUMNS_FROM = 60
"""Cells from which on results stand below each other."""
_VERB = 11
_RESULT, _DETAIL = 9, 13


def _render_call(call: CallItem, frame: TranscriptFrame, *, gap: bool) -> TranscriptPiece:
    outcome, width = _get_outcome(call), frame.width
    head = [MarkdownRow(merge_spans(_render_heading(call, outcome, width)), 0, 0)]
    if outcome.reason:
        reason = _cut_text(outcome.reason, "why-bad" if outcome.role == "bad" else outcome.role)
        head += [indent_row(row, [TextSpan("  ", "indent")]) for row in wrap_prose(reason, width - 2, 0)]
    if call.stage is CallStage.COMING:
        lines = [line._replace(text=line.text[-_LONGEST_LINE:]) for line in _get_last_lines(call, _PENDING_LINES)]
        head += list(_render_lines(lines, width))[-_PENDING_LINES:]
        return TranscriptPiece(head, gap=gap)
    if not call.is_open:
        return TranscriptPiece(head, fold="▸", gap=gap)
    tail = list(_render_lines(_iter_changed_lines(call), width, done=not call.is_error and call.edit is None))
    if call.text:
        is_view = _get_verb(call) == "view" and not call.is_error
        title = f"{'shown' if is_view else 'sent'} to {frame.agent}"
        tail += _render_answer(title, call.text, width)
    return TranscriptPiece(head, tail=tail, fold="▾", gap=gap)


def _render_heading(call: CallItem, outcome: CallOutcome, width: int) -> list[TextSpan]:
    """`str_replace  user_preferences.md   ok   +1 -1`: as much as fits, the result before the path."""
    lines = (("+", outcome.added, "added"), ("-", outcome.removed, "removed"))
    counts = _join_spans(TextSpan(f"{sign}{format_line_count(count)}", role) for sign, count, role in lines if count)
    note = outcome.note[:_LONGEST_LINE] if not counts else ""
    role = "verb-open" if call.is_open else "verb"
    verb = to_one_line(_get_verb(call)[:_LONGEST_LINE])
    old, new = _get_target(call)
    result = [TextSpan(outcome.word, outcome.role)]
    if width >= _COLUMNS_FROM:
        name = TextSpan(_pad(truncate(verb, _VERB + 1), _VERB + 2), role)
        detail = counts or sanitize_text(truncate(to_one_line(note), _DETAIL), "detail")
        if detail:
            result += [TextSpan(" " * max(1, _RESULT - cell_len(outcome.word)), ""), *detail]
        free, taken = width - _VERB - 2, measure_spans(result)
        target = cell_len(old) + (cell_len(new) + 4 if new else 0)
        room = max(free - max(taken, _RESULT + _DETAIL), min(free - taken, target + 2))
    else:
        if counts:
            result = counts if outcome.word == "ok" else [*result, TextSpan(" ", ""), *counts]
        if measure_spans(result) > width // 2 + 2:  # the counts give way to the name
            result = [TextSpan(truncate(outcome.word, width // 2 + 2), outcome.role)]
        taken = measure_spans(result)
        name = TextSpan(truncate(verb, min(_VERB, width - taken - 1)) + " ", role)
        room = width - cell_len(name.text) - taken
    return [name, TextSpan(_pad(_format_target(old, new, max(0, room - 1)), room), "path"), *result]


def _pad(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _format_target(old: str, new: str, room: int) -> str:
    if not new:
        return truncate_middle(old, room)
    if cell_len(old) + cell_len(new) + 4 <= room:
        return f"{old} -> {new}"
    half = (room - 4) // 2
    if half < 4:
        return truncate_middle(new, room)
    old = truncate_middle(old, max(half, room - 4 - cell_len(new)))
    return f"{old} -> {truncate_middle(new, room - 4 - cell_len(old))}"


def _join_spans(spans: Iterable[TextSpan]) -> list[TextSpan]:
    return [each for span in spans for each in (TextSpan(" ", ""), span)][1:]


def _render_lines(lines: Iterable[CallLine], width: int, *, done: bool = True) -> Iterator[MarkdownRow]:
    """Lines of a change, each with its sign; long ones are broken, not cut. Without colours if the call failed."""
    lines = iter(lines)
    for line in islice(lines, LINES):
        yield from _render_line(line, width, done=done)
    if rest := sum(1 for _ in lines):
        yield from _render_more(rest, width)


def _render_line(line: CallLine, width: int, *, done: bool) -> list[MarkdownRow]:
    role = {"+": "added", "-": "removed"}.get(line.sign, "context") if done else "context"
    spans: list[TextSpan] = []
    at = 0
    for start, end in line.words if done else ():
        if end > _LONGEST_LINE:
            break
        spans += sanitize_text(line.text[at:start], role)
        spans += sanitize_text(line.text[start:end], f"{role}-word")
        at = end
    spans += _cut_text(line.text[at:], role, _LONGEST_LINE - at)
    first, *others = wrap_spans(spans, max(4, width - 4))
    sign = TextSpan(f"  {line.sign} ", role)
    again = TextSpan("    ", "indent")
    return [
        MarkdownRow(merge_spans([sign, *first]), 0, 0),
        *(MarkdownRow(merge_spans([again, *row]), 0, 0, join="") for row in others),
    ]


def _cut_text(text: str, role: str, most: int = _LONGEST_LINE) -> list[TextSpan]:
    """The beginning of a text, and the number of further characters."""
    spans = sanitize_text(text[:most], role)
    if len(text) > most:
        spans.append(TextSpan(f" .. {len(text) - most:,} more characters", "more"))
    return spans


def _render_answer(title: str, text: str, width: int) -> Iterator[MarkdownRow]:
    """The answer to the model: a single line beside the title, several lines below it."""
    lead = [TextSpan("  ", "indent")]
    lines = text.removesuffix("\n").split("\n")
    if len(lines) == 1:
        spans = [TextSpan(f"{title}: ", "title"), *_cut_text(lines[0], "answer")]
        yield from (indent_row(row, lead) for row in wrap_prose(spans, max(4, width - 2), 0))
        return
    yield indent_row(MarkdownRow((TextSpan(title, "title"),), 0, 0), lead)
    bar = [TextSpan("  │ ", "quote-bar")]
    for line in lines[:LINES]:
        for row in wrap_prose(_cut_text(line, "answer"), max(4, width - 4), 0):
            yield indent_row(row, bar)
    if len(lines) > LINES:
        yield from _render_more(len(lines) - LINES, width)


def _render_more(count: int, width: int) -> list[MarkdownRow]:
    return wrap_prose([TextSpan(f"  .. {format_count(count, 'more line')}", "more")], width, 0)


# Notices and the ends of turns as rows.

_LONGEST_NOTICE = 4_000
"""Characters of a sentence or a name that are shown."""
_FILES = 30
"""Files that are named below a turn."""
_TONES = {
    NoticeTone.INFO: ("notice", ""),
    NoticeTone.UNDONE: ("notice", "~ "),
    NoticeTone.FAULT: ("fault", "! "),
    NoticeTone.WAITING: ("waiting", "! "),
}
"""The role and the sign of a notice."""
_LETTER = {"created": ("+", "added"), "changed": ("~", "changed"), "deleted": ("-", "removed")}
_ENDS = {
    TurnOutcome.STOPPED: ("stopped", "stopped by you; the text so far is kept"),
    TurnOutcome.CUT: ("stopped", "cut off: the answer reached its length limit, or its stream ended early"),
    TurnOutcome.REFUSED: ("stopped", "{agent} declined to continue"),
    TurnOutcome.TOO_MANY_CALLS: ("stopped", "stopped after {calls:,} tool calls in one turn; say what to do next"),
}


def _render_notice(notice: NoticeItem, frame: TranscriptFrame, now: float, *, gap: bool) -> TranscriptPiece:
    width, sentence = frame.width, notice.sentence[:_LONGEST_NOTICE]
    if notice.tone is NoticeTone.RULE:
        head = wrap_prose(sanitize_text(f"-- {sentence} --", "quiet"), width, 0)
        fold = _get_fold_mark(notice.is_open) if notice.detail else ""
        document = None
        if notice.is_open and notice.detail:
            document = NoteDocument(notice.detail, NoteLayout("markdown", "rendered", width - 2))
        return TranscriptPiece(head, document, prefix=[_BAR], fold=fold, gap=gap)
    role, sign = _TONES[notice.tone]
    spans = sanitize_text(sentence, role)
    if notice.tone is NoticeTone.WAITING:
        spans = _format_countdown(sentence, notice.seconds, max(0, ceil(notice.until - now)))
    first, again = [TextSpan(sign, role)], [TextSpan(" " * len(sign), "indent")]
    rows = wrap_prose(spans, max(4, width - len(sign)), 0)
    return TranscriptPiece([indent_row(row, again if at else first) for at, row in enumerate(rows)], gap=gap)


def _format_countdown(sentence: str, seconds: float, left: int) -> list[TextSpan]:
    """A sentence with the remaining seconds in place of those at its beginning, or behind it."""
    found = next((words for words in (f" in {seconds:.0f} s", " in a moment") if words in sentence), "")
    before, _, behind = sentence.partition(found) if found else (sentence, "", "")
    count = TextSpan(f" in {left:,} s" if left else " now", "count")
    return [*sanitize_text(before, "waiting"), count, *(sanitize_text(behind, "waiting") if found else [])]


def _render_turn_end(ended: TurnEndItem, frame: TranscriptFrame, *, gap: bool) -> TranscriptPiece:
    """The outcome of a turn, and the changed memories."""
    width = frame.width
    head: list[MarkdownRow] = []
    if ended.end in _ENDS and not (ended.is_explained and ended.end is not TurnOutcome.STOPPED):
        role, words = _ENDS[ended.end]
        head += wrap_prose([TextSpan(words.format(calls=ended.calls, agent=frame.agent), role)], width, 0)
    if ended.remembered:
        head.append(_render_summary(ended, width))
        head += _render_changes(ended, width)
    return TranscriptPiece(head, gap=gap and bool(head))


def _render_summary(ended: TurnEndItem, width: int) -> MarkdownRow:
    count = len(ended.remembered)
    spans = [TextSpan(f"{format_file_count(count)} changed", "summary")]
    if ended.is_undone:
        spans += [TextSpan("   ", ""), TextSpan("undone", "undone")]
    elif ended.is_last:
        for key, words in ((label_key("chat.review", short=True), " review"), (label_key("chat.undo"), " this turn")):
            short = [TextSpan("   ", ""), TextSpan(key, "key-hint")]
            whole = [*short, TextSpan(words, "hint")]
            left = width - measure_spans(spans)
            spans += whole if measure_spans(whole) <= left else short if measure_spans(short) <= left else []
    return MarkdownRow(merge_spans(spans), 0, 0)


def _render_changes(ended: TurnEndItem, width: int) -> Iterator[MarkdownRow]:
    """Rows such as `~ user_preferences.md   +1 -1`."""
    changes = ended.remembered if len(ended.remembered) <= _FILES else ended.remembered[: _FILES - 1]
    names = [_format_name(each) for each in changes]
    results = [_render_result(each, "edited" if width < 40 else "edited by you") for each in changes]
    widest = max(map(measure_spans, results))
    room = min(max(8, width - widest - (4 if widest else 2)), max(map(cell_len, names)))
    for each, whole, result in zip(changes, names, results, strict=True):
        letter, role = _LETTER.get(each.how, (">", "changed"))
        name = truncate_middle(whole, room)
        gap = TextSpan(" " * (room - cell_len(name) + 2 if result else 0), "")
        file = TextSpan(name, "file struck" if ended.is_undone else "file")
        yield MarkdownRow(merge_spans([TextSpan(f"{letter} ", role), file, gap, *result]), 0, 0)
    if rest := len(ended.remembered) - len(changes):
        yield MarkdownRow((TextSpan(f".. and {format_file_count(rest)} more", "more"),), 0, 0)


def _format_name(each: MemoryChange) -> str:
    name = to_one_line(each.path[:_LONGEST_NOTICE])
    return f"{to_one_line(each.old_path[:_LONGEST_NOTICE])} -> {name}" if each.old_path else name


def _render_result(each: MemoryChange, edited: str) -> list[TextSpan]:
    parts = [TextSpan(f"+{each.added:,}", "added")] if each.added else []
    parts += [TextSpan(f"-{each.removed:,}", "removed")] if each.removed else []
    return _join_spans([*parts, TextSpan(edited, "edited")] if each.edited else parts)


def render_item(
    item: TranscriptItem, above: TranscriptItem | None, frame: TranscriptFrame, now: float
) -> TranscriptPiece:
    """Lay out an item below another one, at a time of the conversation's clock (in seconds)."""
    gap = above is not None and not _is_adjacent(above, item)
    match item:
        case ThoughtItem():
            return _render_thought(item, frame, now, gap=gap)
        case MessageItem():
            return _render_message(item, frame, gap=gap)
        case CallItem():
            return _render_call(item, frame, gap=gap)
        case TurnEndItem():
            return _render_turn_end(item, frame, gap=gap)
        case NoticeItem():
            return _render_notice(item, frame, now, gap=gap)
    return TranscriptPiece()


def _is_adjacent(above: TranscriptItem, item: TranscriptItem) -> bool:
    """Whether no empty row stands between two items: the steps of the model, one after the other."""
    if isinstance(above, TurnEndItem):
        return isinstance(item, NoticeItem) and item.tone is NoticeTone.UNDONE
    open_call = isinstance(above, CallItem) and above.is_open and above.stage is not CallStage.COMING
    return isinstance(above, CallItem | ThoughtItem) and isinstance(item, CallItem | ThoughtItem) and not open_call


def can_fold(item: TranscriptItem) -> bool:
    """Whether an item can be folded."""
    match item:
        case ThoughtItem():
            return bool(item.text.strip())
        case MessageItem():
            return _is_long(item)
        case CallItem():
            return True
        case NoticeItem(tone=NoticeTone.RULE):
            return bool(item.detail)
    return False


_PARSED = 200_000
"""Characters up to which a message is copied block by block."""


def find_block_at(item: TranscriptItem, line: int | None) -> str:
    """The text to copy at a line (from 0) of an item, such as a block of code; `None` for all of the item."""
    match item:
        case ThoughtItem():
            return item.text.strip("\n")
        case MessageItem(speaker=who):
            whole = who == YOU or line is None or len(item.text) > _PARSED
            return item.text.strip("\n") if whole else find_markdown_block(item.text, line or 0)
        case CallItem():
            return _get_written_text(item) or item.text
        case NoticeItem(sentence=sentence, detail=detail):
            return detail or sentence
        case TurnEndItem(remembered=remembered):
            return "\n".join(each.path for each in remembered)
    return ""


def find_markdown_block(source: str, line: int) -> str:
    """The block of Markdown that holds a line (from 0), or the one before it; of a fence, the code alone."""
    found = ""
    lines = source.split("\n")
    for token in get_block_parser().parse(source):
        if token.map is None or token.level or token.nesting < 0:
            continue
        start, end = token.map
        if start > line and found:
            break
        found = token.content if token.type == "fence" else "\n".join(lines[start:end]).strip("\n")
    return found
