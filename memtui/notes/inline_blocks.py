"""The runs of inline text in a Markdown note: headings and paragraphs, and whether each is in a list or a quotation.

A line alone does not tell what it is: text goes on in the next line, a list item may be in a quotation, four spaces may
be code. This follows CommonMark 0.31 from line to line, without looking back, so its time grows with the length of the
text. Tables are paragraphs.
"""

import re
from typing import NamedTuple

_FENCE = re.compile(r"(`{3,})[^`]*\Z|(~{3,}).*\Z")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*))?\Z")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*\Z")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*\Z")
_MARKER = re.compile(r"(?:[-+*]|([0-9]{1,9})[.)])(?=[ \t]|\Z)")
_DEFINITION = re.compile(
    r"\[(?:[^\[\]\\]|\\.)+\]:[ \t]*(?:[^\s()]|\([^\s()]*\))+[ \t]*+(?:(?:\"[^\"]*\"|'[^']*'|\([^()]*\))[ \t]*+)?\Z"
)
_BLOCK_TAGS = """
address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset
figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu
menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul
"""
_HTML = (
    (re.compile(r"<(?:script|pre|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE),
     re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)),
    (re.compile("<!--"), re.compile("-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{'|'.join(_BLOCK_TAGS.split())})(?=\s|/?>|\Z)", re.IGNORECASE), None),
)  # fmt: skip
"""What begins a block of HTML, and what ends it; `None` for a blank line."""
_TAG = re.compile(
    r"(?:<[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w:.-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)*\s*/?>"
    r"|</[A-Za-z][A-Za-z0-9-]*\s*>)\s*\Z"
)
_LONGEST_TAG = 1_000  # characters of a line that may be a tag alone
_DEEPEST = 100  # containers within each other; what is nested more deeply is text


class InlineBlock(NamedTuple):
    """A heading or a paragraph.

    Attributes:
        text: Its lines, without what indents or marks them.
        places: Of each line its number, from 1, and the column in characters, from 0, at which its text begins.
        level: 1 to 6 for a heading; 0 for a paragraph.
        is_item: Whether it is text of a list item.
        is_quoted: Whether it is in a quotation.
    """

    text: str
    places: tuple[tuple[int, int], ...]
    level: int
    is_item: bool
    is_quoted: bool

    def locate(self, at: int) -> tuple[int, int]:
        """The line, from 1, and the column, from 0, of a character of the text."""
        number = self.text.count("\n", 0, at)
        line, column = self.places[number]
        return line, column + at - (self.text.rfind("\n", 0, at) + 1)


def find_inline_blocks(text: str, start: int = 0) -> list[InlineBlock]:
    """The headings and paragraphs of a note, in order.

    Args:
        start: Where its body begins, in characters.
    """
    scanner = _BlockScanner()
    first = text.count("\n", 0, start) + 1
    for number, line in enumerate(text[start:].split("\n"), first):
        scanner.add_line(number, line[:-1] if line.endswith("\r") else line)
    scanner.close_paragraph()
    return scanner.found


class _Container(NamedTuple):
    """A quotation, or a list item whose text begins at a column; -1 for a quotation."""

    column: int


_QUOTE = _Container(-1)
_PLAIN_ITEM = _Container(2)


class _BlockScanner:
    """What is open at the end of a line."""

    def __init__(self) -> None:
        self.found: list[InlineBlock] = []
        self._containers: list[_Container] = []
        self._quotes = 0
        self._is_item = False
        self._fence = ""
        self._html: re.Pattern[str] | None = None
        self._is_html = False
        self._is_item_empty = False
        self._lines: list[str] = []
        self._places: list[tuple[int, int]] = []

    def add_line(self, number: int, line: str) -> None:
        if not (self._fence or self._is_html) and self._add_plain_line(number, line):
            return
        at = column = base = matched = 0
        for container in self._containers:
            at, column = _skip_blanks(line, at, column)
            if container is not _QUOTE:
                if at < len(line) and column < container.column:
                    break
                base = container.column if at < len(line) else base
            else:
                if not line.startswith(">", at) or column - base > 3:
                    break
                at, column, base = _skip_quote_mark(line, at, column)
            matched += 1
        at, column = _skip_blanks(line, at, column)
        is_inside = matched == len(self._containers)
        if self._fence or self._is_html:
            if is_inside:
                self._go_on_in_block(line, at, column - base)
                return
            self._fence, self._is_html = "", False
        is_item_empty, self._is_item_empty = self._is_item_empty, False
        if at == len(line):
            self.close_paragraph()
            self._close_quotes(matched)
            if is_item_empty and matched == len(self._containers):
                self._close_containers(matched - 1)  # an item begins with one blank line at most
            return
        if not is_inside:
            if self._lines and not self._interrupts(line, at, column - base, is_outside=True):
                self._add_text(number, line, at)
                return
            self.close_paragraph()
            self._close_containers(matched)
        self._open_blocks(number, line, at, column, base)

    def _add_plain_line(self, number: int, line: str) -> bool:
        """A blank line, one of a paragraph, or an item of a plain list: what most lines are. Others are left."""
        containers = self._containers
        if not line and not self._quotes and not self._is_item_empty:
            self.close_paragraph()
            return True
        if not containers and line[:1].isalpha():
            self._is_item_empty = False
            self._add_text(number, line, 0)
            return True
        is_item = line[1:2] == " " and line[0] in "-*+" and line[2:3].isalpha()
        if not is_item or len(containers) > 1 or _QUOTE in containers:
            return False
        self.close_paragraph()
        self._containers = [_PLAIN_ITEM]
        self._is_item, self._is_item_empty = True, False
        self._add_text(number, line, 2)
        return True

    def _open_blocks(self, number: int, line: str, at: int, column: int, base: int) -> None:
        """Open what begins in a line, and take the text that is left of it."""
        while at < len(line):
            if column - base > 3:
                if self._lines:
                    self._add_text(number, line, at)
                return  # code
            mark = line[at]
            rest = line[at:]
            if mark == ">" and len(self._containers) < _DEEPEST:
                self.close_paragraph()
                self._containers.append(_QUOTE)
                self._quotes += 1
                at, column, base = _skip_quote_mark(line, at, column)
            elif mark in "`~" and (fence := _FENCE.match(rest)) is not None:
                self.close_paragraph()
                self._fence = fence[1] or fence[2]
                return
            elif mark == "#" and (heading := _HEADING.match(rest)) is not None:
                self.close_paragraph()
                self._add_heading(number, at, heading)
                return
            elif self._lines and mark in "=-" and _UNDERLINE.match(rest):
                self.close_paragraph(1 if mark == "=" else 2)
                return
            elif mark in "*-_" and _RULE.match(rest):
                self.close_paragraph()
                return
            elif (
                mark in "-+*0123456789"
                and (item := _MARKER.match(rest)) is not None
                and len(self._containers) < _DEEPEST
                and (not self._lines or _may_interrupt(item, rest))
            ):
                self.close_paragraph()
                at, column, base = _measure_item(line, at + item.end(), column + item.end())
                self._containers.append(_Container(base))
                self._is_item = True
                self._is_item_empty = at == len(line) or not line[at:].strip(" \t")
            elif mark == "<" and self._open_html(rest):
                return
            else:
                if self._lines or not (mark == "[" and _DEFINITION.match(rest)):
                    self._add_text(number, line, at)
                return
            at, column = _skip_blanks(line, at, column)

    def _interrupts(self, line: str, at: int, indent: int, *, is_outside: bool) -> bool:
        """Whether a line ends the paragraph above it, in whose container it is not."""
        if indent > 3:
            return False
        rest = line[at:]
        mark = rest[0]
        if mark == ">" or (mark == "#" and _HEADING.match(rest)) or (mark in "*-_" and _RULE.match(rest)):
            return True
        if mark in "`~" and _FENCE.match(rest):
            return True
        if mark == "<":
            return any(begin.match(rest) for begin, _ in _HTML)
        item = _MARKER.match(rest)
        return item is not None and (is_outside or _may_interrupt(item, rest))

    def _go_on_in_block(self, line: str, at: int, indent: int) -> None:
        """A line of code or of HTML, which may be its last."""
        rest = line[at:]
        if self._fence:
            bare = rest.rstrip(" \t")
            if indent < 4 and len(bare) >= len(self._fence) and bare == self._fence[0] * len(bare):
                self._fence = ""
        elif not rest if self._html is None else self._html.search(rest):
            self._is_html = False

    def _open_html(self, rest: str) -> bool:
        for begin, end in _HTML:
            if begin.match(rest):
                self.close_paragraph()
                self._html, self._is_html = end, end is None or not end.search(rest)
                return True
        if not self._lines and len(rest) <= _LONGEST_TAG and _TAG.match(rest):
            self._html, self._is_html = None, True
            return True
        return False

    def _add_heading(self, number: int, at: int, heading: re.Match[str]) -> None:
        text = _CLOSING.sub("", heading[2] or "").strip()
        if text:
            places = ((number, at + heading.start(2)),)
            level = len(heading[1])
            self.found.append(InlineBlock(text, places, level, self._is_item, self._quotes > 0))

    def _add_text(self, number: int, line: str, at: int) -> None:
        self._lines.append(line[at:])
        self._places.append((number, at))

    def close_paragraph(self, level: int = 0) -> None:
        """End the paragraph, which is a heading of a level."""
        if self._lines:
            text = "\n".join(self._lines).rstrip()
            self.found.append(InlineBlock(text, tuple(self._places), level, self._is_item, self._quotes > 0))
            self._lines, self._places = [], []

    def _close_quotes(self, matched: int) -> None:
        """A blank line ends a quotation that it is not in."""
        for number in range(matched, len(self._containers)):
            if self._containers[number] is _QUOTE:
                self._close_containers(number)
                return

    def _close_containers(self, left: int) -> None:
        closed = self._containers[left:]
        quotes = sum(each is _QUOTE for each in closed)
        self._quotes -= quotes
        if len(closed) > quotes:
            self._is_item = False
        del self._containers[left:]


def _skip_blanks(line: str, at: int, column: int) -> tuple[int, int]:
    """The next character that is no blank, and its column."""
    while at < len(line) and line[at] in " \t":
        column = column + 1 if line[at] == " " else column + 4 - column % 4
        at += 1
    return at, column


def _skip_quote_mark(line: str, at: int, column: int) -> tuple[int, int, int]:
    """The position and the column behind `>`, and the column at which its text begins."""
    at, column = at + 1, column + 1
    if line[at : at + 1] in (" ", "\t"):
        is_space = line[at] == " "
        return at + is_space, column + is_space, column + 1  # a tab may be wider than the one column that it gives up
    return at, column, column


def _measure_item(line: str, at: int, column: int) -> tuple[int, int, int]:
    """The position and the column behind the marker of an item, and the column at which its text begins."""
    behind, wide = _skip_blanks(line, at, column)
    if behind == len(line) or wide - column > 4:
        return at, column, column + 1
    return behind, wide, wide


def _may_interrupt(item: re.Match[str], rest: str) -> bool:
    """Whether an item may begin within a paragraph: not one without text, nor one that counts from another number."""
    return item[1] in (None, "1") and bool(rest[item.end() :].strip())
