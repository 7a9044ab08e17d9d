"""Cut a note into chunks that can be parsed and drawn on their own.

Parsing a note as a whole makes the screen wait for text that nobody looks at, and a hostile note makes it
wait for ever. A chunk is a few kilobytes that mean the same alone as in their place: Markdown is cut where
a block ends for certain, and a single block that is too large (a table of thousands of rows, a fence of a
megabyte, a line without an end) is cut inside, each piece carrying what it needs to know about the whole.

The cut is greedy from the front and depends only on what stands before it, so that text appended at the end
changes nothing before the last `root` chunk.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

TARGET = 4096
"""Characters of an ordinary chunk, at most."""
LOOKED_AHEAD = 2 * TARGET
"""Characters behind the start of a chunk that tell how large it may be."""
LINES = 160
"""Lines of an ordinary chunk, about: where lines are short a chunk has fewer characters, down to 512."""
PIPES = 400
"""Pipes of an ordinary chunk, about: each may be a cell of a table."""
CODE = 2048
"""Characters of a piece of code that will be coloured, at most."""
LIMIT = 8192
"""Characters up to which a block is kept whole."""
LONG = 4000
"""Characters of a line beyond which it is shown as it is: parsing it could take quadratic time."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of the source, and what must be known to draw it alone."""

    start: int
    """Offset of its first character."""
    end: int
    """Offset behind its last character."""
    line: int
    """Number of its first source line, counted from 0."""
    kind: str
    """`markdown`, `front`, `fence`, `comment`, `table`, `list`, `code`, `prose`, `long` or `plain`."""
    gap: bool = False
    """Whether an empty row stands before it."""
    root: bool = True
    """Whether cutting may begin here; what stands before it is cut for good."""
    first: bool = True
    """Whether its block begins with it."""
    last: bool = True
    """Whether its block ends with it."""
    language: str = ""
    """Of a fence: the word after the marker."""
    header: tuple[int, int] = (0, 0)
    """Of a table: start and end of its header and delimiter rows."""
    ordinal: int = 0
    """Of an ordered list whose start is in another chunk: the number of its first item; else 0."""


def split_plain(source: str, start: int = 0, line: int = 0) -> Iterator[Chunk]:
    """Cut text whose lines mean nothing to each other; a line that is too long is cut as well.

    Args:
        source: The whole note.
        start: Offset to begin at: the start of a line.
        line: Number of that line.
    """
    end = len(source)
    inside = False
    while start < end:
        size = _window(source, start)
        stop = end if end - start <= size else source.rfind("\n", start, start + size) + 1
        if stop <= start:
            stop = source.find("\n", start, start + LIMIT) + 1 or _word_end(source, start, TARGET)
        ends = source[stop - 1] == "\n"
        yield Chunk(start, stop, line, "plain", root=not inside, first=not inside, last=ends or stop == end)
        line += source.count("\n", start, stop)
        inside = not ends
        start = stop


def _word_end(source: str, start: int, size: int) -> int:
    """The end of a piece of a long line: after a space if there is one, and not inside a character."""
    stop = min(len(source), start + size)
    if stop == len(source):
        return stop
    space = source.rfind(" ", start + size // 2, stop)
    if space > 0:
        return space + 1
    while stop > start + size // 2 and source[stop] in _ATTACHED:
        stop -= 1
    return stop


_ATTACHED = "\u200c\u200d\ufe0e\ufe0f"

_FRONT = re.compile(r"---[ \t]*\n(?:.*\n){0,400}?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")

_OPEN = re.compile(
    r"(?:\A|(?<=\n))(?P<indent>(?:[ \t]|[-*+>]|\d{1,9}[.)])*)"
    r"(?:(?P<fence>`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})"
    r"|(?P<html><!--|<\?|<!\[CDATA\[|<(?:script|pre|style|textarea)(?=[\s>]|\Z)))",
    re.IGNORECASE,
)
_HTML = re.compile(r"<(?:!--|\?|!\[CDATA\[|[sS][cC]|[sS][tT][yY]|[pP][rR][eE]|[tT][eE][xX][tT])")
_HTML_END = {"<!--": "-->", "<?": "?>", "<![cdata[": "]]>"}
_HTML_CLOSE = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_OUTSIDE = re.compile(r"\n(?=[^\s>])")
_OUTSIDE_QUOTE = re.compile(r"\n(?![ ]{0,3}>)")

_NO_BORDER = re.compile(r"\s|[-*+][ \t\n]|\d{1,9}[.)][ \t\n]")
"""What a line begins with that may belong to the list or code before an empty line."""
_HEADING = re.compile(r"#{1,6}[ \t\n]")
_ITEM = re.compile(r"(?:\A|(?<=\n))(?:([-*+])|(\d{1,9})([.)]))(?=[ \t])")
_ITEM_START = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?:\n|\Z)")


class _Region(NamedTuple):
    """A stretch in which nothing is Markdown: a fence or a block of HTML."""

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
    regions = _Regions(source, start)
    while start < end:
        stop = _next_border(source, start, regions)
        if stop - start <= LIMIT and not _dense(source, start, stop, 2) and not _long_line(source, start, stop):
            pieces: Iterator[Chunk] = iter([Chunk(start, stop, line, "markdown", gap=start > 0)])
        else:
            pieces = _pieces(source, start, stop, line, regions)
        for piece in pieces:
            yield piece
            line += source.count("\n", piece.start, piece.end)
        start = stop


class _Regions:
    """The regions of a note in order, found as far as they are asked for."""

    def __init__(self, source: str, start: int) -> None:
        self._source = source
        self._found: list[_Region] = []
        self._starts: list[int] = []
        self._at = start
        self._hints = [0, 0, 0]

    def covering(self, offset: int) -> _Region | None:
        """The region that the offset lies strictly inside of."""
        if offset >= self._at and self._none_open(offset):
            self._at = offset
            return None
        self._find(offset)
        index = bisect_left(self._starts, offset) - 1
        if index >= 0 and self._found[index].end > offset:
            return self._found[index]
        return None

    def large(self, start: int, end: int) -> _Region | None:
        """The first region within the stretch that is too large for one chunk and stands at top level."""
        self._find(end)
        for region in self._found[bisect_left(self._starts, start) : bisect_right(self._starts, end)]:
            if region.top and region.end - region.start > TARGET and region.start < end:
                return region
        return None

    def _find(self, offset: int) -> None:
        source = self._source
        while self._at <= offset:
            hint = self._hint()
            if hint < 0:
                self._at = len(source) + 1
                return
            begin = source.rfind("\n", self._at, hint) + 1 or self._at
            match = _OPEN.match(source, begin) if hint - begin < 200 else None
            if match is None or match.end() < hint:
                self._at = source.find("\n", hint) + 1 or len(source) + 1
                continue
            region = _region(source, begin, match)
            self._found.append(region)
            self._starts.append(begin)
            self._at = max(region.end, hint + 2)

    def _none_open(self, offset: int) -> bool:
        """Whether no region is open at the offset, told from a quick look at fences at the margin."""
        source, at = self._source, self._at
        if offset - at > TARGET or _HTML.search(source, at, offset) or source.find("~~~", at, offset) >= 0:
            return False
        text = source[at:offset]
        marks = text.count("```")
        if not marks:
            return True
        if "````" in text:
            return False
        before, *parts = ("\n" + text if source[at - 1 : at] in ("\n", "") else text).split("\n```")
        del before
        if len(parts) != marks or marks % 2:
            return False
        closed = all(part.startswith("\n") or not part for part in parts[1::2])
        return closed and not any("`" in part.partition("\n")[0] for part in parts[::2])

    def _hint(self) -> int:
        """Where the next fence or HTML may begin; -1 where there is none. Each text is searched for once."""
        at = self._at
        hints = self._hints
        for index, found in enumerate(hints):
            if 0 <= found < at or at == 0:
                if index < 2:
                    hints[index] = self._source.find(_FENCES[index], at)
                else:
                    html = _HTML.search(self._source, at)
                    hints[index] = html.start() if html else -1
        return min((found for found in hints if found >= 0), default=-1)


_FENCES = ("```", "~~~")


def _region(source: str, begin: int, match: re.Match[str]) -> _Region:
    prefix, fence, html = match.groups()
    top = not prefix or (len(prefix) < 4 and not prefix.strip(" "))
    if fence:
        line_end = source.find("\n", match.end())
        info = source[match.end() : line_end if line_end >= 0 else len(source)]
        close = _closing(fence[0], len(fence)).search(source, match.end())
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
    return _Region(begin, end, kind, language, top)


@lru_cache(64)
def _closing(character: str, count: int) -> re.Pattern[str]:
    return re.compile(rf"\n[ \t>]*{re.escape(character)}{{{count},}}[ \t]*(?:\n|\Z)")


def _window(source: str, start: int) -> int:
    """Characters that a chunk may have: fewer where lines are short, since each costs a row."""
    size = 512
    while size < TARGET and not _dense(source, start, start + 2 * size, 1):
        size *= 2
    return size


def _dense(source: str, start: int, stop: int, times: int) -> bool:
    """Whether the stretch would make more rows or cells than that many ordinary chunks."""
    lines = source.count("\n", start, stop)
    return lines > times * LINES or source.count("|", start, stop) > times * PIPES


def _next_border(source: str, start: int, regions: _Regions) -> int:
    """The end of the chunk that begins at `start`: the last border within the window, else the first one."""
    end = len(source)
    window = start + _window(source, start)
    if end <= window:
        return end
    at = window
    while (at := source.rfind("\n", start, at)) >= 0:
        if _is_border(source, at + 1) and at + 1 > start:
            region = regions.covering(at + 1)
            if region is None:
                return at + 1
            if region.start > start and region.top and region.end - region.start > TARGET:
                return region.start
            at = region.start
    at = max(start, window - 1)
    while match := _BORDER.search(source, at):
        at = match.end()
        region = regions.covering(at)
        if region is None:
            return at
        if region.start > start and region.top and region.end - region.start > TARGET:
            return region.start
        at = max(at - 1, region.end - 2)
    return end


_BORDER = re.compile(
    r"\n[ \t]*\n(?=(?![-*+][ \t\n]|\d{1,9}[.)][ \t\n])\S)"  # an empty line, then no list and no indent
    r"|\n(?=\#{1,6}[ \t\n])"  # a heading ends whatever stands before it
)


def _is_border(source: str, at: int) -> bool:
    """Whether a block ends before the line at the offset, whatever stands around it."""
    if source.startswith("#", at):
        return _HEADING.match(source, at) is not None
    if at < 2 or _NO_BORDER.match(source, at) or at >= len(source):
        return False
    before = source.rfind("\n", max(0, at - 200), at - 1)
    return before >= 0 and (before == at - 2 or source[before:at].isspace())


def _long_line(source: str, start: int, stop: int) -> bool:
    """Whether a line in the stretch is longer than may be parsed."""
    while stop - start > LONG:
        at = source.rfind("\n", start, start + LONG)
        if at < start:
            return source.find("\n", start, min(stop, start + LONG + 1)) < 0
        start = at + 1
    return False


def _pieces(source: str, start: int, stop: int, line: int, regions: _Regions) -> Iterator[Chunk]:
    """Cut a stretch that no border divides: by its large regions and tables first, then by what is left."""
    gap = start > 0
    root = True
    while start < stop:
        region = regions.large(start, stop)
        table = _table(source, start, region.start if region else stop)
        if region is not None and region.start == start:
            upto = min(region.end, stop)
            block = Chunk(start, upto, line, region.kind, gap, language=region.language)
            made = _by_lines(source, block)
        elif table is not None and table[0] == start:
            upto = table[2]
            made = _by_lines(source, Chunk(start, upto, line, "table", gap, header=(start, table[1])))
        else:
            upto = min(table[0] if table else stop, region.start if region else stop)
            made = _by_kind(source, Chunk(start, upto, line, "markdown", gap), regions)
        for piece in made:
            yield piece if root else replace(piece, root=False)
            root = False
            line += source.count("\n", piece.start, piece.end)
        start = upto
        gap = True


def _table(source: str, start: int, stop: int) -> tuple[int, int, int] | None:
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
            end = _table_end(source, delimiter.end(), stop)
            if end - head > TARGET or _dense(source, head, end, 1):
                return head, delimiter.end(), end
            at = end
    return None


_PIPE = re.compile(r"-:?[ \t]*\|")
_TABLE_END = re.compile(r"\n(?=[ \t]*(?:\n|\Z)|[#>]|```|~~~|[-*+] |<)")


def _table_end(source: str, start: int, stop: int) -> int:
    match = _TABLE_END.search(source, max(0, start - 1), stop)
    return min(match.end(), stop) if match else stop


def _by_kind(source: str, block: Chunk, regions: _Regions) -> Iterator[Chunk]:
    """Cut an ordinary stretch: before list items, else before lines of the same sort, else inside a line."""
    start, stop, line = block.start, block.end, block.line
    counter = _Counter("", 0)
    first = True
    while start < stop:
        opener = source[start : start + 12]
        kind = "list" if _ITEM_START.match(opener) else "code" if opener[:4].isspace() else "markdown"
        end = stop
        newline = source.find("\n", start, min(stop, start + LONG + 1))
        inside = start > 0 and source[start - 1] != "\n"
        if inside and newline >= 0:
            kind, end = "long", newline + 1
        elif inside or (newline < 0 and stop - start > LONG):
            kind = "long"
            end = min(source.find("\n", start, stop) + 1 or stop, _word_end(source, start, TARGET), stop)
        elif stop - start > _window(source, start) or _long_line(source, start, min(stop, start + LIMIT)):
            end = _inner_border(source, start, stop, kind, regions)
        text = source[start:end]
        yield Chunk(
            start,
            end,
            line,
            kind,
            gap=block.gap if first else not inside and _gap(source, start),
            root=first,
            first=first,
            last=end == stop,
            ordinal=counter.following(opener) if kind == "list" and not first else 0,
        )
        counter = counter.after(text)
        line += text.count("\n")
        start = end
        first = False


class _Counter(NamedTuple):
    """The list at the margin that is open, and the number of its last item."""

    marker: str
    number: int

    def following(self, text: str) -> int:
        """The number of the item that the text begins with; 0 where it begins a list."""
        match = _ITEM.match(text)
        return self.number + 1 if match and match[3] and match[3] == self.marker else 0

    def after(self, text: str) -> "_Counter":
        """The counter behind the text."""
        marker, number = self
        for bullet, digits, delimiter in _ITEM.findall(text):
            number = number + 1 if delimiter == marker else int(digits or 0)
            marker = bullet or delimiter
        return _Counter(marker, number)


def _gap(source: str, start: int) -> bool:
    """Whether the line before the offset is empty, or the line there begins another block."""
    before = source.rfind("\n", 0, start - 1) + 1
    return not source[before:start].strip() or source.startswith(("#", "---", "***", "___", "<"), start)


def _inner_border(source: str, start: int, stop: int, kind: str, regions: _Regions) -> int:
    """A line to cut before, inside a block of the kind."""
    window = min(stop, start + _window(source, start))
    lines = [start + match.end() for match in re.finditer("\n", source[start:window])]
    sizes = zip([start, *lines], [*lines, stop], strict=True)
    upto = next(
        (begin for begin, end in sizes if end - begin > LONG and _long_line(source, begin, min(stop, begin + LIMIT))),
        stop,
    )
    lines = [at for at in lines if start < at <= upto and at < stop]
    if upto in lines:
        return upto
    good = 0
    for at in reversed(lines[-LOOK_BACK:]):
        if regions.covering(at) is not None:
            continue
        following = source[at : at + 12]
        if _ITEM_START.match(following) or (kind == "code" and following[:4] == "    " and following.strip()):
            return at
        if not good and kind != "list" and following[:1].isalnum():
            good = at
    return good or (lines[-1] if lines else min(stop, window))


LOOK_BACK = 40
"""Lines that are looked at for a good place to cut in; beyond them any line will do."""


def _by_lines(source: str, block: Chunk) -> Iterator[Chunk]:
    """Cut a block whose lines stand for themselves: a fence, HTML, a table."""
    begin, stop, line = block.start, block.end, block.line
    first = True
    while begin < stop:
        size = min(_window(source, begin), CODE if block.language else TARGET)
        end = stop if stop - begin <= size else source.rfind("\n", begin, begin + size) + 1
        if end <= begin:
            end = source.find("\n", begin, min(stop, begin + LIMIT)) + 1 or _word_end(source, begin, TARGET)
        end = max(end, block.header[1])
        yield replace(
            block,
            start=begin,
            end=end,
            line=line,
            gap=block.gap and first,
            root=first,
            first=first,
            last=end >= stop,
        )
        line += source.count("\n", begin, end)
        begin = end
        first = False
