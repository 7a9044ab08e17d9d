"""The sections of a Markdown note: where each of its headings stands, and the same text with other levels of headings.

Headings in lists and quotations divide no note, and what looks like one in code is none.
"""

import re
from collections.abc import Iterator, Sequence

from memtui.core.lazy_dataclass import dataclass
from memtui.notes.front_matter import find_front_matter_end
from memtui.notes.inline_blocks import find_inline_blocks

DEEPEST = 6
"""The lowest level that a heading can have."""
_HASHES = re.compile(r"( {0,3})#{1,6}")
_LEAST_UNDERLINE = 3
_WIKI = re.compile(r"!?\[\[([^\[\]|]{1,400})(?:\|([^\[\]]{0,400}))?\]\]")
_INLINE = re.compile(r"!?\[([^\[\]]{0,400})\](?:\([^()]{0,2000}\)|\[[^\[\]]{0,400}\])")
_EMPHASIS = re.compile(r"[*~`]+|(?<!\w)_+|_+(?!\w)|\\(?=[!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class SectionHeading:
    """A heading that begins a section.

    Attributes:
        line: Its first line, from 1.
        last_line: Its last line; the underline, if it has one.
        level: 1 to 6.
        text: Its words as they are written, in one line.
        is_underlined: Whether `===` or `---` stands below it.
    """

    line: int
    last_line: int
    level: int
    text: str
    is_underlined: bool


@dataclass(frozen=True, slots=True)
class MovedLine:
    """A line of a text, and the lines of a note from which it comes.

    Attributes:
        text: Without the line feed.
        first: From 1; 0 if it comes from no note.
        last: The last one, where several became one; else the same.
    """

    text: str
    first: int = 0
    last: int = 0


def find_section_headings(text: str) -> list[SectionHeading]:
    """The headings of a note that are in no list and no quotation, in order."""
    lines = text.split("\n")
    found: list[SectionHeading] = []
    for block in find_inline_blocks(text, find_front_matter_end(text)):
        if not block.level or block.is_item or block.is_quoted:
            continue
        line, column = block.places[0]
        is_underlined = "#" not in lines[line - 1][:column]
        last = block.places[-1][0] + is_underlined
        found.append(SectionHeading(line, last, block.level, " ".join(block.text.split()), is_underlined))
    return found


def strip_markup(text: str) -> str:
    """The words of a heading without links, code and emphasis around them."""
    plain = _WIKI.sub(lambda found: found[2] or found[1], text)
    return " ".join(_EMPHASIS.sub("", _INLINE.sub(lambda found: found[1], plain)).split())


def shift_headings(
    lines: Sequence[str], headings: Sequence[SectionHeading], levels: int, *, first: int, last: int
) -> Iterator[MovedLine]:
    """Some lines of a note with its headings deeper, or higher, by some levels.

    Args:
        lines: All lines of the note.
        headings: All its headings.
        levels: How much deeper; higher, if it is below 0. None is higher than 1 or deeper than 6.
        first: The first line, from 1.
        last: The last line.
    """
    by_line = {heading.line: heading for heading in headings} if levels else {}
    number = first
    while number <= last:
        heading = by_line.get(number)
        if heading is None:
            yield MovedLine(lines[number - 1], number, number)
            number += 1
            continue
        level = min(max(heading.level + levels, 1), DEEPEST)
        yield from _write_heading(lines, heading, level)
        number = heading.last_line + 1


def _write_heading(lines: Sequence[str], heading: SectionHeading, level: int) -> Iterator[MovedLine]:
    if not heading.is_underlined:
        written = _HASHES.sub(lambda found: found[1] + "#" * level, lines[heading.line - 1], count=1)
        yield MovedLine(written, heading.line, heading.line)
        return
    end = "\r" if lines[heading.line - 1].endswith("\r") else ""
    if level > 2:
        yield MovedLine(f"{'#' * level} {heading.text}{end}", heading.line, heading.last_line)
        return
    for number in range(heading.line, heading.last_line):
        yield MovedLine(lines[number - 1], number, number)
    length = max(len(lines[heading.last_line - 1].strip()), _LEAST_UNDERLINE)
    yield MovedLine("=-"[level - 1] * length + end, heading.last_line, heading.last_line)
