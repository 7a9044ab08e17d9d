"""A page to read: lines that are written anew for each width, of which those on screen are drawn."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from memtui.core.visible import visible
from memtui.ui.diff.lines import breaks, hanging
from memtui.ui.rows import RowsView
from memtui.ui.text import TAB, fit

Piece = tuple[str, str]
"""A text, made visible, and its role; `""` for an ordinary one."""
Line = Sequence[Piece]
Writer = Callable[[int], Sequence[Line]]
"""Writes a page for a number of cells."""

ROLES = (
    "label",
    "fail",
    "warn",
    "info",
    "ok",
    "number",
    "code",
    "hit",
    "point",
    "added",
    "removed",
    "detail",
    "strong",
)
_LABEL = 6
"""Cells of the labels before facts: `digest`."""


class PageView(RowsView):
    """Shows a page; there is no cursor, the keys that move it scroll.

    Args:
        id: The widget's id in the DOM.
        classes: Its CSS classes.
    """

    STYLES = "page--"
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"page--{role}" for role in ROLES}

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
        & > .page--detail { color: $foreground 85%; }
        & > .page--strong { text-style: bold; }
    }
    """

    class Moved(Message):
        """Other lines are in view."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._write: Writer = lambda _: ()
        self._lines: Sequence[Line] = ()

    @property
    def row_count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    @property
    def text(self) -> str:
        """All of it, as it is written for this width."""
        return "\n".join("".join(text for text, _ in line).rstrip() for line in self._lines)

    def show(self, write: Writer, *, keep_place: bool = False) -> None:
        """Show another page.

        Args:
            write: Writes it.
            keep_place: Whether what is in view stays there: the same page, with a little changed.
        """
        self._write = write
        self._write_again()
        if not keep_place:
            self.scroll_to(y=0, animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """Write it for the new width."""
        del event
        self._write_again()

    def _write_again(self) -> None:
        self._lines = self._write(max(self.scrollable_content_region.width, 8))
        self._fit_height()
        self.refresh()

    def _go(self, row: int) -> None:
        self.scroll_to(y=max(0, min(row, round(self.max_scroll_y))), animate=False)

    def action_up(self) -> None:
        """One line up."""
        self._go(self.scroll_offset.y - 1)

    def action_down(self) -> None:
        """One line down."""
        self._go(self.scroll_offset.y + 1)

    def action_page(self, pages: int) -> None:
        """Some pages down, or up if negative."""
        self._go(self.scroll_offset.y + pages * self._page)

    def action_half(self, halves: int) -> None:
        """Some half pages down, or up if negative."""
        self._go(self.scroll_offset.y + halves * max(1, self._page // 2))

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget; see `ScrollView`."""
        width = self.scrollable_content_region.width
        plain = self._style("")
        index = self.scroll_offset.y + y
        if index >= len(self._lines):
            return Strip.blank(width, plain)
        segments = [Segment(text, self._style(role)) for text, role in self._lines[index]]
        return Strip(segments).adjust_cell_length(width, plain)


def broken(text: str, width: int, role: str = "") -> list[Line]:
    """A text in lines of a width, broken between words where it can be; line feeds stay.

    Args:
        text: It may come from outside.
        width: Cells.
        role: What it is.
    """
    if not text:
        return []
    lines: list[Line] = []
    for each in visible(text, tab=TAB).split("\n"):
        starts = breaks(each, width)
        for number, start in enumerate(starts):
            end = starts[number + 1] if number + 1 < len(starts) else len(each)
            before = " " * (hanging(width) if number and role == "code" else 0)
            lines.append(((before + each[start:end].rstrip(" "), role),))
    return lines


def fact(label: str, text: str, width: int, role: str = "", *, room: int = _LABEL) -> list[Line]:
    """Something that is known, with what it is called before it; nothing where nothing is known.

    Args:
        label: In a word.
        text: It may come from outside.
        width: Cells for both.
        role: What it is.
        room: Cells of the label.
    """
    if not text:
        return []
    rows = broken(text, max(width - room - 1, 8), role)
    first, *rest = rows
    return [((f"{label:<{room}} ", "label"), *first), *(((" " * (room + 1), ""), *row) for row in rest)]


def heading(words: str, width: int) -> Line:
    """What follows, with a line to the edge."""
    words = fit(words, max(width - 3, 0))
    return ((f"{words} ", "label"), ("-" * max(width - cell_len(words) - 1, 0), "detail"))


def joined(*parts: Iterable[Line]) -> list[Line]:
    """Parts of a page with an empty line between them; those that are empty are left out."""
    lines: list[Line] = []
    for part in parts:
        held = list(part)
        if held:
            lines += [((("", ""),)), *held] if lines else held
    return lines
