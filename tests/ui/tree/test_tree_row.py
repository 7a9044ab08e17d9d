"""Rows as they are drawn: columns in line at every width, whatever a file is called."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from memtui.core.events import EntryKind, FolderEntry
from memtui.core.unicode import HIDDEN
from memtui.core.wording import COLUMN, format_column_count, format_size
from memtui.ui.widgets.tree.outline import Outline, TreeRow
from memtui.ui.widgets.tree.row import SECOND, draw_row, format_row_age
from memtui.ui.widgets.tree.row_state import RowChange, RowState

DAY = 86_400
NOW = 1_800_000_000 * SECOND
STYLES = {
    "": Style.parse("white on black"),
    "directory": Style.parse("bold blue on black"),
    "hidden": Style.parse("grey70 on black"),
    "detail": Style.parse("grey50 on black"),
    "guide": Style.parse("grey30 on black"),
    "new": Style.parse("green on black"),
    "changed": Style.parse("yellow on black"),
    "deleted": Style.parse("red strike on black"),
    "renamed": Style.parse("cyan on black"),
    "problem": Style.parse("magenta on black"),
    "fresh": Style.parse("white on rgb(1,2,3)"),
    "fading": Style.parse("dim red strike on black"),
    "cursor": Style.parse("black on white"),
    "selected": Style.parse("bold cyan"),
}

HOSTILE = [
    "\x1b]52;c;aGk=\x07.md",
    "[/x][@click=app.quit]a[/].md",
    "\u202etxt.exe",
    "a\u200b\u2066b\U000e0041.md",
    "👩‍👩‍👧‍👦👍🏽🇩🇪.md",
    "日本語のとても長い名前のメモ帳ファイル.markdown",
    "e" + "\u0301" * 60 + ".md",
    "n" * 255,
    "bad\udcff\udc80.md",
    "two\nlines\tand a tab",
    " ",
    "שלום.md",
]


def file(path: str, size: int | None = 812, age: int | None = 2, kind: EntryKind = EntryKind.FILE) -> FolderEntry:
    return FolderEntry(path, kind, size, None if age is None else NOW - age * SECOND)


def row(entry: FolderEntry) -> TreeRow:
    outline = Outline([entry])
    index = outline.find_index(entry.path)
    assert index is not None
    return outline.get_row(index)


def draw(row: TreeRow, width: int, **state: Any) -> Strip:
    return draw_row(row, width, NOW, STYLES.__getitem__, RowState(**state))


def text(entry: FolderEntry, width: int, change: RowChange | None = None, cursor: bool = False) -> str:
    return draw(row(entry), width, change=change, cursor=cursor).text


@pytest.mark.parametrize(
    ("entry", "change", "cursor", "line"),
    [
        (file("d/2026-11-21-standup.md"), RowChange.NEW, False, " +  2026-11-21-standup.md 2s"),
        (file("d/user_preferences.md", 179, 14), RowChange.CHANGED, True, ">~  user_preferences.md  14s"),
        (file("d/README.md", 4096, 9 * DAY), None, False, "    README.md       4.0K  9d"),
        (file("scratch.txt", 2000, 9 * DAY), None, False, "   scratch.txt      2.0K  9d"),
        (file("link", None, None, EntryKind.LINK), None, False, "   link@                    "),
        (file("pipe", None, 60, EntryKind.OTHER), RowChange.PROBLEM, False, " ! pipe|                  1m"),
    ],
)
def test_a_narrow_row_gives_its_cells_to_the_name(
    entry: FolderEntry, change: RowChange | None, cursor: bool, line: str
) -> None:
    assert text(entry, 28, change, cursor) == line


@pytest.mark.parametrize(
    ("entry", "change", "line"),
    [
        (file("d/2026-11-21-standup.md"), RowChange.NEW, " + │ 2026-11-21-standup.md 812B   2s"),
        (file("d/user_preferences.md", 179, 14), None, "   │ user_preferences.md   179B  14s"),
        (file("scratch.txt", 2000, 9 * DAY), None, "   scratch.txt             2.0K   9d"),
        (file("scratch.txt", None, None), None, "   scratch.txt                      "),
        (file("2026-11-21-standup-notes.md"), None, "   2026-11-21-standup-notes.md    2s"),
        (file("2026-11-21-standup-with-everybody.md"), None, "   2026-11-21-stand..erybody.md   2s"),
    ],
)
def test_a_roomy_row_has_columns_for_size_and_age_but_a_long_name_comes_before_its_size(
    entry: FolderEntry, change: RowChange | None, line: str
) -> None:
    assert text(entry, 36, change) == line


def test_what_is_marked_pinned_or_protected_says_so_in_a_letter_of_its_own() -> None:
    marked = draw(row(file("d/a.md")), 28, change=RowChange.NEW, selected=True, cursor=True)
    assert marked.text == ">+* a.md            812B  2s"
    outline = Outline([file("d/a.md"), file("b.md")], pins=["d/a.md"])
    assert draw(outline.get_row(0), 28, protected=True).text == "   d/a.md        ^P 812B  2s"
    assert draw(outline.get_row(2), 36, protected=True).text == "   b.md                  P 812B   2s"
    long = Outline(
        [file("d/a-very-long-name-of-a-forgotten-session.md")], pins=["d/a-very-long-name-of-a-forgotten-session.md"]
    )
    assert draw(long.get_row(0), 30, protected=True).text.endswith(" ^P 2s")
    assert draw(long.get_row(0), 10, protected=True).text.endswith(" ^P")


def test_a_directory_shows_a_triangle_its_files_and_the_newest_age() -> None:
    outline = Outline([file("notes/a.md"), file("notes/b.md", age=60)])
    assert draw(outline.get_row(0), 28).text == "   ▾notes/             2  2s"
    assert draw(outline.get_row(0), 36).text == "   ▾ notes/                   2   2s"
    outline.collapse("notes")
    assert draw(outline.get_row(0), 36).text == "   ▸ notes/                   2   2s"


def test_a_long_name_keeps_its_start_and_its_extension() -> None:
    line = text(file("a-very-long-name-of-a-forgotten-session.md"), 30)
    assert line.startswith("   a-very")
    assert ".md 2s" in line
    assert ".." in line


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", list(EntryKind))
def test_a_hostile_name_leaves_the_columns_in_line(name: str, kind: EntryKind) -> None:
    for width in (1, 3, 8, 12, 27, 28, 33, 34, 60):
        strip = draw(row(file(f"d/{name}", kind=kind)), width, change=RowChange.NEW)
        assert strip.cell_length == cell_len(strip.text) == width
        assert not HIDDEN.search(strip.text)
        assert "\n" not in strip.text
        assert "\t" not in strip.text
        assert strip.text.endswith("2s") or width < 27 or kind is EntryKind.DIRECTORY


@given(
    st.lists(st.text(min_size=1).map(lambda name: name.replace("/", "")), min_size=1, max_size=9),
    st.integers(0, 80),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_any_name_at_any_width_is_drawn_at_exactly_that_width(
    names: list[str], width: int, cursor: bool, selected: bool, protected: bool
) -> None:
    entry = file("/".join(name or "x" for name in names))
    strip = draw(row(entry), width, cursor=cursor, selected=selected, protected=protected)
    assert cell_len(strip.text) == width
    assert not HIDDEN.search(strip.text)


def test_a_mark_colours_the_letter_and_the_name_and_nothing_else() -> None:
    strip = draw(row(file("a.md")), 28, change=RowChange.DELETED)
    struck = [segment.text for segment in strip if segment.style and segment.style.strike]
    assert struck == ["-", "a.md"]


def test_the_cursor_covers_the_whole_row_and_keeps_the_strike() -> None:
    strip = draw(row(file("a.md")), 28, change=RowChange.DELETED, cursor=True)
    assert {segment.style.bgcolor for segment in strip if segment.style} == {STYLES["cursor"].bgcolor}
    assert [segment.text for segment in strip if segment.style and segment.style.strike] == ["a.md"]


def test_a_fading_row_is_dim_but_for_the_cursor() -> None:
    strip = draw(row(file("a.md")), 34, change=RowChange.DELETED, fading=True)
    dim = [segment.text.strip() for segment in strip if segment.style == STYLES["fading"]]
    assert dim == ["-", "a.md", "812B   2s"]
    under = draw(row(file("a.md")), 34, change=RowChange.DELETED, fading=True, cursor=True)
    assert STYLES["fading"] not in [segment.style for segment in under]


def test_a_fresh_row_has_another_background_under_the_same_colours() -> None:
    plain = draw(row(file("a.md")), 28, change=RowChange.NEW)
    fresh = draw(row(file("a.md")), 28, change=RowChange.NEW, fresh=True)
    assert {segment.style.bgcolor for segment in fresh if segment.style} == {STYLES["fresh"].bgcolor}
    assert [segment.style.color for segment in fresh if segment.style] == [
        segment.style.color for segment in plain if segment.style
    ]


def test_hidden_names_and_all_below_them_are_muted() -> None:
    for path in (".env", ".git/config", "a/.b/c"):
        entry = file(path)
        name = path.rpartition("/")[2]
        styles = {segment.text: segment.style for segment in draw(row(entry), 40)}
        assert styles[name] == STYLES["hidden"]


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0B"),
        (999, "999B"),
        (1000, "1.0K"),
        (1229, "1.2K"),
        (10_188, "9.9K"),
        (10_240, "10K"),
        (1_023_000, "999K"),
        (1_024_000, "1.0M"),
        (2**60, "1.0E"),
        (2**80, "huge"),
    ],
)
def test_sizes_fit_in_four_cells(size: int, shown: str) -> None:
    assert format_size(size, COLUMN) == shown


@given(st.integers(0, 2**64), st.integers(0, 10**8))
def test_no_size_and_no_count_is_wider_than_four_cells(size: int, count: int) -> None:
    assert len(format_size(size, COLUMN)) <= 4
    assert len(format_column_count(count)) <= 4


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-3600, "fut"),
        (-1, "0s"),
        (0, "0s"),
        (59, "59s"),
        (60, "1m"),
        (3599, "59m"),
        (3600, "1h"),
        (DAY - 1, "23h"),
        (99 * DAY, "99d"),
        (100 * DAY, "14w"),
        (364 * DAY, "52w"),
        (365 * DAY, "1y"),
        (730 * DAY, "2y"),
        (365_000 * DAY, "99y"),
    ],
)
def test_ages_fit_in_three_cells(seconds: int, shown: str) -> None:
    assert format_row_age(NOW - seconds * SECOND, NOW) == shown
