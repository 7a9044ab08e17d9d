"""A note laid out in rows of which only those on screen were ever made.

The height of a chunk is guessed until it is drawn; sums of heights turn a row of the screen into a chunk
and back. Everything here is a function of the source, so a widget may ask again at any time, and nothing
here knows a widget.
"""

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Any, Literal

from memtui.ui.note.chunks import LOOKED_AHEAD, Chunk, split_markdown, split_plain
from memtui.ui.note.code import coloured
from memtui.ui.note.lines import RULER, Row, Span, code, prose
from memtui.ui.note.render import Context, columns_of, references, render
from memtui.ui.note.tables import Columns

Mode = Literal["rendered", "source"]

KEPT = 64
"""Chunks whose rows are kept once they were drawn."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """A line across a note, from which on it is something else, such as what no session loads."""

    line: int
    """The first source line below it, counted from 0."""
    words: str
    """What is said on it; safe to show."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a note is laid out."""

    syntax: str = "text"
    """`markdown`, `text`, or a language that code is coloured for."""
    mode: Mode = "rendered"
    """`rendered` for reading, `source` for the text as it is written."""
    width: int = 80
    """Cells of the text."""
    ruler: Ruler | None = None
    """Where the rest of the note is set apart."""

    @property
    def markdown(self) -> bool:
        """Whether the note is parsed as Markdown."""
        return self.syntax == "markdown" and self.mode == "rendered"


@dataclass(frozen=True, slots=True)
class Found:
    """A place in the rows."""

    chunk: int
    row: int
    start: int
    end: int


class Document:
    """One note: its source, its chunks, and the rows of those that were looked at."""

    def __init__(self, source: str, layout: Layout) -> None:
        """Cut the source into chunks; nothing is drawn yet.

        Args:
            source: The note.
            layout: How it is laid out.
        """
        self.source = source
        self.layout = layout
        self.chunks: list[Chunk] = []
        self._heights: list[int] = []
        self._tops: list[int] | None = None
        self._rows: OrderedDict[int, tuple[Row, ...]] = OrderedDict()
        self._exact: set[int] = set()
        self._columns: dict[tuple[int, int], Columns] = {}
        self._references: dict[str, Any] | None = None
        self._folded: str | None = None
        self.query = ""
        self._marks: dict[int, list[Found]] = {}
        self.chunks = list(self._split(0, 0))
        self._guess(0)

    def _split(self, start: int, line: int) -> Iterator[Chunk]:
        return (split_markdown if self.layout.markdown else split_plain)(self.source, start, line)

    def _guess(self, first: int) -> None:
        """Guess the heights of the chunks from `first` on."""
        width = max(8, self.layout.width)
        del self._heights[first:]
        chunks = self.chunks
        for index in range(first, len(chunks)):
            chunk = chunks[index]
            following = chunks[index + 1].line if index + 1 < len(chunks) else chunk.line
            size = chunk.end - chunk.start
            self._heights.append(max(1, following - chunk.line, size * 10 // (width * 9)))
        self._tops = None

    # --- what changes it

    def relayout(self, layout: Layout) -> None:
        """Lay the same source out in another way."""
        if layout == self.layout:
            return
        again = layout.markdown != self.layout.markdown
        self.layout = layout
        if again:
            self.chunks = list(self._split(0, 0))
        self._forget()
        self._guess(0)

    def _forget(self) -> None:
        self._rows.clear()
        self._exact.clear()
        self._columns.clear()
        self._marks.clear()

    def append(self, fragment: str) -> None:
        """Add text at the end; only what the new text may have a say in is cut anew, and only what differs is drawn."""
        if not fragment:
            return
        old = self.chunks
        keep = len(old)
        sure = len(self.source) - LOOKED_AHEAD
        while keep and (keep == len(old) or not old[keep].root or old[keep].start > sure):
            keep -= 1
        start, line = (old[keep].start, old[keep].line) if old else (0, 0)
        self.source += fragment
        if self._folded is not None:
            self._folded += _fold(fragment)
        self.chunks = [*old[:keep], *self._split(start, line)]
        while keep < min(len(old), len(self.chunks)) and old[keep] == self.chunks[keep]:
            keep += 1
        for index in [index for index in self._exact if index >= keep]:
            self._exact.discard(index)
            self._rows.pop(index, None)
            self._marks.pop(index, None)
        self._guess(keep)
        known = self._references
        if known is not None and "]:" in self.source[start:]:
            self._references = None
            if self.references != known:
                self._forget()

    @property
    def references(self) -> dict[str, Any]:
        """Definitions of links, as markdown-it expects them."""
        if self._references is None:
            self._references = {"references": references(self.source)}
        return self._references

    # --- rows

    @property
    def tops(self) -> list[int]:
        """The first row of each chunk, and the number of rows after the last one."""
        if self._tops is None:
            self._tops = [0, *accumulate(self._heights)]
        return self._tops

    @property
    def height(self) -> int:
        """Rows of the whole note, as far as they are known."""
        return self.tops[-1]

    def locate(self, y: int) -> tuple[int, int]:
        """The chunk that row `y` is in, and the row within it."""
        tops = self.tops
        index = min(len(self.chunks) - 1, bisect_right(tops, max(0, y)) - 1)
        return (index, y - tops[index]) if self.chunks else (-1, 0)

    def exact(self, index: int) -> bool:
        """Whether the height of the chunk is known, not guessed."""
        return index in self._exact

    def rows(self, index: int) -> tuple[Row, ...]:
        """The rows of a chunk; its height is exact from then on."""
        rows = self._rows.get(index)
        if rows is not None:
            self._rows.move_to_end(index)
            return rows
        rows = tuple(self._set_apart(index, self._draw(self.chunks[index])))
        self._rows[index] = rows
        while len(self._rows) > KEPT:
            self._marks.pop(self._rows.popitem(last=False)[0], None)
        self._exact.add(index)
        if self._heights[index] != len(rows):
            self._heights[index] = len(rows)
            self._tops = None
        return rows

    def row(self, y: int) -> tuple[int, int, Row] | None:
        """Chunk, place within it and row `y`; none beyond the end."""
        index, inner = self.locate(y)
        if index < 0:
            return None
        rows = self.rows(index)
        return (index, inner, rows[inner]) if 0 <= inner < len(rows) else None

    def draw_from(self, y: int, count: int) -> None:
        """Draw what is needed to show `count` rows from row `y` on."""
        index, _ = self.locate(y)
        while 0 <= index < len(self.chunks) and self.tops[index] < y + count:
            self.rows(index)
            index += 1

    def _draw(self, chunk: Chunk) -> list[Row]:
        layout = self.layout
        if layout.markdown:
            columns = self._table_columns(chunk) if chunk.kind == "table" else None
            refs = self.references if "[" in self.source[chunk.start : chunk.end] else {}
            return render(self.source, chunk, Context(layout.width, refs, columns))
        text = self.source[chunk.start : chunk.end]
        source = layout.mode == "source"
        words = layout.syntax in ("markdown", "text")
        lines = coloured(text, layout.syntax, chunk.line)
        rows: list[Row] = []
        for number, spans in enumerate(lines, chunk.line):
            if words and not source:
                rows += prose(spans, layout.width, number, number=True)
            else:
                rows += code(spans, layout.width, number, number=True, words=words)
        if not chunk.root and rows:
            rows[0] = replace(rows[0], join="", number=False)
        return rows

    def _set_apart(self, index: int, rows: list[Row]) -> list[Row]:
        """The rows of a chunk with the ruler among them, if it is there, and what is below it in its own style."""
        ruler = self.layout.ruler
        after = self.chunks[index + 1].line if index + 1 < len(self.chunks) else self.line_count + 1
        if ruler is None or after <= ruler.line:
            return rows
        at = next((at for at, row in enumerate(rows) if row.first >= ruler.line), len(rows))
        below = [
            replace(row, spans=tuple(Span(text, f"{style} beyond".lstrip(), line) for text, style, line in row.spans))
            for row in rows[at:]
        ]
        if self.chunks[index].line > ruler.line:
            return rows[:at] + below
        words = f"─── {ruler.words} "
        line = Span(words.ljust(self.layout.width, "─")[: max(self.layout.width, 1)], RULER, ruler.line)
        return [*rows[:at], Row((line,), ruler.line, ruler.line, fill=RULER, join=""), *below]

    def _table_columns(self, chunk: Chunk) -> Columns:
        index = bisect_right(self.chunks, chunk.start, key=lambda one: one.start) - 1
        while index + 1 < len(self.chunks) and self.chunks[index + 1].header == chunk.header:
            index += 1
        end = self.chunks[index].end
        key = (chunk.header[0], end)
        if key not in self._columns:
            found = columns_of(self.source, chunk.header, end, self.layout.width, self.references)
            self._columns[key] = found
        return self._columns[key]

    # --- source lines

    @property
    def line_count(self) -> int:
        """Lines of the source."""
        if not self.chunks:
            return 0
        last = self.chunks[-1]
        count = last.line + self.source.count("\n", last.start, last.end)
        return count if self.source.endswith("\n") else count + 1

    def line_at(self, offset: int) -> int:
        """Number of the source line at an offset, counted from 0."""
        chunk = self.chunks[self.chunk_at(offset)]
        return chunk.line + self.source.count("\n", chunk.start, offset)

    def chunk_at(self, offset: int) -> int:
        """The chunk that holds the offset."""
        return max(0, bisect_right(self.chunks, offset, key=lambda chunk: chunk.start) - 1)

    def row_of_line(self, line: int) -> int:
        """The first row that shows the source line or, where it has none, what comes after it."""
        if not self.chunks:
            return 0
        index = max(0, bisect_right(self.chunks, line, key=lambda chunk: chunk.line) - 1)
        while index and self.chunks[index].line == line and self.chunks[index - 1].line == line:
            index -= 1
        inner = next((at for at, row in enumerate(self.rows(index)) if row.last >= line and row.spans), None)
        return self.tops[index] + inner if inner is not None else min(self.tops[index + 1], self.height - 1)

    # --- search

    def search(self, query: str) -> int:
        """Look for a literal text and say how often the source holds it.

        Args:
            query: The text; letters of any case match unless it holds a capital.
        """
        self.query = query
        self._marks.clear()
        return self._haystack().count(query) if query else 0

    def _haystack(self) -> str:
        if self.query != self.query.lower():
            return self.source
        if self._folded is None:
            self._folded = _fold(self.source)
        return self._folded

    def next_match(self, offset: int) -> int:
        """Offset of the first match at or after the offset, or of the first one of all; -1 without any."""
        found = self._haystack().find(self.query, offset)
        return found if found >= 0 else self._haystack().find(self.query)

    def previous_match(self, offset: int) -> int:
        """Offset of the last match before the offset, or of the last one of all; -1 without any."""
        found = self._haystack().rfind(self.query, 0, max(0, offset + len(self.query) - 1))
        return found if found >= 0 else self._haystack().rfind(self.query)

    def marks(self, index: int) -> list[Found]:
        """Where the query stands in the rows of a chunk, also across the end of a row."""
        if not self.query:
            return []
        if index not in self._marks:
            self._marks[index] = list(self._find_marks(index))
        return self._marks[index]

    def _find_marks(self, index: int) -> Iterator[Found]:
        texts = ["" if row.fill == RULER else row.text for row in self.rows(index)]
        starts = [0, *accumulate(len(text) + 1 for text in texts)]
        flags = 0 if self.query != self.query.lower() else re.IGNORECASE
        between = r"(?: *\n[ │»]{0,80}| )"
        pattern = between.join(re.escape(word) for word in re.split(" ", self.query))
        for match in re.finditer(pattern, "\n".join(texts), flags):
            row = bisect_right(starts, match.start()) - 1
            while row < len(texts) and starts[row] < match.end():
                start = max(0, match.start() - starts[row])
                end = min(len(texts[row]), match.end() - starts[row])
                if start < end:
                    yield Found(index, row, start, end)
                row += 1

    def place(self, offset: int) -> Found:
        """Where the match at an offset of the source is drawn, as near as can be told."""
        index = self.chunk_at(offset)
        line = self.line_at(offset)
        rows = self.rows(index)
        near = [mark for mark in self.marks(index) if rows[mark.row].first <= line <= rows[mark.row].last]
        if near:
            begin = self.source.rfind("\n", 0, offset) + 1
            before = self._haystack().count(self.query, begin, offset)
            on_line = [mark for mark in near if rows[mark.row].first == line] or near
            return on_line[min(before, len(on_line) - 1)]
        row = next((at for at, row in enumerate(rows) if row.last >= line and row.spans), max(0, len(rows) - 1))
        return Found(index, row, 0, 0)


def _fold(text: str) -> str:
    """Lower case, character for character, so that offsets stay the same."""
    return text.replace("İ", "i").lower()


def moved_line(old: str, new: str, line: int) -> int:
    """Where a line of the old text stands in the new one: judged by what both share, else by its own words.

    Args:
        old: The text before.
        new: The text after.
        line: Number of a line of the old text, counted from 0.
    """
    shared = _shared(old, new)
    if line < old.count("\n", 0, shared):
        return line
    tail = len(old) - _shared_end(old, new, min(len(old), len(new)) - shared)
    first_shared = old.count("\n", 0, tail) + (tail > 0 and old[tail - 1] != "\n")
    if tail < len(old) and line >= first_shared:
        return line + new.count("\n") - old.count("\n")
    start = 0
    for _ in range(line):
        start = old.find("\n", start) + 1
    words = old[start : old.find("\n", start) % (len(old) + 1)]
    near = min(line, new.count("\n"))
    return min(_lines_like(new, words), key=lambda found: abs(found - line), default=near)


def _lines_like(text: str, words: str) -> Iterator[int]:
    """Numbers of the lines that read like this; no more than a few hundred, and none for an empty line."""
    if not words.strip():
        return
    at = 0
    line = 0
    for match in islice(re.finditer(f"(?m)^{re.escape(words)}$", text), 300):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield line


def _shared(old: str, new: str) -> int:
    """Characters that the two texts share at their start, by halving: each comparison is one memcmp."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shared_end(old: str, new: str, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        same = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return low
