"""Cut a note into chunks that can be parsed and drawn on their own.

Parsing a whole note makes the screen wait for text that is out of view; a hostile note makes it wait for ever. A chunk
is a few kilobytes that mean the same alone as in their place: Markdown is cut where a block ends for certain, and a
block that is too large (a table of thousands of rows, a fence of a megabyte, a line without an end) is cut inside, each
piece with what it needs to know about the whole.

The cut is greedy and depends only on the text before it, so that text appended at the end changes nothing before the
last `root` chunk.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memtui.core.lazy_dataclass import dataclass
from memtui.core.lazy_regex import compile_lazily
from memtui.ui.widgets.markdown.rows import ATTACHED

TARGET = 4096
"""Characters of an ordinary chunk, at most."""
LOOKED_AHEAD = 2 * TARGET
"""Characters behind the start of a chunk that decide how large it may be."""
LINES = 160
"""Lines of an ordinary chunk, about: chunks of short lines have fewer characters, down to 512."""
PIPES = 400
"""Pipes of an ordinary chunk, about: each may be a cell of a table."""
CODE = 2048
"""Characters of a piece of code that is coloured, at most."""
LIMIT = 8192
"""Characters up to which a block is kept whole."""
LONG = 4000
"""Characters of a line beyond which it is not parsed, which could take quadratic time."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of the source, with what must be known to draw it alone.

    Attributes:
        start: Offset of its first character.
        end: Offset behind its last character.
        line: Its first source line, counted from 0.
        kind: `markdown`, `front`, `fence`, `comment`, `table`, `list`, `code`, `prose`, `long` or `plain`.
        gap: Whether an empty row stands before it.
        root: Whether cutting may begin here; the cuts before it are final.
        first: Whether its block begins with it.
        last: Whether its block ends with it.
        language: Of a fence: the word after the marker.
        header: Of a table: start and end of its header and delimiter rows.
        ordinal: Of an ordered list whose start is in another chunk: the number of its first item; else 0.
    """

    start: int
    end: int
    line: int
    kind: str
    gap: bool = False
    root: bool = True
    first: bool = True
    last: bool = True
    language: str = ""
    header: tuple[int, int] = (0, 0)
    ordinal: int = 0


def split_plain(source: str, start: int = 0, line: int = 0) -> Iterator[Chunk]:
    """Cut text that is not Markdown; a line that is too long is cut as well.

    Args:
        source: The whole note.
        start: Offset to begin at: the start of a line.
        line: Number of that line.
    """
    end = len(source)
    inside = False
    while start < end:
        stop = _find_piece_end(source, start, end, TARGET)
        ends = source[stop - 1] == "\n"
        yield Chunk(start, stop, line, "plain", root=not inside, first=not inside, last=ends or stop == end)
        line += source.count("\n", start, stop)
        inside = not ends
        start = stop


def _find_piece_end(source: str, start: int, stop: int, most: int) -> int:
    """The end of a piece of whole lines; of part of a line that is too long."""
    size = min(_measure_window(source, start), most)
    if stop - start <= size:
        return stop
    newline = source.rfind("\n", start, start + size)
    if newline < 0:
        newline = source.find("\n", start, min(stop, start + LIMIT))
    return newline + 1 if newline >= 0 else _find_word_end(source, start, TARGET)


def _find_word_end(source: str, start: int, size: int) -> int:
    """The end of a piece of a long line: after a space if there is one, and not inside a character."""
    stop = min(len(source), start + size)
    if stop == len(source):
        return stop
    space = source.rfind(" ", start + size // 2, stop)
    if space > 0:
        return space + 1
    while stop > start + size // 2 and source[stop] in ATTACHED:
        stop -= 1
    return stop


_FRONT = compile_lazily(r"---[ \t]*\n(?:.*\n){0,400}?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")

_OPEN = compile_lazily(
    r"(?:\A|(?<=\n))(?P<indent>(?:[ \t]|[-*+>]|\d{1,9}[.)])*)"
    r"(?:(?P<fence>`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})"
    r"|(?P<html><!--|<\?|<!\[CDATA\[|<(?:script|pre|style|textarea)(?=[\s>]|\Z)))",
    re.IGNORECASE,
)
_HTML = compile_lazily(r"<(?:!--|\?|!\[CDATA\[|[sS][cC]|[sS][tT][yY]|[pP][rR][eE]|[tT][eE][xX][tT])")
_HTML_END = {"<!--": "-->", "<?": "?>", "<![cdata[": "]]>"}
_HTML_CLOSE = compile_lazily(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_OUTSIDE = re.compile(r"\n(?=[^\s>])")
_OUTSIDE_QUOTE = compile_lazily(r"\n(?![ ]{0,3}>)")

_NO_BORDER = compile_lazily(r"\s|[-*+][ \t\n]|\d{1,9}[.)][ \t\n]")
"""The start of a line that may belong to the list or code before an empty line."""
_HEADING = re.compile(r"#{1,6}[ \t\n]")
_ITEM = re.compile(r"(?:\A|(?<=\n))(?:([-*+])|(\d{1,9})([.)]))(?=[ \t])")
_ITEM_START = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_DELIMITER = compile_lazily(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+(?:\n|\Z)")


class _OpaqueRegion(NamedTuple):
    """A stretch without Markdown: a fence or a block of HTML."""

    start: int
    end: int
    kind: str
    language: str
    top: bool


def split_markdown(source: str, start: int = 0, line: int = 0) -> Iterator[Chunk]:
    """Cut Markdown where a block ends, and blocks that are too large inside.

    Args:
        source: The whole note.
        start: Offset to begin at: 0 or the start of a root chunk.
        line: Number of the line there.
    """
    end = len(source)
    if start == 0 and (front := _FRONT.match(source)) and front.end() <= TARGET:
        yield Chunk(0, front.end(), 0, "front")
        start = front.end()
        line = source.count("\n", 0, start)
    regions = _RegionIndex(source, start)
    while start < end:
        stop = _find_next_border(source, start, regions)
        if stop - start <= LIMIT and not _is_dense(source, start, stop, 2) and not _has_long_line(source, start, stop):
            pieces: Iterator[Chunk] = iter([Chunk(start, stop, line, "markdown", gap=start > 0)])
        else:
            pieces = _split_block(source, start, stop, line, regions)
        for piece in pieces:
            yield piece
            line += source.count("\n", piece.start, piece.end)
        start = stop


class _RegionIndex:
    """The regions of a note in order, found as far as they are asked for."""

    def __init__(self, source: str, start: int) -> None:
        self._source = source
        self._found: list[_OpaqueRegion] = []
        self._starts: list[int] = []
        self._at = start
        self._hints = [0, 0, 0]

    def find_covering(self, offset: int) -> _OpaqueRegion | None:
        """The region that an offset lies strictly inside of."""
        if offset >= self._at and self._is_outside(offset):
            self._at = offset
            return None
        self._scan_to(offset)
        index = bisect_left(self._starts, offset) - 1
        if index >= 0 and self._found[index].end > offset:
            return self._found[index]
        return None

    def find_large(self, start: int, end: int) -> _OpaqueRegion | None:
        """The first region of a stretch that is too large for one chunk and stands at top level."""
        self._scan_to(end)
        for region in self._found[bisect_left(self._starts, start) : bisect_right(self._starts, end)]:
            if region.top and region.end - region.start > TARGET and region.start < end:
                return region
        return None

    def _scan_to(self, offset: int) -> None:
        source = self._source
        while self._at <= offset:
            hint = self._find_hint()
            if hint < 0:
                self._at = len(source) + 1
                return
            begin = source.rfind("\n", self._at, hint) + 1 or self._at
            match = _OPEN.match(source, begin) if hint - begin < 200 else None
            if match is None or match.end() < hint:
                self._at = source.find("\n", hint) + 1 or len(source) + 1
                continue
            region = _parse_region(source, begin, match)
            self._found.append(region)
            self._starts.append(begin)
            self._at = max(region.end, hint + 2)

    def _is_outside(self, offset: int) -> bool:
        """Whether no region is open at an offset, by a quick look at fences at the margin."""
        source, at = self._source, self._at
        if offset - at > TARGET or _HTML.search(source, at, offset) or source.find("~~~", at, offset) >= 0:
            return False
        text = source[at:offset]
        marks = text.count("```")
        if not marks:
            return True
        if "````" in text:
            return False
        _, *parts = ("\n" + text if source[at - 1 : at] in ("\n", "") else text).split("\n```")
        if len(parts) != marks or marks % 2:
            return False
        closed = all(part.startswith("\n") or not part for part in parts[1::2])
        return closed and not any("`" in part.partition("\n")[0] for part in parts[::2])

    def _find_hint(self) -> int:
        """Where the next fence or HTML may begin; -1 without any. Each text is searched for once."""
        at = self._at
        hints = self._hints
        for index, fence in enumerate(("```", "~~~", "")):
            if 0 <= hints[index] < at or at == 0:
                if fence:
                    hints[index] = self._source.find(fence, at)
                else:
                    html = _HTML.search(self._source, at)
                    hints[index] = html.start() if html else -1
        return min((found for found in hints if found >= 0), default=-1)


def _parse_region(source: str, begin: int, match: re.Match[str]) -> _OpaqueRegion:
    prefix, fence, html = match.groups()
    top = not prefix or (len(prefix) < 4 and not prefix.strip(" "))
    if fence:
        line_end = source.find("\n", match.end())
        info = source[match.end() : line_end if line_end >= 0 else len(source)]
        close = _compile_closing(fence[0], len(fence)).search(source, match.end())
        end = close.end() if close else len(source)
        kind, language = "fence", info.split(maxsplit=1)[0] if info and not info.isspace() else ""
    else:
        if mark := _HTML_END.get(html.lower()):
            at = source.find(mark, match.end())
        else:
            close = _HTML_CLOSE.search(source, match.end())
            at = close.start() if close else -1
        end = source.find("\n", at) + 1 or len(source) if at >= 0 else len(source)
        kind, language = "comment", ""
    if prefix:
        outside = (_OUTSIDE_QUOTE if ">" in prefix else _OUTSIDE).search(source, match.end(), end)
        if outside:
            end = outside.end()
    return _OpaqueRegion(begin, end, kind, language, top)


@lru_cache(64)
def _compile_closing(character: str, count: int) -> re.Pattern[str]:
    return re.compile(rf"\n[ \t>]*{re.escape(character)}{{{count},}}[ \t]*(?:\n|\Z)")


def _measure_window(source: str, start: int) -> int:
    """Characters that a chunk may have: fewer where lines are short, since each costs a row."""
    size = 512
    while size < TARGET and not _is_dense(source, start, start + 2 * size, 1):
        size *= 2
    return size


def _is_dense(source: str, start: int, stop: int, times: int) -> bool:
    """Whether a stretch would make more rows or cells than a number of ordinary chunks."""
    lines = source.count("\n", start, stop)
    return lines > times * LINES or source.count("|", start, stop) > times * PIPES


def _find_next_border(source: str, start: int, regions: _RegionIndex) -> int:
    """The end of the chunk that begins at `start`: the last border within the window, else the first one."""
    end = len(source)
    window = start + _measure_window(source, start)
    if end <= window:
        return end
    at = window
    while (at := source.rfind("\n", start, at)) >= 0:
        if _is_border(source, at + 1) and at + 1 > start:
            region = regions.find_covering(at + 1)
            if region is None:
                return at + 1
            if region.start > start and region.top and region.end - region.start > TARGET:
                return region.start
            at = region.start
    at = max(start, window - 1)
    while match := _BORDER.search(source, at):
        at = match.end()
        region = regions.find_covering(at)
        if region is None:
            return at
        if region.start > start and region.top and region.end - region.start > TARGET:
            return region.start
        at = max(at - 1, region.end - 2)
    return end


_BORDER = compile_lazily(
    r"\n[ \t]*\n(?=(?![-*+][ \t\n]|\d{1,9}[.)][ \t\n])\S)"  # an empty line, then no list and no indent
    r"|\n(?=\#{1,6}[ \t\n])"  # a heading ends whatever stands before it
)


def _is_border(source: str, at: int) -> bool:
    """Whether a block ends before the line at an offset, whatever stands around it."""
    if source.startswith("#", at):
        return _HEADING.match(source, at) is not None
    if at < 2 or _NO_BORDER.match(source, at) or at >= len(source):
        return False
    before = source.rfind("\n", max(0, at - 200), at - 1)
    return before >= 0 and (before == at - 2 or source[before:at].isspace())


def _has_long_line(source: str, start: int, stop: int) -> bool:
    """Whether a stretch has a line that is longer than may be parsed."""
    while stop - start > LONG:
        at = source.rfind("\n", start, start + LONG)
        if at < start:
            return source.find("\n", start, min(stop, start + LONG + 1)) < 0
        start = at + 1
    return False


def _split_block(source: str, start: int, stop: int, line: int, regions: _RegionIndex) -> Iterator[Chunk]:
    """Cut a stretch that no border divides: its large regions and tables first, then the rest."""
    gap = start > 0
    root = True
    while start < stop:
        region = regions.find_large(start, stop)
        table = _find_table(source, start, region.start if region else stop)
        if region is not None and region.start == start:
            upto = min(region.end, stop)
            pieces = _split_by_lines(source, Chunk(start, upto, line, region.kind, gap, language=region.language))
        elif table is not None and table[0] == start:
            upto = table[2]
            pieces = _split_by_lines(source, Chunk(start, upto, line, "table", gap, header=(start, table[1])))
        else:
            upto = min(table[0] if table else stop, region.start if region else stop)
            pieces = _split_by_kind(source, Chunk(start, upto, line, "markdown", gap), regions)
        for piece in pieces:
            yield piece if root else replace(piece, root=False)
            root = False
            line += source.count("\n", piece.start, piece.end)
        start = upto
        gap = True


def _find_table(source: str, start: int, stop: int) -> tuple[int, int, int] | None:
    """Start, end of the header and end of the first table at the margin that is too large for one chunk."""
    at = start
    while hint := _PIPE.search(source, at, stop):
        begin = source.rfind("\n", start, hint.start()) + 1
        at = source.find("\n", hint.end(), stop) + 1 or stop
        if begin <= start or at - begin > LONG:
            continue
        head = source.rfind("\n", start, begin - 1) + 1 or start
        if begin - head > LONG or source[head] in " \t\n>" or "|" not in source[head:begin]:
            continue
        delimiter = _DELIMITER.match(source, begin, stop)
        if delimiter:
            after = _TABLE_END.search(source, max(0, delimiter.end() - 1), stop)
            end = min(after.end(), stop) if after else stop
            if end - head > TARGET or _is_dense(source, head, end, 1):
                return head, delimiter.end(), end
            at = end
    return None


_PIPE = re.compile(r"-:?[ \t]*\|")
_TABLE_END = compile_lazily(r"\n(?=[ \t]*(?:\n|\Z)|[#>]|```|~~~|[-*+] |<)")


def _split_by_kind(source: str, block: Chunk, regions: _RegionIndex) -> Iterator[Chunk]:
    """Cut an ordinary stretch: before list items, else before lines of the same sort, else inside a line."""
    start, stop, line = block.start, block.end, block.line
    counter = _ListCounter("", 0)
    while start < stop:
        first = start == block.start
        opener = source[start : start + 12]
        kind = "list" if _ITEM_START.match(opener) else "code" if opener[:4].isspace() else "markdown"
        end = stop
        newline = source.find("\n", start, min(stop, start + LONG + 1))
        inside = start > 0 and source[start - 1] != "\n"
        if inside and newline >= 0:
            kind, end = "long", newline + 1
        elif inside or (newline < 0 and stop - start > LONG):
            kind = "long"
            end = min(source.find("\n", start, stop) + 1 or stop, _find_word_end(source, start, TARGET), stop)
        elif stop - start > _measure_window(source, start) or _has_long_line(source, start, min(stop, start + LIMIT)):
            end = _find_inner_border(source, start, stop, kind, regions)
        text = source[start:end]
        gap = block.gap if first else not inside and _has_gap(source, start)
        ordinal = counter.get_next_number(opener) if kind == "list" and not first else 0
        yield Chunk(start, end, line, kind, gap, root=first, first=first, last=end == stop, ordinal=ordinal)
        counter = counter.advance(text)
        line += text.count("\n")
        start = end


class _ListCounter(NamedTuple):
    """The open list at the margin, and the number of its last item."""

    marker: str
    number: int

    def get_next_number(self, text: str) -> int:
        """The number of the item at the start of a text; 0 where it begins a list."""
        match = _ITEM.match(text)
        return self.number + 1 if match and match[3] and match[3] == self.marker else 0

    def advance(self, text: str) -> "_ListCounter":
        """The counter behind a text."""
        marker, number = self
        for bullet, digits, delimiter in _ITEM.findall(text):
            number = number + 1 if delimiter == marker else int(digits or 0)
            marker = bullet or delimiter
        return _ListCounter(marker, number)


def _has_gap(source: str, start: int) -> bool:
    """Whether the line before an offset is empty, or the line there begins another block."""
    before = source.rfind("\n", 0, start - 1) + 1
    return not source[before:start].strip() or source.startswith(("#", "---", "***", "___", "<"), start)


def _find_inner_border(source: str, start: int, stop: int, kind: str, regions: _RegionIndex) -> int:
    """A line to cut before, inside a block of the kind."""
    window = min(stop, start + _measure_window(source, start))
    lines = [start + match.end() for match in re.finditer("\n", source[start:window])]
    upto = _find_long_line(source, [start, *lines, stop])
    lines = [at for at in lines if start < at <= upto and at < stop]
    if upto in lines:
        return upto
    good = 0
    for at in reversed(lines[-LOOK_BACK:]):
        if regions.find_covering(at) is not None:
            continue
        following = source[at : at + 12]
        if _ITEM_START.match(following) or (kind == "code" and following[:4] == "    " and following.strip()):
            return at
        if not good and kind != "list" and following[:1].isalnum():
            good = at
    return good or (lines[-1] if lines else min(stop, window))


def _find_long_line(source: str, bounds: Sequence[int]) -> int:
    """The start of the first line between two bounds that is longer than may be parsed, else the last bound."""
    stop = bounds[-1]
    large = (begin for begin, end in pairwise(bounds) if end - begin > LONG)
    return next((begin for begin in large if _has_long_line(source, begin, min(stop, begin + LIMIT))), stop)


LOOK_BACK = 40
"""Lines that are searched for a good place to cut; beyond them any line will do."""


def _split_by_lines(source: str, block: Chunk) -> Iterator[Chunk]:
    """Cut a block whose lines stand for themselves: a fence, HTML, a table."""
    begin, line = block.start, block.line
    while begin < block.end:
        end = max(_find_piece_end(source, begin, block.end, CODE if block.language else TARGET), block.header[1])
        first, last = begin == block.start, end >= block.end
        gap = block.gap and first
        yield replace(block, start=begin, end=end, line=line, gap=gap, root=first, first=first, last=last)
        line += source.count("\n", begin, end)
        begin = end
