"""How far lines are indented, and how a list goes on in the next line."""

import re
from typing import Literal

_INDENTED = re.compile(r"(?m)^(\t|  +)(?=\S)")
_ITEM = re.compile(r"(\s*)([-*+]|(\d{1,9})([.)]))(\s+)(\[[ xX]\]\s+)?")
_LOOKED_AT = 20_000
"""Characters at the start of a text from which is seen how it is indented."""


def indent_of(text: str, syntax: str) -> tuple[Literal["tabs", "spaces"], int]:
    """With what a text is indented, and how far: as it is already, else by two cells where lists are.

    Args:
        text: The whole text.
        syntax: As `syntax_of` has it.
    """
    found = [match.group(1) for match in _INDENTED.finditer(text[:_LOOKED_AT])]
    spaces = [len(each) for each in found if each != "\t"]
    if len(found) > 2 * len(spaces):
        return "tabs", 4
    if spaces:
        return "spaces", 2 if any(each % 4 for each in spaces) else 4
    return "spaces", 4 if syntax == "python" else 2


def dedent_of(line: str, width: int) -> int:
    """How many characters one level of indentation has at the start of a line."""
    if line.startswith("\t"):
        return 1
    return min(len(line) - len(line.lstrip(" ")), width)


def continued(before: str, *, in_list: bool) -> str:
    """What a line begins with that follows another.

    Args:
        before: The line before, as far as the cursor.
        in_list: Whether an item of a list is followed by another one.
    """
    item = _ITEM.match(before) if in_list else None
    if item is None:
        return before[: len(before) - len(before.lstrip(" \t"))]
    indent, sign, number, stop, gap, box = item.groups()
    sign = f"{int(number) + 1}{stop}" if number else sign
    return f"{indent}{sign}{gap}{'[ ] ' if box else ''}"


def is_bare_marker(line: str) -> bool:
    """Whether a line is an item of a list with nothing in it."""
    item = _ITEM.fullmatch(line)
    return item is not None
