"""The texts before and after a call, as far as they can be told from what was asked for and what is noted of it."""

from collections.abc import Mapping
from typing import Any

from memtui.agents.transcripts.calls import Asked, Came


def texts_of(asked: Asked, came: Came, known: str | None) -> tuple[str | None, str | None]:
    """What the file held before the call, and after it; `None` where that cannot be told, or for nothing.

    Args:
        asked: The call.
        came: What came of it.
        known: What the file is known to have held, from calls before.
    """
    before = _original(came.told, known)
    if asked.tool == "Write":
        content = came.told.get("content", asked.given.get("content"))
        return before, content if isinstance(content, str) else None
    if before is None:
        return None, None
    edits = asked.given.get("edits") if asked.tool == "MultiEdit" else [asked.given]
    if not isinstance(edits, list):
        return before, None
    after: str | None = before
    for edit in edits:
        after = _replaced(after, edit) if after is not None and isinstance(edit, dict) else None
    return before, after


def _original(told: Mapping[str, Any], known: str | None) -> str | None:
    for name in ("originalFile", "originalFileContents"):
        if isinstance(text := told.get(name), str):
            return text
    return None if told.get("type") == "create" else known


def _replaced(text: str, edit: Mapping[str, Any]) -> str | None:
    old, new = edit.get("old_string"), edit.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    if not old:
        return new if not text else None
    if old not in text:
        return None
    return text.replace(old, new) if edit.get("replace_all") is True else text.replace(old, new, 1)
