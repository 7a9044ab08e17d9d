"""The writes to one memory folder in session files, each with its texts, its session and its prompt."""

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import field

from memtui.agents.transcripts import parse
from memtui.agents.transcripts.edits import TranscriptReplay
from memtui.agents.transcripts.sessions import SessionFile
from memtui.core.events import Agent, ImportedChange
from memtui.core.lazy_dataclass import dataclass

_KEPT, _LONGEST_KEPT = 50_000, 5_000
"""Names of files that are kept, and the longest of them: sessions write to the same ones again and again."""
_FILE = re.compile(rb'"(?:file|notebook|moved)_path":\s?("[^"\\]*(?:\\.[^"\\]*)*")')
_MAY_CHANGE = re.compile(rb"\b(?:rm|mv|cp|tee)\b|>")
"""A part of every command that changes files and is understood."""
_TOOL_MARKS = tuple(json.dumps(tool).encode() for tool in sorted(parse.TOOLS))
_SHELL_MARK = json.dumps(parse.SHELL).encode()


@dataclass(slots=True)
class TranscriptScan:
    """The result of a scan.

    Attributes:
        writes: The writes and deletions, in their order.
        files: How many files were read.
        lines: How many lines they have, or how many commits there are.
        unreadable: Files that could not be read, with the reason.
        broken: Lines that are no JSON.
        unfinished: Calls without a result: it is not known whether they happened.
        failed: Calls that failed.
        is_git: Whether commits were scanned, and no session files.
    """

    writes: list[ImportedChange] = field(default_factory=list)
    files: int = 0
    lines: int = 0
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    broken: int = 0
    unfinished: int = 0
    failed: int = 0
    is_git: bool = False


@dataclass(slots=True)
class _PendingWrite:
    """A call whose result was not met yet, with its prompt; `at_us` is 0 if unknown."""

    call: parse.TranscriptCall
    at_us: int
    session: str
    is_copy: bool
    line: int
    prompt: str


@dataclass(slots=True)
class _CompletedWrite:
    pending: _PendingWrite
    result: parse.TranscriptResult
    source: str
    agent: str

    @property
    def sort_key(self) -> tuple[int, bool, str, int]:
        """The key of their order; of a call in two sessions, the one that made it comes first."""
        at_us = self.pending.at_us or self.result.at_us
        return at_us, self.pending.is_copy, self.source, self.pending.line


def scan_transcripts(folder: str, files: Sequence[str], read: Callable[[int], bool] = lambda _: True) -> TranscriptScan:
    """Scan session files for the writes to a folder.

    Args:
        folder: The memory folder, links resolved.
        files: The session files.
        read: Called with the number of bytes read; `False` stops.

    Raises:
        ReadCancelled: It was stopped.
    """
    scan, within = TranscriptScan(), parse.FolderMatcher(folder)
    written: list[_CompletedWrite] = []
    for path in files:
        try:
            written += _TranscriptScanner(within, os.path.basename(path), scan).scan_file(path, read)
        except OSError as error:
            scan.unreadable.append((path, os.strerror(error.errno).lower() if error.errno else str(error)))
            continue
        scan.files += 1
    scan.writes = _resolve_writes(within, written)
    return scan


def _resolve_writes(within: parse.FolderMatcher, written: list[_CompletedWrite]) -> list[ImportedChange]:
    """The writes in order, with their known texts. Of a call in two sessions the first one counts."""
    replay, changes = TranscriptReplay(within), list[ImportedChange]()
    seen: set[tuple[str, str]] = set()
    texts: dict[str, bytes] = {}
    """The last text of each path, which is the text before the next call, and is held once."""
    for each in sorted(written, key=lambda each: each.sort_key):
        call, pending = each.pending.call, each.pending
        if (call.call_id, call.file) in seen:  # a session that was gone on with in another file
            continue
        seen.add((call.call_id, call.file))
        for path, changed in replay.apply_call(call, each.result).items():
            if (call.call_id, path) in seen:
                continue
            seen.add((call.call_id, path))
            before, after = _encode_text(changed.before), _encode_text(changed.after)
            if before is not None and texts.get(path) == before:
                before = texts[path]
            changes.append(
                ImportedChange(
                    path=path,
                    at_us=each.sort_key[0],
                    agent=Agent(each.agent, call.model or None, pending.session or None),
                    call_id=call.call_id,
                    tool=changed.tool,
                    prompt=pending.prompt,
                    source=each.source,
                    line=pending.line,
                    after=after,
                    before=before,
                    is_gone=changed.is_deleted,
                    moved_from=changed.moved_from,
                    moved_to=changed.moved_to,
                )
            )
            texts.pop(path, None)
            if after is not None:
                texts[path] = after
    return changes


def _encode_text(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "replace")


class _TranscriptScanner:
    """Scans one session file, and counts in a scan."""

    def __init__(self, within: parse.FolderMatcher, source: str, scan: TranscriptScan) -> None:
        self._within = within
        self._source = source
        self._scan = scan
        self._pending: dict[str, _PendingWrite] = {}
        self._may_be: dict[bytes, bool] = {}
        self._prompts = parse.PromptTracker()
        self._agent = ""

    def scan_file(self, path: str, read: Callable[[int], bool]) -> list[_CompletedWrite]:
        """The writes in the file."""
        written = []
        lines = SessionFile(path, read)
        self._agent = lines.agent
        try:
            for line in lines:
                written += self._handle_line(line)
        finally:
            self._scan.lines += lines.count
            self._scan.broken += lines.broken
        self._scan.unfinished += len(self._pending)
        return written

    def _handle_line(self, line: parse.TranscriptLine) -> list[_CompletedWrite]:
        """Take a line. Most are skipped after a look at their bytes: to parse all would take minutes a gigabyte."""
        data = line.data
        if b'"tool_result"' in data:
            return self._handle_results(data) if self._pending else []
        if b'"tool_use"' in data:
            if self._may_write(data):
                self._handle_calls(line)
        else:
            self._prompts.add_line(data)
        return []

    def _may_write(self, data: bytes) -> bool:
        if _SHELL_MARK in data and _MAY_CHANGE.search(data):
            return True
        return any(mark in data for mark in _TOOL_MARKS) and any(
            self._may_be_inside(found[1]) for found in _FILE.finditer(data)
        )

    def _may_be_inside(self, written: bytes) -> bool:
        """Whether a file may be in the folder, from its JSON form, so that not all of the line is parsed."""
        if (known := self._may_be.get(written)) is not None:
            return known
        try:
            file = str(json.loads(written))
        except ValueError:
            file = ""
        found = not os.path.isabs(file) or bool(self._within.to_relative(file))  # else the line tells from where
        if len(self._may_be) < _KEPT and len(written) < _LONGEST_KEPT:
            self._may_be[written] = found
        return found

    def _handle_calls(self, line: parse.TranscriptLine) -> None:
        record = parse.parse_record(line.data)
        if record is None:
            self._scan.broken += 1
            return
        for call in parse.find_write_calls(record):
            if self._touches_folder(call):
                self._pending[call.call_id] = _PendingWrite(
                    call,
                    parse.parse_time_us(record),
                    parse.get_session(record),
                    parse.is_copy(record),
                    line.number,
                    self._prompts.get_prompt(record),
                )

    def _touches_folder(self, call: parse.TranscriptCall) -> bool:
        if call.tool != parse.SHELL:
            return any(self._within.to_relative(file) for file in filter(None, (call.file, call.moved_to)))
        return any(
            self._within.to_relative(file) is not None or (each.is_deep and self._within.is_folder_below(file))
            for each in call.effects
            for file in filter(None, (each.file, each.source))
        )

    def _handle_results(self, data: bytes) -> list[_CompletedWrite]:
        record = parse.parse_record(data)
        if record is None:
            self._scan.broken += 1
            return []
        written = []
        for result in parse.find_results(record):
            pending = self._pending.pop(result.call_id, None)
            if pending is None:
                continue
            if result.is_error:
                self._scan.failed += 1
            else:
                written.append(_CompletedWrite(pending, result, self._source, self._agent))
        return written
