"""Session files of Gemini CLI: below `chats/`, a line an object, or one object with a list of messages.

A message of the model holds its calls with their results, and is written again with each new one. What a call did to a
file is told with the texts before and after. Seen in sessions of Gemini CLI 0.61.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memtui.agents.transcripts.parse import SHELL
from memtui.agents.transcripts.records import (
    RecordWriter,
    get_mapping,
    get_text,
    join_texts,
    list_mappings,
    pick_text,
)

_CONTEXT = ("<session_context>", "<hook_context>")
"""How texts begin that the program adds."""
_WRITE, _REPLACE, _COMMAND = "write_file", "replace", "run_shell_command"
_READS = {
    "web_fetch": ("WebFetch", {"url": "prompt"}),
    "google_web_search": ("WebSearch", {"query": "query"}),
    "read_file": ("Read", {"file_path": "file_path"}),
}
"""The tools that read what others wrote, those of Claude Code that do so too, and where these have their input from."""
_EXIT = re.compile(r"^Exit Code: (?!0\b)", re.MULTILINE)
_BACKGROUND = "is_background"
_KEPT = 100_000


class GeminiConverter:
    """Brings the lines of a session into the form of Claude Code's."""

    title = "Gemini CLI"
    marks = re.compile(rb'"(?:sessionId|toolCalls|user)"')

    def __init__(self, directory: str = "") -> None:
        self._writer = RecordWriter(directory=directory)
        self._seen: set[str] = set()
        """The prompts and the calls that were told."""

    @staticmethod
    def recognise(record: Mapping[str, Any]) -> bool:
        """Whether a first line, or the only one, is of such a session."""
        return isinstance(record.get("projectHash"), str) and isinstance(record.get("sessionId"), str)

    def convert(self, record: Mapping[str, Any]) -> Iterator[bytes]:
        """The lines that a line stands for."""
        self._writer.session = get_text(record, "sessionId") or self._writer.session
        changed = get_mapping(record, "$set")
        for message in (record, *list_mappings(record.get("messages")), *list_mappings(changed.get("messages"))):
            if len(self._seen) > _KEPT:
                self._seen.clear()
            yield from self._convert_message(message)

    def _convert_message(self, message: Mapping[str, Any]) -> Iterator[bytes]:
        writer, kind = self._writer, message.get("type")
        writer.at = get_text(message, "timestamp")
        if kind == "user" and (name := get_text(message, "id")) not in self._seen:
            text = join_texts(message.get("displayContent")) or join_texts(message.get("content"))
            if text and not text.startswith(_CONTEXT):
                self._seen.add(name)
                yield writer.write_prompt(text)
        elif kind == "gemini":
            writer.model = get_text(message, "model") or writer.model
            for call in list_mappings(message.get("toolCalls")):
                if (call_id := get_text(call, "id")) and call_id not in self._seen:
                    self._seen.add(call_id)
                    writer.at = get_text(call, "timestamp") or writer.at
                    yield from self._convert_call(call_id, call)

    def _convert_call(self, call_id: str, call: Mapping[str, Any]) -> Iterator[bytes]:
        name, given, shown = get_text(call, "name"), get_mapping(call, "args"), get_mapping(call, "resultDisplay")
        text, details = _get_output(call), dict[str, Any]()
        is_error = call.get("status") != "success"
        if name in (_WRITE, _REPLACE):
            tool, given, details = _read_write(name, given, shown)
        elif name == _COMMAND:
            if given.get(_BACKGROUND) is True:
                return
            is_error = is_error or _EXIT.search(text) is not None
            tool, details = SHELL, {"stdout": text, "stderr": ""}
            given = {"command": get_text(given, "command")}
        elif name in _READS:
            tool, fields = _READS[name]
            given = {field: get_text(given, source) for field, source in fields.items()}
        elif name.startswith(("mcp_", "mcp__")):
            tool, given = f"mcp__{name.removeprefix('mcp_').removeprefix('_')}", {}
        else:
            return
        writer = self._enter(get_text(get_mapping(call, "args"), "dir_path"))
        yield writer.write_call(call_id, tool, given, "" if tool == SHELL else name)
        yield writer.write_result(call_id, text, details=details, is_error=is_error)

    def _enter(self, directory: str) -> RecordWriter:
        here = self._writer
        if directory and not directory.startswith("/"):
            directory = f"{here.directory}/{directory}" if here.directory else ""
        return RecordWriter(here.session, here.model, directory or here.directory, here.at)


def _read_write(
    name: str, given: Mapping[str, Any], shown: Mapping[str, Any]
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The tool that does the same as a call that writes, its input, and the notes beside its result."""
    path = get_text(shown, "filePath") or get_text(given, "file_path")
    before = {"type": "create"} if shown.get("isNewFile") is True else {}
    if isinstance(content := shown.get("newContent"), str):  # a person may have changed what was asked for
        if not before and isinstance(original := shown.get("originalContent"), str):
            before = {"originalFile": original}
        return "Write", {"file_path": path, "content": content}, before
    if name == _WRITE:
        return "Write", {"file_path": path, "content": pick_text(given, "content")}, {}
    old, new = get_text(given, "old_string"), get_text(given, "new_string")
    if not old:
        return "Write", {"file_path": path, "content": new}, {"type": "create"}
    replace_all = given.get("allow_multiple") is True
    return "Edit", {"file_path": path, "old_string": old, "new_string": new, "replace_all": replace_all}, {}


def _get_output(call: Mapping[str, Any]) -> str:
    """What the model was told of a call."""
    responses = (
        get_mapping(get_mapping(part, "functionResponse"), "response") for part in list_mappings(call.get("result"))
    )
    return "\n".join(filter(None, (get_text(each, "output", "error") for each in responses)))
