"""What strangers gave an agent to read before it made a call: pages, searches, servers, other people's packages.

Who writes such a text can give the agent orders, and what the agent then remembers may be one of them.
"""

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from memtui.agents.transcripts.parse import (
    SHELL,
    ReadCancelled,
    extract_prompt,
    find_call_ids,
    get_speaker,
    iter_blocks,
    parse_record,
)
from memtui.agents.transcripts.sessions import SessionFile, find_session_files
from memtui.core.events import MAX_PROMPT

_LONGEST = 200_000  # characters of one result that are kept
_KEPT = 2_000_000  # characters of all results of a conversation
_FETCH = re.compile(
    r"\b(?:curl|wget|lynx|w3m|git\s+clone|gh\s+(?:api|issue|pr|gist|release|search)|ssh|scp|npm\s+view|pip\s+download)\s"
)
"""Commands that print what somebody else wrote."""
_OF_OTHERS = frozenset(
    {"node_modules", "site-packages", "dist-packages", "vendor", "third_party", "Downloads", "attachments"}
)
"""Directories that hold what somebody else wrote."""
_NOT_STRANGE = re.compile(r"mcp__\w*(?:memtui|memory)")
_NAMED = 4_000  # characters of a command or a question that name it


class StrangerText(NamedTuple):
    """A text that somebody else wrote, and an agent was given to read.

    Attributes:
        source: As a noun with its article, such as `the page https://example.org/a`; not safe to show, and may hold a
            secret.
        turn: The number of prompts before it.
    """

    source: str
    text: str
    turn: int


class CallContext(NamedTuple):
    """What stood before a call in its conversation.

    Attributes:
        prompt: The person's last one; empty if unknown.
        read: The texts of strangers, the oldest first.
    """

    prompt: str = ""
    turn: int = 0
    read: tuple[StrangerText, ...] = ()


def find_contexts(calls: Iterable[tuple[str, str]], *, most_bytes: int) -> dict[tuple[str, str], CallContext]:
    """What stood before calls in their sessions.

    Args:
        calls: The session and the id of each; a session is read once for all of its calls.
        most_bytes: Bytes of session files that are read at most.

    Returns:
        The contexts of those that were found.
    """
    by_session: dict[str, set[str]] = {}
    for session, call_id in calls:
        by_session.setdefault(session, set()).add(call_id)
    found: dict[tuple[str, str], CallContext] = {}
    left = most_bytes

    def spend(count: int) -> bool:
        nonlocal left
        left -= count
        return left > 0

    for session, call_ids in by_session.items():
        for path in find_session_files(session):
            tracker = ReadTracker()
            with contextlib.suppress(OSError, ReadCancelled):
                for line in SessionFile(path, spend, session):
                    if (record := parse_record(line.data)) is not None:
                        for call_id in call_ids.intersection(find_call_ids(record)):
                            found.setdefault((session, call_id), tracker.get_context(record))
                        tracker.add(record)
    return found


class ReadTracker:
    """The conversations of a session file, as far as its lines were added."""

    def __init__(self) -> None:
        self._conversations: dict[str, _Conversation] = {}

    def add(self, record: Mapping[str, Any]) -> None:
        """Take the next line of the file."""
        here = self._conversations.setdefault(get_speaker(record), _Conversation())
        if prompt := extract_prompt(record):
            here.prompt, here.turn = prompt[:MAX_PROMPT], here.turn + 1
            return
        message = record.get("message")
        for block in iter_blocks(message) if isinstance(message, dict) else ():
            if block.get("type") == "tool_use":
                source, call_id = _name_source(block), block.get("id")
                if source and isinstance(call_id, str):
                    here.asked[call_id] = source
            elif block.get("type") == "tool_result" and (source := here.asked.pop(str(block.get("tool_use_id")), "")):
                here.keep(source, _get_text(block.get("content")))

    def get_context(self, record: Mapping[str, Any]) -> CallContext:
        """What stands before a line that was not added yet."""
        here = self._conversations.get(get_speaker(record), _Conversation())
        return CallContext(here.prompt, here.turn, tuple(here.read))


class _Conversation:
    def __init__(self) -> None:
        self.prompt, self.turn = "", 0
        self.asked: dict[str, str] = {}
        """By the id of a call that has no result yet, its source."""
        self.read: deque[StrangerText] = deque()
        self._size = 0

    def keep(self, source: str, text: str) -> None:
        """Keep what was read; the oldest goes where it is too much."""
        self.read.append(StrangerText(source, text[:_LONGEST], self.turn))
        self._size += len(self.read[-1].text)
        while self._size > _KEPT:
            self._size -= len(self.read.popleft().text)


def _name_source(call: Mapping[str, Any]) -> str:
    """Whose text a call asks for; empty for what the person or the agent wrote."""
    tool, given = call.get("name"), call.get("input")
    if not isinstance(tool, str) or not isinstance(given, dict):
        return ""
    url, query, command, path = (_get_word(given, name) for name in ("url", "query", "command", "file_path"))
    match tool:
        case "WebFetch":
            return f"the page {url}" if url else "a page"
        case "WebSearch":
            return f"a search for {query}" if query else "a search"
        case "Read":
            return f"the file {path}" if not _OF_OTHERS.isdisjoint(path.split(os.sep)) else ""
        case _ if tool == SHELL:
            return f"the command {command}" if _FETCH.search(f"{command} ") else ""
        case _ if tool.startswith(("mcp__", "ReadMcpResource")):
            return f"the tool {tool}" if _NOT_STRANGE.match(tool) is None else ""
        case _:
            return ""


def _get_word(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return " ".join(value[:_NAMED].split()) if isinstance(value, str) else ""


def _get_text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
