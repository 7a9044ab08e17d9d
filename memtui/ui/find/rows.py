"""What was found as rows, of which only those on screen are drawn."""

import time
from collections.abc import Iterable
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import BindingType

from memtui.core.actors import shown_name
from memtui.core.visible import one_line
from memtui.search.found import FormerName, PastHit
from memtui.ui import wording
from memtui.ui.find.listing import (
    FormerRow,
    Hit,
    LineRow,
    NameRow,
    NoteRow,
    PastNoteRow,
    PastRow,
    key_of,
)
from memtui.ui.find.pieces import Piece, around_match, cut_start, pieces
from memtui.ui.item_rows import ItemRows
from memtui.ui.text import fit

_NUMBER = 5
"""Cells for the number of a line."""
_ACTOR = 10
_AGE = 4


class FoundView(ItemRows[Hit], can_focus=False, inherit_bindings=False):
    """What was found. The box above keeps the focus; the screen moves the cursor.

    Args:
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = []

    STYLES = "found--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "found--path",
        "found--match",
        "found--number",
        "found--rule",
        "found--detail",
        "found--gone",
        "found--match-here",
    }

    DEFAULT_CSS = """
    FoundView {
        & > .found--path { color: $text-primary; }
        & > .found--match { color: $text-warning; text-style: bold underline; }
        & > .found--number { color: $text-secondary; }
        & > .found--rule { color: $text-secondary; }
        & > .found--detail { color: $foreground 85%; }
        & > .found--gone { color: $text-error; }
        & > .items--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .found--match-here {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: bold underline;
        }
    }
    """

    def _key(self, item: Hit) -> object:
        return key_of(item)

    # Paint

    def _said(self, words: str, width: int) -> list[Segment]:
        words = fit(f"-- {words} ", width)
        return [Segment(words + "-" * (width - cell_len(words)), self._style("rule"))]

    def _under_cursor(self, segment: Segment) -> Segment:
        if segment.style == self._style("match"):
            return Segment(segment.text, self._style("match-here"))
        return super()._under_cursor(segment)

    def _drawn(self, item: Hit, width: int) -> Iterable[Segment]:
        match item:
            case NameRow(hit):
                return self._pieces(cut_start(pieces(hit.path, hit.spans), width), "")
            case NoteRow(hits):
                count = f" {hits.total:,}"
                path = cut_start(pieces(hits.path, ()), width - len(count))
                return [*self._pieces(path, "path"), Segment(count, self._style("number"))]
            case LineRow(_, hit):
                number = f"{hit.line:>{_NUMBER}}  "
                text = around_match(pieces(hit.text, hit.spans), width - len(number))
                return [Segment(number, self._style("number")), *self._pieces(text, "")]
            case FormerRow(name):
                return self._former(name, width)
            case PastNoteRow():
                then = "" if item.now == item.path else f" now {one_line(item.now)}" if item.now else " deleted"
                then = fit(then, width // 2)
                path = cut_start(pieces(item.path, ()), width - cell_len(then))
                style = "path" if item.now else "gone"
                return [*self._pieces(path, style), Segment(then, self._style("detail"))]
            case PastRow(hit):
                return self._past(hit, width)

    def _former(self, name: FormerName, width: int) -> Iterable[Segment]:
        """The name, and behind it, as far as there is room, what became of it, by whom and how long ago."""
        age = f"{wording.age(time.time() - name.ended.at_us / 1e6):>{_AGE}}"
        actor = fit(one_line(shown_name(name.ended.actor)), _ACTOR)
        whole = pieces(name.path, name.spans)
        cells = 2 + sum(cell_len(piece.text) for piece in whole)
        choices = (f"  {'renamed' if name.now else 'deleted'} {actor} {age}", f"  {actor} {age}", f" {age}")
        details = next((words for words in choices if cells + cell_len(words) <= width), choices[-1])
        room = width - 2 - cell_len(details)
        path = cut_start(whole, room)
        gap = " " * (room - sum(cell_len(piece.text) for piece in path))
        return [
            Segment("> " if name.now else "- ", self._style("detail" if name.now else "gone")),
            *self._pieces(path, ""),
            Segment(gap + details, self._style("detail")),
        ]

    def _past(self, hit: PastHit, width: int) -> Iterable[Segment]:
        """The line, and behind it who took it away, or else brought it, and how long ago."""
        event = hit.went or hit.came
        actor = fit(one_line(shown_name(event.actor)), _ACTOR)
        age = wording.age(time.time() - event.at_us / 1e6)
        details = f"  {actor} {age:>{_AGE}}"
        room = max(width - 2 - cell_len(details), width // 2)
        text = around_match(pieces(hit.line.text, hit.line.spans), room)
        gap = " " * (room - sum(cell_len(piece.text) for piece in text))
        sign = "-" if hit.went else "+"
        return [
            Segment(f"{sign} ", self._style("gone" if hit.went else "detail")),
            *self._pieces(text, ""),
            Segment(gap, self._style("")),
            Segment(details, self._style("detail")),
        ]

    def _pieces(self, line: Iterable[Piece], style: str) -> list[Segment]:
        return [Segment(piece.text, self._style("match" if piece.matches else style)) for piece in line]
