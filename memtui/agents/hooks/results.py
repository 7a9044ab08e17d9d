"""The exact text that a file will hold once Claude Code's own tool has written it.

The rules are those of its tools as they behave (Claude Code 2.1): `Edit` works on lines that end with LF and gives a
file back the ends that it had; a deletion takes the end of its line along; an empty `old_string` makes a file.
"""

from collections.abc import Mapping

_CRLF_IN = 4_096
"""Characters by which the ends of lines are told."""


def results(tool: str, given: Mapping[str, object], before: bytes | None) -> tuple[bytes, ...]:
    """What a file may hold afterwards, the likeliest first; empty where the tool would refuse, or it cannot be known.

    Args:
        tool: `Write`, `Edit` or `MultiEdit`.
        given: The tool's input.
        before: What the file holds; `None` where there is none.
    """
    try:
        if tool == "Write":
            content = given.get("content")
            return _with_both_ends(content, before) if isinstance(content, str) else ()
        edits = given.get("edits") if tool == "MultiEdit" else [given]
        if not isinstance(edits, list) or not edits:
            return ()
        text = (before or b"").decode("utf-8")
        is_crlf = _is_crlf(text)
        lines = text.replace("\r\n", "\n")
        for edit in edits:
            changed = _edited(lines, edit, is_there=before is not None) if isinstance(edit, dict) else None
            if changed is None:
                return ()
            lines = changed
        return ((lines.replace("\n", "\r\n") if is_crlf else lines).encode("utf-8"),)
    except UnicodeError:
        return ()


def _with_both_ends(content: str, before: bytes | None) -> tuple[bytes, ...]:
    """As it is; and with the ends of lines that the file had, as some versions write it."""
    plain = content.encode("utf-8")
    if before is None or b"\r\n" not in before:
        return (plain,)
    return plain, content.replace("\r\n", "\n").replace("\n", "\r\n").encode("utf-8")


def _edited(text: str, edit: Mapping[str, object], *, is_there: bool) -> str | None:
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


def _is_crlf(text: str) -> bool:
    start = text[:_CRLF_IN]
    ends = start.count("\r\n")
    return ends > start.count("\n") - ends
