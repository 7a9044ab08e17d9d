"""The parameters of a request: one place that says what is asked of the API, and under which conditions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtui.agents.chat.events import Model
from memtui.agents.chat.sessions.restored import Message

CONTEXT_BETA = "context-management-2025-06-27"
COMPACT_BETA = "compact-2026-01-12"
MEMORY_TOOL = {"type": "memory_20250818", "name": "memory"}

_MAX_TOKENS = 32_000
"""Tokens of an answer where the person says nothing and the model could write more: thinking is among them."""
_UNKNOWN_MAX_TOKENS = 8_192
_SHARE_CLEARED = 0.5
_SHARE_COMPACTED = 0.75
"""From which share of a model's context on old tool results are cleared, and all is compacted."""
_LEAST_COMPACTED = 50_000
"""The API compacts nothing smaller."""
_LEAST_BUDGET, _MOST_BUDGET = 1_024, 16_000
_CACHED: Any = {"type": "ephemeral"}


@dataclass(frozen=True, slots=True)
class Manner:
    """How requests are made; settings, and what the server turned out to take.

    Attributes:
        system: The system prompts, in order.
        max_tokens: Tokens that one answer may have, where the person says so.
        context_trigger: From how many tokens on context is cleared, where the person says so; 0 for never.
        effort: One of the levels, where the person says so.
        thinking: Whether the model may think, where the person says so.
        clears: Whether the server may be asked to clear old tool results.
        compacts: Whether the server may be asked to compact.
        returns_thinking: Whether thinking is sent back to the model.
    """

    system: tuple[str, ...] = ()
    max_tokens: int | None = None
    context_trigger: int | None = None
    effort: str | None = None
    thinking: bool | None = None
    clears: bool = True
    compacts: bool = True
    returns_thinking: bool = True


def parameters(messages: Sequence[Message], model: Model, manner: Manner) -> dict[str, Any]:
    """What `client.beta.messages.create` is called with.

    Args:
        messages: The history, as the model may be sent it.
        model: Who answers.
        manner: How.
    """
    max_tokens = manner.max_tokens or min(model.max_tokens or _UNKNOWN_MAX_TOKENS, _MAX_TOKENS)
    found: dict[str, Any] = {
        "model": model.id,
        "max_tokens": max_tokens,
        "messages": _cached(messages),
        "tools": [MEMORY_TOOL],
        "stream": True,
    }
    if texts := [text for text in manner.system if text.strip()]:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
        blocks[-1]["cache_control"] = _CACHED  # tools come before it, and are cached with it
        found["system"] = blocks
    if thinking := _thinking(model, manner, max_tokens):
        found["thinking"] = thinking
    if manner.effort is not None:
        found["output_config"] = {"effort": manner.effort}
    betas = []
    if edits := _edits(model, manner):
        found["context_management"] = {"edits": edits}
        betas.append(CONTEXT_BETA)
    if any(edit["type"] == "compact_20260112" for edit in edits) or any(
        block.get("type") == "compaction" for message in messages for block in message["content"]
    ):
        betas.append(COMPACT_BETA)
    if betas:
        found["betas"] = betas
    return found


def _cached(messages: Sequence[Message]) -> list[Message]:
    """The messages with marks on the last two of the user's: the next request finds what this one left in the cache.

    Two, because the last one grows when the person goes on after a turn that was broken off; with the system prompt
    that makes three marks of the four that the API allows.
    """
    marked = list(messages)
    users = [index for index, message in enumerate(marked) if message["role"] == "user"]
    for index in users[-2:]:
        *before, last = marked[index]["content"]
        marked[index] = {"role": "user", "content": [*before, {**last, "cache_control": _CACHED}]}
    return marked


def _thinking(model: Model, manner: Manner, max_tokens: int) -> dict[str, Any] | None:
    if manner.thinking is None:
        return None
    if not manner.thinking:
        return {"type": "disabled"} if "disabled" in model.thinking else None
    if "adaptive" in model.thinking or "enabled" not in model.thinking:  # who insists is told by the API
        return {"type": "adaptive", "display": "summarized"}
    budget = max(_LEAST_BUDGET, min(_MOST_BUDGET, max_tokens // 2))
    return {"type": "enabled", "budget_tokens": budget} if budget < max_tokens else None


def _edits(model: Model, manner: Manner) -> list[dict[str, Any]]:
    if manner.context_trigger == 0:
        return []
    edits: list[dict[str, Any]] = []
    if manner.clears and model.clears_tools is not False:
        edit: dict[str, Any] = {"type": "clear_tool_uses_20250919", "exclude_tools": [MEMORY_TOOL["name"]]}
        trigger = manner.context_trigger or (int(model.context * _SHARE_CLEARED) if model.context else None)
        if trigger:
            edit["trigger"] = {"type": "input_tokens", "value": trigger}
        edits.append(edit)
    if manner.compacts and model.compacts:
        edit = {"type": "compact_20260112"}
        if model.context:
            value = max(_LEAST_COMPACTED, int(model.context * _SHARE_COMPACTED))
            edit["trigger"] = {"type": "input_tokens", "value": value}
        edits.append(edit)
    return edits


def without_what_is_refused(
    manner: Manner, model: Model, words: str, *, has_thinking: bool = False
) -> tuple[Manner, str] | None:
    """How to go on with a server that does not take what was asked of it by ourselves.

    Args:
        manner: How the request was made.
        model: Who was to answer.
        words: Why it was refused.
        has_thinking: Whether there is thinking in the history.

    Returns:
        The manner without that, and a sentence that says so; `None` where it is something else that was refused.
    """
    lower = words.lower()
    managed = {edit["type"] for edit in _edits(model, manner)}
    if "compact_20260112" in managed and "compact" in lower:
        return replace(manner, compacts=False), "The server does not compact conversations; this one goes on without."
    if managed and ("context_management" in lower or "context-management" in lower or "beta" in lower):
        return (
            replace(manner, clears=False, compacts=False),
            "The server does not clear old tool results from the context; the conversation goes on without that.",
        )
    if has_thinking and manner.returns_thinking and "thinking" in lower and ("signature" in lower or "block" in lower):
        return (
            replace(manner, returns_thinking=False),
            "The model does not take back what it had thought; the conversation goes on without that.",
        )
    return None
