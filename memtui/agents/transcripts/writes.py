"""What session files tell of one memory folder: each write, with its texts, its session and the prompt before it."""

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memtui.agents.transcripts.calls import (
    SHELL,
    TOOLS,
    Asked,
    Came,
    asked_in,
    at_us_of,
    came_in,
    is_copy,
    record_of,
    session_of,
)
from memtui.agents.transcripts.lines import Line, lines_of
from memtui.agents.transcripts.prompts import Prompts
from memtui.agents.transcripts.replaying import Replay
from memtui.agents.transcripts.within import Within
from memtui.core.events import Agent
from memtui.core.told import Told

_NAME = "Claude Code"
_KEPT, _LONGEST_KEPT = 50_000, 5_000
"""Names of files that are kept, and the longest of them: sessions write to the same ones again and again."""
_FILE = re.compile(rb'"(?:file|notebook)_path":\s?("[^"\\]*(?:\\.[^"\\]*)*")')
_MAY_CHANGE = re.compile(rb"\b(?:rm|mv|cp|tee)\b|>")
"""What is in a command that changes files, as far as commands are understood."""
_TOOL_MARKS = tuple(json.dumps(tool).encode() for tool in sorted(TOOLS))
_SHELL_MARK = json.dumps(SHELL).encode()


@dataclass(slots=True)
class Heard:
    """What was heard from session files.

    Attributes:
        told: The writes and deletions, in the order in which they happened.
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
    """A call whose result was not met yet.

    Attributes:
        asked: The call.
        at_us: When it was made, in microseconds since 1970; 0 if that is not told.
        session: Of which session.
        is_copy: Whether it was taken over from another session.
        line: In which line, from 1.
        prompt: What the person had asked for last.
    """

    asked: Asked
    at_us: int
    session: str
    is_copy: bool
    line: int
    prompt: str


@dataclass(slots=True)
class _Written:
    pending: _Pending
    came: Came
    source: str

    @property
    def age(self) -> tuple[int, bool, str, int]:
        """By which they are ordered; of one that is told twice, the session in which it was made comes first."""
        at_us = self.pending.at_us or self.came.at_us
        return at_us, self.pending.is_copy, self.source, self.pending.line


def hear(folder: str, files: Sequence[str], read: Callable[[int], bool] = lambda _: True) -> Heard:
    """Hear what session files tell of a folder.

    Args:
        folder: The memory folder, links resolved.
        files: The session files.
        read: Told how many bytes more were read; `False` stops.

    Raises:
        Stopped: It was stopped.
    """
    heard, within = Heard(), Within(folder)
    written: list[_Written] = []
    for path in files:
        try:
            written += _Listener(within, os.path.basename(path), heard).listen(path, read)
        except OSError as error:
            heard.unreadable.append((path, os.strerror(error.errno).lower() if error.errno else str(error)))
            continue
        heard.files += 1
    heard.told = _told(within, written)
    return heard


def _told(within: Within, written: list[_Written]) -> list[Told]:
    """The writes in order, each with the texts that can be told. Of a call that is told twice the first one counts."""
    replay, told = Replay(within), list[Told]()
    seen: set[tuple[str, str]] = set()
    texts: dict[str, bytes] = {}
    """The last text of each path: what one call left is what the next one found, and is kept once."""
    for each in sorted(written, key=lambda each: each.age):
        asked, pending = each.pending.asked, each.pending
        if (asked.call_id, asked.file) in seen:  # a session that was gone on with in another file
            continue
        seen.add((asked.call_id, asked.file))
        for path, changed in replay.changes(asked, each.came).items():
            if (asked.call_id, path) in seen:
                continue
            seen.add((asked.call_id, path))
            before, after = _bytes(changed.before), _bytes(changed.after)
            if before is not None and texts.get(path) == before:
                before = texts[path]
            told.append(
                Told(
                    path=path,
                    at_us=each.age[0],
                    agent=Agent(_NAME, asked.model or None, pending.session or None),
                    call_id=asked.call_id,
                    tool=changed.tool,
                    prompt=pending.prompt,
                    source=each.source,
                    line=pending.line,
                    after=after,
                    before=before,
                    is_gone=changed.is_gone,
                    moved_from=changed.moved_from,
                    moved_to=changed.moved_to,
                )
            )
            texts.pop(path, None)
            if after is not None:
                texts[path] = after
    return told


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "replace")


class _Listener:
    """Listens to one session file.

    Args:
        within: Tells which files are in the folder.
        source: The file's name.
        heard: Where to count.
    """

    def __init__(self, within: Within, source: str, heard: Heard) -> None:
        self._within = within
        self._source = source
        self._heard = heard
        self._pending: dict[str, _Pending] = {}
        self._may_be: dict[bytes, bool] = {}
        self._prompts = Prompts()

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
        if b'"tool_result"' in data:
            return self._take_results(data) if self._pending else []
        if b'"tool_use"' in data:
            if self._may_write(data):
                self._take_calls(line)
        else:
            self._prompts.take(data)
        return []

    def _may_write(self, data: bytes) -> bool:
        if _SHELL_MARK in data and _MAY_CHANGE.search(data):
            return True
        return any(mark in data for mark in _TOOL_MARKS) and any(
            self._may_be_inside(found[1]) for found in _FILE.finditer(data)
        )

    def _may_be_inside(self, written: bytes) -> bool:
        """Whether a file may be in the folder; as it is written in a line, so that not all of the line is read."""
        if (known := self._may_be.get(written)) is not None:
            return known
        try:
            file = str(json.loads(written))
        except ValueError:
            file = ""
        found = not os.path.isabs(file) or bool(self._within.path_of(file))  # else the line tells from where
        if len(self._may_be) < _KEPT and len(written) < _LONGEST_KEPT:
            self._may_be[written] = found
        return found

    def _take_calls(self, line: Line) -> None:
        record = record_of(line.data)
        if record is None:
            self._heard.broken += 1
            return
        for asked in asked_in(record):
            if self._is_about_it(asked):
                self._pending[asked.call_id] = _Pending(
                    asked,
                    at_us_of(record),
                    session_of(record),
                    is_copy(record),
                    line.number,
                    self._prompts.before(record),
                )

    def _is_about_it(self, asked: Asked) -> bool:
        if asked.tool != SHELL:
            return bool(self._within.path_of(asked.file))
        return any(
            self._within.path_of(file) is not None or (each.is_deep and self._within.is_below(file))
            for each in asked.effects
            for file in filter(None, (each.file, each.source))
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
