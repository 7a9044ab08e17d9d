"""The lines of a note around a finding, numbered, with what was found marked and what is secret masked."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len

from memtui.audit.findings import Place
from memtui.audit.masking import Span
from memtui.core.visible import HIDDEN, escape
from memtui.ui.audit.masks import STAR, collapsed, masked
from memtui.ui.audit.page import Line, Piece
from memtui.ui.diff.lines import breaks, hanging
from memtui.ui.text import ELLIPSIS, TAB

CONTEXT = 2
"""Lines before and after."""
_MOST = 400
"""Lines of a whole note that are written; of a longer one those around the finding."""
_LONGEST = 600
"""Characters of a line that are shown; of a longer one those around the finding."""
_BEFORE = 120


@dataclass(frozen=True, slots=True)
class Around:
    """Some lines of a note.

    Attributes:
        lines: Their texts, masked unless somebody asked.
        first: The number of the first, from 1.
        place: Where the finding is; its lines are marked.
    """

    lines: Sequence[str]
    first: int
    place: Place

    def written(self, width: int) -> list[Line]:
        """The lines as they are shown in a width."""
        numbers = max(len(str(self.first + len(self.lines) - 1)), 2)
        rows: list[Line] = []
        start = self.place.line or 0
        end = max(self.place.end_line or start, start)
        for number, text in enumerate(self.lines, self.first):
            here = start <= number <= end
            pieces = _pieces(text, *self._columns(number, text) if here else (0, 0))
            head = ((f"{number:>{numbers}}", "number"), ("> " if here else "  ", "point"))
            for at, row in enumerate(_wrapped(pieces, max(width - numbers - 2, 8))):
                rows.append((*head, *row) if not at else ((" " * (numbers + 2), ""), *row))
        return rows

    def _columns(self, number: int, text: str) -> Span:
        """Which characters of a line were found, from and to; all of it where that is not known."""
        place = self.place
        if place.column is None:
            return (0, 0)
        start = place.column - 1 if number == place.line else 0
        last = number == (place.end_line or place.line)
        end = place.end_column - 1 if last and place.end_column is not None else len(text)
        return (max(start, 0), max(end, start))


def around(text: str, place: Place, spans: Sequence[Span], *, whole: bool = False) -> Around:
    """The lines of a text around a place.

    Args:
        text: All of the note.
        place: Where; without a line, the beginning of the note.
        spans: What is masked.
        whole: Whether all of the note is wanted, as far as there is room.
    """
    lines = masked(text, spans, STAR).split("\n")
    if len(lines) > 1 and not lines[-1]:
        del lines[-1]
    line = min(max(place.line or 1, 1), len(lines))
    end = min(max(place.end_line or line, line), line + CONTEXT, len(lines))
    reach = _MOST // 2 if whole else CONTEXT
    first, last = max(line - reach, 1), min(end + reach, len(lines))
    return Around([each.removesuffix("\r") for each in lines[first - 1 : last]], first, place)


def _pieces(text: str, start: int, end: int) -> list[Piece]:
    """A line as it is shown: hidden characters named, what was found marked, what is too long left out."""
    before = after = ""
    if len(text) > _LONGEST:
        left = max(min(start - _BEFORE, len(text) - _LONGEST), 0)
        right = left + _LONGEST
        before, after = ELLIPSIS if left else "", ELLIPSIS if right < len(text) else ""
        text, start, end = text[left:right], start - left, min(end - left, _LONGEST)
    parts = (
        (before, "detail"),
        (text[:start], "code"),
        (text[start:end], "hit"),
        (text[end:], "code"),
        (after, "detail"),
    )
    found: list[Piece] = []
    for part, role in parts:
        at = 0
        for hidden in HIDDEN.finditer(part):
            found += [(part[at : hidden.start()].replace("\t", TAB), role), (escape(hidden.group()), "hit")]
            at = hidden.end()
        found.append((part[at:].replace("\t", TAB), role))
    return [(collapsed(piece), role) for piece, role in found if piece]


def _wrapped(pieces: Sequence[Piece], width: int) -> list[Line]:
    """Pieces of one line in rows of a width."""
    text = "".join(piece for piece, _ in pieces)
    if cell_len(text) <= width:
        return [tuple(pieces)]
    starts = [*breaks(text, width), len(text)]
    rows: list[Line] = []
    for number, (start, end) in enumerate(pairwise(starts)):
        row: list[Piece] = [(" " * hanging(width), "")] if number else []
        at = 0
        for piece, role in pieces:
            held = piece[max(start - at, 0) : max(end - at, 0)]
            if held:
                row.append((held, role))
            at += len(piece)
        rows.append(tuple(row))
    return rows
