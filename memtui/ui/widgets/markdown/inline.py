"""The inside of Markdown blocks as spans in which nothing is hidden: text, tables, code.

A Markdown renderer hides where a link goes, its title, HTML, comments and characters spelled as entities. Here they
follow the text, in words. Text that would take too long to parse is shown as it is written.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from memtui.core.lazy_dataclass import dataclass
from memtui.core.lazy_regex import compile_lazily
from memtui.ui.widgets.markdown.rows import (
    MarkdownRow,
    TextSpan,
    indent_row,
    measure_spans,
    merge_spans,
    sanitize_text,
    wrap_prose,
    wrap_spans,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from pygments.lexer import Lexer


LONGEST_PARAGRAPH = 4000
"""Characters of a paragraph beyond which it is shown as it is written."""
EFFORT = 50_000
"""The cost of one chunk, in units of `_estimate_cost`, beyond which the rest of it is shown as it is written."""

_MARK = re.compile(r"[*_`\[<!&~\\]")
_WIKI = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]|\n]+))?\]\]")

Lines = list[list[TextSpan]]
"""Spans of a block, in one list for each line break of the text."""


class InlineParser:
    """Parses the insides of the blocks of one chunk, within a budget for all of them.

    Args:
        md: A parser.
        env: The definitions of links, as markdown-it expects them.
    """

    def __init__(self, md: "MarkdownIt", env: Mapping[str, Any]) -> None:
        self._md = md
        self._env = dict(env)
        self._effort = EFFORT

    def __call__(self, text: str, line: int, style: str = "") -> Lines:
        """The spans of a paragraph, heading or cell.

        Args:
            text: The inside of the block.
            line: Source line of its first character, counted from 0.
            style: Roles of the whole block.
        """
        marks = 0 if text.isalnum() else len(_MARK.findall(text))
        if not marks:
            return _split_hard_breaks(text, line, style) if "  \n" in text else [_render_plain(text, line, style)]
        cost = _estimate_cost(text, marks)
        if len(text) > LONGEST_PARAGRAPH or cost > self._effort:
            return [sanitize_text(one, style, line + index) for index, one in enumerate(text.split("\n"))]
        self._effort -= cost
        tokens: list[Token] = []
        self._md.inline.parse(text, self._md, self._env, tokens)
        writer = _InlineWriter(line, style)
        for token in tokens:
            writer.write(token)
        return writer.lines


_STATEMENT = compile_lazily(
    r"(?P<category>\[(?![xX]\]|[^\w\s]\]|\d{1,3}:\d)[^\[\]()\n]{1,80}\])(?=\s+\S)"
    r"|(?P<relation>[^\s\[\]\"'`]{1,80}|\"[^\"\n]{1,80}\"|'[^'\n]{1,80}')(?=\s+\[\[)"
)
"""How an item of a list begins that is an observation, `[category] text`, or a relation, `type [[note]]`."""


def tint_statement(spans: list[TextSpan], text: str) -> list[TextSpan]:
    """The first spans of a list item, with the category of an observation or the type of a relation in its role."""
    found = _STATEMENT.match(text)
    if found is None or not spans or spans[0].style or not spans[0].text.startswith(found[0]):
        return spans
    first, end = spans[0], found.end()
    return [TextSpan(found[0], found.lastgroup or "", first.line), first._replace(text=first.text[end:]), *spans[1:]]


def _estimate_cost(text: str, marks: int) -> int:
    """The cost of parsing a text: links and tags look ahead over all that follows, others less."""
    looks = text.count("[") + text.count("<")
    return looks * looks + marks * marks // 8


def _render_plain(text: str, line: int, style: str) -> list[TextSpan]:
    if "\n" not in text:
        return sanitize_text(text, style, line)
    spans: list[TextSpan] = []
    for index, one in enumerate(text.split("\n")):
        if index:
            spans.append(TextSpan(" ", style, line + index))
        spans += sanitize_text(one.strip(" "), style, line + index)
    return spans


def _split_hard_breaks(text: str, line: int, style: str) -> Lines:
    lines: Lines = []
    for part in re.split(r" {2,}\n", text):
        lines.append(_render_plain(part, line, style))
        line += part.count("\n") + 1
    return lines


_STYLES = {"strong_open": "strong", "em_open": "emphasis", "s_open": "strike"}


class _InlineWriter:
    """Walks over inline tokens and keeps the roles that are open."""

    def __init__(self, line: int, style: str) -> None:
        self.lines: Lines = [[]]
        self._line = line
        self._styles = [style] if style else []
        self._links: list[tuple[Token, int]] = []

    def _put(self, text: str, style: str = "") -> None:
        self.lines[-1] += sanitize_text(text, " ".join([*self._styles, style] if style else self._styles), self._line)

    def write(self, token: "Token") -> None:
        match token.type:
            case "text" | "text_special":
                self._write_text(token.content)
            case "softbreak":
                self._line += 1
                self._put(" ")
            case "hardbreak":
                self._line += 1
                self.lines.append([])
            case "code_inline":
                self._put(token.content, "code")
            case "html_inline":
                self._write_literal(token.content, "warning")
            case "strong_open" | "em_open" | "s_open":
                self._styles.append(_STYLES[token.type])
            case "strong_close" | "em_close" | "s_close":
                self._styles.pop()
            case "link_open":
                self._links.append((token, len(self._get_text())))
                self._styles.append("link")
            case "link_close":
                self._styles.pop()
                self._close_link()
            case "image":
                self._put(f"[image: {token.content}]", "image")
                self._put(_format_link_target(token, "src"), "target")
            case _:
                self._write_literal(token.content, "warning")

    def _write_text(self, text: str) -> None:
        at = 0
        for match in _WIKI.finditer(text):
            self._put(text[at : match.start()])
            name, alias = match.groups()
            self._put(alias or match.group(), "link")
            if alias:
                self._put(f" ({name})", "target")
            at = match.end()
        self._put(text[at:])

    def _write_literal(self, text: str, style: str) -> None:
        first, *rest = text.split("\n")
        self._put(first, style)
        for one in rest:
            self._line += 1
            self._put(" " + one, style)

    def _get_text(self) -> str:
        return "".join(span.text for line in self.lines for span in line)

    def _close_link(self) -> None:
        token, start = self._links.pop()
        shown = self._get_text()[start:]
        href = str(token.attrGet("href") or "")
        if token.attrGet("title") or shown not in (href, href.removeprefix("mailto:")):
            self._put(_format_link_target(token, "href"), "target")


def _format_link_target(token: "Token", attribute: str) -> str:
    """The target of a link or picture, and its title."""
    target = str(token.attrGet(attribute) or "")
    title = token.attrGet("title")
    return f' ({target} "{title}")' if title else f" ({target})"


# Tables. Cells keep their words whole while the columns fit; wide tables wrap inside their cells; where there are more
# columns than fit at all, each row becomes a list of `column value` lines, so that no cell is out of sight.

SEPARATOR = " │ "
NARROWEST = 8
"""Cells below which a column that must wrap is not readable."""

Cell = list[TextSpan]


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The layout of a table, alike in all its pieces.

    Attributes:
        widths: Cells of each column; empty when rows are shown as lists.
        aligns: `left`, `right` or `center` for each column.
        width: Cells of the whole table, at most.
    """

    widths: tuple[int, ...]
    aligns: tuple[str, ...]
    width: int


def fit_columns(natural: Sequence[int], words: Sequence[int], width: int, aligns: Sequence[str]) -> TableColumns:
    """Share the width among the columns: narrow ones keep what they need, wide ones share the rest.

    Args:
        natural: Cells of each column on one row.
        words: Cells of the longest word of each column.
        width: Cells for the whole table.
        aligns: The alignment of each column.
    """
    room = width - len(SEPARATOR) * (len(natural) - 1)
    widths = [max(1, size) for size in natural]
    if sum(widths) <= room:
        return TableColumns(tuple(widths), tuple(aligns), width)
    least = [min(size, max(NARROWEST, min(word, 16))) for size, word in zip(widths, words, strict=True)]
    if sum(least) > room:
        least = [min(size, NARROWEST) for size in widths]
        if sum(least) > room:
            return TableColumns((), tuple(aligns), width)
    spare = room - sum(least)
    while spare > 0 and (narrow := [index for index, size in enumerate(widths) if size > least[index]]):
        share = max(1, spare // len(narrow))
        for index in narrow:
            more = min(share, widths[index] - least[index], spare)
            least[index] += more
            spare -= more
    return TableColumns(tuple(least), tuple(aligns), width)


def render_header_rows(cells: Sequence[Cell], columns: TableColumns, line: int) -> list[MarkdownRow]:
    """The header and the rule under it; nothing for a table shown as lists."""
    if not columns.widths:
        return []
    rule = TextSpan("─┼─".join("─" * width for width in columns.widths), "rule", line)
    return [*render_body_rows(cells, columns, line, cells), MarkdownRow((rule,), line, line + 1)]


def render_body_rows(
    cells: Sequence[Cell], columns: TableColumns, line: int, names: Sequence[Cell]
) -> list[MarkdownRow]:
    """One row of the table, as many rows of the screen as its tallest cell needs.

    Args:
        cells: As many as there are columns.
        columns: The layout.
        line: Source line.
        names: The cells of the header, for a row shown as a list.
    """
    if not columns.widths:
        return _render_as_list(cells, columns.width, line, names)
    wrapped = [wrap_spans(cell, width) for cell, width in zip(cells, columns.widths, strict=True)]
    rows = []
    for index in range(max(map(len, wrapped))):
        spans: list[TextSpan] = []
        for column, (parts, width, align) in enumerate(zip(wrapped, columns.widths, columns.aligns, strict=True)):
            if column:
                spans.append(TextSpan(SEPARATOR, "rule", line))
            spans += _pad_cell(parts[index] if index < len(parts) else [], width, align, line)
        rows.append(MarkdownRow(merge_spans(spans), line, line))
    return rows


def _render_as_list(cells: Sequence[Cell], width: int, line: int, names: Sequence[Cell]) -> list[MarkdownRow]:
    rows: list[MarkdownRow] = []
    left = min(20, max(map(measure_spans, names), default=0)) + 2
    for index, (name, cell) in enumerate(zip(names, cells, strict=True)):
        head = TextSpan("- " if not index else "  ", "marker", line)
        gap = TextSpan(":" + " " * max(1, left - measure_spans(name) - 1), "", line)
        if measure_spans(name) + 1 >= left or width < 2 * left:  # a long name stands before its text as words do
            spans = [*name, TextSpan(": ", "", line), *cell]
            for number, part in enumerate(wrap_prose(spans, width - 2, line)):
                rows.append(indent_row(part, [TextSpan("  ", "indent", line) if number else head]))
            continue
        for number, part in enumerate(wrap_prose(cell, width - 2 - left, line)):
            before = [TextSpan(" " * (left + 2), "indent", line)] if number else [head, *name, gap]
            rows.append(indent_row(part, before))
    return rows


def _pad_cell(cell: Cell, width: int, align: str, line: int) -> Cell:
    cell = list(cell)
    while cell and cell[-1].text.endswith(" "):
        last = cell.pop()
        if last.text.strip(" "):
            cell.append(last._replace(text=last.text.rstrip(" ")))
    free = max(0, width - measure_spans(cell))
    left = free if align == "right" else free // 2 if align == "center" else 0
    before = [TextSpan(" " * left, "", line)] if left else []
    after = [TextSpan(" " * (free - left), "", line)] if free > left else []
    return [*before, *cell, *after]


def measure_longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


# Code. A fence names its own language, so the name comes from outside: only known languages are looked up, and only a
# bounded piece of text with lines of bounded length is given to a lexer, whose expressions may backtrack.

LIMIT = 9000
"""Characters that are given to a lexer at once."""
LONGEST_CODE_LINE = 1000
"""Characters of a line beyond which the piece is not coloured."""

_OWN_NAME = (
    "bash c cpp css diff go html ini java javascript json kotlin lua php python ruby rust sql swift toml"
    " typescript xml yaml"
)
_LEXERS = {name: name for name in _OWN_NAME.split()} | {
    "c++": "cpp", "dockerfile": "docker", "js": "javascript", "jsonc": "json", "jsonl": "json",
    "jsx": "javascript", "makefile": "make", "patch": "diff", "py": "python", "python3": "python",
    "rb": "ruby", "rs": "rust", "sh": "bash", "shell": "bash", "ts": "typescript", "yml": "yaml",
    "zsh": "bash",
}  # fmt: skip
"""Pygments' names of the languages that are coloured, by the name that a fence may give."""

_ROLES = {
    "Comment": "comment", "Keyword": "keyword", "Literal.Number": "number", "Literal": "string", "Name.Tag": "name",
    "Name.Attribute": "name", "Name.Function": "name", "Name.Class": "name", "Name.Decorator": "name",
    "Name.Builtin": "keyword", "Operator.Word": "keyword", "Generic.Deleted": "deleted",
    "Generic.Inserted": "inserted", "Generic.Heading": "name", "Generic.Subheading": "name",
}  # fmt: skip
"""Roles by the start of the name of a Pygments token."""


def highlight_code(text: str, language: str, line: int, style: str = "") -> list[list[TextSpan]]:
    """The lines of a code as spans.

    Args:
        text: Code; a line feed at its end begins no further line.
        language: The word after a fence; an unknown one gives no colours.
        line: Number of the first line, counted from 0.
        style: Roles that stand before the role of each token.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    language = language.lower()
    if language == "markdown":
        return _highlight_markdown(lines, line, style)
    if language not in _LEXERS or len(text) > LIMIT or any(len(one) > LONGEST_CODE_LINE for one in lines):
        return [sanitize_text(one, style, line + index) for index, one in enumerate(lines)]
    spans: list[list[TextSpan]] = [[]]
    for kind, value in _load_lexer(_LEXERS[language]).get_tokens("\n".join([*lines, ""])):
        role = _find_role(str(kind))
        first, *rest = value.split("\n")
        named = f"{style} {role}".strip()
        spans[-1] += sanitize_text(first, named, line + len(spans) - 1)
        for one in rest:
            spans.append(sanitize_text(one, named, line + len(spans)))
    del spans[len(lines) :]
    return spans + [[] for _ in range(len(lines) - len(spans))]


@lru_cache
def _load_lexer(name: str) -> "Lexer":
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415 - start-up: 30 ms for notes without code

    lexer: Lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    return lexer


@lru_cache(256)
def _find_role(kind: str) -> str:
    return next((role for start, role in _ROLES.items() if kind.removeprefix("Token.").startswith(start)), "")


_SOURCE = compile_lazily(
    r"(?P<heading>^#{1,6}[ ].*)"
    r"|(?P<marker>^[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ ])(?:[ ]\[[ xX]\])?|^[ \t]*>+"
    r"|^[ \t]*(?:`{3,}|~{3,}).*|^---+$)"
    r"|(?P<warning></?[a-zA-Z!?][^<>]{0,500}>|<!--|-->)"
    r"|(?P<code>`[^`]{1,500}`)"
    r"|(?P<link>\[\[[^\[\]]{1,300}\]\]|\]\([^()\s]{1,500}\))"
    r"|(?P<strong>\*\*[^*\s][^*]{0,300}\*\*)"
)


def _highlight_markdown(lines: list[str], number: int, style: str) -> list[list[TextSpan]]:
    """Markdown as it is written, line by line, without regard to a fence or a quote around the lines."""
    spans: list[list[TextSpan]] = []
    for index, text in enumerate(lines, number):
        row: list[TextSpan] = []
        at = 0
        if len(text) <= LONGEST_CODE_LINE:
            text = text.expandtabs(4)  # noqa: PLW2901
            for match in _SOURCE.finditer(text):
                row += sanitize_text(text[at : match.start()], style, index)
                row += sanitize_text(match.group(), f"{style} {match.lastgroup}".strip(), index)
                at = match.end()
        spans.append(row + sanitize_text(text[at:], style, index))
    return spans
