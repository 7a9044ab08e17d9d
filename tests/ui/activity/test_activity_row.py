"""Lines of activity: every column in line at every width, whatever an agent calls itself."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from memtui.core.unicode import HIDDEN
from memtui.core.wording import format_latency, format_line_count
from memtui.ui.widgets.activity import ActivityRow, build_columns
from memtui.ui.widgets.row_list import fill_columns


def draw(row: ActivityRow, width: int) -> str:
    """A row as the list draws it, behind the cell of the cursor."""
    return "".join(text for text, _ in fill_columns(build_columns(width), row, width))


VIEW = ActivityRow(1, "10:14:02", "Claude", "view", "/memories", "ok", None, None, 2, "23 entries")
EDIT = ActivityRow(2, "10:14:03", "Claude", "str_replace", "/memories/user_preferences.md", "ok", 1, 1, 3)
REFUSED = ActivityRow(
    3, "10:14:05", "Claude", "create", "/memories/../etc/passwd", "REFUSED", None, None, 0, "outside /memories"
)
SEEN = ActivityRow(
    6, "10:16:58", "outside", "modified", "/memories/scratch.txt", "seen", 1, None, None, "not via memtui"
)
ROWS = (VIEW, EDIT, REFUSED, SEEN)


def test_eighty_columns_show_all_but_the_note() -> None:
    assert [draw(row, 77) for row in ROWS] == [
        "10:14:02 Claude  view        /memories                       ok           2ms",
        "10:14:03 Claude  str_replace /memories/user_preferences.md   ok +1 -1     3ms",
        "10:14:05 Claude  create      /memories/../etc/passwd         REFUSED      0ms",
        "10:16:58 outside modified    /memories/scratch.txt           seen +1         ",
    ]


def test_a_hundred_and_twenty_columns_show_the_note() -> None:
    assert [draw(row, 117)[40:].rstrip() for row in ROWS] == [
        "ories                           ok                   2 ms   23 entries",
        "ories/user_preferences.md       ok      +1 -1        3 ms",
        "ories/../etc/passwd             REFUSED              0 ms   outside /memories",
        "ories/scratch.txt               seen    +1                  not via memtui",
    ]


def test_the_name_of_a_program_is_whole_where_there_is_room() -> None:
    row = ActivityRow(1, "10:14:02", "claude-code", "view", "/memories", "ok", None, None, 2, "23 entries")
    assert draw(row, 97).startswith("10:14:02 claude-code view        /memories ")
    assert draw(row, 77).startswith("10:14:02 claud.. view        /memories ")


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (98, "time actor command path result duration"),
        (77, "time actor command path result duration"),
        (59, "time actor command path result"),
        (39, "actor command path result"),
        (117, "time actor command path result counts duration note"),
    ],
)
def test_columns_go_as_the_row_gets_narrower(width: int, columns: str) -> None:
    assert [column.name for column in build_columns(width)] == columns.split()


def test_a_wider_row_has_a_longer_path_up_to_a_limit() -> None:
    widths = [next(each.width for each in build_columns(width) if each.name == "path") for width in (117, 197, 400)]
    assert widths[0] < widths[1] == widths[2]


@pytest.mark.parametrize("width", [44, 59, 77, 98, 99, 117, 138, 139, 197, 399])
def test_a_refusal_is_never_pushed_out_of_sight(width: int) -> None:
    hostile = replace(REFUSED, actor="x" * 999, command="y" * 999, path="/" + "z" * 9_999_999)
    line = draw(hostile, width)
    assert "REFUSED" in line
    assert cell_len(line) == width


@pytest.mark.parametrize(
    ("row", "word", "role"),
    [
        (VIEW, "ok", "ok"),
        (REFUSED, "REFUSED", "bad"),
        (replace(VIEW, result="ERROR"), "ERROR", "bad"),
        (SEEN, "seen", "seen"),
        (SEEN, "outside", "outside"),
        (replace(VIEW, actor="you"), "you", "you"),
        (VIEW, "Claude", "agent"),
        (EDIT, "+1", "added"),
        (EDIT, "-1", "removed"),
    ],
)
def test_results_and_actors_have_colours_of_their_own(row: ActivityRow, word: str, role: str) -> None:
    cells = fill_columns(build_columns(117), row, 117)
    assert [style for text, style in cells if text.strip() == word] == [role]


@given(
    st.builds(
        ActivityRow,
        st.integers(0),
        st.text(),
        st.text(),
        st.text(),
        st.text(),
        st.text() | st.sampled_from(["ok", "REFUSED", "ERROR", "seen"]),
        st.none() | st.integers(0, 10**9),
        st.none() | st.integers(0, 10**9),
        st.none() | st.floats(0, 10**12),
        st.text(),
    ),
    st.integers(0, 220),
)
def test_any_event_at_any_width_is_drawn_at_exactly_that_width(row: ActivityRow, width: int) -> None:
    text = draw(row, width)
    assert cell_len(text) == width or width < 36
    assert Strip([Segment(text)]).adjust_cell_length(width).cell_length == width
    assert not HIDDEN.search(text)
    assert "\n" not in text


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (0, "0 ms"), (2.4, "2 ms"), (999.4, "999 ms"), (999.6, "1.0 s"), (9940, "9.9 s"), (75_000, "75 s"),
        (1e12, "9999 s"),
    ],
)  # fmt: skip
def test_durations_fit_their_column(milliseconds: float, shown: str) -> None:
    assert format_latency(milliseconds) == shown
    assert len(format_latency(milliseconds, "")) <= 5


@given(st.integers(0, 10**12))
def test_numbers_of_lines_fit_in_three_cells(lines: int) -> None:
    assert len(format_line_count(lines)) <= 3
