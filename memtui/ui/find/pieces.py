"""A line in pieces, those that match and those that do not.

Matches are counted in the characters of a text, and what is shown of it is another text: hidden characters become
escapes, and what is too wide is cut. So each piece is made visible for itself.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.cells import cell_len

from memtui.core.visible import one_line
from memtui.search.found import Span
from memtui.ui.text import ELLIPSIS, fit

_BEFORE = 12
"""Cells that are left in view before the first match of a line that is cut at its start."""


class Piece(NamedTuple):
    """A part of a line, visible and on one line."""

    text: str
    matches: bool


def pieces(text: str, spans: Iterable[Span]) -> list[Piece]:
    """The pieces of a text.

    Args:
        text: From outside.
        spans: Where it matches, in order; what lies beyond the text is left out.
    """
    made: list[Piece] = []
    done = 0
    for first, behind in spans:
        start, end = max(first, done), min(behind, len(text))
        if start >= end:
            continue
        if start > done:
            made.append(Piece(one_line(text[done:start]), matches=False))
        made.append(Piece(one_line(text[start:end]), matches=True))
        done = end
    if done < len(text):
        made.append(Piece(one_line(text[done:]), matches=False))
    return made


def cut_end(line: Iterable[Piece], width: int) -> list[Piece]:
    """At most `width` cells of a line, its start first."""
    kept: list[Piece] = []
    room = width
    for piece in line:
        cells = cell_len(piece.text)
        if cells > room:
            rest = fit(piece.text, room)
            if rest == ELLIPSIS[:room] and kept:  # no room for a letter of it: the piece before says so
                kept[-1] = kept[-1]._replace(text=_shortened(kept[-1].text, len(ELLIPSIS) - room))
            return [*kept, Piece(rest, piece.matches and rest not in ("", ELLIPSIS))] if room > 0 else kept
        kept.append(piece)
        room -= cells
    return kept


def cut_start(line: Iterable[Piece], width: int) -> list[Piece]:
    """At most `width` cells of a line, its end first: of a path, the file's own name."""
    whole = list(line)
    if _cells(whole) <= width:
        return whole
    kept: list[Piece] = []
    room = width - len(ELLIPSIS)
    for piece in reversed(whole):
        cells = cell_len(piece.text)
        if cells > room:
            kept.append(Piece(_last(piece.text, room), piece.matches))
            break
        kept.append(piece)
        room -= cells
    return [Piece(ELLIPSIS, matches=False), *(piece for piece in reversed(kept) if piece.text)]


def around_match(line: Iterable[Piece], width: int) -> list[Piece]:
    """At most `width` cells of a line, with its first match in view; white space at its start goes."""
    whole = list(_stripped(line))
    before = 0
    for piece in whole:
        if piece.matches:
            break
        before += cell_len(piece.text)
    else:
        return cut_end(whole, width)
    first = next(cell_len(piece.text) for piece in whole if piece.matches)
    if before + min(first, width) <= width or not before:
        return cut_end(whole, width)
    head, *rest = _with_head_joined(whole)
    kept = _last(head.text, min(_BEFORE, max(width // 3, 0)))
    return cut_end([Piece(ELLIPSIS + kept, matches=False), *rest], width)


def _cells(line: Iterable[Piece]) -> int:
    return sum(cell_len(piece.text) for piece in line)


def _with_head_joined(line: list[Piece]) -> list[Piece]:
    """The pieces before the first match as one."""
    at = next(index for index, piece in enumerate(line) if piece.matches)
    return [Piece("".join(piece.text for piece in line[:at]), matches=False), *line[at:]]


def _stripped(line: Iterable[Piece]) -> Iterator[Piece]:
    """Without white space at the start, which is no part of a match."""
    begun = False
    for piece in line:
        text = piece.text if begun or piece.matches else _indented(piece.text)
        begun = begun or bool(text)
        if text:
            yield Piece(text, piece.matches)


def _indented(text: str) -> str:
    while text.startswith((" ", "\\t")):
        text = text[1:] if text[0] == " " else text[2:]
    return text


def _last(text: str, width: int) -> str:
    end = text[max(0, len(text) - width) :] if width > 0 else ""
    while end and cell_len(end) > width:
        end = end[1:]
    return end


def _shortened(text: str, cells: int) -> str:
    return fit(text, max(cell_len(text) - cells, 0)) if cells > 0 else text
