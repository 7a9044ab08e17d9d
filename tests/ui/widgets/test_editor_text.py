"""The text that is edited, without a screen: lines, cells, rows, colours, and one text becoming another."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memtui.core.unicode import HIDDEN
from memtui.ui.widgets.editor import wrap
from memtui.ui.widgets.editor.area import detect_indent, get_continuation, is_bare_marker
from memtui.ui.widgets.editor.paint import LineState, SyntaxHighlighter
from memtui.ui.widgets.editor.text import TextDocument, compute_edits
from memtui.ui.widgets.editor.wrap import WrappedRows

ODD = [
    "\t", "한", "é", "e\u0301", "\u202e", "\u200b", "\u200d", "👨\u200d👩\u200d👧", "\x1b", "\x0c", "\x85", "\u2028",
    "❤️",
]  # fmt: skip
PIECES = st.lists(st.sampled_from(["a", "bc", " ", "  ", "-", *ODD]), max_size=40)
LINE = PIECES.map("".join)
TEXT = st.lists(st.sampled_from(["", "a", "b", "ab c", "- x", "한 \u202e", "tail"]), max_size=12).map("\n".join)
TAB = 4


@given(LINE, st.integers(3, 30))
def test_a_row_holds_what_fits_and_rows_together_hold_the_line(line: str, width: int) -> None:
    bounds = (0, *wrap.find_breaks(line, width, TAB), len(line))
    assert list(bounds) == sorted(bounds)
    assert len(set(bounds)) == len(bounds) or not line
    for start, end in pairwise(bounds):
        filled = wrap.column_to_cell(line, end, TAB) - wrap.column_to_cell(line, start, TAB)
        # One cell more for a space before the break: the cursor has it. An escape wider than a row stands alone.
        assert filled <= width + 1 or wrap.get_column_before(line, end, TAB) == start


@given(LINE)
def test_what_is_drawn_is_as_wide_as_is_counted_and_hides_nothing(line: str) -> None:
    drawn = wrap.draw_columns(line, 0, len(line), TAB)
    assert cell_len(drawn) == wrap.measure_width(line, TAB)
    assert not HIDDEN.search(drawn)


@given(LINE)
def test_steps_to_the_right_lead_through_the_line_and_steps_to_the_left_back(line: str) -> None:
    at = 0
    while at < len(line):
        next_one = wrap.get_column_after(line, at, TAB)
        assert next_one > at
        assert wrap.get_column_before(line, next_one, TAB) == at
        assert wrap.cell_to_column(line, wrap.column_to_cell(line, at, TAB), TAB) == at
        at = next_one


@pytest.mark.parametrize("odd", ["\u0301", "\u200b", "\u200d", "\t", "👨\u200d"], ids=ascii)
def test_a_line_of_very_many_odd_characters_is_drawn_plainly_behind_the_first_of_them(odd: str) -> None:
    count = 3 * wrap.MOST_ODD
    line = "a" + odd * count + "漢 end"
    cells = wrap.split_cells(line, TAB)
    assert wrap.find_undrawn(line) < len(line)
    assert max(map(len, cells.texts)) <= 33  # no piece takes a terminal long
    assert "".join(cells.texts).endswith("\ufffd漢 end")
    assert cells.columns[-1] == len(line)
    assert cells.offsets[-1] == cell_len("".join(cells.texts))
    first, last = cells.columns[5], cells.columns[9]
    assert all(first <= start < last for start, _ in wrap.find_hidden(line, first, last, TAB))


def test_only_a_line_feed_ends_a_line() -> None:
    text = "a\x0cb\x85c\u2028d\re\n\n"
    lines = TextDocument(text)
    assert lines.line_count == 3
    assert lines.text == text
    lines.replace_range((0, 1), (0, 1), "\x0b")
    assert lines.text == "a\x0b" + text[1:]


@given(TEXT, TEXT)
def test_few_edits_make_one_text_of_another(old: str, new: str) -> None:
    lines = TextDocument(old)
    for edit in compute_edits(old, new):
        lines.replace_range(edit.top, edit.bottom, edit.text)
    assert lines.text == new


@given(TEXT, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), TEXT), max_size=5), st.integers(0, 9))
def test_rows_made_anew_of_what_was_edited_are_the_rows_of_the_whole(
    text: str, edits: list[tuple[int, int, str]], width: int
) -> None:
    lines = TextDocument(text)
    rows = WrappedRows(lines, tab_width=TAB)
    rows.wrap(width)
    for first, last, put in edits:
        start, end = (lines.location_from_index(min(at, len(lines.text))) for at in sorted((first, last)))
        assert rows.height == len(list(filter(None, map(rows.get_row, range(rows.height)))))
        result = lines.replace_range(start, end, put)
        rows.wrap_range(start, end, result.end_location)
    whole = WrappedRows(TextDocument(lines.text), tab_width=TAB)
    whole.wrap(width)
    assert [rows.get_row(y) for y in range(whole.height + 1)] == [whole.get_row(y) for y in range(whole.height + 1)]
    assert rows.widest == whole.widest


@given(TEXT, st.integers(3, 9))
def test_each_location_is_where_its_cell_says(text: str, width: int) -> None:
    lines = TextDocument(text)
    rows = WrappedRows(lines, tab_width=TAB)
    rows.wrap(width)
    for row, line in enumerate(lines.lines):
        column = 0
        while True:
            assert rows.offset_to_location(rows.location_to_offset((row, column))) == (row, column)
            if column >= len(line):
                break
            column = wrap.get_column_after(line, column, TAB)


def test_colours_after_an_edit_are_those_of_the_text_as_it_is() -> None:
    text = "---\ntitle: x\n---\n# Head\n```\n# no heading\n```\n- item `code` [[link]]\n<!-- hidden\nstill\n-->\n"
    lines = TextDocument(text)
    colours = SyntaxHighlighter(lines, "markdown")
    assert [colours.get_state(row).name for row in (1, 3, 5, 7, 9, 11)] == [
        "FRONT", "TEXT", "BACKTICKS", "TEXT", "COMMENT", "TEXT",
    ]  # fmt: skip
    assert (0, 6, "heading") in colours.get_runs(3)
    assert {role for _, _, role in colours.get_runs(7)} == {"marker", "code", "link"}
    lines.replace_range((4, 0), (4, 3), "x")
    assert colours.get_state(5) is LineState.TEXT
    assert colours.get_state(7) is LineState.BACKTICKS


@pytest.mark.parametrize(
    "line", ["*" * 3000, "[" * 3000, "`" * 3000, "_a" * 1500, "<!--" * 700, "[[" * 1500, "**a" * 1000, "> " * 1500]
)
def test_no_line_holds_up_the_colours(line: str) -> None:
    colours = SyntaxHighlighter(TextDocument("\n".join([line] * 20)), "markdown")
    assert colours.get_state(19) is not None
    for row in range(20):
        colours.get_runs(row)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- one", "- "),
        ("  * [x] done", "  * [ ] "),
        ("9. nine", "10. "),
        ("    deep", "    "),
        ("text", ""),
        ("-no", ""),
    ],
)
def test_a_list_goes_on_in_the_next_line(before: str, after: str) -> None:
    assert get_continuation(before, in_list=True) == after


def test_an_item_with_nothing_in_it_ends_its_list() -> None:
    assert is_bare_marker("  - ")
    assert not is_bare_marker("  - x")
    assert not is_bare_marker("---")


def test_a_text_is_indented_as_it_is_already() -> None:
    assert detect_indent("a:\n\tb\n\tc\n", "yaml") == ("tabs", 4)
    assert detect_indent("a:\n    b\n", "yaml") == ("spaces", 4)
    assert detect_indent("- a\n", "markdown") == ("spaces", 2)
