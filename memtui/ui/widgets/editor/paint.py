"""The colours of a text that is edited, and how one of its rows is drawn."""

from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from memtui.core.lazy_dataclass import dataclass
from memtui.core.lazy_regex import compile_lazily
from memtui.ui.widgets.editor.text import TextDocument
from memtui.ui.widgets.editor.wrap import cell_to_column, column_to_cell, draw_columns, find_hidden, get_column_after

ROLES = (
    "heading", "strong", "emphasis", "code", "link", "marker", "quote", "rule", "key", "comment", "number", "hidden",
    "match", "current-match",
)  # fmt: skip
"""The roles of characters; each is a component class of the text area."""

SyntaxRun = tuple[int, int, str]
"""The first column, the one behind the last, and a role."""

_LONG = 2_000
"""Characters of a line that are coloured."""


class LineState(Enum):
    """The construct that a line is in."""

    TEXT = "text"
    FRONT = "front matter"
    BACKTICKS = "```"
    TILDES = "~~~"
    COMMENT = "<!--"


_FENCE = compile_lazily(r" {0,3}(?:[-*+] +|\d+[.)] +)?(```|~~~)")
_CLOSING = compile_lazily(r"\s*(?:```+|~~~+)\s*$")
_HEADING = compile_lazily(r" {0,3}#{1,6}(?:\s|$)")
_RULE = compile_lazily(r" {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+\s*)$")
_MARKER = compile_lazily(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s+\[[ xX]\])?(?=\s)")
_QUOTE = compile_lazily(r"\s*>+")
_PROPERTY = compile_lazily(r"\s*(?:- +)?[^\s:#][^:]{0,80}:(?=\s|$)")
_INLINE = compile_lazily(
    r"(?P<code>`[^`]{1,400}`)"
    r"|(?P<comment><!--(?:(?!-->).){0,1000}(?:-->)?)"
    r"|(?P<link>!?\[\[[^\]\[]{1,200}\]\]|!?\[[^\]\[]{0,200}\]\([^()\s]{0,500}\)|\bhttps?://[^\s<>]{1,500})"
    r"|(?P<strong>\*\*[^*\s][^*]{0,400}\*\*|__[^_\s][^_]{0,400}__)"
    r"|(?P<emphasis>(?<![\w*])\*[^*\s][^*]{0,400}\*(?![\w*])|(?<!\w)_[^_\s][^_]{0,400}_(?!\w))"
)
_JSON = compile_lazily(
    r'(?P<key>"(?:[^"\\]|\\.){0,400}"(?=\s*:))|(?P<code>"(?:[^"\\]|\\.){0,1000}")'
    r"|(?P<number>-?\b\d[\d.eE+-]{0,40}\b|\b(?:true|false|null)\b)"
)


class SyntaxHighlighter:
    """The colours of one text, line by line.

    Without a parser: a hostile note could hold one up, and a note is half-written most of the time. A line depends on
    those before it only as far as fences and front matter go, so a key costs one line.

    Args:
        lines: The text.
        syntax: `markdown` or `json`; anything else has no colours.
    """

    def __init__(self, lines: TextDocument, syntax: str) -> None:
        self._lines = lines
        self._syntax = syntax
        self._states: list[LineState] = []
        """The state at the start of each line, as far as it is known."""

    def get_runs(self, row: int) -> Sequence[SyntaxRun]:
        """The runs of a line, in the order in which they are laid over each other."""
        if self._syntax == "json":
            return _highlight_json(self._lines[row][:_LONG])
        if self._syntax != "markdown":
            return ()
        return _highlight_markdown(self._lines[row][:_LONG], self.get_state(row), row == 0)

    def get_state(self, row: int) -> LineState:
        """The state at the start of a line."""
        lines, states = self._lines.lines, self._states
        if self._lines.first_changed < len(states):
            del states[self._lines.first_changed + 1 :]
        self._lines.first_changed = len(lines)
        if not states:
            states.append(LineState.TEXT)
        for index in range(len(states) - 1, row):
            states.append(_advance_state(lines[index], states[index], index == 0))
        return states[row]


def _advance_state(line: str, state: LineState, is_first: bool) -> LineState:
    """The state of the next line."""
    match state:
        case LineState.TEXT:
            if is_first and line.rstrip() == "---":
                return LineState.FRONT
            if "```" in line or "~~~" in line:
                fence = _FENCE.match(line)
                if fence and fence.group(1) not in line[fence.end() :]:
                    return LineState(fence.group(1))
            opened = line.rfind("<!--")
            return LineState.COMMENT if opened >= 0 and line.find("-->", opened) < 0 else LineState.TEXT
        case LineState.FRONT:
            return LineState.TEXT if line.rstrip() in ("---", "...") else state
        case LineState.COMMENT:
            return LineState.TEXT if "-->" in line else state
        case _:
            closes = line.lstrip().startswith(state.value) and _CLOSING.match(line)
            return LineState.TEXT if closes else state


@lru_cache(maxsize=1_024)
def _highlight_markdown(line: str, state: LineState, is_first: bool) -> Sequence[SyntaxRun]:
    end = len(line)
    match state:
        case LineState.FRONT:
            if line.rstrip() in ("---", "..."):
                return ((0, end, "rule"),)
            if line.lstrip().startswith("#"):
                return ((0, end, "comment"),)
            key = _PROPERTY.match(line)
            return ((0, key.end(), "key"),) if key else ()
        case LineState.COMMENT:
            closed = line.find("-->")
            return ((0, end if closed < 0 else closed + 3, "comment"),)
        case LineState.BACKTICKS | LineState.TILDES:
            return ((0, end, "code"),)
    if _FENCE.match(line):
        return ((0, end, "code"),)
    if _RULE.match(line) or (is_first and line.rstrip() == "---"):
        return ((0, end, "rule"),)
    runs: list[SyntaxRun] = []
    if _HEADING.match(line):
        runs.append((0, end, "heading"))
    elif quote := _QUOTE.match(line):
        runs.append((0, end, "quote"))
        runs.append((quote.start(), quote.end(), "marker"))
    elif marker := _MARKER.match(line):
        runs.append((marker.start(), marker.end(), "marker"))
    return (*runs, *((each.start(), each.end(), each.lastgroup or "") for each in _INLINE.finditer(line)))


@lru_cache(maxsize=1_024)
def _highlight_json(line: str) -> Sequence[SyntaxRun]:
    return tuple((each.start(), each.end(), each.lastgroup or "") for each in _JSON.finditer(line))


@dataclass(frozen=True, slots=True)
class EditorStyles:
    """The styles of one theme."""

    base: Style
    cursor: Style
    cursor_line: Style
    selection: Style
    bracket: Style
    gutter: Style
    cursor_gutter: Style
    roles: dict[str, Style]


class MatchSpan(NamedTuple):
    """The columns of a match in a line."""

    start: int
    end: int
    is_current: bool


class RowContent(NamedTuple):
    """The input of a drawn row: two that are equal look the same.

    Attributes:
        line: The whole line.
        start: The first column in the row.
        end: The one behind its last.
        number: The number in the gutter; `None` for a row that continues a line.
        runs: The colours of the line.
        selected: The selected columns of the line.
        cursor: The column of the cursor, if it is in this row.
        bracket: The column of the other bracket of a pair.
        width: Cells of the row, without its gutter.
        gutter: Cells of the gutter; 0 for none.
        scrolled: Cells that are scrolled out at the left; `None` where lines are wrapped.
        tab: Cells from one tab stop to the next.
    """

    line: str
    start: int
    end: int
    number: int | None
    runs: Sequence[SyntaxRun]
    matches: tuple[MatchSpan, ...]
    selected: tuple[int, int] | None
    cursor: int | None
    bracket: int | None
    is_cursor_line: bool
    width: int
    gutter: int
    scrolled: int | None
    tab: int


def paint_row(row: RowContent, look: EditorStyles) -> Strip:
    line, tab = row.line, row.tab
    start, end, skipped = row.start, row.end, 0
    if row.scrolled is not None:
        start = cell_to_column(line, row.scrolled, tab)
        skipped = row.scrolled - column_to_cell(line, start, tab)
        end = min(cell_to_column(line, row.scrolled + row.width + 1, tab) + 1, len(line))
    base = look.base + look.cursor_line if row.is_cursor_line else look.base
    layers = _build_layers(row, look, start, end)
    points = {start, end}
    for first, last, _ in layers:
        points.update(point for point in (first, last) if start < point < end)
    segments: list[Segment] = []
    for left, right in pairwise(sorted(points)):
        style = base
        for first, last, layer in layers:
            if first <= left and right <= last:
                style += layer
        segments.append(Segment(draw_columns(line, left, right, tab), style))
    if end == len(line):
        # A cell behind the line: for the cursor, and so that an empty line that is selected can be seen.
        style = base
        if row.selected is not None and row.selected[0] <= len(line) < row.selected[1]:
            style += look.selection
        if row.cursor == len(line):
            style += look.cursor
        segments.append(Segment(" ", style))
    strip = Strip(segments).crop(skipped, skipped + row.width).adjust_cell_length(row.width, base)
    if not row.gutter:
        return strip
    words = f"{'' if row.number is None else row.number:>{row.gutter - 2}}  "
    style = look.cursor_gutter if row.is_cursor_line else look.gutter
    return Strip.join([Strip([Segment(words, look.base + style)]), strip])


def _build_layers(row: RowContent, look: EditorStyles, start: int, end: int) -> list[tuple[int, int, Style]]:
    """The styles of the row from one column to another, each over those before it."""
    layers = [(first, last, look.roles[role]) for first, last, role in row.runs if first < end and last > start]
    hidden = find_hidden(row.line, start, end, row.tab)
    layers += [(first, last, look.roles["hidden"]) for first, last in hidden]
    if row.selected is not None:
        layers.append((*row.selected, look.selection))
    layers += [
        (each.start, each.end, look.roles["current-match" if each.is_current else "match"]) for each in row.matches
    ]
    if row.bracket is not None:
        layers.append((row.bracket, row.bracket + 1, look.bracket))
    if row.cursor is not None:
        layers.append((row.cursor, get_column_after(row.line, row.cursor, row.tab), look.cursor))
    return layers
