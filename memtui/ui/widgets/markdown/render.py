"""One chunk of a note as rows: Markdown as a reader expects it, with nothing left out.

An auditor must see what a browser hides: HTML and comments, definitions of links, cells beyond the last column, blocks
nested too deeply. They are shown as they are written.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from memtui.core.lazy_dataclass import dataclass
from memtui.notes.spans import find_line_start
from memtui.ui.widgets.markdown.chunks import Chunk
from memtui.ui.widgets.markdown.inline import (
    SEPARATOR,
    InlineParser,
    TableColumns,
    fit_columns,
    highlight_code,
    measure_longest_word,
    render_body_rows,
    render_header_rows,
    tint_statement,
)
from memtui.ui.widgets.markdown.rows import (
    MarkdownRow,
    TextSpan,
    indent_row,
    make_blank_row,
    measure_spans,
    merge_spans,
    sanitize_text,
    wrap_code,
    wrap_prose,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token


DEEP = re.compile(r"(?m)^(?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>)(?=[ \t>]|$)){12}|^[ \t]{48}[ \t]*(?:[-*+>]|\d{1,9}[.)])")
"""A line nested deeper than the parser may recurse into."""
DEFINITION = re.compile(
    r"[ ]{0,3}\[([^\[\]\n]{1,300})\]:[ \t]*(<[^<>\n]*+>|\S++)[ \t]*+"
    r"(\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\))?[ \t]*+$"
)
CELLS = 1200
"""Cells in one chunk of a table beyond which it is shown as it is written."""

DEFINITIONS = 500
"""Definitions of links that are read, at most; a link to another one is shown as it is written."""
SAMPLE = 400
"""Cells from which the widths of a large table are measured."""

Env = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RenderContext:
    """The properties that the chunks of one note share.

    Attributes:
        width: Cells of the text.
        references: Definitions of links by label, as markdown-it keeps them.
        columns: Layout of the table that the chunk is a piece of.
    """

    width: int
    references: Env = field(default_factory=dict)
    columns: TableColumns | None = None


def render_chunk(source: str, chunk: Chunk, context: RenderContext) -> list[MarkdownRow]:
    """The rows of one chunk of a note, made by `split_markdown`."""
    text = source[chunk.start : chunk.end]
    match chunk.kind:
        case "front":
            rows = _render_front_matter(text, chunk.line, context.width)
        case "fence":
            rows = _render_fence_chunk(text, chunk, context.width)
        case "comment":
            rows = render_literal(text, chunk.line, context.width, "warning")
        case "long":
            rows = render_literal(text, chunk.line, context.width, "")
            if chunk.start and source[chunk.start - 1] != "\n":
                rows[0] = replace(rows[0], join="")
        case "table":
            rows = _render_table_chunk(source, text, chunk, context)
        case _:
            rows = _render_markdown(text, chunk, context)
    if not rows:  # a chunk of empty lines: without a row, the screen would ask for all of them
        return [make_blank_row(chunk.line)]
    return [make_blank_row(chunk.line), *rows] if chunk.gap else rows


def render_literal(text: str, line: int, width: int, style: str) -> list[MarkdownRow]:
    rows: list[MarkdownRow] = []
    for index, one in enumerate(text.removesuffix("\n").split("\n"), line):
        rows += wrap_prose(sanitize_text(one, style, index), width, index)
    return rows


def _render_markdown(text: str, chunk: Chunk, context: RenderContext) -> list[MarkdownRow]:
    if DEEP.search(text):
        return render_literal(text, chunk.line, context.width, "")
    lines = text.split("\n")
    tokens = get_block_parser().parse(text, {})
    if sum(token.type == "td_open" for token in tokens) > CELLS:
        return render_literal(text, chunk.line, context.width, "")
    painter = _BlockPainter(lines, chunk.line, context)
    painter.paint_blocks(tokens, chunk.ordinal)
    return painter.rows


@lru_cache(1)
def get_block_parser() -> "MarkdownIt":
    """The block parser; the inside of blocks is parsed by `inline`, on a budget."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - start-up: 30 ms for other notes

    md = MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable(["table", "strikethrough"])
    md.disable(["normalize", "inline", "text_join", "reference"])
    md.block.ruler.before("heading", "definition", _parse_definition)
    return md


def _parse_definition(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """Make a definition of a link a block of its own, where CommonMark would drop it."""
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


def find_references(source: str, start: int = 0) -> dict[str, dict[str, str]]:
    """Definitions of links by normalised label; the first one of a label counts.

    Args:
        source: The whole note, however large: searched with `str.find`.
        start: Offset of a line to begin at.
    """
    from markdown_it.common.utils import normalizeReference  # noqa: PLC0415 - start-up: loads the parser

    found: dict[str, dict[str, str]] = {}
    at = source.find("]:", start)
    while at >= 0 and len(found) < DEFINITIONS:
        begin = find_line_start(source, at, 400)
        end = source.find("\n", at, at + 2_000)
        is_whole = not begin or source[begin - 1] == "\n"
        match = DEFINITION.match(source[begin : end if end >= 0 else at + 2_000]) if is_whole else None
        if match and (label := normalizeReference(match[1])) not in found:
            href = get_block_parser().normalizeLink(match[2].removeprefix("<").removesuffix(">"))
            if get_block_parser().validateLink(href):
                found[label] = {"href": href, "title": (match[3] or "")[1:-1]}
        at = source.find("]:", at + 2)
    return found


def measure_table_columns(source: str, header: tuple[int, int], end: int, width: int, refs: Env) -> TableColumns:
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
        return TableColumns((), (), width)
    step = max(1, (end - header[1]) // max(4, SAMPLE // count // 4))
    for at in range(header[1], end, step):
        begin = source.find("\n", at - 1, end) + 1
        lines += source[begin : min(end, begin + 800)].split("\n")[:4] if begin else []
    table = _parse_source_table(lines, 0, refs)
    return table.measure_columns(width) if table else TableColumns((), (), width)


@dataclass(slots=True)
class _ParsedTable:
    """The cells of a table; each row with its source line."""

    header: list[list[TextSpan]]
    aligns: list[str]
    rows: list[tuple[int, list[list[TextSpan]]]]

    def measure_columns(self, width: int) -> TableColumns:
        natural = [measure_spans(cell) for cell in self.header]
        words = [measure_longest_word(_join_text(cell)) for cell in self.header]
        for _, cells in self.rows:
            for index, cell in enumerate(cells):
                natural[index] = max(natural[index], measure_spans(cell))
                words[index] = max(words[index], measure_longest_word(_join_text(cell)))
        return fit_columns(natural, words, width, self.aligns)


def _join_text(spans: Iterable[TextSpan]) -> str:
    return "".join(span.text for span in spans)


_ALIGN = {"text-align:right": "right", "text-align:center": "center"}


def _parse_table(
    tokens: "Sequence[Token]", lines: Sequence[str], first: int, inline: InlineParser
) -> _ParsedTable | None:
    """The first table among the tokens."""
    table = _ParsedTable([], [], [])
    cells: list[list[TextSpan]] = []
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
                extra = _split_table_cells(lines[line])[len(table.header) :]
                if extra:
                    cells[-1] = cells[-1] + sanitize_text(" | " + " | ".join(extra), "warning", first + line)
                table.rows.append((first + line, cells))
            case "table_close":
                return table
    return None


def _parse_source_table(lines: Sequence[str], first: int, refs: Env) -> _ParsedTable | None:
    parser = get_block_parser()
    return _parse_table(parser.parse("\n".join(lines), {}), lines, first, InlineParser(parser, refs))


_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")


def _split_table_cells(line: str) -> list[str]:
    parts = _UNESCAPED_PIPE.split(line.strip())
    start, stop = not parts[0], len(parts) - (len(parts) > 1 and not parts[-1])
    return [part.strip() for part in parts[start:stop]]


def _render_table_rows(table: _ParsedTable, columns: TableColumns, line: int, *, header: bool) -> list[MarkdownRow]:
    rows = render_header_rows(table.header, columns, line) if header else []
    for number, cells in table.rows:
        rows += render_body_rows(cells, columns, number, table.header)
    return rows


def _render_table_chunk(source: str, text: str, chunk: Chunk, context: RenderContext) -> list[MarkdownRow]:
    before = "" if chunk.first else source[chunk.header[0] : chunk.header[1]]
    lines = (before + text).split("\n")
    first = chunk.line - before.count("\n")
    table = None
    if len(_UNESCAPED_PIPE.findall(before + text)) < CELLS and max(map(len, lines)) <= 4000:
        table = _parse_source_table(lines, first, context.references)
    if table is None:
        return render_literal(text, chunk.line, context.width, "")
    columns = context.columns or table.measure_columns(context.width)
    return _render_table_rows(table, columns, chunk.line, header=chunk.first)


_MARKER = re.compile(r"[ ]{0,3}(?:`{3,}|~{3,})[ \t]*(.*)")


def _render_fence_chunk(text: str, chunk: Chunk, width: int) -> list[MarkdownRow]:
    lines, line, info = text.removesuffix("\n").split("\n"), chunk.line, ""
    if chunk.first:
        match = _MARKER.match(lines[0])
        info = match[1] if match else ""
        del lines[0]
        line += 1
    if chunk.last and lines and _MARKER.fullmatch(lines[-1]) and not lines[-1].strip("`~ \t"):
        del lines[-1]
    return render_panel("\n".join(lines) + "\n" if lines else "", info, chunk.language, line, width)


def render_panel(text: str, info: str, language: str, line: int, width: int) -> list[MarkdownRow]:
    """Code on a panel, under the words behind its marker.

    Args:
        text: The code.
        info: The words behind the marker of the fence.
        language: The language.
        line: Source line of the first line of code.
        width: Cells.
    """
    rows: list[MarkdownRow] = []
    edge = TextSpan(" ", "panel edge", line)
    if info.strip():
        spans = merge_spans([edge, *sanitize_text(info.strip(), "panel language", line - 1)])
        rows.append(MarkdownRow(spans, line - 1, line - 1, "panel"))
    for number, code in enumerate(highlight_code(text, language, line, "panel"), line):
        rows += (indent_row(row, [edge]) for row in wrap_code(code, width - 2, number, fill="panel"))
    return rows


_KEY = re.compile(r"([A-Za-z0-9_][^:#\n]{0,60}?)[ \t]*:(?:[ \t]+(.*)|$)")


def _render_front_matter(text: str, line: int, width: int) -> list[MarkdownRow]:
    """The properties of a note as two columns; a line that is not `key: value` stays as it is written."""
    entries: list[tuple[str, str, int]] = []
    for number, one in enumerate(text.removesuffix("\n").split("\n")[1:-1], line + 1):
        match = _KEY.fullmatch(one)
        entries.append((match[1], match[2] or "", number) if match else ("", one, number))
    left = min(24, max((cell_len(key) for key, _, _ in entries), default=0))
    rows: list[MarkdownRow] = []
    for key, value, number in entries:
        name = sanitize_text(key, "key", number)
        gap = [TextSpan(" " * max(2, left + 2 - measure_spans(name)), "", number)]
        for index, row in enumerate(wrap_prose(sanitize_text(value, "", number), width - left - 2, number)):
            rows.append(indent_row(row, [*name, *gap] if not index else [TextSpan(" " * (left + 2), "", number)]))
    end = line + len(entries) + 1
    return [*rows, MarkdownRow((TextSpan("─" * width, "rule", end),), end, end)]


_OPENERS = frozenset({"bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open"})


class _BlockPainter:
    """Walks over block tokens and writes rows."""

    def __init__(self, lines: Sequence[str], first: int, context: RenderContext) -> None:
        self.rows: list[MarkdownRow] = []
        self._lines = lines
        self._first = first
        self._inline = InlineParser(get_block_parser(), context.references)
        self._width = context.width
        self._prefix: list[tuple[TextSpan, ...]] = []
        self._marker: tuple[TextSpan, ...] | None = None

    def paint_blocks(self, tokens: "Sequence[Token]", ordinal: int) -> None:
        """Paint all blocks.

        Args:
            tokens: Tokens of the block parser.
            ordinal: Number of the first item of a list that began in another chunk; else 0.
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
                self._close_block(kind, numbers, previous or 0)
            else:
                if previous is not None and self._marker is None:
                    self._put_gap(kind, previous_type, begin)
                if kind in _OPENERS:
                    self._open_block(token, numbers, begin, ordinal)
                    if kind == "ordered_list_open":
                        ordinal = 0
                    elif kind == "list_item_open" and previous is None:
                        previous = begin
                else:
                    index = self._paint_block(tokens, index, begin, end)
                    previous = max(end, begin + 1)
            previous_type = kind
            index += 1

    def _close_block(self, kind: str, numbers: list[int | None], line: int) -> None:
        match kind:
            case "list_item_close" | "blockquote_close":
                self._flush_marker(line)
                self._prefix.pop()
            case "bullet_list_close" | "ordered_list_close":
                numbers.pop()

    def _open_block(self, token: "Token", numbers: list[int | None], begin: int, ordinal: int) -> None:
        match token.type:
            case "bullet_list_open":
                numbers.append(None)
            case "ordered_list_open":
                number = token.attrGet("start")
                numbers.append(ordinal or (1 if number is None else int(number)))
            case "list_item_open":
                self._open_item(numbers, begin)
            case "blockquote_open":
                self._flush_marker(begin)
                self._prefix.append((TextSpan("│ ", "quote-bar", self._first + begin),))

    def _paint_block(self, tokens: "Sequence[Token]", index: int, begin: int, end: int) -> int:
        """Paint a block that holds no other; returns the index of its last token."""
        token, line = tokens[index], self._first + begin
        match token.type:
            case "table_open":
                stop = next(at for at in range(index, len(tokens)) if tokens[at].type == "table_close")
                self._paint_table(tokens[index : stop + 1], begin)
                return stop
            case "heading_open":
                self._paint_heading(token, tokens[index + 1], begin)
                return index + 2
            case "paragraph_open":
                self._paint_paragraph(tokens[index + 1], begin)
                return index + 2
            case "fence":
                language = (token.info.split() or [""])[0]
                self._put(render_panel(token.content, token.info, language, line + 1, self._measure_room()))
            case "code_block":
                self._put(render_panel(token.content, "", "", line, self._measure_room()))
            case "hr":
                self._put_rule("─" * self._measure_room(), "rule", line)
            case "html_block":
                self._put(render_literal(token.content, line, self._measure_room(), "warning"))
            case "definition":
                spans = sanitize_text(token.content, "target", line)
                self._put(wrap_prose(spans, self._measure_room(), line))
            case _:
                raw = "\n".join(self._lines[begin:end]) if token.map else token.content
                self._put(render_literal(raw, line, self._measure_room(), "warning"))
        return index

    def _measure_room(self) -> int:
        return max(8, self._width - sum(measure_spans(prefix) for prefix in self._prefix))

    def _put_gap(self, kind: str, before: str, begin: int) -> None:
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
        self._put([make_blank_row(line)])

    def _open_item(self, numbers: list[int | None], begin: int) -> None:
        """Open a list item; its marker is written before its first row."""
        number = numbers[-1]
        text = "- " if number is None else f"{number}. "
        if number is not None:
            numbers[-1] = number + 1
        self._flush_marker(begin)
        self._marker = (TextSpan(text, "marker", self._first + begin),)
        self._prefix.append((TextSpan(" " * len(text), "indent", self._first + begin),))

    def _flush_marker(self, begin: int) -> None:
        """Write the marker of a list item that is empty, or begins with a container."""
        if self._marker is not None:
            self._put([make_blank_row(self._first + begin)])

    def _put_rule(self, text: str, role: str, line: int) -> None:
        self._put([MarkdownRow((TextSpan(text, role, line),), line, line)])

    def _put(self, rows: Iterable[MarkdownRow]) -> None:
        for row in rows:
            prefix = [span for part in self._prefix for span in part]
            if self._marker is not None:
                prefix = [span for part in self._prefix[:-1] for span in part] + list(self._marker)
                self._marker = None
            if not row.spans and not row.fill:
                while prefix and not prefix[-1].text.strip(" "):
                    prefix.pop()
            self.rows.append(replace(row, spans=merge_spans([*prefix, *row.spans])) if prefix else row)

    def _paint_table(self, tokens: "Sequence[Token]", begin: int) -> None:
        table = _parse_table(tokens, self._lines, self._first, self._inline)
        if table is not None:
            columns = table.measure_columns(self._measure_room())
            self._put(_render_table_rows(table, columns, self._first + begin, header=True))

    def _paint_heading(self, token: "Token", inside: "Token", begin: int) -> None:
        level = token.tag
        line = self._first + begin
        lines = self._inline(inside.content, line, level)
        rows = [row for spans in lines for row in wrap_prose(spans, self._measure_room(), line)]
        self._put(rows)
        if level in ("h1", "h2"):
            length = min(self._measure_room(), max((cell_len(row.text.rstrip()) for row in rows), default=0))
            self._put_rule(("━" if level == "h1" else "─") * length, f"{level}-rule", line)

    def _paint_paragraph(self, inside: "Token", begin: int) -> None:
        line = self._first + begin
        text = inside.content
        if self._marker is not None and text[:4] in ("[ ] ", "[x] ", "[X] "):
            box = TextSpan("[ ] ", "todo", line) if text[1] == " " else TextSpan("[x] ", "done", line)
            self._marker = (*self._marker, box)
            self._prefix[-1] = (TextSpan(" " * measure_spans(self._marker), "indent", line),)
            text = text[4:]
        lines = self._inline(text, line)
        if self._marker is not None and len(self._marker) == 1:
            lines[0] = tint_statement(lines[0], text)
        for spans in lines:
            self._put(wrap_prose(spans, self._measure_room(), line))
