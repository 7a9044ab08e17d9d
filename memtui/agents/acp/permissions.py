"""An agent's requests for permission, as questions of the conversation, and the answers as the agent takes them."""

import asyncio
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from acp import schema

from memtui.agents.chat.history import sanitize_value
from memtui.agents.chat.tool_calls import ApprovalRequester
from memtui.core.approvals import Allow, ApprovalPolicy, Deny, Permission, Proposal, Stop, Verdict
from memtui.core.events import Agent, Change, EntryKind, Version, sha256
from memtui.core.paths import ROOT_NAME
from memtui.core.unicode import to_one_line
from memtui.engine import Engine

SERVER_NAME = "memtui"
"""Of memtui's MCP server, as the agent is told it."""
_LONGEST_DETAIL = 2_000
_LONGEST_TITLE = 200
_CHANGES = frozenset({"edit", "delete", "move", "execute"})
"""Kinds of tools that change something."""
_OWN_NAMES = "memory|search_memory|recent_activity|memory_history|read_note|build_context|list_links"
_OWN_TOOL = re.compile(rf"(?:mcp__|mcp\.|Tool: )?memtui(?:__|_|/|\.|: )(?:{_OWN_NAMES})")
"""The title of a call of memtui's MCP server, as agents name it: nothing that could be a shell command with more."""
_OWN_ID = re.compile(rf"(mcp_memtui_(?:{_OWN_NAMES}))__\1_[0-9]+_[0-9]+")
"""The id of such a call of Gemini CLI's, which makes its ids of the tool's name and its titles of the arguments."""
_HARMLESS = frozenset({"read", "search", "think", "other"})
"""Kinds that a policy may allow where nobody can be asked."""


class QuestionLine:
    """Asks one question at a time, and does not ask again about a text that was just allowed.

    It stands in place of the `ApprovalRequester` for what the agent writes through the engine.
    """

    def __init__(self, requester: ApprovalRequester) -> None:
        self._requester = requester
        self._lock = asyncio.Lock()
        self._allowed: set[tuple[str, str | None]] = set()
        self._is_stopped = False

    async def ask(self, turn: int, call_id: str, proposal: Proposal) -> Verdict:
        """Ask, after the questions before it."""
        changes = {(each.path, each.after.sha256 if each.after else None) for each in proposal.files}
        if changes and proposal.permission is None and not proposal.again and changes <= self._allowed:
            self._allowed -= changes
            return Allow()
        async with self._lock:
            if self._is_stopped:
                return Stop()
            verdict = await self._requester.ask(turn, call_id, proposal)
        if isinstance(verdict, Allow) and proposal.permission is not None:
            self._allowed |= changes
        return verdict

    def begin_turn(self) -> None:
        """Forget what was allowed, and ask again."""
        self._allowed.clear()
        self._is_stopped = False

    def stop(self) -> None:
        """Answer the questions that wait, and those to come in this turn, with a stop."""
        self._is_stopped = True
        self._requester.stop()


def build_proposal(folder: str, actor: Agent, call: schema.ToolCallUpdate, lasting: bool) -> Proposal:
    """A request for permission as a question: with the exact texts where the agent gives them."""
    changes, texts = list[Change](), dict[str, bytes]()
    for each in _list_edits(call):
        path = os.path.normpath(os.path.join(folder, each.path))
        name = os.path.relpath(path, folder) if is_below(folder, path) else path
        before = None if each.old_text is None else _keep_text(each.old_text, texts)
        changes.append(Change(name, before, _keep_text(each.new_text, texts)))
    words = to_one_line((call.title or "").replace(f"{folder.rstrip('/')}/", ""))[:_LONGEST_TITLE]
    kind = call.kind if call.kind not in (None, "other") else ""
    title = words if not kind or kind in words.lower() else f"{kind} {words}".rstrip()
    title = title or "a tool without a name"
    permission = Permission(title, "" if changes else _format_detail(call.raw_input), lasting)
    first = f"{ROOT_NAME}/{changes[0].path.lstrip('/')}" if changes else ROOT_NAME
    return Proposal(
        actor, "permission", first, None, call.tool_call_id, tuple(changes), texts, "",
        {"command": "permission", "path": first if changes else ""}, permission=permission,
    )  # fmt: skip


def make_editable(proposal: Proposal, folder: str, memory: Engine) -> Proposal:
    """A request to change one file below the folder, with its whole text before and after, so that it can be edited.

    An agent may show a part of a file only: where that does not stand in it once, the request stays as it is. Reads the
    file: call it in a thread.
    """
    change, permission = next(iter(proposal.changes), None), proposal.permission
    if change is None or len(proposal.changes) > 1 or permission is None or memory.read_only:
        return proposal
    path = os.path.join(folder, change.path)
    if not is_below(folder, path) or os.path.realpath(path) != path:
        return proposal
    found = memory.inspect_path(change.path)
    now = _decode(found.data)
    old, new = proposal.text(change.before) or "", proposal.text(change.after) or ""
    if (found.node is not None and now is None) or (found.node is None and old):
        return proposal
    whole = new if change.before is None else _replace_once(now or "", old, new)
    if whole is None:
        return proposal
    texts = dict[str, bytes]()
    before = None if now is None else _keep_text(now, texts)
    return replace(
        proposal,
        command="create",
        changes=(Change(change.path, before, _keep_text(whole, texts)),),
        texts=texts,
        raw={"command": "create", "path": proposal.path, "file_text": whole},
        permission=replace(permission, is_editable=True),
    )


def _decode(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _replace_once(text: str, old: str, new: str) -> str | None:
    """A text with one part replaced; `None` where the part does not stand in it once."""
    if old == text:
        return new
    return text.replace(old, new) if old and text.count(old) == 1 else None


def _list_edits(call: schema.ToolCallUpdate) -> list[schema.FileEditToolCallContent]:
    return [each for each in call.content or () if isinstance(each, schema.FileEditToolCallContent)]


def decide_by_policy(
    policy: ApprovalPolicy, folder: str, call: schema.ToolCallUpdate, *, can_ask: bool
) -> Verdict | None:
    """The answer of the policy; `None` where the person has to be asked."""
    if is_own_tool(call):
        return Allow()  # the server asks by itself, with the exact change
    if policy is ApprovalPolicy.READ_ONLY and call.kind in _CHANGES:
        return Deny("the person lets this conversation only read")
    paths = [os.path.join(folder, each.path) for each in call.locations or ()]
    paths += [os.path.join(folder, each.path) for each in _list_edits(call)]
    is_inside = bool(paths) and all(is_below(folder, os.path.normpath(path)) for path in paths)
    if policy is ApprovalPolicy.ALLOW and call.kind == "edit" and is_inside:
        return Allow()
    if can_ask:
        return None
    if policy is ApprovalPolicy.ALLOW and (call.kind or "other") in _HARMLESS:
        return Allow()
    return Deny("nobody is there to be asked")


def is_own_tool(call: schema.ToolCallStart | schema.ToolCallUpdate) -> bool:
    """Whether a call is one of memtui's MCP server, by its title, its id, or what Codex' adapter says of it."""
    if (call.field_meta or {}).get("is_mcp_tool_call") is True and isinstance(call.raw_input, dict):
        return call.raw_input.get("server") == SERVER_NAME
    is_named = _OWN_TOOL.fullmatch(call.title or "") is not None or _OWN_ID.fullmatch(call.tool_call_id) is not None
    return call.kind in (None, "other") and is_named


def choose_option(options: Sequence[schema.PermissionOption], verdict: Verdict) -> str | None:
    """The id of the option that says what the person said; `None` for none, and where the turn was stopped."""
    if isinstance(verdict, Stop):
        return None
    kinds = ["reject_once", "reject_always"]
    if isinstance(verdict, Allow):
        kinds = ["allow_always", "allow_once"] if verdict.always is not None else ["allow_once"]
    return next((each.option_id for kind in kinds for each in options if each.kind == kind), None)


def is_below(folder: str, path: str) -> bool:
    """Whether a path, whose links are not followed, lies below a folder."""
    return path.startswith(folder.rstrip("/") + "/")


def _keep_text(text: str, texts: dict[str, bytes]) -> Version:
    data = text.encode("utf-8", "replace")
    hash = sha256(data)
    texts[hash] = data
    return Version(EntryKind.FILE, hash, len(data))


def _format_detail(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return sanitize_value(to_one_line(text)[:_LONGEST_DETAIL])  # type: ignore[no-any-return]
