"""A session as a text to read and to keep: Markdown, in which nothing that was said can pass for something else.

What the model, a file or a person wrote may hold headings, HTML and pictures that load from elsewhere. It is shown as
what it says: control characters are named, HTML and pictures are text, and no heading of theirs looks like ours.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from memtui.agents.chat.events import Usage
from memtui.agents.chat.sessions.records import Record, blocks_of, mapping_in, number_in, objects_in, text_in
from memtui.agents.chat.sessions.restored import total, usage_in
from memtui.core import diffs
from memtui.core.visible import one_line, visible
from memtui.places import short

_TITLE = 80
_ROOT = "/memories/"
_FENCE = re.compile(r"(`{3,})[^`]*\Z|(~{3,}).*\Z")
_RUNS = re.compile(r"`+")
_HTML = re.compile(r"<(?=[A-Za-z/!?])")
_HEADING = re.compile(r"((?:[ \t]*(?:[-*+>]|\d{1,9}[.)]))*[ \t]*)(#{1,6})(?=[ \t]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~!&])")


def to_markdown(records: Iterable[Record]) -> str:
    """A session to read.

    Args:
        records: As `Session.records` gives them.
    """
    writer = _Writer()
    body = [line for record in records for line in writer.lines(record)]
    return "\n".join([*writer.head(), *body]).rstrip("\n") + "\n"


class _Writer:
    """Writes one record after the other, and keeps what the head says."""

    def __init__(self) -> None:
        self._header: Record = {}
        self._title = ""
        self._turns: set[int] = set()
        self._models: list[str] = []
        self._model = ""
        self._usage = Usage()
        self._last = ""
        self._speaker = ""

    def head(self) -> Iterator[str]:
        """What stands above the conversation."""
        yield f"# {_escaped(self._title) or 'A conversation'}"
        yield ""
        began, ended = _minute(text_in(self._header, "at")), _minute(self._last)
        if began:
            yield f"- Date: {began}" + (f" to {ended}" if ended and ended != began else "") + " (UTC)"
        if text_in(self._header, "folder"):
            yield f"- Memory: {_code(short(text_in(self._header, 'folder')))}"
        if self._models:
            yield f"- Model: {', '.join(map(_code, self._models))}"
        used = self._usage
        tokens = f", {used.input_tokens:,} tokens in and {used.output_tokens:,} out" if used.requests else ""
        yield f"- Turns: {len(self._turns):,}{tokens}" + (f", {used.cost:.2f} USD" if used.cost is not None else "")
        if text_in(self._header, "id"):
            origin = text_in(self._header, "forked_from")
            yield f"- Session: {_code(text_in(self._header, 'id'))}" + (
                f", a copy that goes on from {_code(origin)}" if origin else ""
            )
        yield ""

    def lines(self, record: Record) -> Iterator[str]:
        """What a record adds."""
        self._last = text_in(record, "at") or self._last
        turn = number_in(record, "turn")
        match record["type"]:
            case "session":
                self._header = self._header or record
                self._note_model(record)
            case "turn_began":
                yield from self._turn_began(turn, record)
            case "message" if record.get("role") == "assistant":
                yield from self._said(record)
            case "repaired" if mapping_in(record, "message").get("role") == "assistant":
                yield from self._said(mapping_in(record, "message"))
            case "call":
                self._speaker = ""
                yield from _card(record)
            case "turn_ended":
                self._usage = total(self._usage, usage_in(record))
                yield from _ended(record)
            case "fault":
                yield from _remark(text_in(record, "sentence"))
            case "cleared":
                calls = number_in(record, "calls")
                yield from _remark(
                    f"{calls:,} old tool {'result' if calls == 1 else 'results'} ({number_in(record, 'tokens'):,} "
                    "tokens) were left out of what the model sees, to make room."
                )
            case "compacted":
                yield from _remark("What was said before was replaced by this summary in what the model sees:")
                yield from _quote(text_in(record, "summary"))
            case "rewound":
                self._turns = {each for each in self._turns if each < turn}
                if text_in(record, "why") in _REWOUND:
                    yield from _remark(_REWOUND[text_in(record, "why")].format(turn=turn))
            case "undone":
                yield from _remark(
                    text_in(record, "sentence") or f"You took back what was written to memory in turn {turn}."
                )
            case "setting":
                yield from self._set(record)

    def _note_model(self, record: Record) -> None:
        self._model = text_in(record, "model") or self._model
        if self._model and self._model not in self._models:
            self._models.append(self._model)

    def _set(self, record: Record) -> Iterator[str]:
        """What was switched in the middle; what held from the beginning is no news."""
        before = self._model
        self._note_model(record)
        if not self._title:
            return
        if self._model != before:
            yield from _remark(f"From here on {self._model} answers.")
        if text_in(record, "policy") in _POLICIES:
            yield from _remark(_POLICIES[text_in(record, "policy")])

    def _turn_began(self, turn: int, record: Record) -> Iterator[str]:
        text = text_in(record, "text")
        self._turns.add(turn)
        self._speaker = ""
        self._title = self._title or _cut(" ".join(text.split())) or "A conversation"
        at = _minute(text_in(record, "at"))
        yield f"## {turn}. You" + (f", {at[-5:]}" if at else "")
        yield ""
        for each in objects_in(record, "attachments"):
            yield f"Attached: {_code(text_in(each, 'name'))}, {number_in(each, 'size'):,} bytes"
            yield ""
        yield from _quote(text)

    def _said(self, message: Mapping[str, Any]) -> Iterator[str]:
        for block in blocks_of(message):
            match block.get("type"):
                case "text" if text_in(block, "text").strip():
                    if self._speaker != "Claude":
                        self._speaker = "Claude"
                        yield "### Claude"
                        yield ""
                    yield from _prose(text_in(block, "text").strip("\n"))
                    yield ""
                case "thinking" if text_in(block, "thinking").strip():
                    yield "*Thinking:*"
                    yield ""
                    yield from _quote(text_in(block, "thinking").strip("\n"))


_REWOUND = {
    "retry": "You had turn {turn} said again: it is out of the conversation, and so is what came of it.",
    "edit": "You took turn {turn} back to say it in other words: it is out of the conversation.",
    "fault": "Nothing came back to turn {turn}: it is out of the conversation.",
    "refused": "The model declined: turn {turn} is out of the conversation, or it would go on declining.",
    "clear": "You began anew: all that was said before is out of the conversation.",
}


def _card(record: Record) -> Iterator[str]:
    """A tool call: what was asked for, what it changes, what was answered."""
    fields = mapping_in(record, "input")
    yield " ".join(filter(None, (f"**{_code(_command(record))}**", _object(fields)))) + f": {_outcome(record)}"
    yield ""
    raw = record.get("input")
    if isinstance(raw, str) and raw:
        yield "Input, which is not JSON as it should be:"
        yield ""
        yield from _fenced("text", raw)
    diff = diff_of(fields)
    if diff:
        yield from _fenced("diff", "\n".join(diff))
    edit = record.get("edit")
    if isinstance(edit, str):
        yield "You wrote this in its place:"
        yield ""
        yield from _fenced("diff", "\n".join(_signed("+", edit)))
    answer = text_in(record, "answer")
    if answer:
        yield "Answer:"
        yield ""
        yield from _fenced("text", answer)


def _command(record: Record) -> str:
    command = mapping_in(record, "input").get("command")
    name = text_in(record, "name") or "a tool without a name"
    return one_line(command if isinstance(command, str) and name == "memory" else name)


def _object(fields: Mapping[str, Any]) -> str:
    """What a call is about."""
    named = [
        text_in(fields, name).removeprefix(_ROOT) for name in ("path", "old_path", "new_path") if text_in(fields, name)
    ]
    words = " to ".join(map(_code, named))
    match fields.get("command"):
        case "insert":
            return f"{words} after line {one_line(str(fields.get('insert_line')))}"
        case "view" if fields.get("view_range") is not None:
            return f"{words} lines {_code(str(fields.get('view_range')))}"
    return words


def _outcome(record: Record) -> str:
    note = text_in(record, "note")
    if isinstance(record.get("edit"), str) or number_in(record, "edit_seq"):
        return "edited by you before it was written"
    if record.get("is_error") is not True:
        return "done"
    return {"declined": "declined by you", "stopped": "stopped by you", "not approved": "not approved"}.get(
        note, "refused"
    )


def diff_of(fields: Mapping[str, Any]) -> list[str]:
    """What a command of the memory tool changes, as far as its input tells: lines that begin with `+`, `-` or a space.

    Empty for one that changes no text, such as a deletion.
    """
    match fields.get("command"):
        case "create":
            return _signed("+", text_in(fields, "file_text"))
        case "insert":
            return _signed("+", text_in(fields, "insert_text") or text_in(fields, "new_str"))
        case "str_replace":
            found = diffs.compare(text_in(fields, "old_str"), text_in(fields, "new_str"))
            return [line for line in found.unified() if not line.startswith("@@")]
    return []


def _signed(sign: str, text: str) -> list[str]:
    lines = text.split("\n")
    return [sign + line for line in (lines[:-1] if lines[-1] == "" else lines)]


def _ended(record: Record) -> Iterator[str]:
    remembered = objects_in(record, "remembered")
    if remembered:
        yield "**Remembered**"
        yield ""
        for each in remembered:
            yield f"- {_remembered(each)}"
        yield ""
    words = _ENDS.get(text_in(record, "end"))
    if words:
        yield from _remark(words)


_ENDS = {
    "stopped": "You stopped this turn. What was said until then is kept.",
    "cut": "The answer was cut off here.",
    "refused": "The model declined to go on.",
    "too many calls": "This turn was ended because it made too many tool calls.",
}


def _remembered(found: Mapping[str, Any]) -> str:
    words = f"{_escaped(one_line(text_in(found, 'how') or 'changed'))} {_code(text_in(found, 'path'))}"
    if text_in(found, "old_path"):
        words += f", before {_code(text_in(found, 'old_path'))}"
    added, removed = found.get("added"), found.get("removed")
    if isinstance(added, int) and isinstance(removed, int) and (added or removed):
        words += f" (+{added:,} -{removed:,})"
    return words + (", edited by you" if found.get("edited") is True else "")


_POLICIES = {
    "ask": "From here on you are asked before memory is changed.",
    "allow": "From here on memory is changed without asking.",
    "read-only": "From here on memory is read-only.",
}


# Markdown


def _remark(sentence: str) -> Iterator[str]:
    """Something that memtui says."""
    yield f"*{_escaped(one_line(sentence))}*"
    yield ""


def _quote(text: str) -> Iterator[str]:
    for line in _prose(text):
        yield f"> {line}".rstrip()
    yield ""


def _fenced(language: str, text: str) -> Iterator[str]:
    """A text that stays as it is, in a fence that nothing in it can end."""
    shown = visible(text)
    fence = "`" * max(3, *(len(run) + 1 for run in _RUNS.findall(shown)), 3)
    yield f"{fence}{language}"
    yield from shown.removesuffix("\n").split("\n")
    yield fence
    yield ""


def _code(text: str) -> str:
    """A short text as code, in backticks that nothing in it can end."""
    shown = one_line(text)
    if not shown.strip():
        return "(no name)"
    ticks = "`" * (max((len(run) for run in _RUNS.findall(shown)), default=0) + 1)
    space = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _prose(text: str) -> Iterator[str]:
    """Somebody's Markdown: it may be formatted, and can be nothing else.

    Only a fence that begins at the margin is sure to be code for every reader; anywhere else HTML is made text.
    """
    fence = ""
    paragraph: list[str] = []
    for line in visible(text).split("\n"):
        found = _FENCE.match(line)
        if fence:
            yield line
            closing = line.strip()
            fence = "" if closing and closing == closing[0] * len(closing) and closing.startswith(fence) else fence
        elif found:
            yield from _inert(paragraph)
            paragraph = []
            fence = found.group(1) or found.group(2)
            yield line
        elif line.strip():
            paragraph.append(line)
        else:
            yield from _inert(paragraph)
            paragraph = []
            yield line
    yield from _inert(paragraph)
    if fence:
        yield fence


def _inert(paragraph: list[str]) -> Iterator[str]:
    """The lines of a paragraph without headings of our levels, HTML and pictures."""
    paired = all(_spans(line) is not None for line in paragraph)
    for number, given in enumerate(paragraph):
        line = given
        if found := _HEADING.match(line):
            line = f"{found.group(1)}{'#' * min(6, len(found.group(2)) + 3)}{line[found.end() :]}"
        if number and _UNDERLINE.match(line):
            line = "\\" + line.lstrip()
        parts = (_spans(line) or [("", line)]) if paired else [("", line)]
        yield "".join(code or _HTML.sub("&lt;", words).replace("![", "!\\[") for code, words in parts)


def _spans(line: str) -> list[tuple[str, str]] | None:
    """A line in pieces of code and of words; `None` where its backticks do not pair up within it."""
    parts: list[tuple[str, str]] = []
    at = 0
    runs = list(_RUNS.finditer(line))
    while runs:
        opening = runs.pop(0)
        if line[opening.start() - 1 : opening.start()] == "\\":
            return None
        closing = next((run for run in runs if len(run.group()) == len(opening.group())), None)
        if closing is None:
            return None
        parts += (("", line[at : opening.start()]), (line[opening.start() : closing.end()], ""))
        at = closing.end()
        runs = [run for run in runs if run.start() >= at]
    return [*parts, ("", line[at:])]


def _cut(text: str) -> str:
    shown = one_line(text)
    return shown if len(shown) <= _TITLE else shown[: _TITLE - 1].rstrip() + "…"


def _minute(at: str) -> str:
    """A time of a record as people read it; empty for none."""
    try:
        return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return ""
