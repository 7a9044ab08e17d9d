"""Draw one chunk of a note as rows: Markdown as a reader expects it, with nothing left out.

An auditor must see what a browser would swallow: HTML and comments, definitions of links, cells beyond the
last column, blocks nested too deeply. They are all shown as they are written.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from memtui.ui.note.chunks import Chunk
from memtui.ui.note.code import coloured
from memtui.ui.note.inline import Inline
from memtui.ui.note.lines import Row, Span, blank, clean, code, indent, merge, prose, width_of
from memtui.ui.note.tables import SEPARATOR, Columns, body_rows, fit_columns, header_rows, longest_word

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

DEEP = re.compile(r"(?m)^(?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>)(?=[ \t>]|$)){12}|^[ \t]{48}[ \t]*(?:[-*+>]|\d{1,9}[.)])")
"""A line nested deeper than is worth drawing, and than the parser may recurse into."""
DEFINITION = re.compile(
    r"[ ]{0,3}\[([^\[\]\n]{1,300})\]:[ \t]*(<[^<>\n]*>|\S+)[ \t]*"
    r"(\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\))?[ \t]*$"
)
CELLS = 1200
"""Cells in one chunk of a table beyond which it is shown as it is written."""

DEFINITIONS = 500
"""Definitions of links that are looked up, at most; a link to another one is shown as it is written."""
SAMPLE = 400
"""Cells that the widths of a large table are measured by."""

Env = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """What the chunks of one note share."""

    width: int
    """Cells of the text."""
    references: Env = field(default_factory=dict)
    """Definitions of links by label, as markdown-it keeps them."""
    columns: Columns | None = None
    """Layout of the table that the chunk is a piece of."""


def render(source: str, chunk: Chunk, context: Context) -> list[Row]:
    """The rows of one chunk of Markdown.

    Args:
        source: The whole note.
        chunk: A chunk made by `split_markdown`.
        context: What it shares with the others.
    """
    text = source[chunk.start : chunk.end]
    match chunk.kind:
        case "front":
            rows = _front(text, chunk.line, context.width)
        case "fence":
            rows = _fence_piece(text, chunk, context.width)
        case "comment":
            rows = literal(text, chunk.line, context.width, "warning")
        case "long":
            rows = literal(text, chunk.line, context.width, "")
            if chunk.start and source[chunk.start - 1] != "\n":
                rows[0] = replace(rows[0], join="")
        case "table":
            rows = _table_piece(source, text, chunk, context)
        case _:
            rows = _markdown(text, chunk, context)
    if not rows:
        return [blank(chunk.line)]  # a chunk of empty lines: without a row, the screen would ask for all of them
    return [blank(chunk.line), *rows] if chunk.gap else rows


def literal(text: str, line: int, width: int, style: str) -> list[Row]:
    """Text as it is written, line by line."""
    rows: list[Row] = []
    for index, one in enumerate(text.removesuffix("\n").split("\n"), line):
        rows += prose(clean(one, style, index), width, index)
    return rows


def _markdown(text: str, chunk: Chunk, context: Context) -> list[Row]:
    if DEEP.search(text):
        return literal(text, chunk.line, context.width, "")
    lines = text.split("\n")
    tokens = parser().parse(text, {})
    if sum(token.type == "td_open" for token in tokens) > CELLS:
        return literal(text, chunk.line, context.width, "")
    painter = _Painter(lines, chunk.line, context)
    painter.paint(tokens, chunk.ordinal)
    return painter.rows


@lru_cache(1)
def parser() -> "MarkdownIt":
    """The block parser; what stands inside blocks is parsed by `inline`, on a budget."""
    # Deferred: 30 ms that a note of another kind, and the first paint, do not pay.
    from markdown_it import MarkdownIt

    md = MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable(["table", "strikethrough"])
    md.disable(["normalize", "inline", "text_join", "reference"])
    md.block.ruler.before("heading", "definition", _definition)
    return md


def _definition(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """A definition of a link stands as a block of its own, where CommonMark would drop it."""
    del end
    if silent or state.is_code_block(start):
        return False
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if not line.startswith("[") or not DEFINITION.match(line):
        return False
    token = state.push("definition", "", 0)
    token.content = line
    token.map = [start, start + 1]
    state.line = start + 1
    return True


def references(source: str, start: int = 0) -> dict[str, dict[str, str]]:
    """Definitions of links in the source, by normalised label; the first one of a label counts.

    Args:
        source: The whole note, however large: looked at with `str.find`.
        start: Offset of a line to begin at.
    """
    # Deferred with the parser.
    from markdown_it.common.utils import normalizeReference

    found: dict[str, dict[str, str]] = {}
    at = source.find("]:", start)
    while at >= 0 and len(found) < DEFINITIONS:
        begin = source.rfind("\n", max(0, at - 400), at) + 1
        end = source.find("\n", at)
        match = DEFINITION.match(source[begin : end if 0 <= end < at + 2000 else at + 2000])
        if match and (label := normalizeReference(match[1])) not in found:
            href = parser().normalizeLink(match[2].removeprefix("<").removesuffix(">"))
            if parser().validateLink(href):
                found[label] = {"href": href, "title": (match[3] or "")[1:-1]}
        at = source.find("]:", at + 2)
    return found


def columns_of(source: str, header: tuple[int, int], end: int, width: int, refs: Env) -> Columns:
    """The layout of a large table, from its header and a sample of its rows.

    Args:
        source: The whole note.
        header: Start and end of its header and delimiter.
        end: End of the table.
        width: Cells for the table.
        refs: Definitions of links.
    """
    lines = source[header[0] : header[1]].removesuffix("\n").split("\n")
    count = max(1, lines[-1].count("|") - 1)
    if count * (len(SEPARATOR) + 1) > width + len(SEPARATOR):
        return Columns((), (), width)
    step = max(1, (end - header[1]) // max(4, SAMPLE // count // 4))
    for at in range(header[1], end, step):
        begin = source.find("\n", at - 1, end) + 1
        lines += source[begin : min(end, begin + 800)].split("\n")[:4] if begin else []
    table = _read_table(parser().parse("\n".join(lines), {}), lines, 0, Inline(parser(), refs))
    return table.columns(width) if table else Columns((), (), width)


@dataclass(slots=True)
class _Table:
    header: list[list[Span]]
    aligns: list[str]
    rows: list[tuple[int, list[list[Span]]]]

    def columns(self, width: int) -> Columns:
        natural = [width_of(cell) for cell in self.header]
        words = [longest_word(_text(cell)) for cell in self.header]
        for _, cells in self.rows:
            for index, cell in enumerate(cells):
                natural[index] = max(natural[index], width_of(cell))
                words[index] = max(words[index], longest_word(_text(cell)))
        return fit_columns(natural, words, width, self.aligns)


def _text(spans: Iterable[Span]) -> str:
    return "".join(span.text for span in spans)


_ALIGN = {"text-align:right": "right", "text-align:center": "center"}


def _read_table(tokens: "Sequence[Token]", lines: Sequence[str], first: int, inline: Inline) -> _Table | None:
    """The first table among the tokens."""
    table = _Table([], [], [])
    cells: list[list[Span]] = []
    line = 0
    for token in tokens:
        match token.type:
            case "tr_open":
                cells = []
                line = (token.map or [0])[0]
            case "th_open":
                table.aligns.append(_ALIGN.get(str(token.attrGet("style")), "left"))
            case "inline":
                style = "table-header" if not table.header else ""
                parts = inline(token.content, first + line, style)
                cells.append([span for part in parts for span in part])
            case "thead_close":
                table.header = cells
            case "tr_close" if table.header and cells is not table.header:
                extra = _cells(lines[line])[len(table.header) :]
                if extra:
                    cells[-1] = cells[-1] + clean(" | " + " | ".join(extra), "warning", first + line)
                table.rows.append((first + line, cells))
            case "table_close":
                return table
    return None


_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")


def _cells(line: str) -> list[str]:
    line = line.strip()
    parts = _UNESCAPED_PIPE.split(line)
    if parts and not parts[0]:
        del parts[0]
    if parts and not parts[-1]:
        del parts[-1]
    return [part.strip() for part in parts]


def _table_rows(table: _Table, columns: Columns, line: int, *, header: bool) -> list[Row]:
    rows = header_rows(table.header, columns, line) if header else []
    for number, cells in table.rows:
        rows += body_rows(cells, columns, number, table.header)
    return rows


def _table_piece(source: str, text: str, chunk: Chunk, context: Context) -> list[Row]:
    before = "" if chunk.first else source[chunk.header[0] : chunk.header[1]]
    lines = (before + text).split("\n")
    first = chunk.line - before.count("\n")
    piece = "\n".join(lines)
    table = None
    if len(_UNESCAPED_PIPE.findall(piece)) < CELLS and max(map(len, lines)) <= 4000:
        table = _read_table(parser().parse(piece, {}), lines, first, Inline(parser(), context.references))
    if table is None:
        return literal(text, chunk.line, context.width, "")
    columns = context.columns or table.columns(context.width)
    return _table_rows(table, columns, chunk.line, header=chunk.first)


_MARKER = re.compile(r"[ ]{0,3}(?:`{3,}|~{3,})[ \t]*(.*)")


def _fence_piece(text: str, chunk: Chunk, width: int) -> list[Row]:
    lines = text.removesuffix("\n").split("\n")
    line = chunk.line
    info = ""
    if chunk.first:
        match = _MARKER.match(lines[0])
        info = match[1] if match else ""
        del lines[0]
        line += 1
    if chunk.last and lines and _MARKER.fullmatch(lines[-1]) and not lines[-1].strip("`~ \t"):
        del lines[-1]
    return panel("\n".join(lines) + "\n" if lines else "", info, chunk.language, line, width)


def panel(text: str, info: str, language: str, line: int, width: int) -> list[Row]:
    """Code on a panel, under the words that follow its marker.

    Args:
        text: The code.
        info: What stands after the marker of the fence; its first word is the language.
        language: The language.
        line: Source line of the first line of code.
        width: Cells.
    """
    rows: list[Row] = []
    edge = Span(" ", "panel edge", line)
    if info.strip():
        rows += [Row(merge([edge, *clean(info.strip(), "panel language", line - 1)]), line - 1, line - 1, "panel")]
    for index, spans in enumerate(coloured(text, language, line, "panel")):
        for row in code(spans, width - 2, line + index, fill="panel"):
            rows.append(indent(row, [edge]))
    return rows


_KEY = re.compile(r"([A-Za-z0-9_][^:#\n]{0,60}?)[ \t]*:(?:[ \t]+(.*)|$)")


def _front(text: str, line: int, width: int) -> list[Row]:
    """The properties of a note as two columns; what is not `key: value` stays as it is written."""
    entries: list[tuple[str, str, int]] = []
    for number, one in enumerate(text.removesuffix("\n").split("\n")[1:-1], line + 1):
        match = _KEY.fullmatch(one)
        entries.append((match[1], match[2] or "", number) if match else ("", one, number))
    left = min(24, max((cell_len(key) for key, _, _ in entries), default=0))
    rows: list[Row] = []
    for key, value, number in entries:
        name = clean(key, "key", number)
        gap = [Span(" " * max(2, left + 2 - width_of(name)), "", number)]
        for index, row in enumerate(prose(clean(value, "", number), width - left - 2, number)):
            rows.append(indent(row, [*name, *gap] if not index else [Span(" " * (left + 2), "", number)]))
    rows.append(
        Row(
            (Span("─" * width, "rule", line + len(entries) + 1),),
            line + len(entries) + 1,
            line + len(entries) + 1,
        )
    )
    return rows


class _Painter:
    """Walks over block tokens and writes rows."""

    def __init__(self, lines: Sequence[str], first: int, context: Context) -> None:
        self.rows: list[Row] = []
        self._lines = lines
        self._first = first
        self._inline = Inline(parser(), context.references)
        self._width = context.width
        self._prefix: list[tuple[Span, ...]] = []
        self._marker: tuple[Span, ...] | None = None

    def paint(self, tokens: "Sequence[Token]", ordinal: int) -> None:
        """Paint all blocks.

        Args:
            tokens: Tokens of the block parser.
            ordinal: Number of the first item, of a list that began in another chunk; else 0.
        """
        index = 0
        numbers: list[int | None] = []
        previous: int | None = None  # last source line of the block painted before
        previous_type = ""
        while index < len(tokens):
            token = tokens[index]
            kind = token.type
            begin, end = token.map or [previous or 0, previous or 0]
            if kind.endswith("_close"):
                match kind:
                    case "list_item_close":
                        self._flush_marker(previous or 0)
                        self._prefix.pop()
                    case "blockquote_close":
                        self._flush_marker(previous or 0)
                        self._prefix.pop()
                    case "bullet_list_close" | "ordered_list_close":
                        numbers.pop()
                previous_type = kind
                index += 1
                continue
            if previous is not None and self._marker is None:
                self._gap(kind, previous_type, begin)
            match kind:
                case "bullet_list_open":
                    numbers.append(None)
                    previous_type, index = kind, index + 1
                    continue
                case "ordered_list_open":
                    number = token.attrGet("start")
                    numbers.append(ordinal or (1 if number is None else int(number)))
                    ordinal = 0
                    previous_type, index = kind, index + 1
                    continue
                case "list_item_open":
                    self._item(numbers, begin)
                    previous_type, index = kind, index + 1
                    previous = begin if previous is None else previous
                    continue
                case "blockquote_open":
                    self._flush_marker(begin)
                    self._prefix.append((Span("│ ", "quote-bar", self._first + begin),))
                    previous_type, index = kind, index + 1
                    continue
                case "table_open":
                    stop = self._skip(tokens, index, "table_close")
                    self._table(tokens[index : stop + 1], begin)
                    index = stop
                case "heading_open":
                    self._heading(token, tokens[index + 1], begin)
                    index += 2
                case "paragraph_open":
                    self._paragraph(tokens[index + 1], begin)
                    index += 2
                case "fence":
                    info = token.info
                    language = (info.split() or [""])[0]
                    self._put(panel(token.content, info, language, self._first + begin + 1, self._room()))
                case "code_block":
                    self._put(panel(token.content, "", "", self._first + begin, self._room()))
                case "hr":
                    rule = Span("─" * self._room(), "rule", self._first + begin)
                    self._put([Row((rule,), self._first + begin, self._first + begin)])
                case "html_block":
                    self._put(literal(token.content, self._first + begin, self._room(), "warning"))
                case "definition":
                    spans = clean(token.content, "target", self._first + begin)
                    self._put(prose(spans, self._room(), self._first + begin))
                case _:
                    raw = "\n".join(self._lines[begin:end]) if token.map else token.content
                    self._put(literal(raw, self._first + begin, self._room(), "warning"))
            previous = max(end, begin + 1)
            previous_type = kind
            index += 1

    def _room(self) -> int:
        return max(8, self._width - sum(width_of(prefix) for prefix in self._prefix))

    def _gap(self, kind: str, before: str, begin: int) -> None:
        """One empty row between blocks; between list items only where the source has one."""
        if before in ("blockquote_open", "list_item_open", "bullet_list_open", "ordered_list_open"):
            return
        if kind == "definition" == before:
            return
        line = self._first + begin
        tight = kind.endswith("_list_open") or kind == "list_item_open"
        if tight and (before.endswith("_list_close") or len(self._prefix) or kind == "list_item_open"):
            written = begin > 0 and not self._lines[begin - 1].strip(" \t>")
            if not written:
                return
        self._put([blank(line)])

    def _item(self, numbers: list[int | None], begin: int) -> None:
        """Open a list item; its marker is written before the first row of what it holds."""
        number = numbers[-1]
        text = "- " if number is None else f"{number}. "
        if number is not None:
            numbers[-1] = number + 1
        self._flush_marker(begin)
        self._marker = (Span(text, "marker", self._first + begin),)
        self._prefix.append((Span(" " * len(text), "indent", self._first + begin),))

    def _flush_marker(self, begin: int) -> None:
        """Write the marker of a list item that holds nothing, or begins with a container."""
        if self._marker is not None:
            self._put([blank(self._first + begin)])

    def _put(self, rows: Iterable[Row]) -> None:
        for row in rows:
            prefix = [span for part in self._prefix for span in part]
            if self._marker is not None:
                prefix = [span for part in self._prefix[:-1] for span in part] + list(self._marker)
                self._marker = None
            if not row.spans and not row.fill:
                while prefix and not prefix[-1].text.strip(" "):
                    prefix.pop()
            self.rows.append(replace(row, spans=merge([*prefix, *row.spans])) if prefix else row)

    def _skip(self, tokens: "Sequence[Token]", index: int, kind: str) -> int:
        return next(at for at in range(index, len(tokens)) if tokens[at].type == kind)

    def _table(self, tokens: "Sequence[Token]", begin: int) -> None:
        table = _read_table(tokens, self._lines, self._first, self._inline)
        if table is not None:
            columns = table.columns(self._room())
            self._put(_table_rows(table, columns, self._first + begin, header=True))

    def _heading(self, token: "Token", inside: "Token", begin: int) -> None:
        level = token.tag
        line = self._first + begin
        lines = self._inline(inside.content, line, level)
        rows = [row for spans in lines for row in prose(spans, self._room(), line)]
        self._put(rows)
        if level in ("h1", "h2"):
            length = min(self._room(), max((cell_len(row.text.rstrip()) for row in rows), default=0))
            rule = Span(("━" if level == "h1" else "─") * length, f"{level}-rule", line)
            self._put([Row((rule,), line, line)])

    def _paragraph(self, inside: "Token", begin: int) -> None:
        line = self._first + begin
        text = inside.content
        if self._marker is not None and text[:4] in ("[ ] ", "[x] ", "[X] "):
            done = text[1] != " "
            self._marker = (
                *self._marker,
                Span(f"[{'x' if done else ' '}] ", "done" if done else "todo", line),
            )
            self._prefix[-1] = (Span(" " * width_of(self._marker), "indent", line),)
            text = text[4:]
        for spans in self._inline(text, line):
            self._put(prose(spans, self._room(), line))
