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
    prompt_in,
    record_of,
    session_of,
)
from memtui.agents.transcripts.edited import texts_of
from memtui.agents.transcripts.lines import Line, lines_of
from memtui.core.events import Agent
from memtui.core.told import Told

_NAME = "Claude Code"
_LATELY = 8
"""Lines of the user's among which the last prompt is looked for."""
_OF_USER = re.compile(rb'"type":\s?"user"')
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
    seen: set[str] = set()
    told = []
    for each in written:
        asked, pending = each.pending.asked, each.pending
        if asked.call_id in seen:
            continue
        seen.add(asked.call_id)
        path = inside(folder, asked.file)
        assert path is not None
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
        self._mark = json.dumps(os.path.basename(folder), ensure_ascii=False).encode()[1:-1]
        self._pending: dict[str, _Pending] = {}
        self._lately: deque[bytes] = deque(maxlen=_LATELY)
        self._prompt: str | None = ""

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
        if b'"tool_use"' in data and self._mark in data and any(mark in data for mark in _TOOL_MARKS):
            self._take_calls(line)
        elif b'"tool_result"' not in data and _OF_USER.search(data):
            self._lately.append(data)  # read only if something is written because of it
            self._prompt = None
        return []

    def _take_calls(self, line: Line) -> None:
        record = record_of(line.data)
        if record is None:
            self._heard.broken += 1
            return
        for asked in asked_in(record):
            if inside(self._folder, asked.file) is not None:
                self._pending[asked.call_id] = _Pending(
                    asked, at_us_of(record), session_of(record), line.number, self._asked_for()
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

    def _asked_for(self) -> str:
        """The last prompt, read when it is first needed. Not every line of the user's is one."""
        if self._prompt is None:
            records = filter(None, map(record_of, reversed(self._lately)))
            self._prompt = next(filter(None, map(prompt_in, records)), "")
        return self._prompt


def inside(folder: str, file: str) -> str | None:
    """Where in a folder a file is that was named in full, relative to it; `None` if it is not in it."""
    if "\0" in file or not os.path.isabs(file):
        return None
    path = os.path.normpath(file)
    if not path.startswith(folder + os.sep):
        real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if not real.startswith(folder + os.sep):
            return None
        path = real
    return os.path.relpath(path, folder)
