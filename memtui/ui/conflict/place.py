"""One place at which two people changed a text: the three versions of it, beside each other where there is room."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from memtui.core import diffs
from memtui.core.merge import Place
from memtui.ui.diff.lines import Run, Side, breaks, hanging, pieces
from memtui.ui.text import ELLIPSIS, fit

COLUMNS_FROM = 96
"""Cells from which on the three texts stand beside each other."""
_LINES = 100
"""Lines of a place that are drawn; the full diff has them all."""
_LONG, _AROUND = 1_000, 80
"""Characters of a line from which on only a part of it is drawn; and how many of them stand before what differs."""
_GAP = 2
_STYLES = {
    "word": "bold underline",
    "hidden": "bold reverse",
    "hidden word": "bold reverse underline",
    "return": "bold reverse",
}


class PlaceView(Widget):
    """Shows one place, in three texts.

    Args:
        names: What the texts are called: base, theirs, mine.
        moments: When they came about; for headings where there is room.
        id: The id of the widget in the DOM.
    """

    DEFAULT_CSS = """
    PlaceView { height: auto; width: 1fr; color: $foreground; }
    """

    def __init__(self, names: tuple[str, str, str], moments: tuple[str, str, str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names = names
        self._moments = moments
        self._place: Place | None = None
        self._rows: dict[int, list[Content]] = {}

    def show(self, place: Place | None, names: tuple[str, str, str], moments: tuple[str, str, str]) -> None:
        """Show a place, or nothing."""
        self._place, self._names, self._moments = place and _shortened(place), names, moments
        self._rows.clear()
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as it takes."""
        del container, viewport
        return len(self._drawn(width))

    def render(self) -> RenderResult:
        """All three texts."""
        return Content("\n").join(self._drawn(self.content_size.width))

    def _drawn(self, width: int) -> list[Content]:
        if width not in self._rows:
            self._rows.clear()
            self._rows[width] = list(self._in_columns(width) if width >= COLUMNS_FROM else self._stacked(width))
        return self._rows[width]

    def _texts(self) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
        assert self._place is not None
        return self._place.base, self._place.theirs, self._place.mine

    def _in_columns(self, width: int) -> Iterator[Content]:
        if self._place is None:
            return
        cells = (width - 2 * _GAP) // 3
        yield _beside([Content.styled(head, "bold $text-accent") for head in self._heads(cells)], cells)
        yield _beside([Content("─" * cells)] * 3, cells)
        columns = [list(_lines(self._place.base, text, cells)) for text in self._texts()]
        for row in zip_longest(*columns, fillvalue=Content("")):
            yield _beside(row, cells)

    def _heads(self, cells: int) -> Iterator[str]:
        for name, moment in zip(self._names, self._moments, strict=True):
            yield fit(f"{name}  {moment}".rstrip(), cells)

    def _stacked(self, width: int) -> Iterator[Content]:
        if self._place is None:
            return
        label = max(map(cell_len, self._names)) + _GAP
        for name, text in zip(self._names, self._texts(), strict=True):
            head = Content.styled(name.ljust(label + len(name) - cell_len(name)), "$text-accent")
            for row in _lines(self._place.base, text, width - label):
                yield head + row
                head = Content(" " * label)


def _shortened(place: Place) -> Place:
    """A place whose lines can be drawn: of one that is far too long, what differs and what stands around that."""
    texts = (place.base, place.mine, place.theirs)
    if all(len(line) <= _LONG for text in texts for line in text):
        return place
    start = 0
    if all(len(text) <= 1 for text in texts):
        held = [text[0] for text in texts if text]
        start = max(len(os.path.commonprefix(held)) - _AROUND, 0)  # noqa: RUF071 - characters are meant
    base, mine, theirs = (tuple(_cut(line, start) for line in text[:_LINES]) for text in texts)
    return replace(place, base=base, mine=mine, theirs=theirs)


def _cut(line: str, start: int) -> str:
    part = line[start : start + _LONG]
    is_all = start + _LONG >= len(line)
    return (ELLIPSIS if start else "") + (part if is_all else part + ELLIPSIS)


def _beside(row: Sequence[Content], cells: int) -> Content:
    return Content(" " * _GAP).join(each.pad_right(max(cells - each.cell_length, 0)) for each in row)


def _lines(base: Sequence[str], text: Sequence[str], width: int) -> Iterator[Content]:
    """The lines of a text as rows; the words that are not so in the base are marked."""
    if not text:
        yield Content.styled("(nothing)", "italic")
        return
    marked = _marked(base, text)
    side = Side(text[:_LINES])
    for number in range(len(side)):
        runs = side.runs(number, marked.get(number, ()))
        shown = side.shown[number]
        starts = breaks(shown, width)
        for row, (start, end) in enumerate(zip(starts, [*starts[1:], len(shown)], strict=True)):
            yield _row(shown, runs, start, end, " " * hanging(width) if row else "")
    if len(text) > _LINES:
        yield Content.styled(f"({len(text) - _LINES:,} more lines: d shows all)", "italic")


def _row(shown: str, runs: Sequence[Run], start: int, end: int, before: str) -> Content:
    parts = ((part, _STYLES.get(role, "")) for part, role in pieces(shown, runs, start, end))
    return Content.assemble(before, *(Content.styled(part, style) for part, style in parts))


def _marked(base: Sequence[str], text: Sequence[str]) -> dict[int, list[diffs.Range]]:
    """Which characters of which lines are not so in the base."""
    marked: dict[int, list[diffs.Range]] = {}
    difference = diffs.Difference(base, text, tuple(diffs.blocks(base, text)))
    for pairs in difference.sides():
        for was, now in pairs:
            if now is not None and now < _LINES and base:
                whole = [(0, len(text[now].removesuffix("\n")))]
                marked[now] = (diffs.changed_words(base[was], text[now])[1] if was is not None else []) or whole
    return marked
