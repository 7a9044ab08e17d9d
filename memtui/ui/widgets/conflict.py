"""The box in which a conflict is asked about, with the three versions of a hunk, and their full diffs."""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import ClassVar

from rich.cells import cell_len, get_character_cell_size
from textual import getters, work
from textual.app import ComposeResult, RenderResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static
from textual.widgets.option_list import Option

from memtui.core import diffs
from memtui.core.diffs import compare_texts
from memtui.core.lazy_dataclass import dataclass
from memtui.core.merge import MergeHunk
from memtui.editing.conflict import ConflictPrompt
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import label_key
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.theme import ELLIPSIS, truncate
from memtui.ui.widgets.choice_list import ChoiceList
from memtui.ui.widgets.diff.layout import (
    DiffComparison,
    RenderedSide,
    split_runs,
)
from memtui.ui.widgets.diff.view import DIFF_KEYS, DiffView

_COLUMNS_FROM = 96
"""Cells from which on the three texts stand side by side."""
_LINES = 100
"""Lines of a hunk that are drawn; the full diff has all."""
_LONGEST, _BEFORE = 1_000, 400
"""Characters of a longer line that are looked at, and those before the difference."""
_LEAST_CONTEXT = 8
"""Cells before a change that is wider than a row."""
_LONGEST_CUT = 12
"""Characters of a word that is left out rather than cut."""
_WIDE = 120
"""Columns from which the box is wider."""
_ROW = 60
"""Cells of an answer in the narrow box."""
_LOW = 22
"""Rows below which blank rows and all but the choices are left out."""
_FIXED, _SPACES = 4, 4
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
            self._rows = {width: list(self._render_hunk(self._hunk, width)) if self._hunk is not None else []}
        return self._rows[width]

    def _render_hunk(self, hunk: MergeHunk, width: int) -> Iterator[Content]:
        texts = [_VersionLines(text, span) for text, span in zip(_get_texts(hunk), _find_spans(hunk), strict=True)]
        cells = (width - 2 * _GAP) // 3
        fits = width >= _COLUMNS_FROM and max(text.side.widest for text in texts) <= cells
        return self._render_columns(texts, cells) if fits else self._render_stacked(texts, width)

    def _render_columns(self, texts: "Sequence[_VersionLines]", cells: int) -> Iterator[Content]:
        heads = (f"{name}  {moment}".rstrip() for name, moment in zip(self._names, self._moments, strict=True))
        yield _join_columns([Content.styled(truncate(head, cells), "bold $text-accent") for head in heads], cells)
        yield _join_columns([Content("─" * cells)] * 3, cells)
        for row in zip_longest(*(list(text.render(cells)) for text in texts), fillvalue=Content("")):
            yield _join_columns(row, cells)

    def _render_stacked(self, texts: "Sequence[_VersionLines]", width: int) -> Iterator[Content]:
        label = max(map(cell_len, self._names)) + _GAP
        widest = max(text.get_widest_span() for text in texts)
        for name, text in zip(self._names, texts, strict=True):
            head = Content.styled(name.ljust(label + len(name) - cell_len(name)), "$text-accent")
            for row in text.render(width - label, widest):
                yield head + row
                head = Content(" " * label)


class _VersionLines:
    """One of the three texts of a hunk, with the characters that differ.

    Args:
        lines: Each with its line feed.
        spans: The changed ranges of each line, by its number.
    """

    def __init__(self, lines: Sequence[str], spans: Mapping[int, Sequence[diffs.Range]]) -> None:
        self.side = RenderedSide(lines[:_LINES])
        self._left_out = max(len(lines) - _LINES, 0)
        self._runs = [self.side.get_runs(number, spans.get(number, ())) for number in range(len(self.side))]

    def get_widest_span(self) -> int:
        """The most cells from the first to the last change of a line."""
        numbers = range(len(self.side))
        return max(
            (cell_len(self.side.shown[number][slice(*self._find_span(number))]) for number in numbers), default=0
        )

    def _find_span(self, number: int) -> diffs.Range:
        changed = [run for run in self._runs[number] if "word" in run.role]
        return (changed[0].start, changed[-1].end) if changed else (0, 0)

    def render(self, width: int, widest: int = 0) -> Iterator[Content]:
        """The lines as rows. Of a line that is wider, what differs is in the middle; all that differs is shown.

        Args:
            width: Cells of a row.
            widest: Cells of the widest change of the texts that stand below each other.
        """
        if not self.side.shown:
            yield Content.styled("(empty)", "italic")
        for number, shown in enumerate(self.side.shown):
            pieces = [(0, len(shown), "", "")]
            if self.side.cells[number] > width:
                pieces = list(_cut_to_width(shown, *self._find_span(number), width, widest))
            for start, end, before, after in pieces:
                runs = split_runs(shown, self._runs[number], start, end)
                yield Content.assemble(before, *((text, _STYLES.get(role, "")) for text, role in runs), after)
        if self._left_out:
            words = f"({self._left_out:,} more lines: {label_key('conflict.differences')} shows all)"
            yield Content.styled(words, "italic")


def _cut_to_width(text: str, first: int, last: int, width: int, widest: int) -> Iterator[tuple[int, int, str, str]]:
    """The rows of a line that show its characters from `first` to `last`: start, end, and the ellipses around."""
    room = width - 2 * len(ELLIPSIS)
    span = max(widest, cell_len(text[first:last]))
    behind = cell_len(text[last : last + width])
    context = room - span
    left = max(context - min(behind, context // 2), _LEAST_CONTEXT if last else 0)
    start, used = first, 0
    while start and (used := used + get_character_cell_size(text[start - 1])) <= left:
        start -= 1
    space = text.find(" ", start, min(start + _LONGEST_CUT, first))
    start = 0 if start <= len(ELLIPSIS) else max(space + 1, start)
    while True:
        end, used = start, 0
        while end < len(text) and (used := used + get_character_cell_size(text[end])) <= room:
            end += 1
        end = max(end, start + 1)
        if cell_len(text[end : end + 3]) <= len(ELLIPSIS) and end + 3 > len(text):
            end = len(text)
        yield start, end, ELLIPSIS if start else "", ELLIPSIS if end < len(text) else ""
        if end >= min(last, len(text)):
            return
        start = end


def _get_texts(hunk: MergeHunk) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    return hunk.base, hunk.theirs, hunk.mine


def _find_spans(hunk: MergeHunk) -> list[dict[int, list[diffs.Range]]]:
    """The characters that differ, by the number of the line: of base against both, of theirs and mine against base."""
    in_base: dict[int, list[diffs.Range]] = {}
    spans = [in_base]
    for text in (hunk.theirs, hunk.mine):
        spans.append({})
        difference = diffs.TextDiff(hunk.base, text, tuple(diffs.find_hunks(hunk.base, text)))
        for old, new in (pair for pairs in difference.pair_lines() for pair in pairs):
            if max(old or 0, new or 0) >= _LINES:
                continue
            ranges = diffs.diff_words(hunk.base[old], text[new]) if old is not None and new is not None else ([], [])
            if new is not None and hunk.base:
                spans[-1][new] = ranges[1] or [(0, len(text[new].removesuffix("\n")))]
            if old is not None:
                in_base.setdefault(old, []).extend(ranges[0])
    spans[0] = {number: _unite_ranges(ranges) for number, ranges in in_base.items()}
    return spans


def _unite_ranges(ranges: Iterable[diffs.Range]) -> list[diffs.Range]:
    united: list[diffs.Range] = []
    for start, end in sorted(ranges):
        if united and start <= united[-1][1]:
            united[-1] = united[-1][0], max(united[-1][1], end)
        else:
            united.append((start, end))
    return united


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


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer with the label of its key. Extra ones are left out of a low terminal."""

    id: str
    key: str
    words: str
    is_extra: bool = False


MODAL_CSS = """
    {name} {{ align: center middle; background: $background 60%; }}
    {name} #foot {{ dock: bottom; height: 2; background: $background; }}
"""
"""What is around the box, for the screen `name`."""

PLACE_KEYS: tuple[Binding, ...] = (
    Binding("n", "place(1)", "next place", id="conflict.next_place", tooltip="To the next place"),
    Binding("N", "place(-1)", "previous place", id="conflict.previous_place", tooltip="To the previous place",
            show=False),
    Binding("pagedown", "scroll(1)", "down", id="conflict.down", tooltip="Scroll the place down", show=False,
            priority=True),
    Binding("pageup", "scroll(-1)", "up", id="conflict.up", tooltip="Scroll the place up", show=False, priority=True),
)  # fmt: skip


class ConflictBox(Vertical):
    """A question about a conflict: what happened, one of its places in three versions, and the answers."""

    DEFAULT_CSS = """
    ConflictBox {
        width: 68; max-width: 100%; height: auto; max-height: 100%; padding: 1 1; margin-bottom: 2;
        border: double $warning; background: $surface;
        border-title-color: $text-warning; border-title-style: bold; border-subtitle-color: $foreground;

        #sides { height: auto; padding: 0 1; }
        #place-scroll { height: auto; margin: 1 1; scrollbar-size-vertical: 1; }
        ChoiceList { height: auto; border: none; padding: 0; background: $surface; }
        ChoiceList:focus { border: none; }
        &.-wide { width: 94%; max-width: 150; }
        &.-low { padding: 0 1; }
        &.-low #place-scroll { margin: 0 1; }
    }
    """

    place = getters.query_one(ThreeWayView)
    options = getters.query_one(ChoiceList)
    scroll = getters.query_one("#place-scroll", VerticalScroll)

    def compose(self) -> ComposeResult:
        yield Static(id="sides", markup=False)
        scroll = VerticalScroll(id="place-scroll")
        scroll.can_focus = False
        with scroll:
            yield ThreeWayView(("", "", ""), ("", "", ""), id="place")
        yield ChoiceList(id="answers", markup=False)

    def on_mount(self) -> None:
        self.options.focus()

    def show_place(self, about: ConflictPrompt, at: int, words: str) -> None:
        """Show one of the places, from 0; `words` name it where there are several."""
        self.place.show(about.places[at] if about.places else None, about.names, about.times)
        self.scroll.display = bool(about.places)
        self.scroll.scroll_home(animate=False)
        several = len(about.places) > 1
        self.border_subtitle = Content(f" {words}  {label_key('conflict.next_place')} next " if several else "")

    def scroll_place(self, pages: int) -> None:
        height = max(self.scroll.size.height - 1, 1)
        self.scroll.scroll_to(y=self.scroll.scroll_y + pages * height, animate=False)

    def ask(
        self, titles: tuple[str, str], sides: Sequence[str], rows: Sequence[AnswerRow], size: Size, *,
        recommended: bool = False,
    ) -> None:  # fmt: skip
        """Put a question, and keep its answers in sight; a long place scrolls. The highlighted answer stays.

        Args:
            titles: What is asked; the second where the first is too long.
            sides: What each did, beside or below each other.
            rows: The answers.
            size: Of the terminal.
            recommended: Whether the first answer is.
        """
        is_low, is_wide = size.height < _LOW, size.width >= _WIDE
        self.set_class(is_wide, "-wide")
        self.set_class(is_low, "-low")
        room = (min(size.width * 94 // 100, 150) if is_wide else min(size.width, 68)) - 8
        title, short_title = titles
        self.border_title = Content(f" ! {title if len(title) <= room else short_title} ")
        beside = Content("      ").join(map(Content, sides))
        is_beside = beside.cell_length <= room
        what_each_did = self.query_one("#sides", Static)
        what_each_did.update(beside if is_beside else Content("\n").join(map(Content, sides)))
        what_each_did.display = bool(sides)
        chosen = self.options.highlighted_option
        shown = [row for row in rows if not (is_low and row.is_extra)]
        widths = [min(room, _ROW) if recommended and not number else 0 for number in range(len(shown))]
        key = max(len(row.key) for row in shown) + 2
        self.options.set_options(
            [Option(_format_answer(row, key, width), id=row.id) for row, width in zip(shown, widths, strict=True)]
        )
        ids = [row.id for row in shown]
        self.options.highlighted = ids.index(chosen.id) if chosen is not None and chosen.id in ids else 0
        others = _FIXED + (1 if is_beside else len(sides)) + len(shown) + (0 if is_low else _SPACES)
        self.scroll.styles.max_height = max(size.height - others, 1)


def _format_answer(row: AnswerRow, key: int, width: int) -> Content:
    """An answer behind the cells of its key; a recommended one says so at the end of its row of `width` cells."""
    words = Content.assemble((f" {row.key:<{key}}", "bold $text-accent"), row.words)
    room = width - words.cell_length - len(_BEST)
    return Content.assemble(words, " " * max(room, 1), (_BEST, "italic")) if width else words


_BEST = "(recommended)"


class _ConflictDiffKeys(KeyLine):
    LAST_BINDINGS: ClassVar[tuple[str, ...]] = ("conflict.away",)


class ConflictDiffScreen(DismissOnceScreen[None]):
    """Shows one of the three diffs of a conflict at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "which(0)", "theirs", id="conflict.theirs", tooltip="Their changes"),
        Binding("2", "which(1)", "yours", id="conflict.mine", tooltip="Your changes"),
        Binding("3", "which(2)", "between", id="conflict.between", tooltip="From theirs to yours"),
        Binding("tab", "next(1)", "next", id="conflict.next_diff", tooltip="Next diff", show=False),
        Binding("shift+tab", "next(-1)", "previous", id="conflict.previous_diff",
                tooltip="Previous diff", show=False),
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
            f"{label_key('conflict.theirs')}  Their changes: {about.names[1]}.",
            f"{mine}  Your changes.",
            f"{between}  From the current text to yours.",
        )[which]
        self.message.show_message(f"{words} Nothing was written.")
        if old is None and which < 2:
            notice = "The common base is not kept.", f"{between} shows how the two differ."
        elif new is None or old is None:
            notice = "There is no current text.", f"{mine} shows your changes."
        elif old == new:
            notice = "The texts are the same.", "They may differ in their line ends."
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
