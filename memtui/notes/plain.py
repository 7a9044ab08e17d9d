"""A note's text with its code blanked out: what stands in code is an example, neither a tag nor a link.

Every character keeps its place, so that whatever is found has the same line and column in the note itself.
"""

import re

_FENCE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n(?:.*\n)*?[ \t>]*(?P=fence)[`~]*[ \t]*$|(?:\n.*)*\Z)", re.MULTILINE
)
_SPAN = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?P<inside>[^\n]{0,2000}?[^`\n])(?P=ticks)(?!`)")
_NOT_LINE_END = re.compile(r"[^\n]")


def without_code(text: str) -> str:
    """The text with fenced blocks and code spans as spaces; each character keeps its place."""
    text = without_fences(text)
    if "`" in text:
        text = _SPAN.sub(_blank, text)
    return text


def without_fences(text: str) -> str:
    """The text with fenced blocks alone as spaces; each character keeps its place."""
    return _FENCE.sub(_blank, text) if "```" in text or "~~~" in text else text


def _blank(found: re.Match[str]) -> str:
    return _NOT_LINE_END.sub(" ", found.group())
