"""A page to read: lines that are written anew for each width, and excerpts of notes with marks and masks."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.strip import Strip

from memtui.audit.model import FindingLocation
from memtui.core.unicode import HIDDEN, escape_character, visible
from memtui.scan.spots import Span
from memtui.ui.masking import STAR, collapse_stars, mask_spans
from memtui.ui.theme import ELLIPSIS, TAB, truncate
from memtui.ui.widgets.diff.layout import find_row_breaks, measure_hanging_indent
from memtui.ui.widgets.line_view import LineView, TextView, make_scroll_bindings

PagePiece = tuple[str, str]
"""A visible text and its role; `""` for ordinary text."""
PageLine = Sequence[PagePiece]
Writer = Callable[[int], Sequence[PageLine]]
"""Writes a page for a number of cells."""

_ROLES = "label fail warn info ok number code hit point added removed detail strong"
_LABEL = 6
"""Cells of the labels before facts: `digest`."""


class PageView(TextView):
    """Shows a page; the keys scroll it."""

    BINDINGS: ClassVar[list[BindingType]] = [*make_scroll_bindings("rows", line="row")]

    PAGE_OVERLAP = 0
    STYLES = "page--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"page--{role}" for role in _ROLES.split()}

    DEFAULT_CSS = """
    PageView {
        padding: 0 0 0 1; scrollbar-gutter: stable;

        & > .page--label { color: $text-primary; }
        & > .page--fail { color: $text-error; text-style: bold; }
        & > .page--warn { color: $text-warning; text-style: bold; }
        & > .page--info { color: $text-primary; text-style: bold; }
        & > .page--ok { color: $text-success; text-style: bold; }
        & > .page--number { color: $text-secondary; }
        & > .page--code { color: $foreground; }
        & > .page--hit { color: $text-warning; text-style: bold underline; }
        & > .page--point { color: $text-accent; text-style: bold; }
        & > .page--added { color: $text-success; }
        & > .page--removed { color: $text-error; }
        & > .page--detail { color: $foreground-muted; }
        & > .page--strong { text-style: bold; }
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._write: Writer = lambda _: ()
        self._lines: Sequence[PageLine] = ()

    @property
    def row_count(self) -> int:
        return len(self._lines)

    @property
    def text(self) -> str:
        """The page for this width."""
        return "\n".join("".join(text for text, _ in line).rstrip() for line in self._lines)

    def show(self, write: Writer, *, keep_place: bool = False) -> None:
        """Show a page; `keep_place` keeps the scroll offset, for the same page with small changes."""
        self._write = write
        self._rewrite()
        if not keep_place:
            self.scroll_to(y=0, animate=False)

    def on_resize(self, event: events.Resize) -> None:
        del event
        self._rewrite()

    def _rewrite(self) -> None:
        width = self.scrollable_content_region.width
        self._lines = self._write(max(width, 8)) if width else ()  # without a width it has no place on screen yet
        self._set_height()
        self._redraw()

    def _resolve_style(self, roles: str) -> Style:
        return LineView._resolve_style(self, roles)  # a single role, with a background of its own

    def _draw_row(self, y: int) -> Strip:
        width, plain = self._viewport.width, self._resolve_style("")
        if y >= len(self._lines):
            return Strip.blank(width, plain)
        segments = [Segment(text, self._resolve_style(role)) for text, role in self._lines[y]]
        return Strip(segments).adjust_cell_length(width, plain)


def wrap_text(text: str, width: int, role: str = "") -> list[PageLine]:
    """A text, made visible, in lines of a width, broken between words where possible; line feeds stay."""
    if not text:
        return []
    lines: list[PageLine] = []
    for each in visible(text, tab=TAB).split("\n"):
        for number, (start, end) in enumerate(pairwise([*find_row_breaks(each, width), len(each)])):
            before = " " * (measure_hanging_indent(width) if number and role == "code" else 0)
            lines.append(((before + each[start:end].rstrip(" "), role),))
    return lines


def format_fact(label: str, text: str, width: int, role: str = "", *, room: int = _LABEL) -> list[PageLine]:
    """A label of `room` cells and a text, made visible, in `width` cells; no line without a text."""
    rows = wrap_text(text, max(width - room - 1, 8), role)
    return [((" " * (room + 1), "") if at else (f"{label:<{room}} ", "label"), *row) for at, row in enumerate(rows)]


def format_heading(words: str, width: int) -> PageLine:
    """A heading, with a line to the edge."""
    words = truncate(words, max(width - 3, 0))
    return ((f"{words} ", "label"), ("-" * max(width - cell_len(words) - 1, 0), "detail"))


def join_parts(*parts: Iterable[PageLine]) -> list[PageLine]:
    """The parts of a page that are not empty, with an empty line between them."""
    lines: list[PageLine] = []
    for part in map(list, parts):
        lines += [(("", ""),), *part] if lines and part else part
    return lines


# The lines of a note around a finding: numbered, with the finding marked and secrets masked.

_CONTEXT = 2
"""Lines before and after."""
_MOST_LINES = 400
"""Of a longer note, lines around the finding are shown."""
_LONGEST_LINE, _BEFORE = 600, 120
"""Of a longer line, characters around the finding are shown, so many of them before it."""


class Excerpt(NamedTuple):
    """Some lines of a note, masked unless secrets are revealed, and the location of a finding in them."""

    lines: Sequence[str]
    first: int
    """The number of the first line, from 1."""
    location: FindingLocation

    def format_lines(self, width: int) -> list[PageLine]:
        """The lines in a width."""
        numbers = max(len(str(self.first + len(self.lines) - 1)), 2)
        rows: list[PageLine] = []
        start = self.location.line or 0
        end = max(self.location.end_line or start, start)
        for number, text in enumerate(self.lines, self.first):
            here = start <= number <= end
            pieces = _split_line(text, *self._find_columns(number, text) if here else (0, 0))
            head = ((f"{number:>{numbers}}", "number"), ("> " if here else "  ", "point"))
            for at, row in enumerate(_wrap_pieces(pieces, max(width - numbers - 2, 8))):
                rows.append((*head, *row) if not at else ((" " * (numbers + 2), ""), *row))
        return rows

    def _find_columns(self, number: int, text: str) -> Span:
        """The characters of a line that were found; none where the columns are not known."""
        place = self.location
        if place.column is None:
            return (0, 0)
        start = place.column - 1 if number == place.line else 0
        last = number == (place.end_line or place.line)
        end = place.end_column - 1 if last and place.end_column is not None else len(text)
        return (max(start, 0), max(end, start))


def extract_excerpt(text: str, place: FindingLocation, spans: Sequence[Span], *, whole: bool = False) -> Excerpt:
    """The lines of a text around a place, or as many as possible; `spans` are masked."""
    lines = mask_spans(text, spans, STAR).split("\n")
    if len(lines) > 1 and not lines[-1]:
        del lines[-1]
    line = min(max(place.line or 1, 1), len(lines))
    end = min(max(place.end_line or line, line), line + _CONTEXT, len(lines))
    reach = _MOST_LINES // 2 if whole else _CONTEXT
    first, last = max(line - reach, 1), min(end + reach, len(lines))
    return Excerpt([each.removesuffix("\r") for each in lines[first - 1 : last]], first, place)


def _split_line(text: str, start: int, end: int) -> list[PagePiece]:
    """A line with hidden characters visible, the found characters marked, and its ends cut."""
    before = after = ""
    if len(text) > _LONGEST_LINE:
        left = max(min(start - _BEFORE, len(text) - _LONGEST_LINE), 0)
        right = left + _LONGEST_LINE
        before, after = ELLIPSIS if left else "", ELLIPSIS if right < len(text) else ""
        text, start, end = text[left:right], start - left, min(end - left, _LONGEST_LINE)
    pieces: list[PagePiece] = [(before, "detail")]
    for part, role in ((text[:start], "code"), (text[start:end], "hit"), (text[end:], "code")):
        at = 0
        for hidden in HIDDEN.finditer(part):
            pieces += [(part[at : hidden.start()].replace("\t", TAB), role), (escape_character(hidden.group()), "hit")]
            at = hidden.end()
        pieces.append((part[at:].replace("\t", TAB), role))
    return [(collapse_stars(piece), role) for piece, role in [*pieces, (after, "detail")] if piece]


def _wrap_pieces(pieces: Sequence[PagePiece], width: int) -> list[PageLine]:
    """Pieces of one line in rows of a width."""
    text = "".join(piece for piece, _ in pieces)
    if cell_len(text) <= width:
        return [tuple(pieces)]
    starts = [*find_row_breaks(text, width), len(text)]
    rows: list[PageLine] = []
    for number, (start, end) in enumerate(pairwise(starts)):
        row: list[PagePiece] = [(" " * measure_hanging_indent(width), "")] if number else []
        at = 0
        for piece, role in pieces:
            if part := piece[max(start - at, 0) : max(end - at, 0)]:
                row.append((part, role))
            at += len(piece)
        rows.append(tuple(row))
    return rows
