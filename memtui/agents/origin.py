"""From a line of a memory to the session, the prompt and the tool call that wrote it, as far as it is recorded.

The journal has the event; the record of a chat, or an agent's session file, has the prompt. Where the journal has
only seen the result, imported session files may have the rest.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from memtui.agents.chat.sessions import records
from memtui.agents.chat.sessions.store import CHATS, SUFFIX, read_records
from memtui.agents.transcripts.parse import PromptTracker, ReadCancelled, find_call_ids, parse_record
from memtui.agents.transcripts.sessions import SessionFile, find_session_files
from memtui.core import diffs
from memtui.core.errors import StateUnusable
from memtui.core.events import Agent, Event, format_actor_name
from memtui.core.history import PathVersion, has_unknown_author
from memtui.core.lazy_dataclass import dataclass
from memtui.engine import Observer

_FOUND = "found"
MOST_BYTES = 1_000_000_000
"""Bytes of session files that are looked through for prompts at most."""
_PROMPT = 300
"""Characters of a prompt that are shown among other facts."""


class OriginPrompt(NamedTuple):
    """The prompt before a call, and the session file that has it, without its directory; empty if unknown."""

    prompt: str = ""
    source: str = ""


_NOTHING = OriginPrompt()


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOrigin:
    """The origin of a line.

    Attributes:
        line: Its number, from 1.
        text: Without its line end.
        event: The event that wrote it, or first found it; `None` if nothing is known.
        at_us: When that happened, in microseconds since 1970; `None` if unknown.
        is_imported: Whether only a session file tells it.
        asked: The person's prompt.
    """

    line: int
    text: str
    event: Event | None
    at_us: int | None
    is_imported: bool = False
    asked: OriginPrompt = _NOTHING

    @property
    def is_known(self) -> bool:
        """Whether its author is known."""
        return self.event is not None and (self.is_imported or self.event.command != _FOUND)


def find_origins(
    memory: Observer, path: str, data: bytes, *, state: Path | None, only: Iterable[int] | None = None
) -> list[LineOrigin]:
    """The origins of the lines of a note.

    Args:
        memory: The open memory.
        path: The note, relative to the folder.
        data: Its content.
        state: The state directory, in which chats are recorded; `None` if there is none.
        only: The numbers of the lines in question; `None` for all.
    """
    lines = diffs.split_lines(data.decode("utf-8", "surrogateescape"))
    numbers = range(1, len(lines) + 1) if only is None else [number for number in only if 0 < number <= len(lines)]
    blame = memory.history.apply_claims(memory.history.blame(path, data))
    imported = memory.history.blame_imported(path, data)
    calls = {row.event.call_id: row for row in memory.history.get_imported_versions(path) if row.event.call_id}
    found: list[tuple[int, Event | None, PathVersion | None]] = []
    for number in numbers:
        event = blame.lines[number - 1]
        row = calls.get(event.call_id) if event is not None and event.call_id else None
        if has_unknown_author(event) and (each := imported[number - 1]) is not None:
            row, event = each, each.event
        found.append((number, event, row))
    unasked = {event.seq: event for _, event, row in found if event is not None and row is None}
    prompts = find_prompts(unasked.values(), state)
    return [_make_origin(line, lines[line - 1].removesuffix("\n"), event, row, prompts) for line, event, row in found]


def _make_origin(
    line: int, text: str, event: Event | None, row: PathVersion | None, prompts: Mapping[int, OriginPrompt]
) -> LineOrigin:
    at_us, asked, is_imported = None, _NOTHING, False
    if event is not None:
        at_us, asked = event.at_us, prompts.get(event.seq, _NOTHING)
    if row is not None:
        is_imported, imported = event is row.event, row.imported
        at_us = row.at_us if is_imported else at_us
        asked = _NOTHING if imported is None else OriginPrompt(imported.prompt, imported.origin)
    return LineOrigin(line=line, text=text, event=event, at_us=at_us, is_imported=is_imported, asked=asked)


def find_prompt(event: Event, state: Path | None) -> OriginPrompt:
    """The prompt before the call of an event; see `find_prompts`."""
    return find_prompts([event], state).get(event.seq, _NOTHING)


def find_prompts(
    events: Iterable[Event], state: Path | None, *, most_bytes: int = MOST_BYTES
) -> dict[int, OriginPrompt]:
    """The prompts before the calls of events, by the number of the event.

    Args:
        events: Each session is read once for all of them.
        state: The state directory, in which chats are recorded; `None` if there is none.
        most_bytes: Bytes of session files that are read at most.
    """
    by_session: dict[str, dict[str, list[Event]]] = {}
    for event in events:
        session = event.actor.session if isinstance(event.actor, Agent) else None
        if session and event.call_id and os.sep not in session and "\0" not in session:
            by_session.setdefault(session, {}).setdefault(event.call_id, []).append(event)
    found: dict[int, OriginPrompt] = {}
    budget = _ReadBudget(most_bytes)
    for session, calls in by_session.items():
        asked = _search_chat(state / CHATS / f"{session}{SUFFIX}", calls) if state is not None else {}
        missing = {call_id for call_id, made in calls.items() if any(event.seq not in asked for event in made)}
        told = _search_transcripts(session, missing, calls, budget) if missing else {}
        found |= {event.seq: prompt for call_id, prompt in told.items() for event in calls[call_id]} | asked
    return found


def _search_chat(path: Path, calls: Mapping[str, list[Event]]) -> dict[int, OriginPrompt]:
    """The prompts of events in a chat of memtui, by number: a call through MCP has another id there."""
    seqs = {event.seq for made in calls.values() for event in made}
    prompts: dict[int, str] = {}
    found: dict[int, OriginPrompt] = {}
    with contextlib.suppress(OSError, StateUnusable):
        for record in read_records(path):
            if record["type"] == "turn_began":
                prompts[records.get_number(record, "turn")] = records.get_text(record, "text")
            elif record["type"] == "call":
                prompt = OriginPrompt(prompts.get(records.get_number(record, "turn"), ""), path.name)
                seq = records.get_number(record, "seq")
                named = calls.get(records.get_text(record, "call_id"), ())
                found |= dict.fromkeys({seq} & seqs or {event.seq for event in named}, prompt)
    return found


def _search_transcripts(
    session: str, call_ids: Iterable[str], calls: Mapping[str, list[Event]], budget: "_ReadBudget"
) -> dict[str, OriginPrompt]:
    """The prompts of calls in the files of a session."""
    missing = set(call_ids)
    found: dict[str, OriginPrompt] = {}
    named = (_get_transcript_path(event) for call_id in missing for event in calls[call_id])
    own = (path for path in named if path.endswith(f"{session}.jsonl"))
    files = dict.fromkeys([*own, *find_session_files(session)])
    one_of = re.compile(b"|".join(re.escape(json.dumps(call_id).encode()) for call_id in sorted(missing)))
    for path in files:
        prompts = PromptTracker()
        with contextlib.suppress(OSError, ReadCancelled):
            for line in SessionFile(path, budget.spend, session):
                if b'"tool_use"' not in line.data:
                    prompts.add_line(line.data)
                elif one_of.search(line.data) is not None and (record := parse_record(line.data)) is not None:
                    origin = OriginPrompt(prompts.get_prompt(record), f"{os.path.basename(path)}:{line.number}")
                    met = missing & set(find_call_ids(record))
                    found |= dict.fromkeys(met, origin)
                    missing -= met
                    if not missing:
                        return found
    return found


def _get_transcript_path(event: Event) -> str:
    """The path of the conversation's file that a hook was told; empty without one."""
    try:
        path = json.loads(event.arguments or "{}").get("transcript")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return path if isinstance(path, str) and os.path.isabs(path) and "\0" not in path else ""


class _ReadBudget:
    """Limits the bytes that are read."""

    def __init__(self, limit: int) -> None:
        self._remaining = limit

    def spend(self, count: int) -> bool:
        """Whether to go on."""
        self._remaining -= count
        return self._remaining > 0


def group_origins(origins: Iterable[LineOrigin]) -> list[list[LineOrigin]]:
    """Adjacent lines of the same event."""
    return [list(group) for _, group in groupby(origins, key=lambda origin: origin.event.seq if origin.event else 0)]


def describe_origin(origin: LineOrigin) -> Iterator[tuple[str, str]]:
    """The facts of an origin as pairs of a name and words; these are not safe to show."""
    event = origin.event
    if event is None:
        yield "who", "not known"
        return
    agent = event.actor if isinstance(event.actor, Agent) else None
    model = f" ({agent.model})" if agent is not None and agent.model else ""
    unknown = "not known: it was there when memtui first looked"
    yield "who", f"{format_actor_name(event.actor)}{model}" if origin.is_known else unknown
    at = datetime.fromtimestamp(origin.at_us / 1e6) if origin.at_us else event.at.astimezone()
    yield "when", f"{at:%Y-%m-%d %H:%M}"
    if agent is not None and agent.session:
        yield "session", agent.session
    call = f", call {event.call_id}" if event.call_id else ""
    yield "by", f"{event.note if origin.is_imported else event.command}{call}, #{event.seq}"
    if origin.asked.prompt:
        prompt = " ".join(origin.asked.prompt.split())
        yield "asked", prompt if len(prompt) <= _PROMPT else f"{prompt[:_PROMPT]}..."
    if origin.asked.source:
        yield "source", origin.asked.source
