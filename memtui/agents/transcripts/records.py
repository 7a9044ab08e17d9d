"""The one form into which the session files of all agents are brought: lines as Claude Code writes them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from memtui.agents.transcripts.patch import parse_patch, split_patch
from memtui.core.lazy_dataclass import dataclass

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? ")
_MOST_OPEN = 10_000
"""Calls of one session that have no result yet, and are remembered."""


@dataclass(slots=True)
class RecordWriter:
    """Writes the lines of a session.

    Attributes:
        session: Its id; empty if unknown, as are the others.
        model: The model's name.
        directory: The working directory.
        at: The time of the lines, as the session file has it.
    """

    session: str = ""
    model: str = ""
    directory: str = ""
    at: str = ""

    def write_prompt(self, text: str) -> bytes:
        """A prompt of the person."""
        return self._write("user", {"content": text})

    def write_call(self, call_id: str, tool: str, given: Mapping[str, Any], shown: str) -> bytes:
        """A call.

        Args:
            call_id: The model's id of it.
            tool: The tool of Claude Code that does the same.
            given: That tool's input.
            shown: The tool's own name.
        """
        block = {"type": "tool_use", "id": call_id, "name": tool, "shown": shown, "input": given}
        return self._write("assistant", {"model": self.model, "content": [block]})

    def write_result(
        self, call_id: str, text: str = "", *, details: Mapping[str, Any] | None = None, is_error: bool = False
    ) -> bytes:
        """The result of a call; `details` are as Claude Code's notes beside a result."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": is_error}
        return self._write("user", {"content": [block]}, toolUseResult=details or {})

    def _write(self, kind: str, message: Mapping[str, Any], **more: object) -> bytes:
        about = {"type": kind, "sessionId": self.session, "timestamp": self.at, "cwd": self.directory}
        return json.dumps({**about, "message": message, **more}).encode()


@dataclass(slots=True)
class OpenCalls:
    """Calls without a result, by their ids; the oldest go where there are too many."""

    _calls: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def add(self, call_id: str, call: Mapping[str, Any]) -> None:
        """Remember a call."""
        self._calls[call_id] = call
        if len(self._calls) > _MOST_OPEN:
            del self._calls[next(iter(self._calls))]

    def take(self, call_id: str) -> Mapping[str, Any] | None:
        """Take out a call; `None` if it is not known."""
        return self._calls.pop(call_id, None)


def iter_patched(patch: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a patch in the form of Codex does, file by file: the tool that does the same, and its input."""
    for part in split_patch(patch):
        for each in parse_patch(part):
            given: dict[str, Any] = {"file_path": each.path}
            if each.verb == "add":
                yield "Write", given | {"content": "".join(f"{line}\n" for line in each.added)}
            elif each.verb == "delete":
                yield "Delete", given
            else:
                yield "Edit", given | {"moved_path": each.moved_to, "patch": part}


def parse_hunks(diff: str) -> list[dict[str, Any]]:
    """The hunks of a unified diff as Claude Code notes them; empty where they say something of the last line's end."""
    hunks: list[dict[str, Any]] = []
    for line in diff.removesuffix("\n").split("\n"):
        if found := _HUNK.match(line):
            start = int(found[1])
            hunks.append({"oldStart": start + 1 if found[2] == "0" and start else start, "lines": []})
        elif line.startswith("\\"):
            return []
        elif hunks:
            hunks[-1]["lines"].append(line)
    return hunks


def get_text(given: Mapping[str, Any], *names: str) -> str:
    """The first of some values that is a text; empty without one."""
    return next((value for name in names if isinstance(value := given.get(name), str)), "")


def pick_text(given: Mapping[str, Any], name: str) -> str | None:
    """A value that is a text; `None` if it is none."""
    value = given.get(name)
    return value if isinstance(value, str) else None


def get_mapping(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A value that is an object; empty if it is none."""
    value = given.get(name)
    return value if isinstance(value, dict) else {}


def list_mappings(content: object) -> list[dict[str, Any]]:
    """The objects in a list; empty if it is none."""
    return [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []


def join_texts(content: object) -> str:
    """A text, or the texts of a message's parts."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (get_text(part, "text") for part in list_mappings(content))))
