"""The input of a hook, validated: it arrives as JSON on standard input, and may be anything."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.core.errors import StateUnusable
from memtui.core.lazy_dataclass import dataclass
from memtui.core.settings import Settings
from memtui.fs.state import locate_state_directory

if TYPE_CHECKING:
    from memtui.core.events import Agent


NAME = "Claude Code"
"""How its changes are recorded."""
WRITING = frozenset({"Write", "Edit", "MultiEdit"})
"""Tools that write a file."""
SHELL = "Bash"
"""The tool that runs commands: the only one of Claude Code that deletes and moves files."""
CODEX, PATCH = "Codex", "apply_patch"
"""An agent whose hooks have the same form, and its tool that writes files, several at a time."""
_PATCH_IN_SHELL = re.compile(r"\s*apply_patch\s+<<")
_MEMORY = re.compile(r"mcp__.+__memory")
"""Our own MCP tool under any server name: it records its calls itself."""
MATCHER = "Write|Edit|MultiEdit|Bash|mcp__memtui__memory|mcp__memory__memory"
"""As it stands in the settings."""
CODEX_MATCHER = f"{SHELL}|{PATCH}"
"""The same for Codex."""
BEFORE, AFTER = "PreToolUse", "PostToolUse"
LIMIT = 64_000_000
"""Bytes that are read at most."""


class InvalidHookCall(Exception):
    """The input is no call of a known hook; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class HookCall:
    """One call of the hook.

    Attributes:
        event: `PreToolUse` or `PostToolUse`.
        path: The file that the tool writes, absolute; empty for other tools.
        directory: The working directory, absolute; `None` if unknown.
        given: The tool's input.
        response: The tool's answer, after its use.
        session: Claude Code's.
        transcript: The file of the conversation.
        call_id: The model's id of the tool call.
        agent: Whose hook it is.
    """

    event: str
    tool: str
    path: str
    given: dict[str, Any]
    response: object
    session: str | None
    transcript: str | None
    call_id: str
    directory: str | None = None
    agent: str = NAME

    @property
    def actor(self) -> "Agent":
        """The recorded actor."""
        from memtui.core.events import Agent  # noqa: PLC0415 - start-up: most files are no memories

        return Agent(self.agent, session=self.session)

    @property
    def arguments(self) -> str:
        """Other facts to record of the call, as JSON."""
        return json.dumps({"tool": self.tool, "transcript": self.transcript}, sort_keys=True)


def parse_call(data: bytes) -> HookCall | None:
    """The call in a hook's input; `None` for one without a memory.

    Raises:
        InvalidHookCall: It is none.
    """
    if len(data) > LIMIT:
        raise InvalidHookCall("The hook's input is too long.")
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidHookCall("The hook's input is not JSON.") from error
    if not isinstance(fields, dict):
        raise InvalidHookCall("The hook's input is not a JSON object.")
    event, tool = fields.get("hook_event_name"), fields.get("tool_name")
    if event not in (BEFORE, AFTER) or not isinstance(tool, str):
        return None
    if tool not in WRITING and tool not in (SHELL, PATCH) and not _MEMORY.fullmatch(tool):
        return None
    given = fields.get("tool_input")
    if not isinstance(given, dict):
        raise InvalidHookCall(f"The hook's input does not say what {tool} does.")
    session, transcript = _parse_text(fields.get("session_id")), _parse_text(fields.get("transcript_path"))
    call_id = _parse_text(fields.get("tool_use_id"))
    if call_id is None:  # an older Claude Code: the same before and after
        from memtui.core.events import sha256  # noqa: PLC0415 - start-up: most files are no memories

        call_id = "call_" + sha256(json.dumps([session, tool, given], sort_keys=True).encode())[:24]
    path, directory = "", _parse_text(fields.get("cwd"))
    if tool in WRITING:
        path = _parse_path(given.get("file_path"), directory)
    if directory is not None and not os.path.isabs(directory):
        directory = None
    agent = CODEX if isinstance(fields.get("turn_id"), str) else NAME  # Claude Code's calls have no turn
    if agent == CODEX and tool == SHELL and _PATCH_IN_SHELL.match(str(given.get("command"))):
        tool = PATCH  # Codex applies it itself
    response = fields.get("tool_response")
    return HookCall(event, tool, path, given, response, session, transcript, call_id, directory, agent)


def _parse_path(given: object, directory: str | None) -> str:
    if not isinstance(given, str) or not given or "\0" in given:
        raise InvalidHookCall("The hook's input does not name the file to write.")
    return os.path.normpath(os.path.join(directory or os.getcwd(), os.path.expanduser(given)))


def _parse_text(value: object) -> str | None:
    return value[:4_096] if isinstance(value, str) and value else None


_CRLF_IN = 4_096
"""Characters at the beginning that tell a text's line ends."""


def predict_results(tool: str, given: Mapping[str, object], before: bytes | None) -> tuple[bytes, ...]:
    """The contents that a file may have after a write, the likeliest first; empty where the tool would refuse.

    The rules are those of Claude Code 2.1 as its tools behave: `Edit` works on lines that end with LF and restores the
    file's line ends; a deletion takes the end of its line along; an empty `old_string` makes a file.

    Args:
        tool: `Write`, `Edit` or `MultiEdit`.
        given: The tool's input.
        before: The present content; `None` where there is no file.
    """
    try:
        if tool == "Write":
            content = given.get("content")
            return _encode_line_ends(content, before) if isinstance(content, str) else ()
        edits = given.get("edits") if tool == "MultiEdit" else [given]
        if not isinstance(edits, list) or not edits:
            return ()
        text = (before or b"").decode("utf-8")
        start = text[:_CRLF_IN]
        is_crlf = start.count("\r\n") > start.count("\n") - start.count("\r\n")
        lines = text.replace("\r\n", "\n")
        for edit in edits:
            changed = _apply_edit(lines, edit, is_there=before is not None) if isinstance(edit, dict) else None
            if changed is None:
                return ()
            lines = changed
        return ((lines.replace("\n", "\r\n") if is_crlf else lines).encode("utf-8"),)
    except UnicodeError:
        return ()


def _encode_line_ends(content: str, before: bytes | None) -> tuple[bytes, ...]:
    """The content as it is; and with the file's line ends, as some versions write it."""
    plain = content.encode("utf-8")
    if before is None or b"\r\n" not in before:
        return (plain,)
    return plain, content.replace("\r\n", "\n").replace("\n", "\r\n").encode("utf-8")


def _apply_edit(text: str, edit: Mapping[str, object], *, is_there: bool) -> str | None:
    old, new, everywhere = edit.get("old_string"), edit.get("new_string"), edit.get("replace_all", False)
    if not isinstance(old, str) or not isinstance(new, str) or old == new:
        return None
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not old:
        return new if not is_there or not text.strip() else None
    count = text.count(old)
    if not count or (count > 1 and everywhere is not True):
        return None
    if not new and not old.endswith("\n") and old + "\n" in text:
        old += "\n"
    return text.replace(old, new) if everywhere is True else text.replace(old, new, 1)


class MemoryFileLocation(NamedTuple):
    """A file in a memory folder: the folder with links resolved, its state directory, and the file's relative path."""

    folder: str
    state: str
    path: str
    settings: Settings | None = None


def locate_file(path: str, *, directory: str | None = None, state: str | None = None) -> MemoryFileLocation | None:
    """The location of a file in the innermost memory folder, from its path alone; `None` outside of them.

    A folder is one if it is `directory`, if memtui has a journal of it, or if Claude Code keeps its memories there.

    Args:
        path: Absolute; it need not be there yet.
        directory: A memory folder of the hook's options.
        state: Its state directory, if not in the usual place.
    """
    return _locate_real_path(os.path.realpath(path), directory, state)


def locate_entry(path: str, *, directory: str | None = None, state: str | None = None) -> MemoryFileLocation | None:
    """The same of a name in a directory, which may be a link: what is deleted or moved is the name."""
    above, name = os.path.split(os.path.abspath(path))
    return _locate_real_path(os.path.join(os.path.realpath(above), name), directory, state)


def _locate_real_path(real: str, directory: str | None, state: str | None) -> MemoryFileLocation | None:
    named = os.path.realpath(os.path.expanduser(directory)) if directory is not None else None
    for folder in _iter_parents(real):
        relative = os.path.relpath(real, folder)
        try:
            if folder == named:
                return MemoryFileLocation(folder, locate_state_directory(folder, state), relative)
            where = locate_state_directory(folder)
            if _is_claude_code_folder(folder) or os.path.exists(f"{where}/journal.db"):
                return MemoryFileLocation(folder, where, relative)
        except (StateUnusable, OSError):
            continue
    return None


def _iter_parents(path: str) -> Iterator[str]:
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _is_claude_code_folder(folder: str) -> bool:
    if "memory" not in folder:
        return False
    from memtui.places.claude_code import get_claude_directory  # noqa: PLC0415 - start-up: an agent waits

    above, name = os.path.split(folder)
    if name == "memory":
        return os.path.dirname(above) == os.path.join(get_claude_directory(), "projects")
    if os.path.basename(above) == "agent-memory" and os.path.dirname(above) == get_claude_directory():
        return True
    kind, owner = os.path.basename(above), os.path.basename(os.path.dirname(above))
    return owner == ".claude" and kind in ("agent-memory", "agent-memory-local")
