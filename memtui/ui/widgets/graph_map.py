"""The notes of a folder as a map: dots coloured by type, lines between what is linked, names where there is room."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.message import Message
from textual.strip import Strip

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.knowledge.layout import GraphLayout, LinkedNotes, Point
from memtui.ui.textual_private import LazyStyles
from memtui.ui.theme import truncate
from memtui.ui.widgets.braille import BrailleCanvas

COLORS = 4
"""Types that have a colour of their own, the most frequent ones."""
_LINK, _OTHER, _PLAIN, _TYPED, _NEAR_LINK, _NEAR, _CURSOR = 1, 2, 3, 4, 20, 21, 22
"""Roles of cells, what is drawn over what: `_TYPED` is that of the first type."""
_ROLES = {0: "", _LINK: "link", _OTHER: "other", _PLAIN: "plain", _NEAR_LINK: "near", _NEAR: "near", _CURSOR: "cursor"}
_LINE_DOTS, _NEAR_DOTS = 2.5, 1.0
"""Dots of lines that are drawn for each cell of the map: of all, and of the note under the cursor. The shortest lines
come first, which show most."""
_ROOMY = 14
"""Cells for each note from which on a note is a whole cell."""
_LABEL_CELLS = 110
"""Cells for each name."""
_LABEL_WIDTH = 24
_TRIED = 20
"""Notes that are tried for each name that has room."""
_ZOOMS = (1, 2, 4, 8, 16)
_STEEP = 2.0
"""How much farther a note counts as that lies to the side of the way."""


@dataclass(frozen=True, slots=True)
class MapLabel:
    """A name beside its note."""

    column: int
    text: str
    role: str


class GraphMap(LazyStyles, can_focus=True):
    """A map that is walked with the arrows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "walk(0,-1)", "up", id="map.up", tooltip="To the note above", show=False),
        Binding("down,j", "walk(0,1)", "down", id="map.down", tooltip="To the note below", show=False),
        Binding("left,h", "walk(-1,0)", "left", id="map.left", tooltip="To the note at the left", show=False),
        Binding("right,l", "walk(1,0)", "right", id="map.right", tooltip="To the note at the right", show=False),
        Binding("n", "match(1)", "next match", id="map.match",
                tooltip="To the next note that is found, or linked", show=False),
        Binding("N", "match(-1)", "previous match", id="map.previous_match",
                tooltip="To the previous one", show=False),
        Binding("plus,equals_sign", "zoom(1)", "zoom in", id="map.zoom_in", tooltip="Larger, around the note"),
        Binding("minus", "zoom(-1)", "zoom out", id="map.zoom_out", tooltip="Smaller"),
        Binding("0", "zoom(0)", "whole", id="map.whole", tooltip="The whole map", show=False),
        Binding("enter", "open", "links", id="map.open", tooltip="Links to and from the note"),
    ]  # fmt: skip

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "map--link", "map--other", "map--plain", "map--near", "map--cursor", "map--label", "map--name",
        *(f"map--type{number}" for number in range(COLORS)),
    }  # fmt: skip

    DEFAULT_CSS = """
    GraphMap {
        & > .map--link { color: $foreground 30%; }
        & > .map--other { color: $foreground 45%; }
        & > .map--plain { color: $foreground; }
        & > .map--near { color: $text-warning; text-style: bold; }
        & > .map--cursor { color: $text-warning; text-style: bold reverse; }
        & > .map--label { color: $foreground 75%; }
        & > .map--name { color: $text-warning; text-style: bold; }
        & > .map--type0 { color: $text-accent; text-style: bold; }
        & > .map--type1 { color: $text-success; text-style: bold; }
        & > .map--type2 { color: $text-secondary; text-style: bold; }
        & > .map--type3 { color: $text-error; text-style: bold; }
        &:ansi > .map--type1 { color: ansi_magenta; }
        &:ansi > .map--link { color: ansi_bright_black; }
        &:ansi > .map--other { color: ansi_bright_black; }
    }
    """

    @dataclass(eq=False)
    class Moved(Message):
        """The cursor is at another note."""

        path: str

    @dataclass(eq=False)
    class Opened(Message):
        """A note was chosen."""

        path: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._notes = LinkedNotes({}, {}, ())
        self._styles_by_role: dict[str, Style] = {}
        self._plan = GraphLayout((), ())
        self._near: dict[str, list[str]] = {}
        self._roles: dict[str, int] = {}
        self._matches: frozenset[str] | None = None
        self._zoom = 1
        self._placed: dict[str, Point] = {}
        self._hubs: Sequence[str] = ()
        """The notes, those with most links first."""
        self._is_roomy = False
        self._lines: BrailleCanvas | None = None
        self._base: BrailleCanvas | None = None
        self._drawn: BrailleCanvas | None = None
        self._labels: dict[int, list[MapLabel]] = {}
        self.path = ""
        """The note under the cursor; empty where there are none."""

    # What is shown

    def show(self, notes: LinkedNotes, layout: GraphLayout, *, path: str = "") -> None:
        """Show notes, with the cursor at one of them, else where it is, else at the one with most links."""
        self._notes, self._plan = notes, layout
        self._near = {each: [] for each in notes.titles}
        for one, other in notes.links:
            self._near[one].append(other)
            self._near[other].append(one)
        self._roles = dict.fromkeys(notes.titles, _PLAIN)
        colors = {name: _TYPED + number for number, (name, _) in enumerate(self.count_types()[:COLORS]) if name}
        for each, name in notes.types.items():
            self._roles[each] = colors.get(name, _PLAIN)
        wanted = path if path in notes.titles else self.path if self.path in notes.titles else ""
        self.path = wanted or max(self._near, key=lambda each: (len(self._near[each]), each), default="")
        self._hubs = sorted(self._near, key=lambda each: (-len(self._near[each]), each))
        self._draw_all()
        self.post_message(self.Moved(self.path))

    def count_types(self) -> list[tuple[str, int]]:
        """The types of notes and how many are of each, the most frequent first; those without one at the end."""
        counts = Counter(self._notes.types.values())
        rest = len(self._notes.titles) - counts.total()
        return [*sorted(counts.items(), key=lambda each: (-each[1], each[0])), *([("", rest)] if rest else [])]

    def mark(self, matches: Collection[str] | None) -> None:
        """Dim all notes but some; `None` dims none. The cursor goes to the first that matches."""
        self._matches = None if matches is None else frozenset(matches)
        if self._matches and self.path not in self._matches:
            self._go(min(self._matches, key=self._get_distance))
        self._draw_notes()

    @property
    def neighbours(self) -> Sequence[str]:
        """The notes that are linked with the one under the cursor."""
        return self._near.get(self.path, ())

    # Keys

    def action_walk(self, x: int, y: int) -> None:
        """Go to the next note in a direction."""
        if self.path not in self._placed:
            return
        own_x, own_y = self._placed[self.path]
        best, least = "", float("inf")
        for path, (other_x, other_y) in self._placed.items():
            along = (other_x - own_x) * x + (other_y - own_y) * y
            aside = abs((other_x - own_x) * y) + abs((other_y - own_y) * x)
            if along > 0 and along + _STEEP * aside < least:
                best, least = path, along + _STEEP * aside
        if best:
            self._go(best)

    def action_match(self, step: int) -> None:
        """Go to the next note that matches, in the order of paths; without a filter, to the next one that is linked."""
        paths = sorted(self.neighbours if self._matches is None else self._matches)
        if paths:
            later = [path for path in paths if (path > self.path if step > 0 else path < self.path)]
            self._go((later or paths)[0 if step > 0 else -1])

    def action_zoom(self, step: int) -> None:
        """Show less or more; 0 shows all."""
        place = _ZOOMS.index(self._zoom) + step if step else 0
        self._zoom = _ZOOMS[min(max(place, 0), len(_ZOOMS) - 1)]
        self._draw_all()

    def action_open(self) -> None:
        if self.path:
            self.post_message(self.Opened(self.path))

    def on_click(self, event: Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or not self._placed:
            return
        x, y = offset.x * 2 + 0.5, offset.y * 4 + 1.5
        path = min(self._placed, key=lambda each: (self._placed[each][0] - x) ** 2 + (self._placed[each][1] - y) ** 2)
        if path == self.path or event.chain > 1:
            self.post_message(self.Opened(path))
        else:
            self._go(path)

    def _get_distance(self, path: str) -> float:
        own, other = self._placed.get(self.path, (0.0, 0.0)), self._placed.get(path, (0.0, 0.0))
        return (own[0] - other[0]) ** 2 + (own[1] - other[1]) ** 2

    def _go(self, path: str) -> None:
        self.path = path
        x, y = self._placed.get(path, (0.0, 0.0))
        is_seen = 0 <= x < self.content_size.width * 2 and 0 <= y < self.content_size.height * 4
        if self._zoom > 1 and not is_seen:
            self._draw_all()
        else:
            self._draw_cursor()
        self.post_message(self.Moved(path))

    # Paint

    def on_resize(self, event: Resize) -> None:
        del event
        self._draw_all()

    def _draw_all(self) -> None:
        """Place the notes and draw their links, then the notes."""
        columns, rows = self.content_size
        if not columns or not rows:
            return
        width, height = columns * 2 - 1, rows * 4 - 1
        placed = self._plan.place(width * self._zoom, height * self._zoom)
        if self._zoom > 1 and self.path in placed:
            x, y = placed[self.path]
            left = min(max(x - width / 2, 0), width * (self._zoom - 1))
            top = min(max(y - height / 2, 0), height * (self._zoom - 1))
            placed = {path: (x - left, y - top) for path, (x, y) in placed.items()}
        self._placed = placed
        seen = sum(1 for x, y in placed.values() if 0 <= x <= width and 0 <= y <= height)
        self._is_roomy = columns * rows > seen * _ROOMY
        self._lines = BrailleCanvas(columns, rows)
        self._draw_links(self._lines, self._notes.links, _LINK, _LINE_DOTS)
        self._draw_notes()

    def _draw_notes(self) -> None:
        """Draw the notes over the links, then the cursor."""
        if self._lines is None:
            return
        canvas = self._lines.copy()
        for path, role in self._roles.items():
            is_dim = self._matches is not None and path not in self._matches
            _draw_note(canvas, self._placed[path], _OTHER if is_dim else role, is_large=self._is_roomy)
        self._base = canvas
        self._draw_cursor()

    def _draw_links(self, canvas: BrailleCanvas, links: Iterable[tuple[str, str]], role: int, dots: float) -> None:
        """Draw links, the shortest first, until so many dots of a cell are drawn."""
        lines = list[tuple[float, Point, Point]]()
        for one, other in links:
            (x, y), (to_x, to_y) = self._placed[one], self._placed[other]
            lines.append((max(abs(to_x - x), abs(to_y - y)), (x, y), (to_x, to_y)))
        lines.sort()
        left = canvas.columns * canvas.rows * dots * self._zoom
        for length, (x, y), (to_x, to_y) in lines:
            left -= length
            if left < 0:
                break
            canvas.draw_line(round(x), round(y), round(to_x), round(to_y), role)

    def _draw_cursor(self) -> None:
        """Draw the note under the cursor, its links and the names over the rest."""
        if self._base is None:
            return
        canvas = self._base.copy()
        if self.path in self._placed:
            links = ((self.path, other) for other in self.neighbours)
            self._draw_links(canvas, links, _NEAR_LINK, _NEAR_DOTS)
            for other in self.neighbours:
                _draw_note(canvas, self._placed[other], _NEAR, is_large=self._is_roomy)
            _draw_note(canvas, self._placed[self.path], _CURSOR, is_large=True)
        self._labels = self._choose_labels(canvas)
        self._drawn = canvas
        self.refresh()

    def _choose_labels(self, canvas: BrailleCanvas) -> dict[int, list[MapLabel]]:
        """Names beside notes: of the one under the cursor, what it is linked with, and those with most links."""
        hubs = (path for path in self._hubs if self._matches is None or path in self._matches)
        room = canvas.columns * canvas.rows // _LABEL_CELLS + 1
        near = sorted(self.neighbours, key=self._get_distance)[: room * _TRIED]
        chosen, taken, done = dict[int, list[MapLabel]](), dict[int, list[range]](), set[str]()
        for path in (self.path, *near, *islice(hubs, room * _TRIED)):
            if path not in self._placed or path in done:
                continue
            done.add(path)
            column, row = round(self._placed[path][0]) >> 1, round(self._placed[path][1]) >> 2
            if not (0 <= column < canvas.columns and 0 <= row < canvas.rows):
                continue
            text = truncate(to_one_line(self._notes.titles[path]), _LABEL_WIDTH)
            width = cell_len(text)
            for begin in (column + 2, column - 1 - width):
                cells = range(begin, begin + width)
                if self._is_free(canvas, cells, row, taken, is_wanted=path == self.path):
                    role = "name" if path == self.path else "near" if path in self.neighbours else "label"
                    chosen.setdefault(row, []).append(MapLabel(begin, text, role))
                    taken.setdefault(row, []).append(range(begin - 1, begin + width + 1))
                    room -= 1
                    break
            if room <= 0:
                break
        return chosen

    def _is_free(
        self, canvas: BrailleCanvas, cells: range, row: int, taken: Mapping[int, list[range]], *, is_wanted: bool
    ) -> bool:
        """Whether a name may stand in some cells: over lines only, but that of the cursor anywhere."""
        if cells.start < 0 or cells.stop > canvas.columns or not cells:
            return False
        if any(cells.start < other.stop and other.start < cells.stop for other in taken.get(row, ())):
            return False
        return is_wanted or all(canvas.get_role(column, row) in (0, _LINK) for column in cells)

    def render_line(self, y: int) -> Strip:
        canvas, width = self._drawn, self.content_size.width
        if canvas is None or y >= canvas.rows:
            return Strip.blank(width, self.rich_style)
        segments, at = list[Segment](), 0
        for label in sorted(self._labels.get(y, ()), key=lambda each: each.column):
            segments += self._paint(canvas.iter_runs(y, at, label.column))
            segments.append(Segment(label.text, self._get_role_style(label.role)))
            at = label.column + cell_len(label.text)
        segments += self._paint(canvas.iter_runs(y, at))
        return Strip(segments, canvas.columns).adjust_cell_length(width, self.rich_style)

    def _paint(self, runs: Iterable[tuple[str, int]]) -> list[Segment]:
        return [Segment(text, self._get_role_style(_ROLES.get(role, f"type{role - _TYPED}"))) for text, role in runs]

    def _get_role_style(self, role: str) -> Style:
        style = self._styles_by_role.get(role)
        if style is None:
            style = self.get_component_rich_style(f"map--{role}") if role else self.rich_style
            self._styles_by_role[role] = style
        return style

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles_by_role.clear()


def _draw_note(canvas: BrailleCanvas, place: Point, role: int, *, is_large: bool) -> None:
    """A note: one dot, or where there is room all of its cell."""
    x, y = round(place[0]), round(place[1])
    if not is_large:
        canvas.draw_dot(x, y, role)
        return
    left, top = x & ~1, y & ~3
    for number in range(8):
        canvas.draw_dot(left + number % 2, top + number // 2, role)
