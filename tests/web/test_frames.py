"""Cells for the page, and the page's keys as a terminal would tell them."""

import json

import pytest
from rich.cells import cell_len
from rich.control import Control
from rich.segment import Segment
from rich.style import Style
from textual.events import AppBlur, Key, MouseDown, MouseScrollUp, Paste

from memtui.ui.web_frames import CellGrid, parse_events, parse_message, parse_size

RED = Style(color="#ff0000", bgcolor="#000000", bold=True)


def at(x: int, y: int, *segments: Segment) -> list[Segment]:
    return [Control.move_to(x, y).segment, *segments]


def build(text: str) -> list[list[object]]:
    """The runs of a row that begins with a text."""
    grid = CellGrid(cell_len(text), 1)
    grid.draw(at(0, 0, Segment(text, RED)))
    frame = grid.build_frame(1)
    return frame["rows"][0][1]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("plain", [["plain", 0]]),
        ("─┤é", [["─┤é", 0]]),
        ("a日b", [["a", 0], ["日", 0, 2], ["b", 0]]),
        ("cafe\u0301s", [["caf", 0], ["e\u0301", 0, 1], ["s", 0]]),
    ],
)
def test_a_run_has_one_code_point_in_each_cell_or_says_its_width(text: str, runs: list[object]) -> None:
    assert build(text) == runs


@pytest.mark.parametrize("text", ["👩‍👩‍👧 x", "🏳️‍🌈!", "❤️ y", "a" + "\u0301" * 5_000 + "b", "नमस्ते", "x\u200b\u200b"])
def test_the_columns_of_a_row_are_those_of_the_terminal(text: str) -> None:
    runs = build(text)
    assert sum(run[2] if len(run) > 2 else len(run[0]) for run in runs) == cell_len(text)  # type: ignore[misc, arg-type]
    assert len(json.dumps(runs)) < 1_000


def test_a_style_has_its_colors_and_flags_once() -> None:
    reverse = Style(color="#010203", bgcolor="#040506", reverse=True, italic=True)
    grid = CellGrid(4, 1)
    grid.draw(at(0, 0, Segment("a", RED), Segment("b", reverse), Segment("c", RED), Segment("d")))
    frame = grid.build_frame(1)
    assert frame["styles"] == [("#ff0000", "#000000", 1), ("#040506", "#010203", 4), ("#e0e0e0", "#121212", 0)]
    assert frame["rows"] == [[0, [["a", 0], ["b", 1], ["c", 0], ["d", 2]]]]


def test_only_rows_that_changed_are_sent_and_all_of_them_behind_another_size() -> None:
    grid = CellGrid(3, 2)
    grid.draw([*at(0, 0, Segment("one")), Segment("\n"), *at(0, 1, Segment("two"))])
    assert [row for row, _ in grid.build_frame(1)["rows"]] == [0, 1]
    grid.draw(at(0, 0, Segment("one")))
    assert grid.build_frame(2)["rows"] == []
    grid.draw(at(1, 1, Segment("X")))
    assert grid.build_frame(3)["rows"] == [[1, [["tXo", 0]]]]
    grid.resize(4, 1)
    frame = grid.build_frame(4)
    assert (frame["width"], frame["height"], frame["rows"]) == (4, 1, [[0, [["one ", 0]]]])


def test_what_is_outside_of_the_screen_is_not_drawn() -> None:
    grid = CellGrid(3, 1)
    grid.draw([*at(2, 0, Segment("日x")), *at(0, 7, Segment("below")), *at(1, 0, Segment("ab and more"))])
    assert grid.build_frame(1)["rows"] == [[0, [[" ab", 0]]]]


@pytest.mark.parametrize(("column", "shown"), [(0, "x b"), (1, " xb"), (2, "日x")])
def test_half_of_a_wide_character_is_none(column: int, shown: str) -> None:
    grid = CellGrid(3, 1)
    grid.draw(at(0, 0, Segment("日b")))
    grid.draw(at(column, 0, Segment("x")))
    assert "".join(str(run[0]) for run in grid.build_frame(1)["rows"][0][1]) == shown


@pytest.mark.parametrize(
    ("name", "modifiers", "key", "character"),
    [
        ("a", 0, "a", "a"),
        ("A", 1, "A", "A"),
        ("?", 1, "question_mark", "?"),
        ("é", 0, "é", "é"),
        ("c", 4, "ctrl+c", None),
        ("x", 2, "alt+x", None),
        ("Enter", 0, "enter", "\r"),
        ("Tab", 1, "shift+tab", None),
        ("Backspace", 1, "backspace", "\x7f"),
        (" ", 1, "space", " "),
        ("ArrowUp", 0, "up", None),
        ("ArrowDown", 5, "ctrl+shift+down", None),
        ("PageDown", 0, "pagedown", None),
        ("F10", 0, "f10", None),
    ],
)
def test_a_key_of_the_page_is_one_of_a_terminal(name: str, modifiers: int, key: str, character: str | None) -> None:
    (event,) = parse_events(["key", name, modifiers])
    assert isinstance(event, Key)
    assert event.key == key
    assert event.character == character


@pytest.mark.parametrize(
    "line",
    [
        b"", b"[", b"null", b"[]", b'["key"]', b'["key", "Hyper", 0]', b'["key", "\\u001b", 0]', b'["key", 1, 0]',
        b'["mouse", "jump", 1, 1, 1, 0]', b'["mouse", "down", -1, 1, 1, 0]', b'["mouse", "down", 1, 1, 9, 0]',
        b'["mouse", "down", 1.5, 1, 1, 0]', b"[" * 60_000, b'{"end": 1}', b"\xff", b'["exec", "x"]',
    ],
)  # fmt: skip
def test_what_no_page_of_ours_sends_means_nothing(line: bytes) -> None:
    message = parse_message(line)
    assert parse_events(message) == []
    assert parse_size(message, "size", most=(400, 150)) is None


def test_mouse_paste_and_focus_arrive() -> None:
    (down,) = parse_events(["mouse", "down", 3, 4, 1, 1])
    assert isinstance(down, MouseDown)
    assert (down.screen_x, down.screen_y, down.button, down.shift) == (3, 4, 1, True)
    assert isinstance(parse_events(["mouse", "scroll_up", 3, 4, 0, 0])[0], MouseScrollUp)
    (paste,) = parse_events(["paste", "a\nb"])
    assert isinstance(paste, Paste)
    assert paste.text == "a\nb"
    assert isinstance(parse_events(["focus", False])[0], AppBlur)
    assert [event.key for event in parse_events(["text", "a\x1bb"]) if isinstance(event, Key)] == ["a", "b"]


def test_a_size_is_kept_in_bounds() -> None:
    assert parse_size(["size", 80, 24], "size", most=(400, 150)) == (80, 24)
    assert parse_size(["hello", 10**9, -5, True], "hello", most=(400, 150)) == (400, 1)
    assert parse_size(["size", 80, 24], "hello", most=(400, 150)) is None
