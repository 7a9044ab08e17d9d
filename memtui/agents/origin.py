"""From a line of a memory to the session, the prompt and the tool call that wrote it, as far as anything tells it.

The journal tells the event; the record of a chat, or a session file of Claude Code, tells what the person had asked
for. Where the journal has only seen the result, what was imported from session files may tell the rest.
"""

import contextlib
import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from memtui.agents.chat.sessions import records
from memtui.agents.chat.sessions.finding import SUFFIX, records_in
from memtui.agents.chat.sessions.session import CHATS
from memtui.agents.transcripts.calls import prompt_in, record_of
from memtui.agents.transcripts.lines import Stopped, lines_of
from memtui.core import diffs
from memtui.core.errors import StateUnusable
from memtui.core.events import Agent, Event
from memtui.core.history import PathVersion
from memtui.engine import Observer
from memtui.places.claude_code import claude_directory

_FOUND = "found"
_MOST_BYTES = 1_000_000_000
"""Bytes of the largest session file that is looked through for one prompt."""


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
    blame = memory.history.blame(path, data)
    told = memory.history.told_lines(path, data)
    calls = {row.event.call_id: row for row in memory.history.told_of(path) if row.event.call_id}
    asked: dict[int, Asked] = {}
    origins = []
    for number in wanted:
        event, text = blame.lines[number - 1], lines[number - 1]
        row = calls.get(event.call_id) if event is not None and event.call_id else None
        row = row or told[number - 1]
        if row is not None and (event is None or event.is_outside or event.command == _FOUND):
            event = row.event
        is_told = row is not None and event is row.event
        if event is not None and event.seq not in asked:
            asked[event.seq] = _from(row) if row is not None else prompt_of(event, state)
        origins.append(
            Origin(
                line=number,
                text=text.removesuffix("\n"),
                event=event,
                at_us=row.at_us if row is not None and is_told else event.at_us if event is not None else None,
                is_told=is_told,
                asked=asked[event.seq] if event is not None else _NOTHING,
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
    session = event.actor.session if isinstance(event.actor, Agent) else None
    if session is None or event.call_id is None or os.sep in session or "\0" in session:
        return _NOTHING
    if state is not None and (asked := _in_chat(state / CHATS / f"{session}{SUFFIX}", event.call_id)).prompt:
        return asked
    return _in_transcript(session, event.call_id)


def _in_chat(path: Path, call_id: str) -> Asked:
    prompts: dict[int, str] = {}
    with contextlib.suppress(OSError, StateUnusable):
        for record in records_in(path):
            if record["type"] == "turn_began":
                prompts[records.number_in(record, "turn")] = records.text_in(record, "text")
            elif record["type"] == "call" and records.text_in(record, "call_id") == call_id:
                return Asked(prompts.get(records.number_in(record, "turn"), ""), path.name)
    return _NOTHING


def _in_transcript(session: str, call_id: str) -> Asked:
    top = glob.escape(os.path.join(claude_directory(), "projects"))
    wanted, prompt = call_id.encode(), b""
    for path in glob.glob(f"{top}/*/{glob.escape(session)}.jsonl"):
        read = _Budget()
        with contextlib.suppress(OSError, Stopped):
            for line in lines_of(path, read.take):
                if wanted in line.data and b'"tool_use"' in line.data:
                    record = record_of(prompt)
                    words = prompt_in(record) if record is not None else ""
                    return Asked(words, f"{os.path.basename(path)}:{line.number}")
                if b'"user"' in line.data and b'"tool_result"' not in line.data:
                    candidate = record_of(line.data)
                    prompt = line.data if candidate is not None and prompt_in(candidate) else prompt
    return _NOTHING


class _Budget:
    """Says when enough was read."""

    def __init__(self) -> None:
        self._left = _MOST_BYTES

    def take(self, count: int) -> bool:
        """Whether to go on."""
        self._left -= count
        return self._left > 0
