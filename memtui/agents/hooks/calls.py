"""What Claude Code tells a hook, judged: it arrives as JSON on standard input, and may be anything."""

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.core.events import Agent

NAME = "Claude Code"
"""How its changes are recorded."""
WRITING = frozenset({"Write", "Edit", "MultiEdit"})
"""Tools that write a file."""
_MEMORY = re.compile(r"mcp__.+__memory")
"""Our own tool, whatever memtui is called among its MCP servers: it records what it does itself."""
MATCHER = "Write|Edit|MultiEdit|mcp__memtui__memory|mcp__memory__memory"
"""As it stands in the settings."""
BEFORE, AFTER = "PreToolUse", "PostToolUse"
LIMIT = 64_000_000
"""Bytes that are read at most."""


class NoCall(Exception):
    """It is no call of a hook that we know; the words say why, as a sentence."""


@dataclass(frozen=True, slots=True)
class HookCall:
    """One call of the hook.

    Attributes:
        event: `PreToolUse` or `PostToolUse`.
        tool: The tool's name.
        path: The file that it writes, absolute; empty for other tools.
        given: The tool's input.
        response: What the tool answered, after it was used.
        session: Of Claude Code.
        transcript: The file in which it keeps the conversation.
        call_id: The model's id of the tool call.
    """

    event: str
    tool: str
    path: str
    given: dict[str, Any]
    response: object
    session: str | None
    transcript: str | None
    call_id: str

    @property
    def actor(self) -> "Agent":
        """Who, as it is recorded."""
        from memtui.core.events import Agent  # deferred: an agent waits for the hook, and most files are no memories

        return Agent(NAME, session=self.session)

    @property
    def arguments(self) -> str:
        """What else is recorded of the call, as JSON."""
        return json.dumps({"tool": self.tool, "transcript": self.transcript}, sort_keys=True)


def read_call(data: bytes) -> HookCall | None:
    """The call that a hook is told of; `None` for one that has nothing to do with memories.

    Raises:
        NoCall: It is none.
    """
    if len(data) > LIMIT:
        raise NoCall("What the hook was told is too long.")
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NoCall("What the hook was told is not JSON.") from error
    if not isinstance(told, dict):
        raise NoCall("What the hook was told is no JSON object.")
    event, tool = told.get("hook_event_name"), told.get("tool_name")
    if event not in (BEFORE, AFTER) or not isinstance(tool, str):
        return None
    if tool not in WRITING and not _MEMORY.fullmatch(tool):
        return None
    given = told.get("tool_input")
    if not isinstance(given, dict):
        raise NoCall(f"The hook was not told what {tool} is to do.")
    session, transcript = _text(told.get("session_id")), _text(told.get("transcript_path"))
    call_id = _text(told.get("tool_use_id"))
    if call_id is None:  # an older Claude Code: the same before and after
        from memtui.core.events import sha256  # deferred, as above

        call_id = "call_" + sha256(json.dumps([session, tool, given], sort_keys=True).encode())[:24]
    path = ""
    if tool in WRITING:
        path = _path(given.get("file_path"), _text(told.get("cwd")))
    return HookCall(event, tool, path, given, told.get("tool_response"), session, transcript, call_id)


def _path(given: object, directory: str | None) -> str:
    if not isinstance(given, str) or not given or "\0" in given:
        raise NoCall("The hook was not told which file is written.")
    return os.path.normpath(os.path.join(directory or os.getcwd(), os.path.expanduser(given)))


def _text(value: object) -> str | None:
    return value[:4_096] if isinstance(value, str) and value else None
