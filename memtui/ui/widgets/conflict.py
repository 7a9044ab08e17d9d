"""The box in which a conflict is asked about, with the three versions of a hunk, and their full diffs."""

import asyncio
import os
import re
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
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static
from textual.widgets.option_list import Option

from memtui.core import diffs
from memtui.core.diffs import compare_texts
from memtui.core.lazy_dataclass import dataclass
from memtui.core.merge import MergeHunk
from memtui.core.unicode import to_one_line
from memtui.editing.conflict import ConflictPrompt, find_section
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import label_key
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.theme import ELLIPSIS, truncate, truncate_middle
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
_LOW = 22
"""Rows below which blank rows, the result and all but the choices are left out."""
_HIGH = 30
"""Rows from which on more of the result is shown."""
_RESULT_ROWS, _HIGH_RESULT_ROWS = 3, 8
_RESULT = "result"
_GAP = 2
_HIDDEN_STYLES = {"hidden": "bold reverse", "hidden word": "bold reverse underline", "return": "bold reverse"}
_COUNT = re.compile(r"(?<![^ ])([+-])\d+(?![^ ])")
"""A number of lines that were added or removed."""


class _RowsView(Widget):
    """Rows that depend on the width."""

    DEFAULT_CSS = """
    _RowsView {
        height: auto; width: 1fr; color: $foreground;

        & > .conflict--label { color: $text-accent; }
        & > .conflict--base { color: $text-error; background: $error-muted; text-style: bold underline; }
        & > .conflict--new { color: $text-success; background: $success-muted; text-style: bold underline; }
        &:ansi > .conflict--base { color: ansi_black; background: ansi_red; text-style: underline; }
        &:ansi > .conflict--new { color: ansi_black; background: ansi_green; text-style: underline; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"conflict--label", "conflict--base", "conflict--new"}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: dict[int, list[Content]] = {}
        """By width."""

    def _build_rows(self, width: int) -> Iterable[Content]:
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return len(self._get_rows(width))

    def render(self) -> RenderResult:
        return Content("\n").join(self._get_rows(self.content_size.width))

    def notify_style_update(self) -> None:
        """The theme is in the rows."""
        super().notify_style_update()
        self._rows.clear()

    def _update_rows(self) -> None:
        self._rows.clear()
        self.refresh(layout=True)

    def _get_rows(self, width: int) -> list[Content]:
        if width not in self._rows:
            self._rows = {width: list(self._build_rows(width))}
        return self._rows[width]

    def _read_style(self, role: str) -> Style:
        return self.get_visual_style(f"conflict--{role}")

    def _put_label(self, name: str, cells: int, rows: Iterable[Content]) -> Iterator[Content]:
        """Rows behind a label of `cells` cells, which stands before the first."""
        head = Content.styled(name.ljust(cells + len(name) - cell_len(name)), self._read_style("label"))
        for row in rows:
            yield head + row
            head = Content(" " * cells)


class ThreeWayView(_RowsView):
    """Shows one hunk in three texts: base, theirs, mine."""

    _hunk: MergeHunk | None = None
    _names = _moments = ("", "", "")

    def show(self, hunk: MergeHunk | None, names: tuple[str, str, str], moments: tuple[str, str, str]) -> None:
        """Show a hunk, or nothing.

        Args:
            hunk: The hunk.
            names: Of the texts.
            moments: The times of the texts, for headings where there is room.
        """
        self._hunk, self._names, self._moments = hunk and _shorten_conflict(hunk), names, moments
        self._update_rows()

    def _build_rows(self, width: int) -> Iterable[Content]:
        if self._hunk is None:
            return ()
        new = self._read_style("new")
        styles = self._read_style("base"), new, new
        hunk = self._hunk
        spans = _find_spans(hunk.base, (hunk.theirs, hunk.mine))
        texts = [_VersionLines(*each) for each in zip((hunk.base, hunk.theirs, hunk.mine), spans, styles, strict=True)]
        cells = (width - 2 * _GAP) // 3
        fits = width >= _COLUMNS_FROM and max(text.side.widest for text in texts) <= cells
        return self._render_columns(texts, cells) if fits else self._render_stacked(texts, width)

    def _render_columns(self, texts: "Sequence[_VersionLines]", cells: int) -> Iterator[Content]:
        heads = (f"{name}  {moment}".rstrip() for name, moment in zip(self._names, self._moments, strict=True))
        label = self._read_style("label") + Style(bold=True)
        yield _join_columns([Content.styled(truncate(head, cells), label) for head in heads], cells)
        yield _join_columns([Content("─" * cells)] * 3, cells)
        for row in zip_longest(*(list(text.render(cells)) for text in texts), fillvalue=Content("")):
            yield _join_columns(row, cells)

    def _render_stacked(self, texts: "Sequence[_VersionLines]", width: int) -> Iterator[Content]:
        label = _measure_label(self._names)
        widest = max(text.get_widest_span() for text in texts)
        is_cut = all(len(text.side) <= 1 for text in texts) and max(text.side.widest for text in texts) > width - label
        behind = max(text.measure_behind() for text in texts) if is_cut else None
        for name, text in zip(self._names, texts, strict=True):
            yield from self._put_label(name, label, text.render(width - label, widest, behind))


Outcome = tuple[str, ...] | str
"""The lines that an answer leaves at a place, or a sentence about them."""


class ResultView(_RowsView):
    """Shows what the answer under the cursor leaves at a place; its height is that of the longest answer."""

    _hunk: MergeHunk | None = None
    _names = ("", "", "")
    _outcomes: Sequence[Outcome] = ()
    _chosen: Outcome = ""
    _limit = 0

    def show(
        self, hunk: MergeHunk, names: tuple[str, str, str], outcomes: Sequence[Outcome], chosen: Outcome, limit: int
    ) -> None:
        """Show one outcome.

        Args:
            hunk: The place.
            names: Of the texts that stand above.
            outcomes: Of all answers.
            chosen: The outcome that is shown.
            limit: The most rows.
        """
        self._hunk, self._names, self._outcomes, self._chosen, self._limit = hunk, names, outcomes, chosen, limit
        self._update_rows()

    def choose(self, outcome: Outcome) -> None:
        """Show another outcome."""
        self._chosen = outcome
        self._update_rows()

    def _build_rows(self, width: int) -> Iterable[Content]:
        label = _measure_label(self._names)
        rows = {outcome: list(self._render_outcome(outcome, width - label)) for outcome in self._outcomes}
        height = max(map(len, rows.values()), default=0)
        shown = rows.get(self._chosen, [])
        return self._put_label(_RESULT, label, [*shown, *[Content("")] * (height - len(shown))])

    def _render_outcome(self, outcome: Outcome, width: int) -> Iterator[Content]:
        if isinstance(outcome, str) or self._hunk is None:
            yield Content.styled(truncate(str(outcome), width), "italic")
            return
        hunk = _shorten_conflict(replace(self._hunk, theirs=outcome, mine=()))
        _, spans, _ = _find_spans(hunk.base, (hunk.theirs, ()))
        rows = list(_VersionLines(hunk.theirs, spans, self._read_style("new")).render(width))
        more = len(rows) - self._limit
        if more <= 0:
            yield from rows
        else:
            yield from rows[: self._limit - 1]
            yield Content.styled(f"({more + 1:,} more rows)", "italic")


def _measure_label(names: Sequence[str]) -> int:
    return max(map(cell_len, (*names, _RESULT))) + _GAP


class _VersionLines:
    """One of the three texts of a hunk, with the characters that differ.

    Args:
        lines: Each with its line feed.
        spans: The changed ranges of each line, by its number.
        changed: The style of what differs.
    """

    def __init__(self, lines: Sequence[str], spans: Mapping[int, Sequence[diffs.Range]], changed: Style) -> None:
        self._styles: dict[str, str | Style] = {**_HIDDEN_STYLES, "word": changed}
        self.side = RenderedSide(lines[:_LINES])
        self._left_out = max(len(lines) - _LINES, 0)
        self._runs = [self.side.get_runs(number, spans.get(number, ())) for number in range(len(self.side))]

    def get_widest_span(self) -> int:
        """The most cells from the first to the last change of a line."""
        numbers = range(len(self.side))
        return max(
            (cell_len(self.side.shown[number][slice(*self._find_span(number))]) for number in numbers), default=0
        )

    def measure_behind(self) -> int:
        """The cells behind the last change of the first line."""
        return cell_len(self.side.shown[0][self._find_span(0)[1] :]) if self.side.shown else 0

    def _find_span(self, number: int) -> diffs.Range:
        changed = [run for run in self._runs[number] if "word" in run.role]
        return (changed[0].start, changed[-1].end) if changed else (0, 0)

    def render(self, width: int, widest: int = 0, behind: int | None = None) -> Iterator[Content]:
        """The lines as rows. Of a line that is wider, what differs is in the middle; all that differs is shown.

        Args:
            width: Cells of a row.
            widest: Cells of the widest change of the texts that stand below each other.
            behind: The most cells behind a change, where such texts are single lines that are cut at the same place.
        """
        if not self.side.shown:
            yield Content.styled("(empty)", "italic")
        for number, shown in enumerate(self.side.shown):
            pieces = [(0, len(shown), "", "")]
            if self.side.cells[number] > width or behind is not None:
                pieces = list(_cut_to_width(shown, *self._find_span(number), width, widest, behind))
            for start, end, before, after in pieces:
                runs = split_runs(shown, self._runs[number], start, end)
                yield Content.assemble(before, *((text, self._styles.get(role, "")) for text, role in runs), after)
        if self._left_out:
            words = f"({self._left_out:,} more lines: {label_key('conflict.differences')} shows all)"
            yield Content.styled(words, "italic")


def _cut_to_width(
    text: str, first: int, last: int, width: int, widest: int, behind: int | None
) -> Iterator[tuple[int, int, str, str]]:
    """The rows of a line that show its characters from `first` to `last`: start, end, and the ellipses around."""
    room = width - 2 * len(ELLIPSIS)
    span = max(widest, cell_len(text[first:last]))
    behind = cell_len(text[last : last + width]) if behind is None else behind
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


def _find_spans(base: Sequence[str], texts: Iterable[Sequence[str]]) -> list[dict[int, list[diffs.Range]]]:
    """The characters that differ, by number of line: of the base against all texts, of each against the base."""
    in_base: dict[int, list[diffs.Range]] = {}
    spans = [in_base]
    for text in texts:
        spans.append({})
        difference = diffs.TextDiff(base, text, tuple(diffs.find_hunks(base, text)))
        for old, new in (pair for pairs in difference.pair_lines() for pair in pairs):
            if max(old or 0, new or 0) >= _LINES:
                continue
            ranges = diffs.diff_words(base[old], text[new]) if old is not None and new is not None else ([], [])
            if new is not None and base:
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
    {name} {{ align: center middle; background: $background 85%; }}
    {name}:ansi {{ background: $background; }}
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
    """A question about a conflict: the note, what happened, one of its places in three versions, and the answers."""

    DEFAULT_CSS = """
    ConflictBox {
        width: 100%; max-width: 150; height: auto; max-height: 100%; padding: 1 1;
        border: double $warning; background: $surface;
        border-title-color: $text-warning; border-title-style: bold;

        Static, ThreeWayView, ResultView { padding: 0 1; }
        #note { height: 1; text-style: bold; }
        #sides { height: auto; }
        #where { height: 1; margin-top: 1; }
        #place-scroll { height: auto; scrollbar-size-vertical: 1; }
        #result { border-top: solid $foreground 30%; }
        ChoiceList { height: auto; border: none; padding: 0; margin-top: 1; background: $surface; }
        ChoiceList:focus { border: none; }
        &.-wide { width: 94%; }
        &.-low { padding: 0 1; }
        &.-low #where, &.-low ChoiceList { margin: 0; }
    }
    """

    place = getters.query_one(ThreeWayView)
    result = getters.query_one(ResultView)
    options = getters.query_one(ChoiceList)
    scroll = getters.query_one("#place-scroll", VerticalScroll)

    def __init__(self) -> None:
        super().__init__()
        self._outcomes: Mapping[str, Outcome] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="note", markup=False)
        yield Static(id="sides", markup=False)
        yield Static(id="where", markup=False)
        scroll = VerticalScroll(id="place-scroll")
        scroll.can_focus = False
        with scroll:
            yield ThreeWayView(id="place")
        yield ResultView(id="result")
        yield ChoiceList(id="answers", markup=False)

    def on_mount(self) -> None:
        self.options.focus()

    def on_option_list_option_highlighted(self, event: ChoiceList.OptionHighlighted) -> None:
        self.result.choose(self._outcomes.get(event.option_id or "", ""))

    def scroll_place(self, pages: int) -> None:
        height = max(self.scroll.size.height - 1, 1)
        self.scroll.scroll_to(y=self.scroll.scroll_y + pages * height, animate=False)

    def ask(self, about: ConflictPrompt, question: "ConflictQuestion", size: Size) -> None:
        """Put a question, and keep its answers in sight; a long place scrolls. The highlighted answer stays.

        Args:
            about: The conflict.
            question: What is asked, and the place on show.
            size: Of the terminal.
        """
        is_low, is_wide = size.height < _LOW, size.width >= _WIDE
        self.set_class(is_wide, "-wide")
        self.set_class(is_low, "-low")
        room = min(size.width * 94 // 100 if is_wide else size.width, 150) - _FRAME
        fits = len(question.title) <= room - 2
        self.border_title = Content(f" ! {question.title if fits else question.short_title} ")
        self.query_one("#note", Static).update(Content(truncate_middle(about.path, room)))
        place = question.place
        where = self._show_where(about, question, room, is_low=is_low)
        sides = self._show_sides(question.sides, room)
        self.place.show(place, about.names, about.times)
        self.scroll.display = place is not None
        self.scroll.scroll_home(animate=False)
        shown = [row for row in question.rows if not (is_low and row.is_extra)]
        chosen = self._show_answers(shown, is_first_best=question.is_first_best)
        self._outcomes = question.outcomes
        result = 0
        self.result.display = place is not None and not is_low
        if place is not None and not is_low:
            limit = _HIGH_RESULT_ROWS if size.height >= _HIGH else _RESULT_ROWS
            outcomes = [question.outcomes[row.id] for row in shown]
            self.result.show(place, about.names, outcomes, question.outcomes[shown[chosen].id], limit)
            result = self.result.get_content_height(size, size, room) + 2
        others = 5 + sides + where + result + len(shown) + (0 if is_low else 3)
        self.scroll.styles.max_height = max(size.height - others, 1)

    def _show_where(self, about: ConflictPrompt, question: "ConflictQuestion", room: int, *, is_low: bool) -> int:
        """Show which place it is, and where; the number of rows for it."""
        where = self.query_one("#where", Static)
        where.display = question.place is not None and bool(question.words or not is_low)
        if not where.display or question.place is None:
            return 0
        line = question.place.first_line
        keys = f"{label_key('conflict.next_place')} next" if question.words else ""
        section = find_section(about.mine if about.merged is None else about.merged.text, line)
        words = Content.assemble(
            (question.words, "bold $text-warning"), "   " if question.words else "", f"line {line:,}"
        )
        left = room - words.cell_length - len(keys) - 2 * _GAP
        words += Content.styled(
            f"  {truncate(to_one_line(section), left)}" if section and left > _GAP else "", "italic"
        )
        where.update(words + Content(" " * max(room - words.cell_length - len(keys), 1) + keys))
        return 1

    def _show_sides(self, sides: Sequence[str], room: int) -> int:
        """Show what each did, beside or below each other; the number of rows for it."""
        shown = self.query_one("#sides", Static)
        shown.display = bool(sides)
        beside = Content("      ").join(map(_format_side, sides))
        is_beside = beside.cell_length <= room
        shown.update(beside if is_beside else Content("\n").join(map(_format_side, sides)))
        return 1 if sides and is_beside else len(sides)

    def _show_answers(self, rows: "Sequence[AnswerRow]", *, is_first_best: bool) -> int:
        """Show the answers; the number of the highlighted one."""
        chosen = self.options.highlighted_option
        key = max(len(row.key) for row in rows) + 2
        self.options.set_options(
            Option(_format_answer(row, key, is_best=is_first_best and not number), id=row.id)
            for number, row in enumerate(rows)
        )
        ids = [row.id for row in rows]
        number = ids.index(chosen.id) if chosen is not None and chosen.id in ids else 0
        self.options.highlighted = number
        return number


_FRAME = 6
"""Cells beside the text in the box."""


@dataclass(frozen=True, slots=True)
class ConflictQuestion:
    """What is asked about a conflict.

    Attributes:
        title: What is asked.
        short_title: The same where that is too long.
        words: Which of several places it is; empty for the only one.
        place: The place on show.
        sides: What each did.
        rows: The answers.
        outcomes: What each answer leaves at the place, by its id.
        is_first_best: Whether the first answer is recommended.
    """

    title: str
    short_title: str
    words: str
    place: MergeHunk | None
    sides: Sequence[str]
    rows: Sequence[AnswerRow]
    outcomes: Mapping[str, Outcome]
    is_first_best: bool = False


def _format_side(side: str) -> Content:
    """What one side did, with the numbers of lines in the colours of a diff."""
    pieces, at = list[Content](), 0
    for found in _COUNT.finditer(side):
        style = "$text-success" if found[1] == "+" else "$text-error"
        pieces += [Content(side[at : found.start()]), Content.styled(found[0], style)]
        at = found.end()
    return Content("").join([*pieces, Content(side[at:])])


def _format_answer(row: AnswerRow, key: int, *, is_best: bool) -> Content:
    """An answer behind the cells of its key."""
    best = ("  (recommended)", "italic") if is_best else ""
    return Content.assemble((f" {row.key:<{key}}", "bold $text-accent"), row.words, best)


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
