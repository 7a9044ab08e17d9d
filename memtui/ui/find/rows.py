"""What was found as rows, of which only those on screen are drawn."""

import time
from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

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
    Row,
    Rule,
    key_of,
    nearest_hit,
)
from memtui.ui.find.pieces import Piece, around_match, cut_start, pieces
from memtui.ui.rows import RowsView
from memtui.ui.text import fit

_NUMBER = 5
"""Cells for the number of a line."""
_ACTOR = 10
_AGE = 4


class FoundView(RowsView, can_focus=False, inherit_bindings=False):
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
        "found--cursor",
        "found--cursor-match",
    }

    DEFAULT_CSS = """
    FoundView {
        & > .found--path { color: $text-primary; }
        & > .found--match { color: $text-warning; text-style: bold underline; }
        & > .found--number { color: $text-secondary; }
        & > .found--rule { color: $text-secondary; }
        & > .found--detail { color: $foreground 85%; }
        & > .found--gone { color: $text-error; }
        & > .found--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .found--cursor-match {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: bold underline;
        }
    }
    """

    class Highlighted(Message):
        """The cursor is on another hit, or on none."""

        def __init__(self, hit: Hit | None) -> None:
            super().__init__()
            self.hit = hit

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a moving cursor matters."""
            return isinstance(message, FoundView.Highlighted)

    class Chosen(Message):
        """The person asks for the hit under the cursor."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[Row] = ()
        self._hits = 0

    @property
    def row_count(self) -> int:
        """How many rows there are, with those that say what follows."""
        return len(self._rows)

    @property
    def here(self) -> Hit | None:
        """What is under the cursor."""
        row = self._rows[self._row] if self._row < len(self._rows) else None
        return None if row is None or isinstance(row, Rule) else row

    @property
    def position(self) -> tuple[int, int]:
        """The cursor among the hits, from 1, and how many there are."""
        at = sum(not isinstance(row, Rule) for row in self._rows[: self._row + 1])
        return (at, self._hits) if self.here is not None else (0, self._hits)

    def show(self, rows: Sequence[Row], *, keep: bool) -> None:
        """Show other rows.

        Args:
            rows: All of them.
            keep: Whether the cursor stays on its hit where that is still found; else it goes to the first one.
        """
        here = self.here
        self._rows = rows
        self._hits = sum(not isinstance(row, Rule) for row in rows)
        at = self._index_of(here) if keep and here is not None else 0
        self._row = nearest_hit(rows, at, 1) or 0
        self._fit_height()
        if not keep:
            self.scroll_to(y=0, animate=False)
        self._bring_into_view()
        self.post_message(self.Highlighted(self.here))
        self.refresh()

    def _index_of(self, hit: Hit) -> int:
        key = key_of(hit)
        found = (at for at, row in enumerate(self._rows) if not isinstance(row, Rule) and key_of(row) == key)
        return next(found, self._row)

    def _go(self, row: int) -> None:
        target = nearest_hit(self._rows, row, 1 if row >= self._row else -1)
        if target is None:
            return
        if target != self._row:
            self._row = target
            self.post_message(self.Highlighted(self.here))
        if target <= 1:  # what stands above the first hit is seen as well
            self.scroll_to(y=0, animate=False)
        self._bring_into_view()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Select; twice, open."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = self.scroll_offset.y + offset.y
        if index < len(self._rows) and not isinstance(self._rows[index], Rule):
            event.stop()
            self._go(index)
            if event.chain == 2:
                self.post_message(self.Chosen())

    # Paint

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget; see `ScrollView`."""
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        plain = self._style("")
        if index >= len(self._rows):
            return Strip.blank(width, plain)
        row = self._rows[index]
        if isinstance(row, Rule):
            words = fit(f"-- {row.words} ", width)
            return Strip([Segment(words + "-" * (width - cell_len(words)), self._style("rule"))])
        cursor = index == self._row
        segments = [Segment(">" if cursor else " ", plain), *self._drawn(row, width - 1)]
        if cursor:
            marked = self._style("match")
            segments = [
                Segment(text, self._style("cursor-match" if style == marked else "cursor"))
                for text, style, _ in segments
            ]
        return Strip(segments).adjust_cell_length(width, self._style("cursor") if cursor else plain)

    def _drawn(self, row: Hit, width: int) -> Iterable[Segment]:
        match row:
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
                then = "" if row.now == row.path else f" now {one_line(row.now)}" if row.now else " deleted"
                then = fit(then, width // 2)
                path = cut_start(pieces(row.path, ()), width - cell_len(then))
                style = "path" if row.now else "gone"
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
