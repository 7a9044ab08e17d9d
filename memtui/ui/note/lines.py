"""What a note is drawn from: rows of styled spans that fit the width, and how text is made to fit.

Nothing here knows Markdown, a file or a widget. A span names its style by role ("strong code"); the view
alone turns roles into colours, so that one row serves every theme.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rich.cells import cell_len

from memtui.core.visible import HIDDEN, escape

TAB = 4


class Span(NamedTuple):
    """A run of text in one style."""

    text: str
    """Printable text: no control, tab or line feed."""
    style: str
    """Names of roles, separated by spaces; later ones win. Empty for plain text."""
    line: int = 0
    """Number of the source line that it came from, counted from 0."""


Spans = Sequence[Span]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the screen."""

    spans: tuple[Span, ...]
    first: int
    """First source line shown in this row, counted from 0."""
    last: int
    """Last source line shown in this row."""
    fill: str = ""
    """Role that fills the rest of the row up to the text width."""
    join: str = "\n"
    """What stands between the row above and this one when both are copied."""
    number: bool = False
    """Whether this row is the first one of its source line, and so carries its number."""

    @property
    def text(self) -> str:
        """The row as plain text, as it is searched and copied."""
        return "".join(span.text for span in self.spans)

    def copied(self, start: int, end: int) -> str:
        """What is copied of the row between two characters: not what we drew beside the text.

        Args:
            start: The first character.
            end: Behind the last one.
        """
        dropped = _DRAWN if self.join == "\n" else _DRAWN_AGAIN
        parts: list[str] = []
        at = 0
        for text, style, _ in self.spans:
            if style not in dropped:
                parts.append(text[max(0, start - at) : max(0, end - at)])
            at += len(text)
        return "".join(parts)


RULER = "ruler"
"""The role of a line across the note that is no part of it."""
_DRAWN = frozenset({"mark", "panel mark", "panel edge", RULER})
_DRAWN_AGAIN = _DRAWN | {"indent", "quote-bar"}


def blank(line: int) -> Row:
    """An empty row after source line `line`."""
    return Row((), line, line)


def clean(text: str, style: str = "", line: int = 0) -> list[Span]:
    """Text from outside as spans: tabs become spaces and hidden characters warning-styled escapes.

    Args:
        text: Any text; a line feed is shown as an escape too, so split into lines first.
        style: Roles for what is not hidden.
        line: Source line, counted from 0.
    """
    if "\t" in text:
        text = text.expandtabs(TAB)
    if "\n" in text:
        text = text.replace("\n", " ")
    spans = []
    at = 0
    for match in HIDDEN.finditer(text):
        if match.start() > at:
            spans.append(Span(text[at : match.start()], style, line))
        spans.append(Span(escape(match.group()), f"{style} hidden".lstrip(), line))
        at = match.end()
    if at < len(text):
        spans.append(Span(text[at:] if at else text, style, line))
    return spans


def width_of(spans: Iterable[Span]) -> int:
    """Cells that the spans fill."""
    return sum(cell_len(span.text) for span in spans)


_WORDS = re.compile(r"[^ ]+ *| +")


def wrap(spans: Spans, width: int) -> list[list[Span]]:
    """The spans broken after spaces into rows of at most `width` cells; a longer word is broken anywhere.

    Nothing is dropped: spaces at a break stay at the end of their row, beyond the width if need be (they are
    cut when the row is drawn), so that the rows joined are the text again.

    Args:
        spans: One paragraph.
        width: Cells, at least 1.
    """
    width = max(1, width)
    if width_of(spans) <= width:
        return [list(spans)]
    rows: list[list[Span]] = [[]]
    used = 0
    for word in _words(spans):
        cells = width_of(word)
        solid = cells - _trailing(word)
        if used + solid <= width:
            rows[-1] += word
            used += cells
        elif solid <= width:
            rows.append(word)
            used = cells
        else:
            if used > width * 3 // 4:
                rows.append([])
                used = 0
            head, *rest = chop(word, width - used, width)
            rows[-1] += head
            rows += rest
            used = width_of(rows[-1])
    return rows


def chop(spans: Spans, first: int, width: int) -> list[list[Span]]:
    """The spans cut wherever a row is full, as code is: `first` cells in the first row, `width` in others."""
    rows: list[list[Span]] = [[]]
    room = first
    for whole, style, line in spans:
        text = whole
        while text:
            head = _head(text, room) or (text[:1] if not rows[-1] and room == width else "")
            if head:
                rows[-1].append(Span(head, style, line))
                text = text[len(head) :]
                room -= cell_len(head)
            if text:
                rows.append([])
                room = width
    return rows


def _words(spans: Spans) -> Iterable[list[Span]]:
    """Each word with the spaces after it; a word may run over several spans."""
    word: list[Span] = []
    for text, style, line in spans:
        for piece in _WORDS.findall(text):
            if word and word[-1].text[-1] == " " and piece[0] != " ":
                yield word
                word = []
            word.append(Span(piece, style, line))
    if word:
        yield word


def _trailing(word: Spans) -> int:
    spaces = 0
    for span in reversed(word):
        solid = span.text.rstrip(" ")
        spaces += len(span.text) - len(solid)
        if solid:
            break
    return spaces


def _head(text: str, room: int) -> str:
    """The longest start of the text that fits into `room` cells."""
    if text.isascii():
        return text[: max(0, room)]
    size = min(len(text), max(0, room))
    while size and (over := cell_len(text[:size]) - room) > 0:
        size -= (over + 1) // 2
    while size < len(text) and size and (text[size] in _ATTACHED or cell_len(text[: size + 1]) <= room):
        size += 1
    return text[:size]


_ATTACHED = "\u200c\u200d\ufe0e\ufe0f"


def merge(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Neighbours of the same style as one span, so that a row is a handful of segments."""
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].style == span.style:
            merged[-1] = merged[-1]._replace(text=merged[-1].text + span.text)
        elif span.text:
            merged.append(span)
    return tuple(merged)


def prose(spans: Spans, width: int, line: int, *, number: bool = False) -> list[Row]:
    """A paragraph as rows, broken between words.

    Args:
        spans: Its text.
        width: Cells.
        line: Source line of an empty paragraph.
        number: Whether the first row carries the number of its line.
    """
    return _rows(wrap(spans, width), line, "", number)


def code(
    spans: Spans, width: int, line: int, *, fill: str = "", number: bool = False, words: bool = False
) -> list[Row]:
    """A line of code as rows; continued rows begin with a mark.

    Args:
        spans: The line.
        width: Cells.
        line: Its number.
        fill: Role that fills the rows.
        number: Whether the first row carries the number of the line.
        words: Whether to break between words, not wherever a row is full.
    """
    width = max(len(CONTINUED) + 1, width)
    if width_of(spans) <= width:
        return _rows([list(spans)], line, fill, number)
    rest = width - len(CONTINUED)
    first, *others = wrap(spans, rest) if words else chop(spans, width, rest)
    mark = Span(CONTINUED, f"{fill} mark".lstrip(), line)
    return _rows([first, *([mark, *row] for row in others)], line, fill, number)


CONTINUED = "» "
"""Stands before each continued row of code; it is not copied."""


def _rows(parts: list[list[Span]], line: int, fill: str, number: bool) -> list[Row]:
    return [
        Row(
            merge(part),
            part[0].line if part else line,
            part[-1].line if part else line,
            fill,
            "" if index else "\n",
            number and not index,
        )
        for index, part in enumerate(parts)
    ]


def indent(row: Row, prefix: Iterable[Span]) -> Row:
    """The row with spans before it."""
    return replace(row, spans=merge([*prefix, *row.spans]))
