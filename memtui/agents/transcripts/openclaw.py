"""Sessions of OpenClaw: rows of a database of each agent, and in older ones lines of `sessions/*.jsonl`, of one form.

The database is opened read-only. Seen in sessions of OpenClaw 2026.9.
"""

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from memtui.agents.transcripts.parse import LONGEST, SHELL, ReadCancelled, TranscriptLine
from memtui.agents.transcripts.records import (
    OpenCalls,
    RecordWriter,
    get_mapping,
    get_text,
    iter_patched,
    join_texts,
    list_mappings,
    parse_hunks,
    pick_text,
)

_COMMANDS = ("exec", "bash")
_PATCH = "apply_patch"
_READS = {
    "web_fetch": ("WebFetch", {"url": "url"}),
    "web_search": ("WebSearch", {"query": "query"}),
    "read": ("Read", {"file_path": "path"}),
}
"""The tools that read what others wrote, those of Claude Code that do so too, and where these have their input from."""
_ROWS = """SELECT seq, event_json FROM transcript_events
    WHERE event_json IS NOT NULL AND length(event_json) <= ? AND (? = '' OR session_id = ?) ORDER BY session_id, seq"""
_WAIT = 1.0
"""Seconds to wait for OpenClaw where it is writing."""


class OpenClawConverter:
    """Brings the lines of sessions into the form of Claude Code's."""

    title = "OpenClaw"
    marks = re.compile(rb'"(?:session|message)"')

    def __init__(self) -> None:
        self._writer = RecordWriter()
        self._open = OpenCalls()

    @staticmethod
    def recognise(record: Mapping[str, Any]) -> bool:
        """Whether a first line is of such a session."""
        return record.get("type") == "session" and "version" in record and "id" in record

    def convert(self, record: Mapping[str, Any]) -> Iterator[bytes]:
        """The lines that a line stands for."""
        if record.get("type") == "session":
            self._writer = RecordWriter(get_text(record, "id"), directory=get_text(record, "cwd"))
            self._open = OpenCalls()
        if record.get("type") != "message":
            return
        writer, message = self._writer, get_mapping(record, "message")
        writer.at = get_text(record, "timestamp")
        match message.get("role"):
            case "user":
                if text := join_texts(message.get("content")):
                    yield writer.write_prompt(text)
            case "assistant":
                writer.model = get_text(message, "model")
                for block in list_mappings(message.get("content")):
                    if block.get("type") == "toolCall":
                        self._open.add(get_text(block, "id"), block)
            case "toolResult":
                call_id = get_text(message, "toolCallId")
                if (call := self._open.take(call_id)) is not None:
                    yield from self._convert_call(call_id, call, message)

    def _convert_call(self, call_id: str, call: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[bytes]:
        name, given, details = get_text(call, "name"), get_mapping(call, "arguments"), get_mapping(message, "details")
        text, is_error = join_texts(message.get("content")), message.get("isError") is True
        writer, shown = self._writer, name
        if name in _COMMANDS:
            code = details.get("exitCode", 0)
            if details.get("status", "completed") != "completed":
                return  # it goes on in the background
            directory = get_text(details, "cwd") or get_text(given, "workdir") or writer.directory
            writer, shown = RecordWriter(writer.session, writer.model, directory, writer.at), ""
            uses = [(SHELL, {"command": get_text(given, "command")}, {"stdout": text, "stderr": ""})]
            is_error = is_error or code != 0
        elif name == _PATCH:
            uses = [(tool, each, {}) for tool, each in iter_patched(get_text(given, "input"))]
        elif name in ("write", "edit"):
            uses = [_read_write(name, given, details)]
        elif name in _READS:
            tool, fields = _READS[name]
            uses = [(tool, {field: get_text(given, source) for field, source in fields.items()}, {})]
        else:
            return
        for tool, each, notes in uses:
            yield writer.write_call(call_id, tool, each, shown)
            yield writer.write_result(call_id, text, details=notes, is_error=is_error)


def _read_write(
    name: str, given: Mapping[str, Any], details: Mapping[str, Any]
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The tool that does the same as a call that writes, its input, and the notes beside its result."""
    path = get_text(given, "path", "file_path")
    if name == "write":
        notes = {"type": "create"} if details.get("created") is True else {}
        return "Write", {"file_path": path, "content": pick_text(given, "content")}, notes
    asked = [given, *list_mappings(given.get("edits"))]
    edits = [
        {"old_string": old, "new_string": get_text(each, "newText", "new_string")}
        for each in asked
        if (old := get_text(each, "oldText", "old_string"))
    ]
    hunks = parse_hunks(get_text(details, "patch"))
    return "MultiEdit", {"file_path": path, "edits": edits}, {"structuredPatch": hunks} if hunks else {}


def iter_rows(path: str, read: Callable[[int], bool], session: str = "") -> Iterator[TranscriptLine]:
    """The lines in a database; those that OpenClaw has compressed are left out.

    Args:
        path: The database.
        read: Called with the number of bytes read; `False` stops.
        session: The only session that is wanted, if not empty.

    Raises:
        OSError: It cannot be read, or is no such database.
        ReadCancelled: It was stopped.
    """
    # Without OpenClaw beside it nothing may be made in its directory, which a log that is read along would be.
    how = "mode=ro" if os.path.exists(f"{path}-wal") else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?{how}", uri=True, timeout=_WAIT)) as database:
            for number, text in database.execute(_ROWS, (LONGEST, session, session)):
                data = text if isinstance(text, bytes) else str(text).encode("utf-8", "replace")
                if not read(len(data)):
                    raise ReadCancelled
                yield TranscriptLine(number + 1 if isinstance(number, int) else 1, data)
    except (sqlite3.Error, ValueError) as error:
        raise OSError(f"it is no database of sessions: {error}") from error
