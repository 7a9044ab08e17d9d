"""Lines of activity: every column in line at every width, whatever an agent calls itself."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from memtui.core.visible import HIDDEN
from memtui.ui.activity.row import ActivityRow, Palette, columns_for, draw, duration_text, lines_text

PALETTE = Palette(
    plain=Style.parse("white"),
    detail=Style.parse("grey50"),
    agent=Style.parse("blue"),
    you=Style.parse("bold"),
    outside=Style.parse("yellow"),
    ok=Style.parse("green"),
    bad=Style.parse("red"),
    seen=Style.parse("magenta"),
    added=Style.parse("cyan"),
    removed=Style.parse("bright_red"),
    cursor=Style.parse("black on white"),
)

VIEW = ActivityRow(1, "10:14:02", "Claude", "view", "/memories", "ok", None, None, 2, "23 entries")
EDIT = ActivityRow(2, "10:14:03", "Claude", "str_replace", "/memories/user_preferences.md", "ok", 1, 1, 3)
REFUSED = ActivityRow(
    3,
    "10:14:05",
    "Claude",
    "create",
    "/memories/../etc/passwd",
    "REFUSED",
    None,
    None,
    0,
    "outside /memories",
)
SEEN = ActivityRow(
    6, "10:16:58", "outside", "modified", "/memories/scratch.txt", "seen", 1, None, None, "not via memtui"
)
ROWS = (VIEW, EDIT, REFUSED, SEEN)


def test_eighty_columns_show_all_but_the_note() -> None:
    assert [draw(row, 78, PALETTE).text for row in ROWS] == [
        " 10:14:02 Claude  view        /memories                       ok           2ms",
        " 10:14:03 Claude  str_replace /memories/user_preferences.md   ok +1 -1     3ms",
        " 10:14:05 Claude  create      /memories/../etc/passwd         REFUSED      0ms",
        " 10:16:58 outside modified    /memories/scratch.txt           seen +1         ",
    ]


def test_a_hundred_and_twenty_columns_show_the_note() -> None:
    assert [draw(row, 118, PALETTE).text[41:].rstrip() for row in ROWS] == [
        "ories                           ok                   2 ms   23 entries",
        "ories/user_preferences.md       ok      +1 -1        3 ms",
        "ories/../etc/passwd             REFUSED              0 ms   outside /memories",
        "ories/scratch.txt               seen    +1                  not via memtui",
    ]


def test_the_name_of_a_program_is_whole_where_there_is_room() -> None:
    row = ActivityRow(1, "10:14:02", "claude-code", "view", "/memories", "ok", None, None, 2, "23 entries")
    assert draw(row, 98, PALETTE).text.startswith(" 10:14:02 claude-code view        /memories ")
    assert draw(row, 78, PALETTE).text.startswith(" 10:14:02 claud.. view        /memories ")


def test_what_goes_first_as_the_line_gets_narrower() -> None:
    assert columns_for(198).path > columns_for(118).path
    assert columns_for(118).note
    assert not columns_for(99).note
    assert columns_for(78).duration
    assert not columns_for(60).duration
    assert columns_for(60).time
    assert not columns_for(40).time


@pytest.mark.parametrize("width", [45, 60, 78, 99, 100, 118, 139, 140, 198, 400])
def test_a_refusal_is_never_pushed_out_of_sight(width: int) -> None:
    hostile = replace(REFUSED, actor="x" * 999, command="y" * 999, path="/" + "z" * 9_999_999)
    line = draw(hostile, width, PALETTE).text
    assert "REFUSED" in line
    assert cell_len(line) == width


def test_results_and_actors_have_colours_of_their_own() -> None:
    def style_of(row: ActivityRow, word: str) -> Style | None:
        (found,) = (segment.style for segment in draw(row, 118, PALETTE) if segment.text.strip() == word)
        return found

    assert style_of(VIEW, "ok") == PALETTE.ok
    assert style_of(REFUSED, "REFUSED") == PALETTE.bad
    assert style_of(replace(VIEW, result="ERROR"), "ERROR") == PALETTE.bad
    assert style_of(SEEN, "seen") == PALETTE.seen
    assert style_of(SEEN, "outside") == PALETTE.outside
    assert style_of(replace(VIEW, actor="you"), "you") == PALETTE.you
    assert style_of(VIEW, "Claude") == PALETTE.agent
    assert style_of(EDIT, "+1") == PALETTE.added
    assert style_of(EDIT, "-1") == PALETTE.removed


def test_the_cursor_covers_the_whole_line() -> None:
    strip = draw(EDIT, 78, PALETTE, cursor=True)
    assert {segment.style for segment in strip} == {PALETTE.cursor}
    assert strip.text.startswith(">10:14:03")


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
    st.booleans(),
)
def test_any_event_at_any_width_is_drawn_at_exactly_that_width(row: ActivityRow, width: int, cursor: bool) -> None:
    strip = draw(row, width, PALETTE, cursor=cursor)
    assert cell_len(strip.text) == strip.cell_length == width
    assert not HIDDEN.search(strip.text)
    assert "\n" not in strip.text


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (0, "0 ms"),
        (2.4, "2 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (9940, "9.9 s"),
        (75_000, "75 s"),
        (1e12, "9999 s"),
    ],
)
def test_durations_fit_their_column(milliseconds: float, shown: str) -> None:
    assert duration_text(milliseconds) == shown
    assert len(duration_text(milliseconds, "")) <= 5


@given(st.integers(0, 10**12))
def test_numbers_of_lines_fit_in_three_cells(lines: int) -> None:
    assert len(lines_text(lines)) <= 3
