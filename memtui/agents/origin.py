"""From a line of a memory to the session, the prompt and the tool call that wrote it, as far as anything tells it.

The journal tells the event; the record of a chat, or a session file of Claude Code, tells what the person had asked
for. Where the journal has only seen the result, what was imported from session files may tell the rest.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from memtui.agents.chat.sessions import records
from memtui.agents.chat.sessions.finding import SUFFIX, records_in
from memtui.agents.chat.sessions.session import CHATS
from memtui.agents.transcripts.calls import calls_in, record_of
from memtui.agents.transcripts.files import files_of_session
from memtui.agents.transcripts.lines import Stopped, lines_of
from memtui.agents.transcripts.prompts import Prompts
from memtui.core import diffs
from memtui.core.actors import shown_name
from memtui.core.errors import StateUnusable
from memtui.core.events import Agent, Event
from memtui.core.history import PathVersion, is_unwritten
from memtui.engine import Observer

_FOUND = "found"
MOST_BYTES = 1_000_000_000
"""Bytes of session files that are looked through for prompts at most."""
_PROMPT = 300
"""Characters of a prompt that are shown among other facts."""


class Asked(NamedTuple):
    """What a person had asked for when a call was made.

    Attributes:
        prompt: Her words; empty if nothing tells them.
        source: The session file that does, without its directory; empty if none does.
    """

    prompt: str = ""
    source: str = ""


_NOTHING = Asked()


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a line comes from.

    Attributes:
        line: Its number, from 1.
        text: What it says, without its line end.
        event: What wrote it, or brought it here; `None` if nothing is known.
        at_us: When that happened, in microseconds since 1970; `None` if that is not known.
        is_told: Whether only a session file tells it, and nobody saw it happen.
        asked: What the person had asked for.
    """

    line: int
    text: str
    event: Event | None
    at_us: int | None
    is_told: bool = False
    asked: Asked = _NOTHING

    @property
    def is_known(self) -> bool:
        """Whether it is known who wrote it."""
        return self.event is not None and (self.is_told or self.event.command != _FOUND)


def origins_of(
    memory: Observer, path: str, data: bytes, *, state: Path | None, only: Iterable[int] | None = None
) -> list[Origin]:
    """Where the lines of a note come from.

    Args:
        memory: The open memory.
        path: The note, relative to the folder.
        data: What it says.
        state: The state directory, in which chats are recorded; `None` if there is none.
        only: The numbers of the lines that are asked about; `None` for all.
    """
    lines = diffs.lines_of(data.decode("utf-8", "surrogateescape"))
    wanted = range(1, len(lines) + 1) if only is None else [number for number in only if 0 < number <= len(lines)]
    blame = memory.history.claimed(memory.history.blame(path, data))
    told = memory.history.told_lines(path, data)
    calls = {row.event.call_id: row for row in memory.history.told_of(path) if row.event.call_id}
    found: list[tuple[int, Event | None, PathVersion | None]] = []
    for number in wanted:
        event = blame.lines[number - 1]
        row = calls.get(event.call_id) if event is not None and event.call_id else None
        if is_unwritten(event) and (each := told[number - 1]) is not None:
            row, event = each, each.event
        found.append((number, event, row))
    seen = {event.seq: event for _, event, row in found if event is not None and row is None}
    prompts = prompts_of(seen.values(), state)
    origins = []
    for number, event, row in found:
        is_told = row is not None and event is row.event
        asked = _from(row) if row is not None else prompts.get(event.seq, _NOTHING) if event is not None else _NOTHING
        origins.append(
            Origin(
                line=number,
                text=lines[number - 1].removesuffix("\n"),
                event=event,
                at_us=row.at_us if row is not None and is_told else event.at_us if event is not None else None,
                is_told=is_told,
                asked=asked,
            )
        )
    return origins


def _from(row: PathVersion) -> Asked:
    return Asked(row.told.prompt, f"{row.told.source}:{row.told.line}") if row.told is not None else _NOTHING


def prompt_of(event: Event, state: Path | None) -> Asked:
    """What the person had asked for when an event's call was made.

    Args:
        event: Which.
        state: The state directory, in which chats are recorded; `None` if there is none.
    """
    return prompts_of([event], state).get(event.seq, _NOTHING)


def prompts_of(events: Iterable[Event], state: Path | None, *, most_bytes: int = MOST_BYTES) -> dict[int, Asked]:
    """What the person had asked for when the calls of events were made, by the number of the event.

    Args:
        events: Which; each session is gone through once for all of them.
        state: The state directory, in which chats are recorded; `None` if there is none.
        most_bytes: Bytes of Claude Code's session files that are read at most.
    """
    by_session: dict[str, dict[str, list[Event]]] = {}
    for event in events:
        session = event.actor.session if isinstance(event.actor, Agent) else None
        if session and event.call_id and os.sep not in session and "\0" not in session:
            by_session.setdefault(session, {}).setdefault(event.call_id, []).append(event)
    found: dict[int, Asked] = {}
    budget = _Budget(most_bytes)
    for session, calls in by_session.items():
        asked = _in_chat(state / CHATS / f"{session}{SUFFIX}", calls) if state is not None else {}
        if missing := calls.keys() - asked.keys():
            asked |= _in_transcripts(session, missing, calls, budget)
        found |= {event.seq: said for call_id, said in asked.items() for event in calls[call_id]}
    return found


def _in_chat(path: Path, wanted: Mapping[str, object]) -> dict[str, Asked]:
    prompts: dict[int, str] = {}
    found: dict[str, Asked] = {}
    with contextlib.suppress(OSError, StateUnusable):
        for record in records_in(path):
            if record["type"] == "turn_began":
                prompts[records.number_in(record, "turn")] = records.text_in(record, "text")
            elif record["type"] == "call" and (call_id := records.text_in(record, "call_id")) in wanted:
                found[call_id] = Asked(prompts.get(records.number_in(record, "turn"), ""), path.name)
    return found


def _in_transcripts(
    session: str, wanted: Iterable[str], calls: Mapping[str, list[Event]], budget: "_Budget"
) -> dict[str, Asked]:
    """What the files of a session of Claude Code tell of calls."""
    left = set(wanted)
    found: dict[str, Asked] = {}
    named = filter(None, (_transcript_of(event) for call_id in left for event in calls[call_id]))
    files = dict.fromkeys([*(path for path in named if path.endswith(f"{session}.jsonl")), *files_of_session(session)])
    one_of = re.compile(b"|".join(re.escape(json.dumps(call_id).encode()) for call_id in sorted(left)))
    for path in files:
        prompts = Prompts()
        with contextlib.suppress(OSError, Stopped):
            for line in lines_of(path, budget.take):
                if b'"tool_use"' not in line.data:
                    prompts.take(line.data)
                elif one_of.search(line.data) is not None and (record := record_of(line.data)) is not None:
                    for call_id in left & set(calls_in(record)):
                        found[call_id] = Asked(prompts.before(record), f"{os.path.basename(path)}:{line.number}")
                        left.discard(call_id)
                    if not left:
                        return found
    return found


def _transcript_of(event: Event) -> str:
    """The file that a hook was told the conversation is kept in; empty if it was told none."""
    try:
        told = json.loads(event.arguments or "{}").get("transcript")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return told if isinstance(told, str) and os.path.isabs(told) and "\0" not in told else ""


class _Budget:
    """Says when enough was read."""

    def __init__(self, left: int) -> None:
        self._left = left

    def take(self, count: int) -> bool:
        """Whether to go on."""
        self._left -= count
        return self._left > 0


def stretches_of(origins: Iterable[Origin]) -> list[list[Origin]]:
    """Lines that stand together and came with the same event."""
    return [list(group) for _, group in groupby(origins, key=lambda origin: origin.event.seq if origin.event else 0)]


def facts_of(origin: Origin) -> Iterator[tuple[str, str]]:
    """What there is to say of where a line comes from, as pairs of a name and words; these are not safe to show."""
    event = origin.event
    if event is None:
        yield "who", "not known"
        return
    agent = event.actor if isinstance(event.actor, Agent) else None
    if not origin.is_known:
        yield "who", "not known: it was there when memtui first looked"
    else:
        yield "who", f"{shown_name(event.actor)}{f' ({agent.model})' if agent is not None and agent.model else ''}"
    at = datetime.fromtimestamp(origin.at_us / 1e6) if origin.at_us else event.at.astimezone()
    yield "when", f"{at:%Y-%m-%d %H:%M}"
    if agent is not None and agent.session:
        yield "session", agent.session
    call = f", call {event.call_id}" if event.call_id else ""
    yield "by", f"{event.note if origin.is_told else event.command}{call}, #{event.seq}"
    if origin.asked.prompt:
        prompt = " ".join(origin.asked.prompt.split())
        yield "asked", prompt if len(prompt) <= _PROMPT else f"{prompt[:_PROMPT]}..."
    if origin.asked.source:
        yield "source", origin.asked.source
