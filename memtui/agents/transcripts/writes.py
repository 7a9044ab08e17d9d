"""What session files tell of one memory folder: each write, with its texts, its session and the prompt before it."""

import json
import os
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memtui.agents.transcripts.calls import (
    TOOLS,
    Asked,
    Came,
    asked_in,
    at_us_of,
    came_in,
    is_of_subagent,
    prompt_in,
    record_of,
    session_of,
)
from memtui.agents.transcripts.edited import texts_of
from memtui.agents.transcripts.lines import Line, lines_of
from memtui.core.events import Agent
from memtui.core.told import MAX_PROMPT, Told

_NAME = "Claude Code"
_LATELY = 8
"""Lines of the user's among which the last prompt is looked for."""
_LONGEST_PROMPT = 8_000_000
"""Bytes of the longest line that is kept for the prompt that may be in it; pasted pictures are in it as well."""
_MAX_NAME_BYTES, _MAX_PATH = 255, 4_000
_KEPT, _LONGEST_KEPT = 50_000, 5_000
"""Names of files that are kept, and the longest of them: sessions write to the same ones again and again."""
_OF_USER = re.compile(rb'"type":\s?"user"')
_OF_SUBAGENT = re.compile(rb'"isSidechain":\s?true')
_FILE = re.compile(rb'"file_path":\s?("[^"\\]*(?:\\.[^"\\]*)*")')
_TOOL_MARKS = tuple(json.dumps(tool).encode() for tool in sorted(TOOLS))


@dataclass(slots=True)
class Heard:
    """What was heard from session files.

    Attributes:
        told: The writes, in the order in which they happened.
        files: How many files were read.
        lines: How many lines they have.
        unreadable: Files that could not be read, with the reason.
        broken: Lines that are no JSON.
        unfinished: Calls of which no result is told: nobody knows whether they happened.
        failed: Calls that failed.
    """

    told: list[Told] = field(default_factory=list)
    files: int = 0
    lines: int = 0
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    broken: int = 0
    unfinished: int = 0
    failed: int = 0


@dataclass(slots=True)
class _Pending:
    asked: Asked
    at_us: int
    session: str
    line: int
    prompt: str


@dataclass(slots=True)
class _Written:
    pending: _Pending
    came: Came
    source: str


def hear(folder: str, files: Sequence[str], read: Callable[[int], bool] = lambda _: True) -> Heard:
    """Hear what session files tell of a folder.

    Args:
        folder: The memory folder, links resolved.
        files: The session files.
        read: Told how many bytes more were read; `False` stops.

    Raises:
        Stopped: It was stopped.
    """
    heard = Heard()
    written: list[_Written] = []
    for path in files:
        try:
            written += _Listener(folder, os.path.basename(path), heard).listen(path, read)
        except OSError as error:
            heard.unreadable.append((path, os.strerror(error.errno).lower() if error.errno else str(error)))
            continue
        heard.files += 1
    heard.told = _told(folder, written)
    return heard


def _told(folder: str, written: list[_Written]) -> list[Told]:
    """The writes in order, each with the texts that can be told. Of a call that is told twice the first one counts."""
    written.sort(key=lambda each: (each.pending.at_us, each.source, each.pending.line))
    known: dict[str, str | None] = {}
    seen: set[tuple[str, str]] = set()
    told = []
    for each in written:
        asked, pending = each.pending.asked, each.pending
        path = inside(folder, asked.file)
        if path is None or (asked.call_id, path) in seen:  # a session that was gone on with in another file
            continue
        seen.add((asked.call_id, path))
        before, after = texts_of(asked, each.came, known.get(path))
        known[path] = after
        told.append(
            Told(
                path=path,
                at_us=pending.at_us,
                agent=Agent(_NAME, asked.model or None, pending.session or None),
                call_id=asked.call_id,
                tool=asked.tool,
                prompt=pending.prompt,
                source=each.source,
                line=pending.line,
                after=_bytes(after),
                before=_bytes(before),
            )
        )
    return told


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "replace")


class _Listener:
    """Listens to one session file."""

    def __init__(self, folder: str, source: str, heard: Heard) -> None:
        self._folder = folder
        self._source = source
        self._heard = heard
        self._pending: dict[str, _Pending] = {}
        self._inside: dict[bytes, bool] = {}
        self._lately: dict[bool, deque[bytes]] = {by: deque(maxlen=_LATELY) for by in (False, True)}
        self._prompts: dict[bool, str] = {}

    def listen(self, path: str, read: Callable[[int], bool]) -> list[_Written]:
        """The writes that the file tells."""
        written = []
        for line in lines_of(path, read):
            self._heard.lines += 1
            written += self._take(line)
        self._heard.unfinished += len(self._pending)
        return written

    def _take(self, line: Line) -> list[_Written]:
        """Take in a line. Most are passed after a look at their bytes: to read all would take minutes a gigabyte."""
        data = line.data
        if self._pending and b'"tool_result"' in data:
            return self._take_results(data)
        if b'"tool_use"' in data and any(mark in data for mark in _TOOL_MARKS):
            if any(self._may_be_inside(found[1]) for found in _FILE.finditer(data)):
                self._take_calls(line)
        elif b'"tool_result"' not in data and len(data) <= _LONGEST_PROMPT and _OF_USER.search(data):
            of_subagent = _OF_SUBAGENT.search(data) is not None
            self._lately[of_subagent].append(data)  # read only if something is written because of it
            self._prompts.pop(of_subagent, None)
        return []

    def _may_be_inside(self, written: bytes) -> bool:
        """Whether a file may be in the folder; as it is written in a line, so that not all of the line is read."""
        if (known := self._inside.get(written)) is not None:
            return known
        try:
            file = str(json.loads(written))
        except ValueError:
            file = ""
        found = not os.path.isabs(file) or inside(self._folder, file) is not None  # else the line tells from where
        if len(self._inside) < _KEPT and len(written) < _LONGEST_KEPT:
            self._inside[written] = found
        return found

    def _take_calls(self, line: Line) -> None:
        record = record_of(line.data)
        if record is None:
            self._heard.broken += 1
            return
        for asked in asked_in(record):
            if inside(self._folder, asked.file) is not None:
                self._pending[asked.call_id] = _Pending(
                    asked, at_us_of(record), session_of(record), line.number, self._asked_for(is_of_subagent(record))
                )

    def _take_results(self, data: bytes) -> list[_Written]:
        record = record_of(data)
        if record is None:
            self._heard.broken += 1
            return []
        written = []
        for came in came_in(record):
            pending = self._pending.pop(came.call_id, None)
            if pending is None:
                continue
            if came.is_error:
                self._heard.failed += 1
            else:
                written.append(_Written(pending, came, self._source))
        return written

    def _asked_for(self, of_subagent: bool) -> str:
        """The last prompt, read when it is first needed. Not every line of the user's is one."""
        if of_subagent not in self._prompts:
            records = filter(None, map(record_of, reversed(self._lately[of_subagent])))
            prompt = next(filter(None, map(prompt_in, records)), "")
            self._prompts[of_subagent] = prompt[:MAX_PROMPT]
        return self._prompts[of_subagent]


def inside(folder: str, file: str) -> str | None:
    """Where in a folder a file is that was named in full, relative to it; `None` if it is not in it, or cannot be."""
    if "\0" in file or not os.path.isabs(file):
        return None
    try:
        file.encode()
    except UnicodeEncodeError:
        return None  # half a character: no file is called so
    path, top = os.path.normpath(file), folder.rstrip(os.sep) + os.sep
    if not path.startswith(top):
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if not path.startswith(top) or path == top:
            return None
    relative = os.path.relpath(path, folder)
    is_name = all(len(os.fsencode(name)) <= _MAX_NAME_BYTES for name in relative.split(os.sep))
    return relative if is_name and len(relative) <= _MAX_PATH else None
