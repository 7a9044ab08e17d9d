"""The texts before and after a call, as far as they can be told from what was asked for and what is noted of it."""

from collections.abc import Mapping
from typing import Any

from memtui.agents.transcripts.calls import Asked, Came

_ORIGINAL = ("originalFile", "originalFileContents", "original_file")
"""Under which names the text before is noted."""
LONGEST = 16_000_000
"""Characters of the longest text that is followed: edits may say that a text doubles, again and again."""


def texts_of(asked: Asked, came: Came, known: str | None) -> tuple[str | None, str | None]:
    """What the file held before the call, and after it; `None` where that cannot be told, or for nothing.

    Args:
        asked: The call.
        came: What came of it.
        known: What the file is known to have held, from calls before.
    """
    before = _original(came.told, known)
    if asked.tool == "NotebookEdit":
        after = came.told.get("updated_file")
        return before, after if isinstance(after, str) else None
    if asked.tool == "Write":
        content = came.told.get("content", asked.given.get("content"))
        return before, content if isinstance(content, str) else None
    if before is None:
        return None, None
    patched = _patched(before, came.told.get("structuredPatch"))
    if patched is None and came.told.get("structuredPatch") and not _tells_original(came.told):
        return None, None  # somebody else wrote it meanwhile
    after = _edited(before, asked)
    if came.told.get("userModified") is True or after is None:
        return before, patched
    # A patch tells what became of line ends and of blanks at ends of lines; but tabs in it may be drawn as blanks.
    return before, after if patched is None or "\t" in before or "\t" in after else patched


def _tells_original(told: Mapping[str, Any]) -> bool:
    return any(isinstance(told.get(name), str) for name in _ORIGINAL)


def _original(told: Mapping[str, Any], known: str | None) -> str | None:
    for name in _ORIGINAL:
        if isinstance(text := told.get(name), str):
            return text
    return None if told.get("type") == "create" else known


def _edited(before: str, asked: Asked) -> str | None:
    edits = asked.given.get("edits") if asked.tool == "MultiEdit" else [asked.given]
    if not isinstance(edits, list):
        return None
    after: str | None = before
    for edit in edits:
        after = _replaced(after, edit) if after is not None and isinstance(edit, dict) else None
    return after


def _replaced(text: str, edit: Mapping[str, Any]) -> str | None:
    old, new = edit.get("old_string"), edit.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    if not old:
        return new if not text else None
    if old not in text:
        return None
    if not new and not old.endswith("\n") and f"{old}\n" in text:
        old += "\n"  # so Claude Code takes out the line and leaves no empty one
    times = text.count(old) if edit.get("replace_all") is True else 1
    if len(text) + times * (len(new) - len(old)) > LONGEST:
        return None
    return text.replace(old, new, times)


def _patched(before: str, hunks: object) -> str | None:
    """A text with a patch applied, as Claude Code notes it; `None` if it does not fit to the letter."""
    if not isinstance(hunks, list) or not hunks:
        return None
    old, new, at = before.split("\n"), list[str](), 0
    for hunk in hunks:
        start, lines = (hunk.get("oldStart"), hunk.get("lines")) if isinstance(hunk, dict) else (None, None)
        if type(start) is not int or not isinstance(lines, list) or not at <= (start := max(0, start - 1)) <= len(old):
            return None
        new += old[at:start]
        at = start
        for line in lines:
            sign, words = (line[:1], line[1:]) if isinstance(line, str) else ("", "")
            if sign == "\\":
                return None  # it is about the end of the last line, and may be about either text
            if sign not in ("+", "-", " ") or (sign != "+" and (at >= len(old) or old[at] != words)):
                return None
            if sign != "-":
                new.append(words)
            at += sign != "+"
    return "\n".join([*new, *old[at:]])
