"""Where the links of a note are drawn, so that one can be selected with a key or clicked.

A link is read from the source and drawn as it is written, or as its words. In a rendered note the links of a block and
the runs of text that are drawn as links are in the same order; text that is drawn as it is written is searched for.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from memtui.notes.links import Link, find_links
from memtui.ui.widgets.markdown.document import NoteDocument, NoteLayout, RowSpan, split_match
from memtui.ui.widgets.markdown.rows import MarkdownRow, sanitize_text

_MARKUP = re.compile(r"[*_~`]+|\\(?=[!-/:-@\[-`{-~])")
_BETWEEN = re.compile(r" +|\n[ │»]*")
"""What may stand between two letters of a link as it is drawn: a link that is wrapped has more of it."""
_DRAWN = re.compile(r"[ │]*» |[ │]+")
_LONGEST = 200
"""Characters of a link that are searched for."""
_AHEAD = 4
"""Runs that are passed over to find the one of a link: a picture in a link is one of its own."""


class NoteLinks:
    """The links of one note, as it is shown."""

    def __init__(self, document: NoteDocument) -> None:
        self.document = document
        self.source = document.source
        self.links: Sequence[Link] = find_links(document.source, "")
        starts = [0, *(found.end() for found in re.finditer("\n", document.source))] if self.links else []
        self._offsets = [starts[link.line - 1] + link.span[0] for link in self.links]
        self._lines = [link.line - 1 for link in self.links]
        self._layout: NoteLayout | None = None
        self._spans: dict[int, dict[int, list[RowSpan]]] = {}

    def is_current(self, document: NoteDocument) -> bool:
        """Whether these are the links of a document as it is now."""
        return self.document is document and self.source is document.source

    def get_spans(self, number: int) -> list[RowSpan]:
        """Where a link is drawn, row by row; empty where it is not found."""
        return self._get_chunk_links(self.document.find_chunk_at(self._offsets[number])).get(number, [])

    def get_row(self, number: int) -> int:
        """The first row of the note that shows a link."""
        places = self.get_spans(number)
        if places:
            return self.document.tops[places[0].chunk] + places[0].row
        return self.document.find_row_of_line(self._lines[number])

    def find_first_from(self, row: int, line: int) -> int:
        """The first link at or below a row of the note, whose first source line is given; else the very first."""
        for number in range(bisect_left(self._lines, line), len(self.links)):
            if self.get_row(number) >= row:
                return number
        return 0

    def find_link_at(self, chunk: int, row: int, character: int) -> int | None:
        """The link at a character of a row."""
        for number, places in self._get_chunk_links(chunk).items():
            if any(place.row == row and place.start <= character < place.end for place in places):
                return number
        return None

    def _get_chunk_links(self, chunk: int) -> dict[int, list[RowSpan]]:
        if self._layout != self.document.layout:
            self._layout = self.document.layout
            self._spans.clear()
        if chunk not in self._spans:
            self._spans[chunk] = dict(self._find_in_chunk(chunk)) if self.document.chunks else {}
        return self._spans[chunk]

    def _find_in_chunk(self, chunk: int) -> Iterator[tuple[int, list[RowSpan]]]:
        document = self.document
        cut, rows = document.chunks[chunk], document.get_rows(chunk)
        numbers = range(bisect_left(self._offsets, cut.start), bisect_left(self._offsets, cut.end))
        texts = [row.text for row in rows]
        starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
        runs = list(_find_link_runs(rows)) if document.layout.is_markdown else []
        at, seen = 0, dict[str, int]()
        letters, offsets = _join_letters("\n".join(texts))
        for number in numbers:
            link = self.links[number]
            written = document.source[self._offsets[number] : self._offsets[number] + link.span[1] - link.span[0]]
            drawn = _list_link_texts(link, written)
            found = next((here for here in range(at, min(at + _AHEAD, len(runs))) if runs[here][0] in drawn), None)
            if found is not None:
                yield number, [RowSpan(chunk, *place) for place in runs[found][1]]
                at = found + 1
                continue
            written = _format_visible(written[:_LONGEST])[:_LONGEST].replace(" ", "")
            for words in dict.fromkeys((written, _MARKUP.sub("", written))):
                start = letters.find(words, seen.get(words, 0)) if words else -1
                if start >= 0:
                    end = seen[words] = start + len(words)
                    span = offsets[start], offsets[end - 1] + 1
                    yield number, list(_split_drawn(chunk, span, texts, starts))
                    break


def _find_link_runs(rows: Sequence[MarkdownRow]) -> Iterator[tuple[str, list[tuple[int, int, int]]]]:
    """The runs of text that are drawn as links, each with its places: row, start, end."""
    text, places = "", list[tuple[int, int, int]]()
    for number, row in enumerate(rows):
        at = 0
        for span in row.spans:
            end = at + len(span.text)
            if "link" in span.style.split() or "image" in span.style.split():
                text += span.text
                places.append((number, at, end))
            elif places and not _is_decoration(span.style) and (at or span.text.strip()):
                yield _collapse_spaces(text), places
                text, places = "", []
            at = end
        if text and not text.endswith(" ") and places and row.text.endswith(" "):
            text += " "
    if places:
        yield _collapse_spaces(text), places


def _join_letters(text: str) -> tuple[str, Sequence[int]]:
    """A text without spaces, line ends and decoration, and where each of its letters was."""
    offsets: list[int] = []
    at = 0
    for between in _BETWEEN.finditer(text):
        offsets += range(at, between.start())
        at = between.end()
    offsets += range(at, len(text))
    return "".join(map(text.__getitem__, offsets)), offsets


def _is_decoration(style: str) -> bool:
    """Whether a span is drawn beside the text."""
    return bool({"indent", "quote-bar", "mark", "edge"}.intersection(style.split()))


def _list_link_texts(link: Link, written: str) -> set[str]:
    """The words that a link may be drawn as."""
    label = _MARKUP.sub("", link.label)
    return {
        _collapse_spaces(_format_visible(words))
        for words in (link.label, label, written, link.target, f"[image: {label}]")
    }


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


def _format_visible(text: str) -> str:
    """A text as it is drawn, hidden characters made visible."""
    return "".join(span.text for span in sanitize_text(text))


def _split_drawn(chunk: int, span: tuple[int, int], texts: Sequence[str], starts: Sequence[int]) -> Iterator[RowSpan]:
    """The spans of a run, without the decoration that is drawn before a continued row."""
    for place in split_match(chunk, span, texts, starts):
        decoration = _DRAWN.match(texts[place.row]) if place.start == 0 else None
        start = decoration.end() if decoration else place.start
        if start < place.end:
            yield place._replace(start=start)
