"""Text in a note that whoever reads it elsewhere does not see."""

import re
from collections.abc import Iterator

from memtui.core.visible import HIDDEN, escape
from memtui.notes.kinds import format_of
from memtui.notes.plain import without_code
from memtui.notes.spots import Spot

_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_RENDERED = frozenset({"md", "txt"})
"""Formats in which whoever reads a note elsewhere does not see its comments."""


def hidden(text: str, path: str) -> Iterator[Spot]:
    """What is hidden in a text, by rule, not in order."""
    for found in HIDDEN.finditer(text):
        if not _is_usual(text, found):
            yield Spot("hidden", "character", *found.span(), f"a hidden character, {escape(found.group())}")
    if "<!--" in text and format_of(path) in _RENDERED:
        for found in _COMMENT.finditer(without_code(text)):
            yield Spot("hidden", "comment", found.start(), found.end(), "a comment that is not shown")


def _is_usual(text: str, found: re.Match[str]) -> bool:
    """Whether it belongs to how the file is kept: a line end of Windows, or the mark at the beginning."""
    if found.group() == "\r":
        return text[found.end() : found.end() + 1] == "\n"
    return found.group() == "\ufeff" and found.start() == 0
