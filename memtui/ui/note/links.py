"""Where the links of a note are drawn, so that one can be chosen with a key or clicked.

A link is read from the source and drawn in whatever way the note is shown: as it is written, or as the words that it
stands for. The two are brought together here: in a rendered note the links of a block and the runs of text that were
drawn as links are in the same order, and what is drawn as it is written is looked for as such.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from memtui.notes.links import Link, links_of
from memtui.ui.note.document import Document, Found, Layout
from memtui.ui.note.lines import Row, clean

_MARKUP = re.compile(r"[*_~`]+|\\(?=[!-/:-@\[-`{-~])")
_BREAK = r"(?:\n[ │»]{0,80})?"
_SPACE = r"(?: *\n[ │»]{0,80}| )"
_DRAWN = re.compile(r"[ │]*» |[ │]+")
_LONGEST = 200
"""Letters of a link that are looked for."""
_AHEAD = 4
"""Runs that are passed over to find the one of a link: a picture in a link is one of its own."""


class Links:
    """The links of one note, as it is shown.

    Args:
        document: The note.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.source = document.source
        self.links: Sequence[Link] = links_of(document.source, "")
        starts = [0, *(found.end() for found in re.finditer("\n", document.source))] if self.links else []
        self._offsets = [starts[link.line - 1] + link.span[0] for link in self.links]
        self._lines = [link.line - 1 for link in self.links]
        self._layout: Layout | None = None
        self._places: dict[int, dict[int, list[Found]]] = {}

    def is_of(self, document: Document) -> bool:
        """Whether these are the links of what is shown."""
        return self.document is document and self.source is document.source

    def places(self, number: int) -> list[Found]:
        """Where a link is drawn, row by row; empty where it is not to be told."""
        return self._of_chunk(self.document.chunk_at(self._offsets[number])).get(number, [])

    def row(self, number: int) -> int:
        """The first row, from the top of the note, that shows a link."""
        places = self.places(number)
        if places:
            return self.document.tops[places[0].chunk] + places[0].row
        return self.document.row_of_line(self._lines[number])

    def first_from(self, row: int, line: int) -> int:
        """The first link that is drawn at a row or below; the very first one if there is none.

        Args:
            row: From the top of the note.
            line: The first line of the source in that row, from 0.
        """
        for number in range(bisect_left(self._lines, line), len(self.links)):
            if self.row(number) >= row:
                return number
        return 0

    def under(self, chunk: int, row: int, character: int) -> int | None:
        """The link that is drawn at a character of a row."""
        for number, places in self._of_chunk(chunk).items():
            if any(place.row == row and place.start <= character < place.end for place in places):
                return number
        return None

    def _of_chunk(self, chunk: int) -> dict[int, list[Found]]:
        if self._layout != self.document.layout:
            self._layout = self.document.layout
            self._places.clear()
        if chunk not in self._places:
            self._places[chunk] = dict(self._find(chunk)) if self.document.chunks else {}
        return self._places[chunk]

    def _find(self, chunk: int) -> Iterator[tuple[int, list[Found]]]:
        document = self.document
        cut, rows = document.chunks[chunk], document.rows(chunk)
        numbers = range(bisect_left(self._offsets, cut.start), bisect_left(self._offsets, cut.end))
        texts = [row.text for row in rows]
        starts = [0, *accumulate(len(text) + 1 for text in texts)]
        runs = list(_runs(rows)) if document.layout.markdown else []
        at, seen = 0, dict[str, int]()
        whole = "\n".join(texts)
        for number in numbers:
            link = self.links[number]
            written = document.source[self._offsets[number] : self._offsets[number] + link.span[1] - link.span[0]]
            drawn = _words(link, written)
            found = next((here for here in range(at, min(at + _AHEAD, len(runs))) if runs[here][0] in drawn), None)
            if found is not None:
                yield number, [Found(chunk, *place) for place in runs[found][1]]
                at = found + 1
                continue
            written = _shown(written)[:_LONGEST]
            for words in dict.fromkeys((written, _MARKUP.sub("", written))):
                pattern = _BREAK.join(_SPACE if letter == " " else re.escape(letter) for letter in words)
                if words and (match := re.compile(pattern).search(whole, seen.get(words, 0))):
                    seen[words] = match.end()
                    yield number, list(_split(chunk, match.span(), starts, texts))
                    break


def _runs(rows: Sequence[Row]) -> Iterator[tuple[str, list[tuple[int, int, int]]]]:
    """The runs of text that are drawn as links, each with its places: row, start, end. One may go on a row below."""
    text, places = "", list[tuple[int, int, int]]()
    for number, row in enumerate(rows):
        at = 0
        for span in row.spans:
            end = at + len(span.text)
            if "link" in span.style.split() or "image" in span.style.split():
                text += span.text
                places.append((number, at, end))
            elif places and not _is_edge(span.style) and (at or span.text.strip()):
                yield _plain(text), places
                text, places = "", []
            at = end
        if text and not text.endswith(" ") and places and row.text.endswith(" "):
            text += " "
    if places:
        yield _plain(text), places


def _is_edge(style: str) -> bool:
    """Whether a span was drawn by us beside the text."""
    return bool({"indent", "quote-bar", "mark", "edge"}.intersection(style.split()))


def _words(link: Link, written: str) -> set[str]:
    """The words that a link may be drawn as."""
    label = _MARKUP.sub("", link.label)
    return {_plain(_shown(words)) for words in (link.label, label, written, link.target, f"[image: {label}]")}


def _plain(text: str) -> str:
    return " ".join(text.split())


def _shown(text: str) -> str:
    """A text as it is drawn, hidden characters made visible."""
    return "".join(span.text for span in clean(text))


def _split(chunk: int, span: tuple[int, int], starts: Sequence[int], texts: Sequence[str]) -> Iterator[Found]:
    """A run of the joined rows as places in each of them."""
    row = bisect_right(starts, span[0]) - 1
    while row < len(texts) and starts[row] < span[1]:
        start, end = max(0, span[0] - starts[row]), min(len(texts[row]), span[1] - starts[row])
        if start == 0 and (drawn := _DRAWN.match(texts[row])):
            start = drawn.end()  # what we drew before a row that goes on
        if start < end:
            yield Found(chunk, row, start, end)
        row += 1
