"""Rows of styled spans that fit a width, and how text is wrapped into them.

A span names its style by role ("strong code"); only the view turns roles into colours, so a row serves every theme.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from rich.cells import cell_len

from memtui.core.lazy_dataclass import dataclass
from memtui.core.lazy_regex import compile_lazily
from memtui.core.unicode import HIDDEN, escape_character

TAB = 4


class TextSpan(NamedTuple):
    """A run of text in one style.

    Attributes:
        text: Printable text: no control, tab or line feed.
        style: Names of roles, separated by spaces; later ones win.
        line: The source line that it came from, counted from 0.
    """

    text: str
    style: str
    line: int = 0


Spans = Sequence[TextSpan]


@dataclass(frozen=True, slots=True)
class MarkdownRow:
    """One row of the screen.

    Attributes:
        first: First source line shown in this row, counted from 0.
        last: Last source line shown in this row.
        fill: Role that fills the rest of the row up to the text width.
        join: The text between the row above and this one when both are copied.
        number: Whether this row is the first one of its source line, and so carries its number.
    """

    spans: tuple[TextSpan, ...]
    first: int
    last: int
    fill: str = ""
    join: str = "\n"
    number: bool = False

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)

    def get_copy_text(self, start: int, end: int) -> str:
        """The text of the row from one character to another, without what is drawn beside it."""
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


def make_blank_row(line: int) -> MarkdownRow:
    return MarkdownRow((), line, line)


def sanitize_text(text: str, style: str = "", line: int = 0) -> list[TextSpan]:
    """Text from outside as spans: tabs become spaces and hidden characters warning-styled escapes.

    Args:
        text: One line; a line feed is shown as a space.
        style: Roles of the visible text.
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
            spans.append(TextSpan(text[at : match.start()], style, line))
        spans.append(TextSpan(escape_character(match.group()), f"{style} hidden".lstrip(), line))
        at = match.end()
    if at < len(text):
        spans.append(TextSpan(text[at:] if at else text, style, line))
    return spans


def measure_spans(spans: Iterable[TextSpan]) -> int:
    return sum(cell_len(span.text) for span in spans)


_WORDS = compile_lazily(r"[^ ]+ *| +")


def wrap_spans(spans: Spans, width: int) -> list[list[TextSpan]]:
    """The spans broken after spaces into rows of at most `width` cells (at least 1); a longer word is broken anywhere.

    Nothing is dropped: spaces at a break stay at the end of their row, beyond the width if need be (they are cut when
    the row is drawn), so that the rows joined are the text again.
    """
    width = max(1, width)
    if measure_spans(spans) <= width:
        return [list(spans)]
    rows: list[list[TextSpan]] = [[]]
    used = 0
    for word in _iter_words(spans):
        cells = measure_spans(word)
        solid = cells - _count_trailing_spaces(word)
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
            head, *rest = chop_spans(word, width - used, width)
            rows[-1] += head
            rows += rest
            used = measure_spans(rows[-1])
    return rows


def chop_spans(spans: Spans, first: int, width: int) -> list[list[TextSpan]]:
    """The spans cut wherever a row is full, as code is: `first` cells in the first row, `width` in others."""
    rows: list[list[TextSpan]] = [[]]
    room = first
    for whole, style, line in spans:
        text = whole
        while text:
            head = _fit_head(text, room) or (text[:1] if not rows[-1] and room == width else "")
            if head:
                rows[-1].append(TextSpan(head, style, line))
                text = text[len(head) :]
                room -= cell_len(head)
            if text:
                rows.append([])
                room = width
    return rows


def _iter_words(spans: Spans) -> Iterable[list[TextSpan]]:
    """Each word with the spaces after it; a word may run over several spans."""
    word: list[TextSpan] = []
    for text, style, line in spans:
        for piece in _WORDS.findall(text):
            if word and word[-1].text[-1] == " " and piece[0] != " ":
                yield word
                word = []
            word.append(TextSpan(piece, style, line))
    if word:
        yield word


def _count_trailing_spaces(word: Spans) -> int:
    spaces = 0
    for span in reversed(word):
        solid = span.text.rstrip(" ")
        spaces += len(span.text) - len(solid)
        if solid:
            break
    return spaces


def _fit_head(text: str, room: int) -> str:
    """The longest start of a text that fits into `room` cells."""
    if text.isascii():
        return text[: max(0, room)]
    size = min(len(text), max(0, room))
    while size and (over := cell_len(text[:size]) - room) > 0:
        size -= (over + 1) // 2
    while size < len(text) and size and (text[size] in ATTACHED or cell_len(text[: size + 1]) <= room):
        size += 1
    return text[:size]


ATTACHED = "\u200c\u200d\ufe0e\ufe0f"
"""Joiners and variation selectors, which belong to the character before them."""


def merge_spans(spans: Iterable[TextSpan]) -> tuple[TextSpan, ...]:
    """The spans with neighbours of the same style joined, so that a row is a handful of segments."""
    merged: list[TextSpan] = []
    for span in spans:
        if merged and merged[-1].style == span.style:
            merged[-1] = merged[-1]._replace(text=merged[-1].text + span.text)
        elif span.text:
            merged.append(span)
    return tuple(merged)


def wrap_prose(spans: Spans, width: int, line: int, *, number: bool = False) -> list[MarkdownRow]:
    """A paragraph as rows, broken between words.

    Args:
        line: Source line of an empty paragraph.
        number: Whether the first row carries the number of its line.
    """
    return _build_rows(wrap_spans(spans, width), line, "", number)


def wrap_code(
    spans: Spans, width: int, line: int, *, fill: str = "", number: bool = False, words: bool = False
) -> list[MarkdownRow]:
    """A line of code as rows; continued rows begin with a mark.

    Args:
        line: Its source line.
        fill: Role that fills the rows.
        number: Whether the first row carries the number of the line.
        words: Whether to break between words, not wherever a row is full.
    """
    width = max(len(CONTINUED) + 1, width)
    if measure_spans(spans) <= width:
        return _build_rows([list(spans)], line, fill, number)
    rest = width - len(CONTINUED)
    first, *others = wrap_spans(spans, rest) if words else chop_spans(spans, width, rest)
    mark = TextSpan(CONTINUED, f"{fill} mark".lstrip(), line)
    return _build_rows([first, *([mark, *row] for row in others)], line, fill, number)


CONTINUED = "» "
"""The mark before each continued row of code; it is not copied."""


def _build_rows(parts: list[list[TextSpan]], line: int, fill: str, number: bool) -> list[MarkdownRow]:
    return [
        MarkdownRow(
            merge_spans(part),
            part[0].line if part else line,
            part[-1].line if part else line,
            fill,
            "" if index else "\n",
            number and not index,
        )
        for index, part in enumerate(parts)
    ]


def indent_row(row: MarkdownRow, prefix: Iterable[TextSpan]) -> MarkdownRow:
    return replace(row, spans=merge_spans([*prefix, *row.spans]))


_BY_EXTENSION = {
    "md": "markdown", "markdown": "markdown", "mdx": "markdown", "mdc": "markdown",
    "json": "json", "jsonl": "json", "jsonc": "json", "ndjson": "json",
    "xml": "xml", "svg": "xml", "html": "html", "htm": "html", "xhtml": "xml",
    "yaml": "yaml", "yml": "yaml", "toml": "toml", "ini": "ini", "cfg": "ini",
    "py": "python", "pyi": "python", "js": "javascript", "ts": "typescript", "css": "css", "sql": "sql",
    "sh": "bash", "bash": "bash", "zsh": "bash", "go": "go", "rs": "rust", "java": "java", "c": "c", "h": "c",
    "cpp": "cpp", "rb": "ruby", "lua": "lua", "diff": "diff", "patch": "diff",
    "log": "text", "csv": "text", "tsv": "text",
}  # fmt: skip

_MARKDOWN = compile_lazily(
    r"(?m)^(?:#{1,6} \S|```|[-*] \[[ xX]\] |[-*+] \S.*\n[-*+] \S|\|[ \t]*:?-+)|\]\([^\s()]++[()]|\*\*\S"
)
_XML = compile_lazily(r"\s*+<(?:\?xml\b|!DOCTYPE\b|([A-Za-z_][\w.-]*+)[^<>]*+>)")
_LOOKED_AT = 8192
"""Characters at the start of a note from which its syntax is guessed."""


def detect_syntax(name: str, text: str) -> str:
    """The syntax of a note for `NoteView.show`, by its name, else by the start of its text."""
    _, dot, extension = name.rpartition("/")[2].rpartition(".")
    known = _BY_EXTENSION.get(extension.lower()) if dot else None
    return known or _detect_by_text(text[:_LOOKED_AT], text[-200:])


def _detect_by_text(head: str, tail: str) -> str:
    start, end = head.lstrip()[:1], tail.rstrip()[-1:]
    if (start, end) in (("{", "}"), ("[", "]")) and re.match(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\d\]tfn-])", head):
        return "json"
    if (match := _XML.match(head)) and end == ">" and (match[1] is None or f"</{match[1]}>" in tail):
        return "xml"
    if head.startswith("#!"):
        first = head.partition("\n")[0]
        return "python" if "python" in first else "bash" if "sh" in first else "text"
    if head.startswith("---\n") or _MARKDOWN.search(head):
        return "markdown"
    return "text"
