"""The three versions of a hunk that was changed twice, side by side where there is room, and their full diffs."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from typing import ClassVar

from rich.cells import cell_len
from textual import getters, work
from textual.app import ComposeResult, RenderResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from memtui.core import diffs
from memtui.core.diffs import compare_texts
from memtui.core.merge import MergeHunk
from memtui.editing.conflict import ConflictPrompt
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import label_key
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.theme import ELLIPSIS, truncate
from memtui.ui.widgets.diff.layout import (
    DiffComparison,
    RenderedSide,
    find_row_breaks,
    measure_hanging_indent,
    split_runs,
)
from memtui.ui.widgets.diff.view import DIFF_KEYS, DiffView

_COLUMNS_FROM = 96
"""Cells from which on the three texts stand side by side."""
_LINES = 100
"""Lines of a hunk that are drawn; the full diff has all."""
_LONGEST, _BEFORE = 1_000, 80
"""Characters of a longer line that are drawn, and those before the difference."""
_GAP = 2
_STYLES = {
    "word": "bold underline",
    "hidden": "bold reverse",
    "hidden word": "bold reverse underline",
    "return": "bold reverse",
}


class ThreeWayView(Widget):
    """Shows one hunk in three texts: base, theirs, mine.

    Args:
        names: Of the texts.
        moments: The times of the texts, for headings where there is room.
        id: Its id in the DOM.
    """

    DEFAULT_CSS = """
    ThreeWayView { height: auto; width: 1fr; color: $foreground; }
    """

    def __init__(self, names: tuple[str, str, str], moments: tuple[str, str, str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names = names
        self._moments = moments
        self._hunk: MergeHunk | None = None
        self._rows: dict[int, list[Content]] = {}
        """By width."""

    def show(self, hunk: MergeHunk | None, names: tuple[str, str, str], moments: tuple[str, str, str]) -> None:
        """Show a hunk, or nothing."""
        self._hunk, self._names, self._moments = hunk and _shorten_conflict(hunk), names, moments
        self._rows.clear()
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return len(self._get_rows(width))

    def render(self) -> RenderResult:
        return Content("\n").join(self._get_rows(self.content_size.width))

    def _get_rows(self, width: int) -> list[Content]:
        if width not in self._rows:
            render = self._render_columns if width >= _COLUMNS_FROM else self._render_stacked
            self._rows = {width: list(render(self._hunk, width)) if self._hunk is not None else []}
        return self._rows[width]

    def _render_columns(self, hunk: MergeHunk, width: int) -> Iterator[Content]:
        cells = (width - 2 * _GAP) // 3
        heads = (f"{name}  {moment}".rstrip() for name, moment in zip(self._names, self._moments, strict=True))
        yield _join_columns([Content.styled(truncate(head, cells), "bold $text-accent") for head in heads], cells)
        yield _join_columns([Content("─" * cells)] * 3, cells)
        columns = [list(_render_lines(hunk.base, text, cells)) for text in (hunk.base, hunk.theirs, hunk.mine)]
        for row in zip_longest(*columns, fillvalue=Content("")):
            yield _join_columns(row, cells)

    def _render_stacked(self, hunk: MergeHunk, width: int) -> Iterator[Content]:
        label = max(map(cell_len, self._names)) + _GAP
        for name, text in zip(self._names, (hunk.base, hunk.theirs, hunk.mine), strict=True):
            head = Content.styled(name.ljust(label + len(name) - cell_len(name)), "$text-accent")
            for row in _render_lines(hunk.base, text, width - label):
                yield head + row
                head = Content(" " * label)


def _shorten_conflict(hunk: MergeHunk) -> MergeHunk:
    """A hunk whose lines can be drawn: of longer ones, the characters around the difference."""
    texts = (hunk.base, hunk.mine, hunk.theirs)
    if all(len(line) <= _LONGEST for text in texts for line in text):
        return hunk
    start = 0
    if all(len(text) <= 1 for text in texts):
        lines = [text[0] for text in texts if text]
        start = max(len(os.path.commonprefix(lines)) - _BEFORE, 0)  # noqa: RUF071 - characters are meant
    base, mine, theirs = (tuple(_cut_line(line, start) for line in text[:_LINES]) for text in texts)
    return replace(hunk, base=base, mine=mine, theirs=theirs)


def _cut_line(line: str, start: int) -> str:
    end = start + _LONGEST
    return (ELLIPSIS if start else "") + line[start:end] + (ELLIPSIS if end < len(line) else "")


def _join_columns(row: Sequence[Content], cells: int) -> Content:
    return Content(" " * _GAP).join(each.pad_right(max(cells - each.cell_length, 0)) for each in row)


def _render_lines(base: Sequence[str], text: Sequence[str], width: int) -> Iterator[Content]:
    """The lines of a text as rows, with the words that differ from the base marked."""
    if not text:
        yield Content.styled("(nothing)", "italic")
        return
    marked = _find_changed_spans(base, text)
    side = RenderedSide(text[:_LINES])
    for number in range(len(side)):
        runs = side.get_runs(number, marked.get(number, ()))
        shown = side.shown[number]
        for row, (start, end) in enumerate(pairwise([*find_row_breaks(shown, width), len(shown)])):
            pieces = split_runs(shown, runs, start, end)
            indent = " " * measure_hanging_indent(width) if row else ""
            yield Content.assemble(indent, *(Content.styled(piece, _STYLES.get(role, "")) for piece, role in pieces))
    if len(text) > _LINES:
        more = f"({len(text) - _LINES:,} more lines: {label_key('conflict.differences')} shows all)"
        yield Content.styled(more, "italic")


def _find_changed_spans(base: Sequence[str], text: Sequence[str]) -> dict[int, list[diffs.Range]]:
    """The characters that differ from the base, by the number of the line."""
    marked: dict[int, list[diffs.Range]] = {}
    difference = diffs.TextDiff(base, text, tuple(diffs.find_hunks(base, text)))
    for pairs in difference.pair_lines():
        for old, new in pairs:
            if new is not None and new < _LINES and base:
                whole = [(0, len(text[new].removesuffix("\n")))]
                marked[new] = (diffs.diff_words(base[old], text[new])[1] if old is not None else []) or whole
    return marked


class _ConflictDiffKeys(KeyLine):
    LAST_BINDINGS: ClassVar[tuple[str, ...]] = ("conflict.away",)


class ConflictDiffScreen(DismissOnceScreen[None]):
    """Shows one of the three diffs of a conflict at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "which(0)", "theirs", id="conflict.theirs", tooltip="What they changed"),
        Binding("2", "which(1)", "mine", id="conflict.mine", tooltip="What I changed"),
        Binding("3", "which(2)", "between", id="conflict.between", tooltip="How mine differs from theirs"),
        Binding("tab", "next(1)", "next", id="conflict.next_diff", tooltip="To the next of the three", show=False),
        Binding("shift+tab", "next(-1)", "previous", id="conflict.previous_diff",
                tooltip="To the one before of the three", show=False),
        *DIFF_KEYS,
        Binding("escape,q", "dismiss", "back", id="conflict.away", tooltip="Back to the question"),
    ]  # fmt: skip

    DEFAULT_CSS = """
    ConflictDiffScreen {
        layout: vertical;

        #diff {
            height: 1fr; border: double $warning;
            border-title-color: $foreground; border-subtitle-color: $foreground;
        }
    }
    """

    diff = getters.query_one(DiffView)
    message = getters.query_one(MessageLine)

    def __init__(self, about: ConflictPrompt) -> None:
        super().__init__()
        self._about = about
        self._shown_diff = 0

    def compose(self) -> ComposeResult:
        yield Header()
        yield DiffView(title="Diff", id="diff")
        yield MessageLine(id="message")
        yield _ConflictDiffKeys()

    def on_mount(self) -> None:
        status = HeaderStatus(self._about.path, live="CONFLICT", follow=None, program="memtui diff")
        self.query_one(Header).status = status
        self.diff.focus()
        self.action_which(0)

    def action_which(self, which: int) -> None:
        self._shown_diff = which
        self._compare(which)

    def action_next(self, step: int) -> None:
        self.action_which((self._shown_diff + step) % 3)

    @work(exclusive=True, group="diff")
    async def _compare(self, which: int) -> None:
        about = self._about
        texts = (about.base, about.theirs, about.mine)
        names = [" ".join(filter(None, both)) for both in zip(about.names, about.times, strict=True)]
        one, other = ((0, 1), (0, 2), (1, 2))[which]
        old, new, labels = texts[one], texts[other], (names[one], names[other])
        mine, between = label_key("conflict.mine"), label_key("conflict.between")
        words = (
            f"{label_key('conflict.theirs')}  What changed meanwhile: {about.names[1]}.",
            f"{mine}  What you changed.",
            f"{between}  From what stands there now to yours.",
        )[which]
        self.message.show_message(f"{words} Nothing has been written.")
        if old is None and which < 2:
            notice = "What both were made from is not kept any more.", f"{between} shows how the two differ."
        elif new is None or old is None:
            notice = "No text stands there now.", f"{mine} shows what you changed."
        elif old == new:
            notice = "The two texts are the same.", "They may differ in how their lines end."
        else:
            self.diff.show(await asyncio.to_thread(lambda: DiffComparison(compare_texts(old, new))), labels)
            return
        self.diff.show_notice(*notice, labels=labels)

    def action_hunk(self, step: int) -> None:
        self.diff.action_hunk(step)

    def action_arrange(self) -> None:
        self.diff.action_arrange()

    def action_words(self) -> None:
        self.diff.action_words()

    def action_folds(self) -> None:
        self.diff.action_folds()
