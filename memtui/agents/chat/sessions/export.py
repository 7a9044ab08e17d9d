"""A session as Markdown, in which no message can pass for another part; and as the events of its conversation.

Texts of the model, a file or a person may hold headings, HTML and pictures that load from elsewhere. Here control
characters are named, HTML and pictures are text, and no heading looks like one of ours.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar

from memtui.agents.chat import events
from memtui.agents.chat.sessions.records import (
    NOT_RUN,
    Record,
    add_usage,
    get_blocks,
    get_mapping,
    get_number,
    get_objects,
    get_text,
    make_title,
    parse_prompt,
    parse_usage,
)
from memtui.core import diffs
from memtui.core.approvals import ApprovalPolicy
from memtui.core.events import Event
from memtui.core.paths import format_path
from memtui.core.unicode import to_one_line, visible

_TITLE = 80
_ROOT = "/memories/"
_FENCE = re.compile(r"(`{3,})[^`]*\Z|(~{3,}).*\Z")
_RUNS = re.compile(r"`+")
_HTML = re.compile(r"<(?=[A-Za-z/!?])")
_HEADING = re.compile(r"((?:[ \t]*(?:[-*+>]|\d{1,9}[.)]))*[ \t]*)(#{1,6})(?=[ \t]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~!&])")


def to_markdown(records: Iterable[Record]) -> str:
    """The records of a session as a document."""
    writer = _MarkdownWriter()
    body = [line for record in records for line in writer.format_record(record)]
    return "\n".join([*writer.format_head(), *body]).rstrip("\n") + "\n"


class _MarkdownWriter:
    """Formats one record after the other, and collects the facts of the head."""

    def __init__(self) -> None:
        self._header: Record = {}
        self._title = ""
        self._turns: set[int] = set()
        self._models: list[str] = []
        self._model = ""
        self._usage = events.Usage()
        self._last = ""
        self._speaker = ""
        self._agent = events.CLAUDE
        self._agents: list[str] = []

    def format_head(self) -> Iterator[str]:
        """The lines above the conversation."""
        yield from (f"# {_escape_markdown(self._title) or 'A conversation'}", "")
        began, ended = _format_minute(get_text(self._header, "at")), _format_minute(self._last)
        if began:
            yield f"- Date: {began}" + (f" to {ended}" if ended and ended != began else "") + " (UTC)"
        if get_text(self._header, "folder"):
            yield f"- Memory: {_format_inline_code(format_path(get_text(self._header, 'folder')))}"
        if self._agents and self._agents != [events.CLAUDE]:
            yield f"- Agent: {', '.join(map(_escape_markdown, self._agents))}"
        if self._models:
            yield f"- Model: {', '.join(map(_format_inline_code, self._models))}"
        used = self._usage
        tokens = f", {used.input_tokens:,} tokens in and {used.output_tokens:,} out" if used.requests else ""
        yield f"- Turns: {len(self._turns):,}{tokens}" + (f", {used.cost:.2f} USD" if used.cost is not None else "")
        if get_text(self._header, "id"):
            origin = get_text(self._header, "forked_from")
            yield f"- Session: {_format_inline_code(get_text(self._header, 'id'))}" + (
                f", forked from {_format_inline_code(origin)}" if origin else ""
            )
        yield ""

    def format_record(self, record: Record) -> Iterator[str]:
        """The lines of a record."""
        self._last = get_text(record, "at") or self._last
        turn = get_number(record, "turn")
        match record["type"]:
            case "session":
                self._header = self._header or record
                self._note_model(record)
            case "turn_began":
                yield from self._format_turn_start(turn, record)
            case "message" if record.get("role") == "assistant":
                yield from self._format_message(record)
            case "repaired" if get_mapping(record, "message").get("role") == "assistant":
                yield from self._format_message(get_mapping(record, "message"))
            case "call":
                self._speaker = ""
                yield from _format_call(record)
            case "turn_ended":
                self._usage = add_usage(self._usage, parse_usage(record))
                yield from _format_turn_end(record)
            case "fault":
                yield from _format_remark(get_text(record, "sentence"))
            case "cleared":
                calls = get_number(record, "calls")
                yield from _format_remark(
                    f"{calls:,} old tool {'result' if calls == 1 else 'results'} ({get_number(record, 'tokens'):,} "
                    "tokens) were cleared from the context to make room."
                )
            case "compacted":
                yield from _format_remark("The earlier conversation was replaced by this summary in the context:")
                yield from _format_quote(get_text(record, "summary"))
            case "rewound":
                self._turns = {each for each in self._turns if each < turn}
                if get_text(record, "why") in _REWOUND:
                    yield from _format_remark(_REWOUND[get_text(record, "why")].format(turn=turn))
            case "undone":
                default = f"You undid what was written to memory in turn {turn}."
                yield from _format_remark(get_text(record, "sentence") or default)
            case "setting":
                yield from self._format_setting(record)

    def _note_model(self, record: Record) -> None:
        self._model = get_text(record, "model") or self._model
        if self._model and self._model not in self._models:
            self._models.append(self._model)

    def _format_setting(self, record: Record) -> Iterator[str]:
        """A setting that changed during the conversation."""
        before = self._model
        self._note_model(record)
        if not self._title:
            return
        if self._model != before:
            yield from _format_remark(f"From here on, {self._model} answers.")
        if get_text(record, "policy") in _POLICIES:
            yield from _format_remark(_POLICIES[get_text(record, "policy")])

    def _format_turn_start(self, turn: int, record: Record) -> Iterator[str]:
        text = get_text(record, "text")
        self._turns.add(turn)
        self._speaker = ""
        self._agent = to_one_line(get_text(record, "agent"))[:_TITLE] or events.CLAUDE
        if self._agent not in self._agents:
            self._agents.append(self._agent)
        self._title = self._title or make_title(text, _TITLE) or "A conversation"
        at = _format_minute(get_text(record, "at"))
        yield from (f"## {turn}. You" + (f", {at[-5:]}" if at else ""), "")
        for each in get_objects(record, "attachments"):
            name, size = _format_inline_code(get_text(each, "name")), get_number(each, "size")
            yield from (f"Attached: {name}, {size:,} bytes", "")
        yield from _format_quote(text)

    def _format_message(self, message: Mapping[str, Any]) -> Iterator[str]:
        for block in get_blocks(message):
            match block.get("type"):
                case "text" if get_text(block, "text").strip():
                    if self._speaker != self._agent:
                        self._speaker = self._agent
                        yield from (f"### {_escape_markdown(self._agent)}", "")
                    yield from (*_sanitize_markdown(get_text(block, "text").strip("\n")), "")
                case "thinking" if get_text(block, "thinking").strip():
                    yield from ("*Thinking:*", "")
                    yield from _format_quote(get_text(block, "thinking").strip("\n"))


_REWOUND = {
    "retry": "You retried turn {turn}: its first answer was removed from the conversation.",
    "edit": "You edited turn {turn}: its first text was removed from the conversation.",
    "fault": "Turn {turn} got no answer: it was removed from the conversation.",
    "refused": "The model declined: turn {turn} was removed from the conversation, or it would keep declining.",
    "clear": "You cleared the conversation: everything before was removed from it.",
}


def _format_call(record: Record) -> Iterator[str]:
    """A tool call: its input, its change, its answer."""
    fields = get_mapping(record, "input")
    name, command = get_text(record, "name") or "unnamed tool", fields.get("command")
    verb = to_one_line(command if isinstance(command, str) and name == "memory" else name)
    call = " ".join(filter(None, (f"**{_format_inline_code(verb)}**", _format_target(fields))))
    yield from (f"{call}: {_describe_outcome(record)}", "")
    raw = record.get("input")
    if isinstance(raw, str) and raw:
        yield from ("Input (invalid JSON):", "")
        yield from _format_code_block("text", raw)
    if diff := build_input_diff(fields):
        yield from _format_code_block("diff", "\n".join(diff))
    edit = record.get("edit")
    if isinstance(edit, str):
        yield from ("You wrote this instead:", "")
        yield from _format_code_block("diff", "\n".join(_prefix_lines("+", edit)))
    if answer := get_text(record, "answer"):
        yield from ("Answer:", "")
        yield from _format_code_block("text", answer)


def _format_target(fields: Mapping[str, Any]) -> str:
    """The paths of a call."""
    paths = filter(None, (get_text(fields, name) for name in ("path", "old_path", "new_path")))
    words = " to ".join(_format_inline_code(path.removeprefix(_ROOT)) for path in paths)
    match fields.get("command"):
        case "insert":
            return f"{words} after line {to_one_line(str(fields.get('insert_line')))}"
        case "view" if fields.get("view_range") is not None:
            return f"{words} lines {_format_inline_code(str(fields.get('view_range')))}"
    return words


def _describe_outcome(record: Record) -> str:
    if isinstance(record.get("edit"), str) or get_number(record, "edit_seq"):
        return "edited by you before it was written"
    if record.get("is_error") is not True:
        return "done"
    outcomes = {"declined": "declined by you", "stopped": "stopped by you", "not approved": "not approved"}
    return outcomes.get(get_text(record, "note"), "refused")


def build_input_diff(fields: Mapping[str, Any]) -> list[str]:
    """The lines that a command adds or removes, as far as its input tells, with `+`, `-` or a space."""
    match fields.get("command"):
        case "create":
            return _prefix_lines("+", get_text(fields, "file_text"))
        case "insert":
            return _prefix_lines("+", get_text(fields, "insert_text") or get_text(fields, "new_str"))
        case "str_replace":
            difference = diffs.compare_texts(get_text(fields, "old_str"), get_text(fields, "new_str"))
            return [line for line in difference.format_unified() if not line.startswith("@@")]
    return []


def _prefix_lines(sign: str, text: str) -> list[str]:
    lines = text.split("\n")
    return [sign + line for line in (lines[:-1] if lines[-1] == "" else lines)]


def _format_turn_end(record: Record) -> Iterator[str]:
    if changes := get_objects(record, "remembered"):
        yield from ("**Remembered**", "")
        yield from (*(f"- {_format_memory_change(each)}" for each in changes), "")
    if words := _ENDS.get(get_text(record, "end")):
        yield from _format_remark(words)


_ENDS = {
    "stopped": "You stopped this turn. The answer so far is kept.",
    "cut": "The answer was cut off here.",
    "refused": "The model declined to continue.",
    "too many calls": "This turn ended at the limit of tool calls.",
}


def _format_memory_change(found: Mapping[str, Any]) -> str:
    how = _escape_markdown(to_one_line(get_text(found, "how") or "changed"))
    words = f"{how} {_format_inline_code(get_text(found, 'path'))}"
    if get_text(found, "old_path"):
        words += f", previously {_format_inline_code(get_text(found, 'old_path'))}"
    added, removed = found.get("added"), found.get("removed")
    if isinstance(added, int) and isinstance(removed, int) and (added or removed):
        words += f" (+{added:,} -{removed:,})"
    return words + (", edited by you" if found.get("edited") is True else "")


_POLICIES = {
    "ask": "From here on, memtui asks before memory is changed.",
    "allow": "From here on, memory is changed without asking.",
    "read-only": "From here on, memory is read-only.",
}


# Markdown


def _format_remark(sentence: str) -> Iterator[str]:
    """A sentence of memtui's."""
    yield from (f"*{_escape_markdown(to_one_line(sentence))}*", "")


def _format_quote(text: str) -> Iterator[str]:
    yield from (*(f"> {line}".rstrip() for line in _sanitize_markdown(text)), "")


def _format_code_block(language: str, text: str) -> Iterator[str]:
    """A text as it is, in a fence that nothing in it can end."""
    shown = visible(text)
    fence = "`" * max(3, *(len(run) + 1 for run in _RUNS.findall(shown)), 3)
    yield from (f"{fence}{language}", *shown.removesuffix("\n").split("\n"), fence, "")


def _format_inline_code(text: str) -> str:
    """A short text as code, in backticks that nothing in it can end."""
    shown = to_one_line(text)
    if not shown.strip():
        return "(no name)"
    ticks = "`" * (max((len(run) for run in _RUNS.findall(shown)), default=0) + 1)
    space = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def _escape_markdown(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _sanitize_markdown(text: str) -> Iterator[str]:
    """Foreign Markdown: it may be formatted, and can be nothing else.

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
            yield from _sanitize_paragraph(paragraph)
            paragraph = []
            fence = found.group(1) or found.group(2)
            yield line
        elif line.strip():
            paragraph.append(line)
        else:
            yield from _sanitize_paragraph(paragraph)
            paragraph = []
            yield line
    yield from _sanitize_paragraph(paragraph)
    if fence:
        yield fence


def _sanitize_paragraph(paragraph: list[str]) -> Iterator[str]:
    """The lines of a paragraph without headings of our levels, HTML and pictures."""
    paired = all(_split_code_spans(line) is not None for line in paragraph)
    for number, given in enumerate(paragraph):
        line = given
        if found := _HEADING.match(line):
            line = f"{found.group(1)}{'#' * min(6, len(found.group(2)) + 3)}{line[found.end() :]}"
        if number and _UNDERLINE.match(line):
            line = "\\" + line.lstrip()
        parts = (_split_code_spans(line) or [("", line)]) if paired else [("", line)]
        yield "".join(code or _HTML.sub("&lt;", words).replace("![", "!\\[") for code, words in parts)


def _split_code_spans(line: str) -> list[tuple[str, str]] | None:
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


def _format_minute(at: str) -> str:
    """The time of a record for people; empty for none."""
    try:
        return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return ""


ENDED = "memtui ended in the middle of this turn. The answer so far is kept."

_E = TypeVar("_E", bound=Enum)
EventOf = Callable[[int], Event | None]
"""The journal's event of a number, where it can be had."""


def rebuild_events(records: Iterable[Record], event: EventOf = lambda _: None) -> Iterator[events.ChatEvent]:
    """The events of a conversation, rebuilt from its session.

    Args:
        records: The session.
        event: Gives the journal's event of a number.
    """
    rebuilder = _EventRebuilder(event)
    for record in records:
        yield from rebuilder.handle_record(record)
    yield from rebuilder.close_open_turn()


class _EventRebuilder:
    """Converts one record after the other."""

    def __init__(self, event: EventOf) -> None:
        self._event = event
        self._turn: int | None = None
        self._texts = 0
        self._open: dict[str, events.CallStarted] = {}
        self._calls = 0
        self._refused = 0
        self._usage = events.Usage()
        self._model = ""
        self._policy = ApprovalPolicy.ASK
        self._always: frozenset[str] = frozenset()
        self._prompts: dict[int, Record] = {}

    def handle_record(self, record: Record) -> Iterator[events.ChatEvent]:
        turn = get_number(record, "turn")
        match record["type"]:
            case "turn_began":
                yield from self.close_open_turn()
                self._turn, self._texts, self._calls, self._refused = turn, 0, 0, 0
                self._prompts[turn] = {name: record[name] for name in ("text", "attachments") if name in record}
                yield events.TurnStarted(turn, parse_prompt(record))
            case "message" if record.get("role") == "assistant":
                yield from self._convert_message(turn, record)
            case "repaired":
                yield from self._convert_repair(turn, get_mapping(record, "message"))
            case "call":
                yield self._end_call(record)
            case "turn_ended":
                yield from self._end_turn(turn, record)
            case "fault":
                kind = _parse_enum(record.get("kind"), events.FaultKind.BUG)
                yield events.ChatFault(kind, get_text(record, "sentence"))
            case "cleared":
                yield events.ContextCleared(get_number(record, "calls"), get_number(record, "tokens"))
            case "compacted":
                yield events.ContextCompacted(get_text(record, "summary"))
            case "rewound" if (reason := record.get("why")) in ("retry", "edit", "clear"):
                yield from self.close_open_turn()
                sent = self._prompts.get(turn) if reason != "clear" else None
                self._prompts = {each: prompt for each, prompt in self._prompts.items() if each < turn}
                yield events.ConversationRewound(turn, None if sent is None else parse_prompt(sent), reason)
            case "undone":
                sentence = get_text(record, "sentence") or f"The writes of turn {turn} were undone."
                event = self._find_event(record, "seq")
                yield events.Notice(sentence) if event is None else events.TurnUndone(turn, event, sentence)
            case "setting":
                yield from self._apply_setting(record)

    def close_open_turn(self) -> Iterator[events.ChatEvent]:
        """End the open turn, which has no end in the session: memtui ended in its middle."""
        if self._turn is None:
            return
        yield events.Notice(ENDED)
        yield from self._end_turn(self._turn, {"end": events.TurnOutcome.CUT.value})

    def _convert_message(self, turn: int, message: Record) -> Iterator[events.ChatEvent]:
        for block in get_blocks(message):
            match block.get("type"):
                case "thinking":
                    yield events.ThinkingDelta(turn, get_text(block, "thinking"))
                case "text":
                    yield events.TextDelta(turn, self._texts, get_text(block, "text"))
                    self._texts += 1
                case "tool_use":
                    call_id, name, fields = get_text(block, "id"), get_text(block, "name"), get_mapping(block, "input")
                    self._open[call_id] = events.CallStarted(turn, call_id, name, fields)
                    yield self._open[call_id]

    def _convert_repair(self, turn: int, message: dict[str, Any]) -> Iterator[events.ChatEvent]:
        if message.get("role") == "assistant":
            yield from self._convert_message(turn, message)
            return
        for block in get_blocks(message):
            began = self._open.pop(get_text(block, "tool_use_id"), None)
            if began is not None:
                yield self._refuse_call(began, "\n".join(get_text(each, "text") for each in get_blocks(block)))

    def _refuse_call(self, began: events.CallStarted, text: str) -> events.CallEnded:
        self._calls += 1
        self._refused += 1
        return events.CallEnded(began.turn, began.call_id, began.name, began.fields, text, is_error=True)

    def _end_call(self, record: Record) -> events.CallEnded:
        call_id = get_text(record, "call_id")
        self._open.pop(call_id, None)
        is_error = record.get("is_error") is True
        self._calls += 1
        self._refused += is_error
        return events.CallEnded(
            get_number(record, "turn"),
            call_id,
            get_text(record, "name"),
            get_mapping(record, "input"),
            get_text(record, "answer"),
            is_error,
            event=self._find_event(record, "seq"),
            edit=self._find_event(record, "edit_seq"),
        )

    def _find_event(self, record: Record, name: str) -> Event | None:
        seq = get_number(record, name)
        return self._event(seq) if seq else None

    def _end_turn(self, turn: int, record: Record) -> Iterator[events.ChatEvent]:
        for began in self._open.values():
            yield self._refuse_call(began, NOT_RUN)
        self._open.clear()
        self._turn = None
        usage = parse_usage(record)
        self._usage = add_usage(self._usage, usage)
        seconds = record.get("seconds")
        yield events.TurnEnded(
            turn,
            _parse_enum(record.get("end"), events.TurnOutcome.CUT),
            float(seconds) if isinstance(seconds, int | float) else 0.0,
            self._calls,
            self._refused,
            tuple(_parse_memory_change(each) for each in get_objects(record, "remembered")),
            usage,
        )
        yield events.UsageChanged(usage, self._usage)

    def _apply_setting(self, record: Record) -> Iterator[events.ChatEvent]:
        model = get_text(record, "model")
        if model and model != self._model:
            self._model = model
            yield events.ModelChanged(events.Model(model))
        policy, always = record.get("policy"), record.get("always")
        if policy in list(ApprovalPolicy):
            self._policy = ApprovalPolicy(policy)
        if isinstance(always, list):
            self._always = frozenset(each for each in always if isinstance(each, str))
        if "policy" in record or "always" in record:
            yield events.PolicyChanged(self._policy, self._always)


def _parse_enum(value: object, default: _E) -> _E:
    """The member of an enumeration by its value; the default for an unknown one."""
    return next((each for each in type(default) if each.value == value), default)


def _parse_memory_change(found: dict[str, Any]) -> events.MemoryChange:
    def number(name: str) -> int | None:
        return get_number(found, name) if isinstance(found.get(name), int) else None

    return events.MemoryChange(
        path=get_text(found, "path"),
        how=get_text(found, "how"),
        old_path=get_text(found, "old_path") or None,
        added=number("added"),
        removed=number("removed"),
        before=get_text(found, "before") or None,
        after=get_text(found, "after") or None,
        edited=found.get("edited") is True,
    )
