"""What an agent tells of its turn, as the events of a conversation."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from acp import schema

from memtui.agents.acp.permissions import is_own_tool
from memtui.agents.chat import events
from memtui.agents.chat.history import sanitize_value
from memtui.agents.chat.state import ChatState
from memtui.agents.chat.stream import ToolCall
from memtui.agents.chat.tool_calls import TOOL, ToolResult
from memtui.agents.chat.turn_record import TurnRecord
from memtui.core.diffs import format_unified
from memtui.core.events import Agent, Event, Person
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.engine import Engine

_LONGEST_TEXT = 100_000
"""Characters of an answer of a tool that are shown."""
_LONGEST_NAME = 100
_FOUND = ("created", "modified")
_NEAR = 5
"""Events between a person's edit and the answer to the agent."""
_SIGNS = {"completed": "x", "in_progress": "-", "pending": " "}


@dataclass(slots=True)
class RunningCall:
    """A call of the agent's own tool, as far as it is told."""

    title: str = ""
    kind: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    is_error: bool = False
    is_started: bool = False
    is_told: bool = False


class UpdateReader:
    """Takes the updates of one turn, in order.

    Args:
        state: The conversation's.
        record: The turn's.
        number: Of the turn.
        to_path: A path of the machine as one of the memory, `/memories/...`; as it is where it lies outside.
    """

    def __init__(self, state: ChatState, record: TurnRecord, number: int, to_path: Callable[[str], str]) -> None:
        self._state = state
        self._record = record
        self._number = number
        self._to_path = to_path
        self._calls: dict[str, RunningCall] = {}
        self._own: dict[str, RunningCall] = {}
        """Calls of memtui's MCP server, which are told by their events in the journal, if they have one."""
        self.own_call_seen = asyncio.Event()
        self._block = -1
        self._said: list[str] = []
        self._message: str | None = None
        self._plan = ""

    def take(self, update: object) -> None:
        """Take one update; kinds that show nothing are ignored."""
        match update:
            case schema.AgentMessageChunk(content=schema.TextContentBlock(text=text), message_id=message) if text:
                if message != self._message:
                    self._message = message
                    self.end_text()
                if not self._said:
                    self._block += 1
                self._said.append(text)
                self._state.pacer.add_text(self._number, self._block, text)
            case schema.AgentThoughtChunk(content=schema.TextContentBlock(text=text)) if text:
                self._state.pacer.add_thinking(self._number, text)
            case schema.ToolCallStart() | schema.ToolCallProgress():
                self._take_call(update)
            case schema.AgentPlanUpdate(entries=entries):
                self._take_plan(entries)
            case schema.UsageUpdate(used=used):
                self._state.emit(events.UsageChanged(events.Usage(context=used), events.Usage(context=used)))

    def end_text(self) -> bool:
        """Add what the agent said since the last call to the history; whether it said anything."""
        self._state.pacer.flush()
        text = sanitize_value("".join(self._said))
        self._said.clear()
        if text.strip():
            self._state.add_message(self._number, "assistant", [{"type": "text", "text": text}])
        return bool(text.strip())

    def is_own(self, call: schema.ToolCallUpdate) -> bool:
        """Whether a call that the agent asks about was told as one of memtui's MCP server, and is no other now."""
        return call.tool_call_id in self._own and not (call.title or call.raw_input or call.content)

    def complete_call(self, call: schema.ToolCallUpdate) -> schema.ToolCallUpdate:
        """A call that the agent asks about, with what it has told of it before and does not say again."""
        told = self._calls.get(call.tool_call_id)
        if told is None:
            return call
        before = {"title": told.title, "kind": told.kind, "raw_input": told.fields}
        return call.model_copy(
            update={name: value for name, value in before.items() if value and not getattr(call, name)}
        )

    def end_calls(self, text: str) -> None:
        """End the calls that the agent left open."""
        self.tell_own_calls()
        for id, call in list(self._calls.items()):
            self._own.pop(id, None)
            call.text, call.is_error = call.text or text, True
            self._tell_start(id, call)
            self._end_call(id, call)

    def match_event(self) -> bool:
        """Leave out a call of memtui's MCP server, because its event is told; whether there was one."""
        id = next(iter(self._own), None)
        if id is None:
            return False
        del self._own[id]
        self._calls.pop(id, None)
        self._record.ended_calls.add(id)
        return True

    def tell_own_calls(self) -> None:
        """Tell the calls of memtui's MCP server that have ended and have no event."""
        for id, call in list(self._own.items()):
            if id not in self._calls:
                del self._own[id]
                self._tell_start(id, call)
                self._end_call(id, call)

    def _take_call(self, update: schema.ToolCallStart | schema.ToolCallProgress) -> None:
        id = update.tool_call_id
        if id in self._record.ended_calls or (id in self._own and id not in self._calls):
            return
        call = self._calls.setdefault(id, RunningCall())
        call.title = to_one_line(update.title)[:_LONGEST_NAME] if update.title else call.title
        call.kind = update.kind or call.kind
        if isinstance(update.raw_input, dict) and update.raw_input:
            call.fields = sanitize_value(update.raw_input)
        if update.locations:
            call.fields = {**call.fields, "path": self._to_path(update.locations[0].path)}
        if update.content:
            call.text = self._format_content(update.content)
        elif update.raw_output is not None and not call.text:
            call.text = _format_output(update.raw_output)
        if not call.is_started:
            call.is_started = True
            self.end_text()
            if is_own_tool(update):
                self._own[id] = call
                self.own_call_seen.set()
        if id not in self._own:
            self._tell_start(id, call)
        if update.status in ("completed", "failed"):
            call.is_error = update.status == "failed"
            if id in self._own:
                del self._calls[id]
                self.own_call_seen.clear()
            else:
                self._end_call(id, call)

    def _tell_start(self, id: str, call: RunningCall) -> None:
        if not call.is_told:
            call.is_told = True
            self._record.calls += 1
            self._state.emit(events.CallStarted(self._number, id, call.title or call.kind or "tool", dict(call.fields)))

    def _end_call(self, id: str, call: RunningCall) -> None:
        self._calls.pop(id, None)
        made = ToolCall(id, call.title or call.kind or "tool", dict(call.fields), True)
        self._record.add_result(made, ToolResult(call.text, call.is_error))

    def _format_content(self, content: list[Any]) -> str:
        parts = []
        for each in content:
            match each:
                case schema.FileEditToolCallContent(path=path, old_text=old, new_text=new):
                    lines = format_unified(old or "", new) if len(old or "") + len(new) <= _LONGEST_TEXT else ["(long)"]
                    parts.append("\n".join([self._to_path(path), *lines]))
                case schema.ContentToolCallContent(content=schema.TextContentBlock(text=text)):
                    parts.append(text)
        return _clean("\n".join(parts))

    def _take_plan(self, entries: list[schema.PlanEntry]) -> None:
        plan = "; ".join(f"[{_SIGNS.get(each.status, ' ')}] {to_one_line(each.content)}" for each in entries)
        if plan and plan != self._plan:
            self._plan = plan
            self._state.emit(events.Notice(f"Plan: {plan}"))


EDIT = "edit"
"""What a write of the agent's is called that it was allowed to make by itself."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A command that the agent gave through the MCP server, or a write of its own, from the journal.

    Attributes:
        name: Of the tool.
        event: Its event.
        fields: Its input, as far as it is recorded.
        edit: What the person wrote in its place.
    """

    name: str
    event: Event
    fields: dict[str, object]
    edit: Event | None = None


def read_calls(
    memory: Engine, after: int, session: str, expected: Sequence[str] = ()
) -> tuple[int, list[RecordedCall]]:
    """The calls of an agent's session after an event, and the number of the last event. Call it in a thread.

    Args:
        memory: The memory.
        after: The number of the event.
        session: The session of the agent's actor.
        expected: Files that the agent may have written by itself.
    """
    if expected:
        memory.reconcile(expected)
    found, last = list[RecordedCall](), after
    for event in memory.events(after):
        last = event.seq
        if isinstance(event.actor, Agent) and event.actor.session == session:
            edit = _find_edit(memory, event) if event.note.startswith("edited by you first") else None
            name = EDIT if event.command in _FOUND else TOOL
            found.append(RecordedCall(name, event, _restore_fields(memory, event), edit))
    return last, found


def _find_edit(memory: Engine, event: Event) -> Event | None:
    """What the person wrote in place of a command, a few events before the answer to it."""
    near = [each for each in memory.events(max(event.seq - _NEAR, 0)) if each.seq < event.seq]
    edits = [each for each in near if isinstance(each.actor, Person) and each.note.endswith(", edited")]
    return edits[-1] if edits else None


def _restore_fields(memory: Engine, event: Event) -> dict[str, object]:
    """The fields of a command that another process executed, from its event; what is not recorded is left out."""
    try:
        recorded = json.loads(event.arguments or "{}")
    except ValueError:
        recorded = {}
    if isinstance(recorded, dict) and recorded.get("command"):
        return recorded
    if event.new_path is not None:
        return {"command": event.command, "old_path": event.path, "new_path": event.new_path}
    fields: dict[str, object] = {"command": event.command, "path": event.path}
    if event.command in ("create", *_FOUND):
        fields["command"] = "create"
        data = memory.history.text(next((each.after for each in event.changes if not each.is_directory), None))
        if data is not None:
            fields["file_text"] = data.decode("utf-8", "replace")
    return fields


def _format_output(value: object) -> str:
    if isinstance(value, Mapping) and isinstance(value.get("output"), str):
        return _clean(value["output"])
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _clean(text)


def _clean(text: str) -> str:
    return str(sanitize_value(text[:_LONGEST_TEXT]))
