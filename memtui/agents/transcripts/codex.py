"""Session files of Codex: `rollout-*.jsonl`, a line an object with a `type` and a `payload`.

Since about 0.150 a line `item_completed` tells what a call did, also where the model called it from a program of its
own; before that only the call and its result do. Seen in sessions of Codex 0.110 and 0.171.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from memtui.agents.transcripts.parse import SHELL, parse_record
from memtui.agents.transcripts.records import (
    OpenCalls,
    RecordWriter,
    get_mapping,
    get_text,
    iter_patched,
    join_texts,
    parse_hunks,
)

_PATCH = "apply_patch"
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_DONE = "Success. Updated the following files:"
_COMMANDS = {"exec_command": "cmd", "shell_command": "command", "shell": "command", "container.exec": "command"}
"""The tools that run commands, and the field of each input that holds one."""
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_SHELLS = ("-lc", "-c")
_EXIT = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,9})\b")
_RUNNING = "Process running with session ID"
_REFUSED = -1
"""Stands for the code of a command that was not run."""
_HEAD = 500
"""Characters of an output that may tell how a command ended."""


class CodexConverter:
    """Brings the lines of a session into the form of Claude Code's."""

    title = "Codex"
    marks = re.compile(
        rb'"(?:session_meta|turn_context|item_completed|user_message|(?:function|custom_tool|local_shell|web_search)_call\w*)"'
    )

    def __init__(self) -> None:
        self._writer = RecordWriter()
        self._open = OpenCalls()
        self._told: dict[str, None] = {}
        """Calls of which an item told all."""
        self._prompt = ""

    @staticmethod
    def recognise(record: Mapping[str, Any]) -> bool:
        """Whether a first line is of such a session."""
        return isinstance(record.get("payload"), dict) and isinstance(record.get("type"), str)

    def convert(self, record: Mapping[str, Any]) -> Iterator[bytes]:
        """The lines that a line stands for."""
        payload, writer = get_mapping(record, "payload"), self._writer
        writer.at = get_text(record, "timestamp")
        match record.get("type"), payload.get("type"):
            case "session_meta", _:
                writer.session, writer.directory = get_text(payload, "id"), get_text(payload, "cwd")
            case "turn_context", _:
                writer.model = get_text(payload, "model") or writer.model
                writer.directory = get_text(payload, "cwd") or writer.directory
                self._prompt = ""
            case "event_msg", "user_message":
                yield from self._convert_prompt(get_text(payload, "message"))
            case "event_msg", "item_completed":
                yield from self._convert_item(get_mapping(payload, "item"))
            case "response_item", "web_search_call":
                yield from self._convert_search(payload)
            case "response_item", kind if kind in _CALLS:
                self._open.add(get_text(payload, "call_id"), payload)
            case "response_item", "function_call_output" | "custom_tool_call_output":
                call = self._open.take(call_id := get_text(payload, "call_id"))
                if call is not None and call_id not in self._told:
                    yield from self._convert_call(call_id, call, payload.get("output"))

    def _convert_prompt(self, text: str) -> Iterator[bytes]:
        if text and text != self._prompt:  # some releases tell it twice
            self._prompt = text
            yield self._writer.write_prompt(text)

    def _convert_search(self, payload: Mapping[str, Any]) -> Iterator[bytes]:
        """What was found is in no session file: only that something was."""
        call_id, action = get_text(payload, "id") or "web_search", get_mapping(payload, "action")
        url = get_text(action, "url")
        tool, given = ("WebFetch", {"url": url}) if url else ("WebSearch", {"query": get_text(action, "query")})
        yield self._writer.write_call(call_id, tool, given, "web_search")
        yield self._writer.write_result(call_id)

    # What an item tells

    def _convert_item(self, item: Mapping[str, Any]) -> Iterator[bytes]:
        call_id = get_text(item, "id")
        match item.get("type"):
            case "UserMessage":
                yield from self._convert_prompt(join_texts(item.get("content")))
            case "FileChange":
                self._told[call_id] = None
                is_error = item.get("status") != "completed"
                for path, change in get_mapping(item, "changes").items():
                    if isinstance(change, dict):
                        tool, given, details = _read_change(path, change)
                        yield self._writer.write_call(call_id, tool, given, _PATCH)
                        yield self._writer.write_result(call_id, details=details, is_error=is_error)
            case "CommandExecution":
                self._told[call_id] = None
                command = _join_command(item.get("command"))
                directory = unquote(get_text(item, "cwd").removeprefix("file://"))
                output = get_text(item, "aggregated_output")
                yield from self._write_command(call_id, command, directory, output, item.get("exit_code"))
            case "McpToolCall":
                self._told[call_id] = None
                tool = f"mcp__{get_text(item, 'server')}__{get_text(item, 'tool')}"
                result = get_mapping(item, "result")
                text = join_texts(get_mapping(result, "Ok").get("content") or result.get("content"))
                yield self._writer.write_call(call_id, tool, {}, tool)
                yield self._writer.write_result(call_id, text)

    # What a call and its result tell

    def _convert_call(self, call_id: str, call: Mapping[str, Any], output: object) -> Iterator[bytes]:
        tool, text = get_text(call, "name"), join_texts(output)
        told = parse_record(text.encode("utf-8", "replace")) if text.startswith("{") else None
        if told is not None and "output" in told:
            text = get_text(told, "output")
        given = (
            get_mapping(call, "action") or parse_record(get_text(call, "arguments").encode("utf-8", "replace")) or {}
        )
        command = _join_command(given.get(_COMMANDS.get(tool, "command")))
        directory = get_text(given, "workdir", "working_directory")
        patch = get_text(call, "input") or get_text(given, "input") if tool == _PATCH else command
        if tool == _PATCH or _BEGIN in patch:
            yield from self._write_patch(call_id, _cut_patch(patch), directory, is_done=_DONE in text[:_HEAD])
        elif tool in _COMMANDS or call.get("type") == "local_shell_call":
            found = _EXIT.search(text[:_HEAD])
            code = get_mapping(told or {}, "metadata").get("exit_code", int(found[1]) if found else None)
            if code is None and _RUNNING not in text[:_HEAD]:
                code = _REFUSED
            shown = text.partition("Output:\n")[2] if found else text
            yield from self._write_command(call_id, command, directory, shown, code)
        elif tool.startswith("mcp__"):
            yield self._writer.write_call(call_id, tool, {}, tool)
            yield self._writer.write_result(call_id, text)

    def _write_patch(self, call_id: str, patch: str, directory: str, *, is_done: bool) -> Iterator[bytes]:
        with_directory = self._enter(directory)
        for tool, given in iter_patched(patch):
            yield with_directory.write_call(call_id, tool, given, _PATCH)
            yield with_directory.write_result(call_id, is_error=not is_done)

    def _write_command(self, call_id: str, command: str, directory: str, output: str, code: object) -> Iterator[bytes]:
        if not command:
            return
        yield self._enter(directory).write_call(call_id, SHELL, {"command": command}, "")
        if isinstance(code, int):  # else it went on in the background
            details = {"stdout": output, "stderr": ""}
            yield self._writer.write_result(call_id, output, details=details, is_error=code != 0)

    def _enter(self, directory: str) -> RecordWriter:
        """A writer whose working directory is that of one call."""
        here = self._writer
        return RecordWriter(here.session, here.model, _join_path(here.directory, directory), here.at)


def _join_path(top: str, path: str) -> str:
    return path if path.startswith("/") or not top else f"{top}/{path}" if path else top


def _read_change(path: str, change: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The tool that makes a change, its input, and the notes beside its result."""
    given: dict[str, Any] = {"file_path": path}
    content = get_text(change, "content")
    match change.get("type"):
        case "add":
            return "Write", given | {"content": content}, {}
        case "delete":
            return "Delete", given, {"originalFile": content}
        case _:
            moved = get_text(change, "move_path")
            return (
                "Edit",
                given | {"moved_path": moved},
                {"structuredPatch": parse_hunks(get_text(change, "unified_diff"))},
            )


def _join_command(command: object) -> str:
    """The command line that was run, from its words; a shell in front of it is left out."""
    if isinstance(command, str):
        return command
    words = [each for each in command if isinstance(each, str)] if isinstance(command, list) else []
    if len(words) == 3 and words[1] in _SHELLS:
        return words[2]
    return shlex.join(words)


def _cut_patch(text: str) -> str:
    """A patch without the command around it."""
    start, end = text.find(_BEGIN), text.rfind(_END)
    return text[start : end + len(_END)] if 0 <= start < end else text
