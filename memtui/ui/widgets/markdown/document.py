"""A note laid out in rows, of which only those on screen are made.

The height of a chunk is guessed until it is drawn; sums of heights turn a row of the screen into a chunk and back. All
is a function of the source, so a widget may ask again at any time.
"""

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, islice, zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from memtui.core.lazy_dataclass import dataclass
from memtui.core.lazy_regex import compile_lazily
from memtui.ui.widgets.markdown.rows import RULER, MarkdownRow, TextSpan, wrap_code, wrap_prose

if TYPE_CHECKING:
    from memtui.ui.widgets.markdown.chunks import Chunk
    from memtui.ui.widgets.markdown.inline import TableColumns

Mode = Literal["rendered", "source"]

KEPT = 64
"""Chunks whose drawn rows are cached."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """A line across a note, with safe words on it, above a source line (from 0), such as where loading stops."""

    line: int
    words: str


@dataclass(frozen=True, slots=True)
class NoteLayout:
    """How a note is laid out.

    Attributes:
        syntax: `markdown`, `text`, or a language that code is coloured for.
        mode: `rendered` for reading, `source` for the text as it is written.
        width: Cells of the text.
        ruler: Where the rest of the note is set apart.
    """

    syntax: str = "text"
    mode: Mode = "rendered"
    width: int = 80
    ruler: Ruler | None = None

    @property
    def is_markdown(self) -> bool:
        return self.syntax == "markdown" and self.mode == "rendered"

    def is_same_view(self, other: "NoteLayout") -> bool:
        """Whether it differs in the width and the ruler only."""
        return (self.syntax, self.mode) == (other.syntax, other.mode)


class RowSpan(NamedTuple):
    """Characters of a row: its chunk, its number in the chunk, the first character, the one behind the last."""

    chunk: int
    row: int
    start: int
    end: int


class NoteDocument:
    """One note: its source, its chunks, and the rows of those that are in view.

    Args:
        source: The note.
        layout: How it is laid out.
    """

    def __init__(self, source: str, layout: NoteLayout) -> None:
        self.source = source
        self.layout = layout
        self._heights: list[int] = []
        self._tops: list[int] | None = None
        self._rows: OrderedDict[int, tuple[MarkdownRow, ...]] = OrderedDict()
        self._exact: set[int] = set()
        self._columns: dict[tuple[int, int], TableColumns] = {}
        self._references: dict[str, Any] | None = None
        self._folded: str | None = None
        self.query = ""
        self._marks: dict[int, list[RowSpan]] = {}
        self.chunks: list[Chunk] = list(self._split(0, 0))
        self._estimate_heights(0)

    def _split(self, start: int, line: int) -> "Iterator[Chunk]":
        if not self.source:
            return iter(())
        from memtui.ui.widgets.markdown.chunks import split_markdown, split_plain  # noqa: PLC0415 - as below

        return (split_markdown if self.layout.is_markdown else split_plain)(self.source, start, line)

    def _estimate_heights(self, first: int) -> None:
        """Guess the heights of the chunks from `first` on."""
        width = max(8, self.layout.width)
        del self._heights[first:]
        for chunk, following in zip_longest(self.chunks[first:], self.chunks[first + 1 :]):
            lines = following.line - chunk.line if following else 0
            self._heights.append(max(1, lines, (chunk.end - chunk.start) * 10 // (width * 9)))
        self._tops = None

    def relayout(self, layout: NoteLayout) -> None:
        """Lay the same source out in another way."""
        if layout == self.layout:
            return
        again = layout.is_markdown != self.layout.is_markdown
        self.layout = layout
        if again:
            self.chunks = list(self._split(0, 0))
        self._clear_cache()
        self._estimate_heights(0)

    def _clear_cache(self) -> None:
        self._rows.clear()
        self._exact.clear()
        self._columns.clear()
        self._marks.clear()

    def append(self, fragment: str) -> None:
        """Add text at the end; only the last chunks are cut again, and only those that differ are drawn again."""
        if not fragment:
            return
        from memtui.ui.widgets.markdown.chunks import LOOKED_AHEAD  # noqa: PLC0415 - as below

        old = self.chunks
        keep = len(old)
        sure = len(self.source) - LOOKED_AHEAD
        while keep and (keep == len(old) or not old[keep].root or old[keep].start > sure):
            keep -= 1
        start, line = (old[keep].start, old[keep].line) if old else (0, 0)
        self.source += fragment
        if self._folded is not None:
            self._folded += _fold_case(fragment)
        self.chunks = [*old[:keep], *self._split(start, line)]
        while keep < min(len(old), len(self.chunks)) and old[keep] == self.chunks[keep]:
            keep += 1
        for index in [index for index in self._exact if index >= keep]:
            self._exact.discard(index)
            self._rows.pop(index, None)
            self._marks.pop(index, None)
        self._estimate_heights(keep)
        known = self._references
        if known is not None and "]:" in self.source[start:]:
            self._references = None
            if self.references != known:
                self._clear_cache()

    @property
    def references(self) -> dict[str, Any]:
        """Definitions of links, as markdown-it expects them."""
        if self._references is None:
            from memtui.ui.widgets.markdown.render import find_references  # noqa: PLC0415 - as below

            self._references = {"references": find_references(self.source)}
        return self._references

    @property
    def tops(self) -> list[int]:
        """The first row of each chunk, and the number of all rows."""
        if self._tops is None:
            self._tops = [0, *accumulate(self._heights)]
        return self._tops

    @property
    def height(self) -> int:
        """Rows of the whole note, as far as they are known."""
        return self.tops[-1]

    def locate_row(self, y: int) -> tuple[int, int]:
        """The chunk of row `y`, and the row within it."""
        tops = self.tops
        index = min(len(self.chunks) - 1, bisect_right(tops, max(0, y)) - 1)
        return (index, y - tops[index]) if self.chunks else (-1, 0)

    def is_exact(self, index: int) -> bool:
        """Whether the height of a chunk is known, not guessed."""
        return index in self._exact

    def get_rows(self, index: int) -> tuple[MarkdownRow, ...]:
        """The rows of a chunk; its height is exact from then on."""
        rows = self._rows.get(index)
        if rows is not None:
            self._rows.move_to_end(index)
            return rows
        rows = tuple(self._insert_ruler(index, self._draw_chunk(self.chunks[index])))
        self._rows[index] = rows
        while len(self._rows) > KEPT:
            self._marks.pop(self._rows.popitem(last=False)[0], None)
        self._exact.add(index)
        if self._heights[index] != len(rows):
            self._heights[index] = len(rows)
            self._tops = None
        return rows

    def get_row(self, y: int) -> tuple[int, int, MarkdownRow] | None:
        """Chunk, number within it and content of row `y`; `None` beyond the end."""
        index, inner = self.locate_row(y)
        if index < 0:
            return None
        rows = self.get_rows(index)
        return (index, inner, rows[inner]) if 0 <= inner < len(rows) else None

    def draw_from(self, y: int, count: int) -> None:
        """Draw the chunks of `count` rows from row `y` on."""
        index, _ = self.locate_row(y)
        while 0 <= index < len(self.chunks) and self.tops[index] < y + count:
            self.get_rows(index)
            index += 1

    def _draw_chunk(self, chunk: "Chunk") -> list[MarkdownRow]:
        from memtui.ui.widgets.markdown.inline import highlight_code  # noqa: PLC0415 - start-up: for the first note
        from memtui.ui.widgets.markdown.render import RenderContext, render_chunk  # noqa: PLC0415 - as above

        layout = self.layout
        if layout.is_markdown:
            columns = self._measure_table_columns(chunk) if chunk.kind == "table" else None
            refs = self.references if "[" in self.source[chunk.start : chunk.end] else {}
            return render_chunk(self.source, chunk, RenderContext(layout.width, refs, columns))
        text = self.source[chunk.start : chunk.end]
        source = layout.mode == "source"
        words = layout.syntax in ("markdown", "text")
        lines = highlight_code(text, layout.syntax, chunk.line)
        rows: list[MarkdownRow] = []
        for number, spans in enumerate(lines, chunk.line):
            if words and not source:
                rows += wrap_prose(spans, layout.width, number, number=True)
            else:
                rows += wrap_code(spans, layout.width, number, number=True, words=words)
        if not chunk.root and rows:
            rows[0] = replace(rows[0], join="", number=False)
        return rows

    def _insert_ruler(self, index: int, rows: list[MarkdownRow]) -> list[MarkdownRow]:
        """The rows of a chunk with the ruler among them, if it is there, and a style for all below it."""
        ruler = self.layout.ruler
        after = self.chunks[index + 1].line if index + 1 < len(self.chunks) else self.line_count + 1
        if ruler is None or after <= ruler.line:
            return rows
        at = next((at for at, row in enumerate(rows) if row.first >= ruler.line), len(rows))
        below = [
            replace(row, spans=tuple(span._replace(style=f"{span.style} beyond".lstrip()) for span in row.spans))
            for row in rows[at:]
        ]
        if self.chunks[index].line > ruler.line:
            return rows[:at] + below
        words = f"─── {ruler.words} "
        line = TextSpan(words.ljust(self.layout.width, "─")[: max(self.layout.width, 1)], RULER, ruler.line)
        return [*rows[:at], MarkdownRow((line,), ruler.line, ruler.line, fill=RULER, join=""), *below]

    def _measure_table_columns(self, chunk: "Chunk") -> "TableColumns":
        index = bisect_right(self.chunks, chunk.start, key=lambda one: one.start) - 1
        while index + 1 < len(self.chunks) and self.chunks[index + 1].header == chunk.header:
            index += 1
        end = self.chunks[index].end
        key = (chunk.header[0], end)
        if key not in self._columns:
            from memtui.ui.widgets.markdown.render import measure_table_columns  # noqa: PLC0415 - as above

            found = measure_table_columns(self.source, chunk.header, end, self.layout.width, self.references)
            self._columns[key] = found
        return self._columns[key]

    # Source lines

    @property
    def line_count(self) -> int:
        if not self.chunks:
            return 0
        last = self.chunks[-1]
        count = last.line + self.source.count("\n", last.start, last.end)
        return count if self.source.endswith("\n") else count + 1

    def get_line_at(self, offset: int) -> int:
        """Source line at an offset, counted from 0."""
        chunk = self.chunks[self.find_chunk_at(offset)]
        return chunk.line + self.source.count("\n", chunk.start, offset)

    def find_chunk_at(self, offset: int) -> int:
        return max(0, bisect_right(self.chunks, offset, key=lambda chunk: chunk.start) - 1)

    def find_line_offset(self, line: int, index: int = 0) -> int:
        """Offset of a source line, counted from 0, at or behind the start of a chunk."""
        if not self.chunks:
            return 0
        chunk = self.chunks[index]
        offset = chunk.start
        for _ in range(line - chunk.line):
            offset = self.source.find("\n", offset) + 1
        return offset

    def find_row_of_line(self, line: int) -> int:
        """The first row that shows a source line or, if it has none, the next one."""
        if not self.chunks:
            return 0
        index = max(0, bisect_right(self.chunks, line, key=lambda chunk: chunk.line) - 1)
        while index and self.chunks[index].line == line and self.chunks[index - 1].line == line:
            index -= 1
        inner = next((at for at, row in enumerate(self.get_rows(index)) if row.last >= line and row.spans), None)
        return self.tops[index] + inner if inner is not None else min(self.tops[index + 1], self.height - 1)

    # Search

    def search(self, query: str) -> int:
        """Set the literal text to look for, and return the number of its occurrences.

        Args:
            query: The text; letters of any case match unless it holds a capital.
        """
        self.query = query
        self._marks.clear()
        return self._get_haystack().count(query) if query else 0

    def _get_haystack(self) -> str:
        if self.query != self.query.lower():
            return self.source
        if self._folded is None:
            self._folded = _fold_case(self.source)
        return self._folded

    def find_next_match(self, offset: int) -> int:
        """Offset of the first match from an offset on, else of the first one of all; -1 without any."""
        text = self._get_haystack()
        found = text.find(self.query, offset)
        return found if found >= 0 else text.find(self.query)

    def find_previous_match(self, offset: int) -> int:
        """Offset of the last match before an offset, else of the last one of all; -1 without any."""
        text = self._get_haystack()
        found = text.rfind(self.query, 0, max(0, offset + len(self.query) - 1))
        return found if found >= 0 else text.rfind(self.query)

    def get_marks(self, index: int) -> list[RowSpan]:
        """The matches in the rows of a chunk, also across the end of a row."""
        if not self.query:
            return []
        if index not in self._marks:
            self._marks[index] = list(self._find_marks(index))
        return self._marks[index]

    def _find_marks(self, index: int) -> Iterator[RowSpan]:
        texts = ["" if row.fill == RULER else row.text for row in self.get_rows(index)]
        starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
        flags = 0 if self.query != self.query.lower() else re.IGNORECASE
        pattern = _SPACES.sub(_match_spaces, re.escape(self.query))
        for match in re.finditer(pattern, "\n".join(texts), flags):
            yield from split_match(index, match.span(), texts, starts)

    def locate_match(self, offset: int) -> RowSpan:
        """Where the match at an offset of the source is drawn, as near as can be told."""
        index = self.find_chunk_at(offset)
        line = self.get_line_at(offset)
        rows = self.get_rows(index)
        near = [mark for mark in self.get_marks(index) if rows[mark.row].first <= line <= rows[mark.row].last]
        if near:
            begin = self.source.rfind("\n", 0, offset) + 1
            before = self._get_haystack().count(self.query, begin, offset)
            on_line = [mark for mark in near if rows[mark.row].first == line] or near
            return on_line[min(before, len(on_line) - 1)]
        row = next((at for at, row in enumerate(rows) if row.last >= line and row.spans), max(0, len(rows) - 1))
        return RowSpan(index, row, 0, 0)


_SPACES = compile_lazily(r"(?:\\ )+")  # as they are escaped


def _match_spaces(spaces: re.Match[str]) -> str:
    """An expression for the spaces of a query, or as many of them as are left at the end of a row that is continued."""
    count = len(spaces.group()) // 2
    return rf"(?: {{{count}}}| {{0,80}}+\n[ │»]{{0,80}}+)"


def split_match(chunk: int, span: tuple[int, int], texts: Sequence[str], starts: Sequence[int]) -> Iterator[RowSpan]:
    """A stretch of the joined texts of a chunk's rows as a span of each row, given the offset of each text."""
    row = bisect_right(starts, span[0]) - 1
    while row < len(texts) and starts[row] < span[1]:
        start, end = max(0, span[0] - starts[row]), min(len(texts[row]), span[1] - starts[row])
        if start < end:
            yield RowSpan(chunk, row, start, end)
        row += 1


def _fold_case(text: str) -> str:
    """Lower case, character for character, so that offsets stay the same."""
    return text.replace("İ", "i").lower()


def find_moved_line(old: str, new: str, line: int) -> int:
    """Where a line of the old text, counted from 0, is in the new one: by what both share, else by its own words."""
    shared = _count_common_prefix(old, new)
    if line < old.count("\n", 0, shared):
        return line
    tail = len(old) - _count_common_suffix(old, new, min(len(old), len(new)) - shared)
    first_shared = old.count("\n", 0, tail) + (tail > 0 and old[tail - 1] != "\n")
    if tail < len(old) and line >= first_shared:
        return line + new.count("\n") - old.count("\n")
    start = 0
    for _ in range(line):
        start = old.find("\n", start) + 1
    words = old[start : old.find("\n", start) % (len(old) + 1)]
    near = min(line, new.count("\n"))
    return min(_find_similar_lines(new, words), key=lambda found: abs(found - line), default=near)


def _find_similar_lines(text: str, words: str) -> Iterator[int]:
    """Numbers of the lines with these words: a few hundred at most, and none for an empty line."""
    if not words.strip():
        return
    at = 0
    line = 0
    for match in islice(re.finditer(f"(?m)^{re.escape(words)}$", text), 300):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield line


def _count_common_prefix(old: str, new: str) -> int:
    """Characters that two texts share at their start, by halving: each comparison is one memcmp."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    return low


def _count_common_suffix(old: str, new: str, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        same = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return low
